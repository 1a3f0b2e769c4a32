//! What the driver knows of the sessions without asking the server: open transactions, who uses which table, and which
//! condition of docs/design.md, section 2, applies to a check. Pure: the generator and its unit tests need no server.
//!
//! It has two uses. Steps that would block are not generated (lock_timeout catches the rest). And a check is called *free* only if
//! the model can tell that no condition applies to it: of those, at least 95 % must be served by the image. The model
//! errs on one side only: where it cannot know (a savepoint undone, a build in place), the check is not free.

use crate::check::{Check, Mode};
use crate::schema::{TABLES, WITH_POLICY};
use crate::step::{Action, Step};

/// What a statement needs of a table until the end of its transaction: the lock modes of PostgreSQL that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    Nothing,
    Read,
    Write,
    /// SHARE or SHARE ROW EXCLUSIVE: a build, CREATE TRIGGER, a cascade over rows that any session may have locked.
    BlockWriters,
    Exclusive,
}

impl Need {
    fn conflicts(self, other: Need) -> bool {
        let (low, high) = if self < other { (self, other) } else { (other, self) };
        match high {
            Need::Exclusive => low != Need::Nothing,
            Need::BlockWriters => low >= Need::Write,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    ReadCommitted,
    RepeatableRead,
    Serializable,
    /// SERIALIZABLE READ ONLY DEFERRABLE.
    Deferrable,
}

/// For this session every table is too large to be built in place (cftrag.build_in_place_limit), so it asks for a worker.
pub const LEAVES_TO_WORKERS: usize = 0;

pub type Uses = [Need; TABLES.len()];

#[derive(Clone, Debug)]
pub struct Txn {
    pub level: Level,
    pub read_only: bool,
    pub savepoints: Vec<String>,
    pub failed: bool,
    /// It may have an xid.
    pub wrote: bool,
    pub uses: Uses,
    /// Own TRUNCATE, rewrite or change of triggers.
    pub ddl: [bool; TABLES.len()],
    /// The step of the snapshot that lasts to the end of the transaction.
    pub snapshot: Option<u64>,
    /// Something PREPARE TRANSACTION refuses.
    pub held_cursor: bool,
    /// More than 64 subtransactions: the snapshots of others overflow.
    pub overflows: bool,
}

#[derive(Clone, Debug)]
pub struct Cursor {
    pub check: Check,
    pub opened: u64,
    /// Number of savepoints at its opening: rolling back to one of them closes it.
    pub depth: usize,
    /// Own TRUNCATE or the like before its opening.
    pub ddl: bool,
    /// WITH HOLD: fetched after the commit, filled by it.
    pub hold: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Session {
    pub txn: Option<Txn>,
    pub cursor: Option<Cursor>,
}

#[derive(Clone, Debug)]
pub struct Prepared {
    pub gid: String,
    pub uses: Uses,
    pub ddl: [bool; TABLES.len()],
    pub overflows: bool,
}

/// A cft_build that runs beside writers, until that step at least.
#[derive(Clone, Debug)]
pub struct Building {
    pub table: usize,
    pub until: u64,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub step: u64,
    pub sessions: Vec<Session>,
    pub prepared: Vec<Prepared>,
    /// The step at which the table's image was built; None: there is none.
    pub image: [Option<u64>; TABLES.len()],
    pub building: Option<Building>,
    /// cftrag.memory_limit is too low for all images.
    pub limited: bool,
    /// Tables whose image may have run out of memory: only cft_build heals that.
    pub starved: [bool; TABLES.len()],
    /// Rows at the last count, so that the generator keeps the forests small.
    pub rows: [i64; TABLES.len()],
}

/// Who asks for a lock, so that its own locks do not count.
pub type Owner = Option<usize>;

impl Model {
    pub fn new(sessions: usize) -> Model {
        Model {
            step: 0,
            sessions: vec![Session::default(); sessions],
            prepared: Vec::new(),
            image: [None; TABLES.len()],
            building: None,
            limited: false,
            starved: [false; TABLES.len()],
            rows: [0; TABLES.len()],
        }
    }

    /// Is a build of the table under way?
    pub fn builds(&self, table: usize) -> bool {
        self.building.as_ref().is_some_and(|b| b.table == table)
    }

    /// Would this need wait for another session or a prepared transaction? (Or disturb a build that is under way.)
    pub fn blocks(&self, me: Owner, table: usize, need: Need) -> bool {
        if need >= Need::BlockWriters && self.builds(table) {
            return true;
        }
        let sessions = self.sessions.iter().enumerate().filter(|(i, _)| Some(*i) != me);
        sessions.filter_map(|(_, s)| s.txn.as_ref()).any(|txn| txn.uses[table].conflicts(need))
            || self.prepared.iter().any(|p| p.uses[table].conflicts(need))
    }

    /// The sessions and the prepared transactions that use the table.
    pub fn users(&self, table: usize) -> (Vec<usize>, Vec<String>) {
        let uses = |session: &Session| session.txn.as_ref().is_some_and(|t| t.uses[table] != Need::Nothing);
        let sessions = self.sessions.iter().enumerate().filter(|(_, s)| uses(s)).map(|(i, _)| i);
        let prepared = self.prepared.iter().filter(|p| p.uses[table] != Need::Nothing).map(|p| p.gid.clone());
        (sessions.collect(), prepared.collect())
    }

    /// SERIALIZABLE READ ONLY DEFERRABLE waits while a serializable transaction that can write runs.
    pub fn deferrable_waits(&self) -> bool {
        // A prepared one may have been serializable.
        !self.prepared.is_empty()
            || self.sessions.iter().filter_map(|s| s.txn.as_ref()).any(|t| t.level == Level::Serializable)
    }

    /// Does the step make sense now? Always, as long as no step before it was left out.
    pub fn allows(&self, step: &Step) -> bool {
        let me = step.session;
        let txn = self.sessions[me].txn.as_ref();
        let running = txn.is_none_or(|t| !t.failed);
        let free = |table: usize, need: Need| !self.blocks(Some(me), table, need);
        match &step.action {
            Action::Begin { level, .. } => txn.is_none() && (*level != Level::Deferrable || !self.deferrable_waits()),
            Action::Import { from } => txn.is_none() && *from != me && self.exports(*from),
            Action::Verify { table } => running && free(*table, Need::Read),
            Action::Commit | Action::Rollback => txn.is_some(),
            Action::Prepare(_) => running && txn.is_some_and(|t| !t.held_cursor),
            Action::Savepoint(_) => txn.is_some() && running,
            Action::Release(index) => running && txn.is_some_and(|t| *index < t.savepoints.len()),
            Action::RollbackTo(index) => txn.is_some_and(|t| *index < t.savepoints.len()),
            Action::FinishPrepared { gid, .. } => self.prepared.iter().any(|p| p.gid == *gid),
            Action::Change { table, change } => running && free(*table, change.need),
            Action::Maintain { table, .. } => txn.is_none() && free(*table, Need::Exclusive),
            Action::Build { table } => txn.is_none() && free(*table, Need::BlockWriters),
            Action::BuildBeside { table, .. } => self.building.is_none() && free(*table, Need::Read),
            Action::BuildEnd { table } => self.builds(*table),
            Action::Check(check) => running && free(check.table, Need::Write),
            Action::OpenCursor { check, .. } => txn.is_some() && running && free(check.table, Need::Read),
            Action::FetchCursor => running && self.sessions[me].cursor.is_some(),
            Action::Contend { table, other, .. } => {
                let other = self.sessions[*other].txn.as_ref().is_none_or(|t| !t.failed && !t.read_only);
                txn.is_none() && other && free(*table, Need::BlockWriters)
            }
            Action::Reconnect
            | Action::Clear { .. }
            | Action::Quiesce { .. }
            | Action::Disaster { .. }
            | Action::MemoryLimit { .. } => true,
        }
    }

    pub fn begin(&mut self, session: usize, level: Level, read_only: bool) {
        self.sessions[session].txn = Some(Txn {
            level,
            read_only,
            savepoints: Vec::new(),
            failed: false,
            wrote: false,
            uses: [Need::Nothing; TABLES.len()],
            ddl: [false; TABLES.len()],
            snapshot: None,
            held_cursor: false,
            overflows: false,
        });
        self.sessions[session].cursor = None;
    }

    /// Whether this session can export its snapshot: it is in a transaction, but not in a subtransaction. (Only serializable transactions import a serializable one.)
    pub fn exports(&self, session: usize) -> bool {
        let can = |txn: &Txn| {
            !txn.failed
                && txn.savepoints.is_empty()
                && matches!(txn.level, Level::ReadCommitted | Level::RepeatableRead)
        };
        self.sessions[session].txn.as_ref().is_some_and(can)
    }

    /// The session began a transaction with the snapshot of `from`, which cannot be prepared any more.
    pub fn imported(&mut self, session: usize, from: usize) {
        let step = self.step;
        let Some(exporter) = &mut self.sessions[from].txn else { return };
        exporter.held_cursor = true;
        let taken = match exporter.level {
            Level::ReadCommitted => step,
            _ => *exporter.snapshot.get_or_insert(step),
        };
        self.begin(session, Level::RepeatableRead, false);
        if let Some(txn) = &mut self.sessions[session].txn {
            txn.snapshot = Some(taken);
        }
    }

    /// Whether a snapshot that this session takes now overflows, and whether it collects subtransactions of others as well. PostgreSQL does
    /// not tell what it makes of these.
    pub fn overflow(&self, session: usize) -> (bool, bool) {
        let others =
            || self.sessions.iter().enumerate().filter(|(i, _)| *i != session).filter_map(|(_, s)| s.txn.as_ref());
        let overflows = others().any(|txn| txn.overflows) || self.prepared.iter().any(|p| p.overflows);
        (overflows, overflows && others().any(|txn| txn.wrote && !txn.overflows && !txn.savepoints.is_empty()))
    }

    /// DEFERRABLE transactions take their snapshot at the beginning.
    pub fn took_snapshot(&mut self, session: usize, level: Level) {
        let step = self.step;
        if let (Some(txn), Level::Deferrable) = (&mut self.sessions[session].txn, level) {
            txn.snapshot = Some(step);
        }
    }

    /// A statement of the session used the table (in its transaction, or by itself).
    pub fn used(&mut self, session: usize, table: usize, need: Need) {
        let step = self.step;
        if let Some(txn) = &mut self.sessions[session].txn {
            txn.uses[table] = txn.uses[table].max(need);
            txn.wrote |= need > Need::Read;
            txn.ddl[table] |= need == Need::Exclusive;
            if txn.level != Level::ReadCommitted {
                txn.snapshot.get_or_insert(step);
            }
        }
    }

    /// The file, the triggers or the columns of the table are new to everybody.
    pub fn replaced(&mut self, table: usize) {
        self.image[table] = None;
    }

    pub fn end(&mut self, session: usize, commit: bool) {
        let Some(txn) = self.sessions[session].txn.take() else { return };
        self.sessions[session].cursor = None;
        if commit && !txn.failed {
            (0..TABLES.len()).filter(|t| txn.ddl[*t]).for_each(|t| self.replaced(t));
        }
    }

    pub fn prepare(&mut self, session: usize, gid: &str) {
        self.sessions[session].cursor = None;
        if let Some(txn) = self.sessions[session].txn.take() {
            self.prepared.push(Prepared {
                gid: gid.to_string(),
                uses: txn.uses,
                ddl: txn.ddl,
                overflows: txn.overflows,
            });
        }
    }

    pub fn finish_prepared(&mut self, gid: &str, commit: bool) {
        let Some(at) = self.prepared.iter().position(|p| p.gid == gid) else { return };
        let prepared = self.prepared.remove(at);
        if commit {
            (0..TABLES.len()).filter(|t| prepared.ddl[*t]).for_each(|t| self.replaced(t));
        }
    }

    pub fn roll_back_to(&mut self, session: usize, index: usize) {
        if let Some(txn) = &mut self.sessions[session].txn {
            txn.savepoints.truncate(index + 1);
            txn.failed = false;
        }
        if self.sessions[session].cursor.as_ref().is_some_and(|c| c.depth > index) {
            self.sessions[session].cursor = None;
        }
    }

    /// The condition of section 2 that may apply to this check of this session, or None: the image must serve it.
    /// A cursor's check is judged by what was true at its opening.
    pub fn condition(&self, session: usize, check: &Check, cursor: Option<&Cursor>) -> Option<&'static str> {
        let table = check.table;
        let txn = self.sessions[session].txn.as_ref();
        let wrote = txn.is_some_and(|t| t.wrote);
        let serializable = txn.is_some_and(|t| matches!(t.level, Level::Serializable | Level::Deferrable));
        if !check.many && check.entities == [None] {
            // The function is strict and was not called.
            return Some("null entity");
        } else if check.mode == Mode::Disabled {
            return Some("disabled");
        } else if matches!(check.mode, Mode::Search | Mode::SearchExactly) {
            // Without within the image is not asked.
            return Some("search");
        } else if serializable {
            return Some("serializable");
        } else if matches!(check.mode, Mode::Returning | Mode::BesideCte) {
            return Some("pending trigger");
        } else if check.mode == Mode::Reader && table == WITH_POLICY {
            return Some("row security");
        } else if check.mode == Mode::Worker && wrote {
            return Some("parallel, wrote");
        } else if txn.is_some_and(|t| t.ddl[table]) || cursor.is_some_and(|c| c.ddl) {
            return Some("own ddl");
        }
        if self.starved[table] {
            return Some("memory");
        } else if self.builds(table) {
            return Some("being built");
        }
        let Some(built) = self.image[table] else { return Some("no image") };
        let snapshot = cursor.map(|c| c.opened).or(txn.and_then(|t| t.snapshot));
        snapshot.is_some_and(|taken| taken <= built).then_some("snapshot older than the build")
    }

    /// A first reader without an xid builds in place if nobody else writes; called after a check that found no image.
    pub fn may_have_built(&mut self, session: usize, check: &Check) {
        let wrote = self.sessions[session].txn.as_ref().is_some_and(|t| t.wrote);
        let prevented = matches!(check.mode, Mode::Disabled | Mode::Worker | Mode::Returning | Mode::BesideCte);
        if session != LEAVES_TO_WORKERS
            && !wrote
            && !prevented
            && !self.blocks(Some(session), check.table, Need::BlockWriters)
        {
            self.image[check.table] = Some(self.step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: usize) -> Check {
        Check { table, mode: Mode::Plain, entities: vec![Some(String::new())], many: false, up: 1, down: 1 }
    }

    #[test]
    fn exclusive_waits_for_a_reader_and_a_reader_for_nothing_else() {
        let mut model = Model::new(2);
        model.begin(0, Level::ReadCommitted, false);
        model.used(0, 1, Need::Read);
        assert!(model.blocks(Some(1), 1, Need::Exclusive));
        assert!(!model.blocks(Some(0), 1, Need::Exclusive));
        assert!(!model.blocks(Some(1), 1, Need::BlockWriters));
        assert!(!model.blocks(Some(1), 0, Need::Exclusive));
    }

    #[test]
    fn a_committed_truncate_takes_the_image_and_a_rolled_back_one_does_not() {
        for commit in [true, false] {
            let mut model = Model::new(1);
            model.image[0] = Some(0);
            model.begin(0, Level::ReadCommitted, false);
            model.used(0, 0, Need::Exclusive);
            model.step = 2;
            assert_eq!(model.condition(0, &plain(0), None), Some("own ddl"));
            model.end(0, commit);
            assert_eq!(model.condition(0, &plain(0), None), commit.then_some("no image"));
        }
    }

    #[test]
    fn a_snapshot_older_than_the_build_is_a_condition() {
        let mut model = Model::new(1);
        model.begin(0, Level::RepeatableRead, false);
        model.step = 1;
        model.used(0, 0, Need::Read);
        model.image[0] = Some(5);
        model.step = 6;
        assert!(model.condition(0, &plain(0), None).is_some());
        model.image[0] = Some(0);
        assert_eq!(model.condition(0, &plain(0), None), None);
    }
}
