//! Building under a SHARE lock: every row that the build's snapshot sees is settled, and no change is in progress.
//!
//! Used by cft_build, and by the first reader of a small table, whose build gives way to writers and takes only locks
//! that are free.

use crate::builds::builder::{BuildOutcome, Refused, alone, check_room, note_outcome, noted_outcome, publish};
use crate::builds::load::{key, load};
use crate::capture::linked;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::image::control::Control;
use crate::image::slot::LOCKED_SCAN;
use crate::image::{chunks, gone};
use crate::pg::contain::Quiet;
use crate::pg::{backend, snapshot};
use cftrag_core::Memory;
use pgrx::prelude::*;
use std::time::Instant;

/// Builds the image of a table on which the caller holds a SHARE lock, in a transaction without an xid. With `yields`,
/// fails when another session waits for that lock, and notes [`BuildOutcome::Yielded`]. Raises the errors of scanning
/// the table.
pub fn build(control: &Control, table: &EdgesTable, functions: Functions, yields: bool) -> Result<(), Refused> {
    note_outcome(BuildOutcome::None);
    alone(control, table.oid(), |index| {
        gone::sweep(control, functions);
        check_room(control, index, table)?;
        control.slot(index).begin(LOCKED_SCAN, table.bytes());
        fill(control, index, table, functions, yields)
    })
}

fn fill(control: &Control, index: usize, table: &EdgesTable, functions: Functions, yields: bool) -> Fallible<()> {
    let started = Instant::now();
    let mut memory = Memory::new();
    let lock = yields.then_some(pg_sys::ShareLock as pg_sys::LOCKMODE);
    // A snapshot of now is taken under the SHARE lock.
    let header =
        snapshot::with_registered(|now| load(control, index, table, functions, now, started, &mut memory, lock))?;
    // Try twice: at the first attempt, memory to map the old image may be short for a moment.
    match publish(control, index, header, || true) || publish(control, index, header, || true) {
        true => {
            linked::names_may_differ(table.oid(), functions);
            Ok(())
        }
        false => Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get())),
    }
}

/// How [`in_place`] ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum InPlace {
    Built,
    /// A writer is there, waits, or would wait too long, or the caller may not lock the table: a worker should build
    /// beside writers.
    GaveWay,
    No,
}

/// Builds a small table's image in the caller's own call, if that is possible at once: no xid, no parallel operation,
/// the caller may LOCK the table, and the SHARE lock is free.
pub fn in_place(control: &Control, table: &EdgesTable, functions: Functions) -> InPlace {
    let limit = crate::guc::in_place_bytes();
    let _quiet = Quiet::enter();
    let possible = limit > 0 && backend::is_plain_reader() && table.bytes() <= limit;
    if !possible {
        return InPlace::No;
    }
    if !privileges::may_lock(table.oid()) {
        return InPlace::GaveWay;
    }
    // Released below, or by the transaction's abort.
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    if !table.try_lock(lock) {
        return InPlace::GaveWay;
    }
    // Another session may have built the image meanwhile; or it is current, and the caller's snapshot is older than the
    // registration.
    let built = if is_current(control, table, functions) { Ok(()) } else { build(control, table, functions, true) };
    // The image is published, so writers may go on.
    table.unlock(lock);
    match built {
        Ok(()) => InPlace::Built,
        Err(_) if noted_outcome() == BuildOutcome::Yielded => InPlace::GaveWay,
        Err(_) => InPlace::No,
    }
}

/// Whether the table has a usable image for its current registration.
pub fn is_current(control: &Control, table: &EdgesTable, functions: Functions) -> bool {
    let Some((index, _)) = control.find(table.oid()) else { return false };
    let Ok((now, ..)) = key(table, None, functions) else { return false };
    chunks::read(control, index, |header, _| header.key == now).unwrap_or(false)
}
