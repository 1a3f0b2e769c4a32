-- cft_expand: entities $1, up $2, down $3, min_support $4, k $5, the forest $6, texts of the documents $7.
-- Each row has a match. A full join is never a nested loop, whatever the planner expects.
WITH x AS MATERIALIZED (
    SELECT e.* FROM cftrag_internal.cft_expansion($1, $2, $3, $4, $5, $6) WITH ORDINALITY AS e(entity, tree, common,
        support, hit, leaf, more, path, label, place)
)
SELECT x.entity, x.tree, x.common, x.support, x.hit, x.leaf, x.path, t.text, t.tokens, x.label, x.more
  FROM x FULL JOIN cftrag_internal.cft_texts(ARRAY(SELECT z.entity FROM x AS z), $7, $6) AS t ON t.entity = x.entity
      ORDER BY x.place
