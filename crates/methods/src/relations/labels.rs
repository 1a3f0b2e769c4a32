//! Tells whether a node can be above another, from two pairs of numbers for each node: a "no" is certain.
//!
//! A depth-first walk numbers every node after all nodes below it. So the number of a node lies between the least
//! number below any node above it and the number of that node. (GRAIL: Yildirim, Chaoji, Zaki, VLDB 2010.) Two walks,
//! which take children in opposite orders, exclude most pairs that no path joins.

use super::Graph;
use cftrag_core::Interruptible;
use cftrag_core::{index, word};

/// For each walk and node: the least number below the node (itself included), and the node's own.
pub(super) struct Labels([Vec<(u32, u32)>; 2]);

impl Labels {
    /// The labels of a graph without cycles.
    pub(super) fn new(down: &Graph, up: &Graph, work: &mut Interruptible<'_>) -> Labels {
        Labels([false, true].map(|backwards| walk(down, up, backwards, work)))
    }

    /// Whether a path may lead from `above` to `below`. `false` is certain. A node is not above itself.
    pub(super) fn may_be_above(&self, above: u32, below: u32) -> bool {
        let holds = |of: &Vec<(u32, u32)>| {
            let (above, below) = (of[index(above)], of[index(below)]);
            above.0 <= below.0 && below.1 < above.1
        };
        self.0.iter().all(holds)
    }
}

fn walk(
    down: &Graph,
    up: &Graph,
    backwards: bool,
    work: &mut Interruptible<'_>,
) -> Vec<(u32, u32)> {
    const NONE: (u32, u32) = (u32::MAX, u32::MAX);
    let mut labels = vec![NONE; down.nodes()];
    let mut number = 0;
    // The path of the walk: each node with the next of its edges and the least number below it so far.
    let mut path: Vec<(u32, usize, u32)> = Vec::new();
    let nodes = word(down.nodes());
    for n in 0..nodes {
        let root = if backwards { nodes - 1 - n } else { n };
        if !up.next(root).is_empty() {
            continue;
        }
        path.push((root, 0, u32::MAX));
        while let Some(&mut (node, ref mut at, ref mut least)) = path.last_mut() {
            work.step();
            let next = down.next(node);
            if *at < next.len() {
                let child = next[if backwards { next.len() - 1 - *at } else { *at }];
                *at += 1;
                if labels[index(child)] == NONE {
                    path.push((child, 0, u32::MAX));
                } else {
                    *least = (*least).min(labels[index(child)].0);
                }
                continue;
            }
            let least = (*least).min(number);
            labels[index(node)] = (least, number);
            number += 1;
            path.pop();
            if let Some((.., of_parent)) = path.last_mut() {
                *of_parent = (*of_parent).min(least);
            }
        }
    }
    labels
}
