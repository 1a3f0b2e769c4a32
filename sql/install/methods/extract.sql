-- Extraction of relations from texts, by rules.

CREATE FUNCTION cft_extract_relations(text text, modifiers boolean DEFAULT false)
RETURNS TABLE(parent text, child text, relation text, sentence text)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10
AS 'MODULE_PATHNAME', 'cft_extract_relations_wrapper';
COMMENT ON FUNCTION cft_extract_relations(text, boolean) IS
'relations that English sentences say in plain words (contains, consists of, belongs to, is part of, such as, and '
'other, ...); modifiers: also "renal artery" under "artery"';
