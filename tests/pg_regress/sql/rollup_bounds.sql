-- What summaries cannot follow is refused or said, stops no other work, and what is gone leaves the queue.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SET jit = off;
CREATE TABLE e (parent text, child text);
INSERT INTO e SELECT 'n' || i / 2, 'n' || i FROM generate_series(2, 20000) AS i;
SELECT cft_attach('e');
CREATE TABLE s (entity text, summary text);
SELECT cft_attach_summaries('s');
-- Marks of what is gone go, whatever their number: the queue looks at each once, with or without an index. (It took the square of them.)
TRUNCATE e;
INSERT INTO e VALUES ('p', 'q'), ('q', 'r');
SET statement_timeout = '20s';
SELECT entity FROM cft_rollup_next(1);
RESET statement_timeout;
SELECT count(*) FROM s WHERE summary IS NULL AND entity NOT IN ('p', 'q');
SELECT summarized FROM cft_rollup();
SELECT * FROM s ORDER BY entity;
-- A mark of an entity that comes back is there again.
INSERT INTO e VALUES ('q', 'n5');
SELECT DISTINCT entity FROM s WHERE summary IS NULL ORDER BY 1;
SELECT summarized FROM cft_rollup();
INSERT INTO e VALUES ('r', 'y');
SELECT summarized FROM cft_rollup();
-- A column of the edges that was renamed: said at each change, which is made.
CREATE TABLE f (parent text, child text);
SELECT cft_attach('f');
CREATE TABLE g (entity text, summary text);
SELECT cft_attach_summaries('g', edges => 'f');
ALTER TABLE f RENAME parent TO above;
INSERT INTO f VALUES ('r', 'x'), ('s', 'x');
UPDATE f SET child = 'y' WHERE above = 'r';
COPY f FROM STDIN;
r	z
\.
DELETE FROM f WHERE child = 'z';
SELECT * FROM f ORDER BY 1;
SELECT * FROM g;
SELECT cft_attach('f', parent => 'above');
SELECT cft_rollup_mark('{r}', 'f');
SELECT summarized FROM cft_rollup(edges => 'f');
SELECT * FROM g;
DROP TABLE f, g;
-- Documents of which a statement may name a part, or the whole; at once, and when it has become so.
CREATE TABLE d (id int, body text, embedding vector(2), entity text) PARTITION BY RANGE (id);
CREATE TABLE d1 PARTITION OF d DEFAULT;
SELECT cft_attach_documents('d', entity => 'entity');
SELECT cft_attach_summaries('s', documents => 'd');
SELECT cft_attach_documents('d1', entity => 'entity');
SELECT cft_attach_summaries('s', documents => 'd1');
DROP TABLE d;
CREATE TABLE d (id int, body text, embedding vector(2), entity text);
SELECT cft_attach_documents('d', entity => 'entity');
SELECT cft_attach_summaries('s', documents => 'd');
SELECT summarized FROM cft_rollup();
CREATE TABLE child () INHERITS (d);
INSERT INTO child VALUES (1, 'Not followed.', NULL, 'y');
SELECT summarized FROM cft_rollup();
SELECT entity FROM cft_rollup_next();
SELECT due FROM cft_rollup_status();
INSERT INTO d VALUES (2, 'Written all the same.', NULL, 'y');
DROP TABLE child;
SELECT summarized FROM cft_rollup();
SELECT summary FROM s WHERE entity = 'p';
-- Documents by a column that were not named leave no marks, so no summary is made of them.
SELECT cft_attach_summaries('s');
SELECT cft_rollup_mark('{r}');
SELECT summarized FROM cft_rollup();
SELECT summary FROM s WHERE entity = 'p';
-- An old snapshot has not all that is to be marked.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT cft_attach_summaries('s', documents => 'd');
ROLLBACK;
SELECT cft_attach_summaries('s', documents => 'd');
BEGIN ISOLATION LEVEL SERIALIZABLE;
TRUNCATE d;
ROLLBACK;
TRUNCATE d;
SELECT DISTINCT entity FROM s WHERE summary IS NULL ORDER BY 1;
DROP TABLE e, s, d CASCADE;

-- What a transaction has marked itself it knows until it ends; a savepoint takes back its part. Of more than 1,000 it knows only that they are many.
CREATE TABLE own (parent text, child text);
CREATE TABLE own_summaries (entity text, summary text);
SELECT cft_attach('own'), cft_attach_summaries('own_summaries', edges => 'own');
CREATE FUNCTION mine() RETURNS text[] LANGUAGE sql AS $$ SELECT cftrag_internal.cft_rollup_mine('{a,b,c,a,NULL}', 'own_summaries') $$;
BEGIN;
INSERT INTO own VALUES ('a', 'x');
SAVEPOINT one;
INSERT INTO own VALUES ('b', 'x'), ('a', 'y');
SAVEPOINT two;
INSERT INTO own VALUES ('c', 'x');
RELEASE two;
SELECT mine(), cftrag_internal.cft_rollup_mine('{a}', 'own'), cftrag_internal.cft_rollup_mine(NULL, NULL);
ROLLBACK TO one;
SELECT mine();
INSERT INTO own SELECT 'p' || n, 'x' FROM generate_series(1, 1000) AS n;
SELECT mine();
ROLLBACK TO one;
SELECT mine();
COMMIT;
SELECT mine();
DROP FUNCTION mine;

-- What comes by replication marks, too, and once; by the triggers of rows only where those of statements do not fire (life: subscriber).
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'own'::regclass AND tgname LIKE 'cftrag_rollup%' ORDER BY 1;
TRUNCATE own, own_summaries;
SET session_replication_role = replica;
INSERT INTO own VALUES ('a', 'b'), ('b', 'c');
COPY own FROM stdin (DELIMITER ',');
c,d
\.
RESET session_replication_role;
SELECT entity, count(*) FROM own_summaries GROUP BY 1 ORDER BY 1;
-- Attached again, as after a dump whose rows were restored under the triggers, each entity has one mark; so has what is above those that had several.
DELETE FROM own_summaries WHERE entity = 'a';
INSERT INTO own_summaries VALUES ('a', 'made before');
SELECT cft_attach_summaries('own_summaries', edges => 'own');
SELECT entity, count(*) FILTER (WHERE summary IS NULL) AS marks, min(summary) AS summary FROM own_summaries GROUP BY 1 ORDER BY 1;
DROP TABLE own, own_summaries CASCADE;
