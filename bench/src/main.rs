//! cftrag beside its peers, on the same rows, in one run: see bench/run.
//!
//!     cftrag-bench URL OUTDIR NAME [--full] [--seed N] [--only small,medium,large]
//!
//! Answers are compared before anything is timed. Promises: exit status 0 only if every peer agreed and the report was written.

mod data;
mod lookup;
mod measure;
mod peers;
mod recognise;
mod report;
mod write;

use std::error::Error;
use std::path::Path;

use data::{HUGE, LARGE, MEDIUM, SMALL, Size};
use measure::Session;
use report::Table;

struct Options {
    url: String,
    dir: String,
    name: String,
    seed: u64,
    sizes: Vec<Size>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = |what: &str| args.next().ok_or(format!("missing: {what}"));
    let (url, dir, name) = (next("URL")?, next("OUTDIR")?, next("NAME")?);
    let mut options = Options { url, dir, name, seed: 20_261_120, sizes: vec![SMALL, MEDIUM, LARGE] };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--full" => options.sizes.push(HUGE),
            "--seed" => options.seed = args.next().ok_or("missing: seed")?.parse()?,
            "--only" => {
                let only = args.next().ok_or("missing: sizes")?;
                options.sizes.retain(|size| only.split(',').any(|name| name == size.name));
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let mut session = Session::open(&options.url)?;
    session.client.batch_execute(
        "CREATE EXTENSION IF NOT EXISTS cftrag CASCADE; DROP TABLE IF EXISTS nothing; CREATE TABLE nothing (name text PRIMARY KEY);
         INSERT INTO nothing SELECT 'name ' || i FROM generate_series(1, 1000) AS i",
    )?;
    session.batch("VACUUM ANALYZE nothing")?;
    let mut tables = Vec::new();
    for size in &options.sizes {
        of_size(&mut session, &options, *size, &mut tables)?;
    }
    eprintln!("writes");
    tables.extend(write::inserts(&mut session)?);
    let head = head(&mut session, &options)?;
    report::write(Path::new(&options.dir), &options.name, &head, &tables)?;
    println!("{}/{}.md", options.dir, options.name);
    Ok(())
}

fn of_size(
    session: &mut Session,
    options: &Options,
    size: Size,
    tables: &mut Vec<Table>,
) -> Result<(), Box<dyn Error>> {
    eprintln!("{}: loading", size.name);
    let edges = data::load(&mut session.client, size, options.seed)?;
    eprintln!("{}: setting up", size.name);
    tables.extend(write::set_up(session, size, edges)?);
    let (uniform, zipf) = (lookup::uniform(size, options.seed, 4000), lookup::zipf(size, options.seed ^ 1, 1000));
    eprintln!("{}: comparing answers", size.name);
    let rows =
        lookup::compare(session, size, edges, &uniform[..500])? + lookup::compare(session, size, edges, &zipf[..50])?;
    eprintln!("{}: {rows} rows are the same with every peer; timing", size.name);
    tables.extend(lookup::one(session, size, edges, &uniform, "uniform")?);
    tables.extend(lookup::one(session, size, edges, &zipf, "Zipf")?);
    tables.extend(lookup::hundred(session, size, edges, &uniform, "uniform")?);
    tables.push(recognise::table(session, size, options.seed)?);
    tables.push(lookup::lateral(session, size, &uniform)?);
    tables.push(write::beside_writer(&options.url, size, &write::names(size, options.seed))?);
    Ok(())
}

/// Where, with what and how it was measured.
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
        "# cftrag beside its peers\n\n{version}; cftrag {cftrag}. {cpus} CPUs ({model}), load average at the end {}. Seed {}.\n\
         Command: `make bench`{}. Every answer was compared with every peer's before the timing; contenders take turns. Believe the ratios.\n\n\
         Peers:\n\n{}\n",
        read("/proc/loadavg").split_whitespace().next().unwrap_or("?"),
        options.seed,
        if options.sizes.len() > 3 { " with `FULL=1`" } else { "" },
        peers::ALL.iter().map(|peer| format!("- **{}**: {}\n", peer.name, peer.what)).collect::<String>(),
    ))
}
