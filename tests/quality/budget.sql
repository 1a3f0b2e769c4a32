-- What a question gets, and what of it is of no use: the gold documents found, found whole, and the words of hierarchy that are about nothing that the question
-- asks, by kind of question: as called by default, and with budgets of 300 and 150 tokens. Without embeddings (the embedding is NULL).
--
-- psql -d DATABASE [-v questions=of_kind] [-v edges=entity_edges] [-v unknown_edges=known_edges] [-v documents=documents] [-v id=id] [-v body=content]
--      [-v about=entity] [-v examples=0] -f budget.sql
--   questions      a table (kind, question, entity, gold text[]); the gold are ids of documents
--   edges          (parent, child), attached; what is useful is told by these
--   unknown_edges  the hierarchy without the entities of the questions of the kind `unknown`, which are asked of it
--   about          the column of the documents that says what they are about
--   examples       so many of the questions with the most useless words, printed behind the tables
-- Columns: `found`: share of gold documents among the rows; `whole`: the same, with all of their text; `ceiling`: the share of questions whose shortest gold
-- document has at most so many tokens (length / 4); `ceiling of all`: the share of gold documents that there is room for together, shortest first, ten at most;
-- `hierarchy`: words of its rows per question; `useless`: the share of these in rows about what is neither the question's entity nor a gold document's, nor an
-- ancestor or a child of one of these. Ancestors are those of `edges`, so those that an unknown entity would have had count as useful, too.
-- Repeatable; leaves the tables budget_found and budget_useless.
\set QUIET 1
\pset footer off
\pset pager off
\if :{?questions} \else \set questions of_kind \endif
\if :{?edges} \else \set edges entity_edges \endif
\if :{?unknown_edges} \else \set unknown_edges known_edges \endif
\if :{?documents} \else \set documents documents \endif
\if :{?id} \else \set id id \endif
\if :{?body} \else \set body content \endif
\if :{?about} \else \set about entity \endif
\if :{?examples} \else \set examples 0 \endif
SET client_min_messages = warning;
DROP TABLE IF EXISTS budget_question, budget_document, budget_edge, budget_way, budget_useful, budget_found, budget_useless;
CREATE TABLE budget_question AS SELECT row_number() OVER (ORDER BY md5(question), md5(kind), md5(entity)) AS n, kind, question, entity, gold,
    CASE kind WHEN 'unknown' THEN :'unknown_edges' ELSE :'edges' END AS edges FROM :questions;
CREATE TABLE budget_document AS SELECT d.:"id"::text AS id, d.:"about"::text AS entity, d.:"body"::text AS body, ceil(length(d.:"body") / 4.0) AS tokens FROM :documents AS d
    WHERE d.:"id"::text IN (SELECT unnest(gold) FROM budget_question);
CREATE INDEX ON budget_document (id);
CREATE TABLE budget_edge AS SELECT DISTINCT parent::text, child::text FROM :edges WHERE parent IS NOT NULL;
CREATE INDEX ON budget_edge (child, parent);
CREATE INDEX ON budget_edge (parent, child);
ANALYZE budget_question, budget_document, budget_edge;
CREATE TABLE budget_useful AS
    WITH RECURSIVE asked AS (SELECT q.n, q.entity FROM budget_question AS q
                             UNION SELECT q.n, d.entity FROM budget_question AS q CROSS JOIN unnest(q.gold) AS g(id) JOIN budget_document AS d USING (id)),
                   above AS (SELECT n, entity FROM asked UNION SELECT a.n, e.parent FROM above AS a JOIN budget_edge AS e ON e.child = a.entity)
    SELECT n, entity FROM above UNION SELECT a.n, e.child FROM asked AS a JOIN budget_edge AS e ON e.parent = a.entity;
CREATE INDEX ON budget_useful (n, entity);
ANALYZE budget_useful;
CREATE TABLE budget_way (way int, name text, arguments text, budget int);
INSERT INTO budget_way VALUES (1, 'default', '', NULL), (2, 'budget 300', ', budget => 300', 300), (3, 'budget 150', ', budget => 150', 150);
CREATE TABLE budget_found (n bigint, way int, found float8, whole float8, fits boolean, room float8, words bigint, useless bigint, tokens bigint, ms float8);
CREATE TABLE budget_useless (n bigint, way int, entity text, words bigint, text text, why text);
-- Built here, since a transaction that has written builds none.
SELECT cft_build(edges) FROM pg_stat_cftrag WHERE state <> 'ready' \g /dev/null
DO $$
DECLARE
    q record;
    w record;
    start timestamptz;
    ms float8;
    r jsonb;
BEGIN
    FOR q IN SELECT * FROM budget_question ORDER BY n LOOP
        FOR w IN SELECT * FROM budget_way ORDER BY way LOOP
            start := clock_timestamp();
            EXECUTE format('SELECT jsonb_agg(to_jsonb(r)) FROM cft_retrieve($1, NULL, edges => %L%s) AS r', q.edges, w.arguments) INTO r USING q.question;
            ms := 1000 * extract(epoch FROM clock_timestamp() - start);
            INSERT INTO budget_useless
                SELECT q.n, w.way, h.entity, cardinality(regexp_split_to_array(btrim(h.text, E' \n\t'), '\s+')), h.text, h.why
                  FROM jsonb_to_recordset(coalesce(r, '[]')) AS h(source text, entity text, text text, why text)
                 WHERE h.source = 'hierarchy' AND NOT EXISTS (SELECT FROM budget_useful AS u WHERE u.n = q.n AND u.entity = h.entity);
            INSERT INTO budget_found
                SELECT q.n, w.way, g.found, g.whole, g.fits, g.room, h.words, (SELECT coalesce(sum(u.words), 0) FROM budget_useless AS u WHERE u.n = q.n AND u.way = w.way), h.tokens, ms
                  FROM (SELECT avg((d.id IS NOT NULL)::int) AS found, avg(coalesce(g.body = ANY (d.texts), false)::int) AS whole, bool_or(g.tokens <= coalesce(w.budget, g.tokens)) AS fits,
                               avg((g.place <= 10 AND g.running <= coalesce(w.budget, g.running))::int) AS room
                          FROM (SELECT id, body, tokens, row_number() OVER o AS place, sum(tokens) OVER o AS running FROM budget_document WHERE id = ANY (q.gold) WINDOW o AS (ORDER BY tokens, id)) AS g
                          LEFT JOIN (SELECT r.document_id AS id, array_agg(r.text) AS texts FROM jsonb_to_recordset(coalesce(r, '[]')) AS r(source text, document_id text, text text)
                                      WHERE r.source <> 'hierarchy' GROUP BY 1) AS d USING (id)) AS g,
                       (SELECT coalesce(sum(cardinality(regexp_split_to_array(btrim(h.text, E' \n\t'), '\s+'))) FILTER (WHERE h.source = 'hierarchy'), 0) AS words, coalesce(sum(h.tokens), 0) AS tokens
                          FROM jsonb_to_recordset(coalesce(r, '[]')) AS h(source text, text text, tokens int)) AS h;
        END LOOP;
    END LOOP;
END $$;
\echo == What a question gets: :questions
SELECT w.name AS way, coalesce(q.kind, 'all') AS kind, count(*) AS questions, round(avg(f.found)::numeric, 3) AS found, round(avg(f.whole)::numeric, 3) AS whole,
       round(avg(f.fits::int), 3) AS ceiling, round(avg(f.room)::numeric, 3) AS "ceiling of all", round(avg(f.tokens)) AS tokens, round(avg(f.words), 1) AS hierarchy,
       round(sum(f.useless) / nullif(sum(f.words), 0), 3) AS useless, round(avg((f.useless > 0)::int), 3) AS "with useless",
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f.ms)::numeric, 2) AS ms
  FROM budget_found AS f JOIN budget_question AS q USING (n) JOIN budget_way AS w USING (way) GROUP BY GROUPING SETS ((w.way, w.name, q.kind), (w.way, w.name)) ORDER BY w.way, q.kind IS NULL, q.kind;
SELECT :examples > 0 AS has_examples \gset
\if :has_examples
    \echo == The most useless words of hierarchy, by default
    SELECT q.kind, q.question, q.entity, string_agg(u.entity || ': ' || left(u.text, 300) || ' {' || u.why || '}', E'\n' ORDER BY u.words DESC) AS useless, sum(u.words) AS words
      FROM budget_useless AS u JOIN budget_question AS q USING (n) WHERE u.way = 1 GROUP BY q.n, q.kind, q.question, q.entity ORDER BY words DESC, q.question LIMIT :examples;
\endif
