//! Settling: marks versions that every snapshot sees, frees those that no snapshot sees any more, and sorts the filter
//! by temperature.
//!
//! Large flushes settle, every sixteenth small one does, and readers do now and then if they need not wait. They work
//! in slices of `SETTLE_SLICE`, so that none holds the lock for long.

#![expect(unsafe_code, reason = "opens the relation for its horizon")]

use crate::error::Damage;
use crate::guc;
use crate::guc::Temperature;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{Header, Slot};
use crate::pg::snapshot::XidFates;
use crate::pg::{interrupt, snapshot};
use cftrag_core::{Image, Settled};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// Versions examined under one holding of the lock.
pub const SETTLE_SLICE: usize = 1024;

/// The most versions that a small flush or a call settles: some ten milliseconds' work. A snapshot that was held for
/// long can leave more.
pub const MOST_SETTLED: usize = 128 * SETTLE_SLICE;

/// Settles up to `budget` versions that all running snapshots see alike.
pub fn settle(control: &Control, index: usize, table: pg_sys::Oid, budget: usize) -> Option<Damage> {
    settle_by(control, index, table, budget, |work| chunks::write(control, index, work).ok())
}

/// Like [`settle`], for readers: gives up if the image is busy.
pub fn settle_if_free(control: &Control, index: usize, table: pg_sys::Oid, budget: usize) -> Option<Damage> {
    settle_by(control, index, table, budget, |work| chunks::write_if_free(control, index, work))
}

fn settle_by(
    control: &Control,
    index: usize,
    table: pg_sys::Oid,
    budget: usize,
    write: impl Fn(&mut dyn FnMut(&Header, Image<'_>) -> Settled) -> Option<Settled>,
) -> Option<Damage> {
    let slot: &Slot = control.slot(index);
    let versions = chunks::read(control, index, |_, image| image.stats().versions).unwrap_or(0) as usize;
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
        let created_here = crate::pg::compat::rewritten_here(rel);
        let horizon = if created_here { 0 } else { snapshot::horizon(rel) };
        pg_sys::relation_close(rel, pg_sys::NoLock as pg_sys::LOCKMODE);
        horizon
    };
    // A sorted filter is settled even so, because settling also cools it.
    if slot.settled.are_all(horizon, versions) && guc::TEMPERATURE.get() != Temperature::Sort {
        return None;
    }
    let (mut known, mut ask) = (XidFates::default(), Vec::new());
    // A slice may first need the fates of xids. Looking them up costs no budget: a reader's would be spent before it
    // settled anything.
    for _ in 0..2 * left.div_ceil(SETTLE_SLICE) {
        let now = left.min(SETTLE_SLICE);
        if now == 0 || control.entry(index).spoiled.load(Relaxed) != 0 || interrupt::interrupted() {
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
                return Some(Damage::XidTooOld);
            }
            continue;
        }
        slot.settled.note(horizon, settled);
        if settled.freed == 0 {
            return None;
        }
        left -= now;
    }
    None
}
