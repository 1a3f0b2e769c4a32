-- Labels in a table of their own, nodes(id, name) beside links(parent, child): every function that names entities speaks them, by image and definition.
\a\t
SET client_min_messages = warning;
CREATE TABLE nodes (id int PRIMARY KEY, name text, note text);
CREATE TABLE links (parent int, child int, tree text);
-- Several of one name, some without, an empty one, one that is its entity's id, one of an entity that no link has.
INSERT INTO nodes SELECT n, CASE WHEN n % 5 = 4 THEN NULL WHEN n % 3 = 0 THEN 'Shoes' ELSE 'Item ' || n END FROM generate_series(1, 20) AS n;
INSERT INTO nodes VALUES (21, ''), (22, '22'), (99, 'Nowhere');
INSERT INTO links SELECT CASE WHEN n > 1 THEN n / 3 + 1 END, n, 't' || n % 2 FROM generate_series(1, 22) AS n;
SELECT cft_attach('links', tree => 'tree');
SELECT cft_attach_labels('nodes', edges => 'links');
-- Again, it changes nothing.
SELECT array_agg(oid) AS before FROM pg_trigger WHERE tgrelid = 'nodes'::regclass \gset
SELECT cft_attach_labels('nodes', edges => 'links');
SELECT array_agg(oid) = :'before' AS same FROM pg_trigger WHERE tgrelid = 'nodes'::regclass;
SELECT oracle.build('links');
SELECT oracle.build('nodes');
CREATE FUNCTION answers() RETURNS TABLE(n int, answer text) LANGUAGE plpgsql AS $$
BEGIN
    FOR n, answer IN
        SELECT 1, c::text FROM cft_context(3, edges => 'links') AS c
        UNION ALL SELECT 2, c::text FROM cft_context(ARRAY[3, 22, 7], 2, 2, 'links') AS c
        UNION ALL SELECT 3, cft_context_text(ARRAY[3, 22, 7], 2, 2, 'links')
        UNION ALL SELECT 4, cft_context_text(3, edges => 'links', template => '{entity}: {relatives}')
        UNION ALL SELECT 5, cft_context_json(3, edges => 'links')::text
        UNION ALL SELECT 6, c::text FROM cft_context_parts('{3,22}', edges => 'links') AS c
        UNION ALL SELECT 7, c::text FROM cft_roots('links') AS c
        UNION ALL SELECT 8, c::text FROM cft_entities('the shoes, Item 2, 22, nowhere, 3 and item 7', 'links') AS c
        UNION ALL SELECT 9, c::text FROM cft_entities('the shoes, Item 2, 22', 'links', '{t1}', overlapping => true) AS c
        UNION ALL SELECT 10, c::text FROM cft_neighbors('3', edges => 'links') AS c
        UNION ALL SELECT 11, c::text FROM cft_path('3', '22', edges => 'links') AS c
        UNION ALL SELECT 12, c::text FROM cft_lca('3', '22', 'links') AS c
        UNION ALL SELECT 13, cft_explain_path('3', '22', edges => 'links')
        UNION ALL SELECT 14, c::text FROM cft_path_prefix(ARRAY['22', '7'], 'links') AS c
        UNION ALL SELECT 15, c::text FROM cft_resolve('item 2', edges => 'links') AS c
        UNION ALL SELECT 16, c::text FROM cft_resolve('itam 2', edges => 'links') AS c
        UNION ALL SELECT 17, c::text FROM cft_resolve('3', edges => 'links') AS c
        UNION ALL SELECT 18, c::text FROM (SELECT (cft_context('8', edges => 'links')).*) AS c LOOP
        RETURN NEXT;
    END LOOP;
END $$;
CREATE FUNCTION answers_differ() RETURNS TABLE(n int, answer text) LANGUAGE plpgsql AS $$
DECLARE
    image text[] := ARRAY(SELECT a::text FROM answers() AS a);
BEGIN
    SET LOCAL cftrag.enable = off;
    RETURN QUERY SELECT a.n, a.answer FROM answers() WITH ORDINALITY AS a(n, answer, place) WHERE image[a.place] IS DISTINCT FROM (a.n, a.answer)::text;
    RESET cftrag.enable;
END $$;
SELECT * FROM answers();
SELECT * FROM answers_differ();
-- Changes in both tables, before and after they are committed.
BEGIN;
UPDATE nodes SET name = 'Boots' WHERE id IN (2, 3);
DELETE FROM nodes WHERE id = 22;
INSERT INTO links VALUES (7, 99, 't0');
SELECT * FROM answers_differ();
SELECT entity, label FROM cft_entities('boots, item 2, 22, nowhere', 'links');
SAVEPOINT one;
TRUNCATE nodes;
SELECT * FROM answers_differ();
SELECT * FROM cft_entities('boots, item 2, 22, nowhere', 'links');
ROLLBACK TO one;
SELECT * FROM answers_differ();
COMMIT;
SELECT * FROM answers_differ();
SELECT entity, label FROM cft_entities('boots, item 2, 22, nowhere', 'links');
SELECT * FROM cft_verify('links');
SELECT * FROM cft_verify('nodes');
-- More rows than fit into memory at once.
INSERT INTO links SELECT 3, n, 'wide' FROM generate_series(1000, 9000) AS n;
INSERT INTO nodes SELECT n, 'Wide ' || n % 100 FROM generate_series(1000, 9000) AS n;
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT label) FROM cft_context(3, 0, 1, 'links', '{wide}');
SELECT count(*), count(DISTINCT label) FROM (SELECT (cft_context(ARRAY[3, 7, 3], 0, 1, 'links')).*) AS c;
SELECT length(cft_context_text(3, 0, 1, 'links', '{wide}'));
RESET work_mem;
SET cftrag.work_memory = '1MB';
\set VERBOSITY terse
SELECT count(*) FROM cft_context(3, 0, 1, 'links', '{wide}');
\set VERBOSITY default
RESET cftrag.work_memory;
DELETE FROM links WHERE tree = 'wide';
DELETE FROM nodes WHERE id >= 1000;

-- The caller's own rights on the table of labels.
CREATE ROLE regress_cft_labels;
GRANT SELECT ON links TO regress_cft_labels;
SET ROLE regress_cft_labels;
SELECT * FROM cft_context(8, 1, 0, 'links');
SELECT * FROM cft_entities('boots', 'links');
-- What speaks no labels needs no right to them.
SELECT * FROM cft_depth('8', 'links');
RESET ROLE;
GRANT SELECT (id, name) ON nodes TO regress_cft_labels;
ALTER TABLE nodes ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON nodes TO regress_cft_labels USING (id < 3);
SET ROLE regress_cft_labels;
SELECT relative, label FROM cft_context(8, 2, 0, 'links');
SELECT entity, label FROM cft_entities('boots and shoes', 'links');
RESET ROLE;
-- A table of labels of somebody else's says nothing.
CREATE SCHEMA regress_cft_labels AUTHORIZATION regress_cft_labels;
GRANT TRIGGER ON links TO regress_cft_labels;
SET ROLE regress_cft_labels;
CREATE TABLE regress_cft_labels.lies (id int, name text);
INSERT INTO regress_cft_labels.lies VALUES (3, 'Lie');
SELECT cft_attach_labels('regress_cft_labels.lies', edges => 'links');
RESET ROLE;
DROP OWNED BY regress_cft_labels;
DROP ROLE regress_cft_labels;

-- What is wrong is said.
CREATE TABLE others (id int, title text, list jsonb);
SELECT cft_attach_labels('others', edges => 'links');
SELECT cft_attach_labels('others', label => 'title', edges => 'links');
SELECT cft_attach_labels('others', label => 'list', edges => 'links');
SELECT cft_attach_labels('others', label => 'id', edges => 'links');
SELECT cft_attach_labels('links', 'child', 'tree', 'links');
SELECT cft_attach_labels(NULL);
SELECT cft_attach('links', tree => 'tree', label => 'tree');
ALTER TABLE links ADD name text;
SELECT cft_attach('links', tree => 'tree', label => 'name');
SELECT * FROM cft_context('3', edges => 'nodes');
ALTER TABLE nodes RENAME name TO called;
SELECT * FROM cft_context(8, 1, 0, 'links');
ALTER TABLE nodes RENAME called TO name;
ALTER TABLE nodes DISABLE TRIGGER cftrag_row;
SELECT relative, label FROM cft_context(8, 1, 0, 'links');
ALTER TABLE nodes ENABLE ALWAYS TRIGGER cftrag_row;
-- Taken off, the ids are no names.
SELECT cft_detach('nodes');
SELECT cft_context_text(8, edges => 'links');
SELECT count(*) FROM cft_entities('boots, item 2, 22, nowhere, 8', 'links');
SELECT cft_attach('links', tree => 'tree', label => 'name');
SELECT cft_attach_labels('others', label => 'title', edges => 'links');
DROP TABLE nodes, links, others;
DROP FUNCTION answers, answers_differ;
