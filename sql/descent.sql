-- cft_tree_search by a descent: an embedding $1, mode $2, thresholds $3 and $4, prune_factor $5, beam $6, max_depth $7,
-- k $8, budget $9, the forest $10, the documents $11, the start $12, the bounds $13, a filter $14. Depth 0 is the
-- start, else the bounds, else the roots; if a start is within the bounds in a tree, so are all its descendants in that
-- tree.
WITH top AS MATERIALIZED (
    SELECT r.tree, r.root AS entity FROM cftrag_internal.cft_roots($10) AS r WHERE $12 IS NULL AND $13 IS NULL
    UNION ALL
    SELECT s.tree, s.entity FROM cftrag_internal.cft_path_prefix(coalesce($12, $13), $10, NULL, NULL) AS s
     WHERE $13 IS NULL OR s.entity = ANY ($13) OR cftrag_internal.cft_those(ARRAY[s.entity], $10, ARRAY[s.tree],
         $13) <> '{}'
), hit AS MATERIALIZED (
    SELECT d.* FROM (SELECT array_agg(t.tree) AS trees, array_agg(t.entity) AS names FROM top AS t) AS t,
           cftrag_internal.cft_descend($1, $11, $2, t.trees, t.names, $3, $4, $5, $6, $7, $8, $10, $14)
               WITH ORDINALITY AS d(entity, tree, depth, score, path, compared, place)
), said AS (
    SELECT h.*, t.text, t.tokens, sum(t.tokens) OVER (ORDER BY h.place) AS so_far
      FROM hit AS h JOIN cftrag_internal.cft_texts(ARRAY(SELECT z.entity FROM hit AS z), $11, $10) AS t
          ON t.entity = h.entity
)
SELECT s.entity, s.tree, s.depth, s.score, s.path, s.text, s.tokens, s.compared, cftrag_internal.cft_label(s.entity,
    $10) FROM said AS s
 WHERE $9 IS NULL OR s.so_far <= $9 ORDER BY s.place
