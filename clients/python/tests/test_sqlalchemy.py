"""cftrag.sqlalchemy: what a statement of SQLAlchemy's gives is what the same SQL, written by hand, gives."""

import os
from collections.abc import Iterator

import pytest
from conftest import EMBEDDING, QUESTION
from sqlalchemy import URL, BigInteger, ForeignKey, Numeric, SmallInteger, String, Text, cast, create_engine, func, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from cftrag.sqlalchemy import context, entities, prompt, retrieve, under

SHOP = {"edges": "categories", "documents": "products"}


class Base(DeclarativeBase):
    pass


class Category(Base):
    __tablename__ = "categories"
    id: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("categories.id"))
    name: Mapped[str]


class Product(Base):
    __tablename__ = "products"
    id: Mapped[int] = mapped_column(primary_key=True)
    category_id: Mapped[int] = mapped_column(ForeignKey("categories.id"))
    body: Mapped[str] = mapped_column(Text)
    price: Mapped[float] = mapped_column(Numeric)


def schema(shop: str) -> str:
    return shop.split("search_path=")[1].rstrip("'")


def url(driver: str) -> URL:
    at = {"host": os.environ.get("PGHOST"), "port": os.environ.get("PGPORT")}
    user = os.environ.get("PGUSER")
    return URL.create(driver, username=user, database=os.environ.get("PGDATABASE"), query={name: value for name, value in at.items() if value})


@pytest.fixture
def session(shop: str) -> Iterator[Session]:
    engine = create_engine(url("postgresql+psycopg"), connect_args={"options": f"-c search_path={schema(shop)}"})
    with Session(engine) as session:
        yield session
    engine.dispose()


# A statement, and the same in SQL, written by hand.
SAME = {
    "retrieve": (
        lambda: select(retrieve(QUESTION, EMBEDDING, k=3, chunks=2, within=[2], filter={"brand": "Alta"}, **SHOP)),
        "SELECT * FROM cft_retrieve(:question, :embedding, k => 3, chunks => 2, edges => 'categories', within => '{2}', documents => 'products', "
        "filter => '{\"brand\": \"Alta\"}')",
    ),
    "retrieve without an embedding": (
        lambda: select(retrieve(QUESTION, None, budget=30, **SHOP)),
        "SELECT * FROM cft_retrieve(:question, NULL, budget => 30, edges => 'categories', documents => 'products')",
    ),
    "context": (lambda: select(context(3, up=1, edges="categories")), "SELECT * FROM cft_context(3, up => 1, edges => 'categories')"),
    "context of several": (
        lambda: select(context(["heart clinic", "east wing"], edges="edges", trees=["building", None])),
        "SELECT * FROM cft_context(ARRAY['heart clinic', 'east wing'], edges => 'edges', trees => '{building,NULL}')",
    ),
    "context of each row": (
        lambda: select(Product.id, (found := context(Product.category_id, down=0, edges="categories")).c.depth, found.c.label)
        .order_by(Product.id, found.c.depth),
        "SELECT p.id, c.depth, c.label FROM products p, cft_context(p.category_id, down => 0, edges => 'categories') c ORDER BY 1, 2",
    ),
    "entities": (
        lambda: select(entities("runing shoes or tents?", edges="categories", match="fuzzy", narrow=True)),
        "SELECT * FROM cft_entities('runing shoes or tents?', edges => 'categories', match => 'fuzzy', narrow => true)",
    ),
    "entities of each text": (
        lambda: select(Category.id, (found := entities(Category.name, edges="categories")).c.entity).order_by(Category.id, found.c.entity),
        "SELECT c.id, e.entity FROM categories c, cft_entities(c.name, edges => 'categories') e ORDER BY 1, 2",
    ),
    "prompt": (
        lambda: select(prompt(QUESTION, EMBEDDING, k=2, document_template="[{id}] {text}", **SHOP)),
        "SELECT cft_prompt(:question, :embedding, k => 2, document_template => '[{id}] {text}', edges => 'categories', documents => 'products')",
    ),
    "prompt in FROM": (
        lambda: select(prompt(QUESTION, EMBEDDING, k=1, **SHOP).column_valued("prompt")),
        "SELECT p FROM cft_prompt(:question, :embedding, k => 1, edges => 'categories', documents => 'products') p",
    ),
    "under": (
        lambda: select(Product.id).where(under(Product.category_id, 2, edges="categories"), Product.price < 115).order_by(Product.id),
        "SELECT id FROM products WHERE cft_under(category_id, 2, edges => 'categories') AND price < 115 ORDER BY id",
    ),
    "not under": (
        lambda: select(Product.id).where(~under(Product.category_id, [3, 7], edges="categories") | (Product.id == 2)).order_by(Product.id),
        "SELECT id FROM products WHERE NOT cft_under(category_id, '{3,7}'::text[], edges => 'categories') OR id = 2 ORDER BY id",
    ),
    "under an entity of each row": (
        lambda: select(Category.name, func.count()).join(Product, under(Product.category_id, Category.id, edges="categories")).group_by(Category.name)
        .order_by(Category.name),
        "SELECT c.name, count(*) FROM categories c JOIN products p ON cft_under(p.category_id, c.id, edges => 'categories') GROUP BY 1 ORDER BY 1",
    ),
    "joined to a table": (
        lambda: select(Product.id, (found := retrieve(QUESTION, EMBEDDING, k=2, **SHOP)).c.why).join(found, func.text(Product.id) == found.c.document_id)
        .order_by(found.c.source.desc(), found.c.rank),
        "SELECT p.id, r.why FROM products p JOIN cft_retrieve(:question, :embedding, k => 2, edges => 'categories', documents => 'products') r "
        "ON p.id::text = r.document_id ORDER BY r.source DESC, r.rank",
    ),
}


def by_hand(statement: str):
    statement = text(statement)
    given = {"question": QUESTION, "embedding": str(EMBEDDING)}
    casts = {":question": "CAST(:question AS text)", ":embedding": "CAST(CAST(:embedding AS text) AS vector)"}
    for name, converted in casts.items():
        statement = text(statement.text.replace(name, converted, 1)) if name in statement.text else statement
    return statement.bindparams(**{name: value for name, value in given.items() if f":{name}" in statement.text})


@pytest.mark.server
@pytest.mark.parametrize("case", SAME)
def test_a_statement_gives_what_its_sql_gives(session, case):
    statement, sql = SAME[case]
    rows = session.execute(by_hand(sql)).all()
    assert rows and session.execute(statement()).all() == rows


@pytest.mark.server
async def test_the_same_on_asyncpg(shop):
    engine = create_async_engine(url("postgresql+asyncpg"), connect_args={"server_settings": {"search_path": schema(shop)}})
    async with engine.connect() as connection:
        for case, (statement, sql) in SAME.items():
            rows = (await connection.execute(by_hand(sql))).all()
            assert rows and (await connection.execute(statement())).all() == rows, case
    await engine.dispose()


@pytest.mark.server
def test_under_is_true_of_a_subtree(session):
    def ids(ancestor, **arguments):
        condition = under(Product.category_id, ancestor, edges="categories", **arguments)
        return session.scalars(select(Product.id).where(condition).order_by(Product.id)).all()

    assert ids(2) == [1, 3, 4, 5, 6]
    assert ids([3, "8"]) == [1, 2, 4, 6]
    assert ids([]) == [] and ids(None) == [] and ids(2, trees=["nowhere"]) == []
    for type_ in (SmallInteger(), Numeric(3), BigInteger(), String(9)):
        other = under(cast(Product.category_id, type_), 7, edges="categories")
        assert session.scalars(select(Product.id).where(other).order_by(Product.id)).all() == [2, 7]


@pytest.mark.server
def test_an_index_serves_under(session):
    session.execute(text("CREATE INDEX ON products (category_id)"))
    session.execute(text("SET enable_seqscan = off"))
    statement = select(Product.id).where(under(Product.category_id, 2, edges="categories"))
    compiled = statement.compile(session.get_bind())
    plan = session.connection().exec_driver_sql(f"EXPLAIN {compiled}", compiled.params).scalars().all()
    assert any("Index Cond: (category_id = ANY (" in line and "cft_descendants('{2}'" in line for line in plan), plan


def test_only_what_is_given_is_sent_and_by_its_name():
    compiled = select(retrieve("why", [1], k=None, edges="e").c.text).compile(dialect=postgresql.dialect())
    sent = str(compiled).replace("::VARCHAR", "").replace("::INTEGER", "")
    assert "cft_retrieve(question => CAST(%(param_1)s AS TEXT), embedding => CAST(CAST(%(param_2)s AS TEXT) AS vector), " in sent
    assert "k => CAST(%(param_3)s AS INTEGER), edges => CAST(CAST(%(param_4)s AS TEXT) AS REGCLASS))" in sent
    assert list(compiled.params.values()) == ["why", "[1.0]", None, "e"]


def test_columns_have_types():
    assert {name: type(column.type).__name__ for name, column in retrieve("why", None).c.items()} == {
        "source": "Text", "entity": "Text", "document_id": "Text", "rank": "Integer", "distance": "Double", "text": "Text", "tokens": "Integer", "why": "Text",
        "path": "Text",
    }


@pytest.mark.parametrize(("call", "message"), [
    (lambda: context(None), "^entity: an entity is a str"),
    (lambda: retrieve(None, None), "^question: a str"),
    (lambda: under(Product.category_id, 1.5), "^ancestors: a list of str"),
    (lambda: retrieve("why", ["x"]), "^embedding: a list of numbers"),
])
def test_what_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()
