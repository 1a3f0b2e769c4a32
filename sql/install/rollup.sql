-- The work on what is due (summaries.sql has the whole): a worker takes entities with what is to be summarised, and says what the summaries are, in
-- one transaction. With his own rights: SELECT, UPDATE, DELETE and INSERT on the summaries, SELECT on the edges and documents.

-- Of these entities, whose summaries are due, those that wait for no child: with a child at all, or leaves if these have summaries. A child that is
-- an ancestor too (a cycle) is waited for unless through_cycles.
CREATE FUNCTION cft_rollup_ready(due text[], through_cycles boolean, forest regclass, summaries regclass, entity name, summary name, leaves boolean)
RETURNS text[] LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ready text[];
BEGIN
    EXECUTE format(
        'WITH c AS MATERIALIZED (
             SELECT c.entity, c.relative FROM @extschema@.cft_context($1, 0, 1, $2) AS c
         ), d AS MATERIALIZED (
             SELECT DISTINCT s.%2$I::text AS name FROM %1$s AS s WHERE s.%2$I = ANY (ARRAY(SELECT c.relative FROM c)) AND s.%3$I IS NULL
         ), w AS MATERIALIZED (
             SELECT d.name FROM d WHERE $3 OR d.name IN (SELECT i.entity FROM @extschema@.cft_context(ARRAY(SELECT d.name FROM d), 0, 1, $2) AS i)
         ), waiting AS MATERIALIZED (
             SELECT c.entity, c.relative FROM c JOIN w ON w.name = c.relative
         )
         SELECT array_agg(r.name ORDER BY r.name COLLATE "C")
           FROM (SELECT c.entity AS name FROM c UNION SELECT c.entity FROM @extschema@.cft_context(CASE WHEN $3 THEN $1 END, 1, 0, $2) AS c) AS r
          WHERE r.name NOT IN (
              SELECT x.entity FROM waiting AS x
               WHERE NOT $4 OR (x.entity, x.relative) NOT IN (
                   SELECT a.entity, a.relative FROM @extschema@.cft_context(ARRAY(SELECT y.entity FROM waiting AS y), 1000, 0, $2) AS a))',
        summaries, entity, summary)
    INTO ready USING due, forest, leaves, through_cycles;
    RETURN coalesce(ready, '{}');
END $$;
COMMENT ON FUNCTION cft_rollup_ready(text[], boolean, regclass, regclass, name, name, boolean) IS
'which entities whose summaries are due wait for no child';

-- Locks all marks of each entity, or it is another worker's; and leaves it one, by ctid.
CREATE FUNCTION cft_rollup_take(entities text[], summaries regclass, entity name, summary name)
RETURNS TABLE(name text, mark tid) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'WITH locked AS MATERIALIZED (
             SELECT s.ctid AS at, s.%2$I::text AS name FROM %1$s AS s WHERE s.%2$I = ANY ($1) AND s.%3$I IS NULL FOR UPDATE SKIP LOCKED
         ), seen AS (
             SELECT s.%2$I::text AS name, count(*) AS n FROM %1$s AS s WHERE s.%2$I = ANY ($1) AND s.%3$I IS NULL GROUP BY 1
         ), mine AS MATERIALIZED (
             SELECT g.name, g.at FROM (SELECT l.name, min(l.at) AS at, count(*) AS n FROM locked AS l GROUP BY 1) AS g JOIN seen USING (name, n)
         ), others AS (
             DELETE FROM %1$s AS s WHERE s.ctid = ANY (ARRAY(SELECT l.at FROM locked AS l JOIN mine AS m ON m.name = l.name AND m.at <> l.at))
         )
         SELECT m.name, m.at FROM mine AS m ORDER BY m.name COLLATE "C"', summaries, entity, summary)
    USING entities;
END $$;
COMMENT ON FUNCTION cft_rollup_take(text[], regclass, name, name) IS 'takes the marks of entities that no other transaction has taken';

-- Which marks were taken, to the end of the transaction: by table and entity. What is marked after that stays due.
CREATE FUNCTION cft_rollup_taken()
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(nullif(current_setting('cft_rollup.taken', true), ''), '{}');
END $$;
COMMENT ON FUNCTION cft_rollup_taken() IS 'the marks that this transaction has taken by cft_rollup_next and not yet answered';

-- What there is to summarise of each entity: the documents about itself, then its children's summaries, or texts.
CREATE FUNCTION cft_rollup_inputs(entities text[], forest regclass, summaries regclass, entity name, summary name, leaves boolean, documents regclass)
RETURNS TABLE(name text, sources text[], inputs text[], tokens bigint)
LANGUAGE plpgsql VOLATILE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'WITH c AS MATERIALIZED (
             SELECT DISTINCT c.entity, c.relative AS child FROM @extschema@.cft_context($1, 0, 1, $2) AS c
              WHERE (c.entity, c.relative) NOT IN (SELECT a.entity, a.relative FROM @extschema@.cft_context($1, 1000, 0, $2) AS a)
         ), inner_child AS MATERIALIZED (
             SELECT DISTINCT z.entity FROM @extschema@.cft_context(ARRAY(SELECT c.child FROM c), 0, 1, $2) AS z
         ), t AS MATERIALIZED (
             SELECT x.* FROM @extschema@.cft_texts($1 || ARRAY(SELECT c.child FROM c), $4) AS x
         ), m AS (
             SELECT s.%2$I::text AS name, max(s.%3$I::text COLLATE "C") AS summary FROM %1$s AS s
              WHERE s.%3$I IS NOT NULL AND s.%2$I = ANY (ARRAY(SELECT c.child FROM c WHERE $3 OR c.child IN (SELECT i.entity FROM inner_child AS i))) GROUP BY 1
         ), p AS (
             SELECT t.entity, 0 AS place, t.entity AS source, t.text FROM t WHERE t.entity = ANY ($1) AND NOT t.named
             UNION ALL
             SELECT c.entity, 1, c.child, coalesce(m.summary, t.text) FROM c JOIN t ON t.entity = c.child LEFT JOIN m ON m.name = c.child
         ), o AS (
             SELECT p.*, row_number() OVER (ORDER BY p.place, @extschema@.cft_natural(p.source) COLLATE "C", p.source COLLATE "C") AS n FROM p
         )
         SELECT u.name, coalesce(array_agg(o.source ORDER BY o.n) FILTER (WHERE o.n > 0), ''{}''), coalesce(array_agg(o.text ORDER BY o.n) FILTER (WHERE o.n > 0), ''{}''),
                coalesce(sum((char_length(o.text) + 3) / 4), 0)
           FROM unnest($1) WITH ORDINALITY AS u(name, n) LEFT JOIN o ON o.entity = u.name GROUP BY u.name, u.n ORDER BY u.n',
        summaries, entity, summary)
    USING entities, forest, leaves, documents;
END $$;
COMMENT ON FUNCTION cft_rollup_inputs(text[], regclass, regclass, name, name, boolean, regclass) IS 'what the summaries of entities are to be made of';

CREATE FUNCTION cft_rollup_next(n integer DEFAULT 1, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, sources text[], inputs text[], tokens bigint)
LANGUAGE plpgsql VOLATILE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
    after text;
    due text[];
    ready text[];
    taken text[] := '{}';
    few text[];
    marks jsonb;
BEGIN
    IF n IS NULL OR n < 0 THEN
        RAISE EXCEPTION 'n must not be null or negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO s FROM @extschema@.cft_rollup_tables(edges);
    -- Children that are ancestors too are not waited for; but that is asked only if all others are done or taken.
    FOR through_cycles IN 0 .. CASE WHEN n > 0 THEN 1 ELSE -1 END LOOP
        after := NULL;
        LOOP
            -- In the order of the column, so that an index on it serves.
            EXECUTE format('SELECT array_agg(z.name) FROM (SELECT DISTINCT s.%2$I AS name FROM %1$s AS s
                             WHERE s.%3$I IS NULL AND s.%2$I IS NOT NULL AND ($1 IS NULL OR s.%2$I > $1) ORDER BY 1 LIMIT 256) AS z', s.summaries, s.entity, s.summary)
            INTO due USING after;
            EXIT WHEN due IS NULL;
            after := due[cardinality(due)];
            ready := @extschema@.cft_rollup_ready(due, through_cycles = 1, s.forest, s.summaries, s.entity, s.summary, s.leaves);
            WHILE ready <> '{}' AND cardinality(taken) < n LOOP
                few := ready[1 : n - cardinality(taken)];
                ready := ready[cardinality(few) + 1 :];
                SELECT array_agg(t.name), jsonb_object_agg(s.summaries::oid || ' ' || t.name, t.mark) INTO few, marks
                  FROM @extschema@.cft_rollup_take(few, s.summaries, s.entity, s.summary) AS t;
                CONTINUE WHEN few IS NULL;
                taken := taken || few;
                PERFORM set_config('cft_rollup.taken', (@extschema@.cft_rollup_taken() || marks)::text, true);
            END LOOP;
            EXIT WHEN cardinality(taken) = n;
        END LOOP;
        EXIT WHEN taken <> '{}';
    END LOOP;
    -- Read after the marks were taken.
    RETURN QUERY SELECT i.* FROM @extschema@.cft_rollup_inputs(taken, s.forest, s.summaries, s.entity, s.summary, s.leaves, s.documents) AS i WHERE taken <> '{}';
END $$;
COMMENT ON FUNCTION cft_rollup_next(integer, regclass) IS
'takes up to n entities whose summaries are due while those of their children are not (implicit knowledge, 2025), with what is to be summarised; no two transactions take the same';

CREATE FUNCTION cft_rollup_done(node text, summary text, embedding vector DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE COST 1000 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
    claim text;
    mark tid;
    new_values text;
    parent text;
    found_one boolean;
    changed bigint;
BEGIN
    IF node IS NULL OR summary IS NULL THEN
        RAISE EXCEPTION 'node and summary must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO s FROM @extschema@.cft_rollup_tables(edges);
    IF embedding IS NOT NULL AND s.embedding IS NULL THEN
        RAISE EXCEPTION 'the summaries in % have no embeddings', s.summaries USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Say which column holds them: SELECT cft_attach_summaries(%L, ..., embedding => ''embedding'');', s.summaries);
    END IF;
    claim := s.summaries::oid || ' ' || node;
    mark := @extschema@.cft_rollup_taken() ->> claim;
    new_values := format('%I = $2', s.summary);
    IF s.embedding IS NOT NULL THEN
        new_values := new_values || format(', %I = $3::%s', s.embedding,
            (SELECT format_type(a.atttypid, NULL) FROM pg_attribute AS a WHERE a.attrelid = s.summaries AND a.attname = s.embedding));
    END IF;
    -- The old summary's row gets the new one, and the mark goes; or the mark becomes the first.
    EXECUTE format('UPDATE %s SET %s WHERE %I = $1 AND %I IS NOT NULL AND $4 IS NOT NULL', s.summaries, new_values, s.entity, s.summary)
    USING node, summary, embedding, mark;
    GET DIAGNOSTICS changed = ROW_COUNT;
    EXECUTE format(CASE WHEN changed > 0 THEN 'DELETE FROM %1$s' ELSE 'UPDATE %1$s SET %2$s' END || ' WHERE ctid = $4 AND %3$I = $1 AND %4$I IS NULL',
                   s.summaries, new_values, s.entity, s.summary) USING node, summary, embedding, mark;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed = 0 THEN
        RAISE EXCEPTION 'the summary of "%" was not asked for in this transaction', node USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Call cft_rollup_next and cft_rollup_done in one transaction, once for each entity.';
    END IF;
    PERFORM set_config('cft_rollup.taken', (@extschema@.cft_rollup_taken() - claim)::text, true);

    -- Parents that nobody marked. A mark that another worker has taken may be gone soon; children that are ancestors too are not waited for.
    FOR parent IN
        WITH p AS MATERIALIZED (SELECT DISTINCT c.relative FROM @extschema@.cft_context(node, 1, 0, s.forest) AS c)
        SELECT p.relative FROM p
         WHERE p.relative NOT IN (SELECT a.entity FROM @extschema@.cft_context(ARRAY(SELECT p.relative FROM p), 1000, 0, s.forest) AS a WHERE a.relative = node)
         ORDER BY p.relative COLLATE "C"
    LOOP
        EXECUTE format('SELECT true FROM %s AS s WHERE s.%I = $1 AND s.%I IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED', s.summaries, s.entity, s.summary)
        INTO found_one USING parent;
        IF found_one IS NULL THEN
            EXECUTE format('INSERT INTO %s (%I) VALUES ($1)', s.summaries, s.entity) USING parent;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION cft_rollup_done(text, text, vector, regclass) IS 'stores the summary of an entity that cft_rollup_next gave to this transaction';

-- No model: the first sentence of each input, of 200 characters at most, while all are not longer than 1000.
CREATE FUNCTION cft_summarize_extractive(entity text, sources text[], inputs text[])
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        WITH i AS (SELECT u.n, btrim(u.input, E' \t\n\r') AS input FROM unnest(inputs) WITH ORDINALITY AS u(input, n)),
        first AS (SELECT i.n, left(coalesce(substring(i.input FROM '^(.*?[.!?](?=\s|$))'), i.input), 200) AS sentence FROM i),
        counted AS (SELECT f.*, sum(char_length(f.sentence) + 1) OVER (ORDER BY f.n) AS so_far FROM first AS f WHERE f.sentence <> '')
        SELECT entity || coalesce(': ' || string_agg(c.sentence, ' ' ORDER BY c.n) FILTER (WHERE c.so_far <= 1000), '') FROM counted AS c);
END $$;
COMMENT ON FUNCTION cft_summarize_extractive(text, text[], text[]) IS
'a summary without a model, extractive: the name, and the first sentence of each input, up to 1000 characters';

-- The functions are the user's, called with his rights, and find what they call by his search_path.
CREATE FUNCTION cft_rollup_by(summarizer regprocedure, embedder regprocedure, n integer, edges regclass, path text)
RETURNS TABLE(summarized bigint, by_function regprocedure, extractive boolean)
LANGUAGE plpgsql VOLATILE COST 100000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    summarize text;
    embed text;
    done text := format('SELECT @extschema@.cft_rollup_done($1, $2, $3::%s, $4)', (
        SELECT p.proargtypes[2]::regtype FROM pg_proc AS p WHERE p.oid = '@extschema@.cft_rollup_done'::regproc));
    node record;
    said text;
    near text;
    before bigint;
BEGIN
    IF n < 0 THEN
        RAISE EXCEPTION 'n must not be negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT format('SELECT %I.%I($1, $2, $3)', s.nspname, p.proname) INTO summarize FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = p.pronamespace
     WHERE p.oid = summarizer AND p.proargtypes = '25 1009 1009'::oidvector AND p.prorettype = 'text'::regtype AND p.prokind = 'f' AND NOT p.proretset;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'function % cannot summarize', summarizer USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A summarizer takes (entity text, sources text[], inputs text[]) and returns text.';
    END IF;
    IF embedder IS NOT NULL THEN
        -- The types of embeddings are those of pgvector.
        SELECT format('SELECT %I.%I($1)::pg_catalog.text', s.nspname, p.proname) INTO embed FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = p.pronamespace
         WHERE p.oid = embedder AND p.proargtypes = '25'::oidvector AND p.prokind = 'f' AND NOT p.proretset
           AND EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'vector'
                        WHERE d.classid = 'pg_type'::regclass AND d.objid = p.prorettype AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e');
        IF NOT FOUND THEN
            RAISE EXCEPTION 'function % cannot embed', embedder USING ERRCODE = 'invalid_parameter_value',
                HINT = 'An embedder takes a text and returns a vector.';
        END IF;
    END IF;
    summarized := 0;
    by_function := summarizer;
    extractive := summarizer = '@extschema@.cft_summarize_extractive(text, text[], text[])'::regprocedure;
    LOOP
        before := summarized;
        FOR node IN SELECT x.entity, x.sources, x.inputs FROM @extschema@.cft_rollup_next(least(100, n - summarized)::int, edges) AS x LOOP
            PERFORM set_config('search_path', path, true);
            EXECUTE summarize INTO said USING node.entity, node.sources, node.inputs;
            IF embed IS NOT NULL THEN
                EXECUTE embed INTO near USING said;
            END IF;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            EXECUTE done USING node.entity, said, near, edges;
            summarized := summarized + 1;
        END LOOP;
        EXIT WHEN summarized = before OR summarized = n;
    END LOOP;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION cft_rollup_by(regprocedure, regprocedure, integer, regclass, text) IS 'cft_rollup, with the search_path for the functions it calls';

CREATE FUNCTION cft_rollup(summarizer regprocedure DEFAULT '@extschema@.cft_summarize_extractive(text, text[], text[])', embedder regprocedure DEFAULT NULL,
    n integer DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS TABLE(summarized bigint, by_function regprocedure, extractive boolean)
LANGUAGE sql VOLATILE COST 100000 ROWS 1 AS $$
    SELECT r.* FROM @extschema@.cft_rollup_by($1, $2, $3, $4, pg_catalog.current_setting('search_path')) AS r $$;
COMMENT ON FUNCTION cft_rollup(regprocedure, regprocedure, integer, regclass) IS
'makes all summaries that are due, by a function (entity text, sources text[], inputs text[]) returning text; the default is extractive, without a model';
