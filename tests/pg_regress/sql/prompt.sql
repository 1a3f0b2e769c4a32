-- What a prompt says: where documents are, how named things stand to each other, and no more than the question is about.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE categories (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO categories VALUES (1, NULL, 'Outdoor'), (2, 1, 'Boats'), (3, 2, 'Kayaks'), (4, 2, 'Canoes'), (5, 2, 'Rowing boats'), (6, 1, 'Tents'), (7, 6, 'Family tents'),
    (8, 6, 'Ultralight tents'), (9, 3, 'Sea kayaks'), (10, 3, 'Accessories'), (11, 6, 'Accessories'), (12, 10, 'Paddles'), (13, 11, 'Pegs'), (14, 9, 'Expedition kayaks'), (15, 14, 'Long tours');
CREATE TABLE short (alias text, entity int);
INSERT INTO short VALUES ('PDL', 12);
CREATE TABLE products (id int PRIMARY KEY, category_id int, body text, price numeric, stock int, embedding vector(3), words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
INSERT INTO products (id, category_id, body, price, stock)
    SELECT n, (ARRAY[3, 4, 5, 7, 8, 9, 12, 13, 15])[1 + n % 9], 'Article ' || n || ' is made of ' || (ARRAY['wood', 'plastic', 'steel', 'nylon'])[1 + n % 4] || ' and has a warranty of ' || n || ' months.', n * 10, nullif(n % 5, 0)
      FROM generate_series(1, 120) AS n;
CREATE INDEX ON products USING gin (words);
ANALYZE products;
SELECT cft_attach('categories', child => 'id', parent => 'parent_id', label => 'name');
SELECT cft_attach_aliases('short', edges => 'categories');
SELECT oracle.build('categories'), oracle.build('short');
SELECT cft_attach_documents('products', entity => 'category_id', search => 'words', show => '{price,stock}');
CREATE FUNCTION prompt(question text, k int DEFAULT 3, budget int DEFAULT NULL, document text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT split_part(cft_prompt(question, NULL, k => k, chunks => 0, budget => budget, document_template => document), E'say so.\n\n', 2) $$;

-- The upper one of two keeps what is below it, and the members of a class take turns; a document's place is not said twice.
SELECT prompt('Apart from kayaks, which boats do you rent?', k => 9);
-- At any distance; a long way is shortened.
SELECT prompt('Are long tours something for boats?', k => 1);
SELECT cft_prompt('long tours', NULL, k => 0, chunks => 0, up => 1, down => 0);
-- Several ways up stand one behind the other; another one begins where it parts.
CREATE TABLE is_a (child text, parent text);
INSERT INTO is_a VALUES ('cardiovascular disease', 'disease'), ('heart disease', 'cardiovascular disease'), ('cardiomyopathy', 'heart disease'), ('cardiomyopathy', 'muscle disease'), ('muscle disease', 'disease'),
    ('dilated cardiomyopathy', 'cardiomyopathy'), ('peripartum cardiomyopathy', 'dilated cardiomyopathy'), ('pregnancy complication', 'disease'), ('peripartum cardiomyopathy', 'pregnancy complication');
SELECT cft_attach('is_a');
SELECT oracle.build('is_a');
SELECT up, text FROM generate_series(1, 5, 2) AS up, cft_retrieve('What is peripartum cardiomyopathy?', NULL, up => up, edges => 'is_a') WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('Is peripartum cardiomyopathy a cardiovascular disease?', NULL, up => 1, edges => 'is_a') WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('Is dilated cardiomyopathy a muscle disease or a heart disease?', NULL, up => 1, edges => 'is_a') WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('What is peripartum cardiomyopathy?', NULL, budget => 30, edges => 'is_a') WHERE source = 'hierarchy';
SET cftrag.wording = paper;
SELECT text FROM cft_retrieve('What is peripartum cardiomyopathy?', NULL, edges => 'is_a') WHERE source = 'hierarchy';
RESET cftrag.wording;
DROP TABLE is_a;
-- Of namesakes the one that is meant.
SELECT prompt('What are the accessories for tents made of?', k => 1);
-- What an alias and a misspelled name stand for.
SELECT prompt('Is a PDL heavy?', k => 1);
SELECT prompt('Are there rownig boats?', k => 1);
-- Where nothing is named: what the documents are about, if several are about one thing.
SELECT source, entity, why FROM cft_retrieve('What has a warranty of 12 months?', NULL, k => 1, chunks => 0);
UPDATE products SET body = body || ' It is inflatable.' WHERE id IN (2, 11, 20, 21);
SELECT source, entity, path, why FROM cft_retrieve('Something inflatable', NULL, k => 4, chunks => 0);
-- Formats, and rows.
SELECT prompt('pegs', k => 1, document => '{number}|{id}|{entity}|{path}|{columns}|{text}');
SELECT document_id, path FROM cft_retrieve('pegs', NULL, k => 1, chunks => 2) ORDER BY document_id;
SELECT cft_prompt('pegs', NULL, document_template => '{where}');
-- A mention that has not the rarest word is told with its place alone; one whose words are everywhere, or are nothing to text search, not at all.
INSERT INTO categories VALUES (20, 1, 'The'), (21, 1, 'Article'), (22, 21, 'Article of the month'), (23, 7, 'Igloo');
INSERT INTO products (id, category_id, body) VALUES (1000, NULL, 'The glamping family tents are of cotton.');
UPDATE products SET body = body || ' Beside family tents.' WHERE id IN (4, 5, 6);
ANALYZE products;
SELECT text FROM cft_retrieve('What are glamping family tents?', NULL, k => 1, chunks => 0) WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('What are family tents?', NULL, k => 1, chunks => 0) WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('Which article of the pegs is heavy?', NULL, k => 1, chunks => 0) WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('Which article is heavy?', NULL, k => 1, chunks => 0) WHERE source = 'hierarchy';
-- A word that some documents have is not another one misspelled.
INSERT INTO products (id, category_id, body) VALUES (1001, NULL, 'A peggs is a bird.');
SELECT text FROM cft_retrieve('Are there pegss?', NULL, k => 1, chunks => 0) WHERE source = 'hierarchy';
INSERT INTO products (id, category_id, body) VALUES (1002, NULL, 'A padles is a bird.');
SELECT coalesce(entity, '-'), text FROM cft_retrieve('Are there padles?', NULL, k => 1, chunks => 0);
SELECT coalesce(entity, '-'), text FROM cft_retrieve('Are there padddles?', NULL, k => 1, chunks => 0) WHERE source = 'hierarchy';
-- Of few documents it says nothing how many have a word.
CREATE TABLE few (id int, category_id int, body text, embedding vector(3));
INSERT INTO few VALUES (1, 3, 'A lamp.'), (2, 6, 'These tents are of cotton.');
CREATE INDEX ON few USING gin (to_tsvector('english', body));
SELECT cft_attach_documents('few', entity => 'category_id', search => 'body');
SELECT text FROM cft_retrieve('Kayaks or tents?', NULL, k => 1, chunks => 0, documents => 'few') WHERE source = 'hierarchy';
SELECT text FROM cft_retrieve('kayaks', NULL, k => 1, chunks => 0, documents => 'few') WHERE source = 'hierarchy';
-- Texts that are equal in their beginnings are not equal; of many equal ones the others are read on; blanks, breaks and long columns.
INSERT INTO few SELECT 10 + n, 8, repeat('header ', 4000) || n, NULL FROM generate_series(1, 2) AS n;
SELECT document_id, why FROM cft_retrieve('ultralight tents', NULL, mode => 'cft', k => 0, chunks => 5, documents => 'few');
INSERT INTO few SELECT 100 + n, 4, 'boilerplate', '[1,0,0]' FROM generate_series(1, 100) AS n;
INSERT INTO few VALUES (300, 4, 'the answer', '[1,0.1,0]');
SELECT source, document_id, why FROM cft_retrieve('canoes', '[1,0,0]', mode => 'cft', documents => 'few');
SELECT source, document_id, why FROM cft_retrieve('canoes', NULL, mode => 'cft', documents => 'few');
SELECT source, document_id, why FROM cft_retrieve('canoes', NULL, documents => 'few');
SELECT cft_attach_documents('few', entity => 'category_id', show => '{note}');
ALTER TABLE few ADD note text;
UPDATE few SET note = repeat('n ', 10000) WHERE id = 1;
UPDATE few SET note = E'one\ntwo' WHERE id = 2;
SELECT cft_attach_documents('few', entity => 'category_id', show => '{note}');
SELECT length(prompt) BETWEEN 3000 AND 5000, right(prompt, 40) FROM cft_prompt('kayaks', NULL, chunks => 1, documents => 'few') AS prompt;
SELECT cft_prompt('tents', NULL, chunks => 1, documents => 'few');
SELECT cft_attach_documents('few', show => (SELECT array_agg('c' || n) FROM generate_series(1, 33) AS n));
DROP TABLE few;
-- Equal texts once, unless what is shown differs.
UPDATE products SET body = 'A tent.', price = 1, stock = NULL WHERE id IN (3, 12, 21);
UPDATE products SET price = 2 WHERE id = 21;
SELECT document_id, text, why FROM cft_retrieve('family tents', NULL, k => 3, chunks => 0) WHERE source = 'document';
-- A budget: shortened rather than left out, at least one document, and what is left out is said.
SELECT prompt('Which rowing boats are there?', k => 5, budget => 60);
SELECT prompt('Which rowing boats are there?', k => 5, budget => 40);
SELECT prompt('Which rowing boats are there?', k => 5, budget => 34);
SELECT prompt('Which rowing boats are there?', k => 5, budget => 20);
SET cftrag.budget = 60;
SELECT prompt('Which rowing boats are there?', k => 5) = prompt('Which rowing boats are there?', k => 5, budget => 60);
SET cftrag.budget = 0;
SELECT prompt('Which rowing boats are there?', k => 5) = prompt('Which rowing boats are there?', k => 5, budget => 100000);
RESET cftrag.budget;
-- Each thing that is named gets its place before any gets a second one.
INSERT INTO categories SELECT 1000 + n, 1, 'County ' || n FROM generate_series(1, 30) AS n;
INSERT INTO categories SELECT 2000 + n, 1000 + n, 'Elmford' FROM generate_series(1, 30) AS n;
INSERT INTO categories VALUES (3000, 1030, 'Greyport'), (3001, 3000, 'Greyport harbour');
SELECT prompt('From Elmford to Greyport', k => 0, budget => 60);
SELECT prompt('From Elmford to Greyport in county 17', k => 0);
-- Relatives that the question's words are in before others, and the number of these.
INSERT INTO categories SELECT 5000 + n, 4, 'Canoe ' || n || CASE n WHEN 150 THEN ' for two' ELSE '' END FROM generate_series(1, 200) AS n;
SELECT prompt('Which canoes are there for two?', k => 0, budget => 100);
SELECT length(prompt('Which canoes are there?', k => 0)) BETWEEN 900 AND 1500;
-- Columns that are shown are the table's: an error says so, and a role sees them only where it sees the row.
SELECT cft_attach_documents('products', entity => 'category_id', show => '{nothing}');
SELECT cft_attach_documents('products', entity => 'category_id', search => 'words', show => '{price,stock}');
SELECT columns FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()', 'products');
-- Each way up is one: whatever is named, what stands behind a name is above it. chains(): the steps that sentences claim, and the table has not.
CREATE TABLE dag (parent text, child text);
SELECT cft_attach('dag');
CREATE FUNCTION chains(question text, up int) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT text FROM cft_retrieve(question, NULL, up => up, edges => 'dag', documents => 'products') WHERE text LIKE 'Above%' $$;
INSERT INTO dag VALUES ('ape', 'bear'), ('bear', 'cat'), ('cat', 'deer'), ('deer', 'elk'), ('elk', 'fox');
SELECT chains('fox, cat and ape', 3);
TRUNCATE dag;
INSERT INTO dag VALUES ('ba', 'aa'), ('ca', 'aa'), ('da', 'ba'), ('da', 'ca'), ('ea', 'da'), ('fa', 'ca'), ('ga', 'fa'), ('aa', 'xa'), ('xa', 'za');
SELECT chains('za aa ga', 1);
TRUNCATE dag;
INSERT INTO dag VALUES ('hq', 'iq'), ('hq', 'jq'), ('iq', 'gq'), ('iq', 'jq'), ('jq', 'gq');
SELECT chains('gq hq iq', 1);
TRUNCATE dag;
INSERT INTO dag VALUES ('bx', 'gx'), ('bx', 'jx'), ('fx', 'bx'), ('gx', 'dx'), ('jx', 'gx'), ('jx', 'jz'), ('jz', 'dx');
SELECT chains('dx jx bx', 1);
-- In random ones: a step that a sentence claims between two names of a way, or from the entity to its first, is one, or one of several levels with "..." between.
CREATE FUNCTION wrong_steps(seed float8, rounds int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE sentence text; way text; entity text; last text; step text;
BEGIN
    PERFORM setseed(seed);
    FOR n IN 1 .. rounds LOOP
        TRUNCATE dag;
        INSERT INTO dag SELECT DISTINCT 'n' || least(a, b) || 'x', 'n' || greatest(a, b) || 'x' FROM (SELECT floor(random() * 9)::int AS a, floor(random() * 9)::int AS b FROM generate_series(1, 12)) AS z WHERE a <> b;
        FOR sentence IN SELECT chains((SELECT string_agg('n' || i || 'x', ' ' ORDER BY random()) FROM generate_series(0, 8) AS i WHERE random() < 0.5), 1 + floor(random() * 3)::int) LOOP
            entity := substring(sentence FROM 'Above (\w+)');
            -- A plain list: all are of one step.
            CONTINUE WHEN NOT EXISTS (SELECT FROM regexp_split_to_table(rtrim(substring(sentence FROM ': (.*)'), '.'), ', |; and ') AS name
                WHERE NOT EXISTS (SELECT FROM dag WHERE child = entity AND parent = name));
            FOREACH way IN ARRAY regexp_split_to_array(rtrim(substring(sentence FROM ': (.*)'), '.'), '; and ') LOOP
                last := NULL;
                FOREACH step IN ARRAY string_to_array(way, ', ') LOOP
                    -- A way begins at the entity, or at what ways part from.
                    IF last IS NOT NULL AND step <> '...' AND last <> '...' AND NOT EXISTS (SELECT FROM dag WHERE child = last AND parent = step)
                       OR last IS NULL AND NOT EXISTS (SELECT FROM dag WHERE child = entity AND parent = step) AND strpos(sentence, step) = strpos(sentence, way) THEN
                        RETURN NEXT sentence || ' ' || (SELECT string_agg(parent || '>' || child, ' ' ORDER BY 1) FROM dag);
                    END IF;
                    last := step;
                END LOOP;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM wrong_steps(0.3, 300);
DROP TABLE categories, short, products, dag;
DROP FUNCTION prompt, chains, wrong_steps;
