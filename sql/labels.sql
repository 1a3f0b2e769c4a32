-- What entities are called: the smallest by bytes of the labels that their rows give, NULL where they give none (an empty label counts as none); in the order of $1 text[].
--
-- Filled in as sql/reference.sql is, for a table with a column of labels (of edges, or of labels only). It is (a) what the extension runs when the image cannot serve,
-- (b) what the lines of reference.sql that begin with --label say for each relative.
SELECT (SELECT pg_catalog.min({label} COLLATE pg_catalog."C") FILTER (WHERE {label} OPERATOR(pg_catalog.<>) '')
          FROM {labels} AS r
         WHERE {is_labelled})
  FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u(name, place)
 ORDER BY u.place
