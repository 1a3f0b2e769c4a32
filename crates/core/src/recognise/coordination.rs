//! Finds names that a text joins, with what they have in common said once: "breast, colon and ovarian cancer".
//!
//! ```text
//!   breast,   colon   and   ovarian   cancer syndrome
//!   item 2    item 1        item 0    the head: one word, or two
//! ```
//!
//! Each item with the head may be a name: "ovarian cancer", "colon cancer". So it is in languages in which the head
//! comes last.
//!
//! Promises: nothing is allocated, and each conjunction costs a bounded amount of work, whatever surrounds it.

use std::ops::Range;

use crate::folded::normal::Language::{self, Dutch, English, German, Swedish};
use crate::folded::segments::floor;
use crate::memory::interruptible::Interruptible;
use crate::recognise::border::has_border;

/// The most items.
const MOST_ITEMS: usize = 8;
/// Bytes of the longest word with the white space before or behind it.
const MOST_WORD: usize = 128;
/// Bytes read between two steps.
const EACH: usize = 64;

/// What a text joins: places of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordination {
    items: [Range<usize>; MOST_ITEMS],
    len: usize,
    pub conjunction: Range<usize>,
    pub head: Range<usize>,
}

impl Coordination {
    /// The items, the last first; they are two at least.
    #[must_use]
    pub fn items(&self) -> &[Range<usize>] {
        &self.items[..self.len]
    }
}

/// Reads what a text joins, in the order of the conjunctions, once for each head.
#[derive(Debug)]
pub struct Coordinations<'t> {
    text: &'t str,
    conjunctions: &'static [&'static str],
    next: usize,
    /// The last one, with a longer head.
    longer: Option<Coordination>,
}

impl<'t> Coordinations<'t> {
    #[must_use]
    pub fn of(text: &'t str, language: Language) -> Coordinations<'t> {
        let conjunctions = conjunctions(language);
        let next = if conjunctions.is_empty() { text.len() } else { 0 };
        Coordinations { text, conjunctions, next, longer: None }
    }

    /// The next one. Interruptible.
    pub fn next_coordination(&mut self, work: &mut Interruptible<'_>) -> Option<Coordination> {
        if self.longer.is_some() {
            return self.longer.take();
        }
        loop {
            let word = self.next_word(work)?;
            let is_one = |other: &&str| self.text[word.clone()].eq_ignore_ascii_case(other);
            if self.conjunctions.iter().any(is_one)
                && let Some(found) = self.around(word)
            {
                return Some(found);
            }
        }
    }

    /// The next characters without white space between them.
    fn next_word(&mut self, work: &mut Interruptible<'_>) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let mut go_on = |from: usize, is_space: bool| {
            let mut to = from;
            while to < bytes.len() && bytes[to].is_ascii_whitespace() == is_space {
                to += 1;
                if to.is_multiple_of(EACH) {
                    work.step();
                }
            }
            to
        };
        let from = go_on(self.next, true);
        self.next = go_on(from, false);
        (from < self.next).then_some(from..self.next)
    }

    /// What a conjunction joins.
    fn around(&mut self, conjunction: Range<usize>) -> Option<Coordination> {
        let text = self.text;
        let last = word_after(text, conjunction.end).filter(|word| is_item(&text[word.clone()]))?;
        let (head, is_end) = head_after(text, last.end)?;
        // What is joined goes on behind the end of a line, but not of a paragraph or a cell.
        if has_border(&text[conjunction.end..head.end]) {
            return None;
        }
        let (mut items, mut len) = ([const { 0..0 }; MOST_ITEMS], 1);
        let longer = head.start..if is_end {
            head.end
        } else {
            head_after(text, head.end).map_or(head.end, |to| to.0.end)
        };
        items[0] = last;
        let mut before = conjunction.start;
        while len < MOST_ITEMS
            && let Some(word) = word_before(text, before)
        {
            before = word.start;
            // Commas are between items, and the last may have one, too.
            let has_comma = text[word.clone()].ends_with(',');
            let end = word.end - usize::from(has_comma);
            let begin = text[word.start..end].trim_start_matches(|c: char| !c.is_alphanumeric());
            let item = end - begin.len()..end;
            let is_again = |other: &Range<usize>| {
                text[other.clone()].eq_ignore_ascii_case(&text[item.clone()])
            };
            let is_other = is_item(&text[item.clone()]) && !items[..len].iter().any(is_again);
            let is_apart = || has_border(&text[item.start..conjunction.start]);
            if !is_other || len > 1 && !has_comma || is_apart() {
                break;
            }
            let is_first = item.start > word.start;
            items[len] = item;
            len += 1;
            if is_first {
                break;
            }
        }
        let found = Coordination { items, len, conjunction, head };
        if longer != found.head && len > 1 && !has_border(&text[longer.clone()]) {
            self.longer = Some(Coordination { head: longer, ..found.clone() });
        }
        (len > 1).then_some(found)
    }
}

/// The next word of a head, without the punctuation behind it; whether there is some.
fn head_after(text: &str, from: usize) -> Option<(Range<usize>, bool)> {
    let word = word_after(text, from)?;
    let head = text[word.clone()].trim_end_matches(|c: char| !c.is_alphanumeric());
    let end = word.start + head.len();
    is_item(head).then_some((word.start..end, end < word.end))
}

/// The characters without white space that end before that place; none if they are too many.
fn word_before(text: &str, end: usize) -> Option<Range<usize>> {
    let from = floor(text, end.saturating_sub(MOST_WORD));
    let some = text[from..end].trim_ascii_end();
    let space = some.bytes().rposition(|byte| byte.is_ascii_whitespace());
    let start = space.map_or(0, |at| at + 1);
    let is_whole = space.is_some() || from == 0;
    (is_whole && start < some.len()).then_some(from + start..from + some.len())
}

/// The characters without white space that begin behind that place; none if they are too many.
fn word_after(text: &str, start: usize) -> Option<Range<usize>> {
    let to = floor(text, text.len().min(start + MOST_WORD));
    let some = text[start..to].trim_ascii_start();
    let space = some.bytes().position(|byte| byte.is_ascii_whitespace());
    let (from, len) = (to - some.len(), space.unwrap_or(some.len()));
    let is_whole = space.is_some() || to == text.len();
    (is_whole && len > 0).then_some(from..from + len)
}

/// Whether this is a word, or several with hyphens between them.
fn is_item(word: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '\'' | '’');
    word.starts_with(char::is_alphanumeric)
        && word.ends_with(char::is_alphanumeric)
        && word.chars().all(is_inside)
}

/// What stands before the last item, in languages in which the head comes last.
fn conjunctions(language: Language) -> &'static [&'static str] {
    match language {
        English => &["and", "or", "and/or", "&"],
        German => &["und", "oder", "und/oder", "bzw.", "&"],
        Dutch => &["en", "of", "en/of", "&"],
        Swedish => &["och", "eller", "och/eller", "&"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(Vec<&str>, &str)> {
        let mut all = Vec::new();
        let mut none = || ();
        let mut read = Coordinations::of(text, English);
        while let Some(found) = read.next_coordination(&mut Interruptible::new(&mut none)) {
            let items = found.items().iter().map(|item| &text[item.clone()]).collect();
            all.push((items, &text[found.head]));
        }
        all
    }

    #[test]
    fn items_have_the_head_in_common() {
        let of = |items: &[&'static str], head: &'static str| (items.to_vec(), head);
        for (text, wanted) in [
            ("breast and ovarian cancer", vec![of(&["ovarian", "breast"], "cancer")]),
            ("breast and ovarian cancer.", vec![of(&["ovarian", "breast"], "cancer")]),
            (
                "(Breast or non-ovarian cancer syndrome) here",
                vec![
                    of(&["non-ovarian", "Breast"], "cancer"),
                    of(&["non-ovarian", "Breast"], "cancer syndrome"),
                ],
            ),
            (
                "one two, skin, lung, and/or  bowel\ncancer, too",
                vec![of(&["bowel", "lung", "skin", "two"], "cancer")],
            ),
            ("one, two; three and four fives.", vec![of(&["four", "three"], "fives")]),
            ("skin (and lung cancer)", vec![]),
            ("skin and lung, cancer", vec![]),
            ("skin and lung", vec![]),
            ("skin and\n\nlung cancer", vec![]),
            ("skin\tand lung cancer", vec![]),
            ("skin and lung\n\ncancer", vec![]),
            ("skin and lung cancer\n\nMethods", vec![of(&["lung", "skin"], "cancer")]),
            ("bowel,\n\nskin and lung cancer.", vec![of(&["lung", "skin"], "cancer")]),
            ("heart and Heart failure", vec![]),
            ("and lung cancer", vec![]),
            ("cats + dogs and", vec![]),
            ("cats & dogs food", vec![of(&["dogs", "cats"], "food")]),
            (
                "a and b and c d",
                vec![of(&["b", "a"], "and"), of(&["b", "a"], "and c"), of(&["c", "b"], "d")],
            ),
            ("élan and ßtadt Österreich", vec![of(&["ßtadt", "élan"], "Österreich")]),
        ] {
            assert_eq!(all(text), wanted, "{text}");
        }
        let long = "x".repeat(MOST_WORD);
        assert!(all(&format!("{long} and b c")).is_empty());
        assert!(all(&format!("a and b {long}")).is_empty());
        assert!(Coordinations::of("sein et ovaire cancer", Language::French).next == 21);
        let text =
            format!("{}z and y head", (0..20).map(|n| format!("x{n}, ")).collect::<String>());
        let items = all(&text);
        assert_eq!(items[0].0.len(), MOST_ITEMS);
    }
}
