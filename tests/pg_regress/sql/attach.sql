-- Attaching is creating two triggers; they and their arguments are the whole registration.
SET client_min_messages = warning;
CREATE TABLE attached (tree text, parent text, child text, mother text);
CREATE VIEW registration AS
    SELECT tgrelid::regclass AS edges, tgname, tgenabled, tgtype, tgfoid::regproc AS function, encode(tgargs, 'escape') AS arguments
      FROM pg_trigger WHERE NOT tgisinternal AND tgfoid::regproc::text LIKE '%cft_%' ORDER BY 1, 2;
INSERT INTO attached VALUES ('t', 'a', 'b', 'm');
SELECT cft_attach('attached', tree => 'tree');
TABLE registration;
SELECT * FROM cft_context('b');

-- Again: nothing changes, not even the triggers' rows.
CREATE TEMPORARY TABLE before AS SELECT oid, xmin::text AS version FROM pg_trigger WHERE tgrelid = 'attached'::regclass;
SELECT cft_attach('attached', tree => 'tree');
SELECT count(*) FROM before JOIN pg_trigger AS t ON t.oid = before.oid AND t.xmin::text = before.version;
-- With other columns: replaced.
SELECT cft_attach('attached', parent => 'mother');
TABLE registration;
SELECT * FROM cft_context('b');
SELECT oracle.all_same('attached', parent => 'mother', tree => 'none');

-- Rolled back, it has not been.
SELECT cft_detach('attached');
TABLE registration;
BEGIN;
SELECT cft_attach('attached');
SELECT * FROM cft_context('b', edges => 'attached');
ROLLBACK;
TABLE registration;
\set VERBOSITY sqlstate
SELECT * FROM cft_context('b', edges => 'attached');
\set VERBOSITY default
BEGIN;
SELECT cft_attach('attached');
SAVEPOINT s;
SELECT cft_detach('attached');
ROLLBACK TO s;
COMMIT;
SELECT * FROM cft_context('b', edges => 'attached');

-- Triggers turned off or down are mended by attaching again.
ALTER TABLE attached DISABLE TRIGGER cftrag_row;
INSERT INTO attached VALUES ('t', 'x', 'b', 'm');
SELECT oracle.all_same('attached', tree => 'none');
SELECT cft_attach('attached');
SELECT tgname, tgenabled FROM registration;
SELECT oracle.all_same('attached', tree => 'none');
ALTER TABLE attached ENABLE TRIGGER cftrag_truncate;
SELECT cft_attach('attached');
SELECT tgname, tgenabled FROM registration;

-- A trigger of ours that fires less than it should is not a registration.
SELECT cft_detach('attached');
CREATE TRIGGER cftrag_row AFTER INSERT ON attached FOR EACH ROW EXECUTE FUNCTION cftrag_internal.cft_capture('parent', 'child');
\set VERBOSITY sqlstate
SELECT * FROM cft_context('b', edges => 'attached');
\set VERBOSITY default
SELECT cft_attach('attached');
TABLE registration;
DELETE FROM attached WHERE parent = 'x';
SELECT oracle.all_same('attached', tree => 'none');

-- The trigger functions are no functions to call.
\set VERBOSITY sqlstate
SELECT cftrag_internal.cft_capture();
SELECT cftrag_internal.cft_capture_truncate();
\set VERBOSITY default

-- Names that need quotes.
CREATE SCHEMA "Schema";
CREATE TABLE "Schema"."Edges of ""it""" ("the parent" text, "CHILD" text, "tree'" text);
SELECT cft_attach('"Schema"."Edges of ""it"""', 'the parent', 'CHILD', 'tree''');
INSERT INTO "Schema"."Edges of ""it""" VALUES ('p', 'c', 't');
SELECT * FROM cft_context('c', edges => '"Schema"."Edges of ""it"""');
SELECT oracle.all_same('"Schema"."Edges of ""it"""', parent => 'the parent', child => 'CHILD', tree => 'tree''');
SET standard_conforming_strings = off;
SET escape_string_warning = off;
CREATE TABLE "back\slash" ("pa\rent" text, child text);
SELECT cft_attach('back\\slash', 'pa\\rent');
RESET standard_conforming_strings;
INSERT INTO "back\slash" VALUES ('p', 'c');
SELECT * FROM cft_context('c', edges => 'back\slash');
DROP TABLE "back\slash";
DROP SCHEMA "Schema" CASCADE;
-- A dropped table is no longer attached; the only one left needs no name.
SELECT * FROM cft_context('b');
DROP VIEW registration;
DROP TABLE attached;
SELECT count(*) FROM pg_stat_cftrag;
