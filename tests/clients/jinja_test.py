"""docs/clients/with_jinja.py: the prompt contains what cft_retrieve and cft_context_json return, and nothing else."""

import json
import re

import psycopg
from with_jinja import prompt

with psycopg.connect() as connection:
    questions = [(q, json.loads(e)) for q, e in connection.execute("SELECT question, embedding::text FROM questions ORDER BY id")]
    for question, embedding in questions:
        text = prompt(connection, question, embedding)
        documents = connection.execute(
            "SELECT document_id, text FROM cft_retrieve(%s, %s::vector, k => 3) WHERE source <> 'hierarchy'", (question, str(embedding))
        ).fetchall()
        assert re.findall(r'<document id="(.*?)">(.*?)</document>', text, re.S) == documents, text
        relatives = connection.execute(
            "SELECT c.entity, c.relative FROM cft_context(ARRAY(SELECT DISTINCT entity FROM cft_entities(%s)), 2, 1) AS c", (question,)
        ).fetchall()
        assert all(f"\n{entity}:\n" in text and relative in text for entity, relative in relatives), text
        assert text.endswith(question)
    assert any("\n    - " in prompt(connection, q, e) for q, e in questions)
