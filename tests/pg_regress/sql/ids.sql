-- Entities that are ids: every function that takes an entity takes its id without a cast, and gives what it gives for the text.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE folders (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO folders VALUES (1, NULL, 'root'), (2, 1, 'a'), (3, 1, 'b'), (4, 2, 'c'), (5, 4, 'd');
SELECT cft_attach('folders', parent => 'parent_id', child => 'id', label => 'name');
CREATE TABLE files (id int PRIMARY KEY, folder_id int, big bigint, body text, embedding vector(2) DEFAULT '[1,0]');
INSERT INTO files SELECT n, 1 + n % 5, 1 + n % 5, 'file ' || n FROM generate_series(1, 2000) AS n;
CREATE INDEX ON files (folder_id);
CREATE INDEX ON files (big);
SELECT cft_attach_documents('files', entity => 'folder_id');
VACUUM ANALYZE files;
CREATE TABLE uids (parent uuid, child uuid);
INSERT INTO uids SELECT md5('' || n / 2)::uuid, md5('' || n)::uuid FROM generate_series(2, 9) AS n;
SELECT cft_attach('uids');
CREATE FUNCTION same(a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE x text; y text;
BEGIN
    EXECUTE 'SELECT array_agg(z)::text FROM ' || a || ' AS z' INTO x;
    EXECUTE 'SELECT array_agg(z)::text FROM ' || b || ' AS z' INTO y;
    RETURN CASE WHEN x IS NOT DISTINCT FROM y AND x IS NOT NULL THEN 'same' ELSE a || ': ' || coalesce(x, 'NULL') || ' <> ' || coalesce(y, 'NULL') END;
END $$;
CREATE TABLE call (one text, of_array boolean);
INSERT INTO call VALUES ('cft_neighbors(%s, 2, edges => %L)', false), ('cft_depth(%s, edges => %L)', false), ('cft_subtree_size(%s, edges => %L)', false),
    ('cft_path(%s, %1$s, edges => %L)', false), ('cft_explain_path(%s, %1$s, edges => %L)', false), ('cft_lca(%s, %1$s, edges => %L)', false),
    ('cft_path_prefix(%s, edges => %L)', false), ('cft_path_prefix(%s, edges => %L)', true), ('cft_chunks(%s, edges => %L)', false), ('cft_chunks(%s, edges => %L)', true),
    ('cft_context(%s, edges => %L)', false), ('cft_context(%s, edges => %L)', true), ('cft_context_text(%s, edges => %L)', true), ('cft_context_json(%s, edges => %L)', false), ('cft_tree(%s, edges => %L)', false);
SELECT same(format(one, v.id, 'folders'), format(one, v.text, 'folders')), count(*)
  FROM call, (VALUES ('4', '''4''', false), ('4::bigint', '''4''', false), ('ARRAY[4, 2]', 'ARRAY[''4'', ''2'']', true), ('ARRAY[4, 2]::bigint[]', 'ARRAY[''4'', ''2'']', true)) AS v(id, text, of_array)
 WHERE v.of_array = call.of_array GROUP BY 1;
SELECT same(format(one, v.id, 'uids'), format(one, v.text, 'uids')), count(*)
  FROM call, LATERAL (SELECT md5('4') AS u) AS u, LATERAL (VALUES (format('%L::uuid', u), quote_literal(u::uuid::text), false), (format('ARRAY[%L]::uuid[]', u), format('ARRAY[%L]', u::uuid::text), true)) AS v(id, text, of_array)
 WHERE v.of_array = call.of_array AND one !~ 'chunks' GROUP BY 1;
-- A literal is a text, as before; a parameter, too.
SELECT * FROM cft_depth('5', 'folders');
PREPARE depth AS SELECT * FROM cft_depth($1, 'folders');
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'depth';
EXECUTE depth('5');
SELECT * FROM cft_lca(5, 3, 'folders');
-- cft_under with what cft_entities finds, a text[]: by the column's own index, and row by row alike.
CREATE FUNCTION plan(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE p text;
BEGIN
    EXECUTE 'EXPLAIN (COSTS off, FORMAT json) ' || statement INTO p;
    RETURN p ~ 'cft_descendants' AND p ~ 'Index Cond';
END $$;
UPDATE files SET folder_id = 5, big = 5 WHERE id <= 10;
UPDATE files SET folder_id = 1, big = 1 WHERE id > 10;
ANALYZE files;
SELECT plan($$SELECT count(*) FROM files WHERE cft_under(folder_id, ARRAY['4'], 'folders')$$) AS of_integer, plan($$SELECT count(*) FROM files WHERE cft_under(big, ARRAY['4'], 'folders')$$) AS of_bigint;
SELECT count(*) FROM files WHERE cft_under(folder_id, ARRAY['4', 'x', '07'], 'folders');
SELECT count(*) FROM files WHERE cft_under(big, ARRAY(SELECT entity FROM cft_entities('What is in d?', 'folders')), 'folders');
SELECT count(*) FROM files WHERE cft_under(folder_id + 0, ARRAY['4'], 'folders');
SELECT count(*) FROM uids WHERE cft_under(child, ARRAY[md5('4')::uuid::text], 'uids');
SELECT cft_under(5, NULL::text[], 'folders'), cft_under(NULL::int, ARRAY['4'], 'folders'), cft_under(5, ARRAY[NULL, '4'], 'folders'), cft_under(5, '{}'::text[], 'folders');
-- A prompt that cites documents by their ids.
SELECT cft_prompt('What is in d?', NULL, k => 2, chunks => 2, edges => 'folders', documents => 'files', document_template => '[{id}|{number}|{entity}] {text} {{}}');
SET cftrag.document_template = '<doc id="{id}">{text}</doc>';
SELECT cft_prompt('What is in d?', '[1,0]', k => 1, chunks => 1, edges => 'folders', documents => 'files', template => E'{documents}\n{chunks}');
SELECT cft_prompt('What is in d?', NULL, k => 0, chunks => 1, edges => 'folders', documents => 'files', template => E'{chunks}', document_template => '{number}');
SET cftrag.document_template = '{path}';
SELECT cft_prompt('d', NULL, document_template => '{x}');
RESET cftrag.document_template;
DROP TABLE folders, files, uids, call;
DROP FUNCTION same, plan;
