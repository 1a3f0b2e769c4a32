-- Every error of docs/rules.md, "What bad input gets", by its SQLSTATE; the words of those a user meets first.
\a\t
SET client_min_messages = warning;
CREATE TABLE plain (tree text, parent text, child text, amount numeric, flag boolean);
CREATE TABLE bytes_only (parent text, child text);

-- Nothing is attached.
SELECT * FROM cft_context('a');
SELECT * FROM cft_context('a', edges => 'plain');
\set VERBOSITY sqlstate
SELECT * FROM cft_context('a', edges => 'plain');
SELECT * FROM cft_context(ARRAY['a'], edges => 'plain');
SELECT * FROM cft_context('a', edges => 'no_such_table');
SELECT * FROM cft_context('a', edges => 4294967294);
SELECT cft_detach('plain');
SELECT cft_build('plain');
SELECT * FROM cft_verify('plain');
SELECT cft_attach('no_such_table');
SELECT cft_attach(4294967294);

-- Columns: 42703 missing, 42804 type, 42701 twice.
SELECT cft_attach('plain', parent => 'mother');
SELECT cft_attach('plain', child => 'daughter');
SELECT cft_attach('plain', tree => 'forest');
SELECT cft_attach('plain', parent => 'amount');
SELECT cft_attach('plain', child => 'flag');
SELECT cft_attach('plain', tree => 'amount');
SELECT cft_attach('plain', parent => 'child');
SELECT cft_attach('plain', parent => 'ctid');
SELECT cft_attach('plain', parent => NULL);
SELECT cft_attach(NULL);

-- Kinds of relations: 42809.
CREATE VIEW a_view AS SELECT * FROM plain;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM plain;
CREATE TEMPORARY TABLE a_temporary (parent text, child text);
CREATE TABLE a_partitioned (parent text, child text) PARTITION BY LIST (parent);
CREATE TABLE a_partition PARTITION OF a_partitioned DEFAULT;
CREATE TABLE a_mother (parent text, child text);
CREATE TABLE a_daughter () INHERITS (a_mother);
CREATE SEQUENCE a_sequence;
CREATE INDEX an_index ON plain (parent);
CREATE FOREIGN DATA WRAPPER a_wrapper;
CREATE SERVER a_server FOREIGN DATA WRAPPER a_wrapper;
CREATE FOREIGN TABLE a_foreign (parent text, child text) SERVER a_server;
SELECT cft_attach('a_view');
SELECT cft_attach('a_matview');
SELECT cft_attach('a_temporary');
SELECT cft_attach('a_partitioned');
SELECT cft_attach('a_partition');
SELECT cft_attach('a_mother');
SELECT cft_attach('a_daughter');
SELECT cft_attach('a_sequence');
SELECT cft_attach('an_index');
SELECT cft_attach('a_foreign');
DROP FOREIGN DATA WRAPPER a_wrapper CASCADE;
DROP SEQUENCE a_sequence;
DROP TABLE a_mother, a_partitioned CASCADE;

-- Levels: 22023.
SELECT cft_attach('bytes_only');
SELECT * FROM cft_context('a', -1);
SELECT * FROM cft_context('a', 1, -1);
SELECT * FROM cft_context('a', 1001);
SELECT * FROM cft_context('a', 1, 1001);
SELECT * FROM cft_context(ARRAY['a'], -1);
SELECT * FROM cft_context(ARRAY['a'], 2147483647, 0);
SELECT * FROM cft_context('a', 1000, 1000);
SELECT * FROM cft_hot_entities(-1);

-- Two are attached: 42725 until one is named.
SELECT cft_attach('plain', tree => 'tree');
SELECT * FROM cft_context('a');
SELECT * FROM cft_context(ARRAY['a']);
SELECT * FROM cft_context('a', edges => 'plain');
\set VERBOSITY default
SELECT * FROM cft_context('a');
-- The words, where a command mends it.
SELECT cft_attach('bytes_only', parent => 'mother');
SELECT cft_attach('plain', parent => 'amount');
SELECT cft_attach('a_view');
SELECT * FROM cft_context('a', -1, edges => 'plain');
SELECT cft_detach('bytes_only');
SELECT cft_detach('bytes_only');

-- A name with quotes comes back quoted in the hint.
CREATE SCHEMA "odd schema";
CREATE TABLE "odd schema"."it's" (parent text, child text);
SELECT * FROM cft_context('a', edges => '"odd schema"."it''s"');
DROP SCHEMA "odd schema" CASCADE;

-- Invalid settings are refused by the setting.
\set VERBOSITY sqlstate
SET cftrag.enable = 'perhaps';
SET cftrag.memory_limit = '1MB';
SET cftrag.build_in_place_limit = -5;
DROP VIEW a_view;
DROP MATERIALIZED VIEW a_matview;
DROP TABLE plain, bytes_only, a_temporary;
SELECT * FROM cft_context('a');
