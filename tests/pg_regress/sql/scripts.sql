-- What surrounds a name: suffixes and prefixes of several languages, ends of sentences and cells, signs of HTML, lines, case. The image gives what the
-- definition gives (sql/entities.sql).
\a\t
SET client_min_messages = warning;
CREATE TABLE around (parent text, child text);
INSERT INTO around SELECT 'root', unnest(ARRAY['Sivas', 'Ankara', 'WHO', 'EU', 'Home & Garden', 'AT&T', 'Pump Garden', 'Acme, Inc.', 'St. Mary', 'ירושלים', 'תל אביב', 'القاهرة', 'كتاب', 'Reading',
    'Turbinenhalle', 'ışıklar', 'Королёв', 'Αθήνα', 'Don', 'Well. Known']);
SELECT cft_attach('around');
SELECT oracle.build('around');
CREATE FUNCTION finds(question text, match text DEFAULT 'exact') RETURNS TABLE(finds text, is_defined boolean) LANGUAGE plpgsql AS $$
DECLARE
    rows text[];
    defined text[];
BEGIN
    SELECT array_agg(e.mention || ' = ' || e.entity || CASE e.method WHEN 'exact' THEN '' ELSE ', ' || e.method END) INTO rows FROM cft_entities(question, 'around', match => match) AS e;
    PERFORM set_config('cftrag.enable', 'off', true);
    SELECT array_agg(e.mention || ' = ' || e.entity || CASE e.method WHEN 'exact' THEN '' ELSE ', ' || e.method END) INTO defined FROM cft_entities(question, 'around', match => match) AS e;
    PERFORM set_config('cftrag.enable', 'on', true);
    RETURN QUERY SELECT array_to_string(rows, '; '), rows IS NOT DISTINCT FROM defined;
END $$;
-- Behind an apostrophe or a colon; not contractions of English.
SELECT * FROM finds('Sivas''ta ve Sivas’ın köyleri, Ankara''dan; WHO:n EU:ssa; Don''t');
-- Hebrew and Arabic.
SELECT * FROM finds('בירושלים ובתל אביב, ירושלים');
SELECT * FROM finds('بالقاهرة والقاهرة وبكتاب الكتاب كتاب');
-- A name ends where a sentence, a clause, a paragraph or a cell does, unless it has that end itself.
SELECT * FROM finds(E'the pump. Garden tools; pump; garden\tPump\tGarden | Pump | Garden\n\npump\n\ngarden');
SELECT * FROM finds('a pump garden, PUMP-GARDEN; Acme, Inc. and St. Mary; well. Known. Acme Inc');
-- HTML, and a word that goes on in the next line.
SELECT * FROM finds('Home &amp; Garden, Home&nbsp;&amp;&nbsp;Garden');
SELECT * FROM finds(E'Turbinen-\nhalle, Turbinen\nhalle', 'fuzzy');
-- Letters that differ in case or in marks.
SELECT * FROM finds('IŞIKLAR, Işıklar; Королев, ΑΘΗΝΑ', 'inflected');
-- Names with a capital.
SELECT * FROM finds('reading in Reading, who and WHO');
SET cftrag.match_case = capitals;
SELECT * FROM finds('reading in Reading, readings in READING, who and WHO', 'fuzzy');
SET cftrag.match_case = off;
SELECT * FROM finds('reading in Reading, who and WHO');
SET cftrag.match_case = sometimes;
RESET cftrag.match_case;
-- Common words are those of the language.
CREATE TABLE orte (parent text, child text);
INSERT INTO orte VALUES ('Ort', 'Der'), ('Ort', 'Im'), ('Ort', 'Set');
SELECT cft_attach('orte', language => 'german');
SELECT mention, entity FROM cft_entities('der Set im Ort, Der und Im', 'orte', match => 'exact');
SET cftrag.enable = off;
SELECT mention, entity FROM cft_entities('der Set im Ort, Der und Im', 'orte', match => 'exact');
RESET cftrag.enable;
DROP TABLE around, orte;
DROP FUNCTION finds;
