"""docs/clients/with_asyncpg.py: a pool gives psycopg's answers, to many concurrent calls."""

import asyncio
import json
import os

import asyncpg
import psycopg
from with_asyncpg import contexts, prompt

ENTITIES = ["diabetes", "sleep clinic", "no such entity"]
with psycopg.connect() as connection:
    questions = [(q, json.loads(e)) for q, e in connection.execute("SELECT question, embedding::text FROM questions ORDER BY id")]
    prompts = [connection.execute("SELECT cft_prompt(%s, %s::vector, k => 3, budget => 300)", (q, str(e))).fetchone()[0] for q, e in questions]
    rows = connection.execute("SELECT entity, relation, depth, relative FROM cft_context(%s::text[], 2, 1)", (ENTITIES,)).fetchall()


async def main():
    async with asyncpg.create_pool(host=os.environ["PGHOST"], port=os.environ.get("PGPORT"), user=os.environ.get("PGUSER"), database=os.environ["PGDATABASE"], min_size=1, max_size=4) as pool:
        assert await asyncio.gather(*(prompt(pool, q, e) for q, e in questions * 3)) == prompts * 3
        assert await contexts(pool, ENTITIES) == rows and rows


asyncio.run(main())
