-- Who served, and the reason when it was not the image: needs shared memory (preloaded, or PostgreSQL 17 and later).
-- tests/pg_regress/schedule-image runs this; everything else passes with and without.
\a\t
SET client_min_messages = warning;
CREATE TABLE se (tree text, parent text, child text);
INSERT INTO se VALUES ('t', 'a', 'b'), ('t', 'b', 'c');
SELECT cft_attach('se', tree => 'tree');
-- Calls of cft_context for se since the last time: by the image, by the reference query, and why. (Kept in a setting: a row would
-- give the transaction an xid.)
CREATE FUNCTION served() RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := coalesce(nullif(current_setting('se.seen', true), ''), '{}');
    now jsonb := (SELECT to_jsonb(s) FROM pg_stat_cftrag AS s WHERE edges = 'se'::regclass);
BEGIN
    PERFORM set_config('se.seen', now::text, false);
    RETURN coalesce((SELECT string_agg(key || ' ' || n, ', ' ORDER BY key)
        FROM (SELECT key, (now->>key)::bigint - coalesce((before->>key)::bigint, 0) AS n FROM jsonb_object_keys(now) AS key
               WHERE key ~ '^ref_|^image_calls$') AS z WHERE n <> 0), 'nobody');
END $$;
-- Asks once, compares with the oracle, and tells who served.
CREATE FUNCTION ask(name text = 'b') RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE ignored text := served();
BEGIN
    RETURN oracle.same(name, 3, 3, 'se') || ': ' || served();
END $$;

-- A worker may be building: asks, as users do, until the image serves.
CREATE PROCEDURE until_served() LANGUAGE plpgsql AS $$ BEGIN
    FOR i IN 1..1000 LOOP
        EXIT WHEN ask() LIKE '%: image_calls 1';
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;

-- A small table is built in place by its first caller, who is answered too.
SELECT ask();
SELECT ask();
SELECT state, entities, edge_rows, trees, buckets >= 1 AS buckets, load_factor > 0 AS load, memory_bytes > 0 AS memory, built_at <= now() AS built, build_ms >= 0 AS ms
  FROM pg_stat_cftrag WHERE edges = 'se'::regclass;
SELECT cft_build('se');
SELECT ask();
-- Own writes are answered by the image.
BEGIN;
INSERT INTO se VALUES ('t', 'c', 'd');
SELECT ask('c');
ROLLBACK;
BEGIN;
DELETE FROM se WHERE child = 'c';
SAVEPOINT s;
INSERT INTO se VALUES ('t', 'c', 'd'), ('t', 'b', 'e');
SELECT ask();
ROLLBACK TO s;
SELECT ask();
ROLLBACK;
SELECT ask();
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO se VALUES ('t', 'c', 'd');
SELECT ask();
COMMIT;
-- cft_roots as well, in any transaction; by its definition when it must.
SELECT served() IS NOT NULL AS forgotten;
BEGIN;
INSERT INTO se VALUES ('u', 'c', 'a'), ('u', 'c', 'c'), (NULL, 'r', 'c');
DELETE FROM se WHERE child = 'b';
SELECT * FROM cft_roots('se');
SELECT served();
SAVEPOINT s;
INSERT INTO se VALUES (NULL, 'q', 'r');
SELECT * FROM cft_roots('se');
ROLLBACK TO s;
SELECT * FROM cft_roots('se');
SELECT served();
ROLLBACK;
SET cftrag.enable = off;
SELECT * FROM cft_roots('se');
RESET cftrag.enable;
SELECT served();
-- Each reason a single session can provoke.
SET cftrag.enable = off;
SELECT ask();
RESET cftrag.enable;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT ask();
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT ask();
COMMIT;
BEGIN;
TRUNCATE se;
INSERT INTO se VALUES ('t', 'a', 'b');
SELECT ask();
ROLLBACK;
SELECT ask();
BEGIN;
ALTER TABLE se DISABLE TRIGGER cftrag_row;
SELECT ask();
ROLLBACK;
SELECT ask();
ALTER TABLE se ENABLE TRIGGER cftrag_row;
SELECT ask();
ALTER TABLE se ENABLE ALWAYS TRIGGER cftrag_row;
CALL until_served();
SELECT ask();
INSERT INTO se VALUES ('t', 'c', 'pending') RETURNING ask('pending');
DELETE FROM se WHERE child = 'pending';
CREATE TABLE se_child () INHERITS (se);
SELECT ask();
DROP TABLE se_child;
SELECT ask();
-- An image that no longer fits: by the first reader without an xid it is built again.
VACUUM FULL se;
BEGIN;
INSERT INTO se VALUES ('t', 'x', 'undone');
SELECT ask();
ROLLBACK;
CALL until_served();
SELECT ask();
ALTER TABLE se ADD COLUMN extra int DEFAULT 1;
SELECT ask();
-- Too large to be built in place: the first need has it built, and nobody waits for that.
SET cftrag.build_in_place_limit = '1kB';
VACUUM FULL se;
SELECT ask() LIKE 'same, 3 rows: %';
CALL until_served();
SELECT ask();
RESET cftrag.build_in_place_limit;
-- A column that the trigger cannot find: the write goes on, and the image is not asked again before it is built anew.
ALTER TABLE se RENAME parent TO mother;
SET client_min_messages = error;
INSERT INTO se VALUES ('t', 'c', 'motherly');
SET client_min_messages = warning;
ALTER TABLE se RENAME mother TO parent;
SELECT ask() LIKE 'same, 4 rows: %';
CALL until_served();
SELECT ask();
SELECT * FROM cft_verify('se');
-- cft_build: not in a transaction that has written; by the owner only.
\set VERBOSITY sqlstate
BEGIN;
INSERT INTO se VALUES ('t', 'x', 'y');
SELECT cft_build('se');
ROLLBACK;
\set VERBOSITY default

-- Temperature counts lookups, hottest first; only entities with an edge that the caller sees.
SELECT cft_build('se');
SELECT count(*) FROM generate_series(1, 50) AS i, LATERAL cft_context('c', i - i, 0, 'se') AS c;
SELECT count(*) FROM generate_series(1, 20), LATERAL cft_context('b', 1, 1, 'se') AS c;
SELECT entity FROM cft_hot_entities(2, 'se');
SELECT count(*) FROM cft_hot_entities(0, 'se');
SELECT bool_and(temperature >= 0) FROM cft_hot_entities(1000, 'se');
-- Lookups and hits: an unknown name is a lookup and no hit.
SELECT cft_stats_reset();
SELECT count(*) FROM cft_context(ARRAY['a', 'b', 'nobody'], 0, 0, 'se');
SELECT lookups, hits, image_calls, reference_calls FROM pg_stat_cftrag WHERE edges = 'se'::regclass;

-- False positives are compared and never shown: 20,000 names that are not there.
INSERT INTO se SELECT 'f', 'f' || i / 10, 'f' || i FROM generate_series(1, 5000) AS i;
SELECT cft_build('se');
SELECT cft_stats_reset();
SELECT count(*) FROM generate_series(1, 20000) AS i, LATERAL cft_context('absent' || i, 1, 1, 'se');
SELECT lookups, hits, image_calls, false_positives BETWEEN 0 AND 200 AS few_false_positives FROM pg_stat_cftrag WHERE edges = 'se'::regclass;
SELECT * FROM cft_verify('se');
DROP TABLE se;
DROP FUNCTION served, ask;
DROP PROCEDURE until_served;

-- Integer ids that texts name, and a table of aliases: each change reaches the image.
CREATE TABLE se_ids (parent int, child int);
CREATE TABLE se_also (alias text, entity int);
SELECT cft_attach('se_ids', ids => true);
SELECT cft_attach_aliases('se_also', edges => 'se_ids');
SELECT cft_build('se_ids');
SELECT cft_build('se_also');
INSERT INTO se_ids VALUES (1, 2), (NULL, 3);
INSERT INTO se_also VALUES ('two', 2), ('4', NULL);
UPDATE se_also SET alias = 'deux' WHERE entity = 2;
SELECT entity, via_alias FROM cft_entities('Deux, 3 and 4', 'se_ids');
SELECT edges, image_calls, reference_calls FROM pg_stat_cftrag WHERE edges IN ('se_ids'::regclass, 'se_also'::regclass) ORDER BY 1;
SELECT * FROM cft_verify('se_ids');
SELECT * FROM cft_verify('se_also');
DROP TABLE se_ids, se_also;

-- What mends a registration names what it was: its label column, its column of order.
CREATE TABLE se_steps (up text, down text, "the ""step" int);
SELECT cft_attach('se_steps', 'up', 'down', sort => 'the "step');
CREATE TABLE se_nodes (id text, name text);
SELECT cft_attach_labels('se_nodes', label => 'name', entity => 'id', edges => 'se_steps');
ALTER TABLE se_nodes DISABLE TRIGGER cftrag_row;
SELECT cft_build('se_nodes');
ALTER TABLE se_steps DISABLE TRIGGER cftrag_row;
SELECT cft_build('se_steps');
DROP TABLE se_nodes, se_steps;
