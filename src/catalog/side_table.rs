//! A table that belongs to another one (summaries to edges, and to documents), opened to be written. Its registration
//! is read from the relation cache, under its lock, as PostgreSQL reads foreign keys and triggers: as of now, whatever
//! the snapshot.
//!
//! It stays open while it is used, so that no session, this one included, drops, renames or alters it.

use crate::catalog::name::{display_name, qualified_name};
use crate::catalog::registered::Registered;
use crate::catalog::{registered, trust};
use crate::pg::invalidation::Cached;
use crate::pg::relation::Opened;
use crate::pg::{error_context, invalidation, lookup};
use pgrx::pg_sys;
use std::convert::Infallible;
use std::rc::Rc;

/// The table, with RowExclusiveLock to the end of the transaction.
pub struct SideTable(Opened);

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
        // In a deadlock, only the log shows the statements.
        let open = || Opened::open(table, pg_sys::RowExclusiveLock);
        let opened = Self(error_context::with_error_context(None, open)?);
        (opened.0.class().relkind as u8 == pg_sys::RELKIND_RELATION).then_some(opened)
    }

    pub fn oid(&self) -> pg_sys::Oid {
        self.0.oid()
    }

    pub fn owner(&self) -> pg_sys::Oid {
        self.0.class().relowner
    }

    /// The table's name, for messages.
    pub fn name(&self) -> String {
        display_name(self.oid())
    }

    /// The table's qualified name, for SQL that is parsed at once.
    pub fn qualified(&self) -> String {
        let class = self.0.class();
        qualified_name(class.relnamespace, &lookup::name_of(&class.relname))
    }

    /// What triggers of that function say about it.
    pub fn registered(&self, function: pg_sys::Oid) -> Vec<Registered> {
        registered::of_relation(&self.0, function)
    }
}
