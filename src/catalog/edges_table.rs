//! An edges table, opened: its kind, its columns, its name as SQL. Holds AccessShareLock to the end of the transaction.
//!
//! Everything here is read from the relation cache under that lock. May raise (a missing table), so it is never called
//! under an image lock.

use crate::catalog::columns::{Column, ColumnNames, Columns, MOST_NAMES, find_column};
use crate::catalog::name::qualified_name;
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::plain;
use crate::pg::relation::{Opened, Relation};
use crate::pg::{compat, encoding, error_context, lock_owner, lookup};
use pgrx::pg_sys;
use std::ops::Deref;

pub struct EdgesTable {
    rel: Opened,
}

/// Columns that a hint lists.
const LISTED: usize = 12;

impl Deref for EdgesTable {
    type Target = Relation;

    fn deref(&self) -> &Relation {
        &self.rel
    }
}

impl EdgesTable {
    /// Opens the table with AccessShareLock. 42P01 if it is gone.
    ///
    /// The lock belongs to the current resource owner (pg/lock_owner.rs), so the next call under that owner neither
    /// takes it again nor checks that the table exists. That is most of the cost of opening, and a statement may call
    /// us for each of its rows.
    pub fn open(table: pg_sys::Oid) -> Fallible<Self> {
        let rel = match lock_owner::reads(table) {
            true => Opened::locked(table),
            // In a deadlock, only the log shows the statements.
            false => error_context::with_error_context(None, || Opened::open(table, pg_sys::AccessShareLock)),
        };
        let rel = rel.ok_or_else(|| error::no_such_table(u32::from(table)))?;
        lock_owner::note_read(table);
        Ok(Self { rel })
    }

    /// Opens the table with a lock of its own, which the caller releases early. A lock that [`EdgesTable::open`] took
    /// stays.
    pub fn open_and_unlock_later(table: pg_sys::Oid) -> Fallible<Self> {
        let rel = Opened::open(table, pg_sys::AccessShareLock);
        rel.map(|rel| Self { rel }).ok_or_else(|| error::no_such_table(u32::from(table)))
    }

    /// Opens the table without waiting; None if it is gone, or if a session that changes its definition has it locked.
    pub fn try_open(table: pg_sys::Oid) -> Option<Self> {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        if !lookup::ConditionalLockRelationOid(table, lock) {
            return None;
        }
        let rel = Opened::open(table, pg_sys::NoLock);
        if rel.is_none() {
            lookup::UnlockRelationOid(table, lock);
        }
        rel.map(|rel| Self { rel })
    }

    pub fn schema(&self) -> pg_sys::Oid {
        self.class().relnamespace
    }

    /// RELKIND_RELATION and the like.
    pub fn kind(&self) -> u8 {
        self.class().relkind as u8
    }

    pub fn owner(&self) -> pg_sys::Oid {
        self.class().relowner
    }

    /// Whether policies bind its owner, too.
    pub fn is_forced(&self) -> bool {
        self.class().relforcerowsecurity
    }

    /// Whether an unfinished statement of this session may be writing to the table, so that the page may show rows that
    /// our trigger has not seen.
    ///
    /// A row is on the page before its AFTER trigger's event is queued; what PostgreSQL evaluates in between (index
    /// expressions, constraints, WHEN clauses, ...) sees a row that our trigger knows nothing of. A statement that
    /// writes has an xid and holds RowExclusiveLock until the (sub)transaction ends. Until the statement ends it has
    /// the table open, as PostgreSQL asks before it alters a table (CheckTableNotInUse); or, if it ran on behalf of a
    /// foreign key, its trigger events wait for the end of the statement around it. Who only reads has the table open
    /// as well: such an answer is slower, not wrong. The queue of events can be long, so we search it last.
    pub fn is_being_written(&self) -> bool {
        let is_open = || self.is_open_elsewhere() || lookup::AfterTriggerPendingOnRel(self.oid());
        plain::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId
            && self.is_locked(pg_sys::RowExclusiveLock as pg_sys::LOCKMODE)
            && is_open()
    }

    /// The table's name without its schema, for messages.
    pub fn name(&self) -> String {
        encoding::shown(&self.own_name())
    }

    fn own_name(&self) -> String {
        encoding::decode(&self.name_bytes())
    }

    /// Schema-qualified and quoted, for SQL.
    pub fn qualified(&self) -> String {
        qualified_name(self.schema(), &self.own_name())
    }

    /// Why row triggers do not see every change of this relation; None for a plain heap table without children.
    pub fn unsuitable(&self) -> Option<&'static str> {
        let class = self.class();
        match class.relkind as u8 {
            pg_sys::RELKIND_RELATION => {}
            pg_sys::RELKIND_VIEW => return Some("a view"),
            pg_sys::RELKIND_MATVIEW => return Some("a materialized view"),
            pg_sys::RELKIND_FOREIGN_TABLE => return Some("a foreign table"),
            pg_sys::RELKIND_PARTITIONED_TABLE => return Some("a partitioned table"),
            _ => return Some("not a table"),
        }
        if class.relispartition {
            return Some("a partition");
        }
        if class.relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP {
            return Some("a temporary table");
        }
        if class.relam != pg_sys::HEAP_TABLE_AM_OID {
            return Some("not a heap table");
        }
        // A stale relhassubclass is only ever true without children.
        if class.relhassubclass && compat::has_children(self.oid()) {
            return Some("a table with inheritance children");
        }
        None
    }

    /// cft_attach refuses an inheritance child, for clarity. A table that becomes one later is still captured: its rows
    /// remain its own.
    pub fn inherits(&self) -> Option<&'static str> {
        compat::has_superclass(self.oid()).then_some("an inheritance child")
    }

    /// The column of that name; None if there is none.
    pub fn column(&self, name: &str) -> Option<Column> {
        find_column(self.desc(), &encoding::encode(name))
    }

    /// The columns, or the argument ("parent", ...) and name of the first that is missing.
    pub fn columns<'n>(&self, names: &'n ColumnNames) -> Result<Columns, (&'static str, &'n str)> {
        let other = |argument, name: &'n Option<String>| match name {
            None => Ok(Column::default()),
            Some(name) => self.column(name).ok_or((argument, name.as_str())),
        };
        let (tree, label) = (other("tree", &names.tree)?, other("label", &names.label)?);
        let mut others = [Column::default(); MOST_NAMES];
        for (place, name) in others.iter_mut().zip(&names.names) {
            *place = self.column(name).ok_or(("names", name.as_str()))?;
        }
        let preferred = other("preferred", &names.preferred)?;
        let parent = match names.has_parent() {
            false => Column::default(),
            true => self.column(&names.parent).ok_or(("parent", names.parent.as_str()))?,
        };
        let child = self.column(&names.child).ok_or(("child", names.child.as_str()))?;
        Ok(Columns { tree, parent, child, label, names: others, preferred })
    }

    /// Returns what [`EdgesTable::columns`] does, or 42703.
    pub fn require_columns(&self, names: &ColumnNames) -> Fallible<Columns> {
        let missing =
            |(argument, column): (_, &str)| error::no_such_column(&self.name(), column, argument, &self.listed());
        self.columns(names).map_err(missing)
    }

    /// "has the columns "id", "name".", for hints.
    pub fn listed(&self) -> String {
        let all = self.desc().columns().filter(|a| !a.attisdropped);
        let names: Vec<String> = all.map(|a| lookup::name_of(&a.attname)).collect(); // bounded: columns
        let some: Vec<String> = names.iter().take(LISTED).map(|name| format!("\"{name}\"")).collect();
        let more = if names.len() > LISTED { ", ..." } else { "." };
        format!("has the columns {}{more}", some.join(", "))
    }

    /// Whether that column of type numeric has a precision and no scale: equal values then have one text.
    pub fn has_no_scale(&self, number: i32) -> bool {
        let modifier = self.desc().column(number).map_or(-1, |of| lookup::base_modifier(of.atttypid, of.atttypmod));
        // utils/adt/numeric.c: the scale is in the lower bits, above VARHDRSZ.
        modifier >= 4 && (modifier - 4) & 0x7ff == 0
    }

    /// A number that grows by one when the table has become four times as large.
    pub fn size_class(&self) -> u32 {
        let is_plain = self.unsuitable().is_none();
        if is_plain { (self.bytes() / u64::from(pg_sys::BLCKSZ) + 1).ilog2() / 2 } else { 0 }
    }

    /// About how many rows the table has, as VACUUM or ANALYZE counted; -1 if that is not known.
    pub fn counted(&self) -> f32 {
        self.class().reltuples
    }

    /// About how many rows the table has, as the planner counts; by its size, if it was never analysed, as if one took
    /// fifty bytes.
    pub fn rows(&self) -> f64 {
        let rows = self.counted();
        if rows >= 0.0 { f64::from(rows) } else { self.bytes() as f64 / 50.0 }
    }

    /// Bytes of the table's main fork. Plain tables have storage; callers check unsuitable() first.
    pub fn bytes(&self) -> u64 {
        u64::from(self.blocks()) * u64::from(pg_sys::BLCKSZ)
    }
}
