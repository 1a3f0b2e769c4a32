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

use crate::alloc::{self, Plan};
use crate::answer::Counters;
use crate::degrees::Degrees;
use crate::filter::Filter;
use crate::forms::Form;
use crate::hash::{Hash, Kind};
use crate::id::{EntityId, Link, RecordId, TreeId, word};
use crate::list;
use crate::record::{self, Direction, Record, Room};
use crate::root::Counter;
use crate::slot::Slot;
use crate::version;
use crate::{Edge, Error, Image, Stamp};

/// Lines of the blocks and the version of one row, at most: a slot may make room for heads.
const ROW_LINES: usize = 5;

/// See [`Image::insert_bound`].
pub(crate) fn insert_bound_lines(edge: &Edge<'_>) -> usize {
    let tree = edge.tree.map_or(0, <[u8]>::len);
    let records = record::bound_lines(3, edge.parent.len() + edge.child.len() + tree);
    records + Filter::bound_lines() + ROW_LINES
}

/// A name of an edge: its hash, and its record if there is one. It fits registers: a larger one
/// was copied in memory as soon as it was written, which keeps a processor waiting.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) hash: Hash,
    pub(crate) record: Option<RecordId>,
}

/// The parent and the tree of the last row, which the next one often has too. Nothing between the
/// two may have changed the image.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    parent: Option<RecordId>,
    tree: Option<RecordId>,
    epoch: u64,
}

/// A row's parent, child if it is another, and tree if it has one.
type Keys = [Option<Key>; 3];
const PARENT: usize = 0;
const CHILD: usize = 1;

/// The names of [`Keys`] with what they name.
#[inline]
fn named<'e>(edge: &Edge<'e>) -> [(Kind, &'e [u8]); 3] {
    let tree = edge.tree.unwrap_or_default();
    [(Kind::Entity, edge.parent), (Kind::Entity, edge.child), (Kind::Tree, tree)]
}

fn is_missing(key: &Option<Key>) -> bool {
    key.is_some_and(|key| key.record.is_none())
}

/// The room of a new entity: for the slots of its first row at least.
fn room_of(degrees: Option<&Degrees>, hash: Hash, keys: &Keys) -> Room {
    let first_row = if keys[CHILD].is_none() { 2 } else { 1 };
    degrees.map_or(Room::USUAL, |degrees| Room::of(degrees.of(hash).max(first_row)))
}

impl Image<'_> {
    /// Looks a name up.
    #[inline]
    pub(crate) fn key(self, kind: Kind, name: &[u8]) -> Key {
        let hash = Hash::of(self.root().seed(), kind, name);
        let found = self.names().find(kind, hash, name, &mut Counters::default());
        Key { hash, record: found.map(|spot| spot.record().id()) }
    }

    /// [`Image::key`] of a name that may be a known record's.
    #[inline]
    fn key_after(self, last: Option<RecordId>, kind: Kind, name: &[u8]) -> Key {
        match last.map(|id| Record::new(self.mem(), id)).filter(|record| record.is(kind, name)) {
            Some(record) => Key { hash: record.hash(), record: Some(record.id()) },
            None => self.key(kind, name),
        }
    }

    /// Writer: one row of `edge` more; `stamp: None` means that everyone sees it.
    ///
    /// # Errors
    /// [`Error::Full`], and every byte is as it was.
    pub fn insert(&self, edge: &Edge<'_>, stamp: Option<Stamp>) -> Result<(), Error> {
        self.insert_next(edge, stamp, &mut Recent::default())
    }

    /// Writer: [`Image::insert`] of one row after the other into this image.
    ///
    /// # Errors
    /// As [`Image::insert`].
    pub fn insert_next(
        &self,
        edge: &Edge<'_>,
        stamp: Option<Stamp>,
        recent: &mut Recent,
    ) -> Result<(), Error> {
        self.insert_known(edge, stamp, recent, None)
    }

    /// Writer: [`Image::insert_next`] of a row that everyone sees, one of those whose entities'
    /// rows were counted, so that the lists of the new ones have the room they need.
    ///
    /// # Errors
    /// As [`Image::insert`].
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
        let seed = self.root().seed();
        let mut forms = [None, None];
        if is_missing(&keys[PARENT]) {
            forms[PARENT] = Form::of(seed, edge.parent);
        }
        if is_missing(&keys[CHILD]) {
            forms[CHILD] = Form::of(seed, edge.child);
        }
        if alloc::certain_lines(self.root()) < insert_bound_lines(edge) || self.is_nearly_full() {
            self.plan_insert(edge, &keys, &forms, stamp.is_some(), degrees)?;
        }
        self.mutate(|| {
            self.create_missing(edge, &mut keys, &forms, degrees)?;
            let [parent, child, tree] = keys.each_ref().map(|key| key.as_ref()?.record);
            let parent = parent.expect("the parent was found or created");
            let child = child.unwrap_or(parent).entity();
            self.link(parent.entity(), child, tree.map(RecordId::tree), stamp);
            *recent = Recent { parent: Some(parent), tree, epoch: self.epoch() };
            Ok(())
        })
    }

    /// Phase one: will all allocations of [`Image::insert`] succeed, in its order?
    fn plan_insert(
        self,
        edge: &Edge<'_>,
        keys: &Keys,
        forms: &[Option<Form>; 2],
        stamped: bool,
        degrees: Option<&Degrees>,
    ) -> Result<(), Error> {
        let mut plan = Plan::new(self.root());
        let names = named(edge);
        let missing = || names.iter().zip(keys).filter(|(_, key)| is_missing(key));
        let directory = self.names().plan(word(missing().count()), &mut plan)
            && self.forms().plan(most_forms(forms), &mut plan);
        for ((kind, name), key) in missing() {
            let room = key.map_or(Room::USUAL, |key| room_of(degrees, key.hash, keys));
            record::plan(&mut plan, *kind, name.len(), room);
        }
        // A new entity has inline room for this row.
        let blocks = |key: &Option<Key>, directions: &[Direction]| {
            let record = key.as_ref().and_then(|key| key.record);
            record.map_or(0, |id| list::blocks_needed(Record::new(self.mem(), id), directions))
        };
        let blocks = if keys[CHILD].is_none() {
            blocks(&keys[PARENT], &[Direction::Up, Direction::Down])
        } else {
            blocks(&keys[PARENT], &[Direction::Down]) + blocks(&keys[CHILD], &[Direction::Up])
        };
        plan.take(1, blocks + usize::from(stamped));
        match plan.shortage() {
            Some(needed) => Err(self.full(needed)),
            None if !directory => Err(self.full(usize::MAX)),
            None => Ok(()),
        }
    }

    /// Creates the records that are missing and enters them into the filter.
    fn create_missing(
        self,
        edge: &Edge<'_>,
        keys: &mut Keys,
        forms: &[Option<Form>; 2],
        degrees: Option<&Degrees>,
    ) -> Result<(), Error> {
        let new = keys.each_ref().map(is_missing);
        let count = new.iter().filter(|new| **new).count();
        if count == 0 {
            return Ok(());
        }
        self.names().grow(word(count));
        self.forms().grow(most_forms(forms));
        let names = named(edge);
        let known = *keys;
        for (key, (kind, name)) in keys.iter_mut().zip(names) {
            if let Some(Key { hash, record: record @ None }) = key {
                let room = room_of(degrees, *hash, &known);
                *record = Some(record::create(self.mem(), kind, *hash, name, room).id());
            }
        }
        let created = || keys.iter().enumerate().filter(|(i, _)| new[*i]);
        for (i, key) in created() {
            let Some(Key { hash, record: Some(id) }) = *key else { continue };
            let form = forms.get(i).and_then(Option::as_ref);
            if !self.enter(hash, id, form, ROW_LINES) {
                // Nine names of one hash, under a secret seed. Still: undo.
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

    /// Whether an insert may find a directory full.
    fn is_nearly_full(self) -> bool {
        self.names().is_nearly_full() || self.forms().is_nearly_full()
    }

    /// Writes the row's two slots, and its version if it has one.
    fn link(self, parent: EntityId, child: EntityId, tree: Option<TreeId>, stamp: Option<Stamp>) {
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

    fn remove(self, record: Record<'_>) {
        self.forget(record);
        record.free();
    }

    /// Takes a record out of the filter.
    fn forget(self, record: Record<'_>) {
        self.leave(record);
        self.root().subtract(counter_of(record.kind()), 1);
    }
}

/// How many entries these forms and their beginnings take, at most: names may share them.
fn most_forms(forms: &[Option<Form>; 2]) -> u32 {
    word(forms.iter().flatten().map(Form::entries).sum())
}

fn counter_of(kind: Kind) -> Counter {
    match kind {
        Kind::Entity => Counter::Entities,
        Kind::Tree => Counter::Trees,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Root;
    use crate::{Deleter, Deletion, Fate, HeapMemory, RowVersion};

    fn heap() -> HeapMemory {
        let mut heap = HeapMemory::new(1 << 18);
        while heap.grow() {}
        Image::format(&heap, 7).unwrap().publish_chunks(heap.mapped());
        heap
    }

    fn image(heap: &HeapMemory) -> Image<'_> {
        Image::open(heap).unwrap()
    }

    fn edge<'a>(tree: Option<&'a [u8]>, parent: &'a [u8], child: &'a [u8]) -> Edge<'a> {
        Edge { tree, parent, child }
    }

    /// Problems other than lines that a test took away.
    fn problems(heap: &HeapMemory) -> Vec<crate::Problem> {
        let mut problems = Vec::new();
        image(heap).verify(&mut |problem| problems.push(problem));
        problems.retain(|problem| problem.invariant != 10);
        problems
    }

    /// A copy of the memory in which only `lines` lines are left.
    fn starved(heap: &HeapMemory, lines: usize) -> HeapMemory {
        let copy = heap.copy();
        while alloc::loose_lines(Root::new(&copy)) > lines {
            alloc::take(&copy, 1).unwrap();
        }
        copy
    }

    /// The insert fails without a trace with any line less than it needs, and works with those.
    fn fails_cleanly_until(heap: &HeapMemory, edge: Edge<'_>, stamp: Option<Stamp>) -> usize {
        fails_cleanly(heap, edge, &|image| image.insert(&edge, stamp))
    }

    fn fails_cleanly(
        heap: &HeapMemory,
        edge: Edge<'_>,
        insert: &dyn Fn(Image<'_>) -> Result<(), Error>,
    ) -> usize {
        let bound = insert_bound_lines(&edge);
        for lines in 0..=bound {
            let copy = starved(heap, lines);
            let before = copy.dump();
            match insert(image(&copy)) {
                Ok(()) => {
                    assert_eq!(problems(&copy), []);
                    assert_eq!(alloc::loose_lines(Root::new(&copy)), 0, "no line too early");
                    return lines;
                }
                Err(error) => {
                    assert!(matches!(error, Error::Full { .. }));
                    assert!(copy.dump() == before, "a failed insert wrote, {lines} lines left");
                }
            }
        }
        panic!("the bound {bound} does not do");
    }

    #[test]
    fn a_failed_insert_leaves_every_byte_as_it_was() {
        let heap = heap();
        let stamp = Some(Stamp { xmin: 10, cmin: 0 });
        // Two entities and a tree of a line each, a version.
        let new = edge(Some(b"t"), b"a parent's name", b"a child's name");
        assert_eq!(fails_cleanly_until(&heap, new, stamp), 1 + 1 + 1 + 1);
        assert_eq!(fails_cleanly_until(&heap, new, None), 1 + 1 + 1);
        // A name in pieces: 33 lines, one full piece of 64, a last one of 17.
        let long = [b'x'; crate::record::INSIDE + 4088 + 1024];
        assert_eq!(fails_cleanly_until(&heap, edge(None, &long, &long), None), 33 + 64 + 17);
        // Both lists full, with two rows inline, and then with one and five in a block: a block
        // each.
        let both = edge(None, b"hub nine!", b"hub nine?");
        let own = edge(None, b"hub nine!", b"hub nine!");
        for rows in [2, 4] {
            for _ in 0..rows {
                image(&heap).insert(&both, None).unwrap();
            }
            assert_eq!(fails_cleanly_until(&heap, both, None), 2);
            assert_eq!(fails_cleanly_until(&heap, own, stamp), 3);
        }
        // Rows of both directions: the slot that makes room for heads has a block of its own.
        for (from, to) in [(2, 0), (1, 1), (0, 2)] {
            let name = [b"hub and ", &[b'0' + from][..]].concat();
            for i in 0..from + to {
                let other = [b"other ", &name[..], &[b'0' + i]].concat();
                let (parent, child) = if i < from { (&name, &other) } else { (&other, &name) };
                image(&heap).insert(&edge(None, parent, child), stamp).unwrap();
            }
            let another = fails_cleanly_until(&heap, edge(None, &name, b"another child"), None);
            assert_eq!(another, if to == 0 { 1 + 1 } else { 1 + 2 });
            let own = fails_cleanly_until(&heap, edge(None, &name, &name), None);
            assert_eq!(own, 2);
        }
        // A row of its own where one of three slots is free: the first, and the second.
        for (parent, child) in [(b"one", b"two"), (b"one", b"two"), (b"six", b"two")] {
            image(&heap).insert(&edge(None, parent, child), None).unwrap();
        }
        image(&heap).insert(&edge(None, b"two", b"six"), None).unwrap();
        for name in [b"one", b"six"] {
            assert_eq!(fails_cleanly_until(&heap, edge(None, name, name), stamp), 2 + 1);
        }
    }

    #[test]
    fn counted_entities_have_the_room_they_need_and_no_more() {
        let mut heap = heap();
        let name = |i: u32| format!("a name of 24 bytes: {i:04}").into_bytes();
        // Entity i has i rows: i children, which have one row, or i times itself.
        let rows = |own: bool| {
            let all = (1..20).flat_map(move |i| (0..i).map(move |j| (i, j)));
            all.map(move |(i, j)| (name(i), if own { name(i) } else { name(100 + 20 * i + j) }))
        };
        for (own, lines) in
            [(false, [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]), (true, [2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4])]
        {
            Image::format(&heap, 7).unwrap().publish_chunks(heap.mapped());
            let mut degrees = Degrees::new(image(&heap), 1 << 16).unwrap();
            rows(own).for_each(|(p, c)| degrees.count(&edge(None, &p, &c)));
            let mut recent = Recent::default();
            for (parent, child) in rows(own) {
                let row = edge(None, &parent, &child);
                image(&heap).insert_counted(&row, &mut recent, &degrees).unwrap();
            }
            assert_eq!(problems(&heap), []);
            for (i, &lines) in (1..).zip(&lines) {
                let record = image(&heap).key(Kind::Entity, &name(i)).record.unwrap();
                let record = Record::new(&heap, record);
                assert_eq!(record.shape().lines, lines, "{i} rows");
            }
        }
        let own = edge(None, b"itself, and by 23 bytes", b"itself, and by 23 bytes");
        // Not counted, and yet room for both of its slots.
        heap = self::heap();
        let degrees = Degrees::new(image(&heap), 8).unwrap();
        let insert =
            |image: Image<'_>| image.insert_counted(&own, &mut Recent::default(), &degrees);
        assert_eq!(fails_cleanly(&heap, own, &insert), 2);
        for _ in 0..5 {
            insert(image(&heap)).unwrap();
        }
        assert_eq!(problems(&heap), []);
    }

    #[test]
    fn a_filter_that_must_grow_is_part_of_the_plan() {
        let mut heap = HeapMemory::new(1 << 19);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        let name = |i: u32| i.to_be_bytes();
        let (mut i, mut grew) = (0, 0);
        while grew < 2 {
            let (parent, child) = (name(i), name(i + 1));
            let edge = edge(None, &parent, &child);
            // The next page is due at 410, 819, ... entities: look closely there only.
            let due = (image.stats().entities + 3) % 410 < 6;
            if due && fails_cleanly_until(&heap, edge, None) > 45 {
                grew += 1;
            }
            image.insert(&edge, None).unwrap();
            i += 2;
        }
        assert_eq!(problems(&heap), []);
    }

    #[test]
    fn a_delete_without_room_for_the_version_leaves_every_byte_as_it_was() {
        let heap = heap();
        let edge = edge(None, b"p", b"c");
        image(&heap).insert(&edge, None).unwrap();
        let delete = |heap: &HeapMemory| {
            let row = RowVersion { xmin: 0, raw_xmin: 2, cmin: None };
            let by = Deleter { xmax: 10, cmax: 0 };
            image(heap).delete(&edge, row, by, &|_| Fate::Running, &mut Vec::new())
        };
        let full = starved(&heap, 0);
        let before = full.dump();
        assert!(matches!(delete(&full), Err(Error::Full { .. })));
        assert!(full.dump() == before);
        assert_eq!(delete(&starved(&heap, 1)), Ok(Deletion::Done));
    }

    #[test]
    fn the_last_row_takes_entity_and_tree_with_it_and_their_memory_is_used_again() {
        let heap = heap();
        let image = image(&heap);
        let empty = alloc::loose_lines(image.root());
        for round in 1..50_u64 {
            let stamp = Some(Stamp { xmin: round, cmin: 0 });
            for edge in [
                edge(Some(b"tree"), b"parent", b"child"),
                edge(Some(b"tree"), b"parent", b"child"),
                edge(None, b"own", b"own"),
                edge(Some(b"other tree"), b"child", b"parent"),
            ] {
                image.insert(&edge, stamp).unwrap();
            }
            assert_eq!((image.stats().entities, image.stats().trees), (3, 2));
            image.settle(3, round + 1, &|_| Fate::Aborted, &mut Vec::new());
            assert_eq!((image.stats().entities, image.stats().trees), (2, 1));
            image.settle(9, round + 1, &|_| Fate::Aborted, &mut Vec::new());
            assert_eq!(image.stats().slots_used, 0);
            assert_eq!(alloc::loose_lines(image.root()), empty);
            assert_eq!(problems(&heap), []);
        }
    }

    #[test]
    fn what_the_last_row_had_is_not_taken_for_the_next_ones_once_it_is_gone() {
        let heap = heap();
        let image = image(&heap);
        let stamp = Some(Stamp { xmin: 1, cmin: 0 });
        let mut recent = Recent::default();
        // What is freed says how many lines it has where the length of a name stood: 1.
        let row = edge(Some(b"t"), b"p", b"c");
        image.insert_next(&row, stamp, &mut recent).unwrap();
        let known = recent;
        // The parent of the next row is the last one's; so is its tree; and neither is.
        image.insert_next(&row, stamp, &mut recent).unwrap();
        image.insert_next(&edge(Some(b"t"), b"o", b"c"), stamp, &mut recent).unwrap();
        image.insert_next(&edge(None, b"o", b"o"), stamp, &mut recent).unwrap();
        assert_eq!((image.stats().entities, image.stats().trees), (3, 1));
        assert_eq!(problems(&heap), []);
        image.settle(9, 2, &|_| Fate::Aborted, &mut Vec::new());
        assert_eq!(image.stats().entities, 0);
        for mut recent in [recent, known] {
            image.insert_next(&row, stamp, &mut recent).unwrap();
        }
        assert_eq!((image.stats().entities, image.stats().trees), (2, 1));
        assert_eq!(problems(&heap), []);
    }

    #[test]
    fn a_name_may_be_an_entity_and_a_tree() {
        let heap = heap();
        let image = image(&heap);
        image.insert(&edge(Some(b"x"), b"x", b"x"), None).unwrap();
        assert_eq!((image.stats().entities, image.stats().trees), (1, 1));
        let record = |kind| image.key(kind, b"x").record.unwrap();
        assert_ne!(record(Kind::Entity), record(Kind::Tree));
    }
}
