//! The hierarchy as JSON: cft_context_json.
//!
//! {"entity": ..., "trees": [{"tree": ..., "ancestors": [{"entity": ..., "depth": ..., "via": ...}], "descendants": [...]}]}, one object per entity,
//! in the order of cft_context; after each "entity" its "label", if it has one. serde writes the jsonb from the rows (call/jsonb.rs): the fields
//! below are in jsonb's order. Names are strings as they are, as in to_jsonb.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr;
use crate::call::fmgr::Call;
use crate::call::jsonb::Jsonb;
use crate::error::Fallible;
use crate::serve::answer;
use crate::serve::sink::{Relative, Sink};
use pgrx::Internal;
use pgrx::prelude::*;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// `cft_context_json(entity text, up int, down int, edges regclass, trees text[]) -> jsonb`: NULL for an entity without relatives.
///
/// Errors: those of cft_context; 53400, 53200 (memory), 54000 (more than a jsonb can hold).
#[pg_extern(sql = false)]
fn cft_context_json_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let mut out = Jsonb::default();
    objects(&call, &[name], || fmgr::array_of_one(&call), |entity| out.write(entity))?;
    if out.len() == 0 { Ok(Internal::from(None)) } else { Ok(Internal::from(Some(out.value()?))) }
}

/// `cft_context_json(entities text[], ...)`: an array with one element for each entity that has relatives.
#[pg_extern(sql = false)]
fn cft_context_json_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some((names, array)) = call.names(0) else { return Ok(Internal::from(None)) };
    let mut out = Jsonb::default();
    let mut list = out.begin(names.len())?;
    objects(&call, &names, || array, |entity| out.add(&mut list, entity))?;
    out.end(list);
    Ok(Internal::from(Some(out.value()?)))
}

/// Passes on each entity with relatives of a call (entity or entities, up, down, edges, trees).
fn objects(
    call: &Call,
    names: &[&[u8]],
    array: impl Fn() -> pg_sys::Datum,
    mut each: impl FnMut(&Entity<'_>) -> Fallible<()>,
) -> Fallible<()> {
    let mut take = |rows: &[Relative<'_>]| {
        rows.chunk_by(|a, b| a.entity == b.entity).try_for_each(|rows| {
            let (entity, label) = (Name(rows[0].entity), rows[0].entity_label.map(Name));
            each(&Entity { label, trees: Trees(rows), entity })
        })
    };
    answer::answer(call, names, array, &mut Sink::Parts(&mut take))
}

#[derive(Serialize)]
struct Entity<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Name<'a>>,
    trees: Trees<'a>,
    entity: Name<'a>,
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
    via: Name<'a>,
    depth: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Name<'a>>,
    entity: Name<'a>,
}

/// A name in the database's encoding.
struct Name<'a>(&'a [u8]);

impl Serialize for Trees<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trees = || self.0.chunk_by(|a, b| a.tree == b.tree);
        let mut list = serializer.serialize_seq(Some(trees().count()))?;
        for rows in trees() {
            let side = |ancestors| Side { rows, ancestors };
            let tree = rows[0].tree.map(Name);
            list.serialize_element(&Tree { tree, ancestors: side(true), descendants: side(false) })?;
        }
        list.end()
    }
}

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = || self.rows.iter().filter(|row| row.ancestor == self.ancestors);
        let mut list = serializer.serialize_seq(Some(rows().count()))?;
        for row in rows() {
            let label = row.label.map(Name);
            list.serialize_element(&Node { via: Name(row.via), depth: row.depth, label, entity: Name(row.name) })?;
        }
        list.end()
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}
