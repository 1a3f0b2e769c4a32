//! The hashes of a name's folded words, by which the name is found in a text.

use crate::folded::ascii::BLOCK;
use crate::folded::item::FEW;
use crate::folded::item::Item;
use crate::folded::words;
use crate::folded::words::{MOST_BYTES, MOST_WORDS};
use crate::memory::casts::index;
use crate::memory::hash::Hash;
use crate::memory::root::BloomItems;
use crate::records::label::LABELS;
use crate::records::record::Record;

/// Lengths that a prefix distinguishes; its last bit says that longer names begin with it.
pub(crate) const STEP: usize = 11;
pub(crate) const LONGER: u32 = 1 << STEP;
/// The most prefixes that a name can have.
const MOST_PREFIXES: usize = (MOST_WORDS - 2) / STEP + 1;

const _: () = assert!(STEP + 1 == index(crate::filter::bucket::LENGTH_BITS));

/// The hashes of a name's folded name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldedName {
    pub(crate) hash: Hash,
    /// The hash of its first two words, if it has two.
    pair: Hash,
    /// The hashes of its first 1, 12, 23, ... words.
    starts: [Hash; MOST_PREFIXES],
    words: usize,
}

impl FoldedName {
    /// The folded name of a name, if it has one.
    pub(crate) fn of(seed: u64, name: &[u8]) -> Option<FoldedName> {
        let (mut hash, mut pair, mut count) = (Hash::default(), Hash::default(), 0);
        let mut starts = [Hash::default(); MOST_PREFIXES];
        words::each_folded(name, |bytes, word| {
            let word = Hash::of_word_in(seed, bytes, word.start, word.len());
            match count {
                0 => (hash, starts[0]) = (word, word),
                1 => {
                    hash = hash.and(word);
                    pair = hash;
                }
                _ => {
                    hash = hash.and(word);
                    if count % STEP == 0
                        && let Some(start) = starts.get_mut(count / STEP)
                    {
                        *start = hash;
                    }
                }
            }
            count += 1;
        })?;
        Some(FoldedName { hash, pair, starts, words: count })
    }

    /// The folded name of a record's name.
    pub(crate) fn of_record(seed: u64, record: Record<'_>) -> Option<FoldedName> {
        let mut short = [0; BLOCK];
        match short.get_mut(..record.name_len()) {
            Some(name) => {
                record.copy_name(name);
                FoldedName::of(seed, name)
            }
            None => FoldedName::of_long(seed, record),
        }
    }

    #[cold]
    fn of_long(seed: u64, record: Record<'_>) -> Option<FoldedName> {
        let mut name = [0; MOST_BYTES + LABELS.len()];
        let name = name.get_mut(..record.name_len())?;
        record.copy_name(name);
        FoldedName::of(seed, name)
    }

    /// How many prefixes it has: one after 1, 12, 23, ... words, as long as there are more. None if the Bloom filters
    /// tell the name's length: such prefixes would never be read.
    fn begins(&self) -> usize {
        if self.words <= FEW { 0 } else { (self.words + STEP - 2) / STEP }
    }

    /// The prefixes, each with the bit for this name's length.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = (Hash, u32)> {
        self.starts[..self.begins()].iter().enumerate().map(|(i, &start)| {
            let rest = self.words - 1 - i * STEP;
            (start, if rest <= STEP { 1 << (rest - 1) } else { LONGER })
        })
    }

    /// The items that a Bloom filter has for this folded name (see bloom.rs), and how many of the two count.
    #[inline]
    pub(crate) fn items(&self, of: BloomItems) -> ([Item; 2], usize) {
        let first = self.starts[0];
        match of {
            BloomItems::Words if self.words == 1 => ([Item::whole(first); 2], 1),
            BloomItems::Words => ([Item::first_word(first, self.words); 2], 1),
            BloomItems::Windows => {
                let items = [Item::whole(self.hash), Item::first_two(self.pair, self.words)];
                (items, self.words.min(3) - 1)
            }
        }
    }

    /// The most entries that it takes in the filter.
    pub(crate) fn entries(&self) -> usize {
        1 + self.begins()
    }
}
