-- Four forests of some :n edges, a document for each of a million entities: run by tests/cancels/run.
CREATE EXTENSION cftrag CASCADE;
SELECT sqrt(:n)::int AS side \gset
CREATE TABLE chain AS SELECT 'n' || n AS parent, 'n' || n + 1 AS child FROM generate_series(1, :n) AS n;
CREATE TABLE star AS SELECT 'n1' AS parent, 'n' || n + 1 AS child FROM generate_series(1, :n) AS n;
CREATE TABLE clique AS SELECT 'n' || a AS parent, 'n' || b AS child FROM generate_series(1, :side) AS a, generate_series(1, :side) AS b WHERE a <> b;
CREATE TABLE trees AS SELECT 'tree ' || n AS tree, 'n1' AS parent, 'n2' AS child FROM generate_series(1, :n) AS n;
-- What the calls name: an entity at the top, in the middle, at the end.
CREATE TABLE called (shape text, name text, entity text);
INSERT INTO called SELECT shape, name, 'n' || n FROM (VALUES ('chain', 1, :n / 2, :n), ('star', 1, 5, 77), ('clique', 1, :side / 2, :side), ('trees', 1, 1, 2)) AS c(shape, top, mid, low),
    LATERAL (VALUES ('top', top), ('mid', mid), ('low', low)) AS e(name, n);
CREATE TABLE names (shape text, names text[], text text);

CREATE PROCEDURE fill(shape text) LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('CREATE INDEX ON %I (parent); CREATE INDEX ON %1$I (child)', shape);
    EXECUTE format('CREATE TABLE %I AS SELECT row_number() OVER ()::int AS id, ''Body'' AS body, ARRAY[sin(random()), random(), 1]::real[]::vector(3) AS embedding, child AS entity FROM %I',
        shape || '_documents', shape);
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id); CREATE INDEX ON %1$I (entity)', shape || '_documents');
    EXECUTE format('CREATE TABLE %I (entity text, summary text); CREATE INDEX ON %1$I (entity)', shape || '_summaries');
    EXECUTE format('INSERT INTO names SELECT %L, array_agg(child), string_agg(child, '' '') FROM (SELECT DISTINCT child FROM %1$I LIMIT 100000) AS few', shape);
    PERFORM cft_attach(shape::regclass, tree => CASE WHEN shape = 'trees' THEN 'tree' END);
    PERFORM cft_attach_documents((shape || '_documents')::regclass, entity => 'entity');
END $$;
CALL fill('chain'); CALL fill('star'); CALL fill('clique'); CALL fill('trees');
-- Where cycles are refused; the rows come from a forest.
CREATE TABLE acyclic (tree text, parent text, child text);
CREATE INDEX ON acyclic (parent); CREATE INDEX ON acyclic (child);
SELECT cft_attach('acyclic', tree => 'tree');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON acyclic FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
CREATE FUNCTION edges(shape text) RETURNS SETOF acyclic LANGUAGE plpgsql AS $$ BEGIN
    IF shape = 'trees' THEN RETURN QUERY TABLE trees; ELSE RETURN QUERY EXECUTE format('SELECT NULL, parent, child FROM %I', shape); END IF;
END $$;
VACUUM ANALYZE;
SELECT cft_build(shape::regclass) FROM names;
SELECT cft_attach_summaries((shape || '_summaries')::regclass, edges => shape::regclass, documents => (shape || '_documents')::regclass) FROM names;
VACUUM ANALYZE;
