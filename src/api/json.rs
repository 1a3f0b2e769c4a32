//! The hierarchy as JSON: cft_context_json.
//!
//! {"entity": ..., "label": ..., "trees": [{"tree": ..., "ancestors": [{"entity": ..., "label": ..., "depth": ...,
//! "via": ...}], "descendants": [...]}]}, one object per entity, in the order of cft_context; without "label" what has
//! none. Written row by row, as jsonb prints it.

use crate::call::fmgr;
use crate::call::fmgr::Call;
use crate::call::work_memory::Bytes;
use crate::error::Fallible;
use crate::pg::interrupt::look_up;
use crate::serve::answer;
use crate::serve::sink::{Relatives, Sink};
use pgrx::Internal;
use pgrx::prelude::*;
use std::cell::Cell;

/// `cft_context_json(entity text, up int, down int, edges regclass, trees text[]) -> json`: NULL for an entity without
/// relatives.
///
/// Errors: those of cft_context; 53400, 53200 (memory), 54000 (more than a value can hold).
#[pg_extern(sql = false)]
fn cft_context_json_one(call: Call) -> Fallible<Internal> {
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let mut out = Json::default();
    answer::answer(&call, &[name], &mut Sink::View(&mut |rows| out.add(rows)))?;
    fmgr::text_of(&out.text.0).map(Internal::from)
}

/// `cft_context_json(entities text[], ...)`: an array with one element for each entity that has relatives.
#[pg_extern(sql = false)]
fn cft_context_json_many(call: Call) -> Fallible<Internal> {
    let Some(names) = call.names(0)? else { return Ok(Internal::from(None)) };
    let mut out = Json::default();
    out.put("[")?;
    answer::answer(&call, &names, &mut Sink::View(&mut |rows| out.add(rows)))?;
    out.put("]")?;
    fmgr::text_of(&out.text.0).map(Internal::from)
}

/// A JSON text under construction.
#[derive(Default)]
struct Json {
    text: Bytes,
    /// An object stands before.
    is_behind: bool,
    looked: Cell<usize>,
}

impl Json {
    /// Adds an object for each entity of these rows, which are all that it has. 53400, 53200 (memory).
    fn add(&mut self, rows: &dyn Relatives) -> Fallible<()> {
        for n in 0..rows.count() {
            let row = rows.row(n);
            let before = n.checked_sub(1).map(|before| rows.row(before)).filter(|before| before.entity == row.entity);
            let is_in_tree = before.is_some_and(|before| before.tree == row.tree);
            if before.is_none() {
                self.put(if self.is_behind { ", {" } else { "{" })?;
                self.is_behind = true;
                self.names(row.entity, row.entity_label)?;
                self.put(", \"trees\": [")?;
            }
            if !is_in_tree {
                self.put(if before.is_some() { ", {\"tree\": " } else { "{\"tree\": " })?;
                match row.tree {
                    Some(tree) => self.string(tree)?,
                    None => self.put("null")?,
                }
                self.put(", \"ancestors\": [")?;
            }
            let is_side_of_before = before.is_some_and(|before| is_in_tree && before.ancestor == row.ancestor);
            if !row.ancestor && !is_side_of_before {
                self.put("], \"descendants\": [")?;
            }
            self.put(if is_side_of_before { ", {" } else { "{" })?;
            self.names(row.name, row.label)?;
            self.put(", \"depth\": ")?;
            self.put(&row.depth.to_string())?;
            self.put(", \"via\": ")?;
            self.string(row.via)?;
            self.put("}")?;
            let after = Some(n + 1).filter(|n| *n < rows.count()).map(|n| rows.row(n));
            let after = after.filter(|after| after.entity == row.entity);
            if after.is_none_or(|after| after.tree != row.tree) {
                self.put(if row.ancestor { "], \"descendants\": []}" } else { "]}" })?;
            }
            if after.is_none() {
                self.put("]}")?;
            }
        }
        Ok(())
    }

    fn names(&mut self, entity: &[u8], label: Option<&[u8]>) -> Fallible<()> {
        self.put("\"entity\": ")?;
        self.string(entity)?;
        let Some(label) = label else { return Ok(()) };
        self.put(", \"label\": ")?;
        self.string(label)
    }

    /// A name in the database's encoding, whose ASCII characters are single bytes.
    fn string(&mut self, name: &[u8]) -> Fallible<()> {
        look_up(&self.looked, name.len());
        self.put("\"")?;
        let mut from = 0;
        for (at, byte) in name.iter().enumerate() {
            if let Some(escaped) = cftrag_methods::json_escape(*byte) {
                self.bytes(&name[from..at])?;
                self.put(&escaped)?;
                from = at + 1;
            }
        }
        self.bytes(&name[from..])?;
        self.put("\"")
    }

    fn bytes(&mut self, bytes: &[u8]) -> Fallible<()> {
        self.text.room(bytes.len())?;
        self.text.0.extend_from_slice(bytes);
        Ok(())
    }

    fn put(&mut self, text: &str) -> Fallible<()> {
        self.bytes(text.as_bytes())
    }
}
