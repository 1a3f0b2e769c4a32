-- The definition of cft_entities: it returns what this statement returns. Slow, and obvious.
--
-- {language} is the edges table's (cft_attach).
-- The extension runs it where no image can serve (cftrag.enable is off, another encoding than UTF8, no memory for an
-- image of the call's own), and it is the tests' oracle.
-- Parameters: $1 text question, $2 boolean overlapping, $3 text[] trees (without them all count), $4 text[] within
-- (without it all entities count). Filled in by src/serve/reference.rs before it is parsed: {edges}, {parent} and
-- {child} as in reference.sql; {aliases} is a query for (alias, entity) over the attached tables of aliases, without
-- NULLs. {named} is a query for an entity and what it is called: its label, for the rows that have both; the entity
-- itself where there is no column of labels; no row for integers that are not looked for in texts.
-- cft_words(text, plain) returns the folded words of a text, with their places (1, 2, ...) and their positions in
-- characters. With plain it returns those of the text without possessives, elisions and the like
-- (crates/core/src/folded/possessives.rs), or no row if the text has none of these. cft_form(name) is the folded words
-- of a name, joined by one blank, or NULL if no text can name it (crates/core/src/folded/words.rs). Both return bytea,
-- in UTF-8 whatever the database's encoding. cft_spelling(name, text, start, length, language) says how well those
-- characters of the text spell a name that folds to the same words, by punctuation, case and cftrag.match_case; NULL if
-- they do not (crates/core/src/recognise/spelling.rs). Names that the text writes otherwise are looked for in the same
-- way, by other forms (crates/core/src/folded/forms.rs): cft_form(name, method) is that of a name,
-- cft_window_form(words, method) that of some words of the text in their normal forms; cft_spelled_otherwise(...) says
-- whether a name may be meant by them. Lines that begin with --forms are used if there is such a rule. Those that begin
-- with --each are there once for each rule, in order: {n} is its number, from 1, {before} the one before, {method} its
-- name, {form} the form that it compares, {score} its score; of those that begin with --by the ones of the rule's kind.
-- {called} is a query for everything that the caller sees an entity be called, aliases too: a word of the text that is
-- in none of these names may be misspelled (cft_may_be_misspelled); cft_misspelled(...) says whether words are those of
-- a name but for one near it (crates/core/src/folded/forms.rs). {mates} is a query for (word, mate): words of the text,
-- in lower case or in their normal form, and the words of their classes. cft_definitions(text) are the abbreviations
-- that the text defines, cft_coordinations(text) the names that it joins (crates/core/src/recognise); cft_parts(name)
-- are the parts of a name that lists several things (crates/core/src/folded/parts.rs). Lines that begin with --narrow
-- are used if of several entities of one name those count that the text means, with those that begin with --forms.
-- Lines that begin with --label are used if there is a column of labels, those with --no label if there is none. Lines
-- that begin with --trees are used if trees are given: only entities with a row in one of them count; a NULL in $3
-- stands for rows without a tree. Lines that begin with --within are used if within is given: only those entities and
-- what is below them count. Operators and functions are qualified, so the caller's search_path cannot change what they
-- mean.
WITH RECURSIVE
there(entity) AS (
    SELECT {parent} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {parent} IS NOT NULL AND {child} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.tree
--trees     FROM pg_catalog.unnest($3) AS t(tree)) OR {tree} IS NULL
--trees     AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
    UNION
    SELECT {child} COLLATE pg_catalog."C" FROM {edges} AS r WHERE {child} IS NOT NULL
--trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.tree
--trees     FROM pg_catalog.unnest($3) AS t(tree)) OR {tree} IS NULL
--trees     AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
),
-- What is below the entities of within, by edges of one tree.
--within below(entity, tree) AS (
--within     SELECT {child} COLLATE pg_catalog."C", {tree} COLLATE pg_catalog."C" FROM {edges} AS r
--within         WHERE {parent} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.entity
--within         FROM pg_catalog.unnest($4) AS t(entity)) AND {child} IS NOT NULL
--within --trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.tree
--within --trees     FROM pg_catalog.unnest($3) AS t(tree)) OR {tree} IS NULL
--within --trees     AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
--within     UNION
--within     SELECT {child} COLLATE pg_catalog."C", b.tree FROM below AS b JOIN {edges} AS r
--within         ON {parent} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) b.entity
--within        AND ({tree} IS NULL) OPERATOR(pg_catalog.=) (b.tree IS NULL)
--within            AND COALESCE({tree}, '') COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) COALESCE(b.tree, '')
--within            AND {child} IS NOT NULL
--within ),
name(entity) AS (
    SELECT n.entity FROM there AS n
--within WHERE n.entity OPERATOR(pg_catalog.=) ANY (SELECT t.entity COLLATE pg_catalog."C"
--within     FROM pg_catalog.unnest($4) AS t(entity) UNION ALL SELECT b.entity FROM below AS b)
),
aliased(alias, entity) AS (
    {aliases}
),
-- What an entity is called: its labels, or its name where there is no column of labels.
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
-- The words of the text and, if it has possessives, elisions and the like, those of the text without them.
word(plain, place, form, start, length, normal, lower) AS MATERIALIZED (
    SELECT p.plain, w.place, w.form, w.start, w.length, w.normal, w.lower
      FROM (VALUES (false), (true)) AS p(plain) CROSS JOIN LATERAL cftrag_internal.cft_words($1, p.plain,
          '{language}') AS w
),
-- Every window of up to 64 words.
span(plain, first, last, form) AS (
    SELECT w.plain, w.place, w.place, w.form FROM word AS w
    UNION ALL
    SELECT s.plain, s.first, w.place, s.form OPERATOR(pg_catalog.||) pg_catalog.decode('20',
        'hex') OPERATOR(pg_catalog.||) w.form
      FROM span AS s
      JOIN word AS w ON w.plain OPERATOR(pg_catalog.=) s.plain
          AND w.place OPERATOR(pg_catalog.=) (s.last OPERATOR(pg_catalog.+) 1)
     WHERE (w.place OPERATOR(pg_catalog.-) s.first) OPERATOR(pg_catalog.<) 64
),
-- The entities that a window names, from its first character to the one after its last. If a name stands there
-- literally, names that need the text without its possessives do not count; of the names that fold to the window's
-- words only those count that it spells best. An alias adds nothing if what the entity is called is found too; the
-- smallest of several aliases, by bytes, stands for them.
mention(start, stop, entity, via_alias) AS MATERIALIZED (
    SELECT z.start, z.stop, z.entity, CASE WHEN pg_catalog.bool_or(z.via_alias IS NULL) THEN NULL
        ELSE pg_catalog.min(z.via_alias) END
      FROM (SELECT y.*, pg_catalog.rank() OVER (PARTITION BY y.start, y.stop ORDER BY y.plain, y.spelling DESC) AS place
              FROM (SELECT a.start, b.start OPERATOR(pg_catalog.+) b.length AS stop, f.entity, f.via_alias, s.plain,
                           cftrag_internal.cft_spelling(f.name, $1, a.start,
                               b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start,
                               '{language}') AS spelling
                      FROM span AS s
                      JOIN form AS f ON f.form OPERATOR(pg_catalog.=) s.form
                      JOIN word AS a ON a.plain OPERATOR(pg_catalog.=) s.plain
                          AND a.place OPERATOR(pg_catalog.=) s.first
                      JOIN word AS b ON b.plain OPERATOR(pg_catalog.=) s.plain
                          AND b.place OPERATOR(pg_catalog.=) s.last) AS y
             WHERE y.spelling IS NOT NULL) AS z
     WHERE z.place OPERATOR(pg_catalog.=) 1
     GROUP BY z.start, z.stop, z.entity
),
-- The leftmost match, the longest there, then the next one after its end.
chosen(start, stop) AS (
    SELECT 0, 0
    UNION ALL
    SELECT n.start, n.stop
      FROM chosen AS c
     CROSS JOIN LATERAL (SELECT m.start, m.stop FROM mention AS m WHERE m.start OPERATOR(pg_catalog.>) 0
         AND m.start OPERATOR(pg_catalog.>=) c.stop
                          ORDER BY m.start, m.stop DESC LIMIT 1) AS n
     WHERE NOT $2
),
kept0(start, stop, entity, via_alias, method, score) AS MATERIALIZED (
    SELECT m.start, m.stop, m.entity, m.via_alias, 'exact'::pg_catalog.text, 1::pg_catalog.float4 FROM mention AS m
     WHERE $2 OR EXISTS (SELECT FROM chosen AS c WHERE c.start OPERATOR(pg_catalog.=) m.start
         AND c.stop OPERATOR(pg_catalog.=) m.stop)
)
-- The normal words of the text, without its possessives and the like if it has some; and every window of them.
--forms , normal(place, lower, normal, start, length) AS MATERIALIZED (
--forms     SELECT pg_catalog.row_number() OVER (ORDER BY w.place), w.lower, w.normal, w.start, w.length FROM word AS w
--forms      WHERE w.plain OPERATOR(pg_catalog.=) (SELECT pg_catalog.bool_or(o.plain) FROM word AS o)
--forms          AND pg_catalog.length(w.normal) OPERATOR(pg_catalog.>) 0
--forms ),
--forms normal_span(first, last, words) AS (
--forms     SELECT w.place, w.place, ARRAY[w.normal] FROM normal AS w
--forms     UNION ALL
--forms     SELECT s.first, w.place, pg_catalog.array_append(s.words, w.normal)
--forms       FROM normal_span AS s
--forms       JOIN normal AS w ON w.place OPERATOR(pg_catalog.=) (s.last OPERATOR(pg_catalog.+) 1)
--forms           AND (w.place OPERATOR(pg_catalog.-) s.first) OPERATOR(pg_catalog.<) 64
--forms )
-- What each rule finds: windows that have the form of a name.
--by form , found{n}(start, stop, entity, via_alias) AS MATERIALIZED (
--by form     SELECT a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity,
--by form         CASE WHEN pg_catalog.bool_or(f.via_alias IS NULL) THEN NULL ELSE pg_catalog.min(f.via_alias) END
--by form       FROM (SELECT s.first, s.last, cftrag_internal.cft_window_form(s.words, '{form}', '{language}') AS form
--by form           FROM normal_span AS s) AS s
--by form       JOIN (SELECT o.entity, o.name, o.via_alias, cftrag_internal.cft_form(o.name, '{form}',
--by form           '{language}') AS form FROM form AS o) AS f ON f.form OPERATOR(pg_catalog.=) s.form
--by form       JOIN normal AS a ON a.place OPERATOR(pg_catalog.=) s.first
--by form       JOIN normal AS b ON b.place OPERATOR(pg_catalog.=) s.last
--by form      WHERE cftrag_internal.cft_spelled_otherwise(f.name, $1, a.start,
--by form          b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start, '{form}',
--by form          (s.last OPERATOR(pg_catalog.-) s.first OPERATOR(pg_catalog.+) 1)::pg_catalog.int4, '{language}')
--by form      GROUP BY a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity
--by form )
-- Windows that have the form of a name once another word of its class stands for one of their words, up to seven words
-- from it.
--by synonym , mate{n}(place, normal) AS MATERIALIZED (
--by synonym     SELECT DISTINCT w.place, m.words[1]
--by synonym       FROM normal AS w
--by synonym       JOIN ({mates}) AS p(word, mate) ON pg_catalog.convert_to(p.word,
--by synonym           'UTF8') OPERATOR(pg_catalog.=) ANY (ARRAY[w.lower, w.normal])
--by synonym      CROSS JOIN LATERAL (SELECT cftrag_internal.cft_normal_words(p.mate, '{language}')) AS m(words)
--by synonym      WHERE pg_catalog.cardinality(m.words) OPERATOR(pg_catalog.=) 1
--by synonym          AND m.words[1] OPERATOR(pg_catalog.<>) w.normal
--by synonym ),
--by synonym found{n}(start, stop, entity, via_alias) AS MATERIALIZED (
--by synonym     SELECT a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity,
--by synonym         CASE WHEN pg_catalog.bool_or(f.via_alias IS NULL) THEN NULL ELSE pg_catalog.min(f.via_alias) END
--by synonym       FROM (SELECT s.first, s.last,
--by synonym           cftrag_internal.cft_window_form(pg_catalog.array_cat(pg_catalog.array_append(
--by synonym                    s.words[:m.place OPERATOR(pg_catalog.-) s.first], m.normal),
--by synonym                        s.words[m.place OPERATOR(pg_catalog.-) s.first OPERATOR(pg_catalog.+) 2:]),
--by synonym                        '{form}', '{language}') AS form
--by synonym               FROM normal_span AS s
--by synonym               JOIN mate{n} AS m ON m.place OPERATOR(pg_catalog.>=) s.first
--by synonym                   AND m.place OPERATOR(pg_catalog.<=) s.last
--by synonym                AND (m.place OPERATOR(pg_catalog.-) s.first) OPERATOR(pg_catalog.<=) 7
--by synonym                    AND (s.last OPERATOR(pg_catalog.-) m.place) OPERATOR(pg_catalog.<=) 7) AS s
--by synonym       JOIN (SELECT o.entity, o.name, o.via_alias, cftrag_internal.cft_form(o.name, '{form}',
--by synonym           '{language}') AS form FROM form AS o) AS f ON f.form OPERATOR(pg_catalog.=) s.form
--by synonym       JOIN normal AS a ON a.place OPERATOR(pg_catalog.=) s.first
--by synonym       JOIN normal AS b ON b.place OPERATOR(pg_catalog.=) s.last
--by synonym      WHERE cftrag_internal.cft_spelled_otherwise(f.name, $1, a.start,
--by synonym          b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start, '{form}',
--by synonym          (s.last OPERATOR(pg_catalog.-) s.first OPERATOR(pg_catalog.+) 1)::pg_catalog.int4, '{language}')
--by synonym      GROUP BY a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity
--by synonym )
-- An abbreviation that the text defines behind a name means that name's entities, also with an s; if it is defined
-- twice, its first long form counts.
--by abbreviation , meant(short, start, stop) AS (
--by abbreviation     SELECT DISTINCT ON (d.short) d.short, d.start, d.stop
--by abbreviation       FROM (SELECT DISTINCT ON (o.long_stop) o.short, m.start, m.stop
--by abbreviation           FROM cftrag_internal.cft_definitions($1) WITH ORDINALITY AS o
--by abbreviation               JOIN kept{before} AS m ON m.stop OPERATOR(pg_catalog.=) o.long_stop
--by abbreviation                   ORDER BY o.long_stop, o.ordinality, m.start) AS d
--by abbreviation      ORDER BY d.short, d.start, d.stop DESC
--by abbreviation ),
--by abbreviation found{n}(start, stop, entity, via_alias) AS MATERIALIZED (
--by abbreviation     SELECT DISTINCT a.start, b.start OPERATOR(pg_catalog.+) b.length, k.entity, k.via_alias
--by abbreviation       FROM word AS a
--by abbreviation       JOIN word AS b ON NOT a.plain AND NOT b.plain AND b.place OPERATOR(pg_catalog.>=) a.place
--by abbreviation           AND b.place OPERATOR(pg_catalog.<) (a.place OPERATOR(pg_catalog.+) 5)
--by abbreviation       JOIN meant AS d ON pg_catalog.substr($1, a.start,
--by abbreviation           b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start)
--by abbreviation           OPERATOR(pg_catalog.=) ANY (ARRAY[d.short, d.short OPERATOR(pg_catalog.||) 's'])
--by abbreviation       JOIN kept{before} AS k ON k.start OPERATOR(pg_catalog.=) d.start
--by abbreviation           AND k.stop OPERATOR(pg_catalog.=) d.stop
--by abbreviation )
-- Windows of up to 16 words of which one is in no name, and that are a name with a near word in its place.
--by typo , called(name) AS MATERIALIZED ({called}),
--by typo known(word) AS MATERIALIZED (
--by typo     SELECT DISTINCT w.word FROM (SELECT DISTINCT c.name FROM called AS c) AS c,
--by typo         pg_catalog.unnest(cftrag_internal.cft_normal_words(c.name, '{language}')) AS w(word)
--by typo ),
--by typo unknown(place) AS MATERIALIZED (
--by typo     SELECT w.place FROM normal AS w WHERE cftrag_internal.cft_may_be_misspelled(w.normal, '{language}')
--by typo         AND NOT EXISTS (SELECT FROM known AS k WHERE k.word OPERATOR(pg_catalog.=) w.normal)
--by typo ),
--by typo found{n}(start, stop, entity, via_alias) AS MATERIALIZED (
--by typo     SELECT a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity,
--by typo         CASE WHEN pg_catalog.bool_or(f.via_alias IS NULL) THEN NULL ELSE pg_catalog.min(f.via_alias) END
--by typo       FROM (SELECT s.*, (SELECT pg_catalog.min(u.place) FROM unknown AS u
--by typo           WHERE u.place OPERATOR(pg_catalog.>=) s.first AND u.place OPERATOR(pg_catalog.<=) s.last) AS place,
--by typo                    (SELECT pg_catalog.count(*) FROM unknown AS u WHERE u.place OPERATOR(pg_catalog.>=) s.first
--by typo                        AND u.place OPERATOR(pg_catalog.<=) s.last) AS unknown
--by typo               FROM normal_span AS s
--by typo                   WHERE (s.last OPERATOR(pg_catalog.-) s.first) OPERATOR(pg_catalog.<) 16) AS s
--by typo       JOIN form AS f ON cftrag_internal.cft_misspelled(s.words, f.name,
--by typo           (s.place OPERATOR(pg_catalog.-) s.first)::pg_catalog.int4,
--by typo           (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM normal), '{language}')
--by typo       JOIN normal AS a ON a.place OPERATOR(pg_catalog.=) s.first
--by typo       JOIN normal AS b ON b.place OPERATOR(pg_catalog.=) s.last
--by typo      WHERE s.unknown OPERATOR(pg_catalog.=) 1
--by typo        AND cftrag_internal.cft_spelled_otherwise(f.name, $1, a.start,
--by typo            b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start, '{form}',
--by typo            pg_catalog.cardinality(s.words), '{language}')
--by typo      GROUP BY a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity
--by typo )
-- Names that the text joins, "breast and ovarian cancer": the last two or more that are all names are meant by the
-- window of them.
--by coordination , item(list, item, start, stop, name, words) AS MATERIALIZED (
--by coordination     SELECT c.list, c.item, c.start, c.stop, c.name, w.words
--by coordination       FROM cftrag_internal.cft_coordinations($1, '{language}') AS c
--by coordination      CROSS JOIN LATERAL (SELECT pg_catalog.array_agg(w.normal ORDER BY w.place),
--by coordination          pg_catalog.min(w.start), pg_catalog.max(w.start OPERATOR(pg_catalog.+) w.length)
--by coordination                            FROM cftrag_internal.cft_words(c.name,
--by coordination                                EXISTS (SELECT FROM cftrag_internal.cft_words(c.name, true,
--by coordination                                '{language}')), '{language}') AS w
--by coordination                           WHERE pg_catalog.length(w.normal) OPERATOR(pg_catalog.>) 0) AS w(words,
--by coordination                               start, stop)
--by coordination      WHERE w.start OPERATOR(pg_catalog.=) 1
--by coordination          AND w.stop OPERATOR(pg_catalog.=) (pg_catalog.length(c.name) OPERATOR(pg_catalog.+) 1)
--by coordination ),
--by coordination named(list, item, entity, via_alias) AS MATERIALIZED (
--by coordination     SELECT i.list, i.item, f.entity, f.via_alias
--by coordination       FROM (SELECT i.*, cftrag_internal.cft_window_form(i.words, 'inflected', '{language}') AS form
--by coordination           FROM item AS i) AS i
--by coordination       JOIN (SELECT o.entity, o.name, o.via_alias, cftrag_internal.cft_form(o.name, 'inflected',
--by coordination           '{language}') AS form FROM form AS o) AS f ON f.form OPERATOR(pg_catalog.=) i.form
--by coordination      WHERE cftrag_internal.cft_spelled_otherwise(f.name, i.name, 1, pg_catalog.length(i.name),
--by coordination          'inflected', pg_catalog.cardinality(i.words), '{language}')
--by coordination ),
--by coordination joined(list, item) AS MATERIALIZED (
--by coordination     SELECT n.list, pg_catalog.max(n.item)
--by coordination       FROM (SELECT DISTINCT n.list, n.item, (SELECT pg_catalog.count(DISTINCT b.item) FROM named AS b
--by coordination           WHERE b.list OPERATOR(pg_catalog.=) n.list
--by coordination           AND b.item OPERATOR(pg_catalog.<) n.item) AS before FROM named AS n) AS n
--by coordination      WHERE n.before OPERATOR(pg_catalog.=) n.item
--by coordination      GROUP BY n.list HAVING pg_catalog.max(n.item) OPERATOR(pg_catalog.>) 0
--by coordination ),
--by coordination found{n}(start, stop, entity, via_alias) AS MATERIALIZED (
--by coordination     SELECT i.start, i.stop, n.entity, CASE WHEN pg_catalog.bool_or(n.via_alias IS NULL) THEN NULL
--by coordination         ELSE pg_catalog.min(n.via_alias) END
--by coordination       FROM joined AS j
--by coordination       JOIN item AS i ON i.list OPERATOR(pg_catalog.=) j.list AND i.item OPERATOR(pg_catalog.=) j.item
--by coordination       JOIN named AS n ON n.list OPERATOR(pg_catalog.=) j.list
--by coordination           AND n.item OPERATOR(pg_catalog.<=) j.item
--by coordination      GROUP BY i.start, i.stop, n.entity
--by coordination )
-- Names of which a part is there, of those that list several things: "Hats & Scarves".
--by part , found{n}(start, stop, entity, via_alias) AS MATERIALIZED (
--by part     SELECT a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity,
--by part         CASE WHEN pg_catalog.bool_or(f.via_alias IS NULL) THEN NULL ELSE pg_catalog.min(f.via_alias) END
--by part       FROM (SELECT s.first, s.last, cftrag_internal.cft_window_form(s.words, '{form}', '{language}') AS form
--by part           FROM normal_span AS s) AS s
--by part       JOIN (SELECT o.entity, o.via_alias, p.name, cftrag_internal.cft_form(p.name, '{form}',
--by part           '{language}') AS form
--by part               FROM form AS o CROSS JOIN LATERAL pg_catalog.unnest(cftrag_internal.cft_parts(o.name,
--by part                   '{language}')) AS p(name)) AS f ON f.form OPERATOR(pg_catalog.=) s.form
--by part       JOIN normal AS a ON a.place OPERATOR(pg_catalog.=) s.first
--by part       JOIN normal AS b ON b.place OPERATOR(pg_catalog.=) s.last
--by part      WHERE cftrag_internal.cft_spelled_otherwise(f.name, $1, a.start,
--by part          b.start OPERATOR(pg_catalog.+) b.length OPERATOR(pg_catalog.-) a.start, '{form}',
--by part          (s.last OPERATOR(pg_catalog.-) s.first OPERATOR(pg_catalog.+) 1)::pg_catalog.int4, '{language}')
--by part      GROUP BY a.start, b.start OPERATOR(pg_catalog.+) b.length, f.entity
--by part )
-- Of these the windows count in which all mentions so far are inside, or that are apart from all; the leftmost are
-- chosen, of these the longest, and what is inside a chosen one goes. With overlapping, all windows count in which no
-- rule before has found a name.
--each , fits{n}(start, stop) AS MATERIALIZED (
--each     SELECT DISTINCT f.start, f.stop FROM found{n} AS f
--each      WHERE CASE WHEN $2 THEN NOT EXISTS (SELECT FROM kept{before} AS k
--each          WHERE k.start OPERATOR(pg_catalog.=) f.start AND k.stop OPERATOR(pg_catalog.=) f.stop)
--each                 ELSE NOT EXISTS (SELECT FROM kept{before} AS k WHERE k.start OPERATOR(pg_catalog.<) f.stop
--each                     AND f.start OPERATOR(pg_catalog.<) k.stop
--each                                     AND NOT (f.start OPERATOR(pg_catalog.<=) k.start
--each                                         AND k.stop OPERATOR(pg_catalog.<=) f.stop
--each                                         AND (f.stop OPERATOR(pg_catalog.-) f.start) OPERATOR(pg_catalog.>)
--each                                         (k.stop OPERATOR(pg_catalog.-) k.start))) END
--each ),
--each chosen{n}(start, stop) AS (
--each     SELECT 0, 0
--each     UNION ALL
--each     SELECT n.start, n.stop
--each       FROM chosen{n} AS c
--each      CROSS JOIN LATERAL (SELECT f.start, f.stop FROM fits{n} AS f WHERE f.start OPERATOR(pg_catalog.>) 0
--each          AND f.start OPERATOR(pg_catalog.>=) c.stop
--each                           ORDER BY f.start, f.stop DESC LIMIT 1) AS n
--each      WHERE NOT $2
--each ),
--each kept{n}(start, stop, entity, via_alias, method, score) AS MATERIALIZED (
--each     SELECT f.start, f.stop, f.entity, f.via_alias, '{method}'::pg_catalog.text, {score}::pg_catalog.float4
--each         FROM found{n} AS f
--each      WHERE EXISTS (SELECT FROM fits{n} AS s WHERE $2 AND s.start OPERATOR(pg_catalog.=) f.start
--each          AND s.stop OPERATOR(pg_catalog.=) f.stop)
--each         OR EXISTS (SELECT FROM chosen{n} AS c WHERE c.start OPERATOR(pg_catalog.=) f.start
--each             AND c.stop OPERATOR(pg_catalog.=) f.stop)
--each     UNION ALL
--each     SELECT k.* FROM kept{before} AS k
--each      WHERE NOT EXISTS (SELECT FROM chosen{n} AS c WHERE c.start OPERATOR(pg_catalog.<=) k.start
--each          AND k.stop OPERATOR(pg_catalog.<=) c.stop)
--each )
-- Of the entities of one window (namesakes) each goes of which the text says less than of another one of them: of the
-- things above it that the text names, other than where it first names the entity, and of the words in what these are
-- called, function words and words of mentions aside.
--narrow , namesake(entity) AS MATERIALIZED (
--narrow     SELECT DISTINCT k.entity FROM kept0 /* by the last rule */ AS k
--narrow      WHERE EXISTS (SELECT FROM kept0 /* by the last rule */ AS o WHERE o.start OPERATOR(pg_catalog.=) k.start
--narrow          AND o.stop OPERATOR(pg_catalog.=) k.stop AND o.entity OPERATOR(pg_catalog.<>) k.entity)
--narrow ),
--narrow first(entity, start, stop) AS MATERIALIZED (
--narrow     SELECT DISTINCT ON (k.entity) k.entity, k.start, k.stop FROM kept0 /* by the last rule */ AS k
--narrow         ORDER BY k.entity, k.start, k.stop DESC
--narrow ),
--narrow up(entity, ancestor, tree, depth) AS (
--narrow     SELECT n.entity, {parent} COLLATE pg_catalog."C", {tree} COLLATE pg_catalog."C", 1
--narrow       FROM namesake AS n JOIN {edges} AS r ON {child} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) n.entity
--narrow           AND {parent} IS NOT NULL
--narrow --trees AND ({tree} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) ANY (SELECT t.tree
--narrow --trees     FROM pg_catalog.unnest($3) AS t(tree)) OR {tree} IS NULL
--narrow --trees     AND EXISTS (SELECT FROM pg_catalog.unnest($3) AS t(tree) WHERE t.tree IS NULL))
--narrow     UNION
--narrow     SELECT u.entity, {parent} COLLATE pg_catalog."C", u.tree, u.depth OPERATOR(pg_catalog.+) 1
--narrow       FROM up AS u JOIN {edges} AS r ON {child} COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) u.ancestor
--narrow           AND {parent} IS NOT NULL
--narrow        AND ({tree} IS NULL) OPERATOR(pg_catalog.=) (u.tree IS NULL)
--narrow            AND COALESCE({tree}, '') COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) COALESCE(u.tree, '')
--narrow      WHERE u.depth OPERATOR(pg_catalog.<) 1000
--narrow ),
--narrow above(entity, ancestor) AS MATERIALIZED (SELECT DISTINCT u.entity, u.ancestor FROM up AS u
--narrow     WHERE u.ancestor OPERATOR(pg_catalog.<>) u.entity),
--narrow beside(word) AS MATERIALIZED (
--narrow     SELECT DISTINCT w.normal FROM normal AS w
--narrow      WHERE cftrag_internal.cft_window_form(ARRAY[w.normal, w.normal], 'reordered', '{language}') IS NOT NULL
--narrow        AND NOT EXISTS (SELECT FROM kept0 /* by the last rule */ AS k
--narrow            WHERE k.start OPERATOR(pg_catalog.<=) w.start AND w.start OPERATOR(pg_catalog.<) k.stop)
--narrow ),
--narrow said(entity, what) AS MATERIALIZED (
--narrow     SELECT n.entity, ARRAY(
--narrow         SELECT pg_catalog.concat_ws('-', a.start, a.stop)
--narrow           FROM above AS u JOIN first AS a ON a.entity OPERATOR(pg_catalog.=) u.ancestor JOIN first AS e
--narrow               ON e.entity OPERATOR(pg_catalog.=) u.entity
--narrow          WHERE u.entity OPERATOR(pg_catalog.=) n.entity AND NOT (a.start OPERATOR(pg_catalog.=) e.start
--narrow              AND a.stop OPERATOR(pg_catalog.=) e.stop)
--narrow         UNION
--narrow         SELECT pg_catalog.encode(w.word, 'hex')
--narrow           FROM above AS u
--narrow          CROSS JOIN LATERAL pg_catalog.unnest(cftrag_internal.cft_normal_words(
--narrow --label (SELECT {shown} FROM (SELECT u.ancestor) AS u(name) JOIN {labels} AS r ON {is_labelled})
--narrow --no label u.ancestor
--narrow                , '{language}')) AS x(word)
--narrow           JOIN beside AS w ON w.word OPERATOR(pg_catalog.=) x.word
--narrow          WHERE u.entity OPERATOR(pg_catalog.=) n.entity)
--narrow       FROM namesake AS n
--narrow )
SELECT
--once DISTINCT ON (m.entity)
       m.entity, pg_catalog.substr($1, m.start, m.stop OPERATOR(pg_catalog.-) m.start), m.start,
           m.stop OPERATOR(pg_catalog.-) m.start, m.via_alias
--label , (SELECT {shown} FROM (SELECT m.entity) AS u(name) JOIN {labels} AS r ON {is_labelled})
--no label , NULL::pg_catalog.text
       , m.method, m.score
  FROM kept0 /* by the last rule */ AS m
--narrow WHERE NOT EXISTS (SELECT FROM kept0 /* by the last rule */ AS o JOIN said AS t
--narrow     ON t.entity OPERATOR(pg_catalog.=) m.entity JOIN said AS s ON s.entity OPERATOR(pg_catalog.=) o.entity
--narrow                    WHERE o.start OPERATOR(pg_catalog.=) m.start AND o.stop OPERATOR(pg_catalog.=) m.stop
--narrow                        AND t.what OPERATOR(pg_catalog.<@) s.what AND NOT s.what OPERATOR(pg_catalog.<@) t.what)
 ORDER BY
--once m.entity,
       m.start, m.stop DESC, m.entity
