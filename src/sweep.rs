//! Frees images of tables and databases that are gone. Runs after every build: whoever needs memory looks for it first.

#![expect(unsafe_code, reason = "system cache lookups")]

use crate::area;
use crate::shmem::{Control, EXCLUSIVE};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Frees every slot whose table (in this database) or database does not exist as of now.
pub fn sweep(control: &Control) {
    // SAFETY: reads a backend variable.
    let here = u32::from(unsafe { pg_sys::MyDatabaseId });
    for (index, slot) in control.slots.iter().enumerate() {
        let (database, table) = (slot.database.load(Relaxed), slot.table.load(SeqCst));
        if table == 0 || slot.builder.load(SeqCst) != 0 {
            continue;
        }
        let (cache, oid) = match database == here {
            true => (pg_sys::SysCacheIdentifier::RELOID, table),
            false => (pg_sys::SysCacheIdentifier::DATABASEOID, database),
        };
        if exists(cache, oid) {
            continue;
        }
        area::drop_image(control, index);
        control.lock.with(EXCLUSIVE, || {
            if slot.table.load(SeqCst) == table && slot.database.load(Relaxed) == database {
                slot.forget();
            }
        });
    }
}

fn exists(cache: pg_sys::SysCacheIdentifier::Type, oid: u32) -> bool {
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: both caches have one OID as their key.
    unsafe { pg_sys::SearchSysCacheExists(cache as i32, pg_sys::Datum::from(pg_sys::Oid::from(oid)), none, none, none) }
}
