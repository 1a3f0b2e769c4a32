"""An existing table of LangChain's PGVectorStore as cftrag's documents, and the hierarchy as a filter of its own search.

pip install langchain-postgres. The store keeps the entity of a document in a column (metadata_columns=["entity"]).
"""

ATTACH = """SELECT cft_attach_documents(%s::regclass, id => 'langchain_id', body => 'content', embedding => 'embedding', entity => 'entity')"""
BELOW = "SELECT array_agg(relative) || %s::text FROM cft_context(%s, up => 0, down => %s)"


def attach(connection, table):
    """Once: from then on cft_retrieve, cft_prompt and cft_chunks take the store's documents."""
    connection.execute(ATTACH, (table,))


def search_below(connection, store, embedding, entity, k=4, levels=10):
    """The store's own similarity search, among documents about an entity and what is below it."""
    entities = connection.execute(BELOW, (entity, entity, levels)).fetchone()[0]
    return store.similarity_search_by_vector(embedding, k=k, filter={"entity": {"$in": entities or [entity]}})
