//! A mention that is a path: names from the top down, "Attic > Shelves".

/// Signs between the parts of a path, whether blanks are around them or not.
const SIGNS: [char; 4] = ['>', '\u{BB}', '\u{203A}', '\u{2192}'];
/// Signs between the parts of a path that has blanks around them.
const BETWEEN_BLANKS: [char; 2] = ['/', '|'];

/// The parts of a path, at least two; None if the text is none: it has no sign between two parts, or begins or ends
/// with one. Parts between two signs may be empty.
#[must_use]
pub fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut rest, mut at) = (Vec::new(), text, 0);
    while at < rest.len() {
        match separator(&rest[at..]) {
            Some(length) => {
                parts.push(&rest[..at]);
                rest = &rest[at + length..];
                at = 0;
            }
            None => at += rest[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    parts.push(rest);
    let is_path = parts.len() > 1 && !parts[0].is_empty() && !rest.is_empty();
    is_path.then_some(parts)
}

/// The length of the separator at the start of a text.
fn separator(text: &str) -> Option<usize> {
    let behind = text.trim_start();
    let (sign, blanks) = (behind.chars().next()?, behind.len() < text.len());
    let rest = &behind[sign.len_utf8()..];
    let next = rest.trim_start();
    let is_one = SIGNS.contains(&sign)
        || BETWEEN_BLANKS.contains(&sign) && blanks && next.len() < rest.len();
    is_one.then_some(text.len() - next.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_and_what_is_none() {
        let path = |text: &str| parts(text).map(|parts| parts.join("|"));
        for (text, expected) in [
            ("Attic > Shelves", Some("Attic|Shelves")),
            ("Attic>Shelves", Some("Attic|Shelves")),
            ("a \u{BB} b\u{2192}c", Some("a|b|c")),
            ("a / b | c", Some("a|b|c")),
            ("a >> b", Some("a||b")),
            ("and/or", None),
            ("a /b", None),
            ("> a", None),
            ("a >", None),
            ("a > b > ", None),
            (" / a", None),
            ("a", None),
            ("", None),
            (">", None),
        ] {
            assert_eq!(path(text).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_those_that_were_joined(names in prop::collection::vec("[a-z/|]([a-z/| ]{0,5}[a-z])?", 2..5)) {
            prop_assume!(names.iter().all(|name| !name.contains([' '])));
            let text = names.join(" > ");
            prop_assert_eq!(parts(&text), Some(names.iter().map(String::as_str).collect()));
        }
    }
}
