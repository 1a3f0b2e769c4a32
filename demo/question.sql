-- One statement: a question in; out come the nearest documents and the hierarchy round the entities they are about.
--
--   psql -v question=q1 -f demo/question.sql          (which questions there are: SELECT id, question FROM questions)
--
-- 1. nearest: pgvector finds the three documents closest in meaning (<=> is the cosine distance).
-- 2. cft_context takes the entities of those documents, all in one call, and returns their relatives in every tree
--    in which they occur, up to 3 levels above and 1 below. `via` is the neighbour through which a relative is reached:
--    read upwards from depth 1, where it is the document's entity itself.
-- 3. The join puts both beside each other: texts from the documents, structure from the hierarchy.
WITH nearest AS MATERIALIZED (
    SELECT d.title, d.entity, d.distance
      FROM (SELECT embedding FROM questions WHERE id = :'question') AS q,
           LATERAL (SELECT title, entity, embedding <=> q.embedding AS distance
                      FROM documents ORDER BY embedding <=> q.embedding LIMIT 3) AS d
)
SELECT n.title, round(n.distance::numeric, 2) AS dist, c.tree, c.relation, c.depth, c.relative, c.via
  FROM nearest AS n
  JOIN cft_context((SELECT array_agg(DISTINCT entity) FROM nearest), up => 3, down => 1) AS c USING (entity)
 ORDER BY n.distance, n.title, c.tree, c.relation, c.depth, c.relative;
