//! cft_attach and cft_detach: put the registration (two triggers) on the user's table, or take it off.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::call::fmgr::{Call, name};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::column_rules::check_columns;
use crate::catalog::columns::ColumnNames;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::{Functions, INTERNAL};
use crate::catalog::{name, registration, schema_names};
use crate::error;
use crate::error::Fallible;
use crate::pg::{encoding, error_context};
use pgrx::prelude::*;
use std::ffi::CString;

/// `cft_attach(edges regclass, parent name, child name, tree name) -> void`
///
/// Creates the triggers that keep an image of `edges` fresh. Idempotent; with other columns it replaces the registration.
/// Errors: 42P01 no such table, 42809 not a plain table, 42703 no such column, 42701 a column twice, 42804 type, 0A000 collation or
/// virtual column, 42501 not the owner.
#[pg_extern(sql = false)]
fn cft_attach(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let functions = Functions::beside(call.function());
    let table = EdgesTable::open(call.oid(0).ok_or_else(|| error::null_argument("edges"))?)?;
    let names = ColumnNames {
        parent: name(&call, 1).ok_or_else(|| error::null_argument("parent"))?,
        child: name(&call, 2).ok_or_else(|| error::null_argument("child"))?,
        tree: name(&call, 3),
    };
    if let Some(why) = table.unsuitable().or_else(|| table.inherits()) {
        return Err(error::wrong_kind(&table.name(), why));
    }
    owner_only(&table)?;
    check_columns(&table, &names)?;
    let known = registration::read(table.oid(), std::ptr::null_mut(), functions);
    if known.is_some_and(|r| r.sound && r.names == names) {
        return Ok(());
    }
    let (oid, old) = (table.oid(), registration::trigger_names(table.oid(), functions));
    schema_names::hold(&[(oid, lock_for(&old))])?;
    let on = table.qualified();
    // ALTER TABLE wants nobody else, not even this function, to hold the relation open.
    drop(table);
    drop_triggers(&on, &old);
    create_triggers(&on, &names);
    schema_names::release();
    ensure_registered(registration::read(oid, std::ptr::null_mut(), functions).is_some())
}

/// The lock that statements take on a table whose triggers of these names they drop before they create others.
fn lock_for(old: &[String]) -> u32 {
    if old.is_empty() { pg_sys::ShareRowExclusiveLock } else { pg_sys::AccessExclusiveLock }
}

/// 40001 unless the statements did what they were to do to this table.
fn ensure_registered(done: bool) -> Fallible<()> {
    if done { Ok(()) } else { Err(error::renamed_beside()) }
}

/// `cft_attach_aliases(aliases regclass, alias name, entity name, edges regclass) -> void`
///
/// Says that `aliases` has other names of entities of `edges` (where it is left out, the only attached table), and keeps an image of it.
/// Idempotent; replaces what the table was attached as. Errors: those of cft_attach, for `aliases`; 42P01 (edges is not attached), 22023
/// (it is the same table); 42501 without TRIGGER on `edges`, because it changes what everyone finds in a text.
#[pg_extern(sql = false)]
fn cft_attach_aliases(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let functions = Functions::beside(call.function());
    let table = EdgesTable::open(call.oid(0).ok_or_else(|| error::null_argument("aliases"))?)?;
    let alias = name(&call, 1).ok_or_else(|| error::null_argument("alias"))?;
    let entity = name(&call, 2).ok_or_else(|| error::null_argument("entity"))?;
    let names = ColumnNames { parent: entity, child: alias, tree: None };
    let edges = AttachedTable::open(&call, 3)?;
    if edges.oid() == table.oid() {
        return Err(error::aliases_of_itself(&table.name()));
    }
    if let Some(why) = table.unsuitable().or_else(|| table.inherits()) {
        return Err(error::wrong_kind(&table.name(), why));
    }
    owner_only(&table)?;
    for (argument, column) in [("alias", &names.child), ("entity", &names.parent)] {
        table.column(column).ok_or_else(|| error::no_such_alias_column(&table.name(), column, argument))?;
    }
    check_columns(&table, &names)?;
    let known = registration::read(table.oid(), std::ptr::null_mut(), functions);
    if known.is_some_and(|r| r.sound && r.names == names)
        && registration::alias_markers(table.oid(), functions) == [edges.oid()]
    {
        return Ok(());
    }
    let (oid, of) = (table.oid(), edges.oid());
    let old = registration::trigger_names(table.oid(), functions);
    schema_names::hold(&[(oid, lock_for(&old)), (of, pg_sys::AccessShareLock)])?;
    let (on, from) = (table.qualified(), edges.table.qualified());
    drop(edges);
    drop(table);
    drop_triggers(&on, &old);
    create_triggers(&on, &names);
    let marker = internal("cft_alias_of");
    let (alias, entity) = (literal(&names.child), literal(&names.parent));
    execute(&[format!(
        "CREATE CONSTRAINT TRIGGER cftrag_aliases AFTER INSERT ON {on} FROM {from} FOR EACH ROW WHEN (false) \
         EXECUTE FUNCTION {marker}({alias}, {entity})"
    )]);
    schema_names::release();
    let registered = registration::read(oid, std::ptr::null_mut(), functions).is_some();
    ensure_registered(registered && registration::alias_markers(oid, functions) == [of])
}

/// The trigger function that marks a table of aliases. Its triggers never fire. Errors: 39P01.
#[pg_extern(sql = false)]
fn cft_alias_of(_fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    Err(error::not_our_trigger("cft_alias_of"))
}

/// `cft_detach(edges regclass) -> void`: drops the triggers. Errors: 42P01 no such table or not attached, 42501 not the owner.
#[pg_extern(sql = false)]
fn cft_detach(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let table = EdgesTable::open(call.oid(0).ok_or_else(|| error::null_argument("edges"))?)?;
    owner_only(&table)?;
    let old = registration::trigger_names(table.oid(), Functions::beside(call.function()));
    if old.is_empty() {
        return Err(error::not_attached(&name::display_name(table.oid())));
    }
    let oid = table.oid();
    schema_names::hold(&[(oid, pg_sys::AccessExclusiveLock)])?;
    let on = table.qualified();
    drop(table);
    drop_triggers(&on, &old);
    schema_names::release();
    ensure_registered(registration::trigger_names(oid, Functions::beside(call.function())).is_empty())?;
    // Its memory is better given to others at once; should this transaction roll back, the next reader builds it again.
    if let Some(control) = crate::image::control::attach()
        && let Some((index, _)) = control.find(oid)
    {
        crate::pg::contain::attempt(|| crate::image::chunks::drop_image(control, index));
    }
    Ok(())
}

/// Whatever their names: somebody may have renamed them.
fn drop_triggers(on: &str, names: &[String]) {
    execute(&names.iter().map(|name| format!("DROP TRIGGER {} ON {on}", name::quote(name))).collect::<Vec<_>>());
}

pub fn owner_only(table: &EdgesTable) -> Fallible<()> {
    // SAFETY: reads a backend variable.
    let role = unsafe { pg_sys::GetUserId() };
    if crate::pg::compat::owns_table(table.oid(), role) { Ok(()) } else { Err(error::not_owner(&table.name())) }
}

fn create_triggers(on: &str, names: &ColumnNames) {
    let arguments = [Some(&names.parent), Some(&names.child), names.tree.as_ref()]
        .into_iter()
        .flatten()
        .map(|name| literal(name))
        .collect::<Vec<_>>()
        .join(", ");
    let trigger = |name: &str, event: &str, each: &str, run: &str| {
        let run = internal(run);
        [
            format!(
                "CREATE OR REPLACE TRIGGER {name} AFTER {event} ON {on} FOR EACH {each} EXECUTE FUNCTION {run}({arguments})"
            ),
            format!("ALTER TABLE {on} ENABLE ALWAYS TRIGGER {name}"),
        ]
    };
    let [row, row_always] = trigger("cftrag_row", "INSERT OR UPDATE OR DELETE", "ROW", "cft_capture");
    let [truncate, truncate_always] = trigger("cftrag_truncate", "TRUNCATE", "STATEMENT", "cft_capture_truncate");
    execute(&[row, row_always, truncate, truncate_always]);
}

/// A function that only the extension uses, as SQL.
fn internal(function: &str) -> String {
    format!("{INTERNAL}.{function}")
}

/// A string constant, whatever standard_conforming_strings says (as quote_literal does it).
fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') { format!(" E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

/// Runs statements with the caller's rights.
fn execute(statements: &[String]) {
    // SAFETY: SPI is connected and finished around its use; errors are raised by SPI itself.
    unsafe {
        pg_sys::SPI_connect();
        for sql in statements {
            let Ok(sql) = CString::new(encoding::encode(sql)) else { unreachable!("identifiers have no NUL") };
            error_context::with_error_context(Some(&sql), || pg_sys::SPI_execute(sql.as_ptr(), false, 0));
        }
        pg_sys::SPI_finish();
    }
}
