-- What a caller may pass, and what a table may hold: counts that are none, arrays of any shape. None of it is an internal error or a wrong answer. (What
-- many of it costs: costs.sql.)
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE up (parent text, child text);
INSERT INTO up VALUES ('heart', 'valve'), ('heart', 'atrium'), ('valve', 'leaflet');
CREATE TABLE page (id int, body text, embedding vector(2), entity text, size bigint);
INSERT INTO page VALUES (1, repeat('long text ', 100), '[1,0]', 'heart', -1000), (2, repeat('other ', 300), '[0.9,0.1]', 'valve', NULL), (3, repeat('third ', 300), '[0.8,0.2]', 'atrium', 7);
SELECT cft_attach('up');
SELECT oracle.build('up');
SELECT cft_attach_documents('page', entity => 'entity', tokens => 'size');

-- A negative count of tokens is none: the text is counted, and no budget is exceeded. A count that no integer holds is the largest.
SELECT source, document_id, tokens FROM cft_retrieve('heart', '[1,0]');
SELECT source, document_id, tokens FROM cft_retrieve('heart', '[1,0]', budget => 20);
SELECT document_id, tokens FROM cft_chunks('heart', NULL, 0, 1);
SELECT entity, tokens FROM cftrag_internal.cft_texts('{heart,valve,atrium}', 'page', 'up') ORDER BY 1;
UPDATE page SET size = 9223372036854775807;
SELECT source, document_id, tokens FROM cft_retrieve('heart', '[1,0]', k => 1);
SELECT source, document_id, tokens FROM cft_retrieve('heart', '[1,0]', budget => 2147483647);
SELECT entity, tokens FROM cftrag_internal.cft_texts('{heart,valve,atrium}', 'page', 'up') ORDER BY 1;
SELECT entity, tokens FROM cft_expand('{valve,atrium}', documents => 'page', edges => 'up');
UPDATE page SET size = -9223372036854775808;
SELECT document_id, tokens FROM cft_nearest_documents('[1,0]');
SELECT cft_detach('page');
SELECT cft_attach_documents('page', entity => 'entity');

-- An array of names is its elements, whatever its dimensions and where they begin.
SELECT f AS function, count(DISTINCT rows) AS answers, bool_and(rows <> '') AS any_rows
  FROM unnest(ARRAY['{valve,heart,nobody,leaflet}', '{{valve,heart},{nobody,leaflet}}', '[5:8]={valve,heart,nobody,leaflet}', '[-3:-2][4:5]={{valve,heart},{nobody,leaflet}}',
                    '{{valve,heart,NULL},{nobody,leaflet,valve}}']::text[]) AS a,
       LATERAL (SELECT a::text[] AS names) AS n,
       LATERAL (SELECT 'context', (SELECT string_agg(c::text, ' ') FROM cft_context(names, edges => 'up') AS c)
                UNION ALL SELECT 'context_text', cft_context_text(names, edges => 'up')
                UNION ALL SELECT 'context_json', cft_context_json(names, edges => 'up')::text
                UNION ALL SELECT 'context_parts', (SELECT string_agg(c::text, ' ') FROM cft_context_parts(names, edges => 'up') AS c)
                UNION ALL SELECT 'chunks', (SELECT string_agg(c::text, ' ') FROM cft_chunks(names, edges => 'up', documents => 'page') AS c)
                UNION ALL SELECT 'chunks by distance', (SELECT string_agg(c::text, ' ') FROM cft_chunks(names, edges => 'up', documents => 'page', embedding => '[1,0]') AS c)
                UNION ALL SELECT 'path_prefix', (SELECT string_agg(c::text, ' ') FROM cft_path_prefix(names, edges => 'up') AS c)
                UNION ALL SELECT 'expand', (SELECT string_agg(c::text, ' ') FROM cft_expand(names, edges => 'up', documents => 'page') AS c)
                UNION ALL SELECT 'bridge', (SELECT string_agg(c::text, ' ') FROM cft_bridge(names, edges => 'up') AS c)
                UNION ALL SELECT 'tree_search', (SELECT string_agg(c::text, ' ') FROM cft_tree_search('[1,0]', start => names, edges => 'up', documents => 'page') AS c)
                UNION ALL SELECT 'texts', (SELECT string_agg(c::text, ' ' ORDER BY c) FROM cftrag_internal.cft_texts(names, 'page', 'up') AS c)
                UNION ALL SELECT 'by search', (SELECT string_agg(c::text, ' ') FROM cftrag_internal.cft_found_by_search(names, edges => 'up') AS c)
                UNION ALL SELECT 'neighbours', (SELECT string_agg(c::text, ' ') FROM cftrag_internal.cft_sentences_of_neighbors(names, edges => 'up') AS c)) AS z(f, rows)
 GROUP BY f ORDER BY f;

-- A table of entities may serve several forests, and be attached to each again and again. An entity of several embeddings is said once.
CREATE TABLE down (parent text, child text);
INSERT INTO down VALUES ('heart', 'pump');
SELECT cft_attach('down');
CREATE TABLE meaning (entity text, e vector(2), f vector(2));
INSERT INTO meaning VALUES ('heart', '[1,0]', '[0,1]'), ('valve', '[0,1]', '[1,0]'), ('heart', '[0.9,0.1]', '[0,1]');
SELECT cft_attach_embeddings('meaning', embedding => 'e', edges => edges) FROM unnest('{up,down}'::regclass[]) AS edges;
SELECT cft_attach_embeddings('meaning', embedding => 'f', edges => edges) FROM unnest('{down,up,down}'::regclass[]) AS edges;
SELECT tgname, tgconstrrelid::regclass FROM pg_trigger WHERE tgrelid = 'meaning'::regclass ORDER BY 1;
SELECT mode, entity, text, why FROM unnest('{ann_tree,ann_graph}'::text[]) AS mode, cft_retrieve('x', '[1,0]', mode => mode, k => 3, chunks => 0, edges => 'up') WHERE source = 'hierarchy';
CREATE TABLE about (entity text, id int);
CREATE TABLE page_2 (id int, body text, embedding vector(2), other text);
SELECT cft_attach_documents(documents, mapping => 'about', mapping_document => 'id') FROM unnest('{page,page_2}'::regclass[]) AS documents;
SELECT cft_attach_documents('page_2', body => 'other', mapping => 'about', mapping_document => 'id');
SELECT cft_attach_documents('page', entity => 'entity');
SELECT tgname, tgconstrrelid::regclass FROM pg_trigger WHERE tgrelid = 'about'::regclass ORDER BY 1;
SELECT cft_detach('page_2');
SELECT cft_detach('down');

DROP TABLE up, down, page, page_2, meaning, about;
