#!/bin/bash
# A server whose processes get little address space: every call returns rows, or an error that says why and what to type, and the server
# survives. Rust's own allocator would abort the process, and so end all sessions.
. "${0%/*}/lib.sh"; story "$@"
ROWS=${LIFE_ROWS:-150000}
# Set up without the limit.
server a cftrag.build_in_place_limit=1MB jit=off max_parallel_workers=0
big a big "$ROWS"
sql a "CREATE TABLE dense (parent text, child text);
    INSERT INTO dense SELECT 'n' || random() * 2999, 'n' || i % 2000 FROM generate_series(1, 6000) AS i;
    UPDATE dense SET parent = 'n' || (hashtext(parent) & 1023);
    SELECT cft_attach('dense');
    CREATE TABLE apart AS SELECT 'tree' || n AS tree, unnest(ARRAY['a', 'm' || n]) AS parent, unnest(ARRAY['m' || n, 'b']) AS child
        FROM generate_series(1, 50000) AS n;
    SELECT cft_attach('apart', tree => 'tree')" >/dev/null
is "builds" "$(try a "SET statement_timeout = 0; SELECT cft_build('big'); SELECT cft_build('dense'); SELECT cft_build('apart')")" ''
stop a
(
    # Enough for what the server maps at its start, and for small sessions.
    ulimit -v $((400 * 1024))
    cluster start a "$CONFIG" "shared_preload_libraries=$PRELOAD" max_prepared_transactions=10 autovacuum=off shared_buffers=16MB \
        max_connections=10 jit=off max_parallel_workers=0 cftrag.build_on_start=on
) || broken "no start"
until_true 30 value_is a "SELECT count(*) FROM pg_stat_cftrag WHERE state = 'ready'" 3 || note "images are built"
started=$(sql a "SELECT pg_postmaster_start_time()")
all="ARRAY(SELECT DISTINCT parent FROM dense LIMIT 100)"

# A word of 32 MB.
marks="'a' || repeat(U&'\\0301\\0323\\0327\\0345', 4000000)"

# ends WHAT SQL: checks that the SQL returns rows, or an error with one of the three codes and its DETAIL.
ends() {
    like "$1" "$(try a "$2" | head -c 600)" "@([0-9{T]*|*ERROR:  53[24]00:*DETAIL:*|*ERROR:  54000:*)"
}
refused() { like "$1: refused" "$(try a "$2" | head -c 900)" "*ERROR:  53400:*DETAIL:*kB*HINT:*SET cftrag.work_memory = '*"; }

for limit in '64kB' '8MB' '10GB'; do
    set="SET statement_timeout = '60s'; SET work_mem = '64kB'; SET cftrag.work_memory = '$limit';"
    ends "$limit: a walk of all" "$set SELECT count(*) FROM cft_context($all, 20, 20, 'dense')"
    ends "$limit: a whole tree" "$set SELECT count(*) FROM cft_context('n0', 1000, 1000, 'big')"
    ends "$limit: in the select list" "$set SELECT count(*) FROM (SELECT cft_context('n0', 1000, 1000, 'big')) AS z"
    ends "$limit: text" "$set SELECT length(cft_context_text($all, 20, 20, 'dense'))"
    ends "$limit: JSON" "$set SELECT pg_column_size(cft_context_json($all, 20, 20, 'dense'))"
    ends "$limit: parts" "$set SELECT count(*) FROM cft_context_parts($all, 20, 20, 'dense')"
    ends "$limit: a template" "$set SELECT length(cft_context_text('n0', 1000, 1000, 'big', template => '{relatives}'))"
    ends "$limit: neighbours" "$set SELECT count(*) FROM cft_neighbors('n0', 1000, 'both', 'big')"
    ends "$limit: size" "$set SELECT size FROM cft_subtree_size('n0', 'big')"
    ends "$limit: paths in many trees" "$set SELECT count(*) FROM cft_path('a', 'b', 100, 'apart')"
    ends "$limit: common ancestors" "$set SELECT count(*) FROM cft_lca('b', 'b', 'apart')"
    ends "$limit: verify" "$set SELECT count(*) FROM cft_verify('big')"
    ends "$limit: relations of a text" "$set SELECT count(*) FROM cft_extract_relations(repeat('The heart contains valves and chambers. ', 50000))"
    ends "$limit: roots" "$set SELECT count(*) FROM cft_roots('big')"
    ends "$limit: entities" "$set SELECT count(*) FROM cft_entities((SELECT string_agg(child, ' ') FROM big), 'big')"
    ends "$limit: a long word" "$set SELECT count(*) FROM cft_entities($marks, 'big')"
    ends "$limit: its words" "$set SELECT count(*) FROM cftrag_internal.cft_words($marks)"
    ends "$limit: long words" "$set SELECT count(*) FROM cft_entities(repeat(repeat('a', 30000) || ' ', 1000), 'big')"
    ends "$limit: many words" "$set SELECT count(*) FROM cftrag_internal.cft_words(repeat('a ', 5000000))"
    ends "$limit: relations of a text" "$set SELECT count(*) FROM cft_extract_relations(repeat('a b c. ', 5000000))"
    ends "$limit: a hierarchy" "$set SELECT count(*) FROM cft_build_hierarchy('big', 'parent', 'child')"
    ends "$limit: relations" "$set SELECT count(*) FROM cft_filter_relations('big', 'parent', 'child', 'tree')"
    ends "$limit: by reference" "$set SET cftrag.enable = off; SELECT count(*) FROM cft_context('n0', 3, 3, 'dense')"
    answers a || note "$limit: the server answers"
done
small="SET cftrag.work_memory = '64kB';"
refused "a walk" "$small SELECT count(*) FROM cft_context('n0', 1000, 1000, 'big')"
refused "text" "$small SELECT length(cft_context_text('n0', 1000, 1000, 'big'))"
refused "JSON" "$small SELECT cft_context_json('n0', 1000, 1000, 'big')"
refused "entities" "$small SELECT count(*) FROM cft_entities((SELECT string_agg(child, ' ') FROM big), 'big')"
refused "paths" "$small SELECT count(*) FROM cft_path('a', 'b', 100, 'apart')"
refused "verify" "$small SELECT count(*) FROM cft_verify('big')"
sql a "SELECT FROM cft_context(ARRAY(SELECT 'n' || i FROM generate_series(1, 20000) AS i), 0, 0, 'big')" >/dev/null
is "all are hot" "$(sql a "SELECT count(*) >= 20000 FROM cft_hot_entities(2000000000, 'big')")" t
refused "hot entities" "$small SELECT count(*) FROM cft_hot_entities(2000000000, 'big')"
refused "size" "$small SELECT size FROM cft_subtree_size('n0', 'big')"
# A refused call leaves the session usable, and with little work_mem the rows go to disk and are the same.
is "many, one after the other" "$(try a "SET cftrag.work_memory = '3MB'; SET work_mem = '64kB'; SELECT count(*) FROM cft_context(ARRAY(SELECT 'n' || i FROM generate_series(1, 20000) AS i), 0, 1, 'big')")" \
    "$(sql a "SELECT count(*) FROM cft_context(ARRAY(SELECT 'n' || i FROM generate_series(1, 20000) AS i), 0, 1, 'big')")"
is "no process ended" "$(sql a "SELECT pg_postmaster_start_time()")" "$started"
is "nothing crashed" "$(grep -Ec 'memory allocation of|terminated by signal|reinitializing' "$LIFE/a/log")" 0

# Long arguments, and arrays of many elements, in sessions that may grow by some MB only. The step is smaller than what a copy would take.
if command -v prlimit >/dev/null; then
    server b jit=off max_parallel_workers_per_gather=0
    sql b "CREATE EXTENSION IF NOT EXISTS pg_trgm;
        CREATE TABLE e (parent text, child text, tree text); INSERT INTO e SELECT 'n' || g / 10, 'n' || g, 't' || g % 3 FROM generate_series(1, 50000) AS g;
        CREATE TABLE iu (parent bigint, child bigint); INSERT INTO iu SELECT g / 10, g FROM generate_series(1, 50000) AS g;
        CREATE TABLE plain (parent text, child text); INSERT INTO plain VALUES ('a', 'b');
        CREATE TABLE l (id text, name text); INSERT INTO l SELECT 'n' || g, 'Label ' || g / 5 FROM generate_series(0, 50000) AS g;
        CREATE TABLE al (alias text, entity text); INSERT INTO al SELECT 'alias ' || g, 'n' || g FROM generate_series(1, 2000) AS g;
        CREATE TABLE d (id int PRIMARY KEY, entity text, body text, embedding vector(2), meta jsonb, ts tsvector);
        INSERT INTO d SELECT g, 'n' || g, 'body of n' || g, '[1,2]', '{\"a\":1}', to_tsvector('simple', 'body of n' || g) FROM generate_series(1, 2000) AS g;
        CREATE INDEX ON d (entity);
        SELECT cft_attach('e', tree => 'tree'); SELECT cft_attach('iu'); SELECT cft_attach('plain');
        SELECT cft_attach_labels('l', edges => 'e'); SELECT cft_attach_aliases('al', edges => 'e');
        SELECT cft_attach_documents('d', entity => 'entity', metadata => 'meta', search => 'ts')" >/dev/null
    is "builds of b" "$(try b "SELECT cft_build(t) FROM unnest('{e,iu,plain,l,al}'::regclass[]) AS t" | tr -d '\n')" ''
    long="WITH long AS MATERIALIZED (SELECT repeat('m12 x ', 600000) AS v)"
    many="WITH long AS MATERIALIZED (SELECT array_agg('n' || g) AS v FROM generate_series(1, 200000) AS g)"
    ids="WITH long AS MATERIALIZED (SELECT array_agg(g) AS v FROM generate_series(1, 200000::bigint) AS g)"
    question="'alias 5 and Label 7'"
    cat >"$LIFE/calls" <<SQL
$long SELECT cft_under('b', v, 'plain') FROM long;
$many SELECT cft_under('b', v, 'plain') FROM long;
$many SELECT cft_under('b', 'a', 'plain', v) FROM long;
$many SELECT cft_descendants(v, 'plain') IS NULL FROM long;
$many SELECT count(*) FROM long, cft_context(v, 1, 1, 'plain');
$many SELECT cft_context_text(v, 1, 1, 'plain') FROM long;
$many SELECT count(*) FROM long, cft_context_parts(v, 1, 1, 'plain');
$long SELECT cft_under(v, 'n1', 'e') FROM long;
$long SELECT cft_under('n1', v, 'e') FROM long;
$long SELECT count(*) FROM long, d WHERE cft_under(d.entity, v, 'e') AND d.id < 300;
$many SELECT cft_under('zz', v, 'e') FROM long;
$many SELECT count(*) FROM long, d WHERE cft_under(d.entity, v, 'e') AND d.id < 30;
$many SELECT count(*) FROM long, (SELECT * FROM d LIMIT 300) AS d WHERE cft_under(d.entity || '', v, 'e');
$ids SELECT cft_under(5::bigint, v, 'iu') FROM long;
SELECT count(*) FROM d WHERE cft_under(d.entity || '', 'n0', 'e');
$many SELECT cft_under('zz', 'n1', 'e', v) FROM long;
$long SELECT cardinality(cft_descendants(v, 'e')) FROM long;
$many SELECT cardinality(cft_descendants(v, 'e')) FROM long;
$ids SELECT cardinality(cft_descendants(v, 'iu')) FROM long;
SELECT cardinality(cft_descendants('n0', 'e'));
SELECT cardinality(cft_descendants(array_agg(gen_random_uuid()), 'e')) FROM generate_series(1, 150000);
$many SELECT count(*) FROM long, cft_entities($question, 'e', NULL, v);
$many SELECT count(*) FROM long, cft_entities($question, 'e', v);
SELECT count(*) FROM cft_entities(repeat('Label 7 alias 9 ', 50000), 'e');
SELECT count(*) FROM cft_entities(repeat('Label 7 alias 9 ', 50000), 'e', overlapping => true);
SELECT count(*) FROM cft_entities(repeat('Label 7 alias 9 ', 50000), 'e', within => '{n1,n2}');
$many SELECT cardinality(cftrag_internal.cft_those(v, 'e', NULL, NULL)) FROM long;
$many SELECT cardinality(cftrag_internal.cft_those(v, 'e', NULL, '{n1}')) FROM long;
$many SELECT cardinality(cftrag_internal.cft_called(v, 'e')) FROM long;
$many SELECT cardinality(cftrag_internal.cft_called(v || v, 'e')) FROM long;
$long SELECT cftrag_internal.cft_label(v, 'e') FROM long;
$many SELECT length(cft_context_text(v, 2, 2, 'e')) FROM long;
$many SELECT count(*) FROM long, cft_context(v, 2, 2, 'e');
$many SELECT length(cft_context_json(v[1:15000], 2, 2, 'e')::text) FROM long;
$many SELECT count(*) FROM long, cft_context_parts(v, 2, 2, 'e');
SELECT count(*) FROM cft_roots('e');
$long SELECT count(*) FROM long, cft_explain_path(v, v || 'x', edges => 'e');
$long SELECT count(*) FROM long, cft_resolve(v, NULL, 5, 'e');
$long SELECT count(*) FROM long, cft_retrieve(v, '[1,2]', edges => 'e', documents => 'd');
$long SELECT count(*) FROM long, cft_retrieve(v, '[1,2]', edges => 'e', documents => 'd', mode => 'hybrid');
$many SELECT count(*) FROM long, cft_retrieve($question, '[1,2]', edges => 'e', documents => 'd', within => v);
$many SELECT count(*) FROM long, cft_retrieve($question, '[1,2]', edges => 'e', documents => 'd', within => v, mode => 'hybrid');
SELECT count(*) FROM cft_retrieve((SELECT string_agg('Label ' || g, ' ') FROM generate_series(1, 10000) AS g), '[1,2]', edges => 'e', documents => 'd');
$many SELECT count(*) FROM long, cft_chunks(v, '[1,2]', 1, 1, 'e', documents => 'd');
$many SELECT count(*) FROM long, cft_retrieve(left(array_to_string(v, ' '), 1000000), '[1,2]', edges => 'e', documents => 'd', budget => 1000);
$long SELECT count(*) FROM long, cftrag_internal.cft_words(v, true);
$long SELECT length(cft_prompt(v, '[1,2]', edges => 'e', documents => 'd', template => '{question}{question}{documents}')) FROM long;
EXPLAIN SELECT * FROM d WHERE cft_under(entity, (SELECT array_agg('n' || g) FROM generate_series(1, 200000) AS g), 'e');
SQL
    PATIENCE=60
    for above in ${LIFE_ABOVE:-8 10 12 14 16 18 20 23 26 30 36 44 55 80}; do
        open s b
        ask s "SET statement_timeout = '2s'; SELECT count(*) FROM cft_context('n1', 1, 1, 'e'); SELECT count(*) FROM cft_entities('x', 'e');" >/dev/null
        pid=$(pid_of s)
        has=$(awk '/^VmSize/ { print $2 }' "/proc/$pid/status")
        prlimit --pid "$pid" --as=$(((has + above * 1024) * 1024))
        said=$(ask s "\\i $LIFE/calls")
        crashed=$(grep -Eam 1 'memory allocation of|terminated by signal' "$LIFE/b/log")
        is "$above MB: no process ended" "$crashed" ""
        [ -z "$crashed" ] || break
        if [[ $said == *'no answer' ]] && kill -0 "$pid" 2>/dev/null; then note "$above MB: a call hangs"; fi
        like "$above MB: no internal error" "$(grep -o 'ERROR:  XX000.*' <<<"$said" | head -1)" ""
        close s
    done
    stop b
else
    echo "# $STORY: no prlimit here" >&2
fi
exact a big image "ARRAY['n1','n7','n701'], 3, 1, verify => false"
finish
