"""cftrag from asyncpg: a pool, prepared statements, arrays as lists.

pip install asyncpg. An embedding goes in as text, cast twice: asyncpg does not know pgvector's type.
"""

PROMPT = "SELECT cft_prompt($1, $2::text::vector, k => 3, budget => 300)"
CONTEXT = "SELECT entity, relation, depth, relative FROM cft_context($1::text[], up => 2, down => 1)"


async def prompt(pool, question, embedding):
    return await pool.fetchval(PROMPT, question, str(list(embedding)))


async def contexts(pool, entities):
    """All of them in one statement: a list is an array."""
    return [tuple(row) for row in await pool.fetch(CONTEXT, entities)]
