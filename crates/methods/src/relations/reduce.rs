//! Rule 4: the transitive reduction of a graph without cycles.
//!
//! An edge u -> v is redundant if u is above another parent of v. There are two ways to find redundant edges:
//!
//! - *Search*: goes from the parents of v upwards, but not beyond the height of the lowest of them (a node's height is
//!   the length of the longest path to it, so all nodes above it have less), nor where the labels (labels.rs) say that
//!   no parent can be above. In hierarchies this visits few nodes, mostly none.
//! - *Sweep*: for 512 children at a time, computes as 512 bits which of them each node leads to, from the leaves up.
//!   One sweep reads every edge at most once: n / 512 sweeps over m edges, whatever the graph.
//!
//! The search has a budget of steps; sweeps do the children that remain. So the worst case is some n * m / 512 steps of
//! 64 bytes, and memory of 64 bytes per node.

use super::Graph;
use super::labels::Labels;
use cftrag_core::Interruptible;
use cftrag_core::{index, word};

/// Steps of the search in all, which take half a second. In dense graphs more steps would cost more than sweeps do.
pub(super) const STEPS: usize = 20_000_000;
/// If a child has at most this many parents, each node of a search is compared with all of them.
const FEW: usize = 16;
/// The words and the bits of a node's bit set: a cache line.
const WORDS: usize = 8;
const BITS: usize = 64 * WORDS;

type Bits = [u64; WORDS];

/// For each edge, whether a longer path leads from its parent to its child. The edges are sorted and have no cycle.
pub(super) fn redundant(
    nodes: usize,
    edges: &[(u32, u32)],
    steps: usize,
    work: &mut Interruptible<'_>,
) -> Vec<bool> {
    let down = Graph::new(nodes, edges);
    let up = down.turned(work);
    let order = order(&down, &up, work);
    let mut redundant = vec![false; edges.len()];
    let mut search = Search::new(&down, &up, &order, steps, work);
    let mut left = Vec::new();
    for &child in order.iter().filter(|&&node| up.next(node).len() > 1) {
        match search.parents_above_others(child, work) {
            Some(above) => {
                above.iter().for_each(|&parent| redundant[edge(&down, parent, child)] = true)
            }
            None => left.push(child),
        }
    }
    // Children that are adjacent in the order have ancestors in common.
    let mut sweep = Sweep::new(&down, &up, &order);
    for children in left.chunks(BITS) {
        work.now();
        sweep.run(children, &mut redundant);
    }
    redundant
}

/// The number of an edge, which must exist.
fn edge(down: &Graph, parent: u32, child: u32) -> usize {
    let at = down.next(parent).partition_point(|&other| other < child);
    down.edges_of(parent).start + at
}

/// The nodes, every parent before its children.
fn order(down: &Graph, up: &Graph, work: &mut Interruptible<'_>) -> Vec<u32> {
    let mut missing: Vec<usize> = (0..word(down.nodes())).map(|node| up.next(node).len()).collect();
    let mut order: Vec<u32> =
        (0..word(down.nodes())).filter(|&node| missing[index(node)] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for &child in down.next(order[at]) {
            work.step();
            missing[index(child)] -= 1;
            if missing[index(child)] == 0 {
                order.push(child);
            }
        }
        at += 1;
    }
    assert_eq!(order.len(), down.nodes(), "the edges have no cycle");
    order
}

struct Search<'g> {
    up: &'g Graph,
    heights: Vec<u32>,
    labels: Labels,
    /// For each node, the child whose search saw it last.
    seen: Vec<u32>,
    steps: usize,
}

impl<'g> Search<'g> {
    fn new(
        down: &Graph,
        up: &'g Graph,
        order: &[u32],
        steps: usize,
        work: &mut Interruptible<'_>,
    ) -> Self {
        let mut heights = vec![0; down.nodes()];
        for &node in order {
            for &child in down.next(node) {
                work.step();
                heights[index(child)] = heights[index(child)].max(heights[index(node)] + 1);
            }
        }
        let labels = Labels::new(down, up, work);
        Search { up, heights, labels, seen: vec![u32::MAX; down.nodes()], steps }
    }

    /// The parents of a node that are above others of its parents; None if the steps are used up.
    fn parents_above_others(
        &mut self,
        child: u32,
        work: &mut Interruptible<'_>,
    ) -> Option<Vec<u32>> {
        let parents = self.up.next(child);
        let lowest = parents.iter().map(|&parent| self.heights[index(parent)]).min()?;
        // If there are many parents, the labels are not compared.
        let few = parents.len() <= FEW;
        let wanted = |this: &Self, node: u32| {
            this.heights[index(node)] > lowest
                && (!few || parents.iter().any(|&parent| this.labels.may_be_above(parent, node)))
        };
        let mut left: Vec<u32> = Vec::new();
        left.extend(parents.iter().copied().filter(|&parent| wanted(self, parent)));
        while let Some(node) = left.pop() {
            for &above in self.up.next(node) {
                self.steps = self.steps.checked_sub(1)?;
                work.step();
                if self.seen[index(above)] != child {
                    self.seen[index(above)] = child;
                    if wanted(self, above) {
                        left.push(above);
                    }
                }
            }
        }
        Some(parents.iter().copied().filter(|&parent| self.seen[index(parent)] == child).collect())
    }
}

struct Sweep<'g> {
    down: &'g Graph,
    up: &'g Graph,
    order: &'g [u32],
    /// Each node's place in the order.
    places: Vec<u32>,
    /// By position: the children of this round to which the node leads.
    leads: Vec<Bits>,
    /// By position: the bit of a child of this round.
    bits: Vec<u16>,
}

const NO_BIT: u16 = u16::MAX;

impl<'g> Sweep<'g> {
    fn new(down: &'g Graph, up: &'g Graph, order: &'g [u32]) -> Self {
        Sweep { down, up, order, places: Vec::new(), leads: Vec::new(), bits: Vec::new() }
    }

    /// Marks the redundant edges to up to 512 children, given in the order.
    fn run(&mut self, children: &[u32], redundant: &mut [bool]) {
        if self.places.is_empty() {
            self.places = vec![0; self.order.len()];
            (0..).zip(self.order).for_each(|(place, &node)| self.places[index(node)] = place);
            self.leads = vec![[0; WORDS]; self.order.len()];
            self.bits = vec![NO_BIT; self.order.len()];
        }
        let place = |node: u32| index(self.places[index(node)]);
        let Some(last) = children.last().map(|&child| place(child)) else { return };
        let parents = children.iter().flat_map(|&child| self.up.next(child));
        let Some(first) = parents.map(|&parent| place(parent)).min() else { return };
        (0..).zip(children).for_each(|(bit, &child)| self.bits[place(child)] = bit);
        for at in (first..=last).rev() {
            let node = self.order[at];
            let (mut indirect, mut direct) = ([0; WORDS], [0; WORDS]);
            for &child in self.down.next(node) {
                let child = index(self.places[index(child)]);
                if child <= last {
                    (0..WORDS).for_each(|i| indirect[i] |= self.leads[child][i]);
                    if self.bits[child] != NO_BIT {
                        let bit = usize::from(self.bits[child]);
                        direct[bit / 64] |= 1 << (bit % 64);
                    }
                }
            }
            if (0..WORDS).any(|i| indirect[i] & direct[i] != 0) {
                for n in self.down.edges_of(node) {
                    let bit = self.bits[index(self.places[index(self.down.end(n))])];
                    redundant[n] |=
                        bit != NO_BIT && indirect[usize::from(bit) / 64] >> (bit % 64) & 1 == 1;
                }
            }
            (0..WORDS).for_each(|i| self.leads[at][i] = indirect[i] | direct[i]);
        }
        children.iter().for_each(|&child| self.bits[index(self.places[index(child)])] = NO_BIT);
    }
}
