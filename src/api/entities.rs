//! cft_entities: which entities occur in a text, by their names or their aliases.
//!
//! Each attached table of aliases has an image of its own (the alias as a label of the entity). Every window is then looked up in all images, and
//! leftmost-longest chooses among all matches.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::call::fmgr::Call;
use crate::call::tuple;
use crate::call::tuple::Row;
use crate::error::Fallible;
use crate::pg::interrupt::ROWS_BETWEEN_CHECKS;
use crate::serve::asked::Question;
use crate::serve::mentions::{Tables, form, give_back, workspace};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

/// `cft_entities(question text, edges regclass, trees text[], overlapping boolean)`: see sql/entities.sql for what it returns.
///
/// NULL question or overlapping: no rows. Errors: 42P01 (not attached), 42725 (several attached), 42703 (a column is gone), 42501 (the
/// tables' own), 22021 (not UTF-8, in a database of SQL_ASCII), 0A000 (EUC_JIS_2004).
#[pg_extern(sql = false)]
fn cft_entities(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some(text), Some(overlapping)) = (call.arg(0), call.arg(3)) else { return Ok(()) };
    let question = Question { text, trees: call.arg(2), overlapping };
    let tables = Tables::open(call.function(), call.oid(1))?;
    let mut found = workspace();
    if tables.find(&question, &mut found)? {
        let all: Vec<usize> = (0..found.len()).collect();
        for some in all.chunks(ROWS_BETWEEN_CHECKS) {
            check_for_interrupts!();
            tuple::add_all(rows, some, |n, row: &mut Row<6>| form(&found, *n, question.text(), row));
        }
    } else {
        tables.by_reference(&question, rows);
    }
    give_back(found);
    Ok(())
}
