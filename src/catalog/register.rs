//! Makes and drops the triggers that never fire, by which columns of a table are registered (catalog/registered.rs).
//!
//! The owner of the table may, as CREATE TRIGGER and DROP TRIGGER allow. What is wrong is said before we wait for a
//! lock: who may not, or names a column that is not there, does not stand in its queue.

use crate::catalog::name::display_name;
use crate::catalog::registered::Kind;
use crate::catalog::registration::Functions;
use crate::catalog::trigger_ddl::{Fires, Trigger};
use crate::catalog::{privileges, registration, trigger_ddl, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::lookup;
use crate::pg::lookup::{Row, c_string};
use pgrx::pg_sys;

/// A column and what it is for.
pub type ForRole = (String, String);

/// Columns that a hint lists.
const LISTED: i16 = 12;

/// Registers columns of a table, which belongs to `other` if that is given: drops the triggers of that function (those
/// for `other`, if it is given) and creates one. Returns whether there were any.
///
/// Errors: 42P01, 42501 (not the owner, or an owner who may not speak for `other`), 42P16 (temporary), 42809 (no
/// table), 42703, 42804 (a column holds several entities), CREATE TRIGGER's.
pub fn set(
    table: pg_sys::Oid,
    other: Option<pg_sys::Oid>,
    function: pg_sys::Oid,
    columns: &[ForRole],
    functions: Functions,
) -> Fallible<bool> {
    let name = require_owner(table)?;
    check_table(table, other, &name)?;
    check_columns(table, columns, &name)?;
    let mut had = drop(table, other, function)?;
    if !had {
        // Two sessions do not find the same free name; another one may have registered the table while we waited.
        trigger_ddl::lock(table, pg_sys::ShareRowExclusiveLock)?;
        had = drop(table, other, function)?;
    }
    // A column that has several roles is named once.
    let mut all: Vec<ForRole> = Vec::new(); // bounded: columns
    for (column, role) in columns {
        match all.iter_mut().find(|(known, _)| known == column) {
            Some((_, roles)) => *roles = format!("{roles} {role}"),
            None => all.push((column.clone(), role.clone())),
        }
    }
    let (columns, arguments): (Vec<_>, Vec<_>) =
        all.iter().map(|(column, roles)| (c_string(column), c_string(roles))).unzip();
    let base = Kind::of(function, functions).unwrap_or(Kind::Embeddings).trigger_name();
    trigger_ddl::create(&Trigger {
        from: other,
        name: &trigger_ddl::free_name(table, base),
        function,
        events: pg_sys::TRIGGER_TYPE_UPDATE,
        each_row: other.is_some(),
        columns: &columns,
        arguments: &arguments,
        never: true,
        // Not on a view: ALTER TABLE cannot enable its triggers ALWAYS, so a dump would not restore.
        fires: if lookup::get_rel_relkind(table) as u8 == pg_sys::RELKIND_VIEW {
            Fires::OnOrigin
        } else {
            Fires::Always
        },
        ..Trigger::on(table)
    })?;
    Ok(had)
}

/// Drops the table's triggers of that function (those for `other`, if it is given). Returns whether there were any.
/// Errors: 42P01, 42501 (not the owner), DROP TRIGGER's.
pub fn unset(table: pg_sys::Oid, other: Option<pg_sys::Oid>, function: pg_sys::Oid) -> Fallible<bool> {
    require_owner(table)?;
    drop(table, other, function)
}

/// Drops the table's triggers of that function; if `other` is given, only those that say the table belongs to it.
/// Returns whether there were any. Errors: 42P01, 42501 (not the owner), DROP TRIGGER's.
pub fn drop(table: pg_sys::Oid, other: Option<pg_sys::Oid>, function: pg_sys::Oid) -> Fallible<bool> {
    let is_meant = |form: &pg_sys::FormData_pg_trigger| other.is_none_or(|other| form.tgconstrrelid == other);
    let find =
        || registration::triggers_of(table, |form| form.tgfoid == function && !form.tgisinternal && is_meant(form));
    trigger_ddl::drop(table, find)
}

/// The type of a column, as of now; None if there is none of that name.
pub fn type_of(table: pg_sys::Oid, column: &str) -> Option<pg_sys::Oid> {
    let number = lookup::column_number(table, column);
    (number > 0).then(|| lookup::get_atttype(table, number))
}

/// Whether a value of the type would hold several entities: an array, json or jsonb.
pub fn holds_several(of: pg_sys::Oid) -> bool {
    lookup::category(of) == pg_sys::TYPCATEGORY_ARRAY || [pg_sys::JSONOID, pg_sys::JSONBOID].contains(&of)
}

/// The table's name. 42P01 if it is gone, 42501 if the caller does not own it.
fn require_owner(table: pg_sys::Oid) -> Fallible<String> {
    let name = lookup::relation_name(table).ok_or_else(|| error::no_such_table(u32::from(table)))?;
    if privileges::is_owner(table) { Ok(name) } else { Err(error::not_owner(&name)) }
}

fn check_table(table: pg_sys::Oid, other: Option<pg_sys::Oid>, name: &str) -> Fallible<()> {
    if let Some(other) = other {
        if !trust::counts_beside(table, other) {
            return Err(error::not_owner_of_other(&display_name(table), &display_name(other)));
        }
        let is_temporary = |of| lookup::get_rel_persistence(of) as u8 == pg_sys::RELPERSISTENCE_TEMP;
        if is_temporary(table) && !is_temporary(other) {
            return Err(error::temporary_beside(&display_name(table), &display_name(other)));
        }
    }
    let is_table = match lookup::get_rel_relkind(table) as u8 {
        pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE => true,
        pg_sys::RELKIND_FOREIGN_TABLE | pg_sys::RELKIND_VIEW => other.is_none(),
        _ => false,
    };
    if is_table { Ok(()) } else { Err(error::not_a_table(name)) }
}

fn check_columns(table: pg_sys::Oid, columns: &[ForRole], name: &str) -> Fallible<()> {
    if let Some((missing, _)) = columns.iter().find(|(column, _)| type_of(table, column).is_none()) {
        return Err(error::column_not_there(missing, name, &listed(table)));
    }
    let several = |(column, role): &&ForRole| role == "entity" && type_of(table, column).is_some_and(holds_several);
    match columns.iter().find(several) {
        Some((column, _)) => Err(error::several_entities(column, &display_name(table))),
        None => Ok(()),
    }
}

/// The table's first columns, in quotes.
fn listed(table: pg_sys::Oid) -> String {
    let name = |number| Some(format!("\"{}\"", lookup::name_of(&Row::of_column(table, number)?.attname)));
    (1..=LISTED).filter_map(name).collect::<Vec<_>>().join(", ")
}
