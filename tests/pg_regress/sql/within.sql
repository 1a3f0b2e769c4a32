-- cft_entities(within => ...): only some entities, and what is below them in a tree, are found in a text.
\a\t
SET client_min_messages = warning;
CREATE TABLE wi (tree text, parent text, child text);
SELECT cft_attach('wi', tree => 'tree');
INSERT INTO wi VALUES ('shop', NULL, 'everything'), ('shop', 'everything', 'shoes'), ('shop', 'shoes', 'trail shoes'), ('shop', 'trail shoes', 'ice spikes'),
    ('shop', 'everything', 'clothes'), ('shop', 'clothes', 'jackets'), ('shop', 'jackets', 'ice'), ('lab', 'samples', 'ice'), ('lab', 'samples', 'shoes'),
    ('lab', 'shoes', 'soles'), (NULL, 'soles', 'rubber'), (NULL, 'loop', 'hole'), (NULL, 'hole', 'loop');
CREATE TABLE wi_alias (alias text, entity text);
SELECT cft_attach_aliases('wi_alias', edges => 'wi');
INSERT INTO wi_alias VALUES ('frozen water', 'ice'), ('footwear', 'shoes');
SELECT oracle.build('wi');
SELECT oracle.build('wi_alias');
-- From the image, and as its definition says.
CREATE FUNCTION found(question text, trees text[], within text[]) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    image text;
    definition text;
    ask CONSTANT text := 'SELECT coalesce(string_agg(concat_ws('' by '', entity, via_alias), '', '' ORDER BY n), ''-'')
        FROM cft_entities($1, ''wi'', $2, $3) WITH ORDINALITY AS e(entity, mention, start, length, via_alias, label, n)';
BEGIN
    PERFORM set_config('cftrag.enable', 'on', true);
    EXECUTE ask INTO image USING question, trees, within;
    PERFORM set_config('cftrag.enable', 'off', true);
    EXECUTE ask INTO definition USING question, trees, within;
    PERFORM set_config('cftrag.enable', 'on', true);
    RETURN CASE WHEN image IS DISTINCT FROM definition THEN format('image %s, definition %s', image, definition) ELSE image END;
END $$;
\set everything '''everything, shoes, trail shoes, ice spikes, clothes, jackets, ice, samples, soles, rubber, loop, hole, frozen water, footwear'''
SELECT trees, within, found(:everything, trees, within) FROM (VALUES
    (NULL::text[], NULL::text[]), (NULL, '{}'), (NULL, '{nothing}'), (NULL, '{NULL}'), (NULL, '{everything}'), (NULL, '{shoes}'), (NULL, '{clothes,NULL,nothing}'), (NULL, '{jackets,samples}'),
    -- A path stays in one tree: rubber is below soles in the tree without a name, and soles below shoes in another.
    (NULL, '{soles}'), (NULL, '{loop}'), (NULL, '{ice}'), ('{shop}', '{shoes}'), ('{lab}', '{shoes}'), ('{lab,NULL}', '{shoes}'), ('{shop}', '{samples}'), ('{NULL}', '{soles,hole}'),
    ('{}', '{everything}'), ('{shop}', '{everything}')) AS v (trees, within);
-- What does not count hides no shorter name.
SELECT found('trail shoes, ice spikes', NULL, '{clothes}'), found('trail shoes, ice spikes', NULL, '{lab,samples}');
-- Under every snapshot.
BEGIN;
UPDATE wi SET parent = 'clothes' WHERE tree = 'shop' AND child = 'trail shoes';
SELECT found('trail shoes, ice spikes, shoes', '{shop}', '{clothes}'), found('trail shoes, ice spikes, shoes', '{shop}', '{shoes}');
SAVEPOINT s;
DELETE FROM wi WHERE child = 'trail shoes';
SELECT found('trail shoes, ice spikes, shoes', '{shop}', '{clothes}'), found('trail shoes, ice spikes, shoes', '{shop}', '{shoes}');
ROLLBACK TO s;
SELECT found('trail shoes, ice spikes, shoes', '{shop}', '{clothes}');
ROLLBACK;
-- A mention alone, a prompt: only what is below these, in these trees. Ids are given as texts.
SELECT r.entity, r.method FROM unnest(ARRAY['ice', 'footwear', 'Trail-Shoes', 'rubber']) WITH ORDINALITY AS m(mention, n), cft_resolve(m.mention, edges => 'wi', within => '{clothes,shoes}') AS r ORDER BY n, 1;
SELECT entity, method FROM cft_resolve('ice', edges => 'wi', trees => '{lab}');
SELECT entity, method FROM cft_resolve('ice', edges => 'wi', trees => '{NULL}');
SELECT entity, method FROM cft_resolve('ice', edges => 'wi', trees => '{lab}', within => '{clothes}');
SELECT cft_prompt('Are ice and soles cold?', NULL, edges => 'wi', within => '{clothes}');
SELECT source, entity, text FROM cft_retrieve('Are ice and soles cold?', NULL, edges => 'wi', trees => '{lab}', within => '{samples}');
SELECT entity FROM cft_retrieve('Are ice and soles cold?', NULL, edges => 'wi', within => '{}');
-- As the extension's own SQL asks it: of some names, those that are there.
SELECT cftrag_internal.cft_those(ARRAY['ice', 'none', 'shoes', NULL, 'ice', 'loop', 'everything'], 'wi', t, w) FROM (VALUES
    (NULL::text[], NULL::text[]), ('{lab}', NULL), (NULL, '{shoes}'), ('{shop}', '{shoes,loop}'), ('{}', NULL), (NULL, '{}')) AS v(t, w);
SELECT cftrag_internal.cft_those(NULL, 'wi', NULL, NULL), cftrag_internal.cft_those('{}', 'wi', NULL, NULL);
-- More levels than one walk has, and a cycle of as many.
INSERT INTO wi SELECT 'deep', 'level ' || n, 'level ' || n + 1 FROM generate_series(1, 2500) AS n;
INSERT INTO wi SELECT 'round', 'turn ' || n, 'turn ' || n % 2100 + 1 FROM generate_series(1, 2100) AS n;
SELECT oracle.build('wi');
SELECT found('level 1, level 999, level 1002, level 2501', NULL, '{level 1}'), found('level 1, level 999, level 1002, level 2501', NULL, '{level 1000}'),
    found('level 1, level 2501', NULL, '{level 2501}'), found('level 2501', '{round}', '{level 1}'), found('turn 1, turn 2000', NULL, '{turn 2001}'), found('turn 7, loop', NULL, '{loop}');
-- Random forests: a text of all names, within one or two, in all trees or one.
TRUNCATE wi, wi_alias;
SELECT setseed(0.3);
DO $$
DECLARE
    question text := (SELECT string_agg('n' || n, ' ') FROM generate_series(0, 30) AS n);
    of text; within text[]; trees text[]; same int := 0;
BEGIN
    FOR turn IN 1..150 LOOP
        INSERT INTO wi SELECT (ARRAY['a', 'b', NULL])[1 + (random() * 2.99)::int], CASE WHEN random() < 0.9 THEN 'n' || (random() * 20)::int END, 'n' || (random() * 30)::int FROM generate_series(1, 4);
        IF turn % 3 = 0 THEN
            DELETE FROM wi WHERE ctid IN (SELECT ctid FROM wi ORDER BY random() LIMIT 10);
        END IF;
        within := ARRAY['n' || (random() * 20)::int, 'n' || (random() * 20)::int];
        trees := CASE turn % 4 WHEN 0 THEN '{a}' WHEN 1 THEN '{b,NULL}' END;
        of := found(question, trees, within);
        IF of LIKE 'image%' THEN
            RAISE 'turn %, % in %: %', turn, within, trees, of;
        END IF;
        same := same + (of <> '-')::int;
    END LOOP;
    RAISE WARNING 'with names found: %', same > 100;
END $$;
SELECT * FROM cft_verify('wi');
DROP TABLE wi, wi_alias;
DROP FUNCTION found;
