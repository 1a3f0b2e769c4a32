//! cft_context: the hierarchy around one entity, or around many in one pass.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::api::sink::{self, Sink};
use crate::api::text::Sentences;
use crate::area::{self, Unusable};
use crate::compat::plain;
use crate::edges::{self, Columns, Edges};
use crate::error::{self, Fallible, MAX_LEVELS};
use crate::fmgr::Call;
use crate::guc::{self, Temperature};
use crate::methods::breathe;
use crate::methods::walker::text_array;
use crate::registered;
use crate::registration::{self, Functions, Registration};
use crate::route::{self, Reason, Ticket};
use crate::row::HEADERS;
use crate::visibility::Seen;
use crate::{chosen, counters, flush, reference, rights};
use cftrag_core::{Breath, Image, Step, Walk};
use pgrx::check_for_interrupts;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Edge slots visited under one holding of the lock: about a millisecond, so that no writer waits longer for a reader.
pub const CELLS: usize = 20_000;
/// A backend's image call in so many settles a bounded number of versions.
const SETTLE_EVERY: u32 = 64;
const SETTLE: usize = 1024;
/// A workspace that grew past this is given back after the call: that of some 100,000 rows.
const KEEP_BYTES: usize = 16 << 20;
/// Cells that a new workspace has room for.
const FIRST_CELLS: usize = 1024;
/// Workspaces that are kept: a statement has seldom more scans at once.
const KEEP_WALKS: usize = 4;

/// Boxed: they are handed from hand to hand.
type Workspaces = Vec<Box<Walk>>;

thread_local! {
    static WALKS: RefCell<Workspaces> = const { RefCell::new(Vec::new()) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// `cft_context(entity text, up int, down int, edges regclass)`: see sql/reference.sql for what it returns.
///
/// NULL entity, up or down: no rows. Errors: 42P01 (not attached), 42725 (several attached), 22023 (levels), 42703 (a column is gone),
/// 42501 (the table's own).
#[pg_extern(sql = false)]
fn cft_context_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some(name), Some(up), Some(down)) = (call.text(0), call.int(1), call.int(2)) else { return Ok(()) };
    answer(&call, &[name], || array_of_one(&call), up, down, &mut Sink::Rows(rows))
}

/// `cft_context(entities text[], up int, down int, edges regclass)`: the same for many, in the order of first occurrence.
#[pg_extern(sql = false)]
fn cft_context_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some((names, array)), Some(up), Some(down)) = (call.names(0), call.int(1), call.int(2)) else { return Ok(()) };
    answer(&call, &names, || array, up, down, &mut Sink::Rows(rows))
}

/// A text[] of the call's first argument.
pub fn array_of_one(call: &Call) -> pg_sys::Datum {
    array_of(call.arg(0).unwrap_or(pg_sys::Datum::from(0usize)))
}

/// A text[] of that text.
pub fn array_of(mut element: pg_sys::Datum) -> pg_sys::Datum {
    // SAFETY: one text element, which is copied.
    unsafe {
        pg_sys::Datum::from(pg_sys::construct_array(
            &mut element,
            1,
            pg_sys::TEXTOID,
            -1,
            false,
            pg_sys::TYPALIGN_INT as std::ffi::c_char,
        ))
    }
}

/// Answers from the image if every condition holds, else by the reference query; counts which.
///
/// Arguments of the call: entity or entities, up, down, edges.
pub fn answer(
    call: &Call,
    names: &[&[u8]],
    array: impl Fn() -> pg_sys::Datum,
    up: i32,
    down: i32,
    sink: &mut Sink,
) -> Fallible<()> {
    check_levels(up, down)?;
    answer_of(&open(call, 3)?, names, array, up, down, sink)
}

/// 22023 if there are too many, or fewer than none.
pub fn check_levels(up: i32, down: i32) -> Fallible<()> {
    for (argument, value) in [("up", up), ("down", down)] {
        if !(0..=MAX_LEVELS).contains(&value) {
            return Err(error::bad_levels(argument, value));
        }
    }
    Ok(())
}

/// An attached table that a call asks about: opened, its registration under the caller's snapshot, its columns.
pub type Opened = (Edges, Rc<Registration>, Columns, Functions);

/// The same of a table opened before; `up` and `down` are in their range. For calls that walk more than once: all walks are under the
/// caller's one snapshot, whoever answers. Errors: 53400, 53200 (memory), 54000 (a text that is too long).
pub fn answer_of(
    opened: &Opened,
    names: &[&[u8]],
    array: impl Fn() -> pg_sys::Datum,
    up: i32,
    down: i32,
    sink: &mut Sink,
) -> Fallible<()> {
    let mut walk = workspace()?;
    match walk_from(opened, names, up, down, &mut walk, |walk| sink.take(walk, false))? {
        Served::All(ticket) => {
            sink.take(&mut walk, true)?;
            asked(opened, &ticket, &walk);
        }
        Served::Only(taken) => {
            let array = if taken == 0 { array() } else { text_array(&names[taken..]) };
            match sink {
                Sink::Text(text) => {
                    let mut out = Sentences::after(walk.written())?;
                    by_reference(opened, array, up, down, &mut Sink::Parts(&mut |rows| out.add(rows)))?;
                    **text = sink::text_of(out.as_bytes())?;
                }
                sink => by_reference(opened, array, up, down, sink)?,
            }
        }
    }
    give_back(walk);
    Ok(())
}

/// A workspace, out of its place meanwhile: what an ERROR cuts short gives its room back. Within `cftrag.work_memory`.
pub fn workspace() -> Fallible<Box<Walk>> {
    let limit = sink::limit();
    // One that grew when there was more of it is given back.
    let kept = WALKS.with_borrow_mut(Vec::pop).filter(|walk| walk.bytes() <= limit / 2);
    let is_new = kept.is_none();
    let mut walk = kept.unwrap_or_else(|| Box::new(Walk::new(HEADERS)));
    walk.limit(limit, sink::work_mem());
    if is_new {
        walk.make_room(FIRST_CELLS, &mut Breath::new(&mut || ())).map_err(error::no_room)?;
    }
    Ok(walk)
}

/// Keeps a workspace for the next call, unless it grew large or there are enough.
pub fn give_back(walk: Box<Walk>) {
    if walk.bytes() <= KEEP_BYTES {
        WALKS.with_borrow_mut(|walks| {
            if walks.len() < KEEP_WALKS {
                walks.push(walk);
            }
        });
    } else {
        walk.free(&mut Breath::new(&mut { breathe }));
    }
}

/// How far the image served a call.
pub enum Served {
    /// What was not taken yet is in the workspace, in no order.
    All(Ticket),
    /// The answers of so many names were taken; it cannot serve the others, which is counted.
    Only(usize),
}

/// What ends a walk.
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

/// Walks from the names. What is answered is given to `part` when it passes work_mem, while there are more names.
pub fn walk_from(
    (table, registration, columns, functions): &Opened,
    names: &[&[u8]],
    up: i32,
    down: i32,
    walk: &mut Walk,
    mut part: impl FnMut(&mut Walk) -> Fallible<()>,
) -> Fallible<Served> {
    walk.clear();
    walk.count_lookups(guc::TEMPERATURE.get() != Temperature::Off);
    if names.len() > 1 {
        let bytes = names.iter().map(|name| name.len()).sum();
        walk.make_room_for(names.len(), bytes, &mut Breath::new(&mut { breathe })).map_err(error::no_room)?;
    }
    for name in names {
        walk.begin(name, up as u32, down as u32);
    }
    let step = |image: Image<'_>, seen: &Seen| walk.step(image, seen, CELLS);
    let first = route::route_and(table, registration, columns, *functions, step).map_err(End::from);
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
            counters::count(table.oid(), reason);
            Ok(Served::Only(taken))
        }
        Err(End::Error(error)) => Err(error),
    }
}

/// Counts a call that the image served, and does the image's housekeeping.
pub fn asked((table, ..): &Opened, ticket: &Ticket, walk: &Walk) {
    ticket.control.slots[ticket.index].count_call(walk.counters());
    settle_now_and_then(table, ticket);
}

/// Answers by the reference query. `entities` is a text[] value.
pub fn by_reference(
    (table, registration, columns, _): &Opened,
    entities: pg_sys::Datum,
    up: i32,
    down: i32,
    sink: &mut Sink,
) -> Fallible<()> {
    reference::answer(table, &registration.names, columns, entities, up, down, sink)
}

/// Walks on from its first step to the end, in slices; learns the xids it met.
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
                let room = walk.make_room(CELLS, &mut Breath::new(&mut { breathe }));
                room.map_err(|why| End::Error(error::no_room(why)))?;
            }
            Step::Ask => {
                check_for_interrupts!();
                ticket.learn(walk.asked())?;
                walk.restart();
            }
        }
        step = ticket.read(|image, seen| walk.step(image, seen, CELLS))?;
    }
}

pub fn settle_now_and_then(table: &Edges, ticket: &Ticket) {
    CALLS.set(CALLS.get().wrapping_add(1));
    if !CALLS.get().is_multiple_of(SETTLE_EVERY) || !crate::contain::possible() {
        return;
    }
    let versions = area::read(ticket.control, ticket.index, |_, image| image.stats().versions).unwrap_or(0);
    if versions > 0 {
        let settled =
            crate::contain::attempt(|| flush::settle_if_free(ticket.control, ticket.index, table.oid(), SETTLE));
        if let Some(Some(why)) = settled {
            ticket.control.slots[ticket.index].spoil(why);
        }
    }
}

/// The table of argument `n` (where it is left out, the one that is [`meant`]), its registration under the
/// caller's snapshot, and its columns.
pub fn open(call: &Call, n: usize) -> Fallible<Opened> {
    open_table(call.function(), call.oid(n))
}

/// The same of a function of ours and its argument `edges`.
pub fn open_table(function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Opened> {
    let functions = Functions::beside(function);
    // SAFETY: a snapshot is active in every SQL function.
    let snapshot = unsafe { plain::GetActiveSnapshot() };
    let table = match edges {
        Some(table) => Edges::open(table)?,
        None => open_meant(snapshot, functions)?,
    };
    // SAFETY: the active snapshot.
    let registration = match unsafe { registration::read_once(table.oid(), snapshot, functions) } {
        Some(registration) => registration,
        // An older snapshot may not see an attach that is committed now: the columns are known, the image is not for it.
        None => match registration::read(table.oid(), std::ptr::null_mut(), functions) {
            Some(now) => Rc::new(Registration { sound: false, ..now }),
            None => return Err(error::not_attached(&edges::display_name(table.oid()))),
        },
    };
    let columns = registered::columns(&table, &registration)?;
    Ok((table, registration, columns, functions))
}

/// The table that [`meant`] chooses. One that was dropped while its lock was waited for is not it: it is chosen again, as a name would be.
fn open_meant(snapshot: pg_sys::Snapshot, functions: Functions) -> Fallible<Edges> {
    loop {
        if let Ok(table) = Edges::open(meant(snapshot, functions)?) {
            return Ok(table);
        }
        check_for_interrupts!();
        registration::choose_again();
    }
}

/// The table that a call without `edges` means: that of cftrag.edges, else the only attached one of an owner whom the caller trusts.
pub fn meant(snapshot: pg_sys::Snapshot, functions: Functions) -> Fallible<pg_sys::Oid> {
    if let Some(chosen) = chosen::edges()? {
        return Ok(chosen);
    }
    let others = RefCell::new(Vec::new());
    let usable = |table| {
        let readable = readable(table);
        let trusted = readable && rights::trusts(table);
        if readable && !trusted {
            others.borrow_mut().push(table);
        }
        trusted
    };
    let names = |tables: &[pg_sys::Oid]| tables.iter().map(|t| edges::full_name(*t)).collect::<Vec<_>>();
    // SAFETY: the active snapshot.
    match unsafe { registration::only_attached(snapshot, functions, usable) } {
        Ok(only) => Ok(only),
        Err(none) if none.is_empty() && others.borrow().is_empty() => Err(error::none_attached()),
        Err(none) if none.is_empty() => Err(error::untrusted_attached(&names(&others.borrow()))),
        Err(several) => Err(error::several_attached(&names(&several))),
    }
}

/// USAGE on the schema, and SELECT on the table or on some column of it.
pub fn readable(table: pg_sys::Oid) -> bool {
    // SAFETY: system cache lookups by OID; a table that is gone gives InvalidOid or no privilege.
    unsafe {
        let role = pg_sys::GetUserId();
        let schema = pg_sys::get_rel_namespace(table);
        let select = pg_sys::ACL_SELECT as pg_sys::AclMode;
        let ok = pg_sys::AclResult::ACLCHECK_OK;
        schema != pg_sys::InvalidOid
            && crate::compat::schema_usage(schema, role)
            && (pg_sys::pg_class_aclcheck(table, role, select) == ok
                || pg_sys::pg_attribute_aclcheck_all(table, role, select, pg_sys::AclMaskHow::ACLMASK_ANY) == ok)
    }
}
