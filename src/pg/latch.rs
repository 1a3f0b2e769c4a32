//! Waits some milliseconds on the process's latch; serves interrupts, and exits if the postmaster dies.
//!
//! May raise (a cancel), so it is never called under an image lock.

#![expect(unsafe_code, reason = "background workers, locks, snapshots")]

use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::time::Duration;

/// Pause between two checks of the transactions that we wait for.
const POLL: Duration = Duration::from_millis(5);

/// Pause between two checks for a free place.
const SLOW_POLL: Duration = Duration::from_millis(50);

/// Sleeps briefly; serves interrupts (termination).
pub fn pause() {
    wait_latch(pg_sys::WL_TIMEOUT, POLL);
}

/// Sleeps longer, for waits that take their time.
pub fn nap() {
    wait_latch(pg_sys::WL_TIMEOUT, SLOW_POLL);
}

/// Sleeps until a signal comes, or for a minute.
pub fn sleep() {
    wait_latch(pg_sys::WL_TIMEOUT, Duration::from_secs(60));
}

fn wait_latch(event: u32, time: Duration) {
    // SAFETY: our own latch; any wake-up is fine.
    unsafe {
        let events = (pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH | event) as i32;
        pg_sys::WaitLatch(pg_sys::MyLatch, events, time.as_millis() as i64, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}
