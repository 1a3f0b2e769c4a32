-- One question, the prompt that cft_prompt makes of it, what is in it and why, and the time of each part. demo/run: -v question=ID.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
\pset pager off
SET client_min_messages = warning;
SET jit = off;
SELECT question AS asked, embedding FROM questions WHERE id = :'question' \gset
\echo Question :question: :asked
\echo
\echo SELECT cft_prompt(question, embedding, k => 3, budget => 300);
\pset format unaligned
\pset tuples_only on
SELECT cft_prompt(:'asked', :'embedding', k => 3, budget => 300);
\pset tuples_only off
\pset format aligned
\echo
\echo What is in it, and why (cft_retrieve with the same arguments):
SELECT source, entity, document_id, round(distance::numeric, 2) AS dist, tokens, why FROM cft_retrieve(:'asked', :'embedding', k => 3, budget => 300);

CREATE FUNCTION pg_temp.median(statement text, asked text, embedding vector, n int = 100) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    times float8[];
    start timestamptz;
BEGIN
    FOR i IN -4 .. n LOOP           -- the first five warm up
        start := clock_timestamp();
        EXECUTE statement USING asked, embedding;
        IF i > 0 THEN times := times || 1e6 * extract(epoch FROM clock_timestamp() - start)::float8; END IF;
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t);
END $$;
\echo Time of each part, microseconds in the server, medians of 100 runs:
SELECT part, round(pg_temp.median(statement, :'asked', :'embedding')) AS microseconds
  FROM (VALUES (1, 'recognise the entities: cft_entities', 'SELECT count(*) FROM cft_entities($1)'),
               (2, 'their hierarchy as text: cft_context_text', 'SELECT cft_context_text(array_agg(entity)) FROM (SELECT DISTINCT entity FROM cft_entities($1)) AS e'),
               (3, 'the nearest documents: cft_nearest_documents', 'SELECT count(*) FROM cft_nearest_documents($2, 3)'),
               (4, 'documents about the entities: cft_chunks', 'SELECT count(*) FROM cft_chunks((SELECT array_agg(DISTINCT entity) FROM cft_entities($1)), embedding => $2)'),
               (5, 'all together: cft_retrieve', 'SELECT count(*) FROM cft_retrieve($1, $2, 3, budget => 300)'),
               (6, 'and the prompt: cft_prompt', 'SELECT cft_prompt($1, $2, 3, budget => 300)')) AS p(n, part, statement) ORDER BY n;
