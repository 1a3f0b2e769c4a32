"""The functions of cftrag as methods. _sync.py is made from this file by make_sync.py."""

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from . import _values as send
from ._connect import AsyncConnections
from ._rows import (
    BridgeEdge,
    CheckedEdge,
    Chunk,
    CoarseFine,
    CommonAncestor,
    ContextPart,
    DatabaseStatistics,
    Depth,
    DueSummary,
    EntityDocument,
    Expanded,
    Health,
    HierarchyEdge,
    HotEntity,
    Linked,
    Mention,
    NearestDocument,
    NearestEntity,
    Neighbor,
    Path,
    PathPrefix,
    Problem,
    Progress,
    Relation,
    Relative,
    Resolved,
    Retrieved,
    Rollup,
    RollupStatus,
    Root,
    Statistics,
    SubtreeSize,
    TreeFound,
    columns,
)
from ._values import UNSET, Arg, AsyncEmbed, Embedding, Entities, Entity, Filter, Kinds, Names, Trees, Within

Row = TypeVar("Row")


class AsyncHierarchy:
    """The functions of cftrag, each as a method of its name without cft_, asked asynchronously.

    connection: what statements run on: a connection or pool of psycopg 3 or asyncpg, or a DSN, of which a pool is made (close() ends it).
    edges, documents: the tables that calls mean which name none.
    embed: the model, text in, embedding out, for calls that give a question and no embedding.

    What a call does not give is not sent: the server's defaults and settings hold. None is NULL. Entities come out as texts.
    Errors are those of the driver, with their SQLSTATE.
    """

    def __init__(self, connection: Any, *, edges: str | None = None, documents: str | None = None, embed: AsyncEmbed | None = None) -> None:
        self._connections = AsyncConnections(connection)
        self._tables = {"edges": edges, "documents": documents}
        self._embed = embed

    async def __aenter__(self) -> "AsyncHierarchy":
        await self._connections.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the pool that was made of a DSN; what was given stays open."""
        await self._connections.close()

    async def attach(
        self, edges: Arg[str] = UNSET, *, parent: Arg[str] = UNSET, child: Arg[str] = UNSET, tree: Arg[str] = UNSET, label: Arg[str] = UNSET,
        sort: Arg[str] = UNSET, ids: Arg[bool] = UNSET, language: Arg[str] = UNSET, names: Names = UNSET,
        keep: Arg[bool] = UNSET
    ) -> None:
        """Attaches an edges table by its columns: parent, child, a tree, a label of the child, a sort order; names: columns of other names.

        keep: its image makes no room for others.

        From then on an image of it is kept in shared memory. For its owner, as all that attaches.
        """
        await self._attach(
            "cft_attach", edges=self._needed("edges", edges), parent=parent, child=child, tree=tree, label=label, sort=sort, ids=ids, language=language,
            names=names, keep=keep
        )

    async def attach_labels(
        self, labels: str, *, entity: Arg[str] = UNSET, label: Arg[str] = UNSET, edges: Arg[str] = UNSET, language: Arg[str] = UNSET, names: Names = UNSET,
        preferred: Arg[str] = UNSET
    ) -> None:
        """Says that a table has what people call the entities of an edges table; preferred: a boolean column, which of several labels is shown."""
        await self._attach("cft_attach_labels", labels=labels, entity=entity, label=label, edges=edges, language=language, names=names, preferred=preferred)

    async def attach_aliases(
        self, aliases: str, *, alias: Arg[str] = UNSET, entity: Arg[str] = UNSET, edges: Arg[str] = UNSET, language: Arg[str] = UNSET
    ) -> None:
        """Says that a table has other names of the entities of an edges table: abbreviations, synonyms, translations."""
        await self._attach("cft_attach_aliases", aliases=aliases, alias=alias, entity=entity, edges=edges, language=language)

    async def attach_words(self, words: str, *, word: Arg[str] = UNSET, class_: Arg[str] = UNSET, edges: Arg[str] = UNSET) -> None:
        """Says which words may stand for each other in the names of an edges table: those of the same class (class_, since class is Python's own word)."""
        await self._attach("cft_attach_words", words=words, word=word, edges=edges, **{"class": class_})

    async def attach_grants(
        self, grants: str, *, entity: Arg[str] = UNSET, role: Arg[str] = UNSET, allow: Arg[str] = UNSET, edges: Arg[str] = UNSET
    ) -> None:
        """Says which columns of a table hold who may see what is at or below the entities of an edges table."""
        await self._attach("cft_attach_grants", grants=grants, entity=entity, role=role, allow=allow, edges=edges)

    async def attach_phrases(
        self, phrases: str, *, tree: Arg[str] = UNSET, up: Arg[str] = UNSET, down: Arg[str] = UNSET, edges: Arg[str] = UNSET, up_several: Arg[str] = UNSET,
        down_several: Arg[str] = UNSET, more: Arg[str] = UNSET
    ) -> None:
        """Says in which words prompts write what is above and below an entity, tree by tree: columns of formats with {entity}, {names} and {tree}."""
        await self._attach(
            "cft_attach_phrases", phrases=phrases, tree=tree, up=up, down=down, edges=edges, up_several=up_several, down_several=down_several, more=more
        )

    async def attach_documents(
        self, documents: Arg[str] = UNSET, *, id: Arg[str] = UNSET, body: Arg[str] = UNSET, embedding: Arg[str] = UNSET, entity: Arg[str] = UNSET,
        tokens: Arg[str] = UNSET, mapping: Arg[str] = UNSET, mapping_entity: Arg[str] = UNSET, mapping_document: Arg[str] = UNSET, metadata: Arg[str] = UNSET,
        search: Arg[str] = UNSET, columns: Names = UNSET, sort: Arg[str] = UNSET, show: Names = UNSET, link: Arg[bool] = UNSET, match: Arg[str] = UNSET,
        edges: Arg[str] = UNSET, tree: Arg[str] = UNSET
    ) -> None:
        """Says which columns of a table hold documents, and how these belong to entities: by a column (entity), a table of pairs (mapping), or
        by the entities that their texts mention (link).

        metadata and columns are for filters, search for hybrid search, show for what a prompt shows beside the text.
        """
        await self._attach(
            "cft_attach_documents", documents=self._needed("documents", documents), id=id, body=body, embedding=embedding, entity=entity, tokens=tokens,
            mapping=mapping, mapping_entity=mapping_entity, mapping_document=mapping_document, metadata=metadata, search=search, columns=columns, sort=sort,
            show=show, link=link, match=match, edges=edges, tree=tree
        )

    async def attach_embeddings(self, embeddings: str, *, entity: Arg[str] = UNSET, embedding: Arg[str] = UNSET, edges: Arg[str] = UNSET) -> None:
        """Says which columns of a table hold the embeddings of the entities of an edges table."""
        await self._attach("cft_attach_embeddings", embeddings=embeddings, entity=entity, embedding=embedding, edges=edges)

    async def attach_summaries(
        self, summaries: str, *, entity: Arg[str] = UNSET, summary: Arg[str] = UNSET, embedding: Arg[str] = UNSET, edges: Arg[str] = UNSET,
        documents: Arg[str] = UNSET, leaves: Arg[bool] = UNSET
    ) -> None:
        """Says which table holds summaries of the entities of an edges table, and keeps track of which are due."""
        await self._attach(
            "cft_attach_summaries", summaries=summaries, entity=entity, summary=summary, embedding=embedding, edges=edges, documents=documents, leaves=leaves
        )

    async def detach(self, relation: str) -> None:
        """Takes off what a table was attached as; what it holds stays."""
        await self._attach("cft_detach", relation=relation)

    async def linked(self, document: Entity, *, documents: Arg[str] = UNSET) -> list[Linked]:
        """The entities that a document is about or mentions, those that it mentions most first."""
        return await self._rows(Linked, "cft_linked", document=document, documents=documents)

    async def documents(self, entity: Entity, *, documents: Arg[str] = UNSET) -> list[EntityDocument]:
        """The documents that are about an entity or mention it, those that mention it most first; not those about its relatives (chunks)."""
        return await self._rows(EntityDocument, "cft_documents", entity=entity, documents=documents)

    async def relink(self, documents: Arg[str] = UNSET) -> int:
        """Compares the links of all documents with what their texts mention, writes those that differ, and returns for how many documents."""
        found: int = await self._value("cft_relink", documents=documents)
        return found

    async def context(self, entity: Entities, *, up: Arg[int] = UNSET, down: Arg[int] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET) -> list[Relative]:
        """The ancestors, up levels, and the descendants, down levels, of an entity or of each of a list, in every tree or in these trees."""
        return await self._rows(Relative, "cft_context", **send.one_or_many(entity), up=up, down=down, edges=edges, trees=trees)

    async def context_text(
        self, entity: Entities, *, up: Arg[int] = UNSET, down: Arg[int] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET, template: Arg[str] = UNSET
    ) -> str | None:
        """The relatives as sentences; None if there are no relatives. template: a format with {entity}, {tree}, {relation}, {relatives} and {count}."""
        found: str | None = await self._value("cft_context_text", **send.one_or_many(entity), up=up, down=down, edges=edges, trees=trees, template=template)
        return found

    async def context_parts(
        self, entities: Entities, *, up: Arg[int] = UNSET, down: Arg[int] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET
    ) -> list[ContextPart]:
        """The sentences of context_text, one for each entity, tree and relation."""
        return await self._rows(ContextPart, "cft_context_parts", entities=entities, up=up, down=down, edges=edges, trees=trees)

    async def context_json(self, entity: Entities, *, up: Arg[int] = UNSET, down: Arg[int] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET) -> Any:
        """The relatives as dicts: {entity, label, trees: [{tree, ancestors: [{entity, label, depth, via}], descendants}]}; None if there are no relatives.

        Of a list of entities a list, of those that have relatives.
        """
        found = await self._value("cft_context_json", "::text", **send.one_or_many(entity), up=up, down=down, edges=edges, trees=trees)
        return None if found is None else json.loads(found)

    async def tree(
        self, entity: Entity, *, up: Arg[int] = UNSET, down: Arg[int] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET, format: Arg[str] = UNSET,
        lines: Arg[int] = UNSET
    ) -> str | None:
        """A picture of an entity's place in its trees; None if it is not there. format: text, mermaid, dot or json."""
        found: str | None = await self._value("cft_tree", entity=entity, up=up, down=down, edges=edges, trees=trees, format=format, lines=lines)
        return found

    async def under(self, entity: Entity, ancestor: Entities, *, edges: Arg[str] = UNSET, trees: Trees = UNSET) -> bool | None:
        """Whether an entity is an ancestor, or one of a list of these, or below one, at any depth.

        As a condition of your own queries write cft_under(column, $1) in SQL, which uses the index on the column.
        """
        found: bool | None = await self._value("cft_under", entity=entity, **send.one_or_many(ancestor, "ancestor", "ancestors"), edges=edges, trees=trees)
        return found

    async def descendants(self, ancestor: Entities, *, edges: Arg[str] = UNSET, trees: Trees = UNSET) -> list[str]:
        """An entity, or each of a list, and all that is below, at any depth, as texts, in no order that is promised."""
        found: list[str] = await self._value("cft_descendants", **send.one_or_many(ancestor, "ancestor", "ancestors"), edges=edges, trees=trees)
        return found

    async def ancestors(self, entity: Entities, *, edges: Arg[str] = UNSET, trees: Trees = UNSET) -> list[str]:
        """An entity, or each of a list, and all that is above, at any depth, as texts, in no order that is promised."""
        found: list[str] = await self._value("cft_ancestors", **send.one_or_many(entity, "entity", "entities"), edges=edges, trees=trees)
        return found

    async def allowed(
        self, entity: str, grants: str, *, law: Arg[str] = UNSET, roles: Names = UNSET, trees: Trees = UNSET
    ) -> bool | None:
        """Whether roles may see an entity, by the grants on it and on what is above it; without roles those of the setting cftrag.roles.

        As a condition of your own queries, or of a policy, write cft_allowed(column, 'grants', ...) in SQL.
        """
        found: bool | None = await self._value("cft_allowed", entity=entity, grants=grants, law=law, roles=roles, trees=trees)
        return found

    async def entities(
        self, question: str, *, edges: Arg[str] = UNSET, trees: Trees = UNSET, within: Within = UNSET, overlapping: Arg[bool] = UNSET, match: Arg[str] = UNSET,
        narrow: Arg[bool] = UNSET
    ) -> list[Mention]:
        """The entities that a text mentions. match: exact, inflected or fuzzy; narrow: of several of one name those that the text means;
        overlapping: also mentions inside of others. start counts characters from 1.
        """
        return await self._rows(
            Mention, "cft_entities", question=question, edges=edges, trees=trees, within=within, overlapping=overlapping, match=match, narrow=narrow
        )

    async def resolve(
        self, mention: str, *, embedding: Arg[Embedding] = UNSET, k: Arg[int] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET, within: Within = UNSET,
        documents: Arg[str] = UNSET, match: Arg[str] = UNSET
    ) -> list[Resolved]:
        """Which entities a mention may mean: a name, label, alias or path (Attic > Shelves), as it is written or otherwise; else the k nearest to embedding."""
        return await self._rows(
            Resolved, "cft_resolve", mention=mention, embedding=embedding, k=k, edges=edges, trees=trees, within=within, documents=documents, match=match
        )

    async def nearest_documents(
        self, embedding: Embedding, *, k: Arg[int] = UNSET, edges: Arg[str] = UNSET, within: Within = UNSET, documents: Arg[str] = UNSET, filter: Filter = UNSET
    ) -> list[NearestDocument]:
        """The k documents nearest to an embedding, about entities within these, for which the filter holds."""
        return await self._rows(
            NearestDocument, "cft_nearest_documents", embedding=embedding, k=k, edges=edges, within=within, documents=documents, filter=filter
        )

    async def nearest_entities(
        self, embedding: Embedding, *, k: Arg[int] = UNSET, edges: Arg[str] = UNSET, within: Within = UNSET, documents: Arg[str] = UNSET, filter: Filter = UNSET
    ) -> list[NearestEntity]:
        """The k entities nearest to an embedding."""
        return await self._rows(NearestEntity, "cft_nearest_entities", embedding=embedding, k=k, edges=edges, within=within, documents=documents, filter=filter)

    async def chunks(
        self, entity: Entities, *, embedding: Arg[Embedding] = UNSET, up: Arg[int] = UNSET, down: Arg[int] = UNSET, edges: Arg[str] = UNSET,
        trees: Trees = UNSET, documents: Arg[str] = UNSET
    ) -> list[Chunk]:
        """The documents about entities and their relatives, each once: by depth, then by distance to the embedding if one is given."""
        return await self._rows(
            Chunk, "cft_chunks", **send.one_or_many(entity), embedding=embedding, up=up, down=down, edges=edges, trees=trees, documents=documents
        )

    async def retrieve(
        self, question: str, embedding: Arg[Embedding] = UNSET, *, k: Arg[int] = UNSET, chunks: Arg[int] = UNSET, up: Arg[int] = UNSET, down: Arg[int] = UNSET,
        budget: Arg[int] = UNSET, mode: Arg[str] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET, within: Within = UNSET, documents: Arg[str] = UNSET,
        filter: Filter = UNSET, match: Arg[str] = UNSET, narrow: Arg[bool] = UNSET, expand: Arg[str] = UNSET
    ) -> list[Retrieved]:
        """What belongs to a question: the k nearest documents, the hierarchy of the entities that it mentions, and chunks, documents about these.

        Without embedding the embed of the constructor makes it; embedding=None searches without one. filter is LangChain's: {"price": {"$lt": 20}}.
        Returns all rows of cft_retrieve in their order; source says what a row is, and why says why it is there.
        """
        if embedding is UNSET:
            embedding = await send.embedded_async(self._embed, question)
        return await self._rows(
            Retrieved, "cft_retrieve", question=question, embedding=embedding, k=k, chunks=chunks, up=up, down=down, budget=budget, mode=mode, edges=edges,
            trees=trees, within=within, documents=documents, filter=filter, match=match, narrow=narrow, expand=expand
        )

    async def prompt(
        self, question: str, embedding: Arg[Embedding] = UNSET, *, k: Arg[int] = UNSET, chunks: Arg[int] = UNSET, up: Arg[int] = UNSET, down: Arg[int] = UNSET,
        budget: Arg[int] = UNSET, mode: Arg[str] = UNSET, edges: Arg[str] = UNSET, trees: Trees = UNSET, within: Within = UNSET, documents: Arg[str] = UNSET,
        template: Arg[str] = UNSET, filter: Filter = UNSET, match: Arg[str] = UNSET, narrow: Arg[bool] = UNSET, document_template: Arg[str] = UNSET,
        expand: Arg[str] = UNSET
    ) -> str | None:
        """A prompt of what retrieve finds. template: a format with {question}, {documents}, {hierarchy}, {chunks} and {left_out};
        document_template: with {number}, {id}, {entity}, {path}, {columns} and {text}.
        """
        if embedding is UNSET:
            embedding = await send.embedded_async(self._embed, question)
        found: str | None = await self._value(
            "cft_prompt", question=question, embedding=embedding, k=k, chunks=chunks, up=up, down=down, budget=budget, mode=mode, edges=edges, trees=trees,
            within=within, documents=documents, template=template, filter=filter, match=match, narrow=narrow, document_template=document_template, expand=expand
        )
        return found

    async def neighbors(self, entity: Entity, *, max_hops: Arg[int] = UNSET, direction: Arg[str] = UNSET, edges: Arg[str] = UNSET) -> list[Neighbor]:
        """Entities within max_hops steps of an entity, in each tree. direction: up, down or both."""
        return await self._rows(Neighbor, "cft_neighbors", entity=entity, max_hops=max_hops, direction=direction, edges=edges)

    async def path(self, a: Entity, b: Entity, *, max_hops: Arg[int] = UNSET, edges: Arg[str] = UNSET) -> list[Path]:
        """All shortest paths between two entities in each tree, along edges both ways; steps say which way each goes."""
        return await self._rows(Path, "cft_path", a=a, b=b, max_hops=max_hops, edges=edges)

    async def explain_path(self, a: Entity, b: Entity, *, max_hops: Arg[int] = UNSET, edges: Arg[str] = UNSET) -> str | None:
        """The first of the shortest paths between two entities as a sentence, one for each tree; None if there is none."""
        found: str | None = await self._value("cft_explain_path", a=a, b=b, max_hops=max_hops, edges=edges)
        return found

    async def lca(self, a: Entity, b: Entity, *, edges: Arg[str] = UNSET) -> list[CommonAncestor]:
        """The lowest common ancestors of two entities in each tree, and how far they are from each; an entity is its own ancestor here."""
        return await self._rows(CommonAncestor, "cft_lca", a=a, b=b, edges=edges)

    async def depth(self, entity: Entity, *, edges: Arg[str] = UNSET) -> list[Depth]:
        """Steps from an entity up to the nearest root, in each tree."""
        return await self._rows(Depth, "cft_depth", entity=entity, edges=edges)

    async def subtree_size(self, entity: Entity, *, edges: Arg[str] = UNSET) -> list[SubtreeSize]:
        """The number of different entities under an entity, itself counted, in each tree."""
        return await self._rows(SubtreeSize, "cft_subtree_size", entity=entity, edges=edges)

    async def roots(self, edges: Arg[str] = UNSET, *, trees: Trees = UNSET) -> list[Root]:
        """The entities of each tree, or of these trees, that have no parent there. Looks at every entity."""
        return await self._rows(Root, "cft_roots", edges=edges, trees=trees)

    async def path_prefix(self, entity: Entity, *, edges: Arg[str] = UNSET, trees: Trees = UNSET, separator: Arg[str] = UNSET) -> str | None:
        """The path from the top to an entity as one text, in the first of its trees, or of these; None if it is in none. Of many: path_prefixes."""
        found: str | None = await self._value("cft_path_prefix", entity=entity, edges=edges, trees=trees, separator=separator)
        return found

    async def path_prefixes(
        self, entities: Entities, *, edges: Arg[str] = UNSET, trees: Trees = UNSET, separator: Arg[str] = UNSET
    ) -> list[PathPrefix]:
        """The paths from the top to each of these entities, in each of its trees: cft_path_prefix of an array."""
        return await self._rows(PathPrefix, "cft_path_prefix", entities=entities, edges=edges, trees=trees, separator=separator)

    async def tree_search(
        self, embedding: Embedding, *, k: Arg[int] = UNSET, budget: Arg[int] = UNSET, mode: Arg[str] = UNSET, start: Within = UNSET,
        threshold: Arg[float] = UNSET, descend_threshold: Arg[float] = UNSET, prune_factor: Arg[float] = UNSET, beam: Arg[int] = UNSET,
        max_depth: Arg[int] = UNSET, edges: Arg[str] = UNSET, within: Within = UNSET, documents: Arg[str] = UNSET, filter: Filter = UNSET
    ) -> list[TreeFound]:
        """The entities most similar to an embedding. mode: collapsed, or a descent from the roots (or start): prune or beam."""
        return await self._rows(
            TreeFound, "cft_tree_search", embedding=embedding, k=k, budget=budget, mode=mode, start=start, threshold=threshold,
            descend_threshold=descend_threshold, prune_factor=prune_factor, beam=beam, max_depth=max_depth, edges=edges, within=within, documents=documents,
            filter=filter
        )

    async def expand(
        self, entities: Entities, *, k: Arg[int] = UNSET, up: Arg[int] = UNSET, down: Arg[int] = UNSET, min_support: Arg[int] = UNSET, edges: Arg[str] = UNSET,
        documents: Arg[str] = UNSET
    ) -> list[Expanded]:
        """From entities that were found up to where they meet, and from there down to the leaves, the k nearest."""
        return await self._rows(Expanded, "cft_expand", entities=entities, k=k, up=up, down=down, min_support=min_support, edges=edges, documents=documents)

    async def bridge(self, entities: Entities, *, max_hops: Arg[int] = UNSET, edges: Arg[str] = UNSET) -> list[BridgeEdge]:
        """How entities hang together: the tree of shortest ways to them from the ancestor that most of them share, in each tree."""
        return await self._rows(BridgeEdge, "cft_bridge", entities=entities, max_hops=max_hops, edges=edges)

    async def coarse_fine(
        self, embedding: Embedding, *, coarse_k: Arg[int] = UNSET, fine_k: Arg[int] = UNSET, down: Arg[int] = UNSET, max_hops: Arg[int] = UNSET,
        budget: Arg[int] = UNSET, local_share: Arg[float] = UNSET, bridge_share: Arg[float] = UNSET, global_share: Arg[float] = UNSET, edges: Arg[str] = UNSET,
        documents: Arg[str] = UNSET
    ) -> list[CoarseFine]:
        """The nearest entities that have children, the nearest leaves below these, and how the leaves hang together, each within its share of a budget."""
        return await self._rows(
            CoarseFine, "cft_coarse_fine", embedding=embedding, coarse_k=coarse_k, fine_k=fine_k, down=down, max_hops=max_hops, budget=budget,
            local_share=local_share, bridge_share=bridge_share, global_share=global_share, edges=edges, documents=documents
        )

    async def build_hierarchy(self, graph: str, a: str, b: str, *, weight: Arg[str] = UNSET, height: Arg[int] = UNSET) -> list[HierarchyEdge]:
        """Edges of a tree over the entities of a graph, a table with the columns a, b and weight."""
        return await self._rows(HierarchyEdge, "cft_build_hierarchy", send.TABLES, graph=graph, a=a, b=b, weight=weight, height=height)

    async def extract_relations(self, text: str, *, modifiers: Arg[bool] = UNSET) -> list[Relation]:
        """Relations that English sentences say in plain words; modifiers: also "renal artery" under "artery"."""
        return await self._rows(Relation, "cft_extract_relations", text=text, modifiers=modifiers)

    async def filter_relations(self, raw: str, parent: str, child: str, *, tree: Arg[str] = UNSET) -> list[CheckedEdge]:
        """Each row of a table with the columns parent, child and tree, whether it belongs into a forest, and if not, why."""
        return await self._rows(CheckedEdge, "cft_filter_relations", send.TABLES, raw=raw, parent=parent, child=child, tree=tree)

    async def check_edges(self, edges: Arg[str] = UNSET) -> list[CheckedEdge]:
        """What filter_relations says of the rows of an attached table."""
        return await self._rows(CheckedEdge, "cft_check_edges", edges=edges)

    async def rollup(self, summarizer: Arg[str] = UNSET, *, embedder: Arg[str] = UNSET, k: Arg[int] = UNSET, edges: Arg[str] = UNSET) -> list[Rollup]:
        """Makes all summaries that are due, by functions of SQL: 'name(text,text[],text[])'."""
        return await self._rows(Rollup, "cft_rollup", summarizer=summarizer, embedder=embedder, k=k, edges=edges)

    async def rollup_next(self, k: Arg[int] = UNSET, *, edges: Arg[str] = UNSET) -> list[DueSummary]:
        """Takes up to k entities whose summaries are due, with what is to be summarised. They are this transaction's until it ends:
        give a connection, since a pool has another transaction for each call.
        """
        return await self._rows(DueSummary, "cft_rollup_next", k=k, edges=edges)

    async def rollup_done(self, entity: Entity, summary: str, *, embedding: Arg[Embedding] = UNSET, edges: Arg[str] = UNSET) -> None:
        """Stores the summary of an entity that rollup_next gave to this transaction."""
        await self._value("cft_rollup_done", entity=entity, summary=summary, embedding=embedding, edges=edges)

    async def rollup_mark(self, entities: Entities, *, edges: Arg[str] = UNSET) -> None:
        """Says that the summaries of entities, and of all their ancestors, are due."""
        await self._value("cft_rollup_mark", entities=entities, edges=edges)

    async def rollup_status(self, edges: Arg[str] = UNSET) -> list[RollupStatus]:
        """How far the summaries of a forest are."""
        return await self._rows(RollupStatus, "cft_rollup_status", edges=edges)

    async def summarize_extractive(self, entity: Entity, sources: Iterable[str], inputs: Iterable[str]) -> str | None:
        """A summary without a model: the name, and the first sentence of each input."""
        found: str | None = await self._value("cft_summarize_extractive", entity=entity, sources=sources, inputs=inputs)
        return found

    async def build(self, edges: Arg[str] = UNSET) -> None:
        """Builds the image of an attached table and waits for it."""
        await self._value("cft_build", edges=self._needed("edges", edges))

    async def verify(self, edges: Arg[str] = UNSET) -> list[Problem]:
        """Differences between image and table; an empty list: sound."""
        return await self._rows(Problem, "cft_verify", edges=self._needed("edges", edges))

    async def health(self, *, detail: Arg[bool] = UNSET) -> list[Health]:
        """Whether all is well in the database, in one row; with detail a row for each thing that is checked, the worst first."""
        return await self._rows(Health, "cft_health", detail=detail)

    async def hot_entities(self, k: Arg[int] = UNSET, *, edges: Arg[str] = UNSET) -> list[HotEntity]:
        """The k entities asked for most."""
        return await self._rows(HotEntity, "cft_hot_entities", k=k, edges=edges)

    async def statistics(self) -> list[Statistics]:
        """The rows of pg_stat_cftrag: of each attached table its image, and who answered how many calls."""
        return await self._view(Statistics, "pg_stat_cftrag")

    async def database_statistics(self) -> list[DatabaseStatistics]:
        """The rows of pg_stat_cftrag_databases: places and shared memory of each database."""
        return await self._view(DatabaseStatistics, "pg_stat_cftrag_databases")

    async def progress(self) -> list[Progress]:
        """The rows of pg_stat_progress_cftrag: builds that are under way."""
        return await self._view(Progress, "pg_stat_progress_cftrag")

    async def stats_reset(self) -> None:
        """Sets the counters of statistics to zero for this database."""
        await self._value("cft_stats_reset")

    def _needed(self, argument: str, table: Arg[str]) -> Arg[str]:
        """A table that SQL has no default for."""
        if table is UNSET and self._tables[argument] is None:
            raise TypeError(f"which table? Give {argument}, to the call or to the constructor")
        return table

    def _call(self, function: str, kinds: Kinds, arguments: dict[str, Any]) -> tuple[str, list[Any]]:
        for name, table in self._tables.items():
            if arguments.get(name) is UNSET and table is not None:
                arguments[name] = table
        return send.call(function, arguments, kinds)

    async def _rows(self, row: type[Row], function: str, kinds: Kinds = send.ASKING, /, **arguments: Any) -> list[Row]:
        call, values = self._call(function, kinds, arguments)
        found = await self._connections.fetch(f"SELECT {columns(row)} FROM {call}", values)
        return [row(*values) for values in found]

    async def _value(self, function: str, cast: str = "", /, **arguments: Any) -> Any:
        call, values = self._call(function, send.ASKING, arguments)
        return (await self._connections.fetch(f"SELECT {call}{cast}", values))[0][0]

    async def _attach(self, function: str, /, **arguments: Any) -> None:
        call, values = self._call(function, send.TABLES, arguments)
        await self._connections.fetch(f"SELECT {call}", values)

    async def _view(self, row: type[Row], view: str) -> list[Row]:
        found = await self._connections.fetch(f"SELECT {columns(row)} FROM {view}", [])
        return [row(*values) for values in found]
