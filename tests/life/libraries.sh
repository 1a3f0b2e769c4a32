#!/bin/bash
# The package is replaced while the server runs. Without preload (17 and later) sessions with both libraries run at once. Their layouts differ, so
# from the first session with the new library until the restart, the reference query answers all. If preloaded, the old library serves until then.
. "${0%/*}/lib.sh"; story "$@"
# A second library, which differs only in its layout number.
other=$ROOT/target/other-layout
# In its own target directory, which shares no file with the other: the first build takes a minute.
(mkdir -p "$other/source" && cd "$ROOT" &&
    cp -a Cargo.toml Cargo.lock src crates sql "$other/source/" &&
    cd "$other/source" && sed -i 's/^const LAYOUT: u32 = .*/const LAYOUT: u32 = 0x7fff_0000;/' src/image/control.rs && grep -q 0x7fff_0000 src/image/control.rs &&
    PGRX_PG_CONFIG_PATH=$(readlink -f "${CFTRAG_CACHE:-$HOME/.cache/cftrag}/pg$MAJOR/pg_config") CARGO_TARGET_DIR=$other/pg$MAJOR \
        cargo build -q -p cftrag --profile dev --no-default-features --features "pg$MAJOR") >"$LIFE/build.log" 2>&1 ||
    broken "no other library: $(tail -3 "$LIFE/build.log")"
new=$other/pg$MAJOR/debug/libcftrag.so
# A private copy of the server, whose package can be replaced.
. "$ROOT/tools/env"
own_server() { copy_server "$(dirname "$CONFIG")" "$LIFE/server" "$CONFIG" || broken "no copy of the server"; CONFIG=$LIFE/server/pg_config; }
given=$CONFIG
package() { install -m 755 "$1" "$("$CONFIG" --pkglibdir)/cftrag.so"; }
old=$("$given" --pkglibdir)/cftrag.so

for preload in cftrag $([ "$MAJOR" -lt 17 ] || echo none); do
    CONFIG=$given PRELOAD=${preload/none/}
    own_server
    name=a_$preload
    server "$name"
    small "$name" edges
    exact "$name" edges image
    open before "$name"
    exact_in before edges image
    is "a change that is under way" "$(ask before "BEGIN; INSERT INTO edges VALUES ('t1', 'n3', 'under way');")" ""
    package "$new"
    open after "$name"
    by=image new_session=image
    if [ "$preload" = none ]; then
        # A session of the new library says so once.
        by=no_memory new_session='*WARNING*no_memory'
        # Writes by the new library are in no image; readers must not miss them.
        like "the new one says what to do" "$(ask after "INSERT INTO edges VALUES ('t1', 'n3', 'by the new one');")" "*WARNING*HINT:  Restart the server*"
        is "the new one writes" "$(ask after "DELETE FROM edges WHERE child = 'n9';")" ""
        like "the new one builds nothing" "$(ask after "SELECT cft_build('edges');")" "*55000*"
    else is "the write" "$(ask after "INSERT INTO edges VALUES ('t1', 'n3', 'by the new one'); DELETE FROM edges WHERE child = 'n9';")" ""; fi
    exact_in before edges $by
    exact_in after edges $by
    is "commit" "$(ask before "COMMIT;")" ""
    exact_in after edges $by
    is "the old one writes" "$(ask before "UPDATE edges SET parent = 'n2' WHERE child = 'n11';")" ""
    exact_in before edges $by
    exact_in after edges $by
    exact "$name" edges "$new_session"
    close before; close after
    stop "$name"; start "$name"
    exact "$name" edges image
    # Back to the old library.
    open before "$name"
    exact_in before edges image
    package "$old"
    exact "$name" edges "$new_session"
    exact_in before edges $by
    close before
    stop "$name"; start "$name"
    exact "$name" edges image
    stop "$name"
done
finish
