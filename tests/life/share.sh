#!/bin/bash
# Memory and slots for images are given first come, first served, up to each owner's share; no image is evicted for another.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
server a cftrag.memory_limit=20MB cftrag.owner_share=40 cftrag.build_in_place_limit=1GB cftrag.build_on_start=off
sql a "CREATE ROLE greedy; CREATE ROLE modest; GRANT CREATE ON SCHEMA public TO greedy, modest" >/dev/null
# Some names of a large table; all would take too long.
SOME="ARRAY['n0','n7','n70','n701','n1999'], 6, 2"
# owned TABLE ROLE ROWS
owned() { big a "$1" "$3"; sql a "ALTER TABLE $1 OWNER TO $2" >/dev/null; }
share_is() { sql a "ALTER SYSTEM SET cftrag.owner_share = $1; SELECT pg_reload_conf()" >/dev/null; until_true 10 value_is a "SHOW cftrag.owner_share" "$1"; }
owned hog greedy 60000
owned hog_too greedy 30000
owned own modest 20000
owned tiny modest 500
# The images of hog, hog_too and own take 7.9, 3.9 and 3.9 MB.
like "one owner's" "$(try a "SELECT cft_build('hog'); SELECT cft_build('hog_too')")" "*53200*40 percent*HINT:*cftrag.owner_share*"
exact a hog image "$SOME"; exact a hog_too no_image "$SOME"
is "another's" "$(try a "SELECT cft_build('own')")" ""
exact a own image "$SOME"; exact a hog image "$SOME"; exact a tiny image
# Repeated attempts get no more and evict no image: builds, rows that are rolled back, rows that stay.
for i in 1 2; do
    like "no more" "$(try a "SELECT cft_build('hog_too')")" "*53200*"
    is "rolled back" "$(try a "BEGIN; INSERT INTO hog SELECT 't', 'm' || n / 10, 'm' || n FROM generate_series(1, 60000) AS n; ROLLBACK")" ""
    exact a hog image "$SOME"; exact a own image "$SOME"; exact a tiny image
done
# A new image is built beside the old one: only the larger of the two counts.
is "anew" "$(try a "SELECT cft_build('own')")" ""
exact a own image "$SOME"
like "rows that stay" "$(try a "INSERT INTO hog SELECT 't', 'm' || n / 10, 'm' || n FROM generate_series(1, 60000) AS n")" "*WARNING*incomplete*"
exact a hog incomplete "$SOME"; exact a own image "$SOME"; exact a tiny image
# With a share of 100 % one owner can use up the memory; the others keep what they have.
share_is 100
is "all" "$(try a "SELECT cft_build('hog_too')")" ""
exact a hog_too image "$SOME"; exact a own image "$SOME"; exact a tiny image
share_is 50
sql a "SELECT cft_detach('hog'); SELECT cft_detach('hog_too'); SELECT cft_detach('own')" >/dev/null
sql a "ALTER SYSTEM SET cftrag.memory_limit = '1GB'; SELECT pg_reload_conf()" >/dev/null

# Slots: one owner's tables get half of the 256.
sql a "SELECT format('CREATE TABLE many_%1\$s (parent text, child text); ALTER TABLE many_%1\$s OWNER TO greedy; INSERT INTO many_%1\$s VALUES (''a'', ''b''); SELECT cft_attach(''many_%1\$s'')', i) FROM generate_series(1, 130) AS i
\\gexec
SELECT format('SELECT count(*) FROM cft_context(''b'', edges => ''many_%s'')', i) FROM generate_series(1, 130) AS i
\\gexec" >/dev/null
images() { sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready' AND edges::text LIKE 'many%'"; }
is "half of the slots" "$(images)" 128
like "a build says so" "$(try a "SELECT cft_build('many_130')")" "*54000*cftrag.owner_share*"
# Of the tables without a place other sessions see the calls, too (one for each so far).
placeless() { sql a "SELECT ref_no_memory, reference_calls, state FROM pg_stat_cftrag WHERE edges IS NULL"; }
is "calls about tables without a place" "$(placeless)" "2|2|"
exact a many_130 "nothing counted"
is "more calls" "$(sql a "SELECT ref_no_memory > 2 FROM pg_stat_cftrag WHERE edges IS NULL")" t
is "which tables" "$(sql a "SELECT edges, state, serves, reason FROM pg_stat_cftrag WHERE edges::text LIKE 'many%' AND NOT serves ORDER BY edges::text")" $'many_129|none|f|no_memory\nmany_130|none|f|no_memory'
is "reset" "$(sql a "SELECT cft_stats_reset(); SELECT count(*) FROM pg_stat_cftrag WHERE edges IS NULL")" $'\n0'
owned late modest 100
exact a late image
exact a tiny image
is "no image was evicted" "$(images)" 128

# A build's log counts, too. Here a build of hog waits for the writer w.
server b cftrag.memory_limit=12MB cftrag.build_in_place_limit=1kB cftrag.build_on_start=off
phase() { value_is b "SELECT phase FROM pg_stat_progress_cftrag WHERE edges = 'hog'::regclass" "$1"; }
ended() { value_is b "SELECT count(*) FROM pg_stat_progress_cftrag WHERE edges = 'hog'::regclass" 0; }
open w b; open l b
big b hog 100; big b own 36000
is "own" "$(try b "SELECT cft_build('own')")" ""
ask w "BEGIN; INSERT INTO hog VALUES ('t', 'n1', 'n2');" >/dev/null
send l "SELECT cft_build('hog');"
until_true "$PATIENCE" phase 'waiting for writers' || note "no build of hog waits"
is "300000 rows into the log" "$(try b "INSERT INTO hog SELECT 't', 'p', 'c' FROM generate_series(1, 300000)")" ""
until_true "$PATIENCE" ended || note "a log that found no memory does not end its build"
exact b own image "$SOME"
ask w "ROLLBACK;" >/dev/null
like "no memory for a log" "$(answer l)" "*53200*"
is "its memory is free" "$(try b "SELECT cft_build('own')")" ""
finish
