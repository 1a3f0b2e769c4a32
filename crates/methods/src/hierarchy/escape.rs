//! Names in the formats of drawing.rs.
//!
//! Names are bytes in the encoding of a PostgreSQL server. In all of these, bytes of ASCII are never part of another
//! character, so escaping them alone is right. Only where names are UTF-8, characters beyond ASCII that break lines,
//! turn text around or are invisible are shown by their number, too.

/// What stands for the first characters of the rest of a name, and how many bytes they are; None: the first byte is as
/// it is. Takes the rest, what is before it, and whether names are UTF-8.
pub(super) type Escape = fn(&[u8], &[u8], bool) -> Escaped;

type Escaped = Option<(usize, String)>;

/// The character that a name begins with, if it would break a line, turn the text around it or be invisible: its bytes
/// and its number.
fn unseen(name: &[u8], is_utf8: bool) -> Option<(usize, u32)> {
    match *name {
        [byte @ (0..0x20 | 0x7f), ..] => Some((1, u32::from(byte))),
        [0xC2, byte @ 0x80..=0x9F, ..] if is_utf8 => Some((2, u32::from(byte))),
        [0xE2, 0x80, byte @ (0x8E | 0x8F | 0xA8..=0xAE), ..] if is_utf8 => {
            Some((3, 0x2000 + u32::from(byte & 0x3F)))
        }
        [0xE2, 0x81, byte @ 0xA6..=0xA9, ..] if is_utf8 => {
            Some((3, 0x2040 + u32::from(byte & 0x3F)))
        }
        _ => None,
    }
}

/// Shows such a character behind what stands for a backslash.
fn shown(backslash: &str, number: u32) -> String {
    match number {
        0x09 => format!("{backslash}t"),
        0x0A => format!("{backslash}n"),
        0x0D => format!("{backslash}r"),
        0..0x80 => format!("{backslash}x{number:02x}"),
        _ => format!("{backslash}u{number:04x}"),
    }
}

pub(super) fn of_text(name: &[u8], _: &[u8], is_utf8: bool) -> Escaped {
    unseen(name, is_utf8).map(|(bytes, number)| (bytes, shown("\\", number)))
}

pub(super) fn of_dot(name: &[u8], _: &[u8], is_utf8: bool) -> Escaped {
    let fixed = |text: &str| Some((1, text.to_owned()));
    match name[0] {
        b'"' => fixed("\\\""),
        b'\\' => fixed("\\\\"),
        // Graphviz reads entities of HTML in labels.
        b'&' => fixed("&amp;"),
        b'\n' => fixed("\\n"),
        _ => unseen(name, is_utf8).map(|(bytes, number)| (bytes, shown("\\\\", number))),
    }
}

/// A key is no label: it has no entities.
pub(super) fn of_dot_key(name: &[u8], before: &[u8], is_utf8: bool) -> Escaped {
    if name[0] == b'&' { None } else { of_dot(name, before, is_utf8) }
}

/// Mermaid reads labels as Markdown, even in quotes, and has `#65;` for any character. Those that mean nothing anywhere
/// are as they are.
pub(super) fn of_mermaid(name: &[u8], before: &[u8], is_utf8: bool) -> Escaped {
    match name[0] {
        b'\n' => return Some((1, "<br/>".to_owned())),
        b' ' | b',' | b'\'' | b'(' | b')' | b'?' | b'=' => return None,
        // At the start `- ` is a list, as `1. ` is.
        b'-' if !before.is_empty() => return None,
        b'.' if before.last().is_some_and(|byte| !byte.is_ascii_digit()) => return None,
        _ => (),
    }
    if let Some((bytes, number)) = unseen(name, is_utf8) {
        return Some((bytes, shown("#92;", number)));
    }
    name[0].is_ascii_punctuation().then(|| (1, format!("#{};", name[0])))
}

pub(super) fn of_json(name: &[u8], _: &[u8], _: bool) -> Escaped {
    json_escape(name[0]).map(|text| (1, text))
}

/// What stands for that byte in a JSON string; None if it stands for itself.
pub fn json_escape(byte: u8) -> Option<String> {
    Some(match byte {
        b'"' => "\\\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        0..0x20 => format!("\\u{byte:04x}"),
        _ => return None,
    })
}

/// Mermaid has no quotes for keys: letters and digits are as they are, any other byte is `_` and its number.
pub(super) fn of_mermaid_key(name: &[u8], _: &[u8], _: bool) -> Escaped {
    let byte = name[0];
    if byte.is_ascii_alphanumeric() { None } else { Some((1, format!("_{byte:02x}"))) }
}
