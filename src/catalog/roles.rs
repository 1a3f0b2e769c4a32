//! Who owns what, who is a member of what: rows of catalogs, for trust.rs. All as of now, from the system caches.

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::pg::compat;
use pgrx::pg_sys;

/// OIDs below are the server's own (access/transam.h: FirstNormalObjectId).
pub const FIRST_OF_USERS: u32 = 16384;

/// A relation's owner, and whether it may have inheritance children or partitions; None if it is gone.
pub fn owner_and_children(table: pg_sys::Oid) -> Option<(pg_sys::Oid, bool)> {
    // SAFETY: a system cache lookup of a row that is released again.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::RELOID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(table));
        if tuple.is_null() {
            return None;
        }
        let form = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_class>();
        let found = (form.relowner, form.relhassubclass);
        pg_sys::ReleaseSysCache(tuple);
        Some(found)
    }
}

/// The owner of this database.
pub fn database_owner() -> pg_sys::Oid {
    // SAFETY: as above, of the row of our own database.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::DATABASEOID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(pg_sys::MyDatabaseId));
        assert!(!tuple.is_null(), "a session's database exists");
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_database>()).datdba;
        pg_sys::ReleaseSysCache(tuple);
        owner
    }
}

/// Whether somebody can start a session as that role.
pub fn can_log_in(role: pg_sys::Oid) -> bool {
    attributes(role).is_some_and(|role| role.rolcanlogin)
}

/// Whether the role itself, not what it is a member of, may do what the owner of a database may not: it has an attribute, or is the
/// server's own (pg_read_all_data, pg_execute_server_program, ...).
pub fn is_privileged(role: pg_sys::Oid) -> bool {
    let has_attribute = |role: pg_sys::FormData_pg_authid| {
        role.rolsuper || role.rolcreaterole || role.rolcreatedb || role.rolreplication || role.rolbypassrls
    };
    u32::from(role) < FIRST_OF_USERS || attributes(role).is_some_and(has_attribute)
}

fn attributes(role: pg_sys::Oid) -> Option<pg_sys::FormData_pg_authid> {
    // SAFETY: as owner_and_children().
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::AUTHOID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(role));
        if tuple.is_null() {
            return None;
        }
        let found = *pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_authid>();
        pg_sys::ReleaseSysCache(tuple);
        Some(found)
    }
}

/// Columns of pg_auth_members (catalog/pg_auth_members.h), which pgrx does not bind: 16 put an OID in front.
#[cfg(feature = "pg15")]
const ROLE: i32 = 1;

#[cfg(not(feature = "pg15"))]
const ROLE: i32 = 2;

const MEMBER: i32 = ROLE + 1;

const GRANTOR: i32 = ROLE + 2;

/// The roles that this one is a direct member of, each with who granted it.
pub fn memberships(member: pg_sys::Oid) -> Vec<(pg_sys::Oid, pg_sys::Oid)> {
    grants(pg_sys::SysCacheIdentifier::AUTHMEMMEMROLE, member, ROLE, GRANTOR)
}

/// The direct members of a role.
pub fn members(role: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    grants(pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM, role, MEMBER, GRANTOR)
        .into_iter()
        .map(|(member, _)| member)
        .collect()
}

/// Two columns of the grants whose first column in the cache's key is that role.
fn grants(
    cache: pg_sys::SysCacheIdentifier::Type,
    of: pg_sys::Oid,
    first: i32,
    second: i32,
) -> Vec<(pg_sys::Oid, pg_sys::Oid)> {
    let cache = cache as i32;
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: a list of the system cache by its first key, of `n_members` tuples, released again; its columns are OIDs, never null.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache, 1, pg_sys::Datum::from(of), none, none);
        let column = |tuple: pg_sys::HeapTuple, number: i32| {
            let value = pg_sys::SysCacheGetAttr(cache, tuple, number as pg_sys::AttrNumber, &mut false);
            pg_sys::Oid::from(value.value() as u32)
        };
        let tuples = (*list).members.as_slice((*list).n_members as usize);
        let found = tuples.iter().map(|entry| {
            let tuple = &raw mut (**entry).tuple;
            (column(tuple, first), column(tuple, second))
        });
        let found = found.collect();
        pg_sys::ReleaseCatCacheList(list);
        found
    }
}

/// The owners of the functions that cast from a type.
pub fn cast_owners(type_oid: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    /// Anum_pg_cast_castfunc (catalog/pg_cast.h); 0 where a cast has none.
    const FUNCTION: pg_sys::AttrNumber = 4;
    let cache = pg_sys::SysCacheIdentifier::CASTSOURCETARGET as i32;
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: as in memberships(); then the rows of functions, released again.
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

/// The table and all that inherit from it, directly or not.
pub fn inheritors(table: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    let lock = pg_sys::NoLock as pg_sys::LOCKMODE;
    // SAFETY: reads pg_inherits; a palloc'd list of OIDs.
    let all = unsafe {
        pgrx::PgList::<std::ffi::c_void>::from_pg(compat::unbound::find_all_inheritors(
            table,
            lock,
            std::ptr::null_mut(),
        ))
    };
    (0..all.len()).filter_map(|i| all.get_oid(i)).collect()
}
