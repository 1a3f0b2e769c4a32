-- cft_context_text, cft_context_parts, cft_context_json: what cft_context says, as text; the same bytes for the same data.
\a\t
SET client_min_messages = warning;
CREATE TABLE said (tree text, parent text, child text);
INSERT INTO said VALUES
    ('organisation', 'North Hospital', 'internal medicine'), ('organisation', 'internal medicine', 'cardiology'),
    ('organisation', 'cardiology', 'heart failure clinic'), ('building', 'east wing', 'level 2'),
    ('building', 'level 2', 'heart failure clinic'), ('care path', 'heart failure', 'heart failure clinic'),
    ('care path', 'heart failure clinic', 'cardiac rehabilitation'), ('care path', 'heart failure clinic', 'diet, salt'),
    (NULL, 'x', 'heart failure clinic'), (NULL, 'level 2', 'level 2'), ('', 'a "b" \c', E'line\nbreak'), ('', 'Ünïcode', E'line\nbreak');
SELECT cft_attach('said', tree => 'tree');
SELECT oracle.build('said');
SELECT cft_context_text('heart failure clinic');
SELECT cft_context_text('cardiology', 1, 0);
SELECT cft_context_text('cardiology', up => 0, edges => 'said');
SELECT cft_context_text(E'line\nbreak');
SELECT cft_context_text(ARRAY['cardiology', 'nobody', NULL, 'level 2', 'cardiology'], 1, 1);
SELECT * FROM cft_context_parts(ARRAY['heart failure clinic', 'cardiology'], 2, 1);
SELECT cft_context_json('heart failure clinic', 2, 1);
SELECT cft_context_json(E'line\nbreak');
SELECT cft_context_json(ARRAY['level 2', 'nobody', 'cardiology'], 1, 0);
-- Nothing to say is NULL; many entities without relatives are an empty array.
SELECT num_nulls(cft_context_text('nobody'), cft_context_text(NULL::text), cft_context_text('cardiology', NULL), cft_context_text('cardiology', 0, 0),
                 cft_context_text(NULL::text[]), cft_context_text('{}'::text[]), cft_context_json('nobody'), cft_context_json(NULL::text), cft_context_json(NULL::text[])) AS nulls,
       cft_context_json('{nobody}'::text[]), cft_context_json('{}'::text[]);
SELECT count(*) FROM cft_context_parts('{nobody}');

-- The plain definition: sentences, parts and JSON from the rows of cft_context.
CREATE FUNCTION plain_parts(entities text[], up int, down int) RETURNS TABLE (entity text, tree text, relation text, text text) LANGUAGE sql AS $$
    SELECT c.entity, c.tree, c.relation,
           CASE WHEN NOT several THEN 'The ' WHEN c.tree IS NULL THEN 'In the tree without a name, the ' ELSE 'In the tree ' || c.tree || ', the ' END
           || CASE c.relation WHEN 'ancestor' THEN 'upward' ELSE 'downward' END || ' hierarchical relationship'
           || CASE WHEN count(*) > 1 THEN 's of ' ELSE ' of ' END || c.entity || CASE WHEN count(*) > 1 THEN ' are: ' ELSE ' is: ' END
           || string_agg(c.relative, CASE WHEN strpos(all_names, ',') > 0 THEN '; ' ELSE ', ' END ORDER BY c.n) || '.'
      FROM (SELECT *, string_agg(relative, ' ') OVER (PARTITION BY entity, tree, relation) AS all_names,
                   min(coalesce('t' || tree, '')) OVER (PARTITION BY entity) <> max(coalesce('t' || tree, '')) OVER (PARTITION BY entity) AS several
              FROM (SELECT row_number() OVER () AS n, * FROM cft_context(entities, up, down, 'said')) AS rows) AS c
     GROUP BY c.entity, c.tree, c.relation, c.several, c.all_names ORDER BY min(c.n) $$;
CREATE FUNCTION plain_json(name text, up int, down int) RETURNS jsonb LANGUAGE sql AS $$
    WITH c AS (SELECT row_number() OVER () AS n, * FROM cft_context(name, up, down, 'said')),
         t AS (SELECT min(n) AS n, jsonb_build_object('tree', tree,
                      'ancestors', coalesce(jsonb_agg(jsonb_build_object('entity', relative, 'depth', depth, 'via', via) ORDER BY n) FILTER (WHERE relation = 'ancestor'), '[]'),
                      'descendants', coalesce(jsonb_agg(jsonb_build_object('entity', relative, 'depth', depth, 'via', via) ORDER BY n) FILTER (WHERE relation = 'descendant'), '[]')) AS tree
                 FROM c GROUP BY c.tree)
    SELECT jsonb_build_object('entity', name, 'trees', jsonb_agg(tree ORDER BY n)) FROM t HAVING count(*) > 0 $$;
CREATE FUNCTION differences() RETURNS TABLE (name text, up int, down int) LANGUAGE sql AS $$
    SELECT name, up, down FROM (SELECT parent FROM said UNION SELECT child FROM said UNION VALUES ('nobody')) AS s(name),
           generate_series(0, 3) AS up, generate_series(0, 2) AS down
     WHERE cft_context_text(name, up, down, 'said') IS DISTINCT FROM (SELECT string_agg(text, E'\n') FROM plain_parts(ARRAY[name], up, down))
        OR (SELECT array_agg(p::text) FROM cft_context_parts(ARRAY[name], up, down, 'said') AS p)
           IS DISTINCT FROM (SELECT array_agg(p::text) FROM plain_parts(ARRAY[name], up, down) AS p)
        OR cft_context_json(name, up, down, 'said')::jsonb IS DISTINCT FROM plain_json(name, up, down) $$;
SELECT * FROM differences();
SELECT string_agg(text, E'\n') = cft_context_text(ARRAY(SELECT child FROM said ORDER BY child), 2, 2, 'said') AS same
  FROM plain_parts(ARRAY(SELECT child FROM said ORDER BY child), 2, 2);

-- Every character that JSON writes otherwise.
BEGIN;
INSERT INTO said SELECT '', 'control', 'a' || chr(n) || 'z' FROM generate_series(1, 160) AS n;
INSERT INTO said VALUES ('', 'control', U&'\+01F600 \2028 \FEFF');
SELECT * FROM differences();
ROLLBACK;

-- Byte-stable: image, reference query, another order of rows, another build, 1,000 runs.
CREATE FUNCTION digest() RETURNS text LANGUAGE sql AS $$
    SELECT md5(string_agg(cft_context_text(name, 3, 2, 'said') || cft_context_json(name, 3, 2, 'said')::text || cft_context_text(name, 3, 2, 'said', template => '{entity} {tree} {relation} {count} {relatives}'), '' ORDER BY name COLLATE "C"))
      FROM (SELECT parent FROM said UNION SELECT child FROM said) AS s(name) $$;
INSERT INTO said SELECT 't' || i % 3, 'p' || i % 17, 'c' || i % 23 FROM generate_series(1, 400) AS i;
SELECT digest() AS digest \gset
SELECT count(*) AS runs, count(DISTINCT digest()) AS results, bool_and(digest() = :'digest') AS same FROM generate_series(1, 10);
SELECT count(DISTINCT cft_context_text('p' || i % 17, 3, 2, 'said')) FROM generate_series(1, 1000) AS i;
SET cftrag.enable = off;
SELECT digest() = :'digest' AS by_reference;
RESET cftrag.enable;
CREATE TABLE said_again AS SELECT * FROM said;
TRUNCATE said;
INSERT INTO said SELECT * FROM said_again ORDER BY md5(child || parent || coalesce(tree, ''));
SELECT oracle.build('said');
SELECT digest() = :'digest' AS another_order;
DELETE FROM said;
INSERT INTO said SELECT * FROM said_again ORDER BY parent DESC, child;
SELECT digest() = :'digest' AS changed_one_by_one;
\c -
SET client_min_messages = warning;
SELECT digest() = :'digest' AS another_session;
SELECT * FROM differences();

-- A format, by argument or by setting; the argument goes before. A sentence for each entity, tree and relation.
SELECT cft_context_text('heart failure clinic', edges => 'said', template => '{entity} [{tree}] {relation}s ({count}): {relatives}');
SELECT cft_context_text(ARRAY['cardiology', 'nobody', 'level 2'], edges => 'said', template => '{{{entity}}}: {count} {{{{');
SELECT cft_context_text('nobody', edges => 'said', template => 'never') IS NULL AS "null", cft_context_text('cardiology', edges => 'said', template => '') AS empty;
SET cftrag.template = '{count} of {entity}';
SELECT cft_context_text('cardiology', edges => 'said');
SELECT cft_context_text('cardiology', edges => 'said', template => 'é {relation}');
RESET cftrag.template;
-- The same relatives as the built-in words have, with semicolons where these have them.
SELECT count(*) AS sentences, bool_and(right(rtrim(p.text, '.'), length(f.relatives)) = f.relatives) AS same
  FROM (SELECT DISTINCT child AS entity FROM said) AS s,
       LATERAL (SELECT text, row_number() OVER () AS n FROM cft_context_parts(ARRAY[s.entity], edges => 'said')) AS p,
       LATERAL (SELECT u.relatives, u.n FROM regexp_split_to_table(cft_context_text(s.entity, edges => 'said', template => '{relatives}'), E'\n') WITH ORDINALITY AS u(relatives, n)) AS f
 WHERE f.n = p.n;
-- What is no format is refused, by the setting as by the call: 22023, with the placeholders that there are.
SET cftrag.template = '{entity';
SET cftrag.prompt_template = '{entity}';
SELECT current_setting('cftrag.template') = '' AND current_setting('cftrag.prompt_template') = '' AS unchanged;
DO $$ BEGIN PERFORM cft_context_text('cardiology', edges => 'said', template => '{question}'); EXCEPTION WHEN invalid_parameter_value THEN RAISE INFO '% %', SQLSTATE, SQLERRM; END $$;
\set VERBOSITY default
SELECT cft_context_text('cardiology', edges => 'said', template => '{nothing}');
SELECT cft_context_text('cardiology', edges => 'said', template => '{ entity }');
SELECT cft_context_text('cardiology', edges => 'said', template => '{}');
SELECT cft_context_text('cardiology', edges => 'said', template => 'a } b');
SELECT cft_context_text('cardiology', edges => 'said', template => '{entity}}');
SELECT cft_context_text('cardiology', edges => 'said', template => '{{ entity }}');
SELECT cft_context_text('cardiology', edges => 'said', template => repeat('x', 100000));
\set VERBOSITY terse
SELECT length(cft_context_text('cardiology', edges => 'said', template => repeat('{relatives}', 5000))) > 50000 AS long;
SET cftrag.work_memory = '64kB';
SELECT cft_context_text('cardiology', edges => 'said', template => repeat('{relatives}', 5000));
RESET cftrag.work_memory;

-- Errors and privileges are those of cft_context.
SELECT cft_context_text('a', -1, edges => 'said');
-- Lists of many lengths, in several trees.
CREATE TABLE wide_said (tree text, parent text, child text);
INSERT INTO wide_said SELECT nullif('t' || n % 3, 't0'), 'hub ' || k, repeat('é', n % 5) || n FROM generate_series(1, 40) AS k, generate_series(1, 2 * k) AS n;
SELECT cft_attach('wide_said', tree => 'tree');
SELECT json_array_length(j), j -> 33 ->> 'entity' AS of_33, json_array_length(j -> 33 -> 'trees' -> 2 -> 'descendants') AS long, j -> 33 -> 'trees' -> 2 -> 'descendants' -> -1 AS last
  FROM cft_context_json(ARRAY(SELECT unnest(ARRAY['nobody ' || k, 'hub ' || k]) FROM generate_series(1, 40) AS k), 1, 1, 'wide_said') AS j;
SELECT jsonb_path_query_array(cft_context_json('hub 40', edges => 'wide_said')::jsonb, '$.trees[*].descendants[*] ? (@.depth == 1 && @.entity == "é31").via');
DROP TABLE wide_said;
SELECT cft_context_json('a', 1, 1001, edges => 'said');
SELECT cft_context_text('a', edges => 'said_again');
CREATE ROLE regress_cft_text;
SET ROLE regress_cft_text;
SELECT cft_context_text('cardiology', edges => 'said');
SELECT cft_context_json('cardiology', edges => 'said');
SELECT * FROM cft_context_parts('{cardiology}', edges => 'said');
SELECT cft_context_text('cardiology');
RESET ROLE;
GRANT SELECT ON said TO regress_cft_text;
ALTER TABLE said ENABLE ROW LEVEL SECURITY;
CREATE POLICY building ON said TO regress_cft_text USING (tree = 'building');
SET ROLE regress_cft_text;
SELECT cft_context_text('heart failure clinic');
RESET ROLE;
-- A search_path of the caller's is not searched.
CREATE SCHEMA trap;
CREATE FUNCTION trap.boom() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION trap.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.less(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT trap.boom()';
CREATE OPERATOR trap.= (FUNCTION = trap.same, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR trap.< (FUNCTION = trap.less, LEFTARG = int, RIGHTARG = int);
CREATE TABLE trap.said (tree text, parent text, child text);
SET search_path = trap, pg_catalog, public;
SET cftrag.enable = off;
SELECT public.cft_context_text('cardiology', edges => 'public.said') IS NOT NULL AS text, public.cft_context_json('cardiology', edges => 'public.said') IS NOT NULL AS json,
       (SELECT count(*) FROM public.cft_context_parts('{cardiology}', edges => 'public.said')) AS parts,
       public.cft_context_text('cardiology', edges => 'public.said', template => '{entity}') IS NOT NULL AS template;
RESET cftrag.enable;
RESET search_path;
DROP SCHEMA trap CASCADE;
-- Its own changes, and no later ones, are in it.
BEGIN;
INSERT INTO said VALUES ('organisation', 'new', 'North Hospital');
SELECT cft_context_text('North Hospital', down => 0, edges => 'said');
ROLLBACK;
SELECT cft_context_text('North Hospital', down => 0, edges => 'said') IS NULL AS gone;
DROP TABLE said, said_again;
DROP FUNCTION plain_parts, plain_json, differences, digest;
DROP ROLE regress_cft_text;
