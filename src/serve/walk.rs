//! The hierarchy around an entity: walks in the image or runs the reference query, and passes the rows on.
//!
//! `KEEP_WALKS` workspaces are kept between calls, each within `KEEP_BYTES`. A walk runs in steps of `SLOTS`, so that
//! no image lock is held for long and a cancel takes effect between them.

use crate::call::tuple::HEADERS;
use crate::call::{fmgr, work_memory};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::guc::Temperature;
use crate::image::chunks::Unusable;
use crate::image::reason::Reason;
use crate::image::settle::{MOST_SETTLED, SETTLE_SLICE};
use crate::image::{chunks, counters, settle};
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::pg::snapshot::SnapshotView;
use crate::serve::asked;
use crate::serve::asked::Reach;
use crate::serve::conditions::Ticket;
use crate::serve::reference::Source;
use crate::serve::sentences::Sentences;
use crate::serve::sink::Sink;
use crate::serve::{reference, route};
use crate::{error, guc};
use cftrag_core::{Counters, Image, Interruptible, Step, Walk};
use pgrx::check_for_interrupts;
use pgrx::pg_sys::panic::ErrorReport;
use std::cell::{Cell, RefCell};

/// Edge slots visited before the lock is released: about a millisecond, so that no writer waits longer for a reader.
pub const SLOTS: usize = 20_000;

/// One in this many of a backend's image calls settles half of the versions, as far as no snapshot needs them.
const SETTLE_EVERY: u32 = 16;

/// A call that has visited more slots than this settles a version for each `SLOTS_PER_SETTLED` of them, which takes
/// about as long as the call. So dead versions near what is asked for are soon gone.
const MANY_SLOTS: u64 = 1024;

const SLOTS_PER_SETTLED: u64 = 4;

/// A workspace that grew past this, by some 100,000 rows, is freed after the call.
const KEEP_BYTES: usize = 16 << 20;

/// Slots that a new workspace reserves.
const FIRST_SLOTS: usize = 1024;

/// Workspaces kept: a statement seldom has more scans at once.
const KEEP_WALKS: usize = 4;

/// Boxed, so that moving one copies a pointer.
type Workspaces = Vec<Box<Walk>>;

thread_local! {
    static WALKS: RefCell<Workspaces> = const { RefCell::new(Vec::new()) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Answers from an opened table, with the labels of its own column; the levels are in range. Callers may walk several
/// times: the caller's snapshot holds for all walks, in the image or not. Errors: 53400, 53200 (memory), 54000 (a text
/// that is too long).
pub fn answer(of: &AttachedTable, names: &[&[u8]], reach: Reach, sink: &mut Sink) -> Fallible<()> {
    let mut walk = workspace()?;
    walk.answer_own_rows(sink.takes_own_rows());
    walk.answer_labels(of.columns.has_labels() && sink.takes_labels());
    match walk_from(of, names, reach, &mut walk, |walk| sink.take(walk, false))? {
        Served::All(ticket) => {
            sink.take(&mut walk, true)?;
            served(of, &ticket, walk.counters());
        }
        Served::Only(taken) => {
            let rest = &names[taken..];
            match sink {
                Sink::Text(answer) if of.columns.has_labels() => answer.is_unclear = true,
                Sink::Text(answer) => {
                    let mut out = Sentences::after(walk.written())?;
                    by_reference(of, rest, reach, &mut Sink::Parts(&mut |rows| out.add(rows)))?;
                    answer.text = fmgr::text_of(out.as_bytes())?;
                }
                sink => by_reference(of, rest, reach, sink)?,
            }
        }
    }
    give_back(walk);
    Ok(())
}

/// Takes a workspace out of the kept ones, or makes one, within `cftrag.work_memory`. An ERROR frees it.
pub fn workspace() -> Fallible<Box<Walk>> {
    let limit = work_memory::limit();
    // Free one that grew under a higher limit.
    let kept = WALKS.with_borrow_mut(Vec::pop).filter(|walk| walk.bytes() <= limit / 2);
    let is_new = kept.is_none();
    let mut walk = kept.unwrap_or_else(|| Box::new(Walk::new(HEADERS)));
    walk.limit(limit, work_memory::work_mem());
    walk.answer_own_rows(false);
    walk.answer_labels(false);
    if is_new {
        walk.make_room(FIRST_SLOTS, &mut Interruptible::new(&mut || ())).map_err(error::no_room)?;
    }
    Ok(walk)
}

/// Keeps a workspace for the next call, unless it grew large or enough are kept.
pub fn give_back(walk: Box<Walk>) {
    if walk.bytes() + size_of_val(walk.rows()) <= KEEP_BYTES {
        WALKS.with_borrow_mut(|walks| {
            if walks.len() < KEEP_WALKS {
                walks.push(walk);
            }
        });
    } else {
        walk.free(&mut Interruptible::new(&mut { check_interrupts }));
    }
}

/// How far the image served a call.
pub enum Served {
    /// All of it: rows not passed on yet are in the workspace, unsorted.
    All(Ticket),
    /// Only this many names, the first ones; their rows were passed on. The reason why it cannot serve the rest has
    /// been counted.
    Only(usize),
}

/// What ends a walk early.
pub enum End {
    Unusable(Reason),
    Error(ErrorReport),
}

impl From<Reason> for End {
    fn from(reason: Reason) -> Self {
        End::Unusable(reason)
    }
}

impl From<Unusable> for End {
    fn from(why: Unusable) -> Self {
        End::Unusable(why.into())
    }
}

/// Every workspace has room for a walk from a name of this many bytes.
pub const LONG: usize = 1024;

/// Walks from the names. While names remain, calls `part` each time the answer so far exceeds work_mem.
pub fn walk_from(
    of: &AttachedTable,
    names: &[&[u8]],
    reach: Reach,
    walk: &mut Walk,
    mut part: impl FnMut(&mut Walk) -> Fallible<()>,
) -> Fallible<Served> {
    let Reach { up, down, trees, counts } = reach;
    walk.clear();
    if let Some(trees) = trees {
        walk.only_in(asked::trees(trees)?);
    }
    walk.count_lookups(counts && guc::TEMPERATURE.get() != Temperature::Off);
    if names.len() > 1 || names.first().is_some_and(|name| name.len() > LONG) {
        let bytes = names.iter().map(|name| name.len()).sum();
        walk.make_room_for(names.len(), bytes, &mut Interruptible::new(&mut { check_interrupts }))
            .map_err(error::no_room)?;
    }
    for some in names.chunks(ROWS_BETWEEN_CHECKS) {
        check_for_interrupts!();
        some.iter().for_each(|name| walk.begin(name, up as u32, down as u32));
    }
    let step = |image: Image<'_>, seen: &SnapshotView| walk.step(image, seen, SLOTS);
    let first = route::route_and(of, step).map_err(End::from);
    let mut taken = 0;
    let mut part = |walk: &mut Walk| {
        part(walk)?;
        taken = walk.take_part();
        Ok(())
    };
    let served = first.and_then(|(mut ticket, step)| finish(walk, &mut ticket, step, &mut part).map(|()| ticket));
    match served {
        Ok(ticket) => Ok(Served::All(ticket)),
        Err(End::Unusable(reason)) => {
            counters::count(of.oid(), reason);
            Ok(Served::Only(taken))
        }
        Err(End::Error(error)) => Err(error),
    }
}

/// Counts a call that the image served, and does the image's housekeeping.
pub fn served(of: &AttachedTable, ticket: &Ticket, counters: Counters) {
    ticket.control.slot(ticket.index).count_call(counters);
    settle_now_and_then(of, ticket, counters.slots_visited);
}

/// Answers by the reference query.
pub fn by_reference(of: &AttachedTable, names: &[&[u8]], reach: Reach, sink: &mut Sink) -> Fallible<()> {
    reference::answer(Source::of(of), names, reach, sink)
}

/// Continues a walk after its first step, in slices; learns the xids that it meets.
fn finish(
    walk: &mut Walk,
    ticket: &mut Ticket,
    first: Step,
    part: &mut dyn FnMut(&mut Walk) -> Fallible<()>,
) -> Result<(), End> {
    let mut step = first;
    loop {
        match step {
            Step::Done => return Ok(()),
            Step::More => {
                check_for_interrupts!();
                if walk.has_part() {
                    part(walk).map_err(End::Error)?;
                }
                let room = walk.make_room(SLOTS, &mut Interruptible::new(&mut { check_interrupts }));
                room.map_err(|why| End::Error(error::no_room(why)))?;
            }
            Step::Ask => {
                check_for_interrupts!();
                ticket.learn(walk.asked())?;
                walk.restart();
            }
        }
        step = ticket.read(|image, seen| walk.step(image, seen, SLOTS))?;
    }
}

/// Settles versions in every [`SETTLE_EVERY`]th call of this backend, and after a call that has visited many slots.
pub fn settle_now_and_then(of: &AttachedTable, ticket: &Ticket, visited: u64) {
    CALLS.set(CALLS.get().wrapping_add(1));
    let is_turn = CALLS.get().is_multiple_of(SETTLE_EVERY);
    if !is_turn && visited <= MANY_SLOTS || !crate::pg::contain::possible() {
        return;
    }
    let versions = chunks::read(ticket.control, ticket.index, |_, image| image.stats().versions).unwrap_or(0);
    let half = if is_turn { versions.div_ceil(2).max(SETTLE_SLICE as u64) } else { 0 };
    let budget = (half.max(visited / SLOTS_PER_SETTLED) as usize).min(MOST_SETTLED);
    if versions > 0 {
        let settled =
            crate::pg::contain::attempt(|| settle::settle_if_free(ticket.control, ticket.index, of.oid(), budget));
        if let Some(Some(why)) = settled {
            ticket.control.entry(ticket.index).spoil(why);
        }
    }
}
