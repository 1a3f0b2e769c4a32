//! A hash table that grows with a user's data. It grows in parts, so that no growth takes long and no allocation is
//! large; each allocation may fail without ending the server, as Rust's allocator would.

use crate::error;
use crate::error::Fallible;
use cftrag_core::Mixed;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hash};

/// In a table of a million keys, a part has some thousands, and grows in less than a millisecond.
const PARTS: usize = 256;

type Hashes = BuildHasherDefault<Mixed>;

pub type Map<K, V> = HashMap<K, V, Hashes>;

pub type Set<K> = HashSet<K, Hashes>;

/// The hash table. Its values are small and own nothing, so dropping them takes no time.
pub struct Table<K, V>(pub Vec<HashMap<K, V, Hashes>>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self((0..PARTS).map(|_| HashMap::default()).collect())
    }
}

impl<K: Hash + Eq + Copy, V: Copy> Table<K, V> {
    /// The key's part, from bits that the part's own table does not use first.
    fn part(key: &K) -> usize {
        (Hashes::default().hash_one(key) >> 40) as usize % PARTS
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.0[Self::part(key)].get(key)
    }

    /// The value of a key, and whether it was inserted now. 53200.
    pub fn entry(&mut self, key: K, new: impl FnOnce() -> V) -> Fallible<(&mut V, bool)> {
        let part = &mut self.0[Self::part(&key)];
        let known = part.len();
        if known == part.capacity() {
            part.try_reserve(1).map_err(|_| error::no_memory_to_work(2 * known * size_of::<(K, V)>()))?;
        }
        Ok(match part.entry(key) {
            Entry::Occupied(known) => (known.into_mut(), false),
            Entry::Vacant(room) => (room.insert(new()), true),
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.0.iter().flatten()
    }

    pub fn keys(&self) -> impl Iterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(HashMap::len).sum()
    }
}
