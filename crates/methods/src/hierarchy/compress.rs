//! Step 2: removes tree nodes until the tree is low enough.
//!
//! Removing node v moves its children under its parent p. This costs `s(v) log2(vol(p) / vol(v))`, and s(p) becomes
//! s(p) + s(v). So costs only rise, and a cost in the heap is a lower bound. The cheapest nodes are removed until only
//! a few more levels are left than allowed ([`spare`]). Among the nodes left then, the best choice is found exactly:
//! bottom-up, for each nearest ancestor that might stay and each number of levels that might be left under it.

use super::bits;
use super::tree::Tree;
use cftrag_core::{index, word};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A tree node is removed if its cost in the heap is at least this share of its present cost; merge.rs has the reason.
const ENOUGH: f64 = 31.0 / 32.0;
/// Tree nodes taken from the heap between two checks for interrupts.
const BREATH: usize = 1 << 14;

/// Levels left for the exact choice beyond those allowed. A choice has one bit for each level above and each number of
/// levels left, and all bits must fit into a word.
const fn spare(height: usize) -> usize {
    let most = (64 / height).saturating_sub(height);
    if most < 8 { most } else { 8 }
}

/// Removes tree nodes until no leaf is deeper than `height`.
pub(super) fn compress(tree: &mut Tree, height: usize, check_interrupts: &mut dyn FnMut()) {
    let order = cheapest_first(tree, check_interrupts);
    // The number of nodes to remove until the tree is low enough: removing more never makes it higher.
    let (mut few, mut enough) = (0, order.len());
    while few < enough {
        let middle = few + (enough - few) / 2;
        if height_without(tree, &order[..middle]) > height + spare(height) {
            few = middle + 1;
        } else {
            enough = middle;
        }
        check_interrupts();
    }
    let mut stays = vec![true; tree.parent.len()];
    order[..enough].iter().for_each(|&gone| stays[index(gone)] = false);
    tree.keep(&stays);
    check_interrupts();
    if spare(height) > 0 {
        let stays = choose(tree, height);
        tree.keep(&stays);
        check_interrupts();
    }
}

/// A tree node, and a lower bound of the cost of removing it.
struct Cheap(f64, u32);

impl Ord for Cheap {
    /// The cheapest is the greatest, for a max-heap.
    fn cmp(&self, other: &Cheap) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Cheap {
    fn partial_cmp(&self, other: &Cheap) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cheap {
    fn eq(&self, other: &Cheap) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cheap {}

/// All tree nodes but the root, in the order in which they would be removed.
fn cheapest_first(tree: &Tree, check_interrupts: &mut dyn FnMut()) -> Vec<u32> {
    let mut between = tree.between.clone();
    let mut above = tree.parent.clone();
    let mut gone = vec![false; tree.parent.len()];
    let cost = |between: f64, above: u32, node: u32| {
        between * bits(tree.volume[index(above)], tree.volume[index(node)])
    };
    let mut cheap: BinaryHeap<Cheap> = (tree.leaves..tree.root())
        .map(|i| Cheap(cost(tree.between[i], tree.parent[i], word(i)), word(i)))
        .collect();
    let (mut order, mut looked) = (Vec::with_capacity(cheap.len()), 0);
    while let Some(Cheap(least, node)) = cheap.pop() {
        looked += 1;
        if looked % BREATH == 0 {
            check_interrupts();
        }
        let parent = staying(&mut above, &gone, node);
        let now = cost(between[index(node)], parent, node);
        if now * ENOUGH > least {
            cheap.push(Cheap(now, node));
            continue;
        }
        gone[index(node)] = true;
        between[index(parent)] += between[index(node)];
        order.push(node);
    }
    order
}

/// The nearest ancestor that was not removed. Shortens the path to it.
fn staying(above: &mut [u32], gone: &[bool], node: u32) -> u32 {
    let mut node = node;
    loop {
        let parent = above[index(node)];
        if !gone[index(parent)] {
            return parent;
        }
        let next = above[index(parent)];
        above[index(node)] = next;
        if !gone[index(next)] {
            return next;
        }
        node = next;
    }
}

/// The depth of the deepest leaf if the tree nodes in `gone` are removed.
fn height_without(tree: &Tree, gone: &[u32]) -> usize {
    let mut step = vec![1; tree.parent.len()];
    gone.iter().for_each(|&node| step[index(node)] = 0);
    let mut depth = vec![0; tree.parent.len()];
    for i in (0..tree.root()).rev() {
        depth[i] = depth[index(tree.parent[i])] + step[i];
    }
    depth[..tree.leaves].iter().copied().max().unwrap_or(0)
}

/// Chooses the tree nodes that stay, so that no leaf is deeper than `height` and the most is saved.
///
/// For each node v it computes the most that v and all nodes under it can save if the nearest ancestor that stays is at
/// depth a, and n tree nodes may stay on any path down from there. Either v is removed, and its s counts for that
/// ancestor, or v stays, and n - 1 may stay under it.
fn choose(tree: &Tree, height: usize) -> Vec<bool> {
    let (root, depth) = (tree.root(), tree.depths());
    let cell = |above: usize, left: usize| above * height + left;
    // For each node: the sums over its children.
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); root + 1];
    // For each node: the cells for which it stays.
    let mut choices = vec![0_u64; root + 1];
    for v in (tree.leaves..root).filter(|&v| tree.stays[v]) {
        let mut under = std::mem::take(&mut sums[v]);
        under.resize((depth[v] + 1) * height, 0.0);
        let mut best = vec![0.0; depth[v] * height];
        let own = tree.saved(tree.between[v], tree.volume[v]);
        let mut ancestor = v;
        for above in (0..depth[v]).rev() {
            ancestor = index(tree.parent[ancestor]);
            let lent = tree.saved(tree.between[v], tree.volume[ancestor]);
            for left in 0..height {
                let mut most = lent + under[cell(above, left)];
                if left > 0 && own + under[cell(depth[v], left - 1)] > most {
                    most = own + under[cell(depth[v], left - 1)];
                    choices[v] |= 1 << cell(above, left);
                }
                best[cell(above, left)] = most;
            }
        }
        let sum = &mut sums[index(tree.parent[v])];
        sum.resize(best.len(), 0.0);
        sum.iter_mut().zip(&best).for_each(|(sum, best)| *sum += best);
    }
    let mut stays = tree.stays.clone();
    // For each node: the depth of the nearest one that stays, itself or above, and how many may stay below.
    let mut place = vec![(0, height - 1); root + 1];
    for v in (tree.leaves..root).rev().filter(|&v| tree.stays[v]) {
        let (above, left) = place[index(tree.parent[v])];
        stays[v] = choices[v] >> cell(above, left) & 1 == 1;
        place[v] = if stays[v] { (depth[v], left - 1) } else { (above, left) };
    }
    stays
}
