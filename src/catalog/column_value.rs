//! A column's value as the bytes of its name: what `column::text` gives.

#![expect(unsafe_code, reason = "reads datums")]

use crate::call::fmgr::{detoasted, is_plain};
use crate::pg::contain;
use pgrx::pg_sys;
use std::ffi::CStr;
use std::io::Write;

/// Types of columns that hold names.
pub fn holds_names(type_oid: pg_sys::Oid) -> bool {
    [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::NAMEOID, pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::UUIDOID]
        .contains(&type_oid)
}

/// Appends the value's text to `out`. Returns false if memory runs out.
///
/// # Safety
/// `datum` is a non-null value of `type_oid`, which holds names.
pub unsafe fn write(type_oid: pg_sys::Oid, datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    /// Bytes of the longest value that is not a text.
    const SHORT: usize = 64;
    if matches!(type_oid, pg_sys::TEXTOID | pg_sys::VARCHAROID) {
        // SAFETY: the caller's promise.
        return unsafe { write_text(datum, out) };
    }
    if out.try_reserve(SHORT).is_err() {
        return false;
    }
    // SAFETY: the caller's promise. Writing to a Vec cannot fail.
    unsafe {
        match type_oid {
            pg_sys::INT4OID => _ = write!(out, "{}", datum.value() as i32),
            pg_sys::INT8OID => _ = write!(out, "{}", datum.value() as i64),
            pg_sys::UUIDOID => {
                let bytes: [u8; 16] = datum.cast_mut_ptr::<[u8; 16]>().read();
                for (i, byte) in bytes.iter().enumerate() {
                    let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
                    _ = write!(out, "{dash}{byte:02x}");
                }
            }
            _ => out.extend_from_slice(CStr::from_ptr(datum.cast_mut_ptr()).to_bytes()),
        }
    }
    true
}

/// Length of a text that is compressed or stored out of line, without reading it; 0 for any other value.
///
/// # Safety
/// As for [`write`].
pub unsafe fn bytes_elsewhere(type_oid: pg_sys::Oid, datum: pg_sys::Datum) -> usize {
    if !matches!(type_oid, pg_sys::TEXTOID | pg_sys::VARCHAROID) {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match is_plain(datum.cast_mut_ptr()) {
            true => 0,
            false => pg_sys::toast_raw_datum_size(datum),
        }
    }
}

/// [`write`], but never raises: returns false for a value that cannot be read (its TOAST table is damaged). Query cancels wait meanwhile.
///
/// # Safety
/// As for [`write`].
pub unsafe fn try_write(type_oid: pg_sys::Oid, datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    // SAFETY: the caller's promise. QueryCancelHoldoffCount is this process's; an ERROR sets it to 0.
    unsafe {
        let is_text = matches!(type_oid, pg_sys::TEXTOID | pg_sys::VARCHAROID);
        if !is_text || is_plain(datum.cast_mut_ptr()) {
            return write(type_oid, datum, out);
        }
        let held = pg_sys::QueryCancelHoldoffCount;
        pg_sys::QueryCancelHoldoffCount = held + 1;
        let written = contain::attempt(|| write_text(datum, out));
        pg_sys::QueryCancelHoldoffCount = held;
        written == Some(true)
    }
}

/// [`write`] for a text.
///
/// # Safety
/// As for [`write`].
unsafe fn write_text(datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let stored = datum.cast_mut_ptr::<pg_sys::varlena>();
        let text = detoasted(stored);
        let bytes = std::slice::from_raw_parts(pgrx::vardata_any(text).cast::<u8>(), pgrx::varsize_any_exhdr(text));
        let room = out.try_reserve(bytes.len()).is_ok();
        if room {
            out.extend_from_slice(bytes);
        }
        if text != stored {
            pg_sys::pfree(text.cast());
        }
        room
    }
}
