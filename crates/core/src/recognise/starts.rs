//! Finds where in a block of words names may begin, by the Bloom filters.
//!
//! ```text
//!   all words:                   read a word of the Bloom filter --> kinds --> words that may begin a name
//!   these, with the next word:   read a word of the Bloom filter --> kinds --> words that begin a name
//! ```
//!
//! The answer of a Bloom filter is unpredictable, so what passes is kept without a branch. One loop only reads the
//! Bloom filter, with a few instructions per line, so that the processor fetches many lines at once. Another loop
//! judges what was read; the compiler makes it handle several words at a time where the processor can.

use crate::folded::ascii::mask;
use crate::folded::bloom::{BloomFilter, Segment};
use crate::folded::item::{Begun, Kinds};
use crate::memory::casts::index;
use crate::memory::flat::{PLACES, bits};
use crate::memory::hash::Hash;

/// Room for as many words as a byte can number, so that no index needs a check.
const ROOM: usize = 1 << u8::BITS;
/// Words prepared together, in stages: each stage prefetches what the next one reads, for all words, so that no word
/// waits for memory alone. One loop only prefetches, with a few instructions per line, so that the processor fetches
/// many page table entries and lines at once. A text of 200 words fits into one block, because the end of each loop is
/// a mispredicted branch.
pub(crate) const BLOCK: usize = 240;

const _: () = assert!(BLOCK + TOGETHER <= ROOM);
/// Words whose results are noted at a time.
const TOGETHER: usize = 16;

/// A word that names begin with, according to the Bloom filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The word's number in the block.
    pub(crate) word: usize,
    pub(crate) begun: Begun,
    /// The hash of this word and the next.
    pub(crate) both: Hash,
}

/// The words of a block that names may begin with: the first `len` of each list.
#[derive(Debug)]
pub(crate) struct Starts {
    len: usize,
    /// The words' numbers in the block.
    words: [u8; ROOM + 8],
    kinds: [Kinds; ROOM],
    begun: [Begun; ROOM],
    both: [Hash; ROOM],
    /// The words read from a Bloom filter.
    seen: [u64; ROOM],
}

impl Default for Starts {
    fn default() -> Starts {
        Starts {
            len: 0,
            words: [0; ROOM + 8],
            kinds: [Kinds::default(); ROOM],
            begun: [Begun::default(); ROOM],
            both: [Hash::default(); ROOM],
            seen: [0; ROOM],
        }
    }
}

impl Starts {
    pub(crate) fn all(&self) -> impl Iterator<Item = Start> {
        let each = self.words.iter().zip(&self.begun).zip(&self.both).take(self.len);
        each.map(|((word, begun), both)| Start {
            word: usize::from(*word),
            begun: *begun,
            both: *both,
        })
    }

    /// Finds the starts among the first `block` words. `hashes` continues after them, if the text does.
    pub(crate) fn sift(
        &mut self,
        singles: BloomFilter<'_>,
        pairs: BloomFilter<'_>,
        hashes: &[Hash],
        block: usize,
    ) {
        if singles.is_near() && pairs.is_near() {
            let (near, near_pairs) = (singles.near, pairs.near);
            self.sift_by(move |_| near, move |_| near_pairs, hashes, block);
        } else {
            self.sift_by(|word| singles.segment(word), |both| pairs.segment(both), hashes, block);
        }
    }

    #[inline(always)]
    fn sift_by<'m>(
        &mut self,
        single: impl Fn(Hash) -> Segment<'m>,
        pair: impl Fn(Hash) -> Segment<'m>,
        hashes: &[Hash],
        block: usize,
    ) {
        let Starts { len, words, kinds, begun, both, seen } = self;
        let alone = &hashes[..block];
        look(single, alone, seen);
        for ((kinds, seen), word) in kinds.iter_mut().zip(&*seen).zip(alone) {
            *kinds = Kinds::of(*seen, *word);
        }
        kinds[block..][..TOGETHER].fill(Kinds::default());
        let left = note(&kinds[..block.next_multiple_of(TOGETHER)], words);
        for i in 0..left {
            let word = usize::from(words[i]);
            kinds[i] = kinds[word];
            match hashes.get(word + 1) {
                Some(next) => both[i] = hashes[word].and(*next),
                None => kinds[i] = kinds[i].of_last(),
            }
            pair(both[i]).prefetch(both[i]);
        }
        look(pair, &both[..left], seen);
        for i in 0..left {
            begun[i] = kinds[i].with_next(Kinds::of(seen[i], both[i]));
        }
        let mut kept = 0_u8;
        for i in 0..left {
            let (this, at) = (begun[i], usize::from(kept));
            (words[at], begun[at], both[at]) = (words[i], this, both[i]);
            kept += u8::from(!this.is_none());
        }
        *len = usize::from(kept);
    }
}

/// Reads a Bloom filter's word for each hash.
#[inline(always)]
fn look<'m>(bloom: impl Fn(Hash) -> Segment<'m>, hashes: &[Hash], seen: &mut [u64; ROOM]) {
    for (seen, hash) in seen.iter_mut().zip(hashes) {
        *seen = bloom(*hash).look(*hash);
    }
}

/// Notes the numbers of the words that passed, eight bits of a mask at a time; returns how many.
#[inline(always)]
fn note(kinds: &[Kinds], words: &mut [u8; ROOM + 8]) -> usize {
    let (mut noted, mut first) = (0, 0_u8);
    for kinds in kinds.as_chunks::<TOGETHER>().0 {
        let passed = bits(kinds.map(|kinds| mask(!kinds.is_none())));
        let [low, high, ..] = passed.to_le_bytes();
        for bits in [low, high] {
            let places = &PLACES[usize::from(bits)];
            for (to, place) in words[noted % ROOM..][..8].iter_mut().zip(places) {
                *to = first.wrapping_add(*place);
            }
            noted += index(bits.count_ones());
            first = first.wrapping_add(8);
        }
    }
    noted % ROOM
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::item::Item;
    use crate::memory::casts::wide;
    use crate::memory::root::BloomItems;
    use crate::{Edge, HeapMemory, Image};

    #[test]
    fn what_begins_with_a_word_is_what_the_bloom_filters_say_of_it_and_the_next() {
        let mut heap = HeapMemory::new(1 << 22);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        let name = |i: u64| {
            let words = (0..1 + i % 5).map(|k| format!("w{} ", (i + k * 7) % 50));
            words.collect::<String>()
        };
        for i in 0..300 {
            let (parent, child) = (name(i), name(i + 1));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, None).unwrap();
        }
        let word = |i: u64| match i % 10 {
            0..6 => format!("w{}", i * 7 % 50),
            _ => format!("x{i}"),
        };
        let hash = |i: u64| Hash::of_word(7, word(i).as_bytes());
        let (singles, pairs) = (image.bloom(BloomItems::Words), image.bloom(BloomItems::Windows));
        let before: Vec<_> = (0..wide(BLOCK)).map(hash).collect();
        let (mut found, mut none) = (0, 0);
        for block in [1, 2, 7, 127, BLOCK] {
            for after in [0, 1, 5] {
                let hashes: Vec<_> = (0..wide(block + after)).map(hash).collect();
                let expected: Vec<_> = (0..block)
                    .filter_map(|i| {
                        let word = hashes[i];
                        let next = hashes.get(i + 1).map(|next| word.and(*next));
                        let first = |words| {
                            singles.passes(Item::first_word(word, words))
                                && next.is_some_and(|both| match words {
                                    2 => pairs.passes(Item::whole(both)),
                                    _ => pairs.passes(Item::first_two(both, words)),
                                })
                        };
                        let few = [singles.passes(Item::whole(word)), first(2), first(3)];
                        let says = (few, first(4));
                        (says != ([false; 3], false)).then_some((i, says, next))
                    })
                    .collect();
                (found, none) = (found + expected.len(), none + block - expected.len());
                let bloom_items: Vec<_> = {
                    let mut starts = Starts::default();
                    // Leftovers of a longer block must not count in this one.
                    starts.sift(singles, pairs, &before, BLOCK);
                    starts.sift(singles, pairs, &hashes, block);
                    let each = |start: Start| {
                        let is_last = start.word + 1 == hashes.len();
                        let both = (!is_last).then_some(start.both);
                        (start.word, (start.begun.few(), start.begun.more()), both)
                    };
                    starts.all().map(each).collect()
                };
                assert_eq!(bloom_items, expected);
            }
        }
        assert!(found > 50 && none > 50, "{found} begin, {none} do not");
    }
}
