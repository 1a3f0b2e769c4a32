//! The hierarchy as JSON: cft_context_json.
//!
//! {"entity": ..., "trees": [{"tree": ..., "ancestors": [{"entity": ..., "depth": ..., "via": ...}], "descendants": [...]}]}, one object per entity,
//! in the order of cft_context; after each "entity" its "label", if it has one. serde writes the jsonb from the rows (call/jsonb.rs): the fields
//! below are in jsonb's order. Names become strings unchanged, as in to_jsonb.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr::Call;
use crate::call::jsonb::Jsonb;
use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::serve::answer;
use crate::serve::sink::{Relatives, Sink};
use cftrag_core::Interruptible;
use pgrx::Internal;
use pgrx::prelude::*;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use std::ops::Range;

/// `cft_context_json(entity text, up int, down int, edges regclass, trees text[]) -> jsonb`: NULL for an entity without relatives.
///
/// Errors: those of cft_context; 53400, 53200 (memory), 54000 (more than a jsonb can hold).
#[pg_extern(sql = false)]
fn cft_context_json_one(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let mut out = Jsonb::default();
    objects(&call, &[name], |entity| out.write(entity))?;
    Ok(Internal::from(out.value()))
}

/// `cft_context_json(entities text[], ...)`: an array with one element for each entity that has relatives.
#[pg_extern(sql = false)]
fn cft_context_json_many(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let Some(names) = call.names(0)? else { return Ok(Internal::from(None)) };
    let mut out = Jsonb::default();
    let mut list = out.begin(names.len())?;
    objects(&call, &names, |entity| out.add(&mut list, entity))?;
    out.end(list);
    Ok(Internal::from(out.value()))
}

/// Passes on each entity with relatives of a call (entity or entities, up, down, edges, trees).
fn objects(call: &Call, names: &[&[u8]], mut each: impl FnMut(&Entity<'_>) -> Fallible<()>) -> Fallible<()> {
    let mut view = |rows: &dyn Relatives| {
        let mut from = 0;
        while from < rows.count() {
            let trees = Trees::from(rows, from)?;
            let first = rows.row(from);
            from = trees.cuts.last().map_or(rows.count(), |cut| cut.end);
            each(&Entity { label: first.entity_label.map(Name), trees, entity: Name(first.entity) })?;
        }
        Ok(())
    };
    answer::answer(call, names, &mut Sink::View(&mut view))
}

#[derive(Serialize)]
struct Entity<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Name<'a>>,
    trees: Trees<'a>,
    entity: Name<'a>,
}

/// The rows of an entity.
struct Trees<'a> {
    rows: &'a dyn Relatives,
    from: usize,
    cuts: Vec<Cut>,
}

/// Where the ancestors of a tree end, which come first, and where all its rows end.
#[derive(Clone, Copy)]
struct Cut {
    ancestors: usize,
    end: usize,
}

impl<'a> Trees<'a> {
    /// The rows of the entity whose first row is `from`. 53400, 53200 (memory).
    fn from(rows: &'a dyn Relatives, from: usize) -> Fallible<Self> {
        let first = rows.row(from);
        let (mut cuts, mut room): (Vec<Cut>, _) = (Vec::new(), Room::new());
        let (mut tree, mut check_interrupts) = (None, check_interrupts);
        let mut work = Interruptible::new(&mut check_interrupts);
        for n in from..rows.count() {
            work.step();
            let row = rows.row(n);
            if row.entity != first.entity {
                break;
            }
            if tree != Some(row.tree) {
                tree = Some(row.tree);
                // Twice, because a list that grows is copied.
                room.take(2 * size_of::<Cut>())?;
                cuts.push(Cut { ancestors: n, end: n });
            }
            if let Some(cut) = cuts.last_mut() {
                cut.end = n + 1;
                cut.ancestors += usize::from(row.ancestor);
            }
        }
        Ok(Self { rows, from, cuts })
    }
}

#[derive(Serialize)]
struct Tree<'a> {
    tree: Option<Name<'a>>,
    ancestors: Side<'a>,
    descendants: Side<'a>,
}

/// The ancestors or the descendants of an entity in a tree.
struct Side<'a> {
    rows: &'a dyn Relatives,
    range: Range<usize>,
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
        let Self { rows, mut from, ref cuts } = *self;
        let mut list = serializer.serialize_seq(Some(cuts.len()))?;
        for &Cut { ancestors, end } in cuts {
            let side = |range| Side { rows, range };
            let tree = rows.row(from).tree.map(Name);
            list.serialize_element(&Tree {
                tree,
                ancestors: side(from..ancestors),
                descendants: side(ancestors..end),
            })?;
            from = end;
        }
        list.end()
    }
}

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.range.len()))?;
        for n in self.range.clone() {
            let row = self.rows.row(n);
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
