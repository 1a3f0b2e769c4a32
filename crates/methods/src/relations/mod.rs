//! Filters raw relations to a forest of clean trees: no self-edge, no duplicate, no cycle, no edge that a
//! longer path implies.
//!
//! The rules of CFT-RAG 2.3, made precise, in this order:
//!
//! 1. An edge from an entity to itself is removed.
//! 2. Of several equal edges one stays.
//! 3. Of the edges of a cycle, those closest to the roots stay. An entity's *level* is its distance from the nearest
//!    root; entities are ordered by level, then by number. The edges of a *knot* (a strongly connected component) that
//!    lead to a later entity stay. Those that lead back are tried in the order of their parent, then of their child;
//!    one stays only if it closes no cycle with the edges kept so far. In a knot of more than [`KNOT`] edges all that
//!    lead back are removed. A knot into which no edge leads has no root, so its first entity counts as one.
//! 4. An edge is removed if the edges left by rule 3 lead from its parent to its child on a longer path. For a graph
//!    without cycles this *transitive reduction* is unique.
//!
//! Linear except for rules 3 (in knots) and 4 (reduce.rs has the costs).

mod cycles;
mod graph;
mod labels;
mod reduce;

use cftrag_core::Interruptible;
pub use graph::Graph;

/// Edges of the largest knot in which each edge that leads back is tried. So rule 3 costs at most a thousand steps per
/// edge.
pub const KNOT: usize = 1000;

/// Whether an edge is kept, or the reason why not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    Kept,
    SelfEdge,
    Duplicate,
    Cycle,
    Transitive,
}

/// The verdict on each edge (parent, child) between nodes 0 to `nodes` - 1. The caller gives nodes of different
/// trees different numbers.
///
/// # Panics
/// If an edge names another node.
pub fn filter(nodes: usize, edges: &[(u32, u32)], work: &mut Interruptible<'_>) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::SelfEdge; edges.len()];
    let mut order: Vec<usize> = (0..edges.len()).filter(|&i| edges[i].0 != edges[i].1).collect();
    work.sort_by(&mut order, |&a, &b| (edges[a], a).cmp(&(edges[b], b)));
    // The first of each group of equal edges, in order; its index is the number of that edge in the graph.
    let mut firsts: Vec<usize> = Vec::with_capacity(order.len());
    for i in order {
        if firsts.last().is_some_and(|&first| edges[first] == edges[i]) {
            verdicts[i] = Verdict::Duplicate;
        } else {
            verdicts[i] = Verdict::Kept;
            firsts.push(i);
        }
    }
    let unique: Vec<(u32, u32)> = firsts.iter().map(|&i| edges[i]).collect();
    let on_cycle = cycles::closing(&Graph::new(nodes, &unique), work);
    let mut left: Vec<usize> = Vec::with_capacity(unique.len());
    for (n, &closes) in on_cycle.iter().enumerate() {
        if closes {
            verdicts[firsts[n]] = Verdict::Cycle;
        } else {
            left.push(n);
        }
    }
    let acyclic: Vec<(u32, u32)> = left.iter().map(|&n| unique[n]).collect();
    for (n, redundant) in
        reduce::redundant(nodes, &acyclic, reduce::STEPS, work).into_iter().enumerate()
    {
        if redundant {
            verdicts[firsts[left[n]]] = Verdict::Transitive;
        }
    }
    verdicts
}

#[cfg(test)]
mod tests;
