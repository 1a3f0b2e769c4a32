-- An ERROR that a user's code raises within a call says all that it says in the same statement over the table: CONTEXT, the fields, the
-- inner query. Compared: what plpgsql is told of it, by a call and by the table.
\a\t
SET client_min_messages = warning;
CREATE ROLE ra_owner;
GRANT ALL ON SCHEMA public TO ra_owner;
SET ROLE ra_owner;
CREATE TABLE ra (parent text, child text);
INSERT INTO ra VALUES ('p', 'c');
CREATE TABLE ra_beside (parent text, child text);
INSERT INTO ra_beside VALUES ('p', 'c');
SELECT cft_attach('ra');
SELECT cft_attach('ra_beside');
CREATE TABLE ra_short (name text CONSTRAINT short CHECK (length(name) < 2));
-- Fails as it is told to.
CREATE FUNCTION fails(name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE how text := current_setting('ra.how'); n int;
BEGIN
    IF how = 'fields' THEN
        RAISE 'mine' USING DETAIL = 'its detail', HINT = 'its hint', ERRCODE = '23505', CONSTRAINT = 'a_constraint', TABLE = 'a_table', COLUMN = 'a_column', DATATYPE = 'a_type', SCHEMA = 'a_schema';
    ELSIF how = 'check' THEN INSERT INTO ra_short VALUES (name || ' is long');
    ELSIF how = 'inner query' THEN EXECUTE 'SELECT 1 FROM nothing_there';
    ELSIF how = 'nested' THEN
        PERFORM set_config('ra.how', 'fields', true);
        SELECT count(*) INTO n FROM cft_context('p', 1, 1, 'ra_beside');
    END IF;
    RETURN true;
END $$;
ALTER TABLE ra ENABLE ROW LEVEL SECURITY;
ALTER TABLE ra FORCE ROW LEVEL SECURITY;
CREATE POLICY ra ON ra USING (fails(parent));
ALTER TABLE ra_beside ENABLE ROW LEVEL SECURITY;
ALTER TABLE ra_beside FORCE ROW LEVEL SECURITY;
CREATE POLICY ra ON ra_beside USING (fails(parent));
-- What a statement's error says.
CREATE FUNCTION told(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE a text; b text; c text; d text; e text; f text; g text; h text; i text; j text;
BEGIN
    EXECUTE statement;
    RETURN 'nothing';
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS a = RETURNED_SQLSTATE, b = MESSAGE_TEXT, c = PG_EXCEPTION_DETAIL, d = PG_EXCEPTION_HINT, e = SCHEMA_NAME, f = TABLE_NAME,
        g = COLUMN_NAME, h = CONSTRAINT_NAME, i = PG_DATATYPE_NAME, j = PG_EXCEPTION_CONTEXT;
    -- The statement itself is another.
    RETURN concat_ws(E'\n', a, b, c, d, e, f, g, h, i, replace(j, statement, '...'));
END $$;
SET ra.how = 'fields';
SELECT told($$SELECT cft_context_text('p', 1, 1, 'ra')$$);
CREATE FUNCTION as_table(how text, call text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('ra.how', how, false);
    RETURN told(call) = told('SELECT * FROM ra') AND told(call) <> 'nothing';
END $$;
SELECT how, call, as_table(how, call) FROM unnest(ARRAY['fields', 'check', 'inner query']) AS how, unnest(ARRAY[
    $$SELECT * FROM cft_context('p', 1, 1, 'ra')$$, $$SELECT cft_context_text('p', 1, 1, 'ra')$$, $$SELECT * FROM cft_context(ARRAY['p'], 1, 1, 'ra')$$,
    $$SELECT * FROM cft_roots('ra')$$, $$SELECT * FROM cft_entities('p c', 'ra')$$, $$SELECT cft_depth('p', 'ra')$$, $$SELECT cft_path('p', 'c', 100, 'ra')$$, $$SELECT * FROM cft_filter_relations('ra', 'parent', 'child')$$]) AS call;
-- In an argument, too.
SELECT how, call, as_table(how, call) FROM unnest(ARRAY['fields', 'check', 'inner query']) AS how, unnest(ARRAY[
    $$SELECT * FROM cft_context(fails('p')::text, 1, 1, 'ra_beside')$$, $$SELECT * FROM (SELECT 'p' AS p OFFSET 0) AS s, cft_context(fails(p)::text, 1, 1, 'ra_beside')$$,
    $$SELECT * FROM cft_context((SELECT fails('p')::text), 1, 1, 'ra_beside')$$]) AS call;
-- Of a call within a call both say where they were.
SET ra.how = 'nested';
SELECT * FROM cft_context('p', 1, 1, 'ra');
SET ra.how = 'nested';
SELECT cft_context_text('p', 1, 1, 'ra');
-- Statements of cftrag's own are left out, with the position in them.
ALTER TABLE ra DISABLE ROW LEVEL SECURITY;
SET ra.how = 'inner query';
SELECT * FROM cft_context('p', 1, 1, 'ra_beside');
RESET ROLE;
REVOKE ALL ON ra FROM ra_owner;
CREATE ROLE ra_other;
SET ROLE ra_other;
SELECT * FROM cft_context('p', 1, 1, 'ra');
RESET ROLE;
-- What was caught on the way is not put to another error; a warning is no error.
SET ROLE ra_owner;
CREATE OR REPLACE FUNCTION fails(name text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'a warning' USING TABLE = 'wrong', HINT = 'a hint of the warning';
    BEGIN RAISE 'another' USING TABLE = 'wrong'; EXCEPTION WHEN raise_exception THEN NULL; END;
    BEGIN PERFORM cft_context('p', 1001, 0, 'ra_beside'); EXCEPTION WHEN invalid_parameter_value THEN NULL; END;
    EXECUTE 'SELECT 1 / 0';
END $$;
SELECT * FROM cft_context('p', 1, 1, 'ra_beside');
RESET ROLE;
DROP TABLE ra, ra_beside, ra_short;
DROP FUNCTION fails, told, as_table;
REVOKE ALL ON SCHEMA public FROM ra_owner;
DROP ROLE ra_owner, ra_other;
