-- tests/inject/run runs this once for every use of shared memory, and lets that use fail. No statement but cft_build may fail; every answer
-- equals the reference query's ("same, N rows").
CREATE TABLE inject (tree text, parent text, child text);
INSERT INTO inject SELECT 't', 'n' || i % 7, 'n' || i FROM generate_series(1, 30) AS i;
SELECT cft_attach('inject', tree => 'tree');
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
-- The image grows by several chunks in one COMMIT.
INSERT INTO inject SELECT 't', 'n' || i % 20, repeat(chr(97 + i % 26), 900) || i FROM generate_series(1, 400) AS i;
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
BEGIN;
INSERT INTO inject SELECT 'u', 'n' || i % 20, repeat('o', 900) || i FROM generate_series(1, 300) AS i;
SAVEPOINT s;
DELETE FROM inject WHERE child LIKE 'a%';
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
ROLLBACK TO s;
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
COMMIT;
UPDATE inject SET tree = 'v' WHERE parent = 'n3';
DELETE FROM inject WHERE parent = 'n4';
SELECT oracle.same(ARRAY['n1', 'n3', 'n4'], 3, 3, 'inject');
BEGIN;
INSERT INTO inject SELECT 'p', 'n' || i % 20, repeat('p', 900) || i FROM generate_series(1, 400) AS i;
PREPARE TRANSACTION 'inject';
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
COMMIT PREPARED 'inject';
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
SELECT cft_build('inject');
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
-- Built beside writers, by a worker.
SET cftrag.build_in_place_limit = 0;
VACUUM FULL inject;
SELECT cft_build('inject');
RESET cftrag.build_in_place_limit;
INSERT INTO inject VALUES ('t', 'n1', 'after the build');
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
-- Built in place, by the first reader.
VACUUM FULL inject;
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
TRUNCATE inject;
INSERT INTO inject SELECT 't', 'n' || i % 7, 'n' || i FROM generate_series(1, 30) AS i;
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
-- Changes that are rolled back have no effect, and a build works after a failed one.
BEGIN;
SAVEPOINT s;
INSERT INTO inject VALUES ('t', 'n1', 'undone');
ROLLBACK TO s;
INSERT INTO inject VALUES ('t', 'n2', 'not undone');
COMMIT;
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
SELECT cft_build('inject');
DELETE FROM inject WHERE child = 'not undone';
SELECT oracle.same(ARRAY['n1', 'n2', 'n25'], 3, 3, 'inject');
