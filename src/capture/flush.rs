//! Moves a table's delta into its image: at PRE_COMMIT and PREPARE, before an own read, past the delta's cap.
//!
//! PRE_COMMIT comes after deferred triggers and before the commit record, so no snapshot can see the commit and miss the edge; what
//! is flushed carries the running transaction's xids and is invisible to everyone else. Flushing cannot raise: an ERROR is contained, the
//! image becomes incomplete, a WARNING says why. It can be left between slices (apply.rs): delta.rs serves the interrupt and calls again.

#![expect(unsafe_code, reason = "opens the relation for its horizon")]

use crate::ahead;
use crate::apply::{self, Stop, Work, bound};
use crate::area;
use crate::delta::{Entry, Table};
use crate::guc::{self, Temperature};
use crate::shmem::{self, Control};
use crate::slot::{Header, Key, Slot, Spoil, State};
use crate::triggers::TriggerKey;
use crate::visibility::{self, Known};
use crate::{contain, error, loading, triggers};
use cftrag_core::{Image, Settled};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// A flush of more changes settles versions.
const MANY: usize = 512;
/// So many changes go at once if they can.
const FEW: usize = 32;
/// A flush in so many settles versions, besides every flush of many: finding the horizon scans the process array.
const SETTLE_EVERY: u64 = 16;
/// Versions examined by such a flush under one holding of the lock.
const SETTLE_SLICE: usize = 1024;

/// What came of a flush.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// All entries are in the image, or void, or wait for their partner.
    All,
    /// Those that are left are to be flushed when the interrupt that is pending was served.
    Interrupted,
}

/// Flushes one table's entries; those that wait for a partner stay unless it is the `last` flush. What has no image is forgotten.
pub fn flush(table: &mut Table, last: bool) -> Flushed {
    if table.entries.is_empty() && !table.lost {
        return Flushed::All;
    }
    let Some(control) = shmem::attach() else {
        table.keep(&[]);
        if shmem::unreachable() {
            without_control(table, last);
        }
        return Flushed::All;
    };
    let Some((index, slot)) = control.find(table.oid) else {
        table.keep(&[]);
        table.lost = false;
        return Flushed::All;
    };
    loading::capture(control, index, table);
    if at_once(control, index, table) {
        return Flushed::All;
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
            return Flushed::All;
        }
        // The image knows other columns by these names (they were renamed into one another): it cannot follow the table any more.
        Some((columns, ..)) if columns != table.source.columns && !table.lost => {
            slot.spoil(Spoil::Lost);
            contain::attempt(|| area::drop_image(control, index));
            table.keep(&[]);
            return Flushed::All;
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
    let ran = if std::mem::take(&mut table.lost) {
        Err(Stop::Broken(Spoil::Lost))
    } else {
        contain::attempt(|| run(control, index, table, load, last)).unwrap_or(Err(Stop::Broken(Spoil::Memory)))
    };
    match ran {
        Ok(flushed) => return flushed,
        Err(Stop::Broken(why)) => give_up(control, index, table, row, why),
        Err(Stop::Gone) => table.keep(&[]),
    }
    Flushed::All
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
    let mut work = Work::default();
    let mut row = TriggerKey::default();
    let mut short = false;
    let applied = contain::panic(|| {
        area::write_at_once(control, index, |header, image| {
            row = header.key.row;
            let fits = takes(&header.key, table) && image.free_bytes() >= bytes;
            fits.then(|| {
                let applied = apply::apply(image, table, few, &mut work);
                short = ahead::is_short(image);
                applied
            })
        })
    });
    let done = match applied {
        Some(Some(Some(Ok(applied)))) => applied.done,
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
    work.waiting.extend(done..few.len());
    table.keep(&work.waiting);
    if !work.waiting.is_empty() {
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
pub fn takes(key: &Key, table: &Table) -> bool {
    key.row.oid == u32::from(table.source.trigger)
        && key.locator == table.source.locator
        && key.columns == table.source.columns
}

/// This process cannot map the control block, but others may have an image: at the end the trigger's own row is written anew. Whoever
/// sees this commit sees a trigger that is not the image's, and nobody else is concerned.
fn without_control(table: &mut Table, last: bool) {
    table.lost = !last;
    if last && contain::attempt(|| triggers::touch(table.source.trigger)).is_none() {
        error::control_unreachable().report(pgrx::PgLogLevel::ERROR);
    }
}

/// Applies all entries, and settles some versions.
fn run(control: &Control, index: usize, table: &mut Table, load: u64, last: bool) -> Result<Flushed, Stop> {
    let slot = &control.slots[index];
    let flushes = slot.flushes.fetch_add(1, Relaxed);
    let mut todo: Vec<usize> = Vec::new();
    if todo.try_reserve(table.entries.len()).is_err() {
        return Err(Stop::Broken(Spoil::Memory));
    }
    todo.extend(0..table.entries.len());
    let mut work = Work::default();
    // A delete may precede its insert (a trigger deleted the row before ours saw it): what waits is tried again after the others.
    // Inserts never wait, so the second pass finds all partners that there are.
    while !todo.is_empty() {
        let tried = todo.len();
        let done = apply::pass(control, index, table, load, &todo, &mut work)?;
        let mut left = std::mem::take(&mut work.waiting);
        left.extend_from_slice(&todo[done..]);
        todo = left;
        if done < tried {
            table.keep(&todo);
            return Ok(Flushed::Interrupted);
        }
        if todo.len() == tried {
            break;
        }
    }
    if last && !todo.is_empty() {
        return Err(Stop::Broken(Spoil::Unmatched));
    }
    let many = table.entries.len() > MANY;
    let budget = if many { 2 * table.entries.len() } else { 4 * SETTLE_SLICE };
    table.keep(&todo);
    if (many || flushes.is_multiple_of(SETTLE_EVERY))
        && let Some(why) = settle(control, index, table.oid, budget)
    {
        return Err(Stop::Broken(why));
    }
    Ok(Flushed::All)
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
        if now == 0 || slot.spoiled.load(Relaxed) != 0 || apply::interrupted() {
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
