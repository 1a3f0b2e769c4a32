-- pg_stat_cftrag.serves and .reason: what the next call would meet, by the conditions of a call; and who sees it.
-- Needs shared memory: tests/pg_regress/schedule-image.
\a\t
SET client_min_messages = warning;
CREATE TABLE sv (parent text, child text);
INSERT INTO sv VALUES ('a', 'b');
SELECT cft_attach('sv');
CREATE VIEW sv_serves AS SELECT state, serves, reason FROM pg_stat_cftrag WHERE edges = 'sv'::regclass;
-- What is seen is what a call counts.
CREATE FUNCTION sv_counted() RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := (SELECT to_jsonb(s) FROM pg_stat_cftrag AS s WHERE edges = 'sv'::regclass);
    error text;
BEGIN
    BEGIN
        PERFORM cft_context('b', edges => 'sv');
    EXCEPTION WHEN OTHERS THEN error := sqlstate;
    END;
    RETURN (SELECT concat_ws(', ', s.serves, s.reason, error, (SELECT string_agg(key, ' ') FROM jsonb_each(to_jsonb(s)) AS c
                                                               WHERE key ~ '^ref_|^image_calls$' AND value <> before -> key))
              FROM pg_stat_cftrag AS s WHERE edges = 'sv'::regclass);
END $$;
TABLE sv_serves;
-- The view takes no lock for longer than it looks.
SELECT mode FROM pg_locks WHERE relation = 'sv'::regclass AND pid = pg_backend_pid();
SELECT cft_build('sv');
TABLE sv_serves;
SELECT sv_counted();
SET cftrag.enable = off;
SELECT sv_counted();
RESET cftrag.enable;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT sv_counted();
COMMIT;

-- The triggers: disabled, not ALWAYS, one of them dropped.
BEGIN; ALTER TABLE sv DISABLE TRIGGER cftrag_row;
SELECT sv_counted();
ROLLBACK;
BEGIN; ALTER TABLE sv ENABLE TRIGGER cftrag_truncate;
SELECT sv_counted();
ROLLBACK;
BEGIN; DROP TRIGGER cftrag_truncate ON sv;
SELECT sv_counted();
ROLLBACK;
SELECT sv_counted();
-- An inheritance child, without which it is a plain table again.
CREATE TABLE sv_child () INHERITS (sv);
SELECT sv_counted();
DROP TABLE sv_child;
SELECT sv_counted();
-- A column renamed: every call is an error, which nothing counts.
ALTER TABLE sv RENAME child TO kid;
TABLE sv_serves;
SELECT sv_counted();
ALTER TABLE sv RENAME kid TO child;
SELECT sv_counted();

-- An image for another language does not answer, until there is one for this.
SELECT cft_attach('sv', language => 'german');
TABLE sv_serves;
SELECT cft_build('sv');
TABLE sv_serves;
SELECT cft_attach('sv');
TABLE sv_serves;
SELECT cft_build('sv');
TABLE sv_serves;

-- Who watches sees the numbers of all tables, and no name of an entity.
CREATE ROLE regress_cft_monitor IN ROLE pg_monitor;
CREATE ROLE regress_cft_nobody;
ALTER TABLE sv ENABLE ROW LEVEL SECURITY;
CREATE SCHEMA sv_hidden;
ALTER TABLE sv SET SCHEMA sv_hidden;
SET ROLE regress_cft_nobody;
SELECT edges FROM pg_stat_cftrag;
SET ROLE regress_cft_monitor;
SELECT edges, entities, reference_calls > 0 AS calls FROM pg_stat_cftrag;
\set VERBOSITY sqlstate
SELECT * FROM cft_hot_entities(1, 'sv_hidden.sv');
RESET ROLE;
DROP SCHEMA sv_hidden CASCADE;
DROP FUNCTION sv_counted;
DROP ROLE regress_cft_monitor, regress_cft_nobody;
