//! Whether entities are among some (the tops) or below one of them, asked one after the other.
//!
//! For the first ones, we walk up from the entity. When that has cost as much as finding all descendants of the tops
//! might, we find these once, and then look each entity up among them.

use crate::call::array::Texts;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::methods::descendants::descendants;
use crate::methods::walker::Walker;
use crate::serve::within::Within;
use cftrag_core::Names;
use std::rc::Rc;

/// The work of walking up before all descendants are found: about a quarter of a millisecond.
const LOOKING: usize = 5_000;

/// The work of one walk up besides its rows, in rows of an answer.
const LOOK: usize = 20;

pub struct Below {
    tops: Rc<Names>,
    /// Whether more entities are asked for, by the same query.
    keeps: bool,
    left: usize,
    found: Option<Names>,
}

impl Below {
    pub fn of(tops: impl Into<Rc<Names>>, keeps: bool) -> Self {
        Self { tops: tops.into(), keeps, left: LOOKING, found: None }
    }

    /// Whether an entity is below, if that is known without the image.
    pub fn known(&self, name: &[u8]) -> Option<bool> {
        self.found.as_ref().map(|found| found.contains(name))
    }

    /// Whether an entity is below. `trees`: as in [`Walker`]. 53400, 53200.
    pub fn has(&mut self, of: AttachedTable, trees: Option<Texts<'_>>, name: &[u8]) -> Fallible<bool> {
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        if !self.keeps || self.left > 0 {
            let within = Within::of(&of, &self.tops, trees);
            if let Some((is_under, rows)) = within.has(name)? {
                self.left = self.left.saturating_sub(LOOK + rows);
                return Ok(is_under);
            }
            // Without the image, one walk up costs as much as finding all descendants. It may still be the only one:
            // the tops can change with the row.
            if !self.keeps || self.left == LOOKING {
                self.left = 0;
                return Ok(within.those_of(&[name])?[0]);
            }
        }
        let found = descendants(&Walker { of, trees }, &self.tops, &mut Room::new())?;
        Ok(self.found.insert(found).contains(name))
    }
}
