-- Functions of cftrag. Those for users start with cft_ and are in the schema picked at CREATE EXTENSION.
--
-- Internal functions are in a schema of their own, in which only its owner can create objects: a call never resolves to
-- another role's function, whatever the argument types. The extension's SQL calls only functions of that schema and of
-- pg_catalog. Where it needs a public function, there is a twin (internal.sql), or the public function wraps the
-- internal one. Public SQL functions have a parsed body (BEGIN ATOMIC), which survives a rename of their schema.
CREATE SCHEMA cftrag_internal;

-- Other roles may be able to create objects in the schema picked, which comes before pgvector's in search_path. A
-- domain named vector there would become the type of our arguments, and its checks would run with the caller's rights.
-- Only superusers can create a base type.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_type AS t, pg_catalog.pg_depend AS d, pg_catalog.pg_extension AS x
                    WHERE t.oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype('vector')::pg_catalog.oid
                        AND t.typtype OPERATOR(pg_catalog.=) 'b'
                      AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
                          AND d.objid OPERATOR(pg_catalog.=) t.oid
                      AND d.refclassid OPERATOR(pg_catalog.=)
                          'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                      AND d.refobjid OPERATOR(pg_catalog.=) x.oid AND x.extname OPERATOR(pg_catalog.=) 'vector') THEN
        RAISE EXCEPTION 'type "%" is not the one of the extension vector', pg_catalog.to_regtype('vector')
            USING ERRCODE = 'duplicate_object',
            HINT = 'Drop it, or create the extension in a schema where nobody else may create: '
                    'CREATE EXTENSION cftrag SCHEMA ...;';
    END IF;
END $$;

COMMENT ON SCHEMA cftrag_internal IS 'what the extension cftrag itself calls; nothing here is for users';
GRANT USAGE ON SCHEMA cftrag_internal TO PUBLIC;

CREATE FUNCTION cft_attach(edges regclass, parent name DEFAULT 'parent', child name DEFAULT 'child',
    tree name DEFAULT NULL, label name DEFAULT NULL,
    sort name DEFAULT NULL, ids boolean DEFAULT false, language text DEFAULT 'english', names text[] DEFAULT NULL,
    keep boolean DEFAULT false)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_wrapper';
COMMENT ON FUNCTION cft_attach(regclass, name, name, name, name, name, boolean, text, text[], boolean) IS
'creates the triggers that keep an image of an edges table (parent, child[, tree][, label of the child]) in shared '
'memory; owner only. sort: orders siblings. ids: texts name entities by their ids, too, though they are integers or '
'have labels. language: by its rules texts may write names otherwise. names: columns of other names, beside the label. '
'keep: its image makes no room for others';

CREATE FUNCTION cftrag_internal.cft_keep() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_keep_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_keep() IS
'marks a table whose image makes no room for others, by a trigger that never fires; who may execute it may keep images';
REVOKE ALL ON FUNCTION cftrag_internal.cft_keep() FROM PUBLIC;

CREATE FUNCTION cftrag_internal.cft_detach_edges(relation regclass)
RETURNS boolean LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_detach_edges_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_detach_edges(regclass) IS
'what cft_detach calls for edges, aliases and labels; whether there was anything; owner only';

-- The support function that tells the planner the rows and costs of the functions below.
CREATE FUNCTION cftrag_internal.cft_context_support(internal) RETURNS internal
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cft_context_support_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_context_support(internal) IS
'tells the planner how many rows cft_context gives, and what it costs';

CREATE FUNCTION cftrag_internal.cft_entities_support(internal) RETURNS internal
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cft_entities_support_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_entities_support(internal) IS
'tells the planner how many rows cft_entities gives, and what it costs';

-- A named type: with RETURNS TABLE the row type is built from pg_proc in each statement, which takes a tenth of its
-- time.
CREATE TYPE cft_relative AS (entity text, tree text, relation text, depth integer, relative text, via text, label text);
COMMENT ON TYPE cft_relative IS
'a row of cft_context: a relative of an entity in a tree, how many steps away it is, the next entity on the way back, '
'and what the relative is called';

CREATE FUNCTION cft_context(entity text, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative
LANGUAGE c STABLE PARALLEL SAFE COST 20 ROWS 10 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_one_wrapper';
COMMENT ON FUNCTION cft_context(text, integer, integer, regclass, text[]) IS
'ancestors (up levels) and descendants (down levels) of an entity, in every tree where it occurs, or in these trees';

CREATE FUNCTION cft_context(entities text[], up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative
LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 100 SUPPORT cftrag_internal.cft_context_support
AS 'MODULE_PATHNAME', 'cft_context_many_wrapper';
COMMENT ON FUNCTION cft_context(text[], integer, integer, regclass, text[]) IS
'ancestors and descendants of many entities in one pass, entities in the order of their first occurrence';

-- Ids need no cast.
CREATE FUNCTION cft_context(id bigint, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative LANGUAGE sql STABLE PARALLEL SAFE COST 20 ROWS 10
BEGIN ATOMIC SELECT c.* FROM cft_context($1::text, $2, $3, $4, $5) AS c; END;
COMMENT ON FUNCTION cft_context(bigint, integer, integer, regclass, text[]) IS 'cft_context for an integer id';

CREATE FUNCTION cft_context(uuid uuid, up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative LANGUAGE sql STABLE PARALLEL SAFE COST 20 ROWS 10
BEGIN ATOMIC SELECT c.* FROM cft_context($1::text, $2, $3, $4, $5) AS c; END;
COMMENT ON FUNCTION cft_context(uuid, integer, integer, regclass, text[]) IS 'cft_context for a uuid';

CREATE FUNCTION cft_context(ids bigint[], up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative LANGUAGE sql STABLE PARALLEL SAFE COST 200 ROWS 100
BEGIN ATOMIC SELECT c.* FROM cft_context($1::text[], $2, $3, $4, $5) AS c; END;
COMMENT ON FUNCTION cft_context(bigint[], integer, integer, regclass, text[]) IS
'cft_context for an array of integer ids';

CREATE FUNCTION cft_context(uuids uuid[], up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL,
    trees text[] DEFAULT NULL)
RETURNS SETOF cft_relative LANGUAGE sql STABLE PARALLEL SAFE COST 200 ROWS 100
BEGIN ATOMIC SELECT c.* FROM cft_context($1::text[], $2, $3, $4, $5) AS c; END;
COMMENT ON FUNCTION cft_context(uuid[], integer, integer, regclass, text[]) IS 'cft_context for an array of uuids';

CREATE TYPE cft_mention AS (entity text, mention text, start integer, length integer, via_alias text, label text,
    method text, score real);
COMMENT ON TYPE cft_mention IS
'a row of cft_entities: an entity, where a text names it, what it is called, by which rule it was found, and how sure '
'that is';

CREATE FUNCTION cft_entities(question text, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL,
    within text[] DEFAULT NULL, overlapping boolean DEFAULT false,
    match text DEFAULT NULL, narrow boolean DEFAULT false)
RETURNS SETOF cft_mention
LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 10 SUPPORT cftrag_internal.cft_entities_support
AS 'MODULE_PATHNAME', 'cft_entities_wrapper';
COMMENT ON FUNCTION cft_entities(text, regclass, text[], text[], boolean, text, boolean) IS
'entities that occur in a text, of all trees or of these, of all or of those within some, leftmost and longest first, '
'or all of them (overlapping), as they are written or otherwise (match: exact, inflected, fuzzy; NULL: cftrag.match), '
'of several of one name those that the text means (narrow); start and length count characters, from 1';

CREATE FUNCTION cftrag_internal.cft_those(names text[], edges regclass, trees text[], within text[]) RETURNS text[]
LANGUAGE c STABLE PARALLEL SAFE COST 200
AS 'MODULE_PATHNAME', 'cft_those_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_those(text[], regclass, text[], text[]) IS
'those of the names that are entities, of all trees or of these, and of all entities or one of these or below one';

CREATE FUNCTION cft_attach_aliases(aliases regclass, alias name DEFAULT 'alias', entity name DEFAULT 'entity',
    edges regclass DEFAULT NULL,
    language text DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_aliases_wrapper';
COMMENT ON FUNCTION cft_attach_aliases(regclass, name, name, regclass, text) IS
'says that a table has other names of the entities of an attached table: cft_entities finds them too; owner only. '
'language: that of the names (NULL: as the edges table)';

CREATE FUNCTION cftrag_internal.cft_alias_of() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_alias_of_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_alias_of() IS
'marks a table of aliases by a trigger that never fires; arguments: alias, entity columns';

CREATE FUNCTION cft_attach_labels(labels regclass, entity name DEFAULT 'id', label name DEFAULT 'name',
    edges regclass DEFAULT NULL,
    language text DEFAULT NULL, names text[] DEFAULT NULL, preferred name DEFAULT NULL)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'cft_attach_labels_wrapper';
COMMENT ON FUNCTION cft_attach_labels(regclass, name, name, regclass, text, text[], name) IS
'says that a table has what people call the entities of an attached table, which texts then name by these labels; '
'owner only. language: that of the names (NULL: as the edges table). names: columns of other names. preferred: a '
'boolean column, which says of several labels which is shown';

CREATE FUNCTION cftrag_internal.cft_label_of() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_label_of_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_label_of() IS
'marks a table of labels by a trigger that never fires; arguments: label, entity columns';

CREATE FUNCTION cftrag_internal.cft_words(question text, plain boolean DEFAULT false, language text DEFAULT 'english')
RETURNS TABLE(place integer, form bytea, start integer, length integer, normal bytea, lower bytea)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100
AS 'MODULE_PATHNAME', 'cft_words_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_words(text, boolean, text) IS
'words of a text as cft_entities compares them: folded, in UTF-8, with their positions in characters; plain: without '
'possessives, elisions and the like';

CREATE FUNCTION cftrag_internal.cft_form(name text, method text DEFAULT 'exact', language text DEFAULT 'english')
    RETURNS bytea
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_form_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_form(text, text, text) IS
'a name as cft_entities compares it, in UTF-8: its folded words joined by a blank; inflected: the letters of its '
'normal words; reordered: its normal words in alphabetical order; NULL if it is never found in a text';

CREATE FUNCTION cftrag_internal.cft_window_form(words bytea[], method text, language text) RETURNS bytea
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_window_form_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_window_form(bytea[], text, text) IS
'the form by which normal words of a text are compared with names (cft_form); NULL if no name is looked for there';

CREATE FUNCTION cftrag_internal.cft_spelled_otherwise(name text, question text, start integer, length integer,
    method text, words integer, language text) RETURNS boolean
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_spelled_otherwise_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_spelled_otherwise(text, text, integer, integer, text, integer, text) IS
'whether so many words of a text may be taken for a name of the same form, by punctuation, case and cftrag.match_case';

CREATE FUNCTION cftrag_internal.cft_normal_words(name text, language text) RETURNS bytea[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_normal_words_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_normal_words(text, text) IS
'the words of a name in their normal forms, in UTF-8; NULL if texts find it as it is written only';

CREATE FUNCTION cftrag_internal.cft_may_be_misspelled(word bytea, language text) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1
AS 'MODULE_PATHNAME', 'cft_may_be_misspelled_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_may_be_misspelled(bytea, text) IS
'whether a normal word of a text may be misspelled: it has four characters or more, no digit, and is no common word of '
'the language';

CREATE FUNCTION cftrag_internal.cft_misspelled(words bytea[], name text, place integer, "all" integer, language text)
    RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_misspelled_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_misspelled(bytea[], text, integer, integer, text) IS
'whether normal words of a text, which has so many, are those of a name but for the one at that place, from 0, which '
'is one or two errors from the name''s';

CREATE FUNCTION cftrag_internal.cft_definitions(question text) RETURNS TABLE(long_start integer, long_stop integer,
    short text)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 5
AS 'MODULE_PATHNAME', 'cft_definitions_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_definitions(text) IS
'the abbreviations that a text defines: where each long form begins and ends, in characters from 1, and the short form';

CREATE FUNCTION cftrag_internal.cft_parts(name text, language text) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_parts_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_parts(text, text) IS
'the parts of a name that lists several things ("Hats & Scarves"), of those that a text can name; none of another name';

CREATE FUNCTION cftrag_internal.cft_coordinations(question text, language text) RETURNS TABLE(list integer,
    item integer, start integer, stop integer, name text)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 10
AS 'MODULE_PATHNAME', 'cft_coordinations_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_coordinations(text, text) IS
'names that a text joins ("breast and ovarian cancer"): their list, their number in it from the last one, the window '
'from there to the end of the list in characters from 1, and the name';

CREATE FUNCTION cftrag_internal.cft_spelling(name text, question text, start integer, length integer,
    language text DEFAULT 'english') RETURNS integer
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_spelling_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_spelling(text, text, integer, integer, text) IS
'how well those characters of a text, which fold to a name, spell it: by its punctuation and case; NULL if they do not '
'(see cftrag.match_case)';

CREATE FUNCTION cftrag_internal.cft_capture() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_capture_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_capture() IS
'trigger of an attached table: notes a changed edge for the image; arguments: what cft_attach was told';

CREATE FUNCTION cftrag_internal.cft_capture_truncate() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_capture_truncate_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_capture_truncate() IS
'trigger of an attached table: voids the image where TRUNCATE empties the table in place';

CREATE FUNCTION cft_build(edges regclass)
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000
AS 'MODULE_PATHNAME', 'cft_build_wrapper';
COMMENT ON FUNCTION cft_build(regclass) IS
'builds the image of an attached table and waits for it; owner only; writers wait where no background worker is free, '
'or where this transaction has read the table';

CREATE FUNCTION cft_verify(edges regclass)
RETURNS TABLE(problem text, tree text, parent text, child text, in_table bigint, in_image bigint)
LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1
AS 'MODULE_PATHNAME', 'cft_verify_wrapper';
COMMENT ON FUNCTION cft_verify(regclass) IS
'differences between image and table, and broken invariants of the image; no row: sound';

CREATE FUNCTION cft_hot_entities(k integer DEFAULT 10, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, temperature bigint)
LANGUAGE c VOLATILE PARALLEL SAFE COST 10000 ROWS 10
AS 'MODULE_PATHNAME', 'cft_hot_entities_wrapper';
COMMENT ON FUNCTION cft_hot_entities(integer, regclass) IS
'the entities asked for most, among those with an edge that the caller sees';

CREATE FUNCTION cft_stats_reset()
RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cft_stats_reset_wrapper';
COMMENT ON FUNCTION cft_stats_reset() IS 'sets the counters of pg_stat_cftrag to zero for this database';
REVOKE ALL ON FUNCTION cft_stats_reset() FROM PUBLIC;

CREATE FUNCTION cftrag_internal.cft_progress()
RETURNS TABLE(edges regclass, phase text, edges_done bigint, edges_total bigint, started timestamptz, builder integer,
    waits_for integer, waits_for_xid xid)
LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1
AS 'MODULE_PATHNAME', 'cft_progress_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_progress() IS
'builds and checks of images that are under way, of attached tables that the caller may read';
