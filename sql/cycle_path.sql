-- The edges above an edge's parent, nearest first: by them cft_reject_cycles finds the path that it shows. Parameters
-- and fillings are those of sql/cycle.sql. An entity is in it once for each entity below it; a recursive query gives
-- its rows level by level.
WITH RECURSIVE above(entity, below) AS (
    SELECT $1::pg_catalog.text COLLATE pg_catalog."C", NULL::pg_catalog.text COLLATE pg_catalog."C"
    UNION
    SELECT up.entity, a.entity
      FROM above AS a
     CROSS JOIN LATERAL (SELECT {parent} COLLATE pg_catalog."C" FROM {edges} AS r
                          WHERE {is_next} AND {parent} IS NOT NULL AND {same_tree} OFFSET 0) AS up(entity)
     WHERE a.entity OPERATOR(pg_catalog.<>) $2
)
SELECT entity, below FROM above LIMIT 100000
