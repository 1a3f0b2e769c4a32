-- An image that makes no room for others: who may say so, what says it, and that it goes with the registration.
\a\t
SET client_min_messages = warning;
CREATE ROLE regress_cft_keeper;
GRANT CREATE ON SCHEMA public TO regress_cft_keeper;
CREATE FUNCTION marks() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger WHERE tgfoid = 'cftrag_internal.cft_keep'::regproc ORDER BY 1 $$;
SET ROLE regress_cft_keeper;
CREATE TABLE kept (parent text, child text);
INSERT INTO kept VALUES ('a', 'b');
-- Not by its owner alone; nothing is attached then.
SELECT cft_attach('kept', keep => true);
SELECT edges FROM pg_stat_cftrag;
RESET ROLE;
GRANT EXECUTE ON FUNCTION cftrag_internal.cft_keep() TO regress_cft_keeper;
SET ROLE regress_cft_keeper;
SELECT cft_attach('kept', keep => true);
SELECT cft_attach('kept', keep => true);
SELECT * FROM marks();
-- The trigger never fires.
INSERT INTO kept VALUES ('b', 'c');
SELECT relative FROM cft_context('c');
-- Without keep the mark goes, the registration stays; with other columns, too.
SELECT cft_attach('kept');
SELECT * FROM marks();
SELECT relative FROM cft_context('c');
SELECT cft_attach('kept', keep => true, language => 'german');
SELECT * FROM marks();
SELECT cft_detach('kept');
SELECT * FROM marks();
RESET ROLE;
DROP OWNED BY regress_cft_keeper;
DROP ROLE regress_cft_keeper;
