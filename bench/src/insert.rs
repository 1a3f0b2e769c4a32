//! Write costs: many rows in one statement, single rows each committed, and the slowest insert while the image grows.

use std::time::Duration;

use postgres::Error;

use crate::measure::{Session, Times, interleaved};
use crate::report::Table;

/// The indexes and triggers of the table written to, `{t}`.
struct Kind {
    name: &'static str,
    setup: &'static str,
}

const ATTACHED: &str = "SELECT cft_attach('{t}', tree => 'tree'); SELECT cft_build('{t}')";
const BTREES: &str = "CREATE INDEX ON {t} (parent); CREATE INDEX ON {t} (child)";
/// Its trigger is from bench/floor.c, which needs a C compiler.
pub const FLOOR: &str = "two btrees, a trigger that does nothing";
const TRIGGER: &str =
    "CREATE TRIGGER nothing AFTER INSERT OR UPDATE OR DELETE ON {t} FOR EACH ROW EXECUTE FUNCTION nothing_trigger()";

fn kinds(session: &mut Session) -> Result<Vec<Kind>, Error> {
    let mut kinds = vec![
        Kind { name: "cftrag", setup: "<btrees>; <attached>" },
        Kind { name: "two btrees", setup: "<btrees>" },
        Kind { name: "cftrag, no index", setup: "<attached>" },
        Kind { name: "no index", setup: "SELECT 1" },
    ];
    if let Ok(library) = std::env::var("BENCH_FLOOR") {
        session.client.batch_execute(&format!(
            "CREATE OR REPLACE FUNCTION nothing_trigger() RETURNS trigger LANGUAGE c AS '{library}'"
        ))?;
        kinds.push(Kind { name: FLOOR, setup: "<btrees>; <trigger>" });
    }
    Ok(kinds)
}

fn make(session: &mut Session, kind: &Kind, table: &str) -> Result<(), Error> {
    session.client.batch_execute(&format!(
        "DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (tree text, parent text, child text)"
    ))?;
    let setup = kind.setup.replace("<btrees>", BTREES).replace("<attached>", ATTACHED).replace("<trigger>", TRIGGER);
    session.each(&setup.replace("{t}", table)).map(|_| ())
}

/// Inserts 100,000 rows in one statement, and single rows each committed: triggers compared with two plain indexes.
pub fn inserts(session: &mut Session) -> Result<Vec<Table>, Error> {
    let kinds = kinds(session)?;
    let bulk = bulk(session, &kinds)?;
    for (k, kind) in kinds.iter().enumerate() {
        make(session, kind, &table(k))?;
    }
    let quick = single(session, &kinds, 3000)?;
    // As in production: a commit is on disk before it is reported.
    durable(session, true)?;
    let durably = single(session, &kinds, 3000)?;
    durable(session, false)?;
    for k in 0..kinds.len() {
        session.client.batch_execute(&format!("DROP TABLE {}", table(k)))?;
    }
    let columns = vec!["p50", "mean", "p99"];
    let of = |title: &str, file: &str, lines, note: &str| Table {
        title: title.into(),
        file: file.into(),
        unit: "microseconds",
        columns: columns.clone(),
        lines,
        note: note.into(),
    };
    Ok(vec![
        bulk,
        of("INSERT of one row, committed", "insert-single", quick, "fsync off, to show the CPU cost."),
        of("INSERT of one row, committed, fsync on", "insert-durable", durably, "The server's default."),
    ])
}

fn table(k: usize) -> String {
    format!("bench_write_{k}")
}

fn durable(session: &mut Session, on: bool) -> Result<(), Error> {
    session.client.batch_execute(&format!("ALTER SYSTEM SET fsync = {}", if on { "on" } else { "off" }))?;
    session.client.batch_execute("SELECT pg_reload_conf()")?;
    // Processes reload their settings one by one.
    std::thread::sleep(Duration::from_millis(500));
    Ok(())
}

/// An odd number, for the median. Several rounds, since a machine's noise exceeds the cost of a trigger.
const ROUNDS: usize = 9;

fn bulk(session: &mut Session, kinds: &[Kind]) -> Result<Table, Error> {
    let rows = "SELECT 't' || i % 100, 'parent ' || i / 10, 'child ' || i FROM generate_series(1, 100000) AS i";
    let mut times = vec![Vec::new(); kinds.len()];
    for _ in 0..ROUNDS {
        for (kind, times) in kinds.iter().zip(&mut times) {
            make(session, kind, "bench_write")?;
            times.push(session.batch(&format!("INSERT INTO bench_write {rows}"))?.0 * 1000.0);
        }
    }
    session.client.batch_execute("DROP TABLE bench_write")?;
    let line = |(kind, times): (&Kind, &mut Vec<f64>)| {
        times.sort_by(f64::total_cmp);
        (kind.name.to_string(), vec![times[ROUNDS / 2], times[0], times[ROUNDS - 1]])
    };
    Ok(Table {
        title: "INSERT of 100,000 rows".into(),
        file: "insert-bulk".into(),
        unit: "milliseconds",
        columns: vec!["median", "min", "max"],
        lines: kinds.iter().zip(&mut times).map(line).collect(),
        note: format!("{ROUNDS} rounds. cftrag here has the same two indexes, and its triggers."),
    })
}

/// Inserts single rows, the tables taking turns.
fn single(session: &mut Session, kinds: &[Kind], rows: usize) -> Result<Vec<(String, Vec<f64>)>, Error> {
    let budget = std::mem::replace(&mut session.budget, Duration::from_secs(3600));
    let mut statements = Vec::new();
    for k in 0..kinds.len() {
        statements.push(session.client.prepare(&format!("INSERT INTO {} VALUES ('t', 'parent 1', $1)", table(k)))?);
    }
    let names: Vec<String> = (0..rows).map(|i| format!("single {i}")).collect();
    let times: Vec<Times> = interleaved(session, &statements, &names, 50)?;
    session.budget = budget;
    let line = |(kind, t): (&Kind, &Times)| (kind.name.to_string(), vec![t.median(), t.mean(), t.quantile(0.99)]);
    Ok(kinds.iter().zip(&times).map(line).collect())
}

/// Inserts single rows into an empty table; the slowest insert is where some structure doubled in size.
pub fn growth(session: &mut Session, rows: usize) -> Result<Table, Error> {
    let budget = std::mem::replace(&mut session.budget, Duration::from_secs(3600));
    let mut lines = Vec::new();
    for (name, setup) in [
        ("cftrag", "SELECT cft_attach('bench_growth', tree => 'tree'); SELECT cft_build('bench_growth')"),
        ("two btrees", "CREATE INDEX ON bench_growth (parent); CREATE INDEX ON bench_growth (child)"),
        ("no index", "SELECT 1"),
    ] {
        session.client.batch_execute(
            "DROP TABLE IF EXISTS bench_growth; CREATE TABLE bench_growth (tree text, parent text, child text)",
        )?;
        session.each(setup)?;
        let one = session.client.prepare("INSERT INTO bench_growth VALUES ('t', 'parent ' || length($1), $1)")?;
        let names: Vec<String> = (0..rows).map(|i| format!("entity {i}")).collect();
        let mut times = Times::default();
        session.run(&one, &names, &mut times)?;
        let most = times.quantile(1.0);
        lines.push((name.to_string(), vec![most, times.quantile(0.9999), times.quantile(0.99), times.median()]));
    }
    session.client.batch_execute("DROP TABLE bench_growth")?;
    session.budget = budget;
    Ok(Table {
        title: format!("{rows} single inserts into an empty table"),
        file: "insert-growth".into(),
        unit: "microseconds, the longest",
        columns: vec!["longest", "p99.99", "p99", "p50"],
        lines,
        note: "Not pinned. The longest insert without an index shows the machine's own delays.".into(),
    })
}
