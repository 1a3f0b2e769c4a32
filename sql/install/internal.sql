-- Twins: the public functions that the extension's own SQL calls, over the same C code.

CREATE FUNCTION cftrag_internal.cft_context(entity text, up integer, down integer, edges regclass,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative
LANGUAGE c STABLE PARALLEL SAFE COST 20 ROWS 10 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_one_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_context(text, integer, integer, regclass, text[]) IS 'twin of cft_context';

CREATE FUNCTION cftrag_internal.cft_context(entities text[], up integer, down integer, edges regclass,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative
LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 100 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_many_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_context(text[], integer, integer, regclass, text[]) IS 'twin of cft_context';

CREATE FUNCTION cftrag_internal.cft_entities(question text, edges regclass, trees text[] DEFAULT NULL,
    within text[] DEFAULT NULL, overlapping boolean DEFAULT false,
    match text DEFAULT NULL, narrow boolean DEFAULT false)
RETURNS SETOF cft_mention
LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 10 SUPPORT cftrag_internal.cft_entities_support
AS 'MODULE_PATHNAME', 'cft_entities_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_entities(text, regclass, text[], text[], boolean, text, boolean) IS
'twin of cft_entities';

CREATE FUNCTION cftrag_internal.cft_first_mentions(question text, edges regclass, trees text[], within text[],
    match text DEFAULT NULL, narrow boolean DEFAULT false)
RETURNS SETOF cft_mention
LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 10
AS 'MODULE_PATHNAME', 'cft_first_mentions_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_first_mentions(text, regclass, text[], text[], text, boolean) IS
'of the rows of cft_entities, the first of each entity';

CREATE FUNCTION cftrag_internal.cft_roots(edges regclass, trees text[] DEFAULT NULL)
RETURNS TABLE(tree text, root text, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 100000 ROWS 100
AS 'MODULE_PATHNAME', 'cft_roots_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_roots(regclass, text[]) IS 'twin of cft_roots';

-- The type of the documents' entities is known only when a statement over them is made; the ancestors are given by
-- name.
CREATE FUNCTION cftrag_internal.cft_under(entity anyelement, ancestors text[], edges regclass, trees text[])
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_under(anyelement, text[], regclass, text[]) IS
'twin of cft_under, for entities of type text, integer, bigint or uuid';

CREATE FUNCTION cftrag_internal.cft_descendants(ancestors text[], edges regclass, trees text[], entity anyelement)
RETURNS anyarray LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_descendants(text[], regclass, text[], anyelement) IS
'twin of cft_descendants, for an array of a given type';
