//! Names of tables and columns as Rust strings, in databases whose encoding is not UTF-8.
//!
//! Each byte that is not ASCII becomes a private-use character in the string, and that byte again in SQL. Nothing is
//! converted, so every name in every encoding, and in none (SQL_ASCII), survives the round trip. In all server
//! encodings such bytes are never part of an ASCII character, so quoting works. Messages show them as question marks.

#![expect(unsafe_code, reason = "reads a text")]

use crate::pg::backend::is_utf8;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char};

/// Byte b is the character ESCAPE + b.
const ESCAPE: u32 = 0x10_FF00;

/// Decodes a name from the catalogs.
pub fn decode(bytes: &[u8]) -> String {
    if is_utf8() {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let escaped = |byte: &u8| char::from_u32(ESCAPE + u32::from(*byte)).unwrap_or('?');
    bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { escaped(byte) }).collect()
}

/// Encodes a name, or SQL with names in it, for the server.
pub fn encode(text: &str) -> Vec<u8> {
    if text.is_ascii() || is_utf8() {
        return text.as_bytes().to_vec();
    }
    let byte = |char: char| u8::try_from(u32::from(char).wrapping_sub(ESCAPE)).unwrap_or(b'?');
    text.chars().map(|char| if char.is_ascii() { char as u8 } else { byte(char) }).collect()
}

/// A name as messages show it.
pub fn shown(text: &str) -> String {
    if text.is_ascii() || is_utf8() {
        return text.to_string();
    }
    text.chars().map(|char| if char.is_ascii() { char } else { '?' }).collect()
}

/// A text as UTF-8: the bytes themselves, or PostgreSQL's copy in the current memory context. SQL_ASCII's bytes must be
/// valid: else it raises 22021.
pub fn to_utf8(text: &[u8]) -> &[u8] {
    // SAFETY: converts so many bytes; the result is NUL-terminated unless it is the argument itself.
    converted(text, |from, len| unsafe { pg_sys::pg_server_to_any(from, len, pg_sys::pg_enc::PG_UTF8 as i32) })
}

/// UTF-8 as a text of the database's encoding: the bytes themselves, or PostgreSQL's copy.
pub fn of_utf8(text: &str) -> &[u8] {
    // SAFETY: as above.
    let convert = |from, len| unsafe { pg_sys::pg_any_to_server(from, len, pg_sys::pg_enc::PG_UTF8 as i32) };
    converted(text.as_bytes(), convert)
}

fn converted(text: &[u8], convert: impl FnOnce(*const c_char, i32) -> *mut c_char) -> &[u8] {
    if is_utf8() {
        return text;
    }
    let from = text.as_ptr().cast();
    let converted = convert(from, text.len() as i32).cast_const();
    // SAFETY: a C string, unless it is the argument itself.
    if converted == from { text } else { unsafe { CStr::from_ptr(converted).to_bytes() } }
}

/// How many of the first `most` bytes of a text, which has less than a gigabyte, are whole characters.
pub fn clipped(text: &[u8], most: usize) -> usize {
    // SAFETY: reads that many bytes.
    unsafe { pg_sys::pg_mbcliplen(text.as_ptr().cast(), text.len() as i32, most as i32) as usize }
}
