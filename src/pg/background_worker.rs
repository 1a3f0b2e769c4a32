//! Background workers: their description, start, connection, transactions, and the settings that their work runs under.
//!
//! The launcher gives a worker five words that say what to do. The worker runs with the search_path and the settings
//! pinned here.

#![expect(unsafe_code, reason = "background workers, locks, snapshots")]

use crate::pg::compat::plain;
use crate::pg::error_context::Entries;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::prelude::*;
use std::ffi::CStr;
use std::panic::AssertUnwindSafe;

/// Runs `f` in a transaction of a background worker.
pub fn transaction<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the main loop of a background worker, outside any transaction; an ERROR ends the worker.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        pg_sys::StartTransactionCommand();
        let result = f();
        pg_sys::CommitTransactionCommand();
        result
    }
}

/// Runs `work`, which begins and ends transactions. After an ERROR, `failed` is told of it, and its transaction is
/// ended.
pub fn attempt<R>(work: impl FnOnce() -> R, failed: impl FnOnce(&ErrorReportWithLevel) -> R) -> R {
    assert!(!plain::IsTransactionState(), "an ERROR ends no transaction but those of `work`");
    // The entries of the error context before it, which is not unwound by itself.
    let entries = Entries::now();
    match PgTryBuilder::new(AssertUnwindSafe(|| Ok(work()))).catch_others(Err).execute() {
        Ok(done) => done,
        Err(
            CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic { ereport: report, .. },
        ) => {
            entries.put_back();
            let failed = failed(&report);
            // SAFETY: as after an ERROR in a session's main loop: all that `work` had is gone.
            unsafe { pg_sys::AbortCurrentTransaction() };
            failed
        }
    }
}

/// Ends the transaction, which releases its locks, and begins another: the sessions we wait for must not wait for us.
pub fn between_transactions() {
    // SAFETY: as in transaction(); no snapshot is active and nothing palloc'd is kept.
    unsafe {
        pg_sys::CommitTransactionCommand();
        pg_sys::SetCurrentStatementStartTimestamp();
        pg_sys::StartTransactionCommand();
    }
}

/// The search_path of everything that runs with another role's rights.
pub const SAFE_PATH: &CStr = c"pg_catalog, pg_temp";

/// Settings that the server, a database or a role may have changed (ALTER DATABASE, ALTER ROLE) and a worker must not
/// take over: autovacuum's list, and role. A build is no client's transaction: it takes no predicate locks, waits for
/// no safe snapshot, and limits its waits itself.
const PINNED: &[(&CStr, &CStr)] = &[
    (c"search_path", SAFE_PATH),
    (c"role", c"none"),
    (c"default_transaction_isolation", c"read committed"),
    (c"default_transaction_read_only", c"off"),
    (c"default_transaction_deferrable", c"off"),
    (c"statement_timeout", c"0"),
    (c"lock_timeout", c"0"),
    (c"idle_in_transaction_session_timeout", c"0"),
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    (c"transaction_timeout", c"0"),
    (c"row_security", c"on"),
    (c"zero_damaged_pages", c"off"),
];

/// Pins the settings of a background worker. Called before it connects, so that a database's or role's settings never
/// take effect.
pub fn pin() {
    for (name, value) in PINNED {
        // SAFETY: settings of the server, valid values; nothing is read from a catalog for them without a transaction.
        unsafe {
            pg_sys::SetConfigOption(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_SUSET,
                pg_sys::GucSource::PGC_S_OVERRIDE,
            );
        }
    }
}

/// A worker that this process has started.
pub struct Handle(pub *mut pg_sys::BackgroundWorkerHandle);

/// Starts a worker of that name, with that main function, in the database given first in `extra`; None if
/// max_worker_processes is exhausted.
pub fn launch(name: &CStr, function: &CStr, extra: [u32; 5]) -> Option<Handle> {
    // SAFETY: the postmaster copies the description; the handle is palloc'd.
    unsafe {
        let mut worker = description(name, function, extra);
        worker.bgw_notify_pid = pg_sys::MyProcPid;
        let mut handle = std::ptr::null_mut();
        let started = pg_sys::RegisterDynamicBackgroundWorker(&mut worker, &mut handle);
        started.then_some(Handle(handle))
    }
}

/// Describes a worker that starts once the server takes writes, and is never restarted.
pub fn description(name: &CStr, function: &CStr, extra: [u32; 5]) -> pg_sys::BackgroundWorker {
    let mut worker = pg_sys::BackgroundWorker {
        bgw_flags: (pg_sys::BGWORKER_SHMEM_ACCESS | pg_sys::BGWORKER_BACKEND_DATABASE_CONNECTION) as i32,
        bgw_start_time: pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished,
        bgw_restart_time: pg_sys::BGW_NEVER_RESTART,
        ..Default::default()
    };
    put(&mut worker.bgw_name, name);
    put(&mut worker.bgw_type, name);
    put(&mut worker.bgw_library_name, c"cftrag");
    put(&mut worker.bgw_function_name, function);
    // SAFETY: 128 bytes, of which 20 are used.
    unsafe { worker.bgw_extra.as_mut_ptr().cast::<[u32; 5]>().write_unaligned(extra) };
    worker
}

fn put<const N: usize>(field: &mut [std::ffi::c_char; N], text: &CStr) {
    field.iter_mut().zip(text.to_bytes_with_nul()).for_each(|(to, from)| *to = *from as std::ffi::c_char);
}

/// Begins a worker's main function: sets up signals, pins settings ([`pin`]), connects to the database given first in
/// bgw_extra, and returns all of bgw_extra.
pub fn connect() -> [u32; 5] {
    // SAFETY: the start of a background worker, as PostgreSQL documents it; MyBgworkerEntry is set.
    unsafe {
        crate::pg::compat::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        pin();
        pg_sys::BackgroundWorkerUnblockSignals();
        let extra = (*pg_sys::MyBgworkerEntry).bgw_extra.as_ptr().cast::<[u32; 5]>().read_unaligned();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(pg_sys::Oid::from(extra[0]), pg_sys::InvalidOid, 0);
        extra
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn terminate(signal: i32) {
    // SAFETY: a signal handler, called as one.
    unsafe { pg_sys::die(signal) };
}

impl Handle {
    fn status(&self) -> pg_sys::BgwHandleStatus::Type {
        // SAFETY: the handle of a worker that this process registered.
        unsafe { pg_sys::GetBackgroundWorkerPid(self.0, &mut 0) }
    }

    pub fn has_ended(&self) -> bool {
        use pg_sys::BgwHandleStatus::{BGWH_POSTMASTER_DIED, BGWH_STOPPED};
        [BGWH_STOPPED, BGWH_POSTMASTER_DIED].contains(&self.status())
    }

    /// Whether it was registered, and is still to begin.
    pub fn is_to_begin(&self) -> bool {
        self.status() == pg_sys::BgwHandleStatus::BGWH_NOT_YET_STARTED
    }

    /// Tells the worker to stop: sets a flag in shared memory and signals the postmaster.
    pub fn terminate(&self) {
        // SAFETY: as above.
        unsafe { pg_sys::TerminateBackgroundWorker(self.0) };
    }
}
