-- Filters of documents: LangChain's operators over metadata and over columns named at attach, beside the conditions that somebody would write by hand.
\a\t
SET client_min_messages = warning;
CREATE TABLE bins (parent text, child text);
INSERT INTO bins VALUES ('all', 'left'), ('all', 'right');
CREATE DOMAIN price_of AS numeric(8, 2);
CREATE TABLE wares (id int PRIMARY KEY, body text DEFAULT 'a ware', bin text, embedding vector(2) DEFAULT '[1,1]', meta jsonb,
    price price_of, stock int, active boolean, made date, code char(6), "na me" text);
INSERT INTO wares (id, bin, meta, price, stock, active, made, code, "na me")
SELECT n, CASE n % 2 WHEN 0 THEN 'left' ELSE 'right' END,
       CASE WHEN n % 11 = 0 THEN NULL ELSE jsonb_strip_nulls(jsonb_build_object('n', n % 7, 't', chr(97 + n % 5), 'tags', jsonb_build_array(n % 3, 'x'), 'deep', jsonb_build_object('a', n % 2), 'odd', CASE WHEN n % 5 = 0 THEN to_jsonb('5'::text) WHEN n % 5 = 1 THEN to_jsonb(5) END)) END,
       CASE WHEN n % 9 = 0 THEN NULL ELSE n * 1.25 END, n % 8, n % 4 = 1, date '2024-01-01' + n, 'c' || n % 6, 'N''' || n % 4
  FROM generate_series(1, 60) AS n;
SELECT cft_attach('bins');
SELECT cft_attach_documents('wares', entity => 'bin', metadata => 'meta', columns => '{price,stock,active,made,code,na me}', show => '{id}');
SELECT cft_attach_documents('wares', entity => 'bin', metadata => 'meta', columns => '{price,stock,active,made,code,na me}', show => '{id}');
CREATE FUNCTION filtered(filter jsonb) RETURNS int[] LANGUAGE sql AS $$
    SELECT array_agg(document_id::int ORDER BY document_id::int) FROM cft_nearest_documents('[1,1]', 100, documents => 'wares', filter => filter) $$;
CREATE FUNCTION by_hand(condition text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    found int[];
BEGIN
    EXECUTE 'SELECT array_agg(id ORDER BY id) FROM wares WHERE ' || condition INTO found;
    RETURN found;
END $$;
CREATE TABLE cases (filter jsonb, condition text);
INSERT INTO cases VALUES ('{}', 'meta IS NOT NULL'),
    ('{"n": 3}', 'meta @> ''{"n": 3}'''),
    ('{"tags": [1]}', 'meta @> ''{"tags": [1]}'''),
    ('{"deep": {"a": 1}, "t": "b"}', 'meta @> ''{"deep": {"a": 1}, "t": "b"}'''),
    ('{"n": {"$eq": 3}}', '(meta ->> ''n'')::int = 3'),
    ('{"tags": {"$eq": [1, "x"]}}', 'meta -> ''tags'' = ''[1, "x"]'''),
    ('{"n": {"$ne": 3}}', '(meta ->> ''n'')::int <> 3'),
    ('{"n": {"$lt": 3}}', '(meta ->> ''n'')::int < 3'),
    ('{"n": {"$gte": 2.5, "$lte": 5}}', '(meta ->> ''n'')::int BETWEEN 2.5 AND 5'),
    ('{"t": {"$gt": "b"}}', 'meta ->> ''t'' > ''b'''),
    ('{"odd": {"$gte": 5}}', 'id % 5 = 1 AND meta IS NOT NULL'),
    ('{"odd": {"$gte": "5"}}', 'id % 5 = 0 AND meta IS NOT NULL'),
    ('{"odd": {"$in": [5, "6"]}}', 'id % 5 = 1 AND meta IS NOT NULL'),
    ('{"odd": {"$nin": [5, "6"]}}', 'id % 5 = 0 AND meta IS NOT NULL'),
    ('{"n": {"$in": []}}', 'false'),
    ('{"n": {"$between": [2, 4]}}', '(meta ->> ''n'')::int BETWEEN 2 AND 4'),
    ('{"odd": {"$exists": true}}', 'meta ? ''odd'''),
    ('{"odd": {"$exists": false}}', 'meta ? ''odd'' IS NOT TRUE'),
    ('{"t": {"$like": "_"}}', 'meta ->> ''t'' LIKE ''_'''),
    ('{"t": {"$ilike": "B%"}}', 'meta ->> ''t'' ILIKE ''B%'''),
    ('{"price": 2.50}', 'price = 2.5'),
    ('{"price": {"$lt": 20, "$gt": 1e1}}', 'price < 20 AND price > 10'),
    ('{"price": {"$eq": null}}', 'price IS NULL'),
    ('{"price": {"$ne": null}}', 'price IS NOT NULL'),
    ('{"price": {"$exists": false}}', 'price IS NULL'),
    ('{"price": {"$nin": [1.25, 2.5]}}', 'price NOT IN (1.25, 2.5)'),
    ('{"price": {"$between": [5, "7.5"]}}', 'price BETWEEN 5 AND 7.5'),
    ('{"stock": {"$lt": 2.5}}', 'stock < 2.5'),
    ('{"stock": {"$in": [1, 2, 99999999999]}}', 'stock IN (1, 2)'),
    ('{"active": true}', 'active'),
    ('{"active": {"$ne": true}}', 'NOT active'),
    ('{"made": {"$gte": "2024-02-01"}}', 'made >= ''2024-02-01'''),
    ('{"made": {"$in": ["2024-01-05", "2024-01-06"]}}', 'made IN (''2024-01-05'', ''2024-01-06'')'),
    ('{"code": "c3"}', 'code = ''c3'''),
    ('{"code": {"$in": ["c1", "c2"]}}', 'code IN (''c1'', ''c2'')'),
    ('{"code": {"$like": "c%"}}', 'code LIKE ''c%'''),
    ('{"na me": "N''2"}', '"na me" = ''N''''2'''),
    ('{"stock": 3, "n": 3}', 'stock = 3 AND meta @> ''{"n": 3}'''),
    ('{"$or": [{"stock": 3}, {"n": {"$gt": 5}}]}', 'stock = 3 OR (meta ->> ''n'')::int > 5'),
    ('{"$and": [{"stock": {"$gt": 3}}, {"$not": {"active": true}}, {"t": "a"}]}', 'stock > 3 AND NOT active AND meta @> ''{"t": "a"}'''),
    ('{"$or": []}', 'false'),
    ('{"$and": []}', 'true'),
    ('{"x'' || (SELECT 1) || ''": {"$like": "''; DROP TABLE wares; --"}}', 'false'),
    ('{"a\"b\\c": {"$eq": "\"\u0001"}}', 'false');
SELECT filter, cardinality(filtered(filter)) AS found, filtered(filter) IS NOT DISTINCT FROM by_hand(condition) AS right FROM cases;
-- In every search, and in cft_tree_search.
CREATE FUNCTION others(filter jsonb) RETURNS TABLE (f text, ids text[]) LANGUAGE sql AS $$
    SELECT 'retrieve', array_agg(document_id ORDER BY document_id::int) FROM cft_retrieve('left', '[1,1]', 100, documents => 'wares', edges => 'bins', filter => filter) WHERE source = 'document'
    UNION ALL SELECT 'chunks', array_agg(document_id ORDER BY document_id::int) FROM cft_retrieve('all', '[1,1]', 0, chunks => 100, documents => 'wares', edges => 'bins', filter => filter) WHERE source = 'chunk'
    UNION ALL SELECT 'entities', array_agg(entity) FROM cft_nearest_entities('[1,1]', 100, documents => 'wares', edges => 'bins', filter => filter)
    UNION ALL SELECT mode, array_agg(entity ORDER BY entity) FROM unnest('{collapsed,prune}'::text[]) AS mode, cft_tree_search('[1,1]', mode => mode, edges => 'bins', documents => 'wares', filter => filter) GROUP BY mode $$;
SELECT * FROM others('{"stock": {"$lt": 1}}');
SELECT * FROM others('{"price": {"$lt": 3}, "t": {"$ne": "a"}}');
-- What is not understood.
SELECT filtered('[1]');
SELECT filtered('{"n": {"$foo": 1}}');
SELECT filtered('{"$foo": 1}');
SELECT filtered('{"n": {"$in": 3}}');
SELECT filtered('{"n": {"$lt": null}}');
SELECT filtered('{"stock": {"$lt": "many"}}');
SELECT filtered('{"made": "never"}');
SELECT filtered((SELECT jsonb_build_object('$or', jsonb_agg(jsonb_build_object('n', n))) FROM generate_series(1, 300) AS n));
SELECT filtered(jsonb_build_object('t', repeat('x', 2000000)));
SELECT * FROM cft_tree_search('[1,1]', edges => 'bins', documents => 'wares', filter => '{"n": {"$foo": 1}}');
-- Columns' indexes serve.
CREATE TABLE plain (id int PRIMARY KEY, body text DEFAULT 'a text', embedding vector(2) DEFAULT '[1,1]', stock int, name text);
INSERT INTO plain (id, stock, name) SELECT n, n, 'n' || n FROM generate_series(1, 5000) AS n;
CREATE INDEX plain_stock ON plain (stock);
CREATE INDEX plain_name ON plain (name);
ANALYZE plain;
SELECT cft_attach_documents('plain', columns => '{stock,name}', show => '{id}');
CREATE FUNCTION plan_has(filter jsonb, name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    statement text := cftrag_internal.cft_search_statement('plain', 'nearest', filter => filter);
BEGIN
    SELECT replace(statement, '$4', quote_literal(c.parameters::text) || '::text[]') INTO statement FROM cftrag_internal.cft_condition('plain', filter, 4) AS c;
    EXECUTE 'EXPLAIN (FORMAT json) ' || replace(statement, '$1', '''[1,1]''') INTO plan;
    RETURN plan::text ~ name;
END $$;
SELECT plan_has('{"stock": 7}', 'plain_stock') AS equal, plan_has('{"stock": {"$in": [7, 8]}}', 'plain_stock') AS some, plan_has('{"stock": {"$between": [7, 9]}}', 'plain_stock') AS range, plan_has('{"name": "n7"}', 'plain_name') AS text;
-- Without metadata a key is none; a column that is renamed is followed.
SELECT document_id FROM cft_nearest_documents('[1,1]', documents => 'plain', filter => '{"key": 1}');
ALTER TABLE plain RENAME stock TO left_over;
SELECT document_id FROM cft_nearest_documents('[1,1]', documents => 'plain', filter => '{"left_over": 7}');
SELECT document_id FROM cft_nearest_documents('[1,1]', documents => 'plain', filter => '{"stock": 7}');
-- What cannot be a column of filters.
SELECT cft_attach_documents('wares', columns => '{meta}');
SELECT cft_attach_documents('wares', columns => '{embedding}');
SELECT cft_attach_documents('wares', columns => '{nothing}');
CREATE TYPE mood AS ENUM ('ok');
ALTER TABLE wares ADD mood mood, ADD spot point;
SELECT cft_attach_documents('wares', columns => '{mood}');
SELECT cft_attach_documents('wares', columns => '{spot}');
-- A NULL is no column, and one that is named twice is one.
SELECT cft_attach_documents('wares', columns => '{NULL,price,price}');
SELECT columns FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()', 'wares');
DROP TABLE bins, wares, cases, plain;
DROP DOMAIN price_of;
DROP TYPE mood;
DROP FUNCTION filtered, by_hand, others, plan_has;
