//! Starting background workers that build images (online.rs is what they do).

#![expect(unsafe_code, reason = "background workers")]

use crate::build;
use crate::clients;
use crate::edges::Edges;
use crate::holders;
use crate::online;
use crate::places;
use crate::registration::Functions;
use crate::share;
use crate::shmem::Control;
use crate::slot::Slot;
use pgrx::prelude::*;
use std::ffi::CStr;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// A worker that was started, and the number by which its outcome is known.
pub struct Worker {
    handle: *mut pg_sys::BackgroundWorkerHandle,
    pub asker: u64,
}

/// Between two looks at all locks of the server.
const LOOK: Duration = Duration::from_millis(50);

/// The asker of a worker that nobody waits for: it does nothing if there is a current image after all.
pub const NOBODY: u64 = 0;

/// Starts a worker for the table; None if max_worker_processes leaves none.
pub fn start(table: pg_sys::Oid, functions: Functions) -> Option<Worker> {
    build(table, functions, build::random_seed() as u32 | 1)
}

fn build(table: pg_sys::Oid, functions: Functions, asker: u32) -> Option<Worker> {
    // SAFETY: a backend variable.
    let database = unsafe { pg_sys::MyDatabaseId };
    let [database, table, row, truncate] =
        [database, table, functions.capture, functions.capture_truncate].map(u32::from);
    let worker = launch(c"cftrag_build_worker", [database, table, row, truncate, asker])?;
    Some(Worker { asker: u64::from(asker), ..worker })
}

/// Starts a worker with that main function, whose database is the first of `extra`; None if max_worker_processes leaves none.
pub fn launch(function: &CStr, extra: [u32; 5]) -> Option<Worker> {
    // SAFETY: the postmaster copies the description; the handle is palloc'd.
    unsafe {
        let mut worker = description(c"cftrag builder", function, extra);
        worker.bgw_notify_pid = pg_sys::MyProcPid;
        let mut handle = std::ptr::null_mut();
        let started = pg_sys::RegisterDynamicBackgroundWorker(&mut worker, &mut handle);
        started.then_some(Worker { handle, asker: NOBODY })
    }
}

/// A worker that runs once the server takes writes, and once only.
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

/// The begin of a worker's main function: its signals, its settings (rights.rs), its connection to the database that is named first, and
/// all that is in bgw_extra.
pub fn connect() -> [u32; 5] {
    // SAFETY: the start of a background worker, as PostgreSQL documents it; MyBgworkerEntry is set.
    unsafe {
        crate::compat::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        crate::rights::pin();
        pg_sys::BackgroundWorkerUnblockSignals();
        let extra = (*pg_sys::MyBgworkerEntry).bgw_extra.as_ptr().cast::<[u32; 5]>().read_unaligned();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(pg_sys::Oid::from(extra[0]), pg_sys::InvalidOid, 0);
        plain_transactions();
        extra
    }
}

/// Settings of transactions, and what autovacuum's workers set them to, whatever the server, the database or the role says: a build is
/// nobody's transaction. It takes no predicate locks, waits for no safe snapshot, and has its own patience.
const PLAIN: [(&CStr, &CStr); 6] = [
    (c"default_transaction_isolation", c"read committed"),
    (c"default_transaction_read_only", c"off"),
    (c"default_transaction_deferrable", c"off"),
    (c"statement_timeout", c"0"),
    (c"lock_timeout", c"0"),
    (c"idle_in_transaction_session_timeout", c"0"),
];

/// Sets them for all transactions of this background worker; settings read again do not change that.
pub fn plain_transactions() {
    let since_17 = [(c"transaction_timeout", c"0")];
    let newer = if cfg!(any(feature = "pg15", feature = "pg16")) { &since_17[..0] } else { &since_17[..] };
    for (name, value) in PLAIN.iter().chain(newer) {
        // SAFETY: settings that there are, outside any transaction; as autovacuum's workers do it.
        unsafe {
            let (user, forced) = (pg_sys::GucContext::PGC_SUSET, pg_sys::GucSource::PGC_S_OVERRIDE);
            pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), user, forced);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn terminate(signal: i32) {
    // SAFETY: a signal handler, called as one.
    unsafe { pg_sys::die(signal) };
}

/// Asks for a worker on a reader's behalf, if the table is too large for the reader himself, or he gave way to a writer
/// or is part of a parallel operation, if there is a place, none builds it and
/// the last one did not just fail. Does not wait.
pub fn request(control: &Control, table: &Edges, functions: Functions, gave_way: bool) {
    let Some((_, slot)) = control.find(table.oid()) else { return };
    // SAFETY: reads the clock; backend state.
    let (now, parallel) = unsafe { (pg_sys::GetCurrentTimestamp(), pg_sys::IsInParallelMode()) };
    let next = slot.retry_at.load(SeqCst);
    if crate::guc::in_place_bytes() > 0
        && (gave_way || parallel || table.bytes() > crate::guc::in_place_bytes())
        && slot.builder.load(SeqCst) == 0
        && now >= next
        && slot.retry_at.compare_exchange(next, now + online::RETRY_MICROSECONDS, SeqCst, SeqCst).is_ok()
        && places::is_free(control, slot.owner.load(Relaxed))
    {
        build(table.oid(), functions, NOBODY as u32);
    }
}

impl Worker {
    pub fn has_ended(&self) -> bool {
        let mut pid = 0;
        // SAFETY: the handle of a worker that this process registered.
        let status = unsafe { pg_sys::GetBackgroundWorkerPid(self.handle, &mut pid) };
        matches!(status, pg_sys::BgwHandleStatus::BGWH_STOPPED | pg_sys::BgwHandleStatus::BGWH_POSTMASTER_DIED)
    }

    /// Waits for its end, and where it waits for somebody, for him. Not Ended: the worker is told to stop; also if an interrupt, or
    /// lock_timeout while waiting for somebody, ends the wait. The caller holds no lock on the table.
    pub fn wait(&self, control: &Control, table: pg_sys::Oid) -> Waited {
        let stop = Stop(self.handle);
        let waited = wait_until(control, table, || self.has_ended());
        if waited == Waited::Ended {
            std::mem::forget(stop);
        }
        waited
    }
}

/// Waits until there is a place for a worker; meanwhile, in the lock manager, for who writes to the table, as the worker would.
pub fn wait_for_place(control: &Control, table: pg_sys::Oid) -> Waited {
    let (owner, begun) = (share::owner_of(table), Instant::now());
    while !places::is_free(control, owner) {
        let _watch = clients::watch();
        holders::join_writers(table);
        if timed_out(begun) {
            return Waited::TimedOut;
        }
        online::nap();
    }
    Waited::Ended
}

fn timed_out(begun: Instant) -> bool {
    // SAFETY: reads a setting, milliseconds; 0 is no limit.
    let limit = unsafe { pg_sys::LockTimeout } as u64;
    limit > 0 && begun.elapsed() > Duration::from_millis(limit)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Ended,
    /// lock_timeout has passed.
    TimedOut,
    /// Somebody whom the worker waits for waits for us.
    GaveWay,
}

/// Waits until a build of the table has ended. Where the builder waits for somebody, so does this transaction, in the lock manager.
pub fn wait_until(control: &Control, table: pg_sys::Oid, ended: impl Fn() -> bool) -> Waited {
    let begun = Instant::now();
    let mut looked = begun;
    let _watch = clients::watch();
    holders::join_writers(table);
    while !ended() {
        if timed_out(begun) {
            return Waited::TimedOut;
        }
        let locking = |slot: &Slot| slot.progress.phase.load(SeqCst) == online::LOCKING;
        if looked.elapsed() > LOOK && control.find(table).is_some_and(|(_, slot)| locking(slot)) {
            looked = Instant::now();
            holders::join_lockers(table);
            if holders::keeps_out_and_waits_for_me(table) {
                return Waited::GaveWay;
            }
        }
        online::pause();
    }
    Waited::Ended
}

/// Stops the worker when its caller gives up: at a timeout, or when an interrupt unwinds.
struct Stop(*mut pg_sys::BackgroundWorkerHandle);

impl Drop for Stop {
    fn drop(&mut self) {
        // SAFETY: as above; only sets a flag in shared memory and signals the postmaster.
        unsafe { pg_sys::TerminateBackgroundWorker(self.0) };
    }
}
