-- Who may see what stands in a hierarchy (src/retrieve/grants.rs).

CREATE FUNCTION cftrag_internal.cft_grants() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_grants() IS
'trigger that never fires: its columns are those of a table of grants (cft_attach_grants)';

CREATE FUNCTION cft_attach_grants(grants regclass, entity name DEFAULT 'entity', role name DEFAULT 'role',
    allow name DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_grants_wrapper';
COMMENT ON FUNCTION cft_attach_grants(regclass, name, name, name, regclass) IS
'says which columns of a table hold who may see what is at or below the entities of an edges table; owner only';

-- For the planner, as arguments of cft_descendants (src/api/allowed_support.rs).
CREATE FUNCTION cftrag_internal.cft_granted(grants regclass, roles text[]) RETURNS text[]
LANGUAGE c STABLE PARALLEL SAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_granted_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_granted(regclass, text[]) IS
'the entities with a grant for one of these roles, and no refusal';

CREATE FUNCTION cftrag_internal.cft_edges_of(grants regclass) RETURNS regclass
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_edges_of_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_edges_of(regclass) IS 'the edges table of a table of grants';

CREATE FUNCTION cftrag_internal.cft_allowed_support(internal) RETURNS internal
LANGUAGE c STRICT
AS 'MODULE_PATHNAME', 'cft_allowed_support_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_allowed_support(internal) IS
'tells the planner how many rows cft_allowed holds for, what it costs, and which index finds them';

CREATE FUNCTION cft_allowed(entity text, grants regclass, law text DEFAULT 'union',
    roles text[] DEFAULT pg_catalog.string_to_array(pg_catalog.replace(pg_catalog.current_setting('cftrag.roles', true),
        ', ', ','), ','), trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 100 SUPPORT cftrag_internal.cft_allowed_support
AS 'MODULE_PATHNAME', 'cft_allowed_wrapper';
COMMENT ON FUNCTION cft_allowed(text, regclass, text, text[], text[]) IS
'whether these roles may see an entity, by the grants on it and on what is above it';

CREATE FUNCTION cft_allowed(entity integer, grants regclass, law text DEFAULT 'union',
    roles text[] DEFAULT pg_catalog.string_to_array(pg_catalog.replace(pg_catalog.current_setting('cftrag.roles', true),
        ', ', ','), ','), trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 100 SUPPORT cftrag_internal.cft_allowed_support
AS 'MODULE_PATHNAME', 'cft_allowed_wrapper';
COMMENT ON FUNCTION cft_allowed(integer, regclass, text, text[], text[]) IS
'whether these roles may see an entity, by the grants on it and on what is above it';

CREATE FUNCTION cft_allowed(entity bigint, grants regclass, law text DEFAULT 'union',
    roles text[] DEFAULT pg_catalog.string_to_array(pg_catalog.replace(pg_catalog.current_setting('cftrag.roles', true),
        ', ', ','), ','), trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 100 SUPPORT cftrag_internal.cft_allowed_support
AS 'MODULE_PATHNAME', 'cft_allowed_wrapper';
COMMENT ON FUNCTION cft_allowed(bigint, regclass, text, text[], text[]) IS
'whether these roles may see an entity, by the grants on it and on what is above it';

CREATE FUNCTION cft_allowed(entity uuid, grants regclass, law text DEFAULT 'union',
    roles text[] DEFAULT pg_catalog.string_to_array(pg_catalog.replace(pg_catalog.current_setting('cftrag.roles', true),
        ', ', ','), ','), trees text[] DEFAULT NULL)
RETURNS boolean LANGUAGE c STABLE PARALLEL SAFE COST 100 SUPPORT cftrag_internal.cft_allowed_support
AS 'MODULE_PATHNAME', 'cft_allowed_wrapper';
COMMENT ON FUNCTION cft_allowed(uuid, regclass, text, text[], text[]) IS
'whether these roles may see an entity, by the grants on it and on what is above it';
