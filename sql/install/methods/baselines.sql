-- The parts of the papers' baselines, which are modes of cft_retrieve: src/retrieve/baselines.rs.

CREATE FUNCTION cftrag_internal.cft_found_by_search(entities text[], edges regclass) RETURNS SETOF text
LANGUAGE c STABLE PARALLEL SAFE COST 100000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_found_by_search_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_found_by_search(text[], regclass) IS
'which entities T-RAG finds: each is looked for from the roots of all trees, breadth first';

CREATE FUNCTION cftrag_internal.cft_sentences_of_neighbors(entities text[], hops integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS TABLE(entity text, text text)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5
AS 'MODULE_PATHNAME', 'cft_sentences_of_neighbors_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_sentences_of_neighbors(text[], integer, regclass, text[]) IS
'entities within so many steps of each entity, whatever the tree and the direction, the nearest first, as a sentence';
