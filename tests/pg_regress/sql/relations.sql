-- Relation filtering: each row of a raw table, beside the rules written down in SQL, on random graphs with several trees, cycles, self-edges,
-- duplicates and NULLs.
\a\t
SET client_min_messages = warning;
CREATE TABLE raw (tree text, parent text, child text);

-- The rules, for the edges of table raw: its rows with their verdicts.
CREATE FUNCTION plain_filter() RETURNS TABLE (tree text, parent text, child text, kept boolean, reason text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    x record;
BEGIN
    CREATE TEMP TABLE e AS SELECT DISTINCT coalesce('t' || tree, '') AS tree, parent COLLATE "C" AS a, child COLLATE "C" AS b FROM raw WHERE parent <> child;
    CREATE TEMP TABLE n AS SELECT tree, a AS name FROM e UNION SELECT tree, b FROM e;
    CREATE TEMP TABLE r AS WITH RECURSIVE r AS (SELECT * FROM e UNION SELECT r.tree, r.a, e.b FROM r JOIN e ON e.tree = r.tree AND e.a = r.b) SELECT * FROM r;
    -- Two entities of a knot lead to each other.
    CREATE TEMP TABLE k AS SELECT r.* FROM r JOIN r AS z ON z.tree = r.tree AND z.a = r.b AND z.b = r.a;
    CREATE TEMP TABLE l AS
        WITH RECURSIVE l(tree, name, level) AS (
            SELECT n.tree, n.name, 0 FROM n
             WHERE NOT EXISTS (SELECT FROM r WHERE r.tree = n.tree AND r.b = n.name AND NOT EXISTS (SELECT FROM k WHERE (k.tree, k.a, k.b) = (r.tree, r.a, r.b)))
               AND NOT EXISTS (SELECT FROM k WHERE k.tree = n.tree AND k.a = n.name AND k.b < n.name)
            UNION SELECT e.tree, e.b, l.level + 1 FROM l JOIN e ON e.tree = l.tree AND e.a = l.name WHERE l.level < (SELECT count(*) FROM n))
        SELECT tree, name, min(level) AS level FROM l GROUP BY tree, name;
    CREATE TEMP TABLE o AS SELECT e.*, x.level AS la, y.level AS lb, EXISTS (SELECT FROM k WHERE (k.tree, k.a, k.b) = (e.tree, e.a, e.b)) AS in_knot
                             FROM e JOIN l AS x ON (x.tree, x.name) = (e.tree, e.a) JOIN l AS y ON (y.tree, y.name) = (e.tree, e.b);
    CREATE TEMP TABLE stays AS SELECT tree, a, b FROM o WHERE NOT in_knot OR (la, a) < (lb, b);
    FOR x IN SELECT * FROM o WHERE in_knot AND (la, a) > (lb, b) ORDER BY tree, la, a, lb, b LOOP
        INSERT INTO stays SELECT x.tree, x.a, x.b
         WHERE NOT EXISTS (WITH RECURSIVE w(name) AS (SELECT x.b UNION SELECT s.b FROM w JOIN stays AS s ON s.tree = x.tree AND s.a = w.name) SELECT FROM w WHERE name = x.a);
    END LOOP;
    RETURN QUERY
    SELECT z.tree, z.parent, z.child, z.reason IS NULL, z.reason
      FROM (SELECT q.tree, q.parent, q.child,
                   CASE WHEN q.parent IS NULL OR q.child IS NULL THEN 'null' WHEN q.parent = q.child THEN 'self-edge' WHEN q.copy > 1 THEN 'duplicate'
                        WHEN NOT EXISTS (SELECT FROM stays AS s WHERE (s.tree, s.a, s.b) = (coalesce('t' || q.tree, ''), q.parent, q.child)) THEN 'cycle'
                        WHEN EXISTS (WITH RECURSIVE w(name) AS (SELECT s.b FROM stays AS s WHERE s.tree = coalesce('t' || q.tree, '') AND s.a = q.parent AND s.b <> q.child
                                                                UNION SELECT s.b FROM w JOIN stays AS s ON s.tree = coalesce('t' || q.tree, '') AND s.a = w.name)
                                     SELECT FROM w WHERE name = q.child) THEN 'transitive' END AS reason
              FROM (SELECT raw.*, row_number() OVER (PARTITION BY tree, parent, child) AS copy FROM raw) AS q) AS z;
    DROP TABLE e, n, r, k, l, o, stays;
END $$;
CREATE FUNCTION fill_raw(seed int, edges int, names int) RETURNS void LANGUAGE sql AS $$
    DELETE FROM raw;
    INSERT INTO raw
    SELECT (ARRAY[NULL, 'x', ''])[1 + r[1] % 3], CASE WHEN r[2] % 30 > 0 THEN 'n' || r[3] % names END, CASE WHEN r[4] % 30 > 0 THEN 'n' || r[5] % names END
      FROM generate_series(1, edges) AS i,
           LATERAL (SELECT array_agg(get_byte(decode(md5(format('%s %s', seed, i)), 'hex'), k)) AS r FROM generate_series(0, 5) AS k) AS z $$;
CREATE FUNCTION plain_compare(OUT graphs int, OUT different int, OUT reasons jsonb) LANGUAGE plpgsql AS $$
DECLARE
    wrong int;
    found_here jsonb;
BEGIN
    graphs := 0; different := 0; reasons := '{}';
    FOR seed IN 1 .. 40 LOOP
        PERFORM fill_raw(seed, 5 + seed % 50, 3 + seed % 17);
        CREATE TEMP TABLE plain AS SELECT * FROM plain_filter();
        SELECT count(*) INTO wrong FROM ((SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'tree') EXCEPT ALL TABLE plain)
                                         UNION ALL (TABLE plain EXCEPT ALL SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'tree'))) AS z;
        SELECT jsonb_object_agg(coalesce(reason, 'kept'), true) INTO found_here FROM plain;
        DROP TABLE plain;
        graphs := graphs + 1;
        different := different + (wrong > 0)::int;
        reasons := reasons || found_here;
    END LOOP;
END $$;
SELECT * FROM plain_compare();
-- In the order of tree, parent, child, by bytes.
SELECT bool_and(place = n) AS in_order
  FROM (SELECT n, row_number() OVER (ORDER BY tree COLLATE "C" NULLS FIRST, parent COLLATE "C" NULLS FIRST, child COLLATE "C" NULLS FIRST, NOT kept) AS place
          FROM cft_filter_relations('raw', 'parent', 'child', 'tree') WITH ORDINALITY AS f(tree, parent, child, kept, reason, n)) AS z;
-- The same rows in another order, the same verdicts.
CREATE TABLE other AS SELECT * FROM raw ORDER BY md5(raw::text);
SELECT count(*) AS rows, count(*) FILTER (WHERE f IS DISTINCT FROM g) AS different
  FROM (SELECT row_number() OVER () AS n, f FROM cft_filter_relations('raw', 'parent', 'child', 'tree') AS f) AS x
  FULL JOIN (SELECT row_number() OVER () AS n, g FROM cft_filter_relations('other', 'parent', 'child', 'tree') AS g) AS y USING (n);
DROP TABLE other;

-- What it looks like.
DELETE FROM raw;
INSERT INTO raw VALUES ('t', 'body', 'heart'), ('t', 'heart', 'aorta'), ('t', 'body', 'aorta'), ('t', 'aorta', 'heart'), ('t', 'heart', 'heart'), ('t', 'body', 'heart'),
    ('t', 'hen', 'egg'), ('t', 'egg', 'hen'), ('t', NULL, 'heart'), (NULL, 'body', 'aorta'), ('t', 'body', 'left lung'), ('t', 'left lung', 'heart');
SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'tree');
SELECT * FROM cft_filter_relations('raw', 'parent', 'child') WHERE NOT kept;
SELECT f.* FROM (SELECT 'raw'::regclass) AS r(raw), cft_filter_relations(raw, child => 'parent', parent => 'child', tree => 'tree') AS f WHERE kept;
-- Any relation will do: a view, another type.
CREATE VIEW raw_view AS SELECT length(parent) AS parent, child::varchar(3) AS child FROM raw;
SELECT * FROM cft_filter_relations('raw_view', 'parent', 'child') WHERE kept;
DROP VIEW raw_view;
-- An attached table.
SELECT cft_attach('raw', tree => 'tree');
SELECT reason, count(*) FROM cft_check_edges('raw') GROUP BY reason ORDER BY reason;
-- But for the row without a parent, which is right in an edges table.
SELECT count(*) AS rows, count(*) FILTER (WHERE f IS DISTINCT FROM g) AS different
  FROM (SELECT row_number() OVER () AS n, f FROM cft_filter_relations('raw', 'parent', 'child', 'tree') AS f) AS x
  FULL JOIN (SELECT row_number() OVER () AS n, g FROM cft_check_edges() AS g) AS y USING (n);
-- What is kept goes in by a plain INSERT, and is clean.
CREATE TABLE clean (tree text, parent text, child text);
SELECT cft_attach('clean', tree => 'tree');
INSERT INTO clean SELECT tree, parent, child FROM cft_filter_relations('raw', 'parent', 'child', 'tree') WHERE kept;
SELECT count(*), bool_and(kept) FROM cft_check_edges('clean');
SELECT relative, depth FROM cft_context('aorta', 9, 0, 'clean');
DROP TABLE clean;

-- Its own uncommitted rows; empty; wide graphs; one knot of 3000 edges; a statement that is canceled ends.
BEGIN;
TRUNCATE raw;
SELECT count(*) FROM cft_filter_relations('raw', 'parent', 'child', 'tree');
INSERT INTO raw SELECT 't', 'k' || i, 'k' || (i + 1) % 3000 FROM generate_series(0, 2999) AS i;
SELECT reason, count(*), min(parent) FROM cft_filter_relations('raw', 'parent', 'child', 'tree') GROUP BY reason ORDER BY reason;
INSERT INTO raw SELECT 't', 'a' || i, 'b' || j FROM generate_series(1, 100) AS i, generate_series(1, 100) AS j;
INSERT INTO raw SELECT 't', 'top', 'b' || j FROM generate_series(1, 100) AS j;
INSERT INTO raw SELECT 't', 'top', 'a' || j FROM generate_series(1, 100) AS j;
SELECT reason, count(*) FROM cft_filter_relations('raw', 'parent', 'child', 'tree') WHERE parent NOT LIKE 'k%' GROUP BY reason ORDER BY reason;
ROLLBACK;
\set VERBOSITY sqlstate
CREATE VIEW endless AS SELECT i::text AS parent, (i * 2)::text AS child FROM generate_series(1, 1000000000::bigint) AS i;
SET statement_timeout = 300;
SELECT count(*) FROM cft_filter_relations('endless', 'parent', 'child');
RESET statement_timeout;
DROP VIEW endless;

-- Memory is bounded; numbers are what their type says, whoever has made a cast of them.
CREATE TABLE many AS SELECT i AS parent, i + 1 AS child FROM generate_series(1, 400) AS i;
SET cftrag.work_memory = '64kB';
SELECT count(*) FROM cft_filter_relations('many', 'parent', 'child');
RESET cftrag.work_memory;
CREATE FUNCTION spelled(int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'a number' $$;
CREATE CAST (int AS text) WITH FUNCTION spelled(int);
SELECT count(*), count(DISTINCT child) AS children FROM cft_filter_relations('many', 'parent', 'child');
DROP CAST (int AS text);
DROP FUNCTION spelled;
DROP TABLE many;

-- Errors.
SELECT * FROM cft_filter_relations(NULL, 'parent', 'child');
SELECT * FROM cft_filter_relations('raw', NULL, 'child');
SELECT * FROM cft_filter_relations('raw', 'parent', NULL);
SELECT * FROM cft_filter_relations('raw', 'parent', 'nothing');
SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'nothing');
SELECT * FROM cft_filter_relations(0::regclass, 'parent', 'child');
SELECT * FROM cft_filter_relations('pg_class_relname_nsp_index', 'relname', 'relnamespace');
SELECT * FROM cft_filter_relations('raw', 'parent', 'parent');
SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'child');
SELECT * FROM cft_check_edges('pg_class');
\set VERBOSITY default
SELECT * FROM cft_filter_relations('raw', 'parent', 'nothing');
SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'parent');

-- The caller's rights and policies.
CREATE ROLE regress_cft_filter;
SET ROLE regress_cft_filter;
\set VERBOSITY sqlstate
SELECT * FROM cft_filter_relations('raw', 'parent', 'child');
\set VERBOSITY default
RESET ROLE;
GRANT SELECT (parent, child) ON raw TO regress_cft_filter;
SET ROLE regress_cft_filter;
SELECT count(*) FROM cft_filter_relations('raw', 'parent', 'child');
\set VERBOSITY sqlstate
SELECT * FROM cft_filter_relations('raw', 'parent', 'child', 'tree');
\set VERBOSITY default
RESET ROLE;
ALTER TABLE raw ENABLE ROW LEVEL SECURITY;
CREATE POLICY bodies ON raw TO regress_cft_filter USING (parent = 'body');
SET ROLE regress_cft_filter;
SELECT * FROM cft_filter_relations('raw', 'parent', 'child');
\set VERBOSITY sqlstate
SELECT count(*) FROM cft_check_edges('raw');
\set VERBOSITY default
RESET ROLE;
GRANT SELECT ON raw TO regress_cft_filter;
SELECT count(*) FROM cft_check_edges('raw');
SET ROLE regress_cft_filter;
SELECT DISTINCT parent FROM cft_check_edges('raw');
RESET ROLE;
DROP FUNCTION plain_filter, plain_compare, fill_raw;
DROP TABLE raw;
DROP ROLE regress_cft_filter;
