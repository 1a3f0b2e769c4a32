-- Summaries from the leaves up: what is due after a change, in which order, and that they are those which a plain recursion makes from scratch.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SET jit = off;
CREATE TABLE wood (tree text, parent text, child text, note int);
CREATE TABLE meaning (entity text, embedding vector(3));
CREATE TABLE leaflet (id int, body text, embedding vector(3), entity text, note int);
CREATE TABLE gist (entity text, summary text, mine int DEFAULT 7);
CREATE INDEX ON gist (entity);
SELECT cft_attach('wood', tree => 'tree');
SELECT cft_attach_documents('leaflet', entity => 'entity');
CREATE VIEW e AS SELECT DISTINCT tree, parent COLLATE "C" AS parent, child COLLATE "C" AS child FROM wood WHERE parent <> child;
CREATE FUNCTION above(names text[]) RETURNS TABLE (name text) LANGUAGE sql AS $$
    WITH RECURSIVE u(tree, name) AS (SELECT tree, parent FROM e WHERE child = ANY (names) UNION SELECT e.tree, e.parent FROM u JOIN e ON e.child = u.name)
    SELECT DISTINCT name::text FROM u $$;
-- A summary that says what it was made of.
CREATE FUNCTION tell(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT md5(concat_ws('|', entity, sources, inputs)) $$;
CREATE FUNCTION plain_text(name text) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(body, E'\n' ORDER BY id::text COLLATE "C", body COLLATE "C") FROM leaflet WHERE entity = name $$;
CREATE FUNCTION plain_tell(name text, leaves bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    sources text[] := '{}';
    inputs text[] := '{}';
    c text;
BEGIN
    IF plain_text(name) IS NOT NULL THEN sources := ARRAY[name]; inputs := ARRAY[plain_text(name)]; END IF;
    FOR c IN SELECT child FROM e WHERE parent = name AND NOT EXISTS (SELECT FROM ways_up(plain_tell.name, e.tree) AS w WHERE w = e.child)
              GROUP BY child ORDER BY regexp_replace(child, '[0-9]+', '') || lpad(substring(child, '[0-9]+'), 30, '0') COLLATE "C" LOOP
        sources := sources || c;
        inputs := inputs || CASE WHEN leaves OR c IN (SELECT parent FROM e) THEN plain_tell(c, leaves) ELSE coalesce(plain_text(c), c) END;
    END LOOP;
    RETURN tell(name, sources, inputs);
END $$;
-- A child that is an ancestor too, in whatever tree, is no input.
CREATE FUNCTION ways_up(name text, tree text) RETURNS SETOF text LANGUAGE sql AS $$ SELECT above(ARRAY[name]) $$;
CREATE FUNCTION is_due() RETURNS text[] LANGUAGE sql AS $$ SELECT coalesce(array_agg(DISTINCT entity COLLATE "C"), '{}') FROM gist WHERE summary IS NULL $$;
CREATE FUNCTION wrong(leaves bool) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM (SELECT parent AS name FROM e UNION SELECT child FROM e WHERE leaves) AS n
     WHERE (SELECT array_agg(g.summary) FROM gist AS g WHERE g.entity = n.name AND g.summary IS NOT NULL) IS DISTINCT FROM ARRAY[plain_tell(n.name, leaves)] $$;
-- Changes, and what must be marked after each: the parents or entities in it, leaves or not, and their ancestors.
-- Each in a transaction of its own: who works on what he has changed himself leaves it due.
CREATE TABLE tried (changes bigint, due_wrong bigint, summaries_wrong bigint, left_due bigint, summarized bigint);
CREATE PROCEDURE try(seeds int, leaves bool) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    was text[];
    must text[];
    touched text[];
    made record;
    changes bigint := 0;
    due_wrong bigint := 0;
    summaries_wrong bigint := 0;
    left_due bigint := 0;
    summarized bigint := 0;
BEGIN
    DELETE FROM tried;
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 400.0);
        -- Two that are above each other, above and below others.
        INSERT INTO wood VALUES ('a', 'x 4', 'Kapitel 2'), ('a', 'Kapitel 2', 'x 4'), ('a', 'Ä1', 'x 4'), ('a', 'Kapitel 2', 'x 12'), ('b', 'x 12', 'x 20'), ('b', 'x 20', 'x 12');
        DELETE FROM leaflet;
        INSERT INTO leaflet SELECT i, 'text ' || i, NULL, (ARRAY['x ', 'Ä', 'Kapitel ', ''])[1 + n % 4] || n FROM generate_series(1, 12) AS i, LATERAL (SELECT 1 + floor(random() * 24)::int + 0 * i) AS r(n);
        DELETE FROM gist;
        PERFORM cft_attach_summaries('gist', edges => 'wood', documents => 'leaflet', leaves => leaves);
        FOR change IN 0 .. 5 LOOP
            COMMIT;
            made := cft_rollup('tell(text,text[],text[])', edges => 'wood');
            summarized := summarized + made.summarized;
            left_due := left_due + cardinality(is_due());
            summaries_wrong := summaries_wrong + wrong(leaves);
            COMMIT;
            CASE change % 6
                WHEN 0 THEN
                    WITH i AS (INSERT INTO wood SELECT tree, child, 'new' || change * 10 + n FROM (SELECT *, row_number() OVER (ORDER BY random()) AS n FROM wood WHERE child IS NOT NULL AND parent IS NOT NULL) AS w WHERE n < 3 RETURNING parent, child)
                    SELECT array_agg(parent) || CASE WHEN leaves THEN array_agg(child) END INTO touched FROM i;
                WHEN 1 THEN WITH d AS (DELETE FROM wood WHERE ctid IN (SELECT ctid FROM wood ORDER BY random() LIMIT 2) RETURNING parent, child) SELECT array_agg(parent) INTO touched FROM d WHERE child IS NOT NULL;
                WHEN 2 THEN
                    WITH o AS (SELECT ctid, parent, child FROM wood WHERE parent IS NOT NULL AND child IS NOT NULL ORDER BY random() LIMIT 1), u AS (UPDATE wood AS w SET parent = 'Ä5' FROM o WHERE w.ctid = o.ctid RETURNING o.parent AS before, w.parent)
                    SELECT array_agg(before) || array_agg(parent) INTO touched FROM u WHERE before <> parent;
                WHEN 3 THEN UPDATE wood SET note = change; UPDATE leaflet SET note = change; touched := '{}';
                WHEN 4 THEN WITH u AS (UPDATE leaflet SET body = body || change WHERE id % 5 = change % 5 RETURNING entity) SELECT array_agg(entity) INTO touched FROM u;
                ELSE WITH d AS (DELETE FROM leaflet WHERE id % 4 = 1 RETURNING entity) SELECT array_agg(entity) INTO touched FROM d;
            END CASE;
            changes := changes + 1;
            must := ARRAY(SELECT DISTINCT z.name COLLATE "C" FROM (SELECT above(touched) UNION SELECT unnest(touched)) AS z(name) WHERE z.name IS NOT NULL ORDER BY 1);
            IF is_due() IS DISTINCT FROM must THEN
                due_wrong := due_wrong + 1;
                RAISE WARNING 'seed %, change %: touched %, due %, must be %', seed, change, touched, is_due(), must;
            END IF;
        END LOOP;
    END LOOP;
    INSERT INTO tried VALUES (changes, due_wrong, summaries_wrong, left_due, summarized);
END $$;
CALL try(1, false);
SELECT changes, due_wrong, summaries_wrong, left_due, summarized > 20 AS summarized FROM tried;
CALL try(1, true);
SELECT changes, due_wrong, summaries_wrong, left_due, summarized > 30 AS summarized FROM tried;
DROP VIEW e CASCADE;
DROP TABLE wood, meaning, leaflet, gist, tried;
DROP FUNCTION tell, plain_text, plain_tell, above, is_due, wrong;
DROP PROCEDURE try;

-- A change writes a row for each level above it, and one more of each parent of a changed edge, whatever the size of the tree; a statement with
-- many changes under one parent too.
CREATE TABLE tall (parent text, child text);
INSERT INTO tall SELECT 'n' || i / 10, 'n' || i FROM generate_series(1, 20000) AS i;
SELECT cft_attach('tall');
CREATE TABLE gists (entity text, summary text);
CREATE INDEX ON gists (entity);
SELECT cft_attach_summaries('gists', edges => 'tall');
SELECT count(*) AS due FROM gists;
UPDATE gists SET summary = 'as it was';
-- What each of these adds, in all and to whom.
CREATE FUNCTION added(change text) RETURNS TABLE (marks bigint, entities text[]) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE change;
    RETURN QUERY SELECT count(*), array_agg(DISTINCT entity ORDER BY entity) FROM gists WHERE summary IS NULL;
    DELETE FROM gists WHERE summary IS NULL;
END $$;
SELECT * FROM added($$INSERT INTO tall VALUES ('n1999', 'leaf')$$);
SELECT * FROM added($$INSERT INTO tall SELECT 'n1999', 'leaf ' || i FROM generate_series(1, 1000) AS i$$);
SELECT * FROM added($$COPY tall FROM PROGRAM 'echo n1998,copied' (FORMAT csv)$$);
-- A subtree that moves: what is above it before and after.
SELECT * FROM added($$UPDATE tall SET parent = 'n1500' WHERE child = 'n199'$$);
SELECT * FROM added($$DELETE FROM tall WHERE child = 'n199'$$);
-- Under itself: all in the cycle are above each other.
SELECT * FROM added($$INSERT INTO tall VALUES ('n1990', 'n199')$$);
SELECT * FROM added($$MERGE INTO tall AS t USING (VALUES ('n7')) AS v(child) ON t.child = v.child WHEN MATCHED THEN DELETE$$);
DROP FUNCTION added;
DROP TABLE tall, gists;

-- A repository, in which one can see it.
CREATE TABLE files (parent text, child text);
INSERT INTO files VALUES ('repo', 'src'), ('repo', 'docs'), ('src', 'api'), ('src', 'main.c'), ('api', 'get.c'), ('api', 'put.c'), ('api', 'del.c'), ('docs', 'intro.md'), ('docs', 'guide.md'), ('src', 'util.c'), ('src', 'log.c');
CREATE TABLE code (id int, body text, embedding vector(2), entity text);
INSERT INTO code VALUES (1, 'Reads a row. Then more.', '[1,0]', 'get.c'), (2, 'Writes a row! And so on.', '[0,1]', 'put.c'), (3, 'What this is about', '[1,1]', 'intro.md'), (4, 'All functions of the API.', '[1,1]', 'api');
CREATE TABLE summaries (entity text, summary text, embedding vector(2), seen timestamptz DEFAULT '2026-01-01');
SELECT cft_attach_summaries('summaries');
SELECT cft_attach('files');
SELECT cft_rollup_next();
SELECT cft_rollup_done('api', 'x');
SELECT cft_rollup_mark('{api}');
SELECT cft_rollup_status();
SELECT cft_rollup();
SELECT cft_detach('summaries');
SELECT cft_attach_documents('code', entity => 'entity');
SELECT cft_attach_summaries('summaries', embedding => 'embedding', documents => 'code');
SELECT tgrelid::regclass, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgfoid = ANY ('{cftrag_internal.cft_summaries(),cftrag_internal.cft_summary_documents(),cftrag_internal.cft_rollup_changed()}'::regprocedure[]) AND NOT tgisinternal ORDER BY 1, 2;
SELECT * FROM summaries ORDER BY entity;
SELECT * FROM cft_rollup_status();
-- A worker: from the leaves up. Nothing else is due in its transaction, until it is done.
BEGIN;
SELECT * FROM cft_rollup_next(10);
SELECT cft_rollup_done('api', 'api: reads and writes', '[1,2]');
SELECT entity, sources FROM cft_rollup_next(10);
SELECT cft_rollup_done('docs', 'docs');
SELECT * FROM cft_rollup_next();
SELECT cft_rollup_done('src', 'src', NULL);
SELECT entity, inputs FROM cft_rollup_next();
-- What was rolled back is due again, and what was taken in a savepoint is not taken after it.
SAVEPOINT before;
SELECT cft_rollup_done('repo', 'repo');
SELECT count(*) FROM cft_rollup_next();
ROLLBACK TO before;
SELECT entity FROM cft_rollup_next();
SELECT cft_rollup_done('repo', 'repo');
COMMIT;
SELECT * FROM summaries ORDER BY entity;
SELECT * FROM cft_rollup_status();
SELECT cft_rollup_done('repo', 'not asked for');
SELECT count(*) FROM cft_rollup_next(0);
-- A change marks the ancestors only; a summary stays until there is a new one. A row of the user's own columns stays his.
UPDATE summaries SET seen = '2027-01-01' WHERE entity = 'api';
UPDATE code SET body = 'Reads a line.' WHERE id = 1;
SELECT entity, summary IS NULL AS due FROM summaries ORDER BY 1, 2;
SELECT * FROM cft_rollup();
SELECT entity, summary, seen FROM summaries ORDER BY entity;
SELECT cft_summarize_extractive('x', '{a,b,c,d}', ARRAY['One. Two.', NULL, '  Is it? Yes.', repeat('long ', 100)]), cft_summarize_extractive('x', '{}', '{}'), length(cft_summarize_extractive('x', '{}', array_fill(repeat('y', 150), ARRAY[20])));
INSERT INTO files VALUES ('docs', 'faq.md'), ('docs', NULL);
INSERT INTO files VALUES ('docs', 'docs');
BEGIN;
DELETE FROM files WHERE child = 'put.c';
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
ROLLBACK;
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
SELECT summarized FROM cft_rollup(k => 1);
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
SELECT summarized FROM cft_rollup();
-- What has no children any more is a leaf: nobody waits for it, and its old summary is not used.
BEGIN;
INSERT INTO files VALUES ('docs', 'more.md');
DELETE FROM files WHERE parent = 'docs';
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
SELECT entity, sources, inputs FROM cft_rollup_next(9);
ROLLBACK;
-- Who takes an entity leaves it one mark of several, even if there is no summary in the end, and two more where he has changed it himself; a mark that is
-- gone is no claim.
BEGIN;
INSERT INTO files VALUES ('docs', 'b.md');
INSERT INTO files VALUES ('docs', 'c.md');
SELECT entity, count(*) FROM summaries WHERE summary IS NULL GROUP BY 1 ORDER BY 1;
SELECT entity FROM cft_rollup_next(9);
SELECT entity, count(*) FROM summaries WHERE summary IS NULL GROUP BY 1 ORDER BY 1;
DELETE FROM summaries WHERE summary IS NULL AND entity = 'docs';
SELECT cft_rollup_done('docs', 'of a mark that is gone');
ROLLBACK;
-- A mark by hand, of an entity alone too: what is above follows.
SELECT cft_rollup_mark('{src,nobody,main.c}');
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
SELECT summarized FROM cft_rollup();
INSERT INTO summaries (entity) VALUES ('api'), ('nobody'), ('main.c'), (NULL);
SELECT summarized FROM cft_rollup();
-- What a worker has marked himself he leaves due: another may be at it by a mark that he does not see.
SELECT DISTINCT entity FROM summaries WHERE summary IS NULL ORDER BY 1;
SELECT summarized FROM cft_rollup();
SELECT DISTINCT entity FROM summaries WHERE summary IS NULL ORDER BY 1;
DELETE FROM summaries WHERE summary IS NULL;
SELECT summarized FROM cft_rollup();
-- A function for each: whatever is in the database.
CREATE FUNCTION shout(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE sql AS $$ SELECT upper(entity) || cardinality(sources) $$;
CREATE FUNCTION measure(said text) RETURNS vector LANGUAGE sql AS $$ SELECT ARRAY[length(said), 1]::vector $$;
CREATE FUNCTION nothing(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE sql AS $$ SELECT NULL::text $$;
SELECT cft_rollup_mark('{repo,src}');
SELECT * FROM cft_rollup('shout(text,text[],text[])', 'measure(text)');
SELECT entity, summary, embedding FROM summaries WHERE entity IN ('repo', 'src') ORDER BY 1;
SELECT cft_rollup_mark('{repo}');
SELECT cft_rollup('nothing(text,text[],text[])');
SELECT cft_rollup('measure(text)');
SELECT cft_rollup('shout(text,text[],text[])', 'shout(text,text[],text[])');
SELECT cft_rollup('no_such_function(text)');
CREATE FUNCTION number(said text) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION other_name(name, text[], text[]) RETURNS text LANGUAGE sql AS $$ SELECT $1::text $$;
CREATE FUNCTION many(text, text[], text[]) RETURNS SETOF text LANGUAGE sql AS $$ SELECT $1 $$;
CREATE PROCEDURE act(text, text[], text[]) LANGUAGE sql AS $$ SELECT $1 $$;
CREATE FUNCTION wide(said text) RETURNS vector LANGUAGE sql AS $$ SELECT '[1,2,3]'::vector $$;
SELECT cft_rollup(embedder => 'number(text)');
SELECT cft_rollup('other_name(name,text[],text[])');
SELECT cft_rollup('many(text,text[],text[])');
SELECT cft_rollup('act(text,text[],text[])');
SELECT cft_rollup(embedder => 'wide(text)');
DROP FUNCTION number, other_name, many, wide;
DROP PROCEDURE act;
-- An error of the function is the call's: nothing of it stays. Calls with n keep what they did.
CREATE FUNCTION moody(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF entity = 'repo' THEN RAISE EXCEPTION 'no word about %', entity USING ERRCODE = '22023'; END IF;
    RETURN entity;
END $$;
BEGIN;
SELECT cft_rollup_mark('{src}');
SAVEPOINT here;
SELECT cft_rollup('moody(text,text[],text[])');
ROLLBACK TO here;
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
SELECT summarized FROM cft_rollup('moody(text,text[],text[])', k => 1);
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
ROLLBACK;
DROP FUNCTION moody;
SELECT cft_rollup(NULL);
SELECT cft_rollup(k => -1);
SELECT cft_rollup_next(-1);
SELECT cft_rollup_next(NULL);
SELECT cft_rollup_done(NULL, 'x');
SELECT cft_rollup_done('repo', NULL);
-- With embeddings they serve a search.
SELECT cft_attach_embeddings('summaries');
SELECT entity, text FROM cft_tree_search('[1,0]', mode => 'beam', beam => 1);
-- The registration follows renames; it is transactional; a column that is needed is not dropped.
ALTER TABLE summaries RENAME TO "Sum 'maries";
ALTER TABLE "Sum 'maries" RENAME entity TO "%I";
ALTER TABLE "Sum 'maries" RENAME summary TO "a ""summary""";
ALTER TABLE files RENAME TO "fi les";
ALTER TABLE code RENAME entity TO "who's";
SELECT summarized FROM cft_rollup();
UPDATE code SET body = 'Reads two lines.' WHERE id = 1;
SELECT "%I", "a ""summary""" FROM "Sum 'maries" ORDER BY 1, 2;
SELECT summarized FROM cft_rollup();
\set VERBOSITY terse
ALTER TABLE "Sum 'maries" DROP COLUMN "a ""summary""";
\set VERBOSITY default
ALTER TABLE "Sum 'maries" RENAME TO summaries;
ALTER TABLE summaries RENAME "%I" TO entity;
ALTER TABLE summaries RENAME "a ""summary""" TO summary;
ALTER TABLE "fi les" RENAME TO files;
ALTER TABLE code RENAME "who's" TO entity;
TRUNCATE code;
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
BEGIN;
TRUNCATE files;
SELECT * FROM cft_rollup();
ROLLBACK;
BEGIN;
DROP TABLE summaries;
INSERT INTO files VALUES ('docs', 'more.md');
SELECT cft_rollup_next();
ROLLBACK;
BEGIN;
SELECT cft_detach('files');
INSERT INTO files VALUES ('docs', 'more.md');
ROLLBACK;
SELECT cft_detach('summaries');
SELECT count(*) FROM pg_trigger WHERE tgfoid = 'cftrag_internal.cft_rollup_changed'::regproc;
INSERT INTO files VALUES ('docs', 'more.md');
SELECT cft_rollup_next();
-- Leaves too, as the paper has it; embeddings are no part of it then.
DELETE FROM summaries;
SELECT cft_attach_summaries('summaries', leaves => true);
SELECT cft_attach_embeddings('summaries');
SELECT * FROM cft_rollup_status();
SELECT summarized FROM cft_rollup();
SELECT * FROM cft_rollup_status();
BEGIN;
SELECT cft_rollup_mark('{intro.md}');
SELECT entity FROM cft_rollup_next();
SELECT cft_rollup_done('intro.md', 'x', '[1,0]');
ROLLBACK;
-- What is above is found as the owner of the edges, marks are written as the owner of the summaries: who writes to the edges needs no right on the
-- summaries, nor SELECT on the edges, nor any on the edges of a view; and runs nothing of that owner's. A worker needs SELECT, UPDATE and DELETE.
CREATE ROLE regress_cft_writer;
GRANT INSERT ON files TO regress_cft_writer;
CREATE VIEW files_view AS SELECT * FROM files;
CREATE ROLE regress_cft_viewer;
GRANT INSERT ON files_view TO regress_cft_viewer;
CREATE FUNCTION tell_who() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE WARNING 'a mark of %: as owner %, search_path %', NEW.entity, current_user = (SELECT c.relowner::regrole::text FROM pg_class AS c WHERE c.oid = TG_RELID), current_setting('search_path');
    PERFORM set_config('cft.told', 'by the owner', false);
    RETURN NEW; END $$;
CREATE TRIGGER tell BEFORE INSERT ON summaries FOR EACH ROW EXECUTE FUNCTION tell_who();
SET ROLE regress_cft_writer;
INSERT INTO files VALUES ('docs', 'deep.md');
SET ROLE regress_cft_viewer;
INSERT INTO files_view VALUES ('docs', 'deeper.md');
INSERT INTO files VALUES ('docs', 'deeper.md');
SELECT coalesce(current_setting('cft.told', true), '') AS told;
-- By themselves they mark nothing.
SELECT cft_rollup_mark('{repo}', 'files');
SELECT cftrag_internal.cft_rollup_insert('summaries', 'entity', '{repo}');

-- A trigger without transition tables would read what is called as they are.
CREATE TEMP VIEW cft_new AS SELECT 'repo'::text AS parent, 'x'::text AS child FROM (SELECT current_setting('cft.none')) AS z;
RESET ROLE;
BEGIN;
GRANT TRIGGER ON files TO regress_cft_viewer;
SET LOCAL ROLE regress_cft_viewer;
CREATE TRIGGER forged AFTER INSERT ON files FOR EACH STATEMENT EXECUTE FUNCTION cftrag_internal.cft_rollup_changed();
INSERT INTO files_view VALUES ('docs', 'deepest.md');
ROLLBACK;
BEGIN;
GRANT TRIGGER ON files TO regress_cft_viewer;
SET LOCAL ROLE regress_cft_viewer;
CREATE TRIGGER forged AFTER INSERT ON files REFERENCING NEW TABLE AS other FOR EACH STATEMENT EXECUTE FUNCTION cftrag_internal.cft_rollup_changed();
INSERT INTO files_view VALUES ('docs', 'deepest.md');
ROLLBACK;
BEGIN;
CREATE TRIGGER forged AFTER INSERT ON files FOR EACH ROW EXECUTE FUNCTION cftrag_internal.cft_rollup_changed();
INSERT INTO files VALUES ('docs', 'deepest.md');
ROLLBACK;
SELECT cftrag_internal.cft_rollup_changed();
-- TRIGGER on a table is not the right to have it written as its owner: that it holds summaries is to be ENABLE ALWAYS, which is the owner's to say.
CREATE TABLE ledger(entity text, summary text);
CREATE TABLE their_files(parent text, child text);
ALTER TABLE their_files OWNER TO regress_cft_viewer;
GRANT TRIGGER ON ledger TO regress_cft_viewer;
SET ROLE regress_cft_viewer;
SELECT cft_attach('their_files');
CREATE CONSTRAINT TRIGGER s AFTER UPDATE OF entity, summary ON ledger FROM their_files NOT DEFERRABLE FOR EACH ROW WHEN (false)
    EXECUTE FUNCTION cftrag_internal.cft_summaries('entity', 'summary');
CREATE TRIGGER w AFTER INSERT ON their_files REFERENCING NEW TABLE AS cft_new FOR EACH STATEMENT EXECUTE FUNCTION cftrag_internal.cft_rollup_changed();
INSERT INTO their_files VALUES ('a', 'b');
SELECT cft_rollup_mark('{a}', 'their_files');
ALTER TABLE ledger ENABLE ALWAYS TRIGGER s;
SELECT cftrag_internal.cft_set_columns('ledger', 'their_files', 'cftrag_internal.cft_summaries()', '{entity,summary}', '{entity,summary}');
RESET ROLE;
SELECT count(*) FROM ledger;
-- The owner's own, after DISABLE and ENABLE TRIGGER: it is said what to do.
BEGIN;
ALTER TABLE ledger ENABLE ALWAYS TRIGGER s;
INSERT INTO their_files VALUES ('a', 'c');
SELECT entity FROM ledger ORDER BY entity;
ALTER TABLE ledger DISABLE TRIGGER ALL;
ALTER TABLE ledger ENABLE TRIGGER ALL;
INSERT INTO their_files VALUES ('a', 'd');
ROLLBACK;
-- Long arguments are no registration, and are not copied.
CREATE CONSTRAINT TRIGGER long AFTER UPDATE OF entity, summary ON ledger FROM their_files NOT DEFERRABLE FOR EACH ROW WHEN (false)
    EXECUTE FUNCTION cftrag_internal.cft_summaries('entity', 'summary', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx');
DROP TRIGGER s ON ledger;
ALTER TABLE ledger ENABLE ALWAYS TRIGGER long;
BEGIN;
INSERT INTO their_files VALUES ('a', 'long');
SELECT count(*) > 0 AS short_enough FROM ledger;
ROLLBACK;
DROP TRIGGER long ON ledger;
SELECT format('CREATE CONSTRAINT TRIGGER long AFTER UPDATE OF entity, summary ON ledger FROM their_files NOT DEFERRABLE FOR EACH ROW WHEN (false) EXECUTE FUNCTION cftrag_internal.cft_summaries(''entity'', ''summary'', %L)', repeat('x', 2000)) \gexec
ALTER TABLE ledger ENABLE ALWAYS TRIGGER long;
BEGIN;
INSERT INTO their_files VALUES ('a', 'longer');
SELECT count(*) AS marks FROM ledger;
ROLLBACK;
DROP TRIGGER long ON ledger;
CREATE CONSTRAINT TRIGGER s AFTER UPDATE OF entity, summary ON ledger FROM their_files NOT DEFERRABLE FOR EACH ROW WHEN (false)
    EXECUTE FUNCTION cftrag_internal.cft_summaries('entity', 'summary');
-- Forced row-level security binds no mark, as it binds no foreign key's check: neither the owners' own, nor a writer with row_security off.
BEGIN;
ALTER TABLE ledger ENABLE ALWAYS TRIGGER s;
INSERT INTO their_files VALUES ('top', 'a');
DELETE FROM ledger;
ALTER TABLE ledger ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE their_files ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SET LOCAL row_security = off;
INSERT INTO their_files VALUES ('a', 'e');
SELECT entity FROM ledger ORDER BY entity;
ROLLBACK;
-- Their owner's other policies bind it: no plan is used that was made past them.
BEGIN;
ALTER TABLE ledger ENABLE ALWAYS TRIGGER s;
ALTER TABLE their_files ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY part ON their_files USING (child <> 'b') WITH CHECK (true);
SET LOCAL ROLE regress_cft_viewer;
INSERT INTO their_files VALUES ('a', 'f');
SELECT relative FROM cft_context('{a}'::text[], 1, 8, 'their_files') ORDER BY relative;
ROLLBACK;
-- What is temporary is no other session's.
BEGIN;
SELECT cft_detach('summaries');
CREATE TEMP TABLE passing(entity text, summary text);
SELECT cft_attach_summaries('passing', edges => 'files');
ROLLBACK;
-- A change of owner that ends the trust is told to who asks for the summaries, not to all who write.
BEGIN;
ALTER TABLE ledger ENABLE ALWAYS TRIGGER s;
ALTER TABLE ledger OWNER TO regress_cft_writer;
INSERT INTO their_files VALUES ('a', 'g');
SELECT due FROM cft_rollup_status('their_files');
ROLLBACK;
DROP TABLE ledger, their_files;
DROP TRIGGER tell ON summaries;
DROP FUNCTION tell_who;
DROP VIEW files_view;
DROP OWNED BY regress_cft_viewer;
DROP ROLE regress_cft_viewer;
-- Such a trigger of the owner is not put off to the writer's COMMIT.
BEGIN;
SELECT cft_detach('summaries');
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON summaries INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT cft_attach_summaries('summaries', edges => 'files');
ROLLBACK;
DELETE FROM files WHERE child = 'deeper.md';
GRANT SELECT, UPDATE, DELETE ON files TO regress_cft_writer;
SET ROLE regress_cft_writer;
SELECT cft_rollup_next(1, 'files');
SELECT cft_attach_summaries('summaries', edges => 'files');
SELECT cft_detach('summaries');
DELETE FROM files WHERE child = 'guide.md';
RESET ROLE;
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
GRANT SELECT, UPDATE, DELETE ON summaries TO regress_cft_writer;
-- Where policies hide the way up from the writer, the owner of the edges sees it.
SELECT summarized FROM cft_rollup();
ALTER TABLE files ENABLE ROW LEVEL SECURITY;
CREATE POLICY part ON files TO regress_cft_writer USING (parent <> 'repo');
SET ROLE regress_cft_writer;
INSERT INTO files VALUES ('api', 'list.c');
RESET ROLE;
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
SELECT summarized FROM cft_rollup();
-- Policies hide from a worker what is not his to summarise.
SELECT cft_rollup_mark('{api,docs}');
SET ROLE regress_cft_writer;
BEGIN;
SELECT entity, sources FROM cft_rollup_next(10, 'files');
ROLLBACK;
RESET ROLE;
BEGIN;
ALTER POLICY part ON files USING (parent <> 'repo' AND child <> 'put.c');
SET LOCAL ROLE regress_cft_writer;
SELECT entity, sources, inputs FROM cft_rollup_next(10, 'files') WHERE entity = 'api';
-- To take, and to say what is done, he needs UPDATE on the summaries.
SET LOCAL ROLE NONE;
REVOKE UPDATE ON summaries FROM regress_cft_writer;
SET LOCAL ROLE regress_cft_writer;
SAVEPOINT here;
SELECT cft_rollup_next(10, 'files');
ROLLBACK TO here;
SELECT cft_rollup_done('api', 'x', edges => 'files');
ROLLBACK;
-- A summarizer runs with the rights of who calls cft_rollup, and sees what he sees.
CREATE FUNCTION whoami(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' ', entity, 'by', current_user, sources) $$;
BEGIN;
GRANT UPDATE, DELETE ON summaries TO regress_cft_writer;
GRANT INSERT ON summaries TO regress_cft_writer;
SET LOCAL ROLE regress_cft_writer;
SELECT summarized FROM cft_rollup('whoami(text,text[],text[])', edges => 'files');
SELECT entity, summary FROM summaries WHERE summary LIKE '%regress%' ORDER BY 1;
SELECT * FROM cft_rollup_status('files');
ROLLBACK;
-- Policies on the summaries: marks that are not his to see he does not take.
BEGIN;
ALTER TABLE summaries ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON summaries TO regress_cft_writer USING (entity <> 'docs');
SET LOCAL ROLE regress_cft_writer;
SELECT entity FROM cft_rollup_next(10, 'files');
ROLLBACK;
-- Without SELECT on the edges there is nothing to take, to mark or to count.
REVOKE SELECT ON files FROM regress_cft_writer;
SET ROLE regress_cft_writer;
SELECT cft_rollup_next(10, 'files');
SELECT cft_rollup_mark('{api}', 'files');
SELECT cft_rollup_status('files');
RESET ROLE;
DROP FUNCTION whoami;
-- It can be cancelled.
CREATE FUNCTION slow(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN 'slow'; END $$;
SET statement_timeout = '200ms';
SELECT cft_rollup('slow(text,text[],text[])');
RESET statement_timeout;
SELECT string_agg(DISTINCT entity, ', ' ORDER BY entity) AS due FROM summaries WHERE summary IS NULL;
-- No search_path of the caller's is searched, but by his own functions.
UPDATE summaries SET embedding = '[1,0.1]';
CREATE SCHEMA trap;
CREATE FUNCTION trap.boom() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION trap.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.boom()::boolean';
CREATE OPERATOR trap.= (FUNCTION = trap.same, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR trap.~ (FUNCTION = trap.same, LEFTARG = text, RIGHTARG = text);
CREATE FUNCTION trap.near(vector, vector) RETURNS float8 LANGUAGE sql AS 'SELECT trap.boom()::float8';
CREATE OPERATOR trap.<=> (FUNCTION = trap.near, LEFTARG = vector, RIGHTARG = vector);
CREATE FUNCTION trap.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.regexp_replace(text, text, text, text) RETURNS text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.cft_context(text[], int, int, regclass) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.cft_rollup_next(int, regclass) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.cft_path_prefix(text[], regclass, text[], text) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.boom()';
SET search_path = trap, pg_catalog, public;
SELECT public.cft_rollup_mark('{repo}', 'files');
SELECT r.summarized FROM public.cft_rollup('public.shout(text,text[],text[])', edges => 'files') AS r;
SELECT count(*) > 0 AS searched FROM public.cft_tree_search('[1,0]'::public.vector, edges => 'files');
SELECT count(*) > 0 AS expanded FROM public.cft_expand('{get.c,del.c}', edges => 'files');
SELECT count(*) > 0 AS bridged FROM public.cft_bridge('{get.c,del.c}', edges => 'files');
SELECT count(*) > 0 AS found FROM public.cft_coarse_fine('[1,0]'::public.vector, edges => 'files');
SELECT public.cft_path_prefix('get.c', 'files');
RESET search_path;
DROP SCHEMA trap CASCADE;
SELECT cft_rollup_mark('{repo}');
-- Errors.
SELECT cft_attach_summaries(NULL);
SELECT cft_attach_summaries('summaries', summary => 'entity');
SELECT cft_attach_summaries('summaries', summary => 'nothing');
SELECT cft_attach_summaries('summaries', summary => 'seen');
SELECT cft_attach_summaries('summaries', embedding => 'seen');
SELECT cft_attach_summaries('summaries', edges => 'code');
SELECT cft_attach_summaries('files');
SELECT cft_attach_summaries('summaries', documents => 'files');
CREATE TABLE another (entity text, summary text);
SELECT cft_attach_summaries('another');
-- A mark is a row with an entity only, beside the summary: what would refuse it is refused, not the next change of an edge.
CREATE TABLE unlike (entity text PRIMARY KEY, summary text DEFAULT '', must int NOT NULL, may int NOT NULL DEFAULT 1, id int GENERATED ALWAYS AS IDENTITY, made text GENERATED ALWAYS AS ('x') STORED);
BEGIN;
SELECT cft_detach('summaries');
SAVEPOINT here;
SELECT cft_attach_summaries('unlike', entity => 'made');
ROLLBACK TO here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
ALTER TABLE unlike ALTER summary DROP DEFAULT, ALTER summary SET NOT NULL;
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
ALTER TABLE unlike ALTER summary DROP NOT NULL;
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
ALTER TABLE unlike ALTER must DROP NOT NULL;
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
ALTER TABLE unlike DROP CONSTRAINT unlike_pkey;
ALTER TABLE unlike ALTER entity DROP NOT NULL;
CREATE UNIQUE INDEX one_mark ON unlike (entity) WHERE summary IS NULL;
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
DROP INDEX one_mark;
-- Unique beside what is the same in every mark, in whatever form.
CREATE UNIQUE INDEX one_kind ON unlike (entity, may);
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
DROP INDEX one_kind;
CREATE UNIQUE INDEX one_form ON unlike (lower(entity), made);
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
DROP INDEX one_form;
CREATE UNIQUE INDEX one_null ON unlike (must, entity) NULLS NOT DISTINCT;
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
DROP INDEX one_null;
ALTER TABLE unlike ADD day date DEFAULT CURRENT_DATE, ADD CONSTRAINT one_day EXCLUDE (entity WITH =, day WITH =);
SAVEPOINT here;
SELECT cft_attach_summaries('unlike');
ROLLBACK TO here;
ALTER TABLE unlike DROP CONSTRAINT one_day;
-- Not beside what is not.
ALTER TABLE unlike ADD at timestamptz DEFAULT clock_timestamp();
CREATE UNIQUE INDEX ON unlike (entity, id);
CREATE UNIQUE INDEX ON unlike (entity, must);
CREATE UNIQUE INDEX ON unlike (entity, at);
CREATE UNIQUE INDEX ON unlike (may, lower(entity), id);
CREATE UNIQUE INDEX ON unlike (id) INCLUDE (entity);
CREATE UNIQUE INDEX ON unlike (entity, summary);
CREATE UNIQUE INDEX ON unlike (entity) WHERE summary IS NOT NULL;
SELECT cft_attach_summaries('unlike');
SELECT summarized > 0 AS summarized FROM cft_rollup();
INSERT INTO files VALUES ('docs', 'more.md');
INSERT INTO files VALUES ('docs', 'more still.md');
SELECT summarized FROM cft_rollup();
ROLLBACK;
DROP TABLE unlike;
CREATE VIEW looking AS TABLE another;
SELECT cft_attach_summaries('looking');
SELECT cft_detach('another');
CREATE TRIGGER wrong BEFORE INSERT ON another FOR EACH ROW EXECUTE FUNCTION cftrag_internal.cft_rollup_changed();
INSERT INTO another VALUES ('x');
SELECT set_config('cft_rollup.taken', 'no json', false);
SELECT cft_rollup_next(edges => 'files');
RESET cft_rollup.taken;
DROP TABLE files, code, summaries, another CASCADE;
DROP FUNCTION shout, measure, nothing, slow;
DROP ROLE regress_cft_writer;

-- Three trees make a ring in which no tree has a cycle: each is above each.
CREATE TABLE ring (tree text, parent text, child text);
INSERT INTO ring VALUES ('1', 'a', 'b'), ('2', 'b', 'c'), ('3', 'c', 'a'), ('1', 'top', 'a'), ('2', 'c', 'leaf');
SELECT cft_attach('ring', tree => 'tree');
CREATE TABLE told (entity text, summary text);
SELECT cft_attach_summaries('told');
SELECT summarized FROM cft_rollup();
SELECT entity, summary FROM told ORDER BY 1;
DELETE FROM ring WHERE tree = '2' AND child = 'c';
SELECT summarized FROM cft_rollup();
SELECT entity, summary FROM told ORDER BY 1;
-- Who changes and rolls up in one transaction has the summaries, and leaves them due: to others his change is not there yet.
BEGIN;
INSERT INTO ring VALUES ('1', 'b', 'new');
SELECT summarized FROM cft_rollup();
SELECT entity, count(*) FROM told WHERE summary IS NULL GROUP BY 1 ORDER BY 1;
SELECT entity, summary FROM told WHERE summary IS NOT NULL ORDER BY 1;
SELECT summarized FROM cft_rollup();
COMMIT;
SELECT summarized FROM cft_rollup();
SELECT due FROM cft_rollup_status();
DROP TABLE ring, told;

-- Without an embedder: the average of the documents of the subtree, kept fresh; what has none has none. By a mapping, and of other dimensions: none.
CREATE TABLE parts (parent text, child text);
INSERT INTO parts VALUES ('car', 'engine'), ('car', 'wheel'), ('engine', 'piston'), ('engine', 'valve'), ('wheel', 'tyre'), ('car', 'empty'), ('empty', 'void');
SELECT cft_attach('parts');
CREATE TABLE manual (id int, body text, embedding vector(2), entity text);
INSERT INTO manual VALUES (1, 'p', '[1,0]', 'piston'), (2, 'v', '[0,1]', 'valve'), (3, 't', '[4,4]', 'tyre'), (4, 't', NULL, 'tyre'), (5, 'e', '[2,2]', 'engine');
SELECT cft_attach_documents('manual', entity => 'entity');
CREATE TABLE centroids (entity text, summary text, embedding vector(2));
SELECT cft_attach_summaries('centroids', embedding => 'embedding', edges => 'parts', documents => 'manual', leaves => true);
SELECT summarized FROM cft_rollup(edges => 'parts');
CREATE VIEW centroids_wrong AS SELECT c.entity, c.embedding, z.avg FROM centroids AS c, LATERAL (SELECT avg(m.embedding) FROM manual AS m WHERE cft_under(m.entity, c.entity, 'parts')) AS z WHERE c.summary IS NOT NULL AND c.embedding IS DISTINCT FROM z.avg;
SELECT entity, embedding FROM centroids ORDER BY entity;
SELECT * FROM centroids_wrong;
UPDATE manual SET body = 'new', embedding = '[9,0]' WHERE id = 1;
DELETE FROM parts WHERE child = 'tyre';
SELECT entity FROM centroids_wrong ORDER BY 1;
SELECT summarized > 0 AS some FROM cft_rollup(edges => 'parts');
SELECT * FROM centroids_wrong;
-- New embeddings alone make nothing due: no model is to write all summaries again for them.
UPDATE manual SET embedding = '[7,0]' WHERE id = 2;
SELECT entity FROM centroids_wrong ORDER BY 1;
SELECT cft_rollup_mark('{valve}', edges => 'parts');
SELECT summarized FROM cft_rollup(edges => 'parts');
SELECT * FROM centroids_wrong;
-- They lead a descent, whose results then have these embeddings.
SELECT cft_attach_embeddings('centroids', edges => 'parts');
SELECT entity, depth FROM cft_tree_search('[1,0]', mode => 'beam', beam => 1, edges => 'parts', documents => 'manual');
SELECT cft_detach('centroids');
CREATE TABLE wider (entity text, summary text, embedding vector(3));
SELECT cft_attach_summaries('wider', embedding => 'embedding', edges => 'parts', documents => 'manual');
SELECT summarized FROM cft_rollup(edges => 'parts');
SELECT count(*), count(embedding) FROM wider;
DROP VIEW centroids_wrong;
DROP TABLE wider, centroids, manual, parts;
