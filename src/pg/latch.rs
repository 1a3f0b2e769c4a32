//! Waiting for some milliseconds, on the process's latch: interrupts are served, and the death of the postmaster ends it.
//!
//! May raise (a cancel), so it is never called under an image lock.

#![expect(unsafe_code, reason = "background workers, locks, snapshots")]

use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::time::Duration;

/// Between two looks at the transactions that are waited for.
const POLL: Duration = Duration::from_millis(5);

/// Between two looks for a place.
const SLOW_POLL: Duration = Duration::from_millis(50);

/// Sleeps a little; interrupts (termination) are served.
pub fn pause() {
    wait_latch(pg_sys::WL_TIMEOUT, POLL);
}

/// Sleeps for longer: whoever waits for something that takes its time.
pub fn nap() {
    wait_latch(pg_sys::WL_TIMEOUT, SLOW_POLL);
}

fn wait_latch(event: u32, time: Duration) {
    // SAFETY: our own latch; a wake-up by anybody is fine.
    unsafe {
        let events = (pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH | event) as i32;
        pg_sys::WaitLatch(pg_sys::MyLatch, events, time.as_millis() as i64, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}
