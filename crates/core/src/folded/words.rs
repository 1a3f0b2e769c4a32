//! Words of a text, and the folded name in which names and texts are compared.
//!
//! ```text
//!   "Horner’s Syndrome, type-2"  -->  words (UAX #29)  Horner’s | Syndrome | type | 2
//!                                -->  folded           horner's syndrome type 2
//! ```
//!
//! A word is what UAX #29 calls one, if it has a letter or a digit. Each word is folded by itself: NFKC and full case
//! folding until nothing changes; default-ignorable characters (such as a soft hyphen) are removed, and a curly
//! apostrophe becomes a straight one. The folded name of a name is its folded words, joined by one blank: the text
//! between words does not count.
//!
//! A name of more than [`MOST_WORDS`] words or [`MOST_BYTES`] bytes, or without any word, has
//! no folded name: it is never found in a text. This bounds a window's cost and an insert's
//! memory. For the same reason a word of more than 32,000 bytes in a text, as written or folded,
//! matches no name ([`TOO_LONG`]).
//!
//! Another version of Unicode folds differently: increase `root::LAYOUT` when it changes, or two versions of the
//! library in one server would disagree about an image.

use std::ops::Range;

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

use crate::folded::ascii;
use crate::folded::pieces::Words;
use crate::records::label::label_of;

/// A name of more words has no folded name.
pub const MOST_WORDS: usize = 64;
/// A name of more bytes has no folded name; a record holds up to this many in one piece.
pub const MOST_BYTES: usize = 2000;

const _: () = assert!(MOST_BYTES <= crate::records::record::INSIDE);
// A word has at least one byte, and so has the gap between it and the next.
const _: () = assert!(SHORT / 2 <= MOST_WORDS);

/// The most foldings of a word before nothing changes; three suffice for every known text.
const MOST_ROUNDS: usize = 8;

/// A word of more bytes, as written or folded, is in no name, because no character folds to more than 16 times its
/// bytes. So a word of a hundred megabytes is neither kept nor folded.
pub(crate) const MOST_WORD: usize = 16 * MOST_BYTES;
/// What a word of more than [`MOST_WORD`] bytes folds to. It is not UTF-8, as folded names are, so it is in none of
/// them.
pub(crate) const TOO_LONG: &[u8] = &[0xFF];

/// Appends a folded word to `to`: nothing if the whole word is ignorable, and [`TOO_LONG`] if it is longer than any
/// word of a name.
pub fn fold(word: &str, to: &mut Vec<u8>) {
    if word.len() > MOST_WORD {
        to.extend_from_slice(TOO_LONG);
    } else if word.is_ascii() {
        let start = to.len();
        to.extend_from_slice(word.as_bytes());
        to[start..].make_ascii_lowercase();
    } else {
        match fold_by_library(word) {
            Some(folded) => to.extend_from_slice(folded.as_bytes()),
            None => to.extend_from_slice(TOO_LONG),
        }
    }
}

/// The most bytes that [`fold`] adds for a word.
pub(crate) fn room_to_fold(word: &str) -> usize {
    match word.len() {
        len if len > MOST_WORD => TOO_LONG.len(),
        len if word.is_ascii() => len,
        len => (len * (MOST_WORD / MOST_BYTES)).min(MOST_WORD),
    }
}

/// The definition of [`fold`], which has a faster way for ASCII. None if the word is too long.
fn fold_by_library(word: &str) -> Option<String> {
    let mut folded = fold_once(word)?;
    for _ in 0..MOST_ROUNDS {
        let again = fold_once(&folded)?;
        if again == folded {
            break;
        }
        folded = again;
    }
    Some(folded)
}

fn fold_once(word: &str) -> Option<String> {
    let straight = |c| if matches!(c, '\u{2018}' | '\u{2019}') { '\'' } else { c };
    // A blank that a character decomposes to would look like a border of words.
    let counts = |c: &char| !is_ignorable(*c) && !c.is_whitespace();
    let mut folded = String::new();
    for c in word.nfkc().default_case_fold().nfkc().filter(counts).map(straight) {
        folded.push(c);
        if folded.len() > MOST_WORD {
            return None;
        }
    }
    Some(folded)
}

/// Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties), which NFKC_Casefold removes. The property's blocks
/// are reserved, so it has not changed since version 6.3.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Most names have at most this many bytes.
pub(crate) const SHORT: usize = 64;
/// The bit by which letters of ASCII differ in case.
const CASE: u8 = b'a' ^ b'A';
/// Bytes that may be read after the last of an ASCII name, see [`Hash::of_word_in`].
const AFTER: usize = 16;

/// Calls `each` for every folded word of a name, with bytes and the word's range in them. Returns the number of words;
/// none if the name has no folded name, for example if it is not UTF-8.
///
/// [`Hash::of_word_in`]: crate::memory::hash::Hash::of_word_in
#[inline]
pub(crate) fn each_folded(name: &[u8], mut each: impl FnMut(&[u8], Range<usize>)) -> Option<usize> {
    // The last byte of a label is not part of the name in the column.
    let name = label_of(name).unwrap_or(name);
    let mut count = 0;
    if name.len() <= SHORT && name.is_ascii() {
        let mut room = [b' '; SHORT + AFTER];
        let folded = &mut room[..name.len()];
        folded.copy_from_slice(name);
        folded.make_ascii_lowercase();
        let mut at = 0;
        while let Some((from, to)) = ascii::word(&room[..name.len()], at) {
            each(&room, from..to);
            (count, at) = (count + 1, to);
        }
        return (count > 0).then_some(count);
    }
    if name.len() > MOST_BYTES {
        return None;
    }
    // A word of ASCII takes no memory.
    let (mut ascii, mut other) = ([0; MOST_BYTES], Vec::new());
    for (_, word) in Words::of(std::str::from_utf8(name).ok()?) {
        let folded = if word.is_ascii() {
            let folded = &mut ascii[..word.len()];
            folded.copy_from_slice(word.as_bytes());
            folded.make_ascii_lowercase();
            &*folded
        } else {
            other.clear();
            fold(word, &mut other);
            &other
        };
        if folded.is_empty() {
            continue;
        }
        count += 1;
        if count > MOST_WORDS {
            return None;
        }
        each(folded, 0..folded.len());
    }
    (count > 0).then_some(count)
}

/// Writes the folded name of a name to `to`; `false` if it has none.
#[must_use]
pub fn fold_name(name: &[u8], to: &mut Vec<u8>) -> bool {
    to.clear();
    each_folded(name, |bytes, word| {
        if !to.is_empty() {
            to.push(b' ');
        }
        to.extend_from_slice(&bytes[word]);
    })
    .is_some()
}

/// Whether a name evidently has this folded name, because it consists only of ASCII letters, digits and single blanks.
/// `false` proves nothing.
pub(crate) fn is_plainly(name: &[u8], folded: &[u8]) -> bool {
    name.len() == folded.len()
        && name.iter().zip(folded).all(|(name, folded)| is_plain(*name, *folded))
}

/// [`is_plainly`] for two texts of `len` bytes, given in arrays of `N` bytes.
#[inline]
pub(crate) fn are_plainly<const N: usize>(name: &[u8; N], folded: &[u8; N], len: usize) -> bool {
    let count = u8::try_from(len).unwrap_or(u8::MAX);
    // Without a branch, so that the compiler compares sixteen bytes at a time.
    let bytes = name.iter().zip(folded).zip(0_u8..);
    let differ = bytes.map(|((name, folded), i)| (i < count) & !is_plain(*name, *folded));
    len <= N && !differ.fold(false, |any, differs| any | differs)
}

#[inline]
fn is_plain(name: u8, other: u8) -> bool {
    let is_letter = (name | CASE).wrapping_sub(b'a') < 26;
    let counts = is_letter | (name.wrapping_sub(b'0') < 10) | (name == b' ');
    let folded = name | (u8::from(is_letter) * CASE);
    counts & (folded == other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded_of(name: &str) -> Option<String> {
        let mut to = Vec::new();
        fold_name(name.as_bytes(), &mut to).then(|| String::from_utf8(to).unwrap())
    }

    #[test]
    fn names_fold_as_people_expect() {
        for (name, expected) in [
            ("Horner's syndrome", "horner's syndrome"),
            ("HORNER’S  Syndrome.", "horner's syndrome"),
            ("type-2 diabetes", "type 2 diabetes"),
            ("lung cancer, non-small cell", "lung cancer non small cell"),
            ("Straße", "strasse"),
            ("ＨＥＡＲＴ", "heart"),
            ("cafe\u{301}", "caf\u{e9}"),
            ("hyper\u{AD}tension", "hypertension"),
            ("糖尿病", "糖 尿 病"),
            ("アルツハイマー病", "アルツハイマー 病"),
            ("İstanbul", "i\u{307}stanbul"),
            ("\u{FDFA}", "صلىاللهعليهوسلم"),
            ("3.14 x_1", "3.14 x_1"),
        ] {
            assert_eq!(folded_of(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn some_names_have_no_folded_name() {
        assert_eq!(folded_of(""), None);
        assert_eq!(folded_of("+++ — ..."), None);
        assert_eq!(folded_of("\u{3164}"), None);
        assert!(folded_of(&"a ".repeat(MOST_WORDS)).is_some());
        assert_eq!(folded_of(&"a ".repeat(MOST_WORDS + 1)), None);
        assert!(folded_of(&"a".repeat(MOST_BYTES)).is_some());
        assert_eq!(folded_of(&"a".repeat(MOST_BYTES + 1)), None);
        assert!(!fold_name(b"caf\xE9", &mut Vec::new()));
    }

    #[test]
    fn no_name_has_a_word_that_is_too_long() {
        for c in '\0'..=char::MAX {
            let folded = fold_by_library(&c.to_string()).expect("a character is not too long");
            assert!(folded.len() <= MOST_WORD / MOST_BYTES * c.len_utf8(), "{c:?}");
        }
        let folded = |word: &str| {
            let mut to = Vec::new();
            fold(word, &mut to);
            to
        };
        for part in ["e", "É", "e\u{301}", "e\u{AD}"] {
            let most = part.repeat(MOST_WORD / part.len());
            let one = folded(&most);
            assert!(one.len() >= most.len() / part.len() && std::str::from_utf8(&one).is_ok());
            assert!(folded(&(most + part)) == TOO_LONG);
        }
        // A word that is short as written, and long when folded.
        let long = folded(&"\u{FDFA}".repeat(MOST_WORD / 30 + 1));
        assert!(long == TOO_LONG && String::from_utf8(long).is_err());
    }

    /// Letters, marks, joiners, quotes, blanks of several kinds, emoji, scripts without blanks.
    fn text() -> impl Strategy<Value = String> {
        let some = "aZ9_ \t\n\r.,:;'\"-’‘\u{301}\u{200D}\u{AD}é \
            ßİſΣςⅣﬁ糖尿ひカｶﾞ가\u{1100}\u{1161}א\"\u{A0}\u{2028}\u{FDFA}🐈👍🏽Ⓜ🇩🇪½ªไทย\u{3164}";
        let some: Vec<char> = some.chars().collect();
        proptest::collection::vec(proptest::sample::select(some), 0..40)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn the_quick_way_folds_as_the_library_does(word in "[ -~]{0,60}") {
            let mut quick = Vec::new();
            fold(&word, &mut quick);
            let blank = |byte: &u8| !byte.is_ascii_whitespace();
            quick.retain(blank);
            prop_assert_eq!(quick, fold_by_library(&word).unwrap().into_bytes());
        }

        #[test]
        fn folding_ends(word in "\\PC{0,12}") {
            let folded = fold_by_library(&word).unwrap();
            prop_assert_eq!(fold_once(&folded), Some(folded));
        }

        #[test]
        fn a_folded_name_has_as_many_blanks_as_words_but_one(name in text()) {
            let mut words = Vec::new();
            let count = each_folded(name.as_bytes(), |bytes, word| words.push(bytes[word].to_vec()));
            prop_assert_eq!(count.unwrap_or(0), words.len());
            prop_assert!(words.iter().all(|word| !word.is_empty() && !word.contains(&b' ')));
            let mut joined = Vec::new();
            prop_assert_eq!(fold_name(name.as_bytes(), &mut joined), !words.is_empty());
            prop_assert_eq!(joined, words.join(&b' '));
        }

        #[test]
        fn a_name_is_folded_word_by_word(name in "[ -~]{0,66}") {
            let mut joined = Vec::new();
            for (i, (_, word)) in Words::of(&name).enumerate() {
                joined.extend_from_slice(if i == 0 { b"" } else { b" " });
                fold(word, &mut joined);
            }
            let mut whole = Vec::new();
            prop_assert_eq!(fold_name(name.as_bytes(), &mut whole), !joined.is_empty());
            prop_assert_eq!(whole, joined);
        }

        #[test]
        fn what_is_plainly_folded_is_it(name in "[aB0 '_.-]{0,6}", others in text()) {
            let mut folded_of_name = Vec::new();
            let has = fold_name(name.as_bytes(), &mut folded_of_name);
            let plain = has && name.len() == folded_of_name.len() && !name.contains(['\'', '_', '.', '-']);
            prop_assert_eq!(is_plainly(name.as_bytes(), &folded_of_name) && has, plain);
            let padded = |bytes: &[u8]| std::array::from_fn(|i| *bytes.get(i).unwrap_or(&b'!'));
            let (start, whole): ([u8; 6], _) = (padded(name.as_bytes()), padded(&folded_of_name));
            let so = name.len() == folded_of_name.len() && are_plainly(&start, &whole, name.len());
            prop_assert_eq!(so, is_plainly(name.as_bytes(), &folded_of_name));
            prop_assert!(!are_plainly(&start, &start, 7));
            // The folded name of a window may have another folded name itself; but its words are joined by one blank.
            let mut window = Vec::new();
            if fold_name(others.as_bytes(), &mut window) && is_plainly(name.as_bytes(), &window) {
                prop_assert_eq!(window, folded_of_name);
            }
        }
    }

    #[test]
    fn another_unicode_is_another_layout() {
        let versions = (
            unicode_segmentation::UNICODE_VERSION,
            unicode_normalization::UNICODE_VERSION,
            crate::LAYOUT,
        );
        // If a version has changed, LAYOUT must change as well: see the head of words.rs.
        assert_eq!(versions, ((17, 0, 0), (18, 0, 0), 19));
    }
}
