//! A background worker builds an image beside writers, as CREATE INDEX CONCURRENTLY builds an index.
//!
//!   1  announce the load: from here on flushes go to its log (capture/log_record.rs)
//!   2  wait for the transactions that hold a lock for writing to the table now: what they flushed before 1 is not in the log
//!   3  take snapshot B, count the rows in one scan (load.rs), insert them as settled in a second
//!   4  apply the log, except for what B sees already; publish when it is empty, under the lock that flushes take
//!
//! While it waits (2), it holds no table lock and no snapshot, so it blocks no writer, no DDL and no VACUUM. For 3 and
//! 4 it takes AccessShareLock, as any query, so ANALYZE, VACUUM and CREATE INDEX CONCURRENTLY go on beside it, and
//! gives up when another session waits for ACCESS EXCLUSIVE. (If triggers or columns change meanwhile, the key of the
//! image says so.) Waits are capped. A load that ended without an image is tried again when an image is next needed,
//! after RETRY_MICROSECONDS at the earliest.

#![expect(unsafe_code, reason = "background workers, locks, snapshots")]

use crate::builds::builder::{BuildOutcome, Refused, give_way};
use crate::builds::catch_up::Applier;
use crate::builds::{builder, load, locked, worker_limit};
use crate::capture::linked;
use crate::capture::log_record;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::{Fallible, LoadLost};
use crate::image::control;
use crate::image::control::Control;
use crate::image::gone;
use crate::image::slot::{APPLYING, LOCKING, RETRY_MICROSECONDS, SCANNING, Slot, WAITING};
use crate::pg::backend;
use crate::pg::background_worker::{between_transactions, transaction};
use crate::pg::latch::pause;
use crate::pg::lookup;
use crate::pg::snapshot::{Snapshot, SnapshotView};
use crate::pg::{background_worker, compat, lock_holders, snapshot};
use cftrag_core::Memory;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// How long the load waits for transactions that write to the table; then it gives up and frees what it captured.
const WRITER_WAIT_MAX: Duration = Duration::from_secs(600);

/// How long the load waits if no session waits for the image: the reader that requested it already has its answer.
const WRITER_WAIT_MAX_UNASKED: Duration = Duration::from_secs(60);

/// The scan's lock.
const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// What to build, for whom, and how long to wait for writers.
pub struct Job {
    pub table: pg_sys::Oid,
    pub functions: Functions,
    pub asker: u64,
    /// The process id of the session that waits for the image; 0 if none does.
    pub client: i32,
    pub patience: Duration,
}

/// Builds the image of a table beside its writers, in a worker that a session requested, which needs a place
/// (worker_limit.rs).
fn load_in_place(control: &Control, job: &Job) {
    let work = |index| match worker_limit::take(control, index) {
        true => run(control, index, job),
        false => Err(no_place(job)),
    };
    load(control, job, work);
}

/// The load at server start (launcher.rs).
pub fn load_at_start(control: &Control, job: &Job) -> BuildOutcome {
    load(control, job, |index| run(control, index, job))
}

/// Does `work` as the table's only builder, and reports the outcome. Called in a background worker, outside any
/// transaction.
fn load(control: &Control, job: &Job, work: impl FnOnce(usize) -> Fallible<()>) -> BuildOutcome {
    let done = transaction(|| match builder::alone(control, job.table, work) {
        Ok(()) => BuildOutcome::Built,
        Err(Refused::Busy) => BuildOutcome::Busy,
        Err(Refused::Failed(report)) => {
            let noted = match builder::noted_outcome() {
                BuildOutcome::None => BuildOutcome::Refused,
                noted => noted,
            };
            // No message if the build will be tried again: after NoPlace, and after Waited at server start.
            if noted != BuildOutcome::NoPlace
                && (noted != BuildOutcome::Waited || job.patience >= WRITER_WAIT_MAX_UNASKED)
            {
                report.report(PgLogLevel::LOG);
            }
            noted
        }
    });
    if let Some((_, slot)) = control.find(job.table) {
        slot.outcome.store(done.word(job.asker), SeqCst);
        let wait = if done == BuildOutcome::Built { 0 } else { RETRY_MICROSECONDS };
        slot.retry_at.store(backend::now() + wait, SeqCst);
    }
    done
}

fn no_place(job: &Job) -> error::Report {
    builder::note_outcome(BuildOutcome::NoPlace);
    error::load_lost(&crate::catalog::name::display_name(job.table), LoadLost::Place)
}

fn run(control: &Control, index: usize, job: &Job) -> Fallible<()> {
    let slot = control.slot(index);
    let started = Instant::now();
    {
        let table = opened(slot, job)?;
        if let Some(why) = table.unsuitable() {
            return Err(error::wrong_kind(&table.name(), why));
        }
        // The image may be current after all: the reader that requested it may have had too old a snapshot to use it.
        if job.asker == UNASKED && locked::is_current(control, &table, job.functions) {
            return Ok(());
        }
        gone::sweep(control, job.functions);
        builder::check_room(control, index, &table)?;
        slot.begin(WAITING, table.bytes());
    }
    let load = compat::random_seed() | 1;
    slot.write(|_| {
        slot.log.store(0, SeqCst);
        slot.log_bytes.store(0, SeqCst);
        control.entry(index).log_lost.store(0, SeqCst);
        slot.loading.store(load, SeqCst);
    });
    between_transactions();
    wait_for_writers(slot, job)?;
    slot.progress.phase.store(LOCKING, SeqCst);
    let table = opened(slot, job)?;
    slot.progress.phase.store(SCANNING, SeqCst);
    snapshot::with_registered(|now| scan_and_apply(control, index, &table, job.functions, now, load, started))
}

fn scan_and_apply(
    control: &Control,
    index: usize,
    table: &EdgesTable,
    functions: Functions,
    snapshot: Snapshot<'_>,
    load: u64,
    started: Instant,
) -> Fallible<()> {
    let slot = control.slot(index);
    let mut memory = Memory::new();
    let mut header = load::load(control, index, table, functions, snapshot, started, &mut memory, Some(LOCK))?;
    header.load = load;
    slot.progress.phase.store(APPLYING, SeqCst);
    // SAFETY: an MVCC snapshot that the caller has registered.
    let mut applier = Applier::new(control, table, unsafe { SnapshotView::new(Snapshot::raw(Some(snapshot))) });
    loop {
        give_way(table, LOCK)?;
        builder::check_still_wanted(table.oid())?;
        applier.settle_waiting()?;
        let segments = log_record::take(control, index);
        let (trigger, locator, columns) = (header.key.row.oid, header.key.locator, header.key.columns);
        for segment in segments {
            // Skip changes that another trigger captured, or that were captured before the table was rewritten: they
            // are not this image's.
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
            builder::note_outcome(BuildOutcome::Memory);
            return Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
        }
        if control.entry(index).log_lost.load(SeqCst) != 0 {
            return Err(error::load_lost(&table.name(), LoadLost::Noted));
        }
        header.build_microseconds = started.elapsed().as_micros() as u64;
        let lost = || control.entry(index).log_lost.load(SeqCst) != 0;
        let empty = || slot.log.load(SeqCst) == 0 && !lost() && applier.is_done();
        if builder::publish(control, index, header, empty) {
            linked::names_may_differ(table.oid(), functions);
            return Ok(());
        }
        if started.elapsed() > WRITER_WAIT_MAX {
            return Err(error::load_lost(&table.name(), LoadLost::Endless));
        }
        if !applier.is_done() {
            pause();
        }
    }
}

/// Waits until every transaction that now holds a lock to write to the table has ended, prepared ones included.
fn wait_for_writers(slot: &Slot, job: &Job) -> Fallible<()> {
    let begun = Instant::now();
    for writer in lock_holders::writers(job.table) {
        slot.progress.wait_for(&writer);
        while !lookup::VirtualXactLock(writer, false) {
            job.patient(slot, begun)?;
            pause();
        }
    }
    slot.progress.wait_for_none();
    Ok(())
}

/// Opens the table, with the scan's lock, without queueing for it: a process that holds no lock and queues for none
/// cannot deadlock, and a stronger lock (a prepared transaction's, say) delays only the table it is on.
fn opened(slot: &Slot, job: &Job) -> Fallible<EdgesTable> {
    let (begun, mut looked) = (Instant::now(), None::<Instant>);
    loop {
        if let Some(table) = EdgesTable::try_open(job.table) {
            slot.progress.wait_for_none();
            return Ok(table);
        }
        if looked.is_none_or(|looked| looked.elapsed() > builder::LOCK_POLL) {
            looked = Some(Instant::now());
            lock_holders::lockers(job.table)
                .first()
                .map_or_else(|| slot.progress.wait_for_none(), |one| slot.progress.wait_for(one));
        }
        if lookup::get_rel_namespace(job.table) == pg_sys::InvalidOid {
            return Err(error::no_such_table(u32::from(job.table)));
        }
        job.patient(slot, begun)?;
        pause();
    }
}

impl Job {
    /// An error if waiting has lasted too long, or has become useless.
    fn patient(&self, slot: &Slot, begun: Instant) -> Fallible<()> {
        builder::check_still_wanted(self.table)?;
        builder::leave(self.table)?;
        if worker_limit::is_wanted(slot) {
            return Err(no_place(self));
        }
        if self.client != 0 && !backend::is_process(self.client) {
            return Err(error::load_lost(&crate::catalog::name::display_name(self.table), LoadLost::Unwanted));
        }
        if begun.elapsed() > self.patience {
            builder::note_outcome(BuildOutcome::Waited);
            return Err(error::load_waited(&crate::catalog::name::display_name(self.table), self.patience.as_secs()));
        }
        Ok(())
    }
}

/// The worker's main function. `bgw_extra`: database, table, cft_capture, cft_capture_truncate, asker as u32.
#[pg_guard]
#[unsafe(no_mangle)]
extern "C-unwind" fn cftrag_build_worker(_arg: pg_sys::Datum) {
    let [_, table, capture, capture_truncate, asker] = background_worker::connect();
    let oid = pg_sys::Oid::from;
    let functions = Functions { capture: oid(capture), capture_truncate: oid(capture_truncate) };
    if let Some(control) = transaction(control::attach) {
        let asker = u64::from(asker);
        // SAFETY: set for every background worker: the process that registered it.
        let client = if asker == UNASKED { 0 } else { unsafe { (*pg_sys::MyBgworkerEntry).bgw_notify_pid } };
        let patience = if asker == UNASKED { WRITER_WAIT_MAX_UNASKED } else { WRITER_WAIT_MAX };
        load_in_place(control, &Job { table: oid(table), functions, asker, client, patience });
    }
}

/// The asker of a worker that no session waits for. Such a worker does nothing if the image is current after all.
pub const UNASKED: u64 = 0;
