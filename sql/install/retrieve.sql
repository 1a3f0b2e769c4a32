-- From a question to its context. STABLE: a call reads everything with one snapshot, the caller's, and with the
-- caller's rights and search_path. The searches are statements of src/retrieve/search.rs: no text from the caller
-- becomes SQL.

CREATE FUNCTION cft_nearest_documents(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL,
    within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_nearest_documents_wrapper';
COMMENT ON FUNCTION cft_nearest_documents(vector, integer, regclass, text[], regclass, jsonb) IS
'the k documents nearest to an embedding (about entities within these, with these metadata), all k while there are so '
'many: by the operator of the index on their column, else by cosine distance';

CREATE FUNCTION cft_nearest_entities(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL,
    within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, distance float8, score float8, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_nearest_entities_wrapper';
COMMENT ON FUNCTION cft_nearest_entities(vector, integer, regclass, text[], regclass, jsonb) IS
'the entities nearest to an embedding (within these): by cft_attach_embeddings, else those of the k nearest documents; '
'score is 1 - cosine distance, else minus the distance';

CREATE FUNCTION cft_retrieve(question text, embedding vector, k integer DEFAULT 5, chunks integer DEFAULT NULL,
    up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT NULL, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
        within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL, match text DEFAULT NULL, narrow boolean DEFAULT true, expand text DEFAULT NULL)
RETURNS TABLE(source text, entity text, document_id text, rank integer, distance float8, text text, tokens integer,
    why text, path text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_retrieve_wrapper';
COMMENT ON FUNCTION cft_retrieve(text, vector, integer, integer, integer, integer, integer, text, regclass, text[],
    text[], regclass, jsonb, text, boolean, text) IS
'what belongs to a question: the nearest documents, the hierarchy of the entities it mentions, and documents about '
'these (all in these trees, within these entities, with these metadata); each row says why it is here, and of a '
'document, where what it is about is in the hierarchy';

CREATE FUNCTION cft_prompt(question text, embedding vector, k integer DEFAULT 5, chunks integer DEFAULT NULL,
    up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT NULL, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
        within text[] DEFAULT NULL, documents regclass DEFAULT NULL, template text DEFAULT NULL,
    filter jsonb DEFAULT NULL, match text DEFAULT NULL, narrow boolean DEFAULT true,
        document_template text DEFAULT NULL, expand text DEFAULT NULL)
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 10000
AS 'MODULE_PATHNAME', 'cft_prompt_wrapper';
COMMENT ON FUNCTION cft_prompt(text, vector, integer, integer, integer, integer, integer, text, regclass, text[],
    text[], regclass, text, jsonb, text, boolean, text, text) IS
'a prompt of what cft_retrieve returns, the same bytes for the same data; or a format of yours, with {question} '
'{documents} {hierarchy} {chunks} {left_out}, and of each document, with {number} {id} {entity} {path} {columns} '
'{text}';

-- Ids need no cast.
CREATE FUNCTION cft_chunks(id bigint, embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer,
    distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text, $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(bigint, vector, integer, integer, regclass, text[], regclass) IS
'cft_chunks for an integer id';

CREATE FUNCTION cft_chunks(uuid uuid, embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer,
    distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text, $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(uuid, vector, integer, integer, regclass, text[], regclass) IS 'cft_chunks for a uuid';

CREATE FUNCTION cft_chunks(ids bigint[], embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer,
    distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text[], $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(bigint[], vector, integer, integer, regclass, text[], regclass) IS
'cft_chunks for an array of integer ids';

CREATE FUNCTION cft_chunks(uuids uuid[], embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer,
    distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text[], $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(uuid[], vector, integer, integer, regclass, text[], regclass) IS
'cft_chunks for an array of uuids';

CREATE FUNCTION cft_resolve(mention text, embedding vector DEFAULT NULL, k integer DEFAULT 5,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL,
    documents regclass DEFAULT NULL, match text DEFAULT NULL)
RETURNS TABLE(entity text, score float8, method text, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_resolve_wrapper';
COMMENT ON FUNCTION cft_resolve(text, vector, integer, regclass, text[], text[], regclass, text) IS
'which entity (in these trees, within these) a mention may mean: exact, folded, by label or alias, as a path (Attic > '
'Shelves); else written otherwise (match, as in cft_entities; NULL: fuzzy); else the nearest by embedding';
