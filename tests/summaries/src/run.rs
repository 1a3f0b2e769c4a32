//! Runs the sessions: one driver thread by a schedule, or all at once, each in its own thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use postgres::{Client, Config, NoTls};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::session::Session;
use crate::world::{self, WORLDS};

/// Steps between two checks, and between two points where all transactions end and all due work is done.
const LOOK_EVERY: u64 = 5;
const QUIET_EVERY: u64 = 80;
/// The length of a round of all sessions at once.
const ROUND: Duration = Duration::from_secs(3);
/// How many statements a failure shows.
const SHOWN: usize = 120;

pub struct Failure {
    pub text: String,
}

impl Failure {
    pub fn different(text: String) -> Failure {
        Failure { text }
    }
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Failure {
        let text = match error.as_db_error() {
            Some(db) => format!("{}: {} {}", db.code().code(), db.message(), db.where_().unwrap_or("")),
            None => format!("{error:?}"),
        };
        Failure { text: format!("an unexpected error: {text}") }
    }
}

/// Counts of what a run did: a run in which nothing was stale proves nothing.
#[derive(Default)]
pub struct Tally {
    pub steps: u64,
    pub checks: u64,
    pub stale: u64,
    pub marks: u64,
    pub quiet: u64,
    pub summarized: u64,
    pub provoked: u64,
}

impl Tally {
    pub fn summary(&self) -> String {
        let Tally { steps, checks, stale, marks, quiet, summarized, provoked } = self;
        format!(
            "{steps} steps, {checks} checks ({stale} stale summaries, {marks} marked entities), all work done {quiet} times, \
             {summarized} summaries made by calls, {provoked} errors provoked"
        )
    }

    /// Which minimum counts a run of this length has missed.
    pub fn broken_promises(&self) -> Vec<String> {
        let wanted = [
            ("checks", self.checks, 10),
            ("stale", self.stale, 10),
            ("summaries", self.summarized, 10),
            ("errors", self.provoked, 400),
        ];
        let few = wanted.iter().filter(|(_, n, of)| *n < self.steps / of);
        few.map(|(what, n, of)| format!("{what}: {n} in {} steps, fewer than one in {of}", self.steps)).collect()
    }
}

fn connect(config: &Config) -> Result<Client, Failure> {
    let mut client = config.connect(NoTls)?;
    client.batch_execute("SET search_path = summaries, public")?;
    Ok(client)
}

fn look(client: &mut Client, tally: &mut Tally, finished: bool) -> Result<(), Failure> {
    for world in &WORLDS {
        let looked = world::check(client, world, finished)?;
        tally.checks += 1;
        tally.stale += looked.stale;
        tally.marks += looked.marks as u64;
    }
    Ok(())
}

fn quiet(
    sessions: &mut [Session],
    client: &mut Client,
    tally: &mut Tally,
    random: &mut ChaCha8Rng,
) -> Result<(), Failure> {
    for session in sessions.iter_mut() {
        session.end(if random.random_bool(0.7) { "COMMIT" } else { "ROLLBACK" })?;
    }
    look(client, tally, false)?;
    sessions[0].finish(random)?;
    tally.quiet += 1;
    look(client, tally, true)
}

fn total(tally: &mut Tally, sessions: &[Session]) {
    tally.summarized = sessions.iter().map(|session| session.summarized).sum();
    tally.provoked = sessions.iter().map(|session| session.provoked).sum();
}

/// Runs the schedule that follows from the seed.
pub fn schedule(config: &Config, seed: u64, steps: u64, sessions: usize) -> Result<Tally, Failure> {
    let mut client = connect(config)?;
    world::set_up(&mut client)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sessions: Vec<Session> =
        (0..sessions).map(|number| Session::open(config, number)).collect::<Result<_, _>>()?;
    let mut tally = Tally::default();
    let mut history = Vec::new();
    let result = (1..=steps).try_for_each(|step| {
        let number = random.random_range(0..sessions.len());
        tally.steps += 1;
        let done = sessions[number].step(&mut random);
        history.append(&mut sessions[number].history);
        done?;
        if step % QUIET_EVERY == 0 || step == steps {
            let done = quiet(&mut sessions, &mut client, &mut tally, &mut random);
            sessions.iter_mut().for_each(|session| history.append(&mut session.history));
            done
        } else if step % LOOK_EVERY == 0 {
            look(&mut client, &mut tally, false)
        } else {
            Ok(())
        }
    });
    if let Err(failure) = result {
        let shown = history[history.len().saturating_sub(SHOWN)..].join("\n");
        return Err(Failure { text: format!("{shown}\nstep {}: {}", tally.steps, failure.text) });
    }
    total(&mut tally, &sessions);
    Ok(tally)
}

/// Runs rounds of all sessions at once, while another session checks; after each round does the due work and compares.
pub fn storm(config: &Config, seed: u64, sessions: usize, seconds: u64) -> Result<Tally, Failure> {
    let mut client = connect(config)?;
    world::set_up(&mut client)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sessions: Vec<Session> =
        (0..sessions).map(|number| Session::open(config, number)).collect::<Result<_, _>>()?;
    let mut tally = Tally::default();
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        let stop = AtomicBool::new(false);
        let round = Instant::now() + ROUND;
        let seeds: Vec<u64> = sessions.iter().map(|_| random.random()).collect();
        let steps = std::thread::scope(|scope| -> Result<u64, Failure> {
            let threads: Vec<_> = sessions
                .iter_mut()
                .zip(seeds)
                .map(|(session, seed)| {
                    let stop = &stop;
                    scope.spawn(move || steps_until(session, seed, stop, round))
                })
                .collect();
            let mut looked = Ok(());
            while looked.is_ok() && !stop.load(Ordering::Relaxed) && Instant::now() < round {
                looked = look(&mut client, &mut tally, false);
            }
            stop.store(true, Ordering::Relaxed);
            let steps: Vec<_> =
                threads.into_iter().map(|thread| thread.join().expect("a thread does not panic")).collect();
            looked?;
            steps.into_iter().sum()
        })?;
        tally.steps += steps;
        quiet(&mut sessions, &mut client, &mut tally, &mut random)?;
    }
    total(&mut tally, &sessions);
    Ok(tally)
}

fn steps_until(session: &mut Session, seed: u64, stop: &AtomicBool, until: Instant) -> Result<u64, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut steps = 0;
    while !stop.load(Ordering::Relaxed) && Instant::now() < until {
        if let Err(failure) = session.step(&mut random) {
            stop.store(true, Ordering::Relaxed);
            return Err(failure);
        }
        session.history.clear();
        steps += 1;
    }
    Ok(steps)
}
