-- cft_tree: the picture of an entity's place, in each format; beside its definition over random forests, from the image and without it.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE wares (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO wares VALUES (1, NULL, 'Sports'), (2, 1, 'Shoes'), (3, 2, 'Running shoes'), (4, 2, 'Hiking boots'), (5, 3, 'Trail "wet\rock" <b> & more'), (6, 2, 'Accessories'),
    (7, 3, 'Accessories'), (8, NULL, 'Alone'), (9, NULL, E'Two\nlines\tand \u202e#1. x');
INSERT INTO wares SELECT n, 4, 'Boot ' || n FROM generate_series(101, 200) AS n;
SELECT cft_attach('wares', parent => 'parent_id', child => 'id', label => 'name');
SELECT oracle.build('wares');
SELECT cft_tree(3, edges => 'wares');
SELECT cft_tree(3, edges => 'wares', format => 'mermaid');
SELECT cft_tree(3, edges => 'wares', format => 'dot');
SELECT cft_tree(3, edges => 'wares', format => 'json');
-- Lines: ancestors first, then what is nearest.
SELECT cft_tree(2, down => 2, edges => 'wares', lines => 7);
SELECT cft_tree(2, down => 2, edges => 'wares', lines => 5);
SELECT cft_tree(5, edges => 'wares', lines => 2);
SELECT cft_tree(5, edges => 'wares', lines => 1);
SELECT cft_tree(4, edges => 'wares', lines => 4, format => f) FROM unnest('{text,mermaid,dot,json}'::text[]) WITH ORDINALITY AS u(f, n) ORDER BY n;
SELECT (SELECT count(*) FROM regexp_split_to_table(cft_tree(4, edges => 'wares', lines => n), E'\n')) FROM unnest('{100,103,NULL}'::int[]) AS n;
SELECT cft_tree(5, up => 1, down => 0, edges => 'wares'), cft_tree(5, 0, 0, 'wares');
-- An entity without relatives; odd names; none.
SELECT cft_tree(8, edges => 'wares'), cft_tree(8, edges => 'wares', format => 'json');
SELECT cft_tree(9, edges => 'wares', format => f) FROM unnest('{text,mermaid,dot,json}'::text[]) WITH ORDINALITY AS u(f, n) ORDER BY n;
SELECT cft_tree(77, edges => 'wares') IS NULL, cft_tree(NULL::text, edges => 'wares') IS NULL, cft_tree(3, up => NULL, edges => 'wares') IS NULL, cft_tree(3, edges => 'wares', trees => '{}') IS NULL;
SELECT cft_tree(3, edges => 'wares', format => NULL, lines => NULL) = cft_tree('3', edges => 'wares');
SELECT cft_tree(3, edges => 'wares', format => 'xml');
SELECT cft_tree(3, edges => 'wares', lines => 0);
SELECT cft_tree(3, edges => 'wares', lines => -5);
SELECT cft_tree(3, up => -1, edges => 'wares');
SELECT cft_tree(3, down => 1001, edges => 'wares');
SELECT cft_tree('{3,4}', edges => 'wares');
SET client_min_messages = notice;
SELECT cft_tree('Shoes', edges => 'wares');
SET client_min_messages = warning;
SELECT cft_tree('3', edges => 'pg_class');
-- Several trees, several parents, a cycle; without labels the names are what they are called.
CREATE TABLE ways (tree text, parent text, child text, place int);
INSERT INTO ways VALUES (NULL, 'top', 'a', 2), (NULL, 'top', 'b', 1), (NULL, 'a', 'c', 1), (NULL, 'b', 'c', 1), (NULL, 'c', 'd', 1), (NULL, 'c', 'e', 2), (NULL, 'd', 'e', 1), (NULL, 'e', 'f', 1),
    ('round', 'c', 'x', 1), ('round', 'x', 'y', 1), ('round', 'y', 'c', 1), ('round', 'y', 'z', NULL), ('it''s', 'c', 'e', 1), ('it''s', NULL, 'c', 1);
SELECT cft_attach('ways', tree => 'tree', sort => 'place');
SELECT oracle.build('ways');
SELECT cft_tree('c', down => 3, edges => 'ways');
SELECT cft_tree('c', down => 3, edges => 'ways', format => f) FROM unnest('{mermaid,dot,json}'::text[]) WITH ORDINALITY AS u(f, n) ORDER BY n;
SELECT cft_tree('c', up => 1, edges => 'ways', trees => '{round}');
SELECT cft_tree('c', edges => 'ways', trees => '{NULL}', lines => 5);
SELECT cft_tree('c', edges => 'ways', lines => 2, format => f) FROM unnest('{text,mermaid,dot,json}'::text[]) WITH ORDINALITY AS u(f, n) ORDER BY n;
\t off
-- As the definition: in each tree the entities that cft_context gives and the entity itself, each once, and the edges on ways of so many steps, each once.
CREATE TABLE drawn (tree text, parent text, child text, note int);
SELECT cft_attach('drawn', tree => 'tree');
CREATE VIEW edge AS SELECT DISTINCT tree, parent, child FROM drawn WHERE parent <> child;
-- The lines of JSON: each entity below its parent, and whether its children stand elsewhere.
CREATE FUNCTION lines(picture jsonb) RETURNS TABLE(tree text, parent text, child text, again boolean) LANGUAGE sql AS $$
    WITH RECURSIVE l(tree, parent, node) AS (
        SELECT t.value ->> 'tree', NULL, n.value FROM jsonb_array_elements(picture -> 'trees') AS t, jsonb_array_elements(t.value -> 'tops') AS n
        UNION ALL
        SELECT l.tree, l.node ->> 'entity', n.value FROM l, jsonb_array_elements(l.node -> 'children') AS n)
    SELECT l.tree, l.parent, l.node ->> 'entity', l.node ? 'above' FROM l $$;
CREATE FUNCTION differing(up int, down int) RETURNS TABLE(entities bigint, nodes bigint, edges bigint, different bigint, called_on bigint) LANGUAGE sql AS $$
    WITH names AS (SELECT parent AS name FROM edge UNION SELECT child FROM edge),
         pictures AS MATERIALIZED (SELECT name, cft_tree(name, $1, $2, 'drawn', format => 'json', lines => NULL)::jsonb AS picture FROM names),
         ours AS MATERIALIZED (SELECT p.name, l.* FROM pictures AS p, lines(p.picture) AS l),
         context AS MATERIALIZED (SELECT c.* FROM cft_context(ARRAY(SELECT name FROM names), greatest($1, 1), greatest($2, 1), 'drawn') AS c),
         places AS (SELECT entity, tree FROM context UNION SELECT d.child, d.tree FROM drawn AS d WHERE d.parent = d.child),
         plain AS (SELECT entity, tree, relation, depth, relative FROM context WHERE depth <= CASE relation WHEN 'ancestor' THEN $1 ELSE $2 END
                   UNION ALL SELECT entity, tree, r, 0, entity FROM places, unnest('{ancestor,descendant}'::text[]) AS r),
         ways AS (SELECT p.entity, e.* FROM plain AS p JOIN edge AS e ON e.tree IS NOT DISTINCT FROM p.tree
                     AND (p.relation = 'ancestor' AND e.child = p.relative AND p.depth < $1 OR p.relation = 'descendant' AND e.parent = p.relative AND p.depth < $2)),
         a AS (SELECT name, tree, child FROM ours WHERE NOT again), b AS (SELECT DISTINCT entity, tree, relative FROM plain),
         c AS (SELECT name, tree, parent, child FROM ours WHERE parent IS NOT NULL), d AS (SELECT DISTINCT entity, tree, parent, child FROM ways)
    SELECT (SELECT count(*) FROM names), (SELECT count(*) FROM a), (SELECT count(*) FROM c),
           (SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) AS z) + (SELECT count(*) FROM ((TABLE c EXCEPT ALL TABLE d) UNION ALL (TABLE d EXCEPT ALL TABLE c)) AS z),
           (SELECT count(*) FROM ours WHERE again AND NOT EXISTS (SELECT FROM a WHERE a.name = ours.name AND a.tree IS NOT DISTINCT FROM ours.tree AND a.child = ours.child)) $$;
SET jit = off;
SELECT setseed(0.42);
INSERT INTO drawn SELECT CASE WHEN random() < 0.4 THEN NULL ELSE chr(65 + (random() * 1.99)::int) END, 'n' || (random() * 40)::int, 'n' || (random() * 40)::int FROM generate_series(1, 110);
SELECT oracle.build('drawn');
CREATE TABLE answers AS SELECT u, d, (differing(u, d)).* FROM generate_series(0, 4) AS u, generate_series(0, 4) AS d;
SELECT min(entities) AS entities, sum(nodes) > 1000 AS nodes, sum(edges) > 1000 AS edges, sum(different) AS different, sum(called_on) AS without_children FROM answers;
-- Without the image: the same. With few lines: never more of them.
CREATE TABLE pictures AS SELECT n, f, l, cft_tree('n' || n, 3, 3, 'drawn', format => f, lines => l) AS picture FROM generate_series(0, 40) AS n, unnest('{text,dot,mermaid,json}'::text[]) AS f, unnest('{1,3,4,7,20,NULL}'::int[]) AS l;
SET cftrag.enable = off;
SELECT count(*) FROM pictures WHERE cft_tree('n' || n, 3, 3, 'drawn', format => f, lines => l) IS DISTINCT FROM picture;
RESET cftrag.enable;
SELECT count(*), count(*) FILTER (WHERE l < (SELECT count(*) FROM lines(picture::jsonb))) AS too_long FROM pictures WHERE f = 'json' AND picture IS NOT NULL;
-- What has room for the whole is the whole.
SELECT count(*) FROM pictures AS p, pictures AS q WHERE p.f = 'json' AND q.f = 'json' AND p.n = q.n AND q.l IS NULL AND p.l IS NOT NULL AND p.picture <> q.picture
   AND (SELECT count(*) FROM lines(q.picture::jsonb)) <= p.l;
-- Rights are those of the caller.
CREATE ROLE regress_cft_tree;
GRANT SELECT (id, parent_id) ON wares TO regress_cft_tree;
SET ROLE regress_cft_tree;
SELECT cft_tree(3, edges => 'wares');
SELECT cft_tree('c', edges => 'ways');
RESET ROLE;
GRANT SELECT ON wares TO regress_cft_tree;
ALTER TABLE wares ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON wares USING (id < 5);
SET ROLE regress_cft_tree;
SELECT cft_tree(3, edges => 'wares'), cft_tree(5, edges => 'wares') IS NULL AS is_hidden;
RESET ROLE;
DROP OWNED BY regress_cft_tree;
DROP ROLE regress_cft_tree;
-- Own changes count; a uuid needs no cast.
BEGIN;
INSERT INTO ways VALUES ('new', 'c', 'later', 0);
SELECT cft_tree('later', edges => 'ways');
ROLLBACK;
CREATE TABLE keys (parent uuid, child uuid);
INSERT INTO keys VALUES (md5('a')::uuid, md5('b')::uuid);
SELECT cft_attach('keys');
SELECT cft_tree(md5('b')::uuid, edges => 'keys');
-- Little is read of millions, and what is too large is an error.
CREATE TABLE wide (parent text, child text);
INSERT INTO wide SELECT 'm' || n / 50, 'm' || n FROM generate_series(1, 60000) AS n;
SELECT cft_attach('wide');
SELECT oracle.build('wide');
SET cftrag.work_memory = '4MB';
SELECT length(cft_tree('m0', down => 10, edges => 'wide')) BETWEEN 1000 AND 5000 AS is_cut;
SELECT cft_tree('m0', down => 10, edges => 'wide', lines => NULL);
RESET cftrag.work_memory;
SELECT length(cft_tree('m0', down => 10, edges => 'wide', lines => NULL)) > 500000 AS is_whole;
DROP TABLE wares, ways, drawn, keys, wide CASCADE;
