-- Namesakes told apart by the text (cft_entities(..., narrow => true)): by what is above them. The image gives what the definition gives (sql/entities.sql).
\a\t
SET client_min_messages = warning;
CREATE TABLE shop (id int PRIMARY KEY, parent_id int REFERENCES shop, name text, site text);
INSERT INTO shop VALUES (1, NULL, 'Cellar', 'a'), (2, NULL, 'Attic', 'a'), (11, 1, 'Shelves', 'a'), (21, 2, 'Shelves', 'a'),
    (3, NULL, 'Boys'' clothing', 'a'), (4, NULL, 'Girls'' clothing', 'a'), (5, 3, 'Boots', 'a'), (6, 4, 'Boots', 'a'),
    (7, NULL, 'Electronics', 'b'), (8, 7, 'Laptops', 'b'), (9, 7, 'Phones', 'b'), (10, 8, 'Accessories', 'b'), (12, 9, 'Accessories', 'b'), (13, 12, 'Cables', 'b'), (14, 10, 'Cables', 'b'),
    (15, 10, 'Accessories', 'b'), (16, NULL, 'Home & Garden', 'b'), (17, 16, 'Tools', 'b'), (18, 7, 'Tools', 'b'),
    (30, NULL, 'World', 'c'), (31, 30, 'USA', 'c'), (32, 31, 'Texas', 'c'), (33, 32, 'Paris', 'c'), (34, 30, 'France', 'c'), (35, 34, 'Paris', 'c'), (36, 16, 'Kitchen', 'b'), (37, 36, 'Chairs', 'b'),
    (38, 16, 'Garden', 'b'), (39, 38, 'Chairs', 'b'), (40, NULL, 'Laces', 'b'), (41, 40, 'Laces', 'b'), (42, 41, 'Tips', 'b'), (43, 40, 'Tips', 'b');
SELECT cft_attach('shop', 'parent_id', 'id', label => 'name');
SELECT oracle.build('shop');
CREATE FUNCTION finds(question text, narrow boolean DEFAULT true, match text DEFAULT NULL) RETURNS TABLE(finds text) LANGUAGE sql AS $$
    SELECT e.mention || ' = ' || string_agg(e.entity, ' ' ORDER BY e.entity::int) FROM cft_entities(question, 'shop', match => match, narrow => narrow) AS e GROUP BY e.start, e.mention ORDER BY e.start $$;
SELECT finds('Attic > Shelves');
SELECT finds('shelves in the attic; accessories for laptops');
-- What is said of one and more of another; nothing goes of which the text says something else.
SELECT finds('Paris in Texas, USA'), finds('Compare Paris, Texas, USA with Paris, France');
SELECT finds('kitchen tables and garden chairs'), finds('tips of laces');
SELECT finds('cables of laptop accessories, electronics');
SELECT finds('boots for a boy; girls boots'), finds('boots, nothing else');
SELECT finds('tools for the garden'), finds('garden or electronics tools');
-- What the very name is about says nothing; nor do function words.
SELECT finds('accessories'), finds('accessories and accessories of the');
-- Not asked for.
SELECT finds('shelves in the attic', false), finds('shelves in the attic', NULL), finds('shelves in the attic', match => 'exact');
-- Paths.
SELECT * FROM cft_resolve('Attic > Shelves', edges => 'shop');
SELECT * FROM cft_resolve('electronic / Laptop → Cable', edges => 'shop');
SELECT * FROM cft_resolve('Cellar > Boots', edges => 'shop');
SELECT * FROM cft_resolve(' > Boots', edges => 'shop');
SELECT * FROM cft_resolve('Phones > Accessories > Cables', edges => 'shop', match => 'exact');
-- The prompt is about what the question means.
SELECT cft_prompt('Which accessories are there for phones?', NULL, edges => 'shop');
SELECT count(*) FROM cft_retrieve('Which accessories are there for phones?', NULL, edges => 'shop', narrow => false);
-- The image and the definition: random forests with many namesakes, in trees, within, first mentions, other spellings.
CREATE TABLE woods (tree text, parent text, child text);
CREATE TABLE called (entity text, alias text);
SELECT cft_attach('woods', tree => 'tree');
SELECT cft_attach_aliases('called', 'alias', edges => 'woods');
SELECT setseed(0.5);
INSERT INTO woods SELECT CASE WHEN random() < 0.2 THEN NULL ELSE chr(97 + floor(random() * 3)::int) END, 'n' || floor(random() * 60), 'n' || floor(random() * 60) FROM generate_series(1, 150);
INSERT INTO called SELECT DISTINCT 'n' || floor(random() * 60), (ARRAY['red', 'blue', 'green box', 'box', 'red boxes', 'lamp of glass', 'glass', 'the lamp', 'blues', 'bike'])[1 + floor(random() * 10)] FROM generate_series(1, 90);
CREATE FUNCTION answer(question text, trees text[], within text[], overlapping boolean, match text, first boolean, images boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE found text[];
BEGIN
    PERFORM set_config('cftrag.enable', images::text, true);
    IF first THEN
        SELECT array_agg(e::text ORDER BY e::text) INTO found FROM cftrag_internal.cft_first_mentions(question, 'woods', trees, within, match, true) AS e;
    ELSE
        SELECT array_agg(e::text) INTO found FROM cft_entities(question, 'woods', trees, within, overlapping, match, true) AS e;
    END IF;
    RETURN found;
END $$;
SELECT count(*) AS asked, count(*) FILTER (WHERE i.found IS NOT NULL) AS found, count(*) FILTER (WHERE i.found IS DISTINCT FROM d.found) AS different
  FROM unnest(ARRAY['red n5 and the blue lamp', 'a box of glass, n7, n8; green boxes', 'bike bike n12 bike', 'red red red blue n1 n2 n3 n4 n6 n9', 'glass lamp lampe reds n20; n21 n22 n30']) AS q (question),
       (VALUES (NULL::text[], NULL::text[]), ('{a,b}', NULL), ('{NULL,c}', NULL), (NULL, '{n1,n2,n3,n5}'), ('{a}', '{n1,n7,n9}')) AS t (trees, within),
       (VALUES (false, false), (true, false), (false, true)) AS o (overlapping, first), (VALUES ('exact'), ('fuzzy')) AS m (match),
       answer(question, trees, within, overlapping, match, first, true) AS i (found),
       answer(question, trees, within, overlapping, match, first, false) AS d (found);
-- An ancestor that the caller may not see narrows nothing.
CREATE ROLE regress_narrow;
GRANT SELECT ON shop TO regress_narrow;
ALTER TABLE shop ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_attic ON shop TO regress_narrow USING (id <> 2 AND parent_id IS DISTINCT FROM 2 OR id = 21);
CREATE POLICY no_laptops ON shop AS RESTRICTIVE TO regress_narrow USING (name <> 'Laptops');
SET ROLE regress_narrow;
SELECT finds('shelves in the attic; accessories for laptops');
SET cftrag.enable = off;
SELECT finds('shelves in the attic; accessories for laptops');
RESET cftrag.enable;
RESET ROLE;
DROP TABLE shop, woods, called;
DROP FUNCTION finds, answer;
DROP ROLE regress_narrow;
