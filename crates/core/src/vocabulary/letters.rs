//! The characters of a word, its parts, and the hashes by which they are found.
//!
//! A word of up to eight characters has two parts, a longer one three, about as long as each other. One error harms one
//! part, or two if it exchanges the characters at a cut. So a misspelled word has the other parts as they are, perhaps
//! displaced (near.rs), and is found by them.
//!
//! ```text
//!    s c a | b i e s           c a r | c i n | o m a
//! ```

use crate::filter::bucket::NOT_IN_WORDS;
use crate::memory::casts::{halves, index, wide};
use crate::memory::hash::Hash;
use crate::records::label::label_of;

/// Bytes of the shortest word and of the longest.
const LEAST_BYTES: usize = 3;
pub(crate) const MOST_BYTES: usize = 36;
/// Bytes of the longest word that takes half a line.
pub(crate) const MOST_SHORT: usize = 12;
/// Characters of the shortest word with parts: shorter ones are near no word that is looked for.
const LEAST: usize = 3;
/// Characters from which a word has three parts, and is found with two errors.
pub(crate) const LONG: usize = 9;
/// The most parts of a word.
pub(crate) const PARTS: usize = 3;

/// Set in the hashes of parts, and clear in those of words; the two bits below it are the number of the part. They are
/// of the fingerprint, which the entries of a filter keep: a chain of words is of one part.
const OF_PART: u64 = 1 << 63;
const PART_SHIFT: u32 = 61;
const PART_BITS: u64 = 3 << PART_SHIFT;

/// Bits of a character: three of them fit into a number.
const CHAR_BITS: u32 = 21;

/// One of the vocabularies of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// The words of names.
    Names,
    /// The words of labels.
    Labels,
}

impl Vocabulary {
    /// The vocabulary that has the words of this name.
    pub(crate) fn of(name: &[u8]) -> Vocabulary {
        if label_of(name).is_some() { Vocabulary::Labels } else { Vocabulary::Names }
    }

    /// Makes the hashes of words differ from those of anything else.
    fn seed(self, seed: u64) -> u64 {
        match self {
            Vocabulary::Names => seed ^ 0xD1B5_4A32_D192_ED03,
            Vocabulary::Labels => seed ^ 0xABC9_8388_FB8F_AC03,
        }
    }

    /// The hash of a word.
    pub(crate) fn hash(self, seed: u64, word: &[u8]) -> Hash {
        Hash(Hash::of_word(self.seed(seed), word).0 & !(OF_PART | NOT_IN_WORDS))
    }

    /// The hash of a part of words of so many characters.
    pub(crate) fn hash_of_part(self, seed: u64, chars: usize, part: usize, of: &[char]) -> Hash {
        let begin = Hash(self.seed(seed)).and_number(wide(chars) << 8 | wide(part));
        let all = of.chunks(3).fold(begin, |all, three| {
            let piece = three.iter().fold(0, |piece, one| piece << CHAR_BITS | u64::from(*one));
            all.and_number(piece)
        });
        Hash(all.0 & !(PART_BITS | NOT_IN_WORDS) | OF_PART | wide(part) << PART_SHIFT)
    }
}

/// The part that a hash is of; none if it is that of a word.
pub(crate) fn part_of(hash: Hash) -> Option<usize> {
    let part = index(halves((hash.0 & PART_BITS) >> PART_SHIFT).0);
    (hash.0 & OF_PART != 0).then_some(part)
}

/// How many parts a word of so many characters has, and the cuts between them, from its beginning to its end.
pub(crate) fn cuts(chars: usize) -> (usize, [usize; PARTS + 1]) {
    match chars {
        0..LEAST => (0, [chars; 4]),
        LEAST..LONG => (2, [0, chars / 2, chars, chars]),
        _ => (3, [0, chars / 3, chars * 2 / 3, chars]),
    }
}

/// The most entries of a table that a word of so many bytes takes: its own, and those of its parts.
pub(crate) fn most_entries(bytes: usize) -> u32 {
    match bytes {
        LEAST_BYTES..LONG => 3,
        LONG..=MOST_BYTES => 4,
        _ => 0,
    }
}

/// Whether a vocabulary has this word: serial numbers would make chains as long as the vocabulary.
pub(crate) fn is_word(bytes: &[u8]) -> bool {
    if !(LEAST_BYTES..=MOST_BYTES).contains(&bytes.len()) {
        return false;
    }
    // Most words are ASCII letters only.
    if bytes.iter().all(u8::is_ascii_lowercase) {
        return true;
    }
    !bytes.iter().any(u8::is_ascii_digit)
        && std::str::from_utf8(bytes).is_ok_and(|word| !word.contains(char::is_numeric))
}

/// Up to `MOST` characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chars<const MOST: usize> {
    all: [char; MOST],
    len: usize,
}

impl<const MOST: usize> Chars<MOST> {
    pub(crate) const NONE: Chars<MOST> = Chars { all: ['\0'; MOST], len: 0 };

    /// None if these are more, or no text.
    #[inline]
    pub(crate) fn of(bytes: &[u8]) -> Option<Chars<MOST>> {
        let mut chars = Chars::NONE;
        for one in std::str::from_utf8(bytes).ok()?.chars() {
            *chars.all.get_mut(chars.len)? = one;
            chars.len += 1;
        }
        Some(chars)
    }

    #[inline]
    pub(crate) fn get(&self) -> &[char] {
        &self.all[..self.len]
    }

    pub(crate) fn get_mut(&mut self) -> &mut [char] {
        &mut self.all[..self.len]
    }
}

/// A word of a vocabulary: of 3 to 36 bytes, without digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters<'w> {
    pub(crate) bytes: &'w [u8],
    chars: Chars<MOST_BYTES>,
}

impl<'w> Letters<'w> {
    /// None if no vocabulary has it.
    pub(crate) fn of(bytes: &'w [u8]) -> Option<Letters<'w>> {
        if !is_word(bytes) {
            return None;
        }
        Some(Letters { bytes, chars: Chars::of(bytes)? })
    }

    /// Whether they are few enough for half a line.
    pub(crate) fn are_short(&self) -> bool {
        self.bytes.len() <= MOST_SHORT && self.chars.len < LONG
    }

    /// The hashes of its parts.
    pub(crate) fn parts(&self, of: Vocabulary, seed: u64) -> impl Iterator<Item = (usize, Hash)> {
        let chars = self.chars.get();
        let (parts, cuts) = cuts(chars.len());
        (0..parts).map(move |part| {
            let letters = &chars[cuts[part]..cuts[part + 1]];
            (part, of.hash_of_part(seed, chars.len(), part, letters))
        })
    }
}
