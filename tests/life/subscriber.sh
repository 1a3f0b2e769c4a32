#!/bin/bash
# Logical replication: the subscriber's own attached table follows the initial copy and every change, because the triggers are ENABLE ALWAYS;
# the image built before the subscription gets them all. Includes streamed and two-phase transactions.
. "${0%/*}/lib.sh"; story "$@"
server a wal_level=logical logical_decoding_work_mem=64kB
server b wal_level=logical max_logical_replication_workers=8
small a edges
sql a "ALTER TABLE edges REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE edges; SELECT cft_detach('edges')" >/dev/null
sql b "CREATE TABLE edges (note text, child text, parent text, tree text); INSERT INTO edges (tree, parent, child) VALUES ('own', 'n1', 'mine');
    SELECT cft_attach('edges', tree => 'tree'); ALTER SYSTEM SET cftrag.build_in_place_limit = 0; SELECT cft_build('edges')" >/dev/null
exact b edges image
# Summaries of its own: what comes marks those that are due, each change once.
sql b "CREATE TABLE gists (entity text, gist text); SELECT cft_attach_summaries('gists', summary => 'gist', edges => 'edges'); DELETE FROM gists" >/dev/null
due() { sql b "WITH d AS (DELETE FROM gists RETURNING entity) SELECT string_agg(DISTINCT entity, ' ' ORDER BY entity) FROM d WHERE entity ~ '^[sw]'"; }
# From here on there are no builds: the triggers bring everything into the image.
sql b "SELECT pg_reload_conf()" >/dev/null
before=$(built b edges)

streaming=on; [ "$MAJOR" -lt 16 ] || streaming=parallel
sql b "CREATE SUBSCRIPTION s CONNECTION '$(url a)' PUBLICATION p WITH (streaming = $streaming, two_phase = true)" >/dev/null 2>&1
rows() { sql "$1" "SELECT count(*), md5(string_agg(e, '|' ORDER BY e COLLATE \"C\")) FROM (SELECT format('%s,%s,%s', tree, parent, child) FROM edges WHERE tree IS DISTINCT FROM 'own') AS z(e)"; }
same_rows() { [ "$(rows a)" = "$(rows b)" ]; }
synced() { value_is b "SELECT count(*) FILTER (WHERE srsubstate <> 'r') FROM pg_subscription_rel" 0 && same_rows; }
follow() {
    until_true "$PATIENCE" synced || note "$1: the subscriber does not follow"
    exact b edges image "${2:-}"
}
follow "initial copy"
sql a "INSERT INTO edges VALUES ('t1', 'n3', 'new'), ('t4', 'new', 'n1'); DELETE FROM edges WHERE child = 'n9'; UPDATE edges SET child = 'm11' WHERE child = 'n11'; UPDATE edges SET tree = 't1' WHERE child = 'n12'"
follow "changes"
sql a "BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'a1'); SAVEPOINT s; INSERT INTO edges VALUES ('t1', 'n3', 'a2'); ROLLBACK TO s; INSERT INTO edges VALUES ('t1', 'n3', 'a3'); DELETE FROM edges WHERE child = 'n2'; COMMIT"
follow "savepoints"
due >/dev/null
sql a "INSERT INTO edges VALUES ('t1', 's1', 's2'), ('t1', 's2', 's3')"
follow "marks"
is "an INSERT marks" "$(due)" "s1 s2"
sql a "UPDATE edges SET parent = 'w' WHERE child = 's3'"
follow "marks of an UPDATE"
is "an UPDATE marks" "$(due)" "s1 s2 w"
sql a "DELETE FROM edges WHERE child = 's2'"
follow "marks of a DELETE"
is "a DELETE marks" "$(due)" "s1"
# A transaction large enough to be streamed while it runs, with a subtransaction that is rolled back after it was streamed.
sql a "BEGIN; INSERT INTO edges SELECT 'big', 'b' || n / 7, 'b' || n FROM generate_series(1, 1000) AS n; SAVEPOINT s;
    INSERT INTO edges SELECT 'gone', 'b' || n / 7, 'b' || n FROM generate_series(1, 1000) AS n; ROLLBACK TO s; DELETE FROM edges WHERE child LIKE 'b1%'; COMMIT"
follow "streamed" "ARRAY['b0','b1','b3','b20','b200','b999','n1','a3']"
is "prepare" "$(try a "BEGIN; INSERT INTO edges VALUES ('t1', 'n4', 'two'); DELETE FROM edges WHERE child = 'n5'; PREPARE TRANSACTION 'x'")" ""
until_true "$PATIENCE" value_is b "SELECT count(*) FROM pg_prepared_xacts" 1 || note "the prepared transaction does not come"
exact b edges image "ARRAY['n1','n4','n5','two','b2']"
is "commit prepared" "$(try a "COMMIT PREPARED 'x'")" ""
follow "two-phase" "ARRAY['n1','n4','n5','two','b2']"
is "rolled back prepared" "$(try a "BEGIN; INSERT INTO edges VALUES ('t1', 'n4', 'three'); PREPARE TRANSACTION 'x'; ROLLBACK PREPARED 'x'")" ""
sql a "DELETE FROM edges WHERE tree = 'big'"
follow "large delete"
# The subscriber's own change, between those of the publisher.
sql b "INSERT INTO edges (tree, parent, child) VALUES ('own', 'mine', 'n1')"
follow "own change"
is "one image from before the subscription" "$(built b edges)" "$before"
sql b "SELECT cft_detach('gists')" >/dev/null
# TRUNCATE gives the table a new file; the reference query answers until the owner builds a new image.
sql a "TRUNCATE edges; INSERT INTO edges VALUES ('t1', 'a', 'b'), ('t1', 'b', 'c')"
until_true "$PATIENCE" same_rows || note 'truncate does not follow'
exact b edges rewritten
is "build" "$(try b "SELECT cft_build('edges')")" ""
sql a "INSERT INTO edges VALUES ('t1', 'c', 'd')"
follow "after truncate"
sql b "DROP SUBSCRIPTION s" >/dev/null 2>&1
exact b edges image

# A replication slot's exported snapshot, as tools that copy a database use it: transactions that ended while the slot was created lie between its
# xmax and its xmin.
waits() { value_is b "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'" t; }
begun() { ask "$1" "BEGIN; SELECT pg_current_xact_id() IS NULL;" >/dev/null; }
open first b; open second b; open third b; open copy b
begun first
coproc slot { "$BIN/psql" -X -q -At -d "$(url b) replication=database" 2>&1; }
echo "CREATE_REPLICATION_SLOT slot TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT;" >&"${slot[1]}"
until_true "$PATIENCE" waits || note "the slot waits for nobody"
sql b "INSERT INTO edges (tree, parent, child) VALUES ('t1', 'a', 'between'); DELETE FROM edges WHERE child = 'c'"
begun second
ask first "COMMIT;" >/dev/null
sleep 1; until_true "$PATIENCE" waits || note "the slot waits for the first only"
begun third
ask second "ROLLBACK;" >/dev/null
IFS='|' read -r -t "$PATIENCE" -u "${slot[0]}" _ _ snapshot _ || note "no slot"
ask copy "BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot';" >/dev/null
like "its xmin is after its xmax" "$(ask copy "SELECT split_part(s, ':', 1)::bigint > split_part(s, ':', 2)::bigint FROM CAST(pg_current_snapshot() AS text) AS s;")" t
exact_in copy edges image "ARRAY['a', 'b', 'c', 'd'], verify => false"
ask third "ROLLBACK;" >/dev/null
echo '\q' >&"${slot[1]}"
finish
