-- Whether an edge that is in the table closes a cycle: the check of cft_reject_cycles (src/methods/reject_cycles.rs).
--
-- Parameters: $1 text parent, $2 text child, $3 text tree. Filled in as sql/reference.sql is, and
--   {same_tree}         whether r's tree is $3, by IS NOT DISTINCT FROM; true where the table has none
-- Upwards, because an entity has few ancestors. The recursion ends on cycles that are there already, and it ends early when it meets $2.
-- OFFSET 0: entity by entity through the index. A table without statistics, in the middle of a bulk load, would be hashed whole for each row.
-- A row that is gone again (a deferred trigger) closes nothing.
WITH RECURSIVE above(entity) AS (
    SELECT $1::pg_catalog.text COLLATE pg_catalog."C"
    UNION
    SELECT up.entity
      FROM above AS a
     CROSS JOIN LATERAL (SELECT {parent} COLLATE pg_catalog."C" FROM {edges} AS r
                          WHERE {child} OPERATOR(pg_catalog.=) a.entity COLLATE {child_collation} AND {parent} IS NOT NULL AND {same_tree} OFFSET 0) AS up(entity)
)
SELECT WHERE EXISTS (SELECT FROM above AS a WHERE a.entity OPERATOR(pg_catalog.=) $2)
         AND EXISTS (SELECT FROM {edges} AS r
                      WHERE {child} OPERATOR(pg_catalog.=) $2 COLLATE {child_collation}
                        AND {parent} OPERATOR(pg_catalog.=) $1 COLLATE pg_catalog."C" AND {same_tree})
