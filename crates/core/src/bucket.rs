//! What a bucket of the filter holds, and which two buckets a hash has.
//!
//! ```text
//!              63        52 51                    24 23  22 21            0
//!             +------------+------------------------+------+---------------+
//!  name       | fingerprint|  line of the record    |   0  |  temperature  |
//!  form       | fingerprint|  line of a record      |   1  |s| hash, 21 bits|
//!  beginning  | fingerprint|  hash, 28 bits         |   2  | count |lengths|
//!             +------------+------------------------+------+---------------+
//!  bucket   4 slots, 32 bytes, half a line; a slot of 0 is empty
//! ```
//!
//! A *name* leads to the record of an entity or tree; a *form* to the first of the entities
//! whose names fold to it; a *beginning* says that names begin with these words: how many, and
//! how long they are (see forms.rs). A form's and a beginning's hash must be known without a
//! record when they move. A beginning has its 28 bits. A form has bits 7 to 27, and `s`,
//! whether it stands in its second bucket: the bucket's number has the 7 bits below.
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
const KIND_SHIFT: u32 = 22;
/// A temperature stays here when it gets here.
pub(crate) const HOTTEST: u32 = (1 << KIND_SHIFT) - 1;
/// Bits of a bucket's number that are bits of a form's hash, and are not kept with it.
const KNOWN_BITS: u32 = 7;
/// A form that stands in its second bucket.
const SECOND: u64 = 1 << 21;
const FORM_BITS: u64 = SECOND - 1;
/// Bits of a beginning for the lengths of names.
pub(crate) const LENGTH_BITS: u32 = 12;
const COUNT_BITS: u32 = KIND_SHIFT - LENGTH_BITS;
/// A beginning of so many names stays for ever: what it costs is one slot for a thousand names.
pub(crate) const MOST_COUNTED: u32 = (1 << COUNT_BITS) - 1;

const FINGERPRINTS: u64 = u64::MAX << FINGERPRINT_SHIFT;
const LINES: u64 = ((1 << LINE_BITS) - 1) << LINE_SHIFT;
const KINDS: u64 = 3 << KIND_SHIFT;
const LOW: u64 = (1 << KIND_SHIFT) - 1;

const _: () = assert!(LINE_SHIFT + LINE_BITS == FINGERPRINT_SHIFT);
const _: () = assert!(FINGERPRINT_SHIFT + FINGERPRINT_BITS == 64);
const _: () = assert!(KNOWN_BITS <= crate::filter::FIRST_LEVEL, "a bucket's number has as many");
const _: () = assert!(21 + KNOWN_BITS == LINE_BITS && crate::filter::MOST_LEVEL < LINE_BITS);

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// To the record of that name.
    Name,
    /// To the first entity of that form.
    Form,
    /// To nothing: names of entities begin like this.
    Beginning,
}

/// An entry of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Entry {
    /// An empty slot.
    pub(crate) const NONE: Entry = Entry(0);

    /// A name's.
    pub(crate) fn new(hash: Hash, record: RecordId) -> Entry {
        Entry(hash.fingerprint() << FINGERPRINT_SHIFT | u64::from(record.line()) << LINE_SHIFT)
    }

    /// A form's, in its first bucket.
    pub(crate) fn form(hash: Hash, head: RecordId) -> Entry {
        let bits = u64::from(hash.first() >> KNOWN_BITS) & FORM_BITS;
        Entry(Entry::new(hash, head).0 | 1 << KIND_SHIFT | bits)
    }

    /// A beginning's, of one name.
    pub(crate) fn beginning(hash: Hash, lengths: u32) -> Entry {
        let bits = u64::from(hash.first()) << LINE_SHIFT & LINES;
        let one = 1 << LENGTH_BITS | u64::from(lengths);
        Entry(hash.fingerprint() << FINGERPRINT_SHIFT | bits | 2 << KIND_SHIFT | one)
    }

    /// The entry as it stands in its first or its second bucket.
    #[inline]
    pub(crate) fn placed(self, second: bool) -> Entry {
        match self.leads() {
            Leads::Form if second => Entry(self.0 | SECOND),
            Leads::Form => Entry(self.0 & !SECOND),
            Leads::Name | Leads::Beginning => self,
        }
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn leads(self) -> Leads {
        match self.0 & KINDS {
            0 => Leads::Name,
            KIND_OF_FORM => Leads::Form,
            _ => Leads::Beginning,
        }
    }

    #[inline]
    pub(crate) fn fingerprint(self) -> u64 {
        self.0 >> FINGERPRINT_SHIFT
    }

    #[inline]
    fn middle(self) -> u32 {
        halves(self.0 >> LINE_SHIFT).0 & ((1 << LINE_BITS) - 1)
    }

    /// The record of a name; none if the slot is empty or something else.
    #[inline]
    pub(crate) fn record(self) -> Option<RecordId> {
        RecordId::from_word(self.middle()).filter(|_| self.leads() == Leads::Name)
    }

    /// The first record of a form; none if the entry is something else.
    #[inline]
    pub(crate) fn head(self) -> Option<RecordId> {
        RecordId::from_word(self.middle()).filter(|_| self.leads() == Leads::Form)
    }

    /// What is known of the hash of a form or a beginning in that bucket: all that a
    /// [`Geometry`] asks for.
    pub(crate) fn hash_in(self, bucket: u32) -> Hash {
        let first = if self.leads() == Leads::Form {
            let mixed = if self.0 & SECOND == 0 { 0 } else { Hash::mixed(self.fingerprint()) };
            let known = (bucket ^ mixed) & ((1 << KNOWN_BITS) - 1);
            halves(self.0 & FORM_BITS).0 << KNOWN_BITS | known
        } else {
            self.middle()
        };
        Hash(self.fingerprint() << FINGERPRINT_SHIFT | u64::from(first))
    }

    /// A name's lookups.
    #[inline]
    pub(crate) fn temperature(self) -> u32 {
        if self.leads() == Leads::Name { halves(self.0 & LOW).0 } else { 0 }
    }

    /// One degree hotter, or none if there is no hotter.
    #[inline]
    pub(crate) fn warmer(self) -> Option<Entry> {
        (self.temperature() < HOTTEST).then_some(Entry(self.0 + 1))
    }

    /// Which lengths of names a beginning knows of.
    #[inline]
    pub(crate) fn lengths(self) -> u32 {
        halves(self.0).0 & ((1 << LENGTH_BITS) - 1)
    }

    /// How many names a beginning has; [`MOST_COUNTED`] is that many or more.
    pub(crate) fn count(self) -> u32 {
        halves(self.0 & LOW).0 >> LENGTH_BITS
    }

    /// A beginning with one name more.
    pub(crate) fn with(self, lengths: u32) -> Entry {
        let one = u64::from(self.count() < MOST_COUNTED) << LENGTH_BITS;
        Entry((self.0 | u64::from(lengths)) + one)
    }

    /// A beginning with one name less; empty if that was the last.
    pub(crate) fn without(self) -> Entry {
        match self.count() {
            MOST_COUNTED => self,
            0 | 1 => Entry::NONE,
            _ => Entry(self.0 - (1 << LENGTH_BITS)),
        }
    }
}

const KIND_OF_FORM: u64 = 1 << KIND_SHIFT;

/// What an entry that is looked for must agree in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    mask: u64,
    bits: u64,
}

impl Pattern {
    /// A name of that hash. An empty slot passes for fingerprint 0: the record is asked for
    /// anyway.
    #[inline]
    pub(crate) fn name(hash: Hash) -> Pattern {
        Pattern { mask: FINGERPRINTS | KINDS, bits: hash.fingerprint() << FINGERPRINT_SHIFT }
    }

    /// A form of that hash, in its first or its second bucket: 33 bits of the hash, and those
    /// that led to the bucket.
    #[inline]
    pub(crate) fn form(hash: Hash, second: bool) -> Pattern {
        let bits = u64::from(hash.first() >> KNOWN_BITS) & FORM_BITS;
        let second = if second { SECOND } else { 0 };
        let fingerprint = hash.fingerprint() << FINGERPRINT_SHIFT;
        Pattern {
            mask: FINGERPRINTS | KINDS | LOW,
            bits: fingerprint | KIND_OF_FORM | bits | second,
        }
    }

    /// A beginning of that hash: 40 bits of it. Two that agree in these are one.
    #[inline]
    pub(crate) fn beginning(hash: Hash) -> Pattern {
        let mask = FINGERPRINTS | LINES | KINDS;
        Pattern { mask, bits: Entry::beginning(hash, 0).0 & mask }
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

    /// Which slots agree with a pattern, a bit each.
    #[inline]
    pub(crate) fn candidates(entries: &[Entry; SLOTS], pattern: Pattern) -> u32 {
        let bit = |i: usize| u32::from(entries[i].0 & pattern.mask == pattern.bits) << i;
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
        self.read().iter().position(|entry| entry.is_empty())
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
    fn a_form_and_a_beginning_know_their_buckets_wherever_they_stand() {
        let record = RecordId::from_word(5).unwrap();
        for (n, hash) in hashes().enumerate() {
            let geometry = Geometry { level: 7 + n as u32 % 20, split: n as u32 % 128 };
            let both = geometry.buckets_of(hash);
            for (second, bucket) in [(false, both.0), (true, both.1)] {
                let form = Entry::form(hash, record).placed(second);
                assert_eq!(geometry.buckets_of(form.hash_in(bucket)), both);
                assert_eq!(
                    (form.head(), form.record(), form.temperature()),
                    (Some(record), None, 0)
                );
                let entries = [Entry::NONE, form, Entry::NONE, Entry::new(hash, record)];
                assert_eq!(Bucket::candidates(&entries, Pattern::form(hash, second)), 2);
                assert_eq!(Bucket::candidates(&entries, Pattern::form(hash, !second)), 0);
                assert_eq!(Bucket::candidates(&entries, Pattern::name(hash)) & 0b1010, 8);
                let beginning = Entry::beginning(hash, 5);
                assert_eq!(geometry.buckets_of(beginning.hash_in(bucket)), both);
                assert_eq!((beginning.head(), beginning.record()), (None, None));
            }
        }
    }

    #[test]
    fn a_beginning_counts_to_its_most_and_stays_there() {
        let mut beginning = Entry::beginning(Hash(u64::MAX), 1);
        for count in 1..=MOST_COUNTED {
            assert_eq!((beginning.count(), beginning.leads()), (count, Leads::Beginning));
            let less = beginning.without();
            assert_eq!(less.is_empty(), count == 1);
            assert!(count == 1 || count == MOST_COUNTED || less.count() == count - 1);
            beginning = beginning.with(1 << (count % LENGTH_BITS));
        }
        assert_eq!((beginning.count(), beginning.without()), (MOST_COUNTED, beginning));
        assert_eq!((beginning.lengths(), beginning.fingerprint()), (0xFFF, 0xFFF));
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
