//! Tests of `forest/insert.rs`: failed inserts, counted room, removed rows.

use super::*;
use crate::memory::root::Root;
use crate::{Deleter, Deletion, Fate, HeapMemory, RowVersion};

fn heap() -> HeapMemory {
    let mut heap = HeapMemory::new(1 << 18);
    while heap.grow() {}
    Image::format(&heap, 7).unwrap().publish_chunks(heap.mapped());
    heap
}

fn image(heap: &HeapMemory) -> Image<'_> {
    Image::open(heap).unwrap()
}

fn edge<'a>(tree: Option<&'a [u8]>, parent: &'a [u8], child: &'a [u8]) -> Edge<'a> {
    Edge { tree, parent, child }
}

/// Problems other than the lines that a test took away.
fn problems(heap: &HeapMemory) -> Vec<crate::Problem> {
    let mut problems = Vec::new();
    image(heap).verify(&mut |problem| problems.push(problem));
    problems.retain(|problem| problem.invariant != 10);
    problems
}

/// A copy of the memory in which only `lines` lines are left.
fn starved(heap: &HeapMemory, lines: usize) -> HeapMemory {
    let copy = heap.copy();
    while alloc::loose_lines(Root::new(&copy)) > lines {
        alloc::take(&copy, 1).unwrap();
    }
    copy
}

/// Checks that the insert leaves no trace while lines are missing; returns how many lines it needs.
fn fails_cleanly_until(heap: &HeapMemory, edge: Edge<'_>, stamp: Option<Stamp>) -> usize {
    fails_cleanly(heap, edge, &|image| image.insert(&edge, stamp))
}

fn fails_cleanly(
    heap: &HeapMemory,
    edge: Edge<'_>,
    insert: &dyn Fn(Image<'_>) -> Result<(), Error>,
) -> usize {
    let bound = insert_bound_lines(&edge);
    for lines in 0..=bound {
        let copy = starved(heap, lines);
        let before = copy.dump();
        match insert(image(&copy)) {
            Ok(()) => {
                assert_eq!(problems(&copy), []);
                assert_eq!(alloc::loose_lines(Root::new(&copy)), 0, "no line too early");
                return lines;
            }
            Err(error) => {
                assert!(matches!(error, Error::Full { .. }));
                assert!(copy.dump() == before, "a failed insert wrote, {lines} lines left");
            }
        }
    }
    panic!("the bound {bound} does not do");
}

#[test]
fn a_failed_insert_leaves_every_byte_as_it_was() {
    let heap = heap();
    let stamp = Some(Stamp { xmin: 10, cmin: 0 });
    // Two entities, a tree and a version take a line each, and the words "parent", "child" and "name" half a line.
    let new = edge(Some(b"t"), b"a parent's name", b"a child's name");
    assert_eq!(fails_cleanly_until(&heap, new, stamp), 1 + 1 + 1 + 1 + 2);
    assert_eq!(fails_cleanly_until(&heap, new, None), 1 + 1 + 1 + 2);
    // The lines of a name in pieces: 33, one full piece of 64, a last one of 17.
    let long = [b'x'; crate::records::record::INSIDE + 4088 + 1024];
    assert_eq!(fails_cleanly_until(&heap, edge(None, &long, &long), None), 33 + 64 + 17);
    // Both lists are full: first with two rows inline, then also with one and five in a block. Each needs a block.
    let both = edge(None, b"the hub, nine!", b"the hub, nine?");
    let own = edge(None, b"the hub, nine!", b"the hub, nine!");
    for rows in [2, 4] {
        for _ in 0..rows {
            image(&heap).insert(&both, None).unwrap();
        }
        assert_eq!(fails_cleanly_until(&heap, both, None), 2);
        assert_eq!(fails_cleanly_until(&heap, own, stamp), 3);
    }
    // Rows of both directions: the slot that makes room for heads needs a block too.
    for (from, to) in [(2, 0), (1, 1), (0, 2)] {
        let name = [b"the hub and ", &[b'0' + from][..]].concat();
        for i in 0..from + to {
            let other = [b"another ", &name[..], &[b'0' + i]].concat();
            let (parent, child) = if i < from { (&name, &other) } else { (&other, &name) };
            image(&heap).insert(&edge(None, parent, child), stamp).unwrap();
        }
        let another = fails_cleanly_until(&heap, edge(None, &name, b"another child"), None);
        // The word "child" takes the half of a line that "another" left.
        assert_eq!(another, if to == 0 { 1 + 1 } else { 1 + 2 });
        let own = fails_cleanly_until(&heap, edge(None, &name, &name), None);
        assert_eq!(own, 2);
    }
    // A row from an entity to itself where one of three slots is free: the first, and the second.
    for (parent, child) in [(b"one", b"two"), (b"one", b"two"), (b"six", b"two")] {
        image(&heap).insert(&edge(None, parent, child), None).unwrap();
    }
    image(&heap).insert(&edge(None, b"two", b"six"), None).unwrap();
    for name in [b"one", b"six"] {
        assert_eq!(fails_cleanly_until(&heap, edge(None, name, name), stamp), 2 + 1);
    }
}

#[test]
fn a_block_for_names_that_are_alike_is_part_of_the_plan() {
    let heap = heap();
    // Sixteen names with the same folded name, and the same joined form: both are listed.
    let names: Vec<Vec<u8>> = (0..16).map(|i| [&b"alike"[..], &vec![b'!'; i]].concat()).collect();
    let of = |i: usize, j: usize| edge(None, &names[i], &names[j]);
    assert_eq!(fails_cleanly_until(&heap, of(0, 0), None), 1 + 1, "alone, with its word");
    assert_eq!(fails_cleanly_until(&heap, of(0, 1), None), 2 + 2 + 1, "a block for two");
    image(&heap).insert(&of(0, 0), None).unwrap();
    assert_eq!(fails_cleanly_until(&heap, of(1, 2), None), 2 + 2, "a block for three");
    for i in 1..12 {
        image(&heap).insert(&of(i, i), None).unwrap();
    }
    assert_eq!(fails_cleanly_until(&heap, of(12, 12), None), 1, "the thirteenth");
    assert_eq!(fails_cleanly_until(&heap, of(12, 13), None), 2 + 2, "and the fourteenth");
    for i in 12..15 {
        image(&heap).insert(&of(i, i), None).unwrap();
    }
    assert_eq!(fails_cleanly_until(&heap, of(15, 15), None), 1);
    assert_eq!(problems(&heap), []);
}

#[test]
fn counted_entities_have_the_room_they_need_and_no_more() {
    let mut heap = heap();
    let name = |i: u32| format!("a name of 28 bytes, as: {i:04}").into_bytes();
    // Entity i has i rows: to i children of one row each, or i rows to itself.
    let rows = |own: bool| {
        let all = (1..20).flat_map(move |i| (0..i).map(move |j| (i, j)));
        all.map(move |(i, j)| (name(i), if own { name(i) } else { name(100 + 20 * i + j) }))
    };
    for (own, lines) in
        [(false, [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]), (true, [2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4])]
    {
        Image::format(&heap, 7).unwrap().publish_chunks(heap.mapped());
        let mut degrees = Degrees::new(image(&heap), 1 << 16).unwrap();
        rows(own).for_each(|(p, c)| degrees.count(&edge(None, &p, &c)));
        let mut recent = Recent::default();
        for (parent, child) in rows(own) {
            let row = edge(None, &parent, &child);
            image(&heap).insert_counted(&row, &mut recent, &degrees).unwrap();
        }
        assert_eq!(problems(&heap), []);
        for (i, &lines) in (1..).zip(&lines) {
            let record = image(&heap).key(Kind::Entity, &name(i)).record.unwrap();
            let record = Record::new(&heap, record);
            assert_eq!(record.shape().lines, lines, "{i} rows");
        }
    }
    // Two lines, and half a line for each of its four words without digits.
    let own = edge(None, b"itself, and by only 27 bytes", b"itself, and by only 27 bytes");
    // The entity was not counted, yet has room for both of its slots.
    heap = self::heap();
    let degrees = Degrees::new(image(&heap), 8).unwrap();
    let insert = |image: Image<'_>| image.insert_counted(&own, &mut Recent::default(), &degrees);
    assert_eq!(fails_cleanly(&heap, own, &insert), 2 + 2);
    for _ in 0..5 {
        insert(image(&heap)).unwrap();
    }
    assert_eq!(problems(&heap), []);
}

#[test]
fn a_filter_that_must_grow_is_part_of_the_plan() {
    let mut heap = HeapMemory::new(1 << 19);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    let name = |i: u32| i.to_be_bytes();
    let (mut i, mut grew) = (0, 0);
    while grew < 2 {
        let (parent, child) = (name(i), name(i + 1));
        let edge = edge(None, &parent, &child);
        // The next page is due at 385, 769, ... entities: look closely only there.
        let due = (image.stats().entities + 3) % 384 < 6;
        if due && fails_cleanly_until(&heap, edge, None) > 45 {
            grew += 1;
        }
        image.insert(&edge, None).unwrap();
        i += 2;
    }
    assert_eq!(problems(&heap), []);
}

#[test]
fn a_delete_without_room_for_the_version_leaves_every_byte_as_it_was() {
    let heap = heap();
    let edge = edge(None, b"p", b"c");
    image(&heap).insert(&edge, None).unwrap();
    let delete = |heap: &HeapMemory| {
        let row = RowVersion { xmin: 0, raw_xmin: 2, cmin: None };
        let by = Deleter { xmax: 10, cmax: 0 };
        image(heap).delete(&edge, row, by, &|_| Fate::Running, &mut Vec::new())
    };
    let full = starved(&heap, 0);
    let before = full.dump();
    assert!(matches!(delete(&full), Err(Error::Full { .. })));
    assert!(full.dump() == before);
    assert_eq!(delete(&starved(&heap, 1)), Ok(Deletion::Done));
}

#[test]
fn the_last_row_takes_entity_and_tree_with_it_and_their_memory_is_used_again() {
    let heap = heap();
    let image = image(&heap);
    let empty = alloc::loose_lines(image.root());
    for round in 1..50_u64 {
        let stamp = Some(Stamp { xmin: round, cmin: 0 });
        for edge in [
            edge(Some(b"tree"), b"parent", b"child"),
            edge(Some(b"tree"), b"parent", b"child"),
            edge(None, b"own", b"own"),
            edge(Some(b"other tree"), b"child", b"parent"),
        ] {
            image.insert(&edge, stamp).unwrap();
        }
        assert_eq!((image.stats().entities, image.stats().trees), (3, 2));
        image.settle(3, round + 1, &|_| Fate::Aborted, &mut Vec::new());
        assert_eq!((image.stats().entities, image.stats().trees), (2, 1));
        image.settle(9, round + 1, &|_| Fate::Aborted, &mut Vec::new());
        assert_eq!(image.stats().slots_used, 0);
        assert_eq!(alloc::loose_lines(image.root()), empty);
        assert_eq!(problems(&heap), []);
    }
}

#[test]
fn what_the_last_row_had_is_not_taken_for_the_next_ones_once_it_is_gone() {
    let heap = heap();
    let image = image(&heap);
    let stamp = Some(Stamp { xmin: 1, cmin: 0 });
    let mut recent = Recent::default();
    // In a freed record, its number of lines, 1, is where the length of its name was.
    let row = edge(Some(b"t"), b"p", b"c");
    image.insert_next(&row, stamp, &mut recent).unwrap();
    let known = recent;
    // The next rows share parent and tree with the last one, then only the tree, then neither.
    image.insert_next(&row, stamp, &mut recent).unwrap();
    image.insert_next(&edge(Some(b"t"), b"o", b"c"), stamp, &mut recent).unwrap();
    image.insert_next(&edge(None, b"o", b"o"), stamp, &mut recent).unwrap();
    assert_eq!((image.stats().entities, image.stats().trees), (3, 1));
    assert_eq!(problems(&heap), []);
    image.settle(9, 2, &|_| Fate::Aborted, &mut Vec::new());
    assert_eq!(image.stats().entities, 0);
    for mut recent in [recent, known] {
        image.insert_next(&row, stamp, &mut recent).unwrap();
    }
    assert_eq!((image.stats().entities, image.stats().trees), (2, 1));
    assert_eq!(problems(&heap), []);
}

#[test]
fn a_name_may_be_an_entity_and_a_tree() {
    let heap = heap();
    let image = image(&heap);
    image.insert(&edge(Some(b"x"), b"x", b"x"), None).unwrap();
    assert_eq!((image.stats().entities, image.stats().trees), (1, 1));
    let record = |kind| image.key(kind, b"x").record.unwrap();
    assert_ne!(record(Kind::Entity), record(Kind::Tree));
}
