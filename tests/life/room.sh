#!/bin/bash
# Where memory is short, the image that was asked for least recently goes, whole, and comes back when it is asked for: first in its own
# database, then in one that has more than its share. What goes, goes back to the system.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
server a cftrag.memory_limit=20MB cftrag.build_in_place_limit=1GB cftrag.build_on_start=off
# Some names of a large table; all would take too long.
SOME="ARRAY['n0','n7','n70','n701','n1999'], 6, 2"
images() { sql "$1" "SELECT string_agg(edges::text, ' ' ORDER BY edges::text) FROM pg_stat_cftrag WHERE state = 'ready'"; }
# The time of a call is noted to a second, and an image stays for twenty times the duration of its build.
asked() { sleep 1.5; exact "$1" "$2" image "$SOME"; }
fresh() { sql "$1" "SELECT pg_sleep(20 * max(build_ms) / 1000) FROM pg_stat_cftrag" >/dev/null; }
# The images of one, two and three take 7.9 MB each.
for table in one two three; do big a $table 60000; done
small a tiny
asked a one; asked a two; asked a tiny; asked a one
fresh a; asked a three
is "two went" "$(images a)" "one three tiny"
asked a tiny; fresh a; asked a two
is "one went, which is asked for less recently than three" "$(images a)" "three tiny two"
asked a tiny; fresh a; is "a build for all asks as a reader does" "$(try a "SELECT cft_build('one')")" ""
is "three went" "$(images a)" "one tiny two"
# Just built: no other image may take their place, and the answers are exact.
sql a "TRUNCATE two; TRUNCATE one" >/dev/null
is "no image is incomplete" "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'incomplete' OR ref_incomplete > 0")" 0

# A kept image stays, whatever is asked.
sql a "SELECT cft_attach('tiny', tree => 'tree', keep => true)" >/dev/null
for table in one two; do sql a "INSERT INTO $table SELECT * FROM three" >/dev/null; done
asked a tiny; asked a one; fresh a; asked a two; fresh a; asked a three; fresh a; asked a one
like "tiny stays" "$(images a)" "*tiny*"

# A commit that finds no room: others go; where none may, its own image, and no write fails.
fresh a; asked a three
is "rows for which others go" "$(try a "INSERT INTO three SELECT 't', 'm' || n / 10, 'm' || n FROM generate_series(1, 30000) AS n")" ""
exact a three image "$SOME"
is "rows that do not fit at all" "$(try a "INSERT INTO three SELECT 't', 'l' || n / 10, 'l' || n FROM generate_series(1, 120000) AS n")" ""
is "no image is incomplete" "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'incomplete' OR ref_incomplete > 0")" 0
like "three has none" "$(sql a "SELECT state, reason FROM pg_stat_cftrag WHERE edges = 'three'::regclass")" "none|no_memory"
exact a three no_memory "$SOME"
sql a "TRUNCATE three" >/dev/null

# A build that cannot fit drops no image; a table that is large for other columns is no such table.
fresh a; asked a one; before=$(images a)
sql a "CREATE TABLE far AS SELECT 'n' || n / 10 AS parent, 'n' || n AS child FROM generate_series(1, 800000) AS n; ANALYZE far; SELECT cft_attach('far')" >/dev/null
fresh a; like "far too large" "$(try a "SELECT cft_build('far')")" "*53200*"
is "all images stay" "$(images a)" "$before"
sql a "DROP TABLE far; CREATE TABLE wide AS SELECT 'n' || n / 10 AS parent, 'n' || n AS child, repeat('x', 1500) AS body FROM generate_series(1, 20000) AS n; ANALYZE wide; SELECT cft_attach('wide')" >/dev/null
is "wide" "$(try a "SELECT cft_build('wide'); DROP TABLE wide")" ""

# Another database has its share, whoever had all before; and not more.
sql a "SELECT cft_detach('three')" >/dev/null
fresh a; asked a one; asked a two
sql a "CREATE DATABASE other"
oracle a/other
big a/other theirs 60000; big a/other theirs_too 60000
fresh a; asked a/other theirs
is "one of two went for it" "$(images a)" "tiny two"
fresh a/other; asked a/other theirs_too
is "the share is used up" "$(images a/other)" "theirs_too"
is "others keep theirs" "$(images a)" "tiny two"

# What goes, goes back to the system: a fifth of it stays at most, with sessions connected that have mapped it.
open s a; exact_in s two image "$SOME"
used() { du -ck $(for pid in $(pgrep -P "$(postmaster a)"); do grep -oE '/dev/shm/PostgreSQL[^ ]*' "/proc/$pid/maps"; done | sort -u) 2>/dev/null | tail -1 | cut -f1; }
before=$(used)
sql a "DROP DATABASE other"
sql a "DROP TABLE two"
after=$(used)
echo "# $STORY: /dev/shm $before kB, $after kB after images of 15,800 kB went" >&2
[ $((before - after)) -ge 12600 ] || note "/dev/shm shrinks from $before kB to $after only"
close s

# A lower limit acts at once.
sql a "ALTER SYSTEM SET cftrag.memory_limit = '1MB'; SELECT pg_reload_conf()" >/dev/null
fits() { value_is a "SELECT memory_bytes <= memory_limit_bytes AND memory_limit_bytes = 1048576 FROM pg_stat_cftrag_server" t; }
until_true 20 fits || note "images have more than the lower limit: $(sql a "SELECT * FROM pg_stat_cftrag_server")"
is "the kept image stays" "$(images a)" tiny

# A build's log counts, too. Here a build of hog waits for the writer w.
server b cftrag.memory_limit=12MB cftrag.build_in_place_limit=1kB cftrag.build_on_start=off
phase() { value_is b "SELECT phase FROM pg_stat_progress_cftrag WHERE edges = 'hog'::regclass" "$1"; }
ended() { value_is b "SELECT count(*) FROM pg_stat_progress_cftrag WHERE edges = 'hog'::regclass" 0; }
open w b; open l b
big b hog 100
ask w "BEGIN; INSERT INTO hog VALUES ('t', 'n1', 'n2');" >/dev/null
send l "SELECT cft_build('hog');"
until_true "$PATIENCE" phase 'waiting for writers' || note "no build of hog waits"
is "300000 rows into the log" "$(try b "INSERT INTO hog SELECT 't', 'p', 'c' FROM generate_series(1, 300000)")" ""
until_true "$PATIENCE" ended || note "a log that found no memory does not end its build"
ask w "ROLLBACK;" >/dev/null
like "no memory for a log" "$(answer l)" "*53200*"
big b own 36000
is "its memory is free" "$(try b "SELECT cft_build('own')")" ""
finish
