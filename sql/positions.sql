-- In which order siblings stand, where a column of their position was named: the places of the names in $1 text[], in their order. Of an entity with
-- several rows the first position counts; those without one come last, and names of one position have one place.
--
-- Filled in as sql/reference.sql is, and {position} r.<column>; {is_child}: that the row's child is u.name, in the column's own type. No image holds
-- positions: this is how they are read.
SELECT pg_catalog.rank() OVER (ORDER BY p.position NULLS LAST)
  FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u(name, place)
  LEFT JOIN LATERAL (SELECT {position} FROM {edges} AS r WHERE {is_child} AND {position} IS NOT NULL ORDER BY 1 LIMIT 1) AS p(position) ON true
 ORDER BY u.place
