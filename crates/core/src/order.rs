//! Puts the rows of a walk in the contract's order: strand by strand, then by depth, then by
//! the relative's name.
//!
//! Strands are few and their rows were found by depth, so rows are dealt out, not sorted; what
//! is sorted are the rows of one strand and depth, by the first eight bytes of the name as a
//! number. Names are compared where these are equal. Nothing is moved but 16 bytes a row.

use crate::arena::{Arena, Name, UNNAMED};
use crate::id::{halves, index, wide};
use crate::strands::{Strand, Strands};

/// A row in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The first eight bytes of the name; those it does not have are 0.
    key: u64,
    pub(crate) name: Name,
    /// Its number among the walk's nodes.
    pub(crate) node: u32,
}

/// What is known of a row before it is in its place.
pub(crate) struct Found {
    pub(crate) strand: u32,
    pub(crate) name: Name,
    pub(crate) key: u64,
}

/// The order of a walk's rows.
#[derive(Debug, Default)]
pub(crate) struct Order {
    rows: Vec<Placed>,
    strands: Vec<u32>,
    /// Of each strand, by number: where its next row goes; at last, where its rows end.
    next: Vec<usize>,
    sorting: Sorting,
}

/// Where rows of a level are while they are sorted.
#[derive(Debug, Default)]
struct Sorting {
    /// The upper bits of a row's key, and below them its place in the level.
    keys: Vec<u64>,
    rows: Vec<Placed>,
}

impl Order {
    /// Takes the rows in the order in which they were found: each strand's by depth.
    pub(crate) fn put(
        &mut self,
        found: impl ExactSizeIterator<Item = Found>,
        depth: impl Fn(&Placed) -> u32,
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
        self.rows.resize(end, Placed { key: 0, name: UNNAMED, node: 0 });
        for (node, row) in (0..).zip(found) {
            let place = &mut self.next[index(row.strand)];
            self.rows[*place] = Placed { key: row.key, name: row.name, node };
            *place += 1;
        }
        let mut rest = &mut self.rows[..];
        for &strand in &self.strands {
            let mut rows;
            (rows, rest) = rest.split_at_mut(index(strands.get(strand).rows));
            // A row of each depth at least: so one of each if they are no more, as ancestors in a
            // tree are.
            if rows.last().is_none_or(|last| index(depth(last)) == rows.len()) {
                continue;
            }
            while let Some(first) = rows.first() {
                let its = depth(first);
                let end = rows.iter().position(|row| depth(row) != its).unwrap_or(rows.len());
                let level;
                (level, rows) = rows.split_at_mut(end);
                by_name(level, &mut self.sorting, arena);
            }
        }
    }

    /// Calls `f` for each strand, with its rows, and whether the question's answer has several trees.
    pub(crate) fn for_each_strand<'a>(
        &'a self,
        strands: &'a Strands,
        mut f: impl FnMut(&'a Strand, &'a [Placed], bool),
    ) {
        let mut rest = &self.rows[..];
        let mut several = false;
        for (i, &number) in self.strands.iter().enumerate() {
            let strand = strands.get(number);
            if i == 0 || strands.get(self.strands[i - 1]).group != strand.group {
                let group = self.strands[i..].iter().map(|&number| strands.get(number));
                let mut group = group.take_while(|other| other.group == strand.group);
                several = group.any(|other| other.tree != strand.tree);
            }
            let rows;
            (rows, rest) = rest.split_at(index(strand.rows));
            f(strand, rows, several);
        }
    }
}

/// Most levels have a few rows.
const FEW: usize = 12;

#[inline]
fn by_name(level: &mut [Placed], sorting: &mut Sorting, arena: &Arena) {
    if level.len() <= FEW {
        insert_each(level, |a, b| is_before(a, b, arena));
    } else {
        sort_by_name(level, sorting, arena);
    }
}

/// An insertion sort: a few rows take less than the call of another.
#[inline(always)]
pub(crate) fn insert_each<T: Copy>(all: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    for sorted in 1..all.len() {
        let one = all[sorted];
        let mut to = sorted;
        while to > 0 && is_before(&one, &all[to - 1]) {
            all[to] = all[to - 1];
            to -= 1;
        }
        all[to] = one;
    }
}

#[inline]
fn is_before(a: &Placed, b: &Placed, arena: &Arena) -> bool {
    a.key < b.key || a.key == b.key && is_name_before(a.name, b.name, arena)
}

/// By itself: two names seldom begin alike, and what compares few numbers keeps them at hand.
#[cold]
fn is_name_before(a: Name, b: Name, arena: &Arena) -> bool {
    arena.get(a) < arena.get(b)
}

/// Sorts numbers of eight bytes, which the library does by networks of comparisons and in half the
/// time of rows of sixteen: the key's lowest bits, a byte or two of eight, make room for the row's
/// place.
#[inline(never)]
fn sort_by_name(level: &mut [Placed], Sorting { keys, rows }: &mut Sorting, arena: &Arena) {
    if level.is_sorted_by(|a, b| a.key < b.key) {
        return;
    }
    let places = wide(level.len().next_power_of_two() - 1);
    keys.clear();
    keys.extend(level.iter().zip(0..).map(|(row, place)| row.key & !places | place));
    keys.sort_unstable();
    rows.clear();
    rows.extend_from_slice(level);
    for (row, key) in level.iter_mut().zip(keys) {
        *row = rows[index(halves(*key & places).0)];
    }
    for alike in level.chunk_by_mut(|a, b| a.key & !places == b.key & !places) {
        if alike.len() > 1 {
            let name = |row: &Placed| arena.get(row.name);
            alike.sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| name(a).cmp(name(b))));
        }
    }
}
