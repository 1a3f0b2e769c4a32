//! cft_set_columns, cft_watch and cft_drop_triggers: the triggers of what SQL attaches (documents, mappings,
//! embeddings, summaries).
//!
//! They do what CREATE TRIGGER and DROP TRIGGER do, by OID (catalog/trigger_ddl.rs), and need the same rights: any
//! caller could run the statements.

use crate::call::fmgr::Call;
use crate::call::work_memory::Room;
use crate::catalog::registration::Functions;
use crate::catalog::trigger_ddl::{Fires, Trigger};
use crate::catalog::{privileges, register, trigger_ddl};
use crate::error::Fallible;
use crate::pg::encoding;
use pgrx::prelude::*;

/// Pairs that are looked at: more than a table has columns.
const MOST_COLUMNS: usize = pg_sys::MaxHeapAttributeNumber as usize + 1;

/// `cft_set_columns(relation regclass, other regclass, trigger_function regprocedure, columns name[], roles text[]) ->
/// boolean`: drops the table's registration by that function (that for `other`, if it is given) and, unless `columns`
/// is NULL, creates one: `roles[i]` lists what `columns[i]` is for. Returns whether there was one. Errors: those of
/// [`register::set`].
#[pg_extern(sql = false)]
fn cft_set_columns(call: Call) -> Fallible<bool> {
    let (Some(table), Some(function)) = (call.oid(0), call.oid(2)) else { return Ok(false) };
    let other = call.oid(1);
    let (Some(columns), Some(roles)) = (call.column_names(3)?, call.texts(4)?) else {
        return register::unset(table, other, function);
    };
    let (mut for_roles, mut room) = (Vec::new(), Room::new());
    for (column, role) in columns.zip(roles).take(MOST_COLUMNS) {
        let Some(column) = column else { continue };
        let role = role.unwrap_or_default();
        room.take(4 * role.len())?;
        for_roles.push((encoding::decode(column), encoding::decode(role))); // bounded: MOST_COLUMNS, counted
    }
    register::set(table, other, function, &for_roles, Functions::beside(call.function()))
}

/// `cft_watch(relation regclass, trigger_function regprocedure) -> void`: creates triggers after each statement that
/// changes the table; they see the changed rows as cft_new and cft_old. If the caller owns the table, they are ENABLE
/// ALWAYS; and since the apply worker of logical replication fires row triggers only, there are three of these besides,
/// ENABLE REPLICA. STRICT. Errors: CREATE TRIGGER's.
#[pg_extern(sql = false)]
fn cft_watch(call: Call) -> Fallible<()> {
    let (Some(table), Some(function)) = (call.oid(0), call.oid(1)) else { return Ok(()) };
    let (new, old) = (Some(c"cft_new"), Some(c"cft_old"));
    let is_owner = privileges::is_owner(table);
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

/// `cft_drop_triggers(relation regclass, trigger_function regprocedure, other regclass) -> boolean`: drops the table's
/// triggers of that function; if `other` is given, only those that say it belongs to `other`. Returns whether there
/// were any. Errors: 42P01, 42501 (owner only), DROP TRIGGER's.
#[pg_extern(sql = false)]
fn cft_drop_triggers(call: Call) -> Fallible<bool> {
    let (Some(table), Some(function)) = (call.oid(0), call.oid(1)) else { return Ok(false) };
    register::drop(table, call.oid(2), function)
}
