"""cftrag for Haystack: a retriever as a component. Installed by the extra haystack.

    pipeline.add_component("retriever", CftragRetriever(Secret.from_env_var("DATABASE_URL"), edges="categories", documents="products", top_k=3))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    pipeline.connect("retriever.documents", "prompt_builder.documents")

Haystack loads a saved pipeline with components of other packages where it is told to: Pipeline.loads(text, allowed_modules=["cftrag.*"]).
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret

from . import _nodes
from ._async import AsyncHierarchy
from ._rows import Retrieved
from ._sync import Hierarchy

COMPARISONS = {"==": "$eq", "!=": "$ne", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte", "in": "$in", "not in": "$nin"}


@component
class CftragRetriever:
    """All rows of cft_retrieve, in its order, one Document each.

    top_k is k of cft_retrieve: how many documents the question finds. Sentences of the hierarchy, and chunks (documents about the entities that the
    question names), come beside them; meta["source"] says which a Document is: "document", "hierarchy" or "chunk". With chunks=0 and
    hierarchy_documents=False there are the top_k documents alone.

    score is 1 - distance: the cosine similarity where distances are cosine, as they are by default; None for sentences and where no distance is known.
    A Document's id is that of the row, of a sentence one made of its words. Its meta: source, entity, rank, distance, tokens, why and path.

    dsn: where the database is, as a Secret or a text. to_dict writes an environment variable's name, and no password.
    filters: Haystack's ({"field": "meta.brand", "operator": "==", "value": "Alta"}) or cftrag's ({"brand": "Alta"}).

    The other arguments are those of cft_retrieve. What is None is not sent, so the server's defaults hold.
    """

    def __init__(
        self, dsn: Secret | str, *, edges: str | None = None, documents: str | None = None, top_k: int | None = None, chunks: int | None = None,
        hierarchy_documents: bool = True, up: int | None = None, down: int | None = None, budget: int | None = None, mode: str | None = None,
        trees: list[str | None] | None = None, within: list[str] | None = None, filters: dict[str, Any] | None = None, match: str | None = None,
        narrow: bool | None = None, expand: str | None = None
    ) -> None:
        self.dsn = dsn
        self.hierarchy_documents = hierarchy_documents
        self.edges = edges
        self.documents = documents
        self.filters = filters
        self.arguments: dict[str, Any] = {
            "k": top_k, "chunks": chunks, "up": up, "down": down, "budget": budget, "mode": mode, "trees": trees, "within": within, "match": match,
            "narrow": narrow, "expand": expand,
        }
        self._hierarchy: Hierarchy | None = None
        self._async: tuple[asyncio.AbstractEventLoop, AsyncHierarchy] | None = None

    def to_dict(self) -> dict[str, Any]:
        """What saves the component; ValueError if that would save a password: give the DSN by Secret.from_env_var."""
        if isinstance(self.dsn, str) and _has_password(self.dsn):
            raise ValueError("the DSN has a password, which would be saved: give it as Secret.from_env_var('NAME')")
        arguments = {"top_k" if name == "k" else name: value for name, value in self.arguments.items()}
        return default_to_dict(
            self, dsn=self.dsn, edges=self.edges, documents=self.documents, hierarchy_documents=self.hierarchy_documents, filters=self.filters, **arguments
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "CftragRetriever":
        """The component that to_dict saved."""
        data = {**data, "init_parameters": dict(data["init_parameters"])}
        if isinstance(data["init_parameters"]["dsn"], dict):
            data["init_parameters"]["dsn"] = Secret.from_dict(data["init_parameters"]["dsn"])
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, query_embedding: list[float] | None = None, top_k: int | None = None, filters: dict[str, Any] | None = None,
        within: list[str] | None = None
    ) -> dict[str, list[Document]]:
        """What cft_retrieve finds. Without query_embedding it searches by words and names alone. What is given here is in the place of the component's."""
        if self._hierarchy is None:
            self._hierarchy = Hierarchy(self._resolved(), edges=self.edges, documents=self.documents)
        return self._documents(self._hierarchy.retrieve(query, query_embedding, **self._given(top_k, filters, within)))

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, query_embedding: list[float] | None = None, top_k: int | None = None, filters: dict[str, Any] | None = None,
        within: list[str] | None = None
    ) -> dict[str, list[Document]]:
        """As run, on connections of its own, those of the running event loop."""
        loop = asyncio.get_running_loop()
        if self._async is None or self._async[0] is not loop:
            self._async = loop, AsyncHierarchy(self._resolved(), edges=self.edges, documents=self.documents)
        return self._documents(await self._async[1].retrieve(query, query_embedding, **self._given(top_k, filters, within)))

    def close(self) -> None:
        """Ends the connections of run."""
        if self._hierarchy is not None:
            self._hierarchy.close()
            self._hierarchy = None

    async def close_async(self) -> None:
        """Ends the connections of run_async."""
        if self._async is not None:
            await self._async[1].close()
            self._async = None

    def _resolved(self) -> str:
        return str(self.dsn.resolve_value()) if isinstance(self.dsn, Secret) else self.dsn

    def _given(self, top_k: int | None, filters: dict[str, Any] | None, within: list[str] | None) -> dict[str, Any]:
        filters = self.filters if filters is None else filters
        given = {"k": top_k, "within": within, "filter": None if filters is None else _filter(filters)}
        arguments = self.arguments | {name: value for name, value in given.items() if value is not None}
        return {name: value for name, value in arguments.items() if value is not None}

    def _documents(self, rows: list[Retrieved]) -> dict[str, list[Document]]:
        return {"documents": [_document(row) for row in rows if self.hierarchy_documents or row.source != "hierarchy"]}


def _document(row: Retrieved) -> Document:
    return Document(id=_nodes.node_id(row), content=row.text, meta=_nodes.metadata(row), score=_nodes.similarity(row))


def _has_password(dsn: str) -> bool:
    from psycopg.conninfo import conninfo_to_dict

    return bool(conninfo_to_dict(dsn).get("password"))


def _filter(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Filters of Haystack's as those of cft_retrieve; these stay as they are.

    As in Haystack, != and "not in" hold for documents that have no such field. NOT is $not: of such documents it holds where its condition is ==,
    and for no other comparison, as in SQL.
    """
    if {"operator", "conditions"} <= filters.keys():
        conditions = [_filter(condition) for condition in filters["conditions"]]
        match filters["operator"]:
            case "AND":
                return {"$and": conditions}
            case "OR":
                return {"$or": conditions}
            case "NOT":
                return {"$not": {"$and": conditions}}
        raise ValueError(f"filters: AND, OR or NOT is needed, not {filters['operator']!r}")
    if not {"field", "operator"} <= filters.keys():
        return dict(filters)
    field, operator, value = filters["field"].removeprefix("meta."), filters["operator"], filters.get("value")
    if operator not in COMPARISONS:
        raise ValueError(f"filters: the operator is one of {', '.join(COMPARISONS)}, not {operator!r}")
    if value is None and operator in ("==", "!="):
        return {field: {"$exists": operator == "!="}}
    compared = {field: {COMPARISONS[operator]: value}}
    return {"$or": [compared, {field: {"$exists": False}}]} if operator in ("!=", "not in") else compared
