-- Names in a text where the shared image cannot serve: an image that the call makes for itself finds what the definition finds, under the
-- same snapshot, rights and policies.
\a\t
SET client_min_messages = warning;
SET track_functions = 'all';
CREATE ROLE regress_cft_private;
CREATE SCHEMA private;
GRANT USAGE ON SCHEMA private TO regress_cft_private;
CREATE TABLE private.edges (tree text, parent text, child text, called text, also text);
CREATE TABLE private.aliases (alias text, entity text);
CREATE TABLE private.words (word text, class text);
INSERT INTO private.edges VALUES ('open', NULL, 'e1', 'Kidneys', 'renal organ'), ('open', 'e1', 'e2', 'acute kidney failure', ''),
    ('closed', 'e1', 'e3', 'Bone', NULL), ('closed', 'e3', 'e2', 'kidney collapse', 'AKF'), (NULL, 'e2', 'e4', '', NULL),
    (NULL, 'e4', NULL, 'nothing', NULL), ('open', 'e2', 'heart', 'breast and prostate cancer', NULL);
INSERT INTO private.aliases VALUES ('ossicle', 'e3'), ('nephros', 'e1'), (NULL, 'e1'), ('lone', 'e9');
INSERT INTO private.words VALUES ('breakdown', 'f'), ('failure', 'f');
SELECT cft_attach('private.edges', tree => 'tree', label => 'called', names => '{also}', ids => true);
SELECT cft_attach_aliases('private.aliases', edges => 'private.edges');
SELECT cft_attach_words('private.words', edges => 'private.edges');
GRANT SELECT ON private.edges, private.aliases, private.words TO regress_cft_private;
-- What is found, whether that is what the definition finds, whether the definition was run for it, and whether it was to compare.
CREATE FUNCTION private.found(question text, edges regclass, trees text[], within text[])
RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(m ORDER BY m) FROM (
        SELECT 'all ' || e AS m FROM cft_entities(question, edges, trees, within, overlapping => true) AS e
         UNION ALL SELECT e::text FROM cft_entities(question, edges, trees, within, narrow => true) AS e) AS m
$$;
CREATE FUNCTION private.compare(question text, edges regclass DEFAULT 'private.edges', trees text[] DEFAULT NULL,
    within text[] DEFAULT NULL)
RETURNS TABLE (entities text, is_same boolean, is_defined boolean, is_compared boolean) LANGUAGE plpgsql AS $$
DECLARE
    calls CONSTANT text := 'SELECT coalesce(sum(calls), 0) FROM pg_stat_xact_user_functions WHERE funcname = ''cft_words''';
    before bigint;
    after bigint;
    last bigint;
    ours text[];
    theirs text[];
BEGIN
    EXECUTE calls INTO before;
    ours := private.found(question, edges, trees, within);
    EXECUTE calls INTO after;
    PERFORM set_config('cftrag.enable', 'off', true);
    theirs := private.found(question, edges, trees, within);
    PERFORM set_config('cftrag.enable', 'on', true);
    EXECUTE calls INTO last;
    RETURN QUERY SELECT string_agg(m, E'\n'), ours IS NOT DISTINCT FROM theirs, after > before, last > after
                   FROM unnest(ours) AS m WHERE m NOT LIKE 'all %';
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA private TO regress_cft_private;
\set question '''Kidneys, renal organs, acute kidney breakdown (AKB), AKFs, ossicles, nephros, bones, e4 and breast cancer; kidny'''
-- The shared image serves.
SELECT oracle.build('private.edges');
SELECT * FROM private.compare(:question);
-- A policy: the caller sees one tree, and what is called by rows of it.
ALTER TABLE private.edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON private.edges FOR SELECT TO regress_cft_private USING (tree = 'open' OR tree IS NULL AND child = 'e4');
SET ROLE regress_cft_private;
SELECT * FROM private.compare(:question);
SELECT * FROM private.compare(:question, trees => '{closed,NULL}');
SELECT * FROM private.compare(:question, within => '{e2}');
-- Aliases with a policy of their own.
RESET ROLE;
ALTER TABLE private.aliases ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON private.aliases FOR SELECT TO regress_cft_private USING (alias < 'o');
SET ROLE regress_cft_private;
SELECT * FROM private.compare(:question);
-- No right to read a column of it: PostgreSQL's error.
RESET ROLE;
REVOKE SELECT ON private.edges FROM regress_cft_private;
GRANT SELECT (tree, parent, child, also) ON private.edges TO regress_cft_private;
SET ROLE regress_cft_private;
SELECT * FROM private.compare(:question);
RESET ROLE;
GRANT SELECT ON private.edges TO regress_cft_private;
-- A policy that fails fails the call.
CREATE POLICY fails ON private.edges AS RESTRICTIVE FOR SELECT TO regress_cft_private USING (1 / (length(child) - 5) < 9);
SET ROLE regress_cft_private;
SELECT * FROM private.compare(:question);
RESET ROLE;
-- Serializable; a table of this transaction, with own changes in a savepoint that is rolled back.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM private.compare(:question);
COMMIT;
BEGIN;
CREATE TABLE private.made (parent int, child uuid);
INSERT INTO private.made VALUES (7, '00000000-0000-0000-0000-00000000000a');
SELECT cft_attach('private.made', ids => true);
SAVEPOINT one;
INSERT INTO private.made VALUES (8, '00000000-0000-0000-0000-00000000000b');
SELECT * FROM private.compare('7, 8 and 00000000-0000-0000-0000-00000000000b', 'private.made');
ROLLBACK TO one;
SELECT * FROM private.compare('7, 8 and 00000000-0000-0000-0000-00000000000b', 'private.made');
ROLLBACK;
-- A table of labels, of which some are preferred.
CREATE TABLE private.ids (parent int, child int);
CREATE TABLE private.names (id int, name text, also text, is_first boolean);
INSERT INTO private.ids VALUES (1, 2), (1, 3);
INSERT INTO private.names VALUES (2, 'Shirts', 'tops', NULL), (2, 'Tees', '', true), (3, 'Hats', NULL, false), (NULL, 'lost', NULL, true);
SELECT cft_attach('private.ids');
SELECT cft_attach_labels('private.names', edges => 'private.ids', names => '{also}', preferred => 'is_first');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM private.compare('a tee, a shirt, tops and hats', 'private.ids');
COMMIT;
-- Memory is short: the definition is run.
CREATE TABLE private.many (parent text, child text);
INSERT INTO private.many SELECT repeat('x', 1000) || n, 'n' || n FROM generate_series(1, 2000) AS n;
SELECT cft_attach('private.many');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SET LOCAL cftrag.work_memory = '1MB';
SELECT * FROM private.compare('n77', 'private.many');
COMMIT;
-- Each counts as a call that the shared image did not serve.
SELECT ref_row_security > 0, ref_serializable > 0, ref_disabled > 0 FROM pg_stat_cftrag WHERE edges = 'private.edges'::regclass;
DROP SCHEMA private CASCADE;
DROP ROLE regress_cft_private;
