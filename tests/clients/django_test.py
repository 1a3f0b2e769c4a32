"""docs/clients/with_django.py: a QuerySet of a subtree can be filtered further; prompt() returns cft_prompt's prompt."""

import json
import os

import django
from django.conf import settings

database = {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}
settings.configure(DATABASES={"default": database}, INSTALLED_APPS=[], DEFAULT_AUTO_FIELD="django.db.models.AutoField")
django.setup()

from django.db import connection  # noqa: E402
from with_django import Document, prompt  # noqa: E402

with connection.cursor() as cursor:
    cursor.execute("SELECT parent FROM entity_edges GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
    top = cursor.fetchone()[0]
    cursor.execute("SELECT id FROM documents WHERE entity = %s OR entity IN (SELECT relative FROM cft_context(%s, 0, 10)) ORDER BY id", (top, top))
    expected = [row[0] for row in cursor.fetchall()]
    cursor.execute("SELECT question, embedding::text FROM questions ORDER BY id LIMIT 1")
    question, embedding = cursor.fetchone()
    cursor.execute("SELECT cft_prompt(%s, %s::vector, k => 3, budget => 300)", (question, embedding))
    wanted = cursor.fetchone()[0]
assert sorted(d.id for d in Document.below(top)) == expected and expected, top
assert Document.below(top).exclude(id=expected[0]).count() == len(expected) - 1
assert list(Document.below("no such entity")) == []
assert prompt(question, json.loads(embedding)) == wanted
