//! Checks for interrupts in long work.

#![expect(unsafe_code, reason = "reads what is pending")]

use pgrx::pg_sys;
use std::cell::Cell;

/// Whether a cancel, or another interrupt that can be served now, is pending in this process.
pub fn interrupted() -> bool {
    // SAFETY: reads variables of this process, as CHECK_FOR_INTERRUPTS does.
    unsafe {
        pg_sys::InterruptPending != 0
            && pg_sys::InterruptHoldoffCount == 0
            && pg_sys::QueryCancelHoldoffCount == 0
            && pg_sys::CritSectionCount == 0
    }
}

/// Long work of the core calls this now and then.
pub fn check_interrupts() {
    pgrx::check_for_interrupts!();
}

/// Rows fetched at once, or handled between two checks for interrupts.
pub const ROWS_BETWEEN_CHECKS: usize = 10_000;

/// Checks for interrupts once enough work is done, counted in names, and in cache lines for long names.
pub fn look_up(done: &Cell<usize>, bytes: usize) {
    done.set(done.get() + 1 + bytes / 64);
    if done.get() > ROWS_BETWEEN_CHECKS {
        done.set(0);
        pgrx::check_for_interrupts!();
    }
}
