-- Documents: attached by a trigger that never fires; renamed, dropped, dumped with their table. cft_chunks: the documents about an
-- entity and its relatives.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE edge (tree text, parent text, child text);
INSERT INTO edge VALUES ('t', 'medicine', 'cardiology'), ('t', 'cardiology', 'clinic'), ('u', 'east wing', 'clinic'), ('t', 'clinic', 'ward');
SELECT cft_attach('edge', tree => 'tree');
SELECT oracle.build('edge');
CREATE TABLE doc (id int PRIMARY KEY, body text, embedding vector(3), entity text, size int);
INSERT INTO doc VALUES (1, 'About the clinic.', '[1,0,0]', 'clinic', 10), (2, 'About cardiology.', '[0,1,0]', 'cardiology', 20),
    (3, 'About the ward.', '[0,0,1]', 'ward', 30), (4, 'About nothing.', '[1,1,0]', NULL, NULL), (5, NULL, NULL, 'clinic', 5),
    (6, 'About the clinic too.', '[1,0,1]', 'clinic', 10), (7, 'About nobody we know.', '[0,1,1]', 'nobody', 10);

-- Not attached.
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT * FROM cftrag_internal.cft_attached_documents('doc');
SELECT cft_detach('doc');
SELECT * FROM cft_chunks('clinic');
-- Attached: one trigger, which never fires.
SELECT cft_attach_documents('doc', entity => 'entity');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'doc'::regclass AND NOT tgisinternal;
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT * FROM cft_chunks('clinic', NULL, 2, 1);
SELECT document_id, depth, round(distance::numeric, 3) AS distance, tokens FROM cft_chunks(ARRAY['ward', NULL, 'clinic'], '[1,0,1]', 1, 1);
SELECT * FROM cft_chunks('clinic', '[1,0]');
SELECT * FROM cft_chunks('nobody');
SELECT * FROM cft_chunks('nothing at all');
SELECT * FROM cft_chunks(NULL::text);
-- The plain definition.
CREATE FUNCTION plain_chunks(entity text, up int, down int) RETURNS TABLE (document_id text, depth int) LANGUAGE sql AS $$
    SELECT d.id::text, min(n.depth)
      FROM (SELECT $1 AS name, 0 AS depth UNION ALL SELECT relative, depth FROM cft_context($1, $2, $3, 'edge')) AS n JOIN doc AS d ON d.entity = n.name
     WHERE d.body <> '' GROUP BY d.id $$;
SELECT name, up, down FROM (SELECT parent FROM edge UNION SELECT child FROM edge UNION VALUES ('nobody')) AS s(name), generate_series(0, 3) AS up, generate_series(0, 2) AS down
 WHERE (SELECT array_agg(p::text ORDER BY p::text) FROM plain_chunks(name, up, down) AS p)
       IS DISTINCT FROM (SELECT array_agg(r::text ORDER BY r::text) FROM (SELECT document_id, depth FROM cft_chunks(name, NULL, up, down, 'edge')) AS r);
-- Again, with other columns: it replaces. One column may have two roles.
SELECT cft_attach_documents('doc', body => 'entity', entity => 'entity', tokens => 'size');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'doc'::regclass AND NOT tgisinternal;
SELECT document_id, body, tokens FROM cft_chunks('clinic', NULL, 1, 0);
SELECT document_id, body, tokens, round(distance::numeric, 3) AS distance FROM cft_nearest_documents('[1,1,0]', 3);
SELECT cft_attach_documents('doc', entity => 'entity');

-- The table's and the columns' names follow; a column that is needed is not dropped without CASCADE.
ALTER TABLE doc RENAME TO "Doc's";
ALTER TABLE "Doc's" RENAME id TO "the id";
ALTER TABLE "Doc's" RENAME body TO "a ""text""";
ALTER TABLE "Doc's" RENAME entity TO "%I";
CREATE SCHEMA "Elsewhere";
ALTER TABLE "Doc's" SET SCHEMA "Elsewhere";
SET search_path = "Elsewhere", public;
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT document_id, body FROM cft_chunks('clinic', NULL, 1, 0);
SELECT document_id, entity, body FROM cft_nearest_documents('[1,0,0]', 2);
-- A column of the old name is another column.
ALTER TABLE "Elsewhere"."Doc's" ADD COLUMN entity text DEFAULT 'clinic';
SELECT count(*) FROM cft_chunks('clinic', NULL, 0, 0);
\set VERBOSITY terse
ALTER TABLE "Elsewhere"."Doc's" DROP COLUMN "%I";
\set VERBOSITY default
-- Transactional.
BEGIN;
SELECT cft_detach('"Elsewhere"."Doc''s"');
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
ROLLBACK;
SELECT relation, id FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
BEGIN;
ALTER TABLE "Elsewhere"."Doc's" DROP COLUMN "%I" CASCADE;
SELECT count(*) FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()');
ROLLBACK;
ALTER TABLE "Elsewhere"."Doc's" SET SCHEMA public;
RESET search_path;
ALTER TABLE "Doc's" RENAME TO doc;
ALTER TABLE doc DROP COLUMN entity;
ALTER TABLE doc RENAME "the id" TO id;
ALTER TABLE doc RENAME "a ""text""" TO body;
ALTER TABLE doc RENAME "%I" TO entity;
-- It costs a writer nothing: the trigger does not run.
CREATE FUNCTION triggers_of(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || statement INTO plan;
    RETURN jsonb_array_length(plan -> 0 -> 'Triggers');
END $$;
SELECT triggers_of('UPDATE doc SET body = body WHERE id = 1');

-- A mapping table instead of a column: a document may be about several entities.
CREATE TABLE about (who text, which int);
INSERT INTO about VALUES ('clinic', 2), ('ward', 2), ('clinic', 3), ('clinic', 3), ('nobody', 1), (NULL, 4), ('ward', NULL);
SELECT cft_attach_documents('doc', mapping => 'about', mapping_entity => 'who', mapping_document => 'which');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'about'::regclass AND NOT tgisinternal;
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT document_id, relation, depth, relative FROM cft_chunks('clinic');
SELECT document_id, entity FROM cft_nearest_documents('[0,1,1]', 3);
-- Attaching again with equal arguments does nothing, and takes no lock; other arguments are a new registration.
SELECT array_agg(oid ORDER BY oid) AS before FROM pg_trigger WHERE tgrelid IN ('about'::regclass, 'doc'::regclass) \gset
BEGIN;
SELECT cft_attach_documents('doc', mapping => 'about', mapping_entity => 'who', mapping_document => 'which');
SELECT mode FROM pg_locks WHERE relation = 'doc'::regclass AND mode LIKE '%Exclusive%';
COMMIT;
SELECT array_agg(oid ORDER BY oid) = :'before' AS same FROM pg_trigger WHERE tgrelid IN ('about'::regclass, 'doc'::regclass);
BEGIN;
SELECT cft_attach_documents('doc', tokens => 'size', mapping => 'about', mapping_entity => 'who', mapping_document => 'which');
SELECT tokens, mapping FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT cft_attach_documents('doc', tokens => 'size');
SELECT tokens, mapping FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
ROLLBACK;
-- The mapping goes with either table; with the mapping gone no document is about anything.
BEGIN;
DROP TABLE about;
SELECT * FROM cft_chunks('clinic');
ROLLBACK;
BEGIN;
DROP TABLE doc;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'about'::regclass AND NOT tgisinternal;
ROLLBACK;
SELECT cft_detach('doc');
SELECT tgname FROM pg_trigger WHERE tgrelid IN ('about'::regclass, 'doc'::regclass) AND NOT tgisinternal;

-- A view and a partitioned table of documents; two of them attached.
CREATE VIEW shown AS SELECT id, upper(body) AS body, embedding, entity FROM doc;
SELECT cft_attach_documents('shown', entity => 'entity');
SELECT document_id, body FROM cft_chunks('clinic', NULL, 0, 0);
CREATE TABLE parted (id text, body text, embedding vector(3), entity varchar(20)) PARTITION BY LIST (entity);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN ('clinic');
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT id, body, embedding, entity FROM doc;
SELECT cft_attach_documents('parted', entity => 'entity');
SELECT document_id FROM cft_chunks('clinic', NULL, 1, 0, documents => 'parted');
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT * FROM cft_chunks('clinic');
DROP VIEW shown;
DROP TABLE parted;

-- Entities of another type, and of other collations.
CREATE TABLE numbered (id uuid DEFAULT gen_random_uuid(), body text, embedding vector(3), entity bigint);
CREATE TABLE numbers (parent bigint, child bigint);
INSERT INTO numbers VALUES (1, 2), (2, 3);
INSERT INTO numbered (body, entity) VALUES ('one', 1), ('two', 2);
SELECT cft_attach('numbers');
SELECT cft_attach_documents('numbered', entity => 'entity');
SELECT relative, body FROM cft_chunks('3', NULL, 2, 0, 'numbers');
DROP TABLE numbered, numbers;
CREATE TABLE collated (id int, body text COLLATE "POSIX", embedding vector(3), entity text COLLATE "POSIX");
INSERT INTO collated VALUES (1, 'x', '[1,1,1]', 'clinic');
SELECT cft_attach_documents('collated', entity => 'entity');
SELECT relative, body FROM cft_chunks('ward', NULL, 1, 0);
DROP TABLE collated;

-- Names that would be SQL, or a format, if they were taken for it.
CREATE SCHEMA "%s""; DROP TABLE doc; --";
CREATE COLLATION "%s""; DROP TABLE doc; --"."%1$s OR true" FROM "C";
CREATE TABLE "%s""; DROP TABLE doc; --"."x%I" ("%1$s" int, "%" text, "e%2$I" vector(3), "n%3$L'" text COLLATE "%s""; DROP TABLE doc; --"."%1$s OR true");
INSERT INTO "%s""; DROP TABLE doc; --"."x%I" VALUES (1, 'x', '[1,1,1]', 'clinic'), (2, 'y', '[1,1,1]', 'nobody');
SELECT cft_attach_documents('"%s""; DROP TABLE doc; --"."x%I"', '%1$s', '%', 'e%2$I', 'n%3$L''');
SET search_path = "%s""; DROP TABLE doc; --", public;
SELECT document_id, body FROM cft_chunks('clinic', NULL, 0, 0);
SELECT document_id, entity FROM cft_nearest_documents('[1,1,1]');
SELECT source, document_id FROM cft_retrieve('the clinic', '[1,1,1]', k => 1) WHERE source <> 'hierarchy';
RESET search_path;
DROP SCHEMA "%s""; DROP TABLE doc; --" CASCADE;

-- Several rows of one id are several chunks; a NULL id is an id like another.
CREATE TABLE chunked (id text, body text, embedding vector(3), entity text);
INSERT INTO chunked VALUES ('b', 'two', '[1,1,1]', 'clinic'), ('b', 'one', '[1,1,1]', 'clinic'), (NULL, 'none', '[1,1,1]', 'clinic'), ('a', 'three', '[1,1,1]', 'clinic'), ('b', 'one', '[1,1,1]', 'clinic');
SELECT cft_attach_documents('chunked', entity => 'entity');
SELECT document_id, body FROM cft_chunks('clinic');
SELECT document_id, body FROM cft_nearest_documents('[1,1,1]', 3);
SELECT source, document_id, text FROM cft_retrieve('clinic', '[1,1,1]', k => 3) WHERE source <> 'hierarchy';
-- Ids that cannot be compared.
CREATE TABLE other_ids (entity text, document_id int);
\set VERBOSITY sqlstate
SELECT cft_attach_documents('chunked', mapping => 'other_ids');
\set VERBOSITY default
DROP TABLE chunked, other_ids;

-- Distance: the operator of the index, else cosine.
SELECT cft_attach_documents('doc', entity => 'entity');
SELECT * FROM cftrag_internal.cft_distance('doc', 'embedding');
CREATE INDEX doc_ip ON doc USING hnsw (embedding vector_ip_ops);
SELECT * FROM cftrag_internal.cft_distance('doc', 'embedding');
SELECT document_id, distance FROM cft_nearest_documents('[1,1,0]', 2);
DROP INDEX doc_ip;
CREATE INDEX doc_partial ON doc USING hnsw (embedding vector_l2_ops) WHERE id > 5;
SELECT operator FROM cftrag_internal.cft_distance('doc', 'embedding');
DROP INDEX doc_partial;
CREATE INDEX doc_l2 ON doc USING hnsw (embedding vector_l2_ops);
SELECT operator FROM cftrag_internal.cft_distance('doc', 'embedding');
SELECT document_id, round(distance::numeric, 3) AS distance FROM cft_nearest_documents('[1,1,0]', 3);
-- Served by the index, and in one order at equal distance.
SET enable_seqscan = off;
SET jit = off;
CREATE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || statement; END $$;
SELECT plan_of('SELECT id FROM doc AS d WHERE embedding IS NOT NULL ORDER BY embedding <-> ''[1,1,0]'' FETCH FIRST (3) ROWS WITH TIES');
RESET enable_seqscan;
INSERT INTO doc SELECT i, 'twin ' || i, '[5,5,5]', NULL, NULL FROM generate_series(20, 30) AS i ORDER BY i % 3, i DESC;
SELECT array_agg(document_id) FROM cft_nearest_documents('[5,5,5]', 4);
DELETE FROM doc WHERE id >= 20;

-- Embeddings of entities.
CREATE TABLE named (name text, e vector(2));
INSERT INTO named VALUES ('cardiology', '[1,0]'), ('clinic', '[0,1]'), ('ward', '[1,1]'), (NULL, '[1,0]'), ('medicine', NULL);
SELECT cft_attach_embeddings('named', 'name', 'e', 'edge');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'named'::regclass AND NOT tgisinternal;
SELECT entity, round(distance::numeric, 3) AS distance, round(score::numeric, 3) AS score FROM cft_nearest_entities('[1,0]', 2);
ALTER TABLE named RENAME e TO embedding;
SELECT entity FROM cft_nearest_entities('[0,1]', 1);
SELECT cft_attach_embeddings('named', 'name', edges => 'edge');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'named'::regclass AND NOT tgisinternal;
-- One table of embeddings for an edges table: which of two is used would be a matter of chance.
CREATE TABLE others AS TABLE named;
SELECT cft_attach_embeddings('others', 'name', edges => 'edge');
SELECT cft_attach_embeddings('others', 'embedding', edges => 'edge');
DROP TABLE others;
SELECT cft_detach('named');
SELECT cft_detach('named');
-- Without them: the entities of the nearest documents.
SELECT entity, round(distance::numeric, 3) AS distance FROM cft_nearest_entities('[1,0,0]', 3);
DROP TABLE named;

-- Errors.
SELECT cft_attach_documents(NULL);
SELECT cft_attach_documents('doc', id => NULL);
SELECT cft_attach_documents('doc', id => 'nothing');
SELECT cft_attach_documents('doc', body => 'xmin');
SELECT cft_attach_documents('doc', embedding => 'entity');
SELECT cft_attach_documents('doc', embedding => 'body');
SELECT cft_attach_documents('doc', tokens => 'body');
SELECT cft_attach_documents('doc', mapping => 'about', mapping_entity => 'who', mapping_document => 'who');
SELECT cft_attach_documents('doc', entity => 'entity', mapping => 'about');
SELECT cft_attach_documents('doc', mapping => 'about');
CREATE TABLE apart (entity text, document_id uuid);
SELECT cft_attach_documents('doc', mapping => 'apart');
DROP TABLE apart;
SELECT cft_attach_documents('doc_l2');
CREATE MATERIALIZED VIEW kept AS TABLE doc;
SELECT cft_attach_documents('kept');
DROP MATERIALIZED VIEW kept;
CREATE TABLE no_vectors (id int, body text, embedding real[]);
SELECT cft_attach_documents('no_vectors');
DROP TABLE no_vectors;
SELECT cft_attach_documents(0::oid::regclass);
-- A failed attach left the old one as it was.
SELECT relation, entity FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT cft_attach_documents('doc');
SELECT * FROM cft_chunks('clinic');
SELECT cft_attach_documents('doc', entity => 'entity');

-- Privileges: the owner attaches; others need SELECT, and get the table's own error; what they may not read is not named to them.
CREATE ROLE regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT cft_attach_documents('doc');
SELECT cft_detach('doc');
SELECT cft_attach_embeddings('about', 'who', 'which', 'edge');
SELECT * FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT * FROM cftrag_internal.cft_attached_documents('doc');
SELECT * FROM cft_chunks('clinic', documents => 'doc');
RESET ROLE;
GRANT SELECT ON doc TO regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT relation FROM cftrag_internal.cft_attached_documents(cftrag_internal.cft_meant_documents(NULL));
SELECT * FROM cft_chunks('clinic');
RESET ROLE;
GRANT SELECT ON edge TO regress_cft_reader;
REVOKE SELECT ON doc FROM regress_cft_reader;
GRANT SELECT (id, embedding, entity) ON doc TO regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT * FROM cft_chunks('clinic');
RESET ROLE;
GRANT SELECT ON doc TO regress_cft_reader;
ALTER TABLE doc ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON doc TO regress_cft_reader USING (id % 2 = 1);
SET ROLE regress_cft_reader;
SELECT document_id FROM cft_chunks('clinic');
SELECT document_id FROM cft_nearest_documents('[1,0,0]');
-- Somebody else's view is not taken by itself: it could do anything with the caller's rights.
RESET ROLE;
CREATE SCHEMA mine AUTHORIZATION regress_cft_reader;
SET ROLE regress_cft_reader;
CREATE FUNCTION mine.takes() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run by %', current_user; END $$;
CREATE VIEW mine.lure AS SELECT 1 AS id, mine.takes() AS body, '[1,0,0]'::vector AS embedding, 'clinic'::text AS entity;
SELECT cft_attach_documents('mine.lure', entity => 'entity');
SELECT relation FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()') ORDER BY relation::text;
SELECT * FROM cft_chunks('clinic');
RESET ROLE;
SELECT document_id FROM cft_chunks('clinic', NULL, 0, 0);
SELECT document_id FROM cft_retrieve('the clinic', '[1,0,0]', k => 1) WHERE source = 'document';
DROP SCHEMA mine CASCADE;
SET ROLE regress_cft_reader;
-- A search_path of the caller's, with everything in it that it could want to be taken in by.
RESET ROLE;
CREATE SCHEMA trap AUTHORIZATION regress_cft_reader;
SET ROLE regress_cft_reader;
CREATE FUNCTION trap.boom() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION trap.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.char_length(text) RETURNS int LANGUAGE sql AS 'SELECT trap.boom()::int';
CREATE FUNCTION trap.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.boom()::boolean';
CREATE OPERATOR trap.= (FUNCTION = trap.same, LEFTARG = text, RIGHTARG = text);
CREATE FUNCTION trap.cft_context(text[], int, int, regclass) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE VIEW trap.pg_trigger AS SELECT trap.boom();
CREATE FUNCTION trap.near(public.vector, public.vector) RETURNS float8 LANGUAGE sql AS 'SELECT trap.boom()::float8';
CREATE OPERATOR trap.<=> (FUNCTION = trap.near, LEFTARG = public.vector, RIGHTARG = public.vector);
CREATE TABLE trap.doc (id text);
SET search_path = trap, pg_catalog, public;
SELECT document_id FROM public.cft_chunks('clinic');
SELECT document_id FROM public.cft_nearest_documents('[1,0,0]', 1);
RESET search_path;
RESET ROLE;
DROP INDEX doc_l2;
SET ROLE regress_cft_reader;
SET search_path = trap, pg_catalog, public;
SELECT document_id FROM public.cft_nearest_documents('[1,0,0]', 1);
RESET search_path;
RESET ROLE;
DROP SCHEMA trap CASCADE;
ALTER TABLE doc DISABLE ROW LEVEL SECURITY;
DROP POLICY odd ON doc;
DROP TABLE doc, about, edge;
DROP SCHEMA "Elsewhere";
DROP FUNCTION plain_chunks, plan_of;
DROP ROLE regress_cft_reader;
-- A trigger that names ours with arguments as large as PostgreSQL takes them: no registration, and not read.
CREATE TABLE long_arguments (id int, body text, embedding vector(2));
DO $$ BEGIN EXECUTE format('CREATE TRIGGER long AFTER UPDATE OF id ON long_arguments FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_documents(%L)', repeat('é', 1000)); END $$;
SELECT count(*) FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()') WHERE relation = 'long_arguments'::regclass;
SELECT * FROM cftrag_internal.cft_attached_documents('long_arguments');
DROP TABLE long_arguments;
