//! The hierarchy as text for a prompt: cft_context_text, cft_context_json, cft_context_parts; and cft_render for other templates.
//!
//! One pass over the answer, which is what cft_context would return and in its order (tree, NULL first; ancestors before descendants;
//! depth; relative; all by bytes). So the same data give the same bytes, from the image and by the reference query, whatever the order
//! in which they were written. No row is made on the way. The words are ASCII, so they are right in every server encoding.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, with_room_for_errors};
use crate::call::utf8::{as_utf8, from_utf8, to_utf8};
use crate::call::work_memory::{Bytes, Room, add, put};
use crate::error::Fallible;
use crate::pg::compat::plain;
use crate::serve::sentences::{each_sentence, look_up, sentence};
use crate::serve::sink::{Relative, Sink};
use crate::serve::walk;
use crate::template::{json, values};
use crate::{error, guc, template};
use cftrag_core::Text;
use minijinja::Value;
use pgrx::prelude::*;
use pgrx::{Internal, check_for_interrupts};
use std::cell::Cell;

/// Bytes that a row takes at most in the world of a template beside its names: it stands there twice.
const PER_ELEMENT: usize = 800;

/// `cft_context_text(entity text, up int, down int, edges regclass, template text) -> text`
///
/// NULL for an entity without relatives. Errors: those of cft_context, and 22023 for a template. (To pgrx the text is an Internal: a
/// value that is returned as it is.)
#[pg_extern(sql = false)]
fn cft_context_text_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    text(&call, &[name], || fmgr::array_of_one(&call)).map(Internal::from)
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
            let text = crate::template::render(&template, world(rows)?, rows.len(), bytes)?;
            let text = from_utf8(&text)?;
            texts.room(text.len() + 1)?;
            texts.0.extend_from_slice(&text);
            texts.0.push(b'\n');
        }
        Ok(())
    })?;
    texts.0.pop().map_or(Ok(None), |_| fmgr::text_value(&texts.0).map(Some))
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
                    *value = fmgr::text_value(text)?;
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
    parts(&call, &[name], || fmgr::array_of_one(&call), |rows| json(rows, &mut out))?;
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
    let (value, bytes) = json::read(world)?;
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
    walk::answer(call, names, array, up, down, sink)
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

/// A jsonb value.
fn jsonb(mut json: Bytes) -> Fallible<Internal> {
    if json.0.len() > fmgr::LONGEST {
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
        Ok(values::thing([("entity", entity), ("depth", Value::from(row.depth)), ("via", via)]))
    };
    let side = |rows: &[Relative], ancestor: bool| -> Fallible<Value> {
        let side = rows.iter().filter(|row| row.ancestor == ancestor).map(one);
        Ok(values::list(side.collect::<Fallible<_>>()?))
    };
    let mut trees = Vec::new();
    for tree in rows.chunk_by(|a, b| a.tree == b.tree) {
        let name = tree[0].tree.map_or(Ok(Value::from(())), |name| to_utf8(name).map(Value::from))?;
        trees.push(values::thing([
            ("tree", name),
            ("ancestors", side(tree, true)?),
            ("descendants", side(tree, false)?),
        ]));
    }
    Ok(values::thing([
        ("entity", Value::from(to_utf8(rows[0].entity)?)),
        ("trees", values::list(trees)),
        ("ancestors", side(rows, true)?),
        ("descendants", side(rows, false)?),
    ]))
}
