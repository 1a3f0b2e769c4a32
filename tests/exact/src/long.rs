//! What only a long run draws: checks of many calls, disasters, memory limits, and much data that comes and goes.

use rand::Rng;

use crate::check::{Check, Mode};
use crate::dml::{Change, Part, one_in};
use crate::model::{Model, Need};
use crate::schema::{TABLES, Table};
use crate::step::{Action, Generator};

/// Averages in a long run: rows of a table, calls in a check, steps between two disasters, and so on.
const DENSE_ROWS: i64 = 40;
const CALLS: usize = 16;
const DISASTER_EVERY: u32 = 2000;
const LIMIT_EVERY: u32 = 1500;
const LIMITED_FOR: u32 = 50;
const GROWN_FOR: u32 = 25;

/// What only a long run does.
#[derive(Clone, Debug, Default)]
pub struct Long {
    /// Small forests, and checks of many calls.
    pub dense: bool,
    /// Disaster steps have numbers below this.
    pub disasters: usize,
    pub memory: bool,
}

impl Generator {
    pub fn long(mut self, long: &Long) -> Generator {
        self.long = long.clone();
        self.full = if long.dense { DENSE_ROWS } else { self.full };
        self
    }

    /// What a long run does to the server now and then. Other runs draw nothing here, so their seeds keep their meaning.
    pub fn disturbance(&mut self, model: &Model, session: usize) -> Option<Action> {
        if self.long.disasters > 0 && one_in(&mut self.rng, DISASTER_EVERY) {
            return Some(Action::Disaster { number: self.rng.random_range(0..self.long.disasters) });
        }
        if self.long.memory && one_in(&mut self.rng, if model.limited { LIMITED_FOR } else { LIMIT_EVERY }) {
            let kb = (!model.limited).then(|| [64, 128, 192, 256][self.rng.random_range(0..4)]);
            return Some(Action::MemoryLimit { kb });
        }
        let starved = model.starved.iter().position(|starved| *starved).filter(|_| !model.limited);
        if let Some(table) = starved
            && model.sessions[session].txn.is_none()
            && one_in(&mut self.rng, 10)
        {
            return self.alone(model, session, table, Need::BlockWriters, Action::Build { table });
        }
        if self.long.memory { self.growth(model, session) } else { None }
    }

    /// Many long names below one entity, more than an image's first chunk holds. They are deleted soon after.
    fn growth(&mut self, model: &Model, session: usize) -> Option<Action> {
        let table = self.table();
        let t = &TABLES[table];
        let often = if self.grown[table] || model.limited { GROWN_FOR } else { LIMIT_EVERY };
        let running = model.sessions[session].txn.as_ref().is_none_or(|txn| !txn.failed && !txn.read_only);
        if !one_in(&mut self.rng, often) || !running || model.blocks(Some(session), table, Need::Write) {
            return None;
        }
        let (edges, Table { parent, child, .. }) = (t.qualified(), t);
        let tree = t.tree.filter(|_| !t.numeric)?;
        self.grown[table] = !self.grown[table];
        let (kind, sql) = match self.grown[table] {
            true => (
                "grow",
                format!(
                    "INSERT INTO {edges} ({tree}, {parent}, {child})
                     SELECT 'oak', 'n15', repeat(chr(97 + i % 26), 370) || i FROM generate_series(1, 300) AS i ON CONFLICT DO NOTHING"
                ),
            ),
            false => ("shrink", format!("DELETE FROM {edges} WHERE length({child}) > 350")),
        };
        Some(Action::Change { table, change: Change { kind, need: Need::Write, parts: vec![Part::Sql(sql)] } })
    }

    /// Calls for a number of distinct entities that follow each other in the table's list.
    pub fn each(&mut self, table: usize) -> Check {
        let (first, count) = (self.rng.random_range(0..TABLES[table].entities()), self.rng.random_range(8..=CALLS));
        let entities = (first..first + count).map(|i| Some(TABLES[table].entity(i))).collect();
        Check { table, mode: Mode::Each, entities, many: true, up: self.levels(), down: self.levels() }
    }
}
