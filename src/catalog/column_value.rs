//! A column's value as the bytes of its name: what `column::text` gives.

#![expect(unsafe_code, reason = "reads datums")]

use crate::call::text::{detoasted, is_plain};
use crate::pg::backend::Meanwhile;
use crate::pg::relation::Tuple;
use crate::pg::{contain, lookup};
use pgrx::pg_sys;
use std::ffi::CStr;
use std::io::Write;

/// Types of columns that hold names. A column of a domain counts as one of the domain's base type.
const TYPES: [pg_sys::Oid; 9] = [
    pg_sys::TEXTOID,
    pg_sys::VARCHAROID,
    pg_sys::BPCHAROID,
    pg_sys::NAMEOID,
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::NUMERICOID,
    pg_sys::UUIDOID,
];

pub fn holds_names(type_oid: pg_sys::Oid) -> bool {
    TYPES.contains(&type_oid)
}

/// Types whose values may be compressed or stored out of line.
fn is_varlena(type_oid: pg_sys::Oid) -> bool {
    matches!(type_oid, pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID | pg_sys::NUMERICOID)
}

/// Appends the value's text to `out`. Returns false if memory runs out.
///
/// # Safety
/// `datum` is a non-null value of `type_oid`, which holds names.
pub unsafe fn write(type_oid: pg_sys::Oid, datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    /// Bytes of the longest value that is not a text.
    const SHORT: usize = 64;
    // SAFETY: the caller's promise.
    unsafe {
        match type_oid {
            pg_sys::TEXTOID | pg_sys::VARCHAROID => return write_text(datum, out),
            pg_sys::BPCHAROID => return write_unpadded(datum, out),
            pg_sys::NUMERICOID => return write_numeric(datum, out),
            _ => {}
        }
    }
    if out.try_reserve(SHORT).is_err() {
        return false;
    }
    // SAFETY: the caller's promise. Writing to a Vec cannot fail.
    unsafe {
        match type_oid {
            pg_sys::INT2OID => _ = write!(out, "{}", datum.value() as i16),
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

/// The text of an attribute of a row that a trigger fires for; None for NULL, and if memory runs out.
pub fn of_fired(row: &Tuple<'_>, number: i32) -> Option<Vec<u8>> {
    let (of, value, mut name) = (row.desc.column(number)?.atttypid, row.value(number)?, Vec::new());
    let of = lookup::getBaseType(of);
    assert!(holds_names(of), "a column of names");
    // SAFETY: a value of that type, or of a domain over it.
    unsafe { write(of, value, &mut name) }.then_some(name)
}

/// Length of a text that is compressed or stored out of line, without reading it; 0 for any other value.
///
/// # Safety
/// As for [`write`].
pub unsafe fn bytes_elsewhere(type_oid: pg_sys::Oid, datum: pg_sys::Datum) -> usize {
    if !is_varlena(type_oid) {
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

/// Appends like [`write`], but never raises: returns false for a value that cannot be read (its TOAST table is
/// damaged). Holds off query cancels while it reads.
///
/// # Safety
/// As for [`write`].
pub unsafe fn try_write(type_oid: pg_sys::Oid, datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    // SAFETY: the caller's promise. QueryCancelHoldoffCount is this process's; an ERROR sets it to 0.
    unsafe {
        let is_safe = type_oid != pg_sys::NUMERICOID && (!is_varlena(type_oid) || is_plain(datum.cast_mut_ptr()));
        if is_safe {
            return write(type_oid, datum, out);
        }
        let _held = Meanwhile::new(&raw mut pg_sys::QueryCancelHoldoffCount, |count| count + 1);
        contain::attempt(|| write(type_oid, datum, out)) == Some(true)
    }
}

/// Appends a char(n) without the blanks at its end, as its cast to text does.
///
/// # Safety
/// As for [`write`].
unsafe fn write_unpadded(datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    let before = out.len();
    // SAFETY: the caller's promise; it is stored as a text is.
    let written = unsafe { write_text(datum, out) };
    let blanks = out[before..].iter().rev().take_while(|byte| **byte == b' ').count();
    out.truncate(out.len() - blanks);
    written
}

/// Appends a numeric.
///
/// # Safety
/// As for [`write`].
unsafe fn write_numeric(datum: pg_sys::Datum, out: &mut Vec<u8>) -> bool {
    // SAFETY: the caller's promise; the function gives a C string of this memory context.
    unsafe {
        let text = pg_sys::OidOutputFunctionCall(pg_sys::Oid::from(pg_sys::F_NUMERIC_OUT), datum);
        let bytes = CStr::from_ptr(text).to_bytes();
        let room = out.try_reserve(bytes.len()).is_ok();
        if room {
            out.extend_from_slice(bytes);
        }
        pg_sys::pfree(text.cast());
        room
    }
}

/// Appends a text.
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
