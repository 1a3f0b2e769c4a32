#!/bin/bash
# Links of documents whose names have changed, when the server crashes or stops before the linker has looked: it looks after the start. More tables of documents than
# there are background workers; and the linker gives way to who locks its tables.
. "${0%/*}/lib.sh"; story "$@"
expect_crash
PRELOAD=cftrag
server a max_worker_processes=8
sql a "DO \$\$ BEGIN
    FOR i IN 1 .. 12 LOOP
        EXECUTE format('CREATE TABLE names%1\$s (parent text, child text); CREATE TABLE docs%1\$s (id serial PRIMARY KEY, body text, embedding vector(2));
                        INSERT INTO names%1\$s VALUES (NULL, ''zero'')', i);
        PERFORM cft_attach(('names' || i)::regclass), cft_attach_documents(('docs' || i)::regclass, link => true, edges => ('names' || i)::regclass);
    END LOOP; END \$\$" >/dev/null
change() {
    sql a "DO \$\$ BEGIN FOR i IN 1 .. 12 LOOP EXECUTE format('INSERT INTO docs%1\$s (body) VALUES (''zero and $1''); INSERT INTO names%1\$s VALUES (NULL, ''$1'')', i); END LOOP; END \$\$"
}
links=$(for i in {1..12}; do echo "TABLE docs${i}_links UNION ALL"; done)
are() { until_true 60 value_is a "SELECT count(*) FROM (${links% UNION ALL}) AS l WHERE entity = '$1'" 12 || note "$2: not all are linked"; }

change alpha; are alpha "in one transaction"
change beta; open s a; kill_backend a "$(pid_of s)"; close s; are beta "after a crash"
change gamma; kill_server a; start a; are gamma "after a crash of all"
change delta; stop a; start a; are delta "after a stop"
# Who locks the names, then the documents, is no victim of the linker.
sql a "INSERT INTO docs1 (body) SELECT repeat('zero and alpha ', 100) FROM generate_series(1, 3000)"
for word in epsilon zeta; do
    change $word
    sleep 1.3
    is "locks" "$(try a "BEGIN; LOCK TABLE names1; SELECT pg_sleep(0.2); LOCK TABLE docs1; COMMIT")" ""
    are $word "beside locks"
done
finish
