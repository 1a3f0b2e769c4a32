#!/bin/bash
# No role's tables keep everybody else's from having images: neither by memory nor by slots. Who has more gives way, once, and cannot take it back.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
server a cftrag.memory_limit=12MB cftrag.build_in_place_limit=1GB cftrag.build_on_start=off
sql a "CREATE ROLE greedy; CREATE ROLE modest; GRANT CREATE ON SCHEMA public TO greedy, modest" >/dev/null
# Names of a large table, since all of them take long.
SOME="ARRAY['n0','n7','n70','n701','n1999'], 6, 2"
# TABLE ROLE ROWS
owned() { big a "$1" "$3"; sql a "ALTER TABLE $1 OWNER TO $2" >/dev/null; }
owned hog greedy 60000
owned hog_too greedy 30000
owned own modest 40000
owned tiny modest 500
is "the first" "$(try a "SELECT cft_build('hog')")" ""
is "another" "$(try a "SELECT cft_build('hog_too')")" ""
exact a hog image "$SOME"; exact a hog_too image "$SOME"
used() { sql a "SELECT sum(memory_bytes) > 7000000 FROM pg_stat_cftrag"; }
is "nearly all is used" "$(used)" t
is "who has less gets it" "$(try a "SELECT cft_build('own')")" ""
exact a own image "$SOME"
exact a hog incomplete "$SOME"; exact a hog_too image "$SOME"
like "and keeps it" "$(try a "SELECT cft_build('hog')")" "*53200*"
exact a own image "$SOME"; exact a tiny image; exact a hog incomplete "$SOME"
# A single role is not concerned: it is its own tables that are too many.
sql a "ALTER SYSTEM SET cftrag.memory_limit = '1GB'; SELECT pg_reload_conf()" >/dev/null
# What gave way comes back with its next reader, once there is room.
back() { [[ $(try a "$(how_sql hog "$SOME")") == "image, "* ]]; }
until_true $((PATIENCE * 6)) back || note "an image that gave way is not built again where there is room"
sql a "SELECT cft_detach('hog'); SELECT cft_detach('hog_too'); SELECT cft_detach('own')" >/dev/null

# Slots: 256 of one role, all with images; another's table has its image at its first reader.
sql a "SELECT format('CREATE TABLE many_%1\$s (parent text, child text); ALTER TABLE many_%1\$s OWNER TO greedy; INSERT INTO many_%1\$s VALUES (''a'', ''b''); SELECT cft_attach(''many_%1\$s'')', i) FROM generate_series(1, 262) AS i
\\gexec
SELECT format('SELECT count(*) FROM cft_context(''b'', edges => ''many_%s'')', i) FROM generate_series(1, 262) AS i
\\gexec" >/dev/null
is "all slots but one" "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready' AND edges::text LIKE 'many%'")" 255
exact a tiny image
owned late modest 100
exact a late image
exact a tiny image
is "one made room" "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready' AND edges::text LIKE 'many%'")" 254
exact a many_262 no_memory

# Memory of a build: its log, and what it has made so far, count for the table's owner and give way, as an image does.
server b cftrag.memory_limit=12MB cftrag.build_in_place_limit=1kB cftrag.build_on_start=off
sql b "CREATE ROLE greedy; CREATE ROLE modest; GRANT CREATE ON SCHEMA public TO greedy, modest" >/dev/null
ended() { value_is b "SELECT count(*) FROM pg_stat_progress_cftrag WHERE edges = 'hog'::regclass" 0; }
phase() { value_is b "SELECT phase FROM pg_stat_progress_cftrag WHERE edges = 'hog'::regclass" "$1"; }
# A build of hog that waits for w, whose log has so many rows, of 51 bytes each.
open w b; open l b
waits_with() {
    ask w "BEGIN; INSERT INTO hog VALUES ('t', 'n1', 'n2');" >/dev/null
    send l "SELECT cft_build('hog');"
    until_true "$PATIENCE" phase 'waiting for writers' || note "no build of hog waits"
    is "$1 rows into the log" "$(try b "INSERT INTO hog SELECT 't', 'p', 'c' FROM generate_series(1, $1)")" ""
}
big b hog 100; big b own 40000
sql b "ALTER TABLE hog OWNER TO greedy; ALTER TABLE own OWNER TO modest" >/dev/null
is "own" "$(try b "SELECT cft_build('own')")" ""
waits_with 300000
until_true "$PATIENCE" ended || note "a log that found no memory does not end its build"
is "its memory is free" "$(try b "SELECT cft_build('own')")" ""
exact b own image "$SOME"
ask w "ROLLBACK;" >/dev/null
like "no memory for a log" "$(answer l)" "*53200*"
sql b "DELETE FROM hog WHERE parent = 'p'"
waits_with 155000
is "a log gives way" "$(try b "SELECT cft_build('own')")" ""
until_true "$PATIENCE" ended || note "a build whose log gave way does not end"
exact b own image "$SOME"
ask w "ROLLBACK;" >/dev/null
like "no memory for a log that gave way" "$(answer l)" "*53200*"
# A build that has made most of its image, and still scans rows that have no edges.
sql b "SELECT cft_detach('hog'); DROP TABLE hog; CREATE TABLE hog (tree text, parent text, child text);
    INSERT INTO hog SELECT 't', 'n' || n / 10, 'n' || n FROM generate_series(1, 60000) AS n; INSERT INTO hog SELECT FROM generate_series(1, 2500000);
    SELECT cft_attach('hog', tree => 'tree'); ALTER TABLE hog OWNER TO greedy" >/dev/null
scanned() { value_is b "SELECT phase, edges_done >= 60000 FROM pg_stat_progress_cftrag" "scanning table|t"; }
send l "SELECT cft_build('hog');"
until_true "$PATIENCE" scanned || note "no build of hog has scanned its edges"
is "a build gives way" "$(try b "SELECT cft_build('own')")" ""
like "and ends" "$(answer l)" "*53200*"
exact b own image "$SOME"
finish
