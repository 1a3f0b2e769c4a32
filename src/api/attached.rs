//! cft_attached: the table that a call means by its argument `edges`, and its columns; for SQL that walks the table
//! itself.

use crate::call::fmgr::{Call, name_datum, text_array_of, text_value};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::columns::ColumnNames;
use crate::error::Fallible;
use crate::serve::labels::Labels;
use pgrx::Internal;
use pgrx::prelude::*;

/// `cft_attached(edges regclass) -> table(edges regclass, parent name, child name, tree name, labels regclass, labelled
/// name, label name, by_name boolean)`: one row. labels, labelled, label: the table that holds the labels, and its
/// columns of entities and of labels. by_name: whether texts name entities by their own names. Errors: those of
/// cft_context.
#[pg_extern(sql = false)]
fn cft_attached(call: Call) -> Fallible<()> {
    let rows = call.rows();
    // Every user may read this in the catalogs, but the call locks the table, so it needs a reader's rights.
    let of = AttachedTable::of_reader(call.function(), call.oid(0))?;
    let in_table = of.open_label_table()?;
    let AttachedTable { table, registration, columns, .. } = &of;
    let names = &registration.names;
    let labels = if columns.has_labels() { Some(&of) } else { in_table.as_ref() };
    let label = |name: fn(&ColumnNames) -> Option<&str>| {
        name_datum(labels.and_then(|of| name(&of.registration.names)).unwrap_or_default())
    };
    let no_labels = labels.is_none();
    let mut nulls = [false, false, false, names.tree.is_none(), no_labels, no_labels, no_labels, false];
    rows.add(
        &mut [
            pg_sys::Datum::from(table.oid()),
            name_datum(&names.parent),
            name_datum(&names.child),
            name_datum(names.tree.as_deref().unwrap_or_default()),
            pg_sys::Datum::from(labels.map_or(pg_sys::InvalidOid, AttachedTable::oid)),
            label(|names| Some(&names.child)),
            label(|names| names.label.as_deref()),
            pg_sys::Datum::from(if no_labels { columns.are_found_by_name(names) } else { names.ids }),
        ],
        &mut nulls,
    );
    Ok(())
}

/// `cft_called(entities text[], edges regclass) -> text[]`: the entities' labels, or the name of an entity that has
/// none. NULL for NULL; each name once, in the order of first occurrence. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_called(call: Call) -> Fallible<Internal> {
    let Some(names) = call.names(0)? else { return Ok(Internal::from(None)) };
    let labels = Labels::of(&AttachedTable::open(&call, 1)?, &names)?;
    let called = names.iter().enumerate().map(|(n, name)| Some(labels.get(n).unwrap_or(name)));
    Ok(Internal::from(Some(text_array_of(called))))
}

/// `cft_label(entity text, edges regclass) -> text`: the entity's label; NULL if it has none, or is NULL. Errors: those
/// of cft_context.
#[pg_extern(sql = false)]
fn cft_label(call: Call) -> Fallible<Internal> {
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let labels = Labels::of(&AttachedTable::open(&call, 1)?, &[name])?;
    Ok(Internal::from(labels.get(0).map(text_value).transpose()?))
}
