//! The part of `verify/whole.rs` that follows lists and links: invariants I4 to I8.
//!
//! First every list is read and its slots are marked as used, up or down. Then the link of every used slot is followed
//! to a slot that must be marked and link back. If two slots name each other's owners, each of them is proved to be in
//! the other's list.

use crate::memory::casts::{index, wide, word};
use crate::memory::id::{EntityId, Link, SLOTS_PER_LINE, SlotRef, TreeId, VersionId};
use crate::records::record::{Direction, List, Record};
use crate::records::slot::Slot;
use crate::records::version::Version;
use crate::verify::verifier::{Owner, Verifier};

impl Verifier<'_, '_> {
    /// Claims the blocks of all lists, and marks the slots they use.
    pub(crate) fn lists(&mut self) {
        for line in 0..self.lines.len() {
            let Some(record) = self.record_at(line).filter(|record| !record.is_tree()) else {
                continue;
            };
            let both = record.inline_used(Direction::Up) | record.inline_used(Direction::Down);
            let known = both & record.inline_free() == 0 && both >> record.shape().inline() == 0;
            self.check(5, known, || format!("{:?}: inline bits {both:b}", record.id()));
            let heads =
                [Direction::Up, Direction::Down].iter().any(|&of| record.list(of).block != 0);
            self.check(5, record.has_heads() == heads, || format!("{:?}: heads", record.id()));
            self.check(4, !record.is_lone(), || format!("{:?} has no edge row", record.id()));
            for direction in [Direction::Up, Direction::Down] {
                for slot in self.slots(record, direction, true) {
                    self.step();
                    let known = &mut self.lines[index(slot.line())];
                    match direction {
                        Direction::Up => known.up |= 1 << slot.i(),
                        Direction::Down => known.down |= 1 << slot.i(),
                    }
                }
            }
        }
    }

    /// The slots of a list, as far as its blocks can be followed.
    fn slots(&mut self, record: Record<'_>, direction: Direction, claim: bool) -> Vec<SlotRef> {
        let (shape, line) = (record.shape(), record.id().line());
        let mut slots: Vec<SlotRef> = (0..shape.inline())
            .filter(|i| record.inline_used(direction) >> i & 1 == 1)
            .map(|i| shape.base + i)
            .map(|n| SlotRef::new(line + n / SLOTS_PER_LINE, n % SLOTS_PER_LINE))
            .collect();
        let List { mut block, mut used, .. } = record.list(direction);
        self.check(5, (used == 0) == (block == 0) && used <= SLOTS_PER_LINE, || {
            format!("{:?}: {used} slots in head block {block}", record.id())
        });
        // Claimed lines cannot repeat; in the second reading of a damaged image lines could.
        let mut left = self.lines.len();
        while block != 0 && left > 0 {
            self.step();
            let sound = match claim {
                true => self.claim(block, 1, Owner::Block),
                false => self.owner(block) == Owner::Block,
            };
            if !sound {
                break;
            }
            slots.extend((0..used.min(SLOTS_PER_LINE)).map(|i| SlotRef::new(block, i)));
            (block, used) = (self.mem.line(block).u32(0), SLOTS_PER_LINE);
            left -= 1;
        }
        slots
    }

    /// Whether a slot is used in that direction.
    fn is_used(&self, slot: SlotRef, direction: Direction) -> bool {
        let Some(known) = self.lines.get(index(slot.line())) else {
            return false;
        };
        let bits = match direction {
            Direction::Up => known.up,
            Direction::Down => known.down,
        };
        known.owner != Owner::Words && slot.i() < SLOTS_PER_LINE && bits >> slot.i() & 1 == 1
    }

    pub(crate) fn links(&mut self) {
        for line in 0..self.lines.len() {
            let Some(record) = self.record_at(line).filter(|record| !record.is_tree()) else {
                continue;
            };
            for direction in [Direction::Up, Direction::Down] {
                for slot in self.slots(record, direction, false) {
                    match direction {
                        Direction::Up => self.rows.0 += 1,
                        Direction::Down => self.rows.1 += 1,
                    }
                    self.slot(record.id().entity(), direction, slot);
                }
            }
        }
        self.versions();
        self.tree_rows();
    }

    /// Checks what trees say of their edge rows.
    fn tree_rows(&mut self) {
        self.end_tree_run();
        let mut next = self.sorters[0].next();
        for line in 0..self.lines.len() {
            let Some(record) = self.record_at(line).filter(|record| record.is_tree()) else {
                continue;
            };
            let (says, mut has) = (record.tree_rows(), 0);
            while let Some((tree, rows)) = next.filter(|(tree, _)| *tree <= wide(line)) {
                has += if tree == wide(line) { rows } else { 0 };
                next = self.sorters[0].next();
            }
            self.check(4, u64::from(says) == has && has > 0, || {
                format!("{:?} counts {says} edge rows and has {has}", record.id())
            });
        }
        while next.is_some() {
            next = self.sorters[0].next();
        }
    }

    /// Notes an edge row of a tree.
    fn tree_row(&mut self, tree: TreeId) {
        match &mut self.tree_run {
            Some((of, rows)) if *of == tree => *rows += 1,
            _ => {
                self.end_tree_run();
                self.tree_run = Some((tree, 1));
            }
        }
    }

    fn end_tree_run(&mut self) {
        if let Some((tree, rows)) = self.tree_run.take() {
            self.sorters[0].add((u64::from(tree.line()), u64::from(rows)));
        }
    }

    /// Checks one slot: its neighbour, its tree, and where its link leads.
    fn slot(&mut self, owner: EntityId, direction: Direction, at: SlotRef) {
        let slot = Slot::peek(self.mem, at).filter(|slot| {
            self.owner(slot.neighbour.line()) == Owner::Entity
                && slot.tree.is_none_or(|tree| self.owner(tree.line()) == Owner::Tree)
        });
        let Some(slot) = slot else {
            self.check(6, false, || format!("{owner:?} {at:?}: neighbour or tree is none"));
            return;
        };
        if direction == Direction::Down
            && let Some(tree) = slot.tree
        {
            self.tree_row(tree);
        }
        match slot.link {
            Link::Mirror(mirror) => {
                let other = match direction {
                    Direction::Up => Direction::Down,
                    Direction::Down => Direction::Up,
                };
                let back = Slot { neighbour: owner, tree: slot.tree, link: Link::Mirror(at) };
                let holds =
                    self.is_used(mirror, other) && Slot::peek(self.mem, mirror) == Some(back);
                self.check(6, holds, || {
                    format!("{owner:?} {direction:?} {at:?}: {mirror:?} does not mirror {slot:?}")
                });
            }
            Link::Version(id) => {
                let holds = self.owner(id.line()) == Owner::Version
                    && Version::new(self.mem, id).try_row().is_some_and(|row| {
                        row.tree == slot.tree
                            && match direction {
                                Direction::Up => {
                                    (row.child, row.parent, row.up) == (owner, slot.neighbour, at)
                                }
                                Direction::Down => {
                                    (row.parent, row.child, row.down) == (owner, slot.neighbour, at)
                                }
                            }
                    });
                self.check(7, holds, || format!("{owner:?} {direction:?} {at:?}: {id:?} differs"));
            }
        }
    }

    fn versions(&mut self) {
        for line in 0..self.lines.len() {
            self.step_line(line);
            let is_version = self.lines[line].owner == Owner::Version;
            let Some(id) = VersionId::from_word(word(line)).filter(|_| is_version) else {
                continue;
            };
            let row = Version::new(self.mem, id).try_row();
            let holds = row.is_some_and(|row| {
                let links_back = |slot| {
                    Slot::peek(self.mem, slot).is_some_and(|slot| slot.link == Link::Version(id))
                };
                self.is_used(row.up, Direction::Up)
                    && self.is_used(row.down, Direction::Down)
                    && links_back(row.up)
                    && links_back(row.down)
            });
            self.check(8, holds, || format!("{id:?}: its slots do not link to it: {row:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::bucket::{BucketSlot, Entry};
    use crate::memory::chunk::is_gap;
    use crate::memory::flat::Memory;
    use crate::memory::hash::{Hash, Kind};
    use crate::memory::root::{Counter, Field, Root};
    use crate::{Edge, HeapMemory, Image, Stamp};

    /// An image with settled and unsettled rows, trees, a hub with blocks, a self-edge, a long name, freed memory.
    fn sound() -> HeapMemory {
        let mut heap = HeapMemory::new(1 << 20);
        while heap.grow() {}
        let image = Image::format(&heap, 3).unwrap();
        image.publish_chunks(heap.mapped());
        let long = [b'l'; 5000];
        for i in 0..40_u8 {
            let child = [i; 12];
            let stamp = i.is_multiple_of(3).then_some(Stamp { xmin: u64::from(i) + 10, cmin: 0 });
            let tree = (i % 2 == 0).then_some(&b"tree"[..]);
            image.insert(&Edge { tree, parent: b"the hub", child: &child }, stamp).unwrap();
        }
        image.insert(&Edge { tree: None, parent: &long, child: &long }, None).unwrap();
        image.settle(5, 20, &|_| crate::Fate::Aborted, &mut Vec::new());
        heap
    }

    /// The invariants that verify() finds broken after `harm`.
    fn broken(harm: impl FnOnce(&Memory, Root<'_>)) -> Vec<u32> {
        let heap = sound();
        harm(&heap, Root::new(&heap));
        let mut broken = Vec::new();
        Image::open(&heap).unwrap().verify(&mut |problem| broken.push(problem.invariant));
        broken.sort_unstable();
        broken.dedup();
        broken
    }

    /// The record of the hub, and a slot in one of its blocks.
    fn hub(mem: &Memory) -> (Record<'_>, SlotRef) {
        let image = Image::open(mem).unwrap();
        let record = Record::new(mem, image.key(Kind::Entity, b"the hub").record.unwrap());
        (record, SlotRef::new(record.list(Direction::Down).block, 0))
    }

    fn tree(mem: &Memory) -> Record<'_> {
        Record::new(mem, Image::open(mem).unwrap().key(Kind::Tree, b"tree").record.unwrap())
    }

    #[test]
    fn a_sound_image_has_no_problem() {
        assert_eq!(broken(|_, _| {}), []);
    }

    #[test]
    fn each_invariant_is_checked() {
        assert_eq!(broken(|_, root| root.set(Field::Chunks, 99)), [1]);
        assert_eq!(broken(|_, root| root.set(Field::Chunks, 0)), [1]);
        assert_eq!(broken(|_, root| root.set(Field::Bump, 1 << 30)), [1]);
        assert_eq!(broken(|_, root| root.set(Field::Split, 500)), [1]);
        assert_eq!(broken(|_, root| root.set(Field::Level, 99)), [1]);
        assert!(broken(move_an_entry).contains(&2));
        let flip_name = |mem: &Memory, _: Root<'_>| hub(mem).0.span().copy_in(16, b"T");
        assert_eq!(broken(flip_name), [3]);
        let lengthen = |mem: &Memory, _: Root<'_>| mem.line(hub(mem).0.id().line()).set_u32(8, 8);
        // Then its name ends with a NUL, as that of a label does, so its words are in the wrong vocabulary.
        assert_eq!(broken(lengthen), [3, 14]);
        let orphan = |mem: &Memory, _: Root<'_>| mem.line(hub(mem).0.id().line()).set_u32(12, 0);
        assert!(broken(orphan).contains(&6));
        let recount =
            |mem: &Memory, _: Root<'_>| tree(mem).set_tree_rows(tree(mem).tree_rows() + 1);
        assert_eq!(broken(recount), [4]);
        let overfull = |mem: &Memory, _: Root<'_>| {
            let (record, _) = hub(mem);
            // The heads of "the hub" are in slot 2 of its line.
            mem.line(record.id().line()).set_u32(32, record.list(Direction::Down).block | 6 << 28);
        };
        assert!(broken(overfull).contains(&5));
        let behead = |mem: &Memory, _: Root<'_>| mem.line(hub(mem).0.id().line()).set_u64(32, 0);
        assert!(broken(behead).contains(&5));
        let relink = |mem: &Memory, _: Root<'_>| {
            Slot::set_link(mem, settled_slot(mem), Link::Mirror(SlotRef::new(600, 0)));
        };
        assert_eq!(broken(relink), [6]);
        let version_of = |root: Root<'_>| root.version(Field::Oldest).unwrap().line();
        let rename = |mem: &Memory, root: Root<'_>| mem.line(version_of(root)).set_u32(40, 600);
        assert!(broken(rename).contains(&7));
        let unqueue = |mem: &Memory, root: Root<'_>| mem.line(version_of(root)).set_u32(48, 0);
        assert!(broken(unqueue).contains(&8));
        let unslot = |mem: &Memory, root: Root<'_>| mem.line(version_of(root)).set_u32(28, 8);
        assert_eq!(broken(unslot), [7, 8]);
        for counter in [Counter::Entities, Counter::Trees, Counter::EdgeRows, Counter::Versions] {
            assert_eq!(broken(|_, root| root.add(counter, 1)), [9], "{counter:?}");
        }
        assert_eq!(broken(|_, root| root.add(Counter::FreeLines, 1)), [9]);
        let leak =
            |mem: &Memory, _: Root<'_>| assert!(crate::memory::alloc::take(mem, 2).is_some());
        assert_eq!(broken(leak), [10]);
        let free_twice = |mem: &Memory, _: Root<'_>| {
            crate::memory::alloc::give(mem, hub(mem).0.list(Direction::Down).block, 1);
        };
        assert!(broken(free_twice).contains(&10));
        assert_eq!(broken(|_, root| root.set_mutating(true)), [11]);
    }

    /// A slot of the hub that has no version.
    fn settled_slot(mem: &Memory) -> SlotRef {
        let mut cursor = crate::records::list::Cursor::start(hub(mem).0, Direction::Down);
        std::iter::from_fn(|| cursor.next(mem))
            .find(|&at| matches!(Slot::read(mem, at).link, Link::Mirror(_)))
            .unwrap()
    }

    fn move_an_entry(mem: &Memory, _root: Root<'_>) {
        let filter = Image::open(mem).unwrap().names();
        let place = filter.place_of(hub(mem).0).unwrap();
        let entry = filter.get(place);
        filter.set(place, Entry::NONE);
        let (a, b) = filter.geometry().buckets_of(Hash(hub_hash(mem)));
        let bucket = (0..).find(|&bucket| {
            bucket != a && bucket != b && filter.read(bucket)[3].record().is_none()
        });
        filter.set(BucketSlot { bucket: bucket.unwrap(), slot: 3 }, entry);
    }

    fn hub_hash(mem: &Memory) -> u64 {
        Hash::of(Root::new(mem).seed(), Kind::Entity, b"the hub").0
    }

    #[test]
    fn any_flipped_bit_is_survived() {
        let heap = sound();
        let lines = Root::new(&heap).get(Field::Bump);
        let step = if std::env::var_os("CFTRAG_QUICK").is_some() { 97 } else { 3 };
        let (mut flips, mut found) = (0, 0);
        for word in (4..lines * 16).step_by(step).filter(|word| !is_gap(word / 16)) {
            let (line, at) = (heap.line(word / 16), index(word % 16) * 4);
            let before = line.u32(at);
            line.set_u32(at, before ^ 1 << (word * 7 % 32));
            let mut problems = 0;
            Image::open(&heap).unwrap().verify(&mut |_| problems += 1);
            line.set_u32(at, before);
            flips += 1;
            found += u32::from(problems > 0);
        }
        // Flips go unnoticed in the empty parts of filter pages.
        assert!(found * 8 > flips, "{found} of {flips} flips were noticed");
        Image::open(&heap).unwrap().verify(&mut |problem| panic!("{problem:?}"));
    }
}
