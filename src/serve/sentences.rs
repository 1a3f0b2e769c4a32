//! The rows of a walk as sentences, as in the paper: "the upward hierarchical relationships of X are: A, B, C".
//!
//! Written piece by piece into one text, limited by cftrag.work_memory; errors: 53400, 53200.

use crate::call::work_memory::Bytes;
use crate::error::Fallible;
use crate::pg::interrupt::{check_interrupts, look_up};
use crate::serve::sink::Relative;
use crate::{error, guc};
use cftrag_core::{Interruptible, NoRoom, Piece, Relation, Subject, Text, write_sentence};
use pgrx::check_for_interrupts;
use std::cell::Cell;

/// A sentence up to this size is written whatever `cftrag.work_memory` is.
const LEAST_TEXT: usize = 64 << 10;

/// The sentences of an answer, one per line, as Walk::try_text writes those of an image's answer.
#[derive(Default)]
pub struct Sentences {
    /// Each sentence ends with a newline.
    bytes: Bytes,
    one: Text,
}

impl Sentences {
    /// Starts after the text written so far.
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

/// Writes one sentence about those rows.
pub fn sentence(out: &mut Text, of: &[Relative<'_>], subject: Subject<'_>) -> Fallible<()> {
    write(out, of.iter().map(Relative::called), subject, of.len() > 1)
}

/// Writes one sentence that lists what relatives are called. `several`: whether there are several, listed or not.
pub fn write<'n>(
    out: &mut Text,
    called: impl Iterator<Item = &'n [u8]> + Clone,
    subject: Subject<'_>,
    several: bool,
) -> Fallible<()> {
    let left = Cell::new(0);
    let names = called.map(|called| {
        look_up(&left, called.len());
        Piece::from(called)
    });
    let bytes = names.clone().map(Subject::most_bytes_of).sum::<usize>() + subject.most_bytes();
    if bytes > guc::work_bytes().max(LEAST_TEXT) {
        return Err(error::no_room(NoRoom::Limit(bytes)));
    }
    if !out.try_reserve(bytes, &mut Interruptible::new(&mut { check_interrupts })) {
        return Err(error::no_room(NoRoom::Memory(bytes)));
    }
    write_sentence(out, subject, names, several);
    Ok(())
}

/// Lists names, separated by commas, or by semicolons if there are several and one contains a comma; before one that
/// begins another list stands `another`.
pub fn list<'n>(
    names: impl Iterator<Item = (&'n [u8], bool)> + Clone,
    another: &[u8],
    out: &mut Bytes,
) -> Fallible<()> {
    let done = Cell::new(0);
    let names = names.inspect(|(name, _)| look_up(&done, name.len()));
    let several = names.clone().nth(1).is_some();
    let between: &[u8] = if several && names.clone().any(|(name, _)| name.contains(&b',')) { b"; " } else { b", " };
    out.0.clear();
    for (n, (name, begins)) in names.enumerate() {
        out.room(name.len() + another.len().max(between.len()))?;
        if n > 0 {
            out.0.extend_from_slice(if begins { another } else { between });
        }
        out.0.extend_from_slice(name);
    }
    Ok(())
}

/// Divides an answer into sentences, in its order: each for the relatives of one entity, in one tree and direction,
/// with its subject.
pub fn each_sentence<'a>(
    rows: &'a [Relative<'a>],
    mut each: impl FnMut(&'a [Relative<'a>], Subject<'a>) -> Fallible<()>,
) -> Fallible<()> {
    for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
        let several = rows.iter().any(|row| row.tree != rows[0].tree);
        for of in rows.chunk_by(|a, b| a.tree == b.tree && a.ancestor == b.ancestor) {
            let first = &of[0];
            let relation = if first.ancestor { Relation::Ancestor } else { Relation::Descendant };
            // Sentences name the tree if the entity's rows have several.
            let tree = several.then_some(first.tree.map(Piece::from));
            each(of, Subject { entity: first.entity_called().into(), tree, relation })?;
        }
    }
    Ok(())
}
