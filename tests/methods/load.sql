-- Runs after demo/load.sql (world=disease): provides the ontology under the names that the definitions in tests/pg_regress use.
SET client_min_messages = warning;
-- The definitions use wood, meaning, e and place.
CREATE VIEW wood AS SELECT tree, parent, child FROM entity_edges;
CREATE TABLE meaning AS SELECT entity, embedding FROM documents;
CREATE UNIQUE INDEX ON meaning (entity);
CREATE TABLE e AS SELECT DISTINCT tree, parent COLLATE "C" AS parent, child COLLATE "C" AS child FROM entity_edges WHERE parent <> child;
CREATE INDEX ON e (child);
CREATE INDEX ON e (parent);
CREATE TABLE place AS SELECT tree, parent AS name FROM e UNION SELECT tree, child FROM e;
CREATE INDEX ON place (name);
ANALYZE;
SELECT cft_attach_embeddings('meaning', edges => 'entity_edges') \g /dev/null
SELECT cft_detach('documents') \g /dev/null
-- Sorts names with several numbers; the plain_place of tests/pg_regress (tree_rag) handles one number only.
CREATE FUNCTION plain_place(path text[]) RETURNS text[] LANGUAGE sql AS $$ SELECT array_agg(cftrag_internal.cft_natural(s) ORDER BY n) COLLATE "C" FROM unnest(path) WITH ORDINALITY AS u(s, n) $$;
CREATE TABLE claim (what text, cases bigint, different bigint, holds boolean, ms_ours numeric, ms_plain numeric);
-- Runs both statements for each case (q, names, entity are their $1, $2, $3), compares the answers, and records the median times.
CREATE FUNCTION compare(what text, ours text, plain text, cases text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c record;
    a text[];
    b text[];
    began timestamptz;
    spent float8[] := '{}';
    spent_plain float8[] := '{}';
    different bigint := 0;
    rows_in_all bigint := 0;
BEGIN
    FOR c IN EXECUTE cases LOOP
        began := clock_timestamp();
        EXECUTE 'SELECT array_agg(x::text) FROM (' || ours || ') AS x' INTO a USING c.q, c.names, c.entity;
        spent := spent || extract(epoch FROM clock_timestamp() - began)::float8;
        began := clock_timestamp();
        EXECUTE 'SELECT array_agg(x::text) FROM (' || plain || ') AS x' INTO b USING c.q, c.names, c.entity;
        spent_plain := spent_plain || extract(epoch FROM clock_timestamp() - began)::float8;
        different := different + (a IS DISTINCT FROM b)::int;
        rows_in_all := rows_in_all + coalesce(cardinality(a), 0);
        IF a IS DISTINCT FROM b THEN RAISE WARNING '% differs in %', what, c; END IF;
    END LOOP;
    INSERT INTO claim SELECT what, cardinality(spent), different, different = 0 AND rows_in_all >= cardinality(spent),
        (SELECT round(1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY u)::numeric, 2) FROM unnest(spent) AS u),
        (SELECT round(1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY u)::numeric, 2) FROM unnest(spent_plain) AS u);
END $$;
