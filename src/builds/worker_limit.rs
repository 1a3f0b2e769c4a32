//! Limits how many background workers build images: few places per server, and fewer per owner of tables, so that they
//! do not use up max_worker_processes.
//!
//! A worker takes a place after it has become the builder of its slot, and ends at once if no place is free; it frees
//! the place when it removes the builder's mark. A request that finds no place asks the worker that has waited for
//! writers longest to give up its own: one of the role's workers if the role has used up its places, else any. A build
//! that scans is never stopped: it ends by itself.

use crate::image::control::Control;
use crate::image::slot;
use crate::image::slot::Slot;
use crate::pg::backend;
use crate::pg::lwlock::EXCLUSIVE;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// A worker that has waited for writers this long gives up its place if another build needs it.
const WAITED_MICROSECONDS: i64 = 5_000_000;

/// Places that the control block has.
pub const PLACES: usize = 64;

/// Places in all, 3/8 of max_worker_processes; and places per role, one less but at most two, which leaves one to
/// another role.
fn most() -> (usize, usize) {
    let workers = backend::max_worker_processes().max(0) as usize;
    let all = (workers * 3 / 8).clamp(1, PLACES);
    (all, (all - 1).clamp(1, 2))
}

/// Which limit keeps a role from having a place: its own, or that of all roles.
enum Full {
    Itself,
    All,
}

/// The slots of builds that have a place.
fn taken(control: &Control) -> impl Iterator<Item = &Slot> {
    let index = |place: &AtomicU32| (place.load(SeqCst) as usize).checked_sub(1);
    control.workers.iter().filter_map(index).filter_map(|index| control.map_slot(index))
}

fn full(control: &Control, owner: u32) -> Option<Full> {
    let (all, role) = most();
    if taken(control).filter(|slot| slot.owner.load(Relaxed) == owner).count() >= role {
        return Some(Full::Itself);
    }
    (taken(control).count() >= all).then_some(Full::All)
}

/// Takes a place for this background worker, the slot's builder. Returns false if none is free.
pub fn take(control: &Control, index: usize) -> bool {
    let owner = control.slot(index).owner.load(Relaxed);
    // Mapped before the lock is taken.
    taken(control).for_each(drop);
    control.lock.with(EXCLUSIVE, || {
        let free = || control.workers.iter().find(|place| place.load(SeqCst) == 0);
        let place = if full(control, owner).is_none() { free() } else { None };
        place.map(|place| place.store(index as u32 + 1, SeqCst)).is_some()
    })
}

/// Frees the place of the slot's build, if it has one.
pub fn leave(control: &Control, index: usize) {
    for place in &control.workers {
        let _ = place.compare_exchange(index as u32 + 1, 0, SeqCst, SeqCst);
    }
}

/// Whether there is a place for a table of that role. If not, asks the worker that has waited longest, if that is long,
/// to give up its place.
pub fn is_free(control: &Control, owner: u32) -> bool {
    let Some(full) = full(control, owner) else { return true };
    let of_role = |slot: &&Slot| matches!(full, Full::All) || slot.owner.load(Relaxed) == owner;
    let waits = |slot: &&Slot| slot::WAITS.contains(&slot.progress.phase.load(SeqCst));
    let longest = taken(control).filter(of_role).filter(waits).min_by_key(|slot| slot.progress.started.load(Relaxed));
    if let Some(slot) = longest {
        let waited = backend::now() - slot.progress.started.load(Relaxed);
        if waited > WAITED_MICROSECONDS {
            slot.place_wanted.store(slot.builder.load(SeqCst), SeqCst);
        }
    }
    false
}

/// Whether this waiting worker is asked to give up its place.
pub fn is_wanted(slot: &Slot) -> bool {
    slot.place_wanted.load(SeqCst) == std::process::id()
}
