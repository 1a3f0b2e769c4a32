-- The definition of cft_context: it returns what this statement returns.
--
-- The extension runs it when the image cannot serve, and it is the tests' oracle.
-- Parameters: $1 text[] entities, $2 int levels up, $3 int levels down, $4 text[] trees (without them all count).
-- Filled in by src/serve/reference.rs (and by tests) before it is parsed:
--   {edges}             the table, schema-qualified and quoted
-- {tree} r.<column>::pg_catalog.text, or NULL::pg_catalog.text where the table has none {parent} {child} the entities:
-- r.<column>::pg_catalog.text. Where both columns are integers, or both uuid, the column itself, so that plain indexes
-- serve: equal values have equal texts. $1 is an array of that type then, and COLLATE {...} is left out. (For one
-- entity $1 is that value, and question says so.) {labels} {shown} {is_labelled}
-- the table with the labels (here the edges table itself), an aggregate of what its rows call an entity (the smallest
-- label by bytes that is not empty; with other names, or preferred labels, as in src/serve/reference.rs), and the
-- condition that a row is about u.name {parent_collation} {child_collation}
-- the column's own collation, so that the user's index serves the equality; it is deterministic, so equality is by
-- bytes under any of them (otherwise, and for types without one: pg_catalog."C") A row whose parent is NULL is not an
-- edge: it says that its child is there. So does a row whose parent is its child. Lines that begin with --own are used
-- if a method (cft_depth, for example) asks for an entity's own row: an ancestor at depth 0, in each tree with such a
-- row. Lines with --trees are used if trees are given: only rows of these count; a NULL in $4 stands for rows without a
-- tree. Lines that begin with --label are used if there are labels, those with --no label if there are none: what the
-- relative is called. For texts the lines with "entity label" say what the entity is called.
-- Operators and functions are qualified, so the caller's search_path cannot change what they mean.
--
-- A row's via is the smallest neighbour through which it was reached at its least depth d. That neighbour's own least
-- depth is d - 1: if it were smaller, the row would have been reached earlier.
-- Trees are compared by two equalities, one of the texts and one of IS NULL, so that a plan can use a hash join where a
-- name is in many trees.
WITH RECURSIVE
question(entity, place) AS (
    SELECT u.entity, pg_catalog.min(u.place)
      FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(entity, place)
     WHERE u.entity IS NOT NULL
     GROUP BY u.entity
),
e(tree, parent, child) AS NOT MATERIALIZED (
    SELECT {tree}, {parent}, {child}
      FROM {edges} AS r
     WHERE {parent} IS NOT NULL AND {child} IS NOT NULL
),
up(entity, place, tree, depth, relative, via) AS (
    SELECT q.entity, q.place, e.tree COLLATE pg_catalog."C", 1, e.parent COLLATE {parent_collation},
        e.child COLLATE {child_collation}
      FROM question AS q
      JOIN e ON e.child OPERATOR(pg_catalog.=) q.entity COLLATE {child_collation}
     WHERE $2 OPERATOR(pg_catalog.>=) 1
--trees AND (e.tree COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($4) OR e.tree IS NULL
--trees     AND EXISTS (SELECT FROM pg_catalog.unnest($4) AS t(tree) WHERE t.tree IS NULL))
    UNION
    SELECT w.entity, w.place, w.tree, w.depth OPERATOR(pg_catalog.+) 1, e.parent COLLATE {parent_collation},
        e.child COLLATE {child_collation}
      FROM (SELECT DISTINCT u.entity, u.place, u.tree, u.depth, u.relative FROM up AS u) AS w
      JOIN e ON e.child OPERATOR(pg_catalog.=) w.relative COLLATE {child_collation}
            AND (e.tree IS NULL) OPERATOR(pg_catalog.=) (w.tree IS NULL)
            AND COALESCE(e.tree, '') OPERATOR(pg_catalog.=) COALESCE(w.tree, '') COLLATE pg_catalog."C"
     WHERE w.depth OPERATOR(pg_catalog.<) $2
),
down(entity, place, tree, depth, relative, via) AS (
    SELECT q.entity, q.place, e.tree COLLATE pg_catalog."C", 1, e.child COLLATE {child_collation},
        e.parent COLLATE {parent_collation}
      FROM question AS q
      JOIN e ON e.parent OPERATOR(pg_catalog.=) q.entity COLLATE {parent_collation}
     WHERE $3 OPERATOR(pg_catalog.>=) 1
--trees AND (e.tree COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($4) OR e.tree IS NULL
--trees     AND EXISTS (SELECT FROM pg_catalog.unnest($4) AS t(tree) WHERE t.tree IS NULL))
    UNION
    SELECT w.entity, w.place, w.tree, w.depth OPERATOR(pg_catalog.+) 1, e.child COLLATE {child_collation},
        e.parent COLLATE {parent_collation}
      FROM (SELECT DISTINCT d.entity, d.place, d.tree, d.depth, d.relative FROM down AS d) AS w
      JOIN e ON e.parent OPERATOR(pg_catalog.=) w.relative COLLATE {parent_collation}
            AND (e.tree IS NULL) OPERATOR(pg_catalog.=) (w.tree IS NULL)
            AND COALESCE(e.tree, '') OPERATOR(pg_catalog.=) COALESCE(w.tree, '') COLLATE pg_catalog."C"
     WHERE w.depth OPERATOR(pg_catalog.<) $3
),
reached(asked, place, tree, relation, depth, key, via) AS (
    SELECT u.entity, u.place, u.tree, 'ancestor'::pg_catalog.text COLLATE pg_catalog."C", u.depth, u.relative,
        u.via::pg_catalog.text COLLATE pg_catalog."C" FROM up AS u
    UNION ALL
    SELECT d.entity, d.place, d.tree, 'descendant'::pg_catalog.text COLLATE pg_catalog."C", d.depth, d.relative,
        d.via::pg_catalog.text COLLATE pg_catalog."C" FROM down AS d
--own UNION ALL
--own SELECT q.entity, q.place, {tree} COLLATE pg_catalog."C", 'ancestor'::pg_catalog.text COLLATE pg_catalog."C", 0,
--own     q.entity, q.entity::pg_catalog.text COLLATE pg_catalog."C"
--own   FROM question AS q
--own   JOIN {edges} AS r ON {child} OPERATOR(pg_catalog.=) q.entity COLLATE {child_collation}
--own  WHERE ({parent} IS NULL OR {parent} OPERATOR(pg_catalog.=) {child} COLLATE {child_collation})
--own --trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($4) OR {tree} IS NULL
--own --trees     AND EXISTS (SELECT FROM pg_catalog.unnest($4) AS t(tree) WHERE t.tree IS NULL))
),
named(asked, entity, place, tree, relation, depth, key, relative, via) AS (
    SELECT r.asked, r.asked::pg_catalog.text COLLATE pg_catalog."C", r.place, r.tree, r.relation, r.depth, r.key,
        r.key::pg_catalog.text COLLATE pg_catalog."C", r.via
      FROM reached AS r
),
least AS (
    SELECT DISTINCT ON (n.place, n.tree, n.relation, n.relative) n.*
      FROM named AS n
     WHERE n.relative OPERATOR(pg_catalog.<>) n.entity
--own   OR n.depth OPERATOR(pg_catalog.=) 0
     ORDER BY n.place, n.tree, n.relation, n.relative, n.depth, n.via
)
SELECT l.entity, l.tree, l.relation, l.depth, l.relative, l.via
--label , (SELECT {shown} FROM (SELECT l.key) AS u(name) JOIN {labels} AS r ON {is_labelled})
--no label , NULL::pg_catalog.text
--entity label , (SELECT {shown} FROM (SELECT l.asked) AS u(name) JOIN {labels} AS r ON {is_labelled})
--no entity label , NULL::pg_catalog.text
  FROM least AS l
 ORDER BY l.place, l.tree NULLS FIRST, l.relation, l.depth, l.relative
