-- A row without a parent says that its child is there, as a row does whose parent is its child: an entity without relatives is found in texts,
-- has a depth, a size and a path, and is a root. The image and the definitions agree about all of it.
\a\t
\set VERBOSITY terse
SET client_min_messages = warning;
\set reader 'SELECT ''roots'', r::text FROM cft_roots(''alone'') AS r UNION ALL SELECT ''entities'', m::text FROM cft_entities(:text, ''alone'') AS m UNION ALL SELECT ''context'', c::text FROM cft_context(:names, edges => ''alone'') AS c UNION ALL SELECT ''depth '' || n, d::text FROM unnest(:names) AS n, cft_depth(n, ''alone'') AS d UNION ALL SELECT ''size '' || n, d::text FROM unnest(:names) AS n, cft_subtree_size(n, ''alone'') AS d UNION ALL SELECT ''path '' || n, d::text FROM unnest(:names) AS n, cft_path(n, n, edges => ''alone'') AS d UNION ALL SELECT ''lca '' || n, d::text FROM unnest(:names) AS n, cft_lca(n, ''Shoes'', ''alone'') AS d UNION ALL SELECT ''prefix'', p::text FROM cft_path_prefix(:names, ''alone'') AS p UNION ALL SELECT ''checked'', e::text FROM cft_check_edges(''alone'') AS e'
\set names 'ARRAY[''Shoes'', ''Boots'', ''Books'', ''Toys'', ''Maps'', ''Nothing'']'
\set text '''Shoes, boots, BOOKS, toys, maps and nothing'''
CREATE TABLE alone (shop text, parent text, child text);
SELECT cft_attach('alone', tree => 'shop');
INSERT INTO alone VALUES ('a', NULL, 'Shoes'), ('a', 'Shoes', 'Boots'), ('a', NULL, 'Books'), ('b', NULL, 'Shoes'), ('b', 'Toys', 'Toys'), (NULL, NULL, 'Maps'), ('a', 'Shoes', NULL),
    (NULL, NULL, NULL);
SELECT oracle.build('alone');
CREATE TEMP TABLE of_image AS :reader;
SET cftrag.enable = off;
CREATE TEMP TABLE by_definition AS :reader;
RESET cftrag.enable;
SELECT count(*) > 20 AS many FROM of_image;
(TABLE of_image EXCEPT ALL TABLE by_definition) UNION ALL (TABLE by_definition EXCEPT ALL TABLE of_image);
TABLE of_image;

-- The rows come and go with their transaction, beside rows that are alike.
CREATE FUNCTION differs() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE a text[]; b text[];
BEGIN
    SELECT array_agg(r::text) INTO a FROM cft_roots('alone') AS r;
    a := a || ARRAY(SELECT d::text FROM unnest(ARRAY['Shoes', 'Boots', 'Books', 'Toys', 'Maps']) AS n, cft_depth(n, 'alone') AS d);
    PERFORM set_config('cftrag.enable', 'off', true);
    SELECT array_agg(r::text) INTO b FROM cft_roots('alone') AS r;
    b := b || ARRAY(SELECT d::text FROM unnest(ARRAY['Shoes', 'Boots', 'Books', 'Toys', 'Maps']) AS n, cft_depth(n, 'alone') AS d);
    PERFORM set_config('cftrag.enable', 'on', true);
    IF a IS DISTINCT FROM b THEN RETURN NEXT format('%s and %s', a, b); END IF;
    RETURN QUERY SELECT v::text FROM cft_verify('alone') AS v;
END $$;
BEGIN;
INSERT INTO alone VALUES ('a', 'Books', 'Books'), ('a', NULL, 'Books');
SELECT differs();
SAVEPOINT one;
DELETE FROM alone WHERE child = 'Books' AND parent IS NULL;
SELECT differs();
SELECT * FROM cft_roots('alone');
DELETE FROM alone WHERE child = 'Books';
SELECT differs();
SELECT * FROM cft_roots('alone');
ROLLBACK TO one;
UPDATE alone SET parent = 'Maps' WHERE child = 'Books';
SELECT differs();
SELECT * FROM cft_path_prefix('Books', 'alone');
COMMIT;
SELECT differs();
DELETE FROM alone WHERE child = 'Maps' OR shop = 'b';
SELECT differs();
SELECT * FROM cft_roots('alone');

-- The functions that ask whether a name is an entity.
SELECT * FROM cft_resolve('maps', edges => 'alone');
INSERT INTO alone VALUES ('c', NULL, 'Globes');
SELECT * FROM cft_resolve('Globes', edges => 'alone');
SELECT entity, path FROM cft_expand(ARRAY['Globes', 'Boots'], edges => 'alone');
SELECT * FROM cft_resolve('Globe', edges => 'alone');
-- An alias without an entity is none.
CREATE TABLE alone_names (alias text, entity text);
INSERT INTO alone_names VALUES ('Globes', NULL), ('orbs', 'Globes'), (NULL, 'Globes'), ('Toys', NULL);
SELECT cft_attach_aliases('alone_names', edges => 'alone');
SELECT * FROM cft_entities('globes, orbs, toys', 'alone');
SET cftrag.enable = off;
SELECT * FROM cft_entities('globes, orbs, toys', 'alone');
RESET cftrag.enable;
SELECT * FROM cft_verify('alone_names');
DROP TABLE alone_names, alone;
DROP FUNCTION differs;
