//! The letters and digits of a word, without accents and their like.
//!
//! ```text
//!   horner's   o'neil   u.s.a   3.14   gruyère   ςόλων   королёв   אַבְרָהָם   مُحَمَّد
//!   horner     oneil    usa     3.14   gruyere   σολων   королев   אברהם    محمد
//! ```
//!
//! Marks stay where they make other letters: й and ї, and the vowels of Indic and Thai scripts.

use crate::folded::possessives::{is_apostrophe, without_possessive};
use std::str::from_utf8;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// What the marks that follow are to a letter.
#[derive(Clone, Copy, PartialEq)]
enum Base {
    /// Latin and Greek: an accent, which goes.
    Bare,
    /// Cyrillic: the stress, which goes if it is an acute or a grave.
    Stressed,
    /// Other scripts: a part of the letter.
    Marked,
}

/// Appends the letters and digits of a folded word, and says whether they are ASCII. A word that is not UTF-8 is
/// appended as it is.
pub(super) fn append(folded: &[u8], to: &mut Vec<u8>) -> bool {
    if folded.iter().fold(true, |all, byte| all & is_plain(*byte)) {
        to.extend_from_slice(folded);
        return true;
    }
    let start = to.len();
    let Ok(word) = from_utf8(folded) else {
        to.extend_from_slice(folded);
        return false;
    };
    let word = without_possessive(word);
    if stays(word.as_bytes()) {
        to.extend_from_slice(word.as_bytes());
        return false;
    }
    append_some(word, to);
    let is_ascii = to[start..].is_ascii();
    if !is_ascii && !from_utf8(&to[start..]).is_ok_and(|word| word.contains(char::is_alphanumeric))
    {
        to.truncate(start);
    }
    is_ascii
}

/// Whether a byte is a small letter or a digit of ASCII. Without a branch for each byte.
#[inline]
fn is_plain(byte: u8) -> bool {
    (byte.wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10)
}

/// Whether a word would be another one without its punctuation: "we'll", "i'm", "u.s" (in texts, "us" is mostly the
/// pronoun), "a.m". No name is lost, because both sides stay.
fn stays(word: &[u8]) -> bool {
    let has_letters = |word: &[u8]| word.iter().all(u8::is_ascii_alphabetic);
    match word {
        [one, b'.', other] => has_letters(&[*one, *other]),
        [before @ .., b'\'', b'd' | b'm' | b't']
        | [before @ .., b'\'', b'l' | b'r' | b'v', b'e' | b'l'] => {
            !before.is_empty() && has_letters(before)
        }
        _ => false,
    }
}

fn append_some(word: &str, to: &mut Vec<u8>) {
    let (mut base, mut before) = (Base::Bare, ' ');
    let mut rest = word.chars();
    while let Some(c) = rest.next() {
        // The point or comma of a number.
        let is_point = matches!(c, '.' | ',' | '\u{66B}' | '\u{66C}')
            && before.is_numeric()
            && rest.clone().next().is_some_and(char::is_numeric);
        before = c;
        if is_point || c.is_ascii_alphanumeric() {
            base = Base::Bare;
            append_char(c, to);
        } else if is_bare(c) && !is_apostrophe(c) {
            base = Base::Bare;
            decompose_canonical(c, |part| {
                if part.is_alphanumeric() && !is_combining_mark(part) {
                    append_letter(part, to);
                }
            });
        } else if is_combining_mark(c) {
            if !is_accent(c, base) {
                append_char(c, to);
            }
        } else if c.is_alphanumeric() && !is_apostrophe(c) {
            let is_cyrillic = ('\u{400}'..='\u{52F}').contains(&c);
            base = if is_cyrillic { Base::Stressed } else { Base::Marked };
            append_letter(c, to);
        }
    }
}

/// Whether a letter is Latin or Greek.
fn is_bare(c: char) -> bool {
    matches!(c, '\u{C0}'..='\u{2AF}' | '\u{370}'..='\u{3FF}' | '\u{1E00}'..='\u{1FFF}'
        | '\u{2C60}'..='\u{2C7F}' | '\u{A720}'..='\u{A7FF}')
}

/// Whether a mark goes: an accent, a point of Hebrew, a vowel sign of Arabic.
fn is_accent(mark: char, base: Base) -> bool {
    match mark {
        '\u{591}'..='\u{5C7}'
        | '\u{610}'..='\u{61A}'
        | '\u{64B}'..='\u{65F}'
        | '\u{670}'
        | '\u{6D6}'..='\u{6ED}' => true,
        '\u{300}' | '\u{301}' => base != Base::Marked,
        _ => base == Base::Bare,
    }
}

/// Appends what a letter is often written as.
fn append_letter(c: char, to: &mut Vec<u8>) {
    let plain = match c {
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'æ' => "ae",
        'œ' => "oe",
        'ı' => "i",
        'ħ' => "h",
        'ŧ' => "t",
        'ё' | '\u{450}' => "е",
        '\u{45D}' => "и",
        // Alef with what it carries, and the other carriers of a hamza.
        '\u{622}' | '\u{623}' | '\u{625}' | '\u{671}' => "\u{627}",
        '\u{624}' => "\u{648}",
        // Yeh with a hamza, without dots, and as Persian has it; kaf as Persian has it; teh marbuta; tatweel.
        '\u{626}' | '\u{649}' | '\u{6CC}' => "\u{64A}",
        '\u{6A9}' => "\u{643}",
        '\u{629}' => "\u{647}",
        '\u{640}' => "",
        _ => return append_char(c, to),
    };
    to.extend_from_slice(plain.as_bytes());
}

fn append_char(c: char, to: &mut Vec<u8>) {
    to.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
