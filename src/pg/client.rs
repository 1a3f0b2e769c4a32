//! Notices that a session's client is gone while the session waits, so that no background worker works for a vanished
//! client.
//!
//! PostgreSQL checks the client's socket now and then if client_connection_check_interval says so. By default it does
//! not, and a wait in the lock manager lasts as long as the lock is held. Here the socket is checked, whatever the
//! setting.

#![expect(unsafe_code, reason = "backend variables and timeouts")]

use crate::pg::backend::Meanwhile;
use pgrx::pg_sys;

/// Milliseconds between two checks.
const INTERVAL: i32 = 1000;

/// CLIENT_CONNECTION_CHECK_TIMEOUT of utils/timeout.h, which pgrx does not bind: 17 inserted one before it.
const TIMEOUT: u32 = if cfg!(any(feature = "pg15", feature = "pg16")) { 10 } else { 11 };

mod timeouts {
    use pgrx::pg_guard;

    #[pg_guard]
    unsafe extern "C-unwind" {
        unsafe fn get_timeout_active(id: u32) -> bool;
        unsafe fn enable_timeout_after(id: u32, milliseconds: i32);
    }
}

/// While this lives, PostgreSQL checks for the client and ends the session if it is gone, as with
/// client_connection_check_interval.
#[must_use]
pub struct Watch {
    _interval: Option<Meanwhile<i32>>,
}

/// Does nothing in a process without a client, if the setting is on, or if the system cannot detect a closed socket.
pub fn watch() -> Watch {
    // SAFETY: backend variables; the timeout is registered by InitPostgres.
    unsafe {
        if pg_sys::client_connection_check_interval > 0
            || pg_sys::MyProcPort.is_null()
            || !pg_sys::WaitEventSetCanReportClosed()
        {
            return Watch { _interval: None };
        }
        // A timeout that is still set at the end checks once more, and is not set again.
        let interval = Meanwhile::new(&raw mut pg_sys::client_connection_check_interval, |_| INTERVAL);
        if !timeouts::get_timeout_active(TIMEOUT) {
            timeouts::enable_timeout_after(TIMEOUT, INTERVAL);
        }
        Watch { _interval: Some(interval) }
    }
}
