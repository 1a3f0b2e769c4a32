//! A statement over tables that were given by OID, and means those tables.
//!
//! Its text names them. PostgreSQL looks the names up when it analyses the text, which is later, and again after whatever made a kept plan
//! invalid. Our lock on a table keeps it from being renamed or moved; nothing keeps its schema from being renamed, and another from getting
//! that name: then the text means somebody else's table, whose policies would run with the rights of a caller who never named it. So after
//! each analysis, before anything of the tables is evaluated, it is looked at which tables were found.
//!
//! And PostgreSQL asks for USAGE on a schema only when it analyses. A plan is kept for all roles of a session, so we ask at each call.

#![expect(unsafe_code, reason = "a hook of the parser")]

use crate::catalog::edges_table::EdgesTable;
use crate::error;
use crate::pg::{compat, encoding};
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::ptr::null;

thread_local! {
    static NEXT: Cell<pg_sys::post_parse_analyze_hook_type> = const { Cell::new(None) };
    /// The statement that is being run, the innermost.
    static NOW: Cell<*const Statement> = const { Cell::new(null()) };
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: a function that lives as long as the library, which is never unloaded.
    unsafe {
        NEXT.set(pg_sys::post_parse_analyze_hook);
        pg_sys::post_parse_analyze_hook = Some(analysed);
    }
}

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

    /// Plans and runs it: `work` does. Raises 40001 if the text does not mean these tables now.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let _before = Before(NOW.replace(self));
        work()
    }
}

/// What was being run before.
struct Before(pub *const Statement);

impl Drop for Before {
    fn drop(&mut self) {
        NOW.set(self.0);
    }
}

/// Every statement comes by: no guard, as in pg/open_relations.rs.
unsafe extern "C-unwind" fn analysed(
    state: *mut pg_sys::ParseState,
    query: *mut pg_sys::Query,
    jumble: *mut pg_sys::JumbleState,
) {
    // SAFETY: the parser's arguments; what is being run lives until Before puts back what was.
    unsafe {
        if let Some(statement) = NOW.get().as_ref()
            && !(*state).p_sourcetext.is_null()
            && CStr::from_ptr((*state).p_sourcetext) == statement.sql()
        {
            check(query, statement);
        }
        if let Some(next) = NEXT.get() {
            next(state, query, jumble);
        }
    }
}

/// Raises if the query is over other tables than the statement.
#[pg_guard]
unsafe extern "C-unwind" fn check(query: *mut pg_sys::Query, statement: *const Statement) {
    // SAFETY: a query as analysed; palloc'd lists of OIDs and of what is not looked at.
    unsafe {
        let (mut tables, mut items, mut policies) = (std::ptr::null_mut(), std::ptr::null_mut(), false);
        pg_sys::extract_query_dependencies(query.cast(), &mut tables, &mut items, &mut policies);
        let found = pgrx::PgList::<std::ffi::c_void>::from_pg(tables);
        let mut found = (0..found.len()).filter_map(|i| found.get_oid(i));
        if found.any(|table| !(*statement).tables.contains(&table)) {
            error::renamed_beside().report(PgLogLevel::ERROR);
        }
    }
}
