"""docs/clients/langchain_retriever.py: documents with their provenance, as cft_retrieve gives them; at most 40 lines."""

import asyncio
import json
import pathlib

import langchain_retriever
import psycopg
from langchain_retriever import CftragRetriever

assert len(pathlib.Path(langchain_retriever.__file__).read_text().splitlines()) <= 40
with psycopg.connect() as connection:
    questions = dict(connection.execute("SELECT question, embedding::text FROM questions").fetchall())
    question = "Why does someone with diabetes need a photograph of the eye every year?"
    expected = connection.execute("SELECT source, text FROM cft_retrieve(%s, %s::vector, k => 3, budget => 200)", (question, questions[question])).fetchall()
retriever = CftragRetriever(conninfo="", embed=lambda text: json.loads(questions[text]), k=3, budget=200)
documents = retriever.invoke(question)
assert [(d.metadata["source"], d.page_content) for d in documents] == expected and len(expected) > 3, (documents, expected)
assert {d.metadata["source"] for d in documents} >= {"document", "hierarchy"}
assert all(d.metadata["why"] and d.metadata["tokens"] > 0 for d in documents)
assert asyncio.run(retriever.ainvoke(question)) == documents
assert all(d.metadata["source"] == "document" for d in CftragRetriever(conninfo="", embed=retriever.embed, mode="text").invoke(question))
