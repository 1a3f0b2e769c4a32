-- Databases in other encodings, and in none: entities, tables and columns whose names are no UTF-8.
\a\t
SET client_min_messages = warning;
SELECT current_database() AS here, current_database() || '_encoding' AS other \gset
\c template1
SET client_min_messages = warning;
CREATE DATABASE :"other" TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c :"other"
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE; SET client_min_messages = warning;
CREATE SCHEMA "Größen";
CREATE TABLE "Größen"."Äste" ("Höhe" text, "Länge" varchar, "Wälder" text);
INSERT INTO "Größen"."Äste" VALUES ('ä', 'ö', 'ü'), ('ö', 'ß', 'ü'), ('z', 'ä', NULL);
SELECT cft_attach('"Größen"."Äste"', 'Höhe', 'Länge', 'Wälder');
SELECT cft_attach('"Größen"."Äste"', 'Höhe', 'Länge', 'Wälder');
SET search_path = "Größen", public;
SELECT * FROM cft_context('ö');
INSERT INTO "Größen"."Äste" VALUES ('ß', 'é', 'ü');
SELECT * FROM cft_context('ö', edges => '"Größen"."Äste"');
SELECT cft_context_json('ö', edges => '"Größen"."Äste"'), cft_context_json('{z,ß}'::text[], edges => '"Größen"."Äste"');
-- LATIN1 has no lines to draw with.
SELECT cft_tree('ö', edges => '"Größen"."Äste"'), cft_tree('ö', edges => '"Größen"."Äste"', format => 'mermaid');
SET cftrag.enable = off;
SELECT * FROM cft_context('ö', edges => '"Größen"."Äste"');
RESET cftrag.enable;
SELECT * FROM cft_verify('"Größen"."Äste"');
SELECT edges FROM pg_stat_cftrag;
-- The definition finds entities in a text: names in the image are not UTF-8.
SELECT entity, mention, start, length FROM cft_entities('ÄÖ, É SS é', '"Größen"."Äste"');
INSERT INTO "Größen"."Äste" VALUES ('z', 'Hüte & Mäntel'), ('z', 'é Kränze'), ('z', 'à Kränze'), ('z', 'Höhere Mädchenschule');
SELECT entity, mention, start, method FROM cft_entities('Mantel, é and à Kränze, höhere Mädchenschule (HöMä): HöMä', '"Größen"."Äste"');
SELECT parent, child, tree FROM cftrag_internal.cft_attached();
RESET search_path;
-- A message shows such letters as question marks; it is ASCII.
SELECT cft_attach('"Größen"."Äste"', 'Tiefe', 'Länge');
SELECT cft_attach('"Größen"."Äste"', 'Höhe', 'Hölle');
SELECT cft_detach('"Größen"."Äste"');
SELECT cft_detach('"Größen"."Äste"');
\c template1
SET client_min_messages = warning;
DROP DATABASE :"other";
CREATE DATABASE :"other" TEMPLATE template0 ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C';
\c :"other"
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE; SET client_min_messages = warning;
CREATE TABLE "木" ("親" text, "子" text);
INSERT INTO "木" VALUES ('幹', '枝'), ('枝', '葉');
SELECT cft_attach('"木"', '親', '子');
SELECT * FROM cft_context('枝');
SELECT cft_context_json('枝');
SET cftrag.enable = off;
SELECT * FROM cft_context('枝');
RESET cftrag.enable;
SELECT * FROM cft_verify('"木"');
SELECT cft_attach('"木"', '根', '子');
\c template1
SET client_min_messages = warning;
DROP DATABASE :"other";
-- Any byte is text.
CREATE DATABASE :"other" TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\c :"other"
SET client_min_messages = warning;
SET client_min_messages = error; CREATE EXTENSION cftrag CASCADE; SET client_min_messages = warning;
DO $$
BEGIN
    EXECUTE format('CREATE TABLE plain (%I text, %I text)', E'p\xff', E'\xc3"c');
    EXECUTE format('INSERT INTO plain VALUES (%L, %L), (%2$L, %3$L)', E'\xfe', E'a\xff', E'\xc3\x28');
    PERFORM cft_attach('plain', E'p\xff', E'\xc3"c');
    EXECUTE format('ALTER TABLE plain RENAME TO %I', E'\xe4');
END $$;
SELECT encode(relative::bytea, 'escape') AS relative, encode(via::bytea, 'escape') AS via FROM cft_context(E'a\xff');
SET cftrag.enable = off;
SELECT encode(relative::bytea, 'escape') AS relative, encode(via::bytea, 'escape') AS via FROM cft_context(E'a\xff');
RESET cftrag.enable;
-- JSON has names as they are, as to_jsonb.
SELECT encode(cft_context_json(E'a\xff')::text::bytea, 'escape') AS json, (cft_context_json(E'a\xff') ->> 'entity') = E'a\xff'::text AS same;
BEGIN;
DO $$ BEGIN EXECUTE format('INSERT INTO %I VALUES (%L, %L)', E'\xe4', E'\xc3\xa9', 'json'); END $$;
SELECT encode(cft_context_json('json')::text::bytea, 'escape');
ROLLBACK;
-- A text is taken for UTF-8, a name that is not is never found, and positions count bytes, as substr does.
SELECT encode(entity::bytea, 'escape') AS entity, encode(mention::bytea, 'escape') AS mention, start, length FROM cft_entities(E'\xc3\xa9 \xc3\x89');
DO $$ BEGIN EXECUTE format('INSERT INTO %I VALUES (%L, %L)', E'\xe4', E'\xc3\xa9', 'x'); END $$;
SELECT encode(entity::bytea, 'escape') AS entity, encode(mention::bytea, 'escape') AS mention, start, length FROM cft_entities(E'\xc3\xa9 \xc3\x89 X');
SELECT * FROM cft_entities(E'x \xff');
SELECT count(*) FROM pg_class AS c, cft_verify(c.oid) WHERE relname = E'\xe4';
\c template1
SET client_min_messages = warning;
DROP DATABASE :"other";
\c :"here"
