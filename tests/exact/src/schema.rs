//! The tables the sessions work on, and the functions and triggers that put a check inside the server.
//!
//! Three tables, because what can go wrong differs: `edges_a` (text, nothing in the way: duplicates, HOT updates, COPY FREEZE,
//! row-level security), `edges_b` (columns in another order, one dropped, unique: ON CONFLICT), `edges_c` (integers, no tree
//! column, cascading foreign keys, labels in the table of its keys). The labels of `edges_b` are in the column that statements change most, and other names beside them, as in that table, which says which labels are preferred. All names and trees come from short lists, so that sessions meet at the same edges.

use postgres::{Client, Error};

use crate::check;
use crate::{documents, links};

pub const TABLES: [Table; 3] = [
    Table {
        name: "edges_a",
        tree: Some("tree"),
        parent: "parent",
        child: "child",
        label: None,
        label_table: None,
        other_name: None,
        preferred: None,
        numeric: false,
        unique: false,
    },
    Table {
        name: "edges_b",
        tree: Some("forest"),
        parent: "above",
        child: "below",
        label: Some("note"),
        label_table: None,
        other_name: Some("also"),
        preferred: None,
        numeric: false,
        unique: true,
    },
    Table {
        name: "edges_c",
        tree: None,
        parent: "parent",
        child: "child",
        label: Some("name"),
        label_table: Some("exact.names_c"),
        other_name: Some("also"),
        preferred: Some("is_first"),
        numeric: true,
        unique: false,
    },
];

/// The table whose policy hides a tree from `exact_reader`.
pub const WITH_POLICY: usize = 0;

#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub tree: Option<&'static str>,
    pub parent: &'static str,
    pub child: &'static str,
    /// The column of labels, and the table of labels that it is in.
    pub label: Option<&'static str>,
    pub label_table: Option<&'static str>,
    /// The column of other names, and the one that says which labels are preferred, beside the labels.
    pub other_name: Option<&'static str>,
    pub preferred: Option<&'static str>,
    pub numeric: bool,
    pub unique: bool,
}

/// Names whose order by bytes differs from a language's, names that are others in another number or order, names that list or join others, names that only some spellings match, and lengths around a cache line and a varlena header.
const SPECIAL: [&str; 19] = [
    "",
    "a",
    "A",
    "a ",
    "Ä",
    "ä",
    "🌳",
    "o'ak\\n\"q\"",
    "B",
    "A#",
    "a*",
    "서울",
    "IT",
    "bare oaks",
    "Oaks of the bare",
    "bareoak",
    "oak",
    "old oaks",
    "Oaks & elms",
];
const LONG: usize = 300;
/// Words that stand for each other in the names of all tables.
pub const WORDS: &str = "exact.words";
pub const WORDS_OF_CLASSES: [&str; 4] = ["bare", "naked", "old", "elms"];
const NAMES: usize = 30;
pub const TREES: [Option<&str>; 4] = [None, Some("oak"), Some("Ash"), Some("")];

impl Table {
    pub fn qualified(&self) -> String {
        format!("exact.{}", self.name)
    }

    /// The column of entities in the table that has the labels.
    pub fn labelled(&self) -> &'static str {
        if self.label_table.is_some() { "id" } else { self.child }
    }

    /// The i-th entity's name, as text.
    pub fn entity(&self, i: usize) -> String {
        let i = i % NAMES;
        if self.numeric {
            (i + 1).to_string()
        } else if i == 0 {
            "n".repeat(LONG)
        } else if let Some(name) = SPECIAL.get(i - 1) {
            (*name).to_string()
        } else {
            format!("n{i:02}")
        }
    }

    #[must_use]
    pub fn entities(&self) -> usize {
        NAMES
    }

    pub fn columns(&self) -> String {
        match self.tree {
            Some(tree) => format!("{tree}, {}, {}, note", self.parent, self.child),
            None => format!("{}, {}, note", self.parent, self.child),
        }
    }

    pub fn attach(&self) -> String {
        let own_label = self.label.filter(|_| self.label_table.is_none());
        let [tree, label] =
            [self.tree, own_label].map(|name| name.map_or("NULL".to_string(), |name| format!("'{name}'")));
        let edges = self.qualified();
        let names = self.other_name.map(|name| format!(", names => '{{{name}}}'")).unwrap_or_default();
        let preferred = self.preferred.map(|column| format!(", preferred => '{column}'")).unwrap_or_default();
        let own_names = if own_label.is_some() { &names } else { "" };
        let mut sql =
            format!("SELECT cft_attach('{edges}', '{}', '{}', {tree}, {label}{own_names})", self.parent, self.child);
        sql += &format!("; SELECT cft_attach_words('{WORDS}', edges => '{edges}')");
        if let (Some(labels), Some(label)) = (self.label_table, self.label) {
            sql += &format!("; SELECT cft_attach_labels('{labels}', 'id', '{label}', '{edges}'{names}{preferred})");
        }
        sql
    }
}

/// Makes the extension and the tables, and removes what earlier runs left.
pub fn set_up(client: &mut Client) -> Result<(), Error> {
    client.batch_execute("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS cftrag CASCADE")?;
    // Left by a run that was interrupted: their locks would block what follows.
    for row in client.query("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()", &[])? {
        client.batch_execute(&format!("ROLLBACK PREPARED '{}'", row.get::<_, &str>(0)))?;
    }
    client.batch_execute(&setup())?;
    // Earlier runs leave dead rows where the registration is looked up.
    for catalog in ["pg_depend", "pg_trigger", "pg_class", "pg_attribute", "pg_proc"] {
        client.batch_execute(&format!("VACUUM {catalog}"))?;
    }
    Ok(())
}

/// What cft_verify reports about the table, if anything.
pub fn verify(client: &mut Client, table: &Table) -> Result<Option<String>, Error> {
    let sql = format!("SELECT string_agg(v::text, E'\\n') FROM cft_verify('{}') AS v", table.qualified());
    let problems: Option<String> = client.query_one(sql.as_str(), &[])?.get(0);
    Ok(problems.map(|rows| format!("cft_verify('{}'):\n{rows}", table.qualified())))
}

/// What cft_verify reports under the caller's snapshot, and entities of cft_hot_entities that do not exist. There must be no rows.
pub fn problems(table: &Table) -> String {
    let Table { parent, child, .. } = table;
    let edges = table.qualified();
    format!(
        "SELECT v::text FROM cft_verify('{edges}') AS v UNION ALL SELECT 'hot, but not there: ' || h.entity
           FROM cft_hot_entities(10, '{edges}') AS h
          WHERE NOT EXISTS (SELECT FROM {edges} AS r WHERE h.entity IN (r.{parent}::text, r.{child}::text) AND r.{child} IS NOT NULL)"
    )
}

fn setup() -> String {
    let mut sql = String::from(SETUP);
    for table in &TABLES {
        let qualified = table.qualified();
        sql += &table.attach();
        sql += ";\n";
        sql += &check::functions(table);
        sql += &check::triggers(table);
        sql += &format!(
            "ALTER TABLE {qualified} SET (autovacuum_enabled = false);\n
             GRANT SELECT ON {qualified} TO exact_reader;\n"
        );
    }
    sql += documents::SET_UP;
    sql += links::SET_UP;
    sql + "GRANT USAGE ON SCHEMA exact TO exact_reader;\nGRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA exact TO exact_reader;\n"
}

const SETUP: &str = r#"
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS exact CASCADE;
DO $$ BEGIN CREATE ROLE exact_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE SCHEMA exact;
-- The rows of a query; $1, $2 and $3 in it are these arguments.
CREATE FUNCTION exact.definition(query text, entities text[], up int, down int)
RETURNS TABLE (n bigint, entity text, tree text, relation text, depth int, relative text, via text, label text) LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
BEGIN RETURN QUERY EXECUTE query USING entities, up, down; END $$;
CREATE TABLE exact.other (n int) WITH (autovacuum_enabled = false);

CREATE TABLE exact.edges_a (tree text, parent text, child text, note int);
ALTER TABLE exact.edges_a ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_ash ON exact.edges_a FOR SELECT TO exact_reader USING (tree IS DISTINCT FROM 'Ash');

CREATE TABLE exact.edges_b (
    id bigint GENERATED ALWAYS AS IDENTITY, dead text, below varchar(400), note int, above varchar(400), forest text,
    also text GENERATED ALWAYS AS (forest || ' ' || (id % 3)::text) STORED);
ALTER TABLE exact.edges_b DROP COLUMN dead;
CREATE UNIQUE INDEX edges_b_key ON exact.edges_b (forest, above, below) NULLS NOT DISTINCT;
CREATE INDEX ON exact.edges_b (below);

CREATE TABLE exact.words (word text, class int) WITH (autovacuum_enabled = false);
INSERT INTO exact.words VALUES ('bare', 1), ('naked', 1), ('oak', 2), ('tree', 2);
GRANT SELECT ON exact.words TO exact_reader;

CREATE TABLE exact.names_c (id int PRIMARY KEY, name text GENERATED ALWAYS AS ('name ' || id % 7) STORED,
    also text GENERATED ALWAYS AS (NULLIF('also ' || id % 5, 'also 0')) STORED, is_first boolean GENERATED ALWAYS AS (NULLIF(id % 4, 0) > 1) STORED) WITH (autovacuum_enabled = false);
INSERT INTO exact.names_c SELECT generate_series(1, 30);
GRANT SELECT ON exact.names_c TO exact_reader;
CREATE TABLE exact.edges_c (
    parent int REFERENCES exact.names_c ON DELETE CASCADE ON UPDATE CASCADE,
    note int,
    child int REFERENCES exact.names_c ON DELETE CASCADE ON UPDATE CASCADE);
CREATE INDEX ON exact.edges_c (parent);
CREATE INDEX ON exact.edges_c (child);
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_table_are_distinct() {
        for table in &TABLES {
            let names: std::collections::HashSet<_> = (0..table.entities()).map(|i| table.entity(i)).collect();
            assert_eq!(names.len(), table.entities());
        }
    }
}
