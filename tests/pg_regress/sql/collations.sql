-- A nondeterministic collation is refused at attach, and not followed if a column gets one later. (collations_1.out: no ICU.)
\a\t
SET client_min_messages = warning;
SELECT EXISTS (SELECT FROM pg_collation WHERE collname = 'de-x-icu') AS icu \gset
\if :icu
\else
\echo a server without ICU
\quit
\endif
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION german (provider = icu, locale = 'de-u-co-phonebk');
CREATE TABLE coll (parent text, child text, p_no_case text COLLATE no_case, c_no_case text COLLATE no_case, p_german text COLLATE german, c_german text COLLATE german);
INSERT INTO coll SELECT p, c, p, c, p, c FROM (VALUES ('Ä', 'b'), ('ä', 'b'), ('Ad', 'b'), ('af', 'b'), ('AE', 'b'), ('b', 'B'), ('ß', 'b'), ('ss', 'b')) AS v(p, c);
SELECT cft_attach('coll', 'p_no_case', 'child');
\set VERBOSITY sqlstate
SELECT cft_attach('coll', 'parent', 'c_no_case');
SELECT cft_attach('coll', 'parent', 'child', 'p_no_case');
\set VERBOSITY default
-- A deterministic one only sorts otherwise: equality and the answer's order are by bytes.
SELECT cft_attach('coll', 'p_german', 'c_german');
SELECT oracle.build('coll');
SELECT relative FROM cft_context('b', 1, 0);
SELECT oracle.all_same('coll', 3, 3, 'p_german', 'c_german');
CREATE INDEX ON coll (c_german);
SET enable_seqscan = off;
SET cftrag.enable = off;
SELECT oracle.all_same('coll', 3, 3, 'p_german', 'c_german');
RESET cftrag.enable;
RESET enable_seqscan;
-- It becomes nondeterministic later: names are compared by bytes as before, 'x' is a parent of 'b' and not of 'B'.
ALTER TABLE coll ALTER COLUMN c_german TYPE text COLLATE no_case;
INSERT INTO coll (p_german, c_german) VALUES ('x', 'b');
SELECT relative FROM cft_context('b', 1, 0, 'coll') WHERE relative = 'x';
SELECT relative FROM cft_context('B', 1, 0, 'coll');
SELECT oracle.all_same('coll', 3, 3, 'p_german', 'c_german');
SELECT serves FROM pg_stat_cftrag WHERE edges = 'coll'::regclass;
ALTER TABLE coll ALTER COLUMN c_german TYPE text COLLATE "C";
SELECT oracle.all_same('coll', 3, 3, 'p_german', 'c_german');
SELECT * FROM cft_verify('coll');
-- Of rows whose entity has such a collation cft_under takes those of the same bytes: the index finds more, and they are left out.
CREATE TABLE deep (parent text, child text);
INSERT INTO deep SELECT 'n' || i, 'n' || i + 1 FROM generate_series(2000, 2400) AS i;
SELECT cft_attach('deep');
CREATE TABLE caseless (name text COLLATE no_case);
INSERT INTO caseless VALUES ('Deep'), ('deep'), ('N5'), ('n5'), ('n2300'), ('N2300');
CREATE INDEX ON caseless (name);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT name FROM caseless WHERE cft_under(name, 'n2000', 'deep');
SELECT name FROM caseless WHERE cft_under(name, 'n2000', 'deep');
RESET enable_seqscan;

DROP TABLE coll, caseless, deep;
DROP COLLATION no_case;
DROP COLLATION german;
