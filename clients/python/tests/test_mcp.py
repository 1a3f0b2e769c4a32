"""The MCP server, asked by mcp's own client over stdio, in the newest protocol and in one of before."""

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402

from cftrag import mcp as served  # noqa: E402

pytestmark = pytest.mark.server

QUESTION = "Which running shoes are there in size 42?"


@asynccontextmanager
async def client(dsn: str, *options: str, mode: str = "auto", cwd: object = None) -> AsyncIterator[Client]:
    said = {name: value for name, value in os.environ.items() if name.startswith("PG")}
    arguments = ["-m", "cftrag.mcp", "--dsn", dsn, "--edges", "categories", "--documents", "products", *options]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments, env=said, cwd=cwd), mode=mode, read_timeout_seconds=60) as made:
        yield made


def text(result) -> str:
    [content] = result.content
    return content.text


@pytest.mark.parametrize(("mode", "protocol"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_each_tool_answers_in_text_and_in_its_model(shop, mode, protocol):
    async with client(shop, mode=mode) as ask:
        assert ask.protocol_version == protocol
        tools = {tool.name: tool for tool in (await ask.list_tools()).tools}
        assert sorted(tools) == ["find_entities", "hierarchy", "prompt", "search", "tree"]
        assert all(tool.annotations.read_only_hint and tool.output_schema and tool.description for tool in tools.values())

        found = await ask.call_tool("find_entities", {"text": "runing shoes and accessories", "within": ["Sports"]})
        assert [(row["entity"], row["method"], row["path"]) for row in found.structured_content["entities"]] == [
            ("3", "typo", "Sports > Shoes > Running shoes"), ("6", "exact", "Sports > Shoes > Accessories")
        ]
        assert text(found).splitlines()[0] == '"runing shoes" (typo): Sports > Shoes > Running shoes (entity 3)'

        found = await ask.call_tool("hierarchy", {"entity": "running shoes", "up": 1})
        assert text(found) == "Sports > Shoes > Running shoes (entity 3)\n1 above: Shoes (entity 2)\n1 below: Trail shoes (entity 5)"
        assert found.structured_content["relatives"][1] == {"relation": "descendant", "depth": 1, "entity": "5", "label": "Trail shoes", "tree": None}

        found = await ask.call_tool("search", {"question": QUESTION, "within": ["Sports > Shoes"], "filter": {"brand": "Knot"}})
        assert [(row["source"], row["document_id"]) for row in found.structured_content["rows"]] == [("hierarchy", None), ("hierarchy", None), ("chunk", "4")]
        assert text(found).splitlines()[0] == 'Above Running shoes: Shoes, Sports. (mentioned as "running shoes")'

        empty = await ask.call_tool("search", {"question": QUESTION, "within": [], "filter": {}, "trees": []})
        assert empty.structured_content == (await ask.call_tool("search", {"question": QUESTION})).structured_content
        assert len(empty.structured_content["rows"]) > 3

        found = await ask.call_tool("prompt", {"question": QUESTION})
        assert text(found) == found.structured_content["text"]
        assert "Above Running shoes: Shoes, Sports." in text(found) and text(found).endswith(f"Question: {QUESTION}")

        found = await ask.call_tool("tree", {"entity": "8", "down": 0})
        assert text(found) == "Camping\n└── Tents (here)"


async def test_without_an_entity_the_top_of_the_hierarchy_is_listed(shop):
    async with client(shop) as ask:
        found = await ask.call_tool("hierarchy", {})
        assert text(found) == "At the top of the hierarchy:\nSports (entity 1)\nCamping (entity 7)"
        assert found.structured_content["entity"] is None
        assert [(row["relation"], row["entity"]) for row in found.structured_content["relatives"]] == [("root", "1"), ("root", "7")]
    with psycopg.connect(shop, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS tops (parent text, child text)")
        connection.execute("INSERT INTO tops SELECT NULL, n FROM generate_series(1, 150) n")
        connection.execute("SELECT cft_attach('tops')")
    async with client(shop, "--edges", "tops") as ask:
        found = await ask.call_tool("hierarchy", {})
        assert len(found.structured_content["relatives"]) == 100 and found.structured_content["left_out"] == 50
        assert text(found).endswith("\n(50 more are at the top)")


async def test_one_entity_is_taken_without_a_list_and_an_id_as_a_number(shop):
    async with client(shop) as ask:
        expected = await ask.call_tool("search", {"question": QUESTION, "within": ["2"]})
        for within in ("Shoes", "2", 2, [2]):
            assert (await ask.call_tool("search", {"question": QUESTION, "within": within})).structured_content == expected.structured_content
        assert text(await ask.call_tool("tree", {"entity": 8, "down": 0})) == "Camping\n└── Tents (here)"
        assert text(await ask.call_tool("hierarchy", {"entity": 8, "down": 0})) == "Camping > Tents (entity 8)\n1 above: Camping (entity 7)"


async def test_a_long_error_is_cut(shop):
    async with client(shop) as ask:
        found = await ask.call_tool("hierarchy", {"entity": "x" * 1_000_000})
        assert found.is_error and len(text(found)) < 1000 and 'there is no entity "xxx' in text(found)
        found = await ask.call_tool("search", {"question": QUESTION, "filter": {"a": {"$" + "x" * 1_000_000: 1}}})
        assert found.is_error and len(text(found)) <= served.LIMIT


@pytest.mark.parametrize("given", ["0", "0.0001", "-1", "nan", "soon"])
def test_a_timeout_is_a_millisecond_at_least(given, capsys):
    with pytest.raises(SystemExit) as ended:
        served.main(["--timeout", given])
    assert ended.value.code == 2 and "argument --timeout: " in capsys.readouterr().err


def test_what_a_model_prints_as_it_is_imported_is_no_part_of_the_protocol(shop, tmp_path):
    (tmp_path / "talks.py").write_text("print('loading model')\n\ndef embed(text):\n    return [1.0, 0.0, 0.0]\n")
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    done = subprocess.run(
        [sys.executable, "-m", "cftrag.mcp", "--dsn", shop, "--embed", "talks:embed"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}) + "\n",
    )
    assert json.loads(done.stdout.splitlines()[0])["id"] == 1 and "loading model" in done.stderr


def test_instructions_and_skill_agree():
    skill = (Path(__file__).parents[1] / "skill" / "SKILL.md").read_text()
    for said in (skill, served.INSTRUCTIONS):
        assert re.search("Begin with `?search`?: it finds the entities of the question by itself", said) and re.search("find_entities`? is for their ids", said)


async def test_what_cannot_be_answered_says_what_to_do(shop):
    cases = [
        ("tree", {"entity": "Trial shoe"}, 'there is no entity "Trial shoe". Similar: Sports > Shoes > Running shoes > Trail shoes (entity 5); '),
        ("tree", {"entity": "xyz"}, 'there is no entity "xyz". Nothing is similar; at the top of the hierarchy: Sports (entity 1); Camping (entity 7)'),
        ("hierarchy", {"entity": "Accessories"}, "is the name of 2 entities. Give the id or the path of one: Sports > Shoes > Accessories (entity 6); Camping"),
        ("search", {"question": QUESTION, "within": ["Boats"]}, 'there is no entity "Boats"'),
        ("search", {"question": QUESTION, "filter": {"brand": {"$is": 1}}}, '"filter" has no operator "$is"\nHint: The operators are $eq'),
        ("hierarchy", {"entity": "2", "up": -1}, "greater than or equal to 0"),
        ("tree", {"entity": "a\0b"}, "cannot contain NUL"),
    ]
    async with client(shop) as ask:
        for tool, arguments, said in cases:
            found = await ask.call_tool(tool, arguments)
            assert found.is_error and said in text(found) and "Traceback" not in text(found), text(found)


async def test_a_model_is_asked_for_the_embedding(shop, tmp_path):
    (tmp_path / "models.py").write_text("def embed(text):\n    return [0.1, 0.9, 0.1]\n\ndef broken(text):\n    raise ValueError('no such model')\n")
    async with client(shop, "--embed", "models:embed", cwd=tmp_path) as ask:
        found = await ask.call_tool("search", {"question": "what is there?", "k": 1})
        assert [(row["source"], row["document_id"]) for row in found.structured_content["rows"]] == [("document", "2")]
    async with client(shop, "--embed", "models:broken", cwd=tmp_path) as ask:
        found = await ask.call_tool("search", {"question": "what is there?"})
        assert found.is_error and text(found).endswith("the model (--embed) failed: ValueError: no such model")
    async with client(shop) as ask:
        found = await ask.call_tool("search", {"question": "what is there?"})
        assert not found.is_error and text(found).startswith("Nothing was found: by words, since this server has no model")


async def test_a_call_ends_at_its_timeout_and_the_next_one_is_answered(shop):
    async with client(shop, "--timeout", "0.3") as ask:
        with psycopg.connect(shop) as other:
            other.execute("LOCK TABLE categories IN ACCESS EXCLUSIVE MODE")
            found = await ask.call_tool("hierarchy", {"entity": "2"})
            assert found.is_error and "the database took too long (statement timeout)" in text(found)
        assert not (await ask.call_tool("hierarchy", {"entity": "2"})).is_error


async def test_a_connection_that_was_ended_is_replaced(shop):
    async with client(f"{shop} application_name=cftrag_mcp_test") as ask:
        assert not (await ask.call_tool("tree", {"entity": "2"})).is_error
        with psycopg.connect(shop, autocommit=True) as other:
            ended = other.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'cftrag_mcp_test'").fetchone()
        assert ended[0] >= 1
        assert not (await ask.call_tool("tree", {"entity": "2"})).is_error


async def test_a_long_answer_is_cut_and_says_so(shop):
    with psycopg.connect(shop, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS wide (parent text, child text)")
        connection.execute("INSERT INTO wide SELECT 'top', lpad(n::text, 200, '_x') FROM generate_series(1, 1000) n")
        connection.execute("SELECT cft_attach('wide')")
    async with client(shop, "--edges", "wide") as ask:
        found = await ask.call_tool("hierarchy", {"entity": "top"})
        rows, left_out = found.structured_content["relatives"], found.structured_content["left_out"]
        assert len(rows) + left_out == 1000 and left_out > 500
        assert text(found).endswith(f"({left_out} more rows do not fit into 100000 characters: ask for less)")
        assert 90_000 < len(text(found)) + len(json.dumps(found.structured_content, ensure_ascii=False)) <= served.LIMIT

        found = await ask.call_tool("tree", {"entity": "top", "lines": 5000})
        assert "more characters do not fit into 100000" in text(found)
        assert 90_000 < len(text(found)) + len(json.dumps(found.structured_content, ensure_ascii=False)) <= served.LIMIT


async def test_a_call_cannot_write(shop):
    database = served.Database(shop, edges="categories", documents="products", embed=None, timeout=5)
    await database.open()
    try:
        with pytest.raises(ToolError, match="cannot execute CREATE TABLE in a read-only transaction"):
            async with database.asking() as ask:
                await ask._connections.fetch("CREATE TABLE written (id int)", [])
    finally:
        await database.close()


def test_a_database_that_is_not_there_is_said_at_the_start(shop, capsys):
    assert served.main(["--dsn", "dbname=cftrag_no_such_database"]) == 1
    assert 'database "cftrag_no_such_database" does not exist' in capsys.readouterr().err
