//! A tree over the nodes of a network, during construction: the parent of each node, and what each node saves.

use super::bits;
use cftrag_core::{index, word};

/// The tree. Leaves are 0 to `leaves` - 1, tree nodes follow, the root is the last. A parent comes after its children.
pub(super) struct Tree {
    pub leaves: usize,
    /// The nearest tree node above that stays; the root is its own parent.
    pub parent: Vec<u32>,
    pub stays: Vec<bool>,
    pub volume: Vec<f64>,
    /// Twice the weight of the edges between a node's children.
    pub between: Vec<f64>,
}

impl Tree {
    pub fn root(&self) -> usize {
        self.parent.len() - 1
    }

    pub fn add(&mut self, children: &[u32], volume: f64, between: f64) -> u32 {
        let new = word(self.parent.len());
        children.iter().for_each(|&child| self.parent[index(child)] = new);
        self.parent.push(new);
        self.stays.push(true);
        self.volume.push(volume);
        self.between.push(between);
        new
    }

    /// What a node with this s and volume saves, times the volume of the root.
    pub fn saved(&self, between: f64, volume: f64) -> f64 {
        let whole = self.volume[self.root()];
        // A node without leaves has volume 0, or a small volume from rounding.
        if volume > 0.0 { between * bits(whole, volume) } else { 0.0 }
    }

    /// Removes the tree nodes that do not stay.
    pub fn keep(&mut self, stays: &[bool]) {
        for i in (0..self.root()).rev() {
            let parent = index(self.parent[i]);
            if !stays[parent] {
                self.parent[i] = self.parent[parent];
            }
        }
        let goes = |&i: &usize| self.stays[i] && !stays[i];
        for i in (self.leaves..self.root()).filter(goes) {
            let parent = index(self.parent[i]);
            self.between[parent] += self.between[i];
        }
        self.stays.copy_from_slice(stays);
    }

    /// The depth of each node that stays.
    pub fn depths(&self) -> Vec<usize> {
        let mut depth = vec![0; self.parent.len()];
        for i in (0..self.root()).rev() {
            depth[i] = depth[index(self.parent[i])] + 1;
        }
        depth
    }

    /// Removes tree nodes that have fewer than two children after leaves moved away.
    pub fn tidy(&mut self) {
        let mut stays = self.stays.clone();
        let (root, mut children) = (self.root(), vec![0_usize; self.parent.len()]);
        for i in (0..root).filter(|&i| self.stays[i]) {
            stays[i] = i < self.leaves || children[i] > 1;
            // A node with a single child is replaced by that child.
            children[index(self.parent[i])] += usize::from(stays[i] || children[i] == 1);
        }
        if children[root] == 1 {
            // All nodes are under one tree node, so the root takes its place.
            let is_top = |&i: &usize| stays[i] && self.staying(&stays, i) == root;
            let only = (self.leaves..root).rev().find(is_top);
            only.into_iter().for_each(|i| stays[i] = false);
        }
        self.keep(&stays);
    }

    fn staying(&self, stays: &[bool], node: usize) -> usize {
        let mut above = index(self.parent[node]);
        while above != self.root() && !stays[above] {
            above = index(self.parent[above]);
        }
        above
    }
}
