-- The reference query as it is run: in the columns' own types, by their plain indexes, by a plan that is kept.
\a\t
SET client_min_messages = warning;
SET cftrag.enable = off;
CREATE DOMAIN ref_id AS bigint;
CREATE TABLE ref_int (id int PRIMARY KEY, parent_id ref_id, name text);
INSERT INTO ref_int SELECT g, NULLIF(g / 5, 0), 'name ' || g FROM generate_series(1, 8000) AS g;
UPDATE ref_int SET parent_id = 7 WHERE id = 1;
CREATE INDEX ON ref_int (parent_id);
CREATE TABLE ref_uuid (id uuid PRIMARY KEY, parent_id uuid);
INSERT INTO ref_uuid SELECT lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(NULLIF(g / 5, 0)), 32, '0')::uuid FROM generate_series(1, 8000) AS g;
CREATE INDEX ON ref_uuid (parent_id);
ANALYZE ref_int, ref_uuid;
SELECT cft_attach('ref_int', parent => 'parent_id', child => 'id', label => 'name'), cft_attach('ref_uuid', parent => 'parent_id', child => 'id');
-- The definition compares texts. 7 > 1 > 7 is a cycle.
SELECT oracle.same(ARRAY['1', '7', '36', '5000', '05', ' 5', '+5', '-0', '5.0', '', NULL, '99999999999999999999', '7'], 3, 2, 'ref_int', 'parent_id', 'id');
SELECT oracle.same(ARRAY['00000000-0000-0000-0000-000000000007', '{00000000-0000-0000-0000-000000000007}', '0000000000000000000000000000000A', 'x'], 3, 2, 'ref_uuid', 'parent_id', 'id');
SELECT relative, via, label FROM cft_context('36', 2, 1, 'ref_int');
SELECT count(*) FROM cft_context('05', 2, 1, 'ref_int');
-- By the indexes, with labels, for one and for many.
CREATE FUNCTION scans(OUT of_all bigint, OUT by_index bigint) LANGUAGE sql AS $$
    SELECT sum(pg_stat_get_xact_numscans(oid)) FILTER (WHERE relkind = 'r'), sum(pg_stat_get_xact_numscans(oid)) FILTER (WHERE relkind = 'i') FROM pg_class WHERE relname ~ '^ref_(int|uuid)' $$;
BEGIN;
SELECT * FROM scans() \gset before_
SELECT count(*) FROM cft_context('36', 3, 2, 'ref_int');
SELECT count(*) FROM cft_context('{36,4000,5}'::text[], 3, 1, 'ref_int');
SELECT count(*) FROM cft_context('00000000-0000-0000-0000-000000000007', 3, 2, 'ref_uuid');
SELECT of_all - :before_of_all AS of_all, by_index - :before_by_index > 0 AS by_index FROM scans();
COMMIT;
-- A session plans once for a table of this size and a shape of call; another size is another plan, without ANALYZE.
CREATE FUNCTION plans() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'CachedPlan' AND ident LIKE 'WITH RECURSIVE%' $$;
\c
SET cftrag.enable = off;
SELECT count(*) FROM generate_series(1, 10) AS g, cft_context(g::text, 3, 1, 'ref_int');
SELECT plans();
INSERT INTO ref_int SELECT g, g / 5, 'name ' || g FROM generate_series(8001, 60000) AS g;
SELECT count(*) FROM cft_context('36', 3, 1, 'ref_int');
SELECT plans();
-- An older snapshot has its registration, and what it asks changes no later statement.
CREATE TABLE ref_turned (one text, two text);
INSERT INTO ref_turned VALUES ('a', 'b'), ('b', 'c');
SELECT cft_attach('ref_turned', parent => 'one', child => 'two');
BEGIN;
DECLARE before CURSOR FOR SELECT relation, relative FROM cft_context('b', 1, 1, 'ref_turned');
SELECT cft_attach('ref_turned', parent => 'two', child => 'one');
FETCH ALL before;
SELECT relation, relative FROM cft_context('b', 1, 1, 'ref_turned');
COMMIT;
SELECT relation, relative FROM cft_context('b', 1, 1, 'ref_turned');
DROP TABLE ref_turned;
-- within, of many: by a hash of them (20,000 times 10,000 comparisons take minutes).
SET statement_timeout = '20s';
SELECT count(*) FROM cft_entities('name 36', 'ref_int', within => ARRAY(SELECT g::text FROM generate_series(30, 40000) AS g));
SELECT cardinality(cftrag_internal.cft_those(ARRAY(SELECT g::text FROM generate_series(40001, 60000) AS g), 'ref_int', NULL, ARRAY(SELECT 'x' || g FROM generate_series(1, 10000) AS g) || '36'::text));
RESET statement_timeout;
DROP FUNCTION scans, plans;
DROP TABLE ref_int, ref_uuid;
DROP DOMAIN ref_id;
