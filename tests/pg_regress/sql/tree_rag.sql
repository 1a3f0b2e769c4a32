-- cft_path_prefix and cft_expand against their definitions by plain tables, on random forests.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
-- The definitions are long; compiling them would be most of the time.
SET jit = off;
CREATE TABLE wood (tree text, parent text, child text);
CREATE TABLE meaning (entity text, embedding vector(3));
SELECT cft_attach('wood', tree => 'tree');
CREATE VIEW e AS SELECT DISTINCT tree, parent COLLATE "C" AS parent, child COLLATE "C" AS child FROM wood WHERE parent <> child;
CREATE VIEW place AS SELECT tree, parent AS name FROM e UNION SELECT tree, child FROM e
                     UNION SELECT tree, child COLLATE "C" FROM wood WHERE child IS NOT NULL AND (parent IS NULL OR parent = child);
-- All ways up, in a tree, that meet nobody twice; from these the shortest.
CREATE FUNCTION ways(start text, up int) RETURNS TABLE (tree text, depth int, name text, way text[]) LANGUAGE sql AS $$
    WITH RECURSIVE w(tree, name, way) AS (
        SELECT tree, name, ARRAY[name] FROM place WHERE name = start
        UNION ALL
        SELECT w.tree, e.parent, e.parent || w.way FROM w JOIN e ON e.child = w.name AND e.tree IS NOT DISTINCT FROM w.tree WHERE e.parent <> ALL (w.way) AND cardinality(w.way) <= up)
    SELECT DISTINCT ON (tree, name) tree, cardinality(way) - 1, name::text, way::text[] FROM w ORDER BY tree, name, cardinality(way), way $$;
CREATE FUNCTION plain_path(start text) RETURNS TABLE (tree text, path text[]) LANGUAGE sql AS $$
    SELECT DISTINCT ON (w.tree) w.tree, w.way FROM ways(start, 1000) AS w, LATERAL (SELECT NOT EXISTS (SELECT FROM e WHERE e.child = w.name AND e.tree IS NOT DISTINCT FROM w.tree)) AS r(root)
     ORDER BY w.tree NULLS FIRST, r.root DESC, CASE WHEN r.root THEN depth ELSE - depth END, w.name COLLATE "C" $$;
-- Numbers as numbers, for names of a number at most.
CREATE FUNCTION plain_place(path text[]) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(regexp_replace(s, '[0-9]+', '') || lpad(substring(s, '[0-9]+'), 30, '0') ORDER BY n) COLLATE "C" FROM unnest(path) WITH ORDINALITY AS u(s, n) $$;
CREATE FUNCTION plain_expand(hits text[], up int, down int, min_support int, k int) RETURNS TABLE (entity text, tree text, common text, support int, hit bool, leaf bool, path text[], more bigint) LANGUAGE sql AS $$
    WITH h AS (SELECT DISTINCT u AS hit FROM unnest(hits) AS u),
    a AS (SELECT h.hit, w.* FROM h, ways(h.hit, up) AS w),
    s AS (SELECT tree, name, count(*)::int AS support FROM a GROUP BY 1, 2 HAVING count(*) >= min_support),
    met AS (SELECT DISTINCT ON (a.hit, a.tree) a.hit, a.tree, s.name, s.support, a.way FROM a JOIN s ON s.name = a.name AND s.tree IS NOT DISTINCT FROM a.tree
             ORDER BY a.hit, a.tree, a.depth, s.support DESC, s.name COLLATE "C"),
    climbed AS (SELECT m.tree, m.name, m.support, m.hit AS node, p.path || m.way[2:] AS path, 0 AS distance FROM met AS m, plain_path(m.name) AS p WHERE p.tree IS NOT DISTINCT FROM m.tree
        UNION ALL
        SELECT a.*, p.path, 0 FROM (SELECT DISTINCT ON (a.hit) a.tree, NULL::text, NULL::int, a.hit FROM a WHERE a.hit NOT IN (SELECT hit FROM met) ORDER BY a.hit, a.tree COLLATE "C" NULLS FIRST) AS a(tree, name, support, node),
               plain_path(a.node) AS p WHERE p.tree IS NOT DISTINCT FROM a.tree),
    b AS (SELECT DISTINCT m.tree, m.name, m.support FROM met AS m),
    -- Below the nearest base: by the shortest way, of several by the smallest names from the top down.
    below AS (SELECT DISTINCT ON (b.tree, z.node) b.*, z.node, p.path || z.way AS path, cardinality(z.way) + 1 AS distance FROM b, plain_path(b.name) AS p, LATERAL (
              WITH RECURSIVE d(node, way, back) AS (
                  SELECT b.name COLLATE "C", '{}'::text[] COLLATE "C", ARRAY[b.name] COLLATE "C" UNION ALL
                  SELECT e.child, d.way || e.child::text, e.child::text || d.back FROM d JOIN e ON e.parent = d.node AND e.tree IS NOT DISTINCT FROM b.tree WHERE e.child <> ALL (d.back) AND cardinality(d.way) < down)
              SELECT node::text, way FROM d) AS z
           WHERE p.tree IS NOT DISTINCT FROM b.tree ORDER BY b.tree, z.node, cardinality(z.way), b.support DESC, b.name COLLATE "C", z.way COLLATE "C"),
    l AS (SELECT * FROM climbed UNION ALL
          SELECT n.* FROM below AS n WHERE NOT EXISTS (SELECT FROM climbed AS c WHERE c.node = n.node AND c.tree IS NOT DISTINCT FROM n.tree)),
    z AS (SELECT l.*, row_number() OVER (ORDER BY tree COLLATE "C" NULLS FIRST, plain_place(path), path COLLATE "C") AS place FROM l),
    chosen AS (SELECT * FROM z ORDER BY distance, place LIMIT k)
    SELECT c.node, c.tree, c.name, c.support, c.node IN (SELECT hit FROM h WHERE hit IS NOT NULL),
           NOT EXISTS (SELECT FROM e WHERE e.parent = c.node AND e.tree IS NOT DISTINCT FROM c.tree), c.path,
           (SELECT count(*) FROM e WHERE e.parent = c.node AND e.tree IS NOT DISTINCT FROM c.tree AND NOT EXISTS (SELECT FROM chosen AS o WHERE o.node = e.child AND o.tree IS NOT DISTINCT FROM c.tree))
      FROM chosen AS c ORDER BY c.place $$;
CREATE FUNCTION try(seeds int) RETURNS TABLE (what text, cases bigint, different bigint, results boolean, examples text) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (what text, which text, same bool, n bigint);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 500.0);
        INSERT INTO tried SELECT 'path', concat_ws(' ', 'seed', seed, name),
               (SELECT array_agg((p.tree, p.path)::text) FROM cft_path_prefix(ARRAY[name]) AS p) IS NOT DISTINCT FROM (SELECT array_agg(p::text) FROM plain_path(name) AS p),
               (SELECT count(*) FROM cft_path_prefix(ARRAY[name])) FROM (SELECT DISTINCT name FROM place UNION VALUES ('nobody')) AS p(name);
        -- All at once are as one by one.
        INSERT INTO tried SELECT 'paths', concat_ws(' ', 'seed', seed),
               (SELECT array_agg(p::text) FROM cft_path_prefix(names) AS p) IS NOT DISTINCT FROM (SELECT array_agg(p::text ORDER BY n) FROM unnest(names) WITH ORDINALITY AS u(name, n), cft_path_prefix(ARRAY[name]) AS p), 1
          FROM (SELECT array_agg(DISTINCT name COLLATE "C") FROM place) AS z(names);
        INSERT INTO tried SELECT 'expand', concat_ws(' ', 'seed', seed, up, down, support, most, hits),
               (SELECT array_agg((x.entity, x.tree, x.common, x.support, x.hit, x.leaf, x.path, x.more)::text) FROM cft_expand(hits, most, up, down, support) AS x)
               IS NOT DISTINCT FROM (SELECT array_agg(x::text) FROM plain_expand(hits, up, down, support, most) AS x), (SELECT count(*) FROM cft_expand(hits, most, up, down, support))
          FROM (VALUES ('{Ä17,"Kapitel 18","x 20",Ä21,"Kapitel 22"}'::text[]), ('{19,"x 16",nobody,"x 16",NULL,Ä5}'), ('{Ä9,"Kapitel 10",11,"x 12",Ä13}')) AS h(hits),
               (VALUES (3, 3, 2, NULL), (3, 3, 2, 7), (1000, 1000, 2, NULL), (1000, 1000, 2, 12), (1, 0, 2, 4), (2, 2, 3, 9), (4, 1, 1, NULL), (4, 1, 1, 0)) AS c(up, down, support, most);
    END LOOP;
    RETURN QUERY SELECT t.what, count(*), count(*) FILTER (WHERE same IS NOT TRUE), sum(n) > count(*) / 2, string_agg(which, '; ') FILTER (WHERE same IS NOT TRUE AND random() < 0.1) FROM tried AS t GROUP BY t.what ORDER BY 1;
    DROP TABLE tried;
END $$;
SELECT * FROM try(3);
SET cftrag.enable = off;
SELECT * FROM try(1);
RESET cftrag.enable;
DROP VIEW e CASCADE;
DROP TABLE wood, meaning;
DROP FUNCTION ways, plain_path, plain_place, plain_expand, try;

-- A manual.
CREATE TABLE manual (parent text, child text);
INSERT INTO manual VALUES ('Manual', 'Chapter 2'), ('Manual', 'Chapter 10'), ('Manual', 'Chapter 3'), ('Chapter 3', '3.2'), ('Chapter 3', '3.10'), ('Chapter 3', '3.1'), ('3.2', '3.2.1'), ('3.2', '3.2.2'), ('Chapter 10', '10.1'), ('Chapter 2', '2.1'), ('egg', 'hen'), ('hen', 'egg');
CREATE TABLE text_of (id int, body text, embedding vector(2), entity text);
INSERT INTO text_of VALUES (1, 'Open the valve.', '[1,0]', '3.2.1'), (2, 'Close it.', '[0,1]', '3.2.2'), (3, 'Oil it.', '[1,1]', '3.10');
SELECT cft_expand('{a}');
SELECT cft_path_prefix('a');
SELECT cft_attach('manual');
SELECT cft_attach_documents('text_of', entity => 'entity');
SELECT cft_path_prefix('3.2.1');
SELECT cft_path_prefix('3.2.1', separator => ' / '), cft_path_prefix('Manual'), cft_path_prefix('hen'), cft_path_prefix('nobody'), cft_path_prefix(NULL::text);
SELECT * FROM cft_path_prefix('{3.10,2.1,NULL,3.10}'::text[]);
SELECT entity, common, support, hit, leaf, text, tokens FROM cft_expand('{3.2.2,3.10}');
SELECT entity, common, support, hit FROM cft_expand('{3.2.2,10.1,2.1}', down => 2);
SELECT entity, common, support, hit FROM cft_expand('{3.2.2,10.1,2.1}', up => 2);
SELECT entity, common, support, hit FROM cft_expand('{3.2.2,Chapter 10}', min_support => 1);
SELECT entity, hit FROM cft_expand('{3.2.2,NULL,3.2.2,nobody,3.10}');
SELECT count(*) FROM cft_expand('{}');
SELECT count(*) FROM cft_expand(NULL);
SELECT count(*) FROM cft_expand('{nobody}');
-- Of two at the same depth the one that more hits share.
INSERT INTO manual VALUES ('A', 'k1'), ('A', 'k2'), ('B', 'k1'), ('B', 'k2'), ('B', 'k3');
SELECT entity, common, support, path FROM cft_expand('{k1,k2,k3}');
-- Of several ways as short one way for all: a row comes after the one that its path goes through.
CREATE TABLE diamond (parent text, child text);
INSERT INTO diamond VALUES ('c', 'a'), ('c', 'b'), ('a', 'zz'), ('b', 'aa'), ('zz', 'v'), ('aa', 'v'), ('v', 'w'), ('c', 'h');
SELECT cft_attach('diamond');
SELECT entity, hit, path FROM cft_expand('{w,h}', up => 10, down => 4, edges => 'diamond');
SELECT entity, hit, path FROM cft_expand('{w,h}', up => 10, down => 3, edges => 'diamond');
DROP TABLE diamond;
SELECT name, cftrag_internal.cft_natural(name) FROM unnest('{a,a2,a10,"1.2.10",007,123456789012345678901234567890}'::text[]) AS name;
SELECT array_agg(name ORDER BY cftrag_internal.cft_natural(name) COLLATE "C") FROM unnest('{3.10,3.2,3.1,10,2,"Chapter 10","Chapter 9",Annex,"3.2 b","3.2 a"}'::text[]) AS name;
-- A name may hold the separator: the array is what is meant.
INSERT INTO manual VALUES ('A > B', 'C'), ('A', 'B > C');
SELECT path, prefix FROM cft_path_prefix('{C,B > C}'::text[]);
-- What is embedded carries its path.
SELECT d.id, p.prefix || E'\n' || d.body AS embedded FROM text_of AS d JOIN cft_path_prefix(ARRAY(SELECT entity FROM text_of)) AS p USING (entity) ORDER BY d.id;
-- Policies and privileges; cancelling.
CREATE ROLE regress_cft_reader;
GRANT SELECT ON manual, text_of TO regress_cft_reader;
ALTER TABLE manual ENABLE ROW LEVEL SECURITY;
CREATE POLICY part ON manual TO regress_cft_reader USING (child NOT IN ('3.2.1', 'Chapter 3'));
SET ROLE regress_cft_reader;
SELECT cft_path_prefix('3.2.2', 'manual'), cft_path_prefix('3.2.1', 'manual');
SELECT entity, common, support, path FROM cft_expand('{3.2.2,3.10}', edges => 'manual');
RESET ROLE;
CREATE FUNCTION slow() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN true; END $$;
ALTER POLICY part ON manual USING (slow());
SET statement_timeout = '200ms';
SET ROLE regress_cft_reader;
SELECT cft_expand('{3.2.2,3.10}', edges => 'manual');
RESET ROLE;
RESET statement_timeout;
REVOKE SELECT ON manual FROM regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT cft_path_prefix('3.2.2', 'manual');
SELECT cft_expand('{3.2.2,3.10}', edges => 'manual');
RESET ROLE;
ALTER TABLE manual DISABLE ROW LEVEL SECURITY;
-- Errors.
SELECT cft_expand('{3.10}', up => -1);
SELECT cft_expand('{3.10}', down => 1001);
SELECT cft_expand('{3.10}', up => NULL);
SELECT cft_expand('{3.10}', min_support => 0);
SELECT cft_expand('{3.10}', k => -1);
SELECT entity, hit, more FROM cft_expand('{3.2.1,3.10}', edges => 'manual', k => 3);
SELECT count(*) FROM cft_expand('{3.2.1,3.10}', edges => 'manual', k => 0);
SELECT cft_expand('{3.10}', edges => 'text_of');
SELECT cft_expand('{3.10}', documents => 'manual');
SELECT cft_path_prefix('3.10', 'text_of');
DROP TABLE manual, text_of;
DROP FUNCTION slow;
DROP ROLE regress_cft_reader;
