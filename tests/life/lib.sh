# shellcheck shell=bash
# Sourced by each story of tests/life: servers, sessions, checks.
#
#   . "${0%/*}/lib.sh"; story "$@"      "$@" is PG_CONFIG; makes $LIFE, a directory that is removed with its servers at the end
#   server NAME [setting=value ...]     a server with the extension and the oracle in database postgres; one owner may use all of cftrag's memory
#   sql NAME SQL, sql NAME/DB SQL       prints the rows; an error ends the story
#   try NAME SQL                        prints the rows and errors; its status is always 0
#   open S NAME; ask S SQL; send S SQL; answer S; pid_of S; close S       a session that stays open
#   exact NAME EDGES HOW [ARGS]         cft_context equals the reference query and was served by HOW: image, or a reason
#   is WHAT ACTUAL WANTED; like WHAT ACTUAL PATTERN; note WHAT            checks; failures are counted, and the story goes on
#   finish                              prints "ok STORY" or "not ok STORY: why"
#
# Promises: every server made here is stopped, however the story ends. A PANIC, a failed assertion or a Rust panic in a server's log fails
# the story; after `expect_crash`, processes killed by the story itself do not count.

set -uo pipefail
export RUST_BACKTRACE=1
# Writing to a session that died must not end the story.
trap '' PIPE
HERE=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
# Seconds to wait for anything; what takes longer, even on a busy machine, hangs.
PATIENCE=${LIFE_PATIENCE:-20}

story() {
    STORY=$(basename "$0" .sh) CONFIG=$(readlink -f "${1:?PG_CONFIG}")
    BIN=$("$CONFIG" --bindir) MAJOR=$("$CONFIG" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
    # Tests both normal states: 15 needs the library preloaded, 17 does not.
    if [ "$MAJOR" -lt 17 ]; then PRELOAD=cftrag; else PRELOAD=${LIFE_PRELOAD-}; fi
    LIFE=$(mktemp -d /tmp/cftlife.XXXXXX) failures=0 checks=0 why='' crashes=0
    chmod 755 "$LIFE"
    trap leave EXIT
    trap 'exit 130' INT TERM HUP
}

# shellcheck disable=SC2317
leave() {
    local name
    for name in "${!pids[@]}"; do kill "${pids[$name]}" 2>/dev/null; done
    for name in "${servers[@]}"; do
        [ -e "$LIFE/$name/pg_config" ] || continue
        cluster stop "$name" >/dev/null 2>&1
        running "$name" && kill -9 "$(postmaster "$name")" 2>/dev/null
    done
    [ -n "${LIFE_KEEP:-}" ] || rm -rf "$LIFE"
}

# ---- checks ---------------------------------------------------------------------------------------------------

note() {
    checks=$((checks + 1)) failures=$((failures + 1))
    why=${why:-$1}
    printf '# %s: %s\n' "$STORY" "$1" >&2
}
is() { if [ "$2" = "$3" ]; then checks=$((checks + 1)); else note "$1: got \"$2\", wanted \"$3\""; fi; }
# shellcheck disable=SC2053
like() { if [[ $2 == $3 ]]; then checks=$((checks + 1)); else note "$1: got \"$2\", wanted $3"; fi; }
broken() { note "$1"; finish; }
expect_crash() { crashes=1; }

finish() {
    local name bad='PANIC|TRAP:|panicked at|was terminated by signal'
    [ "$crashes" = 0 ] || bad='PANIC|TRAP:|panicked at|terminated by signal (6|7|8|11)'
    for name in "${servers[@]}"; do
        # Reads the log as text, whatever bytes it has.
        grep -Ea "$bad" "$LIFE/$name/log" 2>/dev/null | head -3 >"$LIFE/bad"
        [ ! -s "$LIFE/bad" ] || note "the log of $name: $(head -c 300 "$LIFE/bad")"
    done
    if [ "$failures" = 0 ]; then
        echo "ok $STORY ($checks checks, $SECONDS s)"; exit 0
    fi
    echo "not ok $STORY: ${why//$'\n'/ | }$([ "$failures" = 1 ] || echo " (and $((failures - 1)) more)")"; exit 1
}

# until_true SECONDS CMD...: waits until CMD succeeds; fails after SECONDS.
until_true() {
    local end=$((SECONDS + $1)); shift
    until "$@"; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.05; done
}

# ---- servers --------------------------------------------------------------------------------------------------

declare -A pids=() ins=() outs=() where=()
declare -a servers=()

cluster() { "$ROOT/tools/cluster" "$1" "$LIFE/$2" "${@:3}"; }
as_postgres() { "$ROOT/tools/as-postgres" "$@"; }
postmaster() { head -1 "$LIFE/$1/data/postmaster.pid" 2>/dev/null; }
running() { local pid; pid=$(postmaster "$1") && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; }

# template DIR: runs the one initdb of all stories; each copies its data directory, LIFE_TEMPLATE.
template() {
    local dir=$1; shift
    mkdir -p "$dir" && chmod 755 "$dir"
    "$ROOT/tools/cluster" start "$dir" "$CONFIG" "shared_preload_libraries=$PRELOAD" || return 1
    oracle_sql | PG_ABS_SRCDIR=$ROOT/tests/pg_regress "$ROOT/tools/cluster" psql "$dir" -q -v ON_ERROR_STOP=1 -f - >"$dir/oracle.log" || return 1
    "$ROOT/tools/cluster" stop "$dir"
}

# Prints the SQL tests' oracle, then how.sql.
oracle_sql() {
    sed '/^-- The oracle can fail/,$d' "$ROOT/tests/pg_regress/sql/setup.sql"
    cat "$HERE/how.sql"
}

# add NAME [own]: makes the directory of a server, with a copy of the template unless the server brings its own data.
add() {
    servers+=("$1")
    mkdir -p "$LIFE/$1" && chmod 755 "$LIFE/$1"
    [ -z "${2:-}" ] || return 0
    if [ -z "${LIFE_TEMPLATE:-}" ]; then
        LIFE_TEMPLATE=$LIFE/template
        template "$LIFE_TEMPLATE" || broken "no template"
    fi
    cp -a "$LIFE_TEMPLATE/data" "$LIFE/$1/data" || broken "no copy of the template"
}

start() {
    local name=$1; shift
    cluster start "$name" "$CONFIG" "shared_preload_libraries=$PRELOAD" max_prepared_transactions=10 autovacuum=off \
        shared_buffers=32MB max_connections=30 "$@" || broken "$name does not start"
}
server() { add "$1"; start "$@"; }
stop() { cluster stop "$1" || broken "$1 does not stop"; }

# url NAME[/DB] -> arguments for libpq's programs
url() {
    local db=postgres; [[ $1 != */* ]] || db=${1#*/}
    echo "host=$(cat "$LIFE/${1%%/*}/socket") port=5432 user=postgres dbname=$db"
}
psql() { "$BIN/psql" -X -q -At -d "$(url "$1")" "${@:2}"; }
# Both read the SQL from standard input, so that each statement is its own transaction.
sql() { psql "$1" -v ON_ERROR_STOP=1 <<<"$2" 2>"$LIFE/error" || broken "$1: $2: $(cat "$LIFE/error")"; }
try() { psql "$1" -v VERBOSITY=verbose <<<"$2" 2>&1 || true; }
# quietly NAME SQL: ignores rows and errors
quietly() { psql "$1" -c "$2" >/dev/null 2>&1; }
answers() { quietly "$1" 'SELECT 1'; }
value_is() { [ "$(psql "$1" -c "$2" 2>/dev/null)" = "$3" ]; }

# oracle NAME/DB [SCHEMA]: installs the extension (in SCHEMA) and the oracle in another database.
oracle() {
    oracle_sql | sed "s/CREATE EXTENSION cftrag CASCADE/CREATE EXTENSION IF NOT EXISTS cftrag SCHEMA ${2:-public} CASCADE/; s/public\\.cft_/${2:-public}.cft_/g
        s/public\\.pg_stat_cftrag/${2:-public}.pg_stat_cftrag/g" |
        PG_ABS_SRCDIR=$ROOT/tests/pg_regress psql "$1" -v ON_ERROR_STOP=1 -f - >"$LIFE/error" 2>&1 || broken "oracle in $1: $(cat "$LIFE/error")"
}

# ---- sessions -------------------------------------------------------------------------------------------------

open() {
    local in out
    mkfifo "$LIFE/$1.in" "$LIFE/$1.out"
    "$BIN/psql" -X -q -At -v VERBOSITY=verbose -d "$(url "$2")" <"$LIFE/$1.in" >"$LIFE/$1.out" 2>&1 &
    pids[$1]=$! where[$1]=$2
    exec {in}>"$LIFE/$1.in" {out}<"$LIFE/$1.out"
    ins[$1]=$in outs[$1]=$out
    rm -f "$LIFE/$1.in" "$LIFE/$1.out"
}
send() { printf '%s\n\\echo =done=\n' "$2" >&"${ins[$1]}" 2>/dev/null; }
# Prints a session's output up to the mark, or to its end if it died.
answer() {
    local line text=''
    while IFS= read -r -t "$PATIENCE" line <&"${outs[$1]}"; do
        [ "$line" != '=done=' ] || { printf '%s' "${text%$'\n'}"; return 0; }
        text+=$line$'\n'
    done
    printf '%s' "${text}no answer"
    return 1
}
ask() { send "$1" "$2" && answer "$1"; }
pid_of() { ask "$1" 'SELECT pg_backend_pid();'; }
close() {
    local in=${ins[$1]} out=${outs[$1]}
    # Closing the pipe is not enough to end the session, since sessions opened later have a copy of it.
    printf '\n\\q\n' >&"$in" 2>/dev/null
    exec {in}>&- {out}<&-
    [ -z "${2:-}" ] || kill "${pids[$1]}" 2>/dev/null
    wait "${pids[$1]}" 2>/dev/null
    unset "pids[$1]" "ins[$1]" "outs[$1]"
}

# ---- exactness and crashes ------------------------------------------------------------------------------------

# how_sql EDGES [ARGS]: the statement that says how an answer was served: "image, N rows", "recovery, N rows"; or "WRONG" and what differs.
# ARGS are oracle.how's others: names => ARRAY[...], up => 3, down => 3, parent => ..., child => ..., tree => ..., verify => false
how_sql() { echo "SELECT oracle.how('$1'${2:+, $2})"; }
exact() { like "exact $1 $2 by $3" "$(try "$1" "$(how_sql "$2" "${4:-}")")" "$3, * rows"; }
exact_in() { like "exact in session $1, $2 by $3" "$(ask "$1" "$(how_sql "$2" "${4:-}");")" "$3, * rows"; }
state() { try "$1" "SELECT state FROM pg_stat_cftrag WHERE edges = '$2'::regclass"; }
built() { try "$1" "SELECT built_at FROM pg_stat_cftrag WHERE edges = '$2'::regclass"; }

# kill_backend NAME PID: kills it with -9 and waits for the crash restart, since a query can still succeed before the postmaster notices.
restarts() { grep -ac 'reinitializing' "$LIFE/$1/log"; }
kill_backend() {
    local before
    before=$(restarts "$1")
    kill -9 "$2" 2>/dev/null || note "process $2 of $1 was gone already"
    restarted "$1" "$before"
}
# shellcheck disable=SC2317
more_restarts() { [ "$(restarts "$1")" -gt "$2" ]; }
restarted() {
    until_true "${3:-$PATIENCE}" more_restarts "$1" "$2" || broken "$1 did not restart after the crash"
    until_true "$PATIENCE" answers "$1" || broken "$1 does not answer after the crash"
}

# kill_server NAME: kills the postmaster with -9. Its children notice at their next wait and keep shared memory until then; the postmaster is a
# zombie until its parent reaps it.
kill_server() {
    local pid children
    pid=$(postmaster "$1") children=$(ps -o pid= --ppid "$pid")
    kill -9 "$pid"
    # shellcheck disable=SC2086
    until_true "$PATIENCE" none_of $pid $children || broken "processes of $1 stay"
}
# shellcheck disable=SC2317
none_of() { local p; for p in "$@"; do ! kill -0 "$p" 2>/dev/null || return 1; done; }

# big NAME TABLE ROWS: a tree in which node n's parent is n/10, with the indexes the reference query wants.
big() {
    sql "$1" "CREATE TABLE $2 (tree text, parent text, child text);
        INSERT INTO $2 SELECT 't', 'n' || n / 10, 'n' || n FROM generate_series(1, $3) AS n;
        CREATE INDEX ON $2 (parent); CREATE INDEX ON $2 (child); ANALYZE $2;
        SELECT cft_attach('$2', tree => 'tree')" >/dev/null
}
# small NAME TABLE: three trees, a cycle, a duplicate row, a NULL tree.
small() {
    sql "$1" "CREATE TABLE $2 (tree text, parent text, child text);
        INSERT INTO $2 SELECT 't' || n % 3, 'n' || n / 3, 'n' || n FROM generate_series(1, 40) AS n;
        INSERT INTO $2 VALUES (NULL, 'n1', 'n5'), (NULL, 'n5', 'n1'), ('t1', 'n0', 'n1'), ('t1', 'n0', 'n1'), ('t1', NULL, 'n1'), ('', '', 'n2')
        ; SELECT ${3:+$3.}cft_attach('$2', tree => 'tree')" >/dev/null
}

# until_phase(phase, seconds): waits until a build is in that phase; returns the builder's pid.
until_phase_sql() {
    cat <<'SQL'
CREATE FUNCTION until_phase(wanted text, seconds int = 30) RETURNS int LANGUAGE plpgsql AS $$
DECLARE pid int; BEGIN
    FOR i IN 1..seconds * 2000 LOOP
        SELECT builder INTO pid FROM public.pg_stat_progress_cftrag WHERE phase = wanted;
        IF FOUND THEN RETURN pid; END IF;
        PERFORM pg_sleep(0.0005);
    END LOOP;
    RAISE 'no build is in the phase "%"', wanted;
END $$;
SQL
}
