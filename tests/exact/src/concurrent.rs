//! The workload without a schedule: every session has a thread and a generator of its own, and they run at once.
//!
//! Each check is one statement under one snapshot, so it is valid whatever the others do. No seed repeats such a run; what it
//! finds are races that one driver thread cannot make. Waiting is bounded by lock_timeout.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use postgres::{Config, NoTls};

use crate::links;
use crate::run::{Driver, Failure, Look};
use crate::schema::{self, TABLES};
use crate::tally::{Stats, Tally};

/// Runs `sessions` threads for `seconds`, then verifies every table. Returns the counts of all checks, and what served them.
pub fn run(config: &Config, seed: u64, sessions: usize, seconds: u64, look: &Look) -> Result<String, Failure> {
    let mut client = config.connect(NoTls)?;
    schema::set_up(&mut client)?;
    let mut stats = Stats::new(&mut client)?;
    let mut look = look.clone();
    // These need to know what the other sessions do.
    look.without.extend(["contend", "quiesce", "begin deferrable"].map(str::to_string));
    let stop = AtomicBool::new(false);
    let until = Instant::now() + Duration::from_secs(seconds);
    let results: Vec<Result<Tally, Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..sessions)
            .map(|number| {
                let (look, stop) = (&look, &stop);
                scope.spawn(move || {
                    let result = session(config, seed.wrapping_add(number as u64), number, look, stop, until);
                    if result.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    result
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a session's thread does not panic")).collect()
    });
    let tallies = results.into_iter().collect::<Result<Vec<Tally>, Failure>>()?;
    for table in &TABLES {
        if let Some(text) = schema::verify(&mut client, table)? {
            return Err(Failure { text, different: true });
        }
    }
    if let Some(text) = links::verify(&mut client)? {
        return Err(Failure { text, different: true });
    }
    let served = stats.since(&mut client)?;
    let mut all = Tally::default();
    for tally in tallies {
        all.checks += tally.checks;
        all.steps += tally.steps;
        tally.modes.into_iter().for_each(|(mode, n)| *all.modes.entry(mode).or_default() += n);
        tally.warnings.into_iter().for_each(|(text, n)| *all.warnings.entry(text).or_default() += n);
    }
    println!("checks by mode: {:?}", all.modes);
    println!("warnings: {:#?}", all.warnings);
    Ok(format!("{} checks in {} steps of {sessions} threads, 0 differences; served: {served:?}", all.checks, all.steps))
}

fn session(
    config: &Config,
    seed: u64,
    number: usize,
    look: &Look,
    stop: &AtomicBool,
    until: Instant,
) -> Result<Tally, Failure> {
    let mut driver = Driver::open(config, seed, 1, look, &format!("c{number}_"))?;
    while !stop.load(Ordering::Relaxed) && Instant::now() < until {
        driver.step()?;
    }
    driver.close()?;
    Ok(driver.tally)
}
