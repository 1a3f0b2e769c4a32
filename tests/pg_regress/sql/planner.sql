-- The planner is told how many rows cft_context gives: counted in the image for a constant, averages for others.
\a\t
SET client_min_messages = warning;
CREATE TABLE pl (tree text, parent text, child text);
-- A root of 3000, and chains: top > middle 1..100 > leaf 1..100.
INSERT INTO pl SELECT 'wide', 'root', 'under ' || i FROM generate_series(1, 3000) AS i;
INSERT INTO pl SELECT 'deep', 'top', 'middle ' || i FROM generate_series(1, 100) AS i;
INSERT INTO pl SELECT 'deep', 'middle ' || i, 'leaf ' || i FROM generate_series(1, 100) AS i;
SELECT cft_attach('pl', tree => 'tree');
-- Rows of the top node of a plan.
CREATE FUNCTION rows_of(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
CREATE FUNCTION cost_of(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Total Cost';
END $$;

-- Nothing is built for an estimate: what the function declares, and no call is counted.
SELECT rows_of($$SELECT * FROM cft_context('root', 1, 1, 'pl')$$);
SELECT rows_of($$SELECT * FROM cft_context('{root,b}'::text[], 1, 1, 'pl')$$);
SELECT state FROM pg_stat_cftrag WHERE edges = 'pl'::regclass;
SELECT cft_build('pl');

-- A constant's own relatives.
SELECT rows_of($$SELECT * FROM cft_context('top', 0, 1, 'pl')$$) AS top, rows_of($$SELECT * FROM cft_context('top', 0, 2, 'pl')$$) AS two,
       rows_of($$SELECT * FROM cft_context('leaf 1', 3, 0, 'pl')$$) AS leaf, rows_of($$SELECT * FROM cft_context('nobody', edges => 'pl')$$) AS nobody,
       rows_of($$SELECT * FROM cft_context(NULL::text, edges => 'pl')$$) AS null, rows_of($$SELECT * FROM cft_context('top', NULL, 1, 'pl')$$) AS no_level,
       rows_of($$SELECT * FROM cft_context('top', 0, 1)$$) AS only_attached;
-- Counting ends after some 2000.
SELECT rows_of($$SELECT * FROM cft_context('root', 0, 1, 'pl')$$) BETWEEN 1500 AND 2500 AS bounded;
-- Arrays: each name once; the average of the first hundred for the others.
SELECT rows_of($$SELECT * FROM cft_context('{top,leaf 1,top,NULL}'::text[], 3, 1, 'pl')$$) AS both,
       rows_of($$SELECT * FROM cft_context(ARRAY(SELECT 'leaf ' || i FROM generate_series(1, 100) AS i), 3, 1, 'pl')$$) AS unknown;
-- Averages: 3200 edges, 3202 entities, 3 + 1 levels; the array's length where that is known.
PREPARE one(text) AS SELECT * FROM cft_context($1, 3, 1, 'pl');
PREPARE many(text, text) AS SELECT * FROM cft_context(ARRAY[$1, $2], 3, 1, 'pl');
PREPARE level(int) AS SELECT * FROM cft_context('top', 0, $1, 'pl');
PREPARE anywhere(regclass) AS SELECT * FROM cft_context('top', 0, 1, $1);
SET plan_cache_mode = force_generic_plan;
SELECT rows_of($$EXECUTE one('top')$$) AS one, rows_of($$EXECUTE many('a', 'b')$$) AS many, rows_of($$EXECUTE level(2)$$) AS level,
       rows_of($$EXECUTE anywhere('pl')$$) AS declared;
RESET plan_cache_mode;
SELECT rows_of($$EXECUTE level(2)$$) AS level;
-- Costs follow.
SELECT cost_of($$SELECT * FROM cft_context('top', 0, 1, 'pl')$$) > cost_of($$SELECT * FROM cft_context('leaf 1', 0, 1, 'pl')$$) AS relatives,
       cost_of($$SELECT cft_context_text('{top,leaf 1,leaf 2}'::text[], 3, 1, 'pl')$$) > cost_of($$SELECT cft_context_text('{leaf 1}'::text[], 3, 1, 'pl')$$) AS names,
       cost_of($$SELECT * FROM cft_entities(repeat('word ', 400), 'pl')$$) > cost_of($$SELECT * FROM cft_entities('word', 'pl')$$) AS words;
SELECT rows_of($$SELECT * FROM cft_entities(repeat('word ', 400), 'pl')$$) AS long, rows_of($$SELECT * FROM cft_entities('leaf 1?', 'pl')$$) AS short;
-- An estimate is no lookup: nobody became warm, no call was counted.
SELECT count(*) FILTER (WHERE temperature > 0) FROM cft_hot_entities(10, 'pl');
SELECT image_calls, lookups FROM pg_stat_cftrag WHERE edges = 'pl'::regclass;

-- Planning raises nothing of its own, and tells nothing to whom the rows would not be given.
EXPLAIN (COSTS off) SELECT * FROM cft_context('a', -1, 1, 'pl');
EXPLAIN (COSTS off) SELECT * FROM cft_context('a', edges => 4294967294);
EXPLAIN (COSTS off) SELECT * FROM cft_context('a', edges => 'pg_class');
SET cftrag.enable = off;
SELECT rows_of($$SELECT * FROM cft_context('top', 0, 1, 'pl')$$) AS disabled;
RESET cftrag.enable;
CREATE ROLE pl_reader;
SET ROLE pl_reader;
SELECT rows_of($$SELECT * FROM cft_context('top', 0, 1, 'pl')$$) AS without_select;
RESET ROLE;
GRANT SELECT ON pl TO pl_reader;
SET ROLE pl_reader;
SELECT rows_of($$SELECT * FROM cft_context('top', 0, 1, 'pl')$$) AS with_select;
RESET ROLE;
ALTER TABLE pl ENABLE ROW LEVEL SECURITY;
SET ROLE pl_reader;
SELECT rows_of($$SELECT * FROM cft_context('top', 0, 1, 'pl')$$) AS row_security;
RESET ROLE;
ALTER TABLE pl DISABLE ROW LEVEL SECURITY;

-- Nor what is in columns that the caller may not read, but the image was built of before they were renamed: not by an estimate, nor by
-- statistics, which want SELECT on the columns of names, not on just any.
CREATE TABLE hid (parent text, child text, x text, y text);
INSERT INTO hid SELECT 'secret', 'leaf ' || i, 'a', 'b' FROM generate_series(1, 700) AS i;
SELECT cft_attach('hid');
SELECT cft_build('hid');
ALTER TABLE hid RENAME parent TO hidden_parent;
ALTER TABLE hid RENAME child TO hidden_child;
ALTER TABLE hid RENAME x TO parent;
ALTER TABLE hid RENAME y TO child;
GRANT SELECT (parent, child) ON hid TO pl_reader;
SET ROLE pl_reader;
SELECT rows_of($$SELECT * FROM cft_context('secret', 0, 1, 'hid')$$) AS renamed;
SELECT count(*) FROM pg_stat_cftrag WHERE edges = 'hid'::regclass;
RESET ROLE;
SELECT cft_build('hid');
SET ROLE pl_reader;
SELECT rows_of($$SELECT * FROM cft_context('secret', 0, 1, 'hid')$$) AS secret, rows_of($$SELECT * FROM cft_context('a', 0, 1, 'hid')$$) AS a;
SELECT entities, edge_rows FROM pg_stat_cftrag WHERE edges = 'hid'::regclass;
RESET ROLE;
REVOKE SELECT (parent, child) ON hid FROM pl_reader;
GRANT SELECT (child, hidden_parent) ON hid TO pl_reader;
SET ROLE pl_reader;
SELECT rows_of($$SELECT * FROM cft_context('a', 0, 1, 'hid')$$) AS half;
SELECT count(*) FROM pg_stat_cftrag WHERE edges = 'hid'::regclass;
RESET ROLE;
-- Who may not read a table does not lock it by planning.
REVOKE ALL ON hid FROM pl_reader;
REVOKE SELECT (child, hidden_parent) ON hid FROM pl_reader;
SET ROLE pl_reader;
BEGIN;
EXPLAIN (COSTS off) SELECT * FROM cft_context('a', 0, 1, 'hid');
SELECT count(*) FROM pg_locks WHERE relation = 'hid'::regclass AND pid = pg_backend_pid();
ROLLBACK;
RESET ROLE;
DROP TABLE hid;

-- What it is for: documents of an entity's relatives, nearest first. The same function as it would be without the estimates, with the
-- 1000 rows that PostgreSQL assumes of a function, reads all documents for 1 relative.
CREATE TABLE pl_doc (id int PRIMARY KEY, entity text NOT NULL, embedding vector(3));
INSERT INTO pl_doc SELECT i, CASE WHEN i <= 3000 THEN 'under ' || i ELSE 'other ' || i END, ARRAY[i % 7, i % 11, i % 13]::vector FROM generate_series(1, 20000) AS i;
CREATE INDEX ON pl_doc (entity);
VACUUM ANALYZE pl_doc;
CREATE FUNCTION assumed(entity text, up int, down int, edges regclass) RETURNS SETOF cft_relative LANGUAGE c STABLE AS '$libdir/cftrag', 'cft_context_one_wrapper';
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS off) SELECT d.id FROM assumed('under 1', 1, 1, 'pl') AS c JOIN pl_doc AS d ON d.entity = c.relative ORDER BY d.embedding <=> '[1,2,3]' LIMIT 5;
EXPLAIN (COSTS off) SELECT d.id FROM cft_context('under 1', 1, 1, 'pl') AS c JOIN pl_doc AS d ON d.entity = c.relative ORDER BY d.embedding <=> '[1,2,3]' LIMIT 5;
EXPLAIN (COSTS off) SELECT d.id FROM cft_context('root', 1, 1, 'pl') AS c JOIN pl_doc AS d ON d.entity = c.relative ORDER BY d.embedding <=> '[1,2,3]' LIMIT 5;
RESET max_parallel_workers_per_gather;
SELECT count(*) FROM cft_context('root', 1, 1, 'pl') AS c JOIN pl_doc AS d ON d.entity = c.relative;

-- cft_under: the entities of the subtree among all of them, in a column that has each as often.
SELECT rows_of($$SELECT FROM pl_doc WHERE cft_under(entity, 'root', 'pl')$$) BETWEEN 1500 AND 6000 AS root, rows_of($$SELECT FROM pl_doc WHERE cft_under(entity, 'under 1', 'pl')$$) < 20 AS leaf,
       rows_of($$SELECT FROM pl_doc WHERE cft_under(entity, '{under 1,under 2}'::text[], 'pl')$$) < 40 AS leaves, rows_of($$SELECT FROM pl_doc WHERE cft_under(entity, NULL, 'pl')$$) AS null,
       rows_of($$SELECT FROM pl_doc WHERE cft_under(entity, '{}'::text[], 'pl')$$) AS none;
SELECT rows_of($$SELECT FROM pl_doc AS d JOIN pl AS p ON cft_under(d.entity, p.child, 'pl')$$) < 1000000 AS join_of_64_million_pairs;
EXPLAIN (COSTS off) SELECT d.id FROM pl_doc AS d WHERE cft_under(entity, 'under 1', 'pl') ORDER BY d.embedding <=> '[1,2,3]' LIMIT 5;

DEALLOCATE ALL;
DROP FUNCTION assumed;
DROP TABLE pl, pl_doc;
DROP ROLE pl_reader;
DROP FUNCTION rows_of, cost_of;

-- A superuser can give our support functions to functions that take something else, or less: they say nothing of these.
CREATE FUNCTION pg_temp.some(bigint) RETURNS SETOF text LANGUAGE plpgsql SUPPORT cftrag_internal.cft_entities_support AS 'BEGIN END';
CREATE FUNCTION pg_temp.some(int, text, text, int) RETURNS SETOF text LANGUAGE plpgsql SUPPORT cftrag_internal.cft_context_support AS 'BEGIN END';
CREATE FUNCTION pg_temp.some(text) RETURNS SETOF text LANGUAGE plpgsql SUPPORT cftrag_internal.cft_context_support AS 'BEGIN END';
CREATE FUNCTION pg_temp.some(text, text, text) RETURNS boolean LANGUAGE plpgsql SUPPORT cftrag_internal.cft_under_support AS 'BEGIN RETURN true; END';
SELECT count(*) FROM pg_temp.some(7);
SELECT count(*) FROM pg_temp.some(7, 'x', 'y', 8);
SELECT count(*) FROM pg_temp.some('x');
SELECT count(*) FROM pg_class WHERE relname = 'pg_class' AND pg_temp.some(relname::text, 'x', 'y');
