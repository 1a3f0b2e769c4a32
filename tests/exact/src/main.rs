//! cftrag-exact: is cft_context exactly sql/reference.sql, whatever the sessions around it do?
//!
//!     cftrag-exact --host SOCKETDIR --port P --user U --dbname D --seed S --steps N
//!                  [--sessions 4..8] [--require-image] [--no-replay] [--verbose] [--stop-at-warning] [--shrink] [--without KIND]
//!     cftrag-exact ... --checks N [--memory] [--disaster COMMAND]...  a long run: small forests, many calls in a check; the memory
//!                  limit changes; backends are killed and the commands run, after which every connection is gone (a restart, a
//!                  promotion), and which leave a server that answers at the same place
//!     cftrag-exact ... --concurrent SECONDS          all sessions at once, each in its own thread, without a schedule
//!
//! One driver thread moves 4 to 8 sessions by a schedule that follows from the seed. About half of the steps are checks: one
//! statement each that compares cft_context with the reference query, or another function with its definition (check.rs). Ends
//! with 1 at the first difference, at an error the workload did not provoke, when cft_verify finds something, or
//! (--require-image) when the image served too few. Schedules of tests/exact/seeds.txt are replayed first. Needs a superuser
//! and a database of its own (schema "exact" is replaced).

mod apply;
mod builder;
mod check;
mod concurrent;
mod ddl;
mod disaster;
mod dml;
mod documents;
mod links;
mod long;
mod model;
mod recent;
mod run;
mod schema;
mod session;
mod shrink;
mod step;
mod tally;
mod within;

use std::process::ExitCode;
use std::time::Instant;

use postgres::Config;

use run::{Driver, Failure, Look};

/// Schedules that once found something: "seed steps sessions   why".
const SEEDS: &str = include_str!("../seeds.txt");

/// Checks between two lines of a long run.
const TELL_EVERY: u64 = 25_000;

struct Options {
    config: Config,
    seed: u64,
    steps: u64,
    sessions: usize,
    require_image: bool,
    replay: bool,
    look: Look,
    shrink: bool,
    /// Seconds of all sessions at once, instead of a schedule.
    concurrent: Option<u64>,
    /// As many checks, instead of steps.
    checks: Option<u64>,
}

fn options() -> Result<Options, String> {
    let mut config = Config::new();
    config.user("postgres").dbname("postgres").application_name("cftrag-exact");
    let mut options = Options {
        config,
        seed: 1,
        steps: 40_000,
        sessions: 6,
        require_image: false,
        replay: true,
        look: Look::default(),
        shrink: false,
        concurrent: None,
        checks: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--require-image" => options.require_image = true,
            "--shrink" => options.shrink = true,
            "--memory" => options.look.long.memory = true,
            "--no-replay" => options.replay = false,
            "--verbose" => options.look.verbose = true,
            "--stop-at-warning" => options.look.stop_at_warning = true,
            _ => {
                let value = arguments.next().ok_or(format!("{name} needs a value, or is not an option"))?;
                option(&mut options, &name, &value)?;
            }
        }
    }
    if !(4..=8).contains(&options.sessions) {
        return Err("--sessions: 4 to 8".to_string());
    }
    Ok(options)
}

fn option(options: &mut Options, name: &str, value: &str) -> Result<(), String> {
    let number = || value.parse::<u64>().map_err(|_| format!("{name} {value}: not a number"));
    match name {
        "--host" => drop(options.config.host(value)),
        "--port" => drop(options.config.port(u16::try_from(number()?).map_err(|e| e.to_string())?)),
        "--user" => drop(options.config.user(value)),
        "--dbname" => drop(options.config.dbname(value)),
        "--without" => options.look.without.push(value.to_string()),
        "--concurrent" => options.concurrent = Some(number()?),
        "--checks" => {
            options.checks = Some(number()?);
            options.look.long.dense = true;
            options.replay = false;
        }
        "--disaster" => {
            options.look.disasters.push(value.to_string());
            options.look.long.disasters = options.look.disasters.len() + 1;
        }
        "--seed" => options.seed = number()?,
        "--steps" => options.steps = number()?,
        "--sessions" => options.sessions = usize::try_from(number()?).map_err(|e| e.to_string())?,
        _ => return Err(format!("{name}: no such option")),
    }
    Ok(())
}

fn run(options: &Options, seed: u64, steps: u64, sessions: usize) -> Result<Driver, Failure> {
    let mut driver = Driver::new(&options.config, seed, sessions, &options.look)?;
    let result = match options.checks {
        None => (0..steps).try_for_each(|_| driver.step()),
        Some(checks) => long(&mut driver, checks),
    }
    .and_then(|()| driver.finish());
    match result {
        Ok(()) => Ok(driver),
        Err(failure) if options.shrink && failure.different => {
            println!("{}", failure.text);
            let steps = std::mem::take(&mut driver.done);
            // Its open transactions would block what follows.
            drop(driver);
            Err(shrink::shrink(&options.config, steps, sessions, &options.look, failure))
        }
        Err(failure) => Err(failure),
    }
}

/// Runs steps until that many calls are compared, and prints its progress.
fn long(driver: &mut Driver, checks: u64) -> Result<(), Failure> {
    let mut told = 0;
    while driver.tally.checks < checks {
        driver.step()?;
        if driver.tally.checks >= told + TELL_EVERY {
            told = driver.tally.checks;
            println!("seed {}: {}", driver.seed, driver.tally.summary());
        }
    }
    Ok(())
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

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("cftrag-exact: {text}");
            return ExitCode::from(2);
        }
    };
    if let Some(seconds) = options.concurrent {
        return match concurrent::run(&options.config, options.seed, options.sessions, seconds, &options.look) {
            Ok(summary) => {
                println!("{summary}");
                ExitCode::SUCCESS
            }
            Err(Failure { text, .. }) => {
                println!("{text}");
                ExitCode::FAILURE
            }
        };
    }
    let mut schedules: Vec<(u64, u64, usize)> = if options.replay { recorded() } else { Vec::new() };
    let replayed = schedules.len();
    schedules.push((options.seed, options.steps, options.sessions));
    for (number, (seed, steps, sessions)) in schedules.into_iter().enumerate() {
        let start = Instant::now();
        let driver = match run(&options, seed, steps, sessions) {
            Ok(driver) => driver,
            Err(Failure { text, .. }) => {
                let again = match options.checks {
                    Some(checks) => format!("--checks {checks} and what else this run was given"),
                    None => format!("--steps {steps} --sessions {sessions} --no-replay"),
                };
                println!("{text}\nto see it again: --seed {seed} {again}");
                return ExitCode::FAILURE;
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let summary = format!("seed {seed}, {sessions} sessions, {seconds:.1} s: {}", driver.tally.summary());
        if number < replayed {
            println!("recorded {summary}");
            continue;
        }
        driver.tally.print();
        let broken = if options.require_image { driver.tally.broken_promises() } else { Vec::new() };
        broken.iter().for_each(|text| println!("NOT MET: {text}"));
        println!("{summary}");
        if !broken.is_empty() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
