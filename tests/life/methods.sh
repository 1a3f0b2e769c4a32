#!/bin/bash
# The methods of docs/methods.md over a large tree: each is cancelled while it runs, at several moments, and ends within a second. It leaves no
# locks, and no new summaries or marks.
. "${0%/*}/lib.sh"; story "$@"
server a cftrag.build_in_place_limit=1MB jit=off
ROWS=200000
big a big $ROWS
is "build" "$(try a "SELECT cft_build('big')")" ""
sql a "CREATE TABLE meaning (entity text, embedding vector(3)); INSERT INTO meaning SELECT 'n' || n, ARRAY[sin(n), cos(n), 1]::vector FROM generate_series(0, $ROWS) AS n;
    CREATE INDEX ON meaning (entity); SELECT cft_attach_embeddings('meaning', edges => 'big');
    CREATE TABLE gist (entity text, summary text); CREATE INDEX ON gist (entity); SELECT cft_attach_summaries('gist', edges => 'big'); ANALYZE" >/dev/null
# For methods that read whole tables: two million relations with noise, and a graph with 2^19 shortest paths.
sql a "CREATE TABLE raw AS SELECT 'entity ' || n % 700000 / 10 AS parent, 'entity ' || n * 7919::bigint % 1000003 AS child FROM generate_series(1, 2000000) AS n;
    CREATE TABLE ladder AS SELECT 'l' || n || a AS parent, 'l' || n + 1 || b AS child FROM generate_series(1, 20) AS n, unnest('{a,b}'::text[]) AS a, unnest('{a,b}'::text[]) AS b;
    SELECT cft_attach('ladder')" >/dev/null
marks=$(sql a "SELECT count(*) FROM gist WHERE summary IS NULL")
is "each entity with children is due" "$marks" $((ROWS / 10 + 1))

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
NAMES="(SELECT array_agg('n' || n) FROM generate_series(1, 100000) AS n)"
open s a
pid=$(pid_of s)
while IFS= read -r call; do
    cancelled=0
    for delay in 0.05 0.3 0.7; do
        took=0
        # Tries again if a slow answer may have had another cause.
        for _ in 1 2 3; do
            send s "SELECT count(z) FROM $call AS z;"
            sleep $delay
            began=$(milliseconds)
            sql a "SELECT pg_cancel_backend($pid)" >/dev/null
            text=$(answer s)
            took=$(($(milliseconds) - began))
            [ $took -gt 1000 ] || break
        done
        case $text in *57014*) cancelled=$((cancelled + 1)) ;; esac
        [ $took -le 1000 ] || note "${call%%(*} went on for $took ms"
        checks=$((checks + 1))
    done
    [ $cancelled -gt 0 ] || note "$call was not cancelled: $text"
    # A call that ended before it was cancelled may leave its marks.
    [ $cancelled = 3 ] || marks=$(sql a "SELECT count(*) FROM gist WHERE summary IS NULL")
    is "${call%%(*}: marks" "$(sql a "SELECT count(*) FROM gist WHERE summary IS NULL")" "$marks"
    is "${call%%(*}: summaries" "$(sql a "SELECT count(*) FROM gist WHERE summary IS NOT NULL")" 0
    is "${call%%(*}: locks" "$(sql a "SELECT count(*) FROM pg_locks WHERE pid = $pid AND relation >= 16384")" 0
done <<CALLS
cft_filter_relations('raw', 'parent', 'child')
cft_build_hierarchy('raw', 'parent', 'child')
cft_neighbors('n0', 1000, 'both', 'big')
generate_series(1, 1000) AS n, LATERAL cft_roots(CASE WHEN n > 0 THEN 'big'::regclass END)
generate_series(1, 1000) AS n, LATERAL cft_subtree_size('n' || n * 0, 'big')
cft_path('l1a', 'l20a', edges => 'ladder')
cft_extract_relations(repeat('The heart contains valves and chambers. ', 1000000))
cft_extract_relations(repeat('the quick brown fox jumps over lazy dogs and ', 2000000))
cft_tree_search('[1,0,0]', mode => 'prune', prune_factor => 0, edges => 'big')
cft_tree_search('[1,0,0]', mode => 'beam', beam => 1000000, edges => 'big')
cft_tree_search('[1,0,0]', mode => 'collapsed', k => NULL, edges => 'big')
cft_tree_search('[1,0,0]', mode => 'collapsed', max_depth => 999, edges => 'big')
cft_expand('{n0,n1}', down => 1000, k => NULL, edges => 'big')
cft_expand($NAMES, k => NULL, edges => 'big')
cft_path_prefix($NAMES, 'big')
cft_bridge($NAMES, 1000, 'big')
cft_coarse_fine('[1,0,0]', 10000, 10000, 1000, 1000, edges => 'big')
cft_rollup_next(100000, 'big')
cft_rollup(edges => 'big')
cft_rollup_mark($NAMES, 'big')
cft_rollup_status('big')
CALLS
finish
