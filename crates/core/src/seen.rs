//! A set of 64-bit keys that stand in a list of the caller's: which of them a walk has met.
//!
//! Open addressing over places in the list; a key is read there. So an entry is four bytes,
//! a small walk's set is a few lines whatever came before, and forgetting is writing them.

use crate::id::{halves, index, word};

/// The set. Keys are numbered one after another from where it was started.
#[derive(Debug)]
pub(crate) struct Seen {
    /// A key's place plus one; 0: none. A power of two, a quarter used at most: a key that is not
    /// where it is looked for first is a wrong guess of the processor's.
    table: Vec<u32>,
    /// The places of the keys: from `first` up to `next`.
    first: u32,
    next: u32,
    /// The table grows before a key is put there.
    end: u32,
}

/// For a walk of some tens of rows at once; grows fourfold.
const FIRST_ROOM: usize = 64;

impl Seen {
    pub(crate) fn new() -> Seen {
        let mut seen = Seen { table: Vec::new(), first: 0, next: 0, end: 0 };
        seen.start(0, 0);
        seen
    }

    /// Forgets everything; the next key's place is `first`, and so many may well come.
    pub(crate) fn start(&mut self, first: usize, keys: usize) {
        self.first = word(first);
        self.next = self.first;
        self.clear((4 * keys).next_power_of_two().max(FIRST_ROOM));
    }

    /// A table of that size with nothing in it. All places it has room for are words.
    fn clear(&mut self, room: usize) {
        self.table.clear();
        self.table.resize(room, 0);
        self.end = word(index(self.first) + room / 4);
    }

    /// The place of a key; none if it is new, and then it is put at the next place.
    #[inline]
    pub(crate) fn find_or_add(&mut self, key: u64, at: impl Fn(usize) -> u64) -> Option<usize> {
        if self.next == self.end {
            self.grow(1, &at);
        }
        let next = self.next + 1;
        let entry = self.probe(key, &at);
        if *entry != 0 {
            return Some(index(*entry - 1));
        }
        *entry = next;
        self.next = next;
        None
    }

    /// Where a key is, or where it would go.
    #[inline]
    fn probe(&mut self, key: u64, at: impl Fn(usize) -> u64) -> &mut u32 {
        let table = &mut self.table[..];
        let mask = table.len() - 1;
        // Handles are dense: the golden ratio spreads them, the high half is well mixed.
        let mut place = index(halves(key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).1) & mask;
        while table[place] != 0 && at(index(table[place] - 1)) != key {
            place = (place + 1) & mask;
        }
        &mut table[place]
    }

    /// Room for so many keys more.
    #[cold]
    pub(crate) fn grow(&mut self, more: usize, at: impl Fn(usize) -> u64) {
        let wanted = ((index(self.next - self.first) + more) * 8).next_power_of_two();
        if wanted <= self.table.len() {
            return;
        }
        self.clear(wanted);
        for key in self.first..self.next {
            *self.probe(at(index(key)), &at) = key + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once_and_then_found_where_it_is() {
        let (mut seen, mut keys) = (Seen::new(), Vec::new());
        for round in 0..3_u64 {
            let first = keys.len();
            seen.start(first, 100 * index(halves(round).0));
            for i in 0..1000_u64 {
                let key = (i % 7) << 32 | i | round << 60;
                assert_eq!(seen.find_or_add(key, |at| keys[at]), None);
                keys.push(key);
                let old = first + index(halves(i / 2).0);
                assert_eq!(seen.find_or_add(keys[old], |at| keys[at]), Some(old));
            }
        }
        // A large set's entries do not pass for a small one's.
        seen.start(0, 0);
        let old = std::mem::take(&mut keys);
        for key in old.into_iter().take(1000) {
            assert_eq!(seen.find_or_add(key, |at| keys[at]), None);
            keys.push(key);
        }
    }
}
