-- Every type of column the contract names, alone and mixed; the answer is text.
\a\t
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

-- smallint, char(n) without the blanks at its end, numeric without a scale, domains over all of these.
CREATE DOMAIN code AS char(6);
CREATE DOMAIN part AS bigint CHECK (VALUE > -100);
CREATE DOMAIN short_name AS varchar(20);
CREATE DOMAIN number AS numeric(20);
CREATE TABLE other_types (s smallint, s2 smallint, c char(8), c2 code, x numeric(30), x2 number, p part, p2 part, h short_name, h2 text);
INSERT INTO other_types SELECT i / 2, i, 'c' || i / 2, 'c' || i, (i / 2) * 1e20, i * 1e18, i / 2, i, ' h' || i / 2 || ' ', ' h' || i || ' ' FROM generate_series(-3, 9) AS i;
SELECT cft_attach('other_types', 's', 's2');
SELECT oracle.build('other_types');
SELECT relative FROM cft_context('4', 2, 1, edges => 'other_types');
SELECT relative FROM cft_context(4::smallint, 2, 1, edges => 'other_types');
SELECT oracle.all_same('other_types', 3, 3, 's', 's2');
SELECT cft_attach('other_types', 'c', 'c2');
SELECT oracle.build('other_types');
SELECT relative, length(relative) FROM cft_context('c4', 2, 1, edges => 'other_types');
SELECT oracle.all_same('other_types', 3, 3, 'c', 'c2');
UPDATE other_types SET c2 = 'd' WHERE c2 = 'c8';
SELECT oracle.all_same('other_types', 3, 3, 'c', 'c2');
SELECT cft_attach('other_types', 'x2', 'x');
SELECT oracle.build('other_types');
SELECT relative FROM cft_context('400000000000000000000', 2, 1, edges => 'other_types');
SELECT oracle.all_same('other_types', 3, 3, 'x2', 'x');
UPDATE other_types SET x = x + 1;
SELECT oracle.all_same('other_types', 3, 3, 'x2', 'x');
SELECT cft_attach('other_types', 'p', 'p2', 'h', 'c');
SELECT oracle.build('other_types');
SELECT relative, tree, label FROM cft_context(4, 1, 1, edges => 'other_types');
SELECT oracle.all_same('other_types', 3, 3, 'p', 'p2', 'h');
SELECT cft_attach('other_types', 'h', 'h2');
SELECT oracle.build('other_types');
SELECT relative FROM cft_context(' h4 ', 2, 1, edges => 'other_types');
SELECT oracle.all_same('other_types', 3, 3, 'h', 'h2');
SELECT * FROM cft_verify('other_types');
-- A cast that somebody makes from a type to text is not asked.
CREATE FUNCTION shout(smallint) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT 'no!' $$;
CREATE CAST (smallint AS text) WITH FUNCTION shout(smallint);
SELECT cft_attach('other_types', 's', 's2');
SELECT oracle.build('other_types');
SELECT count(*) FROM cft_context('4', 2, 1, edges => 'other_types');
SET cftrag.enable = off;
SELECT count(*) FROM cft_context('4', 2, 1, edges => 'other_types');
RESET cftrag.enable;
DROP CAST (smallint AS text);
DROP FUNCTION shout;
-- Not these.
ALTER TABLE other_types ADD y numeric, ADD y2 numeric(10, 2), ADD z float8, ADD j json;
SELECT cft_attach('other_types', 'y', 's2');
SELECT cft_attach('other_types', 's', 'y2');
SELECT cft_attach('other_types', 's', 'z');
SELECT cft_attach('other_types', 's', 's2', label => 'j');
DROP TABLE other_types;
DROP DOMAIN code, part, short_name, number;

-- Extremes, changed after the build.
SELECT cft_attach('types', 'i', 'i2', 'b');
SELECT oracle.build('types');
INSERT INTO types (i, i2, b) VALUES (-2147483648, 2147483647, -9223372036854775808), (0, -2147483648, 9223372036854775807);
SELECT * FROM cft_context('-2147483648', 3, 3);
UPDATE types SET i2 = 0 WHERE i2 = 2147483647;
SELECT oracle.all_same('types', 3, 3, 'i', 'i2', 'b');
SELECT * FROM cft_verify('types');

-- Other types, arrays and domains over others are refused.
CREATE DOMAIN a_domain AS json;
CREATE TABLE others (d a_domain, o oid, j jsonb, a text[], child text);
\set VERBOSITY sqlstate
SELECT cft_attach('others', 'd', 'child');
SELECT cft_attach('others', 'o', 'child');
SELECT cft_attach('others', 'j', 'child');
SELECT cft_attach('others', 'a', 'child');
DROP TABLE others, types;
DROP DOMAIN a_domain;
