//! Gives back what is left of tables that are gone or detached, and of databases that are gone.
//!
//! A session that drops them does so itself (capture/dropped.rs), if it has loaded the library. For all others, each
//! build looks at a few entries of the directory, one after the other.
//!
//! Another database's catalogs cannot be read from here. But a table that is dropped there has no file any more, or an
//! empty one until the next checkpoint; nor has one that was rewritten, whose image is of no use either.

#![expect(unsafe_code, reason = "system cache lookups")]

use crate::catalog::registration;
use crate::catalog::registration::Functions;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{BuilderMark, SWEEPER, State};
use crate::pg::backend;
use pgrx::pg_sys;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Entries that a build looks at.
const AT_A_TIME: usize = 32;

/// Looks at the next few entries, and gives back those of what is gone.
pub fn sweep(control: &Control, functions: Functions) {
    let all = control.most_entries();
    let now = AT_A_TIME.min(all);
    let first = control.looked_at.fetch_add(now as u32, Relaxed) as usize;
    for index in (first..first + now).map(|i| i % all) {
        give_back_if(control, index, |database, table| match is_here(database) {
            true => registration::now(pg_sys::Oid::from(table), functions).is_none(),
            false => is_gone(control, index),
        });
    }
}

/// Whether the entry's database or table is gone, or, in another database, the table's file.
pub fn is_gone(control: &Control, index: usize) -> bool {
    let entry = control.entry(index);
    let (database, table) = (entry.database.load(Relaxed), entry.table.load(SeqCst));
    !exists(database, table) || !is_here(database) && has_no_file(control, index)
}

/// Whether the file of the table that the image was built from is gone, or empty although the image is not.
fn has_no_file(control: &Control, index: usize) -> bool {
    let Some(slot) = control.map_slot(index) else { return false };
    let file = slot.read(|header| (header.state == State::Ready).then_some(header.key.locator));
    file.is_some_and(|file| match std::fs::metadata(file.path()) {
        Ok(found) => {
            found.len() == 0 && chunks::read(control, index, |_, image| image.stats().entities > 0).unwrap_or(true)
        }
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

/// Drops an entry's image and gives the entry back if `gone` agrees, which is called again when this process is its
/// builder, so that no other can build into it.
pub fn give_back_if(control: &Control, index: usize, gone: impl Fn(u32, u32) -> bool) {
    let entry = control.entry(index);
    let (database, table) = (entry.database.load(Relaxed), entry.table.load(SeqCst));
    if table == 0 || !gone(database, table) {
        return;
    }
    let Some(slot) = control.map_slot(index) else { return };
    if slot.builder.compare_exchange(0, SWEEPER, SeqCst, SeqCst).is_err() {
        return;
    }
    let _mark = BuilderMark(&slot.builder);
    if gone(database, table) {
        chunks::drop_image(control, index);
        control.give_back(index, database, table);
    }
}

fn is_here(database: u32) -> bool {
    backend::database() == database
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
