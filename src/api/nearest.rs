//! What cft_nearest_documents and cft_nearest_entities run: a statement over the table (cft_statement), its plan kept in the session.
//!
//! They return k rows if there are that many. pgvector's index scans continue where they would otherwise end (iterative scans, 0.8 and later); if
//! rows are still missing, all distances are compared.

#![expect(unsafe_code, reason = "settings of another extension, a tuplestore")]

use crate::api::statement_cache::statement;
use crate::call::fmgr::Call;
use crate::catalog::statement::Statement;
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::serve::plans::{Planning, run_into, with_settings};
use pgrx::prelude::*;
use std::ffi::CStr;

/// Settings of pgvector that a search changes from off to relaxed_order. Rows then come nearly in the order of their distances and are sorted at the
/// end, which finds more of the nearest than strict_order in the same time.
const GOES_ON: [&CStr; 2] = [c"hnsw.iterative_scan", c"ivfflat.iterative_scan"];

/// `cft_nearest_documents(embedding vector, k int, edges regclass, trees text[], within text[], documents regclass,
/// filter jsonb) -> table(document_id, entity, body, tokens, distance)`. SET search_path.
///
/// NULL embedding or k: no rows. Errors: 22023 (a negative k, a filter that is no object), 55000 (no entities, or no metadata, attached); those of
/// cft_attached_documents, of cft_under and of the distance operator.
#[pg_extern(sql = false)]
fn cft_nearest_documents(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    search(&call, "nearest", call.oid(5), call.arg(6))
}

/// `cft_nearest_embeddings(embedding vector, k int, edges regclass, trees text[], within text[]) -> table(entity, distance, score, label)`: of the
/// table of cft_attach_embeddings. SET search_path. Errors: those of cft_nearest_documents.
#[pg_extern(sql = false)]
fn cft_nearest_embeddings(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    search(&call, "embeddings", call.oid(2), None)
}

/// Arguments of the call: embedding, k, edges, trees, within. `table`: the one that cft_statement is asked about.
fn search(call: &Call, what: &str, table: Option<pg_sys::Oid>, filter: Option<pg_sys::Datum>) -> Fallible<()> {
    let rows = call.rows();
    let statement = |what: &str| statement(what.as_bytes(), table.unwrap_or(pg_sys::InvalidOid), call.function());
    if let Some(filter) = filter {
        if !is_object(filter) {
            return Err(error::filter_is_no_object());
        }
        // Called for its errors: they are raised without an embedding, too.
        statement(&format!("{what} 0 filter"));
    }
    let (Some(embedding), Some(k)) = (call.arg(0), call.int(1)) else { return Ok(()) };
    if k < 0 {
        return Err(error::negative("k", k));
    }
    check_dimensions(embedding, &statement(&format!("{what} dimensions")))?;
    let within = call.arg(4);
    let what = [
        format!("{what} {k}"),
        if within.is_some() { " within".into() } else { String::new() },
        if filter.is_some() { " filter".into() } else { String::new() },
    ]
    .concat();
    let vector = call.argument_types()[0];
    let values = [
        (vector, Some(embedding)),
        (pg_sys::TEXTARRAYOID, within),
        (pg_sys::REGCLASSOID, call.oid(2).map(pg_sys::Datum::from)),
        (pg_sys::JSONBOID, filter),
        (pg_sys::TEXTARRAYOID, call.arg(3)),
    ];
    let is_bounded = within.is_some() || filter.is_some();
    // `within` may select few rows or many: plan for the values.
    let planning = if is_bounded { Planning::Custom } else { Planning::Generic(0) };
    let run = |what: &str| {
        run_into(&Statement::over(&encoding::decode(&statement(what)), &[]), planning, &values, rows.store())
    };
    // SAFETY: the call's own tuplestore.
    let forget = || unsafe { pg_sys::tuplestore_clear(rows.store()) };
    // One row more than k says that there are ties at the end.
    let found = |what: &str| {
        let found = run(what);
        if found <= k as u64 {
            return found;
        }
        forget();
        run(&format!("{what} ties"))
    };
    let is_short = |found: u64| {
        let is_short = found < k as u64;
        if is_short {
            forget();
        }
        is_short
    };
    // An iterative scan costs a little more from its start, so an unbounded search is first tried without.
    if is_bounded || is_short(found(&what)) {
        let is_short_still = is_short(going_on(vector, || found(&what)));
        if is_short_still {
            found(&format!("{what} exactly"));
        }
    }
    Ok(())
}

/// `cft_check_dimensions(embedding vector, declared text)`. STRICT. Errors: 22000 if the column has other dimensions.
#[pg_extern(sql = false)]
fn cft_check_dimensions(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo, whose arguments SQL declares.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(embedding), Some(declared)) = (call.arg(0), call.text(1)) else { return Ok(()) };
    check_dimensions(embedding, declared)
}

/// 22000 if the column that is searched has other dimensions. `declared`: what cft_dimensions says.
fn check_dimensions(embedding: pg_sys::Datum, declared: &[u8]) -> Fallible<()> {
    let declared = encoding::decode(declared);
    let Some((wanted, column)) = declared.split_once(' ') else { return Ok(()) };
    // SAFETY: SQL declares the argument vector, which begins with its dimensions (pgvector's vector.h).
    let given = unsafe {
        let value = pg_sys::pg_detoast_datum(embedding.cast_mut_ptr());
        pgrx::vardata_any(value).cast::<i16>().read_unaligned()
    };
    match wanted.parse::<i32>() {
        Ok(wanted) if wanted > 0 && wanted != i32::from(given) => Err(error::dimensions_differ(given, wanted, column)),
        _ => Ok(()),
    }
}

/// Whether a jsonb is an object.
fn is_object(filter: pg_sys::Datum) -> bool {
    // SAFETY: SQL declares the argument jsonb, which begins with its root's header (utils/jsonb.h).
    unsafe {
        let value = pg_sys::pg_detoast_datum(filter.cast_mut_ptr());
        let header = pgrx::vardata_any(value).cast::<u32>().read_unaligned();
        header & pg_sys::JB_FOBJECT != 0
    }
}

/// Runs a search with iterative index scans, which continue until they have enough rows.
fn going_on<T>(vector: pg_sys::Oid, work: impl FnOnce() -> T) -> T {
    let is_off = |setting: &&CStr| {
        // SAFETY: reads a setting, which an older pgvector does not have.
        unsafe {
            let current = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
            !current.is_null() && CStr::from_ptr(current) == c"off"
        }
    };
    // SAFETY: looking up the type's input function loads pgvector, which defines the settings.
    unsafe {
        let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::getTypeInputInfo(vector, &mut input, &mut parameter);
        pg_sys::fmgr_info(input, &mut pg_sys::FmgrInfo::default());
    }
    let settings: Vec<_> = GOES_ON.into_iter().filter(is_off).map(|setting| (setting, c"relaxed_order")).collect(); // bounded: a few settings
    with_settings(&settings, work)
}
