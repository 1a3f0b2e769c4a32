-- Recall and precision of cft_entities on the Disease Ontology, and the positions of mentions. Run in the directory of the data.
SET client_min_messages = warning;
CREATE EXTENSION cftrag CASCADE;
CREATE TABLE edge (parent_id text, parent text, child_id text, child text);
\copy edge FROM PROGRAM 'tail -n +2 doid_edges.tsv' WITH (FORMAT csv, DELIMITER E'\t', QUOTE E'\b')
CREATE TABLE document (id text, title text, body text);
\copy document FROM PROGRAM 'tail -n +2 doid_documents.tsv' WITH (FORMAT csv, DELIMITER E'\t', QUOTE E'\b')
CREATE TABLE question (id int, kind text, question text, entity text, gold text);
\copy question FROM PROGRAM 'tail -n +2 doid_questions.tsv' WITH (FORMAT csv, DELIMITER E'\t', QUOTE E'\b')
CREATE TABLE given (id text, synonym text, scope text);
\copy given FROM PROGRAM 'tail -n +2 doid_synonyms.tsv' WITH (FORMAT csv, DELIMITER E'\t', QUOTE E'\b')
SELECT cft_attach('edge') \g /dev/null
SELECT cft_build('edge') \g /dev/null
CREATE TABLE claim (claim text, holds boolean);
CREATE TABLE name AS SELECT name, min(id) AS id FROM (SELECT parent, parent_id FROM edge UNION SELECT child, child_id FROM edge) AS n (name, id) GROUP BY name;
ANALYZE;

-- Every name in a sentence, in five spellings, after multi-byte characters; first and after are the positions of the name's first and last word.
CREATE TABLE spelled AS
SELECT name, spelling, written, (SELECT min(start) FROM cftrag_internal.cft_words(written)) AS first, (SELECT max(start + length) FROM cftrag_internal.cft_words(written)) AS after
  FROM name, LATERAL (VALUES ('as it is', name), ('capitals', upper(name)), ('first letters capital', initcap(name)),
       ('blanks for hyphens, two for one', replace(replace(name, '-', ' '), ' ', '  ')), ('curly apostrophe', replace(name, '''', '’'))) AS s (spelling, written);
CREATE TABLE found AS
SELECT s.*, e.entity, e.start = length('Naïve Σ 糖: is this an “') + s.first AND e.length = s.after - s.first
            AND e.mention = substr(written, s.first, s.after - s.first) AND e.entity = s.name AS placed
  FROM spelled AS s LEFT JOIN LATERAL cft_entities('Naïve Σ 糖: is this an “' || written || '”, they asked?', 'edge') AS e ON true;
SELECT spelling, count(DISTINCT name) AS names, count(DISTINCT name) FILTER (WHERE placed) AS found_in_place,
       round(100.0 * count(DISTINCT name) FILTER (WHERE placed) / count(DISTINCT name), 2) AS "recall %",
       round(100.0 * count(*) FILTER (WHERE placed) / count(entity), 2) AS "precision %"
  FROM found GROUP BY spelling ORDER BY min(length(spelling));
INSERT INTO claim SELECT 'every name is found in place: ' || spelling, count(DISTINCT name) = count(DISTINCT name) FILTER (WHERE placed) AND count(DISTINCT name) > 12000
  FROM found GROUP BY spelling;

-- The questions, each about one or two entities.
CREATE TABLE about AS SELECT id, question, unnest(string_to_array(entity, '|')) AS entity FROM question;
CREATE TABLE asked AS SELECT DISTINCT q.id, e.entity FROM question AS q, cft_entities(q.question, 'edge') AS e;
SELECT (SELECT count(*) FROM about) AS entities, (SELECT count(*) FROM about JOIN asked USING (id, entity)) AS found,
       round(100.0 * (SELECT count(*) FROM about JOIN asked USING (id, entity)) / (SELECT count(*) FROM about), 2) AS "recall %",
       round(100.0 * (SELECT count(*) FROM asked JOIN about USING (id, entity)) / (SELECT count(*) FROM asked), 2) AS "precision %";
INSERT INTO claim SELECT 'every entity of the questions is found', count(*) = 480 AND bool_and(EXISTS (SELECT FROM asked AS x WHERE x.id = a.id AND x.entity = a.entity))
  FROM about AS a;

-- Texts from the documents, compared with the definition.
SELECT format('CREATE FUNCTION definition(text, boolean) RETURNS TABLE (entity text, mention text, start int, length int, via_alias text, label text) STABLE LANGUAGE sql AS %L',
    replace(replace(replace(replace(replace(replace(:'definition', '--no label', ''), '{edges}', 'edge'), '{parent}', 'r.parent'), '{child}', 'r.child'), '{named}', 'SELECT n.entity, n.entity FROM name AS n'),
            '{aliases}', 'SELECT NULL::text, NULL::text WHERE false')) AS make \gset
:make;
CREATE TABLE body AS SELECT n, string_agg(body, ' ' ORDER BY id) AS body, n % 2 = 0 AS overlapping
  FROM (SELECT *, row_number() OVER (ORDER BY md5(id)) / 8 AS n FROM document) AS d GROUP BY n ORDER BY n LIMIT 60;
CREATE TABLE compared AS
SELECT n, ARRAY(SELECT e::text FROM cft_entities(body, 'edge', overlapping => overlapping) AS e) AS image, ARRAY(SELECT d::text FROM definition(body, overlapping) AS d) AS definition FROM body;
SELECT count(*) AS texts, count(*) FILTER (WHERE image = definition) AS as_by_definition, sum(cardinality(image)) AS mentions FROM compared;
INSERT INTO claim SELECT 'texts as by the definition', bool_and(image = definition) AND sum(cardinality(image)) > 500 FROM compared;

-- Each synonym in a sentence gives the entity it belongs to.
CREATE TABLE synonym AS SELECT DISTINCT g.synonym AS alias, n.name AS entity FROM given AS g JOIN name AS n USING (id) WHERE cftrag_internal.cft_form(g.synonym) IS NOT NULL;
SELECT cft_attach_aliases('synonym', edges => 'edge') \g /dev/null
SELECT cft_build('synonym') \g /dev/null
CREATE TABLE by_alias AS
SELECT s.*, bool_or(e.entity IS NOT DISTINCT FROM s.entity AND cftrag_internal.cft_form(e.mention) = cftrag_internal.cft_form(alias)) AS found
  FROM synonym AS s LEFT JOIN LATERAL cft_entities('Naïve Σ 糖: is this an “' || alias || '”, they asked?', 'edge') AS e ON true GROUP BY alias, s.entity;
SELECT count(*) AS synonyms, count(*) FILTER (WHERE found) AS found, round(100.0 * count(*) FILTER (WHERE found) / count(*), 2) AS "recall %" FROM by_alias;
INSERT INTO claim SELECT 'every synonym gives its entity', bool_and(found) AND count(*) > 10000 FROM by_alias;
SELECT claim, holds FROM claim;
SELECT edges, image_calls, reference_calls FROM pg_stat_cftrag ORDER BY 1;
INSERT INTO claim SELECT 'the image served', sum(reference_calls) = 0 AND sum(image_calls) > 70000 FROM pg_stat_cftrag;
SELECT cft_detach('synonym') \g /dev/null
