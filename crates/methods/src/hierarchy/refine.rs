//! Step 3: moves leaves to where their neighbours are, while that saves.
//!
//! If v of degree d moves from tree node A to tree node B, then for the nodes from A up to the lowest node C above
//! both, volumes fall by d and s loses the edges of v; for those from B up to C the reverse holds; and s(C) changes by
//! the difference of the two sides. Nothing else changes.

use super::Network;
use super::tree::Tree;
use cftrag_core::{index, word};

/// The most rounds over all leaves.
const ROUNDS: usize = 10;
/// Leaves tried between two checks for interrupts.
const BREATH: usize = 1 << 12;
/// The least that a move must save, relative to the volume. Smaller savings may be rounding, and moves might never end.
const LEAST: f64 = 1e-12;

struct Moves<'a> {
    tree: &'a mut Tree,
    depth: Vec<usize>,
    /// For the current leaf: the weight of its edges to leaves under each tree node.
    under: Vec<f64>,
    /// The tree nodes for which this weight is not 0.
    near: Vec<u32>,
}

/// The edges of each node.
struct Adjacency {
    ends: Vec<(u32, f64)>,
    first: Vec<usize>,
}

impl Adjacency {
    fn of(network: &Network) -> Adjacency {
        let mut first = vec![0; index(network.nodes()) + 1];
        for &(a, b, _) in network.edges() {
            first[index(a) + 1] += 1;
            first[index(b) + 1] += 1;
        }
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let (mut next, mut ends) = (first.clone(), vec![(0, 0.0); 2 * network.edges().len()]);
        for &(a, b, weight) in network.edges() {
            for (from, to) in [(a, b), (b, a)] {
                ends[next[index(from)]] = (to, weight);
                next[index(from)] += 1;
            }
        }
        Adjacency { ends, first }
    }

    fn of_node(&self, node: usize) -> &[(u32, f64)] {
        &self.ends[self.first[node]..self.first[node + 1]]
    }
}

pub(super) fn refine(tree: &mut Tree, network: &Network, check_interrupts: &mut dyn FnMut()) {
    let adjacency = Adjacency::of(network);
    let (depth, under) = (tree.depths(), vec![0.0; tree.parent.len()]);
    let mut moves = Moves { tree, depth, under, near: Vec::new() };
    for _ in 0..ROUNDS {
        let mut moved = 0;
        for leaf in 0..moves.tree.leaves {
            if leaf % BREATH == 0 {
                check_interrupts();
            }
            moved += usize::from(moves.look(leaf, adjacency.of_node(leaf)));
        }
        if moved == 0 {
            break;
        }
    }
    tree.tidy();
}

impl Moves<'_> {
    /// Moves the leaf to where it saves most; returns whether it moved.
    fn look(&mut self, leaf: usize, edges: &[(u32, f64)]) -> bool {
        for &(to, weight) in edges {
            let mut node = self.tree.parent[index(to)];
            loop {
                if self.under[index(node)] == 0.0 {
                    self.near.push(node);
                }
                self.under[index(node)] += weight;
                let above = self.tree.parent[index(node)];
                if above == node {
                    break;
                }
                node = above;
            }
        }
        let mut near = std::mem::take(&mut self.near);
        let from = index(self.tree.parent[leaf]);
        let mut best = (LEAST * self.tree.volume[self.tree.root()], from);
        for &to in &near {
            let saves = self.climb(leaf, index(to), |_, _, _| {});
            if saves > best.0 || (saves == best.0 && index(to) < best.1) {
                best = (saves, index(to));
            }
        }
        if best.1 != from {
            let mut changes = Vec::new();
            self.climb(leaf, best.1, |node, volume, between| changes.push((node, volume, between)));
            for (node, volume, between) in changes {
                self.tree.volume[node] += volume;
                self.tree.between[node] += between;
            }
            self.tree.parent[leaf] = word(best.1);
        }
        near.drain(..).for_each(|node| self.under[index(node)] = 0.0);
        self.near = near;
        best.1 != from
    }

    /// What moving the leaf saves, times the volume. Calls `change` with the change of volume and of s of each node.
    fn climb(&self, leaf: usize, to: usize, mut change: impl FnMut(usize, f64, f64)) -> f64 {
        let (tree, degree) = (&*self.tree, self.tree.volume[leaf]);
        let (mut a, mut b) = (index(tree.parent[leaf]), to);
        let (mut left, mut found, mut saves) = (0.0, 0.0, 0.0);
        while a != b {
            let leaves = self.depth[a] >= self.depth[b];
            let (node, side, sign) =
                if leaves { (&mut a, &mut left, -1.0) } else { (&mut b, &mut found, 1.0) };
            let between = sign * 2.0 * (self.under[*node] - *side);
            *side = self.under[*node];
            change(*node, sign * degree, between);
            saves += tree.saved(tree.between[*node] + between, tree.volume[*node] + sign * degree)
                - tree.saved(tree.between[*node], tree.volume[*node]);
            *node = index(tree.parent[*node]);
        }
        let between = 2.0 * (left - found);
        change(a, 0.0, between);
        saves + tree.saved(between, tree.volume[a])
    }
}
