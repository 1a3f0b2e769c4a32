"""The command line: what it reads, without a server, and what it loads, checks and says, against one."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

pytest.importorskip("rdflib")

from cftrag import cli, load  # noqa: E402

SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://example.org/> .
ex:animals a skos:Concept ; skos:prefLabel "Animals"@en, "Tiere"@de ; skos:narrower ex:cats .
ex:cats a skos:Concept ; skos:prefLabel "Cats"@en ; skos:altLabel "House cats"@en ; skos:notation "C1" .
ex:dogs a skos:Concept ; skos:prefLabel "Dogs"@en ; skos:broader ex:animals .
"""
OBO = """format-version: 1.2
ontology: t

[Term]
id: T:0000001
name: organ

[Term]
id: T:0000002
name: heart
synonym: "cor" EXACT []
is_a: T:0000001 ! organ

[Term]
id: T:0000003
name: old name of it
is_obsolete: true
"""
OWL = """<?xml version="1.0"?>
<rdf:RDF xml:base="http://example.org/t" xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
<owl:Ontology rdf:about="http://example.org/t"/>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/T_0000001"><rdfs:label>organ</rdfs:label></owl:Class>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/T_0000002"><rdfs:label>heart</rdfs:label>
  <rdfs:subClassOf rdf:resource="http://purl.obolibrary.org/obo/T_0000001"/><oboInOwl:hasExactSynonym>cor</oboInOwl:hasExactSynonym></owl:Class>
</rdf:RDF>
"""
GUIDE = """---
author: somebody
---
# The *guide*

What it is for.

## Install

Run `make`.

```sh
# no heading
make
```

### On Linux

As root.

## Install

Again.
"""
CASES = {
    "comma.csv": ("id,parent,name\n1,0,Sports\n2,1,\"Shoes, all\"\n", [("1", "0", "Sports"), ("2", "1", "Shoes, all")], []),
    "semicolon.csv": ("\ufeffCode;Parent_Code;Label\na;;Sports\nb;a;Shoes\n", [("a", None, "Sports"), ("b", "a", "Shoes")], []),
    "path.csv": ("path\nSports > Shoes\nCamping\n", [("1", None, "Sports"), ("2", None, "Camping"), ("3", "1", "Shoes")], []),
    "path_with_ids.csv": ("id,path\ns,Sports\nx,Sports > Shoes > Boots\n",
                          [("s", None, "Sports"), ("Sports > Shoes", "s", "Shoes"), ("x", "Sports > Shoes", "Boots")], []),
    "paths.txt": ("A > B\nA > C > B\n", [("1", None, "A"), ("2", "1", "B"), ("3", "1", "C"), ("4", "3", "B")], []),
    "signs.txt": ("Shop > More\u0085 and\u2028 more\f!\r\nShop > Less\n",
                  [("1", None, "Shop"), ("2", "1", "More\u0085 and\u2028 more\f!"), ("3", "1", "Less")], []),
    "google.txt": ("# Google_Product_Taxonomy_Version: 2021-09-21\n1 - Animals\n3237 - Animals > Live Animals\n2 - Animals > Pet Supplies\n",
                   [("1", None, "Animals"), ("3237", "1", "Live Animals"), ("2", "1", "Pet Supplies")], []),
    "t.obo": (OBO, [("T:0000001", None, "organ"), ("T:0000002", "T:0000001", "heart")], [("cor", "T:0000002")]),
    "t.owl": (OWL, [("T:0000001", None, "organ"), ("T:0000002", "T:0000001", "heart")], [("cor", "T:0000002")]),
    "t.ttl": (
        SKOS,
        [("http://example.org/animals", None, "Animals"), ("http://example.org/cats", "http://example.org/animals", "Cats"),
         ("http://example.org/dogs", "http://example.org/animals", "Dogs")],
        [("Tiere", "http://example.org/animals"), ("House cats", "http://example.org/cats"), ("C1", "http://example.org/cats")],
    ),
}


def read(path: Path, **options: object) -> load.Source:
    return load.read(path, load.format_of(path), columns={}, **options)


@pytest.mark.parametrize("name", CASES)
def test_each_format_is_read_as_nodes_and_aliases(name, tmp_path):
    held, nodes, aliases = CASES[name]
    (tmp_path / name).write_text(held)
    source = read(tmp_path / name)
    assert sorted(source.nodes) == sorted(nodes)
    assert source.aliases == aliases


def test_skos_in_rdf_xml_is_the_same_as_in_turtle(tmp_path):
    import rdflib

    (tmp_path / "t.ttl").write_text(SKOS)
    rdflib.Graph().parse(data=SKOS, format="turtle").serialize(str(tmp_path / "t.rdf"), format="pretty-xml")
    assert list(read(tmp_path / "t.rdf").nodes) == list(read(tmp_path / "t.ttl").nodes)
    assert next(iter(read(tmp_path / "t.ttl", language="de").nodes))[2] == "Tiere"


def test_markdown_is_a_tree_of_its_sections_with_their_texts(tmp_path):
    (tmp_path / "guide.md").write_text(GUIDE)
    source = read(tmp_path / "guide.md")
    assert source.nodes == [
        ("guide.md", None, "The guide"), ("guide.md#install", "guide.md", "Install"), ("guide.md#on-linux", "guide.md#install", "On Linux"),
        ("guide.md#install-1", "guide.md", "Install"),
    ]
    assert source.aliases == [("guide.md", "guide.md")]
    assert source.documents == [
        ("guide.md", "What it is for."), ("guide.md#install", "Run `make`.\n\n```sh\n# no heading\nmake\n```"), ("guide.md#on-linux", "As root."),
        ("guide.md#install-1", "Again."),
    ]
    divided = read(tmp_path / "guide.md", chunk=20).documents
    assert [body for section, body in divided if section == "guide.md#install"] == ["Run `make`.", "```sh\n# no heading", "make\n```"]


def test_a_folder_is_a_tree_of_its_files_with_their_texts(tmp_path):
    (tmp_path / "docs" / ".hidden").mkdir(parents=True)
    (tmp_path / "docs" / "guide.md").write_text("# Guide\n\nRead it.\n")
    (tmp_path / "docs" / "notes.txt").write_text("One.\n\nTwo.\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\xff")
    source = read(tmp_path)
    assert source.nodes == [
        (".", None, tmp_path.name), ("docs", ".", "docs"), ("picture.png", ".", "picture.png"), ("docs/guide.md", "docs", "Guide"),
        ("docs/notes.txt", "docs", "notes.txt"),
    ]
    assert source.documents == [("docs/guide.md", "Read it."), ("docs/notes.txt", "One.\n\nTwo.\n".rstrip())]


def test_the_anchors_of_sections_are_unique(tmp_path):
    (tmp_path / "a.md").write_text("# T\n\none\n\n# T\n\ntwo\n\n# T 1\n\nthree\n")
    assert read(tmp_path / "a.md").documents == [("a.md#t", "one"), ("a.md#t-1", "two"), ("a.md#t-1-1", "three")]
    (tmp_path / "a.md#t").write_text("a file")
    assert read(tmp_path).documents == [("a.md#t-1", "one"), ("a.md#t-2", "two"), ("a.md#t-1-1", "three"), ("a.md#t", "a file")]


def test_links_in_a_folder_are_not_followed(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.md").write_text("# A\n\nsecret")
    (tmp_path / "docs").mkdir()
    for name, other in ("notes.txt", "secret/a.md"), ("b.md", "secret/a.md"), ("inner", "secret"):
        (tmp_path / "docs" / name).symlink_to(tmp_path / other)
    source = read(tmp_path / "docs")
    assert [node[0] for node in source.nodes] == [".", "inner", "b.md", "notes.txt"]
    assert source.documents == []


@pytest.mark.parametrize(("format", "name"), [("csv", "comma.csv"), ("paths", "paths.txt"), ("ontology", "t.obo"), ("skos", "t.ttl")])
@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
def test_of_a_pipe_nothing_is_lost(format, name, path):
    held, nodes, _ = CASES[name]
    code = f"import pathlib, cftrag.load as load; print(sorted(load.read(pathlib.Path({path!r}), {format!r}, columns={{}}).nodes))"
    done = subprocess.run([sys.executable, "-c", code], input=held, capture_output=True, text=True)
    assert done.stdout == f"{sorted(nodes)}\n", done.stderr


def test_of_a_long_pipe_nothing_is_lost():
    code = "import pathlib, cftrag.load as load; n = [*load.read(pathlib.Path('-'), 'csv', columns={}).nodes]; print(len(n), n[0], n[-1])"
    held = "id,parent,name\n" + "".join(f"{n},,n{n}\n" for n in range(20000))
    done = subprocess.run([sys.executable, "-c", code], input=held, capture_output=True, text=True)
    assert done.stdout == "20000 ('0', None, 'n0') ('19999', None, 'n19999')\n", done.stderr


@pytest.mark.parametrize("given", ["0", "-1", "x"])
def test_a_chunk_has_a_character_at_least(given, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["load", "a.md", "--table", "x", "--chunk", given])
    assert ended.value.code == 2 and "argument --chunk: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "held", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"x,y\n1,2\n", "has the columns x, y: which is id and parent and name? Say --id COLUMN --parent COLUMN --name COLUMN"),
        ("a.csv", b"id,parent,name\n1,,A\n2,1\n", "line 3: 2 fields where the header has 3"),
        ("a.csv", b"id,parent,name\n,,A\n", "line 2: the id is empty"),
        ("a.csv", b"id,parent,name\n1,,\xe9\n", "is not in utf-8: say --encoding"),
        ("a.txt", b"A >  > B\n", 'line 1: "A >  > B" has an empty name'),
        ("a.txt", b"# ids\n1 - A\n2 - A\n", 'lines 2 and 3: "A" is there twice, with the ids 1 and 2'),
        ("a.txt", b"1 - A\n2 - A > B\nC > D\n", 'line 3: "C > D" has no id in front, and line 1 has one: give all lines an id, or none'),
        ("a.csv", b"id,path\n1,A\n2,A\n", 'lines 2 and 3: "A" is there twice, with the ids 1 and 2'),
        ("a.csv", b"\n \n", "is empty"),
        ("a.obo", b"no ontology", "is no ontology in OBO or OWL"),
        ("a.obo", OBO.replace("is_a: T:0000001", "is_a: T:0000009").encode(), "names the term T:0000009 and does not define it"),
        ("a.ttl", b"<a> <b>", "is not Turtle"),
        ("a.ttl", b"<a> <b> <c> .", "has no skos:Concept"),
        ("a.xyz", b"", "give --format, one of csv, paths"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_to_do(name, held, said, tmp_path):
    (tmp_path / name).write_bytes(held)
    with pytest.raises(load.Unreadable) as error:
        list(read(tmp_path / name).nodes)
    assert said in str(error.value)


@pytest.fixture
def rows(shop):
    """Asks the server what is in a table now."""
    with psycopg.connect(shop, autocommit=True) as connection:

        def ask(statement):
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

        yield ask
        for (table,) in ask("SELECT oid::regclass::text FROM pg_class WHERE relname LIKE 'cli\\_%' AND relkind = 'r' AND pg_table_is_visible(oid)"):
            ask(f"DROP TABLE IF EXISTS {table} CASCADE")


def run(dsn: str, command: str, *arguments: object) -> int:
    return cli.main([command, "--dsn", dsn, *map(str, arguments)])


@pytest.mark.server
def test_a_csv_becomes_an_attached_table(shop, rows, tmp_path, capsys):
    (tmp_path / "shop.csv").write_text("id,parent,name\n1,0,Sports\n2,1,Shoes\n3,2,Boots\n")
    assert run(shop, "load", tmp_path / "shop.csv", "--table", "cli_shop") == 0
    assert "cli_shop: 3 rows, 1 with parent 0 made roots. Loaded and attached." in capsys.readouterr().out
    assert rows("SELECT id, parent_id, name, pg_typeof(id)::text FROM cli_shop ORDER BY id") == [
        (1, None, "Sports", "bigint"), (2, 1, "Shoes", "bigint"), (3, 2, "Boots", "bigint")
    ]
    assert rows("SELECT relative, label FROM cft_context(3, edges => 'cli_shop')") == [("2", "Shoes"), ("1", "Sports")]

    assert run(shop, "load", tmp_path / "shop.csv", "--table", "cli_shop") == 1
    assert "already exists. With --replace it is dropped and made anew." in capsys.readouterr().err
    (tmp_path / "shop.csv").write_text("id,parent,name\n1,,Music\n2,1\n")
    assert run(shop, "load", tmp_path / "shop.csv", "--table", "cli_shop", "--replace") == 1
    assert "line 3" in capsys.readouterr().err
    assert rows("SELECT count(*) FROM cli_shop") == [(3,)]
    (tmp_path / "shop.csv").write_text("id,parent,name\n1,,Music\n")
    assert run(shop, "load", tmp_path / "shop.csv", "--table", "cli_shop", "--replace") == 0
    assert rows("SELECT name FROM cli_shop") == [("Music",)]


@pytest.mark.server
def test_replace_drops_what_load_made_and_nothing_else(shop, rows, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("A > B\n")
    (tmp_path / "a.md").write_text(GUIDE)
    assert run(shop, "load", tmp_path / "a.md", "--table", "cli_mine") == 0
    assert run(shop, "load", tmp_path / "a.txt", "--table", "cli_mine", "--replace") == 0
    assert rows("SELECT to_regclass('cli_mine_documents'), to_regclass('cli_mine_aliases')") == [(None, None)]
    rows("CREATE TABLE cli_mine_documents AS SELECT 1 AS precious")
    capsys.readouterr()
    assert run(shop, "load", tmp_path / "a.txt", "--table", "cli_mine", "--replace") == 1
    assert '"cli_mine_documents" is not attached as documents of "cli_mine", and this load makes no documents: drop it yourself' in capsys.readouterr().err
    assert rows("SELECT precious FROM cli_mine_documents") == [(1,)]
    rows("CREATE TABLE cli_mine_aliases (alias text, entity text)")
    rows("SELECT cft_attach_aliases('cli_mine_aliases', edges => 'edges')")
    rows("DROP TABLE cli_mine_documents")
    assert run(shop, "load", tmp_path / "a.txt", "--table", "cli_mine", "--replace") == 1
    assert '"cli_mine_aliases" is not attached as aliases of "cli_mine"' in capsys.readouterr().err


@pytest.mark.server
@pytest.mark.parametrize(("table", "made"), [("Cli_Names", "cli_names"), ('"cli_Na mes"', '"cli_Na mes"'), ('"cli_a.b"', '"cli_a.b"'), ("cli_a.b.c.d", None)])
def test_names_of_tables_are_those_of_sql(shop, rows, tmp_path, capsys, table, made):
    (tmp_path / "a.md").write_text("# Guide\n\nRead it.\n")
    assert run(shop, "load", tmp_path / "a.md", "--table", table) == (0 if made else 1)
    said = capsys.readouterr()
    if made is None:
        assert "cli_a.b.c.d" in said.err and "Traceback" not in said.err
        return
    assert said.out.startswith(f"{made}: ") and rows(f"SELECT count(*) FROM {made}") == [(1,)]
    assert run(shop, *shlex.split(said.out.rsplit("Next: cftrag ", 1)[1])) == 0
    assert run(shop, "tree", "a.md", "--edges", table) == 0


@pytest.mark.server
def test_a_hint_names_the_option_to_give(shop, capsys):
    assert run(shop, "tree", "8") == 1
    assert re.search(r"Hint: Say which one: --edges \S+\.\n", capsys.readouterr().err)


@pytest.mark.server
@pytest.mark.parametrize("name", ["t.obo", "t.owl"])
def test_synonyms_and_codes_of_an_ontology_are_names(shop, rows, tmp_path, name):
    (tmp_path / name).write_text(CASES[name][0])
    assert run(shop, "load", tmp_path / name, "--table", "cli_ontology", "--replace") == 0
    assert rows("SELECT entity, via_alias FROM cft_entities('the cor', 'cli_ontology')") == [("T:0000002", "cor")]
    assert rows("SELECT entity FROM cft_entities('what is T:0000001', 'cli_ontology')") == [("T:0000001",)]


@pytest.mark.server
def test_a_folder_can_be_asked_with_and_without_a_model(shop, rows, tmp_path, capsys, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE)
    (tmp_path / "cli_models.py").write_text("def embed(text):\n    return [float(len(text)), 1.0]\n")
    monkeypatch.chdir(tmp_path)
    tables = ("--edges", "cli_docs", "--documents", "cli_docs_documents")
    for model in ((), ("--embed", "cli_models:embed")):
        assert run(shop, "load", tmp_path / "docs", "--table", "cli_docs", "--replace", *model) == 0
        assert "5 rows, 1 aliases" in capsys.readouterr().out
        assert run(shop, "ask", "What do I run to install?", "--k", 1, "--within", "guide.md", *tables, *model) == 0
        said = capsys.readouterr().out
        assert "Run `make`." in said and said.endswith("Question: What do I run to install?\n")
    assert rows("SELECT body, embedding::text FROM cli_docs_documents WHERE entity = 'guide.md#on-linux'") == [("As root.", "[8,1]")]


@pytest.mark.server
@pytest.mark.parametrize(("model", "said"), [
    ("broken", "RuntimeError: no such model"), ("nothing", "is needed, not NoneType"), ("later", "embed is asynchronous: give a plain function"),
])
def test_a_model_that_fails_is_said(shop, rows, tmp_path, capsys, monkeypatch, model, said):
    (tmp_path / "cli_failing.py").write_text(
        "def broken(text):\n    raise RuntimeError('no such model')\n\ndef nothing(text):\n    pass\n\nasync def later(text):\n    return [1.0, 1.0, 1.0]\n"
    )
    (tmp_path / "a.md").write_text(GUIDE)
    monkeypatch.chdir(tmp_path)
    embed = ("--embed", f"cli_failing:{model}")
    assert run(shop, "ask", "Which tents?", "--edges", "categories", "--documents", "products", *embed) == 1
    assert said in (error := capsys.readouterr().err) and error.startswith("cftrag: the model (--embed) failed: ")
    assert run(shop, "load", tmp_path / "a.md", "--table", "cli_failing", *embed) == 1
    assert capsys.readouterr().err == error and rows("SELECT to_regclass('cli_failing')") == [(None,)]


@pytest.mark.server
def test_check_finds_each_thing_that_is_wrong(shop, rows, capsys):
    assert run(shop, "check", "categories") == 0
    said = capsys.readouterr().out
    assert "WRONG" not in said and "1 names belong to several entities" in said  # Accessories, twice.
    with psycopg.connect(shop, autocommit=True) as connection:
        connection.execute("CREATE TABLE cli_bad (code int, above int, title text)")
        connection.execute(
            "INSERT INTO cli_bad VALUES (1, NULL, 'Top'), (2, 1, 'A'), (3, 1, 'a '), (4, 4, 'Self'), (5, 0, 'Zero'), (6, 99, 'Orphan'), (7, 8, 'C1'),"
            " (8, 9, 'C2'), (9, 7, 'C3'), (2, 1, 'A'), (10, 2, 'One'), (10, 3, 'Other'), (NULL, 1, 'no id'), (11, 1, '')"
        )
    for attach in (False, True):
        if attach:
            rows("SELECT cft_attach('cli_bad', parent => 'above', child => 'code', label => 'title')")
        columns = () if attach else ("--id", "code", "--parent", "above", "--name", "title")
        assert run(shop, "check", "cli_bad", *columns) == 1
        assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
            "WRONG  rows without an id: 1", "parent 1",
            "WRONG  rows that are their own parent: 1", "4",
            "WRONG  cycles: 1", "7 below 8 closes one",
            "WRONG  rows that are there twice: 1", "2 below 1: 2 times",
            "WRONG  roots with parent 0 (or empty, or -1) where NULL belongs: 1", "5",
            "WRONG  parents that have no row: 1", "99, of 6",
            "WRONG  rows without a name: 1", "11",
            "WRONG  ids with several names: 1", "10: One, Other",
            "WRONG  siblings of one name: 1", '"A" below 1: 2, 3',
            "1 names belong to several entities: a text that says one finds each of these",
        ]


@pytest.mark.server
def test_check_of_edges_knows_their_trees_and_no_names(shop, capsys):
    assert run(shop, "check", "edges") == 0
    said = capsys.readouterr().out
    assert "good  cycles: 0" in said and "not looked for, without a column of names" in said


@pytest.mark.server
def test_tree_takes_an_id_a_name_or_a_path(shop, capsys):
    for entity in ("8", "tents", "Camping > Tents"):
        assert run(shop, "tree", entity, "--edges", "categories", "--down", 0) == 0
        assert capsys.readouterr().out == "Camping\n└── Tents (here)\n"
    assert run(shop, "tree", "Trial shoe", "--edges", "categories") == 1
    assert 'there is no entity "Trial shoe". Similar: Sports > Shoes > Running shoes > Trail shoes (5)' in capsys.readouterr().err


@pytest.mark.server
def test_ask_prints_the_prompt_and_the_hints_of_errors(shop, capsys):
    tables = ("--edges", "categories", "--documents", "products")
    assert run(shop, "ask", "Which tents?", *tables) == 0
    assert "Above Tents: Camping." in capsys.readouterr().out
    assert run(shop, "ask", "Which tents?", "--within", "Accessories", *tables) == 1
    assert '"Accessories" is the name of 2 entities' in capsys.readouterr().err
    assert run(shop, "ask", "Which tents?", "--filter", '{"price": {"$is": 1}}', *tables) == 1
    assert "Hint: The operators are $eq" in capsys.readouterr().err


@pytest.mark.server
def test_health_says_what_is_checked_and_what_to_type(shop, rows, capsys):
    rows("SELECT cft_build('categories')")
    run(shop, "health", "--verify")
    said = capsys.readouterr().out
    assert re.search(r"ok       image of .*categories: 18 rows, ", said) and "compared with the table: equal" in said
    rows("ALTER TABLE categories DISABLE TRIGGER cftrag_row")
    try:
        assert run(shop, "health", "--verify") == 1
        said = capsys.readouterr().out
        assert said.startswith("critical image of ") and "its triggers are not those of the build" in said and "call cft_attach again" in said
        assert 'there is nothing to verify: the image of "categories" would not serve this call Detail: Reason: triggers.' in said
    finally:
        rows("ALTER TABLE categories ENABLE ALWAYS TRIGGER cftrag_row")


@pytest.mark.server
def test_an_extension_that_is_not_found_is_said(shop, capsys):
    assert run("options='-c search_path=pg_catalog'", "health") == 1
    assert 'Hint: CREATE EXTENSION cftrag CASCADE in this database' in capsys.readouterr().err


@pytest.mark.server
def test_as_a_command_it_ends_with_its_status(shop):
    for arguments, status in (["tree", "--dsn", shop, "8", "--edges", "categories"], 0), (["tree", "--dsn", "dbname=cftrag_no_such_database", "8"], 1), ([], 2):
        done = subprocess.run([sys.executable, "-m", "cftrag", *arguments], capture_output=True, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr, done.stderr
