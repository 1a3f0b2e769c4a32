//! Write costs of similar rows: DELETE and UPDATE of rows that share parent and child, or one entity, compared with distinct pairs.
//!
//! An image keeps lists of rows per entity. If each write searched such a list for its row, it would read all rows of the entity each time.

use postgres::Error;

use crate::measure::Session;
use crate::report::Table;

const ROWS: usize = 100_000;
/// An odd number, for the median.
const ROUNDS: usize = 3;

/// The values of a row: number, tree, parent, child.
const SHAPES: [(&str, &str); 5] = [
    ("distinct pairs", "i, 't' || i % 1000, 'p' || i, 'c' || i"),
    ("one pair in as many trees", "i, 't' || i, 'France', 'Paris'"),
    ("as many equal rows", "i, 't', 'France', 'Paris'"),
    ("everybody with everybody", "i, 't', 'p' || i % 316, 'c' || i / 316"),
    ("one parent of all", "i, 't', 'France', 'c' || i"),
];

const WRITES: [(&str, &str); 3] = [
    ("DELETE", "DELETE FROM bench_shape"),
    ("UPDATE", "UPDATE bench_shape SET n = -n"),
    (
        "DELETE in random order",
        "DELETE FROM bench_shape AS s USING (SELECT n FROM bench_shape ORDER BY hashint4(n)) AS r WHERE s.n = r.n",
    ),
];

/// The backend's CPU time of each write on each shape, and its ratio to distinct pairs.
pub fn shapes(session: &mut Session) -> Result<Table, Error> {
    let mut times = vec![vec![Vec::new(); WRITES.len()]; SHAPES.len()];
    for _ in 0..ROUNDS {
        for (times, (_, row)) in times.iter_mut().zip(SHAPES) {
            for (times, (_, write)) in times.iter_mut().zip(WRITES) {
                make(session, row)?;
                times.push(session.batch(write)?.1 * 1000.0);
            }
        }
    }
    session.client.batch_execute("DROP TABLE bench_shape")?;
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    let medians: Vec<Vec<f64>> = times.iter_mut().map(|of| of.iter_mut().map(median).collect()).collect();
    let line = |(of, (name, _)): (&Vec<f64>, (&str, &str))| {
        let beside = of.iter().zip(&medians[0]).map(|(time, distinct)| time / distinct);
        (name.to_string(), of.iter().copied().chain(beside).collect())
    };
    Ok(Table {
        title: format!("Writing {ROWS} rows that look alike"),
        file: "write-shapes".into(),
        unit: "milliseconds of CPU; ratio to distinct pairs",
        columns: vec!["DELETE", "UPDATE", "DELETE, random", "ratio", "ratio", "ratio"],
        lines: medians.iter().zip(SHAPES).map(line).collect(),
        note: format!("Medians of {ROUNDS} rounds. The aim is a ratio of at most 1.5."),
    })
}

fn make(session: &mut Session, row: &str) -> Result<(), Error> {
    session.client.batch_execute(&format!(
        "DROP TABLE IF EXISTS bench_shape; CREATE TABLE bench_shape (n int, tree text, parent text, child text);
         INSERT INTO bench_shape SELECT {row} FROM generate_series(1, {ROWS}) AS i"
    ))?;
    session.each("SELECT cft_attach('bench_shape', tree => 'tree'); SELECT cft_build('bench_shape')").map(|_| ())?;
    session.batch("VACUUM ANALYZE bench_shape").map(|_| ())
}
