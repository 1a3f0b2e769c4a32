#!/bin/bash
# Creates, fills, attaches, reads, changes and drops 10,000 tables, in one session and over several: each is served by its image, and neither
# a session's memory, nor shared memory, nor the slots for images run out. LIFE_CYCLES=n for another number.
. "${0%/*}/lib.sh"; story "$@"
# Memory for a few small images, and 256 slots: a leak shows soon.
server a cftrag.memory_limit=2MB
cycles=${LIFE_CYCLES:-10000}
small a edges
sql a "$(cat <<'SQL'
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql AS 'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
CREATE TABLE rss (o text);
-- The process's own memory, in kB.
CREATE FUNCTION anon() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM rss;
    EXECUTE format('COPY rss FROM PROGRAM ''grep -oP "RssAnon:\s*\K\d+" /proc/%s/status''', pg_backend_pid());
    RETURN (SELECT o FROM rss);
END $$;
-- The dynamic shared memory that this process has mapped, in kB; all images are there.
CREATE FUNCTION shared() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM rss;
    EXECUTE format('COPY rss FROM PROGRAM ''(echo 0; grep -oE "/dev/shm/PostgreSQL[^ ]*" /proc/%s/maps | sort -u | xargs -r stat -c %%s) | paste -sd+ | bc''', pg_backend_pid());
    RETURN (SELECT o::bigint / 1024 FROM rss);
END $$;
-- Creates a table, with an image unless plain, uses it, and ends it in one of four ways.
-- Unless alone, the image may be gone at the second call: another session that frees images of tables it saw unattached may free it too.
CREATE PROCEDURE cycle(name text, i int, plain boolean, alone boolean = true) LANGUAGE plpgsql AS $$
DECLARE n bigint; served bigint; BEGIN
    EXECUTE format('CREATE TABLE %I (parent text, child text)', name);
    EXECUTE format('INSERT INTO %I SELECT n / 3, n FROM generate_series(1, 30) AS n', name);
    IF NOT plain THEN PERFORM public.cft_attach(quote_ident(name)::regclass); END IF;
    COMMIT;
    IF NOT plain THEN
        EXECUTE format('SELECT count(*) FROM public.cft_context(''1'', 9, 9, %L)', quote_ident(name)) INTO n;
        EXECUTE format('INSERT INTO %I VALUES (''1'', ''new'')', name);
        EXECUTE format('SELECT count(*) - %s FROM public.cft_context(''1'', 9, 9, %L)', n, quote_ident(name)) INTO n;
        SELECT image_calls INTO served FROM public.pg_stat_cftrag WHERE edges = quote_ident(name)::regclass;
        IF n IS DISTINCT FROM 1 OR served IS DISTINCT FROM 2 AND alone THEN RAISE '%: % more rows, % calls served by the image', name, n, served; END IF;
    ELSE EXECUTE format('INSERT INTO %I VALUES (''1'', ''new'')', name);
    END IF;
    CASE WHEN i % 4 = 0 AND NOT plain THEN COMMIT; PERFORM public.cft_detach(quote_ident(name)::regclass); COMMIT;
         WHEN i % 4 = 1 THEN ROLLBACK;
         WHEN i % 4 = 2 THEN EXECUTE format('TRUNCATE %I', name); COMMIT;
         ELSE COMMIT; END CASE;
    EXECUTE format('DROP TABLE %I', name);
    COMMIT;
END $$;
CREATE PROCEDURE run_cycles(name text, from_ int, to_ int, plain boolean, alone boolean = true) LANGUAGE plpgsql AS $$ BEGIN
    FOR i IN from_..to_ LOOP CALL public.cycle(name || i, i, plain, alone); END LOOP;
END $$;
SQL
)"
# Vacuums the catalogs in between, since their dead rows would slow down the test.
run_cycles() { # run_cycles SESSION NAME FROM TO PLAIN
    local i
    for ((i = $3; i <= $4; i += 1000)); do
        is "cycles from $i" "$(ask "$1" "CALL run_cycles('$2', $i, $((i + 999 < $4 ? i + 999 : $4)), $5);")" ""
        sql a "VACUUM pg_class; VACUUM pg_attribute; VACUUM pg_trigger; VACUUM pg_depend; VACUUM pg_type; VACUUM pg_index; VACUUM pg_shdepend; VACUUM pg_statistic"
    done
}
PATIENCE=120
# grown PLAIN WHAT: measures a session's memory contexts, its process's memory and its mapped shared memory, after a tenth of the cycles and
# after all of them.
grown() {
    local at shared=()
    used=() anon=()
    open s a
    for at in 0 1; do
        if [ $at = 0 ]; then run_cycles s "warm_$1" 1 $((cycles / 10)) "$1"; else run_cycles s "t_$1" $((cycles / 10 + 1)) "$cycles" "$1"; fi
        used+=("$(ask s "SELECT used() / 1024;")") anon+=("$(ask s "SELECT anon();")") shared+=("$(ask s "SELECT shared();")")
    done
    close s
    echo "# $STORY: $cycles cycles, $2: contexts ${used[0]} kB and then ${used[1]}; process ${anon[*]}; shared memory ${shared[*]}" >&2
    [ "${shared[1]}" = "${shared[0]}" ] || note "$2: shared memory grows from ${shared[0]} kB to ${shared[1]}"
}
grown true "tables alone"
alone=("$((used[1] - used[0]))" "$((anon[1] - anon[0]))")
grown false "attached, with images"
[ $((used[1] - used[0])) -lt $((alone[0] + 300)) ] || note "memory contexts grow from ${used[0]} kB to ${used[1]}, ${alone[0]} kB without cftrag"
[ $((anon[1] - anon[0])) -lt $((alone[1] + 2000)) ] || note "the process grows from ${anon[0]} kB to ${anon[1]}, ${alone[1]} kB without cftrag"

# Four sessions at a time, with 20 cycles per call.
for i in 1 2 3 4; do
    for ((j = 1; j <= cycles / 400; j++)); do echo "CALL run_cycles('s${i}_${j}_', 1, 20, false, false); \\c"; done | psql a -v ON_ERROR_STOP=1 >"$LIFE/several$i" 2>&1 &
    several[i]=$!
done
for i in 1 2 3 4; do wait "${several[i]}"; is "session after session, $i" "$(cat "$LIFE/several$i")" ""; done
exact a edges image
is "one slot is taken" "$(sql a "SELECT count(*) FROM pg_stat_cftrag WHERE state <> 'none'")" 1
finish
