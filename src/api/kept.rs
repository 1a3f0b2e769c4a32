//! cft_kept_statement: what cft_statement makes of the catalogs, kept until something in them changes.
//!
//! Finding a table of documents, its columns and its operator of distance takes a few hundred microseconds of catalog queries, which is as
//! much as the search itself. A kept text is as good as a kept plan: anything that could change it (a relation, trigger, privilege, role,
//! schema, type or operator) sends an invalidation, here as to the relation cache, and then all of them are forgotten.

#![expect(unsafe_code, reason = "calls another function of the extension; invalidation callbacks")]

use crate::error::Fallible;
use crate::fmgr::{Call, text_bytes};
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Statement wanted, table, role, row_security, cft_kept_statement's own OID (the extension may be made anew).
type Key = (Vec<u8>, Option<u32>, u32, bool, u32);

thread_local! {
    static KEPT: RefCell<HashMap<Key, Vec<u8>>> = RefCell::new(HashMap::new());
    static STALE: Cell<bool> = const { Cell::new(false) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// More than these are not kept.
const MOST: usize = 256;

#[pg_guard]
unsafe extern "C-unwind" fn relation_changed(_arg: pg_sys::Datum, _relation: pg_sys::Oid) {
    STALE.set(true);
}

#[pg_guard]
unsafe extern "C-unwind" fn catalog_changed(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    STALE.set(true);
}

fn watch() {
    use pg_sys::SysCacheIdentifier::{AMOPOPID, AUTHMEMMEMROLE, AUTHOID, NAMESPACEOID, OPEROID, PROCOID, TYPEOID};
    if WATCHED.replace(true) {
        return;
    }
    // SAFETY: callbacks that only set a flag, registered once for the life of the process.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), pg_sys::Datum::from(0));
        for cache in [AMOPOPID, AUTHMEMMEMROLE, AUTHOID, NAMESPACEOID, OPEROID, PROCOID, TYPEOID] {
            pg_sys::CacheRegisterSyscacheCallback(cache as _, Some(catalog_changed), pg_sys::Datum::from(0));
        }
    }
}

/// `cft_kept_statement(what text, documents regclass) -> text`: cft_statement's answer. Errors: cft_statement's; none is kept.
#[pg_extern(sql = false)]
fn cft_kept_statement(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(what) = call.arg(0) else { return Ok(None) };
    watch();
    // SAFETY: SQL declares the argument text; reads backend variables; what others changed is heard of here.
    let key: Key = unsafe {
        pg_sys::AcceptInvalidationMessages();
        let table = call.oid(1).map(u32::from);
        (text_bytes(what).to_vec(), table, pg_sys::GetUserId().into(), pg_sys::row_security, call.function().into())
    };
    if STALE.replace(false) {
        KEPT.with_borrow_mut(HashMap::clear);
    }
    if let Some(kept) = KEPT.with_borrow(|all| all.get(&key).cloned()) {
        return Ok(Some(kept));
    }
    // SAFETY: a text value.
    let made = unsafe { text_bytes(make(&call, what)) }.to_vec();
    // What changed while it was made is not known to be in it.
    if !STALE.get() {
        KEPT.with_borrow_mut(|all| {
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(key, made.clone());
        });
    }
    Ok(Some(made))
}

/// Calls cft_statement, which stands beside the function that is called.
fn make(call: &Call, what: pg_sys::Datum) -> pg_sys::Datum {
    let types = [pg_sys::TEXTOID, pg_sys::REGCLASSOID];
    // SAFETY: system cache lookups; a call of the function of that name and these argument types, which never returns NULL.
    unsafe {
        let schema = pg_sys::get_func_namespace(call.function());
        let argument_types = pg_sys::buildoidvector(types.as_ptr(), types.len() as i32);
        let function = pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
            pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(c"cft_statement".as_ptr()),
            pg_sys::Datum::from(argument_types),
            pg_sys::Datum::from(schema),
            pg_sys::Datum::from(0usize),
        );
        let table = call.oid(1).unwrap_or(pg_sys::InvalidOid);
        pg_sys::OidFunctionCall2Coll(function, pg_sys::InvalidOid, what, pg_sys::Datum::from(table))
    }
}
