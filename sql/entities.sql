-- The definition of cft_entities: every answer of it is what this statement answers. Slow, and obvious.
--
-- It is (a) what the extension runs when the image cannot serve, (b) the oracle of the tests.
-- Parameters: $1 text question, $2 boolean overlapping; $3 text[] trees, if not all are asked for; $4 text[] within, if not all count.
-- Filled in by src/serve/reference.rs before it is parsed: {edges}, {parent} and {child} as in reference.sql;
-- {aliases}, a query for (alias, entity) over the attached tables of aliases, without NULLs; {named}, one for (entity, what it is called): entity and label of
-- the rows that have both; (entity, entity) FROM name where there is no column of labels; nothing for integers that are no names to be found.
--
-- cft_words(text, plain) are the words of a text, folded, with their places from 1 on and their positions in characters; plain: of the text without
-- possessives, elisions and the like (crates/core/src/folded/plain.rs), none if it has none; cft_form(name) is the
-- folded words of a name, joined by one blank, or NULL if it is never found in a text (crates/core/src/folded/words.rs). Both are bytea: UTF-8
-- whatever the database's encoding is. cft_spelling(name, text, start, length) is how well those characters of the text spell a name to which they
-- fold, NULL if they do not (crates/core/src/recognise/spelling.rs): by punctuation and case, and cftrag.match_case.
-- One of the lines that begin with --label and --no label is part of the statement: what the entity is called, if there is a column of labels.
-- Lines that begin with --trees are part of it where trees are asked for: only entities with a row there count; a NULL in $3 is for rows without one.
-- Lines that begin with --within are part of it where only some entities and what is below them count.
-- Operators and functions are qualified: no search_path of the caller can change the meaning.
WITH RECURSIVE
there(entity) AS (
    SELECT {parent} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {parent} IS NOT NULL AND {child} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($3) OR {tree} IS NULL AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
    UNION
    SELECT {child} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {child} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($3) OR {tree} IS NULL AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
),
-- Below one of the entities within which they are to be, by edges of one tree.
--within below(entity, tree) AS (
--within     SELECT {child} COLLATE pg_catalog."C", {tree} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {parent} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($4) AND {child} IS NOT NULL
--within --trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY ($3) OR {tree} IS NULL AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
--within     UNION
--within     SELECT {child} COLLATE pg_catalog."C", b.tree FROM below AS b JOIN {edges} AS r ON {parent} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) b.entity
--within        AND ({tree} IS NULL) OPERATOR(pg_catalog.=) (b.tree IS NULL) AND COALESCE({tree}, '') COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) COALESCE(b.tree, '') AND {child} IS NOT NULL
--within ),
name(entity) AS (
    SELECT n.entity FROM there AS n
--within WHERE n.entity OPERATOR(pg_catalog.=) ANY ($4) OR n.entity OPERATOR(pg_catalog.=) ANY (SELECT b.entity FROM below AS b)
),
aliased(alias, entity) AS (
    {aliases}
),
-- What an entity is called: its labels, or where there is no column of labels its name.
own(entity, form, name) AS MATERIALIZED (
    SELECT DISTINCT d.entity, cftrag_internal.cft_form(d.called), d.called FROM ({named}) AS d(entity, called)
      JOIN name AS n ON n.entity OPERATOR(pg_catalog.=) d.entity
),
form(entity, form, name, via_alias) AS MATERIALIZED (
    SELECT o.entity, o.form, o.name, NULL::pg_catalog.text FROM own AS o
    UNION ALL
    SELECT DISTINCT n.entity, cftrag_internal.cft_form(a.alias), a.alias, a.alias
      FROM aliased AS a
      JOIN name AS n ON n.entity OPERATOR(pg_catalog.=) a.entity
),
-- The words of the text, and where it has possessives, elisions and the like those of the text without them.
word(plain, place, form, start, length) AS MATERIALIZED (
    SELECT p.plain, w.place, w.form, w.start, w.length
      FROM (VALUES (false), (true)) AS p(plain) CROSS JOIN LATERAL cftrag_internal.cft_words($1, p.plain) AS w
),
-- Every window of up to 64 words.
span(plain, first, last, form) AS (
    SELECT w.plain, w.place, w.place, w.form FROM word AS w
    UNION ALL
    SELECT s.plain, s.first, w.place, s.form OPERATOR(pg_catalog.||) pg_catalog.decode('20', 'hex') OPERATOR(pg_catalog.||) w.form
      FROM span AS s
      JOIN word AS w ON w.plain OPERATOR(pg_catalog.=) s.plain AND w.place OPERATOR(pg_catalog.=) (s.last OPERATOR(pg_catalog.+) 1)
     WHERE (w.place OPERATOR(pg_catalog.-) s.first) OPERATOR(pg_catalog.<) 64
),
-- From the first character of a window up to that after its last one. What is a name as it is written is no other one; of the names that a window
-- folds to, those that it spells best. An alias beside what its entity is called adds nothing; of several, the smallest by bytes stands for them.
mention(start, stop, entity, via_alias) AS MATERIALIZED (
    SELECT z.start, z.stop, z.entity, CASE WHEN pg_catalog.bool_or(z.via_alias IS NULL) THEN NULL ELSE pg_catalog.min(z.via_alias) END
      FROM (SELECT y.*, pg_catalog.rank() OVER (PARTITION BY y.start, y.stop ORDER BY y.plain, y.spelling DESC) AS place
              FROM (SELECT a.start, b.start OPERATOR(pg_catalog.+) b.length AS stop, f.entity, f.via_alias, s.plain,
                           cftrag_internal.cft_spelling(f.name, $1, a.start, b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start) AS spelling
                      FROM span AS s
                      JOIN form AS f ON f.form OPERATOR(pg_catalog.=) s.form
                      JOIN word AS a ON a.plain OPERATOR(pg_catalog.=) s.plain AND a.place OPERATOR(pg_catalog.=) s.first
                      JOIN word AS b ON b.plain OPERATOR(pg_catalog.=) s.plain AND b.place OPERATOR(pg_catalog.=) s.last) AS y
             WHERE y.spelling IS NOT NULL) AS z
     WHERE z.place OPERATOR(pg_catalog.=) 1
     GROUP BY z.start, z.stop, z.entity
),
-- Leftmost, then longest, then on after it.
chosen(start, stop) AS (
    SELECT 0, 0
    UNION ALL
    SELECT n.start, n.stop
      FROM chosen AS c
     CROSS JOIN LATERAL (SELECT m.start, m.stop FROM mention AS m WHERE m.start OPERATOR(pg_catalog.>) 0 AND m.start OPERATOR(pg_catalog.>=) c.stop
                          ORDER BY m.start, m.stop DESC LIMIT 1) AS n
     WHERE NOT $2
)
SELECT m.entity, pg_catalog.substr($1, m.start, m.stop OPERATOR(pg_catalog.-) m.start), m.start, m.stop OPERATOR(pg_catalog.-) m.start, m.via_alias
--label , (SELECT pg_catalog.min({label} COLLATE pg_catalog."C") FILTER (WHERE {label} OPERATOR(pg_catalog.<>) '') FROM (SELECT m.entity) AS u(name) JOIN {labels} AS r ON {is_labelled})
--no label , NULL::pg_catalog.text
  FROM mention AS m
 WHERE $2 OR EXISTS (SELECT FROM chosen AS c WHERE c.start OPERATOR(pg_catalog.=) m.start AND c.stop OPERATOR(pg_catalog.=) m.stop)
 ORDER BY m.start, m.stop DESC, m.entity
