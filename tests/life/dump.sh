#!/bin/bash
# pg_dump and pg_restore: a table's registration is its triggers, so it survives; the restored table is served from an image and exact.
. "${0%/*}/lib.sh"; story "$@"
server a
dump() { as_postgres "$BIN/pg_dump" --no-sync -d "$(url a/src)" "$@" 2>"$LIFE/error" || note "pg_dump $*: $(cat "$LIFE/error")"; }
restore() { as_postgres "$BIN/pg_restore" -d "$(url "a/$1")" --exit-on-error "${@:2}" 2>"$LIFE/error" || note "pg_restore $*: $(cat "$LIFE/error")"; }
mkdir "$LIFE/out"; chmod 777 "$LIFE/out"

# With the extension in its default schema, then in a schema of its own.
for schema in public Cft; do
    out=$LIFE/out/$schema; mkdir "$out"; chmod 777 "$out"
    sql a "CREATE DATABASE src TEMPLATE template0"
    [ "$schema" = public ] || sql a/src "CREATE SCHEMA \"$schema\""
    oracle a/src "\"$schema\""
    small a/src edges "\"$schema\""
    sql a/src "CREATE SCHEMA other; CREATE TABLE other.\"Parts of\" (id bigint GENERATED ALWAYS AS IDENTITY, \"the part\" bigint, whole bigint);
        INSERT INTO other.\"Parts of\" (\"the part\", whole) SELECT n, n / 3 FROM generate_series(1, 30) AS n;
        SELECT \"$schema\".cft_attach('other.\"Parts of\"', parent => 'whole', child => 'the part');
        CREATE CONSTRAINT TRIGGER \"no cycles\" AFTER INSERT OR UPDATE ON other.\"Parts of\" FOR EACH ROW EXECUTE FUNCTION \"$schema\".cft_reject_cycles()" >/dev/null
    parts="parent => 'whole', child => 'the part'"
    same() {  # same DB: both tables are served by their images and follow changes; a cycle is refused
        like "a cycle in $1" "$(try "a/$1" "INSERT INTO other.\"Parts of\" (\"the part\", whole) VALUES (1, 9)")" '*23514*1 > 3 > 9 > 1*'
        exact "a/$1" edges image
        exact "a/$1" 'other."Parts of"' image "$parts"
        sql "a/$1" "INSERT INTO edges VALUES ('t1', 'n3', 'new'); DELETE FROM edges WHERE child = 'n9'; INSERT INTO other.\"Parts of\" (\"the part\", whole) VALUES (77, 1)"
        exact "a/$1" edges image
        exact "a/$1" 'other."Parts of"' image "$parts"
    }
    exact a/src edges image
    exact a/src 'other."Parts of"' image "$parts"
    rows=$(sql a/src "SELECT count(*) FROM edges")
    # The registration of documents with a mapping, embeddings, aliases, phrases and summaries. A dropped column changes the numbers of the columns after it.
    sql a/src "CREATE TABLE other.\"Doc's\" (gone int, \"the id\" int, body text, e \"$schema\".vector(2)); CREATE TABLE other.about (gone int, who text, which int); CREATE TABLE named (gone int, name text, e \"$schema\".vector(2));
        ALTER TABLE other.\"Doc's\" DROP gone; ALTER TABLE other.about DROP gone; ALTER TABLE named DROP gone;
        INSERT INTO other.\"Doc's\" VALUES (1, 'one', '[1,0]'), (2, 'two', '[0,1]'); INSERT INTO other.about VALUES ('n3', 1), ('n4', 2); INSERT INTO named VALUES ('n3', '[1,1]');
        SELECT \"$schema\".cft_attach_documents('other.\"Doc''s\"', 'the id', embedding => 'e', mapping => 'other.about', mapping_entity => 'who', mapping_document => 'which');
        SELECT \"$schema\".cft_attach_embeddings('named', 'name', 'e', 'edges');
        CREATE TABLE other.\"aka's\" (gone int, \"called so\" text, who text); ALTER TABLE other.\"aka's\" DROP gone; INSERT INTO other.\"aka's\" VALUES ('the boss', 'n3'), ('nobody', 'nowhere');
        SELECT \"$schema\".cft_attach_aliases('other.\"aka''s\"', 'called so', 'who', 'edges');
        CREATE TABLE other.\"sum's\" (gone int, who text, says text); ALTER TABLE other.\"sum's\" DROP gone; SELECT \"$schema\".cft_attach_summaries('other.\"sum''s\"', 'who', 'says', edges => 'edges');
        CREATE TABLE other.papers (id int, who text, body text, e \"$schema\".vector(2), meta jsonb, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
        INSERT INTO other.papers (id, who, body, e, meta) VALUES (7, 'n3', 'seven zebras', '[1,0]', '{\"a\": 1}'), (8, 'n3', 'eight', '[1,0]', '{\"a\": 2}');
        CREATE VIEW other.some AS SELECT * FROM other.papers WHERE \"$schema\".cft_under(who, 'n3', edges => 'edges');
        SELECT \"$schema\".cft_attach_documents('other.papers', entity => 'who', embedding => 'e', metadata => 'meta', search => 'words');
        CREATE TABLE other.says (gone int, \"the tree\" text, above text, below text); ALTER TABLE other.says DROP gone; INSERT INTO other.says VALUES (NULL, '{entity} reports to {names}', '');
        SELECT \"$schema\".cft_attach_phrases('other.says', 'the tree', 'above', 'below', 'edges');
        CREATE TABLE other.\"let'ters\" (gone int, id uuid PRIMARY KEY, body text, e \"$schema\".vector(2)); ALTER TABLE other.\"let'ters\" DROP gone;
        INSERT INTO other.\"let'ters\" (id, body) VALUES ('00000000-0000-0000-0000-000000000001', 'To the Boss of n4, from n4');
        SELECT \"$schema\".cft_attach_documents('other.\"let''ters\"', embedding => 'e', link => true, edges => 'edges');
        SELECT \"$schema\".cft_attach_documents('other.some', entity => 'who', embedding => 'e', metadata => 'meta')" >/dev/null
    documents() {  # documents DB: what is attached, and what a question finds with it
        sql "a/$1" "SELECT d, (SELECT string_agg(c::text, ' ') FROM \"$schema\".cft_chunks('n3', '[0,1]', 0, 0, 'edges', documents => 'other.\"Doc''s\"') AS c),
            (SELECT string_agg(n::text, ' ') FROM \"$schema\".cft_nearest_entities('[1,1]', 1, 'edges') AS n),
            (SELECT string_agg(m::text, ' ') FROM \"$schema\".cft_entities('Does nobody ask the Boss of n4?', 'edges') AS m),
            (SELECT s.summaries || ' ' || s.entity || ' ' || s.summary FROM cftrag_internal.cft_summaries_of('edges') AS s), (SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'cftrag_rollup_%'),
            (SELECT string_agg(n::text, ' ') FROM \"$schema\".cft_nearest_documents('[1,0]', 5, 'edges', '{n3}', 'other.some', '{\"a\": 1}') AS n),
            (SELECT string_agg(r.text, ' ') FROM \"$schema\".cft_retrieve('n4', NULL, edges => 'edges', documents => 'other.papers') AS r WHERE r.source = 'hierarchy'),
            (SELECT string_agg(r.document_id, ' ') FROM \"$schema\".cft_retrieve('zebras', NULL, mode => 'hybrid', edges => 'edges', documents => 'other.papers') AS r),
            (SELECT string_agg(l.entity || ' ' || l.mentions, ', ') FROM \"$schema\".cft_linked('00000000-0000-0000-0000-000000000001', 'other.\"let''ters\"') AS l) FROM cftrag_internal.cft_attached_documents('other.\"Doc''s\"') AS d"
    }
    attached=$(documents src)
    like "documents" "$attached" '*Doc*the id*about*who*which*self*one*n3*n3*the Boss*the boss*n4*sum*who says*7*7,n3*seven zebras*n4 reports to *7*n4 2, n3 1'

    sql a "CREATE DATABASE plain TEMPLATE template0"
    dump -f "$out/plain.sql"
    psql a/plain -v ON_ERROR_STOP=1 -f "$out/plain.sql" >/dev/null 2>"$LIFE/error" || note "plain: $(cat "$LIFE/error")"
    same plain
    # Each entity with children was marked once; a change marks those above it again.
    is "plain: a change marks what is above it" "$(sql a/plain "SELECT count(*) > 1 FROM other.\"sum's\" WHERE who = 'n3' AND says IS NULL")" t
    is "documents of plain" "$(documents plain)" "$attached"

    # The schema first, then the rows: each table's rows fire the triggers, and the dump's marks come, too. Attached again, each entity has one.
    sql a "CREATE DATABASE parts TEMPLATE template0"
    dump -f "$out/schema.sql" --schema-only; dump -f "$out/rows.sql" --data-only
    for file in schema rows; do psql a/parts -v ON_ERROR_STOP=1 -f "$out/$file.sql" >/dev/null 2>"$LIFE/error" || note "$file: $(cat "$LIFE/error")"; done
    marks() { sql a/parts "SELECT count(*) > count(DISTINCT who), count(DISTINCT who) FROM other.\"sum's\" WHERE says IS NULL"; }
    restored=$(marks)
    like "several marks" "$restored" "t|*"
    is "attach again" "$(try a/parts "SELECT \"$schema\".cft_attach_summaries('other.\"sum''s\"', 'who', 'says', edges => 'edges')")" ""
    is "one mark for each" "$(marks)" "f|${restored#*|}"
    sql a "DROP DATABASE parts"

    sql a "CREATE DATABASE custom TEMPLATE template0"
    dump -Fc -f "$out/custom"
    restore custom "$out/custom"
    same custom
    is "documents of custom" "$(documents custom)" "$attached"
    # Restores over existing tables, with an image and changes.
    restore custom --clean --if-exists "$out/custom"
    is "clean: the rows of the dump" "$(sql a/custom "SELECT count(*) FROM edges")" "$rows"
    same custom
    restore custom --clean --if-exists --single-transaction "$out/custom"
    same custom
    is "documents after --clean" "$(documents custom)" "$attached"

    sql a "CREATE DATABASE directory TEMPLATE template0"
    dump -Fd -j 2 -f "$out/directory"
    restore directory -j 2 "$out/directory"
    same directory
    is "documents of directory" "$(documents directory)" "$attached"
    restore directory -j 2 --clean --if-exists "$out/directory"
    same directory

    # Restores data into an attached table with an image: while the triggers are on, the image follows.
    restore plain --data-only --table edges "$out/custom"
    exact a/plain edges image
    # With --disable-triggers, pg_restore leaves the triggers enabled, but no longer ALWAYS.
    before=$(sql a/custom "SELECT count(*) FROM edges")
    restore custom --data-only --disable-triggers --schema public --table edges "$out/custom"
    is "data only" "$(sql a/custom "SELECT count(*) FROM edges")" $((before + rows))
    exact a/custom edges triggers
    like "cft_build says what to do" "$(try a/custom "SELECT \"$schema\".cft_build('edges')")" "*55000*HINT:  Repair them with: SELECT cft_attach('edges', tree => 'tree');*"
    is "attach" "$(try a/custom "SELECT \"$schema\".cft_attach('edges', tree => 'tree')")" ""
    exact a/custom edges image
    # In one transaction, while an older image exists: the restored rows are seen.
    open s a/custom
    exact_in s edges image
    restore custom --data-only --disable-triggers --single-transaction --schema public --table edges "$out/custom"
    exact_in s edges triggers
    # The hint's statement works as printed, if the columns have the usual names.
    hint=$(try a/custom "SELECT \"$schema\".cft_build('edges')" | sed -n 's/^HINT:  Repair them with: //p')
    [ "$schema" = public ] || hint="SET search_path = \"$schema\", public; $hint"
    try a/custom "$hint" >/dev/null
    exact_in s edges image "tree => '$(sql a/custom "SELECT CASE WHEN tgnargs = 3 THEN 'tree' ELSE 'no tree' END FROM pg_trigger WHERE tgname = 'cftrag_row' AND tgrelid = 'edges'::regclass")'"
    close s
    sql a "DROP DATABASE plain; DROP DATABASE custom; DROP DATABASE directory; DROP DATABASE src"
done
finish
