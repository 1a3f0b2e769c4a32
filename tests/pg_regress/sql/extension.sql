-- The extension itself: what its functions say of themselves, who owns what, how it goes.
\a\t
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
SET client_min_messages = error; CREATE EXTENSION cftrag SCHEMA "the Schema"; SET client_min_messages = warning;
SELECT "the Schema".cft_attach('ext');
SELECT tgname, tgenabled, tgfoid::regproc FROM pg_trigger WHERE tgrelid = 'ext'::regclass ORDER BY 1;
INSERT INTO ext VALUES ('c', 'again');
SELECT * FROM "the Schema".cft_context('c', 1, 1);
SELECT * FROM "the Schema".cft_verify('ext');
SELECT edges FROM "the Schema".pg_stat_cftrag;
-- The schema may be renamed: what the extension itself calls is in one of its own.
ALTER SCHEMA "the Schema" RENAME TO "100% other";
SET search_path = "100% other", public;
CREATE TABLE ext_docs (id int, body text, embedding vector(2), entity text);
INSERT INTO ext_docs VALUES (1, 'About b.', '[1,0]', 'b'), (2, 'About c.', '[0,1]', 'c');
CREATE TABLE ext_sums (entity text, summary text);
SELECT cft_attach_documents('ext_docs', entity => 'entity');
SELECT relation, relative FROM cft_context('b', 1, 1);
SELECT entity, start FROM cft_entities('b or c');
SET cftrag.enable = off;
SELECT entity, start FROM cft_entities('b or c');
RESET cftrag.enable;
SELECT source, text FROM cft_retrieve('What is b?', '[1,0]', 1, budget => 50);
SELECT cft_prompt('What is b?', '[1,0]', template => '{documents}') IS NOT NULL;
SELECT document_id FROM cft_chunks('b', NULL, 0, 0);
SELECT entity FROM cft_nearest_entities('[1,0]', 1);
SELECT prefix FROM cft_path_prefix('{c}'::text[]);
SELECT entity, method FROM cft_resolve('B');
SELECT entity FROM cft_tree_search('[1,0]', mode => 'collapsed', k => 1);
SELECT entity FROM cft_expand('{c}', 9, 1, 1, 1);
SELECT parent, child FROM cft_bridge('{b,c}');
SELECT count(*) > 0 AS some FROM cft_coarse_fine('[1,0]');
SELECT cft_attach_summaries('ext_sums');
SELECT summarized > 0 AS some, extractive FROM cft_rollup();
SELECT cft_detach('ext_sums'), cft_detach('ext_docs');
SELECT kept, count(*) FROM cft_check_edges('ext') GROUP BY 1;
SELECT edges FROM pg_stat_cftrag;
SELECT count(*) FROM pg_stat_progress_cftrag;
SELECT cft_detach('ext'), cft_attach('ext');
SET search_path = public;
-- Nobody but the extension's owner can create where it looks, and the schema goes with it.
SELECT nspacl::text FROM pg_namespace WHERE nspname = 'cftrag_internal';
DROP EXTENSION cftrag CASCADE;
SELECT count(*) FROM pg_namespace WHERE nspname = 'cftrag_internal';
-- Somebody's schema of that name is not taken.
CREATE SCHEMA cftrag_internal;
-- 18 says where in the script.
\set SHOW_CONTEXT never
SET client_min_messages = error; CREATE EXTENSION cftrag; SET client_min_messages = warning;
\set SHOW_CONTEXT errors
DROP SCHEMA cftrag_internal;
DROP TABLE ext, "100% other".ext_docs, "100% other".ext_sums;
DROP SCHEMA "100% other";
DROP SCHEMA oracle CASCADE;
