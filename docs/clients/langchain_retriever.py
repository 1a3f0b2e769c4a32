"""cftrag as a LangChain retriever: documents, hierarchy and chunks of one question, from one statement.

pip install langchain-core psycopg[binary]. `embed` is your model: text in, a list of numbers out.
"""

from collections.abc import Callable

import psycopg
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever


class CftragRetriever(BaseRetriever):
    conninfo: str
    embed: Callable[[str], list[float]]
    k: int = 5
    up: int = 3
    down: int = 1
    budget: int | None = None
    mode: str = "cft"

    def _get_relevant_documents(self, query, *, run_manager=None):
        arguments = (query, str(list(self.embed(query))), self.k, self.up, self.down, self.budget, self.mode)
        statement = "SELECT * FROM cft_retrieve(%s, %s::vector, k => %s, up => %s, down => %s, budget => %s, mode => %s)"
        with psycopg.connect(self.conninfo) as connection:
            rows = connection.cursor(row_factory=psycopg.rows.dict_row).execute(statement, arguments)
            return [Document(page_content=row.pop("text") or "", metadata=row) for row in rows]
