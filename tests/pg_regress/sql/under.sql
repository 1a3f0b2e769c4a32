-- cft_under and cft_descendants against a recursive query, in every type of an entity, at any depth, from the image and without it; the index
-- condition and the estimate that the planner gets; in policies.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE wood (tree text, parent text, child text);
SELECT cft_attach('wood', tree => 'tree');

-- The definition.
CREATE FUNCTION plain_below(tops text[]) RETURNS TABLE (name text) STABLE LANGUAGE sql AS $$
    WITH RECURSIVE below(tree, name) AS (
        SELECT w.tree COLLATE "C", w.child COLLATE "C" FROM wood AS w WHERE w.parent = ANY (tops) AND w.child IS NOT NULL
        UNION
        SELECT w.tree COLLATE "C", w.child COLLATE "C" FROM below AS b JOIN wood AS w ON w.parent = b.name AND w.tree IS NOT DISTINCT FROM b.tree WHERE w.child IS NOT NULL)
    SELECT b.name FROM below AS b UNION SELECT t FROM unnest(tops) AS t WHERE t IS NOT NULL $$;
CREATE TABLE meaning (entity text, embedding vector(3));
CREATE FUNCTION try(seeds int) RETURNS TABLE (sets bigint, different bigint, pairs bigint, wrong bigint, under bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (sets bigint, different bigint, pairs bigint, wrong bigint, under bigint);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 1000.0);
        INSERT INTO wood VALUES (NULL, NULL, 'alone ' || seed), ('t', 'itself', 'itself'), (NULL, 'a parent', NULL);
        INSERT INTO tried
        WITH name AS MATERIALIZED (SELECT parent AS name FROM wood WHERE parent IS NOT NULL UNION SELECT child FROM wood WHERE child IS NOT NULL UNION SELECT 'no such'),
             one AS MATERIALIZED (SELECT n.name, cft_descendants(n.name) AS below, ARRAY(SELECT plain_below(ARRAY[n.name])) AS plain FROM name AS n),
             pair AS MATERIALIZED (SELECT e.name AS entity, o.name AS ancestor, e.name = ANY (o.plain) AS plain FROM name AS e, one AS o ORDER BY o.name)
        SELECT (SELECT count(*) FROM one),
               (SELECT count(*) FROM one WHERE NOT (below <@ plain AND plain <@ below AND cardinality(below) = cardinality(plain))),
               count(*), count(*) FILTER (WHERE cft_under(entity, ancestor) IS DISTINCT FROM plain
                                             OR cft_under(entity, ARRAY[ancestor, NULL, 'itself']) IS DISTINCT FROM (plain OR entity = 'itself')),
               count(*) FILTER (WHERE plain)
          FROM pair;
    END LOOP;
    RETURN QUERY SELECT sum(t.sets)::bigint, sum(t.different)::bigint, sum(t.pairs)::bigint, sum(t.wrong)::bigint, sum(t.under)::bigint FROM tried AS t;
    DROP TABLE tried;
END $$;
SELECT sets > 50 AS sets, different, pairs > 500 AS pairs, wrong, under > sets AS under FROM try(4);
SET cftrag.enable = off;
SELECT sets > 50 AS sets, different, pairs > 500 AS pairs, wrong, under > sets AS under FROM try(2);
RESET cftrag.enable;
-- In these trees.
SELECT count(*) FILTER (WHERE NOT (a.below <@ b.below)) AS more, sum(cardinality(a.below)) < sum(cardinality(b.below)) AS fewer
  FROM (SELECT parent AS name FROM wood WHERE parent IS NOT NULL GROUP BY 1) AS n,
       cft_descendants(n.name, trees => ARRAY(SELECT min(tree) FROM wood)) AS a(below), cft_descendants(n.name) AS b(below);

-- No value, and no entity.
SELECT cft_under(NULL::text, 'x') AS no_entity, cft_under('x', NULL::text) AS no_ancestor, cft_under('x', NULL::text[]) AS no_array, cft_under('x', '{}'::text[]) AS none,
       cft_under('x', ARRAY[NULL]::text[]) AS null_alone, cft_under('x', 'x') AS itself, cft_descendants(NULL::text) AS no_set, cft_descendants('{}'::text[]) AS empty,
       cft_descendants('no such') AS unknown;
SELECT cft_under('x', '{a,b}');
SELECT cft_descendants('{a,b}');
SELECT cft_under('x', 'y', edges => 'meaning');
SELECT cft_under('x', 'y', edges => 1);
-- The twins that statements over documents call take what these functions take.
SELECT cftrag_internal.cft_under(true, '{a}', 'wood', NULL);
SELECT cftrag_internal.cft_under(ARRAY[1]::bigint[], '{a}', 'wood', NULL);
SELECT cftrag_internal.cft_descendants('{a}', 'wood', NULL, 1.5);

-- Deeper than a walk takes, across trees and around a cycle.
TRUNCATE wood;
INSERT INTO wood SELECT 'deep', 'n' || i, 'n' || i + 1 FROM generate_series(1, 2500) AS i;
INSERT INTO wood VALUES ('other', 'n2501', 'not below'), ('deep', 'n2501', 'n2400'), ('deep', 'n2501', 'the end');
SELECT oracle.build('wood');
SELECT cardinality(cft_descendants('n1')) AS from_the_top, cardinality(cft_descendants('n1001')) AS from_inside, 'not below' = ANY (cft_descendants('n1')) AS other_tree,
       cft_under('the end', 'n1') AS deep, cft_under('not below', 'n1') AS other, cft_under('not below', 'n2501') AS near, cft_under('n1', 'the end') AS up;
SELECT count(*) FILTER (WHERE cft_under('n' || i, 'n1200')) AS below FROM generate_series(1, 2501) AS i;
SET cftrag.enable = off;
SELECT cardinality(cft_descendants('n1')) AS from_the_top, count(*) FILTER (WHERE cft_under('n' || i, 'n1200')) AS below FROM generate_series(1, 2501) AS i;
RESET cftrag.enable;

-- Around a cycle of more levels than a walk has, whatever its length: a few walks, not one for each entity.
TRUNCATE wood;
INSERT INTO wood SELECT 'round', 'r' || i, 'r' || 1 + i % 2501 FROM generate_series(1, 2501) AS i;
INSERT INTO wood VALUES ('round', 'r700', 'beside'), ('other', 'beside', 'elsewhere'), ('other', 'r1001', 'aside'), ('other', 'aside', 'r3'), ('round', 'aside', 'not there');
SELECT oracle.build('wood');
SELECT cardinality(cft_descendants('r1')) AS round, cardinality(cft_descendants('r1001')) AS both_trees, cardinality(cft_descendants(ARRAY['r5', 'beside', 'r2000'])) AS many,
       cardinality(cft_descendants('r1')) = (SELECT count(*) FROM plain_below('{r1}')) AND cardinality(cft_descendants('r1001')) = (SELECT count(*) FROM plain_below('{r1001}'))
       AND cardinality(cft_descendants(ARRAY['r5', 'beside', 'r2000'])) = (SELECT count(*) FROM plain_below('{r5,beside,r2000}')) AS same;
TRUNCATE wood;
INSERT INTO wood SELECT 'deep', 'n' || i, 'n' || i + 1 FROM generate_series(1, 2500) AS i;
INSERT INTO wood VALUES ('other', 'n2501', 'not below'), ('deep', 'n2501', 'n2400'), ('deep', 'n2501', 'the end');

-- Integers and uuids: the column's own index.
CREATE TABLE categories (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO categories SELECT n, nullif(n / 7, 0), 'c' || n FROM generate_series(1, 4000) AS n;
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name');
SELECT oracle.build('categories');
CREATE TABLE product (id int PRIMARY KEY, small smallint, category int, big bigint, uuid uuid, name varchar(20), owner text COLLATE "C");
INSERT INTO product SELECT n, n % 4000, n % 4000, n % 4000, format('00000000-0000-4000-8000-%s', lpad((n % 4000)::text, 12, '0'))::uuid, n % 4000, n % 4000 FROM generate_series(1, 12000) AS n;
CREATE INDEX ON product (category);
CREATE INDEX ON product (big);
CREATE INDEX ON product (uuid);
CREATE INDEX ON product (name);
CREATE INDEX ON product (owner);
ANALYZE product, categories;
CREATE TABLE uuids (parent uuid, child uuid);
INSERT INTO uuids SELECT format('00000000-0000-4000-8000-%s', lpad(parent_id::text, 12, '0'))::uuid, format('00000000-0000-4000-8000-%s', lpad(id::text, 12, '0'))::uuid FROM categories WHERE parent_id IS NOT NULL;
SELECT cft_attach('uuids');
SELECT oracle.build('uuids');
SELECT count(*) FILTER (WHERE cft_under(category, 7, 'categories')) AS int, count(*) FILTER (WHERE cft_under(small, 7, 'categories')) AS small, count(*) FILTER (WHERE cft_under(big, 7, 'categories')) AS big,
       count(*) FILTER (WHERE cft_under(name, '7', 'categories')) AS text, count(*) FILTER (WHERE cft_under(uuid, '00000000-0000-4000-8000-000000000007'::uuid, 'uuids')) AS uuid,
       count(*) FILTER (WHERE cft_under(category, ARRAY[7, 8], 'categories')) AS ints, count(*) FILTER (WHERE cft_under(big, ARRAY[7, 8], 'categories')) AS bigs,
       (WITH RECURSIVE b AS (SELECT 7 AS id UNION ALL SELECT c.id FROM categories AS c JOIN b ON c.parent_id = b.id) SELECT count(*) FROM product JOIN b ON b.id = category) AS plain
  FROM product;
SELECT cft_descendants(571, 'categories') AS ints, cft_descendants(ARRAY[571, 572], 'categories') AS many, cft_descendants('571', 'categories') AS texts,
       cardinality(cft_descendants('00000000-0000-4000-8000-000000000571'::uuid, 'uuids')) AS uuids;
-- What no integer is leaves no trace.
INSERT INTO wood VALUES ('t', '7', 'seven'), ('t', '7', '007'), ('t', '7', '8'), ('t', '7', '99999999999999999999'), ('t', '7', '-1'), ('t', '7', '-0');
SELECT cft_descendants(7, 'wood') AS bigints, cft_descendants('7', 'wood') AS texts;

-- The planner's view: the index where it is one, the estimate beside the truth, and nothing lost.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM product WHERE cft_under(category, 57, 'categories');
EXPLAIN (COSTS OFF) SELECT id FROM product WHERE cft_under(category, ARRAY[57, 60], 'categories');
EXPLAIN (COSTS OFF) SELECT id FROM product WHERE cft_under(big, 57, 'categories');
EXPLAIN (COSTS OFF) SELECT id FROM product WHERE cft_under(uuid, '00000000-0000-4000-8000-000000000057'::uuid, 'uuids');
EXPLAIN (COSTS OFF) SELECT id FROM product WHERE cft_under(name, '57', 'categories');
EXPLAIN (COSTS OFF) SELECT id FROM product WHERE cft_under(owner, ARRAY['57'], 'categories');
EXPLAIN (COSTS OFF) SELECT p.id FROM categories AS c JOIN product AS p ON cft_under(p.category, c.id, 'categories') WHERE c.id = 57;
SELECT count(*) FROM product WHERE cft_under(category, 57, 'categories');
SELECT count(*) FROM product WHERE cft_under(uuid, '00000000-0000-4000-8000-000000000057'::uuid, 'uuids');
SELECT count(*) FROM categories AS c JOIN product AS p ON cft_under(p.category, c.id, 'categories') WHERE c.id IN (57, 60);
PREPARE under(int) AS SELECT count(*) FROM product WHERE cft_under(category, $1, 'categories');
SET plan_cache_mode = force_generic_plan;
EXECUTE under(57);
EXECUTE under(NULL);
EXECUTE under(4000000);
EXPLAIN (COSTS OFF) EXECUTE under(57);
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- A statement sees its own snapshot, whatever lived before it.
CREATE FUNCTION changing() RETURNS text LANGUAGE plpgsql AS $$
DECLARE seen text := '';
BEGIN
    FOR i IN 1 .. 3 LOOP
        seen := seen || cft_under(lower('NEW'), 'n1', 'wood')::text || (SELECT bool_or(cft_under(v, 'n1', 'wood')) FROM unnest(ARRAY['new']) AS v)::text || ' ';
        BEGIN
            INSERT INTO wood VALUES ('deep', 'n5', 'new');
            seen := seen || cft_under(lower('NEW'), 'n1', 'wood')::text || ' ';
            IF i < 3 THEN RAISE EXCEPTION 'back'; END IF;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
    END LOOP;
    RETURN seen || cft_under(lower('NEW'), 'n1', 'wood');
END $$;
SELECT changing();
DELETE FROM wood WHERE child = 'new';
SELECT cft_under('new', 'n1', 'wood');
-- One expression, ancestors that change with the row.
SELECT count(*) FILTER (WHERE cft_under(c.id, a.id, 'categories')) AS under, count(*) FILTER (WHERE cft_under(c.id, ARRAY[a.id, a.id + 1], 'categories')) AS either
  FROM categories AS c, (VALUES (7), (8), (9)) AS a(id) WHERE c.id < 700;

-- Rights by hierarchy: a policy that names its table.
CREATE TABLE files (id int, unit text);
INSERT INTO files SELECT n, 'n' || n FROM generate_series(1, 2000, 100) AS n;
ALTER TABLE files ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_unit ON files USING (cft_under(unit, current_setting('app.unit', true), edges => 'public.wood'));
CREATE ROLE clerk;
GRANT SELECT ON files, wood TO clerk;
SET ROLE clerk;
SELECT count(*) FROM files;
SET app.unit = 'n1500';
SELECT count(*), min(id) FROM files;
SET app.unit = 'n1';
SELECT count(*), min(id) FROM files;
-- What a role has attached for itself changes nothing there.
SET app.unit = 'the end';
RESET ROLE;
CREATE SCHEMA AUTHORIZATION clerk;
SET ROLE clerk;
CREATE TABLE clerk.own (parent text, child text);
INSERT INTO clerk.own SELECT 'the end', 'n' || n FROM generate_series(1, 2000) AS n;
SELECT cft_attach('clerk.own');
SET search_path = clerk;
SELECT public.cft_under('n1', 'the end') AS own, public.cft_under('n1', 'the end', 'clerk.own') AS named, (SELECT count(*) FROM public.files);
RESET search_path;
RESET ROLE;
-- Without the right to read the edges: PostgreSQL's own error.
REVOKE SELECT ON wood FROM clerk;
SET ROLE clerk;
SELECT count(*) FROM files;
SELECT cft_descendants('n1', 'wood');
RESET ROLE;
-- A policy on the edges holds for what is below.
GRANT SELECT ON wood TO clerk;
ALTER TABLE wood ENABLE ROW LEVEL SECURITY;
CREATE POLICY upper ON wood USING (child IN ('n2', 'n3', 'n4') OR current_user <> 'clerk');
SET ROLE clerk;
SELECT cft_descendants('n1', 'wood') AS seen, cft_under('n5', 'n1', 'wood') AS hidden;
SELECT count(*) FILTER (WHERE cft_under('n' || i, 'n1', 'wood')) AS seen FROM generate_series(1, 100) AS i;
RESET ROLE;
-- Not leakproof: it reads the edges, and its errors say which table it asks.
SELECT DISTINCT proname, proleakproof, provolatile, proparallel FROM pg_proc WHERE proname IN ('cft_under', 'cft_descendants');

DROP TABLE files, clerk.own, wood, meaning, categories, product, uuids;
DROP FUNCTION plain_below, try, changing;
DROP SCHEMA clerk;
DROP ROLE clerk;
