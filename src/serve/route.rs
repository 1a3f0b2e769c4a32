//! A question to an image: asked before it and beside it (conditions.rs, pure), with what an answer may have done on its way.
//!
//! Two effects, each with one place. `flush_own` moves this transaction's changes into the image, so that it can answer its writer. `heal`
//! has an image built where there is none, or one is incomplete; the question is asked once more where it was built at once.

use crate::builds::locked::InPlace;
use crate::builds::{locked, request};
use crate::capture::transaction;
use crate::catalog::attached_table::AttachedTable;
use crate::image::control::Control;
use crate::image::directory;
use crate::image::reason::Reason;
use crate::pg::snapshot::SnapshotView;
use crate::serve::conditions;
use crate::serve::conditions::Ticket;
use cftrag_core::Image;
use pgrx::pg_sys;

/// Checks every condition. Flushes this transaction's own changes of the table; builds a small table's image if there is none.
pub fn route(of: &AttachedTable) -> Result<Ticket, Reason> {
    route_and(of, |_, _| ()).map(|(ticket, ())| ticket)
}

/// [`route`], and what `first` makes of the image under the lock that it was checked under.
pub fn route_and<R>(
    of: &AttachedTable,
    mut first: impl FnMut(Image<'_>, &SnapshotView) -> R,
) -> Result<(Ticket, R), Reason> {
    let question = conditions::before(of)?;
    flush_own(of.oid())?;
    question.of_image(&mut first).or_else(|(reason, question)| {
        heal(question.control(), of, reason)?;
        question.of_image(&mut first).map_err(|(reason, _)| reason)
    })
}

/// Whether a build by this reader could help. Where memory ran out it is looked for again after a while; cft_build looks at once.
fn heals(control: &Control, table: pg_sys::Oid, reason: Reason) -> bool {
    let stale = [Reason::NoImage, Reason::Rewritten, Reason::Triggers, Reason::Columns, Reason::Incomplete];
    stale.contains(&reason) && control.find(table).is_none_or(|(_, slot)| slot.may_find_memory())
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

/// Has an image made that could serve: by this reader, then it is there, or by a worker, then the reason stays.
fn heal(control: &Control, of: &AttachedTable, reason: Reason) -> Result<(), Reason> {
    // A question only looks; the slot that a build needs is taken here. None is to be had: every place holds an image.
    if directory::find_or_take(control, of.oid()).is_none() {
        return Err(Reason::NoMemory);
    }
    if !heals(control, of.oid(), reason) {
        return Err(reason);
    }
    let built = locked::in_place(control, &of.table, of.functions);
    if built != InPlace::Built {
        request::request(control, &of.table, of.functions, built == InPlace::GaveWay);
        return Err(reason);
    }
    Ok(())
}
