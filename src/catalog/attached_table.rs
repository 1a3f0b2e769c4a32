//! The table that a call means, opened: the one that it names, or the one that is meant where none is named.
//!
//! Every function that answers from an attached table begins here. It takes AccessShareLock, asks for SELECT on the columns, reads the
//! registration, and checks that the columns are still what they were. Nothing here knows of images.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::call::fmgr::Call;
use crate::catalog::columns::Columns;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::{Functions, Registration};
use crate::catalog::{default_table, name, registration_cache, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::plain;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// An attached table that a call asks about: opened, its registration under the caller's snapshot, its columns.
pub struct AttachedTable {
    pub table: EdgesTable,
    pub registration: Rc<Registration>,
    pub columns: Columns,
    pub functions: Functions,
}

impl AttachedTable {
    /// The table of argument `n`, or where it is left out the one that is [`meant`]. Errors: 42P01, 42809, 42703, 55000 (not attached), and
    /// where several are meant 42725.
    pub fn open(call: &Call, n: usize) -> Fallible<Self> {
        Self::of(call.function(), call.oid(n))
    }

    /// The table that a call of a function of ours means with its argument `edges`.
    pub fn of(function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Self> {
        let functions = Functions::beside(function);
        // SAFETY: a snapshot is active in every SQL function.
        let snapshot = unsafe { plain::GetActiveSnapshot() };
        let table = match edges {
            Some(table) => EdgesTable::open(table)?,
            None => open_meant(snapshot, functions)?,
        };
        // SAFETY: the active snapshot.
        let registration = match unsafe { registration_cache::read_once(table.oid(), snapshot, functions) } {
            Some(registration) => registration,
            // An older snapshot may not see an attach that is committed now: the columns are known, the image is not for it.
            None => match crate::catalog::registration::read(table.oid(), std::ptr::null_mut(), functions) {
                Some(now) => Rc::new(Registration { sound: false, ..now }),
                None => return Err(error::not_attached(&name::display_name(table.oid()))),
            },
        };
        let columns = registration_cache::columns(&table, &registration)?;
        Ok(Self { table, registration, columns, functions })
    }

    pub fn oid(&self) -> pg_sys::Oid {
        self.table.oid()
    }
}

/// The table that [`meant`] chooses. One that was dropped while its lock was waited for is not it: it is chosen again, as a name would be.
fn open_meant(snapshot: pg_sys::Snapshot, functions: Functions) -> Fallible<EdgesTable> {
    loop {
        if let Ok(table) = EdgesTable::open(default_edges_table(snapshot, functions)?) {
            return Ok(table);
        }
        check_for_interrupts!();
        registration_cache::forget_default_table();
    }
}

/// The table that a call without `edges` means: that of cftrag.edges, else the only attached one of an owner whom the caller trusts.
pub fn default_edges_table(snapshot: pg_sys::Snapshot, functions: Functions) -> Fallible<pg_sys::Oid> {
    if let Some(chosen) = default_table::edges()? {
        return Ok(chosen);
    }
    let others = RefCell::new(Vec::new());
    let usable = |table| {
        let readable = readable(table);
        let trusted = readable && trust::trusts(table);
        if readable && !trusted {
            others.borrow_mut().push(table);
        }
        trusted
    };
    let names = |tables: &[pg_sys::Oid]| tables.iter().map(|t| name::full_name(*t)).collect::<Vec<_>>();
    // SAFETY: the active snapshot.
    match unsafe { registration_cache::only_attached(snapshot, functions, usable) } {
        Ok(only) => Ok(only),
        Err(none) if none.is_empty() && others.borrow().is_empty() => Err(error::none_attached()),
        Err(none) if none.is_empty() => Err(error::untrusted_attached(&names(&others.borrow()))),
        Err(several) => Err(error::several_attached(&names(&several))),
    }
}

/// USAGE on the schema, and SELECT on the table or on some column of it.
pub fn readable(table: pg_sys::Oid) -> bool {
    // SAFETY: system cache lookups by OID; a table that is gone gives InvalidOid or no privilege.
    unsafe {
        let role = pg_sys::GetUserId();
        let schema = pg_sys::get_rel_namespace(table);
        let select = pg_sys::ACL_SELECT as pg_sys::AclMode;
        let ok = pg_sys::AclResult::ACLCHECK_OK;
        schema != pg_sys::InvalidOid
            && crate::pg::compat::schema_usage(schema, role)
            && (pg_sys::pg_class_aclcheck(table, role, select) == ok
                || pg_sys::pg_attribute_aclcheck_all(table, role, select, pg_sys::AclMaskHow::ACLMASK_ANY) == ok)
    }
}
