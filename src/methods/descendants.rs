//! Finds all that is below or above some entities, to any depth: by walks of all levels and, if there are more levels
//! than a walk takes, by further walks from where the ones before ended.

use crate::call::array;
use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{Node, Texts, named, push};
use crate::methods::walker::{ALL, Walker};
use crate::pg::interrupt::check_interrupts;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};

/// Bytes that an entity in a tree takes besides its name, where there are more levels than a walk has.
const PER_NODE: usize = 100;

/// Returns these entities, known or not, and all below them in the walker's trees. 53400, 53200.
pub fn descendants(walker: &Walker, of: &Names, room: &mut Room) -> Fallible<Names> {
    all(walker, of, DOWN, room)
}

/// Returns these entities, known or not, and all above them in the walker's trees. 53400, 53200.
pub fn ancestors(walker: &Walker, of: &Names, room: &mut Room) -> Fallible<Names> {
    all(walker, of, UP, room)
}

/// The levels of a walk: above, below.
type Levels = (i32, i32);

const DOWN: Levels = (0, ALL);
const UP: Levels = (ALL, 0);

fn all(walker: &Walker, of: &Names, (up, down): Levels, room: &mut Room) -> Fallible<Names> {
    let mut found = Names::default();
    let of = array::all(of, room)?;
    for name in &of {
        named(&mut found, name, room)?;
    }
    let mut is_deep = false;
    walker.relatives(&of, up, down, |rows| {
        for row in rows {
            is_deep |= row.depth == ALL;
            named(&mut found, row.name, room)?;
        }
        Ok(())
    })?;
    if is_deep {
        let mut deep = Deep::default();
        walker.relatives(&of, up, down, |rows| rows.iter().try_for_each(|row| deep.note(row, &mut found, room)))?;
        while !deep.ends.is_empty() {
            deep.go_on(walker, (up, down), &mut found, room)?;
        }
    }
    Ok(found)
}

/// What the walks have found, where one walk does not have enough levels.
#[derive(Default)]
struct Deep {
    names: Names,
    /// Each entity in its tree, and whether the next walk begins there.
    known: Table<Node, bool>,
    /// Nodes at the last level of a walk that no walk has met before. What is beyond other nodes is found, or will be.
    ends: Vec<Node>,
}

impl Deep {
    /// Adds a relative to what is found.
    fn note(&mut self, row: &Relative<'_>, found: &mut Names, room: &mut Room) -> Fallible<()> {
        named(found, row.name, room)?;
        let tree = row.tree.map(|tree| named(&mut self.names, tree, room)).transpose()?;
        let node = (tree, named(&mut self.names, row.name, room)?);
        let is_end = row.depth == ALL;
        if self.known.entry(node, || is_end)?.1 {
            room.take(PER_NODE)?;
            if is_end {
                push(&mut self.ends, node)?;
            }
        }
        Ok(())
    }

    /// Walks from the ends of the walks before.
    fn go_on(&mut self, walker: &Walker, (up, down): Levels, found: &mut Names, room: &mut Room) -> Fallible<()> {
        let from = std::mem::take(&mut self.ends);
        let mut asked: Vec<NameId> = from.iter().map(|node| node.1).collect();
        let mut check_interrupts = check_interrupts;
        Interruptible::new(&mut check_interrupts).sort_by(&mut asked, Ord::cmp);
        asked.dedup();
        let texts = Texts::of(&asked, &self.names, room)?;
        walker.relatives(&texts.all(), up, down, |rows| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                let tree = rows[0].tree.map(|tree| named(&mut self.names, tree, room)).transpose()?;
                let node = (tree, named(&mut self.names, rows[0].entity, room)?);
                // The entity may be an end in another tree only.
                if self.known.get(&node) == Some(&true) {
                    rows.iter().try_for_each(|row| self.note(row, found, room))?;
                }
            }
            Ok(())
        })?;
        from.into_iter().try_for_each(|node| self.known.entry(node, || false).map(|(is_end, _)| *is_end = false))
    }
}
