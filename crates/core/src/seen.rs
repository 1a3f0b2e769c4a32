//! Which (tree, entity) pairs a walk has reached, and in which of its rows; and which trees.
//!
//! Open addressing over pairs of handles. Each entry bears the number of the walk it
//! belongs to, so starting another walk forgets all of them without touching any.

use crate::id::{EntityId, TreeId, halves, index, word};

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// `tree << 32 | entity`; an entity of 0 stands for the tree's own name.
    key: u64,
    walk: u32,
    value: u32,
}

/// The set of pairs, with a number each.
#[derive(Debug)]
pub(crate) struct Seen {
    table: Vec<Entry>,
    walk: u32,
    len: usize,
}

/// Room for a walk of some tens of rows at once; grows by doubling.
const FIRST_ROOM: usize = 64;

impl Seen {
    pub(crate) fn new() -> Seen {
        Seen { table: Vec::new(), walk: 1, len: 0 }
    }

    /// Forgets everything.
    pub(crate) fn start(&mut self) {
        self.len = 0;
        self.walk = self.walk.wrapping_add(1);
        if self.walk == 0 {
            // The numbers repeat after 2^32 walks.
            self.table.fill(Entry::default());
            self.walk = 1;
        }
    }

    /// The number stored for a pair; stores `value` if there is none.
    #[inline]
    pub(crate) fn get_or_insert(
        &mut self,
        tree: Option<TreeId>,
        entity: Option<EntityId>,
        value: usize,
    ) -> Option<usize> {
        if (self.len + 1) * 2 > self.table.len() {
            self.double();
        }
        let key = u64::from(TreeId::to_word(tree)) << 32 | u64::from(EntityId::to_word(entity));
        let at = self.find(key);
        let entry = &mut self.table[at];
        if entry.walk == self.walk {
            return Some(index(entry.value));
        }
        *entry = Entry { key, walk: self.walk, value: word(value) };
        self.len += 1;
        None
    }

    /// Where a key is, or where it would go.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.table.len() - 1;
        // Handles are dense: the golden ratio spreads them, the high half is well mixed.
        let mut at = index(halves(key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).1) & mask;
        while self.table[at].walk == self.walk && self.table[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }

    /// Room for so many pairs more.
    pub(crate) fn reserve(&mut self, more: usize) {
        while (self.len + more + 1) * 2 > self.table.len() {
            self.double();
        }
    }

    fn double(&mut self) {
        let room = (self.table.len() * 2).max(FIRST_ROOM);
        let old = std::mem::replace(&mut self.table, vec![Entry::default(); room]);
        for entry in old.into_iter().filter(|entry| entry.walk == self.walk) {
            let at = self.find(entry.key);
            self.table[at] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_new_once_a_walk() {
        let mut seen = Seen::new();
        for walk in 0..3 {
            seen.start();
            for i in 1..1000_u32 {
                let pair = (TreeId::from_word(i % 7), EntityId::from_word(i));
                assert_eq!(seen.get_or_insert(pair.0, pair.1, index(i)), None, "walk {walk}");
            }
            for i in 1..1000_u32 {
                let pair = (TreeId::from_word(i % 7), EntityId::from_word(i));
                assert_eq!(seen.get_or_insert(pair.0, pair.1, 0), Some(index(i)));
                let other = (TreeId::from_word(i % 7 + 1), EntityId::from_word(i));
                assert_eq!(seen.get_or_insert(other.0, other.1, 1), None);
                if i == 100 {
                    break;
                }
            }
        }
    }

    #[test]
    fn numbers_of_walks_may_wrap() {
        let mut seen = Seen::new();
        seen.start();
        let entity = EntityId::from_word(9);
        assert_eq!(seen.get_or_insert(None, entity, 4), None);
        seen.walk = u32::MAX;
        seen.start();
        assert_eq!(seen.get_or_insert(None, entity, 5), None);
    }
}
