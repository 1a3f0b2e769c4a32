//! Names of relations and schemas, for SQL that we make and for messages that users read.
//!
//! Each function says whether it always quotes, or only where SQL needs it. A relation that is gone is named by its
//! OID; no error is raised.

#![expect(unsafe_code, reason = "reads the relation cache")]

use crate::pg::encoding;
use pgrx::pg_sys;
use std::ffi::CStr;

/// An identifier as SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as SQL, whatever standard_conforming_strings is.
pub fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

pub fn qualified_name(schema: pg_sys::Oid, name: &str) -> String {
    format!("{}.{}", schema_name(schema), quote(name))
}

/// A schema as SQL.
fn schema_name(schema: pg_sys::Oid) -> String {
    // SAFETY: a system cache lookup; null when the schema was dropped in between.
    unsafe {
        let text = pg_sys::get_namespace_name(schema);
        quote(&if text.is_null() { String::new() } else { encoding::decode(CStr::from_ptr(text).to_bytes()) })
    }
}

/// A relation's name without its schema; None if it is gone.
pub fn own_name(table: pg_sys::Oid) -> Option<String> {
    // SAFETY: a system cache lookup; null where there is none.
    unsafe {
        let name = pg_sys::get_rel_name(table);
        (!name.is_null()).then(|| encoding::decode(CStr::from_ptr(name).to_bytes()))
    }
}

/// `schema.table` for messages and hints (quoted where SQL needs it), or the OID's digits if it is gone.
pub fn display_name(table: pg_sys::Oid) -> String {
    // SAFETY: calls regclassout, which never raises for an unknown OID.
    unsafe {
        let text = pg_sys::OidOutputFunctionCall(pg_sys::Oid::from(pg_sys::F_REGCLASSOUT), pg_sys::Datum::from(table));
        encoding::shown(&encoding::decode(CStr::from_ptr(text).to_bytes()))
    }
}

/// `schema.table`, quoted where SQL needs it, under any search_path; the OID's digits if it is gone.
pub fn full_name(table: pg_sys::Oid) -> String {
    // SAFETY: system cache lookups; palloc'd C strings, null where there is none.
    unsafe {
        let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
        let name = pg_sys::get_rel_name(table);
        if schema.is_null() || name.is_null() {
            return u32::from(table).to_string();
        }
        let full = pg_sys::quote_qualified_identifier(schema, name);
        encoding::shown(&encoding::decode(CStr::from_ptr(full).to_bytes()))
    }
}

/// An identifier, quoted where SQL needs it.
pub fn display_identifier(name: &str) -> String {
    let Ok(text) = std::ffi::CString::new(encoding::encode(name)) else { return name.into() };
    // SAFETY: a C string, which lives as long as its quoted form is read.
    unsafe { encoding::decode(CStr::from_ptr(pg_sys::quote_identifier(text.as_ptr())).to_bytes()) }
}
