-- cft_context(text[]): groups in the order of first occurrence, duplicates and NULLs once or not at all, the same rows as one by one.
\a\t
SET client_min_messages = warning;
CREATE TABLE many (tree text, parent text, child text);
INSERT INTO many VALUES ('t', 'a', 'b'), ('t', 'b', 'c'), ('t', 'c', 'd'), ('s', 'b', 'a'), (NULL, 'x', 'c');
SELECT cft_attach('many', tree => 'tree');
SELECT oracle.build('many');

SELECT * FROM cft_context(ARRAY['c', 'a', 'c', NULL, 'nobody', 'b'], 1, 0);
SELECT * FROM cft_context(ARRAY['b', 'a'], 1, 1, 'many');
SELECT * FROM cft_context(entities => ARRAY['d'], up => 2, down => 0);
SELECT * FROM cft_context('{}'::text[]);
SELECT * FROM cft_context(ARRAY[NULL]::text[]);
SELECT * FROM cft_context(NULL::text[]);
SELECT * FROM cft_context(ARRAY['a'], NULL);
SELECT * FROM cft_context(ARRAY['a'], 1, NULL);
-- Any number of dimensions and any lower bound, as unnest reads them.
SELECT * FROM cft_context(ARRAY[['d', 'a'], ['a', 'b']], 1, 0);
SELECT * FROM cft_context('[5:6]={b,a}'::text[], 1, 0);
-- From a subquery, and correlated.
SELECT * FROM cft_context(ARRAY(SELECT child FROM many WHERE tree = 't' ORDER BY child), 1, 0);
SELECT v.k, c.entity, c.relative FROM (VALUES (1, '{a,b}'::text[]), (2, '{}'), (3, NULL), (4, '{d}')) AS v(k, e), LATERAL cft_context(v.e, 1, 0) AS c;
-- The same rows as asking one by one.
SELECT count(*) AS rows, count(*) FILTER (WHERE one IS DISTINCT FROM together) AS different
  FROM (SELECT row_number() OVER () AS n, c::text AS together FROM cft_context(ARRAY['d', 'b', 'a', 'x', 'c'], 3, 3) AS c) AS x
  FULL JOIN (SELECT row_number() OVER () AS n, c::text AS one
               FROM unnest(ARRAY['d', 'b', 'a', 'x', 'c']) AS e, LATERAL cft_context(e, 3, 3) AS c) AS y USING (n);
-- A thousand at once.
INSERT INTO many SELECT 'big', 'p' || i / 10, 'p' || i FROM generate_series(1, 3000) AS i;
SELECT oracle.same(ARRAY(SELECT 'p' || i FROM generate_series(1, 1000) AS i ORDER BY i % 7, i), 3, 1, 'many');
SELECT oracle.same(ARRAY(SELECT 'p' || i % 10 FROM generate_series(1, 1000) AS i), 2, 3, 'many');
SELECT * FROM cft_verify('many');
DROP TABLE many;
