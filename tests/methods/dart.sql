-- DART: many small trees, cycles, duplicates. No embeddings: what is about structure, and summaries.
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
-- Whatever is in or under a cycle, and some others.
CREATE TEMP TABLE picked AS
    WITH RECURSIVE u(top, name) AS (SELECT parent, child FROM e UNION SELECT u.top, e.child FROM u JOIN e ON e.parent = u.name)
    SELECT name::text, name IN (SELECT top FROM u WHERE top = name) AS cyclic FROM place;
SELECT compare('path_prefix (DART)', 'SELECT p.tree, p.path FROM cft_path_prefix(ARRAY[$3], ''dart'') AS p', 'SELECT * FROM plain_path($3)',
    'SELECT NULL::vector AS q, NULL::text[] AS names, name AS entity FROM picked WHERE cyclic OR md5(name) < ''1'' ORDER BY name') \g /dev/null
\set few 'SELECT NULL::vector AS q, ARRAY(SELECT name FROM picked WHERE name IN (SELECT child FROM e) ORDER BY cyclic AND s % 2 = 0 DESC, md5(name || s) LIMIT 40) AS names, NULL::text AS entity FROM generate_series(1, 12) AS s'
SELECT compare('expand (DART)', 'SELECT x.entity, x.tree, x.common, x.support, x.hit, x.leaf, x.path FROM cft_expand($2, 4, 2, 2, ''dart'') AS x', 'SELECT * FROM plain_expand($2, 4, 2, 2)', :'few') \g /dev/null
SELECT compare('bridge (DART)', 'SELECT * FROM cft_bridge($2, 20, ''dart'')', 'SELECT * FROM plain_bridge($2, 20)', :'few') \g /dev/null
CREATE TABLE dart_gist (entity text, summary text);
SELECT cft_attach_summaries('dart_gist', edges => 'dart') \g /dev/null
CREATE TEMP TABLE dart_made AS SELECT * FROM cft_rollup('tell(text,text[],text[])', edges => 'dart');
INSERT INTO claim SELECT 'rollup (DART): cycles end', m.summarized, s.due, s.due = 0 AND m.summarized >= (SELECT count(DISTINCT parent) FROM e), NULL, NULL
  FROM dart_made AS m, (SELECT count(*) FROM dart_gist WHERE summary IS NULL) AS s(due);
SELECT * FROM claim WHERE what ILIKE '%dart%';
