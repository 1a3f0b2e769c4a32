//! cft_entities: which entities occur in a text; and the words and forms it is defined by (sql/entities.sql).

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::api::context::{self, varlena_header};
use crate::area;
use crate::edges::Edges;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, Rows, text_datum};
use crate::route::{self, Reason, Ticket};
use crate::slot::Spoil;
use crate::{counters, reference};
use cftrag_core::{Reader, Recogniser, Step};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Words between two looks for an interrupt.
const BREATH: usize = 1000;
/// Edge slots visited under one holding of the lock; a word counts as two. See context.rs.
const CELLS: usize = 20_000;
/// A workspace that grew past this is given back after the call.
const KEEP_MENTIONS: usize = 100_000;

thread_local! {
    static RECOGNISER: RefCell<Option<Recogniser>> = const { RefCell::new(None) };
}

/// `cft_entities(question text, edges regclass, overlapping boolean)`: see sql/entities.sql for what it returns.
///
/// NULL question or overlapping: no rows. Errors: 42P01 (not attached), 42725 (several attached), 42703 (a column is gone), 42501 (the
/// table's own), 22021 (not UTF-8, in a database of SQL_ASCII), 0A000 (EUC_JIS_2004).
#[pg_extern(sql = false)]
fn cft_entities(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some(question), Some(overlapping)) = (call.text(0), call.arg(2)) else { return Ok(()) };
    let (table, registration, columns, functions) = context::open(&call, 1)?;
    let served = route::route(&table, &registration, &columns, functions).and_then(|mut ticket| {
        let question = plain_utf8(question).ok_or(Reason::Encoding)?;
        from_image(&table, &mut ticket, question, overlapping.value() != 0, rows)
    });
    if let Err(reason) = served {
        counters::count(table.oid(), reason);
        let question = call.arg(0).unwrap_or(pg_sys::Datum::from(0usize));
        reference::entities(&table, &registration.names, call.function(), question, overlapping, rows);
    }
    Ok(())
}

/// The text, if the database's encoding is UTF8: names in the image are in that encoding.
fn plain_utf8(text: &[u8]) -> Option<&str> {
    // SAFETY: reads a backend variable.
    let encoding = unsafe { pg_sys::GetDatabaseEncoding() };
    if encoding == pg_sys::pg_enc::PG_UTF8 as i32 { std::str::from_utf8(text).ok() } else { None }
}

fn from_image(table: &Edges, ticket: &mut Ticket, question: &str, overlapping: bool, rows: Rows) -> Result<(), Reason> {
    RECOGNISER.with_borrow_mut(|kept| {
        let recogniser = kept.get_or_insert_with(|| Recogniser::new(varlena_header));
        finish(recogniser, ticket, question, overlapping)?;
        recogniser.finish();
        for mention in recogniser.mentions() {
            let mut values = [
                pg_sys::Datum::from(recogniser.name_with_prefix(mention.entity).as_ptr()),
                text_datum(&question.as_bytes()[mention.from..mention.to]),
                pg_sys::Datum::from(mention.start as i32 + 1),
                pg_sys::Datum::from(mention.length as i32),
                pg_sys::Datum::from(0usize),
            ];
            rows.add(&mut values, &mut [false, false, false, false, true]);
        }
        let counters = recogniser.counters();
        let reads = ticket.control.slots[ticket.index].reads();
        reads.image_calls.fetch_add(1, Relaxed);
        reads.lookups.fetch_add(counters.lookups, Relaxed);
        reads.hits.fetch_add(counters.hits, Relaxed);
        reads.fingerprint_checks.fetch_add(counters.fingerprint_checks, Relaxed);
        reads.false_positives.fetch_add(counters.false_positives, Relaxed);
        if recogniser.mentions().len() > KEEP_MENTIONS {
            *kept = None;
        }
        Ok::<(), Reason>(())
    })?;
    context::settle_now_and_then(table, ticket);
    Ok(())
}

/// Goes through the text, in slices; learns the xids it met.
fn finish(recogniser: &mut Recogniser, ticket: &mut Ticket, question: &str, overlapping: bool) -> Result<(), Reason> {
    let slot = &ticket.control.slots[ticket.index];
    recogniser.begin(overlapping);
    let mut reader = Reader::new(question);
    loop {
        recogniser.read(&mut reader);
        let step = area::read(ticket.control, ticket.index, |_, image| {
            (slot.generation.load(SeqCst) == ticket.generation).then(|| recogniser.step(image, &ticket.seen, CELLS))
        })?;
        match step {
            None => return Err(Reason::NoImage),
            Some(Step::Done) => return Ok(()),
            Some(Step::More) => {
                check_for_interrupts!();
            }
            Some(Step::Ask) => {
                if ticket.seen.learn(recogniser.asked()).is_none() {
                    slot.spoil(Spoil::Ancient);
                    return Err(Reason::Ancient);
                }
                recogniser.begin(overlapping);
                reader = Reader::new(question);
            }
        }
    }
}

/// `cft_words(text)`: place (from 1), form (folded, as UTF-8), start and length in characters. See crates/core/src/words.rs.
#[pg_extern(sql = false)]
fn cft_words(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(text) = call.text(0) else { return Ok(()) };
    let text = as_utf8(text)?.ok_or_else(error::not_utf8)?;
    let (mut place, mut at, mut start) = (0_i32, 0, 1_i32);
    let mut form = Vec::new();
    for (i, (offset, word)) in cftrag_core::Words::of(text).enumerate() {
        if i % BREATH == 0 {
            check_for_interrupts!();
        }
        start += characters(&text[at..offset]);
        at = offset;
        form.clear();
        cftrag_core::fold(word, &mut form);
        if form.is_empty() {
            continue;
        }
        place += 1;
        let mut values = [
            pg_sys::Datum::from(place),
            text_datum(&form),
            pg_sys::Datum::from(start),
            pg_sys::Datum::from(characters(word)),
        ];
        rows.add(&mut values, &mut [false; 4]);
    }
    Ok(())
}

/// `cft_form(name)`: its folded words joined by one blank, as UTF-8; NULL if the name is never found in a text.
#[pg_extern(sql = false)]
fn cft_form(name: &[u8]) -> Fallible<Option<Vec<u8>>> {
    let mut form = Vec::new();
    let name = as_utf8(name)?;
    Ok(name.is_some_and(|name| cftrag_core::form(name.as_bytes(), &mut form)).then_some(form))
}

fn characters(text: &str) -> i32 {
    text.chars().count() as i32
}

/// A text as UTF-8, whatever the database's encoding is. None: it is none (SQL_ASCII holds any bytes). 0A000 where a character may be two
/// of Unicode's, so that positions would differ.
fn as_utf8(text: &[u8]) -> Fallible<Option<&str>> {
    let utf8 = pg_sys::pg_enc::PG_UTF8 as i32;
    // SAFETY: reads a backend variable; pg_server_to_any gives the same bytes, or a NUL-terminated copy in the caller's memory context.
    unsafe {
        let encoding = pg_sys::GetDatabaseEncoding();
        if encoding == pg_sys::pg_enc::PG_EUC_JIS_2004 as i32 {
            return Err(error::two_characters_for_one());
        }
        if [utf8, pg_sys::pg_enc::PG_SQL_ASCII as i32].contains(&encoding) {
            return Ok(std::str::from_utf8(text).ok());
        }
        let converted = pg_sys::pg_server_to_any(text.as_ptr().cast(), text.len() as i32, utf8);
        if converted.cast_const() == text.as_ptr().cast() {
            return Ok(std::str::from_utf8(text).ok());
        }
        Ok(std::ffi::CStr::from_ptr(converted).to_str().ok())
    }
}
