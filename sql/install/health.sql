-- cft_health: what a DBA alerts on, in words.

CREATE FUNCTION cftrag_internal.cft_library()
RETURNS text LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cft_library_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_library() IS 'the version of the library that this session has loaded';

CREATE FUNCTION cftrag_internal.cft_shm_too_small()
RETURNS bigint LANGUAGE c VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cft_shm_too_small_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_shm_too_small() IS
'the bytes that the system has for shared memory, if they are fewer than cftrag.memory_limit';

CREATE FUNCTION cftrag_internal.cft_verified()
RETURNS TABLE(edges regclass, verified timestamptz, problems bigint, first text)
LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1
AS 'MODULE_PATHNAME', 'cft_verified_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_verified() IS
'what cftrag.verify_interval found, of attached tables that the caller may read';

CREATE FUNCTION cftrag_internal.cft_checks()
RETURNS TABLE(checked text, status text, reason text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED COST 10000 ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- NULL: the caller may not see it.
    preloaded text := (SELECT s.setting FROM pg_settings AS s WHERE s.name = 'shared_preload_libraries');
    server record;
BEGIN
    RETURN QUERY SELECT 'version', CASE WHEN v.library = x.extversion THEN 'ok' ELSE 'critical' END,
        format('the extension is %s, the library of this session %s', x.extversion, v.library),
        CASE WHEN v.library <> x.extversion
            THEN 'restart the server after an installation, then ALTER EXTENSION cftrag UPDATE' END
      FROM pg_extension AS x, (SELECT cftrag_internal.cft_library() AS library) AS v WHERE x.extname = 'cftrag';
    RETURN QUERY SELECT 'library', CASE WHEN NOT is_needed THEN 'ok' ELSE 'critical' END,
        CASE WHEN is_needed THEN 'the library is not preloaded: the reference query answers every call'
             WHEN is_preloaded THEN 'the library is preloaded' ELSE 'the library is loaded by each session' END,
        CASE WHEN is_needed THEN format('ALTER SYSTEM SET shared_preload_libraries = %s; and restart the server',
            concat_ws(', ', nullif(preloaded, ''), 'cftrag')) END
      FROM (SELECT p.is_preloaded, NOT p.is_preloaded
          AND current_setting('server_version_num')::int < 170000 AS is_needed
              FROM (SELECT 'cftrag' = ANY (regexp_split_to_array(preloaded, '[ ",]+')) AS is_preloaded) AS p) AS l
     WHERE preloaded IS NOT NULL;

    -- What does not heal by itself is critical; what is as PostgreSQL wants it, is well.
    RETURN QUERY SELECT 'image of ' || s.edges, CASE WHEN s.serves THEN 'ok' WHEN r.status = 'ok'
        AND s.build_error IS NOT NULL THEN 'warning' ELSE coalesce(r.status, 'warning') END,
        CASE WHEN s.serves THEN format('%s rows, %s', s.edge_rows, pg_size_pretty(s.memory_bytes))
            WHEN s.reason = 'columns' THEN 'calls fail, or the reference query answers: ' || r.words
            ELSE 'the reference query answers: ' || coalesce(r.words, s.reason) END
            || coalesce('; the last build failed: ' || s.build_error, ''),
        CASE WHEN NOT s.serves AND (r.status IS DISTINCT FROM 'ok' OR s.build_error IS NOT NULL)
            THEN coalesce(r.hint, concat(CASE WHEN s.build_error ~ 'shared memory' THEN 'raise cftrag.memory_limit, '
                'or make /dev/shm larger, then ' END, format('SELECT cft_build(%L)', s.edges),
                CASE WHEN s.reason IN ('triggers', 'columns') THEN ': its error has the line to type' END)) END
      FROM cftrag_internal.cft_stat() AS s
      LEFT JOIN (VALUES
        ('disabled', 'warning', 'cftrag.enable is off', 'SET cftrag.enable = on'),
        ('no_memory', 'critical', 'there was no shared memory for it',
            'raise cftrag.memory_limit, or make /dev/shm larger (pg_stat_cftrag_databases says who has how much); on '
            '15 and 16, preload the library'),
        ('no_image', 'ok', 'an image is built when it is asked for', NULL),
        ('incomplete', 'warning', 'the image has lost a change', NULL),
        ('rewritten', 'warning', 'the table was rewritten', NULL),
        ('triggers', 'critical', 'its triggers are not those of the build, or are not ENABLE ALWAYS', NULL),
        ('columns', 'critical', 'its columns are not those that were attached', NULL),
        ('not_plain_table', 'critical', 'it is no plain table, or has children',
            'detach the children, or the table from cftrag'),
        ('recovery', 'ok', 'the server is a standby', NULL),
        ('row_security', 'ok', 'policies bind you', NULL),
        ('privilege', 'ok', 'you may not read it', NULL),
        ('serializable', 'ok', 'the transaction is SERIALIZABLE', NULL)
      ) AS r(name, status, words, hint)
        -- The image of a table that was attached again is built anew by who asks next.
        ON r.name = CASE WHEN s.reason = 'triggers' AND 2 = (SELECT count(*) FROM pg_trigger AS t
                                    WHERE t.tgrelid = s.edges AND t.tgenabled = 'A' AND t.tgfoid IN (
                                       'cftrag_internal.cft_capture()'::regprocedure,
                                       'cftrag_internal.cft_capture_truncate()'::regprocedure))
                    THEN 'no_image' ELSE s.reason END
     WHERE s.edges IS NOT NULL AND s.serves IS NOT NULL;

    RETURN QUERY SELECT 'verification of ' || v.edges, CASE v.problems WHEN 0 THEN 'ok' ELSE 'critical' END,
        CASE v.problems WHEN 0 THEN format('image and table agreed at %s', v.verified)
            ELSE format('problems found at %s: %s, the first: %s', v.verified, v.problems, v.first) END,
        CASE WHEN v.problems > 0 THEN format('SELECT cft_build(%L)', v.edges) END
      FROM cftrag_internal.cft_verified() AS v;

    RETURN QUERY SELECT 'calls about ' || s.edges, CASE WHEN s.calls >= 1000 AND s.share > 0.1 THEN 'warning'
        ELSE 'ok' END,
        format('the reference query answered %s of %s calls', s.reference_calls, s.calls) || coalesce(' (' || s.reasons
            || ')', ''),
        CASE WHEN s.calls >= 1000 AND s.share > 0.1
            THEN 'docs/operations.md says what each reason means; SELECT cft_stats_reset() counts anew' END
      FROM (SELECT t.edges, t.reference_calls, t.image_calls + t.reference_calls AS calls,
          (t.reference_calls - t.ref_row_security - t.ref_recovery - t.ref_serializable) / nullif(t.image_calls +
          t.reference_calls, 0)::numeric AS share,
                   (SELECT string_agg(format('%s %s', e.key, e.value), ', ' ORDER BY e.value::text::bigint DESC, e.key)
                      FROM jsonb_each(to_jsonb(t)) AS e WHERE starts_with(e.key, 'ref_') AND e.value <> '0') AS reasons
              FROM cftrag_internal.cft_stat() AS t) AS s
     WHERE s.calls > 0;

    SELECT s.* INTO server FROM (SELECT coalesce(sum(d.memory_bytes), 0) AS bytes,
        pg_size_bytes(current_setting('cftrag.memory_limit')) AS most, coalesce(sum(d.places), 0) AS places,
        coalesce(sum(d.gone), 0) AS gone
                                   FROM cftrag_internal.cft_databases() AS d) AS s;
    RETURN QUERY SELECT 'memory', CASE WHEN server.bytes > server.most THEN 'warning' ELSE 'ok' END,
        format('images of all databases have %s of cftrag.memory_limit, %s; those that were asked '
            'for least recently make room', pg_size_pretty(server.bytes), pg_size_pretty(server.most)),
        CASE WHEN server.bytes > server.most
            THEN 'images just built stay for twenty times their build time; what is kept, until it is '
                'attached without keep: SELECT tgrelid::regclass FROM pg_trigger WHERE tgname = ''cftrag_keep''' END;
    RETURN QUERY SELECT 'shared memory', CASE WHEN b.bytes IS NULL THEN 'ok' ELSE 'warning' END,
        coalesce(format('/dev/shm has %s, less than cftrag.memory_limit: images that do not fit make parallel queries '
            'fail, too', pg_size_pretty(b.bytes)), 'the system says nothing of less than cftrag.memory_limit'),
        CASE WHEN b.bytes IS NOT NULL
            THEN 'make /dev/shm larger (Docker: --shm-size), or lower cftrag.memory_limit' END
      FROM cftrag_internal.cft_shm_too_small() AS b(bytes);
    RETURN QUERY SELECT 'places', CASE WHEN server.places >= 60000 THEN 'warning' ELSE 'ok' END,
        format('%s tables of all databases have a place, of 65535; %s of them are gone', server.places, server.gone),
        CASE WHEN server.places >= 60000
            THEN 'detach tables that nobody asks: for those without a place the reference query answers' END;
    RETURN QUERY SELECT 'work_mem', CASE WHEN w.kb < 4096 THEN 'warning' ELSE 'ok' END, format('work_mem is %s',
        current_setting('work_mem')),
        CASE WHEN w.kb < 4096 THEN 'ALTER SYSTEM SET work_mem to 4MB or more: larger answers go by a disk' END
      FROM (SELECT pg_size_bytes(current_setting('work_mem')) / 1024 AS kb) AS w;

    RETURN QUERY SELECT 'build of ' || b.edges, CASE WHEN b.started < clock_timestamp() - interval '1 minute'
        AND b.for_whom IS NOT NULL THEN 'warning' ELSE 'ok' END,
        format('%s since %s', b.phase, b.started) || coalesce(', waits for ' || b.for_whom, ''),
        CASE WHEN b.waits_for_gid IS NOT NULL THEN format('COMMIT PREPARED %1$L, or ROLLBACK PREPARED %1$L',
            b.waits_for_gid)
             WHEN b.waits_for IS NOT NULL THEN format('end that transaction: SELECT pg_terminate_backend(%s)',
                 b.waits_for) END
      FROM (SELECT p.*, coalesce('the prepared transaction ' || quote_literal(x.gid),
          'process ' || p.waits_for) AS for_whom, x.gid AS waits_for_gid
              FROM cftrag_internal.cft_progress() AS p LEFT JOIN pg_prepared_xacts AS x
                  ON x.transaction = p.waits_for_xid
             WHERE NOT starts_with(p.phase, 'verifying')) AS b;

    -- Who keeps old versions, for a minute at least: in this database, or as a prepared transaction or a replication
    -- slot.
    RETURN QUERY SELECT 'old versions of ' || s.edges, 'warning',
        format('%s rows are new, changed or gone for %s; with 100000, and as many as there were '
            'rows, the image is built without what is gone', s.versions, k.who), k.line
      FROM cftrag_internal.cft_stat() AS s,
           (SELECT k.* FROM (SELECT greatest(age(a.backend_xmin), age(a.backend_xid)), 'process ' || a.pid,
               format('SELECT pg_terminate_backend(%s)', a.pid)
                               FROM pg_stat_activity AS a WHERE a.datname = current_database()
                                   AND a.pid <> pg_backend_pid()
                                   AND a.xact_start < clock_timestamp() - interval '1 minute'
                              UNION ALL
                             SELECT age(x.transaction), 'the prepared transaction ' || quote_literal(x.gid),
                                 format('ROLLBACK PREPARED %L', x.gid)
                               FROM pg_prepared_xacts AS x WHERE x.database = current_database()
                                   AND x.prepared < clock_timestamp() - interval '1 minute'
                              UNION ALL
                             SELECT age(p.xmin), 'the replication slot ' || quote_literal(p.slot_name),
                                 format('SELECT pg_drop_replication_slot(%L)', p.slot_name)
                                 FROM pg_replication_slots AS p) AS k(age, who, line)
             WHERE k.age IS NOT NULL ORDER BY k.age DESC LIMIT 1) AS k
     WHERE s.versions > greatest(50000, s.edge_rows / 4);

    -- Without an index the reference query reads the whole table for each step. A trigger's arguments are bytes: the
    -- parent, the child, each with a NUL; those of a table of names begin with a NUL. Anybody may make a trigger with a
    -- gigabyte of them: two names have 128 at most. Columns that are gone are told of above.
    RETURN QUERY SELECT 'indexes of ' || c.edges, 'warning',
        format('no index begins with %s, which the reference query needs', c.key),
        format('CREATE INDEX CONCURRENTLY ON %s (%s)', c.edges, c.key)
      FROM (SELECT e.edges, e.is_plain, n.number,
                   format(CASE WHEN e.is_plain THEN '%I' ELSE '(%I::text) COLLATE "C"' END, n.name) AS key,
                   quote_ident(n.name) AS name
              FROM (SELECT t.tgrelid::regclass AS edges, p.attnum AS parent, p.attname AS parent_name,
                           c.attnum AS child, c.attname AS child_name, EXISTS (SELECT FROM (VALUES
                               ('{text,varchar}'::regtype[]), ('{smallint,integer,bigint}'), ('{uuid}')) AS k(kinds)
                             WHERE coalesce(nullif(pt.typbasetype, 0), pt.oid) = ANY (kinds)
                               AND coalesce(nullif(ct.typbasetype, 0), ct.oid) = ANY (kinds)) AS is_plain
                      FROM (SELECT t.tgrelid, encode(substring(t.tgargs FROM 1 FOR 128), 'hex') AS said
                              FROM pg_trigger AS t JOIN pg_class AS r ON r.oid = t.tgrelid
                             WHERE t.tgfoid = 'cftrag_internal.cft_capture()'::regprocedure AND r.reltuples >= 10000
                               AND has_table_privilege(r.oid, 'SELECT')) AS t
                      JOIN pg_attribute AS p ON p.attrelid = t.tgrelid AND p.attnum > 0
                       AND starts_with(t.said, encode(convert_to(p.attname, getdatabaseencoding()), 'hex') || '00')
                      JOIN pg_attribute AS c ON c.attrelid = t.tgrelid AND c.attnum > 0
                       AND starts_with(substr(t.said, 3 + 2 * octet_length(p.attname::text)),
                           encode(convert_to(c.attname, getdatabaseencoding()), 'hex') || '00')
                      JOIN pg_type AS pt ON pt.oid = p.atttypid JOIN pg_type AS ct ON ct.oid = c.atttypid) AS e,
                   LATERAL (VALUES (e.parent, e.parent_name), (e.child, e.child_name)) AS n(number, name)) AS c
     WHERE NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.edges AND i.indisvalid AND i.indpred IS NULL
         AND CASE WHEN c.is_plain THEN i.indkey[0] = c.number
             ELSE i.indkey[0] = 0 AND position(c.name IN pg_get_indexdef(i.indexrelid, 1, true)) > 0 END);

    RETURN QUERY SELECT 'background workers', CASE WHEN w.workers < 4 THEN 'warning' ELSE 'ok' END,
        format('max_worker_processes is %s', w.workers),
        CASE WHEN w.workers < 4 THEN 'ALTER SYSTEM SET max_worker_processes to 8 or more, and restart the server' END
      FROM (SELECT current_setting('max_worker_processes')::int AS workers) AS w;

    RETURN QUERY SELECT 'links of ' || l.documents, CASE WHEN l.is_kept THEN 'ok' ELSE 'critical' END,
        CASE WHEN l.is_kept THEN 'kept by triggers'
        ELSE 'not kept: triggers are disabled, or the table of links is gone or another role''s' END,
        CASE WHEN NOT l.is_enabled
            THEN format('ALTER TABLE %s ENABLE TRIGGER USER; SELECT cft_relink(%L)', l.documents, l.documents)
            WHEN NOT l.is_kept THEN 'call cft_attach_documents again, with the same arguments' END
      FROM (SELECT t.tgrelid::regclass AS documents, bool_and(t.tgenabled IN ('O', 'A')) AS is_enabled,
                   bool_and(t.tgenabled IN ('O', 'A')) AND EXISTS (
                       SELECT FROM cftrag_internal.cft_registered('cftrag_internal.cft_document_entities()', NULL,
                           t.tgrelid) AS m JOIN pg_class AS c ON c.oid = m.relation JOIN pg_class AS d
                           ON d.oid = t.tgrelid
                        WHERE c.relowner = d.relowner) AS is_kept
              FROM pg_trigger AS t WHERE t.tgfoid = 'cftrag_internal.cft_link()'::regprocedure GROUP BY t.tgrelid) AS l
     WHERE pg_has_role('pg_monitor', 'USAGE') OR has_any_column_privilege(l.documents, 'SELECT');

    RETURN QUERY SELECT 'summaries beside ' || t.tgrelid::regclass, 'critical',
        'triggers are disabled, and changes lost: ' || string_agg(quote_ident(t.tgname), ', ' ORDER BY t.tgname),
        'call cft_attach_summaries again, with the same arguments'
      FROM pg_trigger AS t
     WHERE t.tgenabled = 'D' AND t.tgfoid IN ('cftrag_internal.cft_summaries()'::regprocedure,
         'cftrag_internal.cft_summary_documents()'::regprocedure, 'cftrag_internal.cft_rollup_changed()'::regprocedure)
       AND (pg_has_role('pg_monitor', 'USAGE') OR has_any_column_privilege(t.tgrelid, 'SELECT'))
     GROUP BY t.tgrelid;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_checks() IS 'what cft_health checks, a row each';

CREATE FUNCTION cft_health(detail boolean DEFAULT false)
RETURNS TABLE(status text, reason text, hint text, checked text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED COST 10000 ROWS 1
BEGIN ATOMIC
    WITH c AS MATERIALIZED (
        SELECT c.*, pg_catalog.array_position('{ok,warning,critical}'::pg_catalog.text[], c.status) AS worse
            FROM cftrag_internal.cft_checks() AS c),
    -- Without the library nothing else can be well.
    w AS (SELECT c.*, pg_catalog.row_number() OVER (ORDER BY c.worse DESC,
        c.checked OPERATOR(pg_catalog.<>) ALL ('{version,library}'::pg_catalog.text[]), c.checked COLLATE "C",
        c.reason COLLATE "C") AS n FROM c)
    SELECT r.status, r.reason, r.hint, r.checked FROM (
        SELECT w.status, w.reason, w.hint, w.checked, w.n FROM w WHERE $1
         UNION ALL
        SELECT coalesce(pg_catalog.max(w.status) FILTER (WHERE w.n OPERATOR(pg_catalog.=) 1), 'ok'),
               coalesce(pg_catalog.string_agg(pg_catalog.concat(w.checked, ': ', w.reason), '; '
                   ORDER BY w.n) FILTER (WHERE w.worse OPERATOR(pg_catalog.>) 1 AND w.n OPERATOR(pg_catalog.<=) 3)
                        OPERATOR(pg_catalog.||) CASE WHEN pg_catalog.count(*) FILTER (WHERE w.worse
                            OPERATOR(pg_catalog.>) 1) OPERATOR(pg_catalog.>) 3
                            THEN '; and more: SELECT * FROM cft_health(detail => true)' ELSE '' END, 'nothing to do'),
               pg_catalog.max(w.hint) FILTER (WHERE w.n OPERATOR(pg_catalog.=) 1 AND w.worse OPERATOR(pg_catalog.>) 1),
                   NULL, 0
          FROM w HAVING NOT coalesce($1, false)) AS r
     ORDER BY r.n;
END;
COMMENT ON FUNCTION cft_health(boolean) IS
'whether all is well in this database: ok, warning or critical, why, and the line to type; with detail a row for each '
'thing that is checked, the worst first';

-- Where the library must be preloaded and is not, each call would be answered by the reference query without a word. A
-- WARNING: CREATE EXTENSION shows nothing that is less.
DO $$
DECLARE
    missing record;
BEGIN
    SELECT c.reason, c.hint INTO missing FROM cftrag_internal.cft_checks() AS c
     WHERE c.checked OPERATOR(pg_catalog.=) 'library' AND c.status OPERATOR(pg_catalog.=) 'critical';
    IF missing.reason IS NOT NULL THEN
        RAISE WARNING '%', missing.reason USING HINT = missing.hint;
    END IF;
END $$;
