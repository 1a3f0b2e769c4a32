-- Which summaries a change makes due (summaries.sql explains the whole). A writer needs no right on the summaries, and
-- runs no code of their owner: ancestors are found as the owner of the edges, marks are written as the owner of the
-- summaries (src/methods/rollup_marks.rs).

-- Entities, and all ancestors of any of them, across trees: an entity's children in all trees are its children here.
-- The parents of each entity are looked up once, one level at a time, or several levels at once where paths are few and
-- long. (Within cycles, many levels at once would return entities times levels rows.) Stops after `most` levels, or a
-- few more.
CREATE FUNCTION cftrag_internal.cft_rollup_up(entities text[], edges regclass, most integer DEFAULT NULL)
RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE COST 500 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one_tree boolean := (SELECT f.tree IS NULL FROM cftrag_internal.cft_attached(edges) AS f);
    names text[] := ARRAY(SELECT DISTINCT u.name FROM unnest(entities) AS u(name) WHERE u.name IS NOT NULL);
    whose text[] := names;
    found text[];
    levels integer := CASE WHEN cardinality(names) <= 4 THEN 2 ELSE 1 END;
    so_far integer := 0;
BEGIN
    WHILE whose <> '{}' AND (so_far < most) IS NOT FALSE LOOP
        so_far := so_far + levels;
        -- In a forest of one tree, the walk has looked up the parents of all but the last level.
        SELECT coalesce(array_agg(z.name), '{}'), coalesce(array_agg(z.name) FILTER (WHERE NOT one_tree
            OR z.depth = levels), '{}') INTO found, whose
          FROM (SELECT u.name, min(u.depth) AS depth
                  FROM (SELECT c.relative, c.depth, false FROM cftrag_internal.cft_context(whose, levels, 0, edges) AS c
                         UNION ALL
                        SELECT n.name, 0, true FROM unnest(names) AS n(name)) AS u(name, depth, known)
                 GROUP BY u.name HAVING NOT bool_or(u.known)) AS z;
        names := names || found;
        levels := CASE WHEN cardinality(whose) <= 4 THEN least(2 * levels, 64) ELSE 1 END;
    END LOOP;
    RETURN names;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_up(text[], regclass, integer) IS
'entities, and all that is above any of them in the trees taken together';

-- Adds a mark for each element.
CREATE FUNCTION cftrag_internal.cft_rollup_insert(summaries regclass, entity name, entities text[])
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('INSERT INTO %s (%I) SELECT u.name FROM unnest($1) AS u(name) ORDER BY u.name COLLATE "C"',
        summaries, entity) USING entities;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_insert(regclass, name, text[]) IS
'marks entities in a table of summaries';

-- What a change of these entities makes due: the entities and their ancestors within a thousand levels (rules 1 and 2;
-- rule 5 reaches the others). For a changed edge, the entities occur twice: another writer may have changed what is
-- above them, and neither saw the other's change (rule 4).
CREATE FUNCTION cftrag_internal.cft_rollup_due(entities text[], edges regclass, twice boolean)
RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE COST 500 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN cftrag_internal.cft_rollup_up(entities, edges, 1000)
           || CASE WHEN twice THEN ARRAY(SELECT DISTINCT u.name FROM unnest(entities) AS u(name)
               WHERE u.name IS NOT NULL) ELSE '{}' END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_due(text[], regclass, boolean) IS
'the marks that a change of entities takes';

CREATE FUNCTION cftrag_internal.cft_rollup_mark(entities text[], edges regclass)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM cftrag_internal.cft_rollup_write(s.summaries, entities),
            cftrag_internal.cft_rollup_insert(s.summaries, s.entity, cftrag_internal.cft_rollup_due(entities, s.forest,
                true))
       FROM cftrag_internal.cft_rollup_tables(edges) AS s;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_mark(text[], regclass) IS 'what cft_rollup_mark calls';

CREATE FUNCTION cft_rollup_mark(entities text[], edges regclass DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT cftrag_internal.cft_rollup_mark($1, cftrag_internal.cft_meant_edges($2));
END;
COMMENT ON FUNCTION cft_rollup_mark(text[], regclass) IS
'says that the summaries of entities, and of all their ancestors, are due';

-- The ancestors of each entity, across trees: an entity's children in all trees are its children here. Returns a row
-- for each pair: to look for a cycle only, use cft_rollup_up, which has a row for each entity.
CREATE FUNCTION cftrag_internal.cft_rollup_above(entities text[], edges regclass)
RETURNS TABLE(entity text, relative text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    lower text[];
    upper text[];
    cut boolean;
    children text[];
    parents text[];
BEGIN
    SELECT array_agg(c.entity), array_agg(c.relative), coalesce(max(c.depth) = 1000, false) INTO lower, upper, cut
      FROM (SELECT c.entity, c.relative, min(c.depth) AS depth FROM cftrag_internal.cft_context(entities, 1000, 0,
          edges) AS c GROUP BY 1, 2) AS c;
    IF lower IS NULL THEN
        RETURN;
    END IF;
    -- A forest of one tree has no other paths; in most others no path crosses trees.
    IF cut OR NOT (SELECT f.tree IS NULL FROM cftrag_internal.cft_attached(edges) AS f) THEN
        SELECT array_agg(c.entity), array_agg(c.relative) INTO children, parents
          FROM (SELECT DISTINCT c.entity, c.relative
              FROM cftrag_internal.cft_context(cftrag_internal.cft_rollup_up(entities, edges), 1, 0, edges) AS c) AS c;
    END IF;
    IF NOT EXISTS (
        SELECT p.entity, h.relative FROM unnest(lower, upper) AS p(entity, relative)
            JOIN unnest(children, parents) AS h(entity, relative) ON h.entity = p.relative
         WHERE h.relative <> p.entity
        EXCEPT SELECT u.entity, u.relative FROM unnest(lower, upper) AS u(entity, relative)) THEN
        RETURN QUERY SELECT u.entity, u.relative FROM unnest(lower, upper) AS u(entity, relative);
    ELSE
        RETURN QUERY
        WITH RECURSIVE h AS MATERIALIZED (SELECT u.entity, u.relative FROM unnest(children, parents) AS u(entity,
            relative)),
             a AS (SELECT h.entity, h.relative FROM h WHERE h.entity = ANY (entities) UNION SELECT a.entity, h.relative
                 FROM a JOIN h ON h.entity = a.relative)
        SELECT a.entity, a.relative FROM a;
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_above(text[], regclass) IS
'all that is above each of the entities in the trees taken together; each itself too, in a cycle';

-- Makes sure that each entity has a mark that this transaction has neither taken nor keeps. One is enough; if we can
-- lock it, it stays until this transaction ends, because no other can lock it (rule 5).
CREATE FUNCTION cftrag_internal.cft_rollup_add(entities text[], summaries regclass, entity name, summary name)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    added text[];
BEGIN
    EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH i AS (INSERT INTO %1$s (%2$I)
         SELECT n.name FROM (SELECT DISTINCT u.name FROM unnest($1) AS u(name)) AS n,
                LATERAL (SELECT (SELECT true FROM (SELECT FROM %1$s AS s WHERE s.%2$I = n.name AND s.%3$I IS NULL
                    AND s.ctid <> ALL ($2)
                                                    LIMIT 1 FOR UPDATE SKIP LOCKED) AS f) AS found OFFSET 0) AS m
          WHERE m.found IS NULL ORDER BY n.name COLLATE "C" RETURNING %2$I::text AS name)
         SELECT array_agg(i.name) FROM i', summaries, entity, summary)
    INTO added USING entities, cftrag_internal.cft_rollup_held(summaries);
    PERFORM cftrag_internal.cft_rollup_write(summaries, added) WHERE added IS NOT NULL;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_add(text[], regclass, name, name) IS
'sees to it that entities are marked when this transaction has ended';

-- Leaves one mark of each entity's, as far as no worker has locked them, while nobody writes to edges or documents.
-- What several marks of an entity ask for (rule 4) is done here: what is above it is marked.
CREATE FUNCTION cftrag_internal.cft_rollup_merge(forest regclass, summaries regclass, entity name, summary name)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    several text[];
BEGIN
    EXECUTE cftrag_internal.cft_summaries_sql(
        'SELECT array_agg(m.name) FROM (SELECT s.%2$I::text COLLATE "C" FROM %1$s AS s WHERE s.%2$I IS NOT NULL
             AND s.%3$I IS NULL GROUP BY 1 HAVING count(*) > 1) AS m(name)',
        summaries, entity, summary) INTO several;
    IF several IS NULL THEN
        RETURN;
    END IF;
    PERFORM cftrag_internal.cft_rollup_add(ARRAY(SELECT u.name FROM unnest(cftrag_internal.cft_rollup_up(several,
        forest)) AS u(name)
                                                 EXCEPT SELECT u.name FROM unnest(several) AS u(name)), summaries,
                                                     entity, summary);
    EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH l AS MATERIALIZED (
             SELECT s.ctid AS at, s.%2$I::text COLLATE "C" AS name FROM %1$s AS s WHERE s.%2$I = ANY ($1)
                 AND s.%3$I IS NULL AND s.ctid <> ALL ($2) FOR UPDATE SKIP LOCKED
         )
         DELETE FROM %1$s AS s WHERE s.ctid = ANY (ARRAY(SELECT n.at
             FROM (SELECT l.at, row_number() OVER (PARTITION BY l.name ORDER BY l.at) AS n FROM l) AS n
             WHERE n.n > 1))',
        summaries, entity, summary) USING several, cftrag_internal.cft_rollup_held(summaries);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_merge(regclass, regclass, name, name) IS
'takes away marks of entities that have several, but one';

-- Marks the ancestors of entities whose marks were taken, if the transactions that marked the entities did not mark
-- them (rule 4). Skips except_of.
CREATE FUNCTION cftrag_internal.cft_rollup_spread(entities text[], marked_by text[], except_of text[], forest regclass,
    summaries regclass, entity name, summary name)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unmarked text[];
BEGIN
    EXECUTE cftrag_internal.cft_summaries_sql(
        'WITH a AS MATERIALIZED (
             SELECT DISTINCT a.relative AS name, t.xid
               FROM unnest($1, $2) AS t(name, xid) JOIN cftrag_internal.cft_rollup_above(ARRAY(SELECT DISTINCT u.name
                   FROM unnest($1) AS u(name)), $4) AS a ON a.entity = t.name
              WHERE a.relative <> ALL ($3) AND a.relative <> a.entity
         ), m AS MATERIALIZED (
             SELECT s.%2$I::text AS name, s.xmin::text AS xid FROM %1$s AS s WHERE s.%2$I = ANY (ARRAY(SELECT a.name
                 FROM a)) AND s.%3$I IS NULL
         )
         SELECT array_agg(DISTINCT a.name) FROM a WHERE (a.name, a.xid) NOT IN (SELECT m.name, m.xid FROM m)',
             summaries, entity, summary)
    INTO unmarked USING entities, marked_by, except_of, forest;
    PERFORM cftrag_internal.cft_rollup_add(unmarked, summaries, entity, summary) WHERE unmarked IS NOT NULL;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_spread(text[], text[], text[], regclass, regclass, name, name) IS
'marks what is above entities, as far as who marked these did not';

-- Removes the marks of entities that have no summary: leaves, and entities no longer in the forest (rule 3). They are
-- looked up after their marks are locked: an entity that gets children later gets a new mark with them.
CREATE FUNCTION cftrag_internal.cft_rollup_settle(entities text[], except_of text[], forest regclass,
    summaries regclass, entity name, summary name, leaves boolean)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    names text[];
    marks tid[];
    marked_by text[];
    bare text[];
    gone tid[];
BEGIN
    EXECUTE cftrag_internal.cft_summaries_sql('SELECT array_agg(l.name), array_agg(l.at), array_agg(l.xid)
                      FROM (SELECT s.%2$I::text AS name, s.ctid AS at, s.xmin::text AS xid FROM %1$s AS s
                             WHERE s.%2$I = ANY ($1) AND s.%3$I IS NULL
                                 AND s.ctid <> ALL ($2) FOR UPDATE SKIP LOCKED) AS l', summaries, entity, summary)
    INTO names, marks, marked_by
    USING ARRAY(SELECT u.name FROM unnest(entities) AS u(name) EXCEPT SELECT u.name
        FROM unnest(cftrag_internal.cft_rollup_mine(entities, summaries)) AS u(name)),
          cftrag_internal.cft_rollup_held(summaries);
    IF names IS NULL THEN
        RETURN;
    END IF;
    SELECT array_agg(u.name) INTO bare
      FROM (SELECT DISTINCT u.name FROM unnest(names) AS u(name)
            EXCEPT SELECT c.entity FROM cftrag_internal.cft_context(names, CASE WHEN leaves THEN 1 ELSE 0 END, 1,
                forest) AS c) AS u;
    IF bare IS NULL THEN
        RETURN;
    END IF;
    SELECT array_agg(u.name), array_agg(u.at), array_agg(u.xid) INTO names, gone, marked_by
      FROM unnest(names, marks, marked_by) AS u(name, at, xid) WHERE u.name IN (SELECT b.name
          FROM unnest(bare) AS b(name));
    PERFORM cftrag_internal.cft_rollup_spread(names, marked_by, except_of, forest, summaries, entity, summary);
    EXECUTE format('DELETE FROM %s AS s WHERE s.ctid = ANY ($1)', summaries) USING gone;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_rollup_settle(text[], text[], regclass, regclass, name, name, boolean) IS
'removes marks of entities that have no summary, and marks what is above them';

-- What this transaction has marked by other rules than 2 (src/capture/marked.rs); all entities, if they are too many to
-- remember.
CREATE FUNCTION cftrag_internal.cft_rollup_write(summaries regclass, entities text[])
RETURNS void LANGUAGE c VOLATILE COST 5
AS 'MODULE_PATHNAME', 'cft_rollup_write_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_rollup_write(regclass, text[]) IS
'remembers which entities this transaction has marked itself';

CREATE FUNCTION cftrag_internal.cft_rollup_mine(entities text[], summaries regclass)
RETURNS text[] LANGUAGE c STABLE COST 5
AS 'MODULE_PATHNAME', 'cft_rollup_mine_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_rollup_mine(text[], regclass) IS
'those of the entities that this transaction has marked itself';

-- The trigger on an edges table (the parents become due), on documents (the entities they are about), or on a table
-- that is both. Runs once a statement; in the apply worker of logical replication, which has no statements, once a row.
CREATE FUNCTION cftrag_internal.cft_rollup_changed()
RETURNS trigger LANGUAGE c SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_rollup_changed_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_rollup_changed() IS
'trigger of an edges table, or of its documents, whose entities have summaries: marks those whose summaries are due';
