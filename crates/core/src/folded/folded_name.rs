//! The hashes of a name's folded words, by which the name is found in a text.

use crate::folded::words;
use crate::folded::words::{MOST_BYTES, MOST_WORDS, SHORT};
use crate::memory::casts::index;
use crate::memory::hash::Hash;
use crate::records::label::LABELS;
use crate::records::record::Record;

/// Lengths that a prefix distinguishes; its last bit says that longer names begin with it. That of one word only
/// distinguishes names of two words from longer ones.
const STEP: usize = 11;
pub(crate) const LONGER: u32 = 1 << STEP;
/// The most prefixes that a name can have.
const MOST_PREFIXES: usize = (MOST_WORDS - 3) / STEP + 2;

/// How many words more than a prefix of so many the next one has.
pub(crate) const fn step_after(words: usize) -> usize {
    if words == 1 { 1 } else { STEP }
}

const _: () = assert!(STEP + 1 == index(crate::filter::bucket::LENGTH_BITS));

/// The hashes of a name's folded name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldedName {
    pub(crate) hash: Hash,
    /// The hashes of its first 1, 2, 13, 24, ... words.
    starts: [Hash; MOST_PREFIXES],
    words: usize,
}

impl FoldedName {
    /// The folded name of a name, if it has one.
    pub(crate) fn of(seed: u64, name: &[u8]) -> Option<FoldedName> {
        let (mut hash, mut count) = (Hash::default(), 0);
        let mut starts = [Hash::default(); MOST_PREFIXES];
        words::each_folded(name, |bytes, word| {
            let word = Hash::of_word_in(seed, bytes, word.start, word.len());
            match count {
                0 => (hash, starts[0]) = (word, word),
                _ => {
                    hash = hash.and(word);
                    if count % STEP == 1
                        && let Some(start) = starts.get_mut(count / STEP + 1)
                    {
                        *start = hash;
                    }
                }
            }
            count += 1;
        })?;
        Some(FoldedName { hash, starts, words: count })
    }

    /// The folded name of a record's name.
    pub(crate) fn of_record(seed: u64, record: Record<'_>) -> Option<FoldedName> {
        let mut short = [0; SHORT];
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

    /// How many prefixes it has: one after 1, 2, 13, 24, ... words, as long as there are more.
    fn begins(&self) -> usize {
        if self.words < 2 { 0 } else { 1 + (self.words + STEP - 3) / STEP }
    }

    /// The prefixes, each with the bit for this name's length.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = (Hash, u32)> {
        self.starts[..self.begins()].iter().enumerate().map(|(i, &start)| {
            let begin = if i == 0 { 1 } else { 2 + (i - 1) * STEP };
            let rest = self.words - begin;
            (start, if rest <= step_after(begin) { 1 << (rest - 1) } else { LONGER })
        })
    }

    /// The most entries that it takes in the filter.
    pub(crate) fn entries(&self) -> usize {
        1 + self.begins()
    }
}
