-- cft_verify finds what the image has and the table has not, or the other way round: each such row, and no other. pg_surgery changes a table past its triggers.
SET client_min_messages = warning;
CREATE EXTENSION pg_surgery;
CREATE TABLE sick (tree text, parent text, child text, name text);
INSERT INTO sick SELECT CASE g % 3 WHEN 0 THEN 't' END, 'n' || g / 7, 'n' || g, 'Name ' || g FROM generate_series(1, 5000) AS g;
INSERT INTO sick VALUES (NULL, 'n1', 'n7', 'Name 7'), (NULL, 'n1', 'n7', 'Name 7');
SELECT cft_attach('sick', tree => 'tree', label => 'name');
SELECT cft_build('sick');
SELECT * FROM cft_verify('sick');
SELECT heap_force_kill('sick', ARRAY(SELECT ctid FROM sick WHERE child IN ('n7', 'n4001') ORDER BY child, ctid LIMIT 2));
SELECT * FROM cft_verify('sick') ORDER BY problem, tree, parent, child;
-- Mended by a build.
SELECT cft_build('sick');
SELECT * FROM cft_verify('sick');
-- What it takes does not grow with the table: what is sorted is on disk.
INSERT INTO sick SELECT NULL, 'm' || g / 7, 'm' || g, NULL FROM generate_series(1, 200000) AS g;
SET cftrag.work_memory = '64kB';
SET maintenance_work_mem = '1MB';
SELECT * FROM cft_verify('sick');
SELECT heap_force_kill('sick', ARRAY(SELECT ctid FROM sick WHERE child = 'm777'));
SELECT * FROM cft_verify('sick');
RESET cftrag.work_memory;
RESET maintenance_work_mem;
DROP TABLE sick;
DROP EXTENSION pg_surgery;
