-- What cft_context answers: the contract of docs/design.md, section 1, row by row.
\a\t
SET client_min_messages = warning;
CREATE TABLE context (tree text, parent text, child text);
INSERT INTO context VALUES
    ('animals', 'animal', 'bird'), ('animals', 'animal', 'mammal'), ('animals', 'mammal', 'bat'), ('animals', 'mammal', 'cat'),
    ('animals', 'cat', 'lion'), ('animals', 'cat', 'tiger'), ('animals', 'lion', 'cub'),
    ('flyers', 'flyer', 'bird'), ('flyers', 'flyer', 'bat'), ('flyers', 'bat', 'vampire'), ('flyers', 'bird', 'swift'),
    (NULL, 'sport', 'bat'), (NULL, 'bat', 'handle');
SELECT cft_attach('context', tree => 'tree');
SELECT oracle.build('context');

-- The defaults: three levels up, one down. Trees by bytes, NULL first; ancestors before descendants; depth; relative.
SELECT * FROM cft_context('bat');
SELECT * FROM cft_context('cub');
SELECT * FROM cft_context('animal');
-- Levels.
SELECT * FROM cft_context('lion', up => 1, down => 0);
SELECT * FROM cft_context('lion', up => 0, down => 1);
SELECT * FROM cft_context('lion', up => 0, down => 0);
SELECT * FROM cft_context('animal', 0, 1000);
SELECT * FROM cft_context(entity => 'lion', edges => 'context', down => 0);
SELECT * FROM cft_context('mammal', up => 1, down => 2, edges => 'context');
-- Nothing: unknown, empty, NULL in any place.
SELECT * FROM cft_context('nobody');
SELECT * FROM cft_context('');
SELECT * FROM cft_context(NULL::text);
SELECT * FROM cft_context('bat', NULL);
SELECT * FROM cft_context('bat', 1, NULL);
-- By bytes, not by a language's rules: no case folding, no trimming.
SELECT * FROM cft_context('BAT');
SELECT * FROM cft_context('bat ');
-- In a statement like any other.
SELECT count(*), max(depth) FROM cft_context('bat', 3, 3);
SELECT name, c.relative, c.via FROM (VALUES ('lion'), ('nobody'), ('swift')) AS v(name), LATERAL cft_context(name, 2, 0) AS c ORDER BY 1, c.depth;
SELECT name, c.relative FROM (VALUES ('nobody'), ('swift')) AS v(name) LEFT JOIN LATERAL cft_context(name, 1, 0) AS c ON true ORDER BY 1;
SELECT relative FROM cft_context('bat', 3, 3) WHERE tree IS NULL LIMIT 1;
SELECT (cft_context('lion', 1, 0)).relative;
SELECT * FROM ROWS FROM (cft_context('lion', 1, 0), cft_context('bird', 1, 0)) WITH ORDINALITY;

SELECT oracle.all_same('context', 3, 1);
SELECT oracle.all_same('context', 1, 0);
SELECT oracle.all_same('context', 0, 2);
SELECT oracle.all_same('context', 10, 10);
SELECT * FROM cft_verify('context');
DROP TABLE context;
