//! How often each reason sent a call to the reference query: counted in the table's slot; without shared memory, in
//! this process. (reads.rs counts the calls that images answer.)

use crate::image::control;
use crate::image::reason::Reason;
use pgrx::pg_sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const ROOM: usize = 32;

thread_local! {
    static LOCAL: RefCell<HashMap<u32, [u64; ROOM]>> = RefCell::new(HashMap::new());
}

pub fn count(table: pg_sys::Oid, reason: Reason) {
    let Some(control) = control::control() else {
        return LOCAL.with_borrow_mut(|local| local.entry(u32::from(table)).or_default()[reason as usize] += 1);
    };
    if let Some((_, slot)) = control.find_or_take(table) {
        slot.reasons[reason as usize].fetch_add(1, Relaxed);
    }
}

/// The counts of one table.
pub fn reasons(table: pg_sys::Oid) -> [u64; ROOM] {
    let Some(control) = control::control() else {
        return LOCAL.with_borrow(|local| local.get(&u32::from(table)).copied().unwrap_or_default());
    };
    control.find(table).map_or([0; ROOM], |(_, slot)| loaded(&slot.reasons))
}

fn loaded(counts: &[AtomicU64; ROOM]) -> [u64; ROOM] {
    std::array::from_fn(|reason| counts[reason].load(Relaxed))
}

/// Sets every counter of this database's tables to zero.
pub fn reset() {
    LOCAL.with_borrow_mut(HashMap::clear);
    let Some(control) = control::control() else { return };
    control.slots().filter(|(_, entry, _)| entry.is_here()).for_each(|(_, _, slot)| slot.reset_counters());
}
