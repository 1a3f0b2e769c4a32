use super::*;
use crate::memory::casts::halves;
use crate::{Deletion, Fate, HeapMemory};

const ROWS: u32 = 3000;
/// Deletes of one flush.
const FLUSH: usize = 1000;
const BY: Deleter = Deleter { xmax: 50, cmax: 1 };

/// The names of a row: tree, parent, child.
type Names = [String; 3];

fn edge(names: &Names) -> Edge<'_> {
    let [tree, parent, child] = names.each_ref().map(String::as_bytes);
    Edge { tree: Some(tree), parent, child }
}

fn names(tree: u32, parent: u32, child: u32) -> Names {
    [format!("t{tree}"), format!("p{parent}"), format!("c{child}")]
}

/// The name of a kind of table, and its rows by number.
type Shape = (&'static str, fn(u32) -> Names);

const SHAPES: [Shape; 6] = [
    ("distinct pairs", |i| names(0, i, i)),
    ("a pair over many trees", |i| names(i, 0, 0)),
    ("equal rows", |_| names(0, 0, 0)),
    ("a hub's children", |i| names(0, 0, i)),
    ("everybody with everybody", |i| names(0, i % 55, i / 55)),
    ("pairs over a hundred trees", |i| names(i % 100, i / 100, i / 100)),
];

fn memory() -> HeapMemory {
    let mut heap = HeapMemory::new(64 << 20);
    while heap.grow() {}
    Image::format(&heap, 1).unwrap().publish_chunks(heap.mapped());
    heap
}

fn running(_: u64) -> Fate {
    Fate::Running
}

fn read<'e>(
    image: Image<'_>,
    partners: &mut Partners,
    rest: impl Iterator<Item = (Edge<'e>, RowVersion)> + Clone,
) {
    let mut looked = image.look_for(partners, rest).unwrap();
    while looked == ListsRead::More {
        looked = image.read_lists(partners, &running, &mut Vec::new(), 100).unwrap();
    }
    assert_eq!(looked, ListsRead::Done);
}

/// Deletes every row, in flushes and in an unhelpful order; returns the slots read per row.
fn per_row(shape: fn(u32) -> Names, inserter: u64) -> u64 {
    let heap = memory();
    let image = Image::open(&heap).unwrap();
    let row = RowVersion { xmin: inserter, raw_xmin: halves(inserter).0, cmin: None };
    let stamp = (inserter > 0).then_some(Stamp { xmin: inserter, cmin: 0 });
    (0..ROWS).for_each(|i| image.insert(&edge(&shape(i)), stamp).unwrap());
    // The factor is prime to the number of rows, so each row is taken once.
    let rows: Vec<Names> = (0..ROWS).map(|i| shape(i * 1999 % ROWS)).collect();
    let mut looked = 0;
    for flush in rows.chunks(FLUSH) {
        let mut partners = Partners::default();
        let one = |names, partners: &mut Partners| {
            image.delete_next(&edge(names), row, BY, &running, &mut Vec::new(), partners).unwrap()
        };
        for (i, names) in flush.iter().enumerate() {
            let mut done = one(names, &mut partners);
            if done == Deletion::Far {
                read(image, &mut partners, flush[i..].iter().map(|names| (edge(names), row)));
                done = one(names, &mut partners);
            }
            assert_eq!(done, Deletion::Done, "{names:?}");
        }
        looked += partners.looked();
    }
    image.verify(&mut |problem| panic!("{problem:?}"));
    let all = |_: u64| Fate::Committed;
    let settled = image.settle(rows.len(), 100, &all, &mut Vec::new());
    assert_eq!((settled.freed, image.stats().edge_rows), (rows.len(), 0));
    looked / u64::from(ROWS)
}

#[test]
fn finding_a_row_costs_the_same_however_many_share_its_names() {
    for (shape, row) in SHAPES {
        for inserter in [0, 20] {
            let slots = per_row(row, inserter);
            // The limit: three scans of the shorter list for each flush, or a search of the near slots.
            assert!(slots <= 130, "{shape}, inserted by {inserter}: {slots} slots a row");
        }
    }
}

#[test]
fn own_rows_are_found_by_their_command_whether_they_came_before_the_reading_or_after() {
    let heap = memory();
    let image = Image::open(&heap).unwrap();
    let edge = Edge { tree: None, parent: b"p", child: b"c" };
    let own = |cmin| RowVersion { xmin: 50, raw_xmin: 50, cmin: Some(cmin) };
    (0..300).for_each(|cmin| image.insert(&edge, Some(Stamp { xmin: 50, cmin })).unwrap());
    let mut partners = Partners::default();
    let delete = |cmin, partners: &mut Partners| {
        image.delete_next(&edge, own(cmin), BY, &running, &mut Vec::new(), partners).unwrap()
    };
    assert_eq!(delete(299, &mut partners), Deletion::Done, "the last inserted are found first");
    assert_eq!(delete(7, &mut partners), Deletion::Far);
    read(image, &mut partners, [7, 8, 300].into_iter().map(|cmin| (edge, own(cmin))));
    assert_eq!(delete(7, &mut partners), Deletion::Done);
    assert_eq!(delete(7, &mut partners), Deletion::NoPartner, "once");
    assert_eq!(delete(300, &mut partners), Deletion::NoPartner, "not yet");
    let (stamp, mut recent) = (Stamp { xmin: 50, cmin: 300 }, Recent::default());
    image.insert_next(&edge, Some(stamp), &mut recent).unwrap();
    partners.inserted(stamp, &recent);
    assert_eq!(delete(300, &mut partners), Deletion::Done);
    assert_eq!(delete(8, &mut partners), Deletion::Done);
    assert_eq!(delete(9, &mut partners), Deletion::Far, "nobody wanted it");
}

#[test]
fn what_moved_is_not_trusted_and_what_was_settled_is_found() {
    let heap = memory();
    let image = Image::open(&heap).unwrap();
    let wanted: Vec<Names> = (0..200).map(|i| names(i, 0, 0)).collect();
    for names in &wanted {
        image.insert(&edge(names), Some(Stamp { xmin: 20, cmin: 0 })).unwrap();
    }
    let row = RowVersion { xmin: 20, raw_xmin: 20, cmin: None };
    let rest = || wanted.iter().map(|names| (edge(names), row));
    let one = |i: usize, partners: &mut Partners| {
        image.delete_next(&edge(&wanted[i]), row, BY, &running, &mut Vec::new(), partners).unwrap()
    };
    let all = |_: u64| Fate::Committed;
    let mut partners = Partners::default();
    read(image, &mut partners, rest());
    // After settling, the versions are gone and the slots have not moved.
    assert_eq!(image.settle(1000, 100, &all, &mut Vec::new()).freed, 200);
    assert_eq!(one(3, &mut partners), Deletion::Done);
    // After unlinking, the last slot of the list has taken the place of the row's slot.
    assert_eq!(image.settle(1000, 100, &all, &mut Vec::new()).freed, 1);
    assert_eq!(one(4, &mut partners), Deletion::Far);
    read(image, &mut partners, rest().skip(4));
    assert_eq!(one(4, &mut partners), Deletion::Done);
    image.verify(&mut |problem| panic!("{problem:?}"));
}
