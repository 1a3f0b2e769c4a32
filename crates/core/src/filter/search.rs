//! Makes room for a new entry: finds which entries to move to their other bucket, and moves them.
//!
//! ```text
//!   new entry --> first bucket, full  --> each entry's other bucket, full --> ... --> a free slot
//!             --> second bucket, full --> ...
//! ```
//!
//! The search is breadth first, so that the chain is short. It only reads: nothing moves before a chain is found. Then
//! the entry at the far end moves first, so that every entry is in a bucket at any time. Called by the filter; the
//! caller holds the lock exclusively.

use crate::filter::bucket::{BucketSlot, Entry, SLOTS};
use crate::filter::table::Filter;
use crate::memory::hash::Hash;
use crate::memory::root::Counter;
use crate::memory::tables::Table;

/// Buckets a search may read: the paper's 500 kicks. If a search needs more, the table is too full.
const MOST_KICKS: usize = 500;
/// Nodes of the first search, which clears its nodes before it starts. Searches read 15 buckets on average, and nearly
/// all fewer than this.
const FEW: usize = 64;

impl Filter<'_> {
    /// Finds, breadth first, the shortest chain of moves that empties a slot in one of the
    /// hash's buckets; then moves from its far end.
    #[inline(always)]
    pub(crate) fn make_room(self, hash: Hash) -> Option<BucketSlot> {
        let geometry = self.geometry();
        let (first, second) = geometry.buckets_of(hash);
        for bucket in [first, second] {
            if let Some(slot) = self.bucket(bucket).empty_slot() {
                return Some(BucketSlot { bucket, slot });
            }
        }
        let (full, mut others) = ([first, second], [0; 2 * SLOTS]);
        self.one_move(full, &mut others)
            .or_else(|| self.search::<FEW>(full, others))
            .or_else(|| self.search::<MOST_KICKS>(full, others))
    }

    /// Moves one entry of the two full buckets whose other bucket has room, which ends nearly all searches. It needs no
    /// nodes: clearing those of a whole search took a fifth of an insert's instructions. The records are not
    /// prefetched, because mostly the first or second entry can move (prefetching makes an insert among a million a
    /// tenth slower). If no entry can move, `others` are their other buckets.
    #[inline(always)]
    fn one_move(self, full: [u32; 2], others: &mut [u32; 2 * SLOTS]) -> Option<BucketSlot> {
        for (bucket, others) in full.into_iter().zip(others.as_chunks_mut::<SLOTS>().0) {
            for (slot, other) in others.iter_mut().enumerate() {
                // Tried one by one, because mostly the first or the second can move.
                let to = self.other_bucket(bucket, self.get(BucketSlot { bucket, slot }));
                *other = to;
                if let Some(empty) = self.bucket(to).empty_slot() {
                    let place = BucketSlot { bucket, slot };
                    self.shift_one(place, BucketSlot { bucket: to, slot: empty });
                    return Some(place);
                }
            }
        }
        None
    }

    /// The other bucket of an entry.
    #[inline]
    fn other_bucket(self, bucket: u32, entry: Entry) -> u32 {
        let (a, b) = self.geometry().buckets_of(self.hash_of(bucket, entry));
        if a == bucket { b } else { a }
    }

    /// [`Filter::make_room`] by several moves: `others` are the other buckets of the entries in `full`, which are full
    /// as well.
    #[cold]
    fn search<const MOST: usize>(
        self,
        full: [u32; 2],
        others: [u32; 2 * SLOTS],
    ) -> Option<BucketSlot> {
        let mut search = Search { nodes: [Node::default(); MOST], len: 0 };
        for bucket in full {
            search.push(bucket, Node::NONE, 0);
        }
        for (i, bucket) in others.into_iter().enumerate() {
            if !search.leads_through(i / SLOTS, bucket) {
                self.prefetch_records(bucket);
                search.push(bucket, i / SLOTS, i % SLOTS);
            }
        }
        let mut next = full.len();
        while next < search.len {
            let node = search.nodes[next];
            for (slot, entry) in self.read(node.bucket).into_iter().enumerate() {
                if entry.is_empty() {
                    continue;
                }
                let bucket = self.other_bucket(node.bucket, entry);
                if search.leads_through(next, bucket) {
                    continue;
                }
                if let Some(empty) = self.bucket(bucket).empty_slot() {
                    let to = BucketSlot { bucket, slot: empty };
                    return Some(self.shift(&search, to, next, slot));
                }
                self.prefetch_records(bucket);
                search.push(bucket, next, slot);
            }
            next += 1;
        }
        None
    }

    /// An entry in the form it takes in its other bucket.
    fn moved(self, entry: Entry, from: u32, to: u32) -> Entry {
        match self.table() {
            Table::Names => entry,
            Table::FoldedNames | Table::Forms => {
                entry.placed(self.geometry().buckets_of(entry.hash_in(from)).0 != to)
            }
        }
    }

    /// Prefetches the hashes of a bucket's records, which will be read when its turn comes.
    pub(crate) fn prefetch_records(self, bucket: u32) {
        if self.table() != Table::Names {
            return;
        }
        let bucket = self.bucket(bucket);
        bucket.prefetch_tags();
        bucket.records().for_each(|record| self.mem().prefetch(record.line()));
    }

    /// Moves an entry to its other bucket.
    #[inline(always)]
    fn shift_one(self, from: BucketSlot, to: BucketSlot) {
        let entry = self.get(from);
        self.set(to, self.moved(entry, from.bucket, to.bucket));
        self.set(from, Entry::NONE);
        self.root().add(Counter::Kicks, 1);
    }

    /// Moves the entry in `slot` of node `from` to an empty place, then each entry along the chain to the place that
    /// the one before left. Returns the place that is empty at the end.
    fn shift<const MOST: usize>(
        self,
        search: &Search<MOST>,
        mut to: BucketSlot,
        mut from: usize,
        mut slot: usize,
    ) -> BucketSlot {
        while from != Node::NONE {
            let node = search.nodes[from];
            let place = BucketSlot { bucket: node.bucket, slot };
            self.shift_one(place, to);
            (to, from, slot) = (place, node.from.into(), node.slot.into());
        }
        to
    }
}

/// A bucket that a chain of moves reaches.
#[derive(Clone, Copy, Default)]
struct Node {
    bucket: u32,
    /// The node before it, and the slot of that node whose entry moves here.
    from: u16,
    slot: u16,
}

const _: () = assert!(size_of::<Node>() == 8, "500 of them are cleared for each search");

impl Node {
    const NONE: usize = 0xFFFF;
}

struct Search<const MOST: usize> {
    nodes: [Node; MOST],
    len: usize,
}

impl<const MOST: usize> Search<MOST> {
    /// Adds a node, or drops it if there is no room.
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
