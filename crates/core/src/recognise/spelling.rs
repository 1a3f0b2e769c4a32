//! Decides whether some words of a text, which fold to a name's words, spell that name.
//!
//! ```text
//!   F   F#   F*     in  we use F# here   only F# is found, because the text has its punctuation
//!   F*              in  an F in maths    not found: a name of one word needs its punctuation
//!   R&D             in  R. D. Laing      not found: a name of single letters needs it, too
//!   IT              in  use it           not found: short capitals are found only in capitals
//!   Set             in  to set up        not found: a common word is found only in its own case
//! ```

use std::ops::Range;

use crate::folded::forms::FormKind;
use crate::folded::normal::{Language, is_function_word};
use crate::folded::pieces::Words;
use crate::folded::words::{MOST_BYTES, fold, is_ignorable};
use crate::recognise::border::has_border;
use crate::records::label::label_of;

/// Letters of the longest name that may have to be in capitals.
const SHORT: usize = 5;
/// The most bytes of text between which a name is compared: twice the bytes of the longest name.
pub(crate) const NEAR: usize = 2 * MOST_BYTES;
/// Common words of English, with which no sentence means an entity.
const COMMON: &str = "a about above after again against all also although always am among an and another any are \
    as at be because been before being below between both but by can could did do does doing \
    done down during each either else even ever every few for from further gave get gets getting \
    give given gives go goes going got had has have having he hence her here hers herself him \
    himself his how however i if in into is it its itself just let lets like made make makes \
    making many may me might more most much must my myself neither no nor not now of off often \
    on once one only or other otherwise our ours ourselves out over own per put quite rather \
    said same say says see seen set sets shall she should since so some still such take taken \
    takes than that the their theirs them themselves then there therefore these they this those \
    though through thus to too toward towards under until up upon us use used uses using very \
    via was we well were what when where whereas whether which while who whom whose why will \
    with within without would yet you your yours yourself yourselves";
/// Letters of the longest common word.
const MOST_COMMON: usize = 10;

/// Which names are found only in their own case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchCase {
    /// None.
    #[default]
    Off,
    /// Short names of capitals, and common words.
    On,
    /// Also names with a capital: where the text has a capital, too.
    Capitals,
}

/// Which names are found only in their own case, by the rules of a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Case {
    pub which: MatchCase,
    pub language: Language,
}

impl From<bool> for Case {
    fn from(is_on: bool) -> Case {
        let which = if is_on { MatchCase::On } else { MatchCase::Off };
        Case { which, language: Language::default() }
    }
}

impl Case {
    /// Whether the case of a name forbids to find it there.
    fn forbids(self, name: &str, here: &str) -> bool {
        let has_capital = |text: &str| text.chars().any(char::is_uppercase);
        self.which == MatchCase::Capitals
            && has_capital(name)
            && !(here.len() <= NEAR && has_capital(here))
    }
}

/// How well the words at `window` spell a name to which they fold: 0 if the name itself is not there, case aside; else
/// the more punctuation of the name is beside them, the higher. None if they do not spell it. With `case`, short names
/// of capitals are found only in capitals, and common words only in their own case.
#[must_use]
pub fn spelling(
    name: &[u8],
    text: &str,
    window: Range<usize>,
    case: impl Into<Case>,
) -> Option<u32> {
    let by_case = case.into();
    let case = by_case.which != MatchCase::Off;
    let name = std::str::from_utf8(label_of(name).unwrap_or(name)).ok()?;
    let here = text.get(window.clone())?;
    // Mostly it is, and then no punctuation of the name is beside the words.
    if name == here {
        return Some(1);
    }
    if case && is_common(name, by_case.language) || by_case.forbids(name, here) {
        return None;
    }
    let bare = [name.as_bytes().first(), name.as_bytes().last()];
    let is_bare = bare.iter().flatten().all(|c| c.is_ascii_alphanumeric());
    // Words that are far apart are not compared with the name.
    let is_near = here.len() <= NEAR;
    let is_lower = || !is_near || here.chars().any(char::is_lowercase);
    let is_too_low = || case && is_short_capitals(name) && is_lower();
    if is_bare && name.eq_ignore_ascii_case(here) && !is_too_low() {
        return Some(1);
    }
    // No name goes on where a sentence ends, or a cell of a table.
    if has_border(here.get(..NEAR).unwrap_or(here)) && !has_border(name) {
        return None;
    }
    let Parts { before, inner, after, has_marks, needs_marks } = Parts::of(name);
    let (head, tail) = (&text[..window.start], &text[window.end..]);
    let stands = is_near
        && begins(head.chars().rev(), before.chars().rev())
        && begins(tail.chars(), after.chars())
        && are_alike(inner, here);
    match stands {
        true if has_marks || !is_too_low() => {
            Some(1 + u32::try_from(before.len() + after.len()).unwrap_or(0))
        }
        false if !needs_marks && !is_too_low() => Some(0),
        _ => None,
    }
}

/// Whether words that are no spelling of a name may be taken for it all the same: not for a name that needs its
/// punctuation, nor where a sentence ends between them, nor with `case` for a common word, nor for short capitals
/// unless the words are capitals, but for an s.
#[must_use]
pub fn is_spelled_otherwise(
    kind: FormKind,
    name: &[u8],
    text: &str,
    window: Range<usize>,
    case: impl Into<Case>,
) -> bool {
    let by_case = case.into();
    let case = by_case.which != MatchCase::Off;
    let Ok(name) = std::str::from_utf8(label_of(name).unwrap_or(name)) else { return false };
    let Some(here) = text.get(window) else { return false };
    let are_capitals = || {
        let here = here.strip_suffix('s').unwrap_or(here);
        here.len() <= NEAR && !here.chars().any(char::is_lowercase)
    };
    let is_free =
        !case || !is_common(name, by_case.language) && (!is_short_capitals(name) || are_capitals());
    let is_one = || here.len() <= NEAR && (!has_border(here) || has_border(name));
    // In another order only names that are written so go on behind a comma: "Carcinoma, renal".
    let is_list = || kind == FormKind::Unordered && here.contains(',') && !name.contains(',');
    is_free
        && !is_list()
        && !by_case.forbids(name, here)
        && !Parts::of(name).needs_marks
        && is_one()
}

/// Whether a name has one to five letters, all of them capitals, and no digit.
fn is_short_capitals(name: &str) -> bool {
    let mut letters = 0;
    for c in name.chars().filter(|c| c.is_alphanumeric()) {
        letters += 1;
        if letters > SHORT || !c.is_uppercase() {
            return false;
        }
    }
    letters > 0
}

/// Whether a name is a common word of the language, in any case: in others than English, a function word.
fn is_common(name: &str, language: Language) -> bool {
    if language != Language::English {
        return name.len() <= MOST_COMMON
            && is_function_word(language, name.to_lowercase().as_bytes());
    }
    name.len() <= MOST_COMMON && COMMON.split(' ').any(|word| word.eq_ignore_ascii_case(name))
}

/// A name's words, and the punctuation before and after them, up to the outermost blanks.
struct Parts<'n> {
    before: &'n str,
    inner: &'n str,
    after: &'n str,
    /// Whether the name has punctuation, and whether it has only one word or single letters besides.
    has_marks: bool,
    needs_marks: bool,
}

impl<'n> Parts<'n> {
    fn of(name: &'n str) -> Parts<'n> {
        let (mut count, mut single, mut marks) = (0, true, false);
        let mut inner = 0..0;
        for (at, word) in Words::of(name).filter(|(_, word)| !word.chars().all(is_ignorable)) {
            if count == 0 {
                inner.start = at;
            } else {
                marks |= !name[inner.end..at].chars().all(is_blank);
            }
            inner.end = at + word.len();
            count += 1;
            let mut letters = word.chars();
            let has_case = |c: char| c.is_lowercase() || c.is_uppercase() || c.is_numeric();
            single &= letters.next().is_some_and(has_case) && letters.next().is_none();
        }
        // Blanks beside the words count if there is punctuation outside them.
        let before = name[..inner.start].trim_start_matches(is_blank);
        let after = name[inner.end..].trim_end_matches(is_blank);
        marks |= !before.is_empty() || !after.is_empty();
        let needs_marks = marks && (count == 1 || single);
        Parts { before, inner: &name[inner], after, has_marks: marks, needs_marks }
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || is_ignorable(c)
}

/// Whether a text begins with a part of a name, ignoring zero-width characters. A blank in the name matches any blanks,
/// or none.
fn begins(text: impl Iterator<Item = char>, part: impl Iterator<Item = char>) -> bool {
    let mut text = text.filter(|c| !is_ignorable(*c)).peekable();
    part.filter(|c| !is_ignorable(*c)).all(|wanted| {
        if wanted.is_whitespace() {
            while text.next_if(|c| c.is_whitespace()).is_some() {}
            return true;
        }
        text.next() == Some(wanted)
    })
}

/// Whether two texts are equal apart from blanks and differences that folding removes.
fn are_alike(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        let [one, other] = [one, other].map(|text| {
            text.bytes().filter(|c| !c.is_ascii_whitespace()).map(|c| c.to_ascii_lowercase())
        });
        return one.eq(other);
    }
    let [one, other] = [one, other].map(|text| {
        let mut folded = Vec::new();
        fold(text, &mut folded);
        folded.retain(|c| !c.is_ascii_whitespace());
        folded
    });
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How well the text spells each name, at the only occurrence of the window.
    fn spelled(names: &[&str], text: &str, window: &str, case: bool) -> Vec<Option<u32>> {
        let from = text.find(window).unwrap();
        let range = from..from + window.len();
        names.iter().map(|name| spelling(name.as_bytes(), text, range.clone(), case)).collect()
    }

    /// The names that the text spells best.
    fn best<'n>(names: &[&'n str], text: &str, window: &str) -> Vec<&'n str> {
        let all = spelled(names, text, window, true);
        let best = all.iter().flatten().max();
        let of = names.iter().zip(&all).filter(|(_, how)| how.is_some() && how.as_ref() == best);
        of.map(|(name, _)| *name).collect()
    }

    #[test]
    fn common_words_are_those_of_the_language() {
        for (language, name, text, found) in [
            (Language::German, "Der", "der", false),
            (Language::German, "Set", "set", true),
            (Language::English, "Der", "der", true),
            (Language::French, "Des", "des", false),
            (Language::Simple, "The", "the", true),
        ] {
            let case = Case { which: MatchCase::On, language };
            let spelled = spelling(name.as_bytes(), text, 0..text.len(), case);
            assert_eq!(spelled.is_some(), found, "{name} in {text}");
        }
    }

    #[test]
    fn a_name_with_a_capital_may_need_one() {
        for (name, text, found) in [
            ("Reading", "reading", false),
            ("Reading", "READING", true),
            ("reading", "reading", true),
            ("New York", "new York", true),
            ("东京", "东京", true),
            ("Set", "SET", false),
        ] {
            let place = 0..text.len();
            let case = Case { which: MatchCase::Capitals, ..Case::default() };
            let spelled = spelling(name.as_bytes(), text, place.clone(), case);
            assert_eq!(spelled.is_some(), found, "{name} in {text}");
            let may_be = is_spelled_otherwise(FormKind::Joined, name.as_bytes(), text, place, case);
            assert_eq!(may_be, found, "{name} in {text}");
        }
    }

    #[test]
    fn of_names_that_fold_alike_those_that_stand_there_win() {
        let all = ["F", "F#", "F*", "f#", "#F"];
        for (text, wanted) in [
            ("we use F# here", &["F#", "f#"][..]),
            ("we use F here", &["F"]),
            ("we use F* here", &["F*"]),
            ("we use #F here", &["#F"]),
            ("we use F+ here", &["F"]),
            ("we use F#m here", &["F#", "f#"]),
        ] {
            assert_eq!(best(&all, text, "F"), wanted, "{text}");
        }
        // Case does not matter.
        assert_eq!(
            best(&["T-cell", "T cell", "t cell"], "a T cell", "T cell"),
            ["T cell", "t cell"]
        );
        assert_eq!(best(&["T-cell", "T cell"], "a t\n cell", "t\n cell"), ["T cell"]);
        assert_eq!(best(&["T-cell", "T cell"], "a T/cell", "T/cell"), ["T-cell", "T cell"]);
        assert_eq!(best(&["Apple", "apple"], "an apple", "apple"), ["Apple", "apple"]);
        assert_eq!(best(&["Café", "café"], "le café", "café"), ["Café", "café"]);
        assert_eq!(best(&["O'Neil", "o’neil"], "O’NEIL", "O’NEIL"), ["O'Neil", "o’neil"]);
    }

    #[test]
    fn one_word_or_single_letters_have_their_punctuation() {
        for (name, text, window, found) in [
            (".COM", "a com", "com", false),
            (".COM", "a .COM", "COM", true),
            (".com", "A.COM", "COM", true),
            ("R&D", "R. D. Laing", "R. D", false),
            ("R&D", "our R & D", "R & D", true),
            ("F*", "F", "F", false),
            ("C++", "c", "c", false),
            ("Cat 🐈", "cat", "cat", false),
            ("Cat 🐈", "a cat 🐈", "cat", true),
            ("Cat 🐈", "a cat🐈", "cat", true),
            ("Cat🐈", "a cat 🐈", "cat", false),
            ("Cat  🐈", "a cat 🐈", "cat", true),
            ("❤\u{FE0F} Health", "my ❤\u{FE0F} Health", "Health", true),
            ("❤\u{FE0F} Health", "my ❤ health", "health", true),
            ("❤ Health", "my ❤\u{FE0F}health", "health", true),
            ("❤ Health", "my health", "health", false),
            ("#F", "C# F", "F", false),
            ("# F", "C#\n F", "F", true),
            // Neither blanks nor zero-width characters are punctuation.
            (" cat\u{200B} ", "a cat", "cat", true),
            ("T-cell", "t cell", "t cell", true),
            ("cancer (disease)", "cancer, disease", "cancer, disease", true),
            ("A B", "a/b", "a/b", true),
            ("3/4", "3 4", "3 4", false),
            ("中·国", "中国", "中国", true),
        ] {
            let how = spelled(&[name], text, window, false)[0];
            assert_eq!(how.is_some(), found, "{name} in {text}");
        }
    }

    #[test]
    fn common_words_are_found_in_their_own_case() {
        assert_eq!(COMMON.split(' ').map(str::len).max(), Some(MOST_COMMON));
        for (name, text, found) in [
            ("Set", "set", false),
            ("Set", "Set", true),
            ("Set", "SET", false),
            ("use", "use", true),
            ("use", "Use", false),
            ("Home", "home", true),
            ("Set up", "set up", true),
            ("Yourselves", "yourselves", false),
            ("Sét", "sét", true),
            ("Use!", "use!", true),
        ] {
            let from = 0..text.trim_end_matches('!').len();
            let how = |case| spelling(name.as_bytes(), text, from.clone(), case).is_some();
            assert_eq!(how(true), found, "{name} in {text}");
            assert!(how(false), "{name} in {text}");
        }
    }

    #[test]
    fn short_capitals_are_found_in_capitals() {
        for (name, text, found) in [
            ("IT", "it", false),
            ("IT", "It", false),
            ("IT", "IT", true),
            ("AIMS", "aims", false),
            ("AIMSX", "aimsx", false),
            ("SIXSIX", "sixsix", true),
            ("Ab", "ab", true),
            ("ab", "AB", true),
            ("ALS2", "als2", true),
            ("R&D", "r&d", true),
            ("AT&T", "at t", false),
            ("AT&T", "AT T", true),
            ("TCP/IP", "tcp ip", false),
            ("TCP/IP", "tcp/ip", true),
            ("T-cell", "t cell", true),
            ("I T", "i t", false),
            ("ÉÀ", "éà", false),
            ("东京", "东京", true),
            ("12", "12", true),
        ] {
            assert_eq!(spelled(&[name], text, text, true)[0].is_some(), found, "{name} in {text}");
            assert!(spelled(&[name], text, text, false)[0].is_some(), "{name} in {text}");
        }
    }
}
