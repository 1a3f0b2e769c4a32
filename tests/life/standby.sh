#!/bin/bash
# A streaming standby follows and answers by the reference query; after promotion, new and old sessions are served by an image of its own.
. "${0%/*}/lib.sh"; story "$@"
server a wal_level=replica max_wal_senders=5
small a edges
exact a edges image
add b own
mkdir -p "$LIFE/b"; echo "$CONFIG" >"$LIFE/b/pg_config"
as_postgres "$BIN/pg_basebackup" -d "$(url a)" -D "$LIFE/b/data" -X stream -R -c fast --no-sync 2>"$LIFE/error" || broken "pg_basebackup: $(cat "$LIFE/error")"
start b hot_standby=on
follow() { until_true "$PATIENCE" value_is b "SELECT pg_last_wal_replay_lsn() >= '$(sql a "SELECT pg_current_wal_lsn()")'" t || note "the standby does not follow"; }

follow
exact b edges recovery
open s b; open old b
exact_in s edges recovery
like "no build on a standby" "$(try b "SELECT cft_build('edges')")" "*55000*"
sql a "INSERT INTO edges VALUES ('t1', 'n3', 'new'), ('t4', 'new', 'n1'); DELETE FROM edges WHERE child = 'n9'; UPDATE edges SET child = 'm11' WHERE child = 'n11'"
follow
exact_in s edges recovery
is "it followed" "$(sql b "SELECT count(*) FROM edges WHERE child IN ('new', 'm11', 'n9', 'n11')")" 2
# Names in a text: by an image that the call makes for itself, as by the definition.
entities="SELECT string_agg(e::text, '|') FROM cft_entities('n9, new and m11, which is n1''s') AS e;"
found=$(sql b "$entities")
like "names in a text" "$found" "*new*m11*n1*"
is "as by the definition" "$(sql b "SET cftrag.enable = off; $entities")" "$found"
sql a "BEGIN; TRUNCATE edges; INSERT INTO edges VALUES ('t1', 'a', 'b'), ('t1', 'b', 'c'), ('t1', 'c', 'd'); COMMIT; VACUUM FULL edges"
follow
exact_in s edges recovery
exact a edges image
# A change that the primary has not committed at the promotion does not exist on the promoted server.
open w a
is "write" "$(ask w "BEGIN; INSERT INTO edges VALUES ('t1', 'lost', 'b');")" ""
sql a "CHECKPOINT; SELECT pg_switch_wal()" >/dev/null
follow

like "a snapshot of the standby" "$(ask old "BEGIN ISOLATION LEVEL REPEATABLE READ; $(how_sql edges);")" "recovery, *"
is "promotion" "$(try b "SELECT pg_promote()")" t
exact_in s edges image
exact b edges image
# This snapshot was taken in recovery, and does not cover transactions since then.
exact_in old edges old_snapshot
entities="SELECT string_agg(e::text, '|') FROM cft_entities('a, b, c and d') AS e;"
found=$(ask old "$entities")
like "names under it" "$found" "*a*b*c*d*"
is "as by the definition" "$(ask old "SET LOCAL cftrag.enable = off; $entities SET LOCAL cftrag.enable = on;")" "$found"
sql b "INSERT INTO edges VALUES ('t1', 'd', 'e'); DELETE FROM edges WHERE child = 'b'"
exact_in s edges image
exact_in old edges old_snapshot
is "end" "$(ask old "COMMIT;")" ""
exact_in old edges image
before=$(built b edges)
is "own change" "$(ask s "BEGIN; INSERT INTO edges VALUES ('t2', 'd', 'own');")" ""
exact_in s edges image
exact b edges image
is "commit" "$(ask s "COMMIT;")" ""
exact_in old edges image
is "one image" "$(built b edges)" "$before"
# The old primary goes its own way.
is "write" "$(ask w "COMMIT;")" ""
exact a edges image
is "different tables" "$(sql a "SELECT count(*) FROM edges WHERE parent = 'lost'")$(sql b "SELECT count(*) FROM edges WHERE parent = 'lost'")" 10
close s; close old; close w
finish
