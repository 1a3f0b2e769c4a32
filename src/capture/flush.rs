//! Moves a table's delta into its image: at PRE_COMMIT and PREPARE, before an own read, past the delta's cap.
//!
//! PRE_COMMIT comes after deferred triggers and before the commit record, so no snapshot can see the commit and miss the edge; what
//! is flushed carries the running transaction's xids and is invisible to everyone else. Flushing cannot raise: an ERROR is contained, the
//! image becomes incomplete, a WARNING says why; before the commit, what finds no memory counts as lost, and may still be rolled back. It can be left between slices (apply.rs): transaction.rs serves the interrupt and calls again.

use crate::capture::apply::{FlushEnd, FlushState};
use crate::capture::delta::TableDelta;
use crate::capture::{apply, log_record};
use crate::catalog::pg_trigger::TriggerKey;
use crate::catalog::{name, pg_trigger};
use crate::error;
use crate::error::Damage;
use crate::image::control::Control;
use crate::image::settle::{SETTLE_SLICE, settle};
use crate::image::slot::State;
use crate::image::{chunks, control};
use crate::pg::contain;
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// A flush of more changes settles versions.
const MANY: usize = 512;

/// So many changes go at once if they can.
const FEW: usize = 32;

/// A flush in so many settles versions, besides every flush of many: finding the horizon scans the process array.
const SETTLE_EVERY: u64 = 16;

/// What came of a flush.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// All entries are in the image, or void, or wait for their partner.
    All,
    /// Those that are left are to be flushed when the interrupt that is pending was served.
    Interrupted,
}

/// What is left of a table's delta: by default nothing.
#[derive(Default)]
struct Left {
    /// The numbers of its entries, ascending.
    entries: Vec<usize>,
    lost: Option<Damage>,
    interrupted: bool,
}

/// Flushes one table's entries; those that wait for a partner stay unless it is the `last` flush. What has no image is forgotten.
pub fn flush(table: &mut TableDelta, last: bool) -> Flushed {
    // What was lost may be rolled back until the end.
    if table.is_empty() || (table.lost.is_some() && !last) {
        return Flushed::All;
    }
    let left = match control::attach() {
        Some(control) => control.find(table.oid).map_or_else(Left::default, |(index, _)| {
            log_record::capture(control, index, table);
            into_image(control, index, table, last)
        }),
        // Others may have an image, which would not be told: this change cannot be committed.
        None if control::unreachable() => {
            if last {
                error::control_unreachable().report(pgrx::PgLogLevel::ERROR);
            }
            Left { lost: Some(Damage::Lost), ..Left::default() }
        }
        None => Left { lost: table.lost.map(|lost| lost.why), ..Left::default() },
    };
    match left.lost {
        Some(why) => table.lose_entries(why),
        None => {
            table.keep(&left.entries);
            table.lost = None;
        }
    }
    if left.interrupted { Flushed::Interrupted } else { Flushed::All }
}

fn into_image(control: &Control, index: usize, table: &TableDelta, last: bool) -> Left {
    let mut row = TriggerKey::default();
    match in_turns(control, index, table, last, &mut row) {
        Ok(left) => left,
        // Before the commit nothing is missing yet: what is not noted counts as lost, unless it is rolled back.
        Err(FlushEnd::Broken(Damage::Memory)) if !last => Left { lost: Some(Damage::Memory), ..Left::default() },
        Err(stop) => {
            if let FlushEnd::Broken(why) = stop {
                give_up(control, index, table.oid, row, why);
            }
            Left::default()
        }
    }
}

/// Applies the entries in turns, until all are in the image or nothing more goes in; then settles some versions. A few go at once
/// ([`apply::now`]); what is left of them, and many, go contained. `row`: the trigger that the image was built for.
///
/// A delete may precede its insert (a trigger deleted the row before ours saw it): what waits is tried again after the others. Inserts
/// never wait, so the turn after finds all partners that there are.
fn in_turns(
    control: &Control,
    index: usize,
    table: &TableDelta,
    last: bool,
    row: &mut TriggerKey,
) -> Result<Left, FlushEnd> {
    let mut todo: Vec<usize> = Vec::new();
    if todo.try_reserve(table.entries.len()).is_err() {
        return Err(FlushEnd::Broken(Damage::Memory));
    }
    todo.extend(0..table.entries.len());
    let mut work = FlushState::default();
    if table.lost.is_none() && todo.len() <= FEW && table.entries.iter().all(|entry| entry.logged == 0) {
        apply::now(control, index, table, &mut todo, &mut work, row)?;
    }
    if !todo.is_empty() || table.lost.is_some() {
        let Some(load) = target(control, index, table, row)? else { return Ok(Left::default()) };
        if let Some(lost) = table.lost {
            return Err(FlushEnd::Broken(lost.why));
        }
        // What was logged for the load that made the image is in it.
        todo.retain(|i| load == 0 || table.entries[*i].logged != load);
        let contained = contain::attempt(|| {
            while !todo.is_empty() {
                let tried = todo.len();
                let done = apply::pass(control, index, table, load, &todo, &mut work)?;
                work.leave(&mut todo, done);
                if done < tried {
                    return Ok(Flushed::Interrupted);
                }
                if todo.len() == tried {
                    break;
                }
            }
            Ok(Flushed::All)
        });
        if contained.unwrap_or(Err(FlushEnd::Broken(Damage::Memory)))? == Flushed::Interrupted {
            return Ok(Left { entries: todo, lost: None, interrupted: true });
        }
        if last && !todo.is_empty() {
            return Err(FlushEnd::Broken(Damage::Unmatched));
        }
    }
    settle_in_turn(control, index, table)?;
    Ok(Left { entries: todo, ..Left::default() })
}

/// The load of the image that takes the table's entries, and its trigger's `row`. None: there is no such image. Errors: it knows other
/// columns by these names (they were renamed into one another), and cannot follow the table any more; it is dropped.
fn target(control: &Control, index: usize, table: &TableDelta, row: &mut TriggerKey) -> Result<Option<u64>, FlushEnd> {
    let slot = &control.slots[index];
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
    let Some((columns, load, of)) = target else { return Ok(None) };
    if columns != table.source.columns && table.lost.is_none() {
        slot.spoil(Damage::Lost);
        contain::attempt(|| chunks::drop_image(control, index));
        return Err(FlushEnd::Gone);
    }
    *row = of;
    Ok(Some(load))
}

/// Settles versions if it is this flush's turn.
fn settle_in_turn(control: &Control, index: usize, table: &TableDelta) -> Result<(), FlushEnd> {
    let many = table.entries.len() > MANY;
    let flushes = control.slots[index].flushes.fetch_add(1, Relaxed);
    if !many && !flushes.is_multiple_of(SETTLE_EVERY) {
        return Ok(());
    }
    let budget = if many { 2 * table.entries.len() } else { 4 * SETTLE_SLICE };
    match contain::attempt(|| settle(control, index, table.oid, budget)).unwrap_or(Some(Damage::Memory)) {
        Some(why) => Err(FlushEnd::Broken(why)),
        None => Ok(()),
    }
}

/// The image can not follow the table any more.
fn give_up(control: &Control, index: usize, table: pg_sys::Oid, row: TriggerKey, why: Damage) {
    let slot = &control.slots[index];
    if slot.spoiled.load(Relaxed) == 0 {
        slot.spoil(why);
        // Nobody can use it any more: its memory is better given to the next build.
        contain::attempt(|| chunks::drop_image(control, index));
        // The triggers were off meanwhile, and nobody has read since: that image was of no use, and the next reader makes another.
        let stale = why == Damage::Unmatched && contain::attempt(|| !pg_trigger::is_still(row)) == Some(true);
        if !stale {
            error::warn_incomplete(&name::display_name(table), why);
        }
    }
}
