//! Starts background workers that build images (online.rs), and waits for them.

use crate::builds::builder;
use crate::builds::online::UNASKED;
use crate::builds::worker_limit;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::image::control::Control;
use crate::image::slot;
use crate::image::slot::Slot;
use crate::pg::backend;
use crate::pg::background_worker::{Handle, launch};
use crate::pg::compat::plain;
use crate::pg::{client, compat, latch, lock_holders};
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// A started worker, and the number under which it reports its outcome.
pub struct Worker {
    handle: Handle,
    pub asker: u64,
}

/// Starts a worker for the table; None if max_worker_processes is exhausted.
pub fn start(table: pg_sys::Oid, functions: Functions) -> Option<Worker> {
    build(table, functions, compat::random_seed() as u32 | 1)
}

fn build(table: pg_sys::Oid, functions: Functions, asker: u32) -> Option<Worker> {
    let database = pg_sys::Oid::from(backend::database());
    let [database, table, row, truncate] =
        [database, table, functions.capture, functions.capture_truncate].map(u32::from);
    let handle = launch(c"cftrag builder", c"cftrag_build_worker", [database, table, row, truncate, asker])?;
    Some(Worker { handle, asker: u64::from(asker) })
}

/// Starts a worker on a reader's behalf, without waiting: if the reader cannot build (the table is too large, the
/// reader gave way to a writer or is part of a parallel operation), no process builds it now, the last build did not
/// just fail, and there is a place.
pub fn request(control: &Control, table: &EdgesTable, functions: Functions, gave_way: bool) {
    let Some((_, slot)) = control.find(table.oid()) else { return };
    let (now, parallel) = (backend::now(), plain::IsInParallelMode());
    let next = slot.retry_at.load(SeqCst);
    if crate::guc::in_place_bytes() > 0
        && (gave_way || parallel || table.bytes() > crate::guc::in_place_bytes())
        && slot.builder.load(SeqCst) == 0
        && now >= next
        && slot.retry_at.compare_exchange(next, now + slot::RETRY_MICROSECONDS, SeqCst, SeqCst).is_ok()
        && worker_limit::is_free(control, slot::owner_of(table.oid()))
    {
        build(table.oid(), functions, UNASKED as u32);
    }
}

/// Waits until a build of the table that is under way, or was just asked for, has ended; at most so long, and not for
/// one that waits for other sessions. Returns whether there is another image. A transaction that has written does not
/// wait: a build may wait for it.
pub fn wait_for_image(control: &Control, table: pg_sys::Oid, most: Duration) -> bool {
    let Some((_, slot)) = control.find(table).filter(|_| backend::is_plain_reader()) else { return false };
    let (begun, before) = (Instant::now(), slot.generation.load(SeqCst));
    let mut builds = None;
    let _watch = client::watch();
    while begun.elapsed() < most {
        if slot.generation.load(SeqCst) != before && slot.holds_image() {
            return true;
        }
        let is_built = slot.builder.load(SeqCst) != 0;
        let waits = slot::WAITS.contains(&slot.progress.phase.load(SeqCst));
        if is_built && !waits {
            builds = Some(Instant::now());
        }
        // It has ended, has not begun, or waits.
        if builds.unwrap_or(begun).elapsed() > SOON {
            return false;
        }
        latch::pause();
    }
    false
}

/// Within this time a worker begins, and a build finds that it need not wait for anybody.
const SOON: Duration = Duration::from_millis(200);

impl Worker {
    /// Waits for the worker's end, and for the sessions that the worker waits for. Tells the worker to stop unless it
    /// has ended, also when an interrupt or lock_timeout ends the wait with an ERROR. The caller holds no lock on the
    /// table.
    pub fn wait(&self, control: &Control, table: pg_sys::Oid) -> Waited {
        let stop = Stop(&self.handle);
        let waited = wait_until(control, table, || self.handle.has_ended());
        if waited == Waited::Ended {
            std::mem::forget(stop);
        }
        waited
    }
}

/// Waits until there is a place for a worker; meanwhile waits in the lock manager for the table's writers, as the
/// worker would.
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
    let limit = backend::lock_timeout();
    limit > 0 && begun.elapsed() > Duration::from_millis(limit)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Ended,
    /// lock_timeout has passed.
    TimedOut,
}

/// Waits until a build of the table has ended. While the builder waits for other sessions, this transaction waits for
/// them too, in the lock manager, which detects deadlocks.
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
        if looked.elapsed() > builder::LOCK_POLL && control.find(table).is_some_and(|(_, slot)| locking(slot)) {
            looked = Instant::now();
            lock_holders::join_lockers(table);
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
