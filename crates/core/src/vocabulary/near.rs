//! The search for the words near a misspelled one: at distance 1, or 2 where both words have nine characters or more.
//!
//! One error leaves the first part of a word or the last as it was, at its end of the misspelled word. Two leave one of
//! three parts, and the middle one may be displaced:
//!
//! ```text
//!   car|cin|oma    sarcnioma     the last part, at the end
//!                  carcinma      the first part, at the beginning
//!                  craccinomma   the middle part, displaced by one
//! ```
//!
//! The exception is an exchange of the two characters at a cut, which harms both parts. So these two are exchanged
//! back, and then a part beside the cut is as it was: the first part before the first cut, or the last part after the
//! last cut, whatever the other error does. The lengths that the word may have are tried one after the other.
//!
//! Promises: a step allocates nothing, and ends after about as many words as asked, however long a chain is; a search
//! begins again if the image changed, and after eight times is done in one step.

use crate::Image;
use crate::memory::hash::Hash;
use crate::memory::id::WordId;
use crate::memory::limit::{NoRoom, some_is_left};
use crate::memory::step::Step;
use crate::vocabulary::distance::{MOST, MOST_CHARS, distance};
use crate::vocabulary::letters::{Chars, LONG, MOST_BYTES, Vocabulary, cuts, part_of};
use crate::vocabulary::word::Word;

/// Characters of the shortest word that is looked for: a shorter one is near too many.
const LEAST: usize = 4;
/// Words for which there is room at first, and among which a word is found once only.
const USUAL: usize = 64;
/// The most parts that are looked up: of five lengths, the first and the last, the middle one at nine places in all,
/// and two exchanges for each of three lengths.
const MOST_PROBES: usize = 5 * 2 + 9 + 2 * 3;
/// What looking up a part costs, in words: two buckets.
const PROBE_COST: usize = 2;
/// How often a search is begun again because the image changed, before it is done in one step.
const MOST_RESTARTS: u32 = 8;

/// A word near the one that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearWord {
    /// The errors between them.
    pub distance: u32,
    /// How many names or labels have it.
    pub count: u32,
    bytes: [u8; MOST_BYTES],
    len: usize,
}

impl NearWord {
    /// Its letters.
    #[must_use]
    pub fn word(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The search for words near one.
#[derive(Debug)]
pub struct Near {
    of: Vocabulary,
    /// The most errors.
    most: usize,
    typed: Chars<MOST_CHARS>,
    /// Its bytes, if it is ASCII.
    ascii: Option<([u8; MOST_CHARS], usize)>,
    /// The parts to look up; those before `current` are done.
    probes: [Hash; MOST_PROBES],
    len: usize,
    current: usize,
    /// The parts of which the chain is being read, each with the next word of it, and whose turn it is: while one word
    /// is read, memory is asked for the others.
    chains: Vec<(usize, WordId)>,
    turn: usize,
    found: Vec<NearWord>,
    /// Whether a word found no room.
    is_short: bool,
    /// Whether a step was done, in which epoch, and how often the search began again.
    begun: bool,
    epoch: u64,
    restarts: u32,
}

impl Default for Near {
    fn default() -> Near {
        Near::new()
    }
}

impl Near {
    /// Makes a workspace, which looks for nothing.
    #[must_use]
    pub fn new() -> Near {
        Near {
            of: Vocabulary::Names,
            most: MOST,
            typed: Chars::NONE,
            ascii: None,
            probes: [Hash(0); MOST_PROBES],
            len: 0,
            current: 0,
            chains: Vec::with_capacity(MOST_PROBES),
            turn: 0,
            found: Vec::with_capacity(USUAL),
            is_short: false,
            begun: false,
            epoch: 0,
            restarts: 0,
        }
    }

    /// Begins the search for a normal word. One of less than four characters is near no word.
    pub fn begin(&mut self, of: Vocabulary, word: &[u8]) {
        self.begin_within(of, word, MOST);
    }

    /// [`Near::begin`] for words with at most so many errors.
    pub(crate) fn begin_within(&mut self, of: Vocabulary, word: &[u8], most: usize) {
        self.most = most;
        self.of = of;
        self.typed = Chars::of(word).unwrap_or(Chars::NONE);
        let mut room = [0; MOST_CHARS];
        self.ascii = None;
        if let Some(ascii) = room.get_mut(..word.len()).filter(|_| word.is_ascii()) {
            ascii.copy_from_slice(word);
            self.ascii = Some((room, word.len()));
        }
        (self.len, self.current, self.turn) = (0, 0, 0);
        self.chains.clear();
        (self.begun, self.restarts) = (false, 0);
        self.found.clear();
    }

    /// Reader: searches on, reading about `budget` words.
    pub fn step(&mut self, image: Image<'_>, budget: usize) -> Step {
        self.notice_changes(image);
        let mut budget = if self.restarts > MOST_RESTARTS { usize::MAX } else { budget.max(1) };
        while let Some(&hash) = self.probes[..self.len].get(self.current) {
            if budget == 0 {
                return Step::More;
            }
            budget = budget.saturating_sub(PROBE_COST);
            if let (Some((_, first)), Some(part)) = (image.forms().first_of(hash), part_of(hash)) {
                Word::new(image.mem(), first).prefetch();
                self.chains.push((part, first));
            }
            self.current += 1;
        }
        while !self.chains.is_empty() {
            if budget == 0 {
                return Step::More;
            }
            budget -= 1;
            self.turn = if self.turn < self.chains.len() { self.turn } else { 0 };
            let (part, id) = self.chains[self.turn];
            let word = Word::new(image.mem(), id);
            if !self.judge(word) {
                return Step::More;
            }
            if let Some(next) = word.next(part) {
                Word::new(image.mem(), next).prefetch();
                self.chains[self.turn].1 = next;
                self.turn += 1;
            } else {
                self.chains.swap_remove(self.turn);
            }
        }
        Step::Done
    }

    /// Between steps: makes room for more words, if some found none; takes at most `limit` bytes.
    ///
    /// # Errors
    /// If that is more, or more than is available.
    pub fn make_room(&mut self, limit: usize) -> Result<(), NoRoom> {
        if !std::mem::take(&mut self.is_short) {
            return Ok(());
        }
        let more = self.found.len().max(USUAL);
        let bytes = (self.found.len() + more) * size_of::<NearWord>();
        if bytes > limit {
            return Err(NoRoom::Limit(bytes));
        }
        let fits = self.found.try_reserve_exact(more).is_ok() && some_is_left();
        if fits { Ok(()) } else { Err(NoRoom::Memory(bytes)) }
    }

    /// The near words, once the search is done, in no order; if they are many, some of them may be there twice.
    #[must_use]
    pub fn words(&self) -> &[NearWord] {
        &self.found
    }

    /// Begins the search again if the image has changed since the last step.
    fn notice_changes(&mut self, image: Image<'_>) {
        let epoch = image.epoch();
        if self.begun && epoch == self.epoch {
            return;
        }
        self.restarts += u32::from(self.begun);
        (self.begun, self.epoch) = (true, epoch);
        (self.len, self.current, self.turn) = (0, 0, 0);
        self.chains.clear();
        self.found.clear();
        self.prepare(image);
    }

    /// Notes the parts to look up, and asks memory for the buckets that may have them.
    fn prepare(&mut self, image: Image<'_>) {
        let (typed, seed) = (self.typed, image.root().seed());
        let typed = typed.get();
        if typed.len() < LEAST {
            return;
        }
        for chars in typed.len() - MOST..=typed.len() + MOST {
            if typed.len().abs_diff(chars) <= most(typed.len(), chars).min(self.most) {
                self.prepare_length(seed, chars);
            }
        }
        for hash in &self.probes[..self.len] {
            image.forms().buckets_of(*hash).iter().for_each(|bucket| bucket.prefetch_tags());
        }
    }

    /// Notes the parts of words of so many characters that the typed word may have.
    fn prepare_length(&mut self, seed: u64, chars: usize) {
        let mut typed = self.typed;
        let len = typed.get().len();
        let ((parts, cuts), longer) = (cuts(chars), len.cast_signed() - chars.cast_signed());
        let Some(last) = parts.checked_sub(1) else { return };
        self.probe(seed, chars, 0, typed.get(), 0);
        self.probe(seed, chars, last, typed.get(), longer);
        let two = most(len, chars).min(self.most) == 2;
        if two {
            // One error before the middle part, and one after it.
            for shift in (longer - 1).max(-1)..=(longer + 1).min(1) {
                self.probe(seed, chars, 1, typed.get(), shift);
            }
        }
        // An exchange at a cut leaves an error for the difference of lengths. Of three parts it leaves one, if it is
        // the only error.
        if two && longer.abs() <= 1 {
            exchange(&mut typed, cuts[1], 0);
            self.probe(seed, chars, 0, typed.get(), 0);
            typed = self.typed;
            exchange(&mut typed, cuts[2], longer);
            self.probe(seed, chars, 2, typed.get(), longer);
        } else if parts == 2 && longer == 0 {
            exchange(&mut typed, cuts[1], 0);
            self.probe(seed, chars, 1, typed.get(), 0);
        }
    }

    /// Notes a part of words of so many characters, as it stands in `typed` if it is displaced by `shift`.
    fn probe(&mut self, seed: u64, chars: usize, part: usize, typed: &[char], shift: isize) {
        let (_, cuts) = cuts(chars);
        let at = |cut: usize| cut.checked_add_signed(shift);
        let (Some(from), Some(to)) = (at(cuts[part]), at(cuts[part + 1])) else { return };
        let Some(letters) = typed.get(from..to) else { return };
        self.probes[self.len] = self.of.hash_of_part(seed, chars, part, letters);
        self.len += 1;
    }

    /// Keeps a word if it is near; `false` if there is no room for it.
    fn judge(&mut self, word: Word<'_>) -> bool {
        let (bytes, len) = word.letters();
        let near = self.distance(&bytes[..len]).filter(|near| (1..=self.most).contains(near));
        let Some(distance) = near.filter(|_| word.of() == self.of) else { return true };
        let [distance, count] = [u32::try_from(distance).unwrap_or(u32::MAX), word.count()];
        let new = NearWord { distance, count, bytes, len };
        let first = &self.found[..self.found.len().min(USUAL)];
        if first.iter().any(|known| known.word() == new.word()) {
            return true;
        }
        self.is_short = self.found.len() == self.found.capacity();
        if !self.is_short {
            self.found.push(new);
        }
        !self.is_short
    }

    /// How far a word is from the typed one, if it is near.
    #[inline]
    fn distance(&self, word: &[u8]) -> Option<usize> {
        // Bytes of ASCII are characters.
        if let Some((typed, len)) = &self.ascii
            && word.is_ascii()
        {
            return distance(&typed[..*len], word, most(*len, word.len()));
        }
        let chars = Chars::<MOST_BYTES>::of(word)?;
        let (typed, chars) = (self.typed.get(), chars.get());
        distance(typed, chars, most(typed.len(), chars.len()))
    }
}

/// The errors between two words, if they are near.
pub(crate) fn distance_of(typed: &[u8], word: &[u8]) -> Option<usize> {
    let (one, other) = (Chars::<MOST_CHARS>::of(typed)?, Chars::<MOST_BYTES>::of(word)?);
    let (one, other) = (one.get(), other.get());
    distance(one, other, most(one.len(), other.len())).filter(|near| *near > 0)
}

/// The greatest distance of words of so many characters.
pub(crate) fn most(one: usize, other: usize) -> usize {
    if one.min(other) < LONG { 1 } else { MOST }
}

/// Exchanges the characters at a cut that is displaced by `shift`, if both are there.
fn exchange(typed: &mut Chars<MOST_CHARS>, cut: usize, shift: isize) {
    let Some(after) = cut.checked_add_signed(shift) else { return };
    if (1..typed.get().len()).contains(&after) {
        typed.get_mut().swap(after - 1, after);
    }
}
