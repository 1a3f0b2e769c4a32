//! The attached table that a call asks about, opened: the one that it names, or the default if it names none.
//!
//! Every function that answers from an attached table begins here. It takes AccessShareLock, asks for SELECT on the
//! columns, reads the registration, and checks that the columns are still what they were. This file knows nothing of
//! images.

use crate::call::fmgr::Call;
use crate::catalog::attach_line::attach_hint;
use crate::catalog::column_rules::check_types;
use crate::catalog::columns::Columns;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_readable;
use crate::catalog::registration::{Functions, Registration};
use crate::catalog::registration_cache::{NameTable, NameTables};
use crate::catalog::{name, privileges, registration_cache};
use crate::error;
use crate::error::Fallible;
use crate::pg::lock_owner;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::rc::Rc;

/// An attached table, open, with its registration under the caller's snapshot and its columns.
pub struct AttachedTable {
    pub table: EdgesTable,
    pub registration: Rc<Registration>,
    pub columns: Columns,
    pub functions: Functions,
}

impl AttachedTable {
    /// Opens the table of argument `n`, or [`default_edges_table`] if it is NULL. Errors: 42P01, 42809, 42703, 55000
    /// (not attached), 42725 (more than one could be meant).
    pub fn open(call: &Call, n: usize) -> Fallible<Self> {
        Self::of(call.function(), call.oid(n))
    }

    /// Opens the table that a call names in its argument `edges`, or [`default_edges_table`] if that is NULL.
    /// cft_meant_edges gives OID 0 if the caller's search_path does not have exactly one.
    pub fn of(function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Self> {
        let of = Self::of_any(function, edges)?;
        match of.registration.names.has_parent() {
            true => Ok(of),
            false => Err(error::not_attached(&name::display_name(of.oid()), attach_hint(&of.table))),
        }
    }

    /// Opens what [`AttachedTable::of`] does. 42501 if the caller may not read it.
    pub fn of_reader(function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Self> {
        let of = Self::of(function, edges)?;
        if privileges::is_readable(of.oid()) { Ok(of) } else { Err(error::no_privilege(&of.table.name())) }
    }

    /// Opens what [`AttachedTable::of`] does, or a table of names (aliases), if the call names one.
    pub fn of_any(function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Self> {
        let functions = Functions::beside(function);
        let table = match edges {
            Some(pg_sys::InvalidOid) => return Err(unclear(functions)),
            Some(table) => {
                if !lock_owner::reads(table) {
                    require_readable(table);
                }
                EdgesTable::open(table)?
            }
            None => open_meant(functions)?,
        };
        Self::of_table(table, functions)
    }

    /// The attached table, which is open. Errors: 42703, 42804, 42P01 or 42809 (not attached).
    pub fn of_table(table: EdgesTable, functions: Functions) -> Fallible<Self> {
        let registration = match registration_cache::read_once(table.oid(), functions) {
            Some(registration) => registration,
            // An older snapshot may not see an attach that has committed since: it can use the columns, but not the
            // image.
            None => match crate::catalog::registration::now(table.oid(), functions) {
                Some(now) => Rc::new(Registration { sound: false, ..now }),
                None => return Err(error::not_attached(&name::display_name(table.oid()), attach_hint(&table))),
            },
        };
        let columns = registration_cache::columns(&table, &registration)?;
        Ok(Self { table, registration, columns, functions })
    }

    /// Opens the tables of names of an edges table. Errors: 42703, 42804, of their columns.
    pub fn open_names(&self) -> Fallible<OpenNames> {
        // A table that was dropped while we waited for its lock no longer counts: look again, as PostgreSQL does for
        // names.
        loop {
            let tables = self.name_tables();
            let opened = |names: &NameTable| self.open_name_table(names).transpose();
            let aliases: Fallible<Vec<Self>> = tables.aliases.iter().map_while(opened).collect();
            let labels = tables.labels.as_ref().filter(|_| !self.columns.has_labels());
            let open = OpenNames { aliases: aliases?, labels: labels.and_then(opened).transpose()? };
            if open.aliases.len() == tables.aliases.len() && open.labels.is_some() == labels.is_some() {
                return Ok(open);
            }
            check_for_interrupts!();
        }
    }

    /// Whether the table has labels: a column or a table of them.
    pub fn has_labels(&self) -> bool {
        self.columns.has_labels() || self.name_tables().labels.is_some()
    }

    /// Opens the table of labels of an edges table, if it has one and no column of labels.
    pub fn open_label_table(&self) -> Fallible<Option<Self>> {
        while !self.columns.has_labels()
            && let Some(labels) = &self.name_tables().labels
        {
            if let Some(opened) = self.open_name_table(labels)? {
                return Ok(Some(opened));
            }
            check_for_interrupts!();
        }
        Ok(None)
    }

    fn name_tables(&self) -> Rc<NameTables> {
        registration_cache::name_tables(self.oid(), self.functions)
    }

    /// Opens a table of names; None if it was dropped meanwhile. Raises 42501 before it takes the lock, as for the
    /// edges table.
    fn open_name_table(&self, names: &NameTable) -> Fallible<Option<Self>> {
        require_readable(names.table);
        let Ok(table) = EdgesTable::open(names.table) else { return Ok(None) };
        let registration = names.registration(self.functions);
        let columns = table.columns(&registration.names).map_err(|(argument, column)| {
            let what = match argument {
                "label" => "names",
                "names" => "other names",
                "preferred" => "preferred labels",
                _ => "entities",
            };
            error::no_such_name_column(&table.name(), column, what, &table.listed())
        })?;
        check_types(&registration.names, &columns)?;
        Ok(Some(Self { table, registration, columns, functions: self.functions }))
    }

    pub fn oid(&self) -> pg_sys::Oid {
        self.table.oid()
    }
}

/// The tables of names of an edges table, open.
pub struct OpenNames {
    pub aliases: Vec<AttachedTable>,
    pub labels: Option<AttachedTable>,
}

/// Opens [`default_edges_table`]. If the table was dropped, renamed or detached while we waited for its lock, we choose
/// again, as PostgreSQL looks a name up again.
fn open_meant(functions: Functions) -> Fallible<EdgesTable> {
    loop {
        let meant = default_edges_table(functions)?;
        let was_locked = lock_owner::reads(meant);
        let opened = EdgesTable::open(meant);
        if let Ok(table) = opened
            && (was_locked || default_edges_table(functions)? == meant)
        {
            return Ok(table);
        }
        check_for_interrupts!();
        registration_cache::forget_default_table();
    }
}

/// The table that a call without `edges` means: the only attached table that the caller may read and that is visible in
/// its search_path.
pub fn default_edges_table(functions: Functions) -> Fallible<pg_sys::Oid> {
    let found = registration_cache::only_registered(functions.capture, functions);
    found.map_err(|tables| error::unclear_edges(&names(&tables)))
}

/// The error of [`default_edges_table`]; it lists all attached tables that the caller may read.
fn unclear(functions: Functions) -> pgrx::pg_sys::panic::ErrorReport {
    error::unclear_edges(&names(&registration_cache::readable(functions.capture, functions)))
}

fn names(tables: &[pg_sys::Oid]) -> Vec<String> {
    tables.iter().map(|table| name::full_name(*table)).collect()
}
