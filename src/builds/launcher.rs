//! Images at server start (`cftrag.build_on_start`): a process of the preloaded library that, once the server takes writes, has one worker
//! per database build what is attached there. After a crash restart and after a promotion it does so again.
//!
//! It stays, and takes chunks of images ahead of need (ahead.rs) when it is woken: a background worker that ends well is not started again
//! after a crash. It is connected to no database, so it is in nobody's way; its workers are, for as long as they build, as any session is (DROP DATABASE needs FORCE meanwhile).

#![expect(unsafe_code, reason = "background workers")]

use crate::ahead;
use crate::online::{self, Job, Outcome};
use crate::registration::{self, Functions};
use crate::shmem;
use crate::worker::{self, NOBODY};
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Seconds until a launcher that failed, or whose server crashed, starts again.
const RESTART: i32 = 5;
/// A table whose writers do not end so soon (prepared transactions) is put behind all others of all databases.
const PATIENCE: Duration = Duration::from_millis(20);
/// After so many such waits, a second in all, a table that has writers is put off at once.
const MOST_WAITS: u32 = 50;
/// Those of a database are tried again and again, for so long in all; then they are left to their first readers.
const PATIENCE_WITH_ALL: Duration = Duration::from_secs(10);
/// Rounds over the databases.
const FIRST: u32 = 0;
const SECOND: u32 = 1;

/// Has the postmaster start the launcher, if it is the postmaster that loads the library. Called from _PG_init.
pub fn register() {
    // SAFETY: reads the postmaster's state; the description is copied.
    unsafe {
        if pg_sys::process_shared_preload_libraries_in_progress && !pg_sys::IsBinaryUpgrade {
            let mut launcher = worker::description(c"cftrag launcher", c"cftrag_launcher", [0; 5]);
            launcher.bgw_restart_time = RESTART;
            pg_sys::RegisterBackgroundWorker(&mut launcher);
        }
    }
}

/// The launcher's main function.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn cftrag_launcher(_arg: pg_sys::Datum) {
    // SAFETY: the start of a background worker, as PostgreSQL documents it; without a database only shared catalogs can be read.
    unsafe {
        crate::compat::pqsignal(pg_sys::SIGTERM as i32, Some(shutdown));
        crate::compat::pqsignal(pg_sys::SIGHUP as i32, Some(reload));
        pg_sys::BackgroundWorkerUnblockSignals();
        pg_sys::BackgroundWorkerInitializeConnection(std::ptr::null(), std::ptr::null(), 0);
    }
    worker::plain_transactions();
    let databases = if crate::guc::BUILD_ON_START.get() { online::transaction(databases) } else { Vec::new() };
    let put_off: Vec<_> = databases.into_iter().filter(|database| build(*database, FIRST)).collect();
    put_off.into_iter().for_each(|database| _ = build(database, SECOND));
    ahead::listen();
    while !stopping() {
        online::sleep();
        settings();
        ahead::serve();
    }
}

/// Has a worker build the images of a database, and waits for it. Whether tables were put off.
fn build(database: pg_sys::Oid, round: u32) -> bool {
    let put_off = || shmem::control().is_some_and(|control| control.put_off.swap(0, SeqCst) != 0);
    put_off();
    if stopping() {
        return false;
    }
    let started = worker::launch(c"cftrag_start_builder", [u32::from(database), round, 0, 0, 0]);
    while started.as_ref().is_some_and(|worker| !worker.has_ended()) && !stopping() {
        online::pause();
    }
    put_off()
}

fn stopping() -> bool {
    // SAFETY: a flag that the signal handler sets.
    unsafe { std::ptr::read_volatile(&raw const pg_sys::ShutdownRequestPending) != 0 }
}

#[pg_guard]
unsafe extern "C-unwind" fn shutdown(signal: i32) {
    // SAFETY: a signal handler, called as one; it sets the flag and our latch.
    unsafe { pg_sys::SignalHandlerForShutdownRequest(signal) };
}

#[pg_guard]
unsafe extern "C-unwind" fn reload(signal: i32) {
    // SAFETY: as shutdown().
    unsafe { pg_sys::SignalHandlerForConfigReload(signal) };
}

/// Reads the settings again if they were changed: cftrag.memory_limit bounds what is taken ahead.
fn settings() {
    // SAFETY: a flag that the signal handler sets; outside any transaction, as in every process's main loop.
    unsafe {
        if std::ptr::read_volatile(&raw const pg_sys::ConfigReloadPending) != 0 {
            pg_sys::ConfigReloadPending = 0;
            pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP);
        }
    }
}

/// Databases that can be connected to and are no templates.
fn databases() -> Vec<pg_sys::Oid> {
    let mut found = Vec::new();
    // SAFETY: a scan of a shared catalog under its lock, in a transaction; everything opened is closed.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let rel = pg_sys::table_open(pg_sys::DatabaseRelationId, lock);
        let none = std::ptr::null_mut();
        let scan = pg_sys::systable_beginscan(rel, pg_sys::InvalidOid, false, none, 0, std::ptr::null_mut());
        loop {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            let form = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_database>();
            if form.datallowconn && !form.datistemplate {
                found.push(form.oid);
            }
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(rel, lock);
    }
    found
}

/// The main function of a worker that builds the images of one database (the first number of bgw_extra), one after the other, in that round
/// (the second). No table waits for another's writers: in the first round those that have some are put off, in the second they are tried in turn.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn cftrag_start_builder(_arg: pg_sys::Datum) {
    let [_, round, ..] = worker::connect();
    let Some(control) = online::transaction(shmem::attach) else { return };
    let Some((functions, tables)) = online::transaction(attached) else { return };
    let mut waits = 0;
    let mut has_writers = |table: &pg_sys::Oid| {
        let patience = if waits < MOST_WAITS { PATIENCE } else { Duration::ZERO };
        let job = Job { table: *table, functions, asker: NOBODY, client: 0, patience };
        let waited = online::load_at_start(control, &job) == Outcome::Waited;
        waits += u32::from(waited);
        waited
    };
    let (begun, mut left) = (Instant::now(), tables);
    left.retain(&mut has_writers);
    while round == SECOND && !left.is_empty() && begun.elapsed() < PATIENCE_WITH_ALL {
        online::nap();
        left.retain(&mut has_writers);
    }
    control.put_off.store(u32::from(!left.is_empty()), SeqCst);
}

/// What is attached in this database; None if the extension is not there. Catalogs are read by index, not by SQL: the database's owner chooses
/// what SQL means here.
fn attached() -> Option<(Functions, Vec<pg_sys::Oid>)> {
    let functions = Functions::of_extension();
    let there = functions.capture != pg_sys::InvalidOid;
    there.then(|| (functions, registration::attached_tables(functions)))
}
