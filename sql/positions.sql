-- The order of siblings, where the table was attached with a column of positions: for each name of $1 text[], in their order, its place among them. The
-- first position of an entity with several rows counts. Names without a position come last, and names with the same position have the same place.
--
-- Filled in as sql/reference.sql is. {position} is r.<column>; {is_child}: the row's child is u.name, compared in the column's own type. The image does
-- not hold positions, so this statement reads them.
SELECT pg_catalog.rank() OVER (ORDER BY p.position NULLS LAST)
  FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u(name, place)
  LEFT JOIN LATERAL (SELECT {position} FROM {edges} AS r WHERE {is_child} AND {position} IS NOT NULL ORDER BY 1 LIMIT 1) AS p(position) ON true
 ORDER BY u.place
