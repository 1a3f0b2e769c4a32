"""cftrag from Python by psycopg 3: sync, async, from a pool, and many questions in one round trip (pipeline).

pip install psycopg[binary,pool]. An embedding goes in as text, '[0.1, 0.2, ...]', cast to vector.
"""

import psycopg

PROMPT = "SELECT cft_prompt(%s, %s::vector, k => 3, budget => 300)"
CONTEXT = "SELECT relation, depth, relative FROM cft_context(%s, up => 2, down => 1)"


def prompt(connection, question, embedding):
    return connection.execute(PROMPT, (question, str(list(embedding)))).fetchone()[0]


async def prompt_async(connection, question, embedding):
    cursor = await connection.execute(PROMPT, (question, str(list(embedding))))
    return (await cursor.fetchone())[0]


def prompt_from(pool, question, embedding):
    """Each call takes a connection of the pool and gives it back."""
    with pool.connection() as connection:
        return prompt(connection, question, embedding)


def context_text(connection, entities):
    """A list is sent as text unless its type is said: '{a,b}' would be one name."""
    return connection.execute("SELECT cft_context_text(%s::text[])", (entities,)).fetchone()[0]


def contexts(connection, entities):
    """Many statements, one round trip. (For many entities of one table, cft_context(%s::text[]) is one statement.)"""
    with connection.pipeline():
        cursors = [connection.execute(CONTEXT, (entity,)) for entity in entities]
        return [cursor.fetchall() for cursor in cursors]
