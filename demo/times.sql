-- How long one answer takes, three ways. demo/run: -v question=ID -v n=200 and, as text, -v statement=(question.sql)
-- -v by_hand=(by_hand.sql).
--
-- Measured in the server: each run is an EXPLAIN ANALYZE, the three ways take turns, the medians are shown. `documents` is the
-- search with pgvector, the same in all three (plan node CTE nearest); `hierarchy` is the rest of the execution. Planning is
-- shown beside it and belongs to neither: a prepared statement does not pay it. Caches are warm, JIT and parallel workers off.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION pg_temp.times(statement text, by_hand text, question text, n int)
RETURNS TABLE (way int, documents float8, execution float8, planning float8) LANGUAGE plpgsql AS $$
DECLARE
    ways text[] := ARRAY[statement, statement, by_hand];
    enable text[] := ARRAY['on', 'off', 'on'];
    plan jsonb;
BEGIN
    FOR i IN -4 .. n LOOP           -- the first five warm up
        FOR w IN 1 .. 3 LOOP
            PERFORM set_config('cftrag.enable', enable[w], true);
            EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' ||
                    replace(rtrim(ways[w], E'; \n'), ':''question''', quote_literal(question)) INTO plan;
            CONTINUE WHEN i < 1;
            way := w;
            documents := 1000 * (jsonb_path_query_first(plan, '$.**?(@."Subplan Name" == "CTE nearest")') ->> 'Actual Total Time')::float8;
            execution := 1000 * (plan -> 0 ->> 'Execution Time')::float8;
            planning := 1000 * (plan -> 0 ->> 'Planning Time')::float8;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $$;

SELECT image_calls AS image_before, reference_calls AS reference_before FROM pg_stat_cftrag WHERE edges = 'entity_edges'::regclass \gset
\echo Time, microseconds in the server, medians of :n runs each, taken in turn:
WITH medians AS (
    SELECT way, percentile_cont(0.5) WITHIN GROUP (ORDER BY documents) AS documents,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY execution - documents) AS hierarchy,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY execution) AS whole,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY planning) AS planning
      FROM pg_temp.times(:'statement', :'by_hand', :'question', :n) GROUP BY way
)
SELECT CASE m.way WHEN 1 THEN 'cft_context, from the image'
                  WHEN 2 THEN 'cft_context, cftrag.enable = off (its reference query)'
                  ELSE 'WITH RECURSIVE by hand (demo/by_hand.sql)' END AS "the same rows by",
       round(m.documents) AS documents, round(m.hierarchy) AS hierarchy,
       round((m.hierarchy / i.hierarchy)::numeric, 1) || ' x' AS ratio,
       round(m.whole) AS whole, round((m.whole / i.whole)::numeric, 1) || ' x' AS ratio, round(m.planning) AS planning
  FROM medians AS m, medians AS i WHERE i.way = 1 ORDER BY m.way;
SELECT image_calls - :image_before AS image_calls, reference_calls - :reference_before AS reference_calls
  FROM pg_stat_cftrag WHERE edges = 'entity_edges'::regclass \gset
\echo (served meanwhile: :image_calls calls from the image, :reference_calls by the reference query)
