-- Times of the modes on equal questions about the forest's entities, in one run in which the modes take turns: medians in milliseconds, and ratios to
-- cft. `cpu` is the backend's own CPU time (Linux), the mean of the whole call, so that other load on the machine does not count.
-- `whole call` is cft_retrieve with k = 5 documents; `hierarchy` only finds the relatives of known entities.
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
-- The backend's CPU time in milliseconds; NULL if the system does not say.
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    RETURN split_part(pg_read_file('/proc/self/schedstat', 0, 100, true), ' ', 1)::float8 / 1e6;
END $$;
CREATE FUNCTION times(edges regclass, n int) RETURNS TABLE (mode text, whole float8, part float8, cpu float8) LANGUAGE plpgsql AS $$
DECLARE
    modes text[] := '{cft,text,naive,ann_tree,ann_graph}';
    q record;
    names text[];
    start timestamptz;
BEGIN
    FOR q IN EXECUTE format(
        'SELECT a.question, s.embedding, string_to_array(a.entity, ''|'') AS names FROM asked AS a JOIN questions AS s USING (id)
          WHERE split_part(a.entity, ''|'', 1) IN (SELECT parent FROM %1$s UNION SELECT child FROM %1$s) ORDER BY md5(a.id) LIMIT %2$s', edges, n) LOOP
        names := q.names;
        FOREACH mode IN ARRAY modes LOOP
            cpu := cpu();
            start := clock_timestamp();
            PERFORM * FROM cft_retrieve(q.question, q.embedding, mode => times.mode, edges => times.edges, chunks => 0);
            whole := 1000 * extract(epoch FROM clock_timestamp() - start);
            cpu := cpu() - cpu;
            start := clock_timestamp();
            CASE mode
                WHEN 'cft', 'ann_tree' THEN PERFORM * FROM cft_context_parts(names, 3, 1, times.edges);
                WHEN 'naive' THEN PERFORM cftrag_internal.cft_found_by_search(names, times.edges);
                WHEN 'ann_graph' THEN PERFORM * FROM cftrag_internal.cft_sentences_of_neighbors(names, 1, times.edges);
                ELSE NULL;
            END CASE;
            part := CASE WHEN mode <> 'text' THEN 1000 * extract(epoch FROM clock_timestamp() - start) END;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $$;
CREATE TABLE forest_of (n int, name text, edges regclass);
INSERT INTO forest_of VALUES (1, '50 trees', 'forest_50'), (2, '300 trees', 'forest_300'), (3, '600 trees', 'forest_600'), (4, 'ontology', 'entity_edges');
\echo == Time of up to :questions questions each, milliseconds (medians; x: ratio to cft)
SELECT count(*) FROM forest_of, times(edges, 3) \g /dev/null
CREATE TABLE measured AS SELECT f.n, f.name, t.* FROM forest_of AS f, times(f.edges, :questions) AS t;
WITH m AS (
    SELECT n, name, mode, count(*) AS questions, percentile_cont(0.5) WITHIN GROUP (ORDER BY whole) AS whole, percentile_cont(0.5) WITHIN GROUP (ORDER BY part) AS part, avg(cpu) AS cpu
      FROM measured GROUP BY n, name, mode)
SELECT m.name AS forest, m.questions, m.mode, round(m.whole::numeric, 2) AS "whole call", round((m.whole / c.whole)::numeric, 2) AS x,
       round(m.cpu::numeric, 2) AS cpu, round((m.cpu / c.cpu)::numeric, 2) AS x,
       round(m.part::numeric, 3) AS hierarchy, round((m.part / c.part)::numeric, 1) AS x
  FROM m JOIN m AS c ON c.n = m.n AND c.mode = 'cft' ORDER BY m.n, array_position('{cft,text,ann_tree,ann_graph,naive}', m.mode);
