//! Measures what a walk costs: forests like those of `make bench`, walked 3 levels up and 3 (or 1) down. Prints
//! nanoseconds per name and per relative: for random names (cold cache where the image is larger than the caches), for
//! the same 64 names again and again (hot), and for a Zipf distribution.
//!
//! ```text
//!     cargo run --release -p cftrag-core --example walk [small|medium|large [calls]]
//!     valgrind --tool=callgrind --toggle-collect='*asked*' .../walk medium 2000
//! ```

use std::hint::black_box;

use cftrag_core::{AllSeen, Edge, Error, HeapMemory, Image, Prefix, Walk};

/// The numbers of trees, entities and nodes of a tree, as in bench/src/data.rs.
const SIZES: [(&str, u64, u64, u64); 3] = [
    ("small", 600, 3_000, 10),
    ("medium", 200, 100_000, 1_000),
    ("large", 1_000, 1_000_000, 2_000),
];
const FANS: [u64; 6] = [2, 3, 4, 6, 8, 12];
const SEED: u64 = 20_261_120;

fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn word(mut n: u64, out: &mut String) {
    const ONSETS: [&str; 16] =
        ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "tr", "st"];
    const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ou", "ei"];
    loop {
        *out += ONSETS[(n % 16) as usize];
        *out += VOWELS[(n / 16 % 8) as usize];
        n /= 128;
        if n == 0 {
            return;
        }
        n -= 1;
    }
}

fn entity(i: u64) -> String {
    let mut name = String::new();
    for k in 0..1 + mix(i) % 2 {
        word(mix(i * 2 + k) % 20_000, &mut name);
        name.push(' ');
    }
    word(i, &mut name);
    name
}

/// The time that this thread has run; other work on the machine counts less in it.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

fn forest(&(_, trees, entities, tree_size): &(&str, u64, u64, u64)) -> HeapMemory {
    let run = entities / tree_size;
    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    Image::format(&heap, 1).expect("chunk 0 is mapped");
    for tree in 0..trees {
        let node = |i: u64| entity(i * run + mix(SEED ^ mix(tree << 32 | i)) % run);
        let fan = FANS[(mix(SEED ^ tree) % 6) as usize];
        let (tree, nodes) = (format!("tree {tree}"), (0..tree_size).map(node));
        let nodes: Vec<String> = nodes.collect();
        for (i, child) in (0..).zip(&nodes).skip(1) {
            let parent = &nodes[(i / fan) as usize];
            let (parent, child) = (parent.as_bytes(), child.as_bytes());
            let edge = Edge { tree: Some(tree.as_bytes()), parent, child };
            while let Err(error) = Image::open(&heap).expect("an image").insert(&edge, None) {
                assert!(matches!(error, Error::Full { .. }) && heap.grow());
                Image::open(&heap).expect("an image").publish_chunks(heap.mapped());
            }
        }
    }
    heap
}

/// Makes the calls that are measured; returns the number of relatives found, and of bytes of text.
#[inline(never)]
fn asked(
    walk: &mut Walk,
    image: Image<'_>,
    what: (usize, u32, bool),
    names: &[String],
) -> (usize, usize) {
    let ((at_once, down, text), (mut rows, mut bytes)) = (what, (0, 0));
    for names in names.chunks(at_once) {
        walk.clear();
        names.iter().for_each(|name| walk.begin(name.as_bytes(), 3.min(3 * down), down));
        let _ = black_box(walk.step(image, &AllSeen, usize::MAX));
        if text {
            bytes += black_box(walk.text()).len();
        } else {
            walk.finish();
        }
        rows += walk.so_far().1;
    }
    (rows, bytes)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let wanted = args.next().unwrap_or_else(|| "medium".into());
    let size = SIZES.iter().find(|size| size.0 == wanted).expect("small, medium or large");
    let calls = args.next().map_or(100_000, |calls| calls.parse().expect("a number"));
    let heap = forest(size);
    let image = Image::open(&heap).expect("an image");
    println!("{} entities, {} edges", image.stats().entities, image.stats().edge_rows);

    let below = |n: u64, i: u64| mix(i ^ 0x5EED) % n;
    let uniform: Vec<String> = (0..calls).map(|i| entity(below(size.2, i))).collect();
    let hot: Vec<String> = (0..calls).map(|i| entity(below(size.2, i % 64))).collect();
    let zipf = |i: u64| {
        let unit = below(1 << 53, i) as f64 / (1_u64 << 53) as f64;
        (((size.2 + 1) as f64).ln() * unit).exp() as u64 - 1
    };
    let zipf: Vec<String> = (0..calls / 10).map(|i| entity(zipf(i))).collect();
    let mut walk = Walk::new(Prefix::LENGTH);
    let only = args.next();
    for (label, what, names) in [
        ("uniform", (1, 3, false), &uniform),
        ("uniform, text", (1, 3, true), &uniform),
        ("100 a call", (100, 3, false), &uniform),
        ("100 a call, text", (100, 3, true), &uniform),
        ("hot", (1, 3, false), &hot),
        ("hot, text", (1, 3, true), &hot),
        ("hot, children, text", (1, 1, true), &hot),
        ("children, text", (1, 1, true), &uniform),
        ("lookup", (1, 0, false), &uniform),
        ("Zipf", (1, 3, false), &zipf),
        ("Zipf, text", (1, 3, true), &zipf),
    ] {
        if only.as_ref().is_some_and(|only| only != label) {
            continue;
        }
        let (mut ns, mut found) = (f64::MAX, (0, 0));
        for _ in 0..7 {
            let start = cpu_ns();
            found = asked(&mut walk, image, what, names);
            ns = ns.min(cpu_ns() - start);
        }
        let (rows, bytes) = found;
        let per = |n: f64| n / names.len() as f64;
        let (call, each) = (per(ns), ns / rows as f64);
        let (rows, bytes) = (per(rows as f64), per(bytes as f64));
        println!(
            "{label:<20} {call:7.0} ns a name {each:6.1} ns a relative {rows:6.1} rows {bytes:6.0} bytes"
        );
    }
}
