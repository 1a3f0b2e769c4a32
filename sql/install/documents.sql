-- Documents: which tables and columns hold them. The registration is a trigger on the user's own table that never fires
-- (UPDATE OF the columns, WHEN false): its column list is the registration, its arguments say what each column is for. The trigger
-- follows renamed tables and columns, goes when the table is dropped, and is dumped by pg_dump; a registered column cannot be dropped
-- without CASCADE; and no catalog of ours can go stale. A mapping or an entities table names its other table by FROM.
-- Everything runs with the caller's rights, and names tables by regclass, which is schema-qualified under this search_path.

CREATE FUNCTION cftrag_internal.cft_attached(edges regclass DEFAULT NULL)
RETURNS TABLE(edges regclass, parent name, child name, tree name, labels regclass, labelled name, label name, by_name boolean)
LANGUAGE c STABLE PARALLEL SAFE COST 20 ROWS 1
AS 'MODULE_PATHNAME', 'cft_attached_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_attached(regclass) IS 'the attached edges table (the only one, if none is named), its columns, and where its labels are';

CREATE FUNCTION cftrag_internal.cft_called(entities text[], edges regclass) RETURNS text[] LANGUAGE c STABLE PARALLEL SAFE COST 20
AS 'MODULE_PATHNAME', 'cft_called_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_called(text[], regclass) IS 'the labels of entities, or the names of those without';

CREATE FUNCTION cftrag_internal.cft_label(entity text, edges regclass) RETURNS text LANGUAGE c STABLE PARALLEL SAFE COST 20
AS 'MODULE_PATHNAME', 'cft_label_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_label(text, regclass) IS 'the label of an entity; NULL if it has none';

CREATE FUNCTION cftrag_internal.cft_documents() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_documents() IS 'trigger that never fires: its columns are those of a table of documents (cft_attach_documents)';

CREATE FUNCTION cftrag_internal.cft_document_entities() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_document_entities() IS
'trigger that never fires: its columns are those of a table that maps entities to documents (cft_attach_documents)';

CREATE FUNCTION cftrag_internal.cft_summaries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_summaries() IS 'trigger that never fires: its columns are those of a table of summaries (cft_attach_summaries)';

CREATE FUNCTION cftrag_internal.cft_summary_documents() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_summary_documents() IS 'trigger that never fires: says whose documents a table of summaries is made of (cft_attach_summaries)';

CREATE FUNCTION cftrag_internal.cft_entity_embeddings() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_entity_embeddings() IS
'trigger that never fires: its columns are those of a table of entities'' embeddings (cft_attach_embeddings)';

CREATE FUNCTION cftrag_internal.cft_word_classes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION cftrag_internal.cft_word_classes() IS 'trigger that never fires: its columns are those of a table of word classes (cft_attach_words)';

-- Triggers by OID, with the rights of CREATE TRIGGER and DROP TRIGGER. See src/catalog/trigger_ddl.rs.
CREATE FUNCTION cftrag_internal.cft_register(relation regclass, other regclass, trigger_name text, trigger_function regprocedure, columns text[], arguments text[])
RETURNS void LANGUAGE c VOLATILE COST 10
AS 'MODULE_PATHNAME', 'cft_register_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_register(regclass, regclass, text, regprocedure, text[], text[]) IS 'creates a trigger that never fires: a registration';

CREATE FUNCTION cftrag_internal.cft_watch(relation regclass, trigger_function regprocedure) RETURNS void
LANGUAGE c VOLATILE STRICT COST 10
AS 'MODULE_PATHNAME', 'cft_watch_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_watch(regclass, regprocedure) IS 'creates triggers after each statement that changes a table';

CREATE FUNCTION cftrag_internal.cft_drop_triggers(relation regclass, trigger_function regprocedure, other regclass DEFAULT NULL) RETURNS boolean
LANGUAGE c VOLATILE COST 10
AS 'MODULE_PATHNAME', 'cft_drop_triggers_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_drop_triggers(regclass, regprocedure, regclass) IS
'drops the triggers of a function from a table, those that say it belongs to another if that is given; owner only';

CREATE FUNCTION cftrag_internal.cft_is_builtin(type regtype) RETURNS boolean
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_is_builtin_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_is_builtin(regtype) IS 'whether a type is one of pg_catalog''s, or a domain over one';

-- Whether a table that a trigger assigns to another one counts: its owner must own the other one too, be able to SET ROLE to its owner, or be a
-- superuser. The TRIGGER privilege on a table is not the right to run code as its readers.
CREATE FUNCTION cftrag_internal.cft_counts(relation regclass, other regclass) RETURNS boolean
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_counts_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_counts(regclass, regclass) IS 'whether the owner of a table may say that it belongs to another';

-- Which table is meant depends on the caller's search_path, so these run before a function of ours sets its own. 0: search_path shows none, or several.
CREATE FUNCTION cftrag_internal.cft_meant_edges(edges regclass) RETURNS regclass
LANGUAGE c STABLE PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_meant_edges_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_meant_edges(regclass) IS 'the edges table that is named, or else the only attached one in search_path';

CREATE FUNCTION cftrag_internal.cft_meant_documents(documents regclass) RETURNS regclass
LANGUAGE c STABLE PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_meant_documents_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_meant_documents(regclass) IS 'the table of documents that is named, or else the only attached one in search_path';

-- A value of a column, given as SQL (d.title), as text: by the output function of its type, as SELECT shows it (src/catalog/column_sql.rs). Every column
-- of a user's that becomes text does so by this, and no operator is given a value of a type that is not the server's.
CREATE FUNCTION cftrag_internal.cft_as_text(value text, relation regclass, column_name name)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_as_text_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_as_text(text, regclass, name) IS 'a value of a column as a text, as SQL';

-- The registrations by a trigger function, whatever the caller may read: those on a table, those of the tables that belong to another, or all of
-- them. columns is by role: {"id": "title", "body": "text", ...}. Registrations of a named table are found by an index, however many other tables are
-- attached. If a table has several, the oldest comes first: the attach function made it, after dropping all others. Trigger arguments are
-- names of columns and our own keywords: a trigger with longer ones is not a registration. always means ENABLE ALWAYS, which only the table's owner
-- can set; such registrations come before all others (pg_dump keeps that state, but not the order of triggers).
CREATE FUNCTION cftrag_internal.cft_registered(trigger_function regprocedure, of_relation regclass, of_other regclass DEFAULT NULL, every boolean DEFAULT false)
RETURNS TABLE(relation regclass, other regclass, columns jsonb, trigger_name name, always boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
-- Planned once per session: writers wait for this, and planning takes nearly all of the time. Subqueries, because their generic plan uses indexes.
BEGIN
    RETURN QUERY
    SELECT t.tgrelid::regclass, nullif(t.tgconstrrelid, 0)::regclass,
           (SELECT jsonb_object_agg(role, (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = t.tgrelid AND a.attnum = o.number))
              FROM unnest(t.tgattr::int2[], string_to_array(encode(t.tgargs, 'escape'), E'\\000')) AS o(number, roles),
                   LATERAL unnest(string_to_array(o.roles, ' ')) AS role
             WHERE o.number IS NOT NULL),
           t.tgname, t.tgenabled = 'A'
      FROM (SELECT x.oid FROM pg_trigger AS x WHERE x.tgrelid = of_relation
             UNION
            SELECT d.objid FROM pg_depend AS d
             WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = of_other AND d.classid = 'pg_trigger'::regclass
             UNION
            SELECT d.objid FROM pg_depend AS d
             WHERE every AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = trigger_function AND d.classid = 'pg_trigger'::regclass) AS z,
           LATERAL (SELECT x.oid, x.tgrelid, x.tgconstrrelid, x.tgattr, x.tgargs, x.tgname, x.tgenabled, x.tgfoid, x.tgisinternal, x.tgparentid
                      FROM pg_trigger AS x WHERE x.oid = z.oid OFFSET 0) AS t
     WHERE t.tgfoid = trigger_function AND NOT t.tgisinternal AND t.tgparentid = 0
       AND (every OR t.tgrelid = of_relation OR t.tgconstrrelid = of_other) AND octet_length(t.tgargs) <= 1024
     ORDER BY t.tgrelid, t.tgconstrrelid, t.tgenabled <> 'A', t.oid;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_registered(regprocedure, regclass, regclass, boolean) IS
'what a trigger that never fires says of a table, of the tables that belong to another, or of every table';

-- The registrations of tables that the caller may read: those of a table, those of tables that belong to another, or, if neither is named, all.
-- A table that belongs to another is listed only if it counts (cft_counts); tables with the other's owner come first.
CREATE FUNCTION cftrag_internal.cft_columns(trigger_function regprocedure, of_relation regclass DEFAULT NULL, of_other regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, other regclass, columns jsonb, trigger_name name)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT r.relation, r.other, r.columns, r.trigger_name
      FROM cftrag_internal.cft_registered(trigger_function, of_relation, of_other, of_relation IS NULL AND of_other IS NULL)
           WITH ORDINALITY AS r(relation, other, columns, trigger_name, always, n)
     WHERE has_schema_privilege((SELECT c.relnamespace FROM pg_class AS c WHERE c.oid = r.relation), 'USAGE') AND has_any_column_privilege(r.relation, 'SELECT')
       AND (r.other IS NULL OR cftrag_internal.cft_counts(r.relation, r.other))
     ORDER BY (SELECT c.relowner FROM pg_class AS c WHERE c.oid = r.relation) IS DISTINCT FROM (SELECT c.relowner FROM pg_class AS c WHERE c.oid = r.other),
              r.n;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_columns(regprocedure, regclass, regclass) IS
'the tables attached by a trigger function which the caller may read, with their columns by role';

-- Drops the registration and, unless columns is NULL, creates a new one. roles[i] lists the roles of columns[i], separated by blanks.
CREATE FUNCTION cftrag_internal.cft_set_columns(relation regclass, other regclass, trigger_function regprocedure, columns name[], roles text[])
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    class record;
    missing name;
    had boolean;
    base text := CASE trigger_function WHEN 'cftrag_internal.cft_documents()'::regprocedure THEN 'cftrag_documents'
                                       WHEN 'cftrag_internal.cft_document_entities()'::regprocedure THEN 'cftrag_document_entities'
                                       WHEN 'cftrag_internal.cft_summaries()'::regprocedure THEN 'cftrag_summaries'
                                       WHEN 'cftrag_internal.cft_word_classes()'::regprocedure THEN 'cftrag_words'
                                       WHEN 'cftrag_internal.cft_summary_documents()'::regprocedure THEN 'cftrag_summary_documents'
                                       ELSE 'cftrag_entities' END;
    list text[];
    arguments text[];
    free text;
BEGIN
    SELECT c.relname, c.relowner, c.relkind, c.relpersistence INTO class FROM pg_class AS c WHERE c.oid = relation;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table with OID % does not exist', relation::oid USING ERRCODE = 'undefined_table';
    END IF;
    IF NOT pg_has_role(class.relowner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', class.relname USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF other IS NOT NULL AND columns IS NOT NULL AND NOT cftrag_internal.cft_counts(relation, other) THEN
        RAISE EXCEPTION 'the owner of table % must own %, or be able to SET ROLE to its owner', relation, other USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF other IS NOT NULL AND columns IS NOT NULL AND class.relpersistence = 't' AND (SELECT c.relpersistence <> 't' FROM pg_class AS c WHERE c.oid = other) THEN
        RAISE EXCEPTION 'table % is temporary, and % is not', relation, other USING ERRCODE = 'invalid_table_definition';
    END IF;
    IF columns IS NOT NULL AND NOT class.relkind = ANY (CASE WHEN other IS NULL THEN '{r,p,f,v}' ELSE '{r,p}' END::"char"[]) THEN
        RAISE EXCEPTION '"%" cannot be attached to cftrag: it is not a table', class.relname USING ERRCODE = 'wrong_object_type';
    END IF;
    SELECT c INTO missing FROM unnest(columns) AS c
     WHERE c IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = c AND a.attnum > 0 AND NOT a.attisdropped) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table "%" does not exist', missing, class.relname USING ERRCODE = 'undefined_column',
            HINT = format('The table has the columns %s.', (SELECT string_agg(format('"%s"', a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute AS a
                                                              WHERE a.attrelid = relation AND a.attnum BETWEEN 1 AND 12 AND NOT a.attisdropped));
    END IF;
    SELECT u.c INTO missing FROM unnest(columns, roles) AS u(c, r) JOIN pg_attribute AS a ON a.attrelid = relation AND a.attname = u.c JOIN pg_type AS t ON t.oid = a.atttypid
     WHERE u.r = 'entity' AND (t.typcategory = 'A' OR t.typname IN ('json', 'jsonb')) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table % holds several entities', missing, relation USING ERRCODE = 'datatype_mismatch', HINT = 'Keep a row for each entity.';
    END IF;
    had := cftrag_internal.cft_drop_triggers(relation, trigger_function, other);
    IF columns IS NOT NULL THEN
        -- One column may have several roles; the list names it once.
        SELECT array_agg(z.c ORDER BY z.n), array_agg(z.r ORDER BY z.n) INTO list, arguments
          FROM (SELECT u.c::text AS c, min(u.n) AS n, string_agg(u.r, ' ' ORDER BY u.n) AS r
                  FROM unnest(columns, roles) WITH ORDINALITY AS u(c, r, n) WHERE u.c IS NOT NULL GROUP BY u.c) AS z;
        -- A table may be registered for several others: the second is name_2.
        SELECT z.name INTO free
          FROM (SELECT base || CASE WHEN n > 1 THEN '_' || n ELSE '' END AS name, n
                  FROM generate_series(1, 1 + (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = relation)) AS n) AS z
         WHERE NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgname = z.name) ORDER BY z.n LIMIT 1;
        PERFORM cftrag_internal.cft_register(relation, other, free, trigger_function, list, arguments);
    END IF;
    RETURN had;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_set_columns(regclass, regclass, regprocedure, name[], text[]) IS
'writes the registration of cft_attach_documents and cft_attach_embeddings; owner only';

-- The distance operator for embeddings: that of an index on the column, else cosine distance.
CREATE FUNCTION cftrag_internal.cft_distance(relation regclass, embedding name)
RETURNS TABLE(operator text, type text, cosine boolean, type_schema name) LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT format('OPERATOR(%I.%s)', n.nspname, o.oprname), o.oprleft::regtype::text, o.oprname = '<=>', n.nspname
      FROM pg_attribute AS a, pg_type AS t, pg_operator AS o, pg_namespace AS n
     WHERE a.attrelid = relation AND a.attname = embedding AND t.oid = a.atttypid AND n.oid = o.oprnamespace
       -- pgvector's type and operator, not another role's with the same names.
       AND t.typtype = 'b' AND EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'vector'
                    WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e')
       AND o.oid = coalesce(
           (SELECT m.amopopr FROM pg_index AS i, pg_opclass AS c, pg_amop AS m
             WHERE i.indrelid = relation AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL AND c.oid = i.indclass[0]
               AND m.amopfamily = c.opcfamily AND m.amoppurpose = 'o' AND m.amoplefttype = a.atttypid AND m.amoprighttype = a.atttypid
             ORDER BY i.indexrelid, m.amopstrategy LIMIT 1),
           (SELECT p.oid FROM pg_operator AS p
             WHERE p.oprname = '<=>' AND p.oprleft = t.oid AND p.oprright = t.oid AND p.oprnamespace = t.typnamespace));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'column "%" of table % is no embedding', embedding, relation USING ERRCODE = 'datatype_mismatch',
            HINT = 'Embeddings are of a type of pgvector: vector, halfvec or sparsevec.';
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_distance(regclass, name) IS 'the operator of distance of an embedding column: that of an index on it, else the cosine distance';

-- The expression that text search compares for a document (d), as SQL, and its configuration. Either a tsvector column, with the configuration that its
-- generation expression names (NULL if none), or a text column with an index on to_tsvector('a configuration', it). Nothing else of an index's expression becomes SQL.
CREATE FUNCTION cftrag_internal.cft_search_by(relation regclass, search name, OUT value text, OUT config regconfig)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT 'd.' || quote_ident(a.attname),
           (SELECT (regexp_match(pg_get_expr(e.adbin, e.adrelid), 'to_tsvector[(]''([^'']+)''::regconfig'))[1]
              FROM pg_attrdef AS e WHERE e.adrelid = a.attrelid AND e.adnum = a.attnum AND a.attgenerated = 's')::regconfig
      INTO value, config FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = search AND a.atttypid = 'tsvector'::regtype;
    IF NOT FOUND THEN
        SELECT format('pg_catalog.to_tsvector(''%s''::pg_catalog.regconfig, d.%I::pg_catalog.text)', x.parts[1]::regconfig::oid, search), x.parts[1]::regconfig INTO value, config
          FROM pg_attribute AS a, pg_index AS i, regexp_match(pg_get_indexdef(i.indexrelid, 1, false), '^to_tsvector[(]''([^'']+)''::regconfig, (.*)[)]$') AS x(parts)
         WHERE a.attrelid = relation AND a.attname = search AND a.atttypid IN ('text'::regtype, 'varchar'::regtype)
           AND i.indrelid = relation AND i.indisvalid AND i.indpred IS NULL AND x.parts[2] IN (quote_ident(search), '(' || quote_ident(search) || ')::text')
         ORDER BY i.indexrelid LIMIT 1;
    END IF;
    IF value IS NULL THEN
        RAISE EXCEPTION 'column "%" of table % cannot be searched by words', search, relation USING ERRCODE = 'datatype_mismatch',
            HINT = 'Name a column of type tsvector, or of texts with an index for it'
                || coalesce((SELECT format(', for example: CREATE INDEX ON %s USING gin (to_tsvector(''english'', %I))', relation, search) FROM pg_attribute AS a
                              WHERE a.attrelid = relation AND a.attname = search AND a.atttypid IN ('text'::regtype, 'varchar'::regtype)), '') || '.';
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_search_by(regclass, name) IS 'what text search compares of a document, as SQL, and its configuration';

CREATE FUNCTION cft_attach_documents(documents regclass, id name DEFAULT 'id', body name DEFAULT 'body', embedding name DEFAULT 'embedding',
    entity name DEFAULT NULL, tokens name DEFAULT NULL,
    mapping regclass DEFAULT NULL, mapping_entity name DEFAULT 'entity', mapping_document name DEFAULT 'document_id', metadata name DEFAULT NULL, search name DEFAULT NULL,
    columns text[] DEFAULT NULL, sort name DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    others jsonb := (SELECT coalesce(jsonb_object_agg('column' || u.n, u.c), '{}') FROM unnest(columns) WITH ORDINALITY AS u(c, n));
    unfit name;
BEGIN
    IF num_nulls(documents, id, body, embedding) > 0 OR (mapping IS NOT NULL AND num_nulls(mapping_entity, mapping_document) > 0) THEN
        RAISE EXCEPTION 'documents, id, body and embedding must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF entity IS NOT NULL AND mapping IS NOT NULL THEN
        RAISE EXCEPTION '"entity" and "mapping" exclude each other' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A document is about the entity in its own column, or about those that the mapping table gives it.';
    END IF;
    -- One column may be id, body and entity at once.
    IF embedding IN (id, body, entity, tokens, metadata, search) OR (mapping IS NOT NULL AND mapping_entity = mapping_document) THEN
        RAISE EXCEPTION 'column "%" is named twice', CASE WHEN embedding IN (id, body, entity, tokens, metadata, search) THEN embedding ELSE mapping_entity END
            USING ERRCODE = 'duplicate_column', HINT = 'The embedding must be a column of its own, and so must the entity and the document of a mapping.';
    END IF;
    -- Already attached like this: there is nothing to do, and no lock to wait for.
    IF (SELECT jsonb_agg(c.columns) FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()', documents) AS c WHERE c.relation = documents)
           = jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('id', id, 'body', body, 'embedding', embedding, 'entity', entity, 'tokens', tokens, 'metadata', metadata, 'search', search, 'sort', sort) || others))
       AND (SELECT coalesce(jsonb_object_agg(c.relation::oid, c.columns), '{}') FROM cftrag_internal.cft_columns('cftrag_internal.cft_document_entities()', NULL, documents) AS c
             WHERE c.other = documents)
           = (CASE WHEN mapping IS NULL THEN '{}'
                   ELSE jsonb_build_object(mapping::oid, jsonb_build_object('entity', mapping_entity, 'document', mapping_document)) END) THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = documents AND a.attname = entity AND (t.typcategory = 'A' OR t.typname IN ('json', 'jsonb'))) THEN
        RAISE EXCEPTION 'column "%" of table % holds several entities', entity, documents USING ERRCODE = 'datatype_mismatch',
            HINT = format('Say which entities a document is about in a table of pairs: CREATE TABLE document_entities AS SELECT %I AS document_id, %s AS entity FROM %s; SELECT cft_attach_documents(%L, id => %L, body => %L, embedding => %L, mapping => ''document_entities'');',
                          id, (SELECT format(CASE WHEN a.atttypid::regtype::text LIKE 'json%' THEN a.atttypid::regtype || '_array_elements_text(%I)' ELSE 'unnest(%I)' END, entity) FROM pg_attribute AS a WHERE a.attrelid = documents AND a.attname = entity), documents, documents, id, body, embedding);
    END IF;
    PERFORM cftrag_internal.cft_detach_documents(documents) WHERE EXISTS (
        SELECT FROM pg_trigger WHERE tgrelid = documents AND tgfoid = 'cftrag_internal.cft_documents()'::regprocedure);
    PERFORM cftrag_internal.cft_set_columns(documents, NULL, 'cftrag_internal.cft_documents()', ARRAY[id, body, embedding, entity, tokens, metadata, search, sort] || columns::name[],
                                        '{id,body,embedding,entity,tokens,metadata,search,sort}' || ARRAY(SELECT 'column' || u.n FROM unnest(columns) WITH ORDINALITY AS u(c, n)));
    PERFORM cftrag_internal.cft_distance(documents, embedding);
    -- Types of the server's own with an order: their operators are in pg_catalog.
    SELECT a.attname INTO unfit FROM unnest(columns || sort::text) AS u(c) JOIN pg_attribute AS a ON a.attrelid = documents AND a.attname = u.c
     WHERE NOT cftrag_internal.cft_is_builtin(a.atttypid::regtype)
        OR NOT EXISTS (SELECT FROM pg_type AS t, pg_opclass AS c WHERE t.oid = a.atttypid AND c.opcmethod = 403 AND c.opcdefault AND c.opcintype IN (coalesce(nullif(t.typbasetype, 0), t.oid), CASE WHEN t.typcategory = 'S' THEN 25 END)) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table % has no order of the server''s own', unfit, documents USING ERRCODE = 'datatype_mismatch',
            HINT = 'Filters and the order of documents take columns of the server''s own types that have an order: numbers, texts, booleans, dates, uuid.';
    END IF;
    IF tokens IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = documents AND attname = tokens AND atttypid IN (21, 23, 20)) THEN
        RAISE EXCEPTION 'column "%" of table % is no integer', tokens, documents USING ERRCODE = 'datatype_mismatch';
    END IF;
    PERFORM cftrag_internal.cft_has_metadata(documents, metadata, 1) WHERE metadata IS NOT NULL;
    IF search IS NOT NULL THEN
        PERFORM cftrag_internal.cft_search_by(documents, search);
    END IF;
    IF mapping IS NOT NULL THEN
        PERFORM cftrag_internal.cft_set_columns(mapping, documents, 'cftrag_internal.cft_document_entities()',
                                            ARRAY[mapping_entity, mapping_document], '{entity,document}');
        -- An error here says that the two columns cannot be compared.
        EXECUTE format('SELECT FROM %s AS d JOIN %s AS m ON %s LIMIT 0', documents, mapping, cftrag_internal.cft_same(documents, id, mapping, mapping_document, 'd'));
    END IF;
    PERFORM cftrag_internal.cft_note_index(documents);
END $$;
COMMENT ON FUNCTION cft_attach_documents(regclass, name, name, name, name, name, regclass, name, name, name, name, text[], name) IS
'says which columns of a table hold documents, and how they belong to entities: by a column, or by a mapping table; owner only. columns: those that filters may name, beside the metadata. sort: the order of documents about one entity';

CREATE FUNCTION cftrag_internal.cft_detach_documents(documents regclass)
RETURNS void LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mapping regclass;
BEGIN
    IF NOT cftrag_internal.cft_set_columns(documents, NULL, 'cftrag_internal.cft_documents()', NULL, NULL) THEN
        RAISE EXCEPTION 'table % has no documents attached to cftrag', documents USING ERRCODE = 'undefined_table';
    END IF;
    -- Mappings of other owners are left alone.
    FOR mapping IN SELECT DISTINCT t.tgrelid FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
                    WHERE t.tgconstrrelid = documents AND t.tgfoid = 'cftrag_internal.cft_document_entities()'::regprocedure AND pg_has_role(c.relowner, 'USAGE') LOOP
        PERFORM cftrag_internal.cft_set_columns(mapping, documents, 'cftrag_internal.cft_document_entities()', NULL, NULL);
    END LOOP;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_detach_documents(regclass) IS 'what cft_detach calls for documents';

CREATE FUNCTION cftrag_internal.cft_attach_embeddings(embeddings regclass, entity name, embedding name, edges regclass)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    forest regclass := (SELECT a.edges FROM cftrag_internal.cft_attached(cft_attach_embeddings.edges) AS a);
    others text;
BEGIN
    IF num_nulls(embeddings, entity, embedding) > 0 THEN
        RAISE EXCEPTION 'embeddings, entity and embedding must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF entity = embedding THEN
        RAISE EXCEPTION 'entity and embedding must be different columns' USING ERRCODE = 'duplicate_column';
    END IF;
    SELECT string_agg(r.relation::text, ', ') INTO others
      FROM cftrag_internal.cft_registered('cftrag_internal.cft_entity_embeddings()', NULL, forest) AS r
     WHERE r.relation <> embeddings AND cftrag_internal.cft_counts(r.relation, forest);
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'another table of embeddings is attached to %', forest USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = format('It is %s.', others), HINT = 'Detach it with cft_detach.';
    END IF;
    PERFORM cftrag_internal.cft_set_columns(embeddings, forest, 'cftrag_internal.cft_entity_embeddings()', ARRAY[entity, embedding], '{entity,embedding}');
    PERFORM cftrag_internal.cft_distance(embeddings, embedding);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_attach_embeddings(regclass, name, name, regclass) IS 'what cft_attach_embeddings calls';

CREATE FUNCTION cft_attach_embeddings(embeddings regclass, entity name DEFAULT 'entity', embedding name DEFAULT 'embedding', edges regclass DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC SELECT cftrag_internal.cft_attach_embeddings($1, $2, $3, cftrag_internal.cft_meant_edges($4)); END;
COMMENT ON FUNCTION cft_attach_embeddings(regclass, name, name, regclass) IS
'says which columns of a table hold the embeddings of the entities of an edges table; owner only';

CREATE FUNCTION cftrag_internal.cft_attach_words(words regclass, word name, class name, edges regclass)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    forest regclass := (SELECT a.edges FROM cftrag_internal.cft_attached(cft_attach_words.edges) AS a);
    missed record;
BEGIN
    IF num_nulls(words, word, class) > 0 THEN
        RAISE EXCEPTION 'words, word and class must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF word = class THEN
        RAISE EXCEPTION 'word and class must be different columns' USING ERRCODE = 'duplicate_column';
    END IF;
    -- Already attached like this: there is nothing to do, and no lock to wait for.
    IF jsonb_build_object('word', word, 'class', class)
           = ALL (SELECT r.columns FROM cftrag_internal.cft_registered('cftrag_internal.cft_word_classes()', NULL, forest) AS r WHERE r.relation = words)
       AND EXISTS (SELECT FROM cftrag_internal.cft_registered('cftrag_internal.cft_word_classes()', NULL, forest) AS r WHERE r.relation = words) THEN
        RETURN;
    END IF;
    PERFORM cftrag_internal.cft_set_columns(words, forest, 'cftrag_internal.cft_word_classes()', ARRAY[word, class], '{word,class}');
    -- A table of many words would take seconds.
    EXECUTE format('SELECT count(*), min(z.word COLLATE "C") FROM (SELECT %s AS word FROM %s AS r LIMIT 10000) AS z
                     WHERE z.word IS NOT NULL AND (SELECT count(*) <> 1 OR bool_or(w.lower <> convert_to(z.word, ''UTF8'')) FROM cftrag_internal.cft_words(z.word) AS w)',
                   cftrag_internal.cft_as_text('r.' || quote_ident(word), words, word), words) INTO missed;
    IF missed.count > 0 THEN
        RAISE NOTICE 'of the words of table %, % are found in no text', words, missed.count
            USING DETAIL = format('One is "%s": it has capitals, or is not one word.', missed.min),
                  HINT = 'Write single words, in lower case: texts are compared without case. Expressions of several words are aliases (cft_attach_aliases).';
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_attach_words(regclass, name, name, regclass) IS 'what cft_attach_words calls';

CREATE FUNCTION cft_attach_words(words regclass, word name DEFAULT 'word', class name DEFAULT 'class', edges regclass DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC SELECT cftrag_internal.cft_attach_words($1, $2, $3, cftrag_internal.cft_meant_edges($4)); END;
COMMENT ON FUNCTION cft_attach_words(regclass, name, name, regclass) IS
'says which words may stand for each other in the names of an edges table: those of the same class; texts find the names by either (match: inflected, fuzzy); owner only';

-- The hint that says how to attach a table of documents.
CREATE FUNCTION cftrag_internal.cft_documents_line(documents regclass)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN count(*) FILTER (WHERE a.attname IN ('id', 'body', 'embedding')) = 3 THEN format('Attach it with: SELECT cft_attach_documents(%L);', documents)
                ELSE format('Attach it with cft_attach_documents, which takes its columns of ids, texts and embeddings; it has the columns %s.',
                            string_agg(format('"%s"', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE a.attnum <= 12)) END
      FROM pg_attribute AS a WHERE a.attrelid = documents AND a.attnum > 0 AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION cftrag_internal.cft_documents_line(regclass) IS 'what to type to attach a table of documents';

-- The table of documents, its columns, and its mapping. NULL or 0 raises the error for an argument left out: 42P01 if no table is attached, else 42725.
CREATE FUNCTION cftrag_internal.cft_attached_documents(documents regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, id name, body name, embedding name, entity name, tokens name,
              mapping regclass, mapping_entity name, mapping_document name, metadata name, search name)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted regclass := nullif(documents, 0);
    others text;
BEGIN
    IF wanted IS NULL THEN
        SELECT string_agg(DISTINCT c.relation::text, ', '), min(c.relation::text) INTO others, wanted
          FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()') AS c;
        IF others IS NULL THEN
            RAISE EXCEPTION 'no table of documents that you may read is attached to cftrag' USING ERRCODE = 'undefined_table',
                HINT = 'Attach one with cft_attach_documents, which takes the table and its columns: id, body, embedding.';
        END IF;
        RAISE EXCEPTION '"documents" was left out, and search_path does not show exactly one table of documents that is attached to cftrag'
            USING ERRCODE = 'ambiguous_function', DETAIL = format('Attached tables that you may read: %s.', others),
                HINT = format('Say which one: documents => %L.', wanted);
    END IF;
    SELECT d.relation, (d.columns ->> 'id')::name, (d.columns ->> 'body')::name, (d.columns ->> 'embedding')::name,
                        (d.columns ->> 'entity')::name, (d.columns ->> 'tokens')::name,
                        m.relation, (m.columns ->> 'entity')::name, (m.columns ->> 'document')::name, (d.columns ->> 'metadata')::name, (d.columns ->> 'search')::name
                   INTO relation, id, body, embedding, entity, tokens, mapping, mapping_entity, mapping_document, metadata, search
                   FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()', wanted) WITH ORDINALITY AS d(relation, other, columns, trigger_name, n)
                   LEFT JOIN cftrag_internal.cft_columns('cftrag_internal.cft_document_entities()', NULL, wanted) WITH ORDINALITY AS m(relation, other, columns, trigger_name, n)
                          ON m.other = d.relation
                  WHERE d.relation = wanted ORDER BY d.n, m.n LIMIT 1;
    IF NOT FOUND THEN
        -- If the table is attached but the caller may not read it, this raises PostgreSQL's own error.
        IF EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = wanted AND t.tgfoid = 'cftrag_internal.cft_documents()'::regprocedure) THEN
            EXECUTE format('SELECT FROM %s LIMIT 0', wanted);
        END IF;
        RAISE EXCEPTION 'table % has no documents attached to cftrag', wanted USING ERRCODE = 'undefined_table',
            HINT = cftrag_internal.cft_documents_line(wanted);
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_attached_documents(regclass) IS 'an attached table of documents, its columns, and its mapping to entities';

-- The condition that joins a document (d, or n.key) to a row of a mapping (m), as SQL. It compares with the types' operator, or as texts where a cast
-- of one of the types could be an ordinary role's.
CREATE FUNCTION cftrag_internal.cft_same(relation regclass, id name, mapping regclass, mapping_document name, value text)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    document text := CASE value WHEN 'd' THEN 'd.' || quote_ident(id) ELSE value END;
    mapped text := 'm.' || quote_ident(mapping_document);
BEGIN
    RETURN (SELECT CASE WHEN cftrag_internal.cft_is_builtin(a.atttypid::regtype) AND cftrag_internal.cft_is_builtin(b.atttypid::regtype)
                        THEN document || ' = ' || mapped
                        ELSE cftrag_internal.cft_as_text(document, relation, id) || ' COLLATE "C" = ' || cftrag_internal.cft_as_text(mapped, mapping, mapping_document) END
              FROM pg_attribute AS a, pg_attribute AS b WHERE a.attrelid = relation AND a.attname = id AND b.attrelid = mapping AND b.attname = mapping_document);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_same(regclass, name, regclass, name, text) IS 'joins documents to the rows of a mapping, as SQL';

-- The joins from entities (n.name) to the documents about them (d), as SQL. A document may be about several entities.
CREATE FUNCTION cftrag_internal.cft_about(relation regclass, id name, entity name, mapping regclass, mapping_entity name, mapping_document name)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- Concatenated, not format(): a name may contain a % sign.
    column_sql text := CASE WHEN mapping IS NULL THEN 'd.' || quote_ident(entity) ELSE 'm.' || quote_ident(mapping_entity) END;
    same text := (SELECT CASE WHEN t.typcategory = 'S' AND l.collisdeterministic AND cftrag_internal.cft_is_builtin(t.oid::regtype)
                              THEN column_sql || ' = n.name COLLATE ' || quote_ident(n.nspname) || '.' || quote_ident(l.collname)
                              -- Cast to the column's type, for a plain index on it. Names that are not valid in that type match nothing.
                              WHEN coalesce(nullif(t.typbasetype, 0), t.oid) IN (21, 23, 20)
                              THEN column_sql || ' = CASE WHEN n.name ~ ''^(0|-?[1-9][0-9]{0,18})$'' THEN CASE WHEN n.name::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN n.name::int8 END END'
                              WHEN coalesce(nullif(t.typbasetype, 0), t.oid) = 2950
                              THEN column_sql || ' = CASE WHEN n.name ~ ''^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'' THEN n.name::uuid END'
                              ELSE cftrag_internal.cft_as_text(column_sql, a.attrelid::regclass, a.attname) || ' = n.name COLLATE "C"' END
                    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
                    LEFT JOIN pg_collation AS l ON l.oid = a.attcollation LEFT JOIN pg_namespace AS n ON n.oid = l.collnamespace
                   WHERE a.attrelid = coalesce(mapping, relation) AND a.attname = coalesce(mapping_entity, entity));
BEGIN
    IF mapping IS NULL THEN
        RETURN ' JOIN ' || relation::text || ' AS d ON ' || same;
    END IF;
    RETURN ' JOIN ' || mapping::text || ' AS m ON ' || same
        || ' JOIN ' || relation::text || ' AS d ON ' || cftrag_internal.cft_same(relation, id, mapping, mapping_document, 'd');
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_about(regclass, name, name, regclass, name, name) IS 'joins documents (d) to entities (n.name): the part of a statement that cft_chunks uses';

-- Whether an entity, given as SQL (d.entity), is within $2 in the trees $5 of the hierarchy $3. Keeps the type of the column, for a plain index on it.
CREATE FUNCTION cftrag_internal.cft_is_within(value text, relation regclass, column_name name)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT 'cftrag_internal.cft_under('
                || CASE coalesce(nullif(t.typbasetype, 0), t.oid) WHEN 21 THEN value || '::pg_catalog.int4' WHEN 23 THEN value || '::pg_catalog.int4'
                        WHEN 20 THEN value || '::pg_catalog.int8' WHEN 2950 THEN value || '::pg_catalog.uuid'
                        ELSE cftrag_internal.cft_as_text(value, relation, column_name) END
                || ', $2, $3, $5)'
              FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = relation AND a.attname = column_name);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_is_within(text, regclass, name) IS 'whether an entity is within others, as SQL';

-- Whether a document (d) has the metadata $n, as SQL. 55000 if the documents have none, or they are embeddings of entities; 42804 if the column is no
-- jsonb: any role could have made a cast of its own type to jsonb.
CREATE FUNCTION cftrag_internal.cft_has_metadata(relation regclass, metadata name, parameter integer)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF metadata IS NULL THEN
        RAISE EXCEPTION '% is attached without metadata', relation USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Attach documents with cft_attach_documents, metadata => their column of type jsonb; embeddings of entities have none.';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = metadata AND a.atttypid = 'jsonb'::regtype) THEN
        RAISE EXCEPTION 'column "%" of table % is no jsonb', metadata, relation USING ERRCODE = 'datatype_mismatch';
    END IF;
    RETURN format(' AND d.%I @> $%s', metadata, parameter);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_has_metadata(regclass, name, integer) IS 'whether a document has some metadata, as SQL';

CREATE FUNCTION cft_chunks(entities text[], embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer, distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 20
AS 'MODULE_PATHNAME', 'cft_chunks_many_wrapper';
COMMENT ON FUNCTION cft_chunks(text[], vector, integer, integer, regclass, text[], regclass) IS
'the documents about entities and their relatives (in these trees), each once, the nearest first: by depth, then by distance to the embedding if one is given';

CREATE FUNCTION cft_chunks(entity text, embedding vector DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, relation text, depth integer, relative text, document_id text, body text, tokens integer, distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 10
AS 'MODULE_PATHNAME', 'cft_chunks_one_wrapper';
COMMENT ON FUNCTION cft_chunks(text, vector, integer, integer, regclass, text[], regclass) IS 'the documents about an entity and its relatives';

-- The column with the number of tokens of a document (d), as SQL. NULL, or a negative value, is not a count: the tokens of the text are counted instead.
-- A count beyond the range of integer becomes its maximum.
CREATE FUNCTION cftrag_internal.cft_counted(relation regclass, tokens name)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = tokens AND a.atttypid IN (21, 23, 20)) THEN 'NULL::pg_catalog.int4'
                ELSE format('CASE WHEN d.%1$I >= 0 THEN least(d.%1$I::pg_catalog.int8, 2147483647)::pg_catalog.int4 END', tokens) END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_counted(regclass, name) IS 'the tokens that a column of documents says, as SQL: NULL where it says none';

-- "8 public.docs.embedding": -1 if the column does not say how many.
CREATE FUNCTION cftrag_internal.cft_dimensions(relation regclass, embedding name) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT format('%s %s.%I', a.atttypmod, relation, embedding) FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = embedding $$;
COMMENT ON FUNCTION cftrag_internal.cft_dimensions(regclass, name) IS 'the dimensions that a column of embeddings declares, and its name';

CREATE FUNCTION cftrag_internal.cft_check_dimensions(embedding vector, declared text) RETURNS void
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 5
AS 'MODULE_PATHNAME', 'cft_check_dimensions_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_check_dimensions(vector, text) IS 'an error if an embedding does not have the dimensions of a column, which cft_dimensions says';

-- What is wrong with arguments of which one is negative.
CREATE FUNCTION cftrag_internal.cft_negative(arguments text[], "values" bigint[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT format('"%s" must not be negative, but is %s', u.argument, u.value) FROM unnest(arguments, "values") AS u(argument, value) WHERE u.value < 0 LIMIT 1 $$;
COMMENT ON FUNCTION cftrag_internal.cft_negative(text[], bigint[]) IS 'the message of an error: which of these arguments is negative';

CREATE FUNCTION cftrag_internal.cft_note_index(documents regclass) RETURNS void LANGUAGE c VOLATILE STRICT COST 10
AS 'MODULE_PATHNAME', 'cft_note_index_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_note_index(regclass) IS 'a NOTICE if many documents have no index by which the nearest are found';

CREATE FUNCTION cftrag_internal.cft_search_statement(documents regclass, by text, within boolean DEFAULT false, filter jsonb DEFAULT NULL) RETURNS text
LANGUAGE c STABLE PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_search_statement_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_search_statement(regclass, text, boolean, jsonb) IS 'the statement of a search of documents, by nearest, words, about or centroid';

CREATE FUNCTION cftrag_internal.cft_condition(documents regclass, filter jsonb, parameter integer) RETURNS TABLE(condition text, parameters text[])
LANGUAGE c STABLE STRICT PARALLEL SAFE COST 10 ROWS 1
AS 'MODULE_PATHNAME', 'cft_condition_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_condition(regclass, jsonb, integer) IS 'a filter of documents as a condition on a document (d), and what its parameter is';
