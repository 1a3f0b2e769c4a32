//! The roots of each tree: the entities that have a row in it and no parent but themselves.
//!
//! ```text
//!   bucket --> each entity without a mark --> list "up":   the trees in which it is a child
//!                                         --> list "down": other trees, in which it is a parent,
//!                                                          or alone (its own parent)
//! ```
//!
//! The image may change between two steps. What was reported stays true: a snapshot's verdict is final, and an entity
//! stays in its line as long as the snapshot sees an edge of it. So the line of a judged entity is marked, and no
//! entity is judged twice. None is missed either: a split moves entries to the last bucket, which is still to come. A
//! kick may move an entry to a bucket that the scan has passed, so a pass with kicks is followed by another one, which
//! judges the unmarked entities. A pass reads each bucket; each pass has steps twice as long as the one before, and the
//! ninth is a single step.
//!
//! A list that was read in part is read again from its start if the image changed; after 8 times it is read to its end
//! in one step. If a line is freed and reused, the snapshot sees no edge of the new entity.

use crate::filter::bucket::Entry;
use crate::memory::casts::wide;
use crate::memory::id::{EntityId, TreeId, to_word};
use crate::memory::key_set::KeySet;
use crate::memory::marks::Marks;
use crate::memory::root::{Counter, Field};
use crate::records::label::LabelTrees;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::trees::Trees;
use crate::records::unknown_xids::UnknownXids;
use crate::records::visibility::sees;
use crate::{Image, Interruptible, Step, Visibility};

/// After this many passes, or restarts of lists, steps are no longer bounded.
const BOUNDED: u32 = 8;
/// How many buckets ahead records are prefetched.
const AHEAD: u32 = 8;

/// The position of [`Image::roots`], and its scratch memory.
#[derive(Debug, Default)]
pub struct Roots {
    bucket: u32,
    /// The next entry of the bucket.
    entry: usize,
    passes: u32,
    /// The count of kicks when the pass began.
    kicks: u64,
    judged: Marks,
    /// The list that was read in part.
    reading: Option<Reading>,
    /// The entity whose roots are being reported, and how many were reported: `below` has their trees.
    saying: Option<(EntityId, usize)>,
    restarts: u32,
    epoch: u64,
    /// The trees that are asked for; none if all are.
    only: Option<Trees>,
    /// The trees of labels, whose edges do not count for roots.
    labels: LabelTrees,
    asked: UnknownXids,
    /// The trees in which the current entity is a child, and other trees in which it is a parent.
    above: Met,
    below: Met,
    tree_name: Vec<u8>,
    name: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    entity: EntityId,
    direction: Direction,
    cursor: Cursor,
}

/// The trees met, which are usually few; None is the tree without a name.
#[derive(Debug)]
struct Met {
    all: Vec<Option<TreeId>>,
    /// The places of the trees, once there are more than `FEW`.
    places: KeySet,
}

impl Default for Met {
    fn default() -> Met {
        Met { all: Vec::new(), places: KeySet::new() }
    }
}

impl Met {
    const FEW: usize = 16;
    /// The number of further trees for which there is room before a step.
    const ROOM: usize = 1 << 15;

    fn key(tree: Option<TreeId>) -> u64 {
        u64::from(to_word(tree))
    }

    fn has(&self, tree: Option<TreeId>) -> bool {
        match self.all.len() {
            ..=Met::FEW => self.all.contains(&tree),
            _ => self.places.has(Met::key(tree), |at| Met::key(self.all[at])),
        }
    }

    fn add(&mut self, tree: Option<TreeId>) {
        let Met { all, places } = self;
        all.push(tree);
        if all.len() == Met::FEW + 1 {
            places.start(0, 4 * Met::FEW);
            for tree in &*all {
                places.find_or_add(Met::key(*tree), |at| Met::key(all[at]));
            }
        } else if all.len() > Met::FEW {
            places.find_or_add(Met::key(tree), |at| Met::key(all[at]));
        }
    }

    fn len(&self) -> usize {
        self.all.len()
    }

    fn clear(&mut self) {
        self.all.clear();
    }

    /// Makes room for the next step, if there are many trees. `false` if there is no memory.
    fn make_room(&mut self) -> bool {
        let Met { all, places } = self;
        if all.len() <= Met::FEW {
            return true;
        }
        let fits =
            all.try_reserve(Met::ROOM).is_ok() && places.try_reserve(places.len() + Met::ROOM);
        if fits {
            places.grow(Met::ROOM, |at| Met::key(all[at]), &mut Interruptible::new(&mut || ()));
        }
        fits
    }
}

impl Roots {
    /// Starts at the first bucket, with marks for a small image.
    #[must_use]
    pub fn new() -> Roots {
        Roots { judged: Marks::new(), ..Roots::default() }
    }

    /// Starts a scan for the roots of these trees.
    #[must_use]
    pub fn only_in(trees: Trees) -> Roots {
        Roots { only: Some(trees), ..Roots::new() }
    }

    /// Makes room for the marks of the image. Called after [`Step::More`], without the lock.
    /// `false` if there is no memory.
    #[must_use]
    pub fn make_room(&mut self) -> bool {
        self.asked.make_room(usize::MAX);
        self.judged.make_room() && self.above.make_room() && self.below.make_room()
    }

    /// The xids that the snapshot did not know, each once, after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        self.asked.xids()
    }
}

impl Image<'_> {
    /// Reader: calls `f(tree, entity)` once for each root of each tree, in no order; reads about `budget` slots and
    /// buckets a call. After [`Step::More`] and [`Roots::make_room`] the next call continues. After [`Step::Ask`], once
    /// the xids in [`Roots::asked`] are known, the next call judges the entities that depend on them. All calls are
    /// under one snapshot.
    pub fn roots(
        &self,
        roots: &mut Roots,
        budget: usize,
        seen: &impl Visibility,
        mut f: impl FnMut(Option<&[u8]>, &[u8]),
    ) -> Step {
        if !roots.judged.fit(self.root().get(Field::Bump)) {
            return Step::More;
        }
        roots.labels = self.labels();
        if let Some(only) = &mut roots.only {
            if !only.look_up(*self, &mut budget.max(1)) {
                return Step::More;
            }
            if only.len() == 0 {
                return Step::Done;
            }
        }
        let kicks = self.root().count(Counter::Kicks);
        if self.epoch() != roots.epoch {
            roots.epoch = self.epoch();
            roots.restarts += u32::from(roots.reading.take().is_some());
            roots.entry = 0;
        }
        let mut left = match roots.passes {
            BOUNDED.. => usize::MAX,
            passes => budget.max(1) << passes,
        };
        if let Some((entity, said)) = roots.saying.take() {
            if !self.say_on(entity, said, roots, &mut left, &mut f) {
                return Step::More;
            }
        } else if let Some(reading) = roots.reading.take() {
            if !self.judge(reading, roots, &mut left, seen, &mut f) {
                return Step::More;
            }
        } else if roots.bucket == 0 {
            roots.kicks = kicks;
            roots.asked.clear();
        }
        while roots.bucket < self.names().geometry().buckets() {
            if left == 0 || !self.judge_bucket(roots, &mut left, seen, &mut f) {
                return Step::More;
            }
            (roots.bucket, roots.entry) = (roots.bucket + 1, 0);
        }
        roots.bucket = 0;
        if !roots.asked.is_empty() {
            return Step::Ask;
        }
        if roots.kicks != kicks {
            roots.passes += 1;
            return Step::More;
        }
        Step::Done
    }

    /// Judges the unmarked entities of the current bucket; `false` if the budget ended first.
    fn judge_bucket(
        self,
        roots: &mut Roots,
        left: &mut usize,
        seen: &impl Visibility,
        f: &mut impl FnMut(Option<&[u8]>, &[u8]),
    ) -> bool {
        *left = left.saturating_sub(1);
        self.send_for(roots, roots.bucket + AHEAD);
        let entries = self.names().read(roots.bucket);
        while let Some(entry) = entries.get(roots.entry) {
            roots.entry += 1;
            let Some(id) = entry.record().filter(|&id| !roots.judged.has(id)) else { continue };
            let record = Record::new(self.mem(), id);
            if record.is_tree() {
                roots.judged.add(id);
                continue;
            }
            roots.above.clear();
            roots.below.clear();
            roots.asked.begin();
            let cursor = Cursor::start(record, Direction::Up);
            let reading = Reading { entity: id.entity(), direction: Direction::Up, cursor };
            if !self.judge(reading, roots, left, seen, f) {
                return false;
            }
        }
        true
    }

    /// Prefetches the unmarked records of a bucket.
    fn send_for(self, roots: &Roots, bucket: u32) {
        if bucket < self.names().geometry().buckets() {
            let ids = self.names().read(bucket).into_iter().filter_map(Entry::record);
            for id in ids.filter(|&id| !roots.judged.has(id)) {
                self.mem().prefetch_two(id.line());
            }
        }
    }

    /// Continues with an entity's lists; `false` if the budget ended first.
    fn judge(
        self,
        mut reading: Reading,
        roots: &mut Roots,
        left: &mut usize,
        seen: &impl Visibility,
        f: &mut impl FnMut(Option<&[u8]>, &[u8]),
    ) -> bool {
        let mem = self.mem();
        let labels = roots.labels;
        // Rows without a tree are one more.
        let trees = self.root().count(Counter::Trees) + 1 - wide(labels.count());
        let trees = roots.only.as_ref().map_or(trees, |only| trees.min(wide(only.len())));
        while wide(roots.above.len() + roots.below.len()) < trees {
            let before = reading;
            let Some(at) = reading.cursor.next(mem) else {
                if reading.direction == Direction::Down {
                    break;
                }
                let cursor = Cursor::start(Record::new(mem, reading.entity), Direction::Down);
                reading = Reading { direction: Direction::Down, cursor, ..reading };
                continue;
            };
            if *left == 0 && roots.restarts < BOUNDED {
                roots.reading = Some(before);
                return false;
            }
            *left = left.saturating_sub(1);
            let slot = Slot::read(mem, at);
            // An edge from the entity to itself shows that the entity exists, but gives it no parent.
            let counts = slot.neighbour != reading.entity || reading.direction == Direction::Down;
            let is_asked = roots.only.as_ref().is_none_or(|only| only.has(slot.tree));
            let is_news = counts
                && !labels.has(slot.tree)
                && is_asked
                && !roots.above.has(slot.tree)
                && !roots.below.has(slot.tree);
            if is_news && sees(mem, slot.link, seen, &mut roots.asked) {
                match reading.direction {
                    Direction::Up => roots.above.add(slot.tree),
                    Direction::Down => roots.below.add(slot.tree),
                }
            }
        }
        self.say(reading.entity, roots, left, f)
    }

    /// Reports an entity whose lists were read, if it is a root; waits if xids are unknown. `false` if the budget ended
    /// first.
    fn say(
        self,
        entity: EntityId,
        roots: &mut Roots,
        left: &mut usize,
        f: &mut impl FnMut(Option<&[u8]>, &[u8]),
    ) -> bool {
        if roots.asked.is_unsure() {
            return true;
        }
        roots.judged.add(entity.into());
        roots.below.len() == 0 || self.say_on(entity, 0, roots, left, f)
    }

    /// Continues to report an entity, after the first `said` trees. Its record and those of the trees do not move,
    /// because the snapshot sees an edge.
    fn say_on(
        self,
        entity: EntityId,
        said: usize,
        roots: &mut Roots,
        left: &mut usize,
        f: &mut impl FnMut(Option<&[u8]>, &[u8]),
    ) -> bool {
        let Roots { below, name, tree_name, saying, .. } = roots;
        let read = |to: &mut Vec<u8>, record: Record<'_>| {
            to.resize(record.name_len(), 0);
            record.copy_name(to);
        };
        read(name, Record::new(self.mem(), entity));
        for (n, &tree) in below.all.iter().enumerate().skip(said) {
            // At least one, or a step might make no progress.
            if *left == 0 && n > said {
                *saying = Some((entity, n));
                return false;
            }
            *left = left.saturating_sub(1);
            if let Some(tree) = tree {
                read(tree_name, Record::new(self.mem(), tree));
            }
            f(tree.map(|_| &**tree_name), name);
        }
        true
    }
}
