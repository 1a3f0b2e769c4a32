-- Searches a forest by embeddings: from the top, level by level, or as if it had no levels.
--   prune      Tree-KG (ACL 2025): skips the children of entities that are much less similar than the best
--   beam       RAPTOR's tree traversal (ICLR 2024): the best few of each level lead to the next
--   collapsed  RAPTOR's collapsed tree: all nodes alike, the most similar until the budget of tokens is used. Without start, descend_threshold
--              and max_depth it searches all entities of the forest by the index on their embeddings (which does not say how many it compared: compared is NULL)
-- A level includes that of all trees. In each tree an entity is compared once, at the least depth at which it is reached through expanded nodes;
-- of several such parents, its path has the smallest by bytes. An entity without an embedding is expanded but not returned. Depth 0 (the roots,
-- or start, or else within) is always expanded. So the entities compared are exactly those of depth 0 and the children of expanded nodes.
-- The descent itself is in src/methods/descent.rs.

CREATE FUNCTION cftrag_internal.cft_descend(embedding vector, documents regclass, mode text, trees text[], names text[], threshold float8, descend_threshold float8, prune_factor float8, beam integer,
    max_depth integer, k integer, edges regclass, filter jsonb)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], compared bigint)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_descend_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_descend(vector, regclass, text, text[], text[], float8, float8, float8, integer, integer, integer, regclass, jsonb) IS
'the k best entities that a descent from these entities in these trees finds';

CREATE FUNCTION cftrag_internal.cft_tree_search(embedding vector, mode text, start text[], threshold float8, descend_threshold float8, prune_factor float8, beam integer,
    max_depth integer, k integer, budget integer, edges regclass, documents regclass, within text[] DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    -- Depth 0.
    top_trees text[];
    top_names text[];
BEGIN
    IF num_nulls(mode, prune_factor, beam, max_depth) > 0 THEN
        RAISE EXCEPTION 'mode, prune_factor, beam and max_depth must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF mode NOT IN ('prune', 'beam', 'collapsed') THEN
        RAISE EXCEPTION 'there is no mode "%"', mode USING ERRCODE = 'invalid_parameter_value', HINT = 'The modes are prune, beam and collapsed.';
    END IF;
    IF NOT prune_factor BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION '"prune_factor" must be between 0 and 1, but is %', prune_factor USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF least(k, budget) < 0 THEN
        RAISE EXCEPTION '%', cftrag_internal.cft_negative('{k,budget}', ARRAY[k, budget]) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF beam < 1 THEN
        RAISE EXCEPTION '"beam" must be at least 1, but is %', beam USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT max_depth BETWEEN 0 AND 1000 THEN
        RAISE EXCEPTION '"max_depth" must be between 0 and 1000, but is %', max_depth USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF 'NaN' IN (threshold, descend_threshold) THEN
        RAISE EXCEPTION 'threshold and descend_threshold must not be NaN' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_typeof(filter) <> 'object' THEN
        RAISE EXCEPTION '"filter" must be a JSON object' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Pass an object, for example {"language": "en"}: it selects the documents whose metadata contain it.';
    END IF;
    IF embedding IS NULL THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM cftrag_internal.cft_attached(edges) AS f;
    IF mode = 'collapsed' AND start IS NULL AND descend_threshold IS NULL AND max_depth = 1000 THEN
        RETURN QUERY SELECT c.* FROM cftrag_internal.cft_collapsed_search(embedding, threshold, k, budget, forest, documents, within, filter) AS c;
        RETURN;
    END IF;

    IF start IS NULL AND within IS NULL THEN
        SELECT array_agg(t.tree), array_agg(t.root) INTO top_trees, top_names FROM cftrag_internal.cft_roots(forest) AS t;
    ELSE
        -- If a start is within the bounds in a tree, so are all its descendants in that tree.
        SELECT array_agg(s.tree), array_agg(s.entity) INTO top_trees, top_names FROM cftrag_internal.cft_path_prefix(coalesce(start, within), forest, NULL, NULL) AS s
         WHERE within IS NULL OR s.entity = ANY (within) OR cftrag_internal.cft_those(ARRAY[s.entity], forest, ARRAY[s.tree], within) <> '{}';
    END IF;
    RETURN QUERY
    WITH hit AS MATERIALIZED (
        SELECT d.* FROM cftrag_internal.cft_descend(embedding, documents, mode, top_trees, top_names, threshold, descend_threshold,
                                                    prune_factor, beam, max_depth, k, forest, filter) WITH ORDINALITY AS d(entity, tree, depth, score, path, compared, place)
    ), said AS (
        SELECT h.*, t.text, t.tokens, sum(t.tokens) OVER (ORDER BY h.place) AS so_far
          FROM hit AS h JOIN cftrag_internal.cft_texts(ARRAY(SELECT z.entity FROM hit AS z), documents, forest) AS t ON t.entity = h.entity
    )
    SELECT s.entity, s.tree, s.depth, s.score, s.path, s.text, s.tokens, s.compared, cftrag_internal.cft_label(s.entity, forest) FROM said AS s
     WHERE budget IS NULL OR s.so_far <= budget ORDER BY s.place;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_tree_search(vector, text, text[], float8, float8, float8, integer, integer, integer, integer, regclass, regclass, text[], jsonb) IS 'what cft_tree_search calls';

CREATE FUNCTION cft_tree_search(embedding vector, k integer DEFAULT 10, budget integer DEFAULT NULL, mode text DEFAULT 'collapsed', start text[] DEFAULT NULL,
    threshold float8 DEFAULT NULL, descend_threshold float8 DEFAULT NULL, prune_factor float8 DEFAULT 0.7, beam integer DEFAULT 5, max_depth integer DEFAULT 1000,
    edges regclass DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 10
BEGIN ATOMIC
    SELECT f.* FROM cftrag_internal.cft_tree_search($1, $4, $5, $6, $7, $8, $9, $10, $2, $3, cftrag_internal.cft_meant_edges($11),
        cftrag_internal.cft_meant_documents($13), $12, $14) AS f;
END;
COMMENT ON FUNCTION cft_tree_search(vector, integer, integer, text, text[], float8, float8, float8, integer, integer, regclass, text[], regclass, jsonb) IS
'the entities most similar to an embedding (within these): collapsed, as if there were no levels (RAPTOR, 2024), or by a descent from the roots: pruned (Tree-KG, 2025), or by beam; compared counts the similarities computed';

-- The k nearest entities of a forest; with inner_only, of those with children. Searches by the index, with a growing limit until there are enough. An
-- index scan of pgvector may end early (hnsw.ef_search, ivfflat.probes): if it returns fewer rows than the limit, and too few, the whole table is compared.
CREATE FUNCTION cftrag_internal.cft_nearest_nodes(embedding vector, k integer, inner_only boolean, edges regclass, documents regclass DEFAULT NULL,
    within text[] DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, score float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    m record;
    by_index boolean := k IS NOT NULL;
    wanted bigint := coalesce(greatest(4 * k::bigint, 64), 2147483647);
    nearest text;
    had bigint;
    farthest float8;
    near text[];
    distances float8[];
    good text[];
    only_those text := '';
    parameters text[];
BEGIN
    SELECT * INTO m FROM cftrag_internal.cft_meaning(edges, documents);
    PERFORM cftrag_internal.cft_check_dimensions(embedding, cftrag_internal.cft_dimensions(m.relation, m.embedding));
    -- $2, $3 and $5 are the parameters that cft_is_within uses.
    IF within IS NOT NULL AND m.mapping IS NULL THEN
        only_those := ' AND ' || cftrag_internal.cft_is_within('d.' || quote_ident(m.entity), m.relation, m.entity);
    ELSIF within IS NOT NULL THEN
        only_those := format(' AND EXISTS (SELECT FROM %s AS m WHERE %s AND %s)', m.mapping, cftrag_internal.cft_same(m.relation, m.id, m.mapping, m.mapping_document, 'd'),
                             cftrag_internal.cft_is_within('m.' || quote_ident(m.mapping_entity), m.mapping, m.mapping_entity));
    END IF;
    IF filter IS NOT NULL THEN
        IF m.id IS NULL THEN
            PERFORM cftrag_internal.cft_has_metadata(m.relation, NULL, 4);
        END IF;
        SELECT only_those || ' AND ' || c.condition, c.parameters INTO only_those, parameters FROM cftrag_internal.cft_condition(m.relation, filter, 4) AS c;
    END IF;
    LOOP
        -- "+ 0" keeps the planner from using an index.
        nearest := format(
            'SELECT d.%1$I AS key, d.%2$I %3$s $1::%4$s AS distance FROM %5$s AS d
              WHERE d.%2$I IS NOT NULL AND d.%1$I IS NOT NULL%7$s ORDER BY %6$s LIMIT $6',
            coalesce(CASE WHEN m.mapping IS NULL THEN m.entity END, m.id), m.embedding, m.operator, m.type, m.relation,
            format(CASE WHEN by_index THEN 'd.%I %s $1::%s' ELSE '(d.%I %s $1::%s) + 0' END, m.embedding, m.operator, m.type), only_those);
        EXECUTE 'WITH n AS MATERIALIZED (' || nearest || '), z AS (' || CASE WHEN m.mapping IS NULL
            THEN format('SELECT %s COLLATE "C" AS name, min(nullif(n.distance, ''NaN'')) AS distance FROM n GROUP BY 1', cftrag_internal.cft_as_text('n.key', m.relation, m.entity))
            ELSE format('SELECT %s COLLATE "C" AS name, min(nullif(n.distance, ''NaN'')) AS distance FROM n JOIN %s AS m ON %s GROUP BY 1',
                        cftrag_internal.cft_as_text('m.' || quote_ident(m.mapping_entity), m.mapping, m.mapping_entity), m.mapping,
                        cftrag_internal.cft_same(m.relation, m.id, m.mapping, m.mapping_document, 'n.key')) END
            || ') SELECT (SELECT count(*) FROM n), (SELECT max(n.distance) FROM n), array_agg(z.name), array_agg(z.distance) FROM z WHERE z.name IS NOT NULL AND z.distance IS NOT NULL'
        INTO had, farthest, near, distances USING embedding, within, edges, parameters, NULL::text[], wanted;
        -- Keeps entities of the forest, even without relatives; a document may also be about others that are not within the bounds.
        good := cftrag_internal.cft_those(near, edges, NULL, within);
        IF inner_only THEN
            good := ARRAY(SELECT DISTINCT c.entity COLLATE "C" FROM cftrag_internal.cft_context(good, 0, 1, edges) AS c);
        END IF;
        -- The limit may have cut off some of the rows that are as far away as the last one.
        EXIT WHEN had < wanted AND NOT by_index OR (SELECT count(*) FROM unnest(near, distances) AS u(name, distance) JOIN unnest(good) AS g(name) ON g.name = u.name WHERE u.distance < farthest) >= k;
        by_index := by_index AND had >= wanted;
        wanted := wanted * CASE WHEN had < wanted THEN 1 ELSE 4 END;
    END LOOP;
    RETURN QUERY
    SELECT u.name, CASE WHEN m.cosine THEN 1 - u.distance ELSE - u.distance END
      FROM unnest(near, distances) AS u(name, distance) JOIN unnest(good) AS g(name) ON g.name = u.name
     ORDER BY u.distance, u.name COLLATE "C" LIMIT k;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_nearest_nodes(vector, integer, boolean, regclass, regclass, text[], jsonb) IS
'the k entities of a forest nearest to an embedding, or the nearest that have children';

CREATE FUNCTION cftrag_internal.cft_collapsed_search(embedding vector, threshold float8, k integer, budget integer, edges regclass, documents regclass DEFAULT NULL,
    within text[] DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH best AS MATERIALIZED (
        SELECT n.entity, n.score FROM cftrag_internal.cft_nearest_nodes(embedding, k, false, edges, documents, within, filter) AS n WHERE n.score >= coalesce(threshold, '-infinity')
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
COMMENT ON FUNCTION cftrag_internal.cft_collapsed_search(vector, float8, integer, integer, regclass, regclass, text[], jsonb) IS
'the entities of a forest most similar to an embedding, whatever their level, through the index on their embeddings (RAPTOR, 2024): cft_tree_search, mode collapsed without a start or depth';
