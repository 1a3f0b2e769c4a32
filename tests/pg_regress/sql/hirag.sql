-- cft_bridge and cft_coarse_fine against their definitions by plain tables, on random forests.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
-- The definitions are long; compiling them would be most of the time.
SET jit = off;
CREATE TABLE wood (tree text, parent text, child text);
CREATE TABLE meaning (entity text, embedding vector(3));
SELECT cft_attach('wood', tree => 'tree');
SELECT cft_attach_embeddings('meaning');
CREATE VIEW e AS SELECT DISTINCT tree, parent COLLATE "C" AS parent, child COLLATE "C" AS child FROM wood WHERE parent <> child;
CREATE VIEW place AS SELECT tree, parent AS name FROM e UNION SELECT tree, child FROM e;
-- All ways up that meet nobody twice; of each end the shortest, of several the smallest.
CREATE FUNCTION ways(start text, up int) RETURNS TABLE (tree text, depth int, name text, way text[]) LANGUAGE sql AS $$
    WITH RECURSIVE w(tree, name, way) AS (
        SELECT tree, name, ARRAY[name] FROM place WHERE name = start
        UNION ALL
        SELECT w.tree, e.parent, e.parent || w.way FROM w JOIN e ON e.child = w.name AND e.tree IS NOT DISTINCT FROM w.tree WHERE e.parent <> ALL (w.way) AND cardinality(w.way) <= up)
    SELECT DISTINCT ON (tree, name) tree, cardinality(way) - 1, name::text, way::text[] FROM w ORDER BY tree, name, cardinality(way), way $$;
CREATE FUNCTION plain_bridge(entities text[], max_hops int) RETURNS TABLE (tree text, apex text, depth int, parent text, child text, leads_to text[]) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    t record;
    best record;
BEGIN
    CREATE TEMP TABLE w AS SELECT z.hit, y.* FROM (SELECT DISTINCT u AS hit FROM unnest(entities) AS u) AS z, ways(z.hit, max_hops) AS y;
    FOR t IN SELECT DISTINCT w.tree FROM w ORDER BY w.tree NULLS FIRST LOOP
        LOOP
            SELECT w.name, count(*) AS n INTO best FROM w WHERE w.tree IS NOT DISTINCT FROM t.tree GROUP BY w.name ORDER BY count(*) DESC, sum(w.depth), w.name COLLATE "C" LIMIT 1;
            EXIT WHEN best.n IS NULL OR best.n < 2;
            RETURN QUERY SELECT t.tree, best.name, s.i, w.way[s.i], w.way[s.i + 1], array_agg(w.hit ORDER BY w.hit COLLATE "C")
                FROM w, LATERAL generate_series(1, w.depth) AS s(i) WHERE w.name = best.name AND w.tree IS NOT DISTINCT FROM t.tree
                GROUP BY 3, 4, 5 ORDER BY 3, w.way[s.i] COLLATE "C", w.way[s.i + 1] COLLATE "C";
            DELETE FROM w WHERE w.tree IS NOT DISTINCT FROM t.tree AND w.hit IN (SELECT o.hit FROM w AS o WHERE o.name = best.name AND o.tree IS NOT DISTINCT FROM t.tree);
        END LOOP;
    END LOOP;
    DROP TABLE w;
END $$;
CREATE FUNCTION plain_coarse_fine(q vector, coarse_k int, fine_k int, down int, max_hops int, budget int, shares float8[])
RETURNS TABLE (part text, entity text, tree text, score float8, under text, text text) LANGUAGE sql AS $$
    WITH RECURSIVE s AS (SELECT entity, 1 - min(nullif(embedding <=> q, 'NaN')) AS score FROM meaning GROUP BY entity),
    c AS (SELECT s.*, row_number() OVER (ORDER BY score DESC, entity COLLATE "C") AS n FROM s WHERE score IS NOT NULL AND entity IN (SELECT parent FROM e) ORDER BY n LIMIT coarse_k),
    d(coarse, n, tree, name, depth) AS (
        SELECT c.entity, c.n, p.tree, p.name, 0 FROM c JOIN place AS p ON p.name = c.entity
        UNION SELECT d.coarse, d.n, d.tree, e.child, d.depth + 1 FROM d JOIN e ON e.parent = d.name AND e.tree IS NOT DISTINCT FROM d.tree WHERE d.depth < down),
    l AS (SELECT z.*, row_number() OVER (ORDER BY z.score DESC, z.name) AS n FROM (
              SELECT DISTINCT ON (d.name) d.name, d.coarse, s.score FROM d JOIN s ON s.entity = d.name WHERE s.score IS NOT NULL AND d.name NOT IN (SELECT parent FROM e) ORDER BY d.name, d.n) AS z ORDER BY n LIMIT fine_k),
    b AS (SELECT h AS hit, b.tree, b.apex, min(b.n) AS first, b.apex || ' > ' || string_agg(b.child, ' > ' ORDER BY b.depth) AS way
            FROM plain_bridge((SELECT array_agg(name::text) FROM l), max_hops) WITH ORDINALITY AS b(tree, apex, depth, parent, child, leads_to, n), unnest(b.leads_to) AS h GROUP BY 1, 2, 3),
    r AS (SELECT 1 AS place, 'global' AS part, n, entity, NULL AS tree, score, NULL AS under, entity AS text, shares[3] AS share FROM c
          UNION ALL SELECT 2, 'bridge', row_number() OVER (ORDER BY b.first, l.n), b.hit, b.tree, NULL, b.apex, b.way, shares[2] FROM b JOIN l ON l.name = b.hit
          UNION ALL SELECT 3, 'local', n, name, NULL, score, coarse, name, shares[1] FROM l)
    SELECT part, entity, tree, score, under, text FROM r
     WHERE budget IS NULL OR (SELECT sum((char_length(o.text) + 3) / 4) FROM r AS o WHERE o.place = r.place AND o.n <= r.n) <= floor(budget * share + 1e-9) ORDER BY place, n $$;
CREATE FUNCTION try(seeds int) RETURNS TABLE (what text, cases bigint, different bigint, results boolean, examples text) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (what text, which text, same bool, n bigint);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 300.0);
        INSERT INTO tried SELECT 'bridge', concat_ws(' ', 'seed', seed, hops, names),
               (SELECT array_agg((b.tree, b.apex, b.depth, b.parent, b.child, b.leads_to)::text) FROM cft_bridge(names, hops) AS b) IS NOT DISTINCT FROM (SELECT array_agg(b::text) FROM plain_bridge(names, hops) AS b),
               (SELECT count(*) FROM cft_bridge(names, hops))
          FROM (VALUES ('{Ä17,"Kapitel 18","x 20",Ä21,"Kapitel 22",19}'::text[]), ('{19,"x 16",nobody,"x 16",NULL,Ä5,Ä9}'), ('{Ä9,"Kapitel 10",11,"x 12",Ä13,"Kapitel 14","x 8",7,Ä21}'), ('{Ä13}')) AS n(names), unnest('{0,1,2,5,1000}'::int[]) AS hops;
        INSERT INTO tried SELECT 'coarse_fine', concat_ws(' ', 'seed', seed, coarse, fine, down, hops, budget),
               (SELECT array_agg((r.part, r.entity, r.tree, r.score, r.under, r.text)::text) FROM cft_coarse_fine('[0.7,-0.2,0.3]', coarse, fine, down, hops, budget, 0.45, 0.25, 0.3) AS r)
               IS NOT DISTINCT FROM (SELECT array_agg(r::text) FROM plain_coarse_fine('[0.7,-0.2,0.3]', coarse, fine, down, hops, budget, '{0.45,0.25,0.3}') AS r),
               (SELECT count(*) FROM cft_coarse_fine('[0.7,-0.2,0.3]', coarse, fine, down, hops, budget))
          FROM (VALUES (2, 5, 3, 3, NULL), (1, 2, 1, 1, 20), (4, 10, 1000, 1000, 60), (3, 0, 3, 3, NULL), (0, 3, 3, 3, NULL), (5, 4, 2, 0, 7)) AS c(coarse, fine, down, hops, budget);
    END LOOP;
    RETURN QUERY SELECT t.what, count(*), count(*) FILTER (WHERE same IS NOT TRUE), sum(n) > count(*), string_agg(which, '; ') FILTER (WHERE same IS NOT TRUE AND random() < 0.1) FROM tried AS t GROUP BY t.what ORDER BY 1;
    DROP TABLE tried;
END $$;
SELECT * FROM try(3);
SET cftrag.enable = off;
SELECT * FROM try(1);
RESET cftrag.enable;
-- Each bridge is a tree: one apex, and one parent for each other entity.
CREATE FUNCTION no_trees(seeds int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    bad bigint := 0;
BEGIN
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 77.0);
        bad := bad + (SELECT count(*) FROM (SELECT FROM cft_bridge((SELECT array_agg(DISTINCT name::text) FROM place), 1000) GROUP BY tree, apex HAVING count(DISTINCT child) <> count(*) OR bool_or(child = apex)) AS z);
    END LOOP;
    RETURN bad;
END $$;
SELECT no_trees(3);
-- Where each entity has one parent, it is the Steiner tree: the edges that have given entities on both of their sides.
CREATE FUNCTION steiner(seeds int) RETURNS TABLE (cases bigint, different bigint, edges bigint) LANGUAGE plpgsql AS $$
DECLARE
    names text[];
BEGIN
    CREATE TEMP TABLE tried (same bool, n bigint);
    FOR seed IN 1 .. seeds LOOP
        PERFORM setseed(seed / 99.0);
        DELETE FROM wood;
        -- Two trees of the same entities, with two roots each.
        INSERT INTO wood SELECT t.tree, 'n' || i % 2 + 2 * floor(random() * (i / 2)), 'n' || i FROM unnest('{a,b}'::text[]) AS t(tree), generate_series(2, 40) AS i;
        FOR given IN 1 .. 8 LOOP
            names := ARRAY(SELECT 'n' || i FROM generate_series(0, 40) AS i ORDER BY random() LIMIT given);
            INSERT INTO tried
            WITH RECURSIVE d(tree, top, name) AS (SELECT w.tree, w.child, w.child FROM wood AS w UNION ALL SELECT d.tree, d.top, w.child FROM d JOIN wood AS w ON w.parent = d.name AND w.tree = d.tree),
            s AS (SELECT w.tree, w.parent, w.child, (SELECT count(*) FROM d WHERE d.tree = w.tree AND d.top = w.child AND d.name = ANY (names)) AS below,
                         (SELECT count(*) FROM unnest(names) AS u(name) WHERE right(u.name, 1)::int % 2 = right(w.child, 1)::int % 2) AS in_all FROM wood AS w)
            SELECT (SELECT array_agg((b.tree, b.parent, b.child)::text ORDER BY b.tree, b.parent, b.child) FROM cft_bridge(names, 1000) AS b)
                   IS NOT DISTINCT FROM (SELECT array_agg((s.tree, s.parent, s.child)::text ORDER BY s.tree, s.parent, s.child) FROM s WHERE s.below BETWEEN 1 AND s.in_all - 1),
                   (SELECT count(*) FROM s WHERE s.below BETWEEN 1 AND s.in_all - 1);
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT count(*), count(*) FILTER (WHERE same IS NOT TRUE), sum(n)::bigint FROM tried;
    DROP TABLE tried;
END $$;
SELECT cases, different, edges > cases AS edges FROM steiner(2);
DROP VIEW e CASCADE;
DROP TABLE wood, meaning;
DROP FUNCTION ways, plain_bridge, plain_coarse_fine, try, no_trees, steiner;

-- A hospital.
CREATE TABLE ward (tree text, parent text, child text);
INSERT INTO ward VALUES ('o', 'Hospital', 'medicine'), ('o', 'Hospital', 'surgery'), ('o', 'medicine', 'cardiology'), ('o', 'medicine', 'nephrology'), ('o', 'cardiology', 'heart clinic'),
    ('o', 'cardiology', 'pacemaker clinic'), ('o', 'nephrology', 'dialysis'), ('o', 'surgery', 'theatre'), ('b', 'east wing', 'heart clinic'), ('b', 'east wing', 'dialysis');
CREATE TABLE sense (name text, v vector(2));
INSERT INTO sense VALUES ('Hospital', '[1,1]'), ('medicine', '[1,0.5]'), ('surgery', '[0,1]'), ('cardiology', '[1,0]'), ('nephrology', '[0.6,0.6]'), ('heart clinic', '[1,0.1]'), ('pacemaker clinic', '[1,-0.3]'), ('dialysis', '[0.7,0.5]'), ('theatre', '[0,1]');
SELECT cft_bridge('{a}');
SELECT cft_coarse_fine('[1,0]');
SELECT cft_attach('ward', tree => 'tree');
SELECT cft_coarse_fine('[1,0]');
SELECT cft_attach_embeddings('sense', 'name', 'v');
SELECT * FROM cft_bridge('{heart clinic,pacemaker clinic,dialysis}');
SELECT * FROM cft_bridge('{heart clinic,pacemaker clinic,dialysis}', 1);
SELECT * FROM cft_bridge('{medicine,dialysis,theatre}');
SELECT count(*) FROM cft_bridge('{}');
SELECT count(*) FROM cft_bridge(NULL);
SELECT count(*) FROM cft_bridge('{dialysis,theatre}', NULL);
SELECT part, entity, tree, round(score::numeric, 3) AS score, under, text, tokens FROM cft_coarse_fine('[1,0]', 2, 3);
SELECT part, entity, tokens FROM cft_coarse_fine('[1,0]', 2, 3, budget => 30);
SELECT part, entity, tokens FROM cft_coarse_fine('[1,0]', 2, 3, budget => 30, local_share => 0.8, bridge_share => 0, global_share => 0.2);
SELECT count(*) FROM cft_coarse_fine('[1,0]', budget => 0);
SELECT count(*) FROM cft_coarse_fine(NULL);
CREATE TABLE leaflet (id int, body text, embedding vector(2), entity text);
INSERT INTO leaflet VALUES (1, 'Weigh yourself every morning.', '[1,0]', 'heart clinic'), (2, 'We look after hearts.', '[1,0]', 'cardiology');
SELECT cft_attach_documents('leaflet', entity => 'entity');
SELECT part, entity, text, tokens FROM cft_coarse_fine('[1,0]', 1, 1, max_hops => 0);
-- Policies, privileges, cancelling.
CREATE ROLE regress_cft_bridger;
GRANT SELECT ON ward, sense, leaflet TO regress_cft_bridger;
ALTER TABLE ward ENABLE ROW LEVEL SECURITY;
CREATE POLICY part ON ward TO regress_cft_bridger USING (child <> 'nephrology');
SET ROLE regress_cft_bridger;
SELECT tree, apex, parent, child FROM cft_bridge('{heart clinic,dialysis,theatre}', edges => 'ward');
SELECT part, entity, text FROM cft_coarse_fine('[1,0.4]', 2, 3, edges => 'ward');
RESET ROLE;
CREATE FUNCTION slow() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN true; END $$;
ALTER POLICY part ON ward USING (slow());
SET statement_timeout = '200ms';
SET ROLE regress_cft_bridger;
SELECT cft_bridge('{heart clinic,dialysis,theatre}', edges => 'ward');
SELECT cft_coarse_fine('[1,0.4]', edges => 'ward');
RESET ROLE;
RESET statement_timeout;
REVOKE SELECT ON ward FROM regress_cft_bridger;
SET ROLE regress_cft_bridger;
SELECT cft_bridge('{heart clinic,dialysis,theatre}', edges => 'ward');
SELECT cft_coarse_fine('[1,0.4]', edges => 'ward');
RESET ROLE;
ALTER TABLE ward DISABLE ROW LEVEL SECURITY;
-- Errors.
SELECT cft_bridge('{dialysis}', -1);
SELECT cft_bridge('{dialysis}', 1001);
SELECT cft_bridge('{dialysis}', edges => 'sense');
SELECT cft_coarse_fine('[1,0]', -1);
SELECT cft_coarse_fine('[1,0]', fine_k => NULL);
SELECT cft_coarse_fine('[1,0]', down => -1);
SELECT cft_coarse_fine('[1,0]', budget => -1);
SELECT cft_coarse_fine('[1,0]', local_share => -0.1);
SELECT cft_coarse_fine('[1,0]', local_share => 0.9);
SELECT cft_coarse_fine('[1,0]', local_share => 'NaN');
SELECT cft_coarse_fine('[1,0,0]');
SELECT cft_coarse_fine('[1,0]', edges => 'sense');
DROP TABLE ward, sense, leaflet;
DROP FUNCTION slow;
DROP ROLE regress_cft_bridger;
