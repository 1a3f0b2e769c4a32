//! A statement over tables given by OID: its text has their current names.
//!
//! PostgreSQL checks USAGE on a schema only when it analyses a statement. A session caches a plan for all its roles, so
//! we check at each call.

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_schema_usage;
use crate::catalog::trust;
use crate::pg::encoding;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// The text of a statement, and the tables that it names.
#[derive(Clone, PartialEq, Eq)]
pub struct Statement {
    sql: Rc<CStr>,
    /// Of the text, which may be of some thousand bytes.
    hash: u64,
    tables: Vec<pg_sys::Oid>,
    /// Whether it is prepared past forced row-level security. Such a plan serves no other caller, and PostgreSQL's
    /// revalidation does not notice the difference.
    no_force: bool,
}

impl Hash for Statement {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.hash, self.no_force).hash(state);
    }
}

impl Statement {
    /// A statement over these tables. Raises 42501 if the caller lacks USAGE on the schema of one of them.
    pub fn over(sql: &str, tables: &[&EdgesTable]) -> Self {
        let Ok(sql) = CString::new(encoding::encode(sql)) else {
            unreachable!("identifiers come from the catalog and have no NUL");
        };
        for table in tables {
            require_schema_usage(table.schema());
        }
        Self {
            hash: BuildHasherDefault::<DefaultHasher>::default().hash_one(&sql),
            sql: sql.into(),
            tables: tables.iter().map(|table| table.oid()).collect(),
            no_force: trust::is_past_forced_policies(),
        }
    }

    pub fn sql(&self) -> &CStr {
        &self.sql
    }
}
