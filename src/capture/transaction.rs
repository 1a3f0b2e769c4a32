//! This transaction's delta: changes of attached tables that are in no image yet, in local memory.
//!
//! Triggers append (trigger.rs); flush.rs moves entries into the image; ROLLBACK and ROLLBACK TO drop their part, so
//! there is nothing to undo. Appending never raises: without memory the table's entries are marked as lost, and the
//! image becomes incomplete at commit. Entries carry the xids and command ids of their tuples, so the image can answer
//! this transaction's own queries.

#![expect(unsafe_code, reason = "transaction callbacks")]

use crate::capture::delta::{CAP_BYTES, CapturedAs, Change, NameLengths, TOP, TableDelta};
use crate::capture::flush::Flushed;
use crate::capture::{dropped, flush, linked, marked};
use crate::catalog::columns::Columns;
use crate::catalog::{grants_table, registration_cache};
use crate::error::Damage;
use crate::image::control;
use crate::pg::compat::{Locator, plain, unguarded};
use crate::pg::{contain, lock_owner, snapshot};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};

thread_local! {
    /// The transaction whose changes are flushed at its end; 0: none.
    static FLUSHED: Cell<u64> = const { Cell::new(0) };
    static DELTA: RefCell<Vec<TableDelta>> = const { RefCell::new(Vec::new()) };
}

/// Adds a change of the row whose tree, parent and child `write` appends. Only the triggers call it.
pub fn note(oid: pg_sys::Oid, source: &CapturedAs, change: Change, write: impl FnOnce(&mut Vec<u8>) -> NameLengths) {
    let subtransaction = unguarded::GetCurrentSubTransactionId();
    lock_owner::keep_for_changes(oid);
    linked::note(oid);
    let full = with_table(oid, source, |table| {
        table.append(change, subtransaction, write);
        table.bytes() > table.cap
    });
    // From PRE_COMMIT on, changes are flushed as they come.
    if full || contain::committing() {
        flush(oid, contain::committing());
    }
}

/// Notes a change that could not be read (a column does not resolve): the image cannot follow the table.
pub fn note_lost(oid: pg_sys::Oid, trigger: pg_sys::Oid, locator: Locator) {
    lock_owner::keep_for_changes(oid);
    linked::note(oid);
    let source = CapturedAs { trigger, locator, columns: Columns::default() };
    let subtransaction = unguarded::GetCurrentSubTransactionId();
    with_table(oid, &source, |table| table.lose(subtransaction, Damage::Lost));
}

/// TRUNCATE: voids what was captured for the table's current relfilenode.
pub fn truncate(oid: pg_sys::Oid, locator: Locator) {
    linked::note(oid);
    DELTA.with_borrow_mut(|tables| {
        tables.iter_mut().filter(|t| t.oid == oid && t.source.locator == locator).for_each(|t| t.keep(&[]));
    });
}

fn with_table<R>(oid: pg_sys::Oid, source: &CapturedAs, f: impl FnOnce(&mut TableDelta) -> R) -> R {
    DELTA.with_borrow_mut(|tables| {
        let known = tables.iter().rposition(|t| t.oid == oid && t.source == *source);
        let i = known.unwrap_or_else(|| {
            let (entries, names) = (Vec::new(), Vec::new());
            tables.push(TableDelta { oid, source: *source, entries, names, cap: CAP_BYTES, torn: false, lost: None });
            tables.len() - 1
        });
        f(&mut tables[i])
    })
}

/// Whether the table has changes that wait for a flush.
pub fn pending(oid: pg_sys::Oid) -> bool {
    DELTA.with_borrow(|tables| tables.iter().any(|t| t.oid == oid && !t.is_empty()))
}

/// Moves the table's entries into its image. `last` says that no more changes can come, so that an entry without a
/// partner never finds one. Raises for a pending interrupt (a cancel, say), and 53200 in the last flush if the control
/// block cannot be mapped: what is flushed by then is out of the delta, the rest stays in it.
pub fn flush(oid: pg_sys::Oid, last: bool) {
    loop {
        let mut taken = Taken(DELTA.with_borrow_mut(|tables| {
            let (mine, others) = std::mem::take(tables).into_iter().partition(|t: &TableDelta| t.oid == oid);
            *tables = others;
            mine
        }));
        let all = taken.0.iter_mut().all(|table| {
            table.torn = true;
            let flushed = flush::flush(table, last);
            table.torn = false;
            flushed == Flushed::All
        });
        drop(taken);
        if all {
            return;
        }
        check_for_interrupts!();
    }
}

/// Tables taken out of the delta while they are flushed; Drop puts them back whatever happens. If an ERROR could not be
/// contained, we do not know which of a table's changes are in the image.
struct Taken(pub Vec<TableDelta>);

impl Drop for Taken {
    fn drop(&mut self) {
        for table in &mut self.0 {
            // Retry entries that wait for a partner when there is twice as much, not at each change.
            table.cap = CAP_BYTES.max(2 * table.bytes());
            if std::mem::take(&mut table.torn) {
                table.lose(TOP, Damage::Lost);
            }
        }
        let kept = std::mem::take(&mut self.0).into_iter().filter(|t| !t.is_empty());
        DELTA.with_borrow_mut(|tables| tables.extend(kept));
    }
}

/// Called at PRE_COMMIT and PRE_PREPARE. An ERROR may come from here as from a deferred trigger, which ran just before:
/// a cancel aborts the transaction, whose xids all flushed changes carry. There is little to flush: no more than the
/// cap, and what waits.
fn flush_all() {
    contain::set_committing(true);
    let mut tables = DELTA.take();
    if !tables.is_empty() {
        FLUSHED.set(plain::GetTopFullTransactionIdIfAny().value);
    }
    for table in &mut tables {
        while flush::flush(table, true) == Flushed::Interrupted {
            check_for_interrupts!();
        }
    }
    linked::before_commit();
    dropped::before_commit();
}

/// At COMMIT nothing should remain. Entries that are still there (the flush of a late trigger failed) make the image
/// incomplete.
fn finish() {
    DELTA.with_borrow_mut(|tables| {
        if let Some(control) = control::control() {
            for table in tables.iter().filter(|t| !t.is_empty()) {
                if let Some(index) = control.find_entry(table.oid) {
                    control.entry(index).lose_log();
                    control.entry(index).spoil(Damage::Lost);
                }
            }
        }
        tables.clear();
    });
    reset();
}

fn reset() {
    FLUSHED.set(0);
    contain::set_committing(false);
    registration_cache::forget();
    grants_table::forget();
    marked::forget();
    linked::forget();
    dropped::forget();
    DELTA.with_borrow_mut(Vec::clear);
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: two functions of this library, which is never unloaded.
    unsafe {
        pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(at_subtransaction_end), std::ptr::null_mut());
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _arg: *mut std::ffi::c_void) {
    use pg_sys::XactEvent::*;
    match event {
        XACT_EVENT_PRE_COMMIT | XACT_EVENT_PRE_PREPARE => flush_all(),
        XACT_EVENT_COMMIT => {
            if FLUSHED.get() != 0 {
                snapshot::committed(FLUSHED.get());
            }
            finish();
        }
        XACT_EVENT_PREPARE => finish(),
        XACT_EVENT_ABORT | XACT_EVENT_PARALLEL_ABORT | XACT_EVENT_PARALLEL_COMMIT => reset(),
        _ => {}
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn at_subtransaction_end(
    event: pg_sys::SubXactEvent::Type,
    mine: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
    _arg: *mut std::ffi::c_void,
) {
    if contain::inside() {
        return;
    }
    registration_cache::forget();
    grants_table::forget();
    DELTA.with_borrow_mut(|tables| match event {
        pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB => {
            marked::abort(mine);
            tables.iter_mut().for_each(|t| t.abort(mine));
        }
        pg_sys::SubXactEvent::SUBXACT_EVENT_COMMIT_SUB => {
            marked::commit(mine, parent);
            tables.iter_mut().for_each(|t| t.commit(mine, parent));
        }
        _ => {}
    });
}
