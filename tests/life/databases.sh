#!/bin/bash
# Databases whose tables have equal names, OIDs and file numbers (CREATE DATABASE ... TEMPLATE copies those): each table has its own image.
# DROP DATABASE gives the memory back. Preloaded, so that who drops has the library, and images are built at the start.
. "${0%/*}/lib.sh"; LIFE_PRELOAD=cftrag; story "$@"
server a
sql a "CREATE DATABASE one; CREATE DATABASE two; CREATE DATABASE \"One\""
for d in one two One; do oracle "a/$d"; small "a/$d" edges; done
sql a/one "INSERT INTO edges VALUES ('t1', 'n1', 'only one')"
sql a/One "CREATE TABLE \"Edges\" (parent text, child text); INSERT INTO \"Edges\" VALUES ('A', 'b'); SELECT cft_attach('\"Edges\"')" >/dev/null
sql a/two "DELETE FROM edges WHERE child = 'n2'"
for d in one two One; do exact "a/$d" edges image; done
exact a/One '"Edges"' image
sql a/two "INSERT INTO edges VALUES ('t1', 'n1', 'only two')"
for d in one two One; do exact "a/$d" edges image; done
is "different" "$(sql a/one "SELECT string_agg(relative, ',') FROM cft_context('n1', 0, 1) WHERE relative LIKE 'only%'")" "only one"
is "different" "$(sql a/two "SELECT string_agg(relative, ',') FROM cft_context('n1', 0, 1) WHERE relative LIKE 'only%'")" "only two"
is "the statistics are a database's own" "$(sql a/One "SELECT string_agg(edges::text, ' ' ORDER BY edges::text COLLATE \"C\") FROM pg_stat_cftrag")" '"Edges" edges'

# Copies have the table OID and file number of the original. They are written to before the first read, and after it.
for strategy in wal_log file_copy; do
    sql a "CREATE DATABASE copy_$strategy TEMPLATE one STRATEGY $strategy"
    is "the same OID" "$(sql "a/copy_$strategy" "SELECT 'edges'::regclass::oid")" "$(sql a/one "SELECT 'edges'::regclass::oid")"
    sql "a/copy_$strategy" "DELETE FROM edges WHERE child = 'only one'"
    exact "a/copy_$strategy" edges image
    exact a/one edges image
    sql "a/copy_$strategy" "INSERT INTO edges VALUES ('t1', 'n1', 'a copy')"
    sql a/one "INSERT INTO edges VALUES ('t1', 'n1', 'not a copy')"
    exact "a/copy_$strategy" edges image
    exact a/one edges image
done

# Dropped and recreated with the same OID, after its template changed: database, table and file number are those of an image that was there.
sql a "CREATE DATABASE again OID 99999 TEMPLATE one STRATEGY file_copy"
exact a/again edges image
sql a "DROP DATABASE again"
sql a/one "DELETE FROM edges WHERE child = 'only one'"
sql a "CREATE DATABASE again OID 99999 TEMPLATE one STRATEGY file_copy"
is "nothing is built there" "$(sql a/again "SET cftrag.build_in_place_limit = 0; $(how_sql edges)")" "no_image, $(sql a/one "$(how_sql edges)" | sed 's/.*, //')"
exact a/again edges image
sql a/again "INSERT INTO edges VALUES ('t1', 'n1', 'again')"
exact a/again edges image
# Renaming: the database's name does not identify the image.
sql a "ALTER DATABASE two RENAME TO three; ALTER DATABASE one RENAME TO two"
exact a/two edges image
exact a/three edges image
exact a/One edges image

# A builder gives way to a session that copies, renames or drops the database, if no other session is connected.
sql a "CREATE DATABASE wanted"
oracle a/wanted
sql a/wanted "CREATE TABLE busy AS SELECT 'm' || i / 10 AS parent, 'm' || i AS child FROM generate_series(1, 3000000) i; ANALYZE busy; SELECT cft_attach('busy')" >/dev/null
# (After a builder gave way, the next one starts after ten seconds.)
builds() {
    try a/wanted "SET statement_timeout = '100ms'; SELECT count(*) FROM cft_context('m1', 1, 1, 'busy')" >/dev/null
    [ "$(sql a "SELECT count(*) FROM pg_stat_activity WHERE datname = 'wanted' AND backend_type LIKE 'cftrag%'")" = 1 ]
}
left() { grep -c "gave way to a session that copies, renames or drops this database" "$LIFE/a/log"; }
for statement in "CREATE DATABASE wanted_copy TEMPLATE wanted" "ALTER DATABASE wanted RENAME TO wanted_2; ALTER DATABASE wanted_2 RENAME TO wanted" "DROP DATABASE wanted"; do
    before=$(left)
    until_true "$PATIENCE" builds || note "no builder came for: $statement"
    is "the builder leaves for: $statement" "$(try a "$statement")" ""
    is "the log says so: $statement" "$(left)" "$((before + 1))"
done
sql a "DROP DATABASE wanted_copy"

# Memory for one image of 'big' and the small ones, not for two. DROP DATABASE makes room again, three times in a row.
sql a "DROP DATABASE again; DROP DATABASE copy_wal_log; DROP DATABASE copy_file_copy"
sql a "CREATE DATABASE full_ TEMPLATE three"
big a/full_ big 60000
SOME="ARRAY['n0','n1','n7','n70','n701','n5999'], 9, 2"
is "build" "$(try a/full_ "SELECT cft_build('big')")" ""
need=$(sql a/full_ "SELECT pg_size_bytes(setting || 'kB') * 0 + sum(memory_bytes) / 1024 FROM pg_stat_cftrag, pg_settings WHERE name = 'cftrag.memory_limit' GROUP BY setting")
need=${need%.*}
sql a "ALTER SYSTEM SET cftrag.memory_limit = '$((need * 3 / 2 + 2000))kB'; SELECT pg_reload_conf()" >/dev/null
sql a/three "CREATE TABLE probe ()"
for i in 1 2 3; do
    sql a "CREATE DATABASE next_$i TEMPLATE $([ $i = 1 ] && echo full_ || echo next_$((i - 1)))"
    [ $i -gt 1 ] || like "no room for two" "$(try a/next_1 "SELECT cft_build('big')")" "*53200*"
    sql a "DROP DATABASE $([ $i = 1 ] && echo full_ || echo next_$((i - 1)))"
    is "room after DROP DATABASE ($i)" "$(try a/next_$i "SELECT cft_build('big')")" ""
    exact a/next_$i big image "$SOME"
done
# A table that is dropped in one database makes room in another one.
sql a/next_3 "DROP TABLE big"
big a/two big 60000
is "room after DROP TABLE in another database" "$(try a/two "SELECT cft_build('big')")" ""
exact a/two big image "$SOME"
sql a/two "DROP TABLE big"
big a/next_3 big 60000
is "and back" "$(try a/next_3 "SELECT cft_build('big')")" ""
# DROP DATABASE WITH (FORCE) while a session is connected.
open s a/next_3
exact_in s big image "$SOME"
sql a "DROP DATABASE next_3 WITH (FORCE)"; close s
exact a/two edges image

# Many tables, each asked in one database, which is then dropped.
sql a "ALTER SYSTEM SET cftrag.memory_limit = '1GB'; SELECT pg_reload_conf()" >/dev/null
for i in 1 2; do
    sql a "CREATE DATABASE many"
    sql a/many "SET client_min_messages = warning; CREATE EXTENSION cftrag CASCADE"
    sql a/many "SELECT format('CREATE TABLE m%s (parent text, child text); INSERT INTO m%1\$s VALUES (''a'', ''b''); SELECT cft_attach(''m%1\$s'')', n) FROM generate_series(1, 400) AS n
\\gexec
SELECT format('SELECT count(*) FROM cft_context(''b'', edges => ''m%s'')', n) FROM generate_series(1, 400) AS n
\\gexec" >/dev/null
    is "all have images ($i)" "$(sql a/many "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready'")" 400
    of_many() { sql a/two "SELECT places, images, gone FROM pg_stat_cftrag_databases WHERE datname = 'many'"; }
    is "their places ($i)" "$(of_many)" "400|400|0"
    # Tables dropped by name, some of them in vain, by their extension, and with the database.
    sql a/many "BEGIN; DROP TABLE m101, m102; ROLLBACK; BEGIN; SAVEPOINT s; DROP TABLE m103; ROLLBACK TO s; COMMIT" >/dev/null
    sql a/many "SELECT format('DROP TABLE m%s', n) FROM generate_series(1, 100) AS n
\\gexec" >/dev/null
    is "after DROP TABLE ($i)" "$(of_many)" "300|300|0"
    [ "$i" = 1 ] || { sql a/many "SET client_min_messages = warning; DROP EXTENSION cftrag CASCADE"; is "after DROP EXTENSION" "$(of_many)" ""; }
    sql a "DROP DATABASE many"
    is "after DROP DATABASE ($i)" "$(sql a/two "SELECT count(*) FROM pg_stat_cftrag_databases WHERE datname IS NULL OR gone > 0")" 0
done
exact a/two edges image
finish
