-- No cast of an ordinary role's type runs, whatever a superuser asks of tables with columns of such types (docs/security.md). Each of mallory's types has
-- an implicit cast to whatever a statement might want; the casts count how often they run, in a sequence, which no error takes back.
\a\t
SET client_min_messages = warning;
CREATE ROLE regress_cft_mallory;
CREATE SCHEMA casts AUTHORIZATION regress_cft_mallory;
SET ROLE regress_cft_mallory;
SET search_path = casts, public;
CREATE SEQUENCE ran;
CREATE TYPE of_enum AS ENUM ('a', 'b');
CREATE TYPE of_row AS (x text);
CREATE DOMAIN of_domain AS of_enum;
DO $$
DECLARE
    kind text;
    made record;
BEGIN
    FOREACH kind IN ARRAY '{of_enum,of_row}'::text[] LOOP
        FOR made IN SELECT * FROM (VALUES ('text', 'a'), ('varchar', 'a'), ('name', 'a'), ('jsonb', '{}'), ('int', '1'), ('bigint', '1'), ('numeric', '1'),
                                          ('float8', '1'), ('boolean', 't'), ('tsvector', 'a'), ('vector', '[1,2]'),
                                          ('uuid', '00000000-0000-0000-0000-000000000000')) AS v(type, value) LOOP
            EXECUTE format('CREATE FUNCTION %1$s_to_%2$s(%1$s) RETURNS %2$s LANGUAGE plpgsql AS $f$ BEGIN PERFORM nextval(''casts.ran''); RETURN %3$L; END $f$;
                            CREATE CAST (%1$s AS %2$s) WITH FUNCTION %1$s_to_%2$s(%1$s) AS IMPLICIT', kind, made.type, made.value);
        END LOOP;
    END LOOP;
    -- Registrations by hand, since the attach functions refuse most of these.
    FOREACH kind IN ARRAY '{of_enum,of_row,of_domain}'::text[] LOOP
        EXECUTE replace(replace($sql$
            CREATE TABLE r_K (parent K, child K, tree K, note text);
            CREATE TABLE e_K (parent text, child text);
            CREATE TABLE p_K (parent text, child text, pos int);
            CREATE TABLE n_K (alias text, entity text);
            CREATE TABLE s_K (entity K, summary K, embedding vector(2));
            CREATE TABLE v_K (entity K, embedding vector(2));
            CREATE TABLE d_K (id K, body K, embedding vector(2), entity K, tokens K, metadata K, search K);
            CREATE TABLE t_K (id K, body text, embedding vector(2));
            CREATE TABLE m_K (entity K, document K);
            INSERT INTO r_K VALUES (@, @, @, 'n');
            INSERT INTO e_K VALUES ('a', 'b'), ('a', 'c');
            INSERT INTO p_K VALUES ('a', 'b', 1), ('a', 'c', 2);
            INSERT INTO n_K VALUES ('also', 'a');
            INSERT INTO s_K VALUES (@, @, '[1,2]'), (@, NULL, NULL);
            INSERT INTO v_K VALUES (@, '[1,2]');
            INSERT INTO d_K VALUES (@, @, '[1,2]', @, @, @, @);
            INSERT INTO t_K VALUES (@, 'b', '[1,2]');
            INSERT INTO m_K VALUES (@, @);
            SELECT cft_attach('e_K'), cft_attach('p_K', sort => 'pos');
            SELECT cft_attach_aliases('n_K', edges => 'p_K');
            ALTER TABLE p_K ALTER pos TYPE K USING @;
            ALTER TABLE n_K ALTER alias TYPE K USING @;
            CREATE CONSTRAINT TRIGGER r AFTER UPDATE OF entity, summary, embedding ON s_K FROM e_K
                FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_summaries('entity', 'summary', 'embedding');
            ALTER TABLE s_K ENABLE ALWAYS TRIGGER r;
            CREATE CONSTRAINT TRIGGER r AFTER UPDATE OF entity, embedding ON v_K FROM e_K
                FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_entity_embeddings('entity', 'embedding');
            CREATE TRIGGER r AFTER UPDATE OF id, body, embedding, entity, tokens, metadata, search ON d_K
                WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_documents('id', 'body', 'embedding', 'entity', 'tokens', 'metadata', 'search');
            CREATE TRIGGER r AFTER UPDATE OF id, body, embedding ON t_K
                WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_documents('id', 'body', 'embedding');
            CREATE CONSTRAINT TRIGGER r AFTER UPDATE OF entity, document ON m_K FROM t_K
                FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_document_entities('entity', 'document')
            $sql$, 'K', kind), '@', CASE kind WHEN 'of_row' THEN $v$row('a')::of_row$v$ ELSE format('%L::%s', 'a', kind) END);
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA casts TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA casts TO PUBLIC;
RESET ROLE;
RESET search_path;
CREATE TEMP TABLE calls (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO calls (call) VALUES
    ($$cft_filter_relations('R', 'parent', 'child', 'tree')$$),
    ($$cft_build_hierarchy('R', 'parent', 'child', 'tree')$$),
    ($$cft_build_hierarchy('R', 'note', 'child')$$),
    ($$cft_check_edges('P')$$),
    ($$cft_context('a', 3, 3, 'P')$$),
    ($$cft_context_text('a', 3, 3, 'P')$$),
    ($$cft_roots('P')$$),
    ($$cft_path_prefix('{a}'::text[], 'P')$$),
    ($$cft_expand('{a,b}', edges => 'P')$$),
    ($$cft_entities('also a', 'P')$$),
    ($$cft_resolve('alsp', edges => 'P')$$),
    ($$cft_expand('{a,b}', edges => 'E', documents => 'D')$$),
    ($$cft_chunks('a'::text, '[1,2]', edges => 'E', documents => 'D')$$),
    ($$cft_chunks('a'::text, '[1,2]', edges => 'E', documents => 'T')$$),
    ($$cft_nearest_documents('[1,2]', edges => 'E', documents => 'D')$$),
    ($$cft_nearest_documents('[1,2]', edges => 'E', documents => 'D', within => '{a}')$$),
    ($$cft_nearest_documents('[1,2]', edges => 'E', documents => 'D', filter => '{}')$$),
    ($$cft_nearest_documents('[1,2]', edges => 'E', documents => 'T')$$),
    ($$cft_nearest_documents('[1,2]', edges => 'E', documents => 'T', within => '{a}')$$),
    ($$cft_nearest_entities('[1,2]', edges => 'E')$$),
    ($$cft_nearest_entities('[1,2]', edges => 'E', within => '{a}')$$),
    ($$cft_nearest_entities('[1,2]', edges => 'P', documents => 'D', filter => '{}')$$),
    ($$cft_tree_search('[1,2]', edges => 'E')$$),
    ($$cft_tree_search('[1,2]', mode => 'prune', edges => 'E')$$),
    ($$cft_tree_search('[1,2]', edges => 'P', documents => 'D', within => '{a}')$$),
    ($$cft_tree_search('[1,2]', edges => 'P', documents => 'T', within => '{a}')$$),
    ($$cft_tree_search('[1,2]', edges => 'P', documents => 'D', filter => '{}')$$),
    ($$cft_coarse_fine('[1,2]', edges => 'E', documents => 'D')$$),
    ($$cft_retrieve('a', '[1,2]', edges => 'E', documents => 'D')$$),
    ($$cft_retrieve('a', '[1,2]', edges => 'E', documents => 'D', filter => '{}')$$),
    ($$cft_retrieve('a', '[1,2]', edges => 'E', documents => 'D', mode => 'hybrid')$$),
    ($$cft_retrieve('a', '[1,2]', edges => 'E', documents => 'D', mode => 'naive')$$),
    ($$cft_prompt('a', '[1,2]', edges => 'E', documents => 'D')$$),
    ($$cftrag_internal.cft_texts('{a}', 'D', 'E')$$),
    ($$cft_rollup_status('E')$$),
    ($$cft_rollup_next(1, 'E')$$),
    ($$cft_rollup_mark('{a}', 'E')$$),
    ($$cft_rollup_done('a', 'x', NULL, 'E')$$),
    ($$cft_rollup(edges => 'E')$$),
    ($$cftrag_internal.cft_rollup_ready('{a}', true, 'E', 'S', 'entity', 'summary', true)$$),
    ($$cftrag_internal.cft_rollup_inputs('{a}', 'E', 'S', 'entity', 'summary', true, NULL, 0)$$);
-- The calls that ran a cast, and how the others ended.
CREATE FUNCTION pg_temp.ask(kind text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := (SELECT last_value + is_called::int FROM casts.ran);
    ended text := 'answered';
BEGIN
    BEGIN
        EXECUTE 'SELECT count(*) FROM ' || regexp_replace(call, $r$'([RPEDTS])'$r$, $r$'casts.\1_$r$ || kind || '''', 'g');
    EXCEPTION WHEN OTHERS THEN
        ended := SQLSTATE;
    END;
    RETURN CASE WHEN (SELECT last_value + is_called::int FROM casts.ran) > before THEN 'ran a cast: ' || call ELSE ended END;
END $$;
SELECT kind, pg_temp.ask(kind, call) AS ended, count(*)
  FROM unnest('{of_enum,of_row,of_domain}'::text[]) AS kind, calls GROUP BY 1, 2 ORDER BY 1, 2;
-- The casts do run where she says so.
SELECT parent::text FROM casts.r_of_enum;
SELECT is_called FROM casts.ran;
DROP SCHEMA casts CASCADE;
DROP OWNED BY regress_cft_mallory;
DROP ROLE regress_cft_mallory;
