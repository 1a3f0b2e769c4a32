-- The extension, and the oracle of all the other files: sql/reference.sql itself, compared with cft_context in one statement,
-- so under one snapshot, row by row and in order.
--   oracle.same(entity or entities, up, down, edges, parent, child, tree)   'same, N rows', or both sides
--   oracle.all_same(edges, up, down, parent, child, tree)                   for every name in the table, one by one and together
--   oracle.build(edges)                                                     cft_build where there is shared memory, else nothing
--   oracle.plant(edges, meaning, seed)                                      a random forest, and embeddings of its entities
\a\t
SET client_min_messages = warning;
SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE; SET client_min_messages = warning;
CREATE SCHEMA oracle;
\set reference `cat "$PG_ABS_SRCDIR/../../sql/reference.sql"`
SELECT format('CREATE FUNCTION oracle.reference() RETURNS text IMMUTABLE LANGUAGE sql AS %L', format('SELECT %L::text', :'reference')) AS make \gset
:make;

-- Runs the reference query, so that no table is open while cft_context answers: beside own writes it would ask the reference query.
CREATE FUNCTION oracle.run(query text, entities text[], up int, down int) RETURNS SETOF public.cft_relative STABLE LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY EXECUTE format('SELECT q.*, NULL::text FROM (%s) AS q', query) USING entities, up, down; END $$;

-- The tree column is left out if the table has none of that name.
CREATE FUNCTION oracle.statement(many boolean, edges regclass, parent name, child name, tree name) RETURNS text
STABLE LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    query text := oracle.reference();
    has_tree boolean := EXISTS (SELECT FROM pg_attribute WHERE attrelid = edges AND attname = tree AND NOT attisdropped);
    columns text := 'entity COLLATE "C" AS entity, tree COLLATE "C" AS tree, relation COLLATE "C" AS relation, depth,
                     relative COLLATE "C" AS relative, via COLLATE "C" AS via';
BEGIN
    query := replace(query, '{edges}', edges::text);
    query := replace(query, '{tree}', CASE WHEN has_tree THEN format('r.%I::pg_catalog.text', tree) ELSE 'NULL::pg_catalog.text' END);
    query := replace(query, '{parent_collation}', 'pg_catalog."C"');
    query := replace(query, '{child_collation}', 'pg_catalog."C"');
    query := replace(query, '{parent}', format('r.%I::pg_catalog.text', parent));
    query := replace(query, '{child}', format('r.%I::pg_catalog.text', child));
    RETURN format(
        'WITH image AS MATERIALIZED (SELECT row_number() OVER () AS n, %s FROM public.cft_context(%s, $2, $3, %L::regclass)),
              reference AS MATERIALIZED (SELECT row_number() OVER () AS n, %s FROM oracle.run(%L, $1, $2, $3)),
              different AS ((TABLE image EXCEPT ALL TABLE reference) UNION ALL (TABLE reference EXCEPT ALL TABLE image))
         SELECT CASE WHEN EXISTS (TABLE different)
                     THEN (SELECT string_agg(side || z::text, E''\n'' ORDER BY side, n)
                             FROM (SELECT ''image     '' AS side, * FROM image UNION ALL SELECT ''reference '', * FROM reference) AS z)
                     ELSE format(''same, %%s rows'', (SELECT count(*) FROM image)) END',
        columns, CASE WHEN many THEN '$1' ELSE '($1)[1]' END, edges::oid::text, columns, query);
END $$;

CREATE FUNCTION oracle.same(entities text[], up int, down int, edges regclass, parent name = 'parent', child name = 'child', tree name = 'tree')
RETURNS text STABLE LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
    EXECUTE oracle.statement(true, edges, parent, child, tree) INTO answer USING entities, up, down;
    RETURN answer;
END $$;

CREATE FUNCTION oracle.same(entity text, up int, down int, edges regclass, parent name = 'parent', child name = 'child', tree name = 'tree')
RETURNS text STABLE LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
    EXECUTE oracle.statement(false, edges, parent, child, tree) INTO answer USING ARRAY[entity], up, down;
    RETURN answer;
END $$;

CREATE FUNCTION oracle.all_same(edges regclass, up int = 3, down int = 3, parent name = 'parent', child name = 'child', tree name = 'tree')
RETURNS text STABLE LANGUAGE plpgsql AS $$
DECLARE
    names text[];
    answer text;
    wrong text;
BEGIN
    EXECUTE format('SELECT array_agg(DISTINCT name COLLATE "C" ORDER BY name COLLATE "C") FROM
        (SELECT r.%I::text FROM %s AS r UNION ALL SELECT r.%I::text FROM %2$s AS r) AS z(name)', parent, edges, child) INTO names;
    names := names || ARRAY['nobody', NULL, names[1]];
    answer := oracle.same(names, up, down, edges, parent, child, tree);
    SELECT string_agg(s, E'\n') INTO wrong
      FROM unnest(names) AS name, oracle.same(name, up, down, edges, parent, child, tree) AS s WHERE s NOT LIKE 'same, %';
    RETURN coalesce(wrong, format('%s entities: %s', cardinality(names) - 3, answer));
END $$;

CREATE FUNCTION oracle.build(edges regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.cft_build(edges);
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    NULL;
END $$;

-- A random forest and embeddings of its entities. Three trees (one has no name), cycles, edges to oneself, several parents, duplicates, NULLs; entities without,
-- with two, and with a directionless embedding; embeddings of nobody.
CREATE FUNCTION oracle.plant(edges regclass, meaning regclass, seed float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(seed);
    CREATE TEMP TABLE name AS SELECT n, (ARRAY['x ', 'Ä', 'Kapitel ', '']) [1 + n % 4] || n AS name FROM generate_series(1, 24) AS n;
    CREATE TEMP TABLE e (tree text, parent text, child text);
    CREATE TEMP TABLE m (entity text, embedding public.vector(3));
    INSERT INTO e SELECT (ARRAY[NULL, 'a', 'b'])[1 + floor(random() * 3)], p.name, c.name
      FROM generate_series(1, 34) AS i, LATERAL (SELECT i, 1 + floor(random() * 14) AS p, 1 + floor(random() * 24) AS c) AS r
      JOIN name AS p ON p.n = r.p JOIN name AS c ON c.n = greatest(r.c, CASE WHEN r.i % 9 > 0 THEN r.p + 1 ELSE 1 END);
    INSERT INTO e SELECT * FROM e LIMIT 3;
    INSERT INTO e VALUES ('a', NULL, 'x 4'), ('b', 'x 4', NULL), ('a', 'x 8', 'x 8');
    INSERT INTO m SELECT name, ARRAY[random() - 0.3, random() - 0.3, random() - 0.3]::public.vector FROM name WHERE random() < 0.75;
    INSERT INTO m SELECT name, ARRAY[random() - 0.3, random() - 0.3, random() - 0.3]::public.vector FROM name WHERE random() < 0.2;
    INSERT INTO m SELECT name, NULL FROM name WHERE random() < 0.2;
    INSERT INTO m SELECT name, '[0,0,0]' FROM name WHERE random() < 0.1;
    INSERT INTO m VALUES ('nobody', '[1,0,0]'), (NULL, '[1,0,0]');
    EXECUTE format('DELETE FROM %s', edges);
    EXECUTE format('DELETE FROM %s', meaning);
    EXECUTE format('INSERT INTO %s (tree, parent, child) TABLE e', edges);
    EXECUTE format('INSERT INTO %s (entity, embedding) TABLE m', meaning);
    DROP TABLE name, e, m;
END $$;

GRANT USAGE ON SCHEMA oracle TO PUBLIC;

-- The oracle of tests/isolation is the same text (tests/isolation/make-oracle writes it).
\set spec `cat "$PG_ABS_SRCDIR/../isolation/specs/oracle.spec"`
SELECT position(translate(:'reference', '{}', '<>') IN :'spec') > 0 AS isolation_has_the_same;

-- The oracle can fail: it is asked about a table that is not the one it compares with.
CREATE TABLE oracle_probe (tree text, parent text, child text, wrong text);
INSERT INTO oracle_probe VALUES ('t', 'a', 'b', 'x');
SELECT cft_attach('oracle_probe', tree => 'tree');
SELECT oracle.same('b', 1, 1, 'oracle_probe');
SELECT oracle.same('b', 1, 1, 'oracle_probe', parent => 'wrong');
SELECT oracle.all_same('oracle_probe');
DROP TABLE oracle_probe;
