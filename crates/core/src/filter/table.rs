//! The cuckoo filter: finds a record by its name in two buckets of four slots, and
//! grows by one bucket at a time (linear hashing), so that no insert rebuilds the table.
//!
//! ```text
//!  root --> directory --> page (128 buckets) --> bucket
//! ```
//!
//! There are two tables: one of names, and one of the folded names and prefixes that find them in a text (see
//! `folded/index.rs`). If they shared a table, names would be spread over three times the memory. `bucket.rs` has the
//! layout of a page, its folder the bits of a slot and the arithmetic of buckets; `search.rs` finds room for an entry,
//! `table/growth.rs` adds buckets.
//!
//! Promises: [`Filter::find`] reads at most two buckets and the records whose tag
//! matches, and compares the name itself; room for an entry is found before anything
//! moves, after reading at most 500 buckets; a split moves entries of one bucket only.

pub(crate) mod directory;
mod growth;

use crate::filter::bucket::{Bucket, BucketSlot, Candidates, Cell, Entry, Geometry, SLOTS};
use crate::filter::counters::Counters;
use crate::memory::flat::Memory;
use crate::memory::hash::{Hash, Kind};
use crate::memory::id::RecordId;
use crate::memory::image::Image;
use crate::memory::root::{Counter, Root};
use crate::memory::tables::FIRST_LEVEL;
use crate::memory::tables::PAGE_BITS;
use crate::memory::tables::Table;
use crate::records::record::{self, Record};

/// The most splits for one new entry when no path is found: one page of buckets.
const MOST_SPLITS: u32 = 128;
/// Names looked up together, so that the lines of all are fetched at once. In a model 32 were faster than 16 and 8.
pub(crate) const TOGETHER: usize = 32;

/// A table of the filter of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'m> {
    root: Root<'m>,
    table: Table,
}

/// Where a reader found a record, and the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'m> {
    cell: Cell<'m>,
    record: Record<'m>,
}

/// A name that is looked up together with others.
#[derive(Clone, Copy)]
struct Probe<'n, 'm> {
    name: &'n [u8],
    hash: Hash,
    buckets: [Bucket<'m>; 2],
}

impl<'m> Spot<'m> {
    #[inline]
    pub(crate) fn record(self) -> Record<'m> {
        self.record
    }

    #[inline]
    pub(crate) fn cell(self) -> Cell<'m> {
        self.cell
    }
}

impl<'m> Filter<'m> {
    #[inline]
    pub(crate) fn new(root: Root<'m>, table: Table) -> Filter<'m> {
        Filter { root, table }
    }

    /// Makes an empty table of one page in a new image.
    ///
    /// # Panics
    /// If there is no memory for it; a fresh chunk 0 has it.
    pub(crate) fn format(self) {
        self.mem().forget_pages();
        self.root.set(self.table.fields()[0], FIRST_LEVEL);
        self.add_page();
        (0..1 << FIRST_LEVEL).for_each(|bucket| self.bucket(bucket).clear());
    }

    #[inline]
    pub(crate) fn geometry(self) -> Geometry {
        let [level, split, _] = self.table.fields();
        Geometry { level: self.root.get(level), split: self.root.get(split) }
    }

    fn set_geometry(self, geometry: Geometry) {
        let [level, split, _] = self.table.fields();
        self.root.set(level, geometry.level);
        self.root.set(split, geometry.split);
    }

    pub(crate) fn pages(self) -> u32 {
        self.root.get(self.table.fields()[2])
    }

    // Always inline, like what it calls: the checks that remain cost less than a call.
    #[inline(always)]
    pub(crate) fn bucket(self, bucket: u32) -> Bucket<'m> {
        let (mem, page) = (self.mem(), bucket >> PAGE_BITS);
        let known = mem.known_page(self.table, page);
        let page = known.unwrap_or_else(|| mem.learn_page(self.table, page, |i| self.page(i)));
        Bucket::new(page, bucket & ((1 << PAGE_BITS) - 1))
    }

    pub(crate) fn read(self, bucket: u32) -> [Entry; SLOTS] {
        self.bucket(bucket).read()
    }

    pub(crate) fn get(self, place: BucketSlot) -> Entry {
        self.bucket(place.bucket).get(place.slot)
    }

    pub(crate) fn set(self, place: BucketSlot, entry: Entry) {
        self.bucket(place.bucket).set(place.slot, entry);
    }

    #[inline]
    pub(crate) fn table(self) -> Table {
        self.table
    }

    #[inline]
    pub(crate) fn mem(self) -> &'m Memory {
        self.root.mem()
    }

    #[inline]
    pub(crate) fn root(self) -> Root<'m> {
        self.root
    }

    /// The two buckets of a hash; they may be one.
    #[inline(always)]
    pub(crate) fn buckets_of(self, hash: Hash) -> [Bucket<'m>; 2] {
        let (first, second) = self.geometry().buckets_of(hash);
        [self.bucket(first), self.bucket(second)]
    }

    /// Finds a record by its name, and the slot that led to it.
    #[inline(always)]
    pub(crate) fn find(
        self,
        kind: Kind,
        hash: Hash,
        name: &[u8],
        counters: &mut Counters,
    ) -> Option<Spot<'m>> {
        let buckets = self.buckets_of(hash);
        buckets.iter().for_each(|bucket| bucket.prefetch_words());
        self.compare(kind, name, Candidates::of(hash, buckets), counters)
    }

    /// The candidate that has the name.
    #[inline(always)]
    fn compare(
        self,
        kind: Kind,
        name: &[u8],
        candidates: Candidates<'m>,
        counters: &mut Counters,
    ) -> Option<Spot<'m>> {
        if candidates.is_empty() {
            return None;
        }
        for (id, cell) in candidates {
            counters.fingerprint_checks += 1;
            let record = Record::new(self.mem(), id);
            if record.is(kind, name) {
                return Some(Spot { cell, record });
            }
            counters.false_positives += 1;
        }
        None
    }

    /// Finds up to [`TOGETHER`] records by their names: no lookup waits for memory while another can begin. Calls
    /// `found` for each name, in order.
    pub(crate) fn find_together<'n>(
        self,
        kind: Kind,
        names: impl Iterator<Item = &'n [u8]>,
        counters: &mut Counters,
        mut found: impl FnMut(Option<Spot<'m>>),
    ) {
        let seed = self.root.seed();
        let mut asked: [Option<Probe<'_, 'm>>; TOGETHER] = [None; TOGETHER];
        let mut len = 0;
        for (asked, name) in asked.iter_mut().zip(names) {
            let hash = Hash::of(seed, kind, name);
            let buckets = self.buckets_of(hash);
            buckets.iter().for_each(|bucket| bucket.prefetch_tags());
            buckets.iter().for_each(|bucket| bucket.prefetch_words());
            *asked = Some(Probe { name, hash, buckets });
            len += 1;
        }
        let asked = &asked[..len];
        let mut all = [None; TOGETHER];
        for (candidates, asked) in all.iter_mut().zip(asked.iter().flatten()) {
            let mut those = Candidates::of(asked.hash, asked.buckets);
            *candidates = Some(those);
            if let Some((id, ..)) = those.next() {
                self.mem().prefetch_two(id.line());
            }
        }
        for (candidates, asked) in all.into_iter().flatten().zip(asked.iter().flatten()) {
            found(self.compare(kind, asked.name, candidates, counters));
        }
    }

    /// What counts the entries of a table of folded names or forms.
    pub(crate) fn counter(self) -> Counter {
        match self.table {
            Table::Names => Counter::Entities,
            Table::FoldedNames => Counter::FoldedNames,
            Table::Forms => Counter::Forms,
        }
    }

    pub(crate) fn used(self) -> u64 {
        match self.table {
            Table::Names => self.root.count(Counter::Entities) + self.root.count(Counter::Trees),
            Table::FoldedNames | Table::Forms => self.root.count(self.counter()),
        }
    }

    /// Enters a record whose name is not in the table yet; `later` single lines stay available. `false` if no room was
    /// found, which takes nine entries with the same hash.
    #[must_use]
    pub(crate) fn add(self, hash: Hash, record: RecordId, later: usize) -> bool {
        self.enter(hash, Entry::new(hash, record), later)
    }

    /// Enters an entry of that hash; `later` and the result are as in [`Filter::add`].
    #[must_use]
    pub(crate) fn enter(self, hash: Hash, entry: Entry, later: usize) -> bool {
        // Compiled once for each table, so that its fields and its entries' bits are constants.
        let entered = match self.table {
            Table::Names => Filter { table: Table::Names, ..self }.enter_there(hash, entry),
            Table::FoldedNames => {
                Filter { table: Table::FoldedNames, ..self }.enter_there(hash, entry)
            }
            Table::Forms => Filter { table: Table::Forms, ..self }.enter_there(hash, entry),
        };
        entered || self.enter_by_splits(hash, entry, later)
    }

    /// Enters an entry; `false` if there is no room.
    #[inline(always)]
    fn enter_there(self, hash: Hash, entry: Entry) -> bool {
        let Some(place) = self.make_room(hash) else { return false };
        let entry = match self.table {
            Table::Names => entry,
            Table::FoldedNames | Table::Forms => {
                entry.placed(place.bucket != self.geometry().buckets_of(hash).0)
            }
        };
        self.set(place, entry);
        true
    }

    /// Enters an entry by splitting buckets. No plan includes this, so there may be no memory.
    #[cold]
    fn enter_by_splits(self, hash: Hash, entry: Entry, later: usize) -> bool {
        for _ in 0..MOST_SPLITS {
            if !self.can_split(later) {
                return false;
            }
            self.split();
            if self.enter_there(hash, entry) {
                return true;
            }
        }
        false
    }

    /// The part of an entry's hash that its buckets depend on; undefined for an empty slot.
    #[inline]
    pub(crate) fn hash_of(self, bucket: u32, entry: Entry) -> Hash {
        match self.table {
            Table::Names => record::hash_at(self.mem(), entry.line()),
            Table::FoldedNames | Table::Forms => entry.hash_in(bucket),
        }
    }

    /// Removes a record's entry.
    pub(crate) fn remove(self, record: Record<'m>) {
        let place = self.place_of(record).expect("a record in use is in the filter");
        self.set(place, Entry::NONE);
    }

    /// Where a record's entry is.
    pub(crate) fn place_of(self, record: Record<'m>) -> Option<BucketSlot> {
        let (first, second) = self.geometry().buckets_of(record.hash());
        [first, second].into_iter().find_map(|bucket| {
            let mut slots = self.read(bucket).into_iter().enumerate();
            let (slot, _) = slots.find(|(_, entry)| entry.record() == Some(record.id()))?;
            Some(BucketSlot { bucket, slot })
        })
    }
}

impl<'m> Image<'m> {
    #[inline]
    pub(crate) fn names(self) -> Filter<'m> {
        Filter::new(self.root(), Table::Names)
    }

    /// The table of folded names and prefixes.
    #[inline]
    pub(crate) fn folded_names(self) -> Filter<'m> {
        Filter::new(self.root(), Table::FoldedNames)
    }

    /// The table of other forms of names.
    #[inline]
    pub(crate) fn forms(self) -> Filter<'m> {
        Filter::new(self.root(), Table::Forms)
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
