//! Random statements that change a table: one function a kind, text out, nothing executed.
//!
//! Rows to change are picked with SKIP LOCKED, so that a statement does not wait for another open transaction; waiting on
//! purpose is a step of its own (step.rs, Contend).

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::check::literal;
use crate::model::Need;
use crate::schema::{TREES, Table, WORDS, WORDS_OF_CLASSES};

/// Parts run one after the other until one fails.
#[derive(Clone, Debug)]
pub enum Part {
    Sql(String),
    Copy { sql: String, rows: String },
}

#[derive(Clone, Debug)]
pub struct Change {
    pub kind: &'static str,
    pub need: Need,
    pub parts: Vec<Part>,
}

pub fn one_in(rng: &mut ChaCha8Rng, n: u32) -> bool {
    rng.random_range(0..n) == 0
}

pub fn entity(rng: &mut ChaCha8Rng, table: &Table) -> String {
    // Half of the edges join a few entities, so that sessions meet at them.
    let range = if one_in(rng, 2) { table.entities() } else { 8 };
    table.entity(rng.random_range(0..range))
}

fn tree(rng: &mut ChaCha8Rng) -> Option<&'static str> {
    *TREES.choose(rng).expect("not empty")
}

/// A value of the parent or child column, sometimes NULL.
fn name(rng: &mut ChaCha8Rng, table: &Table) -> String {
    if one_in(rng, 40) {
        "NULL".to_string()
    } else if table.numeric {
        entity(rng, table)
    } else {
        literal(&entity(rng, table))
    }
}

fn tree_value(rng: &mut ChaCha8Rng) -> String {
    tree(rng).map_or("NULL".to_string(), literal)
}

struct Row {
    tree: String,
    parent: String,
    child: String,
    note: i32,
}

fn row(rng: &mut ChaCha8Rng, table: &Table) -> Row {
    let parent = name(rng, table);
    let child = if one_in(rng, 30) { parent.clone() } else { name(rng, table) };
    Row { tree: tree_value(rng), parent, child, note: rng.random_range(0..100) }
}

fn values(table: &Table, row: &Row) -> String {
    match table.tree {
        Some(_) => format!("({}, {}, {}, {})", row.tree, row.parent, row.child, row.note),
        None => format!("({}, {}, {})", row.parent, row.child, row.note),
    }
}

pub fn rows(rng: &mut ChaCha8Rng, table: &Table, most: usize) -> String {
    let mut list: Vec<Row> = (0..rng.random_range(1..=most)).map(|_| row(rng, table)).collect();
    if list.len() > 1 && !table.unique && one_in(rng, 3) {
        // A duplicate in one statement.
        let first =
            Row { tree: list[0].tree.clone(), parent: list[0].parent.clone(), child: list[0].child.clone(), note: 0 };
        list.push(first);
    }
    list.iter().map(|row| values(table, row)).collect::<Vec<_>>().join(", ")
}

fn predicate(rng: &mut ChaCha8Rng, table: &Table) -> String {
    match rng.random_range(0..6) {
        0 | 1 => format!("{} = {}", table.parent, name(rng, table)),
        2 => format!("{} = {}", table.child, name(rng, table)),
        3 => format!("note % 5 = {}", rng.random_range(0..5)),
        4 => match table.tree {
            Some(tree) => format!("{tree} IS NOT DISTINCT FROM {}", tree_value(rng)),
            None => format!("{} > {}", table.parent, rng.random_range(0..30)),
        },
        _ => "true".to_string(),
    }
}

/// A condition that picks at most `most` rows that no other session has locked.
fn picked(rng: &mut ChaCha8Rng, table: &Table, most: usize, strength: &str) -> String {
    let matching = predicate(rng, table);
    let limit = rng.random_range(1..=most);
    let edges = table.qualified();
    format!("ctid = ANY (ARRAY(SELECT ctid FROM {edges} WHERE {matching} LIMIT {limit} FOR {strength} SKIP LOCKED))")
}

fn insert(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let most = if one_in(rng, 2) { 1 } else { 6 };
    let returning = if one_in(rng, 4) { " RETURNING note" } else { "" };
    let conflict = match (table.unique, rng.random_range(0..3)) {
        (true, 0) => " ON CONFLICT DO NOTHING".to_string(),
        (true, 1) => {
            format!(
                " ON CONFLICT (forest, above, below) DO UPDATE SET note = excluded.note + 1, below = {}",
                name(rng, table)
            )
        }
        _ => String::new(),
    };
    // Rows of words are inserted only: nobody waits for one.
    let with_word = match one_in(rng, 12) {
        true => {
            let word = WORDS_OF_CLASSES.choose(rng).expect("not empty");
            format!("WITH w AS (INSERT INTO {WORDS} VALUES ('{word}', {})) ", rng.random_range(1..4))
        }
        false => String::new(),
    };
    format!(
        "{with_word}INSERT INTO {} ({}) VALUES {}{conflict}{returning}",
        table.qualified(),
        table.columns(),
        rows(rng, table, most)
    )
}

/// Existing edges inserted again, in another tree or upside down.
fn insert_select(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let Table { parent, child, .. } = table;
    let (first, second) = if one_in(rng, 3) { (child, parent) } else { (parent, child) };
    let tree = match table.tree {
        Some(tree) if one_in(rng, 2) => format!("{tree}, "),
        Some(_) => format!("{}, ", tree_value(rng)),
        None => String::new(),
    };
    format!(
        "INSERT INTO {edges} ({columns}) SELECT {tree}{first}, {second}, note + 1 FROM {edges} WHERE {matching} LIMIT {limit}{conflict}",
        edges = table.qualified(),
        columns = table.columns(),
        matching = predicate(rng, table),
        limit = rng.random_range(1..5),
        conflict = if table.unique { " ON CONFLICT DO NOTHING" } else { "" },
    )
}

fn update(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let Table { parent, child, .. } = table;
    let set = match rng.random_range(0..7) {
        0 | 1 => format!("{parent} = {}", name(rng, table)),
        2 => format!("{child} = {}", name(rng, table)),
        3 => format!("{parent} = {child}, {child} = {parent}"),
        4 => match table.tree {
            Some(tree) => format!("{tree} = {}", tree_value(rng)),
            None => format!("{parent} = {parent}"),
        },
        5 => "note = note + 1".to_string(),
        _ => format!("{parent} = {parent}, {child} = {child}"),
    };
    let strength = if one_in(rng, 2) { "UPDATE" } else { "NO KEY UPDATE" };
    format!("UPDATE {} SET {set} WHERE {}", table.qualified(), picked(rng, table, 4, strength))
}

fn delete(rng: &mut ChaCha8Rng, table: &Table, most: usize) -> String {
    let returning = if one_in(rng, 4) { format!(" RETURNING {}", table.parent) } else { String::new() };
    format!("DELETE FROM {} WHERE {}{returning}", table.qualified(), picked(rng, table, most, "UPDATE"))
}

/// One statement that deletes edges and inserts them again, upside down.
fn turn(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let Table { parent, child, .. } = table;
    let edges = table.qualified();
    let tree = table.tree.map_or(String::new(), |tree| format!("{tree}, "));
    format!(
        "WITH gone AS (DELETE FROM {edges} WHERE {} RETURNING {tree}{parent}, {child}, note)
         INSERT INTO {edges} ({}) SELECT {tree}{child}, {parent}, note FROM gone{}",
        picked(rng, table, 3, "UPDATE"),
        table.columns(),
        if table.unique { " ON CONFLICT DO NOTHING" } else { "" },
    )
}

fn merge(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let Table { parent, child, .. } = table;
    let cast = if table.numeric { "int" } else { "text" };
    let (source, same_tree, tree) = match table.tree {
        Some(tree) => ("s(t, p, c, n)", format!(" AND r.{tree} IS NOT DISTINCT FROM s.t"), "s.t, "),
        None => ("s(p, c, n)", String::new(), ""),
    };
    let matched = match rng.random_range(0..3) {
        0 => "DELETE".to_string(),
        1 => format!("UPDATE SET {parent} = {}", name(rng, table)),
        _ => "UPDATE SET note = s.n".to_string(),
    };
    format!(
        "MERGE INTO {edges} AS r USING (VALUES {rows}) AS {source}
            ON r.{parent} = s.p::{cast} AND r.{child} = s.c::{cast}{same_tree}
          WHEN MATCHED AND r.note % 4 = 0 THEN DO NOTHING
          WHEN MATCHED THEN {matched}
          WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({tree}s.p::{cast}, s.c::{cast}, s.n)",
        edges = table.qualified(),
        rows = rows(rng, table, 4),
        columns = table.columns(),
    )
}

pub fn copy(rng: &mut ChaCha8Rng, table: &Table, options: &str) -> Part {
    let field = |value: &str| value.replace('\\', "\\\\").replace('\t', "\\t");
    let mut text = String::new();
    for _ in 0..rng.random_range(1..6) {
        let mut fields = Vec::new();
        if table.tree.is_some() {
            fields.push(tree(rng).map_or("\\N".to_string(), field));
        }
        for _ in 0..2 {
            fields.push(if one_in(rng, 40) { "\\N".to_string() } else { field(&entity(rng, table)) });
        }
        fields.push(rng.random_range(0..100).to_string());
        text += &fields.join("\t");
        text.push('\n');
    }
    Part::Copy { sql: format!("COPY {} ({}) FROM STDIN {options}", table.qualified(), table.columns()), rows: text }
}

/// plpgsql exception blocks: the inner statements are undone, those of the handler stay.
fn exception_block(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let fails = if one_in(rng, 4) { "NULL" } else { "PERFORM 1 / 0" };
    let watch = if one_in(rng, 4) { "PERFORM set_config('exact.watch', 'on', true);" } else { "" };
    format!(
        "DO $do$ BEGIN {watch} {}; BEGIN {}; {}; {fails}; EXCEPTION WHEN division_by_zero THEN {}; END; {}; END $do$",
        plain(rng, table),
        plain(rng, table),
        plain(rng, table),
        plain(rng, table),
        plain(rng, table),
    )
}

/// The kind of step that [`many`] makes.
pub const MANY: &str = "many subtransactions";

/// More than 64 subtransactions with an xid that are not undone, so the snapshots of others overflow and list no subtransactions at all.
/// Some of them change the table, and others are undone.
pub fn many(rng: &mut ChaCha8Rng, table: &Table) -> Change {
    let sql = format!(
        "DO $do$ BEGIN FOR i IN 1..80 LOOP
            BEGIN INSERT INTO exact.other VALUES (i); IF i % 10 = 0 THEN {}; ELSIF i % 7 = 0 THEN {}; END IF;
            IF i % 9 = 0 THEN PERFORM 1 / 0; END IF;
            EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $do$",
        plain(rng, table),
        delete(rng, table, 1).replace(&format!(" RETURNING {}", table.parent), ""),
    );
    Change { kind: MANY, need: Need::Write, parts: vec![Part::Sql(sql)] }
}

/// A statement without RETURNING, which plpgsql accepts without INTO.
fn plain(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let sql = match rng.random_range(0..3) {
        0 if table.unique => insert_select(rng, table),
        0 => format!("INSERT INTO {} ({}) VALUES {}", table.qualified(), table.columns(), rows(rng, table, 2)),
        1 => update(rng, table),
        _ => delete(rng, table, 2),
    };
    sql.replace(&format!(" RETURNING {}", table.parent), "")
}

/// The row's trigger sees the row changed again by a trigger that runs before it.
fn touched(rng: &mut ChaCha8Rng, table: &Table) -> Vec<Part> {
    let how = if one_in(rng, 2) { "delete" } else { "update" };
    let sql = if one_in(rng, 2) { insert(rng, table) } else { update(rng, table) };
    vec![Part::Sql(format!(
        "SELECT set_config('exact.touch', '{how}', true); {sql}; SELECT set_config('exact.touch', '', true)"
    ))]
}

fn watched(rng: &mut ChaCha8Rng, table: &Table) -> Vec<Part> {
    let sql = match rng.random_range(0..4) {
        0 => update(rng, table),
        1 => delete(rng, table, 2),
        2 => merge(rng, table),
        _ => insert(rng, table),
    };
    vec![Part::Sql(format!(
        "SELECT set_config('exact.watch', 'on', true); {sql}; SELECT set_config('exact.watch', '', true)"
    ))]
}

/// Row locks of others make the xmax of a later update a multixact.
fn lock_rows(rng: &mut ChaCha8Rng, table: &Table) -> String {
    let strength = if one_in(rng, 4) { "SHARE" } else { "KEY SHARE" };
    let edges = table.qualified();
    format!(
        "SELECT count(*) FROM (SELECT 1 FROM {edges} WHERE {} LIMIT 8 FOR {strength} SKIP LOCKED) AS z",
        predicate(rng, table)
    )
}

/// Cascades: foreign key triggers change edges_c inside a statement on another table.
fn cascade(rng: &mut ChaCha8Rng) -> String {
    let id = rng.random_range(1..=30);
    if one_in(rng, 2) {
        format!("DELETE FROM exact.names_c WHERE id = {id}; INSERT INTO exact.names_c VALUES ({id})")
    } else {
        format!(
            "UPDATE exact.names_c SET id = {0} WHERE id = {id}; UPDATE exact.names_c SET id = {id} WHERE id = {0}",
            id + 100
        )
    }
}

/// One change of the table; `full` asks for fewer rows.
pub fn change(rng: &mut ChaCha8Rng, table: &Table, full: bool) -> Change {
    let mut need = Need::Write;
    let sql = |text: String| vec![Part::Sql(text)];
    let (kind, parts) = match rng.random_range(0..if full { 34 } else { 30 }) {
        0..7 => ("insert", sql(insert(rng, table))),
        7..9 => ("insert select", sql(insert_select(rng, table))),
        9..14 => ("update", sql(update(rng, table))),
        14..18 => ("delete", sql(delete(rng, table, 3))),
        18 => ("turn", sql(turn(rng, table))),
        19..21 => ("merge", sql(merge(rng, table))),
        21..23 => ("copy", vec![copy(rng, table, "")]),
        23..25 => ("exception block", sql(exception_block(rng, table))),
        25 => ("watched", watched(rng, table)),
        26 => ("touched", touched(rng, table)),
        27..29 => ("lock rows", sql(lock_rows(rng, table))),
        29 if table.numeric => {
            need = Need::BlockWriters;
            ("cascade", sql(cascade(rng)))
        }
        29 if one_in(rng, 6) => return many(rng, table),
        29 => ("two statements", sql(format!("{}; {}", plain(rng, table), plain(rng, table)))),
        _ => ("delete many", sql(delete(rng, table, 30))),
    };
    Change { kind, need, parts }
}
