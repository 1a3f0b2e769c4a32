-- docs/design.md, section 2: each condition under which the image must not serve, with a case in which its answer would be wrong.
-- (Old snapshots, serialization failures and what two sessions need: tests/isolation. Privileges and row security: their own files.)
\a\t
SET client_min_messages = warning;
CREATE TABLE co (tree text, parent text, child text);
INSERT INTO co VALUES ('t', 'a', 'b'), ('t', 'b', 'c');
SELECT cft_attach('co', tree => 'tree');
SELECT oracle.build('co');
SELECT oracle.all_same('co');

-- A trigger is pending: the heap shows rows ours has not seen.
CREATE FUNCTION co_ask(name text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$ BEGIN RETURN oracle.same(name, 2, 2, 'co'); END $$;
INSERT INTO co VALUES ('t', 'c', 'pending') RETURNING co_ask('pending');
DELETE FROM co WHERE child = 'pending' RETURNING co_ask('pending');
-- Our trigger cannot be deferred, but others' deferred triggers may be pending all the while.
SELECT oracle.all_same('co');

-- The triggers were off: what happened meanwhile was not seen, even if nobody looked.
SELECT oracle.build('co');
ALTER TABLE co DISABLE TRIGGER cftrag_row;
INSERT INTO co VALUES ('t', 'c', 'unseen');
ALTER TABLE co ENABLE ALWAYS TRIGGER cftrag_row;
SELECT oracle.all_same('co');
SELECT oracle.build('co');
ALTER TABLE co DISABLE TRIGGER USER;
DELETE FROM co WHERE child = 'unseen';
SELECT oracle.all_same('co');
ALTER TABLE co ENABLE TRIGGER USER;
INSERT INTO co VALUES ('t', 'c', 'seen');
SELECT oracle.all_same('co');
-- ENABLE TRIGGER (as pg_restore --disable-triggers leaves it) is not ALWAYS: a replica's session does not fire it.
SET session_replication_role = replica;
INSERT INTO co VALUES ('t', 'c', 'replicated');
RESET session_replication_role;
SELECT oracle.all_same('co');
SELECT cft_attach('co', tree => 'tree');
SELECT oracle.all_same('co');
SELECT oracle.build('co');
-- ALWAYS fires in a replica's session.
SET session_replication_role = replica;
INSERT INTO co VALUES ('t', 'c', 'replicated2');
RESET session_replication_role;
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');
-- Off for a part of a transaction; off and undone.
BEGIN;
ALTER TABLE co DISABLE TRIGGER cftrag_row;
INSERT INTO co VALUES ('t', 'c', 'own unseen');
SELECT oracle.all_same('co');
ALTER TABLE co ENABLE ALWAYS TRIGGER cftrag_row;
SELECT oracle.all_same('co');
COMMIT;
SELECT oracle.all_same('co');
SELECT oracle.build('co');
BEGIN;
SAVEPOINT s;
ALTER TABLE co DISABLE TRIGGER cftrag_row;
INSERT INTO co VALUES ('t', 'c', 'undone');
SELECT oracle.all_same('co');
ROLLBACK TO s;
INSERT INTO co VALUES ('t', 'c', 'done');
SELECT oracle.all_same('co');
COMMIT;
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');
-- Gone, and made by hand with a condition.
SELECT oracle.build('co');
DROP TRIGGER cftrag_row ON co;
INSERT INTO co VALUES ('t', 'c', 'no trigger');
\set VERBOSITY sqlstate
SELECT * FROM cft_context('c', edges => 'co');
\set VERBOSITY default
CREATE TRIGGER cftrag_row AFTER INSERT OR UPDATE OR DELETE ON co FOR EACH ROW WHEN (pg_trigger_depth() < 0) EXECUTE FUNCTION cftrag_internal.cft_capture('parent', 'child', 'tree');
ALTER TABLE co ENABLE ALWAYS TRIGGER cftrag_row;
\set VERBOSITY sqlstate
SELECT * FROM cft_context('c', edges => 'co');
\set VERBOSITY default
SELECT cft_attach('co', tree => 'tree');
SELECT oracle.all_same('co');
-- The TRUNCATE trigger alone.
SELECT oracle.build('co');
BEGIN;
TRUNCATE co;
INSERT INTO co VALUES ('t', 'x', 'y');
ALTER TABLE co DISABLE TRIGGER cftrag_truncate;
TRUNCATE co;
ALTER TABLE co ENABLE ALWAYS TRIGGER cftrag_truncate;
INSERT INTO co VALUES ('t', 'a', 'b'), ('t', 'b', 'c');
SELECT oracle.all_same('co');
COMMIT;
SELECT oracle.all_same('co');

-- This transaction made the table or its file: its own COPY before the attachment was never captured.
BEGIN;
CREATE TABLE own (parent text, child text);
INSERT INTO own VALUES ('a', 'b');
SELECT cft_attach('own');
INSERT INTO own VALUES ('b', 'c');
SELECT oracle.all_same('own');
SAVEPOINT s;
ALTER TABLE own ALTER COLUMN child TYPE text USING child || '!';
SELECT oracle.all_same('own');
ROLLBACK TO s;
SELECT oracle.all_same('own');
COMMIT;
SELECT oracle.all_same('own');
SELECT oracle.build('own');
BEGIN;
INSERT INTO own VALUES ('c', 'd');
ALTER TABLE own ALTER COLUMN child TYPE text USING child || '!';
INSERT INTO own VALUES ('d!', 'e!');
SELECT oracle.all_same('own');
ROLLBACK;
SELECT oracle.all_same('own');
SELECT * FROM cft_verify('own');
DROP TABLE own;

-- Columns renamed into one another: same file, same types.
SELECT oracle.build('co');
ALTER TABLE co RENAME parent TO swap;
ALTER TABLE co RENAME child TO parent;
ALTER TABLE co RENAME swap TO child;
SELECT oracle.all_same('co');
SELECT * FROM cft_context('a', 1, 1, 'co');
INSERT INTO co (tree, parent, child) VALUES ('t', 'while', 'swapped');
ALTER TABLE co RENAME parent TO swap;
ALTER TABLE co RENAME child TO parent;
ALTER TABLE co RENAME swap TO child;
SELECT oracle.all_same('co');
-- Columns renamed into one another, written to and renamed back, and nobody asks meanwhile.
SELECT oracle.build('co');
ALTER TABLE co RENAME parent TO swap;
ALTER TABLE co RENAME child TO parent;
ALTER TABLE co RENAME swap TO child;
INSERT INTO co (tree, parent, child) VALUES ('t', 'unasked', 'b'), ('t', 'b', 'unasked');
UPDATE co SET parent = 'other' WHERE parent = 'while';
DELETE FROM co WHERE parent = 'c';
ALTER TABLE co RENAME parent TO swap;
ALTER TABLE co RENAME child TO parent;
ALTER TABLE co RENAME swap TO child;
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');
-- Swapped in the transaction that has written before.
SELECT oracle.build('co');
BEGIN;
INSERT INTO co VALUES ('t', 'b', 'before swap');
ALTER TABLE co RENAME parent TO swap;
ALTER TABLE co RENAME child TO parent;
ALTER TABLE co RENAME swap TO child;
INSERT INTO co (tree, parent, child) VALUES ('t', 'b', 'after swap');
SELECT oracle.all_same('co');
COMMIT;
SELECT oracle.all_same('co');
ALTER TABLE co RENAME parent TO swap;
ALTER TABLE co RENAME child TO parent;
ALTER TABLE co RENAME swap TO child;
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');
-- Renamed away: the trigger cannot resolve its column, the user's write goes on; renamed back.
SELECT oracle.build('co');
ALTER TABLE co RENAME parent TO mother;
SET client_min_messages = error;
INSERT INTO co VALUES ('t', 'b', 'motherly');
SET client_min_messages = warning;
\set VERBOSITY sqlstate
SELECT * FROM cft_context('b', edges => 'co');
\set VERBOSITY default
ALTER TABLE co RENAME mother TO parent;
SELECT oracle.all_same('co');
-- Dropped and added again: no new file, all NULL, or all the default.
SELECT oracle.build('co');
ALTER TABLE co DROP COLUMN tree;
ALTER TABLE co ADD COLUMN tree text;
SELECT oracle.all_same('co');
SELECT oracle.build('co');
ALTER TABLE co DROP COLUMN tree;
ALTER TABLE co ADD COLUMN tree text DEFAULT 'by default';
SELECT * FROM cft_context('b', 1, 0, 'co');
SELECT oracle.all_same('co');
INSERT INTO co (parent, child) VALUES ('b', 'defaulted');
DELETE FROM co WHERE child = 'c';
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');
-- Another type over the same bytes.
ALTER TABLE co ALTER COLUMN child TYPE varchar;
SELECT oracle.all_same('co');
SELECT oracle.build('co');
ALTER TABLE co ALTER COLUMN child TYPE varchar(100);
INSERT INTO co (parent, child) VALUES ('b', 'varchar');
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');
-- Another type altogether, which could not be attached: the reference query answers, and writes go on.
BEGIN;
ALTER TABLE co ALTER COLUMN child TYPE numeric USING length(child);
INSERT INTO co (parent, child) VALUES ('b', 1.50);
SELECT * FROM cft_context('b', 0, 1, 'co');
ROLLBACK;
-- A generated column: computed after the BEFORE triggers, from the row as stored.
ALTER TABLE co DROP COLUMN tree;
ALTER TABLE co ADD COLUMN tree text GENERATED ALWAYS AS (CASE WHEN parent < 'b' THEN 'small' ELSE 'large' END) STORED;
SELECT oracle.all_same('co');
SELECT oracle.build('co');
INSERT INTO co (parent, child) VALUES ('a', 'generated'), ('z', 'generated');
UPDATE co SET parent = 'y' WHERE parent = 'a';
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');

-- Not a plain table any more: a child's rows escape row triggers; a partition is written through its parent.
SELECT oracle.build('co');
CREATE TABLE co_child () INHERITS (co);
INSERT INTO co_child (parent, child) VALUES ('b', 'inherited');
SELECT oracle.all_same('co');
INSERT INTO co (parent, child) VALUES ('b', 'of the mother');
SELECT oracle.all_same('co');
DROP TABLE co_child;
SELECT oracle.all_same('co');
SELECT oracle.build('co');
CREATE TABLE co_late (LIKE co INCLUDING GENERATED);
INSERT INTO co_late (parent, child) VALUES ('b', 'came later');
ALTER TABLE co_late INHERIT co;
SELECT oracle.all_same('co');
DELETE FROM co WHERE child = 'came later';
ALTER TABLE co_late NO INHERIT co;
SELECT oracle.all_same('co');
DROP TABLE co_late;
SELECT oracle.all_same('co');
CREATE TABLE co_whole (parent text, child text) PARTITION BY LIST (parent);
CREATE TABLE co_part (parent text, child text);
INSERT INTO co_part VALUES ('p', 'q');
SELECT cft_attach('co_part');
SELECT oracle.build('co_part');
SELECT oracle.all_same('co_part');
ALTER TABLE co_whole ATTACH PARTITION co_part FOR VALUES IN ('p');
INSERT INTO co_whole VALUES ('p', 'q2');
SELECT oracle.all_same('co_part');
ALTER TABLE co_whole DETACH PARTITION co_part;
INSERT INTO co_part VALUES ('q', 'r');
SELECT oracle.all_same('co_part');
SELECT * FROM cft_verify('co_part');
DROP TABLE co_whole, co_part;

-- Rules: what is stored counts, not what was said.
SELECT oracle.build('co');
INSERT INTO co (parent, child) VALUES ('b', 'kept'), ('b', 'dropped');
CREATE RULE co_rule AS ON DELETE TO co WHERE OLD.child = 'kept' DO INSTEAD UPDATE co SET parent = 'rule' WHERE child = OLD.child;
DELETE FROM co WHERE child IN ('kept', 'dropped');
SELECT * FROM cft_context(ARRAY['kept', 'dropped'], 1, 0, 'co');
SELECT oracle.all_same('co');
DROP RULE co_rule ON co;
-- BEFORE triggers: what is stored, not what was said; and no row at all.
CREATE FUNCTION co_before() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.child = 'refused' THEN RETURN NULL; END IF; NEW.child := upper(NEW.child); RETURN NEW; END $$;
CREATE TRIGGER z_before BEFORE INSERT OR UPDATE ON co FOR EACH ROW EXECUTE FUNCTION co_before();
INSERT INTO co (parent, child) VALUES ('b', 'refused'), ('b', 'loud');
UPDATE co SET child = 'refused' WHERE child = 'LOUD';
SELECT * FROM cft_context('LOUD', 1, 0, 'co');
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');

-- A worker of a transaction that has written: the delta is in its leader. Without writes it may ask the image.
SELECT name AS force_parallel FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
CREATE FUNCTION co_worker(name text) RETURNS text STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN RETURN oracle.same(name, 2, 2, 'co'); END $$;
SET :force_parallel = on;
SELECT co_worker('b');
BEGIN;
INSERT INTO co (parent, child) VALUES ('b', 'by the leader');
SELECT co_worker('b');
SELECT * FROM cft_context('BY THE LEADER', 1, 0, 'co');
DELETE FROM co WHERE child = 'BY THE LEADER';
SELECT co_worker('b');
COMMIT;
RESET :force_parallel;
-- A parallel scan that asks in every row.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE co_many AS SELECT CASE i % 3 WHEN 0 THEN 'b' WHEN 1 THEN 'a' ELSE 'nobody' END AS name FROM generate_series(1, 300) AS i;
ANALYZE co_many;
SELECT m.name, count(*) FROM co_many AS m, LATERAL cft_context(m.name, 1, 1, 'co') AS c GROUP BY 1 ORDER BY 1;
SELECT name, count(*), answer FROM (SELECT name, co_worker(name) AS answer FROM co_many WHERE name <> 'a') AS z GROUP BY 1, 3 ORDER BY 1, 3;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
DROP TABLE co_many;

-- The switch, for a session, a transaction, a function.
SET cftrag.enable = off;
SELECT oracle.all_same('co');
INSERT INTO co (parent, child) VALUES ('b', 'while off');
RESET cftrag.enable;
SELECT oracle.all_same('co');
BEGIN;
SET LOCAL cftrag.enable = off;
INSERT INTO co (parent, child) VALUES ('b', 'while off 2');
SELECT oracle.all_same('co');
COMMIT;
SELECT oracle.all_same('co');
SELECT * FROM cft_verify('co');

-- Renamed, moved, given away: still the same table.
ALTER TABLE co RENAME TO co2;
CREATE SCHEMA co_schema;
ALTER TABLE co2 SET SCHEMA co_schema;
INSERT INTO co_schema.co2 (parent, child) VALUES ('b', 'moved');
SELECT oracle.all_same('co_schema.co2');
SELECT * FROM cft_verify('co_schema.co2');
DROP SCHEMA co_schema CASCADE;
DROP FUNCTION co_ask, co_worker, co_before;
