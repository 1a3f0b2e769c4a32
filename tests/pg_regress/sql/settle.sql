-- What one transaction wrote takes no versions once everyone sees it, though nobody but readers comes.
\a\t
SET client_min_messages = warning;
CREATE SCHEMA settle;
SET search_path = settle, public;
CREATE TABLE edges (parent text, child text);
INSERT INTO edges VALUES ('root', 'leaf');
SELECT cft_attach('edges');
SELECT cft_build('edges');
INSERT INTO edges SELECT 'root', 'leaf ' || i FROM generate_series(1, 5000) i;
SELECT versions FROM pg_stat_cftrag WHERE edges = 'edges'::regclass;
-- A session that does not know how that transaction ended. Somebody else's snapshot may be in the way for a time.
\c -
SET client_min_messages = warning;
SET search_path = settle, public;
DO $$ BEGIN
    FOR i IN 1 .. 1000 LOOP
        PERFORM cft_context('leaf ' || n, edges => 'settle.edges') FROM generate_series(1, 64) n;
        EXIT WHEN (SELECT versions FROM pg_stat_cftrag WHERE edges = 'settle.edges'::regclass) = 0;
        COMMIT;
        PERFORM pg_sleep(CASE WHEN i > 10 THEN 0.01 ELSE 0 END);
    END LOOP;
END $$;
SELECT versions FROM pg_stat_cftrag WHERE edges = 'edges'::regclass;
SELECT count(*) FROM cft_context('root', edges => 'edges');
SELECT * FROM cft_verify('edges');
DROP SCHEMA settle CASCADE;
