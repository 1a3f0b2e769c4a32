//! cft_kept_statement: caches what cft_statement derives from the catalogs, until something in them changes.
//!
//! Finding a table of documents, its columns and its distance operator takes a few hundred microseconds of catalog queries, as
//! much as the search itself. A cached text is as safe as a cached plan: any change that could affect it (a relation, trigger, privilege, role,
//! schema, type or operator) sends an invalidation (pg/invalidation.rs), which empties the cache.

#![expect(unsafe_code, reason = "calls another function of the extension")]

use crate::call::fmgr::{Call, text_bytes, text_datum};
use crate::catalog::registration;
use crate::pg::invalidation::Cached;
use crate::pg::{error_context, invalidation};
use pgrx::prelude::*;

/// Statement wanted, table, role, row_security, the OID of the function that wants it (the extension may be recreated).
type Key = (Vec<u8>, u32, u32, bool, u32);

/// Statements cached.
const MOST: usize = 256;

thread_local! {
    static KEPT: Cached<Key, Vec<u8>> = const { Cached::new(MOST, invalidation::catalogs) };
}

/// `cft_kept_statement(what text, documents regclass) -> text`: cft_statement's answer. STRICT. Errors: cft_statement's; they are not cached.
#[pg_extern(sql = false)]
fn cft_kept_statement(fcinfo: pg_sys::FunctionCallInfo) -> Option<Vec<u8>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (what, table) = (call.text(0)?, call.oid(1)?);
    Some(statement(what, table, call.function()))
}

/// Longer than each word for a statement.
const LONGEST: usize = 64;

/// cft_statement's answer. `function`: the OID of one of the extension's functions, which changes when the extension is recreated.
pub fn statement(what: &[u8], table: pg_sys::Oid, function: pg_sys::Oid) -> Vec<u8> {
    // Not one of our words: there is no statement to keep.
    if what.len() > LONGEST {
        return made_now(text_datum(what), table).0;
    }
    // SAFETY: reads backend variables; processes invalidations.
    let key: Key = unsafe {
        pg_sys::AcceptInvalidationMessages();
        (what.to_vec(), table.into(), pg_sys::GetUserId().into(), pg_sys::row_security, function.into()) // bounded: a word of ours
    };
    let epoch = invalidation::catalogs();
    if let Some(kept) = KEPT.with(|all| all.known(epoch, &key)) {
        return kept;
    }
    let (made, is_latest) = made_now(text_datum(what), table);
    // The answer may miss what changed while it was made: then do not cache it.
    if is_latest && invalidation::catalogs() == epoch {
        KEPT.with(|all| all.keep(epoch, key, made.clone()));
    }
    made
}

/// cft_statement's answer, and whether it was made under a snapshot of now. An older snapshot may miss a change whose invalidation has already been
/// processed, so an answer made under it must not be cached.
fn made_now(what: pg_sys::Datum, table: pg_sys::Oid) -> (Vec<u8>, bool) {
    // SAFETY: reads backend state; a text value; a snapshot pushed and popped (an ERROR's abort pops it). A parallel worker may take none.
    unsafe {
        let now = !pg_sys::IsInParallelMode();
        if now {
            pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        }
        let made = text_bytes(error_context::with_error_context(None, || make(what, table))).to_vec(); // bounded: a statement of ours
        if now {
            pg_sys::PopActiveSnapshot();
        }
        (made, now)
    }
}

/// Calls cft_statement.
fn make(what: pg_sys::Datum, table: pg_sys::Oid) -> pg_sys::Datum {
    let types = [pg_sys::TEXTOID, pg_sys::REGCLASSOID];
    // SAFETY: a call of the function of that name and these argument types, which never returns NULL.
    unsafe {
        let function = registration::internal_function(c"cft_statement", &types);
        pg_sys::OidFunctionCall2Coll(function, pg_sys::InvalidOid, what, pg_sys::Datum::from(table))
    }
}
