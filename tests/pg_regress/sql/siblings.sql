-- Siblings in the order of a column: texts, roots and cft_expand, by image and definition.
\a\t
SET client_min_messages = warning;
CREATE TABLE chapters (id int PRIMARY KEY, parent_id int, title text, position int, book text);
INSERT INTO chapters VALUES (1, NULL, 'Manual', 2, 'a'), (2, 1, 'Zero', 1, 'a'), (3, 1, 'Middle', 2, 'a'), (4, 1, 'Also', 3, 'a'), (5, 1, 'Without', NULL, 'a'), (6, 1, 'As the middle', 2, 'a'),
    (7, 4, 'B', 2, 'a'), (8, 4, 'C', 1, 'a'), (9, NULL, 'Preface', 1, 'a'), (10, 2, 'Inner', -5, 'a'), (11, NULL, 'Appendix', NULL, 'a'), (12, NULL, 'Other', 0, 'b');
CREATE TABLE pages (id int, body text, embedding vector(2), chapter int);
INSERT INTO pages SELECT id, 'Page of ' || title, '[1,0]', id FROM chapters;
SELECT cft_attach_documents('pages', entity => 'chapter');
SELECT cft_attach('chapters', parent => 'parent_id', child => 'id', tree => 'book', label => 'title', sort => 'position');
SELECT cft_attach('chapters', parent => 'parent_id', child => 'id', tree => 'book', label => 'title', sort => 'position');
SELECT oracle.build('chapters');
CREATE FUNCTION answers() RETURNS TABLE(what text, answer text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT 'text', cft_context_text(1, down => 1, edges => 'chapters');
    RETURN QUERY SELECT 'two levels', cft_context_text(1, down => 2, edges => 'chapters');
    RETURN QUERY SELECT 'many', cft_context_text(ARRAY[4, 1, 10], edges => 'chapters');
    RETURN QUERY SELECT 'format', cft_context_text(1, edges => 'chapters', template => '{entity}: {relatives}');
    RETURN QUERY SELECT 'parts', p.text FROM cft_context_parts('{4,1}', edges => 'chapters') AS p;
    RETURN QUERY SELECT 'roots', string_agg(r.label, ', ' ORDER BY n) FROM cft_roots('chapters') WITH ORDINALITY AS r(tree, root, label, n);
    RETURN QUERY SELECT 'expand', string_agg(e.entity, ', ' ORDER BY n) FROM cft_expand(ARRAY['7', '8', '10', '5'], edges => 'chapters', documents => 'pages')
        WITH ORDINALITY AS e(entity, tree, common, support, hit, leaf, path, text, tokens, label, n);
    RETURN QUERY SELECT 'cut', r.text FROM cft_retrieve('The manual?', NULL, budget => 44, edges => 'chapters', documents => 'pages') AS r WHERE r.source = 'hierarchy';
END $$;
SELECT * FROM answers();
CREATE TABLE ours AS SELECT row_number() OVER () AS n, a.* FROM answers() AS a;
SET cftrag.enable = off;
SELECT row_number() OVER () AS n, a.* FROM answers() AS a EXCEPT SELECT * FROM ours;
RESET cftrag.enable;
-- Rows stay in the order of their names.
SELECT string_agg(c.label, ', ') FROM cft_context(1, edges => 'chapters') AS c;
-- A change counts at once, in the caller's snapshot.
BEGIN;
UPDATE chapters SET position = 9 WHERE id = 2;
SELECT cft_context_text(1, edges => 'chapters');
ROLLBACK;
SELECT cft_context_text(1, edges => 'chapters');
-- The caller needs a right to it where siblings are put in order.
CREATE ROLE regress_cft_siblings;
GRANT SELECT (id, parent_id, title, book) ON chapters TO regress_cft_siblings;
SET ROLE regress_cft_siblings;
SELECT count(*) FROM cft_context(1, edges => 'chapters');
SELECT cft_context_text(1, edges => 'chapters');
RESET ROLE;
DROP OWNED BY regress_cft_siblings;
DROP ROLE regress_cft_siblings;
-- An index on the child serves.
INSERT INTO chapters SELECT n, 11, 'Line ' || n, -n, 'a' FROM generate_series(1000, 3000) AS n;
ANALYZE chapters;
SELECT cft_context_text(11, edges => 'chapters') LIKE '%: Line 3000, Line 2999, Line 2998,%' AS by_position;
-- An entity has the position of its row in that tree and below that parent.
CREATE TABLE plans (book text, up int, id int, title text, pos int);
INSERT INTO plans VALUES ('a', 1, 2, 'two', 1), ('a', 1, 3, 'three', 2), ('b', 1, 2, 'two', 9), ('b', 1, 3, 'three', 5),
    ('b', 4, 2, 'two', 1), ('b', 4, 3, 'three', 2), ('a', NULL, 1, 'one', 2), ('a', NULL, 5, 'five', 1), ('b', NULL, 1, 'one', 1), ('b', NULL, 4, 'four', 0), ('b', NULL, 5, 'five', 3), (NULL, 1, 2, 'two', 7), (NULL, 1, 3, 'three', 6);
SELECT cft_attach('plans', 'up', 'id', tree => 'book', label => 'title', sort => 'pos');
SELECT oracle.build('plans');
CREATE FUNCTION plans_say() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT coalesce(tree, 'no tree') || ': ' || cft_context_text(id, edges => 'plans', trees => ARRAY[tree]) FROM unnest('{a,b,NULL}'::text[]) AS tree, unnest('{1,4,2}'::int[]) AS id
    UNION ALL SELECT 'roots ' || string_agg(concat(r.tree, ' ', r.label), ', ' ORDER BY n) FROM cft_roots('plans') WITH ORDINALITY AS r(tree, root, label, n)
    UNION ALL SELECT 'expand ' || string_agg(concat(e.tree, ' ', e.path), ', ' ORDER BY n) FROM cft_expand('{2,3}', edges => 'plans') WITH ORDINALITY AS e(entity, tree, common, support, hit, leaf, path, text, tokens, label, more, n)
$$;
SELECT * FROM plans_say();
CREATE TABLE plans_said AS SELECT row_number() OVER () AS n, s FROM plans_say() AS s;
SET cftrag.enable = off;
SELECT row_number() OVER () AS n, s FROM plans_say() AS s EXCEPT TABLE plans_said;
RESET cftrag.enable;
DROP TABLE plans, plans_said;
DROP FUNCTION plans_say;
-- Other types: text, dates, uuid ids, a parent of another type.
CREATE TABLE steps (up text, down bigint, at date, "the ""step" numeric);
INSERT INTO steps VALUES ('start', 1, '2026-01-03', 2.5), ('start', 2, '2026-01-01', 10), ('start', 3, '2026-01-02', 2.25), (NULL, 4, NULL, 1);
SELECT cft_attach('steps', 'up', 'down', sort => 'at', ids => true);
SELECT cft_context_text('start', edges => 'steps');
SELECT cft_attach('steps', 'up', 'down', sort => 'the "step', ids => true);
SELECT cft_context_text('start', edges => 'steps');
SELECT * FROM cft_roots('steps');
SELECT tgargs FROM pg_trigger WHERE tgrelid = 'steps'::regclass AND tgname = 'cftrag_row';
-- What is wrong is said.
ALTER TABLE steps RENAME "the ""step" TO step;
SELECT cft_context_text('start', edges => 'steps');
SELECT count(*) FROM cft_context('start', edges => 'steps');
ALTER TABLE steps ADD list json, ADD place point;
SELECT cft_attach('steps', 'up', 'down', sort => 'list');
SELECT cft_attach('steps', 'up', 'down', sort => 'place');
SELECT cft_attach('steps', 'up', 'down', sort => 'nothing');
DROP TABLE chapters, pages, ours, steps;
DROP FUNCTION answers;
