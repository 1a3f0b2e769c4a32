//! cft_context: the hierarchy around one entity, or around many in one pass.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::area;
use crate::compat::plain;
use crate::edges::{self, Columns, Edges};
use crate::error::{self, Fallible, MAX_LEVELS};
use crate::fmgr::{Call, Rows, text_datum};
use crate::guc::{self, Temperature};
use crate::registered;
use crate::registration::{self, Functions, Registration};
use crate::route::{self, Reason, Ticket};
use crate::row::{self, HEADERS};
use crate::slot::Spoil;
use crate::visibility::Seen;
use crate::{counters, flush, reference};
use cftrag_core::{Image, Relation, Step, Walk};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering::SeqCst;

/// Edge slots visited under one holding of the lock: about a millisecond, so that no writer waits longer for a reader.
pub const CELLS: usize = 20_000;
/// A backend's image call in so many settles a bounded number of versions.
const SETTLE_EVERY: u32 = 64;
const SETTLE: usize = 1024;
/// A workspace that grew past this is given back after the call.
const KEEP_ROWS: usize = 100_000;
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

/// One row of an answer, as bytes.
#[derive(Clone, Copy)]
pub struct Relative<'a> {
    pub entity: &'a [u8],
    pub tree: Option<&'a [u8]>,
    pub ancestor: bool,
    pub depth: i32,
    pub name: &'a [u8],
    pub via: &'a [u8],
}

/// Where an answer goes, in its order: to the executor as rows, to a text, or to a function that makes something else of all of it.
pub enum Sink<'a> {
    Rows(Rows),
    /// The sentences of cft_context_text, as a text value; none if there are none.
    Text(&'a mut Option<pg_sys::Datum>),
    Whole(&'a mut dyn FnMut(&[Relative<'_>])),
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
    answer_of(&open(call, 3)?, names, array, up, down, sink);
    Ok(())
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
/// caller's one snapshot, whoever answers.
pub fn answer_of(
    opened: &Opened,
    names: &[&[u8]],
    array: impl Fn() -> pg_sys::Datum,
    up: i32,
    down: i32,
    sink: &mut Sink,
) {
    let mut walk = workspace();
    match walk_from(opened, names, up, down, &mut walk) {
        Some(ticket) => {
            match sink {
                Sink::Rows(rows) => {
                    walk.finish();
                    emit(&walk, *rows);
                }
                Sink::Text(text) => **text = text_of(walk.text()),
                Sink::Whole(take) => {
                    walk.finish();
                    take(&relatives(&walk));
                }
            }
            asked(opened, &ticket, &walk);
        }
        None => by_reference(opened, array(), up, down, sink),
    }
    give_back(walk);
}

/// A workspace, out of its place meanwhile: what an ERROR cuts short gives its room back.
pub fn workspace() -> Box<Walk> {
    WALKS.with_borrow_mut(Vec::pop).unwrap_or_else(|| Box::new(Walk::new(HEADERS)))
}

/// Keeps a workspace for the next call, unless it grew large or there are enough.
pub fn give_back(walk: Box<Walk>) {
    if walk.so_far().1 <= KEEP_ROWS {
        WALKS.with_borrow_mut(|walks| {
            if walks.len() < KEEP_WALKS {
                walks.push(walk);
            }
        });
    }
}

/// Walks from the names; the answer is then in the workspace, complete and in order. None if the image cannot serve, which is counted.
pub fn ask(opened: &Opened, names: &[&[u8]], up: i32, down: i32, walk: &mut Walk) -> Option<Ticket> {
    let ticket = walk_from(opened, names, up, down, walk)?;
    walk.finish();
    Some(ticket)
}

/// The same, but for the order.
fn walk_from(
    (table, registration, columns, functions): &Opened,
    names: &[&[u8]],
    up: i32,
    down: i32,
    walk: &mut Walk,
) -> Option<Ticket> {
    walk.clear();
    walk.count_lookups(guc::TEMPERATURE.get() != Temperature::Off);
    for name in names {
        walk.begin(name, up as u32, down as u32);
    }
    let step = |image: Image<'_>, seen: &Seen| walk.step(image, seen, CELLS);
    let served = route::route_and(table, registration, columns, *functions, step)
        .and_then(|(mut ticket, step)| finish(walk, &mut ticket, step).map(|()| ticket));
    match served {
        Ok(ticket) => Some(ticket),
        Err(reason) => {
            counters::count(table.oid(), reason);
            None
        }
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
) {
    reference::answer(table, &registration.names, columns, entities, up, down, sink);
}

/// Walks on from its first step to the end, in slices; learns the xids it met.
fn finish(walk: &mut Walk, ticket: &mut Ticket, first: Step) -> Result<(), Reason> {
    let slot = &ticket.control.slots[ticket.index];
    let mut step = first;
    loop {
        match step {
            Step::Done => return Ok(()),
            Step::More => {
                check_for_interrupts!();
                walk.make_room(CELLS);
            }
            Step::Ask => {
                if ticket.seen.learn(walk.asked()).is_none() {
                    slot.spoil(Spoil::Ancient);
                    return Err(Reason::Ancient);
                }
                walk.restart();
            }
        }
        step = area::read(ticket.control, ticket.index, |_, image| {
            (slot.generation.load(SeqCst) == ticket.generation).then(|| walk.step(image, &ticket.seen, CELLS))
        })?
        .ok_or(Reason::NoImage)?;
    }
}

fn emit(walk: &Walk, rows: Rows) {
    row::add_all(rows, 6, walk.rows(), |of, row| {
        row.text(walk.name(walk.entity(of.group)));
        match of.tree {
            Some(tree) => row.text(walk.name(tree)),
            None => row.null(),
        }
        row.text(match of.relation {
            Relation::Ancestor => b"ancestor",
            Relation::Descendant => b"descendant",
        });
        row.int(of.depth as i32);
        row.text(walk.name(of.relative));
        row.text(walk.name(of.via));
    });
}

/// A text value of sentences; none if there are none.
pub fn text_of(sentences: &[u8]) -> Option<pg_sys::Datum> {
    (!sentences.is_empty()).then(|| text_datum(sentences))
}

fn relatives(walk: &Walk) -> Vec<Relative<'_>> {
    let row = |row: &cftrag_core::Row| Relative {
        entity: walk.name(walk.entity(row.group)),
        tree: row.tree.map(|tree| walk.name(tree)),
        ancestor: row.relation == Relation::Ancestor,
        depth: row.depth as i32,
        name: walk.name(row.relative),
        via: walk.name(row.via),
    };
    walk.rows().iter().map(row).collect()
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

/// The table of argument `n` (where it is left out, the only attached table that the caller may read), its registration under the
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
        None => Edges::open(only_attached(snapshot, functions)?)?,
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

/// The only attached table that a call without `edges` may mean.
pub fn only_attached(snapshot: pg_sys::Snapshot, functions: Functions) -> Fallible<pg_sys::Oid> {
    let others = Cell::new(false);
    let usable = |table| {
        let readable = readable(table);
        let meant = readable && by_itself(table);
        others.set(others.get() || readable && !meant);
        meant
    };
    // SAFETY: the active snapshot.
    match unsafe { registration::only_attached(snapshot, functions, usable) } {
        Ok(only) => Ok(only),
        Err(none) if none.is_empty() => Err(error::none_attached(others.get())),
        Err(several) => {
            Err(error::several_attached(&several.iter().map(|t| edges::display_name(*t)).collect::<Vec<_>>()))
        }
    }
}

/// Whether the table may be meant where none is named: not if policies of an owner whose rights the caller does not have would run with
/// the caller's. (A superuser's may: he needs no policy.)
fn by_itself(table: pg_sys::Oid) -> bool {
    // SAFETY: system cache lookups by OID.
    unsafe {
        let policies = pg_sys::check_enable_rls(table, pg_sys::InvalidOid, true);
        policies != pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
            || crate::compat::owns_table(table, pg_sys::GetUserId())
            || crate::compat::owner_is_superuser(table)
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
