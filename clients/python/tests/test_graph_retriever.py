"""graph-retriever's own compliance suite on its own animals, and traversals of the shop's hierarchy compared with SQL."""

import json
import os
from pathlib import Path
from uuid import UUID

import pytest
from conftest import EMBEDDING, QUESTION
from graph_retriever import atraverse, traverse
from graph_retriever.edges import IdEdge, MetadataEdge
from graph_retriever.strategies import Eager
from graph_retriever.testing.adapter_tests import AdapterComplianceSuite
from graph_retriever.testing.embeddings import AnimalEmbeddings
from psycopg_pool import ConnectionPool

from cftrag import AsyncHierarchy, Hierarchy
from cftrag.graph_retriever import DOWN, HIERARCHY, SAME, UP, CftragAdapter

# What the suite is written for: data/animals.jsonl of datastax/graph-rag on GitHub, which its package leaves out.
ANIMALS = os.environ.get("GRAPH_RAG_ANIMALS")


@pytest.fixture(scope="module")
def animals(dsn):
    embed = AnimalEmbeddings()
    rows = [json.loads(line) for line in Path(ANIMALS).read_text().splitlines()]
    with ConnectionPool(dsn, open=True, kwargs={"autocommit": True}) as pool:
        with pool.connection() as connection:
            connection.execute("CREATE TABLE kinds (parent text, child text)")
            connection.execute(f"CREATE TABLE animals (id text PRIMARY KEY, kind text, body text, embedding vector({len(embed(''))}), metadata jsonb)")
            for row in rows:
                values = row["id"], row["metadata"]["type"], row["text"], str(embed(row["text"])), json.dumps(row["metadata"])
                connection.execute("INSERT INTO animals VALUES (%s, %s, %s, %s, %s)", values)
            connection.execute("INSERT INTO kinds SELECT DISTINCT 'animal', kind FROM animals")
        hierarchy = Hierarchy(pool, edges="kinds", documents="animals", embed=embed)
        hierarchy.attach()
        hierarchy.attach_documents(entity="kind", metadata="metadata")
        yield CftragAdapter(hierarchy, metadata="metadata", lists=["keywords", "tags"])
        with pool.connection() as connection:
            connection.execute("DROP TABLE kinds, animals")


@pytest.mark.server
@pytest.mark.skipif(ANIMALS is None, reason="no animals: set GRAPH_RAG_ANIMALS to the file")
class TestCompliance(AdapterComplianceSuite):
    @pytest.fixture
    def adapter(self, animals):
        return animals


@pytest.fixture
def adapter(hierarchy):
    return CftragAdapter(hierarchy, metadata="metadata")


def ids_of(connection, statement, *values):
    return [row[0] for row in connection.execute(statement, values).fetchall()]


NEAR = "SELECT p.id::text FROM products p WHERE {} ORDER BY embedding <=> %s::vector LIMIT %s"


@pytest.mark.server
async def test_a_search_gives_what_cft_nearest_documents_gives(connection, adapter):
    for k, filter, sql in [(3, None, "NULL"), (2, {"brand": "Knot"}, "'{\"brand\": \"Knot\"}'"), (5, {"price": {"$lt": 100}}, "'{\"price\": {\"$lt\": 100}}'")]:
        expected = connection.execute(
            f"SELECT document_id, body FROM cft_nearest_documents(%s, %s, documents => 'products', edges => 'categories', filter => {sql})", (str(EMBEDDING), k)
        ).fetchall()
        assert expected and [(content.id, content.content) for content in adapter.search(EMBEDDING, k, filter)] == expected
        embedding, found = await adapter.asearch_with_embedding(QUESTION, k, filter)
        assert embedding == EMBEDDING and [content.id for content in found] == [row[0] for row in expected]
    assert [content.id for content in adapter.search(EMBEDDING, 9, within=7)] == ["7", "2"]


@pytest.mark.server
def test_a_document_knows_its_place_and_its_metadata(adapter):
    found = {content.id: content for content in adapter.get(["4", "2", "4", "99", "unicorn"])}
    assert set(found) == {"2", "4"}
    assert found["4"].metadata == {"brand": "Knot", "entities": ["3"], "parents": ["2"], "children": ["5"]}
    assert found["4"].content == "Light, for asphalt, size 42." and found["4"].embedding == pytest.approx([0.3, 0.2, 0.9])
    assert found["2"].metadata == {"brand": "Alta", "entities": ["8"], "parents": ["7"], "children": []}


@pytest.mark.server
@pytest.mark.parametrize(("edges", "condition", "ids"), [
    ([UP], "c.id = (SELECT parent_id FROM categories WHERE id = 3)", ["30", "4"]),
    ([DOWN], "c.parent_id = 3", ["1", "4"]),
    ([SAME], "c.id = 3", ["4", "6"]),
    ([UP, DOWN], "c.parent_id = 3 OR c.id = (SELECT parent_id FROM categories WHERE id = 3)", ["1", "30", "4"]),
])
async def test_edges_of_the_hierarchy_lead_where_sql_leads(connection, adapter, edges, condition, ids):
    """From document 4, about running shoes (3); 30 is about shoes (2)."""
    connection.execute("BEGIN")
    connection.execute("INSERT INTO products VALUES (30, 2, 'Any shoe.', '[0, 0, 1]', '{}', 1)")
    strategy = Eager(select_k=10, start_k=0, adjacent_k=10, max_depth=1)
    arguments = {"edges": edges, "strategy": strategy, "store": adapter, "initial_root_ids": ["4"]}
    expected = ids_of(connection, f"SELECT p.id::text FROM products p JOIN categories c ON c.id = p.category_id WHERE {condition} OR p.id = 4 ORDER BY 1")
    assert sorted(node.id for node in traverse(QUESTION, **arguments)) == expected == ids
    assert sorted(node.id for node in await atraverse(QUESTION, **arguments)) == expected
    connection.execute("ROLLBACK")


@pytest.mark.server
def test_two_steps_down_from_shoes_reach_all_below(connection, adapter):
    connection.execute("BEGIN")
    connection.execute("INSERT INTO products VALUES (20, 2, 'Any shoe.', '[0, 0, 1]', '{}', 1)")
    strategy = Eager(select_k=20, start_k=0, adjacent_k=20, max_depth=2)
    nodes = traverse(QUESTION, edges=[DOWN], strategy=strategy, store=adapter, initial_root_ids=["20"])
    expected = ids_of(connection, "SELECT id::text FROM products WHERE cft_under(category_id, 2, edges => 'categories') ORDER BY 1")
    connection.execute("ROLLBACK")
    assert sorted(node.id for node in nodes) == expected == ["1", "20", "3", "4", "5", "6"]
    assert {node.id: node.depth for node in nodes}["20"] == 0 and {node.id: node.depth for node in nodes}["1"] == 2


@pytest.mark.server
def test_a_traversal_of_all_edges_finds_the_neighbourhood_nearest_first(connection, adapter):
    near = list(adapter.adjacent({MetadataEdge("entities", name) for name in ("2", "3", "5", "6")}, EMBEDDING, 3, None))
    assert [content.id for content in near] == ids_of(connection, NEAR.format("category_id IN (2, 3, 5, 6)"), str(EMBEDDING), 3) == ["1", "6", "3"]
    nodes = traverse(QUESTION, edges=HIERARCHY, strategy=Eager(select_k=10, start_k=1, max_depth=1), store=adapter)
    assert sorted(node.id for node in nodes) == ids_of(connection, "SELECT id::text FROM products WHERE category_id IN (5, 3) ORDER BY 1")


@pytest.mark.server
def test_filters_and_within_hold_for_edges(connection, adapter):
    edges = {MetadataEdge("entities", name) for name in ("3", "5", "6", "9")} | {IdEdge("2"), MetadataEdge("brand", "Knot")}
    found = list(adapter.adjacent(edges, EMBEDDING, 10, {"brand": "Alta"}))
    assert [content.id for content in found] == ids_of(
        connection, NEAR.format("(category_id IN (3, 5, 6, 9) OR id = 2) AND metadata ->> 'brand' = 'Alta'"), str(EMBEDDING), 10
    ) == ["1", "6", "2"]
    inside = {MetadataEdge("entities", name) for name in ("3", "5", "6", "9")}
    assert {content.id for content in adapter.adjacent(inside, EMBEDDING, 10, None, within=3)} == {"1", "4", "6"}
    assert {content.id for content in adapter.adjacent(inside, EMBEDDING, 10, None, within=None)} == {"1", "3", "4", "6", "7"}
    assert [content.id for content in adapter.adjacent(inside, EMBEDDING, 1, {"brand": "Knot"})] == ["3"]  # Behind 1 and 6, of another brand.
    small = list(adapter.adjacent({MetadataEdge("brand", "Alta")}, EMBEDDING, 10, {"brand": "Alta", "price": {"$lt": 120}}))
    assert [content.id for content in small] == ["6"]
    with pytest.raises(ValueError, match="operators such as"):
        adapter.adjacent(inside, EMBEDDING, 10, {"price": {"$lt": 5}})


@pytest.mark.server
def test_ids_of_every_type_and_names_that_need_quotes(connection, hierarchy):
    names = {"uuid": str(UUID(int=7)), "bigint": "7", "varchar(9)": "seven", "numeric(3)": "7"}
    for type_, id in names.items():
        with connection.transaction(force_rollback=True):
            connection.execute(f"""CREATE TABLE "My docs" ("The id" {type_} PRIMARY KEY, "The body" text, "The vector" halfvec(2), category int)""")
            connection.execute("""INSERT INTO "My docs" VALUES (%s, 'x', '[1, 0.5]', 8)""", (id,))
            connection.execute("""SELECT cft_attach_documents('"My docs"', id => 'The id', body => 'The body', embedding => 'The vector', entity => 'category',
                edges => 'categories')""")
            asked = Hierarchy(connection, edges="categories", documents='"My docs"')
            adapter = CftragAdapter(asked, id="The id", body="The body", embedding="The vector")
            found = adapter.get([id, "unicorn", "9" * 30, id.upper() + "x"])
            assert [(content.id, content.embedding, content.metadata["parents"]) for content in found] == [(id, [1.0, 0.5], ["7"])], type_
            with pytest.raises(ValueError, match="of which column"):
                adapter.get([id], {"brand": "x"})
            with pytest.raises(ValueError, match="has no column id"):
                CftragAdapter(asked).get([id])


@pytest.mark.server
def test_documents_of_several_entities(connection):
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE notes (id int PRIMARY KEY, body text, embedding vector(2)); INSERT INTO notes VALUES (1, 'x', '[1, 0]')")
        connection.execute("CREATE TABLE about (entity text, document_id int); INSERT INTO about VALUES ('8', 1), ('3', 1)")
        connection.execute("SELECT cft_attach_documents('notes', mapping => 'about', edges => 'categories')")
        content = CftragAdapter(Hierarchy(connection, edges="categories", documents="notes")).get(["1"])[0]
    assert {name: sorted(value) for name, value in content.metadata.items()} == {"entities": ["3", "8"], "parents": ["2", "7"], "children": ["5"]}


def test_what_is_no_hierarchy_is_refused():
    with pytest.raises(TypeError, match="not AsyncHierarchy"):
        CftragAdapter(AsyncHierarchy("", documents="d"))
    with pytest.raises(TypeError, match="which documents"):
        CftragAdapter(Hierarchy(""))
