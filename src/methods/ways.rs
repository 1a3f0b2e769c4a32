//! The way from the top of a tree to each entity, for many entities together: what cft_path_prefix finds one by one
//! (prefix.rs).
//!
//! The top is the nearest ancestor that has no parent; ties go to the smallest by bytes. The way is the shortest; ties
//! go to the one whose names are the smallest from the top down. So the way to an entity is the way to one of its
//! parents and one step more, and one search down from all tops finds all ways, level by level, each level in the order
//! of its ways. In a cycle without a top above it, an entity's way begins at the farthest ancestor, which is another
//! one for each entity.

use crate::error::Fallible;
use crate::methods::breadth_first::{UP, push};
use crate::methods::graph::{Above, Graph, Marks, NONE};
use cftrag_core::Interruptible;
use std::cmp::Reverse;

/// For each node, the node before it on its way; for a top, the top itself.
pub struct Ways(Marks);

impl Ways {
    /// The ways to these nodes and to all that is above them; the graph learns all of it. 53400, 53200.
    pub fn to(graph: &mut Graph<'_>, nodes: impl Iterator<Item = u32>, work: &mut Interruptible<'_>) -> Fallible<Self> {
        let above = all_above(graph, nodes, NONE, work)?;
        let (mut children, mut last) = (Vec::new(), Marks::default());
        let mut level = Vec::new();
        for &id in &above {
            let mut is_top = true;
            for parent in graph.next(id, UP) {
                work.step();
                is_top = false;
                push(&mut children, (id, last.get(parent)))?;
                last.set(parent, children.len() as u32 - 1)?;
            }
            if is_top {
                push(&mut level, id)?;
            }
        }
        let mut from = Marks::default();
        level.iter().try_for_each(|&top| from.set(top, top))?;
        work.sort_with(&mut level, |a, b, work| work.compare(graph.name(*a), graph.name(*b)));
        while !level.is_empty() {
            let mut next = Vec::new();
            for id in level {
                let first = next.len();
                let of = |at: u32| children.get(at as usize).copied();
                for (child, _) in std::iter::successors(of(last.get(id)), |one| of(one.1)) {
                    work.step();
                    if from.get(child) == NONE {
                        from.set(child, id)?;
                        push(&mut next, child)?;
                    }
                }
                work.sort_with(&mut next[first..], |a, b, work| work.compare(graph.name(*a), graph.name(*b)));
            }
            level = next;
        }
        Ok(Self(from))
    }

    /// The node before this one on its way; None for a top, and where no top is above.
    pub fn before(&self, id: u32) -> Option<u32> {
        Some(self.0.get(id)).filter(|from| *from != NONE && *from != id)
    }

    pub fn has_top(&self, id: u32) -> bool {
        self.0.get(id) != NONE
    }

    /// The whole way to a node, from its top.
    pub fn way_to(&self, graph: &Graph<'_>, id: u32, work: &mut Interruptible<'_>) -> Fallible<Vec<u32>> {
        if !self.has_top(id) {
            return way_in_a_cycle(graph, id, work);
        }
        let mut way = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at {
            work.step();
            push(&mut way, id)?;
            at = self.before(id);
        }
        way.reverse();
        Ok(way)
    }
}

/// The way to a node without a top above it: from the farthest ancestor; ties go to the smallest by bytes.
pub fn way_in_a_cycle(graph: &Graph<'_>, id: u32, work: &mut Interruptible<'_>) -> Fallible<Vec<u32>> {
    let mut above = Above::default();
    above.search(graph, id, NONE, work)?;
    let farthest = above.list.iter().min_by_key(|of| (Reverse(of.depth), graph.name(of.id)));
    let first = farthest.map_or(id, |of| of.id);
    Ok(std::iter::once(first).chain(above.way_from(first)).collect())
}

/// These nodes and all above them within `levels` levels; the graph learns all of it. 53400, 53200.
pub fn all_above(
    graph: &mut Graph<'_>,
    nodes: impl Iterator<Item = u32>,
    levels: u32,
    work: &mut Interruptible<'_>,
) -> Fallible<Vec<u32>> {
    let (mut found, mut seen, mut done) = (Vec::new(), Marks::default(), 0);
    for id in nodes {
        note(id, &mut seen, &mut found)?;
    }
    for _ in 0..levels {
        let level = done..found.len();
        if level.is_empty() {
            break;
        }
        done = level.end;
        graph.ask(found[level.clone()].iter().copied(), UP)?;
        for at in level {
            for parent in graph.next(found[at], UP) {
                work.step();
                note(parent, &mut seen, &mut found)?;
            }
        }
    }
    Ok(found)
}

fn note(id: u32, seen: &mut Marks, found: &mut Vec<u32>) -> Fallible<()> {
    if seen.get(id) == NONE {
        seen.set(id, 0)?;
        push(found, id)?;
    }
    Ok(())
}
