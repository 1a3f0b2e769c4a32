-- A forest is searched from its top by embeddings, level by level; or as if it had no levels.
--   prune      Tree-KG (ACL 2025): children of what is much less similar than the best are not looked at
--   beam       RAPTOR's tree traversal (ICLR 2024): the best few of each level lead to the next
--   collapsed  RAPTOR's collapsed tree: all nodes alike, the most similar until the budget of tokens is used. Without start and max_depth these are
--              all entities of the forest, found through the index on their embeddings (what it compares is its own matter: compared is NULL)
-- A level is that of all trees together. In a tree each entity is judged once, at the least depth at which it is reached through nodes that
-- were kept; of several such parents, its path has the smallest by bytes. One without an embedding is passed through: it is no result, and its children are
-- looked at. So the entities compared are exactly the start and the children of what was kept or passed through.

CREATE FUNCTION cftrag_internal.cft_tree_search(query vector, mode text, start text[], threshold float8, prune_factor float8, beam integer,
    max_depth integer, top_k integer, budget integer, edges regclass, documents regclass)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    level int := 0;
    more bigint;
    similarities bigint := 0;
    scoring text;
    -- All nodes that were judged: where each was come from is a place in these; nothing is 0.
    trees text[] := '{}';
    names text[] := '{}';
    froms int[] := '{}';
    depths int[] := '{}';
    results bool[] := '{}';
    -- The level at hand, and what of it leads on.
    new_trees text[];
    new_names text[];
    new_froms int[];
    new_results bool[];
    lead_on bool[];
    first_new int;
    -- Scores by entity: one is in several trees, and compared once.
    scored text[] := '{}';
    scores float8[] := '{}';
    asked text[];
    asked_scores float8[];
BEGIN
    IF num_nulls(mode, prune_factor, beam, max_depth) > 0 THEN
        RAISE EXCEPTION 'mode, prune_factor, beam and max_depth must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF mode NOT IN ('prune', 'beam', 'collapsed') THEN
        RAISE EXCEPTION 'there is no mode "%"', mode USING ERRCODE = 'invalid_parameter_value', HINT = 'The modes are prune, beam and collapsed.';
    END IF;
    IF NOT prune_factor BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'prune_factor must be between 0 and 1, not %', prune_factor USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF beam < 1 OR NOT max_depth BETWEEN 0 AND 1000 OR least(top_k, budget) < 0 THEN
        RAISE EXCEPTION 'beam must be at least 1, max_depth between 0 and 1000, k and budget not negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF threshold = 'NaN' THEN
        RAISE EXCEPTION 'threshold must not be NaN' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF query IS NULL THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM cftrag_internal.cft_attached(edges) AS f;
    IF mode = 'collapsed' AND start IS NULL AND max_depth = 1000 THEN
        RETURN QUERY SELECT c.* FROM cftrag_internal.cft_collapsed_search(query, threshold, top_k, budget, forest, documents) AS c;
        RETURN;
    END IF;

    IF start IS NULL THEN
        SELECT array_agg(t.tree ORDER BY t.root COLLATE "C", t.tree COLLATE "C"), array_agg(t.root ORDER BY t.root COLLATE "C", t.tree COLLATE "C")
          INTO new_trees, new_names FROM cftrag_internal.cft_roots(forest) AS t;
    ELSE
        SELECT array_agg(s.tree ORDER BY s.entity COLLATE "C", s.tree COLLATE "C"), array_agg(s.entity ORDER BY s.entity COLLATE "C", s.tree COLLATE "C")
          INTO new_trees, new_names
          FROM (SELECT DISTINCT c.entity COLLATE "C", c.tree COLLATE "C" FROM cftrag_internal.cft_path_prefix(start, forest, NULL, NULL) AS c) AS s(entity, tree);
    END IF;
    scoring := cftrag_internal.cft_scoring(forest, documents);
    new_froms := array_fill(0, ARRAY[coalesce(cardinality(new_names), 0)]);

    WHILE new_names IS NOT NULL LOOP
        asked := ARRAY(SELECT u.name COLLATE "C" FROM unnest(new_names) AS u(name) EXCEPT SELECT u.name COLLATE "C" FROM unnest(scored) AS u(name) ORDER BY 1);
        EXECUTE 'SELECT array_agg(s.score ORDER BY a.n), coalesce(sum(s.compared), 0)
                   FROM unnest($1) WITH ORDINALITY AS a(name, n) LEFT JOIN (' || scoring || ') AS s(name, score, compared) ON s.name = a.name'
        INTO asked_scores, more USING asked, query;
        scored := scored || asked;
        scores := scores || asked_scores;
        similarities := similarities + more;

        SELECT array_agg(j.score IS NULL OR mode = 'collapsed' OR j.kept ORDER BY j.n), array_agg(j.score IS NOT NULL AND j.kept ORDER BY j.n)
          INTO lead_on, new_results
          FROM (SELECT c.n, s.score,
                       s.score >= coalesce(threshold, '-infinity')
                       AND CASE mode WHEN 'prune' THEN s.score >= coalesce(nullif(max(s.score) OVER () - (1 - prune_factor) * abs(max(s.score) OVER ()), 'NaN'), max(s.score) OVER ())
                                     WHEN 'beam' THEN dense_rank() OVER (ORDER BY s.score DESC NULLS LAST, c.name COLLATE "C") <= beam
                                     ELSE true END AS kept
                  FROM unnest(new_names) WITH ORDINALITY AS c(name, n) LEFT JOIN unnest(scored, scores) AS s(name, score) ON s.name = c.name) AS j;
        first_new := cardinality(names);
        trees := trees || new_trees;
        names := names || new_names;
        froms := froms || new_froms;
        depths := depths || array_fill(level, ARRAY[cardinality(new_names)]);
        results := results || new_results;

        EXIT WHEN level = max_depth;
        level := level + 1;
        -- What was judged before is known by its group having a row without a place: whatever the planner expects, that is no nested loop.
        SELECT array_agg(z.tree ORDER BY z.name, z.tree), array_agg(z.name ORDER BY z.name, z.tree), array_agg(z.at ORDER BY z.name, z.tree)
          INTO new_trees, new_names, new_froms
          FROM (SELECT x.name, x.tree, max(x.at) AS at
                  FROM ((SELECT DISTINCT ON (c.relative COLLATE "C", c.tree COLLATE "C") c.relative COLLATE "C" AS name, c.tree COLLATE "C" AS tree, first_new + p.n::int AS at
                           FROM unnest(new_trees, new_names, lead_on) WITH ORDINALITY AS p(tree, name, leads, n)
                           JOIN cftrag_internal.cft_context(ARRAY(SELECT u.name FROM unnest(new_names, lead_on) AS u(name, leads) WHERE u.leads), 0, 1, forest) AS c
                             ON c.entity = p.name AND c.tree IS NOT DISTINCT FROM p.tree
                          WHERE p.leads
                          ORDER BY c.relative COLLATE "C", c.tree COLLATE "C", p.name COLLATE "C")
                        UNION ALL
                        SELECT v.name COLLATE "C", v.tree COLLATE "C", NULL FROM unnest(trees, names) AS v(tree, name)) AS x
                 GROUP BY x.name, x.tree HAVING bool_and(x.at IS NOT NULL)) AS z;
    END LOOP;

    RETURN QUERY
    WITH RECURSIVE hit AS (
        SELECT DISTINCT ON (u.name COLLATE "C") u.n, u.name, u.tree, u.depth, s.score
          FROM unnest(trees, names, depths, results) WITH ORDINALITY AS u(tree, name, depth, result, n)
          JOIN unnest(scored, scores) AS s(name, score) ON s.name = u.name
         WHERE u.result ORDER BY u.name COLLATE "C", u.depth, u.tree COLLATE "C" NULLS FIRST
    ), best AS (
        SELECT hit.*, row_number() OVER (ORDER BY hit.score DESC, hit.depth, hit.name COLLATE "C") AS place FROM hit ORDER BY place LIMIT top_k
    ), up(place, name, tree, depth, score, at, path) AS (
        SELECT b.place, b.name, b.tree, b.depth, b.score, froms[b.n], ARRAY[b.name] FROM best AS b
        UNION ALL
        SELECT u.place, u.name, u.tree, u.depth, u.score, froms[u.at], names[u.at] || u.path FROM up AS u WHERE u.at > 0
    ), said AS (
        -- at < 1, not = 0: of that the planner would expect a row, and for one it would take a nested loop.
        SELECT u.*, t.text, t.tokens, sum(t.tokens) OVER (ORDER BY u.place) AS so_far
          FROM up AS u JOIN cftrag_internal.cft_texts((SELECT array_agg(z.name) FROM best AS z), documents, forest) AS t ON t.entity = u.name
         WHERE u.at < 1
    )
    SELECT s.name, s.tree, s.depth, s.score, s.path, s.text, s.tokens, similarities, cftrag_internal.cft_label(s.name, forest) FROM said AS s WHERE budget IS NULL OR s.so_far <= budget ORDER BY s.place;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_tree_search(vector, text, text[], float8, float8, integer, integer, integer, integer, regclass, regclass) IS 'what cft_tree_search calls';

CREATE FUNCTION cft_tree_search(embedding vector, k integer DEFAULT 10, budget integer DEFAULT NULL, mode text DEFAULT 'prune', start text[] DEFAULT NULL,
    threshold float8 DEFAULT NULL, prune_factor float8 DEFAULT 0.7, beam integer DEFAULT 5, max_depth integer DEFAULT 1000,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 10
BEGIN ATOMIC
    SELECT f.* FROM cftrag_internal.cft_tree_search($1, $4, $5, $6, $7, $8, $9, $2, $3, cftrag_internal.cft_meant_edges($10),
        cftrag_internal.cft_meant_documents($11)) AS f;
END;
COMMENT ON FUNCTION cft_tree_search(vector, integer, integer, text, text[], float8, float8, integer, integer, regclass, regclass) IS
'the entities most similar to an embedding, by a descent from the roots: pruned (Tree-KG, 2025), by beam, or collapsed (RAPTOR, 2024); compared counts the similarities computed';

-- The k nearest entities of a forest, those with children only if wanted. Through the index: more are fetched until there are enough. An index of
-- pgvector ends early (hnsw.ef_search, ivfflat.probes): where it gave less than it was asked for, and that is not enough, the whole table is compared.
CREATE FUNCTION cftrag_internal.cft_nearest_nodes(query vector, k integer, inner_only boolean, edges regclass, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, score float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    m record;
    by_index boolean := k IS NOT NULL;
    wanted bigint := coalesce(greatest(4 * k::bigint, 64), 2147483647);
    nearest text;
    had bigint;
    near text[];
    distances float8[];
    good text[];
BEGIN
    SELECT * INTO m FROM cftrag_internal.cft_meaning(edges, documents);
    LOOP
        -- The sum is no expression of an index.
        nearest := format(
            'SELECT d.%1$I AS key, d.%2$I %3$s $1::%4$s AS distance FROM %5$s AS d
              WHERE d.%2$I IS NOT NULL AND d.%1$I IS NOT NULL ORDER BY %6$s FETCH FIRST ($2) ROWS WITH TIES',
            coalesce(CASE WHEN m.mapping IS NULL THEN m.entity END, m.id), m.embedding, m.operator, m.type, m.relation,
            format(CASE WHEN by_index THEN 'd.%I %s $1::%s' ELSE '(d.%I %s $1::%s) + 0' END, m.embedding, m.operator, m.type));
        EXECUTE 'WITH n AS MATERIALIZED (' || nearest || '), z AS (' || CASE WHEN m.mapping IS NULL
            THEN format('SELECT %s COLLATE "C" AS name, min(nullif(n.distance, ''NaN'')) AS distance FROM n GROUP BY 1', cftrag_internal.cft_as_text('n.key', m.relation, m.entity))
            ELSE format('SELECT %s COLLATE "C" AS name, min(nullif(n.distance, ''NaN'')) AS distance FROM n JOIN %s AS m ON %s GROUP BY 1',
                        cftrag_internal.cft_as_text('m.' || quote_ident(m.mapping_entity), m.mapping, m.mapping_entity), m.mapping,
                        cftrag_internal.cft_same(m.relation, m.id, m.mapping, m.mapping_document, 'n.key')) END
            || ') SELECT (SELECT count(*) FROM n), array_agg(z.name), array_agg(z.distance) FROM z WHERE z.name IS NOT NULL AND z.distance IS NOT NULL'
        INTO had, near, distances USING query, wanted;
        good := ARRAY(SELECT DISTINCT c.entity COLLATE "C" FROM cftrag_internal.cft_context(near, CASE WHEN inner_only THEN 0 ELSE 1 END, 1, edges) AS c);
        EXIT WHEN cardinality(good) >= k OR (had < wanted AND NOT by_index);
        by_index := by_index AND had >= wanted;
        wanted := wanted * CASE WHEN had < wanted THEN 1 ELSE 4 END;
    END LOOP;
    RETURN QUERY
    SELECT u.name, CASE WHEN m.cosine THEN 1 - u.distance ELSE - u.distance END
      FROM unnest(near, distances) AS u(name, distance) JOIN unnest(good) AS g(name) ON g.name = u.name
     ORDER BY u.distance, u.name COLLATE "C" LIMIT k;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_nearest_nodes(vector, integer, boolean, regclass, regclass) IS
'the k entities of a forest nearest to an embedding, or the nearest that have children';

CREATE FUNCTION cftrag_internal.cft_collapsed_search(query vector, threshold float8, top_k integer, budget integer, edges regclass, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH best AS MATERIALIZED (
        SELECT n.entity, n.score FROM cftrag_internal.cft_nearest_nodes(query, top_k, false, edges, documents) AS n WHERE n.score >= coalesce(threshold, '-infinity')
    ), p AS (
        SELECT DISTINCT ON (p.entity COLLATE "C") p.* FROM cftrag_internal.cft_path_prefix(ARRAY(SELECT b.entity FROM best AS b), edges, NULL, ' > ') AS p
         ORDER BY p.entity COLLATE "C", cardinality(p.path), p.tree COLLATE "C" NULLS FIRST
    ), said AS (
        SELECT b.entity, p.tree, cardinality(p.path) - 1 AS depth, b.score, p.path, t.text, t.tokens,
               sum(t.tokens) OVER (ORDER BY b.score DESC, b.entity COLLATE "C") AS so_far
          FROM best AS b JOIN p ON p.entity = b.entity
          JOIN cftrag_internal.cft_texts(ARRAY(SELECT z.entity FROM best AS z), documents, edges) AS t ON t.entity = b.entity
    )
    SELECT s.entity, s.tree, s.depth, s.score, s.path, s.text, s.tokens, NULL::bigint, cftrag_internal.cft_label(s.entity, edges) FROM said AS s
     WHERE budget IS NULL OR s.so_far <= budget ORDER BY s.score DESC, s.entity COLLATE "C";
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_collapsed_search(vector, float8, integer, integer, regclass, regclass) IS
'the entities of a forest most similar to an embedding, whatever their level, through the index on their embeddings (RAPTOR, 2024): cft_tree_search, mode collapsed without a start or depth';
