//! Moves a table's delta into its image: at PRE_COMMIT and PREPARE, before an own read, past the delta's cap.
//!
//! PRE_COMMIT comes after deferred triggers and before the commit record, so no snapshot can see the commit and miss the edge; what
//! is flushed carries the running transaction's xids and is invisible to everyone else. Flushing cannot raise: an ERROR is contained, the
//! image becomes incomplete, a WARNING says why. It can be left between slices (apply.rs): transaction.rs serves the interrupt and calls again.

use crate::capture::apply::{Stop, Work, bound};
use crate::capture::delta::{Entry, Table, takes};
use crate::capture::{apply, log_record};
use crate::catalog::pg_trigger::TriggerKey;
use crate::catalog::{name, pg_trigger};
use crate::error;
use crate::error::Spoil;
use crate::image::control::Control;
use crate::image::settle::{SETTLE_SLICE, settle};
use crate::image::slot::State;
use crate::image::{chunks, control, prefetch};
use crate::pg::contain;
use std::sync::atomic::Ordering::Relaxed;

/// A flush of more changes settles versions.
const MANY: usize = 512;

/// So many changes go at once if they can.
const FEW: usize = 32;

/// A flush in so many settles versions, besides every flush of many: finding the horizon scans the process array.
pub const SETTLE_EVERY: u64 = 16;

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
    let Some(control) = control::attach() else {
        table.keep(&[]);
        if control::unreachable() {
            without_control(table, last);
        }
        return Flushed::All;
    };
    let Some((index, slot)) = control.find(table.oid) else {
        table.keep(&[]);
        table.lost = false;
        return Flushed::All;
    };
    log_record::capture(control, index, table);
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
            contain::attempt(|| chunks::drop_image(control, index));
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
        contain::attempt(|| chunks::drop_image(control, index));
        // The triggers were off meanwhile, and nobody has read since: that image was of no use, and the next reader makes another.
        let stale = why == Spoil::Unmatched && contain::attempt(|| !pg_trigger::is_still(row)) == Some(true);
        if !stale {
            error::warn_incomplete(&name::display_name(table.oid), why);
        }
    }
}

/// The way of most transactions: a few changes, all chunks mapped, memory at hand. One holding of the lock, and nothing in it can raise,
/// so nothing has to be contained but a panic of ours. False: what is left of the entries has to go the long way.
pub fn at_once(control: &Control, index: usize, table: &mut Table) -> bool {
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
        chunks::write_at_once(control, index, |header, image| {
            row = header.key.row;
            let fits = takes(&header.key, table) && image.free_bytes() >= bytes;
            fits.then(|| {
                let applied = apply::apply(image, table, few, &mut work);
                short = prefetch::is_short(image);
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
        prefetch::ask(control, index);
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

/// This process cannot map the control block, but others may have an image: at the end the trigger's own row is written anew. Whoever
/// sees this commit sees a trigger that is not the image's, and nobody else is concerned.
fn without_control(table: &mut Table, last: bool) {
    table.lost = !last;
    if last && contain::attempt(|| pg_trigger::touch(table.source.trigger)).is_none() {
        error::control_unreachable().report(pgrx::PgLogLevel::ERROR);
    }
}

/// Applies all entries, and settles some versions.
pub fn run(control: &Control, index: usize, table: &mut Table, load: u64, last: bool) -> Result<Flushed, Stop> {
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
