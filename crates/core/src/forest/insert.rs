//! Insert, and the parts that inserting and unlinking share.
//!
//! An edge row is two slots, one in the child's list "up" and one in the parent's list
//! "down". A settled row's slots point at each other; those of a row with a version both
//! point at the version, which points back at them.
//!
//! Insert has two phases. First it looks up everything and plans every allocation without writing, so an `Error::Full`
//! leaves every byte as it was. Then it writes, between the marks of `mutating`. One call inserts one row: rows are a
//! multiset, so inserting searches no list. Writers only.

use crate::filter::counters::Counters;
use crate::filter::table::Filter;
use crate::folded::forms::MOST_FORMS;
use crate::folded::index::Indexed;
use crate::folded::words::MOST_WORDS;
use crate::forest::degrees::Degrees;
use crate::forest::recent::Recent;
use crate::memory::alloc::{self, Plan};
use crate::memory::casts::word;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::hash::{Hash, Kind};
use crate::memory::id::{EntityId, Link, RecordId, SlotRef, TreeId};
use crate::memory::root::{Counter, Field};
use crate::records::list;
use crate::records::record::{self, Direction, Record, Room};
use crate::records::slot::Slot;
use crate::records::version;
use crate::{Edge, Error, Image, Stamp};

/// The most lines for the blocks and the version of one row: a slot may make room for heads, and two new names may
/// share folded names with others.
const ROW_LINES: usize = 5 + LISTS;
/// The most lines for lists of the names that share a form with one of two new names.
const LISTS: usize = 2 * MOST_FORMS;

/// See [`Image::insert_bound`].
pub(crate) fn insert_bound_lines(edge: &Edge<'_>) -> usize {
    let tree = edge.tree.map_or(0, <[u8]>::len);
    let records = record::bound_lines(3, edge.parent.len() + edge.child.len() + tree);
    let words = edge.parent.len().min(MOST_WORDS) + edge.child.len().min(MOST_WORDS);
    records + words + Filter::bound_lines() + ROW_LINES
}

/// A name of an edge: its hash, and its record if there is one. It fits into registers: a larger struct was copied in
/// memory right after it was written, which stalls the processor.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) hash: Hash,
    pub(crate) record: Option<RecordId>,
}

/// The keys of a row: its parent, its child unless that is the parent, and its tree if it has one.
type Keys = [Option<Key>; 3];
const PARENT: usize = 0;
const CHILD: usize = 1;

/// The names of the [`Keys`], with their kinds.
#[inline]
fn named<'e>(edge: &Edge<'e>) -> [(Kind, &'e [u8]); 3] {
    let tree = edge.tree.unwrap_or_default();
    [(Kind::Entity, edge.parent), (Kind::Entity, edge.child), (Kind::Tree, tree)]
}

fn is_missing(key: &Option<Key>) -> bool {
    key.is_some_and(|key| key.record.is_none())
}

/// The room of a new entity, at least for the slots of its first row.
fn room_of(degrees: Option<&Degrees>, hash: Hash, keys: &Keys) -> Room {
    let first_row = if keys[CHILD].is_none() { 2 } else { 1 };
    degrees.map_or(Room::USUAL, |degrees| Room::of(degrees.of(hash).max(first_row)))
}

impl Image<'_> {
    /// An upper bound of the bytes that one insert of `edge` can take: names and their pieces, the filter's growth, a
    /// block for each list, a version. If [`Image::free_bytes`] is at least this, the insert succeeds.
    #[must_use]
    pub fn insert_bound(edge: &Edge<'_>) -> usize {
        insert_bound_lines(edge) * LINE_BYTES
    }

    /// Looks up a name.
    #[inline]
    pub(crate) fn key(self, kind: Kind, name: &[u8]) -> Key {
        let hash = Hash::of(self.root().seed(), kind, name);
        let found = self.names().find(kind, hash, name, &mut Counters::default());
        Key { hash, record: found.map(|spot| spot.record().id()) }
    }

    /// [`Image::key`] for a name that may be that of a known record.
    #[inline]
    pub(crate) fn key_after(self, last: Option<RecordId>, kind: Kind, name: &[u8]) -> Key {
        match last.map(|id| Record::new(self.mem(), id)).filter(|record| record.is(kind, name)) {
            Some(record) => Key { hash: record.hash(), record: Some(record.id()) },
            None => self.key(kind, name),
        }
    }

    /// Writer: adds a row of `edge`; `stamp: None` means that everyone sees it.
    ///
    /// # Errors
    /// [`Error::Full`]; then every byte is as it was.
    pub fn insert(&self, edge: &Edge<'_>, stamp: Option<Stamp>) -> Result<(), Error> {
        self.insert_next(edge, stamp, &mut Recent::default())
    }

    /// Writer: [`Image::insert`] for one of many rows; `recent` saves lookups.
    ///
    /// # Errors
    /// See [`Image::insert`].
    pub fn insert_next(
        &self,
        edge: &Edge<'_>,
        stamp: Option<Stamp>,
        recent: &mut Recent,
    ) -> Result<(), Error> {
        self.insert_known(edge, stamp, recent, None)
    }

    /// Writer: [`Image::insert_next`] for a row that everyone sees and `degrees` counted, so that new entities get the
    /// room they need.
    ///
    /// # Errors
    /// See [`Image::insert`].
    pub fn insert_counted(
        &self,
        edge: &Edge<'_>,
        recent: &mut Recent,
        degrees: &Degrees,
    ) -> Result<(), Error> {
        self.insert_known(edge, None, recent, Some(degrees))
    }

    fn insert_known(
        &self,
        edge: &Edge<'_>,
        stamp: Option<Stamp>,
        recent: &mut Recent,
        degrees: Option<&Degrees>,
    ) -> Result<(), Error> {
        let last = std::mem::take(recent);
        let last = if last.epoch == self.epoch() { last } else { Recent::default() };
        let own_parent = edge.parent == edge.child;
        let parent = self.key_after(last.parent, Kind::Entity, edge.parent);
        let child = if own_parent { None } else { Some(self.key(Kind::Entity, edge.child)) };
        let tree = edge.tree.map(|name| self.key_after(last.tree, Kind::Tree, name));
        let mut keys = [Some(parent), child, tree];
        let mut indexed = [None, None];
        if is_missing(&keys[PARENT]) {
            indexed[PARENT] = Indexed::of(self.root(), edge.parent);
        }
        if is_missing(&keys[CHILD]) {
            indexed[CHILD] = Indexed::of(self.root(), edge.child);
        }
        indexed.iter().flatten().for_each(|indexed| self.prefetch(indexed));
        if alloc::certain_lines(self.root()) < insert_bound_lines(edge) || self.is_nearly_full() {
            self.plan_insert(edge, &keys, &indexed, stamp.is_some(), degrees)?;
        }
        self.mutate(|| {
            self.create_missing(edge, &mut keys, &indexed, degrees)?;
            let [parent, child, tree] = keys.each_ref().map(|key| key.as_ref()?.record);
            let parent = parent.expect("the parent was found or created");
            let child = child.unwrap_or(parent).entity();
            let (up, down) = self.link(parent.entity(), child, tree.map(RecordId::tree), stamp);
            let row = Some((child, up, down));
            *recent = Recent { parent: Some(parent), tree, epoch: self.epoch(), row };
            Ok(())
        })
    }

    /// Phase one: plans all allocations of [`Image::insert`], in its order.
    fn plan_insert(
        self,
        edge: &Edge<'_>,
        keys: &Keys,
        indexed: &[Option<Indexed>; 2],
        stamped: bool,
        degrees: Option<&Degrees>,
    ) -> Result<(), Error> {
        let mut plan = Plan::new(self.root());
        let names = named(edge);
        let missing = || names.iter().zip(keys).filter(|(_, key)| is_missing(key));
        let [folded, forms] = entries_of(indexed);
        let directory = self.names().plan(word(missing().count()), &mut plan)
            && self.folded_names().plan(folded, &mut plan)
            && self.forms().plan(forms, &mut plan);
        for ((kind, name), key) in missing() {
            let room = key.map_or(Room::USUAL, |key| room_of(degrees, key.hash, keys));
            record::plan(&mut plan, *kind, name.len(), room);
        }
        // A new entity has inline room for this row, so only known entities need blocks.
        let blocks = |key: &Option<Key>, directions: &[Direction]| {
            let record = key.as_ref().and_then(|key| key.record);
            record.map_or(0, |id| list::blocks_needed(Record::new(self.mem(), id), directions))
        };
        let blocks = if keys[CHILD].is_none() {
            blocks(&keys[PARENT], &[Direction::Up, Direction::Down])
        } else {
            blocks(&keys[PARENT], &[Direction::Down]) + blocks(&keys[CHILD], &[Direction::Up])
        };
        let names = self.list_lines(indexed) + self.word_lines(indexed);
        plan.take(1, blocks + usize::from(stamped) + names);
        match plan.shortage() {
            Some(needed) => Err(self.full(needed)),
            None if !directory => Err(self.full(usize::MAX)),
            None => Ok(()),
        }
    }

    /// Creates the missing records and enters them into the filter.
    fn create_missing(
        self,
        edge: &Edge<'_>,
        keys: &mut Keys,
        indexed: &[Option<Indexed>; 2],
        degrees: Option<&Degrees>,
    ) -> Result<(), Error> {
        let new = keys.each_ref().map(is_missing);
        let count = new.iter().filter(|new| **new).count();
        if count == 0 {
            return Ok(());
        }
        self.names().grow(word(count));
        let [folded, forms] = entries_of(indexed);
        self.folded_names().grow(folded);
        self.forms().grow(forms);
        let names = named(edge);
        let known = *keys;
        for (key, (kind, name)) in keys.iter_mut().zip(names) {
            if let Some(Key { hash, record: record @ None }) = key {
                let room = room_of(degrees, *hash, &known);
                *record = Some(record::create(self.mem(), kind, *hash, name, room).id());
            }
        }
        let words: usize = indexed.iter().flatten().map(Indexed::word_lines).sum();
        let created = || keys.iter().enumerate().filter(|(i, _)| new[*i]);
        for (i, key) in created() {
            let Some(Key { hash, record: Some(id) }) = *key else { continue };
            let indexed = indexed.get(i).and_then(Option::as_ref);
            if !self.enter(hash, id, indexed, ROW_LINES + words) {
                // Nine names have one hash (under a secret seed), or there is no memory to split: undo.
                let record =
                    |key: &Option<Key>| Some(Record::new(self.mem(), key.as_ref()?.record?));
                let undone = || created().filter_map(|(i, key)| Some((i, record(key)?)));
                undone().filter(|(j, _)| *j < i).for_each(|(_, record)| self.forget(record));
                undone().for_each(|(_, record)| record.free());
                return Err(self.full(usize::MAX));
            }
            self.root().add(counter_of(names[i].0), 1);
        }
        Ok(())
    }

    /// Whether an insert may find the directory of a table full.
    fn is_nearly_full(self) -> bool {
        [self.names(), self.folded_names(), self.forms()].into_iter().any(Filter::is_nearly_full)
    }

    /// Writes the row's two slots, and its version if it has one; returns the slots, up first.
    fn link(
        self,
        parent: EntityId,
        child: EntityId,
        tree: Option<TreeId>,
        stamp: Option<Stamp>,
    ) -> (SlotRef, SlotRef) {
        let mem = self.mem();
        if parent == child {
            list::make_room(mem, parent);
        }
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
        (up, down)
    }

    /// Removes a row, and each of its entities and its tree if that has no rows left.
    pub(crate) fn unlink(self, row: version::Row) {
        let mem = self.mem();
        self.root().set(Field::Moves, self.root().get(Field::Moves).wrapping_add(1));
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

    fn remove(self, record: Record<'_>) {
        self.forget(record);
        record.free();
    }

    /// Removes a record from the filter.
    fn forget(self, record: Record<'_>) {
        self.leave(record);
        self.root().subtract(counter_of(record.kind()), 1);
    }
}

/// The most entries that new names take in the table of folded names, and in that of forms.
fn entries_of(indexed: &[Option<Indexed>; 2]) -> [u32; 2] {
    let each = indexed.iter().flatten().map(Indexed::entries);
    each.fold([0, 0], |[folded, forms], [more, others]| [folded + more, forms + others])
}

fn counter_of(kind: Kind) -> Counter {
    match kind {
        Kind::Entity => Counter::Entities,
        Kind::Tree => Counter::Trees,
    }
}

#[cfg(test)]
#[path = "insert_tests.rs"]
mod tests;
