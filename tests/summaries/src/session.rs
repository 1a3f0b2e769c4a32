//! One connection that writes and works at random.

use std::collections::BTreeMap;

use postgres::{Client, Config, NoTls};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::run::Failure;
use crate::world::{NAMES, WORLDS, World};

/// The lock timeout is short, since the one driver thread waits too; only a hang reaches the statement timeout.
const TIMEOUTS: &str = "SET search_path = summaries, public; SET client_min_messages = warning; SET lock_timeout = '20ms'; SET statement_timeout = '30s'";
const ISOLATION: [&str; 3] = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];

/// The most calls of cft_rollup until nothing is due: usually one, and another for what the first has marked itself.
const CALLS: u32 = 3;

/// Summaries that this transaction was asked to make, by world and entity.
type Asked = BTreeMap<(usize, String), String>;

pub struct Session {
    client: Client,
    number: usize,
    in_transaction: bool,
    asked: Asked,
    /// What was asked at each savepoint.
    savepoints: Vec<Asked>,
    pub history: Vec<String>,
    pub provoked: u64,
    pub summarized: u64,
}

impl Session {
    pub fn open(config: &Config, number: usize) -> Result<Session, Failure> {
        let mut client = config.connect(NoTls)?;
        client.batch_execute(TIMEOUTS)?;
        Ok(Session {
            client,
            number,
            in_transaction: false,
            asked: Asked::new(),
            savepoints: Vec::new(),
            history: Vec::new(),
            provoked: 0,
            summarized: 0,
        })
    }

    /// Runs one random statement.
    pub fn step(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        match random.random_range(0..100) {
            0..16 if !self.in_transaction => self.begin(random),
            0..8 => self.end("COMMIT"),
            8..11 => self.end("ROLLBACK"),
            11..16 => self.savepoint(random),
            16..34 => self.work(random),
            34..64 => self.write_edges(random),
            _ => self.write_documents(random),
        }
    }

    fn begin(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        let isolation = ISOLATION[[0, 0, 0, 1, 1, 2][random.random_range(0..6)]];
        // The SELECT takes the snapshot now.
        self.run(&format!("BEGIN ISOLATION LEVEL {isolation}; SELECT 1"), random)?;
        self.in_transaction = true;
        Ok(())
    }

    pub fn end(&mut self, how: &str) -> Result<(), Failure> {
        if !self.in_transaction {
            return Ok(());
        }
        self.in_transaction = false;
        self.asked.clear();
        self.savepoints.clear();
        self.history.push(format!("{}: {how}", self.number));
        // SERIALIZABLE may fail here.
        match self.client.batch_execute(how) {
            Err(error) if provoked(&error) => self.provoked += 1,
            other => other?,
        }
        Ok(())
    }

    fn savepoint(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        if !self.in_transaction {
            return Ok(());
        }
        if !self.savepoints.is_empty() && random.random_bool(0.6) {
            self.back()
        } else {
            let asked = self.asked.clone();
            self.savepoints.push(asked);
            self.run(&format!("SAVEPOINT s{}", self.savepoints.len()), random)
        }
    }

    fn back(&mut self) -> Result<(), Failure> {
        let number = self.savepoints.len();
        self.asked = self.savepoints[number - 1].clone();
        self.history.push(format!("{}: ROLLBACK TO s{number}", self.number));
        Ok(self.client.batch_execute(&format!("ROLLBACK TO s{number}"))?)
    }

    fn work(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        let place = random.random_range(0..WORLDS.len());
        let edges = WORLDS[place].edges;
        let few = random.random_range(1..6);
        if self.in_transaction && random.random_bool(0.8) {
            let mine: Vec<_> = self.asked.keys().filter(|key| key.0 == place).cloned().collect();
            if !mine.is_empty() && random.random_bool(0.7) {
                let key = mine[random.random_range(0..mine.len())].clone();
                let said = self.asked.remove(&key).unwrap_or_default();
                return self.run(&format!("SELECT cft_rollup_done('{}', '{said}', edges => '{edges}')", key.1), random);
            }
            let sql = format!("SELECT entity, tell(entity, sources, inputs) FROM cft_rollup_next({few}, '{edges}')");
            for row in self.rows(&sql, random)? {
                self.asked.insert((place, row.get(0)), row.get(1));
            }
            return Ok(());
        }
        // cft_rollup also makes the summaries that this transaction was already asked for.
        self.asked.retain(|key, _| key.0 != place);
        self.roll_up(&format!(", k => {few}"), edges, random).map(drop)
    }

    /// Calls cft_rollup; returns how many summaries it made.
    fn roll_up(&mut self, few: &str, edges: &str, random: &mut ChaCha8Rng) -> Result<u64, Failure> {
        let sql = format!("SELECT summarized FROM cft_rollup('tell(text,text[],text[])', edges => '{edges}'{few})");
        let made = self.rows(&sql, random)?.iter().map(|row| row.get::<_, i64>(0).unsigned_abs()).sum();
        self.summarized += made;
        Ok(made)
    }

    /// Does all due work, and the work that it makes due.
    pub fn finish(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        for World { edges, .. } in &WORLDS {
            let mut calls = 0;
            while self.roll_up("", edges, random)? > 0 {
                calls += 1;
                if calls > CALLS {
                    return Err(Failure::different(format!("the work on {edges} does not end in {CALLS} calls")));
                }
            }
        }
        Ok(())
    }

    fn write_edges(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        let World { edges, .. } = WORLDS[random.random_range(0..WORLDS.len())];
        let (a, b, c) = (name(random), name(random), name(random));
        let tree = random.random_range(0..3);
        // Edges mostly lead from smaller to larger numbers, so that cycles occur but do not prevail.
        let (up, down) = if a < b || random.random_bool(0.1) { (a, b) } else { (b, a) };
        let sql = match random.random_range(0..20) {
            0..8 => format!("INSERT INTO {edges} VALUES ('t{tree}', 'n{up}', 'n{down}')"),
            8 => format!(
                "INSERT INTO {edges} SELECT 't{tree}', 'n{up}', 'n' || i FROM generate_series({c}, {NAMES}, 3) AS i"
            ),
            9..13 => format!("DELETE FROM {edges} WHERE child = 'n{down}' AND parent <= 'n{c}'"),
            13..15 => format!("DELETE FROM {edges} WHERE parent = 'n{up}'"),
            15..17 => format!("UPDATE {edges} SET parent = 'n{c}' WHERE child = 'n{down}'"),
            17 => format!("UPDATE {edges} SET child = 'n{c}' WHERE parent = 'n{up}'"),
            18 => format!("UPDATE {edges} SET tree = 't{tree}' WHERE child = 'n{down}'"),
            _ => format!("DELETE FROM {edges} WHERE parent IN ('n{a}', 'n{b}') OR child = 'n{c}'"),
        };
        self.run(&sql, random)
    }

    fn write_documents(&mut self, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        let World { documents, .. } = WORLDS[random.random_range(0..WORLDS.len())];
        let (id, entity, body) = (random.random_range(0..20), name(random), random.random_range(0..1000));
        let new = format!("INSERT INTO {documents} VALUES ({id}, 'text {body}', NULL, 'n{entity}') ON CONFLICT (id)");
        let sql = match random.random_range(0..20) {
            0..7 => format!("{new} DO UPDATE SET body = excluded.body"),
            7..9 => format!("{new} DO UPDATE SET entity = excluded.entity"),
            9..14 => format!("UPDATE {documents} SET body = 'text {body}' WHERE entity = 'n{entity}'"),
            14..16 => format!("UPDATE {documents} SET entity = 'n{entity}' WHERE id = {id}"),
            16 => format!("UPDATE {documents} SET note = {body}"),
            17..19 => format!("DELETE FROM {documents} WHERE id = {id}"),
            _ => format!("DELETE FROM {documents} WHERE entity = 'n{entity}'"),
        };
        self.run(&sql, random)
    }

    fn run(&mut self, sql: &str, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        self.history.push(format!("{}: {sql}", self.number));
        match self.client.batch_execute(sql) {
            Err(error) => self.failed(error, random),
            Ok(()) => Ok(()),
        }
    }

    fn rows(&mut self, sql: &str, random: &mut ChaCha8Rng) -> Result<Vec<postgres::Row>, Failure> {
        self.history.push(format!("{}: {sql}", self.number));
        match self.client.query(sql, &[]) {
            Err(error) => self.failed(error, random).map(|()| Vec::new()),
            Ok(rows) => Ok(rows),
        }
    }

    /// An error that the workload provokes rolls back the transaction, or only to the last savepoint.
    fn failed(&mut self, error: postgres::Error, random: &mut ChaCha8Rng) -> Result<(), Failure> {
        if !provoked(&error) {
            return Err(error.into());
        }
        self.provoked += 1;
        self.history.push(format!("{}: -- {error}", self.number));
        match self.savepoints.is_empty() || random.random_bool(0.3) {
            true => self.end("ROLLBACK"),
            false => self.back(),
        }
    }
}

fn name(random: &mut ChaCha8Rng) -> u32 {
    random.random_range(1..=NAMES)
}

/// Serialization, deadlock, lock timeout.
fn provoked(error: &postgres::Error) -> bool {
    matches!(error.code().map(|code| code.code()), Some("40001" | "40P01" | "55P03"))
}
