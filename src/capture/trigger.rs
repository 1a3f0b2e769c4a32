//! The trigger functions: they put a changed row into this transaction's delta. See catalog/registration.rs for the
//! triggers themselves.
//!
//! They fail the user's write only for a cancel, and with 39P01 in a trigger of another kind: a column they cannot read
//! makes the image incomplete. They do not touch shared memory before the commit. Every UPDATE is captured as delete
//! and insert, whatever columns it changed: the xids of their tuples identify rows.

#![expect(unsafe_code, reason = "reads heap tuples")]

use crate::call::fmgr::Call;
use crate::call::trigger::{Operation, Trigger};
use crate::capture::delta::{CapturedAs, Change, NameLengths};
use crate::capture::{delta, transaction};
use crate::catalog::columns::{Column, Columns};
use crate::catalog::{column_value, columns};
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::unguarded;
use crate::pg::snapshot::full_xid;
use cftrag_core::{Deleter, LABELS, RowVersion, Stamp, tree_of_name};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::ffi::CStr;

/// The columns that the trigger's arguments name, under one descriptor of the table; kept with the call's FmgrInfo,
/// which lives as long as its trigger's arguments do. A replaced descriptor (another trigger renamed columns) is freed
/// only at the transaction's end, so its address identifies it.
struct Resolved {
    desc: pg_sys::TupleDesc,
    source: CapturedAs,
}

/// A row that a trigger is called for: the tuple, and the slot that holds it.
struct Fired {
    tuple: pg_sys::HeapTuple,
    slot: *mut pg_sys::TupleTableSlot,
}

/// A trigger AFTER INSERT OR UPDATE OR DELETE FOR EACH ROW. Its arguments are those of `ColumnNames::arguments`; an
/// empty one stands for no column. The position is not captured. Errors: 39P01 if it runs as a trigger of another kind,
/// which has no row on a page.
#[pg_extern(sql = false)]
fn cft_capture(call: Call) -> Fallible<()> {
    let trigger = Trigger::of(&call).filter(|trigger| trigger.is_after() && trigger.is_for_each_row());
    let trigger = trigger.ok_or_else(|| error::not_our_trigger("cft_capture"))?;
    // PostgreSQL checks for a cancel between statements that triggers run, not between triggers.
    check_for_interrupts!();
    let data = trigger.data();
    let first = Fired { tuple: data.tg_trigtuple, slot: data.tg_trigslot };
    let (old, new) = match trigger.operation() {
        Operation::Insert => (None, Some(first)),
        Operation::Delete => (Some(first), None),
        Operation::Update => (Some(first), Some(Fired { tuple: data.tg_newtuple, slot: data.tg_newslot })),
        Operation::Truncate => return Err(error::not_our_trigger("cft_capture")),
    };
    // SAFETY: the trigger manager's data; tuples of tg_relation with their headers as they are on the page.
    unsafe {
        let mut fallback = None;
        let Some(source) = source(&call, &trigger, &mut fallback) else {
            transaction::note_lost(trigger.table(), trigger.id(), trigger.locator());
            return Ok(());
        };
        if let Some(row) = old {
            note(&trigger, source, row.slot, deleted((*row.tuple).t_data));
        }
        if let Some(row) = new {
            note(&trigger, source, row.slot, inserted((*row.tuple).t_data));
        }
    }
    Ok(())
}

/// A trigger AFTER TRUNCATE FOR EACH STATEMENT. A TRUNCATE that keeps the relfilenode (of a table created or truncated
/// in this subtransaction) voids what was captured; one that changes it leaves the old image for the old rows, which a
/// rollback restores. Errors: 39P01 as for cft_capture.
#[pg_extern(sql = false)]
fn cft_capture_truncate(call: Call) -> Fallible<()> {
    let is_ours = |trigger: &Trigger<'_>| {
        trigger.is_after() && !trigger.is_for_each_row() && trigger.operation() == Operation::Truncate
    };
    let trigger = Trigger::of(&call).filter(is_ours);
    let trigger = trigger.ok_or_else(|| error::not_our_trigger("cft_capture_truncate"))?;
    transaction::truncate(trigger.table(), trigger.locator());
    Ok(())
}

/// Returns what the trigger reads; calls [`resolve`] once per statement and descriptor. The result is in `fallback` if
/// there is no memory to keep it.
///
/// # Safety
/// The trigger's call; the result is used during it.
unsafe fn source<'c>(
    call: &Call,
    trigger: &Trigger<'_>,
    fallback: &'c mut Option<CapturedAs>,
) -> Option<&'c CapturedAs> {
    // SAFETY: the caller's promise; fn_extra is this function's own, null or what is stored here.
    unsafe {
        let flinfo = &mut *call.place();
        let (desc, locator) = (trigger.relation().desc().raw(), trigger.locator());
        let mut kept = flinfo.fn_extra.cast::<Resolved>();
        if !kept.is_null() && (*kept).desc == desc && (*kept).source.locator == locator {
            return Some(&(*kept).source);
        }
        let source = CapturedAs { trigger: trigger.id(), locator, columns: resolve(trigger)? };
        if kept.is_null() {
            let flags = pg_sys::MCXT_ALLOC_NO_OOM as i32;
            kept = pg_sys::MemoryContextAllocExtended(flinfo.fn_mcxt, size_of::<Resolved>(), flags).cast();
            flinfo.fn_extra = kept.cast();
        }
        if kept.is_null() {
            return Some(fallback.insert(source));
        }
        kept.write(Resolved { desc, source });
        Some(&(*kept).source)
    }
}

/// The columns that the trigger's arguments name now. None if one does not resolve to a column of a type that holds
/// names.
pub fn resolve(trigger: &Trigger<'_>) -> Option<Columns> {
    let find = |n: i16, holds: fn(pg_sys::Oid) -> bool| {
        let column = columns::of_fired(trigger, trigger.argument(n)?.to_bytes())?;
        holds(pg_sys::Oid::from(column.type_oid)).then_some(column)
    };
    let other = |n: i16, holds: fn(pg_sys::Oid) -> bool| {
        let is_none = trigger.argument(n).is_none_or(CStr::is_empty);
        if is_none { Some(Column::default()) } else { find(n, holds) }
    };
    if !columns::ARGUMENTS.contains(&trigger.arguments()) {
        return None;
    }
    let text = |n: i16| other(n, column_value::holds_names);
    let (tree, parent, child, label) = (text(2)?, text(0)?, find(1, column_value::holds_names)?, text(3)?);
    let preferred = other(7, |type_oid| type_oid == pg_sys::BOOLOID)?;
    let mut names = [Column::default(); columns::MOST_NAMES];
    for (n, name) in (8..).zip(&mut names) {
        *name = text(n)?;
    }
    Some(Columns { tree, parent, child, label, names, preferred })
}

/// Notes what a row says: an edge (not in a table of names), the label of its child, and its other names.
///
/// # Safety
/// `slot` holds a row of the trigger's table, or is null.
unsafe fn note(trigger: &Trigger<'_>, source: &CapturedAs, slot: *mut pg_sys::TupleTableSlot, change: Change) {
    let Columns { tree, parent, child, label, names, preferred } = &source.columns;
    // SAFETY: the caller's promise; the attributes' numbers are the relation's.
    unsafe {
        let (table, highest) = (trigger.table(), source.columns.all().map(|c| c.number).into_iter().max());
        let row = attributes(slot, highest.unwrap_or_default());
        let edge = |out: &mut Vec<u8>| {
            let Some(row) = &row else { return NameLengths::Lost };
            let tree = if tree.number == 0 { Some(delta::NO_TREE) } else { row.append(tree, out) };
            // A row without a parent says that its child is there, as one with itself as parent does.
            let parent = match row.append(parent, out) {
                Some(delta::NO_TREE) => row.append(child, out),
                parent => parent,
            };
            lengths(tree, parent, row.append(child, out))
        };
        if parent.number != 0 {
            transaction::note(table, source, change, edge);
        }
        let is_preferred = row.as_ref().is_none_or(|row| row.is_preferred(preferred));
        let called = std::iter::once(label).chain(names).enumerate().filter(|(_, name)| name.number != 0);
        for (n, name) in called {
            let tree = tree_of_name(n, is_preferred);
            transaction::note(table, source, change, |out| {
                let Some(row) = row.as_ref().filter(|_| append(tree, out)) else { return NameLengths::Lost };
                let name = match row.append(name, out) {
                    // An empty name counts as none.
                    Some(delta::NO_TREE | 0) => return NameLengths::None,
                    name => name.map(|len| len + LABELS.len() as u32),
                };
                if !append(LABELS, out) {
                    return NameLengths::Lost;
                }
                lengths(Some(tree.len() as u32), name, row.append(child, out))
            });
        }
    }
}

/// Appends the name of a tree of labels; the name of a label ends with that of the first. Returns false if memory runs
/// out.
fn append(tree: &[u8], out: &mut Vec<u8>) -> bool {
    let room = out.try_reserve(tree.len()).is_ok();
    if room {
        out.extend_from_slice(tree);
    }
    room
}

/// The lengths of the names that were written. An argument is None where memory ran out.
fn lengths(tree: Option<u32>, parent: Option<u32>, child: Option<u32>) -> NameLengths {
    match (tree, parent, child) {
        (Some(_), Some(delta::NO_TREE), Some(_)) | (Some(_), Some(_), Some(delta::NO_TREE)) => NameLengths::None,
        (Some(tree), Some(parent), Some(child)) => NameLengths::Of { tree, parent, child },
        _ => NameLengths::Lost,
    }
}

/// The first attributes of a row.
struct Attributes<'s> {
    values: &'s [pg_sys::Datum],
    nulls: &'s [bool],
}

impl Attributes<'_> {
    /// Whether the row's label is preferred: its column of that says so, or there is none.
    fn is_preferred(&self, column: &Column) -> bool {
        let place = usize::try_from(column.number - 1).ok();
        place.is_none_or(|i| !self.nulls[i] && self.values[i].value() & 0xff != 0)
    }

    /// Appends a column's text. Returns its length, NO_TREE if it is NULL, None if memory runs out.
    ///
    /// # Safety
    /// The column is one of these attributes.
    unsafe fn append(&self, column: &Column, out: &mut Vec<u8>) -> Option<u32> {
        let i = column.number as usize - 1;
        if self.nulls[i] {
            return Some(delta::NO_TREE);
        }
        let before = out.len();
        // SAFETY: the caller's promise; a value that is not NULL.
        let noted = unsafe { column_value::try_write(pg_sys::Oid::from(column.type_oid), self.values[i], out) };
        noted.then(|| (out.len() - before) as u32)
    }
}

/// The attributes up to that number, found in one pass over the row. None if the slot's rows have fewer, or the trigger
/// was called without one.
///
/// # Safety
/// A slot that holds a row, or null.
unsafe fn attributes<'s>(slot: *mut pg_sys::TupleTableSlot, number: i32) -> Option<Attributes<'s>> {
    // SAFETY: the caller's promise; the slot holds `tts_nvalid` values. slot_getsomeattrs_int raises only for a number
    // beyond natts.
    unsafe {
        if slot.is_null() || number > (*(*slot).tts_tupleDescriptor).natts {
            return None;
        }
        if i32::from((*slot).tts_nvalid) < number {
            unguarded::slot_getsomeattrs_int(slot, number);
        }
        let valid = (*slot).tts_nvalid as usize;
        Some(Attributes {
            values: std::slice::from_raw_parts((*slot).tts_values, valid),
            nulls: std::slice::from_raw_parts((*slot).tts_isnull, valid),
        })
    }
}

/// # Safety
/// The header of a row that the current transaction inserted.
unsafe fn inserted(header: pg_sys::HeapTupleHeader) -> Change {
    // SAFETY: the caller's promise. Command ids come from the tuple, combo ids resolved.
    unsafe {
        let xmin = full_xid(u32::from(pg_sys::htup::HeapTupleHeaderGetRawXmin(header)));
        if pg_sys::htup::HeapTupleHeaderFrozen(header) {
            return Change::Frozen(xmin);
        }
        Change::Insert(Stamp { xmin, cmin: cmin(header) })
    }
}

/// The tuple is on a shared page and we hold no lock on it: another session's FOR KEY SHARE may replace our xid by a
/// multixact at any time. So we do not read the deleter: our trigger is not deferrable and fires in the subtransaction
/// that made the change. Lockers do not touch the command id.
///
/// # Safety
/// The header of a row that the current subtransaction deleted or updated.
unsafe fn deleted(header: pg_sys::HeapTupleHeader) -> Change {
    // SAFETY: the caller's promise.
    unsafe {
        let raw = pg_sys::htup::HeapTupleHeaderGetRawXmin(header);
        let frozen = pg_sys::htup::HeapTupleHeaderFrozen(header);
        let own = !frozen && unguarded::TransactionIdIsCurrentTransactionId(raw);
        let row = RowVersion {
            xmin: if frozen { 0 } else { full_xid(u32::from(raw)) },
            raw_xmin: u32::from(raw),
            cmin: own.then(|| cmin(header)),
        };
        let combo = u32::from((*header).t_infomask) & pg_sys::HEAP_COMBOCID != 0;
        let cmax =
            if combo { pg_sys::HeapTupleHeaderGetCmax(header) } else { pg_sys::htup::HeapTupleGetRawCommandId(header) };
        let mut xid = unguarded::GetCurrentTransactionIdIfAny();
        if xid == pg_sys::InvalidTransactionId {
            xid = pg_sys::GetCurrentTransactionId();
        }
        Change::Delete(row, Deleter { xmax: full_xid(u32::from(xid)), cmax })
    }
}

/// The command that inserted a row.
///
/// # Safety
/// The header of a row that the current transaction inserted.
unsafe fn cmin(header: pg_sys::HeapTupleHeader) -> pg_sys::CommandId {
    // SAFETY: the caller's promise.
    unsafe {
        match u32::from((*header).t_infomask) & pg_sys::HEAP_COMBOCID {
            0 => pg_sys::htup::HeapTupleGetRawCommandId(header),
            _ => pg_sys::HeapTupleHeaderGetCmin(header),
        }
    }
}
