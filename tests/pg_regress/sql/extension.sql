-- The extension itself: what its functions say of themselves, who owns what, how it goes.
SET client_min_messages = warning;
-- Every function: volatility, parallel safety, strictness, cost and rows; none without a comment.
SELECT p.oid::regprocedure AS function, provolatile AS v, proparallel AS p, proisstrict AS strict, prosecdef AS definer, procost AS cost, prorows AS rows
  FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
  JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag'
 WHERE proname ~ '^cft_(attach|detach|context|build|verify|hot_entities|stats_reset|entities|attach_aliases|words|form)$' ORDER BY p.oid::regprocedure::text;
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag'
 WHERE proname NOT LIKE 'cft\_%' OR obj_description(p.oid, 'pg_proc') IS NULL;
SELECT obj_description(oid, 'pg_extension') IS NOT NULL FROM pg_extension WHERE extname = 'cftrag';
-- No table of ours: only views, each with a comment.
SELECT c.oid::regclass FROM pg_class AS c JOIN pg_depend AS d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
  JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag'
 WHERE c.relkind <> 'v' OR c.relname NOT LIKE 'pg\_stat\_%' OR obj_description(c.oid, 'pg_class') IS NULL;
SELECT count(*) FROM pg_stat_cftrag;
SELECT name, context, vartype, unit, short_desc ~ '^[A-Z].*\.$' AS sentence FROM pg_settings WHERE name LIKE 'cftrag.%'
   AND name IN ('cftrag.enable', 'cftrag.memory_limit', 'cftrag.build_in_place_limit') ORDER BY name;
-- It cannot be moved; another schema can be picked at its creation.
\set VERBOSITY sqlstate
ALTER EXTENSION cftrag SET SCHEMA pg_catalog;
\set VERBOSITY default

-- Dropped while tables are attached: refused; CASCADE takes the triggers and nothing of the user's.
CREATE TABLE ext (parent text, child text);
INSERT INTO ext VALUES ('a', 'b'), ('b', 'c');
SELECT cft_attach('ext');
SELECT oracle.build('ext');
SELECT oracle.all_same('ext');
\set VERBOSITY sqlstate
DROP EXTENSION cftrag;
\set VERBOSITY default
BEGIN;
INSERT INTO ext VALUES ('c', 'before the drop');
DROP EXTENSION cftrag CASCADE;
INSERT INTO ext VALUES ('c', 'after the drop');
ROLLBACK;
SELECT oracle.all_same('ext');
BEGIN;
INSERT INTO ext VALUES ('c', 'before the drop');
DROP EXTENSION cftrag CASCADE;
INSERT INTO ext VALUES ('c', 'after the drop');
COMMIT;
INSERT INTO ext VALUES ('c', 'without');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'ext'::regclass;
TABLE ext;

-- Created again, in another schema, whose name needs quotes; search_path does not name it.
CREATE SCHEMA "the Schema";
CREATE EXTENSION cftrag SCHEMA "the Schema";
SELECT "the Schema".cft_attach('ext');
SELECT tgname, tgenabled, tgfoid::regproc FROM pg_trigger WHERE tgrelid = 'ext'::regclass ORDER BY 1;
INSERT INTO ext VALUES ('c', 'again');
SELECT * FROM "the Schema".cft_context('c', 1, 1);
SELECT * FROM "the Schema".cft_verify('ext');
SELECT edges FROM "the Schema".pg_stat_cftrag;
DROP EXTENSION cftrag CASCADE;
DROP TABLE ext;
DROP SCHEMA "the Schema";
DROP SCHEMA oracle CASCADE;
