-- No cost grows with the square of what a caller passes, or of what a table holds: each statement here took minutes, or would have. Where the image answers:
-- the reference query takes a millisecond for each of 20,000 levels.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE up (parent text, child text);
SELECT cft_attach('up');
CREATE TABLE page (id int, body text, embedding vector(2), entity text);
SELECT cft_attach_documents('page', entity => 'entity');
-- Many names, many documents, many trees.
INSERT INTO up SELECT 'parent' || n % 200, 'child' || n FROM generate_series(1, 20000) AS n;
INSERT INTO up SELECT 'hub', 'spoke' || n FROM generate_series(1, 50000) AS n;
INSERT INTO page SELECT n, 'words', '[1,0]', 'hub' FROM generate_series(10, 30000) AS n;
SELECT oracle.build('up');
ANALYZE up, page;
SET statement_timeout = '20s';
SELECT count(*) FROM (SELECT string_agg(child, ' ') FROM up WHERE child LIKE 'child%') AS q(question), cft_retrieve(question, NULL, edges => 'up');
SELECT count(*) > 50, sum(tokens) <= 1000 FROM (SELECT string_agg(child, ' ') FROM up WHERE child LIKE 'child%') AS q(question), cft_retrieve(question, NULL, budget => 1000, edges => 'up');
SELECT count(*), max(tokens), sum(tokens) <= 100000 FROM cft_retrieve('hub', NULL, budget => 100000, edges => 'up');
SELECT source, count(*) FROM cft_retrieve('hub', '[1,0]', k => 20000, edges => 'up') GROUP BY source ORDER BY source;
-- A mention that is a text of many names.
SELECT count(*) FROM cft_resolve(repeat('hub ', 50000), edges => 'up');
-- An entity in many trees has a sentence for each: each is shortened by itself.
CREATE TABLE many_trees (tree text, parent text, child text);
INSERT INTO many_trees SELECT 't' || t, 'leaf', repeat('x', 30) || n FROM generate_series(1, 3000) AS t, generate_series(1, 9) AS n;
SELECT cft_attach('many_trees', tree => 'tree');
SELECT oracle.build('many_trees');
SELECT count(*), sum(tokens) <= 100000, bool_or(text LIKE '% more.') FROM cft_retrieve('leaf', NULL, budget => 100000, edges => 'many_trees', chunks => 0);
-- A path of 20,000 levels; all entities of a chain of 1,000.
CREATE TABLE chain (parent text, child text);
INSERT INTO chain SELECT 'n' || n, 'n' || n + 1 FROM generate_series(1, 20000) AS n;
SELECT cft_attach('chain');
SELECT oracle.build('chain');
SELECT cardinality(path), path[1], path[20000], length(prefix) FROM cft_path_prefix('{n20001}'::text[], 'chain');
SELECT count(*), sum(cardinality(path)) FROM cft_path_prefix(ARRAY(SELECT 'n' || n FROM generate_series(1, 800) AS n), 'chain');
SELECT entity, path, prefix FROM cft_path_prefix('{n3,n1,nobody,NULL,n3}'::text[], 'chain', separator => NULL);
SELECT count(*), sum(char_length(text)) FROM cftrag_internal.cft_sentences_of_neighbors('{n10000}', 2147483647, 'chain');
-- A bridge over thousands of groups: 7,000 of their own, and each entity of a chain with the next.
CREATE TABLE groups (parent text, child text);
INSERT INTO groups SELECT 'group' || n / 3, 'member' || n FROM generate_series(0, 20999) AS n;
INSERT INTO groups SELECT 'pair' || lpad(n::text, 5, '0'), 'link' || n + i FROM generate_series(1, 20000) AS n, generate_series(0, 1) AS i;
SELECT cft_attach('groups');
SELECT oracle.build('groups');
SELECT count(*), count(DISTINCT apex) FROM cft_bridge(ARRAY(SELECT child FROM groups WHERE parent LIKE 'group%'), edges => 'groups');
SELECT count(*), count(DISTINCT apex), min(apex), max(apex) FROM cft_bridge(ARRAY(SELECT DISTINCT child FROM groups WHERE parent LIKE 'pair%'), edges => 'groups');
-- A pair in each of 20,000 trees. Each entity of a chain with the thousand above it: what this takes is counted.
CREATE TABLE pairs (tree text, parent text, child text);
INSERT INTO pairs SELECT 'tree' || n, 'top' || n % 3, child FROM generate_series(1, 20000) AS n, unnest('{one,other}'::text[]) AS child;
SELECT cft_attach('pairs', tree => 'tree');
SELECT oracle.build('pairs');
SELECT count(*), count(DISTINCT tree), count(DISTINCT apex), min(leads_to), max(leads_to) FROM cft_bridge('{one,other}'::text[], edges => 'pairs');
SELECT count(*), count(DISTINCT apex), sum(cardinality(leads_to)) FROM cft_bridge(ARRAY(SELECT 'n' || n FROM generate_series(1, 2000) AS n), 1000, 'chain');
SET cftrag.work_memory = '20MB';
SELECT count(*) FROM cft_bridge(ARRAY(SELECT 'n' || n FROM generate_series(1, 2000) AS n), 1000, 'chain');
RESET cftrag.work_memory;
-- The searches, with plans for these arguments and for any: 20,000 entities under 100.
CREATE TABLE wide (parent text, child text);
INSERT INTO wide SELECT 'parent' || n % 100, 'child' || n FROM generate_series(1, 20000) AS n;
INSERT INTO wide SELECT 'top', 'parent' || n FROM generate_series(0, 99) AS n;
SELECT cft_attach('wide');
SELECT oracle.build('wide');
CREATE TABLE vectors AS SELECT child AS entity, format('[%s,1]', 1 + length(child))::vector(2) AS embedding FROM wide;
CREATE INDEX ON vectors (entity);
ANALYZE vectors;
SELECT cft_attach_embeddings('vectors', edges => 'wide');
SELECT array_agg(child) AS children FROM wide WHERE child LIKE 'child%' \gset
SET plan_cache_mode = force_custom_plan;
SELECT count(*), sum(cardinality(path)) FROM cft_expand(:'children', edges => 'wide', k => NULL);
SELECT count(*), sum(cardinality(path)) FROM cft_tree_search('[1,1]', mode => 'prune', prune_factor => 0, k => 100000, edges => 'wide');
SELECT part, count(*) FROM cft_coarse_fine('[1,1]', 2147483647, 2147483647, edges => 'wide') GROUP BY part ORDER BY part;
SET plan_cache_mode = force_generic_plan;
SELECT count(*), sum(cardinality(path)) FROM cft_expand(:'children', edges => 'wide', k => NULL);
SELECT count(*), sum(cardinality(path)) FROM cft_tree_search('[1,1]', mode => 'prune', prune_factor => 0, k => 100000, edges => 'wide');
SELECT part, count(*) FROM cft_coarse_fine('[1,1]', 2147483647, 2147483647, edges => 'wide') GROUP BY part ORDER BY part;
SELECT count(*) FROM (SELECT string_agg(child, ' ') FROM up WHERE child LIKE 'child%') AS q(question), cft_retrieve(question, NULL, edges => 'up');
RESET plan_cache_mode;
-- One chain in 10,000 trees: each entity's list has all of them.
CREATE TABLE grove (tree text, parent text, child text);
INSERT INTO grove SELECT nullif('t' || n, 't0'), 'n' || i, 'n' || i + 1 FROM generate_series(0, 9999) AS n, generate_series(1, 3) AS i;
CREATE INDEX ON grove (child);
ANALYZE grove;
SELECT cft_attach('grove', tree => 'tree');
SELECT oracle.build('grove');
CREATE TEMP TABLE seen AS SELECT * FROM cft_context(ARRAY['n4', 'n1', 'n2'], 3, 3, 'grove');
SET cftrag.enable = off;
CREATE TEMP TABLE defined AS SELECT * FROM cft_context(ARRAY['n4', 'n1', 'n2'], 3, 3, 'grove');
RESET cftrag.enable;
SELECT (SELECT count(*) FROM seen) AS rows, (SELECT count(*) FROM (SELECT * FROM seen EXCEPT ALL SELECT * FROM defined) AS z) AS more, (SELECT count(*) FROM (SELECT * FROM defined EXCEPT ALL SELECT * FROM seen) AS z) AS missing;
SELECT count(*) FROM cft_retrieve('n2 and n4', NULL, up => 3, mode => 'naive', edges => 'grove');
-- A descent of 1000 levels: 80 chains.
CREATE TABLE chains AS SELECT 'c' || c || ' ' || n - 1 AS parent, 'c' || c || ' ' || n AS child FROM generate_series(1, 80) AS c, generate_series(1, 1000) AS n;
SELECT cft_attach('chains');
SELECT oracle.build('chains');
CREATE TABLE links AS SELECT child AS entity, format('[%s,1]', length(child))::vector(2) AS embedding FROM chains;
CREATE INDEX ON links (entity);
ANALYZE links;
SELECT cft_attach_embeddings('links', edges => 'chains');
SELECT count(*), max(depth), max(compared) FROM cft_tree_search('[1,1]', mode => 'prune', prune_factor => 0, k => 1000, edges => 'chains');
RESET statement_timeout;
DROP TABLE up, page, many_trees, chain, groups, pairs, wide, vectors, chains, links, grove, seen, defined;
