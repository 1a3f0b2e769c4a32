//! The cuckoo filter: finds a record by its name in two buckets of four slots, and
//! grows by one bucket at a time (linear hashing), so that no insert ever stops the world.
//!
//! ```text
//!  slot     63        52 51                    24 23              0
//!          +------------+------------------------+-----------------+
//!          | fingerprint|  line of the record    |  temperature    |   0 = empty
//!          +------------+------------------------+-----------------+
//!  bucket   4 slots, 32 bytes, half a line          page   128 buckets, 64 lines
//!  root --> directory page (1024 pages) --> page
//! ```
//!
//! With level n and split pointer p there are 2^n + p buckets. A record's two buckets are
//! `i1'` and `i2' = i1' xor h(fingerprint)` with n + 1 bits, each folded: the low n bits if
//! that is p or more, else all n + 1. Both always come from the record's stored hash, never
//! from a bucket number: folding loses the bit that would be needed.
//!
//! Promises: [`Filter::find`] reads at most two buckets and the records whose fingerprint
//! matches, and compares the name itself; room for an entry is found before anything
//! moves, with at most 500 buckets looked at; a split moves entries of one bucket only.

use crate::alloc::{self, Plan};
use crate::hash::{Hash, Kind};
use crate::id::{RecordId, index};
use crate::memory::Memory;
use crate::record::{Record, planned};
use crate::root::{Counter, DIRECTORIES, Field, MAX_LINES, Root};
use crate::walk::Counters;

/// Slots of a bucket. Four load to 95 % before a search fails; two only to 84 %.
pub(crate) const SLOTS: u32 = 4;
/// Buckets of a page, as a power of two: 4 KiB, the largest allocation.
const PAGE_BITS: u32 = 7;
/// Pages of a directory page.
const DIRECTORY_BITS: u32 = 10;
/// An empty filter has one page.
pub(crate) const FIRST_LEVEL: u32 = PAGE_BITS;
/// Above this many used slots in 1000 a new entry splits a bucket. 94 %: at 95 % path
/// searches become long, below it memory lies idle.
const GROW_LOAD: u64 = 900;
/// Buckets a search may look at: the paper's 500 kicks.
const MOST_KICKS: usize = 500;
/// Splits one new entry may cause when no path is found: a page of them.
const MOST_SPLITS: u32 = 128;

const LINE_SHIFT: u32 = 24;
const FINGERPRINT_SHIFT: u32 = 52;
/// A temperature stays here when it gets here.
pub(crate) const HOTTEST: u32 = (1 << LINE_SHIFT) - 1;

const _: () = assert!(LINE_SHIFT + crate::id::LINE_BITS == FINGERPRINT_SHIFT);
const _: () = assert!(FINGERPRINT_SHIFT + crate::hash::FINGERPRINT_BITS == 64);
const _: () = assert!(1 << PAGE_BITS == MAX_LINES * 2 && 1 << DIRECTORY_BITS == MAX_LINES * 16);

/// An entry of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Entry {
    fn new(hash: Hash, record: RecordId) -> Entry {
        Entry(hash.fingerprint() << FINGERPRINT_SHIFT | u64::from(record.line()) << LINE_SHIFT)
    }

    #[inline]
    pub(crate) fn fingerprint(self) -> u64 {
        self.0 >> FINGERPRINT_SHIFT
    }

    /// The record, or none if the slot is empty.
    #[inline]
    pub(crate) fn record(self) -> Option<RecordId> {
        let (low, _) = crate::id::halves(self.0 << (64 - FINGERPRINT_SHIFT) >> 36);
        RecordId::from_word(low)
    }

    #[inline]
    pub(crate) fn temperature(self) -> u32 {
        crate::id::halves(self.0).0 & HOTTEST
    }
}

/// How many buckets there are, and where a hash folds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) level: u32,
    pub(crate) split: u32,
}

impl Geometry {
    pub(crate) fn buckets(self) -> u32 {
        (1 << self.level) + self.split
    }

    #[inline]
    fn fold(self, i: u32) -> u32 {
        let mask = (1 << self.level) - 1;
        let low = i & mask;
        if low < self.split {
            i & (mask << 1 | 1)
        } else {
            low
        }
    }

    /// The two buckets of a hash; they may be one.
    #[inline]
    pub(crate) fn buckets_of(self, hash: Hash) -> (u32, u32) {
        (self.fold(hash.first()), self.fold(hash.second()))
    }

    /// After one more split.
    fn grown(self) -> Geometry {
        let split = self.split + 1;
        if split == 1 << self.level {
            Geometry {
                level: self.level + 1,
                split: 0,
            }
        } else {
            Geometry { split, ..self }
        }
    }
}

/// The filter of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'m> {
    mem: &'m Memory,
    root: Root<'m>,
}

/// A slot of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: u32,
    pub(crate) slot: u32,
}

impl<'m> Filter<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory) -> Filter<'m> {
        Filter {
            mem,
            root: Root::new(mem),
        }
    }

    /// Makes an empty filter of one page in a new image.
    ///
    /// # Panics
    /// If there is no memory for it; a fresh chunk 0 has it.
    pub(crate) fn format(self) {
        self.root.set(Field::Level, FIRST_LEVEL);
        self.add_page();
    }

    #[inline]
    pub(crate) fn geometry(self) -> Geometry {
        Geometry {
            level: self.root.get(Field::Level),
            split: self.root.get(Field::Split),
        }
    }

    /// The line of a bucket, and the byte in it where the bucket begins.
    #[inline]
    fn bucket(self, bucket: u32) -> (u32, usize) {
        let page = bucket >> PAGE_BITS;
        let directory = self.root.directory(page >> DIRECTORY_BITS);
        let in_directory = page & ((1 << DIRECTORY_BITS) - 1);
        let page = self
            .mem
            .line(directory + in_directory / 16)
            .u32(index(in_directory % 16) * 4);
        let in_page = bucket & ((1 << PAGE_BITS) - 1);
        (page + in_page / 2, index(in_page % 2) * 32)
    }

    #[inline]
    pub(crate) fn read(self, bucket: u32) -> [Entry; SLOTS as usize] {
        let (line, at) = self.bucket(bucket);
        let line = self.mem.line(line);
        [0, 8, 16, 24].map(|slot| Entry(line.u64(at + slot)))
    }

    fn get(self, place: Place) -> Entry {
        let (line, at) = self.bucket(place.bucket);
        Entry(self.mem.line(line).u64(at + index(place.slot) * 8))
    }

    pub(crate) fn set(self, place: Place, entry: Option<Entry>) {
        let (line, at) = self.bucket(place.bucket);
        let word = entry.map_or(0, |entry| entry.0);
        self.mem
            .line(line)
            .set_u64(at + index(place.slot) * 8, word);
    }

    /// Finds a record by its name.
    #[inline]
    pub(crate) fn find(
        self,
        kind: Kind,
        hash: Hash,
        name: &[u8],
        counters: &mut Counters,
    ) -> Option<(Record<'m>, Place)> {
        let (first, second) = self.geometry().buckets_of(hash);
        for bucket in [first, second] {
            for (slot, entry) in (0..).zip(self.read(bucket)) {
                if entry.fingerprint() != hash.fingerprint() {
                    continue;
                }
                let Some(id) = entry.record() else { continue };
                counters.fingerprint_checks += 1;
                let record = Record::new(self.mem, id);
                if record.is(kind, hash, name) {
                    return Some((record, Place { bucket, slot }));
                }
                counters.false_positives += 1;
            }
            if first == second {
                break;
            }
        }
        None
    }

    /// One lookup more. Two readers at once may count as one: it is a temperature.
    #[inline]
    pub(crate) fn warm(self, place: Place) {
        let entry = self.get(place);
        if entry.temperature() < HOTTEST {
            self.set(place, Some(Entry(entry.0 + 1)));
        }
    }

    /// Enters into a plan what [`Filter::grow`] for `new` entries will allocate.
    /// `false`: the directory is full.
    #[must_use]
    pub(crate) fn plan(self, new: u32, plan: &mut Plan<'_>) -> bool {
        let pages = self.root.get(Field::Pages);
        let buckets = self.geometry().buckets() + self.splits_for(new);
        let need = buckets.div_ceil(1 << PAGE_BITS);
        for page in pages..need {
            if page % (1 << DIRECTORY_BITS) == 0 {
                plan.take(MAX_LINES, 1);
            }
            plan.take(MAX_LINES, 1);
        }
        need <= DIRECTORIES << DIRECTORY_BITS
    }

    /// Splits as many buckets as `new` entries ask for by the load.
    pub(crate) fn grow(self, new: u32) {
        for _ in 0..self.splits_for(new) {
            self.split();
        }
    }

    fn splits_for(self, new: u32) -> u32 {
        let buckets = self.geometry().buckets();
        let mut splits = 0;
        for entry in 1..=new {
            let used = self.used() + u64::from(entry);
            let slots = u64::from(buckets + splits) * u64::from(SLOTS);
            splits += u32::from(used * 1000 > slots * GROW_LOAD);
        }
        splits
    }

    /// Lines that [`Filter::plan`] may enter for one insert, at most: three entries cross at
    /// most one border of a page.
    pub(crate) const fn bound_lines() -> usize {
        2 * index(MAX_LINES)
    }

    fn used(self) -> u64 {
        self.root.count(Counter::Entities) + self.root.count(Counter::Trees)
    }

    /// Enters a record whose name is not there yet; `later` single lines stay available.
    /// `false`: no room was found, which takes nine entries with one hash.
    #[must_use]
    pub(crate) fn add(self, record: Record<'m>, later: usize) -> bool {
        let hash = record.hash();
        let mut splits = 0;
        let place = loop {
            if let Some(place) = self.make_room(hash) {
                break place;
            }
            // Nobody planned for this, so the memory must be to be had now.
            if splits == MOST_SPLITS || !self.can_split(later) {
                return false;
            }
            self.split();
            splits += 1;
        };
        self.set(place, Some(Entry::new(hash, record.id())));
        true
    }

    /// Whether a split would find the memory it needs, and leave so many lines.
    fn can_split(self, later: usize) -> bool {
        let pages = self.root.get(Field::Pages);
        if self.geometry().buckets() < pages << PAGE_BITS {
            return true;
        }
        let mut plan = Plan::new(self.root);
        plan.take(MAX_LINES, 2);
        plan.take(1, later);
        pages < DIRECTORIES << DIRECTORY_BITS && plan.shortage().is_none()
    }

    /// Takes a record's entry out.
    pub(crate) fn remove(self, record: Record<'m>) {
        let place = self
            .place_of(record)
            .expect("a record in use is in the filter");
        self.set(place, None);
    }

    /// Where a record's entry is.
    pub(crate) fn place_of(self, record: Record<'m>) -> Option<Place> {
        let (first, second) = self.geometry().buckets_of(record.hash());
        [first, second].into_iter().find_map(|bucket| {
            let mut slots = (0..).zip(self.read(bucket));
            let (slot, _) = slots.find(|(_, entry)| entry.record() == Some(record.id()))?;
            Some(Place { bucket, slot })
        })
    }

    fn add_page(self) {
        let page = self.root.get(Field::Pages);
        let (directory, at) = (page >> DIRECTORY_BITS, page & ((1 << DIRECTORY_BITS) - 1));
        if at == 0 {
            let line = planned(alloc::take(self.mem, MAX_LINES)).get();
            self.mem.zero(line, MAX_LINES);
            self.root.set_directory(directory, line);
        }
        let line = planned(alloc::take(self.mem, MAX_LINES)).get();
        self.mem.zero(line, MAX_LINES);
        let entry = self.mem.line(self.root.directory(directory) + at / 16);
        entry.set_u32(index(at % 16) * 4, line);
        self.root.set(Field::Pages, page + 1);
    }

    /// Splits the bucket at the split pointer: its entries stay or move to the new last one.
    fn split(self) {
        let old = self.geometry();
        let new = old.grown();
        let (from, to) = (old.split, old.buckets());
        if to >> PAGE_BITS == self.root.get(Field::Pages) {
            self.add_page();
        }
        let mut next = 0;
        for (slot, entry) in (0..).zip(self.read(from)) {
            let Some(record) = entry.record() else {
                continue;
            };
            let hash = Record::new(self.mem, record).hash();
            // An entry that was here as its first goes where its first goes. If both of its
            // buckets were this one, either place is right.
            let (first, second) = new.buckets_of(hash);
            let stays = if old.buckets_of(hash).0 == from {
                first
            } else {
                second
            } == from;
            if !stays {
                self.set(
                    Place {
                        bucket: to,
                        slot: next,
                    },
                    Some(entry),
                );
                self.set(Place { bucket: from, slot }, None);
                next += 1;
            }
        }
        self.root.set(Field::Level, new.level);
        self.root.set(Field::Split, new.split);
        self.root.add(Counter::Splits, 1);
    }

    /// Finds, breadth first, the shortest chain of moves that empties a slot in one of the
    /// hash's buckets; then moves from its far end.
    fn make_room(self, hash: Hash) -> Option<Place> {
        let geometry = self.geometry();
        let mut search = Search {
            nodes: [Node::default(); MOST_KICKS],
            len: 0,
        };
        let (first, second) = geometry.buckets_of(hash);
        for bucket in [first, second] {
            if let Some(slot) = self.empty_slot(bucket) {
                return Some(Place { bucket, slot });
            }
            search.push(Node {
                bucket,
                from: Node::NONE,
                slot: 0,
            });
        }
        let mut next = 0;
        while next < search.len {
            let node = search.nodes[next];
            for (slot, entry) in (0..).zip(self.read(node.bucket)) {
                let Some(record) = entry.record() else {
                    continue;
                };
                let (a, b) = geometry.buckets_of(Record::new(self.mem, record).hash());
                let bucket = if a == node.bucket { b } else { a };
                if search.leads_through(next, bucket) {
                    continue;
                }
                let step = Node {
                    bucket,
                    from: crate::id::word(next),
                    slot,
                };
                if let Some(empty) = self.empty_slot(bucket) {
                    return Some(self.shift(&search, step, empty));
                }
                search.push(step);
            }
            next += 1;
        }
        None
    }

    fn empty_slot(self, bucket: u32) -> Option<u32> {
        let mut slots = (0..).zip(self.read(bucket));
        slots
            .find(|(_, entry)| entry.record().is_none())
            .map(|(slot, _)| slot)
    }

    /// Moves each entry of the chain one bucket on, the last first. Returns the slot this empties.
    fn shift(self, search: &Search, last: Node, empty: u32) -> Place {
        let mut to = Place {
            bucket: last.bucket,
            slot: empty,
        };
        let mut node = last;
        while node.from != Node::NONE {
            let from = search.nodes[index(node.from)];
            let place = Place {
                bucket: from.bucket,
                slot: node.slot,
            };
            self.set(to, Some(self.get(place)));
            self.set(place, None);
            self.root.add(Counter::Kicks, 1);
            (to, node) = (place, from);
        }
        to
    }

    /// Puts the slots of a bucket in descending order of temperature, empty ones last.
    pub(crate) fn order(self, bucket: u32) {
        let before = self.read(bucket);
        let mut after = before;
        after.sort_by_key(|entry| (entry.record().is_none(), HOTTEST - entry.temperature()));
        if after != before {
            for (slot, entry) in (0..).zip(after) {
                self.set(Place { bucket, slot }, Some(entry));
            }
        }
    }
}

/// A bucket that a chain of moves reaches.
#[derive(Clone, Copy, Default)]
struct Node {
    bucket: u32,
    /// The node before it, and which of that one's slots moves here.
    from: u32,
    slot: u32,
}

impl Node {
    const NONE: u32 = u32::MAX;
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
            node = self.nodes[index(node.from)];
        }
    }
}
