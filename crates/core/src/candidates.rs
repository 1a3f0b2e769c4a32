//! Where in a text names may begin, and which windows from there on have a form in the filter.
//!
//! Part of `recognise.rs`: all that is asked about a block of words before a name is read.

use std::ops::Range;

use crate::Image;
use crate::forms::{FormSpot, LONGER, STEP};
use crate::hash::Hash;
use crate::id::{RecordId, index};
use crate::root::Sifted;
use crate::sieve::{Cell, Item};
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
    /// The hash of the word alone.
    alone: Hash,
    /// And with the next.
    pair: Hash,
    is_name: bool,
    has_more: bool,
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
    pub(crate) fn prepare(&mut self, image: Image<'_>, hashes: &[u64], words: Range<usize>) {
        let Block { candidates, windows, spots, heads } = self;
        let filter = image.forms();
        candidates.clear();
        sift(image, hashes, words, |Start { word, has_more, alone, .. }| {
            let spot = filter.form_spot(alone);
            candidates.push(Candidate { word, has_more, spot, windows: 0, spots: 0, heads: 0 });
        });
        candidates.iter().for_each(|candidate| filter.fetch(&candidate.spot));
        windows.clear();
        for candidate in &mut *candidates {
            if candidate.has_more {
                find_windows(image, &hashes[candidate.word..], candidate.spot, windows);
            }
            candidate.windows = windows.len();
        }
        spots.clear();
        let sieve = image.sieve(Sifted::Windows);
        let mut first = 0;
        for candidate in &mut *candidates {
            for &(words, hash) in windows[first..candidate.windows].iter().rev() {
                if sieve.passes(Item::window(hash)) {
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

/// Calls `each` for those of the words that names may begin with.
fn sift(image: Image<'_>, hashes: &[u64], words: Range<usize>, each: impl FnMut(Start)) {
    let [singles, pairs] = [Sifted::Words, Sifted::Windows].map(|of| image.sieve(of));
    if singles.is_near() && pairs.is_near() {
        sift_by(|w| singles.near_cell(w), |p| pairs.near_cell(p), hashes, words, each);
    } else {
        sift_by(|w| singles.cell(w), |p| pairs.cell(p), hashes, words, each);
    }
}

#[inline]
fn sift_by<'m>(
    single: impl Fn(Hash) -> Cell<'m>,
    pair: impl Fn(Hash) -> Cell<'m>,
    hashes: &[u64],
    words: Range<usize>,
    mut each: impl FnMut(Start),
) {
    let mut room = [Start::default(); BLOCK];
    let starts = &mut room[..words.len()];
    for (start, word) in starts.iter_mut().zip(words) {
        start.word = word;
        start.alone = Hash::NOTHING.and(hashes[word]);
        single(start.alone).prefetch();
    }
    let mut begun = 0;
    for i in 0..starts.len() {
        let mut start = starts[i];
        let cell = single(start.alone);
        start.is_name = cell.passes(Item::word(start.alone));
        if let Some(next) = hashes.get(start.word + 1)
            && cell.passes(Item::first_word(start.alone))
        {
            start.has_more = true;
            start.pair = start.alone.and(*next);
            pair(start.pair).prefetch();
        }
        starts[begun] = start;
        begun += usize::from(start.is_name | start.has_more);
    }
    for start in &mut starts[..begun] {
        start.has_more = start.has_more && pair(start.pair).passes(Item::window(start.pair));
        if start.has_more | start.is_name {
            each(*start);
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
    let (filter, sieve) = (image.forms(), image.sieve(Sifted::Windows));
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
        filter.fetch(&spot);
    }
}
