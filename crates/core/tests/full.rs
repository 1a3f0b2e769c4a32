//! Lets memory run out in the middle of a history, at each of its changes: the operation that finds no memory reports
//! that and changes no byte, and once there is memory the history continues as if nothing had happened.
//! (insert_tests.rs has single inserts with every number of lines left.)

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{
    AllSeen, Deleter, Deletion, Edge, Error, Fate, HeapMemory, Image, RowVersion, Scan, Stamp, Step,
};
use common::{heap, quick, verify};

/// A change of the history; names are numbers, see `name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Insert { edge: [usize; 3], stamped: bool },
    Delete { edge: [usize; 3], stamped: bool },
    Settle,
}

const INSERTER: u64 = 100;
const DELETER: u64 = 200;

/// Short names, names of several lines, names in pieces.
fn name(i: usize) -> Vec<u8> {
    let length = [3, 20, 60, 130, 700, 2100, 4500][i % 7];
    let mut name = format!("{i} ").into_bytes();
    name.resize(length.max(name.len()), b'x');
    name
}

/// Edges between few entities (whose lists grow by blocks) and new ones, in trees and in none, settled and stamped; a
/// third of them is deleted later, which takes a version.
fn history() -> Vec<Change> {
    let mut changes = Vec::new();
    for i in 0..70 {
        let edge = match i % 5 {
            0 => [0, i, i + 100],
            1 => [1, 7, i],
            2 => [0, 8, 7],
            3 => [2 + i % 3, i, i],
            _ => [0, i % 11, 200 + i % 13],
        };
        let stamped = i % 3 == 1;
        changes.push(Change::Insert { edge, stamped });
        if i % 3 == 0 {
            changes.push(Change::Delete { edge, stamped });
        }
        if i % 20 == 19 {
            changes.push(Change::Settle);
        }
    }
    changes
}

/// Applies a change to the image; `false` if there is no memory.
fn apply(heap: &HeapMemory, change: Change) -> bool {
    let image = Image::open(heap).unwrap();
    let (Change::Insert { edge, stamped } | Change::Delete { edge, stamped }) = change else {
        let settled = image.settle(1000, 1000, &|_| Fate::Committed, &mut Vec::new());
        assert!(settled.freed > 0);
        return true;
    };
    let (tree, parent, child) = (name(edge[0]), name(edge[1]), name(edge[2]));
    let tree = (edge[0] > 0).then_some(&tree[..]);
    let bytes = Edge { tree, parent: &parent, child: &child };
    let done = match change {
        Change::Insert { .. } => {
            let stamp = stamped.then_some(Stamp { xmin: INSERTER, cmin: 0 });
            image.insert(&bytes, stamp).map(|()| Deletion::Done)
        }
        _ => {
            let xmin = if stamped { INSERTER } else { 0 };
            let row = RowVersion { xmin, raw_xmin: xmin.max(2) as u32, cmin: None };
            let by = Deleter { xmax: DELETER, cmax: 0 };
            image.delete(&bytes, row, by, &|_| Fate::Committed, &mut Vec::new())
        }
    };
    match done {
        Ok(done) => {
            assert_eq!(done, Deletion::Done, "{change:?}");
            true
        }
        Err(error) => {
            assert!(matches!(error, Error::Full { .. }), "{change:?}: {error}");
            false
        }
    }
}

/// Inserts other edges until about `lines` lines are left; with 0, until none fits (freed memory counts, too).
fn fill(heap: &HeapMemory, lines: usize) {
    let image = Image::open(heap).unwrap();
    let mut with_words = true;
    for i in 0.. {
        let left = image.free_bytes() / 64;
        // Where those with words no longer fit, names without: every change needs more than they do.
        let mut name = match with_words {
            true => format!("filler {i} {left}"),
            false => format!("{i:012b}").replace('0', "-").replace('1', "+"),
        }
        .into_bytes();
        name.resize(if left > lines + 120 { 2000 } else { 12 }, b'f');
        let edge = Edge { tree: None, parent: b"filler", child: &name };
        if lines > 0 && left <= lines {
            return;
        }
        if image.insert(&edge, None).is_err() && !std::mem::replace(&mut with_words, false) {
            return;
        }
    }
}

fn edges(heap: &HeapMemory) -> Vec<[Vec<u8>; 3]> {
    let (mut scan, mut found) = (Scan::new(), Vec::new());
    let image = Image::open(heap).unwrap();
    let step = image.edges(&mut scan, usize::MAX, &AllSeen, |tree, parent, child| {
        found.push([tree.unwrap_or_default().to_vec(), parent.to_vec(), child.to_vec()]);
    });
    assert_eq!(step, Step::Done);
    found.retain(|edge| edge[1] != b"filler");
    found.sort();
    found
}

fn settle(heap: &HeapMemory) {
    let image = Image::open(heap).unwrap();
    image.settle(10_000, 1000, &|_| Fate::Committed, &mut Vec::new());
    verify(image);
}

#[test]
fn a_history_goes_on_after_memory_ended_at_any_of_its_changes() {
    let history = history();
    let plenty = heap(3);
    assert!(history.iter().all(|change| apply(&plenty, *change)));
    settle(&plenty);
    let expected = edges(&plenty);

    let every = if quick() { 3 } else { 1 };
    let (mut failed, mut tried) = (0, 0);
    for at in (0..history.len()).step_by(every) {
        let whole = heap(2);
        assert!(history[..at].iter().all(|change| apply(&whole, *change)));
        fill(&whole, 130);
        let mut cleanly = 0;
        for lines in &[0, 1, 2, 3, 5, 9, 20, 40, 80] {
            let mut heap = whole.copy();
            fill(&heap, *lines);
            let before = heap.dump();
            tried += 1;
            if !apply(&heap, history[at]) {
                failed += 1;
                cleanly += 1;
                assert!(heap.dump() == before, "{lines} lines left: {:?} wrote", history[at]);
                verify(Image::open(&heap).unwrap());
                assert!(heap.grow());
                Image::open(&heap).unwrap().publish_chunks(heap.mapped());
                assert!(apply(&heap, history[at]), "{:?} fails with a new chunk", history[at]);
            }
            if *lines == 0 {
                // Tables full of fillers grow by pages.
                assert!(heap.grow() && heap.grow());
                Image::open(&heap).unwrap().publish_chunks(heap.mapped());
                assert!(history[at + 1..].iter().all(|change| apply(&heap, *change)));
                settle(&heap);
                assert_eq!(edges(&heap), expected, "memory ended at {:?}", history[at]);
            }
        }
        let new = matches!(history[at], Change::Insert { edge: [_, _, child], .. } if child >= 100 && at < 40);
        assert!(cleanly > 0 || !new, "{:?} never lacked memory", history[at]);
    }
    assert!(failed * 5 > tried, "only {failed} of {tried} lacked memory");
}
