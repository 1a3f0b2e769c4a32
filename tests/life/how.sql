-- Says how an answer was served. Uses the functions of the SQL tests' oracle (tests/pg_regress/sql/setup.sql).
-- Returns 'image, N rows' or 'reason, N rows' if cft_context equals the reference query, for each name alone and for all together, and, if
-- the image answered and verify is true, cft_verify finds nothing. Otherwise 'WRONG' or 'UNSOUND' and what differs.
CREATE FUNCTION oracle.counters(table_ regclass) RETURNS jsonb VOLATILE LANGUAGE sql AS
$$ SELECT coalesce((SELECT to_jsonb(s) FROM public.pg_stat_cftrag AS s WHERE s.edges = table_), '{}') $$;

-- Hides the NOTICE by which cft_verify says that an image built meanwhile does not serve the statement's snapshot: it is not part of the answer.
CREATE FUNCTION oracle.how(edges regclass, names text[] = NULL, up int = 4, down int = 4,
                           parent name = 'parent', child name = 'child', tree name = 'tree', verify boolean = true) RETURNS text
VOLATILE LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
    before jsonb := oracle.counters(edges);
    later jsonb;
    answer text;
    served text;
    wrong text;
BEGIN
    IF names IS NULL THEN
        EXECUTE format('SELECT array_agg(DISTINCT name COLLATE "C" ORDER BY name COLLATE "C") FROM
            (SELECT r.%I::text FROM %s AS r UNION ALL SELECT r.%I::text FROM %2$s AS r) AS z(name)', parent, edges, child) INTO names;
    END IF;
    names := names || ARRAY['nobody', NULL, names[1]];
    SELECT string_agg(s, E'\n') INTO wrong
      FROM unnest(names) AS name, oracle.same(name, up, down, edges, parent, child, tree) AS s WHERE s NOT LIKE 'same, %';
    IF wrong IS NULL THEN
        answer := oracle.same(names, up, down, edges, parent, child, tree);
        IF answer NOT LIKE 'same, %' THEN wrong := answer; END IF;
    END IF;
    later := oracle.counters(edges);
    SELECT string_agg(CASE key WHEN 'image_calls' THEN 'image' ELSE substr(key, 5) END, '+' ORDER BY key)
      INTO served
      FROM jsonb_each_text(later)
     WHERE (key = 'image_calls' OR key LIKE 'ref\_%')
       AND value::bigint > coalesce((before ->> key)::bigint, 0);
    IF wrong IS NOT NULL THEN RETURN format('WRONG by %s: %s', served, wrong); END IF;
    IF served = 'image' AND verify THEN
        EXECUTE format('SELECT string_agg(v::text, E''\n'') FROM public.cft_verify(%L::regclass) AS v', edges::oid::text) INTO wrong;
        IF wrong IS NOT NULL THEN RETURN 'UNSOUND: ' || wrong; END IF;
    END IF;
    RETURN format('%s, %s', coalesce(served, 'nothing counted'), substr(answer, 7));
END $$;
