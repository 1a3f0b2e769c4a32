-- Whether an edge that is in the table closes a cycle: the check of cft_reject_cycles (src/methods/reject_cycles.rs).
--
-- Parameters: $1 text parent, $2 text child, $3 text tree. Filled in as sql/reference.sql is, and
--   {same_tree}         whether r's tree is $3, by IS NOT DISTINCT FROM; true where the table has none
-- Upwards, because an entity has few ancestors. The recursion ends on cycles that are there already, and it ends early when it meets $2.
-- A row that is gone again (a deferred trigger) closes nothing.
WITH RECURSIVE above(entity) AS (
    SELECT $1::pg_catalog.text COLLATE pg_catalog."C"
    UNION
    SELECT {parent} COLLATE pg_catalog."C"
      FROM above AS a
      JOIN {edges} AS r ON {child} OPERATOR(pg_catalog.=) a.entity COLLATE {child_collation}
     WHERE {parent} IS NOT NULL AND {same_tree}
)
SELECT WHERE EXISTS (SELECT FROM above AS a WHERE a.entity OPERATOR(pg_catalog.=) $2)
         AND EXISTS (SELECT FROM {edges} AS r
                      WHERE {child} OPERATOR(pg_catalog.=) $2 COLLATE {child_collation}
                        AND {parent} OPERATOR(pg_catalog.=) $1 COLLATE pg_catalog."C" AND {same_tree})
