-- cft_entities: which entities occur in a text. By Unicode words, folded; leftmost, then longest.
SET client_min_messages = warning;
CREATE TABLE ent (parent text COLLATE "C", child text);
SELECT cft_attach('ent');
SELECT oracle.build('ent');
INSERT INTO ent VALUES
    ('heart disease', 'Horner''s syndrome'), ('disease', 'heart disease'), ('disease', 'Heart'), ('disease', 'heart'), ('disease', 'type 2 diabetes'),
    ('heart disease type 2', 'lung cancer, non-small cell'), ('病', '糖尿病'), ('病', 'アルツハイマー病'), ('Straße', 'café'), ('+++', '—'), ('', 'x'),
    (NULL, 'fever'), ('cough', NULL);
SELECT * FROM cft_entities('Has HORNER’S syndrome or type-2 diabetes a heart disease?', 'ent');
-- A name's words, whatever stands between them and however they are written.
SELECT * FROM cft_entities('Lung cancer: non-small-cell. (STRASSE) cafe' || U&'\0301' || ', ＣＡＦＥ́, hy' || U&'\00AD' || 'per; X', 'ent');
SELECT * FROM cft_entities('彼は糖尿病とアルツハイマー病です', 'ent');
-- Leftmost, then longest, then on after it: several names of one form are all returned.
SELECT * FROM cft_entities('heart disease type 3, heart disease type 2, heart', 'ent');
SELECT * FROM cft_entities('heart disease type 2', 'ent', overlapping => true);
-- No row for what is no word, no edge, no question.
SELECT * FROM cft_entities('+++ — fever, cough; hearts heartdisease', 'ent');
SELECT * FROM cft_entities('', 'ent');
SELECT * FROM cft_entities(NULL, 'ent');
SELECT * FROM cft_entities('heart', 'ent', NULL);
SELECT * FROM cft_entities('heart', 'pg_class');
SELECT place, convert_from(form, 'UTF8'), start, length FROM cft_words('Does HORNER’S type-2…');
SELECT convert_from(cft_form('HORNER’S  Syndrome.'), 'UTF8'), cft_form('+++'), cft_form(repeat('a ', 65)), cft_form(repeat('a', 2001));
DROP TABLE ent;
