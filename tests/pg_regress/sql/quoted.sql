-- The methods over tables, columns and names that want quotes, found by a search_path with others' objects in front of PostgreSQL's own.
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA "Odd ""S";
CREATE TABLE "Odd ""S"."T'x" ("P a" text, "c""d" text, "Tr" text);
INSERT INTO "Odd ""S"."T'x" VALUES ('a', 'b', 't'), ('b', 'c', 't'), ('a', 'c', 't'), ('c', 'a', 'u'), ('a"b', 'x''y', 't'), ('', 'a', 't'), ('A', 'B', 't');
CREATE TABLE "Odd ""S"."E m" ("n'a" text, "v e" vector(2));
INSERT INTO "Odd ""S"."E m" VALUES ('a', '[1,0]'), ('b', '[0,1]'), ('c', '[1,1]'), ('a"b', '[1,0]'), ('x''y', '[0.5,1]');
CREATE TABLE "Odd ""S"."S m" ("n'a" text, "s""u" text, "v e" vector(2));
SELECT cft_attach('"Odd ""S"."T''x"', 'P a', 'c"d', 'Tr');
SELECT oracle.build('"Odd ""S"."T''x"');
SELECT cft_attach_embeddings('"Odd ""S"."E m"', 'n''a', 'v e', '"Odd ""S"."T''x"');
SELECT cft_attach_summaries('"Odd ""S"."S m"', 'n''a', 's"u', 'v e', '"Odd ""S"."T''x"');
-- In front: each is an error if it is called, and a table of theirs is none of ours.
CREATE SCHEMA front;
CREATE FUNCTION front.never(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'an operator in front was used'; END $$;
CREATE OPERATOR front.= (LEFTARG = text, RIGHTARG = text, FUNCTION = front.never);
CREATE OPERATOR front.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = front.never);
CREATE FUNCTION front.cardinality(text[]) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'a function in front was used'; END $$;
CREATE FUNCTION front.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RAISE 'a function in front was used'; END $$;
CREATE FUNCTION front.format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'a function in front was used'; END $$;
CREATE FUNCTION front.cft_context(text[], int, int, regclass) RETURNS SETOF cft_relative LANGUAGE plpgsql AS $$ BEGIN RAISE 'a function in front was used'; END $$;
CREATE TABLE front.pg_trigger (tgrelid oid, tgfoid oid);
CREATE TEMP TABLE pg_class (oid oid);
SELECT set_config('search_path', format('front, pg_temp, pg_catalog, %I, "Odd ""S"', current_schema()), false) \g /dev/null
SELECT * FROM cft_filter_relations('"T''x"', 'P a', 'c"d', 'Tr');
SELECT count(*) FROM cft_check_edges('"T''x"');
SELECT * FROM cft_neighbors('a', 2, edges => '"T''x"');
SELECT * FROM cft_path('a', 'c', edges => '"T''x"');
SELECT cft_explain_path('a"b', 'x''y', edges => '"T''x"');
SELECT * FROM cft_lca('b', 'c', '"T''x"');
SELECT * FROM cft_depth('c', '"T''x"');
SELECT * FROM cft_subtree_size('a', '"T''x"');
SELECT * FROM cft_roots('"T''x"');
SELECT entity, tree, path, compared FROM cft_tree_search('[1,0]', mode => 'prune', edges => '"T''x"');
SELECT entity, path FROM cft_tree_search('[1,0]', mode => 'collapsed', edges => '"T''x"');
SELECT part, entity, under, text FROM cft_coarse_fine('[1,0]', edges => '"T''x"');
SELECT * FROM cft_bridge('{c,"x''y",b,"a\"b"}', edges => '"T''x"');
SELECT entity, common, hit, path FROM cft_expand('{c,b,"x''y"}', edges => '"T''x"');
SELECT * FROM cft_path_prefix('{c,"x''y"}'::text[], '"T''x"');
SELECT cft_path_prefix('x''y', '"T''x"');
SELECT tree, parent, child FROM cft_build_hierarchy('"T''x"', 'P a', 'c"d');
SELECT * FROM cft_rollup_next(1, '"T''x"');
SELECT * FROM cft_rollup(edges => '"T''x"');
INSERT INTO "T'x" VALUES ('x''y', 'new "leaf"', 't');
SELECT "n'a", "s""u" FROM "S m" ORDER BY "n'a", "s""u";
SELECT cft_rollup_mark('{c}', '"T''x"');
SELECT * FROM cft_rollup_status('"T''x"');
CREATE CONSTRAINT TRIGGER "n'c""x" AFTER INSERT OR UPDATE ON "T'x" FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO "T'x" VALUES ('c', 'a', 't');
CREATE INDEX ON "T'x" ("c""d");
INSERT INTO "T'x" VALUES ('c', 'a', 't');
RESET search_path;
SET client_min_messages = error;
DROP TABLE pg_temp.pg_class;
DROP SCHEMA front CASCADE;
DROP SCHEMA "Odd ""S" CASCADE;
