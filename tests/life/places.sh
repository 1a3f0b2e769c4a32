#!/bin/bash
# Background workers that build: limited per role and in total; none keeps waiting while another build needs a worker, or after its client is gone.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
server a cftrag.build_in_place_limit=1kB max_worker_processes=8 cftrag.build_on_start=off
sql a "CREATE ROLE greedy; CREATE ROLE modest; GRANT CREATE ON SCHEMA public TO greedy, modest" >/dev/null
for t in g1 g2 g3 g4 g5 g6 m; do small a $t; done
sql a "SELECT format('ALTER TABLE g%s OWNER TO greedy', n) FROM generate_series(1, 6) AS n
\\gexec
ALTER TABLE m OWNER TO modest" >/dev/null
builders() { value_is a "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cftrag builder'" "$1"; }

# One open transaction has written to many tables, all of which are to be built.
open w a
ask w "BEGIN; INSERT INTO g1 VALUES ('t1', 'n1', 'new'); INSERT INTO g2 SELECT * FROM g1; INSERT INTO g3 SELECT * FROM g1; INSERT INTO g4 SELECT * FROM g1;" >/dev/null
for i in 1 2 3 4; do open b$i a; send b$i "SELECT cft_build('g$i');"; done
until_true "$PATIENCE" builders 2 || note "no two builders"
sleep 1
builders 2 || note "not two builders: $(try a "SELECT edges, phase FROM pg_stat_progress_cftrag")"
is "another role finds a worker" "$(try a "SET statement_timeout = '3s'; SELECT cft_build('m')")" ""
exact a m image
is "a build that only waits gives way" "$(try a "SET statement_timeout = '20s'; SELECT cft_build('g5')")" ""
exact a g5 image
like "lock_timeout" "$(try a "SET lock_timeout = '1s'; SELECT cft_build('g4')")" "*55P03*"

# Clients that are gone.
for i in 2 3 4; do kill -9 "${pids[b$i]}"; done
until_true "$PATIENCE" value_is a "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT cft_build(''g_'')%' AND pid <> pg_backend_pid()" 1 || note "sessions whose clients are gone stay"
fewer() { [ "$(try a "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cftrag builder'")" -le 1 ]; }
until_true "$PATIENCE" fewer || note "builders stay whose clients are gone"
# A terminated session leaves no worker either.
open k a
pid=$(pid_of k)
send k "SELECT cft_build('g3');"
sleep 1
sql a "SELECT pg_terminate_backend($pid)" >/dev/null
until_true "$PATIENCE" fewer || note "a terminated session leaves its builder"

# A build that gave way is still completed.
ask w "COMMIT;" >/dev/null
is "the caller that waited all the time" "$(answer b1)" ""
until_true "$PATIENCE" builders 0 || note "builders stay"
for t in g1 g5 m; do exact a $t image; done
for t in g2 g3 g4; do is "build $t" "$(try a "SELECT cft_build('$t')")" ""; exact a $t image; done

# In a parallel operation no reader can build in place, so it asks for a worker.
server c cftrag.build_on_start=off
small c p
is "build" "$(try c "SELECT cft_build('p')")" ""
sql c "VACUUM FULL p"
before=$(built c p)
setting=debug_parallel_query; [ "$MAJOR" -ge 16 ] || setting=force_parallel_mode
newer() { [ "$(built c p)" != "$before" ]; }
is "a parallel reader" "$(try c "SET $setting = on; SELECT count(*) > 0 FROM cft_context('n1', edges => 'p')")" t
until_true "$PATIENCE" newer || note "a parallel reader's image is never built"
exact c p image
finish
