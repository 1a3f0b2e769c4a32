-- cft_coarse_fine: the leaves within $2 levels below the entities $1 of the forest $3, each with the first of those
-- above it.
WITH b AS MATERIALIZED (
    SELECT DISTINCT ON (c.relative COLLATE "C") c.relative, c.entity
      FROM cftrag_internal.cft_context($1, 0, $2, $3) AS c JOIN unnest($1) WITH ORDINALITY AS k(name, n)
          ON k.name = c.entity ORDER BY c.relative COLLATE "C", k.n
)
SELECT b.relative, b.entity FROM b
 WHERE b.relative NOT IN (SELECT c.entity FROM cftrag_internal.cft_context(ARRAY(SELECT z.relative FROM b AS z), 0, 1,
     $3) AS c)
