-- How a text spells a name: names that differ in punctuation only, and short names of capitals.
\a\t
SET client_min_messages = warning;
CREATE TABLE spell (parent text, child text);
SELECT cft_attach('spell');
INSERT INTO spell VALUES ('language', 'F'), ('language', 'F#'), ('language', 'F*'), ('language', 'C++'), ('domain', '.COM'), ('department', 'R&D'), ('department', 'IT'),
    ('body', 'WHO'), ('country', 'US'), ('method', 'AIMS'), ('cell', 'T-cell'), ('cell', 'T cell'), ('cell', 'O''Neil'), ('cell', 'Osaka'), ('fruit', 'Apple'), ('firm', 'apple'),
    ('firm', 'Yahoo!'), ('firm', 'MEDICAL'), ('verb', 'Set'), ('verb', 'use'), ('verb', 'Set up'), ('home', 'Home'), ('firm', 'AT&T'), ('protocol', 'TCP/IP'), ('sign', U&'\2764\FE0F' || ' Health'), ('sign', U&'\2600' || ' Summer');
CREATE TABLE spell_alias (alias text, entity text);
SELECT cft_attach_aliases('spell_alias', edges => 'spell');
INSERT INTO spell_alias VALUES ('f-sharp', 'F#'), ('F*', 'F#'), ('f star', 'F*'), ('F-star', 'F*'), ('ALL', 'method'), ('Com', 'country');
SELECT oracle.build('spell');
SELECT oracle.build('spell_alias');
-- From the image, and as its definition says.
CREATE FUNCTION spelled(question text, overlapping boolean DEFAULT false) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    image text;
    definition text;
    ask CONSTANT text := 'SELECT coalesce(string_agg(concat_ws('' '', quote_ident(entity), ''"'' || mention || ''"'', ''by '' || via_alias), ''; '' ORDER BY n), ''-'')
        FROM cft_entities($1, ''spell'', overlapping => $2) WITH ORDINALITY AS e(entity, mention, start, length, via_alias, label, n)';
BEGIN
    PERFORM set_config('cftrag.enable', 'on', true);
    EXECUTE ask INTO image USING question, overlapping;
    PERFORM set_config('cftrag.enable', 'off', true);
    EXECUTE ask INTO definition USING question, overlapping;
    PERFORM set_config('cftrag.enable', 'on', true);
    RETURN CASE WHEN image IS DISTINCT FROM definition THEN format('image %s, definition %s', image, definition) ELSE image END;
END $$;
-- Of the names that a text may mean, those that stand in it; one word or single letters have their punctuation.
SELECT q AS question, spelled(q) FROM unnest(ARRAY['we use F# here', 'we use f# here', 'we use F here', 'F* is older', 'an F.', 'F+', 'f-sharp, f star', 'c', 'C++ or c++', 'com', 'x.com',
    'R. D. Laing', 'our r&d, R & D', 'T-cell', 't cell', 'T/cell', 'o’neil', 'apple', 'yahoo', 'Yahoo!', 'look at t-shirts', 'at&t, AT T', 'tcp ip, tcp/ip', U&'\2764' || ' health, ' || U&'\2764\FE0F' || ' Health', U&'\2600\FE0F' || 'Summer', 'health in summer']) WITH ORDINALITY AS u(q, n) ORDER BY n;
-- Short names of capitals only, and short aliases of capitals only.
SELECT q AS question, spelled(q), spelled(q, true) AS overlapping FROM unnest(ARRAY['who can tell us if it aims', 'WHO can tell the US if IT AIMS', 'Who, Us, It', 'all of it',
    'ALL OF IT', 'medical', 'to set and use it at home', 'Set, Use, SET, USE', 'how to set up']) WITH ORDINALITY AS u(q, n) ORDER BY n;
SET cftrag.match_case = off;
SELECT spelled('who can tell us if it aims');
SELECT spelled('we use f here to set it');
RESET cftrag.match_case;
-- Only what the caller sees wins.
BEGIN;
INSERT INTO spell VALUES ('language', 'G'), ('language', 'G#');
SELECT spelled('in G# here');
ROLLBACK;
SELECT spelled('in G# here');
BEGIN;
DELETE FROM spell WHERE child = 'F#';
SELECT spelled('we use F# here');
ROLLBACK;
-- A mention alone is the name in any case, and with a possessive.
SELECT * FROM cft_resolve('who', edges => 'spell');
SELECT * FROM cft_resolve('f#', edges => 'spell');
SELECT * FROM cft_resolve('Osaka''s', edges => 'spell');
SELECT * FROM cft_resolve('l''Osaka', edges => 'spell');
SELECT * FROM cft_resolve('Osaka''s sales', edges => 'spell');
SHOW cftrag.match_case;
-- What is no place of the text spells nothing.
SELECT cftrag_internal.cft_spelling('F#', 'we use F# here', 8, 1), cftrag_internal.cft_spelling('F', 'we use F# here', 8, 1), cftrag_internal.cft_spelling('F*', 'we use F# here', 8, 1),
    cftrag_internal.cft_spelling('T-cell', 'ein t/cell', 5, 6), cftrag_internal.cft_spelling('F', 'F', -5, 100), cftrag_internal.cft_spelling('F', 'F', 5, 1), cftrag_internal.cft_spelling('F', '', 2147483647, 2147483647);
DROP TABLE spell, spell_alias;
DROP FUNCTION spelled;
-- Twenty thousand names of one word, told apart by punctuation only: one of them is found, in steps; texts of apostrophes, and of many mentions.
CREATE TABLE alike (parent text, child text);
SELECT cft_attach('alike');
INSERT INTO alike SELECT 'name', 'alike' || translate(n::text, '0123456789', '!?,;:+*#=~') FROM generate_series(1, 20000) AS n;
INSERT INTO alike VALUES ('name', 'x'), ('name', 'X!');
SELECT oracle.build('alike');
CREATE FUNCTION counted(question text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    image text;
    definition text;
    ask CONSTANT text := 'SELECT format(''%s: %s'', count(*), min(entity)) FROM cft_entities($1, ''alike'')';
BEGIN
    PERFORM set_config('cftrag.enable', 'on', true);
    EXECUTE ask INTO image USING question;
    PERFORM set_config('cftrag.enable', 'off', true);
    EXECUTE ask INTO definition USING question;
    PERFORM set_config('cftrag.enable', 'on', true);
    RETURN CASE WHEN image IS DISTINCT FROM definition THEN format('image %s, definition %s', image, definition) ELSE image END;
END $$;
SELECT counted('is it alike?!?!,'), counted('it is alike'), counted('ALIKE? alike!'), counted(repeat('''', 100000)), counted(repeat('’', 100000)), counted(repeat('x''s ', 300)), counted(repeat('x! ', 100));
BEGIN;
DELETE FROM alike WHERE child LIKE 'alike?%';
SELECT counted('is it alike?!?!,'), counted('alike! it is');
ROLLBACK;
SELECT * FROM cft_verify('alike');
DROP TABLE alike;
DROP FUNCTION counted;
