-- Questions of five kinds, without embeddings: whether the gold document is among the ten that cft_retrieve returns, in its default mode (search attached) and
-- by the hierarchy alone. Runs after search.sql. `known`: by its name; `other name`: by a synonym; `unknown`: the entity is in no hierarchy, its document is
-- there; `one typo`; `class to members`: the documents of a class's children. Templates are ours; names and documents the ontology's.
CREATE TABLE template (n int, text text);
INSERT INTO template VALUES (0, 'What are the symptoms of %s?'), (1, 'How is %s treated, and what can I expect?'), (2, 'My daughter was told she has %s. Is it inherited?'),
    (3, 'Which tests would you recommend for %s?'), (4, 'Tell me everything about %s please');
CREATE TABLE target AS SELECT d.entity, ARRAY[d.id::text] AS gold, row_number() OVER (ORDER BY md5(d.entity)) AS n FROM documents AS d
    WHERE d.entity ~ '^[a-zA-Z0-9 -]{6,50}$' AND length(d.body) > 60 ORDER BY 3 LIMIT 480;
CREATE TABLE of_kind AS
    SELECT v.kind, format(t.text, v.name) AS question, d.entity, d.gold
      FROM target AS d JOIN template AS t ON t.n = d.n % 5,
           LATERAL (SELECT 'known', d.entity WHERE d.n <= 120
                    UNION ALL SELECT 'other name', (SELECT min(a.alias) FROM alias AS a WHERE a.entity = d.entity AND length(a.alias) > 8) WHERE d.n BETWEEN 121 AND 360
                    UNION ALL SELECT 'unknown', d.entity WHERE d.n > 360
                    UNION ALL SELECT 'one typo', typo(d.entity) WHERE d.n <= 160) AS v(kind, name) WHERE v.name IS NOT NULL
    UNION ALL
    SELECT 'class to members', format(t.text, e.parent), e.parent, array_agg(d.id::text)
      FROM (SELECT parent, row_number() OVER (ORDER BY md5(parent)) AS n, array_agg(child) AS children FROM entity_edges GROUP BY parent HAVING count(*) BETWEEN 3 AND 12 ORDER BY 2 LIMIT 120) AS e
      JOIN template AS t ON t.n = e.n % 5 JOIN documents AS d ON d.entity = ANY (e.children) GROUP BY t.text, e.parent;
-- The hierarchy without the unknown ones.
CREATE TABLE known_edges AS SELECT DISTINCT e.parent, e.child FROM entity_edges AS e
    WHERE NOT EXISTS (SELECT FROM of_kind AS k WHERE k.kind = 'unknown' AND k.entity IN (e.parent, e.child));
CREATE TABLE known_alias AS SELECT a.* FROM alias AS a WHERE NOT EXISTS (SELECT FROM of_kind AS k WHERE k.kind = 'unknown' AND k.entity = a.entity);
SELECT cft_attach('known_edges') \g /dev/null
SELECT cft_build('known_edges') \g /dev/null
SELECT cft_attach_aliases('known_alias', 'alias', 'entity', 'known_edges') \g /dev/null
SELECT cft_build('known_alias') \g /dev/null
ANALYZE;
CREATE TABLE kind_way (n int, way text, arguments text);
INSERT INTO kind_way VALUES (1, 'the default: 5 documents and 5 chunks', ''), (2, '10 chunks', ', k => 0, chunks => 10');
CREATE TABLE kind_found (n int, kind text, found float8, ms float8);
DO $$
DECLARE
    q record;
    w record;
    start timestamptz;
    ids text[];
BEGIN
    FOR q IN SELECT * FROM of_kind ORDER BY md5(question) LOOP
        FOR w IN SELECT * FROM kind_way ORDER BY kind_way.n LOOP
            start := clock_timestamp();
            EXECUTE format('SELECT array_agg(document_id) FROM cft_retrieve($1, NULL, edges => %L%s) WHERE source <> ''hierarchy''',
                           CASE q.kind WHEN 'unknown' THEN 'known_edges' ELSE 'entity_edges' END, w.arguments) INTO ids USING q.question;
            INSERT INTO kind_found VALUES (w.n, q.kind, (SELECT avg(coalesce((g = ANY (ids))::int, 0)) FROM unnest(q.gold) AS g), 1000 * extract(epoch FROM clock_timestamp() - start));
        END LOOP;
    END LOOP;
END $$;
\echo == Questions of five kinds, without embeddings: the share of gold documents among ten
SELECT w.way, f.kind, count(*) AS questions, round(avg(f.found)::numeric, 3) AS found, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f.ms)::numeric, 2) AS ms
  FROM kind_way AS w JOIN kind_found AS f USING (n) GROUP BY w.n, w.way, f.kind ORDER BY w.n, f.kind;
