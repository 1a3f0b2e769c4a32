//! Settling: marks versions that every snapshot sees, frees those that no snapshot sees any more, and sorts the filter
//! by temperature.
//!
//! Large flushes settle, every sixteenth small one does, and readers do now and then if they need not wait. They work
//! in slices of `SETTLE_SLICE`, so that none holds the lock for long.
//!
//! While an old snapshot is held nothing can be freed. An image with too many versions then goes: the next one is built
//! without them, and does not answer that snapshot.

use crate::error::Damage;
use crate::guc;
use crate::guc::Temperature;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{Header, Slot};
use crate::pg::compat::plain;
use crate::pg::interrupt;
use crate::pg::relation::Opened;
use crate::pg::snapshot::XidFates;
use cftrag_core::{Image, Settled};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// Versions examined under one holding of the lock.
pub const SETTLE_SLICE: usize = 1024;

/// The most versions that a small flush or a call settles: some ten milliseconds' work. A snapshot that was held for
/// long can leave more.
pub const MOST_SETTLED: usize = 128 * SETTLE_SLICE;

/// So many versions an image may always have, and as many as it had rows when it was built.
const MOST_VERSIONS: u64 = 100_000;

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
    let horizon = horizon(table)?;
    // A sorted filter is settled even so, because settling also cools it.
    if slot.settled.are_all(horizon, versions) && guc::TEMPERATURE.get() != Temperature::Sort {
        return None;
    }
    let (mut known, mut ask) = (XidFates::default(), Vec::new());
    // A slice may first need the fates of xids. Looking them up costs no budget: a reader's would be spent before it
    // settled anything.
    for slice in 0..2 * left.div_ceil(SETTLE_SLICE) {
        let now = left.min(SETTLE_SLICE);
        if now == 0 || control.entry(index).spoiled.load(Relaxed) != 0 || interrupt::interrupted() {
            break;
        }
        if slice > 0 {
            slot.let_readers_go();
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

/// Every snapshot in use sees versions of the table below this xid alike: 0 if this transaction created it, None if it
/// dropped it.
fn horizon(table: pg_sys::Oid) -> Option<u64> {
    let rel = Opened::open(table, pg_sys::AccessShareLock)?;
    Some(if rel.is_rewritten_here() { 0 } else { rel.horizon() })
}

/// Whether the image has too many versions, and a transaction older than this one, which writes, keeps them. What this
/// transaction itself loaded is settled once it has committed.
pub fn has_too_many_versions(control: &Control, index: usize, table: pg_sys::Oid) -> bool {
    let many = chunks::read(control, index, |header, image| image.stats().versions > header.rows.max(MOST_VERSIONS));
    let mine = plain::GetTopFullTransactionIdIfAny().value;
    many == Ok(true) && horizon(table).is_some_and(|horizon| (1..mine).contains(&horizon))
}
