#!/bin/bash
# Walks over a whole tree of a million entities, up => 1000, down => 1000: writers do not wait for them to end, and a walk takes memory only for its
# result, which is sorted. Prints what it measures. LIFE_ENTITIES=n for another size.
. "${0%/*}/lib.sh"; story "$@"
server a cftrag.build_in_place_limit=1MB cftrag.memory_limit=2GB max_wal_size=4GB work_mem=16MB jit=off
N=${LIFE_ENTITIES:-1000000}
# A higher priority, if allowed, since other load on the machine would disturb the measurement.
renice -n -15 -p "$(postmaster a)" $$ >/dev/null 2>&1
big a big "$N"
is "build" "$(try a "SET statement_timeout = 0; SELECT cft_build('big')")" ""
exact a big image "ARRAY['n1','n7','n70123','n$((N - 1))'], 3, 1, verify => false"
walk="SELECT count(*), sum(length(relative)) FROM cft_context('n0', 1000, 1000, 'big')"
PATIENCE=120
open s a
is "the whole tree" "$(ask s "SELECT count(*) FROM cft_context('n0', 1000, 1000, 'big');")" "$N"

# Memory: the peak of the process in a session's first walk, compared with the size of the rows in a table.
open m a
pid=$(pid_of m)
memory() { awk -v what="$1:" '$1 == what { print $2 }' "/proc/$pid/status"; }
ask m "SELECT count(*) FROM cft_context('n1', 2, 0, 'big');" >/dev/null
before=$(memory RssAnon)
echo 5 >"/proc/$pid/clear_refs"
ask m "$walk;" >/dev/null
most=$(($(memory VmHWM) - $(memory RssShmem) - $(memory RssFile) - before)) left=$(($(memory RssAnon) - before))
for x in 1 2 3; do ask m "$walk;" >/dev/null; done
again=$(($(memory RssAnon) - before))
for x in 1 2 3; do ask m "SET statement_timeout = '150ms'; $walk; RESET statement_timeout; SELECT count(*) FROM cft_context('n1', 2, 0, 'big');" >"$LIFE/cancelled"; done
like "cancelled" "$(cat "$LIFE/cancelled")" "*57014*"
cancelled=$(($(memory RssAnon) - before))
rows=$(sql a "CREATE TABLE result AS SELECT * FROM cft_context('n0', 1000, 1000, 'big'); SELECT pg_relation_size('result') / 1024; DROP TABLE result")
echo "# $STORY: a walk over $N entities uses up to $most kB; $left kB remain after it, $again after three more, $cancelled after cancelled ones; its result as a table has $rows kB" >&2
[ "$most" -lt $((rows * 2)) ] || note "a walk takes $most kB for a result of $rows kB"
[ "$again" -lt "$rows" ] || note "walks leave $again kB"
[ "$cancelled" -lt "$rows" ] || note "cancelled walks leave $cancelled kB"
close m

# Latencies of one writer, beside two walkers of another table and then of its own.
small a spare
exact a spare image
echo "INSERT INTO spare VALUES ('t', 'n' || (random() * $N)::int, 'w' || random())" >"$LIFE/write_spare.sql"
echo "INSERT INTO big VALUES ('t', 'n' || (random() * $N)::int, 'w' || random())" >"$LIFE/write_big.sql"
chmod 777 "$LIFE"
latencies() {  # latencies TABLE: median, p99, maximum and number, microseconds
    as_postgres "$BIN/pgbench" -n -f "$LIFE/write_$1.sql" -c 1 -T 10 -l --log-prefix="$LIFE/lat_$1" "$(url a)" >"$LIFE/pgbench" 2>&1 || broken "pgbench: $(tail -3 "$LIFE/pgbench")"
    cat "$LIFE/lat_$1".* | awk '{ print $3 }' | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)], a[int(NR * 0.99)], a[NR], NR }'
}
open t a
for x in s t; do send "$x" "DO \$\$ DECLARE until timestamptz := clock_timestamp() + '23 s'; n int := 0; BEGIN
    WHILE clock_timestamp() < until LOOP PERFORM count(*) FROM cft_context('n0', 1000, 1000, 'big'); n := n + 1; END LOOP; RAISE NOTICE '% walks', n; END \$\$;"; done
sleep 1
control=$(latencies spare)
beside=$(latencies big)
walks=$(answer s | grep -o '[0-9]* walks'; answer t | grep -o '[0-9]* walks')
echo "# $STORY: a commit beside two walkers ($(tr '\n' ' ' <<<"$walks")in 23 s), median, p99, maximum, number: of another table $control us; of the same table $beside us" >&2
read -r _ p99_control most_control _ <<<"$control"
read -r _ p99 most count <<<"$beside"
like "walks were made" "$walks" "[1-9]*"
[ "$count" -gt 100 ] || note "only $count writes beside the walks"
# A slice of a walk takes about a millisecond, a whole walk a second. The scheduler adds the rest: three sessions share two cores.
[ "$p99" -lt $((p99_control + 15000)) ] || note "p99 of a commit beside walks: $p99 us, of another table's $p99_control"
[ "$most" -lt $((most_control + 40000)) ] || note "a commit waited $most us beside walks, another table's $most_control"
exact a big image "ARRAY['n1','n7','n70123','n$((N - 1))'], 3, 1, verify => false"
close s; close t
finish
