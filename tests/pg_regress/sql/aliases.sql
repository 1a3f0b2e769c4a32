-- Tables of aliases: other names of entities, found by cft_entities, with the entity and the alias as they are stored.
\a\t
SET cftrag.match = 'exact';
SET client_min_messages = warning;
CREATE TABLE kin (parent text, child text);
INSERT INTO kin VALUES ('heart disease', 'heart attack'), ('disease', 'heart disease'), ('disease', 'Migraine'), ('disease', 'multiple sclerosis'), ('sign', '+++'), ('1', '2');
CREATE TABLE synonym (alias text, entity text);
INSERT INTO synonym VALUES ('Myocardial Infarction', 'heart attack'), ('MI', 'heart attack'), ('mi', 'heart attack'), ('MI', 'Migraine'),
    ('MS', 'multiple sclerosis'), ('HEART attack', 'heart attack'), ('plus sign', '+++'), ('of nobody', 'nobody'), ('heart disease', 'disease'), (NULL, 'disease'), ('nothing', NULL);
SELECT cft_attach('kin');
SELECT cft_attach_aliases('synonym', edges => 'kin');
SELECT cft_attach_aliases('synonym', edges => 'kin');
SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'synonym'::regclass ORDER BY 1;
SELECT oracle.build('kin');
SELECT oracle.build('synonym');
-- An alias of two entities gives both; one that is its entity's name adds nothing; an entity that is in no edge is none.
SELECT * FROM cft_entities('A myocardial infarction (MI), a heart attack, MS, +++ or plus sign, of nobody', 'kin');
-- The longest of names and aliases together; an entity's own name first.
SELECT * FROM cft_entities('heart disease of the heart attack mi', 'kin', overlapping => true);
-- A table of aliases is no edges table that edges could mean when it is left out.
SELECT entity, via_alias FROM cft_entities('MS');

-- As by the definition, sql/entities.sql itself, under the same snapshot.
\set definition `cat "$PG_ABS_SRCDIR/../../sql/entities.sql"`
SELECT format('CREATE FUNCTION oracle.definition() RETURNS text IMMUTABLE LANGUAGE sql AS %L', format('SELECT %L::text', :'definition')) AS make \gset
:make;
CREATE FUNCTION oracle.aliases_same(question text, overlapping boolean = false) RETURNS text
STABLE LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    query text := replace(replace(oracle.definition(), '{edges}', 'public.kin'), '{parent}', 'r.parent::pg_catalog.text');
    answer text;
BEGIN
    query := replace(replace(replace(replace(query, '--no label', ''), '{child}', 'r.child::pg_catalog.text'), '{named}', 'SELECT n.entity, n.entity FROM name AS n'), '{aliases}',
        'SELECT alias COLLATE "C", entity COLLATE "C" FROM public.synonym WHERE alias IS NOT NULL AND entity IS NOT NULL');
    EXECUTE format(
        'WITH image AS MATERIALIZED (SELECT row_number() OVER () AS n, e.* FROM public.cft_entities($1, ''public.kin'', overlapping => $2) AS e),
              reference AS MATERIALIZED (SELECT row_number() OVER () AS n, q.* FROM (%s) AS q),
              different AS ((TABLE image EXCEPT ALL TABLE reference) UNION ALL (TABLE reference EXCEPT ALL TABLE image))
         SELECT CASE WHEN EXISTS (TABLE different)
                     THEN (SELECT string_agg(side || z::text, E''\n'' ORDER BY side, n)
                             FROM (SELECT ''image      '' AS side, * FROM image UNION ALL SELECT ''definition '', * FROM reference) AS z)
                     ELSE format(''same, %%s rows'', (SELECT count(*) FROM image)) END', query)
       INTO answer USING question, overlapping;
    RETURN answer;
END $$;
SELECT oracle.aliases_same('A myocardial infarction (MI), a heart attack of heart disease, MS, +++ or plus sign, of nobody', o) FROM (VALUES (true), (false)) AS v (o);

-- Under every snapshot.
BEGIN;
INSERT INTO synonym VALUES ('sclerosis of MI', 'disease');
DELETE FROM synonym WHERE entity = 'Migraine';
DELETE FROM kin WHERE child = 'multiple sclerosis';
SELECT entity, mention, via_alias FROM cft_entities('MS or sclerosis of MI and MI', 'kin');
SAVEPOINT s;
UPDATE synonym SET alias = 'MS', entity = 'sign' WHERE alias = 'MI';
SELECT oracle.aliases_same('MS or sclerosis of MI and MI', o) FROM (VALUES (true), (false)) AS v (o);
ROLLBACK TO s;
SELECT oracle.aliases_same('MS or sclerosis of MI and MI', o) FROM (VALUES (true), (false)) AS v (o);
ROLLBACK;
SELECT oracle.aliases_same('MS or sclerosis of MI and MI', o) FROM (VALUES (true), (false)) AS v (o);
SELECT setseed(0.7);
CREATE FUNCTION random_name(most int) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE made text := ''; pieces text[] := '{a,A,b,B,c,of,1,-,ß,SS}';
BEGIN
    FOR n IN 1..1 + (random() * (most - 1))::int LOOP
        made := made || pieces[1 + (random() * 9)::int] || ' ';
    END LOOP;
    RETURN made;
END $$;
DO $$
DECLARE answer text; same int := 0; found int := 0;
BEGIN
    FOR i IN 1..60 LOOP
        INSERT INTO kin SELECT random_name(3), random_name(3) FROM generate_series(1, 2);
        INSERT INTO synonym SELECT random_name(2), (SELECT child FROM kin ORDER BY random() LIMIT 1) FROM generate_series(1, 2 + 0 * i);
        INSERT INTO synonym SELECT random_name(3), random_name(3);
        IF i % 2 = 0 THEN
            DELETE FROM kin WHERE ctid IN (SELECT ctid FROM kin ORDER BY random() LIMIT 3);
            DELETE FROM synonym WHERE ctid IN (SELECT ctid FROM synonym ORDER BY random() LIMIT 3);
        END IF;
        answer := oracle.aliases_same(random_name(30), i % 3 = 0);
        IF answer NOT LIKE 'same, %' THEN
            RAISE 'turn %: %', i, answer;
        END IF;
        same := same + 1;
        found := found + substring(answer FROM '\d+')::int;
        IF i % 10 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
    RAISE WARNING '% texts the same, many names found: %', same, found > 1000;
END $$;
SELECT * FROM cft_verify('kin');
SELECT * FROM cft_verify('synonym');

-- Rights are the tables' own; a policy hides aliases; names follow a rename.
TRUNCATE kin, synonym;
INSERT INTO kin VALUES ('a', 'b');
INSERT INTO synonym VALUES ('alpha', 'a'), ('beta', 'b');
CREATE ROLE cftrag_alias_reader;
GRANT SELECT ON kin TO cftrag_alias_reader;
SET ROLE cftrag_alias_reader;
SELECT entity, via_alias FROM cft_entities('alpha beta', 'kin');
RESET ROLE;
GRANT SELECT ON synonym TO cftrag_alias_reader;
ALTER TABLE synonym ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON synonym USING (alias <> 'beta');
SET ROLE cftrag_alias_reader;
SELECT entity, via_alias FROM cft_entities('alpha beta', 'kin');
RESET ROLE;
ALTER TABLE kin RENAME TO kin_2;
SELECT entity, via_alias FROM cft_entities('alpha beta', 'kin_2');
ALTER TABLE kin_2 RENAME TO kin;
-- With triggers that are not always on, the definition answers.
ALTER TABLE synonym DISABLE TRIGGER cftrag_row;
INSERT INTO synonym VALUES ('gamma', 'b');
SELECT entity, via_alias FROM cft_entities('alpha beta gamma', 'kin');
SELECT cft_attach_aliases('synonym', edges => 'kin');
SELECT entity, via_alias FROM cft_entities('alpha beta gamma', 'kin');
-- A column of aliases that is renamed or gone is named by its table, and attached anew.
BEGIN;
ALTER TABLE synonym RENAME alias TO other_name;
SAVEPOINT renamed;
SELECT entity, via_alias FROM cft_entities('alpha beta gamma', 'kin');
ROLLBACK TO renamed;
SELECT cft_attach_aliases('synonym', 'other_name', edges => 'kin');
SELECT entity, via_alias FROM cft_entities('alpha beta gamma', 'kin');
ROLLBACK;
BEGIN;
ALTER TABLE synonym DROP entity;
SELECT entity, via_alias FROM cft_entities('alpha beta gamma', 'kin');
ROLLBACK;

-- Errors.
SELECT cft_attach_aliases(NULL, edges => 'kin');
SELECT cft_attach_aliases('kin', 'parent', 'child', 'kin');
SELECT cft_attach_aliases('synonym', edges => 'pg_class');
SELECT cft_attach_aliases('synonym', 'nope', edges => 'kin');
SELECT cft_attach_aliases('synonym', 'alias', 'alias', edges => 'kin');
SET ROLE cftrag_alias_reader;
SELECT cft_attach_aliases('synonym', edges => 'kin');
CREATE TEMP TABLE mine (alias text, entity text);
SELECT cft_attach_aliases('mine', edges => 'kin');
RESET ROLE;
-- Several tables of aliases; detached ones no longer count; without its edges table a table of aliases is none.
CREATE TABLE more (id int, names text);
INSERT INTO more VALUES (1, 'x');
CREATE TABLE numbers (parent int, child int);
INSERT INTO numbers VALUES (1, 2);
SELECT cft_attach('numbers', ids => true);
SELECT cft_attach_aliases('more', 'names', 'id', 'numbers');
SELECT * FROM cft_entities('x 2 x', 'numbers');
SELECT cft_attach_aliases('more', 'names', 'id', 'kin');
INSERT INTO kin VALUES ('1', '2');
SELECT entity, via_alias FROM cft_entities('x 2 alpha', 'kin');
SELECT entity, via_alias FROM cft_entities('x 2 alpha', 'numbers');
SELECT cft_detach('more');
SELECT entity, via_alias FROM cft_entities('x 2 alpha', 'kin');
DROP TABLE kin;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'synonym'::regclass ORDER BY 1;
DROP TABLE synonym, more, numbers;
DROP OWNED BY cftrag_alias_reader;
DROP ROLE cftrag_alias_reader;
DROP FUNCTION random_name, oracle.aliases_same, oracle.definition;
