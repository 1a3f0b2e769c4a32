//! Starting background workers that build images (online.rs is what they do).

#![expect(unsafe_code, reason = "background workers")]

use crate::build;
use crate::edges::Edges;
use crate::online;
use crate::registration::Functions;
use crate::shmem::Control;
use pgrx::pg_sys;
use std::ffi::CStr;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// A worker that was started, and the number by which its outcome is known.
pub struct Worker {
    handle: *mut pg_sys::BackgroundWorkerHandle,
    pub asker: u64,
}

/// The asker of a worker that nobody waits for: it does nothing if there is a current image after all.
pub const NOBODY: u64 = 0;

/// Starts a worker for the table; None if max_worker_processes leaves none.
pub fn start(table: pg_sys::Oid, functions: Functions) -> Option<Worker> {
    launch(table, functions, build::random_seed() as u32 | 1)
}

fn launch(table: pg_sys::Oid, functions: Functions, asker: u32) -> Option<Worker> {
    if !crate::guc::BUILD_BESIDE_WRITERS.get() {
        return None;
    }
    // SAFETY: a zeroed description filled as PostgreSQL documents it; the postmaster copies it.
    unsafe {
        let mut worker = pg_sys::BackgroundWorker {
            bgw_flags: (pg_sys::BGWORKER_SHMEM_ACCESS | pg_sys::BGWORKER_BACKEND_DATABASE_CONNECTION) as i32,
            bgw_start_time: pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished,
            bgw_restart_time: pg_sys::BGW_NEVER_RESTART,
            bgw_notify_pid: pg_sys::MyProcPid,
            ..Default::default()
        };
        put(&mut worker.bgw_name, c"cftrag builder");
        put(&mut worker.bgw_type, c"cftrag builder");
        put(&mut worker.bgw_library_name, c"cftrag");
        put(&mut worker.bgw_function_name, c"cftrag_build_worker");
        let [database, table, row, truncate] =
            [pg_sys::MyDatabaseId, table, functions.capture, functions.capture_truncate].map(u32::from);
        let extra = [database, table, row, truncate, asker];
        worker.bgw_extra.as_mut_ptr().cast::<[u32; 5]>().write_unaligned(extra);
        let mut handle = std::ptr::null_mut();
        let started = pg_sys::RegisterDynamicBackgroundWorker(&mut worker, &mut handle);
        started.then_some(Worker { handle, asker: u64::from(asker) })
    }
}

fn put<const N: usize>(field: &mut [std::ffi::c_char; N], text: &CStr) {
    field.iter_mut().zip(text.to_bytes_with_nul()).for_each(|(to, from)| *to = *from as std::ffi::c_char);
}

/// Asks for a worker on a reader's behalf, if the table is too large for the reader himself, none builds it and the last one did not just
/// fail. Does not wait.
pub fn request(control: &Control, table: &Edges, functions: Functions) {
    let Some((_, slot)) = control.find(table.oid()) else { return };
    // SAFETY: reads the clock; backend state.
    let (now, possible) = unsafe { (pg_sys::GetCurrentTimestamp(), !pg_sys::IsInParallelMode()) };
    let next = slot.retry_at.load(SeqCst);
    if possible
        && crate::guc::in_place_bytes() > 0
        && table.bytes() > crate::guc::in_place_bytes()
        && slot.builder.load(SeqCst) == 0
        && now >= next
        && slot.retry_at.compare_exchange(next, now + online::RETRY_MICROSECONDS, SeqCst, SeqCst).is_ok()
    {
        launch(table.oid(), functions, NOBODY as u32);
    }
}

/// Whether lock_timeout has passed since then.
pub fn timed_out(begun: Instant) -> bool {
    // SAFETY: reads a setting, milliseconds; 0 is no limit.
    let limit = unsafe { pg_sys::LockTimeout } as u64;
    limit > 0 && begun.elapsed() > Duration::from_millis(limit)
}

impl Worker {
    /// Waits for its end, at first for the writers that it waits for. False: lock_timeout has passed; the worker is told to stop. An
    /// interrupt, or lock_timeout while waiting for a writer, ends the wait and the worker.
    pub fn wait(&self, table: pg_sys::Oid) -> bool {
        let begun = Instant::now();
        let stop = Stop(self.handle);
        online::join_writers(table);
        loop {
            let mut pid = 0;
            // SAFETY: the handle of a worker that this process registered.
            let status = unsafe { pg_sys::GetBackgroundWorkerPid(self.handle, &mut pid) };
            if matches!(status, pg_sys::BgwHandleStatus::BGWH_STOPPED | pg_sys::BgwHandleStatus::BGWH_POSTMASTER_DIED) {
                std::mem::forget(stop);
                return true;
            }
            if timed_out(begun) {
                return false;
            }
            online::pause();
        }
    }
}

/// Stops the worker when its caller gives up: at a timeout, or when an interrupt unwinds.
struct Stop(*mut pg_sys::BackgroundWorkerHandle);

impl Drop for Stop {
    fn drop(&mut self) {
        // SAFETY: as above; only sets a flag in shared memory and signals the postmaster.
        unsafe { pg_sys::TerminateBackgroundWorker(self.0) };
    }
}
