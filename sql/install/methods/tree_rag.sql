-- TreeRAG (Tao et al., Findings of ACL 2025): parts of a document are embedded together with the path above them
-- (Tree-Chunking), and retrieval goes up from the leaves found, and from there down to all leaves (bidirectional
-- traversal).

-- The path to an entity, in each of its trees. It starts at the nearest root above the entity, ties going to the
-- smallest name by bytes; in a cycle without a root, at the farthest ancestor. It is the shortest path, ties going to
-- the names that are the smallest by bytes from the top on.
CREATE FUNCTION cftrag_internal.cft_path_prefix(entities text[], edges regclass, trees text[], separator text)
RETURNS TABLE(entity text, tree text, path text[], prefix text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_path_prefix_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_path_prefix(text[], regclass, text[], text) IS 'twin of cft_path_prefix';

CREATE FUNCTION cft_path_prefix(entities text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    separator text DEFAULT ' > ')
RETURNS TABLE(entity text, tree text, path text[], prefix text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_path_prefix_wrapper';
COMMENT ON FUNCTION cft_path_prefix(text[], regclass, text[], text) IS
'the path from the top to each entity, in each of its trees, or of these: to put before a text when it is embedded '
'(TreeRAG, 2025)';

CREATE FUNCTION cft_path_prefix(entity text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    separator text DEFAULT ' > ')
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 10000
AS 'MODULE_PATHNAME', 'cft_path_prefix_one_wrapper';
COMMENT ON FUNCTION cft_path_prefix(text, regclass, text[], text) IS
'the path from the top to an entity, in the first of its trees, or of these; NULL if it is in none';

-- Ids need no cast.
CREATE FUNCTION cft_path_prefix(id bigint, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    separator text DEFAULT ' > ')
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 10000
BEGIN ATOMIC SELECT cft_path_prefix($1::text, $2, $3, $4); END;
COMMENT ON FUNCTION cft_path_prefix(bigint, regclass, text[], text) IS 'cft_path_prefix for an integer id';

CREATE FUNCTION cft_path_prefix(uuid uuid, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    separator text DEFAULT ' > ')
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 10000
BEGIN ATOMIC SELECT cft_path_prefix($1::text, $2, $3, $4); END;
COMMENT ON FUNCTION cft_path_prefix(uuid, regclass, text[], text) IS 'cft_path_prefix for a uuid';

CREATE FUNCTION cft_path_prefix(ids bigint[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    separator text DEFAULT ' > ')
RETURNS TABLE(entity text, tree text, path text[], prefix text) LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 20
BEGIN ATOMIC SELECT f.* FROM cft_path_prefix($1::text[], $2, $3, $4) AS f; END;
COMMENT ON FUNCTION cft_path_prefix(bigint[], regclass, text[], text) IS 'cft_path_prefix for an array of integer ids';

CREATE FUNCTION cft_path_prefix(uuids uuid[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    separator text DEFAULT ' > ')
RETURNS TABLE(entity text, tree text, path text[], prefix text) LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 20
BEGIN ATOMIC SELECT f.* FROM cft_path_prefix($1::text[], $2, $3, $4) AS f; END;
COMMENT ON FUNCTION cft_path_prefix(uuid[], regclass, text[], text) IS 'cft_path_prefix for an array of uuids';

-- In each tree, each hit climbs to the nearest of itself and its ancestors that has at least min_support hits at or
-- below it (within up levels of these); ties go to the one with the most hits, then to the smallest by bytes. A hit
-- that meets no others stays by itself, in the first of its trees. Where hits meet, all descendants within down levels
-- are added, each from the nearest meeting point. At most k rows are returned: the hits, then the nearest to a meeting
-- point. Order: by tree, then as in a document: an entity before its descendants, siblings by position and then by
-- name, in which digits sort as numbers. See src/methods/expansion.rs.
CREATE FUNCTION cftrag_internal.cft_expansion(hits text[], up integer, down integer, min_support integer, k integer,
    edges regclass)
RETURNS TABLE(entity text, tree text, common text, support integer, hit boolean, leaf boolean, more bigint, path text[],
    label text)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 50
AS 'MODULE_PATHNAME', 'cft_expansion_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_expansion(text[], integer, integer, integer, integer, regclass) IS
'the rows of cft_expand, without their texts';

CREATE FUNCTION cft_expand(entities text[], k integer DEFAULT 1000, up integer DEFAULT 3, down integer DEFAULT 3,
    min_support integer DEFAULT 2,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, tree text, common text, support integer, hit boolean, leaf boolean, path text[], text text,
    tokens bigint, label text, more bigint)
LANGUAGE c STABLE PARALLEL SAFE COST 10000 ROWS 50
AS 'MODULE_PATHNAME', 'cft_expand_wrapper';
COMMENT ON FUNCTION cft_expand(text[], integer, integer, integer, integer, regclass, regclass) IS
'from entities that were found up to where they meet, and from there down to the leaves, in document order (TreeRAG, '
'2025): the k nearest; more counts an entity''s children that are not among them';
