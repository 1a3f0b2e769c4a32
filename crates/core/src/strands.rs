//! The strands of a walk: the rows of one question, relation and tree.
//!
//! A row's strand is its owner's, so that trees are compared at the first step only, and rows
//! of a strand are found by depth. Put in the contract's order, the strands are the answer.

use crate::answer::Relation;
use crate::arena::{Arena, Name};
use crate::id::{EntityId, TreeId, index, to_word, word};
use crate::memory::Memory;
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

impl Strand {
    /// Without rows.
    #[inline]
    pub(crate) fn new(
        group: u32,
        relation: Relation,
        tree: Option<TreeId>,
        start: EntityId,
    ) -> Strand {
        Strand { group, relation, tree, tree_name: None, tree_key: 0, start, rows: 0 }
    }

    /// What two strands of a block differ in. A tree is less than 2^28, see `id.rs`.
    fn key(&self) -> u64 {
        let relation = u64::from(self.relation == Relation::Descendant);
        relation << 63 | u64::from(to_word(self.tree)) << 32 | u64::from(self.group)
    }
}

#[derive(Debug)]
pub(crate) struct Strands {
    all: Vec<Strand>,
    known: Seen,
    /// The first without its tree's name.
    unnamed: usize,
    /// The names of trees, each copied once a walk.
    trees: Vec<(TreeId, Name, u64)>,
    known_trees: Seen,
}

impl Strands {
    pub(crate) fn new() -> Strands {
        let (all, trees) = (Vec::new(), Vec::new());
        Strands { all, known: Seen::new(), unnamed: 0, trees, known_trees: Seen::new() }
    }

    /// Forgets all; the arena is about to.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.trees.clear();
        self.known_trees.start(0, 0);
        self.unnamed = 0;
    }

    /// The strands to come are of other questions, so many.
    pub(crate) fn start(&mut self, questions: usize) {
        self.known.start(self.all.len(), 4 * questions);
    }

    /// The number of a strand like this one, which may be new.
    #[inline]
    pub(crate) fn number(&mut self, mem: &Memory, like: Strand) -> u32 {
        let key = like.key();
        // Edges of one tree often stand together.
        if let Some(last) = self.all.last()
            && last.key() == key
        {
            return word(self.all.len() - 1);
        }
        match self.known.find_or_add(key, |at| self.all[at].key()) {
            Some(known) => word(known),
            None => {
                if let Some(tree) = like.tree {
                    mem.prefetch(tree.line());
                }
                self.all.push(like);
                word(self.all.len() - 1)
            }
        }
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
            strands.sort_unstable_by(|&a, &b| {
                let (a, b) = (of(a), of(b));
                let trees = if a.tree == b.tree {
                    Equal
                } else {
                    // No tree has the key of the empty name.
                    a.tree_key.cmp(&b.tree_key).then_with(|| tree(a).cmp(&tree(b)))
                };
                trees.then_with(|| a.relation.cmp(&b.relation))
            });
        }
    }
}
