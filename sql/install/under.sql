-- Search within a hierarchy: which entities are below others. Functions of one name share one C function and differ in
-- the type of an entity.

CREATE FUNCTION cftrag_internal.cft_under_support(internal) RETURNS internal
LANGUAGE c STRICT
AS 'MODULE_PATHNAME', 'cft_under_support_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_under_support(internal) IS
'tells the planner how many rows cft_under holds for, what it costs, and which index finds them';

CREATE FUNCTION cft_under(entity text, ancestor text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(text, text, regclass, text[]) IS
'whether an entity is that ancestor or below it, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity text, ancestors text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(text, text[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity integer, ancestor integer, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(integer, integer, regclass, text[]) IS
'whether an entity is that ancestor or below it, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity integer, ancestors bigint[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(integer, bigint[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity bigint, ancestor bigint, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(bigint, bigint, regclass, text[]) IS
'whether an entity is that ancestor or below it, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity bigint, ancestors bigint[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(bigint, bigint[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity uuid, ancestor uuid, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(uuid, uuid, regclass, text[]) IS
'whether an entity is that ancestor or below it, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity uuid, ancestors uuid[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(uuid, uuid[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

-- What cft_entities finds needs no cast.
CREATE FUNCTION cft_under(entity integer, ancestors text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(integer, text[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity bigint, ancestors text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(bigint, text[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_under(entity uuid, ancestors text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 10 SUPPORT cftrag_internal.cft_under_support
AS 'MODULE_PATHNAME', 'cft_under_wrapper';
COMMENT ON FUNCTION cft_under(uuid, text[], regclass, text[]) IS
'whether an entity is one of these or below one, in any tree (in these trees), at any depth';

CREATE FUNCTION cft_descendants(ancestor text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS text[] LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cft_descendants(text, regclass, text[]) IS
'an entity and all below it (in these trees), at any depth: cft_under as an array';

CREATE FUNCTION cft_descendants(ancestors text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS text[] LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cft_descendants(text[], regclass, text[]) IS
'these entities and all below them (in these trees), at any depth: cft_under as an array';

CREATE FUNCTION cft_descendants(id bigint, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS bigint[] LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cft_descendants(bigint, regclass, text[]) IS
'an entity and all below it (in these trees), at any depth: cft_under as an array';

CREATE FUNCTION cft_descendants(ids bigint[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS bigint[] LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cft_descendants(bigint[], regclass, text[]) IS
'these entities and all below them (in these trees), at any depth: cft_under as an array';

CREATE FUNCTION cft_descendants(uuid uuid, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS uuid[] LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cft_descendants(uuid, regclass, text[]) IS
'an entity and all below it (in these trees), at any depth: cft_under as an array';

CREATE FUNCTION cft_descendants(uuids uuid[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS uuid[] LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_descendants_wrapper';
COMMENT ON FUNCTION cft_descendants(uuid[], regclass, text[]) IS
'these entities and all below them (in these trees), at any depth: cft_under as an array';

CREATE FUNCTION cft_ancestors(entity text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS text[] LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_ancestors_wrapper';
COMMENT ON FUNCTION cft_ancestors(text, regclass, text[]) IS
'an entity and all above it (in these trees), at any depth';

CREATE FUNCTION cft_ancestors(entities text[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS text[] LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_ancestors_wrapper';
COMMENT ON FUNCTION cft_ancestors(text[], regclass, text[]) IS
'these entities and all above them (in these trees), at any depth';

CREATE FUNCTION cft_ancestors(id bigint, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS bigint[] LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_ancestors_wrapper';
COMMENT ON FUNCTION cft_ancestors(bigint, regclass, text[]) IS
'an entity and all above it (in these trees), at any depth';

CREATE FUNCTION cft_ancestors(ids bigint[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS bigint[] LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_ancestors_wrapper';
COMMENT ON FUNCTION cft_ancestors(bigint[], regclass, text[]) IS
'these entities and all above them (in these trees), at any depth';

CREATE FUNCTION cft_ancestors(uuid uuid, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS uuid[] LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_ancestors_wrapper';
COMMENT ON FUNCTION cft_ancestors(uuid, regclass, text[]) IS
'an entity and all above it (in these trees), at any depth';

CREATE FUNCTION cft_ancestors(uuids uuid[], edges regclass DEFAULT NULL, trees text[] DEFAULT NULL)
RETURNS uuid[] LANGUAGE c STABLE PARALLEL SAFE COST 100
AS 'MODULE_PATHNAME', 'cft_ancestors_wrapper';
COMMENT ON FUNCTION cft_ancestors(uuid[], regclass, text[]) IS
'these entities and all above them (in these trees), at any depth';
