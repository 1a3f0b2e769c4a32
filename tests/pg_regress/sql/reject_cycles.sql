-- cft_reject_cycles: a row that closes a cycle is refused, with the cycle; nothing else is. (tests/isolation has two sessions.)
\a\t
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE kept (tree text, parent text, child text, note int);
SELECT cft_attach('kept', tree => 'tree');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO kept VALUES ('t', 'a', 'b'), ('t', 'b', 'c'), ('t', 'c', 'd'), ('u', 'd', 'a'), (NULL, 'c', 'a'), ('t', 'a', 'd'), ('t', 'a', 'd');
INSERT INTO kept VALUES ('t', 'd', 'a');
INSERT INTO kept VALUES ('t', 'd', 'd');
INSERT INTO kept VALUES (NULL, 'a', 'c');
INSERT INTO kept VALUES ('u', 'a', 'x'), ('u', 'x', 'd');
INSERT INTO kept VALUES ('t', 'd', NULL), ('t', NULL, 'a'), ('u', 'a', 'c'), ('', 'd', 'a');
UPDATE kept SET tree = 't' WHERE tree = 'u' AND parent = 'd';
UPDATE kept SET child = 'a' WHERE parent = 'c' AND tree = 't';
UPDATE kept SET note = 1;
-- A cycle within one statement, and one that a statement takes apart and mends.
INSERT INTO kept VALUES ('v', '1', '2'), ('v', '2', '1');
UPDATE kept SET parent = child, child = parent WHERE tree = 't' AND parent = 'a' AND child = 'b';
SELECT * FROM kept WHERE tree = 'v' OR parent = 'b' ORDER BY kept;
-- SQLSTATE, and what PostgreSQL's own constraints put into fields of their own; savepoints; COPY.
DO $$
DECLARE
    s text; t text; c text;
BEGIN
    INSERT INTO kept VALUES ('t', 'd', 'a');
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS s = SCHEMA_NAME, t = TABLE_NAME, c = CONSTRAINT_NAME;
    RAISE EXCEPTION 'schema %, table %, constraint %', s, t, c;
END $$;
\set VERBOSITY sqlstate
INSERT INTO kept VALUES ('t', 'd', 'a');
\set VERBOSITY default
BEGIN;
INSERT INTO kept VALUES ('w', 'p', 'q');
SAVEPOINT s;
INSERT INTO kept VALUES ('w', 'q', 'p');
ROLLBACK TO s;
DELETE FROM kept WHERE tree = 'w';
INSERT INTO kept VALUES ('w', 'q', 'p');
COMMIT;
COPY kept (tree, parent, child) FROM stdin;
w	p	r
w	r	q
\.
-- ON CONFLICT and MERGE: what is written counts, not what was proposed.
CREATE TABLE keyed (id int PRIMARY KEY, parent text, child text);
SELECT cft_attach('keyed');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON keyed FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO keyed VALUES (1, 'a', 'b'), (2, 'b', 'c');
INSERT INTO keyed VALUES (2, 'c', 'a') ON CONFLICT DO NOTHING;
INSERT INTO keyed VALUES (2, 'x', 'c') ON CONFLICT (id) DO UPDATE SET parent = 'b', child = 'a';
INSERT INTO keyed VALUES (2, 'c', 'a') ON CONFLICT (id) DO UPDATE SET parent = 'c', child = 'd';
MERGE INTO keyed USING (VALUES (2)) AS v(id) ON keyed.id = v.id WHEN MATCHED THEN UPDATE SET parent = 'b', child = 'b';
SELECT * FROM keyed ORDER BY id;
-- TRUNCATE closes none. The trigger does not follow a column that is renamed, and says so.
TRUNCATE keyed;
ALTER TABLE keyed RENAME parent TO above;
INSERT INTO keyed VALUES (3, 'p', 'q');
ALTER TABLE keyed RENAME above TO parent;
INSERT INTO keyed VALUES (3, 'p', 'q');
DROP TABLE keyed;
-- Deferred: what counts is what is there at the end.
ALTER TABLE kept DISABLE TRIGGER no_cycles;
CREATE CONSTRAINT TRIGGER at_the_end AFTER INSERT OR UPDATE ON kept DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
BEGIN;
INSERT INTO kept VALUES ('x', 'a', 'b'), ('x', 'b', 'a');
DELETE FROM kept WHERE tree = 'x' AND parent = 'b';
COMMIT;
BEGIN;
INSERT INTO kept VALUES ('x', 'b', 'c');
INSERT INTO kept VALUES ('x', 'c', 'a');
COMMIT;
BEGIN;
INSERT INTO kept VALUES ('x', 'b', 'a');
SET CONSTRAINTS at_the_end IMMEDIATE;
ROLLBACK;
-- A cycle that is there already is not the row's fault, unless the row is on one.
ALTER TABLE kept DISABLE TRIGGER at_the_end;
INSERT INTO kept VALUES ('y', '1', '2'), ('y', '2', '1');
ALTER TABLE kept ENABLE TRIGGER no_cycles;
INSERT INTO kept VALUES ('y', '2', '3'), ('y', '0', '1');
INSERT INTO kept VALUES ('y', '2', '1');
-- Long ones: 100 entities, more than 1000.
INSERT INTO kept SELECT 'z', 'z' || i, 'z' || i + 1 FROM generate_series(1, 99) AS i;
INSERT INTO kept VALUES ('z', 'z100', 'z1');
ALTER TABLE kept DISABLE TRIGGER no_cycles;
INSERT INTO kept SELECT 'z', 'z' || i, 'z' || i + 1 FROM generate_series(100, 1500) AS i;
ALTER TABLE kept ENABLE TRIGGER no_cycles;
INSERT INTO kept VALUES ('z', 'z1501', 'z1');
DROP TRIGGER at_the_end ON kept;
TRUNCATE kept;

-- An attached table needs no arguments; other types; no tree.
CREATE TABLE numbered (above bigint, below bigint);
SELECT cft_attach('numbered', parent => 'above', child => 'below');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON numbered FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO numbered VALUES (1, 2), (2, 3);
INSERT INTO numbered VALUES (3, 1);
DROP TABLE numbered;

-- Beside the definition, whatever indexes there are: each of many random rows is refused if and only if it would close a cycle in its tree.
CREATE FUNCTION against_the_definition(checked regclass, rows int, names int, OUT refused int, OUT kept int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
    p text; c text; t text; r bytea;
    closes boolean;
BEGIN
    refused := 0; kept := 0; wrong := 0;
    FOR i IN 1..rows LOOP
        r := decode(md5(format('%s %s', names, i)), 'hex');
        t := nullif(get_byte(r, 0) % 3, 0)::text;
        p := get_byte(r, 1) % names; c := get_byte(r, 2) % names;
        EXECUTE format('WITH RECURSIVE below(name) AS (SELECT $2 COLLATE "C" UNION SELECT k.child::text COLLATE "C" FROM below AS b JOIN %s AS k ON k.parent::text COLLATE "C" = b.name AND k.tree IS NOT DISTINCT FROM $3)
                        SELECT count(*) > 0 FROM below WHERE name = $1', checked) INTO closes USING p, c, t;
        BEGIN
            IF i % 5 = 0 THEN
                EXECUTE format('UPDATE %s SET tree = %L, parent = %L, child = %L WHERE ctid = (SELECT min(ctid) FROM %1$s)', checked, t, p, c);
            ELSE
                EXECUTE format('INSERT INTO %s VALUES (%L, %L, %L)', checked, t, p, c);
            END IF;
            kept := kept + 1;
            -- What an update takes away may have been part of the cycle.
            wrong := wrong + (closes AND i % 5 <> 0)::int;
        EXCEPTION WHEN check_violation THEN
            refused := refused + 1;
            wrong := wrong + (NOT closes)::int;
        END;
        IF i % 9 = 0 THEN EXECUTE format('DELETE FROM %s WHERE ctid = (SELECT max(ctid) FROM %1$s)', checked); END IF;
    END LOOP;
    EXECUTE format('SELECT $1 + count(*) FROM cft_filter_relations(%L, ''parent'', ''child'', ''tree'') WHERE reason IN (''cycle'', ''self-edge'')', checked) INTO wrong USING wrong;
END $$;
CREATE FUNCTION checked_as(types text[], indexes text[], rows int, names int, OUT refused int, OUT kept int, OUT wrong int) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE random_rows (tree text, parent %s, child %s)', types[1], types[2]);
    FOR i IN 1..coalesce(cardinality(indexes), 0) LOOP EXECUTE 'CREATE INDEX ON random_rows ' || indexes[i]; END LOOP;
    PERFORM cft_attach('random_rows', tree => 'tree');
    CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON random_rows FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
    SELECT a.* INTO refused, kept, wrong FROM against_the_definition('random_rows', rows, names) AS a;
    DROP TABLE random_rows;
END $$;
SELECT n, c.* FROM (VALUES
    (1, '{text,text}'::text[], '{}'::text[]), (2, '{text,text}', '{(child)}'), (3, '{text,text}', '{(parent)}'), (4, '{text,text}', '{(child),(parent)}'),
    (5, '{text,varchar}', '{"(child, tree)",(parent)}'), (6, '{int,int}', '{(child),(parent)}'), (7, '{bigint,bigint}', '{(child DESC)}'),
    -- Of no use: other types, parts of the table, other orders, hashes, expressions, second columns.
    (8, '{int,bigint}', '{(child),(parent)}'), (9, '{text,text}', '{"(child) WHERE tree = ''1''","(parent) WHERE tree = ''1''"}'),
    (10, '{text,text}', '{"USING hash (child)","(lower(parent))","(tree, child)"}'), (11, '{text,text}', '{"(child text_pattern_ops)","(parent COLLATE \"C\")"}'),
    (12, '{name,name}', '{(child),(parent)}')) AS v(n, types, indexes), LATERAL checked_as(v.types, v.indexes, 120, 16) AS c ORDER BY n;
SELECT * FROM checked_as('{text,text}', '{(child),(parent)}', 300, 40);
DROP FUNCTION checked_as, against_the_definition;
-- What is told does not depend on the indexes: the same cycles as without, also of integers. With one on the child column no row of the table is looked at one by one.
CREATE FUNCTION told(types text[], indexes text, rows int, names int, OUT refused int, OUT different int, OUT scanned bigint, OUT longest int) LANGUAGE plpgsql AS $$
DECLARE
    r bytea;
    said text;
    detail text[];
BEGIN
    refused := 0; different := 0; longest := 0;
    EXECUTE format('CREATE TABLE told_1 (tree text, parent %s, child %s)', types[1], types[2]);
    EXECUTE format('CREATE TABLE told_2 (tree text, parent %s, child %s)', types[1], types[2]);
    EXECUTE 'CREATE INDEX ON told_1 ' || indexes;
    PERFORM cft_attach('told_1', tree => 'tree'), cft_attach('told_2', tree => 'tree');
    CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON told_1 FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
    CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON told_2 FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
    -- That of CREATE INDEX.
    scanned := - (SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'told_1');
    FOR i IN 1..rows LOOP
        r := decode(md5(format('%s %s', rows, i)), 'hex');
        detail := '{}';
        FOR n IN 1..2 LOOP
            said := 'kept';
            BEGIN
                EXECUTE format('INSERT INTO told_%s VALUES (%L, %L, %L)', n, nullif(get_byte(r, 0) % 2, 0), get_byte(r, 1) % names, get_byte(r, 2) % names);
            EXCEPTION WHEN check_violation THEN
                GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
            END;
            detail[n] := said;
        END LOOP;
        refused := refused + (detail[1] <> 'kept')::int;
        different := different + (detail[1] IS DISTINCT FROM detail[2])::int;
        longest := greatest(longest, cardinality(string_to_array(detail[1], ' > ')));
    END LOOP;
    scanned := scanned + (SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'told_1');
    DROP TABLE told_1, told_2;
END $$;
SELECT n, t.* FROM (VALUES (1, '{text,text}'::text[], '(child)'), (2, '{int,int}', '(child)'), (3, '{varchar,text}', '(child)')) AS v(n, types, indexes),
    LATERAL told(v.types, v.indexes, 110, 16) AS t ORDER BY n;
SELECT refused > 0 AS refused, different, scanned > 0 AS scanned FROM told('{text,text}', '(parent)', 100, 12);
DROP FUNCTION told;
-- A deferred row that is gone again closes nothing; a long cycle is told in part.
CREATE TABLE later (parent int, child int);
CREATE INDEX ON later (child);
SELECT cft_attach('later');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO later SELECT i, i + 1 FROM generate_series(1, 1500) AS i;
BEGIN;
INSERT INTO later VALUES (9, 1), (7, 7);
DELETE FROM later WHERE parent = 9 AND child = 1 OR parent = child;
COMMIT;
INSERT INTO later VALUES (1501, 1);
INSERT INTO later VALUES (7, 7);
DROP TABLE later;
-- A list of which a part was read.
CREATE TABLE long_list (parent text, child text);
INSERT INTO long_list SELECT 'hub', 'spoke ' || i FROM generate_series(1, 3000) AS i;
CREATE INDEX ON long_list (parent);
CREATE INDEX ON long_list (child);
SELECT cft_attach('long_list');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON long_list FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO long_list VALUES ('axle', 'hub'), ('spoke 1', 'rim'), ('spoke 2', 'rim');
INSERT INTO long_list VALUES ('rim', 'axle');
INSERT INTO long_list VALUES ('rim', 'hub');
INSERT INTO long_list VALUES ('rim', 'rim');
DROP TABLE long_list;

-- Who may write but not read, or not all, is refused as well, and not told the rest.
CREATE ROLE regress_cft_writer;
CREATE ROLE regress_cft_partly;
GRANT INSERT ON kept TO regress_cft_writer, regress_cft_partly;
GRANT SELECT ON kept TO regress_cft_partly;
ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
ALTER TABLE kept FORCE ROW LEVEL SECURITY;
CREATE POLICY ours ON kept FOR SELECT TO regress_cft_partly USING (parent <> 'secret');
CREATE POLICY all_of_it ON kept FOR INSERT WITH CHECK (true);
INSERT INTO kept VALUES ('t', 'a', 'secret'), ('t', 'secret', 'b');
SET ROLE regress_cft_writer;
INSERT INTO kept VALUES ('t', 'b', 'a');
INSERT INTO kept VALUES ('t', 'b', 'c');
SET ROLE regress_cft_partly;
INSERT INTO kept VALUES ('t', 'b', 'a');
RESET ROLE;
ALTER TABLE kept DISABLE ROW LEVEL SECURITY;
SET ROLE regress_cft_partly;
INSERT INTO kept VALUES ('t', 'b', 'a');
RESET ROLE;
-- The owner, told or not, sees no more than before of a table whose policies he has forced upon himself.
CREATE ROLE regress_cft_forced;
CREATE TABLE forced (parent text, child text);
ALTER TABLE forced OWNER TO regress_cft_forced;
ALTER TABLE forced ENABLE ROW LEVEL SECURITY;
ALTER TABLE forced FORCE ROW LEVEL SECURITY;
CREATE POLICY ours ON forced USING (parent <> 'secret');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT ON forced FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
SELECT cft_attach('forced');
INSERT INTO forced VALUES ('a', 'secret'), ('secret', 'b');
INSERT INTO forced VALUES ('b', 'a');
SET ROLE regress_cft_forced;
SELECT relative FROM cft_context('b', 1000, 0, 'forced');
SELECT relative FROM cft_context('secret', 1000, 0, 'forced');
INSERT INTO forced VALUES ('b', 'a');
RESET ROLE;
DROP TABLE forced;
DROP ROLE regress_cft_forced;
-- Names in front of ours and PostgreSQL's are not used.
CREATE SCHEMA front;
CREATE TABLE front.kept (tree text, parent text, child text, note int);
CREATE FUNCTION front.never(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'an operator in front was used'; END $$;
CREATE OPERATOR front.= (LEFTARG = text, RIGHTARG = text, FUNCTION = front.never);
SET search_path = front, pg_catalog, public;
INSERT INTO public.kept VALUES ('t', 'b', 'a');
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA front CASCADE;

-- Triggers of other kinds; a table that is not attached, or not by columns that are there and hold names. (The columns are those of cft_attach: past
-- row-level security a writer is told which values stand in them.)
CREATE TABLE wrong (parent text, child text, iban text);
CREATE TRIGGER t BEFORE INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO wrong VALUES ('a', 'b');
DROP TRIGGER t ON wrong;
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO wrong VALUES ('a', 'b');
DROP TRIGGER t ON wrong;
SELECT cft_attach('wrong');
\set VERBOSITY sqlstate
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH STATEMENT EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO wrong VALUES ('a', 'b');
DROP TRIGGER t ON wrong;
CREATE TRIGGER t AFTER DELETE ON wrong FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO wrong VALUES ('a', 'b');
DELETE FROM wrong;
DROP TRIGGER t ON wrong;
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles('parent', 'iban');
INSERT INTO wrong VALUES ('a', 'b');
DROP TRIGGER t ON wrong;
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
INSERT INTO wrong VALUES ('a', 'b'), ('b', 'c');
INSERT INTO wrong VALUES ('c', 'a');
ALTER TABLE wrong RENAME child TO kid;
INSERT INTO wrong VALUES ('c', 'd');
ALTER TABLE wrong RENAME kid TO child;
ALTER TABLE wrong ALTER child TYPE date USING NULL;
INSERT INTO wrong VALUES ('c', NULL);
DROP TABLE wrong;
CREATE TABLE parts (parent text, child text) PARTITION BY LIST (parent);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TRIGGER t AFTER INSERT ON parts FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
\set VERBOSITY default
INSERT INTO parts VALUES ('a', 'b');
\set VERBOSITY sqlstate
SELECT cft_reject_cycles();
DROP TABLE parts, kept;
DROP ROLE regress_cft_writer, regress_cft_partly;
-- Twenty thousand ways; without memory for them the error shows none.
CREATE TABLE wide (parent text, child text);
INSERT INTO wide SELECT 'top', 'm' || i FROM generate_series(1, 20000) AS i;
INSERT INTO wide SELECT 'm' || i, 'bottom' FROM generate_series(1, 20000) AS i;
CREATE INDEX ON wide (parent);
CREATE INDEX ON wide (child);
SELECT cft_attach('wide');
CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON wide FOR EACH ROW EXECUTE FUNCTION cft_reject_cycles();
\set VERBOSITY default
INSERT INTO wide VALUES ('bottom', 'top');
SET cftrag.work_memory = '1MB';
INSERT INTO wide VALUES ('bottom', 'top');
RESET cftrag.work_memory;
INSERT INTO wide VALUES ('new root', 'top'), ('bottom', 'new leaf'), ('m1', 'another leaf');
DROP TABLE wide;
