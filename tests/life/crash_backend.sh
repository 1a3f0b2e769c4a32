#!/bin/bash
# kill -9 of a backend: with flushed, uncommitted changes; inside cft_build; inside a big transaction and its COMMIT. The crash restart
# empties shared memory; then the image is rebuilt and exact.
. "${0%/*}/lib.sh"; story "$@"
expect_crash
server a cftrag.build_in_place_limit=1MB cftrag.build_on_start=off
small a edges
big a big 150000
SOME="ARRAY['n0','n1','n7','n70','n701','n14999','x5','n150007'], 9, 2"

empty() { is "$1: the image is empty after the restart" "$(try a "SELECT count(*) FROM pg_stat_cftrag WHERE state NOT IN ('none') OR entities > 0")" 0; }

# 1. Changes that are flushed but not committed, because their own transaction has read them.
exact a edges image
open s a
is "session" "$(ask s "BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'new'); DELETE FROM edges WHERE child = 'n9';")" ""
exact_in s edges image
exact a edges image
kill_backend a "$(pid_of s)"; close s
empty "uncommitted"
is "the uncommitted row is gone" "$(sql a "SELECT count(*) FROM edges WHERE child = 'new'")" 0
exact a edges image

# 2. Inside cft_build.
open s a
pid=$(pid_of s)
send s "SELECT cft_build('big');"
until_true 20 value_is a "SELECT state FROM pg_stat_cftrag WHERE edges = 'big'::regclass" building || note "never saw the build"
kill_backend a "$pid"; close s
empty "build"
exact a edges image
exact a big '*image' "$SOME"
is "build again" "$(try a "SELECT cft_build('big')")" ""
exact a big image "$SOME"

# 3. Inside the INSERT (past the cap, so part of it is in the image), then inside the COMMIT. The server itself watches for the moment.
insert="INSERT INTO big SELECT 't', 'n' || n / 10, 'n' || n FROM generate_series(150001, 450000) AS n"
at() {  # at PID QUERY DELAY [SERVER]: the server kills PID that many seconds after it has begun QUERY
    sql "${4:-a}" "DO \$\$ BEGIN
        WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND query LIKE '$2%') LOOP
            PERFORM pg_stat_clear_snapshot(), pg_sleep(0.0005);
        END LOOP;
        PERFORM pg_sleep($3);
        COPY (SELECT 1) TO PROGRAM 'kill -9 $1';
        END \$\$"
}
for when in "INSERT 0.8" "COMMIT 0" "COMMIT 0.02"; do
    before=$(restarts a)
    open s a
    pid=$(pid_of s)
    query="BEGIN; $insert;"
    [[ $when == INSERT* ]] || { is "insert" "$(ask s "$query")" ""; query="COMMIT;"; }
    # Watches before the query begins, since a COMMIT is short.
    # shellcheck disable=SC2086
    (at "$pid" $when) >/dev/null 2>&1 &
    sleep 0.3
    send s "$query"
    restarted a "$before"; close s
    empty "$when"
    rows=$(sql a "SELECT count(*) FROM big")
    case $when/$rows in INSERT*/150000 | COMMIT*/150000) ;; COMMIT*/450000) ;; *) note "$when: $rows rows" ;; esac
    exact a edges image
    is "build after $when" "$(try a "SELECT cft_build('big')")" ""
    exact a big image "$SOME"
    [ "$rows" = 150000 ] || sql a "DELETE FROM big WHERE substr(child, 2)::int > 150000; SELECT cft_build('big')" >/dev/null
done
exact a big image "$SOME"
stop a

# 4. Between the flush (PRE_COMMIT, or PREPARE) and the moment when others see the changes: commit_delay sleeps there.
server c fsync=on commit_delay=100000 commit_siblings=0 cftrag.build_on_start=off
small c edges
exact c edges image
for end in COMMIT PREPARE "COMMIT PREPARED" "ROLLBACK PREPARED"; do
    open s c
    pid=$(pid_of s)
    change="BEGIN; INSERT INTO edges VALUES ('t1', 'n3', '$end'); DELETE FROM edges WHERE child = 'n9'; UPDATE edges SET parent = 'n2' WHERE child = 'n11'"
    case $end in
        COMMIT) is "change" "$(ask s "$change;")" ""; query="COMMIT;" ;;
        PREPARE) is "change" "$(ask s "$change;")" ""; query="PREPARE TRANSACTION 'k';" ;;
        *) is "prepared" "$(ask s "$change; PREPARE TRANSACTION 'k';")" ""; query="$end 'k';" ;;
    esac
    exact c edges "@(image|no_image)"
    before=$(restarts c)
    (at "$pid" "$end" 0.03 c) >/dev/null 2>&1 &
    sleep 0.3
    send s "$query"
    restarted c "$before"; close s
    # The crash came before or after the commit or prepare, for all three changes alike.
    prepared=$(sql c "SELECT count(*) FROM pg_prepared_xacts")
    exact c edges "$([ "$prepared" = 0 ] && echo image || echo no_image)"
    [ "$prepared" = 0 ] || is "finish" "$(try c "COMMIT PREPARED 'k'")" ""
    exact c edges image
    sql c "DELETE FROM edges WHERE child = '$end'; INSERT INTO edges VALUES ('t1', 'n3', 'n9')"
    exact c edges image
done
finish
