-- Names are bytes: any length, any characters, no folding; the order is by bytes whatever the database's or the column's collation.
\a\t
SET client_min_messages = warning;
CREATE TABLE names (parent text COLLATE "C", child text);
SELECT cft_attach('names');
SELECT oracle.build('names');
INSERT INTO names VALUES
    ('', 'empty above'), ('empty below', ''), ('A', 'x'), ('a', 'x'), ('B', 'x'), ('b', 'x'), ('Ä', 'x'), ('ä', 'x'), ('Z', 'x'),
    ('z', 'x'), ('a b', 'x'), ('a-b', 'x'), ('ab', 'x'), (' a', 'x'), ('a ', 'x'), ('10', 'x'), ('9', 'x'), ('漢字', 'x'), ('🌳', 'x'),
    ('e' || U&'\0301', 'x'), (U&'\00E9', 'x'), (U&'\200B', 'x'), (E'tab\tnew\nline', 'x'), ('NULL', 'x'), ('''', 'x'), ('"', 'x'), ('\', 'x');
SELECT convert_to(relative, 'UTF8') FROM cft_context('x', 1, 0);
SELECT * FROM cft_context('');
SELECT relative, via FROM cft_context('empty below', 0, 1);
SELECT * FROM cft_context('A');
-- Composed and decomposed are two names.
SELECT convert_to(entity, 'UTF8') FROM cft_context(U&'\00E9', 0, 1);
SELECT convert_to(entity, 'UTF8') FROM cft_context('e' || U&'\0301', 0, 1);
SELECT oracle.all_same('names');

-- Lengths around everything that could matter: cache lines, varlena headers, pages, TOAST, a megabyte.
CREATE TABLE lengths AS SELECT n FROM unnest(ARRAY[1, 2, 3, 4, 15, 16, 31, 32, 47, 48, 55, 56, 57, 63, 64, 65, 100, 122, 123, 124, 125, 126, 127, 128, 129, 255, 256, 257,
    1000, 2000, 8191, 8192, 8193, 16383, 16384, 65535, 65536, 100000, 1000000, 1048576]) AS n;
INSERT INTO names SELECT 'of length', repeat('n', n) FROM lengths;
INSERT INTO names SELECT repeat('m', n), repeat('n', n) FROM lengths;
SELECT n, count(*), string_agg(c.relation || ' ' || length(c.relative) || ' ' || md5(c.relative), ', ' ORDER BY c.relative COLLATE "C") = 
       'ancestor ' || n || ' ' || md5(repeat('m', n)) || ', ancestor 9 ' || md5('of length') AS right
  FROM lengths, LATERAL cft_context(repeat('n', n), 1, 1) AS c GROUP BY n ORDER BY n;
SELECT count(*), sum(length(relative)) FROM cft_context('of length', 0, 1);
SELECT oracle.same(ARRAY(SELECT repeat('n', n) FROM lengths), 1, 1, 'names');
SELECT oracle.same(ARRAY(SELECT repeat('m', n) FROM lengths), 1, 2, 'names');
-- One byte less or more is nobody.
SELECT count(*) FROM lengths, LATERAL cft_context(repeat('n', n - 1) || 'N') AS c;
DELETE FROM names WHERE length(child) > 100;
SELECT count(*), sum(length(relative)) FROM cft_context('of length', 0, 1);
SELECT oracle.all_same('names');
SELECT * FROM cft_verify('names');

-- Many names that begin alike.
TRUNCATE names;
INSERT INTO names SELECT repeat('same beginning ', 20) || i / 7, repeat('same beginning ', 20) || i FROM generate_series(1, 3000) AS i;
SELECT oracle.same(ARRAY(SELECT repeat('same beginning ', 20) || i FROM generate_series(1, 3000, 11) AS i), 3, 2, 'names');
SELECT count(*) FROM cft_context(repeat('same beginning ', 20)), generate_series(1, 2);
SELECT * FROM cft_verify('names');
DROP TABLE names, lengths;
