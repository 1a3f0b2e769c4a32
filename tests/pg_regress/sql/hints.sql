-- Traps: a list given where there is one name, and hints that are pasted.
\a\t
CREATE SCHEMA hints;
SET search_path = hints, public;
\set VERBOSITY terse

-- What a client makes of a list of names, given to a function of one, says so; a name of a row, or of an entity, is never taken for a list.
CREATE TABLE tags (id text PRIMARY KEY, up text REFERENCES tags);
INSERT INTO tags VALUES ('a', NULL), ('b', 'a'), ('{odd}', 'b');
SELECT cft_attach('tags', parent => 'up', child => 'id');
\set VERBOSITY default
SELECT * FROM cft_context('{a,b}');
\set VERBOSITY terse
SELECT cft_context('{a,b}');
SELECT cft_context_text('{a,b}');
SELECT cft_context_json('{"a b"}');
SELECT cft_path_prefix('{a}');
SELECT cft_context('{}', 0, 0);
PREPARE one(text) AS SELECT relative FROM cft_context($1) ORDER BY 1;
EXECUTE one('{a,b}');
SET plan_cache_mode = force_generic_plan;
EXECUTE one('{a,b}');
EXECUTE one('{odd}');
RESET plan_cache_mode;
SELECT relative FROM cft_context('{odd}');
SELECT * FROM cft_context('{odd}', 0, 0);
SELECT cft_context_text('{odd}'), cft_path_prefix('{odd}');
SELECT n, relative FROM (VALUES ('{no,such}'), ('a')) AS r(n) LEFT JOIN cft_context(n) AS c ON true;
SELECT n, cft_context_text(n), cft_path_prefix(n) FROM (VALUES ('{no,such}'), ('b')) AS r(n);
SELECT DISTINCT entity FROM cft_context(entities => '{a,b}') ORDER BY 1;
CREATE TABLE notes (id int, body text, embedding vector(1), about text);
INSERT INTO notes VALUES (1, 'about b', '[1]', 'b');
SELECT cft_attach_documents('notes', id => 'id', body => 'body', embedding => 'embedding', entity => 'about');
SELECT * FROM cft_chunks('{a,b}');
SELECT cft_neighbors('{a,b}');
SELECT cft_depth('{a,b}');
SELECT cft_tree('{a,b}');
SELECT cft_subtree_size('{a,b}');
SELECT cft_lca('a', '{b}');
SELECT cft_path('{a}', 'b');
SELECT cft_explain_path('a', '{b}');
SELECT n, depth FROM (VALUES ('{no,such}'), ('a')) AS r(n) LEFT JOIN cft_depth(n) ON true;
INSERT INTO tags VALUES ('{alone}', NULL);
SELECT depth FROM cft_depth('{alone}');
SELECT count(*) FROM cft_context('{alone}');
SELECT n, body FROM (VALUES ('{no,such}'), ('a')) AS r(n) LEFT JOIN cft_chunks(n) AS c ON true;
SELECT body FROM cft_chunks(entities => '{a,b}');
-- A variable of a function is a parameter, too, in each kind of plan.
CREATE FUNCTION rows_of(name text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM cft_context(name)); END $$;
CREATE FUNCTION text_of(name text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN cft_context_text(name); END $$;
SELECT rows_of('b'), text_of('b');
SELECT rows_of('{no,such}');
SELECT text_of('{no,such}');
SELECT entity, method FROM cft_resolve('{a,b}');
SELECT cft_detach('notes');
DEALLOCATE one;

-- Each hint that is a statement can be typed as it stands, and mends what the error was about.
CREATE FUNCTION paste(statement text) RETURNS TABLE(error text, hint text, again text) LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE statement;
        error := 'none';
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
        BEGIN
            EXECUTE substring(hint FROM '(?:SELECT|ALTER|CREATE) .*;');
            EXECUTE statement;
            again := 'works';
        EXCEPTION WHEN null_value_not_allowed THEN again := 'no statement'; WHEN OTHERS THEN again := SQLERRM;
        END;
    END;
    RETURN NEXT;
END $$;
SELECT cft_detach('tags');
SELECT * FROM paste($$SELECT cft_context('a', edges => 'tags')$$) \gx
CREATE TABLE plain_names (parent text, child text, "it's" text);
SELECT * FROM paste($$SELECT cft_context('a', edges => 'plain_names')$$) \gx
CREATE TABLE "Odd 'one" (id int, parent_id int);
SELECT * FROM paste($$SELECT cft_context('1', edges => '"Odd ''one"')$$) \gx
CREATE TABLE parted (parent text, child text) PARTITION BY LIST (parent);
SELECT * FROM paste($$SELECT cft_context('1', edges => 'parted')$$) \gx
CREATE VIEW seen AS SELECT * FROM plain_names;
SELECT * FROM paste($$SELECT cft_context('1', edges => 'seen')$$) \gx
CREATE TABLE numbers (id numeric PRIMARY KEY, up numeric REFERENCES numbers);
SELECT * FROM paste($$SELECT cft_context('1', edges => 'numbers')$$) \gx
CREATE TABLE same (id int PRIMARY KEY REFERENCES same);
SELECT * FROM paste($$SELECT cft_context('1', edges => 'same')$$) \gx
CREATE TABLE two (id int PRIMARY KEY, mgr int REFERENCES two, sub int REFERENCES two);
SELECT * FROM paste($$SELECT cft_context('1', edges => 'two')$$) \gx
CREATE TABLE others (above text, below text, kind text);
SELECT * FROM paste($$SELECT cft_context('1', edges => 'others')$$) \gx
SELECT * FROM paste($$SELECT cft_build('others')$$) \gx
SELECT * FROM paste($$SELECT cft_attach('others')$$) \gx
SELECT * FROM paste($$SELECT cft_attach('others', parent => 'above')$$) \gx
SELECT cft_attach('others', parent => 'above', child => 'below', tree => 'kind');
ALTER TABLE others RENAME above TO "over it's";
SELECT * FROM paste($$SELECT cft_context('1', edges => 'others')$$) \gx
SELECT cft_attach('others', parent => 'over it''s', child => 'below', tree => 'kind');
CREATE TABLE other_names (name text, meant text);
SELECT * FROM paste($$SELECT cft_attach_aliases('other_names', edges => 'others')$$) \gx
SELECT * FROM paste($$SELECT * FROM cft_nearest_documents('[1]')$$) \gx
SELECT * FROM paste($$SELECT * FROM cft_nearest_documents('[1]', documents => 'others')$$) \gx

CREATE TABLE pages (doc int, content text, emb vector(1));
SELECT * FROM paste($$SELECT * FROM cft_nearest_documents('[1]', documents => 'pages')$$) \gx
CREATE TABLE "my pages" (id int, body text, embedding vector(1));
SELECT * FROM paste($$SELECT * FROM cft_nearest_documents('[1]', documents => '"my pages"')$$) \gx
SELECT cft_detach('"my pages"');
DROP TABLE pages, "my pages";

-- An error inside cft_retrieve and cft_prompt has ten lines of CONTEXT at most.
CREATE TABLE up_down (parent text, child text);
INSERT INTO up_down SELECT 'n' || n / 2, 'n' || n FROM generate_series(1, 200) AS n;
SELECT cft_attach('up_down');
CREATE TABLE texts (id int, body text, embedding vector(2), about text, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
INSERT INTO texts SELECT n, 'text ' || n, format('[%s,1]', n)::vector, 'n' || n FROM generate_series(1, 100) AS n;
SELECT cft_attach_documents('texts', id => 'id', body => 'body', embedding => 'embedding', entity => 'about');
CREATE FUNCTION fails() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'a policy fails'; END $$;
CREATE ROLE regress_cft_traps;
GRANT USAGE ON SCHEMA hints TO regress_cft_traps;
GRANT SELECT ON up_down, texts TO regress_cft_traps;
CREATE POLICY fails ON texts USING (fails());
CREATE POLICY fails ON up_down USING (fails());
CREATE FUNCTION lines_of_context(call text) RETURNS TABLE(error text, at_most_ten boolean) LANGUAGE plpgsql AS $$
DECLARE
    context text;
BEGIN
    EXECUTE 'SELECT ' || call;
    RETURN QUERY SELECT 'none', NULL::boolean;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
    -- Without the two of this function.
    at_most_ten := (SELECT count(*) FROM regexp_split_to_table(context, E'\n') AS l WHERE l !~ 'lines_of_context|^SQL statement "SELECT (count|cft_prompt)') <= 10;
    RETURN NEXT;
END $$;
CREATE VIEW calls AS SELECT f || a AS call, m FROM unnest(ARRAY['cft_retrieve', 'cft_prompt']) AS f,
    (VALUES ('n9', '[1,1,1]', ', edges => ''up_down'''), ('n9', '[1,1]', ', edges => ''up_down'', up => 2000'), ('n9', '[1,1]', ', edges => ''up_down'', budget => -1'), ('n9', '[1,1]', ', edges => ''texts'''),
            ('n9', '[1,1]', ', edges => ''up_down'', documents => ''up_down''')) AS v(q, e, o),
    unnest(ARRAY['cft', 'text', 'naive', 'ann_tree', 'ann_graph', 'hybrid', 'none']) AS m, LATERAL (SELECT format('(%L, %L, mode => %L%s)', q, e, m, o)) AS x(a);
GRANT SELECT ON calls TO regress_cft_traps;
SELECT l.error, array_agg(DISTINCT m ORDER BY m) AS modes, count(*) FROM calls, lines_of_context('count(*) FROM ' || call) AS l WHERE at_most_ten GROUP BY 1 ORDER BY 1;
SELECT call, l.* FROM calls, lines_of_context('count(*) FROM ' || call) AS l WHERE NOT at_most_ten;
SELECT * FROM lines_of_context($$cft_prompt('n9', '[1,1]', edges => 'up_down', mode => 'hybrid')$$);
SELECT cft_detach('texts');
SELECT cft_attach_documents('texts', entity => 'about', search => 'words');
SELECT * FROM lines_of_context($$cft_prompt('n9', '[1,1]', edges => 'up_down', template => '{nope}')$$);
ALTER TABLE texts ENABLE ROW LEVEL SECURITY;
SET ROLE regress_cft_traps;
SELECT l.*, count(*) FROM calls, lines_of_context(format('count(*) FROM %s', replace(replace(call, '[1,1,1]', '[1,1]'), 'budget => -1', 'budget => 9'))) AS l WHERE m <> 'none' AND l.error ~ 'policy' GROUP BY 1, 2;
RESET ROLE;
SET ROLE regress_cft_traps;
SELECT * FROM lines_of_context($$cft_prompt('n9', NULL, edges => 'up_down', mode => 'hybrid')$$);
RESET ROLE;
ALTER TABLE texts DISABLE ROW LEVEL SECURITY;
ALTER TABLE up_down ENABLE ROW LEVEL SECURITY;
SET ROLE regress_cft_traps;
SELECT l.*, count(*) FROM calls, lines_of_context(format('count(*) FROM %s', replace(replace(call, '[1,1,1]', '[1,1]'), 'budget => -1', 'budget => 9'))) AS l WHERE m <> 'none' AND l.error ~ 'policy' GROUP BY 1, 2;
RESET ROLE;
ALTER TABLE up_down DISABLE ROW LEVEL SECURITY;

-- Where an HNSW index would end (hnsw.ef_search), the search goes on.
CREATE INDEX ON texts USING hnsw (embedding vector_cosine_ops);
ANALYZE texts;
SET enable_seqscan = off;
SET hnsw.ef_search = 10;
SELECT count(*) FROM cft_nearest_documents('[1,1]', 10);
SELECT count(*) FROM cft_nearest_documents('[1,1]', 20);
SET hnsw.ef_search = 20;
SELECT count(*) FROM cft_nearest_documents('[1,1]', 20);
RESET hnsw.ef_search;
RESET enable_seqscan;
SELECT count(*) FROM cft_nearest_documents('[1,1]', 1000);
-- What is not there, what was deleted since.
UPDATE texts SET embedding = NULL WHERE id > 30;
SELECT count(*) FROM cft_nearest_documents('[1,1]', 60);
DELETE FROM texts WHERE id > 10;
SELECT count(*) FROM cft_nearest_documents('[1,1]', 60);
SELECT count(*) FROM cft_nearest_documents('[1,1]', 2147483647);

-- A document without a text, or without an id, is one of the nearest and no chunk besides.
UPDATE texts SET body = NULL WHERE id = 9;
UPDATE texts SET id = NULL WHERE id = 4;
SELECT source, document_id, text FROM cft_retrieve('n9', '[9,1]', k => 10, edges => 'up_down') WHERE source <> 'hierarchy' AND (text IS NULL OR document_id IS NULL);
INSERT INTO texts SELECT n, 'text ' || n, format('[%s,1]', n)::vector, 'n' || n FROM generate_series(11, 100) AS n;

-- A prepared statement is not planned again and again: what is not known is not estimated above what is.
PREPARE one(text) AS SELECT t.id FROM cft_context($1, edges => 'up_down') AS c JOIN texts AS t ON t.about = c.relative;
PREPARE many(text[]) AS SELECT t.id FROM cft_context($1, edges => 'up_down') AS c JOIN texts AS t ON t.about = c.relative;
PREPARE named(text) AS SELECT t.id FROM cft_entities($1, edges => 'up_down') AS c JOIN texts AS t ON t.about = c.entity;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['n150', 'nobody', 'n1', 'n9', 'n3', 'n7', 'n8', 'n2'] LOOP
        EXECUTE format('EXECUTE one(%L)', name);
        EXECUTE format('EXECUTE many(%L)', ARRAY[name]);
        EXECUTE format('EXECUTE named(%L)', name);
    END LOOP;
END $$;
SELECT name, custom_plans, generic_plans FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;
-- Of several tables of documents one must be named, by cft_resolve as by others.
CREATE TABLE more_texts (id int, body text, embedding vector(2), about text);
INSERT INTO more_texts VALUES (1, 'more', '[0,1]', 'n5');
SELECT cft_attach_documents('more_texts', entity => 'about');
SELECT * FROM cft_resolve('nothing like it', '[0,1]', edges => 'up_down');
SELECT entity, method FROM cft_resolve('nothing like it', '[0,1]', edges => 'up_down', documents => 'more_texts');
SELECT cft_attach_documents('more_texts', entity => 'abut');
DROP SCHEMA hints CASCADE;
DROP ROLE regress_cft_traps;
