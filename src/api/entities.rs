//! cft_entities: which entities occur in a text, by their names or their aliases; cft_those: which of the given names
//! are entities.
//!
//! Each attached table of aliases has an image of its own (the alias as a label of the entity). Every window is then
//! looked up in all images, and leftmost-longest chooses among all matches.

use crate::call::fmgr::{Call, Rows, text_array};
use crate::call::tuple;
use crate::call::tuple::Row;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::pg::interrupt::ROWS_BETWEEN_CHECKS;
use crate::serve::asked::{Question, matching};
use crate::serve::mentions::{form, give_back, workspace};
use crate::serve::tables::Tables;
use crate::serve::within;
use crate::serve::within::Within;
use pgrx::prelude::*;
use pgrx::{Internal, check_for_interrupts};

/// `cft_entities(question text, edges regclass, trees text[], within text[], overlapping boolean, match text, narrow
/// boolean)`: see sql/entities.sql for what it returns.
///
/// NULL question or overlapping: no rows; NULL narrow: false. Errors: 42P01 (not attached), 42725 (several attached),
/// 42703 (a column is gone), 42501 (the tables' own), 22023 (match), 22021 (not UTF-8, in a database of SQL_ASCII),
/// 0A000 (EUC_JIS_2004).
#[pg_extern(sql = false)]
fn cft_entities(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(text), Some(_)) = (call.stored(0), call.arg(4)) else { return Ok(()) };
    answer(
        &call,
        rows,
        Question {
            text,
            trees: call.array(2),
            within: call.array(3),
            overlapping: call.is_true(4),
            once: false,
            matching: matching(call.text(5))?,
            narrow: call.is_true(6),
        },
    )
}

/// `cft_first_mentions(question text, edges regclass, trees text[], within text[], match text, narrow boolean)`: of the
/// rows of cft_entities, each entity's first. Errors: those of cft_entities.
#[pg_extern(sql = false)]
fn cft_first_mentions(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(text) = call.stored(0) else { return Ok(()) };
    answer(
        &call,
        rows,
        Question {
            text,
            trees: call.array(2),
            within: call.array(3),
            overlapping: false,
            once: true,
            matching: matching(call.text(4))?,
            narrow: call.is_true(5),
        },
    )
}

fn answer(call: &Call, rows: Rows, question: Question) -> Fallible<()> {
    let tables = Tables::open(call.function(), call.oid(1), question.matching)?;
    let mut found = workspace();
    if tables.find(&question, &mut found)? {
        let mut all = list(found.len(), &mut Room::new())?;
        all.extend(0..found.len());
        for some in all.chunks(ROWS_BETWEEN_CHECKS) {
            check_for_interrupts!();
            tuple::add_all(rows, some, |n, row: &mut Row<8>| form(&found, *n, question.text.bytes(), row));
        }
    } else {
        tables.by_reference(&question, rows);
    }
    give_back(found);
    Ok(())
}

/// `cft_those(names text[], edges regclass, trees text[], within text[]) -> text[]`: the names that are entities with a
/// row, each once. If `trees` is not NULL, the row is in one of them; if `within` is not NULL, the entity is one of
/// those or below one. NULL for NULL names. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_those(call: Call) -> Fallible<Internal> {
    let Some(names) = call.names(0)? else { return Ok(Internal::from(None)) };
    let of = AttachedTable::open(&call, 1)?;
    let trees = call.array(2);
    let mut those = within::there(&of, &names, trees)?;
    if let Some(tops) = call.array(3) {
        let mut are_within = Within::of(&of, &tops.copied(&mut Room::new())?, trees).those_of(&those)?.into_iter();
        those.retain(|_| are_within.next() == Some(true));
    }
    Ok(Internal::from(Some(text_array(&those))))
}
