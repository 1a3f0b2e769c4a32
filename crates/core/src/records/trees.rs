//! The trees that a reader is limited to, given by their names.
//!
//! They are looked up once, at the start. If a tree is absent then, or is removed later and its line reused, it has
//! only edges that were added later, and the reader's snapshot sees none of these.

use crate::Image;
use crate::memory::hash::Kind;
use crate::memory::id::{RecordId, TreeId, to_word};

/// The cost of looking up a tree, in slots: two buckets and a record.
const LOOKUP_SLOTS: usize = 4;
/// Up to this many trees are compared one by one.
const FEW: usize = 8;

/// A set of trees.
#[derive(Debug)]
pub struct Trees {
    /// The names, one after the other, and the end of each.
    names: Vec<u8>,
    ends: Vec<usize>,
    /// How many names were looked up.
    looked_up: usize,
    /// The trees found, as words; 0 stands for rows without a tree. Sorted once all names are looked up.
    found: Vec<u32>,
}

impl Trees {
    /// The set of the trees of these names; a name of None stands for rows without a tree. `None` if there is no
    /// memory.
    #[must_use]
    pub fn of<'n>(names: impl Iterator<Item = Option<&'n [u8]>> + Clone) -> Option<Trees> {
        let (mut count, mut bytes) = (1, 0);
        names
            .clone()
            .for_each(|name| (count, bytes) = (count + 1, bytes + name.map_or(0, <[u8]>::len)));
        let mut trees =
            Trees { names: Vec::new(), ends: Vec::new(), looked_up: 0, found: Vec::new() };
        trees.names.try_reserve_exact(bytes).ok()?;
        trees.ends.try_reserve_exact(count).ok()?;
        trees.found.try_reserve_exact(count).ok()?;
        for name in names {
            match name {
                Some(name) => {
                    trees.names.extend_from_slice(name);
                    trees.ends.push(trees.names.len());
                }
                None if trees.found.is_empty() => trees.found.push(0),
                None => {}
            }
        }
        Some(trees)
    }

    /// Looks up the trees, for about `budget` slots; `false` if the budget ended first. Allocates nothing.
    pub(crate) fn look_up(&mut self, image: Image<'_>, budget: &mut usize) -> bool {
        if self.looked_up == self.ends.len() {
            return true;
        }
        while let Some(&end) = self.ends.get(self.looked_up) {
            if *budget == 0 {
                return false;
            }
            *budget = budget.saturating_sub(LOOKUP_SLOTS);
            let start = self.looked_up.checked_sub(1).map_or(0, |before| self.ends[before]);
            let tree = image.key(Kind::Tree, &self.names[start..end]).record.map(RecordId::tree);
            if tree.is_some() {
                self.found.push(to_word(tree));
            }
            self.looked_up += 1;
        }
        self.found.sort_unstable();
        true
    }

    /// Whether rows of that tree are wanted. Call it only after the trees were looked up.
    #[inline]
    pub(crate) fn has(&self, tree: Option<TreeId>) -> bool {
        let word = to_word(tree);
        match self.found.len() {
            ..=FEW => self.found.contains(&word),
            _ => self.found.binary_search(&word).is_ok(),
        }
    }

    /// How many of the trees are in the image.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Bytes of memory that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.names.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.found.capacity() * size_of::<u32>()
    }
}
