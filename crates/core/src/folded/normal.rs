//! The normal form of a word: what stays the same however people write it.
//!
//! ```text
//!   clinic's, clinics   Gruyère   haemorrhage, hemorrhage   tumours, tumor   diagnoses   Schuhe (German)
//!   clinic              gruyere   hemorrhage                tumor            diagnosis   schuh
//! ```
//!
//! Names and texts are both normalised, so a rule may write a word that nobody writes ("leucemia"), as long as two
//! words of different meaning stay apart. The rules, in this order: letters only ([`letters`]), without accents; then
//! those of the language. English: one number ([`plural`]) and one spelling ([`spelling`]), by turns until nothing
//! changes. Other languages: endings of number, one by one until nothing changes ([`endings`]). Therefore the normal
//! form of a normal form is itself, and it never has more bytes than the word.
//!
//! What the rules do not do: English verbs and derived words (as stems would, which measured worse); a surname in -s is
//! a plural ("Williams"); without accents, "Zürich" is "Zurich" but not "Zuerich", and words of a language that writes
//! its tones as accents become one. Light rules for other languages take some words together that differ ("Messe" and
//! "Messer").

mod common;
mod endings;
mod function_words;
mod letters;
mod plural;
mod spelling;

use crate::folded::words::MOST_BYTES;

/// A language whose rules of plural and spelling are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    /// Any language: accents and their like only.
    Simple,
}

use Language::{Dutch, English, French, German, Italian, Portuguese, Simple, Spanish, Swedish};

/// Each language has its place here as its number in an image: new ones come last.
const LANGUAGES: [(Language, &str); 9] = [
    (English, "english"),
    (German, "german"),
    (French, "french"),
    (Spanish, "spanish"),
    (Italian, "italian"),
    (Portuguese, "portuguese"),
    (Dutch, "dutch"),
    (Swedish, "swedish"),
    (Simple, "simple"),
];

impl Language {
    /// The language of that name, case aside, as PostgreSQL names its text search configurations.
    #[must_use]
    pub fn of(name: &str) -> Option<Language> {
        let is_it = |(_, known): &(Language, &str)| known.eq_ignore_ascii_case(name);
        LANGUAGES.into_iter().find(is_it).map(|(language, _)| language)
    }

    /// Its name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        LANGUAGES.into_iter().find(|(language, _)| *language == self).map_or("", |(_, name)| name)
    }

    /// The names of all of them, English first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        LANGUAGES.into_iter().map(|(_, name)| name)
    }

    /// The number that an image has for it.
    pub(crate) fn number(self) -> u32 {
        (0..).zip(LANGUAGES).find(|(_, (language, _))| *language == self).map_or(0, |(n, _)| n)
    }

    pub(crate) fn from_number(number: u32) -> Option<Language> {
        let (language, _) = LANGUAGES.get(usize::try_from(number).ok()?)?;
        Some(*language)
    }
}

/// The most times that the rules of a language are applied, each of which takes a letter or makes it a normal one. No
/// known word needs more than four, and a word of more letters than these is in no name.
const MOST_ROUNDS: usize = MOST_BYTES;

/// Appends the normal form of a folded word to `to`: nothing if no letter or digit is left, and a word that is not
/// UTF-8 as it is. Allocates nothing if `to` has room for the bytes of the word, which are the most it appends.
pub(crate) fn normalise(language: Language, folded: &[u8], to: &mut Vec<u8>) {
    let start = to.len();
    let is_ascii = letters::append(folded, to);
    if !is_ascii || to.len() == start {
        return;
    }
    let mut word = Word { bytes: to, start };
    for _ in 0..MOST_ROUNDS {
        let changed = match language {
            // Both, each time.
            English => plural::remove(&mut word) | spelling::unite(&mut word),
            Simple => false,
            _ => endings::remove(language, &mut word),
        };
        if !changed {
            break;
        }
    }
}

/// Whether a normal word is one that the order of words does not count: of, the, in.
pub(crate) fn is_function_word(language: Language, normal: &[u8]) -> bool {
    function_words::has(language, normal)
}

/// Whether a normal word is a common one of the language, which is no typing error: dancer, strike.
pub(crate) fn is_common(language: Language, normal: &[u8]) -> bool {
    common::has(language, normal)
}

/// A word of ASCII letters and digits at the end of a buffer. It never becomes longer.
struct Word<'b> {
    bytes: &'b mut Vec<u8>,
    start: usize,
}

impl Word<'_> {
    #[inline]
    fn get(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Replaces `len` bytes from `at` on by no more bytes.
    fn replace(&mut self, at: usize, len: usize, with: &[u8]) {
        debug_assert!(with.len() <= len);
        let at = self.start + at;
        self.bytes[at..at + with.len()].copy_from_slice(with);
        self.bytes.copy_within(at + len.., at + with.len());
        self.bytes.truncate(self.bytes.len() + with.len() - len);
    }

    /// Replaces the last `len` bytes.
    fn replace_end(&mut self, len: usize, with: &[u8]) {
        self.replace(self.get().len() - len, len, with);
    }

    /// Replaces the whole word by what a table has for it. Says whether that is another one.
    fn replace_all(&mut self, with: &[u8]) -> bool {
        if !with.is_empty() {
            self.replace(0, self.get().len(), with);
        }
        !with.is_empty()
    }
}

/// Whether a word ends with one of these.
fn ends(word: &[u8], endings: &[&str]) -> bool {
    endings.iter().any(|ending| word.ends_with(ending.as_bytes()))
}

/// Words, sorted, and what replaces each: nothing if it stays as it is.
struct Table {
    words: &'static [(&'static str, &'static str)],
    /// Where the words of each letter begin.
    starts: [usize; LETTERS + 1],
    /// The second letters and the lengths of these words, as bits, because most words are not in a table.
    seconds: [u32; LETTERS],
    lengths: [u32; LETTERS],
}

/// Letters with which a word of a table may begin.
const LETTERS: usize = 26;

impl Table {
    const fn of(words: &'static [(&'static str, &'static str)]) -> Table {
        let (starts, bits) = ([0; LETTERS + 1], [0; LETTERS]);
        let mut table = Table { words, starts, seconds: bits, lengths: bits };
        let (mut letter, mut number, mut i) = (b'a', 0, 0);
        while number < LETTERS {
            table.starts[number] = i;
            while i < words.len() && words[i].0.as_bytes()[0] == letter {
                table.seconds[number] |= bit(words[i].0.as_bytes()[1]);
                table.lengths[number] |= 1 << (words[i].0.len() % 32);
                i += 1;
            }
            letter += 1;
            number += 1;
        }
        table.starts[LETTERS] = i;
        assert!(i == words.len(), "a table is not sorted");
        table
    }

    /// What replaces a word that the table has.
    #[inline]
    fn get(&self, word: &[u8]) -> Option<&'static [u8]> {
        let [first, second, ..] = word else { return None };
        let letter = usize::from(first.wrapping_sub(b'a'));
        let has_second = self.seconds.get(letter)? & bit(*second) != 0;
        if has_second && self.lengths[letter] >> (word.len() % 32) & 1 == 1 {
            self.find(word, letter)
        } else {
            None
        }
    }

    fn find(&self, word: &[u8], letter: usize) -> Option<&'static [u8]> {
        let words = &self.words[self.starts[letter]..self.starts[letter + 1]];
        let is_it = |(known, _): &&(&str, &str)| word == known.as_bytes();
        words.iter().find(is_it).map(|(_, with)| with.as_bytes())
    }
}

/// A bit for each small letter.
const fn bit(letter: u8) -> u32 {
    1 << (letter % 32)
}

#[cfg(test)]
mod tests;
