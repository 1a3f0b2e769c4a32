//! Puts the rows of a walk in the contract's order: strand by strand, then by depth, then by
//! the relative's name.
//!
//! Strands are few and their rows were found by depth, so rows are dealt out, not sorted; what
//! is sorted are the rows of one strand and depth, by the first eight bytes of the name as a
//! number. Names are compared where these are equal. Nothing is moved but 16 bytes a row.

use crate::Breath;
use crate::memory::casts::{halves, index, wide};
use crate::walk::arena::{Arena, Name, UNNAMED};
use crate::walk::strands::{Strand, Strands, insert_each};
use std::cmp::Ordering;

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
    /// Bytes that so many rows of so many strands take.
    pub(crate) fn bytes(rows: usize, strands: usize) -> usize {
        rows * size_of::<Placed>()
            + strands * (size_of::<u32>() + size_of::<usize>())
            + rows.min(LARGE) * (size_of::<u64>() + size_of::<Placed>())
    }

    /// Gives its memory back.
    pub(crate) fn free(self, breath: &mut Breath<'_>) {
        breath.free(self.rows);
        breath.free(self.strands);
        breath.free(self.next);
    }

    /// Room for so many rows of so many strands; `false`: there is no memory.
    pub(crate) fn try_reserve(&mut self, rows: usize, strands: usize) -> bool {
        let Order { rows: all, strands: order, next, sorting } = self;
        let level = rows.min(LARGE);
        all.try_reserve_exact(rows.saturating_sub(all.len())).is_ok()
            && order.try_reserve_exact(strands.saturating_sub(order.len())).is_ok()
            && next.try_reserve_exact(strands.saturating_sub(next.len())).is_ok()
            && sorting.keys.try_reserve_exact(level.saturating_sub(sorting.keys.len())).is_ok()
            && sorting.rows.try_reserve_exact(level.saturating_sub(sorting.rows.len())).is_ok()
    }

    /// Takes the rows in the order in which they were found: each strand's by depth. Breathes now and then.
    pub(crate) fn put(
        &mut self,
        found: impl ExactSizeIterator<Item = Found>,
        depth: impl Fn(&Placed) -> u32,
        strands: &Strands,
        arena: &Arena,
        breath: &mut Breath<'_>,
    ) {
        strands.in_order(arena, &mut self.strands, breath);
        self.next.clear();
        self.next.resize(self.strands.len(), 0);
        let mut end = 0;
        for &strand in &self.strands {
            self.next[index(strand)] = end;
            end += index(strands.get(strand).rows);
        }
        self.rows.resize(end, Placed { key: 0, name: UNNAMED, node: 0 });
        for (node, row) in (0..).zip(found) {
            if node % EACH == EACH - 1 {
                breath.now();
            }
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
                let end = rows.iter().position(|row| {
                    breath.step();
                    depth(row) != its
                });
                let end = end.unwrap_or(rows.len());
                let level;
                (level, rows) = rows.split_at_mut(end);
                by_name(level, &mut self.sorting, arena, breath);
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
/// Larger levels, 6 ms of sorting, are sorted where they are: so it can be stopped, and takes no memory.
const LARGE: usize = 1 << 17;
/// Rows between two breaths.
const EACH: u32 = 1 << 18;

#[inline]
fn by_name(level: &mut [Placed], sorting: &mut Sorting, arena: &Arena, breath: &mut Breath<'_>) {
    if level.len() <= FEW {
        insert_each(level, |a, b| is_before(a, b, arena, breath));
        breath.step();
    } else if level.len() <= LARGE {
        sort_by_name(level, sorting, arena, breath);
        breath.steps(level.len());
    } else {
        breath.sort_with(level, |a, b, breath| compare(a, b, arena, breath));
    }
}

#[inline]
fn is_before(a: &Placed, b: &Placed, arena: &Arena, breath: &mut Breath<'_>) -> bool {
    a.key < b.key || a.key == b.key && is_name_before(a.name, b.name, arena, breath)
}

/// By itself: two names seldom begin alike, and what compares few numbers keeps them at hand.
#[cold]
fn is_name_before(a: Name, b: Name, arena: &Arena, breath: &mut Breath<'_>) -> bool {
    breath.compare(arena.get(a), arena.get(b)).is_lt()
}

fn compare(a: &Placed, b: &Placed, arena: &Arena, breath: &mut Breath<'_>) -> Ordering {
    a.key.cmp(&b.key).then_with(|| breath.compare(arena.get(a.name), arena.get(b.name)))
}

/// Sorts numbers of eight bytes, which the library does by networks of comparisons and in half the
/// time of rows of sixteen: the key's lowest bits, a byte or two of eight, make room for the row's
/// place.
#[inline(never)]
fn sort_by_name(
    level: &mut [Placed],
    Sorting { keys, rows }: &mut Sorting,
    arena: &Arena,
    breath: &mut Breath<'_>,
) {
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
            alike.sort_unstable_by(|a, b| compare(a, b, arena, breath));
        }
    }
}

#[test]
fn names_that_begin_alike_are_sorted_breath_by_breath() {
    for rows in [FEW, 400] {
        let mut arena = Arena::new(crate::Prefix::LENGTH);
        let bytes = 8_000_000 / rows;
        let long = |i: usize| format!("{}{:03}", "a".repeat(bytes), rows - i);
        let key = u64::from_be_bytes(*b"aaaaaaaa");
        let mut level: Vec<Placed> = (0..rows)
            .map(|i| Placed { key, name: arena.add(long(i).as_bytes()), node: 0 })
            .collect();
        let mut sorting = Sorting::default();
        assert!(sorting.keys.try_reserve(rows).is_ok());
        let mut breaths = 0;
        let mut breathe = || breaths += 1;
        by_name(&mut level, &mut sorting, &arena, &mut Breath::new(&mut breathe));
        assert!(level.is_sorted_by_key(|row| arena.get(row.name)));
        // One comparison a row reads 8 MB, and 4 MB are read between two breaths.
        assert!(breaths > 0, "{rows} rows");
    }
}
