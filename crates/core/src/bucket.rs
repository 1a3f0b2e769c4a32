//! What a bucket of a filter holds, and which two buckets a hash has.
//!
//! ```text
//!              tag, 16 bits         word, 32 bits           tail, 16 bits
//!             +--------------------+-----------------------+------------------+
//!  name       | fingerprint  | hash| line of the record| heat|   (none)        |
//!  form       | fingerprint  |1 s h| line of a record  | hash| hash            |
//!  beginning  | fingerprint  |2 h h| hash       | count      | count | lengths |
//!             +--------------------+-----------------------+------------------+
//!  bits         12              4    28 (26)             4 (6)  16 (4)  (12)
//!
//!  page   tags of 128 buckets, 8 bytes each  | their words, 16 each | their tails, 8 each
//!         16 lines                           | 32 lines             | 16 lines; names: 1, unused
//! ```
//!
//! Tags lie together because most questions end there: a name that is not there costs two
//! lines of tags, in an array that is a fifth of all. All eight tags of two buckets are compared
//! at once. A slot whose word is 0 is empty.
//!
//! A *name* leads to the record of an entity or tree; a *form* to the first of the entities
//! whose names fold to it; a *beginning* says that names begin with these words: how many, and
//! how long they are (see forms.rs). Names are in a table of their own. A form's and a
//! beginning's hash must be known without a record when they move. A beginning has 28 bits of
//! it. A form has bits 7 to 27, and `s`, whether it stands in its second bucket: the bucket's
//! number has the 7 bits below.
//!
//! With level n and split pointer p there are 2^n + p buckets. A record's two buckets are
//! `i1'` and `i2' = i1' xor h(fingerprint)` with n + 1 bits, each folded: the low n bits if
//! that is p or more, else all n + 1. Both always come from the record's stored hash, never
//! from a bucket number: folding loses the bit that would be needed.

use std::hint::select_unpredictable;

use crate::chunk::LINE_BYTES;
use crate::hash::Hash;
use crate::id::{LINE_BITS, RecordId, halves, index};
use crate::memory::{Page, Tags, Words, equal_tags};

/// Slots of a bucket. Four load to 95 % before a search fails; two only to 84 %.
pub(crate) const SLOTS: usize = 4;
/// Buckets of a page, as a power of two.
pub(crate) const PAGE_BITS: u32 = 7;
const PAGE_BUCKETS: usize = 1 << PAGE_BITS;

/// Where tags end and words begin, where those end and tails begin: lines of a page.
const WORDS_AT: usize = 16;
pub(crate) const TAILS_AT: usize = 48;
/// Lines of a page with tails.
pub(crate) const PAGE_LINES: usize = 64;

const TAG_SHIFT: u32 = 48;
const WORD_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 50;
/// Bits of a name's heat, below its record's line.
const HEAT_BITS: u32 = 4;
/// A name's heat stays here when it gets here.
pub(crate) const HOTTEST: u32 = (1 << HEAT_BITS) - 1;
/// Bits of a bucket's number that are bits of a form's hash, and are not kept with it.
const KNOWN_BITS: u32 = 7;
/// A form that stands in its second bucket.
const SECOND: u64 = 1 << 49;
/// The hash of a form is in three places: 1 bit of its tag, 4 of its word, 16 of its tail.
const FORM_TAG: u64 = 1 << 48;
const FORM_LOW: u64 = (1 << 20) - 1;
/// Bits of a beginning for the lengths of names.
pub(crate) const LENGTH_BITS: u32 = 12;
const COUNT_BITS: u32 = 10;
/// A beginning of so many names stays for ever: what it costs is one slot for a thousand names.
pub(crate) const MOST_COUNTED: u32 = (1 << COUNT_BITS) - 1;

const FINGERPRINT_SHIFT: u32 = 52;
const FORM: u64 = 1 << KIND_SHIFT;
const BEGINNING: u64 = 2 << KIND_SHIFT;
const KINDS: u64 = FORM | BEGINNING;
/// What is constant of a beginning: its tag and the 26 bits of the hash in its word.
const BEGINNING_BITS: u64 = u64::MAX << (LENGTH_BITS + COUNT_BITS);

const _: () = assert!(LINE_BITS + HEAT_BITS == 32 && SLOTS * 2 == size_of::<u64>());
const _: () = assert!(TAG_SHIFT == 48, "equal_tags() compares the upper bits");
const _: () = assert!(FINGERPRINT_SHIFT + crate::hash::FINGERPRINT_BITS == 64);
const _: () = assert!(WORDS_AT * 64 == PAGE_BUCKETS * 8 && TAILS_AT * 64 == PAGE_BUCKETS * 24);
const _: () = assert!(PAGE_LINES * 64 == PAGE_BUCKETS * 32);
const _: () = assert!(KNOWN_BITS <= crate::filter::FIRST_LEVEL, "a bucket's number has as many");
const _: () = assert!(21 + KNOWN_BITS == LINE_BITS && crate::filter::MOST_LEVEL <= LINE_BITS);

/// An entry of a bucket; none is all 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Entry {
    /// An empty slot.
    pub(crate) const NONE: Entry = Entry(0);

    /// A name's.
    pub(crate) fn new(hash: Hash, record: RecordId) -> Entry {
        Entry(hash.tag() << TAG_SHIFT | u64::from(record.line()) << (WORD_SHIFT + HEAT_BITS))
    }

    /// A form's, in its first bucket.
    pub(crate) fn form(hash: Hash, head: RecordId) -> Entry {
        let line = u64::from(head.line()) << (WORD_SHIFT + HEAT_BITS);
        Entry(Entry::form_bits(hash) | FORM | line)
    }

    /// The fingerprint and the hash of a form, where they are in its entry.
    fn form_bits(hash: Hash) -> u64 {
        let bits = u64::from(hash.first() >> KNOWN_BITS);
        let tag = if bits >> 20 & 1 == 0 { 0 } else { FORM_TAG };
        hash.fingerprint() << FINGERPRINT_SHIFT | tag | bits & FORM_LOW
    }

    /// A beginning's, of one name.
    pub(crate) fn beginning(hash: Hash, lengths: u32) -> Entry {
        let bits = u64::from(hash.first() & ((1 << LINE_BITS) - 1)) << (LENGTH_BITS + COUNT_BITS);
        let one = 1 << LENGTH_BITS | u64::from(lengths);
        Entry(hash.fingerprint() << FINGERPRINT_SHIFT | BEGINNING | bits | one)
    }

    /// The entry as it stands in its first or its second bucket.
    #[inline]
    pub(crate) fn placed(self, second: bool) -> Entry {
        match (self.is_form(), second) {
            (true, true) => Entry(self.0 | SECOND),
            (true, false) => Entry(self.0 & !SECOND),
            (false, _) => self,
        }
    }

    /// What a bucket's tags and tails, and one of its words, say of a slot.
    #[inline]
    fn in_slot(slot: usize, tags: u64, word: u32, tails: u64) -> Entry {
        let [tag, tail] = [tags, tails].map(|all| all >> (slot * 16) & 0xFFFF);
        Entry(tag << TAG_SHIFT | u64::from(word) << WORD_SHIFT | tail)
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether an entry of the forms' table leads to an entity, and is not a beginning.
    #[inline]
    pub(crate) fn is_form(self) -> bool {
        self.0 & KINDS == FORM
    }

    /// A name's tag is that of its hash.
    pub(crate) fn has_tag_of(self, hash: Hash) -> bool {
        self.0 >> TAG_SHIFT == hash.tag()
    }

    fn word(self) -> u32 {
        halves(self.0 >> WORD_SHIFT).0
    }

    /// The record of a name; none if the slot is empty.
    #[inline]
    pub(crate) fn record(self) -> Option<RecordId> {
        record_of(self.word())
    }

    /// The line of a name's record; 0 if the slot is empty.
    #[inline]
    pub(crate) fn line(self) -> u32 {
        self.word() >> HEAT_BITS
    }

    /// The first record of a form; none if the entry is something else.
    #[inline]
    pub(crate) fn head(self) -> Option<RecordId> {
        record_of(self.word()).filter(|_| self.is_form())
    }

    /// What is known of the hash of a form or a beginning in that bucket: all that a
    /// [`Geometry`] asks for.
    pub(crate) fn hash_in(self, bucket: u32) -> Hash {
        let fingerprint = self.0 >> FINGERPRINT_SHIFT;
        let first = if self.is_form() {
            let mixed = if self.0 & SECOND == 0 { 0 } else { Hash::mixed(fingerprint) };
            let known = (bucket ^ mixed) & ((1 << KNOWN_BITS) - 1);
            let high = halves(self.0 >> TAG_SHIFT & 1).0 << 20;
            (halves(self.0 & FORM_LOW).0 | high) << KNOWN_BITS | known
        } else {
            halves(self.0 >> (LENGTH_BITS + COUNT_BITS)).0 & ((1 << LINE_BITS) - 1)
        };
        Hash(fingerprint << FINGERPRINT_SHIFT | u64::from(first))
    }

    /// How often a name was looked up, as a class: 0 never, n about 2^(n-1) times.
    #[inline]
    pub(crate) fn heat(self) -> u32 {
        self.word() & HOTTEST
    }

    /// Which lengths of names a beginning knows of.
    #[inline]
    pub(crate) fn lengths(self) -> u32 {
        halves(self.0).0 & ((1 << LENGTH_BITS) - 1)
    }

    /// How many names a beginning has; [`MOST_COUNTED`] is that many or more.
    pub(crate) fn count(self) -> u32 {
        halves(self.0).0 >> LENGTH_BITS & MOST_COUNTED
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

#[inline]
fn record_of(word: u32) -> Option<RecordId> {
    RecordId::from_word(word >> HEAT_BITS)
}

/// What a form or a beginning that is looked for must agree in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    mask: u64,
    bits: u64,
}

impl Pattern {
    /// A form of that hash, in its first or its second bucket: 33 bits of the hash, and those
    /// that led to the bucket.
    #[inline]
    pub(crate) fn form(hash: Hash, second: bool) -> Pattern {
        let second = if second { SECOND } else { 0 };
        Pattern {
            mask: u64::MAX << TAG_SHIFT | FORM_LOW,
            bits: Entry::form_bits(hash) | FORM | second,
        }
    }

    /// A beginning of that hash: 40 bits of it. Two that agree in these are one.
    #[inline]
    pub(crate) fn beginning(hash: Hash) -> Pattern {
        Pattern { mask: BEGINNING_BITS, bits: Entry::beginning(hash, 0).0 & BEGINNING_BITS }
    }

    fn agrees(self, entry: Entry) -> bool {
        entry.0 & self.mask == self.bits
    }
}

/// Which of four tags are the wanted one, a bit each.
#[inline]
pub(crate) fn equal_slots(tags: u64, wanted: u64) -> u32 {
    // Of the 16 bits of a difference, only those of 0 have no carry into the top and no top.
    const LOW: u64 = 0x7FFF_7FFF_7FFF_7FFF;
    let differ = tags ^ (wanted * 0x0001_0001_0001_0001);
    let equal = !(((differ & LOW) + LOW) | differ) & !LOW;
    // Bits 15, 31, 47 and 63 beside each other: the product has each of them at 60 to 63 once.
    halves((equal >> 15).wrapping_mul(0x1000_2000_4000_8000) >> 60).0
}

/// A bucket where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket<'m> {
    page: Page<'m>,
    /// Which of the page.
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

    /// Of a name: its record's line and its heat.
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

    pub(crate) fn read(self) -> [Entry; SLOTS] {
        let (tags, words, tails) = (self.tags().get(), self.words(), self.tails());
        std::array::from_fn(|slot| Entry::in_slot(slot, tags, words.get(slot), tails))
    }

    pub(crate) fn write(self, entries: [Entry; SLOTS]) {
        let four = |of: fn(u64) -> u64| {
            let slots = entries.iter().enumerate();
            slots.fold(0, |all, (slot, entry)| all | (of(entry.0) & 0xFFFF) << (slot * 16))
        };
        self.page.set_u64(self.i * 8, four(|entry| entry >> TAG_SHIFT));
        let words = self.words();
        entries.iter().enumerate().for_each(|(slot, entry)| words.set(slot, entry.word()));
        if self.has_tails() {
            self.page.set_far_u64(self.tails_at(), four(|entry| entry));
        }
    }

    pub(crate) fn set(self, slot: usize, entry: Entry) {
        self.page.set_u64(self.i * 8, put(self.tags().get(), slot, entry.0 >> TAG_SHIFT));
        self.words().set(slot, entry.word());
        if self.has_tails() {
            self.page.set_far_u64(self.tails_at(), put(self.tails(), slot, entry.0));
        }
    }

    /// Makes all slots empty.
    pub(crate) fn clear(self) {
        self.write([Entry::NONE; SLOTS]);
    }

    /// The first slot that is empty.
    #[inline]
    pub(crate) fn empty_slot(self) -> Option<usize> {
        // An entry's tag may be 0, its word is not. Which is the first, nobody could guess.
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

    /// The records of a bucket of names.
    pub(crate) fn records(self) -> impl Iterator<Item = RecordId> {
        (0..SLOTS).filter_map(move |slot| record_of(self.words().get(slot)))
    }

    /// The slots whose entries agree with a pattern, a bit each.
    #[inline]
    pub(crate) fn agreeing(self, pattern: Pattern) -> u32 {
        let mut equal = equal_slots(self.tags().get(), pattern.bits >> TAG_SHIFT);
        let mut agreeing = 0;
        while equal != 0 {
            let slot = index(equal.trailing_zeros());
            equal &= equal - 1;
            agreeing |= u32::from(pattern.agrees(self.get(slot))) << slot;
        }
        agreeing
    }
}

/// Four tags or tails with another one in a slot.
fn put(all: u64, slot: usize, one: u64) -> u64 {
    let shift = slot * 16;
    all & !(0xFFFF << shift) | (one & 0xFFFF) << shift
}

/// The slots of two buckets that may hold a name, one after the other. Looking does not branch
/// on which bucket it is: a guess would be wrong every third time, and what the processor has
/// begun of the next lookups would be thrown away.
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
    /// Notes how hot the name is. Readers do.
    #[inline]
    pub(crate) fn set_heat(self, heat: u32) {
        let word = self.words.get(self.slot);
        if word & HOTTEST != heat {
            self.words.set(self.slot, word & !HOTTEST | heat & HOTTEST);
        }
    }
}

impl<'m> Candidates<'m> {
    #[inline(always)]
    pub(crate) fn of(hash: Hash, buckets: [Bucket<'m>; 2]) -> Candidates<'m> {
        let left = equal_tags(buckets.map(Bucket::tags), hash.0);
        Candidates { words: buckets.map(Bucket::words), left }
    }

    /// Whether no tag is the wanted one.
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

    /// Whether an entry of the bucket that is split next goes to the new one. If both of its
    /// buckets were this one, either place is right.
    #[inline]
    pub(crate) fn goes(self, hash: Hash) -> bool {
        let is_first = hash.first() & ((1 << self.level) - 1) == self.split;
        let number = select_unpredictable(is_first, hash.first(), hash.second());
        number >> self.level & 1 == 1
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
    use crate::id::word;

    fn hashes() -> impl Iterator<Item = Hash> {
        let most = if cfg!(miri) { 200 } else { 5000 };
        (1..most).map(|i: u64| Hash(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i << 52))
    }

    /// A memory whose line 640 may be a page's first.
    fn memory() -> crate::HeapMemory {
        let mut heap = crate::HeapMemory::new(1 << 20);
        assert!(heap.grow());
        heap.span(640).zero(64);
        heap
    }

    #[test]
    fn an_entry_reads_back_as_it_was_made() {
        let heap = memory();
        for (n, hash) in hashes().enumerate() {
            let (line, _) = halves(hash.0 >> 7 & ((1 << LINE_BITS) - 1) | 1);
            let record = RecordId::from_word(line);
            let entry = Entry::new(hash, record.unwrap());
            assert_eq!((entry.record(), entry.heat()), (record, 0));
            assert!(entry.has_tag_of(hash) && !entry.has_tag_of(Hash(!hash.0)));
            let bucket = Bucket::new(heap.page(640, TAILS_AT), word(n % 128));
            let before = bucket.read();
            bucket.set(n % 4, entry);
            Cell { words: bucket.words(), slot: n % 4 }.set_heat(9);
            let after = bucket.read();
            assert_eq!((after[n % 4].record(), after[n % 4].heat()), (record, 9));
            assert!((0..4).all(|slot| slot == n % 4 || before[slot] == after[slot]));
            bucket.clear();
            assert_eq!((bucket.read(), bucket.empty_slot()), ([Entry::NONE; 4], Some(0)));
        }
        assert_eq!(Entry::NONE.record(), None);
    }

    #[test]
    fn the_candidates_are_the_slots_with_the_tag() {
        let heap = memory();
        let buckets = [5, 99].map(|i| Bucket::new(heap.page(640, TAILS_AT), i));
        let all: Vec<Hash> = hashes().take(8).collect();
        for (i, &hash) in all.iter().enumerate() {
            let record = RecordId::from_word(word(i) + 1).unwrap();
            buckets[i / 4].set(i % 4, Entry::new(hash, record));
        }
        for (i, &hash) in all.iter().enumerate() {
            let found: Vec<_> = Candidates::of(hash, buckets).collect();
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].0.line(), found[0].1.slot), (word(i) + 1, i));
            // One bit of the tag is enough to tell them apart, and no other bit is asked.
            assert_eq!(Candidates::of(Hash(hash.0 ^ 1 << 48), buckets).count(), 0);
            assert_eq!(Candidates::of(Hash(hash.0 ^ 1 << 47), buckets).count(), 1);
        }
        let empty = [7, 8].map(|i| Bucket::new(heap.page(640, TAILS_AT), i));
        assert_eq!(Candidates::of(Hash(0), empty).count(), 0, "a tag of 0 is no entry");
        empty[0].set(0, Entry::new(Hash(7), RecordId::from_word(1).unwrap()));
        assert_eq!(empty[0].empty_slot(), Some(1), "an entry with a tag of 0 is one");
    }

    #[test]
    fn a_form_and_a_beginning_know_their_buckets_wherever_they_stand() {
        let heap = memory();
        let record = RecordId::from_word(5).unwrap();
        for (n, hash) in hashes().enumerate() {
            let geometry = Geometry { level: 7 + n as u32 % 20, split: n as u32 % 128 };
            let both = geometry.buckets_of(hash);
            for (second, number) in [(false, both.0), (true, both.1)] {
                let form = Entry::form(hash, record).placed(second);
                assert_eq!(geometry.buckets_of(form.hash_in(number)), both);
                assert_eq!(form.head(), Some(record));
                let beginning = Entry::beginning(hash, 5);
                assert_eq!(geometry.buckets_of(beginning.hash_in(number)), both);
                assert_eq!((beginning.head(), beginning.lengths()), (None, 5));
                let bucket = Bucket::new(heap.page(640, PAGE_LINES), number % 128);
                bucket.clear();
                bucket.set(1, form);
                bucket.set(3, beginning);
                assert_eq!(bucket.read(), [Entry::NONE, form, Entry::NONE, beginning]);
                bucket.write([beginning, Entry::NONE, form, form]);
                assert_eq!(bucket.read(), [beginning, Entry::NONE, form, form]);
                bucket.write([Entry::NONE, form, Entry::NONE, beginning]);
                assert_eq!(bucket.agreeing(Pattern::form(hash, second)), 2);
                assert_eq!(bucket.agreeing(Pattern::form(hash, !second)), 0);
                assert_eq!(bucket.agreeing(Pattern::beginning(hash)), 8);
                for bit in (7..28).chain(52..64) {
                    let other = Hash(hash.0 ^ 1 << bit);
                    assert_eq!(bucket.agreeing(Pattern::form(other, second)), 0, "bit {bit}");
                    assert_eq!(bucket.agreeing(Pattern::beginning(other)), 0, "bit {bit}");
                }
            }
        }
    }

    #[test]
    fn a_beginning_counts_to_its_most_and_stays_there() {
        let mut beginning = Entry::beginning(Hash(u64::MAX), 1);
        for count in 1..=MOST_COUNTED {
            assert_eq!((beginning.count(), beginning.is_form()), (count, false));
            let less = beginning.without();
            assert_eq!(less.is_empty(), count == 1);
            assert!(count == 1 || count == MOST_COUNTED || less.count() == count - 1);
            beginning = beginning.with(1 << (count % LENGTH_BITS));
        }
        assert_eq!((beginning.count(), beginning.without()), (MOST_COUNTED, beginning));
        assert_eq!((beginning.lengths(), beginning.hash_in(0).fingerprint()), (0xFFF, 0xFFF));
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
                    if a != b && before == old.split {
                        assert_eq!(old.goes(hash), moved, "{old:?} {hash:?}");
                    }
                }
            }
            old = new;
        }
    }
}
