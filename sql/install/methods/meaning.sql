-- What the methods share: what entities say, how embeddings are compared, how names are sorted.

-- The text of an entity: its summary, if there is one and summaries_count is true; else the documents about it, in
-- order of id; else its label or name. 0 or NULL for documents means none.
CREATE FUNCTION cftrag_internal.cft_texts(entities text[], documents regclass, edges regclass,
    summaries_count boolean DEFAULT true)
RETURNS TABLE(entity text, text text, tokens bigint, named boolean)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 100
AS 'MODULE_PATHNAME', 'cft_texts_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_texts(text[], regclass, regclass, boolean) IS
'what entities say, with its tokens: the summary of each, else the documents about it, in order of their ids, else its '
'label or name, which the column named says';

CREATE FUNCTION cftrag_internal.cft_distance(relation regclass, embedding name)
RETURNS TABLE(operator text, type text, cosine boolean)
LANGUAGE c STABLE PARALLEL SAFE COST 20 ROWS 1
AS 'MODULE_PATHNAME', 'cft_distance_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_distance(regclass, name) IS
'the operator of distance of an embedding column: that of an index on it, else the cosine distance';

-- The sort key of a document's parts: digits in names sort as numbers, "3.10" after "3.2".
CREATE FUNCTION cftrag_internal.cft_natural(name text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $$
    SELECT CASE WHEN name OPERATOR(pg_catalog.~) '[0-9]'
                THEN pg_catalog.regexp_replace(pg_catalog.regexp_replace(name, '([0-9]+)', E'00000000000000000000\\1',
                    'g'), '0*([0-9]{20})', E'\\1', 'g')
                ELSE name END $$;
COMMENT ON FUNCTION cftrag_internal.cft_natural(text) IS
'a key to sort names by, in which numbers count as numbers; compare it by bytes';
