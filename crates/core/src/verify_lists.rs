//! The part of `verify.rs` that follows lists and links: invariants I4 to I8.
//!
//! First every list is read and its slots are marked as used, up or down; then every used
//! slot's link is followed to a slot that must be marked and link back. Two slots that name
//! each other's owners thereby prove that each is in the other's list.

use crate::hash::Kind;
use crate::id::{EntityId, Link, SLOTS_PER_LINE, SlotRef, VersionId, index};
use crate::record::{Direction, Record};
use crate::slot::Slot;
use crate::verify::{Owner, Verifier};
use crate::version::Version;

impl Verifier<'_, '_> {
    /// Which slots are used: claims the blocks, counts the rows.
    pub(crate) fn lists(&mut self) {
        for i in 0..self.records.len() {
            let record = Record::new(self.mem, self.records[i]);
            if record.shape().kind == Kind::Tree {
                continue;
            }
            let both = record.inline_used(Direction::Up) | record.inline_used(Direction::Down);
            let known = both & record.inline_free() == 0 && both >> record.shape().inline() == 0;
            self.check(5, known, || format!("{:?}: inline bits {both:b}", record.id()));
            self.check(4, !record.is_lone(), || format!("{:?} has no edge row", record.id()));
            for direction in [Direction::Up, Direction::Down] {
                for slot in self.slots(record, direction, true) {
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
        let (mut block, mut used) = record.list(direction);
        self.check(5, (used == 0) == (block == 0) && used <= SLOTS_PER_LINE, || {
            format!("{:?}: {used} slots in head block {block}", record.id())
        });
        // Claimed lines cannot repeat; counted ones could, in an image that is not sound.
        let mut left = self.lines.len();
        while block != 0 && left > 0 {
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
        slot.i() < SLOTS_PER_LINE && bits >> slot.i() & 1 == 1
    }

    pub(crate) fn links(&mut self) {
        for i in 0..self.records.len() {
            let record = Record::new(self.mem, self.records[i]);
            if record.shape().kind == Kind::Tree {
                continue;
            }
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
        for i in 0..self.records.len() {
            let record = Record::new(self.mem, self.records[i]);
            if record.shape().kind == Kind::Tree {
                let (says, has) = (
                    record.tree_rows(),
                    self.tree_rows.get(&record.id().tree()).copied().unwrap_or(0),
                );
                self.check(4, says == has && has > 0, || {
                    format!("{:?} counts {says} edge rows and has {has}", record.id())
                });
            }
        }
    }

    /// One slot: its neighbour, its tree, and where its link leads.
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
            *self.tree_rows.entry(tree).or_default() += 1;
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
        let lines = self.lines.iter().map(|known| known.owner == Owner::Version);
        let versions: Vec<VersionId> = (0..)
            .zip(lines)
            .filter(|&(_, is_version)| is_version)
            .filter_map(|(line, _)| VersionId::from_word(line))
            .collect();
        for id in versions {
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
