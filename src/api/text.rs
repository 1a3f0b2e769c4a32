//! The hierarchy as text for a prompt: cft_context_text, cft_context_json, cft_context_parts; and cft_render for other templates.
//!
//! One pass over the answer, which is what cft_context would return and in its order (tree, NULL first; ancestors before descendants;
//! depth; relative; all by bytes). So the same data give the same bytes, from the image and by the reference query, whatever the order
//! in which they were written. No row is made on the way. The words are ASCII, so they are right in every server encoding.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::api::context;
use crate::api::sink::{self, Bytes, Relative, Sink};
use crate::compat::plain;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, Rows, with_room_for_errors};
use crate::methods::breathe;
use crate::methods::room::Room;
use crate::{guc, template};
use cftrag_core::{Breath, NoRoom, Piece, Relation, Subject, Text, write_sentence};
use minijinja::Value;
use pgrx::Internal;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::Cell;

/// Bytes that a row takes at most in the world of a template beside its names: it stands there twice.
const PER_ELEMENT: usize = 800;
/// A sentence of this size is written whatever `cftrag.work_memory` is.
const LEAST_TEXT: usize = 64 << 10;
/// Bytes that are copied at once, and that leave some memory for others without asking.
const LARGE: usize = 1 << 20;
/// Rows between two looks for an interrupt.
const CHUNK: usize = 10_000;

/// `cft_context_text(entity text, up int, down int, edges regclass, template text) -> text`
///
/// NULL for an entity without relatives. Errors: those of cft_context, and 22023 for a template. (To pgrx the text is an Internal: a
/// value that is returned as it is.)
#[pg_extern(sql = false)]
fn cft_context_text_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    text(&call, &[name], || context::array_of_one(&call)).map(Internal::from)
}

/// `cft_context_text(entities text[], ...)`: the same for many, each beginning on a line of its own.
#[pg_extern(sql = false)]
fn cft_context_text_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some((names, array)) = call.names(0) else { return Ok(Internal::from(None)) };
    text(&call, &names, || array).map(Internal::from)
}

fn text(call: &Call, names: &[&[u8]], array: impl Fn() -> pg_sys::Datum) -> Fallible<Option<pg_sys::Datum>> {
    let template = match call.text(4) {
        Some(own) => Some(to_utf8(own)?),
        None => guc::template().map(|text| to_utf8(text.as_bytes())).transpose()?,
    };
    let Some(template) = template else {
        let mut text = None;
        into(call, names, array, &mut Sink::Text(&mut text))?;
        return Ok(text);
    };
    // A world is gone before the next is made.
    let mut texts = Bytes::default();
    parts(call, names, array, |rows| {
        for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
            let bytes = world_bytes(rows);
            Room::new().take(bytes)?;
            let text = template::render(&template, world(rows)?, rows.len(), bytes)?;
            let text = from_utf8(&text)?;
            texts.room(text.len() + 1)?;
            texts.0.extend_from_slice(&text);
            texts.0.push(b'\n');
        }
        Ok(())
    })?;
    texts.0.pop().map_or(Ok(None), |_| sink::text_value(&texts.0).map(Some))
}

/// `cft_context_parts(entities text[], up int, down int, edges regclass) -> table(entity, tree, relation, text)`: the sentences of
/// cft_context_text, one a row.
#[pg_extern(sql = false)]
fn cft_context_parts(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows: Rows = call.rows();
    let Some((names, array)) = call.names(0) else { return Ok(()) };
    let mut text = Text::default();
    parts(
        &call,
        &names,
        || array,
        |answer| {
            each_sentence(answer, |of, subject| {
                check_for_interrupts!();
                text.clear();
                sentence(&mut text, of, subject)?;
                let first = &of[0];
                let relation = if first.ancestor { "ancestor" } else { "descendant" };
                let texts = [first.entity, first.tree.unwrap_or_default(), relation.as_bytes(), text.as_bytes()];
                let mut values = [pg_sys::Datum::from(0usize); 4];
                for (value, text) in values.iter_mut().zip(texts) {
                    *value = sink::text_value(text)?;
                }
                rows.add(&mut values, &mut [false, first.tree.is_none(), false, false]);
                for value in values {
                    // SAFETY: made above, copied into the row.
                    unsafe { pg_sys::pfree(value.cast_mut_ptr()) };
                }
                Ok(())
            })
        },
    )
}

/// `cft_context_json(entity text, up int, down int, edges regclass) -> jsonb`: NULL for an entity without relatives.
#[pg_extern(sql = false)]
fn cft_context_json_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let mut out = Bytes::default();
    parts(&call, &[name], || context::array_of_one(&call), |rows| json(rows, &mut out))?;
    if out.0.is_empty() { Ok(Internal::from(None)) } else { jsonb(out) }
}

/// `cft_context_json(entities text[], ...)`: an array with one element for each entity that has relatives.
#[pg_extern(sql = false)]
fn cft_context_json_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some((names, array)) = call.names(0) else { return Ok(Internal::from(None)) };
    let mut out = Bytes(vec![b'[']);
    parts(&call, &names, || array, |rows| json(rows, &mut out))?;
    add("]", &mut out)?;
    jsonb(out)
}

/// `cft_render(template text, world jsonb) -> text`: any template over a JSON object.
#[pg_extern(sql = false)]
fn cft_render(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(source), Some(world)) = (call.text(0), call.arg(1)) else { return Ok(None) };
    // SAFETY: SQL declares the argument jsonb; its text is NUL-terminated.
    let world = unsafe {
        let function = pg_sys::Oid::from(pg_sys::F_JSONB_OUT);
        let text = with_room_for_errors(|| plain::OidOutputFunctionCall(function, world));
        std::ffi::CStr::from_ptr(text).to_bytes()
    };
    let (source, world) = (as_utf8(source)?, as_utf8(world)?);
    let (value, bytes) = template::read(world)?;
    let text = template::render(source, value, world.len() / 16, bytes)?;
    from_utf8(&text).map(Some)
}

/// Gives the answer of a call (entity or entities, up, down, edges) to `take`, in parts. Not at all for a NULL up or down.
fn parts(
    call: &Call,
    names: &[&[u8]],
    array: impl Fn() -> pg_sys::Datum,
    mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
) -> Fallible<()> {
    into(call, names, array, &mut Sink::Parts(&mut take))
}

fn into(call: &Call, names: &[&[u8]], array: impl Fn() -> pg_sys::Datum, sink: &mut Sink) -> Fallible<()> {
    let (Some(up), Some(down)) = (call.int(1), call.int(2)) else { return Ok(()) };
    context::answer(call, names, array, up, down, sink)
}

/// The sentences of an answer, a line each: what Walk::try_text makes of an image's answer.
pub struct Sentences {
    /// A newline after each.
    bytes: Bytes,
    one: Text,
}

impl Sentences {
    /// After what was written before.
    pub fn after(written: &[u8]) -> Fallible<Self> {
        let mut bytes = Bytes::default();
        if !written.is_empty() {
            bytes.room(written.len() + 1)?;
            bytes.0.extend_from_slice(written);
            bytes.0.push(b'\n');
        }
        Ok(Self { bytes, one: Text::default() })
    }

    pub fn add(&mut self, rows: &[Relative<'_>]) -> Fallible<()> {
        let Self { bytes, one } = self;
        each_sentence(rows, |of, subject| {
            check_for_interrupts!();
            one.clear();
            sentence(one, of, subject)?;
            bytes.room(one.as_bytes().len() + 1)?;
            bytes.0.extend_from_slice(one.as_bytes());
            bytes.0.push(b'\n');
            Ok(())
        })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes.0[..self.bytes.0.len().saturating_sub(1)]
    }
}

/// Writes a sentence about those rows.
fn sentence(out: &mut Text, of: &[Relative<'_>], subject: Subject<'_>) -> Fallible<()> {
    let left = Cell::new(0);
    let names = of.iter().map(|row| {
        look_up(&left, row.name.len());
        Piece::from(row.name)
    });
    let bytes = names.clone().map(Subject::most_bytes_of).sum::<usize>() + subject.most_bytes();
    if bytes > guc::work_bytes().max(LEAST_TEXT) {
        return Err(error::no_room(NoRoom::Limit(bytes)));
    }
    if !out.try_reserve(bytes, &mut Breath::new(&mut { breathe })) {
        return Err(error::no_room(NoRoom::Memory(bytes)));
    }
    write_sentence(out, subject, names);
    Ok(())
}

/// Looks for an interrupt after so much work: names, and lines of long ones.
fn look_up(done: &Cell<usize>, bytes: usize) {
    done.set(done.get() + 1 + bytes / 64);
    if done.get() > CHUNK {
        done.set(0);
        check_for_interrupts!();
    }
}

/// Cuts an answer into sentences, in its order: relatives of one entity, in one tree and direction, and what is said of them.
fn each_sentence<'a>(
    rows: &'a [Relative<'a>],
    mut each: impl FnMut(&'a [Relative<'a>], Subject<'a>) -> Fallible<()>,
) -> Fallible<()> {
    for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
        let several = rows.iter().any(|row| row.tree != rows[0].tree);
        for of in rows.chunk_by(|a, b| a.tree == b.tree && a.ancestor == b.ancestor) {
            let first = &of[0];
            let relation = if first.ancestor { Relation::Ancestor } else { Relation::Descendant };
            // The tree is said where the answer has several.
            let tree = several.then_some(first.tree.map(Piece::from));
            each(of, Subject { entity: first.entity.into(), tree, relation })?;
        }
    }
    Ok(())
}

/// {"entity": ..., "trees": [{"tree": ..., "ancestors": [{"entity": ..., "depth": ..., "via": ...}], "descendants": [...]}]}, one
/// object for each entity.
fn json(rows: &[Relative<'_>], out: &mut Bytes) -> Fallible<()> {
    let done = Cell::new(0);
    for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
        let first = if out.0.len() > 1 { ", {\"entity\": " } else { "{\"entity\": " };
        put(first, rows[0].entity, "", out)?;
        for (i, tree) in rows.chunk_by(|a, b| a.tree == b.tree).enumerate() {
            look_up(&done, 0);
            let before = if i == 0 { ", \"trees\": [{\"tree\": " } else { ", {\"tree\": " };
            match tree[0].tree {
                None => add(&format!("{before}null"), out)?,
                Some(name) => put(before, name, "", out)?,
            }
            for (key, ancestor) in [("ancestors", true), ("descendants", false)] {
                add(&format!(", \"{key}\": ["), out)?;
                for (i, row) in tree.iter().filter(|row| row.ancestor == ancestor).enumerate() {
                    look_up(&done, row.name.len() + row.via.len());
                    let before = if i == 0 { "{\"entity\": " } else { ", {\"entity\": " };
                    put(before, row.name, &format!(", \"depth\": {}, \"via\": ", row.depth), out)?;
                    put("", row.via, "}", out)?;
                }
                add("]", out)?;
            }
            add("}", out)?;
        }
        add("]}", out)?;
    }
    Ok(())
}

fn add(text: &str, out: &mut Bytes) -> Fallible<()> {
    out.room(text.len())?;
    out.0.extend_from_slice(text.as_bytes());
    Ok(())
}

/// A string between two texts. In any server encoding a byte below 128 is ASCII.
fn put(before: &str, bytes: &[u8], after: &str, out: &mut Bytes) -> Fallible<()> {
    // A byte becomes six at most.
    out.room(before.len() + 6 * bytes.len() + 2 + after.len())?;
    let out = &mut out.0;
    out.extend_from_slice(before.as_bytes());
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out.extend_from_slice(after.as_bytes());
    Ok(())
}

/// A jsonb value.
fn jsonb(mut json: Bytes) -> Fallible<Internal> {
    if json.0.len() > sink::LONGEST {
        return Err(error::too_long(json.0.len()));
    }
    add("\0", &mut json)?;
    // SAFETY: jsonb_in takes a C string; the result is in this call's memory.
    unsafe {
        let (function, text) = (pg_sys::Oid::from(pg_sys::F_JSONB_IN), json.0.as_mut_ptr().cast());
        let value = with_room_for_errors(|| plain::OidInputFunctionCall(function, text, pg_sys::InvalidOid, -1));
        Ok(Internal::from(Some(value)))
    }
}

/// Bytes that it takes at most.
fn world_bytes(rows: &[Relative<'_>]) -> usize {
    let done = Cell::new(0);
    let names = rows.iter().map(|row| {
        look_up(&done, 0);
        PER_ELEMENT + 4 * (row.name.len() + row.via.len()) + 2 * row.tree.map_or(0, <[u8]>::len)
    });
    names.sum::<usize>() + 2 * rows[0].entity.len()
}

/// What a template sees of one entity.
fn world(rows: &[Relative<'_>]) -> Fallible<Value> {
    let one = |row: &Relative| -> Fallible<Value> {
        let (entity, via) = (Value::from(to_utf8(row.name)?), Value::from(to_utf8(row.via)?));
        Ok(template::thing([("entity", entity), ("depth", Value::from(row.depth)), ("via", via)]))
    };
    let side = |rows: &[Relative], ancestor: bool| -> Fallible<Value> {
        let side = rows.iter().filter(|row| row.ancestor == ancestor).map(one);
        Ok(template::list(side.collect::<Fallible<_>>()?))
    };
    let mut trees = Vec::new();
    for tree in rows.chunk_by(|a, b| a.tree == b.tree) {
        let name = tree[0].tree.map_or(Ok(Value::from(())), |name| to_utf8(name).map(Value::from))?;
        trees.push(template::thing([
            ("tree", name),
            ("ancestors", side(tree, true)?),
            ("descendants", side(tree, false)?),
        ]));
    }
    Ok(template::thing([
        ("entity", Value::from(to_utf8(rows[0].entity)?)),
        ("trees", template::list(trees)),
        ("ancestors", side(rows, true)?),
        ("descendants", side(rows, false)?),
    ]))
}

/// From the server's encoding, as a copy. Errors: those of [`as_utf8`], 53200.
pub fn to_utf8(bytes: &[u8]) -> Fallible<String> {
    String::from_utf8(copy(as_utf8(bytes)?.as_bytes())?).map_err(|_| error::not_utf8())
}

/// From the server's encoding: the bytes themselves, or PostgreSQL's copy. SQL_ASCII may hold what is no UTF-8: 22021.
pub fn as_utf8(bytes: &[u8]) -> Fallible<&str> {
    let server = pg_sys::pg_enc::PG_UTF8 as i32;
    // SAFETY: converts `len` bytes; the result is NUL-terminated unless it is the argument itself.
    let converted = unsafe {
        if pg_sys::GetDatabaseEncoding() == server {
            bytes
        } else {
            let text = pg_sys::pg_server_to_any(bytes.as_ptr().cast(), bytes.len() as i32, server);
            if text.cast_const() == bytes.as_ptr().cast() { bytes } else { std::ffi::CStr::from_ptr(text).to_bytes() }
        }
    };
    cftrag_core::as_utf8(converted, &mut Breath::new(&mut { breathe })).ok_or_else(error::not_utf8)
}

/// A copy of what may be a user's whole text. 53200.
fn copy(bytes: &[u8]) -> Fallible<Vec<u8>> {
    let mut copied = Vec::new();
    let fits = copied.try_reserve_exact(bytes.len()).is_ok() && (bytes.len() < LARGE || cftrag_core::some_is_left());
    if !fits {
        return Err(error::no_memory_to_work(bytes.len()));
    }
    for some in bytes.chunks(LARGE) {
        check_for_interrupts!();
        copied.extend_from_slice(some);
    }
    Ok(copied)
}

/// To the server's encoding.
pub fn from_utf8(text: &str) -> Fallible<Vec<u8>> {
    if text.contains('\0') {
        return Err(error::bad_template("it makes a zero byte, which no text can hold"));
    }
    let utf8 = pg_sys::pg_enc::PG_UTF8 as i32;
    // SAFETY: as in to_utf8.
    unsafe {
        if pg_sys::GetDatabaseEncoding() == utf8 {
            return copy(text.as_bytes());
        }
        let converted = pg_sys::pg_any_to_server(text.as_ptr().cast(), text.len() as i32, utf8);
        let same = converted.cast_const() == text.as_ptr().cast();
        copy(if same { text.as_bytes() } else { std::ffi::CStr::from_ptr(converted).to_bytes() })
    }
}
