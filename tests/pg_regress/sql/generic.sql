-- cft_retrieve and cft_prompt: an entity that is said to be above another one of the question adds nothing; of very many descendants the number is said.
\a\t
SET client_min_messages = warning;
CREATE TABLE gen (tree text, parent text, child text);
SELECT cft_attach('gen', tree => 'tree');
INSERT INTO gen VALUES ('a', 'disease', 'cancer'), ('a', 'cancer', 'lung cancer'), ('a', 'cancer', 'breast cancer'), ('a', 'disease', 'syndrome'), ('b', 'breast cancer', 'disease'),
    ('a', 'round', 'trip'), ('a', 'trip', 'round'), ('a', 'round', 'alone');
SELECT oracle.build('gen');
CREATE FUNCTION said(question text, trees text[] DEFAULT NULL, mode text DEFAULT 'cft', budget int DEFAULT NULL) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT f.text FROM cft_retrieve(question, NULL, mode => mode, trees => trees, budget => budget, edges => 'gen') AS f ORDER BY f.rank $$;
SELECT said('Is lung cancer a cancer or a disease?');
SELECT said('Is lung cancer a cancer or a disease?', mode => 'naive');
-- Only in the trees that are asked for; of entities that are above each other all are said.
SELECT said('breast cancer, disease', '{a}');
SELECT said('breast cancer, disease', '{b}');
SELECT said('breast cancer, disease');
SELECT said('round trip');
-- Only in the tree in which it is above, and as far as that is said.
INSERT INTO gen VALUES ('b', 'cancer', 'mole');
SELECT said('Is lung cancer a cancer?');
SELECT said('lung cancer or disease', '{a}');
SELECT f.text FROM cft_retrieve('lung cancer or disease', NULL, up => 1, trees => '{a}', edges => 'gen') AS f;
SELECT f.text FROM cft_retrieve('lung cancer or cancer', NULL, up => 0, down => 1, trees => '{a}', edges => 'gen') AS f;
-- A hundred are named.
INSERT INTO gen SELECT 'a', 'syndrome', 'syndrome, ' || n FROM generate_series(1, 100) AS n;
SELECT left(t, 90), right(t, 30) FROM said('Which syndrome?') AS t;
INSERT INTO gen VALUES ('a', 'syndrome', 'one more');
SELECT said('Which syndrome?');
-- With a budget, as many names as it has room for.
SELECT said('Which syndrome?', budget => 160);
SELECT said('Which syndrome or breast cancer?', '{a}');
SELECT said('Which syndrome?', mode => 'naive');
SELECT cft_prompt('Which syndrome?', NULL, edges => 'gen');
-- A table with a policy, which the reference query answers.
CREATE ROLE generic_reader;
GRANT SELECT ON gen TO generic_reader;
ALTER TABLE gen ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_of_it ON gen USING (true);
SET ROLE generic_reader;
SELECT said('Which syndrome or lung cancer or cancer?');
SELECT cftrag_internal.cft_those(ARRAY['lung cancer', 'syndrome', 'round', 'mole'], 'gen', NULL, '{cancer,trip}'), cftrag_internal.cft_those(ARRAY['lung cancer', 'mole'], 'gen', '{b}', '{cancer}');
RESET ROLE;
DROP TABLE gen;
DROP FUNCTION said;
DROP ROLE generic_reader;
-- By the reference query above many, in cycles: each entity once.
CREATE TABLE dense (parent text, child text);
SELECT setseed(0.7);
INSERT INTO dense SELECT 'n' || (random() * 60)::int, 'n' || (random() * 60)::int FROM generate_series(1, 260);
SELECT cft_attach('dense');
SET statement_timeout = '20s';
SET cftrag.enable = off;
SELECT count(*) > 0 AS said FROM cft_retrieve('n1, n2, n3, n4, n5', NULL, edges => 'dense');
SELECT cardinality(cftrag_internal.cft_those(ARRAY['n1', 'n2', 'n3', 'none'], 'dense', NULL, '{n10}')) AS those;
RESET ALL;
DROP TABLE dense;
