#!/bin/bash
# The three laws of cft_allowed against their definition, for each folder and as a policy, while others move folders, grant and revoke.
# LIFE_CHECKS=n for another number of checks than 50,000.
. "${0%/*}/lib.sh"; story "$@"
server a
wanted=${LIFE_CHECKS:-50000} watchers=2
sql a "$(cat <<'SQL'
CREATE TABLE folders (parent int, child int);
-- A folder's parents have lower numbers, so that no cycle makes the definition slow.
INSERT INTO folders SELECT nullif(i / 4, 0), i FROM generate_series(1, 300) AS i;
INSERT INTO folders SELECT 1 + i % 40, i FROM generate_series(41, 300, 13) AS i;
CREATE INDEX ON folders (parent); CREATE INDEX ON folders (child);
SELECT cft_attach('folders', ids => true);
CREATE TABLE acl (folder int, grp text, can boolean);
INSERT INTO acl SELECT 1 + (random() * 299)::int, 'g' || i % 5, random() < 0.8 FROM generate_series(1, 60) AS i;
CREATE INDEX ON acl (folder);
SELECT cft_attach_grants('acl', 'folder', 'grp', 'can');
CREATE ROLE life_reader;
DO $$ DECLARE law text; BEGIN
    FOREACH law IN ARRAY '{union,intersection,nearest}'::text[] LOOP
        EXECUTE format($f$ CREATE TABLE docs_%1$s AS SELECT i AS id, 1 + i %% 300 AS folder FROM generate_series(1, 600) AS i; CREATE INDEX ON docs_%1$s (folder);
            ALTER TABLE docs_%1$s ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON docs_%1$s USING (cft_allowed(folder, 'public.acl', '%1$s')) $f$, law);
    END LOOP;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO life_reader;
CREATE FUNCTION definition(e int, mine text[], law text) RETURNS boolean STABLE LANGUAGE sql AS $$
    WITH RECURSIVE up(name, depth) AS (SELECT e, 0 UNION SELECT f.parent, u.depth + 1 FROM up AS u JOIN folders AS f ON f.child = u.name WHERE f.parent IS NOT NULL),
         entry AS (SELECT a.depth, coalesce(bool_and(g.can) FILTER (WHERE g.grp = ANY (mine)), false) AS allows
                     FROM (SELECT name, min(depth) AS depth FROM up GROUP BY name) AS a JOIN acl AS g ON g.folder = a.name GROUP BY a.name, a.depth)
    SELECT CASE law WHEN 'union' THEN coalesce(bool_or(allows), false) WHEN 'intersection' THEN coalesce(bool_and(allows), true)
                    ELSE coalesce(bool_and(allows) FILTER (WHERE depth = (SELECT min(depth) FROM entry)), false) END FROM entry $$;
CREATE PROCEDURE change(seed float8, steps int) LANGUAGE plpgsql AS $$ BEGIN
    PERFORM setseed(seed);
    FOR i IN 1 .. steps LOOP
        CASE (random() * 5)::int
            WHEN 0 THEN UPDATE folders SET parent = 1 + (random() * (child - 2))::int WHERE child = 2 + (random() * 298)::int AND parent IS NOT NULL;
            WHEN 1 THEN INSERT INTO acl VALUES (1 + (random() * 299)::int, 'g' || (random() * 4)::int, random() < 0.7);
            WHEN 2 THEN DELETE FROM acl WHERE ctid = (SELECT ctid FROM acl ORDER BY random() LIMIT 1);
            WHEN 3 THEN UPDATE acl SET can = NOT can, folder = 1 + (random() * 299)::int WHERE ctid = (SELECT ctid FROM acl ORDER BY random() LIMIT 1);
            WHEN 4 THEN INSERT INTO folders SELECT 1 + (random() * (c - 2))::int, c FROM (SELECT 2 + (random() * 298)::int AS c) AS z WHERE (SELECT count(*) FROM folders) < 330;
            ELSE DELETE FROM folders WHERE parent IS NOT NULL AND ctid = (SELECT max(f.ctid) FROM folders AS f WHERE f.child = (SELECT g.child FROM folders AS g GROUP BY 1 HAVING count(*) > 1 ORDER BY random() LIMIT 1));
        END CASE;
        IF random() < 0.2 THEN ROLLBACK; ELSIF random() < 0.7 THEN COMMIT; END IF;
    END LOOP;
END $$;
CREATE TABLE results (checks bigint, wrong bigint, allowed bigint);
-- Checks until there are as many; every other transaction is REPEATABLE READ.
CREATE PROCEDURE watch(seed float8, most bigint) LANGUAGE plpgsql AS $$
DECLARE
    done bigint := 0; found record; mine text;
BEGIN
    PERFORM setseed(seed);
    WHILE done < most LOOP
        PERFORM set_config('default_transaction_isolation', CASE WHEN random() < 0.5 THEN 'repeatable read' ELSE 'read committed' END, false);
        COMMIT;
        mine := 'g' || (random() * 4)::int || ',g' || (random() * 4)::int;
        FOR n IN 1 .. 2 LOOP
            SELECT count(*) AS checks, count(*) FILTER (WHERE cft_allowed(f, 'acl', law, string_to_array(mine, ',')) IS DISTINCT FROM defined) AS wrong, count(*) FILTER (WHERE defined) AS allowed INTO found
              FROM (SELECT f, law, definition(f, string_to_array(mine, ','), law) AS defined FROM unnest('{union,intersection,nearest}'::text[]) AS law, generate_series(1, 300) AS f OFFSET 0) AS z;
            INSERT INTO results VALUES (found.checks, found.wrong, found.allowed);
            done := done + found.checks;
            PERFORM set_config('enable_seqscan', CASE WHEN random() < 0.5 THEN 'on' ELSE 'off' END, true);
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
SQL
)" >/dev/null
# as_reader LAW: what a reader sees through the policy, beside the definition, in one snapshot.
as_reader() {
    try a "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL cftrag.roles = 'g1,g2'; SET LOCAL ROLE life_reader; SELECT sum(id), count(*) FROM docs_$1; RESET ROLE;
        SELECT sum(id), count(*) FROM docs_$1 WHERE definition(folder, '{g1,g2}', '$1'); COMMIT"
}
for s in 1 2 3; do (while [ ! -e "$LIFE/over" ]; do sql a "CALL change($s / 10.0 + $RANDOM / 1000000.0, 40)"; done) & done
watching=()
for ((s = 1; s <= watchers; s++)); do sql a "CALL watch($s / 100.0, $wanted / $watchers)" & watching+=($!); done
while kill -0 "${watching[0]}" 2>/dev/null; do
    for law in union intersection nearest; do
        read -r -d '' one other < <(as_reader "$law") || true
        is "the policy of $law" "$one" "$other"
    done
done
wait "${watching[@]}"
touch "$LIFE/over"; wait
is "differences" "$(sql a "SELECT sum(wrong) FROM results")" 0
is "as many checks" "$(sql a "SELECT sum(checks) >= $wanted AND sum(allowed) > 1000 FROM results")" t
is "verified" "$(sql a "SELECT count(*) FROM cft_verify('folders')")" 0
echo "# $STORY: $(sql a "SELECT sum(checks) FROM results") checks, image calls: $(sql a "SELECT image_calls, reference_calls, ref_old_snapshot, ref_no_image FROM pg_stat_cftrag WHERE edges = 'folders'::regclass")" >&2
finish
