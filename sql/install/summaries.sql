-- Implicit knowledge (Gupte et al., arXiv 2510.10806, 2025): a summary of each node, made of what is below it, from the leaves up. Here: a table
-- of the user's with summaries, what of it is due, and a queue that any number of workers share. The models are the workers'.
--
-- Three files: which table holds the summaries (this one), what becomes due by a change (marks.sql), and the work on it (rollup.sql).
--
-- The table has a row with each summary, and a row without one, a mark, for each time that an entity's summary became due:
--   1. Marks are only ever added by who changes something, so no writer waits for a worker or for another writer.
--   2. A worker locks all the marks of an entity that it sees (SKIP LOCKED), reads what is below the entity after that, and deletes these marks with
--      the summary: what was changed meanwhile has left a mark of its own. If the worker dies or rolls back, its marks are as they were.
--   3. Due by a change are the entity and all its ancestors, so that these wait for it. Where these were not marked (policies hid them from the
--      writer), or their marks were just being taken, a summary that is done marks the parents itself.

-- A registration, whatever the caller may read: no change goes unmarked.
CREATE FUNCTION cft_registered(trigger_function regprocedure, of_relation regclass, of_other regclass DEFAULT NULL)
RETURNS TABLE(relation regclass, other regclass, columns jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100 ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
-- Planned once in a session: a writer waits for this, and planning is nearly all of it. Subqueries, not joins, as in cft_columns.
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

CREATE FUNCTION cft_summaries_of(edges regclass)
RETURNS TABLE(summaries regclass, entity name, summary name, embedding name, leaves boolean, documents regclass)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 200 ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT r.relation, (r.columns ->> 'entity')::name, (r.columns ->> 'summary')::name, (r.columns ->> 'embedding')::name, r.columns ? 'leaves',
           (SELECT d.other FROM @extschema@.cft_registered('@extschema@.cft_summary_documents()', r.relation) AS d LIMIT 1)
      FROM @extschema@.cft_registered('@extschema@.cft_summaries()', NULL, edges) AS r;
END $$;
COMMENT ON FUNCTION cft_summaries_of(regclass) IS 'the table of summaries of an edges table, and its columns';

-- The edges table that is meant, and its summaries; 42P01 if it has none.
CREATE FUNCTION cft_rollup_tables(edges regclass)
RETURNS TABLE(forest regclass, summaries regclass, entity name, summary name, embedding name, leaves boolean, documents regclass)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 300 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    meant regclass := (SELECT f.edges FROM @extschema@.cft_attached(cft_rollup_tables.edges) AS f);
BEGIN
    RETURN QUERY SELECT meant, s.* FROM @extschema@.cft_summaries_of(meant) AS s;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no table of summaries is attached to %', meant USING ERRCODE = 'undefined_table',
            HINT = format('Attach one with: SELECT cft_attach_summaries(''my_summaries'', entity => ''entity'', summary => ''summary'', edges => %L);', meant);
    END IF;
END $$;
COMMENT ON FUNCTION cft_rollup_tables(regclass) IS 'the edges table that is meant, and its table of summaries';

-- A mark is a row that has the entity only, beside the row with its summary. What such a row would run into is said at once: later it
-- would be the error of whoever changes an edge.
CREATE FUNCTION cft_refuse_summaries(summaries regclass, entity name, summary name)
RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wrong text;
BEGIN
    IF (SELECT c.relkind <> 'r' OR c.relhassubclass FROM pg_class AS c WHERE c.oid = summaries) THEN
        RAISE EXCEPTION 'summaries cannot be in %: it is no plain table without children', summaries USING ERRCODE = 'wrong_object_type';
    END IF;
    SELECT a.attname INTO wrong
      FROM pg_attribute AS a LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
     WHERE a.attrelid = summaries AND a.attname IN (entity, summary)
       AND (a.atttypid NOT IN ('text'::regtype, 'varchar'::regtype) OR NOT l.collisdeterministic OR a.attgenerated <> '') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table % holds no summaries or names: it must be text, of a deterministic collation, and not generated', wrong, summaries
            USING ERRCODE = 'datatype_mismatch';
    END IF;
    IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = summaries AND a.attname = summary AND a.atthasdef) THEN
        RAISE EXCEPTION 'column "%" of table % has a default', summary, summaries USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A row without a summary says that it is due.', HINT = format('Drop it with: ALTER TABLE %s ALTER %I DROP DEFAULT;', summaries, summary);
    END IF;
    SELECT a.attname INTO wrong FROM pg_attribute AS a
     WHERE a.attrelid = summaries AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> entity
       AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' ORDER BY a.attname <> summary, a.attnum LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table % must not be null, and has no default', wrong, summaries USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A row that has an entity only says that its summary is due.', HINT = format('Allow it with: ALTER TABLE %s ALTER %I DROP NOT NULL;', summaries, wrong);
    END IF;
    -- Of the columns in such an index, one must tell marks of an entity apart: NULL in them, or a default that is another each time.
    SELECT i.indexrelid::regclass::text INTO wrong
      FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attname = entity,
           LATERAL (SELECT k FROM unnest(i.indkey[0:i.indnkeyatts - 1]) AS k
                    UNION SELECT d.refobjsubid FROM pg_depend AS d
                     WHERE 0 = ANY (i.indkey) AND d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid) AS c(k)
     WHERE i.indrelid = summaries AND (i.indisunique OR i.indisexclusion)
       AND pg_get_expr(i.indpred, i.indrelid) IS DISTINCT FROM format('(%I IS NOT NULL)', summary)
     GROUP BY i.indexrelid, a.attnum, i.indnullsnotdistinct
    HAVING a.attnum = ANY (array_agg(c.k))
       AND NOT EXISTS (SELECT FROM pg_attribute AS o
                        WHERE o.attrelid = summaries AND o.attnum = ANY (array_agg(c.k)) AND o.attname <> entity
                          AND CASE WHEN o.attidentity <> '' THEN true
                                   WHEN NOT o.atthasdef THEN NOT i.indnullsnotdistinct
                                   ELSE o.attgenerated = '' AND EXISTS (
                                       SELECT FROM pg_attrdef AS e, regexp_matches(e.adbin::text, ':(?:op)?funcid (\d+)', 'g') AS f JOIN pg_proc AS p ON p.oid = f[1]::oid
                                        WHERE e.adrelid = summaries AND e.adnum = o.attnum AND p.provolatile = 'v') END)
     ORDER BY i.indexrelid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'entities are unique in table % by index %', summaries, wrong USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A row without a summary, beside that with the old one, says that it is due.',
            HINT = format('Instead have: CREATE UNIQUE INDEX ON %s (%I) WHERE %I IS NOT NULL;', summaries, entity, summary);
    END IF;
END $$;
COMMENT ON FUNCTION cft_refuse_summaries(regclass, name, name) IS 'the errors of cft_attach_summaries about the table';

CREATE FUNCTION cft_attach_summaries(summaries regclass, entity name DEFAULT 'entity', summary name DEFAULT 'summary', embedding name DEFAULT NULL,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL, leaves boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
    others text;
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
    SELECT string_agg(s.summaries::text, ', ') INTO others
      FROM @extschema@.cft_summaries_of(f.edges) AS s WHERE s.summaries <> cft_attach_summaries.summaries;
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'another table of summaries is attached to %', f.edges USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = format('It is %s.', others), HINT = format('Detach it with: SELECT cft_detach_summaries(%L);', others);
    END IF;
    IF EXISTS (SELECT FROM @extschema@.cft_registered('@extschema@.cft_summaries()', summaries)) THEN
        PERFORM @extschema@.cft_detach_summaries(summaries);
    END IF;

    PERFORM @extschema@.cft_set_columns(summaries, f.edges, '@extschema@.cft_summaries()', ARRAY[entity, summary, embedding],
                                        ARRAY['entity' || CASE WHEN leaves THEN ' leaves' ELSE '' END, 'summary', 'embedding']);
    PERFORM @extschema@.cft_refuse_summaries(summaries, entity, summary);
    PERFORM @extschema@.cft_distance(summaries, embedding) WHERE embedding IS NOT NULL;
    IF documents IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM @extschema@.cft_attached_documents(documents) AS d WHERE d.entity IS NOT NULL) THEN
            RAISE EXCEPTION 'the documents of % are not attached to entities by a column', documents USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format('Say which entity they are about: SELECT cft_attach_documents(%L, ..., entity => ''entity'');', documents);
        END IF;
        PERFORM @extschema@.cft_set_columns(summaries, documents, '@extschema@.cft_summary_documents()', ARRAY[entity], '{entity}');
    END IF;

    -- The lock of CREATE TRIGGER holds writers off until the end of the transaction: nothing is missed between the marks made now and those
    -- made by triggers.
    FOREACH relation IN ARRAY array_remove(ARRAY[f.edges, documents], NULL) LOOP
        FOREACH event IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
            EXECUTE format(
                'CREATE OR REPLACE TRIGGER cftrag_rollup_%1$s AFTER %1$s ON %2$s %3$s FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.cft_rollup_changed()',
                event, relation,
                CASE event WHEN 'insert' THEN 'REFERENCING NEW TABLE AS cft_new' WHEN 'delete' THEN 'REFERENCING OLD TABLE AS cft_old'
                           WHEN 'update' THEN 'REFERENCING NEW TABLE AS cft_new OLD TABLE AS cft_old' ELSE '' END);
        END LOOP;
    END LOOP;
    EXECUTE format(
        'WITH e AS (SELECT r.%3$I::text COLLATE "C" AS parent, r.%4$I::text COLLATE "C" AS child FROM %5$s AS r WHERE r.%3$I::text COLLATE "C" <> r.%4$I::text)
         INSERT INTO %1$s (%2$I)
         SELECT z.name FROM (SELECT e.parent FROM e UNION SELECT e.child FROM e WHERE $1) AS z(name)
          WHERE NOT EXISTS (SELECT FROM %1$s AS s WHERE s.%2$I::text = z.name) ORDER BY 1', summaries, entity, f.parent, f.child, f.edges)
    USING leaves;
END $$;
COMMENT ON FUNCTION cft_attach_summaries(regclass, name, name, name, regclass, regclass, boolean) IS
'says which table holds summaries of the entities of an edges table, and keeps track of which are due; owner only';

CREATE FUNCTION cft_detach_summaries(summaries regclass)
RETURNS void LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    registrations regprocedure[] := ARRAY['@extschema@.cft_summaries()', '@extschema@.cft_summary_documents()'];
    others regclass[] := ARRAY(SELECT r.other FROM unnest(registrations) AS p, @extschema@.cft_registered(p, cft_detach_summaries.summaries) AS r);
    relation regclass;
    old name;
BEGIN
    IF NOT @extschema@.cft_set_columns(summaries, NULL, '@extschema@.cft_summaries()', NULL, NULL) THEN
        RAISE EXCEPTION 'table % has no summaries attached to cftrag', summaries USING ERRCODE = 'undefined_table';
    END IF;
    PERFORM @extschema@.cft_set_columns(summaries, NULL, '@extschema@.cft_summary_documents()', NULL, NULL);
    -- Triggers on tables of others stay, and do nothing; so do those that another table of summaries needs.
    FOREACH relation IN ARRAY others LOOP
        CONTINUE WHEN NOT (SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = relation)
            OR EXISTS (SELECT FROM unnest(registrations) AS p, @extschema@.cft_registered(p, NULL, relation));
        FOR old IN SELECT t.tgname FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgfoid = '@extschema@.cft_rollup_changed()'::regprocedure LOOP
            EXECUTE format('DROP TRIGGER %I ON %s', old, relation);
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION cft_detach_summaries(regclass) IS 'takes back what cft_attach_summaries said; the summaries stay; owner only';

CREATE FUNCTION cft_rollup_status(edges regclass DEFAULT NULL)
RETURNS TABLE(entities bigint, leaves bigint, documents bigint, due bigint, fewer numeric)
LANGUAGE plpgsql STABLE COST 100000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    f record;
    s record;
BEGIN
    SELECT * INTO s FROM @extschema@.cft_rollup_tables(edges);
    SELECT * INTO f FROM @extschema@.cft_attached(s.forest);
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
