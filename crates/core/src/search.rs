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
use crate::filter::{Filter, Table};
use crate::hash::Hash;
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
            if let Some(slot) = self.bucket(bucket).empty_slot() {
                return Some(Place { bucket, slot });
            }
        }
        let mut search = Search { nodes: [Node::default(); MOST_KICKS], len: 0 };
        for bucket in [first, second] {
            self.prefetch_records(bucket);
            search.push(bucket, Node::NONE, 0);
        }
        let mut next = 0;
        while next < search.len {
            let node = search.nodes[next];
            for (slot, entry) in self.read(node.bucket).into_iter().enumerate() {
                if entry.is_empty() {
                    continue;
                }
                let (a, b) = geometry.buckets_of(self.hash_of(node.bucket, entry));
                let bucket = if a == node.bucket { b } else { a };
                if search.leads_through(next, bucket) {
                    continue;
                }
                if let Some(empty) = self.bucket(bucket).empty_slot() {
                    let to = Place { bucket, slot: empty };
                    return Some(self.shift(&search, to, next, slot));
                }
                self.prefetch_records(bucket);
                search.push(bucket, next, slot);
            }
            next += 1;
        }
        None
    }

    /// An entry of a bucket as it is to stand in its other one.
    fn moved(self, entry: Entry, from: u32, to: u32) -> Entry {
        match self.table() {
            Table::Names => entry,
            Table::Forms => entry.placed(self.geometry().buckets_of(entry.hash_in(from)).0 != to),
        }
    }

    /// The hashes of a full bucket's records will be read when its turn comes.
    fn prefetch_records(self, bucket: u32) {
        if self.table() == Table::Forms {
            return;
        }
        for record in self.read(bucket).into_iter().filter_map(Entry::record) {
            self.mem().prefetch(record.line());
        }
    }

    /// Moves the entry in `slot` of node `from` to an empty place, and then along the chain
    /// each entry to the place the one before left. Returns the place this empties.
    fn shift(self, search: &Search, mut to: Place, mut from: usize, mut slot: usize) -> Place {
        while from != Node::NONE {
            let node = search.nodes[from];
            let place = Place { bucket: node.bucket, slot };
            let entry = self.get(place);
            self.set(to, self.moved(entry, node.bucket, to.bucket));
            self.set(place, Entry::NONE);
            self.follow(entry, node.bucket, to.bucket);
            self.root().add(Counter::Kicks, 1);
            (to, from, slot) = (place, node.from.into(), node.slot.into());
        }
        to
    }
}

/// A bucket that a chain of moves reaches.
#[derive(Clone, Copy, Default)]
struct Node {
    bucket: u32,
    /// The node before it, and which of that one's slots moves here.
    from: u16,
    slot: u16,
}

const _: () = assert!(size_of::<Node>() == 8, "500 of them are cleared for each search");

impl Node {
    const NONE: usize = 0xFFFF;
}

struct Search {
    nodes: [Node; MOST_KICKS],
    len: usize,
}

impl Search {
    /// Adds a node, or drops it when enough are there.
    fn push(&mut self, bucket: u32, from: usize, slot: usize) {
        if let Some(place) = self.nodes.get_mut(self.len) {
            let small = |n| u16::try_from(n).expect("there are 500 nodes of 4 slots");
            *place = Node { bucket, from: small(from), slot: small(slot) };
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
            let Some(&before) = self.nodes.get(usize::from(node.from)) else { return false };
            node = before;
        }
    }
}
