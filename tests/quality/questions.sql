-- The share of a question's gold names that occur in the retrieved text (ignoring case), averaged over the questions, and the words retrieved.
SET client_min_messages = warning;
\echo == 400 questions, as they are written
CREATE FUNCTION found(gold text, text text) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT avg((strpos(lower(text), lower(name)) > 0)::int) FROM unnest(string_to_array(gold, '|')) AS name $$;
CREATE FUNCTION words(text text) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT count(*) FROM regexp_split_to_table(text, '\s+') AS word WHERE word <> '' $$;
CREATE TABLE way (n int, mode text, arguments text);
INSERT INTO way VALUES
    (1, 'text, k = 5', 'mode => ''text'''), (2, 'text, k = 20', 'mode => ''text'', k => 20'),
    (3, 'naive, k = 5', 'mode => ''naive'', chunks => 0, edges => ''entity_edges'''), (4, 'ann_tree, k = 5', 'mode => ''ann_tree'', chunks => 0, edges => ''entity_edges'''),
    (5, 'ann_graph, k = 5', 'mode => ''ann_graph'', chunks => 0, edges => ''entity_edges'''),
    (6, 'cft, k = 5', 'chunks => 0, edges => ''entity_edges'''), (7, 'cft, k = 5, 5 chunks', 'edges => ''entity_edges'''),
    (8, 'cft, k = 5, 200 tokens', 'budget => 200, edges => ''entity_edges'''), (9, 'hierarchy alone', 'k => 0, chunks => 0, edges => ''entity_edges''');
CREATE TABLE answer (mode text, id text, found float8, words int);
CREATE FUNCTION ask(mode text, arguments text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO answer SELECT %L, a.id, found(a.gold, r.text), words(r.text)
        FROM asked AS a JOIN questions AS q USING (id),
             LATERAL (SELECT coalesce(string_agg(text, E''\n''), '''') AS text FROM cft_retrieve(a.question, q.embedding, %s)) AS r', mode, arguments);
END $$;
SELECT ask(mode, arguments) FROM way ORDER BY n \g /dev/null
SELECT w.mode, round(avg(found)::numeric, 3) AS "gold found", round(avg(words)) AS words,
       round(avg(found) FILTER (WHERE kind = 'parent')::numeric, 3) AS parent, round(avg(found) FILTER (WHERE kind = 'children')::numeric, 3) AS children,
       round(avg(found) FILTER (WHERE kind = 'grandparent')::numeric, 3) AS grandparent, round(avg(found) FILTER (WHERE kind = 'common')::numeric, 3) AS common
  FROM way AS w JOIN answer AS a USING (mode) JOIN asked USING (id) GROUP BY w.n, w.mode ORDER BY w.n;

\echo == The questions with the entity spelled differently: names recognised, and gold names found by the hierarchy alone
CREATE FUNCTION typo(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT overlay(name placing substr(name, at + 1, 1) || substr(name, at, 1) from at for 2)
      FROM (SELECT length(name) / 2 AS at) AS middle WHERE substr(name, at, 1) <> substr(name, at + 1, 1) AND substr(name, at, 2) !~ '\W' $$;
CREATE TABLE variant AS
    SELECT a.id, v.kind, a.entity, a.gold, v.written, replace(a.question, a.entity, v.written) AS question
      FROM asked AS a, LATERAL (
        SELECT '1 as it is', a.entity UNION ALL SELECT '2 upper case', upper(a.entity) UNION ALL SELECT '3 hyphens', replace(a.entity, ' ', '-')
        UNION ALL SELECT '4 plural', a.entity || 's' UNION ALL SELECT '5 one typo', typo(a.entity)
        UNION ALL SELECT '6 synonym', (SELECT min(s.alias) FROM alias AS s WHERE s.entity = a.entity)) AS v(kind, written)
     WHERE a.kind <> 'common' AND strpos(a.question, a.entity) > 0 AND v.written IS NOT NULL AND (v.kind = '1 as it is' OR v.written <> a.entity);
SELECT v.kind, count(*) AS questions,
       round(avg(EXISTS (SELECT FROM cft_entities(v.question, 'entity_edges') AS e WHERE e.entity = v.entity)::int)::numeric, 3) AS recognised,
       round(avg(found(v.gold, (SELECT coalesce(string_agg(text, ' '), '') FROM cft_retrieve(v.question, NULL, k => 0, chunks => 0, edges => 'entity_edges'))))::numeric, 3) AS "gold found",
       round(avg(coalesce((SELECT r.entity = v.entity FROM cft_resolve(v.written, k => 1, edges => 'entity_edges') AS r), false)::int)::numeric, 3) AS "cft_resolve, first"
  FROM variant AS v GROUP BY v.kind ORDER BY v.kind;
