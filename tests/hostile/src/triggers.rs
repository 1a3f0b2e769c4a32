//! Triggers that use the extension's trigger functions in every way that CREATE TRIGGER accepts, and in some that it rejects.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::values::{one_in, pick};

const ARGUMENTS: [&str; 12] = [
    "'parent', 'child'",
    "'parent', 'child'",
    "'parent', 'child', 'tree'",
    "'child', 'parent', 'tree'",
    "",
    "'parent'",
    "'parent', 'parent'",
    "'nope', 'child'",
    "'parent', 'child', 'tree', 'more'",
    "'', ''",
    "'ctid', 'xmin'",
    "'other', 'child'",
];

const EVENTS: [&str; 9] = [
    "INSERT",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "INSERT OR UPDATE OR DELETE",
    "INSERT OR UPDATE OR DELETE OR TRUNCATE",
    "UPDATE OF child",
    "INSERT OR DELETE",
    "UPDATE OF tree OR TRUNCATE",
];

/// Statements that create triggers with `function` on a table, and write to it.
pub fn statements(rng: &mut ChaCha8Rng, function: &str, n: u64) -> Vec<String> {
    let own = format!("scratch.t{n}");
    let view = format!("scratch.tv{n}");
    let table = pick(
        rng,
        &[
            own.as_str(),
            &own,
            &own,
            &view,
            "hostile.edges",
            "hostile.numbers",
            "hostile.partitioned",
            "hostile.foreign",
            "hostile.ancestor",
        ],
    )
    .to_string();
    let whole = one_in(rng, 2);
    let mut sql = Vec::new();
    if whole {
        sql.push("BEGIN".to_string());
    }
    sql.push(format!("CREATE TABLE {own} (other jsonb, parent text, child text, tree text)"));
    sql.push(format!("CREATE VIEW {view} AS TABLE {own}"));
    if one_in(rng, 3) {
        sql.push(format!("SELECT cft_attach('{table}', tree => 'tree')"));
        sql.push(format!("SELECT * FROM cft_context('a', edges => '{table}')"));
    }
    for i in 0..rng.random_range(1..3) {
        let argument =
            if one_in(rng, 20) { format!("'{}', 'child'", "x".repeat(100_000)) } else { pick(rng, &ARGUMENTS).into() };
        sql.push(trigger(rng, function, &table, &format!("w{n}_{i}"), &argument));
        if one_in(rng, 3) {
            sql.push(format!("ALTER TABLE {table} ENABLE {} TRIGGER w{n}_{i}", pick(rng, &["ALWAYS", "REPLICA"])));
        }
    }
    let two = if table == "hostile.numbers" { "('1', '2')" } else { "('a', 'b')" };
    let savepoint = whole && one_in(rng, 2);
    sql.push(format!("INSERT INTO {table}(parent, child) VALUES {two}"));
    if savepoint {
        sql.push("SAVEPOINT s".to_string());
    }
    sql.push(format!("UPDATE {table} SET child = child WHERE parent::text IN ('a', '1')"));
    sql.push(format!("SELECT * FROM cft_context('b', edges => '{table}')"));
    sql.push(format!("WITH d AS (DELETE FROM {table} WHERE parent::text IN ('a', '1') RETURNING *) INSERT INTO {table}(parent, child) SELECT parent, child FROM d"));
    if savepoint {
        sql.push(pick(rng, &["ROLLBACK TO s", "RELEASE s"]).to_string());
    }
    if table == own || whole {
        sql.push(format!("TRUNCATE {table}"));
    }
    sql.push(format!("SELECT * FROM cft_context('b', edges => '{table}')"));
    if one_in(rng, 4) {
        sql.push(format!("CREATE EVENT TRIGGER e{n} ON ddl_command_end EXECUTE FUNCTION {function}()"));
        sql.push(format!("DROP EVENT TRIGGER IF EXISTS e{n}"));
    }
    if whole {
        sql.push(pick(rng, &["COMMIT", "ROLLBACK"]).to_string());
    }
    for i in 0..2 {
        sql.push(format!("DROP TRIGGER IF EXISTS w{n}_{i} ON {table}"));
    }
    sql
}

fn trigger(rng: &mut ChaCha8Rng, function: &str, table: &str, name: &str, arguments: &str) -> String {
    let constraint = one_in(rng, 6);
    let timing = if constraint { "AFTER" } else { pick(rng, &["AFTER", "AFTER", "BEFORE", "INSTEAD OF"]) };
    let event = pick(rng, &EVENTS);
    let level = if constraint { "ROW" } else { pick(rng, &["ROW", "ROW", "STATEMENT"]) };
    let tables = if one_in(rng, 8) { " REFERENCING NEW TABLE AS fresh" } else { "" };
    let when = if one_in(rng, 8) { " WHEN (pg_trigger_depth() = 0)" } else { "" };
    let (kind, deferred) = match (constraint, one_in(rng, 2)) {
        (true, true) => ("CONSTRAINT ", " DEFERRABLE INITIALLY DEFERRED"),
        (true, false) => ("CONSTRAINT ", ""),
        _ => ("", ""),
    };
    format!(
        "CREATE {kind}TRIGGER {name} {timing} {event} ON {table}{deferred}{tables} FOR EACH {level}{when} EXECUTE FUNCTION {function}({arguments})"
    )
}
