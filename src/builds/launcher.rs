//! Images at server start (`cftrag.build_on_start`). Once the server takes writes (a standby: at its promotion), the
//! launcher starts one worker per database, which builds the images of the tables attached there; then it stays, to
//! start a worker for each database whose images are to be verified (`cftrag.verify_interval`). It ends as a worker
//! that failed does: the postmaster restarts such a one at once after a crash restart, else after [`RESTART`].
//!
//! The launcher is connected to no database, so it blocks no command. Its workers are connected to one while they
//! build, and leave when a session wants to copy, rename or drop it.

#![expect(unsafe_code, reason = "wakes another process")]

use crate::builds::asked;
use crate::builds::builder::BuildOutcome;
use crate::builds::online;
use crate::builds::online::{Job, UNASKED};
use crate::catalog::name;
use crate::catalog::registration;
use crate::catalog::registration::Functions;
use crate::error;
use crate::image::{control, evict};
use crate::pg::relation::each_row;
use crate::pg::{background_worker, compat, latch, lock_holders, shm};
use pgrx::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Seconds until the launcher restarts: PostgreSQL's longest, a thousand days.
const RESTART: i32 = 86_400_000;

/// A table whose writers do not end within this time (prepared transactions, say) is put off until all other tables of
/// all databases are built.
const BUSY_TABLE_WAIT: Duration = Duration::from_millis(20);

/// After this many such waits, a second in all, a table with writers is put off at once.
const MOST_WAITS: u32 = 50;

/// How long the second round keeps trying a database's busy tables; then their first readers have them built.
const BUSY_TABLES_WAIT_MAX: Duration = Duration::from_secs(10);

/// The two rounds over the databases.
const FIRST: u32 = 0;

const SECOND: u32 = 1;

/// Registers the launcher, if the postmaster is preloading the library. Called from _PG_init.
pub fn register() {
    // SAFETY: reads the postmaster's state; the description is copied.
    unsafe {
        if pg_sys::process_shared_preload_libraries_in_progress && !pg_sys::IsBinaryUpgrade {
            let mut launcher = background_worker::description(c"cftrag launcher", c"cftrag_launcher", [0; 5]);
            launcher.bgw_restart_time = RESTART;
            pg_sys::RegisterBackgroundWorker(&mut launcher);
        }
    }
}

/// The launcher's main function.
#[pg_guard]
#[unsafe(no_mangle)]
extern "C-unwind" fn cftrag_launcher(_arg: pg_sys::Datum) {
    // SAFETY: the start of a background worker, as PostgreSQL documents it; without a database only shared catalogs can
    // be read.
    unsafe {
        crate::pg::compat::pqsignal(pg_sys::SIGTERM as i32, Some(shutdown));
        crate::pg::compat::pqsignal(pg_sys::SIGHUP as i32, Some(reload));
        background_worker::pin();
        pg_sys::BackgroundWorkerUnblockSignals();
        pg_sys::BackgroundWorkerInitializeConnection(std::ptr::null(), std::ptr::null(), 0);
    }
    if let Some(kb) = shm::too_small() {
        background_worker::transaction(|| error::warning_shm(kb, crate::guc::MEMORY_LIMIT.get()));
    }
    let databases =
        if crate::guc::BUILD_ON_START.get() { background_worker::transaction(asked_first) } else { Vec::new() };
    let put_off: Vec<_> = databases.into_iter().filter(|database| build(*database, FIRST)).collect();
    put_off.into_iter().for_each(|database| _ = build(database, SECOND));
    while !stopping() {
        if crate::guc::verify_interval().is_some() {
            background_worker::transaction(due).into_iter().for_each(verify);
        }
        latch::sleep();
        reload_settings();
        if let Some(control) = control::control() {
            background_worker::transaction(|| evict::shrink(control));
        }
    }
    if let Some(Err(error)) = control::control().map(|control| background_worker::transaction(|| asked::write(control)))
    {
        error::log_not_kept(&error);
    }
    // SAFETY: the end of a background worker.
    unsafe { pg_sys::proc_exit(1) }
}

/// Starts a worker that builds the images of a database, and waits for its end. Returns whether it put tables off.
fn build(database: pg_sys::Oid, round: u32) -> bool {
    let put_off = || control::control().is_some_and(|control| control.put_off.swap(0, SeqCst) != 0);
    put_off();
    if stopping() {
        return false;
    }
    run(c"cftrag builder", c"cftrag_start_builder", [u32::from(database), round, 0, 0, 0]);
    put_off()
}

/// Starts a worker, and waits for its end.
fn run(name: &CStr, function: &CStr, extra: [u32; 5]) {
    let started = background_worker::launch(name, function, extra);
    while started.as_ref().is_some_and(|worker| !worker.has_ended()) && !stopping() {
        latch::pause();
    }
}

/// The databases that have an image to verify, and are still there.
fn due() -> Vec<pg_sys::Oid> {
    let (Some(interval), Some(control)) = (crate::guc::verify_interval(), control::control()) else {
        return Vec::new();
    };
    let slots = control.slots().filter(|(_, _, slot)| slot.verified.is_due(interval) && slot.holds_image());
    let due: BTreeSet<u32> = slots.map(|(_, entry, _)| entry.database.load(SeqCst)).collect(); // bounded: databases
    if due.is_empty() {
        return Vec::new();
    }
    databases().into_iter().filter(|database| due.contains(&u32::from(*database))).collect() // bounded: databases
}

/// Starts a worker that verifies the images of a database, and waits for its end.
fn verify(database: pg_sys::Oid) {
    if !stopping() {
        run(c"cftrag verifier", c"cftrag_verify_worker", [u32::from(database), 0, 0, 0, 0]);
    }
}

fn reload_settings() {
    // SAFETY: a flag that the signal handler sets; the main loop of a background worker.
    unsafe {
        if std::ptr::read_volatile(&raw const pg_sys::ConfigReloadPending) != 0 {
            pg_sys::ConfigReloadPending = 0;
            pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn reload(signal: i32) {
    // SAFETY: a signal handler, called as one; it sets the flag and our latch.
    unsafe { pg_sys::SignalHandlerForConfigReload(signal) };
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

/// [`databases`], that of the table that was asked most first.
fn asked_first() -> Vec<pg_sys::Oid> {
    let mut best = HashMap::new();
    for ((database, _), rank) in asked::ranks() {
        let of = best.entry(database).or_insert(rank);
        *of = rank.min(*of);
    }
    let mut all = databases();
    all.sort_by_key(|database| best.get(&u32::from(*database)).copied().unwrap_or(usize::MAX));
    all
}

/// Databases that allow connections and are not templates.
fn databases() -> Vec<pg_sys::Oid> {
    let mut found = Vec::new();
    let database = u32::from(pg_sys::DatabaseRelationId);
    each_row([database, 0], [], None, |row| {
        let value = |column| row.value(column as i32).map_or(0, |value| value.value() as u32);
        if value(pg_sys::Anum_pg_database_datallowconn) & 0xff != 0
            && value(pg_sys::Anum_pg_database_datistemplate) & 0xff == 0
        {
            found.push(pg_sys::Oid::from(value(pg_sys::Anum_pg_database_oid)));
        }
    });
    found
}

/// The main function of a worker that builds the images of one database (the first number of bgw_extra), one after the
/// other, in the given round (the second number). Those that were asked most come first. It leaves when a session wants
/// to copy, rename or drop the database. No table waits for another table's writers: the first round puts off tables
/// with writers, the second tries them in turn.
#[pg_guard]
#[unsafe(no_mangle)]
extern "C-unwind" fn cftrag_start_builder(_arg: pg_sys::Datum) {
    let [database, round, ..] = background_worker::connect();
    let Some(control) = background_worker::transaction(control::attach) else { return };
    let Some((functions, mut tables)) = background_worker::transaction(attached) else { return };
    let ranks = asked::ranks();
    tables.sort_by_key(|table| ranks.get(&(database, u32::from(*table))).copied().unwrap_or(usize::MAX));
    let mut waits = 0;
    // Then each image would take the place of one just built.
    let is_full = || control.memory_used.load(SeqCst) * 10 > crate::guc::memory_bytes() * 9;
    let mut has_writers = |table: &pg_sys::Oid| {
        if is_full() {
            return false;
        }
        let patience = if waits < MOST_WAITS { BUSY_TABLE_WAIT } else { Duration::ZERO };
        let job = Job { table: *table, functions, asker: UNASKED, client: 0, patience };
        let waited = online::load_at_start(control, &job) == BuildOutcome::Waited;
        waits += u32::from(waited);
        waited
    };
    let (begun, mut left) = (Instant::now(), tables);
    let mut try_all =
        |left: &mut Vec<pg_sys::Oid>| left.retain(|table| lock_holders::database_is_wanted() || has_writers(table));
    try_all(&mut left);
    while round == SECOND
        && !left.is_empty()
        && begun.elapsed() < BUSY_TABLES_WAIT_MAX
        && !lock_holders::database_is_wanted()
    {
        latch::nap();
        try_all(&mut left);
    }
    control.put_off.store(u32::from(!left.is_empty()), SeqCst);
    if round == SECOND && !lock_holders::database_is_wanted() {
        left.iter().for_each(|table| background_worker::transaction(|| log_put_off(*table)));
    }
}

/// Logs that a table has no image because somebody is writing to it.
fn log_put_off(table: pg_sys::Oid) {
    let prepared: Vec<_> =
        lock_holders::writers(table).iter().map(compat::prepared_xid).filter(|xid| *xid != 0).collect();
    error::put_off_at_start(&name::full_name(table), &prepared).report(PgLogLevel::LOG);
}

/// The tables attached in this database; None without the extension. We read the catalogs by index, not by SQL, because
/// the database's owner can change what SQL does here.
pub fn attached() -> Option<(Functions, Vec<pg_sys::Oid>)> {
    let functions = Functions::of_extension();
    let there = functions.capture != pg_sys::InvalidOid;
    there.then(|| (functions, registration::attached_tables(functions)))
}
