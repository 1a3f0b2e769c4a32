//! Words of ASCII text: rules WB5 to WB13b of UAX #29.
//!
//! ```text
//!   text    S j - H o r n e r ' s   A . B ,   0 . 5
//!   parts   1 1 . 1 1 1 1 1 1 . 1 . 1 . 1 . . 1 . 1    letters, digits, underscores
//!   joins   . . . . . . . . . 1 . . . 1 . . . . 1 .    characters that join their neighbours
//!   words   1 1 . 1 1 1 1 1 1 1 1 . 1 1 1 . . 1 1 1
//! ```
//!
//! Underscores alone are not a word.

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the character at a place, which is neither a letter nor a digit, joins its neighbours.
fn joins(bytes: &[u8], at: usize) -> bool {
    let Some(&[before, between, after]) = bytes.get(at.wrapping_sub(1)..at + 2) else {
        return false;
    };
    let letters = || before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = || before.is_ascii_digit() && after.is_ascii_digit();
    match between {
        b'.' | b'\'' => letters() || digits(),
        b':' => letters(),
        b',' | b';' => digits(),
        _ => false,
    }
}

/// The first word from a place on that is not inside a word: where it begins, and where it ends.
pub(crate) fn word(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    loop {
        let from = at + bytes.get(at..)?.iter().position(|byte| is_part(*byte))?;
        let ends = |at: &usize| !is_part(bytes[*at]) && !joins(bytes, *at);
        at = (from + 1..bytes.len()).find(ends).unwrap_or(bytes.len());
        if bytes[from..at].iter().any(|byte| *byte != b'_') {
            return Some((from, at));
        }
    }
}
