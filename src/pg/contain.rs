//! Contains an ERROR in an internal subtransaction, as plpgsql's exception blocks do.
//!
//! Allocating or mapping shared memory can raise whatever flags it gets, and must never fail a user's COMMIT. The
//! subtransaction releases what the failed call held (lightweight locks, memory, resource owners). While the
//! transaction commits or prepares, a subtransaction may be begun but not rolled back (xact.c asserts this). Then we
//! use a resource owner of our own, and release all lightweight locks: a committing backend holds none when it calls
//! us.

#![expect(unsafe_code, reason = "subtransactions")]

use crate::pg::backend::Meanwhile;
use crate::pg::compat::plain;
use crate::pg::error_context;
use pgrx::{PgTryBuilder, pg_sys};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static COMMITTING: Cell<bool> = const { Cell::new(false) };
}

/// Records whether the transaction is committing or preparing: from PRE_COMMIT or PRE_PREPARE to its end.
pub fn set_committing(committing: bool) {
    COMMITTING.set(committing);
}

/// Whether the transaction is committing or preparing.
pub fn committing() -> bool {
    COMMITTING.get()
}

/// Whether the current subtransaction is one of ours: the delta's subtransaction callback ignores those.
pub fn inside() -> bool {
    INSIDE.get()
}

/// Whether an internal subtransaction can be started now: not during a parallel operation.
pub fn possible() -> bool {
    plain::IsTransactionState() && !plain::IsInParallelMode()
}

/// Marks that we are inside for as long as it lives; a panic that unwinds past it ends the mark too.
struct Inside;

impl Inside {
    fn enter() -> Self {
        INSIDE.set(true);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Runs `f` contained; None if it raised or panicked. Where no subtransaction can be started (in a parallel worker, or
/// a leader in parallel mode), `f` runs uncontained: an ERROR fails the statement.
pub fn attempt<R>(f: impl FnOnce() -> R) -> Option<R> {
    if !possible() || INSIDE.get() {
        return Some(f());
    }
    if COMMITTING.get() {
        return attempt_at_commit(f);
    }
    // SAFETY: the protocol of plpgsql's exec_stmt_block: memory context and resource owner are restored after either
    // end.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        let inside = Inside::enter();
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let result = caught(f);
        if result.is_some() {
            pg_sys::ReleaseCurrentSubTransaction();
        } else {
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
        }
        drop(inside);
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

/// Runs `f`; None if it raised or panicked, and then the caller must release what `f` held.
fn caught<R>(f: impl FnOnce() -> R) -> Option<R> {
    let before = Before::now();
    let result = PgTryBuilder::new(AssertUnwindSafe(|| Some(f()))).catch_others(|_| None).execute();
    if result.is_none() {
        before.put_back();
    }
    result
}

/// What a catcher restores: the error context entries, and the count that holds off interrupts. An ERROR sets the count
/// to zero; a panic leaves it as it was under the locks that the panicking code held.
struct Before {
    pub entries: error_context::Entries,
    held_off: u32,
}

impl Before {
    fn now() -> Self {
        // SAFETY: a backend variable.
        Self { entries: error_context::Entries::now(), held_off: unsafe { pg_sys::InterruptHoldoffCount } }
    }

    fn put_back(&self) {
        self.entries.put_back();
        // SAFETY: as above; releasing the locks leaves it as it is.
        unsafe { pg_sys::InterruptHoldoffCount = self.held_off };
    }
}

/// While this lives, the client gets no messages but errors. PostgreSQL sends a DEBUG5 message for each subtransaction
/// and waits until it is sent: a client that wants such messages and reads nothing must not make others wait for our
/// lock.
pub struct Quiet {
    _least: Meanwhile<i32>,
}

impl Quiet {
    pub fn enter() -> Self {
        let error = pgrx::PgLogLevel::ERROR as i32;
        // SAFETY: a setting; more messages are left out.
        Self { _least: unsafe { Meanwhile::new(&raw mut pg_sys::client_min_messages, |least| least.max(error)) } }
    }
}

/// [`Quiet`], and holds off interrupts, so that the session cannot end between two steps that belong together, such as
/// an allocation and the record of its address. (After each message PostgreSQL checks for interrupts, and ends the
/// process if its client has gone.)
pub struct Unbroken {
    /// An ERROR sets the count to zero.
    _held_off: Meanwhile<u32>,
    _quiet: Quiet,
}

impl Unbroken {
    pub fn enter() -> Self {
        let quiet = Quiet::enter();
        // SAFETY: as HOLD_INTERRUPTS does it.
        let held_off = unsafe { Meanwhile::new(&raw mut pg_sys::InterruptHoldoffCount, |count| count + 1) };
        Self { _held_off: held_off, _quiet: quiet }
    }
}

/// Runs `f`, in which nothing can raise. None if it panicked, a bug of ours; its lightweight locks are then released.
pub fn panic<R>(f: impl FnOnce() -> R) -> Option<R> {
    let before = Before::now();
    let result = std::panic::catch_unwind(AssertUnwindSafe(f)).ok();
    if result.is_none() {
        before.put_back();
        // SAFETY: we call this only where no other code's lightweight lock is held.
        unsafe { pg_sys::LWLockReleaseAll() };
    }
    result
}

fn attempt_at_commit<R>(f: impl FnOnce() -> R) -> Option<R> {
    // SAFETY: what a subtransaction does for its resources, and no more: an owner below the current one, released in
    // the three phases (locks of a success go to the parent), memory context and owner restored after either end.
    unsafe {
        let (context, parent) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        let own = pg_sys::ResourceOwnerCreate(parent, c"cftrag".as_ptr());
        pg_sys::CurrentResourceOwner = own;
        let inside = Inside::enter();
        let result = caught(f);
        drop(inside);
        if result.is_none() {
            pg_sys::LWLockReleaseAll();
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = own;
        use pg_sys::ResourceReleasePhase::*;
        for phase in [RESOURCE_RELEASE_BEFORE_LOCKS, RESOURCE_RELEASE_LOCKS, RESOURCE_RELEASE_AFTER_LOCKS] {
            pg_sys::ResourceOwnerRelease(own, phase, result.is_some(), false);
        }
        pg_sys::CurrentResourceOwner = parent;
        pg_sys::ResourceOwnerDelete(own);
        result
    }
}
