//! cft_trusts, cft_plain_type and cft_chosen_documents: for SQL that chooses tables for the caller (catalog/trust.rs, catalog/default_table.rs); cft_lock and
//! cft_name: for what is made of them (catalog/named_tables.rs).

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr::Call;
use crate::catalog::{default_table, named_tables, schema_names};
use crate::error;
use crate::error::Fallible;
use pgrx::prelude::*;

/// `cft_trusts(relation regclass, beside regclass) -> boolean`: whether the caller trusts the owner of a relation that is chosen for the call;
/// of one that belongs to `beside`, if that is given. NULL relation: false.
#[pg_extern(sql = false)]
fn cft_trusts(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    match (call.oid(0), call.oid(1)) {
        (None, _) => false,
        (Some(relation), None) => crate::catalog::trust::trusts(relation),
        (Some(relation), Some(beside)) => crate::catalog::trust::trusts_beside(relation, beside),
    }
}

/// `cft_plain_type(type regtype) -> boolean`: whether reading its values runs no function of an ordinary role. STRICT.
#[pg_extern(sql = false)]
fn cft_plain_type(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    call.oid(0).is_some_and(crate::catalog::trust::is_plain_type)
}

/// `cft_chosen_documents() -> regclass`: the table of cftrag.documents, NULL if it is not set for this caller. Errors: 42P01.
#[pg_extern(sql = false)]
fn cft_chosen_documents(_fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<pg_sys::Oid>> {
    default_table::documents()
}

/// `cft_lock(relation regclass) -> boolean`: locks it, waiting for who renames or drops it; whether it is there then. NULL: true.
#[pg_extern(sql = false)]
fn cft_lock(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    call.oid(0).is_none_or(named_tables::lock)
}

/// `cft_name(relation regclass) -> text`: locks it, and gives what names it in a statement. STRICT. Errors: 42P01.
#[pg_extern(sql = false)]
fn cft_name(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(table) = call.oid(0) else { return Ok(None) };
    named_tables::lock(table);
    named_tables::name(table).map(Some).ok_or_else(|| error::no_such_table(u32::from(table)))
}

/// `cft_hold_names(relation regclass, other regclass, exclusive boolean) -> void`: until cft_release_names no schema changes its name, nor do
/// these tables, which statements about triggers are about to name: they are dropped (`exclusive`), or created on `relation`. Errors: 42501
/// (only who may lock them so), 40001.
#[pg_extern(sql = false)]
fn cft_hold_names(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let exclusive = call.arg(2).is_some_and(|value| value.value() != 0);
    let lock = if exclusive { pg_sys::AccessExclusiveLock } else { pg_sys::ShareRowExclusiveLock };
    let mut tables = Vec::new();
    for (table, lock) in [(call.oid(0), lock), (call.oid(1), pg_sys::AccessShareLock)] {
        let Some(table) = table else { continue };
        if !crate::catalog::trust::may_have_triggers(table, lock == pg_sys::AccessExclusiveLock) {
            return Err(error::no_privilege(&crate::catalog::name::display_name(table)));
        }
        tables.push((table, lock));
    }
    schema_names::hold(&tables)
}

/// `cft_release_names() -> void`: the end of cft_hold_names.
#[pg_extern(sql = false)]
fn cft_release_names() {
    schema_names::release();
}
