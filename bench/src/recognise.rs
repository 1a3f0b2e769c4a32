//! Recognising the entities in a text of 200 words, compared with what SQL and a client can do.
//!
//! All contenders get names and texts as folded words separated by blanks (cft_form, cft_words), so that the peers need not fold.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::data::{self, Forest, Random};
use crate::floor;
use crate::making;
use crate::measure::{Session, Times, interleaved};
use crate::report::Table;

/// Words in a text, and roughly how many names among them.
const WORDS: usize = 200;
const NAMES: usize = 5;

/// The number of texts.
const TEXTS: usize = 500;

/// Texts of generated names among other words.
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

/// Texts of `WORDS` words from a tab-separated file of documents with a header line: id, title, text. None if the file cannot be read.
/// Words with an apostrophe, underscore or full stop are left out: cftrag reads them in two ways ("Kartagener's"), the peers in one.
fn read(session: &mut Session, file: &Path) -> Result<Option<Vec<String>>, postgres::Error> {
    let Ok(told) = std::fs::read_to_string(file) else { return Ok(None) };
    let documents: Vec<&str> = told.lines().skip(1).filter_map(|line| line.split('\t').nth(2)).collect();
    let fold = "SELECT convert_from(form, 'UTF8') FROM cftrag_internal.cft_words($1) WHERE convert_from(form, 'UTF8') ~ '^[[:alnum:]]+$' ORDER BY place";
    let words: Vec<String> =
        session.client.query(fold, &[&documents.join(" ")])?.iter().map(|row| row.get(0)).collect();
    let texts: Vec<String> = words.chunks_exact(WORDS).map(|words| words.join(" ")).collect();
    Ok(Some(texts.into_iter().take(TEXTS).collect()))
}

/// All windows of up to as many words as the longest name, looked up in a btree: the best SQL if many names share their first word.
const WINDOWS: &str = "WITH w AS MATERIALIZED (SELECT string_to_array(rtrim($1), ' ') AS w)
SELECT name FROM names_{size} WHERE name = ANY (ARRAY(
    SELECT array_to_string(w[i:i + n], ' ') FROM w, generate_series(1, cardinality(w)) AS i, generate_series(0, {longest} - 1) AS n WHERE i + n <= cardinality(w)))";

/// Looks names up by their first word, then searches the text for them: cheaper if few names share their first word.
const FIRST_WORDS: &str =
    "SELECT name FROM names_{size} WHERE split_part(name, ' ', 1) = ANY (string_to_array($1, ' '))
    AND strpos(' ' || $1 || ' ', ' ' || name || ' ') > 0";

/// cftrag's answer in the form that is compared with the peers'.
const OURS: &str = "SELECT DISTINCT convert_from(cftrag_internal.cft_form(entity), 'UTF8') FROM cft_entities($1, 'edges_{size}', match => 'exact', overlapping => true)";
/// As an application calls it.
const PLAIN: &str = "SELECT entity, start, length FROM cft_entities($1, 'edges_{size}', match => 'exact')";
/// With names inside other names, which the peers find too.
const OVERLAPPING: &str =
    "SELECT entity, start, length FROM cft_entities($1, 'edges_{size}', match => 'exact', overlapping => true)";
/// The contender that shows what the statement costs without the function.
pub const ALONE: &str = "the statement alone";
const NO_ROW: &str = "SELECT $1::text, 1, 2 WHERE false";
const ILIKE: &str = "SELECT name FROM names_{size} WHERE $1 ILIKE '%' || name || '%'";
const TRIGRAM: &str = "SELECT name FROM names_{size} WHERE name <% $1";

/// Looks all windows up in a Python dict, without a server; then only windows as long as some name with the same first word, by a second
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
    /// The names found in each text, sorted.
    found: Vec<Vec<String>>,
}

/// Runs both dicts: by windows and by first words.
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

/// Recognises a generated forest's names in texts of its words.
pub fn of_made(session: &mut Session, forest: &Forest, seed: u64) -> Result<Table, Box<dyn Error>> {
    table(session, forest, &made(forest, seed))
}

/// Recognises a real hierarchy's names in its documents, if there are any.
pub fn of_documents(session: &mut Session, forest: &Forest, file: &Path) -> Result<Option<Table>, Box<dyn Error>> {
    let texts = read(session, file)?;
    texts.map(|texts| table(session, forest, &texts)).transpose()
}

fn table(session: &mut Session, forest: &Forest, texts: &[String]) -> Result<Table, Box<dyn Error>> {
    // The peers have no rules of spelling. So they get no names that folded words do not spell, as "1-1", which cftrag does not find in "1 1".
    session.each(&
        "CREATE TABLE names_{size} (name text COLLATE \"C\");
         INSERT INTO names_{size} SELECT DISTINCT f.form
           FROM (SELECT parent FROM edges_{size} UNION SELECT child FROM edges_{size}) AS n(name), convert_from(cftrag_internal.cft_form(n.name), 'UTF8') AS f(form)
          WHERE cftrag_internal.cft_spelling(n.name, f.form, 1, length(f.form)) IS NOT NULL;
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
    // Only the floor's rows are timed.
    let floor = floor::statements(session, texts, "text", &fill(PLAIN), "SELECT $1::text")?;
    all.extend(floor.map(|[rows, _]| (floor::NAME, rows)));
    let statements = all.iter().map(|(_, sql)| session.client.prepare(sql)).collect::<Result<Vec<_>, _>>()?;
    interleaved(session, &statements, &texts[..50], 10)?;
    let times = interleaved(session, &statements, texts, 10)?;
    // With many names a call takes seconds, so one text must do. pg_trgm, 20 s for 100,000 names and minutes for a million, is left out.
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
            "Windows and the first dict look up all runs of 1 to {longest} words, the length of the longest name; all contenders but the first also find names inside other names. \
             The dicts are in the client's memory: no round trip is counted, and nothing keeps their names up to date."
        ),
    })
}
