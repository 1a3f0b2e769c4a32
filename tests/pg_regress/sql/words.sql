-- Words of the same class stand for each other in names (cft_attach_words). The image gives what the definition gives (sql/entities.sql).
\a\t
SET client_min_messages = warning;
CREATE TABLE illness (parent text, child text);
INSERT INTO illness SELECT 'Disease', unnest(ARRAY['Kidney failure', 'Hip dysplasia', 'Skin cancer', 'Renal cell carcinoma', 'Cutaneous edema', 'First-degree burn', 'Kidney', 'IT dysplasia']);
SELECT cft_attach('illness');
SELECT oracle.build('illness');
CREATE TABLE words (word text, class text);
INSERT INTO words VALUES ('kidney', 'k'), ('renal', 'k'), ('dysplasia', 'd'), ('dysplastic', 'd'), ('skin', 's'), ('cutaneous', 's'), ('edema', 'e'), ('swelling', 'e'),
    ('first', '1'), ('1st', '1'), ('Nephros', 'k'), ('lung and heart', 'k'), (NULL, 'k'), ('alone', NULL), ('tumour', 't'), ('cancer', 't'), ('oedema', 'o'), ('dropsy', 'o');
CREATE FUNCTION finds(question text, match text DEFAULT 'fuzzy', overlapping boolean DEFAULT false) RETURNS TABLE(finds text) LANGUAGE sql AS $$
    SELECT format('%s = %s, %s', e.mention, e.entity || coalesce(' by ' || e.via_alias, ''), e.method || ' ' || e.score)
      FROM cft_entities(question, 'illness', overlapping => overlapping, match => match) AS e $$;
-- Nothing is attached yet.
SELECT finds('renal failure');
SET client_min_messages = notice;
SELECT cft_attach_words('words', edges => 'illness');
SELECT cft_attach_words('words', edges => 'illness');
SET client_min_messages = warning;
-- Another word of the class, also in another number, and in another order if fuzzy.
SELECT finds('renal failure; Renal Failures; a dysplastic hip, dysplastic hips; cutaneous tumors; skin-swelling; 1st-degree burn; kidney-cell carcinomas');
SELECT finds('renal failure; a dysplastic hip', match) FROM (VALUES ('exact'), ('inflected')) AS v (match);
-- One word of a name, not two; a name of one word; a longer name wins; several words of a text may be one; a class has single words.
SELECT finds('cutaneous dropsy, skin oedema, skin dropsy');
SELECT finds('renal; nephros failure; lung and heart failure');
SELECT finds('renal failure, kidney failure', overlapping => true);
-- An abbreviation that stands behind it, and what a text joins, means the same.
SELECT finds('renal failure (RF); RF again. Renal failure and dysplastic hip');
-- A capital, a sentence: as for any other rule.
SELECT finds('it dysplastic; IT dysplastic; renal. Failure');
SELECT entity, method, score FROM cft_resolve('renal failure', edges => 'illness');
-- Aliases and labels, trees and within; the image and the definition.
CREATE TABLE other_names (alias text, entity text);
INSERT INTO other_names VALUES ('nephric failure', 'Kidney failure'), ('renal insufficiency', 'Kidney failure'), ('swelling of the skin', 'Cutaneous edema');
SELECT cft_attach_aliases('other_names', edges => 'illness');
CREATE TABLE labelled (id int PRIMARY KEY, parent_id int, name text, book text);
INSERT INTO labelled VALUES (1, NULL, 'Illness', 'a'), (2, 1, 'Kidney failure', 'a'), (3, 1, 'renal failure', 'b'), (4, 2, 'kidney failures', 'b'), (5, 3, 'Hip dysplasia', NULL);
SELECT cft_attach('labelled', 'parent_id', 'id', 'book', label => 'name');
SELECT cft_attach_words('words', edges => 'labelled');
CREATE FUNCTION answer(edges regclass, question text, trees text[], within text[], overlapping boolean, match text, images boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE found text[];
BEGIN
    PERFORM set_config('cftrag.enable', images::text, true);
    SELECT array_agg(e::text) INTO found FROM cft_entities(question, edges, trees, within, overlapping, match) AS e;
    RETURN found;
END $$;
SELECT count(*) AS asked, count(*) FILTER (WHERE i.found IS NOT NULL) AS found, count(*) FILTER (WHERE i.found IS DISTINCT FROM d.found) AS different
  FROM (VALUES ('illness'::regclass, NULL::text[], '{Disease}'::text[]), ('labelled', '{a,NULL}', '{2,3}')) AS t (edges, trees, within),
       (VALUES (false), (true)) AS o (overlapping), (VALUES ('exact'), ('inflected'), ('fuzzy')) AS m (match),
       (VALUES (false, false), (true, false), (false, true)) AS n (in_trees, are_within),
       unnest(ARRAY['Renal failure, kidney''s failure; cutaneous tumours of the skin, nephric failure (NF), kidney insufficiency, NF',
                    'dysplastic, hip; failures of renal kidneys; cutaneous swelling of the cutaneous; swelling skin tumor', repeat('renal failure dysplastic hip kidney ', 5),
                    '1st degree burns, first degree burns; kidneys, renal cells carcinoma; carcinoma of a kidney cell; dropsy', 'l''oedema, skin''s oedema, d''swelling renal.Failure']) AS q (question),
       answer(edges, question, CASE WHEN in_trees THEN trees END, CASE WHEN are_within THEN within END, overlapping, match, true) AS i (found),
       answer(edges, question, CASE WHEN in_trees THEN trees END, CASE WHEN are_within THEN within END, overlapping, match, false) AS d (found);
-- Rows of words count as the snapshot sees them.
BEGIN;
DELETE FROM words WHERE word = 'renal';
INSERT INTO words VALUES ('blindness', 'f'), ('failure', 'f');
SELECT finds('renal failure, kidney blindness');
ROLLBACK;
SELECT finds('renal failure, kidney blindness');
-- Words whose folded form is another one, and words that no text can have.
BEGIN;
INSERT INTO words VALUES ('straße', 'w'), ('weg', 'w'), ('νεφρός', 'k'), ('e-mail', 'm'), ('mail', 'm'), ('心臓', 'h'), ('heart', 'h');
INSERT INTO illness VALUES ('Disease', 'Weg zum Markt'), ('Disease', 'heart attack'), ('Disease', 'TV');
SELECT finds('Straße zum Markt, STRASSE zum Markt, νεφρός failure, ΝΕΦΡΌΣ failure; e-mail attack');
SET LOCAL cftrag.enable = off;
SELECT finds('Straße zum Markt, STRASSE zum Markt, νεφρός failure, ΝΕΦΡΌΣ failure; e-mail attack');
SET LOCAL client_min_messages = notice;
SELECT cft_detach('words');
SELECT cft_attach_words('words', edges => 'illness');
ROLLBACK;
-- The first 16 words of a class, by bytes.
BEGIN;
INSERT INTO words SELECT 'a' || lpad(i::text, 3, '0'), 'k' FROM generate_series(1, 40) AS i;
SELECT finds('a007 failure, renal failure'), current_setting('cftrag.enable') AS enabled;
SET LOCAL cftrag.enable = off;
SELECT finds('a007 failure, renal failure');
INSERT INTO illness VALUES ('Disease', 'a003 failure');
SELECT finds('renal failure');
ROLLBACK;
-- Other types, renamed columns, several tables.
CREATE TYPE mood AS ENUM ('skin', 'derma');
CREATE TABLE more_words (w mood, c jsonb);
INSERT INTO more_words VALUES ('skin', '{"a": 1}'), ('derma', '{"a": 1}');
SELECT cft_attach_words('more_words', 'w', 'c', 'illness');
ALTER TABLE more_words RENAME w TO "a {word}";
SELECT finds('derma cancer, cutaneous cancer');
SET cftrag.enable = off;
SELECT finds('derma cancer, cutaneous cancer');
RESET cftrag.enable;
ALTER TABLE more_words DROP COLUMN c;
ALTER TABLE more_words DROP COLUMN c CASCADE;
SELECT finds('derma cancer, cutaneous cancer');
-- Rights, and policies.
CREATE ROLE regress_words;
GRANT SELECT ON illness, other_names TO regress_words;
SET ROLE regress_words;
SELECT finds('kidney failure', 'exact');
SELECT finds('renal failure');
CREATE TABLE pg_temp.own_words (word text, class text);
SELECT cft_attach_words('own_words', edges => 'illness');
DROP TABLE own_words;
RESET ROLE;
GRANT SELECT ON words TO regress_words;
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_kidneys ON words TO regress_words USING (class <> 'k');
SET ROLE regress_words;
SELECT finds('renal failure, dysplastic hip');
SELECT cft_attach_words('words', edges => 'illness');
SELECT cft_detach('words');
RESET ROLE;
SELECT finds('renal failure, dysplastic hip');
-- Errors.
SELECT cft_attach_words(NULL, edges => 'illness');
SELECT cft_attach_words('words', 'word', 'word', 'illness');
SELECT cft_attach_words('words', 'wort', edges => 'illness');
SELECT cft_attach_words('words', edges => 'words');
CREATE VIEW word_view AS TABLE words;
SELECT cft_attach_words('word_view', edges => 'illness');
UPDATE words SET word = word;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'words'::regclass;
-- Another language.
CREATE TABLE leiden (parent text, child text);
INSERT INTO leiden VALUES ('Leiden', 'Nierenversagen'), ('Leiden', 'Krebs der Haut');
SELECT cft_attach('leiden', language => 'german');
CREATE TABLE woerter (word text, class int);
INSERT INTO woerter VALUES ('krebs', 1), ('tumore', 1);
SELECT cft_attach_words('woerter', edges => 'leiden');
SELECT entity, mention, method FROM cft_entities('Tumor der Haut, Tumore der Haut, Hautkrebs', 'leiden');
SELECT cft_detach('words');
SELECT cft_detach('words');
SELECT finds('renal failure, dysplastic hip');
DROP TABLE illness, words, other_names, labelled, more_words, leiden, woerter CASCADE;
DROP TYPE mood;
DROP FUNCTION finds, answer;
DROP ROLE regress_words;
