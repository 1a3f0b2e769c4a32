//! The row groups of a walk: the rows of one question, relation and tree.
//!
//! A row inherits the row group of its owner, so trees are compared only at the first step, and the rows of a row group
//! are found by depth. In the contract's order, the row groups are the answer.

use crate::Interruptible;
use crate::memory::casts::{index, word};
use crate::memory::flat::Memory;
use crate::memory::id::{EntityId, TreeId, to_word};
use crate::memory::key_set::KeySet;
use crate::records::record::Record;
use crate::walk::arena::{Arena, Name, UNNAMED};
use crate::walk::relation::Relation;
use std::cmp::Ordering::Equal;

/// The rows of a question in one relation and one tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowGroup {
    pub(crate) group: u32,
    pub(crate) relation: Relation,
    pub(crate) tree: Option<TreeId>,
    /// The tree's name, once it was copied, and the name's first eight bytes as a number.
    pub(crate) tree_name: Option<Name>,
    pub(crate) tree_key: u64,
    /// The question's entity.
    pub(crate) start: EntityId,
    /// The number of its rows.
    pub(crate) rows: u32,
}

/// Most lists have edges of few trees: up to this many trees are compared, not looked up.
const FEW: usize = 8;

#[derive(Debug)]
pub(crate) struct RowGroups {
    all: Vec<RowGroup>,
    /// The first row group of the current list of a question's entity.
    first: usize,
    /// The trees of the row groups from `known_from` on, once there are more than a few.
    known: KeySet,
    known_from: Option<usize>,
    /// The first row group whose tree's name is not yet copied.
    unnamed: usize,
    /// The names of trees, each copied once per walk.
    trees: Vec<(TreeId, Name, u64)>,
    known_trees: KeySet,
}

impl RowGroups {
    pub(crate) fn new() -> RowGroups {
        let (all, trees) = (Vec::new(), Vec::new());
        let (known, known_trees) = (KeySet::new(), KeySet::new());
        RowGroups { all, first: 0, known, known_from: None, unnamed: 0, trees, known_trees }
    }

    /// Drops everything; the arena does so too.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.trees.clear();
        self.known_trees.start(0, 0);
        (self.first, self.known_from, self.unnamed) = (0, None, 0);
    }

    /// Begins another list of a question's entity, which has no row groups yet.
    pub(crate) fn begin_list(&mut self) {
        self.first = self.all.len();
    }

    /// The number of the row group of a tree in the current list; it may be new.
    #[inline]
    pub(crate) fn number(
        &mut self,
        mem: &Memory,
        group: u32,
        relation: Relation,
        tree: Option<TreeId>,
        start: EntityId,
    ) -> u32 {
        let RowGroups { all, first, .. } = self;
        let known = if all.len() - *first <= FEW {
            // Edges of one tree are often adjacent.
            (*first..all.len()).rev().find(|&at| all[at].tree == tree)
        } else {
            self.look_up(tree)
        };
        word(known.unwrap_or_else(|| {
            if let Some(tree) = tree {
                mem.prefetch(tree.line());
            }
            let (tree_name, tree_key) = (None, 0);
            self.all.push(RowGroup { group, relation, tree, tree_name, tree_key, start, rows: 0 });
            self.all.len() - 1
        }))
    }

    /// Finds the row group of a tree in a list with many trees; if there is none, the next row group is the tree's.
    #[inline(never)]
    fn look_up(&mut self, tree: Option<TreeId>) -> Option<usize> {
        let RowGroups { all, known, known_from, first, .. } = self;
        let key = |tree| u64::from(to_word(tree));
        if *known_from != Some(*first) {
            *known_from = Some(*first);
            known.start(*first, 4 * FEW);
            for row_group in &all[*first..] {
                known.find_or_add(key(row_group.tree), |at| key(all[at].tree));
            }
        }
        known.find_or_add(key(tree), |at| key(all[at].tree))
    }

    /// Copies the names of the trees met since the last call; each row group costs one slot of the budget. `false` if
    /// the budget ended first or the arena has no room.
    pub(crate) fn name_trees(
        &mut self,
        mem: &Memory,
        arena: &mut Arena,
        budget: &mut usize,
    ) -> bool {
        let RowGroups { all, trees, known_trees, unnamed, .. } = self;
        for row_group in &mut all[*unnamed..] {
            if *budget == 0 {
                return false;
            }
            *budget -= 1;
            let Some(tree) = row_group.tree else {
                *unnamed += 1;
                continue;
            };
            let key = u64::from(tree.line());
            let known = known_trees.find_or_add(key, |at| u64::from(trees[at].0.line()));
            let known = known.unwrap_or_else(|| {
                trees.push((tree, UNNAMED, 0));
                trees.len() - 1
            });
            let (_, name, key) = &mut trees[known];
            if *name == UNNAMED {
                (*name, *key) = arena.add_name_of(Record::new(mem, tree));
                if arena.lacks() {
                    return false;
                }
            }
            (row_group.tree_name, row_group.tree_key) = (Some(*name), *key);
            *unnamed += 1;
        }
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether the names of all trees are copied.
    pub(crate) fn are_named(&self) -> bool {
        self.unnamed == self.all.len()
    }

    /// Whether `more` row groups of the current list fit without an allocation.
    #[inline]
    pub(crate) fn has_room(&self, more: usize) -> bool {
        let of_list = self.all.len() - self.first + more;
        self.all.len() + more <= self.all.capacity().min(self.trees.capacity())
            && of_list <= self.known.fit().max(4 * FEW)
            && self.all.len() + more <= self.known_trees.fit()
    }

    /// Bytes allocated, and bytes with room for `more` row groups.
    pub(crate) fn bytes(&self, more: usize) -> (usize, usize) {
        let each = size_of::<RowGroup>() + size_of::<(TreeId, Name, u64)>();
        let keys = self.all.len() + more;
        let (known, known_grown) = self.known.bytes(keys);
        let (trees, trees_grown) = self.known_trees.bytes(keys);
        (self.all.capacity() * each + known + trees, keys * each + known_grown + trees_grown)
    }

    /// Frees its memory.
    pub(crate) fn free(self, work: &mut Interruptible<'_>) {
        work.free(self.all);
        work.free(self.trees);
        self.known.free(work);
        self.known_trees.free(work);
    }

    /// Reserves memory for `more` row groups; `false` if there is none.
    pub(crate) fn try_reserve(&mut self, more: usize) -> bool {
        let keys = self.all.len() + more;
        self.all.try_reserve_exact(more).is_ok()
            && self.trees.try_reserve_exact(keys - self.trees.len()).is_ok()
            && self.known.try_reserve(keys)
            && self.known_trees.try_reserve(keys)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &RowGroup {
        &self.all[index(number)]
    }

    #[inline]
    pub(crate) fn count_row(&mut self, number: u32) {
        self.all[index(number)].rows += 1;
    }

    /// The numbers of the row groups in the contract's order: question, tree (none first) by
    /// bytes, ancestors before descendants.
    pub(crate) fn in_order(
        &self,
        arena: &Arena,
        order: &mut Vec<u32>,
        work: &mut Interruptible<'_>,
    ) {
        order.clear();
        order.extend(0..word(self.all.len()));
        let of = |number: u32| &self.all[index(number)];
        let tree = |row_group: &RowGroup| row_group.tree_name.map(|name| arena.get(name));
        // The lists of questions are read in the order of the questions.
        for row_groups in order.chunk_by_mut(|&a, &b| of(a).group == of(b).group) {
            let compare = |&a: &u32, &b: &u32, work: &mut Interruptible<'_>| {
                let (a, b) = (of(a), of(b));
                let trees = if a.tree == b.tree {
                    Equal
                } else {
                    // The absent tree and the empty name have the same key.
                    a.tree_key.cmp(&b.tree_key).then_with(|| work.compare_some(tree(a), tree(b)))
                };
                trees.then_with(|| a.relation.cmp(&b.relation))
            };
            if row_groups.len() <= FEW {
                insert_each(row_groups, |a, b| compare(a, b, work).is_lt());
            } else {
                work.sort_with(row_groups, compare);
            }
        }
    }
}

/// An insertion sort: for a few rows, a call of another sort takes longer than this.
#[inline(always)]
pub(crate) fn insert_each<T: Copy>(all: &mut [T], mut is_before: impl FnMut(&T, &T) -> bool) {
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
