"""What `cftrag load` reads: files of many formats, as nodes, aliases and documents.

A node is (id, parent, name); one with several parents is there once for each. Each format has a function from a path to a Source.
A file is opened once, since of a pipe nothing comes twice; the path - is standard input.
Errors are Unreadable, in words. Parsers, of the extra cli, are imported where they are needed.
"""

import csv
import importlib
import io
import itertools
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

Node: TypeAlias = tuple[str, str | None, str | None]
CHUNK = 1500  # Characters of a chunk at most, where the text has blocks to divide it by: some 400 tokens.
LARGEST = 20_000_000  # Bytes of a file of a folder that is read as a text.
NAMES = {
    "id": ("id", "code", "key", "category_id"),
    "parent": ("parent", "parent_id", "parentid", "parent_code", "parent_key"),
    "name": ("name", "label", "title"),
    "path": ("path", "full_path", "category_path", "breadcrumb"),
}
GOOGLE = re.compile(r"(\d+) - (.+)")
FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^(---|\.\.\.)[ \t]*\r?\n", re.S | re.M)


class Unreadable(Exception):
    """A file that cannot be read, or has not what is needed."""


@dataclass
class Source:
    """What is loaded. codes: ids that people write, as GO:0008150, and that are names, too."""

    nodes: Iterable[Node]
    aliases: list[tuple[str, str]] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)
    codes: bool = False


def read(path: Path, format: str, *, columns: Mapping[str, str | None], language: str = "en", chunk: int = CHUNK, encoding: str = "utf-8-sig") -> Source:
    """Reads a file, standard input (-) or a folder. format: one of FORMATS. columns: the names that CSV's columns id, parent, name, path have."""
    if str(path) != "-" and not path.exists():
        raise Unreadable(f"there is no {path}")
    with _readable(path, encoding):
        if format == "csv":
            return _csv(path, columns, encoding)
        if format == "paths":
            return _google(path, _held(path).decode(encoding))
        if format == "ontology":
            return _ontology(path)
        if format == "skos":
            return _skos(path, language)
        if format == "markdown":
            return _markdown_file(path, chunk, encoding)
        return _folder(path, chunk)


@contextmanager
def _readable(path: Path, encoding: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not in {encoding.removesuffix('-sig')}: say --encoding, as in --encoding latin-1") from error
    except LookupError as error:
        raise Unreadable(str(error)) from error
    except OSError as error:
        raise Unreadable(f"{error.filename or path} cannot be read: {error.strerror or error}") from error


FORMATS = ("csv", "paths", "ontology", "skos", "markdown", "folder")
ENDINGS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "paths", ".obo": "ontology", ".owl": "ontology", ".ttl": "skos", ".rdf": "skos", ".skos": "skos", ".xml": "skos",
    ".md": "markdown", ".markdown": "markdown",
}


def format_of(path: Path) -> str:
    """The format that a path's ending says."""
    if path.is_dir():
        return "folder"
    found = ENDINGS.get(path.suffix.lower())
    if found is None:
        raise Unreadable(f"what is in {path} its name does not say: give --format, one of {', '.join(FORMATS)}")
    return found


def _opened(path: Path) -> BinaryIO:
    return open(0, "rb", closefd=False) if str(path) == "-" else path.open("rb")


def _held(path: Path) -> bytes:
    with _opened(path) as file:
        return file.read()


def _csv(path: Path, columns: Mapping[str, str | None], encoding: str) -> Source:
    rows = _rows(path, encoding)
    _, header = next(rows)
    place = {role: _column(header, role, columns.get(role)) for role in NAMES}
    if place["path"] is not None and place["parent"] is None:
        at, id = place["path"], place["id"]
        return _paths(path, ((line, "" if id is None else row[id].strip(), row[at]) for line, row in rows))
    missing = [role for role in ("id", "parent", "name") if place[role] is None]
    if missing:
        raise Unreadable(
            f"{path} has the columns {', '.join(header)}: which is {' and '.join(missing)}? Say {' '.join(f'--{role} COLUMN' for role in missing)}, "
            "or --path COLUMN for paths as in A > B > C"
        )
    return Source(_csv_nodes(path, rows, place["id"], place["parent"], place["name"]))


def _column(header: list[str], role: str, said: str | None) -> int | None:
    if said is not None:
        if said not in header:
            raise Unreadable(f'there is no column "{said}": the file has {", ".join(header)}')
        return header.index(said)
    folded = [name.strip().lower() for name in header]
    return next((folded.index(name) for name in NAMES[role] if name in folded), None)


def _rows(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """The header, then the rows, with the numbers of their lines."""
    with _readable(path, encoding), io.TextIOWrapper(_opened(path), encoding, newline="") as file:
        start: list[str] = []
        while not start or not start[-1].strip():
            start.append(file.readline())
            if not start[-1]:
                raise Unreadable(f"{path} is empty")
        try:
            delimiter = csv.Sniffer().sniff(start[-1], delimiters=",;\t|").delimiter
        except csv.Error:
            delimiter = ","
        reader = csv.reader(itertools.chain(start, file), delimiter=delimiter, strict=True)
        width = 0
        try:
            for row in reader:
                if not row:
                    continue
                if len(row) != (width := width or len(row)):
                    raise Unreadable(f"{path}, line {reader.line_num}: {len(row)} fields where the header has {width}")
                yield reader.line_num, row
        except csv.Error as error:
            raise Unreadable(f"{path}, line {reader.line_num}: {error}") from error


def _csv_nodes(path: Path, rows: Iterable[tuple[int, list[str]]], id: int | None, parent: int | None, name: int | None) -> Iterator[Node]:
    assert id is not None and parent is not None and name is not None
    for line, row in rows:
        if not row[id].strip():
            raise Unreadable(f"{path}, line {line}: the id is empty")
        yield row[id].strip(), row[parent].strip() or None, row[name].strip() or None


def _google(path: Path, text: str) -> Source:
    """Paths, one a line; # begins a comment. In front of each may stand an id, as in Google's product taxonomy: 3237 - A > B."""
    said = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip() and not line.lstrip().startswith("#")]
    with_ids = [(number, match[1], match[2]) for number, line in said if (match := GOOGLE.fullmatch(line))]
    if with_ids and len(with_ids) < len(said):
        number, line = next((number, line) for number, line in said if not GOOGLE.fullmatch(line))
        raise Unreadable(f'{path}, line {number}: "{line}" has no id in front, and line {with_ids[0][0]} has one: give all lines an id, or none')
    return _paths(path, with_ids or ((number, "", line) for number, line in said))


def _paths(file: Path, said: Iterable[tuple[int, str, str]]) -> Source:
    """Lines, ids (or nothing) and paths as A > B > C. What has no id gets a number or, where ids are no numbers, its path."""
    ids: dict[tuple[str, ...], str] = {}
    lines: dict[tuple[str, ...], int] = {}
    for line, id, path in said:
        names = tuple(name.strip() for name in path.split(">"))
        if not all(names):
            raise Unreadable(f"{file}, line {line}: " + (f'"{path}" has an empty name' if path.strip() else "the path is empty"))
        if id and names in lines:
            raise Unreadable(f'{file}, lines {lines[names]} and {line}: "{path}" is there twice, with the ids {ids[names]} and {id}')
        for depth in range(1, len(names)):
            ids.setdefault(names[:depth], "")
        ids[names] = id or ids.get(names, "")
        if id:
            lines[names] = line
    given = [id for id in ids.values() if id]
    free = max(map(int, given), default=0) if all(id.isdecimal() for id in given) else None
    nodes: list[Node] = []
    for names in sorted(ids, key=len):  # Parents first.
        if not ids[names]:
            free = None if free is None else free + 1
            ids[names] = " > ".join(names) if free is None else str(free)
        nodes.append((ids[names], ids.get(names[:-1]), names[-1]))
    return Source(nodes)


def _ontology(path: Path) -> Source:
    """OBO and OWL (RDF/XML): is_a as the parent, synonyms as aliases; obsolete terms are left out."""
    pronto = _library("pronto")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of details of an ontology that no hierarchy needs.
            terms = [term for term in pronto.Ontology(io.BytesIO(_held(path)), import_depth=0).terms() if not term.obsolete]
            source = Source([], codes=True)
            nodes: list[Node] = []
            for term in terms:
                parents = [parent.id for parent in term.superclasses(distance=1, with_self=False)]
                nodes.extend((term.id, parent, term.name) for parent in parents or [None])
                source.aliases.extend((synonym.description, term.id) for synonym in sorted(term.synonyms))
    except (OSError, UnicodeDecodeError):
        raise
    except KeyError as error:
        raise Unreadable(f"{path} names the term {error.args[0]} and does not define it: merge the ontologies that it imports into one file first") from error
    except Exception as error:  # Its parsers raise many kinds.
        raise Unreadable(f"{path} is no ontology in OBO or OWL (RDF/XML): {error}") from error
    source.nodes = nodes
    return source


def _skos(path: Path, language: str) -> Source:
    """SKOS in Turtle or RDF/XML: broader and narrower as edges, prefLabel as the name, other labels and notations as aliases."""
    rdflib = _library("rdflib")
    graph, held, ending = rdflib.Graph(), _held(path), path.suffix.lower()
    turtle = ending == ".ttl" or (ending not in ENDINGS and b":RDF" not in held)
    try:
        graph.parse(data=held, format="turtle" if turtle else "xml", publicID=path.absolute().as_uri())
    except Exception as error:  # Its parsers raise many kinds.
        raise Unreadable(f"{path} is not {'Turtle' if turtle else 'RDF/XML'}: {error}") from error
    skos = rdflib.SKOS
    parents: dict[Any, set[Any]] = {concept: set() for concept in graph.subjects(rdflib.RDF.type, skos.Concept)}
    for child, parent in graph.subject_objects(skos.broader):
        parents.setdefault(child, set()).add(parent)
    for parent, child in graph.subject_objects(skos.narrower):
        parents.setdefault(child, set()).add(parent)
    for parent in {parent for found in parents.values() for parent in found}:
        parents.setdefault(parent, set())
    if not parents:
        raise Unreadable(f"{path} has no skos:Concept")
    nodes: list[Node] = []
    source = Source(nodes)
    for concept in sorted(parents):
        labels = sorted(graph.objects(concept, skos.prefLabel), key=lambda label: (label.language != language, label.language is not None, str(label)))
        nodes.extend((str(concept), parent and str(parent), str(labels[0]) if labels else None) for parent in sorted(parents[concept]) or [None])
        others = [*labels[1:], *(label for kind in (skos.altLabel, skos.hiddenLabel, skos.notation) for label in sorted(graph.objects(concept, kind)))]
        source.aliases.extend((alias, str(concept)) for alias in dict.fromkeys(map(str, others)))
    return source


def _markdown_file(path: Path, chunk: int, encoding: str) -> Source:
    text = _held(path).decode(encoding)
    nodes: list[Node] = []
    source = Source(nodes)
    _markdown(source, nodes, path.name, None, text, chunk, {})
    return source


def _folder(root: Path, chunk: int) -> Source:
    """Folders and files are entities; Markdown files have their sections below them; texts are documents. Hidden files are left out, and what links lead to."""
    nodes: list[Node] = [(".", None, root.resolve().name)]
    source = Source(nodes)

    def refused(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(root, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = Path(folder).relative_to(root).as_posix()
        marked = [name for name in (*folders, *files) if "#" in name]
        for name in folders:
            nodes.append((_id(here, name), here, _valid(name)))
        for name in sorted(name for name in files if not name.startswith(".")):
            text = _text_of(Path(folder, name))
            if text is not None and ENDINGS.get(Path(name).suffix.lower()) == "markdown":
                taken = {_valid(other.removeprefix(f"{name}#")): 0 for other in marked if other.startswith(f"{name}#")}
                _markdown(source, nodes, _id(here, name), here, text, chunk, taken)
                continue
            nodes.append((_id(here, name), here, _valid(name)))
            if text is not None:
                source.documents.extend((_id(here, name), body) for body in _packed(re.split(r"\n[ \t]*\n", text), chunk))
    return source


def _id(folder: str, name: str) -> str:
    return _valid(name if folder == "." else f"{folder}/{name}")


def _valid(name: str) -> str:
    """A file's name, which may have bytes that are no text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _text_of(path: Path) -> str | None:
    """What a file says, if that is a text. A link is not followed: it may lead out of the folder."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    held = path.read_bytes()
    if b"\0" in held:
        return None
    try:
        return held.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _markdown(source: Source, nodes: list[Node], id: str, parent: str | None, text: str, chunk: int, taken: dict[str, int]) -> None:
    """The sections of a text as a tree below its file, and what stands in each as documents. A single title at the top is the file's name.

    taken: the anchors that are taken, with the last number of each.
    """
    text = FRONT_MATTER.sub("", re.sub("\r\n?", "\n", text).replace("\0", ""), count=1)
    tokens = _library("markdown_it").MarkdownIt("commonmark").enable("table").parse(text)
    lines = text.split("\n")
    titles = [place for place, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h1"]
    title = _heading(tokens[1]) if titles == [0] else ""
    nodes.append((id, parent, title or id.rsplit("/", 1)[-1]))
    if title:
        source.aliases.append((id.rsplit("/", 1)[-1], id))
    above = [(0, id)]
    blocks: dict[str, list[str]] = {id: []}
    for place, token in enumerate(tokens):
        if token.level != 0 or token.map is None:
            continue
        if token.type != "heading_open":
            blocks[above[-1][1]].append("\n".join(lines[token.map[0]:token.map[1]]).strip("\n"))
            continue
        if title and place == 0:
            continue
        depth, name = int(token.tag[1:]), _heading(tokens[place + 1])
        while above[-1][0] >= depth:
            above.pop()
        section = f"{id}#{_slug(name, taken)}"
        nodes.append((section, above[-1][1], name or None))
        above.append((depth, section))
        blocks[section] = []
    for section, found in blocks.items():
        source.documents.extend((section, body) for body in _packed(found, chunk))


def _heading(inline: Any) -> str:
    """The words of a heading, without its marks."""
    return "".join(" " if part.type in ("softbreak", "hardbreak") else part.content for part in inline.children or []).strip()


def _slug(name: str, taken: dict[str, int]) -> str:
    """The anchor of a heading, as Markdown's readers make it; of equal ones the second is numbered."""
    slug = re.sub(r"[^\w\- ]", "", name.lower()).strip().replace(" ", "-")
    anchor = slug
    while anchor in taken:
        taken[slug] += 1
        anchor = f"{slug}-{taken[slug]}"
    taken[anchor] = 0
    return anchor


def _packed(blocks: Iterable[str], size: int) -> Iterator[str]:
    """Blocks one behind the other, as long as they fit into a chunk; one that is too long alone is divided at its lines, or else in the middle."""
    held = ""
    for block in blocks:
        for piece in _pieces(block.strip("\n"), size):
            if held and len(held) + 2 + len(piece) > size:
                yield held
                held = ""
            held = f"{held}\n\n{piece}" if held else piece
    if held:
        yield held


def _pieces(block: str, size: int) -> Iterator[str]:
    while len(block) > size:
        end = max(block.rfind("\n", 1, size), block.rfind(" ", 1, size) if "\n" not in block[:size] else 0)
        end = end if end > 0 else size
        yield block[:end]
        block = block[end:].lstrip("\n ") if block[end:].strip() else ""
    if block.strip():
        yield block


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unreadable(f"this format needs {name}: install cftrag with its extra cli (its README says how, from a checkout)") from error
