-- The targets of hostile calls: attached tables, relations that are not plain tables, roles without rights, and functions of each kind that
-- run a call. Run as a superuser; replaces everything.
CREATE EXTENSION IF NOT EXISTS cftrag CASCADE;
DROP SCHEMA IF EXISTS hostile, scratch, front CASCADE;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['hostile_owner', 'hostile_reader', 'hostile_nobody'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN EXECUTE format('CREATE ROLE %I', name); END IF;
    END LOOP;
END $$;
CREATE SCHEMA hostile;
CREATE SCHEMA scratch;
GRANT ALL ON SCHEMA hostile, scratch TO hostile_owner;
GRANT USAGE ON SCHEMA hostile TO hostile_reader;
GRANT USAGE, CREATE ON SCHEMA scratch TO PUBLIC;

-- Attached, and sound after each round.
CREATE TABLE hostile.edges (parent text, child text, tree text);
INSERT INTO hostile.edges
    SELECT 'n' || i, 'n' || (i * 7 + k) % 40, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'oak' ELSE '' END
      FROM generate_series(0, 39) AS i, generate_series(1, 2) AS k;
INSERT INTO hostile.edges VALUES ('', '', NULL), (NULL, 'n1', 'oak'), (repeat('x', 5000), 'n1', 'oak'), ('n1', E'\xc3\xa4\n"\'\\', 'oak');
CREATE TABLE hostile.numbers (parent bigint, child bigint);
INSERT INTO hostile.numbers SELECT i / 2, i FROM generate_series(1, 60) AS i;
CREATE TABLE hostile.ids (parent uuid, child uuid, tree int);
INSERT INTO hostile.ids SELECT md5(i::text)::uuid, md5((i + 1)::text)::uuid, i % 2 FROM generate_series(1, 20) AS i;
CREATE UNLOGGED TABLE hostile."Odd ""names'" ("pa rent" name, "Child" varchar(80), "tree%s" text);
INSERT INTO hostile."Odd ""names'" SELECT 'n' || i, 'n' || i + 1, '' FROM generate_series(1, 20) AS i;
CREATE TABLE hostile.mine (gone text, parent text, child text, tree text);
ALTER TABLE hostile.mine DROP COLUMN gone;
ALTER TABLE hostile.mine OWNER TO hostile_owner;
INSERT INTO hostile.mine VALUES ('secret', 'n1', 'oak');
CREATE TABLE hostile.policed (parent text, child text);
ALTER TABLE hostile.policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY hides ON hostile.policed TO hostile_reader USING (child <> 'n1');
INSERT INTO hostile.policed VALUES ('n1', 'n2'), ('secret', 'n1');
GRANT SELECT ON hostile.edges, hostile.numbers, hostile.policed TO hostile_reader;
GRANT SELECT (parent) ON hostile.mine TO hostile_reader;

-- Documents and embeddings, attached by TIDY (world.rs).
CREATE TABLE hostile.documents_of (id int PRIMARY KEY, body text, embedding vector(3), entity text);
INSERT INTO hostile.documents_of SELECT i, 'document ' || i, ARRAY[i, 1, i % 3]::vector, 'n' || i % 10 FROM generate_series(1, 30) AS i;
CREATE TABLE hostile.vectors_of (entity text, embedding vector(3));
INSERT INTO hostile.vectors_of SELECT 'n' || i, ARRAY[1, i, i % 3]::vector FROM generate_series(1, 20) AS i;
CREATE TABLE hostile.summaries_of (entity text, summary text, embedding vector(3));
GRANT SELECT ON hostile.documents_of TO hostile_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON hostile.summaries_of TO hostile_reader, hostile_owner;

-- Tables that are not attached, and relations that cannot be.
CREATE TABLE hostile.plain (parent text, child text, tree text);
CREATE TABLE hostile.nothing ();
CREATE TABLE hostile.documents (parent jsonb, child text, tree float8);
CREATE VIEW hostile.view AS TABLE hostile.edges;
CREATE MATERIALIZED VIEW hostile.matview AS TABLE hostile.edges;
CREATE INDEX index ON hostile.edges (child);
CREATE SEQUENCE hostile.sequence;
CREATE TABLE hostile.partitioned (parent text, child text) PARTITION BY HASH (parent);
CREATE TABLE hostile.partition PARTITION OF hostile.partitioned FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE INDEX partitioned_index ON hostile.partitioned (child);
CREATE TABLE hostile.ancestor (parent text, child text);
CREATE TABLE hostile.heir () INHERITS (hostile.ancestor);
CREATE TYPE hostile.composite AS (parent text, child text);
DROP FOREIGN DATA WRAPPER IF EXISTS hostile CASCADE;
CREATE FOREIGN DATA WRAPPER hostile;
CREATE SERVER hostile FOREIGN DATA WRAPPER hostile;
CREATE FOREIGN TABLE hostile.foreign (parent text, child text) SERVER hostile;
CREATE TABLE hostile.generated (parent text, child text GENERATED ALWAYS AS (parent || 'c') STORED);
CREATE TABLE hostile.dropped (parent text, child text);
CREATE TABLE hostile.oids (what text, oid oid);
INSERT INTO hostile.oids VALUES ('dropped', 'hostile.dropped'::regclass),
    ('toast', (SELECT reltoastrelid FROM pg_class WHERE oid = 'hostile.edges'::regclass));
DROP TABLE hostile.dropped;
GRANT SELECT ON hostile.oids TO PUBLIC;

-- A schema in front of pg_catalog, with names of ours and of pg_catalog's.
CREATE SCHEMA front;
GRANT USAGE ON SCHEMA front TO PUBLIC;
CREATE FUNCTION front.yes(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR front.= (LEFTARG = text, RIGHTARG = text, FUNCTION = front.yes);
CREATE OPERATOR front.~ (LEFTARG = text, RIGHTARG = text, FUNCTION = front.yes);
CREATE TABLE front.pg_class (oid oid);
CREATE TABLE front.edges (parent text, child text);
CREATE TYPE front.text AS (a int);
CREATE FUNCTION front.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS $$ SELECT 'front'::text $$;
CREATE FUNCTION front.cft_capture() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';

-- Functions of each kind that run a query given as text and return its number of rows.
CREATE FUNCTION hostile.run(query text, ignored anyelement) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE rows bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO rows;
    RETURN rows;
END $$;
DO $$
DECLARE body text := (SELECT prosrc FROM pg_proc WHERE oid = 'hostile.run(text, anyelement)'::regprocedure);
BEGIN
    EXECUTE format('CREATE FUNCTION hostile.run_stable(query text, ignored anyelement) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS %L', body);
    EXECUTE format('CREATE FUNCTION hostile.run_immutable(query text, ignored anyelement) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS %L', body);
    EXECUTE format('CREATE FUNCTION hostile.run_definer(query text, ignored anyelement) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS %L', body);
END $$;
ALTER FUNCTION hostile.run_definer OWNER TO hostile_owner;
-- Catches all errors but internal ones, which the client must see.
CREATE FUNCTION hostile.run_caught(query text, ignored anyelement) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..3 LOOP
        BEGIN
            INSERT INTO hostile.edges VALUES ('caught', 'n' || i, 'oak');
            PERFORM hostile.run(query, ignored);
            IF i = 2 THEN RAISE division_by_zero; END IF;
        EXCEPTION WHEN OTHERS THEN
            IF SQLSTATE LIKE 'XX%' THEN RAISE; END IF;
        END;
    END LOOP;
    RETURN 'caught';
END $$;
CREATE FUNCTION hostile.fire() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() < 3 THEN PERFORM hostile.run(TG_ARGV[0], 0); END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION hostile.fire_event() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hostile.run(current_setting('hostile.query'), 0);
END $$;
CREATE PROCEDURE hostile.commit_between(query text) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..2 LOOP
        INSERT INTO hostile.edges VALUES ('between', 'n' || i, 'oak');
        PERFORM hostile.run(query, 0);
        IF i = 1 THEN COMMIT; ELSE ROLLBACK; END IF;
    END LOOP;
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA hostile TO PUBLIC;
CREATE FUNCTION hostile.collect(state text, query text) RETURNS text LANGUAGE sql AS 'SELECT hostile.run(query, 0)';
CREATE AGGREGATE hostile.run_all(text) (SFUNC = hostile.collect, STYPE = text);
