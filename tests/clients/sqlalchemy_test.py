"""docs/clients/with_sqlalchemy.py: its join gives the rows of the join in SQL."""

import os

import sqlalchemy
from sqlalchemy.orm import Session
from with_sqlalchemy import context_text, documents_around

engine = sqlalchemy.create_engine("postgresql+psycopg://", connect_args={"dbname": os.environ["PGDATABASE"]})
with Session(engine) as session:
    found = documents_around(session, "diabetes")
    expected = session.execute(
        sqlalchemy.text(
            "SELECT d.id, c.relation, c.depth FROM cft_context('diabetes') AS c JOIN documents AS d ON d.entity = c.relative ORDER BY c.depth, d.id"
        )
    ).all()
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected)) and len(found) > 1, found
    text = context_text(session, ["diabetes", "sleep clinic"])
    assert text == session.scalar(sqlalchemy.text("SELECT cft_context_text(ARRAY['diabetes', 'sleep clinic'])")) and "sleep clinic" in text
