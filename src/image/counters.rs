//! How often each reason sent a call to the reference query: counted in the table's slot, or in this process if it has
//! none.

use crate::image::control;
use crate::image::reason::Reason;
use pgrx::pg_sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

const ROOM: usize = 32;

thread_local! {
    static LOCAL: RefCell<HashMap<u32, [u64; ROOM]>> = RefCell::new(HashMap::new());
}

pub fn count(table: pg_sys::Oid, reason: Reason) {
    if let Some((_, slot)) =
        control::control().and_then(|control| crate::image::directory::find_or_take(control, table, false))
    {
        slot.reasons[reason as usize].fetch_add(1, Relaxed);
    } else {
        LOCAL.with_borrow_mut(|local| local.entry(u32::from(table)).or_default()[reason as usize] += 1);
    }
}

/// The counts of one table.
pub fn reasons(table: pg_sys::Oid) -> [u64; ROOM] {
    let mut counts = LOCAL.with_borrow(|local| local.get(&u32::from(table)).copied().unwrap_or_default());
    if let Some((_, slot)) = control::control().and_then(|control| control.find(table)) {
        counts.iter_mut().zip(&slot.reasons).for_each(|(count, shared)| *count += shared.load(Relaxed));
    }
    counts
}

/// Sets every counter of this database's tables to zero.
pub fn reset() {
    LOCAL.with_borrow_mut(HashMap::clear);
    let Some(control) = control::control() else { return };
    for slot in control.slots.iter().filter(|slot| slot.is_here()) {
        slot.reset_counters();
    }
}
