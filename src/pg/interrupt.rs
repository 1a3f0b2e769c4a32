//! Long work under an image's lock, where CHECK_FOR_INTERRUPTS does nothing: it can be left, too.

#![expect(unsafe_code, reason = "reads what is pending")]

use crate::pg::inject;
use cftrag_core::Interruptible;
use pgrx::pg_sys;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Whether a cancel, or another interrupt that can be served, waits for this process.
pub fn interrupted() -> bool {
    // SAFETY: reads variables of this process, as CHECK_FOR_INTERRUPTS does.
    unsafe {
        pg_sys::InterruptPending != 0
            && pg_sys::InterruptHoldoffCount == 0
            && pg_sys::QueryCancelHoldoffCount == 0
            && pg_sys::CritSectionCount == 0
    }
}

/// What long work of the core calls now and then.
pub fn check_interrupts() {
    pgrx::check_for_interrupts!();
}

/// Rows fetched at once, or handled between two looks for an interrupt.
pub const ROWS_BETWEEN_CHECKS: usize = 10_000;

/// Why the work was left.
struct Cancelled;

/// Runs `f`, which only reads, or writes what is dropped with it. None: a cancel waits, or the end of the session, and the work was left.
/// The caller releases the lock and looks for interrupts, which raises. `f` calls nothing of PostgreSQL's.
pub fn until_cancelled<R>(f: impl FnOnce(&mut Interruptible<'_>) -> R) -> Option<R> {
    let mut check_interrupts = || {
        inject::looked();
        if cancelled() {
            // No panic: nothing is reported.
            resume_unwind(Box::new(Cancelled));
        }
    };
    match catch_unwind(AssertUnwindSafe(|| f(&mut Interruptible::new(&mut check_interrupts)))) {
        Ok(result) => Some(result),
        Err(why) if why.is::<Cancelled>() => None,
        Err(why) => resume_unwind(why),
    }
}

/// Whether CHECK_FOR_INTERRUPTS would raise, were no lock held.
fn cancelled() -> bool {
    // SAFETY: reads variables of this process, as CHECK_FOR_INTERRUPTS does.
    unsafe { pg_sys::ProcDiePending != 0 || pg_sys::QueryCancelPending != 0 && pg_sys::QueryCancelHoldoffCount == 0 }
}
