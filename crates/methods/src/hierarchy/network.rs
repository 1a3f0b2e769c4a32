//! A weighted, undirected graph without self-edges and parallel edges.

use super::bits;
use cftrag_core::Interruptible;
use cftrag_core::{index, word};
use std::cmp::Ordering;

pub struct Network {
    /// Edges (a, b, weight) with a < b and weight > 0, sorted.
    edges: Vec<(u32, u32, f64)>,
    degrees: Vec<f64>,
    volume: f64,
}

impl Network {
    /// Makes a network of nodes 0 to `nodes` - 1. Weights are not negative; edges of weight 0 and self-edges are
    /// ignored. The order of `edges` does not change a bit of the result. `check_interrupts` is called now and then,
    /// and may stop the work by a panic.
    ///
    /// # Panics
    /// If an edge names another node.
    #[must_use]
    pub fn new(
        nodes: usize,
        mut edges: Vec<(u32, u32, f64)>,
        check_interrupts: &mut dyn FnMut(),
    ) -> Network {
        edges.retain(|&(a, b, weight)| a != b && weight > 0.0);
        for edge in &mut edges {
            *edge = (edge.0.min(edge.1), edge.0.max(edge.1), edge.2);
        }
        let order = |x: &(u32, u32, f64), y: &(u32, u32, f64)| {
            (x.0, x.1).cmp(&(y.0, y.1)).then(x.2.total_cmp(&y.2))
        };
        Interruptible::new(check_interrupts).sort_by(&mut edges, order);
        edges.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            if same {
                first.2 += later.2;
            }
            same
        });
        edges.shrink_to_fit();
        let mut degrees = vec![0.0; nodes];
        for &(a, b, weight) in &edges {
            degrees[index(a)] += weight;
            degrees[index(b)] += weight;
        }
        let volume = degrees.iter().sum();
        Network { edges, degrees, volume }
    }

    /// The sum of all degrees; infinite if the weights are too large to add up.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.volume
    }

    #[must_use]
    pub fn nodes(&self) -> u32 {
        word(self.degrees.len())
    }

    #[must_use]
    pub fn degree(&self, node: u32) -> f64 {
        self.degrees[index(node)]
    }

    /// The node with the higher degree; the first if the degrees are equal. `u32::MAX` stands for no node.
    pub(super) fn higher(&self, a: u32, b: u32) -> u32 {
        let degree = |node: u32| self.degrees.get(index(node)).copied().unwrap_or(-1.0);
        match degree(a).total_cmp(&degree(b)) {
            Ordering::Less => b,
            Ordering::Equal => a.min(b),
            Ordering::Greater => a,
        }
    }

    #[must_use]
    pub fn edges(&self) -> &[(u32, u32, f64)] {
        &self.edges
    }

    /// The entropy of the tree with all nodes under the root: the entropy of a step of a random walk.
    #[must_use]
    pub fn entropy(&self) -> f64 {
        (0..self.nodes()).map(|node| self.surprise(node)).sum()
    }

    /// The term of a node in [`Network::entropy`].
    #[must_use]
    pub fn surprise(&self, node: u32) -> f64 {
        let degree = self.degree(node);
        if degree > 0.0 { degree / self.volume * bits(self.volume, degree) } else { 0.0 }
    }
}
