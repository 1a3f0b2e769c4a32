-- Relations out of sentences by rules. tests/extract has the labelled sentences, and crates/methods/tests/extract.rs measures on them.
\a\t
SET client_min_messages = warning;
CREATE FUNCTION said(text text, modifiers boolean = false) RETURNS SETOF text LANGUAGE sql AS
    $$ SELECT format('%s > %s (%s)', parent, child, relation) FROM cft_extract_relations(text, modifiers) $$;
SELECT * FROM cft_extract_relations('The nephron consists of a glomerulus, a tubule and a collecting duct. It is small. Analgesics such as aspirin are sold.');
-- Each phrase.
SELECT said(s) FROM unnest(ARRAY[
    'The heart failure clinic belongs to cardiology.', 'The left ventricle is part of the heart.', 'The kernel contains a scheduler.', 'The hospital includes two wards.',
    'The orchestra comprises strings and brass.', 'Water is composed of hydrogen and oxygen.', 'The team is made up of nurses.', 'The book is divided into chapters.',
    'The ledger is dependent on the database.', 'The ledger depends upon the database.', 'Breakfast is included in the price.', 'The femur is located in the thigh.',
    'Aspirin is a kind of analgesic.', 'A violin is a kind of string instrument.', 'Oaks are a type of tree.', 'Diseases such as measles and mumps are rare.', 'Such diseases as measles are rare.',
    'Languages, including Rust and C, are compiled.', 'Rodents, especially mice, live here.', 'Apples, pears and other fruits are sold.', 'Bananas or other fruit may be served.']) AS s;
-- What says nothing: pronouns, questions, negation, conditions, modals, a part of a part.
SELECT said(s) FROM unnest(ARRAY['It contains salt.', 'Does the set contain salt?', 'The aorta is not part of the lung.', 'The sea contains no gold.', 'If the sea contains gold, we dig.',
    'The box may contain nuts.', 'Nobody belongs to the group.', 'Asthma is a disease.', 'The hospital has a ward.', 'Part of the money belongs to the city.', 'Whether it depends on us is open.', 'The plan includes raising taxes.', '', 'contains', 'such as', 'and other', ', including , and']) AS s;
-- Sentences: abbreviations, empty lines, quotes, brackets, other scripts; lists are grouped under one parent.
SELECT parent, child, sentence FROM cft_extract_relations(E'Dr. Meyer''s ward belongs to surgery. "The set contains cups." The air (see p. 3) contains argon (1 %).\n\nHeading without a stop\n\nThe café contains naïve Gäste. 心臓は contains 心室.');
SELECT parent, array_agg(child) FROM cft_extract_relations('Germany, France and Italy belong to the EU. The EU includes Spain.') GROUP BY parent, relation ORDER BY relation;
-- Modifiers, on demand; each relation once in a sentence.
SELECT said('The kidney contains a renal artery and a renal vein. The North Hospital includes the East Wing.', modifiers => true);
SELECT count(*) FROM cft_extract_relations('The set contains cups, cups and cups.');
-- NULL; the same rows each time; long sentences are no sentences; a million words.
SELECT count(*) FROM cft_extract_relations(NULL);
SELECT count(*) FROM cft_extract_relations('The set contains cups.', NULL);
SELECT count(*) FROM cft_extract_relations('The set contains ' || repeat('cups, ', 400) || 'plates.');
SELECT count(*) FROM cft_extract_relations(repeat('The set contains cups and plates. ', 10000));
SELECT count(*) FROM cft_extract_relations(repeat('contains such as and other ', 100000));
SET statement_timeout = 100;
\set VERBOSITY sqlstate
SELECT count(*) FROM cft_extract_relations(repeat('The set contains cups and plates, and the cup belongs to the owner of the house. ', 1000000));
\set VERBOSITY default
RESET statement_timeout;
-- From texts to a forest: extract, keep, filter, attach.
CREATE TABLE raw_said (parent text, child text);
INSERT INTO raw_said SELECT parent, child FROM cft_extract_relations('The body contains the heart. The heart is part of the body. The heart contains valves. The body contains valves. The valve belongs to the valve.');
SELECT * FROM cft_filter_relations('raw_said', 'parent', 'child');
DROP TABLE raw_said;
DROP FUNCTION said;
