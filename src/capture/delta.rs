//! The delta of one table: its changes in order, their names in one buffer, each with the xids and command ids of its
//! tuple.
//!
//! Plain data. transaction.rs owns and clears it; trigger.rs appends, flush.rs decides what stays. Appending allocates
//! without raising.

use crate::catalog::columns::Columns;
use crate::error::Damage;
use crate::image::slot::Key;
use crate::pg::compat::Locator;
use cftrag_core::{Deleter, Edge, RowVersion, Stamp};
use pgrx::prelude::*;

/// Past this size the trigger flushes a table's entries, so that a bulk load does not hold them all in memory, and
/// those it holds stay in the processor's caches (with 8 MiB an INSERT took 1 to 2 % longer).
pub const CAP_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
pub enum Change {
    Insert(Stamp),
    /// A frozen row (COPY FREEZE), and the transaction that wrote it: visible to every snapshot that sees this
    /// relfilenode.
    Frozen(u64),
    Delete(RowVersion, Deleter),
}

/// One change; its names are in `TableDelta::names` from `at`: tree, parent, child.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub change: Change,
    /// The load (image/slot.rs) in whose log the entry is, 0 if in none.
    pub logged: u64,
    subtransaction: pg_sys::SubTransactionId,
    at: usize,
    /// NO_TREE means NULL.
    tree: u32,
    parent: u32,
    child: u32,
}

/// Lengths of the names that were read from a row's columns, and written one after the other.
#[derive(Clone, Copy, Debug)]
pub enum NameLengths {
    /// `tree`: NO_TREE means NULL.
    Of { tree: u32, parent: u32, child: u32 },
    /// The child is NULL, or there is no label: nothing is noted.
    None,
    /// Memory ran out.
    Lost,
}

pub const NO_TREE: u32 = u32::MAX;

/// A table's storage and the columns that were read, when entries were captured. Both can change within one
/// transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedAs {
    pub trigger: pg_sys::Oid,
    pub locator: Locator,
    pub columns: Columns,
}

/// The transaction itself among its subtransactions (c.h: TopSubTransactionId).
pub const TOP: pg_sys::SubTransactionId = 1;

/// The entries of one table from one source. A rewrite, or the renaming of a column, begins another.
#[derive(Debug)]
pub struct TableDelta {
    pub oid: pg_sys::Oid,
    pub source: CapturedAs,
    pub entries: Vec<Entry>,
    pub names: Vec<u8>,
    /// Past this size the entries are flushed.
    pub cap: usize,
    /// A flush is in progress.
    pub torn: bool,
    /// A change could not be captured: unless it is rolled back, the image is incomplete at commit.
    pub lost: Option<Lost>,
}

/// The outermost subtransaction with a change that could not be captured, and why the first could not.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    pub subtransaction: pg_sys::SubTransactionId,
    pub why: Damage,
}

impl Change {
    /// The transaction that made it.
    pub fn by(self) -> u64 {
        match self {
            Self::Insert(stamp) => stamp.xmin,
            Self::Frozen(xid) => xid,
            Self::Delete(_, by) => by.xmax,
        }
    }
}

impl Entry {
    /// Bytes of its names.
    fn len(&self) -> usize {
        let tree = if self.tree == NO_TREE { 0 } else { self.tree as usize };
        tree + self.parent as usize + self.child as usize
    }
}

impl TableDelta {
    pub fn edge(&self, entry: &Entry) -> Edge<'_> {
        let tree_len = if entry.tree == NO_TREE { 0 } else { entry.tree as usize };
        let (tree, rest) = self.names[entry.at..].split_at(tree_len);
        let (parent, rest) = rest.split_at(entry.parent as usize);
        Edge { tree: (entry.tree != NO_TREE).then_some(tree), parent, child: &rest[..entry.child as usize] }
    }

    pub fn append(
        &mut self,
        change: Change,
        subtransaction: pg_sys::SubTransactionId,
        write: impl FnOnce(&mut Vec<u8>) -> NameLengths,
    ) {
        // Once an entry is lost, more entries are useless.
        if self.lost.is_some() {
            return;
        }
        let at = self.names.len();
        match write(&mut self.names) {
            NameLengths::Of { tree, parent, child } if self.entries.try_reserve(1).is_ok() => {
                self.entries.push(Entry { change, logged: 0, subtransaction, at, tree, parent, child });
            }
            NameLengths::None => self.names.truncate(at),
            NameLengths::Of { .. } | NameLengths::Lost => {
                self.names.truncate(at);
                self.lose(subtransaction, Damage::Lost);
            }
        }
    }

    /// Notes that a change could not be captured.
    pub fn lose(&mut self, subtransaction: pg_sys::SubTransactionId, why: Damage) {
        let lost = self.lost.get_or_insert(Lost { subtransaction, why });
        lost.subtransaction = lost.subtransaction.min(subtransaction);
    }

    /// Notes that the entries could not be flushed.
    pub fn lose_entries(&mut self, why: Damage) {
        let outermost = self.entries.iter().map(|entry| entry.subtransaction).min();
        self.lose(outermost.unwrap_or(TOP), why);
        self.keep(&[]);
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.lost.is_none()
    }

    pub fn bytes(&self) -> usize {
        self.names.len() + self.entries.len() * size_of::<Entry>()
    }

    /// Keeps the entries whose index is in `kept` (ascending), drops the others.
    pub fn keep(&mut self, kept: &[usize]) {
        if kept.is_empty() {
            self.entries.clear();
            self.names.clear();
            return;
        }
        let mut at = kept.iter().copied().peekable();
        let (mut i, mut end) = (0, 0);
        let names = &mut self.names;
        self.entries.retain_mut(|entry| {
            let keep = at.next_if_eq(&i).is_some();
            i += 1;
            if keep {
                let from = std::mem::replace(&mut entry.at, end);
                names.copy_within(from..from + entry.len(), end);
                end += entry.len();
            }
            keep
        });
        names.truncate(end);
    }

    pub fn abort(&mut self, subtransaction: pg_sys::SubTransactionId) {
        let keep = self.entries.iter().rposition(|e| e.subtransaction < subtransaction).map_or(0, |i| i + 1);
        if let Some(first) = self.entries.get(keep) {
            let at = first.at;
            self.entries.truncate(keep);
            self.names.truncate(at);
        }
        self.lost = self.lost.filter(|lost| lost.subtransaction < subtransaction);
    }

    pub fn commit(&mut self, subtransaction: pg_sys::SubTransactionId, parent: pg_sys::SubTransactionId) {
        for entry in self.entries.iter_mut().rev().take_while(|e| e.subtransaction >= subtransaction) {
            entry.subtransaction = parent;
        }
        if let Some(lost) = self.lost.as_mut().filter(|lost| lost.subtransaction >= subtransaction) {
            lost.subtransaction = parent;
        }
    }
}

/// Whether an image of this key takes the table's entries.
pub fn takes(key: &Key, table: &TableDelta) -> bool {
    key.row.oid == u32::from(table.source.trigger)
        && key.locator == table.source.locator
        && key.columns == table.source.columns
}
