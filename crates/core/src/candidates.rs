//! Where in a text names may begin, and which windows from there on have a form in the filter.
//!
//! Part of `recognise.rs`: all that is asked about a block of words before a name is read.

use std::ops::Range;

use crate::Image;
use crate::filter::Filter;
use crate::forms::{FormSpot, LONGER, STEP};
use crate::hash::Hash;
use crate::id::{RecordId, index};
use crate::root::Sifted;
use crate::sieve::{Kinds, Segment, Sieve};
use crate::words::MOST_WORDS;

/// Words that are prepared together, in stages: each asks memory for all that the next one reads
/// of all of them, so that nothing is waited for one by one. The asking is a loop of its own, of a
/// few instructions a line: so the processor has many page tables and lines under way at once.
pub(crate) const BLOCK: usize = 128;

/// A word that may be a name, or the first of one.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// Its number among those held.
    word: usize,
    kinds: Kinds,
}

/// A word that names may begin with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Its number among those held.
    pub(crate) word: usize,
    /// Names may have more words than this one.
    has_more: bool,
    /// Where the word alone would be.
    spot: FormSpot,
    /// Where its part of these vectors of the block ends.
    windows: usize,
    spots: usize,
    pub(crate) heads: usize,
}

/// What is known of some words from the current one on, as long as the lock is held.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) candidates: Vec<Candidate>,
    /// Of so many words, and their hash; the shortest of a candidate first.
    windows: Vec<(usize, Hash)>,
    /// Where those would be that the sieve lets pass; the longest of a candidate first.
    spots: Vec<(usize, FormSpot)>,
    /// Of so many words, and the first entity of a form that agrees in most bits; longest first.
    pub(crate) heads: Vec<(usize, RecordId)>,
}

impl Block {
    /// Learns what there is where these words begin; `hashes` go on after them.
    pub(crate) fn prepare(&mut self, image: Image<'_>, hashes: &[Hash], words: Range<usize>) {
        let Block { candidates, windows, spots, heads } = self;
        let filter = image.forms();
        let pairs = image.sieve(Sifted::Windows);
        candidates.clear();
        sift(image.sieve(Sifted::Words), pairs, hashes, words, |word, has_more| {
            let spot = filter.form_spot(hashes[word]);
            candidates.push(Candidate { word, has_more, spot, windows: 0, spots: 0, heads: 0 });
        });
        candidates.iter().for_each(|candidate| filter.fetch(&candidate.spot));
        windows.clear();
        for candidate in &mut *candidates {
            if candidate.has_more {
                find_windows(filter, pairs, &hashes[candidate.word..], candidate.spot, windows);
            }
            candidate.windows = windows.len();
        }
        spots.clear();
        let mut first = 0;
        for candidate in &mut *candidates {
            for &(words, hash) in windows[first..candidate.windows].iter().rev() {
                if pairs.segment(hash).kinds(hash).is_whole() {
                    spots.push((words, filter.form_spot(hash)));
                }
            }
            first = candidate.windows;
            candidate.spots = spots.len();
        }
        spots.iter().for_each(|(_, spot)| filter.fetch(spot));
        heads.clear();
        first = 0;
        for candidate in &mut *candidates {
            for (words, spot) in &spots[first..candidate.spots] {
                filter.heads(spot, |head| heads.push((*words, head)));
            }
            filter.heads(&candidate.spot, |head| heads.push((1, head)));
            first = candidate.spots;
            candidate.heads = heads.len();
        }
    }

    /// Places that were asked about in the filter.
    pub(crate) fn lookups(&self) -> usize {
        self.candidates.len() + self.spots.len()
    }
}

/// Calls `each` for those of the words that names may begin with, and whether longer ones may.
fn sift(
    singles: Sieve<'_>,
    pairs: Sieve<'_>,
    hashes: &[Hash],
    words: Range<usize>,
    each: impl FnMut(usize, bool),
) {
    if singles.is_near() && pairs.is_near() {
        sift_by(|_| singles.near, |_| pairs.near, hashes, words, each);
    } else {
        sift_by(|word| singles.segment(word), |pair| pairs.segment(pair), hashes, words, each);
    }
}

/// What comes out of a sieve is no pattern that the processor could guess: so each loop keeps what
/// it let pass without a branch.
#[inline(always)]
fn sift_by<'m>(
    single: impl Fn(Hash) -> Segment<'m>,
    pair: impl Fn(Hash) -> Segment<'m>,
    hashes: &[Hash],
    words: Range<usize>,
    mut each: impl FnMut(usize, bool),
) {
    let alone = &hashes[words.clone()];
    alone.iter().for_each(|word| single(*word).prefetch(*word));
    let mut room = [Start::default(); BLOCK];
    let mut begun = 0;
    for (i, hash) in alone.iter().enumerate() {
        let kinds = single(*hash).kinds(*hash);
        room[begun % BLOCK] = Start { word: words.start + i, kinds };
        begun += usize::from(!kinds.is_none());
    }
    let starts = &mut room[..begun];
    // Of each and the next word.
    let mut both = [Hash::default(); BLOCK];
    for (start, both) in starts.iter_mut().zip(&mut both) {
        match hashes[start.word..].first_chunk() {
            Some([alone, next]) => *both = alone.and(*next),
            None => start.kinds = start.kinds.of_last(),
        }
        pair(*both).prefetch(*both);
    }
    let mut left = 0;
    for (i, both) in both[..begun].iter().enumerate() {
        let Start { word, kinds } = starts[i];
        let kinds = kinds.if_both(pair(*both).kinds(*both));
        starts[left] = Start { word, kinds };
        left += usize::from(!kinds.is_none());
    }
    starts[..left].iter().for_each(|start| each(start.word, start.kinds.is_first()));
}

/// Adds the windows of two of these words and more that names may have, shortest first.
fn find_windows(
    filter: Filter<'_>,
    sieve: Sieve<'_>,
    words: &[Hash],
    first: FormSpot,
    windows: &mut Vec<(usize, Hash)>,
) {
    let most = words.len().min(MOST_WORDS);
    let (mut begin, mut spot) = (1, first);
    while begin < most {
        let known = filter.lengths(&spot);
        let longest = begin + index(u32::BITS - known.leading_zeros());
        let mut hash = spot.hash();
        for count in begin + 1..=longest.min(begin + STEP).min(most) {
            hash = hash.and(words[count - 1]);
            if known >> (count - begin - 1) & 1 == 1 {
                sieve.segment(hash).prefetch(hash);
                windows.push((count, hash));
            }
        }
        if known & LONGER == 0 {
            break;
        }
        begin += STEP;
        spot = filter.form_spot(hash);
        filter.fetch(&spot);
    }
}
