//! Words of a text, and the form in which names and texts are compared.
//!
//! ```text
//!   "Horner’s Syndrome, type-2"  -->  words (UAX #29)  Horner’s | Syndrome | type | 2
//!                                -->  folded           horner's syndrome type 2
//! ```
//!
//! A word is what UAX #29 calls one, if it has a letter or a digit. Each is folded by itself:
//! NFKC and full case folding until nothing changes, without what Unicode tells everyone to
//! ignore (a soft hyphen), a curly apostrophe as a straight one. The form of a name is its
//! folded words, joined by one blank: what stands between words does not count.
//!
//! A name of more than [`MOST_WORDS`] words or [`MOST_BYTES`] bytes, or without any word, has
//! no form: it is never found in a text. The bounds are what keeps a window's cost and an
//! insert's memory bounded.
//!
//! Another version of Unicode folds otherwise: then `root::LAYOUT` is to be one more, or
//! two versions of the library in one server would disagree about an image.

use std::ops::Range;

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

use crate::ascii::{BLOCK, Block, CASE, Cutter, is_word};
use crate::id::index;

/// A name of more words has no form.
pub const MOST_WORDS: usize = 64;
/// A name of more bytes has no form; a record holds so many in one piece.
pub const MOST_BYTES: usize = 2000;

const _: () = assert!(MOST_BYTES <= crate::record::INSIDE);
// A word has a byte, and one stands between it and the next.
const _: () = assert!(BLOCK / 2 <= MOST_WORDS);

/// Foldings of a word until nothing changes: three do for every text known.
const MOST_ROUNDS: usize = 8;

/// The words of a text with their byte offsets, in order.
///
/// The library is slow, and slower where not all is ASCII. So the text is taken in pieces, cut
/// where a word ends for certain whatever stands beside; and those of ASCII without it.
#[derive(Debug)]
pub struct Words<'t> {
    text: &'t str,
    /// Where the next piece begins.
    next: usize,
    piece: Piece<'t>,
}

#[derive(Debug)]
enum Piece<'t> {
    /// Up to the next piece.
    Ascii(Cutter),
    /// Begins here.
    Other(usize, UnicodeWordIndices<'t>),
}

impl<'t> Words<'t> {
    /// The words of `text`.
    #[must_use]
    pub fn of(text: &'t str) -> Words<'t> {
        Words { text, next: 0, piece: Piece::Ascii(Cutter::at(0)) }
    }

    /// The same of a text that is known to be ASCII: one piece.
    pub(crate) fn of_ascii(text: &'t str) -> Words<'t> {
        Words { next: text.len(), ..Words::of(text) }
    }

    /// Goes on to the piece that begins where the last one ended: as much ASCII as there is, or
    /// what stands around a character that is not.
    fn next_piece(&mut self) {
        let start = self.next;
        let bytes = &self.text.as_bytes()[start..];
        let Some(other) = first_other(bytes) else {
            (self.piece, self.next) = (Piece::Ascii(Cutter::at(start)), self.text.len());
            return;
        };
        // A mark after a blank belongs to it, and blanks belong together; but a blank before any
        // other ASCII character ends what there was.
        let cut = |pair: &[u8]| is_blank(pair[0]) && pair[1].is_ascii() && !is_blank(pair[1]);
        if let Some(at) = bytes[..other].windows(2).rposition(cut) {
            (self.piece, self.next) = (Piece::Ascii(Cutter::at(start)), start + at + 1);
            return;
        }
        let after = bytes[other..].windows(2).position(cut);
        self.next = after.map_or(self.text.len(), |at| start + other + at + 1);
        let words = self.text[start..self.next].unicode_word_indices();
        self.piece = Piece::Other(start, words);
    }

    /// The words up to where the next piece begins, if there are any left: whoever takes them of
    /// the cutter takes all of a block.
    pub(crate) fn rest_of_piece(&mut self) -> Option<Rest<'_, 't>> {
        let other = loop {
            match &mut self.piece {
                Piece::Ascii(cutter) if cutter.is_before(self.next) => break None,
                Piece::Ascii(_) => {}
                Piece::Other(start, words) => {
                    if let Some((at, word)) = words.next() {
                        break Some((*start + at, word));
                    }
                }
            }
            if self.next == self.text.len() {
                return None;
            }
            self.next_piece();
        };
        match (other, &mut self.piece) {
            (None, Piece::Ascii(cutter)) => {
                Some(Rest::Ascii(cutter, &self.text.as_bytes()[..self.next]))
            }
            (other, _) => other.map(|(at, word)| Rest::Word(at, word)),
        }
    }
}

/// What is left of a piece, see [`Words::rest_of_piece`].
pub(crate) enum Rest<'w, 't> {
    /// ASCII up to the end of these bytes.
    Ascii(&'w mut Cutter, &'t [u8]),
    /// A word, and where it begins.
    Word(usize, &'t str),
}

/// The first byte that is not ASCII.
fn first_other(bytes: &[u8]) -> Option<usize> {
    // Many at a time where all are.
    let blocks = bytes.chunks(64).take_while(|block| block.is_ascii()).count() * 64;
    let rest = bytes.get(blocks..)?;
    rest.iter().position(|byte| !byte.is_ascii()).map(|at| blocks + at)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'t> Iterator for Words<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        loop {
            match self.rest_of_piece()? {
                Rest::Word(from, word) => return Some((from, word)),
                Rest::Ascii(cutter, bytes) => {
                    if let Some((from, to)) = cutter.word(bytes) {
                        return Some((from, &self.text[from..to]));
                    }
                }
            }
        }
    }
}

/// Adds a word, folded, to `to`. Nothing is added if all of it is to be ignored.
pub fn fold(word: &str, to: &mut Vec<u8>) {
    if word.is_ascii() {
        let start = to.len();
        to.extend_from_slice(word.as_bytes());
        to[start..].make_ascii_lowercase();
    } else {
        to.extend_from_slice(fold_by_library(word).as_bytes());
    }
}

/// What [`fold`] is for every word; it knows a quicker way for ASCII.
fn fold_by_library(word: &str) -> String {
    let mut folded = fold_once(word);
    for _ in 0..MOST_ROUNDS {
        let again = fold_once(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

/// What a word folds to is cut off here: it is longer than the form of any name then. No character
/// folds to 32 times its bytes, and a word of a hundred megabytes is not worth seconds.
const MOST_FOLDED: usize = 32 * MOST_BYTES;

fn fold_once(word: &str) -> String {
    let straight = |c| if matches!(c, '\u{2018}' | '\u{2019}') { '\'' } else { c };
    // A blank that a character decomposes to would look like a border of words.
    let counts = |c: &char| !is_ignorable(*c) && !c.is_whitespace();
    let mut folded = String::new();
    for c in word.nfkc().default_case_fold().nfkc().filter(counts).map(straight) {
        folded.push(c);
        if folded.len() > MOST_FOLDED {
            break;
        }
    }
    folded
}

/// Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties, as NFKC_Casefold takes
/// them out. The property's blocks are reserved, so it is the same in every version since 6.3.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Most names have no more bytes.
const HALF: usize = BLOCK / 2;
/// Bytes that may be read after the last of an ASCII name, see [`Hash::of_word_in`].
const AFTER: usize = 16;

/// Calls `each` for every word of a name, folded, with some bytes and where in them it is; how
/// many there are, or none if the name has no form. Bytes that are not UTF-8 have none.
///
/// [`Hash::of_word_in`]: crate::hash::Hash::of_word_in
#[inline]
pub(crate) fn each_folded(name: &[u8], mut each: impl FnMut(&[u8], Range<usize>)) -> Option<usize> {
    // Most names, all of one at once.
    let at_once = if name.len() <= HALF {
        each_folded_at_once::<HALF, { HALF + AFTER }>(name, &mut each)
    } else if name.len() <= BLOCK {
        each_folded_at_once::<BLOCK, { BLOCK + AFTER }>(name, &mut each)
    } else {
        None
    };
    if let Some(count) = at_once {
        return (count > 0).then_some(count);
    }
    if name.len() > MOST_BYTES {
        return None;
    }
    let mut count = 0;
    let mut folded = Vec::new();
    for (_, word) in Words::of(std::str::from_utf8(name).ok()?) {
        folded.clear();
        fold(word, &mut folded);
        if folded.is_empty() {
            continue;
        }
        count += 1;
        if count > MOST_WORDS {
            return None;
        }
        each(&folded, 0..folded.len());
    }
    (count > 0).then_some(count)
}

/// [`each_folded`] of a name of up to `N` bytes; none if it is not ASCII. It has no more than
/// `MOST_WORDS`: see the top. `ROOM` is `N` and what may be read after it.
#[inline]
fn each_folded_at_once<const N: usize, const ROOM: usize>(
    name: &[u8],
    mut each: impl FnMut(&[u8], Range<usize>),
) -> Option<usize> {
    let mut folded = [b' '; ROOM];
    folded[..name.len()].copy_from_slice(name);
    if !folded.is_ascii() {
        return None;
    }
    let text = folded.first_chunk::<N>().expect("there is more room than that");
    let block = Block::of(text, 0, text);
    folded[..N].copy_from_slice(&block.folded);
    let (mut borders, mut count) = (block.borders(false), 0);
    while !borders.is_empty() {
        let word = index(borders.next())..index(borders.next());
        if !block.has_underscores || is_word(&folded[word.clone()]) {
            count += 1;
            each(&folded, word);
        }
    }
    Some(count)
}

/// Writes the form of a name to `to`; `false` if it has none.
#[must_use]
pub fn form(name: &[u8], to: &mut Vec<u8>) -> bool {
    to.clear();
    each_folded(name, |bytes, word| {
        if !to.is_empty() {
            to.push(b' ');
        }
        to.extend_from_slice(&bytes[word]);
    })
    .is_some()
}

/// Whether a name has this form as everyone sees: letters and digits of ASCII, single blanks.
/// `false` says nothing.
pub(crate) fn is_plainly(name: &[u8], form: &[u8]) -> bool {
    name.len() == form.len() && name.iter().zip(form).all(|(name, form)| is_plain(*name, *form))
}

/// The same where both have so many bytes, of which these are the first.
#[inline]
pub(crate) fn are_plainly<const N: usize>(name: &[u8; N], form: &[u8; N], len: usize) -> bool {
    let count = u8::try_from(len).unwrap_or(u8::MAX);
    // Without a branch, so that the compiler does sixteen at a time.
    let bytes = name.iter().zip(form).zip(0_u8..);
    let differ = bytes.map(|((name, form), i)| (i < count) & !is_plain(*name, *form));
    len <= N && !differ.fold(false, |any, differs| any | differs)
}

#[inline]
fn is_plain(name: u8, form: u8) -> bool {
    let is_letter = (name | CASE).wrapping_sub(b'a') < 26;
    let counts = is_letter | (name.wrapping_sub(b'0') < 10) | (name == b' ');
    let folded = name | (u8::from(is_letter) * CASE);
    counts & (folded == form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form_of(name: &str) -> Option<String> {
        let mut to = Vec::new();
        form(name.as_bytes(), &mut to).then(|| String::from_utf8(to).unwrap())
    }

    #[test]
    fn names_have_the_forms_that_people_expect() {
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
            assert_eq!(form_of(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn some_names_have_no_form() {
        assert_eq!(form_of(""), None);
        assert_eq!(form_of("+++ — ..."), None);
        assert_eq!(form_of("\u{3164}"), None);
        assert!(form_of(&"a ".repeat(MOST_WORDS)).is_some());
        assert_eq!(form_of(&"a ".repeat(MOST_WORDS + 1)), None);
        assert!(form_of(&"a".repeat(MOST_BYTES)).is_some());
        assert_eq!(form_of(&"a".repeat(MOST_BYTES + 1)), None);
        assert!(!form(b"caf\xE9", &mut Vec::new()));
    }

    #[test]
    fn no_form_is_as_long_as_where_folding_stops() {
        for c in '\0'..=char::MAX {
            assert!(fold_by_library(&c.to_string()).len() <= 32 * c.len_utf8(), "{c:?}");
        }
        let (mut one, mut other) = (Vec::new(), Vec::new());
        fold(&"é".repeat(MOST_FOLDED), &mut one);
        fold(&"É".repeat(MOST_FOLDED * 2), &mut other);
        assert!(one == other && one.len() > MOST_FOLDED && one.len() < MOST_FOLDED + 8);
    }

    /// Letters, marks, joiners, quotes, blanks of several kinds, emoji, scripts without blanks.
    fn text() -> impl Strategy<Value = String> {
        let some = "aZ9_ \t\n\r.,:;'\"-’‘\u{301}\u{200D}\u{AD}é ßİſΣςⅣﬁ糖尿ひカｶﾞ가\u{1100}\u{1161}א\"\u{A0}\u{2028}\u{FDFA}🐈👍🏽Ⓜ🇩🇪½ªไทย\u{3164}";
        let some: Vec<char> = some.chars().collect();
        proptest::collection::vec(proptest::sample::select(some), 0..40)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn cutting_a_text_into_pieces_changes_no_word(text in text()) {
            let whole: Vec<_> = text.unicode_word_indices().collect();
            prop_assert_eq!(Words::of(&text).collect::<Vec<_>>(), whole);
        }

        #[test]
        fn words_of_ascii_are_the_librarys(text in "[aB01_.,:;'\" -]{0,24}") {
            let words: Vec<_> = text.unicode_word_indices().collect();
            prop_assert_eq!(Words::of(&text).collect::<Vec<_>>(), words);
        }

        #[test]
        fn words_may_lie_across_blocks(words in "[aB0_.:, ]{0,300}", blanks in 0..70_usize) {
            let text = " ".repeat(blanks) + &words;
            let whole: Vec<_> = text.unicode_word_indices().collect();
            prop_assert_eq!(Words::of(&text).collect::<Vec<_>>(), whole);
        }

        #[test]
        fn the_quick_way_folds_as_the_library_does(word in "[ -~]{0,60}") {
            let mut quick = Vec::new();
            fold(&word, &mut quick);
            let blank = |byte: &u8| !byte.is_ascii_whitespace();
            quick.retain(blank);
            prop_assert_eq!(quick, fold_by_library(&word).into_bytes());
        }

        #[test]
        fn folding_ends(word in "\\PC{0,12}") {
            let folded = fold_by_library(&word);
            prop_assert_eq!(fold_once(&folded), folded);
        }

        #[test]
        fn a_form_has_as_many_blanks_as_words_but_one(name in text()) {
            let mut words = Vec::new();
            let count = each_folded(name.as_bytes(), |bytes, word| words.push(bytes[word].to_vec()));
            prop_assert_eq!(count.unwrap_or(0), words.len());
            prop_assert!(words.iter().all(|word| !word.is_empty() && !word.contains(&b' ')));
            let mut joined = Vec::new();
            prop_assert_eq!(form(name.as_bytes(), &mut joined), !words.is_empty());
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
            prop_assert_eq!(form(name.as_bytes(), &mut whole), !joined.is_empty());
            prop_assert_eq!(whole, joined);
        }

        #[test]
        fn what_is_plainly_a_form_is_it(name in "[aB0 '_.-]{0,6}", others in text()) {
            let mut form_of_name = Vec::new();
            let has = form(name.as_bytes(), &mut form_of_name);
            let plain = has && name.len() == form_of_name.len() && !name.contains(['\'', '_', '.', '-']);
            prop_assert_eq!(is_plainly(name.as_bytes(), &form_of_name) && has, plain);
            let padded = |bytes: &[u8]| std::array::from_fn(|i| *bytes.get(i).unwrap_or(&b'!'));
            let (start, whole): ([u8; 6], _) = (padded(name.as_bytes()), padded(&form_of_name));
            let so = name.len() == form_of_name.len() && are_plainly(&start, &whole, name.len());
            prop_assert_eq!(so, is_plainly(name.as_bytes(), &form_of_name));
            prop_assert!(!are_plainly(&start, &start, 7));
            // A window's form need not be the form of itself; but its words are joined by one blank.
            let mut window = Vec::new();
            if form(others.as_bytes(), &mut window) && is_plainly(name.as_bytes(), &window) {
                prop_assert_eq!(window, form_of_name);
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
        // Has a version changed? Then LAYOUT must as well: see the file's head.
        assert_eq!(versions, ((17, 0, 0), (18, 0, 0), 10));
    }
}
