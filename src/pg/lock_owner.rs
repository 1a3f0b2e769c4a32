//! Table locks that are relied on, and whose they are.
//!
//! PostgreSQL gives a lock to the current resource owner: of a statement, of a cursor, of a subtransaction. A cursor that fails in a
//! subtransaction loses what its owner holds, although it was opened outside, and although what it wrote before stays. So it says little
//! that this session holds a lock: another owner may hold it, and release it. What counts is the owner. One is remembered until it releases anything;
//! then its address may be another owner's.

#![expect(unsafe_code, reason = "resource owners")]

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

/// A resource owner releases its locks, or gives them to its parent. PostgreSQL makes it the current one meanwhile.
unsafe extern "C-unwind" fn released(
    _phase: pg_sys::ResourceReleasePhase::Type,
    _commit: bool,
    _top_level: bool,
    _arg: *mut std::ffi::c_void,
) {
    // SAFETY: reads a backend variable.
    let owner = unsafe { pg_sys::CurrentResourceOwner };
    for held in [&READ, &CHANGED] {
        if held.get().is_some_and(|(of, _)| of == owner) {
            held.set(None);
        }
    }
}

/// Whether the current resource owner holds AccessShareLock on the table: the last that [`note_read`] was told of.
pub fn reads(table: pg_sys::Oid) -> bool {
    // SAFETY: reads a backend variable.
    READ.get() == Some((unsafe { pg_sys::CurrentResourceOwner }, table))
}

/// The current resource owner holds AccessShareLock on the table.
pub fn note_read(table: pg_sys::Oid) {
    // SAFETY: reads a backend variable.
    READ.set(Some((unsafe { pg_sys::CurrentResourceOwner }, table)));
}

/// Takes locks that the transaction holds to its end (a subtransaction until it is undone), whichever statement or cursor needs them.
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

/// Keeps the lock of whoever changed rows of the table for as long as the changes last, to the end of the (sub)transaction: builds wait for
/// it, and a build that did not would miss what this transaction has put into the image that is replaced. The statement that made the
/// change holds the same lock now, so nobody is waited for.
pub fn keep_for_changes(table: pg_sys::Oid) {
    // SAFETY: reads a backend variable.
    let held = Some((unsafe { pg_sys::CurTransactionResourceOwner }, table));
    if CHANGED.get() != held {
        // SAFETY: any OID may be locked.
        to_the_end(|| unsafe { pg_sys::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE) });
        CHANGED.set(held);
    }
}
