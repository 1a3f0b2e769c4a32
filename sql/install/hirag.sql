-- HiRAG (Huang et al., arXiv 2503.10150, 2025): an answer is put together of global knowledge (what is above many), local knowledge (what is about the
-- question), and a bridge between: how the local entities hang together.

-- The bridge, in each tree: of the entities at or above given ones, within max_hops levels, the apex is the one above most of them; of several the one
-- with the fewest steps in all, then the smallest by bytes. From it to each given entity below the shortest way, of several the one whose names are the smallest by
-- bytes from the apex on: together these ways are a tree. Then the same again for the given entities that are not in it, while two of them meet.
-- Where each entity has one parent, this is the Steiner tree: the smallest one that connects them. With several parents a smaller one can exist.
CREATE FUNCTION cft_bridge(entities text[], max_hops integer DEFAULT 3, edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, apex text, depth integer, parent text, child text, leads_to text[])
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- Who is above whom, and the pairs (tree, entity) not connected yet.
    a_hits text[]; a_trees text[]; a_depths int[]; a_names text[]; a_vias text[];
    left_hits text[]; left_trees text[];
    apex_trees text[]; apex_names text[];
    here_trees text[]; here_hits text[]; here_apexes text[];
    of_trees text[] := '{}'; of_hits text[] := '{}'; of_apexes text[] := '{}'; of_rounds int[] := '{}';
    round int := 0;
BEGIN
    IF num_nulls(entities, max_hops) > 0 THEN RETURN; END IF;
    IF NOT max_hops BETWEEN 0 AND 1000 THEN
        RAISE EXCEPTION '"max_hops" must be between 0 and 1000, not %', max_hops USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT array_agg(c.entity), array_agg(c.tree), array_agg(c.depth), array_agg(c.relative), array_agg(c.via)
      INTO a_hits, a_trees, a_depths, a_names, a_vias FROM @extschema@.cft_context(entities, max_hops, 0, edges) AS c;
    SELECT array_agg(z.entity), array_agg(z.tree) INTO left_hits, left_trees
      FROM (SELECT DISTINCT c.entity COLLATE "C", c.tree COLLATE "C" FROM @extschema@.cft_context(entities, 1, 1, edges) AS c) AS z(entity, tree);
    LOOP
        WITH a AS MATERIALIZED (
            SELECT l.hit, l.tree, 0 AS depth, l.hit AS name FROM unnest(left_hits, left_trees) AS l(hit, tree)
            UNION ALL
            SELECT u.hit, u.tree, u.depth, u.name FROM unnest(a_hits, a_trees, a_depths, a_names) AS u(hit, tree, depth, name)
              JOIN unnest(left_hits, left_trees) AS l(hit, tree) ON l.hit = u.hit AND l.tree IS NOT DISTINCT FROM u.tree
        ), apex AS (
            SELECT DISTINCT ON (a.tree COLLATE "C") a.tree, a.name FROM a GROUP BY a.tree, a.name HAVING count(*) > 1
             ORDER BY a.tree COLLATE "C", count(*) DESC, sum(a.depth), a.name COLLATE "C"
        )
        SELECT array_agg(a.tree), array_agg(a.hit), array_agg(a.name) INTO here_trees, here_hits, here_apexes
          FROM a JOIN apex AS x ON x.name = a.name AND x.tree IS NOT DISTINCT FROM a.tree;
        EXIT WHEN here_hits IS NULL;
        round := round + 1;
        of_trees := of_trees || here_trees;
        of_hits := of_hits || here_hits;
        of_apexes := of_apexes || here_apexes;
        of_rounds := of_rounds || array_fill(round, ARRAY[cardinality(here_hits)]);
        SELECT array_agg(l.hit), array_agg(l.tree) INTO left_hits, left_trees FROM unnest(left_hits, left_trees) AS l(hit, tree)
         WHERE NOT EXISTS (SELECT FROM unnest(here_hits, here_trees) AS h(hit, tree) WHERE h.hit = l.hit AND h.tree IS NOT DISTINCT FROM l.tree);
    END LOOP;
    RETURN QUERY
    WITH RECURSIVE a AS MATERIALIZED (
        SELECT * FROM unnest(a_hits, a_trees, a_depths, a_names, a_vias) AS u(hit, tree, depth, name, via)
    ), way(round, tree, apex, hit, depth, parent, child) AS (
        SELECT o.round, o.tree, o.apex, o.hit, 1, a.name, a.via
          FROM unnest(of_rounds, of_trees, of_apexes, of_hits) AS o(round, tree, apex, hit)
          JOIN a ON a.hit = o.hit AND a.name = o.apex AND a.tree IS NOT DISTINCT FROM o.tree
        UNION ALL
        SELECT w.round, w.tree, w.apex, w.hit, w.depth + 1, a.name, a.via
          FROM way AS w JOIN a ON a.hit = w.hit AND a.name = w.child AND a.tree IS NOT DISTINCT FROM w.tree
         WHERE w.child <> w.hit
    )
    SELECT w.tree, w.apex, w.depth, w.parent, w.child, array_agg(w.hit ORDER BY w.hit COLLATE "C")
      FROM way AS w GROUP BY w.round, w.tree, w.apex, w.depth, w.parent, w.child
     ORDER BY w.tree COLLATE "C" NULLS FIRST, w.round, w.depth, w.parent COLLATE "C", w.child COLLATE "C";
END $$;
COMMENT ON FUNCTION cft_bridge(text[], integer, regclass) IS
'how entities hang together: in each tree, the tree of shortest ways to them from the ancestor that most of them share (HiRAG, 2025); where each has one parent, the Steiner tree';

-- Global: the coarse_k entities with children that are nearest to the embedding. Local: of the entities without children within down levels below those, the fine_k
-- nearest. Bridge: how these hang together, a way to each. Each part has its share of the budget, and ends before the first row that would exceed it.
CREATE FUNCTION cft_coarse_fine(query vector, coarse_k integer DEFAULT 3, fine_k integer DEFAULT 10, down integer DEFAULT 3, max_hops integer DEFAULT 3,
    budget integer DEFAULT NULL, local_share float8 DEFAULT 0.5, bridge_share float8 DEFAULT 0.2, global_share float8 DEFAULT 0.3,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(part text, entity text, tree text, score float8, under text, text text, tokens bigint)
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
        RAISE EXCEPTION 'coarse_k, fine_k and budget must not be negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT (least(local_share, bridge_share, global_share) >= 0 AND local_share + bridge_share + global_share <= 1.000001) THEN
        RAISE EXCEPTION 'shares must not be negative, nor more than 1 together' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF query IS NULL THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM @extschema@.cft_attached(edges) AS f;
    SELECT array_agg(n.entity), array_agg(n.score) INTO coarse, coarse_scores FROM @extschema@.cft_nearest_nodes(query, coarse_k, true, forest, documents) AS n;
    -- Each below the best of those above it.
    SELECT array_agg(z.relative), array_agg(z.entity) INTO below, above
      FROM (SELECT DISTINCT ON (c.relative COLLATE "C") c.relative, c.entity FROM @extschema@.cft_context(coarse, 0, down, forest) AS c
             ORDER BY c.relative COLLATE "C", array_position(coarse, c.entity)) AS z;
    SELECT array_agg(z.entity), array_agg(z.score), array_agg(z.under) INTO fine, fine_scores, fine_under
      FROM (SELECT s.entity, s.score, u.under FROM @extschema@.cft_scores(query, ARRAY(
                       SELECT b.name FROM unnest(below) AS b(name) EXCEPT SELECT c.entity COLLATE "C" FROM @extschema@.cft_context(below, 0, 1, forest) AS c),
                   forest, documents) AS s JOIN unnest(below, above) AS u(name, under) ON u.name = s.entity
             WHERE s.score IS NOT NULL ORDER BY s.score DESC, s.entity COLLATE "C" LIMIT fine_k) AS z;
    RETURN QUERY
    WITH texts AS MATERIALIZED (
        SELECT t.* FROM @extschema@.cft_texts(coarse || fine, documents, forest) AS t
    ), r(place, part, n, entity, tree, score, under, text, tokens) AS (
        SELECT 1, 'global', u.n, u.name, NULL, u.score, NULL, t.text, t.tokens
          FROM unnest(coarse, coarse_scores) WITH ORDINALITY AS u(name, score, n) JOIN texts AS t ON t.entity = u.name
        UNION ALL
        SELECT 2, 'bridge', row_number() OVER (ORDER BY w.first, array_position(fine, w.hit)), w.hit, w.tree, NULL, w.apex, w.way, (char_length(w.way) + 3) / 4
          FROM (SELECT h.hit, b.tree, b.apex, min(b.n) AS first, b.apex || string_agg(' > ' || b.child, '' ORDER BY b.depth) AS way
                  FROM @extschema@.cft_bridge(fine, max_hops, forest) WITH ORDINALITY AS b(tree, apex, depth, parent, child, leads_to, n), unnest(b.leads_to) AS h(hit)
                 GROUP BY h.hit, b.tree, b.apex) AS w
        UNION ALL
        SELECT 3, 'local', u.n, u.name, NULL, u.score, u.under, t.text, t.tokens
          FROM unnest(fine, fine_scores, fine_under) WITH ORDINALITY AS u(name, score, under, n) JOIN texts AS t ON t.entity = u.name
    ), counted AS (
        SELECT r.*, sum(r.tokens) OVER (PARTITION BY r.place ORDER BY r.n) AS so_far FROM r
    )
    SELECT c.part, c.entity, c.tree, c.score, c.under, c.text, c.tokens FROM counted AS c
     WHERE budget IS NULL OR c.so_far <= floor(budget * CASE c.place WHEN 1 THEN global_share WHEN 2 THEN bridge_share ELSE local_share END + 1e-9)
     ORDER BY c.place, c.n;
END $$;
COMMENT ON FUNCTION cft_coarse_fine(vector, integer, integer, integer, integer, integer, float8, float8, float8, regclass, regclass) IS
'from coarse to fine (HiRAG, 2025): the nearest entities that have children, the nearest leaves below these, and how the leaves hang together, each within its share of a budget';
