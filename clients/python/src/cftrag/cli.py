"""The command cftrag: load, check, ask, tree, health.

Exit status: 0, all is well; 1, something is wrong (said on standard error, or by check and health on standard output); 2, wrong arguments.
"""

import argparse
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import sql

from . import load
from ._options import add_database, add_model, add_tables, at_least, in_words, lines
from ._sync import Hierarchy
from ._values import UNSET, VECTOR, embedded

Item = TypeVar("Item")
SHOWN = 5  # Of what check finds wrong, how many of each kind it names.
SLOW = 1.0  # Seconds after which a progress bar appears.


# Whether a table has the trigger that attaches it, and this is of no other edges table.
ATTACHED = """SELECT EXISTS (SELECT FROM (SELECT to_regclass(%s)::oid, to_regclass(%s)::oid) AS named(part, edges), pg_trigger t
    WHERE tgrelid = part AND tgname = %s AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_trigger'::regclass AND objid = t.oid
        AND refclassid = 'pg_class'::regclass AND refobjid <> part AND refobjid IS DISTINCT FROM edges))"""


class Wrong(Exception):
    """What the user can mend, in words."""


def main(given: Sequence[str] | None = None) -> int:
    said = _arguments().parse_args(given)
    try:
        with psycopg.connect(said.dsn, autocommit=True) as connection:
            found: int = said.run(connection, said)
            return found
    except (Wrong, load.Unreadable) as error:
        return _failed(str(error))
    except psycopg.Error as error:
        return _failed(in_words(error))
    except KeyboardInterrupt:
        return _failed("interrupted")


def _failed(words: str) -> int:
    print(f"cftrag: {words}", file=sys.stderr)
    return 1


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cftrag", description="Hierarchies for retrieval, in PostgreSQL with the extension cftrag.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any, words: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=words, description=words)
        made.set_defaults(run=run)
        add_database(made)
        return made

    made = command("load", _load, "Loads a file or folder into a new table, and attaches it.")
    made.add_argument("source", type=Path, help="CSV, paths (A > B > C), OBO, OWL, SKOS (.ttl, .rdf), Markdown, or a folder; - is standard input")
    made.add_argument("--table", required=True, help="the table to make, as SQL reads names; TABLE_aliases and TABLE_documents too, where there are such")
    made.add_argument("--replace", action="store_true", help="drop these tables first, if they are there")
    made.add_argument("--format", choices=load.FORMATS, help="by default what the name of the file says")
    for role in load.NAMES:
        made.add_argument(f"--{role}", metavar="COLUMN", help=f"of CSV: the column of the {role} (default: {', '.join(load.NAMES[role])})")
    made.add_argument("--ids", action="store_true", help="ids are names, too, in texts; so it is for OBO and OWL")
    made.add_argument("--language", default="english", help="by whose rules texts may inflect names: english, german, ..., simple (default: english)")
    made.add_argument("--label-language", default="en", metavar="TAG", help="of SKOS: which labels are the names; others are aliases (default: en)")
    made.add_argument("--encoding", default="utf-8-sig", help="of the file (default: UTF-8)")
    made.add_argument("--chunk", type=at_least(1), default=load.CHUNK, metavar="CHARACTERS", help=f"of documents, at most (default: {load.CHUNK})")
    add_model(made)

    made = command("check", _check, "Looks for what is wrong in a table of parents and children, attached or not.")
    made.add_argument("table", help="as SQL reads names")
    for role, default in (("id", "id"), ("parent", "parent_id"), ("name", "name")):
        made.add_argument(f"--{role}", metavar="COLUMN", help=f"by default that which is attached, else {default}")

    made = command("ask", _ask, "Prints the prompt for a question.")
    made.add_argument("question")
    made.add_argument("--k", type=int, help="documents at most")
    made.add_argument("--budget", type=int, help="tokens at most")
    made.add_argument("--within", action="append", metavar="ENTITY", help="only what is in or below this; may be given several times")
    made.add_argument("--filter", metavar="JSON", help="only documents with such metadata")
    add_tables(made)
    add_model(made)

    made = command("tree", _tree, "Prints an entity's place in the hierarchy.")
    made.add_argument("entity", help="an id, a name or a path")
    made.add_argument("--up", type=int, default=3)
    made.add_argument("--down", type=int, default=1)
    made.add_argument("--format", default="text", choices=("text", "mermaid", "dot", "json"))
    made.add_argument("--edges", help="the attached edges table; needed only where search_path shows several")

    made = command("health", _health, "Says whether all is well: what cft_health checks, the worst first.")
    made.add_argument("--verify", action="store_true", help="compare each image with its table (cft_verify)")
    return parser


# load

def _load(connection: psycopg.Connection[Any], said: argparse.Namespace) -> int:
    source = load.read(
        said.source, said.format or load.format_of(said.source), columns={role: getattr(said, role) for role in load.NAMES}, language=said.label_language,
        chunk=said.chunk, encoding=said.encoding,
    )
    try:
        parts = _one(connection, "SELECT parse_ident(%s)", [said.table])
    except psycopg.errors.InvalidParameterValue as error:
        raise Wrong(f"--table {said.table}: SQL reads no name here. Quote what needs it, as in '\"My table\"'") from error
    names = {part: sql.Identifier(*parts[:-1], parts[-1] + suffix) for part, suffix in (("edges", ""), ("aliases", "_aliases"), ("documents", "_documents"))}
    with connection.transaction():
        if said.replace:
            _drop(connection, names, {"documents": bool(source.documents), "aliases": bool(source.aliases)})
        connection.add_notice_handler(lambda said: print("\n".join(lines(said)), file=sys.stderr))  # What attaching advises.
        try:
            loaded = _fill(connection, said, source, names)
        except psycopg.errors.DuplicateTable as error:
            raise Wrong(f"{in_words(error)}. With --replace it is dropped and made anew.") from error
    table = _one(connection, "SELECT %s::regclass::text", [names["edges"].as_string(connection)])
    print(f"{table}: {loaded}. Loaded and attached. Next: cftrag check {shlex.quote(table)}")
    return 0


def _drop(connection: psycopg.Connection[Any], names: dict[str, sql.Identifier], made: dict[str, bool]) -> None:
    """Drops the tables of a load of before. One of aliases or documents that is not made anew must be attached to the table: else it is somebody's own."""
    for part, anew in made.items():
        tables = [names[each].as_string(connection) for each in (part, "edges")]
        if not anew and _one(connection, "SELECT to_regclass(%s)", tables[:1]) and not _one(connection, ATTACHED, [*tables, f"cftrag_{part}"]):
            raise Wrong(f"{tables[0]} is not attached as {part} of {tables[1]}, and this load makes no {part}: drop it yourself, or take another --table")
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(names[part]))
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(names["edges"]))


def _fill(connection: psycopg.Connection[Any], said: argparse.Namespace, source: load.Source, names: dict[str, sql.Identifier]) -> str:
    edges, as_text = names["edges"], {part: name.as_string(connection) for part, name in names.items()}
    hierarchy = Hierarchy(connection, edges=as_text["edges"])
    connection.execute(sql.SQL("CREATE TABLE {} (id text NOT NULL, parent_id text, name text)").format(edges))
    rows = _copy(connection, sql.SQL("COPY {} (id, parent_id, name) FROM STDIN").format(edges), source.nodes, "nodes")
    if not rows:
        raise Wrong(f"{said.source} has no rows")
    roots = connection.execute(
        sql.SQL("UPDATE {0} SET parent_id = NULL WHERE parent_id = '0' AND NOT EXISTS (SELECT FROM {0} WHERE id = '0')").format(edges)
    ).rowcount
    kind = _kind(connection, edges)
    if kind != "text":
        change = "ALTER TABLE {0} ALTER id TYPE {1} USING id::{1}, ALTER parent_id TYPE {1} USING parent_id::{1}"
        connection.execute(sql.SQL(change).format(edges, sql.SQL(kind)))
    connection.execute(sql.SQL("CREATE INDEX ON {0} (id)").format(edges))
    connection.execute(sql.SQL("CREATE INDEX ON {0} (parent_id)").format(edges))
    connection.execute(sql.SQL("ANALYZE {}").format(edges))
    hierarchy.attach(parent="parent_id", child="id", label="name", language=said.language, ids=said.ids or source.codes or UNSET)
    words = [f"{rows:,} rows"]
    if roots:
        words.append(f"{roots:,} with parent 0 made roots")
    if source.aliases:
        connection.execute(sql.SQL("CREATE TABLE {} (alias text NOT NULL, entity {} NOT NULL)").format(names["aliases"], sql.SQL(kind)))
        count = _copy(connection, sql.SQL("COPY {} (alias, entity) FROM STDIN").format(names["aliases"]), source.aliases, "aliases")
        hierarchy.attach_aliases(as_text["aliases"])
        words.append(f"{count:,} aliases in {as_text['aliases']}")
    if source.documents:
        count = _documents(connection, said, source.documents, names["documents"])
        hierarchy.attach_documents(as_text["documents"], entity="entity", search="search", sort="id")
        words.append(f"{count:,} documents in {as_text['documents']}" + ("" if said.embed else ", without embeddings"))
    return ", ".join(words)


def _kind(connection: psycopg.Connection[Any], edges: sql.Identifier) -> str:
    """bigint if all ids are written as integers are, else text."""
    statement = sql.SQL("SELECT bool_and(id ~ {0} AND (parent_id IS NULL OR parent_id ~ {0})) FROM {1}").format("^(0|-?[1-9][0-9]{0,17})$", edges)
    found = connection.execute(statement).fetchone()
    return "bigint" if found is not None and found[0] else "text"


def _documents(connection: psycopg.Connection[Any], said: argparse.Namespace, documents: list[tuple[str, str]], name: sql.Identifier) -> int:
    rows: Iterable[tuple[Any, ...]] = ((entity, body, None) for entity, body in documents)
    kind = "vector"
    if said.embed is not None:
        found = _embedded(said.embed, documents)
        kind = f"vector({found[0][2].count(',') + 1})"
        rows = found
    connection.execute(
        sql.SQL(
            "CREATE TABLE {} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entity text NOT NULL, body text NOT NULL, embedding {},"
            " search tsvector GENERATED ALWAYS AS (to_tsvector({}, body)) STORED)"
        ).format(name, sql.SQL(kind), sql.Literal(said.language))
    )
    count = _copy(connection, sql.SQL("COPY {} (entity, body, embedding) FROM STDIN").format(name), rows, "documents")
    connection.execute(sql.SQL("CREATE INDEX ON {} (entity)").format(name))
    connection.execute(sql.SQL("CREATE INDEX ON {} USING gin (search)").format(name))
    connection.execute(sql.SQL("ANALYZE {}").format(name))
    return count


def _embedded(embed: Any, documents: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    return [(entity, body, _embedding(embed, body)) for entity, body in _shown(documents, "embeddings", len(documents))]


def _embedding(embed: Any, text: str) -> str:
    """What the model makes of a text, as pgvector writes it."""
    try:
        return str(VECTOR.convert(embedded(embed, text)))
    except Exception as error:
        raise Wrong(f"the model (--embed) failed: {type(error).__name__}: {error}") from error


def _copy(connection: psycopg.Connection[Any], statement: sql.Composed, rows: Iterable[tuple[Any, ...]], what: str) -> int:
    count = 0
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in _shown(rows, what, len(rows) if isinstance(rows, list) else None):
            copy.write_row(row)
            count += 1
    return count


def _shown(items: Iterable[Item], what: str, total: int | None) -> Iterator[Item]:
    """The items, with a progress bar if they take longer than a second and somebody looks at it."""
    begun, bar = time.monotonic(), None
    try:
        for place, item in enumerate(items):
            if bar is None and sys.stderr.isatty() and place % 256 == 0 and time.monotonic() - begun > SLOW:
                bar = _bar(what, total)
            if bar is not None and place % 256 == 0:
                bar.update(bar.task_ids[0], completed=place)
            yield item
    finally:
        if bar is not None:
            bar.stop()


def _bar(what: str, total: int | None) -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(what, total=total)
    bar.start()
    return bar


# check

# What is looked for, with the columns that it needs, as a query that says of each case what is wrong, in one column.
CHECKS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("rows without an id", (), "SELECT format('parent %s', {parent}) FROM {table} WHERE {id} IS NULL"),
    ("rows that are their own parent", (), "SELECT format('%s', {id}) FROM {table} WHERE {id} = {parent}"),
    (
        "cycles", (),
        "SELECT format('%s below %s closes one', child, parent) FROM cft_filter_relations({literal}, {parent_text}, {id_text}, {tree_text})"
        " WHERE reason = 'cycle'",
    ),
    (
        "rows that are there twice", (),
        "SELECT format('%s below %s: %s times', {id}, {parent}, count(*)) FROM {table} WHERE {id} IS NOT NULL GROUP BY {id}, {parent}, {tree}"
        " HAVING count(*) > 1",
    ),
    (
        "roots with parent 0 (or empty, or -1) where NULL belongs", (),
        "SELECT format('%s', {id}) FROM {table} t WHERE {parent}::text IN ('', '0', '-1') AND NOT EXISTS (SELECT FROM {table} o WHERE o.{id} = t.{parent})",
    ),
    (
        "parents that have no row", ("name",),
        "SELECT format('%s, of %s', {parent}, {id}) FROM {table} t WHERE {parent}::text NOT IN ('', '0', '-1')"
        " AND NOT EXISTS (SELECT FROM {table} o WHERE o.{id} = t.{parent})",
    ),
    ("rows without a name", ("name",), "SELECT format('%s', {id}) FROM {table} WHERE {name} IS NULL OR btrim({name}::text) = ''"),
    (
        "ids with several names", ("name",),
        "SELECT format('%s: %s', {id}, string_agg(DISTINCT {name}::text, ', ')) FROM {table} WHERE {id} IS NOT NULL GROUP BY {id}"
        " HAVING count(DISTINCT {name}) > 1",
    ),
    (
        "siblings of one name", ("name",),
        "SELECT format('\"%s\" below %s: %s', min({name}::text), coalesce({parent}::text, 'no parent'), string_agg(DISTINCT {id}::text, ', ')) FROM {table}"
        " GROUP BY {parent}, {tree}, lower(btrim({name}::text)) HAVING count(DISTINCT {id}) > 1",
    ),
)


def _check(connection: psycopg.Connection[Any], said: argparse.Namespace) -> int:
    table = _one(connection, "SELECT %s::regclass::text", [said.table])  # Quoted where it must be, by the server.
    columns = _columns(connection, said)
    names: dict[str, Any] = {role: sql.Identifier(column) for role, column in columns.items()}
    names |= {f"{role}_text": sql.Literal(columns.get(role)) for role in ("id", "parent", "tree")}
    names |= {"table": sql.SQL(table), "literal": sql.Literal(table), "tree": names.get("tree", sql.SQL("NULL::text"))}
    wrong = False
    for words, needed, query in CHECKS:
        if not set(needed) <= columns.keys():
            continue
        cases = sql.SQL("SELECT said, count(*) OVER () FROM ({}) AS cases(said) ORDER BY said LIMIT {}").format(sql.SQL(query).format(**names), SHOWN)
        wrong |= _said(words, connection.execute(cases).fetchall())
    if "name" not in columns:
        print("not looked for, without a column of names (--name): parents that have no row, names that collide")
    else:
        shared = sql.SQL("SELECT count(*) FROM (SELECT FROM {table} GROUP BY lower(btrim({name}::text)) HAVING count(DISTINCT {id}) > 1) AS shared")
        print(f"{_one(connection, shared.format(**names)):,} names belong to several entities: a text that says one finds each of these")
    return 1 if wrong else 0


def _said(words: str, found: list[tuple[Any, ...]]) -> bool:
    count = found[0][1] if found else 0
    print(f"{'WRONG' if found else 'good'}  {words}: {count:,}")
    for case, _ in found:
        print(f"         {case}")
    if count > len(found):
        print(f"         and {count - len(found):,} more")
    return bool(found)


def _columns(connection: psycopg.Connection[Any], said: argparse.Namespace) -> dict[str, str]:
    """The columns id, parent and name (where there is one): those that are given, else those that are attached, else the usual."""
    columns = {"id": "id", "parent": "parent_id", "name": "name"}
    registered = _one(connection, "SELECT tgargs FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname = 'cftrag_row'", [said.table])
    if registered is not None:  # The arguments: parent, child, tree, label, and others.
        parent, child, tree, label, *_ = [argument.decode() for argument in bytes(registered).split(b"\0")] + [""] * 4
        columns = {"id": child, "parent": parent} | ({"tree": tree} if tree else {}) | ({"name": label} if label else {})
    return columns | {role: getattr(said, role) for role in ("id", "parent", "name") if getattr(said, role)}


def _one(connection: psycopg.Connection[Any], statement: Any, values: Sequence[Any] = ()) -> Any:
    found = connection.execute(statement, values).fetchone()
    return None if found is None else found[0]


# ask, tree

def _ask(connection: psycopg.Connection[Any], said: argparse.Namespace) -> int:
    hierarchy = Hierarchy(connection, edges=said.edges, documents=said.documents)
    within = UNSET if said.within is None else [_entity(hierarchy, entity) for entity in said.within]
    given = {name: getattr(said, name) for name in ("k", "budget", "filter") if getattr(said, name) is not None}
    embedding = None if said.embed is None else _embedding(said.embed, said.question)
    print(hierarchy.prompt(said.question, embedding, within=within, **given))
    return 0


def _tree(connection: psycopg.Connection[Any], said: argparse.Namespace) -> int:
    hierarchy = Hierarchy(connection, edges=said.edges)
    for entity in _entities(hierarchy, said.entity):
        print(hierarchy.tree(entity, up=said.up, down=said.down, format=said.format))
    return 0


def _entity(hierarchy: Hierarchy, given: str) -> str:
    found = _entities(hierarchy, given)
    if len(found) > 1:
        raise Wrong(f'"{given}" is the name of {len(found)} entities: give the id of one, or its path: {_places(hierarchy, found)}')
    return found[0]


def _entities(hierarchy: Hierarchy, given: str) -> list[str]:
    """The entities that an id, a name or a path means."""
    if hierarchy.tree(given, up=0, down=0) is not None:
        return [given]
    found = hierarchy.resolve(given)
    certain = list(dict.fromkeys(each.entity for each in found if each.score == 1))
    if certain:
        return certain
    similar = [each.entity for each in found] or [each.entity for each in hierarchy.entities(given, match="fuzzy", overlapping=True)]
    raise Wrong(f'there is no entity "{given}"' + (f". Similar: {_places(hierarchy, similar)}" if similar else ""))


def _places(hierarchy: Hierarchy, entities: list[str]) -> str:
    first = list(dict.fromkeys(entities))[:3]
    return "; ".join(f"{hierarchy.path_prefix(entity) or entity} ({entity})" for entity in first)


# health

def _health(connection: psycopg.Connection[Any], said: argparse.Namespace) -> int:
    hierarchy = Hierarchy(connection)
    notices: list[str] = []
    connection.add_notice_handler(lambda said: notices.extend(lines(said)))
    wrong = False
    for row in hierarchy.health(detail=True):
        wrong |= row.status != "ok"
        print(f"{row.status:8} {row.checked}: {row.reason}" + (f"\n         {row.hint}" if row.hint else ""))
    if said.verify:
        for table in hierarchy.statistics():
            if table.edges is not None:
                print(table.edges)
                wrong |= _verified(hierarchy, table.edges, notices)
    return 1 if wrong else 0


def _verified(hierarchy: Hierarchy, edges: str, notices: list[str]) -> bool:
    """Whether image and table differ. A notice says that there was nothing to compare."""
    notices.clear()
    found = hierarchy.verify(edges)
    said = f"compared with the table: {f'{len(found):,} differences' if found else 'equal'}"
    print(f"         {' '.join(notices) or said}")
    for problem in found[:SHOWN]:
        print(f"         {problem.problem}: {problem.child} below {problem.parent}, {problem.in_table} in the table, {problem.in_image} in the image")
    return bool(found)
