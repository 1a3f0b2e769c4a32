//! The words of a text that are held at a time: where they are, folded, and their hashes.
//!
//! Part of `recognise.rs`; nothing here knows an image.

use crate::ascii::{BLOCK, Cutter};
use crate::hash::Hash;
use crate::words::{self, MOST_WORDS, Rest, Words};

/// Words held at a time: some 20 microseconds to fold, and more than the longest window.
const HELD: usize = 1024;

const _: () = assert!(HELD > 2 * MOST_WORDS);

/// A text on its way to a [`Recogniser`](crate::Recogniser).
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    words: Words<'t>,
    /// Up to this byte, so many more bytes than characters.
    counted: usize,
    excess: usize,
}

impl<'t> Reader<'t> {
    /// At the start of a text.
    #[must_use]
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, words: Words::of(text), counted: 0, excess: 0 }
    }
}

/// Bytes that begin no character.
fn excess(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 == 0x80).count()
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
        while self.words.len() < HELD {
            let Some(rest) = text.words.rest_of_piece() else {
                self.ended = true;
                break;
            };
            let from = match &rest {
                Rest::Ascii(cutter, bytes) => cutter.next().min(bytes.len()),
                Rest::Word(from, _) => *from,
            };
            text.excess += excess(&text.text.as_bytes()[text.counted..from]);
            text.counted = from;
            match rest {
                Rest::Ascii(cutter, bytes) => self.read_ascii(cutter, bytes, text.excess),
                Rest::Word(from, word) => self.read_word(from, word, text.excess),
            }
        }
    }

    /// Reads words of ASCII before which there are `excess` bytes more than characters: whole blocks,
    /// which are folded all of them.
    fn read_ascii(&mut self, cutter: &mut Cutter, bytes: &[u8], excess: usize) {
        let Held { words, folded, .. } = self;
        // What is in the text here is in `folded` so many bytes before, or after.
        let mut moved = 0;
        loop {
            let copy = |at: usize, block: &[u8; BLOCK]| {
                moved = at.wrapping_sub(folded.len());
                folded.extend_from_slice(&block.map(|byte| byte.to_ascii_lowercase()));
            };
            let Some((from, to)) = cutter.word(bytes, copy) else { return };
            let (start, end) = (from - excess, to - excess);
            let (folded, len) = (from.wrapping_sub(moved), to - from);
            words.push(Word { from, to, start, end, folded, len });
            if words.len() >= HELD && cutter.is_between_blocks() {
                return;
            }
        }
    }

    /// Reads a word that may be of anything.
    fn read_word(&mut self, from: usize, word: &str, before: usize) {
        let folded = self.folded.len();
        words::fold(word, &mut self.folded);
        let len = self.folded.len() - folded;
        if len == 0 {
            return;
        }
        let (to, start) = (from + word.len(), from - before);
        let end = start + word.len() - excess(word.as_bytes());
        self.words.push(Word { from, to, start, end, folded, len });
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
            self.hashes.push(Hash::of_word_in(seed, &self.folded, word.folded, word.len));
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Where a word is in bytes and in characters, and folded.
    type Place = (usize, usize, usize, usize, Vec<u8>);

    /// By the definition of each.
    fn expected(text: &str) -> Vec<Place> {
        let characters = |to: usize| text[..to].chars().count();
        let places = Words::of(text).map(|(from, word)| {
            let (to, mut folded) = (from + word.len(), Vec::new());
            words::fold(word, &mut folded);
            (from, to, characters(from), characters(to), folded)
        });
        places.filter(|place| !place.4.is_empty()).collect()
    }

    /// A few words at a time, as after steps that ended early.
    fn read(text: &str, step: usize) -> Vec<Place> {
        let (mut held, mut reader, mut done) = (Held::default(), Reader::new(text), 0);
        let mut all = Vec::new();
        loop {
            held.read(&mut reader, &mut done);
            held.hash(7);
            assert_eq!(held.hashes().len(), held.len());
            let until = held.len().min(done + step);
            for i in done..until {
                let word = held.word(i);
                let mut folded = Vec::new();
                held.form(i, 1, &mut folded);
                assert_eq!(held.hashes()[i], Hash::of_word(7, &folded));
                all.push((word.from, word.to, word.start, word.end, folded));
            }
            done = until;
            if held.ended() && done == held.len() {
                return all;
            }
        }
    }

    fn text() -> impl Strategy<Value = String> {
        const SOME: [&str; 9] =
            ["a ", "Bc, ", "d.e", "__ ", "É ", "糖", "\u{AD} ", "x\u{301}-", "ß'"];
        let piece = prop_oneof![
            10 => proptest::sample::select(&SOME[..]).prop_map(str::to_string),
            1 => (0..200_usize).prop_map(|n| " ".repeat(n)),
            1 => (0..200_usize).prop_map(|n| "Long".repeat(n)),
            1 => (0..900_usize).prop_map(|n| "many ".repeat(n)),
            1 => (0..300_usize).prop_map(|n| "vię̂le ".repeat(n)),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn a_text_may_be_read_in_steps(text in text(), step in 1..1500_usize) {
            prop_assert_eq!(read(&text, step), expected(&text));
        }
    }
}
