//! Recognising the entities in a text of 200 words, beside what SQL and a client can do.
//!
//! All are given names and texts as folded words with a blank between them (cft_form, cft_words), so that the peers need not fold.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::data::{self, Forest, Random};
use crate::floor;
use crate::making;
use crate::measure::{Session, Times, interleaved};
use crate::report::Table;

/// Words of a text, and names among them.
const WORDS: usize = 200;
const NAMES: usize = 5;

/// Texts that are asked.
const TEXTS: usize = 500;

/// Texts of made names between words that are none.
fn made(forest: &Forest, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    (0..TEXTS)
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

/// Texts of so many words from a table of documents, tab separated with a header line: id, title, text. None if the file is not there.
fn read(session: &mut Session, file: &Path) -> Result<Option<Vec<String>>, postgres::Error> {
    let Ok(told) = std::fs::read_to_string(file) else { return Ok(None) };
    let documents: Vec<&str> = told.lines().skip(1).filter_map(|line| line.split('\t').nth(2)).collect();
    let fold = "SELECT convert_from(form, 'UTF8') FROM cftrag_internal.cft_words($1) ORDER BY place";
    let words: Vec<String> =
        session.client.query(fold, &[&documents.join(" ")])?.iter().map(|row| row.get(0)).collect();
    let texts: Vec<String> = words.chunks_exact(WORDS).map(|words| words.join(" ")).collect();
    Ok(Some(texts.into_iter().take(TEXTS).collect()))
}

/// Windows of as many words as the longest name, looked up in a btree: the best SQL whatever names begin with.
const WINDOWS: &str = "WITH w AS MATERIALIZED (SELECT string_to_array(rtrim($1), ' ') AS w)
SELECT name FROM names_{size} WHERE name = ANY (ARRAY(
    SELECT array_to_string(w[i:i + n], ' ') FROM w, generate_series(1, cardinality(w)) AS i, generate_series(0, {longest} - 1) AS n WHERE i + n <= cardinality(w)))";

/// Names by their first words, and a look for them in the text: less where few names begin with the same word.
const FIRST_WORDS: &str =
    "SELECT name FROM names_{size} WHERE split_part(name, ' ', 1) = ANY (string_to_array($1, ' '))
    AND strpos(' ' || $1 || ' ', ' ' || name || ' ') > 0";

/// What is compared.
const OURS: &str = "SELECT DISTINCT convert_from(cftrag_internal.cft_form(entity), 'UTF8') FROM cft_entities($1, 'edges_{size}', overlapping => true)";
/// As an application calls it.
const PLAIN: &str = "SELECT entity, start, length FROM cft_entities($1, 'edges_{size}')";
/// With names inside of others, as the peers find them.
const OVERLAPPING: &str = "SELECT entity, start, length FROM cft_entities($1, 'edges_{size}', overlapping => true)";
/// What the statement costs without the function.
pub const ALONE: &str = "the statement alone";
const NO_ROW: &str = "SELECT $1::text, 1, 2 WHERE false";
const ILIKE: &str = "SELECT name FROM names_{size} WHERE $1 ILIKE '%' || name || '%'";
const TRIGRAM: &str = "SELECT name FROM names_{size} WHERE name <% $1";

/// These windows in a Python dict, without a server; then only those of lengths that names have which begin with the word, by a second
/// dict: the least a client can do once it holds all names.
const DICT: &str = "
import sys, time
lines = sys.stdin.read().split('\\n')
cut, longest = lines.index(''), int(sys.argv[1])
names, texts, lengths = dict.fromkeys(lines[:cut], True), lines[cut + 1:], {}
for name in names:
    words = name.split()
    lengths.setdefault(words[0], set()).add(len(words))
def windows(words):
    return [w for n in range(1, longest + 1) for i in range(len(words) - n + 1) if (w := ' '.join(words[i:i + n])) in names]
def first_words(words):
    return [w for i, word in enumerate(words) for n in lengths.get(word, ()) if (w := ' '.join(words[i:i + n])) in names]
for way in windows, first_words:
    spent, answers = [], []
    for text in texts:
        start = time.perf_counter()
        found = way(text.split())
        spent.append(time.perf_counter() - start)
        answers.append('\\t'.join(sorted(set(found))))
    print(sorted(spent)[len(spent) // 2] * 1e6, *answers, sep='\\n')
";

struct Dict {
    median: f64,
    /// Of each text, sorted.
    found: Vec<Vec<String>>,
}

/// By windows and by first words.
fn dicts(names: &[String], longest: i32, texts: &[String]) -> Result<Vec<Dict>, Box<dyn Error>> {
    let mut python = Command::new("python3")
        .args(["-c", DICT, &longest.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut to) = python.stdin.take() {
        write!(to, "{}\n\n{}", names.join("\n"), texts.join("\n"))?;
    }
    let told = String::from_utf8(python.wait_with_output()?.stdout)?;
    let lines: Vec<&str> = told.lines().collect();
    if lines.len() != 2 * (1 + texts.len()) {
        return Err(format!("the dicts answer with {} lines for {} texts", lines.len(), texts.len()).into());
    }
    let cut = |line: &&str| line.split('\t').filter(|name| !name.is_empty()).map(str::to_string).collect();
    lines
        .chunks(1 + texts.len())
        .map(|lines| Ok(Dict { median: lines[0].parse()?, found: lines[1..].iter().map(cut).collect() }))
        .collect()
}

/// Names of a made forest in texts of its words.
pub fn of_made(session: &mut Session, forest: &Forest, seed: u64) -> Result<Table, Box<dyn Error>> {
    table(session, forest, &made(forest, seed))
}

/// Names of a hierarchy that was read, in its documents, if these are there.
pub fn of_documents(session: &mut Session, forest: &Forest, file: &Path) -> Result<Option<Table>, Box<dyn Error>> {
    let texts = read(session, file)?;
    texts.map(|texts| table(session, forest, &texts)).transpose()
}

fn table(session: &mut Session, forest: &Forest, texts: &[String]) -> Result<Table, Box<dyn Error>> {
    session.each(&
        "CREATE TABLE names_{size} (name text COLLATE \"C\");
         INSERT INTO names_{size} SELECT DISTINCT convert_from(cftrag_internal.cft_form(name), 'UTF8')
           FROM (SELECT parent FROM edges_{size} UNION SELECT child FROM edges_{size}) AS n(name) WHERE cftrag_internal.cft_form(name) IS NOT NULL;
         ALTER TABLE names_{size} ADD PRIMARY KEY (name); CREATE INDEX ON names_{size} (split_part(name, ' ', 1)) INCLUDE (name);
         CREATE EXTENSION IF NOT EXISTS pg_trgm; VACUUM ANALYZE names_{size}"
        .replace("{size}", forest.name),
    )?;
    making::warm(session, forest)?;
    let longest = format!("SELECT max(cardinality(string_to_array(name, ' '))) FROM names_{}", forest.name);
    let longest: i32 = session.client.query_one(&longest, &[])?.get(0);
    let fill = |sql: &str| sql.replace("{size}", forest.name).replace("{longest}", &longest.to_string());
    let sorted = |session: &mut Session, sql: &str, text: &str| -> Result<Vec<String>, postgres::Error> {
        let mut names: Vec<String> = session.client.query(&fill(sql), &[&text])?.iter().map(|row| row.get(0)).collect();
        names.sort();
        Ok(names)
    };
    let names: Vec<String> =
        session.client.query(&fill("SELECT name FROM names_{size}"), &[])?.iter().map(|row| row.get(0)).collect();
    let dicts = dicts(&names, longest, texts)?;
    for (i, text) in texts[..50].iter().enumerate() {
        let ours = sorted(session, OURS, text)?;
        let mut theirs = vec![sorted(session, WINDOWS, text)?, sorted(session, FIRST_WORDS, text)?];
        theirs.extend(dicts.iter().map(|dict| dict.found[i].clone()));
        if theirs.iter().any(|theirs| *theirs != ours) {
            return Err(format!(
                "cft_entities finds {ours:?}, windows, first words and the dicts {theirs:?} in: {text}"
            )
            .into());
        }
    }
    let mut all = vec![
        ("cftrag", fill(PLAIN)),
        ("cftrag, overlapping", fill(OVERLAPPING)),
        ("windows = ANY, btree", fill(WINDOWS)),
        ("first words = ANY, strpos", fill(FIRST_WORDS)),
        (ALONE, NO_ROW.into()),
    ];
    // It is asked for rows only.
    let floor = floor::statements(session, texts, "text", &fill(PLAIN), "SELECT $1::text")?;
    all.extend(floor.map(|[rows, _]| (floor::NAME, rows)));
    let statements = all.iter().map(|(_, sql)| session.client.prepare(sql)).collect::<Result<Vec<_>, _>>()?;
    interleaved(session, &statements, &texts[..50], 10)?;
    let times = interleaved(session, &statements, texts, 10)?;
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
    let names_of_dicts = ["dict in Python", "dict in Python, by first words"];
    let of_dicts = names_of_dicts.iter().zip(&dicts);
    lines.extend(of_dicts.map(|(name, dict)| ((*name).into(), vec![dict.median, f64::NAN, f64::NAN, f64::NAN])));
    lines.extend(["ILIKE", "pg_trgm"].iter().zip(&slow_times).map(|(name, times)| line(name, times)));
    Ok(Table {
        title: format!("Recognising, {WORDS} words, {} names", forest.entities()),
        file: format!("recognise-{}", forest.name),
        unit: "microseconds, p50",
        columns: vec!["p50", "mean", "backend CPU", "rows"],
        lines,
        note: format!(
            "Windows and the first dict look up all of 1 to {longest} words, as the longest name has, all but the first line find names inside of others as well. \
             The dicts are in the client's memory: no round trip is counted, and their names are not kept up to date."
        ),
    })
}
