//! A graph in two arrays: the children of all nodes, and where each node's children begin.

use cftrag_core::Interruptible;
use cftrag_core::{index, word};

/// Edges between nodes 0 to n - 1, sorted by their first node; the number of an edge is its position.
#[derive(Debug)]
pub struct Graph {
    /// Where each node's edges begin, and at last the number of edges.
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Graph {
    /// A graph of edges that are sorted by their first node.
    ///
    /// # Panics
    /// If the edges are not sorted, or one names a node that does not exist.
    #[must_use]
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        assert!(
            edges.is_sorted_by_key(|edge| edge.0),
            "edges come in the order of their first node"
        );
        assert!(
            edges.iter().all(|edge| index(edge.0.max(edge.1)) < nodes),
            "edges join nodes of the graph"
        );
        let mut starts = vec![0; nodes + 1];
        for edge in edges {
            starts[index(edge.0) + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        Graph { starts, ends: edges.iter().map(|edge| edge.1).collect() }
    }

    /// The graph with each edge reversed.
    #[must_use]
    pub fn turned(&self, work: &mut Interruptible<'_>) -> Graph {
        let mut edges: Vec<(u32, u32)> = self.edges().map(|(from, to)| (to, from)).collect();
        work.sort_by(&mut edges, Ord::cmp);
        Graph::new(self.nodes(), &edges)
    }

    #[must_use]
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The numbers of a node's edges.
    #[must_use]
    pub fn edges_of(&self, node: u32) -> std::ops::Range<usize> {
        index(self.starts[index(node)])..index(self.starts[index(node) + 1])
    }

    /// The nodes to which a node's edges lead.
    #[must_use]
    pub fn next(&self, node: u32) -> &[u32] {
        &self.ends[self.edges_of(node)]
    }

    /// The node to which an edge leads.
    #[must_use]
    pub fn end(&self, edge: usize) -> u32 {
        self.ends[edge]
    }

    /// All edges, in the order of their numbers.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..word(self.nodes())).flat_map(|from| self.next(from).iter().map(move |&to| (from, to)))
    }

    /// The strongly connected component of each node: two nodes are in one component if each leads to the other. No
    /// edge leads from a component to one with a higher number. (Tarjan's algorithm, without recursion.)
    #[must_use]
    pub fn components(&self, work: &mut Interruptible<'_>) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let n = self.nodes();
        let (mut component, mut low, mut place) = (vec![NONE; n], vec![0; n], vec![NONE; n]);
        let (mut stack, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let (mut places, mut components) = (0, 0);
        for root in 0..word(n) {
            if place[index(root)] != NONE {
                continue;
            }
            path.push((root, self.edges_of(root).start));
            while let Some(&mut (node, ref mut edge)) = path.last_mut() {
                work.step();
                let at = index(node);
                if place[at] == NONE {
                    (place[at], low[at]) = (places, places);
                    places += 1;
                    stack.push(node);
                }
                if *edge < self.edges_of(node).end {
                    let to = self.ends[*edge];
                    *edge += 1;
                    if place[index(to)] == NONE {
                        path.push((to, self.edges_of(to).start));
                    } else if component[index(to)] == NONE {
                        low[at] = low[at].min(place[index(to)]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(before, _)) = path.last() {
                    low[index(before)] = low[index(before)].min(low[at]);
                }
                if low[at] == place[at] {
                    while let Some(of) = stack.pop() {
                        component[index(of)] = components;
                        if of == node {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
        component
    }
}
