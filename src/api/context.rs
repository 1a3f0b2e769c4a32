//! cft_context: the hierarchy around one entity, or around many in one pass.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::call::fmgr::{Call, text_array};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::serve::answer::{answer, reads_as_array, refuse_array};
use crate::serve::sink::Sink;
use pgrx::Internal;
use pgrx::prelude::*;

/// `cft_context(entity text, up int, down int, edges regclass, trees text[])`: see sql/reference.sql for what it returns.
///
/// NULL entity, up or down: no rows. Errors: 42P01 (not attached), 42725 (several attached), 22023 (levels), 42703 (a column is gone),
/// 42501 (the table's own).
#[pg_extern(sql = false)]
fn cft_context_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(name) = call.text(0) else { return Ok(()) };
    answer(&call, &[name], &mut Sink::Rows(rows))
}

/// `cft_one(entity text, edges regclass) -> text[]`: the entity in an array, for SQL functions that take one entity and call a function that
/// takes many. 22023 for a constant or parameter that reads as an array.
#[pg_extern(sql = false)]
fn cft_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    if reads_as_array(name) && call.is_given_text(0) {
        refuse_array(&AttachedTable::open(&call, 1)?, name, Some("entities"))?;
    }
    Ok(Internal::from(Some(text_array(&[name]))))
}

/// `cft_context(entities text[], up int, down int, edges regclass, trees text[])`: cft_context for many entities, in the order of first occurrence.
#[pg_extern(sql = false)]
fn cft_context_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(names) = call.names(0)? else { return Ok(()) };
    answer(&call, &names, &mut Sink::Rows(rows))
}
