-- Some trees of many: trees => ARRAY[...]. Every answer is that of all trees without the others' rows, by the image and by definition.
\a\t
SET client_min_messages = warning;
CREATE TABLE tenants (tenant text, parent text, child text);
INSERT INTO tenants SELECT 't' || t, 'Sales', 'Region ' || r FROM generate_series(1, 300) AS t, generate_series(1, 5) AS r;
INSERT INTO tenants SELECT 't' || t, NULL, 'Sales' FROM generate_series(1, 300) AS t;
INSERT INTO tenants VALUES (NULL, 'Sales', 'Nowhere'), ('t7', 'Company', 'Sales'), ('t8', NULL, 'Alone'), ('', 'Sales', 'Empty');
CREATE INDEX ON tenants (parent);
CREATE INDEX ON tenants (child);
CREATE TABLE tenant_texts (id int, body text, embedding vector(2), entity text);
INSERT INTO tenant_texts VALUES (1, 'Regions are sold.', '[1,0]', 'Region 1'), (2, 'Companies own.', '[0,1]', 'Company'), (3, 'Alone it stands.', '[1,1]', 'Alone');
SELECT cft_attach('tenants', tree => 'tenant');
SELECT cft_attach_documents('tenant_texts', entity => 'entity');
SELECT oracle.build('tenants');
SET cftrag.work_memory = '64MB';

SELECT length(cft_context_text('Sales', edges => 'tenants')) > 30000 AS all_tenants;
SELECT cft_context_text('Sales', edges => 'tenants', trees => '{t7}');
SELECT cft_context_text(ARRAY['Sales', 'Region 3'], edges => 'tenants', trees => ARRAY[NULL, 't3', 'none of these', 't3']);
SELECT tree, relation, text FROM cft_context_parts('{Sales}', 1, 0, 'tenants', '{t7,t8}');
SELECT cft_context_json('Region 3', edges => 'tenants', trees => '{t7}');
SELECT cft_context_json('{Region 3,Alone}'::text[], edges => 'tenants', trees => '{t8}');
SELECT * FROM cft_roots('tenants', '{t7,t8}');
SELECT * FROM cft_roots('tenants', ARRAY[NULL, '']);
SELECT * FROM cft_path_prefix(ARRAY['Region 3', 'Alone', 'Sales'], 'tenants', '{t7,t8}');
SELECT cft_path_prefix('Region 3', 'tenants', '{t7}'), cft_path_prefix('Alone', 'tenants', '{t7}') AS not_there;
-- Of a name that is in another tree only there is no mention, and it hides none.
SELECT * FROM cft_entities('The company, sales and alone', 'tenants', '{t7}');
SELECT * FROM cft_entities('The company, sales and alone', 'tenants', '{t8}', overlapping => true);
SELECT document_id, relation, depth FROM cft_chunks('Sales', edges => 'tenants', trees => '{t7}', documents => 'tenant_texts');
SELECT document_id, relation, depth FROM cft_chunks('Alone', edges => 'tenants', trees => '{t7}', documents => 'tenant_texts');
SELECT source, text, why FROM cft_retrieve('Sales of the company, alone?', '[1,0]', 1, edges => 'tenants', trees => '{t8}', documents => 'tenant_texts');
SELECT cft_prompt('How are sales?', NULL, edges => 'tenants', trees => '{t7}', documents => 'tenant_texts');
SELECT mode, count(*) FROM unnest('{cft,naive,ann_tree,ann_graph,text}'::text[]) AS mode,
       cft_retrieve('How are sales?', '[1,0]', 1, chunks => 0, mode => mode, edges => 'tenants', trees => '{t7}', documents => 'tenant_texts') GROUP BY 1 ORDER BY 1;
-- None, every one, and an array of several dimensions.
SELECT count(*) FROM cft_context('Sales', edges => 'tenants', trees => '{}');
SELECT count(*) FROM cft_roots('tenants', '{}');
SELECT count(*) FROM cft_entities('Sales', 'tenants', '{}');
SELECT (SELECT count(*) FROM cft_context('Sales', edges => 'tenants', trees => NULL)) = (SELECT count(*) FROM cft_context('Sales', edges => 'tenants')) AS as_without;
SELECT count(*) FROM cft_context('Sales', edges => 'tenants', trees => '{{t1,t2},{t3,NULL}}');
-- A table without a column of trees has rows without a tree.
CREATE TABLE treeless (parent int, child int);
INSERT INTO treeless VALUES (1, 2), (1, 3);
SELECT cft_attach('treeless');
SELECT oracle.build('treeless');
SELECT count(*) FROM cft_context(1, edges => 'treeless', trees => '{a}');
SELECT count(*) FROM cft_context(1, edges => 'treeless', trees => ARRAY[NULL]::text[]);
SELECT * FROM cft_roots('treeless', '{NULL}');

-- Against the rows of all trees, by image and definition, with few and many trees.
CREATE FUNCTION in_trees(trees text[]) RETURNS TABLE(what text, rows bigint, different bigint) LANGUAGE plpgsql AS $$
DECLARE
    ours text;
    whole text;
BEGIN
    FOR what, ours, whole IN VALUES
        ('context', $q$SELECT c.* FROM cft_context(ARRAY['Sales', 'Region 3', 'Company', 'Alone'], 3, 3, 'tenants', $1) AS c$q$,
                    $q$SELECT c.* FROM cft_context(ARRAY['Sales', 'Region 3', 'Company', 'Alone'], 3, 3, 'tenants') AS c$q$),
        ('roots', $q$SELECT c.* FROM cft_roots('tenants', $1) AS c$q$, $q$SELECT c.* FROM cft_roots('tenants') AS c$q$),
        ('prefix', $q$SELECT c.* FROM cft_path_prefix(ARRAY['Sales', 'Region 3', 'Company', 'Alone'], 'tenants', $1) AS c$q$,
                   $q$SELECT c.* FROM cft_path_prefix(ARRAY['Sales', 'Region 3', 'Company', 'Alone'], 'tenants') AS c$q$) LOOP
        whole := format('SELECT * FROM (%s) AS w WHERE EXISTS (SELECT FROM unnest($1) AS t(tree) WHERE t.tree IS NOT DISTINCT FROM w.tree)', whole);
        EXECUTE format('SELECT (SELECT count(*) FROM (%1$s) AS o), (SELECT count(*) FROM ((%1$s EXCEPT ALL %2$s) UNION ALL (%2$s EXCEPT ALL %1$s)) AS d)', ours, whole)
            INTO rows, different USING trees;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT served, i.* FROM unnest('{on,off}'::text[]) AS served, LATERAL (SELECT set_config('cftrag.enable', served, false)) AS s,
       LATERAL (SELECT CASE WHEN s IS NOT NULL THEN '{t1,t7,NULL,none}'::text[] END AS few) AS f, in_trees(f.few) AS i;
SELECT served, i.* FROM unnest('{on,off}'::text[]) AS served, LATERAL (SELECT set_config('cftrag.enable', served, false)) AS s,
       LATERAL (SELECT CASE WHEN s IS NOT NULL THEN (SELECT array_agg('t' || n) FROM generate_series(5, 200) AS n) || NULL::text END AS many) AS f, in_trees(f.many) AS i;
RESET cftrag.enable;
-- Not more than the session may use.
SET cftrag.work_memory = '1MB';
SELECT count(*) FROM cft_context('Sales', edges => 'tenants', trees => (SELECT array_agg(repeat('x', 1000) || n) FROM generate_series(1, 2000) AS n));
RESET cftrag.work_memory;
-- What is found takes no memory for names that do not count: those of other trees, those not within, those spelled worse.
CREATE TABLE shops (tenant text, id int, parent_id int, name text);
INSERT INTO shops SELECT 't' || t, 10 * t + k, CASE WHEN k > 0 THEN 10 * t END, (ARRAY['Shop', 'Accessories', 'Shoes', 'Hats'])[k + 1] FROM generate_series(0, 2999) AS t, generate_series(0, 3) AS k;
CREATE TABLE shop_words (alias text, id text);
INSERT INTO shop_words SELECT 'headgear', id::text FROM shops WHERE name = 'Hats';
CREATE TABLE dashes (parent text, child text);
INSERT INTO dashes SELECT 'root', 'heart' || translate(n::text, '0123456789', ';:,!?-+=%&') || 'clinic' FROM generate_series(1, 3000) AS n;
SELECT cft_attach('shops', parent => 'parent_id', child => 'id', label => 'name', tree => 'tenant');
SELECT cft_attach_aliases('shop_words', alias => 'alias', entity => 'id', edges => 'shops');
SELECT cft_attach('dashes');
SELECT oracle.build('shops');
SELECT oracle.build('shop_words');
SELECT oracle.build('dashes');
SET cftrag.work_memory = '8MB';
SELECT count(*), string_agg(DISTINCT entity, ' ') FROM cft_entities(repeat('shoes and hats for my shop? ', 200), 'shops', trees => '{t77}');
SELECT count(*), string_agg(DISTINCT entity, ' ') FROM cft_entities(repeat('The shop''s headgear. ', 200), 'shops', trees => '{t77,t3000}', overlapping => true);
SELECT count(*), string_agg(DISTINCT entity, ' ') FROM cft_entities(repeat('shoes and hats for my shop? ', 200), 'shops', within => '{770,12,x}');
SELECT count(*) FROM cft_entities(repeat('shoes and hats for my shop? ', 200), 'shops', within => '{}');
SELECT count(*) FROM cft_entities(repeat('shoes and headgear for my shop? ', 200), 'shops');
SELECT count(*), string_agg(DISTINCT entity, ' ') FROM cft_entities(repeat('the heart!!clinic ', 300), 'dashes');
SELECT count(*), string_agg(DISTINCT entity, ' ') FROM cft_entities(repeat('the heart!!clinic''s ', 300), 'dashes');
RESET cftrag.work_memory;
-- By image and definition, with rows of others that are not committed, and deleted ones.
CREATE FUNCTION shops_differ(question text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    sum bigint := 0;
    n bigint;
    part record;
BEGIN
    FOR part IN VALUES ('{t1,t2,none}'::text[], NULL::text[], false), ('{t1,t2,t3}', '{10,22}', true), (NULL, '{30,41,x}', false), (NULL, NULL, true) LOOP
        CREATE TEMP TABLE ours ON COMMIT DROP AS SELECT e.* FROM cft_entities(question, 'shops', part.column1, part.column2, part.column3) AS e;
        SET LOCAL cftrag.enable = off;
        CREATE TEMP TABLE theirs ON COMMIT DROP AS SELECT e.* FROM cft_entities(question, 'shops', part.column1, part.column2, part.column3) AS e;
        RESET cftrag.enable;
        SELECT count(*) INTO n FROM ((TABLE ours EXCEPT ALL TABLE theirs) UNION ALL (TABLE theirs EXCEPT ALL TABLE ours)) AS d;
        sum := sum + n;
        DROP TABLE ours, theirs;
    END LOOP;
    RETURN sum;
END $$;
DELETE FROM shops WHERE id >= 1000;
BEGIN;
DELETE FROM shops WHERE id % 3 = 0 AND id > 100;
INSERT INTO shops SELECT 't' || n % 5, 100000 + n, 10 * (n % 5), CASE n % 3 WHEN 0 THEN 'S-hoes' WHEN 1 THEN 'shoes' ELSE 'The Shop''s' END FROM generate_series(1, 100) AS n;
SELECT shops_differ(repeat('the shop''s s-hoes, headgear and Hats. ', 3));
ROLLBACK;
SELECT shops_differ(repeat('the shop''s shoes, headgear and Hats. ', 3));
DROP TABLE tenants, tenant_texts, treeless, shops, shop_words, dashes;
DROP FUNCTION shops_differ;
DROP FUNCTION in_trees;
