//! Reads what cft_tree draws: an entity in its trees, with every edge on a way of at most `up` steps upwards or `down`
//! steps downwards.
//!
//! The search goes level by level, the ancestors first. What would have no line is not searched further, so a picture
//! of a place with millions below it reads little more than the lines that it has and what is next to them. Siblings
//! are in the order of cft_context_text.

use crate::call::work_memory::{Bytes, Room, list};
use crate::error::Fallible;
use crate::methods::breadth_first::{DOWN, UP, push};
use crate::methods::graph::{Graph, Marks, NONE};
use crate::methods::walker::Walker;
use crate::pg::backend::is_utf8;
use crate::pg::interrupt::{check_interrupts, look_up};
use crate::serve::labels::Labels;
use crate::serve::siblings;
use crate::serve::sink::Sibling;
use cftrag_core::Interruptible;
use cftrag_methods::{Node, PER_EDGE, PER_NODE, Picture, PictureFormat};
use std::cell::Cell;

/// How much a picture shows.
#[derive(Clone, Copy)]
pub struct Extent {
    pub up: u32,
    pub down: u32,
    /// The most lines.
    pub lines: usize,
}

/// Draws an entity's place in the walker's trees; None if it is in none of them. Errors: those of cft_context; 53400,
/// 53200 (memory).
pub fn draw(walker: &Walker, entity: &[u8], extent: Extent, format: PictureFormat) -> Fallible<Option<Bytes>> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut scene = Scene::of(walker, entity, extent, work)?;
    if scene.shown.is_empty() {
        return Ok(None);
    }
    scene.climb(work)?;
    scene.descend(work)?;
    let edges = scene.edges(work)?;
    let names = scene.names()?;
    let labels = Labels::of(&walker.of, &names)?;
    let mut picture = scene.picture(&edges, &names, &labels, work)?;
    picture.fit(extent.lines, work);
    let (mut drawn, done) = (Bytes::default(), Cell::new(0));
    picture.write(format, is_utf8(), work, &mut |bytes| {
        look_up(&done, bytes.len());
        drawn.room(bytes.len())?;
        drawn.0.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(Some(drawn))
}

struct Scene<'w> {
    graph: Graph<'w>,
    extent: Extent,
    /// The nodes that have lines, those of the entity first, and the place of each.
    shown: Vec<u32>,
    place: Marks,
    /// How many trees the picture has, the place of a node's tree among them, and how many have no room.
    trees: usize,
    tree: Marks,
    more_trees: usize,
    /// Levels above and below the entity.
    height: Marks,
    depth: Marks,
}

/// A child below a parent; below NONE it is an ancestor, whose place below others does not count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    /// Pairs stand in this order.
    rank: u32,
    parent: u32,
    child: u32,
    /// The child's position.
    position: i64,
}

/// The edges between shown nodes, in order, and how many others each shown node has.
struct Edges {
    pairs: Vec<Pair>,
    more: Vec<usize>,
    more_above: Vec<usize>,
}

impl<'w> Scene<'w> {
    fn of(walker: &'w Walker, entity: &[u8], extent: Extent, work: &mut Interruptible<'_>) -> Fallible<Self> {
        let graph = Graph::around(walker, &[entity])?;
        let mut starts = graph.first_nodes(1, work)?;
        let tree = |id: u32| graph.node(id).0.map(|tree| graph.names.get(tree));
        work.sort_with(&mut starts, |a, b, work| work.compare_some(tree(*a), tree(*b)));
        let more_trees = starts.len().saturating_sub(extent.lines);
        starts.truncate(extent.lines);
        let mut scene = Self {
            graph,
            extent,
            shown: Vec::new(),
            place: Marks::default(),
            trees: starts.len(),
            tree: Marks::default(),
            more_trees,
            height: Marks::default(),
            depth: Marks::default(),
        };
        for (at, &id) in (0..).zip(&starts) {
            scene.tree.set(id, at)?;
            scene.height.set(id, 0)?;
            scene.depth.set(id, 0)?;
            scene.show(id)?;
        }
        Ok(scene)
    }

    /// Shows a node, if it is or there is room for it; whether it is shown.
    fn show(&mut self, id: u32) -> Fallible<bool> {
        if self.place.get(id) != NONE {
            return Ok(true);
        }
        if self.shown.len() == self.extent.lines {
            return Ok(false);
        }
        self.place.set(id, self.shown.len() as u32)?;
        push(&mut self.shown, id)?;
        Ok(true)
    }

    fn climb(&mut self, work: &mut Interruptible<'_>) -> Fallible<()> {
        let mut level = list(self.trees, &mut Room::new())?;
        level.extend_from_slice(&self.shown);
        for height in 1..=self.extent.up {
            if level.is_empty() {
                break;
            }
            self.graph.ask(level.iter().copied(), UP)?;
            let mut pairs = Vec::new();
            for id in level.drain(..) {
                let rank = self.tree.get(id);
                for parent in self.graph.next(id, UP) {
                    work.step();
                    if self.height.get(parent) == NONE {
                        self.height.set(parent, height)?;
                        self.tree.set(parent, rank)?;
                        push(&mut pairs, Pair { rank, parent: NONE, child: parent, position: 0 })?;
                    }
                }
            }
            self.put_in_order(&mut pairs, work)?;
            for pair in pairs {
                if self.show(pair.child)? {
                    push(&mut level, pair.child)?;
                }
            }
        }
        Ok(())
    }

    fn descend(&mut self, work: &mut Interruptible<'_>) -> Fallible<()> {
        let mut level = list(self.trees, &mut Room::new())?;
        level.extend_from_slice(&self.shown[..self.trees]);
        for depth in 1..=self.extent.down {
            if level.is_empty() {
                break;
            }
            self.graph.ask(level.iter().copied(), DOWN)?;
            let mut pairs = Vec::new();
            for (rank, id) in (0..).zip(level.drain(..)) {
                let tree = self.tree.get(id);
                for child in self.graph.next(id, DOWN) {
                    work.step();
                    if self.depth.get(child) == NONE {
                        self.tree.set(child, tree)?;
                        push(&mut pairs, Pair { rank, parent: id, child, position: 0 })?;
                    }
                }
            }
            self.put_in_order(&mut pairs, work)?;
            for pair in pairs {
                // Of several parents the first counts.
                if self.depth.get(pair.child) == NONE {
                    self.depth.set(pair.child, depth)?;
                    if self.show(pair.child)? {
                        push(&mut level, pair.child)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sorts different pairs by rank, the child's position below the parent, and its name.
    fn put_in_order(&mut self, pairs: &mut [Pair], work: &mut Interruptible<'_>) -> Fallible<()> {
        self.graph.room.take(2 * size_of_val(pairs))?;
        let graph = &self.graph;
        let of = &graph.walker.of;
        if of.registration.names.position.is_some() {
            let mut siblings = list(pairs.len(), &mut Room::new())?;
            siblings.extend(pairs.iter().map(|pair| Sibling {
                name: graph.name(pair.child),
                tree: graph.node(pair.child).0.map(|tree| graph.names.get(tree)),
                parent: if pair.parent == NONE { None } else { Some(graph.name(pair.parent)) },
            }));
            for (pair, position) in pairs.iter_mut().zip(siblings::places(of, &siblings)?.unwrap_or_default()) {
                pair.position = position;
            }
        }
        work.sort_with(pairs, |a, b, work| {
            let names = |work: &mut Interruptible<'_>| work.compare(graph.name(a.child), graph.name(b.child));
            (a.rank, a.position).cmp(&(b.rank, b.position)).then_with(|| names(work))
        });
        Ok(())
    }

    /// All edges on ways from the entity, in order of the parents' and the children's places.
    fn edges(&mut self, work: &mut Interruptible<'_>) -> Fallible<Edges> {
        let zeros = || -> Fallible<Vec<usize>> {
            let mut zeros = list(self.shown.len(), &mut Room::new())?;
            zeros.resize(self.shown.len(), 0);
            Ok(zeros)
        };
        let (mut pairs, mut more, mut more_above) = (Vec::new(), zeros()?, zeros()?);
        let pair = |parent: u32, child: u32| Pair { rank: self.place.get(parent), parent, child, position: 0 };
        for (at, &id) in self.shown.iter().enumerate() {
            // No depth is NONE, which is above all.
            let (goes_up, goes_down) = (self.height.get(id) < self.extent.up, self.depth.get(id) < self.extent.down);
            for parent in self.graph.next(id, UP).filter(|_| goes_up) {
                work.step();
                match self.place.get(parent) {
                    NONE => more_above[at] += 1,
                    _ => push(&mut pairs, pair(parent, id))?,
                }
            }
            for child in self.graph.next(id, DOWN).filter(|_| goes_down) {
                work.step();
                match self.place.get(child) {
                    NONE => more[at] += 1,
                    _ => push(&mut pairs, pair(id, child))?,
                }
            }
        }
        // In a cycle an edge is found from both ends.
        work.sort_by(&mut pairs, Ord::cmp);
        pairs.dedup();
        self.put_in_order(&mut pairs, work)?;
        Ok(Edges { pairs, more, more_above })
    }

    fn names(&self) -> Fallible<Vec<&[u8]>> {
        let mut names = list(self.shown.len(), &mut Room::new())?;
        names.extend(self.shown.iter().map(|&id| self.graph.name(id)));
        Ok(names)
    }

    fn picture<'s>(
        &'s self,
        edges: &Edges,
        names: &[&'s [u8]],
        labels: &'s Labels,
        work: &mut Interruptible<'_>,
    ) -> Fallible<Picture<'s>> {
        let room = &mut Room::new();
        room.take(edges.pairs.len() * PER_EDGE)?;
        let mut nodes: Vec<Node<'s>> = list(names.len(), &mut Room::new())?;
        for (at, (&id, &name)) in self.shown.iter().zip(names).enumerate() {
            let label = labels.get(at);
            room.take(PER_NODE + 2 * (name.len() + label.map_or(0, <[u8]>::len)))?;
            nodes.push(Node {
                tree: self.tree.get(id) as usize,
                id: name,
                label,
                height: Some(self.height.get(id)).filter(|height| *height != NONE),
                children: Vec::new(),
                more: edges.more[at],
                more_above: edges.more_above[at],
            });
        }
        for pair in &edges.pairs {
            work.step();
            nodes[pair.rank as usize].children.push(self.place.get(pair.child) as usize);
        }
        let mut trees = list(self.trees, &mut Room::new())?;
        let tree = |&id: &u32| self.graph.node(id).0.map(|tree| self.graph.names.get(tree));
        trees.extend(self.shown[..self.trees].iter().map(tree));
        Ok(Picture { entity: names[0], trees, nodes, more_trees: self.more_trees })
    }
}
