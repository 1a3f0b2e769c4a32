//! The floor: what a statement takes that sends an answer of the same size without looking at anything (bench/floor.c, where there is a
//! C compiler). It answers no question and is compared with nobody; an aim that it misses is beyond everybody on this machine.
//!
//! Before the timing a second connection asks cftrag how large each answer is (so the timed one reads none of its memory), and the
//! library is told; while timed it hashes the first bytes of the parameter and finds two numbers. Its rows come from a set-returning function in
//! the select list that gives one column, value by value, beside constants: of PostgreSQL's ways the cheapest (1,100 rows of five columns
//! in 224 us; from a table of just these rows 227, from a tuplestore in FROM 272, tuple by tuple in FROM 301).

use std::error::Error;

use postgres::types::{ToSql, Type};

use crate::measure::Session;

/// The contender under each lookup, and under recognition.
pub const NAME: &str = "floor: constant answer";
/// What it is, for the report.
pub const TOLD: &str = "**floor: constant answer** is no peer: a statement that sends rows or a text of cftrag's answer's size, always the same ones, through \
    PostgreSQL's executor and output functions, without looking at anything but the question's first bytes (bench/src/floor.rs).\n\n";
/// Answers that give the constant row its lengths, and that its numbers are checked with.
const SAMPLES: usize = 20;

const FUNCTIONS: &str = "
CREATE OR REPLACE FUNCTION constant_rows(text, int) RETURNS TABLE(entity text, tree text, relation text, depth int, relative text, via text)
    LANGUAGE c STRICT STABLE AS '{library}';
CREATE OR REPLACE FUNCTION floor_note(text, int, int) RETURNS void LANGUAGE c STRICT AS '{library}';
CREATE OR REPLACE FUNCTION floor_note(text[], int, int) RETURNS void LANGUAGE c STRICT AS '{library}';
CREATE OR REPLACE FUNCTION floor_rows(text) RETURNS SETOF int LANGUAGE c STRICT STABLE AS '{library}';
CREATE OR REPLACE FUNCTION floor_rows(text[]) RETURNS SETOF int LANGUAGE c STRICT STABLE AS '{library}';
CREATE OR REPLACE FUNCTION floor_text(text) RETURNS text LANGUAGE c STRICT STABLE AS '{library}';
CREATE OR REPLACE FUNCTION floor_text(text[]) RETURNS text LANGUAGE c STRICT STABLE AS '{library}'";

pub fn is_there() -> bool {
    std::env::var_os("BENCH_FLOOR").is_some()
}

pub fn make(session: &mut Session) -> Result<(), postgres::Error> {
    let Ok(library) = std::env::var("BENCH_FLOOR") else { return Ok(()) };
    session.client.batch_execute(&FUNCTIONS.replace("{library}", &library))
}

/// The floor's statements for rows and for text, where there is a floor; `of` is the type of the parameters, `rows` and `text` what cftrag is asked.
pub fn statements<P: ToSql + Sync>(
    session: &mut Session,
    parameters: &[P],
    of: &str,
    rows: &str,
    text: &str,
) -> Result<Option<[String; 2]>, Box<dyn Error>> {
    if !is_there() {
        return Ok(None);
    }
    let mut other = Session::open(&session.url)?;
    let counted = other
        .client
        .prepare(&format!("SELECT (SELECT count(*) FROM ({rows}) AS a)::int, coalesce(octet_length(({text})), -1)"))?;
    let note = session.client.prepare(&format!("SELECT floor_note($1::{of}, $2, $3)"))?;
    for parameter in parameters {
        let size = other.client.query_one(&counted, &[parameter])?;
        session.client.execute(&note, &[parameter, &size.get::<_, i32>(0), &size.get::<_, i32>(1)])?;
    }
    let samples = &parameters[..parameters.len().min(SAMPLES)];
    let statements = [constant(&mut other, samples, of, rows)?, format!("SELECT floor_text($1::{of})")];
    for sample in samples {
        let ours = other.client.query(rows, &[sample])?.len();
        let floor = session.client.query(&statements[0], &[sample])?.len();
        let said: Option<String> = other.client.query_one(text, &[sample])?.get(0);
        let constant: Option<String> = session.client.query_one(&statements[1], &[sample])?.get(0);
        if floor != ours || constant.as_ref().map(String::len) != said.as_ref().map(String::len) {
            return Err(format!("the floor gives {floor} rows for {ours}, or a text of another length").into());
        }
    }
    Ok(Some(statements))
}

/// A select list like the answer's: the sampled row of median length, and as its first number what counts the rows.
fn constant<P: ToSql + Sync>(
    session: &mut Session,
    samples: &[P],
    of: &str,
    sql: &str,
) -> Result<String, Box<dyn Error>> {
    let answer = session.client.prepare(sql)?;
    let mut rows = Vec::new();
    for sample in samples {
        rows.extend(session.client.query(&answer, &[sample])?);
    }
    let texts = || answer.columns().iter().enumerate().filter(|(_, column)| *column.type_() == Type::TEXT);
    rows.sort_by_key(|row| texts().map(|(i, _)| row.get::<_, &str>(i).len()).sum::<usize>());
    let row = rows.get(rows.len() / 2).ok_or("no row that a constant one could be like")?;
    let mut counter = Some(format!("floor_rows($1::{of})"));
    let list: Vec<String> = (0..row.len())
        .map(|i| match row.columns()[i].type_() {
            &Type::TEXT => format!("'{}'::text", row.get::<_, &str>(i).replace('\'', "''")),
            _ => counter.take().unwrap_or_else(|| row.get::<_, i32>(i).to_string()),
        })
        .collect();
    Ok(format!("SELECT {}", list.join(", ")))
}
