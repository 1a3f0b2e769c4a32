//! The contract of a walk, by example and in edge cases; `model.rs` has random walks.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cftrag_core::{
    AllSeen, Deleter, Deletion, Edge, Fate, Hint, Hot, Image, Interruptible, NoRoom, Prefix,
    Relation::*, RowVersion, Scan, Stamp, Step, View, Visibility, Walk,
};
use common::oracle::{self, Answer, Bytes, Triple};
use common::{answers, as_edge, heap, verify};

fn triple(tree: &str, parent: &str, child: &str) -> Triple {
    let bytes = |name: &str| Bytes::from(name.as_bytes());
    ((!tree.is_empty()).then(|| bytes(tree)), bytes(parent), bytes(child))
}

fn new_walk() -> Walk {
    Walk::new(Prefix::LENGTH)
}

/// The answer from an image of these edges, checked against the oracle's.
fn context(edges: &[(&str, &str, &str)], entity: &str, up: u32, down: u32) -> Vec<Answer> {
    let edges: Vec<Triple> = edges.iter().map(|&(t, p, c)| triple(t, p, c)).collect();
    let heap = heap(2);
    let image = Image::open(&heap).unwrap();
    for edge in &edges {
        image.insert(&as_edge(edge), None).unwrap();
    }
    verify(image);
    let mut walk = new_walk();
    walk.begin(entity.as_bytes(), up, down);
    assert_eq!(walk.step(image, &AllSeen, usize::MAX), Step::Done);
    walk.finish();
    let expected = oracle::context(&edges.into_iter().collect(), entity.as_bytes(), up, down);
    assert_eq!(answers(&walk, 0), expected);
    expected
}

fn row(tree: &str, relation: cftrag_core::Relation, depth: u32, name: &str, via: &str) -> Answer {
    let (tree, relative, via) = triple(tree, name, via);
    (tree, relation, depth, relative, via)
}

#[test]
fn ancestors_and_descendants_by_depth_and_name() {
    let edges =
        [("", "board", "cardiology"), ("", "cardiology", "ward 2"), ("", "cardiology", "ward 1")];
    assert_eq!(
        context(&edges, "cardiology", 3, 1),
        [
            row("", Ancestor, 1, "board", "cardiology"),
            row("", Descendant, 1, "ward 1", "cardiology"),
            row("", Descendant, 1, "ward 2", "cardiology"),
        ]
    );
    assert_eq!(context(&edges, "ward 1", 1, 9).len(), 1);
    assert_eq!(context(&edges, "ward 1", 0, 9), []);
    assert_eq!(context(&edges, "board", 0, 1).len(), 1);
    assert_eq!(context(&edges, "board", u32::MAX, u32::MAX).len(), 3);
    assert_eq!(context(&edges, "ward 3", 9, 9), []);
}

#[test]
fn trees_are_walked_apart_and_null_is_one_of_them() {
    let edges =
        [("b", "p", "x"), ("a", "p", "x"), ("", "p", "x"), ("a", "g", "p"), ("b", "h", "p")];
    assert_eq!(
        context(&edges, "x", 5, 5),
        [
            row("", Ancestor, 1, "p", "x"),
            row("a", Ancestor, 1, "p", "x"),
            row("a", Ancestor, 2, "g", "p"),
            row("b", Ancestor, 1, "p", "x"),
            row("b", Ancestor, 2, "h", "p"),
        ]
    );
}

#[test]
fn entities_of_few_trees_and_of_many_keep_them_apart() {
    // "hub 8" is in eight trees, one of them NULL, and so on: it has three rows down in each, mixed, and a row up in
    // all but one.
    let hubs = [8, 9, 1, 40, 10, 3];
    let mut edges: Vec<Triple> = Vec::new();
    for hub in hubs {
        let (name, trees) = (format!("hub {hub}"), (0..hub).map(|i| i * 7 % hub));
        let tree = |i: u32| if i == 0 { String::new() } else { format!("tree {i}") };
        for (i, child) in trees.clone().flat_map(|i| ["a", "b", "c"].map(|child| (i, child))) {
            // Rows of one tree are not adjacent.
            let at = (i + u32::from(child.as_bytes()[0])) % hub;
            edges.push(triple(&tree(at), &name, child));
            edges.push(triple(&tree(at), child, &format!("below {child}")));
        }
        edges.extend(trees.skip(1).map(|i| triple(&tree(i), "above", &name)));
    }
    let heap = heap(3);
    let image = Image::open(&heap).unwrap();
    for edge in &edges {
        image.insert(&as_edge(edge), None).unwrap();
    }
    let edges: BTreeSet<Triple> = edges.into_iter().collect();
    let mut walk = new_walk();
    for budget in [1, 3, usize::MAX] {
        walk.clear();
        for hub in hubs {
            walk.begin(format!("hub {hub}").as_bytes(), 2, 2);
        }
        while walk.step(image, &AllSeen, budget) == Step::More {}
        walk.finish();
        for (group, hub) in (0..).zip(hubs) {
            let expected = oracle::context(&edges, format!("hub {hub}").as_bytes(), 2, 2);
            assert_eq!(answers(&walk, group), expected, "{hub}");
        }
    }
}

#[test]
fn the_least_depth_counts_and_then_the_smallest_via() {
    let diamond = [("", "top", "m"), ("", "top", "k"), ("", "m", "x"), ("", "k", "x")];
    assert!(context(&diamond, "x", 3, 0).contains(&row("", Ancestor, 2, "top", "k")));
    let shortcut = [("", "top", "a"), ("", "a", "x"), ("", "top", "x")];
    assert!(context(&shortcut, "x", 3, 0).contains(&row("", Ancestor, 1, "top", "x")));
}

#[test]
fn names_that_begin_alike_are_in_order() {
    let name = |i: u32| format!("{}{}", ["the same ", "", "the s", "the same"][i as usize % 4], i);
    let names: Vec<String> = (0..60).map(|i| name(i * 77 % 60)).collect();
    let edges: Vec<(&str, &str, &str)> =
        names.iter().map(|child| ("", "the same hub", &child[..])).collect();
    assert_eq!(context(&edges, "the same hub", 0, 1).len(), 60);
}

#[test]
fn cycles_and_self_edges_end_by_themselves() {
    let edges = [("", "a", "b"), ("", "b", "c"), ("", "c", "a"), ("", "a", "a"), ("", "b", "b")];
    assert_eq!(context(&edges, "a", 9, 9).len(), 4);
    assert_eq!(context(&edges, "b", 1, 1).len(), 2);
    assert_eq!(context(&[("", "a", "a")], "a", 9, 9), []);
}

#[test]
fn an_edge_to_itself_is_a_row_at_depth_0_where_it_is_asked_for() {
    let heap = heap(1);
    let image = Image::open(&heap).unwrap();
    for (tree, parent, child) in [(1, "a", "a"), (1, "a", "b"), (2, "p", "a"), (3, "a", "a")] {
        let tree = [b'0' + tree];
        let (parent, child) = (parent.as_bytes(), child.as_bytes());
        image.insert(&Edge { tree: Some(&tree), parent, child }, None).unwrap();
    }
    image.insert(&Edge { tree: Some(b"3"), parent: b"a", child: b"a" }, None).unwrap();
    let rows = |own: bool, slots| {
        let mut walk = new_walk();
        walk.answer_own_rows(own);
        for entity in [&b"a"[..], b"b"] {
            walk.begin(entity, 2, 2);
        }
        while walk.step(image, &AllSeen, slots) != Step::Done {}
        walk.finish();
        [0, 1].map(|group| answers(&walk, group))
    };
    let [of_a, of_b] = [
        [row("1", Descendant, 1, "b", "a"), row("2", Ancestor, 1, "p", "a")],
        [row("1", Ancestor, 1, "a", "b"), row("1", Ancestor, 1, "a", "b")],
    ];
    assert_eq!(rows(false, 100), [of_a.to_vec(), of_b[..1].to_vec()]);
    let mut own = vec![row("1", Ancestor, 0, "a", "a"), row("3", Ancestor, 0, "a", "a")];
    own.extend(of_a);
    own.sort();
    for slots in [1, 100] {
        assert_eq!(rows(true, slots), [own.clone(), of_b[..1].to_vec()], "{slots}");
    }
}

#[test]
fn the_empty_string_is_a_name_like_another() {
    let edges = [("", "", "x"), ("", "x", "y")];
    assert_eq!(context(&edges, "", 1, 2).len(), 2);
    assert!(context(&edges, "y", 2, 0).contains(&row("", Ancestor, 2, "", "x")));
}

#[test]
fn questions_accumulate_in_groups_until_clear() {
    let heap = heap(1);
    let image = Image::open(&heap).unwrap();
    let edge = |parent, child| Edge { tree: None, parent, child };
    image.insert(&edge(b"p", b"c"), None).unwrap();
    let mut walk = new_walk();
    for entity in [&b"c"[..], b"unknown", b"p", b"c"] {
        walk.begin(entity, 1, 1);
    }
    assert_eq!(walk.step(image, &AllSeen, 1), Step::More);
    while walk.step(image, &AllSeen, 1) == Step::More {}
    walk.finish();
    assert_eq!(walk.rows().len(), 3);
    walk.begin(b"p", 0, 1);
    assert_eq!(walk.step(image, &AllSeen, 100), Step::Done);
    walk.finish();
    let groups: Vec<u32> = walk.rows().iter().map(|row| row.group).collect();
    assert_eq!(groups, [0, 2, 3, 4]);
    assert_eq!(walk.name(walk.entity(1)), b"unknown");
    let counters = walk.counters();
    assert_eq!((counters.lookups, counters.hits, counters.slots_visited), (5, 4, 4));
    walk.clear();
    assert!(walk.rows().is_empty());
    assert_eq!(walk.step(image, &AllSeen, 1), Step::Done);
    assert_eq!(walk.counters(), Default::default());
}

#[test]
fn a_question_after_finish_keeps_its_trees_apart() {
    let heap = heap(1);
    let image = Image::open(&heap).unwrap();
    for (tree, parent) in [(&b"z"[..], &b"p"[..]), (b"a", b"p"), (b"m", b"q")] {
        image.insert(&Edge { tree: Some(tree), parent, child: b"c" }, None).unwrap();
    }
    let mut walk = new_walk();
    for entity in [&b"c"[..], b"p", b"q", b"c"] {
        walk.begin(entity, 1, 1);
        assert_eq!(walk.step(image, &AllSeen, 100), Step::Done);
        walk.finish();
    }
    let trees = |group| -> Vec<Vec<u8>> {
        answers(&walk, group).into_iter().map(|row| row.0.unwrap().0).collect()
    };
    assert_eq!(
        [trees(0), trees(1), trees(2), trees(3)].map(|t| t.concat()),
        [b"amz".to_vec(), b"az".to_vec(), b"m".to_vec(), b"amz".to_vec()]
    );
}

#[test]
fn the_same_bytes_elsewhere_answer_the_same() {
    let heap = heap(3);
    let image = Image::open(&heap).unwrap();
    for i in 0..500_u32 {
        let (parent, child) = ((i / 3).to_be_bytes(), i.to_be_bytes());
        let stamp = (i % 5 == 0).then_some(Stamp { xmin: 9, cmin: 0 });
        image.insert(&Edge { tree: None, parent: &parent, child: &child }, stamp).unwrap();
    }
    let elsewhere = heap.copy();
    let ask = |image: Image<'_>| {
        let mut walk = new_walk();
        for i in 0..500_u32 {
            walk.begin(&i.to_be_bytes(), 9, 9);
        }
        assert_eq!(walk.step(image, &AllSeen, usize::MAX), Step::Done);
        walk.finish();
        (0..500).map(|group| answers(&walk, group)).collect::<Vec<_>>()
    };
    let copy = Image::open(&elsewhere).unwrap();
    verify(copy);
    assert_eq!(ask(image), ask(copy));
    // A writer at the other address continues where the first one stopped.
    copy.insert(&Edge { tree: None, parent: b"new", child: b"child" }, None).unwrap();
    verify(copy);
}

/// A snapshot that sees xids 1 and 2, and no others.
struct Snapshot;

impl Visibility for Snapshot {
    fn view(&self, xid: u64, _hint: Hint) -> View {
        if xid <= 2 { View::Seen } else { View::Unseen }
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}

/// A hub with `children` children, inserted by xid 1.
fn hub(n: u32, children: u32) -> cftrag_core::HeapMemory {
    let heap = heap(n);
    let image = Image::open(&heap).unwrap();
    let stamp = Some(Stamp { xmin: 1, cmin: 0 });
    for i in 0..children {
        let child = i.to_be_bytes();
        image.insert(&Edge { tree: Some(b"t"), parent: b"hub", child: &child }, stamp).unwrap();
    }
    heap
}

#[test]
fn a_half_read_list_is_read_again_when_the_image_changes_and_at_last_in_one_go() {
    let heap = hub(4, 1000);
    let image = Image::open(&heap).unwrap();
    let mut walk = new_walk();
    walk.begin(b"hub", 0, 1);
    let mut steps = 0;
    loop {
        match walk.step(image, &Snapshot, 100) {
            Step::More => {
                steps += 1;
                assert!(steps <= 20, "a walk must end, however often the image changes");
                // Another transaction's rows appear and disappear at the head of the list.
                let edge = Edge { tree: Some(b"t"), parent: b"hub", child: b"other" };
                image.insert(&edge, Some(Stamp { xmin: 50 + steps, cmin: 0 })).unwrap();
                let fates = |xid| if xid >= 50 { Fate::Aborted } else { Fate::Running };
                image.settle(2000, 1000, &fates, &mut Vec::new());
            }
            step => break assert_eq!(step, Step::Done),
        }
    }
    assert!(steps >= 8);
    walk.finish();
    assert_eq!(walk.rows().len(), 1000);
    verify(image);
}

#[test]
fn an_entity_that_is_gone_or_another_between_two_steps_has_no_rows() {
    for comes_back in [false, true] {
        let heap = heap(2);
        let image = Image::open(&heap).unwrap();
        let insert = |parent: &[u8], child: &[u8], xmin| {
            let stamp = (xmin > 0).then_some(Stamp { xmin, cmin: 0 });
            image.insert(&Edge { tree: None, parent, child }, stamp).unwrap();
        };
        (0..50).for_each(|i| insert(b"gone", &[i], 50));
        let mut walk = new_walk();
        walk.begin(b"gone", 1, 1);
        assert_eq!(walk.step(image, &Snapshot, 20), Step::More);
        image.settle(1000, 60, &|_| Fate::Aborted, &mut Vec::new());
        // The entities that use this memory now have children that everyone sees.
        (0..50).for_each(|i| insert(b"else", &[i], 0));
        (0..50).for_each(|i| insert(&[i], b"leaf", 0));
        if comes_back {
            insert(b"gone", b"unseen", 70);
        }
        assert_eq!(walk.step(image, &Snapshot, usize::MAX), Step::Done);
        walk.finish();
        assert_eq!(walk.rows(), []);
    }
}

#[test]
fn an_entity_found_ahead_and_gone_before_its_turn_has_no_rows() {
    let heap = heap(2);
    let image = Image::open(&heap).unwrap();
    let insert = |parent: &[u8], child: &[u8], xmin| {
        let stamp = (xmin > 0).then_some(Stamp { xmin, cmin: 0 });
        image.insert(&Edge { tree: None, parent, child }, stamp).unwrap();
    };
    insert(b"first", b"leaf", 0);
    insert(b"gone", b"too", 50);
    let mut walk = new_walk();
    walk.begin(b"first", 0, 0);
    walk.begin(b"gone", 1, 1);
    assert_eq!(walk.step(image, &Snapshot, 1), Step::More);
    image.settle(1000, 60, &|_| Fate::Aborted, &mut Vec::new());
    // One of these entities uses the memory now.
    (0..9).for_each(|i| insert(&[b'n', i], b"leaf", 0));
    assert_eq!(walk.step(image, &Snapshot, usize::MAX), Step::Done);
    assert_eq!(walk.rows(), []);
}

#[test]
fn a_delete_costs_the_shorter_list_however_many_children_a_hub_has() {
    let delete = |children: u32| {
        let heap = hub(9, children);
        let image = Image::open(&heap).unwrap();
        let row = RowVersion { xmin: 1, raw_xmin: 1, cmin: None };
        let mut best = Duration::MAX;
        for round in 0..5_u32 {
            let start = Instant::now();
            for i in 0..100 {
                let child = (i * 5 + round).to_be_bytes();
                let edge = Edge { tree: Some(b"t"), parent: b"hub", child: &child };
                let by = Deleter { xmax: 9, cmax: 0 };
                let done = image.delete(&edge, row, by, &|_| Fate::Running, &mut Vec::new());
                assert_eq!(done, Ok(Deletion::Done));
            }
            best = best.min(start.elapsed());
        }
        best
    };
    // With 100 times the children, reading the hub's list would cost 100 times as much.
    let (few, many) = (delete(500), delete(50_000));
    assert!(many < few * 25, "{few:?} for a hub of 500, {many:?} for one of 50000");
}

#[test]
fn every_edge_is_scanned_once_whatever_the_budget() {
    let heap = hub(4, 300);
    let image = Image::open(&heap).unwrap();
    for budget in [0, 1, 7, 100, usize::MAX] {
        let (mut scan, mut found, mut steps) = (Scan::new(), BTreeSet::new(), 0);
        loop {
            let step = image.edges(&mut scan, budget, &Snapshot, |tree, parent, child| {
                assert_eq!((tree, parent), (Some(&b"t"[..]), &b"hub"[..]));
                assert!(found.insert(child.to_vec()), "twice");
            });
            steps += 1;
            match step {
                Step::More => {}
                step => break assert_eq!(step, Step::Done),
            }
        }
        assert_eq!((found.len(), steps > 1), (300, budget < 1000));
    }
}

#[test]
fn the_hottest_are_the_most_asked_for_whose_edges_are_seen() {
    let heap = hub(4, 10);
    let image = Image::open(&heap).unwrap();
    let edge = Edge { tree: None, parent: b"unseen", child: b"unseen too" };
    image.insert(&edge, Some(Stamp { xmin: 7, cmin: 0 })).unwrap();
    let mut walk = new_walk();
    let mut ask = |name: &[u8], times| {
        for _ in 0..times {
            walk.clear();
            walk.begin(name, 0, 0);
            assert_eq!(walk.step(image, &Snapshot, 100), Step::Done);
        }
    };
    ask(&3_u32.to_be_bytes(), 5);
    ask(&4_u32.to_be_bytes(), 5);
    ask(&5_u32.to_be_bytes(), 1);
    ask(b"hub", 9);
    ask(b"unseen", 20);
    image.cool(1000);
    verify(image);
    let hot = |n| {
        let (mut hot, mut nothing) = (Hot::new(n, usize::MAX), || ());
        let work = &mut Interruptible::new(&mut nothing);
        while image.hot(&mut hot, 3, &Snapshot) != Ok(Step::Done) {
            hot.make_room(work).unwrap();
        }
        let found = hot.finish(work).unwrap();
        found.map(|(name, temperature)| (name.to_vec(), temperature)).collect::<Vec<_>>()
    };
    let name = |i: u32| i.to_be_bytes().to_vec();
    let all = [(b"hub".to_vec(), 9), (name(3), 5), (name(4), 5), (name(5), 1)];
    assert_eq!(hot(9), all);
    assert_eq!(hot(2), all[..2]);
    assert_eq!(hot(3), all[..3]);
    assert_eq!(hot(0), []);
    let found = image.hot(&mut Hot::new(9, 64), 9999, &Snapshot);
    assert!(matches!(found, Err(NoRoom::Limit(bytes)) if bytes > 64), "{found:?}");
    walk.count_lookups(false);
    walk.clear();
    walk.begin(b"hub", 0, 0);
    assert_eq!(walk.step(image, &Snapshot, 100), Step::Done);
    assert_eq!((walk.counters().hits, hot(9)), (1, all.to_vec()));
}

#[test]
fn open_says_what_is_wrong() {
    use cftrag_core::{Error, HeapMemory};
    let none = HeapMemory::new(0);
    assert!(matches!(Image::open(&none), Err(Error::Unmapped { used: 1, mapped: 0 })));
    assert!(matches!(Image::format(&none, 1), Err(Error::Unmapped { used: 1, mapped: 0 })));
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow());
    assert!(matches!(Image::open(&heap), Err(Error::NotAnImage)));
    let image = Image::format(&heap, 1).unwrap();
    assert_eq!((image.chunks(), image.mutating()), (1, false));
    verify(image);
}
