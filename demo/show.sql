-- One question, its answer, and how the answer was served. demo/run: -v question=ID.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
\pset pager off
SELECT question AS asked FROM questions WHERE id = :'question' \gset
\echo Question :question: :asked
\echo

SELECT image_calls AS image_before, reference_calls AS reference_before FROM pg_stat_cftrag WHERE edges = 'entity_edges'::regclass \gset
\ir question.sql
\echo How it was served (pg_stat_cftrag):
SELECT edges, state, entities, edge_rows, pg_size_pretty(memory_bytes::bigint) AS memory,
       image_calls - :image_before AS image_calls, reference_calls - :reference_before AS reference_calls
  FROM pg_stat_cftrag WHERE edges = 'entity_edges'::regclass;
