//! How a step's end changes the model: the one place where both the driver and the generator's tests look.

use crate::check::Mode;
use crate::dml::MANY;
use crate::model::{Building, Cursor, Model, Need};
use crate::schema::TABLES;
use crate::step::{Action, Step};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The statement failed in a way the workload provokes (serialization failure, unique violation, ...).
    Failed,
}

impl Model {
    pub fn apply(&mut self, step: &Step, outcome: &Outcome) {
        let me = step.session;
        let done = *outcome == Outcome::Done;
        self.step += 1;
        match &step.action {
            Action::Begin { level, read_only } => {
                if done {
                    self.begin(me, *level, *read_only);
                    self.took_snapshot(me, *level);
                }
            }
            // COMMIT of a failed transaction rolls back; a failed COMMIT has ended it too.
            Action::Commit => self.end(me, done),
            Action::Rollback | Action::Reconnect => self.end(me, false),
            Action::Prepare(gid) => match done {
                true => self.prepare(me, gid),
                false => self.end(me, false),
            },
            Action::FinishPrepared { gid, commit } => self.finish_prepared(gid, *commit),
            Action::RollbackTo(index) => self.roll_back_to(me, *index),
            Action::Savepoint(_) | Action::Release(_) => self.savepoint(me, &step.action),
            Action::Import { from } => {
                if done {
                    self.imported(me, *from);
                }
            }
            Action::Verify { table } => self.ran(me, *table, Need::Read, done),
            Action::Change { table, change } => {
                self.ran(me, *table, change.need, done);
                if let Some(txn) = &mut self.sessions[me].txn {
                    txn.overflows |= done && change.kind == MANY;
                }
            }
            Action::Check(check) => {
                let need =
                    if matches!(check.mode, Mode::Returning | Mode::BesideCte) { Need::Write } else { Need::Read };
                self.ran(me, check.table, need, done);
                if self.image[check.table].is_none() {
                    self.may_have_built(me, check);
                }
            }
            Action::OpenCursor { check, hold } => self.open_cursor(me, check, *hold, done),
            Action::FetchCursor => self.fetch_cursor(me, done),
            Action::Maintain { table, replaces, .. } => {
                if *replaces {
                    self.replaced(*table);
                }
            }
            Action::Build { table } => {
                if done {
                    self.built(*table);
                }
            }
            Action::BuildBeside { table, steps } => {
                if done {
                    self.building = Some(Building { table: *table, until: self.step + steps });
                }
            }
            Action::BuildEnd { .. } => self.build_ended(done),
            // After this step only the other session can be in a transaction.
            Action::Contend { table, other, .. } => self.ran(*other, *table, Need::Write, done),
            Action::Clear { table, commit } => {
                let (sessions, prepared) = self.users(*table);
                sessions.into_iter().for_each(|session| self.end(session, *commit));
                prepared.iter().for_each(|gid| self.finish_prepared(gid, *commit));
            }
            Action::Quiesce { commit } => self.quiesce(*commit),
            Action::Disaster { .. } => self.disaster(),
            Action::MemoryLimit { kb } => {
                self.limited = kb.is_some();
                self.starved = self.starved.map(|starved| starved || self.limited);
            }
        }
    }

    fn ran(&mut self, session: usize, table: usize, need: Need, done: bool) {
        self.used(session, table, need);
        match &mut self.sessions[session].txn {
            Some(txn) if !done => txn.failed = true,
            // Outside a transaction block, so its effect is visible at once.
            None if done && need == Need::Exclusive => self.replaced(table),
            _ => {}
        }
    }

    fn savepoint(&mut self, session: usize, action: &Action) {
        let Some(txn) = &mut self.sessions[session].txn else { return };
        match action {
            Action::Savepoint(name) => txn.savepoints.push(name.clone()),
            Action::Release(index) => txn.savepoints.truncate(*index),
            _ => {}
        }
        // The cursor now belongs to what is around the released savepoint.
        let depth = txn.savepoints.len();
        if let (Action::Release(_), Some(cursor)) = (action, &mut self.sessions[session].cursor) {
            cursor.depth = cursor.depth.min(depth);
        }
    }

    fn open_cursor(&mut self, session: usize, check: &crate::check::Check, hold: bool, done: bool) {
        self.ran(session, check.table, Need::Read, done);
        let opened = self.step;
        let Some(txn) = &mut self.sessions[session].txn else { return };
        txn.held_cursor |= hold;
        if done {
            self.sessions[session].cursor = Some(Cursor {
                check: check.clone(),
                opened: txn.snapshot.unwrap_or(opened),
                depth: txn.savepoints.len(),
                ddl: txn.ddl[check.table],
                hold,
            });
        }
    }

    fn fetch_cursor(&mut self, session: usize, done: bool) {
        if let Some(cursor) = self.sessions[session].cursor.take() {
            self.ran(session, cursor.check.table, Need::Read, done);
        }
    }

    fn build_ended(&mut self, done: bool) {
        if let (Some(building), true) = (self.building.take(), done) {
            self.built(building.table);
        }
    }

    fn built(&mut self, table: usize) {
        self.image[table] = Some(self.step);
        self.starved[table] = self.limited;
    }

    /// Sessions and images are gone; what was committed or prepared is not.
    fn disaster(&mut self) {
        self.building = None;
        self.image = [None; TABLES.len()];
        self.starved = [self.limited; TABLES.len()];
        (0..self.sessions.len()).for_each(|session| self.end(session, false));
    }

    fn quiesce(&mut self, commit: bool) {
        self.build_ended(true);
        for session in 0..self.sessions.len() {
            self.end(session, commit);
        }
        for gid in self.prepared.iter().map(|p| p.gid.clone()).collect::<Vec<_>>() {
            self.finish_prepared(&gid, commit);
        }
    }
}
