//! The words of a text by UAX #29, in order. The text is cut where a word ends whatever surrounds the place.
//!
//! ```text
//!   text     one, two: vié̂le bas d'été ... a word of a hundred megabytes
//!   pieces   |ASCII   |other     |other ... |segment by segment (segments.rs)
//! ```
//!
//! The Unicode library is slow, and slower if not all is ASCII, so ASCII is processed without it. Promises: no call
//! reads more than a few [`WINDOW`]s without a step of its [`Interruptible`], however long a word is, and nothing is
//! copied.

use crate::memory::interruptible::PER_STEP;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

use crate::folded::ascii;
use crate::folded::segments;
use crate::memory::interruptible::Interruptible;

/// Bytes scanned at a time; no piece of ASCII is longer.
pub(crate) const WINDOW: usize = 1 << 16;
/// Bytes given to the library at a time, if a word surely ends after them.
const MOST_PIECE: usize = 1 << 14;

/// The words of a text with their byte offsets, in order.
#[derive(Debug)]
pub struct Words<'t> {
    text: &'t str,
    /// Where the next piece begins.
    next: usize,
    /// Up to here there is no known place where a word surely ends.
    until: usize,
    piece: Piece<'t>,
}

#[derive(Debug)]
enum Piece<'t> {
    /// ASCII from here up to the next piece.
    Ascii(usize),
    /// Other text, and where it begins.
    Other(usize, UnicodeWordIndices<'t>),
    /// One word, from here up to the next piece.
    Word(usize),
    /// No word.
    None,
}

impl<'t> Words<'t> {
    /// The words of `text`.
    #[must_use]
    pub fn of(text: &'t str) -> Words<'t> {
        Words { text, next: 0, until: 0, piece: Piece::None }
    }

    /// The words of a text that is known to be ASCII.
    pub(crate) fn of_ascii(text: &'t str) -> Words<'t> {
        if text.len() > WINDOW {
            return Words::of(text);
        }
        Words { next: text.len(), piece: Piece::Ascii(0), ..Words::of(text) }
    }

    /// The next word. Interruptible, however long a word or a gap is.
    pub fn next_word(&mut self, work: &mut Interruptible<'_>) -> Option<(usize, &'t str)> {
        loop {
            match &mut self.piece {
                Piece::Ascii(at) => {
                    if let Some((from, to)) = ascii::word(&self.text.as_bytes()[..self.next], *at) {
                        *at = to;
                        return Some((from, &self.text[from..to]));
                    }
                }
                Piece::None => {}
                Piece::Other(start, words) => {
                    work.step();
                    if let Some((at, word)) = words.next() {
                        return Some((*start + at, word));
                    }
                }
                Piece::Word(from) => {
                    let word = (*from, &self.text[*from..self.next]);
                    self.piece = Piece::None;
                    return Some(word);
                }
            }
            if self.next == self.text.len() {
                return None;
            }
            self.next_piece(work);
        }
    }

    /// Continues with the piece that begins where the last one ended: as much ASCII as there is, or the text around a
    /// character that is not ASCII.
    fn next_piece(&mut self, work: &mut Interruptible<'_>) {
        if self.next == self.until {
            let start = self.next;
            let bytes = &self.text.as_bytes()[start..];
            let window = &bytes[..bytes.len().min(WINDOW)];
            work.steps(window.len() / PER_STEP);
            let other = first_other(window);
            let ascii = match other {
                Some(other) => window[..other].windows(2).rposition(is_cut).map(|at| at + 1),
                None if window.len() == bytes.len() => Some(window.len()),
                None => window.windows(2).rposition(|pair| is_end(pair[0])).map(|at| at + 1),
            };
            if let Some(len) = ascii {
                (self.piece, self.next) = (Piece::Ascii(start), start + len);
                self.until = self.next;
                return;
            }
            let known = other.unwrap_or(window.len() - 1);
            self.until = start + known + first_cut(&bytes[known..], work);
        }
        self.next_of_uncut(work);
    }

    /// The next piece of a text in which no place surely ends a word.
    fn next_of_uncut(&mut self, work: &mut Interruptible<'_>) {
        let (text, start) = (&self.text[..self.until], self.next);
        self.next = if self.until - start <= MOST_PIECE {
            self.until
        } else {
            let window = segments::floor(text, start + MOST_PIECE);
            work.steps(window - start);
            let certain = start + segments::certain(&text[start..window]);
            if certain > start { certain } else { segments::end(text, start, work) }
        };
        let piece = &text[start..self.next];
        self.piece = if piece.len() <= MOST_PIECE {
            work.steps(piece.len());
            Piece::Other(start, piece.unicode_word_indices())
        } else if segments::is_word(piece, work) {
            Piece::Word(start)
        } else {
            Piece::None
        };
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        self.next_word(&mut Interruptible::new(&mut || ()))
    }
}

/// The first byte that is not ASCII.
fn first_other(bytes: &[u8]) -> Option<usize> {
    // Blocks of only ASCII are tested as a whole.
    let blocks = bytes.chunks(64).take_while(|block| block.is_ascii()).count() * 64;
    let rest = bytes.get(blocks..)?;
    rest.iter().position(|byte| !byte.is_ascii()).map(|at| blocks + at)
}

/// Bytes before the first cut.
fn first_cut(bytes: &[u8], work: &mut Interruptible<'_>) -> usize {
    let mut done = 0;
    while done + 1 < bytes.len() {
        let some = &bytes[done..bytes.len().min(done + WINDOW)];
        work.steps(some.len() / PER_STEP);
        if let Some(at) = some.windows(2).position(is_cut) {
            return done + at + 1;
        }
        done += some.len() - 1;
    }
    bytes.len()
}

/// Whether a word surely ends between two bytes. A mark or a blank after a blank belongs to the same segment, but
/// before any other ASCII character a blank ends its segment.
fn is_cut(pair: &[u8]) -> bool {
    is_blank(pair[0]) && pair[1].is_ascii() && !is_blank(pair[1])
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a byte of an ASCII text is never part of a word.
fn is_end(byte: u8) -> bool {
    !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'\'' | b':' | b',' | b';'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Letters, marks, joiners, quotes, blanks of several kinds, emoji, scripts without blanks.
    pub(crate) fn text() -> impl Strategy<Value = String> {
        let some = "aZ9_ \t\n\r.,:;'\"-’‘\u{301}\u{200D}\u{AD}é \
            ßİſΣςⅣﬁ糖尿ひカｶﾞ가\u{1100}\u{1161}א\"\u{A0}\u{2028}\u{FDFA}🐈👍🏽Ⓜ🇩🇪½ªไทย\u{3164}";
        let some: Vec<char> = some.chars().collect();
        proptest::collection::vec(proptest::sample::select(some), 0..40)
            .prop_map(|chars| chars.into_iter().collect())
    }

    /// Repeats parts until some are longer than anything that is scanned at a time.
    fn long_text() -> impl Strategy<Value = String> {
        let times = prop_oneof![3 => 1..40_usize, 2 => 1000..9000_usize, 1 => 20_000..70_000_usize];
        let part = ("[a9_ .,:;'\"é\u{301}\u{200D}\u{AD}🐈🇩א糖カ\u{2003}\u{202F}+\n]{1,4}", times);
        proptest::collection::vec(part.prop_map(|(part, times)| part.repeat(times)), 1..6)
            .prop_map(|parts| parts.concat())
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
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_long_word_changes_no_word(text in long_text()) {
            let whole: Vec<_> = text.unicode_word_indices().map(|(at, word)| (at, word.len())).collect();
            let words: Vec<_> = Words::of(&text).map(|(at, word)| (at, word.len())).collect();
            prop_assert!(words == whole);
        }
    }

    #[test]
    fn a_word_of_any_length_can_be_stopped() {
        for (parts, bytes, least) in [
            // Eight megabytes without a word are scanned in a millisecond or two.
            (&[" ", "+", "- "][..], 8 << 20, 1),
            (&["a", "_", ".", "a.", "é", "糖", "—", "\u{2003}", "\u{202F}", "🇦"], 1 << 20, 1),
            (&["\u{301}", "\u{AD}", "·\u{301}", "👨\u{200D}", "\u{3164}"], 1 << 20, 1),
        ] {
            for part in parts {
                let text = "a".to_string() + &part.repeat(bytes / part.len());
                let mut checks = 0;
                let mut check_interrupts = || checks += 1;
                let (mut work, mut words) =
                    (Interruptible::new(&mut check_interrupts), Words::of(&text));
                while words.next_word(&mut work).is_some() {}
                assert!(checks >= least, "{part:?}: {checks}");
            }
        }
    }
}
