-- Loads one world of the demo into an empty database and attaches cftrag. demo/run calls it, in the directory with the data,
--   with -v world=hospital   what is shipped in demo/data: 306 edges in 5 trees, 77 documents
--   or   -v world=disease    the Disease Ontology: 12,296 edges, 12,247 documents
--   and  -v stamp=...        by which the next run knows that this one came to its end, and with which files
-- Not in one transaction: an image is built from what is committed.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
SELECT :'world' = 'hospital' AS is_hospital \gset

CREATE EXTENSION cftrag CASCADE;    -- CASCADE: and pgvector's "vector", which it needs

-- A row of the hierarchy: in this tree, child belongs directly under parent.
CREATE TABLE entity_edges (tree text NOT NULL, parent text NOT NULL, child text NOT NULL);
-- The documents to search, each about one entity of the hierarchy.
CREATE TABLE documents (id text PRIMARY KEY, title text NOT NULL, body text NOT NULL, entity text NOT NULL, embedding vector(384) NOT NULL);
-- Questions that come with an embedding, so that the demo needs no model.
CREATE TABLE questions (id text PRIMARY KEY, question text NOT NULL, embedding vector(384) NOT NULL);

-- The files have tabs, a header line and no quoting; csv with a quote that never occurs says so to COPY.
CREATE TEMPORARY TABLE file_embedding (id text PRIMARY KEY, embedding vector(384) NOT NULL);
CREATE TEMPORARY TABLE file_document (id text, title text, body text, entity text);
CREATE TEMPORARY TABLE file_question (id text, question text, expects text);
\if :is_hospital
    \copy entity_edges FROM 'edges.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    \copy file_document FROM 'documents.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    \copy file_question FROM 'questions.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    \copy file_embedding FROM PROGRAM 'gzip -dc embeddings.tsv.gz' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
\else
    CREATE TEMPORARY TABLE file_edge (parent_id text, parent text, child_id text, child text);
    CREATE TEMPORARY TABLE file_asked (id text, kind text, question text, entity text, gold text);
    \copy file_edge FROM 'doid_edges.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    \copy file_document (id, title, body) FROM 'doid_documents.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    \copy file_asked FROM 'doid_questions.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    \copy file_embedding FROM PROGRAM 'gzip -dc doid_documents_embeddings.tsv.gz' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    -- Questions are numbered 0, 1, ...; documents DOID:...
    \copy file_embedding FROM PROGRAM 'gzip -dc doid_questions_embeddings.tsv.gz' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
    INSERT INTO entity_edges SELECT 'disease', parent, child FROM file_edge;
    UPDATE file_document SET entity = title;
    INSERT INTO file_question SELECT id, question, entity FROM file_asked;
\endif
INSERT INTO documents SELECT d.id, d.title, d.body, d.entity, e.embedding FROM file_document d JOIN file_embedding e USING (id);
INSERT INTO questions SELECT q.id, q.question, e.embedding FROM file_question q JOIN file_embedding e USING (id);

-- For the search by meaning. The two others are what a recursive query needs: the comparison is with a well kept table.
CREATE INDEX ON documents USING hnsw (embedding vector_cosine_ops);
CREATE INDEX ON entity_edges (child, tree, parent);
CREATE INDEX ON entity_edges (parent, tree, child);
-- From an entity to the documents about it.
CREATE INDEX ON documents (entity);
VACUUM ANALYZE entity_edges, documents, questions;

-- From here on triggers on entity_edges keep the image in shared memory fresh.
SELECT cft_attach('entity_edges', tree => 'tree') \g /dev/null
-- The first caller would build it; here it is built now, so that the first answer is fast too.
SELECT cft_build('entity_edges') \g /dev/null
-- Which columns hold the documents, and which says what each is about. What else they mention is found in their texts.
SELECT cft_attach_documents('documents', entity => 'entity', link => true) \g /dev/null

-- Last: a load that stopped before this line is repeated by the next run.
CREATE TABLE demo_stamp AS SELECT :'stamp'::text AS stamp;
