"""A small shop in a schema of its own, on the server that PGHOST, PGDATABASE and the like name. Without them these tests are skipped."""

import os
from collections.abc import Iterator

import psycopg
import pytest

from cftrag import Hierarchy

SCHEMA = f"cftrag_python_{os.getpid()}"
QUESTION = "Which running shoes are there in size 42?"
EMBEDDING = [1.0, 0.0, 0.3]

SHOP = """
CREATE TABLE categories (id int PRIMARY KEY, parent_id int REFERENCES categories, name text);
INSERT INTO categories VALUES (1, NULL, 'Sports'), (2, 1, 'Shoes'), (3, 2, 'Running shoes'), (4, 2, 'Hiking boots'), (5, 3, 'Trail shoes'),
    (6, 2, 'Accessories'), (7, NULL, 'Camping'), (8, 7, 'Tents'), (9, 7, 'Accessories');
CREATE TABLE products (id int PRIMARY KEY, category_id int REFERENCES categories, body text, embedding vector(3), metadata jsonb, price numeric);
INSERT INTO products VALUES
    (1, 5, 'Grip for wet rock, 290 g.', '[0.9, 0.1, 0.2]', '{"brand": "Alta"}', 120),
    (2, 8, 'For two, in five minutes.', '[0.1, 0.9, 0.1]', '{"brand": "Alta"}', 300),
    (3, 6, 'Laces that stay tied.', '[0.6, 0.1, 0.7]', '{"brand": "Knot"}', 5.5),
    (4, 3, 'Light, for asphalt, size 42.', '[0.3, 0.2, 0.9]', '{"brand": "Knot"}', 90),
    (5, 4, 'Warm, with hooks.', '[0.8, 0.5, 0.1]', '{"brand": "Alta"}', 150),
    (6, 3, 'For long roads, size 40.', '[0.7, 0.2, 0.6]', '{"brand": "Alta"}', 110),
    (7, 9, 'Pegs for hard ground.', '[0.2, 0.8, 0.4]', '{"brand": "Knot"}', 12);
CREATE TABLE edges (tree text, parent text, child text);
INSERT INTO edges VALUES ('organisation', 'hospital', 'medicine'), ('organisation', 'medicine', 'cardiology'), ('organisation', 'cardiology', 'heart clinic'),
    ('building', 'hospital', 'east wing'), ('building', 'east wing', 'heart clinic'), (NULL, 'town', 'hospital');
CREATE TABLE parts (id uuid PRIMARY KEY, parent uuid, name text);
INSERT INTO parts VALUES ('00000000-0000-0000-0000-00000000000a', NULL, 'Engine'),
    ('00000000-0000-0000-0000-00000000000b', '00000000-0000-0000-0000-00000000000a', 'Pump');
CREATE TABLE acl (entity int, role text);
INSERT INTO acl VALUES (7, 'campers');
"""


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")


@pytest.fixture(scope="session")
def dsn() -> Iterator[str]:
    if not {"PGHOST", "PGDATABASE", "PGSERVICE"} & os.environ.keys():
        pytest.skip("no server: set PGHOST, PGDATABASE and the like")
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS cftrag CASCADE")
        schema = connection.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'cftrag'").fetchone()
        vector = connection.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'").fetchone()
        assert schema is not None and vector is not None
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        try:
            yield f"options='-c search_path={SCHEMA},{schema[0]},{vector[0]}'"
        finally:
            connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


@pytest.fixture(scope="session")
def shop(dsn: str) -> str:
    """The DSN of a session that finds the shop."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(SHOP)
        hierarchy = Hierarchy(connection, edges="categories", documents="products")
        hierarchy.attach(parent="parent_id", child="id", label="name")
        hierarchy.attach("edges", tree="tree")
        hierarchy.attach("parts", parent="parent", child="id", label="name")
        hierarchy.attach_grants("acl", edges="categories")
        hierarchy.attach_documents(entity="category_id", metadata="metadata", columns=["price"])
    return dsn


@pytest.fixture
def connection(shop: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(shop, autocommit=True) as connection:
        yield connection


@pytest.fixture
def hierarchy(connection: psycopg.Connection) -> Hierarchy:
    return Hierarchy(connection, edges="categories", documents="products", embed=lambda question: EMBEDDING)
