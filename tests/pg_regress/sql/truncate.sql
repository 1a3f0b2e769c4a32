-- TRUNCATE, rewrites and new files: committed, rolled back, twice in one transaction, of a table made in it, COPY FREEZE.
\a\t
SET client_min_messages = warning;
CREATE TABLE tr (tree text, parent text, child text);
INSERT INTO tr VALUES ('t', 'a', 'b'), ('t', 'b', 'c');
SELECT cft_attach('tr', tree => 'tree');
SELECT oracle.build('tr');
SELECT oracle.all_same('tr');

TRUNCATE tr;
SELECT * FROM cft_context('b');
INSERT INTO tr VALUES ('t', 'a', 'b'), ('t', 'x', 'b');
SELECT oracle.all_same('tr');

-- Rolled back: the old file and its rows are back.
SELECT oracle.build('tr');
BEGIN;
INSERT INTO tr VALUES ('t', 'b', 'before');
TRUNCATE tr;
SELECT * FROM cft_context('b');
INSERT INTO tr VALUES ('t', 'after', 'b');
SELECT * FROM cft_context('b');
ROLLBACK;
SELECT * FROM cft_context('b');
SELECT oracle.all_same('tr');
SELECT * FROM cft_verify('tr');

-- Undone by a savepoint, between changes that stay.
BEGIN;
INSERT INTO tr VALUES ('t', 'b', 'before');
SAVEPOINT s;
TRUNCATE tr;
INSERT INTO tr VALUES ('t', 'after', 'b');
SELECT oracle.all_same('tr');
ROLLBACK TO s;
SELECT oracle.all_same('tr');
INSERT INTO tr VALUES ('t', 'b', 'later');
SELECT * FROM cft_context('b');
COMMIT;
SELECT * FROM cft_context('b');
SELECT oracle.all_same('tr');
SELECT * FROM cft_verify('tr');

-- Twice in one transaction: the second empties the new file in place.
SELECT oracle.build('tr');
BEGIN;
TRUNCATE tr;
INSERT INTO tr VALUES ('t', 'one', 'b');
SELECT * FROM cft_context('b');
TRUNCATE tr;
SELECT * FROM cft_context('b');
INSERT INTO tr VALUES ('t', 'two', 'b');
SELECT * FROM cft_context('b');
COMMIT;
SELECT * FROM cft_context('b');
SELECT oracle.all_same('tr');
SELECT * FROM cft_verify('tr');
BEGIN;
INSERT INTO tr VALUES ('t', 'zero', 'b');
TRUNCATE tr;
INSERT INTO tr VALUES ('t', 'one', 'b');
SAVEPOINT s;
TRUNCATE tr;
INSERT INTO tr VALUES ('t', 'two', 'b');
ROLLBACK TO s;
INSERT INTO tr VALUES ('t', 'three', 'b');
SELECT * FROM cft_context('b');
COMMIT;
SELECT * FROM cft_context('b');
SELECT oracle.all_same('tr');
SELECT * FROM cft_verify('tr');

-- Together with another table, and restarting.
CREATE TABLE tr2 (parent text, child text);
INSERT INTO tr2 VALUES ('p', 'b');
SELECT cft_attach('tr2');
SELECT oracle.build('tr2');
TRUNCATE tr, tr2 RESTART IDENTITY CASCADE;
SELECT * FROM cft_context('b', edges => 'tr');
SELECT * FROM cft_context('b', edges => 'tr2');
DROP TABLE tr2;

-- COPY FREEZE: the rows have no xmin anybody could wait for.
SELECT oracle.build('tr');
BEGIN;
TRUNCATE tr;
COPY tr FROM STDIN (FREEZE);
t	a	b
t	b	c
t	b	c
\.
SELECT oracle.all_same('tr');
DELETE FROM tr WHERE child = 'b';
SELECT oracle.all_same('tr');
COMMIT;
SELECT * FROM cft_context('c', 5, 5);
SELECT oracle.all_same('tr');
SELECT * FROM cft_verify('tr');

-- A table created, filled, attached and asked in one transaction; filled again, emptied, asked; dropped.
BEGIN;
CREATE TABLE born (parent text, child text);
INSERT INTO born VALUES ('a', 'b');
COPY born FROM STDIN (FREEZE);
b	c
\.
SELECT cft_attach('born');
SELECT * FROM cft_context('b', edges => 'born');
INSERT INTO born VALUES ('c', 'd');
SELECT * FROM cft_context('b', 3, 3, edges => 'born');
DELETE FROM born WHERE parent = 'a';
SELECT oracle.all_same('born');
TRUNCATE born;
SELECT oracle.all_same('born');
INSERT INTO born VALUES ('x', 'b');
SELECT oracle.all_same('born');
COMMIT;
SELECT * FROM cft_context('b', edges => 'born');
SELECT oracle.all_same('born');
SELECT * FROM cft_verify('born');
BEGIN;
DROP TABLE born;
\set VERBOSITY sqlstate
SELECT * FROM cft_context('b', edges => 'born');
\set VERBOSITY default
ROLLBACK;
SELECT oracle.all_same('born');
DROP TABLE born;
-- A table created, attached and filled in a transaction that is rolled back.
BEGIN;
CREATE TABLE born (parent text, child text);
SELECT cft_attach('born');
INSERT INTO born VALUES ('a', 'b');
SELECT oracle.all_same('born');
ROLLBACK;

-- New files by other ways: VACUUM FULL, CLUSTER, a type that rewrites, SET TABLESPACE to the same, UNLOGGED and back.
SELECT oracle.build('tr');
VACUUM FULL tr;
SELECT oracle.all_same('tr');
CREATE INDEX tr_parent ON tr (parent);
CLUSTER tr USING tr_parent;
SELECT oracle.all_same('tr');
ALTER TABLE tr ALTER COLUMN child TYPE varchar USING 'new ' || child;
SELECT oracle.all_same('tr');
BEGIN;
ALTER TABLE tr ALTER COLUMN child TYPE text USING substr(child, 5);
INSERT INTO tr VALUES ('t', 'p', 'q');
SELECT oracle.all_same('tr');
ROLLBACK;
SELECT oracle.all_same('tr');
ALTER TABLE tr SET UNLOGGED;
INSERT INTO tr VALUES ('t', 'p', 'q');
SELECT oracle.all_same('tr');
ALTER TABLE tr SET LOGGED;
SELECT oracle.all_same('tr');
VACUUM (FREEZE) tr;
DELETE FROM tr WHERE parent = 'p';
SELECT oracle.all_same('tr');
SELECT * FROM cft_verify('tr');
DROP TABLE tr;
