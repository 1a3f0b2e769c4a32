//! Measures cftrag against its peers, on the same rows, in one run: see bench/run.
//!
//!     cftrag-bench URL OUTDIR NAME [--full] [--seed N] [--only small,medium,large,huge,10k,doid,dart,writes,shapes,beside]
//!
//! A sample of the answers is compared before anything is timed. Promises: exit status 0 only if every peer agreed and the report was written.

mod beside;
mod client;
mod data;
mod floor;
mod insert;
mod lookup;
mod making;
mod measure;
mod peers;
mod recognise;
mod report;
mod shapes;
mod targets;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data::{Forest, HUGE, LARGE, MEDIUM, SMALL, Shape, Size, TEN_THOUSAND};
use measure::Session;
use report::Table;

struct Options {
    url: String,
    dir: String,
    name: String,
    seed: u64,
    full: bool,
    only: Option<Vec<String>>,
}

impl Options {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut args = std::env::args().skip(1);
        let mut next = |what: &str| args.next().ok_or(format!("missing: {what}"));
        let (url, dir, name) = (next("URL")?, next("OUTDIR")?, next("NAME")?);
        let mut options = Self { url, dir, name, seed: 20_261_120, full: false, only: None };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--full" => options.full = true,
                "--seed" => options.seed = args.next().ok_or("missing: seed")?.parse()?,
                "--only" => {
                    options.only = Some(args.next().ok_or("missing: parts")?.split(',').map(String::from).collect())
                }
                other => return Err(format!("unknown option {other}").into()),
            }
        }
        Ok(options)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == part))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let mut session = Session::open(&options.url)?;
    if options.full {
        session.budget = Duration::from_secs(4);
    }
    session.client.batch_execute(
        "CREATE EXTENSION IF NOT EXISTS cftrag CASCADE; CREATE EXTENSION IF NOT EXISTS pg_prewarm; DROP TABLE IF EXISTS nothing; CREATE TABLE nothing (name text PRIMARY KEY);
         INSERT INTO nothing SELECT 'name ' || i FROM generate_series(1, 1000) AS i",
    )?;
    session.batch("VACUUM ANALYZE nothing")?;
    floor::make(&mut session)?;
    let mut tables = Vec::new();
    for size in [SMALL, MEDIUM, LARGE, HUGE] {
        if options.wants(size.name) && (options.full || size.name != HUGE.name) {
            eprintln!("{}: loading", size.name);
            let forest = data::load(&mut session.client, size, options.seed)?;
            of_forest(&mut session, &options, &forest, &mut tables)?;
        }
    }
    if options.wants(TEN_THOUSAND.name) {
        eprintln!("10k: recognition");
        let forest = data::load(&mut session.client, TEN_THOUSAND, options.seed)?;
        session.each(&peers::fill(peers::CFTRAG.setup, &forest, 0, 0))?;
        tables.push(recognise::of_made(&mut session, &forest, options.seed)?);
    }
    for (forest, documents) in real(&mut session, &options)? {
        of_forest(&mut session, &options, &forest, &mut tables)?;
        tables.extend(recognise::of_documents(&mut session, &forest, &documents)?);
    }
    if options.wants("writes") {
        eprintln!("writes");
        tables.extend(insert::inserts(&mut session)?);
        // From here on nothing is pinned: the launcher allocates memory ahead of a writer, and must not take the writer's CPU for it.
        beside::unpin(&session);
        tables.push(insert::growth(&mut session, if options.full { 1_000_000 } else { 200_000 })?);
    }
    if options.wants("shapes") {
        eprintln!("writes of similar rows");
        tables.push(shapes::shapes(&mut session)?);
    }
    if options.wants("beside") {
        eprintln!("readers beside writers");
        let forest = data::load(&mut session.client, Size { name: "beside", ..MEDIUM }, options.seed)?;
        session.each(&peers::fill(peers::PLAIN_INDEXES, &forest, 0, 0))?;
        session.each(&peers::fill(peers::CFTRAG.setup, &forest, 0, 0))?;
        tables.push(beside::writers(&mut session, &options.url, &forest)?);
        tables.push(beside::copy(&mut session, &options.url, 1_000_000)?);
    }
    let head = head(&mut session, &options)? + &targets::markdown(&tables);
    report::write(Path::new(&options.dir), &options.name, &head, &tables)?;
    println!("{}/{}.md", options.dir, options.name);
    Ok(())
}

/// The real hierarchies found in the folder CFTRAG_DATA, each with the path where its documents would be.
fn real(session: &mut Session, options: &Options) -> Result<Vec<(Forest, PathBuf)>, postgres::Error> {
    let Ok(folder) = std::env::var("CFTRAG_DATA") else { return Ok(Vec::new()) };
    let mut forests = Vec::new();
    for (name, file, columns, shape) in
        [("doid", "doid_edges.tsv", (1, 3), Shape::Dag), ("dart", "dart_edges.tsv", (0, 1), Shape::Cyclic)]
    {
        if options.wants(name) {
            let at = |file: String| Path::new(&folder).join(file);
            let forest = data::read(&mut session.client, &at(file.into()), name, columns, shape)?;
            forests.extend(forest.map(|forest| (forest, at(format!("{name}_documents.tsv")))));
        }
    }
    Ok(forests)
}

fn of_forest(
    session: &mut Session,
    options: &Options,
    forest: &Forest,
    tables: &mut Vec<Table>,
) -> Result<(), Box<dyn Error>> {
    eprintln!("{}: setting up", forest.name);
    tables.push(making::set_up(session, forest)?);
    let uniform = lookup::uniform(forest, options.seed, 4000);
    let zipf = lookup::zipf(forest, options.seed ^ 1, 1000);
    eprintln!("{}: comparing answers", forest.name);
    let rows = lookup::compare(session, forest, &uniform[..500])? + lookup::compare(session, forest, &zipf[..50])?;
    eprintln!("{}: {rows} rows agree across all peers; timing", forest.name);
    tables.extend(lookup::one(session, forest, &uniform, "uniform")?);
    tables.extend(lookup::one(session, forest, &zipf, "Zipf")?);
    tables.extend(lookup::hundred(session, forest, &lookup::uniform(forest, options.seed ^ 2, 12_000), "uniform")?);
    tables.push(lookup::lateral(session, forest, &uniform)?);
    if forest.entities() <= 1_000_000 {
        tables.extend(client::dictionaries(session, forest, &uniform)?);
    }
    if forest.is_made() && forest.entities() <= 1_000_000 {
        tables.push(recognise::of_made(session, forest, options.seed)?);
    }
    Ok(())
}

/// The head of the report: machine, versions, options and method.
fn head(session: &mut Session, options: &Options) -> Result<String, Box<dyn Error>> {
    let version: String = session.client.query_one("SELECT version()", &[])?.get(0);
    let cftrag: String =
        session.client.query_one("SELECT extversion FROM pg_extension WHERE extname = 'cftrag'", &[])?.get(0);
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cpus = cpu.lines().filter(|line| line.starts_with("processor")).count();
    Ok(format!(
        "# cftrag and its peers\n\n{version}; cftrag {cftrag}. {cpus} CPUs ({model}), load average at the end {}. Seed {}.\n\
         Command: `make bench`{}. Before the timing, the answers for 550 entities were compared across all peers. Contenders take turns (20 statements of one entity, 10 of a hundred), in random order. Trust the ratios more than the times.\n\n\
         {}Peers:\n\n{}\n",
        read("/proc/loadavg").split_whitespace().next().unwrap_or("?"),
        options.seed,
        match (&options.only, options.full) {
            (Some(only), _) => format!(" with `ONLY={}`", only.join(",")),
            (None, true) => " with `FULL=1`".into(),
            (None, false) => String::new(),
        },
        if floor::is_there() { floor::TOLD } else { "" },
        peers::ALL.iter().map(|peer| format!("- **{}**: {}\n", peer.name, peer.what)).collect::<String>(),
    ))
}
