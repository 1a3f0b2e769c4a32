//! Rows of text and integer columns, formed as the executor keeps them. PostgreSQL's own forming, which asks each column's type at each
//! value, is half of what a row costs; here the columns are known.
//!
//!   | HeapTupleHeader, 23 bytes | bitmap, 1 byte | text: 1 byte header, bytes | ... | pad to 4 | integer | ...

#![expect(unsafe_code, reason = "PostgreSQL's tuple format")]

use crate::call::fmgr::Rows;
use crate::ffi::pg_guard_ffi_boundary;
use cftrag_core::Prefix;
use pgrx::pg_sys;
use std::mem::offset_of;

/// Header and null bitmap of up to 8 columns, aligned as data must be.
const HEAD: usize = 24;

const _: () = assert!(offset_of!(pg_sys::HeapTupleHeaderData, t_bits) + 1 == HEAD && HEAD.is_multiple_of(8));

const MASK: usize = offset_of!(pg_sys::HeapTupleHeaderData, t_infomask);

const COLUMNS: usize = offset_of!(pg_sys::HeapTupleHeaderData, t_infomask2);

const HOFF: usize = offset_of!(pg_sys::HeapTupleHeaderData, t_hoff);

const BITS: usize = offset_of!(pg_sys::HeapTupleHeaderData, t_bits);

/// Rows are seldom longer.
const ROOM: usize = 512;

/// VARATT_SHORT_MAX (varatt.h): a longer text has a header of 4 bytes.
const SHORT_MAX: usize = 0x7f;

/// A row being formed; its room is used again.
pub struct Row {
    bytes: Vec<u8>,
    column: u8,
    /// A bit for each column that is not NULL.
    bits: u8,
}

impl Row {
    /// For rows of `columns` columns, 8 at most.
    fn new(columns: u8) -> Self {
        let mut bytes = Vec::with_capacity(ROOM);
        bytes.resize(HEAD, 0);
        bytes[COLUMNS..COLUMNS + 2].copy_from_slice(&u16::from(columns).to_ne_bytes());
        bytes[HOFF] = HEAD as u8;
        Self { bytes, column: 0, bits: 0 }
    }

    fn begin(&mut self) {
        self.bytes.truncate(HEAD);
        (self.column, self.bits) = (0, 0);
    }

    fn next(&mut self, here: bool) {
        self.bits |= u8::from(here) << self.column;
        self.column += 1;
    }

    pub fn null(&mut self) {
        self.next(false);
    }

    pub fn text(&mut self, value: &[u8]) {
        self.next(true);
        let size = value.len() + 1;
        if size <= SHORT_MAX {
            self.bytes.push(if cfg!(target_endian = "big") { size as u8 | 0x80 } else { (size as u8) << 1 | 1 });
        } else {
            self.align();
            self.bytes.extend_from_slice(&varlena_header(value.len()));
        }
        self.bytes.extend_from_slice(value);
    }

    pub fn int(&mut self, value: i32) {
        self.next(true);
        self.align();
        self.bytes.extend_from_slice(&value.to_ne_bytes());
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// The finished row. It points into this one.
    fn tuple(&mut self) -> pg_sys::HeapTupleData {
        let all = self.bits.count_ones() == u32::from(self.column);
        let mask = pg_sys::HEAP_HASVARWIDTH as u16 | if all { 0 } else { pg_sys::HEAP_HASNULL as u16 };
        self.bytes[MASK..MASK + 2].copy_from_slice(&mask.to_ne_bytes());
        self.bytes[BITS] = self.bits;
        pg_sys::HeapTupleData {
            t_len: self.bytes.len() as u32,
            t_data: self.bytes.as_mut_ptr().cast(),
            ..Default::default()
        }
    }
}

/// What PostgreSQL puts before the bytes of a text: SET_VARSIZE_4B, of less than 1 GB.
pub const HEADERS: Prefix = match cfg!(target_endian = "big") {
    true => Prefix { plus: 4, times: 1 },
    false => Prefix { plus: 16, times: 4 },
};

/// The header of a text of so many bytes.
pub const fn varlena_header(len: usize) -> [u8; 4] {
    HEADERS.of(len as u32).to_ne_bytes()
}

unsafe extern "C-unwind" {
    /// Without pgrx's guard, which would cost a third of the call.
    fn tuplestore_puttuple(state: *mut pg_sys::Tuplestorestate, tuple: *mut pg_sys::HeapTupleData);
}

/// Adds a row for each of `values`, which `form` fills in column by column: texts (or types stored like them) and integers.
pub fn add_all<T>(rows: Rows, columns: u8, values: &[T], form: impl Fn(&T, &mut Row)) {
    let mut row = Row::new(columns);
    // SAFETY: a tuplestore of this call; it copies the tuple, whose parts are as its descriptor says. An ERROR jumps out of the closure,
    // which owns nothing.
    unsafe {
        pg_guard_ffi_boundary(|| {
            for value in values {
                row.begin();
                form(value, &mut row);
                tuplestore_puttuple(rows.store(), &mut row.tuple());
            }
        });
    }
}
