//! Building an image beside writers, as CREATE INDEX CONCURRENTLY builds an index. A background worker does it.
//!
//!   1  announce the load: from here on flushes go to its log (loading.rs)
//!   2  wait for the transactions that hold a lock to write to the table now: what they flushed before is not in the log
//!   3  snapshot B, a scan that counts (build.rs), a scan whose rows are inserted as settled
//!   4  apply the log, but for what B sees already; publish when it is empty, under the lock that flushes take
//!
//! It waits (2) holding no table lock and no snapshot, so it can be in nobody's way: not a writer's, a DDL's or a VACUUM's. For 3 and 4
//! it takes ShareUpdateExclusiveLock, as CREATE INDEX CONCURRENTLY does, and gives up when somebody waits for it. (AccessShareLock would
//! do but for that: LockHasWaiters does not know fast-path locks, and reads a null pointer.) Waiting is capped; a load that ended without an image is
//! tried again at the next need, not before RETRY.

#![expect(unsafe_code, reason = "background workers, locks, snapshots")]

use crate::build::{self, Refused};
use crate::compat;
use crate::delta::Change;
use crate::edges::Edges;
use crate::error::{self, Fallible, LoadLost};
use crate::holders;
use crate::loading::{self, Segment};
use crate::registration::Functions;
use crate::shmem::{self, Control};
use crate::slot::Slot;
use crate::visibility::{Known, Seen};
use crate::worker;
use cftrag_core::{Deletion, Edge, Error, Fate, Fates, Hint, Image, Memory, View, Visibility};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// Phases of slot::PHASES.
const WAITING: u32 = 1;
pub const LOCKING: u32 = 2;
const SCANNING: u32 = 3;
const APPLYING: u32 = 4;

/// A transaction that writes to the table is waited for so long; then the load is given up, and what it captured freed.
const PATIENCE: Duration = Duration::from_secs(600);
/// Between two looks at the transactions that are waited for.
const LOOK: Duration = Duration::from_millis(5);
/// After a load that failed no reader asks for another before this.
pub const RETRY_MICROSECONDS: i64 = 10_000_000;
/// What the scan holds.
const LOCK: pg_sys::LOCKMODE = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;
/// Rows between two looks whether somebody waits for our table lock.
const ROWS_A_LOOK: u64 = 4096;

/// How a load ended, for whoever asked for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Outcome {
    None = 0,
    Built = 1,
    Memory = 2,
    Refused = 3,
    Busy = 4,
    Yielded = 5,
}

impl Outcome {
    /// What the asker of that number reads in the slot; None: its build did not end, or another asker's ended since.
    pub fn of(word: u64, asker: u64) -> Self {
        [Self::Built, Self::Memory, Self::Refused, Self::Busy, Self::Yielded]
            .into_iter()
            .find(|outcome| word == outcome.word(asker))
            .unwrap_or(Self::None)
    }

    fn word(self, asker: u64) -> u64 {
        asker << 8 | self as u64
    }
}

/// What is to be built, for whom, and how long writers are waited for.
pub struct Job {
    pub table: pg_sys::Oid,
    pub functions: Functions,
    pub asker: u64,
    pub patience: Duration,
}

/// Builds the image of a table beside its writers. In a process of its own, outside any transaction.
pub fn load(control: &Control, job: &Job) {
    let done = transaction(|| match build::alone(control, job.table, |index| run(control, index, job)) {
        Ok(()) => Outcome::Built,
        Err(Refused::Busy) => Outcome::Busy,
        Err(Refused::Failed(report)) => {
            report.report(PgLogLevel::LOG);
            match build::noted_outcome() {
                Outcome::None => Outcome::Refused,
                noted => noted,
            }
        }
    });
    if let Some((_, slot)) = control.find(job.table) {
        slot.outcome.store(done.word(job.asker), SeqCst);
        let wait = if done == Outcome::Built { 0 } else { RETRY_MICROSECONDS };
        // SAFETY: reads the clock.
        slot.retry_at.store(unsafe { pg_sys::GetCurrentTimestamp() } + wait, SeqCst);
    }
}

/// Runs `f` in a transaction of a background worker.
pub fn transaction<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the main loop of a background worker, outside any transaction; an ERROR ends the worker.
    unsafe {
        pg_sys::StartTransactionCommand();
        let result = f();
        pg_sys::CommitTransactionCommand();
        result
    }
}

/// Ends the transaction and its locks, and begins another: what is waited for must not be able to wait for us.
fn between_transactions() {
    // SAFETY: as in transaction(); no snapshot is active and nothing palloc'd is kept.
    unsafe {
        pg_sys::CommitTransactionCommand();
        pg_sys::StartTransactionCommand();
    }
}

fn run(control: &Control, index: usize, job: &Job) -> Fallible<()> {
    let slot = &control.slots[index];
    let started = Instant::now();
    {
        let table = Edges::open(job.table)?;
        if let Some(why) = table.unsuitable() {
            return Err(error::wrong_kind(&table.name(), why));
        }
        // The reader who asked may have seen what only his transaction sees.
        if job.asker == worker::NOBODY && build::is_current(control, &table, job.functions) {
            return Ok(());
        }
        crate::sweep::sweep(control, job.functions);
        slot.begin(WAITING, table.bytes());
    }
    let load = build::random_seed() | 1;
    slot.write(|_| {
        slot.log.store(0, SeqCst);
        slot.loading.store(load, SeqCst);
    });
    between_transactions();
    wait_for_writers(slot, job)?;
    slot.progress.phase.store(LOCKING, SeqCst);
    lock(job)?;
    slot.progress.phase.store(SCANNING, SeqCst);
    let table = Edges::open(job.table)?;
    // SAFETY: a snapshot of now, registered while it is used (an ERROR's abort forgets it).
    let snapshot = unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) };
    let result = scan_and_apply(control, index, &table, job.functions, snapshot, load, started);
    // SAFETY: registered above.
    unsafe { pg_sys::UnregisterSnapshot(snapshot) };
    result
}

fn scan_and_apply(
    control: &Control,
    index: usize,
    table: &Edges,
    functions: Functions,
    snapshot: pg_sys::Snapshot,
    load: u64,
    started: Instant,
) -> Fallible<()> {
    let slot = &control.slots[index];
    let mut memory = Memory::new();
    let mut header = build::load(control, index, table, functions, snapshot, started, &mut memory)?;
    header.load = load;
    slot.progress.phase.store(APPLYING, SeqCst);
    // SAFETY: an MVCC snapshot that is registered by the caller.
    let seen = unsafe { Seen::new(snapshot) };
    let mut applier = Applier { control, table: table.name(), seen, known: Known::default(), waiting: Vec::new() };
    loop {
        give_way(table)?;
        applier.look_at_waiting()?;
        let segments = loading::take(control, index);
        let (trigger, locator, columns) = (header.key.row.oid, header.key.locator, header.key.columns);
        for segment in segments {
            // Another trigger's notes, or of the table as it was stored before: not this image's.
            if u32::from(segment.source.trigger) != trigger || segment.source.locator != locator {
                continue;
            }
            if segment.source.columns != columns {
                return Err(error::load_lost(&table.name(), LoadLost::Columns));
            }
            applier.apply(&mut memory, &segment)?;
            check_for_interrupts!();
        }
        applier.retry(&mut memory)?;
        if slot.log_short.load(SeqCst) == load {
            build::note_outcome(Outcome::Memory);
            return Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
        }
        if slot.log_lost.load(SeqCst) == load {
            return Err(error::load_lost(&table.name(), LoadLost::Noted));
        }
        header.build_microseconds = started.elapsed().as_micros() as u64;
        let empty = || slot.log.load(SeqCst) == 0 && slot.log_lost.load(SeqCst) != load && applier.waiting.is_empty();
        if build::publish(control, index, header, empty) {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            return Err(error::load_lost(&table.name(), LoadLost::Endless));
        }
        if !applier.waiting.is_empty() {
            pause();
        }
    }
}

/// Names of an edge, kept.
type Names = (Option<Vec<u8>>, Vec<u8>, Vec<u8>);

struct Applier<'c> {
    control: &'c Control,
    table: String,
    seen: Seen,
    known: Known,
    waiting: Vec<Waiting>,
}

/// A delete of a row whose insert has not come yet.
struct Waiting {
    names: Names,
    change: Change,
    /// Its transaction has committed: the insert is in the log by now, or never will be.
    over: bool,
}

impl Applier<'_> {
    fn apply(&mut self, memory: &mut Memory, segment: &Segment) -> Fallible<()> {
        for (edge, change) in segment.changes() {
            if !self.is_settled(change)? && !self.one(memory, &edge, change)? {
                let names = (edge.tree.map(<[u8]>::to_vec), edge.parent.to_vec(), edge.child.to_vec());
                self.waiting.push(Waiting { names, change, over: false });
            }
        }
        Ok(())
    }

    /// Forgets what was undone, and marks what is over. Before the log is read: whoever ran then may end before the next reading.
    fn look_at_waiting(&mut self) -> Fallible<()> {
        self.known = Known::default();
        let mut now = Known::default();
        for waiting in &mut self.waiting {
            let xid = waiting.change.by();
            now.learn(&[xid]).ok_or_else(|| error::load_lost(&self.table, LoadLost::Ancient))?;
            waiting.over = now.fate(xid) == Fate::Committed;
        }
        self.waiting.retain(|waiting| now.fate(waiting.change.by()) != Fate::Aborted);
        Ok(())
    }

    fn retry(&mut self, memory: &mut Memory) -> Fallible<()> {
        for waiting in std::mem::take(&mut self.waiting) {
            let (tree, parent, child) = &waiting.names;
            let edge = Edge { tree: tree.as_deref(), parent, child };
            match self.one(memory, &edge, waiting.change)? {
                true => {}
                false if waiting.over => return Err(error::load_lost(&self.table, LoadLost::Unmatched)),
                false => self.waiting.push(waiting),
            }
        }
        Ok(())
    }

    /// Whether the scan's snapshot saw the change (an insert is in the image as a settled row, a deleted row is not), or saw it undone.
    fn is_settled(&mut self, change: Change) -> Fallible<bool> {
        let xid = change.by();
        if self.seen.view(xid, Hint::None) == View::Unknown {
            self.seen.learn(&[xid]).ok_or_else(|| error::load_lost(&self.table, LoadLost::Ancient))?;
        }
        Ok(self.seen.view(xid, Hint::None) == View::Seen || self.seen.learned(xid) == Hint::Aborted)
    }

    /// Applies one change; false: a delete whose insert has not come yet.
    fn one(&mut self, memory: &mut Memory, edge: &Edge, change: Change) -> Fallible<bool> {
        loop {
            let mut ask = Vec::new();
            let done = {
                let image = Image::open(memory).map_err(|e| error::core(&e))?;
                match change {
                    Change::Insert(stamp) => image.insert(edge, Some(stamp)).map(|()| Deletion::Done),
                    Change::Frozen(_) => image.insert(edge, None).map(|()| Deletion::Done),
                    Change::Delete(row, by) => image.delete(edge, row, by, &self.known, &mut ask),
                }
            };
            match (done, change) {
                (Ok(Deletion::Done), _) => return Ok(true),
                (Ok(Deletion::Ask), _) => {
                    self.known.learn(&ask).ok_or_else(|| error::load_lost(&self.table, LoadLost::Ancient))?
                }
                (Ok(Deletion::NoPartner), Change::Delete(row, _)) if row.cmin.is_some() => return Ok(false),
                (Ok(Deletion::NoPartner), _) => return Err(error::load_lost(&self.table, LoadLost::Unmatched)),
                (Err(Error::Full { .. }), _) => _ = build::grow(self.control, memory)?,
                (Err(other), _) => return Err(error::core(&other)),
            }
        }
    }
}

/// Waits until every transaction that holds a lock to write to the table now has ended (prepared ones too).
fn wait_for_writers(slot: &Slot, job: &Job) -> Fallible<()> {
    let (progress, begun) = (&slot.progress, Instant::now());
    for writer in holders::writers(job.table) {
        progress.waits_for.store(compat::process_of(&writer), Relaxed);
        // SAFETY: asks whether that virtual transaction still runs, without waiting.
        while !unsafe { pg_sys::VirtualXactLock(writer, false) } {
            job.patient(begun)?;
            pause();
        }
    }
    progress.waits_for.store(0, Relaxed);
    Ok(())
}

/// Takes the scan's lock, first of all locks and without queueing for it: who holds nothing and is in no queue is part of no deadlock.
fn lock(job: &Job) -> Fallible<()> {
    let begun = Instant::now();
    // SAFETY: any OID may be locked; held to the end of this transaction.
    while !unsafe { pg_sys::ConditionalLockRelationOid(job.table, LOCK) } {
        job.patient(begun)?;
        pause();
    }
    Ok(())
}

impl Job {
    fn patient(&self, begun: Instant) -> Fallible<()> {
        if begun.elapsed() > self.patience { Err(error::load_waited(self.patience.as_secs())) } else { Ok(()) }
    }
}

/// Sleeps a little; interrupts (termination) are served.
pub fn pause() {
    wait_latch(pg_sys::WL_TIMEOUT, LOOK);
}

/// Sleeps for a second, or until somebody wakes this process.
pub fn rest() {
    wait_latch(pg_sys::WL_TIMEOUT, Duration::from_secs(1));
}

/// Sleeps until somebody wakes this process.
pub fn sleep() {
    wait_latch(0, Duration::ZERO);
}

fn wait_latch(event: u32, time: Duration) {
    // SAFETY: our own latch; a wake-up by anybody is fine.
    unsafe {
        let events = (pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH | event) as i32;
        pg_sys::WaitLatch(pg_sys::MyLatch, events, time.as_millis() as i64, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}

/// An error if somebody waits for our lock on the table.
fn give_way(table: &Edges) -> Fallible<()> {
    // SAFETY: an open relation on which we hold this lock.
    if unsafe { pg_sys::LockHasWaitersRelation(table.rel(), LOCK) } {
        build::note_outcome(Outcome::Yielded);
        return Err(error::load_yielded(&table.name()));
    }
    Ok(())
}

/// Called by the scan now and then.
pub fn give_way_at(table: &Edges, row: u64) -> Fallible<()> {
    if row.is_multiple_of(ROWS_A_LOOK) { give_way(table) } else { Ok(()) }
}

/// The worker's main function. `bgw_extra`: database, table, cft_capture, cft_capture_truncate, asker as u32.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn cftrag_build_worker(_arg: pg_sys::Datum) {
    let [_, table, capture, capture_truncate, asker] = worker::connect();
    let oid = pg_sys::Oid::from;
    let functions = Functions { capture: oid(capture), capture_truncate: oid(capture_truncate) };
    if let Some(control) = transaction(shmem::attach) {
        load(control, &Job { table: oid(table), functions, asker: u64::from(asker), patience: PATIENCE });
    }
}
