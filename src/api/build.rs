//! cft_build: builds the image now; owner only. It waits for the build; writers do not.

use crate::builds::builder::{BuildOutcome, Refused};
use crate::builds::request::Waited;
use crate::builds::{builder, load, locked, request};
use crate::call::fmgr::Call;
use crate::catalog::attach_line::attach_hint;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::image::control::Control;
use crate::pg::backend;
use crate::pg::compat::plain;
use crate::pg::contain::Quiet;
use crate::pg::{latch, shm};
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;

/// `cft_build(edges regclass) -> void`: builds the image now and waits for it: first for another session's build, and
/// for transactions that write to the table. No other session waits for the build, except that writers do if no
/// background worker is available, or if this transaction already has a lock on the table. Errors: 42P01, 42501 (not
/// the owner), 25001 (this transaction has written), 55000 (no shared memory, triggers not sound, not finished), 55006
/// (another session builds, and may wait for this one), 55P03 (lock_timeout, or it gave way to a session that waits for
/// a lock), 53200 (memory), 42809, 42703.
#[pg_extern(sql = false)]
fn cft_build(call: Call) -> Fallible<()> {
    let oid = call.oid(0).ok_or_else(|| error::null_argument("edges"))?;
    // Raises 25000 in a parallel worker, if a calling function is wrongly marked parallel safe.
    backend::prevent_in_parallel(c"cft_build()");
    privileges::require_owner(oid)?;
    let table = EdgesTable::open_and_unlock_later(oid)?;
    privileges::require_owner(oid)?;
    let functions = Functions::beside(call.function());
    if crate::catalog::registration::now(oid, functions).is_none() {
        return Err(error::not_attached(&crate::catalog::name::display_name(oid), attach_hint(&table)));
    }
    if plain::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId {
        return Err(error::build_after_write());
    }
    if plain::RecoveryInProgress() {
        return Err(error::build_refused(&table.name(), "the server is in recovery"));
    }
    let control = crate::image::control::attach().ok_or_else(error::no_shared_memory)?;
    match in_place(control, &table, functions) {
        Some(Ok(())) => Ok(()),
        Some(Err(Refused::Failed(report))) => Err(*report),
        Some(Err(Refused::Busy)) => {
            after_another(control, table)?;
            beside_writers(control, EdgesTable::open_and_unlock_later(oid)?, functions)
        }
        None => beside_writers(control, table, functions),
    }
}

/// Waits until the running build has ended. The caller then builds again, because that build may have begun before a
/// change committed that this session has seen.
fn after_another(control: &'static Control, table: EdgesTable) -> Fallible<()> {
    let (oid, name) = (table.oid(), table.name());
    if let_go(table).is_some() {
        // The builder may wait for us.
        return Err(error::building(&name));
    }
    match request::wait_until(control, oid, || !is_being_built(control, oid)) {
        Waited::Ended => Ok(()),
        Waited::TimedOut => Err(error::build_lock_timeout(&name)),
    }
}

fn is_being_built(control: &Control, table: pg_sys::Oid) -> bool {
    control.find(table).is_some_and(|(_, slot)| slot.builder.load(SeqCst) != 0)
}

/// Releases the lock that EdgesTable::open_and_unlock_later took. Otherwise a session that queues for a stronger lock,
/// after ours and before the worker's, would wait for ever while we wait for the worker. Some: this transaction holds
/// another lock on the table, and must not wait for a worker.
fn let_go(table: EdgesTable) -> Option<EdgesTable> {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    table.unlock(lock);
    table.is_locked(lock).then_some(table)
}

/// Builds a small table's image in this process, if the table has no writers. None if it is large, or a writer holds or
/// waits for a lock.
fn in_place(control: &Control, table: &EdgesTable, functions: Functions) -> Option<Result<(), Refused>> {
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    let _quiet = Quiet::enter();
    // Released below, or by the transaction's abort.
    if table.bytes() > crate::guc::in_place_bytes() || !table.try_lock(lock) {
        return None;
    }
    let built = locked::build(control, table, functions, true);
    table.unlock(lock);
    let gave_way = built.is_err() && builder::noted_outcome() == BuildOutcome::Yielded;
    (!gave_way).then_some(built)
}

/// Builds in this process under a SHARE lock: waits for current writers, and makes new ones wait.
fn under_lock(control: &'static Control, table: EdgesTable, functions: Functions) -> Fallible<()> {
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    let _quiet = Quiet::enter();
    // Released below, or by the transaction's abort.
    table.lock(lock);
    let built = locked::build(control, &table, functions, false);
    table.unlock(lock);
    match built {
        Ok(()) => Ok(()),
        Err(Refused::Failed(report)) => Err(*report),
        Err(Refused::Busy) => {
            let oid = table.oid();
            after_another(control, table)?;
            beside_writers(control, EdgesTable::open_and_unlock_later(oid)?, functions)
        }
    }
}

/// Has a background worker build the image and waits for it. If none is available, or if this transaction has a lock on
/// the table (LOCK, or just a SELECT), builds under a SHARE lock, where the deadlock detector sees all waits.
fn beside_writers(control: &'static Control, table: EdgesTable, functions: Functions) -> Fallible<()> {
    let (oid, mut table, mut tries) = (table.oid(), table, 1);
    while !by_worker(control, table, functions, tries == MOST_TRIES)? {
        table = EdgesTable::open_and_unlock_later(oid)?;
        tries += 1;
    }
    Ok(())
}

/// So many builds may give way to sessions that wait for ACCESS EXCLUSIVE; then the call fails.
const MOST_TRIES: u32 = 20;

/// Tries once. Returns false if another build was running, or needed the worker's place, or if ours gave way and this
/// is not the `last` try.
fn by_worker(control: &'static Control, table: EdgesTable, functions: Functions, last: bool) -> Fallible<bool> {
    let (oid, name) = (table.oid(), table.name());
    load::key(&table, None, functions)?;
    if let Some(table) = let_go(table) {
        return under_lock(control, table, functions).map(|()| true);
    }
    if is_being_built(control, oid) {
        return after_another(control, EdgesTable::open_and_unlock_later(oid)?).map(|()| false);
    }
    if request::wait_for_place(control, oid) != Waited::Ended {
        return Err(error::build_lock_timeout(&name));
    }
    let outcome = || control.find(oid).map_or(0, |(_, slot)| slot.outcome.load(SeqCst));
    let before = outcome();
    let Some(worker) = request::start(oid, functions) else {
        // Sessions that want the same image at the same time may use up the workers for a moment; one of them builds
        // it.
        latch::nap();
        if is_being_built(control, oid) {
            return Ok(false);
        }
        return under_lock(control, EdgesTable::open_and_unlock_later(oid)?, functions).map(|()| true);
    };
    match worker.wait(control, oid) {
        Waited::Ended => {}
        Waited::TimedOut => return Err(error::build_lock_timeout(&name)),
    }
    match BuildOutcome::of(outcome(), worker.asker) {
        BuildOutcome::Built => Ok(true),
        BuildOutcome::Memory => Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get())),
        BuildOutcome::System => Err(error::system_memory(shm::of_system(), crate::guc::MEMORY_LIMIT.get())),
        BuildOutcome::Yielded if last => Err(error::load_yielded(&name)),
        BuildOutcome::Yielded => {
            latch::nap();
            Ok(false)
        }
        // A build for a reader was running before ours: try again after it.
        BuildOutcome::Busy => after_another(control, EdgesTable::open_and_unlock_later(oid)?).map(|()| false),
        // Another session was faster, or needed the place while our worker only waited.
        BuildOutcome::NoPlace => Ok(false),
        // A build for a reader has ended since ours did: if it made no image, try again.
        BuildOutcome::None if outcome() != before => {
            Ok(locked::is_current(control, &EdgesTable::open_and_unlock_later(oid)?, functions))
        }
        BuildOutcome::Refused | BuildOutcome::Waited | BuildOutcome::None => Err(error::build_unfinished(&name)),
    }
}
