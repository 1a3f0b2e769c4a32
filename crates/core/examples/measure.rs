//! How much memory and time an image takes: 1 000 000 entities, 2 000 000 edges, names of
//! about 16 bytes. Prints a line per number.
//!
//!     cargo run --release -p cftrag-core --example measure [entities [edges]]
//!
//! The edges are a random recursive tree (entity i hangs under a random earlier one) and as
//! many random edges between entities, in a random order: hubs as well as leaves.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;

use cftrag_core::{AllSeen, Edge, Error, HeapMemory, Image, Walk};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// xorshift64*: enough for shuffling.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((u128::from(high) * n as u128) >> 32) as usize
    }
}

/// Time this thread has run, so that other work on the machine counts less.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

type Name = [u8; 16];

fn name(i: usize) -> Name {
    let name = format!("entity {:09}", i * 7919 % 1_000_000_007);
    name.into_bytes().try_into().expect("16 bytes")
}

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<usize>().expect("a number"));
    let entities = args.next().unwrap_or(1_000_000);
    let edges = args.next().unwrap_or(entities * 2);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let names: Vec<Name> = (0..entities).map(name).collect();
    let mut pairs: Vec<(usize, usize)> = (1..entities).map(|i| (random.below(i), i)).collect();
    while pairs.len() < edges {
        pairs.push((random.below(entities), random.below(entities)));
    }
    for i in (1..pairs.len()).rev() {
        pairs.swap(i, random.below(i + 1));
    }

    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    Image::format(&heap, 1).expect("chunk 0 is mapped");
    let start = cpu_ns();
    for &(parent, child) in &pairs {
        let edge = Edge { tree: Some(b"tree"), parent: &names[parent], child: &names[child] };
        while let Err(error) = Image::open(&heap).expect("an image").insert(&edge, None) {
            assert!(matches!(error, Error::Full { .. }) && heap.grow());
            Image::open(&heap).expect("an image").publish_chunks(heap.mapped());
        }
    }
    let seconds = (cpu_ns() - start) / 1e9;
    let image = Image::open(&heap).expect("an image");
    let stats = image.stats();
    let per = |bytes: u64, n: u64| bytes as f64 / n as f64;
    println!("entities                {}", stats.entities);
    println!("edge rows               {}", stats.edge_rows);
    println!("build                   {seconds:.2} s");
    println!("insert                  {:.0} ns", seconds * 1e9 / stats.edge_rows as f64);
    println!("bytes used / entity     {:.1}", per(stats.bytes_used, stats.entities));
    println!("bytes used / edge row   {:.1}", per(stats.bytes_used, stats.edge_rows));
    println!("bytes published         {}", stats.bytes_published);
    println!("filter load             {:.4}", stats.load_factor);
    println!("filter bytes / entity   {:.2}", per(stats.buckets * 32, stats.slots_used));
    println!("kicks / entity          {:.3}", per(stats.kicks, stats.slots_used));

    // Questions lie in the order they are asked, so that finding them costs nothing.
    let questions = entities;
    let hits: Vec<Name> = (0..questions).map(|_| name(random.below(entities))).collect();
    let misses: Vec<Name> = (0..questions).map(|i| name(entities + i + 1)).collect();
    let mut walk = Walk::new(|_| [0; 4]);
    let mut ask = |label: &str, at_once: usize, names: &[Name], up, down| {
        let (mut asked, mut rows, mut slots) = (0_u64, 0, 0);
        let start = cpu_ns();
        for names in names.chunks(at_once) {
            walk.clear();
            names.iter().for_each(|name| walk.begin(name, up, down));
            let _ = black_box(walk.step(image, &AllSeen, usize::MAX));
            walk.finish();
            asked += names.len() as u64;
            rows += walk.rows().len() as u64;
            slots += walk.counters().slots_visited;
        }
        let ns = (cpu_ns() - start) / asked as f64;
        let (rows, slots) = (per(rows, asked), per(slots, asked));
        println!("{label:<23} {ns:.0} ns, {rows:.2} rows, {slots:.2} slots");
    };
    for _ in 0..2 {
        ask("hit (0 up, 0 down)", 1, &hits, 0, 0);
        ask("hit, 64 in one call", 64, &hits, 0, 0);
        ask("miss", 1, &misses, 0, 0);
        ask("walk (1 up, 0 down)", 1, &hits, 1, 0);
        ask("walk (3 up, 1 down)", 1, &hits[..questions / 5], 3, 1);
    }
    // The usual way: a hash table with names of its own and the same hash function.
    let mut map: HashMap<Vec<u8>, Vec<u32>, Xxh3Builder> = HashMap::with_hasher(Xxh3Builder);
    for name in &names {
        map.insert(name.to_vec(), Vec::new());
    }
    for _ in 0..2 {
        for (label, questions) in [("hashbrown hit", &hits), ("hashbrown miss", &misses)] {
            let start = cpu_ns();
            for name in questions {
                black_box(map.get(&name[..]));
            }
            let ns = (cpu_ns() - start) / questions.len() as f64;
            println!("{label:<23} {ns:.0} ns");
        }
    }
}

/// xxh3 as the hash of a std map.
#[derive(Clone, Copy)]
struct Xxh3Builder;

struct Xxh3(u64);

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
