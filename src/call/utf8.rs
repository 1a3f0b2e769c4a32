//! Converts texts between the database's encoding and UTF-8, which the core uses. Copies only if the encodings differ.
//!
//! Errors: 22021 (a text that is not valid), 53200 (no memory for a large copy).

use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::pg::interrupt::check_interrupts;
use cftrag_core::Interruptible;
use pgrx::check_for_interrupts;

/// Bytes copied at once; from this size on we also check that the allocation leaves memory for others.
const LARGE: usize = 1 << 20;

/// Converts from the server's encoding: returns the bytes themselves, or PostgreSQL's copy. 22021 if SQL_ASCII holds
/// bytes that are not UTF-8.
pub fn as_utf8(bytes: &[u8]) -> Fallible<&str> {
    cftrag_core::as_utf8(encoding::to_utf8(bytes), &mut Interruptible::new(&mut { check_interrupts }))
        .ok_or_else(error::not_utf8)
}

/// Copies what may be a user's whole text. 53200.
fn copy(bytes: &[u8]) -> Fallible<Vec<u8>> {
    let mut copied = Vec::new();
    let fits = copied.try_reserve_exact(bytes.len()).is_ok() && (bytes.len() < LARGE || cftrag_core::some_is_left());
    if !fits {
        return Err(error::no_memory_to_work(bytes.len()));
    }
    for some in bytes.chunks(LARGE) {
        check_for_interrupts!();
        copied.extend_from_slice(some);
    }
    Ok(copied)
}

/// Converts to the server's encoding.
pub fn from_utf8(text: &str) -> Fallible<Vec<u8>> {
    if text.contains('\0') {
        return Err(error::not_utf8());
    }
    copy(encoding::of_utf8(text))
}
