//! Looks up entities by name, verified: the core compared with hashbrown, with the same hash function and owned names.
//!
//!     make bench-core                     all sizes; SIZES="3000 1000000" for some of them
//!
//!     CUCKOOFILTER=DIR make bench-core    beside the published C++ filter, compiled by c++ from its checkout DIR
//!
//! Names are looked up in random order. `image` looks them up one by one, `image_batch` all at once; `filter` does not
//! compare the name; `plain` is only a cuckoo filter, with 12-bit fingerprints in four slots. `context` writes the
//! names 3 levels up and those of the children, one entity after the other; `locate` beside it is a lookup of hashbrown
//! that hits.

use std::hint::black_box;
use std::time::Duration;

use cftrag_core::{AllSeen, HeapMemory, Prefix, Step, Walk};
use cftrag_core_bench::plain::Plain;
use cftrag_core_bench::{Questions, Random, image, image_of, map_of, name};
use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};

/// The most questions: more would not fit into the caches that prefetch them.
const MOST_QUESTIONS: usize = 500_000;

fn sizes() -> Vec<usize> {
    let sizes = std::env::var("SIZES").unwrap_or_else(|_| "3000 20000 200000 1000000 10000000".into());
    sizes.split_whitespace().map(|size| size.parse().expect("SIZES are numbers")).collect()
}

fn ask(group: &mut BenchmarkGroup<'_, WallTime>, id: &str, questions: &Questions, mut one: impl FnMut(&[u8]) -> bool) {
    group.bench_function(id, |b| b.iter(|| questions.iter().filter(|name| black_box(one(name))).count()));
}

/// Writes the names 3 levels up and those of the children, as one text for each question.
fn context(group: &mut BenchmarkGroup<'_, WallTime>, heap: &HeapMemory, questions: &Questions) {
    let (mut walk, mut text) = (Walk::new(Prefix::LENGTH), Vec::new());
    ask(group, "text", questions, |name| {
        walk.clear();
        walk.begin(name, 3, 1);
        assert_eq!(walk.step(image(heap), &AllSeen, usize::MAX), Step::Done);
        walk.finish();
        text.clear();
        for row in walk.rows() {
            text.extend_from_slice(walk.name(row.relative));
            text.extend_from_slice(b", ");
        }
        !text.is_empty()
    });
}

fn main() {
    let mut criterion = Criterion::default()
        .configure_from_args()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000));
    if cfg!(not(published)) {
        println!("without the published filter: CUCKOOFILTER names no checkout of it");
    }
    for n in sizes() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let many = n.clamp(100_000, MOST_QUESTIONS);
        let hits = Questions::new((0..many).map(|_| name(random.below(n))));
        let misses = Questions::new((0..many).map(|i| name(n + 1 + i)));
        for (kind, questions, present) in [("hit", &hits, true), ("miss", &misses, false)] {
            let mut group = criterion.benchmark_group(format!("{kind}/{n}"));
            group.throughput(Throughput::Elements(questions.len() as u64));
            let map = map_of(n, &mut random);
            assert!(questions.iter().all(|name| map.contains_key(name) == present));
            ask(&mut group, "hashbrown", questions, |name| map.get(name).is_some());
            drop(map);
            let heap = image_of(n, &mut random);
            let image = image(&heap);
            assert!(questions.iter().all(|name| image.find(name).is_some() == present));
            ask(&mut group, "image", questions, |name| image.find(name).is_some());
            group.bench_function("image_batch", |b| {
                b.iter(|| {
                    let mut found = 0;
                    image.find_all(questions.iter(), |entity| found += usize::from(entity.is_some()));
                    black_box(found)
                });
            });
            ask(&mut group, "filter", questions, |name| image.may_have(name));
            let plain = Plain::of((0..n).map(name), n);
            ask(&mut group, "plain", questions, |name| plain.may_have(name));
            #[cfg(published)]
            {
                ask(&mut group, "plain_called", questions, |name| plain.called_may_have(name));
                drop(plain);
                let published = cftrag_core_bench::published::Published::of((0..n).map(name), n);
                ask(&mut group, "published", questions, |name| published.may_have(name));
            }
            group.finish();
        }
        let mut group = criterion.benchmark_group(format!("context/{n}"));
        group.throughput(Throughput::Elements(hits.len() as u64));
        let map = map_of(n, &mut random);
        ask(&mut group, "locate", &hits, |name| map.get(name).is_some());
        drop(map);
        context(&mut group, &image_of(n, &mut random), &hits);
        group.finish();
    }
    criterion.final_summary();
}
