-- The definition of cft_entities: every answer of it is what this statement answers. Slow, and obvious.
--
-- It is (a) what the extension runs when the image cannot serve, (b) the oracle of the tests.
-- Parameters: $1 text question, $2 boolean overlapping; $3 text[] trees, if not all are asked for.
-- Filled in by src/serve/reference.rs before it is parsed: {edges}, {parent} and {child} as in reference.sql;
-- {aliases}, a query for (alias, entity) over the attached tables of aliases, without NULLs; {named}, one for (entity, what it is called): entity and label of
-- the rows that have both; (entity, entity) FROM name where there is no column of labels; nothing for integers that are no names to be found.
--
-- cft_words(text) are the words of a text, folded, with their places from 1 on and their positions in characters; cft_form(name) is the
-- folded words of a name, joined by one blank, or NULL if it is never found in a text (crates/core/src/folded/words.rs). Both are bytea: UTF-8
-- whatever the database's encoding is.
-- One of the lines that begin with --label and --no label is part of the statement: what the entity is called, if there is a column of labels.
-- Lines that begin with --trees are part of it where trees are asked for: only entities with a row there count; a NULL in $3 is for rows without one.
-- Operators and functions are qualified: no search_path of the caller can change the meaning.
WITH RECURSIVE
name(entity) AS (
    SELECT {parent} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {parent} IS NOT NULL AND {child} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($3) OR {tree} IS NULL AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
    UNION
    SELECT {child} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {child} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($3) OR {tree} IS NULL AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
),
aliased(alias, entity) AS (
    {aliases}
),
-- What an entity is called: its labels, or where there is no column of labels its name.
own(entity, form) AS MATERIALIZED (
    SELECT DISTINCT d.entity, cftrag_internal.cft_form(d.called) FROM ({named}) AS d(entity, called)
      JOIN name AS n ON n.entity OPERATOR(pg_catalog.=) d.entity
),
-- An alias that folds like what its entity is called adds nothing; of several that fold alike, the smallest by bytes stands for them.
form(entity, form, via_alias) AS MATERIALIZED (
    SELECT o.entity, o.form, NULL::pg_catalog.text FROM own AS o
    UNION ALL
    SELECT n.entity, cftrag_internal.cft_form(a.alias), pg_catalog.min(a.alias)
      FROM aliased AS a
      JOIN name AS n ON n.entity OPERATOR(pg_catalog.=) a.entity
     WHERE NOT EXISTS (SELECT FROM own AS o WHERE o.entity OPERATOR(pg_catalog.=) n.entity AND o.form OPERATOR(pg_catalog.=) cftrag_internal.cft_form(a.alias))
     GROUP BY n.entity, cftrag_internal.cft_form(a.alias)
),
word(place, form, start, length) AS MATERIALIZED (
    SELECT w.place, w.form, w.start, w.length FROM cftrag_internal.cft_words($1) AS w
),
-- Every window of up to 64 words.
span(first, last, form) AS (
    SELECT w.place, w.place, w.form FROM word AS w
    UNION ALL
    SELECT s.first, w.place, s.form OPERATOR(pg_catalog.||) pg_catalog.decode('20', 'hex') OPERATOR(pg_catalog.||) w.form
      FROM span AS s
      JOIN word AS w ON w.place OPERATOR(pg_catalog.=) (s.last OPERATOR(pg_catalog.+) 1)
     WHERE (w.place OPERATOR(pg_catalog.-) s.first) OPERATOR(pg_catalog.<) 64
),
mention(first, last, entity, via_alias) AS MATERIALIZED (
    SELECT s.first, s.last, f.entity, f.via_alias
      FROM span AS s
      JOIN form AS f ON f.form OPERATOR(pg_catalog.=) s.form
),
-- Leftmost, then longest, then on after it.
chosen(first, last) AS (
    SELECT 0, 0
    UNION ALL
    SELECT n.first, n.last
      FROM chosen AS c
     CROSS JOIN LATERAL (SELECT m.first, m.last FROM mention AS m WHERE m.first OPERATOR(pg_catalog.>) c.last
                          ORDER BY m.first, m.last DESC LIMIT 1) AS n
     WHERE NOT $2
)
SELECT m.entity, pg_catalog.substr($1, a.start, b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start),
       a.start, b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start, m.via_alias
--label , (SELECT pg_catalog.min({label} COLLATE pg_catalog."C") FILTER (WHERE {label} OPERATOR(pg_catalog.<>) '') FROM {labels} AS r WHERE {labelled} OPERATOR(pg_catalog.=) m.entity COLLATE {labelled_collation})
--no label , NULL::pg_catalog.text
  FROM mention AS m
  JOIN word AS a ON a.place OPERATOR(pg_catalog.=) m.first
  JOIN word AS b ON b.place OPERATOR(pg_catalog.=) m.last
 WHERE $2 OR EXISTS (SELECT FROM chosen AS c WHERE c.first OPERATOR(pg_catalog.=) m.first AND c.last OPERATOR(pg_catalog.=) m.last)
 ORDER BY m.first, m.last DESC, m.entity
