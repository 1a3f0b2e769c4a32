//! Reading: one entity, many entities, hot entities, rows and text.

use postgres::Error;

use crate::data::{self, Random, Size};
use crate::measure::{Session, Times, interleaved};
use crate::peers::{ALL, Peer};
use crate::report::Table;

const UP: i32 = 3;
const DOWN: i32 = 3;
/// A statement that only looks a name up in a small table: the round trip, the protocol and the executor.
const NOTHING: &str = "SELECT name FROM nothing WHERE name = $1";

/// The statement for one name instead of an array of names.
fn for_one(sql: &str) -> String {
    sql.replace("= ANY ($1::text[])", "= $1").replace("$1::text[]", "$1::text")
}

pub fn uniform(size: Size, seed: u64, n: usize) -> Vec<String> {
    let mut random = Random(seed);
    (0..n).map(|_| data::entity(random.below(size.entities))).collect()
}

pub fn zipf(size: Size, seed: u64, n: usize) -> Vec<String> {
    let mut random = Random(seed);
    (0..n).map(|_| data::entity(random.zipf(size.entities))).collect()
}

fn peers(edges: u64) -> impl Iterator<Item = &'static &'static Peer> {
    ALL.iter().filter(move |peer| edges <= peer.most_edges)
}

/// Every peer gives the rows that cftrag gives. The number of rows; an error names the peer.
pub fn compare(
    session: &mut Session,
    size: Size,
    edges: u64,
    names: &[String],
) -> Result<usize, Box<dyn std::error::Error>> {
    let mut wanted: Option<Vec<String>> = None;
    for peer in peers(edges) {
        let sql = format!(
            "SELECT a::text FROM ({}) AS a(entity, tree, relation, depth, relative) ORDER BY a::text COLLATE \"C\"",
            peer.fill(peer.rows, &size, UP, DOWN)
        );
        let rows: Vec<String> = session.client.query(&sql, &[&names])?.iter().map(|row| row.get(0)).collect();
        match &wanted {
            None => wanted = Some(rows),
            Some(wanted) if *wanted != rows => {
                let differs = wanted.iter().zip(&rows).find(|(a, b)| a != b);
                return Err(format!(
                    "{} answers otherwise: {} rows for {}, {differs:?}",
                    peer.name,
                    rows.len(),
                    wanted.len()
                )
                .into());
            }
            Some(_) => {}
        }
    }
    Ok(wanted.map_or(0, |rows| rows.len()))
}

fn line(name: &str, times: &Times) -> (String, Vec<f64>) {
    (name.to_string(), vec![times.median(), times.mean(), times.quantile(0.25), times.quantile(0.75), times.cpu])
}

const COLUMNS: [&str; 5] = ["p50", "mean", "p25", "p75", "backend CPU"];

/// One name a statement, prepared: rows, and one text.
pub fn one(session: &mut Session, size: Size, edges: u64, names: &[String], kind: &str) -> Result<Vec<Table>, Error> {
    let mut tables = Vec::new();
    for (what, statement) in [("rows", (|p: &Peer| p.rows) as fn(&Peer) -> &'static str), ("text", |p: &Peer| p.text)] {
        let mut labels = vec!["nothing".to_string()];
        let mut statements = vec![session.client.prepare(NOTHING)?];
        for peer in peers(edges).filter(|p| !statement(p).is_empty()) {
            labels.push(peer.name.to_string());
            statements.push(session.client.prepare(&for_one(&peer.fill(statement(peer), &size, UP, DOWN)))?);
        }
        // Warm: catalogs, plans, pages.
        interleaved(session, &statements, &names[..names.len().min(200)], 20)?;
        let times = interleaved(session, &statements, names, 20)?;
        let rows = times.get(1).map_or(0.0, |t| t.rows as f64 / t.wall.len() as f64);
        tables.push(Table {
            title: format!("One entity, {kind}, {}: {what}", size.name),
            file: format!("one-{kind}-{}-{what}", size.name),
            unit: "microseconds, p50",
            columns: COLUMNS.to_vec(),
            lines: labels.iter().zip(&times).map(|(label, times)| line(label, times)).collect(),
            note: if what == "rows" {
                format!("{} names, {rows:.1} rows on average, microseconds.", names.len())
            } else {
                String::new()
            },
        });
    }
    Ok(tables)
}

/// A hundred names a statement.
pub fn hundred(
    session: &mut Session,
    size: Size,
    edges: u64,
    names: &[String],
    kind: &str,
) -> Result<Vec<Table>, Error> {
    let batches: Vec<Vec<String>> = names.chunks_exact(100).map(<[String]>::to_vec).collect();
    let mut tables = Vec::new();
    for (what, statement) in [("rows", (|p: &Peer| p.rows) as fn(&Peer) -> &'static str), ("text", |p: &Peer| p.text)] {
        let (mut labels, mut statements) = (Vec::new(), Vec::new());
        for peer in peers(edges).filter(|p| !statement(p).is_empty()) {
            labels.push(peer.name);
            statements.push(session.client.prepare(&peer.fill(statement(peer), &size, UP, DOWN))?);
        }
        interleaved(session, &statements, &batches[..2.min(batches.len())], 1)?;
        let times = interleaved(session, &statements, &batches, 1)?;
        tables.push(Table {
            title: format!("100 entities in one statement, {kind}, {}: {what}", size.name),
            file: format!("hundred-{kind}-{}-{what}", size.name),
            unit: "microseconds, p50",
            columns: COLUMNS.to_vec(),
            lines: labels.iter().zip(&times).map(|(label, times)| line(label, times)).collect(),
            note: String::new(),
        });
    }
    Ok(tables)
}

/// Backend CPU of a call inside one statement, beside a set-returning function that does nothing.
pub fn lateral(session: &mut Session, size: Size, names: &[String]) -> Result<Table, Error> {
    let calls = names.len() as f64;
    session.client.batch_execute("CREATE TEMP TABLE IF NOT EXISTS asked (name text); TRUNCATE asked")?;
    session.client.execute("INSERT INTO asked SELECT unnest($1::text[])", &[&names])?;
    let statements = [
        ("cftrag", format!("SELECT count(*) FROM asked, LATERAL cft_context(name, {UP}, 1, 'edges_{}')", size.name)),
        (
            "generate_series, 10 rows",
            "SELECT count(*) FROM asked, LATERAL generate_series(1, 10 + (name = '')::int)".to_string(),
        ),
        ("CTE, covering", {
            let cte = for_one(&crate::peers::COVERING.fill(crate::peers::COVERING.rows, &size, UP, 1))
                .replace("$1", "asked.name");
            format!("SELECT count(*) FROM asked, LATERAL ({cte}) AS answer")
        }),
    ];
    let mut lines = Vec::new();
    for (name, sql) in &statements {
        let rows: i64 = session.client.query_one(sql.as_str(), &[])?.get(0);
        let mut spent = Vec::new();
        for _ in 0..5 {
            spent.push(session.batch(sql)?.1 * 1e6 / calls);
        }
        spent.sort_by(f64::total_cmp);
        lines.push(((*name).to_string(), vec![spent[2], spent[0], spent[4], rows as f64 / calls]));
    }
    Ok(Table {
        title: format!("Calls in LATERAL, {}", size.name),
        file: format!("lateral-{}", size.name),
        unit: "microseconds of backend CPU a call",
        columns: vec!["median of 5", "least", "most", "rows a call"],
        lines,
        note: format!("{} calls in one statement; 3 levels up, 1 down.", names.len()),
    })
}
