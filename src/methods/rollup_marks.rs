//! cft_rollup_changed: the trigger that says which summaries are due (sql/install/marks.sql). As a foreign key's does, it writes into a table of
//! somebody else's for whoever makes a change, who needs no right on that table and runs nothing of its owner's:
//!
//! - what changed is read from the transition tables, as the writer;
//! - what is above it is found as the owner of the edges;
//! - marks are written as the owner of the summaries (its triggers, defaults and indexes run as their owner).
//!
//! The last two in a security-restricted operation. Which summaries belong to a table their owner has said (cft_summaries_of).

#![expect(unsafe_code, reason = "trigger data, SPI")]

use crate::call::fmgr::{Call, text_bytes};
use crate::catalog::{roles, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::error_context;
use pgrx::pg_sys::{BOOLOID, Datum, NAMEOID, Oid, REGCLASSOID, TEXTARRAYOID, TEXTOID};
use pgrx::prelude::*;
use std::ffi::{CStr, CString, c_char};

/// TRIGGER_EVENT_OPMASK, and TRIGGER_EVENT_ROW with TRIGGER_EVENT_TIMINGMASK (commands/trigger.h): after a statement both of these are 0.
const OPERATION: u32 = 3;
const SHAPE: u32 = 4 | 0x18;

/// By TRIGGER_EVENT_*: the operation, whether it has a transition table of new rows, and of old ones.
const OPERATIONS: [(&CStr, bool, bool); 4] =
    [(c"INSERT", true, false), (c"DELETE", false, true), (c"UPDATE", true, true), (c"TRUNCATE", false, false)];

/// Whose summaries may be due.
struct Touched {
    summaries: Oid,
    entity: Datum,
    edges: Oid,
    twice: Datum,
    statement: CString,
    of_summaries: bool,
}

/// AFTER INSERT, UPDATE, DELETE or TRUNCATE, for each statement, with transition tables cft_new and cft_old where there are any.
/// Errors: 39P01 (a trigger of another kind), 25001 (TRUNCATE of documents by an old snapshot), those of the INSERT of marks.
#[pg_extern(sql = false)]
fn cft_rollup_changed(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo; the trigger manager's data is valid during the call.
    let (trigger, data) = unsafe {
        let trigger = Call::new(fcinfo).trigger().ok_or_else(error::not_a_marking_trigger)?;
        (trigger, &*trigger)
    };
    let (operation, new, old) = OPERATIONS[(data.tg_event & OPERATION) as usize];
    // SAFETY: as above; names are NUL-terminated. By another name, or without one, the statements below would read a relation that is called so.
    let fits = data.tg_event & SHAPE == 0
        && unsafe {
            let trigger = &*data.tg_trigger;
            is_named(trigger.tgnewtable, new.then_some(c"cft_new"))
                && is_named(trigger.tgoldtable, old.then_some(c"cft_old"))
        };
    if !fits {
        return Err(error::not_a_marking_trigger());
    }
    // SAFETY: the relation is open; SPI is connected and finished around its use, and what it returns lives until then.
    unsafe {
        let relation = Datum::from((*data.tg_relation).rd_id);
        pg_sys::SPI_connect();
        pg_sys::SPI_register_trigger_data(trigger);
        let touched = trust::as_role((*(*data.tg_relation).rd_rel).relowner, 0, || {
            let operation = Datum::from(pg_sys::cstring_to_text(operation.as_ptr()));
            touched(relation, operation)
        });
        for touched in touched {
            mark(&touched);
        }
        pg_sys::SPI_finish();
    }
    Ok(())
}

/// Whether a transition table is called that; None: whether there is none.
///
/// # Safety
/// Null, or NUL-terminated.
unsafe fn is_named(table: *const c_char, name: Option<&CStr>) -> bool {
    // SAFETY: the caller's promise.
    (!table.is_null()).then(|| unsafe { CStr::from_ptr(table) }) == name
}

/// # Safety
/// SPI is connected.
unsafe fn touched(relation: Datum, operation: Datum) -> Vec<Touched> {
    const SQL: &CStr = c"SELECT t.summaries, t.entity, t.edges, t.twice, t.statement, t.of_summaries \
                         FROM cftrag_internal.cft_rollup_touched($1, $2) AS t";
    let oid = |value: Datum| Oid::from(value.value() as u32);
    // SAFETY: the caller's promise; columns of these types, none of which is null.
    unsafe {
        let rows = run(SQL, [(REGCLASSOID, relation), (TEXTOID, operation)]);
        let of = |row: &[Option<Datum>; 6]| {
            let [Some(summaries), Some(entity), Some(edges), Some(twice), Some(statement), Some(of_summaries)] = *row
            else {
                return None;
            };
            Some(Touched {
                summaries: oid(summaries),
                entity,
                edges: oid(edges),
                twice,
                statement: CString::new(text_bytes(statement)).ok()?,
                of_summaries: of_summaries.value() != 0,
            })
        };
        rows.iter().filter_map(of).collect()
    }
}

/// # Safety
/// SPI is connected, and has the trigger's transition tables.
unsafe fn mark(touched: &Touched) {
    // Locked by nobody: they may be gone.
    let (Some(owner), Some(of_edges)) = (roles::owner(touched.summaries), roles::owner(touched.edges)) else { return };
    let (summaries, edges) = (Datum::from(touched.summaries), Datum::from(touched.edges));
    // SAFETY: the caller's promise; arguments of these types.
    unsafe {
        let changed = || single(&touched.statement, []);
        let changed = if touched.of_summaries { trust::as_role(owner, 0, changed) } else { changed() };
        let Some(entities) = changed else { return };
        run::<2, 1>(
            c"SELECT cftrag_internal.cft_rollup_write($1, $2)",
            [(REGCLASSOID, summaries), (TEXTARRAYOID, entities)],
        );
        let due = trust::as_role(of_edges, 0, || {
            let arguments = [(TEXTARRAYOID, entities), (REGCLASSOID, edges), (BOOLOID, touched.twice)];
            single(c"SELECT cftrag_internal.cft_rollup_due($1, $2, $3)", arguments)
        });
        let Some(due) = due else { return };
        trust::as_role(owner, 0, || {
            let arguments = [(REGCLASSOID, summaries), (NAMEOID, touched.entity), (TEXTARRAYOID, due)];
            run::<3, 1>(c"SELECT cftrag_internal.cft_rollup_insert($1, $2, $3)", arguments);
        });
    }
}

/// The first column of the first row.
///
/// # Safety
/// As run().
unsafe fn single<const N: usize>(sql: &CStr, arguments: [(Oid, Datum); N]) -> Option<Datum> {
    // SAFETY: the caller's promise.
    unsafe { run::<N, 1>(sql, arguments) }.first().and_then(|row| row[0])
}

/// The rows of a query that sees what this statement has changed. What they point to lives until SPI is finished.
///
/// # Safety
/// SPI is connected; a SELECT of C columns, whose parameters have these types.
unsafe fn run<const N: usize, const C: usize>(sql: &CStr, arguments: [(Oid, Datum); N]) -> Vec<[Option<Datum>; C]> {
    let (mut types, mut values) = (arguments.map(|a| a.0), arguments.map(|a| a.1));
    error_context::with_error_context(Some(sql), || {
        // SAFETY: the caller's promise.
        unsafe {
            let (types, values, nulls) = (types.as_mut_ptr(), values.as_mut_ptr(), std::ptr::null());
            let code = pg_sys::SPI_execute_with_args(sql.as_ptr(), N as i32, types, values, nulls, false, 0);
            assert_eq!(code, pg_sys::SPI_OK_SELECT as i32, "it is a SELECT");
            let table = pg_sys::SPI_tuptable;
            let row = |n: usize| {
                std::array::from_fn(|column| {
                    let mut null = false;
                    let value =
                        pg_sys::SPI_getbinval(*(*table).vals.add(n), (*table).tupdesc, column as i32 + 1, &mut null);
                    (!null).then_some(value)
                })
            };
            (0..pg_sys::SPI_processed as usize).map(row).collect()
        }
    })
}
