-- The work on the summaries that are due (summaries.sql has the rules): in one transaction a worker takes entities with
-- the texts to summarise, and stores the summaries. It needs SELECT, INSERT, UPDATE and DELETE on the summaries, and
-- SELECT on the edges and documents.

-- Sorts entities whose summaries are due. Those that wait for no child are ready. Those without children are ready if
-- leaves have summaries, else bare. An entity waits for a child that is also its ancestor (a cycle) unless
-- through_cycles.
CREATE FUNCTION cftrag_internal.cft_rollup_ready(due text[], through_cycles boolean, forest regclass,
    summaries regclass, entity name, summary name, leaves boolean)
RETURNS TABLE(ready text[], bare text[]) LANGUAGE plpgsql VOLATILE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH c AS MATERIALIZED (
             SELECT c.entity, c.relative FROM cftrag_internal.cft_context($1, 0, 1, $2) AS c
         ), d AS MATERIALIZED (
             SELECT DISTINCT s.%2$I::text AS name FROM %1$s AS s WHERE s.%2$I = ANY (ARRAY(SELECT c.relative FROM c))
                 AND s.%3$I IS NULL AND s.ctid <> ALL ($5)
         ), w AS MATERIALIZED (
             SELECT d.name FROM d WHERE $3 OR d.name IN (SELECT i.entity
                 FROM cftrag_internal.cft_context(ARRAY(SELECT d.name FROM d), 0, 1, $2) AS i)
         ), waiting AS MATERIALIZED (
             SELECT c.entity, c.relative FROM c JOIN w ON w.name = c.relative
         ), r AS MATERIALIZED (
             SELECT c.entity AS name FROM c UNION SELECT c.entity FROM cftrag_internal.cft_context(CASE WHEN $3
                 THEN $1 END, 1, 0, $2) AS c
         )
         SELECT ARRAY(SELECT r.name FROM r
                       WHERE r.name NOT IN (
                           SELECT x.entity FROM waiting AS x
                            WHERE NOT $4 OR (x.entity, x.relative) NOT IN (
                                SELECT a.entity, a.relative
                                    FROM cftrag_internal.cft_rollup_above(ARRAY(SELECT DISTINCT y.entity
                                    FROM waiting AS y), $2) AS a))
                       ORDER BY r.name COLLATE "C"),
                ARRAY(SELECT u.name FROM unnest($1) AS u(name) WHERE u.name NOT IN (SELECT r.name FROM r))',
        summaries, entity, summary)
    USING due, forest, leaves, through_cycles, cftrag_internal.cft_rollup_kept(summaries);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_ready(text[], boolean, regclass, regclass, name, name, boolean) IS
'which entities whose summaries are due wait for no child, and which have none';

-- Locks all marks of each entity, skips an entity if another worker has locked one, and deletes all but one of each.
-- marked_by: the transactions that wrote them, if there were several marks.
CREATE FUNCTION cftrag_internal.cft_rollup_take(entities text[], summaries regclass, entity name, summary name)
RETURNS TABLE(name text, mark tid, marked_by text[]) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog,
    pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH locked AS MATERIALIZED (
             SELECT s.ctid AS at, s.xmin::text AS xid, s.%2$I::text AS name FROM %1$s AS s WHERE s.%2$I = ANY ($1)
                 AND s.%3$I IS NULL AND s.ctid <> ALL ($2) FOR UPDATE SKIP LOCKED
         ), seen AS (
             SELECT s.%2$I::text AS name, count(*) AS n FROM %1$s AS s WHERE s.%2$I = ANY ($1) AND s.%3$I IS NULL
                 AND s.ctid <> ALL ($2) GROUP BY 1
         ), mine AS MATERIALIZED (
             SELECT g.name, g.at, g.xids FROM (SELECT l.name, min(l.at) AS at, count(*) AS n,
                 array_agg(DISTINCT l.xid) AS xids FROM locked AS l GROUP BY 1) AS g JOIN seen USING (name, n)
         ), others AS (
             DELETE FROM %1$s AS s WHERE s.ctid = ANY (ARRAY(SELECT l.at FROM locked AS l JOIN mine AS m
                 ON m.name = l.name AND m.at <> l.at))
         )
         SELECT m.name, m.at, CASE WHEN s.n > 1 THEN m.xids END FROM mine AS m JOIN seen AS s USING (name)
             ORDER BY m.name COLLATE "C"', summaries, entity, summary)
    USING entities, cftrag_internal.cft_rollup_kept(summaries);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_take(text[], regclass, name, name) IS
'takes the marks of entities that no other transaction has taken';

-- The marks that this transaction leaves for those after it, and ignores (rule 6).
CREATE FUNCTION cftrag_internal.cft_rollup_kept(summaries regclass)
RETURNS tid[] LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ARRAY(SELECT x::tid FROM jsonb_each(nullif(current_setting('cft_rollup.kept', true), '')::jsonb) AS t,
        jsonb_array_elements_text(t.value) AS x
                  WHERE starts_with(t.key, summaries::oid || ' '));
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_kept(regclass) IS
'the marks in a table of summaries that this transaction has left for those after it';

CREATE FUNCTION cftrag_internal.cft_rollup_keep(entities text[], forest regclass, summaries regclass, entity name)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept jsonb := coalesce(nullif(current_setting('cft_rollup.kept', true), ''), '{}');
    more jsonb;
BEGIN
    -- Two marks for each entity, one for each entity above.
    EXECUTE format(
        'WITH n AS MATERIALIZED (
             SELECT u.name FROM unnest($1) AS u(name), generate_series(1,
                 2 - coalesce(jsonb_array_length($2 -> ($3 || u.name)), 0)::int)
             UNION ALL
             (SELECT a.name FROM unnest(cftrag_internal.cft_rollup_up($1, $4)) AS a(name) WHERE NOT $2 ? ($3 || a.name)
                 EXCEPT SELECT u.name FROM unnest($1) AS u(name))
         ), i AS (
             INSERT INTO %1$s (%2$I) SELECT n.name FROM n RETURNING ctid AS at, %2$I::text AS name
         )
         SELECT jsonb_object_agg(k.key, coalesce($2 -> k.key, ''[]'') || k.marks)
           FROM (SELECT $3 || i.name AS key, jsonb_agg(i.at) AS marks FROM i GROUP BY 1) AS k', summaries, entity)
    INTO more USING entities, kept, summaries::oid || ' ', forest;
    PERFORM set_config('cft_rollup.kept', (kept || more)::text, true) WHERE more IS NOT NULL;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_keep(text[], regclass, regclass, name) IS
'marks entities and their ancestors for those who work after this transaction';

-- The marks that this transaction has taken, by table and entity. It forgets them at its end. An entity marked after
-- that stays due.
CREATE FUNCTION cftrag_internal.cft_rollup_taken()
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(nullif(current_setting('cft_rollup.taken', true), ''), '{}');
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_taken() IS
'the marks that this transaction has taken by cft_rollup_next and not yet answered';

-- The marks in one table that this transaction has taken or keeps.
CREATE FUNCTION cftrag_internal.cft_rollup_held(summaries regclass)
RETURNS tid[] LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ARRAY(SELECT t.value::tid FROM jsonb_each_text(cftrag_internal.cft_rollup_taken()) AS t
        WHERE starts_with(t.key, summaries::oid || ' '))
           || cftrag_internal.cft_rollup_kept(summaries);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_held(regclass) IS
'the marks in a table of summaries that this transaction has taken and not yet answered, or keeps';

-- The inputs of each entity's summary: the documents about itself, then its children's summaries, or texts.
CREATE FUNCTION cftrag_internal.cft_rollup_inputs(entities text[], forest regclass, summaries regclass, entity name,
    summary name, leaves boolean,
    documents regclass, meant regclass)
RETURNS TABLE(name text, sources text[], inputs text[], tokens bigint)
LANGUAGE plpgsql VOLATILE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- Documents are inputs if they leave marks: those named at cft_attach_summaries do. A table whose documents are
    -- found by a mapping is read too, although its changes leave no marks; docs/methods.md says so.
    texts regclass := coalesce(documents, (SELECT a.relation FROM cftrag_internal.cft_attached_documents(meant) AS a
        WHERE meant <> 0 AND a.entity IS NULL), 0);
    -- Entities with a child that is also above them. Most have none, and the query below then looks for none.
    cycles text[] := CASE WHEN EXISTS (
        SELECT c.relative FROM cftrag_internal.cft_context(entities, 0, 1, forest) AS c INTERSECT SELECT u.name
            FROM unnest(cftrag_internal.cft_rollup_up(entities, forest)) AS u(name))
        THEN entities ELSE '{}' END;
BEGIN
    RETURN QUERY EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH c AS MATERIALIZED (
             SELECT DISTINCT c.entity, c.relative AS child FROM cftrag_internal.cft_context($1, 0, 1, $2) AS c
              WHERE (c.entity, c.relative) NOT IN (SELECT a.entity, a.relative FROM cftrag_internal.cft_rollup_above($5,
                  $2) AS a)
         ), inner_child AS MATERIALIZED (
             SELECT DISTINCT z.entity FROM cftrag_internal.cft_context(ARRAY(SELECT c.child FROM c), 0, 1, $2) AS z
         ), t AS MATERIALIZED (
             SELECT x.* FROM cftrag_internal.cft_texts($1 || ARRAY(SELECT c.child FROM c), $4, $2, false) AS x
         ), m AS (
             SELECT s.%2$I::text AS name, max(s.%3$I::text COLLATE "C") AS summary FROM %1$s AS s
              WHERE s.%3$I IS NOT NULL AND s.%2$I = ANY (ARRAY(SELECT c.child FROM c WHERE $3
                  OR c.child IN (SELECT i.entity FROM inner_child AS i))) GROUP BY 1
         ), p AS (
             SELECT t.entity, 0 AS place, t.entity AS source, t.text FROM t WHERE t.entity = ANY ($1) AND NOT t.named
             UNION ALL
             SELECT c.entity, 1, c.child, coalesce(m.summary, t.text) FROM c JOIN t ON t.entity = c.child LEFT JOIN m
                 ON m.name = c.child
         ), o AS (
             SELECT p.*, row_number() OVER (ORDER BY p.place, cftrag_internal.cft_natural(p.source) COLLATE "C",
                 p.source COLLATE "C") AS n FROM p
         )
         SELECT u.name, coalesce(array_agg(o.source ORDER BY o.n) FILTER (WHERE o.n > 0), ''{}''),
             coalesce(array_agg(o.text ORDER BY o.n) FILTER (WHERE o.n > 0), ''{}''),
                coalesce(sum((char_length(o.text) + 3) / 4), 0)
           FROM unnest($1) WITH ORDINALITY AS u(name, n) LEFT JOIN o ON o.entity = u.name GROUP BY u.name, u.n
               ORDER BY u.n',
        summaries, entity, summary)
    USING entities, forest, leaves, texts, cycles;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_inputs(text[], regclass, regclass, name, name, boolean, regclass,
    regclass) IS
'what the summaries of entities are to be made of';

CREATE FUNCTION cftrag_internal.cft_rollup_next(k integer, edges regclass, meant regclass)
RETURNS TABLE(entity text, sources text[], inputs text[], tokens bigint)
LANGUAGE plpgsql VOLATILE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
    after text;
    due text[];
    look integer;
    found record;
    ready text[];
    taken text[] := '{}';
    several jsonb := '{}';
    few record;
BEGIN
    IF k IS NULL OR k < 0 THEN
        RAISE EXCEPTION 'k must not be null or negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO s FROM cftrag_internal.cft_rollup_tables(edges);
    -- The second round does not wait for children that are also ancestors. It runs only if the first has found too few.
    FOR through_cycles IN 0 .. CASE WHEN k > 0 THEN 1 ELSE -1 END LOOP
        after := NULL;
        look := 256;
        LOOP
            -- The order of the column, so that an index on it serves. The batch grows when it gave nothing, because
            -- without an index each is a scan.
            EXECUTE cftrag_internal.cft_summaries_sql('SELECT array_agg(z.name) FROM (SELECT DISTINCT s.%2$I AS name
                FROM %1$s AS s
                             WHERE s.%3$I IS NULL AND s.%2$I IS NOT NULL AND ($1 IS NULL OR s.%2$I > $1)
                                 AND s.ctid <> ALL ($3)
                              ORDER BY 1 LIMIT $2) AS z', s.summaries, s.entity, s.summary)
            INTO due USING after, look, cftrag_internal.cft_rollup_kept(s.summaries);
            EXIT WHEN due IS NULL;
            after := due[cardinality(due)];
            look := least(2 * look, 16384);
            SELECT r.* INTO found FROM cftrag_internal.cft_rollup_ready(due, through_cycles = 1, s.forest, s.summaries,
                s.entity, s.summary, s.leaves) AS r;
            IF through_cycles = 0 AND found.bare <> '{}' THEN
                PERFORM cftrag_internal.cft_rollup_settle(found.bare, taken, s.forest, s.summaries, s.entity, s.summary,
                    s.leaves);
            END IF;
            ready := found.ready;
            WHILE ready <> '{}' AND cardinality(taken) < k LOOP
                SELECT array_agg(t.name) AS names, jsonb_object_agg(s.summaries::oid || ' ' || t.name, t.mark) AS marks,
                       jsonb_object_agg(t.name, t.marked_by) FILTER (WHERE t.marked_by IS NOT NULL) AS several INTO few
                  FROM cftrag_internal.cft_rollup_take(ready[1 : k - cardinality(taken)], s.summaries, s.entity,
                      s.summary) AS t;
                ready := ready[k - cardinality(taken) + 1 :];
                CONTINUE WHEN few.names IS NULL;
                taken := taken || few.names;
                several := several || coalesce(few.several, '{}');
                PERFORM set_config('cft_rollup.taken', (cftrag_internal.cft_rollup_taken() || few.marks)::text, true);
            END LOOP;
            EXIT WHEN cardinality(taken) = k;
        END LOOP;
        EXIT WHEN taken <> '{}';
    END LOOP;
    IF taken = '{}' THEN
        RETURN;
    END IF;
    PERFORM cftrag_internal.cft_rollup_keep(m.mine, s.forest, s.summaries, s.entity)
        FROM (SELECT cftrag_internal.cft_rollup_mine(taken, s.summaries) AS mine) AS m WHERE m.mine <> '{}';
    PERFORM cftrag_internal.cft_rollup_spread(z.names, z.marked_by, taken, s.forest, s.summaries, s.entity, s.summary)
       FROM (SELECT array_agg(e.key) AS names, array_agg(x) AS marked_by FROM jsonb_each(several) AS e,
           jsonb_array_elements_text(e.value) AS x) AS z WHERE z.names IS NOT NULL;
    IF NOT s.leaves THEN
        -- The leaves below these entities are about to be read, so these need the leaves' marks no longer.
        PERFORM cftrag_internal.cft_rollup_settle(ARRAY(SELECT DISTINCT c.relative
            FROM cftrag_internal.cft_context(taken, 0, 1, s.forest) AS c), taken,
                                              s.forest, s.summaries, s.entity, s.summary, false);
    END IF;
    -- The inputs are read after the marks were taken (rule 3).
    RETURN QUERY SELECT i.* FROM cftrag_internal.cft_rollup_inputs(taken, s.forest, s.summaries, s.entity, s.summary,
        s.leaves, s.documents, meant) AS i;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_next(integer, regclass, regclass) IS 'what cft_rollup_next calls';

CREATE FUNCTION cft_rollup_next(k integer DEFAULT 1, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, sources text[], inputs text[], tokens bigint)
LANGUAGE sql VOLATILE COST 10000 ROWS 10
BEGIN ATOMIC SELECT f.* FROM cftrag_internal.cft_rollup_next($1, cftrag_internal.cft_meant_edges($2),
    cftrag_internal.cft_meant_documents(NULL)) AS f; END;
COMMENT ON FUNCTION cft_rollup_next(integer, regclass) IS
'takes up to k entities whose summaries are due while those of their children are not (implicit knowledge, 2025), with '
'what is to be summarised; no two transactions take the same';

CREATE FUNCTION cftrag_internal.cft_rollup_done(node text, summary text, embedding vector, edges regclass)
RETURNS void LANGUAGE plpgsql VOLATILE COST 1000 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
    claim text;
    mark tid;
    new_values text;
    parents text[];
    changed bigint;
BEGIN
    IF node IS NULL OR summary IS NULL THEN
        RAISE EXCEPTION 'entity and summary must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO s FROM cftrag_internal.cft_rollup_tables(edges);
    IF embedding IS NOT NULL AND s.embedding IS NULL THEN
        RAISE EXCEPTION 'the summaries in % have no embeddings', s.summaries
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Attach %s again with cft_attach_summaries, embedding => its column of embeddings.',
                s.summaries);
    END IF;
    claim := s.summaries::oid || ' ' || node;
    mark := cftrag_internal.cft_rollup_taken() ->> claim;
    new_values := format('%I = $2', s.summary);
    IF s.embedding IS NOT NULL THEN
        new_values := new_values || format(', %I = $3::%s', s.embedding,
            (SELECT o.type FROM cftrag_internal.cft_distance(s.summaries, s.embedding) AS o));
    END IF;
    -- If there is a summary, its row gets the new one and the mark is deleted. Else the mark's row becomes the first
    -- summary.
    EXECUTE format('UPDATE %s SET %s WHERE %I = $1 AND %I IS NOT NULL AND $4 IS NOT NULL', s.summaries, new_values,
        s.entity, s.summary)
    USING node, summary, embedding, mark;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 1 THEN
        -- Two transactions have each stored a first summary, from marks that the other did not see (rule 6). One row
        -- stays.
        EXECUTE cftrag_internal.cft_summaries_sql('DELETE FROM %1$s AS s WHERE s.%2$I = $1 AND s.%3$I IS NOT NULL
                           AND s.ctid <> (SELECT min(o.ctid) FROM %1$s AS o WHERE o.%2$I = $1 AND o.%3$I IS NOT NULL)',
                               s.summaries, s.entity, s.summary) USING node;
    END IF;
    EXECUTE format(CASE WHEN changed > 0 THEN 'DELETE FROM %1$s' ELSE 'UPDATE %1$s SET %2$s' END || ' WHERE ctid = $4 '
        'AND %3$I = $1 AND %4$I IS NULL',
                   s.summaries, new_values, s.entity, s.summary) USING node, summary, embedding, mark;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed = 0 THEN
        RAISE EXCEPTION 'the summary of "%" was not asked for in this transaction', node
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Call cft_rollup_next and cft_rollup_done in one transaction, once for each entity.';
    END IF;
    PERFORM set_config('cft_rollup.taken', (cftrag_internal.cft_rollup_taken() - claim)::text, true);

    -- Rule 5. A parent that is also below this entity has no input from it.
    SELECT array_agg(DISTINCT c.relative) INTO parents FROM cftrag_internal.cft_context(node, 1, 0, s.forest) AS c;
    IF node = ANY (cftrag_internal.cft_rollup_up(parents, s.forest)) THEN
        SELECT array_agg(u.name) INTO parents FROM unnest(parents) AS u(name)
         WHERE node <> ALL (cftrag_internal.cft_rollup_up(ARRAY[u.name], s.forest));
    END IF;
    PERFORM cftrag_internal.cft_rollup_add(parents, s.summaries, s.entity, s.summary) WHERE parents IS NOT NULL;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_done(text, text, vector, regclass) IS 'what cft_rollup_done calls';

CREATE FUNCTION cft_rollup_done(entity text, summary text, embedding vector DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE COST 1000
BEGIN ATOMIC SELECT cftrag_internal.cft_rollup_done($1, $2, $3, cftrag_internal.cft_meant_edges($4)); END;
COMMENT ON FUNCTION cft_rollup_done(text, text, vector, regclass) IS
'stores the summary of an entity that cft_rollup_next gave to this transaction';

-- A summary without a model: the first sentence of each input, cut at 200 characters, as long as all together have at
-- most 1000.
CREATE FUNCTION cft_summarize_extractive(entity text, sources text[], inputs text[])
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        WITH i AS (SELECT u.n, btrim(u.input, E' \t\n\r') AS input FROM unnest(inputs) WITH ORDINALITY AS u(input, n)),
        first AS (SELECT i.n, left(coalesce(substring(i.input FROM E'^(.*?[.!?](?=\\s|$))'), i.input), 200) AS sentence
            FROM i),
        counted AS (SELECT f.*, sum(char_length(f.sentence) + 1) OVER (ORDER BY f.n) AS so_far FROM first AS f
            WHERE f.sentence <> '')
        SELECT entity || coalesce(': ' || string_agg(c.sentence, ' ' ORDER BY c.n) FILTER (WHERE c.so_far <= 1000), '')
            FROM counted AS c);
END $$;
COMMENT ON FUNCTION cft_summarize_extractive(text, text[], text[]) IS
'a summary without a model, extractive: the name, and the first sentence of each input, up to 1000 characters';

-- The summarizer and embedder are functions of the user. They run with the caller's rights and search_path.
CREATE FUNCTION cftrag_internal.cft_rollup_by(summarizer regprocedure, embedder regprocedure, k integer, edges regclass,
    meant regclass,
    path text, standard regprocedure)
RETURNS TABLE(summarized bigint, by_function regprocedure, extractive boolean)
LANGUAGE plpgsql VOLATILE COST 100000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    summarize text;
    embed text;
    done text := format('SELECT cftrag_internal.cft_rollup_done($1, $2, $3::%s, $4)', (
        SELECT p.proargtypes[2]::regtype FROM pg_proc AS p WHERE p.oid = 'cftrag_internal.cft_rollup_done'::regproc));
    node record;
    called text[];
    said text;
    near text;
    tables record;
    centroid text;
    before bigint;
BEGIN
    IF k < 0 THEN
        RAISE EXCEPTION '"k" must not be negative, but is %', k USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT format('SELECT %I.%I($1, $2, $3)', s.nspname, p.proname) INTO summarize FROM pg_proc AS p
        JOIN pg_namespace AS s ON s.oid = p.pronamespace
     WHERE p.oid = summarizer AND p.proargtypes = '25 1009 1009'::oidvector AND p.prorettype = 'text'::regtype
         AND p.prokind = 'f' AND NOT p.proretset;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'function % cannot summarize', summarizer USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A summarizer takes (entity text, sources text[], inputs text[]) and returns text.';
    END IF;
    IF embedder IS NOT NULL THEN
        -- The types of embeddings are those of pgvector.
        SELECT format('SELECT %I.%I($1)::pg_catalog.text', s.nspname, p.proname) INTO embed FROM pg_proc AS p
            JOIN pg_namespace AS s ON s.oid = p.pronamespace
         WHERE p.oid = embedder AND p.proargtypes = '25'::oidvector AND p.prokind = 'f' AND NOT p.proretset
           AND EXISTS (SELECT FROM pg_depend AS d JOIN pg_type AS t ON t.oid = d.objid AND t.typtype = 'b'
                                              JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'vector'
                        WHERE d.classid = 'pg_type'::regclass AND d.objid = p.prorettype
                            AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e');
        IF NOT FOUND THEN
            RAISE EXCEPTION 'function % cannot embed', embedder USING ERRCODE = 'invalid_parameter_value',
                HINT = 'An embedder takes a text and returns a vector.';
        END IF;
    END IF;
    -- An embedding without a model: the average of the embeddings of the documents about an entity and all below it,
    -- where both columns have one type.
    SELECT * INTO tables FROM cftrag_internal.cft_rollup_tables(edges);
    IF embed IS NULL AND num_nulls(tables.documents, tables.embedding) = 0 THEN
        SELECT cftrag_internal.cft_search_statement(d.relation, 'centroid', true) INTO centroid
            FROM cftrag_internal.cft_attached_documents(tables.documents) AS d
         WHERE (SELECT count(DISTINCT (a.atttypid, a.atttypmod)) FROM pg_attribute AS a
             WHERE (a.attrelid, a.attname) IN ((tables.summaries, tables.embedding), (d.relation, d.embedding))) = 1;
    END IF;
    summarized := 0;
    by_function := summarizer;
    extractive := summarizer = standard;
    LOOP
        before := summarized;
        FOR node IN SELECT x.entity, x.sources, x.inputs FROM cftrag_internal.cft_rollup_next(least(100,
            k - summarized)::int, edges, meant) AS x LOOP
            called := ARRAY(SELECT coalesce(cftrag_internal.cft_label(u.name, tables.forest), u.name)
                FROM unnest(node.entity || node.sources) WITH ORDINALITY AS u(name, n) ORDER BY u.n);
            PERFORM set_config('search_path', path, true);
            EXECUTE summarize INTO said USING called[1], called[2:], node.inputs;
            IF embed IS NOT NULL THEN
                EXECUTE embed INTO near USING said;
            END IF;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            IF centroid IS NOT NULL THEN
                EXECUTE centroid INTO near USING NULL::text, ARRAY[node.entity], tables.forest, NULL::jsonb,
                    NULL::text[];
            END IF;
            EXECUTE done USING node.entity, said, near, edges;
            summarized := summarized + 1;
        END LOOP;
        EXIT WHEN summarized = before OR summarized = k;
    END LOOP;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_by(regprocedure, regprocedure, integer, regclass, regclass, text,
    regprocedure) IS
'cft_rollup, with the search_path for the functions it calls, and the summarizer that is the default';

CREATE FUNCTION cft_rollup(summarizer regprocedure DEFAULT 'cft_summarize_extractive(text, text[], text[])',
    embedder regprocedure DEFAULT NULL,
    k integer DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS TABLE(summarized bigint, by_function regprocedure, extractive boolean)
LANGUAGE sql VOLATILE COST 100000 ROWS 1
BEGIN ATOMIC
    SELECT r.* FROM cftrag_internal.cft_rollup_by($1, $2, $3, cftrag_internal.cft_meant_edges($4),
        cftrag_internal.cft_meant_documents(NULL), pg_catalog.current_setting('search_path'),
                                                  'cft_summarize_extractive(text, text[], text[])'::regprocedure) AS r;
END;
COMMENT ON FUNCTION cft_rollup(regprocedure, regprocedure, integer, regclass) IS
'makes all summaries that are due, by a function (entity text, sources text[], inputs text[]) returning text; the '
'default is extractive, without a model; without an embedder embeddings are the average of those of the documents in '
'the subtree';
