-- cft_coarse_fine: the coarse entities $1 with their scores $2, the fine ones $3 with their scores $4 and what they are
-- below $5; max_hops $6, budget $7, shares of it $8 (global), $9 (bridge), $10 (local); the forest $11, texts of the
-- documents $12. Each part ends before the first row that would exceed its share.
WITH texts AS MATERIALIZED (
    SELECT t.* FROM cftrag_internal.cft_texts($1 || $3, $12, $11) AS t
), r(place, part, n, entity, tree, score, under, text, tokens) AS (
    SELECT 1, 'global', u.n, u.name, NULL, u.score, NULL, t.text, t.tokens
      FROM unnest($1, $2) WITH ORDINALITY AS u(name, score, n) JOIN texts AS t ON t.entity = u.name
    UNION ALL
    SELECT 2, 'bridge', row_number() OVER (ORDER BY w.first, k.n), w.hit, w.tree, NULL, w.apex, w.way,
        (char_length(w.way) + 3) / 4
      FROM (SELECT h.hit, b.tree, b.apex, min(b.n) AS first,
                   coalesce(min(b.parent_label) FILTER (WHERE b.depth = 1), b.apex) || string_agg(' > '
                       || coalesce(b.child_label, b.child), '' ORDER BY b.depth) AS way
              FROM cftrag_internal.cft_bridge($3, $6, $11) WITH ORDINALITY AS b(tree, apex, depth, parent, child,
                  leads_to, parent_label, child_label, n), unnest(b.leads_to) AS h(hit)
             GROUP BY h.hit, b.tree, b.apex) AS w JOIN unnest($3) WITH ORDINALITY AS k(name, n) ON k.name = w.hit
    UNION ALL
    SELECT 3, 'local', u.n, u.name, NULL, u.score, u.under, t.text, t.tokens
      FROM unnest($3, $4, $5) WITH ORDINALITY AS u(name, score, under, n) JOIN texts AS t ON t.entity = u.name
), counted AS (
    SELECT r.*, sum(r.tokens) OVER (PARTITION BY r.place ORDER BY r.n) AS so_far FROM r
)
SELECT c.part, c.entity, c.tree, c.score, c.under, c.text, c.tokens, cftrag_internal.cft_label(c.entity, $11)
    FROM counted AS c
 WHERE $7 IS NULL OR c.so_far <= floor($7 * CASE c.place WHEN 1 THEN $8 WHEN 2 THEN $9 ELSE $10 END + 1e-9)
 ORDER BY c.place, c.n
