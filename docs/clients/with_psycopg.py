"""cftrag from Python by psycopg 3: sync, async, and many questions in one round trip (pipeline).

pip install psycopg[binary]. An embedding goes in as text, '[0.1, 0.2, ...]', cast to vector.
"""

import psycopg

PROMPT = "SELECT cft_prompt(%s, %s::vector, k => 3, budget => 300)"
CONTEXT = "SELECT relation, depth, relative FROM cft_context(%s, up => 2, down => 1)"


def prompt(connection, question, embedding):
    return connection.execute(PROMPT, (question, str(list(embedding)))).fetchone()[0]


async def prompt_async(connection, question, embedding):
    cursor = await connection.execute(PROMPT, (question, str(list(embedding))))
    return (await cursor.fetchone())[0]


def contexts(connection, entities):
    """Many statements, one round trip. (For many entities of one table, cft_context(ARRAY[...]) is one statement.)"""
    with connection.pipeline():
        cursors = [connection.execute(CONTEXT, (entity,)) for entity in entities]
        return [cursor.fetchall() for cursor in cursors]
