//! Segments of UAX #29, words and gaps, that are longer than what the library may scan in one call.
//!
//! The library reads a segment to its end in one call. But where the segment ends depends only on characters nearby: a
//! run of marks (Extend, Format, ZWJ) counts as one, and two other characters decide. So a few characters before a
//! place stand for all the text before it:
//!
//! ```text
//!   text       a \u{301} \u{301} \u{301} ... \u{301} b c d e ... x y z ' z
//!   scanned    a \u{301} \u{301} \u{301}     \u{301} b c d e         first: all of it
//!   scanned                              u v w x y z ' z             then its end and what follows
//! ```
//!
//! Called by `pieces.rs`.

use unicode_segmentation::UnicodeSegmentation;

use crate::memory::interruptible::Interruptible;

/// Characters kept of a run of marks, of which the last counts.
const RUN: usize = 4;
/// Characters that must follow a border to make it certain: one that may join two letters, its
/// marks, and the second letter, which decides.
const AFTER: usize = RUN + 4;
/// Characters kept of those scanned. Borders after the first half are where they would be if the text were read from
/// its start, because the first half has two characters that are not marks.
const KEPT: usize = 8 * RUN;
const DONE: usize = KEPT / 2;
/// Characters scanned before they are searched for a border.
const LOOK: usize = 1 << 10;
/// Bytes after which the first search begins, if there are fewer characters.
const FIRST: usize = 1 << 12;

const _: () = assert!(DONE > 2 * (RUN + 1) && KEPT >= DONE + AFTER && LOOK > 2 * KEPT);

/// The end of the last segment that is certain whatever text follows: all but the last two are.
pub(crate) fn certain(text: &str) -> usize {
    let (mut last, mut last_but_one) = (0, 0);
    for (at, _) in text.split_word_bound_indices() {
        (last_but_one, last) = (last, at);
    }
    last_but_one
}

/// The start of the character that a place is in.
pub(crate) fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The end of the segment that begins at `start`.
pub(crate) fn end(text: &str, start: usize, work: &mut Interruptible<'_>) -> usize {
    end_of(text, start, LOOK, FIRST, work)
}

fn end_of(
    text: &str,
    start: usize,
    look: usize,
    first: usize,
    work: &mut Interruptible<'_>,
) -> usize {
    let mut marks = Marks::default();
    let mut kept: Vec<(usize, char)> = Vec::with_capacity(look);
    // The first `done` kept characters were searched already.
    let (mut done, mut run, mut look_at) = (0, 0, first);
    for (at, c) in text[start..].char_indices() {
        work.step();
        run = if marks.has(c) { run + 1 } else { 0 };
        if run > RUN
            && let Some(last) = kept.last_mut()
        {
            *last = (at, c);
        } else {
            kept.push((at, c));
        }
        if kept.len() < look && at < look_at {
            continue;
        }
        work.steps(kept.len());
        if let Some(border) = border(&kept, done, AFTER) {
            return start + border;
        }
        look_at = look_at.max(at + at / 2);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
            done = DONE;
        }
    }
    border(&kept, done, 0).map_or(text.len(), |border| start + border)
}

/// The first border with more than `done` characters before it and more than `after` after it.
fn border(kept: &[(usize, char)], done: usize, after: usize) -> Option<usize> {
    let text: String = kept.iter().map(|(_, c)| c).collect();
    let until = kept.len().checked_sub(after)?;
    let mut n = 0;
    for segment in text.split_word_bounds() {
        if n > done && n < until {
            return Some(kept[n].0);
        }
        n += segment.chars().count();
    }
    None
}

/// Whether a segment has a letter or a digit, as the library says.
pub(crate) fn is_word(segment: &str, work: &mut Interruptible<'_>) -> bool {
    let mut rest = segment;
    while !rest.is_empty() {
        let (some, others) = rest.split_at(floor(rest, rest.len().min(FIRST)));
        work.steps(some.len());
        if some.unicode_words().next().is_some() {
            return true;
        }
        rest = others;
    }
    false
}

/// A cache that tells which characters are marks: they belong to any character before them, as the library says.
struct Marks([(char, bool); 64]);

impl Default for Marks {
    fn default() -> Marks {
        Marks([('\0', false); 64])
    }
}

impl Marks {
    fn has(&mut self, c: char) -> bool {
        if c.is_ascii() {
            return false;
        }
        let known = &mut self.0[c as usize % 64];
        if known.0 != c {
            let mut bytes = [b','; 5];
            let len = 1 + c.encode_utf8(&mut bytes[1..]).len();
            let pair = std::str::from_utf8(&bytes[..len]).unwrap_or_default();
            *known = (c, pair.split_word_bounds().count() == 1);
        }
        known.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Characters of every class of UAX #29.
    fn text() -> impl Strategy<Value = String> {
        let some = "aé9٣_\u{202F}.'’:·,;\"אבカー \u{2003}\n\r🐈👍🇩🇪糖—";
        let marks = "\u{301}\u{345}\u{200D}\u{AD}\u{FE0F}";
        let list = |from: &str| proptest::sample::select(from.chars().collect::<Vec<_>>());
        let part =
            (list(some), proptest::collection::vec(list(marks), 0..12), 1..6_usize, any::<bool>());
        let part = part.prop_map(|(c, marks, times, marked)| {
            let marks: String = if marked { marks.into_iter().collect() } else { String::new() };
            (c.to_string() + &marks).repeat(times)
        });
        let letters =
            "[aé9_カ🐈]{0,3}".prop_flat_map(|s| (1..60_usize).prop_map(move |n| s.repeat(n)));
        proptest::collection::vec(prop_oneof![6 => part, 1 => letters], 0..40)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_few_characters_say_where_a_segment_ends(text in text()) {
            let mut check_interrupts = || ();
            let mut work = Interruptible::new(&mut check_interrupts);
            let mut at = 0;
            for segment in text.split_word_bounds() {
                prop_assert_eq!(end_of(&text, at, 2 * KEPT + 1, 8, &mut work), at + segment.len());
                at += segment.len();
            }
        }

        #[test]
        fn what_is_certain_stays(text in text(), more in text()) {
            let upto = certain(&text);
            let whole = text.clone() + &more;
            let borders = |text: &str| {
                let borders = text.split_word_bound_indices().map(|(at, _)| at);
                borders.filter(|at| *at <= upto).collect::<Vec<_>>()
            };
            prop_assert!(upto == 0 || borders(&whole) == borders(&text));
        }
    }
}
