//! Who owns what, for trust.rs: as of now, from the system caches.

#![expect(unsafe_code, reason = "reads system catalogs")]

use pgrx::pg_sys;

/// OIDs below this one are the server's own (access/transam.h: FirstNormalObjectId).
pub const FIRST_OF_USERS: u32 = 16384;

/// A relation's owner; None if it is gone.
pub fn owner(table: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: a system cache lookup of a row that is released again.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::RELOID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(table));
        if tuple.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_class>()).relowner;
        pg_sys::ReleaseSysCache(tuple);
        Some(owner)
    }
}
