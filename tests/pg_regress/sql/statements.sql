-- Asked in the middle of a statement that changes the table: RETURNING, triggers, data-modifying CTEs, cascades, ON CONFLICT, MERGE, COPY.
-- The heap already shows rows that cftrag's trigger has not seen.
\a\t
SET client_min_messages = warning;
CREATE TABLE st (tree text, parent text, child text, note int, UNIQUE NULLS NOT DISTINCT (tree, parent, child));
INSERT INTO st VALUES ('t', 'a', 'b', 0), ('t', 'b', 'c', 0), ('t', 'c', 'd', 0);
SELECT cft_attach('st', tree => 'tree');
SELECT oracle.build('st');
SELECT oracle.all_same('st');

-- A function of the statement sees the rows of the statement if it is volatile, and not if it is stable; so does the oracle.
CREATE FUNCTION same_volatile(entity text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$ BEGIN RETURN oracle.same(entity, 3, 3, 'st'); END $$;
CREATE FUNCTION same_stable(entity text) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN oracle.same(entity, 3, 3, 'st'); END $$;
CREATE FUNCTION same_immutable(entity text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN oracle.same(entity, 3, 3, 'st'); END $$;

INSERT INTO st VALUES ('t', 'd', 'e', 1), ('t', 'd', 'f', 1) RETURNING child, same_volatile(child), same_stable(child);
UPDATE st SET parent = 'c' WHERE child = 'f' RETURNING child, same_volatile(child), same_stable(child), same_immutable('f');
DELETE FROM st WHERE child = 'f' RETURNING child, same_volatile(child), same_stable(child);
INSERT INTO st SELECT 't', 'e', 'g' || i, (SELECT count(*) FROM cft_context('e', 0, 1)) FROM generate_series(1, 3) AS i RETURNING child, note, same_volatile('e');
SELECT oracle.all_same('st');

-- Data-modifying CTEs.
WITH w AS (INSERT INTO st VALUES ('t', 'g1', 'h') RETURNING child) SELECT w.child, same_volatile('h'), same_stable('g1') FROM w;
WITH w AS (DELETE FROM st WHERE child = 'h' RETURNING child) SELECT same_volatile('h'), same_stable('g1'), (SELECT count(*) FROM w);
WITH gone AS (DELETE FROM st WHERE child LIKE 'g%' RETURNING *), back AS (INSERT INTO st SELECT tree, child, parent FROM gone RETURNING child, same_volatile('e'))
SELECT * FROM back UNION ALL SELECT 'outer', same_stable('e');
SELECT oracle.all_same('st');
SELECT * FROM cft_verify('st');

-- Triggers: before and after, row and statement, whose names sort before and after cftrag_row.
CREATE FUNCTION st_watch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found text := coalesce(same_volatile('a') || ', ' || same_volatile('d') || ', ' || same_volatile('new'), 'nothing');
BEGIN
    IF found LIKE '%image%' THEN RAISE EXCEPTION '% % %: %', TG_NAME, TG_WHEN, TG_OP, found; END IF;
    RAISE WARNING '% % %: %', TG_NAME, TG_WHEN, TG_OP, found;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_before BEFORE INSERT OR UPDATE OR DELETE ON st FOR EACH ROW EXECUTE FUNCTION st_watch();
CREATE TRIGGER a_after AFTER INSERT OR UPDATE OR DELETE ON st FOR EACH ROW EXECUTE FUNCTION st_watch();
CREATE TRIGGER z_after AFTER INSERT OR UPDATE OR DELETE ON st FOR EACH ROW EXECUTE FUNCTION st_watch();
CREATE TRIGGER z_statement AFTER INSERT OR UPDATE OR DELETE ON st FOR EACH STATEMENT EXECUTE FUNCTION st_watch();
INSERT INTO st VALUES ('t', 'd', 'new'), ('t', 'e', 'new');
UPDATE st SET note = 7 WHERE child = 'new' AND parent = 'd';
DELETE FROM st WHERE child = 'new';
TRUNCATE st;
DROP TRIGGER a_before ON st;
DROP TRIGGER a_after ON st;
DROP TRIGGER z_after ON st;
DROP TRIGGER z_statement ON st;
SELECT oracle.all_same('st');

-- A trigger that changes the row again before cftrag's trigger has seen it: the delete comes before its insert.
CREATE FUNCTION st_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() > 1 THEN RETURN NULL; END IF;
    IF NEW.note = -1 THEN DELETE FROM st WHERE child = NEW.child; END IF;
    IF NEW.note = -2 THEN UPDATE st SET parent = 'touched', note = 2 WHERE child = NEW.child; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER a_touch AFTER INSERT OR UPDATE ON st FOR EACH ROW EXECUTE FUNCTION st_touch();
INSERT INTO st VALUES ('t', 'a', 'b', 0), ('t', 'b', 'c', 0), ('u', 'b', 'c', 0);
BEGIN;
INSERT INTO st VALUES ('t', 'x', 'gone', -1);
SELECT * FROM cft_context('gone');
INSERT INTO st VALUES ('t', 'x', 'moved', -2);
SELECT * FROM cft_context('moved');
UPDATE st SET note = -2 WHERE child = 'b';
SELECT oracle.all_same('st');
UPDATE st SET note = -1 WHERE child = 'c' AND tree = 't';
SELECT oracle.all_same('st');
COMMIT;
SELECT oracle.all_same('st');
INSERT INTO st VALUES ('t', 'x', 'gone', -1), ('t', 'x', 'moved2', -2);
UPDATE st SET note = -2 WHERE child = 'moved';
SELECT oracle.all_same('st');
SELECT * FROM cft_verify('st');
DROP TRIGGER a_touch ON st;
TRUNCATE st;

-- ON CONFLICT.
INSERT INTO st VALUES ('t', 'a', 'b', 0), ('t', 'b', 'c', 0), ('t', 'c', 'd', 0);
INSERT INTO st VALUES ('t', 'a', 'b', 1), ('t', 'a', 'b2', 1) ON CONFLICT DO NOTHING;
SELECT oracle.all_same('st');
INSERT INTO st VALUES ('t', 'a', 'b', 1), ('t', 'a', 'b3', 1) ON CONFLICT (tree, parent, child) DO UPDATE SET child = 'b4', note = excluded.note
    RETURNING child, same_volatile(child);
SELECT * FROM cft_context('a', 0, 1);
INSERT INTO st VALUES ('t', 'a', 'b4', 2) ON CONFLICT (tree, parent, child) DO UPDATE SET note = 2 WHERE st.note = 5;
SELECT oracle.all_same('st');

-- MERGE.
MERGE INTO st USING (VALUES ('t', 'a', 'b4', 1), ('t', 'b', 'c', 2), ('t', 'a', 'm', 3), ('t', 'c', 'd', 4)) AS s(tree, parent, child, n)
   ON st.tree = s.tree AND st.parent = s.parent AND st.child = s.child
 WHEN MATCHED AND n = 1 THEN DELETE
 WHEN MATCHED AND n = 2 THEN UPDATE SET parent = 'a', note = (SELECT count(*) FROM cft_context('a', 0, 5))
 WHEN MATCHED THEN DO NOTHING
 WHEN NOT MATCHED THEN INSERT VALUES (s.tree, s.parent, s.child, s.n);
SELECT * FROM cft_context('a', 0, 5);
SELECT oracle.all_same('st');

-- COPY in, text and with NULLs; COPY out of a question.
COPY st FROM STDIN;
t	a	copied	0
t	copied	copied2	0
\N	a	copied	0
t	\N	copied	0
\.
SELECT * FROM cft_context('copied', 1, 1);
COPY (SELECT * FROM cft_context('copied', 1, 1)) TO STDOUT;
SELECT oracle.all_same('st');
SELECT * FROM cft_verify('st');

-- Cascades: foreign keys' triggers change the table within a statement on another.
CREATE TABLE entity (name text PRIMARY KEY);
INSERT INTO entity SELECT parent FROM st WHERE parent IS NOT NULL UNION SELECT child FROM st;
ALTER TABLE st ADD FOREIGN KEY (parent) REFERENCES entity ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE st ADD FOREIGN KEY (child) REFERENCES entity ON DELETE SET NULL ON UPDATE CASCADE;
UPDATE entity SET name = 'renamed' WHERE name = 'copied' RETURNING same_volatile('copied'), same_volatile('renamed');
SELECT * FROM cft_context('renamed', 1, 1);
SELECT oracle.all_same('st');
WITH w AS (DELETE FROM entity WHERE name = 'a' RETURNING name) SELECT name, same_volatile('a'), same_stable('c') FROM w;
SELECT * FROM cft_context('a');
SELECT oracle.all_same('st');
SELECT * FROM cft_verify('st');

-- plpgsql of every volatility: a volatile one sees the statement before it, a stable one only what its caller's snapshot shows.
CREATE FUNCTION write_and_ask(name text) RETURNS TABLE(stage text, stable text, immutable boolean, rows bigint) VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT 'before', same_stable(name), same_immutable(name) LIKE 'same, %', (SELECT count(*) FROM cft_context(name));
    INSERT INTO entity VALUES (name), ('kid of ' || name);
    INSERT INTO st VALUES ('t', name, 'kid of ' || name);
    RETURN QUERY SELECT 'inserted', same_stable(name), same_immutable(name) LIKE 'same, %', (SELECT count(*) FROM cft_context(name));
    DELETE FROM st WHERE parent = name;
    RETURN QUERY SELECT 'deleted', same_stable(name), same_immutable(name) LIKE 'same, %', (SELECT count(*) FROM cft_context(name));
END $$;
SELECT * FROM write_and_ask('w1');
SELECT w.*, same_stable('w2') AS outer_stable FROM write_and_ask('w2') AS w;
-- A loop over an answer that changes the table it answers from.
DO $$
DECLARE r record; n int := 0;
BEGIN
    FOR r IN SELECT * FROM cft_context('c', 5, 5) LOOP
        n := n + 1;
        UPDATE st SET note = note + 1 WHERE child = r.relative;
        DELETE FROM st WHERE child = 'c';
    END LOOP;
    IF oracle.all_same('st') NOT LIKE '%same%' THEN RAISE EXCEPTION '%', oracle.all_same('st'); END IF;
END $$;
SELECT oracle.all_same('st');

-- Cursors keep the snapshot of their opening.
INSERT INTO entity VALUES ('k1'), ('k2'), ('k3');
INSERT INTO st VALUES ('k', 'k1', 'k2');
BEGIN;
DECLARE before CURSOR FOR SELECT oracle.same('k2', 3, 3, 'st'), c.* FROM cft_context('k2', 3, 3) AS c;
INSERT INTO st VALUES ('k', 'k2', 'k3');
DECLARE between CURSOR FOR SELECT oracle.same('k2', 3, 3, 'st'), c.* FROM cft_context('k2', 3, 3) AS c;
DELETE FROM st WHERE child = 'k2';
UPDATE st SET note = 9 WHERE child = 'k3';
DECLARE after CURSOR FOR SELECT oracle.same('k2', 3, 3, 'st'), c.* FROM cft_context('k2', 3, 3) AS c;
SAVEPOINT s;
DELETE FROM st WHERE tree = 'k';
DECLARE undone CURSOR FOR SELECT oracle.same('k2', 3, 3, 'st');
FETCH ALL FROM undone;
FETCH ALL FROM before;
FETCH ALL FROM between;
ROLLBACK TO s;
FETCH ALL FROM after;
COMMIT;
SELECT * FROM cft_context('k2', 3, 3);

-- Prepared statements, before and after changes, with generic plans.
PREPARE ask(text, int, int) AS SELECT c.relative, oracle.same($1, $2, $3, 'st') FROM cft_context($1, $2, $3) AS c;
SET plan_cache_mode = force_generic_plan;
EXECUTE ask('k2', 1, 1);
INSERT INTO st VALUES ('k', 'k3', 'k2');
EXECUTE ask('k2', 1, 1);
RESET plan_cache_mode;
SELECT * FROM cft_verify('st');
DROP TABLE st, entity;
DROP FUNCTION same_volatile, same_stable, same_immutable, st_watch, st_touch, write_and_ask;
