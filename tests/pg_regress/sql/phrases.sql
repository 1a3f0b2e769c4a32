-- The words of the hierarchy in a prompt: the built-in ones, the paper's, and those of a table of the user's (cft_attach_phrases).
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE parts (tree text, parent text, child text);
INSERT INTO parts VALUES ('build', 'kernel', 'driver'), ('build', 'libc', 'driver'), ('build', 'driver', 'printer'), ('site', 'rack', 'driver'), (NULL, 'list', 'driver'), ('site', 'driver', 'cable, long'), ('site', 'driver', 'plug');
SELECT cft_attach('parts', tree => 'tree');
SELECT oracle.build('parts');
CREATE FUNCTION says(question text DEFAULT 'the driver', budget int DEFAULT NULL) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT text FROM cft_retrieve(question, NULL, edges => 'parts', budget => budget) WHERE source = 'hierarchy' $$;
-- The built-in words, and the paper's.
SELECT says();
SET cftrag.wording = 'paper';
SELECT says();
SELECT count(*) FILTER (WHERE says IS DISTINCT FROM text) AS different, count(*) FROM (SELECT row_number() OVER () AS n, says FROM says()) AS s FULL JOIN (SELECT row_number() OVER () AS n, text FROM cft_context_parts('{driver}', edges => 'parts')) AS p USING (n);
SET cftrag.wording = 'long';
RESET cftrag.wording;
-- Tree by tree; one and several; a row for the others; what is NULL or empty is said in the built-in words.
CREATE TABLE phrases (tree text, up text, down text, ups text, downs text, more text);
INSERT INTO phrases VALUES ('build', '{entity} depends on {names}.', '{names} depends on {entity}.', NULL, '{names} depend on {entity}.', NULL),
    ('site', NULL, 'Teil von {entity} ({tree}): {names}.', 'unused', 'Teile von {entity} ({tree}): {names}.', 'und {count} weitere');
SELECT cft_attach_phrases('phrases', up_several => 'ups', down_several => 'downs', more => 'more', edges => 'parts');
SELECT cft_attach_phrases('phrases', up_several => 'ups', down_several => 'downs', more => 'more', edges => 'parts');
SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'phrases'::regclass;
SELECT says();
SELECT says('printer');
SET cftrag.wording = 'paper';
SELECT says();
RESET cftrag.wording;
INSERT INTO phrases VALUES (NULL, 'Über {entity}: {names}.', '', NULL, NULL, 'u. a. {count}');
SELECT says();
SET cftrag.enable = off;
SELECT says();
RESET cftrag.enable;
-- What texts are defined by keeps the paper's words.
SELECT cft_context_text('driver', 1, 0, 'parts');
SELECT split_part(cft_prompt('the driver', NULL, edges => 'parts', trees => '{build}'), E'say so.\n\n', 2);
-- Of two rows about one tree the first one by bytes; braces; lines.
BEGIN;
INSERT INTO phrases VALUES ('build', E'{{a}}\n{entity} <- {names}', 'x', NULL, NULL, NULL);
DELETE FROM phrases WHERE up LIKE '% depends on %';
SELECT says() LIMIT 3;
INSERT INTO phrases VALUES ('build', E'{{0}} {entity}', 'x', NULL, NULL, NULL);
SELECT says() LIMIT 3;
ROLLBACK;
-- What is not listed.
BEGIN;
INSERT INTO parts SELECT 'site', 'driver', 'screw ' || n FROM generate_series(1, 150) AS n;
INSERT INTO parts SELECT NULL, 'list ' || n, 'driver' FROM generate_series(1, 150) AS n;
SELECT right(says, 30) FROM says();
SELECT says(budget => 40);
UPDATE phrases SET more = NULL, downs = NULL;
SELECT says(budget => 40);
SET LOCAL cftrag.wording = 'paper';
UPDATE phrases SET more = 'und {count} weitere', down = NULL;
SELECT says(budget => 100);
ROLLBACK;
-- A format that is none.
UPDATE phrases SET down = '{entities}' WHERE tree = 'site';
SELECT cft_attach_phrases('phrases', edges => 'parts');
UPDATE phrases SET downs = NULL, more = '{names}' WHERE tree = 'site';
SELECT says();
SELECT says('printer');
UPDATE phrases SET down = '{names}' WHERE tree = 'site';
SELECT cft_attach_phrases('phrases', more => 'more', edges => 'parts');
UPDATE phrases SET more = NULL;
-- Other columns, of other types, and none of trees.
CREATE TYPE phrase AS ENUM ('{entity} < {names}', '{entity} > {names}');
CREATE TABLE all_trees (above phrase, "be low" phrase);
INSERT INTO all_trees VALUES ('{entity} < {names}', '{entity} > {names}');
SELECT cft_attach_phrases('all_trees', NULL, 'above', 'be low', 'parts');
SELECT cft_detach('phrases');
SELECT cft_detach('phrases');
SELECT cft_attach_phrases('all_trees', NULL, 'above', 'be low', 'parts');
ALTER TABLE all_trees RENAME above TO higher;
SELECT says();
ALTER TABLE all_trees DROP COLUMN higher;
ALTER TABLE all_trees DROP COLUMN higher CASCADE;
SELECT says() LIMIT 1;
DROP TABLE all_trees;
-- Rights, and policies: a table that the asker may not read does not count, nor does one whose owner may not speak for the edges.
SELECT cft_attach_phrases('phrases', edges => 'parts');
CREATE ROLE regress_phrases;
GRANT SELECT ON parts TO regress_phrases;
SET ROLE regress_phrases;
SELECT says() LIMIT 2;
CREATE TABLE pg_temp.mine (tree text, up text, down text);
SELECT cft_attach_phrases('mine', edges => 'parts');
SELECT cft_attach_phrases('phrases', edges => 'parts');
DROP TABLE mine;
RESET ROLE;
GRANT SELECT ON phrases TO regress_phrases;
ALTER TABLE phrases ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON phrases TO regress_phrases USING (tree IS NULL);
SET ROLE regress_phrases;
SELECT says() LIMIT 2;
RESET ROLE;
SELECT says() LIMIT 2;
ALTER TABLE phrases OWNER TO regress_phrases;
SELECT says() LIMIT 2;
ALTER TABLE phrases OWNER TO CURRENT_USER;
-- Of somebody who may read some of its columns, it says nothing.
REVOKE SELECT ON phrases FROM regress_phrases;
GRANT SELECT (tree, up) ON phrases TO regress_phrases;
SET ROLE regress_phrases;
SELECT says() LIMIT 2;
RESET ROLE;
-- Errors.
SELECT cft_attach_phrases(NULL, edges => 'parts');
SELECT cft_attach_phrases('phrases', up => NULL, edges => 'parts');
SELECT cft_attach_phrases('phrases', up => 'hoch', edges => 'parts');
SELECT cft_attach_phrases('phrases', edges => 'phrases');
UPDATE phrases SET up = up;
-- What does not fit, in the words of a setting; a format of a prompt may have it.
CREATE TABLE papers (id int, body text, embedding vector(1));
INSERT INTO papers SELECT n, repeat('word ', 40), '[1]' FROM generate_series(1, 3) AS n;
UPDATE papers SET body = id || body;
SELECT cft_attach_documents('papers');
SELECT cft_prompt('the driver', '[1]', budget => 70, edges => 'parts', template => '{left_out}');
SET cftrag.left_out_template = '({documents} Dokumente und {sentences} Sätze haben in {budget} Tokens keinen Platz.)';
SELECT cft_prompt('the driver', '[1]', budget => 70, edges => 'parts', template => '{left_out}');
SELECT cft_prompt('the driver', '[1]', budget => 70, edges => 'parts') LIKE '%(% Dokumente und % Sätze haben%' AS said, cft_prompt('the driver', '[1]', edges => 'parts', template => '{left_out}') = '' AS nothing;
SET cftrag.left_out_template = '{names}';
RESET cftrag.left_out_template;
DROP TABLE parts, phrases, papers;
DROP TYPE phrase;
DROP FUNCTION says;
DROP ROLE regress_phrases;
