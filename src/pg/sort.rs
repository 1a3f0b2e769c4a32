//! PostgreSQL's own sort: in memory up to maintenance_work_mem, then in temporary files (temp_file_limit applies). May
//! be cancelled at any time.
//!
//! What is dropped without [`Sort::end`] is freed with the caller's memory context and resource owner.

#![expect(unsafe_code, reason = "tuplesort")]

use pgrx::pg_sys;
use std::marker::PhantomData;

/// The most memory of a sort, in kB: PostgreSQL writes all of it without a look at interrupts.
const MOST_KB: i32 = 32 << 10;

/// The operators `<` of bytea and uuid: both compare bytes.
const BYTEA_LESS: u32 = 1957;

const UUID_LESS: u32 = 2974;

/// What is sorted.
pub trait Item {
    type Of<'i>;
    const TYPE: pg_sys::Oid;
    const LESS: u32;

    fn put(item: Self::Of<'_>, put: impl FnOnce(pg_sys::Datum));

    /// # Safety
    /// A datum of the type; the result is valid as long as it is.
    unsafe fn get(datum: &pg_sys::Datum) -> Self::Of<'_>;
}

/// Bytes, as many as a value may have.
pub struct Bytes;

impl Item for Bytes {
    type Of<'i> = &'i [u8];
    const TYPE: pg_sys::Oid = pg_sys::BYTEAOID;
    const LESS: u32 = BYTEA_LESS;

    fn put(item: &[u8], put: impl FnOnce(pg_sys::Datum)) {
        let value = pgrx::rust_byte_slice_to_bytea(item).into_pg();
        put(pg_sys::Datum::from(value));
        // SAFETY: allocated above; the sort has copied it.
        unsafe { pg_sys::pfree(value.cast()) };
    }

    unsafe fn get(datum: &pg_sys::Datum) -> &[u8] {
        // SAFETY: the caller's promise; a sort returns values as they were put, neither compressed nor elsewhere.
        unsafe { pgrx::varlena_to_byte_slice(datum.cast_mut_ptr()) }
    }
}

/// Two numbers, the first compared first.
pub struct Pairs;

impl Item for Pairs {
    type Of<'i> = (u64, u64);
    const TYPE: pg_sys::Oid = pg_sys::UUIDOID;
    const LESS: u32 = UUID_LESS;

    fn put((first, second): (u64, u64), put: impl FnOnce(pg_sys::Datum)) {
        let bytes = (u128::from(first) << 64 | u128::from(second)).to_be_bytes();
        put(pg_sys::Datum::from(bytes.as_ptr()));
    }

    unsafe fn get(datum: &pg_sys::Datum) -> (u64, u64) {
        // SAFETY: the caller's promise: a uuid is 16 bytes.
        let both = u128::from_be_bytes(unsafe { datum.cast_mut_ptr::<[u8; 16]>().read() });
        ((both >> 64) as u64, both as u64)
    }
}

pub struct Sort<T> {
    state: *mut pg_sys::Tuplesortstate,
    /// The value that was returned last.
    last: Option<pg_sys::Datum>,
    of: PhantomData<T>,
}

impl<T: Item> Sort<T> {
    /// A sort that has its `share`th part of maintenance_work_mem.
    pub fn new(share: i32) -> Self {
        // SAFETY: a type and its operator; the memory is the current context's.
        let state = unsafe {
            let kb = (pg_sys::maintenance_work_mem / share).clamp(64, MOST_KB);
            let less = pg_sys::Oid::from(T::LESS);
            pg_sys::tuplesort_begin_datum(T::TYPE, less, pg_sys::InvalidOid, false, kb, std::ptr::null_mut(), 0)
        };
        Self { state, last: None, of: PhantomData }
    }

    pub fn add(&mut self, item: T::Of<'_>) {
        // SAFETY: a datum of the type, not null, which the sort copies.
        T::put(item, |datum| unsafe { pg_sys::tuplesort_putdatum(self.state, datum, false) });
    }

    /// Called once, when all items are added.
    pub fn sort(&mut self) {
        // SAFETY: between adding and reading.
        unsafe { pg_sys::tuplesort_performsort(self.state) };
    }

    /// The next item; it is valid until the next call.
    pub fn next(&mut self) -> Option<T::Of<'_>> {
        let (mut datum, mut null) = (pg_sys::Datum::from(0usize), false);
        self.free_last();
        let none = std::ptr::null_mut();
        // SAFETY: after performsort; since 16, the value stays the sort's if it is not copied.
        unsafe {
            #[cfg(feature = "pg15")]
            let is_there = pg_sys::tuplesort_getdatum(self.state, true, &mut datum, &mut null, none);
            #[cfg(not(feature = "pg15"))]
            let is_there = pg_sys::tuplesort_getdatum(self.state, true, false, &mut datum, &mut null, none);
            if !is_there {
                return None;
            }
            Some(T::get(self.last.insert(datum)))
        }
    }

    fn free_last(&mut self) {
        let _last = self.last.take();
        #[cfg(feature = "pg15")]
        if let Some(last) = _last {
            // SAFETY: 15 returns a copy, which is the caller's.
            unsafe { pg_sys::pfree(last.cast_mut_ptr()) };
        }
    }

    pub fn end(mut self) {
        self.free_last();
        // SAFETY: not used any more.
        unsafe { pg_sys::tuplesort_end(self.state) };
    }
}
