//! Makes normal forms of words, and keeps those of short words: most words of texts and names come again.

use crate::folded::normal::{self, Language};
use crate::folded::words::TOO_LONG;
use crate::memory::casts::{fold_product, halves, index};
use crate::vocabulary::letters::is_word;

/// Bytes of the longest folded word of which there is a normal form.
pub(crate) const MOST_FOLDED: usize = 1020;
/// Words whose normal forms are kept, as a power of two, and bytes of the longest.
const KEPT_BITS: u32 = 10;
const MOST_KEPT: usize = 16;
/// Spreads the words; nobody gains by words that collide.
const KEY: u64 = 0x9E37_79B9_7F4A_7C15;

/// A folded word, its normal form, and what that is.
#[derive(Clone, Copy, Debug, Default)]
struct CachedForm {
    folded: [u8; MOST_KEPT],
    normal: [u8; MOST_KEPT],
    len: u8,
    normal_len: u8,
    traits: Traits,
}

/// What a normal word is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// It counts in unordered forms.
    pub(crate) is_content: bool,
    /// It may be misspelled.
    pub(crate) is_rare: bool,
}

impl Traits {
    pub(crate) fn of(language: Language, normal: &[u8]) -> Traits {
        Traits {
            is_content: !normal::is_function_word(language, normal),
            is_rare: may_be_misspelled(language, normal),
        }
    }
}

/// Characters of the shortest word that may be misspelled.
pub(crate) const LEAST_MISSPELLED: usize = 4;

/// Whether a normal word is one that may be misspelled: long enough, without digits, and no common word of the
/// language.
#[must_use]
pub fn may_be_misspelled(language: Language, normal: &[u8]) -> bool {
    is_word(normal)
        && has_characters(normal, LEAST_MISSPELLED)
        && !normal::is_common(language, normal)
        && !normal::is_function_word(language, normal)
}

/// Whether a word has so many characters.
pub(crate) fn has_characters(word: &[u8], least: usize) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| word.chars().nth(least - 1).is_some())
}

/// Makes normal forms in one language.
#[derive(Debug, Default)]
pub(crate) struct Normaliser {
    language: Language,
    /// By a hash of the folded word; empty if none are kept.
    kept: Vec<CachedForm>,
}

impl Normaliser {
    /// One that keeps no words.
    pub(crate) fn of(language: Language) -> Normaliser {
        Normaliser { language, kept: Vec::new() }
    }

    /// Sets the language, and makes room for words to keep, if there is memory.
    pub(crate) fn speak(&mut self, language: Language) {
        if self.language != language || self.kept.is_empty() {
            let fits = self.kept.try_reserve_exact(1 << KEPT_BITS).is_ok();
            self.kept.clear();
            self.kept.resize(if fits { 1 << KEPT_BITS } else { 0 }, CachedForm::default());
        }
        self.language = language;
    }

    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Appends the normal form of a folded word, or what is in no name if the word is too long for one; what it is.
    pub(crate) fn normalise(&mut self, folded: &[u8], to: &mut Vec<u8>) -> Traits {
        let mut key = [0; MOST_KEPT];
        let fits = key.get_mut(..folded.len()).map(|room| room.copy_from_slice(folded));
        let slot = index(halves(mixed(key) >> (64 - KEPT_BITS)).0);
        let is_known = |known: &&CachedForm| {
            fits.is_some() && known.folded == key && usize::from(known.len) == folded.len()
        };
        if let Some(known) = self.kept.get(slot).filter(is_known) {
            to.extend_from_slice(&known.normal[..usize::from(known.normal_len)]);
            return known.traits;
        }
        let from = to.len();
        normalise(self.language, folded, to);
        let normal = &to[from..];
        let traits = Traits::of(self.language, normal);
        let lens = [folded.len(), normal.len()].map(u8::try_from);
        if let (Some(kept), Some(()), [Ok(len), Ok(normal_len)]) =
            (self.kept.get_mut(slot), fits, lens)
        {
            let mut room = [0; MOST_KEPT];
            room[..normal.len()].copy_from_slice(normal);
            *kept = CachedForm { folded: key, normal: room, len, normal_len, traits };
        }
        traits
    }
}

/// Appends the normal form of a folded word, or what is in no name if the word is too long for one.
pub fn normalise(language: Language, folded: &[u8], to: &mut Vec<u8>) {
    if folded.len() > MOST_FOLDED {
        to.extend_from_slice(TOO_LONG);
    } else {
        normal::normalise(language, folded, to);
    }
}

fn mixed(key: [u8; MOST_KEPT]) -> u64 {
    let eight = |at: usize| u64::from_le_bytes(*key[at..].first_chunk().expect("of sixteen"));
    fold_product(eight(0) ^ KEY, eight(8) ^ !KEY)
}
