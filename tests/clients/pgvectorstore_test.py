"""docs/clients/with_pgvectorstore.py: cft_retrieve reads a store's table; the store's search stays within a subtree."""

import json
import os

import psycopg
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_postgres import Column, PGEngine, PGVectorStore
from with_pgvectorstore import attach, search_below

URL = "postgresql+psycopg://{user}@/{dbname}?host={host}&port={port}".format(
    user=os.environ.get("PGUSER", ""), dbname=os.environ["PGDATABASE"], host=os.environ["PGHOST"], port=os.environ.get("PGPORT", "5432")
)

with psycopg.connect(autocommit=True) as connection:
    rows = connection.execute("SELECT body, entity, embedding::text FROM documents ORDER BY id").fetchall()
    vectors = {body: json.loads(vector) for body, _, vector in rows}

    class Known(Embeddings):
        def embed_documents(self, texts):
            return [vectors[text] for text in texts]

        def embed_query(self, text):
            return vectors[text]

    engine = PGEngine.from_connection_string(URL)
    engine.init_vectorstore_table("store", vector_size=384, metadata_columns=[Column("entity", "TEXT")])
    store = PGVectorStore.create_sync(engine, Known(), table_name="store", metadata_columns=["entity"])
    store.add_documents([Document(page_content=body, metadata={"entity": entity}) for body, entity, _ in rows])

    attach(connection, "store")
    question, embedding = connection.execute("SELECT question, embedding::text FROM questions ORDER BY id LIMIT 1").fetchone()
    both = [
        [text for (text,) in connection.execute("SELECT text FROM cft_retrieve(%s, %s::vector, documents => %s) WHERE source = 'document'", (question, embedding, table))]
        for table in ("store", "documents")
    ]
    assert both[0] == both[1] and len(both[0]) == 5, both

    top = connection.execute("SELECT parent FROM entity_edges GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1").fetchone()[0]
    below = {top} | {name for (name,) in connection.execute("SELECT relative FROM cft_context(%s, 0, 10)", (top,))}
    found = search_below(connection, store, json.loads(embedding), top, k=3)
    assert found and all(d.metadata["entity"] in below for d in found), found
    connection.execute("SELECT cft_detach('store')")
