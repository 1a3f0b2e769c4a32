-- HiRAG (Huang et al., arXiv 2503.10150, 2025): an answer combines global knowledge (entities above many others), local knowledge (entities about the
-- question), and a bridge between them: how the local entities are connected.

-- The bridge, in each tree: the apex is the entity at or above most of the given ones, within max_hops levels; ties go to the fewest steps in total, then
-- to the smallest name by bytes. The shortest path leads from the apex to each given entity below it; ties go to the path whose names, from the apex on, are
-- the smallest by bytes. Together these paths form a tree. This repeats for the given entities not yet in it, while two of them share an ancestor.
-- See src/methods/bridge.rs.
CREATE FUNCTION cftrag_internal.cft_bridge(entities text[], max_hops integer, edges regclass)
RETURNS TABLE(tree text, apex text, depth integer, parent text, child text, leads_to text[], parent_label text, child_label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_bridge_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_bridge(text[], integer, regclass) IS 'what cft_bridge calls';

CREATE FUNCTION cft_bridge(entities text[], max_hops integer DEFAULT 3, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, apex text, depth integer, parent text, child text, leads_to text[], parent_label text, child_label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 20
BEGIN ATOMIC SELECT f.* FROM cftrag_internal.cft_bridge($1, $2, cftrag_internal.cft_meant_edges($3)) AS f; END;
COMMENT ON FUNCTION cft_bridge(text[], integer, regclass) IS
'how entities hang together: in each tree, the tree of shortest ways to them from the ancestor that most of them share (HiRAG, 2025); where each has one parent, the Steiner tree';

-- Global: the coarse_k entities with children that are nearest to the embedding. Local: of the leaves within down levels below those, the fine_k
-- nearest. Bridge: a path to each of these. Each part has its share of the budget, and ends before the first row that would exceed it.
CREATE FUNCTION cftrag_internal.cft_coarse_fine(embedding vector, coarse_k integer, fine_k integer, down integer, max_hops integer, budget integer,
    local_share float8, bridge_share float8, global_share float8, edges regclass, documents regclass)
RETURNS TABLE(part text, entity text, tree text, score float8, under text, text text, tokens bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 30 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    coarse text[];
    coarse_scores float8[];
    below text[];
    above text[];
    fine text[];
    fine_scores float8[];
    fine_under text[];
BEGIN
    IF num_nulls(coarse_k, fine_k, down, max_hops, local_share, bridge_share, global_share) > 0 THEN
        RAISE EXCEPTION 'coarse_k, fine_k, down, max_hops and the shares must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF least(coarse_k, fine_k, budget) < 0 THEN
        RAISE EXCEPTION '%', cftrag_internal.cft_negative('{coarse_k,fine_k,budget}', ARRAY[coarse_k, fine_k, budget]) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT (least(local_share, bridge_share, global_share) >= 0 AND local_share + bridge_share + global_share <= 1.000001) THEN
        RAISE EXCEPTION 'shares must not be negative, nor more than 1 together' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF embedding IS NULL THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM cftrag_internal.cft_attached(edges) AS f;
    SELECT array_agg(n.entity), array_agg(n.score) INTO coarse, coarse_scores FROM cftrag_internal.cft_nearest_nodes(embedding, coarse_k, true, forest, documents) AS n;
    -- Each entity is listed below the best coarse entity above it.
    SELECT array_agg(z.relative), array_agg(z.entity) INTO below, above
      FROM (SELECT DISTINCT ON (c.relative COLLATE "C") c.relative, c.entity
              FROM cftrag_internal.cft_context(coarse, 0, down, forest) AS c JOIN unnest(coarse) WITH ORDINALITY AS k(name, n) ON k.name = c.entity
             ORDER BY c.relative COLLATE "C", k.n) AS z;
    SELECT array_agg(z.entity), array_agg(z.score), array_agg(z.under) INTO fine, fine_scores, fine_under
      FROM (SELECT s.entity, s.score, u.under FROM cftrag_internal.cft_scores(embedding, ARRAY(
                       SELECT b.name FROM unnest(below) AS b(name) EXCEPT SELECT c.entity COLLATE "C" FROM cftrag_internal.cft_context(below, 0, 1, forest) AS c),
                   forest, documents) AS s JOIN unnest(below, above) AS u(name, under) ON u.name = s.entity
             WHERE s.score IS NOT NULL ORDER BY s.score DESC, s.entity COLLATE "C" LIMIT fine_k) AS z;
    RETURN QUERY
    WITH texts AS MATERIALIZED (
        SELECT t.* FROM cftrag_internal.cft_texts(coarse || fine, documents, forest) AS t
    ), r(place, part, n, entity, tree, score, under, text, tokens) AS (
        SELECT 1, 'global', u.n, u.name, NULL, u.score, NULL, t.text, t.tokens
          FROM unnest(coarse, coarse_scores) WITH ORDINALITY AS u(name, score, n) JOIN texts AS t ON t.entity = u.name
        UNION ALL
        SELECT 2, 'bridge', row_number() OVER (ORDER BY w.first, k.n), w.hit, w.tree, NULL, w.apex, w.way, (char_length(w.way) + 3) / 4
          FROM (SELECT h.hit, b.tree, b.apex, min(b.n) AS first,
                       coalesce(min(b.parent_label) FILTER (WHERE b.depth = 1), b.apex) || string_agg(' > ' || coalesce(b.child_label, b.child), '' ORDER BY b.depth) AS way
                  FROM cftrag_internal.cft_bridge(fine, max_hops, forest) WITH ORDINALITY AS b(tree, apex, depth, parent, child, leads_to, parent_label, child_label, n), unnest(b.leads_to) AS h(hit)
                 GROUP BY h.hit, b.tree, b.apex) AS w JOIN unnest(fine) WITH ORDINALITY AS k(name, n) ON k.name = w.hit
        UNION ALL
        SELECT 3, 'local', u.n, u.name, NULL, u.score, u.under, t.text, t.tokens
          FROM unnest(fine, fine_scores, fine_under) WITH ORDINALITY AS u(name, score, under, n) JOIN texts AS t ON t.entity = u.name
    ), counted AS (
        SELECT r.*, sum(r.tokens) OVER (PARTITION BY r.place ORDER BY r.n) AS so_far FROM r
    )
    SELECT c.part, c.entity, c.tree, c.score, c.under, c.text, c.tokens, cftrag_internal.cft_label(c.entity, forest) FROM counted AS c
     WHERE budget IS NULL OR c.so_far <= floor(budget * CASE c.place WHEN 1 THEN global_share WHEN 2 THEN bridge_share ELSE local_share END + 1e-9)
     ORDER BY c.place, c.n;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_coarse_fine(vector, integer, integer, integer, integer, integer, float8, float8, float8, regclass, regclass) IS 'what cft_coarse_fine calls';

CREATE FUNCTION cft_coarse_fine(embedding vector, coarse_k integer DEFAULT 3, fine_k integer DEFAULT 10, down integer DEFAULT 3, max_hops integer DEFAULT 3,
    budget integer DEFAULT NULL, local_share float8 DEFAULT 0.5, bridge_share float8 DEFAULT 0.2, global_share float8 DEFAULT 0.3,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(part text, entity text, tree text, score float8, under text, text text, tokens bigint, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 30
BEGIN ATOMIC
    SELECT f.* FROM cftrag_internal.cft_coarse_fine($1, $2, $3, $4, $5, $6, $7, $8, $9, cftrag_internal.cft_meant_edges($10),
        cftrag_internal.cft_meant_documents($11)) AS f;
END;
COMMENT ON FUNCTION cft_coarse_fine(vector, integer, integer, integer, integer, integer, float8, float8, float8, regclass, regclass) IS
'from coarse to fine (HiRAG, 2025): the nearest entities that have children, the nearest leaves below these, and how the leaves hang together, each within its share of a budget';
