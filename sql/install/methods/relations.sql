-- Raw relations: which of them make clean trees, and what keeps them clean.

CREATE FUNCTION cft_filter_relations(raw regclass, parent name, child name, tree name DEFAULT NULL)
RETURNS TABLE(tree text, parent text, child text, kept boolean, reason text)
LANGUAGE c STABLE PARALLEL UNSAFE COST 1000000 ROWS 10000
AS 'MODULE_PATHNAME', 'cft_filter_relations_wrapper';
COMMENT ON FUNCTION cft_filter_relations(regclass, name, name, name) IS
'each row of a table of relations, and whether it belongs into a forest; if not, why: null, self-edge, duplicate, '
'cycle, transitive';

CREATE FUNCTION cft_check_edges(edges regclass DEFAULT NULL)
RETURNS TABLE(tree text, parent text, child text, kept boolean, reason text)
LANGUAGE sql STABLE PARALLEL UNSAFE COST 1000000 ROWS 10000
BEGIN ATOMIC
    -- A row without a parent only says that its child exists.
    SELECT f.tree, f.parent, f.child, f.kept OR alone, CASE WHEN NOT alone THEN f.reason END
      FROM cftrag_internal.cft_attached($1) AS a, cft_filter_relations(a.edges, a.parent, a.child, a.tree) AS f
     CROSS JOIN LATERAL (SELECT f.parent IS NULL AND f.child IS NOT NULL) AS z(alone);
END;
COMMENT ON FUNCTION cft_check_edges(regclass) IS
'what cft_filter_relations says of the rows of an attached table, where a row without a parent is right: it says that '
'its child is there';

CREATE FUNCTION cft_reject_cycles() RETURNS trigger LANGUAGE c
AS 'MODULE_PATHNAME', 'cft_reject_cycles_wrapper';
COMMENT ON FUNCTION cft_reject_cycles() IS
'constraint trigger that refuses a row which closes a cycle (23514); of an attached table; without arguments';
