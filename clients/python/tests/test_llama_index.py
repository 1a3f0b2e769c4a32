"""cftrag.llama_index: what arrives is what cft_retrieve gives, by a statement of its own."""

import asyncio
import inspect

import pytest
from conftest import EMBEDDING, QUESTION
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from cftrag import AsyncHierarchy, Hierarchy
from cftrag.llama_index import CftragRetriever

ASKED = {"edges": "categories", "documents": "products", "embed": lambda question: EMBEDDING}
METADATA = ("source", "entity", "rank", "distance", "tokens", "why", "path")

# Arguments of a retriever, and the same in SQL, written by hand.
SAME = [
    ({}, ""),
    ({"similarity_top_k": 3}, "k => 3"),
    ({"similarity_top_k": 1, "chunks": 6, "up": 1, "down": 1}, "k => 1, chunks => 6, up => 1, down => 1"),
    ({"similarity_top_k": 3, "within": [3], "chunks": 0}, "k => 3, within => '{3}', chunks => 0"),
    ({"similarity_top_k": 1, "filter": {"price": {"$lt": 100}}, "trees": [None]}, "k => 1, filter => '{\"price\": {\"$lt\": 100}}', trees => '{NULL}'"),
    ({"budget": 60, "mode": "ann_tree", "match": "exact", "narrow": False}, "budget => 60, mode => 'ann_tree', match => 'exact', narrow => false"),
    ({"similarity_top_k": 1, "expand": "parent"}, "k => 1, expand => 'parent'"),
]


@pytest.fixture
def pool(shop):
    with ConnectionPool(shop, open=True) as pool:
        yield pool


def rows_of(connection, arguments, embedding=EMBEDDING):
    statement = f"SELECT * FROM cft_retrieve(%s, %s::vector, edges => 'categories', documents => 'products'{', ' if arguments else ''}{arguments})"
    return connection.cursor(row_factory=dict_row).execute(statement, (QUESTION, str(embedding))).fetchall()


def assert_equal(nodes: list[NodeWithScore], rows):
    assert rows and [node.node.text for node in nodes] == [row["text"] for row in rows]
    assert [node.metadata for node in nodes] == [{name: row[name] for name in METADATA} for row in rows]
    assert [node.score for node in nodes] == [None if row["distance"] is None else 1 - row["distance"] for row in rows]
    for node, row in zip(nodes, rows, strict=True):
        assert node.node_id == row["document_id"] if row["document_id"] else node.node_id.startswith(f"hierarchy:{row['entity']}:")


@pytest.mark.server
@pytest.mark.parametrize(("arguments", "sql"), SAME)
async def test_what_arrives_is_what_cft_retrieve_gives(connection, pool, shop, arguments, sql):
    rows = rows_of(connection, sql)
    retriever = CftragRetriever(Hierarchy(pool, **ASKED), **arguments)
    assert_equal(retriever.retrieve(QUESTION), rows)
    assert_equal(await retriever.aretrieve(QUESTION), rows)
    async with AsyncHierarchy(shop, **ASKED) as hierarchy:
        assert_equal(await CftragRetriever(hierarchy, **arguments).aretrieve(QUESTION), rows)
        assert_equal(await CftragRetriever(Hierarchy(""), async_hierarchy=hierarchy, **arguments).aretrieve(QUESTION), rows)


@pytest.mark.server
async def test_ids_of_sentences_are_the_same_in_each_call(pool):
    retriever = CftragRetriever(Hierarchy(pool, **ASKED))
    ids = [node.node_id for node in retriever.retrieve(QUESTION)]
    assert len(set(ids)) == len(ids) > 5 and any(id.startswith("hierarchy:") for id in ids)
    assert [node.node_id for node in retriever.retrieve(QUESTION)] == ids
    assert [[node.node_id for node in nodes] for nodes in await asyncio.gather(*(retriever.aretrieve(QUESTION) for _ in range(5)))] == [ids] * 5


@pytest.mark.server
def test_without_sentences_and_chunks_there_are_similarity_top_k_nodes(connection, pool):
    assert len(CftragRetriever(Hierarchy(pool, **ASKED), similarity_top_k=3).retrieve(QUESTION)) > 3
    nodes = CftragRetriever(Hierarchy(pool, **ASKED), similarity_top_k=3, hierarchy_nodes=False, chunks=0).retrieve(QUESTION)
    assert_equal(nodes, [row for row in rows_of(connection, "k => 3, chunks => 0") if row["source"] == "document"])
    assert [node.node_id for node in nodes] == ["1", "6", "5"]
    statement = "SELECT 1 - (embedding <=> %s::vector) FROM products WHERE id = %s"
    assert [node.score for node in nodes] == [
        pytest.approx(connection.execute(statement, (str(EMBEDDING), node.node_id)).fetchone()[0]) for node in nodes
    ]


@pytest.mark.server
def test_the_embedding_of_a_bundle_is_used(connection, pool):
    other = [0.1, 0.9, 0.1]
    nodes = CftragRetriever(Hierarchy(pool, **ASKED), similarity_top_k=1).retrieve(QueryBundle(QUESTION, embedding=other))
    assert nodes[0].node_id == "2"
    assert_equal(nodes, rows_of(connection, "k => 1", other))


@pytest.mark.server
def test_nodes_without_a_score_do_not_pass_a_cutoff(connection, pool):
    nodes = CftragRetriever(Hierarchy(pool, **ASKED)).retrieve(QUESTION)
    kept = SimilarityPostprocessor(similarity_cutoff=0.9).postprocess_nodes(nodes)
    near = [row["document_id"] for row in rows_of(connection, "") if row["distance"] is not None and 1 - row["distance"] >= 0.9]
    assert [node.node_id for node in kept] == near
    assert 0 < len(kept) < len(nodes)


@pytest.mark.server
async def test_a_query_engine_answers_from_all_nodes(connection, pool):
    engine = RetrieverQueryEngine.from_args(CftragRetriever(Hierarchy(pool, **ASKED), similarity_top_k=2, chunks=1), llm=MockLLM())
    rows = rows_of(connection, "k => 2, chunks => 1")
    for response in (engine.query(QUESTION), await engine.aquery(QUESTION)):
        assert_equal(response.source_nodes, rows)
        prompt = str(response)  # A MockLLM says what it was asked.
        assert QUESTION in prompt and all(row["text"] in prompt for row in rows)
        assert "path: Sports > Shoes > Running shoes > Trail shoes" in prompt and "distance" not in prompt and "path: None" not in prompt


@pytest.mark.server
def test_an_embedding_of_a_node_is_of_its_text_alone(pool):
    node = CftragRetriever(Hierarchy(pool, **ASKED), similarity_top_k=1).retrieve(QUESTION)[0].node
    assert node.get_content(MetadataMode.EMBED) == node.text == "Grip for wet rock, 290 g."


def test_all_that_is_set_is_sent_and_nothing_else():
    class Recorder(Hierarchy):
        def _rows(self, row, function, kinds=None, /, **arguments):
            self.sent = {name: value for name, value in arguments.items() if repr(value) != "UNSET"}
            return []

    arguments = {"chunks": 2, "up": 3, "down": 4, "budget": 5, "mode": "text", "edges": "e", "trees": ["t", None], "within": [2, "3"], "documents": "d"}
    arguments |= {"filter": {"a": 1}, "match": "exact", "narrow": False, "expand": "parent"}
    recorder = Recorder("", embed=lambda question: [1])
    CftragRetriever(recorder, similarity_top_k=1, **arguments).retrieve(QUESTION)
    assert recorder.sent == {"question": QUESTION, "embedding": [1], "k": 1} | arguments
    CftragRetriever(recorder, similarity_top_k=None).retrieve(QUESTION)
    assert recorder.sent == {"question": QUESTION, "embedding": [1], "k": None}
    assert {"k"} | set(arguments) == set(inspect.signature(Hierarchy.retrieve).parameters) - {"self", "question", "embedding"}


def test_what_is_no_hierarchy_is_refused():
    with pytest.raises(TypeError, match="serves aretrieve only"):
        CftragRetriever(AsyncHierarchy("")).retrieve(QUESTION)
    with pytest.raises(TypeError, match="^hierarchy: a Hierarchy or AsyncHierarchy is needed, not ConnectionPool"):
        CftragRetriever(ConnectionPool("", open=False))
