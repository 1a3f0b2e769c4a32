//! The hierarchy as JSON: cft_context_json.
//!
//! {"entity": ..., "trees": [{"tree": ..., "ancestors": [{"entity": ..., "depth": ..., "via": ...}], "descendants": [...]}]}, one object per entity,
//! in the order of cft_context; after each "entity" its "label", if it has one. serde writes it from the rows into memory that is reserved first; jsonb_in then makes a jsonb of it. JSON is
//! UTF-8: in another encoding we convert names to UTF-8 and the text back; under SQL_ASCII names must be UTF-8 (22021).

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr;
use crate::call::fmgr::{Call, with_room_for_errors};
use crate::call::utf8::{as_utf8, from_utf8};
use crate::call::work_memory::Bytes;
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::plain;
use crate::pg::encoding::is_utf8;
use crate::serve::answer;
use crate::serve::sentences::look_up;
use crate::serve::sink::{Relative, Sink};
use pgrx::Internal;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use std::cell::Cell;
use std::io;

/// `cft_context_json(entity text, up int, down int, edges regclass, trees text[]) -> jsonb`: NULL for an entity without relatives.
///
/// Errors: those of cft_context; 22021; 53400, 53200 (memory), 54000 (a text that is too long).
#[pg_extern(sql = false)]
fn cft_context_json_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let mut out = Json::default();
    objects(&call, &[name], || fmgr::array_of_one(&call), &mut out)?;
    if out.bytes.0.is_empty() { Ok(Internal::from(None)) } else { out.jsonb() }
}

/// `cft_context_json(entities text[], ...)`: an array with one element for each entity that has relatives.
#[pg_extern(sql = false)]
fn cft_context_json_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some((names, array)) = call.names(0) else { return Ok(Internal::from(None)) };
    let mut out = Json { bytes: Bytes(vec![b'[']), ..Json::default() };
    objects(&call, &names, || array, &mut out)?;
    out.add(b"]")?;
    out.jsonb()
}

/// Writes the object of each entity of a call (entity or entities, up, down, edges, trees).
fn objects(call: &Call, names: &[&[u8]], array: impl Fn() -> pg_sys::Datum, out: &mut Json) -> Fallible<()> {
    let mut take = |rows: &[Relative<'_>]| {
        for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
            if out.bytes.0.len() > 1 {
                out.add(b",")?;
            }
            let (entity, label) = (Name(rows[0].entity), rows[0].entity_label.map(Name));
            out.object(&Entity { entity, label, trees: Trees(rows) })?;
        }
        Ok(())
    };
    answer::answer(call, names, array, &mut Sink::Parts(&mut take))
}

#[derive(Serialize)]
struct Entity<'a> {
    entity: Name<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Name<'a>>,
    trees: Trees<'a>,
}

/// The rows of an entity.
struct Trees<'a>(&'a [Relative<'a>]);

#[derive(Serialize)]
struct Tree<'a> {
    tree: Option<Name<'a>>,
    ancestors: Side<'a>,
    descendants: Side<'a>,
}

/// The ancestors or the descendants among the rows of an entity in a tree.
struct Side<'a> {
    rows: &'a [Relative<'a>],
    ancestors: bool,
}

#[derive(Serialize)]
struct Node<'a> {
    entity: Name<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Name<'a>>,
    depth: i32,
    via: Name<'a>,
}

/// A name in the database's encoding.
struct Name<'a>(&'a [u8]);

impl Serialize for Trees<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.chunk_by(|a, b| a.tree == b.tree).map(|rows| Tree {
            tree: rows[0].tree.map(Name),
            ancestors: Side { rows, ancestors: true },
            descendants: Side { rows, ancestors: false },
        }))
    }
}

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.iter().filter(|row| row.ancestor == self.ancestors);
        serializer.collect_seq(rows.map(|row| Node {
            entity: Name(row.name),
            label: row.label.map(Name),
            depth: row.depth,
            via: Name(row.via),
        }))
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match as_utf8(self.0) {
            Ok(name) => serializer.serialize_str(name),
            Err(_) => Err(S::Error::custom("not UTF-8")),
        }
    }
}

/// JSON under construction, in UTF-8.
#[derive(Default)]
struct Json {
    bytes: Bytes,
    looked: Cell<usize>,
    /// Why nothing more could be written.
    full: Option<ErrorReport>,
}

impl Json {
    fn add(&mut self, bytes: &[u8]) -> Fallible<()> {
        look_up(&self.looked, bytes.len());
        self.bytes.room(bytes.len())?;
        self.bytes.0.extend_from_slice(bytes);
        Ok(())
    }

    fn object(&mut self, object: &Entity<'_>) -> Fallible<()> {
        serde_json::to_writer(&mut *self, object).map_err(|_| self.full.take().unwrap_or_else(error::not_utf8))
    }

    /// The JSON as a jsonb value.
    fn jsonb(mut self) -> Fallible<Internal> {
        if self.bytes.0.len() > fmgr::LONGEST {
            return Err(error::too_long(self.bytes.0.len()));
        }
        if !is_utf8() {
            let Ok(text) = str::from_utf8(&self.bytes.0) else { unreachable!("serde writes UTF-8") };
            self.bytes.0 = from_utf8(text)?;
        }
        self.add(b"\0")?;
        // SAFETY: jsonb_in takes a C string; the result is in this call's memory.
        unsafe {
            let (function, text) = (pg_sys::Oid::from(pg_sys::F_JSONB_IN), self.bytes.0.as_mut_ptr().cast());
            let value = with_room_for_errors(|| plain::OidInputFunctionCall(function, text, pg_sys::InvalidOid, -1));
            Ok(Internal::from(Some(value)))
        }
    }
}

impl io::Write for Json {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.add(bytes).map_err(|error| {
            self.full = Some(error);
            io::ErrorKind::OutOfMemory.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
