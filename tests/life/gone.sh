#!/bin/bash
# A build is cancelled or terminated, or its table, triggers, extension or database dropped, in each phase: no worker stays and no memory leaks.
# Under a limit that one image fills, it can be built again afterwards. Preloaded, so that who drops has the library.
. "${0%/*}/lib.sh"; LIFE_PRELOAD=cftrag; story "$@"
server a cftrag.build_in_place_limit=1kB cftrag.build_on_start=off
sql a "$(until_phase_sql)"
ROWS=100000
SOME="ARRAY['n0','n1','n7','n9999','x5'], 9, 2"
big a keeper $ROWS
is "build" "$(try a "SELECT cft_build('keeper')")" ""
exact a keeper image "$SOME"
# A limit of the image's own chunks and less than another one: the smallest has 64 kB.
kb=$(sql a "SELECT sum(memory_bytes) / 1024 FROM pg_stat_cftrag"); kb=${kb%.*}
sql a "SELECT cft_detach('keeper'); ALTER SYSTEM SET cftrag.memory_limit = '$((kb + 32))kB'; SELECT pg_reload_conf()" >/dev/null
idle() { value_is "$1" "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cftrag builder'" 0; }

# interrupted DB PHASE WHAT CMD...: runs CMD while a build of DB's table "edges" is in PHASE; afterwards no builder must remain.
interrupted() {
    local db=$1 phase=$2 what=$3; shift 3
    open w "$db"; open b "$db"
    is "a writer" "$(ask w "BEGIN; INSERT INTO edges VALUES ('t', 'n1', 'w');")" ""
    send b "SELECT cft_build('edges');"
    builder=$(sql "$db" "SELECT until_phase('waiting for writers')")
    if [ "$phase" != 'waiting for writers' ]; then
        send w "COMMIT;"
        builder=$(sql "$db" "SELECT until_phase('$phase')")
    fi
    "$@"
    send w "COMMIT;"
    # If the table is gone, the caller gets an error; if nothing stopped the build, it succeeds.
    like "$what, $phase: its caller" "$(answer b)" "@(*57014*|*55000*|*55P03*|*57P01*|*42P01*|*42883*|*no answer|)"
    until_true "$PATIENCE" idle a || note "$what, $phase: a builder stays"
    close w; close b
}
rebuilt() {
    is "$1: no progress" "$(sql a "SELECT count(*) FROM pg_stat_progress_cftrag")" 0
    sql a "DROP TABLE IF EXISTS edges; SELECT cft_attach('keeper', tree => 'tree')" >/dev/null
    is "$1: room as before" "$(try a "SELECT cft_build('keeper')")" ""
    exact a keeper image "$SOME"
    sql a "SELECT cft_detach('keeper')" >/dev/null
}
cancel() { sql a "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT cft_build%' AND state = 'active'" >/dev/null; }
terminate() { sql a "SELECT pg_terminate_backend($builder)" >/dev/null; }
# A command that wants a lock on the table waits for the writer too, which commits a little later.
undo() {
    case $1 in
        # The builder ends at once, although the writer that it waited for goes on.
        cancel | terminate) $1; until_true 5 idle a || note "$1: the builder goes on" ;;
        *)  try a "SET client_min_messages = error; SET statement_timeout = '20s'; $1" >"$LIFE/undone" &
            sleep 0.2
            ask w "COMMIT;" >/dev/null
            wait $!
            is "$1" "$(cat "$LIFE/undone")" "" ;;
    esac
}
drop_database() { is "DROP DATABASE" "$(try a "DROP DATABASE other WITH (FORCE)")" ""; }

for phase in 'waiting for writers' 'scanning table'; do
    for what in cancel terminate "DROP TABLE edges" "SELECT cft_detach('edges')" "DROP EXTENSION cftrag CASCADE"; do
        big a edges $ROWS
        interrupted a "$phase" "$what" undo "$what"
        if [[ $what == *EXTENSION* ]]; then sql a "SET client_min_messages = error; DROP TABLE edges; DROP SCHEMA oracle CASCADE" >/dev/null; oracle a; fi
        rebuilt "$what, $phase"
    done
    sql a "CREATE DATABASE other"
    oracle a/other
    sql a/other "$(until_phase_sql)"
    big a/other edges $ROWS
    interrupted a/other "$phase" "drop database" drop_database
    rebuilt "drop database, $phase"
done
finish
