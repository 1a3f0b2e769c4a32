//! cft_context: the hierarchy around one entity, or around many in one pass.

use crate::call::fmgr::Call;
use crate::error::Fallible;
use crate::serve::answer::answer;
use crate::serve::sink::Sink;
use pgrx::prelude::*;

/// `cft_context(entity text, up int, down int, edges regclass, trees text[])`: see sql/reference.sql for what it
/// returns.
///
/// NULL entity, up or down: no rows. Errors: 42P01 (not attached), 42725 (several attached), 22023 (levels), 42703 (a
/// column is gone), 42501 (the table's own).
#[pg_extern(sql = false)]
fn cft_context_one(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(name) = call.text(0) else { return Ok(()) };
    answer(&call, &[name], &mut Sink::Rows(rows))
}

/// `cft_context(entities text[], up int, down int, edges regclass, trees text[])`: cft_context for many entities, in
/// the order of first occurrence.
#[pg_extern(sql = false)]
fn cft_context_many(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(names) = call.names(0)? else { return Ok(()) };
    answer(&call, &names, &mut Sink::Rows(rows))
}
