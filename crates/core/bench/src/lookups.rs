//! Lookups of names compared with hashbrown's, in turns: for machines with other load, and for counting instructions.

use std::hint::black_box;
use std::time::Instant;

use cftrag_core::{AllSeen, Image, Prefix, Step, Walk};
use cftrag_core_bench::plain::Plain;
use cftrag_core_bench::{Map, Questions, Random, image, image_of, map_of, name};

/// The number of rounds; in each, all contenders run in turns. The least time of each slice of questions counts,
/// because other load interrupts for longer than a slice.
const ROUNDS: usize = 11;
const SLICE: usize = 2_000;
/// As in the benchmark of names: more questions would not fit into the caches that prefetch them.
const MOST_QUESTIONS: usize = 500_000;

struct World<'m> {
    map: Map<Box<[u8]>>,
    image: Image<'m>,
    plain: Plain,
    #[cfg(published)]
    published: cftrag_core_bench::published::Published,
}

pub fn lookups(entities: usize, only: &[String]) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let many = entities.clamp(100_000, MOST_QUESTIONS);
    let slices = |name: &mut dyn FnMut(usize) -> String| -> Vec<Questions> {
        (0..many / SLICE).map(|slice| Questions::new((0..SLICE).map(|i| name(slice * SLICE + i)))).collect()
    };
    let hits = slices(&mut |_| name(random.below(entities)));
    let misses = slices(&mut |i| name(entities + 1 + i));
    let heap = image_of(entities, &mut random);
    let world = World {
        map: map_of(entities, &mut random),
        image: image(&heap),
        plain: Plain::of((0..entities).map(name), entities),
        #[cfg(published)]
        published: cftrag_core_bench::published::Published::of((0..entities).map(name), entities),
    };
    if cfg!(not(published)) {
        println!("without the published filter: CUCKOOFILTER names no checkout of it");
    }
    let meant = |value: &str| only.is_empty() || only.iter().any(|one| one == value);
    for (kind, questions) in [("hit", &hits), ("miss", &misses), ("text", &hits)] {
        let all: &[_] = match kind {
            "text" => &["hashbrown", "text"],
            _ if cfg!(published) => &["hashbrown", "image", "filter", "plain", "plain_called", "published"],
            _ => &["hashbrown", "image", "filter", "plain"],
        };
        if !meant(kind) {
            continue;
        }
        let mut least = vec![vec![f64::INFINITY; questions.len()]; all.len()];
        for _ in 0..if only.is_empty() { ROUNDS } else { 1 } {
            for (least, contender) in least.iter_mut().zip(all).filter(|(_, contender)| meant(contender)) {
                for (least, questions) in least.iter_mut().zip(questions) {
                    let start = Instant::now();
                    black_box(asked(&world, contender, questions));
                    *least = least.min(start.elapsed().as_secs_f64());
                }
            }
        }
        let ns = |least: &[f64]| least.iter().sum::<f64>() * 1e9 / (least.len() * SLICE) as f64;
        for (times, contender) in least.iter().zip(all) {
            println!("{kind:<5} {contender:<10} {:7.1} ns, {:.2} of hashbrown", ns(times), ns(times) / ns(&least[0]));
        }
    }
}

/// The number of names found. Not inlined, so that `callgrind --toggle-collect='*asked*'` counts this function.
#[inline(never)]
fn asked(world: &World<'_>, contender: &str, questions: &Questions) -> usize {
    let World { map, image, plain, .. } = world;
    match contender {
        "hashbrown" => questions.iter().filter(|name| black_box(map.get(*name).is_some())).count(),
        "image" => questions.iter().filter(|name| black_box(image.find(name).is_some())).count(),
        "filter" => questions.iter().filter(|name| black_box(image.may_have(name))).count(),
        "plain" => questions.iter().filter(|name| black_box(plain.may_have(name))).count(),
        "plain_called" => questions.iter().filter(|name| black_box(plain.called_may_have(name))).count(),
        #[cfg(published)]
        "published" => questions.iter().filter(|name| black_box(world.published.may_have(name))).count(),
        "text" => {
            let mut walk = Walk::new(Prefix::LENGTH);
            questions.iter().map(|name| text(&mut walk, *image, name)).sum()
        }
        _ => unreachable!("a contender of the list"),
    }
}

/// The length of one text of the names 3 levels up and those of the children.
fn text(walk: &mut Walk, image: Image<'_>, name: &[u8]) -> usize {
    walk.clear();
    walk.begin(name, 3, 1);
    assert_eq!(walk.step(image, &AllSeen, usize::MAX), Step::Done);
    walk.text().len()
}
