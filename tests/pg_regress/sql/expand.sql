-- Pieces of a text: what stands beside the documents found, in the order of the table.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE sections (id int PRIMARY KEY, parent_id int, title text);
INSERT INTO sections VALUES (1, NULL, 'Handbook'), (2, 1, 'Leave'), (3, 1, 'Travel'), (4, 1, 'Pay');
CREATE TABLE pieces (id int PRIMARY KEY, section int, page int, lang text, body text, embedding vector(2));
INSERT INTO pieces SELECT n, 2, 100 - n, 'en', 'leave ' || (100 - n), ARRAY[1, n]::vector FROM generate_series(91, 97) AS n;
INSERT INTO pieces VALUES (1, 3, 1, 'en', 'travel 1', '[5,1]'), (2, 3, 2, 'de', 'travel 2', '[6,1]'), (3, 3, 3, 'en', 'travel 3', NULL), (4, 4, 1, 'en', 'pay 1', '[-1,0]'), (5, NULL, 1, 'en', 'nothing', '[-1,0.1]'), (6, 3, 4, 'en', '', NULL);
SELECT cft_attach('sections', parent => 'parent_id', child => 'id', label => 'title');
SELECT oracle.build('sections');
SELECT cft_attach_documents('pieces', entity => 'section', sort => 'page', columns => '{lang}');
CREATE FUNCTION rows(embedding vector, k int, expand text, budget int DEFAULT NULL, chunks int DEFAULT 0, question text DEFAULT 'What?', filter jsonb DEFAULT NULL)
    RETURNS TABLE(source text, document_id text, text text, tokens int, why text) LANGUAGE sql AS $$
    SELECT source, document_id, replace(text, E'\n', '|'), tokens, why FROM cft_retrieve(question, embedding, k => k, chunks => chunks, expand => expand, budget => budget, filter => filter) $$;
-- Found alone: 94 is page 6. The pages beside it; all of them.
SELECT * FROM rows('[1,94]', 1, NULL);
SELECT * FROM rows('[1,94]', 1, 'siblings');
SELECT * FROM rows('[1,94]', 1, 'parent');
-- Side by side, they are one row; apart, two; more than half of them bring the others.
SELECT * FROM rows('[1,96.9]', 2, 'siblings');
SELECT document_id, text, why FROM rows('[1,0]', 2, 'siblings');
SELECT document_id, text, why FROM rows('[1,94]', 4, 'siblings');
SELECT document_id, text, why FROM rows('[1,0]', 1, 'siblings');
-- The first document, the last one, the only one, one without an entity, and pieces without a text.
SELECT document_id, text, why FROM rows('[5,1]', 1, 'siblings');
SELECT document_id, text, why FROM rows('[5,1]', 1, 'parent');
SELECT document_id, text, why FROM rows('[-1,0]', 2, 'parent');
-- The filter holds for what stands beside.
SELECT document_id, text, why FROM rows('[5,1]', 1, 'parent', filter => '{"lang": "en"}');
SELECT document_id, text, why FROM rows('[5,1]', 1, 'siblings', filter => '{"lang": "de"}');
-- As far as the budget goes.
SELECT document_id, text, tokens FROM rows('[1,94]', 1, 'parent', budget => 20);
SELECT document_id, text, tokens FROM rows('[1,94]', 1, 'parent', budget => 8);
SELECT sum(tokens) <= n, max(text) FROM generate_series(1, 24) AS n, rows('[1,94]', 2, 'parent', budget => n) GROUP BY n ORDER BY n;
-- A line says where a piece is left out.
BEGIN;
UPDATE pieces SET embedding = CASE id WHEN 3 THEN '[6,1]'::vector END WHERE id IN (2, 3);
SELECT n, document_id, text, tokens FROM generate_series(6, 24, 6) AS n, rows('[5,1]', 2, 'parent', budget => n) WHERE source = 'document';
ROLLBACK;
-- Chunks, and hits of both kinds in one row.
SELECT source, document_id, text, why FROM rows('[5,1]', 1, 'siblings', chunks => 5, question => 'travel');
SELECT cft_prompt('leave', '[1,94]', k => 1, chunks => 1, expand => 'parent');
-- By a mapping; not by links.
CREATE TABLE of_sections (entity int, document_id int);
INSERT INTO of_sections SELECT section, id FROM pieces WHERE section IS NOT NULL;
SELECT cft_attach_documents('pieces', mapping => 'of_sections');
SELECT document_id, text, why FROM rows('[1,94]', 1, 'siblings');
SELECT cft_attach_documents('pieces', link => true, edges => 'sections');
SELECT * FROM rows('[1,94]', 1, 'siblings');
SELECT cft_attach_documents('pieces', link => true, edges => 'sections', entity => 'section');
SELECT document_id, text, why FROM rows('[1,94]', 1, 'siblings');
SELECT * FROM rows('[1,94]', 1, 'cousins');
-- A mapping that says a pair twice, and a document of two sections; hits that a budget shortens.
INSERT INTO of_sections VALUES (2, 94), (3, 94);
SELECT cft_attach_documents('pieces', mapping => 'of_sections');
SELECT document_id, text, why FROM rows('[1,94]', 1, 'parent', chunks => 2, question => 'leave, travel') WHERE source <> 'hierarchy';
UPDATE pieces SET body = body || repeat(' lorem ipsum', 50) WHERE section = 2;
SELECT k, n, max(length(text)) / 4 <= n AS fits, sum(tokens) <= n AS counts FROM unnest('{2,7}'::int[]) AS k, unnest('{100,300,900}'::int[]) AS n, rows('[1,94]', k, 'parent', budget => n) GROUP BY k, n ORDER BY k, n;
-- Never other pieces than by hand: the runs of the k nearest and of their neighbours.
SELECT cft_attach_documents('pieces', entity => 'section', sort => 'page');
WITH asked AS (SELECT n, k, ARRAY[1, n]::vector AS embedding FROM generate_series(-20, 120, 7) AS n, generate_series(1, 9) AS k),
found AS (SELECT n, k, r.* FROM asked, rows(embedding, k, 'siblings') AS r WHERE r.source = 'document'),
hits AS (SELECT n, k, p.* FROM asked, LATERAL (SELECT document_id::int AS id FROM cft_nearest_documents(embedding, k)) AS d JOIN pieces AS p USING (id)),
numbered AS (SELECT id, section, body, row_number() OVER (PARTITION BY section ORDER BY page, id) AS place, count(*) OVER (PARTITION BY section) AS size FROM pieces WHERE body <> ''),
kept AS (SELECT DISTINCT h.n, h.k, o.id, o.section, o.body, o.place FROM hits AS h JOIN numbered AS p ON p.id = h.id JOIN numbered AS o ON o.section = p.section OR o.id = p.id
    WHERE abs(o.place - p.place) <= 1 AND (o.section IS NOT NULL) OR o.id = h.id
       OR 2 * (SELECT count(*) FROM hits AS i WHERE (i.n, i.k, i.section) = (h.n, h.k, h.section)) > p.size),
runs AS (SELECT n, k, section, string_agg(body, '|' ORDER BY place) AS text FROM (SELECT *, place - row_number() OVER (PARTITION BY n, k, section ORDER BY place) AS run FROM kept) AS z GROUP BY n, k, section, run)
SELECT count(*) FILTER (WHERE r.text IS NULL OR f.text IS NULL) AS differ, count(*) > 100 AS are_many FROM runs AS r FULL JOIN found AS f USING (n, k, text);
DROP TABLE pieces, sections, of_sections CASCADE;
