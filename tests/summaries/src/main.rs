//! cftrag-summaries: checks that every stale summary is marked as due.
//!
//!     cftrag-summaries --host SOCKETDIR --port P --user U --dbname D --seed S --steps N [--sessions 2..8] [--no-replay]
//!     cftrag-summaries ... --concurrent SECONDS        all sessions at once, each in its own thread, without a schedule
//!
//! Sessions change edges and documents and make summaries, in transactions of every isolation level, with savepoints and
//! rollbacks. Between their steps the driver reads everything committed in one snapshot: if a summary differs from a recomputation
//! from scratch, it or an entity below it must be marked. Now and then all transactions end and all due work is done: then no
//! summary may differ, and no mark may remain. Ends with 1 at the first difference, or at an error that the workload did not provoke.
//! Schedules of tests/summaries/seeds.txt are replayed first. Needs a superuser and a database of its own (schema "summaries").

mod run;
mod session;
mod world;

use std::process::ExitCode;
use std::time::Instant;

use postgres::Config;

use run::{Failure, Tally};

/// Schedules that once found something: "seed steps sessions   why".
const SEEDS: &str = include_str!("../seeds.txt");

struct Options {
    config: Config,
    seed: u64,
    steps: u64,
    sessions: usize,
    replay: bool,
    concurrent: Option<u64>,
}

fn options() -> Result<Options, String> {
    let mut config = Config::new();
    config.user("postgres").dbname("postgres").application_name("cftrag-summaries");
    let mut options = Options { config, seed: 1, steps: 20_000, sessions: 5, replay: true, concurrent: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--no-replay" {
            options.replay = false;
            continue;
        }
        let value = arguments.next().ok_or(format!("{name} needs a value, or is not an option"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} {value}: not a number"));
        match name.as_str() {
            "--host" => drop(options.config.host(&value)),
            "--port" => drop(options.config.port(u16::try_from(number()?).map_err(|e| e.to_string())?)),
            "--user" => drop(options.config.user(&value)),
            "--dbname" => drop(options.config.dbname(&value)),
            "--seed" => options.seed = number()?,
            "--steps" => options.steps = number()?,
            "--sessions" => options.sessions = usize::try_from(number()?).map_err(|e| e.to_string())?,
            "--concurrent" => options.concurrent = Some(number()?),
            _ => return Err(format!("{name}: no such option")),
        }
    }
    if !(2..=8).contains(&options.sessions) {
        return Err("--sessions: 2 to 8".to_string());
    }
    Ok(options)
}

/// The recorded schedules, in the order of the file.
fn recorded() -> Vec<(u64, u64, usize)> {
    let lines = SEEDS.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace().map(|word| word.parse().expect("seeds.txt: seed steps sessions"));
            let mut number = || words.next().expect("seeds.txt: seed steps sessions");
            (number(), number(), usize::try_from(number()).expect("few sessions"))
        })
        .collect()
}

fn tell(result: Result<Tally, Failure>, what: &str, again: &str, whole: bool) -> bool {
    match result {
        Ok(tally) => {
            println!("{what}: {}", tally.summary());
            let broken = if whole { tally.broken_promises() } else { Vec::new() };
            broken.iter().for_each(|text| println!("NOT MET: {text}"));
            broken.is_empty()
        }
        Err(Failure { text }) => {
            println!("{text}\n{what}: to reproduce: {again}");
            false
        }
    }
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("cftrag-summaries: {text}");
            return ExitCode::from(2);
        }
    };
    let Options { config, seed, steps, sessions, replay, concurrent } = options;
    if let Some(seconds) = concurrent {
        let result = run::storm(&config, seed, sessions, seconds);
        let fine = tell(result, &format!("seed {seed}, all at once"), "not possible, the threads run freely", false);
        return if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let mut schedules = if replay { recorded() } else { Vec::new() };
    let replayed = schedules.len();
    schedules.push((seed, steps, sessions));
    for (number, (seed, steps, sessions)) in schedules.into_iter().enumerate() {
        let start = Instant::now();
        let result = run::schedule(&config, seed, steps, sessions);
        let what = format!("seed {seed}, {sessions} sessions, {:.1} s", start.elapsed().as_secs_f64());
        let again = format!("--seed {seed} --steps {steps} --sessions {sessions} --no-replay");
        if !tell(result, &what, &again, number >= replayed) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
