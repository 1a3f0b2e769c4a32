//! The places where a call can stand: each is a list of statements around it.
//!
//!   {call}   the call, `schema.function(arguments)`          {q}   "SELECT * FROM {call}" as a string constant
//!   {n}      a number that no other call of this run has
//!
//! All statements are sent, even after errors. They create objects in schema scratch only.

/// The name, which the counts at the end show, and the statements.
pub type Place = (&'static str, &'static [&'static str]);

pub const PLACES: &[Place] = &[
    ("from", &["SELECT * FROM {call}"]),
    ("from", &["SELECT * FROM {call}"]),
    ("from", &["SELECT * FROM {call}"]),
    ("target list", &["SELECT {call}"]),
    ("target list", &["SELECT {call}, {call}, i FROM generate_series(1, 3) AS i"]),
    ("columns of it", &["SELECT ({call}).*"]),
    ("whole row", &["SELECT x, x.*, to_jsonb(x), x IS NULL FROM {call} AS x"]),
    ("ordinality", &["SELECT * FROM ROWS FROM ({call}, generate_series(1, 2), {call}) WITH ORDINALITY"]),
    (
        "column definitions",
        &["SELECT * FROM {call} AS x(a int, b text)", "SELECT * FROM {call} AS x(a, b, c, d, e, f, g, h)"],
    ),
    ("where", &["SELECT 1 FROM hostile.numbers WHERE EXISTS (SELECT FROM {call}) OR ({call}) IS NULL"]),
    (
        "lateral",
        &["SELECT e.*, c.* FROM hostile.edges AS e LEFT JOIN LATERAL (SELECT * FROM {call}) AS c ON true LIMIT 50"],
    ),
    ("joins", &["SELECT * FROM {call} AS a FULL JOIN {call} AS b ON a = b CROSS JOIN LATERAL {call} AS c LIMIT 50"]),
    ("limit", &["SELECT 1 FROM hostile.numbers ORDER BY {call} LIMIT (SELECT count(*) FROM {call}) OFFSET {call}"]),
    (
        "case",
        &["SELECT CASE WHEN random() < 2 THEN (SELECT count(*) FROM {call}) ELSE 1 / 0 END, COALESCE(NULL, {call})"],
    ),
    (
        "aggregate",
        &["SELECT array_agg(x), count(DISTINCT x), string_agg(x::text, ',' ORDER BY x::text) FROM {call} AS x"],
    ),
    (
        "aggregate",
        &[
            "SELECT count({call}), max(({call})::text) FROM hostile.numbers GROUP BY parent",
            "SELECT hostile.run_all({q}) FROM hostile.numbers",
        ],
    ),
    (
        "as an aggregate",
        &["SELECT {call} FILTER (WHERE true)", "SELECT {call} WITHIN GROUP (ORDER BY 1)", "SELECT {call} OVER ()"],
    ),
    (
        "window",
        &[
            "SELECT row_number() OVER (ORDER BY ({call})::text), hostile.run({q}, i) FROM generate_series(1, 3) AS i WINDOW w AS (PARTITION BY i)",
        ],
    ),
    ("window", &["SELECT x, lag(x) OVER (), hostile.run_all({q}) OVER (ORDER BY x::text) FROM {call} AS x"]),
    ("union", &["(SELECT * FROM {call} UNION SELECT * FROM {call}) EXCEPT SELECT * FROM {call} ORDER BY 1"]),
    (
        "recursive",
        &[
            "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3 AND hostile.run({q}, i) IS NOT NULL) TABLE r",
        ],
    ),
    (
        "writing with",
        &[
            "WITH w AS (INSERT INTO hostile.edges VALUES ('with', 'n1', 'oak') RETURNING *), d AS (DELETE FROM hostile.edges WHERE parent = 'with' RETURNING 1) SELECT * FROM w, d, {call} AS c",
        ],
    ),
    (
        "returning",
        &[
            "INSERT INTO hostile.edges VALUES ('ret', 'n1', 'oak') RETURNING hostile.run({q}, 0), {call}",
            "DELETE FROM hostile.edges WHERE parent = 'ret' RETURNING hostile.run({q}, 0)",
        ],
    ),
    ("insert select", &["INSERT INTO scratch.sink SELECT (to_jsonb(x))::text FROM {call} AS x"]),
    (
        "update",
        &[
            "BEGIN",
            "UPDATE hostile.edges SET tree = hostile.run({q}, 0) WHERE parent = 'n1'",
            "SELECT * FROM {call}",
            "ROLLBACK",
        ],
    ),
    (
        "merge",
        &[
            "MERGE INTO hostile.edges AS t USING (SELECT count(*)::text AS x FROM {call}) AS s ON t.parent = s.x WHEN NOT MATCHED THEN INSERT VALUES (s.x, 'merged', 'oak') WHEN MATCHED THEN DELETE",
        ],
    ),
    (
        "on conflict",
        &[
            "CREATE TABLE scratch.k{n} (a int PRIMARY KEY, b text)",
            "INSERT INTO scratch.k{n} VALUES (1, hostile.run({q}, 0)), (2, NULL) ON CONFLICT (a) DO UPDATE SET b = hostile.run({q}, 0)",
        ],
    ),
    (
        "failed transaction",
        &["BEGIN", "SELECT 1 / 0", "SELECT * FROM {call}", "SAVEPOINT s", "SELECT {call}", "COMMIT"],
    ),
    (
        "error after it",
        &[
            "BEGIN",
            "INSERT INTO hostile.edges VALUES ('undone', 'n1', 'oak')",
            "SELECT * FROM {call}",
            "SELECT 1 / 0 FROM {call}",
            "ROLLBACK",
        ],
    ),
    (
        "after own writes",
        &[
            "BEGIN",
            "INSERT INTO hostile.edges VALUES ('own', 'n1', 'oak')",
            "DELETE FROM hostile.numbers WHERE child = 7",
            "SELECT * FROM {call}",
            "TRUNCATE hostile.ids",
            "SELECT {call}",
            "COMMIT",
            "INSERT INTO hostile.numbers VALUES (3, 7)",
        ],
    ),
    (
        "savepoints",
        &[
            "BEGIN",
            "SAVEPOINT a",
            "UPDATE hostile.edges SET tree = tree WHERE parent = 'n2'",
            "SELECT * FROM {call}",
            "ROLLBACK TO a",
            "SELECT * FROM {call}",
            "RELEASE a",
            "COMMIT",
        ],
    ),
    ("left open", &["BEGIN", "INSERT INTO hostile.numbers VALUES (1, 77)", "SELECT * FROM {call}"]),
    (
        "repeatable read",
        &[
            "BEGIN ISOLATION LEVEL REPEATABLE READ",
            "SELECT * FROM {call}",
            "INSERT INTO hostile.edges VALUES ('rr', 'n1', NULL)",
            "SELECT * FROM {call}",
            "COMMIT",
        ],
    ),
    (
        "serializable",
        &[
            "BEGIN ISOLATION LEVEL SERIALIZABLE",
            "SELECT * FROM {call}",
            "UPDATE hostile.numbers SET child = child WHERE parent = 3",
            "COMMIT",
        ],
    ),
    (
        "read only",
        &[
            "BEGIN READ ONLY",
            "SELECT * FROM {call}",
            "COMMIT",
            "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY",
            "SELECT {call}",
            "COMMIT",
        ],
    ),
    (
        "prepared transaction",
        &[
            "BEGIN",
            "INSERT INTO hostile.edges VALUES ('2pc', 'n1', 'oak')",
            "SELECT * FROM {call}",
            "PREPARE TRANSACTION 'hostile{n}'",
            "SELECT * FROM {call}",
            "COMMIT PREPARED 'hostile{n}'",
            "ROLLBACK PREPARED 'hostile{n}'",
        ],
    ),
    (
        "rewritten here",
        &[
            "BEGIN",
            "ALTER TABLE hostile.numbers ALTER parent TYPE int",
            "SELECT * FROM {call}",
            "SAVEPOINT a",
            "DROP TABLE hostile.ids",
            "SELECT * FROM {call}",
            "ROLLBACK TO a",
            "SELECT * FROM {call}",
            "ROLLBACK",
            "SELECT * FROM {call}",
        ],
    ),
    (
        "renamed here",
        &[
            "BEGIN",
            "ALTER TABLE hostile.edges RENAME parent TO x",
            "SELECT * FROM {call}",
            "INSERT INTO hostile.edges VALUES ('a', 'b', 'c')",
            "ALTER TABLE hostile.edges DROP COLUMN tree",
            "SELECT * FROM {call}",
            "ROLLBACK",
        ],
    ),
    ("procedure", &["CALL hostile.commit_between({q})", "CALL {call}"]),
    (
        "cursor",
        &[
            "BEGIN",
            "DECLARE c SCROLL CURSOR FOR SELECT * FROM {call}",
            "FETCH 2 FROM c",
            "DELETE FROM hostile.edges WHERE child = 'n5'",
            "FETCH BACKWARD ALL FROM c",
            "FETCH ABSOLUTE 1 FROM c",
            "MOVE LAST IN c",
            "CLOSE c",
            "ROLLBACK",
        ],
    ),
    (
        "held cursor",
        &["BEGIN", "DECLARE h CURSOR WITH HOLD FOR SELECT * FROM {call}", "COMMIT", "FETCH ALL FROM h", "CLOSE h"],
    ),
    (
        "open cursor",
        &[
            "BEGIN",
            "DECLARE o CURSOR FOR SELECT {call} FROM hostile.edges",
            "FETCH 1 FROM o",
            "SAVEPOINT s",
            "FETCH 1 FROM o",
            "ROLLBACK TO s",
            "FETCH 1 FROM o",
            "COMMIT",
        ],
    ),
    (
        "do",
        &[
            "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM {call} LOOP BEGIN RAISE 'x'; EXCEPTION WHEN raise_exception THEN NULL; END; END LOOP; END $$",
        ],
    ),
    (
        "do",
        &[
            "DO $$ DECLARE c refcursor; r record; BEGIN OPEN c FOR SELECT * FROM {call}; LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; END LOOP; r := {call}; PERFORM {call}; END $$",
        ],
    ),
    ("caught", &["SELECT hostile.run_caught({q}, 0)", "DELETE FROM hostile.edges WHERE parent = 'caught'"]),
    ("in functions", &["SELECT hostile.run({q}, 0), hostile.run_stable({q}, 0), hostile.run_immutable({q}, 0)"]),
    ("definer", &["SELECT hostile.run_definer({q}, 0)"]),
    ("nested", &["SELECT hostile.run($h$SELECT hostile.run_stable($q$SELECT {call}$q$, 0), {call}$h$, 0)"]),
    ("copy", &["COPY (SELECT * FROM {call}) TO STDOUT", "COPY (SELECT {call}) TO STDOUT (FORMAT binary)"]),
    ("copy in", &["COPY hostile.edges FROM STDIN WHERE hostile.run({q}, 0) IS NULL"]),
    (
        "explain",
        &[
            "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM {call}",
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT {call}",
            "EXPLAIN (ANALYZE, WAL) INSERT INTO scratch.sink SELECT hostile.run({q}, 0)",
        ],
    ),
    (
        "prepared",
        &[
            "PREPARE p{n} AS SELECT * FROM {call}",
            "EXECUTE p{n}",
            "EXECUTE p{n}",
            "DISCARD PLANS",
            "EXECUTE p{n}(1, 2)",
            "DEALLOCATE p{n}",
        ],
    ),
    (
        "generic plan",
        &[
            "SET plan_cache_mode = force_generic_plan",
            "PREPARE g{n}(text, int) AS SELECT {call}, $1, $2",
            "EXECUTE g{n}(NULL, 1)",
            "EXECUTE g{n}(repeat('x', 2000000), -1)",
            "DEALLOCATE g{n}",
        ],
    ),
    (
        "view",
        &[
            "CREATE VIEW scratch.v{n} AS SELECT * FROM {call}",
            "SELECT * FROM scratch.v{n}",
            "SELECT pg_get_viewdef('scratch.v{n}')",
            "DROP VIEW scratch.v{n}",
        ],
    ),
    (
        "barrier view",
        &[
            "CREATE VIEW scratch.b{n} WITH (security_barrier, security_invoker) AS SELECT {call} AS c, e.* FROM hostile.edges AS e",
            "SELECT * FROM scratch.b{n} LIMIT 3",
            "DROP VIEW scratch.b{n}",
        ],
    ),
    (
        "materialized view",
        &[
            "CREATE MATERIALIZED VIEW scratch.m{n} AS SELECT * FROM {call}",
            "REFRESH MATERIALIZED VIEW scratch.m{n}",
            "DROP MATERIALIZED VIEW scratch.m{n}",
        ],
    ),
    ("create table as", &["CREATE TABLE scratch.c{n} AS SELECT * FROM {call}", "SELECT * INTO TEMP i{n} FROM {call}"]),
    (
        "check",
        &[
            "CREATE TABLE scratch.ch{n} (a int CHECK (hostile.run({q}, a) IS NOT NULL), CHECK (({call}) IS NULL))",
            "CREATE TABLE scratch.cc{n} (a int, CHECK (hostile.run({q}, a) IS NOT NULL))",
            "INSERT INTO scratch.cc{n} VALUES (1), (2)",
            "COPY scratch.cc{n} FROM STDIN",
            "ALTER TABLE scratch.cc{n} ADD CHECK (hostile.run_stable({q}, a) <> '')",
        ],
    ),
    (
        "check of an edges table",
        &[
            "BEGIN",
            "ALTER TABLE hostile.edges ADD CONSTRAINT x CHECK (hostile.run({q}, 0) IS NOT NULL) NOT VALID",
            "INSERT INTO hostile.edges VALUES ('checked', 'n1', 'oak')",
            "UPDATE hostile.edges SET tree = 'oak' WHERE parent = 'n1'",
            "ALTER TABLE hostile.edges VALIDATE CONSTRAINT x",
            "ROLLBACK",
        ],
    ),
    (
        "default",
        &[
            "CREATE TABLE scratch.d{n} (a text DEFAULT hostile.run({q}, 0), b int)",
            "INSERT INTO scratch.d{n}(b) VALUES (1), (2)",
            "ALTER TABLE scratch.d{n} ADD c text DEFAULT hostile.run_stable({q}, 0)",
        ],
    ),
    (
        "generated",
        &[
            "CREATE TABLE scratch.g{n} (a int, b text GENERATED ALWAYS AS (hostile.run_immutable({q}, a)) STORED)",
            "INSERT INTO scratch.g{n} VALUES (1), (2)",
            "UPDATE scratch.g{n} SET a = 3",
        ],
    ),
    (
        "generated parent",
        &[
            "CREATE TABLE scratch.gp{n} (child text, parent text GENERATED ALWAYS AS (hostile.run_immutable({q}, child)) STORED)",
            "SELECT cft_attach('scratch.gp{n}')",
            "INSERT INTO scratch.gp{n} VALUES ('a'), ('b')",
            "SELECT * FROM cft_context('a', edges => 'scratch.gp{n}')",
            "DROP TABLE scratch.gp{n}",
        ],
    ),
    (
        "index",
        &[
            "CREATE TABLE scratch.x{n} (a int)",
            "INSERT INTO scratch.x{n} VALUES (1), (2)",
            "CREATE INDEX ON scratch.x{n} (({call}))",
            "CREATE INDEX ON scratch.x{n} (hostile.run_immutable({q}, a)) WHERE hostile.run_immutable({q}, a) IS NOT NULL",
            "INSERT INTO scratch.x{n} VALUES (3)",
            "ANALYZE scratch.x{n}",
            "VACUUM scratch.x{n}",
            "REINDEX TABLE scratch.x{n}",
        ],
    ),
    (
        "index of an edges table",
        &[
            "CREATE INDEX x{n} ON hostile.edges (hostile.run_immutable({q}, length(parent)))",
            "INSERT INTO hostile.edges VALUES ('indexed', 'n1', 'oak')",
            "UPDATE hostile.edges SET tree = NULL WHERE parent = 'indexed'",
            "ANALYZE hostile.edges",
            "CREATE INDEX CONCURRENTLY xc{n} ON hostile.edges (hostile.run_immutable({q}, length(child)))",
            "DROP INDEX IF EXISTS hostile.x{n}, hostile.xc{n}",
        ],
    ),
    (
        "statistics",
        &[
            "CREATE STATISTICS scratch.s{n} ON (hostile.run_immutable({q}, length(parent))), child FROM hostile.edges",
            "ANALYZE hostile.edges",
            "DROP STATISTICS scratch.s{n}",
        ],
    ),
    (
        "exclusion",
        &[
            "CREATE TABLE scratch.e{n} (a int, EXCLUDE USING btree (hostile.run_immutable({q}, a) WITH =))",
            "INSERT INTO scratch.e{n} VALUES (1), (2)",
        ],
    ),
    (
        "domain",
        &[
            "CREATE DOMAIN scratch.do{n} AS int CHECK (hostile.run({q}, VALUE) IS NOT NULL)",
            "SELECT 1::scratch.do{n}",
            "SELECT NULL::scratch.do{n}",
            "DROP DOMAIN scratch.do{n}",
        ],
    ),
    (
        "partition key",
        &[
            "CREATE TABLE scratch.pk{n} (a int) PARTITION BY LIST (hostile.run_immutable({q}, a))",
            "CREATE TABLE scratch.pd{n} PARTITION OF scratch.pk{n} DEFAULT",
            "INSERT INTO scratch.pk{n} VALUES (1)",
        ],
    ),
    (
        "policy",
        &[
            "CREATE POLICY p{n} ON hostile.policed TO hostile_reader USING (hostile.run({q}, 0) IS NOT NULL)",
            "SET ROLE hostile_reader",
            "SELECT * FROM hostile.policed",
            "SELECT * FROM cft_context('n1', edges => 'hostile.policed')",
            "SELECT * FROM {call}",
            "RESET ROLE",
            "DROP POLICY IF EXISTS p{n} ON hostile.policed",
        ],
    ),
    (
        "rule",
        &[
            "CREATE TABLE scratch.r{n} (a int)",
            "CREATE RULE r AS ON INSERT TO scratch.r{n} DO ALSO SELECT {call}",
            "INSERT INTO scratch.r{n} VALUES (1)",
        ],
    ),
    (
        "row triggers",
        &[
            "CREATE TRIGGER a_hostile BEFORE INSERT OR UPDATE OR DELETE ON hostile.edges FOR EACH ROW EXECUTE FUNCTION hostile.fire({q})",
            "CREATE TRIGGER z_hostile AFTER INSERT OR UPDATE OR DELETE ON hostile.edges FOR EACH ROW EXECUTE FUNCTION hostile.fire({q})",
            "INSERT INTO hostile.edges VALUES ('fired', 'n1', 'oak'), ('fired', 'n2', NULL)",
            "UPDATE hostile.edges SET child = 'n3' WHERE parent = 'fired'",
            "DELETE FROM hostile.edges WHERE parent = 'fired'",
            "DROP TRIGGER IF EXISTS a_hostile ON hostile.edges",
            "DROP TRIGGER IF EXISTS z_hostile ON hostile.edges",
        ],
    ),
    (
        "statement triggers",
        &[
            "BEGIN",
            "CREATE TRIGGER a_hostile BEFORE INSERT OR TRUNCATE ON hostile.numbers EXECUTE FUNCTION hostile.fire({q})",
            "CREATE TRIGGER z_hostile AFTER INSERT OR DELETE OR TRUNCATE ON hostile.numbers EXECUTE FUNCTION hostile.fire({q})",
            "INSERT INTO hostile.numbers VALUES (1, 99)",
            "DELETE FROM hostile.numbers WHERE child = 99",
            "TRUNCATE hostile.numbers",
            "SELECT * FROM {call}",
            "ROLLBACK",
        ],
    ),
    (
        "deferred trigger",
        &[
            "BEGIN",
            "CREATE CONSTRAINT TRIGGER d_hostile AFTER INSERT ON hostile.numbers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hostile.fire({q})",
            "INSERT INTO hostile.numbers VALUES (1, 98)",
            "COMMIT",
            "DROP TRIGGER IF EXISTS d_hostile ON hostile.numbers",
            "DELETE FROM hostile.numbers WHERE child = 98",
        ],
    ),
    (
        "event triggers",
        &[
            "SET hostile.query = {q}",
            "CREATE EVENT TRIGGER hostile_end ON ddl_command_end EXECUTE FUNCTION hostile.fire_event()",
            "CREATE EVENT TRIGGER hostile_drop ON sql_drop EXECUTE FUNCTION hostile.fire_event()",
            "CREATE EVENT TRIGGER hostile_rewrite ON table_rewrite EXECUTE FUNCTION hostile.fire_event()",
            "CREATE TABLE scratch.ev{n} (a int)",
            "ALTER TABLE hostile.numbers ALTER child TYPE bigint USING child + 0",
            "DROP TABLE scratch.ev{n}",
            "DROP EVENT TRIGGER hostile_end",
            "DROP EVENT TRIGGER hostile_drop",
            "DROP EVENT TRIGGER hostile_rewrite",
        ],
    ),
    (
        "parallel",
        &[
            "SET {parallel} = on",
            "SELECT * FROM {call}",
            "SELECT count(*), hostile.run_stable({q}, 0) FROM hostile.edges GROUP BY 2",
            "SELECT hostile.run_immutable({q}, length(parent)) FROM hostile.edges LIMIT 5",
        ],
    ),
    (
        "parallel scan",
        &[
            "SET parallel_setup_cost = 0",
            "SET parallel_tuple_cost = 0",
            "SET min_parallel_table_scan_size = 0",
            "SET max_parallel_workers_per_gather = 2",
            "SET parallel_leader_participation = off",
            "SELECT hostile.run_stable({q}, length(parent)) FROM hostile.edges LIMIT 5",
            "SELECT c.* FROM hostile.edges AS e, LATERAL {call} AS c LIMIT 50",
        ],
    ),
    (
        "parallel after writes",
        &[
            "BEGIN",
            "INSERT INTO hostile.edges VALUES ('par', 'n1', 'oak')",
            "SET LOCAL {parallel} = on",
            "SELECT * FROM {call}",
            "SELECT hostile.run_stable({q}, length(parent)) FROM hostile.edges LIMIT 5",
            "ROLLBACK",
        ],
    ),
    ("without rights", &["SET ROLE hostile_nobody", "SELECT * FROM {call}", "SELECT hostile.run({q}, 0)"]),
    ("reader", &["SET ROLE hostile_reader", "SELECT * FROM {call}", "SELECT hostile.run_definer({q}, 0)"]),
    (
        "owner",
        &[
            "SET SESSION AUTHORIZATION hostile_owner",
            "SELECT * FROM {call}",
            "BEGIN",
            "SELECT {call}",
            "ROLLBACK",
            "RESET SESSION AUTHORIZATION",
        ],
    ),
    (
        "while dropped",
        &[
            "CREATE TABLE scratch.dr{n} (parent text, child text)",
            "SELECT cft_attach('scratch.dr{n}')",
            "PREPARE d{n} AS SELECT * FROM cft_context('a', edges => 'scratch.dr{n}'), {call} AS c",
            "EXECUTE d{n}",
            "DROP TABLE scratch.dr{n}",
            "EXECUTE d{n}",
            "CREATE VIEW scratch.dr{n} AS SELECT 'a' AS parent, 'b' AS child",
            "EXECUTE d{n}",
            "DEALLOCATE d{n}",
        ],
    ),
    (
        "no statement timeout",
        &[
            "SET statement_timeout = '5ms'",
            "SELECT * FROM {call}, generate_series(1, 20)",
            "SELECT hostile.run({q}, i) FROM generate_series(1, 1000) AS i",
        ],
    ),
    (
        "after detach",
        &[
            "BEGIN",
            "SELECT cft_detach('hostile.edges')",
            "SELECT * FROM {call}",
            "SELECT cft_attach('hostile.edges', tree => 'tree')",
            "INSERT INTO hostile.edges VALUES ('again', 'n1', 'oak')",
            "SELECT * FROM {call}",
            "ROLLBACK",
            "SELECT * FROM {call}",
        ],
    ),
    (
        "after build",
        &[
            "SELECT cft_build('hostile.edges')",
            "SELECT * FROM {call}",
            "BEGIN",
            "SELECT cft_build('hostile.edges')",
            "SELECT * FROM {call}",
            "SELECT cft_build('hostile.numbers')",
            "ROLLBACK",
        ],
    ),
    (
        "operator",
        &[
            "CREATE OPERATOR scratch.@@# (RIGHTARG = text, FUNCTION = hostile.nothing_of_the_kind)",
            "CREATE CAST (text AS regclass) WITH FUNCTION {call}",
            "SELECT {call}::text::regclass, ARRAY({call}), ARRAY[{call}], ROW({call})",
        ],
    ),
];

/// Settings that a session may get for one call.
pub const SETTINGS: &[&str] = &[
    "search_path = front, pg_catalog, public, hostile",
    "search_path = ''",
    "search_path = pg_temp, front, hostile, public",
    "cftrag.enable = off",
    "cftrag.build_in_place_limit = 0",
    "cftrag.build_in_place_limit = '1TB'",
    "cftrag.build_in_place_limit = -5",
    "cftrag.build_beside_writers = on",
    "cftrag.enable = 'perhaps'",
    "cftrag.memory_limit = '1MB'",
    "cftrag.nothing = 1",
    "work_mem = '64kB'",
    "row_security = off",
    "default_transaction_isolation = 'serializable'",
    "default_transaction_read_only = on",
    "default_transaction_deferrable = on",
    "jit_above_cost = 0",
    "plan_cache_mode = force_custom_plan",
    "session_replication_role = replica",
    "client_encoding = 'LATIN1'",
    "client_encoding = 'SQL_ASCII'",
    "standard_conforming_strings = off",
    "bytea_output = 'escape'",
    "DateStyle = 'German'",
    "lc_messages = 'C'",
    "quote_all_identifiers = on",
    "transform_null_equals = on",
    "array_nulls = off",
    "enable_indexscan = off",
    "enable_seqscan = off",
    "ignore_system_indexes = on",
    "default_table_access_method = 'nothing'",
    "default_tablespace = 'nothing'",
    "check_function_bodies = off",
    "client_min_messages = debug5",
    "statement_timeout = '3ms'",
    "lock_timeout = '1ms'",
    "temp_tablespaces = ''",
    "vacuum_freeze_min_age = 0",
    "xmloption = document",
];
