-- After a write of its own a transaction is served by the image again: also by calls within a statement that reads the table, however it
-- does. Only a statement that has the table open for writing is answered by the reference query, and what nobody knows to be a reader.
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
-- Beside the rows of the table itself: by a sequential scan, a bitmap, an index, row numbers, a sample; joined with itself; in subplans.
SELECT count(*) FROM rd, LATERAL cft_context(rd.child, 1, 1, 'rd');
SELECT served();
SELECT sum(children(child)) FROM rd;
SELECT served();
SET LOCAL enable_seqscan = off;
SET LOCAL enable_indexscan = off;
SELECT sum(children(child)) FROM rd WHERE parent = 'p1';
SELECT served();
RESET enable_indexscan;
SET LOCAL enable_bitmapscan = off;
SELECT sum(children(child)) FROM rd WHERE parent = 'p1';
SELECT served();
RESET enable_bitmapscan;
RESET enable_seqscan;
SELECT sum(children(child)) FROM rd WHERE ctid IN ('(0,1)', '(0,2)');
SELECT sum(children(child)) FROM rd WHERE ctid < '(0,4)';
SELECT sum(children(child)) FROM rd TABLESAMPLE system (100) WHERE parent = 'p1';
SELECT served();
SELECT sum(children(b.child)) FROM rd AS a JOIN rd AS b ON b.parent = a.child WHERE a.parent = 'p1';
SELECT served();
WITH c AS MATERIALIZED (SELECT child, children(child) AS n FROM rd WHERE parent = 'p1')
SELECT c.child, c.n, (SELECT children(max(r.child)) FROM rd AS r WHERE r.parent = c.child) FROM c WHERE c.n < (SELECT 1 + max(children(child)) FROM rd) ORDER BY 1;
SELECT served();
-- In a loop over it, with a cursor open, in a cursor, while the rows go to another table.
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
CREATE TEMP TABLE copied AS SELECT child, children(child) FROM rd WHERE parent = 'p1';
INSERT INTO copied SELECT child, children(child) FROM rd WHERE parent = 'p2';
SELECT served();
COPY (SELECT child, children(child) FROM rd WHERE parent = 'p1' ORDER BY child) TO STDOUT;
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

-- After an ERROR that was caught, who had the table open is not known any more: cursors of before, until they are closed.
DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END $$;
SELECT children('new');
SELECT served();
CLOSE c;
SELECT children('new');
SELECT served();

-- What read the table when an ERROR ended it is not taken for a reader of now: a function in SQL, a cursor.
CREATE FUNCTION fails(name text) RETURNS bigint VOLATILE LANGUAGE sql AS $$ SELECT 1 / (count(*) - count(*)) FROM rd $$;
CREATE FUNCTION asks() RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '% children', children('p1'); RETURN true; END $$;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER a_when AFTER INSERT ON rd FOR EACH ROW WHEN (asks()) EXECUTE FUNCTION nothing();
DO $$
DECLARE
    n int := 0;
    c CURSOR FOR SELECT 1 / (length(child) - length(child)) FROM rd;
BEGIN
    BEGIN n := fails('x'); EXCEPTION WHEN division_by_zero THEN n := 1; END;
    OPEN c;
    BEGIN FETCH c INTO n; EXCEPTION WHEN division_by_zero THEN n := 2; END;
    INSERT INTO rd VALUES ('p1', 'n' || n);
END $$;
SELECT served();
ROLLBACK;
DROP TABLE rd;
DROP FUNCTION served, children;
