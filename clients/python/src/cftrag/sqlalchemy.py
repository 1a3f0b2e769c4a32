"""cftrag for SQLAlchemy 2: functions of cftrag as FROM items and conditions of your statements. Installed by the extra sqlalchemy.

    found = retrieve("Which shoes?", embedding, k=3, edges="categories")
    select(found.c.source, found.c.text)
    select(Product).where(under(Product.category_id, 2, edges="categories"), Product.price < 100)

Statements run on psycopg and on asyncpg. Any argument may be a value, as a method of Hierarchy takes it, or an expression of SQLAlchemy's, such as
a column. What is not given is not sent. The schemas of cftrag and pgvector must be in the search_path.
"""

from typing import Any, TypeAlias, TypeVar, get_args, get_type_hints

from sqlalchemy import ARRAY, Boolean, Double, Integer, Numeric, SmallInteger, SQLColumnExpression, Text, cast, column, func, literal, literal_column
from sqlalchemy.dialects.postgresql import JSONB, REGCLASS
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import Function
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.types import TypeEngine, UserDefinedType

from . import _values as send
from ._rows import Mention, Relative, Retrieved
from ._values import UNSET, Arg, Embedding, Entities, Filter, Trees, Within

T = TypeVar("T")
Sql: TypeAlias = SQLColumnExpression[Any]


class _Vector(UserDefinedType[Any]):
    """pgvector's type, as the name to cast to."""

    cache_ok = True

    def get_col_spec(self, **keywords: Any) -> str:
        return "vector"


TEXTS: TypeEngine[Any] = ARRAY(Text())
TYPES: dict[str, TypeEngine[Any]] = {
    "text": Text(), "text[]": TEXTS, "integer": Integer(), "float8": Double(), "boolean": Boolean(), "regclass": REGCLASS(), "vector": _Vector(),
    "jsonb": JSONB(),
}
COLUMNS: dict[type[Any], TypeEngine[Any]] = {str: Text(), int: Integer(), float: Double(), bool: Boolean()}


def context(
    entity: Entities | Sql, *, up: Arg[int] | Sql = UNSET, down: Arg[int] | Sql = UNSET, edges: Arg[str] | Sql = UNSET, trees: Trees | Sql = UNSET
) -> TableValuedAlias:
    """cft_context as a FROM item: the ancestors and descendants of an entity, of several, or of a column's entity row by row."""
    return _rows("cft_context", Relative, **_one_or_many(entity), up=up, down=down, edges=edges, trees=trees)


def entities(
    question: str | Sql, *, edges: Arg[str] | Sql = UNSET, trees: Trees | Sql = UNSET, within: Within | Sql = UNSET, overlapping: Arg[bool] | Sql = UNSET,
    match: Arg[str] | Sql = UNSET, narrow: Arg[bool] | Sql = UNSET
) -> TableValuedAlias:
    """cft_entities as a FROM item: the entities that a text, or a column of texts, mentions."""
    return _rows(
        "cft_entities", Mention, question=question, edges=edges, trees=trees, within=within, overlapping=overlapping, match=match, narrow=narrow
    )


def retrieve(
    question: str | Sql, embedding: Embedding | None | Sql, *, k: Arg[int] | Sql = UNSET, chunks: Arg[int] | Sql = UNSET, up: Arg[int] | Sql = UNSET,
    down: Arg[int] | Sql = UNSET, budget: Arg[int] | Sql = UNSET, mode: Arg[str] | Sql = UNSET, edges: Arg[str] | Sql = UNSET, trees: Trees | Sql = UNSET,
    within: Within | Sql = UNSET, documents: Arg[str] | Sql = UNSET, filter: Filter | Sql = UNSET, match: Arg[str] | Sql = UNSET,
    narrow: Arg[bool] | Sql = UNSET, expand: Arg[str] | Sql = UNSET
) -> TableValuedAlias:
    """cft_retrieve as a FROM item: the nearest documents, sentences of the hierarchy, and chunks; embedding None: by words alone.

    Rows come in its order while nothing is joined to them; else order by what you need.
    """
    return _rows(
        "cft_retrieve", Retrieved, question=question, embedding=embedding, k=k, chunks=chunks, up=up, down=down, budget=budget, mode=mode, edges=edges,
        trees=trees, within=within, documents=documents, filter=filter, match=match, narrow=narrow, expand=expand
    )


def prompt(
    question: str | Sql, embedding: Embedding | None | Sql, *, k: Arg[int] | Sql = UNSET, chunks: Arg[int] | Sql = UNSET, up: Arg[int] | Sql = UNSET,
    down: Arg[int] | Sql = UNSET, budget: Arg[int] | Sql = UNSET, mode: Arg[str] | Sql = UNSET, edges: Arg[str] | Sql = UNSET, trees: Trees | Sql = UNSET,
    within: Within | Sql = UNSET, documents: Arg[str] | Sql = UNSET, template: Arg[str] | Sql = UNSET, filter: Filter | Sql = UNSET,
    match: Arg[str] | Sql = UNSET, narrow: Arg[bool] | Sql = UNSET, document_template: Arg[str] | Sql = UNSET, expand: Arg[str] | Sql = UNSET
) -> Function[str]:
    """cft_prompt, one text: select(prompt(...)), or prompt(...).column_valued("prompt") as a FROM item."""
    return _function(
        "cft_prompt", Text(), question=question, embedding=embedding, k=k, chunks=chunks, up=up, down=down, budget=budget, mode=mode, edges=edges, trees=trees,
        within=within, documents=documents, template=template, filter=filter, match=match, narrow=narrow, document_template=document_template, expand=expand
    )


def under(entity: Sql, ancestor: Entities | None | Sql, *, edges: Arg[str] | Sql = UNSET, trees: Trees | Sql = UNSET) -> ColumnElement[bool]:
    """cft_under as a condition: whether a column's entity is an ancestor, or one of a list of these, or below one, at any depth.

    An index on the column serves it. For columns of text, varchar, integers and uuid; another ancestor for each row is an expression of the column's type.
    """
    if isinstance(_type(entity), SmallInteger):
        entity = cast(entity, Integer())
    elif isinstance(_type(entity), Numeric):
        entity = cast(entity, Text())
    if not isinstance(ancestor, SQLColumnExpression):
        ancestor = _argument("ancestors", ancestor)
    return func.cft_under(entity, ancestor, *_named({"edges": edges, "trees": trees}), type_=Boolean())


def _rows(function: str, row: type[Any], /, **arguments: Any) -> TableValuedAlias:
    """A function as a FROM item, with the columns of a class of rows. It is joined to where its arguments come from."""
    columns = [column(name, COLUMNS[(get_args(hint) or (hint,))[0]]) for name, hint in get_type_hints(row).items()]
    lateral = any(isinstance(value, SQLColumnExpression) for value in arguments.values())
    return _function(function, None, **arguments).table_valued(*columns, joins_implicitly=lateral)


def _function(function: str, type_: TypeEngine[T] | None, /, **arguments: Any) -> Function[T]:
    return getattr(func, function)(*_named(arguments), type_=type_)  # type: ignore[no-any-return]


def _named(arguments: dict[str, Any]) -> list[ColumnElement[Any]]:
    """Those arguments that are given, each as name => value."""
    return [literal_column(name).op("=>")(_argument(name, value)) for name, value in arguments.items() if value is not UNSET]


def _argument(name: str, value: Any) -> ColumnElement[Any]:
    """An expression as the type of the argument; a value as a parameter of a type that every driver knows, cast to that of the argument."""
    kind = send.ASKING[name]
    types = [TYPES[cast_to] for cast_to in kind.cast.split("::")]
    if isinstance(value, SQLColumnExpression):
        return cast(value, types[-1])
    null = value is None and name not in send.NEEDED - {"ancestors"}
    found: ColumnElement[Any] = literal(None if null else send.converted(name, kind, value), types[0])
    for type_ in types:
        found = cast(found, type_)
    return found


def _one_or_many(given: Any) -> dict[str, Any]:
    if isinstance(given, SQLColumnExpression):
        return {"entities" if isinstance(_type(given), ARRAY) else "entity": given}
    return send.one_or_many(given)


def _type(expression: Sql) -> TypeEngine[Any]:
    found: TypeEngine[Any] = expression.type  # type: ignore[attr-defined]
    return found
