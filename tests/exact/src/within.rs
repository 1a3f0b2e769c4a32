//! cft_descendants and cft_under against a recursive query, as the two sides of a check (check.rs).
//!
//! It asks for the first two entities of the check, together as an array and one by one. Each name is asked for many times in one statement, so that cft_under
//! first looks above the name, then in the set that it has found and keeps.

use crate::check::{Form, filled, trees};
use crate::schema::Table;

/// How often each name is asked for: so often that asking costs more than finding all that is below.
const TIMES: usize = 25;

/// The entities of $1 and what is below each of them, by edges of one tree; $2 has the trees, if not all count.
const BELOW: &str = r#"
below(top, tree, name) AS (
    SELECT t.top COLLATE "C", {tree} COLLATE "C", {child} COLLATE "C"
      FROM unnest($1) AS t(top) JOIN {edges} AS r ON {parent} COLLATE "C" = t.top
     WHERE {child} IS NOT NULL
--trees AND EXISTS (SELECT FROM unnest($2) AS s(tree) WHERE s.tree COLLATE "C" IS NOT DISTINCT FROM {tree})
    UNION
    SELECT b.top, b.tree, {child} COLLATE "C"
      FROM below AS b JOIN {edges} AS r ON {parent} COLLATE "C" = b.name AND {tree} COLLATE "C" IS NOT DISTINCT FROM b.tree
     WHERE {child} IS NOT NULL
),
those(top, name) AS (
    SELECT b.top, b.name FROM below AS b UNION SELECT t.top COLLATE "C", t.top COLLATE "C" FROM unnest($1) AS t(top) WHERE t.top IS NOT NULL
)"#;

/// The table's names, NULL, and a name that it does not have.
const NAMES: &str = r#"SELECT {parent} COLLATE "C" FROM {edges} AS r UNION SELECT {child} COLLATE "C" FROM {edges} AS r UNION SELECT 'nobody'"#;

/// The CTEs `below` and `those` for this table.
pub fn below(table: &Table, in_trees: bool, asked: &str, trees: &str) -> String {
    filled(BELOW, table, in_trees).replace("$2", trees).replace("$1", asked)
}

/// Rows (kind, name, whether it is under), numbered, from cftrag and by definition.
pub fn sides(table: &Table, form: Form, entities: &str, up: &str, down: &str) -> (String, String) {
    let (edges, names, in_trees) = (table.qualified(), filled(NAMES, table, false), form == Form::UnderInTrees);
    let (asked, trees) = (format!("({entities})[1:2]"), trees(up));
    let rest = format!("'{edges}'::regclass{}", if in_trees { format!(", {trees}") } else { String::new() });
    // The rows have the columns of cft_context's. Each prepared statement has the same parameters.
    let numbered = format!(
        r#"SELECT row_number() OVER (ORDER BY m.kind, m.name COLLATE "C", m.is_under), m.name, NULL::text, m.kind, m.is_under::int, NULL::text, NULL::text, NULL::text
             FROM m WHERE ({up}, {down}) IS DISTINCT FROM NULL"#
    );
    let ours = format!(
        "WITH n(name) AS (SELECT d.entity FROM exact.definition($def$SELECT 0::bigint, name, NULL::text, NULL::text, 0, NULL::text, NULL::text, NULL::text FROM ({names}) AS z(name)$def$, NULL, 0, 0) AS d),
            m(kind, name, is_under) AS (
            SELECT 'all', d.name, true FROM unnest(cft_descendants({asked}, {rest})) AS d(name)
            UNION ALL SELECT DISTINCT 'of some', n.name, cft_under(n.name, {asked}, {rest}) FROM generate_series(1, {TIMES}), n
            UNION ALL SELECT 'of ' || t.top, n.name, cft_under(n.name, t.top, {rest}) FROM n, unnest({asked}) AS t(top)
        ) {numbered}"
    );
    let by_definition = format!(
        "WITH RECURSIVE n(name) AS ({names}), {}, m(kind, name, is_under) AS (
            SELECT DISTINCT 'all', d.name, true FROM those AS d
            UNION ALL SELECT 'of some', n.name, CASE WHEN n.name IS NOT NULL THEN EXISTS (SELECT FROM those AS d WHERE d.name = n.name) END FROM n
            UNION ALL SELECT 'of ' || t.top, n.name,
                             CASE WHEN (n.name, t.top) IS NOT NULL THEN EXISTS (SELECT FROM those AS d WHERE d.name = n.name AND d.top = t.top COLLATE \"C\") END
                        FROM n, unnest({asked}) AS t(top)
        ) {numbered}",
        below(table, in_trees, &asked, &trees)
    );
    (ours, by_definition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TABLES;

    #[test]
    fn every_placeholder_of_both_sides_is_filled() {
        for table in &TABLES {
            for form in [Form::Under, Form::UnderInTrees] {
                let (ours, by_definition) = sides(table, form, "q", "u", "d");
                let text = (ours + &by_definition).replace("'{}'", "");
                assert!(!text.replace("$def$", "").contains(['{', '}', '$']) && !text.contains("--"), "{text}");
            }
        }
    }
}
