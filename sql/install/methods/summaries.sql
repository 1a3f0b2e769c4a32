-- Implicit knowledge (Gupte et al., arXiv 2510.10806, 2025): a summary of each node, made from what is below it, from
-- the leaves up. Here: a user's table of summaries, which of them are due, and a queue that any number of workers
-- share. The workers bring the models.
--
-- Three files: which table holds the summaries (this one), what a change makes due (marks.sql), and the work on it
-- (rollup.sql).
--
-- The table has one row with each summary, and one row without a summary, a mark, for each time that an entity's
-- summary became due. A summary is due if the inputs that are committed now are not those it was made of. Its inputs
-- are the documents about the entity; its children, except those that are also above it; and of each child the summary,
-- or its documents if it has no children. A transaction sees one snapshot only, and of two that write at once neither
-- sees the other's edges or documents. So the ways up are followed from both sides: a writer marks what it sees above a
-- change, so that the work waits; a worker marks what is above too, so that nothing is missed.
--   1. A change marks what it names itself, whatever its snapshot shows: the parents in changed edges and the entities
--   of changed documents, leaves
--      or not, in the forest or not. The mark is committed with the change. Writers only add marks, so no writer waits
--      for a worker or a writer.
--   2. A change also marks all that it sees above these, so that they wait. What it does not see is found by rules 3 to
--   5.
--   3. A worker locks all the marks of an entity that it sees (SKIP LOCKED), then reads what is below the entity with
--   that snapshot or a later one,
--      so it sees the changes that these marks stand for. It deletes them as it writes the summary; another change has
--      a mark of its own. If the
--      worker dies or rolls back, its marks are as they were. An entity without a summary of its own (a leaf, or gone
--      from the forest) is read after
--      the locking too; its marks are deleted once those above it have theirs, by rule 4.
--   4. A worker that takes marks sees the ways up as they are after the change. It marks what is above and was not
--   marked by the changing transaction:
--      above a leaf always, above an entity with a summary if that has several marks. A changed edge leaves two,
--      because it may close or cut a cycle
--      together with an edge that its writer did not see. One mark only says that the summary is to be made again; else
--      cycles would never be done.
--   5. A finished summary marks the parents whose input it is, except those with a mark that this transaction did not
--   take and can lock: that mark
--      stays until this transaction is committed, so the worker that takes it reads the new summary.
--   6. No transaction takes away a mark that only it sees: others do not see its change yet, and may be working on the
--   same entity because of a mark
--      that it does not see. A transaction that works on what it has marked itself (rules 1, 4 and 5) leaves two marks
--      on that entity and one on what
--      is above it, and does not look at these again.
-- Why that is enough: suppose that y's summary is not what its inputs give now. The input that changed last was one of
-- these:
--   - An edge (y, c), or a document of y: by rule 1 y has a mark, and no worker that read y before the change has taken
--   it.
--   - The summary of a child c. Its worker saw (y, c) and marked y by rule 5; or (y, c) was committed later, with a
--   mark on y that waits for c or
--     finds it done.
--   - c's documents, or whether c has children: c has a mark. The worker that takes it sees (y, c), and y is marked
--   after the change, by rule 4 or by
--     the change itself; or (y, c) was committed later, as above.
--   - Whether c is above y. Of the edges on the way down from c to y consider the one added last or, if some are gone,
--   the first that is missing: its
--     upper end has two marks. When they are taken, the way from y through c down to that end is whole, so y is marked
--     by rule 4.

-- Marks are written as the owner of the summaries, so only the owner may register them for these edges. A role with the
-- TRIGGER privilege on a table can create a trigger on it, but cannot set it to ENABLE ALWAYS.
CREATE FUNCTION cftrag_internal.cft_summaries_of(edges regclass)
RETURNS TABLE(summaries regclass, entity name, summary name, embedding name, leaves boolean, documents regclass)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 200 ROWS 1 SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT r.relation, (r.columns ->> 'entity')::name, (r.columns ->> 'summary')::name,
        (r.columns ->> 'embedding')::name, r.columns ? 'leaves',
           (SELECT d.other FROM cftrag_internal.cft_registered('cftrag_internal.cft_summary_documents()',
               r.relation) AS d WHERE d.always LIMIT 1)
      FROM cftrag_internal.cft_registered('cftrag_internal.cft_summaries()', NULL, edges) AS r
     WHERE r.always AND cftrag_internal.cft_counts(r.relation, r.other);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_summaries_of(regclass) IS
'the tables of summaries of an edges table that count, and their columns';

-- A statement over a table of summaries (%1$s), its columns of entities (%2$I) and of summaries (%3$I), and more, as
-- format() takes them. 42804 unless both are texts: a comparison or cast of another type could be any role's code.
CREATE FUNCTION cftrag_internal.cft_summaries_sql(statement text, summaries regclass, entity name, summary name,
    VARIADIC more text[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 20 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wrong name;
BEGIN
    SELECT a.attname INTO wrong
      FROM pg_attribute AS a LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
     WHERE a.attrelid = summaries AND a.attname IN (entity, summary)
       AND (a.atttypid NOT IN ('text'::regtype, 'varchar'::regtype) OR NOT l.collisdeterministic
           OR a.attgenerated <> '') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION
            'column "%" of table % holds no summaries or names: it must be text, of a deterministic '
                'collation, and not generated', wrong, summaries
            USING ERRCODE = 'datatype_mismatch';
    END IF;
    RETURN format(statement, VARIADIC ARRAY[summaries::text, entity, summary] || more);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_summaries_sql(text, regclass, name, name, text[]) IS
'a statement over a table of summaries, if its columns are texts';

-- The edges table that is meant, and its summaries; 42P01 if it has none.
CREATE FUNCTION cftrag_internal.cft_rollup_tables(edges regclass)
RETURNS TABLE(forest regclass, summaries regclass, entity name, summary name, embedding name, leaves boolean,
    documents regclass)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 300 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    meant regclass := (SELECT f.edges FROM cftrag_internal.cft_attached(cft_rollup_tables.edges) AS f);
BEGIN
    SELECT meant, s.* INTO forest, summaries, entity, summary, embedding, leaves, documents
      FROM cftrag_internal.cft_summaries_of(meant) AS s
     ORDER BY (SELECT c.relowner FROM pg_class AS c WHERE c.oid = s.summaries) IS DISTINCT FROM (SELECT c.relowner
         FROM pg_class AS c WHERE c.oid = meant) LIMIT 1;
    IF summaries IS NULL THEN
        RAISE EXCEPTION 'no table of summaries is attached to %', meant USING ERRCODE = 'undefined_table',
            HINT = coalesce((SELECT format('If trigger %I of %s is that of cft_attach_summaries: '
                'ALTER TABLE %2$s ENABLE ALWAYS TRIGGER %1$I;', r.trigger_name, r.relation)
                               FROM cftrag_internal.cft_registered('cftrag_internal.cft_summaries()', NULL, meant) AS r
                              WHERE NOT r.always AND cftrag_internal.cft_counts(r.relation, r.other) LIMIT 1),
                            (SELECT format('The owner of %s does not own %s, and cannot '
                                'SET ROLE to its owner: it does not count.', r.relation, meant)
                               FROM cftrag_internal.cft_registered('cftrag_internal.cft_summaries()', NULL, meant) AS r
                                   WHERE r.always LIMIT 1),
                            format('Attach one with cft_attach_summaries, edges => %L.', meant));
    END IF;
    PERFORM cftrag_internal.cft_summaries_sql('', summaries, entity, summary);
    PERFORM cftrag_internal.cft_distance(summaries, embedding) WHERE embedding IS NOT NULL;
    -- The tables were attached without parents and children, and later ones are not tracked.
    PERFORM cftrag_internal.cft_refuse_family(r) FROM unnest(ARRAY[meant, documents]) AS r
      WHERE EXISTS (SELECT FROM pg_inherits AS i WHERE r IN (i.inhrelid, i.inhparent));
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_tables(regclass) IS
'the edges table that is meant, and its table of summaries';

-- A mark is a row that has the entity only, beside the row with its summary. We report at once what would make the
-- INSERT of a mark fail: later, the next change of an edge would fail with that error.
CREATE FUNCTION cftrag_internal.cft_refuse_summaries(summaries regclass, entity name, summary name)
RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wrong text;
BEGIN
    IF (SELECT c.relkind <> 'r' OR c.relhassubclass FROM pg_class AS c WHERE c.oid = summaries) THEN
        RAISE EXCEPTION 'summaries cannot be in %: it is no plain table without children', summaries
            USING ERRCODE = 'wrong_object_type';
    END IF;
    PERFORM cftrag_internal.cft_summaries_sql('', summaries, entity, summary);
    IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = summaries AND a.attname = summary AND a.atthasdef) THEN
        RAISE EXCEPTION 'column "%" of table % has a default', summary, summaries
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A row without a summary says that it is due.',
                HINT = format('Drop it with: ALTER TABLE %s ALTER %I DROP DEFAULT;', summaries, summary);
    END IF;
    SELECT a.attname INTO wrong FROM pg_attribute AS a
     WHERE a.attrelid = summaries AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> entity
       AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' ORDER BY a.attname <> summary, a.attnum LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'column "%" of table % must not be null, and has no default', wrong, summaries
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A row that has an entity only says that its summary is due.',
                HINT = format('Allow it with: ALTER TABLE %s ALTER %I DROP NOT NULL;', summaries, wrong);
    END IF;
    SELECT t.tgname INTO wrong FROM pg_trigger AS t WHERE t.tgrelid = summaries AND t.tgdeferrable AND t.tgtype & 4 <> 0
        LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'constraint trigger "%" of table % is deferrable', wrong, summaries
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Marks are written with the rights of its owner, in a security-restricted operation, '
                'which defers nothing.',
            HINT = 'Make its constraint NOT DEFERRABLE.';
    END IF;
    -- One column of such an index must tell the marks of an entity apart: it is NULL in them, or its default differs
    -- each time.
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
                                       SELECT FROM pg_attrdef AS e, regexp_matches(e.adbin::text,
                                           ':(?:op)?funcid ([0-9]+)', 'g') AS f JOIN pg_proc AS p ON p.oid = f[1]::oid
                                        WHERE e.adrelid = summaries AND e.adnum = o.attnum AND p.provolatile = 'v') END)
     ORDER BY i.indexrelid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'entities are unique in table % by index %', summaries, wrong
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A row without a summary, beside that with the old one, says that it is due.',
            HINT = format('Instead have: CREATE UNIQUE INDEX ON %s (%I) WHERE %I IS NOT NULL;', summaries, entity,
                summary);
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_refuse_summaries(regclass, name, name) IS
'the errors of cft_attach_summaries about the table';

-- Statement triggers fire for the table that a statement names, not for its parents or children.
CREATE FUNCTION cftrag_internal.cft_refuse_family(relation regclass)
RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    family record;
BEGIN
    SELECT i.inhrelid::regclass AS child, i.inhparent::regclass AS parent INTO family
      FROM pg_inherits AS i WHERE relation IN (i.inhrelid, i.inhparent) ORDER BY i.inhparent = relation DESC,
          i.inhrelid, i.inhparent LIMIT 1;
    IF FOUND OR EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relation AND c.relkind <> 'r') THEN
        RAISE EXCEPTION 'changes of table % cannot be followed', relation USING ERRCODE = 'wrong_object_type',
            DETAIL = CASE WHEN family.parent = relation THEN format('A change of %s, which is a part of it, '
                'fires no trigger of it.', family.child)
                          WHEN family.child = relation THEN format('A change of %s, of which it is a part, '
                              'fires no trigger of it.', family.parent)
                          ELSE 'It is not a plain table.' END,
            HINT = 'Summaries need edges and documents in plain tables without partitions, parents or children.';
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_refuse_family(regclass) IS
'the error about a table whose changes cft_rollup_changed would not see';

CREATE FUNCTION cftrag_internal.cft_edges_sql(edges regclass, parent name, child name)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('SELECT %1$s COLLATE "C" AS parent, %2$s COLLATE "C" AS child FROM %3$s AS r
        WHERE %1$s COLLATE "C" OPERATOR(pg_catalog.<>) %2$s',
                  cftrag_internal.cft_as_text('r.' || quote_ident(parent), edges, parent),
                      cftrag_internal.cft_as_text('r.' || quote_ident(child), edges, child), edges)
$$;
COMMENT ON FUNCTION cftrag_internal.cft_edges_sql(regclass, name, name) IS
'a query for the parents and children of an edges table, as SQL';

CREATE FUNCTION cftrag_internal.cft_attach_summaries(summaries regclass, entity name, summary name, embedding name,
    edges regclass,
    documents regclass, leaves boolean)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
    others text;
    relation regclass;
BEGIN
    IF num_nulls(summaries, entity, summary, leaves) > 0 THEN
        RAISE EXCEPTION 'summaries, entity, summary and leaves must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF entity = summary OR embedding IN (entity, summary) THEN
        RAISE EXCEPTION 'entity, summary and embedding must be different columns' USING ERRCODE = 'duplicate_column';
    END IF;
    -- With an older snapshot, changes that others have committed since would never be marked.
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'cft_attach_summaries cannot run in a transaction that is %',
            upper(current_setting('transaction_isolation')) USING ERRCODE = 'active_sql_transaction',
            HINT = 'Begin it with: BEGIN ISOLATION LEVEL READ COMMITTED;';
    END IF;
    SELECT * INTO f FROM cftrag_internal.cft_attached(edges);
    IF summaries IN (f.edges, documents) THEN
        RAISE EXCEPTION 'a table of summaries is a table of its own' USING ERRCODE = 'wrong_object_type';
    END IF;
    SELECT string_agg(s.summaries::text, ', ') INTO others
      FROM cftrag_internal.cft_summaries_of(f.edges) AS s
     WHERE s.summaries <> cft_attach_summaries.summaries;
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'another table of summaries is attached to %', f.edges
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = format('It is %s.', others), HINT = 'Detach it with cft_detach.';
    END IF;
    -- The lock of CREATE TRIGGER holds writers off until the end of the transaction: nothing is missed between the
    -- marks made now and those made by triggers. Edges and documents are locked before the summaries, as writers lock
    -- them.
    LOOP
        FOREACH relation IN ARRAY array_remove(ARRAY[f.edges, documents], NULL) LOOP
            PERFORM cftrag_internal.cft_refuse_family(relation);
            PERFORM cftrag_internal.cft_watch(relation, 'cftrag_internal.cft_rollup_changed()');
        END LOOP;
        EXIT WHEN NOT EXISTS (SELECT FROM cftrag_internal.cft_registered('cftrag_internal.cft_summaries()', summaries));
        PERFORM cftrag_internal.cft_detach_summaries(summaries);
    END LOOP;

    PERFORM cftrag_internal.cft_set_columns(summaries, f.edges, 'cftrag_internal.cft_summaries()', ARRAY[entity,
        summary, embedding],
                                        ARRAY['entity' || CASE WHEN leaves THEN ' leaves' ELSE '' END, 'summary',
                                            'embedding']);
    PERFORM cftrag_internal.cft_refuse_summaries(summaries, entity, summary);
    PERFORM cftrag_internal.cft_distance(summaries, embedding) WHERE embedding IS NOT NULL;
    IF documents IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM cftrag_internal.cft_attached_documents(documents) AS d WHERE d.entity IS NOT NULL)
            THEN
            RAISE EXCEPTION 'the documents of % are not attached to entities by a column', documents
                USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format('Attach %s again with cft_attach_documents and the columns it has now, '
                    'and entity => its column of the entity that a document is about.', documents);
        END IF;
        PERFORM cftrag_internal.cft_set_columns(summaries, documents, 'cftrag_internal.cft_summary_documents()',
            ARRAY[entity], '{entity}');
    END IF;

    EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH e AS (%4$s)
         INSERT INTO %1$s (%2$I)
         SELECT z.name FROM (SELECT e.parent FROM e UNION SELECT e.child FROM e WHERE $1) AS z(name)
          WHERE NOT EXISTS (SELECT FROM %1$s AS s WHERE s.%2$I::text = z.name) ORDER BY 1',
        summaries, entity, summary, cftrag_internal.cft_edges_sql(f.edges, f.parent, f.child))
    USING leaves;
    PERFORM cftrag_internal.cft_rollup_merge(f.edges, summaries, entity, summary);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_attach_summaries(regclass, name, name, name, regclass, regclass, boolean) IS
'what cft_attach_summaries calls';

CREATE FUNCTION cft_attach_summaries(summaries regclass, entity name DEFAULT 'entity', summary name DEFAULT 'summary',
    embedding name DEFAULT NULL,
    edges regclass DEFAULT NULL, documents regclass DEFAULT NULL, leaves boolean DEFAULT false)
RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT cftrag_internal.cft_attach_summaries($1, $2, $3, $4, cftrag_internal.cft_meant_edges($5), $6, $7);
END;
COMMENT ON FUNCTION cft_attach_summaries(regclass, name, name, name, regclass, regclass, boolean) IS
'says which table holds summaries of the entities of an edges table, and keeps track of which are due; owner only';

CREATE FUNCTION cftrag_internal.cft_detach_summaries(summaries regclass)
RETURNS void LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    registrations regprocedure[] := ARRAY['cftrag_internal.cft_summary_documents()', 'cftrag_internal.cft_summaries()'];
    others regclass[] := ARRAY(SELECT r.other FROM unnest(registrations) AS p, cftrag_internal.cft_registered(p,
        cft_detach_summaries.summaries) AS r);
    relation regclass;
BEGIN
    -- Documents, edges, summaries: locked as their writers lock them. Triggers on tables of others stay, and do
    -- nothing; so do those that another table of summaries needs.
    FOREACH relation IN ARRAY others LOOP
        CONTINUE WHEN NOT (SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = relation)
            OR EXISTS (SELECT FROM unnest(registrations) AS p, cftrag_internal.cft_registered(p, NULL, relation) AS r
                WHERE r.relation <> summaries);
        PERFORM cftrag_internal.cft_drop_triggers(relation, 'cftrag_internal.cft_rollup_changed()');
    END LOOP;
    IF NOT cftrag_internal.cft_set_columns(summaries, NULL, 'cftrag_internal.cft_summaries()', NULL, NULL) THEN
        RAISE EXCEPTION 'table % has no summaries attached to cftrag', summaries USING ERRCODE = 'undefined_table';
    END IF;
    PERFORM cftrag_internal.cft_set_columns(summaries, NULL, 'cftrag_internal.cft_summary_documents()', NULL, NULL);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_detach_summaries(regclass) IS 'what cft_detach calls for summaries';

-- Undoes every attach function for a table.
CREATE FUNCTION cft_detach(relation regclass)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    had boolean := cftrag_internal.cft_detach_edges(relation);
    registration regprocedure;
BEGIN
    IF relation IS NULL THEN
        RAISE EXCEPTION '"relation" must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    -- Links may have lost the documents: a column that was dropped takes their registration along.
    FOREACH registration IN ARRAY ARRAY['cftrag_internal.cft_documents()', 'cftrag_internal.cft_link()',
        'cftrag_internal.cft_document_entities()',
                                        'cftrag_internal.cft_entity_embeddings()', 'cftrag_internal.cft_word_classes()',
                                            'cftrag_internal.cft_phrases()', 'cftrag_internal.cft_summaries()',
                                            'cftrag_internal.cft_grants()']::regprocedure[] LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgfoid = registration);
        had := true;
        CASE registration
            WHEN 'cftrag_internal.cft_documents()'::regprocedure, 'cftrag_internal.cft_link()'::regprocedure
                THEN PERFORM cftrag_internal.cft_detach_documents(relation);
            WHEN 'cftrag_internal.cft_summaries()'::regprocedure
                THEN PERFORM cftrag_internal.cft_detach_summaries(relation);
            ELSE PERFORM cftrag_internal.cft_set_columns(relation, NULL, registration, NULL, NULL);
        END CASE;
    END LOOP;
    -- Triggers that mark summaries, of which there are none any more.
    IF EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = relation
        AND t.tgfoid = 'cftrag_internal.cft_rollup_changed()'::regprocedure)
       AND NOT EXISTS
           (SELECT FROM unnest('{cftrag_internal.cft_summary_documents(),cftrag_internal.cft_summaries()}'
                ::regprocedure[]) AS p,
                                   cftrag_internal.cft_registered(p, NULL, relation) AS r) THEN
        PERFORM cftrag_internal.cft_drop_triggers(relation, 'cftrag_internal.cft_rollup_changed()');
        had := true;
    END IF;
    IF NOT had THEN
        RAISE EXCEPTION 'table % is not attached to cftrag', relation USING ERRCODE = 'undefined_table';
    END IF;
END $$;
COMMENT ON FUNCTION cft_detach(regclass) IS
'takes off what a table was attached as: edges, aliases, labels, words, phrases, grants, documents, their mapping, '
'embeddings, summaries; what it holds stays; owner only';

CREATE FUNCTION cftrag_internal.cft_rollup_status(edges regclass)
RETURNS TABLE(entities bigint, leaves bigint, documents bigint, due bigint, fewer numeric)
LANGUAGE plpgsql STABLE COST 100000 ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    f record;
    s record;
BEGIN
    SELECT * INTO s FROM cftrag_internal.cft_rollup_tables(edges);
    SELECT * INTO f FROM cftrag_internal.cft_attached(s.forest);
    RETURN QUERY EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH e AS MATERIALIZED (%4$s),
              p AS MATERIALIZED (SELECT DISTINCT e.parent AS name FROM e),
              a AS MATERIALIZED (SELECT p.name FROM p UNION SELECT e.child FROM e),
              m AS MATERIALIZED (SELECT s.%2$I::text COLLATE "C" AS name, bool_or(s.%3$I IS NOT NULL) AS has,
                  bool_or(s.%3$I IS NULL) AS due FROM %1$s AS s GROUP BY 1),
              u AS MATERIALIZED (SELECT DISTINCT e.parent AS name FROM e JOIN m ON m.name = e.child AND m.due
                  WHERE e.child NOT IN (SELECT p.name FROM p)),
              k AS (SELECT count(*) AS entities, count(*) FILTER (WHERE p.name IS NULL) AS leaves,
                           count(*) FILTER (WHERE m.has AND (p.name IS NOT NULL OR $1)) AS documents,
                               count(*) FILTER (WHERE (m.due OR u.name IS NOT NULL) AND (p.name IS NOT NULL
                               OR $1)) AS due
                      FROM a LEFT JOIN p USING (name) LEFT JOIN m USING (name) LEFT JOIN u USING (name))
         SELECT k.entities, k.leaves, k.documents, k.due, round(1 - nullif(k.documents, 0) / nullif(k.leaves,
             0)::numeric, 3) FROM k',
        s.summaries, s.entity, s.summary, cftrag_internal.cft_edges_sql(f.edges, f.parent, f.child)) USING s.leaves;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_status(regclass) IS 'what cft_rollup_status calls';

CREATE FUNCTION cft_rollup_status(edges regclass DEFAULT NULL)
RETURNS TABLE(entities bigint, leaves bigint, documents bigint, due bigint, fewer numeric)
LANGUAGE sql STABLE COST 100000 ROWS 1
BEGIN ATOMIC
    SELECT f.* FROM cftrag_internal.cft_rollup_status(cftrag_internal.cft_meant_edges($1)) AS f;
END;
COMMENT ON FUNCTION cft_rollup_status(regclass) IS
'how far the summaries of a forest are; documents: those a retriever needs with summaries, instead of one for each of '
'the leaves';
