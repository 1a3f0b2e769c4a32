//! The order of the tree nodes of an encoding.

use super::Network;
use cftrag_core::{index, word};

/// The children of each node.
pub(super) struct Children {
    of: Vec<u32>,
    first: Vec<usize>,
}

impl Children {
    /// Takes pairs of a node and its parent, which is below `nodes`. Children keep the order of the pairs.
    pub fn new(nodes: usize, parent: impl Iterator<Item = (u32, u32)> + Clone) -> Children {
        let mut first = vec![0; nodes + 1];
        parent.clone().for_each(|(_, above)| first[index(above) + 1] += 1);
        (0..nodes).for_each(|i| first[i + 1] += first[i]);
        let (mut next, mut of) = (first.clone(), vec![0; first[nodes]]);
        for (node, above) in parent {
            of[next[index(above)]] = node;
            next[index(above)] += 1;
        }
        Children { of, first }
    }

    pub fn of(&self, node: u32) -> &[u32] {
        &self.of[self.first[index(node)]..self.first[index(node) + 1]]
    }
}

/// Renumbers the tree nodes: returns the new parents of leaves (0 to n - 1) and tree nodes. The root is n, the others
/// follow in preorder; those under one parent are ordered by volume, largest first, then by their smallest leaf. Also
/// returns the position of each tree node among those under its parent, from 1. Tree nodes without leaves are left out.
///
/// `parent` has a tree node for each leaf and tree node; the entry of the last, the root, does not matter. None if
/// there is a cycle.
pub(super) fn preorder(network: &Network, parent: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let (leaves, root) = (index(network.nodes()), parent.len() - 1);
    let children = Children::new(parent.len(), (0..).zip(parent[..root].iter().copied()));
    let mut order = vec![word(root)];
    let mut at = 0;
    while at < order.len() {
        order.extend(children.of(order[at]));
        at += 1;
    }
    if order.len() < parent.len() {
        return None;
    }
    let mut volume: Vec<f64> = (0..network.nodes()).map(|leaf| network.degree(leaf)).collect();
    volume.resize(parent.len(), 0.0);
    let mut least: Vec<u32> = (0..network.nodes()).collect();
    least.resize(parent.len(), u32::MAX);
    for node in order[1..].iter().rev().map(|&node| index(node)) {
        let above = index(parent[node]);
        volume[above] += volume[node];
        least[above] = least[above].min(least[node]);
    }
    let mut anew = vec![0; leaves];
    let mut places = vec![0; leaves];
    let mut left = vec![(root, 1, word(leaves))];
    while let Some((node, place, above)) = left.pop() {
        let number = word(anew.len());
        anew.push(above);
        places.push(place);
        let (leaf, mut under): (Vec<usize>, Vec<usize>) = children
            .of(word(node))
            .iter()
            .map(|&child| index(child))
            .partition(|&child| child < leaves);
        leaf.into_iter().for_each(|leaf| anew[leaf] = number);
        under.retain(|&child| least[child] < u32::MAX);
        under.sort_unstable_by(|&a, &b| {
            volume[b].total_cmp(&volume[a]).then(least[a].cmp(&least[b]))
        });
        let from = left.len();
        left.extend(under.into_iter().zip(1..).map(|(child, place)| (child, place, number)));
        left[from..].reverse();
    }
    Some((anew, places))
}
