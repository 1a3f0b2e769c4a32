//! Starting background workers that build images (online.rs is what they do).

#![expect(unsafe_code, reason = "background workers")]

use crate::builds::online::UNASKED;
use crate::builds::worker_limit;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::image::control::Control;
use crate::image::slot;
use crate::image::slot::Slot;
use crate::pg::background_worker::{Handle, launch};
use crate::pg::{client, compat, latch, lock_holders};
use pgrx::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// A worker that was started, and the number by which its outcome is known.
pub struct Worker {
    handle: Handle,
    pub asker: u64,
}

/// Between two looks at all locks of the server.
const LOCK_POLL: Duration = Duration::from_millis(50);

/// Starts a worker for the table; None if max_worker_processes leaves none.
pub fn start(table: pg_sys::Oid, functions: Functions) -> Option<Worker> {
    build(table, functions, compat::random_seed() as u32 | 1)
}

fn build(table: pg_sys::Oid, functions: Functions, asker: u32) -> Option<Worker> {
    // SAFETY: a backend variable.
    let database = unsafe { pg_sys::MyDatabaseId };
    let [database, table, row, truncate] =
        [database, table, functions.capture, functions.capture_truncate].map(u32::from);
    let handle = launch(c"cftrag_build_worker", [database, table, row, truncate, asker])?;
    Some(Worker { handle, asker: u64::from(asker) })
}

/// Asks for a worker on a reader's behalf, if the table is too large for the reader itself, or it gave way to a writer
/// or is part of a parallel operation, if there is a place, none builds it and
/// the last one did not just fail. Does not wait.
pub fn request(control: &Control, table: &EdgesTable, functions: Functions, gave_way: bool) {
    let Some((_, slot)) = control.find(table.oid()) else { return };
    // SAFETY: reads the clock; backend state.
    let (now, parallel) = unsafe { (pg_sys::GetCurrentTimestamp(), pg_sys::IsInParallelMode()) };
    let next = slot.retry_at.load(SeqCst);
    if crate::guc::in_place_bytes() > 0
        && (gave_way || parallel || table.bytes() > crate::guc::in_place_bytes())
        && slot.builder.load(SeqCst) == 0
        && now >= next
        && slot.retry_at.compare_exchange(next, now + slot::RETRY_MICROSECONDS, SeqCst, SeqCst).is_ok()
        && worker_limit::is_free(control, slot.owner.load(Relaxed))
    {
        build(table.oid(), functions, UNASKED as u32);
    }
}

impl Worker {
    /// Waits for its end, and where it waits for other sessions, for them. Not Ended: the worker is told to stop; also if an interrupt, or
    /// lock_timeout while waiting for somebody, ends the wait. The caller holds no lock on the table.
    pub fn wait(&self, control: &Control, table: pg_sys::Oid) -> Waited {
        let stop = Stop(&self.handle);
        let waited = wait_until(control, table, || self.handle.has_ended());
        if waited == Waited::Ended {
            std::mem::forget(stop);
        }
        waited
    }
}

/// Waits until there is a place for a worker; meanwhile, in the lock manager, for who writes to the table, as the worker would.
pub fn wait_for_place(control: &Control, table: pg_sys::Oid) -> Waited {
    let (owner, begun) = (slot::owner_of(table), Instant::now());
    while !worker_limit::is_free(control, owner) {
        let _watch = client::watch();
        lock_holders::join_writers(table);
        if timed_out(begun) {
            return Waited::TimedOut;
        }
        latch::nap();
    }
    Waited::Ended
}

fn timed_out(begun: Instant) -> bool {
    // SAFETY: reads a setting, milliseconds; 0 is no limit.
    let limit = unsafe { pg_sys::LockTimeout } as u64;
    limit > 0 && begun.elapsed() > Duration::from_millis(limit)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Ended,
    /// lock_timeout has passed.
    TimedOut,
    /// Somebody whom the worker waits for waits for us.
    GaveWay,
}

/// Waits until a build of the table has ended. Where the builder waits for somebody, so does this transaction, in the lock manager.
pub fn wait_until(control: &Control, table: pg_sys::Oid, ended: impl Fn() -> bool) -> Waited {
    let begun = Instant::now();
    let mut looked = begun;
    let _watch = client::watch();
    lock_holders::join_writers(table);
    while !ended() {
        if timed_out(begun) {
            return Waited::TimedOut;
        }
        let locking = |slot: &Slot| slot.progress.phase.load(SeqCst) == slot::LOCKING;
        if looked.elapsed() > LOCK_POLL && control.find(table).is_some_and(|(_, slot)| locking(slot)) {
            looked = Instant::now();
            lock_holders::join_lockers(table);
            if lock_holders::keeps_out_and_waits_for_me(table) {
                return Waited::GaveWay;
            }
        }
        latch::pause();
    }
    Waited::Ended
}

/// Stops the worker when its caller gives up: at a timeout, or when an interrupt unwinds.
struct Stop<'h>(pub &'h Handle);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.terminate();
    }
}
