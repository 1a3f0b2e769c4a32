//! What a bucket of the filter holds, and which two buckets a hash has.
//!
//! ```text
//!  slot     63        52 51                    24 23              0
//!          +------------+------------------------+-----------------+
//!          | fingerprint|  line of the record    |  temperature    |   0 = empty
//!          +------------+------------------------+-----------------+
//!  bucket   4 slots, 32 bytes, half a line
//! ```
//!
//! With level n and split pointer p there are 2^n + p buckets. A record's two buckets are
//! `i1'` and `i2' = i1' xor h(fingerprint)` with n + 1 bits, each folded: the low n bits if
//! that is p or more, else all n + 1. Both always come from the record's stored hash, never
//! from a bucket number: folding loses the bit that would be needed.

use crate::hash::{FINGERPRINT_BITS, Hash};
use crate::id::{LINE_BITS, RecordId, halves};
use crate::memory::Line;

/// Slots of a bucket. Four load to 95 % before a search fails; two only to 84 %.
pub(crate) const SLOTS: usize = 4;

const LINE_SHIFT: u32 = 24;
const FINGERPRINT_SHIFT: u32 = 52;
/// A temperature stays here when it gets here.
pub(crate) const HOTTEST: u32 = (1 << LINE_SHIFT) - 1;

const _: () = assert!(LINE_SHIFT + LINE_BITS == FINGERPRINT_SHIFT);
const _: () = assert!(FINGERPRINT_SHIFT + FINGERPRINT_BITS == 64);

/// An entry of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Entry {
    /// An empty slot.
    pub(crate) const NONE: Entry = Entry(0);

    pub(crate) fn new(hash: Hash, record: RecordId) -> Entry {
        Entry(hash.fingerprint() << FINGERPRINT_SHIFT | u64::from(record.line()) << LINE_SHIFT)
    }

    #[inline]
    pub(crate) fn fingerprint(self) -> u64 {
        self.0 >> FINGERPRINT_SHIFT
    }

    /// The record, or none if the slot is empty.
    #[inline]
    pub(crate) fn record(self) -> Option<RecordId> {
        let (word, _) = halves(self.0 >> LINE_SHIFT);
        RecordId::from_word(word & ((1 << LINE_BITS) - 1))
    }

    #[inline]
    pub(crate) fn temperature(self) -> u32 {
        halves(self.0).0 & HOTTEST
    }

    /// One degree hotter, or none if there is no hotter.
    #[inline]
    pub(crate) fn warmer(self) -> Option<Entry> {
        (self.temperature() < HOTTEST).then_some(Entry(self.0 + 1))
    }
}

/// A bucket where it is: half a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket<'m> {
    line: Line<'m>,
    upper: bool,
}

impl<'m> Bucket<'m> {
    /// The lower or the upper half of a line.
    #[inline]
    pub(crate) fn new(line: Line<'m>, upper: bool) -> Bucket<'m> {
        Bucket { line, upper }
    }

    #[inline]
    pub(crate) fn read(self) -> [Entry; SLOTS] {
        // Places the compiler knows: no check is left of those in `Line`.
        let places = if self.upper { [32, 40, 48, 56] } else { [0, 8, 16, 24] };
        places.map(|at| Entry(self.line.u64(at)))
    }

    /// Which slots hold a record of that fingerprint, a bit each. An empty slot passes for
    /// fingerprint 0: the record is asked for anyway.
    #[inline]
    pub(crate) fn candidates(entries: &[Entry; SLOTS], hash: Hash) -> u32 {
        let bit = |i: usize| u32::from(entries[i].fingerprint() == hash.fingerprint()) << i;
        bit(0) | bit(1) | bit(2) | bit(3)
    }

    #[inline]
    pub(crate) fn get(self, slot: usize) -> Entry {
        Entry(self.line.u64(self.at(slot)))
    }

    #[inline]
    pub(crate) fn set(self, slot: usize, entry: Entry) {
        self.line.set_u64(self.at(slot), entry.0);
    }

    #[inline]
    fn at(self, slot: usize) -> usize {
        slot * 8 + if self.upper { SLOTS * 8 } else { 0 }
    }

    #[inline]
    pub(crate) fn empty_slot(self) -> Option<usize> {
        self.read().iter().position(|entry| entry.record().is_none())
    }

    #[inline]
    pub(crate) fn prefetch(self) {
        self.line.prefetch();
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
        if low < self.split { i & (mask << 1 | 1) } else { low }
    }

    /// The two buckets of a hash; they may be one.
    #[inline]
    pub(crate) fn buckets_of(self, hash: Hash) -> (u32, u32) {
        (self.fold(hash.first()), self.fold(hash.second()))
    }

    /// After one more split.
    pub(crate) fn grown(self) -> Geometry {
        let split = self.split + 1;
        if split == 1 << self.level {
            Geometry { level: self.level + 1, split: 0 }
        } else {
            Geometry { split, ..self }
        }
    }
}

/// A slot of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: u32,
    pub(crate) slot: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes() -> impl Iterator<Item = Hash> {
        (1..5000_u64).map(|i| Hash(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i << 52))
    }

    #[test]
    fn an_entry_reads_back_as_it_was_made() {
        for hash in hashes() {
            let (line, _) = halves(hash.0 >> 7 & ((1 << LINE_BITS) - 1) | 1);
            let record = RecordId::from_word(line);
            let mut entry = Entry::new(hash, record.unwrap());
            entry = entry.warmer().and_then(Entry::warmer).unwrap();
            assert_eq!((entry.record(), entry.temperature()), (record, 2));
            assert_eq!(entry.fingerprint(), hash.fingerprint());
        }
        assert_eq!(Entry::NONE.record(), None);
        assert_eq!(Entry(u64::from(HOTTEST)).warmer(), None);
    }

    #[test]
    fn a_split_moves_a_bucket_only_to_its_new_half() {
        let mut old = Geometry { level: 3, split: 0 };
        while old.level < 8 {
            let new = old.grown();
            assert_eq!(new.buckets(), old.buckets() + 1);
            for hash in hashes() {
                let ((a, b), (c, d)) = (old.buckets_of(hash), new.buckets_of(hash));
                for (before, after) in [(a, c), (b, d)] {
                    let moved = before == old.split && after == old.buckets();
                    assert!(before == after || moved, "{old:?} {before} -> {after}");
                }
            }
            old = new;
        }
    }
}
