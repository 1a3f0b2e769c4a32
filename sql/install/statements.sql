-- The statements that search a table of documents, made from the catalogs by cft_statement and cached by cft_kept_statement.

-- The column with the number of tokens of a document (d), as SQL. NULL, or a negative value, is not a count: the tokens of the text are counted instead.
-- A count beyond the range of integer becomes its maximum.
CREATE FUNCTION cftrag_internal.cft_counted(relation regclass, tokens name)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = tokens AND a.atttypid IN (21, 23, 20)) THEN 'NULL::pg_catalog.int4'
                ELSE format('CASE WHEN d.%1$I >= 0 THEN least(d.%1$I::pg_catalog.int8, 2147483647)::pg_catalog.int4 END', tokens) END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_counted(regclass, name) IS 'the tokens that a column of documents says, as SQL: NULL where it says none';

-- Puts a statement on one line: errors in it quote its text in their CONTEXT.
CREATE FUNCTION cftrag_internal.cft_in_one_line(statement text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT regexp_replace(statement, E'\\n *', ' ', 'g') $$;
COMMENT ON FUNCTION cftrag_internal.cft_in_one_line(text) IS 'a statement that has no line breaks in its literals, in one line';

-- "8 public.docs.embedding": -1 if the column does not say how many.
CREATE FUNCTION cftrag_internal.cft_dimensions(relation regclass, embedding name) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT format('%s %s.%I', a.atttypmod, relation, embedding) FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = embedding $$;
COMMENT ON FUNCTION cftrag_internal.cft_dimensions(regclass, name) IS 'the dimensions that a column of embeddings declares, and its name';

CREATE FUNCTION cftrag_internal.cft_check_dimensions(embedding vector, declared text) RETURNS void
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_check_dimensions_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_check_dimensions(vector, text) IS 'an error if an embedding does not have the dimensions of a column, which cft_dimensions says';

-- What is wrong with arguments of which one is negative.
CREATE FUNCTION cftrag_internal.cft_negative(arguments text[], "values" bigint[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT format('"%s" must not be negative, but is %s', u.argument, u.value) FROM unnest(arguments, "values") AS u(argument, value) WHERE u.value < 0 LIMIT 1 $$;
COMMENT ON FUNCTION cftrag_internal.cft_negative(text[], bigint[]) IS 'the message of an error: which of these arguments is negative';

-- The LIMIT of a search. For an unknown limit the planner assumes a tenth of the rows (hence also the CTE). For a known one it expects pgvector's index scan
-- to end early, and underestimates its cost: to find 1000 documents in a million it reads 5,000, where comparing the 1000 takes a hundredth of the time.
CREATE FUNCTION cftrag_internal.cft_at_most(what text, bound text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT format(CASE WHEN what LIKE '% ties' THEN 'FETCH FIRST (%s) ROWS WITH TIES' ELSE 'LIMIT %s' END,
                    format(CASE WHEN what ~ '^words| within| filter' THEN '(SELECT %s)' ELSE '%s' END, bound::int8 + CASE WHEN what LIKE '% ties' THEN 0 ELSE 1 END)) $$;
COMMENT ON FUNCTION cftrag_internal.cft_at_most(text, text) IS 'the end of a search, as SQL';

-- How many rows of a search (n) to return: k. The search fetches k + 1, by a top-k sort, where WITH TIES would sort all rows. If the last two are equally
-- near, k + 1 rows are returned: there may be more ties, so the caller repeats the search with ties.
CREATE FUNCTION cftrag_internal.cft_first_rows(what text, k bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN what LIKE '% ties' THEN k::text
                  ELSE format('(SELECT %s + CASE WHEN count(*) = 2 AND min(x.distance) = max(x.distance) THEN 1 ELSE 0 END FROM (SELECT z.distance FROM n AS z ORDER BY 1 OFFSET %s LIMIT 2) AS x)', k, greatest(k - 1, 0)) END $$;
COMMENT ON FUNCTION cftrag_internal.cft_first_rows(text, bigint) IS 'how many rows of a search count, as SQL; one more if there may be ties';

-- "+ 0" keeps the planner from using an index.
CREATE FUNCTION cftrag_internal.cft_by_distance(what text, embedding name, operator text, type text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT format(CASE WHEN what LIKE '% exactly%' THEN '(d.%I %s $1::%s) + 0' ELSE 'd.%I %s $1::%s' END, embedding, operator, type) $$;
COMMENT ON FUNCTION cftrag_internal.cft_by_distance(text, name, text, text) IS 'the order of a search, as SQL: by an index if there is one, or by all distances';

-- documents is never NULL; 0 means none. For "embeddings ..." it is the edges table. Parameters of the statements: $1 an embedding, $2 the entities to search
-- within, $3 the edges, $4 a filter, $5 trees, $6 words. For chunks: $1 entities, $2 and $3 levels, $4 the edges, $5 an embedding, $6 trees, $7 the entities to search within, $8 a filter.
CREATE FUNCTION cftrag_internal.cft_statement(what text, documents regclass)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    a record;
    o record;
    tokens text;
    away text := 'NULL::pg_catalog.float8';
    -- Conditions on a document, and on which of its entities count.
    only_those text := '';
    within_those text := '';
    mapped text;
    bound text := split_part(what, ' ', 2);
    search_by record;
    -- The score of a word search; the order that finds the best rows, and the order of the result.
    score text;
    ordered_by text;
    best_first text := 'n.distance';
BEGIN
    IF what = 'documents, if any' AND documents = 0 THEN
        RETURN '';
    END IF;
    IF what LIKE 'embeddings%' THEN
        SELECT c.relation, (c.columns ->> 'entity')::name AS entity, (c.columns ->> 'embedding')::name AS embedding INTO a
          FROM cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, documents) AS c WHERE c.other = documents LIMIT 1;
        IF a.relation IS NULL THEN
            RAISE EXCEPTION 'no embeddings of the entities of % that you may read are attached to cftrag', documents USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format('Attach a table of them with cft_attach_embeddings, edges => %L.', documents);
        END IF;
        IF what = 'embeddings dimensions' THEN
            RETURN cftrag_internal.cft_dimensions(a.relation, a.embedding);
        END IF;
        SELECT * INTO o FROM cftrag_internal.cft_distance(a.relation, a.embedding);
        RETURN format(cftrag_internal.cft_in_one_line(
            'WITH n AS MATERIALIZED (
                 SELECT d.%3$I AS entity, d.%4$I %5$s $1::%6$s AS distance FROM %7$s AS d
                  WHERE d.%4$I IS NOT NULL AND d.%3$I IS NOT NULL%8$s ORDER BY %9$s %10$s)
             SELECT %1$s, n.distance, %2$s, cftrag_internal.cft_label(%1$s, $3)
               FROM n ORDER BY n.distance, %1$s COLLATE "C" LIMIT %11$s'),
            cftrag_internal.cft_as_text('n.entity', a.relation, a.entity), CASE WHEN o.cosine THEN '1 - n.distance' ELSE '- n.distance' END,
            a.entity, a.embedding, o.operator, o.type, a.relation,
            CASE WHEN what LIKE '% within%' THEN ' AND ' || cftrag_internal.cft_is_within('d.' || quote_ident(a.entity), a.relation, a.entity) ELSE '' END,
            cftrag_internal.cft_by_distance(what, a.embedding, o.operator, o.type), cftrag_internal.cft_at_most(what, bound), cftrag_internal.cft_first_rows(what, bound::int8));
    END IF;
    SELECT * INTO a FROM cftrag_internal.cft_attached_documents(documents);
    IF what LIKE 'documents%' THEN
        RETURN concat_ws(' ', a.relation::oid, (a.entity IS NOT NULL OR a.mapping IS NOT NULL)::text);
    END IF;
    IF what = 'nearest dimensions' THEN
        RETURN cftrag_internal.cft_dimensions(a.relation, a.embedding);
    END IF;
    IF what LIKE 'chunks%' AND a.entity IS NULL AND a.mapping IS NULL THEN
        RAISE EXCEPTION 'the documents of % are not attached to entities', a.relation USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Attach %s again with cft_attach_documents and the columns it has now, and entity => its column of the entity that a document is about, or mapping => a table of entities and documents.', a.relation);
    END IF;
    tokens := cftrag_internal.cft_counted(a.relation, a.tokens);
    IF what NOT LIKE 'chunks%' OR what LIKE 'chunks by distance%' THEN
        SELECT * INTO o FROM cftrag_internal.cft_distance(a.relation, a.embedding);
    END IF;
    IF what LIKE 'nearest%' OR what LIKE 'words%' OR what LIKE 'centroid%' THEN
        IF what LIKE '% within%' AND a.entity IS NULL AND a.mapping IS NULL THEN
            RAISE EXCEPTION 'the documents of % are not attached to entities', a.relation USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format('Attach %s again with cft_attach_documents and the columns it has now, and entity => its column of the entity that a document is about, or mapping => a table of entities and documents.', a.relation);
        END IF;
        mapped := format('FROM %s AS m WHERE %s', a.mapping, cftrag_internal.cft_same(a.relation, a.id, a.mapping, a.mapping_document, 'n.id'));
        IF what LIKE '% within%' THEN
            IF a.mapping IS NULL THEN
                only_those := ' AND ' || cftrag_internal.cft_is_within('d.' || quote_ident(a.entity), a.relation, a.entity);
            ELSE
                within_those := ' AND ' || cftrag_internal.cft_is_within('m.' || quote_ident(a.mapping_entity), a.mapping, a.mapping_entity);
                only_those := format(' AND EXISTS (SELECT FROM %s AS m WHERE %s', a.mapping, cftrag_internal.cft_same(a.relation, a.id, a.mapping, a.mapping_document, 'd'))
                    || within_those || ')';
            END IF;
        END IF;
        IF what LIKE '% filter%' THEN
            only_those := only_those || cftrag_internal.cft_has_metadata(a.relation, a.metadata, 4);
        END IF;
        IF what LIKE 'centroid%' THEN
            -- pgvector averages vectors and halfvecs.
            RETURN format('SELECT %I.avg(d.%I%s)::pg_catalog.text FROM %s AS d WHERE d.%I IS NOT NULL%s', o.type_schema, a.embedding,
                          CASE WHEN o.type LIKE '%sparsevec' THEN format('::%I.vector', o.type_schema) ELSE '' END, a.relation, a.embedding, only_those);
        END IF;
        ordered_by := cftrag_internal.cft_by_distance(what, a.embedding, o.operator, o.type);
        IF what LIKE 'words%' THEN
            IF a.search IS NULL THEN
                RAISE EXCEPTION '% is attached without a column to search by words', a.relation USING ERRCODE = 'object_not_in_prerequisite_state',
                    HINT = format('Attach %s again with cft_attach_documents and the columns it has now, and search => its column of type tsvector, or of texts with an index on to_tsvector.', a.relation);
            END IF;
            search_by := cftrag_internal.cft_search_by(a.relation, a.search);
            IF what = 'words configuration' THEN
                RETURN coalesce(search_by.config::text, '');
            END IF;
            score := format('ts_rank(%s, $6)', search_by.value);
            only_those := format(' AND %s @@ $6', search_by.value) || only_those;
            ordered_by := score || ' DESC';
            best_first := 'n.score DESC';
        END IF;
        -- Ties are broken by id, also at the last place: the same data give the same rows. (ORDER BY distance, id would not use an index.)
        RETURN format(cftrag_internal.cft_in_one_line(
            'WITH n AS MATERIALIZED (
                 SELECT d.%2$I AS id, %3$s AS entity, d.%4$I AS body, %5$s AS tokens, d.%6$I %7$s $1::%8$s AS distance%16$s
                   FROM %11$s AS d
                  WHERE %17$s%12$s
                  ORDER BY %13$s %14$s)
             SELECT %9$s, %1$s, %10$s, coalesce(n.tokens, (char_length(%10$s) + 3) / 4, 0)::int, n.distance
               FROM n ORDER BY %18$s, %9$s COLLATE "C", %10$s COLLATE "C" LIMIT %15$s'),
            CASE WHEN a.mapping IS NOT NULL
                 THEN format('(SELECT min(%s COLLATE "C") %s)', cftrag_internal.cft_as_text('m.' || quote_ident(a.mapping_entity), a.mapping, a.mapping_entity), mapped || within_those)
                 WHEN a.entity IS NULL THEN 'n.entity'
                 ELSE cftrag_internal.cft_as_text('n.entity', a.relation, a.entity) END,
            a.id, CASE WHEN a.entity IS NULL THEN 'NULL::text' ELSE format('d.%I', a.entity) END, a.body, tokens, a.embedding,
            o.operator, o.type, cftrag_internal.cft_as_text('n.id', a.relation, a.id), cftrag_internal.cft_as_text('n.body', a.relation, a.body),
            a.relation, only_those, ordered_by, cftrag_internal.cft_at_most(what, bound), cftrag_internal.cft_first_rows(what, bound::int8),
            coalesce(', ' || score || ' AS score', ''), CASE WHEN score IS NULL THEN format('d.%I IS NOT NULL', a.embedding) ELSE 'true' END, best_first);
    END IF;
    IF what LIKE 'chunks by distance%' THEN
        away := format('(d.%I %s $5::%s)', a.embedding, o.operator, o.type);
    END IF;
    -- Each document once, with the nearest of its entities. Rows with one id but different texts are different chunks of it.
    -- An array of several dimensions counts as its elements, as for unnest.
    RETURN format(cftrag_internal.cft_in_one_line(
        'WITH q AS MATERIALIZED (
             SELECT u.name COLLATE "C" AS name, min(u.place) AS place FROM unnest($1) WITH ORDINALITY AS u(name, place) WHERE u.name IS NOT NULL GROUP BY 1),
         r AS MATERIALIZED (
             SELECT DISTINCT ON (z.name COLLATE "C") z.place, z.entity, z.relation, z.depth, z.name
               FROM (SELECT q.place, q.name AS entity, ''self''::text AS relation, 0 AS depth, q.name FROM q
                      WHERE $6 IS NULL OR q.name IN (SELECT p.entity FROM cftrag_internal.cft_path_prefix($1, $4, $6, NULL) AS p)
                     UNION ALL
                     SELECT q.place, c.entity, c.relation, c.depth, c.relative
                       FROM %1$s($1, $2, $3, $4, $6) AS c JOIN q ON q.name = c.entity) AS z(place, entity, relation, depth, name)
              ORDER BY z.name COLLATE "C", z.depth, z.relation COLLATE "C", z.place),
         n AS MATERIALIZED (
             SELECT r.* FROM r WHERE $7 IS NULL OR r.name IN (SELECT t FROM unnest(cftrag_internal.cft_those(ARRAY(SELECT o.name FROM r AS o), $4, $6, $7)) AS t)),
         f AS (
             SELECT DISTINCT ON (%2$s COLLATE "C", %3$s COLLATE "C") n.place, n.entity, n.relation, n.depth, n.name,
                    %2$s AS id, %3$s AS body, coalesce(%4$s, (char_length(%3$s) + 3) / 4, 0) AS tokens, %5$s AS distance
               FROM n %6$s%7$s
              ORDER BY %2$s COLLATE "C", %3$s COLLATE "C", n.depth, n.relation COLLATE "C", n.name COLLATE "C")
         SELECT f.entity, f.relation, f.depth, f.name, f.id, f.body, f.tokens, f.distance
           FROM f ORDER BY f.depth, f.distance, f.place, f.relation COLLATE "C", f.name COLLATE "C", f.id COLLATE "C", f.body COLLATE "C"'),
        'cftrag_internal.cft_context', cftrag_internal.cft_as_text('d.' || quote_ident(a.id), a.relation, a.id),
        cftrag_internal.cft_as_text('d.' || quote_ident(a.body), a.relation, a.body), tokens, away,
        cftrag_internal.cft_about(a.relation, a.id, a.entity, a.mapping, a.mapping_entity, a.mapping_document),
        CASE WHEN what LIKE '% filter%' THEN ' WHERE true' || cftrag_internal.cft_has_metadata(a.relation, a.metadata, 8) ELSE '' END);
END $$;
REVOKE EXECUTE ON FUNCTION cftrag_internal.cft_statement(text, regclass) FROM PUBLIC;
COMMENT ON FUNCTION cftrag_internal.cft_statement(text, regclass) IS
'a statement for an attached table of documents: nearest K [within] [filter] [exactly] [ties], embeddings K [within] [exactly] [ties], what dimensions, words K [within] [filter] ties, words configuration, centroid within, chunks [by distance] [filter]; or which table it is';

CREATE FUNCTION cftrag_internal.cft_kept_statement(what text, documents regclass)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_kept_statement_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_kept_statement(text, regclass) IS 'what cft_statement says, kept in this session until a relation, role or operator changes';

