//! The memory that a small image takes, and what the owner of its chunks keeps in it.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{Degrees, Edge, Error, HeapMemory, Image, MAX_CHUNKS, Recent, chunk_bytes};
use common::verify;
use std::time::Instant;

/// A name of two words and 17 letters; one of eight words begins it.
fn name(i: usize) -> String {
    const FIRST: [&str; 8] = [
        "northern", "southern", "internal", "external", "critical", "original", "medieval",
        "chemical",
    ];
    let mut state = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut letter = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        char::from(b'a' + (state >> 33).rem_euclid(26) as u8)
    };
    let second: String = (0..8).map(|_| letter()).collect();
    format!("{} {second}", FIRST[i % 8])
}

fn edge(i: usize) -> [String; 2] {
    [name(i / 3), name(i + 1)]
}

/// An image of a tree of so many edges, three from each entity, that has grown chunk by chunk; its rows were counted
/// before, as a build does, or not.
fn tree(edges: usize, counted: bool) -> HeapMemory {
    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    let image = Image::format(&heap, 7).unwrap();
    let mut degrees = counted.then(|| Degrees::new(image, 1 << 20).unwrap());
    for [parent, child] in (0..edges).map(edge) {
        let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
        degrees.iter_mut().for_each(|degrees| degrees.count(&edge));
    }
    let mut recent = Recent::default();
    for [parent, child] in (0..edges).map(edge) {
        let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
        let insert = |image: Image<'_>, recent: &mut Recent| match &degrees {
            Some(degrees) => image.insert_counted(&edge, recent, degrees),
            None => image.insert_next(&edge, None, recent),
        };
        while let Err(error) = insert(Image::open(&heap).unwrap(), &mut recent) {
            assert!(matches!(error, Error::Full { .. }));
            assert!(heap.grow());
            Image::open(&heap).unwrap().publish_chunks(heap.mapped());
        }
    }
    heap
}

#[test]
fn a_small_table_takes_little_memory() {
    for (edges, counted, most) in [
        (0, false, 16 << 10),
        (1, true, 16 << 10),
        (20, true, 16 << 10),
        (20, false, 16 << 10),
        (200, true, 48 << 10),
        (200, false, 64 << 10),
    ] {
        let heap = tree(edges, counted);
        let stats = Image::open(&heap).unwrap().stats();
        assert!(stats.bytes_published <= most, "{edges} edges, counted {counted}: {stats:?}");
        verify(Image::open(&heap).unwrap());
    }
}

#[test]
fn every_chunk_has_an_address_before_it_is_published() {
    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    let address = |n: usize| n as u64 * 0x0001_0001_0001 + 7;
    Image::format(&heap, 1).unwrap().set_address(0, address(0));
    while heap.mapped() < 20 {
        let image = Image::open(&heap).unwrap();
        image.set_address(image.chunks(), address(image.chunks()));
        assert!(heap.grow());
        Image::open(&heap).unwrap().publish_chunks(heap.mapped());
    }
    let image = Image::open(&heap).unwrap();
    assert_eq!(image.addressed(), MAX_CHUNKS);
    (20..MAX_CHUNKS).for_each(|n| image.set_address(n, address(n)));
    // Allocations reach every line and do not meet the addresses.
    for i in 0.. {
        let child = [format!("{i}").as_bytes(), &vec![b'x'; 20_000]].concat();
        if image.insert(&Edge { tree: None, parent: b"hub", child: &child }, None).is_err() {
            break;
        }
    }
    assert!((0..MAX_CHUNKS).all(|n| image.address(n) == address(n)));
    verify(image);
    assert!((0..20).map(chunk_bytes).sum::<usize>() as u64 - image.stats().bytes_used < 1 << 16);
    // With the root alone.
    let root = HeapMemory::load(&heap.dump()[..1]);
    let image = Image::open(&root).unwrap();
    assert_eq!(image.addressed(), 16);
    assert!((0..16).all(|n| image.address(n) == address(n)));
}

#[test]
fn what_ran_at_the_build_is_known() {
    for count in [0, 1, 7, 8, 1000_u64] {
        let heap = common::heap(3);
        let image = Image::open(&heap).unwrap();
        let before = image.stats().bytes_used;
        let xids: Vec<u64> = (0..count).map(|i| (3 << 32) + i * i).collect();
        assert!(image.set_running(&xids));
        assert_eq!(image.running() as u64, count);
        assert!(xids.iter().all(|xid| image.ran(*xid)));
        assert!(!image.ran((3 << 32) + 2) && !image.ran(3) && !image.ran(u64::MAX));
        assert_eq!(image.stats().bytes_used - before, count.div_ceil(7) * 64);
        verify(image);
    }
}

#[test]
fn what_ran_is_not_noted_without_memory_and_nothing_changes() {
    let mut heap = HeapMemory::new(chunk_bytes(0));
    assert!(heap.grow());
    let image = Image::format(&heap, 1).unwrap();
    let lines = image.free_bytes() / 64;
    let before = heap.dump();
    assert!(!image.set_running(&vec![9; lines * 7 + 1]));
    assert!(heap.dump() == before);
    assert!(image.set_running(&vec![9; lines * 7]));
    assert_eq!((image.free_bytes(), image.ran(9), image.ran(8)), (0, true, false));
    verify(image);
}

/// `cargo test -p cftrag-core --release --test small -- --ignored --nocapture`
#[test]
#[ignore = "prints bytes and times"]
fn bytes_and_times() {
    for edges in [0, 1, 20, 200, 2000, 200_000] {
        for counted in [false, true] {
            let start = Instant::now();
            let heap = tree(edges, counted);
            let insert = start.elapsed().as_nanos() as f64 / edges.max(1) as f64;
            let image = Image::open(&heap).unwrap();
            // In the order of what is in their letters, which is none in memory.
            let mut names: Vec<String> = (0..=edges).map(name).collect();
            names.sort_by(|a, b| a[9..].cmp(&b[9..]));
            if std::env::var_os("PARITY").is_some() && edges > 3000 {
                let mut n = [0; 8];
                names
                    .iter()
                    .for_each(|name| n[image.find(name.as_bytes()).unwrap() as usize % 8] += 1);
                println!("{n:?}");
            }
            let mut lookup = f64::INFINITY;
            for _ in 0..20 {
                let start = Instant::now();
                let found = names.iter().filter(|name| image.find(name.as_bytes()).is_some());
                assert!(found.count() > edges || edges == 0);
                lookup = lookup.min(start.elapsed().as_nanos() as f64 / names.len() as f64);
            }
            let (used, all) = (image.stats().bytes_used, image.stats().bytes_published);
            println!(
                "{edges} edges, counted {counted}: {all} bytes, {used} used; \
                 an insert {insert:.0} ns, a lookup {lookup:.1} ns"
            );
        }
    }
}
