"""docs/clients/llamaindex_retriever.py: the nodes are the rows of cft_retrieve, with the hierarchy first."""

import json

import psycopg
from llamaindex_retriever import CftragRetriever
from psycopg_pool import ConnectionPool

with psycopg.connect() as connection:
    questions = dict(connection.execute("SELECT question, embedding::text FROM questions").fetchall())
    question = "Why does someone with diabetes need a photograph of the eye every year?"
    rows = connection.execute("SELECT source, text FROM cft_retrieve(%s, %s::vector, k => 3)", (question, questions[question])).fetchall()
with ConnectionPool("", open=True) as pool:
    nodes = CftragRetriever(pool, lambda text: json.loads(questions[text]), similarity_top_k=3).retrieve(question)
    assert [n.text for n in nodes] == [t for s, t in rows if s == "hierarchy"] + [t for s, t in rows if s != "hierarchy"]
    assert nodes[0].metadata["source"] == "hierarchy" and all(n.metadata["why"] and n.score <= 1 for n in nodes)
    assert CftragRetriever(pool, lambda text: json.loads(questions[text]), budget=30).retrieve(question) != []
