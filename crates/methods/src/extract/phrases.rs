//! Noun phrases beside a rule's phrase, recognised by the words they may not contain.

use super::rules::is_adverb;
use super::words::{Sentence, is_among};
use std::ops::Range;

/// A noun phrase, as a range of tokens of a sentence.
pub type Phrase = Range<usize>;

/// Words of the longest phrase.
const MOST_WORDS: usize = 7;

/// Words that may precede a phrase and are not part of it.
const DETERMINERS: &str = "the a an this that these those its their his her our your my each every all any some many \
    most several various different numerous few more other another certain both such one two \
    three four five six seven eight nine ten eleven twelve twenty hundred thousand million \
    billion dozens hundreds thousands millions about around approximately roughly only just \
    mainly mostly over";

/// Determiners that cannot stand inside a phrase, except after "of".
const ARTICLES: &str = "the a an this these those its their his her our your my every";

/// Words that are in no phrase: another part of the sentence begins after one (or before it).
const STOPS: &str = "in on at for with by from to into as than under above between among through during until \
    till before after within without against about over near like unlike via per towards \
    across behind beyond upon around despite except excluding according due which who whom \
    whose that where when while because although though since whereas so but if whether unless \
    is are was were be been being am has have had having does do did can could may might must \
    shall should will would cannot used require requires required contain contains contained \
    include includes included comprise comprises belong belongs depend depends consist \
    consists become becomes became breathe called respectively plus how why what";

/// A phrase with one of these words is not an entity, or reverses the sense.
const SPOILERS: &str = "not no never neither nor none nobody nothing longer it they he she we i you them him us me \
    himself one's there here everything something anything everyone someone anyone hardly \
    rarely seldom scarcely partly following former latter same etc who which what why how \
    don't doesn't didn't isn't";

/// The subject before a verb at `end`: one phrase, or a list with "and" (or "or") before its last.
pub fn subjects(sentence: &Sentence<'_>, from: usize, mut end: usize) -> Option<Vec<Phrase>> {
    while end > from
        && (is_adverb(sentence.small(end - 1)) || is_ly(sentence.small(end - 1), end - from))
    {
        end -= 1;
    }
    // "The report, which ..., contains": the clause between the commas is about the report.
    if end > from && sentence.is(end - 1, ",") {
        let open = (from..end - 1).rev().find(|&i| sentence.is(i, ","))?;
        if !matches!(sentence.small(open + 1), "which" | "who" | "whose") {
            return None;
        }
        end = open;
    }
    let start = (from..end).rev().find(|&i| is_clause_start(sentence.small(i)));
    if start.is_some_and(|i| {
        matches!(sentence.small(i), "if" | "whether" | "unless" | "which" | "who" | "whose")
    }) {
        return None;
    }
    let start = start.map_or(from, |i| i + 1);
    let mut parts = split(sentence, start, end);
    // After another match, the objects of that match come first, then a new subject.
    let is_list = parts.len() > 1
        && from == 0
        && parts.last().is_some_and(|(_, by)| matches!(*by, "and" | "or"));
    if !is_list {
        if from > 0 && parts.len() < 2 && start == from {
            return None;
        }
        parts = vec![parts.pop()?];
    }
    if parts
        .iter()
        .any(|(part, _)| matches!(sentence.small(part.start), "if" | "whether" | "unless"))
    {
        return None;
    }
    parts.into_iter().map(|(part, _)| whole(sentence, part.start, part.end)).collect()
}

/// The phrases of a list from `start`, up to the list's end or to a part that is not a noun phrase. Without `of` a
/// phrase must not contain a verb.
pub fn list_after(sentence: &Sentence<'_>, start: usize, end: usize, of: bool) -> Vec<Phrase> {
    let end = (start..end).find(|&i| ends_list(sentence.small(i))).unwrap_or(end);
    let mut found = Vec::new();
    let mut is_last = false;
    for (mut part, by) in split(sentence, start, end) {
        // "A, B and C, D": the list ends with C.
        if is_last && by == "," {
            break;
        }
        is_last = matches!(by, "and" | "or");
        if sentence.is(part.start, "to") || sentence.is(part.start, "of") {
            part.start += 1;
        }
        // "nuclei that", "oranges are": the phrase ends before the second word.
        let stop = part.clone().find(|&i| {
            is_stop(sentence, i) && (i > part.start || !is_determiner(sentence.small(i)))
        });
        let phrase = whole(sentence, part.start, stop.unwrap_or(part.end));
        match phrase {
            Some(phrase)
                if !is_gerund(sentence, &part) && (of || !holds_verb(sentence, &phrase)) =>
            {
                found.push(phrase)
            }
            _ => break,
        }
        if stop.is_some() {
            break;
        }
    }
    found
}

/// Whether a part is like "raising taxes", which is not a thing, unlike "a warning light", "building", "string
/// instrument".
fn is_gerund(sentence: &Sentence<'_>, part: &Range<usize>) -> bool {
    // A verb has a vowel before its ending.
    let stem = sentence.small(part.start).strip_suffix("ing");
    part.len() > 1
        && stem.is_some_and(|stem| stem.contains(['a', 'e', 'i', 'o', 'u', 'y']))
        && !sentence.is(part.start + 1, "of")
}

/// Whether a word inside a phrase ends like a plural or a verb, as in "warfarin requires monitoring".
fn holds_verb(sentence: &Sentence<'_>, phrase: &Phrase) -> bool {
    (phrase.start + 1..phrase.end.saturating_sub(1)).any(|i| is_plural(sentence.small(i)))
}

/// The list that ends at `end`, read backwards from "and other".
pub fn list_before(sentence: &Sentence<'_>, from: usize, mut end: usize) -> Option<Vec<Phrase>> {
    if end > from && sentence.is(end - 1, ",") {
        end -= 1;
    }
    let start = (from..end)
        .rev()
        .find(|&i| is_clause_start(sentence.small(i)) || is_stop(sentence, i))
        .map_or(from, |i| i + 1);
    let parts = split(sentence, start, end);
    let mut phrases = Vec::new();
    for (n, (part, _)) in parts.iter().enumerate() {
        // A subject and a verb may precede the first phrase.
        let phrase = if n == 0 {
            nearest_before(sentence, part.start, part.end)
        } else {
            whole(sentence, part.start, part.end)
        };
        phrases.push(phrase?);
    }
    (!phrases.is_empty()).then_some(phrases)
}

/// The phrase that ends at `end`; only its last word if the phrase may contain a verb.
pub fn nearest_before(sentence: &Sentence<'_>, from: usize, mut end: usize) -> Option<Phrase> {
    if end > from && sentence.is(end - 1, ",") {
        end -= 1;
    }
    let edge = (from..end).rev().find(|&i| {
        !sentence.is_word(i)
            || is_stop(sentence, i)
            || matches!(sentence.small(i), "and" | "or" | "of")
            || is_among(SPOILERS, sentence.small(i))
    });
    let start = edge.map_or(from, |i| i + 1);
    // An article marks the beginning of the phrase.
    let article = (start..end).rev().find(|&i| is_among(ARTICLES, sentence.small(i)));
    let start = article.unwrap_or(start);
    let phrase = whole(sentence, start, end)?;
    let after_pronoun = edge.is_some_and(|i| is_among(SPOILERS, sentence.small(i)));
    let verb_inside = (phrase.start..phrase.end - 1).any(|i| is_plural(sentence.small(i)));
    if after_pronoun || verb_inside { whole(sentence, end - 1, end) } else { Some(phrase) }
}

/// The class after "and other": up to its first plural, or to where the phrase must end.
pub fn class_after(sentence: &Sentence<'_>, start: usize, end: usize) -> Option<Phrase> {
    for i in start..end {
        let ends = !sentence.is_word(i)
            || is_stop(sentence, i)
            || matches!(sentence.small(i), "and" | "or" | "of");
        if ends {
            return whole(sentence, start, i);
        }
        if is_plural(sentence.small(i)) {
            return whole(sentence, start, i + 1);
        }
    }
    whole(sentence, start, end)
}

/// The tokens as one noun phrase, without determiners and similar words before it; None if they are not a noun phrase.
pub fn whole(sentence: &Sentence<'_>, mut start: usize, mut end: usize) -> Option<Phrase> {
    while end > start
        && (!sentence.is_word(end - 1)
            && sentence.small(end - 1) != "\""
            && sentence.small(end - 1) != "”")
    {
        end -= 1;
    }
    // Drop a quotation mark without its counterpart in the phrase.
    while start < end
        && is_quote(sentence.small(start))
        && !(start + 1..end).any(|i| is_quote(sentence.small(i)))
    {
        start += 1;
    }
    let first = start;
    while start < end
        && (is_determiner(sentence.small(start))
            || is_adverb(sentence.small(start))
            || is_number(sentence, start))
        && start + 1 < end
    {
        start += 1;
    }
    let words = end.saturating_sub(start);
    let bad = |i: usize| {
        let word = sentence.small(i);
        let inner_article = i > start && is_among(ARTICLES, word) && !sentence.is(i - 1, "of");
        let mark = !sentence.is_word(i) && !is_quote(word);
        is_among(SPOILERS, word)
            || is_stop(sentence, i)
            || inner_article
            || mark
            || matches!(word, "and" | "or")
    };
    let empty =
        words == 0 || words > MOST_WORDS || is_determiner(sentence.small(start)) && words == 1;
    // Leave out shares and amounts, such as "part of the money", "set of".
    let share = matches!(sentence.small(start), "part" | "parts" | "rest" | "half");
    let part_of = share && sentence.is(start + 1, "of")
        || words > 0 && (sentence.is(start, "of") || sentence.is(end - 1, "of"));
    let is_number = (start..end).all(|i| is_number(sentence, i));
    let bad =
        (first..start).any(|i| is_among(SPOILERS, sentence.small(i))) || (start..end).any(bad);
    (!empty && !part_of && !is_number && !bad).then_some(start..end)
}

/// The parts of a list, each with the separator before it ("", ",", "and", "or").
fn split<'s>(sentence: &'s Sentence<'_>, start: usize, end: usize) -> Vec<(Range<usize>, &'s str)> {
    let mut parts = Vec::new();
    let (mut at, mut by) = (start, "");
    for i in start..=end {
        let word = if i == end { "," } else { sentence.small(i) };
        if matches!(word, "," | "and" | "or" | "&") {
            if i > at {
                parts.push((at..i, by));
                by = word;
            } else if word != "," {
                by = word;
            }
            at = i + 1;
        }
    }
    parts
}

fn is_quote(mark: &str) -> bool {
    matches!(mark, "\"" | "“" | "”" | "„" | "«" | "»")
}

fn is_clause_start(word: &str) -> bool {
    matches!(
        word,
        ";" | ":"
            | "–"
            | "—"
            | "that"
            | "because"
            | "when"
            | "while"
            | "although"
            | "though"
            | "since"
            | "whereas"
            | "but"
            | "where"
            | "if"
            | "whether"
            | "unless"
            | "which"
            | "who"
            | "whose"
    )
}

fn ends_list(word: &str) -> bool {
    matches!(word, ";" | ":" | "–" | "—" | "." | "!" | "but" | "etc" | "so" | "not")
}

fn is_stop(sentence: &Sentence<'_>, i: usize) -> bool {
    is_among(STOPS, sentence.small(i))
}

fn is_determiner(word: &str) -> bool {
    is_among(DETERMINERS, word)
}

fn is_number(sentence: &Sentence<'_>, i: usize) -> bool {
    sentence.small(i).chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '%'))
}

/// Whether a word ends like a plural (or a verb's third person).
fn is_plural(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is", "'s"].iter().any(|end| word.ends_with(end))
}

/// Whether a word before a verb is an adverb, by its ending.
fn is_ly(word: &str, words: usize) -> bool {
    const NOUNS: &str =
        "family assembly supply reply anomaly butterfly jelly ally belly lily italy monopoly";
    words > 1 && word.len() > 4 && word.ends_with("ly") && !is_among(NOUNS, word)
}
