//! Routes a call to an image: conditions.rs does the checks, with and without the image; this file has the two effects
//! that a call may have.
//!
//! `flush_own` moves this transaction's changes into the image, so that the image can answer the transaction that made
//! them. `heal` gets an image built if there is none, or if it is stale or incomplete; if it was built at once, the
//! conditions that need the image are checked again.

use crate::builds::locked::InPlace;
use crate::builds::{locked, request};
use crate::capture::transaction;
use crate::catalog::attached_table::AttachedTable;
use crate::guc;
use crate::image::control::Control;
use crate::image::reason::Reason;
use crate::image::slot::ROW_BYTES;
use crate::pg::snapshot::SnapshotView;
use crate::serve::conditions;
use crate::serve::conditions::Ticket;
use cftrag_core::Image;
use pgrx::pg_sys;
use std::time::Duration;

/// Checks every condition. Flushes this transaction's own changes to the table; builds a small table's image if there
/// is none.
pub fn route(of: &AttachedTable) -> Result<Ticket, Reason> {
    route_and(of, |_, _| ()).map(|(ticket, ())| ticket)
}

/// [`route`], with the result of `first`, called with the image under the lock that it was checked under.
pub fn route_and<R>(
    of: &AttachedTable,
    first: impl FnMut(Image<'_>, &SnapshotView) -> R,
) -> Result<(Ticket, R), Reason> {
    route_or(of, first, heal)
}

/// [`route_and`], for a call whose definition reads the whole table: waits for a build rather than run that beside it.
pub fn route_whole<R>(
    of: &AttachedTable,
    first: impl FnMut(Image<'_>, &SnapshotView) -> R,
) -> Result<(Ticket, R), Reason> {
    route_or(of, first, |control, of, reason| {
        heal(control, of, reason).or_else(|reason| match waits(control, of, reason) {
            true => Ok(()),
            false => Err(reason),
        })
    })
}

fn route_or<R>(
    of: &AttachedTable,
    mut first: impl FnMut(Image<'_>, &SnapshotView) -> R,
    heal: impl Fn(&Control, &AttachedTable, Reason) -> Result<(), Reason>,
) -> Result<(Ticket, R), Reason> {
    let question = conditions::before(of)?;
    flush_own(of.oid())?;
    let found = question.of_image(&mut first).or_else(|(reason, question)| {
        heal(question.control(), of, reason)?;
        question.of_image(&mut first).map_err(|(reason, _)| reason)
    });
    found.inspect(|(ticket, _)| ticket.touch())
}

/// Waits for a build of the table, if one is under way or about to begin: no longer than the definition would take.
/// Returns whether there is another image.
fn waits(control: &Control, of: &AttachedTable, reason: Reason) -> bool {
    if !guc::WAIT_FOR_IMAGE.get() || !heals(control, of.oid(), reason) {
        return false;
    }
    let rows = u32::try_from(of.table.bytes() / ROW_BYTES).unwrap_or(u32::MAX);
    request::wait_for_image(control, of.oid(), DEFINITION_PER_ROW * rows)
}

/// What the definition takes for a row at least, where it reads the whole table (12 s for 1.3 million rows).
const DEFINITION_PER_ROW: Duration = Duration::from_micros(8);

/// Whether a build could help. After memory ran out, readers do not ask for a build for a while; cft_build still does.
fn heals(control: &Control, table: pg_sys::Oid, reason: Reason) -> bool {
    let stale = [Reason::NoImage, Reason::Rewritten, Reason::Triggers, Reason::Columns, Reason::Incomplete];
    stale.contains(&reason) && conditions::may_find_memory(control, table)
}

/// Moves this transaction's own changes into the image.
fn flush_own(table: pg_sys::Oid) -> Result<(), Reason> {
    if transaction::pending(table) {
        transaction::flush(table, false);
        if transaction::pending(table) {
            // A delete whose insert our trigger has not seen yet.
            return Err(Reason::PendingTrigger);
        }
    }
    Ok(())
}

/// Gets an image built: by this reader, and then Ok, or else by a worker, and then the call fails with `reason`.
fn heal(control: &Control, of: &AttachedTable, reason: Reason) -> Result<(), Reason> {
    // find() takes no slot, but a build needs one.
    if control.find_or_take(of.oid()).is_none() {
        return Err(Reason::NoMemory);
    }
    if !heals(control, of.oid(), reason) {
        return Err(conditions::for_memory(control, of.oid(), reason));
    }
    let built = locked::in_place(control, &of.table, of.functions);
    if built != InPlace::Built {
        request::request(control, &of.table, of.functions, built == InPlace::GaveWay);
        return Err(conditions::for_memory(control, of.oid(), reason));
    }
    Ok(())
}
