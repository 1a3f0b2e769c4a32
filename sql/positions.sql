-- The order of siblings, where the table was attached with a column of positions: for each name of $1 text[], in their
-- order, its place among them. $2 text[] has the tree of each, NULL where there is none, $3 text[] the parent, NULL
-- where every row in the tree counts. Of several rows the first position counts. Names without a position come last,
-- and names with the same position have the same place.
-- Filled in as sql/reference.sql is. {position} is r.<column>; {is_child}: the row's child is u.name, compared in the
-- column's own type. The image does not hold positions, so this statement reads them: the rows of each name once, by an
-- index on the child, whatever the planner expects.
WITH asked(name, tree, parent, place) AS MATERIALIZED (
    SELECT u.* FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]),
        pg_catalog.unnest($3::pg_catalog.text[])) WITH ORDINALITY AS u
),
found(name, tree, parent, position) AS MATERIALIZED (
    SELECT u.name, p.* FROM (SELECT DISTINCT a.name COLLATE pg_catalog."C" FROM asked AS a) AS u(name)
     CROSS JOIN LATERAL (SELECT {tree} COLLATE pg_catalog."C", {parent} COLLATE pg_catalog."C", {position}
         FROM {edges} AS r
                          WHERE {is_child} AND {position} IS NOT NULL OFFSET 0) AS p
)
SELECT pg_catalog.rank() OVER (ORDER BY z.position NULLS LAST)
  FROM (SELECT y.place, pg_catalog.first_value(y.position) OVER (PARTITION BY y.name, y.tree, y.every, y.parent
      ORDER BY y.position NULLS LAST)
          FROM (SELECT a.name COLLATE pg_catalog."C", a.tree COLLATE pg_catalog."C", a.parent IS NULL,
              a.parent COLLATE pg_catalog."C", a.place, NULL
                  FROM asked AS a
                UNION ALL
                SELECT f.name, f.tree, true, NULL, NULL, f.position FROM found AS f
                UNION ALL
                SELECT f.name, f.tree, false, f.parent, NULL, f.position FROM found AS f
                    WHERE f.parent IS NOT NULL) AS y(name, tree, every, parent, place, position)) AS z(place, position)
 WHERE z.place IS NOT NULL
 ORDER BY z.place
