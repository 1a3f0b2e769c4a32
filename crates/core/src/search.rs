//! Room for a new entry: which entries to move to their other bucket, and moving them.
//!
//! ```text
//!   new entry --> first bucket, full  --> each entry's other bucket, full --> ... --> a free slot
//!             --> second bucket, full --> ...
//! ```
//!
//! The search is breadth first, so that the chain is short, and reads only; nothing moves
//! before a chain is found. Then the entry at its far end moves first: at no time is an
//! entry in no bucket. Called by the filter; the caller holds the lock exclusively.

use crate::bucket::{Entry, Place};
use crate::filter::Filter;
use crate::hash::Hash;
use crate::record::Record;
use crate::root::Counter;

/// Buckets a search may look at: the paper's 500 kicks. Past it the table is over-full.
const MOST_KICKS: usize = 500;

impl Filter<'_> {
    /// Finds, breadth first, the shortest chain of moves that empties a slot in one of the
    /// hash's buckets; then moves from its far end.
    pub(crate) fn make_room(self, hash: Hash) -> Option<Place> {
        let geometry = self.geometry();
        let (first, second) = geometry.buckets_of(hash);
        for bucket in [first, second] {
            if let Some(slot) = self.empty_slot(bucket) {
                return Some(Place { bucket, slot });
            }
        }
        let mut search = Search { nodes: [Node::default(); MOST_KICKS], len: 0 };
        search.push(Node { bucket: first, from: Node::NONE, slot: 0 });
        search.push(Node { bucket: second, from: Node::NONE, slot: 0 });
        let mut next = 0;
        while next < search.len {
            let node = search.nodes[next];
            for (slot, entry) in self.read(node.bucket).into_iter().enumerate() {
                let Some(record) = entry.record() else {
                    continue;
                };
                let (a, b) = geometry.buckets_of(Record::new(self.mem(), record).hash());
                let bucket = if a == node.bucket { b } else { a };
                if search.leads_through(next, bucket) {
                    continue;
                }
                let step = Node { bucket, from: next, slot };
                if let Some(empty) = self.empty_slot(bucket) {
                    return Some(self.shift(&search, step, empty));
                }
                search.push(step);
            }
            next += 1;
        }
        None
    }

    fn empty_slot(self, bucket: u32) -> Option<usize> {
        self.read(bucket).iter().position(|entry| entry.record().is_none())
    }

    /// Moves each entry of the chain one bucket on, the last first. Returns the slot this empties.
    fn shift(self, search: &Search, last: Node, empty: usize) -> Place {
        let mut to = Place { bucket: last.bucket, slot: empty };
        let mut node = last;
        while node.from != Node::NONE {
            let from = search.nodes[node.from];
            let place = Place { bucket: from.bucket, slot: node.slot };
            self.set(to, self.get(place));
            self.set(place, Entry::NONE);
            self.root().add(Counter::Kicks, 1);
            (to, node) = (place, from);
        }
        to
    }
}

/// A bucket that a chain of moves reaches.
#[derive(Clone, Copy, Default)]
struct Node {
    bucket: u32,
    /// The node before it, and which of that one's slots moves here.
    from: usize,
    slot: usize,
}

impl Node {
    const NONE: usize = usize::MAX;
}

struct Search {
    nodes: [Node; MOST_KICKS],
    len: usize,
}

impl Search {
    /// Adds a node, or drops it when enough are there.
    fn push(&mut self, node: Node) {
        if let Some(place) = self.nodes.get_mut(self.len) {
            *place = node;
            self.len += 1;
        }
    }

    /// Whether the chain that ends at node `end` already passes this bucket.
    fn leads_through(&self, end: usize, bucket: u32) -> bool {
        let mut node = self.nodes[end];
        loop {
            if node.bucket == bucket {
                return true;
            }
            if node.from == Node::NONE {
                return false;
            }
            node = self.nodes[node.from];
        }
    }
}
