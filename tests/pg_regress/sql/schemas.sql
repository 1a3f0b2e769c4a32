-- pgvector in one schema, cftrag in another, the tables in a third, and a search_path that names the last only. Another encoding.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT current_database() AS here \gset
CREATE DATABASE regress_cft_schemas TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C';
\c regress_cft_schemas
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SET client_encoding = 'UTF8';
CREATE SCHEMA "Vec %L tor";
CREATE SCHEMA "Cft %s %I rag";
CREATE SCHEMA data;
CREATE EXTENSION vector SCHEMA "Vec %L tor";
SET client_min_messages = error; CREATE EXTENSION cftrag SCHEMA "Cft %s %I rag"; SET client_min_messages = warning;
CREATE TABLE data.edges (parent text, child text);
INSERT INTO data.edges VALUES ('Müdigkeit', 'Schläfrigkeit'), ('Schläfrigkeit', 'Gähnen');
CREATE TABLE data.docs (id int, body text, embedding "Vec %L tor".vector(2), entity text);
INSERT INTO data.docs VALUES (1, 'Über das Gähnen.', '[1,0]', 'Gähnen'), (2, 'Über Müdigkeit.', '[0,1]', 'Müdigkeit');
CREATE TABLE data.halves (id int, body text, embedding "Vec %L tor".halfvec(2));
INSERT INTO data.halves VALUES (1, 'eins', '[1,0]'), (2, 'zwei', '[0,1]');
CREATE INDEX ON data.halves USING hnsw (embedding "Vec %L tor".halfvec_l2_ops);
SET search_path = data;
SELECT "Cft %s %I rag".cft_attach('data.edges');
SELECT "Cft %s %I rag".cft_attach_documents('data.docs', entity => 'entity');
SELECT tgname, tgfoid::regproc FROM pg_trigger WHERE tgrelid = 'data.docs'::regclass;
SELECT "Cft %s %I rag".cft_context_text('Schläfrigkeit');
SELECT "Cft %s %I rag".cft_context_json('Gähnen', 1, 0);
SELECT "Cft %s %I rag".cft_context_text('Schläfrigkeit', template => 'Über {entity}: {relatives}');
SET cftrag.template = 'Über {entity}';
SELECT "Cft %s %I rag".cft_context_text('Gähnen');
RESET cftrag.template;
SET cftrag.prompt_template = 'Über {question}';
SELECT "Cft %s %I rag".cft_prompt('Gähnen?', NULL);
RESET cftrag.prompt_template;
SELECT source, document_id, text, why FROM "Cft %s %I rag".cft_retrieve('Warum GÄHNEN wir?', '[0,1]', k => 1, up => 2);
SELECT source, text FROM "Cft %s %I rag".cft_retrieve('Warum gähnen wir?', '[0,1]', k => 0, chunks => 0, mode => 'naive');
SELECT "Cft %s %I rag".cft_prompt('Warum gähnen wir?', '[1,0]', k => 1, up => 1, chunks => 0);
SELECT entity, method FROM "Cft %s %I rag".cft_resolve('schläfrigkeit');
SELECT entity, method FROM "Cft %s %I rag".cft_resolve('Schlaf', '[0,1]', 1);
SELECT "Cft %s %I rag".cft_detach('data.docs');
-- Another type of pgvector's, with its own operators.
SELECT "Cft %s %I rag".cft_attach_documents('data.halves');
SELECT document_id, distance FROM "Cft %s %I rag".cft_nearest_documents('[0,1]', 2);
\c :here
DROP DATABASE regress_cft_schemas;
