-- What becomes due by a change (summaries.sql has the whole). With the rights of who makes the change: he needs INSERT on the column of
-- entities in the summaries, and SELECT on the edges.

-- Of the entities given those with children (all, if leaves have summaries too), and all ancestors of all.
CREATE FUNCTION cft_rollup_insert(summaries regclass, entity name, leaves boolean, entities text[], edges regclass)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO %s (%I)
         SELECT c.relative COLLATE "C" FROM @extschema@.cft_context($1, 1000, 0, $2) AS c
         UNION
         SELECT c.entity FROM @extschema@.cft_context($1, $3, 1, $2) AS c ORDER BY 1', summaries, entity)
    USING entities, edges, leaves::int;
END $$;
COMMENT ON FUNCTION cft_rollup_insert(regclass, name, boolean, text[], regclass) IS 'marks entities and their ancestors in a table of summaries';

CREATE FUNCTION cft_rollup_mark(entities text[], edges regclass DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM @extschema@.cft_rollup_insert(s.summaries, s.entity, s.leaves, entities, s.forest) FROM @extschema@.cft_rollup_tables(edges) AS s;
END $$;
COMMENT ON FUNCTION cft_rollup_mark(text[], regclass) IS 'says that the summaries of entities, and of all their ancestors, are due';

-- As SQL: these columns of what a statement has changed. What is the same before and after, as by UPDATE of another column, is no change.
CREATE FUNCTION cft_rollup_changes(operation text, VARIADIC columns text[])
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    after text := 'SELECT ' || array_to_string(columns, ', ') || ' FROM cft_new AS r';
    before text := 'SELECT ' || array_to_string(columns, ', ') || ' FROM cft_old AS r';
BEGIN
    RETURN CASE operation WHEN 'INSERT' THEN after WHEN 'DELETE' THEN before
           ELSE format('(%1$s EXCEPT ALL %2$s) UNION ALL (%2$s EXCEPT ALL %1$s)', after, before) END;
END $$;
COMMENT ON FUNCTION cft_rollup_changes(text, text[]) IS 'the changed rows of cft_rollup_changed, as SQL';

-- Of an edges table (due are the parents), of documents (due is whom they are about), or of a table that is both. Once a statement.
CREATE FUNCTION cft_rollup_changed()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
    f record;
    columns jsonb;
    parents text[];
    children text[];
    entities text[];
BEGIN
    IF TG_LEVEL <> 'STATEMENT' OR TG_WHEN <> 'AFTER' THEN
        RAISE EXCEPTION 'cft_rollup_changed must be fired after a statement' USING ERRCODE = 'trigger_protocol_violated';
    END IF;

    FOR s IN SELECT * FROM @extschema@.cft_summaries_of(TG_RELID) WHERE TG_OP <> 'TRUNCATE' LOOP
        IF NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = TG_RELID AND t.tgfoid = '@extschema@.cft_capture()'::regprocedure) THEN
            RAISE WARNING 'summaries in % are not marked: table % is not attached to cftrag any more', s.summaries, TG_RELID::regclass;
            CONTINUE;
        END IF;
        SELECT * INTO f FROM @extschema@.cft_attached(TG_RELID);
        EXECUTE format('SELECT array_agg(DISTINCT z.parent COLLATE "C"), array_agg(DISTINCT z.child COLLATE "C")
                          FROM (%s) AS z(parent, child, tree) WHERE z.parent IS NOT NULL AND z.child IS NOT NULL',
                       @extschema@.cft_rollup_changes(TG_OP, format('r.%I::text', f.parent), format('r.%I::text', f.child),
                                                      CASE WHEN f.tree IS NULL THEN 'NULL::text' ELSE format('r.%I::text', f.tree) END))
        INTO parents, children;
        IF s.leaves AND TG_OP <> 'DELETE' THEN
            -- New leaves have no summary yet.
            EXECUTE format('SELECT $1 || array_agg(u.name) FROM unnest($2) AS u(name) WHERE NOT EXISTS (SELECT FROM %s AS s WHERE s.%I::text = u.name)',
                           s.summaries, s.entity)
            INTO parents USING parents, children;
        END IF;
        PERFORM @extschema@.cft_rollup_insert(s.summaries, s.entity, s.leaves, parents, TG_RELID) WHERE parents IS NOT NULL;
    END LOOP;

    FOR s IN SELECT z.*, e.other AS edges
               FROM @extschema@.cft_registered('@extschema@.cft_summary_documents()', NULL, TG_RELID) AS r,
                    LATERAL @extschema@.cft_registered('@extschema@.cft_summaries()', r.relation) AS e,
                    LATERAL @extschema@.cft_summaries_of(e.other) AS z WHERE z.summaries = r.relation LOOP
        SELECT r.columns INTO columns FROM @extschema@.cft_registered('@extschema@.cft_documents()', TG_RELID) AS r;
        -- Not attached any more: the documents to entities, or the edges.
        CONTINUE WHEN NOT FOUND OR NOT columns ? 'entity'
            OR NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = s.edges AND t.tgfoid = '@extschema@.cft_capture()'::regprocedure);
        IF TG_OP = 'TRUNCATE' THEN
            EXECUTE format('SELECT array_agg(DISTINCT s.%I::text) FROM %s AS s', s.entity, s.summaries) INTO entities;
        ELSE
            EXECUTE format('SELECT array_agg(DISTINCT z.entity COLLATE "C") FROM (%s) AS z(entity, body, id) WHERE z.entity IS NOT NULL',
                           @extschema@.cft_rollup_changes(TG_OP, format('r.%I::text', columns ->> 'entity'), format('r.%I::text', columns ->> 'body'),
                                                          format('r.%I::text', columns ->> 'id')))
            INTO entities;
        END IF;
        PERFORM @extschema@.cft_rollup_insert(s.summaries, s.entity, s.leaves, entities, s.edges) WHERE entities IS NOT NULL;
    END LOOP;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION cft_rollup_changed() IS
'trigger of an edges table, or of its documents, whose entities have summaries: marks those whose summaries are due';
