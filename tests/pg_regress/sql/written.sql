-- Names as sentences write them: possessives, elisions, underscores, a full stop or colon without a blank; and names that have these themselves, which come first.
\a\t
SET cftrag.match = 'exact';
SET client_min_messages = warning;
CREATE TABLE written (parent text, child text);
INSERT INTO written VALUES ('place', 'Osaka'), ('place', 'heart failure clinic'), ('disease', 'cancer'), ('person', 'O''Neil'), ('person', 'Neil'), ('person', 'd''Artagnan'), ('person', 'Artagnan'),
    ('place', 'usine'), ('place', 'école'), ('thing', 'arte'), ('disease', 'Horner syndrome'), ('disease', 'Horner''s syndrome'), ('disease', 'Alzheimer disease'), ('thing', 'name with underscores'),
    ('thing', 'snake_case'), ('thing', 'Node.js'), ('thing', 'Anything'), ('thing', 'rock ''n'' roll'), ('thing', 'roll'), ('person', 'Anna'), ('thing', 'Osaka''s'), ('thing', 'l''arte'), ('thing', 'x s');
SELECT cft_attach('written');
SELECT oracle.build('written');
CREATE TABLE said (alias text, entity text);
INSERT INTO said VALUES ('tumour', 'cancer'), ('Horner''s', 'Horner syndrome'), ('the factory', 'usine');
CREATE FUNCTION found(question text, overlapping boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    ours text := (SELECT string_agg(format('%s "%s" %s+%s%s', e.entity, e.mention, e.start, e.length, ' by ' || e.via_alias), '; ' ORDER BY n)
                    FROM cft_entities(question, 'written', overlapping => overlapping) WITH ORDINALITY AS e(entity, mention, start, length, via_alias, label, n));
    theirs text;
BEGIN
    SET LOCAL cftrag.enable = off;
    theirs := (SELECT string_agg(format('%s "%s" %s+%s%s', e.entity, e.mention, e.start, e.length, ' by ' || e.via_alias), '; ' ORDER BY n)
                 FROM cft_entities(question, 'written', overlapping => overlapping) WITH ORDINALITY AS e(entity, mention, start, length, via_alias, label, n));
    RESET cftrag.enable;
    RETURN CASE WHEN ours IS DISTINCT FROM theirs THEN 'image: ' || coalesce(ours, '') || ' definition: ' || coalesce(theirs, '') ELSE coalesce(ours, 'nothing') END;
END $$;
\set texts '(VALUES (1, \'What are the heart failure clinic\'\'s opening hours?\'), (2, \'OSAKA’S mayor\'), (3, \'the cancer\'\'s spread, his tumour’s size\'), (4, \'O\'\'Neil and o\'\'neil\'\'s friends\'), (5, \'d\'\'Artagnan et qu\'\'Artagnan\'), (6, \'l\'\'usine, dell’école\'), (7, \'L’ARTE, dell\'\'arte\'), (8, \'Horner\'\'s syndrome or Horner syndrome\'), (9, \'Alzheimer’s disease\'), (10, \'a name_with_underscores and _cancer_\'), (11, \'snake_case in node.js\'), (12, \'It is cancer.Anything goes.\'), (13, \'rock \'\'n\'\' roll\'\'s end\'), (14, \'the_factory’s gate\'), (15, \'x\'\'s x s\'), (16, \'Osaka\'\'s\'), (17, \'Anna\'\'\'\'s clinics\'\' hours\'), (18, \'No names here.\')) AS t(n, text)'
SELECT n, text, found(text) FROM :texts ORDER BY n;
SELECT n, found(text, true) FROM :texts ORDER BY n;
SELECT cft_attach_aliases('said', edges => 'written');
SELECT oracle.build('said');
SELECT n, found(text) FROM :texts WHERE n IN (3, 8, 14) ORDER BY n;
-- Korean: a particle, or two, behind a name; a longer name first.
INSERT INTO written VALUES ('도시', '서울'), ('도시', '제주'), ('도시', '제주도'), ('기관', '서울은행'), ('기관', '한국 은행'), ('물', 'DNA'), ('사람', '이은'), ('과일', '사과'), ('나라', '대만');
SELECT text, found(text) FROM unnest(ARRAY['서울은 크다', '서울에서는 서울, 서울까지', '제주도는, 제주는', '서울은행은', '서울역', '한국 은행으로부터', 'DNA는 DNA입니다', '이은은', '은 에서', '북서울에', '도시에게는', '사과는 사과의', '대만은']) WITH ORDINALITY AS t(text, n) ORDER BY n;
-- A possessive of a name that begins like an elision; before a closing quotation mark; stops between words that have no case, or capitals only.
INSERT INTO written VALUES ('firm', 'L''Oréal'), ('person', 'Oréal'), ('country', 'Côte d''Ivoire'), ('person', 'Ivoire'), ('place', 'Qu''Appelle'), ('country', 'US'), ('thing', '.NET');
SELECT text, found(text) FROM unnest(ARRAY['L''Oréal''s shares', 'Côte d’Ivoire’s cocoa', 'd''Artagnan''s sword, qu''appelle''s river', 'l''Ivoire, d''O''Neil''s wife', '''Osaka''s'' ‘Osaka’s’ "Osaka''s"',
    '_Osaka''s_ Osaka''s_Neil', '서울.제주, 서울.Osaka', 'US.Osaka', 'Note:Osaka', 'ASP.NET', 'F.C.Osaka', 'x''s''y']) WITH ORDINALITY AS t(text, n) ORDER BY n;
-- Trees and labels see the same.
SELECT entity, mention FROM cft_entities('Osaka''s cancer', 'written', '{NULL}');
SELECT entity, mention FROM cft_entities('Osaka''s cancer', 'written', '{t}');
SELECT source, text FROM cft_retrieve('Which are the cancer''s relatives?', NULL, edges => 'written');
SELECT * FROM cft_resolve('cancer''s', edges => 'written');
-- Random texts, by image and definition.
SELECT setseed(0.5);
CREATE FUNCTION random_text() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT string_agg((ARRAY['Osaka', 'osaka', 'cancer', 'O''Neil', 'Neil', 'Artagnan', 'd''Artagnan', 'usine', 'école', 'Horner', 'syndrome', 'Horner''s', 'arte', 'Anna', 'snake', 'case', 'Node', 'js', 'rock', 'n', 'roll', 'x', 's', 'the', 'factory', 'tumour', 'L''Oréal', '서울'])[1 + floor(random() * 28)]
                   || (ARRAY[' ', ' ', ' ', '''s ', '’s ', '''', '’', '_', '.', '. ', ' l''', ' d’', ' dell''', '''S.', ''' ', '-', '''s''', ':', '''s_'])[1 + floor(random() * 19)], '') FROM generate_series(1, 8)
$$;
SELECT count(*) AS texts, count(*) FILTER (WHERE f LIKE 'image:%') AS differ, count(*) FILTER (WHERE f <> 'nothing') > 900 AS most_found
  FROM (SELECT found(random_text(), random() < 0.5) AS f FROM generate_series(1, 1000)) AS z;
DROP TABLE written, said;
DROP FUNCTION found, random_text;
