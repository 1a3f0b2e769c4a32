//! The generator: a seed and what the model knows give the next step. Nothing here talks to a server, so the same seed gives
//! the same steps as long as statements end the same way.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::check::{Check, Mode};
use crate::ddl::{in_a_transaction, swap, truncation, unwatched};
use crate::dml::{self, Change, Part, one_in};
use crate::documents::{self, WITH_DOCUMENTS};
use crate::links::{self, LINKED_TO};
use crate::long::Long;
use crate::model::{Level, Model, Need};
use crate::schema::{TABLES, Table};

#[derive(Clone, Debug)]
pub enum Action {
    Begin {
        level: Level,
        read_only: bool,
    },
    Commit,
    Rollback,
    Savepoint(String),
    Release(usize),
    RollbackTo(usize),
    Prepare(String),
    FinishPrepared {
        gid: String,
        commit: bool,
    },
    Change {
        table: usize,
        change: Change,
    },
    /// Statements outside a transaction block. `replaces`: the image's key no longer matches.
    Maintain {
        table: usize,
        kind: &'static str,
        sql: Vec<Part>,
        replaces: bool,
    },
    /// cft_build: from now on there is an image.
    Build {
        table: usize,
    },
    /// cft_build in a session of its own, beside the writers that are there; it goes on for some steps.
    BuildBeside {
        table: usize,
        steps: u64,
    },
    BuildEnd {
        table: usize,
    },
    /// A transaction with the snapshot of another's.
    Import {
        from: usize,
    },
    /// cft_verify and cft_hot_entities under this session's snapshot.
    Verify {
        table: usize,
    },
    Check(Check),
    OpenCursor {
        check: Check,
        hold: bool,
    },
    FetchCursor,
    /// This session (in a transaction) changes rows; `other` changes the same rows and waits; then this one ends.
    Contend {
        table: usize,
        other: usize,
        first: String,
        second: String,
        commit: bool,
    },
    /// The connection is dropped, whatever it was doing.
    Reconnect,
    /// Every transaction that uses the table ends, because the next step needs it alone.
    Clear {
        table: usize,
        commit: bool,
    },
    /// Every transaction ends, every table is verified.
    Quiesce {
        commit: bool,
    },
    /// The session's backend is killed (0), or a command of --disaster is run. All sessions reconnect.
    Disaster {
        number: usize,
    },
    /// Sets cftrag.memory_limit for all sessions; None resets it.
    MemoryLimit {
        kb: Option<u32>,
    },
}

impl Action {
    /// The step's name in the counts at the end.
    pub fn kind(&self) -> &'static str {
        match self {
            Action::Begin { level: Level::Deferrable, .. } => "begin deferrable",
            Action::Begin { .. } => "begin",
            Action::Commit => "commit",
            Action::Rollback => "rollback",
            Action::Savepoint(_) => "savepoint",
            Action::Release(_) => "release",
            Action::RollbackTo(_) => "rollback to",
            Action::Prepare(_) => "prepare",
            Action::FinishPrepared { .. } => "finish prepared",
            Action::Change { change, .. } => change.kind,
            Action::Maintain { kind, .. } => kind,
            Action::Build { .. } => "build",
            Action::BuildBeside { .. } => "build beside",
            Action::BuildEnd { .. } => "build end",
            Action::Import { .. } => "import",
            Action::Verify { .. } => "verify",
            Action::Check(_) => "check",
            Action::OpenCursor { .. } => "open cursor",
            Action::FetchCursor => "fetch cursor",
            Action::Contend { .. } => "contend",
            Action::Reconnect => "reconnect",
            Action::Clear { .. } => "clear",
            Action::Quiesce { .. } => "quiesce",
            Action::Disaster { .. } => "disaster",
            Action::MemoryLimit { .. } => "memory limit",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Step {
    pub session: usize,
    pub action: Action,
}

pub struct Generator {
    pub(crate) rng: ChaCha8Rng,
    /// Rows of a table above which more is deleted than inserted.
    pub(crate) full: i64,
    two_phase: bool,
    /// Prefix of the names of savepoints and prepared transactions.
    tag: String,
    names: u64,
    /// Kinds that a person leaves out to see past a known failure.
    without: Vec<String>,
    /// The step that a Clear was made for.
    next: Option<Step>,
    pub(crate) long: Long,
    /// Tables with many long names (growth).
    pub(crate) grown: [bool; TABLES.len()],
}

impl Generator {
    pub fn new(seed: u64, two_phase: bool, tag: &str, without: &[String]) -> Generator {
        Generator {
            rng: ChaCha8Rng::seed_from_u64(seed),
            full: 90,
            two_phase,
            tag: tag.to_string(),
            names: 0,
            without: without.to_vec(),
            next: None,
            long: Long::default(),
            grown: [false; TABLES.len()],
        }
    }

    /// The next step. Choices that would block are drawn again; a check never blocks for long, so this ends.
    pub fn next(&mut self, model: &Model) -> Step {
        if let Some(step) = self.next.take() {
            return step;
        }
        if let Some(building) = &model.building
            && model.step >= building.until
        {
            let table = building.table;
            self.next = Some(Step { session: 0, action: Action::BuildEnd { table } });
            return Step { session: 0, action: Action::Clear { table, commit: !one_in(&mut self.rng, 3) } };
        }
        loop {
            let session = self.rng.random_range(0..model.sessions.len());
            if let Some(action) = self.disturbance(model, session).or_else(|| self.action(model, session))
                && !self.without.iter().any(|kind| kind == action.kind())
            {
                return Step { session, action };
            }
        }
    }

    fn action(&mut self, model: &Model, session: usize) -> Option<Action> {
        match &model.sessions[session].txn {
            None => self.outside(model, session),
            Some(txn) if txn.failed => Some(match txn.savepoints.len() {
                n if n > 0 && !one_in(&mut self.rng, 4) => Action::RollbackTo(self.rng.random_range(0..n)),
                _ if one_in(&mut self.rng, 3) => Action::Commit,
                _ => Action::Rollback,
            }),
            Some(_) => self.inside(model, session),
        }
    }

    fn outside(&mut self, model: &Model, session: usize) -> Option<Action> {
        match self.rng.random_range(0..1000) {
            0..460 => self.check(model, session),
            460..480 => self.import(model, session),
            480..660 => self.begin(model),
            660..860 => self.change(model, session),
            860..920 => self.finish_prepared(model),
            920..950 => self.contend(model, session),
            950..990 => self.maintain(model, session),
            990..995 => Some(Action::Reconnect),
            _ => one_in(&mut self.rng, 4).then(|| Action::Quiesce { commit: one_in(&mut self.rng, 2) }),
        }
    }

    fn inside(&mut self, model: &Model, session: usize) -> Option<Action> {
        let txn = model.sessions[session].txn.as_ref()?;
        let cursor = model.sessions[session].cursor.is_some();
        match self.rng.random_range(0..1000) {
            0..450 => self.check(model, session),
            450..470 if !cursor => match self.check(model, session)? {
                Action::Check(check)
                    if matches!(
                        check.mode,
                        Mode::Plain | Mode::Volatile | Mode::Stable | Mode::Under | Mode::Search
                    ) =>
                {
                    Some(Action::OpenCursor { check, hold: one_in(&mut self.rng, 5) })
                }
                _ => None,
            },
            450..510 if cursor => Some(Action::FetchCursor),
            470..690 if !txn.read_only => self.change(model, session),
            690..750 => Some(Action::Savepoint(self.name("s"))),
            750..790 if !txn.savepoints.is_empty() => {
                Some(Action::RollbackTo(self.rng.random_range(0..txn.savepoints.len())))
            }
            790..810 if !txn.savepoints.is_empty() => {
                Some(Action::Release(self.rng.random_range(0..txn.savepoints.len())))
            }
            810..818 if !txn.read_only => self.truncate(model, session),
            820..880 => Some(Action::Commit),
            880..910 => Some(Action::Rollback),
            910..935 if self.two_phase && model.prepared.len() < 2 && !txn.held_cursor => {
                Some(Action::Prepare(self.name("p")))
            }
            935..937 => Some(Action::Reconnect),
            937..955 if !txn.read_only => self.many(model, session),
            955..965 => {
                let table = self.table();
                (!model.blocks(Some(session), table, Need::Read)).then_some(Action::Verify { table })
            }
            _ => None,
        }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{}{prefix}{}", self.tag, self.names)
    }

    fn begin(&mut self, model: &Model) -> Option<Action> {
        let (level, read_only) = match self.rng.random_range(0..100) {
            0..62 => (Level::ReadCommitted, one_in(&mut self.rng, 12)),
            62..90 => (Level::RepeatableRead, one_in(&mut self.rng, 6)),
            90..97 => (Level::Serializable, one_in(&mut self.rng, 6)),
            _ if model.deferrable_waits() => return None,
            _ => (Level::Deferrable, true),
        };
        Some(Action::Begin { level, read_only })
    }

    pub(crate) fn table(&mut self) -> usize {
        self.rng.random_range(0..TABLES.len())
    }

    fn check(&mut self, model: &Model, session: usize) -> Option<Action> {
        let table = self.table();
        let read_only = model.sessions[session].txn.as_ref().is_some_and(|t| t.read_only);
        let mode = match self.rng.random_range(0..200) {
            0..96 => Mode::Plain,
            96..104 => Mode::Search,
            104..108 => Mode::SearchExactly,
            108..120 => Mode::Under,
            120..126 => Mode::UnderInTrees,
            126..136 => Mode::InTrees,
            136..144 => Mode::Roots,
            144..148 => Mode::RootsInTrees,
            148..151 => Mode::Mentions,
            151..154 => Mode::MentionsOtherwise,
            154..157 => Mode::MentionsInTrees,
            157..160 => Mode::MentionsWithin,
            160..168 => Mode::Volatile,
            168..176 => Mode::Stable,
            176..180 => Mode::Immutable,
            180..186 => Mode::Worker,
            186..190 => Mode::Reader,
            190..193 => Mode::Disabled,
            _ if read_only => Mode::Plain,
            193..197 => Mode::Returning,
            _ => Mode::BesideCte,
        };
        let table = if matches!(mode, Mode::Search | Mode::SearchExactly) { WITH_DOCUMENTS } else { table };
        let need = if matches!(mode, Mode::Returning | Mode::BesideCte) { Need::Write } else { Need::Read };
        if model.blocks(Some(session), table, need) {
            return None;
        }
        if self.long.dense && mode == Mode::Plain {
            return Some(Action::Check(self.each(table)));
        }
        let set = matches!(mode, Mode::Under | Mode::UnderInTrees | Mode::Search | Mode::SearchExactly);
        let many = matches!(mode, Mode::Mentions | Mode::MentionsOtherwise | Mode::MentionsInTrees | Mode::InTrees)
            || set
            || one_in(&mut self.rng, 4);
        let count = if many { self.rng.random_range(0..8) } else { 1 };
        let entities = (0..count).map(|_| self.asked(&TABLES[table])).collect();
        let (up, down) = (self.levels(), self.levels());
        Some(Action::Check(Check { table, mode, entities, many, up, down }))
    }

    fn asked(&mut self, table: &Table) -> Option<String> {
        match self.rng.random_range(0..40) {
            0 => None,
            1 => Some("nobody".to_string()),
            _ => Some(dml::entity(&mut self.rng, table)),
        }
    }

    pub(crate) fn levels(&mut self) -> i32 {
        if one_in(&mut self.rng, 40) { 12 } else { self.rng.random_range(0..5) }
    }

    fn change(&mut self, model: &Model, session: usize) -> Option<Action> {
        let table = self.table();
        let change = if table == WITH_DOCUMENTS && one_in(&mut self.rng, 3) {
            documents::change(&mut self.rng)
        } else if table == LINKED_TO && one_in(&mut self.rng, 4) {
            links::change(&mut self.rng)
        } else {
            dml::change(&mut self.rng, &TABLES[table], model.rows[table] > self.full)
        };
        (!model.blocks(Some(session), table, change.need)).then_some(Action::Change { table, change })
    }

    fn many(&mut self, model: &Model, session: usize) -> Option<Action> {
        let table = self.table();
        (!model.blocks(Some(session), table, Need::Write))
            .then(|| Action::Change { table, change: dml::many(&mut self.rng, &TABLES[table]) })
    }

    fn import(&mut self, model: &Model, session: usize) -> Option<Action> {
        let exporters: Vec<usize> = (0..model.sessions.len()).filter(|i| *i != session && model.exports(*i)).collect();
        exporters.choose(&mut self.rng).map(|from| Action::Import { from: *from })
    }

    fn finish_prepared(&mut self, model: &Model) -> Option<Action> {
        if model.prepared.is_empty() {
            return None;
        }
        let gid = model.prepared[self.rng.random_range(0..model.prepared.len())].gid.clone();
        Some(Action::FinishPrepared { gid, commit: !one_in(&mut self.rng, 3) })
    }

    /// TRUNCATE in a transaction: once, twice, followed by rows, by COPY FREEZE, undone by a savepoint.
    fn truncate(&mut self, model: &Model, session: usize) -> Option<Action> {
        let table = self.table();
        if model.blocks(Some(session), table, Need::Exclusive) || model.sessions[session].cursor.is_some() {
            return None;
        }
        let parts = truncation(&mut self.rng, &TABLES[table]);
        Some(Action::Change { table, change: Change { kind: "truncate", need: Need::Exclusive, parts } })
    }

    fn contend(&mut self, model: &Model, session: usize) -> Option<Action> {
        if model.sessions.len() < 2 {
            return None;
        }
        let other = (session + self.rng.random_range(1..model.sessions.len())) % model.sessions.len();
        let busy = model.sessions[other].txn.as_ref().is_some_and(|t| t.failed || t.read_only);
        let table = self.table();
        if busy || model.blocks(Some(session), table, Need::Write) || model.blocks(Some(other), table, Need::Write) {
            return None;
        }
        let t = &TABLES[table];
        let value = |rng: &mut ChaCha8Rng| {
            let name = dml::entity(rng, t);
            if t.numeric { name } else { crate::check::literal(&name) }
        };
        let (parent, to, from) = (value(&mut self.rng), value(&mut self.rng), value(&mut self.rng));
        let write = |rng: &mut ChaCha8Rng, name: &str| match rng.random_range(0..3) {
            0 => format!("DELETE FROM {} WHERE {} = {parent}", t.qualified(), t.parent),
            1 => format!("UPDATE {} SET note = note + 1 WHERE {} = {parent}", t.qualified(), t.parent),
            _ => format!("UPDATE {} SET {} = {name} WHERE {} = {parent}", t.qualified(), t.child, t.parent),
        };
        let first = write(&mut self.rng, &to);
        let second = write(&mut self.rng, &from);
        Some(Action::Contend { table, other, first, second, commit: !one_in(&mut self.rng, 3) })
    }

    fn maintain(&mut self, model: &Model, session: usize) -> Option<Action> {
        let table = self.table();
        let t = &TABLES[table];
        let edges = t.qualified();
        let sql = |text: String| vec![Part::Sql(text)];
        let rng = &mut self.rng;
        let (kind, need, sql, replaces) = match rng.random_range(0..100) {
            0..20 => {
                let documents = if table == WITH_DOCUMENTS { ", exact.documents" } else { "" };
                ("vacuum", Need::Write, sql(format!("VACUUM {edges}{documents}")), false)
            }
            // VACUUM (FREEZE) would wait for pins, which open portals of others hold; this skips those pages.
            20..26 => {
                let parts =
                    ["SET vacuum_freeze_min_age = 0", &format!("VACUUM {edges}"), "RESET vacuum_freeze_min_age"];
                ("vacuum freeze", Need::Write, parts.map(|part| Part::Sql(part.to_string())).to_vec(), false)
            }
            26..36 => ("vacuum full", Need::Exclusive, sql(format!("VACUUM FULL {edges}")), true),
            36..50 => return self.alone(model, session, table, Need::BlockWriters, Action::Build { table }),
            50..60 => {
                let steps = rng.random_range(2..40);
                let free = model.building.is_none() && !model.blocks(None, table, Need::Read);
                return free.then_some(Action::BuildBeside { table, steps });
            }
            60..75 => ("truncate", Need::Exclusive, in_a_transaction(truncation(rng, t)), true),
            75..80 => {
                let rewrite = format!("ALTER TABLE {edges} ALTER COLUMN note TYPE int USING note + 1");
                ("rewrite", Need::Exclusive, sql(rewrite), true)
            }
            80..85 => ("swap columns", Need::Exclusive, sql(swap(t)), true),
            85..92 => ("triggers off", Need::BlockWriters, in_a_transaction(unwatched(rng, t)), true),
            92..96 => ("attach again", Need::BlockWriters, sql(t.attach()), false),
            _ => {
                let again = format!("SELECT cft_detach('{edges}'); {}", t.attach());
                ("detach and attach", Need::Exclusive, sql(again), true)
            }
        };
        self.alone(model, session, table, need, Action::Maintain { table, kind, sql, replaces })
    }

    /// The action, after a Clear if another transaction is in its way.
    pub(crate) fn alone(
        &mut self,
        model: &Model,
        session: usize,
        table: usize,
        need: Need,
        action: Action,
    ) -> Option<Action> {
        if !model.blocks(Some(session), table, need) {
            return Some(action);
        } else if model.builds(table) {
            return None;
        }
        self.next = Some(Step { session, action });
        Some(Action::Clear { table, commit: !one_in(&mut self.rng, 3) })
    }
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;
