//! Moves a table's delta into its image: at PRE_COMMIT and PREPARE, before this transaction's own reads, and when the
//! delta is larger than its cap.
//!
//! PRE_COMMIT comes after deferred triggers and before the commit record, so no snapshot can see the commit and miss
//! the edge; flushed changes carry the running transaction's xids and are invisible to all others. Flushing contains
//! every ERROR: the image becomes incomplete, and a WARNING says why; only a commit that cannot map the control block
//! raises 53200 and ends the transaction. Before the commit, changes for which memory runs out count as lost, and may
//! still be rolled back. A flush can stop between slices (apply.rs): transaction.rs serves the interrupt and calls
//! again.

use crate::capture::apply::{FlushEnd, FlushState};
use crate::capture::delta::TableDelta;
use crate::capture::{apply, log_record};
use crate::catalog::pg_trigger::TriggerKey;
use crate::catalog::{name, pg_trigger};
use crate::error;
use crate::error::Damage;
use crate::image::control::Control;
use crate::image::settle::{MOST_SETTLED, has_too_many_versions, settle};
use crate::image::slot::State;
use crate::image::{chunks, control};
use crate::pg::contain;
use pgrx::pg_sys;
use std::sync::atomic::Ordering::Relaxed;

/// A flush of more changes than this settles versions.
const MANY: usize = 512;

/// Up to this many changes are applied at once if possible.
const FEW: usize = 32;

/// Besides large flushes, one in this many settles versions: finding the horizon scans the process array.
const SETTLE_EVERY: u64 = 16;

/// The result of a flush.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// All entries are in the image, or void, or wait for their partner.
    All,
    /// The remaining entries must be flushed after serving the pending interrupt.
    Interrupted,
}

/// What remains of a table's delta: by default nothing.
#[derive(Default)]
struct Left {
    /// The indexes of its entries, ascending.
    entries: Vec<usize>,
    lost: Option<Damage>,
    interrupted: bool,
}

/// Flushes one table's entries. Those that wait for a partner stay, except in the `last` flush. Without an image, all
/// are dropped.
pub fn flush(table: &mut TableDelta, last: bool) -> Flushed {
    // What was lost may still be rolled back before the last flush.
    if table.is_empty() || (table.lost.is_some() && !last) {
        return Flushed::All;
    }
    let left = match control::attach() {
        Some(control) => control.find_entry(table.oid).map_or_else(Left::default, |index| {
            if control.map_slot(index).is_none() {
                control.entry(index).lose_log();
                control.entry(index).spoil(Damage::Lost);
                return Left::default();
            }
            log_record::capture(control, index, table);
            into_image(control, index, table, last)
        }),
        // Other processes may use an image that would miss this change, so it cannot be committed.
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
        // Before the commit the image misses nothing yet: what is not captured counts as lost, unless it is rolled
        // back.
        Err(FlushEnd::Broken(Damage::Memory)) if !last => Left { lost: Some(Damage::Memory), ..Left::default() },
        Err(stop) => {
            if let FlushEnd::Broken(why) = stop {
                give_up(control, index, table.oid, row, why);
            }
            Left::default()
        }
    }
}

/// Applies the entries in turns, until all are in the image or no more can be applied; then settles some versions. A
/// few entries are applied at once ([`apply::now`]). What is left of them, and larger numbers, are applied with errors
/// contained. Sets `row` to the trigger that the image was built for.
///
/// A delete may precede its insert (a trigger deleted the row before ours saw it): we retry waiting deletes after the
/// other entries. Inserts never wait, so the next turn finds all partners that exist.
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
        // The image has what was logged for the load that built it.
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

/// The load of the image that takes the table's entries; sets `row` to its trigger. None if there is no such image. If
/// the image knows other columns by these names (they were renamed into one another), it cannot follow the table any
/// more: drops it, and returns an error.
fn target(control: &Control, index: usize, table: &TableDelta, row: &mut TriggerKey) -> Result<Option<u64>, FlushEnd> {
    let slot = control.slot(index);
    // Ignore a trigger other than the image's (a second one was created): the image's own captures the same rows.
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
        control.entry(index).spoil(Damage::Lost);
        contain::attempt(|| chunks::drop_image(control, index));
        return Err(FlushEnd::Gone);
    }
    *row = of;
    Ok(Some(load))
}

/// Settles versions if it is this flush's turn, and drops the image if an old snapshot keeps too many.
fn settle_in_turn(control: &Control, index: usize, table: &TableDelta) -> Result<(), FlushEnd> {
    let many = table.entries.len() > MANY;
    let flushes = control.slot(index).flushes.fetch_add(1, Relaxed);
    if !many && !flushes.is_multiple_of(SETTLE_EVERY) {
        return Ok(());
    }
    let budget = MOST_SETTLED.max(2 * table.entries.len());
    let settled = contain::attempt(|| {
        let damage = settle(control, index, table.oid, budget);
        if damage.is_none() && has_too_many_versions(control, index, table.oid) {
            chunks::drop_image(control, index);
        }
        damage
    });
    match settled.unwrap_or(Some(Damage::Memory)) {
        Some(why) => Err(FlushEnd::Broken(why)),
        None => Ok(()),
    }
}

/// Marks the image incomplete and frees it: it cannot follow the table any more.
fn give_up(control: &Control, index: usize, table: pg_sys::Oid, row: TriggerKey, why: Damage) {
    let entry = control.entry(index);
    if entry.spoiled.load(Relaxed) == 0 {
        entry.spoil(why);
        // No snapshot can use it any more: free its memory for the next build.
        contain::attempt(|| chunks::drop_image(control, index));
        if why == Damage::Memory {
            return control.slot(index).put_off();
        }
        // No warning if the triggers were off and nothing was read since: the image was useless, and the next reader
        // builds another.
        let stale = why == Damage::Unmatched && contain::attempt(|| !pg_trigger::is_still(row)) == Some(true);
        if !stale {
            error::warn_incomplete(&name::display_name(table), why);
        }
    }
}
