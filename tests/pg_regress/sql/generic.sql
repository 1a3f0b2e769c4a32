-- cft_retrieve and cft_prompt: an entity above another one of the question adds nothing; of very many descendants the number is said.
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
SELECT cftrag_internal.cft_lowest(ARRAY['disease', 'none', NULL, 'lung cancer', 'syndrome', 'disease'], 'gen', '{a}'), cftrag_internal.cft_lowest(NULL, 'gen', NULL), cftrag_internal.cft_lowest('{}', 'gen', NULL);
-- A hundred are named.
INSERT INTO gen SELECT 'a', 'syndrome', 'syndrome, ' || n FROM generate_series(1, 100) AS n;
SELECT left(t, 90), right(t, 30) FROM said('Which syndrome?') AS t;
INSERT INTO gen VALUES ('a', 'syndrome', 'one more');
SELECT said('Which syndrome?');
SELECT said('Which syndrome?', budget => 60);
SELECT said('Which syndrome?', budget => 25);
SELECT said('Which syndrome or breast cancer?', '{a}');
SELECT said('Which syndrome?', mode => 'naive');
SELECT cft_prompt('Which syndrome?', NULL, edges => 'gen');
-- In a larger forest, a hundredth of its rows.
INSERT INTO gen SELECT 'c', 'root ' || n % 20000, 'leaf ' || n FROM generate_series(1, 20000) AS n;
ANALYZE gen;
SELECT left(t, 90) FROM said('Which syndrome?') AS t;
INSERT INTO gen SELECT 'a', 'syndrome', 'case ' || n FROM generate_series(1, 200) AS n;
SELECT said('Which syndrome?');
DROP TABLE gen;
DROP FUNCTION said;
