-- Duplicates count once and go with their last row; NULLs are no edges; self-edges and cycles end by themselves; several parents.
\a\t
SET client_min_messages = warning;
CREATE TABLE shapes (tree text, parent text, child text, note int);
SELECT cft_attach('shapes', tree => 'tree');
SELECT oracle.build('shapes');

-- Duplicates.
INSERT INTO shapes VALUES ('t', 'a', 'b', 1), ('t', 'a', 'b', 2), ('t', 'a', 'b', 3);
INSERT INTO shapes VALUES ('t', 'a', 'b', 4);
SELECT * FROM cft_context('b');
DELETE FROM shapes WHERE note = 2;
DELETE FROM shapes WHERE note IN (1, 4);
SELECT * FROM cft_context('b');
UPDATE shapes SET note = 5;
SELECT oracle.all_same('shapes');
DELETE FROM shapes;
SELECT * FROM cft_context('b');
SELECT * FROM cft_verify('shapes');

-- A NULL parent or child is no edge; it may become one, and cease to be one.
INSERT INTO shapes VALUES ('t', NULL, 'b'), ('t', 'a', NULL), ('t', NULL, NULL), (NULL, 'a', 'b'), (NULL, NULL, 'b');
SELECT * FROM cft_context(ARRAY['a', 'b']);
UPDATE shapes SET parent = 'p' WHERE tree = 't' AND parent IS NULL;
SELECT oracle.all_same('shapes');
SELECT * FROM cft_context(ARRAY['a', 'b']);
UPDATE shapes SET child = NULL WHERE parent = 'p';
UPDATE shapes SET tree = NULL;
SELECT * FROM cft_context(ARRAY['a', 'b']);
SELECT oracle.all_same('shapes');
DELETE FROM shapes;
SELECT * FROM cft_verify('shapes');

-- A NULL tree is a tree of its own, and no other than NULL.
INSERT INTO shapes VALUES (NULL, 'a', 'b'), ('t', 'b', 'c'), (NULL, 'b', 'd'), ('', 'a', 'b');
SELECT * FROM cft_context('a', 0, 3);
SELECT oracle.all_same('shapes');
DELETE FROM shapes;

-- Self-edges and cycles: X is never its own relative; the least depth counts.
INSERT INTO shapes VALUES ('self', 's', 's');
SELECT * FROM cft_context('s', 5, 5);
INSERT INTO shapes VALUES ('self', 's', 'kid'), ('self', 'kid', 'kid');
SELECT * FROM cft_context('s', 5, 5);
SELECT * FROM cft_context('kid', 5, 5);
INSERT INTO shapes VALUES ('two', 'x', 'y'), ('two', 'y', 'x');
SELECT * FROM cft_context('x', 1000, 1000);
INSERT INTO shapes VALUES ('ring', 'r1', 'r2'), ('ring', 'r2', 'r3'), ('ring', 'r3', 'r4'), ('ring', 'r4', 'r1'), ('ring', 'r0', 'r1');
SELECT * FROM cft_context('r2', 10, 2);
SELECT oracle.all_same('shapes', 1000, 1000);
SELECT oracle.all_same('shapes', 2, 2);

-- Several parents and ways: the least depth, and of the ways at that depth the smallest by bytes.
INSERT INTO shapes VALUES
    ('dag', 'top', 'B'), ('dag', 'top', 'a'), ('dag', 'B', 'low'), ('dag', 'a', 'low'), ('dag', 'top', 'low2'), ('dag', 'low', 'low2'),
    ('dag', 'root', 'top'), ('dag', 'root', 'B');
SELECT * FROM cft_context('low', 3, 1);
SELECT * FROM cft_context('low2', 3, 0);
SELECT * FROM cft_context('root', 0, 3);
-- A shorter way appears, and goes again.
INSERT INTO shapes VALUES ('dag', 'root', 'low');
SELECT * FROM cft_context('low', 3, 0);
DELETE FROM shapes WHERE parent = 'root' AND child = 'low';
SELECT * FROM cft_context('low', 3, 0);
SELECT oracle.all_same('shapes', 4, 4);

-- Two trees never mix, though they share entities at every depth.
INSERT INTO shapes VALUES ('t1', '1', '2'), ('t2', '2', '3'), ('t1', '3', '4'), ('t2', '1', '2'), ('t1', '2', '3');
SELECT * FROM cft_context('1', 0, 5);
SELECT oracle.all_same('shapes', 10, 10);

-- A hub with many neighbours, a chain with many levels.
INSERT INTO shapes SELECT 'hub', 'hub', 'leaf' || i FROM generate_series(1, 2000) AS i;
INSERT INTO shapes SELECT 'chain', 'c' || i, 'c' || i + 1 FROM generate_series(1, 1200) AS i;
SELECT count(*), min(relative), max(relative COLLATE "C") FROM cft_context('hub', 1, 1);
SELECT oracle.same(ARRAY['hub', 'leaf77', 'c600'], 2, 2, 'shapes');
SELECT count(*), max(depth) FROM cft_context('c1201', 1000, 0);
SELECT oracle.same('c1100', 1000, 1000, 'shapes');
DELETE FROM shapes WHERE tree = 'hub' AND child LIKE '%7%';
SELECT oracle.same('hub', 2, 2, 'shapes');
SELECT * FROM cft_verify('shapes');
DROP TABLE shapes;
