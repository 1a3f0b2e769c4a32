//! Where a sentence of a text ends, or a part of its page: names do not go on behind that.

/// Letters of a word with a full stop that does not end its sentence: "E. coli", "St. Louis", "vs. all".
const SHORTENED: usize = 2;
/// What may close a quotation or a bracket.
const CLOSING: [char; 7] = ['"', '\'', ')', ']', '»', '”', '’'];
/// Letters of the longest name that HTML has for a sign.
const MOST_SIGN: usize = 6;

/// Whether a sentence ends with the character at that place.
pub(crate) fn ends_sentence(text: &str, at: usize, c: char, next: Option<char>) -> bool {
    let is_before_blank = || next.is_some_and(char::is_whitespace);
    match c {
        '。' | '！' | '？' => true,
        '!' | '?' => is_before_blank(),
        '.' if is_before_blank() => {
            let letters = text[..at]
                .trim_end_matches(CLOSING)
                .chars()
                .rev()
                .take_while(|c| c.is_alphanumeric());
            letters.take(SHORTENED + 1).count() > SHORTENED
        }
        _ => false,
    }
}

/// Whether a sentence, a clause, a paragraph, an item of a list or a cell of a table ends between the words of a text.
pub(crate) fn has_border(text: &str) -> bool {
    let mut lines = 0;
    text.char_indices().any(|(at, c)| {
        lines = match c {
            '\n' | '\u{85}' | '\u{2028}' => lines + 1,
            c if c.is_whitespace() => lines,
            _ => 0,
        };
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\n' | '\u{85}' | '\u{2028}' => lines > 1 || is_item(rest),
            '\t' | '\u{c}' | '\u{2029}' | '|' => true,
            '；' | '؟' | '۔' | '।' | '։' | '።' | '‽' | '‼' | '｡' | '．' => true,
            ';' if is_sign(&text[..at]) => false,
            ';' => true,
            '…' => rest.starts_with(char::is_whitespace),
            // A quotation mark or a bracket may close behind it.
            '.' | '!' | '?' | '。' | '！' | '？' => {
                let behind = rest
                    .trim_start_matches(|c| ['.', '!', '?'].contains(&c) || CLOSING.contains(&c));
                let next = behind.chars().next();
                ends_sentence(text, at, c, next)
                    || rest.starts_with("..") && next.is_some_and(char::is_whitespace)
            }
            _ => false,
        }
    })
}

/// Whether a text ends with what HTML writes for a sign, but for its semicolon: "&amp".
fn is_sign(text: &str) -> bool {
    let name = text.bytes().rev().take(MOST_SIGN + 1).take_while(|byte| *byte != b'&');
    let len = name.clone().count();
    (1..=MOST_SIGN).contains(&len)
        && text.len() > len
        && name.clone().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
}

/// Whether an item of a list begins.
fn is_item(text: &str) -> bool {
    text.strip_prefix(['-', '*', '•']).is_some_and(|rest| rest.starts_with(' '))
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
            ("hiking;socks", true),
            ("\"rain\". \"Boot\"", true),
            ("(St.) Mary", false),
            ("hiking\u{2028}\u{2028}socks", true),
            ("hiking\u{85}socks", false),
            ("Home &amp; Garden", false),
            ("Home amp; Garden", true),
            ("a &longer-one; b", true),
            ("hiking\n  socks", false),
            ("hiking\n \n socks", true),
            ("hiking\tsocks", true),
            ("hiking | socks", true),
            ("靴。下", true),
            ("(hiking) socks", false),
            ("rain.\" Boot", true),
            ("rain.) Boot", true),
            ("rain... Boot", true),
            ("rain… Boot", true),
            ("rain\n- Boot", true),
            ("rain\n-Boot", false),
            ("rain\n• Boot", true),
            ("rain۔ Boot", true),
        ] {
            assert_eq!(has_border(text), has, "{text}");
        }
    }
}
