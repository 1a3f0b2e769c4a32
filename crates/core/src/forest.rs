//! Insert, and what inserting and unlinking have in common.
//!
//! An edge row is two slots, one in the child's list "up" and one in the parent's list
//! "down". A settled row's slots point at each other; those of a row with a version both
//! point at the version, and it at them.
//!
//! Insert is in two phases. First it looks everything up and plans every allocation
//! without writing; an `Error::Full` therefore leaves every byte as it was. Then it writes,
//! between the marks of `mutating`. One call is one row: rows are a multiset, so inserting
//! searches no list. Writers only.

use crate::alloc::Plan;
use crate::answer::Counters;
use crate::filter::Filter;
use crate::hash::{Hash, Kind};
use crate::id::{EntityId, Link, TreeId, word};
use crate::list;
use crate::record::{self, Direction, Record};
use crate::root::Counter;
use crate::slot::Slot;
use crate::version;
use crate::{Edge, Error, Image, Stamp};

/// Lines of the blocks and the version of one row, at most.
const ROW_LINES: usize = 3;

/// See [`Image::insert_bound`].
pub(crate) fn insert_bound_lines(edge: &Edge<'_>) -> usize {
    let entity = |name: &[u8]| record::lines(Kind::Entity, name.len());
    let tree = edge.tree.map_or(0, |name| record::lines(Kind::Tree, name.len()));
    entity(edge.parent) + entity(edge.child) + tree + Filter::bound_lines() + ROW_LINES
}

/// A name of an edge: its hash, and its record if there is one.
#[derive(Clone, Copy)]
pub(crate) struct Key<'n, 'm> {
    pub(crate) kind: Kind,
    pub(crate) name: &'n [u8],
    pub(crate) hash: Hash,
    pub(crate) record: Option<Record<'m>>,
}

impl<'m> Image<'m> {
    /// Looks a name up.
    pub(crate) fn key<'n>(self, kind: Kind, name: &'n [u8]) -> Key<'n, 'm> {
        let hash = Hash::of(self.root().seed(), kind, name);
        let found = self.filter().find(kind, hash, name, &mut Counters::default());
        Key { kind, name, hash, record: found.map(|(record, _)| record) }
    }

    /// Writer: one row of `edge` more; `stamp: None` means that everyone sees it.
    ///
    /// # Errors
    /// [`Error::Full`], and every byte is as it was.
    pub fn insert(&self, edge: &Edge<'_>, stamp: Option<Stamp>) -> Result<(), Error> {
        let parent = self.key(Kind::Entity, edge.parent);
        let own_parent = edge.parent == edge.child;
        let child = if own_parent { parent } else { self.key(Kind::Entity, edge.child) };
        let tree = edge.tree.map(|name| self.key(Kind::Tree, name));
        let mut keys = [Some(parent), (!own_parent).then_some(child), tree];
        self.plan_insert(&keys, own_parent, stamp.is_some())?;
        self.mutate(|| {
            self.create_missing(&mut keys)?;
            let [Some(parent), child, tree] = keys.map(|key| key.and_then(|key| key.record)) else {
                unreachable!("the parent was found or created");
            };
            let parent = parent.id().entity();
            let child = child.map_or(parent, |child| child.id().entity());
            let tree = tree.map(|tree| tree.id().tree());
            self.link(parent, child, tree, stamp);
            Ok(())
        })
    }

    /// Phase one: will all allocations of [`Image::insert`] succeed, in its order?
    fn plan_insert(
        self,
        keys: &[Option<Key<'_, 'm>>; 3],
        own_parent: bool,
        stamped: bool,
    ) -> Result<(), Error> {
        let mut plan = Plan::new(self.root());
        let missing = || keys.iter().flatten().filter(|key| key.record.is_none());
        let directory = self.filter().plan(word(missing().count()), &mut plan);
        for key in missing() {
            record::plan(&mut plan, key.kind, key.name.len());
        }
        // A new entity has inline room for an edge up and an edge down.
        let blocks = |key: Option<Key<'_, 'm>>, directions: &[Direction]| {
            let record = key.and_then(|key| key.record);
            record.map_or(0, |record| list::blocks_needed(record, directions))
        };
        let blocks = if own_parent {
            blocks(keys[0], &[Direction::Up, Direction::Down])
        } else {
            blocks(keys[0], &[Direction::Down]) + blocks(keys[1], &[Direction::Up])
        };
        plan.take(1, blocks + usize::from(stamped));
        match plan.shortage() {
            Some(needed) => Err(self.full(needed)),
            None if !directory => Err(self.full(usize::MAX)),
            None => Ok(()),
        }
    }

    /// Creates the records that are missing and enters them into the filter.
    fn create_missing(self, keys: &mut [Option<Key<'_, 'm>>; 3]) -> Result<(), Error> {
        let missing = keys.iter().flatten().filter(|key| key.record.is_none());
        let count = missing.count();
        if count == 0 {
            return Ok(());
        }
        self.filter().grow(word(count));
        let mut new = [None; 3];
        for (new, key) in new.iter_mut().zip(keys) {
            if let Some(key) = key
                && key.record.is_none()
            {
                key.record = Some(record::create(self.mem(), key.kind, key.hash, key.name));
                *new = key.record;
            }
        }
        for (entered, &record) in new.iter().flatten().enumerate() {
            if !self.filter().add(record, ROW_LINES) {
                // Nine names of one hash, under a secret seed. Still: undo.
                new.iter().flatten().take(entered).for_each(|&record| self.forget(record));
                new.iter().flatten().for_each(|&record| record.free());
                return Err(self.full(usize::MAX));
            }
            self.root().add(counter_of(record), 1);
        }
        Ok(())
    }

    /// Writes the row's two slots, and its version if it has one.
    fn link(self, parent: EntityId, child: EntityId, tree: Option<TreeId>, stamp: Option<Stamp>) {
        let mem = self.mem();
        let down = list::add(mem, parent, Direction::Down, child, tree);
        let up = list::add(mem, child, Direction::Up, parent, tree);
        if let Some(Stamp { xmin, cmin }) = stamp {
            let row = version::Row { parent, child, tree, up, down };
            let version = version::create(mem, xmin, cmin, row).id();
            Slot::set_link(mem, up, Link::Version(version));
            Slot::set_link(mem, down, Link::Version(version));
        } else {
            Slot::set_link(mem, up, Link::Mirror(down));
            Slot::set_link(mem, down, Link::Mirror(up));
        }
        if let Some(tree) = tree {
            let tree = Record::new(mem, tree);
            tree.set_tree_rows(tree.tree_rows() + 1);
        }
        self.root().add(Counter::EdgeRows, 1);
    }

    /// Removes a row, and every entity and tree that has none left.
    pub(crate) fn unlink(self, row: version::Row) {
        let mem = self.mem();
        list::remove(mem, row.child, Direction::Up, row.up);
        list::remove(mem, row.parent, Direction::Down, row.down);
        self.root().subtract(Counter::EdgeRows, 1);
        if let Some(tree) = row.tree {
            let tree = Record::new(mem, tree);
            tree.set_tree_rows(tree.tree_rows() - 1);
            if tree.tree_rows() == 0 {
                self.remove(tree);
            }
        }
        let parent = Record::new(mem, row.parent);
        if parent.is_lone() {
            self.remove(parent);
        }
        if row.child != row.parent {
            let child = Record::new(mem, row.child);
            if child.is_lone() {
                self.remove(child);
            }
        }
    }

    fn remove(self, record: Record<'m>) {
        self.forget(record);
        record.free();
    }

    /// Takes a record out of the filter.
    fn forget(self, record: Record<'m>) {
        self.filter().remove(record);
        self.root().subtract(counter_of(record), 1);
    }
}

fn counter_of(record: Record<'_>) -> Counter {
    match record.shape().kind {
        Kind::Entity => Counter::Entities,
        Kind::Tree => Counter::Trees,
    }
}
