-- HiRAG (Huang et al., arXiv 2503.10150, 2025): an answer combines global knowledge (entities above many others), local
-- knowledge (entities about the question), and a bridge between them: how the local entities are connected.

-- The bridge, in each tree: the apex is the entity at or above most of the given ones, within max_hops levels; ties go
-- to the fewest steps in total, then to the smallest name by bytes. The shortest path leads from the apex to each given
-- entity below it; ties go to the path whose names, from the apex on, are the smallest by bytes. Together these paths
-- form a tree. This repeats for the given entities not yet in it, while two of them share an ancestor. See
-- src/methods/bridge.rs.
CREATE FUNCTION cftrag_internal.cft_bridge(entities text[], max_hops integer, edges regclass)
RETURNS TABLE(tree text, apex text, depth integer, parent text, child text, leads_to text[], parent_label text,
    child_label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_bridge_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_bridge(text[], integer, regclass) IS 'twin of cft_bridge';

CREATE FUNCTION cft_bridge(entities text[], max_hops integer DEFAULT 3, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, apex text, depth integer, parent text, child text, leads_to text[], parent_label text,
    child_label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_bridge_wrapper';
COMMENT ON FUNCTION cft_bridge(text[], integer, regclass) IS
'how entities hang together: in each tree, the tree of shortest ways to them from the ancestor that most of them share '
'(HiRAG, 2025); where each has one parent, the Steiner tree';

-- Global: the coarse_k entities with children that are nearest to the embedding. Local: of the leaves within down
-- levels below those, the fine_k nearest. Bridge: a path to each of these. Each part has its share of the budget, and
-- ends before the first row that would exceed it.
CREATE FUNCTION cft_coarse_fine(embedding vector, coarse_k integer DEFAULT 3, fine_k integer DEFAULT 10,
    down integer DEFAULT 3, max_hops integer DEFAULT 3,
    budget integer DEFAULT NULL, local_share float8 DEFAULT 0.5, bridge_share float8 DEFAULT 0.2,
        global_share float8 DEFAULT 0.3,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(part text, entity text, tree text, score float8, under text, text text, tokens bigint, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 30
AS 'MODULE_PATHNAME', 'cft_coarse_fine_wrapper';
COMMENT ON FUNCTION cft_coarse_fine(vector, integer, integer, integer, integer, integer, float8, float8, float8,
    regclass, regclass) IS
'from coarse to fine (HiRAG, 2025): the nearest entities that have children, the nearest leaves below these, and how '
'the leaves hang together, each within its share of a budget';
