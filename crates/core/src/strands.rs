//! The strands of a walk: the rows of one question, relation and tree.
//!
//! A row's strand is its owner's, so that trees are compared at the first step only, and rows
//! of a strand are found by depth. Put in the contract's order, the strands are the answer.

use crate::answer::Relation;
use crate::arena::{Arena, Name};
use crate::id::{EntityId, TreeId, index, to_word, word};
use crate::memory::Memory;
use crate::order::insert_each;
use crate::record::Record;
use crate::seen::Seen;
use std::cmp::Ordering::Equal;

/// The rows of a question in one relation and one tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strand {
    pub(crate) group: u32,
    pub(crate) relation: Relation,
    pub(crate) tree: Option<TreeId>,
    /// The tree's name, once it was copied, and its first eight bytes as a number.
    pub(crate) tree_name: Option<Name>,
    pub(crate) tree_key: u64,
    /// The question's entity.
    pub(crate) start: EntityId,
    /// How many rows there are.
    pub(crate) rows: u32,
}

/// A list has edges of a few trees mostly: then they are compared, not looked up.
const FEW: usize = 8;

#[derive(Debug)]
pub(crate) struct Strands {
    all: Vec<Strand>,
    /// The first of the list that is read: of a question, in one relation.
    first: usize,
    /// The trees of the strands from a first one on, if they are more than a few.
    known: Seen,
    known_from: Option<usize>,
    /// The first without its tree's name.
    unnamed: usize,
    /// The names of trees, each copied once a walk.
    trees: Vec<(TreeId, Name, u64)>,
    known_trees: Seen,
}

impl Strands {
    pub(crate) fn new() -> Strands {
        let (all, trees) = (Vec::new(), Vec::new());
        let (known, known_trees) = (Seen::new(), Seen::new());
        Strands { all, first: 0, known, known_from: None, unnamed: 0, trees, known_trees }
    }

    /// Forgets all; the arena is about to.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.trees.clear();
        self.known_trees.start(0, 0);
        (self.first, self.known_from, self.unnamed) = (0, None, 0);
    }

    /// Another list of a question's entity is read, of which no strand is known.
    pub(crate) fn begin_list(&mut self) {
        self.first = self.all.len();
    }

    /// The number of the strand of a tree of the list that is read, which may be new.
    #[inline]
    pub(crate) fn number(
        &mut self,
        mem: &Memory,
        group: u32,
        relation: Relation,
        tree: Option<TreeId>,
        start: EntityId,
    ) -> u32 {
        let Strands { all, first, .. } = self;
        let known = if all.len() - *first <= FEW {
            // Edges of one tree often stand together.
            (*first..all.len()).rev().find(|&at| all[at].tree == tree)
        } else {
            self.look_up(tree)
        };
        word(known.unwrap_or_else(|| {
            if let Some(tree) = tree {
                mem.prefetch(tree.line());
            }
            let (tree_name, tree_key) = (None, 0);
            self.all.push(Strand { group, relation, tree, tree_name, tree_key, start, rows: 0 });
            self.all.len() - 1
        }))
    }

    /// Where the strand of a tree is among many of a list; it will be the next one if there is none.
    #[inline(never)]
    fn look_up(&mut self, tree: Option<TreeId>) -> Option<usize> {
        let Strands { all, known, known_from, first, .. } = self;
        let key = |tree| u64::from(to_word(tree));
        if *known_from != Some(*first) {
            *known_from = Some(*first);
            known.start(*first, 4 * FEW);
            for strand in &all[*first..] {
                known.find_or_add(key(strand.tree), |at| key(all[at].tree));
            }
        }
        known.find_or_add(key(tree), |at| key(all[at].tree))
    }

    /// Copies the names of the trees that were met since it was called last.
    pub(crate) fn name_trees(&mut self, mem: &Memory, arena: &mut Arena) {
        let Strands { all, trees, known_trees, unnamed, .. } = self;
        for strand in &mut all[*unnamed..] {
            let Some(tree) = strand.tree else { continue };
            let key = u64::from(tree.line());
            let known = known_trees.find_or_add(key, |at| u64::from(trees[at].0.line()));
            let known = known.unwrap_or_else(|| {
                let (name, key) = arena.add_name_of(Record::new(mem, tree));
                trees.push((tree, name, key));
                trees.len() - 1
            });
            let (_, name, key) = trees[known];
            (strand.tree_name, strand.tree_key) = (Some(name), key);
        }
        *unnamed = all.len();
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Strand {
        &self.all[index(number)]
    }

    #[inline]
    pub(crate) fn count_row(&mut self, number: u32) {
        self.all[index(number)].rows += 1;
    }

    /// The numbers of the strands in the contract's order: question, tree (none first) by
    /// bytes, ancestors before descendants.
    pub(crate) fn in_order(&self, arena: &Arena, order: &mut Vec<u32>) {
        order.clear();
        order.extend(0..word(self.all.len()));
        let of = |number: u32| &self.all[index(number)];
        let tree = |strand: &Strand| strand.tree_name.map(|name| arena.get(name));
        // The lists of questions are read in the order of the questions.
        for strands in order.chunk_by_mut(|&a, &b| of(a).group == of(b).group) {
            let compare = |&a: &u32, &b: &u32| {
                let (a, b) = (of(a), of(b));
                let trees = if a.tree == b.tree {
                    Equal
                } else {
                    // No tree has the key of the empty name.
                    a.tree_key.cmp(&b.tree_key).then_with(|| tree(a).cmp(&tree(b)))
                };
                trees.then_with(|| a.relation.cmp(&b.relation))
            };
            if strands.len() <= FEW {
                insert_each(strands, |a, b| compare(a, b).is_lt());
            } else {
                strands.sort_unstable_by(compare);
            }
        }
    }
}
