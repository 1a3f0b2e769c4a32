//! Timing statements over one connection: wall time as the client sees it, CPU time as the backend spends it.

use std::time::{Duration, Instant};

use postgres::types::ToSql;
use postgres::{Client, Error, Statement};

/// Microseconds.
#[derive(Clone, Debug, Default)]
pub struct Times {
    pub wall: Vec<f64>,
    /// Of the backend, per statement, on average.
    pub cpu: f64,
    pub rows: usize,
}

impl Times {
    pub fn quantile(&self, q: f64) -> f64 {
        let mut sorted = self.wall.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(((sorted.len() as f64 - 1.0) * q) as usize).copied().unwrap_or(f64::NAN)
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    pub fn mean(&self) -> f64 {
        self.wall.iter().sum::<f64>() / self.wall.len().max(1) as f64
    }
}

/// At least so many runs of each contender, however slow it is.
const LEAST: usize = 3;

/// A connection, and the process behind it.
pub struct Session {
    pub client: Client,
    pub pid: i32,
    /// What a contender may spend on one table; the slow ones run fewer statements for it.
    pub budget: Duration,
}

impl Session {
    pub fn open(url: &str) -> Result<Self, Error> {
        let mut client = Client::connect(url, postgres::NoTls)?;
        // The same for every contender.
        client.batch_execute(
            "SET jit = off; SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0; SET client_min_messages = error",
        )?;
        let pid = client.query_one("SELECT pg_backend_pid()", &[])?.get(0);
        Ok(Self { client, pid, budget: Duration::from_secs(1) })
    }

    /// Nanoseconds that the backend was on a CPU since its start; 0 where the kernel does not tell.
    pub fn cpu(&self) -> u64 {
        let told = std::fs::read_to_string(format!("/proc/{}/schedstat", self.pid)).unwrap_or_default();
        told.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    /// Runs the statement once for each parameter, until its budget is spent, and adds the times.
    pub fn run<P: ToSql + Sync>(
        &mut self,
        statement: &Statement,
        parameters: &[P],
        into: &mut Times,
    ) -> Result<(), Error> {
        let (before, already) = (self.cpu(), into.wall.len());
        let mut left = self.budget.as_secs_f64() * 1e6 - into.wall.iter().sum::<f64>();
        for parameter in parameters {
            if left < 0.0 && into.wall.len() >= LEAST {
                break;
            }
            let start = Instant::now();
            let rows = self.client.query(statement, &[parameter])?;
            let spent = start.elapsed().as_nanos() as f64 / 1000.0;
            left -= spent;
            into.wall.push(spent);
            into.rows += rows.len();
        }
        if into.wall.len() == already {
            return Ok(());
        }
        let (now, spent) = (into.wall.len() as f64, (self.cpu() - before) as f64 / 1000.0);
        into.cpu = (into.cpu * already as f64 + spent) / now;
        Ok(())
    }

    /// Statements, each a transaction of its own (`;;` is a semicolon inside of one); the seconds of all.
    pub fn each(&mut self, statements: &str) -> Result<f64, Error> {
        statements.replace(";;", "\u{1}").split(';').map(|sql| Ok(self.batch(&sql.replace('\u{1}', ";"))?.0)).sum()
    }

    /// Seconds and backend CPU seconds of a batch.
    pub fn batch(&mut self, sql: &str) -> Result<(f64, f64), Error> {
        let (before, start) = (self.cpu(), Instant::now());
        self.client.batch_execute(sql)?;
        Ok((start.elapsed().as_secs_f64(), (self.cpu() - before) as f64 / 1e9))
    }
}

/// Contenders take turns, a few statements each, so that a busy moment of the machine hits all of them. Each asks for every parameter, but none
/// right after another has: what that one read would be in the processor's caches.
pub fn interleaved<P: ToSql + Sync>(
    session: &mut Session,
    statements: &[Statement],
    parameters: &[P],
    turn: usize,
) -> Result<Vec<Times>, Error> {
    let mut times = vec![Times::default(); statements.len()];
    let turns: Vec<&[P]> = parameters.chunks(turn).collect();
    let apart = turns.len() / statements.len().max(1);
    for i in 0..turns.len() {
        for (k, (statement, times)) in statements.iter().zip(&mut times).enumerate() {
            session.run(statement, turns[(i + k * apart) % turns.len()], times)?;
        }
    }
    Ok(times)
}
