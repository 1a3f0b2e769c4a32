-- cft_allowed by its three laws, against ten lines of SQL, in every type of an entity, at any depth, from the image and without it; cft_ancestors; in policies.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE wood (tree text, parent text, child text);
SELECT cft_attach('wood', tree => 'tree');
CREATE TABLE acl (folder text, grp text, can boolean);
SELECT cft_attach_grants('acl', entity => 'folder', role => 'grp', allow => 'can', edges => 'wood');

-- The definition.
CREATE FUNCTION plain_above(e text) RETURNS TABLE (name text, depth int) STABLE LANGUAGE sql AS $$
    WITH RECURSIVE up(tree, name, depth) AS (
        SELECT w.tree COLLATE "C", w.parent COLLATE "C", 1 FROM wood AS w WHERE w.child = e AND w.parent IS NOT NULL
        UNION
        SELECT w.tree COLLATE "C", w.parent COLLATE "C", u.depth + 1 FROM up AS u JOIN wood AS w ON w.child = u.name AND w.tree IS NOT DISTINCT FROM u.tree
         WHERE w.parent IS NOT NULL AND u.depth < 40)
    SELECT z.name, min(z.depth) FROM (SELECT u.name, u.depth FROM up AS u UNION ALL SELECT e, 0) AS z GROUP BY z.name $$;
CREATE FUNCTION plain_allowed(e text, mine text[], law text) RETURNS boolean STABLE LANGUAGE sql AS $$
    WITH entry AS (SELECT a.depth, coalesce(bool_and(g.can) FILTER (WHERE g.grp = ANY (mine)), false) AS allows
                     FROM plain_above(e) AS a JOIN acl AS g ON g.folder = a.name GROUP BY a.name, a.depth)
    SELECT CASE law WHEN 'union' THEN coalesce(bool_or(allows), false) WHEN 'intersection' THEN coalesce(bool_and(allows), true)
                    ELSE coalesce(bool_and(allows) FILTER (WHERE depth = (SELECT min(depth) FROM entry)), false) END FROM entry $$;

CREATE TABLE meaning (entity text, embedding vector(3));
CREATE FUNCTION try(seeds int) RETURNS TABLE (calls bigint, wrong bigint, allowed bigint, sets bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (calls bigint, wrong bigint, allowed bigint, sets bigint, different bigint);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 1000.0);
        INSERT INTO wood VALUES (NULL, NULL, 'alone ' || seed), ('t', 'itself', 'itself'), (NULL, 'a parent', NULL);
        TRUNCATE acl;
        INSERT INTO acl SELECT name, (ARRAY['a', 'b', 'c', NULL])[1 + (random() * 3)::int], CASE WHEN random() < 0.9 THEN random() < 0.7 END
                          FROM (SELECT parent AS name FROM wood UNION ALL SELECT child FROM wood) AS n WHERE random() < 0.3;
        INSERT INTO acl VALUES ('no such folder', 'a', true), (NULL, 'a', true), ('itself', 'a', true);
        INSERT INTO tried
        WITH name AS MATERIALIZED (SELECT parent AS name FROM wood WHERE parent IS NOT NULL UNION SELECT child FROM wood WHERE child IS NOT NULL UNION SELECT 'no such'),
             one AS MATERIALIZED (SELECT n.name, law, mine, plain_allowed(n.name, mine, law) AS plain FROM name AS n,
                                         unnest('{union,intersection,nearest}'::text[]) AS law, (VALUES ('{a}'::text[]), ('{b,c}'), ('{}'), (NULL), ('{a,b,c,NULL}')) AS m(mine)
                                   ORDER BY law, mine)
        SELECT count(*), count(*) FILTER (WHERE cft_allowed(name, 'acl', law, mine) IS DISTINCT FROM plain), count(*) FILTER (WHERE plain),
               (SELECT count(*) FROM name),
               (SELECT count(*) FROM name WHERE ARRAY(SELECT unnest(cft_ancestors(name)) COLLATE "C" ORDER BY 1) <> ARRAY(SELECT p.name COLLATE "C" FROM plain_above(name.name) AS p ORDER BY 1))
          FROM one;
    END LOOP;
    RETURN QUERY SELECT sum(t.calls)::bigint, sum(t.wrong)::bigint, sum(t.allowed)::bigint, sum(t.sets)::bigint, sum(t.different)::bigint FROM tried AS t;
    DROP TABLE tried;
END $$;
SELECT calls > 500 AS calls, wrong, allowed > 100 AS allowed, sets > 50 AS sets, different FROM try(4);
SET cftrag.enable = off;
SELECT calls > 500 AS calls, wrong, allowed > 100 AS allowed, sets > 50 AS sets, different FROM try(2);
RESET cftrag.enable;

-- Without values, and what is no law, no grants.
SELECT cft_allowed(NULL::text, 'acl') AS no_entity, cft_allowed('itself', 'acl', roles => NULL) AS no_roles, cft_allowed('itself', 'acl', roles => '{a}') AS one,
       cft_allowed('itself', 'acl') AS by_setting, cft_allowed('nowhere', 'acl', 'intersection') AS unknown;
SET cftrag.roles = 'x,a';
SELECT cft_allowed('itself', 'acl') AS by_setting, cft_allowed('itself', 'acl', roles => NULL) AS no_roles;
RESET cftrag.roles;
SELECT cft_allowed('itself', 'acl', 'xor');
SELECT cft_allowed('itself', 'acl', NULL);
SELECT cft_allowed('itself', NULL);
SELECT cft_allowed('itself', 'wood');
SELECT cft_allowed('itself', 1);
SELECT cft_ancestors(NULL::text) AS none, cft_ancestors('{}'::text[]) AS empty, cft_ancestors('no such') AS unknown;
SELECT cft_ancestors('{a,b}');

-- Deeper than a walk takes, around a cycle, and in one tree of two.
TRUNCATE wood; TRUNCATE acl;
INSERT INTO wood SELECT 'deep', 'n' || i, 'n' || i + 1 FROM generate_series(1, 2500) AS i;
INSERT INTO wood VALUES ('deep', 'n2501', 'n1'), ('other', 'top', 'n2'), ('other', 'n2', 'side');
INSERT INTO acl VALUES ('n1', 'a', true), ('n1200', 'a', false), ('top', 'b', true);
SELECT cft_allowed('n2501', 'acl', roles => '{a}') AS far, cft_allowed('n2501', 'acl', 'nearest', '{a}') AS nearest, cft_allowed('n1100', 'acl', 'nearest', '{a}') AS above_it,
       cft_allowed('n2501', 'acl', 'intersection', '{a}') AS all_of_them, cardinality(cft_ancestors('n2501')) AS above;
SELECT cft_allowed('side', 'acl', roles => '{b}') AS both, cft_allowed('side', 'acl', roles => '{b}', trees => '{other}') AS other, cft_allowed('side', 'acl', roles => '{b}', trees => '{deep}') AS deep;

-- Integers and uuids; roles of type integer; a grant is a row where no column says more; names are compared byte by byte.
CREATE TABLE folders (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO folders SELECT i, nullif(i / 3, 0), 'folder ' || i FROM generate_series(1, 400) AS i;
SELECT cft_attach('folders', 'parent_id', 'id', ids => true);
CREATE TABLE members (folder_id bigint, role_id int);
CREATE INDEX ON members (folder_id);
SELECT cft_attach_grants('members', 'folder_id', 'role_id', edges => 'folders');
INSERT INTO members VALUES (4, 7), (5, 8), (133, 7), (NULL, 7), (40, NULL);
SELECT array_agg(id ORDER BY id) FILTER (WHERE cft_allowed(id, 'members', roles => '{7}')) = array_agg(id ORDER BY id) FILTER (WHERE cft_under(id, '{4,133}'::bigint[], 'folders')) AS seven,
       count(*) FILTER (WHERE cft_allowed(id, 'members', 'intersection', '{7}')) AS of_all, count(*) FILTER (WHERE cft_allowed(id::bigint, 'members', 'nearest', '{7,8}')) AS nearest,
       count(*) FILTER (WHERE cft_allowed(id, 'members', roles => '{eight,07}')) AS no_number
  FROM folders;
SELECT cft_ancestors(13::bigint, 'folders') AS above, cft_ancestors('{13,4}'::bigint[], 'folders') AS above_both;
CREATE TABLE loose (folder_id text, role text);
SELECT cft_attach_grants('loose', 'folder_id', 'role', edges => 'wood');
INSERT INTO loose VALUES ('TOP', 'admin'), ('top', 'ADMIN');
SELECT cft_allowed('n2', 'loose', roles => '{admin}') AS lower, cft_allowed('n2', 'loose', roles => '{ADMIN}') AS upper, cft_allowed('n2', 'loose', 'nearest', '{admin}') AS nearest;

-- The registration: idempotent, replaced, only a boolean allows, gone with the column and by cft_detach.
SELECT cft_attach_grants('acl', entity => 'folder', role => 'grp', allow => 'can', edges => 'wood');
SELECT tgname, tgargs FROM pg_trigger WHERE tgrelid = 'acl'::regclass;
SELECT cft_attach_grants('acl', entity => 'folder', role => 'grp', allow => 'folder', edges => 'wood');
SELECT cft_attach_grants('members', 'folder_id', 'role_id', 'role_id', edges => 'folders');
ALTER TABLE members ADD may text;
SELECT cft_attach_grants('members', 'folder_id', 'role_id', 'may', edges => 'folders');
SELECT cft_attach_grants('members', 'folder_id', 'nothing', edges => 'folders');
SELECT cft_attach_grants('members', NULL, 'role_id', edges => 'folders');
SELECT cft_detach('loose');
SELECT cft_allowed('n2', 'loose');

-- In a policy: moves, grants and revokes act at once; readers need the grants' columns and the edges.
CREATE ROLE regress_allowed;
CREATE TABLE docs (id int, folder_id int, body text);
INSERT INTO docs SELECT i, i, 'doc ' || i FROM generate_series(1, 400) AS i;
CREATE INDEX ON docs (folder_id);
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_folder ON docs USING (cft_allowed(folder_id, 'members', 'nearest', string_to_array(current_setting('app.roles', true), ',')));
GRANT SELECT ON docs, folders TO regress_allowed;
SET ROLE regress_allowed;
SELECT count(*) FROM docs;
RESET ROLE;
GRANT SELECT (folder_id, role_id) ON members TO regress_allowed;
SET ROLE regress_allowed;
SELECT count(*) FROM docs;
SET app.roles = '7';
SELECT count(*), min(id), max(id) FROM docs;
RESET ROLE;
UPDATE folders SET parent_id = 5 WHERE id = 13;
SET ROLE regress_allowed;
SELECT count(*), min(id), max(id) FROM docs;
RESET ROLE;
INSERT INTO members VALUES (13, 7); DELETE FROM members WHERE folder_id = 4;
SET ROLE regress_allowed;
SELECT count(*), min(id), max(id) FROM docs;
RESET ROLE;

-- What hides entries, or edges, would give rights by two of the laws.
ALTER TABLE members ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON members USING (role_id = 7);
SET ROLE regress_allowed;
SELECT count(*) FROM docs;
SELECT cft_allowed(40, 'members', 'union', '{7}') AS by_union, cft_allowed(13, 'members', 'union', '{7}') AS allowed;
SELECT cft_allowed(40, 'members', 'intersection', '{7}');
RESET ROLE;
DROP POLICY own ON members;
ALTER TABLE members DISABLE ROW LEVEL SECURITY;
-- By union what is hidden can refuse only if grants can; hidden edges take rights only.
CREATE TABLE both_ways (entity int, role text, can boolean);
SELECT cft_attach_grants('both_ways', allow => 'can', edges => 'folders');
INSERT INTO both_ways VALUES (4, 'staff', true), (4, 'guests', false);
CREATE INDEX ON both_ways (role);
GRANT SELECT ON both_ways TO regress_allowed;
SELECT cft_allowed(4, 'both_ways', roles => '{staff}') AS staff, cft_allowed(4, 'both_ways', roles => '{staff,guests}') AS guest;
ALTER TABLE both_ways ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON both_ways USING (role = 'staff');
ALTER POLICY by_folder ON docs USING (true);
SET ROLE regress_allowed;
SELECT cft_allowed(4, 'both_ways', roles => '{staff,guests}');
SET enable_seqscan = off;
SELECT count(*) FROM docs WHERE cft_allowed(folder_id, 'both_ways', roles => '{staff,guests}');
RESET enable_seqscan;
RESET ROLE;
DROP TABLE both_ways;
ALTER TABLE folders ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON folders USING (id <> 13);
SET ROLE regress_allowed;
SELECT cft_allowed(41, 'members', roles => '{8}') AS hidden;
SELECT cft_allowed(41, 'members', 'nearest', '{8}');
RESET ROLE;
SELECT cft_allowed(41, 'members', roles => '{8}') AS all_rows;
DROP POLICY few ON folders;
ALTER TABLE folders DISABLE ROW LEVEL SECURITY;
-- An array of what a role may see, by a function that has the rights for it: found once in a statement, and by an index.
CREATE FUNCTION seen() RETURNS int[] STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
    $$ SELECT array_agg(f.id) FROM public.folders AS f WHERE public.cft_allowed(f.id, 'public.members', 'nearest', string_to_array(current_setting('app.roles', true), ',')) $$;
REVOKE SELECT (folder_id, role_id) ON members FROM regress_allowed;
ALTER POLICY by_folder ON docs USING (folder_id = ANY ((SELECT seen())::int[]));
SET ROLE regress_allowed;
SELECT count(*), min(id), max(id) FROM docs;
RESET ROLE;
GRANT SELECT (folder_id, role_id) ON members TO regress_allowed;
DROP FUNCTION seen CASCADE;

-- A policy of the edges table that asks about it has no end, unless it asks with other rights.
ALTER TABLE folders ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_itself ON folders USING (cft_allowed(id, 'members', 'nearest', '{7}'));
SET ROLE regress_allowed;
SELECT count(*) FROM folders;
SELECT count(*) FROM cft_context('13', edges => 'folders');
RESET ROLE;
CREATE FUNCTION may_see(folder int) RETURNS boolean STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT public.cft_allowed(folder, 'public.members', 'nearest', '{7}') $$;
ALTER POLICY by_itself ON folders USING (may_see(id));
SET ROLE regress_allowed;
SELECT count(*), min(id) FROM folders;
SELECT relation, depth, relative FROM cft_context('41', 9, 0, edges => 'folders');
RESET ROLE;
DROP POLICY by_itself ON folders;
ALTER TABLE folders DISABLE ROW LEVEL SECURITY;
DROP FUNCTION may_see;

-- Rows by the plan with and without an index, few and many rows, few and many roles.
SET enable_seqscan = off;
SELECT l.law, r.n, count(*) FILTER (WHERE cft_allowed(d.folder_id, 'members', l.law, r.roles)) AS rows,
       (SELECT count(*) FROM docs AS o WHERE cft_allowed(o.folder_id, 'members', 'union', '{7}')) AS by_index
  FROM docs AS d, unnest('{union,intersection,nearest}'::text[]) AS l(law), (VALUES (1, '{7}'::text[]), (2, ARRAY(SELECT i::text FROM generate_series(7, 300) AS i))) AS r(n, roles)
 GROUP BY 1, 2 ORDER BY 1, 2;
CREATE FUNCTION uses_index(law text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text; found boolean := false;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE cft_allowed(folder_id, ''members'', %L, ''{7}'')', law) LOOP
        found := found OR line ~ 'Index Cond: .*cft_descendants.*cft_granted';
    END LOOP;
    RETURN found;
END $$;
SELECT law, uses_index(law) FROM unnest('{union,intersection,nearest}'::text[]) AS law;
RESET enable_seqscan;

-- A session in which the type of the ids changes.
CREATE TABLE other (p uuid, c uuid);
SELECT cft_attach('other', 'p', 'c');
CREATE TABLE given (entity uuid, role text);
SELECT cft_attach_grants('given', edges => 'other');
SELECT cft_allowed('00000000-0000-0000-0000-000000000001'::uuid, 'given', 'nearest', '{r}');
DROP TABLE other, given;
CREATE TABLE other (p bigint, c bigint);
SELECT cft_attach('other', 'p', 'c', ids => true);
CREATE TABLE given (entity bigint, role text, part numeric);
SELECT cft_attach_grants('given', edges => 'other');
INSERT INTO given VALUES (1, 'r');
SELECT cft_allowed(1::bigint, 'given', 'nearest', '{r}');
SELECT cft_attach_grants('given', 'part', edges => 'other');
DROP TABLE other, given;

-- Retrieval under a policy: as many documents as are asked for, while so many are visible, whatever lies nearer.
CREATE TABLE files (id int PRIMARY KEY, folder_id int, body text, embedding vector(2));
INSERT INTO files SELECT i, 1 + i % 400, 'file ' || i, ARRAY[1, i]::vector FROM generate_series(1, 2000) AS i;
CREATE INDEX ON files USING hnsw (embedding vector_l2_ops);
CREATE INDEX ON files (folder_id);
ANALYZE files;
SELECT cft_attach_documents('files', entity => 'folder_id', edges => 'folders');
ALTER TABLE files ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_folder ON files USING (cft_allowed(folder_id, 'members', 'nearest', string_to_array(current_setting('app.roles', true), ',')));
GRANT SELECT ON files TO regress_allowed;
SET ROLE regress_allowed;
SET app.roles = '7';
CREATE FUNCTION pg_temp.shown(ids text[]) RETURNS TABLE (found bigint, hidden bigint) LANGUAGE sql AS
    $$ SELECT count(*), count(*) FILTER (WHERE NOT cft_allowed(1 + i::int % 400, 'members', 'nearest', '{7}')) FROM unnest(ids) AS i $$;
SELECT 'nearest' AS by, s.* FROM pg_temp.shown(ARRAY(SELECT document_id FROM cft_nearest_documents('[1,3]', 20, 'folders', documents => 'files'))) AS s
UNION ALL SELECT 'within', s.* FROM pg_temp.shown(ARRAY(SELECT document_id FROM cft_nearest_documents('[1,3]', 20, 'folders', within => '{13}', documents => 'files'))) AS s
UNION ALL SELECT 'retrieve', s.* FROM pg_temp.shown(ARRAY(SELECT document_id FROM cft_retrieve('What of folder 13?', '[1,3]', 7, edges => 'folders', documents => 'files', budget => 100000) WHERE document_id IS NOT NULL)) AS s
UNION ALL SELECT 'chunks', s.* FROM pg_temp.shown(ARRAY(SELECT document_id FROM cft_chunks('1', '[1,3]', 0, 9, 'folders', documents => 'files'))) AS s
UNION ALL SELECT 'prompt', s.* FROM pg_temp.shown(ARRAY(SELECT m[1] FROM regexp_matches(cft_prompt('What of folder 13?', '[1,3]', 7, edges => 'folders', documents => 'files', budget => 100000), 'file ([0-9]+)', 'g') AS m)) AS s;
RESET ROLE;
DROP TABLE files;

-- Called again and again where the roles change with the row, or the place outlives a query.
SELECT r, count(*) FILTER (WHERE cft_allowed(f.id, 'members', roles => ARRAY[r])) FROM folders AS f, unnest('{7,8,9}'::text[]) AS r GROUP BY 1 ORDER BY 1;
CREATE FUNCTION one_by_one() RETURNS text LANGUAGE plpgsql AS $$
DECLARE answers text := '';
BEGIN
    FOR i IN 1 .. 4 LOOP
        DELETE FROM members WHERE folder_id = 133;
        answers := answers || cft_allowed(133, 'members', roles => '{7}');
        INSERT INTO members VALUES (133, 7);
        answers := answers || cft_allowed(133, 'members', roles => '{7}');
    END LOOP;
    RETURN answers;
END $$;
SELECT one_by_one();
-- Of a role with many grants the planner reads some, and takes no index; what is found is right, and read once for a snapshot.
CREATE TABLE many (folder int, grp text);
INSERT INTO many SELECT n % 400, 'all' FROM generate_series(1, 3000) AS n UNION ALL SELECT 133, 'few';
CREATE INDEX ON many (grp); ANALYZE many;
SELECT cft_attach_grants('many', entity => 'folder', role => 'grp', edges => 'folders');
CREATE TABLE notes AS SELECT n AS id, n % 400 AS folder FROM generate_series(1, 20000) AS n;
CREATE INDEX ON notes (folder); ANALYZE notes;
EXPLAIN (COSTS OFF) SELECT FROM notes WHERE cft_allowed(folder, 'many', roles => '{all}');
EXPLAIN (COSTS OFF) SELECT FROM notes WHERE cft_allowed(folder, 'many', roles => '{few}');
SELECT r, l, (SELECT count(*) FROM notes WHERE cft_allowed(folder, 'many', l, ARRAY[r])) FROM unnest('{all,few}'::text[]) AS r, unnest('{union,nearest}'::text[]) AS l;
-- A table of grants belongs to one edges table.
SELECT cft_attach_grants('many', entity => 'folder', role => 'grp', edges => 'wood');
DROP TABLE many, notes;
DROP TABLE docs, acl, wood, meaning, members, folders, loose CASCADE;
DROP FUNCTION try, plain_above, plain_allowed, one_by_one, uses_index;
DROP OWNED BY regress_allowed; DROP ROLE regress_allowed;
