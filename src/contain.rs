//! Containing an ERROR: an internal subtransaction, as plpgsql's exception blocks use.
//!
//! Allocating or mapping shared memory can raise whatever flags it gets; none of it may fail a user's COMMIT. The subtransaction
//! releases what the failed call held (lightweight locks, memory, resource owners).

#![expect(unsafe_code, reason = "subtransactions")]

use pgrx::PgTryBuilder;
use pgrx::pg_sys;
use std::cell::Cell;
use std::panic::AssertUnwindSafe;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the current subtransaction is one of ours: the delta's subtransaction callback ignores those.
pub fn inside() -> bool {
    INSIDE.get()
}

/// Whether an internal subtransaction can be started now: not during a parallel operation.
pub fn possible() -> bool {
    // SAFETY: read a backend state.
    unsafe { pg_sys::IsTransactionState() && !pg_sys::IsInParallelMode() }
}

/// Runs `f` contained: None if it raised or panicked. Where no subtransaction can be started (a parallel worker, or a leader in
/// parallel mode) `f` runs uncontained: an ERROR is the statement's.
pub fn attempt<R>(f: impl FnOnce() -> R) -> Option<R> {
    if !possible() || INSIDE.get() {
        return Some(f());
    }
    // SAFETY: the protocol of plpgsql's exec_stmt_block: memory context and resource owner are restored after either end.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        INSIDE.set(true);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let result = PgTryBuilder::new(AssertUnwindSafe(|| Some(f())))
            .catch_others(|_| None)
            .catch_rust_panic(|_| None)
            .execute();
        if result.is_some() {
            pg_sys::ReleaseCurrentSubTransaction();
        } else {
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
        }
        INSIDE.set(false);
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}
