//! Writing: many rows in one statement, single rows each committed, and the longest of them while the image grows.

use postgres::Error;

use crate::measure::{Session, Times};
use crate::report::Table;

/// Inserts of 100,000 rows in one statement, and of single rows each committed: triggers beside two plain indexes.
pub fn inserts(session: &mut Session) -> Result<Vec<Table>, Error> {
    let rows = "SELECT 't' || i % 100, 'parent ' || i / 10, 'child ' || i FROM generate_series(1, 100000) AS i";
    let kinds = [
        (
            "cftrag",
            "CREATE INDEX ON bench_write (parent); CREATE INDEX ON bench_write (child); SELECT cft_attach('bench_write', tree => 'tree'); SELECT cft_build('bench_write')",
        ),
        ("two btrees", "CREATE INDEX ON bench_write (parent); CREATE INDEX ON bench_write (child)"),
        ("cftrag, no index", "SELECT cft_attach('bench_write', tree => 'tree'); SELECT cft_build('bench_write')"),
        ("no index", "SELECT 1"),
    ];
    let (mut bulk, mut single) = (Vec::new(), Vec::new());
    let mut bulks = vec![Vec::new(); kinds.len()];
    let mut singles = vec![Times::default(); kinds.len()];
    for _ in 0..3 {
        for (k, (_, setup)) in kinds.iter().enumerate() {
            session.client.batch_execute(
                "DROP TABLE IF EXISTS bench_write; CREATE TABLE bench_write (tree text, parent text, child text)",
            )?;
            session.each(setup)?;
            bulks[k].push(session.batch(&format!("INSERT INTO bench_write {rows}"))?.0 * 1000.0);
            let one = session.client.prepare("INSERT INTO bench_write VALUES ('t', 'parent 1', $1)")?;
            let names: Vec<String> = (0..1000).map(|i| format!("single {i}")).collect();
            session.run(&one, &names, &mut singles[k])?;
        }
    }
    for (k, (name, _)) in kinds.iter().enumerate() {
        bulks[k].sort_by(f64::total_cmp);
        bulk.push(((*name).to_string(), vec![bulks[k][1], bulks[k][0], bulks[k][2]]));
        single.push(((*name).to_string(), vec![singles[k].median(), singles[k].mean(), singles[k].quantile(0.99)]));
    }
    session.client.batch_execute("DROP TABLE bench_write")?;
    Ok(vec![
        Table {
            title: "INSERT of 100,000 rows".into(),
            file: "insert-bulk".into(),
            unit: "milliseconds",
            columns: vec!["median of 3", "least", "most"],
            lines: bulk,
            note: "cftrag here: with the same two indexes, and the triggers.".into(),
        },
        Table {
            title: "INSERT of one row, committed".into(),
            file: "insert-single".into(),
            unit: "microseconds",
            columns: vec!["p50", "mean", "p99"],
            lines: single,
            note: "3 x 1000 statements, fsync off.".into(),
        },
    ])
}

/// Single rows into a table that grows from nothing: the longest of them is where something doubled.
pub fn growth(session: &mut Session, rows: usize) -> Result<Table, Error> {
    let budget = std::mem::replace(&mut session.budget, std::time::Duration::from_secs(3600));
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
        note: "The longest of the table without an index is what the machine itself does to a statement.".into(),
    })
}
