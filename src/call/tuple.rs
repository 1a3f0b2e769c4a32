//! Rows of texts and integers for a tuplestore.

#![expect(unsafe_code, reason = "memory contexts")]

use crate::call::fmgr::{Rows, text_datum};
use crate::call::text::text_bytes;
use crate::pg::relation::Desc;
use cftrag_core::Prefix;
use pgrx::pg_sys;

/// What precedes the bytes of a text in PostgreSQL: SET_VARSIZE_4B, for less than 1 GB.
pub const HEADERS: Prefix = match cfg!(target_endian = "big") {
    true => Prefix { plus: 4, times: 1 },
    false => Prefix { plus: 16, times: 4 },
};

/// The header of a text of that many bytes.
pub const fn varlena_header(len: usize) -> [u8; 4] {
    HEADERS.of(len as u32).to_ne_bytes()
}

/// A constant as a text with its header, with PostgreSQL's alignment.
#[repr(align(4))]
pub struct Constant<const N: usize>(pub [u8; N]);

impl<const N: usize> Constant<N> {
    /// The text behind four bytes, which make room for the header.
    pub const fn of(text: &[u8; N]) -> Self {
        let (mut all, header) = (*text, varlena_header(N - 4));
        let mut i = 0;
        while i < 4 {
            all[i] = header[i];
            i += 1;
        }
        Self(all)
    }
}

/// Rows whose texts are kept before their memory is reset.
const ROWS_PER_RESET: usize = 16;

/// A row of N columns under construction; columns are given in order.
pub struct Row<const N: usize> {
    values: [pg_sys::Datum; N],
    nulls: [bool; N],
    column: usize,
}

impl<const N: usize> Row<N> {
    fn next(&mut self, value: Option<pg_sys::Datum>) {
        self.values[self.column] = value.unwrap_or(pg_sys::Datum::null());
        self.nulls[self.column] = value.is_none();
        self.column += 1;
    }

    pub fn null(&mut self) {
        self.next(None);
    }

    pub fn text(&mut self, value: &[u8]) {
        self.next(Some(text_datum(value)));
    }

    /// A text, or NULL.
    pub fn any(&mut self, value: Option<&[u8]>) {
        self.next(value.map(text_datum));
    }

    /// A text with its header ([`HEADERS`]), which must stay in place until the row is added.
    pub fn prefixed(&mut self, value: &[u8]) {
        self.next(Some(pg_sys::Datum::from(value.as_ptr())));
    }

    pub fn int(&mut self, value: i32) {
        self.next(Some(pg_sys::Datum::from(value)));
    }

    pub fn real(&mut self, value: f32) {
        self.next(Some(real(value)));
    }
}

/// The bytes of a value of a column, counted from 1, that has values of any length: a text, for example.
///
/// # Safety
/// A value of a row with that descriptor, which outlives the bytes. A copy, if one is made, is in the current memory
/// context.
pub unsafe fn varlena<'r>(desc: &Desc, n: i32, value: pg_sys::Datum) -> &'r [u8] {
    assert!(is_varlena(desc, n), "a column of type text");
    // SAFETY: the caller's promise.
    unsafe { text_bytes(value) }
}

/// Whether there is a column of that number, which has values of any length.
pub fn is_varlena(desc: &Desc, n: i32) -> bool {
    desc.column(n).is_some_and(|column| column.attlen == -1)
}

/// A value of type real.
pub fn real(value: f32) -> pg_sys::Datum {
    pg_sys::Datum::from(value.to_bits() as i32)
}

/// A value of type double precision.
pub fn float(value: f64) -> pg_sys::Datum {
    pg_sys::Datum::from(value.to_bits() as usize)
}

/// Adds a row for each of `values`; `form` gives its columns. The texts' memory is reused.
pub fn add_all<const N: usize, T>(rows: Rows, values: &[T], form: impl Fn(&T, &mut Row<N>)) {
    let mut row = Row { values: [pg_sys::Datum::null(); N], nulls: [true; N], column: 0 };
    // SAFETY: a context of our own; after an ERROR it is freed with its parent, and the abort switches to another
    // context.
    unsafe {
        let outer = pg_sys::CurrentMemoryContext;
        let (small, most) = (pg_sys::ALLOCSET_SMALL_INITSIZE as usize, pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize);
        let texts = pg_sys::AllocSetContextCreateInternal(outer, c"cftrag row".as_ptr(), 0, small, most);
        for some in values.chunks(ROWS_PER_RESET) {
            pg_sys::CurrentMemoryContext = texts;
            for value in some {
                row.column = 0;
                form(value, &mut row);
                rows.add(&mut row.values, &mut row.nulls);
            }
            pg_sys::CurrentMemoryContext = outer;
            pg_sys::MemoryContextReset(texts);
        }
        pg_sys::MemoryContextDelete(texts);
    }
}
