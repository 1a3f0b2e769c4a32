-- cft_retrieve, mode hybrid: reciprocal rank fusion of the nearest documents, those with the question's words, and those about its entities.
\a\t
SET client_min_messages = warning;
SET cftrag.budget = 0;
\set SHOW_CONTEXT never
CREATE TABLE wards (parent text, child text);
INSERT INTO wards VALUES ('hospital', 'cardiology'), ('cardiology', 'heart clinic'), ('hospital', 'nephrology');
SELECT cft_attach('wards');
CREATE TABLE docs (id int PRIMARY KEY, entity text, body text, lang jsonb, embedding vector(3), words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED, plain tsvector);
INSERT INTO docs (id, entity, body, lang, embedding) VALUES
    (1, 'heart clinic', 'Opening hours are from nine to five.', '{"l": "en"}', '[1,0,0]'),
    (2, 'cardiology', 'The department has twelve beds.', '{"l": "en"}', '[0,1,0]'),
    (3, 'nephrology', 'Dialysis is open on Mondays; the hours vary.', '{"l": "en"}', '[0.9,0.1,0]'),
    (4, 'nephrology', 'Kidney disease, and it''s \ ''quoted'' & more.', '{"l": "de"}', '[0,0,1]'),
    (5, NULL, 'A zebra in the corridor.', '{"l": "en"}', '[0,0.1,1]'),
    (6, 'hospital', NULL, '{"l": "en"}', '[0.5,0.5,0]');
UPDATE docs SET plain = to_tsvector('simple', body);
ALTER TABLE docs SET (autovacuum_enabled = false);
CREATE INDEX ON docs USING gin (words);
CREATE FUNCTION hybrid(question text, embedding vector, k int = 3, filter jsonb = NULL, within text[] = NULL) RETURNS TABLE (source text, id text, rank int, entity text, why text) LANGUAGE sql AS $$
    SELECT r.source, r.document_id, r.rank, r.entity, r.why FROM cft_retrieve(question, embedding, k => k, mode => 'hybrid', filter => filter, within => within) AS r $$;
CREATE FUNCTION uses_index(name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    statement text := cftrag_internal.cft_search_statement('docs', 'words');
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || regexp_replace(regexp_replace(statement, '\$6', '''zebra''', 'g'), '\$[1-9]', 'NULL', 'g') INTO plan;
    RETURN plan::text ~ name;
END $$;
SELECT cft_attach_documents('docs', entity => 'entity');
SELECT * FROM hybrid('hours', '[1,0,0]');
SELECT cft_attach_documents('docs', entity => 'entity', metadata => 'lang', search => 'words');
SELECT * FROM hybrid('When is the heart clinic open?', '[1,0,0]');
-- Words that the vectors do not know, and a text without any that count; no embedding; no question.
SELECT * FROM hybrid('zebras', '[1,0,0]', 2);
SELECT * FROM hybrid('the of and', '[1,0,0]', 2);
SELECT * FROM hybrid('zebras', NULL, 2);
SELECT * FROM hybrid(NULL, '[1,0,0]', 1);
SELECT * FROM hybrid('', NULL, 1);
SELECT * FROM hybrid('it''s \ ''quoted'' & (more | !kidney) <-> :*', NULL, 2);
-- A question that no tsvector holds: without statistics its 64 longest words are counted, and no document has these.
SELECT count(*) FROM hybrid(repeat('zebras ', 3) || (SELECT string_agg('w' || n, ' ') FROM generate_series(1, 300000) AS n), NULL, 2);
-- Filtered, within, and none.
SELECT * FROM hybrid('open hours, kidney', '[1,0,0]', 5, '{"l": "en"}', '{nephrology}');
SELECT * FROM hybrid('open hours, kidney', '[1,0,0]', 0);
-- By the definition: 1 / (60 + place) over the lists; what is about the entity that is named first.
WITH near AS (SELECT document_id AS id, n FROM cft_nearest_documents('[0.6,0.4,0.2]', 50) WITH ORDINALITY AS d(document_id, entity, body, tokens, distance, n)),
     word AS (SELECT id::text, row_number() OVER (ORDER BY ts_rank(words, q, 1) DESC, id::text) AS n FROM docs, to_tsquery('english', 'dialysis | hours | beds | nephrology') AS q WHERE words @@ q),
     about AS (SELECT document_id AS id, n FROM cft_chunks(ARRAY['nephrology'], '[0.6,0.4,0.2]') WITH ORDINALITY AS c(entity, relation, depth, relative, document_id, body, tokens, distance, n)),
     fused AS (SELECT id, sum(1.0 / (60 + n)) AS score FROM (TABLE near UNION ALL TABLE word UNION ALL TABLE about) AS z GROUP BY 1)
SELECT (SELECT array_agg(id ORDER BY id IN (SELECT d.id::text FROM docs AS d WHERE d.entity = 'nephrology') DESC, score DESC, id) FROM fused) = (SELECT array_agg(id ORDER BY rank) FROM hybrid('Dialysis hours and beds in nephrology', '[0.6,0.4,0.2]', 50) WHERE source = 'document') AS same;
-- A column of texts with an index for it; a tsvector of another configuration; what has neither.
CREATE INDEX by_body ON docs USING gin (to_tsvector('english', body));
SELECT cft_attach_documents('docs', entity => 'entity', metadata => 'lang', search => 'body');
SELECT * FROM hybrid('zebras', NULL, 2);
SET enable_seqscan = off;
SELECT uses_index('by_body') AS by_index;
RESET enable_seqscan;
SELECT cft_attach_documents('docs', entity => 'entity', search => 'plain');
SET default_text_search_config = simple;
SELECT * FROM hybrid('zebras', NULL, 2);
SELECT * FROM hybrid('zebra', NULL, 2);
RESET default_text_search_config;
DROP INDEX by_body;
SELECT cft_attach_documents('docs', entity => 'entity', search => 'body');
SELECT cft_attach_documents('docs', entity => 'entity', search => 'id');
SELECT cft_attach_documents('docs', entity => 'entity', search => 'embedding');
-- Documents of no entity, and the prompt.
SELECT cft_attach_documents('docs', search => 'words');
SELECT * FROM hybrid('zebras in the heart clinic', '[0,0,1]', 2);
SELECT cft_prompt('zebras in the heart clinic', '[0,0,1]', k => 1, mode => 'hybrid');
DROP TABLE wards, docs;
DROP FUNCTION hybrid, uses_index;

-- Rare words: a document that has the one that matters is before those that have many frequent ones, once ANALYZE has counted them.
CREATE TABLE tickets (id int PRIMARY KEY, body text, entity text, embedding vector(2) DEFAULT '[1,1]', words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
INSERT INTO tickets (id, body) SELECT n, 'the printer shows an error when printing, printer error ' || 'code page ' || n % 7 FROM generate_series(1, 3000) AS n;
INSERT INTO tickets (id, body) VALUES (4000, 'ticket TX4711 closed'), (4001, 'the printer and TX4711');
CREATE INDEX ON tickets USING gin (words);
CREATE TABLE org (parent text, child text);
SELECT cft_attach('org');
SELECT cft_attach_documents('tickets', search => 'words');
CREATE FUNCTION by_words(question text) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(document_id ORDER BY rank) FROM cft_retrieve(question, NULL, k => 3, mode => 'hybrid', documents => 'tickets', edges => 'org') WHERE source = 'document' $$;
SELECT by_words('printer error when printing TX4711');
ANALYZE tickets;
SELECT (by_words('printer error when printing TX4711'))[1:2];
SELECT cardinality(by_words('the printer error'));
SELECT by_words('it''s \ ''quoted'' TX4711');
-- A word that all have does not look them up.
SELECT cardinality(by_words('TX4711 printer')) AS those_with_the_rare_word;
SELECT cardinality(by_words('TX9999 printer')) AS those_with_any;
-- The same by an index on texts; who may not read statistics finds all words alike; policies hide them.
ALTER TABLE tickets ADD plain text;
UPDATE tickets SET plain = body;
CREATE INDEX ON tickets USING gin (to_tsvector('english', plain));
ANALYZE tickets;
SELECT cft_attach_documents('tickets', search => 'plain');
SELECT (by_words('printer error when printing TX4711'))[1:2];
CREATE ROLE regress_words;
GRANT SELECT ON tickets, org TO regress_words;
ALTER TABLE tickets ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON tickets USING (id % 2 = 0);
SET ROLE regress_words;
SELECT by_words('TX4711');
RESET ROLE;
DROP TABLE tickets, org;
DROP FUNCTION by_words;
DROP ROLE regress_words;

-- A rare word beside a name: the document that has it is among the first three, though others stand in the middle of two lists.
CREATE TABLE shop (parent text, child text);
INSERT INTO shop VALUES ('goods', 'boats'), ('boats', 'kayaks'), ('boats', 'rafts'), ('goods', 'tents');
SELECT cft_attach('shop');
CREATE TABLE notes (id int PRIMARY KEY, entity text, body text, embedding vector(2), words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
INSERT INTO notes SELECT n, (ARRAY['kayaks', 'tents', 'boats'])[1 + n % 3], 'The customer asks for a ' || (ARRAY['kayak', 'tent', 'boat'])[1 + n % 3] || ' of size ' || n % 17 || ', and paddles.', ARRAY[1, n % 3 + 0.001 * n]::vector
  FROM generate_series(1, 600) AS n;
INSERT INTO notes VALUES (1000, 'tents', 'Ticket TCK-48213: a zip is broken.', '[-1,0]'), (1001, NULL, 'Sizes of zips.', '[-1,0]');
CREATE INDEX ON notes USING gin (words);
CREATE INDEX ON notes (entity);
SELECT cft_attach_documents('notes', entity => 'entity', search => 'words');
CREATE FUNCTION those(question text, embedding vector = '[1,0]', mode text = NULL) RETURNS TABLE (id text, rank int, entity text, why text) LANGUAGE sql AS $$
    SELECT r.document_id, r.rank, r.entity, r.why FROM cft_retrieve(question, embedding, edges => 'shop', documents => 'notes', mode => mode) AS r WHERE source = 'document' $$;
SELECT count(*) FILTER (WHERE id = '1000') AS found, count(*) FROM those('What about the kayaks of ticket TCK-48213?');
ANALYZE notes;
SELECT * FROM those('What about the kayaks of ticket TCK-48213?');
SELECT id, rank FROM those('What about the kayaks of ticket TCK-48213?', NULL) WHERE id = '1000';
SELECT id, rank FROM those('What about the kaykas of ticket TCK-48213?', NULL) WHERE id = '1000';
-- No more words than the mention's: what is about the mention is first; and what it is written as is no word of its own.
SELECT why ~ 'by (reciprocal rank|what the question names)', entity, count(*) FROM those('kayaks') GROUP BY 1, 2;
SELECT why ~ 'by (reciprocal rank|what the question names)', entity, count(*) FROM those('kaykas') GROUP BY 1, 2;
-- Words that many documents have are none beside it.
SELECT why ~ 'by (reciprocal rank|what the question names)', count(*) FROM those('Which customer asks for kayaks and paddles?') GROUP BY 1;
-- The mode that search has is the default; without it, cft.
SELECT bool_and((a.id, a.why) = (b.id, b.why)) FROM those('tents of size 3') AS a JOIN those('tents of size 3', mode => 'hybrid') AS b USING (rank);
SELECT bool_and(why ~ 'nearest documents') FROM those('tents of size 3', mode => 'cft');
SELECT cft_attach_documents('notes', entity => 'entity');
SELECT bool_and((a.id, a.why) = (b.id, b.why)) FROM those('tents of size 3') AS a JOIN those('tents of size 3', mode => 'cft') AS b USING (rank);
SELECT count(*) FROM those('tents', mode => 'hybrid');
DROP TABLE notes, shop;
DROP FUNCTION those;

-- As an attacker asked: a code beside a mention whose own words are rare; pairs of words behind the rarest; k documents while there are k; partitions; policies;
-- an index that is gone.
CREATE TABLE shop (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO shop VALUES (1, NULL, 'Root'), (2, 1, 'Widget pump');
SELECT cft_attach('shop', parent => 'parent_id', child => 'id', label => 'name');
CREATE TABLE notes (id int PRIMARY KEY, entity int, body text, embedding vector(2) DEFAULT '[1,1]', words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
CREATE INDEX ON notes USING gin (words);
CREATE FUNCTION refill(body text, count int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE notes;
    EXECUTE format('INSERT INTO notes SELECT i, 2, CASE %s END FROM generate_series(1, %s) AS i', body, count);
    ANALYZE notes;
END $$;
CREATE FUNCTION ids(question text, embedding vector = NULL, k int = 5) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(r.document_id ORDER BY rank) FROM cft_retrieve(question, embedding, k => k, chunks => 0, edges => 'shop', documents => 'notes') AS r WHERE source = 'document' $$;
SELECT cft_attach_documents('notes', entity => 'entity', search => 'words', columns => '{entity}', show => '{id}');
SELECT refill($$WHEN i = 4711 THEN 'case TK4711 closed' WHEN i = 10 THEN 'the widget pump' ELSE 'text ' || i$$, 5000);
SELECT (ids('What about TK4711 and the widget pump?', '[1,1]'))[1] AS first, (ids('What about TK4711 and the widget pump?'))[1] AS without_embedding;
SELECT refill($$WHEN i = 4711 THEN 'case TK4711 closed' WHEN i BETWEEN 10 AND 109 THEN 'about the widget pump' ELSE 'text ' || i$$, 5000);
SELECT (ids('What about TK4711 and the widget pump?', '[1,1]'))[1] AS first;
SELECT refill($$WHEN i <= 150 THEN 'gammaxx' WHEN i <= 320 THEN 'alphaxx' WHEN i <= 500 THEN 'betaxx' WHEN i = 501 THEN 'alphaxx betaxx' ELSE 'other'$$, 20000);
SELECT (ids('gammaxx alphaxx betaxx'))[1] AS first, (ids('gammaxx alphaxx betaxx', k => 300))[1] AS of_many, cardinality(ids('gammaxx alphaxx betaxx', k => 300));
SELECT refill($$WHEN i = 777 THEN 'TK777' WHEN i <= 1000 THEN 'printer' ELSE 'other'$$, 20000);
SELECT cardinality(ids('TK777 printer')) AS five, cardinality(ids('TK777 printer', k => 300)) AS three_hundred, (ids('TK777 printer'))[1] AS first;
-- Bounds leave few of the rare ones: the others count.
INSERT INTO notes SELECT 30000 + i, 1, 'printer' FROM generate_series(1, 3) AS i;
SELECT count(*) AS three FROM cft_retrieve('TK777 gammaxx printer', NULL, k => 3, chunks => 0, edges => 'shop', documents => 'notes', filter => '{"entity": 1}') WHERE source = 'document';
-- Without statistics words are counted: of a table under a policy, of an index of another role's, of one that was never analysed.
SELECT refill($$WHEN i = 777 THEN 'ticket TK777' ELSE 'about the widget pump ' || i$$, 2000);
CREATE ROLE regress_words;
GRANT SELECT ON notes, shop TO regress_words;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON notes USING (true);
SET ROLE regress_words;
SELECT (ids('TK777 about the widget pump', '[1,1]'))[1] AS under_a_policy;
RESET ROLE;
ALTER POLICY all_rows ON notes USING (id <> 777);
SET ROLE regress_words;
SELECT '777' = ANY (ids('TK777 about the widget pump', k => 2000)) AS hidden, cardinality(ids('TK777 about the widget pump', k => 2000)) AS others;
RESET ROLE;
ALTER TABLE notes DISABLE ROW LEVEL SECURITY;
CREATE INDEX by_body ON notes USING gin (to_tsvector('english', body));
SELECT cft_attach_documents('notes', entity => 'entity', search => 'body');
SET ROLE regress_words;
SELECT (ids('TK777 about the widget pump', '[1,1]'))[1] AS by_anothers_index;
RESET ROLE;
-- The default goes on by what is left; who asks for hybrid is told.
DROP INDEX by_body;
SELECT cardinality(ids('TK777 about the widget pump', '[1,1]')) AS without_index;
SELECT count(*) FROM cft_retrieve('TK777', '[1,1]', mode => 'hybrid', edges => 'shop', documents => 'notes');
DROP TABLE notes;
CREATE TABLE notes (id int, entity int, body text, embedding vector(2) DEFAULT '[1,1]', words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED) PARTITION BY RANGE (id);
CREATE TABLE notes_1 PARTITION OF notes DEFAULT;
INSERT INTO notes SELECT i, 2, CASE i WHEN 777 THEN 'ticket TK777' ELSE 'about the widget pump ' || i END FROM generate_series(1, 2000) AS i;
CREATE INDEX ON notes USING gin (words);
SELECT cft_attach_documents('notes', entity => 'entity', search => 'words');
SELECT (ids('TK777 about the widget pump', '[1,1]'))[1] AS not_analysed;
ANALYZE notes;
SELECT (ids('TK777 about the widget pump', '[1,1]'))[1] AS of_partitions;
CREATE VIEW some_notes AS SELECT * FROM notes WHERE id > 500;
SELECT cft_attach_documents('some_notes', entity => 'entity', search => 'words');
SELECT document_id FROM cft_retrieve('TK777 about the widget pump', '[1,1]', k => 1, chunks => 0, edges => 'shop', documents => 'some_notes') WHERE source = 'document';
-- An empty format of documents is none; a zero vector is an error everywhere.
SELECT cft_prompt('TK777', NULL, k => 1, edges => 'shop', documents => 'notes', document_template => '') ~ '\[1\] .*: ticket TK777' AS as_usual;
SELECT count(*) FROM cft_tree_search('[0,0]', edges => 'shop', documents => 'notes');
DROP VIEW some_notes;
DROP TABLE notes, shop;
DROP FUNCTION ids, refill;
DROP ROLE regress_words;
