-- A hierarchy for a graph (T-Retriever, SEP): see crates/methods/src/hierarchy. PARALLEL UNSAFE: the graph may be a
-- view that calls any function.

CREATE FUNCTION cft_build_hierarchy(graph regclass, a name, b name, weight name DEFAULT NULL, height integer DEFAULT 3)
RETURNS TABLE(tree text, parent text, child text, entropy_before double precision, entropy_after double precision)
LANGUAGE c STABLE PARALLEL UNSAFE COST 1000000 ROWS 10000
AS 'MODULE_PATHNAME', 'cft_build_hierarchy_wrapper';
COMMENT ON FUNCTION cft_build_hierarchy(regclass, name, name, name, integer) IS
'edges of a tree over the entities of a graph, of low structural entropy; the last columns add up to the entropy of '
'the graph and of the tree';
