-- A forest is searched from its top by embeddings, level by level; or as if it had no levels.
--   prune      Tree-KG (ACL 2025): children of what is much less similar than the best are not looked at
--   beam       RAPTOR's tree traversal (ICLR 2024): the best few of each level lead to the next
--   collapsed  RAPTOR's collapsed tree: all nodes alike, the most similar until the budget of tokens is used. Without start,
--              descend_threshold and max_depth these are all entities of the forest, found through the index on their embeddings (what it compares is its own matter: compared is NULL)
-- A level is that of all trees together. In a tree each entity is judged once, at the least depth at which it is reached through nodes that
-- lead on; of several such parents, its path has the smallest by bytes. One without an embedding is passed through: it is no result, and its children are
-- looked at. Depth 0, the roots or the start (or else what is searched within), always leads on. So the entities compared are exactly those of depth 0 and the children of what leads on.
--
-- What was judged is kept in arrays and found by a hash table of its names, all written in place, an element at a time: a level costs what is new in it.
-- An array that is given to a statement, sliced or concatenated is copied: inside the loop over the levels that is done to none that outlives a level.

CREATE FUNCTION cftrag_internal.cft_tree_search(query vector, mode text, start text[], threshold float8, descend_threshold float8, prune_factor float8, beam integer,
    max_depth integer, top_k integer, budget integer, edges regclass, documents regclass, within text[] DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    scoring text;
    level int := 0;
    -- The nodes in the order they are judged, all of a level together. A place is an index into these; no node is place 0.
    n int := 0;
    names text[] := '{}';
    trees text[] := '{}';
    froms int[] := '{}';
    -- By place too, written only where there is something to say: a million writes take a tenth of a second. leads is false of what does not lead on.
    scores float8[] := '{NULL}';
    leads bool[] := '{NULL}';
    -- An entity in several trees is several nodes: at all but the first, the place of the first. Its score is there, and the place of its result.
    firsts int[] := '{NULL}';
    hits int[] := '{NULL}';
    -- The hash table: places by the hash of the name, and after each place the next of that hash.
    size int := 1024;
    slots int[] := array_fill(0, ARRAY[1024]);
    nexts int[] := '{}';
    -- The levels' first places.
    starts int[] := '{}';
    -- The level at hand: what it is made of (depth 0), or what leads to it; its first place; the names to score; the rule of its mode.
    top_trees text[];
    top_names text[];
    leaders text[] := '{}';
    first_new int;
    asked text[];
    ranked_names text[];
    ranked_scores float8[];
    best float8;
    last_name text;
    one float8;
    is_kept bool;
    c record;
    at int;
    parent int;
    of_parent text;
    of_tree text;
    same int;
    slot int;
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
    IF 'NaN' IN (threshold, descend_threshold) THEN
        RAISE EXCEPTION 'threshold and descend_threshold must not be NaN' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_typeof(filter) <> 'object' THEN
        RAISE EXCEPTION '"filter" must be a JSON object' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'For example {"language": "en"}: a document has it if its metadata contain it.';
    END IF;
    IF query IS NULL THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM cftrag_internal.cft_attached(edges) AS f;
    IF mode = 'collapsed' AND start IS NULL AND descend_threshold IS NULL AND max_depth = 1000 THEN
        RETURN QUERY SELECT c.* FROM cftrag_internal.cft_collapsed_search(query, threshold, top_k, budget, forest, documents, within, filter) AS c;
        RETURN;
    END IF;

    IF start IS NULL AND within IS NULL THEN
        SELECT array_agg(t.tree), array_agg(t.root) INTO top_trees, top_names FROM cftrag_internal.cft_roots(forest) AS t;
    ELSE
        -- All that is below a start in a tree is within, if the start is so in that tree.
        SELECT array_agg(s.tree), array_agg(s.entity) INTO top_trees, top_names FROM cftrag_internal.cft_path_prefix(coalesce(start, within), forest, NULL, NULL) AS s
         WHERE within IS NULL OR s.entity = ANY (within) OR cftrag_internal.cft_those(ARRAY[s.entity], forest, ARRAY[s.tree], within) <> '{}';
    END IF;
    scoring := cftrag_internal.cft_scoring(forest, documents, filter IS NOT NULL);
    threshold := coalesce(threshold, '-infinity');
    descend_threshold := coalesce(descend_threshold, '-infinity');
    compared := 0;

    LOOP
        first_new := n + 1;
        starts := array_append(starts, first_new);
        asked := '{}';
        parent := NULL;
        FOR c IN SELECT NULL AS parent, t.tree, t.name, NULL AS parent_hash, hashtext(t.name COLLATE "C") AS hash FROM unnest(top_trees, top_names) AS t(tree, name)
                 UNION ALL
                 SELECT r.entity, r.tree, r.relative, hashtext(r.entity COLLATE "C"), hashtext(r.relative COLLATE "C")
                   FROM cftrag_internal.cft_context(leaders, 0, 1, forest) AS r
        LOOP
            -- A parent's children in a tree follow each other. If it led on in another tree only, it has the place -1 here.
            IF parent IS NULL OR of_parent <> c.parent COLLATE "C" OR of_tree IS DISTINCT FROM c.tree COLLATE "C" THEN
                of_parent := c.parent;
                of_tree := c.tree;
                parent := coalesce(slots[(c.parent_hash & (size - 1)) + 1], 0);
                WHILE parent > 0 AND (names[parent] <> c.parent COLLATE "C" OR trees[parent] IS DISTINCT FROM c.tree COLLATE "C") LOOP
                    parent := nexts[parent];
                END LOOP;
                IF level > 0 AND (parent NOT BETWEEN starts[level] AND first_new - 1 OR leads[parent] IS FALSE) THEN
                    parent := -1;
                END IF;
            END IF;
            CONTINUE WHEN parent < 0;
            slot := (c.hash & (size - 1)) + 1;
            at := slots[slot];
            same := NULL;
            IF at > 0 THEN
                WHILE at > 0 LOOP
                    IF names[at] = c.name COLLATE "C" THEN
                        EXIT WHEN trees[at] IS NOT DISTINCT FROM c.tree COLLATE "C";
                        same := coalesce(firsts[at], at);
                    END IF;
                    at := nexts[at];
                END LOOP;
                IF at > 0 THEN
                    IF at >= first_new AND names[parent] < names[froms[at]] COLLATE "C" THEN
                        froms[at] := parent;
                    END IF;
                    CONTINUE;
                END IF;
            END IF;
            n := n + 1;
            names[n] := c.name;
            trees[n] := c.tree;
            froms[n] := parent;
            nexts[n] := slots[slot];
            slots[slot] := n;
            IF same > 0 THEN
                firsts[n] := same;
                asked := array_append(asked, NULL);
            ELSE
                asked := array_append(asked, c.name);
            END IF;
            IF n = size THEN
                size := 8 * size;
                slots := array_fill(0, ARRAY[size]);
                FOR i IN 1 .. n LOOP
                    slot := (hashtext(names[i] COLLATE "C") & (size - 1)) + 1;
                    nexts[i] := slots[slot];
                    slots[slot] := i;
                END LOOP;
            END IF;
        END LOOP;
        EXIT WHEN n < first_new;

        -- An entity of several embeddings has its nearest.
        FOR c IN EXECUTE scoring USING asked, query, filter LOOP
            compared := compared + 1;
            at := first_new - 1 + c.place;
            scores[at] := greatest(scores[at], c.score);
        END LOOP;

        -- What the mode keeps is what is better than best, or as good and, in mode beam, no later by name than last_name. Without a best that is all.
        best := NULL;
        IF mode = 'prune' THEN
            FOR i IN first_new .. n LOOP
                best := greatest(best, scores[coalesce(firsts[i], i)]);
            END LOOP;
            best := coalesce(nullif(best - (1 - prune_factor) * abs(best), 'NaN'), best);
        ELSIF mode = 'beam' THEN
            ranked_names := '{}';
            ranked_scores := '{}';
            FOR i IN first_new .. n LOOP
                ranked_names := array_append(ranked_names, names[i]);
                ranked_scores := array_append(ranked_scores, scores[coalesce(firsts[i], i)]);
            END LOOP;
            SELECT r.score, r.name INTO best, last_name
              FROM (SELECT DISTINCT u.score, u.name COLLATE "C" FROM unnest(ranked_scores, ranked_names) AS u(score, name) WHERE u.score IS NOT NULL) AS r(score, name)
             ORDER BY r.score DESC, r.name COLLATE "C" OFFSET beam - 1 LIMIT 1;
        END IF;

        leaders := '{}';
        FOR i IN first_new .. n LOOP
            same := coalesce(firsts[i], i);
            one := scores[same];
            is_kept := best IS NULL OR one > best OR (one = best AND (mode = 'prune' OR names[i] <= last_name COLLATE "C"));
            IF one IS NULL OR level = 0 OR (is_kept AND one >= descend_threshold) THEN
                leaders := array_append(leaders, names[i]);
            ELSE
                leads[i] := false;
            END IF;
            -- An entity is one result: of the least depth, then of the first tree.
            IF is_kept AND one >= threshold THEN
                IF hits[same] IS NULL OR (hits[same] >= first_new AND coalesce(trees[i] < trees[hits[same]] COLLATE "C", trees[i] IS NULL)) THEN
                    hits[same] := i;
                END IF;
            END IF;
        END LOOP;
        EXIT WHEN level = max_depth;
        level := level + 1;
        top_trees := NULL;
        top_names := NULL;
    END LOOP;

    FOR c IN
        WITH hit AS MATERIALIZED (
            SELECT u.name, u.place, u.score, width_bucket(u.place, starts) - 1 AS depth FROM unnest(names, hits, scores) AS u(name, place, score)
             WHERE u.place IS NOT NULL ORDER BY u.score DESC, depth, u.name COLLATE "C" LIMIT top_k
        ), said AS (
            SELECT h.*, t.text, t.tokens, sum(t.tokens) OVER (ORDER BY h.score DESC, h.depth, h.name COLLATE "C") AS so_far
              FROM hit AS h JOIN cftrag_internal.cft_texts((SELECT array_agg(z.name) FROM hit AS z), documents, forest) AS t ON t.entity = h.name
        )
        SELECT s.*, cftrag_internal.cft_label(s.name, forest) AS label FROM said AS s
         WHERE budget IS NULL OR s.so_far <= budget ORDER BY s.score DESC, s.depth, s.name COLLATE "C"
    LOOP
        entity := c.name;
        tree := trees[c.place];
        depth := c.depth;
        score := c.score;
        text := c.text;
        tokens := c.tokens;
        label := c.label;
        path := '{}';
        at := c.place;
        WHILE at > 0 LOOP
            path := array_prepend(names[at], path);
            at := froms[at];
        END LOOP;
        RETURN NEXT;
    END LOOP;
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

-- The k nearest entities of a forest, those with children only if wanted. Through the index: more are fetched until there are enough. An index of
-- pgvector ends early (hnsw.ef_search, ivfflat.probes): where it gave less than it was asked for, and that is not enough, the whole table is compared.
CREATE FUNCTION cftrag_internal.cft_nearest_nodes(query vector, k integer, inner_only boolean, edges regclass, documents regclass DEFAULT NULL,
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
    near text[];
    distances float8[];
    good text[];
    only_those text := '';
BEGIN
    SELECT * INTO m FROM cftrag_internal.cft_meaning(edges, documents);
    -- $2, $3, $5: as cft_is_within names them.
    IF within IS NOT NULL AND m.mapping IS NULL THEN
        only_those := ' AND ' || cftrag_internal.cft_is_within('d.' || quote_ident(m.entity), m.relation, m.entity);
    ELSIF within IS NOT NULL THEN
        only_those := format(' AND EXISTS (SELECT FROM %s AS m WHERE %s AND %s)', m.mapping, cftrag_internal.cft_same(m.relation, m.id, m.mapping, m.mapping_document, 'd'),
                             cftrag_internal.cft_is_within('m.' || quote_ident(m.mapping_entity), m.mapping, m.mapping_entity));
    END IF;
    IF filter IS NOT NULL THEN
        only_those := only_those || cftrag_internal.cft_has_metadata(m.relation, m.metadata, 4);
    END IF;
    LOOP
        -- The sum is no expression of an index.
        nearest := format(
            'SELECT d.%1$I AS key, d.%2$I %3$s $1::%4$s AS distance FROM %5$s AS d
              WHERE d.%2$I IS NOT NULL AND d.%1$I IS NOT NULL%7$s ORDER BY %6$s FETCH FIRST ($6) ROWS WITH TIES',
            coalesce(CASE WHEN m.mapping IS NULL THEN m.entity END, m.id), m.embedding, m.operator, m.type, m.relation,
            format(CASE WHEN by_index THEN 'd.%I %s $1::%s' ELSE '(d.%I %s $1::%s) + 0' END, m.embedding, m.operator, m.type), only_those);
        EXECUTE 'WITH n AS MATERIALIZED (' || nearest || '), z AS (' || CASE WHEN m.mapping IS NULL
            THEN format('SELECT %s COLLATE "C" AS name, min(nullif(n.distance, ''NaN'')) AS distance FROM n GROUP BY 1', cftrag_internal.cft_as_text('n.key', m.relation, m.entity))
            ELSE format('SELECT %s COLLATE "C" AS name, min(nullif(n.distance, ''NaN'')) AS distance FROM n JOIN %s AS m ON %s GROUP BY 1',
                        cftrag_internal.cft_as_text('m.' || quote_ident(m.mapping_entity), m.mapping, m.mapping_entity), m.mapping,
                        cftrag_internal.cft_same(m.relation, m.id, m.mapping, m.mapping_document, 'n.key')) END
            || ') SELECT (SELECT count(*) FROM n), array_agg(z.name), array_agg(z.distance) FROM z WHERE z.name IS NOT NULL AND z.distance IS NOT NULL'
        INTO had, near, distances USING query, within, edges, filter, NULL::text[], wanted;
        good := ARRAY(SELECT DISTINCT c.entity COLLATE "C" FROM cftrag_internal.cft_context(near, CASE WHEN inner_only THEN 0 ELSE 1 END, 1, edges) AS c);
        -- A document may be about others besides.
        IF within IS NOT NULL THEN
            good := cftrag_internal.cft_those(good, edges, NULL, within);
        END IF;
        EXIT WHEN cardinality(good) >= k OR (had < wanted AND NOT by_index);
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

CREATE FUNCTION cftrag_internal.cft_collapsed_search(query vector, threshold float8, top_k integer, budget integer, edges regclass, documents regclass DEFAULT NULL,
    within text[] DEFAULT NULL, filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, tree text, depth integer, score float8, path text[], text text, tokens bigint, compared bigint, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH best AS MATERIALIZED (
        SELECT n.entity, n.score FROM cftrag_internal.cft_nearest_nodes(query, top_k, false, edges, documents, within, filter) AS n WHERE n.score >= coalesce(threshold, '-infinity')
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
