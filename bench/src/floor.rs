//! The floor: the cost of a statement that sends an answer of the same size without looking anything up (bench/floor.c, if there is a
//! C compiler). It is not a peer, since it answers nothing; but an aim that it misses is out of reach on this machine.
//!
//! Before the timing a second connection asks cftrag how large each answer is (so that the timed one reads none of its memory), and the
//! library records it. While timed, the library hashes the first bytes of the parameter and looks up two numbers. Its rows come from a
//! set-returning function in the SELECT list that returns one integer column, one value per call, beside constants: the cheapest way that
//! PostgreSQL has (1,100 rows of five columns take 224 us; from a table of just these rows 227, from a tuplestore in FROM 272, tuple by
//! tuple in FROM 301).

use std::error::Error;

use postgres::types::{ToSql, Type};

use crate::measure::Session;

/// The contender's name in the tables of lookups and of recognition.
pub const NAME: &str = "floor: constant answer";
/// Its description in the report.
pub const TOLD: &str = "**floor: constant answer** is a baseline, not a peer: a statement that sends constant rows or a constant text, as large as cftrag's answer, through \
    PostgreSQL's executor and output functions. It reads only the first bytes of the question (bench/src/floor.rs).\n\n";
/// How many answers are sampled to choose the constant row and to check its sizes.
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

/// The floor's statements for rows and for text; None without a floor. `of` is the parameters' type, `rows` and `text` are cftrag's statements.
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
            return Err(format!("the floor gives {floor} rows instead of {ours}, or a text of another length").into());
        }
    }
    Ok(Some(statements))
}

/// A SELECT list like the answer's: the sampled row of median length, its first integer replaced by `floor_rows`, which makes the rows.
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
    let row = rows.get(rows.len() / 2).ok_or("no sampled answer has a row to copy")?;
    let mut counter = Some(format!("floor_rows($1::{of})"));
    let list: Vec<String> = (0..row.len())
        .map(|i| match row.columns()[i].type_() {
            &Type::TEXT => format!("'{}'::text", row.get::<_, &str>(i).replace('\'', "''")),
            _ => counter.take().unwrap_or_else(|| row.get::<_, i32>(i).to_string()),
        })
        .collect();
    Ok(format!("SELECT {}", list.join(", ")))
}
