-- Which names are below one of the given entities, by edges of one tree. cft_those and the argument within ask this
-- where the image cannot serve. Parameters: $1 text[] names, $2 text[] entities, $3 text[] trees (without them all
-- trees count). Returns the positions in $1, from 1. Filled in by src/serve/reference.rs as reference.sql is.
-- {is_child}: the row's child is u.name. {is_next}: it is a.entity.
WITH RECURSIVE above(n, tree, entity) AS (
    SELECT u.n, {tree} COLLATE pg_catalog."C", {parent} COLLATE pg_catalog."C"
      FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(name, n) JOIN {edges} AS r ON {is_child}
     WHERE {parent} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($3) OR {tree} IS NULL
--trees     AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
    UNION
    SELECT a.n, a.tree, {parent} COLLATE pg_catalog."C"
      FROM above AS a JOIN {edges} AS r ON {is_next}
     WHERE {parent} IS NOT NULL AND ({tree} IS NULL) OPERATOR(pg_catalog.=) (a.tree IS NULL)
         AND COALESCE({tree}, '') COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) COALESCE(a.tree, '')
)
SELECT DISTINCT a.n FROM above AS a WHERE a.entity OPERATOR(pg_catalog.=) ANY (SELECT t.entity COLLATE pg_catalog."C"
    FROM pg_catalog.unnest($2) AS t(entity))
