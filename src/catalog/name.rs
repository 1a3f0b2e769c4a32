//! Names of relations and schemas, for SQL that we make and for messages that users read.
//!
//! Each function says whether it always quotes, or only where SQL needs it. A relation that is gone is named by its
//! OID; no error is raised.

use crate::pg::{encoding, lookup};
use pgrx::pg_sys;

/// An identifier as SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as SQL, whatever standard_conforming_strings is.
pub fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

pub fn qualified_name(schema: pg_sys::Oid, name: &str) -> String {
    // It may have been dropped in between.
    format!("{}.{}", quote(&lookup::schema_name(schema).unwrap_or_default()), quote(name))
}

/// `schema.table` for messages and hints (quoted where SQL needs it), or the OID's digits if it is gone.
pub fn display_name(table: pg_sys::Oid) -> String {
    encoding::shown(&lookup::oid_as_text(pg_sys::F_REGCLASSOUT, table))
}

/// `schema.table`, quoted where SQL needs it, under any search_path; the OID's digits if it is gone.
pub fn full_name(table: pg_sys::Oid) -> String {
    let schema = lookup::schema_name(lookup::get_rel_namespace(table));
    match schema.zip(lookup::relation_name(table)) {
        Some((schema, name)) => encoding::shown(&[schema, name].map(|part| lookup::quoted(&part)).join(".")),
        None => u32::from(table).to_string(),
    }
}
