-- cft_context_text, cft_context_parts, cft_context_json: what cft_context says, as text; the same bytes for the same data.
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
        OR cft_context_json(name, up, down, 'said') IS DISTINCT FROM plain_json(name, up, down) $$;
SELECT * FROM differences();
SELECT string_agg(text, E'\n') = cft_context_text(ARRAY(SELECT child FROM said ORDER BY child), 2, 2, 'said') AS same
  FROM plain_parts(ARRAY(SELECT child FROM said ORDER BY child), 2, 2);

-- Byte-stable: image, reference query, another order of rows, another build, 1,000 runs.
CREATE FUNCTION digest() RETURNS text LANGUAGE sql AS $$
    SELECT md5(string_agg(cft_context_text(name, 3, 2, 'said') || cft_context_json(name, 3, 2, 'said')::text || cft_context_text(name, 3, 2, 'said', '{{ entity }}{% for t in trees %}{{ t.ancestors|join("|") }}{% endfor %}'), '' ORDER BY name COLLATE "C"))
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

-- A template, by argument or by setting; the argument goes before.
SELECT cft_context_text('heart failure clinic', edges => 'said', template => '{{ entity|upper }}:{% for t in trees %} [{{ t.tree }}] {{ t.ancestors|join(" < ") }}{% for d in t.descendants %} > {{ d }} ({{ d.depth }} via {{ d.via }}){% endfor %}{% endfor %}');
SELECT cft_context_text(ARRAY['cardiology', 'nobody', 'level 2'], edges => 'said', template => '{{ entity }}: {{ ancestors|length }} above{% if not descendants %}, none below{% endif %}');
SELECT cft_context_text('nobody', edges => 'said', template => 'never') IS NULL AS "null";
SET cftrag.template = '{{ ancestors|first }} to {{ ancestors|last }}';
SELECT cft_context_text('cardiology', edges => 'said');
SELECT cft_context_text('cardiology', edges => 'said', template => '{# a comment #}{{ ancestors[0].entity|lower }}');
RESET cftrag.template;
SELECT cft_render('{% for d in documents %}{{ loop.index }}. {{ d.text }}{% if not loop.last %}, {% endif %}{% endfor %} {{ (n) }} {{ b }} {{ f }}', '{"documents": [{"text": "é"}, {"text": "b"}], "n": 1, "b": true, "f": 1.5}');
SELECT cft_render('[{{ n }}] [{{ a|join(",") }}] [{{ n|length }}]', '{"n": null, "a": [1, null, "x"]}');
SELECT cft_render('[{{ n }}] [{{ a|join(",") }}]', '{"n": null, "a": [1, null, "x"]}');
SELECT cft_render(NULL, '{}') IS NULL AS "null", cft_render('a', NULL) IS NULL AS "null";
-- Numbers are written in jsonb's digits, and compared as numbers.
SELECT n, cft_render('{{ n }}', jsonb_build_object('n', n)) = n::text AS bare, cft_render('{{ [n] }}', jsonb_build_object('n', n)) = '[' || n::text || ']' AS in_list,
       cft_render('{{ a|join(" ") }} {{ a }}', jsonb_build_object('a', jsonb_build_array(n, n))) = concat(n, ' ', n, ' [', n, ', ', n, ']') AS joined
  FROM (VALUES (jsonb '1.10'), ('1.0'), ('0'), ('0.00'), ('-0.10'), ('1.5'), ('12345678901234567890'), ('-9223372036854775809'), ('0.1000000000000000055511151231257827'),
               ('99999999999999999999999999999999999999999999'), ('1e-7'), ('1E30'), ('100000000000000000000.50')) AS s(n);
SELECT v, cft_render('{{ n }}|{{ a }}', jsonb_build_object('n', v::jsonb, 'a', jsonb_build_array(v::jsonb))) = concat(v::jsonb, '|[', v::jsonb, ']') AS same FROM (VALUES ('1e400'), ('-1e400'), ('1e-400')) AS s(v);
SELECT cft_render('{% for t in ["<", "=", ">"] %}{% endfor %}{{ p < 2 }} {{ p > 1 }} {{ p == 1.1 }} {{ 1.1 == p }} {{ p in [1.1, 2] }} {{ 1.1 in a }} {{ p not in a }} {{ a[0] == a[1] }} {{ a[:2] == [1.1, 1.1] }} {{ big > 5 }} {{ huge > big }} {{ 1 < p < 2 }}'
    || '{% if zero %}, true{% else %}, false{% endif %}{% if p %}, true{% endif %} {{ a[0] }} {{ a|last }} {{ (p, 1) == (1.1, 1) }}',
    '{"p": 1.10, "a": [1.1, 1.10, 1.100], "big": 12345678901234567890.10, "huge": 1e400, "zero": 0.00}');
-- Strings, objects and lists are as they were, however they are written.
SELECT cft_render('{% for k in a if k.n > 1 and k.n != 3 %}{{ k.s }}{{ k.o.x[0].y }}{{ k["s"][1:] }}{{ loop.index }}{% if not loop.last %};{% endif %}{% endfor %}|{% for c in s %}{{ c }}.{% endfor %}|{{ s[0] }}{{ s[1:][0:1] }}|{% for x, y in p %}{{ x }}{{ y }}{% endfor %}|{% for x in e or [1, 2] %}{{ x }}{% endfor %}|{{ "a" in s }}{{ "z" in o }}{{ not (1 in [2]) }}|{{ "x" if s == "abé" else "y" }}|{{ a[0].n if a[0].n >= 1 }}',
    '{"a": [{"n": 1, "s": "a"}, {"n": 2, "s": "b\u0001\"\\c", "o": {"x": [{"y": "é"}]}}, {"n": 3, "s": "c"}], "s": "abé", "p": [["x", 1.50], ["y", null]], "e": [], "o": {"z": [], "": {}}}');
SELECT cft_render('{{ o.k77 }} {{ o.k0 }} {{ o["k40"] }}', jsonb_build_object('o', (SELECT jsonb_object_agg('k' || i, i) FROM generate_series(0, 99) AS i)));
SELECT cft_render('{{ a }}', (repeat('[', 200) || repeat(']', 200))::jsonb);
SELECT bool_and(cft_render('{{ s }}', jsonb_build_object('s', s)) = s AND cft_render('{{ o[s] }}', jsonb_build_object('o', jsonb_build_object(s, s), 's', s)) = s) AS same, count(*)
  FROM (SELECT chr(i) || 'x' || chr(i) AS s FROM generate_series(1, 1000) AS i UNION ALL SELECT repeat('x', 65534 + i) || repeat(E'é\n"\\', 5) || repeat('é', 40000) FROM generate_series(0, 4) AS i) AS v;
SELECT cft_render('a', '1.10') = 'a' AS scalar, cft_render('', '[]') = '' AS list;
SELECT cft_render('', '{}') = '' AS empty;
-- Objects are equal if their parts are, and true if they have any.
SELECT cft_render('{{ o == p }} {{ o == q }} {{ [o] == [q] }} {{ o == r }} {{ o in [p, q] }} {% if o %}o{% endif %}{% if e %}e{% endif %}',
    '{"o": {"a": 1.0, "b": {"c": []}}, "p": {"a": 2, "b": {"c": []}}, "q": {"a": 1, "b": {"c": []}}, "r": {"a": 1, "b": {"c": [1]}}, "e": {}}');

-- What is no template is refused, by the setting as by the call: 22023 with the line.
SET cftrag.template = '{{ entity';
SET cftrag.prompt_template = E'\n{% set x = 1 %}';
SELECT current_setting('cftrag.template') = '' AND current_setting('cftrag.prompt_template') = '' AS unchanged;
DO $$ BEGIN PERFORM cft_render('{{ missing }}', '{}'); EXCEPTION WHEN invalid_parameter_value THEN RAISE INFO '% %', SQLSTATE, SQLERRM; END $$;
SELECT cft_context_text('cardiology', edges => 'said', template => '{{ nothing }}');
SELECT cft_context_text('cardiology', edges => 'said', template => '{{ entity|no_filter }}');
SELECT cft_render('{% macro m() %}{% endmacro %}', '{}');
SELECT cft_render('{% include "x" %}', '{}');
SELECT cft_render('{{ range(10) }}', '{}');
SELECT cft_render('{{ a.b() }}', '{"a": {"b": 1}}');
SELECT cft_render('{{ a[0]() }}', '{"a": [1]}');
SELECT cft_render('{{ a ~ a }}', '{"a": "x"}');
SELECT cft_render('{{ a * 1000000000 }}', '{"a": "x"}');
SELECT cft_render('{{ "x" * 1000000000 }}', '{}');
SELECT cft_render('{{ a|join(a) }}', '{"a": "xx"}');
SELECT cft_render('{% for a in x recursive %}{% endfor %}', '{}');
SELECT cft_render('a{{ "\u0000" }}', '{}');
-- Neither long templates nor long runs hurt.
SELECT cft_render(repeat('x', 100000), '{}');
SELECT cft_render(repeat('{{ a }}', 1000), '{"a": 1}');
SELECT cft_render('{{ a' || repeat('.b', 30000) || ' }}', '{"a": 1}');
SELECT cft_render('{{ a' || repeat('|upper', 9000) || ' }}', '{"a": 1}');
SELECT cft_render('{{ ' || repeat('(', 199) || 'a' || repeat(')', 199) || ' }}', '{"a": 1}');
SELECT cft_render(repeat('{% if a %}', 150) || repeat('{% endif %}', 50), '{"a": 1}');
SELECT cft_render('{% for a in x %}{% for b in x %}{% for c in x %}{% endfor %}{% endfor %}{% endfor %}', jsonb_build_object('x', (SELECT jsonb_agg(i) FROM generate_series(1, 1000) AS i)));
SELECT cft_render('{% for a in x %}{% for b in x %}{{ y }}{% endfor %}{% endfor %}', jsonb_build_object('y', repeat('y', 10000), 'x', (SELECT jsonb_agg(i) FROM generate_series(1, 1000) AS i)));
SELECT cft_render('{% for a in x %}{% if x|join(y) %}{% endif %}{% endfor %}', jsonb_build_object('y', repeat('y', 10000), 'x', (SELECT jsonb_agg(i) FROM generate_series(1, 1000) AS i)));
SELECT jsonb_agg(i) AS numbers FROM generate_series(1, 30000) AS i \gset
SET statement_timeout = '50ms';
SELECT cft_render('{% for a in x %}{% if x == y %}{% endif %}{% endfor %}', jsonb_build_object('x', :'numbers'::jsonb, 'y', :'numbers'::jsonb));
RESET statement_timeout;
-- However large the values are: what one instruction looks at is paid for, and a cancel is not late.
CREATE FUNCTION ends(template text, within interval) RETURNS TABLE (code text, soon boolean, why text) LANGUAGE plpgsql AS $$
DECLARE started timestamptz := clock_timestamp();
BEGIN
    code := '00000'; why := length(cft_render(template, (SELECT world FROM large)));
    soon := clock_timestamp() < started + within;
    RETURN NEXT;
EXCEPTION WHEN query_canceled OR invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
    code := SQLSTATE; soon := clock_timestamp() < started + within;
    RETURN NEXT;
END $$;
CREATE TABLE large AS SELECT jsonb_build_object('y', repeat('ä', 4000000), 'z', repeat('ä', 4000000), 's', repeat('é', 2000000),
    'x', (SELECT jsonb_agg(i) FROM generate_series(1, 3000) AS i), 'm', (SELECT jsonb_agg(repeat('é', 500000)) FROM generate_series(1, 10) AS i),
    'e', (SELECT jsonb_agg(''::text) FROM generate_series(1, 100000) AS i)) AS world;
SET statement_timeout = '60s';
SELECT format('SELECT %L AS inside, * FROM ends(%L, %L)', inside, '{% for a in x %}{% for b in x %}' || inside || '{% endfor %}{% endfor %}', '60s')
  FROM (VALUES ('{% if y == z %}{% endif %}'), ('{% if "a" in y %}{% endif %}'), ('{% if m == m[:] %}{% endif %}'), ('{% if y not in m %}{% endif %}'),
               ('{% if s[3:] %}{% endif %}'), ('{% if s[3] %}{% endif %}'), ('{% if y|length == 1 %}{% endif %}'), ('{% if e|join %}{% endif %}'),
               ('{% if s|upper %}{% endif %}'), ('{% if (y, [y]) == (z, [z]) %}{% endif %}')) AS v(inside) \gexec
SET statement_timeout = '100ms';
SELECT format('SELECT * FROM ends(%L, %L)', template, '20s')
  FROM (VALUES ('{% for a in e %}{% for b in e %}{% endfor %}{% endfor %}'), ('{% for a in e %}{% if e == e[:] %}{% endif %}{% endfor %}'),
               (repeat('{% for a in [1, 2, 3, 4, 5, 6, 7, 8, 9] %}', 8) || repeat('{% endfor %}', 8))) AS v(template) \gexec
RESET statement_timeout;
SELECT cft_render('{% for c in t %}{% endfor %}', jsonb_build_object('t', repeat('é', 1000000)));
SELECT cft_render('{{ t[:1] }}', jsonb_build_object('t', repeat('é', 5000000)));
SELECT cft_render('{{ t|lower }}', jsonb_build_object('t', repeat('ΑΣ ΣΑΣ x ', 200000))) = lower(repeat('ας σας x ', 200000)) AS same;
-- What a run holds is counted: the world, slices, what is made and what is looped over; nothing that minijinja would make at once is large.
SELECT jsonb_build_object('m', -1, 'l', (SELECT jsonb_agg(i) FROM generate_series(1, 10000) AS i), 't', repeat('x', 100000), 'e', (SELECT jsonb_agg('[]'::jsonb) FROM generate_series(1, 20000)),
    'o', jsonb_build_object('t', repeat('x', 2000000)), 'u', repeat('x', 9000000), 'v', repeat('x', 34000000)) AS world INTO TABLE large_again;
CREATE FUNCTION held(template text, names text[]) RETURNS TABLE (code text, why text) LANGUAGE plpgsql AS $$
BEGIN
    code := '00000'; why := length(cft_render(template, (SELECT jsonb_object_agg(key, value) FROM large_again, jsonb_each(world) WHERE key = ANY (names))));
    RETURN NEXT;
EXCEPTION WHEN configuration_limit_exceeded OR invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
    code := SQLSTATE; why := regexp_replace(why, '[0-9]+ kB or more', 'so much'); RETURN NEXT;
END $$;
SET cftrag.work_memory = '3MB';
SELECT format('SELECT %L AS inside, * FROM held(%L, %L)', left(template, 40), template, names)
  FROM (VALUES ('{{ l|length }}', '{l}'), (repeat('{% for x in l[:] %}', 3) || '{{ missing }}' || repeat('{% endfor %}', 3), '{l}'),
               (repeat('{% for x in l[:] %}', 9) || '{{ missing }}' || repeat('{% endfor %}', 9), '{l}'), ('{% for x in l[:] %}{% endfor %}{% for x in l[::m] %}{% endfor %}{% for x in l[:] %}{% endfor %}', '{l,m}'),
               ('{{ t }}{{ t }}', '{t}'), (repeat('{{ t }}', 20), '{t}'), ('{{ t|upper|lower|length }}', '{t}'), ('{% if t[1:] == t[::m] %}{% endif %}', '{t,m}'),
               ('{% if [' || repeat('t[1:], ', 30) || '1] == 1 %}{% endif %}', '{t}'), ('{{ e|length }}', '{e}')) AS v(template, names) \gexec
RESET cftrag.work_memory;
SELECT format('SELECT * FROM held(%L, %L)', template, names)
  FROM (VALUES ('{{ o in "x" }}', '{o}'), ('{{ [u] in "x" }}', '{u}'), ('{{ (u, 1) in "x" }}', '{u}'), ('{{ [u] }}', '{u}'), ('{{ (1, [u])|join }}', '{u}'), ('{{ [1] in "[1]" }}', '{m}'), ('{{ "x" in v }}', '{v}'), ('{{ v == v }}', '{v}'),
               ('{{ l|each }}', '{l}'), ('{{ l|sought }}', '{l}')) AS v(template, names) \gexec
DROP TABLE large_again;
DROP FUNCTION held;
DROP TABLE large;
DROP FUNCTION ends;

-- Errors and privileges are those of cft_context.
SELECT cft_context_text('a', -1, edges => 'said');
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
       public.cft_context_text('cardiology', edges => 'public.said', template => '{% if entity < "d" %}yes{% endif %}') AS template;
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
