//! cft_register, cft_watch and cft_drop_triggers: the triggers of what SQL attaches (documents, mappings, embeddings, summaries).
//!
//! They are CREATE TRIGGER and DROP TRIGGER by OID (pg/trigger_ddl.rs), with the rights of these: whoever may call them could run the statements.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::api::attach::plain;
use crate::call::fmgr::Call;
use crate::catalog::{name, registration};
use crate::error;
use crate::error::Fallible;
use crate::pg::trigger_ddl::Trigger;
use crate::pg::{compat, trigger_ddl};
use pgrx::prelude::*;
use std::ffi::CString;

/// `cft_register(relation regclass, other regclass, trigger_name text, trigger_function regprocedure, columns text[], arguments text[]) -> void`: a
/// trigger that never fires (UPDATE OF the columns, WHEN false), whose columns and arguments are a registration; one with `other` says that `relation`
/// belongs to that table (FROM). Errors: 42P01, 42883, 22004 (no name), CREATE TRIGGER's.
#[pg_extern(sql = false)]
fn cft_register(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(table), Some(name), Some(function)) = (call.oid(0), call.text(2), call.oid(3)) else { return Ok(()) };
    if name.is_empty() {
        return Err(error::null_argument("trigger_name"));
    }
    let from = call.oid(1);
    are_there(&[Some(table), from], function)?;
    trigger_ddl::create(&Trigger {
        from,
        name: &c_string(name),
        function,
        events: pg_sys::TRIGGER_TYPE_UPDATE,
        each_row: from.is_some(),
        columns: &c_strings(&call, 4),
        arguments: &c_strings(&call, 5),
        never: true,
        ..plain(table)
    });
    Ok(())
}

/// `cft_watch(relation regclass, trigger_function regprocedure) -> void`: triggers after each statement that changes the table, which see the changed rows
/// as cft_new and cft_old. STRICT. Errors: CREATE TRIGGER's.
#[pg_extern(sql = false)]
fn cft_watch(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(table), Some(function)) = (call.oid(0), call.oid(1)) else { return Ok(()) };
    are_there(&[Some(table)], function)?;
    let (new, old) = (Some(c"cft_new"), Some(c"cft_old"));
    for (name, events, new_table, old_table) in [
        (c"cftrag_rollup_insert", pg_sys::TRIGGER_TYPE_INSERT, new, None),
        (c"cftrag_rollup_update", pg_sys::TRIGGER_TYPE_UPDATE, new, old),
        (c"cftrag_rollup_delete", pg_sys::TRIGGER_TYPE_DELETE, None, old),
        (c"cftrag_rollup_truncate", pg_sys::TRIGGER_TYPE_TRUNCATE, None, None),
    ] {
        trigger_ddl::create(&Trigger { name, function, events, new_table, old_table, replace: true, ..plain(table) });
    }
    Ok(())
}

/// 42P01, 42883: any number can be called a regclass or a regprocedure.
fn are_there(tables: &[Option<pg_sys::Oid>], function: pg_sys::Oid) -> Fallible<()> {
    // SAFETY: system cache lookups; null where there is none.
    unsafe {
        if let Some(gone) = tables.iter().flatten().find(|table| pg_sys::get_rel_name(**table).is_null()) {
            return Err(error::no_such_table(u32::from(*gone)));
        }
        if pg_sys::get_func_name(function).is_null() {
            return Err(error::no_such_function(u32::from(function)));
        }
    }
    Ok(())
}

/// `cft_drop_triggers(relation regclass, trigger_function regprocedure, other regclass) -> boolean`: drops the table's triggers of that function, those
/// that say it belongs to `other` if that is given; whether there were any. Errors: 42501 (owner only), DROP TRIGGER's.
#[pg_extern(sql = false)]
fn cft_drop_triggers(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<bool> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(table), Some(function)) = (call.oid(0), call.oid(1)) else { return Ok(false) };
    let other = call.oid(2);
    let find = || {
        registration::triggers_of(table, |trigger| {
            trigger.tgfoid == function
                && !trigger.tgisinternal
                && other.is_none_or(|other| trigger.tgconstrrelid == other)
        })
    };
    // SAFETY: reads a backend variable.
    if !compat::owns_table(table, unsafe { pg_sys::GetUserId() }) {
        return Err(error::not_owner(&name::display_name(table)));
    }
    Ok(!find().is_empty() && trigger_ddl::drop(table, find))
}

/// Texts of SQL have no NUL.
fn c_string(text: &[u8]) -> CString {
    CString::new(text).unwrap_or_default()
}

fn c_strings(call: &Call, n: usize) -> Vec<CString> {
    call.names(n).map(|(texts, _)| texts.into_iter().map(c_string).collect()).unwrap_or_default()
}
