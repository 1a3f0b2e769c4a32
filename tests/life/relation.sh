#!/bin/bash
# Everything that can happen to a table while it has an image, read before, in the same transaction, afterwards, and after a rollback.
. "${0%/*}/lib.sh"; story "$@"
server a allow_in_place_tablespaces=on
sql a "CREATE TABLESPACE space LOCATION ''; CREATE SCHEMA other"
small a edges
sql a "CREATE INDEX by_child ON edges (child)"
exact a edges image
open s a     # open from beginning to end
exact_in s edges image
later="cftrag.build_in_place_limit = 0"

# undone REASON SQL: runs SQL in a transaction and rolls it back. The transaction itself gets REASON; then the old image serves, without a build.
undone() {
    local before; before=$(built a edges)
    like "begin" "$(ask s "BEGIN; $2;")" "*"
    like "inside: $2" "$(ask s "$(how_sql edges "${3:-}");")" "$1, * rows"
    is "rollback" "$(ask s "ROLLBACK;")" ""
    exact_in s edges image
    exact a edges image
    # For other reasons, a mismatch that only this transaction saw may have asked for a build.
    [[ $1 != created_here && $1 != image ]] || is "the image from before: $2" "$(built a edges)" "$before"
}
# done_ REASON SQL: runs and commits SQL. Without a build the reference query answers with REASON (or the image still does); then a build repairs it.
done_() {
    is "$2" "$(try a "SET client_min_messages = error; $2" | grep -v '^$')" ""
    like "unbuilt: $2" "$(ask s "SET $later; $(how_sql "${4:-edges}" "${3:-}"); RESET cftrag.build_in_place_limit;")" "$1, * rows"
    exact_in s "${4:-edges}" image "${3:-}"
    exact a "${4:-edges}" image "${3:-}"
    sql a "INSERT INTO ${4:-edges} SELECT * FROM ${4:-edges} ORDER BY 3 LIMIT 2"
    exact_in s "${4:-edges}" image "${3:-}"
}
undone created_here "TRUNCATE edges"
undone created_here "TRUNCATE edges; INSERT INTO edges VALUES ('t1', 'a', 'b'); TRUNCATE edges; INSERT INTO edges VALUES ('t1', 'a', 'c')"
undone created_here "INSERT INTO edges VALUES ('t1', 'a', 'b'); TRUNCATE edges; INSERT INTO edges VALUES ('t1', 'a', 'c')"
undone image "SAVEPOINT p; TRUNCATE edges; INSERT INTO edges VALUES ('t1', 'a', 'c'); ROLLBACK TO p; INSERT INTO edges VALUES ('t1', 'n1', 'd')"
done_ rewritten "BEGIN; CREATE TEMP TABLE k AS TABLE edges; TRUNCATE edges; INSERT INTO edges TABLE k; COMMIT"
done_ rewritten "VACUUM FULL edges"
done_ rewritten "CLUSTER edges USING by_child"
undone created_here "ALTER TABLE edges SET TABLESPACE space"
done_ rewritten "ALTER TABLE edges SET TABLESPACE space"
undone created_here "ALTER TABLE edges SET UNLOGGED"
done_ rewritten "ALTER TABLE edges SET UNLOGGED"
done_ rewritten "ALTER TABLE edges SET LOGGED"
# A change of type without a new file.
undone columns "ALTER TABLE edges ALTER parent TYPE varchar"
done_ columns "ALTER TABLE edges ALTER parent TYPE varchar"
done_ rewritten "ALTER TABLE edges ALTER child TYPE varchar(9) USING substr(child, 1, 9)"
done_ image "ALTER TABLE edges ALTER child TYPE varchar(20)"
done_ rewritten "ALTER TABLE edges ADD stamp timestamptz DEFAULT clock_timestamp()"
done_ image "ALTER TABLE edges ADD note text DEFAULT 'x'"
done_ image "ALTER TABLE edges DROP stamp, DROP note"
done_ image "VACUUM (FREEZE, ANALYZE) edges"
done_ image "REINDEX TABLE edges"
done_ image "ALTER TABLE edges SET (fillfactor = 50)"

# Names.
done_ image "ALTER TABLE edges RENAME TO renamed" "" renamed
done_ image "ALTER TABLE renamed SET SCHEMA other" "" other.renamed
done_ image "ALTER SCHEMA other RENAME TO another" "" another.renamed
done_ image "ALTER TABLE another.renamed SET SCHEMA public; ALTER TABLE renamed RENAME TO edges"
is "rename a column" "$(try a "ALTER TABLE edges RENAME child TO kid")" ""
like "its column is not there" "$(ask s "SELECT count(*) FROM cft_context('n1', edges => 'edges');")" "*ERROR:  42703*HINT:*cft_attach*"
like "writes go on" "$(try a "INSERT INTO edges VALUES ('t1', 'n1', 'while')")" "WARNING:*incomplete*HINT:*cft_build*"
is "rename it back" "$(try a "ALTER TABLE edges RENAME kid TO child")" ""
like "exact" "$(ask s "$(how_sql edges);")" "image, * rows"
is "rename, attach" "$(try a "ALTER TABLE edges RENAME child TO kid; SELECT cft_attach('edges', child => 'kid', tree => 'tree')")" ""
exact_in s edges image "child => 'kid'"
is "swap" "$(try a "BEGIN; ALTER TABLE edges RENAME kid TO x; ALTER TABLE edges RENAME parent TO kid; ALTER TABLE edges RENAME x TO parent; COMMIT")" ""
like "swapped" "$(ask s "SET $later; $(how_sql edges "child => 'kid'"); RESET cftrag.build_in_place_limit;")" "columns, * rows"
exact_in s edges image "child => 'kid'"
is "back" "$(try a "BEGIN; ALTER TABLE edges RENAME kid TO x; ALTER TABLE edges RENAME parent TO child; ALTER TABLE edges RENAME x TO parent; COMMIT; SELECT cft_attach('edges', tree => 'tree')")" ""
exact_in s edges image

# Triggers.
for which in cftrag_row cftrag_truncate ALL USER; do
    is "disable $which" "$(try a "ALTER TABLE edges DISABLE TRIGGER $which; INSERT INTO edges VALUES ('off', 'n1', '$which'); DELETE FROM edges WHERE child = 'n2$((RANDOM % 10))'")" ""
    exact_in s edges triggers
    is "enable $which" "$(try a "ALTER TABLE edges ENABLE TRIGGER $which")" ""
    exact_in s edges triggers
    is "attach" "$(try a "SELECT cft_attach('edges', tree => 'tree')")" ""
    exact_in s edges image
done
# Off and on again before the next read; then in one transaction.
is "off, write, always" "$(try a "ALTER TABLE edges DISABLE TRIGGER cftrag_row; INSERT INTO edges VALUES ('off', 'n1', 'unseen'); ALTER TABLE edges ENABLE ALWAYS TRIGGER cftrag_row")" ""
like "unseen" "$(ask s "SET $later; $(how_sql edges); RESET cftrag.build_in_place_limit;")" "triggers, * rows"
exact_in s edges image
is "in one transaction" "$(try a "BEGIN; ALTER TABLE edges DISABLE TRIGGER cftrag_row; INSERT INTO edges VALUES ('off', 'n1', 'unseen 2'); ALTER TABLE edges ENABLE ALWAYS TRIGGER cftrag_row; COMMIT")" ""
exact_in s edges image
undone triggers "ALTER TABLE edges DISABLE TRIGGER cftrag_row; INSERT INTO edges VALUES ('off', 'n1', 'unseen 3')"
before=$(built a edges)
is "replica" "$(try a "SET session_replication_role = replica; INSERT INTO edges VALUES ('replica', 'n1', 'n77'); UPDATE edges SET tree = 'x' WHERE child = 'n3'; DELETE FROM edges WHERE child = 'n4'")" ""
exact_in s edges image
is "by the same image" "$(built a edges)" "$before"

# No longer a plain table.
is "a child" "$(try a "CREATE TABLE kid () INHERITS (edges); INSERT INTO kid VALUES ('kid', 'n1', 'grandchild')")" ""
exact_in s edges not_plain_table
is "writes" "$(try a "INSERT INTO edges VALUES ('kid', 'n1', 'beside'); UPDATE edges SET tree = 'k' WHERE child = 'grandchild'; DELETE FROM edges WHERE child = 'n5'")" ""
exact_in s edges not_plain_table
is "the child goes" "$(try a "SET client_min_messages = error; DROP TABLE kid; ANALYZE edges")" ""
exact_in s edges image
is "a partition" "$(try a "CREATE TABLE whole (LIKE edges) PARTITION BY LIST (tree); ALTER TABLE whole ATTACH PARTITION edges DEFAULT")" ""
exact_in s edges not_plain_table
is "by the parent" "$(try a "INSERT INTO whole VALUES ('part', 'n1', 'p'); DELETE FROM whole WHERE child = 'n6'; CREATE TABLE t1 PARTITION OF whole FOR VALUES IN ('only')")" ""
exact_in s edges not_plain_table
is "detached" "$(try a "ALTER TABLE whole DETACH PARTITION edges; DROP TABLE whole; INSERT INTO edges VALUES ('part', 'n1', 'q')")" ""
exact_in s edges image
is "row-level security" "$(try a "ALTER TABLE edges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")" ""
exact_in s edges image
is "no more" "$(try a "ALTER TABLE edges DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")" ""

# Dropping: column, trigger, table, extension.
is "drop a column" "$(try a "ALTER TABLE edges DROP tree")" ""
like "its column is not there" "$(ask s "SELECT count(*) FROM cft_context('n1', edges => 'edges');")" "*ERROR:  42703*HINT:*cft_attach*"
like "writes go on" "$(try a "INSERT INTO edges VALUES ('n1', 'while')")" "WARNING:*incomplete*HINT:*cft_build*"
is "a new one" "$(try a "ALTER TABLE edges ADD tree text DEFAULT 'new'")" ""
exact_in s edges image
is "drop a trigger" "$(try a "DROP TRIGGER cftrag_truncate ON edges")" ""
like "one is missing" "$(ask s "$(how_sql edges);")" "triggers, * rows"
is "drop the other" "$(try a "DROP TRIGGER cftrag_row ON edges")" ""
like "not attached" "$(ask s "SELECT count(*) FROM cft_context('n1', edges => 'edges');")" "*ERROR:  42P01*HINT:*cft_attach*"
is "attach" "$(try a "SELECT cft_attach('edges', tree => 'tree')")" ""
exact_in s edges image
undone triggers "DROP TRIGGER cftrag_row ON edges; DROP TRIGGER cftrag_truncate ON edges; SELECT cft_attach('edges', tree => 'tree')"
is "begin" "$(ask s "BEGIN; DROP TABLE edges; ROLLBACK;")" ""
exact_in s edges image
is "dropped and made again" "$(try a "CREATE TABLE n (LIKE edges); INSERT INTO n TABLE edges; DROP TABLE edges; ALTER TABLE n RENAME TO edges; SELECT cft_attach('edges', tree => 'tree')")" ""
exact_in s edges image
like "the extension is in use" "$(try a "DROP EXTENSION cftrag")" "*ERROR:  2BP01*"
is "extension, undone" "$(ask s "SET client_min_messages = error; BEGIN; DROP EXTENSION cftrag CASCADE; INSERT INTO edges VALUES ('n1', 'ext', 't'); ROLLBACK;")" ""
exact_in s edges image
is "extension" "$(try a "SET client_min_messages = error; DROP EXTENSION cftrag CASCADE; INSERT INTO edges SELECT * FROM edges LIMIT 1")" ""
like "gone" "$(ask s "SELECT count(*) FROM cft_context('n1', edges => 'edges');")" "*ERROR:  42883*"
is "extension again" "$(try a "CREATE EXTENSION cftrag; SELECT cft_attach('edges', tree => 'tree')")" ""
exact_in s edges image

# Images of dropped tables are freed: memory for a few suffices for a hundred in a row.
sql a "ALTER SYSTEM SET cftrag.memory_limit = '3MB'; SELECT pg_reload_conf()" >/dev/null
answer=$(sql a "DO \$\$ DECLARE n bigint; BEGIN
    FOR i IN 1..100 LOOP
        EXECUTE format('CREATE TABLE gone_%s (parent text, child text)', i);
        EXECUTE format('INSERT INTO gone_%s SELECT n / 3, n FROM generate_series(1, 500) AS n', i);
        EXECUTE format('SELECT cft_attach(''gone_%s'')', i);
        COMMIT;
        EXECUTE format('SELECT count(*) FROM cft_context(''7'', 9, 9, ''gone_%s'')', i) INTO n;
        IF n = 0 OR (SELECT image_calls FROM pg_stat_cftrag WHERE edges = format('gone_%s', i)::regclass) = 0 THEN
            RAISE NOTICE 'gone_% was not served by its image', i;
        END IF;
        EXECUTE format(CASE i % 3 WHEN 0 THEN 'DROP TABLE gone_%s' WHEN 1 THEN 'SELECT cft_detach(''gone_%s'')' ELSE 'DROP TRIGGER cftrag_row ON gone_%1\$s; DROP TRIGGER cftrag_truncate ON gone_%1\$s' END, i);
        COMMIT;
    END LOOP; END \$\$" 2>&1; cat "$LIFE/error")
is "a hundred tables come and go" "$answer" ""
exact_in s edges image
close s
finish
