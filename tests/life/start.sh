#!/bin/bash
# After a start, a promotion and a crash restart images are built without a reader; with cftrag.build_on_start = off, the first reader builds them.
. "${0%/*}/lib.sh"; story "$@"
expect_crash
PRELOAD=cftrag
server a cftrag.build_in_place_limit=0
small a edges
sql a "CREATE DATABASE two" >/dev/null
sql a/two "CREATE EXTENSION cftrag CASCADE; CREATE TABLE edges (parent text, child text); INSERT INTO edges VALUES ('a', 'b'); SELECT cft_attach('edges'); CREATE TABLE other (parent text, child text); SELECT cft_attach('other')" >/dev/null
ready() { [ "$(try "$1" "SELECT string_agg(state, ' ' ORDER BY edges::text) FROM pg_stat_cftrag")" = "$2" ]; }
idle() { [ "$(try a "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cftrag builder'")" = 0 ]; }
all_ready() {
    until_true "$PATIENCE" ready a ready || note "$1: no image of edges"
    until_true "$PATIENCE" ready a/two 'ready ready' || note "$1: no images in the other database"
    exact a edges image
    until_true "$PATIENCE" idle || note "$1: a worker stays"
}

again() { stop a; start a "$@"; }

again cftrag.build_in_place_limit=0; all_ready "after a restart"
again cftrag.build_in_place_limit=1kB
open s a
kill_backend a "$(pid_of s)"
close s
all_ready "after a crash"
again cftrag.build_in_place_limit=0

# A table with an open writer is skipped, and the others are built.
many=(m1 m2 m3 m4 m5 m6)
for t in "${many[@]}" last; do small a "$t"; done
# What was asked most comes first.
sql a "SELECT count(*) FROM generate_series(1, 50) AS n, LATERAL cft_context('n' || n, edges => 'last')" >/dev/null
again cftrag.build_in_place_limit=0
all_built() { [ "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready'")" = 8 ]; }
until_true "$PATIENCE" all_built || note "not all images are built"
is "the first" "$(sql a "SELECT edges FROM pg_stat_cftrag ORDER BY built_at LIMIT 1")" last
# What stands in the file's place is not opened.
stop a; as_postgres sh -c "rm '$LIFE/a/data/pg_stat/cftrag.asked' && mkfifo '$LIFE/a/data/pg_stat/cftrag.asked'"; start a cftrag.build_in_place_limit=0
until_true "$PATIENCE" all_built || note "not all images are built beside a pipe"
is "prepare" "$(try a "BEGIN; $(printf "INSERT INTO %s VALUES ('t1', 'n1', 'late');" edges "${many[@]}") PREPARE TRANSACTION 'x'")" ""
again cftrag.build_in_place_limit=0
of_last() { [ "$(state a last)" = ready ]; }
until_true 5 of_last || note "a prepared transaction keeps a table behind it from being built"
until_true "$PATIENCE" ready a/two 'ready ready' || note "a prepared transaction keeps the others from being built"
exact a edges no_image
is "commit prepared" "$(try a "COMMIT PREPARED 'x'")" ""
# The skipped tables are built once their writer has ended.
put_off() { for t in edges "${many[@]}"; do [ "$(state a "$t")" = ready ] || return 1; done; }
until_true "$PATIENCE" put_off || note "a table that was put off is not built when its writer has ended"
# A prepared lock on a table delays no other table either.
is "prepare a lock" "$(try a "BEGIN; LOCK m1; PREPARE TRANSACTION 'y'")" ""
again cftrag.build_in_place_limit=0
until_true 5 of_last || note "a prepared lock keeps a table behind it from being built"
# What stays without an image is in the log, by name, and with whom it waits for.
xid=$(sql a "SELECT transaction FROM pg_prepared_xacts")
logged() { grep -A1 'the image of table "public.m1" is put off at server start' "$LIFE/a/log" | grep -q "written to it: $xid\."; }
until_true 30 logged || note "the log does not say what was put off"
is "commit prepared" "$(try a "COMMIT PREPARED 'y'")" ""
for t in "${many[@]}" last; do sql a "DROP TABLE $t"; done

# A standby builds nothing, until it is promoted.
stop a; as_postgres touch "$LIFE/a/data/standby.signal"
start a cftrag.build_in_place_limit=0
exact a edges recovery
is "promotion" "$(try a "SELECT pg_promote()")" t
all_ready "after a promotion"

again cftrag.build_in_place_limit=0 cftrag.build_on_start=off
sleep 1
is "off" "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready'")" 0
exact a edges no_image
# The first question that would read the whole table waits for the image, though others commit meanwhile; not if the table itself has changed
# since its snapshot, nor for a build that waits for writers, nor where that is not wanted.
again cftrag.build_in_place_limit=1kB cftrag.build_on_start=off
big a large 300000
sql a "CREATE TABLE elsewhere (n int)"
calls() { sql a "SELECT state, image_calls > 0, reference_calls FROM pg_stat_cftrag WHERE edges = 'large'::regclass"; }
asked="SELECT count(*) FROM cft_entities('n77 and n299999', edges => 'large')"
anew() { sql a "SELECT cft_detach('large'); SELECT cft_attach('large', tree => 'tree'); SELECT cft_stats_reset()" >/dev/null; }
# A machine that is busy may build more slowly than the wait lasts, or start no worker in time.
by_image() {
    anew
    (for ((n = 0; n < 3000; n++)); do echo "INSERT INTO elsewhere VALUES ($n);"; done | psql a >/dev/null 2>&1) &
    is "asked" "$(try a "$asked")" 2
    wait $!
    [ "$(sql a "SELECT image_calls > 0 AND reference_calls = 0 OR build_ms > 1000 FROM pg_stat_cftrag WHERE edges = 'large'::regclass")" = t ]
}
until_true "$PATIENCE" by_image || note "the image does not answer: $(calls)"
anew
is "does not wait" "$(try a "SET cftrag.wait_for_image = off; $asked")" 2
like "the definition answered" "$(calls)" "*|f|1"
anew
is "prepare a write" "$(try a "BEGIN; INSERT INTO large VALUES ('t', 'n1', 'late'); PREPARE TRANSACTION 'y'")" ""
is "does not wait for a writer" "$(try a "$asked")" 2
like "the definition answered beside a writer" "$(calls)" "*|f|1"
is "commit prepared" "$(try a "COMMIT PREPARED 'y'")" ""
finish
