//! cft_kept_statement: what cft_statement makes of the catalogs, kept until something in them changes.
//!
//! Finding a table of documents, its columns and its operator of distance takes a few hundred microseconds of catalog queries, which is as
//! much as the search itself. A kept text is as good as a kept plan: anything that could change it (a relation, trigger, privilege, role,
//! schema, type or operator) sends an invalidation (changes.rs), and then all of them are forgotten.

#![expect(unsafe_code, reason = "calls another function of the extension")]

use crate::changes;
use crate::error::Fallible;
use crate::fmgr::{Call, text_bytes};
use pgrx::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;

/// Statement wanted, table, role, row_security, cft_kept_statement's own OID (the extension may be made anew).
type Key = (Vec<u8>, Option<u32>, u32, bool, u32);

/// Statements as of a number of changes of the catalogs.
type Kept = (u64, HashMap<Key, Vec<u8>>);

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::new((0, HashMap::new()));
}

/// More than these are not kept.
const MOST: usize = 256;

/// `cft_kept_statement(what text, documents regclass) -> text`: cft_statement's answer. Errors: cft_statement's; none is kept.
#[pg_extern(sql = false)]
fn cft_kept_statement(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(what) = call.arg(0) else { return Ok(None) };
    // SAFETY: SQL declares the argument text; reads backend variables; what others changed is heard of here.
    let key: Key = unsafe {
        pg_sys::AcceptInvalidationMessages();
        let table = call.oid(1).map(u32::from);
        (text_bytes(what).to_vec(), table, pg_sys::GetUserId().into(), pg_sys::row_security, call.function().into())
    };
    let epoch = changes::catalogs();
    let known = |(of, all): &Kept| if *of == epoch { all.get(&key).cloned() } else { None };
    if let Some(kept) = KEPT.with_borrow(known) {
        return Ok(Some(kept));
    }
    // SAFETY: reads backend state; a text value; a snapshot pushed and popped (an ERROR's abort pops it). It is one of now: what an older
    // one does not see yet sends no invalidation any more. A parallel worker may take none, and keeps nothing.
    let (made, keep) = unsafe {
        let now = !pg_sys::IsInParallelMode();
        if now {
            pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        }
        let made = text_bytes(make(&call, what)).to_vec();
        if now {
            pg_sys::PopActiveSnapshot();
        }
        // What changed while it was made is not known to be in it.
        (made, now && changes::catalogs() == epoch)
    };
    if keep {
        KEPT.with_borrow_mut(|(of, all)| {
            if *of != epoch || all.len() >= MOST {
                all.clear();
            }
            *of = epoch;
            all.insert(key, made.clone());
        });
    }
    Ok(Some(made))
}

/// Calls cft_statement, which stands beside the function that is called.
fn make(call: &Call, what: pg_sys::Datum) -> pg_sys::Datum {
    let types = [pg_sys::TEXTOID, pg_sys::REGCLASSOID];
    // SAFETY: system cache lookups; a call of the function of that name and these argument types, which never returns NULL.
    unsafe {
        let schema = pg_sys::get_func_namespace(call.function());
        let argument_types = pg_sys::buildoidvector(types.as_ptr(), types.len() as i32);
        let function = pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
            pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(c"cft_statement".as_ptr()),
            pg_sys::Datum::from(argument_types),
            pg_sys::Datum::from(schema),
            pg_sys::Datum::from(0usize),
        );
        let table = call.oid(1).unwrap_or(pg_sys::InvalidOid);
        pg_sys::OidFunctionCall2Coll(function, pg_sys::InvalidOid, what, pg_sys::Datum::from(table))
    }
}
