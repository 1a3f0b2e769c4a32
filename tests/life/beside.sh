#!/bin/bash
# No commit waits for cft_verify, which checks a copy of the image. Even a stopped session blocks no commit, except in the short time in which it
# makes the copy. So of eight stops, at least two must let a commit through.
. "${0%/*}/lib.sh"; story "$@"
server a
big a big 300000
is "build" "$(try a "SELECT cft_build('big')")" ""
open v a
pid=$(pid_of v)
working() { value_is a "SELECT state FROM pg_stat_activity WHERE pid = $pid" active; }
stopped=0 through=0
for i in 1 2 3 4 5 6 7 8; do
    send v "SELECT cft_verify('big');"
    until_true "$PATIENCE" working || note "cft_verify does not begin"
    sleep "0.0$((3 * i))"
    kill -STOP "$pid"
    if working; then
        stopped=$((stopped + 1))
        ! timeout 5 "$BIN/psql" -X -q -d "$(url a)" -c "INSERT INTO big VALUES ('t', 'n1', 'beside $i')" >/dev/null 2>&1 || through=$((through + 1))
    fi
    kill -CONT "$pid"
    is "cft_verify finds nothing" "$(answer v)" ""
done
[ "$stopped" -ge 4 ] || note "cft_verify ended too soon: it was stopped in only $stopped of 8 tries"
[ "$through" -ge 2 ] || note "a commit waited for cft_verify in $((stopped - through)) of $stopped tries"
exact a big image "ARRAY['n0','n1','n7','n70','n701'], 9, 1"
finish
