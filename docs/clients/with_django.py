"""cftrag from Django: the hierarchy as a condition of a QuerySet, and a prompt by a cursor.

pip install django psycopg[binary]. The model is your own table of documents.
"""

from django.db import connection, models
from django.db.models.expressions import RawSQL


class Document(models.Model):
    id = models.TextField(primary_key=True)
    title = models.TextField()
    body = models.TextField()
    entity = models.TextField()

    class Meta:
        app_label = "clients"
        db_table = "documents"
        managed = False

    @classmethod
    def below(cls, entity, levels=10):
        """Documents about an entity and all that is below it."""
        relatives = RawSQL("SELECT %s UNION SELECT relative FROM cft_context(%s, 0, %s)", (entity, entity, levels))
        return cls.objects.filter(entity__in=relatives)


def prompt(question, embedding):
    with connection.cursor() as cursor:
        cursor.execute("SELECT cft_prompt(%s, %s::vector, k => 3, budget => 300)", (question, str(list(embedding))))
        return cursor.fetchone()[0]
