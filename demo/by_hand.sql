-- The answer of question.sql without cftrag: the hierarchy walked by a recursive query, written by hand.
-- demo/run checks that it returns the same rows, and times it beside the other.
WITH RECURSIVE nearest AS MATERIALIZED (
    SELECT d.title, d.entity, d.distance
      FROM (SELECT embedding FROM questions WHERE id = :'question') AS q,
           LATERAL (SELECT title, entity, embedding <=> q.embedding AS distance
                      FROM documents ORDER BY embedding <=> q.embedding LIMIT 3) AS d
), asked AS (
    SELECT DISTINCT entity FROM nearest
), up (entity, tree, depth, relative, via) AS (
    SELECT a.entity, e.tree, 1, e.parent, a.entity
      FROM asked AS a JOIN entity_edges AS e ON e.child = a.entity
    UNION
    SELECT u.entity, u.tree, u.depth + 1, e.parent, u.relative
      FROM up AS u JOIN entity_edges AS e ON e.child = u.relative AND e.tree = u.tree
     WHERE u.depth < 3
), reached AS (
    SELECT entity, tree, 'ancestor' AS relation, depth, relative, via FROM up
    UNION ALL
    SELECT a.entity, e.tree, 'descendant', 1, e.child, a.entity
      FROM asked AS a JOIN entity_edges AS e ON e.parent = a.entity
), context AS (
    -- A relative may be reached on several ways: the shortest counts, and of those the first by bytes.
    SELECT DISTINCT ON (entity, tree, relation, relative) entity, tree, relation, depth, relative, via
      FROM reached
     WHERE relative <> entity
     ORDER BY entity, tree, relation, relative, depth, via COLLATE "C"
)
SELECT n.title, round(n.distance::numeric, 2) AS dist, c.tree, c.relation, c.depth, c.relative, c.via
  FROM nearest AS n
  JOIN context AS c USING (entity)
 ORDER BY n.distance, n.title, c.tree, c.relation, c.depth, c.relative;
