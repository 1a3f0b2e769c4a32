#!/bin/bash
# What policies hide shows nowhere: a reader sees the same in two databases that differ only in rows which that reader may not see.
# Some 1,000 random calls of every function and view; rows, errors, notices, plans and estimates are compared word for word.
# LIFE_CALLS=n for another number of calls, LIFE_SEED=n for other calls.
. "${0%/*}/lib.sh"; story "$@"
seed=${LIFE_SEED:-$((RANDOM % 1000))} calls=${LIFE_CALLS:-1000}
server a max_parallel_workers_per_gather=0

# Hidden rows are of NAME, and stand in another order of STEP; there are as many of them.
world() {
    local name=$1 step=$2
    cat <<SQL
CREATE TABLE units (tree text, parent text, child text, who text);
INSERT INTO units SELECT 'tree ' || i % 2, nullif('unit ' || i / 3, 'unit 0'), 'unit ' || i, 'life_reader' FROM generate_series(1, 60) AS i;
-- Hidden: entities of their own below visible ones and above, places of visible entities, a tree of their own.
INSERT INTO units SELECT 'tree ' || i % 2, 'unit ' || 1 + i * $step % 60, '$name ' || i, 'other' FROM generate_series(1, 30) AS i;
INSERT INTO units SELECT '$name tree', '$name ' || 1 + i * $step % 30, 'unit ' || i, 'other' FROM generate_series(1, 30) AS i;
INSERT INTO units SELECT 'tree ' || i % 2, 'unit ' || 1 + i * $step % 60, 'unit ' || 1 + (i * $step + 7) % 60, 'other' FROM generate_series(1, 10) AS i;
CREATE TABLE aliases (alias text, entity text, who text);
INSERT INTO aliases SELECT 'alias ' || i, 'unit ' || i, 'life_reader' FROM generate_series(1, 10) AS i;
INSERT INTO aliases SELECT '$name alias ' || i, 'unit ' || 1 + i * $step % 60, 'other' FROM generate_series(1, 10) AS i;
INSERT INTO aliases SELECT 'alias ' || 10 + i * $step % 20, 'unit ' || i, 'other' FROM generate_series(1, 10) AS i;
CREATE TABLE notes (id int PRIMARY KEY, entity text, body text, embedding vector(2), meta jsonb, who text);
INSERT INTO notes SELECT i, 'unit ' || i, 'The unit ' || i || ' is near unit ' || i / 2 || '.', ARRAY[1, i]::vector, jsonb_build_object('part', i % 3), 'life_reader' FROM generate_series(1, 60) AS i;
INSERT INTO notes SELECT 100 + i, 'unit ' || 1 + i * $step % 60, 'A $name about unit ' || i || '.', ARRAY[1, i * $step % 60]::vector, jsonb_build_object('$name', i), 'other' FROM generate_series(1, 60) AS i;
CREATE TABLE vectors (entity text, embedding vector(2), who text);
INSERT INTO vectors SELECT 'unit ' || i, ARRAY[i, 1]::vector, 'life_reader' FROM generate_series(1, 60) AS i;
INSERT INTO vectors SELECT '$name ' || i, ARRAY[i * $step % 60, 1]::vector, 'other' FROM generate_series(1, 30) AS i;
CREATE TABLE sums (entity text, summary text, embedding vector(2), who text DEFAULT current_user);
INSERT INTO sums SELECT 'unit ' || i, 'Of unit ' || i, ARRAY[i, 1]::vector, 'life_reader' FROM generate_series(1, 60, 2) AS i;
INSERT INTO sums SELECT '$name ' || i, 'Of $name ' || i * $step, ARRAY[i * $step % 60, 1]::vector, 'other' FROM generate_series(1, 30) AS i;
CREATE INDEX ON units (parent); CREATE INDEX ON units (child); CREATE INDEX ON notes (entity);
SELECT cft_attach('units', tree => 'tree');
SELECT cft_attach_aliases('aliases', edges => 'units');
SELECT cft_attach_documents('notes', entity => 'entity', metadata => 'meta', edges => 'units', link => true);
SELECT cft_attach_embeddings('vectors', edges => 'units');
SELECT cft_attach_summaries('sums', embedding => 'embedding', edges => 'units', documents => 'notes');
CREATE TABLE folders (parent int, child int);
INSERT INTO folders SELECT nullif(i / 3, 0), i FROM generate_series(1, 60) AS i;
CREATE INDEX ON folders (parent); CREATE INDEX ON folders (child);
CREATE TABLE acl (folder int, grp text, can boolean);
INSERT INTO acl SELECT i, 'staff', i <> 5 FROM generate_series(2, 60, 3) AS i;
CREATE INDEX ON acl (folder);
SELECT cft_attach('folders', ids => true), cft_attach_grants('acl', 'folder', 'grp', 'can', edges => 'folders');
CREATE TABLE files (id int PRIMARY KEY, folder int, body text, embedding vector(2));
INSERT INTO files SELECT i, i, 'About ' || i || ' and 12.', ARRAY[1, i]::vector FROM generate_series(1, 60) AS i;
CREATE INDEX ON files (folder);
ALTER TABLE files ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON files USING (cft_allowed(folder, 'public.acl', 'nearest', '{staff}'));
UPDATE files SET body = 'The $name ' || id * $step, embedding = ARRAY[1, id * $step % 60]::vector WHERE NOT cft_allowed(folder, 'public.acl', 'nearest', '{staff}');
SELECT cft_attach_documents('files', entity => 'folder', edges => 'folders');
DO \$\$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY '{units,aliases,notes,vectors,sums}'::text[] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY p ON %I USING (who = current_user)', t);
    END LOOP;
END \$\$;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO life_reader, life_all;
GRANT INSERT, UPDATE, DELETE ON sums TO life_reader;
SELECT cft_build('units'), cft_build('folders');
SQL
}

# One random statement a row: a call of a function or a view, each argument by its name and type. Hidden names of both databases are asked for, too.
generator=$(cat <<'SQL'
CREATE FUNCTION one_of(VARIADIC choices text[]) RETURNS text LANGUAGE sql AS $$ SELECT choices[1 + floor(random() * cardinality(choices))::int] $$;
CREATE FUNCTION argument(name text, type text, forest text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE
        WHEN type = 'regclass' THEN CASE
            WHEN name IN ('documents', 'relation', 'of_relation') THEN CASE forest WHEN 'units' THEN one_of('''notes''', '''notes''', '''notes''', '''notes''', '''units''') ELSE one_of('''files''', '''files''', '''notes''') END
            WHEN name IN ('grants') THEN '''acl''' WHEN name = 'summaries' THEN '''sums'''
            ELSE CASE WHEN random() < 0.05 THEN '''aliases''' ELSE quote_literal(forest) END END
        WHEN type = 'regprocedure' THEN one_of('''cft_capture()''', '''cft_documents()''', '''cft_summarize_extractive(text,text[],text[])''', '''cft_summaries()''')
        WHEN name = 'mode' THEN one_of('NULL', '''naive''', '''ann_graph''', '''collapsed''', '''top_down''', '''beam''')
        WHEN name = 'law' THEN one_of('''union''', '''intersection''', '''nearest''')
        WHEN name = 'roles' THEN '''{staff}'''
        WHEN name = 'match' THEN one_of('''exact''', '''inflected''', '''fuzzy''', 'NULL')
        WHEN name = 'format' THEN one_of('''text''', '''json''', '''mermaid''', '''dot''')
        WHEN name = 'trees' THEN one_of('NULL', '''{tree 1}''', '''{elder tree,tree 0}''', '''{maple tree}''')
        WHEN name = 'tree' THEN one_of('''tree 1''', '''maple tree''')
        WHEN name IN ('filter', 'metadata') AND type = 'jsonb' THEN one_of('NULL', '''{"part": 1}''', '''{"maple": 3}''')
        WHEN name = 'within' THEN one_of('NULL', 'NULL', '''{unit 2}''', '''{elder 3}''')
        WHEN name = 'language' THEN '''english'''
        WHEN name IN ('template', 'document_template', 'expand', 'budget', 'lines') THEN 'NULL'
        WHEN type = 'text' AND name IN ('question', 'text', 'mention', 'body') THEN
            one_of('''What is unit 4 and elder 7?''', '''Is unit 31 below unit 1, or maple 3?''', '''units 12''', '''alias 14 and elder alias 2''', '''unti 5''', '''maple''')
        WHEN type = 'text' THEN quote_literal('unit ' || 1 + floor(random() * 62))
            || one_of('', '', '', ' || ''''') || CASE WHEN random() < 0.2 THEN '' ELSE '' END
        WHEN type = 'text[]' THEN one_of('''{unit 1,unit 20}''', '''{unit 3,elder 3,maple 4}''', '''{unit 40,unit 41,unit 7}''', '''{elder 1}''')
        WHEN type IN ('integer', 'bigint') THEN (1 + floor(random() * 8))::text
        WHEN type = 'bigint[]' THEN one_of('''{1,2}''', '''{5,60}''')
        WHEN type = 'name' THEN quote_literal(name)
        WHEN type = 'vector' THEN one_of('''[1,5]''', '''[1,40]''', '''[30,1]''')
        WHEN type = 'double precision' THEN one_of('0.5', '0.1', 'NULL')
        WHEN type = 'boolean' THEN one_of('true', 'false')
        WHEN type = 'uuid' THEN '''00000000-0000-0000-0000-000000000001'''
        ELSE 'NULL' END $$;
CREATE FUNCTION statements(seed float8, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE f record; called text; given text[]; forest text;
BEGIN
    PERFORM setseed(seed);
    FOR f IN
        SELECT p.oid::regproc::text AS called, p.proretset, p.prorettype = 'boolean'::regtype AS truth, p.pronargs - p.pronargdefaults AS least,
               ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS u(t, i) ORDER BY i) AS types, p.proargnames AS names,
               row_number() OVER (ORDER BY p.proname, p.proargtypes::text) AS nr, count(*) OVER () AS all_of_them
          FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cftrag'
         WHERE p.prorettype <> 'trigger'::regtype AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[]) AND p.prokind = 'f'
           -- What they say is of the server, in no order, or places of rows that the reader itself wrote beside others.
           AND p.proname NOT IN ('cft_progress', 'cft_databases', 'cft_granted') AND pg_get_function_result(p.oid) !~ '\mtid\M'
         ORDER BY 1, nr
    LOOP
        FOR i IN 1 .. 1 + n / f.all_of_them LOOP
            given := '{}'; forest := one_of('units', 'units', 'folders');
            FOR j IN 1 .. coalesce(cardinality(f.types), 0) LOOP
                CONTINUE WHEN j > f.least AND random() < 0.1 AND f.types[j] <> 'regclass';
                given := given || (CASE WHEN j > f.least THEN f.names[j] || ' => ' ELSE '' END || argument(f.names[j], f.types[j], forest) || '::' || replace(f.types[j], 'anyelement', 'text'));
            END LOOP;
            called := f.called || '(' || array_to_string(given, ', ') || ')';
            RETURN NEXT CASE
                WHEN random() < 0.15 THEN 'EXPLAIN SELECT * FROM ' || called
                WHEN random() < 0.1 THEN 'EXPLAIN SELECT 1 FROM notes AS n, ' || called || ' AS c'
                ELSE 'SELECT * FROM ' || called END;
        END LOOP;
    END LOOP;
    FOR i IN 1 .. n / 10 LOOP
        called := one_of('cft_under(%s, ' || argument('entity', 'text', 'units') || ', ''units'')', 'cft_under(%s, ' || argument('', 'text[]', 'units') || ', ''units'')',
            '%s = ANY (cft_descendants(' || argument('entity', 'text', 'units') || ', ''units''))', '%s = ANY (cft_ancestors(' || argument('entity', 'text', 'units') || ', ''units''))');
        called := one_of('SELECT count(*), min(id) FROM notes WHERE ', 'EXPLAIN SELECT * FROM notes WHERE ', 'EXPLAIN (ANALYZE, TIMING off, SUMMARY off, BUFFERS off) SELECT * FROM notes WHERE ')
            || format(called, 'entity');
        RETURN NEXT called;
        RETURN NEXT one_of('EXPLAIN ', '', 'EXPLAIN (ANALYZE, TIMING off, SUMMARY off, BUFFERS off) ') || 'SELECT id, body FROM files WHERE cft_under(folder, ' || 1 + floor(random() * 20) || ', ''folders'') ORDER BY embedding <=> ''[1,7]'' LIMIT 5';
    END LOOP;
    RETURN QUERY SELECT 'SELECT * FROM ' || v FROM unnest('{pg_stat_cftrag,pg_stat_progress_cftrag,cft_health(),cft_health(detail => true)}'::text[]) AS v;
END $$;
SQL
)

sql a "CREATE ROLE life_reader; CREATE ROLE life_all BYPASSRLS" >/dev/null
declare -A steps=([elder]=7 [maple]=11)
for name in elder maple; do
    sql a "CREATE DATABASE $name" >/dev/null
    sql "a/$name" "CREATE EXTENSION cftrag CASCADE; $(world "$name" "${steps[$name]}")" >/dev/null
done
sql a/elder "$generator" >/dev/null
sql a/elder "SELECT s || ';' FROM statements($seed / 1000.0, $calls) AS s" >"$LIFE/calls.sql"
# as ROLE: what it sees in either database, but for when the image of folders, which hide nothing, was built, and how often the policy of files asked it.
as() {
    local name
    for name in elder maple; do
        (echo "SET SESSION AUTHORIZATION $1; SET statement_timeout = '20s';"; cat "$LIFE/calls.sql") |
            psql "a/$name" -e -v VERBOSITY=verbose -v SHOW_CONTEXT=always 2>&1 | sed 's/^folders|ready|.*/folders/; s/^ok|.*|calls about public.folders$/calls/' >"$LIFE/$name.out"
    done
    diff "$LIFE/elder.out" "$LIFE/maple.out" >"$LIFE/leaks" || true
}
as life_reader
is "differences with LIFE_SEED=$seed" "$(head -c 1500 "$LIFE/leaks")" ""
is "as many calls" "$(($(wc -l <"$LIFE/calls.sql") >= calls))" 1
errors=$(grep -c '^ERROR' "$LIFE/elder.out")
is "not only errors" "$((errors < calls / 2))" 1
as life_all
is "what no policy hides shows" "$(($(grep -c '^[<>]' "$LIFE/leaks") > calls / 10))" 1
echo "# $STORY: $(wc -l <"$LIFE/calls.sql") calls, $errors errors; without policies $(grep -c '^[<>]' "$LIFE/leaks") lines differ" >&2
finish
