-- Whose rights count, seen through views, definers, policies and statistics; and objects that somebody put in front of ours and
-- PostgreSQL's: they change no answer and are not called. (privileges and row_security have the plain cases.)
\a\t
SET client_min_messages = warning;
CREATE ROLE regress_cft_owner;
CREATE ROLE regress_cft_member IN ROLE regress_cft_owner;
CREATE ROLE regress_cft_stranger NOINHERIT IN ROLE regress_cft_owner;
CREATE ROLE regress_cft_asks;
CREATE SCHEMA rights AUTHORIZATION regress_cft_owner;
GRANT USAGE ON SCHEMA rights TO PUBLIC;

-- An ordinary role does everything with its own table. It cannot install the extension.
SET ROLE regress_cft_owner;
CREATE TABLE rights.edges (tree text, parent text, child text, secret text);
INSERT INTO rights.edges VALUES ('open', 'a', 'b', 's'), ('open', 'b', 'c', 's'), ('closed', 'boss', 'b', 's');
SELECT cft_attach('rights.edges', tree => 'tree');
SELECT oracle.build('rights.edges');
SELECT oracle.all_same('rights.edges');
SELECT * FROM cft_verify('rights.edges');
SELECT count(*) FROM cft_hot_entities(0, 'rights.edges');
SELECT edges FROM pg_stat_cftrag;
SELECT cft_detach('rights.edges');
SELECT cft_attach('rights.edges', tree => 'tree');
\set VERBOSITY sqlstate
SELECT cft_stats_reset();
SET cftrag.memory_limit = '1GB';
SET cftrag.build_in_place_limit = '1TB';
DROP EXTENSION cftrag;
RESET ROLE;
SELECT current_database() || '_rights' AS other, current_database() AS here \gset
CREATE DATABASE :"other" TEMPLATE template0 OWNER regress_cft_owner;
\c :"other"
SET client_min_messages = warning;
SET ROLE regress_cft_owner;
SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE; SET client_min_messages = warning;
RESET ROLE;
CREATE EXTENSION vector;
SET ROLE regress_cft_owner;
SET client_min_messages = error; CREATE EXTENSION cftrag; SET client_min_messages = warning;
\c :"here"
DROP DATABASE :"other";
SET client_min_messages = warning;
\set VERBOSITY default

-- A function in a view runs with the rights of the role that queries the view, with and without security_invoker.
CREATE VIEW rights.plain AS SELECT relative FROM cft_context('b', edges => 'rights.edges') ORDER BY relative COLLATE "C";
CREATE VIEW rights.invoker WITH (security_invoker) AS SELECT relative FROM cft_context('b', edges => 'rights.edges') ORDER BY relative COLLATE "C";
CREATE VIEW rights.barrier WITH (security_barrier) AS SELECT relative FROM cft_context('b', edges => 'rights.edges') ORDER BY relative COLLATE "C";
CREATE VIEW rights.statistics AS SELECT edges::oid <> 0 AS told, image_calls >= 0 AS counts FROM pg_stat_cftrag;
CREATE VIEW rights.hot AS SELECT entity FROM cft_hot_entities(5, 'rights.edges');
GRANT SELECT ON rights.plain, rights.invoker, rights.barrier, rights.statistics, rights.hot TO regress_cft_asks;
SELECT * FROM rights.plain;
SET ROLE regress_cft_asks;
SELECT * FROM rights.plain;
SELECT * FROM rights.invoker;
SELECT * FROM rights.barrier;
SELECT * FROM rights.statistics;
SELECT * FROM rights.hot;
RESET ROLE;
GRANT SELECT (tree, parent, child) ON rights.edges TO regress_cft_asks;
SET ROLE regress_cft_asks;
SELECT * FROM rights.plain;
SELECT * FROM rights.invoker;
SELECT * FROM rights.barrier;
SELECT * FROM rights.statistics;
RESET ROLE;
-- Who defines a function lends what the image tells, too.
CREATE FUNCTION rights.lent() RETURNS TABLE(edges boolean, entities boolean, sound boolean) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_stat_cftrag), (SELECT count(*) >= 0 FROM cft_hot_entities(5, 'rights.edges')),
           NOT EXISTS (SELECT FROM cft_verify('rights.edges')) $$;
ALTER FUNCTION rights.lent() OWNER TO regress_cft_owner;
REVOKE SELECT (tree, parent, child) ON rights.edges FROM regress_cft_asks;
SET ROLE regress_cft_asks;
SELECT * FROM rights.lent();
SELECT count(*) FROM pg_stat_cftrag;
SELECT count(*) FROM pg_stat_progress_cftrag;
RESET ROLE;

-- Policies: none for the owner and who inherits from it; all for a member that does not. A policy for writing shows no row.
GRANT SELECT ON rights.edges TO regress_cft_asks, regress_cft_stranger;
ALTER TABLE rights.edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY inserts ON rights.edges FOR INSERT TO regress_cft_asks WITH CHECK (true);
SET ROLE regress_cft_member;
SELECT relative FROM cft_context('b', edges => 'rights.edges') ORDER BY relative COLLATE "C";
RESET ROLE;
SET ROLE regress_cft_stranger;
SELECT * FROM cft_context('b', edges => 'rights.edges');
RESET ROLE;
SET ROLE regress_cft_asks;
SELECT * FROM cft_context('b', edges => 'rights.edges');
RESET ROLE;
CREATE POLICY reads ON rights.edges FOR SELECT TO regress_cft_asks USING (true);
CREATE POLICY never_closed ON rights.edges AS RESTRICTIVE FOR SELECT TO regress_cft_asks USING (tree <> 'closed');
SET ROLE regress_cft_asks;
SELECT relative FROM cft_context('b', edges => 'rights.edges') ORDER BY relative COLLATE "C";
SELECT oracle.all_same('rights.edges');
SELECT * FROM rights.plain;
-- Not even how much there is, nor what was asked for.
SELECT * FROM rights.statistics;
SELECT * FROM cft_hot_entities(5, 'rights.edges');
RESET ROLE;
SET ROLE regress_cft_owner;
SET row_security = off;
SELECT relative FROM cft_context('b', edges => 'rights.edges') ORDER BY relative COLLATE "C";
ALTER TABLE rights.edges FORCE ROW LEVEL SECURITY;
\set VERBOSITY sqlstate
SELECT relative FROM cft_context('b', edges => 'rights.edges');
\set VERBOSITY default
RESET row_security;
SELECT * FROM cft_context('b', edges => 'rights.edges');
ALTER TABLE rights.edges NO FORCE ROW LEVEL SECURITY;
ALTER TABLE rights.edges DISABLE ROW LEVEL SECURITY;
RESET ROLE;

-- A schema in front of pg_catalog with everything we and the reference query use: none of it may be called or read. What is called
-- raises P0001, what is read has no rows.
CREATE SCHEMA front;
CREATE FUNCTION front.trap() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'a function in front was called'; END $$;
DO $$
DECLARE op text; t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['text', 'integer', 'name', 'oid', 'bigint'] LOOP
        EXECUTE format('CREATE FUNCTION front.trap(pg_catalog.%1$s, pg_catalog.%1$s) RETURNS boolean LANGUAGE sql AS ''SELECT front.trap()''',
            CASE t WHEN 'integer' THEN 'int4' WHEN 'bigint' THEN 'int8' ELSE t END);
        FOREACH op IN ARRAY ARRAY['=', '<>', '<', '>=', '~', '~~', '+'] LOOP
            EXECUTE format('CREATE OPERATOR front.%s (LEFTARG = pg_catalog.%2$s, RIGHTARG = pg_catalog.%2$s, FUNCTION = front.trap)', op,
                CASE t WHEN 'integer' THEN 'int4' WHEN 'bigint' THEN 'int8' ELSE t END);
        END LOOP;
    END LOOP;
    FOREACH t IN ARRAY ARRAY['pg_class', 'pg_trigger', 'pg_depend', 'pg_attribute', 'pg_proc', 'pg_namespace', 'pg_stat_cftrag', 'edges'] LOOP
        EXECUTE format('CREATE TABLE front.%I (oid oid)', t);
    END LOOP;
END $$;
CREATE DOMAIN front.text AS pg_catalog.int4;
CREATE DOMAIN front.int4 AS pg_catalog.text;
CREATE TYPE front.regclass AS (a pg_catalog.int4);
CREATE COLLATION front."C" (LOCALE = 'POSIX');
CREATE FUNCTION front.unnest(pg_catalog.text[]) RETURNS SETOF pg_catalog.text LANGUAGE sql AS $$ SELECT front.trap()::pg_catalog.text $$;
CREATE AGGREGATE front.min(pg_catalog.int8) (SFUNC = pg_catalog.int8smaller, STYPE = pg_catalog.int8, INITCOND = '7');
CREATE FUNCTION front.cft_capture() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE FUNCTION front.cft_capture_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE FUNCTION front.cft_stat() RETURNS SETOF pg_catalog.text LANGUAGE sql AS $$ SELECT front.trap()::pg_catalog.text $$;
SET search_path = front, pg_catalog, public;
SELECT cft_detach('rights.edges');
SELECT cft_attach('rights.edges', tree => 'tree');
SELECT (public.cft_context('b', edges => 'rights.edges')).relative IS NOT NULL AS asked;
SELECT * FROM public.cft_verify('rights.edges');
SELECT count(*) FROM public.cft_hot_entities(0, 'rights.edges');
INSERT INTO rights.edges VALUES ('open', 'front', 'b', 's');
SELECT relative, via FROM public.cft_context('b', 1, 0, 'rights.edges');
SET cftrag.enable = off;
SELECT relative, via FROM public.cft_context('b', 1, 0, 'rights.edges');
SELECT relative, via FROM public.cft_context(ARRAY['b', 'front'], 1, 0, 'rights.edges');
RESET cftrag.enable;
SELECT count(*) FROM public.pg_stat_cftrag;
RESET search_path;
SELECT tgname, tgfoid::regprocedure FROM pg_trigger WHERE tgrelid = 'rights.edges'::regclass ORDER BY 1;
SELECT oracle.all_same('rights.edges');
-- The temporary schema comes first of all for tables and types.
CREATE TEMP TABLE pg_trigger (oid oid);
CREATE TEMP TABLE edges (tree text, parent text, child text);
CREATE DOMAIN pg_temp.regclass AS text;
SELECT relative FROM cft_context('b', 1, 0, 'rights.edges');
DROP TABLE pg_trigger, edges;
DROP DOMAIN pg_temp.regclass;
DROP SCHEMA front CASCADE;

-- Casts of a column's type to text: the names are what the type's own output says, from the image and from the reference query.
CREATE TABLE rights.numbers (parent bigint, child bigint);
INSERT INTO rights.numbers VALUES (1, 2), (2, 3);
SELECT cft_attach('rights.numbers');
SELECT * FROM cft_context('2', 1, 1, 'rights.numbers');
CREATE FUNCTION rights.hostile(bigint) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT 'hostile' $$;
CREATE CAST (bigint AS text) WITH FUNCTION rights.hostile(bigint) AS IMPLICIT;
SELECT * FROM cft_context('2', 1, 1, 'rights.numbers');
SET cftrag.enable = off;
SELECT * FROM cft_context(ARRAY['2', 'hostile'], 1, 1, 'rights.numbers');
\c -
SET client_min_messages = warning;
SET cftrag.enable = off;
SELECT * FROM cft_context(ARRAY['2', 'hostile'], 1, 1, 'rights.numbers');
RESET cftrag.enable;
DROP CAST (bigint AS text);
DROP TABLE rights.numbers;

DROP OWNED BY regress_cft_owner, regress_cft_asks, regress_cft_member, regress_cft_stranger CASCADE;
DROP ROLE regress_cft_member, regress_cft_stranger, regress_cft_owner, regress_cft_asks;
