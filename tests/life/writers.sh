#!/bin/bash
# What a writer may expect beside an image: a cancel ends a statement while its changes are being recorded, an unreadable value does not make a
# write fail, and a build in a reader's own call gives way.
. "${0%/*}/lib.sh"; story "$@"
server a
sql a "$(until_phase_sql)" >/dev/null
small a edges
is "build" "$(try a "SELECT cft_build('edges')")" ""
exact a edges image

# Cancels a statement while its AFTER trigger records rows. All the rows would exceed the limit; those flushed before belong to an aborted
# transaction.
rows="INSERT INTO edges SELECT 't', 'n' || n / 10, 'more' || n FROM generate_series(1, 20000000) AS n"
like "statement_timeout" "$(try a "SET statement_timeout = '300ms'; $rows")" "*57014*"
exact a edges image
# After a rollback to a savepoint the transaction goes on, with its earlier changes.
like "exception block" "$(try a "BEGIN; INSERT INTO edges VALUES ('t', 'n1', 'own');
    DO \$\$ BEGIN INSERT INTO edges SELECT 't', 'n2', 'gone' || n FROM generate_series(1, 30000) AS n; RAISE division_by_zero;
        EXCEPTION WHEN OTHERS THEN END \$\$;
    SAVEPOINT p; SET LOCAL statement_timeout = '300ms'; $rows; ROLLBACK TO p; $(how_sql edges); COMMIT;")" "*57014*image, * rows"
exact a edges image
is "the row is there" "$(sql a "SELECT count(*) FROM edges WHERE child = 'own'")" 1
# One pair that many rows share, and as many deletes.
sql a "INSERT INTO edges SELECT n, 'France', 'Paris' FROM generate_series(1, 30000) AS n; SELECT cft_build('edges')" >/dev/null
like "a DELETE" "$(try a "SET statement_timeout = '1ms'; DELETE FROM edges WHERE parent = 'France'")" "*57014*"
exact a edges image "ARRAY['n1', 'n5', 'own'], 4, 4"
is "the DELETE again" "$(try a "DELETE FROM edges WHERE parent = 'France'")" ""
exact a edges image

# An unreadable name: UPDATE of another column works, and so does DELETE; the image is given up with a WARNING.
if [ "$(sql a "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_surgery'")" = 1 ]; then
    sql a "CREATE EXTENSION pg_surgery; CREATE TABLE long (id int, parent text, child text); ALTER TABLE long ALTER parent SET STORAGE EXTERNAL;
        INSERT INTO long SELECT n, repeat('x', 100000), 'k' || n FROM generate_series(1, 2) AS n; INSERT INTO long VALUES (3, 'a', 'b');
        SELECT cft_attach('long'); SELECT cft_build('long')" >/dev/null
    toast=$(sql a "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'long'::regclass")
    sql a "VACUUM (FREEZE) long"
    sql a "SELECT heap_force_kill('$toast'::regclass, array_agg(ctid)) FROM $toast WHERE chunk_seq < 3" >/dev/null
    like "the value is damaged" "$(try a "SELECT length(parent || '') FROM long WHERE id = 1")" "*XX00*chunk*"
    like "an UPDATE beside it" "$(try a "UPDATE long SET id = 4 WHERE id = 1")" "*WARNING*incomplete*"
    like "a DELETE of it" "$(try a "DELETE FROM long WHERE id = 2; SELECT count(*), min(id) FROM long")" "*2|3"
    like "no image" "$(state a long)" "@(incomplete|none|empty|)"
else
    note "pg_surgery is not installed: a damaged value was not tried"
fi

# A reader builds the image of a table that a writer wants to lock. The writer's transaction stays open, so no worker builds the image meanwhile.
gave_way() {  # gave_way N: whether the reader of try N was answered without building the image
    sql a "CREATE TABLE wanted$1 (parent text, child text);
        INSERT INTO wanted$1 SELECT 'p' || n / 10, 'c' || n FROM generate_series(1, 300000) AS n;
        CREATE INDEX ON wanted$1 (parent); CREATE INDEX ON wanted$1 (child); SELECT cft_attach('wanted$1')" >/dev/null
    send r "SELECT count(*) FROM cft_context('p7', 1, 1, 'wanted$1');"
    try a "SELECT until_phase('counting rows')" >/dev/null
    send w "BEGIN; INSERT INTO wanted$1 VALUES ('w', 'x');"
    is "the reader" "$(answer r)" 10
    is "the writer" "$(answer w)" ""
    local served
    served=$(state a "wanted$1")
    ask w "COMMIT;" >/dev/null
    [ "$served" != ready ]
}
open r a; open w a
# Tries again if the writer came too late, when the build had ended.
way=
for n in 1 2 3 4 5; do if gave_way "$n"; then way=1; break; fi; done
is "a build in place gives way" "$way" 1
close r; close w
# A reader does not read very long values while writers wait; it leaves the build to a worker.
sql a "CREATE TABLE wide (parent text, child text); SELECT cft_attach('wide'); INSERT INTO wide VALUES ('a', 'b'), (repeat('x', 2000000), 'c')" >/dev/null
like "the first reader does not build it" "$(sql a "$(how_sql wide "ARRAY['a', 'b', 'c'], 1, 1")")" "no_image, 3 rows"
served() { sql a "SELECT FROM cft_context('b', 1, 0, 'wide')"; [ "$(state a wide)" = ready ]; }
until_true "$PATIENCE" served || note "no worker built the image of long names"
exact a wide image "ARRAY['a', 'b', 'c'], 1, 1"
finish
