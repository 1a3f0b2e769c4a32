-- The time of a call on the Disease Ontology, after check.sql: median and minimum of 24, in milliseconds (12 arguments, three calls each, the first
-- a warm-up).
SET client_min_messages = warning;
SET jit = off;
CREATE FUNCTION pg_temp.times(call text, arguments text) RETURNS TABLE (median_ms numeric, least_ms numeric) LANGUAGE plpgsql AS $$
DECLARE
    a record;
    began timestamptz;
    spent float8[] := '{}';
    answer text;
BEGIN
    FOR round IN 0 .. 2 LOOP
        FOR a IN EXECUTE arguments LOOP
            began := clock_timestamp();
            EXECUTE 'SELECT string_agg(x::text, '''') FROM ' || call || ' AS x' INTO answer USING a.query, a.names;
            IF round > 0 THEN spent := spent || 1000 * extract(epoch FROM clock_timestamp() - began)::float8; END IF;
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY u)::numeric, 2), round(min(u)::numeric, 2) FROM unnest(spent) AS u;
END $$;
\set questions '''SELECT embedding AS query, NULL::text[] AS names FROM questions ORDER BY md5(id) LIMIT 12'''
\set entities '''SELECT NULL::vector AS query, ARRAY(SELECT entity FROM meaning ORDER BY md5(entity || s) LIMIT 6) AS names FROM generate_series(1, 12) AS s'''
CREATE TEMP TABLE timed (n serial, call text, median_ms numeric, least_ms numeric);
CREATE TEMP TABLE call (n serial, call text, arguments text);
INSERT INTO call (call, arguments) VALUES
    ('cft_tree_search($1, mode => ''prune'', prune_factor => 0.8, edges => ''entity_edges'')', :questions), ('cft_tree_search($1, mode => ''beam'', edges => ''entity_edges'')', :questions),
    ('cft_tree_search($1, mode => ''collapsed'', edges => ''entity_edges'')', :questions), ('cft_coarse_fine($1, edges => ''entity_edges'')', :questions),
    ('cft_path_prefix($2[1], ''entity_edges'')', :entities), ('cft_expand($2, edges => ''entity_edges'')', :entities), ('cft_bridge($2, 20, ''entity_edges'')', :entities);
INSERT INTO timed (call, median_ms, least_ms) SELECT c.call, t.* FROM call AS c, pg_temp.times(c.call, c.arguments) AS t ORDER BY c.n;
CREATE INDEX meaning_hnsw ON meaning USING hnsw (embedding vector_cosine_ops);
INSERT INTO timed (call, median_ms, least_ms) SELECT c.call || ', hnsw', t.* FROM call AS c, pg_temp.times(c.call, c.arguments) AS t WHERE c.n IN (3, 4) ORDER BY c.n;
DROP INDEX meaning_hnsw;
SELECT call, median_ms, least_ms FROM timed ORDER BY n;
SELECT round(avg(s.compared)) AS "compared at 0.8" FROM questions AS q, LATERAL (SELECT compared FROM cft_tree_search(q.embedding, mode => 'prune', prune_factor => 0.8, k => 1, edges => 'entity_edges')) AS s;
