"""LangChain's own standard tests, and: what arrives is what cft_retrieve gives."""

import asyncio
import inspect

import asyncpg
import psycopg
import pytest
from conftest import EMBEDDING, QUESTION
from langchain_core.documents import Document
from langchain_core.tools import ToolException
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from pydantic import ValidationError

from cftrag import AsyncHierarchy, Hierarchy
from cftrag.langchain import CftragHierarchyTool, CftragRetriever, CftragSearchTool

ASKED = {"edges": "categories", "documents": "products", "embed": lambda question: EMBEDDING}

# Arguments of a retriever, and the same in SQL, written by hand.
SAME = [
    ({}, ""),
    ({"k": 2}, "k => 2"),
    ({"k": 1, "chunks": 6, "up": 1, "down": 1}, "k => 1, chunks => 6, up => 1, down => 1"),
    ({"k": 3, "within": [3]}, "k => 3, within => '{3}'"),
    ({"k": 3, "within": 3, "chunks": 0}, "k => 3, within => '{3}', chunks => 0"),
    ({"k": 1, "filter": {"brand": "Knot"}, "chunks": 2}, "k => 1, filter => '{\"brand\": \"Knot\"}', chunks => 2"),
    ({"k": 1, "filter": {"price": {"$lt": 100}}}, "k => 1, filter => '{\"price\": {\"$lt\": 100}}'"),
    ({"k": 2, "trees": [None]}, "k => 2, trees => '{NULL}'"),
    ({"k": 3, "budget": 60}, "k => 3, budget => 60"),
    ({"k": 1, "mode": "ann_tree"}, "k => 1, mode => 'ann_tree'"),
    ({"k": 1, "match": "exact", "narrow": False}, "k => 1, match => 'exact', narrow => false"),
    ({"k": 1, "expand": "parent"}, "k => 1, expand => 'parent'"),
    ({"k": None, "budget": 500}, "k => NULL, budget => 500"),
]
METADATA = ("source", "entity", "rank", "distance", "tokens", "why", "path")


@pytest.fixture
def pool(shop):
    with ConnectionPool(shop, open=True) as pool:
        yield pool


def rows_of(connection, arguments, question=QUESTION):
    """What cft_retrieve gives, by a statement of its own."""
    statement = f"SELECT * FROM cft_retrieve(%s, %s::vector, edges => 'categories', documents => 'products'{', ' if arguments else ''}{arguments})"
    return connection.cursor(row_factory=dict_row).execute(statement, (question, str(EMBEDDING))).fetchall()


def assert_equal(documents: list[Document], rows):
    """All rows, in their order, with their texts, ids and metadata."""
    assert [document.page_content for document in documents] == [row["text"] for row in rows]
    assert [document.metadata for document in documents] == [{name: row[name] for name in METADATA} for row in rows]
    for document, row in zip(documents, rows, strict=True):
        assert document.id == row["document_id"] if row["document_id"] else document.id.startswith(f"hierarchy:{row['entity']}:")
    assert len({document.id for document in documents}) == len(documents)


@pytest.mark.server
@pytest.mark.parametrize(("arguments", "sql"), SAME)
def test_what_arrives_is_what_cft_retrieve_gives(connection, pool, arguments, sql):
    rows = rows_of(connection, sql)
    assert_equal(CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), **arguments).invoke(QUESTION), rows)
    assert_equal(CftragRetriever(hierarchy=Hierarchy(pool, **ASKED)).invoke(QUESTION, **arguments), rows)


@pytest.mark.server
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg", "thread"])
async def test_what_arrives_asynchronously_is_what_cft_retrieve_gives(connection, pool, shop, driver):
    async def embed(question):
        return EMBEDDING

    asked = ASKED | {"embed": embed}
    schema = shop.split("search_path=")[1].rstrip("'")
    async with (
        AsyncConnectionPool(shop, open=False) as psycopg_pool,
        asyncpg.create_pool(min_size=1, server_settings={"search_path": schema}) as asyncpg_pool,
    ):
        for arguments, sql in SAME:
            if driver == "thread":
                retriever = CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), **arguments)
            elif driver == "psycopg":
                retriever = CftragRetriever(hierarchy=AsyncHierarchy(psycopg_pool, **asked), **arguments)
            else:
                retriever = CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), async_hierarchy=AsyncHierarchy(asyncpg_pool, **asked), **arguments)
            assert_equal(await retriever.ainvoke(QUESTION), rows_of(connection, sql))


@pytest.mark.server
@pytest.mark.parametrize(("arguments", "sql"), SAME)
def test_the_comparison_fails_for_a_retriever_that_cuts_to_k(connection, pool, arguments, sql):
    class Cuts(CftragRetriever):
        def _documents(self, rows):
            return super()._documents(rows)[: self.k or 5]

    with pytest.raises(AssertionError):
        assert_equal(Cuts(hierarchy=Hierarchy(pool, **ASKED), **arguments).invoke(QUESTION), rows_of(connection, sql))


@pytest.mark.server
def test_many_calls_at_once_share_a_pool(connection, pool):
    retriever = CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), k=2)
    rows = rows_of(connection, "k => 2")
    for documents in retriever.batch([QUESTION] * 20):
        assert_equal(documents, rows)


@pytest.mark.server
async def test_many_calls_at_once_in_an_event_loop(connection, shop):
    rows = rows_of(connection, "k => 2")
    async with AsyncHierarchy(shop, **ASKED) as hierarchy:
        retriever = CftragRetriever(hierarchy=hierarchy, k=2)
        for documents in await asyncio.gather(*(retriever.ainvoke(QUESTION) for _ in range(20))):
            assert_equal(documents, rows)


@pytest.mark.server
def test_without_sentences_and_chunks_there_are_k_documents(connection, pool):
    retriever = CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), k=3, chunks=0, hierarchy_documents=False)
    assert_equal(retriever.invoke(QUESTION), [row for row in rows_of(connection, "k => 3, chunks => 0") if row["source"] != "hierarchy"])
    assert len(retriever.invoke(QUESTION)) == 3


@pytest.mark.server
def test_a_score_threshold_is_the_greatest_distance(connection, pool):
    rows = rows_of(connection, "")
    bound = sorted(row["distance"] for row in rows if row["distance"] is not None)[1]
    near = [row for row in rows if row["distance"] is None or row["distance"] <= bound]
    assert 2 < len(near) < len(rows)
    assert_equal(CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), score_threshold=bound).invoke(QUESTION), near)


@pytest.mark.server
def test_errors_of_the_server_arrive(pool):
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), filter={"price": {"$nope": 1}}).invoke(QUESTION)


def test_all_that_is_set_is_sent_and_nothing_else():
    class Recorder(Hierarchy):
        def retrieve(self, question, **arguments):
            self.arguments = arguments
            return []

    arguments = {"k": 1, "chunks": 2, "up": 3, "down": 4, "budget": 5, "mode": "text", "edges": "e", "trees": ["t", None], "within": [2, "3"], "documents": "d"}
    arguments |= {"filter": {"a": 1}, "match": "exact", "narrow": False, "expand": "parent"}
    recorder = Recorder("")
    CftragRetriever(hierarchy=recorder, **arguments).invoke(QUESTION)
    assert recorder.arguments == arguments
    CftragRetriever(hierarchy=recorder, k=None).invoke(QUESTION, up=1)
    assert recorder.arguments == {"k": None, "up": 1}
    assert set(arguments) == set(inspect.signature(Hierarchy.retrieve).parameters) - {"self", "question", "embedding"}


def test_a_bool_is_no_entity():
    for arguments in ({"within": True}, {"within": [True]}, {"trees": [True]}):
        with pytest.raises(ValidationError, match="within|trees"):
            CftragRetriever(hierarchy=Hierarchy(""), **arguments)


def test_an_async_hierarchy_alone_does_not_serve_invoke():
    with pytest.raises(TypeError, match="serves ainvoke only"):
        CftragRetriever(hierarchy=AsyncHierarchy("")).invoke(QUESTION)


def test_a_pool_in_the_place_of_a_hierarchy_is_refused():
    with pytest.raises(ValidationError, match="Hierarchy"):
        CftragRetriever(hierarchy=ConnectionPool("", open=False))


@pytest.mark.server
class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _shop(self, pool):
        self.pool = pool

    @property
    def retriever_constructor(self):
        return CftragRetriever

    @property
    def retriever_constructor_params(self):
        return {"hierarchy": Hierarchy(self.pool, **ASKED), "chunks": 0, "hierarchy_documents": False}

    @property
    def retriever_query_example(self):
        return QUESTION


class Search:
    connection = ""  # Not used before a call.

    @property
    def tool_constructor(self):
        return CftragSearchTool

    @property
    def tool_constructor_params(self):
        return {"retriever": CftragRetriever(hierarchy=Hierarchy(self.connection, **ASKED), k=2)}

    @property
    def tool_invoke_params_example(self):
        return {"question": QUESTION}


class Levels:
    connection = ""

    @property
    def tool_constructor(self):
        return CftragHierarchyTool

    @property
    def tool_constructor_params(self):
        return {"hierarchy": Hierarchy(self.connection, **ASKED)}

    @property
    def tool_invoke_params_example(self):
        return {"name": "Accessories", "down": 0}


class TestSearchToolUnit(Search, ToolsUnitTests):
    pass


class TestHierarchyToolUnit(Levels, ToolsUnitTests):
    pass


@pytest.mark.server
class TestSearchTool(Search, ToolsIntegrationTests):
    @pytest.fixture(autouse=True)
    def _shop(self, pool):
        self.connection = pool


@pytest.mark.server
class TestHierarchyTool(Levels, ToolsIntegrationTests):
    @pytest.fixture(autouse=True)
    def _shop(self, pool):
        self.connection = pool


def call(tool, /, **arguments):
    return {"name": tool, "args": arguments, "id": "1", "type": "tool_call"}


@pytest.mark.server
async def test_the_search_tool_gives_a_text_and_the_documents(connection, pool, shop):
    tool = CftragSearchTool(retriever=CftragRetriever(hierarchy=Hierarchy(pool, **ASKED), k=1, chunks=0))
    message = tool.invoke(call("search_documents", question=QUESTION))
    assert message.content == (
        "[1] Sports > Shoes > Running shoes > Trail shoes: Grip for wet rock, 290 g.\nAbove Running shoes: Shoes, Sports.\nBelow Running shoes: Trail shoes."
    )
    assert_equal(message.artifact, rows_of(connection, "k => 1, chunks => 0"))
    async with AsyncHierarchy(shop, **ASKED) as hierarchy:
        tool = CftragSearchTool(retriever=CftragRetriever(hierarchy=hierarchy, k=1, chunks=0))
        assert (await tool.ainvoke(call("search_documents", question=QUESTION))).content == message.content


@pytest.mark.server
async def test_the_hierarchy_tool_draws_all_that_a_name_means(pool, shop):
    tool = CftragHierarchyTool(hierarchy=Hierarchy(pool, **ASKED))
    message = tool.invoke(call("show_hierarchy", name="accessories"))
    assert message.content == "Sports\n└── Shoes\n    └── Accessories (here)\n\nCamping\n└── Accessories (here)"
    assert [row.entity for row in message.artifact] == ["6", "9"]
    assert (await tool.ainvoke(call("show_hierarchy", name="accessories"))).content == message.content
    async with AsyncHierarchy(shop, **ASKED) as hierarchy:
        assert (await CftragHierarchyTool(hierarchy=hierarchy).ainvoke(call("show_hierarchy", name="accessories"))).content == message.content
    assert tool.invoke(call("show_hierarchy", name="Unicorns")).content == 'Nothing is called "Unicorns".'


@pytest.mark.server
async def test_an_agent_is_told_what_is_wrong(pool, shop):
    """Bounds are in the schema; errors of the database, of each driver, are those of the tool, with their hints."""
    told = {"handle_tool_error": True, "handle_validation_error": True}
    unclear = Hierarchy(pool, documents="products")
    with pool.connection() as connection:
        path = connection.execute("SHOW search_path").fetchone()[0]
    async with AsyncHierarchy(shop) as hierarchy, asyncpg.create_pool(min_size=1, server_settings={"search_path": path}) as other:
        for asked in (unclear, hierarchy, AsyncHierarchy(other)):
            tool = CftragHierarchyTool(hierarchy=asked, **told)
            assert tool.args["up"]["anyOf"][0] == {"type": "integer", "minimum": 0, "maximum": 1000}
            for up in (-1, 10**12):
                assert "validation error" in (await tool.ainvoke(call("show_hierarchy", name="Shoes", up=up))).content
            message = await tool.ainvoke(call("show_hierarchy", name="Shoes"))
            assert message.status == "error" and '"edges" was left out' in message.content and "Say which one: edges => " in message.content
            assert (await tool.ainvoke(call("show_hierarchy", name="a\0b"))).status == "error"
    tool = CftragSearchTool(retriever=CftragRetriever(hierarchy=Hierarchy(pool, edges="categories", documents="no_such_table", embed=ASKED["embed"])), **told)
    assert 'relation "no_such_table" does not exist' in tool.invoke(call("search_documents", question=QUESTION)).content
    with pytest.raises(ToolException, match="no_such_table"):
        CftragSearchTool(retriever=tool.retriever).invoke(call("search_documents", question=QUESTION))
