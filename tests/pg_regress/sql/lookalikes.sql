-- Functions of somebody who may create in the extension's schema, named as ours, whose arguments fit as well or better: none is called.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT current_database() AS here \gset
CREATE DATABASE regress_cft_lookalikes;
\c regress_cft_lookalikes
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE; SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_cft_mallory;
CREATE ROLE regress_cft_mallory;
GRANT CREATE, USAGE ON SCHEMA public TO regress_cft_mallory;
CREATE SCHEMA data;
CREATE TABLE data.edges (tree text, parent text, child text);
INSERT INTO data.edges VALUES ('t', 'root', 'left'), ('t', 'root', 'right'), ('t', 'left', 'leaf'), ('u', 'right', 'leaf');
CREATE TABLE data.docs (id int, body text, embedding vector(2), entity text);
INSERT INTO data.docs VALUES (1, 'About the leaf.', '[1,0]', 'leaf'), (2, 'About the left.', '[0,1]', 'left');
CREATE TABLE data.names (entity text, embedding vector(2));
INSERT INTO data.names VALUES ('leaf', '[1,0]'), ('root', '[0,1]');
CREATE TABLE data.akas (alias text, entity text);
INSERT INTO data.akas VALUES ('blade', 'leaf');
CREATE TABLE data.labels (entity text, label text);
CREATE TABLE data.phrases (tree text, up text, down text, up_several text, down_several text, more text);
INSERT INTO data.phrases VALUES (NULL, '{entity} is in {names}.', '{names}: {entity}.', NULL, '', 'and {count}');
CREATE TABLE data.words (word text, class text);
INSERT INTO data.words VALUES ('blade', 'l'), ('leaf', 'l');
CREATE TABLE data.acl (entity text, role text);
INSERT INTO data.acl VALUES ('left', 'a');
CREATE TABLE data.sums (entity text, summary text);
CREATE TABLE data.pairs (entity text, document_id int);
INSERT INTO data.pairs VALUES ('leaf', 1);
CREATE TYPE data.kind AS ENUM ('root', 'leaf');
CREATE TABLE data.kinds (parent data.kind, child data.kind);
INSERT INTO data.kinds VALUES ('root', 'leaf'), ('root', NULL);

-- What users call: each once at least, in all its ways. Each statement is one column, cast to text.
CREATE TABLE data.calls (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO data.calls (call) SELECT unnest(string_to_array(btrim($$
public.cft_attach('data.edges'::regclass, 'parent'::name, 'child'::name, 'tree'::name, NULL::name, NULL::name, false::boolean, 'english'::text, NULL::text[], false::boolean)
public.cft_attach_documents('data.docs'::regclass, 'id'::name, 'body'::name, 'embedding'::name, NULL::name, NULL::name, 'data.pairs'::regclass, 'entity'::name, 'document_id'::name, NULL::name, NULL::name, NULL::text[], NULL::name, NULL::text[], false::boolean, 'inflected'::text, 'data.edges'::regclass, NULL::name)
public.cft_attach_documents('data.docs'::regclass, 'id'::name, 'body'::name, 'embedding'::name, 'entity'::name, NULL::name, NULL::regclass, 'entity'::name, 'document_id'::name, NULL::name, NULL::name, NULL::text[], NULL::name, NULL::text[], false::boolean, 'inflected'::text, 'data.edges'::regclass, NULL::name)
public.cft_attach_embeddings('data.names'::regclass, 'entity'::name, 'embedding'::name, 'data.edges'::regclass)
public.cft_attach_aliases('data.akas'::regclass, 'alias'::name, 'entity'::name, 'data.edges'::regclass, NULL::text)
public.cft_attach_labels('data.labels'::regclass, 'entity'::name, 'label'::name, 'data.edges'::regclass, NULL::text, NULL::text[], NULL::name)
public.cft_attach_words('data.words'::regclass, 'word'::name, 'class'::name, 'data.edges'::regclass)
public.cft_attach_phrases('data.phrases'::regclass, 'tree'::name, 'up'::name, 'down'::name, 'data.edges'::regclass, 'up_several'::name, 'down_several'::name, 'more'::name)
public.cft_context('leaf'::text, 3::int, 1::int, 'data.edges'::regclass, NULL::text[])
public.cft_context('{leaf,root}'::text[], 3::int, 1::int, 'data.edges'::regclass, NULL::text[])
public.cft_context_text('leaf'::text, 3::int, 1::int, 'data.edges'::regclass, NULL::text[], NULL::text)
public.cft_context_text('{leaf}'::text[], 3::int, 1::int, 'data.edges'::regclass, NULL::text[], NULL::text)
public.cft_context_json('leaf'::text, 3::int, 1::int, 'data.edges'::regclass, NULL::text[])
public.cft_context_json('{leaf}'::text[], 3::int, 1::int, 'data.edges'::regclass, NULL::text[])
public.cft_tree('leaf'::text, 3::int, 1::int, 'data.edges'::regclass, NULL::text[], 'text'::text, 100::int)
public.cft_context_parts('{leaf}'::text[], 3::int, 1::int, 'data.edges'::regclass, NULL::text[])
public.cft_entities('The blade is left of the root.'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], false::boolean, NULL::text, false::boolean)
public.cft_entities('The blade is left of the root.'::text, 'data.edges'::regclass, NULL::text[], '{root}'::text[], false::boolean, NULL::text, false::boolean)
public.cft_linked('1'::text, 'data.docs'::regclass)
public.cft_documents('leaf'::text, 'data.docs'::regclass)
public.cft_retrieve('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'cft'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, NULL::jsonb, NULL::text, true::boolean, NULL::text)
public.cft_retrieve('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'cft'::text, 'data.edges'::regclass, NULL::text[], '{root}'::text[], 'data.docs'::regclass, NULL::jsonb, NULL::text, true::boolean, NULL::text)
public.cft_retrieve('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'text'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, NULL::jsonb, NULL::text, true::boolean, NULL::text)
public.cft_retrieve('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'naive'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, NULL::jsonb, NULL::text, true::boolean, NULL::text)
public.cft_retrieve('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'ann_tree'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, NULL::jsonb, NULL::text, true::boolean, NULL::text)
public.cft_retrieve('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 10::int, 'ann_graph'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, NULL::jsonb, NULL::text, true::boolean, NULL::text)
public.cft_prompt('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'cft'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, NULL::text, NULL::jsonb, NULL::text, true::boolean, NULL::text, NULL::text)
public.cft_prompt('Where is the leaf?'::text, '[1,0]'::public.vector, 1::int, 2::int, 3::int, 1::int, 60::int, 'cft'::text, 'data.edges'::regclass, NULL::text[], NULL::text[], 'data.docs'::regclass, '{question}'::text, NULL::jsonb, NULL::text, true::boolean, NULL::text, NULL::text)
public.cft_chunks('leaf'::text, '[1,0]'::public.vector, 3::int, 1::int, 'data.edges'::regclass, NULL::text[], 'data.docs'::regclass)
public.cft_chunks('{leaf}'::text[], NULL::public.vector, 3::int, 1::int, 'data.edges'::regclass, NULL::text[], 'data.docs'::regclass)
public.cft_nearest_documents('[1,0]'::public.vector, 1::int, 'data.edges'::regclass, NULL::text[], 'data.docs'::regclass, NULL::jsonb)
public.cft_nearest_documents('[1,0]'::public.vector, 1::int, 'data.edges'::regclass, '{left,right}'::text[], 'data.docs'::regclass, NULL::jsonb)
public.cft_nearest_entities('[1,0]'::public.vector, 1::int, 'data.edges'::regclass, NULL::text[], 'data.docs'::regclass, NULL::jsonb)
public.cft_nearest_entities('[1,0]'::public.vector, 1::int, 'data.edges'::regclass, '{left}'::text[], 'data.docs'::regclass, NULL::jsonb)
public.cft_resolve('Leaf'::text, '[1,0]'::public.vector, 3::int, 'data.edges'::regclass, NULL::text[], NULL::text[], NULL::regclass, NULL::text)
public.cft_resolve('Leaf'::text, '[1,0]'::public.vector, 3::int, 'data.edges'::regclass, NULL::text[], '{root}'::text[], NULL::regclass, NULL::text)
public.cft_resolve('nothing like it'::text, '[1,0]'::public.vector, 3::int, 'data.edges'::regclass, NULL::text[], NULL::text[], NULL::regclass, NULL::text)
public.cft_resolve('nothing like it'::text, '[1,0]'::public.vector, 3::int, 'data.edges'::regclass, NULL::text[], '{root}'::text[], NULL::regclass, NULL::text)
public.cft_tree_search('[1,0]'::public.vector, 5::int, NULL::int, 'prune'::text, NULL::text[], 0.1::float8, 0.05::float8, 0.7::float8, 5::int, 9::int, 'data.edges'::regclass, NULL::text[], 'data.docs'::regclass, NULL::jsonb)
public.cft_tree_search('[1,0]'::public.vector, 5::int, NULL::int, 'collapsed'::text, NULL::text[], 0.1::float8, 0.05::float8, 0.7::float8, 5::int, 9::int, 'data.edges'::regclass, NULL::text[], 'data.docs'::regclass, NULL::jsonb)
public.cft_coarse_fine('[1,0]'::public.vector, 2::int, 3::int, 3::int, 3::int, 90::int, 0.5::float8, 0.2::float8, 0.3::float8, 'data.edges'::regclass, 'data.docs'::regclass)
public.cft_path_prefix('leaf'::text, 'data.edges'::regclass, NULL::text[], ' > '::text)
public.cft_path_prefix('{leaf}'::text[], 'data.edges'::regclass, NULL::text[], ' > '::text)
public.cft_expand('{leaf}'::text[], 9::int, 3::int, 1::int, 1::int, 'data.edges'::regclass, 'data.docs'::regclass)
public.cft_bridge('{leaf,right}'::text[], 3::int, 'data.edges'::regclass)
public.cft_neighbors('leaf'::text, 2::int, 'both'::text, 'data.edges'::regclass)
public.cft_path('leaf'::text, 'right'::text, 9::int, 'data.edges'::regclass)
public.cft_explain_path('leaf'::text, 'right'::text, 9::int, 'data.edges'::regclass)
public.cft_lca('leaf'::text, 'right'::text, 'data.edges'::regclass)
public.cft_depth('leaf'::text, 'data.edges'::regclass)
public.cft_subtree_size('root'::text, 'data.edges'::regclass)
public.cft_roots('data.edges'::regclass, NULL::text[])
public.cft_under('leaf'::text, 'root'::text, 'data.edges'::regclass, NULL::text[])
public.cft_under('leaf'::text, '{left,right}'::text[], 'data.edges'::regclass, NULL::text[])
public.cft_under(1::integer, 2::integer, 'data.edges'::regclass, NULL::text[])
public.cft_under(1::integer, '{1}'::bigint[], 'data.edges'::regclass, NULL::text[])
public.cft_under(1::bigint, 2::bigint, 'data.edges'::regclass, NULL::text[])
public.cft_under(1::bigint, '{1}'::bigint[], 'data.edges'::regclass, NULL::text[])
public.cft_under('00000000-0000-4000-8000-000000000001'::uuid, '00000000-0000-4000-8000-000000000002'::uuid, 'data.edges'::regclass, NULL::text[])
public.cft_under('00000000-0000-4000-8000-000000000001'::uuid, '{00000000-0000-4000-8000-000000000001}'::uuid[], 'data.edges'::regclass, NULL::text[])
public.cft_descendants('right'::text, 'data.edges'::regclass, NULL::text[])
public.cft_descendants('{right}'::text[], 'data.edges'::regclass, NULL::text[])
public.cft_ancestors('leaf'::text, 'data.edges'::regclass, NULL::text[])
public.cft_ancestors('{leaf}'::text[], 'data.edges'::regclass, NULL::text[])
public.cft_attach_grants('data.acl'::regclass, 'entity'::name, 'role'::name, NULL::name, 'data.edges'::regclass)
public.cft_allowed('leaf'::text, 'data.acl'::regclass, 'nearest'::text, '{a}'::text[], NULL::text[])
public.cft_allowed(1::integer, 'data.acl'::regclass, 'union'::text, '{a}'::text[], NULL::text[])
public.cft_allowed(1::bigint, 'data.acl'::regclass, 'intersection'::text, '{a}'::text[], NULL::text[])
public.cft_allowed('00000000-0000-4000-8000-000000000001'::uuid, 'data.acl'::regclass, 'union'::text, '{a}'::text[], NULL::text[])
public.cft_check_edges('data.edges'::regclass)
public.cft_filter_relations('data.edges'::regclass, 'parent'::name, 'child'::name, 'tree'::name)
public.cft_filter_relations('data.kinds'::regclass, 'parent'::name, 'child'::name, NULL::name)
public.cft_extract_relations('A leaf is a part of a tree.'::text, false::boolean)
public.cft_build_hierarchy('data.edges'::regclass, 'parent'::name, 'child'::name, NULL::name, 3::int)
public.cft_attach_summaries('data.sums'::regclass, 'entity'::name, 'summary'::name, NULL::name, 'data.edges'::regclass, 'data.docs'::regclass, true::boolean)
public.cft_rollup_status('data.edges'::regclass)
public.cft_rollup_mark('{leaf}'::text[], 'data.edges'::regclass)
public.cft_rollup('public.cft_summarize_extractive(text,text[],text[])'::regprocedure, NULL::regprocedure, 100::int, 'data.edges'::regclass)
public.cft_rollup_mark('{leaf}'::text[], 'data.edges'::regclass)
public.cft_rollup_next(1::int, 'data.edges'::regclass)
public.cft_rollup_done('leaf'::text, 'new'::text, NULL::public.vector, 'data.edges'::regclass)
public.cft_verify('data.edges'::regclass)
public.cft_health(true)
public.cft_hot_entities(0::int, 'data.edges'::regclass)
public.cft_stats_reset()
public.cft_detach('data.sums'::regclass)
public.cft_detach('data.akas'::regclass)
public.cft_detach('data.names'::regclass)
public.cft_detach('data.docs'::regclass)
public.cft_detach('data.edges'::regclass)
$$, E'\n'), E'\n'));

-- Runs them all; what each answered. A function of another's raises "trap".
CREATE FUNCTION data.run_all() RETURNS TABLE(call text, answer text) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    c record;
BEGIN
    TRUNCATE data.sums;
    FOR c IN SELECT * FROM data.calls ORDER BY n LOOP
        call := c.call;
        BEGIN
            EXECUTE 'SELECT string_agg(f::text, E''\n'') FROM ' || c.call || ' AS f' INTO answer;
            IF c.call LIKE 'public.cft_build\_h%' THEN answer := 'a hierarchy'; END IF;
            IF c.call LIKE 'public.cft_health%' THEN answer := 'counters of calls'; END IF;
        EXCEPTION WHEN OTHERS THEN answer := SQLSTATE || ' ' || SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE data.before AS SELECT * FROM data.run_all();
-- None of these calls is wrong.
SELECT call, answer FROM data.before WHERE answer ~ '^[0-9A-Z]{5} ';
-- Every function for users is among them, but cft_build (alone in its transaction) and cft_relink (documents that are linked), and those for triggers, for summarizers and for what
-- cft_rollup_next gave.
SELECT DISTINCT p.proname FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
  JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag'
 WHERE p.pronamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM data.calls AS c WHERE c.call LIKE 'public.' || p.proname || '(%') ORDER BY 1;

-- For each of our functions: without its last arguments, with one more, and with each argument, and all, of types that a literal, a NULL or
-- a number may be taken for before the right one.
SET ROLE regress_cft_mallory;
CREATE FUNCTION public.trap() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trap'; END $$;
DO $$
DECLARE
    f record;
    made int := 0;
    variant text[];
BEGIN
    FOR f IN SELECT p.proname, ARRAY(SELECT t::regtype::text FROM unnest(p.proargtypes) WITH ORDINALITY AS u(t, n) ORDER BY n) AS types
               FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
               JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag' WHERE NOT p.proargtypes::oid[] && '{internal}'::regtype[]::oid[] LOOP
        FOR variant IN
            SELECT string_to_array(v, '|') FROM (
                SELECT array_to_string(f.types[1 : n], '|') AS v FROM generate_series(0, cardinality(f.types) - 1) AS n
                UNION SELECT array_to_string(f.types || more, '|') FROM unnest('{text,integer,boolean,anyelement}'::text[]) AS more
                UNION SELECT array_to_string(f.types[1 : n - 1] || other || f.types[n + 1 :], '|')
                        FROM generate_series(1, cardinality(f.types)) AS n, unnest('{text,integer,bigint,smallint,numeric,name,oid,regclass,text[],unknown,anyelement}'::text[]) AS other
                UNION SELECT array_to_string(array_fill(other, ARRAY[cardinality(f.types)]), '|') FROM unnest('{text,anyelement,anycompatible}'::text[]) AS other) AS z
        LOOP
            BEGIN
                EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS text LANGUAGE sql AS %L', f.proname, array_to_string(variant, ', '), 'SELECT public.trap()');
                made := made + 1;
            EXCEPTION WHEN duplicate_function OR invalid_function_definition THEN NULL;
            END;
        END LOOP;
    END LOOP;
    RAISE WARNING '% lookalikes', CASE WHEN made > 1500 THEN 'more than 1500' ELSE made::text END;
END $$;
CREATE FUNCTION public.trap(a public.vector, b text) RETURNS float8 LANGUAGE sql AS 'SELECT public.trap()::float8';
CREATE OPERATOR public.<=> (LEFTARG = public.vector, RIGHTARG = text, FUNCTION = public.trap);
-- Nobody can make any where the extension looks.
CREATE FUNCTION cftrag_internal.cft_columns(trigger_function text) RETURNS text LANGUAGE sql AS 'SELECT public.trap()';
RESET ROLE;

SELECT b.call, b.answer AS before, a.answer AS after FROM data.before AS b FULL JOIN data.run_all() AS a USING (call)
 WHERE a.answer IS DISTINCT FROM b.answer;
-- And by the reference query.
SET cftrag.enable = off;
SELECT b.call, b.answer AS before, a.answer AS after FROM data.before AS b FULL JOIN data.run_all() AS a USING (call)
 WHERE a.answer IS DISTINCT FROM b.answer AND b.call NOT LIKE '%hot_entities%' AND b.call NOT LIKE '%cft_verify%';
RESET cftrag.enable;
-- And where a caller has a schema with operators before pg_catalog.
CREATE SCHEMA front AUTHORIZATION regress_cft_mallory;
GRANT USAGE ON SCHEMA front TO PUBLIC;
SET ROLE regress_cft_mallory;
DO $$
DECLARE
    o record;
    made int := 0;
BEGIN
    FOR o IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result FROM pg_operator
              WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b' AND oprresult <> 0 AND oprname = ANY ('{=,<>,<,>,<=,>=,||,+,-,*,/,%,->,->>,@@,@>,<@,&&,?,~,!~}') LOOP
        BEGIN
            EXECUTE format('CREATE OR REPLACE FUNCTION front.trap(a %s, b %s) RETURNS %s LANGUAGE plpgsql AS $t$ BEGIN RAISE EXCEPTION ''trap''; END $t$', o.l, o.r, o.result);
            EXECUTE format('CREATE OPERATOR front.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = front.trap)', o.oprname, o.l, o.r);
            made := made + 1;
        EXCEPTION WHEN invalid_function_definition OR datatype_mismatch OR duplicate_function OR undefined_function OR insufficient_privilege THEN NULL;
        END;
    END LOOP;
    RAISE WARNING '% operators', CASE WHEN made > 300 THEN 'more than 300' ELSE made::text END;
END $$;
RESET ROLE;
ALTER FUNCTION data.run_all() SET search_path = front, pg_catalog;
SELECT b.call, b.answer AS before, a.answer AS after FROM data.before AS b FULL JOIN data.run_all() AS a USING (call)
 WHERE a.answer IS DISTINCT FROM b.answer AND b.call NOT LIKE '%hot_entities%';
SET cftrag.enable = off;
SELECT b.call, b.answer AS before, a.answer AS after FROM data.before AS b FULL JOIN data.run_all() AS a USING (call)
 WHERE a.answer IS DISTINCT FROM b.answer AND b.call NOT LIKE '%hot_entities%' AND b.call NOT LIKE '%cft_verify%';
RESET cftrag.enable;
-- The operators are traps.
SET search_path = front, pg_catalog;
SELECT 'a' = 'b'::text;
RESET search_path;
-- No text of the extension names anything of a schema where others can create.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
  JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag'
 WHERE p.prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c') AND (p.prosrc ~ '\mpublic\.' OR p.prosrc ~ '(FROM|JOIN|PERFORM|:=|,|AND|CASE|WHEN)\s+cft_\w+\(');
\c :here
DROP DATABASE regress_cft_lookalikes;
DROP ROLE regress_cft_mallory;
