-- After a write of its own a transaction is served by the image again, but not while a statement of the session has the table open: it may be
-- writing. Who only reads it then gets the same from the reference query.
\a\t
SET client_min_messages = warning;
CREATE TABLE rd (parent text, child text);
INSERT INTO rd SELECT 'p' || i / 3, 'p' || i FROM generate_series(1, 40) AS i;
CREATE INDEX rd_parent ON rd (parent);
SELECT cft_attach('rd');
SELECT cft_build('rd');
-- Who served since the last time.
CREATE FUNCTION served() RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := coalesce(nullif(current_setting('rd.seen', true), ''), '{}');
    now jsonb := (SELECT to_jsonb(s) FROM pg_stat_cftrag AS s WHERE edges = 'rd'::regclass);
BEGIN
    PERFORM set_config('rd.seen', now::text, false);
    RETURN coalesce((SELECT string_agg(key || ' ' || n, ', ' ORDER BY key)
        FROM (SELECT key, (now->>key)::bigint - coalesce((before->>key)::bigint, 0) AS n FROM jsonb_object_keys(now) AS key
               WHERE key ~ '^ref_|^image_calls$') AS z WHERE n <> 0), 'nobody');
END $$;
CREATE FUNCTION children(name text) RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT count(*) FROM cft_context(name, 0, 1, 'rd') $$;
SELECT served() IS NOT NULL AS forgotten;

BEGIN;
INSERT INTO rd VALUES ('p1', 'new'), ('new', 'newer');
SELECT children('p1'), children('new');
SELECT served();
-- Beside the rows of the table itself.
SELECT count(*) FROM rd, LATERAL cft_context(rd.child, 1, 1, 'rd');
SELECT served();
SELECT sum(children(child)) FROM rd WHERE parent = 'p1';
SELECT served();
-- In a loop over it, with a cursor open, and after it.
DO $$
DECLARE r record;
BEGIN
    FOR r IN SELECT child FROM rd WHERE parent IN ('p1', 'new') LOOP
        PERFORM children(r.child);
    END LOOP;
END $$;
SELECT served();
DECLARE c CURSOR FOR SELECT child, children(child) FROM rd WHERE parent = 'p1' ORDER BY child;
FETCH 1 FROM c;
SELECT children('p2');
FETCH ALL FROM c;
SELECT served();
CLOSE c;
SELECT children('p2');
SELECT served();
-- A statement that writes: by the reference query, and after it by the image.
INSERT INTO rd SELECT child, 'below ' || child FROM rd WHERE parent = 'new' AND children(child) = 0;
SELECT served();
UPDATE rd SET child = child || '!' WHERE parent = 'newer' AND children(child) = 0;
SELECT served();
WITH w AS (DELETE FROM rd WHERE parent = 'newer' RETURNING child) SELECT w.child, children('new') FROM w;
SELECT served();
SELECT children('new');
SELECT served();

ROLLBACK;
DROP TABLE rd;
DROP FUNCTION served, children;
