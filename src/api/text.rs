//! The hierarchy as text for a prompt: cft_context_text, cft_context_json, cft_context_parts; and cft_render for other templates.
//!
//! One pass over the answer, which is what cft_context would return and in its order (tree, NULL first; ancestors before descendants;
//! depth; relative; all by bytes). So the same data give the same bytes, from the image and by the reference query, whatever the order
//! in which they were written. No row is made on the way. The words are ASCII, so they are right in every server encoding.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::api::context::{self, Relative, Sink};
use crate::error::{self, Fallible};
use crate::fmgr::{self, Call, Rows};
use crate::{guc, template};
use cftrag_core::{Piece, Relation, Subject, Text, write_sentence};
use minijinja::Value;
use pgrx::Internal;
use pgrx::prelude::*;

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
    // The world is made inside the walk, the template runs outside.
    let (mut worlds, mut wrong) = (Vec::new(), None);
    whole(call, names, array, |rows| {
        for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
            match world(rows) {
                Ok(world) => worlds.push((world, rows.len())),
                Err(error) => wrong = Some(error),
            }
        }
    })?;
    if let Some(error) = wrong {
        return Err(error);
    }
    let mut texts = Vec::new();
    for (world, elements) in worlds {
        texts.push(template::render(&template, world, elements).map_err(|why| error::bad_template(&why))?);
    }
    if texts.is_empty() { Ok(None) } else { from_utf8(&texts.join("\n")).map(|text| Some(fmgr::text_datum(&text))) }
}

/// `cft_context_parts(entities text[], up int, down int, edges regclass) -> table(entity, tree, relation, text)`: the sentences of
/// cft_context_text, one a row.
#[pg_extern(sql = false)]
fn cft_context_parts(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows: Rows = call.rows();
    let Some((names, array)) = call.names(0) else { return Ok(()) };
    let mut parts: Vec<[Option<Vec<u8>>; 4]> = Vec::new();
    whole(
        &call,
        &names,
        || array,
        |answer| {
            let mut text = Text::default();
            each_sentence(answer, |of, subject| {
                text.clear();
                write_sentence(&mut text, subject, of.iter().map(|row| row.name.into()));
                let first = &of[0];
                let relation = if first.ancestor { "ancestor" } else { "descendant" };
                let owned = |bytes: &[u8]| Some(bytes.to_vec());
                let (tree, sentence) = (first.tree.and_then(owned), owned(text.as_bytes()));
                parts.push([owned(first.entity), tree, owned(relation.as_bytes()), sentence]);
            });
        },
    )?;
    for part in parts {
        let mut nulls = [0, 1, 2, 3].map(|i| part[i].is_none());
        let mut values = part.map(|text| fmgr::text_datum(&text.unwrap_or_default()));
        rows.add(&mut values, &mut nulls);
    }
    Ok(())
}

/// `cft_context_json(entity text, up int, down int, edges regclass) -> jsonb`: NULL for an entity without relatives.
#[pg_extern(sql = false)]
fn cft_context_json_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(None) };
    let mut out = Vec::new();
    whole(&call, &[name], || context::array_of_one(&call), |rows| json(rows, &mut out))?;
    if out.is_empty() { Ok(None) } else { jsonb(out).map(Some) }
}

/// `cft_context_json(entities text[], ...)`: an array with one element for each entity that has relatives.
#[pg_extern(sql = false)]
fn cft_context_json_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some((names, array)) = call.names(0) else { return Ok(None) };
    let mut out = vec![b'['];
    whole(&call, &names, || array, |rows| json(rows, &mut out))?;
    out.push(b']');
    jsonb(out).map(Some)
}

/// `cft_render(template text, world jsonb) -> text`: any template over a JSON object.
#[pg_extern(sql = false)]
fn cft_render(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<Vec<u8>>> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let (Some(source), Some(world)) = (call.text(0), call.arg(1)) else { return Ok(None) };
    // SAFETY: SQL declares the argument jsonb; its text is NUL-terminated.
    let world = unsafe {
        let text = pg_sys::OidOutputFunctionCall(pg_sys::Oid::from(pg_sys::F_JSONB_OUT), world);
        std::ffi::CStr::from_ptr(text).to_bytes()
    };
    let (source, world) = (to_utf8(source)?, to_utf8(world)?);
    let json = serde_json::from_str(&world).map_err(|why| error::bad_template(&why.to_string()))?;
    let text = template::render(&source, template::from_json(json), world.len() / 16);
    from_utf8(&text.map_err(|why| error::bad_template(&why))?).map(Some)
}

/// Gives the whole answer of a call (entity or entities, up, down, edges) to `take`, once. Not at all for a NULL up or down.
fn whole(
    call: &Call,
    names: &[&[u8]],
    array: impl Fn() -> pg_sys::Datum,
    mut take: impl FnMut(&[Relative<'_>]),
) -> Fallible<()> {
    into(call, names, array, &mut Sink::Whole(&mut take))
}

fn into(call: &Call, names: &[&[u8]], array: impl Fn() -> pg_sys::Datum, sink: &mut Sink) -> Fallible<()> {
    let (Some(up), Some(down)) = (call.int(1), call.int(2)) else { return Ok(()) };
    context::answer(call, names, array, up, down, sink)
}

/// The sentences of an answer, a line each: what Walk::text makes of an image's answer.
pub fn sentences(rows: &[Relative<'_>]) -> Text {
    let mut out = Text::default();
    each_sentence(rows, |of, subject| write_sentence(&mut out, subject, of.iter().map(|row| row.name.into())));
    out
}

/// Cuts an answer into sentences, in its order: relatives of one entity, in one tree and direction, and what is said of them.
fn each_sentence<'a>(rows: &'a [Relative<'a>], mut each: impl FnMut(&'a [Relative<'a>], Subject<'a>)) {
    for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
        let several = rows.iter().any(|row| row.tree != rows[0].tree);
        for of in rows.chunk_by(|a, b| a.tree == b.tree && a.ancestor == b.ancestor) {
            let first = &of[0];
            let relation = if first.ancestor { Relation::Ancestor } else { Relation::Descendant };
            // The tree is said where the answer has several.
            let tree = several.then_some(first.tree.map(Piece::from));
            each(of, Subject { entity: first.entity.into(), tree, relation });
        }
    }
}

/// {"entity": ..., "trees": [{"tree": ..., "ancestors": [{"entity": ..., "depth": ..., "via": ...}], "descendants": [...]}]}, one
/// object for each entity.
fn json(rows: &[Relative<'_>], out: &mut Vec<u8>) {
    for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
        out.extend_from_slice(if out.len() > 1 { b", {\"entity\": " } else { b"{\"entity\": " });
        string(rows[0].entity, out);
        for (i, tree) in rows.chunk_by(|a, b| a.tree == b.tree).enumerate() {
            out.extend_from_slice(if i == 0 { b", \"trees\": [{\"tree\": " } else { b", {\"tree\": " });
            match tree[0].tree {
                None => out.extend_from_slice(b"null"),
                Some(name) => string(name, out),
            }
            for (key, ancestor) in [("ancestors", true), ("descendants", false)] {
                out.extend_from_slice(format!(", \"{key}\": [").as_bytes());
                for (i, row) in tree.iter().filter(|row| row.ancestor == ancestor).enumerate() {
                    out.extend_from_slice(if i == 0 { b"{\"entity\": " } else { b", {\"entity\": " });
                    string(row.name, out);
                    out.extend_from_slice(format!(", \"depth\": {}, \"via\": ", row.depth).as_bytes());
                    string(row.via, out);
                    out.push(b'}');
                }
                out.push(b']');
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }
}

/// In any server encoding a byte below 128 is ASCII.
fn string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// The content of a jsonb value.
fn jsonb(mut json: Vec<u8>) -> Fallible<Vec<u8>> {
    json.push(0);
    // SAFETY: jsonb_in takes a C string; the result is a varlena in this call's memory.
    unsafe {
        let value = pg_sys::OidInputFunctionCall(
            pg_sys::Oid::from(pg_sys::F_JSONB_IN),
            json.as_mut_ptr().cast(),
            pg_sys::InvalidOid,
            -1,
        );
        Ok(fmgr::text_bytes(value).to_vec())
    }
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

/// From the server's encoding. SQL_ASCII may hold what is no UTF-8: 22021.
pub fn to_utf8(bytes: &[u8]) -> Fallible<String> {
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
    String::from_utf8(converted.to_vec()).map_err(|_| error::not_utf8())
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
            return Ok(text.as_bytes().to_vec());
        }
        let converted = pg_sys::pg_any_to_server(text.as_ptr().cast(), text.len() as i32, utf8);
        let same = converted.cast_const() == text.as_ptr().cast();
        Ok(if same { text.as_bytes().to_vec() } else { std::ffi::CStr::from_ptr(converted).to_bytes().to_vec() })
    }
}
