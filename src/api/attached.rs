//! cft_attached: the table that a call without `edges` means, and its columns; for SQL that walks the table itself.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr::{Call, name_datum, text_array};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::privileges;
use crate::error;
use crate::error::Fallible;
use crate::serve::labels::Labels;
use pgrx::Internal;
use pgrx::prelude::*;

/// `cft_attached(edges regclass) -> table(edges regclass, parent name, child name, tree name, label name, by_name boolean)`: one row. by_name:
/// texts name entities by their own names. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_attached(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let AttachedTable { table, registration, columns, .. } = AttachedTable::open(&call, 0)?;
    // Every user may read this in the catalogs, but the call locks the table, so it needs a reader's rights.
    if !privileges::is_readable(table.oid()) {
        return Err(error::no_privilege(&table.name()));
    }
    let names = &registration.names;
    let mut nulls = [false, false, false, names.tree.is_none(), names.label.is_none(), false];
    rows.add(
        &mut [
            pg_sys::Datum::from(table.oid()),
            name_datum(&names.parent),
            name_datum(&names.child),
            name_datum(names.tree.as_deref().unwrap_or_default()),
            name_datum(names.label.as_deref().unwrap_or_default()),
            pg_sys::Datum::from(columns.are_found_by_name(names)),
        ],
        &mut nulls,
    );
    Ok(())
}

/// `cft_called(entities text[], edges regclass) -> text[]`: the labels of these entities, or the name of one without. NULL for NULL; each name
/// once, in the order of first occurrence. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_called(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some((names, _)) = call.names(0) else { return Ok(Internal::from(None)) };
    let labels = Labels::of(&AttachedTable::open(&call, 1)?, &names)?;
    let called: Vec<&[u8]> = names.iter().enumerate().map(|(n, name)| labels.get(n).unwrap_or(name)).collect();
    Ok(Internal::from(Some(text_array(&called))))
}
