//! Rows that a statement returned, kept in a tuplestore: on disk beyond work_mem.

#![expect(unsafe_code, reason = "a tuplestore and a slot")]

use crate::call::fmgr::{Rows, text_bytes};
use crate::call::work_memory::{Room, copy};
use crate::catalog::statement::Statement;
use crate::error::Fallible;
use crate::serve::plans::{Planning, Value, run_into};
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::BTreeMap;

/// A tuplestore of rows of some types.
pub struct Found {
    store: *mut pg_sys::Tuplestorestate,
    desc: pg_sys::TupleDesc,
    is_own: bool,
}

/// A row, while it is the current one.
pub struct Row(*mut pg_sys::TupleTableSlot);

impl Found {
    /// Without rows yet, of columns of these types.
    pub fn of(types: &[pg_sys::Oid]) -> Self {
        // SAFETY: a descriptor of that many columns, each of which is initialised; a tuplestore that the transaction's abort frees after an ERROR.
        unsafe {
            let desc = pg_sys::CreateTemplateTupleDesc(types.len() as i32);
            for (n, of) in (1..).zip(types) {
                pg_sys::TupleDescInitEntry(desc, n, std::ptr::null(), *of, -1, 0);
            }
            Self { store: pg_sys::tuplestore_begin_heap(false, false, pg_sys::work_mem), desc, is_own: true }
        }
    }

    /// The result of a call, which returns what is found.
    pub fn into(rows: Rows) -> Self {
        Self { store: rows.store(), desc: std::ptr::null_mut(), is_own: false }
    }

    /// Adds the rows of a statement, whose select list has the types; returns how many they are.
    pub fn run(&mut self, sql: &str, planning: Planning, values: &[Value]) -> u64 {
        run_into(&Statement::over(sql, &[]), planning, values, self.store)
    }

    /// Where rows can be added.
    pub fn rows(&mut self) -> Rows {
        Rows::of(self.store, self.desc)
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        // SAFETY: our own tuplestore.
        unsafe { pg_sys::tuplestore_clear(self.store) };
    }

    /// Passes each row on, in order. The texts of a row are valid until the next one.
    pub fn each(&self, mut take: impl FnMut(&Row) -> Fallible<()>) -> Fallible<()> {
        // SAFETY: our own tuplestore and slot.
        unsafe {
            pg_sys::tuplestore_rescan(self.store);
            let slot = pg_sys::MakeSingleTupleTableSlot(self.desc, &raw const pg_sys::TTSOpsMinimalTuple);
            let mut done = Ok(());
            // What a row's texts take, which may be megabytes each, goes with it.
            let row = pg_sys::AllocSetContextCreateExtended(
                pg_sys::CurrentMemoryContext,
                c"cftrag row".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
            while done.is_ok() && pg_sys::tuplestore_gettupleslot(self.store, true, false, slot) {
                check_for_interrupts!();
                pg_sys::slot_getsomeattrs_int(slot, (*self.desc).natts);
                let before = pg_sys::MemoryContextSwitchTo(row);
                done = take(&Row(slot));
                pg_sys::MemoryContextSwitchTo(before);
                pg_sys::MemoryContextReset(row);
            }
            pg_sys::MemoryContextDelete(row);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            done
        }
    }
}

impl Found {
    /// The rows of two columns of type text, by the first. 53400, 53200.
    pub fn texts(&self) -> Fallible<BTreeMap<Vec<u8>, Vec<u8>>> {
        /// Bytes of a row, besides its texts.
        const EACH: usize = 96;
        let (mut all, mut room) = (BTreeMap::new(), Room::new());
        self.each(|row| {
            room.take(EACH)?;
            if let (Some(one), Some(other)) = (row.copy(0, &mut room)?, row.copy(1, &mut room)?) {
                all.insert(one, other);
            }
            Ok(())
        })?;
        Ok(all)
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        // While an ERROR unwinds, the abort frees it.
        if self.is_own && !std::thread::panicking() {
            // SAFETY: our own tuplestore, which nothing uses any more.
            unsafe { pg_sys::tuplestore_end(self.store) };
        }
    }
}

impl Row {
    fn get(&self, n: usize) -> Option<pg_sys::Datum> {
        // SAFETY: a column that the slot holds.
        unsafe { (!*(*self.0).tts_isnull.add(n)).then(|| *(*self.0).tts_values.add(n)) }
    }

    /// A column of type text.
    pub fn text(&self, n: usize) -> Option<&[u8]> {
        // SAFETY: a text value.
        self.get(n).map(|value| unsafe { text_bytes(value) })
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
