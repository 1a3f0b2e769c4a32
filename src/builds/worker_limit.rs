//! Places for background workers that build images: few at a time, of the server and of one role's tables, so that max_worker_processes
//! lasts for others, too.
//!
//! A worker takes a place when it has made itself the builder of its slot, and ends at once if there is none; it gives it back with
//! that mark. Whoever wants one and finds none has the worker that has waited for writers longest give its place up: of the role that
//! has all it may have, or of all. A build that scans is never stopped: it ends by itself.

#![expect(unsafe_code, reason = "backend variables")]

use crate::image::control::Control;
use crate::image::slot;
use crate::image::slot::Slot;
use crate::pg::lwlock::EXCLUSIVE;
use pgrx::pg_sys;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// A worker that has waited for writers so long gives way: shorter waits are every build's.
const WAITED_MICROSECONDS: i64 = 5_000_000;

/// Of max_worker_processes, places of all, and of one role: one less, and no more than two, so that another role finds one.
fn most() -> (usize, usize) {
    // SAFETY: reads a setting.
    let workers = unsafe { pg_sys::max_worker_processes }.max(0) as usize;
    let all = (workers * 3 / 8).max(1);
    (all, (all - 1).clamp(1, 2))
}

/// Who keeps a role from having a place.
enum Full {
    Itself,
    All,
}

fn taken(control: &Control) -> impl Iterator<Item = &Slot> {
    control.slots.iter().filter(|slot| slot.worker.load(SeqCst) != 0)
}

fn full(control: &Control, owner: u32) -> Option<Full> {
    let (all, role) = most();
    if taken(control).filter(|slot| slot.owner.load(Relaxed) == owner).count() >= role {
        return Some(Full::Itself);
    }
    (taken(control).count() >= all).then_some(Full::All)
}

/// Takes a place for this background worker, the slot's builder. False: there is none.
pub fn take(control: &Control, slot: &Slot) -> bool {
    control.lock.with(EXCLUSIVE, || {
        let free = full(control, slot.owner.load(Relaxed)).is_none();
        if free {
            slot.worker.store(std::process::id(), SeqCst);
        }
        free
    })
}

/// Whether there is a place for a table of that role. If not, a worker that only waits is told to give its place up.
pub fn is_free(control: &Control, owner: u32) -> bool {
    let Some(full) = full(control, owner) else { return true };
    let of_role = |slot: &&Slot| matches!(full, Full::All) || slot.owner.load(Relaxed) == owner;
    let waits = |slot: &&Slot| slot::WAITS.contains(&slot.progress.phase.load(SeqCst));
    let longest = taken(control).filter(of_role).filter(waits).min_by_key(|slot| slot.progress.started.load(Relaxed));
    if let Some(slot) = longest {
        // SAFETY: reads the clock.
        let waited = unsafe { pg_sys::GetCurrentTimestamp() } - slot.progress.started.load(Relaxed);
        if waited > WAITED_MICROSECONDS {
            slot.place_wanted.store(slot.worker.load(SeqCst), SeqCst);
        }
    }
    false
}

/// Whether this worker, which waits, is to give its place up.
pub fn is_wanted(slot: &Slot) -> bool {
    slot.place_wanted.load(SeqCst) == std::process::id()
}
