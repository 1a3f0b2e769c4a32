-- CREATE EXTENSION in a schema where somebody else could create things before: nothing of hers is taken for what the script means.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT current_database() AS here \gset
CREATE DATABASE regress_cft_install;
\c regress_cft_install
SET client_min_messages = warning;
\set SHOW_CONTEXT never
DROP ROLE IF EXISTS regress_cft_mallory;
CREATE ROLE regress_cft_mallory;
CREATE SCHEMA ext;
GRANT USAGE ON SCHEMA ext TO PUBLIC;
CREATE EXTENSION vector SCHEMA ext;
GRANT CREATE, USAGE ON SCHEMA public TO regress_cft_mallory;
-- A type by the name of pgvector's: a domain whose check would run at each call, a row type, an enum.
SET ROLE regress_cft_mallory;
CREATE FUNCTION public.trap(anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trap'; END $$;
CREATE DOMAIN public.vector AS ext.vector CHECK (public.trap(VALUE));
RESET ROLE;
SET client_min_messages = error; CREATE EXTENSION cftrag SCHEMA public; SET client_min_messages = warning;
-- Whoever owns the extension vector can make it a member.
ALTER EXTENSION vector ADD DOMAIN public.vector;
SET client_min_messages = error; CREATE EXTENSION cftrag SCHEMA public; SET client_min_messages = warning;
ALTER EXTENSION vector DROP DOMAIN public.vector;
DROP DOMAIN public.vector;
CREATE TYPE public.vector AS (x int);
SET client_min_messages = error; CREATE EXTENSION cftrag SCHEMA public; SET client_min_messages = warning;
DROP TYPE public.vector;
-- Operators that fit better than those of pg_catalog, for each pair of types that the script compares or joins.
SET ROLE regress_cft_mallory;
DO $$
DECLARE
    types text[] := '{oid,regclass,regprocedure,regtype,text,name,integer,bigint,smallint,"\"char\"",boolean,float8,jsonb,text[],name[],oidvector,int2vector,bytea}';
    l text;
    r text;
    o text;
    made int := 0;
BEGIN
    FOREACH l IN ARRAY types LOOP FOREACH r IN ARRAY types LOOP
        EXECUTE format('CREATE FUNCTION public.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', l, r, 'BEGIN RAISE EXCEPTION ''trap''; END');
        FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,||,->>,->,?,~,+,-,*,/}'::text[] LOOP
            EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.trap)', o, l, r);
            made := made + 1;
        END LOOP;
    END LOOP; END LOOP;
    RAISE WARNING '% operators', made;
END $$;
RESET ROLE;
SET client_min_messages = error; CREATE EXTENSION cftrag SCHEMA public; SET client_min_messages = warning;
-- None of what the extension made depends on a thing of public that is not its own.
SELECT pg_describe_object(m.classid, m.objid, 0) AS ours, pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid) AS hers
  FROM pg_catalog.pg_depend AS m JOIN pg_extension AS x ON x.oid OPERATOR(pg_catalog.=) m.refobjid AND x.extname OPERATOR(pg_catalog.=) 'cftrag'
  JOIN pg_catalog.pg_depend AS d ON (d.classid OPERATOR(pg_catalog.=) m.classid AND d.objid OPERATOR(pg_catalog.=) m.objid)
                                 OR d.objid IN (SELECT w.oid FROM pg_rewrite AS w WHERE w.ev_class OPERATOR(pg_catalog.=) m.objid)
 WHERE m.deptype OPERATOR(pg_catalog.=) 'e'
   AND d.refclassid IN ('pg_operator'::regclass::oid, 'pg_proc'::regclass::oid, 'pg_type'::regclass::oid)
   AND (SELECT CASE d.refclassid WHEN 'pg_operator'::regclass::oid THEN (SELECT o.oprowner FROM pg_operator AS o WHERE o.oid OPERATOR(pg_catalog.=) d.refobjid)
                                 WHEN 'pg_proc'::regclass::oid THEN (SELECT p.proowner FROM pg_proc AS p WHERE p.oid OPERATOR(pg_catalog.=) d.refobjid)
                                 ELSE (SELECT t.typowner FROM pg_type AS t WHERE t.oid OPERATOR(pg_catalog.=) d.refobjid) END)
       OPERATOR(pg_catalog.=) 'regress_cft_mallory'::regrole::oid;
-- And it works, for a caller whose path has them.
CREATE TABLE edges (parent text, child text);
INSERT INTO edges VALUES ('root', 'left'), ('left', 'leaf');
SELECT cft_attach('edges');
SELECT * FROM cft_context('leaf');
SELECT entity, start FROM cft_entities('The leaf is left.');
SET cftrag.enable = off;
SELECT * FROM cft_context('leaf');
SELECT entity, start FROM cft_entities('The leaf is left.');
RESET cftrag.enable;
SELECT edges, state IN ('ready', 'no shared memory') AS known FROM pg_stat_cftrag;
CREATE TABLE docs (id int, body text, entity text, embedding ext.vector(2));
INSERT INTO docs VALUES (1, 'About the leaf.', 'leaf', '[1,0]');
SELECT cft_attach_documents('docs', entity => 'entity');
SELECT document_id FROM cft_nearest_documents('[1,0]');
SELECT source, entity FROM cft_retrieve('Where is the leaf?', '[1,0]');
\c :here
DROP DATABASE regress_cft_install;
DROP ROLE regress_cft_mallory;
