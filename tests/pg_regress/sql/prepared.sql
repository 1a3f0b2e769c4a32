-- PREPARE TRANSACTION: the delta is in the image before, and whoever ends it has nothing to do. (prepared_1.out: a server
-- without max_prepared_transactions.)
\a\t
SET client_min_messages = warning;
SELECT current_setting('max_prepared_transactions')::int > 1 AS prepared_transactions \gset
\if :prepared_transactions
\else
\echo a server without prepared transactions
\quit
\endif
CREATE TABLE pr (tree text, parent text, child text);
INSERT INTO pr VALUES ('t', 'a', 'b'), ('t', 'b', 'c');
SELECT cft_attach('pr', tree => 'tree');
SELECT oracle.build('pr');
BEGIN;
INSERT INTO pr VALUES ('t', 'c', 'd');
DELETE FROM pr WHERE child = 'b';
SAVEPOINT s;
INSERT INTO pr VALUES ('t', 'c', 'undone');
ROLLBACK TO s;
PREPARE TRANSACTION 'cftrag commit';
SELECT oracle.all_same('pr', 5, 5);
SELECT * FROM cft_context('c', 5, 5);
BEGIN;
INSERT INTO pr VALUES ('t', 'c', 'e');
UPDATE pr SET child = 'f' WHERE child = 'e';
SELECT * FROM cft_context('c', 5, 5);
PREPARE TRANSACTION 'cftrag rollback';
SELECT oracle.all_same('pr', 5, 5);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT oracle.all_same('pr', 5, 5);
INSERT INTO pr VALUES ('t', 'c', 'mine');
SELECT oracle.all_same('pr', 5, 5);
COMMIT;
COMMIT PREPARED 'cftrag commit';
SELECT * FROM cft_context('c', 5, 5);
SELECT oracle.all_same('pr', 5, 5);
ROLLBACK PREPARED 'cftrag rollback';
SELECT * FROM cft_context('c', 5, 5);
SELECT oracle.all_same('pr', 5, 5);
SELECT * FROM cft_verify('pr');

-- A TRUNCATE, prepared, rolled back and committed. (Nobody can read the table meanwhile.)
BEGIN;
TRUNCATE pr;
INSERT INTO pr VALUES ('t', 'x', 'y');
PREPARE TRANSACTION 'cftrag truncate';
-- The statistics do not wait for whoever changes the table's definition.
SET lock_timeout = '1ms';
SELECT serves, reason FROM pg_stat_cftrag WHERE edges = 'pr'::regclass;
RESET lock_timeout;
ROLLBACK PREPARED 'cftrag truncate';
SELECT oracle.all_same('pr', 5, 5);
BEGIN;
TRUNCATE pr;
INSERT INTO pr VALUES ('t', 'x', 'y');
PREPARE TRANSACTION 'cftrag truncate';
COMMIT PREPARED 'cftrag truncate';
SELECT oracle.all_same('pr', 5, 5);
SELECT * FROM cft_verify('pr');
DROP TABLE pr;
SELECT count(*) FROM pg_prepared_xacts;
