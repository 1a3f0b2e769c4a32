//! A picture of a place in a hierarchy: an entity, what is above it and what is below it, as lines that a writer
//! (drawing.rs) puts into a format.
//!
//! Each line is an entity under one of its parents. An entity with several parents has a line under each of them, and
//! its children stand under the first of these lines only, so there are no more lines than edges and tops, and a cycle
//! ends where it comes back to a line above. The caller counts the memory: a node and an edge take [`PER_NODE`] and
//! [`PER_EDGE`] bytes at most while all this works, and each node what it is called twice.

use cftrag_core::Interruptible;
use std::cmp::Reverse;

/// The most bytes that a node takes here, besides its names.
pub const PER_NODE: usize = size_of::<Node<'_>>() + 200;

/// The most bytes that an edge takes here: a child, and a line, in lists that have just doubled.
pub const PER_EDGE: usize = 3 * (size_of::<usize>() + size_of::<Line>());

/// An entity's surroundings in its trees.
pub struct Picture<'a> {
    pub entity: &'a [u8],
    /// None: the tree without a name.
    pub trees: Vec<Option<&'a [u8]>>,
    /// The entity in each of these trees; then the others, in the order in which they are to be shown if not all can
    /// be. Each has an edge to one before it.
    pub nodes: Vec<Node<'a>>,
    /// How many trees are left out.
    pub more_trees: usize,
}

/// An entity in a tree.
pub struct Node<'a> {
    /// The place of its tree in [`Picture::trees`].
    pub tree: usize,
    pub id: &'a [u8],
    pub label: Option<&'a [u8]>,
    /// Its levels above the entity, which has 0; None if it is not above it.
    pub height: Option<u32>,
    /// Places in [`Picture::nodes`], each once.
    pub children: Vec<usize>,
    /// How many children and parents are left out.
    pub more: usize,
    pub more_above: usize,
}

impl<'a> Node<'a> {
    /// The label, or the id if it has none.
    pub(super) fn called(&self) -> &'a [u8] {
        self.label.unwrap_or(self.id)
    }

    /// Whether this is the entity whose picture it is.
    pub(super) fn is_here(&self) -> bool {
        self.height == Some(0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A node, whose children follow.
    Node,
    /// A node whose children follow a line above.
    Again,
    /// Follows the children of a node of which others are left out: of which node.
    More,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub what: What,
    pub node: usize,
    /// How many lines it stands under: 0 for a top.
    pub depth: usize,
    /// Whether no line follows under the same line.
    pub is_last: bool,
}

impl Picture<'_> {
    /// Leaves out the last nodes, until the picture has at most that many lines, but one for each tree. Lines that say
    /// how much is left out do not count.
    pub fn fit(&mut self, most: usize, work: &mut Interruptible<'_>) {
        let all = self.nodes.len();
        let mut count = |nodes: usize| {
            self.lines_of(nodes, work).iter().filter(|line| line.what != What::More).count()
        };
        if all <= most && count(all) <= most {
            return;
        }
        let (mut fits, mut too_many) = (self.trees.len().max(1), all.min(most) + 1);
        while fits + 1 < too_many {
            let middle = fits.midpoint(too_many);
            if count(middle) <= most {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        self.cut(fits.min(all), work);
    }

    /// Leaves out all nodes but the first ones.
    fn cut(&mut self, stay: usize, work: &mut Interruptible<'_>) {
        let left_out = self.nodes.split_off(stay);
        for child in left_out.iter().flat_map(|node| &node.children) {
            work.step();
            if let Some(child) = self.nodes.get_mut(*child) {
                child.more_above += 1;
            }
        }
        for node in &mut self.nodes {
            work.steps(node.children.len());
            let before = node.children.len();
            node.children.retain(|child| *child < stay);
            node.more += before - node.children.len();
        }
    }

    /// All lines, tree by tree.
    pub(super) fn lines(&self, work: &mut Interruptible<'_>) -> Vec<Line> {
        self.lines_of(self.nodes.len(), work)
    }

    /// The lines that there would be if only the first nodes were shown.
    fn lines_of(&self, nodes: usize, work: &mut Interruptible<'_>) -> Vec<Line> {
        let (mut lines, mut seen) = (Vec::new(), vec![false; nodes]);
        let mut has_parent = vec![false; nodes];
        for child in self.nodes[..nodes]
            .iter()
            .flat_map(|node| &node.children)
            .filter(|child| **child < nodes)
        {
            work.step();
            has_parent[*child] = true;
        }
        // In each tree the tops; then the farthest above, for what is only under cycles.
        let mut order: Vec<usize> = (0..nodes).collect();
        let key = |n: &usize| {
            let node = &self.nodes[*n];
            let far = if has_parent[*n] { Reverse(node.height) } else { Reverse(None) };
            (node.tree, has_parent[*n], far, *n)
        };
        work.sort_by(&mut order, |a, b| key(a).cmp(&key(b)));
        for top in order {
            if !seen[top] {
                self.unfold(top, &mut seen, &mut lines, work);
            }
        }
        lines
    }

    /// Adds the lines from a top downwards, of the nodes that `seen` has.
    fn unfold(
        &self,
        top: usize,
        seen: &mut [bool],
        lines: &mut Vec<Line>,
        work: &mut Interruptible<'_>,
    ) {
        lines.push(Line { what: What::Node, node: top, depth: 0, is_last: true });
        seen[top] = true;
        let mut open = vec![(top, 0)];
        while let Some((node, next)) = open.last_mut() {
            work.step();
            let (of, above) = (&self.nodes[*node], *node);
            let Some(&child) = of.children.get(*next) else {
                open.pop();
                if of.more > 0 && !of.children.is_empty() {
                    lines.push(Line {
                        what: What::More,
                        node: above,
                        depth: open.len() + 1,
                        is_last: true,
                    });
                }
                continue;
            };
            *next += 1;
            let is_last = *next == of.children.len() && of.more == 0;
            let depth = open.len();
            match seen.get_mut(child) {
                None => (),
                Some(true) => lines.push(Line { what: What::Again, node: child, depth, is_last }),
                Some(seen) => {
                    *seen = true;
                    lines.push(Line { what: What::Node, node: child, depth, is_last });
                    open.push((child, 0));
                }
            }
        }
    }
}
