//! Names as numbers, for work on many edges outside the image: one copy of each name, one table.

use crate::Interruptible;
use crate::memory::casts::{halves, index, word};
use std::hash::{BuildHasher, RandomState};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The number of a name; the first name has 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameId(u32);

impl NameId {
    /// How many names came before this one.
    #[must_use]
    pub fn number(self) -> usize {
        index(self.0)
    }
}

/// Distinct names, numbered in the order in which they came.
#[derive(Debug)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The low halves of the hashes of the names.
    hashes: Vec<u32>,
    /// Open addressing, at most half full: a name's number plus one, or 0 if the place is empty.
    table: Vec<u32>,
    /// Random, so that users cannot choose names that collide.
    seed: u64,
}

impl Default for Names {
    fn default() -> Names {
        let seed = RandomState::new().hash_one(0);
        Names { bytes: Vec::new(), ends: Vec::new(), hashes: Vec::new(), table: vec![0; 64], seed }
    }
}

impl Names {
    /// The number of a name; a new number if the name did not occur before.
    ///
    /// # Panics
    /// At the 2^32nd name.
    pub fn id(&mut self, name: &[u8]) -> NameId {
        let (hash, at) = match self.find(name) {
            Ok(id) => return id,
            Err(free) => free,
        };
        let id = NameId(word(self.ends.len()));
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
        self.hashes.push(hash);
        self.table[at] = id.0 + 1;
        if 2 * self.ends.len() > self.table.len() {
            assert!(self.try_grow(), "there is memory for names");
        }
        id
    }

    /// The number of a name; if it did not occur before, its hash and its place in the table.
    fn find(&self, name: &[u8]) -> Result<NameId, (u32, usize)> {
        let (hash, _) = halves(xxh3_64_with_seed(name, self.seed));
        let mut at = self.place(hash);
        while self.table[at] != 0 {
            let id = NameId(self.table[at] - 1);
            if self.hashes[index(id.0)] == hash && self.get(id) == name {
                return Ok(id);
            }
            at = (at + 1) % self.table.len();
        }
        Err((hash, at))
    }

    /// The number of a name that occurred before.
    #[must_use]
    pub fn known(&self, name: &[u8]) -> Option<NameId> {
        self.find(name).ok()
    }

    #[must_use]
    pub fn contains(&self, name: &[u8]) -> bool {
        self.known(name).is_some()
    }

    /// [`Names::id`]; none if there is no memory for a new name.
    pub fn try_id(&mut self, name: &[u8]) -> Option<NameId> {
        self.try_reserve(1, name.len()).then(|| self.id(name))
    }

    /// Makes room for so many more names, of so many bytes together; `false` if there is no memory.
    pub(crate) fn try_reserve(&mut self, names: usize, bytes: usize) -> bool {
        while 2 * (self.ends.len() + names) > self.table.len() {
            if !self.try_grow() {
                return false;
            }
        }
        self.bytes.try_reserve(bytes).is_ok()
            && self.ends.try_reserve(names).is_ok()
            && self.hashes.try_reserve(names).is_ok()
    }

    /// Whether one more name of so many bytes fits without an allocation.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let count = self.ends.len() + 1;
        self.bytes.capacity() - self.bytes.len() >= bytes
            && count <= self.ends.capacity().min(self.hashes.capacity())
            && 2 * count <= self.table.len()
    }

    /// Bytes of memory that the names take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + (self.hashes.capacity() + self.table.capacity()) * size_of::<u32>()
    }

    #[must_use]
    pub fn get(&self, id: NameId) -> &[u8] {
        let at = index(id.0);
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All numbers, in the order in which the names came.
    pub fn ids(&self) -> impl Iterator<Item = NameId> + Clone + use<> {
        (0..word(self.len())).map(NameId)
    }

    /// The ranks of all names in bytewise order, from 1.
    #[must_use]
    pub fn ranks(&self, work: &mut Interruptible<'_>) -> Ranks {
        let mut order: Vec<NameId> = self.ids().collect();
        work.sort_with(&mut order, |&a, &b, work| work.compare(self.get(a), self.get(b)));
        let mut ranks = vec![0; order.len()];
        for (rank, id) in (1..).zip(order) {
            ranks[index(id.0)] = rank;
        }
        Ranks(ranks)
    }

    fn place(&self, hash: u32) -> usize {
        // The table's length is a power of two.
        index(hash) & (self.table.len() - 1)
    }

    /// Doubles the table; `false` if there is no memory.
    fn try_grow(&mut self) -> bool {
        let places = 2 * self.table.len();
        let mut table = Vec::new();
        if table.try_reserve_exact(places).is_err() {
            return false;
        }
        table.resize(places, 0);
        self.table = table;
        for number in 0..self.hashes.len() {
            let mut at = self.place(self.hashes[number]);
            while self.table[at] != 0 {
                at = (at + 1) % self.table.len();
            }
            self.table[at] = word(number) + 1;
        }
        true
    }
}

/// The ranks of names, by number.
#[derive(Debug)]
pub struct Ranks(Vec<u32>);

impl Ranks {
    /// The rank of a name; 0 if there is no name.
    #[must_use]
    pub fn of(&self, name: Option<NameId>) -> u32 {
        name.map_or(0, |id| self.0[index(id.0)])
    }
}

#[test]
fn each_name_has_one_number_and_the_ranks_are_their_order() {
    let mut names = Names::default();
    let texts: Vec<String> = (0..5000).map(|i| format!("{}", i * 7919 % 5000)).collect();
    let first: Vec<NameId> =
        texts.iter().map(|text| names.try_id(text.as_bytes()).unwrap()).collect();
    let empty = names.id(b"");
    let again: Vec<NameId> = texts.iter().map(|text| names.id(text.as_bytes())).collect();
    assert_eq!((first == again, names.id(b""), names.len()), (true, empty, 5001));
    assert!(texts.iter().zip(&first).all(|(text, &id)| names.get(id) == text.as_bytes()));
    let ranks = names.ranks(&mut Interruptible::new(&mut || ()));
    let mut sorted = first.clone();
    sorted.sort_by_key(|&id| ranks.of(Some(id)));
    assert!(sorted.is_sorted_by_key(|&id| names.get(id)));
    assert_eq!((ranks.of(None), ranks.of(Some(empty))), (0, 1));
}
