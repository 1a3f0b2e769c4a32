-- Neighbours, paths, lowest common ancestors, depth, size, roots: each beside its plain definition over the table, for all entities and
-- pairs of random forests with several trees, several parents, cycles, self-edges, duplicates and NULLs.
\a\t
SET client_min_messages = warning;
CREATE TABLE walks (tree text, parent text, child text, note int);
SELECT cft_attach('walks', tree => 'tree');
SELECT oracle.build('walks');

-- The plain definitions. e: the edges between different entities, each once, the NULL tree as one of its own; s: the same, and how they lead from a to b.
CREATE VIEW e AS SELECT DISTINCT coalesce('t' || tree, '') AS tree, parent COLLATE "C" AS parent, child COLLATE "C" AS child
                   FROM walks WHERE parent IS NOT NULL AND child IS NOT NULL AND parent <> child;
CREATE VIEW s AS SELECT tree, a, b, CASE WHEN count(*) = 2 THEN 'both' ELSE min(step) END AS step
                   FROM (SELECT tree, child, parent, 'up' FROM e UNION ALL SELECT tree, parent, child, 'down' FROM e) AS z(tree, a, b, step) GROUP BY tree, a, b;
-- An entity is there by an edge, or by a row without a parent or with itself as parent.
CREATE VIEW n AS SELECT tree, a AS name FROM s
                 UNION SELECT coalesce('t' || tree, ''), child COLLATE "C" FROM walks WHERE child IS NOT NULL AND (parent IS NULL OR parent = child);
-- The distance of each entity from each, both ways, and upwards; an entity from itself 0.
CREATE VIEW d AS
    WITH RECURSIVE w(tree, a, b, hops) AS (SELECT tree, name, name, 0 FROM n
                                           UNION SELECT w.tree, w.a, s.b, w.hops + 1 FROM w JOIN s ON s.tree = w.tree AND s.a = w.b WHERE w.hops < (SELECT count(*) FROM n))
    SELECT tree, a, b, min(hops) AS hops FROM w GROUP BY tree, a, b;
CREATE VIEW u AS
    WITH RECURSIVE w(tree, a, b, hops) AS (SELECT tree, name, name, 0 FROM n
                                           UNION SELECT w.tree, w.a, e.parent, w.hops + 1 FROM w JOIN e ON e.tree = w.tree AND e.child = w.b WHERE w.hops < (SELECT count(*) FROM n))
    SELECT tree, a, b, min(hops) AS hops FROM w GROUP BY tree, a, b;
CREATE FUNCTION t(tree text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN tree = '' THEN NULL ELSE substr(tree, 2) END $$;

-- What differs from them, as 'name: rows' of each function; nothing is right.
CREATE FUNCTION plain_compare() RETURNS TABLE (checked text, rows bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE dd AS SELECT * FROM d;
    CREATE TEMP TABLE uu AS SELECT * FROM u;
    CREATE TEMP TABLE names AS SELECT DISTINCT name FROM n UNION VALUES ('nobody'), ('');
    ANALYZE dd; ANALYZE uu;
    RETURN QUERY
    WITH ours AS MATERIALIZED (SELECT names.name AS entity, m.direction, m.hops AS most, c.tree, c.hops, c.neighbor, c.via FROM names,
                  (VALUES ('both', 0), ('both', 1), ('both', 2), ('both', 50), ('up', 2), ('down', 2), ('up', 50), ('down', 50)) AS m(direction, hops),
                  LATERAL cft_neighbors(names.name, m.hops, m.direction, 'walks') AS c),
         plain AS (SELECT dd.a AS entity, m.direction, m.most, t(dd.tree), dd.hops, dd.b,
                          (SELECT min(s.a) FROM s JOIN dd AS x ON x.tree = s.tree AND x.b = s.a AND x.a = dd.a WHERE s.tree = dd.tree AND s.b = dd.b AND x.hops = dd.hops - 1)
                     FROM dd, (VALUES ('both', 1), ('both', 2), ('both', 50)) AS m(direction, most) WHERE dd.hops BETWEEN 1 AND m.most
                   UNION ALL
                   SELECT uu.a, 'up', m.most, t(uu.tree), uu.hops, uu.b,
                          (SELECT min(e.child) FROM e JOIN uu AS x ON x.tree = e.tree AND x.b = e.child AND x.a = uu.a WHERE e.tree = uu.tree AND e.parent = uu.b AND x.hops = uu.hops - 1)
                     FROM uu, (VALUES (2), (50)) AS m(most) WHERE uu.hops BETWEEN 1 AND m.most
                   UNION ALL
                   SELECT uu.b, 'down', m.most, t(uu.tree), uu.hops, uu.a,
                          (SELECT min(e.parent) FROM e JOIN uu AS x ON x.tree = e.tree AND x.a = e.parent AND x.b = uu.b WHERE e.tree = uu.tree AND e.child = uu.a AND x.hops = uu.hops - 1)
                     FROM uu, (VALUES (2), (50)) AS m(most) WHERE uu.hops BETWEEN 1 AND m.most)
    SELECT 'neighbors', (SELECT count(*) FROM ours), (SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours)) AS z);

    RETURN QUERY
    WITH ours AS MATERIALIZED (SELECT x.name AS a, y.name AS b, m.most, c.tree, c.hops, c.path, c.steps FROM names AS x, names AS y, (VALUES (1), (3), (100)) AS m(most), LATERAL cft_path(x.name, y.name, m.most, 'walks') AS c),
         plain AS (WITH RECURSIVE w(tree, a, b, hops, path, steps) AS (
                       SELECT tree, a, b, hops, ARRAY[a::text], '{}'::text[] FROM dd
                       UNION ALL
                       SELECT w.tree, w.a, w.b, w.hops, w.path || s.b::text, w.steps || s.step
                         FROM w JOIN s ON s.tree = w.tree AND s.a = w.path[cardinality(w.path)] COLLATE "C" JOIN dd ON dd.tree = w.tree AND dd.a = s.b AND dd.b = w.b AND dd.hops = w.hops - cardinality(w.path))
                   SELECT a, b, most, t(tree), hops, path, steps FROM w, (VALUES (1), (3), (100)) AS m(most) WHERE cardinality(path) = hops + 1 AND hops <= most)
    SELECT 'path', (SELECT count(*) FROM ours), (SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours)) AS z);

    RETURN QUERY
    WITH ours AS MATERIALIZED (SELECT x.name AS a, y.name AS b, c.tree, c.ancestor, c.depth_a, c.depth_b FROM names AS x, names AS y, LATERAL cft_lca(x.name, y.name, 'walks') AS c),
         common AS (SELECT x.tree, x.a, y.a AS b, x.b AS c, x.hops AS depth_a, y.hops AS depth_b FROM uu AS x JOIN uu AS y ON y.tree = x.tree AND y.b = x.b),
         plain AS (SELECT c.a, c.b, t(c.tree), c.c, c.depth_a, c.depth_b FROM common AS c
                    WHERE NOT EXISTS (SELECT FROM common AS lower JOIN uu ON uu.tree = lower.tree AND uu.a = lower.c AND uu.b = c.c
                                       WHERE lower.tree = c.tree AND lower.a = c.a AND lower.b = c.b
                                         AND NOT EXISTS (SELECT FROM uu AS back WHERE back.tree = c.tree AND back.a = c.c AND back.b = lower.c)))
    SELECT 'lca', (SELECT count(*) FROM ours), (SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours)) AS z);

    RETURN QUERY
    WITH root AS (SELECT tree, name FROM n WHERE NOT EXISTS (SELECT FROM e WHERE e.tree = n.tree AND e.child = n.name)),
         ours AS MATERIALIZED (SELECT 'depth', names.name, c.tree, c.depth::bigint FROM names, LATERAL cft_depth(names.name, 'walks') AS c
                               UNION ALL SELECT 'size', names.name, c.tree, c.size FROM names, LATERAL cft_subtree_size(names.name, 'walks') AS c
                               UNION ALL SELECT 'root', c.root, c.tree, 0 FROM cft_roots('walks') AS c),
         plain AS (SELECT 'depth', n.name, t(n.tree), (SELECT min(uu.hops) FROM uu JOIN root ON root.tree = uu.tree AND root.name = uu.b WHERE uu.tree = n.tree AND uu.a = n.name) FROM n
                   UNION ALL SELECT 'size', uu.b, t(uu.tree), count(*) FROM uu GROUP BY uu.b, uu.tree
                   UNION ALL SELECT 'root', name, t(tree), 0 FROM root)
    SELECT 'depth, size, roots', (SELECT count(*) FROM ours), (SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours)) AS z);
    DROP TABLE dd, uu, names;
END $$;

-- Forests by md5, so that they are the same everywhere: names a to j (and longer), up to three trees; all shapes occur.
CREATE FUNCTION forest(seed int, edges int, names int) RETURNS void LANGUAGE sql AS $$
    DELETE FROM walks;
    INSERT INTO walks
    SELECT (ARRAY[NULL, 'x', 'y'])[1 + r[1] % 3], CASE WHEN r[2] % 40 > 0 THEN 'n' || r[3] % names END, CASE WHEN r[4] % 40 > 0 THEN 'n' || r[5] % names END, i
      FROM generate_series(1, edges) AS i,
           LATERAL (SELECT array_agg(get_byte(decode(md5(format('%s %s', seed, i)), 'hex'), k)) AS r FROM generate_series(0, 5) AS k) AS z $$;
-- By the image (where there is one), and by the reference query.
SELECT forest(1, 12, 8);
SELECT * FROM plain_compare();
SET cftrag.enable = off;
SELECT * FROM plain_compare();
RESET cftrag.enable;
SELECT forest(2, 30, 12);
SELECT * FROM plain_compare();
-- Dense enough for several shortest ways.
SELECT forest(4, 80, 16);
SELECT * FROM plain_compare();
SELECT forest(3, 45, 30);
SELECT * FROM plain_compare();
-- With uncommitted changes.
BEGIN;
DELETE FROM walks WHERE note % 5 = 0;
UPDATE walks SET tree = 'x' WHERE note % 7 = 0;
SELECT * FROM plain_compare();
ROLLBACK;
-- Without a tree column.
CREATE TABLE plain_walks AS SELECT parent, child FROM walks WHERE tree = 'x';
SELECT cft_attach('plain_walks');
SELECT (SELECT count(*) FROM cft_roots('plain_walks')) = (SELECT count(*) FROM cft_roots('walks') WHERE tree = 'x') AS roots,
       (SELECT array_agg((hops, path)) FROM cft_path('n1', 'n9', edges => 'plain_walks')) IS NOT DISTINCT FROM (SELECT array_agg((hops, path)) FROM cft_path('n1', 'n9', edges => 'walks') WHERE tree = 'x') AS paths;
DROP TABLE plain_walks;

-- What it looks like.
DELETE FROM walks;
INSERT INTO walks VALUES ('house', 'house', 'hall'), ('house', 'house', 'kitchen'), ('house', 'hall', 'door'), ('house', 'hall', 'lamp'), ('house', 'kitchen', 'lamp'),
    ('house', 'kitchen', 'oven'), ('wires', 'fuse', 'lamp'), ('wires', 'fuse', 'oven'), ('wires', 'hen', 'egg'), ('wires', 'egg', 'hen'), (NULL, 'door', 'oven'), ('wires', 'alone', 'alone');
SELECT * FROM cft_neighbors('lamp', 2, edges => 'walks');
SELECT * FROM cft_path('door', 'oven', edges => 'walks');
SELECT * FROM cft_path('house', 'lamp', edges => 'walks');
SELECT * FROM cft_path('hen', 'egg', edges => 'walks');
SELECT * FROM cft_path('lamp', 'lamp', edges => 'walks');
SELECT cft_explain_path('door', 'oven', edges => 'walks');
SELECT cft_explain_path('house', 'lamp', edges => 'walks'), cft_explain_path('hen', 'egg', edges => 'walks'), cft_explain_path('egg', 'egg', edges => 'walks'), cft_explain_path('egg', 'oven', edges => 'walks');
SELECT * FROM cft_lca('door', 'oven', 'walks');
SELECT * FROM cft_lca('lamp', 'oven', 'walks');
SELECT * FROM cft_lca('hen', 'egg', 'walks');
SELECT * FROM cft_depth('lamp', 'walks');
SELECT * FROM cft_depth('hen', 'walks');
SELECT * FROM cft_subtree_size('house', 'walks');
SELECT * FROM cft_subtree_size('hen', 'walks');
SELECT * FROM cft_roots('walks');
SELECT * FROM cft_depth('alone', 'walks');
-- Order: trees, hops, then names by bytes, whatever the order in the table.
SELECT bool_and(one = all_of) AS stable FROM (SELECT array_agg(p::text) AS one FROM cft_path('door', 'lamp', edges => 'walks') AS p) AS x, (SELECT array_agg(p::text) AS all_of FROM cft_path('door', 'lamp', edges => 'walks') AS p) AS y;

-- NULLs and strangers: no rows. Hops out of range, a direction that is none: 22023. No table: as cft_context.
SELECT (SELECT count(*) FROM cft_neighbors(NULL)) + (SELECT count(*) FROM cft_neighbors('lamp', NULL)) + (SELECT count(*) FROM cft_neighbors('lamp', 1, NULL))
     + (SELECT count(*) FROM cft_path(NULL, 'lamp')) + (SELECT count(*) FROM cft_path('lamp', NULL)) + (SELECT count(*) FROM cft_path('lamp', 'oven', NULL))
     + (SELECT count(*) FROM cft_lca(NULL, 'lamp')) + (SELECT count(*) FROM cft_lca('lamp', NULL)) + (SELECT count(*) FROM cft_depth(NULL)) + (SELECT count(*) FROM cft_subtree_size(NULL))
     + (SELECT count(*) FROM cft_path('lamp', 'nobody', 9, 'walks')) + (SELECT count(*) FROM cft_neighbors('nobody', 9, 'both', 'walks')) AS nothing, cft_explain_path(NULL, 'lamp') IS NULL AS no_sentence;
SELECT * FROM cft_neighbors('lamp', -1);
SELECT * FROM cft_neighbors('lamp', 1, 'sideways');
\set VERBOSITY sqlstate
SELECT * FROM cft_path('lamp', 'oven', -1);
SELECT cft_explain_path('lamp', 'oven', -1);
SELECT * FROM cft_path('lamp', 'oven', edges => 'pg_class');
SELECT * FROM cft_roots('pg_class');
\set VERBOSITY default
-- Deeper than a walk goes: level by level. d1250 is in a tree that is not deep, too, and in a cycle.
INSERT INTO walks SELECT 'deep', 'd' || i, 'd' || i + 1 FROM generate_series(1, 1300) AS i;
INSERT INTO walks VALUES ('deep', 'd1350', 'd1250'), ('deep', 'd1250', 'd1350'), ('flat', 'f', 'd1250');
CREATE FUNCTION deep() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT 'size ' || s::text FROM cft_subtree_size('d1', 'walks') AS s
    UNION ALL SELECT 'lca ' || s::text FROM cft_lca('d1250', 'd1202', 'walks') AS s
    UNION ALL SELECT 'depth ' || s::text FROM cft_depth('d1250', 'walks') AS s
    UNION ALL SELECT format('path %s %s', s.hops, cardinality(s.path)) FROM cft_path('d1', 'd1301', 1000000, 'walks') AS s
    UNION ALL SELECT format('%s %s %s', w, count(*), max(s.hops)) FROM unnest('{down,both}'::text[]) AS w, cft_neighbors('d1', 1100, w, 'walks') AS s GROUP BY w
    UNION ALL SELECT format('up %s %s', count(*), max(s.hops)) FROM cft_neighbors('d1250', 2147483647, 'up', 'walks') AS s
    UNION ALL SELECT format('prefix %s %s %s %s', s.entity, s.tree, cardinality(s.path), left(s.prefix, 9)) FROM cft_path_prefix('{d1250,d3,f}'::text[], 'walks') AS s $$;
SELECT * FROM deep();
CREATE TEMP TABLE by_image AS SELECT * FROM deep();
CREATE INDEX ON walks (parent);
CREATE INDEX ON walks (child);
ANALYZE walks;
SET cftrag.enable = off;
SELECT (SELECT array_agg(t) FROM deep() AS t) = (SELECT array_agg(t.deep) FROM by_image AS t) AS same;
RESET cftrag.enable;
DROP TABLE by_image;
DROP FUNCTION deep;
SELECT count(*) FROM cft_path('d1', 'd1301', 1299, 'walks');
SELECT count(*) FROM cft_path('d1', 'd1301', edges => 'walks');
-- What a search has found is within cftrag.work_memory.
SET cftrag.work_memory = '64kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM cft_neighbors('d1', 1100, edges => 'walks');
SELECT count(*) FROM cft_path('d1', 'd1301', 1300, 'walks');
SELECT cft_explain_path('d1', 'd1301', 1300, 'walks');
SELECT * FROM cft_lca('d1250', 'd1251', 'walks');
SELECT * FROM cft_depth('d1250', 'walks');
SELECT * FROM cft_subtree_size('d1', 'walks');
\set VERBOSITY default
SELECT count(*) FROM cft_neighbors('d1', 50, edges => 'walks');
RESET cftrag.work_memory;
DELETE FROM walks WHERE tree IN ('deep', 'flat');

-- So many shortest paths (2 to the power of 59) are refused before one is written; some end with the statement; the first is always there.
INSERT INTO walks SELECT 'ladder', 'l' || i || a, 'l' || i + 1 || b FROM generate_series(1, 60) AS i, unnest('{a,b}'::text[]) AS a, unnest('{a,b}'::text[]) AS b;
SELECT count(*) FROM cft_path('l1a', 'l61a', edges => 'walks');
-- Those of all trees count together, and more than can be counted are too many.
INSERT INTO walks SELECT 'ladder ' || t, 'l' || i || a, 'l' || i + 1 || b FROM generate_series(1, 40) AS t, generate_series(1, 60) AS i, unnest('{a,b}'::text[]) AS a, unnest('{a,b}'::text[]) AS b;
SELECT count(*) FROM cft_path('l1a', 'l61a', edges => 'walks');
SELECT count(*) FROM cft_path('l1a', 'l16a', edges => 'walks');
SELECT count(*), sum(hops) FROM cft_path('l1a', 'l8a', edges => 'walks');
DELETE FROM walks WHERE tree LIKE 'ladder %';
SET statement_timeout = 100;
\set VERBOSITY sqlstate
SELECT count(*) FROM cft_path('l1a', 'l20a', edges => 'walks');
\set VERBOSITY default
RESET statement_timeout;
SELECT length(cft_explain_path('l1a', 'l61a', edges => 'walks'));
SELECT count(*) FROM cft_path('l1a', 'l9a', edges => 'walks');

-- With the caller's rights, under the caller's policies.
CREATE ROLE regress_cft_paths;
GRANT SELECT ON walks TO regress_cft_paths;
ALTER TABLE walks ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON walks TO regress_cft_paths USING (parent <> 'kitchen');
SET ROLE regress_cft_paths;
SELECT * FROM cft_path('house', 'lamp', edges => 'walks');
SELECT * FROM cft_neighbors('lamp', 1, edges => 'walks');
SELECT * FROM cft_lca('oven', 'lamp', 'walks');
SELECT * FROM cft_depth('oven', 'walks');
SELECT cft_explain_path('oven', 'kitchen', edges => 'walks') IS NULL AS no_way;
SELECT * FROM cft_subtree_size('house', 'walks');
SELECT * FROM cft_roots('walks') WHERE tree = 'house';
RESET ROLE;
SELECT * FROM cft_lca('oven', 'lamp', 'walks');
SELECT * FROM cft_depth('oven', 'walks');
REVOKE SELECT ON walks FROM regress_cft_paths;
SET ROLE regress_cft_paths;
\set VERBOSITY sqlstate
SELECT * FROM cft_path('house', 'lamp', edges => 'walks');
SELECT * FROM cft_neighbors('lamp', 1, edges => 'walks');
SELECT * FROM cft_lca('door', 'lamp', 'walks');
SELECT * FROM cft_depth('lamp', 'walks');
SELECT * FROM cft_subtree_size('house', 'walks');
SELECT * FROM cft_roots('walks');
\set VERBOSITY default
RESET ROLE;
DROP FUNCTION plain_compare, forest, t;
DROP VIEW u, d, n, s, e;
DROP TABLE walks;
DROP ROLE regress_cft_paths;
