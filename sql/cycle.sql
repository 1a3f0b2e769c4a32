-- Whether an edge of the table closes a cycle: the check of cft_reject_cycles (src/methods/reject_cycles.rs).
--
-- Parameters: $1 text parent, $2 text child, $3 text tree. Filled in as sql/reference.sql is, and
--   {same_tree}         r's tree IS NOT DISTINCT FROM $3; true if the table has no trees
--   {is_child}, {is_next}    the row's child is $2; it is a.entity
-- The recursion goes upwards, because an entity has few ancestors. It ends on cycles that are there already, and early
-- when it meets $2. OFFSET 0 makes it read entity by entity through the index. Without it a table without statistics,
-- in the middle of a bulk load, is hashed whole for each row.
-- A row that has been deleted since (the trigger is deferred) closes nothing.
WITH RECURSIVE above(entity) AS (
    SELECT $1::pg_catalog.text COLLATE pg_catalog."C"
    UNION
    SELECT up.entity
      FROM above AS a
     CROSS JOIN LATERAL (SELECT {parent} COLLATE pg_catalog."C" FROM {edges} AS r
                          WHERE {is_next} AND {parent} IS NOT NULL AND {same_tree} OFFSET 0) AS up(entity)
)
SELECT WHERE EXISTS (SELECT FROM above AS a WHERE a.entity OPERATOR(pg_catalog.=) $2)
         AND EXISTS (SELECT FROM {edges} AS r
                      WHERE {is_child}
                        AND {parent} OPERATOR(pg_catalog.=) $1 COLLATE pg_catalog."C" AND {same_tree})
