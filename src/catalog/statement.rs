//! A statement over tables that were given by OID: its text names them, as the catalogs have them now.
//!
//! PostgreSQL asks for USAGE on a schema only when it analyses a statement. A plan is kept for all roles of a session, so we ask at each call.

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_schema_usage;
use crate::catalog::trust;
use crate::pg::encoding;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// A text, and the tables that it names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    sql: CString,
    tables: Vec<pg_sys::Oid>,
    /// Made past forced row-level security: its plan is nobody else's, and PostgreSQL's own check of a plan's age does not tell.
    no_force: bool,
}

impl Statement {
    /// Raises 42501 if the caller has no USAGE on the schema of one of them.
    pub fn over(sql: &str, tables: &[&EdgesTable]) -> Self {
        let Ok(sql) = CString::new(encoding::encode(sql)) else {
            unreachable!("identifiers come from the catalog and have no NUL");
        };
        for table in tables {
            require_schema_usage(table.schema());
        }
        Self {
            sql,
            tables: tables.iter().map(|table| table.oid()).collect(),
            no_force: trust::is_past_forced_policies(),
        }
    }

    pub fn sql(&self) -> &CStr {
        &self.sql
    }
}
