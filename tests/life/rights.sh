#!/bin/bash
# The background workers are superusers, and run no code of the owner of a database or of a table in it, whether the database has the extension
# or not.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
server a cftrag.build_in_place_limit=0
sql a "CREATE ROLE owner LOGIN; CREATE DATABASE bare OWNER owner; CREATE DATABASE rich OWNER owner" >/dev/null
sql a/rich "CREATE EXTENSION cftrag CASCADE" >/dev/null
# As the owner: puts operators and functions that cftrag's queries might name in front of pg_catalog; each writes to the server's log when it is called.
for db in bare rich; do
    sql "a/$db" "SET ROLE owner; CREATE SCHEMA front;
        CREATE FUNCTION front.trap() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
            RAISE LOG 'trapped % in %', current_user, current_database();
            IF current_setting('is_superuser') = 'on' THEN EXECUTE 'ALTER ROLE owner SUPERUSER'; END IF;
            RETURN true; END \$\$;
        CREATE FUNCTION front.still() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN
            IF current_user <> 'owner' THEN RETURN front.trap(); END IF; RETURN true; END \$\$;
        DO \$\$ DECLARE t text; op text; BEGIN
            FOREACH t IN ARRAY '{text,name,oid,int4,int8,bool}'::text[] LOOP
                EXECUTE format('CREATE FUNCTION front.same(pg_catalog.%1\$s, pg_catalog.%1\$s) RETURNS boolean LANGUAGE sql AS ''SELECT front.trap()''', t);
                FOREACH op IN ARRAY '{=,<>,<,>,~}'::text[] LOOP
                    EXECUTE format('CREATE OPERATOR front.%1\$s (LEFTARG = pg_catalog.%2\$s, RIGHTARG = pg_catalog.%2\$s, FUNCTION = front.same)', op, t);
                END LOOP;
            END LOOP;
        END \$\$;
        CREATE FUNCTION front.any_catalog() RETURNS SETOF pg_catalog.pg_extension LANGUAGE sql AS 'SELECT x.* FROM pg_catalog.pg_extension AS x WHERE front.trap()';
        CREATE VIEW front.pg_extension AS SELECT * FROM front.any_catalog()" >/dev/null
    try "a/$db" "SET ROLE owner; ALTER DATABASE $db SET search_path = front, pg_catalog, public; ALTER DATABASE $db SET default_transaction_isolation = serializable;
        ALTER DATABASE $db SET role = owner; ALTER DATABASE $db SET default_transaction_read_only = on" >/dev/null
done
table() {
    sql a/rich "SET ROLE owner; SET default_transaction_read_only = off; SET search_path = pg_catalog, public, front;
        CREATE DOMAIN front.checked AS text CHECK (front.still());
        CREATE TABLE front.edges (parent text, child text, more text GENERATED ALWAYS AS (CASE WHEN front.still() THEN 'x' END) STORED, checked front.checked);
        INSERT INTO front.edges SELECT 'n' || n / 10, 'n' || n FROM generate_series(1, 3000) AS n;
        CREATE INDEX ON front.edges (child) WHERE front.still(); CREATE INDEX ON front.edges ((front.still()));
        CREATE FUNCTION front.touched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM front.still(); RETURN NULL; END';
        CREATE TRIGGER touched AFTER INSERT ON front.edges FOR EACH STATEMENT EXECUTE FUNCTION front.touched();
        ALTER TABLE front.edges ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON front.edges USING (front.still());
        SELECT public.cft_attach('front.edges')" >/dev/null
}
table
trapped() { grep -a 'LOG:  trapped' "$LIFE/a/log" | tail -1; }
is "nothing is sprung by making them" "$(trapped)" ""
stop a; start a cftrag.build_in_place_limit=0
asks() { try a/rich "SET ROLE NONE; SET default_transaction_read_only = off; SET search_path = pg_catalog, public; $1"; }
ready() { [ "$(asks "SELECT state FROM pg_stat_cftrag WHERE edges OPERATOR(pg_catalog.=) 'front.edges'::regclass")" = ready ]; }
until_true "$PATIENCE" ready || note "no image after a start"
like "the builder of a start" "$(trapped)" ""
# A builder that cft_build starts, and a build under a lock.
asks "SET ROLE owner; INSERT INTO front.edges (parent, child) VALUES ('x', 'y')" >/dev/null
is "cft_build beside writers" "$(asks "SELECT cft_build('front.edges')")" ""
is "cft_build under a lock" "$(asks "SET cftrag.build_in_place_limit = '1GB'; SELECT cft_build('front.edges')")" ""
is "no worker ran the owner's code" "$(trapped)" ""
is "the owner is no superuser" "$(sql a "SELECT rolsuper FROM pg_roles WHERE rolname = 'owner'")" f

# Attaching or detaching a table changes no other table's triggers, even while schemas are renamed, which no lock on a table prevents.
sql a "CREATE SCHEMA s1; CREATE SCHEMA s2; CREATE TABLE s1.e (parent text, child text); CREATE TABLE s2.e (parent text, child text);
    SELECT cft_attach('s1.e'), cft_attach('s2.e')" >/dev/null
one=$(sql a "SELECT 's1.e'::regclass::oid")
swaps() {
    until [ -e "$LIFE/asked" ]; do
        quietly a "DO \$\$ BEGIN FOR i IN 1..50 LOOP
            ALTER SCHEMA s1 RENAME TO s3; ALTER SCHEMA s2 RENAME TO s1; ALTER SCHEMA s3 RENAME TO s2; COMMIT; END LOOP; END \$\$"
    done
}
two=$(sql a "SELECT oid FROM pg_class WHERE relname = 'e' AND oid <> $one")
of_two() { sql a "SELECT string_agg(oid || tgname, ' ' ORDER BY oid) FROM pg_trigger WHERE tgrelid = $two"; }
before=$(of_two)
swaps &
is "triggers of others" "$(try a "DO \$\$
    BEGIN
        FOR i IN 1..1500 LOOP
                IF i % 2 = 0 THEN PERFORM public.cft_detach($one::regclass); ELSE PERFORM public.cft_attach($one::regclass, child => CASE WHEN i % 4 = 1 THEN 'parent' ELSE 'child' END, parent => CASE WHEN i % 4 = 1 THEN 'child' ELSE 'parent' END); END IF;
            COMMIT;
        END LOOP;
    END \$\$")" ""
touch "$LIFE/asked"
wait $!
is "the other table's triggers are unchanged" "$(of_two)" "$before"

# A reader builds in its own call, under a SHARE lock, only if LOCK TABLE would let it; else a worker builds beside writers.
server b
small b edges
sql b "CREATE ROLE reader; CREATE ROLE editor; GRANT SELECT ON edges TO reader, editor; GRANT DELETE ON edges TO editor" >/dev/null
calls() { sql b "SELECT image_calls || ' ' || ref_rewritten FROM pg_stat_cftrag WHERE edges = 'edges'::regclass"; }
serves() { [ "$(state b edges)" = ready ]; }
asked() { sql b "VACUUM FULL edges; SELECT cft_stats_reset()" >/dev/null; sql b "SET ROLE $1; SELECT count(*) FROM cft_context('n1', edges => 'edges')" >/dev/null; }
asked editor
is "one who may lock the table" "$(calls)" "1 0"
asked reader
is "one who may not" "$(calls)" "0 1"
until_true "$PATIENCE" serves || note "no worker builds for a reader"

finish
