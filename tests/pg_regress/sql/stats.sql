-- pg_stat_cftrag: its columns, one row for each attached table, its counters; cft_stats_reset.
\a\t
SET client_min_messages = warning;
-- The columns that are documented, and one bigint for each reason. The set of reasons may grow.
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
 WHERE attrelid = 'pg_stat_cftrag'::regclass AND attnum > 0 AND attname NOT LIKE 'ref\_%' ORDER BY attnum;
SELECT count(*) >= 16 AS reasons, bool_and(atttypid = 'bigint'::regtype) AS bigint
  FROM pg_attribute WHERE attrelid = 'pg_stat_cftrag'::regclass AND attname LIKE 'ref\_%';
SELECT reason FROM unnest(ARRAY['disabled', 'no_memory', 'no_image', 'incomplete', 'old_snapshot', 'pending_trigger', 'serializable', 'created_here',
    'rewritten', 'triggers', 'columns', 'not_plain_table', 'row_security', 'parallel', 'recovery']) AS reason
 WHERE NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'pg_stat_cftrag'::regclass AND attname = 'ref_' || reason);

CREATE TABLE stat1 (parent text, child text);
CREATE TABLE stat2 (parent text, child text);
INSERT INTO stat1 VALUES ('a', 'b'), ('a', 'c');
SELECT count(*) FROM pg_stat_cftrag;
SELECT cft_attach('stat1');
SELECT cft_attach('stat2');
SELECT edges FROM pg_stat_cftrag ORDER BY edges::text;
-- Every call is counted once, by who served it; the reasons add up. One call for many entities is one call.
SELECT cft_stats_reset();
SELECT count(*) FROM cft_context('b', edges => 'stat1');
SELECT count(*) FROM cft_context(ARRAY['b', 'c'], edges => 'stat1');
SELECT count(*) FROM generate_series(1, 10) AS i, LATERAL cft_context('b', i % 3, 1, 'stat1');
SET cftrag.enable = off;
SELECT count(*) FROM cft_context('b', edges => 'stat1');
SELECT count(*) FROM cft_context(ARRAY['b', 'c'], edges => 'stat1');
RESET cftrag.enable;
-- (No shared memory, nothing counted.)
CREATE FUNCTION stat_sums() RETURNS TABLE(edges regclass, calls boolean, reasons boolean, disabled boolean) LANGUAGE sql AS $$
    SELECT edges, state = 'no shared memory' OR image_calls + reference_calls = 14,
           reference_calls = (SELECT sum(value::bigint) FROM jsonb_each_text(to_jsonb(s)) WHERE key LIKE 'ref\_%'),
           state = 'no shared memory' OR ref_disabled = 2
      FROM pg_stat_cftrag AS s WHERE edges = 'stat1'::regclass $$;
SELECT * FROM stat_sums();
SELECT image_calls, reference_calls FROM pg_stat_cftrag WHERE edges = 'stat2'::regclass;
SELECT cft_stats_reset();
SELECT image_calls, reference_calls, lookups, hits, fingerprint_checks FROM pg_stat_cftrag WHERE edges = 'stat1'::regclass;
-- Rolled back, they are counted nevertheless; a dropped table has no row.
BEGIN;
DROP TABLE stat2;
SELECT edges FROM pg_stat_cftrag;
ROLLBACK;
SELECT edges FROM pg_stat_cftrag ORDER BY edges::text;
SELECT cft_detach('stat2');
SELECT edges FROM pg_stat_cftrag;
DROP TABLE stat1, stat2;
SELECT count(*) FROM pg_stat_cftrag;
DROP FUNCTION stat_sums;
