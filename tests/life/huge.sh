#!/bin/bash
# A large image is in huge pages, where the kernel has them; without it is read as well. What a session has mapped of images that are gone it
# gives back.
. "${0%/*}/lib.sh"; story "$@"
SOME="ARRAY['n0','n1','n7','n70','n701','n1999','n20001'], 6, 2"
server a
big a big 100000
# session_of S: a session that has read the image; `pages S` how much of it is in huge pages, kB; `views S` in how many mappings.
session_of() { open "$1" a; pid=$(pid_of "$1"); exact_in "$1" big image "$SOME"; }
pages() { awk '/^ShmemPmdMapped:/ { n += $2 } END { print n + 0 }' "/proc/$pid/smaps"; }
views() { grep -c '/dev/shm/PostgreSQL' "/proc/$pid/maps"; }
rebuilt() { is "build" "$(try a "SELECT cft_build('big')")" ""; }

rebuilt
session_of s
huge=$(pages) before=$(views)
if [ "$huge" = 0 ]; then
    # MADV_COLLAPSE is of Linux 6.1. A machine may have no 2 MB in one piece left.
    echo "# $STORY: $(uname -sr), shmem_enabled $(cat /sys/kernel/mm/transparent_hugepage/shmem_enabled 2>/dev/null || echo none): no huge pages here" >&2
fi
for _ in 1 2 3 4 5; do
    rebuilt
    exact_in s big image "$SOME"
done
# PostgreSQL may have divided its segments otherwise meanwhile.
now=$(views)
[ "$now" -le $((before * 2)) ] || note "$before mappings, and $now after five builds"
close s

# Sessions that stay, and new ones, read it while it grows, shrinks and is built anew.
writing() {
    local i
    for i in 1 2 3 4; do
        quietly a "INSERT INTO big SELECT 't', 'n' || n / 10, 'w' || n || repeat('x', 40) FROM generate_series(1, 30000) AS n"
        quietly a "SELECT cft_build('big')"
        quietly a "DELETE FROM big WHERE child LIKE 'w%'"
    done
    touch "$LIFE/written"
}
session_of s
writing &
# A snapshot may be older than the image that came meanwhile.
while_built="@(image|old_snapshot|image+old_snapshot)"
until [ -e "$LIFE/written" ]; do
    exact_in s big "$while_built" "$SOME"
    exact a big "$while_built" "$SOME"
done
wait $!
close s

# It grows by what is in small pages, and so do the views.
session_of s
sql a "INSERT INTO big SELECT 't', 'n' || n / 10, 'n' || n || repeat('x', 40) FROM generate_series(100001, 200000) AS n"
exact_in s big image "$SOME"
before=$(views)
# An image of another table, read after this one is gone: its views go.
small a edges
sql a "SELECT cft_detach('big')" >/dev/null
exact_in s edges image
now=$(views)
[ "$huge" = 0 ] || [ "$now" -lt "$before" ] || note "the image is gone, its $before mappings are not: $now"
close s

sql a "ALTER SYSTEM SET cftrag.huge_pages = off; SELECT pg_reload_conf()" >/dev/null
until_true 10 value_is a "SHOW cftrag.huge_pages" off
big a other 100000
is "build" "$(try a "SELECT cft_build('other')")" ""
open s a; pid=$(pid_of s)
exact_in s other image "$SOME"
is "huge pages, switched off" "$(pages)" 0
close s
stop a
finish
