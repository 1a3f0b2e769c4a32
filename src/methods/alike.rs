//! Tells apart entities that share a label: a text names each of them by its path.
//!
//! Labels are not unique: a shop has three categories "Accessories". A text names an entity by its label, unless it
//! names another entity with the same label. Then it names both by their paths in the sentence's tree ("Sports > Shoes >
//! Accessories"). If the paths are equal too, are labels of other entities, or consist of the label alone, the entity's
//! name follows ("Sports > Accessories (17)").
//!
//! What a text names is known when all its rows have been seen: they are read twice, first to collect labels.

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{Node, Texts, named};
use crate::methods::prefix::each_prefix;
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};

/// What stands between the names of a path.
const SEPARATOR: &[u8] = b" > ";

/// Bytes that an entry of a table takes, which may have just doubled.
const PER_ENTRY: usize = 80;

/// Which entity has a label or a path; None: several have it.
type Whose = Table<NameId, Option<NameId>>;

/// The labels of the entities that a text names.
#[derive(Default)]
pub struct Seen {
    names: Names,
    labels: Whose,
    /// The entities that share a label.
    shared: Table<NameId, ()>,
    room: Room,
}

impl Seen {
    /// Notes what these rows name. Errors: 53400, 53200 (memory).
    pub fn add(&mut self, rows: &[Relative<'_>]) -> Fallible<()> {
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for rows in rows.chunk_by(|a, b| a.entity == b.entity) {
            self.note(rows[0].entity_label, rows[0].entity)?;
            for row in rows {
                work.step();
                self.note(row.label, row.name)?;
            }
        }
        Ok(())
    }

    /// Notes that the text names an entity, which has this label. Errors: 53400, 53200 (memory).
    pub fn note(&mut self, label: Option<&[u8]>, entity: &[u8]) -> Fallible<()> {
        let Some(label) = label else { return Ok(()) };
        let label = named(&mut self.names, label, &mut self.room)?;
        let entity = named(&mut self.names, entity, &mut self.room)?;
        for entity in shared(&mut self.labels, label, entity, &mut self.room)?.into_iter().flatten() {
            self.shared.entry(entity, || ())?;
        }
        Ok(())
    }

    /// Finds what the text calls the entities that share a label. Errors: those of cft_path_prefix.
    pub fn tell_apart(mut self, walker: &Walker) -> Fallible<Alike> {
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        let Self { names, labels, shared: sharing, room } = &mut self;
        let sharing: Vec<NameId> = sharing.keys().copied().collect();
        let mut paths = Vec::new();
        let texts = Texts::of(&sharing, names, room)?;
        each_prefix(walker, &texts.all(), SEPARATOR, |tree, entity, path, length| {
            room.take(PER_ENTRY)?;
            let tree = tree.map(|tree| named(names, tree, room)).transpose()?;
            let (entity, path) = (named(names, entity, room)?, named(names, &path, room)?);
            paths.push(((tree, entity), path, length));
            Ok(())
        })?;
        let mut whose = Whose::default();
        for ((_, entity), path, _) in &paths {
            shared(&mut whose, *path, *entity, room)?;
        }
        let mut called = Table::default();
        for (node, path, length) in paths {
            work.step();
            let is_clear = length > 1 && labels.get(&path).is_none() && whose.get(&path).is_some_and(Option::is_some);
            let path = if is_clear {
                path
            } else {
                let path = [names.get(path), b" (", names.get(node.1), b")"].concat();
                named(names, &path, room)?
            };
            room.take(PER_ENTRY)?;
            called.entry(node, || path)?;
        }
        Ok(Alike { names: self.names, called })
    }
}

/// Notes that an entity has a label or a path, and returns the entities that are now known to share it.
fn shared(whose: &mut Whose, label: NameId, entity: NameId, room: &mut Room) -> Fallible<[Option<NameId>; 2]> {
    let (known, is_new) = whose.entry(label, || Some(entity))?;
    if is_new {
        room.take(PER_ENTRY)?;
    }
    Ok(if *known == Some(entity) { [None; 2] } else { [known.take(), Some(entity)] })
}

/// What a text calls the entities that share a label.
pub struct Alike {
    names: Names,
    called: Table<Node, NameId>,
}

impl Alike {
    /// Passes on the rows, with paths in place of the labels that several entities have.
    pub fn rename(&self, rows: &[Relative<'_>], take: impl FnOnce(&[Relative<'_>]) -> Fallible<()>) -> Fallible<()> {
        if self.called.len() == 0 {
            return take(rows);
        }
        Room::new().take(size_of_val(rows))?;
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        let mut renamed = rows.to_vec();
        for row in &mut renamed {
            work.step();
            row.label = self.called(row.tree, row.name).or(row.label);
            row.entity_label = self.called(row.tree, row.entity).or(row.entity_label);
        }
        take(&renamed)
    }

    /// What the text calls an entity that shares its label, in this tree; None for any other.
    pub fn called(&self, tree: Option<&[u8]>, entity: &[u8]) -> Option<&[u8]> {
        let entity = self.names.known(entity)?;
        let tree = match tree {
            Some(tree) => Some(self.names.known(tree)?),
            None => None,
        };
        self.called.get(&(tree, entity)).map(|path| self.names.get(*path))
    }
}
