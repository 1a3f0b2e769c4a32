-- Indexes that searches of documents use, and the order of documents about one entity.
\a\t
SET client_min_messages = notice;
CREATE TABLE pages (id int PRIMARY KEY, body text DEFAULT 'a page', chapter text, page int, embedding vector(3));
INSERT INTO pages (id, body, chapter, page, embedding) SELECT n, 'page ' || n, 'chapter ' || n % 3, 20001 - n, ARRAY[n % 97 + 1, n % 89, n % 83]::vector FROM generate_series(1, 20000) AS n;
ANALYZE pages;
-- Many documents without an index.
SELECT cft_attach_documents('pages', entity => 'chapter');
CREATE FUNCTION uses(name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || replace(cftrag_internal.cft_search_statement('public.pages', 'nearest'), '$1', '''[1,2,3]''::public.vector') INTO plan;
    RETURN plan::text ~ name;
END $$;
-- On a cast of the column, by another distance; with more dimensions than the column's type can index this is the only way.
CREATE INDEX pages_half ON pages USING hnsw ((embedding::halfvec(3)) halfvec_l2_ops);
ANALYZE pages;
SELECT uses('pages_half');
SELECT cft_attach_documents('pages', entity => 'chapter', sort => 'page');
SELECT substring(cftrag_internal.cft_search_statement('pages', 'nearest') FROM 'tokens, (.*) AS distance') AS distance;
SELECT count(*), max(distance) < 10 AS near FROM cft_nearest_documents('[50,50,50]', 5, documents => 'pages');
SELECT count(*) FROM cft_nearest_documents('[50,50,50]', 5, documents => 'pages', filter => NULL);
-- Under another search_path, too; the column's own index comes first; neither a partial nor another expression's index counts.
SET search_path = pg_catalog;
SELECT public.uses('pages_half');
RESET search_path;
CREATE INDEX pages_own ON pages USING hnsw (embedding vector_ip_ops);
SELECT uses('pages_own'), substring(cftrag_internal.cft_search_statement('pages', 'nearest') FROM 'tokens, (.*) AS distance') AS distance;
DROP INDEX pages_own, pages_half;
CREATE INDEX pages_part ON pages USING hnsw (embedding vector_cosine_ops) WHERE id > 10;
CREATE INDEX pages_other ON pages USING hnsw ((subvector(embedding, 1, 2)::vector(2)) vector_cosine_ops);
SELECT substring(cftrag_internal.cft_search_statement('pages', 'nearest') FROM 'tokens, (.*) AS distance') AS distance;
SELECT cft_attach_documents('pages', entity => 'chapter');
-- The order of documents about one entity: by its column where no embedding decides.
CREATE TABLE chapters (parent text, child text);
INSERT INTO chapters SELECT 'book', 'chapter ' || n FROM generate_series(0, 2) AS n;
SELECT cft_attach('chapters');
SELECT cft_attach_documents('pages', entity => 'chapter', sort => 'page');
DELETE FROM pages WHERE id BETWEEN 11 AND 19990;
UPDATE pages SET page = NULL WHERE id = 19992;
SELECT document_id, relative FROM cft_chunks('book', edges => 'chapters');
SELECT document_id FROM cft_chunks('chapter 1', edges => 'chapters');
SELECT document_id FROM cft_retrieve('chapter 2', NULL, chunks => 3, edges => 'chapters');
SELECT cft_attach_documents('pages', sort => 'embedding');
DROP TABLE pages, chapters;
DROP FUNCTION uses;
