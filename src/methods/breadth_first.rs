//! Breadth-first search along edges, within each tree, to any depth; from one entity, or from two until they meet.
//!
//! Each step finds one level, by a walk over the whole frontier. Of two searches, the one with the smaller frontier
//! continues. When one has finished level i and the other level j, and they first have an entity of a tree in common,
//! then i + j is the distance in that tree (a smaller one would have been found before), and each shortest path leads
//! through exactly one entity at distance i from one end and j from the other.

use crate::call::work_memory::Room;
use crate::error;
use crate::error::Fallible;
use crate::methods::big_map::{Map, Set, Table};
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};
use std::ops::Range;

/// The most bytes that an entity takes besides its name. This number and the next two assume tables and lists that have
/// just doubled, with the old copy still there.
const PER_ENTITY: usize = 120;

const PER_NAME: usize = 60;

const PER_EDGE: usize = 3 * size_of::<Reached>();

/// Bytes for the paths of a tree, and for one of their steps, including the entity it leads to while we search.
const PER_TREE: usize = 200;

const PER_STEP: usize = 100;

/// Bytes that an entity takes, besides its name, while a walk from it runs.
const PER_ASKED: usize = 64;

/// Copies of the names to walk from, one after the other.
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Copies these names. 53400, 53200.
    pub fn of(asked: &[NameId], names: &Names, room: &Room) -> Fallible<Texts> {
        let bytes = asked.iter().map(|&name| names.get(name).len()).sum();
        room.spare(asked.len() * PER_ASKED + 4 * bytes)?;
        let mut texts = Texts { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(asked.len()) };
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for &name in asked {
            work.step();
            texts.bytes.extend_from_slice(names.get(name));
            texts.ends.push(texts.bytes.len());
        }
        Ok(texts)
    }

    pub fn all(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]).collect()
    }
}

/// How an edge leads from one entity to the next: to a parent, to a child, or both.
pub const UP: u8 = 1;

pub const DOWN: u8 = 2;

pub type Node = (Tree, NameId);

/// A tree; None is the tree without a name.
pub type Tree = Option<NameId>;

/// An entity that was reached, and the last edge by which it was reached at that depth.
#[derive(Clone, Copy)]
pub struct Visit {
    pub depth: u32,
    last: Option<u32>,
}

/// An edge by which an entity was reached: from a neighbour one step nearer to the start.
#[derive(Clone, Copy)]
struct Reached {
    from: NameId,
    /// The direction from there to here.
    steps: u8,
    /// The previous such edge of this entity.
    before: Option<u32>,
}

/// A search from one entity.
pub struct Side {
    start: NameId,
    /// UP, DOWN or both.
    ways: u8,
    pub found: Table<Node, Visit>,
    reached: Vec<Reached>,
    frontier: Vec<Node>,
    depth: u32,
}

impl Side {
    pub fn new(start: NameId, ways: u8) -> Side {
        Side { start, ways, found: Table::default(), reached: Vec::new(), frontier: Vec::new(), depth: 0 }
    }

    /// Finds all that can be reached. Error: that of [`Side::expand`].
    pub fn exhaust(mut self, walker: &Walker, names: &mut Names, room: &mut Room) -> Fallible<Side> {
        while !self.is_at_end() {
            self.expand(walker, names, room)?;
        }
        Ok(self)
    }

    /// The trees of the start, after the first level.
    fn trees(&self, work: &mut Interruptible<'_>) -> Vec<Tree> {
        let of_start = self.found.iter().filter(|(_, found)| {
            work.step();
            found.depth == 0
        });
        of_start.map(|(node, _)| node.0).collect()
    }

    pub fn is_at_end(&self) -> bool {
        self.depth > 0 && self.frontier.is_empty()
    }

    /// The neighbours one step nearer to the start, and how the edges lead from there.
    pub fn before(&self, found: Visit) -> impl Iterator<Item = (NameId, u8)> + '_ {
        let one = |at: u32| &self.reached[at as usize];
        std::iter::successors(found.last.map(one), move |reached| reached.before.map(one))
            .map(|reached| (reached.from, reached.steps))
    }

    /// Finds the next level. The first level also finds the start's trees, by edges in either direction. Error: 53400,
    /// more than cftrag.work_memory; 53200.
    pub fn expand(&mut self, walker: &Walker, names: &mut Names, room: &mut Room) -> Fallible<()> {
        let (mut at, mut next, mut check_interrupts) = (0, Vec::new(), check_interrupts);
        let mut work = Interruptible::new(&mut check_interrupts);
        room.spare((self.frontier.len() + 1) * PER_ASKED)?;
        let mut asked: Vec<NameId> = self.frontier.iter().map(|node| node.1).collect();
        let mut ways = self.ways;
        if self.depth == 0 {
            asked.push(self.start);
            ways = UP | DOWN;
        }
        let levels = |way: u8| i32::from(ways & way != 0);
        work.sort_by(&mut asked, Ord::cmp);
        asked.dedup();
        let texts = Texts::of(&asked, names, room)?;
        let texts = texts.all();
        // The answer has the order of the names asked for.
        let is_first = self.depth == 0;
        let take = |rows: &[Relative<'_>]| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                work.step();
                while texts[at] != rows[0].entity {
                    at += 1;
                }
                let tree = rows[0].tree.map(|tree| named(names, tree, room)).transpose()?;
                let node = (tree, asked[at]);
                if self.depth == 0 {
                    room.take(PER_ENTITY)?;
                    self.found.entry(node, || Visit { depth: 0, last: None })?;
                }
                if self.found.get(&node).is_none_or(|found| found.depth != self.depth) {
                    continue;
                }
                for row in rows.iter().filter(|row| row.depth > 0) {
                    work.step();
                    let way = if row.ancestor { UP } else { DOWN };
                    if way & self.ways != 0 {
                        let to = (tree, named(names, row.name, room)?);
                        self.reach(node, to, way, &mut next, room)?;
                    }
                }
            }
            Ok(())
        };
        let done = match is_first {
            true => walker.relatives_and_own(&texts, levels(UP), levels(DOWN), take),
            false => walker.relatives(&texts, levels(UP), levels(DOWN), take),
        };
        self.depth += 1;
        self.frontier = next;
        done
    }

    fn reach(&mut self, from: Node, to: Node, steps: u8, next: &mut Vec<Node>, room: &mut Room) -> Fallible<()> {
        let depth = self.depth + 1;
        let Side { found, reached, .. } = self;
        let (found, is_new) = found.entry(to, || Visit { depth, last: None })?;
        if is_new {
            room.take(PER_ENTITY)?;
            push(next, to)?;
        }
        if found.depth != depth {
            return Ok(());
        }
        // The edges of one entity come together.
        match found.last.map(|last| &mut reached[last as usize]) {
            Some(last) if last.from == from.1 => last.steps |= steps,
            _ => {
                room.take(PER_EDGE)?;
                push(reached, Reached { from: from.1, steps, before: found.last })?;
                found.last = Some(reached.len() as u32 - 1);
            }
        }
        Ok(())
    }
}

/// Adds to a list that grows with a user's data. 53200.
pub fn push<T>(list: &mut Vec<T>, item: T) -> Fallible<()> {
    if list.len() == list.capacity() {
        let more = list.len().max(64);
        list.try_reserve_exact(more).map_err(|_| error::no_memory_to_work(2 * more * size_of::<T>()))?;
    }
    list.push(item);
    Ok(())
}

/// The number of a name. 53400, 53200.
pub fn named(names: &mut Names, name: &[u8], room: &mut Room) -> Fallible<NameId> {
    let known = names.len();
    let id = names.try_id(name).ok_or_else(|| error::no_memory_to_work(2 * names.bytes()))?;
    if names.len() > known {
        room.take(PER_NAME + 2 * name.len())?;
    }
    Ok(id)
}

/// A step of a shortest path.
#[derive(Clone, Copy)]
pub struct Next {
    from: NameId,
    pub to: NameId,
    pub steps: u8,
}

/// All shortest paths between two entities in one tree.
pub struct Paths {
    pub tree: Tree,
    pub hops: u32,
    /// The range of the tree's steps in `Shortest::steps`.
    range: Range<usize>,
}

/// The shortest paths between two entities, in each tree that has one.
#[derive(Default)]
pub struct Shortest {
    /// Unordered.
    pub trees: Vec<Paths>,
    /// The steps on shortest paths, tree by tree, ordered by where they begin and then by the name they lead to.
    pub steps: Vec<Next>,
}

impl Shortest {
    /// The steps that lead on from an entity, in order.
    pub fn next(&self, paths: &Paths, from: NameId) -> &[Next] {
        let steps = &self.steps[paths.range.clone()];
        let first = steps.partition_point(|step| step.from < from);
        let count = steps[first..].partition_point(|step| step.from == from);
        &steps[first..first + count]
    }

    /// The number of paths that lead from here; saturates at u64::MAX.
    pub fn count(&self, paths: &Paths, from: NameId, work: &mut Interruptible<'_>) -> u64 {
        let mut level: Map<NameId, u64> = Map::from_iter([(from, 1)]);
        for _ in 0..paths.hops {
            let mut further: Map<NameId, u64> = Map::default();
            for (name, ways) in level {
                for step in self.next(paths, name) {
                    work.step();
                    let sum = further.entry(step.to).or_default();
                    *sum = sum.saturating_add(ways);
                }
            }
            level = further;
        }
        level.into_values().fold(0, u64::saturating_add)
    }

    /// Adds the paths of a tree through the entities where two searches met.
    fn join(
        &mut self,
        (tree, hops): (Tree, u32),
        [from, to]: [&Side; 2],
        met: &[NameId],
        names: &Names,
        (room, work): (&mut Room, &mut Interruptible<'_>),
    ) -> Fallible<()> {
        let first = self.steps.len();
        room.take(PER_TREE + met.len() * PER_STEP)?;
        for (side, forward) in [(from, true), (to, false)] {
            let mut left = met.to_vec();
            let mut seen: Set<NameId> = met.iter().copied().collect();
            while let Some(name) = left.pop() {
                for (before, steps) in side.found.get(&(tree, name)).into_iter().flat_map(|found| side.before(*found)) {
                    work.step();
                    room.take(PER_STEP)?;
                    let step = match forward {
                        true => Next { from: before, to: name, steps },
                        false => Next { from: name, to: before, steps: turned(steps) },
                    };
                    push(&mut self.steps, step)?;
                    if seen.insert(before) {
                        push(&mut left, before)?;
                    }
                }
            }
        }
        let key = |step: &Next| (step.from, names.get(step.to));
        work.sort_with(&mut self.steps[first..], |a, b, work| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then_with(|| work.compare(a.1, b.1))
        });
        push(&mut self.trees, Paths { tree, hops, range: first..self.steps.len() })
    }
}

/// The shortest paths of at most `most` hops, in each tree that has one; the trees are unordered. Error: that of
/// [`Side::expand`].
pub fn shortest(walker: &Walker, names: &mut Names, a: NameId, b: NameId, most: u32) -> Fallible<Shortest> {
    let mut room = Room::new();
    let (mut from, mut to) = (Side::new(a, UP | DOWN), Side::new(b, UP | DOWN));
    let mut paths = Shortest::default();
    from.expand(walker, names, &mut room)?;
    to.expand(walker, names, &mut room)?;
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    // Trees that have both entities and are still open: their distance is neither 0 (a is b) nor 1 (a is next to b).
    let mut open: Set<Tree> = Set::default();
    for tree in from.trees(work) {
        if to.found.get(&(tree, b)).is_none_or(|found| found.depth != 0) {
            continue;
        }
        if a != b && from.found.get(&(tree, b)).is_none() {
            open.insert(tree);
        } else if a == b || most > 0 {
            let hops = u32::from(a != b);
            paths.join((tree, hops), [&from, &to], &[b], names, (&mut room, work))?;
        }
    }
    loop {
        for side in [&mut from, &mut to] {
            side.frontier.retain(|node| {
                work.step();
                open.contains(&node.0)
            });
        }
        let hops = from.depth + to.depth;
        if open.is_empty() || hops > most {
            return Ok(paths);
        }
        let mut met = met(&from, &to, &mut room, work)?;
        work.sort_by(&mut met, Ord::cmp);
        for met in met.chunk_by(|a, b| a.0 == b.0) {
            let (tree, entities) = (met[0].0, met.iter().map(|node| node.1).collect::<Vec<_>>());
            paths.join((tree, hops), [&from, &to], &entities, names, (&mut room, work))?;
            open.remove(&tree);
        }
        if from.is_at_end() || to.is_at_end() {
            return Ok(paths);
        }
        let side = if from.frontier.len() <= to.frontier.len() { &mut from } else { &mut to };
        side.expand(walker, names, &mut room)?;
    }
}

/// The entities of open trees that are in the last levels of both searches.
fn met(a: &Side, b: &Side, room: &mut Room, work: &mut Interruptible<'_>) -> Fallible<Vec<Node>> {
    let (short, long) = if a.frontier.len() <= b.frontier.len() { (a, b) } else { (b, a) };
    let mut met = Vec::new();
    for node in &short.frontier {
        work.step();
        if long.found.get(node).is_some_and(|found| found.depth == long.depth) {
            room.take(size_of::<Node>())?;
            push(&mut met, *node)?;
        }
    }
    Ok(met)
}

/// The steps as seen from the other end.
fn turned(steps: u8) -> u8 {
    (steps & UP) << 1 | (steps & DOWN) >> 1
}
