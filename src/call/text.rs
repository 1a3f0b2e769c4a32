//! Values that are stored as texts are: read in place, or detoasted into memory that lives as long as the value.

#![expect(unsafe_code, reason = "the layout of varlenas")]

use pgrx::pg_sys;
use std::marker::PhantomData;

/// A value of type text, or of another type that is stored as a text is: bytea, jsonb, an array, a vector.
#[derive(Clone, Copy)]
pub struct Text<'v> {
    value: pg_sys::Datum,
    /// For a copy, if it is compressed or out of line.
    memory: pg_sys::MemoryContext,
    lives: PhantomData<&'v [u8]>,
}

impl<'v> Text<'v> {
    /// # Safety
    /// A value of such a type; it and the memory live so long.
    pub unsafe fn of(value: pg_sys::Datum, memory: pg_sys::MemoryContext) -> Self {
        Self { value, memory, lives: PhantomData }
    }

    /// # Safety
    /// A value of such a type; it and the current memory context live so long.
    pub unsafe fn here(value: pg_sys::Datum) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::of(value, pg_sys::CurrentMemoryContext) }
    }

    pub fn datum(self) -> pg_sys::Datum {
        self.value
    }

    /// Another value, which lives as long.
    pub fn part(self, value: pg_sys::Datum) -> Self {
        Self { value, ..self }
    }

    pub fn bytes(self) -> &'v [u8] {
        // SAFETY: of()'s promise.
        unsafe {
            if is_plain(self.value.cast_mut_ptr()) {
                return text_bytes(self.value);
            }
            self.in_its_memory(|| text_bytes(self.value))
        }
    }

    /// Makes what lives as long as the value does.
    pub fn in_its_memory<R>(self, make: impl FnOnce() -> R) -> R {
        // SAFETY: a context that lives; after an ERROR the abort leaves it.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.memory);
            let made = make();
            pg_sys::MemoryContextSwitchTo(before);
            made
        }
    }
}

/// # Safety
/// `datum` is a text (or varchar, bytea) value.
pub unsafe fn text_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: the caller's promise; a detoasted copy lives in the caller's memory context.
    unsafe {
        let text = detoasted(datum.cast_mut_ptr());
        std::slice::from_raw_parts(pgrx::vardata_any(text).cast::<u8>(), pgrx::varsize_any_exhdr(text))
    }
}

/// Detoasts as pg_detoast_datum_packed does: returns the value itself if it is stored plainly, usually without a call,
/// else a palloc'd copy.
///
/// # Safety
/// A varlena.
pub unsafe fn detoasted(stored: *mut pg_sys::varlena) -> *mut pg_sys::varlena {
    // SAFETY: the caller's promise.
    unsafe { if is_plain(stored) { stored } else { pg_sys::pg_detoast_datum_packed(stored) } }
}

/// Whether a varlena is stored plainly: neither compressed nor out of line.
///
/// # Safety
/// A varlena.
pub unsafe fn is_plain(stored: *mut pg_sys::varlena) -> bool {
    // SAFETY: the caller's promise.
    unsafe { pgrx::varatt_is_4b_u(stored) || pgrx::varatt_is_1b(stored) && !pgrx::varatt_is_1b_e(stored) }
}
