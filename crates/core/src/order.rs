//! Puts the rows of a walk in the contract's order: strand by strand, then by depth, then by
//! the relative's name.
//!
//! Strands are few and their rows were found by depth, so rows are dealt out, not sorted; what
//! is sorted are the rows of one strand and depth, by the first eight bytes of the name as a
//! number. Names are compared where these are equal. Nothing is moved but 16 bytes a row.

use crate::arena::{Arena, Name};
use crate::id::index;
use crate::strands::{Strand, Strands};

/// A row in its place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placed {
    /// The first eight bytes of the name; those it does not have are 0.
    key: u64,
    depth: u32,
    /// Its number among the walk's nodes.
    pub(crate) node: u32,
}

/// What is known of a row before it is in its place.
pub(crate) struct Found {
    pub(crate) strand: u32,
    pub(crate) depth: u32,
    pub(crate) key: u64,
}

/// The order of a walk's rows.
#[derive(Debug, Default)]
pub(crate) struct Order {
    rows: Vec<Placed>,
    strands: Vec<u32>,
    /// Of each strand, by number: where its next row goes; at last, where its rows end.
    next: Vec<usize>,
}

impl Order {
    /// Takes the rows in the order in which they were found: each strand's by depth.
    pub(crate) fn put(
        &mut self,
        found: impl ExactSizeIterator<Item = Found>,
        name: impl Fn(u32) -> Name,
        strands: &Strands,
        arena: &Arena,
    ) {
        strands.in_order(arena, &mut self.strands);
        self.next.clear();
        self.next.resize(self.strands.len(), 0);
        let mut end = 0;
        for &strand in &self.strands {
            self.next[index(strand)] = end;
            end += index(strands.get(strand).rows);
        }
        self.rows.resize(end, Placed::default());
        for (node, row) in (0..).zip(found) {
            let place = &mut self.next[index(row.strand)];
            self.rows[*place] = Placed { key: row.key, depth: row.depth, node };
            *place += 1;
        }
        let mut rest = &mut self.rows[..];
        for &strand in &self.strands {
            let rows;
            (rows, rest) = rest.split_at_mut(index(strands.get(strand).rows));
            for level in rows.chunk_by_mut(|a, b| a.depth == b.depth) {
                by_name(level, &name, arena);
            }
        }
    }

    /// The strands and their rows; and whether the question's answer has several trees.
    pub(crate) fn strands<'a>(
        &'a self,
        strands: &'a Strands,
    ) -> impl Iterator<Item = (&'a Strand, &'a [Placed], bool)> {
        let of = |number: u32| strands.get(number);
        let groups = self.strands.chunk_by(move |&a, &b| of(a).group == of(b).group);
        groups.flat_map(move |group| {
            let several = of(group[0]).tree != of(group[group.len() - 1]).tree;
            group.iter().map(move |&number| {
                let (strand, end) = (of(number), self.next[index(number)]);
                (strand, &self.rows[end - index(strand.rows)..end], several)
            })
        })
    }
}

fn by_name(level: &mut [Placed], name: &impl Fn(u32) -> Name, arena: &Arena) {
    if level.is_sorted_by(|a, b| a.key < b.key) {
        return;
    }
    level.sort_unstable_by_key(|row| row.key);
    for alike in level.chunk_by_mut(|a, b| a.key == b.key) {
        if alike.len() > 1 {
            alike.sort_unstable_by(|a, b| arena.get(name(a.node)).cmp(arena.get(name(b.node))));
        }
    }
}
