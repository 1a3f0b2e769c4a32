-- Documents: which tables and columns hold them. The registration is a trigger on the user's own table that never fires
-- (UPDATE OF the columns, WHEN false): its column list is the registration, its arguments say what each column is for.
-- The trigger follows renamed tables and columns, goes when the table is dropped, and is dumped by pg_dump; a
-- registered column cannot be dropped without CASCADE; and no catalog of ours can go stale. A mapping or an entities
-- table names its other table by FROM. Everything runs with the caller's rights, and names tables by regclass, which is
-- schema-qualified under this search_path.

CREATE FUNCTION cftrag_internal.cft_attached(edges regclass DEFAULT NULL)
RETURNS TABLE(edges regclass, parent name, child name, tree name, labels regclass, labelled name, label name,
    by_name boolean)
LANGUAGE c STABLE PARALLEL SAFE COST 20 ROWS 1
AS 'MODULE_PATHNAME', 'cft_attached_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_attached(regclass) IS
'the attached edges table (the only one, if none is named), its columns, and where its labels are';

CREATE FUNCTION cftrag_internal.cft_called(entities text[], edges regclass) RETURNS text[]
    LANGUAGE c STABLE PARALLEL SAFE COST 20
AS 'MODULE_PATHNAME', 'cft_called_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_called(text[], regclass) IS
'the labels of entities, or the names of those without';

CREATE FUNCTION cftrag_internal.cft_label(entity text, edges regclass) RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE COST 20
AS 'MODULE_PATHNAME', 'cft_label_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_label(text, regclass) IS 'the label of an entity; NULL if it has none';

CREATE FUNCTION cftrag_internal.cft_documents() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_documents() IS
'trigger that never fires: its columns are those of a table of documents (cft_attach_documents)';

CREATE FUNCTION cftrag_internal.cft_document_entities() RETURNS trigger
    LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_document_entities() IS
'trigger that never fires: its columns are those of a table that maps entities to documents (cft_attach_documents)';

CREATE FUNCTION cftrag_internal.cft_links() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_links() IS
'trigger that never fires: says to the entities of which edges table documents are linked, and by which rules '
'(cft_attach_documents: link)';

CREATE FUNCTION cftrag_internal.cft_summaries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_summaries() IS
'trigger that never fires: its columns are those of a table of summaries (cft_attach_summaries)';

CREATE FUNCTION cftrag_internal.cft_summary_documents() RETURNS trigger
    LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_summary_documents() IS
'trigger that never fires: says whose documents a table of summaries is made of (cft_attach_summaries)';

CREATE FUNCTION cftrag_internal.cft_entity_embeddings() RETURNS trigger
    LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_entity_embeddings() IS
'trigger that never fires: its columns are those of a table of entities'' embeddings (cft_attach_embeddings)';

CREATE FUNCTION cftrag_internal.cft_word_classes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_word_classes() IS
'trigger that never fires: its columns are those of a table of word classes (cft_attach_words)';

CREATE FUNCTION cftrag_internal.cft_phrases() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_phrases() IS
'trigger that never fires: its columns are those of a table of phrases (cft_attach_phrases)';

-- Triggers by OID, with the rights of CREATE TRIGGER and DROP TRIGGER. See src/catalog/trigger_ddl.rs.
CREATE FUNCTION cftrag_internal.cft_watch(relation regclass, trigger_function regprocedure) RETURNS void
LANGUAGE c VOLATILE STRICT COST 10
AS 'MODULE_PATHNAME', 'cft_watch_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_watch(regclass, regprocedure) IS
'creates triggers after each statement that changes a table';

CREATE FUNCTION cftrag_internal.cft_drop_triggers(relation regclass, trigger_function regprocedure,
    other regclass DEFAULT NULL) RETURNS boolean
LANGUAGE c VOLATILE COST 10
AS 'MODULE_PATHNAME', 'cft_drop_triggers_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_drop_triggers(regclass, regprocedure, regclass) IS
'drops the triggers of a function from a table, those that say it belongs to another if that is given; owner only';

-- Whether a table that a trigger assigns to another one counts: its owner must own the other one too, be able to SET
-- ROLE to its owner, or be a superuser. The TRIGGER privilege on a table is not the right to run code as its readers.
CREATE FUNCTION cftrag_internal.cft_counts(relation regclass, other regclass) RETURNS boolean
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_counts_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_counts(regclass, regclass) IS
'whether the owner of a table may say that it belongs to another';

-- Which table is meant depends on the caller's search_path, so these run before a function of ours sets its own. 0:
-- search_path shows none, or several.
CREATE FUNCTION cftrag_internal.cft_meant_edges(edges regclass) RETURNS regclass
LANGUAGE c STABLE PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_meant_edges_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_meant_edges(regclass) IS
'the edges table that is named, or else the only attached one in search_path';

CREATE FUNCTION cftrag_internal.cft_meant_documents(documents regclass) RETURNS regclass
LANGUAGE c STABLE PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_meant_documents_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_meant_documents(regclass) IS
'the table of documents that is named, or else the only attached one in search_path';

-- A value of a column, given as SQL (d.title), as text: by the output function of its type, as SELECT shows it
-- (src/catalog/column_sql.rs). Every column of a user's that becomes text does so by this, and no operator is given a
-- value of a type that is not the server's.
CREATE FUNCTION cftrag_internal.cft_as_text(value text, relation regclass, column_name name)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_as_text_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_as_text(text, regclass, name) IS 'a value of a column as a text, as SQL';

-- The registrations by a trigger function, whatever the caller may read: those on a table, those of the tables that
-- belong to another, or all of them. columns is by role: {"id": "title", "body": "text", ...}. always means ENABLE
-- ALWAYS, which only the table's owner can set; such registrations come before all others, then the oldest. See
-- src/catalog/registered.rs.
CREATE FUNCTION cftrag_internal.cft_registered(trigger_function regprocedure, of_relation regclass,
    of_other regclass DEFAULT NULL, every boolean DEFAULT false)
RETURNS TABLE(relation regclass, other regclass, columns jsonb, trigger_name name, always boolean)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 1
AS 'MODULE_PATHNAME', 'cft_registered_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_registered(regprocedure, regclass, regclass, boolean) IS
'what a trigger that never fires says of a table, of the tables that belong to another, or of every table';

-- The registrations of tables that the caller may read: those of a table, those of tables that belong to another, or,
-- if neither is named, all. A table that belongs to another is listed only if it counts (cft_counts); tables with the
-- other's owner come first.
CREATE FUNCTION cftrag_internal.cft_columns(trigger_function regprocedure, of_relation regclass DEFAULT NULL,
    of_other regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, other regclass, columns jsonb, trigger_name name)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 1
AS 'MODULE_PATHNAME', 'cft_columns_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_columns(regprocedure, regclass, regclass) IS
'the tables attached by a trigger function which the caller may read, with their columns by role';

-- Drops the registration and, unless columns is NULL, creates a new one. roles[i] lists the roles of columns[i],
-- separated by blanks.
CREATE FUNCTION cftrag_internal.cft_set_columns(relation regclass, other regclass, trigger_function regprocedure,
    columns name[], roles text[])
RETURNS boolean LANGUAGE c VOLATILE COST 1000 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_set_columns_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_set_columns(regclass, regclass, regprocedure, name[], text[]) IS
'writes the registration of a table of documents, a mapping, embeddings, words, phrases or summaries; owner only';

CREATE FUNCTION cft_attach_documents(documents regclass, id name DEFAULT 'id', body name DEFAULT 'body',
    embedding name DEFAULT 'embedding',
    entity name DEFAULT NULL, tokens name DEFAULT NULL,
    mapping regclass DEFAULT NULL, mapping_entity name DEFAULT 'entity', mapping_document name DEFAULT 'document_id',
    metadata name DEFAULT NULL, search name DEFAULT NULL,
    columns text[] DEFAULT NULL, sort name DEFAULT NULL, show text[] DEFAULT NULL,
    link boolean DEFAULT false, match text DEFAULT 'inflected', edges regclass DEFAULT NULL, tree name DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_documents_wrapper';
COMMENT ON FUNCTION cft_attach_documents(regclass, name, name, name, name, name, regclass, name, name, name, name,
    text[], name, text[], boolean, text, regclass, name) IS
'says which columns of a table hold documents, and how they belong to entities: by a column, by a mapping table, or by '
'a table that cftrag keeps of the entities that their texts mention (link, found as cft_entities finds them by match, '
'in edges, in the tree of the column tree); owner only. columns: those that filters may name, beside the metadata. '
'sort: the order of documents about one entity. show: columns that a prompt shows beside the text';

CREATE FUNCTION cftrag_internal.cft_detach_documents(documents regclass)
RETURNS void LANGUAGE c VOLATILE STRICT COST 1000 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_detach_documents_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_detach_documents(regclass) IS 'what cft_detach calls for documents';

CREATE FUNCTION cftrag_internal.cft_link() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_link_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_link() IS
'trigger after each statement that changes documents: writes which entities they mention';

CREATE FUNCTION cftrag_internal.cft_is_visible(entity text, edges regclass) RETURNS boolean
LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_is_visible_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_is_visible(text, regclass) IS
'whether the caller can see an entity of an edges table; for the policy of links';

CREATE FUNCTION cft_relink(documents regclass DEFAULT NULL) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_relink_wrapper';
COMMENT ON FUNCTION cft_relink(regclass) IS
'compares the links of all documents with what they mention, and writes those that differ: for how many documents; '
'owner only. Triggers and a background worker do so by themselves';

CREATE FUNCTION cft_linked(document text, documents regclass DEFAULT NULL) RETURNS TABLE(entity text, label text,
    mentions integer)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 10
AS 'MODULE_PATHNAME', 'cft_linked_wrapper';
COMMENT ON FUNCTION cft_linked(text, regclass) IS
'the entities that a document is about or mentions, those that it mentions most first; 0 mentions: only its column of '
'entities says so; NULL: not counted';

-- Ids need no cast.
CREATE FUNCTION cft_linked(id bigint, documents regclass DEFAULT NULL) RETURNS TABLE(entity text, label text,
    mentions integer)
LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_linked($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_linked(bigint, regclass) IS 'cft_linked for an integer id';

CREATE FUNCTION cft_linked(uuid uuid, documents regclass DEFAULT NULL) RETURNS TABLE(entity text, label text,
    mentions integer)
LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_linked($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_linked(uuid, regclass) IS 'cft_linked for a uuid';

CREATE FUNCTION cft_documents(entity text, documents regclass DEFAULT NULL) RETURNS TABLE(document_id text,
    mentions integer)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 10
AS 'MODULE_PATHNAME', 'cft_documents_wrapper';
COMMENT ON FUNCTION cft_documents(text, regclass) IS
'the documents that are about an entity or mention it, those that mention it most first; not those about its relatives '
'(cft_chunks)';

CREATE FUNCTION cft_documents(id bigint, documents regclass DEFAULT NULL) RETURNS TABLE(document_id text,
    mentions integer)
LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_documents($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_documents(bigint, regclass) IS 'cft_documents for an integer id';

CREATE FUNCTION cft_documents(uuid uuid, documents regclass DEFAULT NULL) RETURNS TABLE(document_id text,
    mentions integer)
LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_documents($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_documents(uuid, regclass) IS 'cft_documents for a uuid';

CREATE FUNCTION cft_attach_embeddings(embeddings regclass, entity name DEFAULT 'entity',
    embedding name DEFAULT 'embedding', edges regclass DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_embeddings_wrapper';
COMMENT ON FUNCTION cft_attach_embeddings(regclass, name, name, regclass) IS
'says which columns of a table hold the embeddings of the entities of an edges table; owner only';

CREATE FUNCTION cft_attach_words(words regclass, word name DEFAULT 'word', class name DEFAULT 'class',
    edges regclass DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_words_wrapper';
COMMENT ON FUNCTION cft_attach_words(regclass, name, name, regclass) IS
'says which words may stand for each other in the names of an edges table: those of the same class; texts find the '
'names by either (match: inflected, fuzzy); owner only';

CREATE FUNCTION cft_attach_phrases(phrases regclass, tree name DEFAULT 'tree', up name DEFAULT 'up',
    down name DEFAULT 'down', edges regclass DEFAULT NULL,
    up_several name DEFAULT NULL, down_several name DEFAULT NULL, more name DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_phrases_wrapper';
COMMENT ON FUNCTION cft_attach_phrases(regclass, name, name, name, regclass, name, name, name) IS
'says in which words prompts write what is above and below the entities of an edges table, tree by tree: formats with '
'{entity}, {names} and {tree}; owner only';

-- The table of documents, its columns, and its mapping. NULL or 0 raises the error for an argument left out: 42P01 if
-- no table is attached, else 42725.
CREATE FUNCTION cftrag_internal.cft_attached_documents(documents regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, id name, body name, embedding name, entity name, tokens name,
              mapping regclass, mapping_entity name, mapping_document name, metadata name, search name)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 1
AS 'MODULE_PATHNAME', 'cft_attached_documents_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_attached_documents(regclass) IS
'an attached table of documents, its columns, and its mapping to entities';

CREATE FUNCTION cft_chunks(entities text[], embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer,
    distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_chunks_many_wrapper';
COMMENT ON FUNCTION cft_chunks(text[], vector, integer, integer, regclass, text[], regclass) IS
'the documents about entities and their relatives (in these trees), each once, the nearest first: by depth, then by '
'distance to the embedding if one is given';

CREATE FUNCTION cft_chunks(entity text, embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer,
    distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 10
AS 'MODULE_PATHNAME', 'cft_chunks_one_wrapper';
COMMENT ON FUNCTION cft_chunks(text, vector, integer, integer, regclass, text[], regclass) IS
'the documents about an entity and its relatives';

CREATE FUNCTION cftrag_internal.cft_search_statement(documents regclass, by text, within boolean DEFAULT false,
    filter jsonb DEFAULT NULL) RETURNS text
LANGUAGE c STABLE PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_search_statement_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_search_statement(regclass, text, boolean, jsonb) IS
'the statement of a search of documents, by nearest, words, about or centroid';

CREATE FUNCTION cftrag_internal.cft_condition(documents regclass, filter jsonb, parameter integer)
    RETURNS TABLE(condition text, parameters text[])
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10 ROWS 1
AS 'MODULE_PATHNAME', 'cft_condition_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_condition(regclass, jsonb, integer) IS
'a filter of documents as a condition on a document (d), and what its parameter is';
