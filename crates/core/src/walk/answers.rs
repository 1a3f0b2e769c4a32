//! What a walk that is done makes of its rows.

use super::{Node, Walk};
use crate::answer::Row;
use crate::id::index;
use crate::order::{Found, Placed};
use crate::sentences::{Subject, write_sentence};

impl Walk {
    /// After [`Step::Done`]: makes the rows, those of each group in the contract's order: tree
    /// (NULL first), ancestors before descendants, depth, relative; names by bytes.
    pub fn finish(&mut self) {
        self.put_in_order();
        let Walk { order, strands, nodes, rows, .. } = self;
        rows.clear();
        rows.reserve(nodes.len());
        order.for_each_strand(strands, |strand, placed, _| {
            rows.extend(placed.iter().map(|placed| {
                let node = &nodes[index(placed.node)];
                Row {
                    group: strand.group,
                    tree: strand.tree_name,
                    relation: strand.relation,
                    depth: node.depth,
                    relative: placed.name,
                    via: node.via,
                }
            }));
        });
    }

    /// The same as text: a sentence for each group, tree and relation, a line each.
    pub fn text(&mut self) -> &[u8] {
        self.put_in_order();
        let Walk { order, strands, questions, arena, text, .. } = self;
        text.clear();
        let piece = |name| arena.piece(name);
        order.for_each_strand(strands, |strand, placed, several| {
            let subject = Subject {
                entity: piece(questions[index(strand.group)].entity),
                tree: several.then(|| strand.tree_name.map(piece)),
                relation: strand.relation,
            };
            let names = placed.iter().map(|placed| piece(placed.name));
            write_sentence(text, subject, names);
        });
        text.as_bytes()
    }

    fn put_in_order(&mut self) {
        let Walk { nodes, strands, arena, order, .. } = self;
        let found = |node: &Node| Found { strand: node.strand(), name: node.name, key: node.key };
        let depth = |placed: &Placed| nodes[index(placed.node)].depth;
        order.put(nodes.iter().map(found), depth, strands, arena);
    }
}
