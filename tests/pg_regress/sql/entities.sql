-- cft_entities: which entities occur in a text. By Unicode words, folded; leftmost, then longest.
\a\t
SET cftrag.match = 'exact';
SET client_min_messages = warning;
CREATE TABLE ent (parent text COLLATE "C", child text);
SELECT cft_attach('ent');
INSERT INTO ent VALUES
    ('heart disease', 'Horner''s syndrome'), ('disease', 'heart disease'), ('disease', 'Heart'), ('disease', 'heart'), ('disease', 'type 2 diabetes'),
    ('heart disease type 2', 'lung cancer, non-small cell'), ('病', '糖尿病'), ('病', 'アルツハイマー病'), ('Straße', 'café'), ('+++', '—'), ('', 'x'),
    (NULL, 'fever'), ('cough', NULL);
SELECT oracle.build('ent');
SELECT * FROM cft_entities('Has HORNER’S syndrome or type-2 diabetes a heart disease?', 'ent');
-- A name's words, whatever stands between them and however they are written.
SELECT * FROM cft_entities('Lung cancer: non-small-cell. (STRASSE) cafe' || U&'\0301' || ', ＣＡＦＥ́, hy' || U&'\00AD' || 'per; X', 'ent');
SELECT * FROM cft_entities('彼は糖尿病とアルツハイマー病です', 'ent');
-- Leftmost, then longest, then on after it: several names of one form are all returned.
SELECT * FROM cft_entities('heart disease type 3, heart disease type 2, heart', 'ent');
SELECT * FROM cft_entities('heart disease type 2', 'ent', overlapping => true);
-- No row for what is no word, no entity (the row of 'cough' has no child, that of 'fever' no parent), no question.
SELECT * FROM cft_entities('+++ — fever, cough; hearts heartdisease', 'ent');
SELECT * FROM cft_entities('', 'ent');
SELECT * FROM cft_entities(NULL, 'ent');
SELECT * FROM cft_entities('heart', 'ent', overlapping => NULL);
SELECT * FROM cft_entities('heart', 'pg_class');
SELECT place, convert_from(form, 'UTF8'), start, length FROM cftrag_internal.cft_words('Does HORNER’S type-2…');
SELECT convert_from(cftrag_internal.cft_form('HORNER’S  Syndrome.'), 'UTF8'), cftrag_internal.cft_form('+++'), cftrag_internal.cft_form(repeat('a ', 65)), cftrag_internal.cft_form(repeat('a', 2001));

-- The same rows in the same order as by the definition, sql/entities.sql itself, under the same snapshot.
\set definition `cat "$PG_ABS_SRCDIR/../../sql/entities.sql"`
SELECT format('CREATE FUNCTION oracle.definition() RETURNS text IMMUTABLE LANGUAGE sql AS %L', format('SELECT %L::text', :'definition')) AS make \gset
:make;
CREATE FUNCTION oracle.entities_same(question text, edges regclass, overlapping boolean = false) RETURNS text
STABLE LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    query text := replace(replace(replace(replace(oracle.definition(), '--no label', ''), '{edges}', edges::text), '{named}', 'SELECT n.entity, n.entity FROM name AS n'),
                          '{aliases}', 'SELECT NULL::text, NULL::text WHERE false');
    answer text;
BEGIN
    query := replace(replace(query, '{parent}', 'r.parent::pg_catalog.text'), '{child}', 'r.child::pg_catalog.text');
    EXECUTE format(
        'WITH image AS MATERIALIZED (SELECT row_number() OVER () AS n, e.* FROM public.cft_entities($1, %L::regclass, overlapping => $2) AS e),
              reference AS MATERIALIZED (SELECT row_number() OVER () AS n, q.* FROM (%s) AS q),
              different AS ((TABLE image EXCEPT ALL TABLE reference) UNION ALL (TABLE reference EXCEPT ALL TABLE image))
         SELECT CASE WHEN EXISTS (TABLE different)
                     THEN (SELECT string_agg(side || z::text, E''\n'' ORDER BY side, n)
                             FROM (SELECT ''image      '' AS side, * FROM image UNION ALL SELECT ''definition '', * FROM reference) AS z)
                     ELSE format(''same, %%s rows'', (SELECT count(*) FROM image)) END', edges::oid::text,
        query)
       INTO answer USING question, overlapping;
    RETURN answer;
END $$;
SELECT oracle.entities_same('Has HORNER’S syndrome or type-2 diabetes a heart disease type 2? 糖尿病 of heart', 'ent', o) FROM (VALUES (true), (false)) AS v (o);

-- Under every snapshot: own changes, savepoints, rolled back ones; an entity without a visible edge hides no shorter name.
BEGIN;
DELETE FROM ent WHERE parent = 'heart disease type 2';
INSERT INTO ent VALUES ('new Heart', 'HEART disease type');
SELECT entity, start, length FROM cft_entities('new heart disease type 2', 'ent');
SELECT oracle.entities_same('new heart disease type 2 of a new heart', 'ent', o) FROM (VALUES (true), (false)) AS v (o);
SAVEPOINT s;
UPDATE ent SET child = 'a new' WHERE parent = 'new Heart';
SELECT oracle.entities_same('new heart disease type 2 of a new heart', 'ent', o) FROM (VALUES (true), (false)) AS v (o);
ROLLBACK TO s;
SELECT oracle.entities_same('new heart disease type 2 of a new heart', 'ent', o) FROM (VALUES (true), (false)) AS v (o);
ROLLBACK;
SELECT oracle.entities_same('new heart disease type 2 of a new heart', 'ent', o) FROM (VALUES (true), (false)) AS v (o);
SELECT * FROM cft_verify('ent');

-- Random names and texts: prefixes of one another, several of one form, mixed scripts, marks, no blanks; and names come and go.
CREATE TABLE piece AS SELECT i - 1 AS i, p FROM unnest(ARRAY['heart', 'Heart ', 'HEART-', ' of', ' of ', 'the ', 'Straße', 'STRASSE ', 'é', 'e' || U&'\0301',
    U&'\00AD', '''', '’', '’s ', '糖', '尿', '病', 'カ', 'ｶﾞ', '1', '2.', '3,', ' 4', '_', '.', ', ', E'\n', '🐈', U&'\200D', 'א', 'ไ', 'ท', 'İ', 'Σ', 'ς', 'ﬁ',
    'x ', 'y ', 'IT ', 'it ', 'R&D ', 'C#', 'c++ ', '.', '-', 'κόσμος ', 'ΚΌΣΜΟΣ', 'Москва ', 'МГУ ', 'мгу', '서울', '은 ', 'القاهرة ', 'د. ']) WITH ORDINALITY AS u (p, i);
CREATE FUNCTION random_text(most int) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE made text := ''; pieces text[] := ARRAY(SELECT p FROM piece ORDER BY i);
BEGIN
    FOR n IN 1..(random() * most)::int LOOP
        made := made || pieces[1 + (random() * (cardinality(pieces) - 1))::int];
    END LOOP;
    RETURN made;
END $$;
SELECT setseed(0.4);
TRUNCATE ent;
SELECT oracle.build('ent');
DO $$
DECLARE answer text; same int := 0; found int := 0;
BEGIN
    FOR i IN 1..300 LOOP
        INSERT INTO ent SELECT random_text(4), random_text(7) FROM generate_series(1, 5);
        IF i % 3 = 0 THEN
            DELETE FROM ent WHERE ctid IN (SELECT ctid FROM ent ORDER BY random() LIMIT 10);
        END IF;
        answer := oracle.entities_same(random_text(60), 'ent', i % 2 = 0);
        IF answer NOT LIKE 'same, %' THEN
            RAISE 'turn %: %', i, answer;
        END IF;
        same := same + 1;
        found := found + substring(answer FROM '\d+')::int;
        IF i % 10 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
    RAISE WARNING '% texts the same, names found: %', same, found > 5000;
END $$;
SELECT * FROM cft_verify('ent');

-- A text of many thousand words, and names of as many words as a name may have.
TRUNCATE ent;
INSERT INTO ent SELECT repeat('many words ', n), 'Needle' FROM generate_series(1, 33) AS n;
SELECT oracle.build('ent');
SELECT mention, start, length FROM cft_entities(repeat('hay ', 40000) || 'needle', 'ent');
SELECT length(entity), start, length FROM cft_entities(repeat('many words ', 80), 'ent');
SELECT oracle.entities_same(repeat('many words ', 70), 'ent', o) FROM (VALUES (true), (false)) AS v (o);

-- Words longer than any of a name, of any kind: they are no names, and hide none.
SELECT entity, start, length FROM cft_entities('needle a' || repeat(U&'\0301', 40000) || ' needle', 'ent');
SELECT place, length(form), start, length FROM cftrag_internal.cft_words('needle a' || repeat(U&'\0301', 40000) || ' needle');
SELECT ascii(x), oracle.entities_same('needle ' || repeat(x, 40000) || ' needle', 'ent')
  FROM (VALUES ('a'), ('a.'), ('_'), ('é'), ('é.'), ('—'), ('🇦'), (U&'\00AD'), (U&'\2003')) AS v (x) ORDER BY 1;
DROP TABLE ent, piece;
DROP FUNCTION random_text, oracle.entities_same, oracle.definition;
