//! A tree over the nodes of a network while it is made: who is above whom, and what each saves.

use super::bits;
use cftrag_core::{index, word};

/// Leaves are 0 to `leaves` - 1, tree nodes follow, the root is the last. No node has a parent
/// before it.
pub(super) struct Tree {
    pub leaves: usize,
    /// The nearest tree node above that stays; the root's is itself.
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

    /// What a node of that s and volume saves, times the volume of the root.
    pub fn saved(&self, between: f64, volume: f64) -> f64 {
        let whole = self.volume[self.root()];
        // A node without leaves has none, or what rounding left.
        if volume > 0.0 { between * bits(whole, volume) } else { 0.0 }
    }

    /// Takes out what does not stay.
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

    /// Takes out tree nodes with less than two children: what leaves have left.
    pub fn tidy(&mut self) {
        let mut stays = self.stays.clone();
        let (root, mut children) = (self.root(), vec![0_usize; self.parent.len()]);
        for i in (0..root).filter(|&i| self.stays[i]) {
            stays[i] = i < self.leaves || children[i] > 1;
            // A single child stands for its parent.
            children[index(self.parent[i])] += usize::from(stays[i] || children[i] == 1);
        }
        if children[root] == 1 {
            // All is under one tree node: that is the root.
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
