#!/bin/bash
# ALTER EXTENSION cftrag UPDATE, from every released version and to a pretended next one, gives the members of a new installation; an attached table
# stays attached, and its image serves on. A dump of the old version restores into the new one, with the same answers. Released scripts never change
# (tests/upgrade/frozen; each of its rules is made to fail here), and `make freeze` writes what was installed.
# shellcheck source=tests/life/lib.sh
. "${0%/*}/../life/lib.sh"; story "$@"
UPGRADE=$(cd "${0%/*}" && pwd)
extensions=$("$CONFIG" --sharedir)/extension
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml" | head -1)
server a

# installed DB WHAT: a new database with CREATE EXTENSION WHAT
installed() { sql a "DROP DATABASE IF EXISTS $1"; sql a "CREATE DATABASE $1"; is "$1: CREATE EXTENSION $2" "$(try "a/$1" "SET client_min_messages = error; CREATE EXTENSION cftrag $2 CASCADE")" ""; }
members() { psql "a/$1" -v ON_ERROR_STOP=1 -f "$UPGRADE/members.sql" 2>&1; }
same() { is "$1: as newly installed" "$(diff <(members fresh) <(members "$1") | head -20)" ""; }


# pair OLD NEW: database "old" gets version OLD, with tables and documents attached; database "restored" gets its dump, by NEW.
# pg_dump names no version, so who restores it gets the default of the server: NEW is written into it, since that default is not changed here.
documents="SELECT string_agg(c.text, ' | ' ORDER BY c.text) FROM cft_retrieve('n4', NULL, edges => 'edges', documents => 'papers') AS c"
pair() {
    installed old "VERSION '$1'"
    oracle a/old
    small a/old edges
    sql a/old "CREATE TABLE papers (id int, who text, body text, embedding vector(2)); INSERT INTO papers VALUES (7, 'n4', 'seven zebras', '[1,0]'); CREATE TABLE aka (alias text, name text);
        SELECT cft_attach_documents('papers', entity => 'who', edges => 'edges'); SELECT cft_attach_aliases('aka', 'alias', 'name', 'edges')" >/dev/null
    exact a/old edges image
    local before; before=$(try a/old "$documents")
    like "documents" "$before" "*n4*"
    as_postgres "$BIN/pg_dump" --no-sync -d "$(url a/old)" >"$LIFE/dump.sql" 2>"$LIFE/error" || note "pg_dump: $(cat "$LIFE/error")"
    is "the dump names no version" "$(grep -c "^CREATE EXTENSION IF NOT EXISTS cftrag WITH SCHEMA public;" "$LIFE/dump.sql")" 1
    sed -i "s/^CREATE EXTENSION IF NOT EXISTS cftrag WITH SCHEMA public/& VERSION '$2'/" "$LIFE/dump.sql"
    sql a "DROP DATABASE IF EXISTS restored"; sql a "CREATE DATABASE restored TEMPLATE template0"
    psql a/restored -v ON_ERROR_STOP=1 -f "$LIFE/dump.sql" >/dev/null 2>"$LIFE/error" || note "$1 into $2: $(cat "$LIFE/error")"
    same restored
    exact a/restored edges image
    sql a/restored "INSERT INTO edges VALUES ('t1', 'n3', 'restored')"
    exact a/restored edges image
    is "documents restored" "$(try a/restored "$documents")" "$before"
}

# 1. The released versions. Their C functions must be in today's library, since a server with an upgraded package runs them; otherwise CREATE EXTENSION
# fails.
installed fresh ""
[[ $(members fresh) == *cft_context* ]] || note "no members: $(members fresh | head -3)"
# shellcheck disable=SC2013
for old in $(sed -nE 's/^[0-9a-f]{64}  cftrag--([^-]*)\.sql$/\1/p' "$ROOT/sql/released.sha256"); do
    pair "$old" "$version"
    is "update from $old" "$(try a/old "ALTER EXTENSION cftrag UPDATE")" ""
    same old
    exact a/old edges image
    is "documents of $old" "$(try a/old "$documents")" "$(try a/restored "$documents")"
done

# 2. A pretended next version: a statement of each kind that an update script may forget.
changes=("CREATE FUNCTION cft_next(n integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT n'"
    "COMMENT ON FUNCTION cft_detach(regclass) IS 'next'"
    "ALTER FUNCTION cft_context(text, integer, integer, regclass, text[]) COST 99"
    "ALTER FUNCTION cft_verify(regclass) STABLE"
    "ALTER FUNCTION cft_build(regclass) SET search_path = pg_catalog"
    "REVOKE ALL ON FUNCTION cft_hot_entities(integer, regclass) FROM PUBLIC"
    "CREATE OR REPLACE VIEW pg_stat_cftrag AS SELECT *, 1 AS next FROM cftrag_internal.cft_stat()"
    "ALTER VIEW pg_stat_cftrag SET (security_barrier)"
    "COMMENT ON COLUMN pg_stat_cftrag.edges IS 'next'"
    "REVOKE SELECT ON pg_stat_progress_cftrag FROM PUBLIC"
    "CREATE OR REPLACE FUNCTION cft_stats_reset() RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'cft_build_wrapper'"
    "CREATE TYPE cft_kind AS ENUM ('a', 'b')")
# shellcheck disable=SC2317
pretend() { rm -f "$extensions"/cftrag--*pretend*.sql; }
trap 'pretend; leave' EXIT
script() { local i; for ((i = 0; i < ${#changes[@]}; i++)); do [ "$i" = "$1" ] || echo "${changes[i]};"; done; }
{ cat "$extensions/cftrag--$version.sql"; script none; } >"$extensions/cftrag--pretend.sql"
script none >"$extensions/cftrag--$version--pretend.sql"
installed fresh "VERSION 'pretend'"
pair "$version" pretend
before=$(built a/old edges)
open s a/old
exact_in s edges image
is "update" "$(try a/old "ALTER EXTENSION cftrag UPDATE TO 'pretend'")" ""
same old
exact_in s edges image
sql a/old "INSERT INTO edges VALUES ('t1', 'n3', 'after')"
exact_in s edges image
exact a/old edges image
is "by the same image" "$(built a/old edges)" "$before"
close s
# If an update script forgets a statement, the comparison finds it.
for ((forgotten = 0; forgotten < ${#changes[@]}; forgotten++)); do
    script $forgotten >"$extensions/cftrag--$version--pretend.sql"
    installed old "VERSION '$version'"
    answer=$(try a/old "ALTER EXTENSION cftrag UPDATE TO 'pretend'")
    [ -n "$answer" ] || [ "$(members fresh)" != "$(members old)" ] || note "the comparison misses ${changes[forgotten]}"
    checks=$((checks + 1))
done
# A kind of member that members.sql cannot compare is an error.
sql a/old "CREATE SEQUENCE forgotten; ALTER EXTENSION cftrag ADD SEQUENCE forgotten"
like "an unknown kind" "$(members old)" "*must learn to compare: sequence*"

# 3. Frozen scripts: a small project with two releases, broken in each possible way.
is "frozen" "$("$UPGRADE/frozen" 2>&1)" ""
project=$LIFE/project
mkdir -p "$project/sql"
cd "$project" || broken "no project"
git init -q .
commit() { git add -A && git -c user.name=test -c user.email=test@test commit -qm "$1"; }
frozen() { "$UPGRADE/frozen" "$project" 2>&1; }
broken_by() { like "frozen, $1" "$(frozen)" "$2"; git reset -q --hard; git clean -qfd; is "frozen again" "$(frozen)" ""; }
echo 'version = "0.3.0"' >Cargo.toml
printf '## 0.3.0, unreleased\n\n## 0.2.0, 2027-01-01\n\n## 0.1.0, 2026-12-01\n' >CHANGELOG.md
for s in 0.1.0 0.2.0 0.3.0 0.1.0--0.2.0 0.2.0--0.3.0; do echo "-- $s" >"sql/cftrag--$s.sql"; done
(cd sql && sha256sum cftrag--0.1.0.sql cftrag--0.2.0.sql cftrag--0.1.0--0.2.0.sql >released.sha256)
commit "two releases"
is "frozen" "$(frozen)" ""
echo >>sql/cftrag--0.3.0.sql; is "the next one may change" "$(frozen)" ""
echo >>sql/cftrag--0.1.0.sql; broken_by "a script changed" "*cftrag--0.1.0.sql: FAILED*"
echo >>sql/cftrag--0.1.0--0.2.0.sql; broken_by "an update script changed" "*cftrag--0.1.0--0.2.0.sql: FAILED*"
rm sql/cftrag--0.1.0.sql; broken_by "a script gone" "*not what it was*"
sed -i 's/0.3.0, unreleased/0.3.0, 2027-02-01/' CHANGELOG.md; broken_by "a release not frozen" "*0.3.0 is released*not in*"
sed -i /0.1.0--0.2.0/d sql/released.sha256; broken_by "a line gone" "*changed or removed*"
(cd sql && sha256sum cftrag--0.3.0.sql >>released.sha256); broken_by "frozen too early" "*0.3.0 is not released*"
echo 'version = "0.4.0"' >Cargo.toml; broken_by "a version without heading" "*does not know version 0.4.0*"
echo >>sql/cftrag--0.1.0.sql; (cd sql && sha256sum cftrag--0.1.0.sql cftrag--0.2.0.sql cftrag--0.1.0--0.2.0.sql >released.sha256); commit "both changed"
like "frozen, script and hash changed and committed" "$(frozen)" "*changed or removed*"

# 4. RELEASING.md's steps on a copy: the frozen script is the installed one, and stays so, whatever becomes of sql/install.
mkdir "$LIFE/copy" && cd "$LIFE/copy" && cp -r "$ROOT"/{Makefile,Cargo.toml,CHANGELOG.md,src,sql,tools} .
[ -e tools/install-script ] || broken "no copy"
freeze() { make -s freeze PG_CONFIG="$CONFIG" 2>&1; }
is "make freeze" "$(freeze)" ""
is "frozen is installed" "$(diff "sql/cftrag--$version.sql" "$extensions/cftrag--$version.sql" 2>&1 | head -5)" ""
(cd sql && sha256sum "cftrag--$version.sql" >>released.sha256)
sed -i "s/^## $version, unreleased/## $version, 2027-01-01/" CHANGELOG.md
is "released" "$("$UPGRADE/frozen" .)" ""
echo "-- next" >>sql/install/grants.sql
is "make freeze again" "$(freeze)$("$UPGRADE/frozen" .)" ""
is "stays frozen" "$(diff "sql/cftrag--$version.sql" "$extensions/cftrag--$version.sql" 2>&1 | head -5)" ""
sed -i "0,/^version = /s/^version = .*/version = \"99.0.0\"/" Cargo.toml
is "the next version has its own" "$(freeze; grep -cx -- '-- next' sql/cftrag--99.0.0.sql)" 1
cd "$ROOT" || exit 1
finish
