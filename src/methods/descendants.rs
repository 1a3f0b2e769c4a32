//! All that is below some entities, to any depth. By walks of all levels; if there are more levels than a walk takes, by further walks from
//! where the ones before ended.

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{Node, Texts, named};
use crate::methods::walker::{ALL, Walker};
use crate::pg::interrupt::check_interrupts;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};

/// Bytes that an entity at the end of a walk takes, besides its name.
const PER_END: usize = 100;

/// These entities, known or not, and all below them in the walker's trees. 53400, 53200.
pub fn descendants(walker: &Walker, tops: &[&[u8]]) -> Fallible<Names> {
    let (mut found, mut room) = (Names::default(), Room::new());
    for top in tops {
        named(&mut found, top, &mut room)?;
    }
    let mut ends = Ends::default();
    walker.relatives(tops, 0, ALL, |rows| rows.iter().try_for_each(|row| ends.note(row, &mut found, &mut room)))?;
    while !ends.new.is_empty() {
        ends.go_on(walker, &mut found, &mut room)?;
    }
    Ok(found)
}

/// Entities at the last level of a walk, each in its tree.
#[derive(Default)]
struct Ends {
    names: Names,
    /// All, and whether it is one of those that were found last.
    known: Table<Node, bool>,
    new: Vec<Node>,
}

impl Ends {
    /// Adds a descendant to what is found.
    fn note(&mut self, row: &Relative<'_>, found: &mut Names, room: &mut Room) -> Fallible<()> {
        named(found, row.name, room)?;
        if row.depth < ALL {
            return Ok(());
        }
        let tree = row.tree.map(|tree| named(&mut self.names, tree, room)).transpose()?;
        let node = (tree, named(&mut self.names, row.name, room)?);
        if self.known.entry(node, || true)?.1 {
            room.take(PER_END)?;
            self.new.push(node);
        }
        Ok(())
    }

    /// Walks from those that were found last.
    fn go_on(&mut self, walker: &Walker, found: &mut Names, room: &mut Room) -> Fallible<()> {
        let from = std::mem::take(&mut self.new);
        let mut asked: Vec<NameId> = from.iter().map(|node| node.1).collect();
        let mut check_interrupts = check_interrupts;
        Interruptible::new(&mut check_interrupts).sort_by(&mut asked, Ord::cmp);
        asked.dedup();
        let texts = Texts::of(&asked, &self.names, room)?;
        walker.relatives(&texts.all(), 0, ALL, |rows| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                let tree = rows[0].tree.map(|tree| named(&mut self.names, tree, room)).transpose()?;
                let node = (tree, named(&mut self.names, rows[0].entity, room)?);
                if self.known.get(&node) == Some(&true) {
                    rows.iter().try_for_each(|row| self.note(row, found, room))?;
                }
            }
            Ok(())
        })?;
        from.into_iter().try_for_each(|node| self.known.entry(node, || false).map(|(is_last, _)| *is_last = false))
    }
}
