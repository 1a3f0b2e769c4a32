//! A statement over tables that were given by OID: its text names them, as the catalogs have them now.
//!
//! PostgreSQL asks for USAGE on a schema only when it analyses a statement. A plan is kept for all roles of a session, so we ask at each call.

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::catalog::edges_table::EdgesTable;
use crate::pg::{compat, encoding};
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// A text, and the tables that it names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    sql: CString,
    tables: Vec<pg_sys::Oid>,
}

impl Statement {
    /// Raises 42501 if the caller has no USAGE on the schema of one of them.
    pub fn over(sql: &str, tables: &[&EdgesTable]) -> Self {
        let Ok(sql) = CString::new(encoding::encode(sql)) else {
            unreachable!("identifiers come from the catalog and have no NUL");
        };
        for table in tables {
            // SAFETY: reads a backend variable; the schema of an open table has a name.
            unsafe {
                let schema = table.schema();
                if !compat::schema_usage(schema, compat::plain::GetUserId()) {
                    let no = pg_sys::AclResult::ACLCHECK_NO_PRIV;
                    pg_sys::aclcheck_error(no, pg_sys::ObjectType::OBJECT_SCHEMA, pg_sys::get_namespace_name(schema));
                }
            }
        }
        Self { sql, tables: tables.iter().map(|table| table.oid()).collect() }
    }

    pub fn sql(&self) -> &CStr {
        &self.sql
    }
}
