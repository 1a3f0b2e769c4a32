"""Without a server: what is sent."""

import datetime
import enum
import inspect
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy
import pgvector
import pytest

import cftrag
from cftrag import UNSET, AsyncHierarchy, Hierarchy
from cftrag import _values as send


class Shelf(str, enum.Enum):
    SHOES = "3"


class Number(enum.IntEnum):
    SHOES = 3


class Recorder:
    """In the place of connections: keeps the statements."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, list]] = []

    def fetch(self, statement: str, values: list) -> list:
        self.sent.append((statement, values))
        return [] if " FROM " in statement else [(None,)]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def hierarchy(recorder: Recorder) -> Hierarchy:
    hierarchy = Hierarchy("", edges="categories", documents="products", embed=lambda question: [len(question)])
    hierarchy._connections = recorder
    return hierarchy


def test_what_is_not_given_is_not_sent(hierarchy, recorder):
    hierarchy.retrieve("why", [1, 2.5])
    statement, values = recorder.sent[0]
    assert statement == (
        "SELECT source, entity, document_id, rank, distance, text, tokens, why, path FROM cft_retrieve(question => $1::text, embedding => $2::text::vector, "
        "edges => $3::text::regclass, documents => $4::text::regclass)"
    )
    assert values == ["why", "[1.0,2.5]", "categories", "products"]


def test_none_is_sent_as_null(hierarchy, recorder):
    hierarchy.retrieve("why", None, k=None, edges=None)
    statement, values = recorder.sent[0]
    assert "k => $3::integer, edges => $4::text::regclass" in statement
    assert values == ["why", None, None, None, "products"]


def test_the_question_is_embedded_where_no_embedding_is_given(hierarchy, recorder):
    hierarchy.prompt("four")
    assert recorder.sent[0][1][:2] == ["four", "[4.0]"]


def test_without_a_model_an_embedding_is_asked_for():
    with pytest.raises(TypeError, match="no embedding of the question: give embedding"):
        Hierarchy("").retrieve("why")


def test_an_asynchronous_model_is_refused_where_nobody_awaits_it():
    async def embed(question):
        return [1]

    with pytest.raises(TypeError, match="take AsyncHierarchy"):
        Hierarchy("", embed=embed).retrieve("why")


async def test_models_of_each_kind_are_awaited_or_called():
    async def embed(question):
        return [1]

    class Model:
        async def __call__(self, question):
            return [2]

    assert await send.embedded_async(embed, "why") == [1]
    assert await send.embedded_async(Model(), "why") == [2]
    assert await send.embedded_async(lambda question: [3], "why") == [3]
    assert await send.embedded_async(lambda question: embed(question), "why") == [1]


@pytest.mark.parametrize(
    ("given", "argument", "sent"),
    [
        (3, "entity => $1::text,", "3"),
        (numpy.int64(3), "entity => $1::text,", "3"),
        (Decimal("1E+3"), "entity => $1::text,", "1000"),
        ("Tents", "entity => $1::text,", "Tents"),
        (Shelf.SHOES, "entity => $1::text,", "3"),
        (Number.SHOES, "entity => $1::text,", "3"),
        ([Shelf.SHOES, Number.SHOES], "entities => $1::text[],", ["3", "3"]),
        (UUID(int=10), "entity => $1::text,", "00000000-0000-0000-0000-00000000000a"),
        ([3, "Tents"], "entities => $1::text[],", ["3", "Tents"]),
        ((7,), "entities => $1::text[],", ["7"]),
        (numpy.array([1, 2]), "entities => $1::text[],", ["1", "2"]),
        ((n for n in (1, 2)), "entities => $1::text[],", ["1", "2"]),
        ([], "entities => $1::text[],", []),
    ],
)
def test_entities(hierarchy, recorder, given, argument, sent):
    hierarchy.context(given)
    statement, values = recorder.sent[0]
    assert argument in statement and values[0] == sent


@pytest.mark.parametrize("given", [None, True, 1.5, Decimal("3.0"), Decimal("NaN"), b"Tents", {"id": 1}, [1.5], [True], [b"x"]])
def test_what_no_entity_is(hierarchy, given):
    with pytest.raises(TypeError, match="^entit"):
        hierarchy.context(given)


@pytest.mark.parametrize(
    "given",
    [[1, 0.5], (1, 0.5), numpy.array([1, 0.5]), numpy.array([1, 0.5], "float32"), pgvector.Vector([1, 0.5]), pgvector.HalfVector([1, 0.5]), "[1.0,0.5]"],
)
def test_embeddings(hierarchy, recorder, given):
    hierarchy.nearest_documents(given)
    assert recorder.sent[0][1][0].replace("1,", "1.0,").replace("1.0.0", "1.0") == "[1.0,0.5]"


@pytest.mark.parametrize("given", [1.5, {"a": 1}, numpy.array([[1.0], [2.0]]), ["1", "2"], [[1.0]], [None]])
def test_what_no_embedding_is(hierarchy, given):
    with pytest.raises(TypeError, match="^embedding: "):
        hierarchy.nearest_documents(given)


def test_filters(hierarchy, recorder):
    hierarchy.nearest_documents([1], filter={"a": Decimal("5"), "b": Decimal("5.5"), "c": datetime.date(2026, 1, 31), "d": UUID(int=10), "e": numpy.float64(2)})
    assert recorder.sent[0][1][-1] == '{"a": 5, "b": 5.5, "c": "2026-01-31", "d": "00000000-0000-0000-0000-00000000000a", "e": 2.0}'
    hierarchy.nearest_documents([1], filter='{"a": 1}')
    assert recorder.sent[1][1][-1] == '{"a": 1}'
    hierarchy.nearest_documents([1], filter={"$or": [{"a": {"$in": (Decimal("12345678901234567.89"), Decimal("1E+3"), None)}}, {'"': True}], 2024: Shelf.SHOES})
    assert recorder.sent[2][1][-1] == '{"$or": [{"a": {"$in": [12345678901234567.89, 1000, null]}}, {"\\"": true}], "2024": "3"}'
    for number in (float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")):
        with pytest.raises(ValueError, match="^filter: "):
            hierarchy.nearest_documents([1], filter={"a": number})
    with pytest.raises(TypeError, match="^filter: no object can stand in it"):
        hierarchy.nearest_documents([1], filter={"a": object()})
    with pytest.raises(TypeError, match="^filter: a dict is needed, not list"):
        hierarchy.nearest_documents([1], filter=[1])


@pytest.mark.parametrize("given", ["false", 1, 0])
def test_what_no_bool_is(hierarchy, given):
    with pytest.raises(TypeError, match="^overlapping: a bool is needed"):
        hierarchy.entities("why", overlapping=given)


def test_trees_and_within(hierarchy, recorder):
    hierarchy.entities("why", trees=["building", None], within=2)
    assert recorder.sent[0][1] == ["why", "categories", ["building", None], ["2"]]


def test_columns_are_names_and_classes_have_an_underscore(hierarchy, recorder):
    hierarchy.attach_words("words", word="w", class_="c")
    assert recorder.sent[0][0] == (
        "SELECT cft_attach_words(words => $1::text::regclass, word => $2::text::name, edges => $3::text::regclass, class => $4::text::name)"
    )


def test_nothing_that_is_given_stands_in_a_statement(hierarchy, recorder):
    evil = "x'); DROP TABLE products; --"
    hierarchy.retrieve(evil, evil, mode=evil, edges=evil, trees=[evil], within=[evil], documents=evil, filter={evil: evil}, match=evil, expand=evil)
    assert "DROP" not in recorder.sent[0][0] and evil in recorder.sent[0][1]


GIVEN = {
    "text": "x",
    "text[]": ["x"],
    "integer": 1,
    "float8": 0.5,
    "boolean": True,
    "text::name": "x",
    "text::regclass": "x",
    "text::regprocedure": "x",
    "text::vector": [1],
    "text::jsonb": {},
}
OTHER = ("close", "statistics", "database_statistics", "progress", "stats_reset")


@pytest.mark.parametrize("method", [name for name, value in vars(Hierarchy).items() if not name.startswith("_") and callable(value) and name not in OTHER])
def test_what_is_given_is_sent(hierarchy, recorder, method):
    tables = method.startswith("attach") or method in ("detach", "build_hierarchy", "filter_relations")
    kinds = send.TABLES if tables else send.ASKING
    names = [name for name in inspect.signature(getattr(hierarchy, method)).parameters]
    given = {name: GIVEN[kinds.get(name.rstrip("_"), send.COLUMN).cast] for name in names}
    getattr(hierarchy, method)(**given)
    statement, values = recorder.sent[0]
    assert re.findall(r"(\w+) => \$", statement) and set(re.findall(r"(\w+) => \$", statement)) == {name.rstrip("_") for name in names}
    assert len(values) == len(names)


def test_no_driver_is_imported_before_it_is_used():
    code = "import sys, cftrag; assert not {'psycopg', 'psycopg_pool', 'asyncpg', 'langchain_core', 'numpy'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_table_that_sql_needs_is_asked_for():
    with pytest.raises(TypeError, match="which table. Give edges"):
        Hierarchy("").build()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "give a psycopg connection, a psycopg_pool.ConnectionPool or a DSN"),
        (object(), "builtins.object runs no statements here: give a psycopg"),
        ("postgresql+psycopg://x", "write postgresql://"),
    ],
)
def test_what_statements_cannot_run_on(target, message):
    with pytest.raises(TypeError, match=message):
        Hierarchy(target)
    with pytest.raises(TypeError, match="AsyncConnection|write postgresql://"):
        AsyncHierarchy(target)


async def test_pools_of_the_other_kind_and_pools_that_are_not_open():
    from psycopg_pool import AsyncConnectionPool, ConnectionPool

    plain, asynchronous = ConnectionPool("", open=False), AsyncConnectionPool("", open=False)
    with pytest.raises(TypeError, match="is not asynchronous: take Hierarchy"):
        AsyncHierarchy(plain)
    with pytest.raises(TypeError, match="is asynchronous: take AsyncHierarchy"):
        Hierarchy(asynchronous)
    with pytest.raises(TypeError, match="the pool is not open"):
        Hierarchy(plain).roots()
    with pytest.raises(TypeError, match="the pool is not open: await pool.open"):
        await AsyncHierarchy(asynchronous).roots()

    import asyncpg

    with pytest.raises(TypeError, match="is asynchronous: take AsyncHierarchy"):
        Hierarchy(asyncpg.create_pool("postgresql://"))
    with pytest.raises(TypeError, match="the pool is not open: await asyncpg.create_pool"):
        await AsyncHierarchy(asyncpg.create_pool("postgresql://")).roots()


def test_unset_reads_well():
    assert repr(UNSET) == "UNSET"
    assert cftrag.Root(None, "1", "Sports") == cftrag.Root(None, "1", "Sports")


def test_sync_is_current():
    made = subprocess.run([sys.executable, Path(__file__).parents[1] / "make_sync.py", "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
