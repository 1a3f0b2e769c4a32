//! The cuckoo filter: finds a record by its name in two buckets of four slots, and
//! grows by one bucket at a time (linear hashing), so that no insert ever stops the world.
//!
//! ```text
//!  root --> directory page (1024 pages) --> page (128 buckets, 64 lines) --> bucket (32 bytes)
//! ```
//!
//! Besides names it holds what finds them in a text: forms and beginnings, see `forms.rs`.
//! `bucket.rs` has the bits of a slot and the arithmetic of buckets, `search.rs` finds room.
//!
//! Promises: [`Filter::find`] reads at most two buckets and the records whose fingerprint
//! matches, and compares the name itself; room for an entry is found before anything
//! moves, with at most 500 buckets looked at; a split moves entries of one bucket only.

use std::cmp::Reverse;

use crate::alloc::{self, Plan};
use crate::answer::Counters;
use crate::bucket::{Bucket, Entry, Geometry, Leads, Pattern, Place, SLOTS};
use crate::hash::{Hash, Kind};
use crate::id::{index, wide};
use crate::memory::Memory;
use crate::record::{Record, planned};
use crate::root::{Counter, DIRECTORIES, Field, MAX_LINES, Root};

/// Buckets of a page, as a power of two: 4 KiB, the largest allocation.
const PAGE_BITS: u32 = 7;
/// Pages of a directory page.
const DIRECTORY_BITS: u32 = 10;
/// An empty filter has one page.
pub(crate) const FIRST_LEVEL: u32 = PAGE_BITS;
/// Above this many used slots in 1000 a new entry splits a bucket. While a doubling is half
/// done, the buckets not yet split attract twice the entries of the others, so the table
/// takes only some 92 % (and the search for a path looks at over 100 buckets) where a
/// finished one takes 96 %. At 90 % it looks at 7 to 33 and moves 1.2 entries for each new
/// one, at 80 % it moves 0.5: an insert takes a third of the time (1.5 us instead of 4.5), for
/// 1.1 bytes an entry. That a table takes so much before a search fails is shown by
/// `loads_before_growth_and_costs_of_search` below.
const GROW_LOAD: u64 = 800;
/// The largest level that the directory's pages have buckets for.
pub(crate) const MOST_LEVEL: u32 = DIRECTORIES.ilog2() + DIRECTORY_BITS + PAGE_BITS;
/// Splits one new entry may cause when no path is found: a page of them.
const MOST_SPLITS: u32 = 128;

const _: () = assert!(1 << PAGE_BITS == MAX_LINES * 2 && 1 << DIRECTORY_BITS == MAX_LINES * 16);

/// The filter of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'m> {
    mem: &'m Memory,
    root: Root<'m>,
}

/// The slot at which a reader found a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'m> {
    bucket: Bucket<'m>,
    slot: usize,
}

impl Spot<'_> {
    /// One lookup more. Two readers at once may count as one: it is a temperature.
    #[inline]
    pub(crate) fn warm(self) {
        if let Some(warmer) = self.bucket.get(self.slot).warmer() {
            self.bucket.set(self.slot, warmer);
        }
    }
}

impl<'m> Filter<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory) -> Filter<'m> {
        Filter { mem, root: Root::new(mem) }
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
        Geometry { level: self.root.get(Field::Level), split: self.root.get(Field::Split) }
    }

    #[inline]
    pub(crate) fn bucket(self, bucket: u32) -> Bucket<'m> {
        self.bucket_at(self.half_line(bucket))
    }

    /// Where a bucket is: its line, and which half. Valid until the filter grows.
    #[inline]
    pub(crate) fn half_line(self, bucket: u32) -> u32 {
        let page = bucket >> PAGE_BITS;
        let directory = self.root.directory(page >> DIRECTORY_BITS);
        let in_directory = page & ((1 << DIRECTORY_BITS) - 1);
        let page = self.mem.line(directory + in_directory / 16).u32(index(in_directory % 16) * 4);
        page * 2 + (bucket & ((1 << PAGE_BITS) - 1))
    }

    /// The bucket of a [`Filter::half_line`].
    #[inline]
    pub(crate) fn bucket_at(self, half_line: u32) -> Bucket<'m> {
        Bucket::new(self.mem.line(half_line / 2), half_line % 2 == 1)
    }

    #[inline]
    pub(crate) fn read(self, bucket: u32) -> [Entry; SLOTS] {
        self.bucket(bucket).read()
    }

    pub(crate) fn get(self, place: Place) -> Entry {
        self.bucket(place.bucket).get(place.slot)
    }

    pub(crate) fn set(self, place: Place, entry: Entry) {
        self.bucket(place.bucket).set(place.slot, entry);
    }

    #[inline]
    pub(crate) fn mem(self) -> &'m Memory {
        self.mem
    }

    #[inline]
    pub(crate) fn root(self) -> Root<'m> {
        self.root
    }

    /// Finds a record by its name, and the slot that led to it.
    #[inline]
    pub(crate) fn find(
        self,
        kind: Kind,
        hash: Hash,
        name: &[u8],
        counters: &mut Counters,
    ) -> Option<(Record<'m>, Spot<'m>)> {
        let (first, second) = self.geometry().buckets_of(hash);
        let buckets = [self.bucket(first), self.bucket(second)];
        buckets[1].prefetch();
        for bucket in &buckets[..if first == second { 1 } else { 2 }] {
            let entries = bucket.read();
            let mut candidates = Bucket::candidates(&entries, Pattern::name(hash));
            while candidates != 0 {
                let slot = index(candidates.trailing_zeros());
                candidates &= candidates - 1;
                let Some(id) = entries[slot].record() else { continue };
                counters.fingerprint_checks += 1;
                let record = Record::new(self.mem, id);
                // Most likely it is the one, and its inline slots are mostly in this line.
                self.mem.prefetch(id.line() + 1);
                if record.is(kind, hash, name) {
                    return Some((record, Spot { bucket: *bucket, slot }));
                }
                counters.false_positives += 1;
            }
        }
        None
    }

    /// Fetches what [`Filter::find`] will read first.
    pub(crate) fn prefetch_buckets(self, hash: Hash) {
        let (first, second) = self.geometry().buckets_of(hash);
        self.bucket(first).prefetch();
        self.bucket(second).prefetch();
    }

    /// Fetches the records that [`Filter::find`] will compare.
    pub(crate) fn prefetch_candidates(self, hash: Hash) {
        let (first, second) = self.geometry().buckets_of(hash);
        for bucket in [first, second] {
            let entries = self.bucket(bucket).read();
            let mut candidates = Bucket::candidates(&entries, Pattern::name(hash));
            while candidates != 0 {
                let entry = entries[index(candidates.trailing_zeros())];
                candidates &= candidates - 1;
                if let Some(id) = entry.record() {
                    self.mem.prefetch(id.line());
                    self.mem.prefetch(id.line() + 1);
                }
            }
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
            let slots = u64::from(buckets + splits) * wide(SLOTS);
            splits += u32::from(used * 1000 > slots * GROW_LOAD);
        }
        splits
    }

    /// Lines that [`Filter::plan`] may enter for one insert, at most: its entries (two names,
    /// their forms and beginnings, a tree) cross at most one border of a page.
    pub(crate) const fn bound_lines() -> usize {
        2 * index(MAX_LINES)
    }

    pub(crate) fn used(self) -> u64 {
        let counts = [Counter::Entities, Counter::Trees, Counter::Forms];
        counts.into_iter().map(|counter| self.root.count(counter)).sum()
    }

    /// Enters a record whose name is not there yet; `later` single lines stay available.
    /// `false`: no room was found, which takes nine entries with one hash.
    #[must_use]
    pub(crate) fn add(self, record: Record<'m>, later: usize) -> bool {
        let hash = record.hash();
        self.enter(hash, Entry::new(hash, record.id()), later)
    }

    /// Enters an entry of that hash; otherwise as [`Filter::add`].
    #[must_use]
    pub(crate) fn enter(self, hash: Hash, entry: Entry, later: usize) -> bool {
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
        let (first, _) = self.geometry().buckets_of(hash);
        self.set(place, entry.placed(place.bucket != first));
        true
    }

    /// The hash of an entry in a bucket, as far as its buckets depend on it.
    #[inline]
    pub(crate) fn hash_of(self, bucket: u32, entry: Entry) -> Hash {
        match (entry.leads(), entry.record()) {
            (Leads::Name, Some(record)) => Record::new(self.mem, record).hash(),
            _ => entry.hash_in(bucket),
        }
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
        let place = self.place_of(record).expect("a record in use is in the filter");
        self.set(place, Entry::NONE);
    }

    /// Where a record's entry is.
    pub(crate) fn place_of(self, record: Record<'m>) -> Option<Place> {
        let (first, second) = self.geometry().buckets_of(record.hash());
        [first, second].into_iter().find_map(|bucket| {
            let mut slots = self.read(bucket).into_iter().enumerate();
            let (slot, _) = slots.find(|(_, entry)| entry.record() == Some(record.id()))?;
            Some(Place { bucket, slot })
        })
    }

    fn add_page(self) {
        let page = self.root.get(Field::Pages);
        let (directory, at) = (page >> DIRECTORY_BITS, page & ((1 << DIRECTORY_BITS) - 1));
        if at == 0 {
            let line = planned(alloc::take(self.mem, MAX_LINES)).get();
            self.mem.span(line).zero(MAX_LINES);
            self.root.set_directory(directory, line);
        }
        let line = planned(alloc::take(self.mem, MAX_LINES)).get();
        self.mem.span(line).zero(MAX_LINES);
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
        for (slot, entry) in self.read(from).into_iter().enumerate() {
            if entry.is_empty() {
                continue;
            }
            let hash = self.hash_of(from, entry);
            // An entry that was here as its first goes where its first goes. If both of its
            // buckets were this one, either place is right.
            let (first, second) = new.buckets_of(hash);
            let goes = if old.buckets_of(hash).0 == from { first } else { second };
            if goes != from {
                self.set(Place { bucket: to, slot: next }, entry);
                self.set(Place { bucket: from, slot }, Entry::NONE);
                next += 1;
            }
        }
        self.root.set(Field::Level, new.level);
        self.root.set(Field::Split, new.split);
        self.root.add(Counter::Splits, 1);
    }

    /// Puts the slots of a bucket in descending order of temperature, empty ones last.
    pub(crate) fn order(self, bucket: u32) {
        let before = self.read(bucket);
        let mut after = before;
        after.sort_by_key(|entry| (entry.is_empty(), Reverse(entry.temperature())));
        if after != before {
            for (slot, entry) in after.into_iter().enumerate() {
                self.set(Place { bucket, slot }, entry);
            }
        }
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
