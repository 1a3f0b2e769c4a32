-- What the methods over embeddings share: where entities' embeddings and texts are, which entities are roots, how names are sorted.
-- As in retrieve.sql: STABLE, hence one snapshot; the caller's rights; names from the catalog, values as parameters.

-- Entities' embeddings are in the table of cft_attach_embeddings, else in the documents about them, if these are attached to entities. Here and below,
-- 0 or NULL for documents means none.
CREATE FUNCTION cftrag_internal.cft_meaning(edges regclass, documents regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, id name, entity name, embedding name, mapping regclass, mapping_entity name, mapping_document name,
              operator text, type text, cosine boolean, metadata name)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    a record;
BEGIN
    SELECT c.relation, NULL::name AS id, (c.columns ->> 'entity')::name AS entity, (c.columns ->> 'embedding')::name AS embedding,
           NULL::regclass AS mapping, NULL::name AS mapping_entity, NULL::name AS mapping_document, NULL::name AS metadata INTO a
      FROM cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, edges) AS c WHERE c.other = edges LIMIT 1;
    IF a.relation IS NULL THEN
        SELECT d.relation, d.id, d.entity, d.embedding, d.mapping, d.mapping_entity, d.mapping_document, d.metadata INTO a
          FROM cftrag_internal.cft_attached_documents(documents) AS d WHERE documents <> 0 AND (d.entity IS NOT NULL OR d.mapping IS NOT NULL);
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no embeddings of the entities of % that you may read are attached to cftrag', edges USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format('Attach a table of them with cft_attach_embeddings, edges => %L.', edges);
        END IF;
    END IF;
    RETURN QUERY SELECT a.relation, a.id, a.entity, a.embedding, a.mapping, a.mapping_entity, a.mapping_document, o.operator, o.type, o.cosine, a.metadata
                   FROM cftrag_internal.cft_distance(a.relation, a.embedding) AS o;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_meaning(regclass, regclass) IS
'where the embeddings of a forest''s entities are, and the operator of distance: those of cft_attach_embeddings, else those of documents about entities';

-- The score of each embedding of the entities $1 against $2, and its entity's place in $1. An entity's score is that of its nearest embedding. The names in
-- $1 must be distinct: with DISTINCT here, the planner would expect 200 rows of a million. The cosine distance of a zero vector is NaN: its score is NULL.
CREATE FUNCTION cftrag_internal.cft_scoring(edges regclass, documents regclass, condition text, embedding vector)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    m record;
BEGIN
    SELECT * INTO m FROM cftrag_internal.cft_meaning(edges, documents);
    PERFORM cftrag_internal.cft_check_dimensions(embedding, cftrag_internal.cft_dimensions(m.relation, m.embedding));
    RETURN 'SELECT n.name, n.place, ' || CASE WHEN m.cosine THEN '1 - ' ELSE '- ' END
        || format('nullif(d.%I %s $2::%s, ''NaN'') AS score', m.embedding, m.operator, m.type)
        || ' FROM unnest($1) WITH ORDINALITY AS n(name, place)'
        || cftrag_internal.cft_about(m.relation, m.id, m.entity, m.mapping, m.mapping_entity, m.mapping_document)
        || ' WHERE d.' || quote_ident(m.embedding) || ' IS NOT NULL'
        || CASE WHEN condition = '' THEN '' WHEN m.id IS NULL THEN cftrag_internal.cft_has_metadata(m.relation, NULL, 3) ELSE ' AND ' || condition END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_scoring(regclass, regclass, text, vector) IS
'the statement of cft_scores, over different entities $1 and an embedding $2 (and documents for which a condition of parameter $3 holds): a row for each embedding';

CREATE FUNCTION cftrag_internal.cft_scores(embedding vector, entities text[], edges regclass, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, score float8, compared bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE 'SELECT s.name, max(s.score), count(*) FROM (' || cftrag_internal.cft_scoring(edges, documents, '', embedding) || ') AS s GROUP BY s.name'
    USING ARRAY(SELECT DISTINCT u.name COLLATE "C" FROM unnest(entities) AS u(name)), embedding;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_scores(vector, text[], regclass, regclass) IS
'how near entities are to an embedding: 1 - cosine distance, else minus the distance; and how many embeddings of each were compared';

-- The text of an entity: its summary, if there is one and summaries_count is true; else the documents about it, in order of id; else its label or name.
CREATE FUNCTION cftrag_internal.cft_texts(entities text[], documents regclass, edges regclass, summaries_count boolean DEFAULT true)
RETURNS TABLE(entity text, text text, tokens bigint, named boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    a record;
    s record;
    about text := '';
    sums text := '';
    names text[] := ARRAY(SELECT DISTINCT u.name COLLATE "C" FROM unnest(entities) AS u(name) WHERE u.name IS NOT NULL);
BEGIN
    SELECT c.relation, (c.columns ->> 'entity')::name AS entity, (c.columns ->> 'summary')::name AS summary INTO s
      FROM cftrag_internal.cft_columns('cftrag_internal.cft_summaries()', NULL, edges) AS c WHERE c.other = edges LIMIT 1;
    IF summaries_count AND s.relation IS NOT NULL THEN
        sums := format('SELECT %1$s COLLATE "C" AS name, max(%2$s COLLATE "C") AS said FROM %3$s AS s WHERE %1$s = ANY ($1) AND s.%4$I IS NOT NULL GROUP BY 1',
                       cftrag_internal.cft_as_text('s.' || quote_ident(s.entity), s.relation, s.entity),
                       cftrag_internal.cft_as_text('s.' || quote_ident(s.summary), s.relation, s.summary), s.relation, s.summary);
    END IF;
    IF documents <> 0 THEN
        SELECT * INTO a FROM cftrag_internal.cft_attached_documents(documents);
        IF a.entity IS NOT NULL OR a.mapping IS NOT NULL THEN
            about := format(
                'SELECT n.name, string_agg(%1$s, chr(10) ORDER BY %2$s COLLATE "C", %1$s COLLATE "C") AS said,
                        sum(coalesce(%3$s, (char_length(%1$s) + 3) / 4)) AS size FROM n',
                cftrag_internal.cft_as_text('d.' || quote_ident(a.body), a.relation, a.body), cftrag_internal.cft_as_text('d.' || quote_ident(a.id), a.relation, a.id),
                cftrag_internal.cft_counted(a.relation, a.tokens))
                || cftrag_internal.cft_about(a.relation, a.id, a.entity, a.mapping, a.mapping_entity, a.mapping_document)
                || format(' WHERE d.%I IS NOT NULL GROUP BY n.name', a.body);
        END IF;
    END IF;
    RETURN QUERY EXECUTE
        'WITH n AS MATERIALIZED (SELECT u.name COLLATE "C" AS name, u.called FROM unnest($1, $2) AS u(name, called)),
              z AS MATERIALIZED (' || coalesce(nullif(about, ''), 'SELECT NULL::text AS name, NULL::text AS said, NULL::bigint AS size LIMIT 0') || '),
              s AS MATERIALIZED (' || coalesce(nullif(sums, ''), 'SELECT NULL::text AS name, NULL::text AS said LIMIT 0') || ')
         SELECT n.name, coalesce(s.said, z.said, n.called), coalesce((char_length(s.said) + 3) / 4, z.size, (char_length(n.called) + 3) / 4), coalesce(s.said, z.said) IS NULL
           FROM n LEFT JOIN z USING (name) LEFT JOIN s USING (name)'
    USING names, cftrag_internal.cft_called(names, edges);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_texts(text[], regclass, regclass, boolean) IS
'what entities say, with its tokens: the summary of each, else the documents about it, in order of their ids, else its label or name, which the column named says';

-- The sort key of a document's parts: digits in names sort as numbers, "3.10" after "3.2".
CREATE FUNCTION cftrag_internal.cft_natural(name text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $$
    SELECT CASE WHEN name OPERATOR(pg_catalog.~) '[0-9]'
                THEN pg_catalog.regexp_replace(pg_catalog.regexp_replace(name, '([0-9]+)', E'00000000000000000000\\1', 'g'), '0*([0-9]{20})', E'\\1', 'g')
                ELSE name END $$;
COMMENT ON FUNCTION cftrag_internal.cft_natural(text) IS 'a key to sort names by, in which numbers count as numbers; compare it by bytes';
