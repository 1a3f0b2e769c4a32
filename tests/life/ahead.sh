#!/bin/bash
# The launcher takes an image's next chunk before a writer needs it: an image that is nearly full grows while nobody writes.
. "${0%/*}/lib.sh"; story "$@"
PRELOAD=cftrag
server a
small a edges
launcher=$(sql a "SELECT pid FROM pg_stat_activity WHERE backend_type = 'cftrag launcher'")
sleeps() { [ "$(sql a "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $launcher")" = Extension ]; }
bytes() { sql a "SELECT memory_bytes FROM pg_stat_cftrag WHERE edges = 'edges'::regclass"; }
# One row a transaction (of several it is reckoned that each has the filter grow); the launcher is kept asleep meanwhile, so that what the image grows by here is the writer's own doing.
more() {
    until_true "$PATIENCE" sleeps || note "the launcher does not sleep"
    kill -STOP "$launcher"
    sql a "$(for n in {1..20}; do echo "INSERT INTO edges VALUES ('t1', 'n$1', 'more $1 $n');"; done)"
    had=$(bytes)
    kill -CONT "$launcher"
    sleep 0.1
}
exact a edges image
for i in {1..150}; do
    more "$i"
    [ "$(bytes)" = "$had" ] || break
done
[ "$(bytes)" -gt "$had" ] || note "it never grew ahead of need: $had bytes after $i transactions"
exact a edges image "ARRAY['n1', 'n9', 'more 9 9'], 3, 3"
stop a
finish
