#!/bin/bash
# Images are there after a start, a crash and a promotion without anybody asking; cftrag.build_on_start = off leaves them to the first reader.
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
    is "$1: the launcher" "$(sql a "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cftrag launcher'")" 1
}

again() { stop a; start a "$@"; }

again cftrag.build_in_place_limit=0; all_ready "after a restart"
open s a
kill_backend a "$(pid_of s)"
close s
all_ready "after a crash"

# A table whose writers stay is left to its readers; the others are built.
is "prepare" "$(try a "BEGIN; INSERT INTO edges VALUES ('t1', 'n1', 'late'); PREPARE TRANSACTION 'x'")" ""
again cftrag.build_in_place_limit=0
until_true "$PATIENCE" ready a/two 'ready ready' || note "a prepared transaction keeps the others from being built"
exact a edges no_image
is "commit prepared" "$(try a "COMMIT PREPARED 'x'")" ""

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
finish
