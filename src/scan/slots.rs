//! Rows into the node's slot: pointers to where their values lie.

#![expect(unsafe_code, reason = "the executor's slots")]

use crate::row::varlena_header;
use cftrag_core::{Relation, Walk};
use pgrx::prelude::*;

/// A text as PostgreSQL holds it.
#[repr(C, align(4))]
struct Text<const N: usize> {
    header: [u8; 4],
    bytes: [u8; N],
}

static ANCESTOR: Text<8> = Text { header: varlena_header(8), bytes: *b"ancestor" };
static DESCENDANT: Text<10> = Text { header: varlena_header(10), bytes: *b"descendant" };

/// ExecClearTuple of a virtual slot.
///
/// # Safety
/// A virtual slot.
#[inline]
pub unsafe fn clear(slot: *mut pg_sys::TupleTableSlot) {
    // SAFETY: the caller's promise; what frees a materialised row raises nothing.
    unsafe {
        if u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_SHOULDFREE != 0
            && let Some(clear) = (*(*slot).tts_ops).clear
        {
            clear(slot);
        }
        (*slot).tts_flags |= pg_sys::TTS_FLAG_EMPTY as u16;
        (*slot).tts_nvalid = 0;
    }
}

/// The type of a row as a value, and memory that lasts until the next row.
pub type Whole = (pg_sys::TupleDesc, pg_sys::MemoryContext);

/// The values of a row, as cft_context's columns are numbered. The tree alone can be NULL.
trait Source {
    fn value(&self, column: u8) -> Option<pg_sys::Datum>;
}

struct InWalk<'a>(&'a Walk, &'a cftrag_core::Row);

impl Source for InWalk<'_> {
    #[inline]
    fn value(&self, column: u8) -> Option<pg_sys::Datum> {
        let Self(walk, row) = self;
        let text = |name| pg_sys::Datum::from(walk.name_with_prefix(name).as_ptr());
        Some(match column {
            1 => text(walk.entity(row.group)),
            2 => return row.tree.map(text),
            3 => match row.relation {
                Relation::Ancestor => pg_sys::Datum::from(&raw const ANCESTOR),
                Relation::Descendant => pg_sys::Datum::from(&raw const DESCENDANT),
            },
            4 => pg_sys::Datum::from(row.depth as i32),
            5 => text(row.relative),
            _ => text(row.via),
        })
    }
}

/// A slot whose columns are there.
struct InSlot(*mut pg_sys::TupleTableSlot);

impl Source for InSlot {
    fn value(&self, column: u8) -> Option<pg_sys::Datum> {
        let n = usize::from(column) - 1;
        // SAFETY: `copy` made the values ready; they stay where they are until the next row is fetched.
        unsafe { (!*(*self.0).tts_isnull.add(n)).then(|| *(*self.0).tts_values.add(n)) }
    }
}

/// # Safety
/// An empty virtual slot with those columns; for column 0, the row itself, there is `whole`.
pub unsafe fn fill(slot: *mut pg_sys::TupleTableSlot, walk: &Walk, row: usize, columns: &[u8], whole: Option<Whole>) {
    // SAFETY: the caller's promise.
    unsafe { put(slot, &InWalk(walk, &walk.rows()[row]), columns, whole) };
}

/// The same from a slot with a row of cft_context.
///
/// # Safety
/// As for [`fill`].
pub unsafe fn copy(
    slot: *mut pg_sys::TupleTableSlot,
    from: *mut pg_sys::TupleTableSlot,
    columns: &[u8],
    whole: Option<Whole>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        pg_sys::slot_getsomeattrs_int(from, (*(*from).tts_tupleDescriptor).natts);
        put(slot, &InSlot(from), columns, whole);
    }
}

/// # Safety
/// As for [`fill`].
#[inline]
unsafe fn put(slot: *mut pg_sys::TupleTableSlot, row: &impl Source, columns: &[u8], whole: Option<Whole>) {
    // SAFETY: the caller's promise.
    unsafe {
        for (n, &column) in columns.iter().enumerate() {
            let value = match whole {
                Some(whole) if column == 0 => Some(composite(row, whole)),
                _ => row.value(column),
            };
            *(*slot).tts_isnull.add(n) = value.is_none();
            *(*slot).tts_values.add(n) = value.unwrap_or(pg_sys::Datum::from(0usize));
        }
        (*slot).tts_flags &= !(pg_sys::TTS_FLAG_EMPTY as u16);
        (*slot).tts_nvalid = columns.len() as pg_sys::AttrNumber;
    }
}

/// The row as a value.
///
/// # Safety
/// The descriptor is of cft_context's row type; nobody uses what is in the memory.
unsafe fn composite(row: &impl Source, (desc, memory): Whole) -> pg_sys::Datum {
    let values = [1, 2, 3, 4, 5, 6].map(|column| row.value(column));
    let mut nulls = values.map(|value| value.is_none());
    let mut values = values.map(|value| value.unwrap_or(pg_sys::Datum::from(0usize)));
    // SAFETY: the caller's promise; both are copied.
    unsafe {
        pg_sys::MemoryContextReset(memory);
        let before = pg_sys::MemoryContextSwitchTo(memory);
        let tuple = pg_sys::heap_form_tuple(desc, values.as_mut_ptr(), nulls.as_mut_ptr());
        let value = pg_sys::heap_copy_tuple_as_datum(tuple, desc);
        pg_sys::MemoryContextSwitchTo(before);
        value
    }
}
