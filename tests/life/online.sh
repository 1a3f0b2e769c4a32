#!/bin/bash
# Building beside writers: no session waits for the builder, the builder waits for none that waits for it, and the image contains what is written
# meanwhile.
. "${0%/*}/lib.sh"; story "$@"
server a cftrag.build_in_place_limit=1kB
sql a "CREATE TABLE edges (tree text, parent text, child text); CREATE INDEX ON edges (parent); CREATE INDEX ON edges (child);
    INSERT INTO edges SELECT 't' || n % 3, 'n' || n / 5, 'n' || n FROM generate_series(1, 20000) AS n; SELECT cft_attach('edges', tree => 'tree')" >/dev/null
names="names => ARRAY['n1','n7','n4000','new1','new2','new3','gone','late']"
ready() { [ "$(state a edges)" = ready ]; }
phase() { value_is a "SELECT phase FROM pg_stat_progress_cftrag" "$1"; }
idle() { value_is a "SELECT count(*) FROM pg_stat_progress_cftrag" 0; }
sound() { is "verify $1" "$(try a "SELECT * FROM cft_verify('edges')")" ""; }

# A reader of a large table asks for a worker, and does not wait for it.
is "the first answer" "$(try a "SELECT relative FROM cft_context('n7', 1, 0, 'edges')")" "n1"
until_true "$PATIENCE" ready || note "no worker built the image"
exact a edges image "$names"

# The builder waits for a writer; meanwhile others write and read.
open w a; open b a
ask w "BEGIN; INSERT INTO edges VALUES ('t1', 'n1', 'new1'); DELETE FROM edges WHERE child = 'n7';" >/dev/null
send b "SELECT cft_build('edges');"
until_true "$PATIENCE" phase 'waiting for writers' || note "the build does not wait for the writer"
is "no prepared transaction" "$(try a "SELECT count(waits_for_gid) FROM pg_stat_progress_cftrag")" 0
is "the build waits for the writer" "$(try a "SELECT waits_for FROM pg_stat_progress_cftrag")" "$(pid_of w)"
is "a write beside it" "$(try a "SET statement_timeout = '10s'; INSERT INTO edges VALUES ('t1', 'n1', 'new2'); DELETE FROM edges WHERE child = 'n4000'; UPDATE edges SET parent = 'new2' WHERE child = 'n12'")" ""
exact a edges image "$names"
is "no lock on the table while it waits" "$(try a "SELECT count(*) FROM pg_locks WHERE relation = 'edges'::regclass AND pid = (SELECT builder FROM pg_stat_progress_cftrag)")" 0
# A transaction that reads its own changes puts them into the log before it commits or rolls back.
open r a
ask r "BEGIN; INSERT INTO edges VALUES ('t1', 'n1', 'gone'); SAVEPOINT s; INSERT INTO edges VALUES ('t1', 'n1', 'late'); DELETE FROM edges WHERE child = 'n9';" >/dev/null
exact_in r edges image "$names"
ask r "ROLLBACK TO s; INSERT INTO edges VALUES ('t1', 'late', 'n1');" >/dev/null
is "prepared beside it" "$(try a "BEGIN; INSERT INTO edges VALUES ('t2', 'n1', 'new3'); PREPARE TRANSACTION 'x'")" ""
ask w "COMMIT;" >/dev/null
is "cft_build" "$(answer b)" ""
exact a edges image "$names"
exact_in r edges image "$names"
ask r "ROLLBACK;" >/dev/null
exact a edges image "$names"; sound "after a rollback"
is "commit prepared" "$(try a "COMMIT PREPARED 'x'")" ""
exact a edges image "$names"; sound "after a prepared transaction"

# A prepared transaction, of the very session that waits for the build, is shown by its gid.
ask b "BEGIN; INSERT INTO edges VALUES ('t1', 'n2', 'mine'); PREPARE TRANSACTION 'mine';" >/dev/null
send b "SELECT cft_build('edges');"
until_true "$PATIENCE" phase 'waiting for writers' || note "the build does not wait for a prepared transaction"
is "the gid" "$(try a "SELECT waits_for, waits_for_gid FROM pg_stat_progress_cftrag")" "|mine"
is "commit prepared" "$(try a "COMMIT PREPARED 'mine'")" ""
is "cft_build" "$(answer b)" ""
exact a edges image "$names"

# No deadlock: while DDL waits for the writer, the builder holds no lock that the DDL needs.
ask w "BEGIN; INSERT INTO edges VALUES ('t1', 'n2', 'new4');" >/dev/null
send b "SELECT cft_build('edges');"
until_true "$PATIENCE" phase 'waiting for writers' || note "the second build does not wait"
open d a
send d "ALTER TABLE edges ADD COLUMN remark text;"
ask w "COMMIT;" >/dev/null
is "ALTER TABLE beside a build" "$(answer d)" ""
like "cft_build beside ALTER TABLE" "$(answer b)" "*"
is "build again" "$(try a "SELECT cft_build('edges')")" ""
exact a edges image "$names"; sound "after DDL"

# lock_timeout ends a build, and so does terminating its worker: the old image serves on.
ask w "BEGIN; INSERT INTO edges VALUES ('t1', 'n2', 'new5');" >/dev/null
like "lock_timeout" "$(try a "SET lock_timeout = '300ms'; SELECT cft_build('edges')")" "*55P03*"
until_true "$PATIENCE" idle || note "the worker outlives its caller"
exact a edges image "$names"
send b "SELECT cft_build('edges');"
until_true "$PATIENCE" phase 'waiting for writers' || note "the third build does not wait"
sql a "SELECT pg_terminate_backend(builder) FROM pg_stat_progress_cftrag" >/dev/null
until_true "$PATIENCE" idle || note "a terminated worker leaves its mark"
# cft_build itself waits for the writer, which pg_locks shows, and fails once the writer commits.
ask w "COMMIT;" >/dev/null
like "terminated worker" "$(answer b)" "*55000*"
exact a edges image "$names"; sound "after a terminated build"
is "build after all" "$(try a "SELECT cft_build('edges')")" ""

# cft_verify beside builds compares the table with one image, never with one newer than its snapshot.
open v a; open u a
until=$(try a "SELECT clock_timestamp() + '6s'")
loop() { echo "SET client_min_messages = warning; DO \$\$ DECLARE found text; BEGIN LOOP $1; COMMIT; EXIT WHEN clock_timestamp() > '$until'; END LOOP; END \$\$;"; }
# (cft_verify may also fail because writers leave it no moment, which is not a difference.)
verify="BEGIN SELECT string_agg(x::text, ', ') INTO found FROM (SELECT * FROM cft_verify('edges') LIMIT 3) AS x; EXCEPTION WHEN object_in_use THEN found := NULL; END; IF found IS NOT NULL THEN RAISE '%', found; END IF"
send b "SET cftrag.build_in_place_limit = '1GB'; $(loop "PERFORM cft_build('edges')")"
send w "$(loop "WITH gone AS (DELETE FROM edges WHERE ctid IN (SELECT ctid FROM edges ORDER BY random() LIMIT 5) RETURNING tree, parent)
    INSERT INTO edges SELECT tree, parent, 'v' || (random() * 20000)::int FROM gone")"
send u "$(loop "$verify")"
is "verify beside builds" "$(ask v "$(loop "$verify")")$(answer u)" ""
is "builds beside verify" "$(answer b)" ""
is "writes beside verify" "$(answer w)" ""
sound "after all"

# Without workers cft_build builds under a SHARE lock, and readers build nothing.
server c cftrag.build_in_place_limit=1kB max_worker_processes=0 max_logical_replication_workers=0
sql c "CREATE TABLE edges (tree text, parent text, child text); INSERT INTO edges VALUES ('t', 'a', 'b'); SELECT cft_attach('edges', tree => 'tree')" >/dev/null
exact c edges no_image
is "build without a worker" "$(try c "SELECT cft_build('edges')")" ""
exact c edges image
finish
