-- Paths, neighbours, and where an entity stands in its trees. Each reads the table as cft_context does, from the image
-- or by the reference query, with the caller's snapshot and rights.

CREATE FUNCTION cft_neighbors(entity text, max_hops integer DEFAULT 1, direction text DEFAULT 'both',
    edges regclass DEFAULT NULL)
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
'the lowest common ancestors of two entities in each tree, and how far they are from each; an entity is its own '
'ancestor here';

CREATE FUNCTION cft_depth(entity text, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, depth integer)
LANGUAGE c STABLE PARALLEL SAFE COST 100 ROWS 2
AS 'MODULE_PATHNAME', 'cft_depth_wrapper';
COMMENT ON FUNCTION cft_depth(text, regclass) IS
'steps from an entity up to the nearest root, in each tree; NULL if no root is above it';

CREATE FUNCTION cft_subtree_size(entity text, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, size bigint)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 2
AS 'MODULE_PATHNAME', 'cft_subtree_size_wrapper';
COMMENT ON FUNCTION cft_subtree_size(text, regclass) IS
'the number of different entities under an entity, itself counted, in each tree';

CREATE FUNCTION cft_roots(edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS TABLE(tree text, root text, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 100000 ROWS 100
AS 'MODULE_PATHNAME', 'cft_roots_wrapper';
COMMENT ON FUNCTION cft_roots(regclass, text[]) IS
'the entities of each tree, or of these trees, that have no parent there but themselves; looks at every entity';

-- Ids need no cast.
CREATE FUNCTION cft_neighbors(id bigint, max_hops integer DEFAULT 1, direction text DEFAULT 'both',
    edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, neighbor text, via text, label text)
    LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 20
BEGIN ATOMIC SELECT f.* FROM cft_neighbors($1::text, $2, $3, $4) AS f; END;
COMMENT ON FUNCTION cft_neighbors(bigint, integer, text, regclass) IS 'cft_neighbors for an integer id';

CREATE FUNCTION cft_neighbors(uuid uuid, max_hops integer DEFAULT 1, direction text DEFAULT 'both',
    edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, neighbor text, via text, label text)
    LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 20
BEGIN ATOMIC SELECT f.* FROM cft_neighbors($1::text, $2, $3, $4) AS f; END;
COMMENT ON FUNCTION cft_neighbors(uuid, integer, text, regclass) IS 'cft_neighbors for a uuid';

CREATE FUNCTION cft_path(id_a bigint, id_b bigint, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, path text[], steps text[], labels text[])
    LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_path($1::text, $2::text, $3, $4) AS f; END;
COMMENT ON FUNCTION cft_path(bigint, bigint, integer, regclass) IS 'cft_path for integer ids';

CREATE FUNCTION cft_path(uuid_a uuid, uuid_b uuid, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, hops integer, path text[], steps text[], labels text[])
    LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_path($1::text, $2::text, $3, $4) AS f; END;
COMMENT ON FUNCTION cft_path(uuid, uuid, integer, regclass) IS 'cft_path for uuids';

CREATE FUNCTION cft_explain_path(id_a bigint, id_b bigint, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 1000
BEGIN ATOMIC SELECT cft_explain_path($1::text, $2::text, $3, $4); END;
COMMENT ON FUNCTION cft_explain_path(bigint, bigint, integer, regclass) IS 'cft_explain_path for integer ids';

CREATE FUNCTION cft_explain_path(uuid_a uuid, uuid_b uuid, max_hops integer DEFAULT 100, edges regclass DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 1000
BEGIN ATOMIC SELECT cft_explain_path($1::text, $2::text, $3, $4); END;
COMMENT ON FUNCTION cft_explain_path(uuid, uuid, integer, regclass) IS 'cft_explain_path for uuids';

CREATE FUNCTION cft_lca(id_a bigint, id_b bigint, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, ancestor text, depth_a integer, depth_b integer, label text)
    LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_lca($1::text, $2::text, $3) AS f; END;
COMMENT ON FUNCTION cft_lca(bigint, bigint, regclass) IS 'cft_lca for integer ids';

CREATE FUNCTION cft_lca(uuid_a uuid, uuid_b uuid, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, ancestor text, depth_a integer, depth_b integer, label text)
    LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_lca($1::text, $2::text, $3) AS f; END;
COMMENT ON FUNCTION cft_lca(uuid, uuid, regclass) IS 'cft_lca for uuids';

CREATE FUNCTION cft_depth(id bigint, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, depth integer) LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_depth($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_depth(bigint, regclass) IS 'cft_depth for an integer id';

CREATE FUNCTION cft_depth(uuid uuid, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, depth integer) LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_depth($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_depth(uuid, regclass) IS 'cft_depth for a uuid';

CREATE FUNCTION cft_subtree_size(id bigint, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, size bigint) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_subtree_size($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_subtree_size(bigint, regclass) IS 'cft_subtree_size for an integer id';

CREATE FUNCTION cft_subtree_size(uuid uuid, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, size bigint) LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 2
BEGIN ATOMIC SELECT f.* FROM cft_subtree_size($1::text, $2) AS f; END;
COMMENT ON FUNCTION cft_subtree_size(uuid, regclass) IS 'cft_subtree_size for a uuid';
