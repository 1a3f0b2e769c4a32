-- Attaching is creating two triggers; they and their arguments are the whole registration.
\a\t
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

-- The language of the names: nothing is written for English, the default, as when there was no language.
CREATE TABLE aka (alias text, entity text);
CREATE TABLE called (id text, name text);
SELECT cft_attach('attached', language => 'English'), cft_attach('attached', language => NULL), cft_attach_aliases('aka'), cft_attach_labels('called');
TABLE registration;
\set VERBOSITY default
SELECT cft_attach('attached', language => 'klingon');
SELECT cft_attach_aliases('aka', language => 'de');
SELECT cft_attach_labels('called', language => '');
-- Another: other triggers, so another image. The tables of names keep theirs, and a NOTICE says so, with what changes it.
DELETE FROM before;
INSERT INTO before SELECT oid, xmin::text FROM pg_trigger WHERE tgrelid IN ('attached'::regclass, 'aka'::regclass, 'called'::regclass) AND NOT tgisinternal;
SET client_min_messages = notice;
SELECT cft_attach('attached', tree => 'tree', language => 'GERMAN');
SELECT cft_attach('attached', tree => 'tree', language => 'german');
SET client_min_messages = warning;
TABLE registration;
SELECT count(*) FILTER (WHERE tgrelid = 'attached'::regclass) AS attached, count(*) FILTER (WHERE tgrelid <> 'attached'::regclass) AS names
  FROM before JOIN pg_trigger AS t ON t.oid = before.oid AND t.xmin::text = before.version;
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'attached'::regclass AND NOT tgisinternal ORDER BY 1;
SELECT cft_attach_aliases('aka', alias => 'alias', entity => 'entity', edges => 'attached'), cft_attach_labels('called', language => 'Simple');
-- Again: nothing changes.
DELETE FROM before;
INSERT INTO before SELECT oid, xmin::text FROM pg_trigger WHERE tgrelid IN ('attached'::regclass, 'aka'::regclass, 'called'::regclass) AND NOT tgisinternal;
SELECT cft_attach('attached', tree => 'tree', language => 'german'), cft_attach_aliases('aka'), cft_attach_aliases('aka', language => 'German'), cft_attach_labels('called', language => 'simple');
SELECT count(*) = (SELECT count(*) FROM before) AS same FROM before JOIN pg_trigger AS t ON t.oid = before.oid AND t.xmin::text = before.version;
SELECT edges, arguments FROM registration ORDER BY edges::text, tgname;
-- Captured, and found, as in English.
INSERT INTO attached VALUES ('t', 'Kliniken', 'Herzklinik', 'm');
INSERT INTO aka VALUES ('Kardiologie', 'Herzklinik');
INSERT INTO called VALUES ('b', 'Blatt');
SELECT oracle.build('attached'), oracle.build('aka'), oracle.build('called');
SELECT oracle.all_same('attached');
SELECT entity, mention, via_alias, label FROM cft_entities('Blatt, Kardiologie', 'attached');
SELECT * FROM cft_verify('attached');
-- Other columns, or the same ones under another name, in the same language.
ALTER TABLE attached RENAME child TO kind;
\set VERBOSITY sqlstate
SELECT * FROM cft_context('b', edges => 'attached');
\set VERBOSITY default
SELECT cft_attach('attached', child => 'kind', language => 'german');
ALTER TABLE aka RENAME alias TO synonym;
SELECT cft_attach_aliases('aka', alias => 'synonym');
SELECT edges, arguments FROM registration WHERE edges <> 'called'::regclass ORDER BY edges::text, tgname;
SELECT entity, mention, via_alias, label FROM cft_entities('Blatt, Kardiologie', 'attached');
-- A table of names for several edges tables has one language.
CREATE TABLE autres (parent text, child text);
SELECT cft_attach('autres', language => 'french');
SELECT cft_attach_aliases('aka', alias => 'synonym', edges => 'autres');
SELECT cft_attach_aliases('aka', alias => 'synonym', edges => 'autres', language => 'german');
-- A hint that attaches a table again says its language.
ALTER TABLE aka DISABLE TRIGGER cftrag_truncate;
ALTER TABLE autres DISABLE TRIGGER cftrag_truncate;
SELECT cft_build('aka');
SELECT cft_build('autres');
-- A language that this version does not know: the table cannot be read by its rules, so it is not attached.
DROP TABLE autres;
DROP TABLE called;
SELECT cft_detach('aka');
SELECT cft_detach('attached');
CREATE TRIGGER cftrag_row AFTER INSERT OR UPDATE OR DELETE ON attached FOR EACH ROW EXECUTE FUNCTION cftrag_internal.cft_capture('mother', 'kind', '', '', '', '', 'klingon');
\set VERBOSITY sqlstate
SELECT * FROM cft_context('b', edges => 'attached');
\set VERBOSITY default
INSERT INTO attached VALUES ('t', 'x', 'y', 'z');
SELECT cft_attach('attached', child => 'kind');
SELECT count(*) FROM registration;
DROP TABLE aka;
-- A dropped table is no longer attached; the only one left needs no name.
SELECT * FROM cft_context('b');
-- No name is no column.
SELECT cft_attach('attached', parent => '');
DROP VIEW registration;
DROP TABLE attached;
SELECT count(*) FROM pg_stat_cftrag;
