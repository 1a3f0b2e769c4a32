-- Rows that share parent and child, or are equal: each write takes the row that it means, in one flush or many.
\a\t
SET client_min_messages = warning;
CREATE SCHEMA alike;
SET search_path = alike, public;
CREATE TABLE edges (id int, tree int, parent text, child text, weight int);
SELECT cft_attach('edges', tree => 'tree');
INSERT INTO edges SELECT i, i, 'France', 'Paris' FROM generate_series(1, 12000) i;
INSERT INTO edges SELECT i, 0, 'France', 'Lyon' FROM generate_series(1, 3000) i;
INSERT INTO edges SELECT i, 0, 'p' || i % 80, 'c' || i / 80 FROM generate_series(0, 6399) i;
SELECT cft_build('edges');
-- Whether the image is the table's: cft_verify compares them, edge by edge.
CREATE FUNCTION sound() RETURNS text LANGUAGE sql AS $$
    SELECT format('%s, %s differences, %s rows', (SELECT state FROM pg_stat_cftrag WHERE edges = 'alike.edges'::regclass),
                  (SELECT count(*) FROM cft_verify('alike.edges')), (SELECT count(*) FROM alike.edges)) $$;
SELECT sound();
UPDATE edges SET weight = 1;
SELECT sound();
-- Twice in a transaction, and a third of it undone.
BEGIN;
UPDATE edges SET weight = 2 WHERE id % 2 = 0;
SAVEPOINT a;
UPDATE edges SET weight = 3 WHERE id % 3 = 0;
SELECT sound();
ROLLBACK TO a;
UPDATE edges SET weight = 4 WHERE id % 6 = 0;
INSERT INTO edges SELECT i, i, 'France', 'Paris' FROM generate_series(1, 500) i;
SELECT sound();
DELETE FROM edges WHERE parent = 'France' AND weight IS NULL;
SELECT sound();
COMMIT;
SELECT sound();
-- Undone as a whole: the rows are there to be deleted again.
BEGIN;
DELETE FROM edges;
SELECT sound();
ROLLBACK;
SELECT sound();
DELETE FROM edges WHERE id % 5 = 0;
SELECT sound();
UPDATE edges SET tree = tree + 1, child = 'Nice' WHERE parent = 'France' AND child = 'Lyon';
SELECT sound();
-- Deleted by a trigger of the same statement, all of them before the first is noted.
CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF new.id = 1 THEN DELETE FROM edges WHERE tree = -1; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER a_first AFTER INSERT ON edges FOR EACH ROW EXECUTE FUNCTION away();
INSERT INTO edges SELECT i, -1, 'France', 'Nice' FROM generate_series(1, 15000) i;
SELECT sound();
DELETE FROM edges;
SELECT sound();
DROP SCHEMA alike CASCADE;
