-- The order of siblings, where the table was attached with a column of positions: for each name of $1 text[], in their order, its place among them. $2
-- text[] has the tree of each, NULL where there is none, $3 text[] the parent, NULL where every row in the tree counts. Of several rows the first
-- position counts. Names without a position come last, and names with the same position have the same place.
--
-- Filled in as sql/reference.sql is. {position} is r.<column>; {is_child}: the row's child is u.name, compared in the column's own type. The image does
-- not hold positions, so this statement reads them.
SELECT pg_catalog.rank() OVER (ORDER BY p.position NULLS LAST)
  FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]), pg_catalog.unnest($3::pg_catalog.text[])) WITH ORDINALITY AS u(name, tree, parent, place)
  LEFT JOIN LATERAL (SELECT {position} FROM {edges} AS r
                      WHERE {is_child} AND {position} IS NOT NULL
                        AND ({tree} IS NULL) OPERATOR(pg_catalog.=) (u.tree IS NULL) AND COALESCE({tree}, '') COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) COALESCE(u.tree, '')
                        AND (u.parent IS NULL OR {parent} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) u.parent)
                      ORDER BY 1 LIMIT 1) AS p(position) ON true
 ORDER BY u.place
