"""An MCP server over stdio: python -m cftrag.mcp --dsn ... Its tools only read.

Each call is one READ ONLY transaction with a statement_timeout. What a tool returns has LIMIT characters at most, text and
structured content together; what is left out is counted. Errors of the database are errors of the tool, with their hints.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated, Any, TypeVar

try:
    import psycopg
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import CallToolResult, TextContent, ToolAnnotations
    from psycopg_pool import AsyncConnectionPool
    from pydantic import BaseModel, BeforeValidator, Field
except ImportError as error:
    raise ImportError(f"{error}: install cftrag with its extra mcp (its README says how, from a checkout)") from error

from ._async import AsyncHierarchy
from ._options import add_database, add_model, add_tables, at_least, in_words
from ._values import UNSET, Arg, AsyncEmbed, Embedding, embedded_async

LIMIT = 100_000
SIMILAR = 3
ROOTS = 100
NAME = 200  # Characters of a name that an error repeats.
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
INSTRUCTIONS = """A hierarchy of entities (categories, departments, terms) and documents about them, in PostgreSQL.
An entity is given by its id, its name or its path (Sports > Shoes).
Begin with search: it finds the entities of the question by itself; find_entities is for their ids. Results name entities by id and path."""


def _entity(given: Any) -> Any:
    """Models give an id as a number, too."""
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


def _several(given: Any) -> Any:
    """Models give one entity without a list, too."""
    several = [given] if isinstance(given, (str, int)) and given != "" else given
    return [_entity(each) for each in several] if isinstance(several, list) else several or None


EntityArgument = Annotated[str, BeforeValidator(_entity), Field(description="an entity: its id, its name, or its path, as in Sports > Shoes")]
RootOrEntityArgument = Annotated[
    str | None, BeforeValidator(_entity), Field(description="an entity: its id, its name, or its path; leave it out for the top of the hierarchy")
]
WithinArgument = Annotated[
    list[str] | None, BeforeValidator(_several), Field(description="only what belongs to one of these entities or is below one: ids, names or paths")
]
TreesArgument = Annotated[list[str] | None, Field(description="only these trees, where the hierarchy has several; leave it out for all")]
SearchTreesArgument = Annotated[
    list[str] | None, Field(description="only these trees of the hierarchy, for entities, sentences and paths; it bounds no documents: within does")
]
FilterArgument = Annotated[
    dict[str, Any] | None,
    Field(description='only documents with such metadata: {"brand": "Alta", "price": {"$lt": 100}}; also $in, $between, $exists, $like, $and, $or, $not'),
]
Levels = Annotated[int, Field(ge=0, le=1000)]
Count = Annotated[int, Field(ge=1, le=1000)]


class FoundEntity(BaseModel):
    entity: str
    label: str | None
    path: str | None = Field(description="from the top of its tree")
    mention: str = Field(description="the words of the text")
    method: str = Field(description="by which rule: exact, inflected, typo and others")
    score: float


class FoundEntities(BaseModel):
    entities: list[FoundEntity]
    left_out: int = Field(description="rows that did not fit")


class FoundRelative(BaseModel):
    relation: str = Field(description="ancestor or descendant; root where no entity was given")
    depth: int = Field(description="steps from the entity")
    entity: str
    label: str | None
    tree: str | None


class FoundHierarchy(BaseModel):
    entity: str | None = Field(description="null where none was given")
    label: str | None
    path: str | None
    relatives: list[FoundRelative]
    left_out: int = Field(description="rows that did not fit")


class FoundRow(BaseModel):
    source: str = Field(description="document, hierarchy (a sentence about an entity), or chunk (a document about an entity that the question names)")
    entity: str | None
    document_id: str | None
    path: str | None = Field(description="where in the hierarchy the document belongs")
    text: str
    why: str = Field(description="why this row is here")


class FoundRows(BaseModel):
    rows: list[FoundRow]
    left_out: int = Field(description="rows that did not fit")


class FoundText(BaseModel):
    text: str
    left_out: int = Field(description="characters that did not fit")


RowModel = TypeVar("RowModel", bound=BaseModel)


class Database:
    """Runs each call in a transaction of its own that can only read."""

    def __init__(self, dsn: str, *, edges: str | None, documents: str | None, embed: AsyncEmbed | None, timeout: float) -> None:
        self.edges, self.documents, self.embed = edges, documents, embed
        self._timeout = f"{round(timeout * 1000)}ms"
        self._pool = AsyncConnectionPool(
            dsn, open=False, min_size=1, max_size=4, timeout=10, configure=_read_only, check=AsyncConnectionPool.check_connection
        )

    async def open(self) -> None:
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[AsyncHierarchy]:
        try:
            async with self._pool.connection() as connection:
                await connection.execute("SELECT set_config('statement_timeout', %s, true)", [self._timeout])
                yield AsyncHierarchy(connection, edges=self.edges, documents=self.documents)
        except psycopg.Error as error:
            raise _error(in_words(error)) from error

    async def embedding(self, question: str) -> Arg[Embedding]:
        """The question's embedding; None, which is NULL, without a model."""
        if self.embed is None:
            return None
        try:
            return await embedded_async(self.embed, question)
        except Exception as error:
            raise _error(f"the model (--embed) failed: {type(error).__name__}: {error}") from error


def _error(words: str) -> ToolError:
    return ToolError(words if len(words) < LIMIT - 1000 else f"{words[: LIMIT - 1000]} ...")


async def _read_only(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_read_only(True)


class Tools:
    """The tools; their docstrings are what a model reads of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_entities(
        self,
        text: Annotated[str, Field(description="a question or any other text")],
        within: WithinArgument = None,
        trees: TreesArgument = None,
    ) -> Annotated[CallToolResult, FoundEntities]:
        """Finds the entities that a text mentions, also misspelled or inflected, with the path of each. Use it to learn ids."""
        async with self._database.asking() as ask:
            below = await self._each_known(ask, within)
            found = await ask.entities(text, within=below, trees=_given(trees), narrow=True)
            paths = await _paths(ask, [mention.entity for mention in found])
        rows = [
            FoundEntity(entity=each.entity, label=each.label, path=paths.get(each.entity), mention=each.mention, method=each.method, score=each.score)
            for each in found
        ]
        kept = _fitting(rows, lambda row: f'"{row.mention}" ({row.method}): {row.path or row.label or row.entity} (entity {row.entity})')
        return _result(kept.lines or ["The text mentions no entity. Try other words, or search."], FoundEntities(entities=kept.rows, left_out=kept.left_out))

    async def hierarchy(
        self, entity: RootOrEntityArgument = None, up: Levels = 3, down: Levels = 1, trees: TreesArgument = None
    ) -> Annotated[CallToolResult, FoundHierarchy]:
        """The ancestors (up levels) and descendants (down levels) of an entity, with their ids; without an entity the top of the hierarchy."""
        if not entity:
            return await self._roots(trees)
        async with self._database.asking() as ask:
            known, label = await self._known(ask, entity)
            path = (await _paths(ask, [known])).get(known)
            found = await ask.context(known, up=up, down=down, trees=_given(trees))
        rows = [FoundRelative(relation=each.relation, depth=each.depth, entity=each.relative, label=each.label, tree=each.tree) for each in found]
        head = [f"{path or label or known} (entity {known})"]
        kept = _fitting(rows, _relative_line, head)
        lines = kept.lines if rows else [*head, f"It has no relatives within {up} levels above and {down} below."]
        return _result(lines, FoundHierarchy(entity=known, label=label, path=path, relatives=kept.rows, left_out=kept.left_out))

    async def _roots(self, trees: list[str] | None) -> CallToolResult:
        async with self._database.asking() as ask:
            found = await ask.roots(trees=_given(trees))
        rows = [FoundRelative(relation="root", depth=0, entity=each.root, label=each.label, tree=each.tree) for each in found[:ROOTS]]
        kept = _fitting(rows, _relative_line, ["At the top of the hierarchy:" if rows else "The hierarchy is empty."])
        if len(found) > ROOTS:
            kept.left_out += len(found) - ROOTS
            kept.lines.append(f"({len(found) - ROOTS} more are at the top)")
        return _result(kept.lines, FoundHierarchy(entity=None, label=None, path=None, relatives=kept.rows, left_out=kept.left_out))

    async def search(
        self,
        question: str,
        within: WithinArgument = None,
        filter: FilterArgument = None,
        k: Annotated[int, Field(ge=1, le=1000, description="how many documents at most")] = 5,
        trees: SearchTreesArgument = None,
    ) -> Annotated[CallToolResult, FoundRows]:
        """Finds documents for a question, sentences about the hierarchy of the entities it names, and documents about these; each row says why it is there."""
        embedding = await self._database.embedding(question)
        async with self._database.asking() as ask:
            below = await self._each_known(ask, within)
            found = await ask.retrieve(question, embedding, k=k, within=below, filter=_given(filter), trees=_given(trees))
        rows = [
            FoundRow(source=each.source, entity=each.entity, document_id=each.document_id, path=each.path, text=each.text, why=each.why) for each in found
        ]
        kept = _fitting(rows, _search_line)
        return _result(kept.lines or [self._nothing()], FoundRows(rows=kept.rows, left_out=kept.left_out))

    async def prompt(
        self,
        question: str,
        within: WithinArgument = None,
        filter: FilterArgument = None,
        k: Annotated[int, Field(ge=1, le=1000, description="how many documents at most")] = 5,
        budget: Annotated[int | None, Field(ge=1, description="tokens at most; leave it out for the server's")] = None,
    ) -> Annotated[CallToolResult, FoundText]:
        """A finished prompt for a question: documents, sentences about the hierarchy, and the question, within a budget of tokens."""
        embedding = await self._database.embedding(question)
        async with self._database.asking() as ask:
            below = await self._each_known(ask, within)
            text = await ask.prompt(question, embedding, k=k, within=below, filter=_given(filter), budget=_given(budget))
        return _text(text or "")

    async def tree(
        self,
        entity: EntityArgument,
        up: Levels = 3,
        down: Levels = 1,
        lines: Annotated[int, Field(ge=1, description="how many entities at most")] = 100,
    ) -> Annotated[CallToolResult, FoundText]:
        """A picture of an entity's place in the hierarchy, as text."""
        async with self._database.asking() as ask:
            known, _ = await self._known(ask, entity)
            picture = await ask.tree(known, up=up, down=down, lines=lines)
        return _text(picture or "")

    async def _each_known(self, ask: AsyncHierarchy, given: list[str] | None) -> Arg[list[str]]:
        return [(await self._known(ask, entity))[0] for entity in given] if given else UNSET

    async def _known(self, ask: AsyncHierarchy, given: str) -> tuple[str, str | None]:
        """The entity that is meant, by id, name or path, and its label; else an error with what is similar."""
        label = await _label(ask, given)
        if label is not None:
            return label
        found = await ask.resolve(given)
        short = given if len(given) <= NAME else f"{given[:NAME]}..."
        certain = {each.entity: each.label for each in found if each.score == 1}
        if len(certain) == 1:
            return certain.popitem()
        if certain:
            named = await _named(ask, list(certain))
            raise _error(f'"{short}" is the name of {len(certain)} entities. Give the id or the path of one: {named}')
        similar = [each.entity for each in found]
        if len(similar) < SIMILAR:
            similar += [each.entity for each in await ask.entities(given, match="fuzzy", overlapping=True)]
        if len(similar) < SIMILAR and self._database.embed is not None:
            similar += [each.entity for each in await ask.resolve(given, embedding=await self._database.embedding(given), k=SIMILAR)]
        said = "Similar" if similar else "Nothing is similar; at the top of the hierarchy"
        named = await _named(ask, similar or [each.root for each in await ask.roots()])
        raise _error(f'there is no entity "{short}". {said}: {named}' if named else f'there is no entity "{short}": the hierarchy is empty')

    def _nothing(self) -> str:
        if self._database.embed is None:
            return "Nothing was found: by words, since this server has no model (--embed). Name an entity as find_entities knows it, or use other words."
        return "Nothing was found. Ask for less: without within or filter."


class Kept(BaseModel):
    lines: list[str]
    rows: list[Any]
    left_out: int


def _fitting(rows: Sequence[RowModel], line: Callable[[RowModel], str], head: Sequence[str] = ()) -> Kept:
    """The first rows that fit, as lines and as they are; a last line says how many are left out."""
    kept = Kept(lines=list(head), rows=[], left_out=0)
    left = LIMIT - 2 * sum(map(len, head)) - 1000  # A thousand for the other fields and the last line.
    for place, row in enumerate(rows):
        text = line(row)
        left -= len(text) + len(row.model_dump_json()) + 2
        if left < 0:
            kept.left_out = len(rows) - place
            kept.lines.append(f"({kept.left_out} more rows do not fit into {LIMIT} characters: ask for less)")
            break
        kept.lines.append(text)
        kept.rows.append(row)
    return kept


def _result(lines: Sequence[str], structured: BaseModel) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="\n".join(lines))], structured_content=structured.model_dump(mode="json"))


def _text(text: str) -> CallToolResult:
    """A text, cut where it is too long: it is sent twice, in the structured content with signs that JSON escapes."""
    kept = text
    while (size := len(kept) + len(json.dumps(kept, ensure_ascii=False))) > LIMIT - 1000:
        kept = kept[: len(kept) * (LIMIT - 1000) // size - 1]
    left_out = len(text) - len(kept)
    said = f"{kept}\n({left_out} more characters do not fit into {LIMIT}: ask for less)" if left_out else kept
    return _result([said], FoundText(text=kept, left_out=left_out))


def _relative_line(row: FoundRelative) -> str:
    way = {"root": "", "ancestor": f"{row.depth} above: "}.get(row.relation, f"{row.depth} below: ")
    tree = "" if row.tree is None else f", in the tree {row.tree}"
    return f"{way}{row.label or row.entity} (entity {row.entity}{tree})"


def _search_line(row: FoundRow) -> str:
    if row.source == "hierarchy":
        return f"{row.text} ({row.why})"
    place = "" if row.path is None else f", {row.path}"
    about = "" if row.entity is None else f" (entity {row.entity})"
    return f"[{row.source} {row.document_id}{place}{about}] {row.text} ({row.why})"


def _given(value: Any) -> Any:
    """An empty list or dict is what models send for nothing."""
    return value if value else UNSET


async def _label(ask: AsyncHierarchy, entity: str) -> tuple[str, str | None] | None:
    """The entity of this id with its label; None if there is none."""
    found = await ask.tree(entity, up=0, down=0, format="json")
    return None if found is None else (entity, json.loads(found).get("label"))


async def _paths(ask: AsyncHierarchy, entities: list[str]) -> dict[str, str]:
    """The path of each, in the first of its trees."""
    paths: dict[str, str] = {}
    for row in await ask.path_prefixes(entities):
        paths.setdefault(row.entity, row.prefix)
    return paths


async def _named(ask: AsyncHierarchy, entities: list[str]) -> str:
    first = list(dict.fromkeys(entities))[:SIMILAR]
    paths = await _paths(ask, first)
    return "; ".join(f"{paths.get(entity, entity)} (entity {entity})" for entity in first)


def server(database: Database) -> MCPServer[Any]:
    """The MCP server of a database."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        await database.open()
        try:
            yield
        finally:
            await database.close()

    made: MCPServer[Any] = MCPServer(
        "cftrag", title="cftrag", instructions=INSTRUCTIONS, version=version("cftrag"), lifespan=lifespan, log_level="WARNING"
    )
    tools = Tools(database)
    for tool in (tools.find_entities, tools.hierarchy, tools.search, tools.prompt, tools.tree):
        made.add_tool(tool, annotations=READS)
    return made


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cftrag.mcp", description="An MCP server over stdio, whose tools read a hierarchy and its documents.")
    add_database(parser)
    add_tables(parser)
    add_model(parser)
    parser.add_argument("--timeout", type=at_least(0.001), default=10, metavar="SECONDS", help="statement_timeout of each call (default: 10)")
    return parser


def main(given: Sequence[str] | None = None) -> int:
    said = arguments().parse_args(given)
    try:
        psycopg.connect(said.dsn).close()  # A pool would try for long, and not say what is wrong.
    except psycopg.Error as error:
        print(f"cftrag.mcp: {in_words(error)}", file=sys.stderr)
        return 1
    if sys.platform == "win32":  # psycopg knows no other loop.
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    server(Database(said.dsn, edges=said.edges, documents=said.documents, embed=said.embed, timeout=said.timeout)).run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())
