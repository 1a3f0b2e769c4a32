-- What a prompt costs beside the vector search under it: the five nearest documents by a statement by hand, by cft_nearest_documents, and with the
-- hierarchy and chunks (mode cft; the last one hybrid). In the server, the ways taking turns, each question twice, the second time counts. And the first call of a session.
SET client_min_messages = warning;
CREATE TABLE cost (way int, us float8);
DO $$
DECLARE
    q record;
    start timestamptz;
BEGIN
    FOR q IN SELECT question, embedding, again FROM questions, generate_series(0, 1) AS again ORDER BY again, id LOOP
        FOR way IN 0 .. 6 LOOP
            start := clock_timestamp();
            CASE way
                WHEN 0 THEN PERFORM d.id, d.entity, d.body, d.embedding <=> q.embedding FROM documents AS d ORDER BY d.embedding <=> q.embedding LIMIT 5;
                WHEN 1 THEN PERFORM * FROM cft_nearest_documents(q.embedding, 5);
                WHEN 2 THEN PERFORM * FROM cft_retrieve(q.question, q.embedding, chunks => 0, mode => 'cft', edges => 'entity_edges');
                WHEN 3 THEN PERFORM * FROM cft_retrieve(q.question, q.embedding, mode => 'cft', edges => 'entity_edges');
                WHEN 4 THEN PERFORM cft_prompt(q.question, q.embedding, chunks => 0, mode => 'cft', edges => 'entity_edges');
                WHEN 5 THEN PERFORM cft_prompt(q.question, q.embedding, mode => 'cft', edges => 'entity_edges');
                ELSE PERFORM cft_prompt(q.question, q.embedding, mode => 'hybrid', edges => 'entity_edges');
            END CASE;
            IF q.again = 1 THEN
                INSERT INTO cost VALUES (way, 1e6 * extract(epoch FROM clock_timestamp() - start));
            END IF;
        END LOOP;
    END LOOP;
END $$;
\echo
\echo == A prompt beside the vector search under it, microseconds
SELECT ('{the statement by hand,cft_nearest_documents,"cft_retrieve, no chunks",cft_retrieve,"cft_prompt, no chunks",cft_prompt,"cft_prompt, hybrid"}'::text[])[c.way + 1] AS way,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY c.us)) AS p50, round(percentile_cont(0.95) WITHIN GROUP (ORDER BY c.us)) AS p95,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY c.us) - (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY h.us) FROM cost AS h WHERE h.way = 0)) AS more
  FROM cost AS c GROUP BY c.way ORDER BY c.way;
SELECT id AS first FROM questions ORDER BY id LIMIT 1 \gset
\echo The first call of a session and the second: a statement by hand, then cft_prompt
\connect
\timing on
SELECT count(*) FROM (SELECT d.id FROM documents AS d ORDER BY d.embedding <=> (SELECT embedding FROM questions WHERE id = :'first') LIMIT 5) AS z;
\connect
SELECT length(cft_prompt(question, embedding, edges => 'entity_edges')) FROM questions WHERE id = :'first';
SELECT length(cft_prompt(question, embedding, edges => 'entity_edges')) FROM questions WHERE id = :'first';
\timing off
DROP TABLE cost;
