#!/bin/bash
# kill -9 of a builder in each phase of a build, of the launcher, and of the worker that builds at server start. After the crash restart the
# images are rebuilt for the first reader, and exact, including what was written and prepared beside the killed build.
. "${0%/*}/lib.sh"; story "$@"
expect_crash
PRELOAD=cftrag
server a cftrag.build_in_place_limit=1kB
ROWS=150000
big a big $ROWS
SOME="ARRAY['n0','n1','n7','n70','n701','n14999','w1','p1'], 9, 2"
sql a "$(until_phase_sql)
    CREATE FUNCTION kill9(pid int) RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE format('COPY nothing FROM PROGRAM ''kill -9 %s''', pid); END \$\$;
    CREATE TABLE nothing ()"
ready() { try a "SELECT count(*) FROM cft_context('n1', 1, 1, 'big')" >/dev/null; [ "$(state a big)" = ready ]; }
# A write during the build, past the cap, so that much of it is in the log before it commits.
beside="INSERT INTO big SELECT 't', 'w' || n / 10, 'w' || n FROM generate_series(1, 120000) AS n"

for phase in 'waiting for writers' 'waiting for lock' 'counting rows' 'scanning table' 'applying changes'; do
    is "$phase: an image" "$(try a "SELECT cft_build('big')")" ""
    before=$(restarts a)
    open w a; open b a; open c a; open l a
    is "prepared" "$(try a "BEGIN; INSERT INTO big VALUES ('t', 'n1', 'p$before'); DELETE FROM big WHERE child = 'n7$before'; PREPARE TRANSACTION 'p'")" ""
    send b "SELECT cft_build('big');"
    like "the build begins" "$(try a "SELECT until_phase('waiting for writers')")" "[1-9]*"
    is "beside it" "$(try a "INSERT INTO big VALUES ('t', 'n1', 'beside $phase'); UPDATE big SET parent = 'n3' WHERE child = 'n12'")" ""
    if [ "$phase" = 'waiting for lock' ]; then
        # A session that is granted the lock when the prepared transaction, which the build waits for, ends.
        send l "BEGIN; LOCK TABLE big IN ACCESS EXCLUSIVE MODE;"
        sleep 0.3
        like "the writer ends" "$(try a "COMMIT PREPARED 'p'")" ""
    elif [ "$phase" != 'waiting for writers' ]; then
        is "writes" "$(ask w "BEGIN; $beside;")" ""
        send c "SELECT kill9(until_phase('$phase', 90));"
        is "commit prepared" "$(try a "COMMIT PREPARED 'p'")" ""
    fi
    [[ $phase != waiting* ]] || send c "SELECT kill9(until_phase('$phase'));"
    restarted a "$before" 100
    like "$phase: killed by us" "$(answer c)" "@(|*server closed*|*57P02*)"
    for s in w b c l; do close $s; done
    try a "COMMIT PREPARED 'p'" >/dev/null
    until_true 90 ready || note "$phase: no image after the crash restart"
    exact a big image "$SOME, verify => $([ "$phase" = 'scanning table' ] && echo true || echo false)"
    is "$phase: what was written" "$(sql a "SELECT count(*) FROM big WHERE child IN ('beside $phase', 'p$before')")" 2
done

# The launcher; and the worker that it starts.
for name in launcher builder; do
    stop a; start a cftrag.build_in_place_limit=1kB
    before=$(restarts a)
    try a "SELECT until_phase('scanning table', 60); SELECT kill9(pid) FROM pg_stat_activity WHERE backend_type = 'cftrag $name'" >/dev/null
    restarted a "$before"
    until_true 90 ready || note "$name killed: no image after the crash restart"
    exact a big image "$SOME, verify => false"
done
finish
