//! What a walk that is done makes of its rows.

use super::{Node, Walk};
use crate::Breath;
use crate::memory::casts::index;
use crate::memory::limit::NoRoom;
use crate::walk::answer::Row;
use crate::walk::arena::Arena;
use crate::walk::order::{Found, Order, Placed};
use crate::walk::sentences::{Piece, Subject, write_sentence};
use crate::walk::strands::{Strand, Strands};
use std::cell::RefCell;

impl Walk {
    /// [`Walk::try_finish`] of a walk without limits.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn finish(&mut self) {
        self.try_finish(&mut Breath::new(&mut || ())).expect("there is room for the rows");
    }

    /// After [`Step::Done`](crate::Step::Done): makes the rows, those of each group in the contract's order: tree
    /// (NULL first), ancestors before descendants, depth, relative; names by bytes.
    ///
    /// # Errors
    /// More than the limit, or than there is.
    pub fn try_finish(&mut self, breath: &mut Breath<'_>) -> Result<(), NoRoom> {
        self.put_in_order(true, breath)?;
        let Walk { order, strands, nodes, rows, .. } = self;
        rows.clear();
        rows.reserve(nodes.len());
        each_row(order, strands, nodes, |row| {
            breath.step();
            rows.push(row);
        });
        Ok(())
    }

    /// Gives the rows that [`Walk::try_finish`] makes to `f`, one by one, and keeps none.
    ///
    /// # Errors
    /// More than the limit, or than there is; then `f` was not called.
    pub fn for_each_row(
        &mut self,
        breath: &mut Breath<'_>,
        mut f: impl FnMut(&Walk, &Row),
    ) -> Result<(), NoRoom> {
        self.put_in_order(false, breath)?;
        let walk = &*self;
        each_row(&walk.order, &walk.strands, &walk.nodes, |row| f(walk, &row));
        Ok(())
    }

    /// [`Walk::try_text`] of a walk without limits.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn text(&mut self) -> &[u8] {
        self.text.clear();
        self.try_text(&mut Breath::new(&mut || ())).expect("there is room for the text");
        self.text.as_bytes()
    }

    /// Adds the rows to the walk's text ([`Walk::written`]): a sentence for each group, tree and relation, a line each.
    ///
    /// # Errors
    /// More than the limit, or than there is.
    pub fn try_text(&mut self, breath: &mut Breath<'_>) -> Result<(), NoRoom> {
        self.put_in_order(false, breath)?;
        let wanted = self.text_bytes(breath);
        let least = self.bytes() + self.written().len() + wanted;
        self.allow(least)?;
        if !self.text.try_reserve(wanted, breath) {
            return Err(NoRoom::Memory(least));
        }
        let Walk { order, strands, questions, arena, text, .. } = self;
        order.for_each_strand(strands, |strand, placed, several| {
            let entity = piece(arena, questions[index(strand.group)].entity);
            let subject = subject(arena, strand, entity, several);
            let names = placed.iter().map(|placed| piece(arena, placed.name));
            breath.steps(PER_SENTENCE + placed.len());
            if placed.len() < MANY {
                write_sentence(text, subject, names);
            } else {
                // A step is a name, or a line of a long one.
                let breath = RefCell::new(&mut *breath);
                let lines = |name: &Piece<'_>| 1 + name.bytes().len() / 64;
                write_sentence(
                    text,
                    subject,
                    names.inspect(|name| breath.borrow_mut().steps(lines(name))),
                );
            }
        });
        Ok(())
    }

    /// What [`Walk::try_text`] wrote since [`Walk::clear`].
    #[must_use]
    pub fn written(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// What the sentences take at most.
    fn text_bytes(&self, breath: &mut Breath<'_>) -> usize {
        let Walk { order, strands, questions, arena, .. } = self;
        let mut bytes = 0;
        order.for_each_strand(strands, |strand, placed, several| {
            breath.steps(PER_SENTENCE + placed.len());
            let entity = piece(arena, questions[index(strand.group)].entity);
            bytes += subject(arena, strand, entity, several).most_bytes();
            bytes += placed
                .iter()
                .map(|placed| Subject::most_bytes_of(piece(arena, placed.name)))
                .sum::<usize>();
        });
        bytes
    }

    fn put_in_order(&mut self, as_rows: bool, breath: &mut Breath<'_>) -> Result<(), NoRoom> {
        self.make_room_to_finish(as_rows)?;
        let Walk { nodes, strands, arena, order, .. } = self;
        let found = |node: &Node| Found { strand: node.strand(), name: node.name, key: node.key };
        let depth = |placed: &Placed| nodes[index(placed.node)].depth;
        order.put(nodes.iter().map(found), depth, strands, arena, breath);
        Ok(())
    }
}

/// Steps that a sentence takes beside its names.
const PER_SENTENCE: usize = 4;
/// Names of a sentence that is written breath by breath.
const MANY: usize = 4096;

fn piece(arena: &Arena, name: crate::Name) -> Piece<'_> {
    arena.piece(name)
}

fn subject<'a>(arena: &'a Arena, strand: &Strand, entity: Piece<'a>, several: bool) -> Subject<'a> {
    let tree = several.then(|| strand.tree_name.map(|name| piece(arena, name)));
    Subject { entity, tree, relation: strand.relation }
}

fn each_row(order: &Order, strands: &Strands, nodes: &[Node], mut f: impl FnMut(Row)) {
    order.for_each_strand(strands, |strand, placed, _| {
        for placed in placed {
            let node = &nodes[index(placed.node)];
            f(Row {
                group: strand.group,
                tree: strand.tree_name,
                relation: strand.relation,
                depth: node.depth,
                relative: placed.name,
                via: node.via,
            });
        }
    });
}
