//! The roots of each tree: what has a child there and no parent but itself.
//!
//! ```text
//!   bucket --> each entity without a mark --> list "up":   the trees in which it is a child
//!                                         --> list "down": other trees, in which it is a parent
//! ```
//!
//! The image may change between two steps. What was said stays so: a snapshot's verdict is final,
//! and an entity of which it sees an edge stays in its line. So an entity that was judged is
//! marked by its line, and none is judged twice. Unmarked ones are not missed either: those that
//! a split moves go to the last bucket, which is still to come; those that a kick moves may go
//! where the scan has been, so after a pass with kicks comes another, which judges what has no mark.
//! It costs a look at each bucket, twice as many a step each time, and all in one step at last.
//!
//! A list that is read in part is read again from its start if the image changed; after 8 times
//! to its end in one step. A line that is freed and used again becomes an entity of which
//! the snapshot sees nothing.

use std::collections::HashSet;

use crate::filter::bucket::Entry;
use crate::memory::casts::wide;
use crate::memory::id::{EntityId, TreeId};
use crate::memory::marks::Marks;
use crate::memory::root::{Counter, Field};
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::visibility::sees;
use crate::{Image, Step, Visibility};

/// Passes whose steps are bounded, and readings of a list that are.
const BOUNDED: u32 = 8;
/// Buckets between sending for their records and reading them.
const AHEAD: u32 = 8;

/// Where [`Image::roots`] stands, and its scratch room.
#[derive(Debug, Default)]
pub struct Roots {
    bucket: u32,
    /// The entry of the bucket whose turn it is.
    entry: usize,
    passes: u32,
    /// Entries kicked when the pass began.
    kicks: u64,
    judged: Marks,
    /// The list that is read in part.
    reading: Option<Reading>,
    restarts: u32,
    epoch: u64,
    asked: Vec<u64>,
    /// Of the entity at work.
    unknown: Vec<u64>,
    above: Trees,
    below: Trees,
    tree_name: Vec<u8>,
    name: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    entity: EntityId,
    direction: Direction,
    cursor: Cursor,
}

/// Different trees; None is that without a name. Few as a rule.
#[derive(Debug, Default)]
struct Trees {
    few: Vec<Option<TreeId>>,
    more: HashSet<Option<TreeId>>,
}

impl Trees {
    const FEW: usize = 16;

    fn has(&self, tree: Option<TreeId>) -> bool {
        self.few.contains(&tree) || self.more.contains(&tree)
    }

    fn add(&mut self, tree: Option<TreeId>) {
        if self.few.len() < Trees::FEW {
            self.few.push(tree);
        } else {
            self.more.insert(tree);
        }
    }

    fn len(&self) -> usize {
        self.few.len() + self.more.len()
    }

    fn clear(&mut self) {
        self.few.clear();
        if !self.more.is_empty() {
            self.more = HashSet::new();
        }
    }
}

impl Roots {
    /// At the first bucket, with room for a small image.
    #[must_use]
    pub fn new() -> Roots {
        Roots { judged: Marks::new(), ..Roots::default() }
    }

    /// Room for the marks of the image. Called after [`Step::More`], without the lock. False: there
    /// is no memory.
    #[must_use]
    pub fn make_room(&mut self) -> bool {
        self.judged.make_room()
    }

    /// The xids the snapshot did not know, sorted and unique after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        &self.asked
    }
}

impl Image<'_> {
    /// Reader: calls `f(tree, entity)` for each root of each tree, once, in no order; reads about
    /// `budget` slots and buckets a call. After [`Step::More`] and [`Roots::make_room`] the next
    /// call goes on. After [`Step::Ask`], when the xids in [`Roots::asked`] were learned, too: it
    /// judges the entities that hang on them. All calls are under one snapshot.
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
        if let Some(reading) = roots.reading.take() {
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
            roots.asked.sort_unstable();
            roots.asked.dedup();
            return Step::Ask;
        }
        if roots.kicks != kicks {
            roots.passes += 1;
            return Step::More;
        }
        Step::Done
    }

    /// Judges what has no mark in the bucket at hand; `false`: the budget is spent before.
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
            roots.unknown.clear();
            let cursor = Cursor::start(record, Direction::Up);
            let reading = Reading { entity: id.entity(), direction: Direction::Up, cursor };
            if !self.judge(reading, roots, left, seen, f) {
                return false;
            }
        }
        true
    }

    /// The records of a bucket will be read soon.
    fn send_for(self, roots: &Roots, bucket: u32) {
        if bucket < self.names().geometry().buckets() {
            let ids = self.names().read(bucket).into_iter().filter_map(Entry::record);
            for id in ids.filter(|&id| !roots.judged.has(id)) {
                self.mem().prefetch_two(id.line());
            }
        }
    }

    /// Goes on with an entity's lists; `false`: the budget is spent before their end.
    fn judge(
        self,
        mut reading: Reading,
        roots: &mut Roots,
        left: &mut usize,
        seen: &impl Visibility,
        f: &mut impl FnMut(Option<&[u8]>, &[u8]),
    ) -> bool {
        let mem = self.mem();
        let trees = self.root().count(Counter::Trees) + 1;
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
            let is_news = slot.neighbour != reading.entity
                && !roots.above.has(slot.tree)
                && !roots.below.has(slot.tree);
            if is_news && sees(mem, slot.link, seen, &mut roots.unknown) {
                match reading.direction {
                    Direction::Up => roots.above.add(slot.tree),
                    Direction::Down => roots.below.add(slot.tree),
                }
            }
        }
        self.say(reading.entity, roots, f);
        true
    }

    /// The verdict on an entity whose lists were read.
    fn say(self, entity: EntityId, roots: &mut Roots, f: &mut impl FnMut(Option<&[u8]>, &[u8])) {
        if !roots.unknown.is_empty() {
            roots.asked.append(&mut roots.unknown);
            return;
        }
        roots.judged.add(entity.into());
        let Roots { below, name, tree_name, .. } = roots;
        if below.len() == 0 {
            return;
        }
        let read = |to: &mut Vec<u8>, record: Record<'_>| {
            to.resize(record.name_len(), 0);
            record.copy_name(to);
        };
        read(name, Record::new(self.mem(), entity));
        for &tree in below.few.iter().chain(&below.more) {
            if let Some(tree) = tree {
                read(tree_name, Record::new(self.mem(), tree));
            }
            f(tree.map(|_| &**tree_name), name);
        }
    }
}
