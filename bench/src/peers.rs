//! What a PostgreSQL user has today, on the same rows, each with the best tables, indexes and statement for it.
//!
//! Every statement takes the names as one text[] and returns (entity, tree, relation, depth, relative); `fill` puts in the levels up and
//! down. In trees the peers need not compute the least depth, which favours them; where an entity has several parents in one tree, their
//! statements do (`rows`).

use crate::data::{Forest, Shape};

pub struct Peer {
    pub name: &'static str,
    /// Its description in the report.
    pub what: &'static str,
    /// Statements that build it from edges_{size}; empty if it needs no tables of its own.
    pub setup: &'static str,
    /// The statement, with placeholders {size}, {up}, {down}.
    pub rows: &'static str,
    /// The statement that returns one text; if empty, string_agg joins the rows.
    pub text: &'static str,
    /// Larger forests are left out: setup or lookups take too long.
    pub most_edges: u64,
    /// The shapes it can represent.
    pub shapes: &'static [Shape],
    /// Whether its answer already has the least depth of each relative.
    pub least: bool,
}

/// All pairs of ancestor and descendant, in trees.
const CLOSURE_OF_TREES: &str = "WITH RECURSIVE c(tree, ancestor, descendant, depth) AS (
    SELECT tree, parent, child, 1 FROM edges_{size}
    UNION ALL SELECT c.tree, c.ancestor, e.child, c.depth + 1 FROM c JOIN edges_{size} e ON e.parent = c.descendant AND e.tree = c.tree)
SELECT * FROM c";
/// All pairs, each with its least depth, where an entity may have several parents; no real hierarchy is deeper than 32.
const CLOSURE_OF_ANY: &str = "WITH RECURSIVE c(tree, ancestor, descendant, depth) AS (
    SELECT tree, parent, child, 1 FROM edges_{size}
    UNION SELECT c.tree, c.ancestor, e.child, c.depth + 1 FROM c JOIN edges_{size} e ON e.parent = c.descendant AND e.tree = c.tree WHERE c.depth < 32)
SELECT tree, ancestor, descendant, min(depth) FROM c WHERE ancestor <> descendant GROUP BY tree, ancestor, descendant";

pub fn fill(statement: &str, forest: &Forest, up: i32, down: i32) -> String {
    let closure = if forest.shape == Shape::Tree { CLOSURE_OF_TREES } else { CLOSURE_OF_ANY };
    statement
        .replace("{closure}", closure)
        .replace("{size}", forest.name)
        .replace("{up}", &up.to_string())
        .replace("{down}", &down.to_string())
}

/// The statement for one name instead of an array of names.
pub fn for_one(sql: &str) -> String {
    sql.replace("= ANY ($1::text[])", "= $1")
        .replace("cft_context($1::text[]", "cft_context($1::text")
        .replace("cft_context_text($1::text[]", "cft_context_text($1::text")
        .replace("$1::text[]", "ARRAY[$1::text]")
}

impl Peer {
    pub fn rows(&self, forest: &Forest, up: i32, down: i32) -> String {
        let rows = fill(self.rows, forest, up, down);
        if self.least || forest.shape == Shape::Tree {
            return rows;
        }
        format!(
            "SELECT entity, tree, relation, min(depth), relative FROM ({rows}) AS a(entity, tree, relation, depth, relative)
 WHERE relative <> entity GROUP BY entity, tree, relation, relative"
        )
    }

    pub fn text(&self, forest: &Forest, up: i32, down: i32) -> String {
        if !self.text.is_empty() {
            return fill(self.text, forest, up, down);
        }
        format!(
            "SELECT string_agg(relative, ', ') FROM ({}) AS answer(entity, tree, relation, depth, relative)",
            self.rows(forest, up, down)
        )
    }

    pub fn takes(&self, forest: &Forest) -> bool {
        forest.edges <= self.most_edges && self.shapes.contains(&forest.shape)
    }
}

const ANY: &[Shape] = &[Shape::Tree, Shape::Dag, Shape::Cyclic];

/// The user's own table with an index on each end, as the README recommends.
pub const PLAIN_INDEXES: &str = "CREATE INDEX plain_parent_{size} ON edges_{size} (parent); CREATE INDEX plain_child_{size} ON edges_{size} (child)";

pub const CFTRAG: Peer = Peer {
    name: "cftrag",
    what: "cft_context over the image",
    setup: "SELECT cft_attach('edges_{size}', tree => 'tree'); SELECT cft_build('edges_{size}')",
    rows: "SELECT entity, tree, relation, depth, relative FROM cft_context($1::text[], {up}, {down}, 'edges_{size}')",
    text: "SELECT cft_context_text($1::text[], {up}, {down}, 'edges_{size}')",
    most_edges: u64::MAX,
    shapes: ANY,
    least: true,
};

const COVERING_TABLE: &str =
    "CREATE TABLE covering_{size} (tree text COLLATE \"C\", parent text COLLATE \"C\", child text COLLATE \"C\");
INSERT INTO covering_{size} SELECT tree, parent, child FROM edges_{size};
CREATE INDEX covering_child_{size} ON covering_{size} (child, tree, parent);
CREATE INDEX covering_parent_{size} ON covering_{size} (parent, tree, child);
VACUUM ANALYZE covering_{size}";

macro_rules! cte {
    ($table:literal) => {
        concat!(
            "WITH RECURSIVE up(entity, tree, depth, relative) AS (
    SELECT e.child, e.tree, 1, e.parent FROM ", $table, " e WHERE e.child = ANY ($1::text[]) AND {up} > 0
    UNION
    SELECT u.entity, u.tree, u.depth + 1, e.parent FROM up u JOIN ", $table, " e ON e.child = u.relative AND e.tree = u.tree WHERE u.depth < {up}),
down(entity, tree, depth, relative) AS (
    SELECT e.parent, e.tree, 1, e.child FROM ", $table, " e WHERE e.parent = ANY ($1::text[]) AND {down} > 0
    UNION
    SELECT d.entity, d.tree, d.depth + 1, e.child FROM down d JOIN ", $table, " e ON e.parent = d.relative AND e.tree = d.tree WHERE d.depth < {down})
SELECT entity, tree, 'ancestor', depth, relative FROM up UNION ALL SELECT entity, tree, 'descendant', depth, relative FROM down"
        )
    };
}

pub const PLAIN: Peer = Peer {
    name: "CTE, plain",
    what: "WITH RECURSIVE; btree on parent and on child",
    setup: "",
    rows: cte!("edges_{size}"),
    text: "",
    most_edges: u64::MAX,
    shapes: ANY,
    least: false,
};

pub const COVERING: Peer = Peer {
    name: "CTE, covering",
    what: "WITH RECURSIVE; COLLATE \"C\", two covering indexes, vacuumed",
    setup: COVERING_TABLE,
    rows: cte!("covering_{size}"),
    text: "",
    most_edges: u64::MAX,
    shapes: ANY,
    least: false,
};

/// The recursion unrolled, for at most three levels each way.
pub const LATERAL: Peer = Peer {
    name: "unrolled joins",
    what: "three levels written out over the covering indexes",
    setup: "",
    rows: "SELECT e.child, e.tree, 'ancestor', 1, e.parent FROM covering_{size} e WHERE e.child = ANY ($1::text[]) AND {up} >= 1
UNION ALL SELECT a.child, a.tree, 'ancestor', 2, b.parent FROM covering_{size} a JOIN covering_{size} b ON b.child = a.parent AND b.tree = a.tree
 WHERE a.child = ANY ($1::text[]) AND {up} >= 2
UNION ALL SELECT a.child, a.tree, 'ancestor', 3, c.parent FROM covering_{size} a JOIN covering_{size} b ON b.child = a.parent AND b.tree = a.tree
 JOIN covering_{size} c ON c.child = b.parent AND c.tree = a.tree WHERE a.child = ANY ($1::text[]) AND {up} >= 3
UNION ALL SELECT e.parent, e.tree, 'descendant', 1, e.child FROM covering_{size} e WHERE e.parent = ANY ($1::text[]) AND {down} >= 1
UNION ALL SELECT a.parent, a.tree, 'descendant', 2, b.child FROM covering_{size} a JOIN covering_{size} b ON b.parent = a.child AND b.tree = a.tree
 WHERE a.parent = ANY ($1::text[]) AND {down} >= 2
UNION ALL SELECT a.parent, a.tree, 'descendant', 3, c.child FROM covering_{size} a JOIN covering_{size} b ON b.parent = a.child AND b.tree = a.tree
 JOIN covering_{size} c ON c.parent = b.child AND c.tree = a.tree WHERE a.parent = ANY ($1::text[]) AND {down} >= 3",
    text: "",
    most_edges: u64::MAX,
    shapes: ANY,
    least: false,
};

/// All pairs at any distance.
pub const CLOSURE: Peer = Peer {
    name: "closure table",
    what: "all ancestor pairs precomputed, covering indexes both ways",
    setup: "CREATE TABLE closure_{size} (tree text COLLATE \"C\", ancestor text COLLATE \"C\", descendant text COLLATE \"C\", depth int);
INSERT INTO closure_{size} {closure};
CREATE INDEX closure_up_{size} ON closure_{size} (descendant, depth, tree, ancestor);
CREATE INDEX closure_down_{size} ON closure_{size} (ancestor, depth, tree, descendant);
VACUUM ANALYZE closure_{size}",
    rows: "SELECT descendant, tree, 'ancestor', depth, ancestor FROM closure_{size} WHERE descendant = ANY ($1::text[]) AND depth <= {up}
UNION ALL SELECT ancestor, tree, 'descendant', depth, descendant FROM closure_{size} WHERE ancestor = ANY ($1::text[]) AND depth <= {down}",
    text: "",
    most_edges: 3_000_000,
    shapes: ANY,
    least: true,
};

/// The fastest plain SQL; nothing keeps it up to date.
pub const FLAT: Peer = Peer {
    name: "flat table",
    what: "everything within three levels precomputed, one covering index, one range scan",
    setup: "CREATE TABLE flat_{size} (entity text COLLATE \"C\", tree text COLLATE \"C\", relation text COLLATE \"C\", depth int, relative text COLLATE \"C\");
INSERT INTO flat_{size} SELECT descendant, tree, 'ancestor', depth, ancestor FROM closure_{size} WHERE depth <= 3
    UNION ALL SELECT ancestor, tree, 'descendant', depth, descendant FROM closure_{size} WHERE depth <= 3;
CREATE INDEX flat_all_{size} ON flat_{size} (entity, relation, depth, tree, relative);
VACUUM ANALYZE flat_{size}",
    rows: "SELECT entity, tree, relation, depth, relative FROM flat_{size}
 WHERE entity = ANY ($1::text[]) AND depth <= CASE relation WHEN 'ancestor' THEN {up} ELSE {down} END",
    text: "",
    most_edges: 3_000_000,
    shapes: ANY,
    least: true,
};

pub const ARRAYS: Peer = Peer {
    name: "arrays",
    what: "relatives of each entity as arrays, one row per entity and tree",
    setup: "CREATE TABLE arrays_{size} (entity text COLLATE \"C\", tree text COLLATE \"C\", relation text, depths int[], relatives text[]);
INSERT INTO arrays_{size} SELECT entity, tree, relation, array_agg(depth), array_agg(relative) FROM flat_{size} GROUP BY entity, tree, relation;
CREATE INDEX arrays_entity_{size} ON arrays_{size} (entity);
VACUUM ANALYZE arrays_{size}",
    rows: "SELECT a.entity, a.tree, a.relation, u.depth, u.relative FROM arrays_{size} a, unnest(a.depths, a.relatives) AS u(depth, relative)
 WHERE a.entity = ANY ($1::text[]) AND u.depth <= CASE a.relation WHEN 'ancestor' THEN {up} ELSE {down} END",
    text: "",
    most_edges: 3_000_000,
    shapes: ANY,
    least: true,
};

/// Labels are entity numbers, since ltree labels cannot contain blanks.
pub const LTREE: Peer = Peer {
    name: "ltree",
    what: "a path per node, gist and btree on it",
    setup: "CREATE EXTENSION IF NOT EXISTS ltree;
CREATE TABLE ltree_{size} (tree text COLLATE \"C\", name text COLLATE \"C\", path ltree);
INSERT INTO ltree_{size} WITH RECURSIVE
label AS MATERIALIZED (SELECT name, row_number() OVER () AS number FROM (SELECT parent AS name FROM edges_{size} UNION SELECT child FROM edges_{size}) AS n),
tree_number AS MATERIALIZED (SELECT tree, row_number() OVER () AS number FROM (SELECT DISTINCT tree FROM edges_{size}) AS t),
root AS (SELECT DISTINCT e.tree, e.parent AS name FROM edges_{size} e WHERE NOT EXISTS (SELECT FROM edges_{size} x WHERE x.child = e.parent AND x.tree = e.tree)),
path(tree, name, path) AS (
    SELECT r.tree, r.name, (t.number || '.' || l.number)::ltree FROM root r JOIN label l USING (name) JOIN tree_number t USING (tree)
    UNION ALL SELECT p.tree, e.child, p.path || l.number::text FROM path p JOIN edges_{size} e ON e.parent = p.name AND e.tree = p.tree JOIN label l ON l.name = e.child)
SELECT * FROM path;
CREATE INDEX ltree_name_{size} ON ltree_{size} (name);
CREATE INDEX ltree_path_{size} ON ltree_{size} (path);
CREATE INDEX ltree_gist_{size} ON ltree_{size} USING gist (path gist_ltree_ops(siglen=100));
VACUUM ANALYZE ltree_{size}",
    rows: "SELECT n.name, n.tree, 'ancestor', nlevel(n.path) - level, a.name FROM ltree_{size} n, generate_series(greatest(2, nlevel(n.path) - {up}), nlevel(n.path) - 1) AS level,
       LATERAL (SELECT name FROM ltree_{size} WHERE path = subpath(n.path, 0, level)) AS a WHERE n.name = ANY ($1::text[])
UNION ALL SELECT n.name, n.tree, 'descendant', nlevel(d.path) - nlevel(n.path), d.name FROM ltree_{size} n
    JOIN ltree_{size} d ON d.path <@ n.path AND nlevel(d.path) BETWEEN nlevel(n.path) + 1 AND nlevel(n.path) + {down} WHERE n.name = ANY ($1::text[])",
    text: "",
    most_edges: 300_000,
    shapes: &[Shape::Tree, Shape::Dag],
    least: false,
};

/// Tree-RAG without a filter (T-RAG): every tree is searched from its roots, level by level, until the names are found.
pub const NAIVE: Peer = Peer {
    name: "naive T-RAG",
    what: "plpgsql: breadth first from the roots of every tree until the names are found, over the covering indexes",
    setup: "CREATE TABLE roots_{size} AS SELECT tree, array_agg(DISTINCT parent) AS roots FROM covering_{size} e
     WHERE NOT EXISTS (SELECT FROM covering_{size} x WHERE x.child = e.parent AND x.tree = e.tree) GROUP BY tree;
CREATE FUNCTION naive_{size}(names text[], up int, down int) RETURNS TABLE(entity text, tree text, relation text, depth int, relative text) LANGUAGE plpgsql STABLE AS $f$
DECLARE
    t record;; level text[];; found text[];;
BEGIN
    FOR t IN SELECT r.tree, r.roots FROM roots_{size} r LOOP
        level := t.roots;; found := '{}';;
        WHILE cardinality(level) > 0 LOOP
            found := found || ARRAY(SELECT n FROM unnest(level) AS n WHERE n = ANY (names));;
            level := ARRAY(SELECT c.child FROM covering_{size} c WHERE c.parent = ANY (level) AND c.tree = t.tree);;
        END LOOP;;
        IF cardinality(found) > 0 THEN
            RETURN QUERY WITH RECURSIVE u AS (
                SELECT e.child AS entity, 1 AS depth, e.parent AS relative FROM covering_{size} e WHERE e.child = ANY (found) AND e.tree = t.tree AND up > 0
                UNION SELECT u.entity, u.depth + 1, e.parent FROM u JOIN covering_{size} e ON e.child = u.relative AND e.tree = t.tree WHERE u.depth < up),
            d AS (
                SELECT e.parent AS entity, 1 AS depth, e.child AS relative FROM covering_{size} e WHERE e.parent = ANY (found) AND e.tree = t.tree AND down > 0
                UNION SELECT d.entity, d.depth + 1, e.child FROM d JOIN covering_{size} e ON e.parent = d.relative AND e.tree = t.tree WHERE d.depth < down)
            SELECT u.entity, t.tree, 'ancestor', u.depth, u.relative FROM u UNION ALL SELECT d.entity, t.tree, 'descendant', d.depth, d.relative FROM d;;
        END IF;;
    END LOOP;;
END $f$",
    rows: "SELECT entity, tree, relation, depth, relative FROM naive_{size}($1::text[], {up}, {down})",
    text: "",
    most_edges: 300_000,
    shapes: &[Shape::Tree],
    least: false,
};

pub const ALL: [&Peer; 9] = [&CFTRAG, &PLAIN, &COVERING, &LATERAL, &CLOSURE, &FLAT, &ARRAYS, &LTREE, &NAIVE];
