-- The statistics view. To who is no member of pg_read_all_stats, cft_stat() shows only tables that the caller may read,
-- and none in which row-level security hides rows from the caller.

CREATE FUNCTION cftrag_internal.cft_stat()
RETURNS TABLE(
    edges regclass,
    state text,
    serves boolean,
    reason text,
    entities bigint,
    edge_rows bigint,
    buckets bigint,
    load_factor float8,
    kicks bigint,
    growths bigint,
    fingerprint_checks bigint,
    false_positives bigint,
    lookups bigint,
    hits bigint,
    image_calls bigint,
    reference_calls bigint,
    memory_bytes bigint,
    built_at timestamptz,
    build_ms float8,
    trees bigint,
    versions bigint,
    ref_disabled bigint,
    ref_no_memory bigint,
    ref_no_image bigint,
    ref_incomplete bigint,
    ref_old_snapshot bigint,
    ref_pending_trigger bigint,
    ref_serializable bigint,
    ref_created_here bigint,
    ref_rewritten bigint,
    ref_triggers bigint,
    ref_columns bigint,
    ref_not_plain_table bigint,
    ref_row_security bigint,
    ref_privilege bigint,
    ref_parallel bigint,
    ref_recovery bigint,
    ref_xid_too_old bigint,
    ref_encoding bigint,
    build_error text
)
LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1
AS 'MODULE_PATHNAME', 'cft_stat_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_stat() IS
'state of the image and counters of each attached table that the caller may read';

CREATE VIEW pg_stat_cftrag AS SELECT * FROM cftrag_internal.cft_stat();
COMMENT ON VIEW pg_stat_cftrag IS
'state of the image and counters of each attached table; ref_* count the calls that the reference query answered, by '
'reason';
GRANT SELECT ON pg_stat_cftrag TO PUBLIC;

CREATE FUNCTION cftrag_internal.cft_databases()
RETURNS TABLE(datid oid, places integer, images integer, gone integer, memory_bytes bigint)
LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 5
AS 'MODULE_PATHNAME', 'cft_databases_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_databases() IS 'places and shared memory that the tables of each database have';

CREATE VIEW pg_stat_cftrag_databases AS
SELECT s.datid, d.datname, s.places, s.images, s.gone, s.memory_bytes
  FROM cftrag_internal.cft_databases() AS s LEFT JOIN pg_catalog.pg_database AS d
      ON d.oid OPERATOR(pg_catalog.=) s.datid;
COMMENT ON VIEW pg_stat_cftrag_databases IS
'places and shared memory that the tables of each database have; gone: of tables or databases that were dropped, freed '
'when the next build needs them';
GRANT SELECT ON pg_stat_cftrag_databases TO PUBLIC;

CREATE VIEW pg_stat_cftrag_server AS
SELECT pg_catalog.count(*) AS databases, coalesce(pg_catalog.sum(s.places), 0) AS places,
    coalesce(pg_catalog.sum(s.images), 0) AS images, coalesce(pg_catalog.sum(s.gone), 0) AS gone,
       coalesce(pg_catalog.sum(s.memory_bytes), 0) AS memory_bytes,
           pg_catalog.pg_size_bytes(pg_catalog.current_setting('cftrag.memory_limit')) AS memory_limit_bytes
  FROM cftrag_internal.cft_databases() AS s;
COMMENT ON VIEW pg_stat_cftrag_server IS
'places and shared memory that the tables of all databases have, beside the limit; gone: of what was dropped, freed '
'when the next build needs them';
GRANT SELECT ON pg_stat_cftrag_server TO PUBLIC;

CREATE VIEW pg_stat_progress_cftrag AS
SELECT p.edges, p.phase, p.edges_done, p.edges_total, p.started, p.builder, p.waits_for, x.gid AS waits_for_gid
  FROM cftrag_internal.cft_progress() AS p LEFT JOIN pg_catalog.pg_prepared_xacts AS x
      ON x.transaction OPERATOR(pg_catalog.=) p.waits_for_xid;
COMMENT ON VIEW pg_stat_progress_cftrag IS
'builds and checks of images that are under way; builder is their process, edges_total an estimate, waits_for the '
'process whose transaction is waited for, waits_for_gid the prepared transaction';
GRANT SELECT ON pg_stat_progress_cftrag TO PUBLIC;
