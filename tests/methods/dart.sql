-- DART: many small trees, cycles, duplicates. It has no embeddings, so each name gets made-up ones.
SET client_min_messages = warning;
SET jit = off;
CREATE TABLE dart (parent text, child text, predicate text, count int);
\copy dart FROM 'dart_edges.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
CREATE INDEX ON dart (child);
CREATE INDEX ON dart (parent);
SELECT cft_attach('dart') \g /dev/null
TRUNCATE e, place;
INSERT INTO e SELECT DISTINCT NULL, parent, child FROM dart WHERE parent <> child;
INSERT INTO place SELECT tree, parent FROM e UNION SELECT tree, child FROM e;
ANALYZE;
SELECT check_lineage('dart', 'dart', 300) \g /dev/null
SELECT check_hierarchy('dart') \g /dev/null
-- Entities in or under a cycle, and some others.
CREATE TEMP TABLE picked AS
    WITH RECURSIVE u(top, name) AS (SELECT parent, child FROM e UNION SELECT u.top, e.child FROM u JOIN e ON e.parent = u.name)
    SELECT name::text, name IN (SELECT top FROM u WHERE top = name) AS cyclic FROM place;
SELECT compare('path_prefix (DART)', 'SELECT p.tree, p.path FROM cft_path_prefix(ARRAY[$3], ''dart'') AS p', 'SELECT * FROM plain_path($3)',
    'SELECT NULL::vector AS q, NULL::text[] AS names, name AS entity FROM picked WHERE cyclic OR md5(name) < ''1'' ORDER BY name') \g /dev/null
\set few 'SELECT NULL::vector AS q, ARRAY(SELECT name FROM picked WHERE name IN (SELECT child FROM e) ORDER BY cyclic AND s % 2 = 0 DESC, md5(name || s) LIMIT 40) AS names, NULL::text AS entity FROM generate_series(1, 12) AS s'
SELECT compare('expand (DART)', 'SELECT x.entity, x.tree, x.common, x.support, x.hit, x.leaf, x.path, x.more FROM cft_expand($2, NULL, 4, 2, 2, ''dart'') AS x', 'SELECT * FROM plain_expand($2, 4, 2, 2, NULL)', :'few') \g /dev/null
SELECT compare('bridge (DART)', 'SELECT tree, apex, depth, parent, child, leads_to FROM cft_bridge($2, 20, ''dart'')', 'SELECT * FROM plain_bridge($2, 20)', :'few') \g /dev/null
CREATE OR REPLACE VIEW wood AS SELECT NULL::text AS tree, parent, child FROM dart;
SELECT cft_detach('meaning') \g /dev/null
TRUNCATE meaning;
ALTER TABLE meaning ALTER embedding TYPE vector(3);
INSERT INTO meaning SELECT name, ARRAY(SELECT get_byte(decode(md5(name), 'hex'), i) - 127.5 FROM generate_series(0, 2) AS i)::vector FROM place WHERE md5(name) > '2';
SELECT cft_attach_embeddings('meaning', edges => 'dart') \g /dev/null
\set some 'SELECT ARRAY[sin(s), cos(s), sin(3 * s)]::vector AS q, NULL::text[] AS names, NULL::text AS entity FROM generate_series(1, 6) AS s'
SELECT compare('tree_search ' || mode || ' (DART)', format('SELECT r.entity, r.depth, r.score, r.path, r.compared FROM cft_tree_search($1, mode => %L, k => NULL, max_depth => 999, prune_factor => 0.8, beam => 20, edges => ''dart'') AS r', mode),
    format('SELECT r.entity, r.depth, r.score, r.path, r.compared FROM plain_search($1, %L, NULL, NULL, NULL, 0.8, 20, 999) AS r', mode), :'some') FROM unnest('{prune,beam,collapsed}'::text[]) AS mode \g /dev/null
SELECT compare('coarse_fine (DART)', 'SELECT r.part, r.entity, r.tree, r.score, r.under, r.text FROM cft_coarse_fine($1, 4, 8, 3, 5, 300, 0.5, 0.2, 0.3, ''dart'') AS r',
    'SELECT * FROM plain_coarse_fine($1, 4, 8, 3, 5, 300, ''{0.5,0.2,0.3}'')', :'some') \g /dev/null
CREATE TABLE dart_gist (entity text, summary text);
CREATE INDEX ON dart_gist (entity);
SELECT cft_attach_summaries('dart_gist', edges => 'dart') \g /dev/null
CREATE TEMP TABLE dart_made AS SELECT * FROM cft_rollup('tell(text,text[],text[])', edges => 'dart');
INSERT INTO claim SELECT 'rollup (DART): cycles end', m.summarized, s.due, s.due = 0 AND m.summarized >= (SELECT count(DISTINCT parent) FROM e), NULL, NULL
  FROM dart_made AS m, (SELECT count(*) FROM dart_gist WHERE summary IS NULL) AS s(due);
-- Outside of cycles each summary is made from its children's, as from scratch.
INSERT INTO claim SELECT 'rollup (DART): of the children', count(*), count(*) FILTER (WHERE wrong), bool_and(NOT wrong), NULL, NULL
  FROM (SELECT NOT EXISTS (SELECT FROM dart_gist AS g WHERE g.entity = p.name
                              AND g.summary = tell(p.name, p.children, ARRAY(SELECT coalesce(s.summary, c) FROM unnest(p.children) WITH ORDINALITY AS u(c, n) LEFT JOIN dart_gist AS s ON s.entity = u.c ORDER BY u.n))) AS wrong
          FROM (SELECT parent AS name, array_agg(child::text ORDER BY cftrag_internal.cft_natural(child) COLLATE "C", child) AS children FROM e WHERE parent NOT IN (SELECT name FROM picked WHERE cyclic) GROUP BY parent) AS p) AS z;
SELECT * FROM claim WHERE what ILIKE '%dart%';
