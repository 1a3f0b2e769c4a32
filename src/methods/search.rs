//! Breadth-first search along edges, within each tree, to any depth; from one entity, or from two until they meet.
//!
//! A level at a time: one walk over the whole frontier. Of two searches the one with the smaller frontier goes on. When one has
//! finished level i and the other level j and for the first time they have an entity of a tree in common, then i + j is the distance
//! in that tree (it would have been found before, were it less), and each shortest path leads through exactly one entity that is at
//! distance i from the one and j from the other.

use crate::error::Fallible;
use crate::methods::breathe;
use crate::methods::room::Room;
use crate::methods::walker::Walker;
use cftrag_core::{Breath, NameId, Names};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes that one entity takes at most beside its name, and one name: measured, with a million.
const PER_ENTITY: usize = 300;
const PER_NAME: usize = 130;

/// How an edge leads from one entity to the next: to a parent, to a child, or both.
pub const UP: u8 = 1;
pub const DOWN: u8 = 2;

/// A tree; None is the tree without a name.
pub type Tree = Option<NameId>;
type Node = (Tree, NameId);

pub struct Found {
    pub depth: u32,
    /// The neighbour at depth - 1 that was seen first, and how the edge leads from there to here; and the others.
    first: Option<(NameId, u8)>,
    others: Vec<(NameId, u8)>,
}

impl Found {
    pub fn before(&self) -> impl Iterator<Item = (NameId, u8)> + '_ {
        self.first.into_iter().chain(self.others.iter().copied())
    }
}

/// For keys that are our own numbers: nobody chooses them.
#[derive(Default)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        // The golden ratio's bits; the table takes the high ones, too.
        self.0 = (self.0.rotate_left(29) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixed>>;
type Set<K> = HashSet<K, BuildHasherDefault<Mixed>>;

/// A search from one entity.
pub struct Side {
    start: NameId,
    /// UP, DOWN or both.
    ways: u8,
    pub found: Map<Node, Found>,
    frontier: Vec<Node>,
    depth: u32,
}

impl Side {
    pub fn new(start: NameId, ways: u8) -> Side {
        Side { start, ways, found: Map::default(), frontier: Vec::new(), depth: 0 }
    }

    /// Finds all that can be reached. Error: that of expand.
    pub fn exhaust(mut self, walker: &Walker, names: &mut Names) -> Fallible<Side> {
        let mut room = Room::new();
        while !self.is_at_end() {
            self.expand(walker, names, &mut room)?;
        }
        Ok(self)
    }

    pub fn is_at_end(&self) -> bool {
        self.depth > 0 && self.frontier.is_empty()
    }

    /// Finds the next level. The first finds the trees of the start, too, whichever way it leads there. Error: 53400, more than
    /// cftrag.work_memory.
    pub fn expand(&mut self, walker: &Walker, names: &mut Names, room: &mut Room) -> Fallible<()> {
        let mut asked: Vec<NameId> = self.frontier.iter().map(|node| node.1).collect();
        let mut ways = self.ways;
        if self.depth == 0 {
            asked.push(self.start);
            ways = UP | DOWN;
        }
        let levels = |way: u8| i32::from(ways & way != 0);
        asked.sort_unstable();
        asked.dedup();
        let texts: Vec<Vec<u8>> = asked.iter().map(|&name| names.get(name).to_vec()).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
        // The answer is in the order of the question.
        let (mut at, mut next, mut breathe) = (0, Vec::new(), breathe);
        let (mut breath, mut fits) = (Breath::new(&mut breathe), Ok(()));
        walker.relatives(&texts, levels(UP), levels(DOWN), |rows| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                while texts[at] != rows[0].entity {
                    at += 1;
                }
                let node = (rows[0].tree.map(|tree| names.id(tree)), asked[at]);
                if self.depth == 0 {
                    self.found.insert(node, Found { depth: 0, first: None, others: Vec::new() });
                }
                if self.found.get(&node).is_none_or(|found| found.depth != self.depth) {
                    continue;
                }
                for row in rows {
                    breath.step();
                    let way = if row.ancestor { UP } else { DOWN };
                    if way & self.ways == 0 || fits.is_err() {
                        continue;
                    }
                    let (known, found) = (names.len(), self.found.len());
                    self.reach(node, (node.0, names.id(row.name)), way, &mut next);
                    let new_name = (names.len() - known) * (PER_NAME + 2 * row.name.len());
                    fits = room.take(new_name + (self.found.len() - found) * PER_ENTITY + size_of::<(NameId, u8)>());
                }
            }
        });
        self.depth += 1;
        self.frontier = next;
        fits
    }

    fn reach(&mut self, from: Node, to: Node, step: u8, next: &mut Vec<Node>) {
        let depth = self.depth + 1;
        let found = self.found.entry(to).or_insert_with(|| {
            next.push(to);
            Found { depth, first: None, others: Vec::new() }
        });
        if found.depth != depth {
            return;
        }
        // The edges of one entity come one after the other.
        match found.others.last_mut().or(found.first.as_mut()) {
            None => found.first = Some((from.1, step)),
            Some((name, steps)) if *name == from.1 => *steps |= step,
            Some(_) => found.others.push((from.1, step)),
        }
    }
}

/// All shortest paths between two entities in one tree, as the steps that lie on one: from an entity to those that may come next.
pub struct Paths {
    pub tree: Tree,
    pub hops: u32,
    /// Sorted by name.
    pub next: Map<NameId, Vec<(NameId, u8)>>,
}

impl Paths {
    /// How many paths lead from here; what does not fit is as many as fit.
    pub fn count(&self, from: NameId) -> u64 {
        let mut level: Map<NameId, u64> = Map::from_iter([(from, 1)]);
        for _ in 0..self.hops {
            let mut further: Map<NameId, u64> = Map::default();
            for (name, paths) in level {
                for (to, _) in self.next.get(&name).into_iter().flatten() {
                    let sum = further.entry(*to).or_default();
                    *sum = sum.saturating_add(paths);
                }
            }
            level = further;
        }
        level.into_values().fold(0, u64::saturating_add)
    }
}

/// The shortest paths of at most so many hops, in each tree that has one; trees in no order. Error: that of expand.
pub fn shortest(walker: &Walker, names: &mut Names, a: NameId, b: NameId, most: u32) -> Fallible<Vec<Paths>> {
    let mut room = Room::new();
    let (mut from, mut to) = (Side::new(a, UP | DOWN), Side::new(b, UP | DOWN));
    let mut paths = Vec::new();
    from.expand(walker, names, &mut room)?;
    to.expand(walker, names, &mut room)?;
    let of = |side: &Side| side.found.iter().filter(|(_, f)| f.depth == 0).map(|(node, _)| node.0).collect::<Set<_>>();
    let mut open: Set<Tree> = of(&from).intersection(&of(&to)).copied().collect();
    // The trees whose distance is 0 (a is b), 1 (a is next to b), then by levels.
    open.retain(|&tree| {
        let hops = if a == b { 0 } else { 1 };
        let near = a == b || from.found.contains_key(&(tree, b));
        if near && hops <= most {
            paths.push(Paths { tree, hops, next: join(names, &from, &to, tree, &[b]) });
        }
        !near
    });
    loop {
        for side in [&mut from, &mut to] {
            side.frontier.retain(|node| open.contains(&node.0));
        }
        let hops = from.depth + to.depth;
        if open.is_empty() || hops > most {
            return Ok(paths);
        }
        open.retain(|&tree| {
            let met = met(&from, &to, tree);
            if !met.is_empty() {
                paths.push(Paths { tree, hops, next: join(names, &from, &to, tree, &met) });
            }
            met.is_empty()
        });
        if from.is_at_end() || to.is_at_end() {
            return Ok(paths);
        }
        let side = if from.frontier.len() <= to.frontier.len() { &mut from } else { &mut to };
        side.expand(walker, names, &mut room)?;
    }
}

/// The entities of a tree in the last levels of both.
fn met(a: &Side, b: &Side, tree: Tree) -> Vec<NameId> {
    let (short, long) = if a.frontier.len() <= b.frontier.len() { (a, b) } else { (b, a) };
    let in_long = |node: &&Node| node.0 == tree && long.found.get(node).is_some_and(|found| found.depth == long.depth);
    short.frontier.iter().filter(in_long).map(|node| node.1).collect()
}

/// The steps of all paths through the entities where two searches met.
fn join(names: &Names, from: &Side, to: &Side, tree: Tree, met: &[NameId]) -> Map<NameId, Vec<(NameId, u8)>> {
    let mut next: Map<NameId, Vec<(NameId, u8)>> = Map::default();
    for (side, forward) in [(from, true), (to, false)] {
        let mut seen: Set<NameId> = met.iter().copied().collect();
        let mut left: Vec<NameId> = met.to_vec();
        while let Some(name) = left.pop() {
            for (before, steps) in side.found.get(&(tree, name)).into_iter().flat_map(Found::before) {
                match forward {
                    true => next.entry(before).or_default().push((name, steps)),
                    false => next.entry(name).or_default().push((before, turned(steps))),
                }
                if seen.insert(before) {
                    left.push(before);
                }
            }
        }
    }
    for steps in next.values_mut() {
        steps.sort_unstable_by(|a, b| names.get(a.0).cmp(names.get(b.0)));
    }
    next
}

/// The same steps seen from their other end.
fn turned(steps: u8) -> u8 {
    (steps & UP) << 1 | (steps & DOWN) >> 1
}
