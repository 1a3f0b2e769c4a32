"""cftrag from SQLAlchemy 2: a set-returning function is a FROM item, joined with your tables.

pip install sqlalchemy psycopg[binary]; the engine's URL is postgresql+psycopg://...
"""

from sqlalchemy import cast, column, func, select, table
from sqlalchemy.dialects.postgresql import ARRAY, TEXT

documents = table("documents", column("id"), column("entity"), column("body"))


def relatives(entity, up=3, down=1):
    return func.cft_context(entity, up, down).table_valued("entity", "tree", "relation", "depth", "relative", "via", name="relatives")


def documents_around(session, entity):
    """The documents about the relatives of an entity, the nearest first."""
    near = relatives(entity)
    statement = (
        select(documents.c.id, near.c.relation, near.c.depth)
        .join_from(near, documents, documents.c.entity == near.c.relative)
        .order_by(near.c.depth, documents.c.id)
    )
    return session.execute(statement).all()


def context_text(session, entities):
    # The type says that it is an array, and not one name.
    return session.scalar(select(func.cft_context_text(cast(entities, ARRAY(TEXT)))))
