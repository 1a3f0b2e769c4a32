-- Whatever a session's settings are, literals mean what they say: here what is made of texts, in each of them.
\a\t
SET client_min_messages = warning;
SET escape_string_warning = off;
-- No function of ours has a backslash in a plain literal, which standard_conforming_strings gives another meaning.
SELECT p.oid::regprocedure AS depends_on_a_setting
  FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'cftrag'
 WHERE p.prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c')
   AND position(chr(92) IN regexp_replace(regexp_replace(p.prosrc, '--[^' || chr(10) || ']*', '', 'g'), $$E'([^'$$ || repeat(chr(92), 2) || $$]|$$ || repeat(chr(92), 2) || $$.|'')*'$$, '', 'g')) > 0;
CREATE TABLE e (parent text, child text);
INSERT INTO e VALUES ('3', '3.2'), ('3', '3.10'), ('3.2', E'a\\b'), ('3.2', '"c''');
SELECT cft_attach('e');
CREATE TABLE d (id int, body text, embedding vector(2), entity text, tokens int);
INSERT INTO d VALUES (1, 'One. Two.', '[1,0]', '3.10'), (2, E'Back\\slash? Yes.', '[0,1]', E'a\\b');
SELECT cft_attach_documents('d', entity => 'entity');
CREATE TABLE s (entity text, summary text);
CREATE UNIQUE INDEX ON s (entity) WHERE summary IS NOT NULL;
CREATE FUNCTION all_of_it() RETURNS TABLE (what text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cft_attach_summaries('s', documents => 'd');
    PERFORM cft_rollup_mark('{3,3.2}');
    PERFORM cft_rollup();
    RETURN QUERY SELECT s.entity || ' ~ ' || s.summary FROM s WHERE summary IS NOT NULL ORDER BY 1;
    RETURN QUERY SELECT cftrag_internal.cft_natural(u) FROM unnest('{3.10,3.2,x}'::text[]) AS u;
    RETURN QUERY SELECT cft_summarize_extractive('n', '{a,b}', '{First sentence. Second one.,Also ss. yes}');
    RETURN QUERY SELECT string_agg(r.entity || ' ' || r.text, '; ' ORDER BY r.entity) FROM cftrag_internal.cft_texts('{3,3.10,3.2}', 'd', 'e') AS r;
    RETURN QUERY SELECT cft_context_text('3.2');
    RETURN QUERY SELECT cft_prompt('What is 3.2?', '[1,0]'::vector);
END $$;
CREATE TEMP TABLE as_usual AS SELECT * FROM all_of_it();
SELECT * FROM as_usual;
-- Each in a session of its own, as literals are read when a function is compiled.
CREATE TABLE usual AS TABLE as_usual;
\c -
SET client_min_messages = warning;
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SET quote_all_identifiers = on;
SELECT * FROM all_of_it() EXCEPT ALL TABLE usual;
\c -
SET client_min_messages = warning;
SET array_nulls = off;
SET transform_null_equals = on;
SET backslash_quote = off;
SET bytea_output = escape;
SET xmloption = document;
SET DateStyle = 'German, DMY';
SET IntervalStyle = sql_standard;
SET extra_float_digits = -15;
SET plpgsql.extra_errors = 'all';
SET plpgsql.variable_conflict = use_column;
SELECT * FROM all_of_it() EXCEPT ALL TABLE usual;
\c -
SET client_min_messages = warning;
SET plpgsql.variable_conflict = use_variable;
SET plpgsql.check_asserts = off;
SET check_function_bodies = off;
SET row_security = off;
SELECT * FROM all_of_it() EXCEPT ALL TABLE usual;
DROP FUNCTION all_of_it;
DROP TABLE e, d, s, usual CASCADE;
