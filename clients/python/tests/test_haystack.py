"""cftrag.haystack: what arrives is what cft_retrieve gives, by a statement of its own; saved and loaded; in pipelines."""

import asyncio
import json

import pytest
from conftest import EMBEDDING, QUESTION
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.utils import Secret
from psycopg.rows import dict_row

from cftrag.haystack import CftragRetriever, _filter

SHOP = {"edges": "categories", "documents": "products"}
METADATA = ("source", "entity", "rank", "distance", "tokens", "why", "path")
BRAND = {"field": "meta.brand", "operator": "==", "value": "Knot"}

# Arguments of the component, and the same in SQL, written by hand.
SAME = [
    ({}, ""),
    ({"top_k": 2}, "k => 2"),
    ({"top_k": 1, "chunks": 6, "up": 1, "down": 1}, "k => 1, chunks => 6, up => 1, down => 1"),
    ({"top_k": 3, "within": ["3"], "chunks": 0}, "k => 3, within => '{3}', chunks => 0"),
    ({"top_k": 1, "filters": {"brand": "Knot"}}, "k => 1, filter => '{\"brand\": \"Knot\"}'"),
    ({"top_k": 1, "filters": BRAND}, "k => 1, filter => '{\"brand\": \"Knot\"}'"),
    ({"budget": 60, "mode": "ann_tree", "match": "exact", "narrow": False}, "budget => 60, mode => 'ann_tree', match => 'exact', narrow => false"),
    ({"trees": [None], "expand": "parent"}, "trees => '{NULL}', expand => 'parent'"),
]


@component
class Embedder:
    """In the place of a model."""

    @component.output_types(embedding=list[float])
    def run(self, text: str):
        return {"embedding": EMBEDDING}


@pytest.fixture
def retriever(shop):
    made = []

    def make(**arguments):
        made.append(CftragRetriever(shop, **SHOP, **arguments))
        return made[-1]

    yield make
    for each in made:
        each.close()


def rows_of(connection, arguments, embedding=str(EMBEDDING)):
    statement = f"SELECT * FROM cft_retrieve(%s, %s::vector, edges => 'categories', documents => 'products'{', ' if arguments else ''}{arguments})"
    return connection.cursor(row_factory=dict_row).execute(statement, (QUESTION, embedding)).fetchall()


def assert_equal(documents: list[Document], rows):
    assert rows and [document.content for document in documents] == [row["text"] for row in rows]
    assert [document.meta for document in documents] == [{name: row[name] for name in METADATA} for row in rows]
    assert [document.score for document in documents] == [None if row["distance"] is None else 1 - row["distance"] for row in rows]
    for document, row in zip(documents, rows, strict=True):
        assert document.id == row["document_id"] if row["document_id"] else document.id.startswith(f"hierarchy:{row['entity']}:")


@pytest.mark.server
@pytest.mark.parametrize(("arguments", "sql"), SAME)
async def test_what_arrives_is_what_cft_retrieve_gives(connection, retriever, arguments, sql):
    made, rows = retriever(**arguments), rows_of(connection, sql)
    assert_equal(made.run(QUESTION, EMBEDDING)["documents"], rows)
    assert_equal((await made.run_async(QUESTION, EMBEDDING))["documents"], rows)
    await made.close_async()


@pytest.mark.server
def test_a_call_goes_before_the_component(connection, retriever):
    made = retriever(top_k=5, filters={"brand": "Alta"}, within=["7"], chunks=0)
    found = made.run(QUESTION, EMBEDDING, top_k=1, filters=BRAND, within=["2"])["documents"]
    assert_equal(found, rows_of(connection, "k => 1, filter => '{\"brand\": \"Knot\"}', within => '{2}', chunks => 0"))
    assert_equal(made.run(QUESTION, EMBEDDING)["documents"], rows_of(connection, "k => 5, filter => '{\"brand\": \"Alta\"}', within => '{7}', chunks => 0"))


@pytest.mark.server
def test_without_an_embedding_it_searches_by_words(connection, retriever):
    assert_equal(retriever().run(QUESTION)["documents"], rows_of(connection, "", None))


@pytest.mark.server
def test_without_sentences_and_chunks_there_are_top_k_documents(connection, retriever):
    found = retriever(top_k=3, chunks=0, hierarchy_documents=False).run(QUESTION, EMBEDDING)["documents"]
    assert_equal(found, [row for row in rows_of(connection, "k => 3, chunks => 0") if row["source"] == "document"])
    assert [document.id for document in found] == ["1", "6", "5"]


@pytest.mark.server
def test_another_event_loop_has_its_own_connections(connection, retriever):
    made = retriever(top_k=1)

    async def ask():
        both = await asyncio.gather(made.run_async(QUESTION, EMBEDDING), made.run_async(QUESTION, EMBEDDING))
        await made._async[1].close()
        return both

    for _ in range(2):
        for found in asyncio.run(ask()):
            assert_equal(found["documents"], rows_of(connection, "k => 1"))


TEMPLATE = "{% for document in documents %}[{{ document.meta.source }}] {{ document.content }}\n{% endfor %}{{ question }}"


@pytest.mark.server
async def test_a_pipeline_saved_and_loaded_gives_the_prompt(connection, shop, monkeypatch):
    monkeypatch.setenv("SHOP", shop)
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder())
    pipeline.add_component("retriever", CftragRetriever(Secret.from_env_var("SHOP"), **SHOP, top_k=1, chunks=1))
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    pipeline.connect("retriever.documents", "prompt.documents")
    saved = pipeline.dumps()
    assert "SHOP" in saved and "search_path" not in saved
    expected = "".join(f"[{row['source']}] {row['text']}\n" for row in rows_of(connection, "k => 1, chunks => 1")) + QUESTION
    assert "[document] Grip for wet rock, 290 g.\n[hierarchy] Above Running shoes: Shoes, Sports.\n" in expected
    for each in (pipeline, Pipeline.loads(saved, allowed_modules=["cftrag.*", "test_haystack"])):
        given = {"embedder": {"text": QUESTION}, "retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}
        assert each.run(given)["prompt"]["prompt"] == expected
        assert (await each.run_async(given))["prompt"]["prompt"] == expected
        each.get_component("retriever").close()
        await each.get_component("retriever").close_async()


def test_what_is_saved_is_loaded():
    arguments = {"top_k": 3, "chunks": 0, "up": 1, "down": 2, "budget": 99, "mode": "cft", "trees": ["t", None], "within": ["2"], "filters": BRAND}
    arguments |= {"match": "exact", "narrow": False, "expand": "parent", "hierarchy_documents": False}
    for dsn in (Secret.from_env_var("SHOP"), "host=/tmp dbname=shop"):
        made = CftragRetriever(dsn, **SHOP, **arguments)
        saved = json.loads(json.dumps(made.to_dict()))
        assert saved["type"] == "cftrag.haystack.CftragRetriever" and saved["init_parameters"].items() >= (SHOP | arguments).items()
        loaded = CftragRetriever.from_dict(saved)
        assert loaded.to_dict() == made.to_dict() and loaded.dsn == dsn
        assert loaded.arguments == made.arguments and loaded.arguments["k"] == 3


@pytest.mark.parametrize("dsn", ["host=/tmp password=secret", "postgresql://me:secret@localhost/shop", Secret.from_token("host=/tmp")])
def test_no_password_is_saved(dsn):
    with pytest.raises(ValueError, match="from_env_var|Cannot serialize token"):
        CftragRetriever(dsn).to_dict()


@pytest.mark.server
@pytest.mark.parametrize(("filters", "ids"), [
    ({"field": "meta.price", "operator": "<", "value": 100}, ["3", "4", "7"]),
    ({"field": "price", "operator": ">=", "value": 150}, ["2", "5"]),
    (
        {"operator": "AND", "conditions": [{"field": "meta.brand", "operator": "!=", "value": "Alta"}, {"field": "price", "operator": "<=", "value": 12}]},
        ["3", "7"],
    ),
    ({"operator": "OR", "conditions": [{"field": "price", "operator": ">", "value": 200}, {"field": "price", "operator": "==", "value": 5.5}]}, ["2", "3"]),
    ({"operator": "NOT", "conditions": [{"field": "meta.brand", "operator": "in", "value": ["Alta", "X"]}]}, ["3", "4", "7"]),
    ({"field": "meta.brand", "operator": "not in", "value": ["Knot"]}, ["1", "2", "5", "6"]),
    ({"field": "meta.colour", "operator": "!=", "value": "red"}, ["1", "2", "3", "4", "5", "6", "7"]),
    ({"field": "meta.colour", "operator": "==", "value": None}, ["1", "2", "3", "4", "5", "6", "7"]),
    ({"field": "meta.brand", "operator": "!=", "value": None}, ["1", "2", "3", "4", "5", "6", "7"]),
    ({"operator": "NOT", "conditions": [{"field": "colour", "operator": "==", "value": "red"}]}, ["1", "2", "3", "4", "5", "6", "7"]),
    ({"operator": "NOT", "conditions": [{"field": "colour", "operator": "in", "value": ["red"]}]}, []),
    ({"operator": "NOT", "conditions": [{"field": "colour", "operator": ">", "value": 1}]}, []),
    ({"brand": "Knot", "price": {"$lt": 10}}, ["3"]),
    ({"conditions": "new"}, []),
])
def test_filters_of_haystack(retriever, filters, ids):
    found = retriever(top_k=10, chunks=0, hierarchy_documents=False).run(QUESTION, EMBEDDING, filters=filters)["documents"]
    assert sorted(document.id for document in found) == ids


@pytest.mark.parametrize("filters", [{"operator": "XOR", "conditions": []}, {"field": "a", "operator": "~", "value": 1}])
def test_filters_that_are_refused(filters):
    with pytest.raises(ValueError, match="^filters: "):
        _filter(filters)
