#!/bin/bash
# A long life: 500 random times a table is attached, built, asked, written to, truncated, detached or dropped, or its database is dropped. Afterwards no place
# and no memory is taken by what is gone, and a third such round needs no more of /dev/shm than the second.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
if ! unshare -m true 2>/dev/null || ! unshare -m mount -t tmpfs -o size=1m tmpfs /dev/shm 2>/dev/null; then
    echo "# $STORY: no private mount namespace here: what /dev/shm holds is not measured" >&2
    server a cftrag.memory_limit=300MB
    taken() { echo 0; }
else
    add a
    unshare -m bash -c 'mount -t tmpfs -o size=400m,mode=1777 tmpfs /dev/shm && exec "$@"' - "$ROOT/tools/cluster" start "$LIFE/a" "$CONFIG" \
        "shared_preload_libraries=$PRELOAD" max_prepared_transactions=10 autovacuum=off shared_buffers=16MB max_connections=20 \
        cftrag.memory_limit=300MB || broken "no start"
    taken() { sql a "CREATE TEMP TABLE o (o text); COPY o FROM PROGRAM 'du -sk /dev/shm | cut -f1'; SELECT o FROM o"; }
fi
sql a "CREATE DATABASE base"
sql a/base "SET client_min_messages = warning; CREATE EXTENSION cftrag CASCADE"
sql a "SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS cftrag CASCADE"

# Sizes differ, so that chunks of all sizes come and go.
attach() { echo "CREATE TABLE IF NOT EXISTS $1 AS SELECT 'n' || n / 9 AS parent, 'n' || n AS child FROM generate_series(1, $((10 ** (RANDOM % 5)))) AS n; SELECT cft_attach('$1');"; }
round() {
    local i db table images=0 now=0
    # The same each time: what a round needs is there after the one before.
    RANDOM=${SEED:-1}
    for ((i = 0; i < 500; i++)); do
        db=d$((RANDOM % 3)) table=t$((RANDOM % 12))
        case $((RANDOM % 20)) in
            0) [ $((RANDOM % 4)) != 0 ] || try a "DROP DATABASE IF EXISTS $db WITH (FORCE)" ;;
            1 | 2 | 3) try a/$db "DROP TABLE IF EXISTS $table" ;;
            4 | 5) try a/$db "SELECT cft_detach('$table')" ;;
            6) try a/$db "TRUNCATE $table" ;;
            7) try a/$db "BEGIN; INSERT INTO $table SELECT 'x', 'x' || n FROM generate_series(1, 3000) AS n; $([ $((RANDOM % 2)) = 0 ] && echo COMMIT || echo ROLLBACK)" ;;
            8 | 9) try a/$db "SELECT cft_build('$table')" ;;
            10 | 11) try a/$db "SELECT count(*) FROM cft_context('n7', 3, 3, '$table')" ;;
            *) try a/$db "$(attach "$table")" | grep -q 'database .* does not exist' && try a "CREATE DATABASE $db TEMPLATE base" ;;
        esac >/dev/null
        [ $((i % 50)) != 49 ] || now=$(sql a "SELECT coalesce(sum(images), 0) FROM pg_stat_cftrag_databases")
        images=$((now > images ? now : images))
    done
    [ "$images" -gt 5 ] || note "round $1 had $images images at most: it does not do what it says"
    for db in d0 d1 d2; do try a "DROP DATABASE IF EXISTS $db WITH (FORCE)" >/dev/null; done
    sql a "DROP TABLE IF EXISTS last; CREATE TABLE last (parent text, child text); INSERT INTO last VALUES ('a', 'b'); SELECT cft_attach('last'); SELECT cft_build('last')" >/dev/null
    is "places and images after round $1" "$(sql a "SELECT sum(places) || ' ' || sum(images) || ' ' || sum(gone) FROM pg_stat_cftrag_databases")" "1 1 0"
    is "memory after round $1" "$(sql a "SELECT sum(memory_bytes) FROM pg_stat_cftrag_databases")" "$(sql a "SELECT memory_bytes FROM pg_stat_cftrag WHERE edges = 'last'::regclass")"
}
round 1
round 2; second=$(taken)
round 3; third=$(taken)
[ "$third" -le $((second + 4096)) ] || note "/dev/shm held $second kB after two rounds, $third kB after three"
is "nothing crashed" "$(grep -Ec 'terminated by signal|reinitializing' "$LIFE/a/log")" 0
finish
