//! What a text would say without the ways in which a sentence writes a name: possessives, elisions, underscores, and a full stop without a
//! blank behind it.
//!
//! ```text
//!   the clinic's hours   l'usine, dell'arte   _heart failure_ of cancer.Anything
//!   the clinic   hours     usine,      arte    heart failure  of cancer Anything
//! ```
//!
//! Each character becomes a blank of as many bytes, so a place in the one text is the same place in the other.

use crate::memory::interruptible::Interruptible;

/// What stands before the apostrophe of an elision, in French, Italian and Catalan.
const ELIDED: [&str; 29] = [
    "c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu",
    "presqu", "entr", "un", "all", "coll", "dall", "dell", "nell", "sull", "quell", "quest",
    "sant", "bell", "anch", "com",
];
/// Letters of the longest.
const LONGEST: usize = 6;
/// Bytes looked at between two steps.
const EACH: usize = 64;

/// Whether [`make_plain`] may find something to rewrite: most texts have an apostrophe or a full stop at least.
#[must_use]
pub fn may_be_plainer(text: &[u8], work: &mut Interruptible<'_>) -> bool {
    text.chunks(EACH).any(|some| {
        work.step();
        has_marks(some)
    })
}

fn has_marks(some: &[u8]) -> bool {
    some.iter().fold(false, |any, byte| any | matches!(byte, b'\'' | b'_' | b'.' | 0xE2))
}

/// Rewrites the text in place; `false` if there was nothing to rewrite.
pub fn make_plain(text: &mut [u8], work: &mut Interruptible<'_>) -> bool {
    let mut is_changed = false;
    let mut at = 0;
    while at < text.len() {
        if at % EACH == 0 {
            work.step();
            // Most texts have few of these.
            let some = &text[at..text.len().min(at + EACH)];
            if !has_marks(some) {
                at += EACH;
                continue;
            }
        }
        is_changed |= rewrite(text, at);
        at += 1;
    }
    is_changed
}

/// Rewrites what is at that place, if it is the middle of something to be rewritten.
fn rewrite(text: &mut [u8], at: usize) -> bool {
    match text[at] {
        b'_' => {
            text[at] = b' ';
            true
        }
        b'.' => {
            let is_end = before(text, at).is_some_and(char::is_lowercase)
                && after(text, at + 1).is_some_and(char::is_uppercase);
            if is_end {
                text[at] = b' ';
            }
            is_end
        }
        b'\'' => is_changed(text, at, 1),
        0xE2 if matches!(text.get(at..at + 3), Some([_, 0x80, 0x98 | 0x99])) => {
            is_changed(text, at, 3)
        }
        _ => false,
    }
}

/// Rewrites a possessive or an elision with an apostrophe of `len` bytes there.
fn is_changed(text: &mut [u8], at: usize, len: usize) -> bool {
    let end = at + len;
    if !before(text, at).is_some_and(char::is_alphanumeric) {
        return false;
    }
    let is_possessive = matches!(text.get(end), Some(b's' | b'S'))
        && !after(text, end + 1).is_some_and(|c| {
            c.is_alphanumeric() || matches!(c, '\'' | '_' | '\u{2018}' | '\u{2019}')
        });
    let start = at
        - text[..at]
            .iter()
            .rev()
            .take(LONGEST + 1)
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
    let is_elided = !is_possessive
        && ELIDED.iter().any(|elided| elided.as_bytes().eq_ignore_ascii_case(&text[start..at]))
        && !before(text, start)
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '\'' | '\u{2018}' | '\u{2019}'))
        && after(text, end).is_some_and(char::is_alphabetic);
    if is_possessive {
        text[end] = b' ';
    } else if is_elided {
        text[start..at].fill(b' ');
    } else {
        return false;
    }
    match len {
        1 => text[at] = b' ',
        // U+2003, a blank of three bytes.
        _ => text[end - 1] = 0x83,
    }
    true
}

/// The character that ends before that place.
fn before(text: &[u8], at: usize) -> Option<char> {
    let start = (1..=4)
        .filter_map(|back| at.checked_sub(back))
        .find(|&start| text[start] & 0xC0 != 0x80)?;
    std::str::from_utf8(&text[start..at]).ok()?.chars().next()
}

/// The character that begins there.
fn after(text: &[u8], at: usize) -> Option<char> {
    let some = &text[at.min(text.len())..text.len().min(at + 4)];
    let valid = match std::str::from_utf8(some) {
        Ok(valid) => valid,
        Err(cut) => std::str::from_utf8(&some[..cut.valid_up_to()]).ok()?,
    };
    valid.chars().next()
}

#[cfg(test)]
mod tests {
    use super::make_plain;
    use crate::memory::interruptible::Interruptible;

    fn plain(text: &str) -> Option<String> {
        let mut bytes = text.as_bytes().to_vec();
        let changed = make_plain(&mut bytes, &mut Interruptible::new(&mut || ()));
        assert_eq!(changed, bytes != text.as_bytes());
        let plain = String::from_utf8(bytes).unwrap();
        assert_eq!(plain.chars().count(), text.chars().count());
        changed.then_some(plain)
    }

    #[test]
    fn each_way_of_writing_a_name_becomes_blanks() {
        for (text, wanted) in [
            (
                "the heart failure clinic's opening hours",
                "the heart failure clinic   opening hours",
            ),
            ("Osaka’s sales", "Osaka\u{2003}  sales"),
            ("the cancer'S", "the cancer  "),
            ("l'usine et l’école, Dell'arte", "  usine et  \u{2003}école,      arte"),
            ("qu'Artagnan d'Artagnan", "   Artagnan   Artagnan"),
            ("_heart failure_ name_with_underscores", " heart failure  name with underscores"),
            ("of cancer.Anything", "of cancer Anything"),
            ("été.À l'été", "été À   été"),
            ("3's company", "3   company"),
        ] {
            assert_eq!(plain(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn other_apostrophes_and_stops_stay() {
        for text in [
            "",
            "'",
            "O'Neil",
            "rock 'n' roll",
            "the clinics' hours",
            "'s",
            "e.g. this",
            "3.5",
            "Node.js",
            "U.S.A.",
            "x 's",
            "it'sn't",
            "o'clock",
            "M.D.",
            "a.b",
            "ll'a",
            "’’’",
            "…",
            "€",
            "al'arte'",
            "x'l'y",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_anywhere_in_a_long_text_is_found() {
        for blanks in 0..200 {
            let text = format!("{}Osaka’s{}", "é ".repeat(blanks), "x".repeat(blanks));
            assert_eq!(plain(&text).is_some(), blanks == 0, "{blanks}");
            let text = format!("{}Osaka’s {}", "é ".repeat(blanks), "x".repeat(blanks));
            assert!(plain(&text).is_some(), "{blanks}");
        }
    }
}
