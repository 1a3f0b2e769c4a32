-- cft_retrieve, cft_prompt, cft_resolve: from a question to what belongs to it.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE tie (tree text, parent text, child text);
INSERT INTO tie VALUES ('organisation', 'Hospital', 'medicine'), ('organisation', 'medicine', 'cardiology'), ('organisation', 'cardiology', 'Heart Clinic'),
    ('building', 'east wing', 'Heart Clinic'), ('organisation', 'Heart Clinic', 'home monitoring'), ('organisation', 'medicine', 'nephrology'),
    ('cycle', 'egg', 'hen'), ('cycle', 'hen', 'egg');
CREATE TABLE paper (id int PRIMARY KEY, body text, embedding vector(3), entity text, size int);
INSERT INTO paper VALUES (1, 'Weigh yourself every morning.', '[0.9,0.1,0.2]', 'Heart Clinic', 7), (2, 'Dialysis is three times a week.', '[0.1,0.9,0.1]', 'nephrology', 8),
    (3, 'Groups train on Tuesdays.', '[0.6,0.1,0.7]', 'cardiology', 6), (4, 'The scales call us at night.', '[0.5,0.5,0.5]', 'home monitoring', 9),
    (5, 'Ask at the desk.', '[0.2,0.2,0.9]', 'Heart Clinic', 4), (6, 'Visitors are welcome.', '[0,0,1]', NULL, NULL);
SELECT cft_attach('tie', tree => 'tree');
SELECT oracle.build('tie');
-- Without documents, without an embedding: the hierarchy alone. Without an entity: nothing at all, no noise.
SELECT * FROM cft_retrieve('Where is the heart  clinic?', NULL);
SELECT * FROM cft_retrieve('Where is the dentist?', NULL);
SELECT * FROM cft_retrieve(NULL, NULL);
SELECT * FROM cft_retrieve('Where is the heart clinic?', '[1,0,0]');
SELECT cft_attach_documents('paper', entity => 'entity');
SELECT source, entity, document_id, rank, round(distance::numeric, 3) AS distance, text, tokens, why FROM cft_retrieve('Where is the heart clinic?', '[1,0,0.3]', k => 2);
SELECT source, document_id, text FROM cft_retrieve('Where is the dentist?', '[1,0,0.3]', k => 2);
SELECT source, document_id, text FROM cft_retrieve('heart clinic', NULL, k => 2, up => 1, down => 0);
SELECT source, document_id, text FROM cft_retrieve(NULL, '[1,0,0]', k => 1);
SELECT count(*) FROM cft_retrieve('heart clinic', '[1,0,0]', k => 0);
SELECT source, count(*) FROM cft_retrieve('heart clinic', '[1,0,0]', k => 1, chunks => 9) GROUP BY source ORDER BY source;
SELECT source, count(*) FROM cft_retrieve('heart clinic', '[1,0,0]', k => 1, chunks => 0) GROUP BY source ORDER BY source;

-- The modes: the same documents, another hierarchy.
SELECT source, entity, text, why FROM cft_retrieve('heart clinic and nephrology', '[1,0,0]', k => 1, mode => 'text');
SELECT (SELECT array_agg(text) FROM cft_retrieve('nephrology and heart clinic, hen', '[1,0,0]', mode => 'naive') WHERE source = 'hierarchy')
       = (SELECT array_agg(text) FROM cft_retrieve('nephrology and heart clinic', '[1,0,0]') WHERE source = 'hierarchy') AS same_but_for_cycles_without_a_root;
SELECT source, entity, text, why FROM cft_retrieve('the hen', '[1,0,0]', k => 2, mode => 'ann_tree', chunks => 0);
SELECT source, entity, text, why FROM cft_retrieve('the hen', '[1,0,0]', k => 2, mode => 'ann_graph', down => 2, chunks => 0);
SELECT * FROM cftrag_internal.cft_sentences_of_neighbors('{hen,egg,nobody}', 3, 'tie');

-- The plain definitions of the baselines' parts: what is reached from a root is what cft_context says; neighbours by a recursive query.
SELECT count(*) AS names, count(*) FILTER (WHERE EXISTS (SELECT FROM cftrag_internal.cft_found_by_search(ARRAY[name], 'tie'))
                                                 IS DISTINCT FROM EXISTS (SELECT FROM cft_context_parts(ARRAY[name], up, 1))) AS different
  FROM (SELECT parent FROM tie WHERE tree <> 'cycle' UNION SELECT child FROM tie WHERE tree <> 'cycle' UNION VALUES ('nobody')) AS s(name), generate_series(1, 3) AS up;
CREATE FUNCTION plain_neighbours(start text, hops int) RETURNS text LANGUAGE sql AS $$
    WITH RECURSIVE either (a, b) AS (SELECT parent, child FROM tie UNION SELECT child, parent FROM tie),
         reached (name, depth) AS (SELECT start, 0 UNION SELECT e.b, r.depth + 1 FROM reached AS r JOIN either AS e ON e.a = r.name WHERE r.depth < hops)
    SELECT format('The neighbours of %s within %s step%s are: %s.', start, hops, CASE WHEN hops > 1 THEN 's' ELSE '' END, string_agg(name, ', ' ORDER BY depth, name COLLATE "C"))
      FROM (SELECT name, min(depth) AS depth FROM reached WHERE name <> start GROUP BY name) AS n HAVING count(*) > 0 $$;
SELECT count(*) AS names, count(*) FILTER (WHERE (SELECT text FROM cftrag_internal.cft_sentences_of_neighbors(ARRAY[name], hops, 'tie')) IS DISTINCT FROM plain_neighbours(name, hops)) AS different
  FROM (SELECT parent FROM tie UNION SELECT child FROM tie UNION VALUES ('nobody')) AS s(name), generate_series(1, 4) AS hops;
DROP FUNCTION plain_neighbours;

-- The plain definition of mode cft, budget included. A list that goes on with those of a way that are not in it: all, or if that is not short, its end.
CREATE FUNCTION plain_on(list text[], way text[]) RETURNS text[] LANGUAGE sql AS $$
    SELECT CASE WHEN cardinality(beyond) > 1 AND cardinality(list) + cardinality(beyond) > 8 THEN list || '...'::text || beyond[cardinality(beyond)] ELSE list || beyond END
      FROM (SELECT coalesce(array_agg(w.name ORDER BY w.n), '{}') AS beyond FROM unnest(way) WITH ORDINALITY AS w(name, n) WHERE w.name <> ALL (list)) AS z $$;
-- The names from just above an entity to one above it.
CREATE FUNCTION plain_way(entity text, tree text, above text) RETURNS text[] LANGUAGE sql AS $$
    WITH RECURSIVE c AS MATERIALIZED (SELECT relative, via FROM cft_context($1, 64, 0) AS c WHERE c.tree IS NOT DISTINCT FROM $2),
         w(name, n) AS (SELECT above, 0 UNION ALL SELECT c.via, w.n + 1 FROM w JOIN c ON c.relative = w.name WHERE c.via <> $1)
    SELECT array_agg(w.name ORDER BY w.n DESC) FROM w $$;
-- The short words of a sentence that is in the paper's, as far as the name of its entity.
CREATE FUNCTION plain_start(text text) RETURNS text LANGUAGE sql AS $$
    SELECT replace(replace(replace(replace(regexp_replace(regexp_replace(text, ' (is|are): .*', ''), 'relationships of', 'relationship of'),
        'The upward hierarchical relationship of', 'Above'), 'the upward hierarchical relationship of', 'above'),
        'The downward hierarchical relationship of', 'Below'), 'the downward hierarchical relationship of', 'below') $$;
-- A sentence with those of its names that matter most, and how many it leaves out; NULL without a name.
CREATE FUNCTION plain_sentence(start text, list text[], is_below boolean, wanted int, matters text[], question text) RETURNS text LANGUAGE sql AS $$
    WITH u AS (SELECT u.name, u.n, row_number() OVER (ORDER BY CASE WHEN is_below THEN (u.name = ANY (matters))::int + (SELECT count(*) FROM unnest(regexp_split_to_array(lower(u.name), '\W+')) AS w
                          WHERE w <> '' AND w = ANY (regexp_split_to_array(lower(question), '\W+'))) END DESC NULLS LAST, u.n) AS place FROM unnest(list) WITH ORDINALITY AS u(name, n)),
         l AS (SELECT *, max(n) FILTER (WHERE name <> '...') OVER () AS last FROM u WHERE place <= wanted),
         s AS (SELECT * FROM l WHERE n <= last)
    SELECT start || ': ' || (SELECT string_agg(name, CASE WHEN (SELECT bool_or(name LIKE '%,%') FROM s) THEN '; ' ELSE ', ' END ORDER BY n) FROM s)
           || CASE left_out WHEN 0 THEN '.' ELSE ' and ' || left_out || ' more.' END
      FROM (SELECT cardinality(array_remove(list, '...')) - count(*) AS left_out FROM s WHERE name <> '...') AS z $$;
CREATE FUNCTION plain_tokens(text text) RETURNS int LANGUAGE sql AS 'SELECT (octet_length(text) + 3) / 4';
CREATE FUNCTION plain_beginning(text text, tokens int) RETURNS text LANGUAGE sql AS $$
    SELECT rtrim(left(text, CASE WHEN blank > most - 64 AND blank > 0 THEN blank - 1 ELSE most END), E' \n') || ' ...'
      FROM (SELECT char_length(text) * (tokens - 1) / plain_tokens(text) AS most) AS m,
           LATERAL (SELECT coalesce(max(n), 0) AS blank FROM generate_series(1, most + 1) AS n WHERE substr(text, n, 1) IN (' ', E'\n')) AS b $$;
CREATE FUNCTION plain_retrieve(question text, e vector, k int, up int, down int, budget int) RETURNS TABLE (source text, id text, rank bigint, body text, tokens int) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    has int := 0;
    left_over int := budget;
    best text;
BEGIN
    CREATE TEMP TABLE line (n serial, source text, entity text, id text, rank bigint, body text, tokens int, head int, turn bigint, start text, list text[], is_below boolean, taken int);
    INSERT INTO line (source, entity, id, rank, body) SELECT 'document', p.entity, p.id::text, row_number() OVER (ORDER BY p.embedding <=> e, p.id), p.body FROM paper AS p ORDER BY p.embedding <=> e, p.id LIMIT k;
    CREATE TEMP TABLE named AS SELECT m.entity, m.start, row_number() OVER (ORDER BY m.start, m.entity COLLATE "C") AS n
        FROM (SELECT DISTINCT ON (c.entity COLLATE "C") c.entity, c.start FROM cft_entities(question) AS c ORDER BY c.entity COLLATE "C", c.start) AS m;
    -- What nothing names is what most of the documents are about, if several are.
    IF NOT EXISTS (SELECT FROM named) THEN
        INSERT INTO named SELECT l.entity, 0, row_number() OVER (ORDER BY count(*) DESC, min(l.n)) FROM line AS l WHERE l.entity IS NOT NULL GROUP BY l.entity HAVING count(*) > 1 ORDER BY 3 LIMIT 3;
    END IF;
    -- Chunks: those below before those above at the same depth, and the entities of one depth and relation take turns.
    INSERT INTO line (source, entity, id, rank, body)
        WITH names AS (SELECT array_agg(entity ORDER BY n) AS names FROM named),
             near AS (SELECT DISTINCT ON (relative) place, depth, relative
                        FROM (SELECT n AS place, 0 AS depth, entity AS relative FROM named
                              UNION ALL SELECT array_position(names, c.entity), 2 * c.depth + (c.relation = 'ancestor')::int, c.relative FROM names, cft_context(names, up, down) AS c) AS z
                       ORDER BY relative, depth, place),
             c AS (SELECT p.id::text, n.relative, p.body, n.depth, n.place, p.embedding <=> e AS distance,
                          row_number() OVER (PARTITION BY n.depth, n.relative ORDER BY p.embedding <=> e, p.id::text COLLATE "C") AS turn
                     FROM near AS n JOIN paper AS p ON p.entity = n.relative)
        SELECT 'chunk', c.relative, c.id, row_number() OVER (ORDER BY depth, turn, distance, place, relative COLLATE "C", c.id COLLATE "C"), c.body
          FROM c WHERE c.id NOT IN (SELECT l.id FROM line AS l) ORDER BY 4 LIMIT k;
    -- Sentences: not what is above another one in that tree, unless it is below it, too; the other one goes on to it, and to the top of its first tree.
    CREATE TEMP TABLE way AS SELECT a.entity, a.tree, a.relative, a.depth FROM named AS m, cft_context(m.entity, 64, 0) AS a WHERE up > 0 AND a.relative IN (SELECT b.entity FROM named AS b);
    DELETE FROM way AS w USING way AS v WHERE v.entity = w.relative AND v.relative = w.entity AND v.tree IS NOT DISTINCT FROM w.tree;
    FOR r IN SELECT p.*, m.n AS place FROM named AS m, cft_context_parts(ARRAY[m.entity], up, down) WITH ORDINALITY AS p(entity, tree, relation, text, o)
              WHERE p.relation = 'descendant' OR NOT EXISTS (SELECT FROM way AS w WHERE w.relative = p.entity AND w.tree IS NOT DISTINCT FROM p.tree) ORDER BY m.n, p.o LOOP
        DECLARE
            list text[] := (SELECT array_agg(c.relative ORDER BY c.depth, c.relative COLLATE "C") FROM cft_context(r.entity, up, down) AS c WHERE c.tree IS NOT DISTINCT FROM r.tree AND c.relation = r.relation);
            w record;
        BEGIN
            IF r.relation = 'ancestor' THEN
                FOR w IN SELECT * FROM way WHERE way.entity = r.entity AND way.tree IS NOT DISTINCT FROM r.tree ORDER BY way.depth, way.relative COLLATE "C" LOOP
                    list := plain_on(list, plain_way(w.entity, w.tree, w.relative));
                END LOOP;
                FOR w IN SELECT x.tree, x.path[:cardinality(x.path) - 1] AS above FROM cft_path_prefix(ARRAY[r.entity]) AS x LIMIT 1 LOOP
                    list := CASE WHEN w.tree IS NOT DISTINCT FROM r.tree THEN plain_on(list, (SELECT array_agg(u.name ORDER BY u.n DESC) FROM unnest(w.above) WITH ORDINALITY AS u(name, n))) ELSE list END;
                END LOOP;
            END IF;
            INSERT INTO line (source, entity, rank, start, list, is_below)
                VALUES ('hierarchy', r.entity, 1 + (SELECT count(*) FROM line AS l WHERE l.source = 'hierarchy'), plain_start(r.text), list, r.relation = 'descendant');
        END;
    END LOOP;
    UPDATE line AS l SET body = plain_sentence(l.start, l.list, l.is_below, 100, (SELECT array_agg(d.entity) FROM line AS d WHERE d.source <> 'hierarchy'), question) WHERE l.source = 'hierarchy';
    -- Before a document is its path; if the hierarchy says it, or it is long, the last name, unless the text begins with it.
    UPDATE line AS l SET head = CASE WHEN l.source = 'hierarchy' THEN 0 ELSE coalesce(plain_tokens(CASE
            WHEN NOT EXISTS (SELECT FROM line AS h WHERE l.entity = ANY (h.list) OR h.entity = l.entity AND NOT h.is_below) AND plain_tokens(p.path) <= coalesce(budget, 4000) / 20 THEN p.path
            WHEN starts_with(lower(l.body), lower(l.entity)) THEN '' ELSE l.entity END), 0) END,
            turn = l.rank + CASE l.source WHEN 'chunk' THEN (SELECT count(*) FROM line AS d WHERE d.source = 'document') ELSE 0 END
        FROM (SELECT n.n, cft_path_prefix(n.entity, separator => ' > ') AS path FROM line AS n) AS p WHERE p.n = l.n;
    UPDATE line AS l SET tokens = plain_tokens(l.body) + l.head;
    UPDATE line AS l SET turn = z.turn FROM (SELECT h.n, row_number() OVER (ORDER BY h.round, h.n) AS turn
        FROM (SELECT l.n, row_number() OVER (PARTITION BY m.start ORDER BY l.n) AS round FROM line AS l JOIN named AS m USING (entity) WHERE l.source = 'hierarchy') AS h) AS z WHERE z.n = l.n;
    -- The budget: in turn, documents first; a sentence and the first document are shortened to half of what is left, then documents get what is left.
    FOR r IN SELECT * FROM line AS l ORDER BY l.turn, array_position('{document,hierarchy,chunk}', l.source) LOOP
        IF budget IS NULL OR r.tokens <= left_over THEN
            UPDATE line AS l SET taken = r.tokens WHERE l.n = r.n;
        ELSIF r.source = 'hierarchy' THEN
            SELECT s.text INTO best FROM generate_series(1, cardinality(r.list) - 1) AS c(names),
                LATERAL (SELECT plain_sentence(r.start, r.list, r.is_below, names, (SELECT array_agg(d.entity) FROM line AS d WHERE d.source <> 'hierarchy'), question) AS text) AS s
                WHERE plain_tokens(s.text) <= left_over / 2 AND names < 100 ORDER BY c.names DESC LIMIT 1;
            UPDATE line AS l SET taken = plain_tokens(best), body = best WHERE l.n = r.n AND best IS NOT NULL;
        ELSIF NOT EXISTS (SELECT FROM line AS l WHERE l.source <> 'hierarchy' AND l.taken IS NOT NULL) AND left_over >= 16 + r.head THEN
            UPDATE line AS l SET taken = least(left_over, greatest(left_over / 2, 16 + r.head)) WHERE l.n = r.n;
        END IF;
        left_over := left_over - coalesce((SELECT l.taken FROM line AS l WHERE l.n = r.n), 0);
    END LOOP;
    FOR r IN SELECT * FROM line AS l WHERE l.source <> 'hierarchy' AND l.taken IS NULL ORDER BY l.turn, array_position('{document,hierarchy,chunk}', l.source) LOOP
        IF least(r.tokens, left_over / 2) >= 16 + r.head THEN
            UPDATE line AS l SET taken = least(r.tokens, left_over / 2) WHERE l.n = r.n;
            left_over := left_over - least(r.tokens, left_over / 2);
        END IF;
    END LOOP;
    FOR r IN SELECT * FROM line AS l WHERE l.source <> 'hierarchy' ORDER BY l.turn, array_position('{document,hierarchy,chunk}', l.source) LOOP
        has := coalesce(r.taken, 0);
        IF least(r.tokens, has + left_over) > has AND least(r.tokens, has + left_over) >= 16 + r.head THEN
            UPDATE line AS l SET taken = least(r.tokens, has + left_over) WHERE l.n = r.n;
            left_over := left_over - (least(r.tokens, has + left_over) - has);
        END IF;
    END LOOP;
    RETURN QUERY SELECT l.source, l.id, l.rank, CASE WHEN l.source <> 'hierarchy' AND l.taken < l.tokens THEN plain_beginning(l.body, l.taken - l.head) ELSE l.body END, l.taken - l.head
        FROM line AS l WHERE l.taken IS NOT NULL ORDER BY array_position('{document,hierarchy,chunk}', l.source), l.rank;
    DROP TABLE line, named, way;
END $$;
CREATE FUNCTION same(question text, e vector, k int, up int, down int, budget int) RETURNS boolean LANGUAGE sql AS $$
    SELECT (SELECT array_agg((source, document_id, rank, text, tokens)::text) FROM cft_retrieve(question, e, k, NULL, up, down, budget))
           IS NOT DISTINCT FROM (SELECT array_agg((p.source, p.id, p.rank, p.body, p.tokens)::text) FROM plain_retrieve(question, e, k, up, down, coalesce(budget, 4000)) AS p) $$;
SELECT count(*) AS cases, count(*) FILTER (WHERE NOT same(question, e, k, up, down, budget)) AS different
  FROM unnest('{Heart Clinic,"nephrology, then the heart clinic","east wing hospital home monitoring","the heart clinic of medicine",nobody}'::text[]) AS question, unnest('{"[1,0,0.3]","[0,1,0]"}'::vector[]) AS e,
       generate_series(0, 2, 2) AS k, generate_series(1, 3, 2) AS up, generate_series(0, 1) AS down, unnest('{NULL,0,25,60}'::int[]) AS budget;
SELECT source, rank, tokens FROM cft_retrieve('heart clinic', '[1,0,0.3]', k => 3, budget => 60);
-- What is above another mention keeps what is below it.
SELECT source, entity, why FROM cft_retrieve('the heart clinic of medicine', '[1,0,0.3]', k => 0, chunks => 10, down => 2);
-- A hub: the nearest of its relatives, and how many there are besides; in a list with commas in names too.
BEGIN;
INSERT INTO tie SELECT 'organisation', 'Heart Clinic', format('room %s%s', i, CASE i WHEN 7 THEN ', upstairs' END) FROM generate_series(1, 90) AS i;
SELECT source, text, tokens FROM cft_retrieve('heart clinic', '[1,0,0.3]', k => 1, budget => 160);
SELECT count(*) AS cases, count(*) FILTER (WHERE NOT same(question, '[1,0,0.3]', 2, up, 2, budget)) AS different
  FROM unnest('{Heart Clinic,"east wing hospital"}'::text[]) AS question, generate_series(1, 3, 2) AS up, generate_series(0, 400, 40) AS budget;
-- Of more than a hundred the first, and the number of the others.
INSERT INTO tie SELECT 'organisation', 'Heart Clinic', format('bed %s', i) FROM generate_series(1, 50) AS i;
SELECT source, text, tokens FROM cft_retrieve('heart clinic', '[1,0,0.3]', k => 1);
SELECT same('heart clinic', '[1,0,0.3]', 2, 2, 2, NULL) AS same;
SELECT count(*) AS cases, count(*) FILTER (WHERE NOT same(question, '[1,0,0.3]', 2, up, 2, budget)) AS different
  FROM unnest('{Heart Clinic,"east wing hospital"}'::text[]) AS question, generate_series(1, 3, 2) AS up, generate_series(0, 400, 40) AS budget;
ROLLBACK;
SELECT budget, sum(tokens) <= budget AS within FROM generate_series(0, 200, 40) AS budget, cft_retrieve('heart clinic', '[1,0,0.3]', budget => budget) GROUP BY budget ORDER BY budget;
-- The user's own count of tokens.
SELECT cft_attach_documents('paper', entity => 'entity', tokens => 'size');
SELECT source, document_id, tokens FROM cft_retrieve('Where is the heart clinic?', '[0,0,1]', k => 2) WHERE source <> 'hierarchy';

-- The prompt.
SELECT cft_prompt('Where is the heart clinic?', '[1,0,0.3]', k => 2);
SELECT cft_prompt('Where is the dentist?', NULL);
SELECT cft_prompt(NULL, '[1,0,0.3]', k => 1);
SELECT cft_prompt('heart clinic', '[1,0,0.3]', k => 1, up => 1, budget => 40, template => '{question}: <{documents}> <{hierarchy}> <{chunks}> {{}}');
SET cftrag.prompt_template = E'{hierarchy}\n--\n{documents}\n--\n{chunks}\n--\n{question}';
SELECT cft_prompt('heart clinic', '[1,0,0.3]');
SELECT cft_prompt('Where is the dentist?', NULL), cft_prompt(NULL, '[1,0,0.3]') IS NULL AS "null";
SELECT cft_prompt('heart clinic', '[1,0,0.3]', template => '{nothing}');
RESET cftrag.prompt_template;
-- Byte-stable: runs, image or not, another order in the table, another session.
CREATE FUNCTION prompts() RETURNS text LANGUAGE sql AS $$
    SELECT md5(string_agg(cft_prompt(question, e), '' ORDER BY question, e)) FROM unnest('{Heart Clinic,"nephrology, then the heart clinic"}'::text[]) AS question, unnest('{"[1,0,0.3]","[1,1,1]"}'::vector[]) AS e $$;
SELECT prompts() AS prompts \gset
SELECT count(DISTINCT prompts()) AS results, bool_and(prompts() = :'prompts') AS same FROM generate_series(1, 50);
SET cftrag.enable = off;
SELECT prompts() = :'prompts' AS same;
RESET cftrag.enable;
BEGIN READ ONLY;
SELECT prompts() = :'prompts' AS read_only;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT prompts() = :'prompts' AS serializable;
COMMIT;
-- In a session that has its plans made.
ALTER TABLE paper RENAME body TO words;
SELECT prompts() = :'prompts' AS renamed;
ALTER TABLE paper RENAME words TO body;
CREATE TABLE kept AS SELECT * FROM paper;
DELETE FROM paper;
INSERT INTO paper SELECT * FROM kept ORDER BY id DESC;
CREATE INDEX ON paper USING hnsw (embedding vector_cosine_ops);
SET enable_seqscan = off;
SELECT prompts() = :'prompts' AS same;
\c -
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT prompts() = :'prompts' AS same;

-- Which entity is meant.
SELECT * FROM cft_resolve('Heart Clinic');
SELECT * FROM cft_resolve('heart-clinic ');
SELECT * FROM cft_resolve('the heart clinic');
SELECT * FROM cft_resolve('hearts', '[1,0,0]', 2);
SELECT * FROM cft_resolve('nephrology', k => 0);
SELECT * FROM cft_resolve(NULL);
SELECT * FROM cft_resolve('');
CREATE TABLE vectors (entity text, embedding vector(3));
INSERT INTO vectors VALUES ('medicine', '[1,0,0]'), ('nephrology', '[1,1,0]'), ('cardiology', '[0,1,0]');
SELECT cft_attach_embeddings('vectors');
SELECT entity, round(score::numeric, 3) AS score, method FROM cft_resolve('kidneys', '[3,3,0]', 2);
SELECT source, entity, why FROM cft_retrieve('kidneys', '[3,3,0]', k => 1, mode => 'ann_tree');
\set VERBOSITY terse
-- What is no entity is not found, however it is written.
CREATE TABLE half (parent text, child text);
INSERT INTO half VALUES ('zebra', NULL), ('animal', 'zebu');
SELECT cft_attach('half');
SELECT entity, method FROM cft_resolve('zebra', edges => 'half');
SELECT entity, method FROM cft_resolve('zebuu', edges => 'half');
SELECT entity, method FROM cft_resolve(repeat('zebu', 1000), edges => 'half');
SELECT cft_detach('half');
DROP TABLE half;
SELECT entity, round(score::numeric, 3) AS score, method FROM cft_resolve('neprology', '[0,1,0]', 3);
SELECT entity, round(score::numeric, 3) AS score, method FROM cft_resolve('heart clinics');
\set VERBOSITY default
DROP TABLE vectors;

-- By an alias: the row says which; a mention that is an alias resolves to its entity.
CREATE TABLE nick (alias text, entity text);
INSERT INTO nick VALUES ('HC', 'Heart Clinic'), ('kidney ward', 'nephrology'), ('HC', 'home monitoring');
SELECT cft_attach_aliases('nick', edges => 'tie');
SELECT source, entity, why FROM cft_retrieve('Who runs the HC, and the heart clinic?', NULL, chunks => 0, up => 1, down => 0, edges => 'tie');
SELECT cft_prompt('The kidney ward?', NULL, chunks => 0, edges => 'tie');
SELECT * FROM cft_resolve('hc', edges => 'tie');
SELECT * FROM cft_resolve('Kidney-Ward', edges => 'tie');
DROP TABLE nick;
-- Errors.
SET cftrag.budget = 0;
SELECT cft_retrieve('q', NULL, k => NULL);
RESET cftrag.budget;
SELECT cft_retrieve('q', NULL, k => -1);
SELECT cft_retrieve('q', NULL, budget => -1);
SELECT cft_retrieve('heart clinic', NULL, up => 1001);
SELECT cft_retrieve('q', NULL, mode => 'magic');
SELECT cft_retrieve('q', '[1,0]');
SELECT cft_retrieve('q', NULL, edges => 'paper');
SELECT cft_retrieve('q', NULL, documents => 'tie');
SELECT cft_resolve('x', k => -1);
SELECT cft_resolve('x', edges => 'paper');

-- One snapshot: what is committed or written while it runs is in none of its parts. The policy writes as the edges are read.
CREATE ROLE regress_cft_asker;
GRANT SELECT ON tie, paper TO regress_cft_asker;
CREATE FUNCTION meanwhile() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO public.paper VALUES (100, 'Written meanwhile.', '[1,0,0]', 'Heart Clinic', 1) ON CONFLICT DO NOTHING;
    RETURN true;
END $$;
ALTER TABLE tie ENABLE ROW LEVEL SECURITY;
CREATE POLICY writes ON tie TO regress_cft_asker USING (meanwhile());
SET ROLE regress_cft_asker;
BEGIN;
SELECT source, document_id FROM cft_retrieve('heart clinic', '[1,0,0]', k => 2);
SELECT source, document_id FROM cft_retrieve('heart clinic', '[1,0,0]', k => 2);
ROLLBACK;
RESET ROLE;
-- Row-level security and privileges are the caller's.
ALTER POLICY writes ON tie USING (tree = 'building');
SET ROLE regress_cft_asker;
SELECT source, document_id, text FROM cft_retrieve('heart clinic and nephrology', '[1,0,0]', k => 1);
SELECT cft_prompt('heart clinic', NULL);
SELECT * FROM cft_resolve('nephrology');
RESET ROLE;
REVOKE SELECT ON paper FROM regress_cft_asker;
SET ROLE regress_cft_asker;
SELECT source, document_id, text FROM cft_retrieve('heart clinic', NULL);
SELECT source, document_id, text FROM cft_retrieve('heart clinic', '[1,0,0]');
SELECT source, document_id, text FROM cft_retrieve('heart clinic', '[1,0,0]', documents => 'paper');
SELECT cft_prompt('heart clinic', '[1,0,0]', documents => 'paper');
RESET ROLE;
REVOKE SELECT ON tie FROM regress_cft_asker;
SET ROLE regress_cft_asker;
SELECT * FROM cft_retrieve('heart clinic', NULL);
SELECT * FROM cft_retrieve('heart clinic', NULL, edges => 'tie');
SELECT * FROM cft_resolve('Heart Clinic', edges => 'tie');
RESET ROLE;
-- A text that repeats a label of many: each entity once, with its first mention, whichever window that is in; also by the definition.
CREATE TABLE bags (parent text, child text); INSERT INTO bags SELECT 'Shop', 'b' || n FROM generate_series(1, 3000) AS n;
CREATE TABLE called (id text, name text); INSERT INTO called SELECT 'b' || n, CASE WHEN n % 3 = 0 THEN 'BAGS' ELSE 'Bags' END FROM generate_series(1, 3000) AS n;
CREATE TABLE also (alias text, entity text); INSERT INTO also VALUES ('bags of the shop', 'Shop'), ('sacks', 'b1'), ('sacks', 'b2'), ('bags', 'b7');
SELECT cft_attach('bags'), cft_attach_labels('called', edges => 'bags'), cft_attach_aliases('also', edges => 'bags');
SELECT oracle.build('bags'), oracle.build('called'), oracle.build('also');
CREATE FUNCTION firsts(question text, within text[] DEFAULT NULL) RETURNS TABLE(firsts bigint, differ bigint) LANGUAGE sql AS $$
    WITH f AS MATERIALIZED (SELECT * FROM cftrag_internal.cft_first_mentions(question, 'bags', NULL, within)),
         e AS MATERIALIZED (SELECT DISTINCT ON (e.entity COLLATE "C") e.* FROM cft_entities(question, 'bags', NULL, within) AS e ORDER BY e.entity COLLATE "C", e.start)
    SELECT (SELECT count(*) FROM f), count(*) FROM ((TABLE f EXCEPT ALL TABLE e) UNION ALL (TABLE e EXCEPT ALL TABLE f)) AS d
$$;
SELECT f.* FROM unnest(ARRAY[repeat('Bags ', 20), repeat('bags of the shop, ', 15) || repeat('Bags ', 3) || 'BAGS', repeat('BAGS ', 8) || repeat('bags of the shop ', 8) || 'sacks Bags',
    repeat('the bags'' sacks ', 12), 'sacks']) AS q, firsts(q) AS f;
SELECT f.* FROM firsts(repeat('bags of the shop, ', 15) || repeat('Bags ', 3), '{b5,b7,b9}') AS f;
SET cftrag.enable = off;
SELECT f.* FROM firsts('Bags and bags of the shop, BAGS, sacks') AS f;
RESET cftrag.enable;
SELECT count(*), count(DISTINCT entity), min(why) FROM cft_retrieve(repeat('Bags ', 20), NULL, edges => 'bags');
DROP FUNCTION firsts;
DROP TABLE bags, called, also;
-- The user's words are never SQL, and a search_path of theirs is not searched.
GRANT SELECT ON tie, paper TO regress_cft_asker;
ALTER POLICY writes ON tie USING (true);
CREATE SCHEMA trap AUTHORIZATION regress_cft_asker;
SET ROLE regress_cft_asker;
CREATE FUNCTION trap.boom() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION trap.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.boom()::boolean';
CREATE OPERATOR trap.= (FUNCTION = trap.same, LEFTARG = text, RIGHTARG = text);
CREATE FUNCTION trap.near(public.vector, public.vector) RETURNS float8 LANGUAGE sql AS 'SELECT trap.boom()::float8';
CREATE OPERATOR trap.<=> (FUNCTION = trap.near, LEFTARG = public.vector, RIGHTARG = public.vector);
CREATE FUNCTION trap.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.similarity(text, text) RETURNS real LANGUAGE sql AS 'SELECT trap.boom()::real';
CREATE FUNCTION trap.cft_entities(text, regclass) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.boom()';
CREATE FUNCTION trap.cft_retrieve(text, public.vector) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.boom()';
SET search_path = trap, pg_catalog, public;
SELECT source, document_id FROM public.cft_retrieve('heart clinic', '[1,0,0]'::public.vector, 2, NULL, 1, 1, 100);
SELECT source, entity FROM public.cft_retrieve('heart clinic', '[1,0,0]'::public.vector, 1, 0, 1, 1, NULL, 'naive');
SELECT source, entity FROM public.cft_retrieve('heart clinic', '[1,0,0]'::public.vector, 1, 0, 1, 1, NULL, 'ann_graph');
SELECT length(public.cft_prompt('heart clinic', '[1,0,0]'::public.vector)) > 100 AS prompt;
SELECT entity, method FROM public.cft_resolve('hearts', '[1,0,0]'::public.vector, 1);
SELECT count(*) FROM public.cft_retrieve($$'; DROP TABLE tie; -- %I %s "$1"$$, '[1,0,0]'::public.vector, mode => 'naive');
RESET search_path;
RESET ROLE;
DROP SCHEMA trap CASCADE;
DROP TABLE tie, paper, kept;
DROP FUNCTION plain_on, plain_way, plain_start, plain_sentence, plain_tokens, plain_beginning, plain_retrieve, same, prompts, meanwhile;
DROP ROLE regress_cft_asker;
