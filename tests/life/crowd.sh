#!/bin/bash
# Many tables in many databases, and memory for a third of their images: at random asked, changed, dropped, detached, built, their databases
# dropped, processes killed. Every answer is that of the definition, and what is gone leaves nothing. LIFE_CROWD=n for another number of checks.
. "${0%/*}/lib.sh"; story "$@"
expect_crash
checks=${LIFE_CROWD:-4000} databases=20 tables=100 sessions=4
server a cftrag.memory_limit=$((databases * tables * 80 / 3))kB cftrag.build_on_start=off
sql a "CREATE DATABASE seed"
oracle a/seed
sql a/seed "$(cat <<'SQL'
CREATE PROCEDURE churn(checks int, tables int) LANGUAGE plpgsql AS $$
DECLARE t text; r float8; answer text; done int := 0; served bigint; BEGIN
    SET client_min_messages = error;
    WHILE done < checks LOOP
        t := 'c' || 1 + floor(random() * tables);
        r := random();
        IF to_regclass(t) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (tree text, parent text, child text)', t);
            EXECUTE format('INSERT INTO %I SELECT ''t'' || n %% 2, ''n'' || n / 3, ''n'' || n FROM generate_series(1, 20 + %s) AS n', t, floor(random() ^ 4 * 2000));
            PERFORM public.cft_attach(t::regclass, tree => 'tree');
        ELSIF r < 0.75 THEN
            answer := oracle.same('n' || floor(random() * 60), 3, 2, t::regclass);
            IF answer NOT LIKE 'same, %' THEN RAISE '% in %: %', t, current_database(), answer; END IF;
            done := done + 1;
        ELSIF r < 0.83 THEN EXECUTE format('INSERT INTO %I SELECT ''t1'', ''n'' || n, ''n'' || n + 1 FROM generate_series(1, %s) AS n', t, 1 + floor(random() ^ 3 * 400));
        ELSIF r < 0.88 THEN EXECUTE format('DELETE FROM %I WHERE child = %L', t, 'n' || floor(random() * 60));
        ELSIF r < 0.91 THEN EXECUTE format('UPDATE %I SET parent = %L WHERE child = %L', t, 'n' || floor(random() * 9), 'n' || 10 + floor(random() * 50));
        ELSIF r < 0.92 THEN EXECUTE format('DROP TABLE %I', t);
        ELSIF r < 0.93 THEN PERFORM public.cft_detach(t::regclass); COMMIT; PERFORM public.cft_attach(t::regclass, tree => 'tree');
        ELSIF r < 0.94 THEN EXECUTE format('TRUNCATE %I', t);
        ELSIF r < 0.97 THEN PERFORM public.cft_build(t::regclass);
        ELSE
            EXECUTE format('INSERT INTO %I VALUES (''t0'', ''n1'', ''gone'')', t);
            EXECUTE format('DROP TABLE %I', t);
            ROLLBACK;
        END IF;
        COMMIT;
    END LOOP;
    SELECT sum(image_calls) INTO served FROM pg_stat_cftrag;
    RAISE '% checks, % calls by images', done, served USING ERRCODE = 'XX999';
END $$;
SQL
)"
each=$((checks / sessions / 20))
# One session: some checks in one of its databases after the other; now and then it makes one anew.
session() { # session NUMBER
    local n=0 db out
    while [ "$n" -lt $((checks / sessions)) ]; do
        db=d$((RANDOM % (databases / sessions) * sessions + $1))
        [ $((RANDOM % 6)) != 0 ] || quietly a "DROP DATABASE IF EXISTS $db WITH (FORCE)"
        quietly a/$db "SELECT 1" || quietly a "CREATE DATABASE $db TEMPLATE seed" || { sleep 0.2; continue; }
        out=$(try a/$db "CALL churn($each, $tables)")
        case $out in
            *XX999*checks*) echo "$out" | grep -o '[0-9]* checks, [0-9]* calls'; n=$((n + each)) ;;
            *"server closed"* | *"terminat"* | *"recovery mode"* | *"starting up"* | *"connection to server"* | *"could not"*) ;;
            # Memory for a build may be short: too many images were just built.
            *53200*) ;;
            *) echo "WRONG: $out"; return ;;
        esac
    done
}
begun=$SECONDS
for ((s = 0; s < sessions; s++)); do session $s >"$LIFE/session$s" 2>&1 & pids_of[s]=$!; done
killed=0
while [ -n "$(jobs -r)" ]; do
    sleep $((20 + RANDOM % 30))
    victim=$(psql a -c "SELECT pid FROM pg_stat_activity WHERE datname ~ '^d' ORDER BY random() LIMIT 1" 2>/dev/null)
    [ -z "$victim" ] || { kill -9 "$victim" 2>/dev/null && killed=$((killed + 1)); }
done
wait
until_true "$PATIENCE" answers a || broken "no server"
is "differences" "$(grep -h WRONG "$LIFE"/session? | head -5)" ""
echo "# $STORY: $(cat "$LIFE"/session? | awk '{n += $1; m += $3} END {print n " checks, " m " calls by images"}'), $killed processes killed, $((SECONDS - begun)) s" >&2
used() { du -ck $(for pid in $(pgrep -P "$(postmaster a)"); do grep -oE '/dev/shm/PostgreSQL[^ ]*' "/proc/$pid/maps"; done | sort -u) 2>/dev/null | tail -1 | cut -f1; }
is "within the limit" "$(sql a/seed "SELECT memory_bytes <= memory_limit_bytes FROM pg_stat_cftrag_server")" t
for ((d = 0; d < databases; d++)); do sql a "DROP DATABASE IF EXISTS d$d"; done
is "nothing is left" "$(sql a/seed "SELECT places, images, gone, memory_bytes FROM pg_stat_cftrag_server")" "0|0|0|0"
left=$(used)
[ "${left:-0}" -lt 9000 ] || note "$left kB of /dev/shm are left"
finish
