-- Names that a text writes otherwise: plurals, accents, joined and split words, another order, abbreviations. What each rule finds, and that the image
-- gives what the definition gives (sql/entities.sql).
\a\t
SET client_min_messages = warning;
CREATE TABLE goods (parent text, child text);
INSERT INTO goods SELECT 'Shop', unnest(ARRAY['Rucksacks', 'Raincoats', 'Hiking socks', 'Socks', 'Knife', 'Hand bags', 'Sac à main', 'Swimming suits',
    'Scarf', 'Children''s boots', 'Boots for children', 'Grey jumpers', 'Woollen socks', 'Gruyère', 'Королёв', 'Αθήνα', 'IT', 'NSAIDS', 'C++', 'The', '12 34']);
INSERT INTO goods SELECT 'Disease', unnest(ARRAY['Carcinoma of the renal pelvis', 'Duchenne muscular dystrophy', 'Horner''s syndrome', 'Tumour',
    'Arthritis', 'acute kidney failure', 'kidney', 'kidney failure', 'muscular dystrophy']);
SELECT cft_attach('goods');
SELECT oracle.build('goods');
CREATE FUNCTION finds(question text, match text DEFAULT 'fuzzy', overlapping boolean DEFAULT false) RETURNS TABLE(finds text) LANGUAGE sql AS $$
    SELECT format('%s = %s, %s', e.mention, e.entity || coalesce(' by ' || e.via_alias, ''), e.method || ' ' || e.score)
      FROM cft_entities(question, 'goods', overlapping => overlapping, match => match) AS e $$;
-- Another number, joined and split words, accents, British and American.
SELECT finds('A rucksack, rain coats, a raincoat, hand-bag, handbags; sac a main, swimmingsuit; knives, scarves');
SELECT finds('gray jumper, woolen sock; Gruyere, Королев, ΑΘΗΝΑ; tumors and the Horner syndrome; arthritides');
-- A longer name wins over a part of it, whatever the rule; a name that is there is not given up for one that crosses it.
SELECT finds('hiking sock, socks');
SELECT finds('hiking sock', overlapping => true);
-- Another order, function words aside.
SELECT finds('renal pelvis carcinoma; a boot for a child; pelvis of the carcinoma, renal; failure of the kidney');
-- Abbreviations.
SELECT finds('Duchenne muscular dystrophy (DMD) is rare. Is DMD, are DMDs, is dmd? AKF (acute kidney failure), then AKF. XYZ (kidney). DMD (kidney failure): DMD');
-- Errors of typing: in a word of four letters or more that no name has, one for each name; two errors from nine letters; names of one word from six.
SELECT finds('hikking socks, wolen socks; a rucksak, a rucsack, a rxcksak; sokcs, knfie, gryere; hand bgas');
SELECT finds('Duchenen muscular dystrophy, acute kidny failure, muscular dystrofie; Duchenen muscluar dystrophy');
SELECT finds('arthritus, athritis, arthritiss');
-- A word with a digit is none that may be wrong, in the text or in the name.
BEGIN;
INSERT INTO goods VALUES ('Protein', 'interleukin2 receptor');
SELECT finds('interleukine receptor, interleukin receptor, interleukin3 receptor, interleukin2 recepter');
SET LOCAL cftrag.enable = off;
SELECT finds('interleukine receptor, interleukin receptor, interleukin3 receptor, interleukin2 recepter');
ROLLBACK;
-- Names that a text joins: what they have in common is said once, and each of them must be a name.
SELECT finds('hiking and woolen socks; red, woollen, hiking or childrens'' sock');
SELECT finds('Hiking and red socks; a (hiking & woollen sock)');
SELECT finds('hiking socks and woollen socks; hand and rain coats; acute kidney and kidney failure');
SELECT finds('hiking and woollen socks', overlapping => true);
-- A paragraph, a cell and a sentence end a name.
SELECT finds(E'hiking and\n\nwoollen socks; hiking\tand woollen socks; rain. Coats, a "rain." Coat, hand... bags, hand bag');
-- Names that list several things, by each of them, unless something else is called so.
BEGIN;
INSERT INTO goods VALUES ('Shop', 'Hats, Caps & Scarves'), ('Shop', 'Pet Carriers & Crates'), ('Shop', 'Gloves and Mittens'), ('Shop', 'Caps & caps'), ('Shop', 'Set & Sets'), ('Shop', 'SPOON & Spoons'), ('Shop', 'Ties'),
    ('Disease', 'breast and ovarian cancer'), ('Disease', 'carcinoma, renal');
SELECT finds('a crate, the pet carrier; petcarriers; mitten, glove & hats; cap; scarves. It is set; breast, renal, ovarian cancer');
SELECT finds('hats, caps and scarf; spoon, tie');
SET LOCAL cftrag.enable = off;
SELECT finds('a spoon');
SET LOCAL cftrag.enable = on;
SELECT finds('crates', match) FROM (VALUES ('exact'), ('inflected'), ('fuzzy')) AS v (match);
DELETE FROM goods WHERE child IN ('Hats, Caps & Scarves', 'Caps & caps');
SELECT finds('a hat, cap');
ROLLBACK;
SELECT finds('a hat, crates');
-- What stands in brackets at the end of a name says which one it is.
BEGIN;
INSERT INTO goods VALUES ('Planet', 'Mercury (planet)'), ('Element', 'Mercury (element)'), ('Disease', 'Asthma (disorder)'), ('Disease', 'Venus'), ('Planet', 'Venus (planet)');
SELECT finds('mercury, the venus, asthma; Mercury (planet)');
SET LOCAL cftrag.enable = off;
SELECT finds('mercury, the venus, asthma; Mercury (planet)');
ROLLBACK;
-- What is a common word is not corrected to a name of one word.
BEGIN;
INSERT INTO goods VALUES ('Disease', 'Cancer'), ('Disease', 'Stroke');
SELECT finds('a dancer on strike; cancr, stroek');
ROLLBACK;
-- A word that some name has is no error of typing, nor is one with a digit.
BEGIN;
INSERT INTO goods VALUES ('Shop', 'Raincoots'), ('Shop', 'Rucksac');
SELECT finds('a raincoot, a raincoet, a rucksac; rucks4cks');
ROLLBACK;
SELECT finds('a raincoot, a raincoet, a rucksac; rucks4cks');
-- Short capitals stay capitals, common words and names that need their punctuation are not guessed at; nor are numbers.
SELECT finds('it, ITs, nsaid, NSAIDs, c, thes, 123 4, 12 34');
SELECT finds('it, The', match) FROM (VALUES ('exact'), ('inflected'), ('fuzzy')) AS v (match);
-- What each value of match finds; NULL is the setting.
SELECT match, array_agg(finds) FROM (VALUES ('exact'), ('inflected'), ('fuzzy'), (NULL)) AS v (match),
       finds('socks, rucksack, pelvis carcinoma of renal', match) GROUP BY match ORDER BY match;
SET cftrag.match = 'inflected';
SELECT finds('socks, rucksack, pelvis carcinoma of renal', NULL);
SET cftrag.match = 'fuzzy';
SELECT finds('socks, rucksack, pelvis carcinoma of renal', NULL);
RESET cftrag.match;
SELECT finds('socks', 'guess');
\set VERBOSITY terse
SELECT * FROM cft_resolve('Socks', edges => 'goods', match => 'guess');
\set VERBOSITY default
SET cftrag.match = 'guess';
SELECT finds('', 'fuzzy'), finds(' . ', 'fuzzy');

-- The image and the definition, over tables of names, trees and within.
CREATE TABLE other_names (alias text, entity text);
INSERT INTO other_names VALUES ('backpacks', 'Rucksacks'), ('anoraks', 'Raincoats'), ('bag', 'Hand bags'), ('kidney disease of the acute kind', 'acute kidney failure'),
    ('tumor', 'Tumour'), ('boots', 'Boots for children'), ('AKI', 'acute kidney failure'), ('sock', 'Hiking socks');
SELECT cft_attach_aliases('other_names', edges => 'goods');
CREATE TABLE shelves (id int PRIMARY KEY, parent_id int, name text, shop text);
INSERT INTO shelves VALUES (1, NULL, 'Goods', 'north'), (2, 1, 'Rucksacks', 'north'), (3, 1, 'Rain coats', 'south'), (4, 2, 'Rucksack', 'south'), (5, 4, 'Raincoats', NULL),
    (6, 3, 'Hats & Caps', 'north'), (7, 3, 'Caps and hats', 'south'), (8, 1, 'Children''s hats', 'north'), (9, 1, '', NULL), (10, 1, NULL, 'north');
SELECT cft_attach('shelves', 'parent_id', 'id', 'shop', label => 'name');
CREATE FUNCTION answer(edges regclass, question text, trees text[], within text[], overlapping boolean, match text, images boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE found text[];
BEGIN
    PERFORM set_config('cftrag.enable', images::text, true);
    SELECT array_agg(e::text) INTO found FROM cft_entities(question, edges, trees, within, overlapping, match) AS e;
    RETURN found;
END $$;
SELECT count(*) AS asked, count(*) FILTER (WHERE i.found IS NOT NULL) AS found, count(*) FILTER (WHERE i.found IS DISTINCT FROM d.found) AS different
  FROM (VALUES ('goods'::regclass, NULL::text[], '{Shop}'::text[]), ('shelves', '{north,NULL}', '{2,3}')) AS t (edges, trees, within),
       (VALUES (false), (true)) AS o (overlapping), (VALUES ('exact'), ('inflected'), ('fuzzy')) AS m (match),
       (VALUES (false, false), (true, false), (false, true)) AS n (in_trees, are_within),
       unnest(ARRAY['A rucksack and rucksacks, rain-coats, raincoat; the backpack, an anorak; tumors, tumours. Hiking sock, boots for a child',
                    'hats, caps; caps & hat of children, childrens hats, a child''s hat', 'acute kidney failure (AKF) of kidneys; AKF, AKFs, AKI. The kidney disease, acute kind',
                    'Duchenne’s muscular dystrophy (DMD) muscular dystrophies; dystrophy, muscular DMD', repeat('sock hand bag s, rain coats of child ', 3), 'a ruksack, hand-bgas and bacpacks of chldren; kidny disease of the acute kind, Duchenen muscular dystrophy, raincats',
                    'hiking and woollen socks; hand, hiking, woolen or wool sock; woollen and hiking socks, hand and rain coats; (rain or hand bags). child''s and rain coats, woolen, hiking, Horner''s and/or woollen socks', '']) AS q (question),
       answer(edges, question, CASE WHEN in_trees THEN trees END, CASE WHEN are_within THEN within END, overlapping, match, true) AS i (found),
       answer(edges, question, CASE WHEN in_trees THEN trees END, CASE WHEN are_within THEN within END, overlapping, match, false) AS d (found);
-- Names that are not committed are found by their own transaction; names that are gone are not.
BEGIN;
INSERT INTO goods VALUES ('Shop', 'Umbrellas');
DELETE FROM goods WHERE child = 'Rucksacks';
SELECT finds('an umbrella, a rucksack');
ROLLBACK;
SELECT finds('an umbrella, a rucksack');
SELECT * FROM cft_verify('goods');
-- Another language: its rules, not those of English.
CREATE TABLE waren (parent text, child text);
INSERT INTO waren SELECT 'Laden', unnest(ARRAY['Häuser', 'Schuhe für Kinder', 'Regenjacke', 'Tumour']);
SELECT cft_attach('waren', language => 'german');
SELECT oracle.build('waren');
SELECT e.entity, e.mention, e.method FROM cft_entities('ein Hauser; Kinder Schuh, Regenjacken, Regnjacke, tumor, tumours', 'waren', match => 'fuzzy') AS e;
SELECT answer('waren', q, NULL, NULL, o, 'fuzzy', true) IS NOT DISTINCT FROM answer('waren', q, NULL, NULL, o, 'fuzzy', false) AS same
  FROM (VALUES ('ein Hauser; Kinder Schuh, Regenjacken, Regnjacke, tumor, tumours')) AS v (q), (VALUES (true), (false)) AS w (o);
DROP TABLE goods, other_names, shelves, waren;
DROP FUNCTION finds, answer;
