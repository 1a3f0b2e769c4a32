-- Traps: a list given where there is one name, and hints that are pasted.
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
SELECT n, body FROM (VALUES ('{no,such}'), ('a')) AS r(n) LEFT JOIN cft_chunks(n) AS c ON true;
SELECT body FROM cft_chunks(entities => '{a,b}');
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
CREATE TABLE others (above text, below text, kind text);
SELECT * FROM paste($$SELECT cft_context('1', edges => 'others')$$) \gx
SELECT * FROM paste($$SELECT cft_build('others')$$) \gx
SELECT * FROM paste($$SELECT cft_attach('others')$$) \gx
SELECT * FROM paste($$SELECT cft_attach('others', parent => 'above')$$) \gx
SELECT cft_attach('others', parent => 'above', child => 'below', tree => 'kind');
ALTER TABLE others RENAME above TO "over it's";
SELECT * FROM paste($$SELECT cft_context('1', edges => 'others')$$) \gx
SELECT cft_attach('others', parent => 'over it''s', child => 'below', tree => 'kind');
ALTER TABLE others DISABLE TRIGGER USER;
SELECT * FROM paste($$SELECT cft_build('others')$$) \gx
CREATE TABLE other_names (name text, meant text);
SELECT * FROM paste($$SELECT cft_attach_aliases('other_names', edges => 'others')$$) \gx
SELECT * FROM paste($$SELECT * FROM cft_nearest_documents('[1]')$$) \gx
SELECT * FROM paste($$SELECT * FROM cft_nearest_documents('[1]', documents => 'others')$$) \gx
DROP SCHEMA hints CASCADE;
