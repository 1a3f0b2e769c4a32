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
-- It takes memory for a copy of the image and for what differs, not for each row.
INSERT INTO sick SELECT NULL, 'm' || g / 7, 'm' || g, NULL FROM generate_series(1, 100000) AS g;
SELECT set_config('cftrag.work_memory', memory_bytes / 1024 + 4096 || 'kB', false) IS NOT NULL AS set FROM pg_stat_cftrag WHERE edges = 'sick'::regclass;
SELECT * FROM cft_verify('sick');
DROP TABLE sick;
DROP EXTENSION pg_surgery;
