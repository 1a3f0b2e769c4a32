-- Links: which entities documents mention, kept in a table beside them. What it must hold is said in plain SQL and compared after every kind of change.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA links;
SET search_path = links, public;
CREATE TABLE categories (id int PRIMARY KEY, parent_id int, name text, tenant text);
INSERT INTO categories VALUES (1, NULL, 'Outdoor'), (2, 1, 'Boats'), (3, 2, 'Kayak'), (4, 2, 'Rowing boat'), (5, 1, 'Tents'), (6, 2, 'Sail'), (7, 5, 'Sail');
CREATE TABLE short (alias text, entity int);
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name');
SELECT cft_attach_aliases('short', edges => 'categories');
SELECT oracle.build('categories'), oracle.build('short');
CREATE TABLE docs (id int PRIMARY KEY, body text, embedding vector(3), category int, tenant text);
INSERT INTO docs (id, body, embedding, category) VALUES (1, 'Sea kayaks for beginners', '[1,0,0]', 3), (2, 'A rowing boat and a kayak; the kayak is faster', '[0,1,0]', NULL), (3, 'Nothing here', '[0,0,1]', 5), (4, NULL, NULL, NULL), (5, '', '[0,1,1]', NULL);
SELECT cft_attach_documents('docs', link => true);
TABLE docs_links ORDER BY 1, 2;
SELECT * FROM cft_linked(2);
SELECT * FROM cft_documents(3);
SELECT * FROM cft_documents('none'), cft_linked('none');

-- The definition. wrong(): what the table has and should not, or has not.
CREATE FUNCTION wrong(has_own boolean = false, match text = 'inflected') RETURNS TABLE(sign text, document int, entity text, mentions int, start int) LANGUAGE sql AS $$
    WITH own AS (SELECT id, category::text AS entity, 0 AS mentions, 0 AS start FROM docs WHERE has_own AND category IS NOT NULL),
    found AS (SELECT d.id, e.entity, count(*)::int AS mentions, min(e.start) AS start FROM docs AS d, cft_entities(d.body, 'categories', match => match, narrow => true) AS e GROUP BY 1, 2),
    wanted AS (SELECT id, entity, max(mentions) AS mentions, max(start) AS start FROM (TABLE own UNION ALL TABLE found) AS z GROUP BY 1, 2)
    SELECT '+', (e).* FROM (TABLE docs_links EXCEPT TABLE wanted) AS e UNION ALL SELECT '-', (e).* FROM (TABLE wanted EXCEPT TABLE docs_links) AS e $$;
SELECT * FROM wrong();
-- One change after the other.
INSERT INTO docs VALUES (6, 'tents and boats', '[1,1,0]'), (7, 'A kayak', NULL);
UPDATE docs SET body = 'two kayaks, one tent' WHERE id = 3;
UPDATE docs SET embedding = '[1,1,1]', category = 2 WHERE id = 2;
UPDATE docs SET id = id + 1000 WHERE id < 3;
UPDATE docs SET id = 13 WHERE id = 1001;
DELETE FROM docs WHERE id = 5;
SELECT * FROM wrong();
BEGIN;
INSERT INTO docs VALUES (8, 'A sail of a boat', NULL);
SAVEPOINT a;
UPDATE docs SET body = 'A tent' WHERE id = 8;
DELETE FROM docs WHERE id = 7;
ROLLBACK TO a;
INSERT INTO docs VALUES (9, 'Rowing boats', NULL);
SELECT * FROM wrong();
COMMIT;
BEGIN; TRUNCATE docs; TABLE docs_links; ROLLBACK;
INSERT INTO docs VALUES (6, 'A sail', NULL), (10, 'A tent', NULL) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
COPY docs (id, body) FROM stdin;
11	Tents for kayaks
12	Kayaks for tents
\.
SELECT * FROM wrong();
SELECT cft_relink();
TABLE docs_links ORDER BY 1, 2;
-- Names that come, change and go: old documents are looked at in the background, or at once by cft_relink.
SET cftrag.enable = on;
BEGIN;
INSERT INTO categories VALUES (8, 3, 'sea kayak'), (9, 1, 'nothing');
UPDATE categories SET name = 'beginners' WHERE id = 2;
INSERT INTO short VALUES ('faster', 3);
SELECT cft_relink() > 0 AS relinked;
SELECT * FROM wrong();
ROLLBACK;
SELECT cft_relink() > 0 AS relinked;
SELECT * FROM wrong();
CREATE PROCEDURE settled() LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1 .. 600 LOOP
        EXIT WHEN NOT EXISTS (SELECT FROM wrong());
        COMMIT;
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;
INSERT INTO categories VALUES (8, 3, 'sea kayak');
CALL settled();
SELECT * FROM wrong();
INSERT INTO short VALUES ('faster', 3);
DELETE FROM categories WHERE id = 8;
UPDATE docs SET body = 'faster, faster' WHERE id = 9;
CALL settled();
SELECT * FROM wrong();
UPDATE docs_links SET mentions = 9 WHERE document = 12;
SELECT cft_relink(), cft_relink('docs');

-- Random changes, in transactions of which some are rolled back.
CREATE FUNCTION changes(seed float8, rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE words text[] := '{kayak,kayaks,tent,tents,boat,boats,sail,sails,"rowing boat",and,in,the,of,Outdoor,"sea kayak"}'; what int; differs int := 0; a int; b int;
BEGIN
    PERFORM setseed(seed);
    FOR n IN 1 .. rounds LOOP
        what := floor(random() * 7); a := floor(random() * 40); b := a + floor(random() * 8);
        BEGIN
            IF what = 0 THEN DELETE FROM docs WHERE id BETWEEN a AND b;
            ELSIF what = 1 THEN UPDATE docs SET id = id + 100 WHERE id BETWEEN a AND b; UPDATE docs SET id = id - 100 WHERE id BETWEEN 100 AND 199;
            ELSIF what = 2 THEN UPDATE docs SET category = floor(random() * 9) WHERE id BETWEEN a AND b;
            ELSIF what = 3 THEN UPDATE docs SET body = words[1 + floor(random() * 15)] || ' ' || words[1 + floor(random() * 15)] || ' ' || body WHERE id BETWEEN a AND b;
            ELSE INSERT INTO docs SELECT i, words[1 + floor(random() * 15)] || ' ' || words[1 + floor(random() * 15)], NULL, nullif(floor(random() * 9), 0) FROM generate_series(a, b) AS i
                ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
            END IF;
            IF random() < 0.2 THEN RAISE division_by_zero; END IF;
        EXCEPTION WHEN division_by_zero THEN NULL;
        END;
        differs := differs + (SELECT count(*) FROM wrong(true));
    END LOOP;
    RETURN format('%s differ', differs);
END $$;
SELECT cft_attach_documents('docs', link => true, entity => 'category');
SELECT * FROM wrong(true);
SELECT changes(0.1, 300), changes(0.7, 300);
SELECT count(*) > 20 AS has_many FROM docs_links;

-- What documents are about: their own entity first, then the one that they mention most; within and about by either.
TRUNCATE docs;
INSERT INTO docs VALUES (1, 'Kayaks, kayaks and a tent', '[1,0,0]', 5), (2, 'A tent, a tent, a kayak', '[0,1,0]', NULL), (3, 'Something for the garden', '[0,0,1]', 3);
SELECT document_id, entity FROM cft_nearest_documents('[1,0,0]', 5);
SELECT document_id, entity FROM cft_nearest_documents('[1,0,0]', 5, within => '{3}');
SELECT document_id, relation, relative FROM cft_chunks(3, up => 0, down => 0);
SELECT * FROM cft_documents(3);
SELECT * FROM cft_linked(1);
SELECT cft_prompt('Is there a kayak?', NULL);
-- Attached again: nothing is done if nothing differs; else the table is made anew.
SELECT cft_attach_documents('docs', link => true, entity => 'category'), 'docs_links'::regclass::oid AS before \gset
SELECT 'docs_links'::regclass::oid = :before AS is_kept;
SELECT cft_attach_documents('docs', link => true, match => 'fuzzy');
SELECT * FROM wrong(match => 'fuzzy');
SELECT cft_attach_documents('docs', link => true, match => 'exact', tree => 'tenant');
SELECT * FROM wrong(match => 'exact');
SELECT cft_detach('docs');
SELECT to_regclass('docs_links'), count(*) FROM pg_trigger WHERE tgrelid = 'docs'::regclass;

-- As attackers found it. Triggers that change documents again; settings of the session that writes; names that come with a table, and go with it; edges that
-- are detached.
SELECT cft_attach_documents('docs', link => true);
CREATE FUNCTION clean() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE docs SET body = replace(body, 'kayak', 'XXX') WHERE id = NEW.id AND body ~ 'kayak';
    DELETE FROM docs WHERE id = NEW.id AND body ~ 'spam';
    RETURN NULL;
END $$;
CREATE TRIGGER clean AFTER INSERT ON docs FOR EACH ROW EXECUTE FUNCTION clean();
INSERT INTO docs VALUES (20, 'A kayak in a tent', NULL), (21, 'spam about a tent', NULL);
DROP TRIGGER clean ON docs;
SELECT * FROM wrong();
SELECT * FROM docs_links WHERE document >= 20;
INSERT INTO categories VALUES (10, 1, 'IT');
SET cftrag.match_case = off;
INSERT INTO docs VALUES (22, 'it is it', NULL);
RESET cftrag.match_case;
SELECT count(*) FROM docs_links WHERE document = 22;
CREATE TABLE more (alias text, entity int);
INSERT INTO more VALUES ('garden', 5);
SELECT cft_attach_aliases('more', edges => 'categories');
CALL settled();
SELECT * FROM docs_links WHERE document = 3;
SELECT cft_detach('more');
CALL settled();
SELECT * FROM docs_links WHERE document = 3;
SELECT cft_detach('categories');
INSERT INTO docs VALUES (23, 'A tent', NULL);
SELECT cft_relink() > 0 AS relinked;
SELECT count(*) FROM docs_links WHERE mentions > 0;
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name');
SELECT oracle.build('categories');
CALL settled();
SELECT * FROM wrong();
-- Given to another role, the documents have no links until the table of links is its, too.
CREATE ROLE regress_cft_links_other;
GRANT ALL ON SCHEMA links TO regress_cft_links_other;
ALTER TABLE categories OWNER TO regress_cft_links_other;
ALTER TABLE docs OWNER TO regress_cft_links_other;
SET client_min_messages = notice;
INSERT INTO docs VALUES (24, 'A tent', NULL);
SET client_min_messages = warning;
ALTER TABLE docs_links OWNER TO regress_cft_links_other;
GRANT SELECT ON ALL TABLES IN SCHEMA links TO regress_cft_links_other;
SELECT cft_relink();
SELECT * FROM docs_links WHERE document = 24;
ALTER TABLE docs OWNER TO CURRENT_USER;
SELECT cft_detach('docs');
SELECT to_regclass('docs_links');
ALTER TABLE categories OWNER TO CURRENT_USER;
DROP OWNED BY regress_cft_links_other;
DROP ROLE regress_cft_links_other;

-- What cannot be linked.
CREATE TABLE pairs (entity int, document_id int);
SELECT cft_attach_documents('docs', mapping => 'pairs', link => true);
SELECT cft_attach_documents('docs', link => true, match => 'loosely');
SELECT cft_attach_documents('docs', link => true, tree => 'none');
CREATE VIEW seen AS TABLE docs;
SELECT cft_attach_documents('seen', link => true);
CREATE TABLE chunks (id int, body text, embedding vector(3));
SELECT cft_attach_documents('chunks', link => true);
CREATE UNIQUE INDEX ON chunks (id) WHERE id > 0;
SELECT cft_attach_documents('chunks', link => true);
CREATE TABLE parts (id int PRIMARY KEY, body text, embedding vector(3)) PARTITION BY RANGE (id);
SELECT cft_attach_documents('parts', link => true);
SELECT cft_attach_documents('docs');
SELECT cft_relink();
SELECT * FROM cft_linked(1);
-- A name that is taken gets a number, as an index's.
CREATE TABLE docs_links (taken int);
SELECT cft_attach_documents('docs', link => true);
SELECT count(*) > 0 AS are_there FROM docs_links1;
DROP TABLE docs_links;
-- Links whose table was dropped, or whose column of texts was, are made again; or gone.
DROP TABLE docs_links1;
INSERT INTO docs VALUES (30, 'A tent', NULL);
SELECT cft_attach_documents('docs', link => true);
SELECT * FROM wrong();
INSERT INTO docs VALUES (31, 'A tent', NULL);
SELECT * FROM docs_links WHERE document >= 30;
CREATE TABLE texts (id int PRIMARY KEY, body text, embedding vector(3), other text);
SELECT cft_attach_documents('texts', link => true);
ALTER TABLE texts DROP body CASCADE;
SELECT cft_attach_documents('texts', body => 'other', link => true);
INSERT INTO texts VALUES (1, NULL, 'Kayaks');
SELECT * FROM texts_links;
ALTER TABLE texts DROP other CASCADE;
SELECT cft_detach('texts'), to_regclass('texts_links');
SELECT cft_detach('texts');
-- Names that cannot be read, and documents that become a partition, which a parent's statements change, have no links that are kept.
CREATE TABLE old_names (parent text, child text);
INSERT INTO old_names VALUES (NULL, 'zero');
SELECT cft_attach('old_names');
CREATE TABLE part (id int PRIMARY KEY, body text, embedding vector(3));
INSERT INTO part VALUES (1, 'zero');
SELECT cft_attach_documents('part', link => true, edges => 'old_names');
ALTER TABLE old_names RENAME child TO name;
SET client_min_messages = notice;
INSERT INTO part VALUES (2, 'zero');
SET client_min_messages = warning;
ALTER TABLE old_names RENAME name TO child;
SELECT cft_relink('part');
SELECT * FROM cft_documents('zero', 'part');
CREATE TABLE whole (id int NOT NULL, body text, embedding vector(3)) PARTITION BY RANGE (id);
ALTER TABLE whole ATTACH PARTITION part FOR VALUES FROM (0) TO (9);
DELETE FROM whole WHERE id = 1;
SELECT * FROM cft_documents('zero', 'part');
ALTER TABLE whole DETACH PARTITION part;
SELECT cft_relink('part');
SELECT * FROM cft_documents('zero', 'part');
DROP TABLE part, whole, old_names;
SELECT to_regclass('part_links');

-- Tenants: one tree each, documents and edges with policies. Nobody sees a link of another's document, or to another's entity.
CREATE ROLE regress_cft_links_owner;
CREATE ROLE regress_cft_links_reader;
CREATE SCHEMA tenants AUTHORIZATION regress_cft_links_owner;
GRANT USAGE ON SCHEMA tenants TO regress_cft_links_reader;
SET ROLE regress_cft_links_owner;
SET search_path = tenants, public;
CREATE TABLE categories (tenant text, id int PRIMARY KEY, parent_id int, name text);
INSERT INTO categories VALUES ('a', 1, NULL, 'Paris'), ('b', 2, NULL, 'Paris'), ('b', 3, 2, 'Paris Nord'), ('a', 4, 1, 'Lyon');
CREATE TABLE docs (tenant text, id uuid PRIMARY KEY, body text, embedding vector(3));
SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name', tree => 'tenant');
ALTER TABLE categories ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON categories USING (current_user = 'regress_cft_links_owner' OR tenant = current_setting('app.tenant', true));
CREATE POLICY own ON docs USING (tenant = current_setting('app.tenant', true));
GRANT SELECT ON categories, docs TO regress_cft_links_reader;
GRANT INSERT, DELETE ON docs TO regress_cft_links_reader;
SELECT cft_attach_documents('docs', link => true, tree => 'tenant');
RESET ROLE;
SET ROLE regress_cft_links_reader;
SET app.tenant = 'b';
INSERT INTO docs VALUES ('b', '00000000-0000-0000-0000-00000000000b', 'Paris Nord and Lyon', '[1,0,0]');
SET app.tenant = 'a';
INSERT INTO docs VALUES ('a', '00000000-0000-0000-0000-00000000000a', 'Paris Nord and Lyon', '[1,0,0]');
SELECT right(document::text, 1) AS document, entity, mentions FROM docs_links ORDER BY 1, 2;
SELECT entity, label FROM cft_linked('00000000-0000-0000-0000-00000000000a'::uuid);
SELECT count(*) FROM cft_linked('00000000-0000-0000-0000-00000000000b');
SELECT right(document_id, 1) FROM cft_documents('4');
SELECT count(*) FROM cft_documents('2');
SELECT source, entity, text FROM cft_retrieve('Lyon', '[1,0,0]');
INSERT INTO docs_links VALUES ('00000000-0000-0000-0000-00000000000a', '2', 1, 1);
SELECT cft_relink('docs');
RESET ROLE;
SELECT right(document::text, 1) AS document, entity, mentions FROM docs_links ORDER BY 1, 2;
-- Linked in every tree, an entity of another tenant is there, and not seen.
SET ROLE regress_cft_links_owner;
SELECT cft_attach_documents('docs', link => true);
SELECT right(document::text, 1) AS document, entity, mentions FROM docs_links ORDER BY 1, 2;
RESET ROLE;
SET ROLE regress_cft_links_reader;
SELECT right(document::text, 1) AS document, entity, mentions FROM docs_links ORDER BY 1, 2;
SELECT entity, label FROM cft_linked('00000000-0000-0000-0000-00000000000a');
SELECT document_id IS NOT NULL AS found, entity FROM cft_nearest_documents('[1,0,0]');
RESET ROLE;
-- Who may not read the texts sees no links.
REVOKE SELECT ON docs FROM regress_cft_links_reader;
GRANT SELECT (id, tenant) ON docs TO regress_cft_links_reader;
SET ROLE regress_cft_links_reader;
SELECT count(*) FROM docs;
TABLE docs_links;
RESET ROLE;
-- Without rights on the documents there are no links. Forced policies bind the owner here, too.
SET ROLE regress_cft_links_owner;
SELECT count(*) FROM docs_links;
RESET ROLE;
REVOKE SELECT ON docs FROM regress_cft_links_reader;
SET ROLE regress_cft_links_reader;
TABLE docs_links;
RESET ROLE;
DROP SCHEMA tenants, links CASCADE;
DROP ROLE regress_cft_links_owner, regress_cft_links_reader;
