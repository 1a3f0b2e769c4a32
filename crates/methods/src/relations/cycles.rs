//! Rule 3: chooses the edges to remove so that no cycle is left.

use super::{Graph, KNOT};
use cftrag_core::Interruptible;
use cftrag_core::{index, word};
use std::collections::VecDeque;

/// For each edge of the graph, whether it is removed.
pub(super) fn closing(graph: &Graph, work: &mut Interruptible<'_>) -> Vec<bool> {
    let component = graph.components(work);
    let levels = levels(graph, &component, work);
    let order = |node: u32| (levels[index(node)], node);
    // The edges that lead back, each with the number of its knot, in the order in which they are tried.
    let mut back: Vec<(u32, usize, u32, u32)> = Vec::new();
    let mut sizes = vec![0; graph.nodes()];
    for (n, (from, to)) in graph.edges().enumerate() {
        let knot = component[index(from)];
        if knot == component[index(to)] {
            sizes[index(knot)] += 1;
            if order(from) > order(to) {
                back.push((knot, n, from, to));
            }
        }
    }
    let key = |&(knot, _, from, to): &(u32, usize, u32, u32)| (knot, order(from), order(to));
    work.sort_by(&mut back, |a, b| key(a).cmp(&key(b)));
    let mut goes = vec![false; graph.len()];
    back.iter().for_each(|&(_, n, ..)| goes[n] = true);
    let mut seen = vec![0; graph.nodes()];
    for (round, &(knot, n, from, to)) in back.iter().enumerate() {
        if sizes[index(knot)] > KNOT {
            continue;
        }
        let leads = |n: usize, target: u32| !goes[n] && component[index(target)] == knot;
        goes[n] = reaches(graph, leads, to, from, (&mut seen, word(round + 1)), work);
    }
    goes
}

/// Whether a path of edges that `leads` lets pass leads from one node to the other. `seen` has marks of earlier
/// searches; `mark` is a new one.
fn reaches(
    graph: &Graph,
    leads: impl Fn(usize, u32) -> bool,
    from: u32,
    to: u32,
    (seen, mark): (&mut [u32], u32),
    work: &mut Interruptible<'_>,
) -> bool {
    let mut left = vec![from];
    seen[index(from)] = mark;
    while let Some(node) = left.pop() {
        if node == to {
            return true;
        }
        for n in graph.edges_of(node) {
            work.step();
            let target = graph.end(n);
            if seen[index(target)] != mark && leads(n, target) {
                seen[index(target)] = mark;
                left.push(target);
            }
        }
    }
    false
}

/// The distance of each node from the nearest root: a node to which no other leads, or the first node of a knot into
/// which no edge leads.
fn levels(graph: &Graph, component: &[u32], work: &mut Interruptible<'_>) -> Vec<u32> {
    let mut first = vec![u32::MAX; graph.nodes()];
    for node in (0..word(graph.nodes())).rev() {
        first[index(component[index(node)])] = node;
    }
    for (from, to) in graph.edges() {
        if component[index(from)] != component[index(to)] {
            first[index(component[index(to)])] = u32::MAX;
        }
    }
    let mut levels = vec![u32::MAX; graph.nodes()];
    let mut left: VecDeque<u32> = first.into_iter().filter(|&node| node != u32::MAX).collect();
    left.iter().for_each(|&root| levels[index(root)] = 0);
    while let Some(node) = left.pop_front() {
        for &to in graph.next(node) {
            work.step();
            if levels[index(to)] == u32::MAX {
                levels[index(to)] = levels[index(node)] + 1;
                left.push_back(to);
            }
        }
    }
    levels
}
