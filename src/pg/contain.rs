//! Containing an ERROR: an internal subtransaction, as plpgsql's exception blocks use.
//!
//! Allocating or mapping shared memory can raise whatever flags it gets; none of it may fail a user's COMMIT. The subtransaction
//! releases what the failed call held (lightweight locks, memory, resource owners). While the transaction commits or prepares, a
//! subtransaction may be begun but not rolled back (xact.c asserts it); then a resource owner of our own does, and the lightweight locks
//! are let go: a committing backend holds none when it calls us.

#![expect(unsafe_code, reason = "subtransactions")]

use crate::pg::error_context;
use pgrx::{PgTryBuilder, pg_sys};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static COMMITTING: Cell<bool> = const { Cell::new(false) };
}

/// Says whether the transaction commits or prepares. Set from PRE_COMMIT and PRE_PREPARE to the transaction's end.
pub fn set_committing(committing: bool) {
    COMMITTING.set(committing);
}

/// Whether the transaction commits or prepares.
pub fn committing() -> bool {
    COMMITTING.get()
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

/// Says, as long as it lives, that we are inside; a panic that passes by ends that, too.
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

/// Runs `f` contained: None if it raised or panicked. Where no subtransaction can be started (a parallel worker, or a leader in
/// parallel mode) `f` runs uncontained: an ERROR is the statement's.
pub fn attempt<R>(f: impl FnOnce() -> R) -> Option<R> {
    if !possible() || INSIDE.get() {
        return Some(f());
    }
    if COMMITTING.get() {
        return attempt_at_commit(f);
    }
    // SAFETY: the protocol of plpgsql's exec_stmt_block: memory context and resource owner are restored after either end.
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

/// Runs `f` and tells by None that it raised or panicked: what it held is for the caller to let go.
fn caught<R>(f: impl FnOnce() -> R) -> Option<R> {
    let before = Before::now();
    let result = PgTryBuilder::new(AssertUnwindSafe(|| Some(f()))).catch_others(|_| None).execute();
    if result.is_none() {
        before.put_back();
    }
    result
}

/// What a catcher puts back: the entries of error contexts, and how often interrupts are held off, which an ERROR sets to none, and which a
/// panic leaves as it was under its locks.
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

/// As long as it lives the client gets no message but errors. PostgreSQL sends those of level DEBUG5 of each subtransaction, and waits until
/// they are read: a client that asks for them and reads nothing must not make others wait for a lock that a reader could not take.
pub struct Quiet {
    least: i32,
}

impl Quiet {
    pub fn enter() -> Self {
        // SAFETY: a variable of this process.
        unsafe {
            let before = Self { least: pg_sys::client_min_messages };
            pg_sys::client_min_messages = before.least.max(pgrx::PgLogLevel::ERROR as i32);
            before
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { pg_sys::client_min_messages = self.least };
    }
}

/// [`Quiet`], and no end of the session comes between two steps that belong together, as an allocation and the note of where it is: interrupts are
/// held off. (After each message PostgreSQL looks at them, and ends the process of a client that went away.)
pub struct Unbroken {
    held_off: u32,
    _quiet: Quiet,
}

impl Unbroken {
    pub fn enter() -> Self {
        let quiet = Quiet::enter();
        // SAFETY: a variable of this process.
        unsafe {
            let before = Self { held_off: pg_sys::InterruptHoldoffCount, _quiet: quiet };
            pg_sys::InterruptHoldoffCount += 1;
            before
        }
    }
}

impl Drop for Unbroken {
    fn drop(&mut self) {
        // SAFETY: as above. An ERROR has set the count to none.
        unsafe { pg_sys::InterruptHoldoffCount = self.held_off };
    }
}

/// Runs `f`, in which nothing can raise. None: it panicked, a bug of ours; the lightweight locks it held are let go.
pub fn panic<R>(f: impl FnOnce() -> R) -> Option<R> {
    let before = Before::now();
    let result = std::panic::catch_unwind(AssertUnwindSafe(f)).ok();
    if result.is_none() {
        before.put_back();
        // SAFETY: whoever flushes holds no lightweight lock of anybody else's.
        unsafe { pg_sys::LWLockReleaseAll() };
    }
    result
}

fn attempt_at_commit<R>(f: impl FnOnce() -> R) -> Option<R> {
    // SAFETY: what a subtransaction does for its resources, and no more: an owner below the current one, released in the three phases
    // (locks of a success go to the parent), memory context and owner restored after either end.
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
