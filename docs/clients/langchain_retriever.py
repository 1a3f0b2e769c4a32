"""cftrag as a LangChain retriever: k documents of a question, the hierarchy of the entities that it names first.

pip install langchain-core psycopg[binary,pool]. `embed` is your model: text in, a list of numbers out. One pool serves all calls, sync and async.
"""

from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

RETRIEVE = """SELECT source, entity, document_id, distance, tokens, why, text
                FROM cft_retrieve(%s, %s::vector, k => %s, up => %s, down => %s, budget => %s, mode => %s)"""
KEYS = ("source", "entity", "document_id", "distance", "tokens", "why")


class CftragRetriever(BaseRetriever):
    pool: Any  # A ConnectionPool, opened.
    embed: Callable[[str], list[float]]
    k: int = 5
    up: int = 3
    down: int = 1
    budget: int | None = None
    mode: str = "cft"

    @classmethod
    def connect(cls, conninfo: str, **arguments: Any) -> "CftragRetriever":
        return cls(pool=ConnectionPool(conninfo, open=True, kwargs={"row_factory": dict_row}), **arguments)

    def _get_relevant_documents(self, query: str, *, run_manager: Any = None, k: int | None = None) -> list[Document]:
        k = self.k if k is None else k
        arguments = (query, str(list(self.embed(query))), k, self.up, self.down, self.budget, self.mode)
        with self.pool.connection() as connection:
            rows = connection.cursor(row_factory=dict_row).execute(RETRIEVE, arguments).fetchall()
        hierarchy = [row for row in rows if row["source"] == "hierarchy"]
        found = [Document(page_content=row["text"] or "", metadata={key: row[key] for key in KEYS}) for row in rows if row["source"] != "hierarchy"]
        if hierarchy:
            # One document of all sentences: about which entities, and why these, stands in each of them.
            metadata = {key: hierarchy[0][key] for key in KEYS} | {"tokens": sum(row["tokens"] for row in hierarchy)}
            found.insert(0, Document(page_content="\n".join(row["text"] for row in hierarchy), metadata=metadata))
        return found[:k]
