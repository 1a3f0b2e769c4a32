-- cft_tree_search against its definition by plain tables, on random forests (oracle.plant); what is compared is counted, and is all that is read.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
-- The definitions are long; compiling them would be most of the time.
SET jit = off;
CREATE TABLE wood (tree text, parent text, child text);
CREATE TABLE meaning (entity text, embedding vector(3));
SELECT cft_attach('wood', tree => 'tree');

-- The definition: nodes in a table, a level after the other. What the mode keeps leads on if it reaches one threshold, and is a result if it reaches the other.
CREATE FUNCTION plain_search(query vector, mode text, start text[], threshold float8, descend_threshold float8, prune_factor float8, beam int, max_depth int)
RETURNS TABLE (entity text, tree text, depth int, score float8, path text[], compared bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    CREATE TEMP TABLE node (tree text, name text COLLATE "C", depth int, path text[], score float8, kept bool);
    CREATE TEMP TABLE e AS SELECT DISTINCT w.tree, w.parent COLLATE "C" AS parent, w.child COLLATE "C" AS child FROM wood AS w WHERE w.parent <> w.child;
    CREATE TEMP TABLE s AS SELECT entity AS name, 1 - min(nullif(embedding <=> query, 'NaN')) AS score, count(embedding) AS n FROM meaning GROUP BY 1;
    -- What stands alone (its parent is NULL), or leads to itself only, is a root, too.
    INSERT INTO node SELECT DISTINCT w.tree, n, 0, ARRAY[n] FROM wood AS w, unnest(ARRAY[w.parent, w.child]) AS n
     WHERE w.child IS NOT NULL AND CASE WHEN start IS NULL THEN n IS NOT NULL AND NOT EXISTS (SELECT FROM e AS o WHERE o.child = n AND o.tree IS NOT DISTINCT FROM w.tree)
                                        ELSE n = ANY (start) END;
    FOR level IN 0 .. max_depth LOOP
        UPDATE node AS n SET score = (SELECT s.score FROM s WHERE s.name = n.name) WHERE n.depth = level;
        UPDATE node AS n SET kept = CASE mode WHEN 'beam' THEN n.name IN (SELECT name FROM node WHERE depth = level AND score IS NOT NULL GROUP BY name, score ORDER BY score DESC, name LIMIT beam)
                                    WHEN 'prune' THEN n.score >= (SELECT CASE WHEN max(score) > 0 THEN prune_factor * max(score) ELSE (2 - prune_factor) * max(score) END FROM node WHERE depth = level) - 1e-12
                                    ELSE true END
         WHERE n.depth = level AND n.score IS NOT NULL;
        INSERT INTO node (tree, name, depth, path)
        SELECT DISTINCT ON (e.tree, e.child) e.tree, e.child, level + 1, n.path || e.child::text
          FROM node AS n JOIN e ON e.parent = n.name AND e.tree IS NOT DISTINCT FROM n.tree
         WHERE level < max_depth AND n.depth = level AND (n.score IS NULL OR level = 0 OR n.kept AND n.score >= coalesce(descend_threshold, -2))
           AND NOT EXISTS (SELECT FROM node AS o WHERE o.name = e.child AND o.tree IS NOT DISTINCT FROM e.tree)
         ORDER BY e.tree, e.child, n.name;
    END LOOP;
    RETURN QUERY SELECT z.name::text, z.tree, z.depth, z.score, z.path, (SELECT coalesce(sum(s.n), 0)::bigint FROM s WHERE s.name IN (SELECT o.name FROM node AS o))
      FROM (SELECT DISTINCT ON (n.name) * FROM node AS n WHERE n.kept AND n.score >= coalesce(threshold, -2) ORDER BY n.name, n.depth, n.tree COLLATE "C" NULLS FIRST) AS z
     ORDER BY z.score DESC, z.depth, z.name;
    DROP TABLE node, e, s;
END $$;
CREATE FUNCTION same(q vector, m text, s text[], t float8, u float8, f float8, b int, d int) RETURNS boolean LANGUAGE sql AS $$
    SELECT (SELECT array_agg((r.entity, r.tree, r.depth, r.score, r.path, r.compared)::text) FROM cft_tree_search(q, NULL, NULL, m, s, t, u, f, b, d) AS r)
           IS NOT DISTINCT FROM (SELECT array_agg((p.entity, p.tree, p.depth, p.score, p.path, p.compared)::text) FROM plain_search(q, m, s, t, u, f, b, d) AS p) $$;
SELECT cft_attach_embeddings('meaning');
CREATE FUNCTION try(seeds int) RETURNS TABLE (cases bigint, different bigint, results bigint, examples text) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (what text, same bool, n bigint);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 1000.0);
        INSERT INTO tried
        SELECT concat_ws(' ', 'seed', seed, c.*), same('[0.7,-0.2,0.3]', mode, start, threshold, descend, factor, beam, depth),
               (SELECT count(*) FROM cft_tree_search('[0.7,-0.2,0.3]', NULL, NULL, mode, start, threshold, descend, factor, beam, depth))
          FROM (VALUES ('prune', NULL::text[], NULL::float8, NULL::float8, 0.7, 1, 1000), ('prune', NULL, 0.1, NULL, 0.9, 1, 1000), ('prune', '{"x 4",Kapitel 6,13,nobody,NULL}', NULL, NULL, 0.5, 1, 2),
                       ('prune', NULL, NULL, NULL, 1, 1, 1000), ('prune', '{"x 4",Ä1,"Kapitel 2"}', -0.5, NULL, 0, 1, 1000), ('prune', NULL, 0.3, 0.1, 0, 1, 1000), ('prune', NULL, NULL, 0.3, 0.5, 1, 1000),
                       ('beam', NULL, NULL, NULL, 0.7, 1, 1000), ('beam', NULL, 0.2, NULL, 0.7, 3, 1000), ('beam', '{Ä1,"Kapitel 2",7}', NULL, NULL, 0, 2, 1), ('beam', NULL, NULL, 0.2, 0, 4, 1000),
                       ('collapsed', '{Ä1,"x 4",3}', NULL, NULL, 0, 1, 1000), ('collapsed', '{Ä1,"Kapitel 2",7}', 0.3, NULL, 0, 1, 0), ('collapsed', NULL, NULL, 0.1, 0, 1, 1000), ('collapsed', NULL, 0.5, -0.2, 0, 1, 3))
               AS c(mode, start, threshold, descend, factor, beam, depth);
    END LOOP;
    RETURN QUERY SELECT count(*), count(*) FILTER (WHERE same IS NOT TRUE), sum(n)::bigint, string_agg(what, '; ') FILTER (WHERE same IS NOT TRUE AND random() < 0.2) FROM tried;
    DROP TABLE tried;
END $$;
SELECT cases, different, results > cases AS results, examples FROM try(3);
-- By the reference query too.
SET cftrag.enable = off;
SELECT cases, different FROM try(1);
RESET cftrag.enable;

-- Collapsed, of the whole forest: whatever is in it and has an embedding, cycles without a root included; more is fetched where the nearest are no entities.
CREATE FUNCTION plain_collapsed(q vector, k int) RETURNS TABLE (entity text, score float8) LANGUAGE sql AS $$
    SELECT entity, 1 - min(nullif(embedding <=> q, 'NaN')) FROM meaning
     WHERE entity IN (SELECT parent FROM wood WHERE parent <> child UNION SELECT child FROM wood WHERE parent <> child) GROUP BY entity HAVING min(nullif(embedding <=> q, 'NaN')) < 3
     ORDER BY 2 DESC, entity COLLATE "C" LIMIT k $$;
CREATE FUNCTION collapsed(seeds int) RETURNS TABLE (cases bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (same bool);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 1000.0);
        INSERT INTO meaning SELECT 'noise ' || i, '[0.7,-0.2,0.3]' FROM generate_series(1, 200) AS i;
        INSERT INTO tried
        SELECT (SELECT array_agg((r.entity, r.score)::text) FROM cft_tree_search(q, mode => 'collapsed', k => k) AS r) IS NOT DISTINCT FROM (SELECT array_agg(p::text) FROM plain_collapsed(q, k) AS p)
          FROM unnest('{"[0.7,-0.2,0.3]","[-1,0,0.1]"}'::vector[]) AS q, unnest('{NULL,0,1,5}'::int[]) AS k;
    END LOOP;
    RETURN QUERY SELECT count(*), count(*) FILTER (WHERE same IS NOT TRUE) FROM tried;
    DROP TABLE tried;
END $$;
SELECT * FROM collapsed(2);
-- A budget: of the same rows without one, those before the first that would exceed it.
CREATE FUNCTION budgets(seeds int) RETURNS TABLE (cases bigint, different bigint, cut bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE tried (same bool, cut bool);
    FOR seed IN 1 .. seeds LOOP
        PERFORM oracle.plant('wood', 'meaning', seed / 1000.0);
        INSERT INTO tried
        SELECT coalesce(ours.names, '{}') = coalesce(plain.names, '{}'), plain.cut
          FROM generate_series(0, 24) AS budget, unnest('{prune,beam,collapsed}'::text[]) AS mode,
               LATERAL (SELECT array_agg(r.entity ORDER BY r.n) AS names FROM cft_tree_search('[0.7,-0.2,0.3]', mode => mode, prune_factor => 0.2, k => 12, budget => budget)
                          WITH ORDINALITY AS r(entity, tree, depth, score, path, text, tokens, compared, label, n)) AS ours,
               LATERAL (SELECT array_agg(z.entity ORDER BY z.n) FILTER (WHERE z.so_far <= budget) AS names, bool_or(z.so_far > budget) AS cut
                          FROM (SELECT r.*, sum((char_length(r.entity) + 3) / 4) OVER (ORDER BY r.n) AS so_far FROM cft_tree_search('[0.7,-0.2,0.3]', mode => mode, prune_factor => 0.2, k => 12)
                                  WITH ORDINALITY AS r(entity, tree, depth, score, path, text, tokens, compared, label, n)) AS z) AS plain;
    END LOOP;
    RETURN QUERY SELECT count(*), count(*) FILTER (WHERE t.same IS NOT TRUE), count(*) FILTER (WHERE t.cut) FROM tried AS t;
    DROP TABLE tried;
END $$;
SELECT cases, different, cut > 20 AS cut FROM budgets(1);
DROP FUNCTION budgets;
DROP TABLE wood, meaning;
DROP FUNCTION plain_search, same, try, plain_collapsed, collapsed;

-- A book, in which one can see it.
CREATE TABLE book (parent text, child text);
CREATE TABLE gist (entity text PRIMARY KEY, embedding vector(2));
INSERT INTO book VALUES ('Manual', 'Pumps'), ('Manual', 'Valves'), ('Pumps', 'Seals'), ('Pumps', 'Motors'), ('Motors', 'Windings'), ('Valves', 'Springs'), ('Valves', 'Seats'), ('Manual', 'Annex'), ('Annex', 'Tables');
INSERT INTO gist VALUES ('Manual', '[1,1]'), ('Pumps', '[1,0.1]'), ('Valves', '[0.2,1]'), ('Seals', '[1,0.4]'), ('Motors', '[1,-0.2]'), ('Windings', '[0.9,0]'), ('Springs', '[1,0]'), ('Seats', '[0,1]'), ('Tables', '[0.8,0.1]');
SELECT cft_tree_search('[1,0]', mode => 'prune', edges => 'book');
SELECT cft_attach('book');
SELECT cft_tree_search('[1,0]', mode => 'prune');
SELECT cft_attach_embeddings('gist');
SELECT entity, depth, round(score::numeric, 3) AS score, path, compared FROM cft_tree_search('[1,0]', mode => 'prune');
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'beam', beam => 1);
-- The two thresholds: one is for results, the other for what leads on. What is asked for, and the roots, lead on whatever their scores.
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'prune', threshold => 0.95);
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'prune', descend_threshold => 0.99);
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'collapsed', descend_threshold => 0.99);
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'prune', start => '{Valves,Motors}');
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'beam', beam => 1, start => '{Valves,Motors}', descend_threshold => 1);
-- Not said, the mode is collapsed.
SELECT entity, compared FROM cft_tree_search('[1,0]', k => 4);
SELECT entity, depth, round(score::numeric, 3) AS score, path, compared FROM cft_tree_search('[1,0]', mode => 'collapsed', k => 4);
SELECT entity, depth, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'collapsed', start => '{Valves}');
SELECT entity, depth FROM cft_tree_search('[1,0]', mode => 'collapsed', max_depth => 1);
SELECT entity, depth FROM cft_tree_search('[1,0]', mode => 'prune', max_depth => 0);
SELECT count(*) FROM cft_tree_search(NULL, mode => 'prune');
SELECT count(*) FROM cft_tree_search('[1,0]', mode => 'prune', start => '{nobody}');
SELECT count(*) FROM cft_tree_search('[1,0]', mode => 'prune', start => '{}');
SELECT count(*) FROM cft_tree_search('[1,0]', mode => 'prune', k => 0);
-- What an entity says: its documents, else its name. The budget ends before the first that exceeds it.
CREATE TABLE page (id int PRIMARY KEY, body text, embedding vector(2), entity text, size int);
INSERT INTO page VALUES (1, 'How they turn.', '[1,1]', 'Motors', 7), (2, 'And when not.', NULL, 'Motors', NULL), (3, NULL, '[1,0]', 'Pumps', 100), (4, 'Pumps pump.', '[1,0]', 'Pumps', 5);
SELECT cft_attach_documents('page', entity => 'entity', tokens => 'size');
SELECT entity, text, tokens FROM cft_tree_search('[1,0]', mode => 'prune');
SELECT budget, string_agg(entity, ', ' ORDER BY n), sum(tokens) <= budget AS within
  FROM unnest('{0,2,5,7,18,19,100}'::int[]) AS budget, cft_tree_search('[1,0]', mode => 'prune', budget => budget) WITH ORDINALITY AS s(entity, tree, depth, score, path, text, tokens, compared, n) GROUP BY budget ORDER BY budget;
SELECT entity, tokens FROM cft_tree_search('[1,0]', mode => 'collapsed', budget => 12);
-- The operator is that of the index: here minus the Euclidean distance; pruned is what is farther than the best by more than the same share.
CREATE INDEX ON gist USING hnsw (embedding vector_l2_ops);
SELECT entity, round(score::numeric, 3) AS score FROM cft_tree_search('[1,0]', mode => 'prune', prune_factor => 0);
SELECT entity, round(score::numeric, 3) AS score FROM cft_tree_search('[1,0]', mode => 'prune', threshold => -0.3, prune_factor => 0, start => '{Pumps}');
-- Each distance and each type of pgvector: the operator is that of the index on the column, without one the cosine distance.
SELECT cft_detach('gist');
CREATE TABLE spot (entity text, v vector(2), h halfvec(2), s sparsevec(2));
INSERT INTO spot SELECT z.entity, z.v, z.v::halfvec, z.v::sparsevec
  FROM (VALUES ('Manual', '[1,1]'::vector), ('Pumps', '[2,0]'), ('Valves', '[0,1]'), ('Annex', NULL), ('Motors', '[3,0.5]'), ('Seals', '[0,0]'), ('Tables', '[1,-1]'), ('Springs', '[4,0]')) AS z(entity, v);
CREATE FUNCTION spots(kind text) RETURNS TABLE (distance text, pruned text, beamed text, collapsed text, coarse_fine text) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
    FOREACH distance IN ARRAY '{l2,ip,cosine,l1,none}'::text[] LOOP
        IF distance <> 'none' THEN EXECUTE format('CREATE INDEX spot_at ON spot USING hnsw (%I %s_%s_ops)', left(kind, 1), kind, distance); END IF;
        PERFORM cft_attach_embeddings('spot', embedding => left(kind, 1));
        SELECT string_agg(format('%s %s', entity, round(score::numeric, 2)), ', ') INTO pruned FROM cft_tree_search('[1,0]', mode => 'prune', prune_factor => 0.5);
        SELECT string_agg(entity, ', ') INTO beamed FROM cft_tree_search('[1,0]', mode => 'beam', beam => 1);
        SELECT string_agg(entity, ', ') INTO collapsed FROM cft_tree_search('[1,0]', mode => 'collapsed');
        SELECT string_agg(part || ' ' || entity, ', ') INTO coarse_fine FROM cft_coarse_fine('[1,0]', 1, 1);
        RETURN NEXT;
        IF distance <> 'none' THEN DROP INDEX spot_at; END IF;
    END LOOP;
END $$;
SELECT * FROM spots('vector');
-- halfvec and sparsevec find what vector finds.
SELECT k, o.distance FROM unnest('{halfvec,sparsevec}'::text[]) AS k, spots(k) AS o JOIN spots('vector') AS v USING (distance)
 WHERE (o.pruned, o.beamed, o.collapsed, o.coarse_fine) IS DISTINCT FROM (v.pruned, v.beamed, v.collapsed, v.coarse_fine);
-- An index that ends early, as hnsw does after ef_search rows, hides nothing.
CREATE INDEX ON spot USING hnsw (v vector_cosine_ops);
SELECT cft_attach_embeddings('spot', embedding => 'v');
SET hnsw.ef_search = 1;
SET enable_seqscan = off;
SELECT string_agg(entity, ', ') AS collapsed FROM cft_tree_search('[1,0]', mode => 'collapsed', k => 5);
SELECT string_agg(part || ' ' || entity, ', ') AS coarse_fine FROM cft_coarse_fine('[-1,-1]', 2, 1);
RESET hnsw.ef_search;
RESET enable_seqscan;
DROP TABLE spot;
SELECT cft_attach_embeddings('gist');
DROP FUNCTION spots;
-- Children of what was pruned are not touched: a policy notes each row of embeddings that is read. (Of a small table a scan reads all rows, but compares no more.)
DROP INDEX gist_embedding_idx;
CREATE ROLE regress_cft_searcher;
GRANT SELECT ON book, gist, page TO regress_cft_searcher;
CREATE TABLE touched (entity text);
CREATE FUNCTION touch(entity text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO public.touched VALUES (entity); RETURN true; END $$;
ALTER TABLE gist ENABLE ROW LEVEL SECURITY;
CREATE POLICY notes ON gist TO regress_cft_searcher USING (touch(entity));
INSERT INTO gist SELECT 'noise ' || i, '[1,0]' FROM generate_series(1, 5000) AS i;
ANALYZE gist;
SET ROLE regress_cft_searcher;
SELECT count(*) AS results, max(compared) AS compared FROM cft_tree_search('[1,0]', mode => 'prune', edges => 'book');
RESET ROLE;
SELECT count(*), array_agg(entity ORDER BY entity COLLATE "C") FROM touched;
TRUNCATE touched;
SET ROLE regress_cft_searcher;
SELECT count(*) AS results, max(compared) AS compared FROM cft_tree_search('[1,0]', mode => 'beam', beam => 1, edges => 'book');
RESET ROLE;
SELECT count(*), array_agg(entity ORDER BY entity COLLATE "C") FROM touched;
DELETE FROM gist WHERE entity LIKE 'noise%';
-- Policies of embeddings, of edges, of documents; privileges.
ALTER POLICY notes ON gist USING (entity <> 'Pumps');
SET ROLE regress_cft_searcher;
SELECT entity, text FROM cft_tree_search('[1,0]', mode => 'prune', edges => 'book');
RESET ROLE;
ALTER TABLE book ENABLE ROW LEVEL SECURITY;
CREATE POLICY part ON book TO regress_cft_searcher USING (child <> 'Motors');
ALTER TABLE page ENABLE ROW LEVEL SECURITY;
SET ROLE regress_cft_searcher;
SELECT entity, text FROM cft_tree_search('[1,0]', mode => 'prune', edges => 'book', documents => 'page');
SELECT entity FROM cft_tree_search('[1,0]', mode => 'collapsed', edges => 'book', documents => 'page');
RESET ROLE;
ALTER TABLE book DISABLE ROW LEVEL SECURITY;
-- It can be cancelled.
CREATE FUNCTION slow() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN true; END $$;
ALTER POLICY notes ON gist USING (slow());
SET statement_timeout = '200ms';
SET ROLE regress_cft_searcher;
SELECT cft_tree_search('[1,0]', mode => 'prune', edges => 'book');
RESET ROLE;
RESET statement_timeout;
REVOKE SELECT ON gist FROM regress_cft_searcher;
SET ROLE regress_cft_searcher;
SELECT cft_tree_search('[1,0]', mode => 'prune', edges => 'book', documents => 'book');
SELECT cft_tree_search('[1,0]', mode => 'prune', edges => 'book');
RESET ROLE;
REVOKE SELECT ON book FROM regress_cft_searcher;
SET ROLE regress_cft_searcher;
SELECT cft_tree_search('[1,0]', mode => 'prune', edges => 'book');
RESET ROLE;
-- Without embeddings of entities, their documents stand for them; the nearest of several. By a mapping too.
SELECT cft_detach('gist');
SELECT entity, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'prune');
SELECT entity, round(score::numeric, 3) AS score, compared FROM cft_tree_search('[1,0]', mode => 'collapsed');
CREATE TABLE about (entity text, page int);
INSERT INTO about VALUES ('Seals', 1), ('Tables', 4), ('Seals', 4), ('nobody', 4);
SELECT cft_attach_documents('page', mapping => 'about', mapping_document => 'page');
SELECT entity, round(score::numeric, 3) AS score, text, compared FROM cft_tree_search('[1,0]', mode => 'prune');
SELECT entity, round(score::numeric, 3) AS score FROM cft_tree_search('[1,0]', mode => 'collapsed');
-- Errors.
SELECT cft_tree_search('[1,0]', mode => 'magic');
SELECT cft_tree_search('[1,0]', mode => NULL);
SELECT cft_tree_search('[1,0]', mode => 'prune', prune_factor => 1.5);
SELECT cft_tree_search('[1,0]', mode => 'prune', prune_factor => 'NaN');
SELECT cft_tree_search('[1,0]', mode => 'prune', prune_factor => -0.1);
SELECT cft_tree_search('[1,0]', mode => 'prune', threshold => 'NaN');
SELECT cft_tree_search('[1,0]', descend_threshold => 'NaN');
SELECT cft_tree_search('[1,0]', mode => 'prune', beam => 0);
SELECT cft_tree_search('[1,0]', mode => 'prune', max_depth => -1);
SELECT cft_tree_search('[1,0]', mode => 'prune', max_depth => 1001);
SELECT cft_tree_search('[1,0]', mode => 'prune', k => -1);
SELECT cft_tree_search('[1,0]', mode => 'prune', budget => -1);
SELECT cft_tree_search('[1,0,0]', mode => 'prune');
SELECT cft_tree_search('[1,0]', mode => 'prune', edges => 'page');
DROP TABLE book, gist, page, about, touched;
DROP FUNCTION touch, slow;
DROP ROLE regress_cft_searcher;

-- A category without a parent and without children is found like the others.
CREATE TABLE lone (id int PRIMARY KEY, parent_id int, name text);
INSERT INTO lone VALUES (1, NULL, 'A'), (2, 1, 'B'), (3, NULL, 'Lonely');
SELECT cft_attach('lone', parent => 'parent_id', child => 'id', label => 'name');
CREATE TABLE lone_docs (id int, entity int, body text, embedding vector(3));
INSERT INTO lone_docs VALUES (1, 1, 'a', '[1,0,0]'), (2, 2, 'b', '[0,1,0]'), (3, 3, 'c', '[0,0,1]'), (4, 99, 'of no category', '[0,0,1]');
SELECT cft_attach_documents('lone_docs', entity => 'entity');
SELECT m.mode, array_agg(t.entity ORDER BY t.score DESC, t.depth) AS all, (SELECT array_agg(w.entity) FROM cft_tree_search('[0,0,1]', mode => m.mode, edges => 'lone', documents => 'lone_docs', within => '{3}') AS w) AS within
  FROM unnest('{collapsed,prune,beam}'::text[]) AS m(mode), cft_tree_search('[0,0,1]', mode => m.mode, edges => 'lone', documents => 'lone_docs') AS t GROUP BY 1 ORDER BY 1;
DROP TABLE lone, lone_docs;
