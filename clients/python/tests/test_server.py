"""Against a server: each method once, with what it returns, and the same from every driver."""

import dataclasses
import inspect
import os
import re
import signal
import time
import typing
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import psycopg
import pytest
from conftest import EMBEDDING, QUESTION
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

import cftrag
from cftrag import AsyncHierarchy, Hierarchy, _rows

pytestmark = pytest.mark.server

PUMP = UUID("00000000-0000-0000-0000-00000000000b")
CLINIC = "heart clinic"
EDGES = {"edges": "edges"}

# method, arguments, and of its rows these columns (None: the value itself), and what they are.
CASES = [
    ("context", (3,), {"up": 1}, "relation relative label", [("ancestor", "2", "Shoes"), ("descendant", "5", "Trail shoes")]),
    ("context", ([3, "8"],), {"up": 1, "down": 0}, "entity relative", [("3", "2"), ("8", "7")]),
    ("context", (PUMP,), {"edges": "parts"}, "relative via", [("00000000-0000-0000-0000-00000000000a", str(PUMP))]),
    ("context", (CLINIC,), {"trees": ["building"], "up": 1, **EDGES}, "tree depth relative", [("building", 1, "east wing")]),
    ("context", ("hospital",), {"trees": [None], **EDGES}, "tree relative", [(None, "town")]),
    ("context_text", (8,), {}, None, "The upward hierarchical relationship of Tents is: Camping."),
    ("context_text", ([8, 5],), {"template": "{entity}: {relatives}", "up": 1}, None, "Tents: Camping\nTrail shoes: Running shoes"),
    ("context_text", (99,), {}, None, None),
    ("context_parts", ([8],), {}, "entity relation text", [("8", "ancestor", "The upward hierarchical relationship of Tents is: Camping.")]),
    (
        "context_json",
        (8,),
        {},
        None,
        {
            "entity": "8",
            "label": "Tents",
            "trees": [{"tree": None, "ancestors": [{"entity": "7", "label": "Camping", "depth": 1, "via": "8"}], "descendants": []}],
        },
    ),
    ("context_json", ([99],), {}, None, []),
    ("tree", (8,), {"down": 0}, None, "Camping\n└── Tents (here)"),
    ("tree", (8,), {"format": "json", "lines": None}, None,
     '{"entity": "8", "label": "Tents", "trees": [{"tree": null, "tops": [{"entity": "7", "label": "Camping", '
     '"children": [{"entity": "8", "label": "Tents", "here": true, "children": []}]}]}]}'),
    ("under", (5, 2), {}, None, True),
    ("under", (5, [7, 8]), {}, None, False),
    ("under", (CLINIC, "medicine"), {"trees": ["building"], **EDGES}, None, False),
    ("descendants", (3,), {}, None, ["3", "5"]),
    ("descendants", ([3, 8],), {}, None, ["3", "5", "8"]),
    ("ancestors", (8,), {}, None, ["7", "8"]),
    ("allowed", (8, "acl"), {"law": "nearest", "roles": ["campers"]}, None, True),
    ("allowed", (8, "acl"), {"roles": None}, None, False),
    ("entities", (QUESTION,), {}, "entity mention start length method score", [("3", "running shoes", 7, 13, "exact", 1.0)]),
    ("entities", ("runing shoes",), {"within": [2]}, "entity label method", [("3", "Running shoes", "typo")]),
    ("entities", ("tent",), {}, "entity method score", [("8", "inflected", 0.95)]),
    ("entities", ("runing shoes",), {"match": "exact"}, "entity", [("2",)]),
    ("resolve", ("Camping > Accessories",), {}, "entity score method label", [("9", 1.0, "path", "Accessories")]),
    ("resolve", ("a thing",), {"embedding": EMBEDDING, "k": 1}, "entity method", [("5", "nearest")]),
    ("linked", (1,), {}, "entity", [("5",)]),
    ("documents", (3,), {}, "document_id", [("4",), ("6",)]),
    ("nearest_documents", (EMBEDDING,), {"k": 2}, "document_id entity body tokens",
     [("1", "5", "Grip for wet rock, 290 g.", 7), ("6", "3", "For long roads, size 40.", 6)]),
    ("nearest_documents", (EMBEDDING,), {"within": 7, "filter": {"brand": "Knot"}}, "document_id", [("7",)]),
    ("nearest_documents", (EMBEDDING,), {"filter": {"price": {"$lt": 50}}}, "document_id", [("3",), ("7",)]),
    ("nearest_entities", (EMBEDDING,), {"k": 1}, "entity label", [("5", "Trail shoes")]),
    ("chunks", (8,), {"up": 1, "down": 0}, "relation relative document_id distance", [("self", "8", "2", None)]),
    ("chunks", ([5, 8],), {"embedding": EMBEDDING, "up": 0}, "entity document_id", [("5", "1"), ("8", "2")]),
    ("retrieve", (QUESTION,), {"k": 1, "chunks": 1}, "source entity document_id rank",
     [("document", "5", "1", 1), ("hierarchy", "3", None, 1), ("hierarchy", "3", None, 2), ("chunk", "3", "6", 1)]),
    ("retrieve", (QUESTION, None), {"chunks": 0, "match": "exact"}, "source text",
     [("hierarchy", "Above Running shoes: Shoes, Sports."), ("hierarchy", "Below Running shoes: Trail shoes.")]),
    ("prompt", (QUESTION, EMBEDDING), {"k": 1, "chunks": 0, "template": "{documents}|{hierarchy}", "document_template": "{id}", "down": 0}, None,
     "1|Above Running shoes: Shoes, Sports."),
    ("neighbors", (8,), {"direction": "up"}, "hops neighbor label", [(1, "7", "Camping")]),
    ("path", (5, 6), {}, "hops path steps labels", [(3, ["5", "3", "2", "6"], ["up", "up", "down"], ["Trail shoes", "Running shoes", "Shoes", "Accessories"])]),
    ("explain_path", (8, 7), {}, None, "Tents is under Camping."),
    ("lca", (5, 6), {}, "ancestor depth_a depth_b label", [("2", 2, 1, "Shoes")]),
    ("depth", (5,), {}, "tree depth", [(None, 3)]),
    ("subtree_size", (2,), {}, "size", [(5,)]),
    ("roots", (), {}, "tree root label", [(None, "1", "Sports"), (None, "7", "Camping")]),
    ("roots", (), {"trees": ["building"], **EDGES}, "root", [("hospital",)]),
    ("path_prefix", (5,), {"separator": "/"}, None, "Sports/Shoes/Running shoes/Trail shoes"),
    ("path_prefixes", ([8, 9],), {}, "entity path prefix", [("8", ["7", "8"], "Camping > Tents"), ("9", ["7", "9"], "Camping > Accessories")]),
    ("tree_search", (EMBEDDING,), {"k": 1}, "entity depth label", [("5", 3, "Trail shoes")]),
    ("expand", ([5, 6],), {"k": 2}, "entity hit", [("5", True), ("6", True)]),
    ("bridge", ([5, 3],), {}, "parent child parent_label", [("3", "5", "Running shoes")]),
    ("coarse_fine", (EMBEDDING,), {"coarse_k": 1, "fine_k": 1}, "part entity", [("global", "3"), ("local", "5")]),
    ("build_hierarchy", ("edges", "parent", "child"), {"height": 2}, "tree parent", [("edges", "community")]),
    ("extract_relations", ("The hospital contains the east wing.",), {}, "parent child relation", [("hospital", "east wing", "contains")]),
    ("filter_relations", ("edges", "parent", "child"), {"tree": "tree"}, "kept reason", [(True, None)] * 6),
    ("check_edges", (), {}, "kept", [(True,)] * 9),
    ("summarize_extractive", ("Tents", ["document"], ["For two. In five minutes."]), {}, None, "Tents: For two."),
    ("verify", (), {}, "problem", []),
    ("statistics", (), {}, "edges state", [("categories", "ready"), ("edges", "ready"), ("parts", "ready")]),
    ("database_statistics", (), {}, "datname images", []),
    ("progress", (), {}, "edges", []),
]


def shown(method, columns, found):
    """Of rows those columns; what has no order, or is not ours alone, made comparable."""
    if columns is None:
        return sorted(found) if method in ("descendants", "ancestors") else found
    rows = [tuple(getattr(row, column) for column in columns.split()) for row in found]
    if method in ("database_statistics", "progress"):
        return []
    if method == "statistics":
        return sorted(row for row in rows if row[0] in ("categories", "edges", "parts"))
    return rows[:1] if method == "build_hierarchy" else rows


@pytest.fixture(scope="session")
def built(shop):
    with Hierarchy(shop) as hierarchy:
        for edges in ("categories", "edges", "parts"):
            hierarchy.build(edges)


@pytest.mark.parametrize(("method", "arguments", "named", "columns", "expected"), CASES)
def test_each_method(built, hierarchy, method, arguments, named, columns, expected):
    found = getattr(hierarchy, method)(*arguments, **named)
    assert shown(method, columns, found) == expected
    for row in found if columns else []:
        for name, hint in typing.get_type_hints(type(row)).items():
            assert fits(getattr(row, name), hint), (name, hint)


def fits(value, hint):
    """Whether a value is of the type that a row says it has."""
    kinds = [hint] if isinstance(hint, type) or typing.get_origin(hint) is list else typing.get_args(hint)
    return any(isinstance(value, typing.get_origin(kind) or kind) for kind in kinds)


ASKED = {"edges": "categories", "documents": "products", "embed": lambda question: EMBEDDING}


@asynccontextmanager
async def asynchronous(driver, dsn):
    schema = dsn.split("search_path=")[1].rstrip("'")
    if driver == "psycopg connection":
        async with await psycopg.AsyncConnection.connect(dsn, row_factory=dict_row, autocommit=True) as connection:
            yield AsyncHierarchy(connection, **ASKED)
    elif driver == "psycopg pool":
        async with AsyncConnectionPool(dsn, open=False, kwargs={"row_factory": dict_row}) as pool:
            yield AsyncHierarchy(pool, **ASKED)
    elif driver == "DSN":
        async with AsyncHierarchy(dsn, **ASKED) as hierarchy:
            yield hierarchy
    elif driver == "asyncpg connection":
        connection = await asyncpg.connect(server_settings={"search_path": schema})
        try:
            yield AsyncHierarchy(connection, **ASKED)
        finally:
            await connection.close()
    else:
        async with asyncpg.create_pool(min_size=1, max_size=2, server_settings={"search_path": schema}) as pool:
            if driver == "asyncpg pool":
                yield AsyncHierarchy(pool, **ASKED)
            else:
                async with pool.acquire() as connection:
                    yield AsyncHierarchy(connection, **ASKED)


@pytest.mark.parametrize("driver", ["psycopg connection", "psycopg pool", "DSN", "asyncpg connection", "asyncpg pool", "connection of an asyncpg pool"])
async def test_each_method_from_each_asynchronous_driver(built, shop, driver):
    async with asynchronous(driver, shop) as hierarchy:
        for method, arguments, named, columns, expected in CASES:
            assert shown(method, columns, await getattr(hierarchy, method)(*arguments, **named)) == expected, method


async def test_whole_rows_are_equal_from_every_driver(built, shop, hierarchy):
    async with asynchronous("asyncpg pool", shop) as other:
        for method, arguments, named, _, _ in CASES:
            if "statistics" not in method and method != "progress":
                one, two = getattr(hierarchy, method)(*arguments, **named), await getattr(other, method)(*arguments, **named)
                assert (sorted(one), type(one)) == (sorted(two), type(two)) if method == "descendants" else one == two, method


@pytest.mark.parametrize("kind", ["pool", "DSN", "connection with other rows"])
def test_each_method_from_each_other_target(built, shop, kind):
    if kind == "pool":
        with ConnectionPool(shop, open=True, kwargs={"row_factory": dict_row}) as target:
            every_case(Hierarchy(target, **ASKED))
    elif kind == "DSN":
        with Hierarchy(shop, **ASKED) as hierarchy:
            every_case(hierarchy)
    else:
        with psycopg.connect(shop, row_factory=dict_row, autocommit=True) as target:
            every_case(Hierarchy(target, **ASKED))


def every_case(hierarchy):
    for method, arguments, named, columns, expected in CASES:
        assert shown(method, columns, getattr(hierarchy, method)(*arguments, **named)) == expected, method


def test_a_closed_hierarchy_has_no_connection_left(shop):
    with psycopg.connect(shop, autocommit=True) as watcher:
        named = f"application_name=cftrag_closes_{os.getpid()} {shop}"
        with Hierarchy(named) as hierarchy:
            hierarchy.roots("categories")
            assert count(watcher) >= 1
        for _ in range(100):
            if count(watcher) == 0:
                break
            time.sleep(0.05)
        assert count(watcher) == 0
        with pytest.raises(RuntimeError, match="it is closed"):
            hierarchy.roots("categories")
        with hierarchy:
            assert [row.root for row in hierarchy.roots("categories")] == ["1", "7"]


async def test_a_closed_asynchronous_hierarchy_opens_again(shop):
    async with AsyncHierarchy(shop) as hierarchy:
        pass
    with pytest.raises(RuntimeError, match="it is closed"):
        await hierarchy.roots("categories")
    async with hierarchy:
        assert [row.root for row in await hierarchy.roots("categories")] == ["1", "7"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process.* is multi-threaded:DeprecationWarning")
def test_after_a_fork_the_child_has_a_pool_of_its_own(shop):
    with Hierarchy(shop) as hierarchy:
        parents = {backend(hierarchy) for _ in range(10)}
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            signal.alarm(20)
            try:
                os.write(writer, backend(hierarchy).encode())
                hierarchy.close()
            finally:
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        of_the_child = os.read(reader, 100).decode()
        os.close(reader)
        assert of_the_child.isdecimal() and of_the_child not in parents
        assert backend(hierarchy) != of_the_child


def backend(hierarchy):
    [(pid,)] = hierarchy._connections.fetch("SELECT pg_backend_pid()::text", [])
    return pid


def test_a_connection_of_the_own_pool_that_was_ended_is_replaced(shop):
    with Hierarchy(shop) as hierarchy, psycopg.connect(shop, autocommit=True) as other:
        ended = backend(hierarchy)
        other.execute("SELECT pg_terminate_backend(%s::int, 5000)", [ended])
        assert backend(hierarchy) != ended


async def test_a_connection_of_the_own_asynchronous_pool_that_was_ended_is_replaced(shop):
    async with AsyncHierarchy(shop) as hierarchy:
        with psycopg.connect(shop, autocommit=True) as other:
            [(ended,)] = await hierarchy._connections.fetch("SELECT pg_backend_pid()", [])
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [ended])
        assert (await hierarchy._connections.fetch("SELECT pg_backend_pid()", []))[0][0] != ended


def count(watcher):
    return watcher.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (f"cftrag_closes_{os.getpid()}",)).fetchone()[0]


def test_a_given_connection_stays_in_its_transaction(shop):
    with psycopg.connect(shop) as connection:
        hierarchy = Hierarchy(connection, edges="categories")
        connection.execute("INSERT INTO categories VALUES (10, 8, 'Tunnel tents')")
        assert hierarchy.descendants(8) == ["8", "10"]
        connection.rollback()
        assert hierarchy.descendants(8) == ["8"]


def test_errors_are_those_of_the_driver(connection, hierarchy):
    with pytest.raises(psycopg.errors.UndefinedTable) as error:
        hierarchy.context(3, edges="no_such_table")
    assert error.value.sqlstate == "42P01"
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        hierarchy.context(3, up=-1)
    with pytest.raises(psycopg.Error) as error:
        Hierarchy(connection).context(3)
    assert error.value.sqlstate == "42725"


def test_a_wrong_dsn_is_said_at_once(shop):
    with pytest.raises(psycopg.OperationalError, match="no_such_database"):
        Hierarchy("dbname=no_such_database").roots()


async def test_errors_of_asyncpg(shop):
    async with asynchronous("asyncpg pool", shop) as hierarchy:
        with pytest.raises(asyncpg.UndefinedTableError):
            await hierarchy.context(3, edges="no_such_table")


@pytest.fixture
def private(connection):
    """Tables that tests attach and change; gone at the end."""
    with connection.transaction(force_rollback=True):
        connection.execute("""
            CREATE TABLE units (parent text, child text);
            INSERT INTO units VALUES ('hospital', 'renal clinic'), ('hospital', 'pharmacy');
            CREATE TABLE notes (key int PRIMARY KEY, words text, vec vector(2));
            INSERT INTO notes VALUES (1, 'The pharmacy is open.', '[1, 0]')""")
        hierarchy = Hierarchy(connection, edges="units", documents="notes")
        hierarchy.attach()
        yield connection, hierarchy


def test_attach_aliases_words_labels_and_phrases(private):
    connection, hierarchy = private
    connection.execute("CREATE TABLE aliases (alias text, entity text); INSERT INTO aliases VALUES ('apothecary', 'pharmacy')")
    hierarchy.attach_aliases("aliases")
    connection.execute("CREATE TABLE words (word text, class text); INSERT INTO words VALUES ('kidney', 'k'), ('renal', 'k')")
    hierarchy.attach_words("words")
    found = hierarchy.entities("The apothecary of the kidney clinic")
    assert [(row.entity, row.method) for row in found] == [("pharmacy", "exact"), ("renal clinic", "synonym")]
    connection.execute("CREATE TABLE phrases (up text, down text); INSERT INTO phrases VALUES ('{entity} gehört zu: {names}.', NULL)")
    hierarchy.attach_phrases("phrases", tree=None)
    assert [row.text for row in hierarchy.retrieve("pharmacy", None, documents=None)] == ["pharmacy gehört zu: hospital."]
    connection.execute("CREATE TABLE labels (id text, name text); INSERT INTO labels VALUES ('pharmacy', 'Dispensary')")
    hierarchy.attach_labels("labels")
    assert [row.label for row in hierarchy.context("hospital")] == ["Dispensary", None]
    hierarchy.detach("labels")
    assert [row.label for row in hierarchy.context("hospital")] == [None, None]


def test_attach_documents_that_link_themselves(private):
    connection, hierarchy = private
    hierarchy.attach_documents(id="key", body="words", embedding="vec", link=True)
    assert [(row.entity, row.mentions) for row in hierarchy.linked(1)] == [("pharmacy", 1)]
    assert hierarchy.relink() == 0


def test_embeddings_and_summaries(private):
    connection, hierarchy = private
    connection.execute("CREATE TABLE vectors (entity text, embedding vector(2)); INSERT INTO vectors VALUES ('pharmacy', '[1, 0]')")
    hierarchy.attach_embeddings("vectors")
    assert [(row.entity, row.score) for row in hierarchy.nearest_entities([1, 0], documents=None)] == [("pharmacy", 1.0)]
    connection.execute("CREATE TABLE texts (entity text, summary text)")
    connection.execute("ALTER TABLE notes ADD entity text DEFAULT 'pharmacy'")
    hierarchy.attach_documents(id="key", body="words", embedding="vec", entity="entity")
    hierarchy.attach_summaries("texts")
    assert hierarchy.rollup_status()[0].due > 0
    due = hierarchy.rollup_next()[0]
    hierarchy.rollup_done(due.entity, "A summary.")
    assert connection.execute("SELECT summary FROM texts WHERE entity = %s", (due.entity,)).fetchone() == ("A summary.",)
    hierarchy.rollup_mark([due.entity])
    done = hierarchy.rollup()[0]
    assert done.summarized > 0 and done.extractive and done.by_function == "cft_summarize_extractive(text,text[],text[])"


def test_health(hierarchy):
    [row] = hierarchy.health()
    assert row.status in ("ok", "warning", "critical") and row.checked is None
    [library] = [row for row in hierarchy.health(detail=True) if row.checked == "library"]
    assert (library.status, library.hint) == ("ok", None)


def test_hot_entities_and_counters(hierarchy):
    hierarchy.stats_reset()
    hierarchy.context(3)
    assert "3" in [row.entity for row in hierarchy.hot_entities(100)]
    assert [row.image_calls > 0 for row in hierarchy.statistics() if row.edges == "categories"] == [True]


# Of the forms that take integers and uuids.
FORMS = {"id", "ids", "uuid", "uuids", "id_a", "id_b", "uuid_a", "uuid_b"}
FUNCTIONS = """
    SELECT substr(proname, 5), proargnames[:pronargs], ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes::oid[]) AS t)
      FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid AND deptype = 'e' JOIN pg_extension e ON e.oid = refobjid AND extname = 'cftrag'
     WHERE pronamespace = extnamespace AND prorettype <> 'trigger'::regtype"""


def test_every_function_of_the_catalog_has_a_method_with_its_arguments(connection):
    several = {"ancestors": "ancestor", "class": "class_"}
    found = connection.execute(FUNCTIONS).fetchall()
    assert len(found) > 100
    for name, arguments, _ in found:
        for kind in (Hierarchy, AsyncHierarchy):
            parameters = inspect.signature(getattr(kind, name)).parameters
            for argument in arguments or []:
                if argument not in FORMS or name == "attach_documents":
                    argument = several.get(argument, argument)
                    assert argument in parameters or argument == "entities" and "entity" in parameters, (name, argument)


def test_what_has_a_kind_by_its_name_has_that_type_in_sql(connection):
    same = {"text::regclass": "regclass", "text::regprocedure": "regprocedure", "text::name": "name", "text::vector": "vector", "text::jsonb": "jsonb",
            "float8": "double precision"}
    for name, arguments, types in connection.execute(FUNCTIONS).fetchall():
        tables = name.startswith("attach") or name in ("detach", "build_hierarchy", "filter_relations")
        kinds = cftrag._values.TABLES if tables else cftrag._values.ASKING
        for argument, type_ in zip(arguments or [], types, strict=True):
            kind = kinds.get(argument, cftrag._values.COLUMN)
            if argument not in FORMS and not {"bigint", "bigint[]", "uuid", "uuid[]", "integer"} & set(types[:1]):
                assert same.get(kind.cast, kind.cast) == type_, (name, argument)


COLUMNS = """
    WITH f AS (SELECT * FROM pg_proc WHERE proname = %(function)s AND proretset LIMIT 1)
    SELECT name FROM f, unnest(proargnames, proargmodes) AS u(name, mode) WHERE mode = 't'
    UNION ALL SELECT attname FROM f JOIN pg_type AS t ON t.oid = prorettype JOIN pg_attribute ON attrelid = typrelid AND attnum > 0"""


def test_rows_have_the_columns_of_the_catalog(connection):
    views = {"Statistics": "pg_stat_cftrag", "DatabaseStatistics": "pg_stat_cftrag_databases", "Progress": "pg_stat_progress_cftrag"}
    source = inspect.getsource(cftrag._sync)
    for kind in vars(_rows).values():
        if not dataclasses.is_dataclass(kind):
            continue
        fields = [field.name for field in dataclasses.fields(kind)]
        if kind.__name__ in views:
            columns = connection.execute(f"SELECT * FROM {views[kind.__name__]} LIMIT 0").description
        else:
            function = re.search(rf'\b{kind.__name__}, "(cft_\w+)"', source)[1]
            columns = connection.execute(COLUMNS, {"function": function}).fetchall()
        assert sorted(fields) == sorted(column[0] for column in columns), kind
