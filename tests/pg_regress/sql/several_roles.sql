-- What a table is attached as is not lost by attaching it again: one table of names may serve several edges tables, and everything else is an error.
\a\t
SET client_min_messages = warning;
CREATE TABLE nodes (id int PRIMARY KEY, name text, short text);
INSERT INTO nodes VALUES (1, 'Heart clinic', 'HC'), (2, 'East wing', 'EW'), (3, 'Lonely', 'L'), (4, 'Hidden', 'H');
CREATE TABLE l1 (parent int, child int);
CREATE TABLE l2 (parent int, child int);
INSERT INTO l1 VALUES (1, 2);
INSERT INTO l2 VALUES (2, 1);
SELECT cft_attach('l1'), cft_attach('l2');
SELECT cft_attach_labels('nodes', edges => 'l1');
SELECT cft_attach_labels('nodes', edges => 'l2');
SELECT tgname, tgconstrrelid::regclass FROM pg_trigger WHERE tgrelid = 'nodes'::regclass AND tgconstrrelid <> 0 ORDER BY 1;
SELECT (SELECT entity FROM cft_entities('east wing', 'l1')), (SELECT entity FROM cft_entities('east wing', 'l2')), cft_context_text(1, edges => 'l1'), cft_context_text(1, edges => 'l2');
SELECT cft_attach_aliases('nodes', 'name', 'id', 'l1');
SELECT entity, via_alias, label FROM cft_entities('east wing', 'l1');
SELECT cft_attach_aliases('nodes', 'short', 'id', 'l2');
SELECT cft_attach('nodes', 'id', 'short');
SELECT cft_attach_labels('l2', 'parent', 'child', 'l1');
-- With its columns renamed, and of another table: both are put right by attaching again, or detaching.
SELECT cft_detach('nodes');
SELECT cft_attach_labels('nodes', edges => 'l1');
ALTER TABLE nodes RENAME name TO title;
SELECT cft_context_text(1, edges => 'l1');
SELECT cft_attach_labels('nodes', label => 'title', edges => 'l1');
SELECT cft_context_text(1, edges => 'l1');
-- A label of what is in no edge is not found, in no way.
SELECT * FROM cft_entities('lonely', 'l1');
SELECT * FROM cft_resolve('lonely', edges => 'l1');
SELECT * FROM cft_resolve('hart clinic', edges => 'l1');
-- Attached with a table of labels, ids are no names, and that is no news.
RESET client_min_messages;
SELECT cft_attach('l1');
SELECT cft_attach('l1', ids => true);
SELECT cft_attach('l2');
SELECT cft_attach('l2', ids => true);
SET client_min_messages = warning;
-- A name of another type is found where the other column has integers.
CREATE TABLE mixed (parent int, child text);
INSERT INTO mixed VALUES (1, 'Trail shoes');
SELECT cft_attach('mixed');
SELECT entity FROM cft_entities('1 trail shoes', 'mixed');
-- Ids of every kind, by the definition and its index.
CREATE TABLE ids (n bigint, up uuid, down uuid, weight numeric(12), above numeric(12), name text);
INSERT INTO ids VALUES (9223372036854775807, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', 7, 8, 'most'), (-9223372036854775808, NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 8, NULL, 'least'), (0, NULL, NULL, -5, 7, 'zero');
SET cftrag.enable = off;
SELECT cft_attach('ids', 'up', 'down', label => 'name');
SELECT cft_context_text(down, edges => 'ids') FROM ids WHERE n > 0;
SELECT cft_attach('ids', 'above', 'weight', label => 'name');
SELECT cft_context_text('8', edges => 'ids'), cft_context_text('-5', edges => 'ids'), cft_context_text('007', edges => 'ids');
CREATE TABLE far (parent bigint, child bigint);
INSERT INTO far VALUES (-9223372036854775808, 9223372036854775807);
SELECT cft_attach('far');
SELECT cft_attach_labels('ids', 'n', 'name', 'far');
SELECT cft_detach('ids');
SELECT cft_attach_labels('ids', 'n', 'name', 'far');
SELECT cft_context_text(9223372036854775807, edges => 'far');
SELECT cft_context_text(ARRAY['no number', '9223372036854775807', '92233720368547758079', '-0'], edges => 'far');
RESET cftrag.enable;
-- The hint of a table with a column of trees has it.
CREATE TABLE tt (tree text, parent text, child text);
SELECT * FROM cft_context('x', edges => 'tt');
DROP TABLE nodes, l1, l2, mixed, ids, far, tt;
