//! Turns the rows of a finished walk into its answer.

use super::{Node, Query, Walk};
use crate::Interruptible;
use crate::memory::casts::index;
use crate::memory::limit::NoRoom;
use crate::walk::answer::Row;
use crate::walk::arena::{Arena, Name, UNNAMED};
use crate::walk::order::{Order, Placed, Unplaced};
use crate::walk::row_groups::{RowGroup, RowGroups};
use crate::walk::sentences::{Piece, Subject, write_sentence};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::RandomState;

impl Walk {
    /// [`Walk::try_finish`] for a walk without limits.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn finish(&mut self) {
        self.try_finish(&mut Interruptible::new(&mut || ())).expect("there is room for the rows");
    }

    /// After [`Step::Done`](crate::Step::Done): makes the rows, those of each group in the contract's order: tree (NULL
    /// first), ancestors before descendants, depth, relative; names by bytes. Call it once for each answer.
    ///
    /// # Errors
    /// If that takes more memory than the limit, or than is available.
    pub fn try_finish(&mut self, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        self.put_in_order(true, work)?;
        let Walk { order, row_groups, nodes, rows, row_labels, .. } = self;
        rows.clear();
        rows.reserve(nodes.len());
        each_row(order, row_groups, nodes, row_labels, |row| {
            work.step();
            rows.push(row);
        });
        self.drop_nodes(work);
        Ok(())
    }

    /// Passes the rows of [`Walk::try_finish`] to `f`, one by one, and keeps none.
    ///
    /// # Errors
    /// If that takes more memory than the limit, or than is available; then `f` was not called.
    pub fn for_each_row(
        &mut self,
        work: &mut Interruptible<'_>,
        mut f: impl FnMut(&Walk, &Row),
    ) -> Result<(), NoRoom> {
        self.put_in_order(false, work)?;
        let walk = &*self;
        each_row(&walk.order, &walk.row_groups, &walk.nodes, &walk.row_labels, |row| f(walk, &row));
        Ok(())
    }

    /// [`Walk::try_text`] for a walk without limits.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn text(&mut self) -> &[u8] {
        self.text.clear();
        self.try_text(&mut Interruptible::new(&mut || ())).expect("there is room for the text");
        self.text.as_bytes()
    }

    /// Adds the rows to the walk's text ([`Walk::written`]): for each group, tree and relation, a sentence on a
    /// separate line.
    ///
    /// # Errors
    /// If that takes more memory than the limit, or than is available.
    pub fn try_text(&mut self, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        self.put_in_order(false, work)?;
        let wanted = self.text_bytes(work);
        let least = self.bytes() + self.written().len() + wanted;
        self.allow(least)?;
        if !self.text.try_reserve(wanted, work) {
            return Err(NoRoom::Memory(least));
        }
        let Walk { order, row_groups, questions, arena, row_labels, text, .. } = self;
        let called = |placed: &Placed| piece(arena, called(row_labels, placed));
        order.for_each_group(row_groups, |row_group, placed, several| {
            let entity = piece(arena, questions[index(row_group.group)].called());
            let subject = subject(arena, row_group, entity, several);
            let names = placed.iter().map(called);
            work.steps(PER_SENTENCE + placed.len());
            if placed.len() < MANY {
                write_sentence(text, subject, names, placed.len() > 1);
            } else {
                // A step is a name, or 64 bytes of a long one.
                let work = RefCell::new(&mut *work);
                let lines = |name: &Piece<'_>| 1 + name.bytes().len() / 64;
                write_sentence(
                    text,
                    subject,
                    names.inspect(|name| work.borrow_mut().steps(lines(name))),
                    true,
                );
            }
        });
        Ok(())
    }

    /// Whether several of the walk's entities, of all questions and rows, are called the same, by a label or, without
    /// one, by the name; also `true` if there is no memory to find out. Called only if labels are wanted.
    pub fn has_alike_labels(&self, work: &mut Interruptible<'_>) -> bool {
        let Walk { questions, nodes, row_labels, arena, .. } = self;
        let asked = questions.iter().map(|question| (question.label, question.entity));
        let rows = row_labels.iter().zip(nodes).map(|(label, node)| (*label, node.name));
        let called = |(label, name)| {
            (arena.get(if label == UNNAMED { name } else { label }), arena.get(name))
        };
        let named = asked.chain(rows).map(called);
        if questions.len() + row_labels.len() <= FEW {
            let is_alike = |(n, one): (usize, (&[u8], &[u8]))| {
                named.clone().take(n).any(|other| other.0 == one.0 && other.1 != one.1)
            };
            return named.clone().enumerate().any(is_alike);
        }
        let mut seen = HashMap::with_hasher(RandomState::default());
        if seen.try_reserve(questions.len() + row_labels.len()).is_err() {
            return true;
        }
        named.into_iter().any(|(label, name)| {
            work.step();
            *seen.entry(label).or_insert(name) != name
        })
    }

    /// Whether labels are wanted and the image has labels.
    #[must_use]
    pub fn has_labels(&self) -> bool {
        self.wants_labels && !self.labels.is_empty()
    }

    /// The text that [`Walk::try_text`] wrote since [`Walk::clear`].
    #[must_use]
    pub fn written(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// An upper bound of the sentences' bytes.
    fn text_bytes(&self, work: &mut Interruptible<'_>) -> usize {
        let Walk { order, row_groups, questions, arena, row_labels, .. } = self;
        let mut bytes = 0;
        order.for_each_group(row_groups, |row_group, placed, several| {
            work.steps(PER_SENTENCE + placed.len());
            let entity = piece(arena, questions[index(row_group.group)].called());
            bytes += subject(arena, row_group, entity, several).most_bytes();
            bytes += placed
                .iter()
                .map(|placed| Subject::most_bytes_of(piece(arena, called(row_labels, placed))))
                .sum::<usize>();
        });
        bytes
    }

    fn put_in_order(&mut self, as_rows: bool, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        self.make_room_to_finish(as_rows)?;
        let Walk { nodes, row_groups, arena, order, .. } = self;
        let found =
            |node: &Node| Unplaced { row_group: node.row_group(), name: node.name, key: node.key };
        let depth = |placed: &Placed| nodes[index(placed.node)].depth;
        order.put(nodes.iter().map(found), depth, row_groups, arena, work);
        Ok(())
    }
}

/// Up to this many labels are compared with each other.
const FEW: usize = 12;
/// Steps that a sentence takes in addition to its names.
const PER_SENTENCE: usize = 4;
/// A sentence of this many names or more is written with checks for interrupts between them.
const MANY: usize = 4096;

impl Query {
    /// The label of its entity, or its name.
    fn called(&self) -> Name {
        if self.label == UNNAMED { self.entity } else { self.label }
    }
}

/// The label of a row's relative, if it has one.
fn label_of(labels: &[Name], placed: &Placed) -> Option<Name> {
    labels.get(index(placed.node)).copied().filter(|&label| label != UNNAMED)
}

/// The label of a row's relative, or its name.
fn called(labels: &[Name], placed: &Placed) -> Name {
    label_of(labels, placed).unwrap_or(placed.name)
}

fn piece(arena: &Arena, name: crate::Name) -> Piece<'_> {
    arena.piece(name)
}

fn subject<'a>(
    arena: &'a Arena,
    row_group: &RowGroup,
    entity: Piece<'a>,
    several: bool,
) -> Subject<'a> {
    let tree = several.then(|| row_group.tree_name.map(|name| piece(arena, name)));
    Subject { entity, tree, relation: row_group.relation }
}

fn each_row(
    order: &Order,
    row_groups: &RowGroups,
    nodes: &[Node],
    labels: &[Name],
    mut f: impl FnMut(Row),
) {
    order.for_each_group(row_groups, |row_group, placed, _| {
        for placed in placed {
            let node = &nodes[index(placed.node)];
            f(Row {
                group: row_group.group,
                tree: row_group.tree_name,
                relation: row_group.relation,
                depth: node.depth,
                relative: placed.name,
                label: label_of(labels, placed),
                via: node.via,
            });
        }
    });
}
