//! Where in a text names may begin, and which windows from there on have a form in the filter.
//!
//! Part of `recognise.rs`: all that is asked about a block of words before a name is read.

use std::ops::Range;

use crate::Image;
use crate::forms::{FormSpot, LONGER, STEP};
use crate::hash::Hash;
use crate::id::{RecordId, index};
use crate::sieve::Cell;
use crate::words::MOST_WORDS;

/// Words that are prepared together, in stages: each asks memory for all that the next one reads
/// of all of them, so that nothing is waited for one by one.
pub(crate) const BLOCK: usize = 128;
/// Of these the sieve is asked about so many together.
const SIFTED: usize = 16;

const _: () = assert!(BLOCK.is_multiple_of(SIFTED));

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
    pub(crate) fn prepare(&mut self, image: Image<'_>, hashes: &[u64], words: Range<usize>) {
        let Block { candidates, windows, spots, heads } = self;
        let (filter, sieve) = (image.forms(), image.sieve());
        candidates.clear();
        for from in words.clone().step_by(SIFTED) {
            let count = SIFTED.min(words.end - from);
            sift(image, &hashes[from..], count, |word, has_more, alone| {
                let (word, spot) = (from + word, filter.form_spot(alone));
                candidates.push(Candidate { word, has_more, spot, windows: 0, spots: 0, heads: 0 });
            });
        }
        windows.clear();
        for candidate in &mut *candidates {
            if candidate.has_more {
                find_windows(image, &hashes[candidate.word..], candidate.spot, windows);
            }
            candidate.windows = windows.len();
        }
        spots.clear();
        let mut first = 0;
        for candidate in &mut *candidates {
            for &(words, hash) in windows[first..candidate.windows].iter().rev() {
                if sieve.cell(hash).passes() {
                    spots.push((words, filter.form_spot(hash)));
                }
            }
            first = candidate.windows;
            candidate.spots = spots.len();
        }
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

/// Calls `each` for those of the first `count` words that names may begin with: its place, whether
/// names of more words may, and the hash of the word alone.
#[inline]
fn sift(image: Image<'_>, words: &[u64], count: usize, each: impl FnMut(usize, bool, Hash)) {
    let sieve = image.sieve();
    if sieve.is_near() {
        sift_by(|item| sieve.near_cell(item), words, count, each);
    } else {
        sift_by(|item| sieve.cell(item), words, count, each);
    }
}

#[inline]
fn sift_by<'m>(
    cell: impl Fn(Hash) -> Cell<'m>,
    words: &[u64],
    count: usize,
    mut each: impl FnMut(usize, bool, Hash),
) {
    let mut items = [(Hash::NOTHING, Hash::NOTHING); SIFTED];
    let items = &mut items[..count];
    for (i, item) in items.iter_mut().enumerate() {
        let alone = Hash::NOTHING.and(words[i]);
        // The last word has no next, and is asked about twice.
        let pair = words.get(i + 1).map_or(alone, |next| alone.and(*next));
        cell(alone).prefetch();
        cell(pair).prefetch();
        *item = (alone, pair);
    }
    for (i, (alone, pair)) in items.iter().enumerate() {
        let has_more = cell(*pair).passes();
        if has_more | cell(*alone).passes() {
            each(i, has_more, *alone);
        }
    }
}

/// Adds the windows of two of these words and more that names may have, shortest first.
fn find_windows(
    image: Image<'_>,
    words: &[u64],
    first: FormSpot,
    windows: &mut Vec<(usize, Hash)>,
) {
    let (filter, sieve) = (image.forms(), image.sieve());
    let most = words.len().min(MOST_WORDS);
    let (mut begin, mut spot) = (1, first);
    while begin < most {
        let known = filter.lengths(&spot);
        let longest = begin + index(u32::BITS - known.leading_zeros());
        let mut hash = spot.hash();
        for count in begin + 1..=longest.min(begin + STEP).min(most) {
            hash = hash.and(words[count - 1]);
            if known >> (count - begin - 1) & 1 == 1 {
                sieve.cell(hash).prefetch();
                windows.push((count, hash));
            }
        }
        if known & LONGER == 0 {
            break;
        }
        begin += STEP;
        spot = filter.form_spot(hash);
    }
}
