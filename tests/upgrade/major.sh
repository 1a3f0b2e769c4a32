#!/bin/bash
# pg_upgrade to another major version, by copy and by link, with cftrag preloaded in both: attached tables stay attached, their triggers stay ENABLE
# ALWAYS, the first reader builds the image and every answer is exact; the extension's members are those of a new installation.
#   major.sh OLD_PG_CONFIG NEW_PG_CONFIG
# shellcheck source=tests/life/lib.sh
. "${0%/*}/../life/lib.sh"; story "$@"
old=$CONFIG new=$(readlink -f "${2:?the other PG_CONFIG}") LIFE_TEMPLATE='' PRELOAD=cftrag
UPGRADE=$(cd "${0%/*}" && pwd)
server a
small a edges
exact a edges image
sql a "CREATE DATABASE other; CREATE DATABASE copied TEMPLATE postgres"
sql a/other "CREATE SCHEMA ext"
oracle a/other ext
small a/other edges ext
# Names that need quotes, another type; triggers that are no longer ENABLE ALWAYS; a detached table.
sql a "CREATE SCHEMA \"O'Brien\"; CREATE TABLE \"O'Brien\".\"Parts of\" (of bigint, part bigint); INSERT INTO \"O'Brien\".\"Parts of\" SELECT n / 3, n FROM generate_series(1, 50) AS n;
    SELECT cft_attach('\"O''Brien\".\"Parts of\"', 'of', 'part');
    CREATE TABLE enabled (LIKE edges); SELECT cft_attach('enabled', tree => 'tree'); INSERT INTO enabled TABLE edges; ALTER TABLE enabled ENABLE TRIGGER cftrag_row;
    CREATE TABLE gone (LIKE edges); SELECT cft_attach('gone'); SELECT cft_detach('gone')" >/dev/null
parts="parent => 'of', child => 'part', tree => NULL"
exact a "\"O''Brien\".\"Parts of\"" image "$parts"
# Writes after the build, dead rows, a rewritten file.
sql a "DELETE FROM edges WHERE child = 'n9'; UPDATE edges SET parent = 'n2' WHERE child = 'n11'; VACUUM FULL edges; INSERT INTO edges VALUES ('t1', 'n3', 'last')"
exact a edges image
stop a

use() { CONFIG=$1 BIN=$("$1" --bindir) MAJOR=$("$1" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/'); }
members() { psql "$1" -v ON_ERROR_STOP=1 -f "$UPGRADE/members.sql" 2>&1; }
for how in copy link; do
    use "$new"
    # 18 has data checksums by default; pg_upgrade needs them equal in both servers.
    [ "$MAJOR" -lt 18 ] || export CFTRAG_INITDB=--no-data-checksums
    add "$how" empty
    start "$how"
    stop "$how"
    # Runs in a directory with a short path, since pg_upgrade puts its sockets there.
    mkdir -p "$LIFE/run_$how" && chmod 777 "$LIFE/run_$how"
    (cd "$LIFE/run_$how" && as_postgres "$BIN/pg_upgrade" -b "$("$old" --bindir)" -B "$BIN" -d "$LIFE/a/data" -D "$LIFE/$how/data" -U postgres --"$how" >log 2>&1) ||
        broken "pg_upgrade: $(tail -15 "$LIFE/run_$how/log"; find "$LIFE/$how/data/pg_upgrade_output.d" -name '*.log' -exec grep -hiE 'error|fatal' {} + | head -5)"
    start "$how" max_prepared_transactions=10
    is "$how: the triggers" "$(sql "$how" "SELECT string_agg(DISTINCT tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text, ', ') FROM pg_trigger WHERE tgname LIKE 'cftrag%'")" \
        "\"O'Brien\".\"Parts of\" cftrag_row A, \"O'Brien\".\"Parts of\" cftrag_truncate A, edges cftrag_row A, edges cftrag_truncate A, enabled cftrag_row O, enabled cftrag_truncate A"
    for db in postgres other copied; do
        exact "$how/$db" edges image
        sql "$how/$db" "INSERT INTO edges VALUES ('t1', 'last', '$how'); DELETE FROM edges WHERE child = 'n12'"
        exact "$how/$db" edges image
    done
    exact "$how" "\"O''Brien\".\"Parts of\"" image "$parts"
    exact "$how" enabled triggers
    is "attach" "$(try "$how" "SELECT cft_attach('enabled', tree => 'tree')")" ""
    exact "$how" enabled image
    sql "$how" "CREATE DATABASE fresh"
    is "fresh" "$(try "$how/fresh" "SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE")" ""
    like "members" "$(members "$how/fresh")" "*cft_context*pg_stat_cftrag*"
    is "$how: as newly installed" "$(diff <(members "$how/fresh") <(members "$how") | head -20)" ""
    like "nothing to update" "$(try "$how" "ALTER EXTENSION cftrag UPDATE")" "*is already installed*"
    stop "$how"
done
finish
