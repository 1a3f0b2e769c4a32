//! Recognising the entities in a text of 200 words, beside what SQL and a client can do.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::data::{self, Forest, Random};
use crate::floor;
use crate::measure::{Session, Times, interleaved};
use crate::report::Table;

/// Words of a text, and names among them.
const WORDS: usize = 200;
const NAMES: usize = 5;

/// Texts of so many words: names of entities between words that are none.
pub fn texts(forest: &Forest, seed: u64, n: usize) -> Vec<String> {
    let mut random = Random(seed);
    (0..n)
        .map(|_| {
            let mut text = String::new();
            let mut words = 0;
            while words < WORDS {
                if random.below((WORDS / NAMES) as u64) == 0 {
                    let name = forest.entity(random.below(forest.entities()));
                    words += name.split(' ').count();
                    text += &name;
                } else {
                    data::word(random.below(20_000), &mut text);
                    words += 1;
                }
                text.push(' ');
            }
            text
        })
        .collect()
}

/// Windows of one to three words (no name has more), looked up in a btree: the best SQL.
const WINDOWS: &str = "WITH w AS MATERIALIZED (SELECT string_to_array(rtrim($1), ' ') AS w)
SELECT name FROM names_{size} WHERE name = ANY (ARRAY(
    SELECT array_to_string(w[i:i + n], ' ') FROM w, generate_series(1, cardinality(w)) AS i, generate_series(0, 2) AS n WHERE i + n <= cardinality(w)))";

const OURS: &str = "SELECT DISTINCT entity FROM cft_entities($1, 'edges_{size}', overlapping => true)";
/// As an application calls it.
const PLAIN: &str = "SELECT entity, start, length FROM cft_entities($1, 'edges_{size}')";
/// What the statement costs without the function.
pub const ALONE: &str = "the statement alone";
const NO_ROW: &str = "SELECT $1::text, 1, 2 WHERE false";
const ILIKE: &str = "SELECT name FROM names_{size} WHERE $1 ILIKE '%' || name || '%'";
const TRIGRAM: &str = "SELECT name FROM names_{size} WHERE name <% $1";

/// The same windows in a Python dict, without a server: the least a client can do once it holds all names.
const DICT: &str = "
import sys, time
lines = sys.stdin.read().split('\\n')
cut = lines.index('')
names, texts = dict.fromkeys(lines[:cut], True), lines[cut + 1:]
spent, answers = [], []
for text in texts:
    start = time.perf_counter()
    words = text.split()
    found = [w for n in (1, 2, 3) for i in range(len(words) - n + 1) if (w := ' '.join(words[i:i + n])) in names]
    spent.append(time.perf_counter() - start)
    answers.append(','.join(sorted(set(found))))
print(sorted(spent)[len(spent) // 2] * 1e6, *answers, sep='\\n')
";

struct Dict {
    median: f64,
    /// Of each text, sorted.
    found: Vec<Vec<String>>,
}

fn dict(names: &[String], texts: &[String]) -> Result<Dict, Box<dyn std::error::Error>> {
    let mut python = Command::new("python3").args(["-c", DICT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut to) = python.stdin.take() {
        write!(to, "{}\n\n{}", names.join("\n"), texts.join("\n"))?;
    }
    let told = String::from_utf8(python.wait_with_output()?.stdout)?;
    let (median, answers) = told.split_once('\n').ok_or("the dict said nothing")?;
    let cut = |line: &str| line.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect();
    let found: Vec<_> = answers.lines().map(cut).collect();
    if found.len() != texts.len() {
        return Err(format!("the dict answers {} of {} texts", found.len(), texts.len()).into());
    }
    Ok(Dict { median: median.parse()?, found })
}

pub fn table(session: &mut Session, forest: &Forest, seed: u64) -> Result<Table, Box<dyn std::error::Error>> {
    let fill = |sql: &str| sql.replace("{size}", forest.name);
    session.each(&fill(
        "CREATE TABLE names_{size} (name text COLLATE \"C\");
         INSERT INTO names_{size} SELECT parent FROM edges_{size} UNION SELECT child FROM edges_{size};
         ALTER TABLE names_{size} ADD PRIMARY KEY (name); CREATE EXTENSION IF NOT EXISTS pg_trgm; VACUUM ANALYZE names_{size}",
    ))?;
    let texts = texts(forest, seed, 500);
    let sorted = |session: &mut Session, sql: &str, text: &str| -> Result<Vec<String>, postgres::Error> {
        let mut names: Vec<String> = session.client.query(&fill(sql), &[&text])?.iter().map(|row| row.get(0)).collect();
        names.sort();
        Ok(names)
    };
    let names: Vec<String> =
        session.client.query(&fill("SELECT name FROM names_{size}"), &[])?.iter().map(|row| row.get(0)).collect();
    let client = dict(&names, &texts)?;
    for (text, dicts) in texts[..50].iter().zip(&client.found) {
        let (ours, theirs) = (sorted(session, OURS, text)?, sorted(session, WINDOWS, text)?);
        if ours != theirs || ours != *dicts {
            return Err(
                format!("cft_entities finds {ours:?}, the windows {theirs:?}, the dict {dicts:?} in: {text}").into()
            );
        }
    }
    let mut all = vec![("cftrag", fill(PLAIN)), ("windows = ANY, btree", fill(WINDOWS)), (ALONE, NO_ROW.into())];
    // It is asked for rows only.
    let floor = floor::statements(session, &texts, "text", &fill(PLAIN), "SELECT $1::text")?;
    all.extend(floor.map(|[rows, _]| (floor::NAME, rows)));
    let statements = all.iter().map(|(_, sql)| session.client.prepare(sql)).collect::<Result<Vec<_>, _>>()?;
    interleaved(session, &statements, &texts[..50], 10)?;
    let times = interleaved(session, &statements, &texts, 10)?;
    // Seconds each for many names: once then. pg_trgm takes twenty for 100,000, and minutes for a million.
    let few = forest.entities() <= 50_000;
    let mut slow = vec![session.client.prepare(&fill(ILIKE))?];
    if few {
        slow.push(session.client.prepare(&fill(TRIGRAM))?);
    }
    let slow_times = interleaved(session, &slow, &texts[..if few { 3 } else { 1 }], 1)?;
    let line = |name: &str, t: &Times| {
        (name.to_string(), vec![t.median(), t.mean(), t.cpu, t.rows as f64 / t.wall.len() as f64])
    };
    let mut lines: Vec<_> = all.iter().zip(&times).map(|((name, _), times)| line(name, times)).collect();
    lines.insert(2, ("dict in Python".into(), vec![client.median, f64::NAN, f64::NAN, f64::NAN]));
    lines.extend(["ILIKE", "pg_trgm"].iter().zip(&slow_times).map(|(name, times)| line(name, times)));
    Ok(Table {
        title: format!("Recognising, {WORDS} words, {} names", forest.entities()),
        file: format!("recognise-{}", forest.name),
        unit: "microseconds, p50",
        columns: vec!["p50", "mean", "backend CPU", "rows"],
        lines,
        note: "The dict is in the client's memory: no round trip is counted, and its names are not kept up to date."
            .into(),
    })
}
