//! Sentences of a text, and their words.

use cftrag_core::Interruptible;

/// Words after which a full stop does not end the sentence.
const ABBREVIATIONS: &str = "dr mr mrs ms prof st e.g i.e vs no nos fig figs approx inc ltd co jr sr cf ca vol dept \
    univ al resp p pp";

/// Whether a word is in a list of words.
pub fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The sentences of a text, without the blanks around them. A sentence ends at . ! ? followed by a blank and no small
/// letter after that, or at an empty line.
pub struct Sentences<'t>(pub &'t str);

impl<'t> Sentences<'t> {
    pub fn next(&mut self, work: &mut Interruptible<'_>) -> Option<&'t str> {
        while !self.0.is_empty() {
            let (sentence, rest) = self.0.split_at(end(self.0, work));
            self.0 = rest;
            if !sentence.trim().is_empty() {
                return Some(sentence.trim());
            }
        }
        None
    }
}

/// Where the first sentence ends.
fn end(text: &str, work: &mut Interruptible<'_>) -> usize {
    for (at, c) in text.char_indices() {
        work.step();
        let rest = &text[at + c.len_utf8()..];
        let ends = match c {
            '.' => is_end(rest) && !is_abbreviation(&text[..at]),
            '!' | '?' => is_end(rest),
            '\n' => rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n'),
            _ => false,
        };
        if ends {
            let closing =
                rest.len() - rest.trim_start_matches(['"', '\'', '”', '’', ')', ']']).len();
            return at + c.len_utf8() + if c == '\n' { 0 } else { closing };
        }
    }
    text.len()
}

fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'', '”', '’', ')', ']']);
    let next = rest.trim_start();
    next.is_empty() || next.len() < rest.len() && !next.starts_with(char::is_lowercase)
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    is_among(ABBREVIATIONS, &word.to_lowercase())
        || word.chars().count() == 1 && word.chars().all(char::is_uppercase)
}

/// A sentence, cut into words and single marks. Text in brackets is left out.
pub struct Sentence<'t> {
    pub whole: &'t str,
    /// The range of each token in `whole`.
    tokens: Vec<(usize, usize)>,
    /// The tokens in lower case.
    small: Vec<String>,
}

impl<'t> Sentence<'t> {
    pub fn of(whole: &'t str) -> Sentence<'t> {
        let (mut tokens, mut depth) = (Vec::new(), 0_usize);
        let mut chars = whole.char_indices().peekable();
        while let Some((start, c)) = chars.next() {
            let mut end = start + c.len_utf8();
            if c.is_alphanumeric() {
                while let Some(&(at, c)) = chars.peek() {
                    if !in_word(c, &whole[at + c.len_utf8()..]) {
                        break;
                    }
                    end = at + c.len_utf8();
                    chars.next();
                }
            }
            // "Dr. Meyer": the full stop belongs to the word.
            if whole[end..].starts_with(". ") && is_abbreviation(&whole[..end]) {
                end += 1;
                chars.next();
            }
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ if depth > 0 || c.is_whitespace() => {}
                _ => tokens.push((start, end)),
            }
        }
        let small = tokens
            .iter()
            .map(|&(start, end)| whole[start..end].to_lowercase().replace('’', "'"))
            .collect();
        Sentence { whole, tokens, small }
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_question(&self) -> bool {
        self.whole.trim_end_matches(['"', '”', ')']).ends_with('?')
    }

    /// A token in lower case; empty after the last token.
    pub fn small(&self, i: usize) -> &str {
        self.small.get(i).map_or("", |word| word)
    }

    pub fn is(&self, i: usize, word: &str) -> bool {
        self.small(i) == word
    }

    /// Whether a token is a word, not a mark.
    pub fn is_word(&self, i: usize) -> bool {
        self.small(i).starts_with(char::is_alphanumeric)
    }

    /// Tokens as written in the text, with single blanks, without the text left out between them.
    pub fn text(&self, tokens: &std::ops::Range<usize>) -> String {
        let mut text = String::new();
        for i in tokens.clone() {
            let (start, end) = self.tokens[i];
            let joined = i > tokens.start && self.tokens[i - 1].1 == start;
            if i > tokens.start && !joined {
                text.push(' ');
            }
            text.push_str(&self.whole[start..end]);
        }
        text
    }
}

/// Whether a character continues a word, given the text after it.
fn in_word(c: char, rest: &str) -> bool {
    let joins = matches!(c, '-' | '\'' | '’' | '.' | '/' | '&' | '_' | '+' | '#' | '\u{301}');
    c.is_alphanumeric()
        || joins && (rest.starts_with(char::is_alphanumeric) || matches!(c, '+' | '#'))
}
