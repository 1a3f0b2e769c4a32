//! cft_register, cft_watch and cft_drop_triggers: the triggers of what SQL attaches (documents, mappings, embeddings, summaries).
//!
//! They do what CREATE TRIGGER and DROP TRIGGER do, by OID (catalog/trigger_ddl.rs), and need the same rights: any caller could run the statements.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr::Call;
use crate::call::work_memory::Room;
use crate::catalog::trigger_ddl::{Fires, Trigger};
use crate::catalog::{registration, trigger_ddl};
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::{owns_table, plain};
use pgrx::prelude::*;
use std::ffi::CString;

/// `cft_register(relation regclass, other regclass, trigger_name text, trigger_function regprocedure, columns text[], arguments text[]) -> void`:
/// creates a trigger that never fires (UPDATE OF the columns, WHEN false; ENABLE ALWAYS, which only the owner can set) and whose columns and
/// arguments are a registration. With `other`, it says that `relation` belongs to that table (FROM). Errors: 42P01, 42883, 22004 (no name),
/// 42501, CREATE TRIGGER's.
#[pg_extern(sql = false)]
fn cft_register(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(table), Some(name), Some(function)) = (call.oid(0), call.text(2), call.oid(3)) else { return Ok(()) };
    if name.is_empty() {
        return Err(error::null_argument("trigger_name"));
    }
    let from = call.oid(1);
    trigger_ddl::create(&Trigger {
        from,
        name: &c_string(name),
        function,
        events: pg_sys::TRIGGER_TYPE_UPDATE,
        each_row: from.is_some(),
        columns: &c_strings(&call, 4)?,
        arguments: &c_strings(&call, 5)?,
        never: true,
        // Not on a view: ALTER TABLE cannot enable its triggers ALWAYS, so a dump would not restore.
        // SAFETY: a system cache lookup.
        fires: match unsafe { pg_sys::get_rel_relkind(table) } as u8 {
            pg_sys::RELKIND_VIEW => Fires::OnOrigin,
            _ => Fires::Always,
        },
        ..Trigger::on(table)
    })
}

/// `cft_watch(relation regclass, trigger_function regprocedure) -> void`: creates triggers after each statement that changes the table; they see
/// the changed rows as cft_new and cft_old. If the caller owns the table, they are ENABLE ALWAYS; and since the apply worker of logical
/// replication fires row triggers only, there are three of these besides, ENABLE REPLICA. STRICT. Errors: CREATE TRIGGER's.
#[pg_extern(sql = false)]
fn cft_watch(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(table), Some(function)) = (call.oid(0), call.oid(1)) else { return Ok(()) };
    let (new, old) = (Some(c"cft_new"), Some(c"cft_old"));
    // SAFETY: reads a backend variable.
    let is_owner = owns_table(table, unsafe { plain::GetUserId() });
    let statement = if is_owner { Fires::Always } else { Fires::OnOrigin };
    for (name, fires, events, new_table, old_table) in [
        (c"cftrag_rollup_insert", statement, pg_sys::TRIGGER_TYPE_INSERT, new, None),
        (c"cftrag_rollup_update", statement, pg_sys::TRIGGER_TYPE_UPDATE, new, old),
        (c"cftrag_rollup_delete", statement, pg_sys::TRIGGER_TYPE_DELETE, None, old),
        (c"cftrag_rollup_truncate", statement, pg_sys::TRIGGER_TYPE_TRUNCATE, None, None),
        (c"cftrag_rollup_insert_row", Fires::OnReplica, pg_sys::TRIGGER_TYPE_INSERT, new, None),
        (c"cftrag_rollup_update_row", Fires::OnReplica, pg_sys::TRIGGER_TYPE_UPDATE, new, old),
        (c"cftrag_rollup_delete_row", Fires::OnReplica, pg_sys::TRIGGER_TYPE_DELETE, None, old),
    ] {
        let each_row = fires == Fires::OnReplica;
        if is_owner || !each_row {
            trigger_ddl::create(&Trigger {
                name,
                function,
                events,
                fires,
                each_row,
                new_table,
                old_table,
                replace: true,
                ..Trigger::on(table)
            })?;
        }
    }
    Ok(())
}

/// `cft_drop_triggers(relation regclass, trigger_function regprocedure, other regclass) -> boolean`: drops the table's triggers of that function;
/// if `other` is given, only those that say it belongs to `other`. Returns whether there were any. Errors: 42P01, 42501 (owner only), DROP
/// TRIGGER's.
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
    trigger_ddl::drop(table, find)
}

/// SQL texts have no NUL.
fn c_string(text: &[u8]) -> CString {
    CString::new(text).unwrap_or_default()
}

fn c_strings(call: &Call, n: usize) -> Fallible<Vec<CString>> {
    let Some(texts) = call.names(n)? else { return Ok(Vec::new()) };
    Room::new().take(texts.iter().map(|text| 2 * (text.len() + size_of::<CString>())).sum())?;
    Ok(texts.into_iter().map(c_string).collect()) // bounded: counted
}
