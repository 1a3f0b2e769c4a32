//! Where a sentence of a text ends, or a part of its page: names do not go on behind that.

/// Letters of a word with a full stop that does not end its sentence: "E. coli", "St. Louis", "vs. all".
const SHORTENED: usize = 2;

/// Whether a sentence ends with the character at that place.
pub(crate) fn ends_sentence(text: &str, at: usize, c: char, next: Option<char>) -> bool {
    let is_before_blank = || next.is_some_and(char::is_whitespace);
    match c {
        '。' | '！' | '？' => true,
        '!' | '?' => is_before_blank(),
        '.' if is_before_blank() => {
            let letters = text[..at].chars().rev().take_while(|c| c.is_alphanumeric());
            letters.take(SHORTENED + 1).count() > SHORTENED
        }
        _ => false,
    }
}

/// Whether a sentence, a clause, a paragraph or a cell of a table ends between the words of a text.
pub(crate) fn has_border(text: &str) -> bool {
    let mut all = text.char_indices().peekable();
    let (mut lines, mut found) = (0, false);
    while let Some((at, c)) = all.next() {
        let next = all.peek().map(|(_, c)| *c);
        lines = match c {
            '\n' => lines + 1,
            c if c.is_whitespace() => lines,
            _ => 0,
        };
        let ends =
            matches!(c, '\t' | '|' | '；') || c == ';' && next.is_some_and(char::is_whitespace);
        found |= ends || lines > 1 || ends_sentence(text, at, c, next);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_paragraphs_have_borders() {
        for (text, has) in [
            ("socks", false),
            ("hiking, socks", false),
            ("socks. Hiking", true),
            ("St. Mary", false),
            ("E. coli", false),
            ("v1.2 socks", false),
            ("socks! hiking", true),
            ("Yahoo!mail", false),
            ("hiking; socks", true),
            ("hiking\n  socks", false),
            ("hiking\n \n socks", true),
            ("hiking\tsocks", true),
            ("hiking | socks", true),
            ("靴。下", true),
            ("(hiking) socks", false),
        ] {
            assert_eq!(has_border(text), has, "{text}");
        }
    }
}
