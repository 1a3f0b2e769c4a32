-- Other people's code: whatever a role puts on its tables, and wherever it makes them belong to others', it does not run with the rights of
-- who did not name them. trap() warns if it runs as anybody but its owner. (tests/life: rights, has the background workers.)
-- Sessions are those of who calls: one of a superuser, whatever its role is, trusts no owner of a database and no group.
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

-- What is hers alone: a policy, an index predicate, an index expression, a cast, a type changed after it was attached, a view, a generated
-- column, a child of another owner.
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
-- Nobody means them, an ordinary role neither.
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
SELECT * FROM cft_tree_search('[1,0]');
SELECT * FROM cftrag_internal.cft_attached_documents();
SELECT * FROM cft_rollup_status();
\connect - regress_cft_victim
SELECT * FROM cft_context('b');
SELECT * FROM cft_nearest_documents('[1,0]');
SELECT * FROM cft_retrieve('b', '[1,0]');
\connect - :me
-- She does, herself.
SET ROLE regress_cft_mallory;
SELECT relative FROM cft_context('b');
RESET ROLE;
-- Named, a type with a cast of hers is refused: 42804.
SELECT * FROM cft_nearest_documents('[1,0]', documents => 'attack.documents');
SELECT count(*) FROM cft_nearest_documents('[1,0]', documents => 'pg_class');
SET ROLE regress_cft_mallory;
SELECT cft_detach_documents('attack.documents'), cft_detach_documents('attack.view');
SELECT cft_attach_documents('attack.documents', entity => 'entity');
CREATE TABLE attack.typed (parent text, child text);
INSERT INTO attack.typed VALUES ('a', 'b');
GRANT SELECT ON attack.typed TO PUBLIC;
SELECT cft_attach('attack.typed');
ALTER TABLE attack.typed ALTER parent TYPE attack.word USING 'a';
RESET ROLE;
SELECT * FROM cft_context('b', edges => 'attack.typed');
SELECT * FROM cft_entities('b', edges => 'attack.typed');
DROP TABLE attack.typed;

-- Membership in a role makes nobody trust it, if it was she who granted it, having the right to.
CREATE ROLE regress_cft_puppet ADMIN regress_cft_mallory;
ALTER TABLE attack.edges OWNER TO regress_cft_puppet;
SET ROLE regress_cft_mallory;
GRANT regress_cft_puppet TO regress_cft_victim;
RESET ROLE;
\connect - regress_cft_victim
SELECT pg_has_role('regress_cft_puppet', 'USAGE');
SELECT * FROM cft_context('b');
\connect - :me
ALTER TABLE attack.edges OWNER TO regress_cft_mallory;
DROP ROLE regress_cft_puppet;
-- It does if a superuser has granted it.
CREATE ROLE regress_cft_friend LOGIN IN ROLE regress_cft_alice;
SET ROLE regress_cft_alice;
CREATE TABLE attack.forest (parent text, child text);
INSERT INTO attack.forest VALUES ('a', 'b'), ('b', 'c');
SELECT cft_attach('attack.forest');
CREATE TABLE attack.texts (id int PRIMARY KEY, body text, embedding vector(2));
INSERT INTO attack.texts VALUES (1, 'about b', '[1,0]');
SELECT cft_attach_documents('attack.texts');
GRANT SELECT ON attack.forest, attack.texts TO PUBLIC;
RESET ROLE;
\connect - regress_cft_friend
SELECT relative FROM cft_context('b');
SELECT document_id FROM cft_nearest_documents('[1,0]');
\connect - :me
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me

-- The TRIGGER privilege on her tables: aliases, a mapping, entities' embeddings and summaries that belong to them, with everything on them.
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
CREATE CONSTRAINT TRIGGER m AFTER UPDATE OF entity, document_id ON attack.mapping FROM attack.texts
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_document_entities('entity', 'document');
SELECT cft_attach_entities('attack.vectors', edges => 'attack.forest');
CREATE CONSTRAINT TRIGGER s AFTER UPDATE OF entity, summary ON attack.summaries FROM attack.forest
    FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_summaries('entity', 'summary');
-- To herself they belong.
SELECT entity, via_alias FROM cft_entities('x b', 'attack.forest');
SELECT relative, document_id FROM cft_chunks('b', 0, 0, 'attack.forest', 'attack.texts');
SELECT entity FROM cft_nearest_entities('[1,0]', edges => 'attack.forest');
SELECT text FROM cftrag_internal.cft_texts(ARRAY['b'], edges => 'attack.forest');
RESET ROLE;
CREATE FUNCTION attack.everything() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    call text;
    n bigint;
    calls text[] := ARRAY[
        $c$ cft_entities('x b', 'attack.forest') $c$,
        $c$ cft_chunks('b', 0, 0, 'attack.forest', 'attack.texts') $c$,
        $c$ cft_nearest_documents('[1,0]', documents => 'attack.texts') $c$,
        $c$ cft_nearest_entities('[1,0]', edges => 'attack.forest', documents => 'attack.texts') $c$,
        $c$ cftrag_internal.cft_texts(ARRAY['b'], 'attack.texts', 'attack.forest') $c$,
        $c$ cft_retrieve('x b', '[1,0]', edges => 'attack.forest', documents => 'attack.texts') $c$,
        $c$ cft_resolve('x', '[1,0]', edges => 'attack.forest') $c$,
        $c$ cft_tree_search('[1,0]', edges => 'attack.forest', documents => 'attack.texts') $c$,
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
-- Her table of embeddings is in nobody's way.
SET ROLE regress_cft_alice;
CREATE TABLE attack.own_vectors (entity text, embedding vector(2));
INSERT INTO attack.own_vectors VALUES ('a', '[0,1]');
SELECT cft_attach_entities('attack.own_vectors', edges => 'attack.forest');
GRANT SELECT ON attack.own_vectors TO PUBLIC;
RESET ROLE;
\connect - regress_cft_victim
SELECT entity FROM cft_nearest_entities('[1,0]', edges => 'attack.forest');
\connect - :me
-- A table of whoever owns both counts, as does one of a role that has that owner's rights.
\connect - regress_cft_friend
\connect - :me
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

-- A trusted table with a child of hers is not chosen.
DROP TABLE attack.edges;
ALTER TABLE attack.forest OWNER TO CURRENT_USER;
\connect - regress_cft_victim
SELECT count(*) FROM cft_context('b');
\connect - :me
CREATE TABLE attack.child () INHERITS (attack.forest);
ALTER TABLE attack.child OWNER TO regress_cft_mallory;
\connect - regress_cft_victim
SELECT * FROM cft_context('b');
\connect - :me
DROP TABLE attack.child;
ALTER TABLE attack.forest OWNER TO regress_cft_alice;

-- A group is trusted as long as nobody else can make tables in its name, and never by a superuser.
CREATE SCHEMA grouped;
CREATE ROLE regress_cft_group;
CREATE ROLE regress_cft_peer;
CREATE ROLE regress_cft_super SUPERUSER;
GRANT regress_cft_group TO regress_cft_victim, regress_cft_super;
GRANT ALL ON SCHEMA grouped TO regress_cft_group;
SET ROLE regress_cft_group;
CREATE TABLE grouped.edges (parent text, child text);
INSERT INTO grouped.edges VALUES ('a', 'b');
SELECT cft_attach('grouped.edges');
RESET ROLE;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me
SET ROLE regress_cft_super;
SELECT relative FROM cft_context('b');
RESET ROLE;
GRANT regress_cft_group TO regress_cft_peer;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
SELECT relative FROM cft_context('b', edges => 'grouped.edges');
\connect - :me
REVOKE regress_cft_group FROM regress_cft_peer;
-- By a group in between that others are in, too.
CREATE ROLE regress_cft_team;
GRANT regress_cft_group TO regress_cft_team;
GRANT regress_cft_team TO regress_cft_victim;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me
GRANT regress_cft_team TO regress_cft_peer;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me

-- Nor where somebody can log in as the group.
REVOKE regress_cft_team FROM regress_cft_peer;
ALTER ROLE regress_cft_group LOGIN;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me
ALTER ROLE regress_cft_group NOLOGIN;
-- Nor by who can become more than ordinary, by inheritance or not: a role of this session may be set by anybody's code.
CREATE ROLE regress_cft_program NOINHERIT;
GRANT pg_execute_server_program TO regress_cft_program;
GRANT regress_cft_program TO regress_cft_victim;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me
REVOKE regress_cft_program FROM regress_cft_victim;
ALTER ROLE regress_cft_victim CREATEROLE;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me
ALTER ROLE regress_cft_victim NOCREATEROLE;
SET ROLE regress_cft_victim;
SELECT relative FROM cft_context('b');
RESET ROLE;
SET SESSION AUTHORIZATION regress_cft_victim;
SELECT relative FROM cft_context('b');
RESET SESSION AUTHORIZATION;
\connect - regress_cft_victim
SELECT relative FROM cft_context('b');
\connect - :me

-- A plan that another role has made in this session gives nobody rows of a schema that she may not use.
CREATE FUNCTION attack.by_group() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT count(*) FROM public.cft_context('b', edges => 'grouped.edges') $$;
ALTER FUNCTION attack.by_group() OWNER TO regress_cft_group;
GRANT SELECT ON grouped.edges TO regress_cft_mallory;
GRANT USAGE ON SCHEMA attack TO regress_cft_group;
SELECT 'grouped.edges'::regclass::oid AS grouped \gset
SET cftrag.enable = off;
SET ROLE regress_cft_mallory;
SELECT attack.by_group();
SELECT relative FROM cft_context('b', edges => :grouped::regclass);
SELECT entity FROM cft_entities('a b', edges => :grouped::regclass);
SELECT * FROM cft_roots(edges => :grouped::regclass);
RESET ROLE;
RESET cftrag.enable;
-- Who may not read a table gets no lock on it that stays.
REVOKE SELECT ON grouped.edges FROM regress_cft_mallory;
SET ROLE regress_cft_mallory;
BEGIN;
SAVEPOINT s;
SELECT * FROM cftrag_internal.cft_attached(:grouped::regclass);
ROLLBACK TO s;
SELECT count(*) FROM pg_locks WHERE relation = :grouped;
COMMIT;
RESET ROLE;
DROP FUNCTION attack.by_group();
SET client_min_messages = warning;
DROP SCHEMA grouped CASCADE;
DROP OWNED BY regress_cft_group, regress_cft_team;
DROP ROLE regress_cft_group, regress_cft_program, regress_cft_team, regress_cft_peer, regress_cft_super;

-- cftrag.edges, cftrag.documents: a choice counts for those who trust whoever made it.
SET ROLE regress_cft_victim;
SET cftrag.edges = 'attack.forest';
SET cftrag.documents = 'attack."texts"';
SELECT relative FROM cft_context('b');
SELECT document_id FROM cft_nearest_documents('[1,0]');
SELECT source, document_id FROM cft_retrieve('b', '[1,0]') WHERE source = 'document';
-- Not for a function that runs with somebody else's rights, unless it says so itself; the choice is the caller's again after it.
RESET ROLE;
CREATE FUNCTION attack.definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT count(*) FROM public.cft_context('b') $$;
CREATE FUNCTION attack.definer_chose() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET cftrag.edges = 'attack.forest' AS $$ SELECT count(*) FROM public.cft_context('b') $$;
SET ROLE regress_cft_victim;
SELECT attack.definer_chose();
SELECT attack.definer();
SELECT count(*) FROM cft_context('b');
RESET ROLE;
SELECT count(*) FROM cft_context('b');
-- Nor in a parallel worker, where what a function of hers has set for the session comes from the leader.
SET ROLE regress_cft_mallory;
CREATE FUNCTION attack.sets() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN SET cftrag.edges = 'attack.forest'; END $$;
RESET ROLE;
SELECT attack.sets();
SHOW cftrag.edges;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT count(*) FROM cft_context('b');
SET cftrag.edges = 'attack.forest';
SELECT count(*) FROM cft_context('b');
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
RESET cftrag.edges;
SET ROLE regress_cft_victim;
SET cftrag.edges = 'attack.forest';
-- Whatever the search_path, and nothing that is no qualified name.
SET search_path = attack, public;
SET cftrag.edges = 'forest';
SET cftrag.edges = 'attack.forest; SELECT 1';
SET cftrag.edges = 'attack.';
SET cftrag.edges = '"Attack"."no such"';
SELECT * FROM cft_context('b');
RESET cftrag.edges;
RESET cftrag.documents;
RESET search_path;
SELECT * FROM cft_context('b');
BEGIN;
SET LOCAL cftrag.edges = 'ATTACK.forest';
SELECT count(*) FROM cft_context('b');
ROLLBACK;
SELECT count(*) FROM cft_context('b');
RESET ROLE;

\set VERBOSITY default

DROP SCHEMA attack CASCADE;
DROP OWNED BY regress_cft_alice, regress_cft_mallory, regress_cft_victim, regress_cft_friend;
DROP ROLE regress_cft_alice, regress_cft_mallory, regress_cft_victim, regress_cft_friend;
