//! Moves a table's delta into its image: at PRE_COMMIT and PREPARE, before an own read, past the delta's cap.
//!
//! PRE_COMMIT comes after deferred triggers and before the commit record, so no snapshot can see the commit and miss the edge; what
//! is flushed carries the running transaction's xids and is invisible to everyone else. Entries go in slices, so that no reader waits
//! more than a few milliseconds. Flushing cannot raise: an ERROR is contained, the image becomes incomplete, a WARNING says why.

#![expect(unsafe_code, reason = "opens the relation for its horizon")]

use crate::area::{self, Unusable};
use crate::delta::{Change, Table};
use crate::shmem::{self, Control};
use crate::slot::{Slot, Spoil, State};
use crate::visibility::{self, Known};
use crate::{contain, error};
use cftrag_core::{Deletion, Image};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// Changes made under one holding of the lock: about half a millisecond.
const SLICE: usize = 512;
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
        if shmem::unreachable() {
            // Images may exist that we cannot mark: the only way left not to be wrong.
            pgrx::pg_sys::panic::ErrorReport::report(error::control_unreachable(), pgrx::PgLogLevel::ERROR);
        }
        table.keep(&[]);
        return;
    };
    let Some((index, slot)) = control.find(table.oid) else {
        table.keep(&[]);
        table.lost = false;
        return;
    };
    let of_this = slot.read(|header| header.state == State::Ready && header.key.locator == table.locator);
    if !of_this {
        table.keep(&[]);
        table.lost = false;
        return;
    }
    let why = if std::mem::take(&mut table.lost) {
        Some(Spoil::Lost)
    } else {
        contain::attempt(|| run(control, index, table, last)).unwrap_or(Some(Spoil::Memory))
    };
    if let Some(why) = why {
        table.keep(&[]);
        if slot.spoiled.load(Relaxed) == 0 {
            slot.spoil(why);
            // Nobody can use it any more: its memory is better given to the next build.
            contain::attempt(|| area::drop_image(control, index));
            error::warn_incomplete(table.oid, why);
        }
    }
}

/// Why the image must be given up; None: all is well.
fn run(control: &Control, index: usize, table: &mut Table, last: bool) -> Option<Spoil> {
    let slot = &control.slots[index];
    let flushes = slot.flushes.fetch_add(1, Relaxed);
    let (mut known, mut ask) = (Known::default(), Vec::new());
    let (mut next, mut waiting) = (0, Vec::new());
    while next < table.entries.len() {
        let end = (next + SLICE).min(table.entries.len());
        let bytes = table.entries[next..end].iter().map(|e| Image::insert_bound(&table.edge(e))).sum();
        if !area::ensure(control, index, bytes) {
            return usable(control, index).then_some(Spoil::Memory);
        }
        let slice = area::write(control, index, |header, image| {
            if header.key.locator != table.locator {
                return None;
            }
            Some(apply(image, table, next, end, &known, &mut ask, &mut waiting))
        });
        match slice {
            // The image is gone or incomplete already: nothing of ours is missing in it.
            Err(Unusable::Empty | Unusable::Incomplete) | Ok(None) => break,
            Err(Unusable::Unmapped) => return Some(Spoil::Memory),
            Ok(Some(Err(why))) => return Some(why),
            Ok(Some(Ok(done))) => next = done,
        }
        if !ask.is_empty() && known.learn(&std::mem::take(&mut ask)).is_none() {
            return Some(Spoil::Ancient);
        }
    }
    if last && !waiting.is_empty() {
        return Some(Spoil::Lost);
    }
    let many = table.entries.len() > SLICE;
    let budget = if many { 2 * table.entries.len() } else { 4 * SETTLE_SLICE };
    table.keep(&waiting);
    if many || flushes.is_multiple_of(SETTLE_EVERY) {
        return settle(control, index, table.oid, budget);
    }
    None
}

fn usable(control: &Control, index: usize) -> bool {
    area::read(control, index, |_, _| ()).is_ok()
}

/// Applies entries from `next` on; the number of the first that was not, or why the image is broken.
fn apply(
    image: Image<'_>,
    table: &Table,
    next: usize,
    end: usize,
    known: &Known,
    ask: &mut Vec<u64>,
    waiting: &mut Vec<usize>,
) -> Result<usize, Spoil> {
    for i in next..end {
        let entry = &table.entries[i];
        let edge = table.edge(entry);
        match entry.change {
            Change::Insert(stamp) => image.insert(&edge, stamp).map_err(|_| Spoil::Memory)?,
            Change::Delete(row, by) => match image.delete(&edge, row, by, known, ask).map_err(|_| Spoil::Memory)? {
                Deletion::Done => {}
                Deletion::Ask => return Ok(i),
                // Another trigger deleted what our insert trigger has not seen yet: it will come.
                Deletion::NoPartner if row.cmin.is_some() => waiting.push(i),
                Deletion::NoPartner => return Err(Spoil::Lost),
            },
        }
    }
    Ok(end)
}

/// Settles versions that no running snapshot sees differently, up to `budget` of them.
pub fn settle(control: &Control, index: usize, table: pg_sys::Oid, budget: usize) -> Option<Spoil> {
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
    let (mut known, mut ask) = (Known::default(), Vec::new());
    while left > 0 && slot.spoiled.load(Relaxed) == 0 {
        let now = left.min(SETTLE_SLICE);
        left -= now;
        let settled = area::write(control, index, |_, image| {
            let settled = image.settle(now, horizon, &known, &mut ask);
            image.cool(now / 16);
            settled
        });
        let Ok(settled) = settled else { return None };
        if !ask.is_empty() {
            if known.learn(&std::mem::take(&mut ask)).is_none() {
                return Some(Spoil::Ancient);
            }
        } else if settled.freed == 0 {
            return None;
        }
    }
    None
}
