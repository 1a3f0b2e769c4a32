-- Two databases whose tables have the same OIDs and the same file numbers: a copy of a database is not its original.
\a\t
SET client_min_messages = warning;
CREATE TABLE dbs (parent text, child text);
INSERT INTO dbs VALUES ('a', 'b');
SELECT cft_attach('dbs');
SELECT oracle.build('dbs');
SELECT * FROM cft_context('b', edges => 'dbs');
SELECT current_database() AS original, current_database() || '_copy' AS copy, 'dbs'::regclass::oid AS oid \gset
\c template1
SET client_min_messages = warning;
CREATE DATABASE :"copy" TEMPLATE :"original";
\c :"copy"
SET client_min_messages = warning;
SELECT 'dbs'::regclass::oid = :oid AS same_oid;
INSERT INTO dbs VALUES ('only in the copy', 'b');
SELECT oracle.build('dbs');
SELECT * FROM cft_context('b', edges => 'dbs');
SELECT oracle.all_same('dbs');
\c :"original"
SET client_min_messages = warning;
INSERT INTO dbs VALUES ('only in the original', 'b');
SELECT * FROM cft_context('b', edges => 'dbs');
SELECT oracle.all_same('dbs');
SELECT * FROM cft_verify('dbs');
\c :"copy"
SET client_min_messages = warning;
SELECT * FROM cft_context('b', edges => 'dbs');
SELECT * FROM cft_verify('dbs');
\c template1
SET client_min_messages = warning;
DROP DATABASE :"copy";
-- Made again: the same name, another database.
CREATE DATABASE :"copy" TEMPLATE :"original";
\c :"copy"
SET client_min_messages = warning;
SELECT * FROM cft_context('b', edges => 'dbs');
SELECT oracle.all_same('dbs');
\c template1
SET client_min_messages = warning;
DROP DATABASE :"copy";
\c :"original"
SET client_min_messages = warning;
SELECT oracle.all_same('dbs');
DROP TABLE dbs;
