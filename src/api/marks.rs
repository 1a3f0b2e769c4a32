//! What becomes due by a change is found and written with the rights of the owner of the summaries, as a foreign key's check runs with those of
//! a table's: so a writer of edges needs no right on the summaries, and runs nothing that their owner has made (triggers, defaults, indexes' expressions).
//!
//! What is written, and for whom it may be, is in SQL (sql/install/marks.sql): cft_rollup_tell, cft_may_mark, cft_rollup_put.

#![expect(unsafe_code, reason = "calls other functions of the extension")]

use crate::call::fmgr::Call;
use crate::catalog::{name, registration, roles, trust};
use crate::error;
use crate::error::Fallible;
use crate::ffi::pg_guard_ffi_boundary;
use pgrx::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// The tables whose changes are being told at this moment, the innermost last.
    static WRITTEN: RefCell<Vec<pg_sys::Oid>> = const { RefCell::new(Vec::new()) };
}

/// Its table is being told of, as long as this lives.
struct Told;

impl Told {
    fn of(table: pg_sys::Oid) -> Told {
        WRITTEN.with_borrow_mut(|written| written.push(table));
        Told
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        WRITTEN.with_borrow_mut(|written| written.pop());
    }
}

/// `cft_rollup_changed() -> trigger`: after each statement that changes an edges table with summaries, or their documents, through a view or not. What it
/// does is cft_rollup_tell. Errors: 39P01; those of reading the change, and of the INSERT.
#[pg_extern(sql = false)]
fn cft_rollup_changed(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let trigger = (unsafe { Call::new(fcinfo) }).trigger();
    let trigger = trigger.ok_or_else(|| error::not_our_trigger("cft_rollup_changed"))?;
    // SAFETY: the trigger manager's data is valid during the call, and is what a trigger function in SQL is called with.
    unsafe {
        let _told = Told::of((*(*trigger).tg_relation).rd_id);
        let mut info = pg_sys::FmgrInfo::default();
        pg_sys::fmgr_info(registration::internal_function(c"cft_rollup_tell", &[]), &mut info);
        let function = info.fn_addr.ok_or_else(|| error::not_our_trigger("cft_rollup_changed"))?;
        let mut call = pg_sys::FunctionCallInfoBaseData {
            flinfo: &mut info,
            context: trigger.cast(),
            ..pg_sys::FunctionCallInfoBaseData::default()
        };
        // It reads the change as the owner of the table, with a search_path of its own; what it remembers, in a setting, is to stay.
        let owner = (*(*(*trigger).tg_relation).rd_rel).relowner;
        trust::as_user(owner, 0, || pg_guard_ffi_boundary(|| function(&mut call)));
    }
    Ok(())
}

/// `cft_rollup_insert(summaries regclass, entity name, entities text[], twice boolean, edges regclass, everything boolean, written regclass) -> void`
///
/// STRICT. Errors: 42501 unless a change of `written`, these edges or the documents of these summaries, is being told, or the caller could make one, or
/// may write to the summaries; those of the INSERT.
#[pg_extern(sql = false)]
fn cft_rollup_insert(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let given: Option<Vec<pg_sys::Datum>> = (0..7).map(|i| call.arg(i)).collect();
    let (Some(given), Some(summaries), Some(written)) = (given, call.oid(0), call.oid(6)) else { return Ok(()) };
    let (class, text, texts, truth) = (pg_sys::REGCLASSOID, pg_sys::NAMEOID, pg_sys::TEXTARRAYOID, pg_sys::BOOLOID);
    let may = registration::internal_function(c"cft_may_mark", &[class, text, class, class, truth]);
    let put = registration::internal_function(c"cft_rollup_put", &[class, text, texts, truth, class, truth]);
    let told = WRITTEN.with_borrow(|tables| tables.contains(&written));
    let none = pg_sys::InvalidOid;
    // SAFETY: a function of these argument types, none of which is null.
    let may = unsafe { pg_sys::OidFunctionCall5Coll(may, none, given[0], given[1], given[4], given[6], told.into()) };
    let Some(owner) = roles::owner(summaries).filter(|_| may.value() != 0) else {
        return Err(error::may_not_mark(&name::display_name(summaries)));
    };
    // SAFETY: as above.
    trust::as_role(owner, 0, || unsafe {
        pg_sys::OidFunctionCall6Coll(put, none, given[0], given[1], given[2], given[3], given[4], given[5])
    });
    Ok(())
}
