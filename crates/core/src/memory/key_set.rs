//! A set of the 64-bit keys that a walk has met. The keys are stored in the caller's list.
//!
//! The table uses open addressing and has places in the list; keys are read there. So an entry is four bytes, and a
//! small walk's set is a few lines, whatever came before; clearing writes only those lines.

use crate::Interruptible;
use crate::memory::casts::{halves, index, word};

/// The set. Places of keys are consecutive, from the first one given.
#[derive(Debug)]
pub(crate) struct KeySet {
    /// A key's place plus one, or 0. The length is a power of two. At most a quarter of the entries is used, because a
    /// second probe is a mispredicted branch; in a large table half, to save memory.
    table: Vec<u32>,
    /// The places of the keys: from `first` up to `next`.
    first: u32,
    next: u32,
    /// The table grows before a key gets this place.
    end: u32,
}

/// Ids are dense: the golden ratio spreads them, and the high half is well mixed.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Entries of the smallest table, for 16 keys. It grows fourfold.
const FIRST_ROOM: usize = 64;

impl KeySet {
    pub(crate) fn new() -> KeySet {
        let mut seen = KeySet { table: Vec::new(), first: 0, next: 0, end: 0 };
        seen.start(0, 0);
        seen
    }

    /// Drops all keys; the next key's place is `first`, and about `keys` keys are expected.
    pub(crate) fn start(&mut self, first: usize, keys: usize) {
        self.first = word(first);
        self.next = self.first;
        self.clear((4 * keys).next_power_of_two().max(FIRST_ROOM));
    }

    /// Makes an empty table of `room` entries. All places for which it has room must fit into a word.
    fn clear(&mut self, room: usize) {
        self.table.clear();
        self.table.resize(room, 0);
        self.end = word(index(self.first) + keys_in(room));
    }

    /// The place of a key; none if the key is new. A new key gets the next place.
    #[inline]
    pub(crate) fn find_or_add(&mut self, key: u64, at: impl Fn(usize) -> u64) -> Option<usize> {
        if self.next == self.end {
            self.grow(1, &at, &mut Interruptible::new(&mut || ()));
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

    /// Whether the set has the key.
    #[inline]
    pub(crate) fn has(&self, key: u64, at: impl Fn(usize) -> u64) -> bool {
        let mask = self.table.len() - 1;
        let mut place = index(halves(key.wrapping_mul(GOLDEN)).1) & mask;
        while self.table[place] != 0 {
            if at(index(self.table[place] - 1)) == key {
                return true;
            }
            place = (place + 1) & mask;
        }
        false
    }

    /// How many keys fit before the table is reallocated.
    #[inline]
    pub(crate) fn fit(&self) -> usize {
        let whole = (self.table.capacity() + 1).next_power_of_two() / 2;
        // A table half as large grows fourfold, beyond the capacity, when it is a quarter full. A table that reaches or
        // exceeds LARGE grows no further than that.
        index(self.end - self.first).max(if whole < LARGE { whole / 8 } else { whole / 2 })
    }

    /// The place after the last one that fits.
    pub(crate) fn places(&self) -> usize {
        index(self.first) + self.fit()
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        index(self.next - self.first)
    }

    /// Bytes allocated, and bytes of a table grown for `keys` keys.
    pub(crate) fn bytes(&self, keys: usize) -> (usize, usize) {
        (self.table.capacity() * size_of::<u32>(), room_for(keys) * size_of::<u32>())
    }

    /// Reserves memory so that `keys` keys fit without an allocation; `false` if there is none.
    pub(crate) fn try_reserve(&mut self, keys: usize) -> bool {
        let more = room_for(keys).saturating_sub(self.table.len());
        self.table.try_reserve_exact(more).is_ok()
    }

    /// Frees its memory.
    pub(crate) fn free(self, work: &mut Interruptible<'_>) {
        work.free(self.table);
    }

    /// Frees its memory; [`KeySet::start`] makes it usable again.
    pub(crate) fn drop_room(&mut self) {
        *self = KeySet { table: Vec::new(), first: 0, next: 0, end: 0 };
    }

    /// The entry of a key, or the one that it would get.
    #[inline]
    fn probe(&mut self, key: u64, at: impl Fn(usize) -> u64) -> &mut u32 {
        let table = &mut self.table[..];
        let mask = table.len() - 1;
        let mut place = index(halves(key.wrapping_mul(GOLDEN)).1) & mask;
        while table[place] != 0 && at(index(table[place] - 1)) != key {
            place = (place + 1) & mask;
        }
        &mut table[place]
    }

    /// Grows the table for `more` keys.
    #[cold]
    pub(crate) fn grow(
        &mut self,
        more: usize,
        at: impl Fn(usize) -> u64,
        work: &mut Interruptible<'_>,
    ) {
        let wanted = room_for(index(self.next - self.first) + more);
        if wanted <= self.table.len() {
            return;
        }
        self.clear(wanted);
        for key in self.first..self.next {
            work.step();
            *self.probe(at(index(key)), &at) = key + 1;
        }
    }
}

/// A table of this many entries or more may be half full.
const LARGE: usize = 1 << 19;

/// How many keys a table of `room` entries takes.
fn keys_in(room: usize) -> usize {
    if room < LARGE { room / 4 } else { room / 2 }
}

/// The entries of a table grown for `keys` keys.
fn room_for(keys: usize) -> usize {
    if keys <= LARGE / 8 {
        (keys * 8).next_power_of_two()
    } else {
        (keys * 2).next_power_of_two().max(LARGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::casts::wide;

    #[test]
    fn keys_that_fit_take_no_memory_anew() {
        for reserved in [1, 63, 64, 65_535, 65_536, 65_537, 98_000, 131_072, 262_144, 262_145] {
            for started in [0, 1, 100, 20_000] {
                let (mut seen, key) = (KeySet::new(), |at: usize| wide(at) * 7 + 1);
                seen.start(0, started);
                assert!(seen.try_reserve(reserved));
                let (fits, bytes) = (seen.fit(), seen.bytes(0).0);
                assert!(fits >= reserved, "{fits} of {reserved} fit");
                (0..fits).for_each(|at| _ = seen.find_or_add(key(at), key));
                assert_eq!((seen.len(), seen.bytes(0).0), (fits, bytes), "{reserved}, {started}");
            }
        }
    }

    #[test]
    fn a_key_is_new_once_and_then_found_where_it_is() {
        let (mut seen, mut keys) = (KeySet::new(), Vec::new());
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
        // Entries of the large set must not be taken for those of a small one.
        seen.start(0, 0);
        let old = std::mem::take(&mut keys);
        for key in old.into_iter().take(1000) {
            assert_eq!(seen.find_or_add(key, |at| keys[at]), None);
            keys.push(key);
        }
    }
}
