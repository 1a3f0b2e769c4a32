//! A table that belongs to another one (summaries to edges, and to documents), opened to be written. Its registration
//! is read from the relation cache, under its lock, as PostgreSQL reads foreign keys and triggers: as of now, whatever
//! the snapshot.
//!
//! It stays open while it is used, so that no session, this one included, drops, renames or alters it.

#![expect(unsafe_code, reason = "reads the relation cache")]

use crate::catalog::name::{display_name, qualified_name};
use crate::catalog::registered::Registered;
use crate::catalog::{registered, trust};
use crate::pg::compat::unguarded;
use crate::pg::invalidation::Cached;
use crate::pg::{encoding, error_context, invalidation};
use pgrx::pg_sys;
use std::convert::Infallible;
use std::ffi::CStr;
use std::rc::Rc;

/// The table, with RowExclusiveLock to the end of the transaction.
pub struct SideTable(pg_sys::Relation);

thread_local! {
    /// Side tables, by the table that they belong to and the functions of their triggers.
    static TABLES: Cached<(pg_sys::Oid, [pg_sys::Oid; 2]), Rc<[pg_sys::Oid]>> = const { Cached::new(4, invalidation::relations) };
}

impl SideTable {
    /// Locks and opens the plain tables that triggers of these functions say belong to `other`, as of now, ascending by
    /// OID. A table whose owner may not say so ([`trust::counts_beside`]) is neither waited for nor opened.
    pub fn all_of(other: pg_sys::Oid, functions: [pg_sys::Oid; 2]) -> Vec<Self> {
        let find = || Ok::<_, Infallible>(registered::tables_beside(other, &functions).into());
        let Ok(tables) = TABLES.with(|all| all.get((other, functions), find));
        let trusted = tables.iter().copied().filter(|table| trust::counts_beside(*table, other));
        trusted.filter_map(Self::open).collect()
    }

    fn open(table: pg_sys::Oid) -> Option<Self> {
        let lock = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        // SAFETY: any OID may be asked for; null is checked. In a deadlock, only the log shows the statements.
        let rel = error_context::with_error_context(None, || unsafe { pg_sys::try_relation_open(table, lock) });
        let opened = (!rel.is_null()).then(|| Self(rel))?;
        (opened.class().relkind as u8 == pg_sys::RELKIND_RELATION).then_some(opened)
    }

    /// The table's row of pg_class, read at once: it changes when an invalidation is processed.
    fn class(&self) -> &pg_sys::FormData_pg_class {
        // SAFETY: see oid().
        unsafe { &*(*self.0).rd_rel }
    }

    pub fn oid(&self) -> pg_sys::Oid {
        // SAFETY: open while self lives; so in every block here.
        unsafe { (*self.0).rd_id }
    }

    pub fn owner(&self) -> pg_sys::Oid {
        self.class().relowner
    }

    /// The table's name, for messages.
    pub fn name(&self) -> String {
        display_name(self.oid())
    }

    /// The table's qualified name, for SQL that is parsed at once.
    pub fn qualified(&self) -> String {
        // SAFETY: relname is NUL-terminated.
        let name = unsafe { CStr::from_ptr(self.class().relname.data.as_ptr()) };
        qualified_name(self.class().relnamespace, &encoding::decode(name.to_bytes()))
    }

    /// What triggers of that function say about it.
    pub fn registered(&self, function: pg_sys::Oid) -> Vec<Registered> {
        // SAFETY: see oid().
        unsafe { registered::of_relation(self.0, function) }
    }
}

impl Drop for SideTable {
    fn drop(&mut self) {
        // While an ERROR unwinds, we leave closing to the transaction's abort.
        if !std::thread::panicking() {
            // SAFETY: opened in open(), closed once; the lock stays.
            unsafe { unguarded::relation_close(self.0, pg_sys::NoLock as pg_sys::LOCKMODE) };
        }
    }
}
