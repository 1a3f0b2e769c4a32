-- The definition of cft_roots: the entities of each tree that have a row there, and no parent. A row whose parent is
-- NULL, or is its child, says that the child is there; it gives it no parent.
--
-- Lines that begin with --label are used if there is a column of labels, those with --no label if there is none: what
-- the root is called. Lines that begin with --trees are used if trees are given, in $1 text[]; a NULL in it stands for
-- rows without a tree. Lines that begin with --position are used if the table has a column of positions.
-- The extension runs it when the image cannot serve, and it is the tests' oracle. Filled in as sql/reference.sql is.
SELECT z.tree, z.root
--label , (SELECT {shown} FROM (SELECT z.root) AS u(name) JOIN {labels} AS r ON {is_labelled})
--no label , NULL::pg_catalog.text
  FROM (SELECT {tree} COLLATE pg_catalog."C", COALESCE({parent}, {child}) COLLATE pg_catalog."C"
          FROM {edges} AS r
         WHERE {child} IS NOT NULL
--trees     AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.tree
--trees         FROM pg_catalog.unnest($1) AS t(tree)) OR {tree} IS NULL
--trees         AND EXISTS (SELECT FROM pg_catalog.unnest($1) AS t(tree) WHERE t.tree IS NULL))
        EXCEPT
        SELECT {tree} COLLATE pg_catalog."C", {child} COLLATE pg_catalog."C"
          FROM {edges} AS r
         WHERE {parent} IS NOT NULL AND {child} IS NOT NULL
             AND {parent} COLLATE pg_catalog."C" OPERATOR(pg_catalog.<>) {child} COLLATE pg_catalog."C"
--trees     AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.tree
--trees         FROM pg_catalog.unnest($1) AS t(tree)) OR {tree} IS NULL
--trees         AND EXISTS (SELECT FROM pg_catalog.unnest($1) AS t(tree) WHERE t.tree IS NULL))
       ) AS z(tree, root)
 ORDER BY z.tree NULLS FIRST,
--position (SELECT {position} FROM {edges} AS r WHERE {is_child} AND {position} IS NOT NULL
--position     AND ({tree} IS NULL) OPERATOR(pg_catalog.=) (z.tree IS NULL)
--position         AND COALESCE({tree}, '') COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) COALESCE(z.tree, '')
--position   ORDER BY 1 LIMIT 1) NULLS LAST,
       z.root
