//! Tests of walks over entities that are in many trees: their answers, and the slots they read.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{AllSeen, Edge, HeapMemory, Image, Interruptible, Prefix, Step, Walk};
use common::oracle::{self, Bytes, Triple};
use common::{answers, heap, verify};
use std::collections::BTreeSet;

fn insert(heap: &mut HeapMemory, (tree, parent, child): &Triple) {
    let edge = Edge { tree: tree.as_ref().map(|tree| &tree[..]), parent, child };
    while Image::open(heap).unwrap().free_bytes() < Image::insert_bound(&edge) {
        assert!(heap.grow());
        Image::open(heap).unwrap().publish_chunks(heap.mapped());
    }
    Image::open(heap).unwrap().insert(&edge, None).unwrap();
}

fn bytes(name: &str) -> Bytes {
    name.as_bytes().into()
}

/// 12 entities in 50 trees and in none. The edges differ from tree to tree, have cycles, and lead from some entities to
/// themselves.
fn world() -> (HeapMemory, BTreeSet<Triple>) {
    let mut edges = BTreeSet::new();
    for n in 0..51_u32 {
        let tree = (n > 0).then(|| bytes(&format!("tree {n}")));
        for id in 1..12_u32 {
            let parents = [id * 7 + n * n, id / 3].into_iter().take(1 + (id + n) as usize % 2);
            for parent in parents {
                let parent = bytes(&format!("entity {}", parent % 12));
                edges.insert((tree.clone(), parent, bytes(&format!("entity {id}"))));
            }
        }
    }
    let mut heap = heap(1);
    edges.iter().for_each(|edge| insert(&mut heap, edge));
    verify(Image::open(&heap).unwrap());
    (heap, edges)
}

/// Walks to the end; between two steps `change` may change the image.
fn walk(
    walk: &mut Walk,
    heap: &mut HeapMemory,
    slots: usize,
    mut change: impl FnMut(&mut HeapMemory),
) {
    let mut check_interrupts = || ();
    let work = &mut Interruptible::new(&mut check_interrupts);
    for steps in 1.. {
        assert!(steps < 1_000_000, "it comes no further: {:?}", walk.so_far());
        if walk.step(Image::open(heap).unwrap(), &AllSeen, slots) == Step::Done {
            break;
        }
        walk.make_room(slots, work).unwrap();
        change(heap);
    }
    walk.try_finish(work).unwrap();
}

#[test]
fn they_are_right_whatever_the_questions_the_budget_and_the_writers() {
    let (mut heap, edges) = world();
    let questions: [&[u32]; 3] = [&[3], &[1, 5, 5, 11], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]];
    let mut strangers = 0;
    for (asked, slots) in
        questions.into_iter().flat_map(|asked| [(asked, 1), (asked, 37), (asked, 20_000)])
    {
        for (limited, changing) in [(false, false), (true, false), (true, true)] {
            let mut reader = Walk::new(Prefix::LENGTH);
            if limited {
                reader.limit(usize::MAX, usize::MAX);
                reader
                    .make_room_for(asked.len(), 200, &mut Interruptible::new(&mut || ()))
                    .unwrap();
            }
            for (n, id) in asked.iter().enumerate() {
                reader.begin(format!("entity {id}").as_bytes(), 3, n as u32 % 5);
            }
            walk(&mut reader, &mut heap, slots, |heap| {
                if changing && strangers < 2000 {
                    strangers += 1;
                    let name = |n: u32| bytes(&format!("stranger {n}"));
                    insert(heap, &(None, name(strangers), name(strangers / 2)));
                }
            });
            for (n, id) in asked.iter().enumerate() {
                let wanted =
                    oracle::context(&edges, format!("entity {id}").as_bytes(), 3, n as u32 % 5);
                assert_eq!(
                    answers(&reader, n as u32),
                    wanted,
                    "{id} of {asked:?}, {slots}, {limited}, {changing}"
                );
            }
        }
    }
}

/// Walks one chain in 500 trees, and in 2,000.
#[test]
fn they_read_each_list_once() {
    let visited = |trees: u32| {
        let mut heap = heap(1);
        for n in 0..trees {
            for id in 0..4 {
                let name = |id: u32| bytes(&format!("entity {id}"));
                insert(&mut heap, &(Some(bytes(&format!("tree {n}"))), name(id), name(id + 1)));
            }
        }
        let mut reader = Walk::new(Prefix::LENGTH);
        reader.begin(b"entity 4", 4, 0);
        walk(&mut reader, &mut heap, 20_000, |_| ());
        assert_eq!(reader.rows().len(), 4 * trees as usize);
        reader.counters().slots_visited
    };
    let (few, many) = (visited(500), visited(2000));
    assert!(many < 5 * few, "{few} of 500 trees, {many} of 2000");
}
