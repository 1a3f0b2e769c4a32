-- The baselines of the papers: modes of cft_retrieve, to compare with. docs/quality.md has the measurements. For 400 questions over the Disease
-- Ontology, each with 5 documents, cft finds all the names asked for, in 168 words. The others:
--   naive      T-RAG: entities are searched from the roots of all trees. The answer is that of cft; it costs 8 to 92 times as much, by the number of trees.
--   ann_tree   hierarchy of the entities nearest to the question's embedding: 0.99 of the names, 263 words; needs no name in the question.
--   ann_graph  their neighbours, without trees and directions: 0.88 of the names, 230 words.
--   text       documents alone: 0.69 of the names, 138 words; 0.86 with 20 documents, 590 words.

CREATE FUNCTION cftrag_internal.cft_found_by_search(entities text[], edges regclass) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
BEGIN
    SELECT * INTO f FROM cftrag_internal.cft_attached(edges);
    -- Materialized: with an index on the parent, each step would read the rows of all trees.
    RETURN QUERY EXECUTE format(
        'WITH RECURSIVE e AS MATERIALIZED (
             SELECT coalesce(%1$s, '''') COLLATE "C" AS tree, %2$s COLLATE "C" AS parent, %3$s COLLATE "C" AS child FROM %4$s AS r
              WHERE %2$s IS NOT NULL AND %3$s IS NOT NULL),
         search(tree, node) AS (
             SELECT e.tree, e.parent FROM e
              WHERE NOT EXISTS (SELECT FROM e AS above WHERE above.child = e.parent AND above.tree = e.tree)
             UNION
             SELECT e.tree, e.child FROM search AS s JOIN e ON e.parent = s.node AND e.tree = s.tree)
         SELECT q.name FROM unnest($1) AS q(name) WHERE q.name COLLATE "C" IN (SELECT s.node FROM search AS s) GROUP BY 1 ORDER BY q.name COLLATE "C"',
        coalesce(cftrag_internal.cft_as_text('r.' || quote_ident(f.tree), f.edges, f.tree), 'NULL::text'),
        cftrag_internal.cft_as_text('r.' || quote_ident(f.parent), f.edges, f.parent), cftrag_internal.cft_as_text('r.' || quote_ident(f.child), f.edges, f.child), f.edges)
    USING entities;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_found_by_search(text[], regclass) IS
'which entities T-RAG finds: each is looked for from the roots of all trees, breadth first';

CREATE FUNCTION cftrag_internal.cft_sentences_of_neighbors(entities text[], hops integer DEFAULT 1, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS TABLE(entity text, text text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    start text;
    last_two text[];
    edge_of_it text[];
    reached text[];
    called text[];
    one text;
BEGIN
    FOR start IN SELECT u.name FROM unnest(entities) WITH ORDINALITY AS u(name, n) WHERE u.name IS NOT NULL GROUP BY u.name ORDER BY min(u.n) LOOP
        last_two := ARRAY[start];
        edge_of_it := ARRAY[start];
        reached := '{}';
        FOR hop IN 1 .. hops LOOP
            -- The neighbours of an entity n steps away are n - 1, n or n + 1 steps away.
            SELECT z.now, edge_of_it || z.now INTO edge_of_it, last_two
              FROM (SELECT ARRAY(SELECT c.relative COLLATE "C" FROM cftrag_internal.cft_context(edge_of_it, 1, 1, edges, trees) AS c
                                 EXCEPT SELECT unnest(last_two) COLLATE "C" ORDER BY 1)) AS z(now);
            EXIT WHEN edge_of_it = '{}';
            -- One by one: array_append on a variable works in place.
            FOREACH one IN ARRAY edge_of_it LOOP
                reached := array_append(reached, one);
            END LOOP;
        END LOOP;
        IF reached <> '{}' THEN
            entity := start;
            called := cftrag_internal.cft_called(start || reached, edges);
            text := format('The neighbours of %s within %s %s are: %s.', called[1], hops, CASE hops WHEN 1 THEN 'step' ELSE 'steps' END,
                           array_to_string(called[2:], CASE WHEN strpos(array_to_string(called[2:], ' '), ',') > 0 THEN '; ' ELSE ', ' END));
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_sentences_of_neighbors(text[], integer, regclass, text[]) IS
'entities within so many steps of each entity, whatever the tree and the direction, the nearest first, as a sentence';
