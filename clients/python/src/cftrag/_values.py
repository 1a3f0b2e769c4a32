"""What callers give, as what is sent: the call of an SQL function, each argument by its name, as a numbered parameter with a cast.

All values go as types that every driver knows (texts, arrays of texts, numbers), so that a statement is the same for psycopg and asyncpg.
"""

import asyncio
import datetime
import inspect
import json
import operator
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from numbers import Integral
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar
from uuid import UUID


class Unset(Enum):
    """What an argument is that a call does not give. It is not sent, so that the server's default and settings hold; None is sent, as NULL."""

    UNSET = "not given"

    def __repr__(self) -> str:
        return self.name


class Array(Protocol):
    """An array of numpy's or torch's."""

    def tolist(self) -> Any: ...


class PgVector(Protocol):
    """pgvector's Vector or HalfVector."""

    def to_text(self) -> str: ...


UNSET = Unset.UNSET

T = TypeVar("T")
Arg: TypeAlias = T | None | Unset
Entity: TypeAlias = str | int | UUID | Decimal
Entities: TypeAlias = Entity | Iterable[Entity]
Names: TypeAlias = Iterable[str] | None | Unset
Trees: TypeAlias = Iterable[str | int | UUID | None] | None | Unset
Within: TypeAlias = Entities | None | Unset
Filter: TypeAlias = Mapping[str, Any] | str | None | Unset
Embedding: TypeAlias = Sequence[float] | Array | PgVector | str
Embed: TypeAlias = Callable[[str], Embedding]
AsyncEmbed: TypeAlias = Callable[[str], Embedding | Awaitable[Embedding]]

ONE = (str, UUID, Integral, Decimal)


def call(function: str, arguments: Mapping[str, Any], kinds: "Kinds") -> tuple[str, list[Any]]:
    """The call of a function with those arguments that were given, and the values of its parameters."""
    sent: list[str] = []
    values: list[Any] = []
    for name, value in arguments.items():
        if value is UNSET:
            continue
        kind = kinds.get(name, COLUMN)
        values.append(None if value is None and name not in NEEDED else converted(name, kind, value))
        sent.append(f"{name} => ${len(values)}::{kind.cast}")
    return f"{function}({', '.join(sent)})", values


def converted(name: str, kind: "Kind", value: Any) -> Any:
    """A value as it is sent; errors name the argument."""
    try:
        return kind.convert(value)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def one_or_many(given: Any, one: str = "entity", many: str = "entities") -> dict[str, Any]:
    """An entity as the argument that takes one, a list as the argument that takes several."""
    return {one if given is None or isinstance(given, ONE) else many: given}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a str is needed, not {type(value).__name__}")
    return value


def _entity(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, ONE):
        raise TypeError(f"an entity is a str, an int or a UUID, not {type(value).__name__}")
    if isinstance(value, Enum):
        return _entity(value.value)
    if isinstance(value, Decimal):
        if "." in f"{value:f}" or not value.is_finite():
            raise TypeError(f"a Decimal as an entity is a whole number, not {value}: give a str")
        return f"{value:f}"
    return str(value)


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"a bool is needed, not {type(value).__name__}")
    return value


def _list(value: Any) -> list[str | None]:
    if isinstance(value, ONE):
        return [_entity(value)]
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"a list of str, int or UUID is needed, not {type(value).__name__}")
    return [None if item is None else _entity(item) for item in value]


def _vector(value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "to_text"):
        return str(value.to_text())
    given = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(given, (list, tuple)) or any(isinstance(number, (str, list)) for number in given):
        raise TypeError(f"a list of numbers, a numpy array of one dimension, a Vector of pgvector's, or its text is needed, not {type(value).__name__}")
    return "[" + ",".join(repr(float(number)) for number in given) + "]"


def _filter(value: Any) -> str:
    if not isinstance(value, (str, Mapping)):
        raise TypeError(f"a dict is needed, not {type(value).__name__}")
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    """A value as JSON. A Decimal is a number with all its digits, which json.dumps cannot write."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"no {value} can stand in it")
        return f"{value:f}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key if isinstance(key, str) else json.dumps(key))}: {_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(map(_json, value)) + "]"
    if isinstance(value, (datetime.date, UUID)):
        return json.dumps(str(value) if isinstance(value, UUID) else value.isoformat())
    if value is None or isinstance(value, (str, int, float)):
        return json.dumps(value, allow_nan=False)
    if hasattr(value, "tolist"):
        return _json(value.tolist())
    raise TypeError(f"no {type(value).__name__} can stand in it")


class Kind(NamedTuple):
    cast: str
    convert: Callable[[Any], Any]


Kinds: TypeAlias = Mapping[str, Kind]

TEXT, INTEGER, NUMBER, BOOLEAN = Kind("text", _text), Kind("integer", operator.index), Kind("float8", float), Kind("boolean", _bool)
TABLE, FUNCTION, COLUMN = Kind("text::regclass", _text), Kind("text::regprocedure", _text), Kind("text::name", _text)
ENTITY, LIST, VECTOR, JSONB = Kind("text", _entity), Kind("text[]", _list), Kind("text::vector", _vector), Kind("text::jsonb", _filter)

# NULL for these would be an empty answer that does not say why.
NEEDED = frozenset(("entity", "entities", "ancestor", "ancestors", "a", "b", "document", "question", "mention"))

# The kinds of arguments, by name: of functions that ask, and of those that name tables and their columns (what is not here is a column).
ASKING: Kinds = {
    **dict.fromkeys(("question", "mention", "text", "summary", "mode", "match", "expand", "direction", "law"), TEXT),
    **dict.fromkeys(("template", "document_template", "format", "separator"), TEXT),
    **dict.fromkeys(("up", "down", "k", "chunks", "budget", "lines", "max_hops", "beam", "max_depth", "min_support", "coarse_k", "fine_k"), INTEGER),
    **dict.fromkeys(("threshold", "descend_threshold", "prune_factor", "local_share", "bridge_share", "global_share"), NUMBER),
    **dict.fromkeys(("overlapping", "narrow", "modifiers", "detail"), BOOLEAN),
    **dict.fromkeys(("edges", "documents", "grants"), TABLE),
    **dict.fromkeys(("summarizer", "embedder"), FUNCTION),
    **dict.fromkeys(("entity", "ancestor", "a", "b", "document"), ENTITY),
    **dict.fromkeys(("entities", "ancestors", "trees", "roles", "within", "start", "sources", "inputs"), LIST),
    "embedding": VECTOR,
    "filter": JSONB,
}
TABLES: Kinds = {
    **dict.fromkeys(("edges", "labels", "aliases", "words", "phrases", "documents", "mapping", "embeddings", "summaries", "relation"), TABLE),
    **dict.fromkeys(("graph", "raw", "grants"), TABLE),
    **dict.fromkeys(("language", "match"), TEXT),
    **dict.fromkeys(("names", "columns", "show"), LIST),
    **dict.fromkeys(("ids", "link", "leaves", "keep"), BOOLEAN),
    "height": INTEGER,
}


def embedded(embed: Embed | None, question: str) -> Embedding:
    """The embedding of a question, where the call gives none."""
    found: Any = _given(embed)(question)
    if inspect.isawaitable(found):
        if inspect.iscoroutine(found):
            found.close()
        raise TypeError("embed is asynchronous: give a plain function, or take AsyncHierarchy")
    return found  # type: ignore[no-any-return]


async def embedded_async(embed: AsyncEmbed | None, question: str) -> Embedding:
    """The embedding of a question by a coroutine function, or by a plain one in a thread, where a model does not hold up the event loop."""
    embed = _given(embed)
    if inspect.iscoroutinefunction(embed) or inspect.iscoroutinefunction(type(embed).__call__):
        found: Any = embed(question)
    else:
        found = await asyncio.to_thread(embed, question)
    return await found if inspect.isawaitable(found) else found  # type: ignore[no-any-return]


def _given(embed: T | None) -> T:
    if embed is None:
        raise TypeError("no embedding of the question: give embedding, or embed to the constructor; embedding=None searches without one")
    return embed
