//! cft_entities: which entities occur in a text, by their names or by aliases of them.
//!
//! Where tables of aliases are attached, each has an image of its own (entity above alias). Then every window is looked for in all of
//! them, and leftmost-longest is chosen among what all of them found.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::api::context;
use crate::area;
use crate::edges::{Columns, Edges};
use crate::error::Fallible;
use crate::fmgr::{Call, Rows};
use crate::registration::{self, Functions, Registration};
use crate::route::{self, Reason, Ticket};
use crate::row::{self, Row, varlena_header};
use crate::slot::Spoil;
use crate::visibility::Seen;
use crate::{counters, reference};
use cftrag_core::{Image, Mention, Reader, Recogniser, Seek, Step};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::Ordering::SeqCst;

/// Edge slots visited under one holding of the lock; a word counts as two. See context.rs.
const CELLS: usize = 20_000;
/// Entities of aliases that are looked up under one holding of the lock.
const NAMES: usize = 64;
/// A workspace that grew past this is given back after the call.
const KEEP_MENTIONS: usize = 100_000;

thread_local! {
    /// One for the edges' image, one for each of aliases.
    static RECOGNISERS: RefCell<Vec<Recogniser>> = const { RefCell::new(Vec::new()) };
}

/// `cft_entities(question text, edges regclass, overlapping boolean)`: see sql/entities.sql for what it returns.
///
/// NULL question or overlapping: no rows. Errors: 42P01 (not attached), 42725 (several attached), 42703 (a column is gone), 42501 (the
/// tables' own), 22021 (not UTF-8, in a database of SQL_ASCII), 0A000 (EUC_JIS_2004).
#[pg_extern(sql = false)]
fn cft_entities(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some(text), Some(overlapping)) = (call.text(0), call.arg(2)) else { return Ok(()) };
    let (table, registration, columns, functions) = context::open(&call, 1)?;
    // SAFETY: a snapshot is active in every SQL function.
    let marked = unsafe { registration::alias_tables(table.oid(), pg_sys::GetActiveSnapshot(), functions) };
    let aliases = marked.iter().map(|a| Ok((Edges::open(a.table)?, a))).collect::<Fallible<Vec<_>>>()?;
    let edges = Source { table: &table, registration: Some(&registration), columns: Ok(columns), functions };
    let aliased = aliases.iter().map(|(table, marked)| {
        let columns = table.columns(&marked.names).map_err(|_| Reason::Columns);
        Source { table, registration: marked.registration.as_deref(), columns, functions }
    });
    let sources: Vec<_> = std::iter::once(edges).chain(aliased).collect();
    let served = from_images(&sources, text, overlapping.value() != 0, rows);
    if let Err(reason) = served {
        counters::count(table.oid(), reason);
        let question = call.arg(0).unwrap_or(pg_sys::Datum::from(0usize));
        let aliases: Vec<_> = aliases.iter().map(|(table, marked)| (table, &marked.names)).collect();
        reference::entities(&table, &registration.names, &aliases, call.function(), question, overlapping, rows);
    }
    Ok(())
}

/// The text, if the database's encoding is UTF8: names in the image are in that encoding.
fn plain_utf8(text: &[u8]) -> Option<&str> {
    // SAFETY: reads a backend variable.
    let encoding = unsafe { pg_sys::GetDatabaseEncoding() };
    if encoding == pg_sys::pg_enc::PG_UTF8 as i32 { std::str::from_utf8(text).ok() } else { None }
}

/// A table whose image is looked at: the edges table, or one of its tables of aliases.
struct Source<'a> {
    table: &'a Edges,
    /// None: it is fed by nothing.
    registration: Option<&'a Registration>,
    columns: Result<Columns, Reason>,
    functions: Functions,
}

impl Source<'_> {
    /// Finds what occurs in the text.
    fn look(&self, recogniser: &mut Recogniser, text: &[u8], seek: Seek, all: bool) -> Result<Ticket, Reason> {
        let registration = self.registration.ok_or(Reason::Triggers)?;
        let Some(text) = plain_utf8(text) else {
            return route::route(self.table, registration, &self.columns?, self.functions).and(Err(Reason::Encoding));
        };
        recogniser.begin(seek, all);
        let mut reader = Reader::new(text);
        recogniser.read(&mut reader);
        let first = |image: Image<'_>, seen: &Seen| recogniser.step(image, seen, CELLS);
        let (mut ticket, step) = route::route_and(self.table, registration, &self.columns?, self.functions, first)?;
        let mut step = step;
        loop {
            match step {
                Step::Done => return Ok(ticket),
                Step::More => {
                    check_for_interrupts!();
                    recogniser.make_room(CELLS);
                }
                Step::Ask => {
                    learn(&mut ticket, recogniser.asked())?;
                    recogniser.begin(seek, all);
                    reader = Reader::new(text);
                }
            }
            recogniser.read(&mut reader);
            step = read(&ticket, |image| recogniser.step(image, &ticket.seen, CELLS))?;
        }
    }
}

/// `sources`: the edges table, then tables of aliases.
fn from_images(sources: &[Source<'_>], text: &[u8], overlapping: bool, rows: Rows) -> Result<(), Reason> {
    // Out of their place meanwhile: what an ERROR cuts short gives its room back.
    let mut kept = RECOGNISERS.take();
    while kept.len() < sources.len() {
        kept.push(Recogniser::new(varlena_header));
    }
    let alone = sources.len() == 1;
    let mut edges = sources[0].look(&mut kept[0], text, Seek::Entities, overlapping || !alone)?;
    for (source, recogniser) in sources.iter().zip(&mut kept).skip(1) {
        source.look(recogniser, text, Seek::Aliased, true)?;
    }
    if alone {
        kept[0].finish();
        row::add_all(rows, 5, kept[0].mentions(), |mention, row| form(&kept[0], mention, text, row));
    } else {
        let all = merge(&kept[..sources.len()], &mut edges, overlapping)?;
        row::add_all(rows, 5, &all, |(recogniser, mention), row| form(recogniser, mention, text, row));
    }
    edges.control.slots[edges.index].count_call(kept[0].counters());
    if kept.iter().all(|recogniser| recogniser.mentions().len() <= KEEP_MENTIONS) {
        RECOGNISERS.set(kept);
    }
    context::settle_now_and_then(sources[0].table, &edges);
    Ok(())
}

fn form(recogniser: &Recogniser, mention: &Mention, text: &[u8], row: &mut Row) {
    row.text(recogniser.name(mention.entity));
    row.text(&text[mention.from..mention.to]);
    row.int(mention.start as i32 + 1);
    row.int(mention.length as i32);
    match mention.alias {
        Some(alias) => row.text(recogniser.name(alias)),
        None => row.null(),
    }
}

/// Reads the image of a ticket, if it is still the one the ticket is for.
fn read<T>(ticket: &Ticket, look: impl FnOnce(Image<'_>) -> T) -> Result<T, Reason> {
    let slot = &ticket.control.slots[ticket.index];
    area::read(ticket.control, ticket.index, |_, image| {
        (slot.generation.load(SeqCst) == ticket.generation).then(|| look(image))
    })?
    .ok_or(Reason::NoImage)
}

fn learn(ticket: &mut Ticket, xids: &[u64]) -> Result<(), Reason> {
    ticket.seen.learn(xids).ok_or_else(|| {
        ticket.control.slots[ticket.index].spoil(Spoil::Ancient);
        Reason::Ancient
    })
}

/// What entities' names and their aliases found, in order, each entity once in a window; leftmost, then longest, unless overlapping.
fn merge<'r>(
    found: &'r [Recogniser],
    edges: &mut Ticket,
    overlapping: bool,
) -> Result<Vec<(&'r Recogniser, &'r Mention)>, Reason> {
    let aliased = || found[1..].iter().flat_map(|r| r.mentions().iter().map(move |mention| (r, mention)));
    let seen = entities_seen(edges, aliased().map(|(r, mention)| r.name(mention.entity)))?;
    let mut all: Vec<_> = found[0].mentions().iter().map(|mention| (&found[0], mention)).collect();
    all.extend(aliased().filter(|(r, mention)| seen[r.name(mention.entity)]));
    let window = |m: &Mention| (m.from, Reverse(m.to));
    all.sort_by(|(r, a), (s, b)| {
        let key = |r: &'r Recogniser, m: &Mention| (window(m), r.name(m.entity), m.alias.map(|alias| r.name(alias)));
        key(r, a).cmp(&key(s, b))
    });
    // An entity's own name comes first, then its smallest alias.
    all.dedup_by(|(r, a), (s, b)| window(a) == window(b) && r.name(a.entity) == s.name(b.entity));
    if !overlapping {
        let mut last = (0, Reverse(0));
        all.retain(|(_, m)| {
            let chosen = window(m) == last || m.from >= last.1.0;
            if chosen {
                last = window(m);
            }
            chosen
        });
    }
    Ok(all)
}

/// Which of these names are entities with an edge that the caller sees.
fn entities_seen<'n>(
    edges: &mut Ticket,
    names: impl Iterator<Item = &'n [u8]>,
) -> Result<HashMap<&'n [u8], bool>, Reason> {
    let mut seen: HashMap<&[u8], bool> = names.map(|name| (name, false)).collect();
    let mut todo: Vec<(&[u8], &mut bool)> = seen.iter_mut().map(|(name, seen)| (*name, seen)).collect();
    for some in todo.chunks_mut(NAMES) {
        loop {
            let mut ask = Vec::new();
            read(edges, |image| {
                some.iter_mut().for_each(|(name, seen)| **seen = image.sees(name, &edges.seen, &mut ask))
            })?;
            if ask.is_empty() {
                break;
            }
            learn(edges, &ask)?;
        }
        check_for_interrupts!();
    }
    Ok(seen)
}
