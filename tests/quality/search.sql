-- Which ways of search find the document about the entity that a question asks about, among the first five; what share of the five nearest by brute force
-- an index finds; and how fast, the ways taking turns. Questions that ask about one entity. `one typo`: two letters of its name exchanged, the embedding as it was.
SET client_min_messages = warning;
ALTER TABLE documents ADD words tsvector GENERATED ALWAYS AS (to_tsvector('english', title || '. ' || body)) STORED;
CREATE INDEX ON documents USING gin (words);
VACUUM ANALYZE documents;
SELECT cft_attach_documents('documents', body => 'content', entity => 'entity', search => 'words') \g /dev/null
CREATE TABLE looked_for AS
    SELECT a.id, v.kind, v.question, a.entity, q.embedding, coalesce((SELECT array_agg(c.relative) FROM cft_context(a.entity, 2, 0, 'entity_edges') AS c WHERE c.depth = 2), ARRAY[a.entity]) AS above
      FROM asked AS a JOIN questions AS q USING (id), LATERAL (VALUES ('as it is', a.question), ('one typo', replace(a.question, a.entity, typo(a.entity)))) AS v(kind, question)
     WHERE a.kind <> 'common' AND strpos(a.question, a.entity) > 0 AND v.question IS NOT NULL;
CREATE TABLE search_way (n int, way text, statement text, is_vector boolean, bound text);
INSERT INTO search_way VALUES
    (1, 'nearest documents', 'SELECT entity FROM cft_nearest_documents($2, 5)', true, 'true'),
    (2, 'nearest documents, within what is two levels above', 'SELECT entity FROM cft_nearest_documents($2, 5, ''entity_edges'', within => $3)', true, 'cft_under(entity, $3, ''entity_edges'')'),
    (3, 'hybrid', 'SELECT entity FROM cft_retrieve($1, $2, mode => ''hybrid'', chunks => 0, edges => ''entity_edges'') WHERE source = ''document''', false, NULL),
    (4, 'hybrid, without an embedding', 'SELECT entity FROM cft_retrieve($1, NULL, mode => ''hybrid'', chunks => 0, edges => ''entity_edges'') WHERE source = ''document''', false, NULL),
    (5, 'cft, documents and 5 chunks', 'SELECT entity FROM cft_retrieve($1, $2, mode => ''cft'', edges => ''entity_edges'') WHERE source <> ''hierarchy''', false, NULL),
    (6, 'tree search, collapsed', 'SELECT entity FROM cft_tree_search($2, 5, edges => ''entity_edges'')', false, NULL),
    (7, 'tree search, prune', 'SELECT entity FROM cft_tree_search($2, 5, mode => ''prune'', edges => ''entity_edges'')', false, NULL),
    (8, 'tree search, beam of 5', 'SELECT entity FROM cft_tree_search($2, 5, mode => ''beam'', edges => ''entity_edges'')', false, NULL);
-- A descent by centroids: the average of each subtree's documents, made by cft_rollup, no model. On a copy of the edges, since a table has one of embeddings.
CREATE TABLE centroid_edges AS TABLE entity_edges;
SELECT cft_attach('centroid_edges', tree => 'tree') \g /dev/null
SELECT cft_build('centroid_edges') \g /dev/null
CREATE TABLE centroids (entity text, summary text, embedding vector(384));
CREATE INDEX ON centroids (entity);
SELECT cft_attach_summaries('centroids', embedding => 'embedding', edges => 'centroid_edges', documents => 'documents', leaves => true) \g /dev/null
SELECT cft_rollup(edges => 'centroid_edges') \g /dev/null
SELECT cft_attach_embeddings('centroids', edges => 'centroid_edges') \g /dev/null
INSERT INTO search_way VALUES
    (9, 'tree search by centroids, prune', 'SELECT entity FROM cft_tree_search($2, 5, mode => ''prune'', edges => ''centroid_edges'', documents => ''documents'')', false, NULL),
    (10, 'tree search by centroids, prune, factor 0.5', 'SELECT entity FROM cft_tree_search($2, 5, mode => ''prune'', prune_factor => 0.5, edges => ''centroid_edges'', documents => ''documents'')', false, NULL),
    (11, 'tree search by centroids, beam of 20', 'SELECT entity FROM cft_tree_search($2, 5, mode => ''beam'', beam => 20, edges => ''centroid_edges'', documents => ''documents'')', false, NULL),
    (12, 'tree search by centroids, collapsed', 'SELECT entity FROM cft_tree_search($2, 5, edges => ''centroid_edges'', documents => ''documents'')', false, NULL);
CREATE TABLE searched (n int, kind text, hit boolean, recall float8, ms float8);
DO $$
DECLARE
    q record;
    w record;
    start timestamptz;
    ms float8;
    found text[];
    nearest text[];
BEGIN
    FOR q IN SELECT * FROM looked_for ORDER BY kind, md5(id) LOOP
        FOR w IN SELECT * FROM search_way ORDER BY search_way.n LOOP
            CONTINUE WHEN q.kind = 'one typo' AND w.n NOT IN (3, 4, 5);
            start := clock_timestamp();
            EXECUTE 'SELECT array_agg(z.entity) FROM (' || w.statement || ') AS z' INTO found USING q.question, q.embedding, q.above;
            ms := 1000 * extract(epoch FROM clock_timestamp() - start);
            nearest := NULL;
            IF w.is_vector THEN
                EXECUTE 'SELECT array_agg(z.entity) FROM (SELECT entity FROM documents WHERE ' || w.bound || ' ORDER BY (embedding <=> $2) + 0 LIMIT 5) AS z' INTO nearest USING q.question, q.embedding, q.above;
            END IF;
            INSERT INTO searched VALUES (w.n, q.kind, coalesce(q.entity = ANY (found), false), (SELECT avg((e = ANY (found))::int) FROM unnest(nearest) AS e), ms);
        END LOOP;
    END LOOP;
END $$;
\echo == Search: the document of the entity asked about among the first five
SELECT w.way, s.kind, count(*) AS questions, round(avg(s.hit::int), 3) AS "hit rate", round(avg(s.recall)::numeric, 3) AS recall, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms)::numeric, 2) AS ms
  FROM search_way AS w JOIN searched AS s USING (n) GROUP BY w.n, w.way, s.kind ORDER BY s.kind, w.n;
