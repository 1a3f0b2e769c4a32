//! Building an image beside writers, as CREATE INDEX CONCURRENTLY builds an index. A background worker does it.
//!
//!   1  announce the load: from here on flushes go to its log (loading.rs)
//!   2  wait for the transactions that hold a lock to write to the table now: what they flushed before is not in the log
//!   3  snapshot B, scan, insert as settled
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
use crate::error::{self, Fallible};
use crate::loading::{self, Segment};
use crate::registration::Functions;
use crate::shmem::{self, Control};
use crate::visibility::{Known, Seen};
use crate::worker;
use cftrag_core::{Deletion, Edge, Error, Image, Memory, View, Visibility};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// Phases of slot::PHASES.
const WAITING: u32 = 1;
const SCANNING: u32 = 2;
const APPLYING: u32 = 3;

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

/// Builds the image of a table beside its writers. In a process of its own, outside any transaction.
fn load(control: &Control, table: pg_sys::Oid, functions: Functions, asker: u64) {
    let done =
        transaction(|| match build::alone(control, table, |index| run(control, index, table, functions, asker)) {
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
    if let Some((_, slot)) = control.find(table) {
        slot.outcome.store(done.word(asker), SeqCst);
        let wait = if done == Outcome::Built { 0 } else { RETRY_MICROSECONDS };
        // SAFETY: reads the clock.
        slot.retry_at.store(unsafe { pg_sys::GetCurrentTimestamp() } + wait, SeqCst);
    }
}

fn transaction<R>(f: impl FnOnce() -> R) -> R {
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

fn run(control: &Control, index: usize, oid: pg_sys::Oid, functions: Functions, asker: u64) -> Fallible<()> {
    let slot = &control.slots[index];
    let started = Instant::now();
    {
        let table = Edges::open(oid)?;
        if let Some(why) = table.unsuitable() {
            return Err(error::wrong_kind(&table.name(), why));
        }
        // The reader who asked may have seen what only his transaction sees.
        if asker == worker::NOBODY && build::is_current(control, &table, functions) {
            return Ok(());
        }
        crate::sweep::sweep(control, functions);
        slot.begin(WAITING, table.bytes());
    }
    let load = build::random_seed() | 1;
    slot.write(|_| {
        slot.log.store(0, SeqCst);
        slot.loading.store(load, SeqCst);
    });
    between_transactions();
    wait_for_writers(control, index, oid)?;
    slot.progress.phase.store(SCANNING, SeqCst);
    lock(oid)?;
    let table = Edges::open(oid)?;
    // SAFETY: a snapshot of now, registered while it is used (an ERROR's abort forgets it).
    let snapshot = unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) };
    let result = scan_and_apply(control, index, &table, functions, snapshot, load, started);
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
    let mut applier = Applier { control, seen, known: Known::default(), waiting: Vec::new() };
    loop {
        give_way(table)?;
        let segments = loading::take(control, index);
        let (trigger, locator, columns) = (header.key.row.oid, header.key.locator, header.key.columns);
        for segment in segments {
            // Another trigger's notes, or of the table as it was stored before: not this image's.
            if u32::from(segment.source.trigger) != trigger || segment.source.locator != locator {
                continue;
            }
            if segment.source.columns != columns {
                return Err(error::load_lost(&table.name()));
            }
            applier.apply(&mut memory, &segment)?;
            check_for_interrupts!();
        }
        applier.retry(&mut memory)?;
        if slot.log_lost.load(SeqCst) == load {
            return Err(error::load_lost(&table.name()));
        }
        header.build_microseconds = started.elapsed().as_micros() as u64;
        let empty = || slot.log.load(SeqCst) == 0 && slot.log_lost.load(SeqCst) != load && applier.waiting.is_empty();
        if build::publish(control, index, header, empty) {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            return Err(error::load_lost(&table.name()));
        }
    }
}

/// Names of an edge, kept.
type Names = (Option<Vec<u8>>, Vec<u8>, Vec<u8>);

struct Applier<'c> {
    control: &'c Control,
    seen: Seen,
    known: Known,
    /// Deletes of rows whose insert has not come yet.
    waiting: Vec<(Names, Change)>,
}

impl Applier<'_> {
    fn apply(&mut self, memory: &mut Memory, segment: &Segment) -> Fallible<()> {
        for (edge, change) in segment.changes() {
            if !self.seen_already(change)? && !self.one(memory, &edge, change)? {
                self.waiting.push(((edge.tree.map(<[u8]>::to_vec), edge.parent.to_vec(), edge.child.to_vec()), change));
            }
        }
        Ok(())
    }

    fn retry(&mut self, memory: &mut Memory) -> Fallible<()> {
        for ((tree, parent, child), change) in std::mem::take(&mut self.waiting) {
            let edge = Edge { tree: tree.as_deref(), parent: &parent, child: &child };
            if !self.one(memory, &edge, change)? {
                self.waiting.push(((tree, parent, child), change));
            }
        }
        Ok(())
    }

    /// Whether the scan's snapshot saw the change: an insert is in the image as a settled row, a deleted row is not.
    fn seen_already(&mut self, change: Change) -> Fallible<bool> {
        let xid = match change {
            Change::Insert(None) => return Ok(false),
            Change::Insert(Some(stamp)) => stamp.xmin,
            Change::Delete(_, by) => by.xmax,
        };
        if self.seen.view(xid, cftrag_core::Hint::None) == View::Unknown {
            self.seen.learn(&[xid]).ok_or_else(|| error::load_lost(""))?;
        }
        Ok(self.seen.view(xid, cftrag_core::Hint::None) == View::Seen)
    }

    /// Applies one change; false: a delete whose insert has not come yet.
    fn one(&mut self, memory: &mut Memory, edge: &Edge, change: Change) -> Fallible<bool> {
        loop {
            let mut ask = Vec::new();
            let done = {
                let image = Image::open(memory).map_err(|e| error::core(&e))?;
                match change {
                    Change::Insert(stamp) => image.insert(edge, stamp).map(|()| Deletion::Done),
                    Change::Delete(row, by) => image.delete(edge, row, by, &self.known, &mut ask),
                }
            };
            match (done, change) {
                (Ok(Deletion::Done), _) => return Ok(true),
                (Ok(Deletion::Ask), _) => self.known.learn(&ask).ok_or_else(|| error::load_lost(""))?,
                (Ok(Deletion::NoPartner), Change::Delete(row, _)) if row.cmin.is_some() => return Ok(false),
                (Ok(Deletion::NoPartner), _) => return Err(error::load_lost("")),
                (Err(Error::Full { .. }), _) => _ = build::grow(self.control, memory)?,
                (Err(other), _) => return Err(error::core(&other)),
            }
        }
    }
}

/// Waits until every transaction that holds a lock to write to the table now has ended (prepared ones too).
fn wait_for_writers(control: &Control, index: usize, table: pg_sys::Oid) -> Fallible<()> {
    let (progress, begun) = (&control.slots[index].progress, Instant::now());
    for writer in writers(table) {
        progress.waits_for.store(compat::process_of(&writer), Relaxed);
        // SAFETY: asks whether that virtual transaction still runs, without waiting.
        while !unsafe { pg_sys::VirtualXactLock(writer, false) } {
            if begun.elapsed() > PATIENCE {
                return Err(error::load_waited(PATIENCE.as_secs()));
            }
            pause();
        }
    }
    progress.waits_for.store(0, Relaxed);
    Ok(())
}

/// The same for cft_build, which has nothing else to do: as CREATE INDEX CONCURRENTLY waits, so that pg_locks shows it, lock_timeout ends
/// it (55P03) and the deadlock detector sees it. The caller holds no lock on the table.
pub fn join_writers(table: pg_sys::Oid) {
    for writer in writers(table) {
        // SAFETY: waits for that virtual transaction's end.
        unsafe { pg_sys::VirtualXactLock(writer, true) };
    }
}

/// Transactions that hold a lock to write to the table now.
fn writers(table: pg_sys::Oid) -> Vec<pg_sys::VirtualTransactionId> {
    // SAFETY: the lock tag of a table of this database; GetLockConflicts gives a palloc'd array of `count` and a terminator.
    unsafe {
        let tag = pg_sys::LOCKTAG {
            locktag_field1: u32::from(pg_sys::MyDatabaseId),
            locktag_field2: u32::from(table),
            locktag_type: pg_sys::LockTagType::LOCKTAG_RELATION as u8,
            locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
            ..Default::default()
        };
        let mut count = 0;
        let found = pg_sys::GetLockConflicts(&tag, pg_sys::ShareLock as pg_sys::LOCKMODE, &mut count);
        std::slice::from_raw_parts(found, count as usize).to_vec()
    }
}

/// Takes the scan's lock, first of all locks and without queueing for it: who holds nothing and is in no queue is part of no deadlock.
fn lock(table: pg_sys::Oid) -> Fallible<()> {
    let begun = Instant::now();
    // SAFETY: any OID may be locked; held to the end of this transaction.
    while !unsafe { pg_sys::ConditionalLockRelationOid(table, LOCK) } {
        if begun.elapsed() > PATIENCE {
            return Err(error::load_waited(PATIENCE.as_secs()));
        }
        pause();
    }
    Ok(())
}

/// Sleeps a little; interrupts (termination) are served.
pub fn pause() {
    // SAFETY: our own latch; a wake-up by anybody is fine.
    unsafe {
        let events = (pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH) as i32;
        pg_sys::WaitLatch(pg_sys::MyLatch, events, LOOK.as_millis() as i64, pg_sys::PG_WAIT_EXTENSION);
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

#[pg_guard]
unsafe extern "C-unwind" fn terminate(signal: i32) {
    // SAFETY: a signal handler, called as one.
    unsafe { pg_sys::die(signal) };
}

/// The worker's main function. `bgw_extra`: database, table, cft_capture, cft_capture_truncate, asker as u32.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn cftrag_build_worker(_arg: pg_sys::Datum) {
    // SAFETY: the start of a background worker, as PostgreSQL documents it; MyBgworkerEntry is set.
    let [_, table, capture, capture_truncate, asker] = unsafe {
        pg_sys::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        pg_sys::BackgroundWorkerUnblockSignals();
        let extra = (*pg_sys::MyBgworkerEntry).bgw_extra.as_ptr().cast::<[u32; 5]>().read_unaligned();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(pg_sys::Oid::from(extra[0]), pg_sys::InvalidOid, 0);
        extra
    };
    let oid = pg_sys::Oid::from;
    let functions = Functions { capture: oid(capture), capture_truncate: oid(capture_truncate) };
    if let Some(control) = transaction(shmem::attach) {
        load(control, oid(table), functions, u64::from(asker));
    }
}
