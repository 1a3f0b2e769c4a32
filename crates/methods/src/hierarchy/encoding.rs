//! An encoding tree of a network, and its entropy in bits. The entropy is computed by the definition, not from the
//! savings that the steps counted.

use super::preorder::{Children, preorder};
use super::{Network, bits};
use cftrag_core::{index, word};

/// An encoding tree. Leaves are 0 to n - 1, the network's nodes. The root is n; the other tree nodes follow in
/// preorder.
pub struct Encoding {
    leaves: u32,
    /// The root is its own parent.
    parent: Vec<u32>,
    volume: Vec<f64>,
    /// The weight of the edges with one end under a node.
    cut: Vec<f64>,
    /// For a tree node: its position among the tree nodes under the same parent, from 1.
    place: Vec<u32>,
    /// For a tree node: the leaf under it with the highest degree, the first of several.
    hub: Vec<u32>,
    members: Children,
}

impl Encoding {
    /// Makes the tree of `parent`, which has a tree node for each leaf (0 to n - 1) and tree node (from n); the entry
    /// of the last, the root, does not matter. Tree nodes without leaves are left out; those under one parent are
    /// ordered by volume, largest first, then by their smallest leaf. None if there is a cycle.
    ///
    /// # Panics
    /// If a parent is a leaf or no node.
    #[must_use]
    pub fn new(network: &Network, parent: &[u32]) -> Option<Encoding> {
        let leaves = index(network.nodes());
        let (parent, place) = preorder(network, parent)?;
        let mut volume: Vec<f64> = (0..network.nodes()).map(|leaf| network.degree(leaf)).collect();
        volume.resize(parent.len(), 0.0);
        let mut hub: Vec<u32> = (0..network.nodes()).collect();
        hub.resize(parent.len(), u32::MAX);
        let mut depth = vec![0_u32; parent.len()];
        for node in leaves + 1..parent.len() {
            depth[node] = depth[index(parent[node])] + 1;
        }
        for node in (0..leaves).chain((leaves + 1..parent.len()).rev()) {
            let above = index(parent[node]);
            volume[above] += volume[node];
            hub[above] = network.higher(hub[above], hub[node]);
            if node < leaves {
                depth[node] = depth[above] + 1;
            }
        }
        let mut cut = vec![0.0; parent.len()];
        for &(a, b, weight) in network.edges() {
            let (mut a, mut b) = (index(a), index(b));
            while a != b {
                if depth[a] < depth[b] {
                    (a, b) = (b, a);
                }
                cut[a] += weight;
                a = index(parent[a]);
            }
        }
        let members = Children::new(parent.len(), (0..network.nodes()).zip(parent.iter().copied()));
        Some(Encoding { leaves: network.nodes(), parent, volume, cut, place, hub, members })
    }

    #[must_use]
    pub fn root(&self) -> u32 {
        self.leaves
    }

    /// The root, and the tree nodes below it in preorder.
    #[must_use]
    pub fn tree_nodes(&self) -> std::ops::Range<u32> {
        self.leaves..word(self.parent.len())
    }

    #[must_use]
    pub fn parent(&self, node: u32) -> u32 {
        self.parent[index(node)]
    }

    /// The leaves directly under a tree node.
    #[must_use]
    pub fn members(&self, node: u32) -> &[u32] {
        self.members.of(node)
    }

    /// The position of a tree node among the tree nodes under the same parent, from 1.
    #[must_use]
    pub fn place(&self, node: u32) -> u32 {
        self.place[index(node)]
    }

    /// The leaf under a tree node that has the highest degree, the first of several.
    #[must_use]
    pub fn hub(&self, node: u32) -> u32 {
        self.hub[index(node)]
    }

    /// The term of a tree node or leaf in the definition, in bits. The root's is 0.
    #[must_use]
    pub fn bits(&self, node: u32) -> f64 {
        let (cut, volume) = (self.cut[index(node)], self.volume[index(node)]);
        let above = self.volume[index(self.parent(node))];
        let whole = self.volume[index(self.root())];
        if cut > 0.0 { cut / whole * bits(above, volume) } else { 0.0 }
    }

    /// The structural entropy of the tree.
    #[must_use]
    pub fn entropy(&self) -> f64 {
        (0..word(self.parent.len())).map(|node| self.bits(node)).sum()
    }
}
