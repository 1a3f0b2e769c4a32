-- Paths, neighbours, and where an entity stands in its trees. Each asks the table as cft_context does: the image or the reference query,
-- under the caller's snapshot, with the caller's rights. cft_roots reads the whole table.

CREATE FUNCTION cft_neighbors(entity text, hops integer DEFAULT 1, direction text DEFAULT 'both', edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, neighbor text, via text)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 20
AS 'MODULE_PATHNAME', 'cft_neighbors_wrapper';
COMMENT ON FUNCTION cft_neighbors(text, integer, text, regclass) IS
'entities within so many steps of an entity, in each tree: along edges up, down, or both ways';

CREATE FUNCTION cft_path(a text, b text, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, path text[], steps text[])
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 2
AS 'MODULE_PATHNAME', 'cft_path_wrapper';
COMMENT ON FUNCTION cft_path(text, text, integer, regclass) IS
'all shortest paths between two entities in each tree, along edges both ways; steps say which way: up, down, both';

CREATE FUNCTION cft_explain_path(a text, b text, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_explain_path_wrapper';
COMMENT ON FUNCTION cft_explain_path(text, text, integer, regclass) IS
'the first of the shortest paths between two entities as a sentence, one for each tree; NULL if there is none';

CREATE FUNCTION cft_lca(a text, b text, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, ancestor text, depth_a integer, depth_b integer)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 2
AS 'MODULE_PATHNAME', 'cft_lca_wrapper';
COMMENT ON FUNCTION cft_lca(text, text, regclass) IS
'the lowest common ancestors of two entities in each tree, and how far they are from each; an entity is its own ancestor here';

CREATE FUNCTION cft_depth(entity text, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, depth integer)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 2
AS 'MODULE_PATHNAME', 'cft_depth_wrapper';
COMMENT ON FUNCTION cft_depth(text, regclass) IS 'steps from an entity up to the nearest root, in each tree; NULL if no root is above it';

CREATE FUNCTION cft_subtree_size(entity text, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, size bigint)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 2
AS 'MODULE_PATHNAME', 'cft_subtree_size_wrapper';
COMMENT ON FUNCTION cft_subtree_size(text, regclass) IS 'the number of different entities under an entity, itself counted, in each tree';

CREATE FUNCTION cft_roots(edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, root text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
BEGIN
    SELECT * INTO f FROM @extschema@.cft_attached(edges);
    -- A self-edge is no relative: it makes no root, and prevents none.
    RETURN QUERY EXECUTE format(
        'SELECT z.tree, z.name FROM (
             SELECT %1$s AS tree, r.%2$I::text COLLATE "C" AS name FROM %4$s AS r
              WHERE r.%2$I IS NOT NULL AND r.%3$I IS NOT NULL AND r.%2$I::text COLLATE "C" <> r.%3$I::text COLLATE "C"
             EXCEPT
             SELECT %1$s, r.%3$I::text COLLATE "C" FROM %4$s AS r
              WHERE r.%2$I IS NOT NULL AND r.%3$I IS NOT NULL AND r.%2$I::text COLLATE "C" <> r.%3$I::text COLLATE "C") AS z
          ORDER BY z.tree NULLS FIRST, z.name',
        CASE WHEN f.tree IS NULL THEN 'NULL::text' ELSE format('r.%I::text COLLATE "C"', f.tree) END, f.parent, f.child, f.edges);
END $$;
COMMENT ON FUNCTION cft_roots(regclass) IS 'the entities of each tree that have a child and no parent but themselves; reads the whole table';
