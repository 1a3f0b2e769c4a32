-- Implicit knowledge (Gupte et al., arXiv 2510.10806, 2025): a summary of each node, made of what is below it, from the leaves up. Here: a table of
-- the user's with summaries, what of it is due, and a queue that any number of workers share. The models are the workers'.
--
-- The table has a row with each summary, and a row without one, a mark, for each time that an entity's summary became due. Marks are only ever
-- added by who changes something, so no writer waits for a worker or another writer. A worker locks all the marks of an entity that it sees (SKIP LOCKED),
-- reads what is below it after that, and deletes these marks with the summary: what was changed meanwhile has left a mark of its own. If the worker dies or rolls
-- back, its marks are as they were.
-- Due by a change are the entity and all its ancestors, so that these wait for it. Where these were not marked (policies hid them from the writer), or
-- their marks were just being taken, a summary that is done marks the parents itself.

-- A registration, whatever the caller may read: no change goes unmarked.
CREATE FUNCTION cft_registered(trigger_function regprocedure, of_relation regclass, of_other regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, other regclass, columns jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
-- Planned once in a session: a writer waits for this, and planning is nearly all of it.
BEGIN
    RETURN QUERY
    SELECT t.tgrelid::regclass, nullif(t.tgconstrrelid, 0)::regclass,
           (SELECT jsonb_object_agg(role, (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = t.tgrelid AND a.attnum = o.number))
              FROM unnest(t.tgattr::int2[], string_to_array(encode(t.tgargs, 'escape'), E'\\000')) AS o(number, roles),
                   LATERAL unnest(string_to_array(o.roles, ' ')) AS role
             WHERE o.number IS NOT NULL)
      FROM (SELECT (SELECT x FROM pg_trigger AS x WHERE x.oid = d.objid) AS t
              FROM pg_depend AS d
             WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = trigger_function AND d.classid = 'pg_trigger'::regclass OFFSET 0) AS z,
           LATERAL (SELECT (z.t).*) AS t
     WHERE t.tgfoid = trigger_function AND NOT t.tgisinternal AND t.tgparentid = 0
       AND (t.tgrelid = of_relation OR t.tgconstrrelid = of_other)
     ORDER BY t.tgrelid, t.tgconstrrelid;
END $$;
COMMENT ON FUNCTION cft_registered(regprocedure, regclass, regclass) IS
'what a trigger that never fires says of a table, or of the tables that belong to another';

-- The summaries of an edges table.
CREATE FUNCTION cft_summaries_of(edges regclass)
RETURNS TABLE(summaries regclass, entity name, summary name, embedding name, leaves boolean, documents regclass)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 200 ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT r.relation, (r.columns ->> 'entity')::name, (r.columns ->> 'summary')::name, (r.columns ->> 'embedding')::name, r.columns ? 'leaves',
           (SELECT d.other FROM @extschema@.cft_registered('@extschema@.cft_summary_documents()', r.relation) AS d LIMIT 1)
      FROM @extschema@.cft_registered('@extschema@.cft_summaries()', NULL, edges) AS r;
END $$;
COMMENT ON FUNCTION cft_summaries_of(regclass) IS 'the tables of summaries of an edges table, and their columns';

-- Marks entities, those with children only unless leaves have summaries too, and all their ancestors.
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
DECLARE
    forest regclass := (SELECT f.edges FROM @extschema@.cft_attached(cft_rollup_mark.edges) AS f);
BEGIN
    PERFORM @extschema@.cft_rollup_insert(s.summaries, s.entity, s.leaves, entities, forest) FROM @extschema@.cft_summaries_of(forest) AS s;
    IF NOT FOUND THEN PERFORM @extschema@.cft_no_summaries(forest); END IF;
END $$;
COMMENT ON FUNCTION cft_rollup_mark(text[], regclass) IS 'says that the summaries of entities, and of all their ancestors, are due';

CREATE FUNCTION cft_no_summaries(edges regclass)
RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'no table of summaries is attached to %', edges USING ERRCODE = 'undefined_table',
        HINT = format('Attach one with: SELECT cft_attach_summaries(''my_summaries'', entity => ''entity'', summary => ''summary'', edges => %L);', edges);
END $$;
COMMENT ON FUNCTION cft_no_summaries(regclass) IS 'the error of an edges table without summaries';

-- Of edges (their parents) or of documents (their entities), once a statement. With the writer's rights: he needs INSERT on the summaries and SELECT on the edges.
CREATE FUNCTION cft_rollup_changed()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
    f record;
    d record;
    changed text;
    entities text[];
    children text[];
BEGIN
    IF TG_LEVEL <> 'STATEMENT' OR TG_WHEN <> 'AFTER' THEN
        RAISE EXCEPTION 'cft_rollup_changed must be fired after a statement' USING ERRCODE = 'trigger_protocol_violated';
    END IF;
    -- What is no change, as UPDATE of another column, marks nothing.
    changed := CASE TG_OP WHEN 'INSERT' THEN 'SELECT %1$s FROM cft_new AS r' WHEN 'DELETE' THEN 'SELECT %1$s FROM cft_old AS r'
        ELSE '(SELECT %1$s FROM cft_new AS r EXCEPT ALL SELECT %1$s FROM cft_old AS r) UNION ALL (SELECT %1$s FROM cft_old AS r EXCEPT ALL SELECT %1$s FROM cft_new AS r)' END;
    FOR s IN SELECT * FROM @extschema@.cft_summaries_of(TG_RELID) LOOP
        CONTINUE WHEN TG_OP = 'TRUNCATE';
        IF NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = TG_RELID AND t.tgfoid = '@extschema@.cft_capture()'::regprocedure) THEN
            RAISE WARNING 'summaries in % are not marked: table % is not attached to cftrag any more', s.summaries, TG_RELID::regclass;
            CONTINUE;
        END IF;
        SELECT * INTO f FROM @extschema@.cft_attached(TG_RELID);
        EXECUTE format('SELECT array_agg(DISTINCT z.parent COLLATE "C"), array_agg(DISTINCT z.child COLLATE "C") FROM (' || changed || ') AS z(parent, child, tree) WHERE z.parent IS NOT NULL AND z.child IS NOT NULL',
                       format('r.%I::text, r.%I::text, %s', f.parent, f.child, CASE WHEN f.tree IS NULL THEN 'NULL::text' ELSE format('r.%I::text', f.tree) END))
        INTO entities, children;
        IF s.leaves AND TG_OP <> 'DELETE' AND children IS NOT NULL THEN
            -- New ones too.
            EXECUTE format('SELECT $1 || array_agg(u.name) FROM unnest($2) AS u(name) WHERE NOT EXISTS (SELECT FROM %s AS s WHERE s.%I::text = u.name)', s.summaries, s.entity)
            INTO entities USING entities, children;
        END IF;
        CONTINUE WHEN entities IS NULL;
        PERFORM @extschema@.cft_rollup_insert(s.summaries, s.entity, s.leaves, entities, TG_RELID);
    END LOOP;
    FOR s IN SELECT z.*, e.other AS edges
               FROM @extschema@.cft_registered('@extschema@.cft_summary_documents()', NULL, TG_RELID) AS r,
                    LATERAL @extschema@.cft_registered('@extschema@.cft_summaries()', r.relation) AS e,
                    LATERAL @extschema@.cft_summaries_of(e.other) AS z WHERE z.summaries = r.relation LOOP
        SELECT r.columns INTO d FROM @extschema@.cft_registered('@extschema@.cft_documents()', TG_RELID) AS r;
        CONTINUE WHEN NOT FOUND OR NOT d.columns ? 'entity'
            OR NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = s.edges AND t.tgfoid = '@extschema@.cft_capture()'::regprocedure);
        IF TG_OP = 'TRUNCATE' THEN
            EXECUTE format('SELECT array_agg(DISTINCT s.%I::text) FROM %s AS s', s.entity, s.summaries) INTO entities;
        ELSE
            EXECUTE format('SELECT array_agg(DISTINCT z.entity COLLATE "C") FROM (' || changed || ') AS z(entity, body, id) WHERE z.entity IS NOT NULL',
                           format('r.%I::text, r.%I::text, r.%I::text', d.columns ->> 'entity', d.columns ->> 'body', d.columns ->> 'id')) INTO entities;
        END IF;
        CONTINUE WHEN entities IS NULL;
        PERFORM @extschema@.cft_rollup_insert(s.summaries, s.entity, s.leaves, entities, s.edges);
    END LOOP;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION cft_rollup_changed() IS
'trigger of an edges table, or of its documents, whose entities have summaries: marks those whose summaries are due';

CREATE FUNCTION cft_attach_summaries(summaries regclass, entity name DEFAULT 'entity', summary name DEFAULT 'summary', embedding name DEFAULT NULL,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL, leaves boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
    wrong record;
    relation regclass;
    event text;
BEGIN
    IF num_nulls(summaries, entity, summary, leaves) > 0 THEN
        RAISE EXCEPTION 'summaries, entity, summary and leaves must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF entity = summary OR embedding IN (entity, summary) THEN
        RAISE EXCEPTION 'entity, summary and embedding must be different columns' USING ERRCODE = 'duplicate_column';
    END IF;
    SELECT * INTO f FROM @extschema@.cft_attached(edges);
    IF summaries IN (f.edges, documents) THEN
        RAISE EXCEPTION 'a table of summaries is a table of its own' USING ERRCODE = 'wrong_object_type';
    END IF;
    IF EXISTS (SELECT FROM @extschema@.cft_summaries_of(f.edges) AS s WHERE s.summaries <> cft_attach_summaries.summaries) THEN
        RAISE EXCEPTION 'another table of summaries is attached to %', f.edges USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = format('It is %s.', (SELECT string_agg(s.summaries::text, ', ') FROM @extschema@.cft_summaries_of(f.edges) AS s)),
            HINT = format('Detach it with: SELECT cft_detach_summaries(%L);', (SELECT min(s.summaries::text) FROM @extschema@.cft_summaries_of(f.edges) AS s));
    END IF;
    IF EXISTS (SELECT FROM @extschema@.cft_registered('@extschema@.cft_summaries()', summaries)) THEN
        PERFORM @extschema@.cft_detach_summaries(summaries);
    END IF;
    PERFORM @extschema@.cft_set_columns(summaries, f.edges, '@extschema@.cft_summaries()', ARRAY[entity, summary, embedding],
                                        ARRAY['entity' || CASE WHEN leaves THEN ' leaves' ELSE '' END, 'summary', 'embedding']);
    IF (SELECT c.relkind <> 'r' OR c.relhassubclass FROM pg_class AS c WHERE c.oid = summaries) THEN
        RAISE EXCEPTION 'summaries cannot be in %: it is no plain table without children', summaries USING ERRCODE = 'wrong_object_type';
    END IF;
    SELECT a.attname INTO wrong
      FROM pg_attribute AS a LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
     WHERE a.attrelid = summaries AND a.attname IN (entity, summary) AND (a.atttypid NOT IN (25, 1043) OR NOT l.collisdeterministic) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table % holds no summaries or names: it must be text, of a deterministic collation', wrong.attname, summaries USING ERRCODE = 'datatype_mismatch';
    END IF;
    IF embedding IS NOT NULL THEN
        PERFORM @extschema@.cft_distance(summaries, embedding);
    END IF;
    IF documents IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM @extschema@.cft_attached_documents(documents) AS d WHERE d.entity IS NOT NULL) THEN
            RAISE EXCEPTION 'the documents of % are not attached to entities by a column', documents USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format('Say which entity they are about: SELECT cft_attach_documents(%L, ..., entity => ''entity'');', documents);
        END IF;
        PERFORM @extschema@.cft_set_columns(summaries, documents, '@extschema@.cft_summary_documents()', ARRAY[entity], '{entity}');
    END IF;
    -- Their lock holds writers off until the end of the transaction: nothing is missed between the marks made now and those made by triggers.
    FOREACH relation IN ARRAY array_remove(ARRAY[f.edges, documents], NULL) LOOP
        FOREACH event IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
            EXECUTE format('CREATE OR REPLACE TRIGGER cftrag_rollup_%1$s AFTER %1$s ON %2$s %3$s FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.cft_rollup_changed()', event, relation,
                           CASE event WHEN 'insert' THEN 'REFERENCING NEW TABLE AS cft_new' WHEN 'delete' THEN 'REFERENCING OLD TABLE AS cft_old'
                                      WHEN 'update' THEN 'REFERENCING NEW TABLE AS cft_new OLD TABLE AS cft_old' ELSE '' END);
        END LOOP;
    END LOOP;
    EXECUTE format(
        'INSERT INTO %1$s (%2$I)
         SELECT z.name FROM (SELECT r.%3$I::text COLLATE "C" FROM %5$s AS r WHERE r.%3$I IS NOT NULL AND r.%4$I IS NOT NULL AND r.%3$I::text COLLATE "C" <> r.%4$I::text
                             UNION SELECT r.%4$I::text FROM %5$s AS r WHERE $1 AND r.%3$I IS NOT NULL AND r.%4$I IS NOT NULL AND r.%3$I::text COLLATE "C" <> r.%4$I::text) AS z(name)
          WHERE NOT EXISTS (SELECT FROM %1$s AS s WHERE s.%2$I::text = z.name) ORDER BY 1', summaries, entity, f.parent, f.child, f.edges)
    USING leaves;
END $$;
COMMENT ON FUNCTION cft_attach_summaries(regclass, name, name, name, regclass, regclass, boolean) IS
'says which table holds summaries of the entities of an edges table, and keeps track of which are due; owner only';

CREATE FUNCTION cft_detach_summaries(summaries regclass)
RETURNS void LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    others regclass[] := ARRAY(SELECT r.other FROM unnest(ARRAY['@extschema@.cft_summaries()', '@extschema@.cft_summary_documents()']::regprocedure[]) AS p,
                                                   @extschema@.cft_registered(p, cft_detach_summaries.summaries) AS r);
    relation regclass;
    old name;
BEGIN
    IF NOT @extschema@.cft_set_columns(summaries, NULL, '@extschema@.cft_summaries()', NULL, NULL) THEN
        RAISE EXCEPTION 'table % has no summaries attached to cftrag', summaries USING ERRCODE = 'undefined_table';
    END IF;
    PERFORM @extschema@.cft_set_columns(summaries, NULL, '@extschema@.cft_summary_documents()', NULL, NULL);
    -- Triggers on tables of others stay, and do nothing.
    FOREACH relation IN ARRAY others LOOP
        CONTINUE WHEN NOT (SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = relation)
            OR EXISTS (SELECT FROM unnest(ARRAY['@extschema@.cft_summaries()', '@extschema@.cft_summary_documents()']::regprocedure[]) AS p, @extschema@.cft_registered(p, NULL, relation));
        FOR old IN SELECT t.tgname FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgfoid = '@extschema@.cft_rollup_changed()'::regprocedure LOOP
            EXECUTE format('DROP TRIGGER %I ON %s', old, relation);
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION cft_detach_summaries(regclass) IS 'takes back what cft_attach_summaries said; the summaries stay; owner only';

-- What was taken is remembered to the end of the transaction: which marks, so that later ones stay.
CREATE FUNCTION cft_rollup_next(n integer DEFAULT 1, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, sources text[], inputs text[], tokens bigint)
LANGUAGE plpgsql VOLATILE COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    s record;
    due text[];
    in_cycles boolean;
    place int;
    slice text[];
    ready text[];
    few text[];
    marks jsonb;
    taken text[] := '{}';
    claims jsonb := '{}';
BEGIN
    IF n IS NULL OR n < 0 THEN
        RAISE EXCEPTION 'n must not be null or negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT f.edges INTO forest FROM @extschema@.cft_attached(edges) AS f;
    SELECT * INTO s FROM @extschema@.cft_summaries_of(forest) LIMIT 1;
    IF NOT FOUND THEN PERFORM @extschema@.cft_no_summaries(forest); END IF;
    EXECUTE format('SELECT array_agg(DISTINCT s.%1$I::text COLLATE "C") FROM %2$s AS s WHERE s.%3$I IS NULL AND s.%1$I IS NOT NULL', s.entity, s.summaries, s.summary) INTO due;
    -- Children that are ancestors too are not waited for; but that is asked only if all others are done or taken.
    FOREACH in_cycles IN ARRAY ARRAY[false, true] LOOP
        EXIT WHEN taken <> '{}';
        place := 0;
        WHILE place < cardinality(due) AND cardinality(taken) < n LOOP
            slice := due[place + 1 : place + 256];
            place := place + 256;
            WITH c AS MATERIALIZED (
                SELECT c.entity, c.relative FROM @extschema@.cft_context(slice, 0, 1, forest) AS c
            ), wait AS MATERIALIZED (
                SELECT c.entity, c.relative FROM c JOIN unnest(due) AS u(name) ON u.name = c.relative
            ), inner_wait AS MATERIALIZED (
                SELECT w.* FROM wait AS w WHERE s.leaves OR w.relative IN (SELECT i.entity FROM @extschema@.cft_context(ARRAY(SELECT DISTINCT z.relative FROM wait AS z), 0, 1, forest) AS i)
            )
            SELECT array_agg(r.name ORDER BY r.name COLLATE "C") INTO ready
              FROM (SELECT c.entity AS name FROM c UNION SELECT c.entity FROM @extschema@.cft_context(CASE WHEN s.leaves THEN slice END, 1, 0, forest) AS c) AS r
             WHERE r.name NOT IN (SELECT w.entity FROM inner_wait AS w
                                   WHERE NOT in_cycles OR (w.entity, w.relative) NOT IN (SELECT a.entity, a.relative FROM @extschema@.cft_context(slice, 1000, 0, forest) AS a));
            WHILE ready <> '{}' AND cardinality(taken) < n LOOP
                few := ready[1 : n - cardinality(taken)];
                ready := ready[n - cardinality(taken) + 1 :];
                -- All marks of an entity, or it is another worker's.
                EXECUTE format(
                    'WITH l AS (SELECT s.ctid AS at, s.%1$I::text COLLATE "C" AS name FROM %2$s AS s WHERE s.%1$I = ANY ($1) AND s.%3$I IS NULL FOR UPDATE SKIP LOCKED),
                          g AS (SELECT l.name, jsonb_agg(l.at::text) AS marks, count(*) AS n FROM l GROUP BY l.name),
                          v AS (SELECT s.%1$I::text COLLATE "C" AS name, count(*) AS n FROM %2$s AS s WHERE s.%1$I = ANY ($1) AND s.%3$I IS NULL GROUP BY 1)
                     SELECT array_agg(g.name ORDER BY g.name), jsonb_object_agg($2 || g.name, g.marks) FROM g JOIN v USING (name, n)', s.entity, s.summaries, s.summary)
                INTO few, marks USING few, s.summaries::oid || ' ';
                taken := taken || coalesce(few, '{}');
                claims := claims || coalesce(marks, '{}');
            END LOOP;
        END LOOP;
    END LOOP;
    IF taken = '{}' THEN RETURN; END IF;
    PERFORM set_config('cft_rollup.taken', (coalesce(nullif(current_setting('cft_rollup.taken', true), ''), '{}')::jsonb || claims)::text, true);
    -- Read after the marks were taken.
    RETURN QUERY EXECUTE format(
        'WITH c AS MATERIALIZED (
             SELECT DISTINCT c.entity, c.relative AS child FROM @extschema@.cft_context($1, 0, 1, $2) AS c
              WHERE (c.entity, c.relative) NOT IN (SELECT a.entity, a.relative FROM @extschema@.cft_context($1, 1000, 0, $2) AS a)
         ), i AS MATERIALIZED (
             SELECT DISTINCT z.entity FROM @extschema@.cft_context(ARRAY(SELECT c.child FROM c), 0, 1, $2) AS z
         ), t AS MATERIALIZED (
             SELECT x.* FROM @extschema@.cft_texts($1 || ARRAY(SELECT c.child FROM c), $3) AS x
         ), m AS (
             SELECT s.%1$I::text AS name, max(s.%3$I::text COLLATE "C") AS summary FROM %2$s AS s
              WHERE s.%3$I IS NOT NULL AND s.%1$I = ANY (ARRAY(SELECT c.child FROM c WHERE $4 OR c.child IN (SELECT i.entity FROM i))) GROUP BY 1
         ), p AS (
             SELECT t.entity, 0 AS place, t.entity AS source, t.text FROM t WHERE t.entity = ANY ($1) AND NOT t.named
             UNION ALL
             SELECT c.entity, 1, c.child, coalesce(m.summary, t.text) FROM c JOIN t ON t.entity = c.child LEFT JOIN m ON m.name = c.child
         )
         SELECT u.name, coalesce(array_agg(p.source ORDER BY p.place, @extschema@.cft_natural(p.source) COLLATE "C", p.source COLLATE "C") FILTER (WHERE p.source IS NOT NULL), ''{}''),
                coalesce(array_agg(p.text ORDER BY p.place, @extschema@.cft_natural(p.source) COLLATE "C", p.source COLLATE "C") FILTER (WHERE p.source IS NOT NULL), ''{}''),
                coalesce(sum((char_length(p.text) + 3) / 4), 0)
           FROM unnest($1) WITH ORDINALITY AS u(name, n) LEFT JOIN p ON p.entity = u.name GROUP BY u.name, u.n ORDER BY u.n', s.entity, s.summaries, s.summary)
    USING taken, forest, s.documents, s.leaves;
END $$;
COMMENT ON FUNCTION cft_rollup_next(integer, regclass) IS
'takes up to n entities whose summaries are due while those of their children are not (implicit knowledge, 2025), with what is to be summarised; no two transactions take the same';

CREATE FUNCTION cft_rollup_done(node text, summary text, embedding vector DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE COST 1000 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    forest regclass;
    s record;
    claims jsonb := coalesce(nullif(current_setting('cft_rollup.taken', true), ''), '{}');
    marks tid[];
    changes text;
    updated bigint;
    parent text;
    found_one boolean;
BEGIN
    IF node IS NULL OR summary IS NULL THEN
        RAISE EXCEPTION 'node and summary must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT f.edges INTO forest FROM @extschema@.cft_attached(edges) AS f;
    SELECT * INTO s FROM @extschema@.cft_summaries_of(forest) LIMIT 1;
    IF NOT FOUND THEN PERFORM @extschema@.cft_no_summaries(forest); END IF;
    IF embedding IS NOT NULL AND s.embedding IS NULL THEN
        RAISE EXCEPTION 'the summaries in % have no embeddings', s.summaries USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Say which column holds them: SELECT cft_attach_summaries(%L, ..., embedding => ''embedding'');', s.summaries);
    END IF;
    marks := ARRAY(SELECT jsonb_array_elements_text(claims -> (s.summaries::oid || ' ' || node)));
    IF marks = '{}' THEN
        RAISE EXCEPTION 'the summary of "%" was not asked for in this transaction', node USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Call cft_rollup_next and cft_rollup_done in one transaction, once for each entity.';
    END IF;
    changes := format('%I = $2', s.summary) || CASE WHEN s.embedding IS NULL THEN ''
                   ELSE format(', %I = $3::%s', s.embedding, (SELECT format_type(a.atttypid, NULL) FROM pg_attribute AS a WHERE a.attrelid = s.summaries AND a.attname = s.embedding)) END;
    EXECUTE format('UPDATE %s SET %s WHERE %I = $1 AND %I IS NOT NULL', s.summaries, changes, s.entity, s.summary) USING node, summary, embedding;
    GET DIAGNOSTICS updated = ROW_COUNT;
    IF updated = 0 THEN
        EXECUTE format('UPDATE %s SET %s WHERE ctid = $4 AND %I = $1 AND %I IS NULL', s.summaries, changes, s.entity, s.summary) USING node, summary, embedding, marks[1];
    END IF;
    EXECUTE format('DELETE FROM %s WHERE ctid = ANY ($2) AND %I = $1 AND %I IS NULL', s.summaries, s.entity, s.summary) USING node, marks;
    PERFORM set_config('cft_rollup.taken', (claims - (s.summaries::oid || ' ' || node))::text, true);
    -- Parents that nobody marked. A mark that another worker has taken may be gone soon; children that are ancestors too are not waited for.
    FOR parent IN SELECT DISTINCT c.relative COLLATE "C" FROM @extschema@.cft_context(node, 1, 0, forest) AS c
                  EXCEPT SELECT a.entity FROM @extschema@.cft_context(ARRAY(SELECT c.relative FROM @extschema@.cft_context(node, 1, 0, forest) AS c), 1000, 0, forest) AS a WHERE a.relative = node
                  ORDER BY 1 LOOP
        EXECUTE format('SELECT true FROM %s AS s WHERE s.%I = $1 AND s.%I IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED', s.summaries, s.entity, s.summary) INTO found_one USING parent;
        IF found_one IS NULL THEN
            EXECUTE format('INSERT INTO %s (%I) VALUES ($1)', s.summaries, s.entity) USING parent;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION cft_rollup_done(text, text, vector, regclass) IS 'stores the summary of an entity that cft_rollup_next gave to this transaction';

-- No model: the first sentence of each input, of 200 characters at most, while all are not longer than 1000.
CREATE FUNCTION cft_summarize_extractive(entity text, sources text[], inputs text[])
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT entity || coalesce(': ' || string_agg(z.sentence, ' ' ORDER BY z.n) FILTER (WHERE z.so_far <= 1000), '')
              FROM (SELECT u.sentence, u.n, sum(char_length(u.sentence) + 1) OVER (ORDER BY u.n) AS so_far
                      FROM (SELECT i.n, left(coalesce(substring(btrim(i.input, E' \t\n\r') FROM '^(.*?[.!?](?=\s|$))'), btrim(i.input, E' \t\n\r')), 200) AS sentence FROM unnest(inputs) WITH ORDINALITY AS i(input, n)) AS u
                     WHERE u.sentence <> '') AS z);
END $$;
COMMENT ON FUNCTION cft_summarize_extractive(text, text[], text[]) IS
'a summary without a model, extractive: the name, and the first sentence of each input, up to 1000 characters';

-- The functions are the user's, and find what they call by the user's search_path.
CREATE FUNCTION cft_rollup_by(summarizer regprocedure, embedder regprocedure, n integer, edges regclass, path text)
RETURNS TABLE(summarized bigint, by_function regprocedure, extractive boolean)
LANGUAGE plpgsql VOLATILE COST 100000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    summarize text;
    embed text;
    done text := format('SELECT @extschema@.cft_rollup_done($1, $2, $3::%s, $4)', (SELECT p.proargtypes[2]::regtype FROM pg_proc AS p WHERE p.oid = '@extschema@.cft_rollup_done'::regproc));
    node record;
    said text;
    near text;
    before bigint;
BEGIN
    IF n < 0 THEN
        RAISE EXCEPTION 'n must not be negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT format('SELECT %I.%I($1, $2, $3)', s.nspname, p.proname) INTO summarize FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = p.pronamespace
     WHERE p.oid = summarizer AND p.proargtypes = '25 1009 1009'::oidvector AND p.prorettype = 25 AND p.prokind = 'f' AND NOT p.proretset;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'function % cannot summarize', summarizer USING ERRCODE = 'invalid_parameter_value', HINT = 'A summarizer takes (entity text, sources text[], inputs text[]) and returns text.';
    END IF;
    IF embedder IS NOT NULL THEN
        SELECT format('SELECT %I.%I($1)::pg_catalog.text', s.nspname, p.proname) INTO embed FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = p.pronamespace
         WHERE p.oid = embedder AND p.proargtypes = '25'::oidvector AND p.prokind = 'f' AND NOT p.proretset;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'function % cannot embed', embedder USING ERRCODE = 'invalid_parameter_value', HINT = 'An embedder takes a text and returns a vector.';
        END IF;
    END IF;
    summarized := 0;
    by_function := summarizer;
    extractive := by_function = '@extschema@.cft_summarize_extractive(text, text[], text[])'::regprocedure;
    LOOP
        before := summarized;
        FOR node IN SELECT x.entity, x.sources, x.inputs FROM @extschema@.cft_rollup_next(least(100, n - summarized)::int, edges) AS x LOOP
            PERFORM set_config('search_path', path, true);
            EXECUTE summarize INTO said USING node.entity, node.sources, node.inputs;
            IF embed IS NOT NULL THEN
                EXECUTE embed INTO near USING said;
            END IF;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            EXECUTE done USING node.entity, said, near, edges;
            summarized := summarized + 1;
        END LOOP;
        EXIT WHEN summarized = before OR summarized = n;
    END LOOP;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION cft_rollup_by(regprocedure, regprocedure, integer, regclass, text) IS 'cft_rollup, with the search_path for the functions it calls';

CREATE FUNCTION cft_rollup(summarizer regprocedure DEFAULT '@extschema@.cft_summarize_extractive(text, text[], text[])', embedder regprocedure DEFAULT NULL,
    n integer DEFAULT NULL, edges regclass DEFAULT NULL)
RETURNS TABLE(summarized bigint, by_function regprocedure, extractive boolean)
LANGUAGE sql VOLATILE COST 100000 ROWS 1 AS $$
    SELECT r.* FROM @extschema@.cft_rollup_by($1, $2, $3, $4, pg_catalog.current_setting('search_path')) AS r $$;
COMMENT ON FUNCTION cft_rollup(regprocedure, regprocedure, integer, regclass) IS
'makes all summaries that are due, by a function (entity text, sources text[], inputs text[]) returning text; the default is extractive, without a model';

CREATE FUNCTION cft_rollup_status(edges regclass DEFAULT NULL)
RETURNS TABLE(entities bigint, leaves bigint, documents bigint, due bigint, fewer numeric)
LANGUAGE plpgsql STABLE COST 100000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    f record;
    s record;
BEGIN
    SELECT * INTO f FROM @extschema@.cft_attached(edges);
    SELECT * INTO s FROM @extschema@.cft_summaries_of(f.edges) LIMIT 1;
    IF NOT FOUND THEN PERFORM @extschema@.cft_no_summaries(f.edges); END IF;
    RETURN QUERY EXECUTE format(
        'WITH e AS MATERIALIZED (SELECT r.%1$I::text COLLATE "C" AS parent, r.%2$I::text COLLATE "C" AS child FROM %3$s AS r WHERE r.%1$I::text COLLATE "C" <> r.%2$I::text),
              p AS MATERIALIZED (SELECT DISTINCT e.parent AS name FROM e),
              a AS MATERIALIZED (SELECT p.name FROM p UNION SELECT e.child FROM e),
              m AS MATERIALIZED (SELECT s.%5$I::text COLLATE "C" AS name, bool_or(s.%6$I IS NOT NULL) AS has, bool_or(s.%6$I IS NULL) AS due FROM %4$s AS s GROUP BY 1),
              k AS (SELECT count(*) AS entities, count(*) FILTER (WHERE p.name IS NULL) AS leaves,
                           count(*) FILTER (WHERE m.has AND (p.name IS NOT NULL OR $1)) AS documents, count(*) FILTER (WHERE m.due AND (p.name IS NOT NULL OR $1)) AS due
                      FROM a LEFT JOIN p USING (name) LEFT JOIN m USING (name))
         SELECT k.entities, k.leaves, k.documents, k.due, round(1 - nullif(k.documents, 0) / nullif(k.leaves, 0)::numeric, 3) FROM k',
        f.parent, f.child, f.edges, s.summaries, s.entity, s.summary) USING s.leaves;
END $$;
COMMENT ON FUNCTION cft_rollup_status(regclass) IS
'how far the summaries of a forest are; documents: those a retriever needs with summaries, instead of one for each of the leaves';
