//! Puts the rows of a walk in the contract's order: group by group, then by depth, then by
//! the relative's name.
//!
//! Row groups are few and their rows were found by depth, so rows are distributed, not sorted. Only the rows with the
//! same row group and depth are sorted: by the first eight bytes of the name as a number, and by the whole names where
//! these are equal. Only 16 bytes per row are moved.

use crate::Interruptible;
use crate::memory::casts::{halves, index, wide};
use crate::walk::arena::{Arena, Name, UNNAMED};
use crate::walk::row_groups::{RowGroup, RowGroups, insert_each};
use std::cmp::Ordering;

/// A row in its final place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The first eight bytes of the name, padded with 0.
    key: u64,
    pub(crate) name: Name,
    /// Its number among the walk's nodes.
    pub(crate) node: u32,
}

/// The properties of a row before it is placed.
pub(crate) struct Unplaced {
    pub(crate) row_group: u32,
    pub(crate) name: Name,
    pub(crate) key: u64,
}

/// The order of a walk's rows.
#[derive(Debug, Default)]
pub(crate) struct Order {
    rows: Vec<Placed>,
    row_groups: Vec<u32>,
    /// The place of each row group's next row, and in the end the place after its last.
    next: Vec<usize>,
    sorting: Sorting,
}

/// Scratch memory for sorting a level.
#[derive(Debug, Default)]
struct Sorting {
    /// The upper bits of a row's key, and in the lower bits its place in the level.
    keys: Vec<u64>,
    rows: Vec<Placed>,
}

impl Order {
    /// Bytes that `rows` rows of `row_groups` row groups take.
    pub(crate) fn bytes(rows: usize, row_groups: usize) -> usize {
        rows * size_of::<Placed>()
            + row_groups * (size_of::<u32>() + size_of::<usize>())
            + rows.min(LARGE) * (size_of::<u64>() + size_of::<Placed>())
    }

    /// Frees its memory.
    pub(crate) fn free(self, work: &mut Interruptible<'_>) {
        work.free(self.rows);
        work.free(self.row_groups);
        work.free(self.next);
    }

    /// Reserves memory for `rows` rows of `row_groups` row groups; `false` if there is none.
    pub(crate) fn try_reserve(&mut self, rows: usize, row_groups: usize) -> bool {
        let Order { rows: all, row_groups: order, next, sorting } = self;
        let level = rows.min(LARGE);
        all.try_reserve_exact(rows.saturating_sub(all.len())).is_ok()
            && order.try_reserve_exact(row_groups.saturating_sub(order.len())).is_ok()
            && next.try_reserve_exact(row_groups.saturating_sub(next.len())).is_ok()
            && sorting.keys.try_reserve_exact(level.saturating_sub(sorting.keys.len())).is_ok()
            && sorting.rows.try_reserve_exact(level.saturating_sub(sorting.rows.len())).is_ok()
    }

    /// Places the rows, which come in the order in which they were found: those of each row group by depth. Checks for
    /// interrupts now and then.
    pub(crate) fn put(
        &mut self,
        found: impl ExactSizeIterator<Item = Unplaced>,
        depth: impl Fn(&Placed) -> u32,
        row_groups: &RowGroups,
        arena: &Arena,
        work: &mut Interruptible<'_>,
    ) {
        row_groups.in_order(arena, &mut self.row_groups, work);
        self.next.clear();
        self.next.resize(self.row_groups.len(), 0);
        let mut end = 0;
        for &row_group in &self.row_groups {
            self.next[index(row_group)] = end;
            end += index(row_groups.get(row_group).rows);
        }
        self.rows.resize(end, Placed { key: 0, name: UNNAMED, node: 0 });
        for (node, row) in (0..).zip(found) {
            if node % EACH == EACH - 1 {
                work.now();
            }
            let place = &mut self.next[index(row.row_group)];
            self.rows[*place] = Placed { key: row.key, name: row.name, node };
            *place += 1;
        }
        let mut rest = &mut self.rows[..];
        for &row_group in &self.row_groups {
            let mut rows;
            (rows, rest) = rest.split_at_mut(index(row_groups.get(row_group).rows));
            // Each depth has at least one row. If there are no more, as with ancestors in a tree, there is nothing to
            // sort.
            if rows.last().is_none_or(|last| index(depth(last)) == rows.len()) {
                continue;
            }
            while let Some(first) = rows.first() {
                let its = depth(first);
                let end = rows.iter().position(|row| {
                    work.step();
                    depth(row) != its
                });
                let end = end.unwrap_or(rows.len());
                let level;
                (level, rows) = rows.split_at_mut(end);
                by_name(level, &mut self.sorting, arena, work);
            }
        }
    }

    /// Calls `f` for each row group, with its rows and with whether the question's answer has several trees.
    pub(crate) fn for_each_group<'a>(
        &'a self,
        row_groups: &'a RowGroups,
        mut f: impl FnMut(&'a RowGroup, &'a [Placed], bool),
    ) {
        let mut rest = &self.rows[..];
        let mut several = false;
        for (i, &number) in self.row_groups.iter().enumerate() {
            let row_group = row_groups.get(number);
            if i == 0 || row_groups.get(self.row_groups[i - 1]).group != row_group.group {
                let group = self.row_groups[i..].iter().map(|&number| row_groups.get(number));
                let mut group = group.take_while(|other| other.group == row_group.group);
                several = group.any(|other| other.tree != row_group.tree);
            }
            let rows;
            (rows, rest) = rest.split_at(index(row_group.rows));
            f(row_group, rows, several);
        }
    }
}

/// Levels of up to this many rows, as most are, are sorted by insertion.
const FEW: usize = 12;
/// Larger levels take more than 6 ms, so they are sorted interruptibly and in place.
const LARGE: usize = 1 << 17;
/// Rows between two checks for interrupts.
const EACH: u32 = 1 << 18;

#[inline]
fn by_name(
    level: &mut [Placed],
    sorting: &mut Sorting,
    arena: &Arena,
    work: &mut Interruptible<'_>,
) {
    if level.len() <= FEW {
        insert_each(level, |a, b| is_before(a, b, arena, work));
        work.step();
    } else if level.len() <= LARGE {
        sort_by_name(level, sorting, arena, work);
        work.steps(level.len());
    } else {
        work.sort_with(level, |a, b, work| compare(a, b, arena, work));
    }
}

#[inline]
fn is_before(a: &Placed, b: &Placed, arena: &Arena, work: &mut Interruptible<'_>) -> bool {
    a.key < b.key || a.key == b.key && is_name_before(a.name, b.name, arena, work)
}

/// Not inlined: names seldom begin with the same bytes, and the caller keeps its numbers in registers.
#[cold]
fn is_name_before(a: Name, b: Name, arena: &Arena, work: &mut Interruptible<'_>) -> bool {
    work.compare(arena.get(a), arena.get(b)).is_lt()
}

fn compare(a: &Placed, b: &Placed, arena: &Arena, work: &mut Interruptible<'_>) -> Ordering {
    a.key.cmp(&b.key).then_with(|| work.compare(arena.get(a.name), arena.get(b.name)))
}

/// Sorts numbers of eight bytes, not rows of sixteen: the library uses sorting networks for them, in half the time. The
/// row's place replaces the lowest bits of the key, one or two bytes of eight.
#[inline(never)]
fn sort_by_name(
    level: &mut [Placed],
    Sorting { keys, rows }: &mut Sorting,
    arena: &Arena,
    work: &mut Interruptible<'_>,
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
            alike.sort_unstable_by(|a, b| compare(a, b, arena, work));
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
        let mut checks = 0;
        let mut check_interrupts = || checks += 1;
        by_name(&mut level, &mut sorting, &arena, &mut Interruptible::new(&mut check_interrupts));
        assert!(level.is_sorted_by_key(|row| arena.get(row.name)));
        // One comparison per row reads 8 MB in all; interrupts are checked every 4 MB.
        assert!(checks > 0, "{rows} rows");
    }
}
