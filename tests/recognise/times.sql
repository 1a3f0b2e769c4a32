-- The time to recognise 10,000 or :names names in a text of 200 words, compared with other methods. Runs after names.sql.
--
-- The names are those of the Disease Ontology, and combinations of 2 to 5 of their words. The 40 texts are joined definitions, cut at 200 words.
-- Wall time in the server in microseconds, median over the texts; each method gets each text, slow methods fewer.
SET client_min_messages = warning;
SET jit = off;
SELECT count(*) AS has_trgm FROM pg_available_extensions WHERE name = 'pg_trgm' \gset
\if :has_trgm
CREATE EXTENSION pg_trgm;
\endif
CREATE TABLE vocabulary AS SELECT row_number() OVER () AS i, w FROM (SELECT DISTINCT unnest(string_to_array(name, ' ')) AS w FROM name) AS v;
CREATE UNIQUE INDEX ON vocabulary (i);
SELECT setseed(0.5), (SELECT max(i) FROM vocabulary) AS words \gset
CREATE TABLE many AS
SELECT DISTINCT name FROM (
    SELECT 0 AS n, name FROM name WHERE 10000 > 0
    UNION ALL
    (SELECT n, string_agg(w, ' ' ORDER BY k) FROM
        (SELECT n, k, floor(random() * random() * :words)::bigint + 1 AS i FROM generate_series(1, :names) AS n, generate_series(1, 5) AS k WHERE k <= 2 + n % 4) AS d
        JOIN vocabulary USING (i) GROUP BY n ORDER BY n)) AS u;
CREATE TABLE few AS SELECT name FROM name ORDER BY md5(name) LIMIT 10000;
CREATE TABLE text_of_200 AS
SELECT n, array_to_string((string_to_array(string_agg(body, ' ' ORDER BY id), ' '))[1:200], ' ') AS body
  FROM (SELECT *, row_number() OVER (ORDER BY md5(id)) / 12 AS n FROM document) AS d GROUP BY n ORDER BY n LIMIT 40;
CREATE TABLE edge_few AS SELECT name AS parent, lead(name, 1, name) OVER (ORDER BY name) AS child FROM few;
CREATE TABLE edge_many AS SELECT name AS parent, lead(name, 1, name) OVER (ORDER BY name) AS child FROM many;
SELECT cft_attach('edge_few') \g /dev/null
SELECT cft_build('edge_few') \g /dev/null
SELECT cft_attach('edge_many') \g /dev/null
SELECT cft_build('edge_many') \g /dev/null
CREATE INDEX ON few (lower(name));
CREATE INDEX ON many (lower(name));
ANALYZE;

-- The usual solution: all runs of up to 8 words, looked up by an index on lower(name). The client makes them, and its time does not count.
ALTER TABLE text_of_200 ADD COLUMN ngrams text[];
UPDATE text_of_200 SET ngrams = (SELECT array_agg(DISTINCT array_to_string(w[i:i + k], ' ')) FROM (SELECT regexp_split_to_array(lower(body), '[^[:alnum:]'']+')) AS s (w),
       generate_series(1, cardinality(w)) AS i, generate_series(0, 7) AS k);
CREATE TABLE took (way text, names text, n bigint, us float8, rows bigint);
CREATE FUNCTION take(way text, names text, sql text, most int, turns int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t record; began timestamptz; rows bigint;
BEGIN
    FOR turn IN 1..turns LOOP
        FOR t IN SELECT * FROM text_of_200 ORDER BY n LIMIT most LOOP
            began := clock_timestamp();
            EXECUTE sql INTO rows USING t.body, t.ngrams;
            -- If there are several turns, the first is a warm-up.
            IF turn = turns OR turn > 1 THEN
                INSERT INTO took VALUES (way, names, t.n, extract(epoch FROM clock_timestamp() - began) * 1e6, rows);
            END IF;
        END LOOP;
    END LOOP;
END $$;
CREATE FUNCTION take_all(names text, with_trgm boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM take('(nothing: count of one row)', names, 'SELECT count(*) FROM (VALUES ($1)) AS v', 40, 4);
    PERFORM take('cft_entities', names, format('SELECT count(*) FROM cft_entities($1, %L)', 'edge_' || names), 40, 4);
    PERFORM take('n-grams, index on lower(name)', names, format('SELECT count(*) FROM %I WHERE lower(name) = ANY ($2)', names), 40, 2);
    PERFORM take('ILIKE', names, format('SELECT count(*) FROM %I WHERE $1 ILIKE ''%%'' || name || ''%%''', names), 1, 1);
    IF with_trgm AND names = 'few' THEN
        PERFORM take('pg_trgm, name <<% text', names, format('SELECT count(*) FROM %I WHERE name <<%% $1', names), 1, 1);
    END IF;
END $$;
SELECT take_all('few', :has_trgm > 0), take_all('many', :has_trgm > 0) \g /dev/null
WITH median AS (SELECT names, way, count(*) AS asked, percentile_cont(0.5) WITHIN GROUP (ORDER BY us)::numeric AS us,
                       percentile_cont(0.9) WITHIN GROUP (ORDER BY us)::numeric AS most, avg(rows) AS rows FROM took GROUP BY names, way)
SELECT m.names, m.way, m.asked, round(m.us, 1) AS median_us, round(m.most, 1) AS "90 % below", round(m.rows, 1) AS rows, round(m.us / c.us, 1) AS ratio
  FROM median AS m JOIN median AS c ON c.names = m.names AND c.way = 'cft_entities' ORDER BY m.names, m.us;
SELECT (SELECT count(*) FROM few) AS few, (SELECT count(*) FROM many) AS many;
SELECT edges, entities, memory_bytes / entities AS bytes_per_entity, image_calls, lookups / nullif(image_calls, 0) AS windows FROM pg_stat_cftrag WHERE edges::text LIKE 'edge_%';
