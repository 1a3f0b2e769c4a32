//! Tests of `bloom.rs`.

use super::*;
use crate::{Edge, Fate, HeapMemory, Stamp};

fn name(i: u32) -> String {
    match i % 5 {
        0 => format!("n{i}"),
        1 => format!("n{i} of {} of more", i % 97),
        _ => format!("n{i} of {}", i % 97),
    }
}

fn verify(image: Image<'_>) {
    image.verify(&mut |problem| panic!("{problem:?}"));
}

#[test]
fn it_grows_with_the_names_and_lets_all_of_them_pass() {
    let mut heap = HeapMemory::new(1 << 24);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    let mut beside = [0; 2];
    for i in 0..6000 {
        let (parent, child) = (name(i), name(i + 1));
        let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
        image.insert(&edge, Some(Stamp { xmin: 10, cmin: 0 })).unwrap();
        let swept = BOTH.map(|of| image.folded_names().swept(of));
        for (beside, swept) in beside.iter_mut().zip(swept) {
            *beside += u32::from(swept.is_some());
        }
        if i % 200 == 0 || swept.into_iter().flatten().any(|swept| swept % 256 == 0) {
            verify(image);
        }
    }
    for (of, beside) in BOTH.into_iter().zip(beside) {
        let level = image.root().bloom(of, Table::Now).level;
        assert!(level >= 6 && beside > 300, "{of:?}: level {level}, beside {beside}");
        let passes = |i: u32| {
            let folded = FoldedName::of(7, name(i).as_bytes()).unwrap();
            let (items, count) = folded.items(of);
            items[..count].iter().all(|item| image.bloom(of).passes(*item))
        };
        assert!((0..=6000).all(passes));
        // Names of one word have no items in the Bloom filter of windows.
        let wrong = (10_000..20_000).filter(|i| i % 5 > 0 && passes(*i)).count();
        assert!(wrong < 480, "{of:?}: {wrong} of 8,000 pass that are not there");
    }
}

#[test]
fn it_forgets_names_that_are_gone_when_it_is_full() {
    let mut heap = HeapMemory::new(1 << 22);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    let empty = alloc::loose_lines(image.root());
    for i in 0..6_000 {
        let (parent, child) = (name(i), name(i + 1));
        let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
        image.insert(&edge, Some(Stamp { xmin: u64::from(i) + 10, cmin: 0 })).unwrap();
        if i >= 20 {
            let horizon = u64::from(i) - 9;
            image.settle(2, horizon, &|_| Fate::Aborted, &mut Vec::new());
        }
    }
    verify(image);
    assert!(image.stats().entities < 50);
    // 50 entities have at most 100 folded names and prefixes.
    for (of, most) in BOTH.into_iter().zip([4, 1]) {
        let now = image.root().bloom(of, Table::Now);
        assert!(now.level <= most, "{of:?}: {now:?}");
    }
    let taken = empty - alloc::loose_lines(image.root());
    assert!(taken < 500, "{taken} lines for what is left");
}

#[test]
fn a_word_says_whether_it_is_a_name_and_whether_longer_ones_begin_so() {
    let mut heap = HeapMemory::new(1 << 22);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    let edge = Edge { tree: None, parent: b"one", child: b"two three" };
    image.insert(&edge, None).unwrap();
    let says = |word: &[u8]| {
        let hash = Hash::of_word(7, word);
        [Item::whole(hash), Item::first_word(hash, 2), Item::first_word(hash, 4)]
            .map(|item| image.bloom(BloomItems::Words).passes(item))
    };
    assert_eq!([says(b"one"), says(b"two")], [[true, false, false], [false, true, false]]);
    assert_eq!(says(b"three"), [false; 3]);
}

#[test]
fn without_memory_it_stays_as_it_is() {
    let mut heap = HeapMemory::new(1 << 19);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    let full = (0..).find(|i| {
        let (parent, child) = (name(*i), name(i + 1));
        let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
        image.insert(&edge, None).is_err()
    });
    assert!(full > Some(500));
    verify(image);
}
