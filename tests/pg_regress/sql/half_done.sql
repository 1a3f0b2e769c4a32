-- A row is on its page before the event of cftrag's trigger is queued. Whoever PostgreSQL calls in between sees the row, and must be
-- answered as the table is: index expressions and predicates, exclusion constraints, support functions of operator classes, WHEN, casts of
-- foreign keys, ... Each asks here, and the oracle beside it. What is evaluated before the write, or after the queue, asks too.
\a\t
SET client_min_messages = warning;
CREATE TABLE hd (id int, parent text, child text);
INSERT INTO hd VALUES (0, 'p', 'c1'), (0, 'p', 'c2'), (0, 'p', 'c3');
SELECT cft_attach('hd');
SELECT oracle.build('hd');
SET hd.asking = off;
CREATE TABLE asked (hook text, answer text);

-- Says who asked and whether both answered alike; 'sees' or 'does not see' the row that has number -1 in the making.
CREATE FUNCTION ask(hook text) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF current_setting('hd.asking') = 'off' THEN RETURN; END IF;
    INSERT INTO asked SELECT hook, regexp_replace(oracle.same('p', 0, 1, 'hd'), '^same, \d+ rows$', 'same')
                           || CASE WHEN EXISTS (SELECT FROM hd WHERE id < 0) THEN ', sees it' ELSE '' END;
END $$;
-- What each hook said, all together.
CREATE FUNCTION said() RETURNS TABLE (hook text, answer text) LANGUAGE sql AS $$
    WITH gone AS (DELETE FROM asked RETURNING *)
    SELECT DISTINCT hook, answer FROM gone ORDER BY hook, answer
$$;
CREATE FUNCTION key(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('index expression'); RETURN id; END $$;
CREATE FUNCTION wanted(id int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('index predicate'); RETURN true; END $$;
CREATE FUNCTION fires(hook text) RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask(hook); RETURN true; END $$;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE FUNCTION valid(id int, hook text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask(hook); RETURN true; END $$;

-- One row by each way of writing.
CREATE PROCEDURE write_all() LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hd VALUES (-1, 'p', 'new');
    UPDATE hd SET id = -2, child = 'newer' WHERE id = -1;
    UPDATE hd SET id = -1, parent = 'q' WHERE id = -2;
    DELETE FROM hd WHERE id = -1;
    INSERT INTO hd VALUES (-1, 'p', 'n1'), (-1, 'p', 'n2');
    DELETE FROM hd WHERE id = -1;
END $$;

CREATE INDEX hd_expression ON hd (key(id));
SET hd.asking = on;
CALL write_all();
SELECT * FROM said();
COPY hd FROM STDIN;
-1	p	y1
-1	p	y2
-1	p	y3
\.
SELECT * FROM said();
SET hd.asking = off;
DELETE FROM hd WHERE id = -1;
DROP INDEX hd_expression;

CREATE INDEX hd_predicate ON hd (id) WHERE wanted(id);
SET hd.asking = on;
CALL write_all();
SELECT * FROM said();
SET hd.asking = off;
DROP INDEX hd_predicate;

-- An arbiter of ON CONFLICT: the row is written before it is known whether it stays.
CREATE UNIQUE INDEX hd_arbiter ON hd (key(id), child);
SET hd.asking = on;
INSERT INTO hd VALUES (-1, 'p', 'c9') ON CONFLICT (key(id), child) DO NOTHING;
INSERT INTO hd VALUES (-1, 'p', 'c9') ON CONFLICT (key(id), child) DO UPDATE SET parent = 'q' WHERE valid(hd.id, 'on conflict');
SELECT * FROM said();
SET hd.asking = off;
DELETE FROM hd WHERE id = -1;
DROP INDEX hd_arbiter;

-- WHEN of triggers whose names sort before cftrag_row and after it; COPY writes many rows before the first event.
CREATE TRIGGER a_insert AFTER INSERT ON hd FOR EACH ROW WHEN (fires('WHEN of insert, ' || NEW.child)) EXECUTE FUNCTION nothing();
CREATE TRIGGER a_update AFTER UPDATE ON hd FOR EACH ROW WHEN (fires('WHEN of update, ' || NEW.child)) EXECUTE FUNCTION nothing();
CREATE TRIGGER a_delete AFTER DELETE ON hd FOR EACH ROW WHEN (fires('WHEN of delete, ' || OLD.child)) EXECUTE FUNCTION nothing();
CREATE TRIGGER z_insert AFTER INSERT ON hd FOR EACH ROW WHEN (fires('WHEN of insert, z, ' || NEW.child)) EXECUTE FUNCTION nothing();
SET hd.asking = on;
CALL write_all();
SELECT * FROM said();
COPY hd FROM STDIN;
-1	p	y1
-1	p	y2
-1	p	y3
\.
SELECT * FROM said();
SET hd.asking = off;
DELETE FROM hd WHERE id = -1;
DROP TRIGGER a_insert ON hd;
DROP TRIGGER a_update ON hd;
DROP TRIGGER a_delete ON hd;
DROP TRIGGER z_insert ON hd;

-- Support functions of operator classes: a btree's comparison, a hash, a range's subtype_diff in GiST.
CREATE FUNCTION compare(a int, b int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('btree comparison'); RETURN btint4cmp(a, b); END $$;
CREATE OPERATOR CLASS asking FOR TYPE int USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare(int, int);
CREATE FUNCTION hash(a int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('hash function'); RETURN hashint4(a); END $$;
CREATE OPERATOR CLASS asking FOR TYPE int USING hash AS OPERATOR 1 =, FUNCTION 1 hash(int);
CREATE INDEX hd_btree ON hd (id asking);
CREATE INDEX hd_hash ON hd USING hash (id asking);
SET hd.asking = on;
CALL write_all();
SELECT * FROM said();
SET hd.asking = off;
DROP INDEX hd_btree, hd_hash;
CREATE FUNCTION diff(a int, b int) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('subtype_diff'); RETURN a - b; END $$;
CREATE TYPE span AS RANGE (subtype = int, subtype_diff = diff);
ALTER TABLE hd ADD COLUMN span span;
CREATE INDEX hd_gist ON hd USING gist (span);
INSERT INTO hd SELECT i, 'root', 'g' || i, span(i, i + i % 7 + 1) FROM generate_series(1, 600) AS i;
SET hd.asking = on;
INSERT INTO hd VALUES (-1, 'p', 'in range', span(2000, 3000));
SELECT * FROM said();
SET hd.asking = off;
DELETE FROM hd WHERE id = -1;
DROP INDEX hd_gist;

-- Exclusion constraints: the operator is evaluated when the row is in the index.
CREATE FUNCTION same_number(a int, b int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('exclusion'); RETURN a = b; END $$;
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = same_number, COMMUTATOR = ===);
CREATE OPERATOR CLASS excluding FOR TYPE int USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 ===, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
DELETE FROM hd WHERE id > 0;
UPDATE hd SET id = right(child, 1)::int WHERE id = 0;
ALTER TABLE hd ADD CONSTRAINT hd_exclusion EXCLUDE USING btree (id excluding WITH ===);
SET hd.asking = on;
INSERT INTO hd VALUES (-1, 'p', 'excluded');
UPDATE hd SET id = -3 WHERE id = -1;
INSERT INTO hd VALUES (-3, 'p', 'refused');
SELECT * FROM said();
SET hd.asking = off;
DELETE FROM hd WHERE id < 0;
ALTER TABLE hd DROP CONSTRAINT hd_exclusion;

-- A foreign key whose type is cast implicitly: old and new value are compared when its event is about to be queued.
CREATE TYPE number AS (value int);
CREATE FUNCTION to_int(n number) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.ask('implicit cast'); RETURN n.value; END $$;
CREATE CAST (number AS int) WITH FUNCTION to_int(number) AS IMPLICIT;
CREATE TABLE numbered (id int PRIMARY KEY);
INSERT INTO numbered VALUES (1), (2);
ALTER TABLE hd ADD COLUMN n number;
ALTER TABLE hd ADD FOREIGN KEY (n) REFERENCES numbered;
INSERT INTO hd VALUES (-1, 'p', 'f1', NULL, ROW(1)), (-1, 'p', 'f2', NULL, ROW(1));
SET hd.asking = on;
UPDATE hd SET n = ROW(2), parent = 'q' WHERE child = 'f1';
UPDATE hd SET child = 'f3' WHERE child = 'f2';
DELETE FROM hd WHERE child = 'f3';
SELECT * FROM said();
SET hd.asking = off;
DELETE FROM hd WHERE id = -1;
ALTER TABLE hd DROP COLUMN n;

-- Before the write: domains, checks, generated columns; after the queue: a view's check option.
CREATE DOMAIN checked AS int CHECK (valid(VALUE, 'domain'));
ALTER TABLE hd ADD COLUMN d checked;
ALTER TABLE hd ADD CHECK (valid(id, 'check'));
ALTER TABLE hd ADD COLUMN made boolean GENERATED ALWAYS AS (valid(id, 'generated column')) STORED;
SELECT oracle.build('hd');
CREATE VIEW hd_view AS SELECT * FROM hd WHERE valid(id, 'check option') WITH CHECK OPTION;
SET hd.asking = on;
CALL write_all();
INSERT INTO hd (id, parent, child, d) VALUES (-1, 'p', 'd1', 1), (-1, 'p', 'd2', 2);
INSERT INTO hd_view (id, parent, child) VALUES (-1, 'p', 'v1'), (-1, 'p', 'v2');
UPDATE hd_view SET child = 'v3' WHERE child = 'v2';
SELECT * FROM said();
SET hd.asking = off;
SELECT oracle.all_same('hd');
SELECT * FROM cft_verify('hd');

DROP VIEW hd_view;
DROP TABLE hd, asked, numbered;
DROP TYPE number CASCADE;
DROP TYPE span CASCADE;
DROP DOMAIN checked CASCADE;
DROP OPERATOR FAMILY asking USING btree CASCADE;
DROP OPERATOR FAMILY asking USING hash CASCADE;
DROP OPERATOR FAMILY excluding USING btree CASCADE;
DROP OPERATOR === (int, int) CASCADE;
DROP PROCEDURE write_all;
DROP FUNCTION key, wanted, fires, nothing, valid, compare, hash, same_number, diff, said, ask;
