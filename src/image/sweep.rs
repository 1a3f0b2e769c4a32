//! Frees images of tables that are gone or detached, in any database, and of databases that are gone. Runs before every
//! build, which needs memory, and when no slot is free.
//!
//! Another database's catalogs cannot be read from here. But a table that is dropped there has no file any more, or an
//! empty one until the next checkpoint; nor has one that was rewritten, whose image is of no use either.

#![expect(unsafe_code, reason = "system cache lookups")]

use crate::catalog::registration;
use crate::catalog::registration::Functions;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{BuilderMark, SWEEPER, State};
use crate::pg::lwlock::EXCLUSIVE;
use pgrx::pg_sys;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Frees every slot whose table (in this database) is gone or not attached now, or whose database is gone.
pub fn sweep(control: &Control, functions: Functions) {
    let attached = registration::attached_tables(functions);
    for index in 0..control.slots.len() {
        free_if(control, index, |database, table, sure| match is_here(database) {
            // Another session may have attached it a moment ago.
            true if sure => !registration::attached_tables(functions).contains(&pg_sys::Oid::from(table)),
            true => !attached.contains(&pg_sys::Oid::from(table)),
            false => is_gone(control, index),
        });
    }
}

/// Whether the slot's database or table is gone, or, in another database, the table's file.
pub fn is_gone(control: &Control, index: usize) -> bool {
    let slot = &control.slots[index];
    let (database, table) = (slot.database.load(Relaxed), slot.table.load(SeqCst));
    !exists(database, table) || !is_here(database) && has_no_file(control, index)
}

/// Frees the slots of what is gone and, if `unused`, every slot without an image: losing its counters matters less than
/// another table's image. Unless `at_once`, does nothing and returns false if that was done a moment ago.
pub fn make_room(control: &Control, at_once: bool, unused: bool) -> bool {
    // SAFETY: reads the clock.
    let now = unsafe { pg_sys::GetCurrentTimestamp() };
    let last = control.swept_at.load(SeqCst);
    if !at_once && now - last < SWEEP_MICROSECONDS {
        return false;
    }
    control.swept_at.store(now, SeqCst);
    for (index, slot) in control.slots.iter().enumerate() {
        free_if(control, index, |_, _, _| unused && !slot.holds_image() || is_gone(control, index));
    }
    true
}

/// Every call about a table without a slot wants a place: a sweep looks for 256 files.
const SWEEP_MICROSECONDS: i64 = 1_000_000;

/// Whether the file of the table that the slot's image was built from is gone, or empty although the image is not.
fn has_no_file(control: &Control, index: usize) -> bool {
    let file = control.slots[index].read(|header| (header.state == State::Ready).then_some(header.key.locator));
    file.is_some_and(|file| match std::fs::metadata(file.path()) {
        Ok(found) => {
            found.len() == 0 && chunks::read(control, index, |_, image| image.stats().entities > 0).unwrap_or(true)
        }
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

/// Frees a slot if `gone` agrees; `gone` is called again (`sure`) when this process is the slot's builder, so that no
/// other can build into it.
fn free_if(control: &Control, index: usize, gone: impl Fn(u32, u32, bool) -> bool) {
    let slot = &control.slots[index];
    let (database, table) = (slot.database.load(Relaxed), slot.table.load(SeqCst));
    if table == 0 || !gone(database, table, false) || slot.builder.compare_exchange(0, SWEEPER, SeqCst, SeqCst).is_err()
    {
        return;
    }
    let _mark = BuilderMark(&slot.builder);
    if !gone(database, table, true) {
        return;
    }
    chunks::drop_image(control, index);
    control.lock.with(EXCLUSIVE, || {
        if slot.table.load(SeqCst) == table && slot.database.load(Relaxed) == database {
            slot.forget();
        }
    });
}

fn is_here(database: u32) -> bool {
    // SAFETY: reads a backend variable.
    u32::from(unsafe { pg_sys::MyDatabaseId }) == database
}

/// Whether a table of this database exists, or another database.
pub fn exists(database: u32, table: u32) -> bool {
    let (cache, oid) = match is_here(database) {
        true => (pg_sys::SysCacheIdentifier::RELOID, table),
        false => (pg_sys::SysCacheIdentifier::DATABASEOID, database),
    };
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: both caches have one OID as their key.
    unsafe { pg_sys::SearchSysCacheExists(cache as i32, pg_sys::Datum::from(pg_sys::Oid::from(oid)), none, none, none) }
}
