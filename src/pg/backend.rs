//! What this process is and knows: variables of the backend.

#![expect(unsafe_code, reason = "reads backend variables")]

use crate::pg::compat::plain;
use pgrx::pg_sys;
use std::ffi::CStr;

macro_rules! variables {
    ($($(#[$doc:meta])* fn $name:ident() -> $of:ty = $variable:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name() -> $of {
            // SAFETY: a number, in a variable of this process, which has one thread.
            unsafe { pg_sys::$variable as $of }
        }
    )*};
}

variables! {
    /// The setting deadlock_timeout, in milliseconds.
    fn deadlock_timeout() -> i32 = DeadlockTimeout;
    /// The transaction's isolation level: XACT_READ_COMMITTED and the like.
    fn isolation() -> u32 = XactIsoLevel;
    /// The setting lock_timeout, in milliseconds; 0 is no limit.
    fn lock_timeout() -> u64 = LockTimeout;
    /// The setting maintenance_work_mem, in kilobytes.
    fn maintenance_work_mem() -> i32 = maintenance_work_mem;
    /// The setting max_worker_processes.
    fn max_worker_processes() -> i32 = max_worker_processes;
    /// The setting session_replication_role: SESSION_REPLICATION_ROLE_REPLICA and the like.
    fn replication_role() -> u32 = SessionReplicationRole;
    /// The setting row_security.
    fn row_security() -> bool = row_security;
    /// The setting work_mem, in kilobytes, at least 64.
    fn work_mem() -> usize = work_mem;
}

/// The OID of the database that it is connected to; 0 before that.
pub fn database() -> u32 {
    // SAFETY: reads a backend variable.
    u32::from(unsafe { pg_sys::MyDatabaseId })
}

/// A variable of this process that has another value while this lives.
pub struct Meanwhile<T: Copy + 'static> {
    variable: *mut T,
    before: T,
}

impl<T: Copy> Meanwhile<T> {
    /// # Safety
    /// A variable of this process, which may have that value.
    pub unsafe fn new(variable: *mut T, value: impl FnOnce(T) -> T) -> Self {
        // SAFETY: the caller's promise; one thread.
        unsafe {
            let before = variable.replace(value(*variable));
            Self { variable, before }
        }
    }
}

impl<T: Copy> Drop for Meanwhile<T> {
    fn drop(&mut self) {
        // SAFETY: see new().
        unsafe { self.variable.write(self.before) };
    }
}

/// The role whose rights count.
pub fn user() -> pg_sys::Oid {
    plain::GetUserId()
}

/// Microseconds since PostgreSQL's epoch.
pub fn now() -> pg_sys::TimestampTz {
    plain::GetCurrentTimestamp()
}

pub fn is_parallel_worker() -> bool {
    // SAFETY: reads a backend variable.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 }
}

/// The setting search_path.
pub fn search_path() -> &'static CStr {
    // SAFETY: a setting of the process, which is compared or copied at once.
    unsafe { CStr::from_ptr(pg_sys::namespace_search_path) }
}

/// Whether the transaction has no xid yet, and is in no parallel operation.
pub fn is_plain_reader() -> bool {
    plain::GetTopTransactionIdIfAny() == pg_sys::InvalidTransactionId && !plain::IsInParallelMode()
}

/// Whether a process of the server has that number.
pub fn is_process(number: i32) -> bool {
    // SAFETY: looks for any number.
    unsafe { !pg_sys::BackendPidGetProc(number).is_null() }
}

/// Raises PostgreSQL's error in a parallel operation.
pub fn prevent_in_parallel(command: &CStr) {
    // SAFETY: reads the transaction's state.
    unsafe { pg_sys::PreventCommandIfParallelMode(command.as_ptr()) };
}

/// Raises PostgreSQL's errors if a command that writes may not run: in a read-only transaction, in a parallel
/// operation, during recovery.
pub fn prevent(command: &CStr) {
    // SAFETY: they read the transaction's state.
    unsafe {
        pg_sys::PreventCommandIfReadOnly(command.as_ptr());
        pg_sys::PreventCommandIfParallelMode(command.as_ptr());
        pg_sys::PreventCommandDuringRecovery(command.as_ptr());
    }
}

/// Lets what follows see what the current command has written.
pub fn next_command() {
    // SAFETY: as PostgreSQL does it between commands; it raises in a parallel operation.
    unsafe { pg_sys::CommandCounterIncrement() };
}

/// Shows `work` as a COPY of the table in pg_stat_progress_copy; `work` gets what tells how many rows are done.
pub fn shown_as_copy<R>(table: pg_sys::Oid, work: impl FnOnce(&dyn Fn(i64)) -> R) -> R {
    // SAFETY: what this session shows of its progress; after an ERROR the abort ends it.
    unsafe {
        pg_sys::pgstat_progress_start_command(pg_sys::ProgressCommandType::PROGRESS_COMMAND_COPY, table);
        let done =
            work(&|rows| pg_sys::pgstat_progress_update_param(pg_sys::PROGRESS_COPY_TUPLES_PROCESSED as i32, rows));
        pg_sys::pgstat_progress_end_command();
        done
    }
}

/// Loads the library that a type's input function is in, which defines its settings.
pub fn load_library_of(type_oid: pg_sys::Oid) {
    // SAFETY: lookups, which raise if there is no such type.
    unsafe {
        let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::getTypeInputInfo(type_oid, &mut input, &mut parameter);
        pg_sys::fmgr_info(input, &mut pg_sys::FmgrInfo::default());
    }
}

/// Whether the database's encoding is that one.
pub fn has_encoding(encoding: pg_sys::pg_enc::Type) -> bool {
    plain::GetDatabaseEncoding() == encoding as i32
}

pub fn is_utf8() -> bool {
    has_encoding(pg_sys::pg_enc::PG_UTF8)
}

/// Each byte is a character then.
pub fn is_sql_ascii() -> bool {
    has_encoding(pg_sys::pg_enc::PG_SQL_ASCII)
}
