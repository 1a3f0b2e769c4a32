-- Labels beside the ids that the methods' rows name: of a column, of a table, by image and definition.
\a\t
SET client_min_messages = warning;
CREATE TABLE kinds (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO kinds VALUES (1, NULL, 'Shop'), (2, 1, 'Shoes'), (3, 2, 'Running shoes'), (4, 2, 'Boots'), (5, 1, NULL), (6, 5, 'Shoes'), (7, NULL, 'Alone');
CREATE TABLE meant (kind int, embedding vector(2));
INSERT INTO meant VALUES (1, '[1,0]'), (2, '[0.9,0.1]'), (3, '[0.8,0.3]'), (4, '[0.5,0.5]'), (5, '[0.3,0.6]'), (6, '[0.1,0.9]'), (7, '[0,1]'), (99, '[0.01,1]');
CREATE TABLE notes (id int, kind int, body text, embedding vector(2));
INSERT INTO notes VALUES (1, 3, 'They run.', '[1,0]'), (2, 6, 'They stand.', '[0,1]');
SELECT cft_attach('kinds', parent => 'parent_id', child => 'id', label => 'name');
SELECT cft_attach_embeddings('meant', entity => 'kind', edges => 'kinds');
SELECT cft_attach_documents('notes', entity => 'kind');
SELECT oracle.build('kinds');
CREATE FUNCTION answers(kinds regclass) RETURNS TABLE (what text, names text, labels text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT 'nearest', e.entity, e.label FROM cft_nearest_entities('[0,1]', 4, edges => kinds) AS e;
    RETURN QUERY SELECT 'descent', s.entity, s.label FROM cft_tree_search('[1,0]', k => 3, mode => 'prune', edges => kinds) AS s;
    RETURN QUERY SELECT 'collapsed', s.entity, s.label FROM cft_tree_search('[1,0]', k => 3, mode => 'collapsed', edges => kinds) AS s;
    RETURN QUERY SELECT 'expanded', x.entity, x.label FROM cft_expand(ARRAY['3', '4', '6'], edges => kinds) AS x;
    RETURN QUERY SELECT 'bridge', b.parent || ' > ' || b.child, concat_ws(' > ', b.parent_label, b.child_label) FROM cft_bridge(ARRAY['3', '4', '6'], edges => kinds) AS b;
    RETURN QUERY SELECT f.part, f.entity || ': ' || f.text, f.label FROM cft_coarse_fine('[1,0]', edges => kinds) AS f;
END $$;
SELECT * FROM answers('kinds');
CREATE TABLE ours AS SELECT row_number() OVER () AS n, a.* FROM answers('kinds') AS a;
SET cftrag.enable = off;
SELECT row_number() OVER () AS n, a.* FROM answers('kinds') AS a EXCEPT SELECT * FROM ours;
RESET cftrag.enable;
-- A label that changes does so at once, in the snapshot of who asks.
BEGIN;
UPDATE kinds SET name = 'Sandals' WHERE id = 4;
SELECT entity, label FROM cft_expand(ARRAY['4'], edges => 'kinds');
ROLLBACK;
SELECT entity, label FROM cft_expand(ARRAY['4'], edges => 'kinds');
-- A role that may not read the labels is told so, as in cft_context.
CREATE ROLE regress_cft_labelled;
GRANT SELECT (id, parent_id) ON kinds TO regress_cft_labelled;
GRANT SELECT ON meant, notes TO regress_cft_labelled;
\set VERBOSITY terse
SET ROLE regress_cft_labelled;
SELECT entity, label FROM cft_context(4, edges => 'kinds');
SELECT entity, label FROM cft_nearest_entities('[0,1]', 4, edges => 'kinds');
SELECT entity, label FROM cft_expand(ARRAY['4'], edges => 'kinds');
SELECT parent, parent_label FROM cft_bridge(ARRAY['3', '4'], edges => 'kinds');
RESET ROLE;
\set VERBOSITY default
DROP OWNED BY regress_cft_labelled;
DROP ROLE regress_cft_labelled;
-- The labels of a table of labels; none where there are none.
SELECT cft_detach('kinds');
CREATE TABLE called (id int, name text);
INSERT INTO called SELECT id, upper(name) FROM kinds WHERE name IS NOT NULL AND id <> 3;
SELECT cft_attach('kinds', parent => 'parent_id', child => 'id');
SELECT entity, label FROM cft_expand(ARRAY['3', '4'], edges => 'kinds');
SELECT cft_attach_labels('called', edges => 'kinds');
SELECT oracle.build('kinds');
SELECT * FROM answers('kinds');
CREATE ROLE regress_cft_labelled;
GRANT SELECT ON kinds TO regress_cft_labelled;
SET ROLE regress_cft_labelled;
SELECT count(*) FROM cft_context('nobody', edges => 'kinds');
SELECT * FROM cftrag_internal.cft_attached('kinds');
RESET ROLE;
DROP OWNED BY regress_cft_labelled;
DROP ROLE regress_cft_labelled;
DROP TABLE kinds, meant, notes, called, ours;
DROP FUNCTION answers;
-- Typing errors in aliases, too: of a table with names, with labels, of ids that are no names. Not of what is in no edge, nor what the caller must not read.
CREATE TABLE organs (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO organs VALUES (1, NULL, 'Heart'), (2, 1, 'Left ventricle'), (3, 1, NULL);
CREATE TABLE synonyms (organ int, called text);
INSERT INTO synonyms VALUES (2, 'ventriculus sinister'), (3, 'ventriculus dexter'), (99, 'ventriculus quartus'), (NULL, 'ventriculus'), (1, NULL);
SELECT cft_attach('organs', 'parent_id', 'id', label => 'name');
SELECT cft_attach_aliases('synonyms', 'called', 'organ', 'organs');
SELECT * FROM cft_resolve('ventriculus', edges => 'organs');
SELECT * FROM cft_resolve('ventricules sinister', edges => 'organs', k => 1);
SELECT * FROM cft_resolve('left ventrickle', edges => 'organs', k => 1);
SELECT * FROM cft_resolve('ventriculus sinister', edges => 'organs');
SELECT cft_detach('organs');
SELECT cft_attach('organs', 'parent_id', 'id');
SELECT cft_attach_aliases('synonyms', 'called', 'organ', 'organs');
SELECT * FROM cft_resolve('ventricules sinister', edges => 'organs', k => 1);
SELECT * FROM cft_resolve('left ventrickle', edges => 'organs', k => 1);
CREATE ROLE regress_cft_labelled;
GRANT SELECT ON organs TO regress_cft_labelled;
\set VERBOSITY terse
SET ROLE regress_cft_labelled;
SELECT * FROM cft_resolve('ventricules sinister', edges => 'organs', k => 1);
RESET ROLE;
\set VERBOSITY default
GRANT SELECT ON synonyms TO regress_cft_labelled;
ALTER TABLE synonyms ENABLE ROW LEVEL SECURITY;
CREATE POLICY theirs ON synonyms TO regress_cft_labelled USING (organ = 3);
SET ROLE regress_cft_labelled;
SELECT entity, method FROM cft_resolve('ventricules sinister', edges => 'organs');
RESET ROLE;
DROP OWNED BY regress_cft_labelled;
DROP ROLE regress_cft_labelled;
DROP TABLE organs, synonyms;
