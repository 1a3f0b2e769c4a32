//! What a slot of a bucket holds.
//!
//! ```text
//!              tag, 16 bits         word, 32 bits           tail, 16 bits
//!             +--------------------+-----------------------+------------------+
//!  name       | fingerprint  | hash| line of the record|class|   (none)        |
//!  folded     | fingerprint  |1 s h| line of a record  | hash| hash            |
//!  place      | fingerprint  |3 s h| line of a block   | hash| hash            |
//!  word       | fingerprint  |0 s h| line of a word, half| hash| hash            |
//!  prefix     | fingerprint  |2 h h| hash       | count      | count | lengths |
//!             +--------------------+-----------------------+------------------+
//!  bits         12              4    28 (26)             4 (6)  16 (4)  (12)
//! ```
//!
//! A *name* leads to the record of an entity or tree; a *folded name* to the first of the entities whose names fold to
//! it, or to the block that lists them; a *place* leads from a folded name and one of its records to the block that
//! lists the record (see folded/listed.rs); a *prefix* says how many names begin with these words, and how long they
//! are (see folded/index.rs). A *word* leads to a word of the vocabulary, by itself or by one of its parts: the upper
//! bits of the hash tell which (see vocabulary/letters.rs). Its entry has a bit of the hash less, where it says in
//! which half of its line the word is: that bit of the hash is always 0. Names have a separate table. The hash of a
//! folded name or a prefix must be known without a record when the entry moves. A prefix keeps 28 bits of it. A folded
//! name keeps bits 7 to 27, and `s`, whether it is in its second bucket: the bucket's number has the 7 bits below.

use crate::memory::casts::halves;
use crate::memory::hash::Hash;
use crate::memory::id::{LINE_BITS, RecordId, WordId, to_word};

const TAG_SHIFT: u32 = 48;
const WORD_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 50;
/// Bits of a name's temperature class (temperature/count.rs), below its record's line.
const CLASS_BITS: u32 = 4;
/// The highest class of a name; it does not rise further.
pub(crate) const HOTTEST_CLASS: u32 = (1 << CLASS_BITS) - 1;
/// Low bits of a folded name's hash: the bucket's number has them, so the entry does not.
const KNOWN_BITS: u32 = 7;
/// Marks a folded name that is in its second bucket.
const SECOND: u64 = 1 << 49;
/// The hash of a folded name is in three places: 1 bit of its tag, 4 of its word, 16 of its tail.
const FOLDED_TAG: u64 = 1 << 48;
const FOLDED_LOW: u64 = (1 << 20) - 1;
/// The half of a word's line, in the place of the uppermost of these bits of the hash.
const HALF_SHIFT: u32 = 19;
const HALF: u64 = 1 << HALF_SHIFT;
/// The bit of the hash that a word's entry has no room for. No bucket's number has it.
pub(crate) const NOT_IN_WORDS: u64 = 1 << (HALF_SHIFT + KNOWN_BITS);
/// Bits of a prefix for the lengths of names.
pub(crate) const LENGTH_BITS: u32 = 12;
const COUNT_BITS: u32 = 10;
/// A prefix of this many names is never removed, which costs a slot or two in a thousand names.
pub(crate) const MOST_COUNTED: u32 = (1 << COUNT_BITS) - 1;

const FINGERPRINT_SHIFT: u32 = 52;
const FOLDED: u64 = 1 << KIND_SHIFT;
const PREFIX: u64 = 2 << KIND_SHIFT;
const PLACE: u64 = FOLDED | PREFIX;
const KINDS: u64 = FOLDED | PREFIX;
/// The constant bits of a prefix: its tag and the 26 bits of the hash in its word.
const PREFIX_BITS: u64 = u64::MAX << (LENGTH_BITS + COUNT_BITS);

const _: () = assert!(LINE_BITS + CLASS_BITS == 32);
const _: () = assert!(HALF_SHIFT + 1 == WORD_SHIFT + CLASS_BITS, "the half is below the line");
const _: () = assert!(HALF_SHIFT + KNOWN_BITS >= crate::memory::tables::MOST_LEVEL);
const _: () = assert!(TAG_SHIFT == 48, "equal_tags() compares the upper bits");
const _: () = assert!(FINGERPRINT_SHIFT + crate::filter::fingerprint::FINGERPRINT_BITS == 64);
const _: () =
    assert!(KNOWN_BITS <= crate::memory::tables::FIRST_LEVEL, "a bucket's number has as many");
const _: () =
    assert!(21 + KNOWN_BITS == LINE_BITS && crate::memory::tables::MOST_LEVEL <= LINE_BITS);

/// An entry of a bucket; 0 is an empty slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Entry {
    /// An empty slot.
    pub(crate) const NONE: Entry = Entry(0);

    /// The entry of a name.
    pub(crate) fn new(hash: Hash, record: RecordId) -> Entry {
        Entry(hash.tag() << TAG_SHIFT | u64::from(record.line()) << (WORD_SHIFT + CLASS_BITS))
    }

    /// The entry of a folded name, in its first bucket.
    pub(crate) fn folded(hash: Hash, head: RecordId) -> Entry {
        let line = u64::from(head.line()) << (WORD_SHIFT + CLASS_BITS);
        Entry(Entry::folded_bits(hash) | FOLDED | line)
    }

    /// The entry of a place, in its first bucket.
    pub(crate) fn place(hash: Hash, block: RecordId) -> Entry {
        Entry(Entry::folded(hash, block).0 | PLACE)
    }

    /// The entry of a word or of a part, in its first bucket. The hash has no bit [`NOT_IN_WORDS`].
    pub(crate) fn of_word(hash: Hash, word: WordId) -> Entry {
        Entry(Entry::folded_bits(hash) & !HALF | u64::from(to_word(Some(word))) << HALF_SHIFT)
    }

    /// The fingerprint and the hash of a folded name, where they are in its entry.
    fn folded_bits(hash: Hash) -> u64 {
        let bits = u64::from(hash.first() >> KNOWN_BITS);
        let tag = if bits >> 20 & 1 == 0 { 0 } else { FOLDED_TAG };
        hash.fingerprint() << FINGERPRINT_SHIFT | tag | bits & FOLDED_LOW
    }

    /// The entry of a prefix of one name.
    pub(crate) fn prefix(hash: Hash, lengths: u32) -> Entry {
        let bits = u64::from(hash.first() & ((1 << LINE_BITS) - 1)) << (LENGTH_BITS + COUNT_BITS);
        let one = 1 << LENGTH_BITS | u64::from(lengths);
        Entry(hash.fingerprint() << FINGERPRINT_SHIFT | PREFIX | bits | one)
    }

    /// The entry in the form it has in its first or its second bucket.
    #[inline]
    pub(crate) fn placed(self, second: bool) -> Entry {
        match (self.has_line(), second) {
            (true, true) => Entry(self.0 | SECOND),
            (true, false) => Entry(self.0 & !SECOND),
            (false, _) => self,
        }
    }

    /// The entry of a slot, from the bucket's tags and tails and the slot's word.
    #[inline]
    pub(super) fn in_slot(slot: usize, tags: u64, word: u32, tails: u64) -> Entry {
        let [tag, tail] = [tags, tails].map(|all| all >> (slot * 16) & 0xFFFF);
        Entry(tag << TAG_SHIFT | u64::from(word) << WORD_SHIFT | tail)
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether an entry of a table of forms has the line of something, and is no prefix.
    #[inline]
    pub(crate) fn has_line(self) -> bool {
        self.0 & KINDS != PREFIX
    }

    /// Whether an entry of a table of forms is that of a form.
    #[inline]
    pub(crate) fn is_folded(self) -> bool {
        self.0 & KINDS == FOLDED
    }

    /// Whether a name's tag is that of this hash.
    pub(crate) fn has_tag_of(self, hash: Hash) -> bool {
        self.tag() == hash.tag()
    }

    #[inline]
    pub(super) fn tag(self) -> u64 {
        self.0 >> TAG_SHIFT
    }

    #[inline]
    pub(super) fn tail(self) -> u64 {
        self.0 & 0xFFFF
    }

    pub(super) fn word(self) -> u32 {
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
        self.word() >> CLASS_BITS
    }

    /// The first record of a folded name; none if the entry is something else.
    #[inline]
    pub(crate) fn head(self) -> Option<RecordId> {
        record_of(self.word()).filter(|_| self.is_folded())
    }

    /// The block that a place leads to; none if the entry is something else.
    pub(crate) fn block(self) -> Option<RecordId> {
        record_of(self.word()).filter(|_| self.0 & KINDS == PLACE)
    }

    /// The word that an entry of a table of forms leads to; none if the entry is something else.
    #[inline]
    pub(crate) fn vocabulary(self) -> Option<WordId> {
        let id = halves(self.0 >> HALF_SHIFT).0 & ((2 << LINE_BITS) - 1);
        WordId::from_word(id).filter(|_| self.0 & KINDS == 0)
    }

    /// What an entry tells of the hash of a folded name or a prefix in that bucket: all that a
    /// [`Geometry`](super::Geometry) needs. In that of a word the bit [`NOT_IN_WORDS`] has no meaning.
    pub(crate) fn hash_in(self, bucket: u32) -> Hash {
        let fingerprint = self.0 >> FINGERPRINT_SHIFT;
        let first = if self.has_line() {
            let mixed = if self.0 & SECOND == 0 { 0 } else { Hash::mixed(fingerprint) };
            let known = (bucket ^ mixed) & ((1 << KNOWN_BITS) - 1);
            let high = halves(self.0 >> TAG_SHIFT & 1).0 << 20;
            (halves(self.0 & FOLDED_LOW).0 | high) << KNOWN_BITS | known
        } else {
            halves(self.0 >> (LENGTH_BITS + COUNT_BITS)).0 & ((1 << LINE_BITS) - 1)
        };
        Hash(fingerprint << FINGERPRINT_SHIFT | u64::from(first))
    }

    /// How often a name was looked up, as a class: 0 is never, n about 2^(n-1) times.
    #[inline]
    pub(crate) fn temperature_class(self) -> u32 {
        self.word() & HOTTEST_CLASS
    }

    /// The lengths of the names that begin with a prefix, as stored in its entry.
    #[inline]
    pub(crate) fn lengths(self) -> u32 {
        halves(self.0).0 & ((1 << LENGTH_BITS) - 1)
    }

    /// How many names begin with a prefix; [`MOST_COUNTED`] is that many or more.
    pub(crate) fn count(self) -> u32 {
        halves(self.0).0 >> LENGTH_BITS & MOST_COUNTED
    }

    /// The prefix with one more name.
    pub(crate) fn with(self, lengths: u32) -> Entry {
        let one = u64::from(self.count() < MOST_COUNTED) << LENGTH_BITS;
        Entry((self.0 | u64::from(lengths)) + one)
    }

    /// The prefix with one name fewer; empty if that was the last.
    pub(crate) fn without(self) -> Entry {
        match self.count() {
            MOST_COUNTED => self,
            0 | 1 => Entry::NONE,
            _ => Entry(self.0 - (1 << LENGTH_BITS)),
        }
    }
}

#[inline]
pub(super) fn record_of(word: u32) -> Option<RecordId> {
    RecordId::from_word(word >> CLASS_BITS)
}

/// The bits in which the entry of a folded name or a prefix must agree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    mask: u64,
    bits: u64,
}

impl Pattern {
    /// Matches a folded name of that hash, in its first or its second bucket: by 33 bits of the hash, in addition to
    /// those that led to the bucket.
    #[inline]
    pub(crate) fn folded(hash: Hash, second: bool) -> Pattern {
        let second = if second { SECOND } else { 0 };
        Pattern {
            mask: u64::MAX << TAG_SHIFT | FOLDED_LOW,
            bits: Entry::folded_bits(hash) | FOLDED | second,
        }
    }

    /// Matches a place of that hash, as [`Pattern::folded`] does a folded name.
    pub(crate) fn place(hash: Hash, second: bool) -> Pattern {
        let Pattern { mask, bits } = Pattern::folded(hash, second);
        Pattern { mask, bits: bits | PLACE }
    }

    /// Matches a word or a part of that hash, as [`Pattern::folded`] does a folded name. An empty slot may match, too.
    #[inline]
    pub(crate) fn of_word(hash: Hash, second: bool) -> Pattern {
        let Pattern { mask, bits } = Pattern::folded(hash, second);
        Pattern { mask: mask & !HALF, bits: bits & !(KINDS | HALF) }
    }

    /// Matches a prefix of that hash, by 40 bits of it. Two prefixes with the same 40 bits share an entry.
    #[inline]
    pub(crate) fn prefix(hash: Hash) -> Pattern {
        Pattern { mask: PREFIX_BITS, bits: Entry::prefix(hash, 0).0 & PREFIX_BITS }
    }

    #[inline]
    pub(super) fn tag(self) -> u64 {
        self.bits >> TAG_SHIFT
    }

    pub(super) fn agrees(self, entry: Entry) -> bool {
        entry.0 & self.mask == self.bits
    }
}
