-- TreeRAG (Tao et al., Findings of ACL 2025): parts of a document carry the path above them when they are embedded (Tree-Chunking), and
-- retrieval goes from the leaves that were found up, and from there down to all leaves (bidirectional traversal).

-- The path to an entity, in each of its trees: from the nearest entity above it that has no parent, of several the smallest by bytes; in a cycle
-- without such, from the farthest above. The way is the shortest, of several the one whose names are the smallest by bytes from the top on.
CREATE FUNCTION cftrag_internal.cft_path_prefix(entities text[], edges regclass, trees text[], separator text)
RETURNS TABLE(entity text, tree text, path text[], prefix text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_path_prefix_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_path_prefix(text[], regclass, text[], text) IS 'twin of cft_path_prefix';

CREATE FUNCTION cft_path_prefix(entities text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, separator text DEFAULT ' > ')
RETURNS TABLE(entity text, tree text, path text[], prefix text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_path_prefix_wrapper';
COMMENT ON FUNCTION cft_path_prefix(text[], regclass, text[], text) IS
'the path from the top to each entity, in each of its trees, or of these: to put before a text when it is embedded (TreeRAG, 2025)';

CREATE FUNCTION cft_path_prefix(entity text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, separator text DEFAULT ' > ')
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 10000
AS 'MODULE_PATHNAME', 'cft_path_prefix_one_wrapper';
COMMENT ON FUNCTION cft_path_prefix(text, regclass, text[], text) IS 'the path from the top to an entity, in the first of its trees, or of these; NULL if it is in none';

-- Each hit climbs, in each tree, to the nearest of itself and its ancestors that has at least min_support hits at or below it (within up levels of
-- these); of several the one with the most, then the smallest by bytes. From there all descendants within down levels, each by the shortest
-- way, by cft_context's via; and the hit, if it is farther. A hit that meets no others stays by itself, in the first of its trees. Order: by tree, then as in a
-- document: an entity before those below it, and what is below the same by its position, and by name, in which numbers count as numbers. Of several places, the first.
CREATE FUNCTION cftrag_internal.cft_expand(hits text[], up integer, down integer, min_support integer, edges regclass, documents regclass)
RETURNS TABLE(entity text, tree text, common text, support integer, hit boolean, leaf boolean, path text[], text text, tokens bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    b_trees text[];
    b_names text[];
    b_support int[];
    m_hits text[];
    m_trees text[];
    m_names text[];
    m_support int[];
BEGIN
    IF num_nulls(up, down, min_support) > 0 THEN
        RAISE EXCEPTION 'up, down and min_support must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF min_support < 1 THEN
        RAISE EXCEPTION 'min_support must be at least 1, not %', min_support USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT f.edges INTO forest FROM cftrag_internal.cft_attached(edges) AS f;
    -- Where hits meet; support is NULL where one is alone.
    WITH a AS MATERIALIZED (
        SELECT DISTINCT c.entity COLLATE "C" AS hit, c.tree COLLATE "C" AS tree, 0 AS depth, c.entity COLLATE "C" AS name FROM cftrag_internal.cft_path_prefix(hits, forest, NULL, NULL) AS c
        UNION ALL
        SELECT c.entity, c.tree, c.depth, c.relative FROM cftrag_internal.cft_context(hits, up, 0, forest) AS c
    ), met AS (
        SELECT DISTINCT ON (a.hit, a.tree) a.hit, a.tree, a.name, s.support
          FROM a JOIN (SELECT z.tree, z.name, count(*)::int AS support FROM a AS z GROUP BY z.tree, z.name HAVING count(*) >= min_support) AS s
            ON s.name = a.name AND s.tree IS NOT DISTINCT FROM a.tree
         ORDER BY a.hit, a.tree, a.depth, s.support DESC, a.name
    ), b AS MATERIALIZED (
        SELECT DISTINCT m.tree, m.name, m.support FROM met AS m
        UNION ALL
        SELECT (array_agg(a.tree ORDER BY a.tree NULLS FIRST))[1], a.hit, NULL FROM a WHERE a.hit NOT IN (SELECT m.hit FROM met AS m) GROUP BY a.hit
    )
    SELECT (SELECT array_agg(b.tree) FROM b), (SELECT array_agg(b.name) FROM b), (SELECT array_agg(b.support) FROM b),
           array_agg(m.hit), array_agg(m.tree), array_agg(m.name), array_agg(m.support)
      INTO b_trees, b_names, b_support, m_hits, m_trees, m_names, m_support FROM met AS m;
    IF b_names IS NULL THEN RETURN; END IF;
    RETURN QUERY
    WITH RECURSIVE b AS MATERIALIZED (
        SELECT u.tree, u.name, u.support, p.path
          FROM unnest(b_trees, b_names, b_support) AS u(tree, name, support)
          JOIN cftrag_internal.cft_path_prefix(b_names, forest, NULL, ' > ') AS p ON p.entity = u.name AND p.tree IS NOT DISTINCT FROM u.tree
    ), d AS MATERIALIZED (
        SELECT c.entity, c.tree, c.depth, c.relative, c.via FROM cftrag_internal.cft_context(b_names, 0, down, forest) AS c
    ), n(base, tree, support, name, depth, path) AS (
        SELECT b.name, b.tree, b.support, b.name, 0, b.path FROM b
        UNION ALL
        SELECT n.base, n.tree, n.support, d.relative, d.depth, n.path || d.relative
          FROM n JOIN d ON d.entity = n.base AND d.via = n.name AND d.depth = n.depth + 1 AND d.tree IS NOT DISTINCT FROM n.tree
         WHERE n.support IS NOT NULL
    ), found AS (
        -- A hit is added where it is not among them. A window, not a join: whatever the planner expects, it sorts.
        SELECT z.base, z.tree, z.support, z.name, z.path
          FROM (SELECT x.*, bool_and(x.added) OVER (PARTITION BY x.tree COLLATE "C", x.name COLLATE "C") AS alone
                  FROM (SELECT n.base, n.tree, n.support, n.name, n.path, false AS added FROM n
                        UNION ALL
                        SELECT m.base, m.tree, m.support, m.hit, p.path, true
                          FROM unnest(m_hits, m_trees, m_names, m_support) AS m(hit, tree, base, support)
                          JOIN cftrag_internal.cft_path_prefix(m_hits, forest, NULL, ' > ') AS p ON p.entity = m.hit AND p.tree IS NOT DISTINCT FROM m.tree) AS x) AS z
         WHERE z.alone OR NOT z.added
    ), numbered AS MATERIALIZED (
        SELECT n.*, row_number() OVER () AS n FROM found AS n
    ), step AS MATERIALIZED (
        SELECT n.n, x.i, x.step COLLATE "C" AS name FROM numbered AS n, unnest(n.path) WITH ORDINALITY AS x(step, i)
    ), sibling AS MATERIALIZED (
        -- Places have as many digits as a bigint, so that they are in order as texts, too.
        SELECT u.name, coalesce(lpad(u.place::text, 20, '0'), '') || cftrag_internal.cft_natural(u.name) AS place
          FROM (SELECT array_agg(DISTINCT s.name) AS names FROM step AS s) AS s, unnest(s.names, cftrag_internal.cft_places(s.names, forest)) AS u(name, place)
    ), placed AS MATERIALIZED (
        SELECT n.*, w.place FROM numbered AS n
          JOIN (SELECT s.n, array_agg(z.place ORDER BY s.i) COLLATE "C" AS place FROM step AS s JOIN sibling AS z ON z.name = s.name GROUP BY s.n) AS w ON w.n = n.n
    ), once AS MATERIALIZED (
        SELECT DISTINCT ON (p.tree COLLATE "C", p.name COLLATE "C") p.* FROM placed AS p
         ORDER BY p.tree COLLATE "C", p.name COLLATE "C", p.place, p.path COLLATE "C", p.support DESC NULLS LAST, p.base COLLATE "C"
    ), inner_node AS MATERIALIZED (
        SELECT DISTINCT c.entity, c.tree FROM cftrag_internal.cft_context(ARRAY(SELECT o.name FROM once AS o), 0, 1, forest) AS c
    )
    SELECT o.name, o.tree, CASE WHEN o.support IS NOT NULL THEN o.base END, o.support, o.name IN (SELECT u.name FROM unnest(hits) AS u(name) WHERE u.name IS NOT NULL),
           i.entity IS NULL, o.path, t.text, t.tokens, cftrag_internal.cft_label(o.name, forest)
      FROM once AS o LEFT JOIN inner_node AS i ON i.entity = o.name AND i.tree IS NOT DISTINCT FROM o.tree
      JOIN cftrag_internal.cft_texts(ARRAY(SELECT z.name FROM once AS z), documents, forest) AS t ON t.entity = o.name
     ORDER BY o.tree COLLATE "C" NULLS FIRST, o.place, o.path COLLATE "C";
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_expand(text[], integer, integer, integer, regclass, regclass) IS 'what cft_expand calls';

CREATE FUNCTION cft_expand(hits text[], up integer DEFAULT 3, down integer DEFAULT 3, min_support integer DEFAULT 2, edges regclass DEFAULT NULL,
    documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, tree text, common text, support integer, hit boolean, leaf boolean, path text[], text text, tokens bigint, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 50
BEGIN ATOMIC
    SELECT f.* FROM cftrag_internal.cft_expand($1, $2, $3, $4, cftrag_internal.cft_meant_edges($5), cftrag_internal.cft_meant_documents($6)) AS f;
END;
COMMENT ON FUNCTION cft_expand(text[], integer, integer, integer, regclass, regclass) IS
'from entities that were found up to where they meet, and from there down to the leaves, in document order (TreeRAG, 2025)';
