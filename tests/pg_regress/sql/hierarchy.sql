-- A graph becomes a hierarchy (cft_build_hierarchy): its entropy is that of the definition, it attaches, and it is the caller's own view.
\a\t
SET client_min_messages = warning;
CREATE SCHEMA graphs;

-- Two cliques of four and a bridge.
CREATE TABLE graphs.knows (a text, b text, weight numeric);
INSERT INTO graphs.knows
    SELECT prefix || i, prefix || j, 1 FROM unnest(ARRAY['x', 'y']) AS prefix, generate_series(1, 4) AS i, generate_series(i + 1, 4) AS j;
INSERT INTO graphs.knows VALUES ('x4', 'y1', 1);
SELECT parent, child, round(entropy_before::numeric, 4) AS before, round(entropy_after::numeric, 4) AS after
  FROM cft_build_hierarchy('graphs.knows', 'a', 'b', height => 2);
SELECT DISTINCT tree FROM cft_build_hierarchy('graphs.knows', 'a', 'b');

-- The definition (Li and Pan), in plain SQL, from the rows alone: cuts, volumes, parents. A row of `hierarchy` is a node but the root.
CREATE FUNCTION graphs.by_definition(graph regclass, hierarchy regclass, OUT before float8, OUT after float8) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($q$
        WITH RECURSIVE ends AS MATERIALIZED (
            SELECT a::text, b::text, weight::float8 AS w FROM %1$s WHERE a::text <> b::text
        ), degrees AS (
            SELECT node, sum(w) AS d FROM (SELECT a AS node, w FROM ends UNION ALL SELECT b, w FROM ends) AS z GROUP BY node
        ), under(above, node) AS (
            SELECT child, child FROM %2$s UNION SELECT parent, node FROM under JOIN %2$s ON child = above
        ), volumes AS MATERIALIZED (
            SELECT above, sum(d) AS v FROM under JOIN degrees USING (node) GROUP BY above
        ), cuts AS MATERIALIZED (
            SELECT above, sum(w) AS g
              FROM (SELECT above, w, a, b FROM under JOIN ends ON node = a
                    UNION ALL SELECT above, w, a, b FROM under JOIN ends ON node = b) AS z
             WHERE (SELECT count(*) FROM under AS u WHERE u.above = z.above AND u.node IN (z.a, z.b)) = 1 GROUP BY above
        ), whole AS (
            SELECT sum(d) AS total FROM degrees
        )
        SELECT (SELECT -sum(d / total * ln(d / total) / ln(2)) FROM degrees, whole WHERE d > 0),
               (SELECT -sum(g / total * ln(own.v / coalesce(up.v, total)) / ln(2))
                  FROM %2$s AS h CROSS JOIN whole JOIN cuts ON cuts.above = h.child JOIN volumes AS own ON own.above = h.child
                  LEFT JOIN volumes AS up ON up.above = h.parent WHERE g > 0)$q$, graph, hierarchy) INTO before, after;
END $$;
CREATE FUNCTION graphs.check(graph regclass, height int) RETURNS text LANGUAGE plpgsql SET client_min_messages = error AS $$
DECLARE
    say record;
    should record;
    wrong text := '';
    leaves boolean;
BEGIN
    DROP TABLE IF EXISTS made;
    EXECUTE format('CREATE TEMP TABLE made AS SELECT * FROM cft_build_hierarchy(%L, ''a'', ''b'', ''weight'', %s)', graph, height);
    CREATE INDEX ON made (child);
    SELECT coalesce(sum(entropy_before), 0) AS before, coalesce(sum(entropy_after), 0) AS after INTO say FROM made;
    SELECT * INTO should FROM graphs.by_definition(graph, 'made');
    IF abs(say.before - coalesce(should.before, 0)) > 1e-9 OR abs(say.after - coalesce(should.after, 0)) > 1e-9 THEN
        wrong := format('entropy: %s, not %s', say, should);
    END IF;
    IF EXISTS (SELECT FROM made GROUP BY child HAVING count(*) > 1) THEN wrong := wrong || 'a child twice'; END IF;
    -- Each entity is a leaf, and each leaf an entity.
    EXECUTE format('SELECT NOT EXISTS (
        (SELECT a::text FROM %1$s WHERE b IS NOT NULL AND a IS NOT NULL UNION SELECT b::text FROM %1$s WHERE a IS NOT NULL AND b IS NOT NULL)
        EXCEPT (SELECT child FROM made EXCEPT SELECT parent FROM made)
        UNION ALL ((SELECT child FROM made EXCEPT SELECT parent FROM made)
        EXCEPT (SELECT a::text FROM %1$s UNION SELECT b::text FROM %1$s)))', graph) INTO leaves;
    IF NOT leaves THEN wrong := wrong || ' leaves'; END IF;
    RETURN format('%s entities, %s communities, height %s of %s, %s to %s bits%s',
        (SELECT count(*) FROM made WHERE child NOT IN (SELECT parent FROM made)),
        (SELECT count(DISTINCT parent) FROM made),
        (WITH RECURSIVE down(node, depth) AS (
            SELECT DISTINCT parent, 0 FROM made WHERE parent NOT IN (SELECT child FROM made)
            UNION ALL SELECT child, depth + 1 FROM down JOIN made ON parent = node WHERE depth < 20) SELECT max(depth) FROM down),
        height, round(say.before::numeric, 3), round(say.after::numeric, 3), coalesce(' WRONG ' || nullif(wrong, ''), ''));
END $$;
SELECT graphs.check('graphs.knows', height) FROM generate_series(1, 4) AS height;

-- Weights, parallel edges in both directions, self-edges, entities without an edge, rows that are none, several components.
CREATE TABLE graphs.odd (a varchar(20), b text, weight float8);
INSERT INTO graphs.odd VALUES ('a', 'b', 1), ('b', 'a', 2.5), ('a', 'a', 7), ('b', 'c', 0), ('c', 'd', 0.25), ('d', 'e', 1e-3), ('e', 'c', 3),
    ('alone', 'alone', 1), ('f', 'g', 0), (NULL, 'h', 1), ('i', NULL, NULL), ('', 'a', 1), ('community', 'b', 1), ('community_ 1', 'e', 2);
SELECT graphs.check('graphs.odd', height) FROM generate_series(1, 4) AS height;
SELECT tree, parent, child FROM cft_build_hierarchy('graphs.odd', 'a', 'b', 'weight');

-- The order of rows and of ends does not matter, to the last bit.
CREATE TABLE graphs.turned AS SELECT b AS a, a AS b, weight FROM graphs.odd ORDER BY b DESC, a;
SELECT count(*) FROM (
    (SELECT parent, child, entropy_before, entropy_after FROM cft_build_hierarchy('graphs.odd', 'a', 'b', 'weight')
     EXCEPT ALL SELECT parent, child, entropy_before, entropy_after FROM cft_build_hierarchy('graphs.turned', 'a', 'b', 'weight'))) AS different;

-- Random graphs, sparse ones to dense ones; integer entities.
CREATE TABLE graphs.random (a int, b bigint, weight int);
CREATE FUNCTION graphs.fill(n int, edges int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE graphs.random;
    INSERT INTO graphs.random
        SELECT (hashint4(i) & 2147483647) % n, (hashint4(i + 1000000) & 2147483647) % n, 1 + i % 3 FROM generate_series(1, edges) AS i;
END $$;
SELECT n, edges, f.*, graphs.check('graphs.random', 3) FROM (VALUES (1, 3), (2, 2), (40, 20), (40, 60), (60, 200), (30, 400)) AS v(n, edges), graphs.fill(n, edges) AS f;

-- One entity; no row.
TRUNCATE graphs.random;
SELECT * FROM cft_build_hierarchy('graphs.random', 'a', 'b');
INSERT INTO graphs.random VALUES (1, 1, 1);
SELECT * FROM cft_build_hierarchy('graphs.random', 'a', 'b');

-- Long names are shortened in those of communities, at characters.
CREATE TABLE graphs.long (a text, b text);
INSERT INTO graphs.long SELECT x, y FROM (VALUES (repeat('é', 5000), 'b'), ('c', repeat('é', 5000)), ('f', repeat('é', 5000)), ('d', 'e'), ('c', 'b')) AS v(x, y);
SELECT DISTINCT parent FROM cft_build_hierarchy('graphs.long', 'a', 'b') ORDER BY 1;

-- Ready to attach.
CREATE TABLE graphs.communities AS SELECT tree, parent, child FROM cft_build_hierarchy('graphs.knows', 'a', 'b');
SELECT cft_attach('graphs.communities', tree => 'tree');
SELECT oracle.build('graphs.communities');
SELECT relation, depth, relative FROM cft_context('x2', up => 3, edges => 'graphs.communities');
SELECT oracle.all_same('graphs.communities');
SELECT count(*) AS problems FROM cft_verify('graphs.communities');
DROP TABLE graphs.communities;

-- What cannot be.
CREATE TABLE graphs.parted (a int, b int, kind text);
SELECT * FROM cft_build_hierarchy('graphs.parted', 'a', 'b', 'a');
\set VERBOSITY sqlstate
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'b', height => 0);
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'b', height => 17);
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'b', height => NULL);
SELECT * FROM cft_build_hierarchy(NULL, 'a', 'b');
SELECT * FROM cft_build_hierarchy('graphs.knows', NULL, 'b');
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', NULL);
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'no');
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'b', 'no');
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'b', 'a');
SELECT * FROM cft_build_hierarchy('graphs.parted', 'a', 'b', 'kind');
SELECT * FROM cft_build_hierarchy('graphs.parted', 'a', 'b', 'b');
SELECT * FROM cft_build_hierarchy('graphs.knows', 'a', 'a');
SELECT * FROM cft_build_hierarchy('pg_class', 'relname', 'relacl');
SELECT * FROM cft_build_hierarchy(0, 'a', 'b');
SELECT * FROM cft_build_hierarchy('pg_class_oid_index', 'oid', 'oid');
\set VERBOSITY default
CREATE TABLE graphs.bad (a text, b text, weight float8);
INSERT INTO graphs.bad VALUES ('p', 'q', 1);
SELECT graphs.check('graphs.bad', 2);
INSERT INTO graphs.bad VALUES ('q', 'r', -1);
SELECT * FROM cft_build_hierarchy('graphs.bad', 'a', 'b', 'weight');
UPDATE graphs.bad SET weight = 'NaN' WHERE b = 'r';
SELECT * FROM cft_build_hierarchy('graphs.bad', 'a', 'b', 'weight');
UPDATE graphs.bad SET weight = 'Infinity' WHERE b = 'r';
SELECT * FROM cft_build_hierarchy('graphs.bad', 'a', 'b', 'weight');
UPDATE graphs.bad SET weight = NULL WHERE b = 'r';
SELECT * FROM cft_build_hierarchy('graphs.bad', 'a', 'b', 'weight');
UPDATE graphs.bad SET weight = 1.7e308;
SELECT * FROM cft_build_hierarchy('graphs.bad', 'a', 'b', 'weight');
UPDATE graphs.bad SET weight = CASE b WHEN 'r' THEN 1e-320 ELSE 1e307 END;
SELECT parent, child FROM cft_build_hierarchy('graphs.bad', 'a', 'b', 'weight');
-- Without a weight column the weights are not read.
UPDATE graphs.bad SET weight = -1;
SELECT parent, child, entropy_before FROM cft_build_hierarchy('graphs.bad', 'a', 'b');

-- Memory is bounded.
SET cftrag.work_memory = '1MB';
CREATE TABLE graphs.large AS SELECT i AS a, i + 1 AS b FROM generate_series(1, 20000) AS i;
SELECT count(*) FROM cft_build_hierarchy('graphs.large', 'a', 'b');
RESET cftrag.work_memory;
SELECT count(*) FROM cft_build_hierarchy('graphs.large', 'a', 'b');

-- Cancelled while it is made, not when it is done: a third of the time it takes, and it ends long before.
CREATE TABLE graphs.larger AS
    SELECT i % 20000 AS a, (i::bigint * 7919 * (1 + i / 20000)) % 20001 AS b FROM generate_series(1, 100000) AS i;
CREATE TABLE graphs.times (at timestamptz);
INSERT INTO graphs.times VALUES (clock_timestamp());
SELECT count(*) > 20000 AS made FROM cft_build_hierarchy('graphs.larger', 'a', 'b');
INSERT INTO graphs.times VALUES (clock_timestamp());
SELECT ceil(extract(epoch FROM max(at) - min(at)) * 1000 / 3) AS third FROM graphs.times \gset
SET statement_timeout = :third;
SELECT count(*) FROM cft_build_hierarchy('graphs.larger', 'a', 'b');
RESET statement_timeout;
INSERT INTO graphs.times VALUES (clock_timestamp());
SELECT took[2] < 0.8 * took[1] AS ended FROM (
    SELECT array_agg(took ORDER BY at) AS took FROM (
        SELECT at, at - lag(at) OVER (ORDER BY at) AS took FROM graphs.times) AS z WHERE took IS NOT NULL) AS z;
SELECT count(*) FROM cft_build_hierarchy('graphs.knows', 'a', 'b');

-- The caller's rights: the table's own error without them, and only the rows that policies let through.
CREATE ROLE regress_cft_graph;
GRANT USAGE ON SCHEMA graphs TO regress_cft_graph;
CREATE VIEW graphs.seen AS SELECT * FROM graphs.knows;
SET ROLE regress_cft_graph;
SELECT count(*) FROM cft_build_hierarchy('graphs.knows', 'a', 'b');
RESET ROLE;
GRANT SELECT (a, b) ON graphs.knows TO regress_cft_graph;
SET ROLE regress_cft_graph;
SELECT count(*) FROM cft_build_hierarchy('graphs.knows', 'a', 'b');
SELECT count(*) FROM cft_build_hierarchy('graphs.knows', 'a', 'b', 'weight');
SELECT count(*) FROM cft_build_hierarchy('graphs.seen', 'a', 'b');
RESET ROLE;
ALTER TABLE graphs.knows ENABLE ROW LEVEL SECURITY;
CREATE POLICY x_only ON graphs.knows TO regress_cft_graph USING (a LIKE 'x%' AND b LIKE 'x%');
SET ROLE regress_cft_graph;
SELECT parent, child FROM cft_build_hierarchy('graphs.knows', 'a', 'b');
RESET ROLE;
-- A view, a temporary table, a partitioned table: whatever can be read.
SELECT count(*) FROM cft_build_hierarchy('graphs.seen', 'a', 'b');
CREATE TEMP TABLE passing AS TABLE graphs.knows;
SELECT count(*) FROM cft_build_hierarchy('passing', 'a', 'b');
CREATE TABLE graphs.parts (a text, b text) PARTITION BY LIST (a);
CREATE TABLE graphs.part PARTITION OF graphs.parts DEFAULT;
INSERT INTO graphs.parts VALUES ('a', 'b'), ('b', 'c');
SELECT count(*) FROM cft_build_hierarchy('graphs.parts', 'a', 'b');
-- Names that want quotes.
CREATE TABLE graphs."Odd ""Name" ("The A" uuid, "b;--" name);
INSERT INTO graphs."Odd ""Name" VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'x');
SELECT tree, parent, child FROM cft_build_hierarchy('graphs."Odd ""Name"', 'The A', 'b;--');
-- The statement's snapshot, and one's own rows.
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO graphs.long VALUES ('own', 'd');
SELECT count(*) FROM cft_build_hierarchy('graphs.long', 'a', 'b') WHERE child = 'own';
ROLLBACK;
SELECT count(*) FROM cft_build_hierarchy('graphs.long', 'a', 'b') WHERE child = 'own';
DROP SCHEMA graphs CASCADE;
DROP ROLE regress_cft_graph;
