-- cftrag.temperature: what becomes of lookups.
\a\t
SET client_min_messages = warning;
CREATE SCHEMA temperature;
SET search_path = temperature, public;
CREATE TABLE edges (parent text, child text);
INSERT INTO edges SELECT 'root', 'leaf ' || i FROM generate_series(1, 200) i;
SELECT cft_attach('edges');
SELECT cft_build('edges');
SHOW cftrag.temperature;
SELECT count(*) FROM cft_context('leaf 7', edges => 'edges');
SELECT count(*) FROM cft_context(ARRAY['leaf 8', 'leaf 7', 'leaf 8', 'nowhere'], edges => 'edges');
SELECT * FROM cft_hot_entities(10, 'edges');
-- Not counted; what was counted stays.
SET cftrag.temperature = off;
SELECT count(*) FROM cft_context('{leaf 9,leaf 7}'::text[], edges => 'edges');
SELECT * FROM cft_hot_entities(10, 'edges');
-- Sorted: commits that settle versions order some buckets each. The same answers.
SET cftrag.temperature = sort;
SELECT count(*) FROM (SELECT cft_context('leaf 9', edges => 'edges') FROM generate_series(1, 1000)) many;
DO $$ BEGIN
    FOR i IN 1 .. 100 LOOP
        INSERT INTO temperature.edges VALUES ('leaf 9', 'twig ' || i);
        COMMIT;
    END LOOP;
END $$;
SELECT entity, temperature > 800 AND temperature < 1200 AS about_a_thousand FROM cft_hot_entities(1, 'edges');
SELECT count(*) FROM cft_context('leaf 9', edges => 'edges');
SELECT * FROM cft_verify('edges');
SET cftrag.temperature = warm;
DROP SCHEMA temperature CASCADE;
