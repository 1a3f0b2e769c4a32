//! How a table grows: by a bucket, and by a page of buckets when the last page is full.
//!
//! Promises: allocates what was planned, and no more; a split moves entries of one bucket only.

use crate::filter::table::directory::{MOST_NODES, nodes_for};
use crate::memory::tables::Table;
use std::hint::select_unpredictable;

use super::Filter;
use crate::filter::bucket::{Entry, SLOTS};
use crate::memory::alloc::{self, Plan};
use crate::memory::casts::{index, wide};
use crate::memory::root::Counter;
use crate::memory::tables::PAGE_BITS;
use crate::records::record::planned;

/// When more than this many slots in 1000 are used, a new entry splits a bucket. Halfway through a doubling, the
/// buckets not yet split attract twice the entries of the others. The table then holds only some 92 % (and the search
/// for a path reads over 100 buckets); after the doubling it holds 96 %. At 90 % a search reads 7 to 33 buckets and
/// moves 1.2 entries for each new one, and an insert takes three times as long as at 80 %. At 75 % it takes 0.8 of
/// that again (a new name has entries in three tables, and each move misses the cache twice), for 3 bytes a name.
/// `loads_before_growth_and_costs_of_search` in `table_tests.rs` shows that a table holds this much before a search
/// fails.
pub(super) const GROW_LOAD: u64 = 750;

impl Filter<'_> {
    /// Enters into a plan what [`Filter::grow`] for `new` entries will allocate. `false` if the directory is full.
    #[must_use]
    pub(crate) fn plan(self, new: u32, plan: &mut Plan<'_>) -> bool {
        let buckets = self.geometry().buckets() + self.splits_for(new);
        let need = buckets.div_ceil(1 << PAGE_BITS);
        for page in self.pages()..need {
            self.plan_page(page, plan);
        }
        need <= self.table.most_pages()
    }

    fn plan_page(self, page: u32, plan: &mut Plan<'_>) {
        plan.take(self.table.page_lines(), 1);
        plan.take(1, index(nodes_for(page)));
    }

    /// Whether one insert, which adds at most two pages, may exceed the directory.
    pub(crate) fn is_nearly_full(self) -> bool {
        self.pages() + 2 > self.table.most_pages()
    }

    /// Splits as many buckets as the load with `new` more entries requires.
    pub(crate) fn grow(self, new: u32) {
        for _ in 0..self.splits_for(new) {
            self.split();
        }
    }

    fn splits_for(self, new: u32) -> u32 {
        // One for each entry at most, which is less than a bucket has room for.
        let room = u64::from(self.geometry().buckets()) * wide(SLOTS) * GROW_LOAD;
        let lacking = ((self.used() + u64::from(new)) * 1000).saturating_sub(room);
        u32::try_from(lacking.div_ceil(wide(SLOTS) * GROW_LOAD)).unwrap_or(new).min(new)
    }

    /// The most lines that [`Filter::plan`] enters for one insert: its entries (two names and a tree; their folded
    /// names, forms, prefixes and words) cross at most one border of a page of each table, and two of the table of
    /// forms, which has room for 384 entries between them.
    pub(crate) const fn bound_lines() -> usize {
        let folded = Table::FoldedNames.page_lines() + 2 * Table::Forms.page_lines();
        index(3 * MOST_NODES + Table::Names.page_lines() + folded)
    }

    /// Whether a split would find the memory it needs, and leave `later` lines available.
    pub(super) fn can_split(self, later: usize) -> bool {
        let pages = self.pages();
        if self.geometry().buckets() < pages << PAGE_BITS {
            return true;
        }
        let mut plan = Plan::new(self.root);
        self.plan_page(pages, &mut plan);
        plan.take(1, later);
        pages < self.table.most_pages() && plan.shortage().is_none()
    }

    /// Adds a page, without clearing its buckets.
    pub(super) fn add_page(self) {
        self.note_page(planned(alloc::take(self.mem(), self.table.page_lines())).get());
    }

    /// Splits the bucket at the split pointer: each entry stays or moves to the new last bucket.
    pub(super) fn split(self) {
        // Compiled once for each table, as in `Filter::enter`.
        match self.table {
            Table::Names => Filter { table: Table::Names, ..self }.split_there(),
            Table::FoldedNames => Filter { table: Table::FoldedNames, ..self }.split_there(),
            Table::Forms => Filter { table: Table::Forms, ..self }.split_there(),
        }
    }

    #[inline(always)]
    fn split_there(self) {
        let old = self.geometry();
        let new = old.grown();
        let (from, to) = (old.split, old.buckets());
        if to >> PAGE_BITS == self.pages() {
            self.add_page();
        }
        let (here, there) = (self.bucket(from), self.bucket(to));
        // Which entries move is unpredictable, so each is written behind both those that stay and those that go, and
        // then counted in one of the two.
        let (mut stay, mut go) = ([Entry::NONE; SLOTS], [Entry::NONE; SLOTS]);
        let (mut staying, mut going) = (0, 0);
        for entry in here.read() {
            let goes = old.goes(self.hash_of(from, entry));
            (stay[staying % SLOTS], go[going % SLOTS]) = (entry, entry);
            staying += usize::from(!goes & !entry.is_empty());
            going += usize::from(goes & !entry.is_empty());
        }
        let first = |entries: [Entry; SLOTS], count| {
            std::array::from_fn(|i| select_unpredictable(i < count, entries[i], Entry::NONE))
        };
        here.write(first(stay, staying));
        there.write(first(go, going));
        self.set_geometry(new);
        self.root.add(Counter::Splits, 1);
        self.prefetch_records(new.split);
    }
}
