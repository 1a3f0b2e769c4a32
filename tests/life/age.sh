#!/bin/bash
# The commit log is truncated while an image holds row versions of its transactions; then xids pass 2^32 while the image holds others.
. "${0%/*}/lib.sh"; story "$@"

# jump NAME XID: makes XID the next transaction of the stopped server, where everything older must be frozen
jump() {
    local segment
    segment=$(printf '%04X' $(($2 / 1048576)))
    as_postgres "$BIN/pg_resetwal" -f -x "$2" "$LIFE/$1/data" >/dev/null 2>"$LIFE/error" || broken "pg_resetwal: $(cat "$LIFE/error")"
    as_postgres truncate -s 256K "$LIFE/$1/data/pg_xact/$segment"
}
freeze() {
    local db
    sql "$1" "UPDATE pg_database SET datallowconn = true"
    for db in $(sql "$1" "SELECT datname FROM pg_database"); do sql "$1/$db" "VACUUM FREEZE"; done
}
burn() { sql "$1" "SET synchronous_commit = off; DO \$\$ BEGIN FOR i IN 1..$2 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END \$\$"; }
# Changes whose outcome the image must look up in the commit log: committed and rolled back, also in subtransactions.
changes() {
    sql "$1" "INSERT INTO edges VALUES ('t1', 'n3', 'c$2'); DELETE FROM edges WHERE child = 'n$2'; UPDATE edges SET parent = 'n2' WHERE child = 'n$(($2 + 10))';
        BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'r$2'); DELETE FROM edges WHERE child = 'n$(($2 + 1))'; $(how_sql edges); ROLLBACK;
        BEGIN; SAVEPOINT s; INSERT INTO edges VALUES ('t1', 'n3', 's$2'); $(how_sql edges); ROLLBACK TO s; INSERT INTO edges VALUES ('t1', 'n3', 't$2'); COMMIT;
        BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'p$2'); DELETE FROM edges WHERE child = 'n$(($2 + 2))'; PREPARE TRANSACTION 'p$2'; ROLLBACK PREPARED 'p$2'" >/dev/null
}
next() { sql "$1" "SELECT pg_snapshot_xmax(pg_current_snapshot())"; }

# 1. The commit log's first segment ends at transaction 1048576.
server a autovacuum_freeze_max_age=100000 cftrag.build_in_place_limit=10MB
small a edges; small a other
stop a; jump a 1048000; start a autovacuum_freeze_max_age=100000
exact a edges image; exact a other image
for i in 4 14; do changes a $i; done
sql a "BEGIN; DELETE FROM other WHERE child = 'n4'; $(how_sql other); ROLLBACK; INSERT INTO other VALUES ('t1', 'n3', 'c')" >/dev/null
exact a edges image
versions=$(sql a "SELECT versions > 0 FROM pg_stat_cftrag WHERE edges = 'other'::regclass")
is "the image holds versions" "$versions" t
burn a 3000
freeze a
is "the segment is gone" "$([ -e "$LIFE/a/data/pg_xact/0000" ] && echo there)" ""
like "edges" "$(try a "$(how_sql edges)")" "@(image|xid_too_old|xid_too_old+incomplete|incomplete|xid_too_old+image), * rows"
like "other" "$(try a "$(how_sql other)")" "@(image|xid_too_old|xid_too_old+incomplete|incomplete|xid_too_old+image), * rows"
exact a edges image; exact a other image
changes a 24
exact a edges image; exact a other image
stop a

# 2. 2^32: three jumps of less than 2^31 each.
for xid in 1500000000 3000000000 4294966400; do
    jump a $xid; start a
    freeze a
    [ $xid = 4294966400 ] || stop a
done
exact a edges image
before=$(built a edges)
open old a
is "an old snapshot" "$(ask old "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;")" 1
changes a 4
open w a
is "a transaction from before" "$(ask w "BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'w'); DELETE FROM edges WHERE child = 'n30';")" ""
exact_in w edges image
burn a 2000
[ "$(next a)" -gt 4294967296 ] || note "not past 2^32: $(next a)"
changes a 14
for s in old w; do exact_in $s edges image; done
exact a edges image
is "commit" "$(ask w "COMMIT;")" ""
exact_in old edges image
exact a edges image
is "by one image" "$(built a edges)" "$before"
open mid a
is "a snapshot from after" "$(ask mid "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;")" 1
changes a 24
is "build" "$(try a "SELECT cft_build('edges')")" ""
exact_in old edges old_snapshot
exact_in mid edges old_snapshot
exact a edges image
is "end" "$(ask old "COMMIT;")$(ask mid "COMMIT;")" ""
exact_in old edges image
close old; close w; close mid
sql a "VACUUM FREEZE"
exact a edges image
finish
