//! What a writer tells the image: an edge row, by which transaction it was inserted or deleted, and the fates of
//! transactions.

use crate::memory::id::EntityId;
use crate::memory::id::TreeId;
/// One row of the edges table. Names are bytes; `tree: None` is SQL's NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge<'a> {
    /// The tree the edge belongs to.
    pub tree: Option<&'a [u8]>,
    /// The name of the ancestor's side.
    pub parent: &'a [u8],
    /// The name of the descendant's side.
    pub child: &'a [u8],
}

/// The inserter of a row that not every snapshot sees yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// 64-bit transaction id, never 0.
    pub xmin: u64,
    /// Command id within that transaction.
    pub cmin: u32,
}

/// The version of a row that a delete means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowVersion {
    /// 64-bit xid that inserted the deleted tuple; 0 if it is frozen or unknown.
    pub xmin: u64,
    /// The 32 bits of that xid in the tuple; used when `xmin` is 0.
    pub raw_xmin: u32,
    /// `Some(c)`: the deleting transaction itself inserted the row, at command c.
    pub cmin: Option<u32>,
}

/// The deleter of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleter {
    /// 64-bit transaction id, never 0.
    pub xmax: u64,
    /// Command id within that transaction.
    pub cmax: u32,
}

/// The result of a delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Deletion {
    /// A row version now carries the deleter.
    Done,
    /// No row of that edge can be the one meant. Nothing was written.
    NoPartner,
    /// The fates of the xids pushed to `ask` decide: delete again when they are known. Nothing was written.
    Ask,
    /// The row is in two long lists, which are better read for many deletes at once. Nothing was written.
    Far,
}

/// The fate of a transaction, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// In progress.
    Running,
    /// Committed: every later snapshot sees its effects.
    Committed,
    /// Rolled back or crashed: no snapshot sees its effects.
    Aborted,
    /// Not known; the core adds the xid to the caller's list.
    Unknown,
}

/// Facts about transactions, learned before the lock was taken.
pub trait Fates {
    /// The fate of `xid` as far as it is known without I/O.
    fn fate(&self, xid: u64) -> Fate;
}

impl<F: Fn(u64) -> Fate> Fates for F {
    fn fate(&self, xid: u64) -> Fate {
        self(xid)
    }
}

/// What a call of [`Image::settle`](crate::Image::settle) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Versions examined, at most the caller's `max`.
    pub examined: usize,
    /// Versions that were removed, because their row was settled or unlinked.
    pub freed: usize,
}

/// The entities and the tree of an edge, all of whose names are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) parent: EntityId,
    pub(crate) child: EntityId,
    pub(crate) tree: Option<TreeId>,
}
