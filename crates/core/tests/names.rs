//! Tests of unusual names: empty, huge, arbitrary bytes, a million similar ones.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{AllSeen, Edge, Error, HeapMemory, Image, Prefix, Step, Walk};
use common::{heap, quick, verify};

fn insert(heap: &mut HeapMemory, edge: &Edge<'_>) {
    let bound = Image::insert_bound(edge);
    while Image::open(heap).unwrap().free_bytes() < bound {
        assert!(heap.grow());
        Image::open(heap).unwrap().publish_chunks(heap.mapped());
    }
    Image::open(heap).unwrap().insert(edge, None).expect("free_bytes() was at least the bound");
}

fn parent_of(image: Image<'_>, name: &[u8]) -> Vec<u8> {
    let mut walk = Walk::new(Prefix::LENGTH);
    walk.begin(name, 1, 0);
    assert_eq!(walk.step(image, &AllSeen, 1 << 20), Step::Done);
    walk.finish();
    assert_eq!(walk.rows().len(), 1);
    walk.name(walk.rows()[0].relative).to_vec()
}

#[test]
fn names_of_every_length_up_to_a_megabyte() {
    let mut heap = heap(1);
    let lengths: Vec<usize> =
        (0..140).chain([1000, 2015, 2016, 2017, 4095, 6104, 6105, 65_536, 1 << 20]).collect();
    // No byte is zero: PostgreSQL's text has none, and the tree "\0" is that of the labels.
    let name =
        |len: usize| -> Vec<u8> { (0..len).map(|i| (((i * 31) >> 3) as u8).max(1)).collect() };
    for &len in &lengths {
        let child = name(len);
        let parent = [&child[..], b"'s parent"].concat();
        insert(&mut heap, &Edge { tree: Some(&child), parent: &parent, child: &child });
    }
    let image = Image::open(&heap).unwrap();
    verify(image);
    for len in lengths {
        let child = name(len);
        assert_eq!(parent_of(image, &child), [&child[..], b"'s parent"].concat());
    }
}

#[test]
fn names_that_differ_in_any_one_byte_are_other_names() {
    let mut heap = heap(1);
    let base = [0_u8; 64];
    for at in 0..64 {
        for byte in [1, 0x80, 0xFF] {
            let mut child = base;
            child[at] = byte;
            insert(&mut heap, &Edge { tree: None, parent: &[at as u8, byte], child: &child });
        }
    }
    let image = Image::open(&heap).unwrap();
    verify(image);
    for at in 0..64 {
        for byte in [1, 0x80, 0xFF] {
            let mut child = base;
            child[at] = byte;
            assert_eq!(parent_of(image, &child), [at as u8, byte]);
        }
    }
    let mut walk = Walk::new(Prefix::LENGTH);
    walk.begin(&base, 9, 9);
    assert_eq!(walk.step(image, &AllSeen, 99), Step::Done);
    assert_eq!(walk.counters().hits, 0);
}

/// Names that share their first eight bytes, or begin one another.
fn alike(i: u32) -> Vec<u8> {
    let prefix = &b"alike names"[..index_of(i * 5 % 12)];
    match i % 3 {
        0 => [prefix, &[0, i as u8]].concat(),
        1 => [prefix, &(i * 7919).to_be_bytes()].concat(),
        _ => [prefix, i.to_string().as_bytes()].concat(),
    }
}

fn index_of(n: u32) -> usize {
    usize::try_from(n).unwrap()
}

#[test]
fn rows_come_in_order_however_many_and_however_alike() {
    // These numbers of rows are sorted in different ways.
    for n in (1..30).chain([100, 300]) {
        let mut heap = heap(1);
        let mut expected = Vec::new();
        for i in 0..n {
            let tree = match i % 5 {
                0 => None,
                1 => Some(Vec::new()),
                // Five rows share a tree, so some trees have many rows.
                other => Some(alike(other)),
            };
            let child = alike(i);
            insert(&mut heap, &Edge { tree: tree.as_deref(), parent: b"hub", child: &child });
            expected.push((tree.clone(), child.clone()));
            let other = Some(alike(i + 1000));
            insert(&mut heap, &Edge { tree: other.as_deref(), parent: b"hub", child: &child });
            expected.push((other, child));
        }
        // None sorts before Some, and names sort by their bytes.
        expected.sort();
        expected.dedup();
        let image = Image::open(&heap).unwrap();
        let mut walk = Walk::new(Prefix::LENGTH);
        walk.begin(b"hub", 0, 1);
        assert_eq!(walk.step(image, &AllSeen, 1 << 20), Step::Done);
        walk.finish();
        let name = |name| walk.name(name).to_vec();
        let rows: Vec<(Option<Vec<u8>>, Vec<u8>)> =
            walk.rows().iter().map(|row| (row.tree.map(name), name(row.relative))).collect();
        assert_eq!(rows, expected, "{n}");
    }
}

#[test]
fn a_million_names_with_one_prefix() {
    let names = if quick() { 20_000_u32 } else { 1_000_000 };
    let mut heap = heap(1);
    let name = |i: u32| format!("{}{i}", "the same prefix of every name, ".repeat(2));
    for i in 1..names {
        let (parent, child) = (name(i / 2), name(i));
        let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
        insert(&mut heap, &edge);
    }
    let image = Image::open(&heap).unwrap();
    verify(image);
    assert_eq!(image.stats().entities, u64::from(names));
    let mut walk = Walk::new(Prefix::LENGTH);
    let mut checks = 0;
    for i in 0..names {
        walk.clear();
        walk.begin(name(names + i).as_bytes(), 1, 1);
        assert_eq!(walk.step(image, &AllSeen, 99), Step::Done);
        assert_eq!(walk.counters().hits, 0);
        checks += walk.counters().false_positives;
        if i > 1 {
            assert_eq!(parent_of(image, name(i).as_bytes()), name(i / 2).into_bytes());
        }
    }
    // At 90 % load 12 bits of fingerprint would make 0.9 * 8 / 4096 of the misses read a record.
    assert!(checks * 500 < u64::from(names), "{checks} false positives of {names}");
}

#[test]
fn an_insert_bound_is_enough_for_any_edge_in_any_state() {
    let mut heap = heap(1);
    for i in 0..400_u32 {
        let long = vec![i as u8; (i as usize * 37) % 9000];
        let edge = Edge { tree: Some(&i.to_be_bytes()), parent: &long, child: b"hub" };
        insert(&mut heap, &edge);
    }
    verify(Image::open(&heap).unwrap());
    let name = vec![1; 100_000];
    let edge = Edge { tree: None, parent: &name, child: b"c" };
    let mut small = HeapMemory::new(1 << 16);
    assert!(small.grow());
    let image = Image::format(&small, 1).unwrap();
    assert!(matches!(image.insert(&edge, None), Err(Error::Full { .. })));
}
