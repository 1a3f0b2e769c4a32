#!/bin/bash
# kill -9 of the postmaster while a prepared transaction and an open one have changed the table: exact before and after COMMIT PREPARED and
# ROLLBACK PREPARED, before the crash and after the restart.
. "${0%/*}/lib.sh"; story "$@"
expect_crash
server a
small a edges
exact a edges image

change="INSERT INTO edges VALUES ('t1', 'n3', 'p'), ('t9', 'p', 'q'); DELETE FROM edges WHERE child = 'n9'; UPDATE edges SET parent = 'n2' WHERE child = 'n11'"

# First without a crash: the image itself carries the prepared changes.
is "prepare" "$(try a "BEGIN; $change; PREPARE TRANSACTION 'one'")" ""
before=$(built a edges)
exact a edges image
is "rollback prepared" "$(try a "ROLLBACK PREPARED 'one'")" ""
exact a edges image
is "prepare" "$(try a "BEGIN; $change; PREPARE TRANSACTION 'two'")" ""
exact a edges image
is "commit prepared" "$(try a "COMMIT PREPARED 'two'")" ""
exact a edges image
is "all that by one image" "$(built a edges)" "$before"

for end in COMMIT ROLLBACK; do
    is "prepare" "$(try a "BEGIN; INSERT INTO edges VALUES ('$end', 'n4', 'r$end'); SAVEPOINT s; INSERT INTO edges VALUES ('$end', 'n4', 's$end');
        RELEASE s; DELETE FROM edges WHERE child = 'n1${#end}'; PREPARE TRANSACTION '$end'")" ""
    open s a
    is "open transaction" "$(ask s "BEGIN; INSERT INTO edges VALUES ('open', 'n1', 'o');")" ""
    exact_in s edges image
    kill_server a; close s
    start a
    is "$end: the prepared transaction is there" "$(sql a "SELECT gid FROM pg_prepared_xacts")" "$end"
    # The prepared transaction holds its lock on the table, so neither a reader nor the owner can build yet.
    exact a edges no_image
    like "$end: cft_build waits" "$(try a "SET lock_timeout = '100ms'; SET statement_timeout = '5s'; SELECT cft_build('edges')")" "*55P03*"
    # A reader that began before the prepared transaction ended, and reads afterwards.
    open old a
    like "old snapshot" "$(ask old "BEGIN ISOLATION LEVEL REPEATABLE READ; $(how_sql edges);")" "no_image, *"
    is "write beside it" "$(try a "INSERT INTO edges VALUES ('beside', 'n4', 'b$end')")" ""
    exact a edges no_image
    is "$end prepared" "$(try a "$end PREPARED '$end'")" ""
    exact a edges image
    exact_in old edges old_snapshot
    is "end" "$(ask old "COMMIT;")" ""
    exact_in old edges image
    close old
    is "$end: its row" "$(sql a "SELECT count(*) FROM edges WHERE child IN ('r$end', 's$end')")" "$([ $end = COMMIT ] && echo 2 || echo 0)"
    is "$end: the open transaction's row" "$(sql a "SELECT count(*) FROM edges WHERE child = 'o'")" 0
done

# An immediate stop also leaves a prepared transaction.
is "prepare" "$(try a "BEGIN; $change; PREPARE TRANSACTION 'three'")" ""
as_postgres "$BIN/pg_ctl" -D "$LIFE/a/data" -m immediate -w stop >/dev/null || note "immediate stop"
start a
exact a edges no_image
is "commit prepared" "$(try a "COMMIT PREPARED 'three'")" ""
exact a edges image
finish
