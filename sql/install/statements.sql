-- What the catalogs say of a table of documents, as statements for it. Made by cft_statement, kept by cft_kept_statement.

-- A column that says how many tokens a document (d) has, as SQL. What is no count, NULL or negative, says nothing: the text is counted then. A
-- larger count than an integer holds is the largest one.
CREATE FUNCTION cftrag_internal.cft_counted(relation regclass, tokens name)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = tokens AND a.atttypid IN (21, 23, 20)) THEN 'NULL::pg_catalog.int4'
                ELSE format('CASE WHEN d.%1$I >= 0 THEN least(d.%1$I::pg_catalog.int8, 2147483647)::pg_catalog.int4 END', tokens) END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_counted(regclass, name) IS 'the tokens that a column of documents says, as SQL: NULL where it says none';

-- The format of a statement: an error in it has its text in the CONTEXT.
CREATE FUNCTION cftrag_internal.cft_in_one_line(statement text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT regexp_replace(statement, E'\\n *', ' ', 'g') $$;
COMMENT ON FUNCTION cftrag_internal.cft_in_one_line(text) IS 'a statement that has no line breaks in its literals, in one line';

-- documents 0: none. Never NULL.
CREATE FUNCTION cftrag_internal.cft_statement(what text, documents regclass)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    a record;
    o record;
    tokens text;
    away text := 'NULL::pg_catalog.float8';
BEGIN
    IF what = 'documents, if any' AND documents = 0 THEN
        RETURN '';
    END IF;
    SELECT * INTO a FROM cftrag_internal.cft_attached_documents(documents);
    IF what LIKE 'documents%' THEN
        RETURN concat_ws(' ', a.relation::oid, (a.entity IS NOT NULL OR a.mapping IS NOT NULL)::text);
    END IF;
    IF what LIKE 'chunks%' AND a.entity IS NULL AND a.mapping IS NULL THEN
        RAISE EXCEPTION 'the documents of % are not attached to entities', a.relation USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Attach %s again with cft_attach_documents, entity => its column of the entity that a document is about, or mapping => a table of entities and documents.', a.relation);
    END IF;
    tokens := cftrag_internal.cft_counted(a.relation, a.tokens);
    IF what <> 'chunks' THEN
        SELECT * INTO o FROM cftrag_internal.cft_distance(a.relation, a.embedding);
    END IF;
    IF what = 'nearest' THEN
        -- At equal distance by id, also at the last place: the same data, the same rows. (ORDER BY distance, id would not use an index.)
        RETURN format(cftrag_internal.cft_in_one_line(
            'SELECT %10$s, %1$s, %11$s, coalesce(n.tokens, (char_length(%11$s) + 3) / 4, 0)::int, n.distance
               FROM (SELECT d.%2$I AS id, %3$s AS entity, d.%4$I AS body, %5$s AS tokens, d.%6$I %7$s $1::%8$s AS distance
                       FROM %9$s AS d
                      WHERE d.%6$I IS NOT NULL
                      ORDER BY d.%6$I %7$s $1::%8$s FETCH FIRST ($2) ROWS WITH TIES) AS n
              ORDER BY n.distance, %10$s COLLATE "C", %11$s COLLATE "C" LIMIT $2'),
            CASE WHEN a.mapping IS NOT NULL
                 THEN format('(SELECT min(%s COLLATE "C") FROM %s AS m WHERE %s)',
                             cftrag_internal.cft_as_text('m.' || quote_ident(a.mapping_entity), a.mapping, a.mapping_entity), a.mapping,
                             cftrag_internal.cft_same(a.relation, a.id, a.mapping, a.mapping_document, 'n.id'))
                 WHEN a.entity IS NULL THEN 'n.entity'
                 ELSE cftrag_internal.cft_as_text('n.entity', a.relation, a.entity) END,
            a.id, CASE WHEN a.entity IS NULL THEN 'NULL::text' ELSE format('d.%I', a.entity) END, a.body, tokens, a.embedding,
            o.operator, o.type, a.relation, cftrag_internal.cft_as_text('n.id', a.relation, a.id), cftrag_internal.cft_as_text('n.body', a.relation, a.body));
    END IF;
    IF what = 'chunks by distance' THEN
        away := format('(d.%I %s $5::%s)', a.embedding, o.operator, o.type);
    END IF;
    -- Each document once, with the nearest of its entities. Rows of one id with other words are several chunks of it. An array of several dimensions is
    -- its elements, as for unnest. (Our schema's name may hold a % sign: it is no part of a format.)
    RETURN format(cftrag_internal.cft_in_one_line(
        'WITH q AS MATERIALIZED (
             SELECT u.name COLLATE "C" AS name, min(u.place) AS place FROM unnest($1) WITH ORDINALITY AS u(name, place) WHERE u.name IS NOT NULL GROUP BY 1),
         n AS MATERIALIZED (
             SELECT DISTINCT ON (z.name COLLATE "C") z.place, z.entity, z.relation, z.depth, z.name
               FROM (SELECT q.place, q.name AS entity, ''self''::text AS relation, 0 AS depth, q.name FROM q
                      WHERE $6 IS NULL OR q.name IN (SELECT p.entity FROM cftrag_internal.cft_path_prefix($1, $4, $6, NULL) AS p)
                     UNION ALL
                     SELECT q.place, c.entity, c.relation, c.depth, c.relative
                       FROM %1$s($1, $2, $3, $4, $6) AS c JOIN q ON q.name = c.entity) AS z(place, entity, relation, depth, name)
              ORDER BY z.name COLLATE "C", z.depth, z.relation COLLATE "C", z.place),
         f AS (
             SELECT DISTINCT ON (%2$s COLLATE "C", %3$s COLLATE "C") n.place, n.entity, n.relation, n.depth, n.name,
                    %2$s AS id, %3$s AS body, coalesce(%4$s, (char_length(%3$s) + 3) / 4, 0) AS tokens, %5$s AS distance
               FROM n %6$s
              ORDER BY %2$s COLLATE "C", %3$s COLLATE "C", n.depth, n.relation COLLATE "C", n.name COLLATE "C")
         SELECT f.entity, f.relation, f.depth, f.name, f.id, f.body, f.tokens, f.distance
           FROM f ORDER BY f.depth, f.distance, f.place, f.relation COLLATE "C", f.name COLLATE "C", f.id COLLATE "C", f.body COLLATE "C"'),
        'cftrag_internal.cft_context', cftrag_internal.cft_as_text('d.' || quote_ident(a.id), a.relation, a.id),
        cftrag_internal.cft_as_text('d.' || quote_ident(a.body), a.relation, a.body), tokens, away,
        cftrag_internal.cft_about(a.relation, a.id, a.entity, a.mapping, a.mapping_entity, a.mapping_document));
END $$;
REVOKE EXECUTE ON FUNCTION cftrag_internal.cft_statement(text, regclass) FROM PUBLIC;
COMMENT ON FUNCTION cftrag_internal.cft_statement(text, regclass) IS
'a statement for an attached table of documents: nearest, chunks, chunks by distance; or which table it is';

CREATE FUNCTION cftrag_internal.cft_kept_statement(what text, documents regclass)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_kept_statement_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_kept_statement(text, regclass) IS 'what cft_statement says, kept in this session until a relation, role or operator changes';

