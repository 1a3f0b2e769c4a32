//! Fills the node's slot with a row: with pointers to where its values are.

#![expect(unsafe_code, reason = "the executor's slots")]

use crate::call::tuple;
use crate::pg::compat;
use crate::scan::arguments;
use crate::scan::function::MOST_COLUMNS;
use crate::serve::mentions::Mentions;
use crate::serve::sink::relation_with_prefix;
use crate::serve::tiers::method_with_prefix;
use cftrag_core::{Mention, Method, Walk};
use pgrx::prelude::*;

/// ExecClearTuple of a virtual slot.
///
/// # Safety
/// A virtual slot.
#[inline]
pub unsafe fn clear(slot: *mut pg_sys::TupleTableSlot) {
    // SAFETY: the caller's promise; freeing a materialised row raises nothing.
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

/// The type of a row as a value, and memory for it that is reset for the next row.
type Whole = (pg_sys::TupleDesc, pg_sys::MemoryContext);

/// The values of a row, by the function's column numbers.
pub trait RowValues {
    fn value(&self, column: u8) -> Option<pg_sys::Datum>;
}

/// A row of cft_context. Only the tree and the label can be NULL.
pub struct InWalk<'a>(pub &'a Walk, pub &'a cftrag_core::Row);

impl RowValues for InWalk<'_> {
    #[inline]
    fn value(&self, column: u8) -> Option<pg_sys::Datum> {
        let Self(walk, row) = self;
        let text = |name| pg_sys::Datum::from(walk.name_with_prefix(name).as_ptr());
        Some(match column {
            1 => text(walk.entity(row.group)),
            2 => return row.tree.map(text),
            3 => pg_sys::Datum::from(relation_with_prefix(row.relation).as_ptr()),
            4 => pg_sys::Datum::from(row.depth as i32),
            5 => text(row.relative),
            6 => text(row.via),
            _ => return row.label.map(text),
        })
    }
}

/// A row of cft_entities. Only the alias and the label can be NULL.
pub struct InText<'a>(pub &'a Mention, pub [Option<*const u8>; 4], pub Method);

impl<'a> InText<'a> {
    /// The row of that number in `found`, as [`Found::spell`] prepared it.
    pub fn of(found: &'a Mentions, row: usize) -> Self {
        let (mention, texts) = found.get(row);
        Self(mention, texts, found.method(row))
    }
}

impl RowValues for InText<'_> {
    #[inline]
    fn value(&self, column: u8) -> Option<pg_sys::Datum> {
        let Self(mention, [entity, spelled, alias, label], method) = self;
        match column {
            1 => entity.map(pg_sys::Datum::from),
            2 => spelled.map(pg_sys::Datum::from),
            // In characters, counted from 1.
            3 => Some(pg_sys::Datum::from(mention.start as i32 + 1)),
            4 => Some(pg_sys::Datum::from(mention.length as i32)),
            5 => alias.map(pg_sys::Datum::from),
            6 => label.map(pg_sys::Datum::from),
            7 => Some(pg_sys::Datum::from(method_with_prefix(*method).as_ptr())),
            _ => Some(tuple::real(method.score())),
        }
    }
}

/// A slot with deformed columns.
struct InSlot(pub *mut pg_sys::TupleTableSlot);

impl RowValues for InSlot {
    fn value(&self, column: u8) -> Option<pg_sys::Datum> {
        let n = usize::from(column) - 1;
        // SAFETY: `copy` deformed the values; they stay in place until the next row is fetched.
        unsafe { (!*(*self.0).tts_isnull.add(n)).then(|| *(*self.0).tts_values.add(n)) }
    }
}

/// [`fill`] from a slot that holds a row of the function.
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
        fill(slot, &InSlot(from), columns, whole);
    }
}

/// Puts a row into the slot.
///
/// # Safety
/// An empty virtual slot with those columns; `whole` is given if column 0, the row itself, is among them.
#[inline]
pub unsafe fn fill(slot: *mut pg_sys::TupleTableSlot, row: &impl RowValues, columns: &[u8], whole: Option<Whole>) {
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
/// The descriptor is of the function's row type; nothing in the memory is in use.
unsafe fn composite(row: &impl RowValues, (desc, memory): Whole) -> pg_sys::Datum {
    // SAFETY: the caller's promise.
    let columns = unsafe { (*desc).natts as usize };
    let mut values = [None; MOST_COLUMNS];
    values.iter_mut().zip(1..).take(columns).for_each(|(value, column)| *value = row.value(column));
    let mut nulls = values.map(|value| value.is_none());
    let mut values = values.map(|value| value.unwrap_or(pg_sys::Datum::from(0usize)));
    // SAFETY: the caller's promise; heap_form_tuple copies both.
    unsafe {
        compat::reset(memory);
        let before = pg_sys::MemoryContextSwitchTo(memory);
        let tuple = pg_sys::heap_form_tuple(desc, values.as_mut_ptr(), nulls.as_mut_ptr());
        let value = pg_sys::heap_copy_tuple_as_datum(tuple, desc);
        pg_sys::MemoryContextSwitchTo(before);
        value
    }
}

/// The columns of our rows: attribute numbers of the function's row, or 0 for the row as a value; each once.
pub struct Columns {
    room: [u8; MOST_COLUMNS + 1],
    len: usize,
}

impl Columns {
    /// # Safety
    /// A plan's list of columns, see plan.rs.
    pub unsafe fn of(list: *mut pg_sys::List) -> Self {
        // SAFETY: the caller's promise.
        let entries = unsafe { arguments::nodes::<pg_sys::TargetEntry>(list) };
        let mut columns = Self { room: [0; MOST_COLUMNS + 1], len: entries.len() };
        for (column, entry) in columns.room[..entries.len()].iter_mut().zip(entries) {
            // SAFETY: the caller's promise: each is a Var.
            *column = unsafe { (*(**entry).expr.cast::<pg_sys::Var>()).varattno as u8 };
        }
        columns
    }

    /// Whether cft_entities' second column is among them, or the whole row.
    pub fn has_mention(&self) -> bool {
        self.all().iter().any(|column| matches!(column, 0 | 2))
    }

    pub fn all(&self) -> &[u8] {
        &self.room[..self.len]
    }
}
