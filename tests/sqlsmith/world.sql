-- What sqlsmith plays with: a small attached table with a tree, labels, aliases, documents, embeddings and summaries, and a view over every
-- set-returning function, since sqlsmith calls scalar functions only. Owned by the role sqlsmith, which is no superuser. For an empty database.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;

CREATE EXTENSION cftrag CASCADE;
DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sqlsmith') THEN CREATE ROLE sqlsmith LOGIN; END IF; END $$;
SELECT format('ALTER DATABASE %I SET search_path = sees, pg_catalog, smith, public', current_database()),
       format('ALTER DATABASE %I SET track_functions = ''all''', current_database()),
       -- Small tables get parallel plans too.
       format('ALTER DATABASE %I SET parallel_setup_cost = 0', current_database()),
       format('ALTER DATABASE %I SET parallel_tuple_cost = 0', current_database()),
       format('ALTER DATABASE %I SET min_parallel_table_scan_size = 0', current_database()) \gexec
-- A crash empties an unlogged table.
CREATE UNLOGGED TABLE public.since_the_start AS SELECT 1 AS one;

CREATE SCHEMA smith AUTHORIZATION sqlsmith;

-- sqlsmith takes polymorphic types for types like others, and most of its statements fail for those of ranges. So it does not see their operators,
-- which are missing in this database; and of the functions, which it reads by this name, those of types that ours have too.
SET allow_system_table_mods = on;
DELETE FROM pg_catalog.pg_operator WHERE ARRAY[oprleft, oprright]::regtype[] && '{anyrange,anymultirange,anyenum}';
RESET allow_system_table_mods;
CREATE SCHEMA sees;
GRANT USAGE ON SCHEMA sees TO sqlsmith;
CREATE VIEW sees.pg_proc AS
    SELECT * FROM pg_catalog.pg_proc AS p
     WHERE pg_catalog.has_function_privilege('sqlsmith', p.oid, 'EXECUTE') AND p.proname !~ '^pg_(sleep|advisory|try_advisory|cancel|terminate|notify|stat_clear)'
       AND NOT EXISTS (SELECT FROM unnest(p.proargtypes || p.prorettype) AS t
                        WHERE t <> ALL (ARRAY['text', 'text[]', 'name', 'integer', 'bigint', 'bigint[]', 'float8', 'numeric', 'boolean', 'jsonb', 'uuid', 'uuid[]', 'vector',
                                              'regclass', 'regprocedure', 'tid', 'tid[]', 'void']::regtype[]::oid[]));
GRANT SELECT ON sees.pg_proc TO sqlsmith;

SET SESSION AUTHORIZATION sqlsmith;
SET search_path = smith, public;

CREATE TABLE edges (parent text, child text, tree text);
INSERT INTO edges SELECT 'n' || i / 3, 'n' || i, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'oak' ELSE 'elm' END FROM generate_series(1, 40) AS i;
INSERT INTO edges VALUES ('n30', 'n1', 'oak'), ('n5', 'n2', 'oak'), (NULL, 'n50', 'elm'), ('', 'n51', 'elm'), ('1', '2', NULL), (md5('1')::uuid::text, md5('2')::uuid::text, 'elm');
CREATE TABLE labels (entity text, label text);
INSERT INTO labels SELECT 'n' || i, 'label ' || i FROM generate_series(0, 20, 2) AS i;
CREATE TABLE aliases (alias text, entity text);
INSERT INTO aliases SELECT 'alias ' || i, 'n' || i FROM generate_series(0, 20, 5) AS i;
CREATE TABLE documents (id int PRIMARY KEY, body text, embedding vector(3), entity text, meta jsonb DEFAULT '{"a": 1}', words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
INSERT INTO documents SELECT i, 'label ' || i % 20 || ' is a kind of n' || i % 7, ARRAY[i, 1, i % 3]::vector, 'n' || i % 10 FROM generate_series(1, 20) AS i;
CREATE TABLE embeddings (entity text, embedding vector(3));
INSERT INTO embeddings SELECT 'n' || i, ARRAY[1, i, i % 3]::vector FROM generate_series(0, 20) AS i;
CREATE TABLE summaries (entity text, summary text, embedding vector(3));
INSERT INTO summaries SELECT 'n' || i, 'about n' || i, ARRAY[i, i, 1]::vector FROM generate_series(1, 5) AS i;
ANALYZE edges, labels, aliases, documents, embeddings, summaries;

SELECT cft_attach('edges', tree => 'tree'), cft_attach_labels('labels', 'entity', 'label'), cft_attach_aliases('aliases'),
    cft_attach_documents('documents', entity => 'entity', metadata => 'meta', search => 'words'), cft_attach_embeddings('embeddings'), cft_attach_summaries('summaries', embedding => 'embedding') \g /dev/null
SELECT cft_build('edges') \g /dev/null

-- A row has an argument of each type. The first rows are what one would ask; then odd values.
CREATE TABLE asked (asked int PRIMARY KEY, name text, other text, question text, names text[], trees text[], id bigint, ids bigint[], uuid uuid, uuids uuid[],
    embedding vector, few int, share float8, flag boolean, relation regclass, retrieval text, search text,
    direction text);
INSERT INTO asked VALUES
    (1, 'n1', 'n13', 'is label 2 under n5 or Alias 10? n1 is a kind of n2', '{n1,n2,n5}', '{oak}', 1, '{1,2}', md5('1')::uuid, ARRAY[md5('1')::uuid], '[1,0,1]',
        2, 0.3, true, 'edges', 'cft', 'prune', 'both'),
    (2, 'n5', 'n30', 'Mammals such as n1''s, n2-n3', '{n30,n31}', NULL, 2, '{2}', md5('2')::uuid, ARRAY[md5('2')::uuid], '[3,1,0]',
        3, 0.2, false, NULL, 'hybrid', 'beam', 'up'),
    (3, 'label 2', 'alias 5', 'n12', '{n1,NULL,"",nobody}', '{oak,elm,""}', 3, '{}', NULL, NULL, '[0,0,0]', 1, 0, true, 'edges', 'ann_tree', 'collapsed', 'down'),
    (4, '', '', '', '{}', '{}', 0, '{NULL}', NULL, '{}', '[-1,2,0]', 0, 1, NULL, 'documents', 'nothing', '', ''),
    (5, NULL, 'n1', NULL, NULL, '{nowhere}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'asked', NULL, NULL, NULL),
    (6, repeat('n', 3000), E'n1\n"', repeat('n1 label 2 ', 200), '{{n1,n2},{n3,n4}}', '{{oak},{elm}}', -1, '{1,1,1}', NULL, NULL, '[1e30,1,1]',
        2147483647, 'NaN', true, 'edges', 'naive', 'prune', 'both'),
    (7, 'n40', 'n0', 'n40 n39', '{n40}', '{NULL}', 9223372036854775807, NULL, NULL, NULL, '[1,1,1]', -1, '-Infinity', true, NULL, 'ann_graph', 'beam', 'up');

-- For each set-returning function two views: with the arguments that it needs, asked of every row; and with all of them, asked of the rows
-- that one would ask, so that a view gives rows.
DO $views$
DECLARE f record; needs text; every text; wanted text[]; n int := 0;
BEGIN
    FOR f IN
        SELECT p.oid, p.proname, p.pronargs, p.pronargdefaults, p.proargnames, p.proargtypes
          FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
          JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'cftrag'
         WHERE p.proretset AND p.pronamespace = 'public'::regnamespace
         ORDER BY p.oid::regprocedure::text COLLATE "C"
    LOOP
        n := n + 1;
        SELECT array_agg(CASE
                   WHEN t = 'regclass'::regtype THEN CASE name WHEN 'documents' THEN $$'documents'::regclass$$ ELSE $$'edges'::regclass$$ END
                   WHEN t = 'name'::regtype THEN CASE name WHEN 'a' THEN $$'parent'::name$$ WHEN 'b' THEN $$'child'::name$$ WHEN 'weight' THEN 'NULL::name' ELSE format('%L::name', name) END
                   WHEN t = 'regprocedure'::regtype THEN CASE name WHEN 'embedder' THEN 'NULL' ELSE format('%L::regprocedure', 'cft_summarize_extractive(text, text[], text[])') END
                   WHEN t = 'text'::regtype THEN
                       CASE WHEN name IN ('question', 'text') THEN 'q.question' WHEN name = 'direction' THEN 'q.direction'
                            WHEN name = 'mode' THEN CASE f.proname WHEN 'cft_tree_search' THEN 'q.search' ELSE 'q.retrieval' END WHEN name = 'b' THEN 'q.other'
                            WHEN name = 'separator' THEN $$' > '$$ ELSE 'q.name' END
                   WHEN t = 'text[]'::regtype THEN CASE name WHEN 'trees' THEN 'q.trees' ELSE 'q.names' END
                   ELSE CASE t WHEN 'bigint'::regtype THEN 'q.id' WHEN 'bigint[]'::regtype THEN 'q.ids' WHEN 'uuid'::regtype THEN 'q.uuid' WHEN 'uuid[]'::regtype THEN 'q.uuids'
                               WHEN 'vector'::regtype THEN 'q.embedding' WHEN 'integer'::regtype THEN 'q.few' WHEN 'float8'::regtype THEN 'q.share' WHEN 'boolean'::regtype THEN 'q.flag'
                               -- Embeddings of entities have no metadata.
                               WHEN 'jsonb'::regtype THEN CASE WHEN f.proname IN ('cft_nearest_entities', 'cft_tree_search') THEN 'NULL::jsonb' ELSE $$'{"a": 1}'::jsonb$$ END END
               END ORDER BY place)
          INTO wanted
          FROM unnest(f.proargtypes::regtype[], f.proargnames[:f.pronargs]) WITH ORDINALITY AS a(t, name, place);
        IF array_position(wanted, NULL) IS NOT NULL THEN RAISE 'world.sql has no value for an argument of %', f.oid::regprocedure; END IF;
        EXECUTE format('CREATE VIEW %I AS SELECT q.asked, f.* FROM asked AS q, %s(%s) AS f', 'ask_' || n || '_' || f.proname, f.proname,
                       array_to_string(wanted[:f.pronargs - f.pronargdefaults], ', '));
        CONTINUE WHEN f.pronargdefaults = 0;
        EXECUTE format('CREATE VIEW %I AS SELECT q.asked, f.* FROM asked AS q CROSS JOIN LATERAL %s(%s) AS f WHERE q.asked < 3', 'all_' || n || '_' || f.proname, f.proname,
                       array_to_string(wanted, ', '));
    END LOOP;
    IF n < 20 THEN RAISE 'world.sql finds % set-returning functions only', n; END IF;
END $views$;

-- What people build on them: joined with tables, aggregated, nested.
CREATE VIEW context_of_names AS
    SELECT e.child, e.tree AS of_tree, c.* FROM edges AS e, cft_context(e.child) AS c;
CREATE VIEW documents_above AS
    SELECT d.id, d.embedding, c.relative, c.depth, l.label FROM documents AS d CROSS JOIN LATERAL cft_context(d.entity, up => 2, down => 0) AS c LEFT JOIN labels AS l ON l.entity = c.relative;
CREATE VIEW mentions_in_context AS
    SELECT q.asked, m.mention, c.relation, c.relative FROM asked AS q, cft_entities(q.question) AS m, cft_context(m.entity) AS c;
CREATE VIEW counts AS
    SELECT c.entity, count(*) AS relatives, max(c.depth) AS depth, array_agg(c.relative) AS names FROM edges AS e, cft_context(ARRAY[e.parent, e.child]) AS c GROUP BY c.entity;
CREATE VIEW prompts AS
    SELECT q.asked, cft_prompt(q.question, q.embedding, k => 2) AS prompt, cft_context_text(q.name) AS text, cft_context_json(q.names) AS json FROM asked AS q WHERE q.asked < 3;
CREATE VIEW relations AS SELECT oid::regclass AS relation, relname AS name FROM pg_class WHERE relnamespace = 'smith'::regnamespace AND relkind = 'r';
