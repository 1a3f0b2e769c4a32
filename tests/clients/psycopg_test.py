"""docs/clients/with_psycopg.py: prompts are equal sync, async, and after the driver prepared the statement; contexts use a pipeline."""

import asyncio
import json

import psycopg
from psycopg_pool import ConnectionPool
from with_psycopg import context_text, contexts, prompt, prompt_async, prompt_from


async def all_async(questions):
    async with await psycopg.AsyncConnection.connect() as connection:
        return [await prompt_async(connection, q, e) for q, e in questions]


with psycopg.connect() as connection:
    questions = [(q, json.loads(e)) for q, e in connection.execute("SELECT question, embedding::text FROM questions ORDER BY id")]
    assert len(questions) == 8
    prompts = [prompt(connection, q, e) for q, e in questions]
    assert all(p.endswith("Question: " + q) and "Documents:\n[1] " in p for p, (q, _) in zip(prompts, questions)), prompts
    assert any("Hierarchy:\n" in p for p in prompts)
    # psycopg prepares a statement when it runs for the sixth time.
    assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0] > 0
    assert prompts == [prompt(connection, q, e) for q, e in questions]

    entities = ["diabetes", "sleep clinic", "no such entity", "infusion pump"] * 5
    answers = contexts(connection, entities)
    assert answers[2] == [] and answers[0][0][0] == "ancestor" and len(answers) == 20
    assert answers == [connection.execute("SELECT relation, depth, relative FROM cft_context(%s, 2, 1)", (e,)).fetchall() for e in entities]
    assert context_text(connection, ["diabetes", "sleep clinic"]) == "\n".join(
        connection.execute("SELECT cft_context_text(%s)", (e,)).fetchone()[0] for e in ["diabetes", "sleep clinic"]
    )
    try:
        with connection.transaction():
            connection.execute("SELECT cft_context_text(%s)", (["diabetes", "sleep clinic"],))
        raise SystemExit("a list was accepted as a name")
    except psycopg.errors.InvalidParameterValue as error:
        assert "text[]" in error.diag.message_hint
    # An error leaves the connection usable, in a pipeline too.
    try:
        with connection.transaction():
            contexts(connection, ["diabetes", "bad\0name"])
        raise SystemExit("a zero byte was accepted")
    except (psycopg.Error, ValueError):
        pass
    try:
        with connection.transaction():
            connection.execute("SELECT cft_context_text('diabetes', -1)")
        raise SystemExit("-1 levels were accepted")
    except psycopg.errors.InvalidParameterValue:
        pass
    assert contexts(connection, ["diabetes"])[0] == answers[0]

assert asyncio.run(all_async(questions)) == prompts
with ConnectionPool("", open=True, max_size=4) as pool:
    assert [prompt_from(pool, q, e) for q, e in questions] == prompts
