-- cft_tree_search, mode collapsed, without a start: the entities $1 with their scores $2, of the forest $3, within the
-- budget $4; texts of the documents $5. The least deep path of each, of these the first tree.
WITH best AS MATERIALIZED (
    SELECT b.entity, b.score FROM unnest($1, $2) AS b(entity, score)
), p AS (
    SELECT DISTINCT ON (p.entity COLLATE "C") p.* FROM cftrag_internal.cft_path_prefix($1, $3, NULL, ' > ') AS p
     ORDER BY p.entity COLLATE "C", cardinality(p.path), p.tree COLLATE "C" NULLS FIRST
), said AS (
    SELECT b.entity, p.tree, cardinality(p.path) - 1 AS depth, b.score, p.path, t.text, t.tokens,
           sum(t.tokens) OVER (ORDER BY b.score DESC, b.entity COLLATE "C") AS so_far
      FROM best AS b JOIN p ON p.entity = b.entity JOIN cftrag_internal.cft_texts($1, $5, $3) AS t
          ON t.entity = b.entity
)
SELECT s.entity, s.tree, s.depth, s.score, s.path, s.text, s.tokens, NULL::bigint, cftrag_internal.cft_label(s.entity,
    $3) FROM said AS s
 WHERE $4 IS NULL OR s.so_far <= $4 ORDER BY s.score DESC, s.entity COLLATE "C"
