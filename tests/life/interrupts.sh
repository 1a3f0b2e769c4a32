#!/bin/bash
# Sessions are cancelled, timed out and terminated: in a walk over a large tree, in a build, in a COMMIT. No lock and no memory is left, and the
# next call is exact.
. "${0%/*}/lib.sh"; story "$@"
server a cftrag.build_in_place_limit=1MB
small a edges
ROWS=110000
big a big $ROWS
SOME="ARRAY['n0','n1','n7','n701','n10999','x5'], 9, 2"
# Without cft_verify, which reads the whole image.
QUICK="$SOME, verify => false"
is "build" "$(try a "SELECT cft_build('big')")" ""
exact a big image "$SOME"
# A limit for two such images, so that the next build would miss memory that an interrupted one leaked.
kb=$(sql a "SELECT sum(memory_bytes) / 1024 FROM pg_stat_cftrag"); kb=${kb%.*}
sql a "ALTER SYSTEM SET cftrag.memory_limit = '$((kb * 2 + kb / 2))kB'; SELECT pg_reload_conf()" >/dev/null
walk="SELECT count(*) FROM cft_context('n0', 1000, 1000, 'big')"
is "the whole tree" "$(sql a "$walk")" $((ROWS - 0))
# So many walks that they exceed each of the timeouts below.
walks="SELECT count(*) FROM generate_series(1, 40) AS i, cft_context(CASE WHEN i > 0 THEN 'n0' END, 1000, 1000, 'big')"

sound() {  # sound WHAT: no lock is left, writes and reads go on
    is "$1: a write at once" "$(try a "SET lock_timeout = '2s'; SET statement_timeout = '5s'; INSERT INTO big VALUES ('t', 'n1', 'w$checks')")" ""
    exact a big image "$QUICK"
    exact a edges image
    until_true "$PATIENCE" value_is a "SELECT count(*) FROM pg_locks WHERE relation = 'big'::regclass AND pid <> pg_backend_pid()" 0 || note "$1: locks are left"
}
running_query() { value_is a "SELECT state FROM pg_stat_activity WHERE pid = $1" active; }

open s a; open w a
pid=$(pid_of s)
for ms in 1 15 60; do
    like "statement_timeout $ms ms" "$(ask s "SET statement_timeout = '$ms ms'; $walks; RESET statement_timeout;")" "*57014*"
    sound "timeout $ms"
done
for delay in 0 0.05; do
    send s "$walk;"
    until_true 10 running_query "$pid"; sleep $delay
    is "cancel" "$(sql a "SELECT pg_cancel_backend($pid)")" t
    like "cancelled" "$(answer s)" "@(*57014*|1?????)"
    sound "cancel"
done
# In a subtransaction of a transaction that goes on, with changes of its own that were flushed before.
like "in an exception block" "$(ask s "BEGIN; INSERT INTO big VALUES ('t', 'n1', 'own'); SAVEPOINT p; $(how_sql big "$QUICK"); SET LOCAL statement_timeout = 5; $walks; ROLLBACK TO p; $(how_sql big "$QUICK"); COMMIT;")" \
    "image, * rows*57014*image, * rows"
sound "exception block"
# A writer does not wait for the end of a walk.
send s "$walk;"
is "a write beside a walk" "$(ask w "SET statement_timeout = '2s'; INSERT INTO big VALUES ('t', 'n2', 'beside');")" ""
like "the walk" "$(answer s)" "1?????"
# LIMIT ends a walk early, with rows that were never fetched.
is "LIMIT" "$(ask s "SELECT count(*) FROM (SELECT FROM cft_context('n0', 1000, 1000, 'big') LIMIT 5) AS z;")" 5
sound "limit"

# In a word of 100 MB, while cft_entities and cft_words read it.
sql a "CREATE TABLE text AS SELECT 'a' || repeat(U&'\\0301\\0323\\0327\\0345', 12500000) AS t" >/dev/null
for of in "cft_entities(t, 'big')" "cftrag_internal.cft_words(t)"; do
    # Reads the text into memory first, since PostgreSQL's own functions do that.
    is "read" "$(ask s "SET statement_timeout = 0; SELECT count(*) FROM text, length(t);")" 1
    for ms in 500 1000; do
        began=$(date +%s%N)
        like "$of" "$(ask s "SET statement_timeout = '$ms ms'; SELECT sum((SELECT count(*) FROM $of WHERE i > 0)) FROM text, generate_series(1, 100) AS i; RESET statement_timeout;")" "*57014*"
        late=$((($(date +%s%N) - began) / 1000000 - ms))
        [ "$late" -lt 1000 ] || note "$of: $late ms late"
    done
done
sound "a long word"

# Terminated in the walk.
send s "$walk;"
until_true 10 running_query "$pid"
sql a "SELECT pg_terminate_backend($pid, 5000)" >/dev/null
close s
sound "terminated walk"

# Builds are timed out, cancelled and terminated, three times, so that leaks would show.
for i in 1 2 3; do
    like "a build times out" "$(try a "SET statement_timeout = '30ms'; SELECT cft_build('big')")" "*57014*"
    open s a; pid=$(pid_of s)
    send s "SELECT cft_build('big');"
    until_true 10 running_query "$pid"; sleep 0.0$i
    sql a "SELECT pg_cancel_backend($pid)" >/dev/null
    like "a build is cancelled" "$(answer s)" "@(*57014*|)"
    send s "SELECT cft_build('big');"
    until_true 10 running_query "$pid"; sleep 0.0$i
    sql a "SELECT pg_terminate_backend($pid, 5000)" >/dev/null
    close s
    sound "interrupted builds $i"
done
like "a build waits for a writer" "$(ask w "BEGIN; INSERT INTO big VALUES ('t', 'n2', 'held');"; try a "SET lock_timeout = '50ms'; SELECT cft_build('big')")" "*55P03*"
is "the writer" "$(ask w "COMMIT;")" ""
is "build" "$(try a "SELECT cft_build('big')")" ""
sound "build"

# In a COMMIT that flushes, a cancel or termination ends it or comes too late. Either way the table and the image agree.
for how in cancel terminate; do
    open s a; pid=$(pid_of s)
    is "insert" "$(ask s "BEGIN; INSERT INTO big SELECT 'more', 'n' || n / 10, 'm' || n FROM generate_series(1, 40000) AS n;")" ""
    send s "COMMIT;"
    sql a "SELECT pg_${how}_backend($pid)" >/dev/null
    answer s >/dev/null
    close s
    rows=$(sql a "SELECT count(*) FROM big WHERE tree = 'more'")
    [[ $rows = 0 || $rows = 40000 ]] || note "$how in COMMIT: $rows rows"
    sound "$how in COMMIT"
    sql a "DELETE FROM big WHERE tree = 'more'"
    sound "delete"
done
close w
exact a big image "$SOME"
finish
