#!/bin/bash
# Every function for users, and cft_verify, with arguments of 1 to 100 MB, in sessions whose address space may grow by only a few MB: each call
# returns rows or an error, and the server survives. Rust's own allocator would abort the process, and so end all sessions.
. "${0%/*}/lib.sh"; story "$@"
command -v prlimit >/dev/null || { echo "# $STORY: no prlimit here" >&2; finish; }
server a jit=off max_parallel_workers_per_gather=0
big a big "${LIFE_ROWS:-20000}"
sql a "CREATE TABLE notes (id text PRIMARY KEY, body text, about text, embedding vector(3));
    INSERT INTO notes SELECT n::text, 'n' || n || ' and n' || n / 10, 'n' || n, '[1,2,3]' FROM generate_series(1, 100) AS n;
    SELECT cft_attach_documents('notes', id => 'id', body => 'body', embedding => 'embedding', entity => 'about')" >/dev/null
is "build" "$(try a "SELECT cft_build('big')")" ""
# calls BYTES: a call of each function, with texts of that size. Functions that change what is attached are left out, since PostgreSQL itself goes
# down if a COMMIT finds no memory.
calls() {
    sql a "SELECT format('SELECT count(*) FROM (SELECT %s(%s)) AS z;', p.oid::regproc, string_agg(CASE t.type
                      WHEN 'text' THEN format('repeat(''n1 and '', %s)', $1 / 7)
                      WHEN 'text[]' THEN format('ARRAY[repeat(''n'', %s), ''n1'']', $1)
                      WHEN 'jsonb' THEN format('jsonb_build_object(''a'', repeat(''n'', %s))', $1)
                      WHEN 'name' THEN '''parent''' WHEN 'name[]' THEN '''{parent}''' WHEN 'boolean' THEN 'false' WHEN 'integer' THEN '2' WHEN 'bigint' THEN '2'
                      WHEN 'vector' THEN '''[1,2,3]''' WHEN 'regclass' THEN CASE WHEN t.name LIKE 'doc%' THEN '''notes''' ELSE '''big''' END
                      ELSE 'NULL' END || '::' || t.type, ', ' ORDER BY t.place))
          FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass,
               LATERAL (SELECT a.place, a.oid::regtype::text AS type, p.proargnames[a.place] AS name
                          FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a(oid, place)) AS t
         WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cftrag') AND d.deptype = 'e' AND p.prokind = 'f'
           AND p.pronamespace = 'public'::regnamespace AND p.proname !~ 'attach|detach|reset|build\$|rollup|hot|stat\$|progress' AND p.prorettype <> 'internal'::regtype
         GROUP BY p.oid ORDER BY p.oid"
    echo "SELECT count(*) FROM cft_verify('big');"
    echo "BEGIN; INSERT INTO big VALUES ('t', repeat('x', $1), 'n1'), ('t', repeat('y', $1), 'n2'); SELECT count(*) FROM cft_context('n1', edges => 'big'); ROLLBACK;"
}
for size in 1000000 10000000 100000000; do calls "$size" >"$LIFE/calls.$size"; done
like "there are calls" "$(wc -l <"$LIFE/calls.1000000")" "[3-9][0-9]"
started=$(sql a "SELECT pg_postmaster_start_time()")
PATIENCE=120
for above in ${LIFE_ABOVE:-2 3 4 5 6 8 10 12 15 18 22 26 30 36 44 55 70 90 120 400}; do
    size=1000000; [ "$above" -lt 30 ] || size=10000000; [ "$above" -lt 350 ] || size=100000000
    open s a
    ask s "SET statement_timeout = '20s'; SELECT count(*) FROM cft_context('n1', edges => 'big');" >/dev/null
    pid=$(pid_of s)
    has=$(awk '/^VmSize/ { print $2 }' "/proc/$pid/status")
    prlimit --pid "$pid" --as=$(((has + above * 1024) * 1024))
    said=$(ask s "\\i $LIFE/calls.$size")
    # A session without memory may end; one that is still running must have answered.
    if [[ $said == *'no answer' ]] && kill -0 "$pid" 2>/dev/null; then note "$above MB: a call hangs"; fi
    # Only internal errors are looked for: a message of that size may not fit into memory.
    like "$above MB: no internal error" "$(grep -o 'ERROR:  XX000.*' <<<"$said" | head -1)" ""
    is "$above MB: no process ended" "$(sql a "SELECT pg_postmaster_start_time()")" "$started"
    close s
done
# An array of 24 MB takes little memory besides its own, and a call about it ends soon after a timeout. The plain calls make two such arrays.
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$pid/status"; }
clock() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
ids='array_fill(7::bigint, ARRAY[3000000])' names="array_fill('x'::text, ARRAY[3000000])"
open s a
pid=$(pid_of s)
ask s "SET cftrag.work_memory = '64kB'; SELECT 8 = ANY ($ids), 'y' = ANY ($names); SELECT count(*) FROM cft_context('n1', edges => 'big');" >/dev/null
for call in "cft_under(1::bigint, $ids, 'big')" "cft_under('n1', $names, 'big')" "cardinality(cft_descendants($ids, 'big'))" \
    "cardinality(cft_descendants($names, 'big'))" "cft_context_text($names, 1, 1, 'big')"; do
    before=$(peak)
    said=$(ask s "SELECT $call;")
    like "$call" "$said" "@(f|1|)"
    more=$(($(peak) - before))
    [ "$more" -lt 32768 ] || note "$call takes $more kB more than the array"
    least=''
    for _ in 1 2 3; do
        began=$(clock)
        said=$(ask s "SET statement_timeout = 200; SELECT $call;"$'\n'"RESET statement_timeout;")
        took=$(($(clock) - began))
        [ -n "$least" ] && [ "$took" -ge "$least" ] || least=$took
    done
    [ "$least" -lt 400 ] || note "$call: ends $least ms after it begins, with a timeout of 200"
done
like "many names are counted" "$(ask s "SELECT cft_under('n1', array_agg(n::text), 'big') FROM generate_series(1, 100000) AS n;")" "*ERROR:  53400:*DETAIL:*HINT:*"
close s
is "nothing crashed" "$(grep -Ec 'memory allocation of|terminated by signal|reinitializing' "$LIFE/a/log")" 0
exact a big image "ARRAY['n1','n7','n701'], 3, 1"
finish
