-- What PostgreSQL 18 brought. (since_18_1.out: an older server.)
\a\t
SET client_min_messages = warning;
SELECT current_setting('server_version_num')::int >= 180000 AS since_18 \gset
\if :since_18
\else
\echo a server older than 18
\quit
\endif
-- Virtual generated columns: no row on a page has their values, so they hold no names; beside those that do they change nothing.
CREATE TABLE vi (above text, v_tree text GENERATED ALWAYS AS (upper(above)), tree text, v_parent text GENERATED ALWAYS AS (above || '') VIRTUAL,
    parent text, below text, v_child text GENERATED ALWAYS AS (upper(below)) VIRTUAL, child text);
SELECT cft_attach('vi', child => 'v_child');
\set VERBOSITY sqlstate
SELECT cft_attach('vi', parent => 'v_parent');
SELECT cft_attach('vi', tree => 'v_tree');
\set VERBOSITY default

-- Beside the names: in every row they are NULL on the page, before, between and after them.
INSERT INTO vi (above, tree, parent, below, child) SELECT 'a' || n, nullif('t' || n % 3, 't0'), 'p' || n / 3, 'b' || n, 'p' || n FROM generate_series(1, 30) AS n;
SELECT cft_attach('vi', tree => 'tree');
SELECT oracle.build('vi');
SELECT oracle.all_same('vi');
BEGIN;
INSERT INTO vi (tree, parent, child) VALUES ('t1', 'p9', 'new'), ('t1', NULL, 'p9') RETURNING v_child, (SELECT count(*) FROM cft_context(child, 1, 1, 'vi'));
UPDATE vi SET parent = 'p2', below = 'below' WHERE child = 'p7' RETURNING old.parent, new.parent, new.v_child,
    (SELECT string_agg(relative, ' ') FROM cft_context(new.child, 1, 0, 'vi')) AS above;
MERGE INTO vi USING (VALUES ('p8'), ('p31')) AS v(name) ON child = name WHEN MATCHED THEN DELETE
    WHEN NOT MATCHED THEN INSERT (parent, child) VALUES ('p8', name) RETURNING merge_action(), v_child, child;
SELECT oracle.all_same('vi');
COMMIT;
SELECT oracle.all_same('vi');
-- One that comes later is in no row at all; one whose expression changes is written nowhere.
ALTER TABLE vi ADD COLUMN late text GENERATED ALWAYS AS (lower(child)) VIRTUAL, ADD COLUMN last text DEFAULT 'x';
ALTER TABLE vi ALTER COLUMN v_child SET EXPRESSION AS (lower(below));
INSERT INTO vi (tree, parent, child) VALUES ('t2', 'new', 'newer');
DELETE FROM vi WHERE late = 'p11' RETURNING old.late, new.late;
SELECT oracle.all_same('vi');
SELECT * FROM cft_verify('vi');

-- A column of names that becomes one: the reference query knows its values; there is no image until it is stored again.
ALTER TABLE vi DROP COLUMN child CASCADE;
ALTER TABLE vi ADD COLUMN child text GENERATED ALWAYS AS (lower(below)) VIRTUAL;
SELECT entity, relation, depth, relative FROM cft_context('b5', 1, 0, 'vi');
INSERT INTO vi (tree, parent, below) VALUES ('t1', 'p1', 'VIRTUAL');
UPDATE vi SET below = 'B5' WHERE below = 'b6';
SELECT entity, relation, depth, relative FROM cft_context('{b5,virtual,b6}'::text[], 1, 0, 'vi') ORDER BY entity, relative;
SELECT oracle.all_same('vi');
\set VERBOSITY sqlstate
SELECT cft_attach('vi', tree => 'tree');
\set VERBOSITY default
ALTER TABLE vi DROP COLUMN child;
ALTER TABLE vi ADD COLUMN child text GENERATED ALWAYS AS (lower(below)) STORED;
SELECT oracle.build('vi');
SELECT oracle.all_same('vi');
UPDATE vi SET below = 'other' WHERE below = 'B5';
ALTER TABLE vi ALTER COLUMN child SET EXPRESSION AS (upper(below));
SELECT oracle.all_same('vi');
INSERT INTO vi (parent, below) VALUES ('p1', 'stored');
SELECT oracle.all_same('vi');
SELECT * FROM cft_verify('vi');

-- Aliases, and rows that are to close no cycle.
CREATE TABLE vi_alias (entity text, alias text GENERATED ALWAYS AS (upper(entity)) VIRTUAL);
CREATE TABLE vi_cycle (parent text, below text, child text);
SELECT cft_attach('vi_cycle');
ALTER TABLE vi_cycle DROP child, ADD child text GENERATED ALWAYS AS (upper(below)) VIRTUAL;
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON vi_cycle FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
\set VERBOSITY sqlstate
SELECT cft_attach_aliases('vi_alias', edges => 'vi');
INSERT INTO vi_cycle (parent, below) VALUES ('A', 'a');
\set VERBOSITY default
-- What is read by a query of one's own is read as any query reads it.
DROP TRIGGER no_cycles ON vi_cycle;
INSERT INTO vi_cycle (parent, below) VALUES ('A', 'b'), ('B', 'c'), ('A', 'c'), ('C', 'a'), ('A', 'B');
SELECT parent, child, kept, reason FROM cft_filter_relations('vi_cycle', 'parent', 'child');
SELECT parent, child FROM cft_build_hierarchy('vi_cycle', 'parent', 'child', height => 1) ORDER BY parent, child;

DROP TABLE vi, vi_alias, vi_cycle;

-- Arguments of a call in FROM that are virtual, of a table that is joined with itself needlessly, and under grouping sets.
CREATE TABLE asked (id int PRIMARY KEY, parent text, child text, loud text GENERATED ALWAYS AS (upper(child)) VIRTUAL);
INSERT INTO asked VALUES (1, 'A', 'b'), (2, 'B', 'c'), (3, 'A', 'C');
CREATE TABLE loud (parent text, child text);
INSERT INTO loud SELECT parent, loud FROM asked;
SELECT cft_attach('loud');
SELECT x.id, y.loud, c.relative FROM asked AS x JOIN asked AS y USING (id), cft_context(y.loud, 2, 0, 'loud') AS c ORDER BY x.id, c.depth, c.relative;
SELECT a.loud, count(c.relative) FROM asked AS a LEFT JOIN LATERAL cft_context(a.loud, 2, 0, 'loud') AS c ON c.depth = 1 GROUP BY ROLLUP (a.loud) ORDER BY a.loud;
DROP TABLE asked;

-- A deferred trigger runs as who wrote the row: it tells the cycle if that role may read the table.
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON loud DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
CREATE ROLE cftrag_writer;
GRANT INSERT ON loud TO cftrag_writer;
BEGIN;
SET LOCAL ROLE cftrag_writer;
INSERT INTO loud VALUES ('C', 'A');
RESET ROLE;
COMMIT;
GRANT SELECT ON loud TO cftrag_writer;
BEGIN;
SET LOCAL ROLE cftrag_writer;
INSERT INTO loud VALUES ('C', 'D'), ('D', 'A');
RESET ROLE;
COMMIT;
SELECT oracle.all_same('loud');
SELECT * FROM cft_verify('loud');
DROP TABLE loud;
DROP ROLE cftrag_writer;

-- The library says what it is.
SELECT module_name, version = (SELECT extversion FROM pg_extension WHERE extname = 'cftrag') AS version FROM pg_get_loaded_modules() WHERE file_name ~ '^cftrag\.';
