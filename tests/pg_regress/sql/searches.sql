-- The statement of every search of a table of documents (src/retrieve/search.rs): everything has its schema, so the caller's search_path does not matter.
\a\t
SET client_min_messages = warning;
CREATE SCHEMA "Lib""rary";
CREATE TABLE "Lib""rary".shelf (parent int, child int);
CREATE TABLE "Lib""rary"."Books" ("Id" int PRIMARY KEY, body text, about int, tokens int, embedding vector(2), metadata jsonb, words tsvector);
CREATE TABLE "Lib""rary".notes (id text, body varchar(100), topic text COLLATE "C", embedding halfvec(2));
CREATE TABLE "Lib""rary".topics (entity uuid, document_id text);
SELECT cft_attach('"Lib""rary".shelf');
SELECT cft_attach_documents('"Lib""rary"."Books"', id => 'Id', entity => 'about', tokens => 'tokens', metadata => 'metadata', search => 'words');
SELECT cft_attach_documents('"Lib""rary".notes', mapping => '"Lib""rary".topics');
SELECT s.by, s.within, s.filter, cftrag_internal.cft_search_statement('"Lib""rary"."Books"', s.by, s.within, CASE WHEN s.filter THEN '{"a": 1, "b": {"$lt": 2}}'::jsonb END)
  FROM (VALUES ('nearest', false, false), ('nearest', true, true), ('nearest with ties', false, false), ('exactly', false, false), ('words', false, false), ('words', true, true),
               ('about', false, false), ('about by distance', false, true), ('centroid', true, false)) AS s(by, within, filter);
SELECT s.by, s.within, cftrag_internal.cft_search_statement('"Lib""rary".notes', s.by, s.within)
  FROM (VALUES ('nearest', false), ('nearest', true), ('about by distance', false), ('centroid', true)) AS s(by, within);
SELECT cftrag_internal.cft_search_statement('"Lib""rary".notes', 'nearest', false, '{"a": 1}');
SELECT cftrag_internal.cft_search_statement('"Lib""rary".notes', 'words');
SELECT cftrag_internal.cft_search_statement('"Lib""rary".notes', 'sideways');
-- The same rows whatever search_path says, where a schema before pg_catalog has functions of the same names (lookalikes.sql has all calls).
INSERT INTO "Lib""rary".shelf VALUES (1, 2), (2, 3);
INSERT INTO "Lib""rary"."Books" SELECT n, 'Book ' || n, 1 + n % 3, NULL, ARRAY[n, 1]::vector, '{"a": 1}', to_tsvector('english', 'book') FROM generate_series(1, 9) AS n;
CREATE TEMP TABLE here AS SELECT r::text AS row
  FROM cft_retrieve('book 2', '[1,0]', 3, edges => '"Lib""rary".shelf', documents => '"Lib""rary"."Books"', mode => 'hybrid', within => '{2}', filter => '{"a": 1}') AS r;
SELECT count(*) FROM here;
BEGIN;
CREATE FUNCTION "Lib""rary".min(text) RETURNS text LANGUAGE sql AS $$ SELECT 'x'::text WHERE 1 / 0 = 1 $$;
CREATE FUNCTION "Lib""rary".char_length(text) RETURNS int LANGUAGE sql AS $$ SELECT 1 / 0 $$;
CREATE FUNCTION "Lib""rary".ts_rank(tsvector, tsquery) RETURNS real LANGUAGE sql AS $$ SELECT 1 / 0::real $$;
SET LOCAL search_path = "Lib""rary", pg_catalog, public;
CREATE TEMP TABLE there AS SELECT r::text AS row
  FROM cft_retrieve('book 2', '[1,0]', 3, documents => '"Books"', edges => 'shelf', mode => 'hybrid', within => '{2}', filter => '{"a": 1}') AS r;
SELECT (SELECT pg_catalog.array_agg(h.row) FROM here AS h) = (SELECT pg_catalog.array_agg(t.row) FROM there AS t) AS same;
ROLLBACK;

-- What is not as it seems is said. Documents of an array of entities: which statement works.
CREATE TABLE many (id int, body text, entities text[], tags jsonb, embedding vector(2));
SELECT cft_attach_documents('many', entity => 'entities');
SELECT cft_attach_documents('many', entity => 'tags');
CREATE TABLE pairs (entity text[], document_id int);
CREATE TABLE vectors (entity jsonb, embedding vector(2));
SELECT cft_attach_documents('many', mapping => 'pairs');
SELECT cft_attach_embeddings('vectors', edges => '"Lib""rary".shelf');
-- An embedding without a direction, one of other dimensions; k and its NULL; documents without a text.
CREATE TABLE texts (id int, body text, about int, embedding vector(2));
INSERT INTO texts VALUES (1, NULL, 1, '[1,0]'), (2, '', 1, '[1,0]'), (3, 'Three.', 1, '[1,0.1]'), (4, 'Four.', 2, '[0,1]');
SELECT cft_attach_documents('texts', entity => 'about');
SELECT document_id FROM cft_nearest_documents('[1,0]', 2, documents => 'texts');
SELECT document_id FROM cft_chunks('1', edges => '"Lib""rary".shelf', documents => 'texts');
SELECT source, document_id FROM cft_retrieve('2', '[1,0]', 1, edges => '"Lib""rary".shelf', documents => 'texts');
SELECT document_id FROM cft_nearest_documents('[0,0]', 2, documents => 'texts');
SELECT * FROM cft_retrieve('2', '[0,0]', 2, edges => '"Lib""rary".shelf', documents => 'texts');
SELECT * FROM cft_chunks('1', '[0,0]', edges => '"Lib""rary".shelf', documents => 'texts');
SELECT * FROM cft_chunks('1', '[1,0,0]', edges => '"Lib""rary".shelf', documents => 'texts');
CREATE TABLE halves (id int, body text, embedding halfvec(2));
INSERT INTO halves VALUES (1, 'One.', '[0,1]');
SELECT cft_attach_documents('halves');
SELECT document_id FROM cft_nearest_documents('[1e-9,0]', documents => 'halves');
SELECT document_id FROM cft_nearest_documents('[1e-7,0]', documents => 'halves');
SELECT count(*) FROM cft_nearest_documents('[1,0]', documents => 0);
-- What can never fit a budget takes no memory.
INSERT INTO texts SELECT 100 + n, repeat('x', 4000000), 3, '[1,0.01]' FROM generate_series(1, 10) AS n;
SET cftrag.work_memory = '16MB';
SELECT source, document_id FROM cft_retrieve('2', '[1,0]', NULL, budget => 100, edges => '"Lib""rary".shelf', documents => 'texts');
RESET cftrag.work_memory;
DELETE FROM texts WHERE id > 100;
SELECT * FROM cft_nearest_documents('[1,0]', NULL, documents => 'texts');
SELECT * FROM cft_nearest_entities('[1,0]', NULL, edges => '"Lib""rary".shelf', documents => 'texts');
SELECT * FROM cft_retrieve('2', '[1,0]', NULL, edges => '"Lib""rary".shelf', documents => 'texts');
SELECT source, document_id FROM cft_retrieve('2', '[1,0]', NULL, budget => 100, edges => '"Lib""rary".shelf', documents => 'texts');
-- Several tables of documents, and none named: without an embedding, too.
SET search_path = public, "Lib""rary";
SELECT * FROM cft_retrieve('2', NULL, edges => 'shelf');
RESET search_path;
DROP SCHEMA "Lib""rary" CASCADE;
DROP TABLE many, texts, pairs, vectors, halves;
-- An entity that is asked for by its label.
CREATE TABLE tents (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO tents VALUES (1, NULL, 'Camping'), (2, 1, 'Tents');
SELECT cft_attach('tents', parent => 'parent_id', child => 'id', label => 'name');
RESET client_min_messages;
SELECT count(*) FROM cft_context('Tents', edges => 'tents');
SELECT cft_context_text('it''s a tent', edges => 'tents');
SELECT count(*) FROM cft_context('2', edges => 'tents');
SELECT count(*) FROM (VALUES ('Tents'), ('2')) AS v(name), cft_context(v.name, edges => 'tents');
DROP TABLE tents;
