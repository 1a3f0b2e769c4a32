//! Which columns a table can be attached with. cft_attach checks all rules; each call checks the types again, since
//! ALTER TABLE may have changed them.
//!
//! The columns are a parent, a child and perhaps a tree, a label and other names, all different, each of a type whose
//! values are names; and perhaps one of type boolean. Errors: 42703 (no such column), 42701 (named twice), 42804 (a
//! type that holds no names, or is not boolean), 0A000 (a nondeterministic collation, a virtual generated column).

use crate::catalog::columns::{Column, ColumnNames};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::{column_value, columns};
use crate::error;
use crate::error::Fallible;
use crate::pg::{encoding, lookup};
use pgrx::prelude::*;

/// Checks all rules. Errors: 42703, 42701, 42804, 0A000.
pub fn check_columns(table: &EdgesTable, names: &ColumnNames) -> Fallible<()> {
    let columns = table.require_columns(names)?;
    let all = names.all();
    let is_twice = |(n, one): (usize, &(&str, &str))| all[..n].iter().any(|other| other.1 == one.1);
    if let Some((_, twice)) = all.iter().enumerate().find(|one| is_twice(*one)).map(|(_, twice)| twice) {
        return Err(error::same_column(twice));
    }
    let of = |name: &str, column: &Column| -> Fallible<()> {
        check_names(table, name, column)?;
        let collation = pg_sys::Oid::from(column.collation);
        if collation != pg_sys::InvalidOid && !lookup::get_collation_isdeterministic(collation) {
            return Err(error::nondeterministic_collation(name));
        }
        if column.generated == u32::from(b'v') {
            return Err(error::virtual_column(name));
        }
        Ok(())
    };
    if names.has_parent() {
        of(&names.parent, &columns.parent)?;
    }
    of(&names.child, &columns.child)?;
    names.tree.as_ref().map_or(Ok(()), |tree| of(tree, &columns.tree))?;
    names.label.as_ref().map_or(Ok(()), |label| of(label, &columns.label))?;
    names.names.iter().zip(&columns.names).try_for_each(|(name, column)| of(name, column))?;
    check_preferred(names, &columns)
}

/// 42804 if a column's values are no names of entities, or one entity has several of them.
pub fn check_names(table: &EdgesTable, name: &str, column: &Column) -> Fallible<()> {
    let type_oid = pg_sys::Oid::from(column.type_oid);
    if !column_value::holds_names(type_oid) {
        return Err(error::wrong_type(name, &type_name(type_oid)));
    }
    if type_oid == pg_sys::NUMERICOID && !table.has_no_scale(column.number) {
        return Err(error::numeric_with_scale(name));
    }
    Ok(())
}

/// 42804 if the column that says which labels are preferred is not of type boolean, 0A000 if it is virtual.
fn check_preferred(names: &ColumnNames, columns: &columns::Columns) -> Fallible<()> {
    let Some(name) = &names.preferred else { return Ok(()) };
    let column = columns.preferred;
    if column.type_oid != u32::from(pg_sys::BOOLOID) {
        return Err(error::not_boolean(name, &type_name(column.type_oid.into())));
    }
    if column.generated == u32::from(b'v') { Err(error::virtual_column(name)) } else { Ok(()) }
}

/// Checks that siblings can be ordered by that column: its type must be one of the server's own, with an order. Errors:
/// 42703, 42804.
pub fn check_position(table: &EdgesTable, position: &str) -> Fallible<()> {
    let missing = || error::no_such_column(&table.name(), position, "sort", &table.listed());
    let column = table.column(position).ok_or_else(missing)?;
    let type_oid = pg_sys::Oid::from(column.type_oid);
    if !lookup::orders(type_oid).1 || !crate::catalog::trust::is_builtin(type_oid) {
        return Err(error::no_order(position, &type_name(type_oid)));
    }
    Ok(())
}

/// Checks the types again: 42804 if a column has since been given a type whose cast to text may be any user's code.
pub fn check_types(names: &ColumnNames, columns: &columns::Columns) -> Fallible<()> {
    let all = [
        (Some(&names.parent).filter(|_| names.has_parent()), columns.parent),
        (Some(&names.child), columns.child),
        (names.tree.as_ref(), columns.tree),
        (names.label.as_ref(), columns.label),
    ];
    let others = names.names.iter().map(Some).zip(columns.names);
    for (name, column) in all.into_iter().chain(others) {
        let type_oid = pg_sys::Oid::from(column.type_oid);
        if let Some(name) = name
            && !crate::catalog::trust::is_builtin(type_oid)
        {
            return Err(error::wrong_type(name, &type_name(type_oid)));
        }
    }
    check_preferred(names, columns)
}

/// A type's name, for messages.
pub fn type_name(type_oid: pg_sys::Oid) -> String {
    encoding::shown(&lookup::type_name(type_oid).unwrap_or_default())
}

/// The name that is given for two columns.
pub fn repeated<'a>(one: &str, other: &'a str, third: Option<&'a str>) -> Option<&'a str> {
    if one == other { Some(other) } else { third.filter(|third| [one, other].contains(third)) }
}
