//! The normal words of a whole text: made once, and read by every recogniser that looks for other forms of names.

use std::ops::Range;

use crate::folded::normal::Language;
use crate::folded::normaliser::{Normaliser, Traits};
use crate::folded::pieces::Words;
use crate::folded::words::{self, TOO_LONG, fold};
use crate::memory::casts::{index, word as place};
use crate::memory::interruptible::{Interruptible, PER_STEP};
use crate::memory::limit::{NoRoom, some_is_left};

/// Words and letters for which memory is asked at a time, at least.
const MORE: usize = 64;
/// Words before and behind one that is replaced.
pub const BESIDE: usize = 7;
/// Larger amounts are taken only if the system has some memory left for other uses.
const LARGE: usize = 1 << 16;

/// A normal word: its letters among those of all words, and its place in the text in bytes and in characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalWord {
    pub(crate) at: u32,
    pub(crate) end: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) start: u32,
    pub(crate) stop: u32,
    pub(crate) traits: Traits,
}

/// The normal words of a text.
#[derive(Debug, Default)]
pub struct NormalText {
    normaliser: Normaliser,
    letters: Vec<u8>,
    words: Vec<NormalWord>,
}

impl NormalText {
    /// Reads a text of less than 2 GiB; takes at most `limit` bytes.
    ///
    /// # Errors
    /// If it would take more, or more than is available.
    pub fn read(
        &mut self,
        language: Language,
        text: &str,
        limit: usize,
        work: &mut Interruptible<'_>,
    ) -> Result<(), NoRoom> {
        self.normaliser.speak(language);
        self.letters.clear();
        self.words.clear();
        let mut folded = Vec::new();
        let (mut at, mut characters) = (0, 0);
        let mut all = Words::of(text);
        while let Some((from, word)) = all.next_word(work) {
            characters += count(&text[at..from], work);
            at = from;
            let start = characters;
            folded.clear();
            let room = words::room_to_fold(word);
            let fits = folded.try_reserve(room).is_ok() && (room < LARGE || some_is_left());
            if !fits {
                return Err(NoRoom::Memory(room));
            }
            fold(word, &mut folded);
            self.make_room(folded.len(), limit)?;
            let here = self.letters.len();
            let traits = self.normaliser.normalise(&folded, &mut self.letters);
            let end = self.letters.len();
            characters += count(word, work);
            at += word.len();
            if end > here {
                self.words.push(NormalWord {
                    at: place(here),
                    end: place(end),
                    from: place(from),
                    to: place(at),
                    start: place(start),
                    stop: place(characters),
                    traits,
                });
            }
        }
        Ok(())
    }

    fn make_room(&mut self, letters: usize, limit: usize) -> Result<(), NoRoom> {
        let has_room = self.letters.capacity() - self.letters.len() >= letters
            && self.words.len() < self.words.capacity();
        if has_room {
            return Ok(());
        }
        let words = self.words.len() + MORE;
        let letters = self.letters.len() + letters + MORE;
        // Vectors double.
        let bytes = 2 * (words * size_of::<NormalWord>() + letters);
        if bytes > limit {
            return Err(NoRoom::Limit(bytes));
        }
        let fits = self.words.try_reserve(MORE).is_ok()
            && self.letters.try_reserve(letters - self.letters.len()).is_ok()
            && (bytes < LARGE || some_is_left());
        if fits { Ok(()) } else { Err(NoRoom::Memory(bytes)) }
    }

    /// The language of its normal forms.
    #[must_use]
    pub fn language(&self) -> Language {
        self.normaliser.language()
    }

    /// Bytes that it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.letters.capacity() + self.words.capacity() * size_of::<NormalWord>()
    }

    pub(crate) fn letters_of(&self, word: NormalWord) -> &[u8] {
        &self.letters[index(word.at)..index(word.end)]
    }

    /// The letters of a word.
    pub(crate) fn word(&self, i: usize) -> &[u8] {
        self.letters_of(self.words[i])
    }

    pub(crate) fn words(&self) -> &[NormalWord] {
        &self.words
    }

    pub(crate) fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// The words: where each is in the text, in bytes, and its letters.
    pub fn all(&self) -> impl ExactSizeIterator<Item = (Range<usize>, &[u8])> {
        self.words.iter().map(|word| (index(word.from)..index(word.to), self.letters_of(*word)))
    }

    /// Of [`NormalText::all`], the words that are no function words.
    pub fn content(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        let content = self.words.iter().filter(|word| word.traits.is_content);
        content.map(|word| (index(word.from)..index(word.to), self.letters_of(*word)))
    }

    /// Makes it empty; what is appended to it is in that text's language.
    pub fn begin_like(&mut self, text: &NormalText) {
        self.normaliser.speak(text.language());
        self.letters.clear();
        self.words.clear();
    }

    /// Appends up to [`BESIDE`] words before and behind a word of a text, with `other`, a normal word, in its place;
    /// and a word that no name has, so that no name goes on in what is appended next. Takes at most `limit` bytes.
    ///
    /// # Errors
    /// If it would take more, or more than is available.
    pub fn append_with(
        &mut self,
        text: &NormalText,
        word: usize,
        other: &[u8],
        limit: usize,
    ) -> Result<(), NoRoom> {
        let all = &text.words[word.saturating_sub(BESIDE)..];
        let before = word.min(BESIDE);
        for (n, &place) in all.iter().take(before + 1 + BESIDE).enumerate() {
            if n == before {
                let traits = Traits::of(self.language(), other);
                self.push(NormalWord { traits, ..place }, other, limit)?;
            } else {
                self.push(place, text.letters_of(place), limit)?;
            }
        }
        let end = NormalWord { traits: Traits::of(self.language(), TOO_LONG), ..text.words[word] };
        self.push(end, TOO_LONG, limit)
    }

    fn push(&mut self, place: NormalWord, letters: &[u8], limit: usize) -> Result<(), NoRoom> {
        // The places of letters have 32 bits.
        self.make_room(letters.len(), limit.min(1 << 32))?;
        let at = self.letters.len();
        self.letters.extend_from_slice(letters);
        let (at, end) = (self::place(at), self::place(self.letters.len()));
        self.words.push(NormalWord { at, end, ..place });
        Ok(())
    }
}

/// How many characters a text has.
fn count(text: &str, work: &mut Interruptible<'_>) -> usize {
    work.steps(text.len() / PER_STEP);
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
