-- Labels are not unique: in a text, entities that are called alike are told apart by their paths, and by their ids where those are alike, too.
\a\t
SET client_min_messages = warning;
CREATE TABLE categories (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO categories VALUES (1, NULL, 'Sports'), (2, 1, 'Shoes'), (3, 1, 'Bikes'), (4, 2, 'Accessories'), (5, 3, 'Accessories'), (6, 2, 'Trail'), (7, 3, 'Trail'),
    (8, NULL, 'Home'), (9, 8, 'Accessories'), (10, 8, 'Accessories'), (11, NULL, 'Home'), (12, 11, 'Lamps'), (13, 8, 'Lamps'), (14, 13, 'LED'), (15, 4, 'Laces'), (16, 9, NULL),
    (17, NULL, 'Alone'), (18, 14, 'Home');
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name');
SELECT oracle.build('categories');
-- Relatives that are called alike; none is.
SELECT cft_context_text(1, down => 2);
SELECT cft_context_text(ARRAY[2, 14]);
SELECT cft_context_text(ARRAY[15, 16]);
-- Relatives of different entities, in different sentences.
SELECT cft_context_text(ARRAY[8, 9], down => 1);
SELECT cft_context_text(ARRAY[2, 3], 1, 1);
-- Entities that are asked about: by paths, by ids where they are alike, and roots by their ids.
SELECT cft_context_text(ARRAY[4, 5, 9, 10]);
SELECT cft_context_text(ARRAY[12, 13]);
SELECT cft_context_text(ARRAY[8, 11], down => 0);
SELECT cft_context_text(ARRAY[8, 11], down => 1);
-- An entity and its relative; of one that is there twice nothing is alike.
SELECT cft_context_text(18);
SELECT cft_context_text(ARRAY[9, 9], down => 0);
SELECT * FROM cft_context_parts('{4,5}');
SELECT cft_context_text(1, down => 2, template => '{entity}: {relatives}');
SELECT cft_prompt('Which accessories for lamps?', NULL);
-- A sentence is cut between names, whatever they are called.
SELECT budget, text FROM generate_series(30, 70, 10) AS budget, cft_retrieve('Which sports?', NULL, budget => budget, down => 2) WHERE text LIKE '%more.' OR budget = 70;
-- Rows and JSON have the entity beside its label.
SELECT relative, label FROM cft_context(8, down => 1);

CREATE FUNCTION texts() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT cft_context_text(c.id, 3, 3, 'categories') FROM categories AS c
    UNION ALL SELECT cft_context_text(array_agg(c.id ORDER BY c.id), 3, 3, 'categories') FROM categories AS c
    UNION ALL SELECT p::text FROM cft_context_parts((SELECT array_agg(c.id::text ORDER BY c.id DESC) FROM categories AS c), 2, 1, 'categories') AS p
$$;
CREATE TABLE told AS SELECT row_number() OVER () AS n, t FROM texts() AS t;
SET cftrag.enable = off;
SELECT count(*), count(*) FILTER (WHERE o.t IS DISTINCT FROM t.t) AS different FROM told AS o FULL JOIN (SELECT row_number() OVER () AS n, t FROM texts() AS t) AS t USING (n);
RESET cftrag.enable;
-- The text does not depend on how much fits into memory.
INSERT INTO categories SELECT n, 1, 'Item ' || n % 50 FROM generate_series(1000, 9000) AS n;
SELECT md5(cft_context_text(ARRAY[1, 2, 3, 4, 5, 8], 3, 3)) AS told, length(cft_context_text(1)) AS length \gset
SET work_mem = '64kB';
SELECT md5(cft_context_text(ARRAY[1, 2, 3, 4, 5, 8], 3, 3)) = :'told' AS same, length(cft_context_text(1)) = :length AS length;
RESET work_mem;
DELETE FROM categories WHERE id >= 1000;

-- Summaries are made of labels where there are no words of its own; the baseline of neighbours speaks them, too.
CREATE TABLE sums (entity text, summary text);
SELECT cft_attach_summaries('sums', edges => 'categories');
SELECT inputs FROM cft_rollup_next(8, edges => 'categories') WHERE inputs <> '{}' ORDER BY 1;
SELECT text FROM cftrag_internal.cft_sentences_of_neighbors('{2,16}', 1, 'categories');
SELECT summarized FROM cft_rollup(edges => 'categories');
SELECT entity, summary FROM sums WHERE entity IN ('3', '13') ORDER BY 1;
-- A new label makes the summaries that say it due: of its entity, of its parents, and of what is above these.
UPDATE categories SET name = 'Lights' WHERE id = 13;
SELECT entity FROM sums WHERE summary IS NULL ORDER BY 1;
SELECT summarized FROM cft_rollup(edges => 'categories');
SELECT entity, summary FROM sums WHERE entity = '13';
UPDATE categories SET name = name;
UPDATE categories SET name = 'Lamps' WHERE id = 13;
SELECT summarized FROM cft_rollup(edges => 'categories');
DROP TABLE sums;

-- In a table of labels, and in trees: the sentence does not say which where an entity has one tree.
CREATE TABLE nodes (id text, name text);
CREATE TABLE sections (tenant text, parent text, child text);
INSERT INTO sections SELECT t, t || p, t || c FROM unnest('{n,s}'::text[]) AS t, (VALUES ('1', '2'), ('2', '3')) AS v(p, c);
INSERT INTO nodes SELECT t || n, (ARRAY['Book', 'Travel', 'Visa'])[n] FROM unnest('{n,s}'::text[]) AS t, generate_series(1, 3) AS n;
SELECT cft_attach('sections', tree => 'tenant');
SELECT cft_attach_labels('nodes', edges => 'sections');
SELECT cft_context_text(ARRAY['n3', 's3'], edges => 'sections');
SELECT cft_context_text(ARRAY['n3', 's3'], edges => 'sections', trees => '{n}');
SELECT cft_prompt('A visa?', NULL, edges => 'sections', trees => '{s}');
INSERT INTO sections VALUES ('s', 'n1', 's2');
SELECT cft_context_text(ARRAY['n3', 's3'], edges => 'sections');
SET cftrag.enable = off;
SELECT cft_context_text(ARRAY['n3', 's3'], edges => 'sections');
RESET cftrag.enable;
-- A relative that has the label and the path of an entity that is asked about, which is not among its relatives.
INSERT INTO categories VALUES (20, 2, 'Twin'), (21, 2, 'Twin'), (22, 20, 'Boots');
SELECT cft_context_text(ARRAY[22, 21], edges => 'categories');
SET cftrag.enable = off;
SELECT cft_context_text(ARRAY[22, 21], edges => 'categories');
RESET cftrag.enable;
-- What a table of labels calls something that is no entity is not asked about.
INSERT INTO nodes VALUES ('x', 'Visa');
SELECT cft_context_text(ARRAY['n2', 'x'], edges => 'sections');
-- An explanation of a path.
SELECT cft_explain_path('4', '5', edges => 'categories'), cft_explain_path('2', '4', edges => 'categories') AS none_is_alike, cft_explain_path('9', '10', edges => 'categories');
-- A path that is the label of another.
INSERT INTO categories VALUES (30, NULL, 'Parts'), (31, 30, 'Nuts'), (32, 30, 'Parts > Nuts'), (33, 31, 'Nuts');
SELECT cft_context_text(30, down => 2, edges => 'categories');
SELECT cft_context_text(ARRAY[31, 32, 33], edges => 'categories');
-- A label that is what another would be called; names of entities without a label that are labels or paths.
CREATE TABLE made (id text, parent text, name text);
INSERT INTO made VALUES ('r', NULL, 'Root'), ('8', 'r', 'Home (9)'), ('9', NULL, 'Home'), ('10', '9', 'Home');
INSERT INTO made VALUES ('1', NULL, '7'), ('7', '1', NULL), ('a', NULL, 'A'), ('b', 'a', 'B'), ('c', 'a', 'B'), ('A > B', 'a', NULL), ('d', 'A > B', 'D');
SELECT cft_attach('made', parent => 'parent', child => 'id', label => 'name');
SELECT oracle.build('made');
SELECT cft_context_text(ARRAY['8', '10', '9'], edges => 'made');
SELECT cft_context_text('7', edges => 'made');
SELECT cft_context_text('A > B', edges => 'made');
SELECT cft_context_text('a', edges => 'made');
DROP TABLE made;
-- Paths are compared in the trees of the text: b and e are apart in x, whatever y has.
CREATE TABLE trees (tree text, parent text, child text, name text);
INSERT INTO trees VALUES ('x', NULL, 'a', 'A'), ('x', 'a', 'b', 'Same'), ('x', 'b', 'e', 'Same'), ('y', NULL, 'z', 'A'), ('y', 'z', 'e', 'Same');
SELECT cft_attach('trees', tree => 'tree', label => 'name');
SELECT oracle.build('trees');
SELECT cft_context_text('a', down => 2, edges => 'trees');
SELECT cft_explain_path('a', 'e', edges => 'trees');
DROP TABLE trees;
-- After writes of the transaction the image still tells apart: the call opens the table once.
BEGIN;
INSERT INTO categories VALUES (40, 4, 'Accessories');
SELECT sum(ref_pending_trigger) AS before FROM pg_stat_cftrag \gset
SELECT cft_context_text(4, edges => 'categories');
SELECT sum(ref_pending_trigger) - :before AS by_reference FROM pg_stat_cftrag;
ROLLBACK;
-- Many that are called alike, as is their parent, each told apart by its id.
CREATE TABLE many (id int, parent_id int, name text);
INSERT INTO many SELECT n, nullif(1, n), 'Alike' FROM generate_series(1, 3001) AS n;
SELECT cft_attach('many', parent => 'parent_id', child => 'id', label => 'name');
SELECT oracle.build('many');
SELECT count(*), count(DISTINCT t.told) AS told_apart, min(t.told) FROM unnest(string_to_array((SELECT cft_context_text(array_agg(id), edges => 'many') FROM many WHERE id > 1), E'\n')) AS t(told) WHERE t.told <> '';
DROP TABLE many;
-- A path of 32 levels is told, one of more is not.
CREATE TABLE chain (id int, parent_id int, name text);
INSERT INTO chain SELECT n, nullif(n - 1, 0), CASE WHEN n > 1 THEN 'Same' ELSE 'Top' END FROM generate_series(1, 40) AS n;
SELECT cft_attach('chain', parent => 'parent_id', child => 'id', label => 'name');
SELECT oracle.build('chain');
SELECT cft_context_text('{33,34}'::int[], up => 1, down => 0, edges => 'chain');
DROP TABLE chain;
DROP TABLE categories, told, nodes, sections;
DROP FUNCTION texts;
