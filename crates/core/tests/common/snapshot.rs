//! The heap's tuples, transactions, and snapshots of them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cftrag_core::{Fate, Hint, View, Visibility};

use super::FIRST_XID;
use super::oracle::Triple;

/// A tuple of the heap.
#[derive(Clone, Debug)]
pub(super) struct Tuple {
    pub(super) edge: Triple,
    pub(super) xmin: u64,
    pub(super) cmin: u32,
    pub(super) xmax: Option<(u64, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Xact {
    pub(super) fate: Fate,
    pub(super) command: u32,
}

/// A snapshot: what a transaction sees.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) own: Option<u64>,
    pub(super) curcid: u32,
    pub(super) xmin: u64,
    pub(super) committed: BTreeSet<u64>,
    pub(super) fates: Vec<Xact>,
    /// The xids that the caller knows; None if it knows all.
    pub(super) known: RefCell<Option<BTreeSet<u64>>>,
}

impl Snapshot {
    pub(super) fn sees(&self, xid: u64, command: u32) -> bool {
        if Some(xid) == self.own { command < self.curcid } else { self.committed.contains(&xid) }
    }

    pub(super) fn sees_tuple(&self, tuple: &Tuple) -> bool {
        (tuple.xmin == 0 || self.sees(tuple.xmin, tuple.cmin))
            && tuple.xmax.is_none_or(|(xmax, cmax)| !self.sees(xmax, cmax))
    }
}

impl Visibility for Snapshot {
    fn view(&self, xid: u64, hint: Hint) -> View {
        let known = self.known.borrow();
        if Some(xid) == self.own {
            View::Own
        } else if hint == Hint::None && known.as_ref().is_some_and(|known| !known.contains(&xid)) {
            View::Unknown
        } else if self.committed.contains(&xid) {
            View::Seen
        } else {
            View::Unseen
        }
    }

    fn learned(&self, xid: u64) -> Hint {
        match self.fates.get((xid - FIRST_XID) as usize).map(|xact| xact.fate) {
            Some(Fate::Committed) => Hint::Committed,
            Some(Fate::Aborted) => Hint::Aborted,
            _ => Hint::None,
        }
    }

    fn curcid(&self) -> u32 {
        self.curcid
    }
}
