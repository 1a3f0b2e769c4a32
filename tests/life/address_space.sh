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
is "many, one after the other" "$(try a "SET cftrag.work_memory = '2MB'; SET work_mem = '64kB'; SELECT count(*) FROM cft_context(ARRAY(SELECT 'n' || i FROM generate_series(1, 20000) AS i), 0, 1, 'big')")" \
    "$(sql a "SELECT count(*) FROM cft_context(ARRAY(SELECT 'n' || i FROM generate_series(1, 20000) AS i), 0, 1, 'big')")"
is "no process ended" "$(sql a "SELECT pg_postmaster_start_time()")" "$started"
is "nothing crashed" "$(grep -Ec 'memory allocation of|terminated by signal|reinitializing' "$LIFE/a/log")" 0
exact a big image "ARRAY['n1','n7','n701'], 3, 1, verify => false"
finish
