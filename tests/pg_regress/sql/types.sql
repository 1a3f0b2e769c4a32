-- Every type of column the contract names, alone and mixed; the answer is text.
SET client_min_messages = warning;
CREATE TABLE types (
    t text, v varchar(20), n name, i int, b bigint, u uuid,
    t2 text, v2 varchar, n2 name, i2 int, b2 bigint, u2 uuid);
INSERT INTO types SELECT 't' || i / 2, 'v' || i / 2, 'n' || i / 2, i / 2, (i / 2) * 10000000000, lpad(to_hex(i / 2), 32, '0')::uuid,
                         't' || i, 'v' || i, 'n' || i, i, i * 10000000000, lpad(to_hex(i), 32, '0')::uuid
  FROM generate_series(-3, 9) AS i;

SELECT cft_attach('types', 't', 't2');
SELECT oracle.build('types');
SELECT * FROM cft_context('t4', 2, 1);
SELECT oracle.all_same('types', 3, 3, 't', 't2');
SELECT cft_attach('types', 'v', 'v2');
SELECT oracle.build('types');
SELECT * FROM cft_context('v4', 2, 1);
SELECT oracle.all_same('types', 3, 3, 'v', 'v2');
SELECT cft_attach('types', 'n', 'n2');
SELECT oracle.build('types');
SELECT * FROM cft_context('n4', 2, 1);
SELECT oracle.all_same('types', 3, 3, 'n', 'n2');
SELECT cft_attach('types', 'i', 'i2');
SELECT oracle.build('types');
SELECT * FROM cft_context('4', 2, 1);
SELECT * FROM cft_context('-1', 2, 1);
SELECT * FROM cft_context(4::text, 1, 0);
SELECT oracle.all_same('types', 3, 3, 'i', 'i2');
-- A number is known by its text: 4, not 04 or +4.
SELECT * FROM cft_context(ARRAY['04', '+4', ' 4', '4.0', '4e0']);
SELECT cft_attach('types', 'b', 'b2');
SELECT oracle.build('types');
SELECT * FROM cft_context('40000000000', 2, 1);
SELECT oracle.all_same('types', 3, 3, 'b', 'b2');
SELECT cft_attach('types', 'u', 'u2');
SELECT oracle.build('types');
SELECT * FROM cft_context('00000000-0000-0000-0000-000000000004', 2, 1);
SELECT * FROM cft_context(upper('00000000-0000-0000-0000-00000000000a'));
SELECT oracle.all_same('types', 3, 3, 'u', 'u2');
-- Parent, child and tree of three types.
SELECT cft_attach('types', 'i', 'b2', 'u');
SELECT oracle.build('types');
SELECT oracle.all_same('types', 3, 3, 'i', 'b2', 'u');
SELECT cft_attach('types', 't', 'n2', 'i');
SELECT oracle.build('types');
INSERT INTO types (t, n2, i) VALUES ('n7', 'n8', 3), ('n8', 'n9', 3), ('n8', 'n7', NULL);
SELECT * FROM cft_context('n8', 2, 2);
SELECT oracle.all_same('types', 3, 3, 't', 'n2', 'i');
SELECT cft_attach('types', 'v', 't2', 'b');
SELECT oracle.build('types');
SELECT oracle.all_same('types', 3, 3, 'v', 't2', 'b');
SELECT * FROM cft_verify('types');

-- Extremes, changed after the build.
SELECT cft_attach('types', 'i', 'i2', 'b');
SELECT oracle.build('types');
INSERT INTO types (i, i2, b) VALUES (-2147483648, 2147483647, -9223372036854775808), (0, -2147483648, 9223372036854775807);
SELECT * FROM cft_context('-2147483648', 3, 3);
UPDATE types SET i2 = 0 WHERE i2 = 2147483647;
SELECT oracle.all_same('types', 3, 3, 'i', 'i2', 'b');
SELECT * FROM cft_verify('types');

-- Domains and arrays of these are other types; char(n) would compare without its blanks.
CREATE DOMAIN a_domain AS text;
CREATE TABLE others (d a_domain, c char(10), o oid, s smallint, j jsonb, a text[], child text);
\set VERBOSITY sqlstate
SELECT cft_attach('others', 'd', 'child');
SELECT cft_attach('others', 'c', 'child');
SELECT cft_attach('others', 'o', 'child');
SELECT cft_attach('others', 's', 'child');
SELECT cft_attach('others', 'j', 'child');
SELECT cft_attach('others', 'a', 'child');
DROP TABLE others, types;
DROP DOMAIN a_domain;
