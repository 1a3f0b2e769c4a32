#!/bin/bash
# Equal data give equal prompts, byte by byte: over 1,000 runs, sessions, restarts, a crash, rebuilds from rows in another order, from the
# image and from the reference query, and in a restored dump.
. "${0%/*}/lib.sh"; story "$@"
server a
sql a "CREATE EXTENSION IF NOT EXISTS cftrag CASCADE;
    CREATE TABLE edges (tree text, parent text, child text); CREATE TABLE docs (id int, body text, embedding vector(3), entity text);
    INSERT INTO edges SELECT DISTINCT 't' || i % 5, 'node ' || i * 7 % 91, 'node ' || i * 11 % 97 FROM generate_series(1, 2000) AS i;
    INSERT INTO docs SELECT i, 'About node ' || i % 97 || '.', ARRAY[i % 7, i % 5, 1 + i % 3]::real[]::vector, 'node ' || i % 97 FROM generate_series(1, 500) AS i;
    SELECT cft_attach('edges', tree => 'tree'); SELECT cft_attach_documents('docs', entity => 'entity')" >/dev/null
digest="SELECT md5(string_agg(cft_prompt('Of node ' || i || ', Node-' || i * 2, ARRAY[i % 4, 1, i % 3]::real[]::vector, budget => 400) || cft_context_text('node ' || i) || cft_context_json('node ' || i)::text, '' ORDER BY i)) FROM generate_series(1, 45) AS i"
sql a "SELECT cft_build('edges')" >/dev/null
first=$(sql a "$digest")
like "a digest" "$first" "????????????????????????????????"
served() { sql a "SELECT image_calls > 0 FROM pg_stat_cftrag WHERE edges = 'edges'::regclass"; }
is "by the image" "$(served)" t
is "1,000 runs" "$(sql a "SELECT count(DISTINCT cft_prompt('Of node 7, node 14', '[1,2,3]')) FROM generate_series(1, 1000)")" 1
for _ in 1 2 3; do is "another session" "$(sql a "$digest")" "$first"; done
is "by the reference query" "$(sql a "SET cftrag.enable = off; $digest")" "$first"
stop a; start a
is "after a restart" "$(sql a "$digest")" "$first"
kill_server a; start a
is "after kill -9 of all of it" "$(sql a "$digest")" "$first"
for order in "z::text DESC" "md5(z::text)"; do
    for table in edges docs; do
        sql a "CREATE TABLE again AS SELECT * FROM $table; TRUNCATE $table; INSERT INTO $table SELECT * FROM again AS z ORDER BY $order; DROP TABLE again"
    done
    sql a "SELECT cft_build('edges')" >/dev/null
    is "rows by $order" "$(sql a "$digest")" "$first"
done
sql a "CREATE DATABASE copy TEMPLATE template0"
as_postgres "$BIN/pg_dump" --no-sync -d "$(url a)" 2>"$LIFE/error" | psql a/copy -v ON_ERROR_STOP=1 >/dev/null 2>"$LIFE/error" || note "dump: $(cat "$LIFE/error")"
is "in a dump's copy" "$(sql a/copy "$digest")" "$first"
# Different data give different bytes.
sql a "UPDATE edges SET parent = 'node 1000' WHERE child = 'node 14'"
[ "$(sql a "$digest")" != "$first" ] && checks=$((checks + 1)) || note "the prompts did not change with the hierarchy"
finish
