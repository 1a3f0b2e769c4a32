//! A table that belongs to another one (summaries to edges, and to documents), opened to be written. Its registration
//! is read from the relation cache, under its lock, as PostgreSQL reads foreign keys and triggers: as of now, whatever
//! the snapshot.
//!
//! It stays open while it is used, so that no session, this one included, drops, renames or alters it.

#![expect(unsafe_code, reason = "reads the relation cache")]

use crate::catalog::name::{display_name, qualified_name};
use crate::catalog::{pg_trigger, trust};
use crate::pg::compat;
use crate::pg::compat::unguarded;
use crate::pg::invalidation::Cached;
use crate::pg::{encoding, error_context, invalidation};
use pgrx::pg_sys;
use std::convert::Infallible;
use std::ffi::{CStr, c_char};
use std::rc::Rc;

/// The table, with RowExclusiveLock to the end of the transaction.
pub struct SideTable(pg_sys::Relation);

/// What a trigger that never fires says about its table (cft_register).
pub struct Registered {
    pub trigger: pg_sys::Oid,
    pub name: String,
    /// The table after FROM; InvalidOid: none.
    pub other: pg_sys::Oid,
    /// ENABLE ALWAYS: only the table's owner can have made it so.
    pub always: bool,
    /// Each column, and its roles, separated by blanks.
    columns: Vec<(String, String)>,
}

impl Registered {
    /// The column that has this role.
    pub fn column(&self, role: &str) -> Option<&str> {
        let is_for = |(_, roles): &&(String, String)| roles.split(' ').any(|one| one == role);
        self.columns.iter().find(is_for).map(|(column, _)| column.as_str())
    }
}

/// What triggers of that function say about an open table: the owner's first, then by OID. A trigger whose arguments
/// are longer than any of ours is not a registration, and we do not copy them.
///
/// # Safety
/// An open relation.
pub unsafe fn registered(rel: pg_sys::Relation, function: pg_sys::Oid) -> Vec<Registered> {
    // SAFETY: the caller's promise; tgnattr and tgnargs count the columns and arguments; strings are NUL-terminated.
    unsafe {
        let desc = (*rel).trigdesc;
        if desc.is_null() {
            return Vec::new();
        }
        let text = |text: *const c_char| encoding::decode(CStr::from_ptr(text).to_bytes());
        let triggers = (0..(*desc).numtriggers as usize).map(|n| &*(*desc).triggers.add(n));
        let length = |t: &pg_sys::Trigger| {
            (0..t.tgnargs as usize).map(|n| CStr::from_ptr(*t.tgargs.add(n)).count_bytes() + 1).sum::<usize>()
        };
        let ours = triggers.filter(|t| t.tgfoid == function && !t.tgisinternal && !t.tgisclone);
        let ours = ours.filter(|t| length(t) <= pg_trigger::ARGUMENTS);
        let mut all: Vec<_> = ours
            .map(|t| {
                let columns = (0..t.tgnattr.min(t.tgnargs) as usize).map(|n| {
                    let column = compat::attribute((*rel).rd_att, i32::from(*t.tgattr.add(n)) - 1);
                    (text((*column).attname.data.as_ptr()), text(*t.tgargs.add(n)))
                });
                Registered {
                    trigger: t.tgoid,
                    name: text(t.tgname),
                    other: t.tgconstrrelid,
                    always: t.tgenabled as u8 == pg_sys::TRIGGER_FIRES_ALWAYS,
                    columns: columns.collect(),
                }
            })
            .collect();
        all.sort_by_key(|one| (!one.always, u32::from(one.trigger)));
        all
    }
}

thread_local! {
    /// Side tables, by the table that they belong to and the functions of their triggers.
    static TABLES: Cached<(pg_sys::Oid, [pg_sys::Oid; 2]), Rc<[pg_sys::Oid]>> = const { Cached::new(4, invalidation::relations) };
}

fn find(other: pg_sys::Oid, functions: [pg_sys::Oid; 2]) -> Rc<[pg_sys::Oid]> {
    let mut tables: Vec<_> = belonging(other, &functions).into_iter().map(|(_, table)| table).collect();
    tables.sort_unstable_by_key(|table| u32::from(*table));
    tables.dedup();
    tables.into()
}

/// The triggers of these functions which say that their table belongs to `other`, as of now, and that table.
pub fn belonging(other: pg_sys::Oid, functions: &[pg_sys::Oid]) -> Vec<(pg_sys::Oid, pg_sys::Oid)> {
    let mut found = Vec::new();
    let none = std::ptr::null_mut();
    for trigger in pg_trigger::that_depend_on(pg_sys::RelationRelationId, other, none) {
        pg_trigger::scan(pg_trigger::OID_INDEX, pg_sys::Anum_pg_trigger_oid, trigger, none, |tuple, _| {
            // SAFETY: a pg_trigger tuple.
            let form = unsafe { &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_trigger>() };
            if form.tgconstrrelid == other && functions.contains(&form.tgfoid) {
                found.push((trigger, form.tgrelid));
            }
        });
    }
    found
}

impl SideTable {
    /// Locks and opens the plain tables that triggers of these functions say belong to `other`, as of now, ascending by
    /// OID. A table whose owner may not say so ([`trust::counts_beside`]) is neither waited for nor opened.
    pub fn all_of(other: pg_sys::Oid, functions: [pg_sys::Oid; 2]) -> Vec<Self> {
        let find = || Ok::<_, Infallible>(find(other, functions));
        let Ok(tables) = TABLES.with(|all| all.get((other, functions), find));
        let trusted = tables.iter().copied().filter(|table| trust::counts_beside(*table, other));
        trusted.filter_map(Self::open).collect()
    }

    fn open(table: pg_sys::Oid) -> Option<Self> {
        let lock = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        // SAFETY: any OID may be asked for; null is checked. In a deadlock, only the log shows the statements.
        let rel = error_context::with_error_context(None, || unsafe { pg_sys::try_relation_open(table, lock) });
        let opened = (!rel.is_null()).then(|| Self(rel))?;
        // SAFETY: an open relation.
        (unsafe { (*(*rel).rd_rel).relkind } as u8 == pg_sys::RELKIND_RELATION).then_some(opened)
    }

    pub fn oid(&self) -> pg_sys::Oid {
        // SAFETY: open while self lives; so in every block here.
        unsafe { (*self.0).rd_id }
    }

    pub fn owner(&self) -> pg_sys::Oid {
        // SAFETY: see oid().
        unsafe { (*(*self.0).rd_rel).relowner }
    }

    /// The table's name, for messages.
    pub fn name(&self) -> String {
        display_name(self.oid())
    }

    /// The table's qualified name, for SQL that is parsed at once.
    pub fn qualified(&self) -> String {
        // SAFETY: see oid(); relname is NUL-terminated.
        unsafe {
            let class = &*(*self.0).rd_rel;
            qualified_name(
                class.relnamespace,
                &encoding::decode(CStr::from_ptr(class.relname.data.as_ptr()).to_bytes()),
            )
        }
    }

    /// Calls [`registered`] for this table.
    pub fn registered(&self, function: pg_sys::Oid) -> Vec<Registered> {
        // SAFETY: see oid().
        unsafe { registered(self.0, function) }
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
