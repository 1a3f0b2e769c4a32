//! The words of a text that are held at a time: where they are, folded, and their hashes.
//!
//! Part of `recognise.rs`; nothing here knows an image.

use crate::hash::Hash;
use crate::words::{self, MOST_WORDS, Words};

/// Words held at a time: some 20 microseconds to fold, and more than the longest window.
const HELD: usize = 1024;
/// Bytes between two words that are worth copying along with them.
const GAP: usize = 64;

const _: () = assert!(HELD > 2 * MOST_WORDS);

/// A text on its way to a [`Recogniser`](crate::Recogniser).
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    words: Words<'t>,
    /// Whether bytes are characters.
    ascii: bool,
    /// So many bytes are so many characters.
    bytes: usize,
    characters: usize,
}

impl<'t> Reader<'t> {
    /// At the start of a text.
    #[must_use]
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, words: Words::of(text), ascii: text.is_ascii(), bytes: 0, characters: 0 }
    }

    fn characters(&self, from: usize, to: usize) -> usize {
        if self.ascii { to - from } else { self.text[from..to].chars().count() }
    }
}

/// A word that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// In the text: bytes and characters.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// In what is held of the folded text, and how long it is.
    folded: usize,
    len: usize,
}

/// Words of a text.
#[derive(Debug, Default)]
pub(crate) struct Held {
    words: Vec<Word>,
    /// Their folded text, and what stands between them.
    folded: Vec<u8>,
    /// The hashes of the first of them.
    hashes: Vec<u64>,
    /// No words come after these.
    ended: bool,
}

/// A stretch of the text that is to be copied: where it begins and ends, and where it goes.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: usize,
    to: usize,
    folded: usize,
}

impl Held {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.folded.clear();
        self.hashes.clear();
        self.ended = false;
    }

    /// Reads on in the text and forgets the first `done` words, unless those after them do for a step.
    pub(crate) fn read(&mut self, text: &mut Reader<'_>, done: &mut usize) {
        if self.ended || self.words.len() - *done >= MOST_WORDS {
            return;
        }
        self.forget(std::mem::take(done));
        let mut stretch = Stretch { from: 0, to: 0, folded: self.folded.len() };
        while self.words.len() < HELD {
            let Some((from, to, is_ascii)) = text.words.next_place() else {
                self.ended = true;
                break;
            };
            let (folded, len) = if is_ascii {
                if stretch.to == 0 || from - stretch.to > GAP {
                    self.copy(text.text, stretch);
                    stretch = Stretch { from, to, folded: self.folded.len() };
                }
                stretch.to = to;
                (stretch.folded + from - stretch.from, to - from)
            } else {
                self.copy(text.text, stretch);
                let at = self.folded.len();
                words::fold(&text.text[from..to], &mut self.folded);
                stretch = Stretch { from: to, to, folded: self.folded.len() };
                (at, self.folded.len() - at)
            };
            if len == 0 {
                continue;
            }
            let start = text.characters + text.characters(text.bytes, from);
            let end = start + text.characters(from, to);
            (text.bytes, text.characters) = (to, end);
            self.words.push(Word { from, to, start, end, folded, len });
        }
        self.copy(text.text, stretch);
    }

    /// Copies a stretch of the text, and folds what is ASCII in it: its words are.
    fn copy(&mut self, text: &str, stretch: Stretch) {
        self.folded.extend_from_slice(&text.as_bytes()[stretch.from..stretch.to]);
        self.folded[stretch.folded..].make_ascii_lowercase();
    }

    fn forget(&mut self, done: usize) {
        self.hashes.drain(..done.min(self.hashes.len()));
        self.words.drain(..done);
        let bytes = self.words.first().map_or(self.folded.len(), |word| word.folded);
        self.folded.drain(..bytes);
        self.words.iter_mut().for_each(|word| word.folded -= bytes);
    }

    /// Hashes what is not hashed yet.
    pub(crate) fn hash(&mut self, seed: u64) {
        for word in &self.words[self.hashes.len()..] {
            let bytes = &self.folded[word.folded..word.folded + word.len];
            self.hashes.push(Hash::of_word(seed, bytes));
        }
    }

    /// The seed is another.
    pub(crate) fn forget_hashes(&mut self) {
        self.hashes.clear();
    }

    /// The hashes of the words, see [`Held::hash`].
    #[inline]
    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    #[inline]
    pub(crate) fn word(&self, i: usize) -> Word {
        self.words[i]
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether these are the last words of the text.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Words whose windows are all held: of those after them some may be yet to be read.
    pub(crate) fn whole(&self) -> usize {
        let held = self.words.len();
        if self.ended { held } else { (held + 1).saturating_sub(MOST_WORDS) }
    }

    /// Writes the form of `count` words to `to`.
    pub(crate) fn form(&self, first: usize, count: usize, to: &mut Vec<u8>) {
        to.clear();
        for word in &self.words[first..first + count] {
            if !to.is_empty() {
                to.push(b' ');
            }
            to.extend_from_slice(&self.folded[word.folded..word.folded + word.len]);
        }
    }
}
