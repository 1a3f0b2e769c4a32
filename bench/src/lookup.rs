//! Read costs: one entity, many entities, hot entities, rows and text.

use std::error::Error;

use crate::data::{Forest, Random};
use crate::floor;
use crate::measure::{Session, Times, interleaved, order, quantile};
use crate::peers::{ALL, CFTRAG, Peer, fill, for_one};
use crate::report::Table;

pub const UP: i32 = 3;
pub const DOWN: i32 = 3;
/// Looks a name up in a small table: the cost of the round trip, the protocol and the executor.
const NAME_LOOKUP: &str = "SELECT name FROM nothing WHERE name = $1";
/// The name of that contender.
pub const NOTHING: &str = "name lookup";
/// The rows of cft_context joined into one text, as the peers' rows are; cftrag's own text is sentences.
const GLUED: &str = "SELECT string_agg(relative, ', ') FROM cft_context($1::text[], {up}, {down}, 'edges_{size}')";

pub fn uniform(forest: &Forest, seed: u64, n: usize) -> Vec<String> {
    let mut random = Random(seed);
    (0..n).map(|_| forest.entity(random.below(forest.entities()))).collect()
}

pub fn zipf(forest: &Forest, seed: u64, n: usize) -> Vec<String> {
    let mut random = Random(seed);
    (0..n).map(|_| forest.entity(random.zipf(forest.entities()))).collect()
}

fn peers(forest: &Forest) -> impl Iterator<Item = &'static Peer> {
    ALL.into_iter().filter(move |peer| peer.takes(forest))
}

/// Checks that every peer returns cftrag's rows, and that cftrag's text names each relative; returns the number of rows.
pub fn compare(session: &mut Session, forest: &Forest, names: &[String]) -> Result<usize, Box<dyn Error>> {
    let mut wanted: Option<Vec<String>> = None;
    for peer in peers(forest) {
        let sql = format!(
            "SELECT a::text FROM ({}) AS a(entity, tree, relation, depth, relative) ORDER BY a::text COLLATE \"C\"",
            peer.rows(forest, UP, DOWN)
        );
        let rows: Vec<String> = session.client.query(&sql, &[&names])?.iter().map(|row| row.get(0)).collect();
        match &wanted {
            None => wanted = Some(rows),
            Some(wanted) if *wanted != rows => {
                let differs = wanted.iter().zip(&rows).find(|(a, b)| a != b);
                let (theirs, ours) = (rows.len(), wanted.len());
                return Err(format!("{} differs: {theirs} rows instead of {ours}, first {differs:?}", peer.name).into());
            }
            Some(_) => {}
        }
    }
    let unnamed = format!(
        "SELECT relative FROM cft_context($1::text[], {UP}, {DOWN}, 'edges_{0}') WHERE strpos(cft_context_text(entity, {UP}, {DOWN}, 'edges_{0}'), relative) = 0",
        forest.name
    );
    if let Some(row) = session.client.query_opt(&format!("{unnamed} LIMIT 1"), &[&&names[..20]])? {
        return Err(format!("the text does not name {}", row.get::<_, String>(0)).into());
    }
    Ok(wanted.map_or(0, |rows| rows.len()))
}

fn line(name: &str, t: &Times) -> (String, Vec<f64>) {
    let runs = t.wall.len() as f64;
    (name.to_string(), vec![t.median(), t.median_of_first(), t.mean(), t.quantile(0.25), t.quantile(0.75), t.cpu, runs])
}

/// Column: p50 of the first statement of each turn, which ran right after another contender's.
pub const FIRST: &str = "first of a turn";
const COLUMNS: [&str; 7] = ["p50", FIRST, "mean", "p25", "p75", "backend CPU", "runs"];

/// The contenders' statements for rows, or for one text; the floor's, if there is one, comes first.
fn statements(forest: &Forest, text: bool, floor: Option<&[String; 2]>) -> Vec<(&'static str, String)> {
    let mut all: Vec<_> = floor.map(|floor| (floor::NAME, floor[usize::from(text)].clone())).into_iter().collect();
    for peer in peers(forest) {
        all.push((peer.name, if text { peer.text(forest, UP, DOWN) } else { peer.rows(forest, UP, DOWN) }));
        if text && peer.name == CFTRAG.name {
            all.push(("cftrag, rows joined", fill(GLUED, forest, UP, DOWN)));
        }
    }
    all
}

/// The average number of rows in cftrag's answers.
fn rows(all: &[(&str, String)], times: &[Times]) -> f64 {
    let ours = all.iter().zip(times).find(|((name, _), _)| *name == CFTRAG.name);
    ours.map_or(0.0, |(_, t)| t.rows as f64 / t.wall.len() as f64)
}

/// One name per prepared statement: rows, and one text.
pub fn one(session: &mut Session, forest: &Forest, names: &[String], kind: &str) -> Result<Vec<Table>, Box<dyn Error>> {
    let [ours, said] = [CFTRAG.rows(forest, UP, DOWN), CFTRAG.text(forest, UP, DOWN)].map(|sql| for_one(&sql));
    let floor = floor::statements(session, names, "text", &ours, &said)?;
    let mut tables = Vec::new();
    for (what, text) in [("rows", false), ("text", true)] {
        let mut all = vec![(NOTHING, NAME_LOOKUP.to_string())];
        all.extend(statements(forest, text, floor.as_ref()));
        let prepared =
            all.iter().map(|(_, sql)| session.client.prepare(&for_one(sql))).collect::<Result<Vec<_>, _>>()?;
        // Warm-up: catalogs, plans, pages.
        interleaved(session, &prepared, &names[..names.len().min(100)], 20)?;
        let times = interleaved(session, &prepared, names, 20)?;
        tables.push(Table {
            title: format!("One entity, {kind}, {}: {what}", forest.name),
            file: format!("one-{kind}-{}-{what}", forest.name),
            unit: "microseconds, p50",
            columns: COLUMNS.to_vec(),
            lines: all.iter().zip(&times).map(|((label, _), times)| line(label, times)).collect(),
            note: if text { String::new() } else { format!("{:.1} rows on average.", rows(&all, &times)) },
        });
    }
    Ok(tables)
}

/// How many statements of a hundred names a contender runs per turn.
const TURN: usize = 10;

/// A hundred names per statement.
pub fn hundred(
    session: &mut Session,
    forest: &Forest,
    names: &[String],
    kind: &str,
) -> Result<Vec<Table>, Box<dyn Error>> {
    let batches: Vec<Vec<String>> = names.chunks_exact(100).map(<[String]>::to_vec).collect();
    let (ours, said) = (CFTRAG.rows(forest, UP, DOWN), CFTRAG.text(forest, UP, DOWN));
    let floor = floor::statements(session, &batches, "text[]", &ours, &said)?;
    let mut tables = Vec::new();
    for (what, text) in [("rows", false), ("text", true)] {
        let all = statements(forest, text, floor.as_ref());
        let prepared = all.iter().map(|(_, sql)| session.client.prepare(sql)).collect::<Result<Vec<_>, _>>()?;
        interleaved(session, &prepared, &batches[..2.min(batches.len())], 1)?;
        let times = interleaved(session, &prepared, &batches, TURN)?;
        tables.push(Table {
            title: format!("100 entities in one statement, {kind}, {}: {what}", forest.name),
            file: format!("hundred-{kind}-{}-{what}", forest.name),
            unit: "microseconds, p50",
            columns: COLUMNS.to_vec(),
            lines: all.iter().zip(&times).map(|((label, _), times)| line(label, times)).collect(),
            note: if text {
                String::new()
            } else {
                format!("{:.0} rows on average; turns of {TURN} statements, each with new names.", rows(&all, &times))
            },
        });
    }
    Ok(tables)
}

/// Backend CPU per call inside one statement, compared with a set-returning function that returns as many constant rows (bench/floor.c, if
/// there is a C compiler).
pub fn lateral(session: &mut Session, forest: &Forest, names: &[String]) -> Result<Table, postgres::Error> {
    let calls = names.len() as f64;
    session.client.batch_execute("CREATE TEMP TABLE IF NOT EXISTS asked (name text); TRUNCATE asked")?;
    session.client.execute("INSERT INTO asked SELECT unnest($1::text[])", &[&names])?;
    session.client.batch_execute("ANALYZE asked")?;
    let ours = format!("SELECT count(*) FROM asked, LATERAL cft_context(name, {UP}, {DOWN}, 'edges_{}')", forest.name);
    let rows: i64 = session.client.query_one(ours.as_str(), &[])?.get(0);
    let mean = (rows as f64 / calls).round() as i32;
    let cte = for_one(&crate::peers::COVERING.rows(forest, UP, DOWN)).replace("$1", "asked.name");
    let mut statements = vec![("cftrag".to_string(), ours)];
    if floor::is_there() {
        statements.push((
            "constant rows in C".into(),
            format!("SELECT count(*) FROM asked, LATERAL constant_rows(name, {mean})"),
        ));
    }
    statements.push((
        "generate_series".into(),
        format!("SELECT count(*) FROM asked, LATERAL generate_series(1, {mean} + (name = '')::int)"),
    ));
    statements.push(("CTE, covering".into(), format!("SELECT count(*) FROM asked, LATERAL ({cte}) AS answer")));
    let mut rows = Vec::new();
    for (_, sql) in &statements {
        rows.push(session.client.query_one(sql.as_str(), &[])?.get::<_, i64>(0) as f64 / calls);
    }
    // Twice in each turn: right after another contender, then with warm caches.
    let mut spent = vec![[Vec::new(), Vec::new()]; statements.len()];
    for (contender, _) in order(5, statements.len()).into_iter().flatten() {
        for spent in &mut spent[contender] {
            spent.push(session.batch(&statements[contender].1)?.1 * 1e6 / calls);
        }
    }
    let mut lines = Vec::new();
    for (((name, _), [first, again]), rows) in statements.into_iter().zip(spent).zip(rows) {
        let [median, least, most] = [0.5, 0.0, 1.0].map(|q| quantile(&again, q));
        lines.push((name, vec![median, least, most, quantile(&first, 0.5), rows]));
    }
    Ok(Table {
        title: format!("Calls in LATERAL, {}", forest.name),
        file: format!("lateral-{}", forest.name),
        unit: "microseconds of backend CPU a call",
        columns: vec!["median of 5", "min", "max", FIRST, "rows a call"],
        lines,
        note: format!(
            "{} calls in one statement, run twice in each turn; {UP} levels up, {DOWN} down. Median, min and max are of the second run.",
            names.len()
        ),
    })
}
