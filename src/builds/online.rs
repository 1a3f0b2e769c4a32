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
use crate::catchup::Applier;
use crate::compat;
use crate::edges::Edges;
use crate::error::{self, Fallible, LoadLost};
use crate::holders;
use crate::loading;
use crate::places;
use crate::registration::Functions;
use crate::share;
use crate::shmem::{self, Control};
use crate::slot::Slot;
use crate::visibility::Seen;
use crate::worker;
use cftrag_core::Memory;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// Phases of slot::PHASES.
const WAITING: u32 = 1;
pub const LOCKING: u32 = 2;
const SCANNING: u32 = 3;
const APPLYING: u32 = 4;
/// Those in which a builder only waits.
pub const WAITS: [u32; 2] = [WAITING, LOCKING];

/// A transaction that writes to the table is waited for so long; then the load is given up, and what it captured freed.
const PATIENCE: Duration = Duration::from_secs(600);
/// The same where nobody waits for the image: a reader asked for it, and has his answer.
const PATIENCE_FOR_NOBODY: Duration = Duration::from_secs(60);
/// Between two looks at the transactions that are waited for.
const LOOK: Duration = Duration::from_millis(5);
/// Between two looks for a place.
const NAP: Duration = Duration::from_millis(50);
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
    /// There was no place for a worker, or another build needed it (places.rs).
    NoPlace = 6,
    /// Somebody was writing to the table all the time.
    Waited = 7,
}

impl Outcome {
    /// What the asker of that number reads in the slot; None: its build did not end, or another asker's ended since.
    pub fn of(word: u64, asker: u64) -> Self {
        let all = [Self::Built, Self::Memory, Self::Refused, Self::Busy, Self::Yielded, Self::NoPlace, Self::Waited];
        all.into_iter().find(|outcome| word == outcome.word(asker)).unwrap_or(Self::None)
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
    /// The session that waits for the image, by its process id; 0: none does.
    pub client: i32,
    pub patience: Duration,
}

/// Builds the image of a table beside its writers, by a worker that somebody asked for, and that needs a place.
fn load_in_place(control: &Control, job: &Job) {
    let work = |index| match places::take(control, &control.slots[index]) {
        true => run(control, index, job),
        false => Err(no_place(job)),
    };
    load(control, job, work);
}

/// The same at server start (launcher.rs).
pub fn load_at_start(control: &Control, job: &Job) -> Outcome {
    load(control, job, |index| run(control, index, job))
}

/// Does that work as the table's only builder, and says how it ended. In a process of its own, outside any transaction.
fn load(control: &Control, job: &Job, work: impl FnOnce(usize) -> Fallible<()>) -> Outcome {
    let done = transaction(|| match build::alone(control, job.table, work) {
        Ok(()) => Outcome::Built,
        Err(Refused::Busy) => Outcome::Busy,
        Err(Refused::Failed(report)) => {
            let noted = match build::noted_outcome() {
                Outcome::None => Outcome::Refused,
                noted => noted,
            };
            // Those two try again.
            if noted != Outcome::NoPlace && (noted != Outcome::Waited || job.patience >= PATIENCE_FOR_NOBODY) {
                report.report(PgLogLevel::LOG);
            }
            noted
        }
    });
    if let Some((_, slot)) = control.find(job.table) {
        slot.outcome.store(done.word(job.asker), SeqCst);
        let wait = if done == Outcome::Built { 0 } else { RETRY_MICROSECONDS };
        // SAFETY: reads the clock.
        slot.retry_at.store(unsafe { pg_sys::GetCurrentTimestamp() } + wait, SeqCst);
    }
    done
}

fn no_place(job: &Job) -> error::Report {
    build::note_outcome(Outcome::NoPlace);
    error::load_lost(&crate::edges::display_name(job.table), LoadLost::Place)
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
        let table = opened(slot, job)?;
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
        slot.log_bytes.store(0, SeqCst);
        slot.loading.store(load, SeqCst);
    });
    between_transactions();
    wait_for_writers(slot, job)?;
    slot.progress.phase.store(LOCKING, SeqCst);
    lock(slot, job)?;
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
    let mut header = build::load(control, index, table, functions, snapshot, started, &mut memory, Some(LOCK))?;
    header.load = load;
    slot.progress.phase.store(APPLYING, SeqCst);
    // SAFETY: an MVCC snapshot that is registered by the caller.
    let mut applier = Applier::new(control, table, unsafe { Seen::new(snapshot) });
    loop {
        give_way(table, LOCK)?;
        share::goes_on(slot, table.oid())?;
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
        let empty = || slot.log.load(SeqCst) == 0 && slot.log_lost.load(SeqCst) != load && applier.is_done();
        if build::publish(control, index, header, empty) {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            return Err(error::load_lost(&table.name(), LoadLost::Endless));
        }
        if !applier.is_done() {
            pause();
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
            job.patient(slot, begun)?;
            pause();
        }
    }
    progress.waits_for.store(0, Relaxed);
    Ok(())
}

/// Opens the table, without queueing for its lock: whoever holds a stronger one (a prepared transaction, perhaps) keeps her own table from being
/// built, and no other.
fn opened(slot: &Slot, job: &Job) -> Fallible<Edges> {
    let begun = Instant::now();
    loop {
        if let Some(table) = Edges::open_now(job.table) {
            return Ok(table);
        }
        // SAFETY: a system cache lookup.
        if unsafe { pg_sys::get_rel_namespace(job.table) } == pg_sys::InvalidOid {
            return Err(error::no_such_table(u32::from(job.table)));
        }
        job.patient(slot, begun)?;
        pause();
    }
}

/// Takes the scan's lock, first of all locks and without queueing for it: who holds nothing and is in no queue is part of no deadlock.
fn lock(slot: &Slot, job: &Job) -> Fallible<()> {
    let begun = Instant::now();
    // SAFETY: any OID may be locked; held to the end of this transaction.
    while !unsafe { pg_sys::ConditionalLockRelationOid(job.table, LOCK) } {
        job.patient(slot, begun)?;
        pause();
    }
    Ok(())
}

impl Job {
    /// An error if waiting has lasted too long, or has become of no use.
    fn patient(&self, slot: &Slot, begun: Instant) -> Fallible<()> {
        share::goes_on(slot, self.table)?;
        if places::is_wanted(slot) {
            return Err(no_place(self));
        }
        // SAFETY: looks a process up in the process array.
        if self.client != 0 && unsafe { pg_sys::BackendPidGetProc(self.client).is_null() } {
            return Err(error::load_lost(&crate::edges::display_name(self.table), LoadLost::Unwanted));
        }
        if begun.elapsed() > self.patience {
            build::note_outcome(Outcome::Waited);
            return Err(error::load_waited(self.patience.as_secs()));
        }
        Ok(())
    }
}

/// Sleeps a little; interrupts (termination) are served.
pub fn pause() {
    wait_latch(pg_sys::WL_TIMEOUT, LOOK);
}

/// Sleeps for longer: whoever waits for something that takes its time.
pub fn nap() {
    wait_latch(pg_sys::WL_TIMEOUT, NAP);
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
fn give_way(table: &Edges, lock: pg_sys::LOCKMODE) -> Fallible<()> {
    // SAFETY: an open relation on which we hold this lock.
    if unsafe { pg_sys::LockHasWaitersRelation(table.rel(), lock) } {
        build::note_outcome(Outcome::Yielded);
        return Err(error::load_yielded(&table.name()));
    }
    Ok(())
}

/// Called by the scan now and then.
pub fn give_way_at(table: &Edges, lock: pg_sys::LOCKMODE, row: u64) -> Fallible<()> {
    if row.is_multiple_of(ROWS_A_LOOK) { give_way(table, lock) } else { Ok(()) }
}

/// The worker's main function. `bgw_extra`: database, table, cft_capture, cft_capture_truncate, asker as u32.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn cftrag_build_worker(_arg: pg_sys::Datum) {
    let [_, table, capture, capture_truncate, asker] = worker::connect();
    let oid = pg_sys::Oid::from;
    let functions = Functions { capture: oid(capture), capture_truncate: oid(capture_truncate) };
    if let Some(control) = transaction(shmem::attach) {
        let asker = u64::from(asker);
        // SAFETY: set for every background worker: the process that registered it.
        let client = if asker == worker::NOBODY { 0 } else { unsafe { (*pg_sys::MyBgworkerEntry).bgw_notify_pid } };
        let patience = if asker == worker::NOBODY { PATIENCE_FOR_NOBODY } else { PATIENCE };
        load_in_place(control, &Job { table: oid(table), functions, asker, client, patience });
    }
}
