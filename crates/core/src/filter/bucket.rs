//! A bucket of a filter, read and written in place in its page.
//!
//! ```text
//!  page   tags of 128 buckets, 8 bytes each  | their words, 16 each | their tails, 8 each
//!         16 lines                           | 32 lines             | 16 lines; names: 1, unused
//! ```
//!
//! Tags lie together because most lookups end there: the lookup of an absent name reads two lines of tags, in an array
//! that is a third of the page or less. All eight tags of two buckets are compared at once. A slot whose word is 0 is
//! empty.
//!
//! `entry.rs` has the bits of a slot; `geometry.rs` says which two buckets a hash has.

mod entry;
mod geometry;

use crate::memory::casts::index;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Page, Tags, Words, equal_slots, equal_tags};
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::tables::PAGE_BITS;
use crate::memory::tables::PAGE_LINES;
use crate::memory::tables::TAILS_AT;

use entry::record_of;
pub(crate) use entry::{Entry, HOTTEST_CLASS, LENGTH_BITS, MOST_COUNTED, NOT_IN_WORDS, Pattern};
pub(crate) use geometry::Geometry;

/// Slots of a bucket. Four load to 95 % before a search fails; two only to 84 %.
pub(crate) const SLOTS: usize = 4;
const PAGE_BUCKETS: usize = 1 << PAGE_BITS;

/// The line of a page where tags end and words begin.
const WORDS_AT: usize = 16;

const _: () = assert!(SLOTS * 2 == size_of::<u64>());
const _: () = assert!(WORDS_AT * 64 == PAGE_BUCKETS * 8 && TAILS_AT * 64 == PAGE_BUCKETS * 24);
const _: () = assert!(PAGE_LINES * 64 == PAGE_BUCKETS * 32);

/// A bucket, in place in its page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket<'m> {
    page: Page<'m>,
    /// The bucket's number in the page.
    i: usize,
}

impl<'m> Bucket<'m> {
    /// Bucket `i` of a page.
    #[inline(always)]
    pub(crate) fn new(page: Page<'m>, i: u32) -> Bucket<'m> {
        Bucket { page, i: index(i) & (PAGE_BUCKETS - 1) }
    }

    #[inline(always)]
    fn tags(self) -> Tags<'m> {
        self.page.tags(self.i * 8)
    }

    /// The words of its slots: for a name, the record's line and the class.
    #[inline(always)]
    fn words(self) -> Words<'m> {
        self.page.words(WORDS_AT * LINE_BYTES + self.i * 16)
    }

    #[inline]
    fn has_tails(self) -> bool {
        self.page.lines() == PAGE_LINES
    }

    fn tails(self) -> u64 {
        if self.has_tails() { self.page.far_u64(self.tails_at()) } else { 0 }
    }

    fn tails_at(self) -> usize {
        TAILS_AT * LINE_BYTES + self.i * 8
    }

    #[inline]
    pub(crate) fn get(self, slot: usize) -> Entry {
        Entry::in_slot(slot, self.tags().get(), self.words().get(slot), self.tails())
    }

    #[inline]
    pub(crate) fn read(self) -> [Entry; SLOTS] {
        let (tags, words, tails) = (self.tags().get(), self.words(), self.tails());
        std::array::from_fn(|slot| Entry::in_slot(slot, tags, words.get(slot), tails))
    }

    #[inline]
    pub(crate) fn write(self, entries: [Entry; SLOTS]) {
        let four = |of: fn(Entry) -> u64| {
            let slots = entries.iter().enumerate();
            slots.fold(0, |all, (slot, &entry)| all | of(entry) << (slot * 16))
        };
        self.page.set_u64(self.i * 8, four(Entry::tag));
        let words = self.words();
        entries.iter().enumerate().for_each(|(slot, entry)| words.set(slot, entry.word()));
        if self.has_tails() {
            self.page.set_far_u64(self.tails_at(), four(Entry::tail));
        }
    }

    pub(crate) fn set(self, slot: usize, entry: Entry) {
        self.page.set_u64(self.i * 8, put(self.tags().get(), slot, entry.tag()));
        self.words().set(slot, entry.word());
        if self.has_tails() {
            self.page.set_far_u64(self.tails_at(), put(self.tails(), slot, entry.tail()));
        }
    }

    /// Makes all slots empty.
    pub(crate) fn clear(self) {
        self.write([Entry::NONE; SLOTS]);
    }

    /// The first slot that is empty.
    #[inline]
    pub(crate) fn empty_slot(self) -> Option<usize> {
        // An entry's tag may be 0, its word is not. The empty slot is unpredictable, so no branch chooses it.
        let words = self.words();
        let empty = (0..SLOTS).fold(0, |all, slot| all | u32::from(words.get(slot) == 0) << slot);
        (empty != 0).then(|| index(empty.trailing_zeros()))
    }

    #[inline]
    pub(crate) fn prefetch_tags(self) {
        self.tags().prefetch();
    }

    #[inline]
    pub(crate) fn prefetch_words(self) {
        self.words().prefetch();
    }

    /// Prefetches the part of a folded name's entry that is not in its tag.
    #[inline]
    pub(crate) fn prefetch_entries(self) {
        self.prefetch_words();
        self.page.prefetch(self.tails_at());
    }

    /// Whether some slot has a pattern's tag.
    #[inline]
    pub(crate) fn has_tag(self, pattern: Pattern) -> bool {
        equal_slots(self.tags().get(), pattern.tag()) != 0
    }

    /// The records of a bucket of names.
    pub(crate) fn records(self) -> impl Iterator<Item = RecordId> {
        (0..SLOTS).filter_map(move |slot| record_of(self.words().get(slot)))
    }

    /// The slots whose entries agree with a pattern, as a bit mask.
    #[inline]
    pub(crate) fn agreeing(self, pattern: Pattern) -> u32 {
        let mut equal = equal_slots(self.tags().get(), pattern.tag());
        let mut agreeing = 0;
        while equal != 0 {
            let slot = index(equal.trailing_zeros());
            equal &= equal - 1;
            agreeing |= u32::from(pattern.agrees(self.get(slot))) << slot;
        }
        agreeing
    }
}

/// Four tags or tails, with the one in a slot replaced.
fn put(all: u64, slot: usize, one: u64) -> u64 {
    let shift = slot * 16;
    all & !(0xFFFF << shift) | one << shift
}

/// The slots of two buckets that may hold a name, one after the other. No branch depends on the bucket: it would be
/// mispredicted one time in three, and the processor would discard the work it has begun on the next lookups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates<'m> {
    words: [Words<'m>; 2],
    left: u32,
}

/// A slot of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'m> {
    words: Words<'m>,
    slot: usize,
}

impl Cell<'_> {
    /// Sets the name's class. Readers may call it.
    #[inline]
    pub(crate) fn set_temperature_class(self, class: u32) {
        let word = self.words.get(self.slot);
        if word & HOTTEST_CLASS != class {
            self.words.set(self.slot, word & !HOTTEST_CLASS | class & HOTTEST_CLASS);
        }
    }
}

impl<'m> Candidates<'m> {
    #[inline(always)]
    pub(crate) fn of(hash: Hash, buckets: [Bucket<'m>; 2]) -> Candidates<'m> {
        let left = equal_tags(buckets.map(Bucket::tags), hash.0);
        Candidates { words: buckets.map(Bucket::words), left }
    }

    /// Whether no tag matches.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.left == 0
    }
}

impl<'m> Iterator for Candidates<'m> {
    type Item = (RecordId, Cell<'m>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        while self.left != 0 {
            let slot = index(self.left.trailing_zeros());
            self.left &= self.left - 1;
            let words = Words::select(slot < SLOTS, self.words[0], self.words[1]);
            if let Some(record) = record_of(words.get(slot)) {
                return Some((record, Cell { words, slot }));
            }
        }
        None
    }
}

/// A slot of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BucketSlot {
    pub(crate) bucket: u32,
    pub(crate) slot: usize,
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
