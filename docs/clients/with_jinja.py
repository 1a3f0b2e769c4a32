"""A prompt with loops and conditions: cft_retrieve's rows and cft_context_json, in a Jinja template on the client's side.

pip install psycopg[binary] jinja2. cft_prompt's own format has placeholders only: {question} {documents} {hierarchy} {chunks}.
"""

from jinja2 import Environment
from psycopg.rows import dict_row

RETRIEVE = "SELECT source, document_id, text FROM cft_retrieve(%s, %s::vector, k => 3)"
HIERARCHY = "SELECT cft_context_json(ARRAY(SELECT DISTINCT entity FROM cft_entities(%s)), up => 2, down => 1)"

TEMPLATE = Environment(trim_blocks=True, lstrip_blocks=True).from_string("""\
{% for row in rows if row.source != 'hierarchy' %}
<document id="{{ row.document_id }}">{{ row.text }}</document>
{% endfor %}
{% for entity in entities %}
{{ entity.entity }}:
  {% for tree in entity.trees %}
  - {{ tree.tree or 'hierarchy' }}: {{ tree.ancestors | map(attribute='entity') | join(' < ') or 'a root' }}
    {% for below in tree.descendants %}
    - {{ below.entity }}
    {% endfor %}
  {% endfor %}
{% endfor %}
{{ question }}
""")


def prompt(connection, question, embedding):
    cursor = connection.cursor(row_factory=dict_row)
    rows = cursor.execute(RETRIEVE, (question, str(list(embedding)))).fetchall()
    entities = connection.execute(HIERARCHY, (question,)).fetchone()[0]
    return TEMPLATE.render(question=question, rows=rows, entities=entities)
