-- cft_verify finds what the image has and the table has not, or the other way round: each such row, and no other. pg_surgery changes a table past its triggers.
\a\t
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
-- A background worker finds it, too, as soon as it may; cft_health says so until the image is built again.
ALTER SYSTEM SET cftrag.verify_interval = '1d';
SELECT pg_reload_conf();
DO $$ BEGIN FOR i IN 1..600 LOOP EXIT WHEN EXISTS (SELECT FROM cftrag_internal.cft_verified()); PERFORM pg_sleep(0.05); END LOOP; END $$;
SELECT status, regexp_replace(reason, 'at .*: 1', 'at ...: 1') AS reason, hint, checked FROM cft_health(detail => true) WHERE checked LIKE 'verification of %';
SELECT cft_build('sick');
SELECT * FROM cft_health(detail => true) WHERE checked LIKE 'verification of %';
ALTER SYSTEM RESET cftrag.verify_interval;
SELECT pg_reload_conf();
DROP TABLE sick;
DROP EXTENSION pg_surgery;
