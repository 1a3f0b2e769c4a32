-- Searches a forest by embeddings: from the top, level by level, or as if it had no levels.
--   prune      Tree-KG (ACL 2025): skips the children of entities that are much less similar than the best
--   beam       RAPTOR's tree traversal (ICLR 2024): the best few of each level lead to the next
--   collapsed  RAPTOR's collapsed tree: all nodes alike, the most similar until the budget of tokens is used. Without
--              start, descend_threshold
--              and max_depth it searches all entities of the forest by the index on their embeddings (which does not
--              say how many it compared: compared is NULL)
-- A level includes that of all trees. In each tree an entity is compared once, at the least depth at which it is
-- reached through expanded nodes; of several such parents, its path has the smallest by bytes. An entity without an
-- embedding is expanded but not returned. Depth 0 (the roots, or start, or else within) is always expanded. So the
-- entities compared are exactly those of depth 0 and the children of expanded nodes. The descent itself is in
-- src/methods/descent.rs.

CREATE FUNCTION cftrag_internal.cft_descend(embedding vector, documents regclass, mode text, trees text[], names text[],
    threshold float8, descend_threshold float8, prune_factor float8, beam integer,
    max_depth integer, k integer, edges regclass, filter jsonb)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], compared bigint)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_descend_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_descend(vector, regclass, text, text[], text[], float8, float8, float8, integer,
    integer, integer, regclass, jsonb) IS
'the k best entities that a descent from these entities in these trees finds';

CREATE FUNCTION cft_tree_search(embedding vector, k integer DEFAULT 10, budget integer DEFAULT NULL,
    mode text DEFAULT 'collapsed', start text[] DEFAULT NULL,
    threshold float8 DEFAULT NULL, descend_threshold float8 DEFAULT NULL, prune_factor float8 DEFAULT 0.7,
        beam integer DEFAULT 5, max_depth integer DEFAULT 1000,
    edges regclass DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint,
    compared bigint, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 10
AS 'MODULE_PATHNAME', 'cft_tree_search_wrapper';
COMMENT ON FUNCTION cft_tree_search(vector, integer, integer, text, text[], float8, float8, float8, integer, integer,
    regclass, text[], regclass, jsonb) IS
'the entities most similar to an embedding (within these): collapsed, as if there were no levels (RAPTOR, 2024), or by '
'a descent from the roots: pruned (Tree-KG, 2025), or by beam; compared counts the similarities computed';

