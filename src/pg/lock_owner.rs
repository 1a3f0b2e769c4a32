//! Table locks that we rely on, and their owners.
//!
//! PostgreSQL gives a lock to the current resource owner: a statement's, a cursor's, a subtransaction's. A cursor that
//! fails in a subtransaction loses its owner's locks, although it was opened outside, and although its earlier writes
//! stay. So it is not enough that this session holds a lock: another owner may hold it, and release it. We therefore
//! remember the owner, until it releases anything; after that, another owner may have its address.

#![expect(unsafe_code, reason = "resource owners")]

use crate::pg::compat::numbers;
use pgrx::pg_sys;
use std::cell::Cell;

/// An owner, and a table that it holds a lock on.
type Held = Option<(pg_sys::ResourceOwner, pg_sys::Oid)>;

thread_local! {
    /// The last AccessShareLock of a reader.
    static READ: Cell<Held> = const { Cell::new(None) };
    /// The last RowExclusiveLock that [`keep_for_changes`] took.
    static CHANGED: Cell<Held> = const { Cell::new(None) };
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: a function of this library, which is never unloaded.
    unsafe { pg_sys::RegisterResourceReleaseCallback(Some(released), std::ptr::null_mut()) };
}

fn current() -> pg_sys::ResourceOwner {
    // SAFETY: reads a backend variable.
    unsafe { pg_sys::CurrentResourceOwner }
}

/// Called when a resource owner releases its locks, or gives them to its parent. PostgreSQL makes it the current owner
/// meanwhile.
unsafe extern "C-unwind" fn released(
    _phase: pg_sys::ResourceReleasePhase::Type,
    _commit: bool,
    _top_level: bool,
    _arg: *mut std::ffi::c_void,
) {
    let owner = current();
    for held in [&READ, &CHANGED] {
        if held.get().is_some_and(|(of, _)| of == owner) {
            held.set(None);
        }
    }
}

/// Whether the current resource owner holds AccessShareLock on the table, as of the last [`note_read`].
pub fn reads(table: pg_sys::Oid) -> bool {
    READ.get() == Some((current(), table))
}

/// Notes that the current resource owner holds AccessShareLock on the table.
pub fn note_read(table: pg_sys::Oid) {
    READ.set(Some((current(), table)));
}

/// Releases AccessShareLock on a table once: a lock taken beside those that [`note_read`] knows. The entry of an open
/// table stays without it.
pub fn let_go(table: pg_sys::Oid) {
    numbers::UnlockRelationOid(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
}

/// Takes locks that the transaction holds to its end (a subtransaction until it aborts), whichever statement or cursor
/// needs them.
pub fn to_the_end<R>(take: impl FnOnce() -> R) -> R {
    // SAFETY: backend variables; an ERROR ends the (sub)transaction, which sets the current owner itself.
    unsafe {
        let statement = pg_sys::CurrentResourceOwner;
        pg_sys::CurrentResourceOwner = pg_sys::CurTransactionResourceOwner;
        let result = take();
        pg_sys::CurrentResourceOwner = statement;
        result
    }
}

/// Keeps the lock on a changed table for as long as the changes last, to the end of the (sub)transaction. Builds wait
/// for this lock: otherwise a build would miss the changes that this transaction has put into the image being replaced.
/// The statement that made the change holds this lock now, so we do not wait.
pub fn keep_for_changes(table: pg_sys::Oid) {
    // SAFETY: reads a backend variable.
    let held = Some((unsafe { pg_sys::CurTransactionResourceOwner }, table));
    if CHANGED.get() != held {
        to_the_end(|| numbers::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE));
        CHANGED.set(held);
    }
}
