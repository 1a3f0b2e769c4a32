//! Where a sentence of a text ends, or a part of its page: names do not go on behind that.

/// Letters of a word with a full stop that does not end its sentence: "E. coli", "St. Louis", "vs. all".
const SHORTENED: usize = 2;
/// What may close a quotation, a bracket or an emphasis, and what is not seen.
const CLOSING: [char; 16] = [
    '"', '\'', ')', ']', '»', '”', '’', '*', '_', '`', '\u{200b}', '\u{200c}', '\u{200d}',
    '\u{200e}', '\u{200f}', '\u{2060}',
];
/// What HTML writes for a quotation mark that closes, and for a blank.
const CLOSING_SIGNS: [&str; 5] = ["&quot;", "&rdquo;", "&rsquo;", "&#39;", "&#34;"];
const BLANK_SIGNS: [&str; 2] = ["&nbsp;", "&#160;"];
/// Letters of the longest name that HTML has for a sign.
const MOST_SIGN: usize = 6;

/// Whether a sentence ends with the character at that place.
pub(crate) fn ends_sentence(text: &str, at: usize, c: char, next: Option<char>) -> bool {
    let is_before_blank = || next.is_some_and(char::is_whitespace);
    match c {
        '。' | '！' | '？' => true,
        '!' | '?' => is_before_blank(),
        // A text that was cut into words and joined again.
        '.' if is_before_blank() && text[..at].ends_with(char::is_whitespace) => true,
        '.' if is_before_blank() => {
            let before = without_closing(&text[..at]);
            let letters = before.chars().rev().take_while(|c| c.is_alphanumeric());
            letters.take(SHORTENED + 1).count() > SHORTENED
        }
        _ => false,
    }
}

/// A text without what closes a quotation at its end.
fn without_closing(mut text: &str) -> &str {
    loop {
        let shorter = text.trim_end_matches(CLOSING);
        let shorter =
            CLOSING_SIGNS.iter().find_map(|sign| shorter.strip_suffix(sign)).unwrap_or(shorter);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// A text behind more stops and what closes a quotation.
fn behind_closing(mut text: &str) -> &str {
    loop {
        let shorter =
            text.trim_start_matches(|c| ['.', '!', '?'].contains(&c) || CLOSING.contains(&c));
        let shorter =
            CLOSING_SIGNS.iter().find_map(|sign| shorter.strip_prefix(sign)).unwrap_or(shorter);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// Whether a sentence, a clause, a paragraph, an item of a list or a cell of a table ends between the words of a text.
pub(crate) fn has_border(text: &str) -> bool {
    let mut lines = 0;
    text.char_indices().any(|(at, c)| {
        let rest = &text[at + c.len_utf8()..];
        let is_end =
            matches!(c, '\n' | '\u{85}' | '\u{2028}') || c == '\r' && !rest.starts_with('\n');
        lines = match c {
            _ if is_end => lines + 1,
            // A quotation's lines begin so.
            '>' if lines > 0 => lines,
            c if c.is_whitespace() => lines,
            _ => 0,
        };
        match c {
            _ if is_end => lines > 1 || is_item(rest),
            '\t' | '\u{c}' | '\u{2029}' | '|' => true,
            '；' | '؛' | '\u{37e}' | '؟' | '۔' | '।' | '։' | '።' | '‽' | '‼' | '｡' | '．' => {
                true
            }
            ';' if is_sign(&text[..at]) => false,
            ';' => true,
            '…' => rest.starts_with(char::is_whitespace),
            // A quotation mark or a bracket may close behind it.
            '.' | '!' | '?' | '。' | '！' | '？' => {
                let behind = behind_closing(rest);
                let is_blank = BLANK_SIGNS.iter().any(|sign| behind.starts_with(sign));
                let next = if is_blank { Some(' ') } else { behind.chars().next() };
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
            ("pump.&quot; Garden", true),
            ("&quot;pump&quot;. Garden", true),
            ("pump.&nbsp; Garden", true),
            ("St.&nbsp;Mary", false),
            ("**pump.** Garden", true),
            ("_pump._ Garden", true),
            ("`pump.` Garden", true),
            ("pump.\u{200e} Garden", true),
            ("pump\r\rGarden", true),
            ("pump\r\nGarden", false),
            ("pump\r\n\r\nGarden", true),
            ("pump\n> \n> Garden", true),
            ("pump\n> Garden", false),
            ("pump . Garden", true),
            ("pump؛ garden", true),
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
