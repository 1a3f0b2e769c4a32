-- The nearest documents and entities within others, with metadata: all k of them, against brute force; by every index, type and distance of pgvector's.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SET jit = off;
CREATE TABLE wood (tree text, parent text, child text);
INSERT INTO wood SELECT CASE WHEN n % 5 = 0 THEN 'b' ELSE 'a' END, (n / 7)::text, n::text FROM generate_series(1, 600) AS n;
INSERT INTO wood VALUES ('b', '3', '500'), (NULL, NULL, 'alone'), ('a', '40', '5');
SELECT cft_attach('wood', tree => 'tree');
SELECT oracle.build('wood');
CREATE TABLE docs (id int PRIMARY KEY, entity text, number int, body text, meta jsonb, embedding vector(8), half halfvec(8), sparse sparsevec(8));
SELECT setseed(0.3);
INSERT INTO docs SELECT n, n % 700, n % 700, 'document ' || n, jsonb_build_object('lang', (ARRAY['en', 'de', 'fr', 'nl'])[1 + n % 4], 'tags', jsonb_build_array('t' || n % 9)),
                        ARRAY(SELECT (random() - 0.5)::real FROM generate_series(1, 8) AS i WHERE n > 0)::vector FROM generate_series(1, 3000) AS n;
UPDATE docs SET half = embedding::halfvec, sparse = embedding::sparsevec;
UPDATE docs SET entity = 'alone' WHERE id = 77;
UPDATE docs SET embedding = NULL WHERE id % 100 = 0;
UPDATE docs SET meta = NULL WHERE id % 50 = 0;
CREATE INDEX ON docs (entity);
CREATE INDEX ON docs (number);
CREATE TABLE pairs (who text, doc int);
INSERT INTO pairs SELECT entity, id FROM docs UNION ALL SELECT (id % 600)::text, id FROM docs WHERE id % 3 = 0;
CREATE INDEX ON pairs (who);
CREATE INDEX ON pairs (doc);
VACUUM ANALYZE docs;
VACUUM ANALYZE pairs;

CREATE FUNCTION plain_below(tops text[]) RETURNS text[] STABLE LANGUAGE sql AS $$
    WITH RECURSIVE below(tree, name) AS (
        SELECT w.tree COLLATE "C", w.child COLLATE "C" FROM wood AS w WHERE w.parent = ANY (tops)
        UNION
        SELECT w.tree COLLATE "C", w.child COLLATE "C" FROM below AS b JOIN wood AS w ON w.parent = b.name AND w.tree IS NOT DISTINCT FROM b.tree)
    SELECT coalesce(array_agg(z.name), '{}') FROM (SELECT b.name FROM below AS b UNION SELECT t FROM unnest(tops) AS t) AS z WHERE tops IS NOT NULL HAVING tops IS NOT NULL $$;
-- Questions: what they are within, with what, how many. Of each: rows asked for and there, rows found, and of these the nearest.
CREATE FUNCTION asked(operator text, kind text, mapped boolean) RETURNS TABLE (questions bigint, missing bigint, recall numeric, outside bigint, unordered bigint) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    v vector;
    right_ones text[];
    found text[];
    there text := CASE WHEN mapped THEN 'EXISTS (SELECT FROM pairs AS p WHERE p.doc = d.id AND p.who = ANY ($2))' ELSE 'd.entity = ANY ($2)' END;
    ordered boolean;
BEGIN
    questions := 0; missing := 0; recall := 0; outside := 0; unordered := 0;
    FOR q IN SELECT * FROM (VALUES ('{0}'::text[], NULL::jsonb, 5), ('{1}', NULL, 5), ('{7,8}', NULL, 10), ('{50}', NULL, 5), ('{500}', NULL, 5), ('{alone}', NULL, 5), ('{3,alone,NULL}', '{"lang": "de"}', 5),
                                   ('{2}', '{"tags": ["t3"], "lang": "en"}', 3), (NULL, '{"lang": "fr"}', 20), (NULL, '{"lang": "xx"}', 5), ('{no such}', NULL, 5), ('{}', NULL, 5), ('{650}', NULL, 5), (NULL, NULL, 60), (NULL, NULL, 0)) AS v(within, filter, k) LOOP
        FOR n IN 1 .. 3 LOOP
            v := (SELECT embedding FROM docs WHERE id = 37 * n);
            EXECUTE format('SELECT array_agg(id::text) FROM (SELECT d.id FROM docs AS d WHERE d.%1$I IS NOT NULL AND ($2 IS NULL OR %3$s) AND ($3 IS NULL OR d.meta @> $3) ORDER BY (d.%1$I %2$s $1::%4$s) + 0, d.id::text LIMIT $4) AS z',
                           CASE kind WHEN 'halfvec' THEN 'half' WHEN 'sparsevec' THEN 'sparse' ELSE 'embedding' END, operator, there, kind)
            INTO right_ones USING v, plain_below(q.within), q.filter, q.k;
            SELECT array_agg(f.document_id), bool_and(f.distance >= f.before) INTO found, ordered
              FROM (SELECT r.*, lag(r.distance) OVER () AS before FROM cft_nearest_documents(v, q.k, within => q.within, filter => q.filter) AS r) AS f;
            questions := questions + 1;
            missing := missing + greatest(coalesce(cardinality(right_ones), 0) - coalesce(cardinality(found), 0), 0);
            outside := outside + (SELECT count(*) FROM unnest(found) AS f(id) JOIN docs AS d ON d.id = f.id::int
                                   WHERE NOT (q.within IS NULL OR CASE WHEN mapped THEN EXISTS (SELECT FROM pairs AS p WHERE p.doc = d.id AND p.who = ANY (plain_below(q.within))) ELSE d.entity = ANY (plain_below(q.within)) END)
                                      OR NOT (q.filter IS NULL OR coalesce(d.meta @> q.filter, false)));
            recall := recall + CASE WHEN right_ones IS NULL THEN 1 ELSE (SELECT count(*) FROM unnest(right_ones) AS r(id) WHERE r.id = ANY (found))::numeric / cardinality(right_ones) END;
            unordered := unordered + CASE WHEN ordered IS FALSE THEN 1 ELSE 0 END;
        END LOOP;
    END LOOP;
    recall := round(recall / questions, 2);
    RETURN NEXT;
END $$;
SELECT cft_attach_documents('docs', entity => 'entity', metadata => 'meta');
SELECT 'no index' AS index, * FROM asked('<=>', 'vector', false);
SET cftrag.enable = off;
SELECT 'no index' AS index, * FROM asked('<=>', 'vector', false);
RESET cftrag.enable;
SELECT cft_attach_documents('docs', entity => 'number', metadata => 'meta');
SELECT 'no index, integers' AS index, questions, missing, recall, outside FROM asked('<=>', 'vector', false) AS a WHERE missing <= 3;
SELECT cft_attach_documents('docs', mapping => 'pairs', mapping_entity => 'who', mapping_document => 'doc', metadata => 'meta');
SELECT 'no index, mapped' AS index, * FROM asked('<=>', 'vector', true);
-- With indexes: PostgreSQL chooses, and then must take that of the embeddings.
CREATE INDEX near ON docs USING hnsw (embedding vector_cosine_ops);
SET hnsw.ef_search = 100;
SELECT 'hnsw, mapped' AS index, questions, missing, recall > 0.95 AS recall, outside, unordered FROM asked('<=>', 'vector', true);
SELECT cft_attach_documents('docs', entity => 'entity', metadata => 'meta');
SELECT 'hnsw' AS index, questions, missing, recall > 0.95 AS recall, outside, unordered FROM asked('<=>', 'vector', false);
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET enable_indexonlyscan = off;
DROP INDEX docs_entity_idx;
SELECT 'hnsw alone' AS index, questions, missing, recall > 0.95 AS recall, outside, unordered FROM asked('<=>', 'vector', false);
SET hnsw.max_scan_tuples = 50;
SELECT 'hnsw, ended early' AS index, questions, missing, recall > 0.9 AS recall, outside, unordered FROM asked('<=>', 'vector', false);
RESET hnsw.max_scan_tuples;
DROP INDEX near;
CREATE INDEX near ON docs USING ivfflat (embedding vector_l2_ops) WITH (lists = 20);
SET ivfflat.probes = 10;
SELECT 'ivfflat, L2' AS index, questions, missing, recall > 0.9 AS recall, outside, unordered FROM asked('<->', 'vector', false);
DROP INDEX near;
CREATE INDEX near ON docs USING hnsw (embedding vector_ip_ops);
SELECT 'hnsw, inner product' AS index, questions, missing, recall > 0.9 AS recall, outside, unordered FROM asked('<#>', 'vector', false);
DROP INDEX near;
RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_sort; RESET enable_indexonlyscan;
CREATE INDEX ON docs (entity);
CREATE INDEX near ON docs USING hnsw (half halfvec_cosine_ops);
SELECT cft_attach_documents('docs', embedding => 'half', entity => 'entity', metadata => 'meta');
SELECT 'hnsw, halfvec' AS index, questions, missing, recall > 0.9 AS recall, outside, unordered FROM asked('<=>', 'halfvec', false);
DROP INDEX near;
CREATE INDEX near ON docs USING hnsw (sparse sparsevec_l2_ops);
SELECT cft_attach_documents('docs', embedding => 'sparse', entity => 'entity', metadata => 'meta');
SELECT 'hnsw, sparsevec' AS index, questions, missing, recall > 0.9 AS recall, outside, unordered FROM asked('<->', 'sparsevec', false);
DROP INDEX near;
CREATE INDEX near ON docs USING hnsw (embedding vector_cosine_ops);
SELECT cft_attach_documents('docs', entity => 'entity', metadata => 'meta');

-- More than hnsw.ef_search, and behind a policy: as many as there are.
SET hnsw.ef_search = 10;
SELECT count(*), count(DISTINCT document_id) FROM cft_nearest_documents((SELECT embedding FROM docs WHERE id = 1), 500);
SELECT current_setting('hnsw.iterative_scan') AS as_it_was;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON docs USING (id % 500 = 7);
CREATE ROLE reader;
GRANT SELECT ON docs, wood TO reader;
SET ROLE reader;
SELECT count(*), bool_and(document_id::int % 500 = 7) AS visible FROM cft_nearest_documents((SELECT array_agg(n) FROM generate_series(1, 8) AS n)::vector, 5);
SELECT count(*) FROM cft_nearest_documents((SELECT array_agg(n) FROM generate_series(1, 8) AS n)::vector, 5, within => '{1}');
RESET ROLE;
-- Without the edges: what is within is not said, and the error is PostgreSQL's.
REVOKE SELECT ON wood FROM reader;
SET ROLE reader;
SELECT count(*) FROM cft_nearest_documents((SELECT array_agg(n) FROM generate_series(1, 8) AS n)::vector, 5);
SELECT count(*) FROM cft_nearest_documents((SELECT array_agg(n) FROM generate_series(1, 8) AS n)::vector, 5, 'wood', '{1}');
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
DROP POLICY few ON docs;
REVOKE ALL ON docs FROM reader;
DROP ROLE reader;
RESET hnsw.ef_search;

-- Entities: by their own embeddings, and by documents.
CREATE TABLE meaning (entity text, embedding vector(8));
INSERT INTO meaning SELECT entity, avg(embedding) FROM docs WHERE embedding IS NOT NULL GROUP BY 1;
SELECT n.entity FROM cft_nearest_entities((SELECT embedding FROM docs WHERE id = 1), 5, within => '{1}') AS n WHERE NOT n.entity = ANY (plain_below('{1}'));
SELECT count(*) FROM cft_nearest_entities((SELECT embedding FROM docs WHERE id = 1), 5, within => '{1}', filter => '{"lang": "de"}');
SELECT cft_attach_embeddings('meaning');
SELECT (SELECT array_agg(entity) FROM cft_nearest_entities((SELECT embedding FROM docs WHERE id = 1), 5, within => '{1}'))
     = (SELECT array_agg(entity) FROM (SELECT entity FROM meaning WHERE entity = ANY (plain_below('{1}')) ORDER BY embedding <=> (SELECT embedding FROM docs WHERE id = 1), entity COLLATE "C" LIMIT 5) AS z) AS same;
SELECT count(*) FROM cft_nearest_entities((SELECT embedding FROM docs WHERE id = 1), 5, filter => '{"lang": "de"}');

-- A descent, and none: within others. Both see the same entities, a descent those that it reaches.
SELECT m.mode, count(*) > 5 AS some, count(*) FILTER (WHERE NOT t.entity = ANY (plain_below('{7,3}'))) AS outside
  FROM unnest('{collapsed,prune,beam}'::text[]) AS m(mode), cft_tree_search((SELECT embedding FROM docs WHERE id = 1), 1000, mode => m.mode, within => '{7,3}', documents => 'docs') AS t GROUP BY 1 ORDER BY 1;
SELECT (SELECT array_agg(entity ORDER BY entity) FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), 10000, within => '{7,3}'))
     = (SELECT array_agg(entity ORDER BY entity) FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), 10000, within => '{7,3}', descend_threshold => -2)) AS same,
       (SELECT count(*) FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), 10000, within => '{}', descend_threshold => -2)) AS none,
       (SELECT array_agg(entity ORDER BY entity) FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), 10000, start => '{50,9}', within => '{7}', descend_threshold => -2)) AS start_within,
       (SELECT count(*) FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), within => '{no such}')) AS unknown;
SELECT * FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), filter => '{"lang": "de"}');
SELECT * FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), filter => '{"lang": "de"}', mode => 'beam');
SELECT * FROM cft_tree_search((SELECT embedding FROM docs WHERE id = 1), filter => '[]');
SELECT cft_detach('meaning');
SELECT m.threshold, count(*) AS entities, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM docs AS d WHERE d.entity = t.entity AND d.meta @> '{"lang": "de"}' AND d.embedding IS NOT NULL AND abs(1 - (d.embedding <=> (SELECT embedding FROM docs WHERE id = 1)) - t.score) < 1e-6)) AS other
  FROM unnest('{NULL,-2}'::float8[]) AS m(threshold), cft_tree_search((SELECT embedding FROM docs WHERE id = 1), 10000, descend_threshold => m.threshold, within => '{7,3}', filter => '{"lang": "de"}') AS t GROUP BY 1 ORDER BY 1;
SELECT cft_attach_embeddings('meaning');

-- A question: entities, their chunks and the documents, all within, all with the metadata.
SELECT source, count(*) > 0 AS some, count(*) FILTER (WHERE document_id IS NOT NULL AND NOT EXISTS (SELECT FROM docs AS d WHERE d.id::text = r.document_id AND d.entity = ANY (plain_below('{7,50}')) AND d.meta @> '{"lang": "en"}')) AS outside
  FROM cft_retrieve('What is 50, and what is 500?', (SELECT embedding FROM docs WHERE id = 1), k => 5, chunks => 50, within => '{7,50}', filter => '{"lang": "en"}') AS r GROUP BY 1 ORDER BY 1;
SELECT source, count(*) FROM cft_retrieve('What is 50?', NULL, within => '{8}', trees => '{a}') GROUP BY 1;
SELECT cft_prompt('What is 350?', (SELECT embedding FROM docs WHERE id = 1), k => 2, chunks => 1, within => '{50}', filter => '{"lang": "en"}');
-- Fewer than were asked for: the reason says so.
SELECT DISTINCT regexp_replace(why, 'number \d+', 'number n') AS why FROM cft_retrieve('', (SELECT embedding FROM docs WHERE id = 1), k => 5, within => '{alone}') WHERE source = 'document';
-- An embedding's modes.
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE source = 'hierarchy' AND NOT entity = ANY (plain_below('{7}'))) AS outside
  FROM cft_retrieve('', (SELECT embedding FROM docs WHERE id = 1), mode => 'ann_tree', within => '{7}', filter => '{"lang": "en"}');

-- A view, too; its registration is one that pg_dump can write (ALTER TABLE ... ENABLE ALWAYS is not for views).
CREATE VIEW german AS SELECT * FROM docs WHERE meta @> '{"lang": "de"}';
SELECT cft_attach_documents('german', entity => 'entity', metadata => 'meta');
SELECT count(*), bool_and(document_id::int % 4 = 1) AS german FROM cft_nearest_documents((SELECT embedding FROM docs WHERE id = 1), 5, within => '{1}', documents => 'german');
SELECT tgrelid::regclass, tgenabled FROM pg_trigger WHERE tgrelid IN ('docs'::regclass, 'german'::regclass) ORDER BY 1;
SELECT cft_detach('german');
DROP VIEW german;

-- Bad input: one line and a hint.
SELECT * FROM cft_nearest_documents('[1,2,3,4,5,6,7,8]', filter => '["en"]');
SELECT * FROM cft_nearest_documents('[1,2,3,4,5,6,7,8]', filter => '"en"');
SELECT * FROM cft_retrieve('50', NULL, filter => '1');
SELECT * FROM cft_nearest_documents('[1,2,3]', within => '{1}');
SELECT * FROM cft_nearest_documents('[1,2,3,4,5,6,7,8]', -1, within => '{1}');
SELECT cft_attach_documents('docs', metadata => 'body');
SELECT cft_attach_documents('docs', entity => 'entity', metadata => 'meta');
SELECT cft_attach_documents('docs');
SELECT * FROM cft_nearest_documents('[1,2,3,4,5,6,7,8]', within => '{1}');
SELECT * FROM cft_nearest_documents('[1,2,3,4,5,6,7,8]', filter => '{}');
SELECT * FROM cft_retrieve('50', NULL, filter => '{}');
SELECT count(*) FROM cft_nearest_documents(NULL, within => '{1}');
SELECT count(*) FROM cft_nearest_documents('[1,2,3,4,5,6,7,8]', NULL);

DROP TABLE docs, pairs, meaning, wood;
DROP FUNCTION plain_below, asked;

-- Many documents equally near, also at the last place: the same rows as by hand, whatever k is.
CREATE TABLE near_edges (parent text, child text);
INSERT INTO near_edges SELECT 'n' || n / 3, 'n' || n FROM generate_series(1, 60) AS n;
SELECT cft_attach('near_edges');
CREATE TABLE near_docs (id int, body text, embedding vector(2), entity text, meta jsonb);
SELECT cft_attach_documents('near_docs', entity => 'entity', metadata => 'meta');
CREATE TABLE near_entities (entity text, embedding vector(2));
SELECT cft_attach_embeddings('near_entities', edges => 'near_edges');
CREATE FUNCTION near(seeds int) RETURNS TABLE(searches bigint, rows bigint, different bigint, example text) LANGUAGE plpgsql AS $$
DECLARE
    k int;
    query vector(2);
    bound text[];
    meant jsonb;
    vectors vector(2)[] := '{"[1,0]","[0,1]","[1,1]","[2,1]","[0,0]"}';
BEGIN
    CREATE TEMP TABLE tried (what text, ours text[], by_hand text[]);
    FOR seed IN 1 .. seeds LOOP
        PERFORM setseed(seed / 100.0);
        TRUNCATE near_docs, near_entities;
        INSERT INTO near_docs SELECT n, 'b' || (random() * 3)::int, (vectors || NULL::vector)[1 + (random() * 5)::int], 'n' || (random() * 62)::int, jsonb_build_object('c', (random() * 2)::int) FROM generate_series(1, seed * 9) AS n;
        INSERT INTO near_entities SELECT 'n' || n, vectors[1 + (random() * 4)::int] FROM generate_series(1, seed * 6) AS n;
        FOR k, query, bound, meant IN SELECT u.k, v, w, m FROM unnest('{0,1,2,5,10,40,2147483647}'::int[]) AS u(k), unnest(vectors[:2]) AS v, (VALUES (NULL::text[]), ('{n1,n7}')) AS b(w), (VALUES (NULL::jsonb), ('{"c": 1}')) AS f(m) LOOP
            INSERT INTO tried SELECT format('documents %s %s %s %s %s', seed, k, query, bound, meant),
                ARRAY(SELECT n.document_id FROM cft_nearest_documents(query, k, 'near_edges', bound, 'near_docs', meant) AS n),
                ARRAY(SELECT d.id::text FROM near_docs AS d WHERE d.embedding IS NOT NULL AND (bound IS NULL OR cft_under(d.entity, bound, 'near_edges')) AND (meant IS NULL OR d.meta @> meant)
                       ORDER BY (d.embedding <=> query) + 0, d.id::text COLLATE "C" LIMIT k);
            INSERT INTO tried SELECT format('entities %s %s %s %s', seed, k, query, bound),
                ARRAY(SELECT n.entity FROM cft_nearest_entities(query, k, 'near_edges', bound) AS n),
                ARRAY(SELECT e.entity FROM near_entities AS e WHERE bound IS NULL OR cft_under(e.entity, bound, 'near_edges') ORDER BY (e.embedding <=> query) + 0, e.entity COLLATE "C" LIMIT k) WHERE meant IS NULL;
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT count(*), sum(cardinality(ours))::bigint, count(*) FILTER (WHERE ours IS DISTINCT FROM by_hand), min(what) FILTER (WHERE ours IS DISTINCT FROM by_hand) FROM tried;
    DROP TABLE tried;
END $$;
SELECT * FROM near(3);
-- By an index as well (which has no zero vectors: by hand the sum keeps it away).
CREATE INDEX ON near_docs USING hnsw (embedding vector_cosine_ops);
SET enable_seqscan = off;
SELECT * FROM near(2);
RESET enable_seqscan;
DROP TABLE near_docs, near_entities, near_edges;
DROP FUNCTION near;

-- Where no image may be asked, a subtree counts as a thousandth of the rows: its documents are found by the index on entities, with exact distances.
CREATE TABLE small_edges AS SELECT i / 10 AS parent, i AS child FROM generate_series(1, 2000) AS i;
SELECT cft_attach('small_edges', ids => true);
CREATE TABLE small AS SELECT i AS id, 1 + i % 2000 AS entity, 'b' AS body, ARRAY[cos(i), sin(i), i % 97 / 97.0]::vector(3) AS embedding FROM generate_series(1, 20000) AS i;
CREATE INDEX ON small (entity);
CREATE INDEX ON small USING hnsw (embedding vector_ip_ops);
ANALYZE small;
SELECT cft_attach_documents('small', entity => 'entity');
CREATE FUNCTION small_recall() RETURNS numeric LANGUAGE sql AS $$
    SELECT round(avg((d.id::text IN (SELECT n.document_id FROM cft_nearest_documents('[1,0,0]', 50, 'small_edges', '{150}', 'small') AS n))::int), 2)
      FROM (SELECT id FROM small WHERE cft_under(entity, 150, 'small_edges') ORDER BY (embedding <#> '[1,0,0]') + 0 LIMIT 50) AS d $$;
SELECT small_recall();
SET cftrag.enable = off;
SELECT small_recall();
EXPLAIN (COSTS OFF) SELECT id FROM small WHERE cft_under(entity, 150, 'small_edges') ORDER BY embedding <#> '[1,0,0]' LIMIT 5;
RESET cftrag.enable;
DROP TABLE small, small_edges;
DROP FUNCTION small_recall;
