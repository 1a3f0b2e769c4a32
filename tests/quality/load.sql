-- Runs after demo/load.sql (world=disease): loads the gold answers and the synonyms, and cuts forests of 50, 300 and 600 trees from the ontology.
SET client_min_messages = warning;
-- Title and text, which were embedded together.
ALTER TABLE documents ADD COLUMN content text GENERATED ALWAYS AS (title || '. ' || body) STORED;
SELECT cft_attach_documents('documents', body => 'content', entity => 'entity') \g /dev/null
CREATE TABLE asked (id text PRIMARY KEY, kind text, question text, entity text, gold text);
\copy asked FROM 'doid_questions.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
CREATE TABLE synonym (id text, synonym text, scope text);
\copy synonym FROM 'doid_synonyms.tsv' (FORMAT csv, DELIMITER E'\t', HEADER, QUOTE E'\b')
-- Leaves out synonyms that are names themselves, since these mean that name.
CREATE TABLE alias AS
    SELECT DISTINCT s.synonym AS alias, d.entity FROM synonym AS s JOIN documents AS d USING (id)
     WHERE s.scope = 'EXACT' AND NOT EXISTS (SELECT FROM documents AS n WHERE lower(n.entity) = lower(s.synonym));
CREATE INDEX ON alias (entity);

-- A tree has all entities within four levels below its root, root included, if these are 12 to 400. Trees are picked by the hash of the root's name.
CREATE TABLE tree_of AS
    WITH RECURSIVE under (root, node, depth) AS (
        SELECT DISTINCT parent, parent, 0 FROM entity_edges
        UNION SELECT u.root, e.child, u.depth + 1 FROM under AS u JOIN entity_edges AS e ON e.parent = u.node WHERE u.depth < 4)
    SELECT root, array_agg(DISTINCT node) AS nodes FROM under GROUP BY root HAVING count(DISTINCT node) BETWEEN 12 AND 400;
CREATE FUNCTION forest(n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE forest_%1$s AS SELECT t.root AS tree, e.parent, e.child
        FROM (SELECT * FROM tree_of ORDER BY md5(root) LIMIT %1$s) AS t JOIN entity_edges AS e ON e.parent = ANY (t.nodes) AND e.child = ANY (t.nodes)', n);
    EXECUTE format('CREATE INDEX ON forest_%1$s (child, tree, parent); CREATE INDEX ON forest_%1$s (parent, tree, child)', n);
    EXECUTE format('ANALYZE forest_%s', n);
    PERFORM cft_attach(format('forest_%s', n)::regclass, tree => 'tree');
END $$;
SELECT forest(n) FROM unnest('{50,300,600}'::int[]) AS n \g /dev/null
SELECT cft_build('forest_50') \g /dev/null
SELECT cft_build('forest_300') \g /dev/null
SELECT cft_build('forest_600') \g /dev/null
ANALYZE;
-- Synonyms as aliases, if this version supports them.
SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'cft_attach_aliases') AS has_aliases \gset
\if :has_aliases
    SELECT cft_attach_aliases('alias', 'alias', 'entity', 'entity_edges') \g /dev/null
    -- Built here, because questions.sql reads in transactions that write, and those build no image.
    SELECT cft_build('alias') \g /dev/null
\endif
