-- Labels: what people call the child of a row. A text names entities by their labels, and not by their ids; the image and the definition agree.
\a\t
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE TABLE categories (id int PRIMARY KEY, parent_id int REFERENCES categories, name text);
INSERT INTO categories VALUES (1, NULL, 'Sports'), (2, 1, 'Shoes'), (3, 2, 'Running Shoes'), (4, 2, 'Boots'), (5, NULL, 'Books'), (6, 1, 'Accessories'), (7, 5, 'Accessories'), (42, 5, NULL);
-- The hint says how.
\set VERBOSITY default
SELECT * FROM cft_context(3, edges => 'categories');
\set VERBOSITY terse
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name');
SELECT tgname, encode(tgargs, 'escape') FROM pg_trigger WHERE tgrelid = 'categories'::regclass AND NOT tgisinternal ORDER BY 1;
SELECT oracle.build('categories');
SELECT * FROM cft_entities('Running shoes in size 42, under 50 euros, books and ACCESSORIES', 'categories');
SELECT * FROM cft_context('3', edges => 'categories');
SELECT * FROM cft_roots('categories');
SELECT cft_context_text('3', edges => 'categories');
-- What is shown is not asked for: no other entity than the one above has a temperature.
SELECT count(*) FROM cft_roots('categories');
SELECT count(*) FROM cft_hot_entities(edges => 'categories') WHERE entity <> '3';
SELECT cft_context_text(ARRAY['3', '5'], edges => 'categories', template => '{entity}: {relatives} ({count})');
SELECT cft_context_json('7', edges => 'categories');
SELECT * FROM cft_context_parts(ARRAY['1'], edges => 'categories');
SELECT * FROM cft_neighbors('2', edges => 'categories');
SELECT * FROM cft_path('3', '4', edges => 'categories');
SELECT cft_explain_path('3', '4', edges => 'categories'), cft_explain_path('3', '3', edges => 'categories');
SELECT * FROM cft_lca('3', '6', edges => 'categories');
SELECT * FROM cft_path_prefix(ARRAY['3', '7', '42'], edges => 'categories');
SELECT cft_path_prefix('3', edges => 'categories', separator => '/');
-- No differences, nor any left by a statement: in mentions, rows and texts, and in what cft_verify compares.
CREATE FUNCTION labels_said(edges regclass, question text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    names text[] := ARRAY(SELECT DISTINCT e.entity FROM cft_entities(question, edges) AS e ORDER BY 1) || ARRAY['1', '42', 'none'];
BEGIN
    RETURN QUERY SELECT e::text FROM cft_entities(question, edges) AS e;
    RETURN QUERY SELECT e::text FROM cft_entities(question, edges, overlapping => true) AS e;
    RETURN QUERY SELECT c::text FROM cft_context(names, 3, 2, edges) AS c;
    RETURN QUERY SELECT c::text FROM unnest(names) AS name, LATERAL cft_context(name, 3, 2, edges) AS c;
    RETURN NEXT cft_context_text(names, 3, 2, edges);
    RETURN QUERY SELECT cft_context_text(name, 1, 2, edges) FROM unnest(names) AS name;
    RETURN NEXT cft_context_text(names, 3, 2, edges, template => '{entity} {tree} {relatives} {count}');
    RETURN NEXT cft_context_json(names, 3, 2, edges);
    RETURN QUERY SELECT p::text FROM cft_context_parts(names, 3, 2, edges) AS p;
    RETURN QUERY SELECT p::text FROM cft_roots(edges) AS p;
    RETURN QUERY SELECT p::text FROM cft_path_prefix(names, edges) AS p;
    RETURN QUERY SELECT cft_path_prefix(name, edges) FROM unnest(names) AS name;
    RETURN QUERY SELECT p::text FROM unnest(names) AS name, LATERAL cft_neighbors(name, 2, 'both', edges) AS p;
    RETURN QUERY SELECT p::text FROM unnest(names) AS name, LATERAL cft_path(name, names[1], edges => edges) AS p;
    RETURN QUERY SELECT cft_explain_path(name, names[2], edges => edges) FROM unnest(names) AS name;
    RETURN QUERY SELECT p::text FROM unnest(names) AS name, LATERAL cft_lca(name, names[1], edges) AS p;
END $$;
CREATE FUNCTION labels_differ(edges regclass, question text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    a text[];
    b text[];
BEGIN
    a := ARRAY(SELECT labels_said(edges, question));
    PERFORM set_config('cftrag.enable', 'off', true);
    b := ARRAY(SELECT labels_said(edges, question));
    PERFORM set_config('cftrag.enable', 'on', true);
    RETURN QUERY SELECT format('%s, by definition %s', u.a, u.b) FROM unnest(a, b) AS u(a, b) WHERE u.a IS DISTINCT FROM u.b;
    RETURN QUERY SELECT v::text FROM cft_verify(edges) AS v;
    IF cardinality(a) < 20 THEN RETURN NEXT 'nothing was found'; END IF;
END $$;
\set same 'SELECT * FROM labels_differ(''categories'', ''Sports, shoes, running shoes, trail-shoes, boots, books; accessories 1 2 3 42'')'
:same;
BEGIN;
-- A label that changes in the statement that moves the row; one that goes, one that comes; rows that go.
UPDATE categories SET name = 'Trail Shoes', parent_id = 1 WHERE id = 3;
:same;
SAVEPOINT s;
UPDATE categories SET name = NULL WHERE id = 2;
UPDATE categories SET name = 'shoes' WHERE id = 42;
:same;
SELECT * FROM cft_entities('shoes', 'categories');
DELETE FROM categories WHERE id IN (6, 7);
:same;
ROLLBACK TO s;
:same;
INSERT INTO categories SELECT i, 1, 'accessories' FROM generate_series(100, 103) AS i;
:same;
COMMIT;
:same;
SELECT entity, mention FROM cft_entities('accessories and trail shoes', 'categories');
-- A label of a megabyte is no name in a text, as any name of more than 2,000 bytes; the longest that is one is found.
INSERT INTO categories VALUES (200, 1, repeat('long ', 200000)), (201, 1, repeat('x', 2000)), (202, 1, repeat('y', 2001)), (203, 1, ''), (204, 1, '+++');
-- An empty label is none.
SELECT cft_context_text('203', edges => 'categories'), (SELECT count(label) FROM cft_context('1', edges => 'categories') WHERE relative IN ('203', '204')) AS labelled;
SELECT entity, length FROM cft_entities(repeat('x', 2000) || ' ' || repeat('y', 2001), 'categories');
:same;

-- An entity has as many labels as its rows say; aliases beside them.
CREATE TABLE shelf (shop text, parent bigint, child bigint, title varchar(40));
INSERT INTO shelf VALUES ('a', NULL, 1, 'Shoes'), ('b', NULL, 1, 'Footwear'), ('b', NULL, 1, 'SHOES'), ('a', 1, 2, 'Boots'), ('b', 1, 2, 'Boots'), ('c', 3, 1, NULL);
SELECT cft_attach('shelf', tree => 'shop', label => 'title');
CREATE TABLE said (alias text, entity bigint);
INSERT INTO said VALUES ('Sneakers', 1), ('shoes', 1), ('shoes', 2), ('Sneakers', 3), ('Sneakers', 4), ('2', NULL), (NULL, 3);
SELECT cft_attach_aliases('said', edges => 'shelf');
SELECT oracle.build('shelf');
SELECT oracle.build('said');
SELECT * FROM cft_entities('shoes, footwear, sneakers, boots, 1, 2, 3', 'shelf');
SELECT * FROM labels_differ('shelf', 'shoes, footwear, sneakers, boots, 1, 2, 3');
SELECT count(*), count(*) FILTER (WHERE tree IN ('a', 'b', 'c')) FROM cft_roots('shelf');

-- Documents about ids, in columns of the ids' own types: what is compared is what the type writes.
CREATE TABLE forest (parent text, child text);
INSERT INTO forest VALUES (NULL, '7'), (NULL, '007'), (NULL, ' 7'), (NULL, '+7'), (NULL, '-7'), (NULL, '-0'), (NULL, '7.0'), (NULL, '9223372036854775807'), (NULL, '9223372036854775808'),
    (NULL, '123456789012345678901234567890'), (NULL, 'seven'), (NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), (NULL, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'), (NULL, '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}');
SELECT cft_attach('forest');
CREATE TABLE papers (id int, small smallint, plain int, big bigint, ident uuid, body text, embedding vector(2));
INSERT INTO papers VALUES (1, 7, 7, 7, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'seven', '[1,0]'), (2, -7, -7, 9223372036854775807, NULL, 'other', '[0,1]'), (3, 0, 0, 0, NULL, 'zero', '[1,1]');
CREATE FUNCTION about(of name) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cft_attach_documents('papers', entity => of);
    RETURN QUERY SELECT format('%s: %s %s', of, f.child, c.body) FROM forest AS f, cft_chunks(f.child, edges => 'forest', documents => 'papers') AS c ORDER BY 1;
END $$;
SELECT about('small');
SELECT about('plain');
SELECT about('big');
SELECT about('ident');
-- Its plain index serves.
INSERT INTO papers (id, plain, body, embedding) SELECT i, i, 'paper', '[0,1]' FROM generate_series(1000, 40000) AS i;
CREATE INDEX papers_plain ON papers (plain);
ANALYZE papers;
SELECT count(*) FROM about('plain');
SELECT pg_stat_force_next_flush();
SELECT idx_scan > 0 AS by_index FROM pg_stat_user_indexes WHERE indexrelname = 'papers_plain';
DROP TABLE papers, forest;
DROP FUNCTION about;

SELECT * FROM cft_resolve('TRAIL-shoes', edges => 'categories');
SELECT * FROM cft_resolve('trail shoos', edges => 'categories');
SELECT * FROM cft_resolve('3', edges => 'categories');
CREATE TABLE products (id int, category_id int, body text, embedding vector(2));
INSERT INTO products VALUES (1, 3, 'Light.', '[1,0]'), (2, 4, 'Strong.', '[0,1]'), (3, 2, 'All of them.', '[0.7,0.7]');
SELECT cft_attach_documents('products', entity => 'category_id');
SELECT source, entity, text, why FROM cft_retrieve('Which trail shoes, and which boots?', '[1, 0]', k => 1, chunks => 3, edges => 'categories', documents => 'products');
SELECT source, entity, text FROM cft_retrieve('Sports?', '[1, 0]', k => 1, budget => 60, edges => 'categories', documents => 'products');
DROP TABLE products;

-- What is wrong is said.
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'title');
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'id');
SELECT cft_attach('shelf', tree => 'shop', label => 'shop');
ALTER TABLE categories ADD about jsonb;
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'about');
-- A label that the caller may not read is an error, as in any SELECT.
CREATE ROLE labels_reader;
GRANT USAGE ON SCHEMA public TO labels_reader;
GRANT SELECT (id, parent_id) ON categories TO labels_reader;
SET ROLE labels_reader;
SELECT * FROM cft_entities('shoes', 'categories');
RESET ROLE;
GRANT SELECT (name) ON categories TO labels_reader;
SET ROLE labels_reader;
SELECT entity FROM cft_entities('shoes', 'categories');
RESET ROLE;
-- A column that is renamed is not followed.
ALTER TABLE categories RENAME name TO title;
SELECT * FROM cft_entities('shoes', 'categories');
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'title');
:same;
-- Attached without labels, integer ids are names only where that is said; a NOTICE names the column of labels, or ids => true.
RESET client_min_messages;
SELECT cft_attach('categories', parent => 'parent_id', child => 'id');
SELECT entity FROM cft_entities('shoes in size 42', 'categories');
SELECT * FROM cft_resolve('42', edges => 'categories');
SELECT * FROM cft_context(42, edges => 'categories', up => 1, down => 0);
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', ids => true);
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', ids => true);
SELECT entity FROM cft_entities('shoes in size 42', 'categories');
SELECT * FROM cft_resolve('42', edges => 'categories');
SET cftrag.enable = off;
SELECT entity FROM cft_entities('shoes in size 42', 'categories');
RESET cftrag.enable;
-- Codes and labels are both names.
CREATE TABLE dx (code text PRIMARY KEY, under text, title text);
INSERT INTO dx VALUES ('K00', NULL, 'Kettles'), ('K00.1', 'K00', 'Leaking kettle'), ('K00.2', 'K00', NULL), ('K00.3', 'K00', 'K00.1');
SELECT cft_attach('dx', 'under', 'code', label => 'title', ids => true);
SELECT oracle.build('dx');
SELECT * FROM cft_entities('K00.1 and k00.2: leaking kettles, a ketle', 'dx');
SELECT * FROM cft_entities('K00.1 and k00.2: leaking kettles, a ketle', 'dx', within => '{K00.1}', match => 'exact');
SET cftrag.enable = off;
SELECT * FROM cft_entities('K00.1 and k00.2: leaking kettles, a ketle', 'dx');
RESET cftrag.enable;
SELECT q.mention, r.* FROM unnest('{K00.1,k00.2,Leaking kettles,K00.9}'::text[]) AS q (mention), cft_resolve(q.mention, edges => 'dx') AS r;
SELECT cft_attach('dx', 'under', 'code', label => 'title');
SELECT * FROM cft_entities('K00.1 and k00.2: leaking kettles, a ketle', 'dx');
SELECT cft_attach('dx', 'under', 'code', ids => true);
CREATE TABLE titles (code text, title text);
INSERT INTO titles VALUES ('K00', 'Pots'), ('K00', 'Kettles'), ('K00.2', 'Lid');
SELECT cft_attach_labels('titles', 'code', 'title', 'dx');
SELECT * FROM cft_entities('K00.1, K00, the lids of pots, K00.2', 'dx');
SET cftrag.enable = off;
SELECT * FROM cft_entities('K00.1, K00, the lids of pots, K00.2', 'dx');
RESET cftrag.enable;
DROP TABLE dx, titles;
CREATE TABLE numbered (up numeric(10), down numeric(10), note text);
SELECT cft_attach('numbered', 'up', 'down');
SELECT cft_attach('numbered', 'up', 'down', ids => true);
SELECT tgargs FROM pg_trigger WHERE tgrelid = 'numbered'::regclass AND tgname = 'cftrag_row';
DROP TABLE numbered;
-- Without labels, texts name other names anyway.
CREATE TABLE worded (parent text, child text);
SELECT cft_attach('worded', ids => true);
SELECT tgargs FROM pg_trigger WHERE tgrelid = 'worded'::regclass AND tgname = 'cftrag_row';
DROP TABLE worded;
SET client_min_messages = warning;
-- Of a table without labels nothing is labelled, whatever this session read before.
CREATE TABLE plain (parent text, child text);
INSERT INTO plain VALUES (NULL, 'shoes'), (NULL, 'boots');
SELECT cft_attach('plain');
SELECT oracle.build('plain');
SELECT label FROM cft_entities('shoes, boots', 'shelf');
SELECT entity, label FROM cft_entities('shoes, boots', 'plain');
SELECT cft_entities('shoes, boots', 'plain');
DROP TABLE plain;
DROP TABLE said, shelf, categories;
DROP FUNCTION labels_differ, labels_said;
DROP OWNED BY labels_reader;
DROP ROLE labels_reader;
