-- Other names beside a label (cft_attach, names => ...), and which of several labels is shown (cft_attach_labels, preferred => ...): by image and definition.
\a\t
SET client_min_messages = warning;
CREATE TABLE goods (id int PRIMARY KEY, parent_id int, name text, plural text, code text);
INSERT INTO goods VALUES (1, NULL, 'Footwear', NULL, NULL), (2, 1, 'Shoe', 'Shoes', 'FW-1'), (3, 1, 'Boot', 'Boots', 'FW-2'), (4, 3, 'Wellington', 'Wellies', 'FW-2'),
    (5, 1, NULL, 'Laces', 'Acc-5'), (6, 1, '', '', NULL), (7, 1, 'Slipper', 'Slipper', 'slipper');
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', names => '{plural,code}');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'goods'::regclass AND tgname = 'cftrag_row';
SELECT oracle.build('goods');
CREATE FUNCTION of_goods() RETURNS TABLE(n int, answer text) LANGUAGE sql AS $$
    SELECT 1, c::text FROM cft_context(3, edges => 'goods') AS c
    UNION ALL SELECT 2, c::text FROM cft_context(1, edges => 'goods') AS c
    UNION ALL SELECT 3, cft_context_text(ARRAY[5, 2], edges => 'goods')
    UNION ALL SELECT 4, c::text FROM cft_roots('goods') AS c
    UNION ALL SELECT 5, c::text FROM cft_entities('Shoes, a boot, FW-2, laces; slipper. 3', 'goods') AS c
    UNION ALL SELECT 6, c::text FROM cft_entities('wellys and fw1 for acc 5', 'goods', match => 'fuzzy') AS c
    UNION ALL SELECT 7, c::text FROM cft_resolve('Laces', edges => 'goods') AS c
    UNION ALL SELECT 8, c::text FROM cft_resolve('footwear > fw-2', edges => 'goods') AS c
    UNION ALL SELECT 9, v::text FROM cft_verify('goods') AS v
$$;
CREATE FUNCTION of_goods_differ() RETURNS TABLE(n int, answer text) LANGUAGE plpgsql AS $$
DECLARE
    image text[] := ARRAY(SELECT a::text FROM of_goods() AS a);
BEGIN
    SET LOCAL cftrag.enable = off;
    RETURN QUERY SELECT a.n, a.answer FROM of_goods() WITH ORDINALITY AS a(n, answer, place) WHERE image[a.place] IS DISTINCT FROM (a.n, a.answer)::text;
    RESET cftrag.enable;
END $$;
SELECT * FROM of_goods();
SELECT * FROM of_goods_differ();
-- A change of any of the columns is there at once, and goes with a rollback.
BEGIN;
UPDATE goods SET plural = 'Footgear' WHERE id = 1;
UPDATE goods SET name = 'Lace' WHERE id = 5;
UPDATE goods SET code = NULL, plural = '' WHERE id = 4;
DELETE FROM goods WHERE id = 7;
SELECT * FROM of_goods_differ();
SELECT entity, mention, label FROM cft_entities('footgear, laces, fw-2, wellies, slipper', 'goods');
ROLLBACK;
SELECT * FROM of_goods_differ();
SELECT entity, mention, label FROM cft_entities('footgear, laces, fw-2, wellies, slipper', 'goods');
-- With ids, too.
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', ids => true, names => '{plural}');
SELECT oracle.build('goods');
SELECT entity, mention, label FROM cft_entities('3, boots, fw-2', 'goods');
SELECT * FROM of_goods_differ();
-- Who may not read a column may not ask.
CREATE ROLE regress_other_names;
GRANT SELECT (id, parent_id, name) ON goods TO regress_other_names;
SET ROLE regress_other_names;
SELECT entity FROM cft_entities('boots', 'goods');
RESET ROLE;
REVOKE ALL ON goods FROM regress_other_names;
-- A column that is gone.
ALTER TABLE goods DROP COLUMN plural;
SELECT entity FROM cft_entities('boots', 'goods');
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', names => '{code}');
SELECT entity, label FROM cft_entities('boots, boot, acc-5', 'goods');
-- What cannot be.
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', names => '{name}');
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', names => '{name}');
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', names => '{plural}');
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', names => '{a,b,c,d,e}');
ALTER TABLE goods ADD COLUMN price numeric(8, 2);
SELECT cft_attach('goods', parent => 'parent_id', child => 'id', label => 'name', names => '{price}');

-- Several labels of one entity: the preferred one is shown, all are names.
CREATE TABLE concepts (id text PRIMARY KEY, above text);
CREATE TABLE terms (concept text, term text, acronym text, is_main boolean);
INSERT INTO concepts VALUES ('C1', NULL), ('C2', 'C1'), ('C3', 'C1');
INSERT INTO terms VALUES ('C1', 'Heart disease', NULL, true), ('C1', 'Cardiac disease', 'CD', false), ('C2', 'Myocardial infarction', 'MI', true), ('C2', 'Heart attack', NULL, NULL),
    ('C3', 'Arrhythmia', NULL, false), ('C3', 'Cardiac arrhythmia', 'ARR', NULL);
SELECT cft_attach('concepts', parent => 'above', child => 'id');
SELECT cft_attach_labels('terms', entity => 'concept', label => 'term', edges => 'concepts', names => '{acronym}', preferred => 'is_main');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'terms'::regclass AND tgname = 'cftrag_row';
SELECT oracle.build('concepts');
SELECT oracle.build('terms');
CREATE FUNCTION of_terms() RETURNS TABLE(n int, answer text) LANGUAGE sql AS $$
    SELECT 1, c::text FROM cft_context('C1', edges => 'concepts') AS c
    UNION ALL SELECT 2, cft_context_text('{C2,C3}'::text[], edges => 'concepts')
    UNION ALL SELECT 3, c::text FROM cft_entities('heart attack, MI, cardiac disease, ARR', 'concepts') AS c
    UNION ALL SELECT 4, c::text FROM cft_roots('concepts') AS c
    UNION ALL SELECT 5, c::text FROM cft_resolve('heart attack', edges => 'concepts') AS c
    UNION ALL SELECT 6, v::text FROM cft_verify('terms') AS v
$$;
CREATE FUNCTION of_terms_differ() RETURNS TABLE(n int, answer text) LANGUAGE plpgsql AS $$
DECLARE
    image text[] := ARRAY(SELECT a::text FROM of_terms() AS a);
BEGIN
    SET LOCAL cftrag.enable = off;
    RETURN QUERY SELECT a.n, a.answer FROM of_terms() WITH ORDINALITY AS a(n, answer, place) WHERE image[a.place] IS DISTINCT FROM (a.n, a.answer)::text;
    RESET cftrag.enable;
END $$;
SELECT * FROM of_terms();
SELECT * FROM of_terms_differ();
-- Another one is preferred from now on; two are; none is.
UPDATE terms SET is_main = NOT is_main WHERE concept = 'C1';
SELECT label FROM cft_entities('heart disease', 'concepts');
SELECT * FROM of_terms_differ();
UPDATE terms SET is_main = true WHERE concept = 'C1';
SELECT label FROM cft_entities('heart disease', 'concepts');
UPDATE terms SET is_main = NULL WHERE concept = 'C2';
SELECT label FROM cft_entities('heart attack', 'concepts');
-- The same name, preferred in one row and not in another.
INSERT INTO terms VALUES ('C3', 'Arrhythmia', 'Arrhythmia', true);
SELECT entity, mention, label FROM cft_entities('arrhythmia', 'concepts');
SELECT * FROM of_terms_differ();
DELETE FROM terms WHERE is_main AND concept = 'C3';
SELECT entity, mention, label FROM cft_entities('arrhythmia', 'concepts');
SELECT * FROM of_terms_differ();
SELECT cft_attach_labels('terms', entity => 'concept', label => 'term', edges => 'concepts', preferred => 'acronym');
SELECT cft_attach_labels('terms', entity => 'concept', label => 'term', edges => 'concepts', preferred => 'missing');
ALTER TABLE terms ALTER is_main TYPE text;
SELECT label FROM cft_entities('heart attack', 'concepts');
DROP ROLE regress_other_names;
DROP TABLE goods, concepts, terms CASCADE;
DROP FUNCTION of_goods, of_goods_differ, of_terms, of_terms_differ;
