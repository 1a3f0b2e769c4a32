#!/bin/bash
# The deadlocks that a builder beside writers must avoid (docs/design.md, section 6): with a writer that takes a stronger lock, with a session that
# waits for old snapshots, with one that queues for a lock; and a scan gives way. Each command that could wait for the builder ends soon, without an
# error.
. "${0%/*}/lib.sh"; story "$@"
server a cftrag.build_in_place_limit=1kB deadlock_timeout=200ms
ROWS=100000
big a edges $ROWS
SOME="ARRAY['n0','n1','n7','n9999','x1','x2','x3'], 9, 2"
sql a "$(until_phase_sql)"
idle() { value_is a "SELECT count(*) FROM pg_stat_progress_cftrag" 0; }
ready() { [ "$(state a edges)" = ready ]; }
soon="SET statement_timeout = '10s'; SET lock_timeout = '10s'"
open w a; open b a; open d a
held() { is "a writer" "$(ask w "$soon; BEGIN; INSERT INTO edges VALUES ('t', 'n1', '$1');")" ""; }
waits() { like "the build waits" "$(try a "SELECT until_phase('waiting for writers')")" "[1-9]*"; }
waiting() { value_is a "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'edges'::regclass" 1; }

# 1. The builder waits for the writer's end; the writer wants a lock that conflicts with any lock the builder could hold.
held x1
send b "SELECT cft_build('edges');"
waits
is "the writer alters the table" "$(ask w "ALTER TABLE edges ADD COLUMN note text; LOCK TABLE edges IN ACCESS EXCLUSIVE MODE; INSERT INTO edges VALUES ('t', 'n2', 'x1'); COMMIT;")" ""
is "the build" "$(answer b)" ""
exact a edges image "$SOME"

# 2. The builder waits for a writer; CREATE INDEX CONCURRENTLY waits for the builder's snapshot, and holds a lock that the builder waits for.
is "rewritten" "$(try a "VACUUM FULL edges")" ""
held x2
try a "SELECT count(*) FROM cft_context('n1', 1, 1, 'edges')" >/dev/null
waits
send d "$soon; CREATE INDEX CONCURRENTLY later ON edges (note);"
until_true "$PATIENCE" value_is a "SELECT count(*) FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting%'" 1 || note "the index does not wait"
is "the writer ends" "$(ask w "COMMIT;")" ""
is "the index" "$(answer d)" ""
is "it is valid" "$(sql a "SELECT indisvalid FROM pg_index WHERE indexrelid = 'later'::regclass")" t
until_true "$PATIENCE" ready || note "the build does not end beside an index"
exact a edges image "$SOME"

# 3. cft_build's caller waits for the builder, the builder for a session that queued for the table before it, and that session for the caller.
held x3
send b "SELECT cft_build('edges');"
waits
send d "$soon; ALTER TABLE edges DROP COLUMN note;"
until_true "$PATIENCE" waiting || note "the ALTER does not queue"
is "the writer ends" "$(ask w "COMMIT;")" ""
is "the ALTER" "$(answer d)" ""
is "the build" "$(answer b)" ""
until_true "$PATIENCE" idle || note "the build does not end"
is "build" "$(try a "SELECT cft_build('edges')")" ""
exact a edges image "$SOME"

# 4. A caller that already has a lock on the table: what it waits for must not wait for it.
for mode in "ACCESS SHARE" "ROW EXCLUSIVE" "SHARE UPDATE EXCLUSIVE" "SHARE"; do
    is "$mode of one's own" "$(try a "$soon; BEGIN; LOCK TABLE edges IN $mode MODE; SELECT cft_build('edges'); COMMIT")" ""
    exact a edges image "$SOME"
done
held x4
is "reads" "$(ask b "$soon; BEGIN; SELECT count(*) FROM edges WHERE child = 'n1';")" 1
send b "SELECT cft_build('edges');"
sleep 0.3
send d "$soon; ALTER TABLE edges ADD COLUMN note text;"
sleep 0.3
is "the writer ends" "$(ask w "COMMIT;")" ""
is "a build in a transaction that has read" "$(answer b)" ""
is "its end" "$(ask b "COMMIT; RESET statement_timeout; RESET lock_timeout;")" ""
is "the ALTER" "$(answer d)" ""
is "build" "$(try a "SELECT cft_build('edges')")" ""
exact a edges image "$SOME"

# 5. CREATE INDEX CONCURRENTLY waits for the caller's snapshot, and the build does not wait for it, whichever comes first.
index() { send d "$soon; CREATE INDEX CONCURRENTLY beside ON edges (note);"; until_true "$PATIENCE" value_is a "SELECT count(*) FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting%'" 1 || note "the index does not wait"; }
for first in index build; do
    held x5
    [ $first = build ] || index
    send b "SELECT cft_build('edges');"
    waits
    [ $first = index ] || index
    is "the writer ends" "$(ask w "COMMIT;")" ""
    is "an index beside a build, $first first" "$(answer d)" ""
    is "the build" "$(answer b)" ""
    is "it is valid" "$(sql a "SELECT indisvalid FROM pg_index WHERE indexrelid = 'beside'::regclass; DROP INDEX beside")" t
    until_true "$PATIENCE" idle || note "the build does not end"
done
is "build" "$(try a "SELECT cft_build('edges')")" ""
exact a edges image "$SOME"

# A scan that blocks another session ends early, so that no session waits for the whole scan, and begins anew. Maintenance goes on beside it.
sql a "INSERT INTO edges SELECT 't', 'm' || n / 10, 'm' || n FROM generate_series(1, 300000) AS n"
for command in "LOCK TABLE edges IN ACCESS EXCLUSIVE MODE" "CREATE INDEX more ON edges (tree); DROP INDEX more" "ANALYZE edges" "VACUUM edges" "TRUNCATE edges"; do
    send b "SELECT cft_build('edges');"
    like "the scan" "$(try a "SELECT until_phase('scanning table')")" "[1-9]*"
    begun=$(date +%s%N)
    # shellcheck disable=SC2015
    [[ $command != LOCK* ]] && answered=$(ask d "$soon; $command;") || answered=$(ask d "$soon; BEGIN; $command; COMMIT;")
    is "$command" "$answered" ""
    [[ $command == CREATE* || $command == VACUUM* || $(($(date +%s%N) - begun)) -lt 1500000000 ]] || note "$command waits $(($(date +%s%N) - begun)) ns"
    is "$command: the build" "$(answer b)" ""
    exact a edges image "$SOME"
done
# A VACUUM that is under way keeps no build away.
sql a "INSERT INTO edges SELECT 't', 'm' || n / 10, 'm' || n FROM generate_series(1, 100000) AS n; DELETE FROM edges WHERE child LIKE 'm%7'"
send d "SET vacuum_cost_delay = 50; SET vacuum_cost_limit = 100; VACUUM edges;"
until_true "$PATIENCE" value_is a "SELECT count(*) FROM pg_stat_progress_vacuum" 1 || note "no VACUUM"
is "a build beside VACUUM" "$(try a "SET statement_timeout = '20s'; SELECT cft_build('edges')")" ""
is "VACUUM goes on" "$(sql a "SELECT count(*) FROM pg_stat_progress_vacuum")" 1
exact a edges image "$SOME"
sql a "SELECT pg_cancel_backend(pid) FROM pg_stat_progress_vacuum" >/dev/null
answer d >/dev/null
close w; close b; close d
finish
