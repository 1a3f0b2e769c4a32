"""cftrag for Graph RAG (graph-retriever): documents of a hierarchy as a graph to traverse. Installed by the extra graph-retriever.

    shop = Hierarchy(pool, edges="categories", documents="products", embed=model.encode)
    traverse("Which shoes?", edges=HIERARCHY, strategy=Eager(select_k=10, start_k=2, max_depth=1), store=CftragAdapter(shop, metadata="metadata"))

The same adapter is the store of langchain_graph_retriever.GraphRetriever.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from graph_retriever.adapters import Adapter
from graph_retriever.content import Content
from graph_retriever.edges import Edge, EdgeSpec, MetadataEdge
from graph_retriever.utils.top_k import top_k

from . import _values as send
from ._sync import Hierarchy

UP: EdgeSpec = ("parents", "entities")
"""From a document to those about the parents of what it is about."""
DOWN: EdgeSpec = ("children", "entities")
SAME: EdgeSpec = ("entities", "entities")
"""From a document to others about the same entity."""
HIERARCHY: list[EdgeSpec] = [UP, DOWN, SAME]


class CftragAdapter(Adapter):
    """The attached documents of a hierarchy, with their metadata and three fields more: entities (what a document is about or mentions), and the parents
    and children of these. An edge to a field "entities" leads to the documents about that entity, in one call for all edges; other edges are of metadata.

    hierarchy: with documents=, the table, and embed, the model. Asynchronous calls ask it in a thread.
    id, body, embedding, metadata: the columns of the documents, as in attach_documents.
    lists: fields of the metadata that hold lists: a filter or edge of one value means that the list has it.

    Documents without a text or an embedding are none here. Filters of fields and values hold for all calls, and "a.b" is b inside of a. Operators
    ({"price": {"$lt": 20}}) and columns hold for searches alone: where documents are reached by edges of the hierarchy or by id, operators are refused.
    """

    def __init__(
        self, hierarchy: Hierarchy, *, id: str = "id", body: str = "body", embedding: str = "embedding", metadata: str | None = None, lists: Iterable[str] = ()
    ) -> None:
        super().__init__()
        if not isinstance(hierarchy, Hierarchy):
            raise TypeError(f"hierarchy: a Hierarchy is needed, not {type(hierarchy).__name__}")
        if hierarchy._tables["documents"] is None:
            raise TypeError("hierarchy: which documents? Give documents to its constructor")
        self.hierarchy = hierarchy
        self.documents = hierarchy._tables["documents"]
        self.id, self.body, self.embedding, self.metadata = id, body, embedding, metadata
        self.lists = frozenset(lists)
        self._table: tuple[str, str] | None = None

    def search_with_embedding(self, query: str, k: int = 4, filter: dict[str, Any] | None = None, **kwargs: Any) -> tuple[list[float], list[Content]]:
        """The embedding of a query, and the k documents nearest to it."""
        embedding = _numbers(send.VECTOR.convert(send.embedded(self.hierarchy._embed, query)))
        return embedding, self.search(embedding, k, filter, **kwargs)

    def search(self, embedding: list[float], k: int = 4, filter: dict[str, Any] | None = None, **kwargs: Any) -> list[Content]:
        """The k nearest documents of cft_nearest_documents; kwargs: within, the entities that they are about or below."""
        if k <= 0:
            return []
        found = self.hierarchy.nearest_documents(embedding, k=k, filter=self._filter(filter), **kwargs)
        contents = {content.id: content for content in self._fetch([row.document_id for row in found], None)}
        return [contents[row.document_id] for row in found if row.document_id in contents]

    def get(self, ids: Sequence[str], filter: dict[str, Any] | None = None, **kwargs: Any) -> list[Content]:
        """The documents with these ids, each once, for which the filter holds."""
        if any(_is_operator(*condition) for condition in (filter or {}).items()):
            raise ValueError("filter: operators such as $lt hold for searches alone; take fields and values where edges of the hierarchy or ids are followed")
        return self._fetch(list(dict.fromkeys(ids)), self._filter(filter))

    def adjacent(self, edges: set[Edge], query_embedding: list[float], k: int, filter: dict[str, Any] | None, **kwargs: Any) -> Iterable[Content]:
        """The k documents nearest to the embedding that these edges lead to."""
        places = {edge for edge in edges if isinstance(edge, MetadataEdge) and edge.incoming_field == "entities"}
        entities, others = {str(edge.value) for edge in places}, edges - places
        found = list(super().adjacent(others, query_embedding, k, filter, **kwargs)) if others else []
        if kwargs.get("within") is not None:
            entities &= set(self.hierarchy.descendants(kwargs["within"]))
        if entities:
            chunks = self.hierarchy.chunks(sorted(entities), embedding=query_embedding, up=0, down=0)
            found += self.get([row.document_id for row in chunks][: None if filter else k], filter)
        return top_k(found, embedding=query_embedding, k=k)

    async def aadjacent(self, edges: set[Edge], query_embedding: list[float], k: int, filter: dict[str, Any] | None, **kwargs: Any) -> Iterable[Content]:
        """As adjacent, in a thread."""
        return await asyncio.to_thread(self.adjacent, edges, query_embedding, k, filter, **kwargs)

    def _fetch(self, ids: list[str], contained: dict[str, Any] | None) -> list[Content]:
        """Documents by their ids, with the entities that they are about, and what is one step above and below these."""
        table, type_ = self._looked_up()
        id, body, embedding = (f"d.{_quoted(name)}" for name in (self.id, self.body, self.embedding))
        metadata = "NULL" if self.metadata is None else f"d.{_quoted(self.metadata)}"
        condition, wanted = _of_type(id, type_, ids)
        statement = f"""
            SELECT {id}::text, {body}::text, {embedding}::text, {metadata}::text, ARRAY(SELECT entity FROM cft_linked({id}::text, $2::text::regclass))
              FROM {table} AS d WHERE {condition} AND {body} IS NOT NULL AND {embedding} IS NOT NULL"""
        values: list[Any] = [wanted, self.documents]
        if contained:
            if self.metadata is None:
                raise ValueError("filter: of which column? Give metadata to the constructor")
            statement += f" AND {metadata} @> $3::text::jsonb"
            values.append(send.JSONB.convert(contained))
        rows = self.hierarchy._connections.fetch(statement, values) if wanted else []
        above: dict[str, list[str]] = {}
        below: dict[str, list[str]] = {}
        named = list(dict.fromkeys(entity for row in rows for entity in row[4]))
        for relative in self.hierarchy.context(named, up=1, down=1) if named else []:
            (above if relative.relation == "ancestor" else below).setdefault(relative.entity, []).append(relative.relative)

        def content(id: str, body: str, embedding: str, metadata: str | None, entities: list[str]) -> Content:
            fields = {"entities": entities, "parents": _joined(above, entities), "children": _joined(below, entities)}
            return Content(id=id, content=body, embedding=_numbers(embedding), metadata=(json.loads(metadata) if metadata else {}) | fields)

        return [content(*row) for row in rows]

    def _looked_up(self) -> tuple[str, str]:
        """The table's name as SQL writes it, and the type of its ids; asked once."""
        if self._table is None:
            statement = """
                SELECT attrelid::regclass::text, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2::text"""
            found = self.hierarchy._connections.fetch(statement, [self.documents, self.id])
            if not found:
                raise ValueError(f"{self.documents} has no column {self.id}: give id to the constructor")
            self._table = found[0][0], found[0][1]
        return self._table

    def _metadata_filter(self, edge: Edge, base_filter: dict[str, Any] | None = None) -> dict[str, Any]:
        """The condition of an edge of metadata, and of the filter."""
        assert isinstance(edge, MetadataEdge)
        value = dict(edge.value) if isinstance(edge.value, Mapping) else edge.value
        reached = self._filter({edge.incoming_field: value}) or {}
        return {"$and": [reached, self._filter(base_filter)]} if base_filter else reached

    def _filter(self, filter: dict[str, Any] | None) -> dict[str, Any] | None:
        """A filter as cft_nearest_documents takes it: fields and values as what the metadata contain, operators as they are."""
        contained: dict[str, Any] = {}
        operators: dict[str, Any] = {}
        for field, value in (filter or {}).items():
            if _is_operator(field, value):
                operators[field] = value
                continue
            *outer, last = field.split(".")
            inside = contained
            for name in outer:
                inside = inside.setdefault(name, {})
            inside[last] = [value] if field in self.lists and not isinstance(value, list) else value
        return {"$and": [contained, operators]} if contained and operators else contained or operators or None


def _is_operator(field: str, value: Any) -> bool:
    return field.startswith("$") or isinstance(value, dict) and any(name.startswith("$") for name in value)


def _of_type(id: str, type_: str, ids: list[str]) -> tuple[str, list[str]]:
    """The condition that finds ids by an index on their column, and those of them that such a column can hold."""
    if type_ in ("smallint", "integer", "bigint"):
        return f"{id} = ANY($1::text[]::bigint[])", [text for text in ids if re.fullmatch(r"-?[0-9]{1,18}", text)]
    if type_ == "uuid":
        return f"{id} = ANY($1::text[]::uuid[])", [text for text in ids if _is_uuid(text)]
    return f"{id if type_ in ('text', 'character varying') else id + '::text'} = ANY($1::text[])", ids


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _numbers(embedding: str) -> list[float]:
    return [float(number) for number in json.loads(embedding)]


def _joined(relatives: dict[str, list[str]], entities: list[str]) -> list[str]:
    return list(dict.fromkeys(relative for entity in entities for relative in relatives.get(entity, ())))
