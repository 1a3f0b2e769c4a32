-- What the entities of $1 text[] are called, in their order: the smallest label of their rows by bytes, of the
-- preferred ones if the table says which and there are any; else the smallest of their other names; NULL if they have
-- none. An empty name is none.
-- Filled in as sql/reference.sql is, for a table with a column of labels (the edges table, or a table of labels). The
-- extension runs it when the image cannot serve. The lines of reference.sql that begin with --label say the same for
-- each relative.
SELECT (SELECT {shown}
          FROM {labels} AS r
         WHERE {is_labelled})
  FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u(name, place)
 ORDER BY u.place
