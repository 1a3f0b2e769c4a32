-- cft_context and cft_entities in FROM are scanned by a node of our own. A function with the same C code that is not the extension's gets PostgreSQL's
-- function scan: both must say the same, row by row.
-- Nobody analyses it meanwhile: plans are compared.
\a\t
CREATE TABLE cs (tree text, parent text, child text) WITH (autovacuum_enabled = off);
INSERT INTO cs SELECT t, 'n' || i / 3, 'n' || i FROM generate_series(1, 40) AS i, (VALUES ('t0'), ('t1')) AS v(t) WHERE t = 't0' OR i % 5 > 1;
INSERT INTO cs VALUES (NULL, 'n0', 'loner'), ('t1', 'n4', 'long ' || repeat('x', 200)), ('t1', 'secret', 'n1');
SELECT cft_attach('cs', tree => 'tree');
CREATE FUNCTION twin(entity text, up int DEFAULT 3, down int DEFAULT 1, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL) RETURNS SETOF cft_relative
  LANGUAGE c STABLE PARALLEL SAFE AS '$libdir/cftrag', 'cft_context_one_wrapper';
CREATE FUNCTION twin(entities text[], up int DEFAULT 3, down int DEFAULT 1, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL) RETURNS SETOF cft_relative
  LANGUAGE c STABLE PARALLEL SAFE AS '$libdir/cftrag', 'cft_context_many_wrapper';
CREATE FUNCTION twin_entities(question text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL, overlapping boolean DEFAULT false, match text DEFAULT NULL) RETURNS SETOF cft_mention
  LANGUAGE c STABLE PARALLEL SAFE AS '$libdir/cftrag', 'cft_entities_wrapper';
CREATE FUNCTION twin_of(query text) RETURNS text LANGUAGE sql AS $$ SELECT replace(replace(query, 'cft_context', 'twin'), 'cft_entities', 'twin_entities') $$;
-- The node, if the statement's plan has it.
CREATE FUNCTION scan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; scans text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
    IF line ~ '(Custom|Function) Scan' THEN scans := concat_ws(', ', scans, substring(line FROM '(Custom|Function) Scan')); END IF;
  END LOOP;
  RETURN scans;
END $$;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text[]; theirs text[]; scan text := scan_of(query);
BEGIN
  EXECUTE format('SELECT array_agg(q::text) FROM (%s) AS q', query) INTO ours;
  EXECUTE format('SELECT array_agg(q::text) FROM (%s) AS q', twin_of(query)) INTO theirs;
  IF scan_of(twin_of(query)) LIKE '%Custom%' THEN RETURN 'the twin is ours'; END IF;
  IF ours IS DISTINCT FROM theirs THEN RETURN format('%s: %s but %s', scan, ours, theirs); END IF;
  RETURN format('%s: same, %s rows', scan, coalesce(cardinality(ours), 0));
END $$;

-- What it scans, and what not.
SELECT q, same(q) FROM (VALUES
  ('SELECT * FROM cft_context(''n13'')'),
  ('SELECT * FROM cft_context(ARRAY[''n13'', ''n4'', NULL, ''n13'', ''nobody''], 9, 9)'),
  ('SELECT relative FROM cft_context(''n13'', down => 0) AS c'),
  ('SELECT via, depth FROM cft_context(''n4'', 2, 2, ''cs'') AS c'),
  ('SELECT a, f AS via, upper(e) FROM cft_context(''n4'') AS c(a, b, x, d, e, f)'),
  ('SELECT relative FROM cft_context(''n4'') AS c WHERE depth = 1 AND tree = ''t1'' AND via < ''n5'''),
  ('SELECT depth + 1 FROM cft_context(''n4'') AS c WHERE tree IS NULL OR relation = ''ancestor'''),
  ('SELECT count(*) FROM cft_context(''n4'') AS c'),
  ('SELECT count(*) FROM cft_context(''n0'') AS c WHERE tree IS NULL'),
  ('SELECT DISTINCT relation, length(relative) AS l FROM cft_context(''n4'') AS c ORDER BY 1, 2 LIMIT 3'),
  ('SELECT max(relative), min(via), string_agg(tree, ''+'') FROM cft_context(ARRAY[''n4'', ''n0''], 9, 9) AS c GROUP BY relation ORDER BY 1'),
  ('SELECT lag(relative) OVER (), sum(depth) OVER (PARTITION BY relation ORDER BY relative) FROM cft_context(''n4'', 9, 9) AS c'),
  ('SELECT relative FROM ROWS FROM (cft_context(''n4'')) AS c'),
  ('SELECT relative FROM cft_context(NULL::text) AS c'),
  ('SELECT relative FROM cft_context(''n4'', NULL) AS c'),
  ('SELECT relative FROM cft_context(''nobody'') AS c'),
  ('SELECT * FROM cft_context(''n4'') WITH ORDINALITY'),
  ('SELECT * FROM ROWS FROM (cft_context(''n4''), generate_series(1, 12))'),
  ('SELECT c FROM cft_context(''n4'') AS c'),
  ('SELECT depth FROM cft_context(''n4'') AS c WHERE c IS NOT NULL'),
  ('SELECT to_jsonb(c), c.relative FROM cft_context(''n4'') AS c(a, b, x, d, relative)'),
  ('SELECT jsonb_agg(c ORDER BY c DESC), min(c.via) FROM cft_context(''n4'') AS c WHERE c > ROW(''n4'', ''t1'', '''', 0, '''', '''', '''')::cft_relative'),
  ('SELECT (cft_context(''n4'')).relative')
) AS v(q);
-- In joins and subqueries: several at once, one for each row, parameters of every kind.
SELECT q, same(q) FROM (VALUES
  ('SELECT v.n, c.* FROM (VALUES (''n4''), (''n0''), (NULL), (''nobody''), (''n13'')) AS v(n), LATERAL cft_context(v.n) AS c'),
  ('SELECT v.n, c.relative FROM (VALUES (''n4''), (NULL), (''n13'')) AS v(n) LEFT JOIN LATERAL cft_context(v.n || '''') AS c ON c.depth = 1'),
  ('SELECT a.relative, b.relative FROM cft_context(''n4'') AS a, LATERAL cft_context(a.relative, 1, 1) AS b'),
  ('SELECT a.relative, b.relative FROM cft_context(''n4'') AS a, cft_context(''n13'') AS b WHERE a.depth < b.depth ORDER BY 1, 2'),
  ('SELECT a.relative, b.via FROM cft_context(''n4'') AS a FULL JOIN cft_context(''n13'') AS b USING (relative) ORDER BY 1, 2'),
  ('SELECT * FROM cft_context(''n4'') AS a UNION ALL SELECT * FROM cft_context(ARRAY[''n13'']) AS b'),
  ('SELECT relative FROM cft_context(''n4'') AS a EXCEPT SELECT relative FROM cft_context(''n13'') AS b ORDER BY 1'),
  ('SELECT child FROM cs WHERE child IN (SELECT relative FROM cft_context(''n4'') AS c) ORDER BY 1'),
  ('SELECT child FROM cs WHERE child NOT IN (SELECT relative FROM cft_context(''n4'', 9, 9) AS c) ORDER BY 1'),
  ('SELECT child, (SELECT count(*) FROM cft_context(cs.child) AS c WHERE c.depth > length(cs.tree) - 1) FROM cs ORDER BY 1'),
  ('SELECT child, EXISTS (SELECT FROM cft_context(cs.child, 0, 1) AS c WHERE c.relative <> cs.parent) FROM cs ORDER BY 1'),
  ('SELECT child FROM cs, LATERAL (SELECT max(depth) AS m FROM cft_context(cs.child) AS c WHERE c.tree = cs.tree) AS s WHERE m > 2 ORDER BY 1'),
  ('SELECT * FROM cft_context((SELECT max(child) FROM cs)) AS c'),
  ('SELECT * FROM cft_context(ARRAY(SELECT child FROM cs ORDER BY 1 LIMIT 5)) AS c'),
  ('SELECT i, c.relative FROM (VALUES (1), (2)) AS v(i), LATERAL cft_context((SELECT child FROM cs WHERE child = ''n'' || v.i LIMIT 1)) AS c'),
  ('WITH w AS MATERIALIZED (SELECT relative, depth FROM cft_context(''n4'') AS c) SELECT * FROM w AS a, w AS b WHERE a.depth < b.depth'),
  ('WITH RECURSIVE r(n) AS (SELECT ''n1'' UNION SELECT c.relative FROM r, cft_context(r.n, 0, 1) AS c) SELECT * FROM r ORDER BY 1')
) AS v(q);
SET cftrag.enable = off;
SELECT same('SELECT v.n, c.* FROM (VALUES (''n4''), (NULL), (''n13'')) AS v(n), LATERAL cft_context(v.n) AS c WHERE c.via <> c.entity');
SELECT same('SELECT a.relative, b.relative FROM cft_context(''n4'') AS a, cft_context(''n13'') AS b WHERE a.depth < b.depth ORDER BY 1, 2');
SELECT same('SELECT n, array_agg(c), count(c.tree) FROM (VALUES (''n0''), (''n13'')) AS v(n), LATERAL cft_context(n) AS c GROUP BY n ORDER BY n');
RESET cftrag.enable;
SELECT same('SELECT n, array_agg(c), count(c.tree) FROM (VALUES (''n0''), (''n13'')) AS v(n), LATERAL cft_context(n) AS c GROUP BY n ORDER BY n');

-- cft_entities in such queries: names, aliases, texts of other scripts, and of more than one length of header.
CREATE TABLE cs_aliases (alias text, entity text);
INSERT INTO cs_aliases VALUES ('the fourth', 'n4'), ('four', 'n4'), ('the fourth', 'n13'), (repeat('y', 200) || ' z', 'n1'), ('Größe', 'n2'), ('nobody', 'nobody');
CREATE TABLE cs_texts (id int, body text) WITH (autovacuum_enabled = off);
INSERT INTO cs_texts VALUES (1, 'N4 and n13, loner; n4'), (2, 'the fourth is n4; 日本 n2 größe GRÖSSE'), (3, NULL), (4, ''), (5, repeat('n1 ', 5000)),
  (6, repeat('y', 200) || ' z and long ' || repeat('x', 200));
CREATE TABLE entity_queries (q text);
INSERT INTO entity_queries VALUES
  ('SELECT * FROM cft_entities(''n4 and n13, loner'')'),
  ('SELECT * FROM cft_entities(''N4 of the Fourth'', ''cs'', overlapping => true) AS e'),
  ('SELECT entity FROM cft_entities(''nothing of it'') AS e'),
  ('SELECT length, mention FROM cft_entities(''long '' || repeat(''x'', 200)) AS e'),
  ('SELECT via_alias, upper(entity), start + 1 FROM cft_entities(''four n4'') AS e WHERE start > 1 OR via_alias IS NOT NULL'),
  ('SELECT e FROM cft_entities(''four n4'') AS e'),
  ('SELECT count(*) FROM cft_entities(''four n4'') AS e'),
  ('SELECT * FROM cft_entities(NULL) AS e'),
  ('SELECT * FROM cft_entities(''n4'', overlapping => NULL) AS e'),
  ('SELECT * FROM cft_entities(''n4'') WITH ORDINALITY'),
  ('SELECT (cft_entities(''n4'')).entity'),
  ('SELECT t.id, e.* FROM cs_texts AS t, LATERAL cft_entities(t.body, ''cs'') AS e ORDER BY id, start, entity'),
  ('SELECT t.id, e.mention, e.via_alias FROM cs_texts AS t LEFT JOIN LATERAL cft_entities(t.body, ''cs'', overlapping => true) AS e ON e.length > 2 ORDER BY id, start, entity, length'),
  ('SELECT a.entity, c.relative FROM cft_entities(''n4 and loner'') AS a, LATERAL cft_context(a.entity, 1, 1) AS c'),
  ('SELECT a.entity, b.mention FROM cft_entities(''n4 n2'') AS a, cft_entities(''n13 n1 n2'') AS b WHERE a.start < b.start ORDER BY 1, 2'),
  ('SELECT entity FROM cft_entities((SELECT body FROM cs_texts WHERE id = 1)) AS e');
SELECT q, same(q) FROM entity_queries;
SELECT cft_attach_aliases('cs_aliases', edges => 'cs');
SELECT q, same(q) FROM entity_queries;
SET cftrag.enable = off;
SELECT said, count(*) FROM (SELECT same(q) AS said FROM entity_queries) AS s GROUP BY said ORDER BY said COLLATE "C";
RESET cftrag.enable;
EXPLAIN (COSTS off) SELECT entity FROM cft_entities('n4') AS "E" WHERE start = 1;
EXPLAIN (COSTS off, VERBOSE) SELECT e.mention FROM cs_texts, LATERAL cft_entities(body, 'cs') AS e;
SELECT * FROM cft_entities('n4', 'pg_class') AS e;

-- What EXPLAIN says.
EXPLAIN (COSTS off) SELECT relative FROM cft_context('n4') AS "C" WHERE depth = 1;
EXPLAIN (COSTS off, VERBOSE) SELECT c.tree, lower(via) FROM cs, LATERAL cft_context(child || '', down => 2) AS c WHERE c.tree <> parent;
CREATE FUNCTION plan_of(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (COSTS off, VERBOSE, FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan';
END $$;
SELECT key, value FROM jsonb_each(plan_of('SELECT relative FROM cft_context(''n4'') AS c')) WHERE key IN ('Node Type', 'Custom Plan Provider', 'Function Name', 'Schema', 'Alias', 'Function Call');

-- Called as PostgreSQL calls functions: rights, settings of the function, statistics. A kept plan follows the function.
SET plan_cache_mode = force_generic_plan;
PREPARE kept(text) AS SELECT count(*) FROM cft_context($1) AS c;
EXECUTE kept('n4');
SELECT scan_of('EXECUTE kept(''n4'')');
ALTER FUNCTION cft_context(text, int, int, regclass, text[]) SECURITY DEFINER;
SELECT scan_of('EXECUTE kept(''n4'')');
EXECUTE kept('n4');
ALTER FUNCTION cft_context(text, int, int, regclass, text[]) SECURITY INVOKER SET work_mem = '1MB';
SELECT scan_of('EXECUTE kept(''n4'')');
ALTER FUNCTION cft_context(text, int, int, regclass, text[]) RESET ALL;
SELECT scan_of('EXECUTE kept(''n4'')');
ALTER FUNCTION cft_context(text, int, int, regclass, text[]) STRICT;
SELECT scan_of('EXECUTE kept(''n4'')');
EXECUTE kept('n4');
ALTER FUNCTION cft_context(text, int, int, regclass, text[]) CALLED ON NULL INPUT;
SELECT scan_of('EXECUTE kept(''n4'')');
CREATE ROLE regress_cs;
GRANT SELECT ON cs TO regress_cs;
REVOKE EXECUTE ON FUNCTION cft_context(text, int, int, regclass, text[]) FROM PUBLIC;
SET ROLE regress_cs;
EXPLAIN EXECUTE kept('n4');
SELECT count(*) FROM cft_context('n4') AS c;
RESET ROLE;
GRANT EXECUTE ON FUNCTION cft_context(text, int, int, regclass, text[]) TO PUBLIC;
SET ROLE regress_cs;
EXECUTE kept('n4');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION cft_context(text, int, int, regclass, text[]) FROM PUBLIC;
SET ROLE regress_cs;
EXECUTE kept('n4');
RESET ROLE;
GRANT EXECUTE ON FUNCTION cft_context(text, int, int, regclass, text[]) TO PUBLIC;
REVOKE SELECT ON cs FROM regress_cs;
SET ROLE regress_cs;
SELECT count(*) FROM cft_context('n4', edges => 'cs') AS c;
RESET ROLE;
SELECT count(*) FROM cft_context('n4', -1) AS c;
SELECT count(*) FROM cft_context('n4', edges => 'pg_class') AS c;
DROP ROLE regress_cs;
SET track_functions = 'all';
SELECT count(*) FROM cft_context('n4') AS c;
SELECT count(*) FROM cft_context('n13') AS c;
SELECT count(*) FROM (VALUES ('n4'), (NULL), ('n13')) AS v(n), LATERAL cft_context(v.n) AS c;
RESET track_functions;
SELECT count(*) FROM cft_context('n13') AS c;
SELECT pg_stat_force_next_flush();
SELECT pg_stat_get_function_calls('cft_context(text, int, int, regclass, text[])'::regprocedure);

-- Asked once, and again only when a parameter of the call itself changes.
CREATE SEQUENCE asked;
CREATE FUNCTION counted(name text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM nextval('asked'); RETURN name; END $$;
SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off;
SELECT count(*) FROM generate_series(1, 3) AS i JOIN cft_context(counted('n4')) AS c ON c.depth >= i;
SELECT last_value FROM asked;
SELECT i, (SELECT count(*) FROM cft_context(counted('n4')) AS c WHERE c.depth = i) FROM generate_series(1, 3) AS i;
SELECT last_value FROM asked;
SELECT i, (SELECT count(*) FROM cft_context(counted('n' || i)) AS c WHERE c.depth = 1) FROM generate_series(1, 3) AS i;
SELECT last_value FROM asked;
RESET enable_material; RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_memoize;

-- Cursors: back and forth, while others ask, over rollbacks, beyond the transaction.
CREATE FUNCTION moves(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours refcursor; theirs refcursor; a record; b record; q text; m text; moved int := 0;
BEGIN
  OPEN ours SCROLL FOR EXECUTE format('SELECT relative, tree FROM %s AS c', replace(name, '?', 'cft_context'));
  OPEN theirs SCROLL FOR EXECUTE format('SELECT relative, tree FROM %s AS c', replace(name, '?', 'twin'));
  FOREACH m IN ARRAY '{FORWARD,FORWARD,BACKWARD,BACKWARD,BACKWARD,FORWARD,LAST,FORWARD,BACKWARD,BACKWARD,FORWARD,FORWARD,FORWARD,BACKWARD,FIRST,ABSOLUTE 3,RELATIVE -1,RELATIVE 2,ABSOLUTE -2,ABSOLUTE 0,FORWARD,RELATIVE 0,ABSOLUTE 99,BACKWARD}'::text[] LOOP
    CASE m
      WHEN 'FORWARD' THEN FETCH FORWARD FROM ours INTO a; FETCH FORWARD FROM theirs INTO b;
      WHEN 'BACKWARD' THEN FETCH BACKWARD FROM ours INTO a; FETCH BACKWARD FROM theirs INTO b;
      WHEN 'LAST' THEN FETCH LAST FROM ours INTO a; FETCH LAST FROM theirs INTO b;
      WHEN 'FIRST' THEN FETCH FIRST FROM ours INTO a; FETCH FIRST FROM theirs INTO b;
      WHEN 'ABSOLUTE 0' THEN FETCH ABSOLUTE 0 FROM ours INTO a; FETCH ABSOLUTE 0 FROM theirs INTO b;
      WHEN 'ABSOLUTE 3' THEN FETCH ABSOLUTE 3 FROM ours INTO a; FETCH ABSOLUTE 3 FROM theirs INTO b;
      WHEN 'ABSOLUTE -2' THEN FETCH ABSOLUTE -2 FROM ours INTO a; FETCH ABSOLUTE -2 FROM theirs INTO b;
      WHEN 'ABSOLUTE 99' THEN FETCH ABSOLUTE 99 FROM ours INTO a; FETCH ABSOLUTE 99 FROM theirs INTO b;
      WHEN 'RELATIVE 0' THEN FETCH RELATIVE 0 FROM ours INTO a; FETCH RELATIVE 0 FROM theirs INTO b;
      WHEN 'RELATIVE -1' THEN FETCH RELATIVE -1 FROM ours INTO a; FETCH RELATIVE -1 FROM theirs INTO b;
      WHEN 'RELATIVE 2' THEN FETCH RELATIVE 2 FROM ours INTO a; FETCH RELATIVE 2 FROM theirs INTO b;
    END CASE;
    moved := moved + 1;
    IF a IS DISTINCT FROM b THEN RETURN format('move %s, %s: %s but %s', moved, m, a, b); END IF;
  END LOOP;
  RETURN format('same, %s moves', moved);
END $$;
SELECT name, moves(name) FROM (VALUES ('?(''n4'')'), ('?(''nobody'')'), ('?(''loner'', 1, 0)')) AS v(name);
SET cftrag.enable = off;
SELECT name, moves(name) FROM (VALUES ('?(''n4'')'), ('?(''nobody'')'), ('?(''loner'', 1, 0)')) AS v(name);
RESET cftrag.enable;
BEGIN;
DECLARE one CURSOR FOR SELECT left(relative, 20) FROM cft_context('n4') AS c;
DECLARE two CURSOR FOR SELECT relative FROM cft_context('n13') AS c;
FETCH 2 FROM one;
FETCH 1 FROM two;
SELECT count(*) FROM cft_context(ARRAY(SELECT child FROM cs), 9, 9) AS c;
INSERT INTO cs VALUES ('t1', 'n13', 'new');
FETCH 2 FROM one;
SAVEPOINT s;
DECLARE broken CURSOR FOR SELECT relative, 1 / (depth - 2) FROM cft_context('n13', 9, 0) AS c;
FETCH 1 FROM broken;
FETCH 1 FROM broken;
ROLLBACK TO s;
SELECT count(*) FROM cft_context('n13', -1) AS c;
ROLLBACK TO s;
SELECT count(*) FROM cft_context('n13') AS c;
FETCH ALL FROM one;
FETCH ALL FROM two;
CLOSE one;
ROLLBACK;
BEGIN;
DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT relative FROM cft_context('n4', 9, 0) AS c;
FETCH 1 FROM held;
DECLARE later CURSOR WITH HOLD FOR SELECT relative FROM cft_context('n13', 9, 0) AS c;
INSERT INTO cs VALUES ('t0', 'later', 'n13');
COMMIT;
SELECT count(*) FROM cft_context(ARRAY(SELECT child FROM cs), 9, 9) AS c;
FETCH ALL FROM held;
FETCH BACKWARD 2 FROM held;
FETCH ALL FROM later;
CLOSE ALL;
DELETE FROM cs WHERE parent = 'later';
DO $$
DECLARE outer_row record; inner_row record; seen int := 0;
BEGIN
  FOR outer_row IN SELECT * FROM cft_context('n4') AS c LOOP
    FOR inner_row IN SELECT * FROM cft_context(outer_row.relative) AS c LOOP
      seen := seen + 1;
      IF inner_row.entity <> outer_row.relative THEN RAISE 'wrong row %', inner_row; END IF;
      BEGIN
        PERFORM 1 / (seen % 3) FROM cft_context('n13') AS c;
      EXCEPTION WHEN division_by_zero THEN NULL;
      END;
    END LOOP;
  END LOOP;
  RAISE NOTICE '% rows', seen;
END $$;

BEGIN;
DECLARE said SCROLL CURSOR FOR SELECT mention, start FROM cft_entities('n4, then n13, n1; four') AS e;
DECLARE other CURSOR FOR SELECT entity, mention FROM cft_entities('loner n0') AS e;
FETCH 2 FROM said;
FETCH 1 FROM other;
SELECT count(*) FROM cft_entities(repeat('n1 n2 ', 300)) AS e;
DELETE FROM cs WHERE child = 'n1';
FETCH BACKWARD 1 FROM said;
FETCH ALL FROM said;
FETCH ALL FROM other;
ROLLBACK;

-- Rows leave it whole.
COPY (SELECT tree, relative FROM cft_context('n0', 0, 1) AS c) TO STDOUT;
CREATE TABLE kept_rows AS SELECT * FROM cft_context('n4');
INSERT INTO kept_rows SELECT * FROM cft_context(ARRAY['n13', 'n0']);
SELECT count(*), sum(hashtext(kept_rows::text)) = (SELECT sum(hashtext(t::text)) FROM (SELECT * FROM twin('n4') UNION ALL SELECT * FROM twin(ARRAY['n13', 'n0'])) AS t) AS same FROM kept_rows;

-- Who may not see a row may not leak it by a cheap function.
CREATE FUNCTION leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'leaked %', $1; RETURN true; END $$;
CREATE VIEW guarded WITH (security_barrier) AS SELECT relative, depth FROM cft_context('n1') AS c WHERE relative <> 'secret' AND relation = 'ancestor';
SELECT * FROM guarded WHERE leak(relative);
-- And cheap conditions come first.
CREATE FUNCTION costly(text) RETURNS bool LANGUAGE plpgsql COST 100000 AS $$ BEGIN RAISE NOTICE 'asked for %', $1; RETURN true; END $$;
SELECT relative FROM cft_context('n1') AS c WHERE costly(relative) AND depth > 2;
SELECT relative FROM cft_context('n1') AS c WHERE costly(relative) AND relative = 'secret';

-- Rows beside rows that are locked or changed stay with PostgreSQL, which keeps them for a second look.
SELECT scan_of('SELECT 1 FROM cs JOIN cft_context(''n4'') AS c ON child = relative FOR UPDATE OF cs');
SELECT scan_of('UPDATE cs SET tree = c.via FROM cft_context(''n4'') AS c WHERE child = relative');
SELECT scan_of('DELETE FROM cs USING (SELECT relative FROM cft_context(''n4'') AS c LIMIT 3) AS s WHERE child = relative');
SELECT scan_of('INSERT INTO cs SELECT tree, entity, relative FROM cft_context(''n4'') AS c');
WITH d AS (DELETE FROM cs USING (SELECT relative FROM cft_context('n2', 0, 1) AS c LIMIT 3) AS s WHERE child = relative AND parent = 'n2' RETURNING child) SELECT * FROM d ORDER BY 1;

-- In a parallel worker.
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
EXPLAIN (COSTS off) SELECT left(relative, 20), via, tree FROM cft_context('n4') AS c WHERE via <> 'x';
SELECT left(relative, 20), via, tree FROM cft_context('n4') AS c WHERE via <> 'x';
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT count(*), sum(length(relative)) FROM cs, LATERAL cft_context(child, 9, 9) AS c;
SELECT (SELECT (count(*), sum(length(relative))) FROM cs, LATERAL cft_context(child, 9, 9) AS c)
     = (SELECT (count(*), sum(length(relative))) FROM cs, LATERAL twin(child, 9, 9) AS c) AS same;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

RESET plan_cache_mode;
DEALLOCATE kept;
-- The script of an older version declares fewer arguments: those it does not have are NULL.
CREATE FUNCTION older(entity text, up int, down int, edges regclass) RETURNS SETOF cft_relative
  LANGUAGE c STABLE PARALLEL SAFE AS '$libdir/cftrag', 'cft_context_one_wrapper';
SELECT count(*) FROM older('n4', 3, 1, 'cs') AS c;
DROP FUNCTION older;
SELECT cft_detach('cs');
DROP VIEW guarded;
DROP TABLE cs, kept_rows, cs_texts, cs_aliases, entity_queries;
DROP SEQUENCE asked;
DROP FUNCTION twin(text, int, int, regclass, text[]), twin(text[], int, int, regclass, text[]), twin_entities, twin_of, scan_of, same, plan_of, counted, moves, leak, costly;
