//! Names of tables and columns as Rust strings, in databases whose encoding is not UTF-8.
//!
//! There a byte that is not ASCII stands in a string as a character of a private plane, and becomes that byte again in SQL: no
//! conversion, so every name of every encoding, and of none (SQL_ASCII), comes back as it was. In all of the server's encodings such
//! bytes are never part of an ASCII character, so quoting works. In messages they are shown as question marks.

#![expect(unsafe_code, reason = "asks for the database's encoding")]

use pgrx::pg_sys;

/// Byte b is the character ESCAPE + b.
const ESCAPE: u32 = 0x10_FF00;

/// Whether that is the database's encoding.
pub fn is_utf8() -> bool {
    // SAFETY: reads a backend variable.
    unsafe { pg_sys::GetDatabaseEncoding() == pg_sys::pg_enc::PG_UTF8 as i32 }
}

/// A name of the catalog.
pub fn decode(bytes: &[u8]) -> String {
    if is_utf8() {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let escaped = |byte: &u8| char::from_u32(ESCAPE + u32::from(*byte)).unwrap_or('?');
    bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { escaped(byte) }).collect()
}

/// A name, or SQL with names in it, as the server wants it.
pub fn encode(text: &str) -> Vec<u8> {
    if text.is_ascii() || is_utf8() {
        return text.as_bytes().to_vec();
    }
    let byte = |char: char| u8::try_from(u32::from(char).wrapping_sub(ESCAPE)).unwrap_or(b'?');
    text.chars().map(|char| if char.is_ascii() { char as u8 } else { byte(char) }).collect()
}

/// A name for a message.
pub fn shown(text: &str) -> String {
    if text.is_ascii() || is_utf8() {
        return text.to_string();
    }
    text.chars().map(|char| if char.is_ascii() { char } else { '?' }).collect()
}
