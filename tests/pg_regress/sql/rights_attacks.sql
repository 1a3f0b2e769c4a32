-- Other people's code, by PostgreSQL's rules (docs/security.md): what is not named is found by the caller's search_path; what is named is used as
-- SQL would use it; what belongs to another table counts only if its owner is that one's, a member of it, or a superuser. trap() warns if it
-- runs as anybody but its owner. (tests/life: rights, has the background workers.)
\a\t
SELECT current_user AS me \gset
SET client_min_messages = warning;
CREATE ROLE regress_cft_alice;
CREATE ROLE regress_cft_mallory;
CREATE ROLE regress_cft_victim LOGIN;
CREATE SCHEMA attack;
GRANT USAGE, CREATE ON SCHEMA attack TO regress_cft_alice, regress_cft_mallory;
GRANT USAGE ON SCHEMA attack TO regress_cft_victim;

SET ROLE regress_cft_mallory;
CREATE FUNCTION attack.trap(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'regress_cft_mallory' THEN RAISE WARNING 'trap % ran as %', n, current_user; END IF;
    RETURN true;
END $$;
CREATE FUNCTION attack.trap_int(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT attack.trap(n)::int';
CREATE TYPE attack.word AS ENUM ('a', 'b', 'c');
CREATE FUNCTION attack.spelled(attack.word) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM attack.trap(1); RETURN 'b'; END $$;

-- What is of mallory alone: a policy, an index predicate, an index expression, a cast, a type changed after it was attached, a view, a generated
-- column.
CREATE TABLE attack.edges (parent text, child text);
INSERT INTO attack.edges VALUES ('a', 'b'), ('b', 'c');
CREATE INDEX ON attack.edges (child) WHERE attack.trap(2);
CREATE INDEX ON attack.edges (attack.trap_int(3));
ALTER TABLE attack.edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_of_them ON attack.edges USING (attack.trap(4));
SELECT cft_attach('attack.edges');
CREATE TABLE attack.documents (id int, body attack.word, embedding vector(2), entity text, more boolean GENERATED ALWAYS AS (attack.trap(5)) STORED);
INSERT INTO attack.documents VALUES (1, 'a', '[1,0]', 'b');
CREATE INDEX ON attack.documents (id) WHERE attack.trap(6);
GRANT SELECT ON attack.edges, attack.documents TO PUBLIC;
\set VERBOSITY terse
SELECT cft_attach_documents('attack.documents', entity => 'entity');
CREATE CAST (attack.word AS text) WITH FUNCTION attack.spelled(attack.word);
CREATE VIEW attack.view AS SELECT 1 AS id, 'b'::text AS body, '[1,0]'::vector AS embedding, 'b'::text AS entity WHERE attack.trap(7);
GRANT SELECT ON attack.view TO PUBLIC;
SELECT cft_attach_documents('attack.view', entity => 'entity');
RESET ROLE;
-- Nobody means them whose search_path does not have the schema.
SELECT * FROM cft_context('b');
SELECT * FROM cft_context(ARRAY['b']);
SELECT cft_context_text('b');
SELECT * FROM cft_entities('b');
SELECT * FROM cft_hot_entities();
EXPLAIN (COSTS OFF) SELECT * FROM cft_context('b');
SELECT * FROM cft_nearest_documents('[1,0]');
SELECT * FROM cft_chunks('b');
SELECT * FROM cft_nearest_entities('[1,0]');
SELECT * FROM cft_retrieve('b', '[1,0]');
SELECT * FROM cft_tree_search('[1,0]', mode => 'prune');
SELECT * FROM cftrag_internal.cft_attached_documents();
SELECT * FROM cft_rollup_status();
\connect - regress_cft_victim
SELECT * FROM cft_context('b');
SELECT * FROM cft_nearest_documents('[1,0]');
SELECT * FROM cft_retrieve('b', '[1,0]');
\connect - :me
-- Values become texts by the output function: the cast of hers is not run. (The predicate of her index is, as it is for any SELECT of the table.)
SELECT * FROM cft_nearest_documents('[1,0]', documents => 'attack.documents');
SELECT count(*) FROM cft_nearest_documents('[1,0]', documents => 'pg_class');
SET ROLE regress_cft_mallory;
SELECT cft_detach('attack.documents'), cft_detach('attack.view');
SELECT cft_attach_documents('attack.documents', entity => 'entity');
SELECT cft_detach('attack.documents');
CREATE TABLE attack.typed (parent text, child text);
INSERT INTO attack.typed VALUES ('a', 'b');
GRANT SELECT ON attack.typed TO PUBLIC;
SELECT cft_attach('attack.typed');
ALTER TABLE attack.typed ALTER parent TYPE attack.word USING 'a';
RESET ROLE;
SELECT * FROM cft_context('b', edges => 'attack.typed');
SELECT * FROM cft_entities('b', edges => 'attack.typed');
DROP TABLE attack.typed, attack.edges;

SET ROLE regress_cft_alice;
CREATE TABLE attack.forest (parent text, child text);
INSERT INTO attack.forest VALUES ('a', 'b'), ('b', 'c');
SELECT cft_attach('attack.forest');
CREATE TABLE attack.texts (id int PRIMARY KEY, body text, embedding vector(2));
INSERT INTO attack.texts VALUES (1, 'about b', '[1,0]');
SELECT cft_attach_documents('attack.texts');
GRANT SELECT ON attack.forest, attack.texts TO PUBLIC;
RESET ROLE;

-- The TRIGGER privilege on tables of alice is no right to say that other tables belong to them.
GRANT TRIGGER ON attack.forest, attack.texts TO regress_cft_mallory;
SET ROLE regress_cft_mallory;
CREATE DOMAIN attack.checked AS text CHECK (attack.trap(10));
CREATE TABLE attack.aliases (alias text, entity text);
CREATE TABLE attack.mapping (entity text, document_id int);
CREATE TABLE attack.vectors (entity text, embedding vector(2));
CREATE TABLE attack.summaries (entity text, summary text, more attack.checked DEFAULT CASE WHEN attack.trap(11) THEN 'x' END,
                               made int GENERATED ALWAYS AS (attack.trap_int(12)) STORED);
INSERT INTO attack.aliases VALUES ('x', 'b');
INSERT INTO attack.mapping VALUES ('b', 1);
INSERT INTO attack.vectors VALUES ('b', '[1,0]');
INSERT INTO attack.summaries VALUES ('b', 'of mallory');
DO $$
DECLARE t text; n int := 20;
BEGIN
    FOREACH t IN ARRAY '{aliases,mapping,vectors,summaries}'::text[] LOOP
        EXECUTE format('CREATE INDEX ON attack.%1$I (entity) WHERE attack.trap(%2$s); ALTER TABLE attack.%1$I ENABLE ROW LEVEL SECURITY; '
                       'CREATE POLICY p ON attack.%1$I USING (attack.trap(%2$s + 1)); GRANT ALL ON attack.%1$I TO PUBLIC', t, n);
        n := n + 2;
    END LOOP;
END $$;
SELECT cft_attach_aliases('attack.aliases', edges => 'attack.forest');
SELECT cft_attach_embeddings('attack.vectors', edges => 'attack.forest');
SELECT cft_attach_summaries('attack.summaries', edges => 'attack.forest');
-- By hand, as PostgreSQL lets her.
CREATE TRIGGER r AFTER INSERT OR UPDATE OR DELETE ON attack.aliases FOR EACH ROW EXECUTE FUNCTION cftrag_internal.cft_capture('', 'entity', '', 'alias');
CREATE TRIGGER t AFTER TRUNCATE ON attack.aliases EXECUTE FUNCTION cftrag_internal.cft_capture_truncate('', 'entity', '', 'alias');
ALTER TABLE attack.aliases ENABLE ALWAYS TRIGGER r, ENABLE ALWAYS TRIGGER t;
CREATE CONSTRAINT TRIGGER a AFTER INSERT ON attack.aliases FROM attack.forest
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_alias_of('alias', 'entity');
CREATE CONSTRAINT TRIGGER l AFTER INSERT ON attack.aliases FROM attack.forest
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_label_of('alias', 'entity');
CREATE CONSTRAINT TRIGGER m AFTER UPDATE OF entity, document_id ON attack.mapping FROM attack.texts
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_document_entities('entity', 'document');
CREATE CONSTRAINT TRIGGER e AFTER UPDATE OF entity, embedding ON attack.vectors FROM attack.forest
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_entity_embeddings('entity', 'embedding');
CREATE CONSTRAINT TRIGGER s AFTER UPDATE OF entity, summary ON attack.summaries FROM attack.forest
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_summaries('entity', 'summary');
-- Another registration of the documents of alice, by a name that sorts first: the oldest counts.
RESET ROLE;
SET ROLE regress_cft_alice;
ALTER TABLE attack.texts ADD COLUMN notes text DEFAULT 'INTERNAL';
SET ROLE regress_cft_mallory;
CREATE TRIGGER aaa AFTER UPDATE OF id, notes, embedding ON attack.texts FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_documents('id', 'body', 'embedding');
RESET ROLE;
SELECT body FROM cft_nearest_documents('[1,0]', documents => 'attack.texts');
-- Attached again, it is the only one.
SET ROLE regress_cft_alice;
SELECT cft_attach_documents('attack.texts');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'attack.texts'::regclass AND NOT tgisinternal;
RESET ROLE;
CREATE FUNCTION attack.everything() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    call text;
    n bigint;
    calls text[] := ARRAY[
        $c$ cft_entities('x b', 'attack.forest') $c$,
        $c$ cft_chunks('b', NULL, 0, 0, 'attack.forest', documents => 'attack.texts') $c$,
        $c$ cft_nearest_documents('[1,0]', documents => 'attack.texts') $c$,
        $c$ cft_nearest_entities('[1,0]', edges => 'attack.forest', documents => 'attack.texts') $c$,
        $c$ cftrag_internal.cft_texts(ARRAY['b'], 'attack.texts', 'attack.forest') $c$,
        $c$ cft_retrieve('x b', '[1,0]', edges => 'attack.forest', documents => 'attack.texts') $c$,
        $c$ cft_resolve('x', '[1,0]', edges => 'attack.forest') $c$,
        $c$ cft_tree_search('[1,0]', mode => 'prune', edges => 'attack.forest', documents => 'attack.texts') $c$,
        $c$ cft_rollup_status('attack.forest') $c$,
        $c$ cft_rollup_next(1, 'attack.forest') $c$,
        $c$ cft_rollup_mark(ARRAY['b'], 'attack.forest') $c$,
        $c$ cft_rollup(edges => 'attack.forest') $c$];
BEGIN
    FOREACH call IN ARRAY calls LOOP
        FOREACH n IN ARRAY '{1,0}'::bigint[] LOOP
            PERFORM set_config('cftrag.enable', n::text, true);
            BEGIN
                EXECUTE 'SELECT count(*) FROM' || call INTO n;
                RAISE WARNING '% rows: %', n, call;
            EXCEPTION WHEN OTHERS THEN
                RAISE WARNING '%: %', SQLERRM, call;
            END;
        END LOOP;
    END LOOP;
END $$;
SELECT attack.everything();
\connect - regress_cft_victim
SELECT attack.everything();
\connect - :me
-- Nor is it in the way of what alice attaches.
SET ROLE regress_cft_alice;
CREATE TABLE attack.own_vectors (entity text, embedding vector(2));
INSERT INTO attack.own_vectors VALUES ('a', '[0,1]');
SELECT cft_attach_embeddings('attack.own_vectors', edges => 'attack.forest');
CREATE TABLE attack.own_summaries (entity text, summary text);
SELECT cft_attach_summaries('attack.own_summaries', edges => 'attack.forest');
GRANT SELECT ON attack.own_vectors TO PUBLIC;
-- A change of alice marks in the table of alice only.
INSERT INTO attack.forest VALUES ('c', 'd');
SELECT count(*) FROM attack.own_summaries;
SELECT cft_detach('attack.own_summaries');
-- Whoever owns a table takes off it what others have put there and what does not count, of all kinds; what counts stays.
CREATE VIEW attack.belonging AS SELECT t.tgrelid::regclass AS relation, t.tgname, t.tgfoid::regproc AS says FROM pg_trigger AS t
 WHERE t.tgconstrrelid IN ('attack.forest'::regclass, 'attack.texts'::regclass) AND NOT t.tgisinternal ORDER BY 1, 2;
SELECT * FROM attack.belonging;
BEGIN;
SELECT cft_detach('attack.forest'), cft_detach('attack.texts');
SELECT * FROM attack.belonging;
SELECT cft_detach('attack.forest');
ROLLBACK;
RESET ROLE;
\connect - regress_cft_victim
SELECT entity FROM cft_nearest_entities('[1,0]', edges => 'attack.forest');
\connect - :me
-- A table of a member of that owner counts, as long as it is one; a superuser's does.
CREATE ROLE regress_cft_friend IN ROLE regress_cft_alice;
SET ROLE regress_cft_alice;
CREATE TABLE attack.own_aliases (alias text, entity text);
INSERT INTO attack.own_aliases VALUES ('y', 'b');
SELECT cft_attach_aliases('attack.own_aliases', edges => 'attack.forest');
GRANT SELECT ON attack.own_aliases TO PUBLIC;
RESET ROLE;
ALTER TABLE attack.own_aliases OWNER TO regress_cft_friend;
\connect - regress_cft_victim
SELECT entity, via_alias FROM cft_entities('x y', 'attack.forest');
\connect - :me
REVOKE regress_cft_alice FROM regress_cft_friend;
\connect - regress_cft_victim
SELECT entity, via_alias FROM cft_entities('x y', 'attack.forest');
\connect - :me
ALTER TABLE attack.own_aliases OWNER TO CURRENT_USER;
\connect - regress_cft_victim
SELECT entity, via_alias FROM cft_entities('x y', 'attack.forest');

-- search_path: whose is meant where none is named. A table that another of the same name hides is not; a temporary one hides all.
SET search_path = attack, public;
SELECT relative FROM cft_context('b');
SELECT document_id FROM cft_nearest_documents('[1,0]');
SELECT document_id FROM cft_nearest_documents('[1,0]', documents => 'texts');
\connect - :me
CREATE SCHEMA grouped;
CREATE TABLE grouped.forest (parent text, child text);
INSERT INTO grouped.forest VALUES ('b', 'grouped');
SELECT cft_attach('grouped.forest');
GRANT USAGE ON SCHEMA grouped TO PUBLIC;
\connect - regress_cft_victim
SET search_path = grouped, attack, public;
SELECT relative FROM cft_context('b');
SELECT document_id FROM cft_nearest_documents('[1,0]');
SELECT document_id, relation FROM cft_chunks('b');
SELECT source, document_id FROM cft_retrieve('b', '[1,0]') WHERE source = 'document';
SELECT entity, method FROM cft_resolve('B');
SELECT entity FROM cft_expand(ARRAY['b'], min_support => 1);
\connect - :me
GRANT SELECT ON grouped.forest TO PUBLIC;
SET search_path = grouped, attack, public;
SELECT relative FROM cft_context('b');
SELECT cft_context_text('b');
SET search_path = attack, grouped, public;
SELECT relative FROM cft_context('b');
CREATE TEMP TABLE forest (parent text, child text);
INSERT INTO forest VALUES ('b', 'temporary');
SELECT relative FROM cft_context('b');
SELECT cft_attach('forest');
SELECT relative FROM cft_context('b');
SELECT entity FROM cft_expand(ARRAY['b'], min_support => 1);
CREATE TEMP TABLE other (parent text, child text);
SELECT cft_attach('other');
SELECT relative FROM cft_context('b');
SELECT entity FROM cft_expand(ARRAY['b'], min_support => 1);
DROP TABLE pg_temp.forest, pg_temp.other;
-- Within one statement as well: a function means what its own search_path has, not its caller's.
CREATE FUNCTION attack.by_attack() RETURNS SETOF text LANGUAGE sql STABLE SET search_path = attack, public, pg_temp AS $$ SELECT relative FROM cft_context('b') $$;
CREATE FUNCTION attack.by_grouped() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = grouped, public, pg_temp AS $$ SELECT relative FROM cft_context('b') $$;
CREATE FUNCTION attack.by_none() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT relative FROM public.cft_context('b') $$;
SELECT a.*, g.*, c.relative FROM attack.by_attack() AS a, attack.by_grouped() AS g, cft_context('b') AS c ORDER BY 1, 2, 3;
SELECT * FROM attack.by_none();
RESET search_path;
SELECT a.*, g.* FROM attack.by_attack() AS a, attack.by_grouped() AS g ORDER BY 1, 2;
SELECT relative FROM cft_context('b');
-- A schema that is not for the caller is not searched.
REVOKE USAGE ON SCHEMA grouped FROM PUBLIC;
\connect - regress_cft_victim
SET search_path = grouped, attack, public;
SELECT relative FROM cft_context('b');
\connect - :me

-- A plan that another role has made in this session gives nobody rows of a schema that is not for the caller.
CREATE ROLE regress_cft_group;
ALTER TABLE grouped.forest OWNER TO regress_cft_group;
GRANT USAGE ON SCHEMA grouped, attack TO regress_cft_group;
CREATE FUNCTION attack.by_group() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT count(*) FROM public.cft_context('b', edges => 'grouped.forest') $$;
ALTER FUNCTION attack.by_group() OWNER TO regress_cft_group;
SELECT 'grouped.forest'::regclass::oid AS grouped \gset
SET cftrag.enable = off;
SET ROLE regress_cft_mallory;
SELECT attack.by_group();
SELECT relative FROM cft_context('b', edges => :grouped::regclass);
SELECT entity FROM cft_entities('a b', edges => :grouped::regclass);
SELECT * FROM cft_roots(edges => :grouped::regclass);
RESET ROLE;
RESET cftrag.enable;
-- Who may not read a table gets no lock on it that stays.
REVOKE SELECT ON grouped.forest FROM PUBLIC;
SET ROLE regress_cft_mallory;
BEGIN;
SAVEPOINT s;
SELECT * FROM cftrag_internal.cft_attached(:grouped::regclass);
ROLLBACK TO s;
SELECT count(*) FROM pg_locks WHERE relation = :grouped;
COMMIT;
RESET ROLE;

-- Triggers are made and dropped as SQL would: not in a read-only transaction, not by who may not.
BEGIN READ ONLY;
SELECT cft_attach('attack.own_aliases', 'alias', 'entity');
ROLLBACK;
BEGIN READ ONLY;
SELECT cft_detach('attack.forest');
ROLLBACK;
SET ROLE regress_cft_mallory;
SELECT cftrag_internal.cft_drop_triggers('attack.forest', 'cftrag_internal.cft_capture()');
SELECT cftrag_internal.cft_set_columns('attack.own_vectors', NULL, 'cftrag_internal.cft_documents()', '{entity}', '{id}');
SELECT cftrag_internal.cft_watch('attack.own_vectors', 'cftrag_internal.cft_rollup_changed()');
RESET ROLE;
SELECT cftrag_internal.cft_set_columns('attack.own_vectors', NULL, 1::regprocedure, '{entity}', '{id}');
SELECT cftrag_internal.cft_set_columns(1::regclass, NULL, 'cftrag_internal.cft_documents()', '{entity}', '{id}');
SELECT cftrag_internal.cft_set_columns('pg_class', NULL, 'cftrag_internal.cft_documents()', '{relname}', '{id}');
SELECT cftrag_internal.cft_set_columns('attack.own_vectors', NULL, 'now()', '{entity}', '{id}');
SELECT cftrag_internal.cft_watch('attack.view', 'cftrag_internal.cft_rollup_changed()');
-- The owner's registration comes before one that a role with TRIGGER made, even if that is the older: a dump keeps no order.
CREATE TABLE attack.pages(id int, body text, embedding vector(2), notes text);
CREATE TRIGGER aaa AFTER UPDATE OF id, notes, embedding ON attack.pages FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_documents('id', 'body', 'embedding');
CREATE TRIGGER cftrag_documents AFTER UPDATE OF id, body, embedding ON attack.pages FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_documents('id', 'body', 'embedding');
SELECT body FROM cftrag_internal.cft_attached_documents('attack.pages');
ALTER TABLE attack.pages ENABLE ALWAYS TRIGGER cftrag_documents;
SELECT body FROM cftrag_internal.cft_attached_documents('attack.pages');
DROP TABLE attack.pages;
-- Documents whose columns have types of an ordinary role: ids, texts and entities are what SELECT shows, in each function; marks too.
CREATE TYPE attack.mood AS ENUM ('sad', 'glad');
CREATE TYPE attack.pair AS (a int, b text);
CREATE DOMAIN attack.short AS text;
CREATE TABLE attack.moods (id attack.pair, body attack.mood, embedding vector(2), entity attack.short);
CREATE TABLE attack.mapped (entity attack.mood, document text);
CREATE TABLE attack.mood_edges (parent text, child text);
CREATE TABLE attack.mood_summaries (entity text, summary text);
INSERT INTO attack.mood_edges VALUES ('root', 'sad'), ('root', 'glad');
SELECT cft_attach('attack.mood_edges');
SELECT cft_attach_documents('attack.moods', entity => 'entity');
SELECT cft_attach_summaries('attack.mood_summaries', edges => 'attack.mood_edges', documents => 'attack.moods');
CREATE FUNCTION attack.of_mood(attack.mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM attack.trap(8); RETURN 'cast'; END $$;
CREATE FUNCTION attack.of_pair(attack.pair) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM attack.trap(9); RETURN 'cast'; END $$;
CREATE CAST (attack.mood AS text) WITH FUNCTION attack.of_mood(attack.mood) AS IMPLICIT;
CREATE CAST (attack.pair AS text) WITH FUNCTION attack.of_pair(attack.pair) AS IMPLICIT;
DELETE FROM attack.mood_summaries;
INSERT INTO attack.moods VALUES ((1, 'x y'), 'glad', '[1,0]', 'sad'), (NULL, NULL, '[0,1]', 'glad');
UPDATE attack.moods SET body = 'sad' WHERE entity = 'sad';
SELECT entity, count(*) FROM attack.mood_summaries GROUP BY 1 ORDER BY 1;
SELECT document_id, entity, body FROM cft_nearest_documents('[1,0]', documents => 'attack.moods');
SELECT entity, document_id, body FROM cft_chunks('{root}'::text[], NULL, 0, 1, 'attack.mood_edges', documents => 'attack.moods') ORDER BY 1, 2;
SELECT summarized FROM cft_rollup(edges => 'attack.mood_edges');
SELECT entity, summary FROM attack.mood_summaries ORDER BY 1;
INSERT INTO attack.mapped SELECT 'glad', concat(id) FROM attack.moods WHERE entity = 'sad';
SELECT cft_detach('attack.mood_summaries');
SELECT cft_attach_documents('attack.moods', mapping => 'attack.mapped', mapping_document => 'document');
SELECT entity, document_id, body FROM cft_chunks('{root}'::text[], NULL, 0, 1, 'attack.mood_edges', documents => 'attack.moods') ORDER BY 1, 2;
SELECT document_id, entity, body FROM cft_nearest_documents('[1,0]', documents => 'attack.moods');
DROP TABLE attack.moods, attack.mapped, attack.mood_edges, attack.mood_summaries CASCADE;
DROP TYPE attack.mood, attack.pair CASCADE;
SELECT cftrag_internal.cft_counts(0, 'pg_class');
-- Summaries that no longer count, since their owner is another one, leave nothing on the edges when these are detached.
CREATE TABLE attack.left_edges (parent text, child text);
CREATE TABLE attack.left_summaries (entity text, summary text);
SELECT cft_attach('attack.left_edges'), cft_attach_summaries('attack.left_summaries', edges => 'attack.left_edges');
ALTER TABLE attack.left_edges OWNER TO regress_cft_alice;
ALTER TABLE attack.left_summaries OWNER TO regress_cft_mallory;
SET ROLE regress_cft_alice;
SELECT cft_detach('attack.left_edges');
RESET ROLE;
SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgrelid IN ('attack.left_edges'::regclass, 'attack.left_summaries'::regclass);
-- A table whose columns cannot be told is not attached, whatever role puts triggers on it.
CREATE SCHEMA forged;
CREATE TABLE forged.edges (parent text, child text);
CREATE TRIGGER t AFTER INSERT OR UPDATE OR DELETE ON forged.edges FOR EACH ROW EXECUTE FUNCTION cftrag_internal.cft_capture();
SET search_path = forged, public;
SELECT relative FROM cft_context('b');
DROP TABLE forged.edges;
DROP SCHEMA forged;
RESET search_path;

-- What only the extension's own code calls cannot be called by others; who may keep images is said by a grant.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p
 WHERE p.pronamespace = 'cftrag_internal'::regnamespace AND NOT has_function_privilege('regress_cft_mallory', p.oid, 'EXECUTE') ORDER BY p.proname;

\set VERBOSITY default
SET client_min_messages = warning;
DROP SCHEMA attack, grouped CASCADE;
DROP OWNED BY regress_cft_alice, regress_cft_mallory, regress_cft_victim, regress_cft_friend, regress_cft_group;
DROP ROLE regress_cft_alice, regress_cft_mallory, regress_cft_victim, regress_cft_friend, regress_cft_group;
