//! Tests of roots in an image that changes between two steps: entries are kicked and split, and lists are read in part.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use std::collections::BTreeSet;

use cftrag_core::{
    AllSeen, Deleter, Deletion, Edge, Fate, Hint, Image, Roots, RowVersion, Stamp, Step, View,
    Visibility,
};
use common::oracle::{self, Bytes, Triple};
use common::{as_edge, heap, verify};

/// A snapshot that sees rows without a version, and no others.
struct Settled;

impl Visibility for Settled {
    fn view(&self, _xid: u64, _hint: Hint) -> View {
        View::Unseen
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}

fn edge(tree: u32, parent: &str, child: &str) -> Triple {
    let bytes = |name: &str| Bytes::from(name.as_bytes());
    let tree = (tree > 0).then(|| bytes(&tree.to_string()));
    (tree, bytes(parent), bytes(child))
}

/// The roots, found with `budget`; `between` changes the image between two steps.
fn roots(
    image: Image<'_>,
    budget: usize,
    seen: &impl Visibility,
    mut between: impl FnMut(u32),
) -> (Vec<(Option<Bytes>, Bytes)>, u32) {
    let (mut roots, mut found, mut steps) = (Roots::new(), Vec::new(), 0);
    loop {
        let step = image.roots(&mut roots, budget, seen, |tree, root| {
            found.push((tree.map(Bytes::from), Bytes::from(root)));
        });
        steps += 1;
        match step {
            Step::Done => break,
            Step::More => {
                between(steps);
                assert!(roots.make_room());
            }
            Step::Ask => panic!("nothing is unknown"),
        }
    }
    let unique: BTreeSet<_> = found.iter().cloned().collect();
    assert_eq!(unique.len(), found.len(), "a root is given once");
    (unique.into_iter().collect(), steps)
}

#[test]
fn none_is_missed_among_entries_that_are_moved() {
    let heap = heap(8);
    let image = Image::open(&heap).unwrap();
    // Tops with ten children each, in three trees; every third top is a child in another tree.
    let mut edges = Vec::new();
    for i in 0..6000_u32 {
        edges.push(edge(i / 10 % 3, &format!("top {}", i / 10), &format!("child {i}")));
        if i % 30 == 0 {
            edges.push(edge(i / 10 % 2, "above", &format!("top {}", i / 10)));
        }
    }
    edges.iter().for_each(|edge| image.insert(&as_edge(edge), None).unwrap());
    let expected = oracle::roots(&edges);
    assert!(expected.len() > 400);
    assert_eq!(roots(image, usize::MAX, &AllSeen, |_| ()), (expected.clone(), 1));

    let (before, mut n) = (image.stats(), 0);
    let (found, _) = roots(image, 50, &Settled, |steps| {
        // Insert other rows, which are not seen, until the last passes.
        for _ in 0..if steps < 3000 { 3 } else { 0 } {
            n += 1;
            let (parent, child) = (format!("new {n}"), format!("newer {n}"));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, Some(Stamp { xmin: 10, cmin: 0 })).unwrap();
        }
    });
    assert_eq!(found, expected);
    let after = image.stats();
    assert!(after.kicks > before.kicks + 1000 && after.splits > before.splits + 1000, "{after:?}");
    verify(image);
}

#[test]
fn a_long_list_is_read_on_and_read_again_when_it_changed() {
    let heap = heap(4);
    let image = Image::open(&heap).unwrap();
    let mut edges: Vec<_> = (0..5000).map(|i| edge(1, "hub", &format!("spoke {i}"))).collect();
    // The hub is a root of tree 2 only, because of one edge among many.
    edges.push(edge(1, "rim", "hub"));
    edges.insert(2500, edge(2, "hub", "rim"));
    edges.iter().for_each(|edge| image.insert(&as_edge(edge), None).unwrap());
    let expected = oracle::roots(&edges);
    assert_eq!(expected.len(), 2);
    let (found, steps) = roots(image, 100, &AllSeen, |_| ());
    assert_eq!(found, expected);
    assert!(steps > 100, "the hub's list is read in parts, {steps} in all");

    // The image changes between all steps: the list is read again from its start, and in the end in one step.
    let mut next = 0;
    let (found, _) = roots(image, 100, &Settled, |_| {
        let child = format!("spoke {next}");
        let edge = Edge { tree: Some(b"1"), parent: b"hub", child: child.as_bytes() };
        let row = RowVersion { xmin: 0, raw_xmin: 2, cmin: None };
        let by = Deleter { xmax: 20, cmax: 0 };
        if next < 2000 {
            let done = image.delete(&edge, row, by, &|_| Fate::Running, &mut Vec::new());
            assert_eq!(done, Ok(Deletion::Done));
            next += 1;
        }
    });
    assert_eq!(found, expected);
    assert!(next > 50);
    verify(image);
}

#[test]
fn blocks_that_left_a_list_while_it_was_read_lead_nowhere() {
    const ABORTED: u64 = 20;
    const RUNNING: u64 = 200;
    // After aborted rows in its list, the oldest row of the hub makes it a root.
    let edges = [edge(2, "hub", "rim"), edge(1, "rim", "hub")];
    let (mut at, mut steps) = (0, 2);
    while at + 1 < steps {
        at += 1;
        let heap = heap(4);
        let image = Image::open(&heap).unwrap();
        edges.iter().for_each(|edge| image.insert(&as_edge(edge), None).unwrap());
        let insert = |parent: &str, xmin| {
            for i in 0..1000 {
                let child = format!("{parent} {i}");
                let (parent, child) = (parent.as_bytes(), child.as_bytes());
                let edge = Edge { tree: Some(b"1"), parent, child };
                image.insert(&edge, Some(Stamp { xmin, cmin: 0 })).unwrap();
            }
        };
        insert("hub", ABORTED);
        // After one of the steps the blocks become another entity's, while the reader may be in one of them.
        let found;
        (found, steps) = roots(image, 100, &Settled, |step| {
            if step == at {
                let done = image.settle(2000, 100, &|_| Fate::Aborted, &mut Vec::new());
                assert_eq!(done.freed, 1000);
                insert("other", RUNNING);
            }
        });
        assert_eq!(found, oracle::roots(&edges), "after step {at}");
        verify(image);
    }
    assert!(steps > 20, "{steps}");
}

#[test]
fn room_for_the_marks_of_an_image_that_grows_is_asked_for() {
    let heap = heap(10);
    let image = Image::open(&heap).unwrap();
    let mut edges = vec![edge(1, "above", "top")];
    let grow = |edges: &mut Vec<Triple>, n: u32| {
        let from = edges.len();
        edges.extend((0..n).map(|i| edge(i % 2, "top", &format!("child {from} {i}"))));
        edges[from..].iter().for_each(|edge| image.insert(&as_edge(edge), None).unwrap());
    };
    image.insert(&as_edge(&edges[0]), None).unwrap();
    let mut scan = Roots::new();
    let mut step = |room: bool| {
        if room {
            assert!(scan.make_room());
        }
        let mut found = 0;
        (image.roots(&mut scan, usize::MAX, &AllSeen, |_, _| found += 1), found)
    };
    grow(&mut edges, 60_000);
    assert_eq!([step(false), step(false)], [(Step::More, 0); 2], "no room, no step");
    assert_eq!(step(true), (Step::Done, 2), "above in tree 1, top in the tree without a name");
    // The image outgrows this room as well.
    grow(&mut edges, 60_000);
    assert_eq!(step(false), (Step::More, 0));
    assert_eq!(step(true), (Step::Done, 0), "all roots were given");
    verify(image);
}

#[test]
fn an_entity_may_be_a_root_of_many_trees() {
    let heap = heap(4);
    let image = Image::open(&heap).unwrap();
    let mut edges: Vec<_> = (0..1000).map(|tree| edge(tree, "everywhere", "below")).collect();
    edges.extend((0..1000).step_by(3).map(|tree| edge(tree, "above", "everywhere")));
    edges.extend((0..1000).step_by(7).map(|tree| edge(tree, "everywhere", "everywhere")));
    edges.iter().for_each(|edge| image.insert(&as_edge(edge), None).unwrap());
    for budget in [1, 17, usize::MAX] {
        assert_eq!(roots(image, budget, &AllSeen, |_| ()).0, oracle::roots(&edges));
    }
}
