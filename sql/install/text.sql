-- The hierarchy as text: the rows of cft_context, in the same order.

CREATE FUNCTION cft_context_text(entity text, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL, template text DEFAULT NULL)
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 20 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_text_one_wrapper';
COMMENT ON FUNCTION cft_context_text(text, integer, integer, regclass, text[], text) IS
'the hierarchy around an entity as sentences, the same bytes for the same data; NULL if it has no relatives';

CREATE FUNCTION cft_context_text(entities text[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, template text DEFAULT NULL)
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 200 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_text_many_wrapper';
COMMENT ON FUNCTION cft_context_text(text[], integer, integer, regclass, text[], text) IS
'the hierarchy around many entities as sentences, entities in the order of their first occurrence';

CREATE FUNCTION cft_context_parts(entities text[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS TABLE(entity text, tree text, relation text, text text)
LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 20
AS 'MODULE_PATHNAME', 'cft_context_parts_wrapper';
COMMENT ON FUNCTION cft_context_parts(text[], integer, integer, regclass, text[]) IS
'the sentences of cft_context_text, one for each entity, tree and relation';

CREATE FUNCTION cft_context_json(entity text, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS json LANGUAGE c STABLE PARALLEL SAFE COST 20 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_json_one_wrapper';
COMMENT ON FUNCTION cft_context_json(text, integer, integer, regclass, text[]) IS
'the hierarchy around an entity: {entity, label, trees: [{tree, ancestors: [{entity, label, depth, via}], '
'descendants}]}; NULL if it has no relatives';

CREATE FUNCTION cft_context_json(entities text[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS json LANGUAGE c STABLE PARALLEL SAFE COST 200 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_json_many_wrapper';
COMMENT ON FUNCTION cft_context_json(text[], integer, integer, regclass, text[]) IS
'an array of what cft_context_json gives for each entity that has relatives';

CREATE FUNCTION cft_tree(entity text, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL, format text DEFAULT 'text',
    lines integer DEFAULT 100)
RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_tree_wrapper';
COMMENT ON FUNCTION cft_tree(text, integer, integer, regclass, text[], text, integer) IS
'the picture of an entity''s place in its trees, as text, mermaid, dot or json: its ancestors, itself, its '
'descendants; NULL if it is not there';

-- Ids need no cast.
CREATE FUNCTION cft_context_text(id bigint, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL, template text DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 20
BEGIN ATOMIC SELECT cft_context_text($1::text, $2, $3, $4, $5, $6); END;
COMMENT ON FUNCTION cft_context_text(bigint, integer, integer, regclass, text[], text) IS
'cft_context_text for an integer id';

CREATE FUNCTION cft_context_text(uuid uuid, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL, template text DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 20
BEGIN ATOMIC SELECT cft_context_text($1::text, $2, $3, $4, $5, $6); END;
COMMENT ON FUNCTION cft_context_text(uuid, integer, integer, regclass, text[], text) IS 'cft_context_text for a uuid';

CREATE FUNCTION cft_context_text(ids bigint[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, template text DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 200
BEGIN ATOMIC SELECT cft_context_text($1::text[], $2, $3, $4, $5, $6); END;
COMMENT ON FUNCTION cft_context_text(bigint[], integer, integer, regclass, text[], text) IS
'cft_context_text for an array of integer ids';

CREATE FUNCTION cft_context_text(uuids uuid[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, template text DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 200
BEGIN ATOMIC SELECT cft_context_text($1::text[], $2, $3, $4, $5, $6); END;
COMMENT ON FUNCTION cft_context_text(uuid[], integer, integer, regclass, text[], text) IS
'cft_context_text for an array of uuids';

CREATE FUNCTION cft_context_json(id bigint, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS json LANGUAGE sql STABLE PARALLEL SAFE COST 20
BEGIN ATOMIC SELECT cft_context_json($1::text, $2, $3, $4, $5); END;
COMMENT ON FUNCTION cft_context_json(bigint, integer, integer, regclass, text[]) IS
'cft_context_json for an integer id';

CREATE FUNCTION cft_context_json(uuid uuid, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS json LANGUAGE sql STABLE PARALLEL SAFE COST 20
BEGIN ATOMIC SELECT cft_context_json($1::text, $2, $3, $4, $5); END;
COMMENT ON FUNCTION cft_context_json(uuid, integer, integer, regclass, text[]) IS 'cft_context_json for a uuid';

CREATE FUNCTION cft_context_json(ids bigint[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS json LANGUAGE sql STABLE PARALLEL SAFE COST 200
BEGIN ATOMIC SELECT cft_context_json($1::text[], $2, $3, $4, $5); END;
COMMENT ON FUNCTION cft_context_json(bigint[], integer, integer, regclass, text[]) IS
'cft_context_json for an array of integer ids';

CREATE FUNCTION cft_context_json(uuids uuid[], up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS json LANGUAGE sql STABLE PARALLEL SAFE COST 200
BEGIN ATOMIC SELECT cft_context_json($1::text[], $2, $3, $4, $5); END;
COMMENT ON FUNCTION cft_context_json(uuid[], integer, integer, regclass, text[]) IS
'cft_context_json for an array of uuids';

CREATE FUNCTION cft_tree(id bigint, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL, format text DEFAULT 'text',
    lines integer DEFAULT 100)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 100
BEGIN ATOMIC SELECT cft_tree($1::text, $2, $3, $4, $5, $6, $7); END;
COMMENT ON FUNCTION cft_tree(bigint, integer, integer, regclass, text[], text, integer) IS 'cft_tree for an integer id';

CREATE FUNCTION cft_tree(uuid uuid, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL, format text DEFAULT 'text',
    lines integer DEFAULT 100)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 100
BEGIN ATOMIC SELECT cft_tree($1::text, $2, $3, $4, $5, $6, $7); END;
COMMENT ON FUNCTION cft_tree(uuid, integer, integer, regclass, text[], text, integer) IS 'cft_tree for a uuid';
