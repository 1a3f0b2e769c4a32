//! Moves a table's delta into its image: at PRE_COMMIT and PREPARE, before an own read, past the delta's cap.
//!
//! PRE_COMMIT comes after deferred triggers and before the commit record, so no snapshot can see the commit and miss the edge; what
//! is flushed carries the running transaction's xids and is invisible to everyone else. Entries go in slices, so that no reader waits
//! more than a few milliseconds. Flushing cannot raise: an ERROR is contained, the image becomes incomplete, a WARNING says why.

#![expect(unsafe_code, reason = "opens the relation for its horizon")]

use crate::ahead;
use crate::area::{self, Unusable};
use crate::delta::{Change, Entry, Table};
use crate::guc::{self, Temperature};
use crate::shmem::{self, Control};
use crate::slot::{Header, Key, Slot, Spoil, State};
use crate::triggers::TriggerKey;
use crate::visibility::{self, Known};
use crate::{contain, error, loading, triggers};
use cftrag_core::{Deletion, Error, Image, Recent, Settled};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// Changes made under one holding of the lock: about half a millisecond.
const SLICE: usize = 512;
/// So many changes go at once if they can.
const FEW: usize = 32;
/// A flush in so many settles versions, besides every flush of more than a slice: finding the horizon scans the process array.
const SETTLE_EVERY: u64 = 16;
/// Versions examined by such a flush under one holding of the lock.
const SETTLE_SLICE: usize = 1024;

/// Flushes one table's entries; those that wait for a partner stay unless it is the `last` flush. What has no image is forgotten.
pub fn flush(table: &mut Table, last: bool) {
    if table.entries.is_empty() && !table.lost {
        return;
    }
    let Some(control) = shmem::attach() else {
        table.keep(&[]);
        if shmem::unreachable() {
            without_control(table, last);
        }
        return;
    };
    let Some((index, slot)) = control.find(table.oid) else {
        table.keep(&[]);
        table.lost = false;
        return;
    };
    loading::capture(control, index, table);
    if at_once(control, index, table) {
        return;
    }
    // Another trigger than the image's (somebody made a second one): the image's own notes the same rows.
    let target = slot.read(|header| {
        let key = &header.key;
        let (locator, trigger) = (table.source.locator, u32::from(table.source.trigger));
        (header.state == State::Ready && key.locator == locator && key.row.oid == trigger).then_some((
            key.columns,
            header.load,
            key.row,
        ))
    });
    match target {
        None => {
            table.keep(&[]);
            table.lost = false;
            return;
        }
        // The image knows other columns by these names (they were renamed into one another): it cannot follow the table any more.
        Some((columns, ..)) if columns != table.source.columns && !table.lost => {
            slot.spoil(Spoil::Lost);
            contain::attempt(|| area::drop_image(control, index));
            table.keep(&[]);
            return;
        }
        // What was logged for the load that made the image is in it.
        Some((_, load, _)) if load != 0 => {
            let missing = |(i, e): (usize, &Entry)| (e.logged != load).then_some(i);
            let kept: Vec<usize> = table.entries.iter().enumerate().filter_map(missing).collect();
            table.keep(&kept);
        }
        Some(_) => {}
    }
    let (load, row) = target.map_or_else(Default::default, |(_, load, row)| (load, row));
    let why = if std::mem::take(&mut table.lost) {
        Some(Spoil::Lost)
    } else {
        contain::attempt(|| run(control, index, table, load, last)).unwrap_or(Some(Spoil::Memory))
    };
    if let Some(why) = why {
        give_up(control, index, table, row, why);
    }
}

/// The image can not follow the table any more.
fn give_up(control: &Control, index: usize, table: &mut Table, row: TriggerKey, why: Spoil) {
    let slot = &control.slots[index];
    table.keep(&[]);
    if slot.spoiled.load(Relaxed) == 0 {
        slot.spoil(why);
        // Nobody can use it any more: its memory is better given to the next build.
        contain::attempt(|| area::drop_image(control, index));
        // The triggers were off meanwhile, and nobody has read since: that image was of no use, and the next reader makes another.
        let stale = why == Spoil::Unmatched && contain::attempt(|| !triggers::is_still(row)) == Some(true);
        if !stale {
            error::warn_incomplete(table.oid, why);
        }
    }
}

/// The way of most transactions: a few changes, all chunks mapped, memory at hand. One holding of the lock, and nothing in it can raise,
/// so nothing has to be contained but a panic of ours. False: what is left of the entries has to go the long way.
fn at_once(control: &Control, index: usize, table: &mut Table) -> bool {
    if table.lost || table.entries.len() > FEW || table.entries.iter().any(|entry| entry.logged != 0) {
        return false;
    }
    let slot = &control.slots[index];
    let all: [usize; FEW] = std::array::from_fn(|i| i);
    let few = &all[..table.entries.len()];
    let bytes = bound(table, few);
    let (known, mut ask, mut waiting) = (Known::default(), Vec::new(), Vec::new());
    let mut row = TriggerKey::default();
    let mut short = false;
    let applied = contain::panic(|| {
        area::write_at_once(control, index, |header, image| {
            row = header.key.row;
            let fits = takes(&header.key, table) && image.free_bytes() >= bytes;
            fits.then(|| {
                let applied = apply(image, table, few, &known, &mut ask, &mut waiting);
                short = ahead::is_short(image);
                applied
            })
        })
    });
    let done = match applied {
        Some(Some(Some(Ok((done, _))))) => done,
        Some(None | Some(None)) => return false,
        Some(Some(Some(Err(why)))) => {
            give_up(control, index, table, row, why);
            return true;
        }
        None => {
            give_up(control, index, table, row, Spoil::Memory);
            return true;
        }
    };
    if short {
        ahead::ask(control, index);
    }
    waiting.extend(done..few.len());
    table.keep(&waiting);
    if !waiting.is_empty() {
        return false;
    }
    if slot.flushes.fetch_add(1, Relaxed).is_multiple_of(SETTLE_EVERY) {
        let settled = contain::attempt(|| settle(control, index, table.oid, 4 * SETTLE_SLICE));
        if let Some(why) = settled.unwrap_or(Some(Spoil::Memory)) {
            give_up(control, index, table, row, why);
        }
    }
    true
}

/// Whether an image of this key takes the table's entries.
fn takes(key: &Key, table: &Table) -> bool {
    key.row.oid == u32::from(table.source.trigger)
        && key.locator == table.source.locator
        && key.columns == table.source.columns
}

/// What inserting these entries takes at most.
fn bound(table: &Table, entries: &[usize]) -> usize {
    entries.iter().map(|i| Image::insert_bound(&table.edge(&table.entries[*i]))).sum()
}

/// This process cannot map the control block, but others may have an image: at the end the trigger's own row is written anew. Whoever
/// sees this commit sees a trigger that is not the image's, and nobody else is concerned.
fn without_control(table: &mut Table, last: bool) {
    table.lost = !last;
    if last && contain::attempt(|| triggers::touch(table.source.trigger)).is_none() {
        error::control_unreachable().report(pgrx::PgLogLevel::ERROR);
    }
}

/// Why the image must be given up; None: all is well.
fn run(control: &Control, index: usize, table: &mut Table, load: u64, last: bool) -> Option<Spoil> {
    let slot = &control.slots[index];
    let flushes = slot.flushes.fetch_add(1, Relaxed);
    let mut todo: Vec<usize> = Vec::new();
    if todo.try_reserve(table.entries.len()).is_err() {
        return Some(Spoil::Memory);
    }
    todo.extend(0..table.entries.len());
    // A delete may precede its insert (a trigger deleted the row before ours saw it): what waits is tried again after the others.
    while !todo.is_empty() {
        let tried = todo.len();
        match pass(control, index, table, load, &todo) {
            Ok(waiting) => todo = waiting,
            Err(why) => return why,
        }
        if todo.len() == tried {
            break;
        }
    }
    if last && !todo.is_empty() {
        return Some(Spoil::Unmatched);
    }
    let many = table.entries.len() > SLICE;
    let budget = if many { 2 * table.entries.len() } else { 4 * SETTLE_SLICE };
    table.keep(&todo);
    if many || flushes.is_multiple_of(SETTLE_EVERY) {
        return settle(control, index, table.oid, budget);
    }
    None
}

/// Applies the entries of these numbers in slices; the numbers of those that wait for their insert. Err: why the image must be given up,
/// or None if there is none any more and nothing of ours is missing in it.
fn pass(
    control: &Control,
    index: usize,
    table: &mut Table,
    load: u64,
    todo: &[usize],
) -> Result<Vec<usize>, Option<Spoil>> {
    let (mut known, mut ask) = (Known::default(), Vec::new());
    let (mut next, mut waiting, mut short) = (0, Vec::new(), 0);
    while next < todo.len() {
        let slice = &todo[next..(next + SLICE).min(todo.len())];
        // Another writer may use what ensure() found before we have the lock: what was short then is asked for on top.
        let bytes = bound(table, slice) + std::mem::take(&mut short);
        let applied = if area::ensure(control, index, bytes) {
            area::write(control, index, |header, image| {
                let same = header.load == load && takes(&header.key, table);
                same.then(|| apply(image, table, slice, &known, &mut ask, &mut waiting))
            })
        } else if area::read(control, index, |_, _| ()).is_ok() {
            return Err(Some(Spoil::Memory));
        } else {
            Ok(None)
        };
        match applied {
            Err(Unusable::Empty | Unusable::Incomplete) | Ok(None) => {
                table.keep(&[]);
                return Err(None);
            }
            Err(Unusable::Unmapped) => return Err(Some(Spoil::Memory)),
            Ok(Some(Err(why))) => return Err(Some(why)),
            Ok(Some(Ok((done, needed)))) => {
                next += done;
                short = needed;
            }
        }
        if !ask.is_empty() && known.learn(&std::mem::take(&mut ask)).is_none() {
            return Err(Some(Spoil::Ancient));
        }
    }
    Ok(waiting)
}

/// Applies a slice of entries; how many of them and the bytes that the next one was short of, or why the image is broken.
fn apply(
    image: Image<'_>,
    table: &Table,
    slice: &[usize],
    known: &Known,
    ask: &mut Vec<u64>,
    waiting: &mut Vec<usize>,
) -> Result<(usize, usize), Spoil> {
    let mut recent = Recent::default();
    for (done, i) in slice.iter().enumerate() {
        let entry = &table.entries[*i];
        let edge = table.edge(entry);
        let applied = match entry.change {
            Change::Insert(stamp) => image.insert_next(&edge, Some(stamp), &mut recent).map(|()| Deletion::Done),
            Change::Frozen(_) => image.insert_next(&edge, None, &mut recent).map(|()| Deletion::Done),
            Change::Delete(row, by) => image.delete(&edge, row, by, known, ask),
        };
        match (applied, entry.change) {
            (Ok(Deletion::Done), _) => {}
            (Ok(Deletion::Ask), _) => return Ok((done, 0)),
            (Ok(Deletion::NoPartner), Change::Delete(row, _)) if row.cmin.is_some() => waiting.push(*i),
            (Ok(Deletion::NoPartner), _) => return Err(Spoil::Unmatched),
            // Nothing was written.
            (Err(Error::Full { needed, .. }), _) => return Ok((done, needed)),
            (Err(_), _) => return Err(Spoil::Torn),
        }
    }
    Ok((slice.len(), 0))
}

/// Settles versions that no running snapshot sees differently, up to `budget` of them.
pub fn settle(control: &Control, index: usize, table: pg_sys::Oid, budget: usize) -> Option<Spoil> {
    settle_by(control, index, table, budget, |work| area::write(control, index, work).ok())
}

/// The same by a reader, who leaves it to others where he would have to wait for them.
pub fn settle_if_free(control: &Control, index: usize, table: pg_sys::Oid, budget: usize) -> Option<Spoil> {
    settle_by(control, index, table, budget, |work| area::write_if_free(control, index, work))
}

fn settle_by(
    control: &Control,
    index: usize,
    table: pg_sys::Oid,
    budget: usize,
    write: impl Fn(&mut dyn FnMut(&Header, Image<'_>) -> Settled) -> Option<Settled>,
) -> Option<Spoil> {
    let slot: &Slot = &control.slots[index];
    let versions = area::read(control, index, |_, image| image.stats().versions).unwrap_or(0) as usize;
    let mut left = budget.min(2 * versions);
    if left == 0 {
        return None;
    }
    // SAFETY: try_relation_open gives null for a table that this transaction dropped; closed again, its lock kept.
    let horizon = unsafe {
        let rel = pg_sys::try_relation_open(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        if rel.is_null() {
            return None;
        }
        let created_here = crate::compat::rewritten_here(rel);
        let horizon = if created_here { 0 } else { visibility::horizon(rel) };
        pg_sys::relation_close(rel, pg_sys::NoLock as pg_sys::LOCKMODE);
        horizon
    };
    // Whoever settles cools, too.
    if slot.kept.are_all(horizon, versions) && guc::TEMPERATURE.get() != Temperature::Sort {
        return None;
    }
    let (mut known, mut ask) = (Known::default(), Vec::new());
    // A slice may have to be asked about first: that is not of the budget, or readers' would be used up by it.
    for _ in 0..2 * left.div_ceil(SETTLE_SLICE) {
        let now = left.min(SETTLE_SLICE);
        if now == 0 || slot.spoiled.load(Relaxed) != 0 {
            break;
        }
        let settled = write(&mut |_, image| {
            let settled = image.settle(now, horizon, &known, &mut ask);
            if guc::TEMPERATURE.get() == Temperature::Sort {
                image.cool(now / 16);
            }
            settled
        })?;
        if !ask.is_empty() {
            if known.learn_ended(&std::mem::take(&mut ask)).is_none() {
                return Some(Spoil::Ancient);
            }
            continue;
        }
        slot.kept.note(horizon, settled);
        if settled.freed == 0 {
            return None;
        }
        left -= now;
    }
    None
}
