-- Paths, neighbours, and where an entity stands in its trees. Each reads the table as cft_context does, from the image or by the reference query,
-- with the caller's snapshot and rights.

CREATE FUNCTION cft_neighbors(entity text, max_hops integer DEFAULT 1, direction text DEFAULT 'both', edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, neighbor text, via text, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 20
AS 'MODULE_PATHNAME', 'cft_neighbors_wrapper';
COMMENT ON FUNCTION cft_neighbors(text, integer, text, regclass) IS
'entities within so many steps of an entity, in each tree: along edges up, down, or both ways';

CREATE FUNCTION cft_path(a text, b text, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, path text[], steps text[], labels text[])
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
RETURNS TABLE(tree text, ancestor text, depth_a integer, depth_b integer, label text)
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

CREATE FUNCTION cft_roots(edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS TABLE(tree text, root text, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 100000 ROWS 100
AS 'MODULE_PATHNAME', 'cft_roots_wrapper';
COMMENT ON FUNCTION cft_roots(regclass, text[]) IS 'the entities of each tree, or of these trees, that have no parent there but themselves; looks at every entity';
