//! Tests that readers limited to some trees give the answers of other readers in those trees, and no more.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{
    AllSeen, Edge, HeapMemory, Image, Prefix, Roots, Step, Trees, UnknownXids, Walk,
};
use common::{heap, verify};

type Answer = Vec<(Option<String>, String)>;

/// Ids 0 to 59, each the child of id / 4 in some of 30 trees and in none.
fn world() -> HeapMemory {
    let mut heap = heap(1);
    for id in 0..60_u32 {
        for tree in 0..30 {
            if (id + tree) % 3 == 0 {
                insert(&mut heap, Some(format!("tree {tree}").as_bytes()), id);
            }
        }
        if id % 7 == 0 {
            insert(&mut heap, None, id);
        }
    }
    verify(Image::open(&heap).unwrap());
    heap
}

fn insert(heap: &mut HeapMemory, tree: Option<&[u8]>, id: u32) {
    let (parent, child) = ((id / 4).to_string(), id.to_string());
    let edge = Edge { tree, parent: parent.as_bytes(), child: child.as_bytes() };
    while Image::open(heap).unwrap().free_bytes() < Image::insert_bound(&edge) {
        assert!(heap.grow());
        Image::open(heap).unwrap().publish_chunks(heap.mapped());
    }
    Image::open(heap).unwrap().insert(&edge, None).unwrap();
}

/// No trees, one, one that does not exist, rows without a tree, one twice, and many.
fn choices() -> Vec<Vec<Option<String>>> {
    let named =
        |numbers: &[u32]| -> Vec<_> { numbers.iter().map(|n| Some(format!("tree {n}"))).collect() };
    let mut without: Vec<_> = named(&[2]);
    without.extend([None, None]);
    let many: Vec<u32> = (0..28).rev().collect();
    vec![vec![], named(&[4]), named(&[99]), vec![None], without, named(&[5, 5, 99]), named(&many)]
}

fn trees(of: &[Option<String>]) -> Trees {
    Trees::of(of.iter().map(|tree| tree.as_ref().map(String::as_bytes))).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn walk(image: Image<'_>, id: u32, only: Option<Trees>, slots: usize) -> Answer {
    let mut walk = Walk::new(Prefix::LENGTH);
    walk.clear();
    walk.answer_own_rows(true);
    if let Some(only) = only {
        walk.only_in(only);
    }
    walk.begin(id.to_string().as_bytes(), 3, 3);
    while walk.step(image, &AllSeen, slots) != Step::Done {}
    walk.finish();
    let row = |row: &cftrag_core::Row| {
        let (relative, via) = (text(walk.name(row.relative)), text(walk.name(row.via)));
        let rest = format!("{:?} {relative} {} by {via}", row.relation, row.depth);
        (row.tree.map(|tree| text(walk.name(tree))), rest)
    };
    walk.rows().iter().map(row).collect()
}

fn roots(image: Image<'_>, mut scan: Roots, budget: usize) -> Answer {
    let mut found = Vec::new();
    loop {
        let step = image.roots(&mut scan, budget, &AllSeen, |tree, root| {
            found.push((tree.map(text), text(root)));
        });
        match step {
            Step::Done => break,
            _ => assert!(scan.make_room()),
        }
    }
    found.sort();
    found
}

#[test]
fn walks_and_roots_of_some_trees_are_those_of_all_without_the_others() {
    let heap = world();
    let image = Image::open(&heap).unwrap();
    let mut rows = 0;
    for wanted in choices() {
        let in_wanted = |all: Answer| -> Answer {
            all.into_iter().filter(|(tree, _)| wanted.contains(tree)).collect()
        };
        for (id, slots) in (0..60).flat_map(|id| [(id, 1000), (id, 1)]) {
            let all = in_wanted(walk(image, id, None, slots));
            rows += all.len();
            assert_eq!(walk(image, id, Some(trees(&wanted)), slots), all, "{id} in {wanted:?}");
        }
        for budget in [1, 1000] {
            let all = in_wanted(roots(image, Roots::new(), budget));
            assert_eq!(roots(image, Roots::only_in(trees(&wanted)), budget), all, "{wanted:?}");
        }
        for id in 0..60_u32 {
            let (name, mut only) = (id.to_string(), trees(&wanted));
            let is_there = !in_wanted(walk(image, id, None, 1000)).is_empty();
            let seen =
                image.sees(name.as_bytes(), Some(&mut only), &AllSeen, &mut UnknownXids::new());
            assert_eq!(seen, is_there, "{id} in {wanted:?}");
        }
    }
    assert!(rows > 1000);
}
