//! Tells apart entities that share a label: a text names each of them by its path.
//!
//! Labels are not unique: a shop has three categories "Accessories". A text calls an entity by its label (by its name
//! if it has none), unless it calls another entity the same. Then it calls both by their paths in the sentence's tree
//! ("Sports > Shoes > Accessories"). If the paths are equal too, are what others are called, or consist of one name,
//! the entity's name follows ("Sports > Accessories (17)"). Below `LEVELS` levels it follows the label alone.
//!
//! What a text names is known when all its rows have been seen: they are read twice, first to collect labels.

use crate::call::array;
use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{Node, Texts, Tree, named};
use crate::methods::prefix::each_prefix;
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};

/// What stands between the names of a path.
const SEPARATOR: &[u8] = b" > ";

/// A path of more levels says little, and the paths of a chain of n entities would have n * n names.
const LEVELS: i32 = 32;

/// Bytes that an entry of a table takes, which may have just doubled.
const PER_ENTRY: usize = 80;

/// Which entity has a label or a path; None: several have it.
type Whose = Table<NameId, Option<NameId>>;

/// The entities that a text names, by what they are called.
#[derive(Default)]
pub struct NamedEntities {
    names: Names,
    labels: Whose,
    /// The entities that are called as others are.
    shared: Table<NameId, ()>,
    /// The trees of the text.
    trees: Table<Tree, ()>,
    room: Room,
}

impl NamedEntities {
    /// Notes what these rows name. Errors: 53400, 53200 (memory).
    pub fn add(&mut self, rows: &[Relative<'_>]) -> Fallible<()> {
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
            self.note_tree(rows[0].tree)?;
            self.note(rows[0].entity_called(), rows[0].entity)?;
            for row in rows {
                work.step();
                self.note(row.called(), row.name)?;
            }
        }
        Ok(())
    }

    /// Notes a tree of the text. Errors: 53400, 53200 (memory).
    pub fn note_tree(&mut self, tree: Option<&[u8]>) -> Fallible<()> {
        let tree = tree.map(|tree| named(&mut self.names, tree, &mut self.room)).transpose()?;
        if self.trees.entry(tree, || ())?.1 {
            self.room.take(PER_ENTRY)?;
        }
        Ok(())
    }

    /// Notes that the text names an entity, which is called by this label or name. Errors: 53400, 53200 (memory).
    pub fn note(&mut self, label: &[u8], entity: &[u8]) -> Fallible<()> {
        let label = named(&mut self.names, label, &mut self.room)?;
        let entity = named(&mut self.names, entity, &mut self.room)?;
        for entity in shared(&mut self.labels, label, entity, &mut self.room)?.into_iter().flatten() {
            if self.shared.entry(entity, || ())?.1 {
                self.room.take(PER_ENTRY)?;
            }
        }
        Ok(())
    }

    /// Finds what the text calls the entities that are called alike. The walker then walks in the text's trees alone.
    /// Errors: those of cft_path_prefix.
    pub fn tell_apart(mut self, walker: &mut Walker) -> Fallible<Namesakes> {
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        let Self { names, labels, shared: sharing, trees, room } = &mut self;
        let sharing: Vec<NameId> = sharing.keys().copied().collect();
        if sharing.is_empty() {
            return Ok(Namesakes { names: self.names, called: Table::default() });
        }
        let mut paths = Vec::new();
        let texts = Texts::of(&sharing, names, room)?;
        let trees = array::Texts::new(trees.keys().map(|tree| tree.map(|tree| names.get(tree))));
        walker.trees = Some(trees);
        each_prefix(walker, &texts.all(), LEVELS, SEPARATOR, |tree, entity, path, length| {
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
        for (node, mut path, length) in paths {
            work.step();
            let mut is_clear = length > 1;
            while !is_clear || labels.get(&path).is_some() || whose.get(&path) != Some(&Some(node.1)) {
                let with_name = [names.get(path), b" (", names.get(node.1), b")"].concat();
                path = named(names, &with_name, room)?;
                shared(&mut whose, path, node.1, room)?;
                is_clear = true;
            }
            room.take(PER_ENTRY)?;
            called.entry(node, || path)?;
        }
        Ok(Namesakes { names: self.names, called })
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
pub struct Namesakes {
    names: Names,
    called: Table<Node, NameId>,
}

impl Namesakes {
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
