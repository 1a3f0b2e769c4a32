//! Rows kept in a tuplestore: on disk beyond work_mem.

#![expect(unsafe_code, reason = "a tuplestore and a slot")]

use crate::call::fmgr::Rows;
use crate::call::tuple::varlena;
use crate::call::work_memory::{Room, copy};
use crate::error::Fallible;
use crate::pg::relation::Desc;
use pgrx::{check_for_interrupts, pg_sys};

/// A tuplestore of rows of some types.
pub struct Store {
    rows: Rows,
    is_own: bool,
}

/// A row, while it is the current one.
pub struct Row<'s> {
    values: &'s [pg_sys::Datum],
    nulls: &'s [bool],
    desc: &'s Desc,
}

impl Store {
    /// Without rows yet, of columns of these types.
    pub fn of(types: &[pg_sys::Oid]) -> Self {
        // SAFETY: a descriptor of that many columns, each of which is initialised; a tuplestore that the transaction's
        // abort frees after an ERROR.
        unsafe {
            let desc = pg_sys::CreateTemplateTupleDesc(types.len() as i32);
            for (n, of) in (1..).zip(types) {
                pg_sys::TupleDescInitEntry(desc, n, std::ptr::null(), *of, -1, 0);
            }
            Self { rows: Rows::of(pg_sys::tuplestore_begin_heap(false, false, pg_sys::work_mem), desc), is_own: true }
        }
    }

    /// The result of a call, which returns what is found.
    pub fn into(rows: Rows) -> Self {
        Self { rows, is_own: false }
    }

    /// Where rows can be added.
    pub fn rows(&mut self) -> Rows {
        self.rows
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        // SAFETY: our own tuplestore.
        unsafe { pg_sys::tuplestore_clear(self.rows.store()) };
    }

    /// Passes each row on, in order. The texts of a row are valid until the next one, and so is what `take` allocates.
    pub fn each(&self, mut take: impl FnMut(&Row) -> Fallible<()>) -> Fallible<()> {
        // SAFETY: a context of our own; after an ERROR it is freed with its parent.
        unsafe {
            // What a row's texts take, which may be megabytes each, goes with it.
            let memory = pg_sys::AllocSetContextCreateExtended(
                pg_sys::CurrentMemoryContext,
                c"cftrag row".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
            let done = self.each_kept(|row| {
                let before = pg_sys::MemoryContextSwitchTo(memory);
                let done = take(row);
                pg_sys::MemoryContextSwitchTo(before);
                pg_sys::MemoryContextReset(memory);
                done
            });
            pg_sys::MemoryContextDelete(memory);
            done
        }
    }

    /// Does what [`Store::each`] does, and keeps what `take` allocates.
    pub fn each_kept(&self, mut take: impl FnMut(&Row) -> Fallible<()>) -> Fallible<()> {
        let (store, count) = (self.rows.store(), self.rows.desc().len() as usize);
        self.rows.rewind();
        // SAFETY: a tuplestore with its descriptor, and a slot of our own.
        unsafe {
            let slot = pg_sys::MakeSingleTupleTableSlot(self.rows.desc().raw(), &raw const pg_sys::TTSOpsMinimalTuple);
            let mut done = Ok(());
            while done.is_ok() && pg_sys::tuplestore_gettupleslot(store, true, false, slot) {
                check_for_interrupts!();
                pg_sys::slot_getsomeattrs_int(slot, count as i32);
                let values = std::slice::from_raw_parts((*slot).tts_values, count);
                let nulls = std::slice::from_raw_parts((*slot).tts_isnull, count);
                done = take(&Row { values, nulls, desc: self.rows.desc() });
            }
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            done
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // While an ERROR unwinds, the abort frees it.
        if self.is_own && !std::thread::panicking() {
            // SAFETY: our own tuplestore, which nothing uses any more.
            unsafe { pg_sys::tuplestore_end(self.rows.store()) };
        }
    }
}

impl Row<'_> {
    fn get(&self, n: usize) -> Option<pg_sys::Datum> {
        (!self.nulls[n]).then(|| self.values[n])
    }

    /// A column of type text.
    pub fn text(&self, n: usize) -> Option<&[u8]> {
        // SAFETY: a value of the row.
        self.get(n).map(|value| unsafe { varlena(self.desc, n as i32 + 1, value) })
    }

    /// A copy of a column of type text. 53400, 53200.
    pub fn copy(&self, n: usize, room: &mut Room) -> Fallible<Option<Vec<u8>>> {
        self.text(n)
            .map(|text| {
                room.take(text.len())?;
                copy(text, &mut Room::new())
            })
            .transpose()
    }

    /// A column of type integer.
    pub fn int(&self, n: usize) -> Option<i32> {
        self.get(n).map(|value| value.value() as i32)
    }

    /// A column of type bigint.
    pub fn long(&self, n: usize) -> Option<i64> {
        self.get(n).map(|value| value.value() as i64)
    }

    /// A column of type real.
    pub fn real(&self, n: usize) -> Option<f32> {
        self.get(n).map(|value| f32::from_bits(value.value() as u32))
    }

    /// A column of type double precision.
    pub fn float(&self, n: usize) -> Option<f64> {
        self.get(n).map(|value| f64::from_bits(value.value() as u64))
    }
}
