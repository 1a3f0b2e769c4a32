-- Paths, ancestors, depth, size and roots on the Disease Ontology (12,247 entities) and DART (cycles, many small trees), relation filtering
-- and hierarchies of both, compared with plain definitions.
SET client_min_messages = warning;
SET jit = off;
CREATE TABLE raw (tree text, parent text, child text);
CREATE TABLE dart (parent text, child text, predicate text, times text);
\copy dart FROM 'dart_edges.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
CREATE INDEX ON dart (parent);
CREATE INDEX ON dart (child);
SELECT cft_attach('dart') \g /dev/null
SELECT cft_build('dart') \g /dev/null
-- The current edges, in both directions, and the steps of a breadth-first search from b, level by level.
CREATE TABLE s (a text COLLATE "C", b text COLLATE "C", step text);
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
CREATE FUNCTION plain_said(path text[]) RETURNS text LANGUAGE sql AS $$
    SELECT path[1] || ' is ' || string_agg(s.step || ' ' || s.b, ', which is ' ORDER BY i) || '.' FROM generate_series(2, cardinality(path)) AS i JOIN s ON s.a = path[i - 1] AND s.b = path[i] $$;
CREATE FUNCTION check_paths(edges regclass, pairs int, OUT cases bigint, OUT different bigint) LANGUAGE plpgsql AS $$
DECLARE
    p record;
BEGIN
    TRUNCATE s;
    EXECUTE format('INSERT INTO s SELECT a, b, CASE count(DISTINCT step) WHEN 2 THEN ''under and above'' ELSE min(step) END
                      FROM (SELECT parent, child, ''above'' FROM %1$s UNION ALL SELECT child, parent, ''under'' FROM %1$s) AS z(a, b, step) WHERE a <> b GROUP BY a, b', edges);
    ANALYZE s;
    cases := 0; different := 0;
    FOR p IN SELECT x.a, (SELECT y.a FROM s AS y WHERE y.a <> x.a ORDER BY md5(x.a || y.a) LIMIT 1) AS b FROM (SELECT DISTINCT a FROM s ORDER BY a) AS x ORDER BY md5(x.a) LIMIT pairs LOOP
        PERFORM plain_far(p.b);
        cases := cases + 1;
        different := different + (ARRAY(SELECT c.path::text FROM cft_path(p.a, p.b, 1000, edges) AS c) IS DISTINCT FROM ARRAY(SELECT plain_paths(p.a)))::int
                     + (cft_explain_path(p.a, p.b, 1000, edges) IS DISTINCT FROM (SELECT plain_said(u.path::text[]) FROM plain_paths(p.a) WITH ORDINALITY AS u(path, n) WHERE n = 1))::int
                     + (ARRAY(SELECT (c.neighbor, c.hops)::text FROM cft_neighbors(p.b, 1000, 'both', edges) AS c ORDER BY c.hops, c.neighbor COLLATE "C")
                        IS DISTINCT FROM ARRAY(SELECT (far.name, far.hops)::text FROM far WHERE far.hops > 0 ORDER BY far.hops, far.name))::int;
    END LOOP;
END $$;
INSERT INTO claim SELECT 'paths, disease', cases, different, different = 0 AND cases = 20 FROM check_paths('entity_edges', 20);
INSERT INTO claim SELECT 'paths, dart', cases, different, different = 0 AND cases = 200 FROM check_paths('dart', 200);

-- Checks the lineage of entities, from the edges in e: above has each entity's ancestors and itself; the lowest common ancestors have below them
-- only common ancestors that are also above them.
CREATE FUNCTION check_lineage(what text, edges regclass, pairs int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS above;
    CREATE TABLE above AS
        WITH RECURSIVE u(a, b, hops) AS (SELECT name, name, 0 FROM (SELECT parent AS name FROM e UNION SELECT child FROM e) AS p
                                         UNION SELECT u.a, e.parent, u.hops + 1 FROM u JOIN e ON e.child = u.b WHERE u.hops < 100)
        SELECT a, b, min(hops) AS hops FROM u GROUP BY a, b;
    CREATE UNIQUE INDEX ON above (a, b);
    CREATE INDEX ON above (b);
    ANALYZE above;
    CREATE TEMP TABLE pair AS SELECT x.name AS a, lead(x.name) OVER (ORDER BY md5(x.name)) AS b FROM (SELECT DISTINCT a AS name FROM above) AS x ORDER BY md5(x.name) LIMIT pairs;
    -- Pairs in a cycle, and pairs of siblings: two random entities of many small trees are hardly ever in one tree.
    INSERT INTO pair SELECT x.a, x.b FROM above AS x JOIN above AS y ON y.a = x.b AND y.b = x.a WHERE x.a <> x.b ORDER BY 1, 2 LIMIT pairs;
    INSERT INTO pair SELECT x.child, y.child FROM e AS x JOIN e AS y ON y.parent = x.parent AND y.child <> x.child ORDER BY md5(x.child || y.child) LIMIT pairs;
    INSERT INTO claim
    SELECT 'lca, ' || what, count(*), count(*) FILTER (WHERE ours IS DISTINCT FROM plain), bool_and(ours IS NOT DISTINCT FROM plain) AND count(ours) >= pairs
      FROM (SELECT (SELECT array_agg((c.ancestor, c.depth_a, c.depth_b)::text) FROM cft_lca(p.a, p.b, edges) AS c) AS ours,
                   (SELECT array_agg((x.b, x.hops, y.hops)::text ORDER BY x.b COLLATE "C") FROM above AS x JOIN above AS y ON y.a = p.b AND y.b = x.b
                     WHERE x.a = p.a AND NOT EXISTS (SELECT FROM above AS v JOIN above AS w ON w.a = p.b AND w.b = v.b JOIN above AS t ON t.a = v.b AND t.b = x.b
                                                      WHERE v.a = p.a AND v.b <> x.b AND NOT EXISTS (SELECT FROM above AS k WHERE k.a = x.b AND k.b = v.b))) AS plain
              FROM pair AS p WHERE b IS NOT NULL) AS z;
    INSERT INTO claim
    SELECT 'depth and size, ' || what, count(*), count(*) FILTER (WHERE wrong), bool_and(NOT wrong)
      FROM (SELECT (SELECT d.depth FROM cft_depth(name, edges) AS d) IS DISTINCT FROM (SELECT min(hops) FROM above WHERE a = name AND b NOT IN (SELECT child FROM e))
                   OR (SELECT d.size FROM cft_subtree_size(name, edges) AS d) IS DISTINCT FROM (SELECT count(*) FROM above WHERE b = name) AS wrong
              FROM (SELECT a AS name FROM pair UNION SELECT b FROM pair WHERE b IS NOT NULL) AS n) AS z;
    INSERT INTO claim SELECT 'roots, ' || what, count(*), count(*) FILTER (WHERE r.root IS DISTINCT FROM p.parent), bool_and(r.root IS NOT DISTINCT FROM p.parent)
      FROM cft_roots(edges) AS r FULL JOIN (SELECT DISTINCT parent FROM e WHERE parent NOT IN (SELECT child FROM e)) AS p ON p.parent = r.root;
    DROP TABLE pair;
END $$;
SELECT check_lineage('disease', 'entity_edges', 300) \g /dev/null

-- Checks the hierarchy of the edges in e, taken as a graph: its entropies follow from cuts and volumes by the definition, and each entity is a leaf
-- once.
CREATE FUNCTION check_hierarchy(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE made AS SELECT * FROM cft_build_hierarchy('e', 'parent', 'child');
    CREATE TEMP TABLE ends AS SELECT row_number() OVER () AS n, parent AS a, child AS b FROM e;
    CREATE TEMP TABLE under AS WITH RECURSIVE u(top, name) AS (SELECT child, child FROM made UNION SELECT made.parent, u.name FROM u JOIN made ON made.child = u.top) SELECT * FROM u;
    CREATE INDEX ON under (name);
    ANALYZE under;
    INSERT INTO claim
    WITH hits AS MATERIALIZED (SELECT u.top, z.n, count(*) AS ends FROM under AS u JOIN (SELECT n, a AS name FROM ends UNION ALL SELECT n, b FROM ends) AS z ON z.name = u.name GROUP BY u.top, z.n),
         whole AS (SELECT 2 * count(*)::float8 AS v FROM ends),
         each AS MATERIALIZED (SELECT top, sum(ends)::float8 AS volume, count(*) FILTER (WHERE ends = 1)::float8 AS cut FROM hits GROUP BY top),
         plain AS (SELECT -sum(CASE WHEN leaf THEN volume / v * log(2, (volume / v)::numeric)::float8 END) AS before, -sum(cut / v * log(2, (volume / above)::numeric)::float8) AS after
                     FROM (SELECT x.*, w.v, y.volume AS above, m.child NOT IN (SELECT parent FROM made) AS leaf FROM made AS m JOIN each AS x ON x.top = m.child JOIN each AS y ON y.top = m.parent, whole AS w) AS z),
         ours AS (SELECT sum(entropy_before) AS before, sum(entropy_after) AS after FROM made),
         leaves AS (SELECT count(*) AS n, count(DISTINCT child) AS different FROM made WHERE child NOT IN (SELECT parent FROM made))
    SELECT 'hierarchy, ' || what, leaves.n, (abs(ours.before - plain.before) > 1e-6)::int + (abs(ours.after - plain.after) > 1e-6)::int,
           abs(ours.before - plain.before) < 1e-6 AND abs(ours.after - plain.after) < 1e-6 AND ours.after < 0.75 * ours.before
           AND leaves.n = leaves.different AND leaves.n = (SELECT count(*) FROM (SELECT parent FROM e UNION SELECT child FROM e) AS z)
      FROM ours, plain, leaves;
    DROP TABLE made, ends, under;
END $$;
SELECT check_hierarchy('disease') \g /dev/null

-- The ontology has no cycle and no duplicate; an edge is removed if another parent of its child is below its parent.
INSERT INTO claim SELECT 'filter, disease', count(*), count(*) FILTER (WHERE wrong), bool_and(NOT wrong)
  FROM (SELECT f.reason IS DISTINCT FROM CASE WHEN EXISTS (SELECT FROM e AS o JOIN above AS v ON v.a = o.parent AND v.b = f.parent WHERE o.child = f.child AND o.parent <> f.parent) THEN 'transitive' END AS wrong
          FROM cft_filter_relations('entity_edges', 'parent', 'child', 'tree') AS f) AS z;
INSERT INTO raw SELECT NULL, parent, child FROM dart;
CREATE TEMP TABLE ours AS SELECT tree, parent, child, kept, reason FROM cft_filter_relations('dart', 'parent', 'child');
CREATE TEMP TABLE plain AS SELECT * FROM plain_filter();
INSERT INTO claim SELECT 'filter, dart', (SELECT count(*) FROM ours), count(*), count(*) = 0 AND (SELECT count(DISTINCT reason) FROM ours) >= 3
  FROM ((TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours)) AS z;
INSERT INTO claim SELECT 'check_edges, dart', (SELECT count(*) FROM ours), count(*), count(*) = 0
  FROM ((TABLE ours EXCEPT ALL SELECT * FROM cft_check_edges('dart')) UNION ALL (SELECT * FROM cft_check_edges('dart') EXCEPT ALL TABLE ours)) AS z;

-- A table grows row by row: exactly the rows that close a cycle with earlier ones are refused. DART is taken as it is; the ontology has no cycle, so
-- 200 of its rows follow reversed, and each closes one.
CREATE FUNCTION check_cycles(what text, rows text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
    closes boolean;
    said text;
    cases bigint := 0;
    refused bigint := 0;
    wrong bigint := 0;
BEGIN
    CREATE TABLE grown (parent text, child text);
    CREATE INDEX ON grown (child);
    CREATE INDEX ON grown (parent);
    PERFORM cft_attach('grown');
    CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON grown FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
    FOR r IN EXECUTE rows LOOP
        WITH RECURSIVE u(name) AS (SELECT r.parent UNION SELECT g.parent FROM u JOIN grown AS g ON g.child = u.name) SELECT bool_or(name = r.child) INTO closes FROM u;
        said := NULL;
        BEGIN
            INSERT INTO grown VALUES (r.parent, r.child);
        EXCEPTION WHEN check_violation THEN
            GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
        END;
        cases := cases + 1;
        refused := refused + (said IS NOT NULL)::int;
        -- The cycle in the message begins and ends with the child, and reaches it from the parent.
        wrong := wrong + (closes <> (said IS NOT NULL) OR NOT coalesce(
            starts_with(said, 'It closes a cycle: ' || r.child || ' > ') AND right(said, length(r.parent || r.child) + 4) = r.parent || ' > ' || r.child || '.', true))::int;
    END LOOP;
    DROP TABLE grown;
    INSERT INTO claim SELECT 'reject_cycles, ' || what, cases, wrong, wrong = 0 AND refused > 0;
END $$;
SELECT check_cycles('dart', 'SELECT parent, child FROM dart ORDER BY md5(parent || child)') \g /dev/null
SELECT check_cycles('disease', '(SELECT parent, child FROM entity_edges ORDER BY md5(parent || child)) UNION ALL (SELECT v.a, v.b FROM (SELECT child AS a, parent AS b FROM entity_edges) AS v ORDER BY md5(a || b) LIMIT 200)') \g /dev/null
DROP TABLE raw, dart, s, far, above, ours, plain;
