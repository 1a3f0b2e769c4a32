//! What changes a whole table: TRUNCATE in its varieties, columns that change names, triggers that are off for a while.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::dml::{self, Part};
use crate::model::Need;
use crate::schema::Table;

pub fn in_a_transaction(mut parts: Vec<Part>) -> Vec<Part> {
    parts.insert(0, Part::Sql("BEGIN".to_string()));
    parts.push(Part::Sql("COMMIT".to_string()));
    parts
}

pub fn truncation(rng: &mut ChaCha8Rng, table: &Table) -> Vec<Part> {
    let truncate = || Part::Sql(format!("TRUNCATE {}", table.qualified()));
    let insert = |rng: &mut ChaCha8Rng| {
        let conflict = if table.unique { " ON CONFLICT DO NOTHING" } else { "" };
        let rows = dml::rows(rng, table, 8);
        Part::Sql(format!("INSERT INTO {} ({}) VALUES {rows}{conflict}", table.qualified(), table.columns()))
    };
    match rng.random_range(0..7) {
        0 => vec![truncate()],
        1 | 2 => vec![truncate(), insert(rng), insert(rng)],
        3 => vec![truncate(), insert(rng), truncate(), insert(rng)],
        4 => vec![truncate(), dml::copy(rng, table, "(FREEZE)"), insert(rng)],
        5 => vec![insert(rng), truncate(), insert(rng), truncate()],
        _ => {
            let undone =
                [Part::Sql("SAVEPOINT around".into()), truncate(), insert(rng), Part::Sql("ROLLBACK TO around".into())];
            let mut parts = vec![insert(rng)];
            parts.extend(undone);
            parts.extend([insert(rng), Part::Sql("RELEASE around".into())]);
            parts
        }
    }
}

/// The columns swap their names: the file and the types stay, the attribute numbers differ.
pub fn swap(table: &Table) -> String {
    let Table { parent, child, .. } = table;
    let edges = table.qualified();
    format!(
        "ALTER TABLE {edges} RENAME COLUMN {parent} TO swapping;
         ALTER TABLE {edges} RENAME COLUMN {child} TO {parent};
         ALTER TABLE {edges} RENAME COLUMN swapping TO {child}"
    )
}

/// Changes that are not captured, because the triggers are disabled meanwhile, in one transaction.
pub fn unwatched(rng: &mut ChaCha8Rng, table: &Table) -> Vec<Part> {
    let edges = table.qualified();
    let change = dml::change(rng, table, false);
    let mut parts = vec![Part::Sql(format!("ALTER TABLE {edges} DISABLE TRIGGER cftrag_row"))];
    if change.need == Need::Write {
        parts.extend(change.parts);
    }
    parts.push(Part::Sql(format!("ALTER TABLE {edges} ENABLE ALWAYS TRIGGER cftrag_row")));
    parts
}
