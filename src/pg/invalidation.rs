//! Counts what the server's invalidations tell a session, so that what it keeps of the catalogs is used only while nothing has changed.
//!
//! Those that other sessions have sent count once a lock was taken, a transaction begun, or AcceptInvalidationMessages called.

#![expect(unsafe_code, reason = "invalidation callbacks")]

use pgrx::pg_sys;
use std::cell::Cell;

thread_local! {
    pub static WATCHED: Cell<bool> = const { Cell::new(false) };
    static RELATIONS: Cell<u64> = const { Cell::new(0) };
    static OTHERS: Cell<u64> = const { Cell::new(0) };
}

unsafe extern "C-unwind" fn relation_changed(_arg: pg_sys::Datum, _relation: pg_sys::Oid) {
    RELATIONS.set(RELATIONS.get() + 1);
}

unsafe extern "C-unwind" fn database_changed(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    RELATIONS.set(RELATIONS.get() + 1);
}

unsafe extern "C-unwind" fn other_changed(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    OTHERS.set(OTHERS.get() + 1);
}

pub fn watch() {
    use pg_sys::SysCacheIdentifier::{
        AMOPOPID, AUTHMEMMEMROLE, AUTHOID, CASTSOURCETARGET, DATABASEOID, NAMESPACEOID, OPEROID, PROCOID, TYPEOID,
    };
    if WATCHED.replace(true) {
        return;
    }
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: callbacks that only count, of this library, which is never unloaded; registered once in a process.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), none);
        pg_sys::CacheRegisterSyscacheCallback(DATABASEOID as i32, Some(database_changed), none);
        for cache in [AMOPOPID, AUTHMEMMEMROLE, AUTHOID, CASTSOURCETARGET, NAMESPACEOID, OPEROID, PROCOID, TYPEOID] {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(other_changed), none);
        }
    }
}

/// Changes so far of relations (columns, triggers, privileges, policies), of any table, and of pg_database.
pub fn relations() -> u64 {
    watch();
    RELATIONS.get()
}

/// The same, and of schemas, roles, functions, types and operators: as much as makes PostgreSQL forget a kept plan.
pub fn catalogs() -> u64 {
    relations() + OTHERS.get()
}
