//! cft_meant_edges and cft_meant_documents: the table that a call means if it names none. cft_counts and cft_as_text:
//! the rules of trust (catalog/trust.rs, catalog/column_sql.rs), for SQL that attaches and reads tables.

use crate::call::fmgr;
use crate::call::fmgr::{Call, text_value};
use crate::catalog::registration::Functions;
use crate::catalog::{column_sql, registration_cache, trust};
use crate::error::Fallible;
use crate::pg::{encoding, lookup};
use pgrx::Internal;
use pgrx::prelude::*;

/// `cft_as_text(value text, relation regclass, column_name name) -> text`: SQL that gives a value of the column, which
/// is given as SQL, as text. STRICT; NULL if there is no such column.
#[pg_extern(sql = false)]
fn cft_as_text(call: Call) -> Fallible<Internal> {
    let (Some(value), Some(table), Some(name)) = (call.text(0), call.oid(1), fmgr::name(&call, 2)) else {
        return Ok(Internal::from(None));
    };
    let type_oid = lookup::get_atttype(table, lookup::column_number(table, &name));
    // getBaseType raises XX000 for no type.
    if type_oid == pg_sys::InvalidOid {
        return Ok(Internal::from(None));
    }
    let sql = column_sql::as_text(&encoding::decode(value), u32::from(lookup::getBaseType(type_oid)));
    Ok(Internal::from(Some(text_value(&encoding::encode(&sql))?)))
}

/// `cft_counts(relation regclass, other regclass) -> boolean`: whether the owner of `relation` may say that it belongs
/// to `other`. STRICT; false if one of the tables is gone.
#[pg_extern(sql = false)]
fn cft_counts(call: Call) -> bool {
    matches!((call.oid(0), call.oid(1)), (Some(table), Some(other)) if trust::counts_beside(table, other))
}

/// `cft_meant_edges(edges regclass) -> regclass`: the named table; if none is named, the only attached table that the
/// caller may read and that search_path shows; 0 if there is not exactly one. SQL calls it before a function of ours
/// sets its own search_path.
#[pg_extern(sql = false)]
fn cft_meant_edges(call: Call) -> i32 {
    meant(call, |functions| functions.capture)
}

/// `cft_meant_documents(documents regclass) -> regclass`: like cft_meant_edges, for the tables of cft_attach_documents.
#[pg_extern(sql = false)]
fn cft_meant_documents(call: Call) -> i32 {
    meant(call, Functions::documents)
}

/// Returns the 32 bits of an OID, because pgrx turns an Oid of 0 into NULL.
fn meant(call: Call, registered_by: impl Fn(Functions) -> pg_sys::Oid) -> i32 {
    let table = call.oid(0).unwrap_or_else(|| {
        let functions = Functions::beside(call.function());
        let found = registration_cache::only_registered(registered_by(functions), functions);
        found.unwrap_or(pg_sys::InvalidOid)
    });
    u32::from(table) as i32
}
