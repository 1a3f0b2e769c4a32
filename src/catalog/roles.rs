//! Who owns what: rows of catalogs, for trust.rs. All as of now, from the system caches.

#![expect(unsafe_code, reason = "reads system catalogs")]

use pgrx::pg_sys;

/// OIDs below are the server's own (access/transam.h: FirstNormalObjectId).
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

/// The owners of the functions that cast from a type.
pub fn cast_owners(type_oid: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    /// Anum_pg_cast_castfunc (catalog/pg_cast.h); 0 where a cast has none.
    const FUNCTION: pg_sys::AttrNumber = 4;
    let cache = pg_sys::SysCacheIdentifier::CASTSOURCETARGET as i32;
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: as owner(); then the rows of functions, released again.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache, 1, pg_sys::Datum::from(type_oid), none, none);
        let tuples = (*list).members.as_slice((*list).n_members as usize);
        let function = |entry: &*mut pg_sys::CatCTup| {
            let value = pg_sys::SysCacheGetAttr(cache, &raw mut (**entry).tuple, FUNCTION, &mut false);
            pg_sys::Oid::from(value.value() as u32)
        };
        let functions: Vec<_> = tuples.iter().map(function).filter(|f| *f != pg_sys::InvalidOid).collect();
        pg_sys::ReleaseCatCacheList(list);
        let owners = functions.into_iter().filter_map(|function| {
            let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
            let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(function));
            if tuple.is_null() {
                return None;
            }
            let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_proc>()).proowner;
            pg_sys::ReleaseSysCache(tuple);
            Some(owner)
        });
        owners.collect()
    }
}
