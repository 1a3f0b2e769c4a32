//! Measures what grows with the image, and what temperature costs: measurements that do not fit criterion.
//!
//!     cargo run --release --bin growth -- growth [entities]         longest insert, build (time, bytes), a lookup
//!     cargo run --release --bin growth -- inserts [rows] [rounds]   one row of a large INSERT, as make bench has it
//!     cargo run --release --bin growth -- temperature [entities] [uniform|zipf] [off|count|sort]
//!     cargo run --release --bin growth -- lookups [entities] [hit|miss|text] [hashbrown|image|filter|plain|text]
//!
//! Times are CPU times of this thread where possible, so that other load counts less.

mod lookups;

use std::hint::black_box;
use std::time::Instant;

use cftrag_core::{AllSeen, Edge, HeapMemory, Image, Prefix, Recent, Stamp, Step, Walk};
use cftrag_core_bench::{Random, image, insert, name};

/// The time that this thread has run.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

fn main() {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_default();
    let entities = args.next().map_or(1_000_000, |arg| arg.parse().expect("a number"));
    match what.as_str() {
        "growth" => growth(entities),
        "inserts" => inserts(entities, args.next().map_or(5, |arg| arg.parse().expect("a number"))),
        "temperature" => temperature(entities, &args.collect::<Vec<_>>()),
        "lookups" => lookups::lookups(entities, &args.collect::<Vec<_>>()),
        _ => panic!("growth, inserts, temperature or lookups"),
    }
}

/// Rounds over the same inserts: if one takes long in each round, its own work is slow, not other load.
const ROUNDS: usize = 5;

/// Inserts two edges per entity: one from a random earlier parent, and one between two random entities.
fn growth(entities: usize) {
    let mut least = vec![f32::INFINITY; entities];
    for round in 0..ROUNDS {
        let heap = grow(entities, &mut least, round == 0);
        if round == 0 {
            let stats = image(&heap).stats();
            println!("{} entities, {} edge rows", stats.entities, stats.edge_rows);
            println!(
                "{:.1} bytes an entity, {:.1} an edge row; load {:.3}; {} splits",
                stats.bytes_used as f64 / stats.entities as f64,
                stats.bytes_used as f64 / stats.edge_rows as f64,
                stats.load_factor,
                stats.splits
            );
        }
        println!("round {round}: longest pairs of inserts so far: {:.0?} us", longest(&least));
    }
}

/// Inserts rows like those of bench/src/insert.rs, with versions, into memory that was used before.
fn inserts(rows: usize, rounds: usize) {
    let names: Vec<[String; 3]> =
        (1..=rows).map(|i| [format!("t{}", i % 100), format!("parent {}", i / 10), format!("child {i}")]).collect();
    let mut heap = HeapMemory::new(usize::MAX);
    while heap.mapped() < 20 + rows / 20_000 {
        assert!(heap.grow());
    }
    let stamp = Some(Stamp { xmin: 1000, cmin: 0 });
    for _ in 0..rounds {
        let image = Image::format(&heap, 1).expect("chunk 0 is mapped");
        image.publish_chunks(heap.mapped());
        let (mut recent, start) = (Recent::default(), cpu_ns());
        for [tree, parent, child] in &names {
            let [parent, child] = [parent, child].map(String::as_bytes);
            let edge = Edge { tree: Some(tree.as_bytes()), parent, child };
            image.insert_next(&edge, stamp, &mut recent).expect("there is room");
        }
        let ns = (cpu_ns() - start) / rows as f64;
        let stats = image.stats();
        println!("{ns:.0} ns a row; {} kicks, {} splits, {} MB", stats.kicks, stats.splits, stats.bytes_used >> 20);
    }
}

/// The five longest times, longest first, in microseconds.
fn longest(times: &[f32]) -> Vec<f32> {
    let mut times: Vec<f32> = times.iter().filter(|time| time.is_finite()).map(|time| time * 1e6).collect();
    times.sort_unstable_by(|a, b| b.total_cmp(a));
    times.truncate(5);
    times
}

/// An image grown to `entities` entities. Lowers `least` to the time that the inserts for each of them took.
fn grow(entities: usize, least: &mut [f32], ask: bool) -> HeapMemory {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    Image::format(&heap, 1).expect("chunk 0 is mapped");
    let mut next = 3_000;
    let (start, mut pauses) = (cpu_ns(), 0.0);
    for i in 1..entities {
        let (parent, child) = (name(random.below(i)), name(i));
        let (from, to) = (name(random.below(i)), name(random.below(i)));
        // Map memory first, as the server does, so that only the insert is measured.
        while image(&heap).free_bytes() < 1 << 16 {
            assert!(heap.grow());
            image(&heap).publish_chunks(heap.mapped());
        }
        let before = Instant::now();
        insert(&mut heap, &Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() });
        insert(&mut heap, &Edge { tree: None, parent: from.as_bytes(), child: to.as_bytes() });
        least[i] = least[i].min(before.elapsed().as_secs_f32());
        if ask && (i + 1 == next || i + 1 == entities) {
            let pause = cpu_ns();
            latency(&heap, i + 1, &mut Random(i as u64));
            pauses += cpu_ns() - pause;
            next = if next == 3_000 { 10_000 } else { next * 10 };
        }
    }
    println!("{:.1} s CPU, making the names included", (cpu_ns() - start - pauses) / 1e9);
    heap
}

/// The median and the 99th percentile of single lookups, timed one by one.
fn latency(heap: &HeapMemory, entities: usize, random: &mut Random) {
    let image = image(heap);
    let mut times: Vec<u128> = (0..20_000)
        .map(|_| {
            let name = name(random.below(entities));
            let before = Instant::now();
            black_box(image.find(black_box(name.as_bytes())));
            before.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    println!(
        "{entities:>9} entities: one lookup p50 {} ns, p99 {} ns",
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
}

/// The number of lookups in one measurement.
const LOOKUPS: usize = 500_000;

fn temperature(entities: usize, only: &[String]) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let heap = cftrag_core_bench::image_of(entities, &mut random);
    let uniform: Vec<usize> = (0..LOOKUPS).map(|_| random.below(entities)).collect();
    // Rank r has a weight of 1 / r.
    let zipf: Vec<usize> = (0..LOOKUPS)
        .map(|_| {
            let u = random.below(1 << 30) as f64 / f64::from(1 << 30);
            ((entities as f64).powf(u) as usize).min(entities - 1) * 7919 % entities
        })
        .collect();
    let meant = |value: &&str| only.is_empty() || only.iter().any(|one| one == value);
    for (skew, asked) in [("uniform", &uniform), ("zipf", &zipf)].into_iter().filter(|(skew, _)| meant(skew)) {
        let names: Vec<String> = asked.iter().map(|&i| name(i)).collect();
        let modes = ["off", "count", "sort"].into_iter().filter(meant);
        let mut modes: Vec<_> = modes.map(|mode| (mode, heap.copy(), [const { Vec::new() }; 2])).collect();
        for (mode, heap, _) in &modes {
            look_up(image(heap), &names, 64, true);
            if *mode == "sort" {
                image(heap).cool(usize::MAX);
            }
        }
        for _ in 0..if only.is_empty() { 5 } else { 1 } {
            for (mode, heap, times) in &mut modes {
                for (times, at_once) in times.iter_mut().zip([1, 64]) {
                    times.push(look_up(image(heap), &names, at_once, *mode != "off"));
                }
            }
        }
        for (mode, _, times) in &mut modes {
            times.iter_mut().for_each(|times| times.sort_unstable_by(f64::total_cmp));
            let [one, many] = times.each_ref().map(|times| times[times.len() / 2]);
            println!("{skew:<8} {mode:<6} one {one:6.1} ns, one of 64 {many:6.1} ns");
        }
    }
}

/// The CPU time of a lookup, in nanoseconds.
fn look_up(image: Image<'_>, names: &[String], at_once: usize, count: bool) -> f64 {
    let mut walk = Walk::new(Prefix::LENGTH);
    walk.count_lookups(count);
    let start = cpu_ns();
    for names in names.chunks(at_once) {
        walk.clear();
        names.iter().for_each(|name| walk.begin(name.as_bytes(), 0, 0));
        assert_eq!(walk.step(image, &AllSeen, usize::MAX), Step::Done);
    }
    (cpu_ns() - start) / names.len() as f64
}
