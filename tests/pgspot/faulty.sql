-- Faults that pgspot must find, in each kind of body, so that a run which finds nothing means something.
CREATE OR REPLACE FUNCTION faulty(a text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN a = 'x'; END $$;
CREATE FUNCTION lent() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT pg_catalog.current_user() $$;
CREATE FUNCTION parsed(a int) RETURNS int BEGIN ATOMIC; SELECT a + 1; END;
CREATE VIEW seen AS SELECT relname FROM pg_class;
