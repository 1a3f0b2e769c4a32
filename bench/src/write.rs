//! Making and keeping: builds, memory, inserts, commits, readers beside a writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use postgres::Error;

use crate::data::Size;
use crate::lookup;
use crate::measure::{Session, Times};
use crate::peers::{ALL, CFTRAG, PLAIN_INDEXES};
use crate::report::Table;

/// Sets every peer up, and tells what that took.
pub fn set_up(session: &mut Session, size: Size, edges: u64) -> Result<Vec<Table>, Error> {
    let mut lines = Vec::new();
    let used = "SELECT pg_database_size(current_database())::bigint";
    let vacuum = format!("VACUUM ANALYZE edges_{}", size.name);
    session.batch(&vacuum)?;
    let before: i64 = session.client.query_one(used, &[])?.get(0);
    let seconds = session.each(&CFTRAG.fill(PLAIN_INDEXES, &size, 0, 0))?;
    let after: i64 = session.client.query_one(used, &[])?.get(0);
    lines.push((
        "two btrees".to_string(),
        vec![seconds, (after - before) as f64 / 1e6, (after - before) as f64 / edges as f64],
    ));
    let mut before = after;
    for peer in ALL.iter().filter(|p| edges <= p.most_edges && !p.setup.is_empty()) {
        let seconds = session.each(&peer.fill(peer.setup, &size, 0, 0))?;
        let after: i64 = session.client.query_one(used, &[])?.get(0);
        let mut bytes = after - before;
        before = after;
        if peer.name == CFTRAG.name {
            let sql = "SELECT memory_bytes::bigint FROM pg_stat_cftrag WHERE edges = $1::text::regclass";
            bytes = session.client.query_one(sql, &[&format!("edges_{}", size.name)])?.get(0);
        }
        lines.push((peer.name.to_string(), vec![seconds, bytes as f64 / 1e6, bytes as f64 / edges as f64]));
    }
    lines.sort_by_key(|(name, _)| name != CFTRAG.name);
    Ok(vec![Table {
        title: format!("Making it, {} ({edges} edges)", size.name),
        file: format!("build-{}", size.name),
        unit: "seconds",
        columns: vec!["seconds", "MB", "bytes an edge"],
        lines,
        note: "MB: shared memory of the image; of the peers what the database grew by, table and indexes.".into(),
    }])
}

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

/// Two readers of one entity each, with and without a writer that commits all the time.
pub fn beside_writer(url: &str, size: Size, names: &[String]) -> Result<Table, Box<dyn std::error::Error>> {
    let sql = format!("SELECT * FROM cft_context($1::text, 3, 3, 'edges_{}')", size.name);
    let mut lines = Vec::new();
    for (label, writes) in [("readers alone", false), ("readers beside a writer", true)] {
        let stop = Arc::new(AtomicBool::new(false));
        let writer = writes.then(|| {
            let (stop, url, table) = (Arc::clone(&stop), url.to_string(), format!("edges_{}", size.name));
            std::thread::spawn(move || -> Result<u64, Error> {
                let mut session = Session::open(&url)?;
                let mut commits = 0;
                while !stop.load(Ordering::Relaxed) {
                    session.client.batch_execute(&format!(
                        "INSERT INTO {table} VALUES ('beside', 'beside 1', 'beside 2'); DELETE FROM {table} WHERE tree = 'beside' AND child = 'beside 2'"
                    ))?;
                    commits += 2;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(commits)
            })
        });
        let readers: Vec<_> = (0..2)
            .map(|r| {
                let (url, sql, names) = (url.to_string(), sql.clone(), names.to_vec());
                std::thread::spawn(move || -> Result<(u64, f64), Error> {
                    let mut session = Session::open(&url)?;
                    let statement = session.client.prepare(&sql)?;
                    let (begun, mut calls, mut longest) = (Instant::now(), 0, 0.0f64);
                    for name in names.iter().cycle().skip(r * 100) {
                        let start = Instant::now();
                        session.client.query(&statement, &[name])?;
                        longest = longest.max(start.elapsed().as_secs_f64() * 1000.0);
                        calls += 1;
                        if begun.elapsed() > Duration::from_secs(5) {
                            break;
                        }
                    }
                    Ok((calls, longest))
                })
            })
            .collect();
        let mut calls = 0.0;
        let mut longest = 0.0f64;
        for reader in readers {
            let (n, most) = reader.join().map_err(|_| "a reader panicked")??;
            calls += n as f64 / 5.0;
            longest = longest.max(most);
        }
        stop.store(true, Ordering::Relaxed);
        let commits = match writer {
            Some(writer) => writer.join().map_err(|_| "the writer panicked")?? as f64 / 5.0,
            None => 0.0,
        };
        lines.push((label.to_string(), vec![calls, longest, commits]));
    }
    Ok(Table {
        title: format!("Two readers, {}", size.name),
        file: format!("beside-{}", size.name),
        unit: "calls a second",
        columns: vec!["calls a second", "longest call, ms", "commits a second"],
        lines,
        note: "All of them on one CPU: the writer takes its share of it.".into(),
    })
}

/// Names for the readers.
pub fn names(size: Size, seed: u64) -> Vec<String> {
    lookup::uniform(size, seed, 10_000)
}
