"""docs/clients/langchain_retriever.py: passes LangChain's standard tests of a retriever, and returns the documents of cft_retrieve."""

import asyncio
import json
import sys

import psycopg
import pytest
from langchain_retriever import KEYS, CftragRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

QUESTION = "Why does someone with diabetes need a photograph of the eye every year?"
with psycopg.connect() as connection:
    questions = dict(connection.execute("SELECT question, embedding::text FROM questions").fetchall())
    rows = connection.execute("SELECT source, text FROM cft_retrieve(%s, %s::vector, k => 3)", (QUESTION, questions[QUESTION])).fetchall()
    shorter = connection.execute("SELECT sum(tokens) FROM cft_retrieve(%s, %s::vector, budget => 60)", (QUESTION, questions[QUESTION])).fetchone()[0]
retriever = CftragRetriever.connect("", embed=lambda text: json.loads(questions[text]), k=3)


class TestRetriever(RetrieversIntegrationTests):
    retriever_constructor = CftragRetriever
    retriever_constructor_params = {"pool": retriever.pool, "embed": retriever.embed}
    retriever_query_example = QUESTION


def test_documents_are_those_of_cft_retrieve():
    documents = retriever.invoke(QUESTION)
    hierarchy = "\n".join(text for source, text in rows if source == "hierarchy")
    others = [text for source, text in rows if source != "hierarchy"]
    assert hierarchy and [d.page_content for d in documents] == [hierarchy] + others[:2]
    assert all(tuple(d.metadata) == KEYS and d.metadata["why"] for d in documents)
    assert len(retriever.invoke(QUESTION, k=40)) == 40
    assert asyncio.run(retriever.ainvoke(QUESTION)) == documents


def test_settings_of_the_constructor_count():
    others = {"pool": retriever.pool, "embed": retriever.embed}
    assert all(d.metadata["source"] == "document" for d in CftragRetriever(**others, mode="text").invoke(QUESTION))
    assert sum(d.metadata["tokens"] for d in CftragRetriever(**others, budget=60, k=20).invoke(QUESTION)) == shorter <= 60


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-W", "ignore", __file__]))
