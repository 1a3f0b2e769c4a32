//! Finds the windows of a text that have a folded name in the filter.
//!
//! Part of `recognise/mentions.rs`: the lookups for a block of words, before any name is read.

use crate::Image;
use crate::filter::bucket::SLOTS;
use crate::filter::table::Filter;
use crate::folded::folded_name::{LONGER, step_after};
use crate::folded::forms::{
    self, BEGIN, FormKind, LEAST_LETTERS, LEAST_UNORDERED, MOST_LETTERS, MOST_UNORDERED, SPAN, Sum,
};
use crate::folded::index::FoldedSpot;
use crate::folded::words::MOST_WORDS;
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::recognise::text::Held;
use crate::vocabulary::near::NearWord;

/// Words prepared together, in stages: each stage sends for what the next one reads, for all words, so that no word
/// waits for memory alone. A text of 200 words fits into one block.
pub(crate) const BLOCK: usize = 240;

/// A window: some adjacent words that may be a name.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// The number of its first word in the block.
    first: usize,
    words: usize,
    hash: Hash,
}

/// A window whose hash agrees in most bits with that of a folded name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The number of its first word in the block.
    pub(crate) first: usize,
    pub(crate) words: usize,
    /// The first entity of the folded name.
    pub(crate) record: RecordId,
}

/// The windows found in a block of words, which begins at the current word; valid while the lock is held.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The windows of one start, the shortest first.
    long: Filtered<Window>,
    /// The windows in the text's order, for each start the longest first; then with the places where they would be.
    windows: Filtered<Window>,
    spots: Filtered<(Window, FoldedSpot)>,
    /// Windows whose folded names are in the filter, and the first record of each.
    pub(crate) heads: Vec<Head>,
    lookups: usize,
    /// Where the beginnings of the words are; and, for unordered forms, the lengths of names that begin so.
    begins: Vec<FoldedSpot>,
    lengths: Vec<u32>,
    /// Scratch: the letters of a window with a near word in it.
    letters: Vec<u8>,
    /// Whether a list had no room since it last grew.
    is_short: bool,
}

/// Windows for which there is room at first and at most, and heads for each of them: one word has fewer.
const FIRST_WINDOWS: usize = 512;
const MOST_WINDOWS: usize = 8 * FIRST_WINDOWS;
const HEADS: usize = 2;

const _: () = assert!(FIRST_WINDOWS * HEADS >= (MOST_WORDS + 3) * 2 * SLOTS);

/// In the lengths of a word: it counts in unordered forms, whose least number of words is two.
const CONTENT: u32 = 1;

/// A list to which each item is added or not, without a branch. What finds no room is left out.
#[derive(Debug, Default)]
struct Filtered<T> {
    room: Vec<T>,
    len: usize,
    is_short: bool,
}

impl<T: Copy + Default> Filtered<T> {
    fn clear(&mut self) {
        (self.len, self.is_short) = (0, false);
    }

    /// Makes room for so many items; `false` if there is no memory.
    fn grow(&mut self, room: usize) -> bool {
        let fits = self.room.try_reserve_exact(room.saturating_sub(self.room.len())).is_ok();
        if fits {
            self.room.resize(room, T::default());
        }
        fits
    }

    #[inline]
    fn add_if(&mut self, counts: bool, item: T) {
        match self.room.get_mut(self.len) {
            Some(place) => {
                *place = item;
                self.len += usize::from(counts);
            }
            None => self.is_short |= counts,
        }
    }

    fn all(&self) -> &[T] {
        &self.room[..self.len]
    }
}

impl Block {
    /// Between steps: makes room for more windows, if there were more than fit; `false` if there is no memory.
    pub(crate) fn make_room(&mut self) -> bool {
        let has = self.windows.room.len();
        if has > 0 && !std::mem::take(&mut self.is_short) || has == MOST_WINDOWS {
            return true;
        }
        let room = (2 * has).max(FIRST_WINDOWS);
        self.heads.clear();
        self.begins.clear();
        self.lengths.clear();
        self.letters.clear();
        self.letters.try_reserve_exact(2 * MOST_LETTERS).is_ok()
            && self.begins.try_reserve_exact(BLOCK + SPAN).is_ok()
            && self.lengths.try_reserve_exact(BLOCK + SPAN).is_ok()
            && self.heads.try_reserve_exact(room * HEADS).is_ok()
            && self.spots.grow(room)
            && self.long.grow(room)
            && self.windows.grow(room)
    }

    /// Finds the heads of the first `words` words, or of fewer if there is no room for all; `hashes` continues after
    /// them, if the text does. Returns how many words these are.
    pub(crate) fn prepare(&mut self, image: Image<'_>, hashes: &[Hash], words: usize) -> usize {
        let mut words = words;
        while !self.has_prepared(image, hashes, words) {
            self.is_short = true;
            words = words.div_ceil(2);
        }
        words
    }

    /// Finds the heads of so many words; `false` if there is no room for all.
    fn has_prepared(&mut self, image: Image<'_>, hashes: &[Hash], words: usize) -> bool {
        let filter = image.folded_names();
        self.find_windows(filter, hashes, words);
        !self.windows.is_short && !self.long.is_short && self.find_heads(filter)
    }

    /// Finds the heads of the windows in a table; `false` if there is no room for all.
    fn find_heads(&mut self, filter: Filter<'_>) -> bool {
        self.lookups = self.windows.len;
        self.spots.clear();
        for window in self.windows.all() {
            let spot = filter.folded_spot(window.hash);
            filter.fetch(&spot);
            self.spots.add_if(true, (*window, spot));
        }
        let asked = self.spots.len;
        self.spots.clear();
        for i in 0..asked {
            let (window, spot) = self.spots.room[i];
            self.spots.add_if(filter.may_have(&spot), (window, spot));
        }
        self.heads.clear();
        for &(Window { first, words, .. }, spot) in self.spots.all() {
            let most = self.heads.len() + 2 * SLOTS;
            if most > self.heads.capacity() {
                return false;
            }
            filter.heads(&spot, |record| self.heads.push(Head { first, words, record }));
        }
        true
    }

    /// [`Block::prepare`] for another form than the folded name: finds the heads of `words` words held, from `first`
    /// on.
    pub(crate) fn prepare_form(
        &mut self,
        image: Image<'_>,
        kind: FormKind,
        held: &Held,
        first: usize,
        words: usize,
    ) -> usize {
        let mut words = words;
        loop {
            self.windows.clear();
            self.long.clear();
            match kind {
                FormKind::Unordered => self.find_unordered(image, held, first, words),
                _ => self.find_joined(image, kind, held, first, words),
            }
            let fits = !self.windows.is_short && !self.long.is_short;
            if fits && self.find_heads(image.forms()) {
                return words;
            }
            self.is_short = true;
            words = words.div_ceil(2);
        }
    }

    /// Notes the windows that may be joined forms: for each word the longest first.
    fn find_joined(
        &mut self,
        image: Image<'_>,
        kind: FormKind,
        held: &Held,
        first: usize,
        words: usize,
    ) {
        let (forms, seed) = (image.forms(), kind.seed(image.root().seed()));
        let Block { long, windows, begins, .. } = self;
        begins.clear();
        for i in first..first + words {
            let hash = forms::hash_of_beginning(seed, held.letters(i)).unwrap_or_default();
            let spot = forms.folded_spot(hash);
            forms.fetch(&spot);
            begins.push(spot);
        }
        for (at, spot) in begins.iter().enumerate() {
            let (i, lengths) = (first + at, forms.lengths(spot));
            let letters = held.letters(i);
            long.clear();
            for count in 1..=(held.len() - i).min(MOST_WORDS) {
                let len = held.letters_of(i, count);
                let bit = forms::bit_of_length(len);
                // No name is as long.
                if len > MOST_LETTERS || len >= BEGIN && bit > lengths {
                    break;
                }
                if (len < BEGIN || lengths & bit != 0) && len >= LEAST_LETTERS {
                    let hash = forms::hash_of_letters(seed, &letters[..len]);
                    long.add_if(true, Window { first: at, words: count, hash });
                }
            }
            for window in long.all().iter().rev() {
                windows.add_if(true, *window);
            }
            windows.is_short |= long.is_short;
        }
    }

    /// [`Block::prepare_form`] for windows from `first` on that have the misspelled word `at` and end before `end`,
    /// with each of the near words in its place. `false` if there is no room for all.
    pub(crate) fn prepare_misspelled(
        &mut self,
        image: Image<'_>,
        held: &Held,
        (first, at, end): (usize, usize, usize),
        near: &[NearWord],
    ) -> bool {
        let (forms, seed) = (image.forms(), image.root().seed());
        let Block { long, windows, letters, .. } = self;
        windows.clear();
        let end = end.min(first + SPAN).min(held.len());
        let before = if at > first { held.letters_of(first, at - first) } else { 0 };
        for word in near.iter().map(NearWord::word) {
            if before + word.len() > MOST_LETTERS {
                continue;
            }
            letters.clear();
            letters.extend_from_slice(&held.letters(first)[..before]);
            letters.extend_from_slice(word);
            let own = letters.len();
            if at + 1 < end {
                let rest = held.letters_of(at + 1, end - at - 1).min(MOST_LETTERS - own);
                letters.extend_from_slice(&held.letters(at + 1)[..rest]);
            }
            let begin = forms::hash_of_beginning(seed, letters);
            let lengths = begin.map_or(0, |hash| forms.lengths(&forms.folded_spot(hash)));
            long.clear();
            for until in at + 1..=end {
                let len =
                    own + if until > at + 1 { held.letters_of(at + 1, until - at - 1) } else { 0 };
                if len > letters.len() || len >= BEGIN && forms::bit_of_length(len) > lengths {
                    break;
                }
                let may_be = len < BEGIN || lengths & forms::bit_of_length(len) != 0;
                let hash = forms::hash_of_letters(seed, &letters[..len]);
                long.add_if(may_be, Window { first: 0, words: until - first, hash });
            }
            long.all().iter().for_each(|window| windows.add_if(true, *window));
            windows.is_short |= long.is_short;
        }
        let fits = !self.windows.is_short && self.find_heads(image.forms());
        self.is_short |= !fits;
        fits
    }

    /// Notes the windows that may be unordered forms: those that begin and end with a word that counts.
    fn find_unordered(&mut self, image: Image<'_>, held: &Held, first: usize, words: usize) {
        let forms = image.forms();
        let Block { long, windows, begins, lengths, .. } = self;
        let (all, hashes) = ((words + SPAN).min(held.len() - first), held.hashes());
        begins.clear();
        lengths.clear();
        for hash in &hashes[first..first + all] {
            let spot = forms.folded_spot(Sum::hash_of_least(*hash));
            forms.fetch(&spot);
            begins.push(spot);
        }
        for (at, spot) in begins.iter().enumerate() {
            let counts = held.is_content(first + at);
            lengths.push(if counts { forms.lengths(spot) | CONTENT } else { 0 });
        }
        for at in (0..words).filter(|at| lengths[*at] != 0) {
            long.clear();
            let (mut sum, mut least) = (Sum::default(), at);
            for end in at..all.min(at + SPAN) {
                if lengths[end] == 0 {
                    continue;
                }
                sum = sum.with(hashes[first + end]);
                if sum.least() == Some(hashes[first + end]) {
                    least = end;
                }
                if sum.words > MOST_UNORDERED {
                    break;
                }
                let may_be = sum.words >= LEAST_UNORDERED && lengths[least] & sum.bit() != 0;
                long.add_if(may_be, Window { first: at, words: end + 1 - at, hash: sum.hash() });
            }
            for window in long.all().iter().rev() {
                windows.add_if(true, *window);
            }
            windows.is_short |= long.is_short;
        }
    }

    /// How many windows were looked up in the filter.
    pub(crate) fn lookups(&self) -> usize {
        self.lookups
    }

    /// Notes the windows of the first `words` words that may be folded names: for each word the longest first.
    fn find_windows(&mut self, filter: Filter<'_>, hashes: &[Hash], words: usize) {
        let Block { begins, spots, long, windows, .. } = self;
        begins.clear();
        for hash in &hashes[..words] {
            let spot = filter.folded_spot(*hash);
            filter.fetch(&spot);
            begins.push(spot);
        }
        spots.clear();
        for (first, spot) in begins.iter().enumerate() {
            let counts = filter.may_begin(spot) | filter.may_have(spot);
            spots.add_if(counts, (Window { first, words: 1, hash: spot.hash() }, *spot));
        }
        for (one, _) in spots.all() {
            if let Some(next) = hashes.get(one.first + 1) {
                filter.fetch(&filter.folded_spot(one.hash.and(*next)));
            }
        }
        windows.clear();
        for (one, spot) in spots.all() {
            long.clear();
            long.add_if(true, *one);
            find_long(filter, &hashes[one.first..], (*one, *spot), long);
            for window in long.all().iter().rev() {
                windows.add_if(true, *window);
            }
            windows.is_short |= long.is_short;
        }
    }
}

/// Adds the windows of two words or more that may be names, shortest first.
fn find_long(
    filter: Filter<'_>,
    words: &[Hash],
    (Window { first, .. }, mut spot): (Window, FoldedSpot),
    windows: &mut Filtered<Window>,
) {
    let words = &words[..words.len().min(MOST_WORDS)];
    let (mut begin, mut known) = (1, filter.lengths(&spot));
    while known != 0 {
        let (end, mut hash) = (begin + step_after(begin), spot.hash());
        for (count, word) in (begin + 1..=end).zip(&words[begin..]) {
            hash = hash.and(*word);
            if known >> (count - begin - 1) & 1 == 1 {
                windows.add_if(true, Window { first, words: count, hash });
            }
        }
        if known & LONGER == 0 || words.len() <= end {
            break;
        }
        (begin, spot) = (end, filter.folded_spot(hash));
        known = filter.lengths(&spot);
    }
}
