-- From a question to its context. STABLE: a call reads everything with one snapshot, the caller's, and with the caller's rights and search_path. The searches
-- are statements of src/retrieve/search.rs: no text from the caller becomes SQL.

CREATE FUNCTION cft_nearest_documents(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_nearest_documents_wrapper';
COMMENT ON FUNCTION cft_nearest_documents(vector, integer, regclass, text[], regclass, jsonb) IS
'the k documents nearest to an embedding (about entities within these, with these metadata), all k while there are so many: by the operator of the index on their column, else by cosine distance';

CREATE FUNCTION cft_nearest_entities(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, distance float8, score float8, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_nearest_entities_wrapper';
COMMENT ON FUNCTION cft_nearest_entities(vector, integer, regclass, text[], regclass, jsonb) IS
'the entities nearest to an embedding (within these): by cft_attach_embeddings, else those of the k nearest documents; score is 1 - cosine distance, else minus the distance';

CREATE FUNCTION cftrag_internal.cft_nearest_entities(embedding vector, k integer, edges regclass, trees text[], within text[], documents regclass, filter jsonb)
RETURNS TABLE(entity text, distance float8, score float8, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_nearest_entities_in_trees_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_nearest_entities(vector, integer, regclass, text[], text[], regclass, jsonb) IS 'cft_nearest_entities in some trees, which cft_resolve calls';

-- How frequent the most common words of a column are, as ANALYZE has found: of a column of type tsvector, or of the index on to_tsvector of one of texts. By
-- pg_stats: who may not read the column, or does not see all rows, gets none.
CREATE FUNCTION cftrag_internal.cft_frequencies(relation regclass, search name) RETURNS TABLE(lexeme text, frequency float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000 SET search_path = pg_catalog, pg_temp AS $$
    SELECT e.lexeme, e.frequency::float8
      FROM (SELECT s.most_common_elems::text::text[] AS lexemes, s.most_common_elem_freqs AS frequencies
              FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = c.relname
             WHERE s.most_common_elems IS NOT NULL AND NOT s.inherited
               AND (c.oid = relation AND s.attname = search AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = search AND a.atttypid = 'tsvector'::regtype)
                    OR c.oid IN (SELECT i.indexrelid FROM pg_index AS i, pg_attribute AS a
                                  WHERE i.indrelid = relation AND i.indisvalid AND i.indpred IS NULL AND a.attrelid = relation AND a.attname = search
                                    AND (regexp_match(pg_get_indexdef(i.indexrelid, 1, false), '^to_tsvector[(]''[^'']+''::regconfig, (.*)[)]$'))[1] IN (quote_ident(search), '(' || quote_ident(search) || ')::text')))
             LIMIT 1) AS z,
           unnest(z.lexemes, z.frequencies[1:cardinality(z.lexemes)]) AS e(lexeme, frequency)
$$;
COMMENT ON FUNCTION cftrag_internal.cft_frequencies(regclass, name) IS 'the share of documents that have a word, for the most common words';

CREATE FUNCTION cft_retrieve(question text, embedding vector, k integer DEFAULT 5, chunks integer DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT NULL, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL, match text DEFAULT NULL, narrow boolean DEFAULT true)
RETURNS TABLE(source text, entity text, document_id text, rank integer, distance float8, text text, tokens integer, why text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_retrieve_wrapper';
COMMENT ON FUNCTION cft_retrieve(text, vector, integer, integer, integer, integer, integer, text, regclass, text[], text[], regclass, jsonb, text, boolean) IS
'what belongs to a question: the nearest documents, the hierarchy of the entities it mentions, and documents about these (all in these trees, within these entities, with these metadata); each row says why it is here';

CREATE FUNCTION cft_prompt(question text, embedding vector, k integer DEFAULT 5, chunks integer DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT NULL, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL, template text DEFAULT NULL,
    filter jsonb DEFAULT NULL, match text DEFAULT NULL, narrow boolean DEFAULT true, document_template text DEFAULT NULL)
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 10000
AS 'MODULE_PATHNAME', 'cft_prompt_wrapper';
COMMENT ON FUNCTION cft_prompt(text, vector, integer, integer, integer, integer, integer, text, regclass, text[], text[], regclass, text, jsonb, text, boolean, text) IS
'a prompt of what cft_retrieve returns, the same bytes for the same data; or a format of yours, with {question} {documents} {hierarchy} {chunks}, and of each document, with {number} {id} {entity} {text}';

-- Ids need no cast.
CREATE FUNCTION cft_chunks(id bigint, embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer, distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text, $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(bigint, vector, integer, integer, regclass, text[], regclass) IS 'cft_chunks for an integer id';

CREATE FUNCTION cft_chunks(uuid uuid, embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer, distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text, $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(uuid, vector, integer, integer, regclass, text[], regclass) IS 'cft_chunks for a uuid';

CREATE FUNCTION cft_chunks(ids bigint[], embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer, distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text[], $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(bigint[], vector, integer, integer, regclass, text[], regclass) IS 'cft_chunks for an array of integer ids';

CREATE FUNCTION cft_chunks(uuids uuid[], embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer, distance float8) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cft_chunks($1::text[], $2, $3, $4, $5, $6, $7) AS f; END;
COMMENT ON FUNCTION cft_chunks(uuid[], vector, integer, integer, regclass, text[], regclass) IS 'cft_chunks for an array of uuids';

CREATE FUNCTION cftrag_internal.cft_resolve(mention text, embedding vector, k integer, edges regclass, trees text[], within text[], documents regclass, match text)
RETURNS TABLE(entity text, score float8, method text, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 5 SET search_path = pg_catalog, pg_temp SET cftrag.match_case = off AS $$
#variable_conflict use_column
DECLARE
    f record;
    part text;
    tops text[] := within;
    separator CONSTANT text := E'(?:[[:space:]]*[>\\u00BB\\u203A\\u2192][[:space:]]*|[[:space:]]+[/|][[:space:]]+)';
    -- Entities that a part of a path may mean.
    most_of_path CONSTANT integer := 1000;
    those record;
BEGIN
    IF num_nulls(mention, k) > 0 THEN RETURN; END IF;
    IF k < 0 THEN
        RAISE EXCEPTION '"k" must not be negative, but is %', k USING ERRCODE = 'invalid_parameter_value';
    ELSIF match NOT IN ('exact', 'inflected', 'fuzzy') THEN
        RAISE EXCEPTION '"match" must be "exact", "inflected" or "fuzzy", not "%"', left(match, 64) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO f FROM cftrag_internal.cft_attached(edges);
    -- An exact name is the only answer; the other ways are tried only without one. Ids are not names where there are labels, nor are integers, unless attached as names.
    RETURN QUERY SELECT mention, 1::float8, 'exact', NULL WHERE k > 0 AND f.by_name
        AND cftrag_internal.cft_those(ARRAY[mention], f.edges, trees, within) <> '{}';
    IF FOUND THEN RETURN; END IF;
    RETURN QUERY
    SELECT z.entity, z.score::numeric::float8, z.method, z.label
      FROM (SELECT DISTINCT ON (e.entity COLLATE "C") e.entity, e.label, e.score,
                     CASE WHEN e.method <> 'exact' THEN e.method WHEN e.via_alias IS NOT NULL THEN 'alias' WHEN f.labels IS NULL THEN 'folded' ELSE 'label' END AS method
              FROM cftrag_internal.cft_entities(mention, f.edges, trees, within, match => coalesce(match, 'fuzzy')) AS e
              -- The name must cover all words, with or without a possessive or an elision.
              JOIN (SELECT min(w.start) AS start, max(w.start + w.length) AS stop
                      FROM (VALUES (false), (true)) AS p(plain), cftrag_internal.cft_words(mention, p.plain) AS w GROUP BY p.plain) AS w
                ON w.start = e.start AND w.stop = e.start + e.length
             ORDER BY e.entity COLLATE "C", e.via_alias NULLS FIRST) AS z
     ORDER BY z.method = 'alias', z.entity COLLATE "C" LIMIT k;
    IF FOUND THEN RETURN; END IF;
    -- A path, "Attic > Shelves": what the last part may mean below what the part before may mean.
    IF mention ~ separator AND mention !~ ('^' || separator || '|' || separator || '$') THEN
        FOREACH part IN ARRAY regexp_split_to_array(mention, separator) LOOP
            SELECT array_agg(r.entity) AS entities, array_agg(r.score) AS scores, array_agg(r.label) AS labels INTO those
              FROM cftrag_internal.cft_resolve(part, NULL, most_of_path, f.edges, trees, tops, documents, match) AS r;
            EXIT WHEN those.entities IS NULL;
            tops := those.entities;
        END LOOP;
        RETURN QUERY SELECT u.entity, u.score, 'path', u.label
          FROM unnest(those.entities, those.scores, those.labels) WITH ORDINALITY AS u(entity, score, label, n) ORDER BY u.n LIMIT k;
        IF FOUND THEN RETURN; END IF;
    END IF;
    IF embedding IS NOT NULL
       -- With several tables of documents, naming none is an error.
       AND (EXISTS (SELECT FROM cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, f.edges) AS c WHERE c.other = f.edges)
            OR documents <> 0 OR EXISTS (SELECT FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()'))) THEN
        RETURN QUERY
        SELECT n.entity, n.score, 'nearest', n.label FROM cftrag_internal.cft_nearest_entities(embedding, k, f.edges, trees, within, documents, NULL) AS n
         WHERE (num_nulls(trees, within) = 2 OR cftrag_internal.cft_those(ARRAY[n.entity], f.edges, trees, within) <> '{}') ORDER BY n.distance, n.entity COLLATE "C" LIMIT k;
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_resolve(text, vector, integer, regclass, text[], text[], regclass, text) IS 'what cft_resolve calls';

CREATE FUNCTION cft_resolve(mention text, embedding vector DEFAULT NULL, k integer DEFAULT 5, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL,
    documents regclass DEFAULT NULL, match text DEFAULT NULL)
RETURNS TABLE(entity text, score float8, method text, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 5
BEGIN ATOMIC SELECT f.* FROM cftrag_internal.cft_resolve($1, $2, $3, cftrag_internal.cft_meant_edges($4), $5, $6, cftrag_internal.cft_meant_documents($7), $8) AS f; END;
COMMENT ON FUNCTION cft_resolve(text, vector, integer, regclass, text[], text[], regclass, text) IS
'which entity (in these trees, within these) a mention may mean: exact, folded, by label or alias, as a path (Attic > Shelves); else written otherwise (match, as in cft_entities; NULL: fuzzy); else the nearest by embedding';
