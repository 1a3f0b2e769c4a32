-- Paths, ancestors, depth and size on the Disease Ontology (12,247 entities) and DART (cycles, many small trees), and relation filtering on
-- both, beside plain definitions.
SET client_min_messages = warning;
SET jit = off;
CREATE TABLE raw (tree text, parent text, child text);
CREATE TABLE dart (parent text, child text, predicate text, times text);
\copy dart FROM 'dart_edges.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
CREATE INDEX ON dart (parent);
CREATE INDEX ON dart (child);
SELECT cft_attach('dart') \g /dev/null
SELECT cft_build('dart') \g /dev/null
-- The edges at hand, both ways; the steps of a breadth-first search from b, level by level.
CREATE TABLE s (a text COLLATE "C", b text COLLATE "C");
CREATE INDEX ON s (a) INCLUDE (b);
CREATE TABLE far (name text COLLATE "C" PRIMARY KEY, hops int);
CREATE FUNCTION plain_far(b text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    level int := 0;
BEGIN
    TRUNCATE far;
    INSERT INTO far VALUES (b, 0);
    WHILE FOUND LOOP
        level := level + 1;
        INSERT INTO far SELECT DISTINCT s.b, level FROM far JOIN s ON s.a = far.name WHERE far.hops = level - 1 AND NOT EXISTS (SELECT FROM far AS f WHERE f.name = s.b);
    END LOOP;
END $$;
CREATE FUNCTION plain_paths(a text) RETURNS SETOF text LANGUAGE sql AS $$
    WITH RECURSIVE w(path, hops) AS (
        SELECT ARRAY[name::text], hops FROM far WHERE name = a
        UNION ALL SELECT w.path || s.b::text, w.hops - 1 FROM w JOIN s ON s.a = w.path[cardinality(w.path)] JOIN far ON far.name = s.b AND far.hops = w.hops - 1)
    SELECT path::text FROM w WHERE hops = 0 ORDER BY path COLLATE "C" $$;
CREATE FUNCTION check_paths(edges regclass, pairs int, OUT cases bigint, OUT different bigint) LANGUAGE plpgsql AS $$
DECLARE
    p record;
BEGIN
    TRUNCATE s;
    EXECUTE format('INSERT INTO s SELECT DISTINCT parent, child FROM %1$s WHERE parent <> child UNION SELECT child, parent FROM %1$s WHERE parent <> child', edges);
    ANALYZE s;
    cases := 0; different := 0;
    FOR p IN SELECT x.a, (SELECT y.a FROM s AS y WHERE y.a <> x.a ORDER BY md5(x.a || y.a) LIMIT 1) AS b FROM (SELECT DISTINCT a FROM s ORDER BY a) AS x ORDER BY md5(x.a) LIMIT pairs LOOP
        PERFORM plain_far(p.b);
        cases := cases + 1;
        different := different + (ARRAY(SELECT c.path::text FROM cft_path(p.a, p.b, 1000, edges) AS c) IS DISTINCT FROM ARRAY(SELECT plain_paths(p.a)))::int
                     + ((SELECT count(*) FROM cft_neighbors(p.b, 1000, 'both', edges)) IS DISTINCT FROM (SELECT count(*) - 1 FROM far))::int;
    END LOOP;
END $$;
INSERT INTO claim SELECT 'paths, disease', cases, different, different = 0 AND cases = 20 FROM check_paths('entity_edges', 20);
INSERT INTO claim SELECT 'paths, dart', cases, different, different = 0 AND cases = 200 FROM check_paths('dart', 200);

-- Ancestors-or-self of each entity.
CREATE TABLE above AS
    WITH RECURSIVE u(a, b, hops) AS (SELECT name, name, 0 FROM place UNION SELECT u.a, e.parent, u.hops + 1 FROM u JOIN e ON e.child = u.b)
    SELECT a, b, min(hops) AS hops FROM u GROUP BY a, b;
CREATE UNIQUE INDEX ON above (a, b);
CREATE INDEX ON above (b);
ANALYZE above;
INSERT INTO claim
SELECT 'lca, disease', count(*), count(*) FILTER (WHERE ours IS DISTINCT FROM plain), bool_and(ours IS NOT DISTINCT FROM plain)
  FROM (SELECT (SELECT array_agg((c.ancestor, c.depth_a, c.depth_b)::text) FROM cft_lca(p.a, p.b, 'entity_edges') AS c) AS ours,
               (SELECT array_agg((x.b, x.hops, y.hops)::text ORDER BY x.b) FROM above AS x JOIN above AS y ON y.a = p.b AND y.b = x.b
                 WHERE x.a = p.a AND NOT EXISTS (SELECT FROM above AS v JOIN above AS w ON w.a = p.b AND w.b = v.b JOIN above AS t ON t.a = v.b AND t.b = x.b WHERE v.a = p.a AND v.b <> x.b)) AS plain
          FROM (SELECT x.name AS a, lead(x.name) OVER (ORDER BY md5(x.name)) AS b FROM place AS x ORDER BY md5(x.name) LIMIT 500) AS p WHERE b IS NOT NULL) AS z;
INSERT INTO claim
SELECT 'depth and size, disease', count(*), count(*) FILTER (WHERE wrong), bool_and(NOT wrong)
  FROM (SELECT (SELECT d.depth FROM cft_depth(name, 'entity_edges') AS d) IS DISTINCT FROM (SELECT min(hops) FROM above WHERE a = name AND b NOT IN (SELECT child FROM e))
               OR (SELECT d.size FROM cft_subtree_size(name, 'entity_edges') AS d) IS DISTINCT FROM (SELECT count(*) FROM above WHERE b = name) AS wrong
          FROM (SELECT name FROM place ORDER BY md5(name) LIMIT 500) AS n) AS z;
INSERT INTO claim SELECT 'roots, dart', count(*), count(*) FILTER (WHERE r.root IS DISTINCT FROM p.parent), count(*) > 900 AND bool_and(r.root IS NOT DISTINCT FROM p.parent)
  FROM cft_roots('dart') AS r
  FULL JOIN (SELECT DISTINCT parent FROM dart WHERE parent <> child AND parent NOT IN (SELECT child FROM dart WHERE parent <> child)) AS p ON p.parent = r.root;

-- The ontology has no cycle and no duplicate; an edge goes if another parent of its child is under its parent.
INSERT INTO claim SELECT 'filter, disease', count(*), count(*) FILTER (WHERE wrong), bool_and(NOT wrong)
  FROM (SELECT f.reason IS DISTINCT FROM CASE WHEN EXISTS (SELECT FROM e AS o JOIN above AS v ON v.a = o.parent AND v.b = f.parent WHERE o.child = f.child AND o.parent <> f.parent) THEN 'transitive' END AS wrong
          FROM cft_filter_relations('entity_edges', 'parent', 'child', 'tree') AS f) AS z;
INSERT INTO raw SELECT NULL, parent, child FROM dart;
CREATE TEMP TABLE ours AS SELECT tree, parent, child, kept, reason FROM cft_filter_relations('dart', 'parent', 'child');
CREATE TEMP TABLE plain AS SELECT * FROM plain_filter();
INSERT INTO claim SELECT 'filter, dart', (SELECT count(*) FROM ours), count(*), count(*) = 0 AND (SELECT count(DISTINCT reason) FROM ours) >= 3
  FROM ((TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours)) AS z;
DROP TABLE raw, dart, s, far, above, ours, plain;
