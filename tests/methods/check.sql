SET client_min_messages = warning;
SET jit = off;
\set some 'SELECT embedding AS q, NULL::text[] AS names, NULL::text AS entity FROM questions ORDER BY md5(id) LIMIT 6'
\set few 'SELECT NULL::vector AS q, ARRAY(SELECT entity FROM meaning ORDER BY md5(entity || s) LIMIT 6) AS names, NULL::text AS entity FROM generate_series(1, 12) AS s'
SELECT compare('tree_search prune', 'SELECT r.entity, r.depth, r.score, r.path, r.compared FROM cft_tree_search($1, mode => ''prune'', k => NULL, prune_factor => 0.8, edges => ''entity_edges'') AS r',
    'SELECT r.entity, r.depth, r.score, r.path, r.compared FROM plain_search($1, ''prune'', NULL, NULL, NULL, 0.8, 1, 1000) AS r', :'some') \g /dev/null
SELECT compare('tree_search beam', 'SELECT r.entity, r.depth, r.score, r.path, r.compared FROM cft_tree_search($1, mode => ''beam'', k => NULL, beam => 5, edges => ''entity_edges'') AS r',
    'SELECT r.entity, r.depth, r.score, r.path, r.compared FROM plain_search($1, ''beam'', NULL, NULL, NULL, 0, 5, 1000) AS r', :'some') \g /dev/null
SELECT compare('tree_search collapsed', 'SELECT r.entity, r.score FROM cft_tree_search($1, mode => ''collapsed'', k => 20, edges => ''entity_edges'') AS r',
    'SELECT entity, 1 - (embedding <=> $1) FROM meaning WHERE entity IN (SELECT name FROM place) ORDER BY 2 DESC, entity COLLATE "C" LIMIT 20', :'some') \g /dev/null
SELECT compare('path_prefix', 'SELECT p.tree, p.path FROM cft_path_prefix(ARRAY[$3], ''entity_edges'') AS p', 'SELECT * FROM plain_path($3)', 'SELECT NULL::vector AS q, NULL::text[] AS names, entity FROM meaning ORDER BY md5(entity) LIMIT 200') \g /dev/null
SELECT compare('expand', 'SELECT x.entity, x.tree, x.common, x.support, x.hit, x.leaf, x.path, x.more FROM cft_expand($2, NULL, 4, 2, 2, ''entity_edges'') AS x', 'SELECT * FROM plain_expand($2, 4, 2, 2, NULL)', :'few') \g /dev/null
SELECT compare('bridge', 'SELECT tree, apex, depth, parent, child, leads_to FROM cft_bridge($2, 20, ''entity_edges'')', 'SELECT * FROM plain_bridge($2, 20)', :'few') \g /dev/null
SELECT compare('coarse_fine', 'SELECT r.part, r.entity, r.tree, r.score, r.under, r.text FROM cft_coarse_fine($1, 4, 8, 3, 5, 300, 0.5, 0.2, 0.3, ''entity_edges'') AS r',
    'SELECT * FROM plain_coarse_fine($1, 4, 8, 3, 5, 300, ''{0.5,0.2,0.3}'')', :'some') \g /dev/null

-- All summaries, each made from its children's, equal those made from scratch, level by level of the acyclic forest.
CREATE TABLE gist (entity text, summary text);
CREATE INDEX ON gist (entity);
CREATE FUNCTION tell(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT md5(concat_ws('|', entity, sources, inputs)) $$;
SELECT cft_attach_summaries('gist', edges => 'entity_edges') \g /dev/null
ANALYZE gist;
CREATE TEMP TABLE t AS SELECT clock_timestamp() AS began;
CREATE TEMP TABLE made AS SELECT * FROM cft_rollup('tell(text,text[],text[])', edges => 'entity_edges');
CREATE FUNCTION untold() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM (SELECT parent AS name, array_agg(child::text ORDER BY cftrag_internal.cft_natural(child) COLLATE "C", child) AS children FROM (SELECT DISTINCT parent, child FROM e) AS z GROUP BY parent) AS p
     WHERE NOT EXISTS (SELECT FROM gist AS g WHERE g.entity = p.name
                          AND g.summary = tell(p.name, p.children, ARRAY(SELECT coalesce(s.summary, c) FROM unnest(p.children) WITH ORDINALITY AS u(c, n) LEFT JOIN gist AS s ON s.entity = u.c ORDER BY u.n))) $$;
INSERT INTO claim SELECT 'rollup of all', m.summarized, untold(), untold() = 0 AND m.summarized = (SELECT count(DISTINCT parent) FROM e), round(1000 * extract(epoch FROM clock_timestamp() - t.began)::numeric), NULL FROM t, made AS m;
SELECT entities, leaves AS "one document per leaf", documents AS "with summaries", fewer FROM cft_rollup_status('entity_edges');
-- After a new leaf its ancestors are due, and no other entities.
INSERT INTO entity_edges VALUES ('disease', 'heart disease', 'a new disease of the heart');
INSERT INTO e VALUES ('disease', 'heart disease', 'a new disease of the heart');
INSERT INTO claim SELECT 'due after a change', cardinality(d.due), 0, d.due = d.must, NULL, NULL
  FROM (SELECT ARRAY(SELECT DISTINCT entity COLLATE "C" FROM gist WHERE summary IS NULL ORDER BY 1),
               ARRAY(SELECT relative FROM cft_context('heart disease', 1000, 0, 'entity_edges') UNION VALUES ('heart disease') ORDER BY 1)) AS d(due, must);
SELECT summarized FROM cft_rollup('tell(text,text[],text[])', edges => 'entity_edges') \g /dev/null
INSERT INTO claim SELECT 'rollup after it', NULL, untold(), untold() = 0, NULL, NULL;
SELECT * FROM claim;
