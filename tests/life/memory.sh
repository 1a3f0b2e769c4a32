#!/bin/bash
# Memory runs out in a COMMIT: it succeeds, the image goes and the reference query answers, and cft_build builds it again, or a later reader does. Tries the limit (in a COMMIT, in a long INSERT, in PREPARE, in a read of one's own changes, in cft_build), and a full /dev/shm,
# in a private mount namespace.
. "${0%/*}/lib.sh"; story "$@"
server a cftrag.memory_limit=8MB
SOME="ARRAY['n0','n1','n7','n70','n701','n1999','n20001'], 6, 2"
small a edges
exact a edges image
big a big 2000
exact a big image "$SOME"
more() { echo "INSERT INTO big SELECT 't', 'n' || n / 10, 'n' || n || repeat('x', 40) FROM generate_series(20001, ${1:-80000}) AS n"; }
set_limit() { sql a "ALTER SYSTEM SET cftrag.memory_limit = '$1'; SELECT pg_reload_conf()" >/dev/null; until_true 10 value_is a "SHOW cftrag.memory_limit" "$1"; }

# A reader asks for a build, and finds no memory when that has failed.
SHORT='@(no_image|no_memory|no_image+no_memory)'
# lost WHAT ANSWER: checks that the write says nothing, the image is gone and the reference query answers
lost() {
    is "$1: no message" "$2" ""
    like "$1: the state" "$(sql a "SELECT state, reason FROM pg_stat_cftrag WHERE edges = 'big'::regclass")" "none|no_memory"
    exact a big "$SHORT" "$SOME"
    is "$1: the next write" "$(try a "INSERT INTO big VALUES ('t', 'n1', 'more')")" ""
    exact a big "$SHORT" "$SOME"
}
# heal FAILS: with a higher limit cft_build restores the image, which follows changes again; before, it fails if FAILS is 1
heal() {
    is "too little still" "$(try a "SELECT cft_build('big')" | grep -c '53200')" "$1"
    set_limit 1GB
    # A reader may mend it, in the middle of the statement, too.
    exact a big "$([ "$1" = 1 ] && echo '@(image|image+no_image|image+no_memory|image+no_image+no_memory|no_image|no_memory|no_image+no_memory)' || echo image)" "$SOME"
    is "build" "$(try a "SELECT cft_build('big')")" ""
    exact a big image "$SOME"
    sql a "INSERT INTO big VALUES ('t', 'n1', 'followed')"
    exact a big image "$SOME"
    sql a "TRUNCATE big; INSERT INTO big SELECT 't', 'n' || n / 10, 'n' || n FROM generate_series(1, 2000) AS n"
    is "build small" "$(try a "SELECT cft_build('big')")" ""
    set_limit 8MB
    exact a big image "$SOME"
}
# A client that asks for all messages, reads none and goes away ends its backend at some message, in the middle of work with memory: all memory
# must be freed, or reclaimed later. Builds of 2 MB under a limit of 8 MB.
gone_unread() {
    local i client unread
    for i in {1..15}; do
        # A new pipe for each client, or it could go on with the next one's reader.
        unread=$LIFE/unread.$i
        mkfifo "$unread"
        sleep 100 <>"$unread" & local reader=$!
        for _ in {1..2000}; do echo "SELECT cft_build('big');"; done |
            PGOPTIONS='-c client_min_messages=debug5' "$BIN/psql" -X -q -At -d "$(url a)" -f - >/dev/null 2>"$unread" & client=$!
        sleep 1
        # The backend is blocked by unread messages until its client is gone, and can then end.
        kill -9 "$client" "$reader" 2>/dev/null
        wait "$client" "$reader" 2>/dev/null
        rm "$unread"
    done
    until_true 20 value_is a "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'" 1 || note "a client that is gone keeps its process"
    is "build after clients that went away" "$(try a "SELECT cft_build('big')")" ""
    exact a big image "$SOME"
}
rows() { sql a "SELECT count(*) FROM big"; }

gone_unread
lost "COMMIT" "$(try a "$(more);")"
is "the rows are there" "$(rows)" 62001
heal 1

lost "PREPARE" "$(try a "BEGIN; $(more); PREPARE TRANSACTION 'x'")"
is "commit prepared" "$(try a "COMMIT PREPARED 'x'")" ""
is "the rows are there" "$(rows)" 62001
exact a big "$SHORT" "$SOME"
heal 1

# A statement past the cap is rolled back: nothing is lost, and the rows' memory is free for others.
for i in 1 2 3; do
    is "rolled back ($i)" "$(try a "BEGIN; $(more 160000); ROLLBACK")" ""
    is "no rows" "$(rows)" 2000
    exact a big image "$SOME"
    is "room ($i)" "$(try a "INSERT INTO big SELECT 't', 'n' || n / 10, 'm' || n FROM generate_series(1, 2000) AS n; DELETE FROM big WHERE child LIKE 'm%'")" ""
    exact a big image "$SOME"
done
# The reference query answers a transaction whose own changes could not be recorded.
open s a
ask s "BEGIN; $(more);" >/dev/null
asked() { sql a "SELECT ref_pending_trigger FROM pg_stat_cftrag WHERE edges = 'big'::regclass"; }
before=$(asked)
is "its own question" "$(ask s "SELECT count(*) FROM cft_context('n2001', 0, 1, 'big');")" 10
is "is answered by reference" "$(asked)" "$((before + 1))"
exact a big image "$SOME"
lost "commit" "$(ask s "COMMIT;")"; close s
heal 1

# A transaction reads its own changes in a subtransaction.
open s a
before=$(asked)
is "own read" "$(ask s "BEGIN; SAVEPOINT p; $(more); SELECT count(*) FROM cft_context('n2001', 0, 1, 'big');")" 10
is "by reference" "$(asked)" "$((before + 1))"
ask s "ROLLBACK TO p;" >/dev/null
exact_in s big image "$SOME"
is "commit" "$(ask s "COMMIT;")" ""; close s
is "no rows" "$(rows)" 2000
exact a big image "$SOME"

# A build that finds no memory leaves the existing image, which is still right.
set_limit 1GB
sql a "INSERT INTO edges SELECT 'm', 'p', repeat('x', 1000) || n FROM generate_series(1, 2000) AS n" >/dev/null
exact a edges image "ARRAY['n1','n2','p'], 3, 3"
set_limit 2MB
like "no room" "$(try a "SELECT cft_build('edges')")" "*ERROR:  53200*HINT:*Raise cftrag.memory_limit*"
exact a edges image "ARRAY['n1','n2','p'], 3, 3"
stop a

# A full /dev/shm. A preloaded library's control block is in main memory and not affected.
if ! unshare -m true 2>/dev/null || ! unshare -m mount -t tmpfs -o size=1m tmpfs /dev/shm 2>/dev/null; then
    echo "# $STORY: no private mount namespace here: a full /dev/shm is not tested" >&2
    finish
fi
# A server in a mount namespace with its own /dev/shm of 24 MB.
for preload in $([ "$MAJOR" -lt 17 ] && echo cftrag || echo none cftrag); do
    [ "$preload" = none ] && PRELOAD='' || PRELOAD=$preload
    name=shm_$preload
    add "$name"
    unshare -m bash -c 'mount -t tmpfs -o size=24m,mode=1777 tmpfs /dev/shm && exec "$@"' - "$ROOT/tools/cluster" start "$LIFE/$name" "$CONFIG" \
        "shared_preload_libraries=$PRELOAD" max_prepared_transactions=10 autovacuum=off shared_buffers=16MB max_connections=20 || broken "$name does not start"
    # Drops its table itself: a drop at the session's end would use an xid beside the next session's snapshot, which would then be too old for the
    # image built meanwhile.
    in_shm() { sql "$name" "CREATE TEMP TABLE o (o text); COPY o FROM PROGRAM '$1'; SELECT string_agg(o, ' ') FROM o; DROP TABLE o"; }
    fill() { in_shm "head -c 30000000 /dev/zero >/dev/shm/fill; true" >/dev/null 2>&1; }
    unfill() { in_shm "rm -f /dev/shm/fill" >/dev/null; }
    small "$name" edges
    big "$name" big 2000
    exact "$name" edges image
    exact "$name" big image "$SOME"
    fill
    is "/dev/shm is full" "$(in_shm "df --output=avail /dev/shm | tail -1" | tr -d ' ')" 0
    answer=$(try "$name" "$(more);")
    is "full /dev/shm fails no COMMIT" "$answer" ""
    is "the rows are there" "$(sql "$name" "SELECT count(*) FROM big")" 62000
    like "the reference query" "$(try "$name" "$(how_sql big "$SOME")")" "@(no_image|no_memory), * rows"
    # A small change of another table, by a session that has mapped nothing yet, and a read by another such session.
    answer=$(try "$name" "INSERT INTO edges VALUES ('t1', 'n3', 'when full')")
    [[ $answer != *ERROR* ]] || note "full /dev/shm fails a small COMMIT: $answer"
    like "the other table" "$(try "$name" "$(how_sql edges)")" "@(image|no_memory|no_image|triggers), * rows"
    like "no build" "$(try "$name" "SELECT cft_build('big')")" "*ERROR:  53200: the system has not enough shared memory*DETAIL:  /dev/shm has 24576 kB, of which * are free*"
    unfill
    is "build" "$(try "$name" "SELECT cft_build('big')")" ""
    exact "$name" big image "$SOME"
    # A reader that found no memory does not try again for ten seconds.
    is "build the other" "$(try "$name" "SELECT cft_build('edges')")" ""
    exact "$name" edges image

    # What a failed build took is free again, for other users of /dev/shm; the server warns at its start, and cft_attach does.
    like "a warning at the start" "$(grep 'less than cftrag.memory_limit' "$LIFE/$name/log")" "*WARNING:  /dev/shm has 24576 kB*"
    sql "$name" "CREATE TABLE huge AS SELECT 'n' || n / 10 AS parent, 'n' || n AS child FROM generate_series(1, 400000) AS n" >/dev/null
    like "a warning at attach" "$(try "$name" "SELECT cft_attach('huge')")" "*WARNING:*/dev/shm has 24576 kB, less than cftrag.memory_limit*"
    taken() { in_shm "du -sk /dev/shm | cut -f1"; }
    before=$(taken)
    for i in 1 2 3; do
        like "too large ($i)" "$(try "$name" "SELECT cft_build('huge')")" "*ERROR:  53200: the system has not enough*"
        [ "$(taken)" -le $((before + 1024)) ] || note "a failed build keeps $(($(taken) - before)) kB of /dev/shm"
    done
    exact "$name" big image "$SOME"
    is "a small one finds room" "$(try "$name" "SELECT cft_build('edges')")" ""

    # /dev/shm is full before any session has used the control block: on 17 without preload it cannot be created, and a change that cannot be
    # recorded does not commit.
    stop "$name"
    unshare -m bash -c 'mount -t tmpfs -o size=24m,mode=1777 tmpfs /dev/shm && exec "$@"' - "$ROOT/tools/cluster" start "$LIFE/$name" "$CONFIG" \
        "shared_preload_libraries=$PRELOAD" max_prepared_transactions=10 autovacuum=off shared_buffers=16MB max_connections=20 || broken "$name does not start"
    fill
    answer=$(try "$name" "INSERT INTO edges VALUES ('t1', 'n3', 'before all'); UPDATE edges SET tree = 't2' WHERE child = 'n4'")
    if [ "$preload" = none ] && [ "$MAJOR" -ge 17 ]; then
        like "no COMMIT without the control block" "$answer" "*53200*"
        like "nor PREPARE" "$(try "$name" "BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'prepared'); PREPARE TRANSACTION 'y'")" "*53200*"
        is "nothing is there" "$(sql "$name" "SELECT count(*) FROM edges WHERE child IN ('before all', 'prepared')")" 0
    else
        [[ $answer != *ERROR* ]] || note "full from the start fails a COMMIT ($preload): $answer"
        is "prepared" "$(try "$name" "BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'prepared'); PREPARE TRANSACTION 'y'")" ""
        is "commit prepared" "$(try "$name" "COMMIT PREPARED 'y'")" ""
    fi
    like "served" "$(try "$name" "$(how_sql edges)")" "*@(no_memory|no_image|image), * rows"
    unfill
    is "build with room" "$(try "$name" "SELECT cft_build('edges')")" ""
    exact "$name" edges image
    stop "$name"
done
finish
