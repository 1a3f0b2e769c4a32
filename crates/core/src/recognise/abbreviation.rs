//! Finds the abbreviations that a text defines: a long form and its short form, one of them in brackets behind the
//! other.
//!
//! ```text
//!   Duchenne muscular dystrophy (DMD)     HSF (heat shock transcription factor)
//!   |----------- long --------|  |-|      |-|  |------------ long -----------|
//! ```
//!
//! The rules are those of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in
//! biomedical text", PSB 2003: the letters and digits of the short form are found in the long one in their order, from
//! the end, and the first one begins a word. Case does not matter. A long form begins behind a blank or a punctuation
//! mark, so few are found where words are written without blanks.
//!
//! Promises: nothing is allocated, and each bracket costs a bounded amount of work, whatever surrounds it.

use std::ops::Range;

use crate::folded::segments::floor;
use crate::memory::interruptible::Interruptible;
use crate::recognise::border::ends_sentence;

/// The most characters and words of a short form: the paper's bounds.
const MOST_SHORT: usize = 10;
const MOST_SHORT_WORDS: usize = 2;
/// A long form has up to so many words more than the short form has letters, and up to twice as many: the paper's
/// bound.
const MORE_WORDS: usize = 5;
/// Bytes on each side of a bracket that are read: long forms of 15 words in any script.
const MOST_LONG: usize = 500;
/// Levels of nested brackets that are read.
const MOST_DEPTH: usize = 2;
/// Bytes read between two steps.
const EACH: usize = 64;

/// What a text defines: places of its bytes. One begins behind the end of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub long: Range<usize>,
    pub short: Range<usize>,
}

/// Reads a text's definitions, in the order of their brackets.
#[derive(Debug)]
pub struct Definitions<'t> {
    text: &'t str,
    next: usize,
}

impl<'t> Definitions<'t> {
    #[must_use]
    pub fn of(text: &'t str) -> Definitions<'t> {
        Definitions { text, next: 0 }
    }

    /// The next definition. Interruptible.
    pub fn next_definition(&mut self, work: &mut Interruptible<'_>) -> Option<Definition> {
        loop {
            let bracket = self.next_bracket(work)?;
            if let Some(found) = definition(self.text, bracket, work) {
                return Some(found);
            }
        }
    }

    /// The next opening bracket.
    fn next_bracket(&mut self, work: &mut Interruptible<'_>) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        while self.next < bytes.len() {
            work.step();
            let rest = &bytes[self.next..];
            // Most ranges have none.
            if let Some(some) = rest.first_chunk::<EACH>()
                && !some.iter().fold(false, |any, byte| any | may_open(*byte))
            {
                self.next += EACH;
                continue;
            }
            let some = &rest[..rest.len().min(EACH)];
            let Some(at) = some.iter().position(|byte| may_open(*byte)) else {
                self.next += some.len();
                continue;
            };
            let from = self.next + at;
            let c = self.text[from..].chars().next()?;
            self.next = from + c.len_utf8();
            if opens(c) {
                return Some(from..self.next);
            }
        }
        None
    }
}

/// Whether an opening bracket may begin with that byte.
fn may_open(byte: u8) -> bool {
    (byte == b'(') | (byte == b'[') | (byte == b'{') | (byte == 0xEF)
}

fn opens(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '（' | '［' | '｛')
}

fn closes(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '）' | '］' | '｝')
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '‘' | '’' | '“' | '”' | '«' | '»')
}

/// What an opening bracket defines.
fn definition(
    text: &str,
    bracket: Range<usize>,
    work: &mut Interruptible<'_>,
) -> Option<Definition> {
    let content = content(text, bracket.end, work)?;
    let before = before_bracket(text, bracket.start);
    let definition = if is_short(&text[content.clone()]) {
        let long = long_form(text, before, &text[content.clone()], work)?;
        Definition { long, short: content }
    } else if is_longer(&text[content.clone()]) {
        let short = last_word(text, before);
        let name = &text[short.clone()];
        let is_name = is_short(name) && has_capital(name);
        let long = is_name.then(|| long_form(text, content, name, work))??;
        Definition { long, short }
    } else {
        return None;
    };
    let [long, short] = [&text[definition.long.clone()], &text[definition.short.clone()]];
    let counts = long.chars().count() > short.chars().count() && !has_word(long, short);
    counts.then_some(definition)
}

/// As much of the text before a bracket as is read, without blanks, quotation marks and commas at its end.
fn before_bracket(text: &str, bracket: usize) -> Range<usize> {
    let from = floor(text, bracket.saturating_sub(MOST_LONG));
    let is_between = |c: char| c.is_whitespace() || is_quote(c) || c == ',';
    from..from + text[from..bracket].trim_end_matches(is_between).len()
}

/// What a bracket contains, up to the first semicolon or comma, without blanks and quotation marks at its ends.
fn content(text: &str, from: usize, work: &mut Interruptible<'_>) -> Option<Range<usize>> {
    let some = &text[from..floor(text, text.len().min(from + MOST_LONG))];
    let mut depth = 1;
    for (at, c) in some.char_indices() {
        work.step();
        if opens(c) {
            depth += 1;
        } else if closes(c) {
            depth -= 1;
        }
        let ends = depth == 1 && matches!(c, ';' | ',' | '；' | '，' | '、');
        if ends || depth == 0 {
            let is_outside = |c: char| c.is_whitespace() || is_quote(c);
            let whole = &some[..at];
            let start = at - whole.trim_start_matches(is_outside).len();
            let content = whole[start..].trim_end_matches(is_outside);
            return Some(from + start..from + start + content.len());
        }
        if depth > MOST_DEPTH {
            return None;
        }
    }
    None
}

/// The last word of a range, without the punctuation around it.
fn last_word(text: &str, range: Range<usize>) -> Range<usize> {
    let some = &text[range.clone()];
    let is_end = |c: char| c.is_whitespace() || opens(c) || closes(c);
    // Of a longer word its end is taken, which is too long for a short form.
    let letters = some.chars().rev().take(2 * MOST_SHORT).take_while(|c| !is_end(*c));
    let word = &some[some.len() - letters.map(char::len_utf8).sum::<usize>()..];
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    range.end - word.len()..range.end
}

/// Whether that can be a short form: two letters or digits, and more of the paper's rules. Lower case with a full stop
/// is none: "i.e.", "vs.".
fn is_short(text: &str) -> bool {
    let letters = || text.chars().filter(|c| c.is_alphanumeric());
    text.starts_with(char::is_alphanumeric)
        && !is_longer(text)
        && letters().nth(1).is_some()
        && letters().any(char::is_alphabetic)
        && (has_capital(text) || !text.contains('.'))
}

/// Whether that has more characters or words than a short form.
fn is_longer(text: &str) -> bool {
    text.chars().nth(MOST_SHORT).is_some()
        || text.split_whitespace().nth(MOST_SHORT_WORDS).is_some()
}

/// Whether there is a letter in upper case, or of a script without case.
fn has_capital(text: &str) -> bool {
    text.chars().any(|c| c.is_alphabetic() && !c.is_lowercase())
}

/// The shortest end of the range that is a long form of that short form.
fn long_form(
    text: &str,
    range: Range<usize>,
    short: &str,
    work: &mut Interruptible<'_>,
) -> Option<Range<usize>> {
    let mut letters = short.chars().rev().filter(|c| c.is_alphanumeric()).peekable();
    let count = letters.clone().count();
    let most_words = (2 * count).min(count + MORE_WORDS);
    let mut letter = letters.next()?;
    let (mut words, mut depth, mut next) = (0, 0, None);
    for (at, c) in text[range.clone()].char_indices().rev() {
        work.step();
        let at = range.start + at;
        if closes(c) {
            depth += 1;
        } else if opens(c) && depth == 0 || ends_sentence(text, at, c, next) {
            return None;
        } else if opens(c) {
            depth -= 1;
        }
        next = Some(c);
        if !c.is_alphanumeric() {
            continue;
        }
        let last = text[..at].chars().next_back();
        let begins = !last.is_some_and(char::is_alphanumeric);
        // What other brackets contain is not part of the name.
        let is_next = depth == 0 && is_same(c, letter);
        if is_next && (begins || letters.peek().is_some()) {
            match letters.next() {
                Some(next) => letter = next,
                None => return Some(at..range.end),
            }
        }
        words += usize::from(begins && !last.is_some_and(is_quote));
        if words == most_words {
            return None;
        }
    }
    None
}

/// Whether two characters are equal, case aside.
fn is_same(one: char, other: char) -> bool {
    if one.is_ascii() || other.is_ascii() {
        return one.eq_ignore_ascii_case(&other);
    }
    one == other || one.to_lowercase().eq(other.to_lowercase())
}

/// Whether the text has that word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric)
            && !text[at + word.len()..].starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn definitions(text: &str) -> Vec<Definition> {
        let mut check_interrupts = || ();
        let mut work = Interruptible::new(&mut check_interrupts);
        let mut reader = Definitions::of(text);
        std::iter::from_fn(|| reader.next_definition(&mut work)).collect()
    }

    /// The (short, long) forms of a text.
    fn found(text: &str) -> Vec<(&str, &str)> {
        let all = definitions(text).into_iter();
        all.map(|found| (&text[found.short], &text[found.long])).collect()
    }

    #[test]
    fn a_long_form_before_its_short_form_is_found() {
        for (text, short, long) in [
            ("of Duchenne muscular dystrophy (DMD).", "DMD", "Duchenne muscular dystrophy"),
            ("the heat shock transcription factor (HSF)", "HSF", "heat shock transcription factor"),
            ("Gcn5-related N-acetyltransferase (GNAT)", "GNAT", "Gcn5-related N-acetyltransferase"),
            ("steroidogenic factor 1 (SF-1)", "SF-1", "steroidogenic factor 1"),
            // The shortest one counts.
            ("thyroid transcription factor 1 (TTF-1)", "TTF-1", "transcription factor 1"),
            (
                "in ornithine transcarbamylase (OTC; EC 2.1.3.3)",
                "OTC",
                "ornithine transcarbamylase",
            ),
            ("hormone-dependent nonsteroidal drugs (NSDs)", "NSDs", "nonsteroidal drugs"),
            ("Alzheimer's disease [AD]", "AD", "Alzheimer's disease"),
            (
                "the familial cancer (of the breast) test (FCT)",
                "FCT",
                "familial cancer (of the breast) test",
            ),
            ("the “heart failure” (“HF”)", "HF", "heart failure"),
            ("(also heart failure (HF))", "HF", "heart failure"),
            ("heart failure(HF)", "HF", "heart failure"),
            ("heart failure (HF, or more", "HF", "heart failure"),
            ("St. Louis encephalitis (SLE)", "SLE", "St. Louis encephalitis"),
            ("interleukin 2 (IL 2)", "IL 2", "interleukin 2"),
            ("beta-2-microglobulin (B2M)", "B2M", "beta-2-microglobulin"),
            ("double negative, (DN)", "DN", "double negative"),
            ("l'hôpital général (HG)", "HG", "hôpital général"),
            ("la sclérose en plaques (SEP)", "SEP", "sclérose en plaques"),
            ("Ärztliche Überweisung (äü)", "äü", "Ärztliche Überweisung"),
            ("болезнь Альцгеймера （БА）", "БА", "болезнь Альцгеймера"),
            ("東京 工業 大学（東工大）", "東工大", "東京 工業 大学"),
        ] {
            assert_eq!(found(text), [(short, long)], "{text}");
        }
    }

    #[test]
    fn a_long_form_behind_its_short_form_is_found() {
        for (text, short, long) in [
            ("of HSF (heat shock transcription factor)", "HSF", "heat shock transcription factor"),
            ("APC (adenomatous polyposis coli)", "APC", "adenomatous polyposis coli"),
            ("APC (adenomatous polyposis coli, a gene)", "APC", "adenomatous polyposis coli"),
            ("TB (tuberculosis)", "TB", "tuberculosis"),
            ("[“HSF” (the heat shock factor)]", "HSF", "heat shock factor"),
            ("БА (болезнь Альцгеймера)", "БА", "болезнь Альцгеймера"),
            ("HSF (heat shock (or stress) factor)", "HSF", "heat shock (or stress) factor"),
        ] {
            assert_eq!(found(text), [(short, long)], "{text}");
        }
    }

    #[test]
    fn other_brackets_define_nothing() {
        for text in [
            "",
            "(",
            ")",
            "()",
            "a ( ) b",
            "in two old oak trees (2003)",
            "some early examples (see below)",
            "with p values (p < 0.05)",
            "group alpha (A)",
            "group alpha (A*)",
            "tumours (e.g. of the lung)",
            "heart failure (HF",
            "heart failure (((HF)))",
            "heart (failure (HF))",
            "a heart. The failure (HF)",
            "心臓。 heart failure ！ fine（HF）",
            // No word begins with the first letter.
            "uneven muscular dystrophy (NMD)",
            // The long form is too long, or has the short form.
            "heart and other organs may be in failure (HF)",
            "high HF force (HF)",
            "heart failure (-HF)",
            "heart (H F s)",
            "heart failure (elevenchars)",
            "that is in early life (i. e.)",
            "in (insulin or nothing)",
            "HSF (one two three)",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn definitions_come_in_order() {
        let text = "Prader-Willi syndrome (PWS) and AS (Angelman's old syndrome), or Parkinson disease (PD)";
        let wanted = [
            ("PWS", "Prader-Willi syndrome"),
            ("AS", "Angelman's old syndrome"),
            ("PD", "Parkinson disease"),
        ];
        assert_eq!(found(text), wanted);
        for blanks in 0..200 {
            let text = " é".repeat(blanks) + " heart failure (HF)" + &"x".repeat(blanks);
            assert_eq!(found(&text), [("HF", "heart failure")], "{blanks}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(
            parts in proptest::collection::vec(
                proptest::sample::select(
                    "a|b|A|B|é|ß|İ|東|2| |  |-|'|”|. |,|;|(|)|[|]|（|）|🐈|\u{301}|ab (ab| a b (AB)".split('|').collect::<Vec<_>>()
                ),
                0..60,
            )
        ) {
            let text = parts.concat();
            let mut done = 0;
            for Definition { long, short } in definitions(&text) {
                prop_assert!(is_short(&text[short.clone()]));
                prop_assert!(text[long.clone()].starts_with(char::is_alphanumeric));
                let [first, second] = if long.start < short.start { [&long, &short] } else { [&short, &long] };
                prop_assert!(done < first.end && first.end < second.start);
                done = first.end;
            }
        }
    }

    /// Checks for interrupts while a text of so many bytes is read: one each 65,536 characters or pieces without
    /// brackets.
    fn checks(part: &str, bytes: usize) -> usize {
        let text = part.repeat(bytes / part.len());
        let mut checks = 0;
        let mut check_interrupts = || checks += 1;
        let mut work = Interruptible::new(&mut check_interrupts);
        let mut reader = Definitions::of(&text);
        while reader.next_definition(&mut work).is_some() {}
        checks
    }

    #[test]
    fn the_cost_is_linear_and_can_be_stopped() {
        let blanks = " ".repeat(450) + "x (zy)";
        let word = "x".repeat(450) + " (zy)";
        for part in [
            "(",
            "a (",
            "(ab)",
            "(ab) ",
            "(ab cd)",
            "A (a b c",
            "AB (ab abcabc",
            "AB (",
            "[(ab)]",
            "(ab)))",
            "（",
            "，",
            &blanks,
            &word,
        ] {
            let [one, two] = [1 << 19, 1 << 20].map(|bytes| checks(part, bytes));
            assert!(two > 0 && two.abs_diff(2 * one) <= 1, "{part}: {one}, {two}");
            // Each byte is read a few times.
            assert!(two <= 8 * (1 << 20 >> 16), "{part}: {two}");
        }
        for part in ["a", ")"] {
            assert!((1..4).contains(&checks(part, 8 << 20)));
        }
    }
}
