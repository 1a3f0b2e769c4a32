//! The parts that the benchmarks share: names, a map of owned names with the core's hash function, an image.

pub mod plain;
#[cfg(published)]
pub mod published;

use std::hash::{BuildHasher, Hasher};

use cftrag_core::{Edge, Error, HeapMemory, Image};
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// xorshift64*, which is good enough for shuffling.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        ((u128::from(high) * n as u128) >> 64) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

const WORDS: [&str; 16] = [
    "heart",
    "acute",
    "disease",
    "of",
    "carcinoma",
    "benign",
    "type",
    "left",
    "hereditary",
    "spinal",
    "eye",
    "syndrome",
    "in situ",
    "congenital",
    "renal",
    "x-linked",
];

/// Name number `i`: one to three words and a number, 7 to 37 bytes, 22 on average, like the names in ontologies.
pub fn name(i: usize) -> String {
    let (a, b, c) = (i * 7 % 16, i / 3 % 16, i / 5 % 16);
    let number = i * 7919 % 1_000_000_007;
    match i % 4 {
        0 => format!("{} {number}", WORDS[a]),
        1 | 2 => format!("{} {} {number}", WORDS[a], WORDS[b]),
        _ => format!("{} {} {} {number}", WORDS[a], WORDS[b], WORDS[c]),
    }
}

/// Questions as adjacent strings, so that reading the next one costs every contender the same.
pub struct Questions {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Questions {
    pub fn new(names: impl Iterator<Item = String>) -> Questions {
        let mut questions = Questions { bytes: Vec::new(), ends: vec![0] };
        for name in names {
            questions.bytes.extend_from_slice(name.as_bytes());
            questions.ends.push(u32::try_from(questions.bytes.len()).expect("less than 4 GiB"));
        }
        questions
    }

    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.windows(2).map(|ends| &self.bytes[ends[0] as usize..ends[1] as usize])
    }
}

/// An image of entities 0 to n - 1, each the child of number i / 3, inserted in random order.
pub fn image_of(n: usize, random: &mut Random) -> HeapMemory {
    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    Image::format(&heap, 1).expect("chunk 0 is mapped");
    let mut order: Vec<usize> = (1..n).collect();
    random.shuffle(&mut order);
    for i in order {
        let (parent, child) = (name(i / 3), name(i));
        insert(&mut heap, &Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() });
    }
    heap
}

pub fn insert(heap: &mut HeapMemory, edge: &Edge<'_>) {
    while let Err(error) = image(heap).insert(edge, None) {
        assert!(matches!(error, Error::Full { .. }) && heap.grow());
        image(heap).publish_chunks(heap.mapped());
    }
}

pub fn image(heap: &HeapMemory) -> Image<'_> {
    Image::open(heap).expect("an image")
}

/// A map with the core's hash function.
pub type Map<K> = HashMap<K, u32, Xxh3Builder>;

/// Owned names in random order, each with a number.
pub fn map_of(n: usize, random: &mut Random) -> Map<Box<[u8]>> {
    let mut map = HashMap::with_hasher(Xxh3Builder);
    let mut order: Vec<usize> = (0..n).collect();
    random.shuffle(&mut order);
    for i in order {
        map.insert(name(i).into_bytes().into_boxed_slice(), i as u32);
    }
    map
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Xxh3Builder;

pub struct Xxh3(u64);

impl BuildHasher for Xxh3Builder {
    type Hasher = Xxh3;
    fn build_hasher(&self) -> Xxh3 {
        Xxh3(1)
    }
}

impl Hasher for Xxh3 {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }
    fn write_usize(&mut self, _len: usize) {}
    fn finish(&self) -> u64 {
        self.0
    }
}
