//! The invariants of an image, numbered, and a check of each.
//!
//! ```text
//!  I1   the root is sane: chunks are mapped, the bump is in them, the buckets have pages
//!  I2   an entry of the filter stands in a bucket of its record, under its fingerprint
//!  I3   a record has the shape and the hash of its name, and the filter finds it by its name
//!  I4   no orphan: each entity has an edge row, each tree counts its edge rows, one at least
//!  I5   in a list, inline bits are slots, the head block has 1 to 5 slots, no block is shared
//!  I6   a settled slot's mirror is a used slot of the neighbour's other list, and links back
//!  I7   a slot's version names that slot, that tree and both entities
//!  I8   the queue holds every version once, linked both ways, and its slots link to it
//!  I9   the counters are right: entities, trees, edge rows (as often up as down), versions
//!  I10  each line up to the bump has one owner: root, page, record, piece, block, version,
//!       or a free list, whose pieces are marked and counted
//!  I11  no writer is at work
//! ```
//!
//! Nothing here trusts what it checks: a wild handle is reported, not followed. Costs three
//! bytes a line and reads the whole image; for `cft_verify`, tests and fuzzing. Reader.

use std::collections::HashMap;

use crate::alloc::FREE_MARK;
use crate::filter::{FIRST_LEVEL, Filter};
use crate::hash::{Hash, Kind};
use crate::id::{
    EntityId, LINE_LIMIT, Link, RecordId, SLOTS_PER_LINE, SlotRef, TreeId, VersionId, index, wide,
};
use crate::memory::{Memory, first_line, lines_of, locate};
use crate::record::{Direction, Record, Shape, pieces};
use crate::root::{Counter, DIRECTORIES, FIRST_LINE, Field, MAX_LINES, Root};
use crate::slot::Slot;
use crate::version::Version;
use crate::{Image, Problem};

/// Problems after which the check ends: more of them say nothing new.
const MOST_PROBLEMS: usize = 1000;

/// What a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Nobody,
    Page,
    Entity,
    Tree,
    /// A line of a record that is not its first, or a piece of its name.
    Rest,
    Block,
    Version,
    Free,
}

/// What is known of a line: its owner, and which of its slots are used, up and down.
#[derive(Clone, Copy)]
struct Known {
    owner: Owner,
    up: u8,
    down: u8,
}

impl Image<'_> {
    /// Reader: reports every broken invariant; silence means that the image is sound.
    pub fn verify(&self, report: &mut dyn FnMut(Problem)) {
        let mut verifier = Verifier {
            mem: self.mem(),
            root: self.root(),
            filter: self.filter(),
            lines: Vec::new(),
            records: Vec::new(),
            tree_rows: HashMap::new(),
            rows: (0, 0),
            problems: 0,
            report,
        };
        if verifier.root() && verifier.pages() {
            verifier.entries();
            verifier.queue();
            verifier.lists();
            verifier.links();
            verifier.counters();
            verifier.free_lists();
        }
    }
}

struct Verifier<'m, 'r> {
    mem: &'m Memory,
    root: Root<'m>,
    filter: Filter<'m>,
    /// Of each line up to the bump.
    lines: Vec<Known>,
    /// The sound records.
    records: Vec<RecordId>,
    tree_rows: HashMap<TreeId, u32>,
    /// Slots up and down.
    rows: (u64, u64),
    problems: usize,
    report: &'r mut dyn FnMut(Problem),
}

impl Verifier<'_, '_> {
    fn check(&mut self, invariant: u32, holds: bool, text: impl FnOnce() -> String) -> bool {
        if !holds && self.problems < MOST_PROBLEMS {
            self.problems += 1;
            (self.report)(Problem {
                invariant,
                text: text(),
            });
        }
        holds
    }

    fn root(&mut self) -> bool {
        self.check(11, !self.root.mutating(), || {
            "a writer began and did not end".into()
        });
        let (chunks, bump) = (
            index(self.root.get(Field::Chunks)),
            self.root.get(Field::Bump),
        );
        let mapped = self.mem.mapped();
        if !self.check(1, 1 <= chunks && chunks <= mapped, || {
            format!("{chunks} chunks are published, {mapped} mapped")
        }) {
            return false;
        }
        let end = first_line(chunks);
        if !self.check(1, (FIRST_LINE..=end).contains(&bump), || {
            format!("bump at line {bump}, lines end at {end}")
        }) {
            return false;
        }
        self.lines = vec![
            Known {
                owner: Owner::Nobody,
                up: 0,
                down: 0
            };
            index(bump)
        ];
        let (level, split) = (self.root.get(Field::Level), self.root.get(Field::Split));
        let pages = self.root.get(Field::Pages);
        let sane = (FIRST_LEVEL..31).contains(&level)
            && split < 1 << level
            && pages == self.filter.geometry().buckets().div_ceil(1 << FIRST_LEVEL)
            && pages.div_ceil(1024) <= DIRECTORIES;
        self.check(1, sane, || {
            format!("level {level}, split {split}, {pages} pages")
        })
    }

    /// Whether so many lines from `line` on could be an allocation.
    fn is_allocation(&self, line: u32, lines: u32) -> bool {
        if line < FIRST_LINE || line >= LINE_LIMIT || index(line) >= self.lines.len() {
            return false;
        }
        let (chunk, offset) = locate(line);
        let fits = index(line) + index(lines) <= self.lines.len();
        lines > 0 && fits && lines <= lines_of(chunk) - offset
    }

    /// Takes lines for an owner; reports it if they cannot be or are somebody's.
    fn claim(&mut self, line: u32, lines: u32, owner: Owner) -> bool {
        let sound = self.is_allocation(line, lines);
        if !self.check(10, sound, || {
            format!("{owner:?} of {lines} lines at {line}")
        }) {
            return false;
        }
        let range = index(line)..index(line + lines);
        let taken = self.lines[range.clone()]
            .iter()
            .position(|known| known.owner != Owner::Nobody);
        if let Some(at) = taken {
            let other = self.lines[index(line) + at].owner;
            self.check(10, false, || {
                format!("line {line} + {at} is {owner:?} and {other:?}")
            });
            return false;
        }
        self.lines[range]
            .iter_mut()
            .for_each(|known| known.owner = Owner::Rest);
        self.lines[index(line)].owner = owner;
        true
    }

    fn owner(&self, line: u32) -> Owner {
        self.lines
            .get(index(line))
            .map_or(Owner::Nobody, |known| known.owner)
    }

    /// The filter's pages and directory pages. False: buckets cannot be read.
    fn pages(&mut self) -> bool {
        let pages = self.root.get(Field::Pages);
        for page in 0..pages {
            let directory = self.root.directory(page / 1024);
            if page % 1024 == 0 && !self.claim(directory, MAX_LINES, Owner::Page) {
                return false;
            }
            let at = page % 1024;
            let line = self.mem.line(directory + at / 16).u32(index(at % 16) * 4);
            if !self.claim(line, MAX_LINES, Owner::Page) {
                return false;
            }
        }
        true
    }

    fn entries(&mut self) {
        let geometry = self.filter.geometry();
        for bucket in 0..geometry.buckets() {
            for entry in self.filter.read(bucket) {
                let Some(id) = entry.record() else { continue };
                if !self.record(id) {
                    continue;
                }
                let hash = Record::new(self.mem, id).hash();
                let (first, second) = geometry.buckets_of(hash);
                let placed = [first, second].contains(&bucket);
                self.check(
                    2,
                    placed && entry.fingerprint() == hash.fingerprint(),
                    || format!("{id:?} in bucket {bucket}, its buckets are {first} and {second}"),
                );
                self.records.push(id);
            }
        }
        for i in 0..self.records.len() {
            let record = Record::new(self.mem, self.records[i]);
            let (kind, name) = (record.shape().kind, record.name());
            let hash = Hash::of(self.root.seed(), kind, &name);
            self.check(3, hash == record.hash(), || {
                format!("{:?}: wrong hash", record.id())
            });
            let found = self.filter.find(kind, hash, &name, &mut Default::default());
            let found = found.map(|(found, _)| found.id());
            self.check(3, found == Some(record.id()), || {
                format!("{:?}: its name finds {found:?}", record.id())
            });
        }
    }

    /// The lines of a record and its name. False: it must not be read on.
    fn record(&mut self, id: RecordId) -> bool {
        let sound = self.is_allocation(id.line(), 1);
        if !self.check(10, sound, || format!("record at line {}", id.line())) {
            return false;
        }
        let record = Record::new(self.mem, id);
        let (shape, len) = (record.shape(), record.name_len());
        let (full, last) = pieces(len);
        let possible = full * index(MAX_LINES) <= self.lines.len();
        if !self.check(3, possible && shape == Shape::of(shape.kind, len), || {
            format!("{id:?}: {shape:?} for a name of {len} bytes")
        }) {
            return false;
        }
        let owner = match shape.kind {
            Kind::Entity => Owner::Entity,
            Kind::Tree => Owner::Tree,
        };
        let mut sound = self.claim(id.line(), shape.lines, owner);
        let mut sizes = std::iter::repeat_n(MAX_LINES, full).chain(last);
        let mut piece = if len > crate::record::INSIDE && sound {
            record.first_piece()
        } else {
            0
        };
        while let Some(lines) = sizes.next().filter(|_| sound) {
            sound = self.claim(piece, lines, Owner::Rest);
            if sound {
                piece = self.mem.line(piece).u32(0);
            }
        }
        sound
    }

    fn queue(&mut self) {
        let (mut prev, mut next) = (None, self.root.version(Field::Oldest));
        let mut count = 0;
        while let Some(id) = next {
            if !self.claim(id.line(), 1, Owner::Version) {
                return;
            }
            let version = Version::new(self.mem, id);
            let back = version.prev();
            self.check(8, back == prev, || {
                format!("{id:?} follows {prev:?} and says {back:?}")
            });
            (prev, next) = (Some(id), version.next());
            count += 1;
        }
        let newest = self.root.version(Field::Newest);
        self.check(8, newest == prev, || {
            format!("{prev:?} is last, the root says {newest:?}")
        });
        self.counter(Counter::Versions, count);
    }

    /// Which slots are used: claims the blocks, counts the rows.
    fn lists(&mut self) {
        for i in 0..self.records.len() {
            let record = Record::new(self.mem, self.records[i]);
            if record.shape().kind == Kind::Tree {
                continue;
            }
            let both = record.inline_used(Direction::Up) | record.inline_used(Direction::Down);
            let known = both & record.inline_free() == 0 && both >> record.shape().inline() == 0;
            self.check(5, known, || {
                format!("{:?}: inline bits {both:b}", record.id())
            });
            self.check(4, !record.is_lone(), || {
                format!("{:?} has no edge row", record.id())
            });
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
        self.check(
            5,
            (used == 0) == (block == 0) && used <= SLOTS_PER_LINE,
            || format!("{:?}: {used} slots in head block {block}", record.id()),
        );
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

    fn links(&mut self) {
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
                    self.tree_rows
                        .get(&record.id().tree())
                        .copied()
                        .unwrap_or(0),
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
                && slot
                    .tree
                    .is_none_or(|tree| self.owner(tree.line()) == Owner::Tree)
        });
        let Some(slot) = slot else {
            self.check(6, false, || {
                format!("{owner:?} {at:?}: neighbour or tree is none")
            });
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
                let back = Slot {
                    neighbour: owner,
                    tree: slot.tree,
                    link: Link::Mirror(at),
                };
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
                self.check(7, holds, || {
                    format!("{owner:?} {direction:?} {at:?}: {id:?} differs")
                });
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
            self.check(8, holds, || {
                format!("{id:?}: its slots do not link to it: {row:?}")
            });
        }
    }

    fn counter(&mut self, counter: Counter, has: u64) {
        let says = self.root.count(counter);
        self.check(9, says == has, || {
            format!("{counter:?} says {says}, there are {has}")
        });
    }

    fn counters(&mut self) {
        let of = |this: &Self, owner| {
            wide(
                this.lines
                    .iter()
                    .filter(|known| known.owner == owner)
                    .count(),
            )
        };
        let (entities, trees) = (of(self, Owner::Entity), of(self, Owner::Tree));
        self.counter(Counter::Entities, entities);
        self.counter(Counter::Trees, trees);
        let (up, down) = self.rows;
        self.counter(Counter::EdgeRows, up);
        self.counter(Counter::EdgeRows, down);
    }

    fn free_lists(&mut self) {
        let mut free = 0;
        for lines in 1..=MAX_LINES {
            let (mut line, length) = self.root.free_list(lines);
            let mut count = 0;
            while line != 0 && self.claim(line, lines, Owner::Free) {
                let piece = self.mem.line(line);
                let marked = piece.u32(4) == FREE_MARK && piece.u32(8) == lines;
                self.check(10, marked, || {
                    format!("free piece at line {line} is not marked")
                });
                line = piece.u32(0);
                count += 1;
            }
            free += wide(index(count)) * u64::from(lines);
            self.check(10, count == length, || {
                format!("free list of {lines} lines says {length} pieces, has {count}")
            });
        }
        self.counter(Counter::FreeLines, free);
        let after_root = self.lines.iter().enumerate().skip(index(FIRST_LINE));
        let lost: Vec<usize> = after_root
            .filter(|(_, known)| known.owner == Owner::Nobody)
            .map(|(line, _)| line)
            .collect();
        self.check(10, lost.is_empty(), || {
            format!(
                "{} lines are nobody's, the first is {}",
                lost.len(),
                lost[0]
            )
        });
    }
}
