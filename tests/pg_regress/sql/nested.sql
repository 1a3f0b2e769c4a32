-- Reference queries within a reference query: a policy asks for other tables, and for its own. Plans are kept for 64 statements; one that
-- runs further up is not freed. (A server with assertions overwrites what is freed.)
\a\t
SET client_min_messages = warning;
CREATE ROLE nested_reader;
CREATE FUNCTION many(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..90 LOOP EXECUTE replace(what, '$', i::text); END LOOP; END $$;
CREATE TEMP VIEW kept AS SELECT count(*) <= 64 AS few, count(*) > 0 AS some FROM pg_backend_memory_contexts WHERE name = 'CachedPlanSource' AND ident LIKE 'WITH RECURSIVE%';
SELECT many('CREATE TABLE ne$ (parent text, child text)');
SELECT many($$INSERT INTO ne$ VALUES ('p', 'c'), ('c', 'd')$$);
SELECT many($$SELECT cft_attach('ne$')$$);
SELECT many('ALTER TABLE ne$ ENABLE ROW LEVEL SECURITY; GRANT SELECT ON ne$ TO nested_reader');
-- A row's policy asks the tables from ne.first to ne.last, each of whose policies asks nothing: once, unless it is the deepest.
CREATE FUNCTION visible(parent text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE first int := current_setting('ne.first'); last int := current_setting('ne.last'); n int; sum int := 0;
BEGIN
    IF current_setting('ne.fails') = parent THEN RAISE 'refused'; END IF;
    IF first > last THEN RETURN true; END IF;
    PERFORM set_config('ne.last', '0', true);
    FOR i IN first..last LOOP
        EXECUTE format('SELECT count(*) FROM cft_context(''p'', 1, 2, ''ne%s'')', i) INTO n;
        sum := sum + n;
    END LOOP;
    PERFORM set_config('ne.last', last::text, true);
    RETURN sum = 2 * (last - first + 1);
END $$;
-- Each table's policy asks the next one.
CREATE FUNCTION next_visible(i int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE n int := 2;
BEGIN
    IF i < current_setting('ne.depth')::int THEN
        EXECUTE format('SELECT count(*) FROM cft_context(''p'', 1, 2, ''ne%s'')', i % 90 + 1) INTO n;
    END IF;
    RETURN n = 2;
END $$;
SELECT many('CREATE POLICY wide ON ne$ USING (visible(parent))');
SET ne.first = 1;
SET ne.last = 0;
SET ne.fails = 'nobody';
SET ROLE nested_reader;
SELECT * FROM cft_context('p', 1, 2, 'ne1');
SET ne.last = 90;
SELECT * FROM cft_context('p', 1, 2, 'ne1');
SELECT * FROM cft_context('p', 1, 2, 'ne50');
SET ne.last = 0;
-- As many as are kept; what an ERROR ended is in use no more.
RESET ROLE;
SELECT * FROM kept;
SET ROLE nested_reader;
SET ne.fails = 'c';
DO $$ BEGIN
    FOR i IN 1..90 LOOP
        BEGIN
            EXECUTE format('SELECT cft_context(''p'', 1, 2, ''ne%s'')', i);
            RAISE WARNING 'not refused';
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
    END LOOP;
END $$;
SET ne.fails = 'nobody';
RESET ROLE;
SELECT * FROM kept;
-- Deeper than plans are kept, and back; its own table again.
SELECT many('DROP POLICY wide ON ne$; CREATE POLICY deep ON ne$ USING (next_visible($))');
SET ROLE nested_reader;
SET ne.depth = 3;
SELECT * FROM cft_context('p', 1, 2, 'ne1');
RESET ROLE;
SET max_stack_depth = '7MB';
SELECT many('DROP POLICY deep ON ne$');
SELECT many('CREATE POLICY deep ON ne$ USING (parent <> ''p'' OR next_visible($))');
SET ROLE nested_reader;
SET ne.depth = 80;
SELECT * FROM cft_context('p', 1, 2, 'ne1');
RESET ROLE;
SELECT * FROM kept;
SET ROLE nested_reader;
SET ne.depth = 0;
SELECT * FROM cft_context('p', 1, 2, 'ne85');
RESET ROLE;
SELECT * FROM kept;
SELECT many('DROP TABLE ne$');
DROP VIEW kept;
DROP FUNCTION many, visible, next_visible;
DROP ROLE nested_reader;
