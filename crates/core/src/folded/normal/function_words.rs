//! Words that say how others belong together and name nothing themselves, in their normal form.

use super::Language::{
    self, Dutch, English, French, German, Italian, Portuguese, Simple, Spanish, Swedish,
};

/// Letters of the longest one.
pub(super) const LONGEST: usize = 6;

/// Whether a normal word is a function word of that language.
pub(super) fn has(language: Language, word: &[u8]) -> bool {
    word.len() <= LONGEST && of(language).iter().any(|other| word == other.as_bytes())
}

/// Those of a language.
#[rustfmt::skip]
pub(super) fn of(language: Language) -> &'static [&'static str] {
    match language {
        English => &["of", "the", "in", "and", "a", "for", "to", "an", "at", "on", "with", "from", "by", "or", "per"],
        German => &[
            "der", "die", "das", "des", "dem", "den", "und", "von", "vom", "im", "in", "am", "an", "auf", "fur",
            "mit", "zu", "zur", "zum", "oder", "aus", "bei", "beim", "ein", "eine",
        ],
        French => &[
            "de", "du", "des", "la", "le", "les", "l", "d", "a", "au", "aux", "en", "et", "ou", "par", "pour",
            "sur", "avec", "dans", "un", "une",
        ],
        Spanish => &["de", "del", "la", "el", "lo", "los", "las", "y", "e", "o", "u", "en", "a", "al", "con", "por", "para", "un", "una"],
        Italian => &[
            "di", "del", "dell", "dei", "degl", "d", "l", "il", "lo", "la", "i", "gli",
            "le", "e", "ed", "o", "a", "al", "alla", "ai", "alle", "all", "in", "nel", "nell", "con", "per", "da",
            "dal", "su", "sul", "un", "una", "uno",
        ],
        Portuguese => &[
            "de", "do", "da", "dos", "das", "o", "a", "os", "as", "e", "ou", "em", "no", "na", "nos", "nas", "ao",
            "aos", "com", "por", "para", "um", "uma",
        ],
        Dutch => &["de", "het", "een", "van", "in", "op", "en", "of", "met", "voor", "aan", "te", "bij", "uit", "der", "den"],
        Swedish => &["av", "i", "pa", "och", "en", "ett", "for", "med", "till", "fran", "den", "det", "de", "eller", "hos", "vid"],
        Simple => &[],
    }
}
