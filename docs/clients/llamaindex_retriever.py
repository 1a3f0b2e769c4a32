"""cftrag as a LlamaIndex retriever: nodes with a score, the hierarchy of the entities that the question names first.

pip install llama-index-core psycopg[binary,pool]. `embed` is your model: text in, a list of numbers out.
"""

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from psycopg.rows import dict_row

RETRIEVE = "SELECT source, entity, document_id, distance, why, text FROM cft_retrieve(%s, %s::vector, k => %s, budget => %s)"


class CftragRetriever(BaseRetriever):
    def __init__(self, pool, embed, similarity_top_k=5, budget=None):
        super().__init__()
        self.pool, self.embed, self.similarity_top_k, self.budget = pool, embed, similarity_top_k, budget

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = query_bundle.query_str
        arguments = (question, str(list(self.embed(question))), self.similarity_top_k, self.budget)
        with self.pool.connection() as connection:
            rows = connection.cursor(row_factory=dict_row).execute(RETRIEVE, arguments).fetchall()
        rows.sort(key=lambda row: row["source"] != "hierarchy")
        return [
            # What has no distance (a sentence of the hierarchy) is as near as can be.
            NodeWithScore(node=TextNode(text=row.pop("text") or "", metadata=row), score=1 - (row["distance"] or 0.0))
            for row in rows
        ]
