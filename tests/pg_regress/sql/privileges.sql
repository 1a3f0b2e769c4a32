-- No row comes out that the caller could not read from the table; without the right, the table's own error.
\a\t
SET client_min_messages = warning;
CREATE ROLE regress_cft_owner;
CREATE ROLE regress_cft_reader;
CREATE ROLE regress_cft_nobody;
CREATE SCHEMA priv AUTHORIZATION regress_cft_owner;
SET ROLE regress_cft_owner;
CREATE TABLE priv.edges (tree text, parent text, child text, secret text);
INSERT INTO priv.edges VALUES ('t', 'a', 'b', 's'), ('t', 'b', 'c', 's');
SELECT cft_attach('priv.edges', tree => 'tree');
SELECT oracle.build('priv.edges');
SELECT oracle.all_same('priv.edges');
RESET ROLE;

-- Nothing: no schema, then no table. The error is the one that reading the table gives.
SET ROLE regress_cft_reader;
\set VERBOSITY sqlstate
SELECT parent FROM priv.edges;
SELECT * FROM cft_context('b', edges => 'priv.edges');
SELECT * FROM cft_context(ARRAY['b'], edges => 'priv.edges');
RESET ROLE;
SELECT 'priv.edges'::regclass::oid AS oid \gset
SET ROLE regress_cft_reader;
SELECT * FROM cft_context('b', edges => :oid);
SELECT * FROM cft_hot_entities(10, :oid);
SELECT * FROM cft_verify(:oid);
SELECT cft_build(:oid);
SELECT cft_detach(:oid);
SELECT cft_attach(:oid);
SELECT count(*) FROM pg_stat_cftrag;
-- An attached table that the caller may not read does not count among those to choose from.
SELECT * FROM cft_context('b');
SELECT * FROM cft_stats_reset();
RESET ROLE;
GRANT USAGE ON SCHEMA priv TO regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT parent FROM priv.edges;
SELECT * FROM cft_context('b', edges => 'priv.edges');
RESET ROLE;

-- Some columns, but not all that an answer is made of.
GRANT SELECT (parent, child) ON priv.edges TO regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT * FROM cft_context('b', edges => 'priv.edges');
RESET ROLE;
\set VERBOSITY default
SET ROLE regress_cft_reader;
SELECT * FROM cft_context('b', edges => 'priv.edges');
RESET ROLE;
-- These columns, and no others.
GRANT SELECT (tree) ON priv.edges TO regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT * FROM cft_context('b');
SELECT oracle.all_same('priv.edges');
SELECT edges, state IS NOT NULL AS state FROM pg_stat_cftrag;
\set VERBOSITY sqlstate
SELECT secret FROM priv.edges;
SELECT cft_build('priv.edges');
SELECT cft_detach('priv.edges');
SELECT cft_attach('priv.edges');
RESET ROLE;

-- The table without the schema: nothing again.
GRANT SELECT ON priv.edges TO regress_cft_reader;
REVOKE USAGE ON SCHEMA priv FROM regress_cft_reader;
SET ROLE regress_cft_reader;
SELECT * FROM cft_context('b', edges => :oid);
RESET ROLE;
GRANT USAGE ON SCHEMA priv TO regress_cft_reader;

-- A right that is taken is taken at once, for prepared statements and cursors too.
SET ROLE regress_cft_reader;
PREPARE ask AS SELECT * FROM cft_context('b', edges => 'priv.edges');
EXECUTE ask;
RESET ROLE;
REVOKE SELECT ON priv.edges FROM regress_cft_reader;
SET ROLE regress_cft_reader;
EXECUTE ask;
RESET ROLE;

-- Who defines a function lends its rights, who calls does not.
GRANT CREATE ON SCHEMA priv TO regress_cft_reader;
SET ROLE regress_cft_owner;
CREATE FUNCTION priv.lent(name text) RETURNS SETOF text SECURITY DEFINER STABLE LANGUAGE sql SET search_path = public, pg_temp
    AS $$ SELECT relative FROM cft_context(name, edges => 'priv.edges') $$;
CREATE FUNCTION priv.not_lent(name text) RETURNS SETOF text STABLE LANGUAGE sql AS $$ SELECT relative FROM cft_context(name, edges => 'priv.edges') $$;
CREATE VIEW priv.view AS SELECT relative FROM cft_context('b', edges => 'priv.edges');
GRANT SELECT ON priv.view TO regress_cft_reader;
RESET ROLE;
SET ROLE regress_cft_reader;
SELECT * FROM priv.lent('b');
SELECT * FROM priv.not_lent('b');
-- (A function in a view is called by the view's caller.)
SELECT * FROM priv.view;
RESET ROLE;

-- Roles that may read everything; roles by membership.
GRANT pg_read_all_data TO regress_cft_nobody;
SET ROLE regress_cft_nobody;
SELECT oracle.all_same('priv.edges');
RESET ROLE;
REVOKE pg_read_all_data FROM regress_cft_nobody;
SET ROLE regress_cft_nobody;
SELECT * FROM cft_context('b', edges => :oid);
RESET ROLE;
GRANT regress_cft_owner TO regress_cft_nobody;
SET ROLE regress_cft_nobody;
SELECT oracle.all_same('priv.edges');
SELECT cft_attach('priv.edges', tree => 'tree');
RESET ROLE;

-- The functions' own rights: EXECUTE can be taken like any other.
REVOKE EXECUTE ON FUNCTION cft_context(text, int, int, regclass, text[]) FROM PUBLIC;
SET ROLE regress_cft_nobody;
SELECT * FROM cft_context('b', edges => 'priv.edges');
RESET ROLE;
GRANT EXECUTE ON FUNCTION cft_context(text, int, int, regclass, text[]) TO PUBLIC;

-- A search_path of the caller changes nothing: its operators and functions are not used.
CREATE SCHEMA evil;
CREATE FUNCTION evil.wrong(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.wrong);
CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.wrong);
CREATE FUNCTION evil.min(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION evil.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT ''evil''';
CREATE TABLE evil.pg_class (oid oid);
SET search_path = evil, pg_catalog, public;
SELECT * FROM public.cft_context('b', edges => 'priv.edges');
SET cftrag.enable = off;
SELECT * FROM public.cft_context('b', edges => 'priv.edges');
RESET search_path;
RESET cftrag.enable;
DROP SCHEMA evil CASCADE;

DROP OWNED BY regress_cft_owner, regress_cft_reader, regress_cft_nobody CASCADE;
DROP ROLE regress_cft_owner, regress_cft_reader, regress_cft_nobody;
