//! Timing statements over one connection: wall time as the client sees it, CPU time as the backend spends it.

use std::time::{Duration, Instant};

use postgres::types::ToSql;
use postgres::{Client, Error, Statement};

use crate::data::Random;

/// A contender's times, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Times {
    pub wall: Vec<f64>,
    /// The first time of each turn, when the CPU caches hold another contender's data.
    pub first: Vec<f64>,
    /// The backend's CPU time per statement, on average.
    pub cpu: f64,
    pub rows: usize,
}

impl Times {
    pub fn quantile(&self, q: f64) -> f64 {
        quantile(&self.wall, q)
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    pub fn median_of_first(&self) -> f64 {
        quantile(&self.first, 0.5)
    }

    pub fn mean(&self) -> f64 {
        self.wall.iter().sum::<f64>() / self.wall.len().max(1) as f64
    }
}

pub fn quantile(of: &[f64], q: f64) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len() as f64 - 1.0) * q) as usize).copied().unwrap_or(f64::NAN)
}

/// The minimum number of runs of a contender, however slow it is.
const LEAST: usize = 3;

/// A connection, and the process behind it.
pub struct Session {
    pub client: Client,
    pub pid: i32,
    pub url: String,
    /// How long a contender may run for one table; slow ones run fewer statements.
    pub budget: Duration,
}

impl Session {
    pub fn open(url: &str) -> Result<Self, Error> {
        let mut client = Client::connect(url, postgres::NoTls)?;
        // Settings for every contender.
        client.batch_execute(
            "SET jit = off; SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0; SET client_min_messages = error",
        )?;
        let pid = client.query_one("SELECT pg_backend_pid()", &[])?.get(0);
        Ok(Self { client, pid, url: url.into(), budget: Duration::from_secs(1) })
    }

    /// The backend's CPU time since its start, in nanoseconds; 0 if the kernel does not say.
    pub fn cpu(&self) -> u64 {
        let told = std::fs::read_to_string(format!("/proc/{}/schedstat", self.pid)).unwrap_or_default();
        told.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    /// Runs the statement once for each parameter, until the budget is spent, and adds the times to `into`.
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
        let Some(first) = into.wall.get(already) else { return Ok(()) };
        into.first.push(*first);
        let (now, spent) = (into.wall.len() as f64, (self.cpu() - before) as f64 / 1000.0);
        into.cpu = (into.cpu * already as f64 + spent) / now;
        Ok(())
    }

    /// Runs each statement in its own transaction (`;;` is a semicolon inside one); returns the total seconds.
    pub fn each(&mut self, statements: &str) -> Result<f64, Error> {
        statements.replace(";;", "\u{1}").split(';').map(|sql| Ok(self.batch(&sql.replace('\u{1}', ";"))?.0)).sum()
    }

    /// Runs a batch; returns its seconds and backend CPU seconds.
    pub fn batch(&mut self, sql: &str) -> Result<(f64, f64), Error> {
        let (before, start) = (self.cpu(), Instant::now());
        self.client.batch_execute(sql)?;
        Ok((start.elapsed().as_secs_f64(), (self.cpu() - before) as f64 / 1e9))
    }
}

/// The turns: in each, all contenders in random order, each as (contender, part of the parameters). Every contender gets every part once, but
/// never right after another contender had it, whose data would still be in the CPU caches. (With a single part that cannot be avoided.)
pub fn order(parts: usize, contenders: usize) -> Vec<Vec<(usize, usize)>> {
    let apart = (parts / contenders.max(1)).max(1);
    let mut random = Random(0);
    let mut last = None;
    let turn = |i| {
        let mut rest: Vec<_> = (0..contenders).map(|k| (k, (i + k * apart) % parts)).collect();
        let mut turn = Vec::new();
        while !rest.is_empty() {
            let drawn = random.below(rest.len() as u64) as usize;
            rest.swap(0, drawn);
            let next = rest.iter().position(|(_, part)| Some(*part) != last).unwrap_or(0);
            let next = rest.swap_remove(next);
            last = Some(next.1);
            turn.push(next);
        }
        turn
    };
    (0..parts).map(turn).collect()
}

/// Runs the contenders in turns (`order`) of `turn` statements each, so that noise on the machine affects all of them.
pub fn interleaved<P: ToSql + Sync>(
    session: &mut Session,
    statements: &[Statement],
    parameters: &[P],
    turn: usize,
) -> Result<Vec<Times>, Error> {
    let mut times = vec![Times::default(); statements.len()];
    let parts: Vec<&[P]> = parameters.chunks(turn).collect();
    for (contender, part) in order(parts.len(), statements.len()).into_iter().flatten() {
        session.run(&statements[contender], parts[part], &mut times[contender])?;
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_gets_every_part_once_and_never_what_the_one_before_it_got() {
        for (parts, contenders) in [(200, 11), (50, 4), (40, 10), (12, 11), (11, 11), (3, 2), (2, 2), (80, 1)] {
            let turns = order(parts, contenders);
            for contender in 0..contenders {
                let mut got: Vec<usize> =
                    turns.iter().flatten().filter(|(k, _)| *k == contender).map(|(_, part)| *part).collect();
                got.sort_unstable();
                assert!(got.into_iter().eq(0..parts), "contender {contender} of {contenders}, {parts} parts");
            }
            let all: Vec<usize> = turns.iter().flatten().map(|(_, part)| *part).collect();
            assert!(all.windows(2).all(|two| two[0] != two[1]), "{contenders} contenders, {parts} parts: {all:?}");
        }
    }

    #[test]
    fn contenders_stand_behind_each_of_the_others_about_as_often() {
        let turns = order(600, 4);
        assert_eq!(turns, order(600, 4), "the seed is fixed");
        let mut behind = [[0; 4]; 4];
        for two in turns.iter().flatten().collect::<Vec<_>>().windows(2) {
            behind[two[1].0][two[0].0] += 1;
        }
        for (contender, before) in behind.iter().enumerate() {
            let others = before.iter().enumerate().filter(|(other, _)| *other != contender).map(|(_, n)| *n);
            assert!(others.clone().all(|n| (140..240).contains(&n)), "{contender}: {before:?}");
        }
    }
}
